//! Which entry a page becomes, or why none: the last judgement (what needs other records). Reads and writes the store
//! only; knows no files. The module `lastmod` dates the pages.

mod extensions;
mod hreflang;
mod own;
mod rules;
mod settle;

#[cfg(test)]
mod tests;

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashSet},
    ops::ControlFlow,
};

use jiff::{Timestamp, ToSpan as _};
use sitemap_core::{Loc, UrlEntry, extension::Element};

use self::{extensions::PageExtensions, settle::Gathered};
use crate::{
    config::{Extensions, FileDates},
    lastmod::{Dating, Trust},
    page::{ContentHash, DateSource, Outcome, PageFacts, PageRecord, Reason, RunId, State},
    robots::Rules,
    runs,
    store::{
        Commit, LedgerEntry, Rejudged, Store, StoreError, change_in_chunks,
        names::LASTMOD_DISTRUSTED, outbox::ContentMark,
    },
    url_key::{StandIn, UrlKey},
};

pub use self::extensions::{ExtensionCounts, KindCounts, LeftOut};
pub use self::rules::{EntryRules, EntryRulesError, Sameness};

/// The judgement of a run as a whole, ready to be written.
#[derive(Debug)]
pub struct Export {
    run: RunId,
    now: Timestamp,
    dating: Dating,
    duplicates: u64,
    stand_in: Option<StandIn>,
    rules: EntryRules,
    extensions: PageExtensions,
    /// What certain pages are listed without.
    bare: HashSet<(Without, UrlKey)>,
}

/// What a page is listed without, because no sitemap may hold it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Without {
    /// Those of its extensions that [`Extensions::retain_writable`](sitemap_core::extension::Extensions::retain_writable) takes away.
    Unwritable,
    /// Its extensions, all of them.
    Extensions,
    /// The article that it is.
    News,
}

/// A listed page on its way into the files.
#[derive(Debug)]
pub struct Listed<'a> {
    /// Which page.
    pub key: &'a UrlKey,
    /// The URL that it is written as.
    pub written: UrlKey,
    /// How it stands in a sitemap.
    pub entry: UrlEntry,
    /// What it calls itself.
    pub title: Option<&'a str>,
    /// Where its `lastmod` came from, if it has one.
    pub source: Option<DateSource>,
    /// What tells whether its content is another one, where it was read.
    pub content: Option<ContentMark>,
    /// What of its extensions stands in the entry, and what does not.
    pub extensions: ExtensionCounts,
    /// The article that it is, while that is news. It is not in the entry: news have files of their own.
    pub news: Option<Element>,
}

impl Listed<'_> {
    /// How it stands in a sitemap of news.
    pub fn news_entry(&self) -> Option<UrlEntry> {
        let mut entry = UrlEntry::new(self.entry.loc.clone());
        entry.lastmod.clone_from(&self.entry.lastmod);
        // Whatever is said of a page is said wherever it is listed (R26).
        (entry.changefreq, entry.priority) = (self.entry.changefreq, self.entry.priority);
        entry.extensions.add(self.news.clone()?).ok()?;
        Some(entry)
    }
}

/// Receives the listed pages of a site one by one; says whether to go on.
pub type VisitListed<'a, E> = dyn FnMut(Listed<'_>) -> Result<ControlFlow<()>, E> + 'a;

/// Is shown records with their last judgement, one by one.
pub type WatchJudged<'a> =
    dyn FnMut(&dyn Store, &UrlKey, &PageRecord, Reason) -> Result<(), StoreError> + 'a;

impl Export {
    /// Judges what needs other records (redirect and canonical chains) and decides whom to trust. `stand_in`
    /// says what the site is written as.
    ///
    /// # Errors
    /// The store failed.
    pub fn prepare(
        store: &mut dyn Store,
        run: RunId,
        stand_in: Option<&StandIn>,
        now: Timestamp,
    ) -> Result<Self, StoreError> {
        Self::prepare_watched(store, run, stand_in, now, &mut |_, _, _, _| Ok(()))
    }

