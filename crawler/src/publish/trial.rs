//! Entries are tried before the files are planned: what the writer refuses, or what our own check of the
//! written files would, is left out and told of, so that one entry never costs the whole set, and one bad
//! extension never its page. It is tried by writing and checking in memory, in batches; only where a batch fails
//! its entries are looked at one by one. Entries in which nothing can fail are not tried.

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader, BufWriter, Seek as _, Write as _},
    path::PathBuf,
};

use sitemap_core::{
    Limits, Loc, UrlEntry,
    extension::{Extensions, Namespaces},
    limits::MIN_LOC_CHARACTERS,
    read::{CheckError, Expectation, Kind, check},
    write::{Push, UrlSetOptions, UrlSetWriter, WriteError},
};

use super::{PublishError, census::declare};
use crate::{
    export::{Export, Without},
    notes::Note,
    page::Reason,
    store::Store,
    url_key::UrlKey,
};

/// Entries of one batch ...
const BATCH_ENTRIES: usize = 1_000;

/// ... and their bytes: images make some entries large.
const BATCH_BYTES: u64 = 1024 * 1024;

/// Pages that are listed without something, which are kept in memory as long as the set is built; those behind
/// them are refused as a whole.
const MAX_BARE: usize = 50_000;

/// Refused pages whose state is changed at once.
const REJUDGE_BATCH: usize = 10_000;

/// Extensions of one entry that are told one by one.
const MAX_TOLD_OF_ENTRY: usize = 3;

/// Tries the entries of one scan.
pub(super) struct Trial {
    /// The crawled directory: what a set may list at most.
    place: Loc,
    batch: Vec<Tried>,
    bytes: u64,
    refused: Refusals,
}

/// A page that is tried.
struct Tried {
    key: UrlKey,
    entry: UrlEntry,
    /// How it stands in a sitemap of news, if it does.
    news: Option<UrlEntry>,
}

impl Trial {
    /// `place` is the crawled directory.
    pub(super) fn new(place: Loc) -> Self {
        Self {
            place,
            batch: Vec::new(),
            bytes: 0,
            refused: Refusals::default(),
        }
    }

    /// Adds the entry of a page, and how it stands in a sitemap of news.
    ///
    /// # Errors
    /// Settings that cannot be satisfied: two namespaces have the same prefix. A temporary file cannot be
    /// written.
    pub(super) fn add(
        &mut self,
        key: &UrlKey,
        entry: &UrlEntry,
        news: Option<UrlEntry>,
    ) -> Result<(), PublishError> {
        if news.is_none() && self.cannot_fail(entry) {
            return Ok(());
        }
        self.bytes += entry.written_len() + news.as_ref().map_or(0, UrlEntry::written_len);
        self.batch.push(Tried {
            key: key.clone(),
            entry: entry.clone(),
            news,
        });
        if self.batch.len() >= BATCH_ENTRIES || self.bytes >= BATCH_BYTES {
            self.try_batch()?;
        }
        Ok(())
    }

    /// Adds a page that something else refuses.
    ///
    /// # Errors
    /// A temporary file cannot be written.
    pub(super) fn refuse(&mut self, key: &UrlKey, why: String) -> Result<(), PublishError> {
        self.refused.add_page(key, why)
    }

    /// What was refused.
    ///
    /// # Errors
    /// As of [`Trial::add`].
    pub(super) fn finish(mut self) -> Result<Refusals, PublishError> {
        self.try_batch()?;
        Ok(self.refused)
    }

    /// Whether an entry is made of nothing but values whose types admit no other than good ones, and of a URL
    /// that is written as it is and stands where it may.
    fn cannot_fail(&self, entry: &UrlEntry) -> bool {
        let loc = entry.loc.as_str();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/:?=,+@".contains(&byte);
        entry.extensions.is_empty()
            && loc.len() >= MIN_LOC_CHARACTERS
            && loc.starts_with(self.place.directory())
            && loc.bytes().all(is_plain)
    }

