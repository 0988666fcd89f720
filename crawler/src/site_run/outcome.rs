//! The word for the end of a session, and the reason why nothing was published.

use tokio::task::JoinError;

use super::{CrawlFacts, Ended};
use crate::{
    crawl::{CrawlError, Ending},
    outcome::SessionOutcome,
    publish::PublishError,
    report::Report,
    scope::ScopeError,
    store::StoreError,
};

impl Ended {
    /// The outcome by what is published.
    pub(super) fn find_outcome(&self, dry_run: bool) -> SessionOutcome {
        match &self.published {
            Ok(published) => {
                let has_drained = |crawl: &CrawlFacts| crawl.ending == Ending::Drained;
                let is_whole = self.crawl.as_ref().is_none_or(has_drained);
                let report = self.report.as_ref().filter(|_| is_whole);
                if dry_run {
                    SessionOutcome::DryRun
                } else if report.is_none_or(Report::is_partial) {
                    SessionOutcome::Partial
                } else if published.has_changed() {
                    SessionOutcome::Published
                } else {
                    SessionOutcome::Unchanged
                }
            }
            Err(error) => error.outcome(),
        }
    }
}

/// Why a session published nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The site could not be crawled, or the crawl was stopped.
    #[error(transparent)]
    Crawl(#[from] CrawlError),
    /// The set could not be published.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// The state cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The settings contradict the site.
    #[error("{0}")]
    Settings(String),
    /// Too many pauses after failures in a row.
    #[error(
        "the site went down during the crawl, so nothing is published; start the same command later to go on"
    )]
    SiteDown,
    /// A task ended by a panic: a bug of arpent.
    #[error("ended by an internal error while {work}")]
    Internal {
        /// The work of the task.
        work: &'static str,
        /// The end of the task, with the words of the panic.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl SessionError {
    /// A task was `work` when it ended without a result.
    pub(super) fn of_task(work: &'static str, error: JoinError) -> Self {
        let source = error.into();
        Self::Internal { work, source }
    }

    /// The error of the state, if it comes from there.
    pub fn of_store(&self) -> Option<&StoreError> {
        match self {
            Self::Store(error)
            | Self::Crawl(CrawlError::Store(error))
            | Self::Publish(PublishError::Store(error)) => Some(error),
            Self::Crawl(_)
            | Self::Publish(_)
            | Self::Settings(_)
            | Self::SiteDown
            | Self::Internal { .. } => None,
        }
    }

    /// Returns whether the guard refused the set.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Publish(PublishError::Refused(_)))
    }

    /// The word for a session that ended by this error.
    pub fn outcome(&self) -> SessionOutcome {
        match self {
            Self::Crawl(error) => error.outcome(),
            Self::Publish(error) => error.outcome(),
            Self::Store(error) => error.outcome(),
            Self::Settings(_) => SessionOutcome::Settings,
            Self::SiteDown => SessionOutcome::Refused,
            Self::Internal { .. } => SessionOutcome::Internal,
        }
    }
}

impl From<ScopeError> for SessionError {
    fn from(error: ScopeError) -> Self {
        Self::Settings(error.to_string())
    }
}
