//! `arpent diff`: finds the two sets, lets [`crawler::diff`] compare them, and prints what differs.

use std::path::{Path, PathBuf};

use crawler::{
    check::{CheckProgress, Network},
    diff::{Comparison, SectionDiff, SetDiff},
    publish::{PublishError, retained_files},
    report::SetChanges,
    sitemap_set::{SetError, SetOutline, SetPlace},
    store::{SetSide, Store},
};

use super::{
    check::url_of,
    crawl::{begin_log, read_settings_file},
    dependencies,
    names::site_of,
    requesting::{Means, with_network},
};
use crate::{
    args::DiffArgs,
    exit_code::ExitCode,
    failure::{self, Context as _, Failure, Misuse},
    human,
    output::Output,
    settings::{Environment, Settings},
};

/// Runs the command.
///
/// # Errors
/// The settings make no sense, or a set cannot be read.
pub(super) fn run(
    args: &DiffArgs,
    environment: &Environment,
    output: &Output,
) -> failure::Result<ExitCode> {
    if args.settings.0.has("quiet") {
        output.be_quiet();
    }
    let names = [&args.first, &args.second].map(|typed| TypedSet::of(typed));
    let urls = names.iter().filter_map(TypedSet::url).collect();
    let settings = Settings::load_check(
        args.settings.0.clone(),
        urls,
        environment,
        read_settings_file,
    )?;
    begin_log(&settings, output);
    let clock = dependencies::clock(environment);
    let is_json = args.json;
    let means = Means {
        config: settings.config.clone(),
        clock,
        retry_after: dependencies::retry_after(&settings.state),
        progress: CheckProgress::default(),
    };
    let progress = means.progress.clone();
    let compared = with_network(means, output, move |network| {
        compare(&names, &settings, network, progress)
    });
    let diff = match compared? {
        (Err(_), Some(stopped)) => return Ok(stopped),
        (diff, _) => diff?,
    };
    if is_json {
        output.data_json(&serde_json::to_string(&diff).context("failed to print the result")?);
    } else {
        for line in text_of(&diff) {
            output.data(&line);
        }
    }
    Ok(ExitCode::Success)
}

/// A set as it was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
enum TypedSet {
    Path(PathBuf),
    Url(String),
    /// A site, and the number of publishes since.
    Kept(String, usize),
}

impl TypedSet {
    fn of(typed: &str) -> Self {
        let Some(url) = url_of(Path::new(typed)) else {
            return Self::Path(PathBuf::from(typed));
        };
        let kept = url.rsplit_once('@').and_then(|(site, back)| {
            let is_number = back.bytes().all(|byte| byte.is_ascii_digit());
            Some((site, back.parse().ok().filter(|_| is_number)?))
        });
        match kept {
            Some((site, back)) => Self::Kept(site.to_owned(), back),
            None => Self::Url(url),
        }
    }

    /// The URL that it was found by.
    fn url(&self) -> Option<String> {
        match self {
            Self::Path(_) => None,
            Self::Url(url) | Self::Kept(url, _) => Some(url.clone()),
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Path(path) => path.display().to_string(),
            Self::Url(url) => url.clone(),
            Self::Kept(url, back) => format!("{url}@{back}"),
        }
    }

    fn place(&self, settings: &Settings) -> failure::Result<SetPlace> {
        Ok(match self {
            Self::Path(path) if !path.exists() => {
                return Err(Misuse(format!(
                    "{}: no such file or folder; expected a folder, a sitemap, a URL or SITE@N",
                    path.display()
                ))
                .into());
            }
            Self::Path(path) => SetPlace::Path(path.clone()),
            Self::Url(url) => SetPlace::Url(settings.config.identity.parse(url)?),
            Self::Kept(url, back) => {
                let site = site_of(settings, &settings.config.identity.parse(url)?)?.site;
                let unreadable = |reason| SetError::Unreadable {
                    set: self.name(),
                    reason,
                };
                let state = settings.state_of(&site);
                if !state.is_file() {
                    let folder = settings.state.display();
                    let reason = format!("there is no state of the site in {folder}");
                    return Err(unreadable(reason).into());
                }
                let store = Store::open(&state)?;
                let copies = settings.generations_of(&site);
                let files = retained_files(&store, &copies, *back);
                let files = files.map_err(|error| match error {
                    PublishError::Settings(reason) => unreadable(reason).into(),
                    error => Failure::from(error),
                });
                SetPlace::Files(files?)
            }
        })
    }
}

