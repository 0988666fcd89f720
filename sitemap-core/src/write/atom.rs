//! [`AtomWriter`]: an Atom 1.0 feed of recent changes.

use std::io::Write;

use super::{
    Document, FileSummary, Push, WriteError,
    feed::{FeedInfo, one_line, with_time},
    xml,
};
use crate::{LastMod, Limits, UrlEntry};

const OPENING: &str =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n";
const CLOSING: &str = "</feed>\n";

/// Writes an Atom 1.0 feed, one entry per line, in the order in which they are pushed; readers expect the newest first.
///
/// An entry has a title, its URL as identity and as link, and the date of its change, which Atom requires; a date without time
/// counts from midnight in UTC. A feed lists recent changes and is never the only sitemap (R48). Source: RFC 4287.
///
/// ```
/// use sitemap_core::{AtomWriter, FeedInfo, LastMod, Limits, Loc, Push, UrlEntry, WriteError};
///
/// let feed = FeedInfo::new(
///     "Example",
///     Loc::parse("https://example.com/")?,
///     Loc::parse("https://example.com/changes.atom")?,
///     "2026-03-02T04:00:11Z".parse()?,
/// );
/// let mut writer = AtomWriter::new(Vec::new(), Limits::default(), &feed)?;
/// let entry = UrlEntry::new(Loc::parse("https://example.com/news")?);
/// assert!(matches!(writer.push(&entry, None), Err(WriteError::Undated { .. })));
/// let entry = entry.with_lastmod(LastMod::parse("2026-03-02")?);
/// assert_eq!(writer.push(&entry, Some("News"))?, Push::Written);
/// let (bytes, _) = writer.finish()?;
/// assert!(String::from_utf8(bytes)?.contains("<updated>2026-03-02T00:00:00Z</updated>"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AtomWriter<W> {
    document: Document<W>,
}

impl<W: Write> AtomWriter<W> {
    /// Begins a feed. Limits above those of the protocol count as those of the protocol.
    ///
    /// # Errors
    /// [`WriteError::LimitsTooSmall`] when no entry could ever fit; [`WriteError::Io`] from the output.
    pub fn new(out: W, limits: Limits, feed: &FeedInfo) -> Result<Self, WriteError> {
        let mut opening = OPENING.as_bytes().to_vec();
        let (home, location) = (feed.home.as_str(), feed.location.as_str());
        xml::element(&mut opening, "title", &one_line(&feed.title, home))?;
        xml::element(&mut opening, "id", location)?;
        let updated = LastMod::from_timestamp(feed.updated);
        xml::element(&mut opening, "updated", updated.as_str())?;
        // Every entry needs an author, or the feed has one for all (RFC 4287 section 4.1.1).
        xml::parent(&mut opening, "author", |author| {
            xml::element(author, "name", &one_line(&feed.author, home))
        })?;
        xml::element_with(&mut opening, "link", [("href", home)], None)?;
        let itself = [
            ("rel", "self"),
            ("type", "application/atom+xml"),
            ("href", location),
        ];
        xml::element_with(&mut opening, "link", itself, None)?;
        opening.push(b'\n');
        let opening = String::from_utf8_lossy(&opening);
        let document = Document::open(out, limits, &opening, CLOSING)?;
        Ok(Self { document })
    }

    /// Adds an entry under a title, or under its URL without one, unless the feed with it would have more entries or bytes than
    /// allowed.
    ///
    /// # Errors
    /// [`WriteError::Undated`] when the entry has no date: nothing was written, and other entries can follow;
    /// [`WriteError::EntryTooLarge`] when it does not even fit into an empty feed; [`WriteError::Io`] from the output.
    pub fn push(&mut self, entry: &UrlEntry, title: Option<&str>) -> Result<Push, WriteError> {
        let url = entry.loc.as_str();
        let Some(lastmod) = entry.lastmod.as_ref().map(with_time) else {
            return Err(WriteError::Undated {
                loc: entry.loc.clone(),
            });
        };
        self.document.push(&entry.loc, Some(&lastmod), |line| {
            line.extend_from_slice(b"<entry>");
            xml::element(line, "title", &one_line(title.unwrap_or_default(), url))?;
            xml::element_with(line, "link", [("href", url)], None)?;
            xml::element(line, "id", url)?;
            xml::element(line, "updated", lastmod.as_str())?;
            line.extend_from_slice(b"</entry>\n");
            Ok(())
        })
    }

    /// Ends the feed and gives the output back, not flushed.
    ///
    /// # Errors
    /// [`WriteError::Empty`] when nothing was written; [`WriteError::Io`] from the output.
    pub fn finish(self) -> Result<(W, FileSummary), WriteError> {
        self.document.close()
    }
}
