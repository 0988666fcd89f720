//! The work on sites beside their crawls: publishes without a crawl, and looks at what is served of their sets. It decides when each
//! is due.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use jiff::{SignedDuration, Timestamp};

use crate::{
    driver::{crawler::SiteResult, settings::SiteSettings},
    outcome::ExitCode,
};

/// Least time between the end of a session of a site and a publish of it without a crawl.
const PUBLISH_SPACING: SignedDuration = SignedDuration::from_hours(1);

/// Time after a publish without a crawl that failed until the next one: the guard may refuse it each time.
const PUBLISH_RETRY: SignedDuration = SignedDuration::from_hours(24);

/// Time after a look that came to nothing until the next one.
const LOOK_RETRY: Duration = Duration::from_secs(10 * 60);

/// The work of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DaemonWork {
    /// A crawl, for a slot of the schedule.
    Crawl,
    /// A publish without a crawl, because time has changed the set: an article is news no longer.
    Publish,
    /// A look at what is served of the set; once it is served others are notified.
    Look,
}

/// The work beside crawls, by the names of sites.
#[derive(Debug)]
pub(super) struct OtherWork {
    /// When sites are published without a crawl.
    pub(super) publish_at: BTreeMap<String, Timestamp>,
    /// When the sets of sites are looked at where they are served.
    pub(super) look_at: BTreeMap<String, Timestamp>,
    under_way: BTreeMap<String, DaemonWork>,
}

impl OtherWork {
    pub(super) fn new(
        publish_at: BTreeMap<String, Timestamp>,
        look_at: BTreeMap<String, Timestamp>,
    ) -> Self {
        Self {
            publish_at,
            look_at,
            under_way: BTreeMap::new(),
        }
    }

    fn planned(&self) -> impl Iterator<Item = (DaemonWork, &String, Timestamp)> {
        let publishes = self.publish_at.iter();
        let publishes = publishes.map(|(name, at)| (DaemonWork::Publish, name, *at));
        let looks = self.look_at.iter();
        publishes.chain(looks.map(|(name, at)| (DaemonWork::Look, name, *at)))
    }

    /// The work that is due, and its sites.
    pub(super) fn due(&self, now: Timestamp) -> Vec<(DaemonWork, String)> {
        let due = self.planned().filter(|(_, _, at)| *at <= now);
        due.map(|(work, name, _)| (work, name.clone())).collect()
    }

    /// When the next is due, after those that are due now.
    pub(super) fn next(&self, now: Timestamp) -> Timestamp {
        let later = self.planned().map(|(_, _, at)| at).filter(|at| *at > now);
        later.min().unwrap_or(Timestamp::MAX)
    }

    /// Work on a site begins.
    pub(super) fn begin(&mut self, name: String, work: DaemonWork) {
        self.under_way.insert(name, work);
    }

    /// The work on a site that has ended and was no crawl.
    pub(super) fn end(&mut self, name: &str) -> DaemonWork {
        let ended = self.under_way.remove(name);
        ended.unwrap_or(DaemonWork::Publish)
    }

    /// Plans what follows from work on a site that has ended.
    pub(super) fn plan(
        &mut self,
        site: &SiteSettings,
        work: DaemonWork,
        run: &SiteResult,
        now: Timestamp,
    ) {
        self.plan_look(site, work, run, now);
        let name = &site.name;
        let is_published = matches!(run.code, ExitCode::Success | ExitCode::Partial);
        match run.summary.changes_at() {
            _ if work == DaemonWork::Look => {}
            Some(at) => {
                let earliest = now.saturating_add(PUBLISH_SPACING).unwrap_or(at);
                self.publish_at.insert(name.clone(), at.max(earliest));
            }
            None if is_published => {
                self.publish_at.remove(name);
            }
            // Tried again, unless a crawl comes first.
            None if work == DaemonWork::Publish => {
                let wait = if run.code == ExitCode::Refused {
                    PUBLISH_RETRY
                } else {
                    PUBLISH_SPACING
                };
                let later = now.saturating_add(wait).unwrap_or(now);
                self.publish_at.insert(name.clone(), later);
            }
            None => {}
        }
    }

    fn plan_look(
        &mut self,
        site: &SiteSettings,
        work: DaemonWork,
        run: &SiteResult,
        now: Timestamp,
    ) {
        let config = &site.settings.config.notify;
        let interval = config.check_served_interval;
        if !config.check_served {
            return;
        }
        let next = match run.summary.served() {
            Some(served) => served.next_look(interval),
            // It could not be looked at now.
            None if work == DaemonWork::Look => {
                now.saturating_add(LOOK_RETRY.min(interval)).unwrap_or(now)
            }
            None => return,
        };
        self.look_at.insert(site.name.clone(), next);
    }

    /// Forgets the sites that are not among `sites`, and looks that nobody wants any more.
    pub(super) fn retain(&mut self, sites: &BTreeMap<String, Arc<SiteSettings>>) {
        self.publish_at.retain(|name, _| sites.contains_key(name));
        self.look_at.retain(|name, _| {
            let site = sites.get(name);
            site.is_some_and(|site| site.settings.config.notify.check_served)
        });
    }
}
