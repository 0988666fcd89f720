//! A look at what is served of the published set of a site. Others are notified once it is served.

use std::sync::Arc;

use tokio::time::Instant;

use super::{
    crawler::{Crawler, SiteResult, summary_of},
    names::find_state,
    settings::SiteSettings,
};
use crate::{
    failure::{self, blocking},
    outcome::{ExitCode, SessionOutcome},
    served::last_look,
    site_run::LastSession,
    store::{Store, with_causes},
};

/// Looks again at a set that was published and not served when it was looked at last: others are notified of it before the next
/// set takes its place. What fails is for the session that follows to report.
pub(super) async fn look_before_crawl(crawler: &Crawler, site: &Arc<SiteSettings>) {
    if !site.settings.config.notify.check_served || site.settings.dry_run {
        return;
    }
    let of_site = Arc::clone(site);
    let opened = blocking(move || {
        let (_, path) = find_state(&of_site.settings, &of_site.start)?;
        let store = Store::open(&path)?;
        let last = last_look(&store)?;
        failure::Result::Ok(last.filter(|last| !last.is_served()).map(|_| store))
    });
    if let Ok(Some(store)) = opened.await {
        let mut summary = summary_of(site);
        crawler.notify_of(site, store, &mut summary).await;
    }
}

/// Looks at what is served of the set of `site`, and notes it beside the state. Of the last session only that changes.
pub async fn look_at_site(crawler: &Crawler, site: &Arc<SiteSettings>) -> SiteResult {
    let mut summary = summary_of(site);
    summary.surroundings.is_look = true;
    let began = Instant::now();
    let of_site = Arc::clone(site);
    let opened = blocking(move || {
        let (known, path) = find_state(&of_site.settings, &of_site.start)?;
        let store = Store::open(&path)?;
        failure::Result::Ok((known, path, store))
    });
    let result = match opened.await {
        Ok((known, path, store)) => {
            summary.set_site(&known);
            crawler.notify_of(site, store, &mut summary).await;
            summary.outcome = SessionOutcome::Unchanged;
            let served = summary.served().cloned();
            let noted = blocking(move || {
                let path = path.with_extension("last.json");
                let noted = served.map(|served| LastSession::note_served(&path, &served));
                failure::Result::Ok(noted.transpose())
            });
            if let Ok(Err(error)) = noted.await {
                let (site, error) = (&summary.site, with_causes(&error));
                crawler
                    .output
                    .warn(&format!("{site}: arpent status does not show it: {error}"));
            }
            Ok(ExitCode::Success)
        }
        Err(error) => Err(error),
    };
    let mut end = crawler.ended(result, &mut summary, began);
    SiteResult {
        summary,
        code: end.code,
        error: end.error.take(),
    }
}
