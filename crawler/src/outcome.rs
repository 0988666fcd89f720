//! How a session, or a command, ended, in one word. Each error that can end one has a method `outcome`.

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
}
