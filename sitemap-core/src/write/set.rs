//! [`SetWriter`]: entries in, the files of a whole set out, with the index that lists them.

use std::io::{self, Write};

use super::{FileSummary, GzipWriter, IndexWriter, Push, UrlSetOptions, UrlSetWriter, WriteError};
use crate::{IndexEntry, LastMod, Limits, Loc, LocError, UrlEntry, partition::index_name};

/// Compression of the sitemaps of a set; its index is never compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// gzip, which all search engines read; the same entries give the same bytes.
    #[default]
    Gzip,
    /// None.
    Plain,
}

/// Writes a set of any size: sitemaps `sitemap.1.xml.gz`, `sitemap.2.xml.gz` and so on, each full before the next begins, and at
/// the end the index `sitemap.xml`, which lists them.
///
/// The entries keep their order. The caller lists each URL once (R26). The set opens no files itself: a function opens an output
/// by its name, one at a time, and the set flushes each output at its end. Until [`finish`](Self::finish) there is no index, so
/// an index never lists a sitemap that is not complete.
///
/// ```no_run
/// use std::{fs::File, io::BufWriter};
/// use sitemap_core::{LastMod, Loc, SetWriter, UrlEntry};
///
/// let base = Loc::parse("https://example.com/")?;
/// let mut set = SetWriter::new(&base, |name| Ok(BufWriter::new(File::create(name)?)));
/// for number in 1..=120_000 {
///     let url = format!("https://example.com/products/{number}");
///     set.push(&UrlEntry::new(Loc::parse(&url)?).with_lastmod(LastMod::parse("2026-03-02")?))?;
/// }
/// let summary = set.finish()?;
/// assert_eq!((summary.files.len(), summary.entries), (3, 120_000));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// In memory, with smaller files and the time at which the set is written:
/// ```
/// use std::{cell::RefCell, collections::BTreeMap, io::{self, Write}};
/// use sitemap_core::{Compression, LastMod, Limits, Loc, SetWriter, UrlEntry, UrlSetOptions};
///
/// struct Output<'a>(String, &'a RefCell<BTreeMap<String, Vec<u8>>>);
///
/// impl Write for Output<'_> {
///     fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
///         self.1.borrow_mut().entry(self.0.clone()).or_default().write(bytes)
///     }
///     fn flush(&mut self) -> io::Result<()> {
///         Ok(())
///     }
/// }
///
/// let files = RefCell::default();
/// let base = Loc::parse("https://example.com/shop/")?;
/// let mut set = SetWriter::new(&base, |name| Ok(Output(name.to_owned(), &files)))
///     .with_options(UrlSetOptions::new(Limits { entries: 2, ..Limits::default() }))
///     .with_compression(Compression::Plain)
///     .with_lastmod(LastMod::parse("2026-03-02T04:00:11Z")?);
/// for name in ["a", "b", "c"] {
///     set.push(&UrlEntry::new(Loc::parse(&format!("https://example.com/shop/{name}"))?))?;
/// }
/// let summary = set.finish()?;
/// assert_eq!(summary.indexes[0].as_str(), "https://example.com/shop/sitemap.xml");
/// let files = files.into_inner();
/// assert_eq!(files.keys().collect::<Vec<_>>(), ["sitemap.1.xml", "sitemap.2.xml", "sitemap.xml"]);
/// let second = "<sitemap><loc>https://example.com/shop/sitemap.2.xml</loc><lastmod>2026-03-02T04:00:11Z</lastmod></sitemap>";
/// assert!(String::from_utf8_lossy(&files["sitemap.xml"]).contains(second));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SetWriter<W: Write, F> {
    base: Loc,
    open: F,
    options: UrlSetOptions,
    compression: Compression,
    lastmod: Option<LastMod>,
    /// A file could not be written: the set cannot be completed.
    is_broken: bool,
    /// The sitemap that is being written.
    file: Option<UrlSetWriter<Output<W>>>,
    summary: SetSummary,
}

