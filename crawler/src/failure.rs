//! How work ends early: the error with its causes, its outcome, and the option of the command line that helps.

mod panicked;

use std::{error::Error, fmt, io};

use crate::{
    audit::AuditError,
    build::BuildError,
    client::{ConnectError, DownloadError, StartError},
    fetch::FetchError,
    outcome::{ExitCode, SessionOutcome},
    parse::ParseConfigError,
    publish::PublishError,
    retry_after::RetryAfterError,
    seeds::SeedListError,
    site_run::{CrawlError, SessionError},
    sitemap_set::SetError,
    storage::StorageError,
    store::{StoreError, StoreErrorKind, with_causes},
    url_key::UrlKeyError,
    why::WhyError,
};

pub use self::panicked::{Panicked, blocking, caught, words_of};

/// Result of work that can end a command.
pub type Result<T> = std::result::Result<T, Failure>;

/// Why a command, or the work on a site, ended early.
pub struct Failure(Box<Inner>);

struct Inner {
    /// What was tried, the outermost last.
    contexts: Vec<String>,
    error: Box<dyn Error + Send + Sync>,
    outcome: SessionOutcome,
    cause: Cause,
    /// The option that helps.
    option: Option<&'static str>,
    /// Messages in place of that of the error.
    problems: Vec<String>,
}

/// A cause for which a caller does more than report it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// No such cause.
    Other,
    /// The command line is invalid, or names something that is not there.
    Misuse,
    /// An input was read, and nothing can be made of it.
    Input,
    /// Another session has the state.
    StateInUse,
    /// The state is damaged.
    StateDamaged,
    /// Object storage failed.
    Storage,
}

impl Failure {
    /// An error that ended what it ended with `outcome`.
    pub fn new(outcome: SessionOutcome, error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(Box::new(Inner {
            contexts: Vec::new(),
            error: error.into(),
            outcome,
            cause: Cause::Other,
            option: None,
            problems: Vec::new(),
        }))
    }

    /// The same, with a cause that callers look for.
    #[must_use]
    pub fn because(mut self, cause: Cause) -> Self {
        self.0.cause = cause;
        self
    }

    /// The same, with `problems` in place of its message, each on a line of its own.
    #[must_use]
    pub fn naming(mut self, problems: Vec<String>) -> Self {
        self.0.problems = problems;
        self
    }

    /// The same, with `context` in front of the message.
    #[must_use]
    pub fn context(mut self, context: String) -> Self {
        self.0.contexts.push(context);
        self
    }

    /// How the work ended.
    pub fn outcome(&self) -> SessionOutcome {
        self.0.outcome
    }

    /// The exit code of a process that it ends.
    pub fn code(&self) -> ExitCode {
        if self.0.cause == Cause::Input {
            // Like a setting, it is the user's to mend.
            ExitCode::Usage
        } else {
            self.0.outcome.into()
        }
    }

    /// What a caller may have to do about it.
    pub fn cause(&self) -> Cause {
        self.0.cause
    }

    /// The error on one line: it, its causes, and the option that helps.
    pub fn in_full(&self) -> String {
        match self.0.option {
            Some(option) => format!("{self:#}; {option}"),
            None => format!("{self:#}"),
        }
    }

    /// The messages for the user: the error on one line, problems of the settings on a line each.
    pub fn messages(&self) -> Vec<String> {
        if self.0.problems.is_empty() {
            vec![self.in_full()]
        } else {
            self.0.problems.clone()
        }
    }
}

/// Puts what was tried in front of an error.
pub trait Context<T> {
    /// The value, or a failure with `context` in front of its message.
    ///
    /// # Errors
    /// There is no value.
    fn context(self, context: impl Into<String>) -> Result<T>;
}

impl<T> Context<T> for Option<T> {
    fn context(self, context: impl Into<String>) -> Result<T> {
        let missing = || Failure::new(SessionOutcome::Internal, context.into());
        self.ok_or_else(missing)
    }
}

impl<T, E: Into<Failure>> Context<T> for std::result::Result<T, E> {
    fn context(self, context: impl Into<String>) -> Result<T> {
        self.map_err(|error| error.into().context(context.into()))
    }
}

