//! What a session does once it is known which site it crawls: its output is held, its state is opened, and what another
//! state or nobody published is imported. A site that the settings do not fit is found out here, before more than its start
//! page is fetched.

use std::sync::{Arc, Mutex, PoisonError};

use super::{Places, Session, SessionError, file_time};
use crate::{
    clock::Clock,
    config::{Config, PublishConfig},
    engine::{OpenStore, judge_at_rest},
    publish::{
        Imported, OutputHold, PublishRequest, check_disk, check_names, import_set, needs_import,
        settle_pending,
    },
    runs,
    site::Site,
    store::{Damaged, Store, StoreError, StoreErrorKind},
    verdict::Mode,
};

/// How the state of a site was opened.
#[derive(Debug, Default, Clone)]
pub struct Opened {
    /// The damaged state that is set aside.
    pub damaged: Option<Damaged>,
    /// What was read back from the published set.
    pub imported: Option<Imported>,
    /// What the user should know of the disks.
    pub warnings: Vec<String>,
}

/// What came of opening the state of a site besides the state.
#[derive(Debug, Default)]
pub(super) struct Opening {
    /// Why the session does not go on, when that is no failure of the state.
    pub(super) misfit: Option<SessionError>,
    pub(super) places: Option<Places>,
    pub(super) opened: Option<Opened>,
    pub(super) hold: Option<OutputHold>,
}

/// Opens the state of the site once the engine knows which it is. `damage` was found in it before.
pub(super) fn opener(
    session: &Session,
    opening: Arc<Mutex<Opening>>,
    damage: Option<String>,
) -> OpenStore {
    let session = session.clone();
    Box::new(move |site| {
        let mut opening = opening.lock().unwrap_or_else(PoisonError::into_inner);
        open(&session, site, damage.as_deref(), &mut opening).map_err(|error| match error {
            SessionError::Store(error) => error,
            misfit => {
                opening.misfit = Some(misfit);
                StoreError::new(
                    StoreErrorKind::Open,
                    "the settings do not fit the site, or its output",
                )
            }
        })
    })
}

fn open(
    session: &Session,
    site: &Site,
    damage: Option<&str>,
    opening: &mut Opening,
) -> Result<Store, SessionError> {
    let places = (session.places)(site)?;
    opening.places = Some(places.clone());
    let mut config = session.config.publish.clone();
    config.output.clone_from(&places.output);
    if !session.dry_run {
        let hold = OutputHold::take(&places.output, Some(&places.locks), &config);
        opening.hold = Some(hold.map_err(SessionError::Publish)?);
    }
    let config_of_site = Config {
        publish: config.clone(),
        ..session.config.clone()
    };
    let request = OpenRequest {
        site,
        places: &places,
        config: &config_of_site,
        clock: &session.clock,
        dry_run: session.dry_run,
    };
    let (mut store, mut opened) = open_state(&request, damage)?;
    if let Some(network) = session.fetch.network() {
        runs::note_network(&mut store, network)?;
    }
    opened.warnings = check(&store, site, &config, session.dry_run)?;
    opening.opened = Some(opened);
    Ok(store)
}

/// The state that is to be opened.
#[derive(Clone, Copy)]
pub struct OpenRequest<'a> {
    /// Of which site.
    pub site: &'a Site,
    /// Where the files of the site are.
    pub places: &'a Places,
    /// The settings, with the output of the site.
    pub config: &'a Config,
    /// Wall time.
    pub clock: &'a Arc<dyn Clock>,
    /// Open a copy that forgets what is written to it.
    pub dry_run: bool,
}

impl std::fmt::Debug for OpenRequest<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenRequest")
            .field("site", &self.site)
            .field("dry_run", &self.dry_run)
            .finish_non_exhaustive()
    }
}

/// Opens the state of a site, or begins one. A damaged state is set aside; `damage` says what was found in it before. A publish
/// that did not come to its end is settled, and a set that this state did not publish is imported.
///
/// # Errors
/// See [`StoreError`]; a setting does not fit the site.
pub fn open_state(
    request: &OpenRequest<'_>,
    damage: Option<&str>,
) -> Result<(Store, Opened), SessionError> {
    let OpenRequest {
        site,
        places,
        config,
        clock,
        dry_run,
    } = *request;
    let now = clock.now();
    let mut opened = Opened::default();
    let mut store = if !dry_run {
        let sound = Store::open_sound(&places.state, &file_time(now), damage)?;
        opened.damaged = sound.damaged;
        sound.store
    } else if places.state.exists() {
        Store::rehearse(&places.state)?
    } else {
        Store::in_memory()?
    };
    let (judge, robots) =
        judge_at_rest(config, site, &store, clock).map_err(SessionError::Crawl)?;
    let pending = PublishRequest {
        site,
        judge: &judge,
        mode: Mode::AtRest,
        is_drained: false,
        config: &config.publish,
        robots: robots.as_ref().filter(|_| !config.ignore.robots),
        dry_run,
        now,
        is_stopped: &|| false,
    };
    settle_pending(&mut store, &pending).map_err(SessionError::Publish)?;
    if needs_import(&store, site, &places.output)? {
        opened.imported = Some(import_set(&mut store, site, &places.output, now)?);
    }
    Ok((store, opened))
}

/// Whether nothing of others is in the way of the set, and its disk is there; what the user should know of that.
fn check(
    store: &Store,
    site: &Site,
    config: &PublishConfig,
    dry_run: bool,
) -> Result<Vec<String>, SessionError> {
    let force = config.force || dry_run;
    check_names(Some(store), site, config)
        .and_then(|()| check_disk(store, site, &config.output, force))
        .map_err(SessionError::Publish)
}
