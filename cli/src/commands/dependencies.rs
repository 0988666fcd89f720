//! The clock and the browser that the program gives to the library.

use std::sync::Arc;

use crawler::{
    IS_FOR_TESTS,
    clock::{Clock, SystemClock},
    render::OpenBrowser,
};
use jiff::{SignedDuration, Timestamp};

use crate::settings::{Environment, duration};

/// The clock of the machine; for tests of what takes days, as far ahead of it as the variable
/// `ARPENT_CLOCK_AHEAD` sets, or back by it when it begins with a minus. A program that was not built for tests does
/// not know the variable.
pub(super) fn clock(environment: &Environment) -> Arc<dyn Clock> {
    let shift = environment.get("ARPENT_CLOCK_AHEAD");
    let shift = shift.filter(|_| IS_FOR_TESTS).and_then(|text| {
        let (text, is_behind) = match text.strip_prefix('-') {
            Some(text) => (text, true),
            None => (text.as_str(), false),
        };
        let shift = SignedDuration::try_from(duration(text)?).ok()?;
        Some(if is_behind { -shift } else { shift })
    });
    match shift {
        Some(shift) => Arc::new(ShiftedClock(shift)),
        None => Arc::new(SystemClock),
    }
}

/// Opens a browser for sessions that render pages, if this program was built with it.
#[cfg(feature = "render")]
#[expect(
    clippy::unnecessary_wraps,
    reason = "a build without the feature has none"
)]
pub(super) fn open_browser() -> Option<OpenBrowser> {
    Some(Arc::new(|config| {
        let program = arpent_render::find(config.browser.as_deref());
        let program = program.map_err(|error| error.to_string())?;
        Ok(Arc::new(arpent_render::Chromium::new(program, config.time)))
    }))
}

#[cfg(not(feature = "render"))]
pub(super) fn open_browser() -> Option<OpenBrowser> {
    None
}

/// A clock that shows another time than that of the machine.
#[derive(Debug)]
struct ShiftedClock(SignedDuration);

impl Clock for ShiftedClock {
    fn now(&self) -> Timestamp {
        let now = SystemClock.now();
        now.checked_add(self.0).unwrap_or(now)
    }
}
