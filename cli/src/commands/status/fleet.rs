//! `arpent status --catalogue`: counts of a fleet, its workers, and the sites that need somebody.

use std::time::Duration;

use arpent_fleet::catalogue::{Catalogue, FleetReport, SiteState};

use super::{max_age, report_faults};
use crate::{
    args::StatusArgs,
    commands::{
        catalogue::{open, url_of},
        dependencies,
        runtime::{self, Threads},
    },
    exit_code::ExitCode,
    failure,
    output::Output,
    print::print_result,
    settings::Environment,
};

/// Sites that are listed by their names, of each kind.
const MAX_NAMED: u32 = 20;

/// The counts, the workers, and the sites that need somebody; those whose last good session is older than `max_age` are late.
///
/// # Errors
/// The database fails.
pub(in crate::commands) async fn report_of(
    catalogue: &Catalogue,
    max_age: Option<Duration>,
) -> failure::Result<FleetReport> {
    Ok(FleetReport {
        status: catalogue.status().await?,
        set_aside: catalogue
            .list("", MAX_NAMED, Some(SiteState::SetAside))
            .await?,
        late: match max_age {
            Some(age) => Some(catalogue.late(age, MAX_NAMED).await?),
            None => None,
        },
    })
}

/// Runs `arpent status --catalogue`.
///
/// # Errors
/// The settings make no sense, or the catalogue cannot be reached or has other tables.
pub(super) fn run(
    args: &StatusArgs,
    environment: &Environment,
    output: &Output,
) -> failure::Result<ExitCode> {
    let max_age = args.max_age.as_deref().map(max_age).transpose()?;
    let url = url_of(args.typed(), environment, output)?;
    let now = dependencies::clock(environment).now();
    let fleet = runtime::run(Threads::One, async {
        let catalogue = open(&url).await?;
        report_of(&catalogue, max_age).await
    })?;
    print_result(args.json, &fleet.document(now), || fleet.view(now), output)?;
    Ok(report_faults(&fleet.faults(now), output))
}