    /// Judges and decides as [`Export::prepare`] does; `watch` is shown every record, in key order, with its last judgement. Of a page that is listed by an earlier
    /// answer because it redirects to a URL that waits it is shown that redirect.
    ///
    /// # Errors
    /// The store failed, or `watch` did.
    pub fn prepare_watched(
        store: &mut dyn Store,
        run: RunId,
        stand_in: Option<&StandIn>,
        now: Timestamp,
        watch: &mut WatchJudged<'_>,
    ) -> Result<Self, StoreError> {
        let mut export = Self {
            run,
            now,
            dating: Dating {
                start: runs::host_date(store)?,
                latest: now + 24.hours(),
                clocks_agree: runs::clocks_apart(store)?.is_none(),
                file_dates: FileDates::default(),
                trust: trust(store)?,
            },
            duplicates: 0,
            stand_in: stand_in.cloned(),
            rules: EntryRules::default(),
            extensions: PageExtensions::default(),
            bare: HashSet::new(),
        };
        let mut gathered = Gathered::default();
        let look =
            |store: &dyn Store, key: &UrlKey, record: PageRecord, known, changed: &mut Vec<_>| {
                let known: Option<LedgerEntry> = known;
                let reason = export.look_at(store, key, &record, known.as_ref(), &mut gathered)?;
                let judged = reason.unwrap_or(record.reason);
                let is_asked = record.fetched_at.is_some();
                let own = if record.reason == Reason::KeptNotReached && is_asked {
                    store.put_off(key)?
                } else {
                    None
                };
                watch(store, key, own.as_ref().unwrap_or(&record), judged)?;
                changed.extend(reason.map(|reason| (key.clone(), reason)));
                Ok(())
            };
        change_in_chunks(store, run, look, |store, changed: Vec<Rejudged>| {
            if changed.is_empty() {
                return Ok(());
            }
            store.rejudge(&changed)
        })?;
        export.duplicates = gathered.duplicates;
        let trust = &mut export.dating.trust;
        if export.dating.clocks_agree && trust.update(run, &gathered.statistics) {
            store.commit(&Commit {
                run,
                values: vec![distrusted_value(trust.to_text())],
                ..Commit::default()
            })?;
        }
        Ok(export)
    }

    /// Whether `Last-Modified` counts.
    #[must_use]
    pub fn with_file_dates(mut self, file_dates: FileDates) -> Self {
        self.dating.file_dates = file_dates;
        self
    }

    /// Adds what the settings say of entries.
    #[must_use]
    pub fn with_rules(self, rules: EntryRules) -> Self {
        Self { rules, ..self }
    }

    /// Adds what is taken from the pages themselves. Images that `robots` disallows are left out.
    #[must_use]
    pub fn with_extensions(self, wanted: Extensions, robots: Option<Rules>) -> Self {
        Self {
            extensions: PageExtensions::new(wanted, robots, self.stand_in.clone()),
            ..self
        }
    }

    /// Lists the page `key` without this from now on. Every such page is kept in memory.
    pub fn leave_out(&mut self, without: Without, key: UrlKey) {
        self.bare.insert((without, key));
    }

    /// Whether the page `key` is listed without this.
    fn lacks(&self, without: Without, key: &UrlKey) -> bool {
        !self.bare.is_empty() && self.bare.contains(&(without, key.clone()))
    }

