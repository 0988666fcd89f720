//! The entry that a page of the merged view becomes, or why it has none. Reads the store only; knows no files. The module
//! `lastmod` dates the pages.

mod counts;
mod custom_elements;
mod extensions;
mod hreflang;
mod rules;
mod spelling;
mod view;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashSet};

use jiff::{Timestamp, ToSpan as _};
use sitemap_core::{Loc, UrlEntry, extension::Element};

use self::extensions::PageExtensions;
use crate::{
    config::{Extensions, FileDates},
    crawl_state,
    lastmod::{DateTrust, Dating, Restless, Statistics},
    page::{CrawlId, DateSource, LedgerEntry, Outcome, PageRecord, Reason, State},
    robots::Rules,
    store::{Store, StoreError, names::LASTMOD_DISTRUSTED},
    url_key::{PublishAs, UrlKey},
    verdict::Merged,
};

pub use self::counts::{ExtensionCounts, KindCounts, LeftOut};
pub use self::rules::{EntryRules, EntryRulesError, Sameness};
pub(crate) use self::spelling::Spelling;
pub use self::view::{EachMerged, MergedView};

/// How pages become entries.
#[derive(Debug)]
pub struct Export {
    now: Timestamp,
    dating: Dating,
    stand_in: Option<PublishAs>,
    rules: EntryRules,
    extensions: PageExtensions,
    /// The parts that certain pages are listed without, with the fingerprints of the pages.
    exceptions: HashSet<(OmittedPart, u64)>,
}

/// A part that a page is listed without, because no sitemap may have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OmittedPart {
    /// The whole entry: the page is not listed, for this reason.
    Entry(Reason),
    /// The extensions that [`Extensions::retain_writable`](sitemap_core::extension::Extensions::retain_writable) takes away.
    Unwritable,
    /// All its extensions.
    Extensions,
    /// The article that it is.
    News,
}

/// A listed page on its way into the files.
#[derive(Debug, Clone)]
pub struct Listed {
    /// The page.
    pub key: UrlKey,
    /// The URL that it is written as.
    pub written: UrlKey,
    /// The entry in a sitemap.
    pub entry: UrlEntry,
    /// The title of the page.
    pub title: Option<String>,
    /// The source of its `lastmod`, if it has one.
    pub source: Option<DateSource>,
    /// Counts of the extensions that are in the entry, and of those that are not.
    pub extensions: ExtensionCounts,
    /// The article that it is, while that is news. It is not in the entry: news have files of their own.
    pub news: Option<Element>,
}

impl Listed {
    /// The entry in a sitemap of news.
    pub fn news_entry(&self) -> Option<UrlEntry> {
        let mut entry = UrlEntry::new(self.entry.loc.clone());
        entry.lastmod.clone_from(&self.entry.lastmod);
        // A URL has the same values in every file that lists it (R26).
        (entry.changefreq, entry.priority) = (self.entry.changefreq, self.entry.priority);
        entry.extensions.add(self.news.clone()?).ok()?;
        Some(entry)
    }
}

impl Export {
    /// The rules by which pages become entries at `now`; `stand_in` is the site that URLs are written as.
    ///
    /// # Errors
    /// The store failed.
    pub fn new(
        store: &Store,
        stand_in: Option<&PublishAs>,
        now: Timestamp,
    ) -> Result<Self, StoreError> {
        let distrusted = store.value(LASTMOD_DISTRUSTED)?;
        Ok(Self {
            now,
            dating: Dating {
                start: crawl_state::host_date(store)?,
                latest: now + 24.hours(),
                clocks_agree: crawl_state::clocks_apart(store)?.is_none(),
                file_dates: FileDates::default(),
                trust: DateTrust::parse(&distrusted.unwrap_or_default()),
                restless: Restless::load(store)?,
            },
            stand_in: stand_in.cloned(),
            rules: EntryRules::default(),
            extensions: PageExtensions::default(),
            exceptions: HashSet::new(),
        })
    }

    /// Returns whether `Last-Modified` counts.
    #[must_use]
    pub fn with_file_dates(mut self, file_dates: FileDates) -> Self {
        self.dating.file_dates = file_dates;
        self
    }

    /// Adds the rules of the settings for entries.
    #[must_use]
    pub fn with_rules(self, rules: EntryRules) -> Self {
        Self { rules, ..self }
    }

    /// Adds the extensions that are taken from the pages. Images and videos that `robots` disallows are left out.
    #[must_use]
    pub fn with_extensions(self, wanted: Extensions, robots: Option<Rules>) -> Self {
        Self {
            extensions: PageExtensions::new(wanted, robots, self.stand_in.clone(), self.now),
            ..self
        }
    }

    /// Lists the page `key` without this part from now on. Every such page takes 16 bytes of memory.
    pub(crate) fn leave_out(&mut self, without: OmittedPart, key: &UrlKey) {
        self.exceptions.insert((without, key.fingerprint()));
    }

