//! The page of a fleet: what its catalogue has.

use arpent_fleet::catalogue::{Catalogue, FleetReport, SiteRow};
use axum::{
    Extension,
    extract::{Query, State},
    http::header,
    response::{Html, IntoResponse as _, Response},
};
use jiff::Timestamp;
use maud::{PreEscaped, html};

use super::{
    Answer, Filter, MaybeLogin, Page, Refusal,
    access::bar_of,
    layout::{Bar, page},
};
use crate::{
    commands::{catalogue::open, crawl::read_settings_file, status::fleet_report},
    failure,
    print::sections_of,
    settings::{Environment, Typed, fleet_places},
};

/// Sites on one page.
const MAX_SITES: u32 = 500;

/// A catalogue that is connected.
pub(super) struct FleetPage(Catalogue);

impl FleetPage {
    /// Connects to the catalogue of the settings; `None`: they have none.
    ///
    /// # Errors
    /// The settings make no sense; the catalogue cannot be reached, or has other tables.
    pub(super) async fn begin(
        typed: &Typed,
        environment: &Environment,
    ) -> failure::Result<Option<Self>> {
        // The settings of a page have no secrets, and this is one.
        let places = fleet_places(typed.clone(), environment, read_settings_file)?;
        match places.catalogue {
            Some(url) => Ok(Some(Self(open(&url).await?))),
            None => Ok(None),
        }
    }

    async fn report(&self) -> failure::Result<FleetReport> {
        fleet_report(&self.0, None).await
    }

    /// The counts, the workers, what needs somebody, and the sites after the name `after`.
    async fn page(&self, after: &str, now: Timestamp, bar: &Bar) -> failure::Result<String> {
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
}

/// The page with all of it.
pub(super) async fn sites(
    State(page): State<Page>,
    Extension(login): MaybeLogin,
    Query(filter): Query<Filter>,
) -> Answer {
    let fleet = page.0.fleet.as_ref().ok_or(Refusal::NotFound)?;
    let bar = bar_of(login.as_ref());
    let html = fleet.page(&filter.name, page.0.clock.now(), &bar).await?;
    Ok(Html(html))
}

/// The same as JSON, without the sites.
pub(super) async fn status_json(State(page): State<Page>) -> Answer<Response> {
    let fleet = page.0.fleet.as_ref().ok_or(Refusal::NotFound)?;
    let report = fleet.report().await?;
    let text = report.document(page.0.clock.now()).to_string();
    Ok(([(header::CONTENT_TYPE, "application/json")], text).into_response())
}
