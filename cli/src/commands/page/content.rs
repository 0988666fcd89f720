//! What the pages have: the rows of `arpent status`, and the views of `arpent report` and `arpent why`.

use std::{collections::BTreeSet, fmt::Write as _};

use crawler::{
    driver::find_state,
    human,
    publish::{RetainedSet, retained_sets},
    site::Site,
    site_report::{ReportOutline, each_row},
    site_run::{LiveSession, PastSession, SiteStatus, StatusReport},
    store::Store,
    url_key::UrlKey,
};
use jiff::Timestamp;
use maud::{Markup, PreEscaped, html};

use super::{
    Look,
    access::Login,
    actions::{ACTIONS, ActionKind, Done, SiteAction},
    layout::{Bar, page},
};
use crate::{
    commands::{diff, names::settings_of, why},
    failure::{self, Context as _, Failure},
    print::sections_of,
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
            @if !report.has_daemon { p .quiet { "No daemon runs: nothing crawls these sites by a schedule of the settings." } }
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
            td .bad[served == Some("no")] { (served.unwrap_or("-")) }
            td { (read.unwrap_or_else(dash)) }
            td { (next.unwrap_or_else(dash)) @if let Some(progress) = &site.progress { (bar_of(progress)) } }
        }
    }
}

/// The last sessions, the newest at the right: a bar each, high when its set was good.
fn strip(recent: &[PastSession]) -> Markup {
    let bad = recent.iter().filter(|session| !session.is_good());
    let count = human::count(recent.len() as u64, "session");
    let label = format!("{count}, {} not good", human::number(bad.count() as u64));
    html! {
        @if recent.is_empty() { "-" } @else {
            svg .strip role="img" aria-label=(label) width=(recent.len() * 5) height="20" {
                @for (place, session) in recent.iter().enumerate() {
                    @let height = if session.is_good() { 18 } else { 10 };
                    rect .bad[!session.is_good()] x=(place * 5) y=(20 - height) width="4" height=(height) {
                        title { (human::minute(session.ended)) " " (session.outcome) }
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
pub(super) fn site(look: &Look, is_live_alone: bool) -> String {
    let (site, report) = (&look.site, &look.known.report);
    let done = look.page.0.actions.of_site(&site.name);
    let own = StatusReport {
        now: report.now,
        has_daemon: report.has_daemon,
        sites: vec![site.clone()],
        time_zone: report.time_zone.clone(),
    };
    let ended = done.iter().filter(|done| done.end.is_some()).count();
    let (paused, running) = (site.paused.is_some(), site.running_since);
    let version = format!("{ended} {paused} {:?} {running:?}", site.ended());
    let is_possible = |action: &&SiteAction| action.is_possible(site, report.has_daemon);
    let can_act = look.login.is_some() && !look.known.settings.sites.is_empty();
    let main = html! {
        h1 { (start_of(site)) }
        @if can_act {
            ul .actions aria-label="Actions" {
                @for action in ACTIONS.iter().filter(is_possible) {
                    li { a href=(format!("{}/do/{}", place_of(site), action.word)) { (action.title) } }
                }
            }
        }
        (why_form(site, ""))
        div data-live data-version=(version) {
            @if let Some(progress) = &site.progress { (bar_of(progress)) }
            (PreEscaped(sections_of(&own.view())))
            @if !site.notes().is_empty() {
                section #notes { h2 { "Notes of the last session" } ul { @for note in site.notes() { li { (note) } } } }
            }
            @if !done.is_empty() { (commands(&done)) }
        }
        @if !is_live_alone {
            @match stored(look) {
                Ok((outline, sets)) => {
                    (published(site, &sets, report.now))
                    (PreEscaped(sections_of(&outline.view(start_of(site)))))
                }
                Err(_) if !site.has_ended() => {},
                Err(error) => p .quiet { (error.in_full()) },
            }
        }
    };
    page(start_of(site), &look.bar(), &main)
}

fn why_form(site: &SiteStatus, url: &str) -> Markup {
    html! {
        form .filter action=(format!("{}/why", place_of(site))) role="search" {
            p { label for="url" { "Why is this URL listed, or not?" } input #url name="url" required inputmode="url" placeholder="/page.html" value=(url); }
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
fn published(site: &SiteStatus, sets: &[RetainedSet], now: Timestamp) -> Markup {
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
                                        a href=(format!("{}/set/{back}", place_of(site))) { "What a rollback to it changes" }
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

/// What a rollback to the set of `back` publishes ago changes.
pub(super) fn compare(look: &Look, back: usize) -> String {
    let site = &look.site;
    let is_possible = SiteAction::of("rollback").is_some_and(|action| look.check(action).is_ok());
    let can_act = look.login.is_some() && is_possible;
    let compared = key_of(site).and_then(|start| {
        let settings = settings_of(&look.known.settings, &start);
        diff::with_earlier(settings, start.as_str(), back, &look.page.0.clock)
    });
    let main = html! {
        p { a href=(place_of(site)) { (start_of(site)) } }
        h1 { "What a rollback changes" }
        @if can_act {
            ul .actions { li { a href=(format!("{}/do/rollback?value={back}", place_of(site))) { "Roll back" } } }
        }
        @match &compared {
            Ok(compared) => {
                @let view = compared.view();
                p { (view.title) }
                (PreEscaped(sections_of(&view)))
            }
            Err(error) => p .bad { (error.in_full()) },
        }
    };
    page("What a rollback changes", &look.bar(), &main)
}

fn key_of(site: &SiteStatus) -> failure::Result<UrlKey> {
    let start = UrlKey::from_normalised(start_of(site));
    Ok(start.map_err(|error| failure::Misuse(format!("{}: {error}", site.name)))?)
}

/// The site that is looked at, and its state.
fn state_of(look: &Look) -> failure::Result<(Site, Store)> {
    let start = key_of(&look.site)?;
    let (site, path) = find_state(settings_of(&look.known.settings, &start), &start)?;
    let store = Store::open_to_read(&path)?.context("the state is gone")?;
    Ok((site, store))
}

/// The sets of a site.
///
/// # Errors
/// There is no state, or it cannot be read.
pub(super) fn sets_of(look: &Look) -> failure::Result<Vec<RetainedSet>> {
    Ok(retained_sets(&state_of(look)?.1)?)
}

/// What the state of a site has for its page.
fn stored(look: &Look) -> failure::Result<(ReportOutline, Vec<RetainedSet>)> {
    let (site, store) = state_of(look)?;
    let sets = retained_sets(&store)?;
    let mut outline = ReportOutline::default();
    each_row(&store, &site, &mut |row| {
        outline.add(&row);
        Ok::<(), std::convert::Infallible>(())
    })
    .map_err(|error| Failure::from(failure::Misuse(error.to_string())))?;
    Ok((outline, sets))
}

/// Why a URL is listed, or not. `typed` may be a path of the site.
pub(super) fn why(look: &Look, typed: &str) -> String {
    let site = &look.site;
    let url = match key_of(site) {
        Ok(start) if typed.starts_with('/') => format!("{}{typed}", start.origin()),
        _ => typed.to_owned(),
    };
    let explained = why::view_of(
        &look.known.settings,
        &url,
        start_of(site),
        &look.page.0.clock,
    );
    let main = html! {
        p { a href=(place_of(site)) { (start_of(site)) } }
        h1 { (explained.as_ref().map_or(&*url, |view| &*view.title)) }
        (why_form(site, &url))
        @match &explained {
            Ok(view) => (PreEscaped(sections_of(view))),
            Err(error) => p .bad { (error.in_full()) },
        }
    };
    page(&url, &look.bar(), &main)
}

/// What an action will do, and the form that starts it. `problem`: why the form was not taken before; empty: it is new.
pub(super) fn confirm(look: &Look, action: &SiteAction, value: &str, problem: &str) -> String {
    let site = &look.site;
    let line = action.arguments(start_of(site), "").join(" ");
    let token = |login: &Login| login.form_token(action.word, &site.name);
    let is_rollback = action.kind == ActionKind::RollBack;
    let sets = if is_rollback {
        sets_of(look)
    } else {
        Ok(Vec::new())
    };
    let (sets, unread) = match sets {
        Ok(sets) => (sets, None),
        Err(error) => (Vec::new(), Some(error.in_full())),
    };
    let is_possible = !is_rollback || sets.len() > 1;
    let earlier = sets.iter().enumerate().skip(1);
    let main = html! {
        p { a href=(place_of(site)) { (start_of(site)) } }
        h1 { (action.title) }
        @if !problem.is_empty() { p .bad role="alert" { (problem) } }
        @if !is_possible { p .bad role="alert" { (unread.as_deref().unwrap_or("No earlier set is kept.")) } }
        p { (action.effect) }
        @if action.kind == ActionKind::PublishOnce { @for line in site.lines(look.known.report.now, true) { p { (line) } } }
        p .quiet { "The command: " code { "arpent " (line) } }
        form method="post" .filter {
            input type="hidden" name="token" value=(look.login.as_ref().map(token).unwrap_or_default());
            @if action.kind == ActionKind::Pause {
                p {
                    label for="value" { "Until" }
                    input #value name="value" value=(value) aria-describedby="hint";
                }
            }
            @if let Some(published) = sets.first() {
                input type="hidden" name="seen" value=(published.published);
                fieldset {
                    legend { "Set, instead of that with " (human::count(published.listed, "URL")) }
                    @for (back, set) in earlier {
                        label {
                            input type="radio" name="value" value=(back) checked[value == back.to_string() || value.is_empty() && back == 1];
                            " " (human::minute(set.published)) ", " (human::count(set.listed, "URL"))
                        }
                    }
                }
            }
            p { @if is_possible { button { (action.title) } " " } a href=(place_of(site)) { "Cancel" } }
            @if action.kind == ActionKind::Pause {
                small #hint .quiet { "A day such as 2099-01-31, a time such as 2099-01-31T08:00 (" (site.time_zone.name()) "), or a time from now such as 12h or 3d. Empty: until it is resumed." }
            }
        }
    };
    page(action.title, &look.bar(), &main)
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
    page("Log in", &Bar::Plain, &main)
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