/// Result of writing a set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetSummary {
    /// The sitemaps, in the order in which they were written.
    pub files: Vec<SetFile>,
    /// The addresses of its indexes: one, and another one for every further 50,000 sitemaps. robots.txt names each.
    pub indexes: Vec<Loc>,
    /// Entries of all sitemaps.
    pub entries: u64,
}

/// A sitemap of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetFile {
    /// The name with which it was opened.
    pub name: String,
    /// The counts, before compression.
    pub summary: FileSummary,
}

/// Reason why a set cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetError {
    /// A file of the set cannot be opened or written. When the cause is an entry, nothing of the entry was written, and others can
    /// follow.
    #[error("write {name}")]
    File {
        /// The name of the file.
        name: String,
        /// The cause.
        source: WriteError,
    },
    /// A URL that no sitemap of the set may list (R58). Nothing was written, and other entries can follow.
    #[error("{loc} is outside of {directory}, the directory of the set (R58)")]
    Outside {
        /// The address of the entry.
        loc: Loc,
        /// The directory of the set.
        directory: String,
    },
    /// A file could not be written before, so that entries are missing.
    #[error("a file of the set could not be written before")]
    Broken,
    /// The directory of the set is so long that the address of a file is not a URL that a sitemap may have.
    #[error("address of {name}")]
    Address {
        /// The name of the file.
        name: String,
        /// The cause.
        source: LocError,
    },
    /// The set would have no entry. No file was opened.
    #[error("set has no entries, expected at least one")]
    Empty,
}

impl<W: Write, F: FnMut(&str) -> io::Result<W>> SetWriter<W, F> {
    /// A set that will be served in the directory of `base`, with the limits of the protocol. `open` opens the output of a file,
    /// whose name has no directories.
    pub fn new(base: &Loc, open: F) -> Self {
        Self {
            base: base.clone(),
            open,
            options: UrlSetOptions::default(),
            compression: Compression::default(),
            lastmod: None,
            is_broken: false,
            file: None,
            summary: SetSummary::default(),
        }
    }

    /// Sets the limits of the files and the extensions that their entries may have.
    #[must_use]
    pub fn with_options(mut self, options: UrlSetOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets the compression of the sitemaps.
    #[must_use]
    pub fn with_compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }

    /// Sets the time at which the files are written, their `lastmod` in the index (R41). By default the index has no times.
    #[must_use]
    pub fn with_lastmod(mut self, written: LastMod) -> Self {
        self.lastmod = Some(written);
        self
    }

    /// Adds an entry; when the current sitemap is full, to the next one. A file is opened only for an entry that it can have.
    ///
    /// # Errors
    /// [`SetError::Outside`], and [`SetError::File`] with each cause that [`UrlSetWriter`] has. After an error of the output every
    /// further call gives [`SetError::Broken`].
    pub fn push(&mut self, entry: &UrlEntry) -> Result<(), SetError> {
        if self.is_broken {
            return Err(SetError::Broken);
        }
        let pushed = self.push_entry(entry);
        self.is_broken = matches!(
            pushed,
            Err(SetError::File {
                source: WriteError::Io(_),
                ..
            })
        );
        pushed
    }

    fn push_entry(&mut self, entry: &UrlEntry) -> Result<(), SetError> {
        if !self.base.may_list(&entry.loc) {
            return Err(SetError::Outside {
                loc: entry.loc.clone(),
                directory: self.base.directory().to_owned(),
            });
        }
        if let Some(file) = &mut self.file {
            let pushed = file.push(entry);
            match pushed.map_err(|source| file_error(&self.name(), source))? {
                Push::Written => {
                    self.summary.entries += 1;
                    return Ok(());
                }
                Push::Full => self.end_file()?,
            }
        }
        let name = self.name();
        let mut file = self
            .open_for(entry, &name)
            .map_err(|source| file_error(&name, source))?;
        let pushed = file.push(entry);
        self.file = Some(file);
        let _ = pushed.map_err(|source| file_error(&name, source))?;
        self.summary.entries += 1;
        Ok(())
    }

