//! What `arpent init` prints: what the site answered, and what to do next.

use std::{iter, time::Duration};

use crawler::survey::{MAX_REQUESTS, PageSample, SitemapAnswer, Survey, UrlAnswer};
use serde_json::json;

use super::{
    files::{self, Plan, SETTINGS},
    questions::Answers,
};
use crate::{
    args::InitArgs,
    failure::{self, Context as _},
    human,
    output::Output,
};

/// Width of the names before the facts.
const NAME_WIDTH: usize = 12;

/// Prints facts, each after its name; the name of several facts is shown once.
struct Facts<'o> {
    output: &'o Output,
    last: &'static str,
}

impl Facts<'_> {
    fn print(&mut self, name: &'static str, fact: &str) {
        let shown = if name == self.last { "" } else { name };
        self.output.data(&format!("{shown:<NAME_WIDTH$}{fact}"));
        self.last = name;
    }
}

/// Prints what the site answered.
pub(super) fn summary(survey: &Survey, output: &Output) {
    let mut facts = Facts { output, last: "" };
    facts.print("site", &survey.site);
    for (name, answers) in [("start", &survey.hops), ("also", &survey.spellings)] {
        for answer in answers {
            facts.print(name, &answer_line(answer, iter::empty()));
        }
    }
    let robots = &survey.robots;
    facts.print(
        "robots.txt",
        &format!("{} answers {}", robots.url, robots.status),
    );
    for rule in &robots.rules {
        facts.print("robots.txt", &format!("  {rule}"));
    }
    if let Some(delay) = robots.crawl_delay_s {
        facts.print("robots.txt", &format!("  Crawl-delay: {delay}"));
    }
    for sitemap in &survey.sitemaps {
        facts.print("sitemaps", &sitemap_line(sitemap));
    }
    let links = human::count(survey.links as u64, "link");
    facts.print("start page", &format!("{links} to pages of the site"));
    facts.print("sample", &sample_line(&survey.sample));
    let is_listed = survey.sitemaps.iter().any(|sitemap| sitemap.urls > 0);
    let about = if is_listed { "about" } else { "at least" };
    let urls = human::count(survey.urls, "URL");
    facts.print("size", &format!("{about} {urls} in sitemaps and links"));
    let time = human::duration(Duration::from_secs(survey.seconds));
    facts.print(
        "time",
        &format!("{about} {time} at the pace of these settings"),
    );
    let requests = human::count(survey.requests.into(), "request");
    facts.print("asked", &format!("{requests} of at most {MAX_REQUESTS}"));
    for note in &survey.notes {
        facts.print("note", &note.text);
    }
}

/// The answer of a URL, and more facts about it.
fn answer_line(answer: &UrlAnswer, more: impl Iterator<Item = String>) -> String {
    let status = match answer.status {
        Some(status) => format!("{} answers {status}", answer.url),
        None => format!("{} does not answer", answer.url),
    };
    let target = answer.redirects_to.iter();
    let target = target.map(|target| format!("redirects to {target}"));
    let parts = iter::once(status).chain(target).chain(more);
    let parts: Vec<_> = parts.chain(answer.error.clone()).collect();
    parts.join(", ")
}

fn sitemap_line(sitemap: &SitemapAnswer) -> String {
    let index = sitemap.is_index.then(|| "an index".to_owned());
    let counts = [
        (sitemap.urls, ""),
        (sitemap.elsewhere, " outside of the crawled directory"),
    ];
    let counts = counts.into_iter().filter(|(urls, _)| *urls > 0);
    let counts = counts.map(|(urls, place)| format!("{}{place}", human::count(urls, "URL")));
    answer_line(&sitemap.answer, index.into_iter().chain(counts))
}

fn sample_line(sample: &PageSample) -> String {
    let statuses = sample.statuses.iter();
    let statuses = statuses.map(|(status, count)| format!("{count} answered {status}"));
    let unanswered = Some(sample.unanswered).filter(|count| *count > 0);
    let unanswered = unanswered.map(|count| format!("{count} did not answer"));
    let answers: Vec<_> = statuses.chain(unanswered).collect();
    let pages = human::count(sample.pages().into(), "page");
    let median = human::duration(sample.median_answer);
    format!(
        "{pages}: {}, median time of an answer {median}",
        answers.join(", ")
    )
}

/// Prints the files, and what to do next.
pub(super) fn steps(plan: &Plan<'_>, written: &[String], output: &Output) {
    let mut facts = Facts { output, last: "" };
    for path in written {
        facts.print("written", path);
    }
    facts.print("next", &next_command(plan.args));
    let (server, _) = files::server(plan.args.server);
    facts.print(
        "then",
        &format!("include {server} in the configuration of the web server"),
    );
    let (origin, line) = (plan.answers.start.origin(), robots_line(plan.answers));
    let mut lines = plan
        .survey
        .robots
        .sitemaps
        .iter()
        .map(|url| format!("Sitemap: {url}"));
    let robots = if lines.any(|known| known == line) {
        format!("{origin}/robots.txt has the line already: {line}")
    } else {
        format!("add to {origin}/robots.txt: {line}")
    };
    facts.print("then", &robots);
    let schedule = written.last().map_or("", String::as_str);
    facts.print("then", &format!("crawl daily: see {schedule}"));
}

fn robots_line(answers: &Answers) -> String {
    format!("Sitemap: {}sitemap.xml", answers.public_url)
}

/// The command that crawls with the written settings.
fn next_command(args: &InitArgs) -> String {
    match &args.output {
        Some(folder) => format!("arpent crawl -c \"{}\"", folder.join(SETTINGS).display()),
        None => format!("arpent crawl -c {SETTINGS}"),
    }
}

/// All of it as one object.
pub(super) fn json(plan: &Plan<'_>, written: &[String]) -> failure::Result<String> {
    let mut json = serde_json::to_value(plan.survey).context("failed to print the result")?;
    json["version"] = json!(1);
    json["robots_line"] = json!(robots_line(plan.answers));
    json["next"] = json!(next_command(plan.args));
    json["written"] = json!(written);
    Ok(json.to_string())
}
