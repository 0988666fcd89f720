//! The last judgement on one page, which needs other records: redirect and canonical chains, and URLs that
//! a sitemap can only write in one way. On the way it counts what the evidence for `lastmod` rests on.

use std::collections::HashSet;

use sitemap_core::Loc;

use super::{Export, written};
use crate::{
    lastmod::Statistics,
    page::{Basis, PageRecord, Reason, State},
    store::{LedgerEntry, Store, StoreError},
    url_key::UrlKey,
    verdict,
};

/// Contents that are compared with each other: 160 MB at most. Further ones are not looked at.
const MAX_CONTENTS: usize = 10_000_000;

/// What one pass over the records gathers.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) statistics: Statistics,
    /// Fingerprints of addresses that are written in another way than they were requested.
    respelled: HashSet<u64>,
    /// Halves of the hashes of the bodies of listed pages, at most [`MAX_CONTENTS`].
    contents: HashSet<u64>,
    /// Listed pages whose content an earlier listed page has.
    pub(super) duplicates: u64,
}

impl Gathered {
    fn note_content(&mut self, hash: u128) {
        let half = u64::try_from(hash >> 64).unwrap_or_default();
        if self.contents.contains(&half) {
            self.duplicates += 1;
        } else if self.contents.len() < MAX_CONTENTS {
            self.contents.insert(half);
        }
    }
}

impl Export {
    /// The reason of a page, if it is another one than is stored.
    pub(super) fn look_at(
        &self,
        store: &dyn Store,
        key: &UrlKey,
        record: &PageRecord,
        known: Option<&LedgerEntry>,
        gathered: &mut Gathered,
    ) -> Result<Option<Reason>, StoreError> {
        let mut failure = None;
        let settled = verdict::settle(key, record, &mut |target| {
            let found = store
                .page(target)
                .map_err(|error| failure = Some(error))
                .ok()
                .flatten()?;
            let brief = (found.run == self.run).then(|| verdict::Brief::of(&found))?;
            Some(verdict::Brief {
                reason: before_spelling(brief.reason),
                ..brief
            })
        });
        if let Some(error) = failure {
            return Err(error);
        }
        let mut reason = before_spelling(settled.unwrap_or(record.reason));
        if let (Reason::Listed, Basis::Kept(kept)) = (reason, &record.basis) {
            reason = kept.listed_as();
        }
        if reason.state() == State::Listed {
            reason = self.spelling(store, key, reason, &mut gathered.respelled)?;
        }
        if reason.state() == State::Listed {
            self.dating
                .count(key, record, known, &mut gathered.statistics);
            if let Some(hash) = record.facts().and_then(|facts| facts.body_hash) {
                gathered.note_content(hash);
            }
        }
        Ok((reason != record.reason).then_some(reason))
    }

    /// Keeps one of several URLs that a sitemap can only write in one way.
    fn spelling(
        &self,
        store: &dyn Store,
        key: &UrlKey,
        reason: Reason,
        respelled: &mut HashSet<u64>,
    ) -> Result<Reason, StoreError> {
        let stand_in = self.stand_in.as_ref();
        let Some(own) = written(stand_in, key) else {
            return Ok(Reason::Unwritable);
        };
        let Ok(loc) = Loc::parse(own.as_str()) else {
            return Ok(Reason::Unwritable);
        };
        if loc.as_str() == own.as_str() {
            return Ok(reason);
        }
        let Ok(written) = UrlKey::from_normalised(loc.as_str()) else {
            return Ok(Reason::Unwritable);
        };
        let twin = match stand_in {
            Some(stand_in) => stand_in.crawled_of(&written),
            None => Some(written.clone()),
        };
        let twin = match twin {
            Some(twin) => store.page(&twin)?,
            // The directory itself is respelled, so no page is written as it is.
            None => None,
        };
        let twin_is_listed = twin.is_some_and(|twin| {
            twin.run == self.run && before_spelling(twin.reason).state() == State::Listed
        });
        let is_first = respelled.insert(written.fingerprint());
        Ok(if twin_is_listed || !is_first {
            Reason::DuplicateSpelling
        } else {
            reason
        })
    }
}

/// The reason without what this room decided of how the URL is written, now or in an earlier publish:
/// that is decided again each time, and must not depend on what was decided before.
fn before_spelling(reason: Reason) -> Reason {
    match reason {
        Reason::DuplicateSpelling | Reason::Unwritable | Reason::EntryRefused => Reason::Listed,
        reason => reason,
    }
}
