//! The documented exit codes, and the one place where an error or an outcome becomes one.

use std::{error::Error, path::PathBuf};

#[cfg(feature = "catalogue")]
use crawler::catalogue::CatalogueError;
use crawler::{
    build::BuildError,
    client::StartError,
    fetch::FetchError,
    publish::PublishError,
    retry_after::RetryAfterError,
    seeds::SeedListError,
    site_run::{CrawlError, SessionError, SessionOutcome},
    sitemap_set::SetError,
    store::StoreError,
};

use crate::{
    advice::in_full, human, panicked::Panicked, settings::SettingsError, signal::StopSignal,
};

macro_rules! exit_codes {
    ($($name:ident = $code:literal, $meaning:literal;)*) => {
        /// Result of a process of arpent.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum ExitCode { $(#[doc = $meaning] $name = $code,)* }

        impl ExitCode {
            /// All of them with their meanings, the worst first: several sites end with the worst of their codes.
            const WORST_FIRST: &'static [(Self, &'static str)] = &[$((Self::$name, $meaning),)*];
        }
    };
}

exit_codes! {
    Terminated = 143, "Stopped by SIGTERM (128 + 15). Nothing is published, and the progress is kept.";
    Interrupted = 130, "Stopped by SIGINT (128 + 2). Nothing is published, and the progress is kept.";
    Internal = 70, "Internal error: a bug of arpent, please report it (`EX_SOFTWARE` of sysexits.h).";
    Usage = 2, "Wrong usage or settings, or an input that cannot be used. Also a state that cannot be opened, or that a newer arpent \
        wrote.";
    Busy = 6, "Busy: another session uses the state or the output.";
    NotCrawled = 5, "The site could not be crawled: the start URL or robots.txt is unreachable, or everything is disallowed. Also \
        for `check`, `audit` and `diff`: a URL or a set could not be read.";
    Refused = 4, "Refused to publish; the published sitemaps stay. There is nothing to list, the guard objects, the site went down, \
        a file of another program is in the way, or the output or the state cannot be written. A catalogue that cannot be \
        reached has this code, too.";
    Partial = 3, "Published, but partial. A URL failed after its tries (network, 5xx, 429), was cut short, could not be read, or was \
        not reached because of `max_pages` or `max_time`. Links were not recorded because a bound was reached. Or the state could \
        not be stored.";
    Invalid = 1, "`check` or `audit` found errors, or a set is older than `status --max-age` allows.";
    Success = 0, "Success: published, or nothing changed; a command that publishes nothing did its work.";
}

impl ExitCode {
    /// The worse of two.
    pub(crate) fn worse(self, other: Self) -> Self {
        let mut codes = Self::WORST_FIRST.iter().map(|(code, _)| *code);
        codes
            .find(|code| [self, other].contains(code))
            .unwrap_or(Self::Internal)
    }

    /// The code for an error that ended the work on a site, or the program.
    pub(crate) fn of_error(error: &anyhow::Error) -> Self {
        if is_unusable_input(error) {
            // Like a setting, it is the user's to mend.
            return Self::Usage;
        }
        outcome_of(error).into()
    }
}