/// What was tried, and the error; with `#` also its causes.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for context in self.0.contexts.iter().rev() {
            write!(f, "{context}: ")?;
        }
        if f.alternate() {
            write!(f, "{}", with_causes(&*self.0.error))
        } else {
            write!(f, "{}", self.0.error)
        }
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}

/// Errors that have a method `outcome`, with their cause for callers.
macro_rules! know_their_outcome {
    ($($error:ty, $cause:expr;)*) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                let cause = $cause(&error);
                Self::new(error.outcome(), error).because(cause)
            }
        })*
    };
}

know_their_outcome! {
    AuditError, other;
    BuildError, |error: &BuildError| match error {
        BuildError::Format { .. } | BuildError::TooMuch { .. } => Cause::Input,
        _ => Cause::Other,
    };
    ConnectError, other;
    CrawlError, |error: &CrawlError| match error {
        CrawlError::Store(error) => of_store(error),
        _ => Cause::Other,
    };
    DownloadError, other;
    RetryAfterError, other;
    SeedListError, other;
    SetError, other;
    StartError, other;
    StorageError, |_: &StorageError| Cause::Storage;
    StoreError, of_store;
    WhyError, other;
}

fn other<E>(_: &E) -> Cause {
    Cause::Other
}

/// Errors that always end what they end in one way.
macro_rules! have_an_outcome {
    ($($error:ty = $outcome:ident,)*) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::new(SessionOutcome::$outcome, error)
            }
        })*
    };
}

have_an_outcome! {
    // Of a client that cannot be made from its settings.
    FetchError = Settings,
    ParseConfigError = Settings,
    UrlKeyError = Settings,
    // What nobody expects to fail.
    io::Error = Internal,
    serde_json::Error = Internal,
}

impl From<Misuse> for Failure {
    fn from(error: Misuse) -> Self {
        Self::new(SessionOutcome::Settings, error).because(Cause::Misuse)
    }
}

impl From<PublishError> for Failure {
    fn from(error: PublishError) -> Self {
        let cause = match &error {
            PublishError::Store(error) => of_store(error),
            PublishError::Storage(_) => Cause::Storage,
            _ => Cause::Other,
        };
        let option = option_for(&error);
        let mut failure = Self::new(error.outcome(), error).because(cause);
        failure.0.option = option;
        failure
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Crawl(error) => error.into(),
            SessionError::Publish(error) => error.into(),
            SessionError::Store(error) => error.into(),
            SessionError::Settings(message) => Misuse(message).into(),
            error => Self::new(error.outcome(), error),
        }
    }
}

fn of_store(error: &StoreError) -> Cause {
    match error.kind() {
        StoreErrorKind::Busy => Cause::StateInUse,
        StoreErrorKind::Corrupt => Cause::StateDamaged,
        StoreErrorKind::Open | StoreErrorKind::Version | StoreErrorKind::Io => Cause::Other,
    }
}

fn option_for(error: &PublishError) -> Option<&'static str> {
    match error {
        PublishError::Refused(_) => Some("--force publishes the set in spite of the guard"),
        PublishError::Outdated { .. } => Some("--force publishes the set of this state"),
        PublishError::Foreign(_) => Some("--force replaces the file and keeps a backup"),
        PublishError::Unmounted { .. } => Some("--force publishes to this folder"),
        PublishError::Check { .. } => Some("--exclude leaves out a URL that is named here"),
        // Messages of the others have the expected form, or no option helps.
        _ => None,
    }
}

