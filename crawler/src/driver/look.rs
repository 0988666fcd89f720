//! A look at what is served of the published set of a site. Others are notified once it is served.

use std::{path::PathBuf, sync::Arc};

use tokio::time::Instant;

use super::{
    crawler::{Crawler, SiteResult, summary_of},
    names::find_state,
    settings::SiteSettings,
};
use crate::{
    failure::{self, blocking},
    outcome::{ExitCode, SessionOutcome},
    site_run::LastSession,
    store::Store,
    summary::Summary,
};

/// Looks at what is served of the set of `site`, and notes it beside the state. Of the last session only that changes.
pub async fn look_at_site(crawler: &Crawler, site: &Arc<SiteSettings>) -> SiteResult {
    let mut summary = summary_of(site);
    let began = Instant::now();
    let result = look(crawler, site, &mut summary).await;
    let result = result.map(|()| ExitCode::Success);
    let mut end = crawler.ended(result, &mut summary, began);
    SiteResult {
        summary,
        code: end.code,
        error: end.error.take(),
    }
}

/// Looks again at a set that was published and not served when it was looked at last: others are notified of it before the next
/// set takes its place. What fails is for the session that follows to report.
pub(super) async fn look_before_crawl(crawler: &Crawler, site: &Arc<SiteSettings>) {
    drop(look(crawler, site, &mut summary_of(site)).await);
}

async fn look(
    crawler: &Crawler,
    site: &Arc<SiteSettings>,
    summary: &mut Summary,
) -> failure::Result<()> {
    let of_site = Arc::clone(site);
    let opened = blocking(move || {
        let (known, path) = find_state(&of_site.settings, &of_site.start)?;
        let store = Store::open(&path)?;
        failure::Result::Ok((known, path, store))
    });
    let (known, path, store) = opened.await?;
    summary.set_site(&known);
    crawler.notify_of(site, store, summary).await;
    summary.outcome = SessionOutcome::Unchanged;
    let name = &summary.site;
    match note(crawler, site, path, summary).await {
        Ok(problems) => {
            for problem in problems {
                crawler.output.warn(&format!("{name}: {problem}"));
            }
        }
        Err(error) => {
            let error = error.in_full();
            let text = format!("{name}: arpent status does not show what is served: {error}");
            crawler.output.warn(&text);
        }
    }
    Ok(())
}

/// Notes what is served beside the state, and sends people the messages that are due. Returns what failed.
async fn note(
    crawler: &Crawler,
    site: &SiteSettings,
    state: PathBuf,
    summary: &Summary,
) -> failure::Result<Vec<String>> {
    let Some(served) = summary.served().cloned() else {
        return Ok(Vec::new());
    };
    let google = summary.google().cloned();
    let mut notifier = crawler.notifier(site);
    let noted = move || {
        LastSession::note_served(&state, &served, google.as_ref())?;
        failure::Result::Ok(notifier.send_messages(&LastSession::beside(&state)))
    };
    blocking(noted).await
}
