//! How a session, or a command, ended, in one word. Each error that can end one has a method `outcome`.

mod exit_code;

pub use self::exit_code::ExitCode;
use crate::page::words;

words! {
    /// How a session ended. The words are stable: scripts compare them.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum SessionOutcome {
        /// A new set is published.
        Published = "published",
        /// Nothing changed: every file is as it was.
        Unchanged = "unchanged",
        /// A set is published (new or unchanged), but some URLs failed or were not reached.
        Partial = "partial",
        /// Nothing was written because of a dry run.
        DryRun = "dry-run",
        /// Nothing was published, the old set stays.
        Refused = "refused",
        /// The site could not be crawled.
        Unreachable = "unreachable",
        /// Another session uses the state or the output.
        Busy = "busy",
        /// Settings that contradict this site.
        Settings = "settings",
        /// A signal stopped the session; nothing was published, progress is stored.
        Interrupted = "interrupted",
        /// A bug of arpent.
        #[default]
        Internal = "internal",
    }
}

impl SessionOutcome {
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
}
