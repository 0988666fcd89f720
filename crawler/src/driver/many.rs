//! Several sites: as many at a time as the settings allow, one per host, in the order of the settings. A site that
//! fails does not stop the others; a signal does.

use std::{collections::VecDeque, sync::Arc};

use super::{
    board::Board,
    crawler::{Crawler, SiteResult},
    job::session_site,
    sessions::Sessions,
    settings::SiteSettings,
};

/// Crawls all of `sites`, at most `max_sites` at a time; each session is given to `done` when it has ended.
pub async fn crawl_all(
    crawler: &Crawler,
    sites: &[Arc<SiteSettings>],
    max_sites: usize,
    board: &Arc<dyn Board>,
    mut done: impl FnMut(SiteResult),
) {
    let mut waiting: VecDeque<_> = sites.iter().cloned().collect();
    let mut sessions = Sessions::new(board, &crawler.output);
    loop {
        while !crawler.stop.shutdown.is_stopping()
            && sessions.len() < max_sites
            && let Some(site) = next(&mut waiting, &sessions)
        {
            let (crawler, own) = (crawler.for_site(&site), Arc::clone(&site));
            sessions.start(site, |watch| async move {
                session_site(&crawler, &own, watch).await
            });
        }
        let Some((_, run)) = sessions.next().await else {
            break;
        };
        done(run);
    }
    // None is left unless a signal came.
    for site in waiting {
        done(SiteResult::not_begun(&site, &crawler.stop));
    }
}

/// The first site whose host nobody is crawling.
fn next(
    waiting: &mut VecDeque<Arc<SiteSettings>>,
    sessions: &Sessions,
) -> Option<Arc<SiteSettings>> {
    let is_free = |site: &Arc<SiteSettings>| {
        let host = site.host();
        sessions.sites().all(|other| other.host() != host)
    };
    let position = waiting.iter().position(is_free)?;
    waiting.remove(position)
}
