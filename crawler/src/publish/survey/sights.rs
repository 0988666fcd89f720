//! What readers see of a page: itself, or what its redirects lead to.

use xxhash_rust::xxh3::xxh3_64;

use super::{has_spoken, looks::Look};
use crate::{
    page::{PageFacts, PageRecord, RunId, State},
    publish::guard::Sign,
    store::{Store, StoreError},
    url_key::UrlKey,
};

/// Redirects that are followed from a page to what readers see, as engines do.
const MAX_HOPS: usize = 10;

/// What readers see of a page.
#[derive(Debug)]
pub(in crate::publish) enum Sight {
    /// Itself.
    Page(Look),
    /// What stands elsewhere.
    Redirect(End),
    /// Nothing that could be like anything else.
    Nothing,
}

/// Where the redirects of a page end.
#[derive(Debug)]
pub(in crate::publish) struct End {
    pub(super) target: UrlKey,
    /// Whether anything is known of what stands there.
    pub(super) is_known: bool,
    /// Whether that is listed.
    pub(super) is_listed: bool,
    pub(super) is_for_good: bool,
    pub(super) look: Option<Look>,
}

impl Sight {
    /// What run `run` knows that readers see of the page `key`, which answered with `facts`; `is_fresh`: it was another page
    /// when it was published.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(in crate::publish) fn of(
        store: &dyn Store,
        key: &UrlKey,
        run: RunId,
        facts: &PageFacts,
        is_fresh: bool,
    ) -> Result<Self, StoreError> {
        Ok(match target_of(key, facts) {
            Some(target) => {
                let is_for_good = matches!(facts.status, 301 | 308);
                Self::Redirect(End::behind(store, target, run, is_for_good)?)
            }
            None => match Look::of(facts) {
                Some(look) if is_fresh => Self::Page(since_before(store, key, look)?),
                Some(look) => Self::Page(look),
                None => Self::Nothing,
            },
        })
    }

    /// Whether nobody knows what stands where its redirect ends.
    pub(in crate::publish) fn is_open(&self) -> bool {
        match self {
            Self::Redirect(end) => !end.is_known,
            Self::Page(_) | Self::Nothing => false,
        }
    }

    /// The signs that the page shows, each with what it shares by it: its own, or those of its redirect, also as if nobody
    /// knew where that ends, and of what stands there.
    pub(in crate::publish) fn shown(&self) -> Vec<(Sign, u64)> {
        match self {
            Self::Page(look) => look.shown(),
            Self::Redirect(end) => {
                let there = end.look.iter().flat_map(Look::shown);
                let shown = end.shown().into_iter().chain([end.shown_unknown()]);
                shown.chain(there).collect()
            }
            Self::Nothing => Vec::new(),
        }
    }
}

/// How the page `key` looks beside what it looked like before.
fn since_before(store: &dyn Store, key: &UrlKey, look: Look) -> Result<Look, StoreError> {
    let before = store.facts_before(key)?;
    let before = before.as_ref().and_then(Look::of);
    Ok(before.map_or(look, |before| look.behind(&before)))
}

impl End {
    /// Where a redirect to `first` leads in run `run`.
    fn behind(
        store: &dyn Store,
        first: &UrlKey,
        run: RunId,
        is_for_good: bool,
    ) -> Result<Self, StoreError> {
        let mut end = Self {
            target: first.clone(),
            is_known: false,
            is_listed: false,
            is_for_good,
            look: None,
        };
        for _ in 0..MAX_HOPS {
            // What an earlier run was told is not what stands there now.
            let record = store.page(&end.target)?;
            let is_told = |record: &PageRecord| record.run == run && has_spoken(record);
            let Some(record) = record.filter(is_told) else {
                break;
            };
            let Some(facts) = record.facts() else { break };
            if let Some(next) = target_of(&end.target, facts) {
                end.target = next.clone();
                continue;
            }
            if facts.status == 200 {
                end.is_known = true;
                end.is_listed = record.reason.state() == State::Listed;
                end.look = Look::of(facts);
            }
            break;
        }
        Ok(end)
    }

    /// The signs of a redirect that ends here.
    pub(super) fn shown(&self) -> Vec<(Sign, u64)> {
        if !self.is_known {
            return vec![self.shown_unknown()];
        }
        let asks = self.look.as_ref().is_some_and(|look| look.has_form);
        let sign = if self.is_for_good && !asks {
            Sign::Moved
        } else {
            Sign::Target
        };
        let there = (sign, key_of(&self.target));
        let each = self.look.as_ref().map(Look::as_an_end);
        [Some(there), each].into_iter().flatten().collect()
    }

    /// The sign of a redirect to where nobody knows what stands.
    fn shown_unknown(&self) -> (Sign, u64) {
        (Sign::Target, xxh3_64(self.place().as_bytes()))
    }

    /// The target, as it is told of: a query may say where readers came from.
    pub(super) fn place(&self) -> &str {
        place_of(&self.target)
    }
}

fn place_of(target: &UrlKey) -> &str {
    let url = target.as_str();
    url.split('?').next().unwrap_or_default()
}

fn key_of(target: &UrlKey) -> u64 {
    xxh3_64(target.as_str().as_bytes())
}

/// The signs that pages show which redirect to `target`, whether anybody knows what stands there or not.
pub(in crate::publish) fn as_target(target: &UrlKey) -> [(Sign, u64); 3] {
    let (there, place) = (key_of(target), xxh3_64(place_of(target).as_bytes()));
    [
        (Sign::Target, there),
        (Sign::Moved, there),
        (Sign::Target, place),
    ]
}

/// Where an answer sends its readers, if that is another page.
pub(super) fn target_of<'f>(key: &UrlKey, facts: &'f PageFacts) -> Option<&'f UrlKey> {
    let target = match (&facts.location, &facts.refresh) {
        (Some(target), _) if (300..400).contains(&facts.status) => Some(target),
        (_, Some(refresh)) if refresh.delay_seconds == 0 => Some(&refresh.target),
        _ => None,
    };
    target.filter(|target| *target != key)
}
