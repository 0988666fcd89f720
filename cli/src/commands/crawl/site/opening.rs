//! What the engine asks of the program once it knows which site it crawls: its state, and where its set will be served.
//! A site that the settings do not fit is found out here, before more than its start page is fetched.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use crawler::{
    engine::{OpenStore, PeekStore, PublicUrl},
    fetch::http::HttpFetch,
    publish::{OutputHold, check_disk},
    runs,
    store::{StoreError, StoreErrorKind},
};

use super::super::check_site;
use super::job::{Job, check_names_of};
use crate::commands::{names, seams};

impl Job<'_> {
    /// Looks into the state that a site would have. One that is not to be used, or damaged, is not looked into.
    pub(super) fn peek_store(&self, damage: Option<&str>) -> PeekStore {
        let configured = Arc::clone(self.site);
        let is_wanted = damage.is_none() && !configured.settings.fresh;
        Arc::new(move |site, look| {
            if is_wanted {
                seams::peek(&configured.settings.state_of(site), look);
            }
        })
    }

    /// Opens the state of the site once the engine knows which it is. A site that the settings do not
    /// fit, and an output that cannot be written or is held by another run, are found out here, before more than the
    /// start page is fetched.
    pub(super) fn open_store(
        &self,
        opening: Arc<Mutex<Opening>>,
        fetch: Arc<HttpFetch>,
        damage: Option<String>,
    ) -> OpenStore {
        let configured = Arc::clone(self.site);
        let teller = self.crawler.output.clone();
        let places = self.crawler.places.clone();
        let (now, faults) = (self.crawler.clock.now(), self.crawler.faults.clone());
        Box::new(move |site| {
            faults.pass("panic-in-opening");
            let mut opening = opening.lock().unwrap_or_else(PoisonError::into_inner);
            let settings = &configured.settings;
            let path = settings.state_of(site);
            opening.state = Some(path.clone());
            if !settings.dry_run
                && let Err(error) = names::remember(&settings.state, &configured.start, site)
            {
                teller.warn(&format!(
                    "{}: other commands may not know that {} means it: {error}",
                    site.url(),
                    configured.start
                ));
            }
            let output = settings.output_of(&site.written().name());
            let publish = &settings.config.publish;
            let fits = check_site(settings, site)
                .and_then(|()| Ok(places.take(&configured, site, [&path, &output])?))
                .and_then(|()| {
                    if !settings.dry_run {
                        let state = Some(settings.state.as_path());
                        opening.hold = Some(OutputHold::take(&output, state, publish)?);
                    }
                    Ok(())
                });
            if let Err(error) = fits {
                return Err(opening.refuse(error));
            }
            let place = (site, output.as_path());
            let mut opened = if settings.fresh && damage.is_none() {
                seams::fresh_state(&path, now, place)
            } else {
                seams::sound_state(&path, now, damage.as_deref(), place)
            }?;
            opened.tell(site, &teller);
            opening.aside = opened.damaged.map(|damaged| damaged.aside);
            if let Some(network) = fetch.network() {
                runs::note_network(&mut *opened.store, network)?;
            }
            let force = publish.force || settings.dry_run;
            let checked = check_names_of(settings, site, Some(&*opened.store))
                .and_then(|()| check_disk(&*opened.store, site, &output, force));
            match checked {
                Ok(notices) => {
                    for notice in notices {
                        teller.warn(&format!("{}: {notice}", site.url()));
                    }
                    Ok(opened.store)
                }
                Err(error) => Err(opening.refuse(error.into())),
            }
        })
    }

    /// Where the set of the site will be served, for the engine.
    pub(super) fn public_url(&self) -> PublicUrl {
        let configured = Arc::clone(self.site);
        // A setting that does not fit the site is told of where its state is opened.
        Box::new(move |site| configured.settings.public_url_of(site).ok().flatten())
    }
}

/// What came of opening the state of a site besides the state.
#[derive(Debug, Default)]
pub(super) struct Opening {
    /// Why the run does not go on, when that is no failure of the state.
    pub(super) misfit: Option<anyhow::Error>,
    /// Where a damaged state is now.
    pub(super) aside: Option<PathBuf>,
    /// Where the state is.
    pub(super) state: Option<PathBuf>,
    pub(super) hold: Option<OutputHold>,
}

impl Opening {
    /// Keeps `error`, and stands for it where a state was to be opened.
    fn refuse(&mut self, error: anyhow::Error) -> StoreError {
        self.misfit = Some(error);
        StoreError::new(
            StoreErrorKind::Open,
            "the settings do not fit the site, or its output",
        )
    }
}
