//! A set as a whole, built and not visible yet: its manifest and its summary.

use std::collections::{BTreeMap, HashSet};

use super::{
    PublishRequest, Published, PublishedFile,
    file::BuiltFile,
    files::Role,
    folder::Temporary,
    manifest::{Dropped, FileRecord, Manifest},
    previous::Previous,
};

/// A set, built and not visible yet.
pub(super) struct ReadySet {
    pub(super) previous: Previous,
    /// The indexes, then the parts.
    pub(super) built: Vec<BuiltFile>,
    pub(super) manifest: Manifest,
    pub(super) published: Published,
}

/// A file that has to be written.
pub(super) struct FileChange<'a> {
    pub(super) record: &'a FileRecord,
    pub(super) role: Role,
    pub(super) temporary: &'a Temporary,
}

impl ReadySet {
    /// The set of these files, with its number of URLs and its layout.
    pub(super) fn assemble(
        request: &PublishRequest<'_>,
        previous: Previous,
        built: Vec<BuiltFile>,
        listed: u64,
        layout: String,
    ) -> Self {
        let known = &previous.manifest;
        let mut manifest = Manifest::new(&known.site, &known.output, request.now);
        (manifest.listed, manifest.layout) = (listed, layout);
        manifest.files = built.iter().map(|file| file.made.record.clone()).collect();
        manifest.dropped = dropped(request, known, &names(&built));
        let unchanged = manifest.files == known.files && manifest.dropped == known.dropped;
        if unchanged && manifest.layout == known.layout && !known.set_id.is_empty() {
            manifest.published = known.published;
            manifest.set_id.clone_from(&known.set_id);
        } else {
            manifest.identify();
        }
        let published = summarise(&built, known, listed);
        Self {
            previous,
            built,
            manifest,
            published,
        }
    }

    /// The files that have to be written.
    pub(super) fn changes(&self) -> Vec<FileChange<'_>> {
        let changes = self.built.iter().filter_map(|file| {
            Some(FileChange {
                record: &file.made.record,
                role: file.role,
                temporary: file.made.temporary.as_ref()?,
            })
        });
        changes.collect()
    }
}

/// Every file of ours that is in the output and not in the new set. One whose grace is over is removed once the set is in
/// place, and forgotten by the next publish.
fn dropped(request: &PublishRequest<'_>, known: &Manifest, named: &HashSet<&str>) -> Vec<Dropped> {
    let files = known.files.iter().map(|file| file.dropped(request.now));
    let dropped = files.chain(known.dropped.iter().cloned());
    let mut dropped: BTreeMap<String, Dropped> = dropped
        .map(|dropped| (dropped.name.clone(), dropped))
        .collect();
    let is_there = |name: &str| request.config.output.join(name).symlink_metadata().is_ok();
    dropped.retain(|name, dropped| {
        !named.contains(name.as_str()) && (!dropped.is_due(request) || is_there(name))
    });
    dropped.into_values().collect()
}

impl Dropped {
    /// Returns whether it left the index longer ago than the grace.
    pub(super) fn is_due(&self, request: &PublishRequest<'_>) -> bool {
        let grace = jiff::SignedDuration::try_from(request.config.grace);
        let grace = grace.unwrap_or(jiff::SignedDuration::MAX);
        request.now.duration_since(self.since) >= grace
    }
}

fn names(built: &[BuiltFile]) -> HashSet<&str> {
    let names = built.iter().map(|file| file.made.record.name.as_str());
    names.collect()
}

fn summarise(built: &[BuiltFile], previous: &Manifest, listed: u64) -> Published {
    let files = built
        .iter()
        .map(|file| PublishedFile {
            name: file.made.record.name.clone(),
            url: file.address.url.clone(),
            entries: file.made.record.entries,
            bytes: file.made.record.bytes,
            changed: file.made.changed,
        })
        .collect();
    let sitemap_urls = built
        .iter()
        .filter(|file| file.role.is_for_robots_txt())
        .map(|file| file.address.url.clone())
        .collect();
    let named = names(built);
    let dropped = previous
        .files
        .iter()
        .filter(|file| !named.contains(file.name.as_str()))
        .map(|file| file.name.clone())
        .collect();
    Published {
        files,
        sitemap_urls,
        listed,
        dropped,
        ..Published::default()
    }
}