/// How the work ended that this error ended.
pub(crate) fn outcome_of(error: &anyhow::Error) -> SessionOutcome {
    if error.chain().any(<dyn Error>::is::<RetryAfterError>) {
        // Nothing may be requested, as with a state that cannot be read.
        return SessionOutcome::Refused;
    }
    let crawl = error.downcast_ref::<CrawlError>().map(SessionOutcome::from);
    let start = || error.downcast_ref::<StartError>().map(SessionOutcome::from);
    let publish = || {
        error
            .downcast_ref::<PublishError>()
            .map(SessionOutcome::from)
    };
    let store = || error.downcast_ref::<StoreError>().map(SessionOutcome::from);
    let session = || error.downcast_ref().map(SessionError::outcome);
    let outcome = crawl
        .or_else(start)
        .or_else(publish)
        .or_else(store)
        .or_else(session);
    if let Some(outcome) = outcome {
        return outcome;
    }
    #[cfg(feature = "catalogue")]
    if let Some(error) = error.downcast_ref::<CatalogueError>() {
        return match error {
            CatalogueError::Connect { .. } | CatalogueError::Statement(_) => {
                SessionOutcome::Refused
            }
            CatalogueError::LeaseLost(_) | CatalogueError::SiteGone(_) => SessionOutcome::Busy,
            // The user can mend the others.
            _ => SessionOutcome::Settings,
        };
    }
    match error.downcast_ref::<SetError>() {
        Some(SetError::Unreadable { .. }) => return SessionOutcome::Unreachable,
        Some(SetError::Store(error)) => return error.into(),
        Some(SetError::Stopped) => return SessionOutcome::Interrupted,
        // The causes decide.
        Some(_) | None => {}
    }
    match error.downcast_ref::<BuildError>() {
        Some(BuildError::Open { .. } | BuildError::Scope(_) | BuildError::Rules(_)) => {
            SessionOutcome::Settings
        }
        Some(BuildError::Broken { .. }) => SessionOutcome::Refused,
        Some(BuildError::Stopped) => SessionOutcome::Interrupted,
        Some(BuildError::Store(error)) => error.into(),
        _ if is_unusable_input(error) => SessionOutcome::Refused,
        // The only other fetch error that gets here: the client cannot be built from its settings.
        _ if error.is::<SettingsError>()
            || error.is::<SeedListError>()
            || error.chain().any(<dyn Error>::is::<FetchError>)
            || error.is::<Misuse>() =>
        {
            SessionOutcome::Settings
        }
        _ if error.is::<Unwritable>() => SessionOutcome::Refused,
        _ if error.is::<AnotherDaemon>() => SessionOutcome::Busy,
        _ => {
            debug_assert!(
                error.is::<Panicked>() || error.is::<std::io::Error>(),
                "no outcome of its own: {error:#}"
            );
            SessionOutcome::Internal
        }
    }
}

/// Returns whether an input was opened and read, and nothing can be made of it: the work had begun.
fn is_unusable_input(error: &anyhow::Error) -> bool {
    let unusable = |error: &BuildError| {
        matches!(
            error,
            BuildError::Format { .. } | BuildError::TooMuch { .. }
        )
    };
    error.is::<FaultyInput>() || error.downcast_ref::<BuildError>().is_some_and(unusable)
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

impl From<SessionOutcome> for ExitCode {
    /// The code of work that ended like this without a set.
    fn from(outcome: SessionOutcome) -> Self {
        match outcome {
            SessionOutcome::Published | SessionOutcome::Unchanged | SessionOutcome::DryRun => {
                Self::Success
            }
            SessionOutcome::Partial => Self::Partial,
            SessionOutcome::Refused => Self::Refused,
            SessionOutcome::Unreachable => Self::NotCrawled,
            SessionOutcome::Busy => Self::Busy,
            SessionOutcome::Settings => Self::Usage,
            SessionOutcome::Interrupted => Self::Interrupted,
            SessionOutcome::Internal => Self::Internal,
        }
    }
}

impl From<StopSignal> for ExitCode {
    fn from(signal: StopSignal) -> Self {
        match signal {
            StopSignal::Interrupt => Self::Interrupted,
            StopSignal::Terminate => Self::Terminated,
        }
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code as u8)
    }
}

