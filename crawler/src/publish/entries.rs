//! The entries of a set as they are written: the judging pass makes them, so that the files need no pass of their own over the view.
//! Memory: [`MAX_MEMORY`], and a key for every [`STEP`] entries. Beyond that they are in a file without a name beside the state, for each
//! entry its bytes and those of its path: 1.9 GB for ten million URLs of 80 bytes. It goes as soon as the files are written.

use std::{
    cell::RefCell,
    io::{self, BufReader, BufWriter, Read, Seek as _, SeekFrom, Write},
    path::{Path, PathBuf},
};

use sitemap_core::{extension::Namespaces, partition::KeyRange};
use tempfile::{SpooledTempFile, spooled_tempfile_in};

use super::{PublishError, disk, folder::failed};

/// Bytes of entries before there is a file.
const MAX_MEMORY: usize = 1024 * 1024;

/// Entries from one place of the table to the next.
const STEP: u64 = 256;

/// An entry as it is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct WrittenEntry<'e> {
    /// Path and query of its URL.
    pub(super) key: &'e str,
    /// The number of its section.
    pub(super) section: Option<usize>,
    /// The namespaces that it needs.
    pub(super) namespaces: &'e Namespaces,
    /// Its date; empty: it has none.
    pub(super) lastmod: &'e str,
    /// Its line in a urlset.
    pub(super) line: &'e [u8],
    /// Its line in a sitemap of news; empty: it is no news.
    pub(super) news: &'e [u8],
    /// The title of the page, where a file for people needs it; else empty.
    pub(super) title: &'e str,
}

/// Takes the entries of a set in the order of their keys.
#[derive(Debug)]
pub(super) struct EntryWriter {
    /// `None`: no file is written.
    out: Option<BufWriter<SpooledTempFile>>,
    places: EntryPlaces,
    entries: u64,
}

/// The entries of a set, to be read again and again.
#[derive(Debug)]
pub(super) struct WrittenEntries {
    file: Option<RefCell<BufReader<SpooledTempFile>>>,
    places: EntryPlaces,
}

/// What is in the file, and where.
#[derive(Debug)]
struct EntryPlaces {
    folder: PathBuf,
    /// Keys, and where their entries begin.
    table: Vec<(String, u64)>,
    /// The namespaces of the entries, each set of them once.
    namespaces: Vec<Namespaces>,
    bytes: u64,
}

/// The numbers in front of the texts of an entry.
struct Header {
    /// 0: it is in none; else its number and one.
    section: u32,
    /// The place among the sets of namespaces.
    namespaces: u32,
    /// Bytes of key, date, lines and title.
    texts: [u32; 5],
}

impl EntryWriter {
    /// No entries; those that need a file have it in `folder`. Without a folder none is taken.
    pub(super) fn new(folder: Option<&Path>) -> Self {
        Self {
            out: folder.map(|folder| BufWriter::new(spooled_tempfile_in(MAX_MEMORY, folder))),
            places: EntryPlaces {
                folder: folder.map(Path::to_owned).unwrap_or_default(),
                table: Vec::new(),
                namespaces: Vec::new(),
                bytes: 0,
            },
            entries: 0,
        }
    }

    /// Adds an entry, whose key is greater than those before it.
    ///
    /// # Errors
    /// There is no room for it.
    pub(super) fn push(&mut self, entry: WrittenEntry<'_>) -> Result<(), PublishError> {
        let (Some(out), places) = (&mut self.out, &mut self.places) else {
            return Ok(());
        };
        if self.entries.is_multiple_of(STEP) {
            places.table.push((entry.key.to_owned(), places.bytes));
        }
        self.entries += 1;
        let known = places
            .namespaces
            .iter()
            .position(|it| it == entry.namespaces);
        let namespaces = known.unwrap_or_else(|| {
            places.namespaces.push(entry.namespaces.clone());
            places.namespaces.len() - 1
        });
        let (key, lastmod) = (entry.key.as_bytes(), entry.lastmod.as_bytes());
        let texts = [key, lastmod, entry.line, entry.news, entry.title.as_bytes()];
        let header = Header {
            section: entry.section.map_or(0, |section| number(section + 1)),
            namespaces: number(namespaces),
            texts: texts.map(|text| number(text.len())),
        };
        places.bytes += header.entry_bytes();
        let written = header.write(out).and_then(|()| {
            let mut texts = texts.into_iter();
            texts.try_for_each(|text| out.write_all(text))
        });
        written.map_err(|error| places.no_room(error))
    }

    /// The entries.
    ///
    /// # Errors
    /// There is no room for the last of them.
    pub(super) fn finish(self) -> Result<WrittenEntries, PublishError> {
        let file = self.out.map(BufWriter::into_inner).transpose();
        let file = file.map_err(|error| self.places.no_room(error.into()))?;
        Ok(WrittenEntries {
            file: file.map(|file| RefCell::new(BufReader::new(file))),
            places: self.places,
        })
    }
}

