//! `arpent why`: finds the state of the site that a URL belongs to, lets [`crawler::why`] explain it, with `--live`
//! also by asking for it, and prints that.

use std::{path::PathBuf, sync::Arc};

use crawler::{
    check::{CheckProgress, Network},
    clock::Clock,
    config::Config,
    page::Reason,
    site::Site,
    store::Store,
    url_key::UrlKey,
    why::{LastAnswer, LastmodStory, LiveStory, NamedUrl, Question, RobotsLine, UrlExplanation},
};
use jiff::Timestamp;

use super::{
    crawl::{begin_log, load, site::places_of},
    dependencies,
    names::{Named, covering, find_state, settings_of},
    requesting::{Means, with_network},
};
use crate::{
    args::WhyArgs,
    exit_code::ExitCode,
    failure::{self, Cause, Context as _, Misuse},
    human,
    output::Output,
    settings::{CrawlSettings, Environment, Purpose, Settings, with_scheme},
};

/// Width of the names before the facts.
const NAME_WIDTH: usize = 12;

/// A URL with the site that it is in.
struct AskedUrl {
    url: UrlKey,
    site: Site,
    /// The state of the site; `None`: it was never crawled.
    state: Option<PathBuf>,
    /// The settings of the site.
    config: Config,
}

/// Runs the command.
///
/// # Errors
/// The settings make no sense, no state covers the URL, or the state cannot be read.
pub(super) fn run(
    args: &WhyArgs,
    environment: &Environment,
    output: &Output,
) -> failure::Result<ExitCode> {
    let purpose = if args.live {
        Purpose::Ask
    } else {
        Purpose::Look
    };
    let settings = load(purpose, args.settings.0.clone(), environment)?;
    let asked = asked_url(args, &settings)?;
    let clock = dependencies::clock(environment);
    let explanation = if args.live {
        begin_log(&settings.shared, output);
        let means = Means {
            config: asked.config.clone(),
            clock: Arc::clone(&clock),
            retry_after: dependencies::retry_after(&settings.shared.state),
            progress: CheckProgress::default(),
        };
        let explained = with_network(means, output, move |mut network| {
            asked.explain(&clock, Some(&mut network))
        });
        match explained? {
            (Err(_), Some(stopped)) => return Ok(stopped),
            (explanation, _) => explanation?,
        }
    } else {
        asked.explain(&clock, None)?
    };
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

/// The URL of the arguments, by the settings of its site.
fn asked_url(args: &WhyArgs, settings: &CrawlSettings) -> failure::Result<AskedUrl> {
    let parse = |settings: &Settings, typed: &str| {
        let parsed = settings.config.identity.parse(&with_scheme(typed));
        parsed.map_err(|error| {
            Misuse(format!(
                "{typed}: {error}; expected a whole URL, such as https://www.example.com/about"
            ))
        })
    };
    let typed = parse(&settings.shared, &args.url)?;
    let wanted = args.site.as_deref();
    let wanted = wanted
        .map(|site| parse(&settings.shared, site))
        .transpose()?;
    let (settings, site, state) = match &wanted {
        Some(start) => {
            let settings = settings_of(settings, start);
            let (site, path) = find_state(settings, start).context(start.to_string())?;
            (settings, site, Some(path))
        }
        None => match covering(settings, &typed) {
            Ok((settings, (site, path))) => (settings, site, Some(path)),
            // Its answer needs no state.
            Err(error) if args.live && error.cause() == Cause::Misuse => {
                let settings = settings_of(settings, &typed);
                (settings, Named::as_typed(settings, &typed).site, None)
            }
            Err(error) => return Err(error),
        },
    };
    // Parameters that the site's settings drop.
    let url = parse(settings, &args.url)?;
    Ok(AskedUrl {
        url: site.crawled_key(&url).unwrap_or(url),
        config: places_of(settings, &site)?.config(&settings.config),
        site,
        state,
    })
}

impl AskedUrl {
    /// The stored facts about the URL, and with a `network` its current answer.
    fn explain(
        &self,
        clock: &Arc<dyn Clock>,
        network: Option<&mut Network<'_>>,
    ) -> failure::Result<UrlExplanation> {
        let store = match &self.state {
            Some(path) => Store::open_to_read(path)?.context("the state is gone")?,
            None => Store::in_memory()?,
        };
        let question = Question {
            store: &store,
            site: &self.site,
            config: &self.config,
            clock,
        };
        let explained = question.explain(&self.url).and_then(|mut explanation| {
            if let Some(network) = network {
                question.ask(&self.url, network, &mut explanation)?;
            }
            Ok(explanation)
        });
        Ok(explained?)
    }
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
        let is_action = !advice.starts_with("nothing to do");
        let label = if is_action { "what to do: " } else { "" };
        lines.push(format!("{label}{advice}"));
    }
    if let Some(story) = &explanation.live {
        lines.push(format!("now: {}: {}", story.reason, story.why));
    }
    lines.push(String::new());
    for (name, fact) in [
        answer_facts(explanation),
        rule_facts(explanation),
        set_facts(explanation),
        explanation
            .live
            .as_ref()
            .map(live_facts)
            .unwrap_or_default(),
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
    add("robots.txt", robots_fact(robots));
    let scope = &explanation.scope;
    let rule = scope
        .rule
        .as_ref()
        .map(|rule| format!(" \"{rule}\""))
        .unwrap_or_default();
    let judged_by = if scope.setting == "scope" {
        rule
    } else {
        format!(" by {}{rule}", scope.setting)
    };
    add("scope", format!("{}{judged_by}", scope.judgement));
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
                "{} ({}): of {} that were requested {} are not listed because of it; {} were not requested, such as {}",
                pattern.name,
                pattern.kind,
                human::count(pattern.asked, "page"),
                human::number(pattern.left_out),
                human::count(pattern.not_asked, "URL"),
                pattern.example
            ),
        );
    }
    facts
}

