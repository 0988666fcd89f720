//! `arpent check`: reads files, folders and live sitemaps, has every rule checked by
//! [`sitemap_core::validate`], and tells what was found. It decides what is read in which order and where it is
//! taken to be served; what is right and wrong is decided there.

mod bases;
mod folder;
mod guess;
mod live;
mod mounts;
mod network;
mod places;
mod queue;
mod sample;
mod tell;
mod watch;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::{self, BufReader, Read as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use crawler::robots::{MAX_ROBOTS_BYTES, Rules};
use jiff::Timestamp;
use sitemap_core::{
    Loc,
    read::Rule,
    validate::{Answer, DocumentId, Facts, Options, Report, RuleText, Validator},
};

use self::{
    bases::Mount,
    folder::{Folder, has_ending},
    live::{Live, Stopped},
    places::{Base, place_of_file},
    tell::{Served, Teller},
};
use super::seams;
use crate::{
    args::CheckArgs,
    exit_code::{ExitCode, Misuse},
    output::{Output, Paint},
    settings::Environment,
};

/// Under whose name robots.txt is asked whether listed URLs may be fetched: the rules for everybody.
const AGENT: &str = "*";

/// Runs the command.
pub(crate) fn run(
    args: &CheckArgs,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    if let Some(rule) = &args.explain {
        return explain(rule, output);
    }
    if args.quiet {
        output.be_quiet();
    }
    check_input(&args.paths)?;
    let urls: Vec<String> = args.paths.iter().filter_map(|path| url_of(path)).collect();
    if !urls.is_empty() {
        return live::run(args, urls, environment, output);
    }
    if args.pages.is_some() {
        return Err(Misuse(
            "--pages: expected the URL of a sitemap or a site; the pages that a file lists are not asked for"
                .to_owned(),
        )
        .into());
    }
    let mut check = Check::new(args, output, seams::clock(environment).now())?;
    let end = check.all(args, None)?;
    Ok(check.finish(end))
}

/// Refuses standard input that is typed twice: it can be read once.
fn check_input(paths: &[PathBuf]) -> anyhow::Result<()> {
    let inputs = paths.iter().filter(|path| *path == Path::new("-"));
    if inputs.count() > 1 {
        return Err(Misuse("expected `-`, standard input, once".to_owned()).into());
    }
    Ok(())
}

/// The URL that was typed in the place of a path.
fn url_of(path: &Path) -> Option<String> {
    let typed = path.to_str()?;
    let scheme = typed.split_once("://")?.0;
    ["http", "https"]
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known))
        .then(|| typed.to_owned())
}

/// How far a check came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// Through all that was typed.
    Whole,
    /// Somebody asked to stop.
    Stopped,
}

/// The command while it runs.
struct Check<'a> {
    validator: Validator,
    teller: Teller<'a>,
    /// What the robots.txt files say that are known, by origin.
    rules: BTreeMap<String, Arc<Rules>>,
    /// The sitemaps that they name, by origin.
    named: BTreeMap<String, Vec<Loc>>,
    /// Pages that were asked for.
    pages: u64,
    /// How the command ends because of what could not be read.
    worst: ExitCode,
    output: &'a Output,
}

/// A document that is about to be read.
struct Source<'a> {
    name: &'a str,
    place: Option<&'a Loc>,
    /// Where it was asked for, if a redirect led to its place.
    requested: Option<&'a Loc>,
    modified: Option<Timestamp>,
    listed_by: Option<DocumentId>,
    answer: Option<Answer<'a>>,
    served: Served,
}

impl<'a> Source<'a> {
    /// A file.
    fn file(name: &'a str, place: Option<&'a Loc>) -> Self {
        Self {
            name,
            place,
            requested: None,
            modified: None,
            listed_by: None,
            answer: None,
            served: Served {
                url: place.map(Loc::to_string),
                ..Served::default()
            },
        }
    }
}

impl<'a> Check<'a> {
    /// A check that has read nothing but the robots.txt files that were typed.
    fn new(args: &CheckArgs, output: &'a Output, now: Timestamp) -> anyhow::Result<Self> {
        let mut options = Options::new(now);
        options.max_repeats = args.repeats;
        options.is_whole = matches!(&args.paths[..], [path] if path.is_dir());
        let mut check = Self {
            validator: Validator::new(options),
            teller: Teller::new(&args.format, output),
            rules: BTreeMap::new(),
            named: BTreeMap::new(),
            pages: 0,
            worst: ExitCode::Success,
            output,
        };
        for typed in &args.robots {
            check.take_robots(typed)?;
        }
        Ok(check)
    }

