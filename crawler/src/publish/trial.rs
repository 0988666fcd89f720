//! Entries are tried before the files are planned: what the writer refuses, or what our own check of the
//! written files would, is left out and told of, so that one entry never costs the whole set. It is tried by
//! writing and checking in memory, in batches; only where a batch fails its entries are looked at one by one.

use sitemap_core::{
    Limits, Loc, UrlEntry,
    extension::Namespaces,
    read::{CheckError, Expectation, Kind, check},
    write::{Push, UrlSetOptions, UrlSetWriter, WriteError},
};

use super::{PublishError, census::declare};
use crate::url_key::UrlKey;

/// Entries of one batch ...
const BATCH_ENTRIES: usize = 1_000;

/// ... and their bytes: images make some entries large.
const BATCH_BYTES: u64 = 1024 * 1024;

/// Refused entries of one scan: those behind them are found by the next one.
const MAX_REFUSED: usize = 10_000;

/// An entry that cannot stand in a sitemap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refused {
    /// The page.
    pub(super) key: UrlKey,
    /// The URL that it would be listed as, the rule, and what is wrong.
    pub(super) why: String,
}

/// Tries the entries of one scan.
pub(super) struct Trial {
    /// The crawled directory: what a set may list at most.
    place: Loc,
    batch: Vec<(UrlKey, UrlEntry)>,
    bytes: u64,
    refused: Vec<Refused>,
}

impl Trial {
    /// `place` is the crawled directory.
    pub(super) fn new(place: Loc) -> Self {
        Self {
            place,
            batch: Vec::new(),
            bytes: 0,
            refused: Vec::new(),
        }
    }

    /// Adds the entry of a page.
    ///
    /// # Errors
    /// Settings that cannot be satisfied: two namespaces have the same prefix.
    pub(super) fn add(&mut self, key: &UrlKey, entry: &UrlEntry) -> Result<(), PublishError> {
        if self.is_full() {
            return Ok(());
        }
        self.batch.push((key.clone(), entry.clone()));
        self.bytes += entry.written_len();
        if self.batch.len() >= BATCH_ENTRIES || self.bytes >= BATCH_BYTES {
            self.try_batch()?;
        }
        Ok(())
    }

    /// Adds a page that something else refuses.
    pub(super) fn refuse(&mut self, key: &UrlKey, why: String) {
        if !self.is_full() {
            let key = key.clone();
            self.refused.push(Refused { key, why });
        }
    }

    /// The entries that were refused, at most [`MAX_REFUSED`].
    ///
    /// # Errors
    /// As of [`Trial::add`].
    pub(super) fn finish(mut self) -> Result<Vec<Refused>, PublishError> {
        self.try_batch()?;
        self.refused.truncate(MAX_REFUSED);
        Ok(self.refused)
    }

    fn is_full(&self) -> bool {
        self.refused.len() >= MAX_REFUSED
    }

    fn try_batch(&mut self) -> Result<(), PublishError> {
        let batch = std::mem::take(&mut self.batch);
        self.bytes = 0;
        let mut namespaces = Namespaces::default();
        for (_, entry) in &batch {
            declare(&mut namespaces, entry)?;
        }
        let all = batch.iter().map(|(_, entry)| entry);
        if batch.is_empty() || self.try_entries(all, &namespaces).is_ok() {
            return Ok(());
        }
        for (key, entry) in batch {
            if let Err(problem) = self.try_entries([&entry], &namespaces) {
                let why = format!("{}: {problem}", entry.loc);
                self.refused.push(Refused { key, why });
            }
        }
        Ok(())
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
    pub(super) fn add(&mut self, refused: &[Refused]) {
        self.count += refused.len();
        let room = MAX_TOLD.saturating_sub(self.told.len());
        let told = refused.iter().take(room);
        self.told.extend(told.map(|refused| refused.why.clone()));
    }

    /// A sentence for each that is told, and one for the others.
    pub(super) fn notices(&self) -> impl Iterator<Item = String> {
        let more = self.count - self.told.len();
        let told = self.told.iter();
        told.map(|why| format!("left out, because no sitemap may hold it: {why}"))
            .chain((more > 0).then(|| format!("{more} more entries are left out for such reasons")))
    }
}
