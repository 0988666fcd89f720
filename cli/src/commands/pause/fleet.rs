//! Sites of a catalogue that the fleet leaves alone.

use arpent_fleet::catalogue::CatalogueError;
use crawler::site_run::Pause;

use crate::{
    commands::{
        catalogue::{each, open, url_of},
        runtime::{self, Threads},
    },
    exit_code::ExitCode,
    failure, human,
    output::Output,
    settings::{Environment, options::Typed},
};

/// Pauses the sites with these names, or without a pause resumes them; none: all that are set aside.
///
/// # Errors
/// The catalogue cannot be reached. A name that is wrong is printed and only changes the exit code.
pub(super) fn in_fleet(
    typed: &Typed,
    names: &[String],
    pause: Option<&Pause>,
    environment: &Environment,
    output: &Output,
) -> failure::Result<ExitCode> {
    let url = url_of(typed.clone(), environment, output)?;
    runtime::run(Threads::One, async {
        let catalogue = open(&url).await?;
        if names.is_empty() {
            let resumed = catalogue.resume_set_aside().await?;
            output.data(&format!("resumed: {}", human::count(resumed, "site")));
            return Ok(ExitCode::Success);
        }
        let change = async |name: &str| -> Result<String, CatalogueError> {
            if let Some(pause) = pause {
                let is_running = catalogue
                    .pause(name, pause.until, pause.reason.as_deref())
                    .await?;
                let stops = if is_running {
                    "; its session stops"
                } else {
                    ""
                };
                return Ok(format!("{name}: {}{stops}", pause.text()));
            }
            Ok(if catalogue.resume(name).await? {
                format!("{name}: resumed")
            } else {
                format!("{name}: neither paused nor set aside")
            })
        };
        each(names, change, output).await
    })
}
