//! The content of an index of a new or a restored set: one entry for each file, with the time at which the file changed.

use std::io::Write;

use sitemap_core::{
    IndexEntry, LastMod, Limits, Loc,
    read::Kind,
    write::{IndexWriter, SchemaLocation},
};

use super::{
    PublishError, PublishRequest,
    file::{BuiltFile, ContentSummary, FileContent, Hashing, pushed, write_failed},
    manifest::UNKNOWN,
    place::Address,
};

/// An index that is to be written.
pub(super) struct Index<'a> {
    pub(super) address: &'a Address,
    /// The files that it names, in this order.
    pub(super) members: Vec<&'a BuiltFile>,
    pub(super) schema_location: SchemaLocation,
}

/// Returns whether documents name their schema.
pub(super) fn schema_location(request: &PublishRequest<'_>) -> SchemaLocation {
    if request.config.schema_location {
        SchemaLocation::Written
    } else {
        SchemaLocation::Omitted
    }
}

impl Index<'_> {
    fn write_entries(&self, out: impl Write) -> Result<ContentSummary, PublishError> {
        let name = self.address.name.as_str();
        let failed = |error| write_failed(name, error);
        let mut writer = IndexWriter::with_schema_location(
            Hashing::new(out),
            Limits::PROTOCOL,
            self.schema_location,
        )
        .map_err(failed)?;
        for member in &self.members {
            let mut entry = IndexEntry::new(location(name, &member.address.url)?);
            let changed = member.made.record.lastmod;
            if changed != UNKNOWN {
                entry = entry.with_lastmod(LastMod::from_timestamp(changed));
            }
            pushed(name, writer.push(&entry))?;
        }
        let (out, summary) = writer.finish().map_err(failed)?;
        Ok((out.finish(), summary))
    }
}

impl FileContent for Index<'_> {
    fn write(&self, out: &mut dyn Write) -> Result<ContentSummary, PublishError> {
        self.write_entries(out)
    }

    fn expected(&self) -> Result<Option<(Kind, Loc)>, PublishError> {
        let Address { name, url } = self.address;
        Ok(Some((Kind::Index, location(name, url)?)))
    }
}

/// The URL `text`, which is that of the file `name`, or which the file names.
pub(super) fn location(name: &str, text: &str) -> Result<Loc, PublishError> {
    Loc::parse(text).map_err(|error| PublishError::Check {
        name: name.to_owned(),
        problem: error.to_string(),
    })
}
