//! What the pages have: the rows of `arpent status`, and the views of `arpent report` and `arpent why`.

use std::{collections::BTreeSet, fmt::Write as _, sync::Arc};

use crawler::{
    clock::Clock,
    human,
    publish::{RetainedSet, retained_sets},
    site_report::{ReportOutline, each_row},
    site_run::{LiveSession, PastSession, SessionOutcome, SiteStatus, StatusReport},
    store::Store,
    url_key::UrlKey,
};
use jiff::Timestamp;
use maud::{Markup, PreEscaped, html};

use super::{
    actions::{Done, SiteAction},
    layout::{Bar, page},
};
use crate::{
    commands::{diff, names::covering, why},
    failure::{self, Context as _, Failure},
    print::sections_of,
    settings::CrawlSettings,
};

/// Sites that are shown; a filter finds the others.
const MAX_SITES: usize = 500;

/// Events of the feed.
const MAX_EVENTS: usize = 100;

/// The start URL of a site, or its name where that is not known.
pub(super) fn start_of(site: &SiteStatus) -> &str {
    site.start.as_deref().unwrap_or(&site.name)
}

/// The path of the page of a site.
pub(super) fn place_of(site: &SiteStatus) -> String {
    let mut place = "/site/".to_owned();
    for byte in site.name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            place.push(byte.into());
        } else {
            _ = write!(place, "%{byte:02X}");
        }
    }
    place
}

/// All sites, the worst first. `filter`: a part of a name, and an outcome.
pub(super) fn sites(report: &StatusReport, filter: (&str, &str), bar: &Bar) -> String {
    let (name, outcome) = filter;
    let outcomes: BTreeSet<&str> = report.sites.iter().map(SiteStatus::outcome).collect();
    let is_wanted = |site: &&SiteStatus| {
        let is_named = start_of(site).contains(name) || site.name.contains(name);
        is_named && (outcome.is_empty() || site.outcome() == outcome)
    };
    let found: Vec<&SiteStatus> = report.sites.iter().filter(is_wanted).collect();
    let failed = found.iter().filter(|site| site.has_failed()).count() as u64;
    let main = html! {
        h1 data-live { (human::count(found.len() as u64, "site")) @if failed > 0 { ", " span .bad { (human::number(failed)) " with trouble" } } }
        form .filter role="search" {
            p { label for="name" { "Name" } input #name type="search" name="name" value=(name); }
            p {
                label for="outcome" { "Last session" }
                select #outcome name="outcome" {
                    option value="" { "any" }
                    @for one in &outcomes { option selected[*one == outcome] { (one) } }
                }
            }
            p { button { "Show" } }
        }
        div data-live {
            @if !report.has_daemon { p .quiet { "No daemon runs with these states." } }
            div .scroll tabindex="0" role="region" aria-label="Sites" {
                table {
                    thead { tr {
                        @for head in ["Site", "Last session", "Sessions", "Listed", "Last good set", "Served", "Read by Google", "Next crawl"] { th scope="col" { (head) } }
                    } }
                    tbody { @for site in found.iter().take(MAX_SITES) { (row(site, report.now)) } }
                }
            }
            @if found.len() > MAX_SITES { p .quiet { "and " (human::number((found.len() - MAX_SITES) as u64)) " more: type a part of a name" } }
        }
    };
    page("Sites", bar, &main)
}

fn row(site: &SiteStatus, now: Timestamp) -> Markup {
    let [_, _, ended, listed, good, next] = site.cells(now);
    let dash = || "-".to_owned();
    let served = site.served();
    let read = site
        .read_by_google()
        .map(|read| read.map_or_else(|| "not yet".to_owned(), |read| human::relative(read, now)));
    html! {
        tr {
            td { a href=(place_of(site)) { (start_of(site)) } @for line in site.lines(now, false) { small { (line) } } }
            td { span .bad[site.has_failed()] { (site.outcome()) } small { (ended.unwrap_or_default()) } }
            td { (strip(site.recent())) }
            td .number { (listed.unwrap_or_else(dash)) @if let Some(change) = site.change() { small { (change) } } }
            td { (good.unwrap_or_else(dash)) }
            td { (served.unwrap_or("-")) }
            td { (read.unwrap_or_else(dash)) }
            td { (next.unwrap_or_else(dash)) @if let Some(progress) = &site.progress { (bar_of(progress)) } }
        }
    }
}

/// The last sessions, the newest at the right: a bar each, high when its set was good.
fn strip(recent: &[PastSession]) -> Markup {
    let is_bad =
        |outcome: SessionOutcome| !outcome.is_good() && outcome != SessionOutcome::Interrupted;
    let bad = recent.iter().filter(|session| is_bad(session.outcome));
    let count = human::count(recent.len() as u64, "session");
    let label = format!("{count}, {} not good", human::number(bad.count() as u64));
    html! {
        @if recent.is_empty() { "-" } @else {
            svg .strip role="img" aria-label=(label) width=(recent.len() * 5) height="20" {
                @for (place, session) in recent.iter().enumerate() {
                    @let height = if session.outcome.is_good() { 18 } else { 10 };
                    rect .bad[is_bad(session.outcome)] x=(place * 5) y=(20 - height) width="4" height=(height) {
                        title { (human::minute(session.ended)) " " (session.outcome.as_str()) }
                    }
                }
            }
        }
    }
}

