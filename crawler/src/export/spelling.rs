//! URLs that a sitemap writes alike: of several the one is listed that is written as it was requested, or else the first in
//! the order of keys.

use std::collections::HashSet;

use sitemap_core::Loc;

use super::{Export, MergedView, written};
use crate::{
    page::{Reason, State},
    store::StoreError,
    url_key::UrlKey,
};

/// The respelled URLs of one pass over the listed pages.
#[derive(Debug, Default)]
pub(crate) struct Spelling {
    /// Fingerprints of addresses that are written in another way than they were requested.
    respelled: HashSet<u64>,
}

impl Spelling {
    /// The reason why the listed page `key` leaves the set for its spelling; `None`: it stays.
    ///
    /// # Errors
    /// The store failed.
    pub(crate) fn objection(
        &mut self,
        export: &Export,
        view: &MergedView<'_>,
        key: &UrlKey,
    ) -> Result<Option<Reason>, StoreError> {
        let stand_in = export.stand_in.as_ref();
        let own = written(stand_in, key);
        let loc = own.as_ref().and_then(|own| Loc::parse(own.as_str()).ok());
        let (Some(own), Some(loc)) = (own, loc) else {
            return Ok(Some(Reason::Unwritable));
        };
        if loc.as_str() == own.as_str() {
            return Ok(None);
        }
        let Ok(written) = UrlKey::from_normalised(loc.as_str()) else {
            return Ok(Some(Reason::Unwritable));
        };
        let twin = match stand_in {
            Some(stand_in) => stand_in.crawled_of(&written),
            None => Some(written.clone()),
        };
        let twin = match twin {
            Some(twin) => view.of(&twin)?,
            // The directory itself is respelled, so no page is written as it is.
            None => None,
        };
        let twin_is_listed = twin.is_some_and(|twin| twin.record.reason.state() == State::Listed);
        let is_first = self.respelled.insert(written.fingerprint());
        Ok((twin_is_listed || !is_first).then_some(Reason::DuplicateSpelling))
    }
}