/// The error that ended a session, as the error that it holds.
pub(crate) fn error_of(error: SessionError) -> anyhow::Error {
    match error {
        SessionError::Crawl(error) => error.into(),
        SessionError::Publish(error) => error.into(),
        SessionError::Store(error) => error.into(),
        SessionError::Settings(message) => Misuse(message).into(),
        error @ SessionError::SiteDown => error.into(),
        // `Internal`, and whatever the library may learn to fail by until this place knows it.
        error => Panicked::new(in_full(&error.into())).into(),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use clap::CommandFactory as _;
    use crawler::{
        client::DownloadError, fetch::FetchErrorKind, notes::Note, store::StoreErrorKind,
    };

    use super::*;
    use crate::args::Args;

    /// What the page of the guide has besides the codes.
    const MORE: &str = "
## Several sites

Of several sites the worst code counts: 143, 130, 70, 2, 6, 5, 4, 3, 1, 0 in this order. `check` and `audit` have an order of their
own, which their list above has.

## Signals

The first signal lets requests in flight end, for five seconds at most. The second drops them. The third ends the process at once. Nine
seconds after the first signal the process ends in any case, and the next start goes on as after a crash. `check` reports what it found
until then.
";

    #[test]
    fn the_guide_lists_every_exit_code() {
        let mut codes = ExitCode::WORST_FIRST.to_vec();
        codes.sort_by_key(|(code, _)| *code as u8);
        let mut page = "# Exit codes\n\n| code | meaning |\n|---|---|\n".to_owned();
        for (code, meaning) in codes {
            writeln!(page, "| {} | {meaning} |", code as u8).unwrap();
        }
        page += "\nThe page [Guard](guard.md) has the objections of the guard.\n\n## Commands\n\n`--help` prints the codes of each command.\n";
        let commands = Args::command();
        for command in commands.get_subcommands() {
            let name = command.get_name();
            let help = command.get_after_long_help().unwrap().to_string();
            let (_, codes) = help.split_once("Exit codes:\n").unwrap();
            write!(page, "\n### arpent {name}\n\n```text\n{codes}\n```\n").unwrap();
        }
        page += MORE;
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/guide/exit-codes.md");
        crawler::testing::assert_guide(path, &page);
    }

    #[test]
    fn the_state_has_the_code_of_each_outcome() {
        for outcome in SessionOutcome::ALL {
            assert_eq!(ExitCode::from(outcome) as u8, outcome.exit_code());
        }
    }

    #[test]
    fn every_error_has_its_code() {
        fn check(error: impl Into<anyhow::Error>, expected: u8) {
            let error = error.into();
            assert_eq!(ExitCode::of_error(&error) as u8, expected, "{error:#}");
            assert_eq!(
                ExitCode::of_error(&error.context("while testing")) as u8,
                expected
            );
        }
        let store = |kind| StoreError::new(kind, "x");
        let io = || std::io::Error::other("x");
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
        check(SetError::from(FetchError::new(FetchErrorKind::Tls, "x")), 2);
        check(Unwritable(message()), 4);
        check(PublishError::Empty, 4);
        check(PublishError::Foreign(PathBuf::from("x")), 4);
        check(PublishError::Astray(PathBuf::from("x")), 4);
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
        check(Panicked::new("x"), 70);
    }

    #[cfg(feature = "catalogue")]
    #[test]
    fn every_error_of_a_catalogue_has_its_code() {
        fn check(error: CatalogueError, expected: u8) {
            assert_eq!(ExitCode::of_error(&error.into()) as u8, expected);
        }
        let source = || Box::new(std::io::Error::other("x"));
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
        let io = || std::io::Error::other("x");
        let unreadable = || RetryAfterError::Read {
            path: PathBuf::from("x"),
            source: io(),
        };
        let no_downloader =
            || FetchError::new(FetchErrorKind::Forbidden, "x").with_source(unreadable());
        // Of a crawl, of a check, of `arpent notify`.
        let errors: [anyhow::Error; 3] = [
            CrawlError::RetryAfter(unreadable()).into(),
            no_downloader().into(),
            DownloadError::Settings(no_downloader()).into(),
        ];
        for error in &errors {
            assert_eq!(ExitCode::of_error(error), ExitCode::Refused, "{error:#}");
        }
        let internal = CrawlError::Internal {
            work: "testing",
            source: Box::new(io()),
        };
        assert_eq!(ExitCode::of_error(&internal.into()), ExitCode::Internal);
    }

    #[test]
    fn an_output_that_is_held_full_or_gone_has_its_code() {
        fn check(error: &PublishError, expected: u8) {
            assert_eq!(
                ExitCode::from(SessionOutcome::from(error)) as u8,
                expected,
                "{error}"
            );
        }
        let (output, path) = (PathBuf::from("x"), PathBuf::from("y"));
        let holder = "process 1".to_owned();
        check(
            &PublishError::Busy {
                output: output.clone(),
                holder,
            },
            6,
        );
        check(
            &PublishError::Unmounted {
                output: output.clone(),
                mount: path.clone(),
            },
            4,
        );
        check(
            &PublishError::NoRoom {
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
    fn the_worst_code_wins() {
        fn check(codes: &[ExitCode], expected: u8) {
            let worst = codes
                .iter()
                .copied()
                .fold(ExitCode::Success, ExitCode::worse);
            assert_eq!(worst as u8, expected, "{codes:?}");
        }
        check(&[], 0);
        check(&[ExitCode::Success, ExitCode::Partial], 3);
        check(&[ExitCode::Refused, ExitCode::Partial], 4);
        check(&[ExitCode::Refused, ExitCode::NotCrawled], 5);
        check(&[ExitCode::Busy, ExitCode::NotCrawled], 6);
        check(&[ExitCode::Internal, ExitCode::Busy], 70);
        check(&[ExitCode::Usage, ExitCode::Partial], 2);
        check(&[ExitCode::Internal, ExitCode::Interrupted], 130);
        check(&[ExitCode::Terminated, ExitCode::Internal], 143);
    }
}
