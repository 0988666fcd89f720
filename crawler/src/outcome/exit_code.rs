//! The documented exit codes, and the one place where an outcome becomes one.

use super::SessionOutcome;

macro_rules! exit_codes {
    ($($name:ident = $code:literal, $meaning:literal;)*) => {
        /// Result of a process of arpent.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub enum ExitCode { $(#[doc = $meaning] $name = $code,)* }

        impl ExitCode {
            /// All of them with their meanings, the worst first: several sites end with the worst of their codes.
            pub const WORST_FIRST: &'static [(Self, &'static str)] = &[$((Self::$name, $meaning),)*];
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
    Partial = 3, "Published, but partial. A URL, a sitemap or a list failed after its tries (network, 5xx, 429), was cut short, could not be read, or was \
        not reached because of `max_pages` or `max_time`. Links were not recorded because a bound was reached. Or the state could \
        not be stored, or the result not be printed.";
    Invalid = 1, "`check` or `audit` found errors, or a set is older than `status --max-age` allows.";
    Success = 0, "Success: published, or nothing changed; a command that publishes nothing did its work.";
}

impl ExitCode {
    /// The worse of two.
    #[must_use]
    pub fn worse(self, other: Self) -> Self {
        let mut codes = Self::WORST_FIRST.iter().map(|(code, _)| *code);
        codes
            .find(|code| [self, other].contains(code))
            .unwrap_or(Self::Internal)
    }
}

impl From<SessionOutcome> for ExitCode {
    /// The code of work that ended like this without a set.
    fn from(outcome: SessionOutcome) -> Self {
        let mut codes = Self::WORST_FIRST.iter().map(|(code, _)| *code);
        codes
            .find(|code| *code as u8 == outcome.exit_code())
            .unwrap_or(Self::Internal)
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_has_the_code_of_each_outcome() {
        for outcome in SessionOutcome::ALL {
            assert_eq!(ExitCode::from(outcome) as u8, outcome.exit_code());
        }
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