    /// Opens a sitemap for an entry, unless no sitemap could have the entry.
    fn open_for(
        &mut self,
        entry: &UrlEntry,
        name: &str,
    ) -> Result<UrlSetWriter<Output<W>>, WriteError> {
        let _ = UrlSetWriter::with_options(io::sink(), self.options.clone())?.push(entry)?;
        let out = (self.open)(name)?;
        let out = match self.compression {
            Compression::Gzip => Output::Gzip(Box::new(GzipWriter::new(out))),
            Compression::Plain => Output::Plain(out),
        };
        UrlSetWriter::with_options(out, self.options.clone())
    }

    /// Ends the last sitemap and writes the index.
    ///
    /// # Errors
    /// [`SetError::Empty`] when nothing was pushed, [`SetError::File`] from the outputs.
    pub fn finish(mut self) -> Result<SetSummary, SetError> {
        if self.is_broken {
            return Err(SetError::Broken);
        }
        if self.summary.entries == 0 {
            return Err(SetError::Empty);
        }
        self.end_file()?;
        let mut entries = Vec::new();
        for file in &self.summary.files {
            let mut entry = IndexEntry::new(address(&self.base, &file.name)?);
            entry.lastmod.clone_from(&self.lastmod);
            entries.push(entry);
        }
        let mut rest = entries.as_slice();
        while !rest.is_empty() {
            let name = index_name(self.summary.indexes.len());
            let loc = address(&self.base, &name)?;
            let written = (self.open)(&name).map_err(WriteError::from);
            let written = written.and_then(|out| write_index(out, rest));
            let count = written.map_err(|source| file_error(&name, source))?;
            self.summary.indexes.push(loc);
            rest = &rest[count..];
        }
        Ok(self.summary)
    }

    /// The name of the sitemap that is being written.
    fn name(&self) -> String {
        let suffix = match self.compression {
            Compression::Gzip => ".gz",
            Compression::Plain => "",
        };
        format!("sitemap.{}.xml{suffix}", self.summary.files.len() + 1)
    }

    fn end_file(&mut self) -> Result<(), SetError> {
        let name = self.name();
        let Some(file) = self.file.take() else {
            return Ok(());
        };
        let ended = file.finish().and_then(|(out, summary)| {
            out.finish()?;
            Ok(summary)
        });
        let summary = ended.map_err(|source| file_error(&name, source))?;
        self.summary.files.push(SetFile { name, summary });
        Ok(())
    }
}

/// Writes an index of the first entries, as many as it may have; returns their number.
fn write_index<W: Write>(out: W, entries: &[IndexEntry]) -> Result<usize, WriteError> {
    let mut index = IndexWriter::new(out, Limits::default())?;
    let mut count = 0;
    for entry in entries {
        if index.push(entry)? == Push::Full {
            break;
        }
        count += 1;
    }
    index.finish()?.0.flush()?;
    Ok(count)
}

fn file_error(name: &str, source: WriteError) -> SetError {
    SetError::File {
        name: name.to_owned(),
        source,
    }
}

/// The address of a file of the set.
fn address(base: &Loc, name: &str) -> Result<Loc, SetError> {
    let address = Loc::parse(&format!("{}{name}", base.directory()));
    address.map_err(|source| SetError::Address {
        name: name.to_owned(),
        source,
    })
}

/// The output of a sitemap, perhaps compressed.
#[derive(Debug)]
enum Output<W: Write> {
    Gzip(Box<GzipWriter<W>>),
    Plain(W),
}

impl<W: Write> Output<W> {
    fn finish(self) -> io::Result<()> {
        let mut out = match self {
            Self::Gzip(gzip) => gzip.finish()?,
            Self::Plain(out) => out,
        };
        out.flush()
    }
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Gzip(gzip) => gzip.write(bytes),
            Self::Plain(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Gzip(gzip) => gzip.flush(),
            Self::Plain(out) => out.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

    use super::*;
    use crate::{
        extension::Element,
        limits::MAX_ENTRIES,
        read::{Expectation, Kind, check},
    };

    type Files = Rc<RefCell<BTreeMap<String, Vec<u8>>>>;

    /// An output that counts its flushes in a file of the set.
    struct Memory(String, Files);

    impl Write for Memory {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut files = self.1.borrow_mut();
            files.entry(self.0.clone()).or_default().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            let flushed = format!("{} flushed", self.0);
            self.1.borrow_mut().insert(flushed, Vec::new());
            Ok(())
        }
    }

