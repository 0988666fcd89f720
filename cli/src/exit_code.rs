//! The documented exit codes, and the one place where an outcome becomes one.

use crawler::site_run::SessionOutcome;

use crate::signal::StopSignal;

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
        not be stored, or the result not be printed.";
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

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::args::Args;
    use clap::CommandFactory as _;

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
