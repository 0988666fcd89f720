//! How a command ends early: errors of the program itself, beside those of the library.

pub(crate) use crawler::failure::{Cause, Context, Failure, Misuse, Result};
use crawler::outcome::SessionOutcome;

use crate::{human, settings::SettingsError};

impl From<SettingsError> for Failure {
    fn from(error: SettingsError) -> Self {
        let problems = error.problems().iter().map(ToString::to_string).collect();
        Self::new(SessionOutcome::Settings, error).naming(problems)
    }
}

impl From<FaultyInput> for Failure {
    fn from(error: FaultyInput) -> Self {
        Self::new(SessionOutcome::Refused, error).because(Cause::Input)
    }
}

impl From<Unwritable> for Failure {
    fn from(error: Unwritable) -> Self {
        Self::new(SessionOutcome::Refused, error)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_program_have_codes() {
        fn check(error: impl Into<Failure>, expected: u8) {
            let error: Failure = error.into();
            assert_eq!(error.code() as u8, expected, "{error:#}");
        }
        check(SettingsError::Problems(Vec::new()), 2);
        let (lines, values) = (1, 0);
        check(FaultyInput { lines, values }, 2);
        check(Unwritable("x".to_owned()), 4);
    }
}
