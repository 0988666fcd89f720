//! [`RssWriter`]: an RSS 2.0 feed of recent changes.

use std::io::Write;

use super::{
    FileSummary, Push, SitemapFile, WriteError,
    feed::{FeedInfo, one_line, rfc_822, with_time},
    xml,
};
use crate::{LastMod, Limits, UrlEntry};

const CLOSING: &str = "</channel>\n</rss>\n";

/// The namespace of the link that a feed has to itself (<https://www.rssboard.org/rss-profile#namespace-elements-atom-link>).
const ATOM_NAMESPACE: &str = "http://www.w3.org/2005/Atom";

/// Writes an RSS 2.0 feed, one item per line, in the order in which they are pushed; readers expect the newest first.
///
/// An item has a title, its URL as link and as `guid`, and a `pubDate` if the entry has a date; a date without time counts from
/// midnight in UTC. A feed lists recent changes and is never the only sitemap (R48). Source:
/// <https://www.rssboard.org/rss-specification>.
///
/// ```
/// use sitemap_core::{FeedInfo, LastMod, Limits, Loc, Push, RssWriter, UrlEntry};
///
/// let feed = FeedInfo::new(
///     "Example",
///     Loc::parse("https://example.com/")?,
///     Loc::parse("https://example.com/changes.rss")?,
///     "2026-03-02T04:00:11Z".parse()?,
/// );
/// let mut writer = RssWriter::new(Vec::new(), Limits::default(), &feed)?;
/// let entry = UrlEntry::new(Loc::parse("https://example.com/news")?)
///     .with_lastmod(LastMod::parse("2026-03-02T05:00:11+01:00")?);
/// assert_eq!(writer.push(&entry, Some("News & more"))?, Push::Written);
/// let (bytes, _) = writer.finish()?;
/// let file = String::from_utf8(bytes)?;
/// assert!(file.contains("<title>News &amp; more</title><link>https://example.com/news</link>"));
/// assert!(file.contains("<pubDate>Mon, 02 Mar 2026 04:00:11 GMT</pubDate>"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct RssWriter<W> {
    document: SitemapFile<W>,
}

impl<W: Write> RssWriter<W> {
    /// Begins a feed. Limits above those of the protocol count as those of the protocol.
    ///
    /// # Errors
    /// [`WriteError::LimitsTooSmall`] when no entry could ever fit; [`WriteError::Io`] from the output.
    pub fn new(out: W, limits: Limits, feed: &FeedInfo) -> Result<Self, WriteError> {
        let mut opening = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rss version=\"2.0\" xmlns:atom=\"{ATOM_NAMESPACE}\">\n<channel>"
        )
        .into_bytes();
        let title = one_line(&feed.title, feed.home.as_str());
        xml::element(&mut opening, "title", &title)?;
        xml::element(&mut opening, "link", feed.home.as_str())?;
        xml::element(
            &mut opening,
            "description",
            &one_line(&feed.description, &title),
        )?;
        xml::element(&mut opening, "lastBuildDate", &rfc_822(feed.updated))?;
        let link = [
            ("rel", "self"),
            ("type", "application/rss+xml"),
            ("href", feed.location.as_str()),
        ];
        xml::element_with(&mut opening, "atom:link", link, None)?;
        opening.push(b'\n');
        let opening = String::from_utf8_lossy(&opening);
        let document = SitemapFile::open(out, limits, &opening, CLOSING)?;
        Ok(Self { document })
    }

    /// Adds an entry under a title, or under its URL without one, unless the feed with it would have more entries or bytes than
    /// allowed.
    ///
    /// # Errors
    /// [`WriteError::EntryTooLarge`] when the entry does not even fit into an empty feed; [`WriteError::Io`] from the output.
    pub fn push(&mut self, entry: &UrlEntry, title: Option<&str>) -> Result<Push, WriteError> {
        let url = entry.loc.as_str();
        let date = entry
            .lastmod
            .as_ref()
            .map(|lastmod| with_time(lastmod).latest_instant());
        let lastmod = date.map(LastMod::from_timestamp);
        self.document.push(&entry.loc, lastmod.as_ref(), |line| {
            line.extend_from_slice(b"<item>");
            xml::element(line, "title", &one_line(title.unwrap_or_default(), url))?;
            xml::element(line, "link", url)?;
            xml::element_with(line, "guid", [("isPermaLink", "true")], Some(url))?;
            if let Some(date) = date {
                xml::element(line, "pubDate", &rfc_822(date))?;
            }
            line.extend_from_slice(b"</item>\n");
            Ok(())
        })
    }

    /// Ends the feed and gives the output back, not flushed. The newest date in the summary is in UTC and in whole seconds, as it
    /// is in the feed.
    ///
    /// # Errors
    /// [`WriteError::Empty`] when nothing was written; [`WriteError::Io`] from the output.
    pub fn finish(self) -> Result<(W, FileSummary), WriteError> {
        self.document.close()
    }
}
