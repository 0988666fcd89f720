//! The outcome of a session, in one word, and the reason why nothing was published.

use tokio::task::JoinError;

use super::{CrawlFacts, Ended};
use crate::{
    client::StartError,
    crawl::{CrawlError, Ending},
    publish::{PublishError, Published},
    report::Report,
    scope::ScopeError,
    store::{StoreError, StoreErrorKind},
};

/// How a session ended. The words are stable: scripts compare them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SessionOutcome {
    /// A new set is published.
    Published,
    /// Nothing changed: every file is as it was.
    Unchanged,
    /// A set is published (new or unchanged), but some URLs failed or were not reached.
    Partial,
    /// Nothing was written because of a dry run.
    DryRun,
    /// Nothing was published, the old set stays.
    Refused,
    /// The site could not be crawled.
    Unreachable,
    /// Another session uses the state or the output.
    Busy,
    /// Settings that contradict this site.
    Settings,
    /// A signal stopped the session; nothing was published, progress is stored.
    Interrupted,
    /// A bug of arpent.
    #[default]
    Internal,
}

impl SessionOutcome {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Published,
        Self::Unchanged,
        Self::Partial,
        Self::DryRun,
        Self::Refused,
        Self::Unreachable,
        Self::Busy,
        Self::Settings,
        Self::Interrupted,
        Self::Internal,
    ];

    /// Its word, as in the summary.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Unchanged => "unchanged",
            Self::Partial => "partial",
            Self::DryRun => "dry-run",
            Self::Refused => "refused",
            Self::Unreachable => "unreachable",
            Self::Busy => "busy",
            Self::Settings => "settings",
            Self::Interrupted => "interrupted",
            Self::Internal => "internal",
        }
    }

    /// The exit code of a program whose only session ended so; after SIGTERM it is 143 instead of 130.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Published | Self::Unchanged | Self::DryRun => 0,
            Self::Settings => 2,
            Self::Partial => 3,
            Self::Refused => 4,
            Self::Unreachable => 5,
            Self::Busy => 6,
            Self::Internal => 70,
            Self::Interrupted => 130,
        }
    }

    /// Returns whether a set is published that is as it should be.
    pub fn is_good(self) -> bool {
        matches!(self, Self::Published | Self::Unchanged | Self::Partial)
    }

    /// How the session ended that came to `ended`.
    pub(super) fn of(ended: &Ended, dry_run: bool) -> Self {
        match &ended.published {
            Ok(published) => {
                let has_drained = |crawl: &CrawlFacts| crawl.ending == Ending::Drained;
                let is_whole = ended.crawl.as_ref().is_none_or(has_drained);
                let report = ended.report.as_ref().filter(|_| is_whole);
                Self::of_set(published, report, dry_run)
            }
            Err(error) => error.outcome(),
        }
    }

    /// How a publish ended that came to `published`; `report` counts what is known after it.
    fn of_set(published: &Published, report: Option<&Report>, dry_run: bool) -> Self {
        if dry_run {
            Self::DryRun
        } else if report.is_none_or(Report::is_partial) {
            Self::Partial
        } else if published.has_changed() {
            Self::Published
        } else {
            Self::Unchanged
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

    /// The message of the state, if the error comes from there.
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
            Self::Crawl(error) => error.into(),
            Self::Publish(error) => error.into(),
            Self::Store(error) => error.into(),
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

impl From<&StoreError> for SessionOutcome {
    fn from(error: &StoreError) -> Self {
        match error.kind() {
            StoreErrorKind::Busy => Self::Busy,
            // Another folder or another version of arpent: the user's to choose.
            StoreErrorKind::Open | StoreErrorKind::Version => Self::Settings,
            StoreErrorKind::Corrupt | StoreErrorKind::Io => Self::Refused,
        }
    }
}

impl From<&StartError> for SessionOutcome {
    fn from(error: &StartError) -> Self {
        match error {
            StartError::Page(_) | StartError::Robots(_) => Self::Unreachable,
            StartError::Settings(_) => Self::Settings,
            StartError::Stopped => Self::Interrupted,
        }
    }
}

impl From<&CrawlError> for SessionOutcome {
    fn from(error: &CrawlError) -> Self {
        match error {
            CrawlError::Start(error) => error.into(),
            CrawlError::Settings(_) | CrawlError::Opening(_) => Self::Settings,
            // As with a state that cannot be read: no request was sent, the old set stays published.
            CrawlError::RetryAfter(_) => Self::Refused,
            CrawlError::Store(error) => error.into(),
            CrawlError::Stopped => Self::Interrupted,
            CrawlError::Internal { .. } => Self::Internal,
        }
    }
}

impl From<&PublishError> for SessionOutcome {
    fn from(error: &PublishError) -> Self {
        match error {
            PublishError::Storage(error) if error.is_conflict() => Self::Busy,
            PublishError::Storage(error) if error.is_of_settings() => Self::Settings,
            PublishError::Busy { .. } => Self::Busy,
            PublishError::Settings(_) => Self::Settings,
            PublishError::Storage(error) if error.is_closed() => Self::Interrupted,
            PublishError::Stopped => Self::Interrupted,
            PublishError::Store(error) => error.into(),
            PublishError::Check { .. } => Self::Internal,
            _ => Self::Refused,
        }
    }
}