impl WrittenEntries {
    /// Shows the entries of a range in their order. `show` must not read others.
    ///
    /// # Errors
    /// The file cannot be read; the error of `show`.
    pub(super) fn each(
        &self,
        range: &KeyRange,
        show: &mut dyn FnMut(WrittenEntry<'_>) -> Result<(), PublishError>,
    ) -> Result<(), PublishError> {
        let places = &self.places;
        let unreadable = |error| failed("read a file in", &places.folder)(error);
        let Some(file) = &self.file else {
            return Ok(());
        };
        let mut file = file.borrow_mut();
        let mut at = places.before(&range.start);
        file.seek(SeekFrom::Start(at)).map_err(unreadable)?;
        let mut texts = Vec::new();
        while at < places.bytes {
            let header = Header::read(&mut *file).map_err(unreadable)?;
            at += header.entry_bytes();
            let entry = places.entry(&header, &mut *file, &mut texts);
            let entry = entry.map_err(unreadable)?;
            if entry.key >= range.end.as_str() {
                break;
            }
            if range.contains(entry.key) {
                show(entry)?;
            }
        }
        Ok(())
    }
}

impl EntryPlaces {
    /// A place before all entries with this key or a greater one.
    fn before(&self, key: &str) -> u64 {
        let after = self
            .table
            .partition_point(|(first, _)| first.as_str() < key);
        let before = after
            .checked_sub(1)
            .and_then(|before| self.table.get(before));
        before.map_or(0, |(_, place)| *place)
    }

    /// Reads the entry that a header begins.
    fn entry<'e>(
        &'e self,
        header: &Header,
        file: &mut impl Read,
        texts: &'e mut Vec<u8>,
    ) -> io::Result<WrittenEntry<'e>> {
        let [key, lastmod, line, news, title] = header.texts.map(|length| length as usize);
        texts.resize(key + lastmod + line + news + title, 0);
        file.read_exact(texts)?;
        let (key, rest) = texts.split_at(key);
        let (lastmod, rest) = rest.split_at(lastmod);
        let (line, rest) = rest.split_at(line);
        let (news, title) = rest.split_at(news);
        let text = |bytes| std::str::from_utf8(bytes).map_err(io::Error::other);
        Ok(WrittenEntry {
            key: text(key)?,
            section: header
                .section
                .checked_sub(1)
                .map(|section| section as usize),
            namespaces: &self.namespaces[header.namespaces as usize],
            lastmod: text(lastmod)?,
            line,
            news,
            title: text(title)?,
        })
    }

    fn no_room(&self, error: io::Error) -> PublishError {
        let error = failed("write a file in", &self.folder)(error);
        disk::explained(error, &self.folder)
    }
}

impl Header {
    const BYTES: u64 = 28;

    /// Bytes of the entry in the file.
    fn entry_bytes(&self) -> u64 {
        Self::BYTES + self.texts.map(u64::from).iter().sum::<u64>()
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut numbers = [self.section, self.namespaces]
            .into_iter()
            .chain(self.texts);
        numbers.try_for_each(|number| out.write_all(&number.to_le_bytes()))
    }

    fn read(file: &mut impl Read) -> io::Result<Self> {
        let mut numbers = [0; 7];
        for number in &mut numbers {
            let mut bytes = [0; 4];
            file.read_exact(&mut bytes)?;
            *number = u32::from_le_bytes(bytes);
        }
        let [section, namespaces, texts @ ..] = numbers;
        Ok(Self {
            section,
            namespaces,
            texts,
        })
    }
}

/// Numbers are small: an entry has at most as many bytes as a file may have.
fn number(number: usize) -> u32 {
    u32::try_from(number).expect("less than 4 GiB")
}

#[cfg(test)]
mod tests {
    use sitemap_core::extension::Extension;

    use super::*;

    #[test]
    fn entries_of_any_range_come_back() {
        // More than fit into memory, and several places of the table.
        const COUNT: usize = 1_500;
        let folder = tempfile::tempdir().unwrap();
        let key = |number: usize| format!("/{number:06}");
        let line = vec![b'x'; 2 * MAX_MEMORY / COUNT];
        let images = Namespaces::default().with(Extension::Image);
        let sets = [Namespaces::default(), images];
        let mut entries = EntryWriter::new(Some(folder.path()));
        for number in 0..COUNT {
            let pushed = entries.push(WrittenEntry {
                key: &key(number),
                section: number.checked_sub(1_000),
                namespaces: &sets[number % 2],
                lastmod: if number % 2 == 0 { "" } else { "2026-05-06" },
                line: &line[..number % line.len()],
                news: &line[..number % 3],
                title: &key(number),
            });
            pushed.unwrap();
        }
        let entries = entries.finish().unwrap();
        for (start, end) in [
            (0, COUNT),
            (255, 257),
            (256, 1_100),
            (1_499, 2_000),
            (7, 7),
            (9, 3),
        ] {
            let range = KeyRange {
                start: key(start),
                end: key(end),
            };
            let mut expected = start..end.min(COUNT);
            let mut take = |entry: WrittenEntry<'_>| {
                let number = expected.next().unwrap();
                assert_eq!(
                    (entry.key, entry.line.len()),
                    (&*key(number), number % line.len())
                );
                assert_eq!(entry.news.len(), number % 3);
                assert_eq!(entry.title, key(number));
                assert_eq!(entry.namespaces, &sets[number % 2]);
                assert_eq!(entry.section, number.checked_sub(1_000));
                assert_eq!(entry.lastmod.is_empty(), number % 2 == 0);
                Ok(())
            };
            entries.each(&range, &mut take).unwrap();
            assert_eq!(expected.next(), None, "{range:?}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