    fn try_batch(&mut self) -> Result<(), PublishError> {
        let batch = std::mem::take(&mut self.batch);
        self.bytes = 0;
        let mut namespaces = Namespaces::default();
        for tried in &batch {
            declare(&mut namespaces, &tried.entry)?;
            if let Some(news) = &tried.news {
                declare(&mut namespaces, news)?;
            }
        }
        let all = batch
            .iter()
            .flat_map(|tried| [Some(&tried.entry), tried.news.as_ref()]);
        if batch.is_empty() || self.try_entries(all.flatten(), &namespaces).is_ok() {
            return Ok(());
        }
        for tried in batch {
            self.try_page(tried, &namespaces)?;
        }
        Ok(())
    }

    /// Tries one page, and what is left of it without what may be wrong.
    fn try_page(&mut self, tried: Tried, namespaces: &Namespaces) -> Result<(), PublishError> {
        let Tried {
            key,
            mut entry,
            news,
        } = tried;
        if let Err(problem) = self.try_entries([&entry], namespaces) {
            let loc = entry.loc.clone();
            let mut without = None;
            if !entry.extensions.is_empty() && self.refused.bare.len() < MAX_BARE {
                without = self.try_without(&mut entry, &problem, namespaces);
            }
            let Some((without, why)) = without else {
                return self.refused.add_page(&key, format!("{loc}: {problem}"));
            };
            let why = format!("extensions of {loc}: {why}");
            self.refused.add_bare(key.clone(), without, why);
        }
        if let Some(news) = news
            && let Err(problem) = self.try_entries([&news], namespaces)
        {
            let why = format!("article of {}: {problem}", news.loc);
            if self.refused.bare.len() >= MAX_BARE {
                return self.refused.add_page(&key, why);
            }
            self.refused.add_bare(key, Without::News, why);
        }
        Ok(())
    }

    /// Takes from an entry with a `problem` as little of its extensions as will do: what each file refuses, or else
    /// all of them. What that is, and why, in words; nothing where the entry is wrong without any.
    fn try_without(
        &self,
        entry: &mut UrlEntry,
        problem: &str,
        namespaces: &Namespaces,
    ) -> Option<(Without, String)> {
        let refused = entry.extensions.retain_writable(&entry.loc);
        if !refused.is_empty() && self.try_entries([&*entry], namespaces).is_ok() {
            let told = refused.iter().take(MAX_TOLD_OF_ENTRY);
            let mut told: Vec<String> = told.map(ToString::to_string).collect();
            if refused.len() > told.len() {
                told.push(format!("and {} more", refused.len() - told.len()));
            }
            return Some((Without::Unwritable, told.join("; ")));
        }
        entry.extensions = Extensions::default();
        let is_good = self.try_entries([&*entry], namespaces).is_ok();
        is_good.then(|| (Without::Extensions, problem.to_owned()))
    }

    /// Writes the entries and reads them back; what is wrong, in words.
    fn try_entries<'a>(
        &self,
        entries: impl IntoIterator<Item = &'a UrlEntry>,
        namespaces: &Namespaces,
    ) -> Result<(), String> {
        let options = UrlSetOptions::new(Limits::PROTOCOL).with_namespaces(namespaces.clone());
        let mut writer = UrlSetWriter::with_options(Vec::new(), options).map_err(written_badly)?;
        for entry in entries {
            match writer.push(entry).map_err(written_badly)? {
                Push::Written => {}
                Push::Full => return Err("expected an entry that fits into a file".to_owned()),
            }
        }
        let (file, _) = writer.finish().map_err(written_badly)?;
        let mut expectation = Expectation::new(Kind::UrlSet, &self.place);
        expectation.own_namespaces = namespaces.own();
        match check(&file[..], &expectation) {
            Ok(_) => Ok(()),
            // The place in a file that nobody sees would say nothing.
            Err(CheckError::Finding(finding)) => {
                Err(format!("{} ({})", finding.problem, finding.rule()))
            }
            Err(CheckError::OutOfScope { directory, .. }) => {
                Err(format!("it is outside of {directory} (R58)"))
            }
            Err(error) => Err(error.to_string()),
        }
    }
}

