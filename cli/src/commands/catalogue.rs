//! `arpent catalogue`: fills and changes the catalogue whose sites the daemons of a fleet crawl. Its statements are in
//! `fleet::catalogue`, the texts of sites in [`crate::settings`].

#[cfg(feature = "catalogue")]
mod actions;
#[cfg(feature = "catalogue")]
mod import;
#[cfg(feature = "catalogue")]
mod listing;

#[cfg(feature = "catalogue")]
pub(super) use self::actions::{each, open, run, url_of};

#[cfg(not(feature = "catalogue"))]
use crate::{
    args::CatalogueArgs,
    exit_code::ExitCode,
    failure::{self, Failure, Misuse},
    output::Output,
    settings::Environment,
};

/// The error of a program without the catalogue.
#[cfg(not(feature = "catalogue"))]
pub(super) fn missing() -> Failure {
    let message = "catalogue: this program was built without the catalogue; use a package of arpent, or build arpent with \
                   --features catalogue";
    Misuse(message.to_owned()).into()
}

/// Runs `arpent catalogue`.
///
/// # Errors
/// This program was built without it.
#[cfg(not(feature = "catalogue"))]
pub(super) fn run(_: &CatalogueArgs, _: &Environment, _: &Output) -> failure::Result<ExitCode> {
    Err(missing())
}
