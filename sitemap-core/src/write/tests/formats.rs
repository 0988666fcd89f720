//! Text, RSS and Atom: their bytes, their limits, and that they are read back the same.

use std::io::Write as _;

use jiff::Timestamp;
use proptest::prelude::*;

use crate::{
    AtomWriter, FeedInfo, FileSummary, GzipWriter, LastMod, Limits, Loc, Push, RssWriter,
    TextWriter, UrlEntry, WriteError,
    read::{Expectation, Item, Kind, Reader, check},
};

fn loc(url: &str) -> Loc {
    Loc::parse(url).unwrap()
}

fn entry(url: &str, lastmod: Option<&str>) -> UrlEntry {
    let mut entry = UrlEntry::new(loc(url));
    entry.lastmod = lastmod.map(|lastmod| LastMod::parse(lastmod).unwrap());
    entry
}

fn feed_info() -> FeedInfo {
    FeedInfo::new(
        "Tom & <Co>",
        loc("http://host/"),
        loc("http://host/feed?a&b"),
        "2026-03-02T04:00:11.5Z".parse().unwrap(),
    )
}

/// A writer of any of the three.
enum Writer {
    Text(TextWriter<Vec<u8>>),
    Rss(RssWriter<Vec<u8>>),
    Atom(AtomWriter<Vec<u8>>),
}

const KINDS: [Kind; 3] = [Kind::Text, Kind::Rss, Kind::Atom];

impl Writer {
    fn new(kind: Kind, limits: Limits) -> Result<Self, WriteError> {
        Ok(match kind {
            Kind::Text => Self::Text(TextWriter::new(Vec::new(), limits)?),
            Kind::Rss => Self::Rss(RssWriter::new(Vec::new(), limits, &feed_info())?),
            _ => Self::Atom(AtomWriter::new(Vec::new(), limits, &feed_info())?),
        })
    }

    fn push(&mut self, entry: &UrlEntry, title: Option<&str>) -> Result<Push, WriteError> {
        match self {
            Self::Text(writer) => writer.push(entry),
            Self::Rss(writer) => writer.push(entry, title),
            Self::Atom(writer) => writer.push(entry, title),
        }
    }

    fn finish(self) -> Result<(Vec<u8>, FileSummary), WriteError> {
        match self {
            Self::Text(writer) => writer.finish(),
            Self::Rss(writer) => writer.finish(),
            Self::Atom(writer) => writer.finish(),
        }
    }
}

fn file_of(kind: Kind, entries: &[(UrlEntry, Option<&str>)]) -> String {
    let mut writer = Writer::new(kind, Limits::default()).unwrap();
    for (entry, title) in entries {
        assert_eq!(writer.push(entry, *title).unwrap(), Push::Written);
    }
    String::from_utf8(writer.finish().unwrap().0).unwrap()
}

#[test]
fn text_has_one_url_per_line() {
    let entries = [
        (entry("http://host/?a=1&b='2'", Some("2026-03-02")), None),
        (entry("http://host/ü", None), Some("no room for it")),
    ];
    assert_eq!(
        file_of(Kind::Text, &entries),
        "http://host/?a=1&b='2'\nhttp://host/%C3%BC\n"
    );
}

#[test]
fn rss_has_one_item_per_line() {
    let entries = [
        (
            entry("http://host/?a&b", Some("2026-03-02T05:00:11.25+01:00")),
            Some("A\n\"b\""),
        ),
        (entry("http://host/c", Some("2026-03-01")), Some(" ")),
        (entry("http://host/d", None), None),
    ];
    assert_eq!(
        file_of(Kind::Rss, &entries),
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <rss version=\"2.0\" xmlns:atom=\"http://www.w3.org/2005/Atom\">\n\
         <channel><title>Tom &amp; &lt;Co&gt;</title><link>http://host/</link><description>Tom &amp; &lt;Co&gt;</description>\
         <lastBuildDate>Mon, 02 Mar 2026 04:00:11 GMT</lastBuildDate>\
         <atom:link rel=\"self\" type=\"application/rss+xml\" href=\"http://host/feed?a&amp;b\"/>\n\
         <item><title>A &quot;b&quot;</title><link>http://host/?a&amp;b</link><guid isPermaLink=\"true\">http://host/?a&amp;b</guid>\
         <pubDate>Mon, 02 Mar 2026 04:00:11 GMT</pubDate></item>\n\
         <item><title>http://host/c</title><link>http://host/c</link><guid isPermaLink=\"true\">http://host/c</guid>\
         <pubDate>Sun, 01 Mar 2026 00:00:00 GMT</pubDate></item>\n\
         <item><title>http://host/d</title><link>http://host/d</link><guid isPermaLink=\"true\">http://host/d</guid></item>\n\
         </channel>\n</rss>\n"
    );
}

#[test]
fn atom_has_one_entry_per_line() {
    let entries = [
        (
            entry("http://host/?a&b", Some("2026-03-02T05:00:11.25+01:00")),
            Some("A"),
        ),
        (entry("http://host/c", Some("2026-03-01")), None),
    ];
    assert_eq!(
        file_of(Kind::Atom, &entries),
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <feed xmlns=\"http://www.w3.org/2005/Atom\">\n\
         <title>Tom &amp; &lt;Co&gt;</title><id>http://host/feed?a&amp;b</id><updated>2026-03-02T04:00:11Z</updated>\
         <author><name>host</name></author><link href=\"http://host/\"/>\
         <link rel=\"self\" type=\"application/atom+xml\" href=\"http://host/feed?a&amp;b\"/>\n\
         <entry><title>A</title><link href=\"http://host/?a&amp;b\"/><id>http://host/?a&amp;b</id>\
         <updated>2026-03-02T05:00:11.25+01:00</updated></entry>\n\
         <entry><title>http://host/c</title><link href=\"http://host/c\"/><id>http://host/c</id>\
         <updated>2026-03-01T00:00:00Z</updated></entry>\n\
         </feed>\n"
    );
}

