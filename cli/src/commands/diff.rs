//! `arpent diff`: finds the two sets, lets [`crawler::diff`] compare them, and prints what differs.

use std::path::{Path, PathBuf};

use crawler::{
    check::{CheckProgress, Network},
    diff::{Comparison, SetDiff, SetSide},
    driver::{SessionSettings, site_of_start},
    publish::{PublishError, retained_files},
    sitemap_set::{SetError, SetPlace},
    store::Store,
};

#[cfg(feature = "page")]
use {super::requesting::with_network_of_thread, crawler::clock::Clock, std::sync::Arc};

use super::{
    check::url_of,
    crawl::{begin_log, read_settings_file},
    dependencies,
    requesting::{RequestContext, with_network},
};
use crate::{
    args::DiffArgs,
    exit_code::ExitCode,
    failure::{self, Failure, Misuse},
    output::Output,
    print::print_result,
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
    let progress = CheckProgress::default();
    let config = settings.session.config.clone();
    let context = RequestContext::new(config, clock, &settings.session.state, progress.clone());
    let compared = with_network(context, output, move |network| {
        compare(&names, &settings.session, network, progress)
    });
    let diff = match compared? {
        Err(stopped) => return Ok(stopped),
        Ok(diff) => diff,
    };
    print_result(args.json, &diff, || diff.view(), output)?;
    Ok(ExitCode::Success)
}

/// A set as it was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
enum TypedSet {
    Path(PathBuf),
    Url(String),
    /// A site, and the number of publishes since.
    Archived(String, usize),
}

impl TypedSet {
    fn of(typed: &str) -> Self {
        let Some(url) = url_of(Path::new(typed)) else {
            return Self::Path(PathBuf::from(typed));
        };
        let archived = url.rsplit_once('@').and_then(|(site, back)| {
            let is_number = back.bytes().all(|byte| byte.is_ascii_digit());
            Some((site, back.parse().ok().filter(|_| is_number)?))
        });
        match archived {
            Some((site, back)) => Self::Archived(site.to_owned(), back),
            None => Self::Url(url),
        }
    }

    /// The URL that it was found by.
    fn url(&self) -> Option<String> {
        match self {
            Self::Path(_) => None,
            Self::Url(url) | Self::Archived(url, _) => Some(url.clone()),
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Path(path) => path.display().to_string(),
            Self::Url(url) => url.clone(),
            Self::Archived(url, back) => format!("{url}@{back}"),
        }
    }

    fn place(&self, settings: &SessionSettings) -> failure::Result<SetPlace> {
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
            Self::Archived(url, back) => {
                let site = site_of_start(settings, &settings.config.identity.parse(url)?)?.site;
                let unreadable = |reason| SetError::Unreadable {
                    set: self.name(),
                    reason,
                };
                let state = settings.state_of(&site);
                let store = Store::open_to_read(&state)?.ok_or_else(|| {
                    let folder = settings.state.display();
                    unreadable(format!("there is no state of the site in {folder}"))
                })?;
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

/// Compares the published set of the site `start` with that of `back` publishes ago. Blocks: for a thread of a runtime that may.
///
/// # Errors
/// A set cannot be read.
#[cfg(feature = "page")]
pub(super) fn with_earlier(
    settings: &SessionSettings,
    start: &str,
    back: usize,
    clock: &Arc<dyn Clock>,
) -> failure::Result<SetDiff> {
    let names = [0, back].map(|back| TypedSet::Archived(start.to_owned(), back));
    let progress = CheckProgress::default();
    let config = settings.config.clone();
    let context = RequestContext::new(config, Arc::clone(clock), &settings.state, progress.clone());
    with_network_of_thread(context, |network| {
        compare(&names, settings, network, progress)
    })
}

fn compare(
    names: &[TypedSet; 2],
    settings: &SessionSettings,
    network: Network<'_>,
    progress: CheckProgress,
) -> failure::Result<SetDiff> {
    let mut comparison = Comparison::new(network, progress)?;
    for (side, name) in [SetSide::First, SetSide::Second].into_iter().zip(names) {
        comparison.read(side, &name.name(), &name.place(settings)?)?;
    }
    Ok(comparison.finish()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_is_path_url_or_number() {
        let check = |typed: &str, expected: TypedSet| assert_eq!(TypedSet::of(typed), expected);
        let url = |text: &str| TypedSet::Url(text.to_owned());
        check("out/a@1", TypedSet::Path("out/a@1".into()));
        check("https://h/sitemap.xml", url("https://h/sitemap.xml"));
        check("https://h/@a", url("https://h/@a"));
        check("https://h/@", url("https://h/@"));
        check("https://h/@+1", url("https://h/@+1"));
        let kept = TypedSet::Archived("https://h/docs/".to_owned(), 12);
        check("https://h/docs/@12", kept);
    }
}
