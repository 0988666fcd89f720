//! Sites of the catalogue, for people and as JSON.

use crawler::catalogue::{Catalogue, CatalogueRun, SiteRow, SiteState};
use serde_json::{Value, json};

use super::{minute, second};
use crate::{
    args::StateWord,
    exit_code::ExitCode,
    failure, human,
    output::{Output, Paint},
};

/// Sites that one statement asks for.
const PAGE: u32 = 1_000;

/// Sessions of a site that are shown, the newest ones.
const SESSIONS: u32 = 10;

/// The heads of the list.
const HEADS: [&str; 6] = [
    "SITE",
    "STATE",
    "LAST SESSION",
    "LAST GOOD",
    "LISTED",
    "NEXT CRAWL",
];

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
    let mut widths = HEADS.map(str::len);
    let mut is_first = true;
    loop {
        let page = catalogue.list(&after, PAGE, state).await?;
        let Some(last) = page.last() else {
            break;
        };
        after.clone_from(&last.name);
        if is_json {
            for site in &page {
                let mut line = document(site);
                line["version"] = 1.into();
                output.data_json(&line.to_string());
            }
        } else {
            print(&page, &mut widths, is_first, output);
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
    if is_json {
        let document = json!({
            "version": 1,
            "site": document(&site.row),
            "added": site.added,
            "state_object": site.state_object,
            "force_next": site.force_next,
            "settings": site.settings,
            "sessions": sessions.iter().map(session_document).collect::<Vec<_>>(),
        });
        output.data_json(&document.to_string());
        return Ok(ExitCode::Success);
    }
    let row = &site.row;
    let state = (paint(row), &*activity(row));
    output.data_painted(&[(Paint::Bold, &row.name), (Paint::Plain, ": "), state]);
    if let Some(reason) = &row.set_aside {
        output.data(&format!("  {reason}"));
    }
    let forced = site.force_next.then(|| "in spite of the guard".to_owned());
    let facts = [
        ("host", Some(row.host.as_str().to_owned())),
        ("output", Some(row.output.clone())),
        ("schedule", row.schedule.clone()),
        ("next crawl", row.next_run.map(minute)),
        ("publishes", forced),
        ("last session", row.outcome.clone()),
        ("last good", row.published.map(minute)),
        ("listed", row.listed.map(human::number)),
        ("state", site.state_object),
        ("added", Some(minute(site.added))),
    ];
    for (name, fact) in facts {
        if let Some(fact) = fact {
            output.data(&format!("  {name:<14}{fact}"));
        }
    }
    output.data("settings:");
    for line in site.settings.lines() {
        output.data(format!("  {line}").trim_end());
    }
    print_sessions(&sessions, output);
    Ok(ExitCode::Success)
}

/// Prints sessions as a table, each with what went wrong below it.
fn print_sessions(sessions: &[CatalogueRun], output: &Output) {
    if sessions.is_empty() {
        return;
    }
    let line = |began: &str, ended: &str, outcome: &str, worker: &str| {
        format!("  {began:<20}  {ended:<20}  {outcome:<12}  {worker}")
    };
    output.data("last sessions:");
    let heads = line("BEGAN", "ENDED", "OUTCOME", "WORKER");
    output.data_painted(&[(Paint::Bold, &heads)]);
    for session in sessions {
        let outcome = session.outcome.as_deref().unwrap_or("under way");
        let ended = session.ended.map_or_else(|| "-".to_owned(), second);
        let began = second(session.began);
        output.data(&line(&began, &ended, outcome, &session.worker));
        let message = match outcome {
            "lost" => Some("the worker did not renew its lease"),
            "given-back" => Some("the worker stopped, or could not begin the session"),
            _ => session
                .summary
                .as_ref()
                .and_then(|summary| summary["message"].as_str()),
        };
        if let Some(message) = message {
            output.data(&format!("    {message}"));
        }
    }
}

/// A site as JSON, without version.
fn document(site: &SiteRow) -> Value {
    json!({
        "name": site.name,
        "host": site.host.as_str(),
        "state": site.state.as_str(),
        "paused": site.is_paused,
        "set_aside": site.set_aside,
        "output": site.output,
        "schedule": site.schedule,
        "next": site.next_run,
        "outcome": site.outcome,
        "last_good": site.published,
        "listed": site.listed,
    })
}

fn session_document(session: &CatalogueRun) -> Value {
    json!({
        "worker": session.worker,
        "began": session.began,
        "ended": session.ended,
        "outcome": session.outcome,
        "summary": session.summary,
    })
}

/// Prints a page of the list. Columns only become wider from one page to the next.
fn print(page: &[SiteRow], widths: &mut [usize; HEADS.len()], with_heads: bool, output: &Output) {
    let rows: Vec<_> = page.iter().map(cells_of).collect();
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: &[String; HEADS.len()]| {
        let cells = cells.iter().zip(widths.iter());
        let cells: Vec<_> = cells
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        cells.join("  ").trim_end().to_owned()
    };
    if with_heads {
        output.data_painted(&[(Paint::Bold, &line(&HEADS.map(str::to_owned)))]);
    }
    for (site, row) in page.iter().zip(&rows) {
        output.data_painted(&[(paint(site), &line(row))]);
        if let Some(reason) = &site.set_aside {
            output.data(&format!("  {reason}"));
        }
    }
}

fn cells_of(site: &SiteRow) -> [String; HEADS.len()] {
    let nothing = || "-".to_owned();
    [
        site.name.clone(),
        activity(site),
        site.outcome.clone().unwrap_or_else(nothing),
        site.published.map_or_else(nothing, minute),
        site.listed.map_or_else(nothing, human::number),
        site.next_run.map_or_else(nothing, minute),
    ]
}

/// The state of a site, for people.
fn activity(site: &SiteRow) -> String {
    let state = site.state.as_str();
    if site.is_paused && site.state == SiteState::Running {
        return format!("{state}, then paused");
    }
    state.to_owned()
}

/// A site that needs somebody is painted as an error.
fn paint(site: &SiteRow) -> Paint {
    match site.state {
        SiteState::SetAside => Paint::Error,
        SiteState::Running
        | SiteState::Paused
        | SiteState::OnDemand
        | SiteState::Due
        | SiteState::Waiting => Paint::Plain,
    }
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
