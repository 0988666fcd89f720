//! The sessions that are under way: each site's work as a task of its own, with its place on the board. A panic in one
//! ends that session.

use std::{collections::HashMap, future::Future, sync::Arc};

use tokio::task::{Id, JoinSet};
use tracing::Instrument as _;

use super::{
    board::{Board, SessionWatch},
    crawler::SiteResult,
    messages::Messenger,
    settings::SiteSettings,
};
use crate::failure::Panicked;

/// The sessions that are under way. When it is dropped they end where they are.
pub(super) struct Sessions {
    tasks: JoinSet<SiteResult>,
    sites: HashMap<Id, Arc<SiteSettings>>,
    board: Arc<dyn Board>,
    output: Messenger,
}

impl Sessions {
    /// None yet; what they do is shown on `board`.
    pub(super) fn new(board: &Arc<dyn Board>, output: &Messenger) -> Self {
        Self {
            tasks: JoinSet::new(),
            sites: HashMap::new(),
            board: Arc::clone(board),
            output: output.clone(),
        }
    }

    /// Starts the session of `site`: the work that `begin` makes. Its progress is on the watch.
    pub(super) fn start<W>(
        &mut self,
        site: Arc<SiteSettings>,
        begin: impl FnOnce(SessionWatch) -> W,
    ) where
        W: Future<Output = SiteResult> + Send + 'static,
    {
        let watch = self.board.begin(&site);
        let span = self.output.span_of_site(&site.name);
        let task = self.tasks.spawn(begin(watch).instrument(span));
        self.sites.insert(task.id(), site);
    }

    /// The next run that has ended; `None` when none is under way. Cancel safe: an end that was not taken stays.
    pub(super) async fn next(&mut self) -> Option<(Arc<SiteSettings>, SiteResult)> {
        loop {
            let (id, run) = match self.tasks.join_next_with_id().await? {
                Ok((id, run)) => (id, Ok(run)),
                Err(error) => (error.id(), Err(Panicked::from_join(error))),
            };
            let Some(site) = self.sites.remove(&id) else {
                continue;
            };
            self.board.end(&site.name);
            let output = self.output.of_site(&site.name);
            let mut run = run.unwrap_or_else(|panicked| {
                output.error(&format!("{}: {panicked}", site.start));
                SiteResult::panicked(&site)
            });
            if let Some(error) = run.error.take() {
                output.failure(&error);
            }
            return Some((site, run));
        }
    }

    /// The sites of the sessions.
    pub(super) fn sites(&self) -> impl Iterator<Item = &SiteSettings> {
        self.sites.values().map(Arc::as_ref)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.sites.len()
    }
}