fn robots_fact(robots: &RobotsLine) -> String {
    let place = match (robots.number, &robots.group) {
        (Some(number), Some(group)) => format!(" (line {number}, User-agent: {group})"),
        _ => String::new(),
    };
    match (&robots.line, robots.allowed, robots.is_read) {
        (Some(line), true, _) => format!("allowed by \"{line}\"{place}"),
        (Some(line), false, _) => format!("disallowed by \"{line}\"{place}"),
        (None, _, true) => "allowed: no rule matches".to_owned(),
        (None, _, false) => "not known: the last crawl did not read robots.txt".to_owned(),
    }
}

/// The current answer.
fn live_facts(story: &LiveStory) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    let mut add = |name, fact| facts.push((name, fact));
    for (number, hop) in story.hops.iter().enumerate() {
        let name = if number == 0 { "answer now" } else { "" };
        let status = hop.status.map(|status| status.to_string());
        let answer = status.or_else(|| hop.error.clone()).unwrap_or_default();
        add(name, format!("{}: {answer} ({})", hop.url, hop.reason));
        for (header, value) in &hop.headers {
            add("", format!("  {header}: {value}"));
        }
        if let Some(title) = &hop.title {
            add("", format!("  title: {title}"));
        }
        if !hop.directives.is_empty() {
            add("", format!("  directives: {}", hop.directives.join(", ")));
        }
        if let Some(canonical) = &hop.canonical {
            add("", format!("  canonical: {canonical}"));
        }
    }
    if let Some(why) = &story.not_asked {
        add("not asked", why.clone());
    }
    if let Some(robots) = &story.robots {
        add("robots now", robots_fact(robots));
    }
    match story.is_content_changed {
        Some(true) => add("content", "changed since the last answer".to_owned()),
        Some(false) => add("content", "as at the last answer".to_owned()),
        None => {}
    }
    if let Some(differs) = &story.differs {
        add("changed", differs.clone());
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
                "in the crawl that is not published: {}: {}",
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
            " (confirmed by a 304)"
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