    /// Checks everything that was typed.
    ///
    /// # Errors
    /// What was typed makes no sense, and nothing has been told yet.
    fn all(&mut self, args: &CheckArgs, live: Option<&mut Live>) -> anyhow::Result<End> {
        let at = args.at.as_deref().map(read_at).transpose()?;
        let places = places(&args.paths, at.as_ref())?;
        let mut live = live;
        for (path, place) in args.paths.iter().zip(&places) {
            let outcome = match (url_of(path), live.as_deref_mut()) {
                (Some(url), Some(live)) => self.url(&url, live),
                (_, live) => {
                    let outcome = self.path(path, at.as_ref(), place.as_ref());
                    let is_stopping = live.is_some_and(|live| live.is_stopping());
                    outcome.map(|()| if is_stopping { Err(Stopped) } else { Ok(()) })
                }
            };
            match outcome {
                Ok(Ok(())) => {}
                Ok(Err(Stopped)) => return Ok(End::Stopped),
                Err(error) if args.paths.len() == 1 => return Err(error),
                // The others are checked all the same, and what is told of them comes to its end.
                Err(error) => {
                    self.output.error(&format!("{error:#}"));
                    self.worst = self.worst.worse(ExitCode::of_error(&error));
                }
            }
        }
        match live.map(|live| self.pages(live)) {
            Some(Err(Stopped)) => Ok(End::Stopped),
            Some(Ok(())) | None => Ok(End::Whole),
        }
    }
}