/// How far a session is.
fn bar_of(progress: &LiveSession) -> Markup {
    html! {
        @if let Some(percent) = progress.percent {
            progress aria-label="Pages done" max="100" value=(percent) { (percent) " %" }
        }
    }
}

/// A site: its status, what can be done with it, and, unless only what is live is wanted, its report.
pub(super) fn site(
    settings: &CrawlSettings,
    report: &StatusReport,
    site: &SiteStatus,
    done: &[Done],
    is_live_alone: bool,
    bar: &Bar,
) -> String {
    let mut own = report.clone();
    own.sites = vec![site.clone()];
    let can_act = bar.is_logged_in() && !settings.sites.is_empty();
    let main = html! {
        h1 { (start_of(site)) }
        @if can_act {
            ul .actions aria-label="Actions" {
                @for action in SiteAction::ALL.into_iter().filter(|action| action.is_possible(site)) {
                    li { a href=(format!("{}/do/{}", place_of(site), action.word())) { (action.title()) } }
                }
            }
        }
        (why_form(site, ""))
        div data-live {
            @if let Some(progress) = &site.progress { (bar_of(progress)) }
            (PreEscaped(sections_of(&own.view())))
            @if !done.is_empty() { (commands(done)) }
        }
        @if !is_live_alone {
            @match stored(settings, site) {
                Ok((outline, sets)) => {
                    (published(site, &sets, report.now, can_act))
                    (PreEscaped(sections_of(&outline.view(start_of(site)))))
                }
                Err(error) => p .quiet { (error.in_full()) },
            }
        }
    };
    page(start_of(site), bar, &main)
}

fn why_form(site: &SiteStatus, url: &str) -> Markup {
    html! {
        form .filter action=(format!("{}/why", place_of(site))) role="search" {
            p { label for="url" { "Why is this URL listed, or not?" } input #url type="url" name="url" required value=(url); }
            p { button { "Why" } }
        }
    }
}

/// The commands that were started from this page.
fn commands(done: &[Done]) -> Markup {
    html! {
        section #done {
            h2 { "Commands of this page" }
            @for one in done {
                @let end = match &one.end {
                    None => "runs".to_owned(),
                    Some((Some(code), _)) => format!("exit code {code}"),
                    Some((None, _)) => "killed".to_owned(),
                };
                p { code { (one.line) } " " span .quiet { (human::minute(one.began)) ", " (end) } }
                @if let Some((_, text)) = &one.end { @if !text.is_empty() { pre { (text) } } }
            }
        }
    }
}

/// The published set, and those that can be restored.
fn published(site: &SiteStatus, sets: &[RetainedSet], now: Timestamp, can_act: bool) -> Markup {
    html! {
        @if !sets.is_empty() {
            section #sets {
                h2 { "Published sets" }
                div .scroll tabindex="0" role="region" aria-label="Published sets" {
                    table {
                        thead { tr { @for head in ["Published", "URLs", "What can be done"] { th scope="col" { (head) } } } }
                        tbody { @for (back, set) in sets.iter().enumerate() {
                            tr {
                                td { (human::minute(set.published)) small { (human::relative(set.published, now)) } }
                                td .number { (human::number(set.listed)) }
                                td {
                                    @if back == 0 { "published now" } @else {
                                        a href=(format!("{}/set/{back}", place_of(site))) { "Compare with the published set" }
                                        @if can_act { " " a href=(format!("{}/do/rollback?value={back}", place_of(site))) { "Roll back to it" } }
                                    }
                                }
                            }
                        } }
                    }
                }
            }
        }
    }
}

/// What changed since the set of `back` publishes ago.
pub(super) fn compare(
    settings: &CrawlSettings,
    site: &SiteStatus,
    back: usize,
    clock: &Arc<dyn Clock>,
    bar: &Bar,
) -> String {
    let compared = key_of(site).and_then(|start| {
        let (settings, _) = covering(settings, &start)?;
        diff::with_published(settings, start.as_str(), back, clock)
    });
    let main = html! {
        p { a href=(place_of(site)) { (start_of(site)) } }
        h1 { "The published set (B) and the one of " (human::count(back as u64, "publish")) " ago (A)" }
        @match &compared {
            Ok(compared) => {
                @let view = compared.view();
                p { (view.title) }
                (PreEscaped(sections_of(&view)))
            }
            Err(error) => p .bad { (error.in_full()) },
        }
    };
    page("Two sets", bar, &main)
}

