//! What `arpent init` prints: what the site answered, and what to do next.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context as _;
use crawler::survey::{MAX_REQUESTS, PageSample, SitemapAnswer, SizeBasis, Survey, UrlAnswer};
use serde_json::json;

use super::{files::SETTINGS, questions::Answers};
use crate::human;

/// Width of the names before the facts.
const NAME_WIDTH: usize = 12;

/// Sitemaps that are shown.
const MAX_SITEMAPS: usize = 10;

/// Lines of a list of facts, each with its name; a name is shown once.
#[derive(Default)]
struct Facts {
    lines: Vec<String>,
    last: &'static str,
}

impl Facts {
    fn add(&mut self, name: &'static str, fact: &str) {
        let shown = if name == self.last { "" } else { name };
        self.last = name;
        self.lines.push(format!("{shown:<NAME_WIDTH$}{fact}"));
    }
}

/// What the site answered.
pub(super) fn summary(survey: &Survey) -> Vec<String> {
    let mut facts = Facts::default();
    facts.add("site", &survey.site);
    for (name, answers) in [("start", &survey.hops), ("also", &survey.spellings)] {
        for answer in answers {
            facts.add(name, &answer_line(answer));
        }
    }
    let robots = &survey.robots;
    let status = match robots.status {
        200 => format!("rules for {}", robots.group),
        status => format!("no rules (status {status})"),
    };
    facts.add("robots.txt", &format!("{}: {status}", robots.url));
    for rule in &robots.rules {
        facts.add("robots.txt", &format!("  {rule}"));
    }
    if let Some(delay) = robots.crawl_delay_s {
        facts.add("robots.txt", &format!("  Crawl-delay: {delay} s"));
    }
    for url in robots.sitemaps.iter().take(MAX_SITEMAPS) {
        facts.add("robots.txt", &format!("  Sitemap: {url}"));
    }
    for sitemap in survey.sitemaps.iter().take(MAX_SITEMAPS) {
        facts.add("sitemaps", &sitemap_line(sitemap));
    }
    let links = human::count(survey.start_page.links, "link");
    facts.add("start page", &format!("{links} to pages of the site"));
    facts.add("sample", &sample_line(&survey.sample));
    let size = &survey.size;
    let (about, of) = match size.basis {
        SizeBasis::Sitemaps => ("", "in the site's sitemaps"),
        SizeBasis::SomeSitemaps => ("about ", "in the site's sitemaps"),
        SizeBasis::Seen => ("at least ", "seen in links"),
    };
    let urls = human::count(size.urls, "URL");
    facts.add("size", &format!("{about}{urls} {of}"));
    let time = human::duration(Duration::from_secs(size.seconds));
    facts.add(
        "time",
        &format!("{about}{time} at the pace of these settings"),
    );
    let requests = human::count(survey.requests.into(), "request");
    facts.add("asked", &format!("{requests} of at most {MAX_REQUESTS}"));
    for note in &survey.notes {
        facts.add("note", &note.text);
    }
    facts.lines
}

fn answer_line(answer: &UrlAnswer) -> String {
    let url = &answer.url;
    match (answer.status, &answer.redirects_to, &answer.error) {
        (Some(status), Some(target), _) => format!("{url} redirects to {target} ({status})"),
        (Some(status), None, _) => format!("{url} answers {status}"),
        // Most errors name the URL.
        (None, _, Some(error)) => format!("{url}: no answer ({error})"),
        (None, _, None) => format!("{url}: no answer"),
    }
}

fn sitemap_line(sitemap: &SitemapAnswer) -> String {
    let answer = match (sitemap.status, sitemap.is_index) {
        (Some(200), true) => "an index".to_owned(),
        (Some(200), false) => human::count(sitemap.urls, "URL"),
        (Some(status), _) => format!("status {status}"),
        (None, _) => "no answer".to_owned(),
    };
    let elsewhere = (sitemap.elsewhere > 0).then(|| {
        let elsewhere = human::number(sitemap.elsewhere);
        format!("{elsewhere} outside of the crawled directory")
    });
    let parts = [Some(answer), elsewhere, sitemap.error.clone()];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    format!("{}: {}", sitemap.url, parts.join(", "))
}

fn sample_line(sample: &PageSample) -> String {
    let statuses = sample.statuses.iter();
    let mut parts: Vec<_> = statuses
        .map(|(status, count)| format!("{count} answered {status}"))
        .collect();
    if sample.unanswered > 0 {
        parts.push(format!("{} did not answer", sample.unanswered));
    }
    if let Some(median) = sample.median_answer_ms {
        let median = human::duration(Duration::from_millis(median));
        parts.push(format!("median time of an answer {median}"));
    }
    let pages = human::count(sample.pages().into(), "page");
    format!("{pages}: {}", parts.join(", "))
}

/// The files, and what to do next.
pub(super) fn steps(survey: &Survey, answers: &Answers, written: &[PathBuf]) -> Vec<String> {
    let mut facts = Facts::default();
    for path in written {
        facts.add("written", &path.display().to_string());
    }
    let origin = answers.start.origin();
    facts.add("next", &next_command(written));
    let server = written.get(1).map(|path| path.display().to_string());
    let server = server.unwrap_or_default();
    facts.add(
        "then",
        &format!("include {server} in the configuration of the web server"),
    );
    let line = robots_line(answers);
    let is_there = |url: &String| line.strip_prefix("Sitemap: ") == Some(url);
    let robots = if survey.robots.sitemaps.iter().any(is_there) {
        format!("{origin}/robots.txt has the line already: {line}")
    } else {
        format!("add to {origin}/robots.txt: {line}")
    };
    facts.add("then", &robots);
    if let Some(schedule) = written.last() {
        facts.add("then", &format!("crawl daily: see {}", schedule.display()));
    }
    facts.lines
}

fn robots_line(answers: &Answers) -> String {
    format!("Sitemap: {}sitemap.xml", answers.public_url)
}

/// The command that crawls with the written settings.
fn next_command(written: &[PathBuf]) -> String {
    let settings = written
        .first()
        .map_or(Path::new(SETTINGS), PathBuf::as_path);
    let is_found = std::env::current_dir().is_ok_and(|folder| settings.parent() == Some(&folder));
    if is_found {
        format!("arpent crawl -c {SETTINGS}")
    } else {
        format!("arpent crawl -c \"{}\"", settings.display())
    }
}

/// All of it as one object.
pub(super) fn json(
    survey: &Survey,
    answers: &Answers,
    written: &[PathBuf],
) -> anyhow::Result<String> {
    let mut json = serde_json::to_value(survey).context("failed to print the result")?;
    json["version"] = json!(1);
    json["robots_line"] = json!(robots_line(answers));
    json["next"] = json!(next_command(written));
    let written = written.iter().map(|path| path.display().to_string());
    json["written"] = json!(written.collect::<Vec<_>>());
    Ok(json.to_string())
}
