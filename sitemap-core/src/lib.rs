//! The sitemap protocol of <https://www.sitemaps.org/protocol.html>, as a library without network, runtime, clock or files.
//!
//! Values are checked when they are made, so every value can be written. A [`Loc`] is a URL in the form in which a sitemap has
//! it. A [`LastMod`] is a date that both the text of the protocol and its schemas accept. A [`UrlEntry`] is one page, with its
//! images and other [`extension`]s. The writers count entries and bytes and never exceed the limits; the reader takes files of
//! others and reports their problems. Everything goes through `impl Write` and `impl BufRead`, and the time is an argument.
//!
//! ```text
//! Loc, LastMod -> UrlEntry -> SetWriter -> sitemaps and their index, an io::Write for each
//!                 UrlEntry -> UrlSetWriter, TextWriter, RssWriter, AtomWriter -> (GzipWriter) -> bytes
//!                 IndexEntry -> IndexWriter -> bytes
//! any bytes -> read::Reader -> UrlEntry, IndexEntry, findings
//! any bytes, their place -> validate::Validator -> findings of the strict reading
//! keys in order -> partition::Counter -> files by directory, whose names and borders stay from one publish to the next
//! ```
//!
//! The modules [`read`] and [`validate`] are the feature `read`, which is on by default.
//!
//! The numbers R1 to R80 in this documentation and in findings are those of `RULES.md`; [`validate::RuleText`] has its text.
//!
//! # Write a set of any size
//!
//! A [`SetWriter`] begins a new file when one is full, compresses, and writes the index last.
//! ```no_run
//! use std::{fs::File, io::BufWriter};
//! use sitemap_core::{LastMod, Loc, SetWriter, UrlEntry};
//!
//! let base = Loc::parse("https://example.com/")?;
//! let mut set = SetWriter::new(&base, |name| Ok(BufWriter::new(File::create(name)?)));
//! for (url, changed) in [("https://example.com/", "2026-03-02"), ("https://example.com/about", "2025-11-26")] {
//!     set.push(&UrlEntry::new(Loc::parse(url)?).with_lastmod(LastMod::parse(changed)?))?;
//! }
//! for index in set.finish()?.indexes {
//!     println!("Sitemap: {index}"); // the line for robots.txt
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Write one sitemap
//! ```
//! use sitemap_core::{GzipWriter, LastMod, Limits, Loc, Push, UrlEntry, UrlSetWriter};
//!
//! let mut writer = UrlSetWriter::new(GzipWriter::new(Vec::new()), Limits::default())?;
//! let entry = UrlEntry::new(Loc::parse("https://example.com/catalog?item=12&desc=vacation_hawaii")?)
//!     .with_lastmod(LastMod::parse("2004-12-23T18:00:15+00:00")?);
//! // `Push::Full` means that the entry belongs into a next file.
//! assert_eq!(writer.push(&entry)?, Push::Written);
//! let (gzip, summary) = writer.finish()?;
//! let compressed = gzip.finish()?;
//! // The limit and the summary are about the bytes before compression.
//! assert_eq!(summary.entries, 1);
//! assert!(compressed.starts_with(&[0x1f, 0x8b]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Write an index of sitemaps
//! ```
//! use sitemap_core::{IndexEntry, IndexWriter, LastMod, Limits, Loc};
//!
//! let mut writer = IndexWriter::new(Vec::new(), Limits::default())?;
//! let changed = LastMod::from_timestamp("2026-03-02T04:00:11Z".parse()?);
//! let part = Loc::parse("https://example.com/sitemap-root.xml.gz")?;
//! let _ = writer.push(&IndexEntry::new(part).with_lastmod(changed))?;
//! let (index, _) = writer.finish()?;
//! assert!(String::from_utf8_lossy(&index).contains("<lastmod>2026-03-02T04:00:11Z</lastmod>"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Add images and other languages
//! ```
//! use sitemap_core::{Loc, UrlEntry, UrlSetOptions, UrlSetWriter, extension::{Alternate, Element, Hreflang}};
//!
//! let mut entry = UrlEntry::new(Loc::parse("https://example.com/en/")?);
//! entry.extensions.add(Element::image(&Loc::parse("https://cdn.example.net/a.jpg")?))?;
//! for (hreflang, href) in [("en", "https://example.com/en/"), ("fr-CA", "https://example.com/fr/")] {
//!     entry.extensions.add_alternate(Alternate::new(Hreflang::parse(hreflang)?, Loc::parse(href)?))?;
//! }
//! // The root declares what the entries use, so that must be known first.
//! let mut options = UrlSetOptions::default();
//! options.namespaces.add(&entry.extensions)?;
//! let mut writer = UrlSetWriter::with_options(Vec::new(), options)?;
//! let _ = writer.push(&entry)?;
//! let file = String::from_utf8(writer.finish()?.0)?;
//! assert!(file.contains("<xhtml:link rel=\"alternate\" hreflang=\"fr-CA\" href=\"https://example.com/fr/\"/>"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Check a file before it is published
//! ```
//! use sitemap_core::{Loc, read::{Expectation, Kind, Order, check}};
//!
//! let file = br#"<?xml version="1.0" encoding="UTF-8"?>
//! <urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
//! <url><loc>https://example.com/image/a</loc></url>
//! </urlset>"#;
//! let place = Loc::parse("https://example.com/catalog/sitemap.xml")?;
//! let mut expectation = Expectation::new(Kind::UrlSet, &place);
//! expectation.entries = Some(1);
//! expectation.order = Order::Ascending;
//! let error = check(&file[..], &expectation).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "line 3, byte 100: https://example.com/image/a is outside of https://example.com/catalog/, the directory of the sitemap (R58)"
//! );
//! # Ok::<(), sitemap_core::LocError>(())
//! ```
//!
//! # Read what others publish
//! ```
//! use sitemap_core::{Limits, read::{Item, Reader}};
//!
//! let file = b"<urlset><url><loc>https://example.com/?a=1&b=2</loc></url><url><loc>/relative</loc></url></urlset>";
//! let mut reader = Reader::new(&file[..], Limits::default());
//! let mut urls = Vec::new();
//! let mut left_out = Vec::new();
//! for item in &mut reader {
//!     match item {
//!         Ok(Item::Url(entry)) => urls.push(entry.loc.to_string()),
//!         Ok(Item::Sitemap(entry)) => urls.push(entry.loc.to_string()),
//!         Err(error) => left_out.push(error.to_string()),
//!     }
//! }
//! assert_eq!(urls, ["https://example.com/?a=1&b=2"]);
//! assert_eq!(left_out, ["line 1, byte 63: URL is not absolute, expected http:// or https:// and a host (R9)"]);
//! let findings: Vec<String> = reader.findings().iter().map(ToString::to_string).collect();
//! assert_eq!(findings[1], "line 1, byte 42: ampersand is not escaped, expected &amp; (R3)");
//! # Ok::<(), sitemap_core::LocError>(())
//! ```
//!
//! # Find what is wrong with a file
//! ```
//! use sitemap_core::validate::{Facts, Options, Validator};
//!
//! let file = b"<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>https://example.com/?a=1&b=2</loc></url></urlset>";
//! let mut validator = Validator::new(Options::new("2026-03-02T04:00:11Z".parse()?));
//! let mut found = Vec::new();
//! validator.check(&file[..], &Facts::new("sitemap.xml"), &mut |finding| found.push(finding))?;
//! assert_eq!((found[0].rule.to_string(), &*found[0].help), ("R3".to_owned(), "write &amp; for every & in text and attributes"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Ask what a sitemap at a place may list
//! ```
//! use sitemap_core::Loc;
//!
//! let sitemap = Loc::parse("https://example.com/catalog/sitemap.xml")?;
//! assert_eq!(sitemap.directory(), "https://example.com/catalog/");
//! assert!(sitemap.may_list(&Loc::parse("https://example.com/catalog/show?item=23")?));
//! assert!(!sitemap.may_list(&Loc::parse("https://www.example.com/catalog/show?item=23")?));
//! # Ok::<(), sitemap_core::LocError>(())
//! ```

#![cfg_attr(
    not(feature = "read"),
    expect(
        dead_code,
        unused_imports,
        reason = "only the reader checks values of others"
    )
)]

pub mod entry;
pub mod extension;
pub mod lastmod;
pub mod limits;
pub mod loc;
pub mod partition;
#[cfg(feature = "read")]
pub mod read;
#[cfg(feature = "read")]
pub mod validate;
pub mod write;

pub use entry::{ChangeFreq, ChangeFreqError, IndexEntry, Priority, PriorityError, UrlEntry};
pub use lastmod::{LastMod, LastModError};
pub use limits::Limits;
pub use loc::{Loc, LocError};
pub use write::{
    AtomWriter, Compression, FeedInfo, FileSummary, GzipWriter, IndexWriter, Push, RssWriter,
    SchemaLocation, SetError, SetSummary, SetWriter, TextWriter, UrlSetOptions, UrlSetWriter,
    WriteError,
};

/// Runs the examples of the front page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
