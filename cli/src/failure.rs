//! How a command ends early: the error with its causes, and what the program makes of it. Each error of the library knows its
//! outcome; here are those of the program, and the options that help, since the library does not know how its settings are
//! spelled on a command line.

use std::{fmt, io, path::PathBuf};

#[cfg(feature = "catalogue")]
use crawler::catalogue::CatalogueError;
use crawler::{
    audit::AuditError,
    build::BuildError,
    client::{ConnectError, DownloadError, StartError},
    fetch::FetchError,
    parse::ParseConfigError,
    publish::PublishError,
    retry_after::RetryAfterError,
    seeds::SeedListError,
    site_run::{CrawlError, SessionError, SessionOutcome},
    sitemap_set::SetError,
    storage::StorageError,
    store::{StoreError, StoreErrorKind},
    url_key::UrlKeyError,
    why::WhyError,
};

use crate::{exit_code::ExitCode, human, settings::SettingsError};

/// Result of work that can end a command.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// Why a command, or the work on a site, ended early.
pub(crate) struct Failure(Box<Inner>);

struct Inner {
    error: anyhow::Error,
    outcome: SessionOutcome,
    cause: Cause,
    /// The option that helps.
    option: Option<&'static str>,
    /// Messages in place of that of the error.
    problems: Vec<String>,
}

/// A cause for which a caller does more than report it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
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
    pub(crate) fn new(outcome: SessionOutcome, error: impl Into<anyhow::Error>) -> Self {
        Self(Box::new(Inner {
            error: error.into(),
            outcome,
            cause: Cause::Other,
            option: None,
            problems: Vec::new(),
        }))
    }

    fn because(mut self, cause: Cause) -> Self {
        self.0.cause = cause;
        self
    }

    /// The same, with `context` in front of the message.
    pub(crate) fn context(mut self, context: String) -> Self {
        self.0.error = self.0.error.context(context);
        self
    }

    /// How the work ended.
    pub(crate) fn outcome(&self) -> SessionOutcome {
        self.0.outcome
    }

    /// The exit code of a process that it ends.
    pub(crate) fn code(&self) -> ExitCode {
        if self.0.cause == Cause::Input {
            // Like a setting, it is the user's to mend.
            ExitCode::Usage
        } else {
            self.0.outcome.into()
        }
    }

    /// What a caller may have to do about it.
    pub(crate) fn cause(&self) -> Cause {
        self.0.cause
    }

    /// The error on one line: it, its causes, and the option that helps.
    pub(crate) fn in_full(&self) -> String {
        match self.0.option {
            Some(option) => format!("{self:#}; {option}"),
            None => format!("{self:#}"),
        }
    }

    /// The messages for the user: the error on one line, problems of the settings on a line each.
    pub(crate) fn messages(&self) -> Vec<String> {
        if self.0.problems.is_empty() {
            vec![self.in_full()]
        } else {
            self.0.problems.clone()
        }
    }
}

/// Puts what was tried in front of an error.
pub(crate) trait Context<T> {
    /// The value, or a failure with `context` in front of its message.
    ///
    /// # Errors
    /// There is no value.
    fn context(self, context: impl Into<String>) -> Result<T>;
}

impl<T> Context<T> for Option<T> {
    fn context(self, context: impl Into<String>) -> Result<T> {
        let missing = || Failure::new(SessionOutcome::Internal, anyhow::Error::msg(context.into()));
        self.ok_or_else(missing)
    }
}

impl<T, E: Into<Failure>> Context<T> for std::result::Result<T, E> {
    fn context(self, context: impl Into<String>) -> Result<T> {
        self.map_err(|error| error.into().context(context.into()))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0.error, f)
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0.error, f)
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

#[cfg(feature = "catalogue")]
know_their_outcome! {
    CatalogueError, other;
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
    Unwritable = Refused,
    AnotherDaemon = Busy,
    // What nobody expects to fail.
    io::Error = Internal,
    serde_json::Error = Internal,
}

impl From<SettingsError> for Failure {
    fn from(error: SettingsError) -> Self {
        let problems = error.problems().iter().map(ToString::to_string).collect();
        let mut failure = Self::new(SessionOutcome::Settings, error);
        failure.0.problems = problems;
        failure
    }
}

impl From<Misuse> for Failure {
    fn from(error: Misuse) -> Self {
        Self::new(SessionOutcome::Settings, error).because(Cause::Misuse)
    }
}