    /// Listed pages that have the same content, byte for byte, as an earlier listed one. They stay: only
    /// the site can say which of them is the one.
    pub fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// Visits the listed pages in key order, from `from` (included) on, as entries.
    ///
    /// # Errors
    /// The store failed, or `visit` did.
    pub fn visit<E: From<StoreError>>(
        &self,
        store: &dyn Store,
        from: Option<&UrlKey>,
        visit: &mut VisitListed<'_, E>,
    ) -> Result<(), E> {
        let mut failure = None;
        store.visit_pages_with_ledger(self.run, from, &mut |key, record, known| {
            let Some((written, mut entry, source)) = self.entry(key, &record, known.as_ref())
            else {
                return ControlFlow::Continue(());
            };
            let title = record.facts().and_then(|facts| facts.title.as_deref());
            let content = record.facts().and_then(content_mark);
            let added = self
                .extensions
                .add(store, self.run, key, &record, &mut entry);
            let visited = added.map_err(E::from).and_then(|extensions| {
                let news = entry.extensions.take_news();
                let source = source.filter(|_| entry.lastmod.is_some());
                let news = news.filter(|_| !self.lacks(Without::News, key));
                let is_bare = self.lacks(Without::Extensions, key);
                if is_bare {
                    entry.extensions = sitemap_core::extension::Extensions::default();
                } else if self.lacks(Without::Unwritable, key) {
                    // It was told when it was found out.
                    drop(entry.extensions.retain_writable(&entry.loc));
                }
                let extensions = if is_bare {
                    ExtensionCounts::default()
                } else {
                    extensions
                };
                visit(Listed {
                    key,
                    written,
                    entry,
                    title,
                    source,
                    content,
                    extensions,
                    news: news.filter(|news| news.is_recent(self.now)),
                })
            });
            visited.unwrap_or_else(|error| {
                failure = Some(error);
                ControlFlow::Break(())
            })
        })?;
        match failure {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    fn entry(
        &self,
        key: &UrlKey,
        record: &PageRecord,
        known: Option<&LedgerEntry>,
    ) -> Option<(UrlKey, UrlEntry, Option<DateSource>)> {
        if record.reason.state() != State::Listed {
            return None;
        }
        let written = written(self.stand_in.as_ref(), key)?;
        let mut entry = UrlEntry::new(Loc::parse(written.as_str()).ok()?);
        let dated = self.dating.dated(key, record, known);
        let source = dated.as_ref().map(|dated| dated.source);
        entry.lastmod = dated.map(|dated| dated.value);
        let mut values = Cow::Owned(BTreeMap::new());
        if let Some(facts) = record.facts() {
            values = self.values(facts);
        }
        if let Some(Outcome::Given(given)) = &record.outcome {
            entry.changefreq = given.changefreq;
            entry.priority = given.priority;
            entry.extensions.clone_from(&given.extensions);
            values = Cow::Borrowed(&given.fields);
        }
        self.rules.apply(key, &values, &mut entry);
        Some((written, entry, source))
    }

    /// What was selected on a page for elements of own namespaces, as readers are shown it.
    fn values<'a>(&self, facts: &'a PageFacts) -> Cow<'a, BTreeMap<String, String>> {
        let Some(stand_in) = &self.stand_in else {
            return Cow::Borrowed(&facts.selected_values);
        };
        let shown = facts.selected_values.iter();
        let shown =
            shown.filter_map(|(name, text)| Some((name.clone(), stand_in.shown_text(text)?)));
        Cow::Owned(shown.collect())
    }

    /// Makes the ledger remember what was just published.
    ///
    /// # Errors
    /// The store failed; some entries may be stored.
    pub fn remember(&self, store: &mut dyn Store) -> Result<(), StoreError> {
        let look =
            |_: &dyn Store, key: &UrlKey, record: PageRecord, known, entries: &mut Vec<_>| {
                let known: Option<LedgerEntry> = known;
                let change = self.dating.ledger_change(key, &record, known.as_ref());
                entries.extend(change.map(|entry| (key.clone(), entry)));
                Ok(())
            };
        change_in_chunks(store, self.run, look, |store, entries: Vec<_>| {
            if entries.is_empty() {
                return Ok(());
            }
            store.set_ledger(&entries)
        })
    }
}

/// Whose dates the state of a site does not trust.
fn trust(store: &dyn Store) -> Result<Trust, StoreError> {
    let text = store.value(LASTMOD_DISTRUSTED)?;
    Ok(Trust::parse(&text.unwrap_or_default()))
}

/// The same as a value for its fresh state, whose runs are others.
///
/// # Errors
/// The store failed.
pub(crate) fn distrusted(store: &dyn Store) -> Result<(String, Option<String>), StoreError> {
    Ok(distrusted_value(trust(store)?.without_run().to_text()))
}

/// The value with this text.
pub(crate) fn distrusted_value(text: Option<String>) -> (String, Option<String>) {
    (LASTMOD_DISTRUSTED.to_owned(), text)
}

/// What tells whether the content of a page is another one.
pub(crate) fn content_mark(facts: &PageFacts) -> Option<ContentMark> {
    let ContentHash(hash) = facts.content_hash?;
    Some(ContentMark {
        version: ContentHash::VERSION,
        hash: u64::try_from(hash & u128::from(u64::MAX)).unwrap_or_default(),
    })
}

/// The URL that `url` is written as; `None` when it has no place in what is written.
fn written(stand_in: Option<&StandIn>, url: &UrlKey) -> Option<UrlKey> {
    match stand_in {
        Some(stand_in) => stand_in.shown(url),
        None => Some(url.clone()),
    }
}
