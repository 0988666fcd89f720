//! The trial of entries before the files are planned: an entry that the writer or our own check would refuse is left out and
//! reported, so that a bad entry does not stop the whole set, and a bad extension does not remove its page. Entries are written and
//! checked in memory, in batches; where a batch fails its entries are tried one by one. Entries in which nothing can fail are
//! not tried.

use sitemap_core::{
    Limits, Loc, UrlEntry,
    extension::{Extensions, Namespaces},
    limits::MIN_LOC_CHARACTERS,
    read::{CheckError, Expectation, Kind, check},
    write::{Push, UrlSetOptions, UrlSetWriter, WriteError},
};

use super::PublishError;
use crate::{
    export::{Listed, OmittedPart},
    notes::Note,
    page::Reason,
};

/// Entries of one batch ...
const BATCH_ENTRIES: usize = 1_000;

/// ... and their bytes: images make some entries large.
const BATCH_BYTES: u64 = 1024 * 1024;

/// Refused extensions of one entry that are reported one by one.
const MAX_REPORTED_OF_ENTRY: usize = 3;

/// Tries the entries of a pass, in their order.
pub(super) struct Trial<T> {
    /// The crawled directory: what a set may list at most.
    place: Loc,
    batch: Vec<Tried<T>>,
    bytes: u64,
}

/// A page that was tried, with the value that was given for it.
#[derive(Debug)]
pub(super) struct Tried<T> {
    pub(super) listed: Listed,
    pub(super) known: T,
    /// The parts that it is listed without, each with the cause.
    pub(super) without: Vec<(OmittedPart, String)>,
}

impl<T> Trial<T> {
    /// `place` is the crawled directory.
    pub(super) fn new(place: Loc) -> Self {
        Self {
            place,
            batch: Vec::new(),
            bytes: 0,
        }
    }

    /// Adds a page. Returns the pages whose trial ended.
    ///
    /// # Errors
    /// Settings that cannot be satisfied: two namespaces have the same prefix.
    pub(super) fn add(&mut self, listed: Listed, known: T) -> Result<Vec<Tried<T>>, PublishError> {
        let is_plain = listed.news.is_none() && self.cannot_fail(&listed.entry);
        let tried = Tried {
            listed,
            known,
            without: Vec::new(),
        };
        if is_plain && self.batch.is_empty() {
            return Ok(vec![tried]);
        }
        let files = if tried.listed.news.is_some() { 2 } else { 1 };
        self.bytes += tried.listed.entry.written_len() * files;
        self.batch.push(tried);
        if self.batch.len() >= BATCH_ENTRIES || self.bytes >= BATCH_BYTES {
            self.finish()
        } else {
            Ok(Vec::new())
        }
    }

    /// Tries the pages that wait, and returns them.
    ///
    /// # Errors
    /// The errors of [`Trial::add`].
    pub(super) fn finish(&mut self) -> Result<Vec<Tried<T>>, PublishError> {
        let mut batch = std::mem::take(&mut self.batch);
        self.bytes = 0;
        let mut namespaces = Namespaces::default();
        let news: Vec<_> = batch
            .iter()
            .filter_map(|tried| tried.listed.news_entry())
            .collect();
        let entries = batch.iter().map(|tried| &tried.listed.entry);
        for entry in entries.clone().chain(&news) {
            declare(&mut namespaces, entry)?;
        }
        let is_good = self.try_entries(entries.chain(&news), &namespaces).is_ok();
        if !is_good {
            for tried in &mut batch {
                self.try_page(tried, &namespaces);
            }
        }
        Ok(batch)
    }

    /// Returns whether an entry has only values whose types exclude bad ones, and a URL inside of the directory that is written
    /// without escapes.
    fn cannot_fail(&self, entry: &UrlEntry) -> bool {
        let loc = entry.loc.as_str();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/:?=,+@".contains(&byte);
        entry.extensions.is_empty()
            && loc.len() >= MIN_LOC_CHARACTERS
            && loc.starts_with(self.place.directory())
            && loc.bytes().all(is_plain)
    }

