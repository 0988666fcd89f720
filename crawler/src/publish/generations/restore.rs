//! The way back: builds a kept set again, from its copies, for the way that every set goes, and reads the entries of its
//! files for the journal. It never makes a set of less than what was kept: what is missing is an error that names it.

use std::{
    collections::{BTreeMap, HashMap},
    fs::File,
    io::{self, BufReader},
    path::{Path, PathBuf},
};

use sitemap_core::{
    Limits,
    read::{Item, Kind, ReadError, Reader},
    write::FileSummary,
};

use super::list::{Generation, Kept, restorable};
use crate::{
    machine::open_regular,
    publish::{
        Journal, MANIFEST, PublishError, PublishRequest, Published,
        file::{self, BuiltFile, FileContent, Weighed},
        files::FileKind,
        folder::{Folder, Temporary, failed, hash_file},
        index::{self, Index},
        journal::Gathered,
        manifest::{FileRecord, Manifest},
        place::Address,
        previous::Previous,
        put_out,
        set::{Facts, Origin, ReadySet},
    },
    store::Store,
    url_key::UrlKey,
};

/// Publishes the set again that stood `back` publishes ago, from 1 on, and forgets those behind it. Its files get the
/// time of now where they are not those that stand: for readers they change. Then it is as after any publish: what the
/// guard compares with, and what is remembered for engines, are those of the restored set. What later runs decided, also
/// one that is not finished, is as if it had been refused: the next crawl begins anew, with the answers, contents and
/// dates that were known with the set.
///
/// # Errors
/// The set that stood still does; see [`PublishError`]. [`PublishError::Settings`]: there is no such set, a part of it
/// is not there any more, it is one of another site, or the set that stands is not in this output.
pub fn roll_back(
    store: &mut dyn Store,
    request: &PublishRequest<'_>,
    back: usize,
) -> Result<Published, PublishError> {
    let site = request.site.written().name();
    let previous = Previous::read(store, request)?;
    expect_set(store, &previous)?;
    let mut sets = restorable(store, &previous.manifest)?;
    let kept = sets.len();
    let place = kept.checked_sub(back).filter(|_| back > 0);
    let Some((place, generation)) = place.and_then(|place| Some((place, sets.get(place)?.clone())))
    else {
        return Err(PublishError::Settings(format!(
            "rollback: {back} sets back there is none; kept are {kept} besides the one that stands"
        )));
    };
    if generation.manifest.site != site {
        return Err(PublishError::Settings(format!(
            "rollback: the set that stood {back} publishes ago is of {}, expected one of {site}",
            generation.manifest.site
        )));
    }
    sets.truncate(place + 1);
    put_out(store, request, |store, request, mut folder| {
        let previous = Previous::read(store, request)?;
        let restoring = Restoring {
            request,
            previous: &previous,
            generation: &generation,
        };
        let built = restoring.build(folder.as_deref_mut())?;
        let facts = Facts {
            listed: generation.manifest.listed,
            layout: generation.manifest.layout.clone(),
            remembered: generation.remembered.clone(),
        };
        let origin = Origin::Kept(sets);
        ReadySet::assemble(request, origin, previous, built, facts, folder.as_deref())
    })
}

/// Makes sure that the set which the state knows to stand is the one that `previous` found in the output: otherwise the
/// sets before it are none of what stands there.
///
/// # Errors
/// The store cannot be read; [`PublishError::Settings`]: it is another one.
fn expect_set(store: &dyn Store, previous: &Previous) -> Result<(), PublishError> {
    let known = store.value(MANIFEST)?;
    let Some(known) = known else {
        return Err(missing("the state of the site knows of no published set"));
    };
    let known: Manifest = serde_json::from_str(&known).map_err(|error| {
        missing(&format!(
            "what the state of the site knows of the published set is damaged: {error}; the next crawl writes it anew"
        ))
    })?;
    let found = &previous.manifest;
    if known.site != found.site {
        return Err(missing(&format!(
            "the set that stands is of {}, expected one of {}",
            known.site, found.site
        )));
    }
    let contents = |manifest: &Manifest| -> BTreeMap<String, String> {
        let files = manifest.files.iter();
        files
            .map(|file| (file.name.clone(), file.file_sha256.clone()))
            .collect()
    };
    if known.output != found.output && contents(&known) != contents(found) {
        return Err(missing(&format!(
            "the set that stands is in {}, expected it in the output {}",
            known.output, found.output
        )));
    }
    Ok(())
}