    fn loc(text: &str) -> Loc {
        Loc::parse(text).unwrap()
    }

    fn page(number: u64) -> UrlEntry {
        UrlEntry::new(loc(&format!("https://example.com/{number}")))
    }

    fn set(files: &Files) -> SetWriter<Memory, impl FnMut(&str) -> io::Result<Memory>> {
        let files = Rc::clone(files);
        SetWriter::new(&loc("https://example.com/"), move |name| {
            Ok(Memory(name.to_owned(), Rc::clone(&files)))
        })
    }

    #[test]
    fn files_are_full_flushed_and_in_the_index() {
        let files = Files::default();
        let mut set = set(&files);
        for number in 0..=MAX_ENTRIES {
            set.push(&page(number)).unwrap();
        }
        let summary = set.finish().unwrap();
        let written = summary.files.iter();
        let entries: Vec<u64> = written.map(|file| file.summary.entries).collect();
        assert_eq!((entries, summary.entries), (vec![50_000, 1], 50_001));
        let files = files.borrow();
        let expected = ["sitemap.1.xml.gz", "sitemap.2.xml.gz", "sitemap.xml"];
        let flushed = expected.map(|name| [name.to_owned(), format!("{name} flushed")]);
        assert!(files.keys().eq(flushed.as_flattened()));
        let kinds = [Kind::UrlSet, Kind::UrlSet, Kind::Index];
        for (name, kind) in expected.into_iter().zip(kinds) {
            let place = loc(&format!("https://example.com/{name}"));
            check(&files[name][..], &Expectation::new(kind, &place)).unwrap();
        }
    }

    #[test]
    fn files_above_the_limit_have_two_indexes() {
        let open = |_: &str| Ok(io::sink());
        let limits = Limits {
            entries: 1,
            ..Limits::default()
        };
        let mut set = SetWriter::new(&loc("https://example.com/"), open)
            .with_compression(Compression::Plain)
            .with_options(UrlSetOptions::new(limits));
        for number in 0..=MAX_ENTRIES {
            set.push(&page(number)).unwrap();
        }
        let indexes = set.finish().unwrap().indexes;
        let expected = [
            "https://example.com/sitemap.xml",
            "https://example.com/sitemap-2.xml",
        ];
        assert_eq!(indexes, expected.map(loc));
    }

    #[test]
    fn refused_entries_open_no_file() {
        let files = Files::default();
        let check = |entry: &UrlEntry, limits: Limits, expected: &str| {
            let mut set = set(&files).with_options(UrlSetOptions::new(limits));
            let error = set.push(entry).unwrap_err();
            let source = std::error::Error::source(&error).map(|source| format!(": {source}"));
            let message = format!("{error}{}", source.unwrap_or_default());
            assert!(message.starts_with(expected), "{message}");
            assert!(matches!(set.finish(), Err(SetError::Empty)));
            assert!(files.borrow().is_empty());
        };
        let elsewhere = UrlEntry::new(loc("https://www.example.com/"));
        let outside = "https://www.example.com/ is outside of https://example.com/, the directory";
        check(&elsewhere, Limits::default(), outside);
        let mut image = page(1);
        let picture = Element::image(&loc("https://example.com/a.jpg"));
        image.extensions.add(picture).unwrap();
        let undeclared =
            "write sitemap.1.xml.gz: extensions of the entry for https://example.com/1";
        check(&image, Limits::default(), undeclared);
        let small = Limits {
            entries: 1,
            bytes: 130,
        };
        check(
            &page(1),
            small,
            "write sitemap.1.xml.gz: entry for https://example.com/1 makes",
        );
    }
}