fn key_of(site: &SiteStatus) -> failure::Result<UrlKey> {
    let start = UrlKey::from_normalised(start_of(site));
    Ok(start.map_err(|error| failure::Misuse(format!("{}: {error}", site.name)))?)
}

/// What the state of a site has for its page.
fn stored(
    settings: &CrawlSettings,
    site: &SiteStatus,
) -> failure::Result<(ReportOutline, Vec<RetainedSet>)> {
    let (_, (site, path)) = covering(settings, &key_of(site)?)?;
    let store = Store::open_to_read(&path)?.context("the state is gone")?;
    let sets = retained_sets(&store)?;
    let mut outline = ReportOutline::default();
    each_row(&store, &site, &mut |row| {
        outline.add(&row);
        Ok::<(), std::convert::Infallible>(())
    })
    .map_err(|error| Failure::from(failure::Misuse(error.to_string())))?;
    Ok((outline, sets))
}

/// Why a URL is listed, or not.
pub(super) fn why(
    settings: &CrawlSettings,
    site: &SiteStatus,
    url: &str,
    clock: &Arc<dyn Clock>,
    bar: &Bar,
) -> String {
    let explained = why::view_of(settings, url, clock);
    let main = html! {
        p { a href=(place_of(site)) { (start_of(site)) } }
        h1 { (explained.as_ref().map_or(url, |view| &*view.title)) }
        (why_form(site, url))
        @match &explained {
            Ok(view) => (PreEscaped(sections_of(view))),
            Err(error) => p .bad { (error.in_full()) },
        }
    };
    page(url, bar, &main)
}

/// What an action will do, and the form that starts it.
pub(super) fn confirm(
    site: &SiteStatus,
    action: SiteAction,
    value: &str,
    token: &str,
    bar: &Bar,
) -> String {
    let line = action.arguments(start_of(site), value).join(" ");
    let main = html! {
        p { a href=(place_of(site)) { (start_of(site)) } }
        h1 { (action.title()) }
        p { (action.effect()) }
        p .quiet { "The command: " code { "arpent " (line) } }
        form method="post" .filter {
            input type="hidden" name="token" value=(token);
            @if let Some((question, _)) = action.question() {
                p { label for="value" { (question) } input #value name="value" value=(value); }
            }
            p { button { (action.title()) } }
        }
    };
    page(action.title(), bar, &main)
}

/// The form with the token.
pub(super) fn login(has_token: bool, problem: &str) -> String {
    let main = html! {
        h1 { "Log in" }
        @if has_token {
            @if !problem.is_empty() { p .bad role="alert" { (problem) } }
            form method="post" action="/login" .filter {
                p { label for="token" { "Token (page_token_file of the settings)" } input #token type="password" name="token" required autocomplete="current-password"; }
                p { button { "Log in" } }
            }
        } @else {
            p { "The page is read only: the settings have no page_token_file." }
        }
    };
    page("Log in", &Bar::ReadOnly, &main)
}

/// The ends of the last sessions as an Atom feed (RFC 4287).
pub(super) fn feed(report: &StatusReport) -> String {
    let mut sites: Vec<_> = report
        .sites
        .iter()
        .filter(|site| site.ended().is_some())
        .collect();
    sites.sort_by_key(|site| std::cmp::Reverse(site.ended()));
    let updated = sites
        .first()
        .and_then(|site| site.ended())
        .unwrap_or(report.now);
    let feed = html! {
        (PreEscaped("<?xml version=\"1.0\" encoding=\"utf-8\"?>"))
        feed xmlns="http://www.w3.org/2005/Atom" {
            title { "arpent" }
            id { "urn:arpent:events" }
            link rel="self" href="/events.atom" {}
            updated { (updated) }
            author { name { "arpent" } }
            @for site in sites.into_iter().take(MAX_EVENTS) {
                @let ended = site.ended().unwrap_or(updated);
                entry {
                    title { (start_of(site)) ": " (site.outcome()) }
                    id { "urn:arpent:" (place_of(site)) ":" (ended) }
                    link href=(place_of(site)) {}
                    updated { (ended) }
                    summary { @for line in site.lines(report.now, false) { (line) " " } }
                }
            }
        }
    };
    feed.into_string()
}

/// How the last session of a site ended, as a picture.
pub(super) fn badge(site: &SiteStatus) -> String {
    let (text, colour) = (
        site.outcome(),
        if site.has_failed() {
            "#a51d2d"
        } else {
            "#1d6b39"
        },
    );
    let width = 60 + 8 * text.len();
    let badge = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(width) height="20" role="img" aria-label=(format!("sitemap: {text}")) {
            rect width=(width) height="20" rx="3" fill=(colour) {}
            rect width="60" height="20" rx="3" fill="#45454f" {}
            g fill="#fff" font-family="sans-serif" font-size="12" {
                text x="6" y="14" { "sitemap" }
                text x="66" y="14" { (text) }
            }
        }
    };
    badge.into_string()
}
