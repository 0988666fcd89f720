//! The progress of sessions, for whoever shows it.

use tokio::sync::watch;

use super::settings::SiteSettings;
use crate::{
    site_run::{Progress, SessionOutcome},
    summary::Summary,
};

/// Stage of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SessionStage {
    /// Crawling, or finding out which site it is.
    #[default]
    Crawling,
    /// Writing its set.
    Publishing,
}

/// Channels on which a session reports its progress.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "boards make it")]
pub struct SessionWatch {
    /// The newest progress of the crawl.
    pub progress: watch::Sender<Progress>,
    /// The stage.
    pub stage: watch::Sender<SessionStage>,
}

/// Shows the sessions that are under way.
pub trait Board: Send + Sync {
    /// The session of `site` begins.
    fn begin(&self, site: &SiteSettings) -> SessionWatch;

    /// The session of the site `name` has ended: the last of its news is reported.
    fn end(&self, name: &str);

    /// Reports what is new of the sessions.
    fn print_news(&self);
}

/// Counts sessions, for metrics.
pub trait Observer: Send + Sync {
    /// A session of the site `name` begins, whose progress is in `newest`. It has ended when the result is dropped: by a bug, unless
    /// [`ObservedSession::end`] was called.
    fn begin(&self, name: &str, newest: watch::Receiver<Progress>) -> Box<dyn ObservedSession>;

    /// Takes the end of work on a site: what is served of its set, and what Google has read of it.
    fn take_summary(&self, name: &str, summary: &Summary);

    /// The lease on a host ended before the host was given back.
    fn lease_lost(&self);

    /// The storage of the states of a fleet can be worked with, or not.
    fn set_storage(&self, is_ready: bool);
}

/// A session that is counted.
pub trait ObservedSession: Send {
    /// The session has ended.
    fn end(self: Box<Self>, outcome: SessionOutcome);
}