    /// The reason of a page of the view, or the reason why no sitemap can have it.
    pub(crate) fn reason(&self, key: &UrlKey, reason: Reason) -> Reason {
        let refusals = [
            Reason::Unwritable,
            Reason::DuplicateSpelling,
            Reason::EntryRefused,
        ];
        let mut refusals = refusals.into_iter();
        if reason.state() != State::Listed {
            return reason;
        }
        let refusal = refusals.find(|refusal| self.lacks(OmittedPart::Entry(*refusal), key));
        refusal.unwrap_or(reason)
    }

    /// The URL that a page is written as; `None` when it is outside of the site that URLs are written as.
    pub(crate) fn written(&self, key: &UrlKey) -> Option<UrlKey> {
        written(self.stand_in.as_ref(), key)
    }

    /// Returns whether the page `key` is listed without this part.
    fn lacks(&self, without: OmittedPart, key: &UrlKey) -> bool {
        !self.exceptions.is_empty() && self.exceptions.contains(&(without, key.fingerprint()))
    }

    /// Takes in the statistics of the dates of crawl `number`. Returns the value of the state with the distrusted sources, when
    /// it changed: then pages may have other dates.
    pub(crate) fn judge_dates(
        &mut self,
        number: CrawlId,
        statistics: &Statistics,
    ) -> Option<(String, Option<String>)> {
        let trust = &mut self.dating.trust;
        let is_other = self.dating.clocks_agree && trust.update(number, statistics);
        is_other.then(|| (LASTMOD_DISTRUSTED.to_owned(), trust.to_text()))
    }

    /// Counts the dates that are stated for a listed page.
    pub(crate) fn count_dates(
        &self,
        key: &UrlKey,
        record: &PageRecord,
        known: Option<&LedgerEntry>,
        statistics: &mut Statistics,
    ) {
        self.dating.count(key, record, known, statistics);
    }

    /// The `lastmod` history of a listed page for its page row.
    pub(crate) fn dates(
        &self,
        key: &UrlKey,
        record: &PageRecord,
        known: Option<&LedgerEntry>,
        listed: &Listed,
    ) -> Option<LedgerEntry> {
        if record.facts().is_none() {
            // The content is not known.
            return Some(LedgerEntry {
                lastmod: listed.entry.lastmod.as_ref().map(ToString::to_string),
                source: listed.source,
                ..known.cloned().unwrap_or_default()
            });
        }
        let change = self.dating.ledger_change(key, record, known);
        change.or_else(|| known.cloned())
    }

    /// How a page of the view is listed, if it is.
    ///
    /// # Errors
    /// The store failed.
    pub(crate) fn listed(
        &self,
        view: &MergedView<'_>,
        key: &UrlKey,
        merged: &Merged,
        known: Option<&LedgerEntry>,
    ) -> Result<Option<Listed>, StoreError> {
        let record = &merged.record;
        if self.reason(key, record.reason).state() != State::Listed {
            return Ok(None);
        }
        let Some((written, mut entry, source)) = self.entry(key, record, known) else {
            return Ok(None);
        };
        let mut extensions = self.extensions.add(view, key, record, &mut entry)?;
        let news = entry.extensions.take_news();
        let source = source.filter(|_| entry.lastmod.is_some());
        let news = news.filter(|_| !self.lacks(OmittedPart::News, key));
        if self.lacks(OmittedPart::Extensions, key) {
            entry.extensions = sitemap_core::extension::Extensions::default();
            extensions = ExtensionCounts::default();
        } else if self.lacks(OmittedPart::Unwritable, key) {
            // The trial of the entry reported it.
            drop(entry.extensions.retain_writable(&entry.loc));
        }
        Ok(Some(Listed {
            key: key.clone(),
            written,
            entry,
            title: record.facts().and_then(|facts| facts.title.clone()),
            source,
            extensions,
            news: news.filter(|news| news.is_recent(self.now)),
        }))
    }

    fn entry(
        &self,
        key: &UrlKey,
        record: &PageRecord,
        known: Option<&LedgerEntry>,
    ) -> Option<(UrlKey, UrlEntry, Option<DateSource>)> {
        let written = written(self.stand_in.as_ref(), key)?;
        let mut entry = UrlEntry::new(Loc::parse(written.as_str()).ok()?);
        let dated = self.dating.dated(key, record, known);
        let source = dated.as_ref().map(|dated| dated.source);
        entry.lastmod = dated.map(|dated| dated.value);
        let mut fields = &BTreeMap::new();
        if let Some(Outcome::Supplied(supplied)) = &record.outcome {
            entry.changefreq = supplied.changefreq;
            entry.priority = supplied.priority;
            entry.extensions.clone_from(&supplied.extensions);
            fields = &supplied.fields;
        }
        self.rules.apply(key, fields, &mut entry);
        Some((written, entry, source))
    }
}

/// The URL that `url` is written as; `None` when it is outside of the site that URLs are written as.
fn written(stand_in: Option<&PublishAs>, url: &UrlKey) -> Option<UrlKey> {
    match stand_in {
        Some(stand_in) => stand_in.shown(url),
        None => Some(url.clone()),
    }
}
