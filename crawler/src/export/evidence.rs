//! The evidence for when a page changed, and what the ledger remembers of it.

use jiff::Timestamp;
use sitemap_core::LastMod;

use super::Export;
use crate::{
    page::{ContentHash, PageFacts, PageRecord, State},
    store::LedgerEntry,
    url_key::UrlKey,
};

/// No page is older than this: the year the web became public property of search engines.
const EARLIEST: Timestamp = Timestamp::constant(788_918_400, 0);

impl Export {
    /// The evidence for when a page changed: see the module.
    pub(super) fn lastmod(
        &self,
        key: &UrlKey,
        facts: &PageFacts,
        ledger: Option<LedgerEntry>,
    ) -> Option<LastMod> {
        let selected = facts
            .selected_lastmod
            .as_deref()
            .and_then(|text| LastMod::parse(text).ok());
        if let Some(selected) = selected.filter(|value| self.is_plausible(value.latest_instant())) {
            return Some(selected);
        }
        if let Some(published) =
            same_content(facts, ledger).and_then(|known| LastMod::parse(&known.lastmod?).ok())
        {
            return Some(published);
        }
        let value = facts.last_modified?;
        (!self.is_now(facts) && self.is_plausible(value) && self.trust.trusts(key))
            .then(|| LastMod::from_timestamp(value))
    }

    /// Whether `Last-Modified` is not earlier than the host's own clock at the start of the run.
    pub(super) fn is_now(&self, facts: &PageFacts) -> bool {
        match (facts.last_modified, self.host_date) {
            (Some(value), Some(start)) => value >= start,
            (Some(_) | None, _) => false,
        }
    }

    fn is_plausible(&self, value: Timestamp) -> bool {
        value >= EARLIEST && value <= self.latest
    }

    /// What the ledger has to remember of a page, if that is not what it knows.
    pub(super) fn ledger_change(
        &self,
        key: &UrlKey,
        record: &PageRecord,
        known: Option<&LedgerEntry>,
    ) -> Option<LedgerEntry> {
        let (State::Listed, Some(facts)) = (record.reason.state(), record.facts()) else {
            return None;
        };
        let ContentHash(hash) = facts.content_hash?;
        let entry = LedgerEntry {
            content_hash: hash,
            hash_version: ContentHash::VERSION,
            lastmod: self
                .lastmod(key, facts, known.cloned())
                .map(|value| value.to_string()),
            last_modified_seconds: facts.last_modified.map(Timestamp::as_second),
        };
        (known != Some(&entry)).then_some(entry)
    }
}

/// The ledger's entry, if it is about the content that was just seen.
pub(super) fn same_content(facts: &PageFacts, ledger: Option<LedgerEntry>) -> Option<LedgerEntry> {
    let ContentHash(hash) = facts.content_hash?;
    ledger.filter(|known| known.content_hash == hash && known.hash_version == ContentHash::VERSION)
}