fn written_badly(error: WriteError) -> String {
    match error {
        WriteError::Extension { source, .. } => format!("its extensions: {source}"),
        error => error.to_string(),
    }
}

/// What one scan refused. Pages are kept in a file without a name, so that it is one scan however many they are.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    /// The keys of refused pages, one a line.
    pages: Option<BufWriter<File>>,
    /// Pages that are listed without something, at most [`MAX_BARE`] and one.
    bare: Vec<(UrlKey, Without)>,
    count: usize,
    /// The first [`MAX_TOLD`], in words.
    told: Vec<String>,
}

impl Refusals {
    /// Whether nothing was refused.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn add_page(&mut self, key: &UrlKey, why: String) -> Result<(), PublishError> {
        let pages = if let Some(pages) = &mut self.pages {
            pages
        } else {
            let file = tempfile::tempfile().map_err(failed("create"))?;
            self.pages.insert(BufWriter::new(file))
        };
        writeln!(pages, "{key}").map_err(failed("write"))?;
        self.tell(why);
        Ok(())
    }

    fn add_bare(&mut self, key: UrlKey, without: Without, why: String) {
        self.bare.push((key, without));
        self.tell(why);
    }

    fn tell(&mut self, why: String) {
        self.count += 1;
        if self.told.len() < MAX_TOLD {
            self.told.push(why);
        }
    }

    /// Makes the next scan do without all of it.
    ///
    /// # Errors
    /// The store failed, or the temporary file cannot be read.
    pub(super) fn apply(
        self,
        store: &mut dyn Store,
        export: &mut Export,
    ) -> Result<(), PublishError> {
        for (key, without) in self.bare {
            export.leave_out(without, key);
        }
        let Some(pages) = self.pages else {
            return Ok(());
        };
        let mut pages = pages
            .into_inner()
            .map_err(|error| failed("write")(error.into_error()))?;
        pages.rewind().map_err(failed("read"))?;
        let mut refused = Vec::new();
        for line in BufReader::new(pages).lines() {
            let line = line.map_err(failed("read"))?;
            let key = UrlKey::from_normalised(&line)
                .map_err(|error| failed("read")(io::Error::other(error)))?;
            refused.push((key, Reason::EntryRefused));
            if refused.len() >= REJUDGE_BATCH {
                store.rejudge(&refused)?;
                refused.clear();
            }
        }
        if !refused.is_empty() {
            store.rejudge(&refused)?;
        }
        Ok(())
    }
}

fn failed(action: &'static str) -> impl FnOnce(io::Error) -> PublishError {
    move |source| PublishError::Io {
        action,
        path: PathBuf::from("a temporary file"),
        source,
    }
}

/// Entries that were left out, for who publishes: the first ones and their number.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    count: usize,
    told: Vec<String>,
}

/// Entries left out that are told one by one.
const MAX_TOLD: usize = 10;

impl LeftOut {
    /// Counts what one scan refused.
    pub(super) fn add(&mut self, refused: &Refusals) {
        self.count += refused.count;
        let room = MAX_TOLD.saturating_sub(self.told.len());
        self.told.extend(refused.told.iter().take(room).cloned());
    }

    /// A note for each entry that is named, and one for the others.
    pub(super) fn notes(&self) -> impl Iterator<Item = Note> {
        let more = self.count - self.told.len();
        let told = self.told.iter();
        told.map(|why| Note::entry_left_out(why))
            .chain((more > 0).then(|| Note::entries_left_out(&more).counting(more as u64)))
    }
}