impl Check<'_> {
    /// Takes in `--robots ORIGIN=FILE`.
    fn take_robots(&mut self, typed: &str) -> anyhow::Result<()> {
        let expected = || {
            Misuse(format!(
                "--robots: expected https://HOST=FILE, found {typed:?}"
            ))
        };
        let (origin, file) = typed.split_once('=').ok_or_else(expected)?;
        let origin = Loc::parse(origin).map_err(|_| expected())?;
        let body = read_robots(Path::new(file))
            .map_err(|error| Misuse(format!("--robots: cannot read {file}: {error}")))?;
        self.use_robots(&origin, &body);
        Ok(())
    }

    /// Takes in what the robots.txt of an origin says.
    fn use_robots(&mut self, origin: &Loc, body: &[u8]) {
        let Ok(place) = Loc::parse(&format!("{}/robots.txt", origin.origin())) else {
            return;
        };
        self.use_rules(&place, Arc::new(Rules::parse(body, AGENT)));
    }

    /// Takes in what the robots.txt of the origin of a URL says to everybody.
    fn use_rules(&mut self, url: &Loc, rules: Arc<Rules>) {
        let Ok(place) = Loc::parse(&format!("{}/robots.txt", url.origin())) else {
            return;
        };
        let lines = rules.sitemaps().iter().map(String::as_str);
        let teller = &mut self.teller;
        let named = self
            .validator
            .robots(&place, lines, &mut |finding| teller.finding(&finding));
        self.named.insert(place.origin().to_owned(), named);
        self.rules.insert(place.origin().to_owned(), rules);
    }

    /// Checks what was typed as one path.
    fn path(&mut self, path: &Path, at: Option<&Loc>, place: Option<&Loc>) -> anyhow::Result<()> {
        if path == Path::new("-") {
            let source = Source::file("-", place);
            if let Err(error) = self.document(BufReader::new(io::stdin().lock()), &source) {
                self.fail("-", &error);
            }
            return Ok(());
        }
        if path.is_dir() {
            return self.folder(path, at);
        }
        self.file(path, place, None);
        Ok(())
    }

    /// Takes in the robots.txt files of the mounts that stand at the root of a host. One in a folder that several hosts share is that
    /// of the hosts whose sitemaps it names.
    fn take_robots_of(&mut self, path: &Path, mounts: &[Mount], origins: &Origins<'_>) {
        let mut files: BTreeMap<&Path, Option<FolderRobots>> = BTreeMap::new();
        for mount in mounts {
            let base = mount.base.loc();
            if !mount.base.is_root() || self.rules.contains_key(base.origin()) {
                continue;
            }
            let robots = files.entry(&mount.below).or_insert_with(|| {
                let file = path.join(&mount.below).join("robots.txt");
                if !file.is_file() {
                    return None;
                }
                let robots = FolderRobots::read(&file);
                robots
                    .map_err(|error| self.fail(&file.to_string_lossy(), &error))
                    .ok()
            });
            if let Some(robots) = robots
                && (origins[&*mount.below].len() == 1 || robots.named.contains(base.origin()))
            {
                self.use_rules(base, Arc::clone(&robots.rules));
            }
        }
    }

    /// Checks all sitemaps in a folder: indexes, then what they list, then the others.
    fn folder(&mut self, path: &Path, at: Option<&Loc>) -> anyhow::Result<()> {
        let typed = at.map(|at| base_of(path, at)).transpose()?;
        let mut folder = Folder::read(path, typed)?;
        if folder.documents().is_empty() {
            return Err(Misuse(format!("no sitemap found in {}", path.display())).into());
        }
        let mounts = folder.mounts();
        let mut origins = Origins::new();
        for mount in mounts {
            let of_folder = origins.entry(&*mount.below).or_default();
            *of_folder.entry(mount.base.loc().origin()).or_default() += 1;
        }
        if at.is_none() {
            for mount in mounts {
                let of_folder = &origins[&*mount.below];
                let is_shared = of_folder.len() > 1 || of_folder.values().any(|count| *count > 1);
                let index = mount.indexes.first().filter(|_| is_shared);
                let served = path.join(index.unwrap_or(&mount.below));
                // Joining nothing adds a slash.
                let served: PathBuf = served.components().collect();
                self.teller.guessed(&served, mount.base.loc(), is_shared);
            }
        }
        self.take_robots_of(path, mounts, &origins);
        for sitemap in self.named.values().flatten() {
            folder.take_named(sitemap);
        }
        let mut indexes: BTreeMap<PathBuf, DocumentId> = BTreeMap::new();
        for relative in folder.documents() {
            let place = folder.place(relative);
            let listed_by = folder
                .parent(relative)
                .and_then(|parent| indexes.get(parent))
                .copied();
            let file = path.join(relative);
            let Some(report) = self.file(&file, place.as_ref(), listed_by) else {
                continue;
            };
            indexes.insert(relative.clone(), report.document);
            for child in &report.children {
                if let Some(why) = folder.missing(relative, &child.loc) {
                    self.validator
                        .missing(report.document, child, &why, &mut |finding| {
                            self.teller.finding(&finding);
                        });
                }
            }
        }
        Ok(())
    }

    /// Checks one file; `None` when it cannot be opened, which is told.
    fn file(
        &mut self,
        path: &Path,
        place: Option<&Loc>,
        listed_by: Option<DocumentId>,
    ) -> Option<Report> {
        let name = path.to_string_lossy();
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) => {
                self.fail(&name, &error);
                return None;
            }
        };
        let modified = file
            .metadata()
            .and_then(|metadata| metadata.modified())
            .ok()
            .and_then(|modified| Timestamp::try_from(modified).ok());
        let source = Source {
            modified,
            listed_by,
            ..Source::file(&name, place)
        };
        match self.document(BufReader::new(file), &source) {
            Ok(report) => Some(report),
            Err(error) => {
                self.fail(&name, &error);
                None
            }
        }
    }

    /// Checks a document and tells what is wrong with it.
    fn document(&mut self, input: impl io::BufRead, source: &Source<'_>) -> io::Result<Report> {
        let rules = &self.rules;
        let is_blocked = |loc: &Loc| {
            rules
                .get(loc.origin())
                .is_some_and(|rules| !rules.allows(loc.path_and_query()))
        };
        let mut facts = Facts::new(source.name);
        facts.place = source.place;
        facts.requested = source.requested;
        facts.modified = source.modified;
        facts.listed_by = source.listed_by;
        facts.answer = source.answer;
        facts.is_blocked = (!rules.is_empty()).then_some(&is_blocked);
        self.teller.begin(source.name, source.served.clone());
        let report = self
            .validator
            .check(input, &facts, &mut |finding| self.teller.finding(&finding))?;
        self.teller.end(&report);
        Ok(report)
    }

    /// Tells that something cannot be read.
    fn fail(&mut self, name: &str, error: &io::Error) {
        self.worst = self.worst.worse(ExitCode::Usage);
        self.output.error(&format!("cannot read {name}: {error}"));
    }

    fn finish(mut self, end: End) -> ExitCode {
        let (summary, code) = match end {
            End::Whole => {
                let sink = &mut |finding| self.teller.finding(&finding);
                (self.validator.finish(sink), ExitCode::Success)
            }
            End::Stopped => {
                self.output
                    .warn("stopped: what follows is about a part only");
                (self.validator.finish_early(), ExitCode::Interrupted)
            }
        };
        self.teller.finish(&summary, self.pages);
        let found = if summary.counts.errors > 0 {
            ExitCode::Invalid
        } else {
            ExitCode::Success
        };
        code.worse(found).worse(self.worst)
    }
}