impl From<FaultyInput> for Failure {
    fn from(error: FaultyInput) -> Self {
        Self::new(SessionOutcome::Refused, error).because(Cause::Input)
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

/// An input of a strict build has lines or values that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error(
    "{} and {} of the inputs cannot be used; because of --strict, nothing is published",
    human::count(*lines, "line"), human::count(*values, "value")
)]
pub(crate) struct FaultyInput {
    /// Lines that would be left out.
    pub(crate) lines: u64,
    /// Values that would be left out of other lines.
    pub(crate) values: u64,
}

/// A file of `init` exists, or cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Unwritable(pub(crate) String);

/// A daemon holds the folder of the states already.
#[derive(Debug, thiserror::Error)]
#[error("another daemon uses the state {}: {holder}", folder.display())]
pub(crate) struct AnotherDaemon {
    /// The folder of the states.
    pub(crate) folder: PathBuf,
    /// Name that the process has given itself.
    pub(crate) holder: String,
}

/// The command line is invalid, or names an unreadable file.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Misuse(pub(crate) String);

#[cfg(test)]
mod tests {
    use crawler::{fetch::FetchErrorKind, notes::Note};

    use super::*;

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
        check(SettingsError::Problems(Vec::new()), 2);
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
        check(
            AnotherDaemon {
                folder: PathBuf::from("x"),
                holder: message(),
            },
            6,
        );
        check(
            BuildError::Open {
                name: message(),
                source: io(),
            },
            2,
        );
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
        check(
            FaultyInput {
                lines: 1,
                values: 0,
            },
            2,
        );
        let (set, reason) = (message(), message());
        check(SetError::Unreadable { set, reason }, 5);
        check(SetError::Store(store(StoreErrorKind::Io)), 4);
        check(SetError::Stopped, 130);
        let refused = ConnectError::from(FetchError::new(FetchErrorKind::Tls, "x"));
        check(SetError::from(refused), 2);
        check(Unwritable(message()), 4);
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
        check(
            PublishError::Check {
                name: message(),
                problem: message(),
            },
            70,
        );
        check(PublishError::Settings(message()), 2);
        check(PublishError::Store(store(StoreErrorKind::Busy)), 6);
        check(crate::panicked::Panicked::new("x"), 70);
        check(UrlKeyError::Scheme, 2);
    }

    #[cfg(feature = "catalogue")]
    #[test]
    fn every_error_of_a_catalogue_has_its_code() {
        fn check(error: CatalogueError, expected: u8) {
            assert_eq!(Failure::from(error).code() as u8, expected);
        }
        let source = || Box::new(io::Error::other("x"));
        check(CatalogueError::Url("x".to_owned()), 2);
        check(CatalogueError::Older { found: 0, known: 1 }, 2);
        check(CatalogueError::UnknownSite("x".to_owned()), 2);
        check(CatalogueError::Statement(source()), 4);
        check(
            CatalogueError::Connect {
                place: "x".to_owned(),
                cause: "y".to_owned(),
                advice: "z",
            },
            4,
        );
        check(CatalogueError::NoTables, 2);
        check(
            CatalogueError::LeaseLost(crawler::url_key::HostKey::new("x")),
            6,
        );
    }

    #[test]
    fn a_bug_and_a_file_that_cannot_be_read_are_distinguished() {
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
    fn an_output_that_is_held_full_or_gone_has_its_code() {
        fn check(error: PublishError, expected: u8) {
            assert_eq!(Failure::from(error).code() as u8, expected);
        }
        let (output, path) = (PathBuf::from("x"), PathBuf::from("y"));
        let holder = "process 1".to_owned();
        check(
            PublishError::Busy {
                output: output.clone(),
                holder,
            },
            6,
        );
        check(
            PublishError::Unmounted {
                output: output.clone(),
                mount: path.clone(),
            },
            4,
        );
        check(
            PublishError::NoRoom {
                output,
                written: 2,
                free: 1,
                path,
                reason: "x".to_owned(),
            },
            4,
        );
    }

    #[test]
    fn the_option_that_helps_follows_any_error() {
        let foreign = PublishError::Foreign(PathBuf::from("out/sitemap.xml"));
        let error = Failure::from(foreign).context("https://h.example/".to_owned());
        assert!(
            error
                .in_full()
                .starts_with("https://h.example/: out/sitemap.xml is not")
        );
        let foreign = PublishError::Foreign(PathBuf::from("out/sitemap.xml"));
        assert_eq!(
            Failure::from(foreign).in_full(),
            "out/sitemap.xml is not a file that arpent published for this site, and is not overwritten; choose another folder \
             with --output; --force replaces the file and keeps a backup"
        );
        let empty = PublishError::Empty;
        assert_eq!(
            Failure::from(empty).in_full(),
            "nothing to list: a sitemap may contain none of the known URLs; `arpent report` lists the reasons"
        );
    }
}
