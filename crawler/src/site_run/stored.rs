//! Publishing without a crawl: what the state of a site knows, a set that was published before, or what inputs name.

use std::{path::Path, sync::Arc};

use super::{Ended, Held, SessionError};
use crate::{
    clock::Clock,
    config::Config,
    crawl_state,
    notify::start_notifying,
    publish::{PublishError, PublishRequest, Published, Publishing, publish, roll_back},
    report::Report,
    robots::Rules,
    scope::Scope,
    site::Site,
    storage::{SendFence, Storage},
    store::{Store, StoreError},
    verdict::{Judge, Mode},
};

/// Work on the state of a site without a crawl.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "it holds a function")]
pub struct StoredRequest<'a> {
    /// The site.
    pub site: &'a Site,
    /// The settings of the site ([`super::Places::config`]).
    pub config: &'a Config,
    /// The file of its state; `None`: no state is stored.
    pub state: Option<&'a Path>,
    /// Work on a copy of the state, and write no files.
    pub dry_run: bool,
    /// Wall time.
    pub clock: &'a Arc<dyn Clock>,
    /// Asked from time to time: whether to give up.
    pub is_stopped: &'a dyn Fn() -> bool,
    /// Asked before object storage is changed, where several machines could send the set.
    pub send_fence: Option<&'a dyn SendFence>,
}

/// The set that is published without a crawl.
#[derive(Debug, Clone, Copy)]
pub enum Stored<'a> {
    /// The data of the state, by the current settings and robots.txt as the last crawl read it.
    Crawl,
    /// The visits that `build` made of its inputs, in whose folder this robots.txt was found.
    Inputs(Option<&'a Rules>),
    /// The set that was published so many publishes ago.
    Generation(usize),
}

impl StoredRequest<'_> {
    /// Publishes `stored` from `store`.
    pub fn run(&self, mut store: Store, stored: Stored<'_>) -> Ended {
        let publishing = self.publish_stored(&mut store, stored);
        let output = None;
        let mut ended = Ended {
            held: Some(Held { store, output }),
            ..Ended::new(Some(self.site.clone()), publishing)
        };
        ended.outcome = ended.find_outcome(self.dry_run);
        ended
    }

    fn publish_stored(
        &self,
        store: &mut Store,
        stored: Stored<'_>,
    ) -> Result<Publishing, SessionError> {
        let Self { site, config, .. } = *self;
        if let Stored::Inputs(robots) = stored {
            let scope = Scope::new(site, &config.scope)?;
            let rules = robots.cloned().unwrap_or_default();
            let judge = Judge::new(config, scope, rules, 0, Arc::clone(self.clock));
            return self.publish(store, &judge, robots, true);
        }
        let known = crawl_state::rules_at_rest(store)?;
        let judge = known.judge(config, site, self.clock)?;
        let robots = known.robots.as_ref();
        let Stored::Generation(back) = stored else {
            let is_drained = crawl_state::is_drained(store)?;
            return self.publish(store, &judge, robots, is_drained);
        };
        self.start_notifying(store)?;
        let wanted = self.publish_request(&judge, robots, Mode::AtRest, false);
        let result = roll_back(store, &wanted, back).and_then(|set| self.sent(set));
        let report = result.as_ref().ok().map(|published| Report {
            listed: published.listed,
            ..Report::default()
        });
        Ok(Publishing { report, result })
    }

    /// Publishes what `store` knows, as `judge` sees it.
    pub(super) fn publish(
        &self,
        store: &mut Store,
        judge: &Judge,
        robots: Option<&Rules>,
        is_drained: bool,
    ) -> Result<Publishing, SessionError> {
        let mode = Mode::of(store, self.config.publish.force)?;
        self.start_notifying(store)?;
        let wanted = self.publish_request(judge, robots, mode, is_drained);
        let Publishing { report, result } = publish(store, &wanted);
        let result = result.and_then(|set| self.sent(set));
        Ok(Publishing { report, result })
    }

    /// Sends the set to object storage, if that is where readers get it. An unchanged set is compared, and sent where it differs.
    fn sent(&self, set: Published) -> Result<Published, PublishError> {
        if let Some(storage) = self.storage()? {
            let publish = &self.config.publish;
            let now = self.clock.now();
            storage.send(&publish.output, publish.force, now, self.send_fence)?;
        }
        Ok(set)
    }

    /// Makes the folder of the set what readers see, if another machine published it.
    pub(super) fn fetch_set(&self) -> Result<(), SessionError> {
        let fetched = self.storage().and_then(|storage| match storage {
            Some(storage) => Ok(storage.fetch(&self.config.publish.output, self.send_fence)?),
            None => Ok(()),
        });
        fetched.map_err(SessionError::Publish)
    }

    /// The object storage of the set; a dry run has none.
    fn storage(&self) -> Result<Option<Storage>, PublishError> {
        if self.dry_run {
            return Ok(None);
        }
        let site = self.site.written().url();
        Ok(Storage::open(&self.config.publish, &site)?)
    }

    /// Engines are notified from now on, if the settings ask for it.
    fn start_notifying(&self, store: &mut Store) -> Result<(), StoreError> {
        if self.config.notify.indexnow && !self.dry_run {
            start_notifying(store)?;
        }
        Ok(())
    }

    pub(super) fn publish_request<'a>(
        &'a self,
        judge: &'a Judge,
        robots: Option<&'a Rules>,
        mode: Mode,
        is_drained: bool,
    ) -> PublishRequest<'a> {
        PublishRequest {
            site: self.site,
            judge,
            mode,
            is_drained,
            config: &self.config.publish,
            robots: robots.filter(|_| !self.config.ignore.robots),
            dry_run: self.dry_run,
            now: self.clock.now(),
            is_stopped: self.is_stopped,
        }
    }
}