fn compare(
    names: &[TypedSet; 2],
    settings: &Settings,
    network: Network<'_>,
    progress: CheckProgress,
) -> failure::Result<SetDiff> {
    let mut comparison = Comparison::new(network, progress)?;
    for (side, name) in [SetSide::First, SetSide::Second].into_iter().zip(names) {
        comparison.read(side, &name.name(), &name.place(settings)?)?;
    }
    Ok(comparison.finish()?)
}

/// The result for people.
fn text_of(diff: &SetDiff) -> Vec<String> {
    let mut lines = vec![outline("A", &diff.a), outline("B", &diff.b)];
    lines.push(counts(&diff.changes, diff.unchanged));
    let sections = diff.sections.iter();
    for section in sections.filter(|section| !section.changes.is_empty()) {
        add_section(section, &mut lines);
    }
    if diff.sections_cut {
        let count = human::number(diff.sections.len() as u64);
        lines.push(format!(
            "only the first {count} directories are shown; the sums have all"
        ));
    }
    lines
}

fn outline(side: &str, set: &SetOutline) -> String {
    let left_out = match set.left_out {
        0 => String::new(),
        1 => ", 1 entry that cannot be read".to_owned(),
        count => format!(", {} entries that cannot be read", human::number(count)),
    };
    format!(
        "{side}: {}: {} in {}{left_out}",
        set.set,
        human::count(set.urls, "URL"),
        human::count(set.sitemaps, "sitemap"),
    )
}

fn counts(changes: &SetChanges, unchanged: u64) -> String {
    format!(
        "{} added, {} removed, {} with another lastmod, {} unchanged",
        human::number(changes.added.count),
        human::number(changes.removed.count),
        human::number(changes.lastmod_moved.count),
        human::number(unchanged),
    )
}

fn add_section(section: &SectionDiff, lines: &mut Vec<String>) {
    let counts = counts(&section.changes, section.unchanged);
    lines.push(format!("{}: {counts}", section.section));
    let SetChanges {
        added,
        removed,
        lastmod_moved,
    } = &section.changes;
    for (mark, urls) in [('+', added), ('-', removed), ('~', lastmod_moved)] {
        lines.extend(urls.first.iter().map(|url| format!("  {mark} {url}")));
        let more = urls.count - urls.first.len() as u64;
        if more > 0 {
            lines.push(format!("  {mark} and {} more", human::number(more)));
        }
    }
}

#[cfg(test)]
mod tests {
    use crawler::report::SetChange;

    use super::*;

    #[test]
    fn a_set_is_a_path_a_url_or_one_that_is_kept() {
        let check = |typed: &str, expected: TypedSet| assert_eq!(TypedSet::of(typed), expected);
        let url = |text: &str| TypedSet::Url(text.to_owned());
        check("out/a@1", TypedSet::Path("out/a@1".into()));
        check("https://h/sitemap.xml", url("https://h/sitemap.xml"));
        check("https://h/@a", url("https://h/@a"));
        check("https://h/@", url("https://h/@"));
        check("https://h/@+1", url("https://h/@+1"));
        let kept = TypedSet::Kept("https://h/docs/".to_owned(), 12);
        check("https://h/docs/@12", kept);
    }

    #[test]
    fn the_text_has_counts_sections_and_the_first_urls() {
        let set = |name: &str, left_out| SetOutline {
            set: name.to_owned(),
            sitemaps: 1,
            urls: 1_200,
            left_out,
        };
        let mut changes = SetChanges::default();
        for number in 0..3 {
            changes.add(SetChange::Added, &format!("https://h/a/{number}"), 2);
        }
        changes.add(SetChange::LastmodMoved, "https://h/a/x", 2);
        let section = |name: &str, changes| SectionDiff {
            section: name.to_owned(),
            changes,
            unchanged: 7,
        };
        let diff = SetDiff {
            version: 1,
            a: set("old", 2),
            b: set("new", 0),
            changes: changes.clone(),
            unchanged: 14,
            sections: vec![
                section("https://h/", SetChanges::default()),
                section("https://h/a/", changes),
            ],
            sections_cut: true,
        };
        assert_eq!(
            text_of(&diff),
            [
                "A: old: 1,200 URLs in 1 sitemap, 2 entries that cannot be read",
                "B: new: 1,200 URLs in 1 sitemap",
                "3 added, 0 removed, 1 with another lastmod, 14 unchanged",
                "https://h/a/: 3 added, 0 removed, 1 with another lastmod, 7 unchanged",
                "  + https://h/a/0",
                "  + https://h/a/1",
                "  + and 1 more",
                "  ~ https://h/a/x",
                "only the first 2 directories are shown; the sums have all",
            ]
        );
    }
}