#[test]
fn atom_refuses_an_entry_without_date() {
    let mut writer = Writer::new(Kind::Atom, Limits::default()).unwrap();
    let undated = entry("http://host/a", None);
    let error = writer.push(&undated, None).unwrap_err().to_string();
    let expected = "entry for http://host/a has no date of change, which an Atom feed needs";
    assert_eq!(error, expected);
    let dated = entry("http://host/b", Some("2026-03-02"));
    assert_eq!(writer.push(&dated, None).unwrap(), Push::Written);
    assert_eq!(writer.finish().unwrap().1.entries, 1);
}

#[test]
fn limits_hold_to_the_last_entry_and_byte() {
    let dated = entry("http://host/a", Some("2026-03-02"));
    for kind in KINDS {
        let one = file_of(kind, &[(dated.clone(), None)]).len() as u64;
        let two = file_of(kind, &[(dated.clone(), None), (dated.clone(), None)]).len() as u64;
        let new = |entries: u64, bytes: u64| Writer::new(kind, Limits { entries, bytes });
        let pushes = |entries: u64, bytes: u64| {
            let mut writer = new(entries, bytes).unwrap();
            let mut written = 0;
            while writer.push(&dated, None).unwrap() == Push::Written {
                written += 1;
            }
            let (file, summary) = writer.finish().unwrap();
            assert_eq!(
                (summary.entries, summary.bytes),
                (written, file.len() as u64)
            );
            written
        };
        assert_eq!(pushes(5, 1 << 20), 5);
        assert_eq!(pushes(5, two), 2);
        assert_eq!(pushes(5, two - 1), 1);
        assert_eq!(pushes(5, one), 1);
        let mut writer = new(5, one - 1).unwrap();
        assert!(matches!(
            writer.push(&dated, None),
            Err(WriteError::EntryTooLarge { bytes, .. }) if bytes == one
        ));
        assert!(matches!(writer.finish(), Err(WriteError::Empty)));
        for (entries, bytes) in [(0, 1 << 20), (1, 0)] {
            let found = new(entries, bytes);
            assert!(matches!(found, Err(WriteError::LimitsTooSmall { .. })));
        }
    }
}

fn any_entry() -> impl Strategy<Value = UrlEntry> {
    let lastmod = (0..4_102_444_800_i64, 0..3_u8).prop_map(|(second, form)| {
        let instant = LastMod::from_timestamp(Timestamp::from_second(second).unwrap());
        match form {
            0 => instant,
            1 => LastMod::parse(&instant.as_str()[..10]).unwrap(),
            _ => LastMod::parse(&instant.as_str().replace('Z', ".123456789-11:30")).unwrap(),
        }
    });
    let path = "[a-zA-Z0-9,;:@&='\"<>é😀 %/?#.]{0,30}";
    (path, lastmod).prop_filter_map("a URL that is none", |(path, lastmod)| {
        let loc = Loc::parse(&format!("http://host/{}", path.trim())).ok()?;
        Some(UrlEntry::new(loc).with_lastmod(lastmod))
    })
}

proptest! {
    #[test]
    fn written_file_is_read_and_passes_the_check(
        entries in prop::collection::vec((any_entry(), any::<Option<String>>()), 1..12),
        compress: bool,
    ) {
        let mut entries = entries;
        entries.dedup_by(|first, second| first.0.loc == second.0.loc);
        for kind in KINDS {
            let mut writer = Writer::new(kind, Limits::default()).unwrap();
            for (entry, title) in &entries {
                prop_assert_eq!(writer.push(entry, title.as_deref()).unwrap(), Push::Written);
            }
            let (mut file, summary) = writer.finish().unwrap();
            prop_assert_eq!(summary.bytes, file.len() as u64);
            if compress {
                let mut gzip = GzipWriter::new(Vec::new());
                gzip.write_all(&file).unwrap();
                file = gzip.finish().unwrap();
            }
            let mut reader = Reader::new(&file[..], Limits::default());
            for (entry, _) in &entries {
                let Some(Ok(Item::Url(read))) = reader.next() else {
                    return Err(TestCaseError::fail("an entry is missing"));
                };
                prop_assert_eq!(&read.loc, &entry.loc);
                let lastmod = entry.lastmod.as_ref().unwrap();
                // Feeds have no dates without time, and RSS no fractions.
                let expected = match (kind, lastmod.as_str().len()) {
                    (Kind::Text, _) => None,
                    (_, 10) => Some(format!("{lastmod}T00:00:00Z")),
                    (Kind::Rss, _) => Some(LastMod::from_timestamp(lastmod.latest_instant()).to_string()),
                    _ => Some(lastmod.to_string()),
                };
                prop_assert_eq!(read.lastmod.map(|lastmod| lastmod.to_string()), expected);
            }
            prop_assert!(reader.next().is_none());
            prop_assert_eq!(reader.kind(), Some(kind));
            let place = loc("http://host/feed");
            let checked = check(&file[..], &Expectation::new(kind, &place));
            prop_assert_eq!(checked.unwrap(), summary);
        }
    }
}
