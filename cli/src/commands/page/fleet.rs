//! The page of a fleet: what its catalogue has.

use arpent_fleet::catalogue::{Catalogue, FleetReport, SiteRow};
use jiff::Timestamp;
use maud::{PreEscaped, html};

use super::layout::{Bar, page};
use crate::{
    commands::{
        catalogue::{open, url_of},
        status::fleet_report,
    },
    failure,
    output::Output,
    print::sections_of,
    settings::{CrawlSettings, Environment, Typed},
};

/// Sites on one page.
const MAX_SITES: u32 = 500;

/// A catalogue that is connected.
pub(super) struct FleetPage(Catalogue);

impl FleetPage {
    /// Connects to the catalogue of the settings; `None`: they have none.
    ///
    /// # Errors
    /// The catalogue cannot be reached, or has other tables.
    pub(super) async fn begin(
        settings: &CrawlSettings,
        typed: &Typed,
        environment: &Environment,
        output: &Output,
    ) -> failure::Result<Option<Self>> {
        if settings.shared.fleet.catalogue.is_none() {
            return Ok(None);
        }
        // Settings for reading have no secrets.
        let url = url_of(typed.clone(), environment, output)?;
        Ok(Some(Self(open(&url).await?)))
    }

    async fn report(&self) -> failure::Result<FleetReport> {
        fleet_report(&self.0, None).await
    }

    /// The counts, the workers, what needs somebody, and the sites after the name `after`.
    ///
    /// # Errors
    /// The database fails.
    pub(super) async fn page(
        &self,
        after: &str,
        now: Timestamp,
        bar: &Bar,
    ) -> failure::Result<String> {
        let report = self.report().await?;
        let view = report.view(now);
        let sites = self.0.list(after, MAX_SITES, None).await?;
        let last = sites.last().filter(|_| sites.len() == MAX_SITES as usize);
        let main = html! {
            div data-live {
                h1 { (view.title) }
                (PreEscaped(sections_of(&view)))
            }
            h2 { "Sites" }
            form .filter role="search" {
                p { label for="name" { "After the name" } input #name type="search" name="name" value=(after); }
                p { button { "Show" } }
            }
            div data-live { (PreEscaped(sections_of(&SiteRow::list(&sites)))) }
            @if let Some(last) = last {
                form .filter {
                    input type="hidden" name="name" value=(last.name);
                    p { button { "More sites" } }
                }
            }
        };
        Ok(page("Fleet", bar, &main))
    }

    /// The same as JSON, without the sites.
    ///
    /// # Errors
    /// The database fails.
    pub(super) async fn document(&self, now: Timestamp) -> failure::Result<String> {
        Ok(self.report().await?.document(now).to_string())
    }
}