/// The command line is invalid, or names an unreadable file.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
#[expect(clippy::exhaustive_structs, reason = "it is a message")]
pub struct Misuse(pub String);

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::{fetch::FetchErrorKind, notes::Note};

    #[test]
    fn every_error_has_its_code() {
        fn check(error: impl Into<Failure>, expected: u8) {
            let error: Failure = error.into();
            assert_eq!(error.code() as u8, expected, "{error:#}");
            let error = error.context("while testing".to_owned());
            assert_eq!(error.code() as u8, expected);
        }
        let store = |kind| StoreError::new(kind, "x");
        let io = || io::Error::other("x");
        let message = || "x".to_owned();
        check(FetchError::new(FetchErrorKind::Tls, "x"), 2);
        check(StartError::Page(Note::tls_failed(&"x")), 5);
        check(
            CrawlError::from(StartError::Robots(Note::robots_unreadable(&"x", &"y"))),
            5,
        );
        check(CrawlError::Settings(message()), 2);
        check(CrawlError::Stopped, 130);
        check(CrawlError::Store(store(StoreErrorKind::Busy)), 6);
        check(CrawlError::Store(store(StoreErrorKind::Open)), 2);
        check(CrawlError::Store(store(StoreErrorKind::Version)), 2);
        check(CrawlError::Store(store(StoreErrorKind::Corrupt)), 4);
        check(CrawlError::Store(store(StoreErrorKind::Io)), 4);
        check(SessionError::SiteDown, 4);
        let (name, source) = (message(), io());
        check(BuildError::Open { name, source }, 2);
        check(
            BuildError::Broken {
                name: message(),
                line: 1,
                source: io(),
            },
            4,
        );
        check(
            BuildError::Format {
                name: message(),
                line: 1,
                problem: message(),
            },
            2,
        );
        check(BuildError::Stopped, 130);
        check(BuildError::Store(store(StoreErrorKind::Io)), 4);
        let (set, reason) = (message(), message());
        check(SetError::Unreadable { set, reason }, 5);
        check(SetError::Store(store(StoreErrorKind::Io)), 4);
        check(SetError::Stopped, 130);
        let refused = ConnectError::from(FetchError::new(FetchErrorKind::Tls, "x"));
        check(SetError::from(refused), 2);
        check(PublishError::Empty, 4);
        check(PublishError::Foreign(PathBuf::from("x")), 4);
        check(PublishError::NotAFolder(PathBuf::from("x")), 4);
        check(
            PublishError::Io {
                action: "write",
                path: PathBuf::from("x"),
                source: io(),
            },
            4,
        );
        check(PublishError::Stopped, 130);
        let (name, problem) = (message(), message());
        check(PublishError::Check { name, problem }, 70);
        check(PublishError::Settings(message()), 2);
        check(PublishError::Store(store(StoreErrorKind::Busy)), 6);
        let (output, holder) = (PathBuf::from("x"), message());
        check(PublishError::Busy { output, holder }, 6);
        let (output, mount) = (PathBuf::from("x"), PathBuf::from("y"));
        check(PublishError::Unmounted { output, mount }, 4);
        check(
            PublishError::NoRoom {
                output: PathBuf::from("x"),
                written: 2,
                free: 1,
                path: PathBuf::from("y"),
                reason: message(),
            },
            4,
        );
        check(Panicked::new("x"), 70);
        check(UrlKeyError::Scheme, 2);
    }

    #[test]
    fn bugs_and_unreadable_files_have_their_codes() {
        let io = || io::Error::other("x");
        let unreadable = || RetryAfterError::Read {
            path: PathBuf::from("x"),
            source: io(),
        };
        let no_downloader = || ConnectError::from(unreadable());
        // Of a crawl, of a check, of `arpent notify`.
        let errors: [Failure; 3] = [
            CrawlError::RetryAfter(unreadable()).into(),
            no_downloader().into(),
            DownloadError::Settings(no_downloader()).into(),
        ];
        for error in &errors {
            assert_eq!(error.code(), ExitCode::Refused, "{error:#}");
        }
        let internal = CrawlError::Internal {
            work: "testing",
            source: Box::new(io()),
        };
        assert_eq!(Failure::from(internal).code(), ExitCode::Internal);
    }

    #[test]
    fn the_option_that_helps_follows_any_error() {
        let foreign = || Failure::from(PublishError::Foreign(PathBuf::from("out/sitemap.xml")));
        let error = foreign().context("https://h.example/".to_owned());
        let expected = "https://h.example/: out/sitemap.xml is not";
        assert!(error.in_full().starts_with(expected), "{error:#}");
        assert_eq!(
            foreign().in_full(),
            "out/sitemap.xml is not a file that arpent published for this site, and is not overwritten; choose another folder \
             with --output; --force replaces the file and keeps a backup"
        );
        assert_eq!(
            Failure::from(PublishError::Empty).in_full(),
            "nothing to list: no known URL may be in a sitemap; the reasons are in the summary"
        );
    }
}