/// Everything needed to build the files of a kept set again.
struct Restoring<'a> {
    request: &'a PublishRequest<'a>,
    previous: &'a Previous,
    generation: &'a Generation,
}

impl Restoring<'_> {
    /// Builds every file: parts first, as their index says when they changed, but indexes lead the list.
    fn build(&self, mut folder: Option<&mut Folder>) -> Result<Vec<BuiltFile>, PublishError> {
        let all = || {
            let records = self.generation.manifest.files.iter();
            records.zip(&self.generation.files)
        };
        let is_index = |kept: &Kept| kept.kind() == Some(FileKind::Index);
        let mut parts = Vec::new();
        for (record, kept) in all().filter(|(_, kept)| !is_index(kept)) {
            parts.push(self.build_part(record, kept, folder.as_deref_mut())?);
        }
        let by_name: HashMap<&str, &BuiltFile> = parts
            .iter()
            .map(|part| (part.address.name.as_str(), part))
            .collect();
        let mut built = Vec::with_capacity(self.generation.files.len());
        for (record, kept) in all().filter(|(_, kept)| is_index(kept)) {
            built.push(self.build_index(record, kept, &by_name, folder.as_deref_mut())?);
        }
        built.extend(parts);
        Ok(built)
    }

    fn build_part(
        &self,
        record: &FileRecord,
        kept: &Kept,
        folder: Option<&mut Folder>,
    ) -> Result<BuiltFile, PublishError> {
        let name = record.name.as_str();
        let copies = self.request.config.generations.as_ref();
        let copy = KeptCopy {
            record,
            path: copies.map(|path| path.join(&record.file_sha256)),
        };
        let is_dry = folder.is_none();
        let made = file::make(self.request, self.previous, name, &copy, folder)?;
        if is_dry && made.changed {
            copy.look()?;
        }
        let kind = match kept.kind() {
            Some(kind) => kind,
            None if made.changed => kind_of(copy.path()?)?,
            None => kind_of(&self.request.config.output.join(name))?,
        };
        if kind == FileKind::Index {
            return Err(missing(&format!(
                "of the index {name} it is not known what it names"
            )));
        }
        Ok(BuiltFile {
            address: address(record, kept),
            role: self.generation.role_of(kept),
            kind,
            members: Vec::new(),
            made,
        })
    }

    /// An index names when its files changed, so it is written anew.
    fn build_index(
        &self,
        record: &FileRecord,
        kept: &Kept,
        parts: &HashMap<&str, &BuiltFile>,
        folder: Option<&mut Folder>,
    ) -> Result<BuiltFile, PublishError> {
        let name = record.name.as_str();
        let address = address(record, kept);
        let members = kept.members.clone().unwrap_or_default();
        let named = members.iter().map(|member| {
            parts.get(member.as_str()).copied().ok_or_else(|| {
                missing(&format!(
                    "the index {name} names {member}, of which nothing is kept"
                ))
            })
        });
        let index = Index {
            address: &address,
            members: named.collect::<Result<_, _>>()?,
            schema_location: index::schema_location(self.request),
        };
        let made = file::make(self.request, self.previous, name, &index, folder)?;
        Ok(BuiltFile {
            address,
            role: self.generation.role_of(kept),
            kind: FileKind::Index,
            members,
            made,
        })
    }
}

fn address(record: &FileRecord, kept: &Kept) -> Address {
    Address {
        name: record.name.clone(),
        url: kept.url.clone(),
    }
}

/// The set cannot be restored as it was.
fn missing(what: &str) -> PublishError {
    PublishError::Settings(format!("rollback: {what}"))
}

/// A file of a kept set.
struct KeptCopy<'a> {
    record: &'a FileRecord,
    /// Where its copy stands; `None`: no copies are kept.
    path: Option<PathBuf>,
}

