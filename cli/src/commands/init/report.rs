//! What `arpent init` prints: what is known of the site, and what to do next.

use crawler::survey::{Survey, UrlAnswer};
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

/// Prints what the site answered, or what its last crawl found.
pub(super) fn summary(survey: &Survey, output: &Output) {
    let mut facts = Facts { output, last: "" };
    facts.print("site", &survey.site);
    for answer in &survey.hops {
        let UrlAnswer { url, status, .. } = answer;
        let target = answer.redirects_to.as_ref();
        let target = target.map_or_else(String::new, |target| format!(", redirects to {target}"));
        facts.print("start", &format!("{url} answers {status}{target}"));
    }
    let robots = &survey.robots;
    let status = robots.status;
    let status = status.map_or_else(String::new, |status| format!(" answers {status}"));
    facts.print("robots.txt", &format!("{}{status}", robots.url));
    for rule in &robots.rules {
        facts.print("robots.txt", &format!("  {rule}"));
    }
    if let Some(delay) = robots.crawl_delay_s {
        facts.print("robots.txt", &format!("  Crawl-delay: {delay}"));
    }
    for sitemap in &robots.sitemaps {
        facts.print("robots.txt", &format!("  Sitemap: {sitemap}"));
    }
    if let Some(links) = survey.links {
        let links = human::count(links as u64, "link");
        facts.print("start page", &format!("{links} to pages of the site"));
    }
    if let Some(crawl) = &survey.crawl {
        let urls = human::count(crawl.known, "known URL");
        let (listed, ended) = (
            human::number(crawl.listed),
            crawl.ended.strftime("%Y-%m-%d"),
        );
        facts.print("last crawl", &format!("{listed} of {urls} listed, {ended}"));
    }
    for note in &survey.notes {
        facts.print("note", &note.text);
    }
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
