//! Faults for tests: the variable `ARPENT_FAULT` names a point at which the program panics, so that
//! a test can see what becomes of a bug. Without the variable, and in a program that was not built for tests, nothing here
//! does anything.

use std::collections::BTreeMap;

/// The fault that was asked for.
#[derive(Debug, Clone, Default)]
pub struct Faults(Option<String>);

impl Faults {
    /// Reads the variable.
    pub fn new(environment: &BTreeMap<String, String>) -> Self {
        let asked_for = environment.get("ARPENT_FAULT");
        Self(
            asked_for
                .filter(|_| cfg!(any(debug_assertions, feature = "testing")))
                .cloned(),
        )
    }

    /// Passes the point `name`.
    ///
    /// # Panics
    /// This is the point that was asked for.
    pub fn pass(&self, name: &str) {
        assert!(
            self.0.as_deref() != Some(name),
            "the variable ARPENT_FAULT asks for {name}"
        );
    }
}
