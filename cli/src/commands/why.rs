//! `arpent why`: finds the state of the site that a URL belongs to, lets [`crawler::why`] explain it, and prints that.

use anyhow::Context as _;
use crawler::{
    page::Reason,
    store::Store,
    why::{LastAnswer, LastmodStory, NamedUrl, Question, UrlExplanation},
};
use jiff::Timestamp;

use super::{
    crawl::{load, site::places_of},
    dependencies,
    names::{covering, find_state, settings_of},
};
use crate::{
    args::WhyArgs,
    exit_code::{ExitCode, Misuse},
    human,
    output::Output,
    settings::{Environment, Purpose, Settings},
};

/// Width of the names before the facts.
const NAME_WIDTH: usize = 12;

/// Runs the command.
///
/// # Errors
/// The settings make no sense, no state covers the URL, or the state cannot be read.
pub(super) fn run(
    args: &WhyArgs,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let settings = load(Purpose::Look, (args.config.as_deref(), args), environment)?;
    let parse = |settings: &Settings, typed: &str| {
        let parsed = settings.config.identity.parse(typed);
        parsed.map_err(|error| Misuse(format!("{typed}: {error}")))
    };
    let typed = parse(&settings.shared, &args.url)?;
    let wanted = args.site.as_deref();
    let wanted = wanted
        .map(|site| parse(&settings.shared, site))
        .transpose()?;
    let (settings, (site, path)) = match &wanted {
        Some(start) => {
            let settings = settings_of(&settings, start);
            (
                settings,
                find_state(settings, start).context(start.to_string())?,
            )
        }
        None => covering(&settings, &typed)?,
    };
    // Parameters that the site's settings drop.
    let url = parse(settings, &args.url)?;
    let url = site.crawled_key(&url).unwrap_or(url);
    let store = Store::open_to_read(&path)?.context("the state is gone")?;
    let config = places_of(settings, &site)?.config(&settings.config);
    let question = Question {
        store: &store,
        site: &site,
        config: &config,
        clock: &dependencies::clock(environment),
    };
    let explanation = question.explain(&url)?;
    if args.json {
        let json = serde_json::to_string(&explanation).context("failed to print the result")?;
        output.data_json(&json);
    } else {
        for line in text_of(&explanation) {
            output.data(&line);
        }
    }
    Ok(ExitCode::Success)
}

/// The explanation for people.
fn text_of(explanation: &UrlExplanation) -> Vec<String> {
    let mut lines = vec![explanation.url.clone()];
    let reason = explanation.reason.filter(|reason| *reason != "listed");
    let reason = reason
        .map(|reason| format!(" ({reason})"))
        .unwrap_or_default();
    let state = match explanation.state {
        "unknown" => "not known",
        "excluded" => "not listed",
        "failed" => "not listed: failed",
        "queued" => "not listed yet",
        state => state,
    };
    lines.push(format!("{state}{reason}: {}", explanation.why));
    if let Some(advice) = &explanation.advice {
        lines.push(format!("what to do: {advice}"));
    }
    lines.push(String::new());
    for (name, fact) in [
        answer_facts(explanation),
        rule_facts(explanation),
        set_facts(explanation),
    ]
    .concat()
    {
        lines.push(format!("{name:<NAME_WIDTH$}{fact}"));
    }
    lines
}

/// How it was found, and what it answered.
fn answer_facts(explanation: &UrlExplanation) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    let mut add = |name, fact| facts.push((name, fact));
    for (number, step) in explanation.found.iter().enumerate() {
        let name = if number == 0 { "found" } else { "" };
        add(name, format!("{} ({})", step.url, step.via));
    }
    if let Some(answer) = &explanation.answer {
        add("answer", answer_line(answer));
        if let Some(title) = &answer.title {
            add("title", title.clone());
        }
    }
    for (number, step) in explanation.redirects.iter().enumerate() {
        let name = if number == 0 { "redirects" } else { "" };
        let status = step
            .status
            .map(|status| format!("{status}, "))
            .unwrap_or_default();
        add(
            name,
            format!(
                "{} ({status}{})",
                step.url,
                step.reason.unwrap_or("not known")
            ),
        );
    }
    facts
}

