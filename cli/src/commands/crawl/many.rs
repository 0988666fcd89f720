//! Several sites: as many at a time as the settings allow, one per host, in the order of the settings. A site that
//! fails does not stop the others; a signal does.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use tokio::task::{Id, JoinSet};

use super::{
    board::Board,
    site::{Crawler, SiteRun},
};
use crate::{panicked::Panicked, settings::SiteSettings};

/// Crawls all of `sites`, at most `max_sites` at a time; each run is given to `done` when it has ended.
pub(super) async fn crawl_all(
    crawler: &Crawler,
    sites: &[Arc<SiteSettings>],
    max_sites: usize,
    board: &Board,
    mut done: impl FnMut(SiteRun),
) {
    let mut waiting: VecDeque<_> = sites.iter().cloned().collect();
    let mut runs = JoinSet::new();
    let mut running: HashMap<Id, Arc<SiteSettings>> = HashMap::new();
    loop {
        while !crawler.stop.shutdown.is_stopping()
            && running.len() < max_sites
            && let Some(site) = next(&mut waiting, &running)
        {
            let watch = board.begin(&site.name, site.settings.config.politeness.delay);
            let (crawler, own) = (crawler.clone(), Arc::clone(&site));
            let task = runs.spawn(async move { crawler.run(&own, watch).await });
            running.insert(task.id(), site);
        }
        let Some(joined) = runs.join_next_with_id().await else {
            break;
        };
        let (id, run) = match joined {
            Ok((id, run)) => (id, Ok(run)),
            Err(error) => (error.id(), Err(Panicked::from_join(error))),
        };
        let Some(site) = running.remove(&id) else {
            continue;
        };
        board.end(&site.name, &crawler.output);
        done(run.unwrap_or_else(|panicked| {
            crawler.output.error(&format!("{}: {panicked}", site.start));
            SiteRun::panicked(&site)
        }));
    }
    // None is left unless a signal came.
    for site in waiting {
        done(SiteRun::not_begun(&site, &crawler.stop));
    }
}

/// The first site whose host nobody is crawling.
fn next(
    waiting: &mut VecDeque<Arc<SiteSettings>>,
    running: &HashMap<Id, Arc<SiteSettings>>,
) -> Option<Arc<SiteSettings>> {
    let is_free = |site: &Arc<SiteSettings>| {
        let host = site.host();
        running.values().all(|other| other.host() != host)
    };
    let position = waiting.iter().position(is_free)?;
    waiting.remove(position)
}
