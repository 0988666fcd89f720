//! What `arpent init` prints: what is known of the site, and what to do next.

use crawler::view::View;
use serde_json::json;

use super::{
    files::{self, Plan, SETTINGS},
    questions::Answers,
};
use crate::{
    args::InitArgs,
    failure::{self, Context as _},
    output::Output,
    print::print_view,
};

/// Prints the files, and what to do next.
pub(super) fn steps(plan: &Plan<'_>, written: &[String], output: &Output) {
    let mut view = View::default();
    let section = view.section("next", "");
    for path in written {
        section.fact("written", Some(&**path));
    }
    section.fact("next", Some(next_command(plan.args)));
    let (server, _) = files::server(plan.args.server);
    let include = format!("include {server} in the configuration of the web server");
    section.fact("then", Some(include));
    let (origin, line) = (plan.answers.start.origin(), robots_line(plan.answers));
    let has_line = |sitemaps: &Vec<String>| {
        let mut lines = sitemaps.iter().map(|url| format!("Sitemap: {url}"));
        lines.any(|known| known == line)
    };
    let robots = match plan.survey.robots.sitemaps.as_ref().map(has_line) {
        Some(true) => format!("{origin}/robots.txt has the line already: {line}"),
        Some(false) => format!("add to {origin}/robots.txt: {line}"),
        None => format!("add to {origin}/robots.txt, if it is not there: {line}"),
    };
    section.fact("then", Some(robots));
    let schedule = written.last().map_or("", String::as_str);
    section.fact("then", Some(format!("crawl daily: see {schedule}")));
    print_view(&view, output);
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
