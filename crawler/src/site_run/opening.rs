//! The steps of a session once the site is known: its output is locked, its state is opened, and a set that
//! the state did not publish is imported. Settings that contradict the site are detected here, before more than the start page is
//! fetched.

use jiff::Timestamp;
use tokio::sync::oneshot;

use super::{Places, Session, SessionError, StoredRequest, file_time, session_row};
use crate::{
    config::PublishConfig,
    crawl::OpenStore,
    crawl_state,
    publish::{
        Imported, OutputLock, check_disk, check_names, import_set, needs_import, settle_pending,
    },
    site::Site,
    store::{Damaged, Store},
    verdict::Mode,
};

/// How the state of a site was opened.
#[derive(Debug, Default, Clone)]
pub struct Opened {
    /// The damaged state that is set aside.
    pub damaged: Option<Damaged>,
    /// The result of reading back the published set.
    pub imported: Option<Imported>,
    /// The state has the robots.txt of the site.
    pub knows_robots: bool,
    /// Notes for the user on the disks.
    pub warnings: Vec<String>,
}

/// The result of opening the state of a site besides the state.
#[derive(Debug)]
pub(super) struct Opening {
    pub(super) places: Places,
    pub(super) opened: Opened,
    /// `None`: a dry run writes no output.
    pub(super) lock: Option<OutputLock>,
    pub(super) began: Timestamp,
}

/// Opens the state of the site once the engine knows which it is, and sends `opening` what came of it. `damage` was found in
/// the state before.
pub(super) fn opener(
    session: &Session,
    opening: oneshot::Sender<Result<Opening, SessionError>>,
    damage: Option<String>,
) -> OpenStore {
    let session = session.clone();
    let began = session.clock.now();
    Box::new(move |site| {
        let (opened, store) = match open(&session, site, began, damage.as_deref()) {
            Ok((store, opened)) => {
                let public_url = opened.places.public_url.clone();
                (Ok(opened), Some((store, public_url)))
            }
            Err(error) => (Err(error), None),
        };
        // Nobody receives it when the session was aborted meanwhile.
        let _ = opening.send(opened);
        store
    })
}

fn open(
    session: &Session,
    site: &Site,
    began: Timestamp,
    damage: Option<&str>,
) -> Result<(Store, Opening), SessionError> {
    let places = (session.places)(site)?;
    let config = places.config(&session.config);
    let lock = if session.dry_run {
        None
    } else {
        Some(places.lock_output(&config)?)
    };
    let request = StoredRequest {
        site,
        config: &config,
        state: places.state.as_deref(),
        dry_run: session.dry_run,
        clock: &session.clock,
        is_stopped: &|| false,
        send_fence: session.send_fence.as_deref(),
    };
    let (mut store, mut opened) = request.open(damage)?;
    if let Some(network) = session.fetch.network() {
        crawl_state::note_network(&mut store, network)?;
    }
    opened.warnings = check(&store, site, &config.publish, session.dry_run)?;
    session_row::begin(&mut store, began)?;
    let opening = Opening {
        places,
        opened,
        lock,
        began,
    };
    Ok((store, opening))
}

impl StoredRequest<'_> {
    /// Opens the state of the site, or begins one. A damaged state is set aside; `damage` is the damage that was found in it before.
    /// A publish that did not come to its end is settled, and a set that this state did not publish is imported.
    ///
    /// # Errors
    /// See [`crate::store::StoreError`]; a setting contradicts the site.
    pub fn open(&self, damage: Option<&str>) -> Result<(Store, Opened), SessionError> {
        let Self { site, config, .. } = *self;
        let now = self.clock.now();
        let mut opened = Opened::default();
        let mut store = match self.state {
            Some(state) if !self.dry_run => {
                let sound = Store::open_sound(state, &file_time(now), damage)?;
                opened.damaged = sound.damaged;
                sound.store
            }
            Some(state) if state.exists() => Store::rehearse(state)?,
            Some(_) | None => Store::in_memory()?,
        };
        let known = crawl_state::rules_at_rest(&store)?;
        let judge = known.judge(config, site, self.clock)?;
        opened.knows_robots = known.robots.is_some();
        self.fetch_set()?;
        let pending = self.publish_request(&judge, known.robots.as_ref(), Mode::AtRest, false);
        settle_pending(&mut store, &pending)?;
        let output = &config.publish.output;
        if needs_import(&store, site, output)? {
            opened.imported = Some(import_set(&mut store, site, output, now)?);
        }
        Ok((store, opened))
    }
}

/// Returns whether nothing of others is in the way of the set, and its disk is there; what the user should know of that.
fn check(
    store: &Store,
    site: &Site,
    config: &PublishConfig,
    dry_run: bool,
) -> Result<Vec<String>, SessionError> {
    let force = config.force || dry_run;
    check_names(Some(store), site, config)?;
    Ok(check_disk(store, site, &config.output, force)?)
}