impl KeptCopy<'_> {
    fn path(&self) -> Result<&Path, PublishError> {
        let path = self.path.as_deref().filter(|path| path.is_file());
        path.ok_or_else(|| {
            missing(&format!(
                "the copy of {} is missing beside the state",
                self.record.name
            ))
        })
    }

    /// Whether the copy is there and is what it was.
    fn look(&self) -> Result<(), PublishError> {
        let path = self.path()?;
        self.compare(&hash_file(path).map_err(failed("read", path))?)
    }

    fn compare(&self, file_sha256: &str) -> Result<(), PublishError> {
        if file_sha256 == self.record.file_sha256 {
            return Ok(());
        }
        Err(missing(&format!(
            "{} is not the copy of {} that it was",
            self.path()?.display(),
            self.record.name
        )))
    }
}

impl FileContent for KeptCopy<'_> {
    fn weigh(&self) -> Result<Weighed, PublishError> {
        let mut summary = FileSummary::default();
        summary.entries = self.record.entries;
        summary.bytes = self.record.bytes;
        Ok((self.record.sha256.clone(), summary))
    }

    fn write(&self, path: &Path, mut file: &File) -> Result<Weighed, PublishError> {
        let copy = self.path()?;
        let mut source = File::open(copy).map_err(failed("read", copy))?;
        io::copy(&mut source, &mut file).map_err(failed("write", path))?;
        self.weigh()
    }

    /// It is what was checked when it was published first.
    fn check(&self, temporary: &Temporary, _: &FileSummary) -> Result<(), PublishError> {
        self.compare(&temporary.file_sha256)
    }
}

/// What is in the file at `path`, by its content: an arpent of before did not note it.
fn kind_of(path: &Path) -> Result<FileKind, PublishError> {
    let mut reader = open(path)?;
    let first = reader.next().transpose().map_err(unreadable(path))?;
    let has_news = matches!(&first, Some(Item::Url(entry)) if entry.extensions.news().is_some());
    match reader.kind() {
        // What a page lists otherwise says nothing of news.
        Some(Kind::UrlSet) if has_news => Ok(FileKind::News),
        Some(Kind::UrlSet) => Ok(FileKind::UrlSet),
        Some(Kind::Text) => Ok(FileKind::Text),
        Some(Kind::Rss | Kind::Atom) => Ok(FileKind::Feed),
        Some(Kind::Index) => Ok(FileKind::Index),
        Some(_) | None => Err(missing(&format!("{} is no sitemap", path.display()))),
    }
}

fn open(path: &Path) -> Result<Reader<BufReader<File>>, PublishError> {
    let file = open_regular(path).map_err(failed("read", path))?;
    Ok(Reader::new(BufReader::new(file), Limits::PROTOCOL))
}

/// Why the entries of a file of ours cannot be read.
fn unreadable(path: &Path) -> impl Fn(ReadError) -> PublishError {
    |error| {
        let error = match error {
            ReadError::Io(error) => error,
            other => io::Error::new(io::ErrorKind::InvalidData, other),
        };
        failed("read", path)(error)
    }
}

/// Stages what the set of these files changes, which stands in `folder`: its entries are what is remembered of the
/// published set from then on.
///
/// # Errors
/// The store failed, or a file has not the entries that were published in it.
pub(in crate::publish) fn stage(
    store: &mut dyn Store,
    request: &PublishRequest<'_>,
    folder: &Folder,
    built: &[BuiltFile],
) -> Result<Journal, PublishError> {
    let mut gathered = Gathered::start(store, request)?;
    for file in built.iter().filter(|file| file.kind == listing_kind(built)) {
        let path = folder.path(&file.address.name);
        let mut entries = 0;
        for item in open(&path)? {
            let Item::Url(entry) = item.map_err(unreadable(&path))? else {
                continue;
            };
            entries += 1;
            let key = UrlKey::from_normalised(entry.loc.as_str());
            let key = key.map_err(|error| {
                failed("read", &path)(io::Error::new(io::ErrorKind::InvalidData, error))
            })?;
            let lastmod = entry.lastmod.as_ref().map(ToString::to_string);
            gathered.add(store, key, lastmod)?;
        }
        let expected = file.made.record.entries;
        if entries != expected {
            return Err(PublishError::Check {
                name: file.address.name.clone(),
                problem: format!("expected {expected} entries, found {entries}"),
            });
        }
    }
    Ok(gathered.finish(store)?)
}

/// The kind of the files that list every page once: urlsets, or texts where there are none.
fn listing_kind(built: &[BuiltFile]) -> FileKind {
    if built.iter().any(|file| file.kind == FileKind::UrlSet) {
        FileKind::UrlSet
    } else {
        FileKind::Text
    }
}
