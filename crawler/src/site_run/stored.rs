//! Publishing without a crawl: what the state of a site knows, a set that was published before, or what inputs name.

use std::sync::Arc;

use super::{Ended, Held, Opened, Outcome, Places, SessionError, publish_and_adopt};
use crate::{
    clock::Clock,
    config::Config,
    engine::judge_at_rest,
    notify::adopt,
    publish::{OutputHold, PublishRequest, Publishing, roll_back},
    report::Report,
    robots::Rules,
    runs,
    scope::Scope,
    site::Site,
    store::{Store, StoreError},
    verdict::{Judge, Mode},
};

/// What is published without a crawl.
pub struct StoredRequest<'a> {
    /// Which site.
    pub site: &'a Site,
    /// The settings, with output, public URL and generations of the site.
    pub config: &'a Config,
    /// Where its files are.
    pub places: &'a Places,
    /// Plan and count, write nothing.
    pub dry_run: bool,
    /// Wall time.
    pub clock: &'a Arc<dyn Clock>,
    /// Asked from time to time: whether to give up.
    pub is_stopped: &'a dyn Fn() -> bool,
}

impl std::fmt::Debug for StoredRequest<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoredRequest")
            .field("site", &self.site)
            .field("dry_run", &self.dry_run)
            .finish_non_exhaustive()
    }
}

/// Publishes what `store` knows under the current settings, and by robots.txt as the last crawl read it.
pub fn publish_stored(mut store: Store, request: &StoredRequest<'_>) -> (Ended, Option<Rules>) {
    let mut robots = None;
    let result = judge_at_rest(request.config, request.site, &store, request.clock);
    let publishing = match result {
        Ok((judge, noted)) => {
            robots = noted;
            is_drained(&store)
                .map_err(SessionError::Store)
                .and_then(|is_drained| {
                    publish_as(&mut store, request, &judge, robots.as_ref(), is_drained)
                })
        }
        Err(error) => Err(SessionError::Crawl(error)),
    };
    (ended(request, store, publishing), robots)
}

/// Whether the crawl has no URL left to ask for.
fn is_drained(store: &Store) -> Result<bool, StoreError> {
    let is_queue_empty = store.size()?.queued == 0;
    Ok(is_queue_empty && (runs::is_fresh(store)? || store.unvisited(None, 1)?.is_empty()))
}

/// Publishes the visits that `build` made of its inputs, in whose folder `robots` was found.
pub fn publish_built(
    mut store: Store,
    request: &StoredRequest<'_>,
    robots: Option<&Rules>,
) -> Ended {
    let StoredRequest { site, config, .. } = *request;
    let publishing = Scope::new(site, &config.scope)
        .map_err(|error| SessionError::Settings(error.to_string()))
        .and_then(|scope| {
            let rules = robots.cloned().unwrap_or_default();
            let judge = Judge::new(config, scope, rules, 0, Arc::clone(request.clock));
            publish_as(&mut store, request, &judge, robots, true)
        });
    ended(request, store, publishing)
}

/// Publishes the set again that was published `back` publishes ago.
pub fn restore(mut store: Store, request: &StoredRequest<'_>, back: usize) -> Ended {
    let publishing = restored(&mut store, request, back);
    ended(request, store, publishing)
}

fn restored(
    store: &mut Store,
    request: &StoredRequest<'_>,
    back: usize,
) -> Result<Publishing, SessionError> {
    if request.config.notify.indexnow && !request.dry_run {
        adopt(store)?;
    }
    let (judge, robots) = judge_at_rest(request.config, request.site, store, request.clock)
        .map_err(SessionError::Crawl)?;
    let wanted = publish_request(request, &judge, robots.as_ref(), Mode::AtRest, false);
    let result = roll_back(store, &wanted, back);
    let report = result.as_ref().ok().map(|published| Report {
        listed: published.listed,
        ..Report::default()
    });
    Ok(Publishing { report, result })
}

fn publish_as(
    store: &mut Store,
    request: &StoredRequest<'_>,
    judge: &Judge,
    robots: Option<&Rules>,
    is_drained: bool,
) -> Result<Publishing, SessionError> {
    let mode = Mode::of(store, request.config.publish.force)?;
    let wanted = publish_request(request, judge, robots, mode, is_drained);
    let adopts = request.config.notify.indexnow && !request.dry_run;
    Ok(publish_and_adopt(store, &wanted, adopts))
}

fn publish_request<'a>(
    request: &StoredRequest<'a>,
    judge: &'a Judge,
    robots: Option<&'a Rules>,
    mode: Mode,
    is_drained: bool,
) -> PublishRequest<'a> {
    PublishRequest {
        site: request.site,
        judge,
        mode,
        is_drained,
        config: &request.config.publish,
        robots: robots.filter(|_| !request.config.ignore.robots),
        dry_run: request.dry_run,
        now: request.clock.now(),
        is_stopped: request.is_stopped,
    }
}

fn ended(
    request: &StoredRequest<'_>,
    store: Store,
    publishing: Result<Publishing, SessionError>,
) -> Ended {
    let (report, published) = match publishing {
        Ok(Publishing { report, result }) => (report, result.map_err(SessionError::Publish)),
        Err(error) => (None, Err(error)),
    };
    let mut ended = Ended {
        site: Some(request.site.clone()),
        places: Some(request.places.clone()),
        opened: None::<Opened>,
        crawl: None,
        report,
        published,
        outcome: Outcome::Internal,
        held: Some(Held {
            store,
            output: None::<OutputHold>,
        }),
    };
    ended.outcome = Outcome::of(&ended, request.dry_run);
    ended
}