/// How many mounts are of each origin, by their folder.
type Origins<'m> = BTreeMap<&'m Path, BTreeMap<&'m str, usize>>;

/// A robots.txt that stands in a folder.
struct FolderRobots {
    rules: Arc<Rules>,
    /// The origins of the sitemaps that it names by whole URLs.
    named: BTreeSet<String>,
}

impl FolderRobots {
    fn read(file: &Path) -> io::Result<Self> {
        let rules = Rules::parse(&read_robots(file)?, AGENT);
        let lines = rules.sitemaps().iter();
        let named = lines.filter_map(|line| Loc::parse(line.trim()).ok());
        Ok(Self {
            named: named.map(|loc| loc.origin().to_owned()).collect(),
            rules: Arc::new(rules),
        })
    }
}

/// What counts of the robots.txt in `file`, and a byte more where it is longer: the rest is as if it were not there.
fn read_robots(file: &Path) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    let most = MAX_ROBOTS_BYTES as u64 + 1;
    File::open(file)?.take(most).read_to_end(&mut body)?;
    Ok(body)
}

/// Where a folder is served by `--at`, which may name it without the slash at its end; the URL of a file is none.
fn base_of(folder: &Path, at: &Loc) -> anyhow::Result<Base> {
    let name = at.path().rsplit('/').next().unwrap_or_default();
    if has_ending(name) {
        return Err(Misuse(format!(
            "--at: expected the URL of the folder {}, with a / at its end, found that of a file: {at}",
            folder.display()
        ))
        .into());
    }
    Base::directory(at)
}

/// Where each of the files that were typed is served, if `at` says so; a folder is asked itself.
fn places(paths: &[PathBuf], at: Option<&Loc>) -> anyhow::Result<Vec<Option<Loc>>> {
    let is_file = |path: &Path| url_of(path).is_none();
    let files = paths.iter().filter(|path| is_file(path)).count();
    paths
        .iter()
        .map(|path| {
            let at = at.filter(|_| is_file(path) && !path.is_dir());
            let name = path.file_name().filter(|_| path != Path::new("-"));
            at.map(|at| place_of_file(at, name, files)).transpose()
        })
        .collect()
}

/// The URL of `--at`.
fn read_at(typed: &str) -> anyhow::Result<Loc> {
    let loc =
        Loc::parse(typed).map_err(|error| Misuse(format!("--at: {error}, found {typed:?}")))?;
    Ok(loc)
}

/// Prints what a rule asks for.
fn explain(typed: &str, output: &Output) -> anyhow::Result<ExitCode> {
    let number = typed.strip_prefix(['R', 'r']).unwrap_or(typed).parse();
    let text = number.ok().and_then(|number| RuleText::of(Rule(number)));
    let Some(text) = text else {
        return Err(Misuse(format!(
            "--explain: expected a rule from R1 to R80, found {typed:?}"
        ))
        .into());
    };
    let rule = text.rule.to_string();
    output.data_painted(&[
        (Paint::Bold, &rule),
        (Paint::Plain, ": "),
        (Paint::Plain, text.title),
    ]);
    output.data_painted(&[
        (Paint::Note, "help"),
        (Paint::Plain, ": "),
        (Paint::Plain, text.help),
    ]);
    Ok(ExitCode::Success)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn of_a_long_robots_txt_no_more_is_read_than_counts() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("robots.txt");
        let check = |bytes: usize, expected: usize| {
            fs::write(&file, vec![b'\n'; bytes]).unwrap();
            assert_eq!(read_robots(&file).unwrap().len(), expected);
        };
        check(0, 0);
        check(MAX_ROBOTS_BYTES, MAX_ROBOTS_BYTES);
        check(2 * MAX_ROBOTS_BYTES, MAX_ROBOTS_BYTES + 1);
    }
}
