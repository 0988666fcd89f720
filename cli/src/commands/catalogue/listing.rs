//! Sites of the catalogue, for people and as JSON.

use arpent_fleet::catalogue::{Catalogue, SiteRow, SiteState};

use crate::{
    args::StateWord,
    exit_code::ExitCode,
    failure,
    output::Output,
    print::{print_result, print_view},
};

/// Sites that one statement asks for.
const PAGE: u32 = 1_000;

/// Sessions of a site that are shown, the newest ones.
const SESSIONS: u32 = 10;

/// Prints the sites, page by page.
///
/// # Errors
/// The database fails.
pub(super) async fn list(
    catalogue: &Catalogue,
    state: Option<StateWord>,
    is_json: bool,
    output: &Output,
) -> failure::Result<ExitCode> {
    let state = state.map(state_of);
    let mut after = String::new();
    let mut is_first = true;
    loop {
        let page = catalogue.list(&after, PAGE, state).await?;
        let Some(last) = page.last() else {
            break;
        };
        after.clone_from(&last.name);
        if is_json {
            for site in &page {
                let mut line = serde_json::to_value(site)?;
                line["version"] = 1.into();
                output.data_json(&line.to_string());
            }
        } else {
            print_view(&SiteRow::list(&page), output);
        }
        is_first = false;
    }
    if is_first && !is_json {
        let which = if state.is_some() {
            " in this state"
        } else {
            ""
        };
        output.info(&format!("the catalogue has no site{which}"));
    }
    Ok(ExitCode::Success)
}

/// Prints the site `name` with its last sessions.
///
/// # Errors
/// There is no such site, or the database fails.
pub(super) async fn show(
    catalogue: &Catalogue,
    name: &str,
    is_json: bool,
    output: &Output,
) -> failure::Result<ExitCode> {
    let site = catalogue.site(name).await?;
    let sessions = catalogue.history(name, SESSIONS).await?;
    let document = site.document(&sessions);
    print_result(is_json, &document, || site.view(&sessions), output)?;
    Ok(ExitCode::Success)
}

fn state_of(word: StateWord) -> SiteState {
    match word {
        StateWord::Running => SiteState::Running,
        StateWord::SetAside => SiteState::SetAside,
        StateWord::Paused => SiteState::Paused,
        StateWord::OnDemand => SiteState::OnDemand,
        StateWord::Due => SiteState::Due,
        StateWord::Waiting => SiteState::Waiting,
    }
}