/// The rules that decided, and the pages that it is compared with.
fn rule_facts(explanation: &UrlExplanation) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    let mut add = |name, fact| facts.push((name, fact));
    let robots = &explanation.robots;
    add(
        "robots.txt",
        match (&robots.line, robots.allowed, robots.is_read) {
            (Some(line), true, _) => format!("allowed by \"{line}\""),
            (Some(line), false, _) => format!("disallowed by \"{line}\""),
            (None, _, true) => "allowed: no rule matches".to_owned(),
            (None, _, false) => "not known: the last crawl read none".to_owned(),
        },
    );
    let scope = &explanation.scope;
    let rule = scope
        .rule
        .as_ref()
        .map(|rule| format!(" \"{rule}\""))
        .unwrap_or_default();
    add(
        "scope",
        format!("{} by {}{rule}", scope.judgement, scope.setting),
    );
    if !explanation.directives.is_empty() {
        add("directives", explanation.directives.join(", "));
    }
    if let Some(other) = &explanation.canonical {
        add("canonical", other_line(other));
    }
    if let Some(other) = &explanation.duplicate_of {
        add("same page", other_line(other));
    }
    if let Some(pattern) = &explanation.pattern {
        add(
            "pattern",
            format!(
                "{} ({}): {} of the {} that were read before it was closed said something new; the last was {}",
                pattern.name,
                pattern.kind,
                human::number(pattern.new.into()),
                human::count(pattern.pages.into(), "page"),
                pattern.example
            ),
        );
    }
    facts
}

/// Its entry in the published set, and its history.
fn set_facts(explanation: &UrlExplanation) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    let mut add = |name, fact| facts.push((name, fact));
    if let Some(story) = &explanation.lastmod {
        for (number, line) in lastmod_lines(story).into_iter().enumerate() {
            add(if number == 0 { "lastmod" } else { "" }, line);
        }
    }
    if let Some(file) = &explanation.file {
        add("file", file.clone());
    }
    if let Some(history) = &explanation.history {
        add(
            "known",
            format!(
                "since {}, last {}",
                minute(history.first_seen),
                minute(history.last_seen)
            ),
        );
        let times = [
            ("content", "since", history.content_since),
            ("failing", "since", history.failing_since),
            ("gone", "since", history.gone_since),
        ];
        for (name, word, time) in times {
            if let Some(time) = time {
                add(name, format!("{word} {}", minute(time)));
            }
        }
    }
    if let Some(visit) = &explanation.under_way {
        add(
            "unpublished",
            format!(
                "the crawl that is not published has it as {}: {}",
                visit.reason, visit.why
            ),
        );
    }
    facts
}

fn answer_line(answer: &LastAnswer) -> String {
    let mut parts = Vec::new();
    if let Some(status) = answer.status {
        let of = if answer.is_confirmed {
            " (a 304 confirmed it)"
        } else {
            ""
        };
        parts.push(format!("{status}{of}"));
    }
    if let Some(error) = &answer.error {
        parts.push(format!("last attempt: {error}"));
    }
    parts.extend(answer.content_type.clone());
    if answer.bytes > 0 {
        parts.push(human::bytes(answer.bytes));
    }
    parts.extend(answer.fetched_at.map(minute));
    if answer.attempts > 1 {
        parts.push(format!("{} tries", answer.attempts));
    }
    parts.join(", ")
}

fn other_line(other: &NamedUrl) -> String {
    let became = match other.reason {
        Some("listed") => "listed".to_owned(),
        Some(code) => {
            let text = Reason::from_code(code).map_or("", Reason::text);
            format!("{code}: {text}")
        }
        None => "not known".to_owned(),
    };
    format!("{} ({became})", other.url)
}

fn lastmod_lines(story: &LastmodStory) -> Vec<String> {
    let mut lines = Vec::new();
    lines.push(match (&story.value, story.source) {
        (Some(value), Some(source)) => format!("{value}, from {source}"),
        (Some(value), None) => value.clone(),
        (None, _) => "none".to_owned(),
    });
    for evidence in story.evidence.iter().filter(|evidence| !evidence.is_used) {
        let why_not = evidence.why_not.unwrap_or_default();
        lines.push(format!(
            "not {} from {}: {why_not}",
            evidence.value, evidence.source
        ));
    }
    lines
}

fn minute(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%MZ").to_string()
}
