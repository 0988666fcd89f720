//! Faults for tests: the variable `ARPENT_FAULT` names a point at which the program panics, so that
//! a test can see what becomes of a bug. Without the variable, and in a program that was not built for tests, nothing here
//! does anything.

use crawler::IS_FOR_TESTS;

use crate::settings::Environment;

/// The fault that was asked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Faults(Option<String>);

impl Faults {
    /// Reads the variable.
    pub(crate) fn new(environment: &Environment) -> Self {
        let asked_for = environment.get("ARPENT_FAULT");
        Self(asked_for.filter(|_| IS_FOR_TESTS).cloned())
    }

    /// Passes the point `name`.
    ///
    /// # Panics
    /// This is the point that was asked for.
    pub(crate) fn pass(&self, name: &str) {
        assert!(
            self.0.as_deref() != Some(name),
            "the variable ARPENT_FAULT asks for {name}"
        );
    }
}
