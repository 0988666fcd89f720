//! What was known before the sets that can be restored, in maps.

use std::collections::BTreeMap;

use super::{Contents, Known};
use crate::{
    page::{Basis, ContentHash, PageRecord, RunId, State},
    store::{
        LedgerEntry,
        outbox::Listing,
        undo::{EVERY_SET, SetNumber, UndoStep},
    },
    url_key::UrlKey,
};

/// What was known before sets.
#[derive(Debug, Clone, Default)]
pub(super) struct Undo {
    sets: BTreeMap<SetNumber, Before>,
    /// The set that was published last.
    kept_set: Option<SetNumber>,
    /// What the ledger knew by sets that were taken back, by the hash of the content and its version.
    undone: BTreeMap<(UrlKey, u128, u32), LedgerEntry>,
}

/// What was known before a set, where that made it another.
#[derive(Debug, Clone, Default)]
struct Before {
    pages: BTreeMap<UrlKey, (Known, Option<Vec<UrlKey>>)>,
    ledger: BTreeMap<UrlKey, LedgerEntry>,
    published: BTreeMap<UrlKey, Listing>,
}

impl Undo {
    /// Before `entry` takes the place of what is `known` of `key`.
    pub(super) fn keep_ledger(
        &mut self,
        key: &UrlKey,
        known: Option<&LedgerEntry>,
        entry: &LedgerEntry,
    ) {
        self.undone.retain(|(url, _, _), _| url != key);
        let (Some(set), Some(known)) = (self.kept_set, known) else {
            return;
        };
        let says = |entry: &LedgerEntry| {
            let lastmod = entry.lastmod.clone();
            (entry.content_hash, entry.hash_version, lastmod)
        };
        if says(known) != says(entry) {
            let before = self.sets.entry(set).or_default();
            before
                .ledger
                .entry(key.clone())
                .or_insert_with(|| known.clone());
        }
    }

    /// What is remembered of a page whose ledger entry is `known`.
    pub(super) fn ledger_of(
        &self,
        key: &UrlKey,
        record: &PageRecord,
        known: Option<LedgerEntry>,
    ) -> Option<LedgerEntry> {
        let content = LedgerEntry::other_content(known.as_ref(), record);
        let undone = content.and_then(|ContentHash(hash)| {
            let place = (key.clone(), hash, ContentHash::VERSION);
            self.undone.get(&place).cloned()
        });
        undone.or(known)
    }

    pub(super) fn forget_pages(&mut self, is_known: impl Fn(&UrlKey) -> bool) {
        for before in self.sets.values_mut() {
            before.pages.retain(|key, _| is_known(key));
        }
    }

    pub(super) fn forget_undone(&mut self, is_known: impl Fn(&UrlKey) -> bool) {
        self.undone.retain(|(key, _, _), _| is_known(key));
    }
}

impl Contents {
    /// See [`UndoStep`].
    pub(super) fn apply_undo(&mut self, step: UndoStep) {
        match step {
            UndoStep::KeepBefore(set) => self.keep_before(set),
            UndoStep::ForgetBefore(until) => self.forget_before(until),
            UndoStep::StepBack { to, run } => self.step_back(to, run),
            UndoStep::Disown => {
                self.published_run.get_or_insert(0);
            }
            UndoStep::ForgetRuns => self.forget_runs(),
        }
    }

    fn keep_before(&mut self, set: SetNumber) {
        let before = self.undo.sets.entry(set).or_default();
        let pages = &self.pages;
        let is_said_again = |key: &UrlKey, known: &Known| {
            pages
                .get(key)
                .is_some_and(|page| is_known_as_well(&page.record, known))
        };
        self.stood.retain(|key, (known, links)| {
            if !is_said_again(key, known) {
                before
                    .pages
                    .entry(key.clone())
                    .or_insert_with(|| (known.clone(), links.clone()));
            }
            !before.pages.contains_key(key)
        });
        for (key, listing) in self.outbox.about_to_change() {
            before.published.entry(key).or_insert(listing);
        }
        self.undo.kept_set = Some(set);
    }

    fn forget_runs(&mut self) {
        let old = std::mem::take(self);
        let mut outbox = old.outbox;
        outbox.forget_published();
        *self = Self {
            ledger: old.ledger,
            kept: old.kept,
            values: old.values,
            outbox,
            ..Self::default()
        };
    }

    fn forget_before(&mut self, until: SetNumber) {
        self.undo.sets.retain(|set, _| *set > until);
    }

    fn step_back(&mut self, to: SetNumber, run: Option<RunId>) {
        let newest = self.undo.sets.entry(EVERY_SET).or_default();
        for (key, known) in std::mem::take(&mut self.stood) {
            newest.pages.entry(key).or_insert(known);
        }
        let undone = self.undo.sets.split_off(&(to + 1));
        for before in undone.values() {
            for (key, entry) in &before.ledger {
                self.undo.undone.insert(place_of(key, entry), entry.clone());
            }
        }
        for key in undone.values().flat_map(|before| before.ledger.keys()) {
            if let Some(entry) = self.ledger.get(key) {
                self.undo.undone.insert(place_of(key, entry), entry.clone());
            }
        }
        // Of a URL the oldest counts.
        for before in undone.into_values().rev() {
            self.stood.extend(before.pages);
            self.ledger.extend(before.ledger);
            self.outbox.restore(before.published);
        }
        self.published_run = run.or(self.published_run);
    }
}

fn place_of(key: &UrlKey, entry: &LedgerEntry) -> (UrlKey, u128, u32) {
    (key.clone(), entry.content_hash, entry.hash_version)
}

/// Whether a page of which `before` was known is known by its newer answer as well.
fn is_known_as_well(record: &PageRecord, before: &Known) -> bool {
    let (Some(now), false) = (record.facts(), matches!(record.basis, Basis::Kept(_))) else {
        return false;
    };
    let old = before.record.facts().or(before.earlier.as_ref());
    let Some(old) = old.filter(|old| old.content_hash == now.content_hash) else {
        return false;
    };
    if record.reason.state() == State::Listed {
        return now.content_hash.is_some();
    }
    before.record.reason.state() != State::Listed
        && !before.history.was_listed
        && now.status == old.status
        && now.etag == old.etag
        && now.last_modified == old.last_modified
        && now.location == old.location
}