    /// Tries one page, and removes what is wrong from it.
    fn try_page(&self, tried: &mut Tried<T>, namespaces: &Namespaces) {
        let entry = &mut tried.listed.entry;
        if let Err(problem) = self.try_entries([&*entry], namespaces) {
            let loc = entry.loc.clone();
            let without = if entry.extensions.is_empty() {
                None
            } else {
                self.try_without(entry, &problem, namespaces)
            };
            let (without, why) = match without {
                Some((without, why)) => (without, format!("extensions of {loc}: {why}")),
                None => (
                    OmittedPart::Entry(Reason::EntryRefused),
                    format!("{loc}: {problem}"),
                ),
            };
            tried.without.push((without, why));
        }
        if let Some(news) = tried.listed.news_entry()
            && let Err(problem) = self.try_entries([&news], namespaces)
        {
            let why = format!("article of {}: {problem}", news.loc);
            tried.without.push((OmittedPart::News, why));
            tried.listed.news = None;
        }
    }

    /// Removes as few extensions as possible from an entry with a `problem`: those that every file refuses, or else all of
    /// them. Returns what was removed and why; `None` where the entry is wrong without extensions.
    fn try_without(
        &self,
        entry: &mut UrlEntry,
        problem: &str,
        namespaces: &Namespaces,
    ) -> Option<(OmittedPart, String)> {
        let refused = entry.extensions.retain_writable(&entry.loc);
        if !refused.is_empty() && self.try_entries([&*entry], namespaces).is_ok() {
            let reported = refused.iter().take(MAX_REPORTED_OF_ENTRY);
            let mut reported: Vec<String> = reported.map(ToString::to_string).collect();
            if refused.len() > reported.len() {
                reported.push(format!("and {} more", refused.len() - reported.len()));
            }
            return Some((OmittedPart::Unwritable, reported.join("; ")));
        }
        entry.extensions = Extensions::default();
        let is_good = self.try_entries([&*entry], namespaces).is_ok();
        is_good.then(|| (OmittedPart::Extensions, problem.to_owned()))
    }

    /// Writes the entries and reads them back; the error is the problem in words.
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
                Push::Full => {
                    return Err("expected an entry that is not too large for a file".to_owned());
                }
            }
        }
        let (file, _) = writer.finish().map_err(written_badly)?;
        let mut expectation = Expectation::new(Kind::UrlSet, &self.place);
        expectation.custom_namespaces = namespaces.custom();
        match check(&file[..], &expectation) {
            Ok(_) => Ok(()),
            // Without the position: the file is only in memory.
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

/// Adds the namespaces of an entry.
pub(super) fn declare(namespaces: &mut Namespaces, entry: &UrlEntry) -> Result<(), PublishError> {
    namespaces
        .add(&entry.extensions)
        .map_err(|error| PublishError::Settings(format!("{}: {error}", entry.loc)))
}

fn written_badly(error: WriteError) -> String {
    match error {
        WriteError::Extension { source, .. } => format!("its extensions: {source}"),
        error => error.to_string(),
    }
}

/// Entries that were left out: the causes of the first ones, and the number of all.
#[derive(Debug, Default)]
pub(super) struct LeftOutNotes {
    count: usize,
    reported: Vec<String>,
}

/// Entries left out that have a note of their own.
const MAX_REPORTED: usize = 10;

impl LeftOutNotes {
    /// Counts an entry, or a part of one, that is left out.
    pub(super) fn add(&mut self, why: String) {
        self.count += 1;
        if self.reported.len() < MAX_REPORTED {
            self.reported.push(why);
        }
    }

    /// A note for each of the first entries, and one for the others.
    pub(super) fn notes(&self) -> impl Iterator<Item = Note> {
        let more = self.count - self.reported.len();
        let reported = self.reported.iter();
        reported
            .map(|why| Note::entry_left_out(why))
            .chain((more > 0).then(|| Note::entries_left_out(&more).counting(more as u64)))
    }
}
