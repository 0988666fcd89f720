//! The changes of a publish, URL by URL: added, changed, removed, by comparing with the page rows.

use sitemap_core::LastMod;

use crate::{
    export::Listed,
    page::{ContentHash, LedgerEntry, Page, PageRecord, State},
    report::SetChange,
    store::outbox::UrlChange,
};

/// The numbers of URLs that a publish adds, changes and removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Journal {
    /// Listed now, and not before.
    pub added: u64,
    /// Listed before and now, with another `lastmod` or content.
    pub changed: u64,
    /// Listed before, and not now.
    pub removed: u64,
    /// Nothing was published before: every URL is new, and engines are notified of none.
    pub is_first: bool,
}

impl Journal {
    /// URLs that engines are to be notified of.
    pub fn news(&self) -> u64 {
        if self.is_first {
            0
        } else {
            self.added + self.changed + self.removed
        }
    }

    pub(super) fn count(&mut self, change: UrlChange) {
        match change {
            UrlChange::Added => self.added += 1,
            UrlChange::Changed => self.changed += 1,
            UrlChange::Removed => self.removed += 1,
        }
    }
}

/// The values whose change makes a listed URL a changed one: its `lastmod`, and the hash of its content with the version of
/// the hash.
#[derive(Debug, Default, PartialEq, Eq)]
struct Listing<'a> {
    lastmod: Option<&'a str>,
    content: Option<(u32, u128)>,
}

/// The change of a URL between its page row and `now`, its place in the new set.
pub(super) fn change_of(
    before: Option<&Page>,
    now: Option<(&PageRecord, &Listed)>,
) -> Option<UrlChange> {
    let before = before.filter(|page| page.record.reason.state() == State::Listed);
    match (before, now) {
        (None, None) => None,
        (None, Some(_)) => Some(UrlChange::Added),
        (Some(_), None) => Some(UrlChange::Removed),
        (Some(before), Some((record, listed))) => {
            let lastmod = listed.entry.lastmod.as_ref().map(ToString::to_string);
            let content = record.facts().and_then(|facts| facts.content_hash);
            let now = Listing {
                lastmod: lastmod.as_deref(),
                content: content.map(|ContentHash(hash)| (ContentHash::VERSION, hash)),
            };
            let before = before.dates.as_ref().map(Listing::of);
            is_change(&before.unwrap_or_default(), &now).then_some(UrlChange::Changed)
        }
    }
}

/// The difference of a listed URL between the published set, by its page row, and the new one.
pub(super) fn set_change_of(before: Option<&Page>, now: &Listed) -> Option<SetChange> {
    let before = before.filter(|page| page.record.reason.state() == State::Listed);
    let Some(before) = before else {
        return Some(SetChange::Added);
    };
    let dates = before.dates.as_ref();
    let before = dates.and_then(|dates| dates.lastmod.as_deref());
    let now = now.entry.lastmod.as_ref().map(LastMod::as_str);
    (before != now).then_some(SetChange::LastmodMoved)
}

impl<'a> Listing<'a> {
    fn of(dates: &'a LedgerEntry) -> Self {
        let is_hash = ![0, ContentHash::OF_DOCUMENT].contains(&dates.hash_version);
        Self {
            lastmod: dates.lastmod.as_deref(),
            content: is_hash.then_some((dates.hash_version, dates.content_hash)),
        }
    }
}

/// Returns whether a page changed between the published values and the current ones.
///
/// Another content is a change, and so is another `lastmod`. A `lastmod` that comes or goes is not a change where the content
/// can be compared: then only the trust in the server's dates changed, or the version of the hash.
fn is_change(before: &Listing<'_>, now: &Listing<'_>) -> bool {
    let is_other_date = before.lastmod != now.lastmod;
    let has_dates = before.lastmod.is_some() && now.lastmod.is_some();
    match (before.content, now.content) {
        (Some(old), Some(new)) => {
            let is_other_content = old.0 == new.0 && old.1 != new.1;
            is_other_content || (has_dates && is_other_date)
        }
        (Some(_), None) | (None, Some(_)) => has_dates && is_other_date,
        (None, None) => is_other_date,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_changes_with_its_content_or_date() {
        let listing = |lastmod: &'static str, content| Listing {
            lastmod: Some(lastmod).filter(|text| !text.is_empty()),
            content,
        };
        let check = |before: (&'static str, _), now: (&'static str, _), expected| {
            let (old, new) = (listing(before.0, before.1), listing(now.0, now.1));
            assert_eq!(is_change(&old, &new), expected, "{before:?} {now:?}");
        };
        let (one, two, newer) = (Some((1, 1)), Some((1, 2)), Some((2, 9)));
        check(("", one), ("", one), false);
        check(("", one), ("", two), true);
        check(("2026-01-01", one), ("2026-01-01", two), true);
        check(("2026-01-01", one), ("2026-01-02", one), true);
        // The server's dates are distrusted now, or trusted again.
        check(("2026-01-01", one), ("", one), false);
        check(("", one), ("2026-01-01", one), false);
        // Hashes of different versions cannot be compared.
        check(("", one), ("", newer), false);
        check(("2026-01-01", one), ("2026-01-01", newer), false);
        check(("2026-01-01", one), ("2026-01-02", newer), true);
        check(("", one), ("2026-01-02", newer), false);
        // A list has dates only.
        check(("2026-01-01", None), ("2026-01-02", None), true);
        check(("2026-01-01", None), ("", None), true);
        check(("", None), ("", None), false);
        check(("", one), ("", None), false);
        check(("2026-01-01", None), ("2026-01-02", one), true);
    }
}
