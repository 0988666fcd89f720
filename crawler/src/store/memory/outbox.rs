//! The published set and the outbox, in maps.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::{
    store::outbox::{
        Difference, Listing, MAX_OUTBOX, OutboxStep, Tell, UrlChange, Waiting, gap_before,
        whole_second,
    },
    url_key::UrlKey,
};

/// What is known of the published set.
#[derive(Debug, Clone, Default)]
pub(super) struct Outbox {
    published: BTreeMap<UrlKey, Listing>,
    staged: BTreeMap<UrlKey, Difference>,
    waiting: BTreeMap<UrlKey, Waiting>,
    told: BTreeMap<UrlKey, Timestamp>,
}

impl Outbox {
    pub(super) fn apply(&mut self, step: &OutboxStep) {
        match step {
            OutboxStep::Stage(differences) => {
                let differences = differences.iter().cloned();
                self.staged
                    .extend(differences.map(|found| (found.key.clone(), found)));
            }
            OutboxStep::Unstage => self.staged.clear(),
            OutboxStep::Take { since, tell } => self.take(*since, *tell),
            // It is not of this alone.
            OutboxStep::Undo(_) => {}
            OutboxStep::Forget => self.waiting.clear(),
            OutboxStep::TellAll { since } => {
                for key in self.published.keys() {
                    let waiting = waiting(key, UrlChange::Added, *since);
                    self.waiting.entry(key.clone()).or_insert(waiting);
                }
            }
            OutboxStep::Put(waiting) => {
                for waiting in waiting {
                    let since = whole_second(waiting.since);
                    let waiting = Waiting {
                        since,
                        ..waiting.clone()
                    };
                    self.waiting.insert(waiting.key.clone(), waiting);
                }
            }
            OutboxStep::Told { urls, at } => {
                let at = whole_second(*at);
                for key in urls {
                    self.waiting.remove(key);
                    self.told.insert(key.clone(), at);
                }
                self.told.retain(|_, told| *told > gap_before(at));
            }
            OutboxStep::Tried(urls) => {
                for key in urls {
                    if let Some(waiting) = self.waiting.get_mut(key) {
                        waiting.tries += 1;
                    }
                }
            }
            OutboxStep::GiveUp(urls) => {
                for key in urls {
                    self.waiting.remove(key);
                }
            }
        }
        self.bound(MAX_OUTBOX);
    }

    fn take(&mut self, since: Timestamp, tell: Tell) {
        let has_news = self
            .staged
            .values()
            .any(|difference| difference.change.is_some());
        if tell == Tell::Newest && has_news {
            self.waiting.clear();
        }
        for (key, difference) in std::mem::take(&mut self.staged) {
            if let Some(change) = difference.change.filter(|_| tell != Tell::Nobody) {
                self.waiting
                    .insert(key.clone(), waiting(&key, change, since));
            }
            match difference.listing {
                Some(listing) => self.published.insert(key, listing),
                None => self.published.remove(&key),
            };
        }
    }

    /// What is known of the published set, where the set that is staged says something else.
    pub(super) fn about_to_change(&self) -> Vec<(UrlKey, Listing)> {
        let staged = self.staged.keys();
        staged
            .filter_map(|key| Some((key.clone(), self.published.get(key)?.clone())))
            .collect()
    }

    /// Forgets the published set, and what was staged.
    pub(super) fn forget_published(&mut self) {
        self.published.clear();
        self.staged.clear();
    }

    /// Puts back what was known of URLs that are in the published set.
    pub(super) fn restore(&mut self, before: BTreeMap<UrlKey, Listing>) {
        for (key, listing) in before {
            self.published
                .entry(key)
                .and_modify(|known| *known = listing);
        }
    }

    /// Lets the oldest go beyond `most`.
    fn bound(&mut self, most: u64) {
        let excess = (self.waiting.len() as u64).saturating_sub(most);
        let by_age: BTreeSet<(Timestamp, String, UrlKey)> = match excess {
            0 => BTreeSet::new(),
            _ => self
                .waiting
                .values()
                .map(|url| (url.since, url.key.as_str().to_owned(), url.key.clone()))
                .collect(),
        };
        for (_, _, key) in by_age.iter().take(usize::try_from(excess).unwrap_or(0)) {
            self.waiting.remove(key);
        }
    }

    pub(super) fn published(&self, after: Option<&UrlKey>, limit: usize) -> Vec<(UrlKey, Listing)> {
        let behind = |key: &UrlKey| after.is_none_or(|after| key > after);
        self.published
            .iter()
            .filter(|(key, _)| behind(key))
            .take(limit)
            .map(|(key, listing)| (key.clone(), listing.clone()))
            .collect()
    }

    pub(super) fn staged(&self, after: Option<&UrlKey>, limit: usize) -> Vec<Difference> {
        let behind = |key: &UrlKey| after.is_none_or(|after| key > after);
        let staged = self.staged.iter().filter(|(key, _)| behind(key));
        staged
            .take(limit)
            .map(|(_, difference)| difference.clone())
            .collect()
    }

    pub(super) fn waiting(
        &self,
        after: Option<&(u32, UrlKey)>,
        limit: usize,
        now: Timestamp,
    ) -> Vec<Waiting> {
        let now = whole_second(now);
        let place = |tries: u32, key: &UrlKey| (tries, key.as_str().to_owned());
        let after = after.map(|(tries, key)| place(*tries, key));
        let mut waiting: Vec<&Waiting> = self
            .waiting
            .values()
            .filter(|url| {
                let told = self.told.get(&url.key);
                told.is_none_or(|told| *told <= gap_before(now) || *told > now)
            })
            .filter(|url| {
                let own = place(url.tries, &url.key);
                after.as_ref().is_none_or(|after| own > *after)
            })
            .collect();
        waiting.sort_by_key(|url| place(url.tries, &url.key));
        waiting.into_iter().take(limit).cloned().collect()
    }

    pub(super) fn len(&self) -> u64 {
        self.waiting.len() as u64
    }
}

fn waiting(key: &UrlKey, change: UrlChange, since: Timestamp) -> Waiting {
    Waiting {
        key: key.clone(),
        change,
        since: whole_second(since),
        tries: 0,
    }
}
