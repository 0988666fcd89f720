//! `arpent check`: reads files and folders, has every rule checked by [`sitemap_core::validate`], and
//! tells what was found. It decides what is read in which order and where it is taken to be served;
//! what is right and wrong is decided there.

mod folder;
mod places;
mod tell;

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, BufReader},
    path::{Path, PathBuf},
};

use crawler::{
    clock::{Clock as _, SystemClock},
    robots::Rules,
};
use jiff::Timestamp;
use sitemap_core::{
    Loc,
    read::Rule,
    validate::{DocumentId, Facts, Options, Report, RuleText, Validator},
};

use self::{
    folder::Folder,
    places::{Base, place_of_file},
    tell::Teller,
};
use crate::{
    args::CheckArgs,
    exit_code::{ExitCode, Misuse},
    output::{Output, Paint},
};

/// Under whose name robots.txt is asked whether listed URLs may be fetched: the rules for everybody.
const AGENT: &str = "*";

/// Runs the command.
pub(crate) fn run(args: &CheckArgs, output: &Output) -> anyhow::Result<ExitCode> {
    if let Some(rule) = &args.explain {
        return explain(rule, output);
    }
    let mut options = Options::new(SystemClock.now());
    options.max_repeats = args.repeats;
    options.is_whole = matches!(&args.paths[..], [path] if path.is_dir());
    let mut check = Check {
        validator: Validator::new(options),
        teller: Teller::new(&args.format, output),
        rules: BTreeMap::new(),
        has_failed: false,
        output,
    };
    for typed in &args.robots {
        check.take_robots(typed)?;
    }
    let at = args.at.as_deref().map(read_at).transpose()?;
    for path in &args.paths {
        check.path(path, at.as_ref(), args.paths.len())?;
    }
    Ok(check.finish())
}

/// The command while it runs.
struct Check<'a> {
    validator: Validator,
    teller: Teller<'a>,
    /// What the robots.txt files say that are known, by origin.
    rules: BTreeMap<String, Rules>,
    /// Something could not be read.
    has_failed: bool,
    output: &'a Output,
}

/// A document that is about to be read.
struct Document<'a> {
    name: &'a str,
    place: Option<&'a Loc>,
    modified: Option<Timestamp>,
    listed_by: Option<DocumentId>,
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
        let body = fs::read(file)
            .map_err(|error| Misuse(format!("--robots: cannot read {file}: {error}")))?;
        self.use_robots(&origin, &body);
        Ok(())
    }

    /// Takes in what the robots.txt of an origin says.
    fn use_robots(&mut self, origin: &Loc, body: &[u8]) {
        let Ok(place) = Loc::parse(&format!("{}/robots.txt", origin.origin())) else {
            return;
        };
        let rules = Rules::parse(body, AGENT);
        let lines = rules.sitemaps().iter().map(String::as_str);
        self.validator
            .robots(&place, lines, &mut |finding| self.teller.finding(&finding));
        self.rules.insert(origin.origin().to_owned(), rules);
    }

    /// Checks what was typed as one path.
    fn path(&mut self, path: &Path, at: Option<&Loc>, paths: usize) -> anyhow::Result<()> {
        if path == Path::new("-") {
            let place = at.map(|at| place_of_file(at, None, paths)).transpose()?;
            let document = Document {
                name: "-",
                place: place.as_ref(),
                modified: None,
                listed_by: None,
            };
            self.document(BufReader::new(io::stdin().lock()), &document);
            return Ok(());
        }
        let typed = path.to_string_lossy();
        if typed.starts_with("http://") || typed.starts_with("https://") {
            return Err(Misuse(format!(
                "{typed} is a URL, expected a file or a folder; save it to a file and say where it is served with --at {typed}"
            ))
            .into());
        }
        if path.is_dir() {
            return self.folder(path, at);
        }
        let place = at
            .map(|at| place_of_file(at, path.file_name(), paths))
            .transpose()?;
        self.file(path, place.as_ref(), None);
        Ok(())
    }

    /// Checks all sitemaps in a folder: indexes, then what they list, then the others.
    fn folder(&mut self, path: &Path, at: Option<&Loc>) -> anyhow::Result<()> {
        let typed = at.map(Base::directory).transpose()?;
        let folder = Folder::read(path, typed)?;
        if folder.documents().is_empty() {
            return Err(Misuse(format!("no sitemap found in {}", path.display())).into());
        }
        if let Some(base) = folder.base() {
            self.teller.base(path, base.loc(), at.is_none());
            let robots = path.join("robots.txt");
            if base.is_root() && !self.rules.contains_key(base.loc().origin()) && robots.is_file() {
                match fs::read(&robots) {
                    Ok(body) => self.use_robots(&base.loc().clone(), &body),
                    Err(error) => self.fail(&robots.to_string_lossy(), &error),
                }
            }
        }
        let mut indexes: BTreeMap<PathBuf, DocumentId> = BTreeMap::new();
        for relative in folder.documents() {
            let place = folder.base().and_then(|base| base.place(relative));
            let listed_by = folder
                .parent(relative)
                .and_then(|parent| indexes.get(parent))
                .copied();
            let file = path.join(relative);
            let Some(report) = self.file(&file, place.as_ref(), listed_by) else {
                continue;
            };
            indexes.insert(relative.clone(), report.document);
            let Some(base) = folder.base() else { continue };
            for child in &report.children {
                // What stands elsewhere cannot be looked for here.
                let Some(relative) = base.relative(&child.loc) else {
                    continue;
                };
                if !path.join(&relative).is_file() {
                    let why = format!("there is no file {}", relative.display());
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
        let document = Document {
            name: &name,
            place,
            modified,
            listed_by,
        };
        self.document(BufReader::new(file), &document)
    }

    fn document(&mut self, input: impl io::BufRead, document: &Document<'_>) -> Option<Report> {
        let rules = &self.rules;
        let is_blocked = |loc: &Loc| {
            rules
                .get(loc.origin())
                .is_some_and(|rules| !rules.allows(loc.path_and_query()))
        };
        let mut facts = Facts::new(document.name);
        facts.place = document.place;
        facts.modified = document.modified;
        facts.listed_by = document.listed_by;
        facts.is_blocked = (!rules.is_empty()).then_some(&is_blocked);
        self.teller.begin(document.name);
        let outcome = self
            .validator
            .check(input, &facts, &mut |finding| self.teller.finding(&finding));
        match outcome {
            Ok(report) => {
                self.teller.end(document.place, &report);
                Some(report)
            }
            Err(error) => {
                self.fail(document.name, &error);
                None
            }
        }
    }

    /// Tells that something cannot be read.
    fn fail(&mut self, name: &str, error: &io::Error) {
        self.has_failed = true;
        self.output.error(&format!("cannot read {name}: {error}"));
    }

    fn finish(mut self) -> ExitCode {
        let summary = self
            .validator
            .finish(&mut |finding| self.teller.finding(&finding));
        self.teller.finish(&summary);
        let found = if summary.counts.errors > 0 {
            ExitCode::Invalid
        } else {
            ExitCode::Success
        };
        if self.has_failed {
            found.worse(ExitCode::Usage)
        } else {
            found
        }
    }
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
