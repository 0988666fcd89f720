//! README.md, CHANGELOG.md and the guide in `cli/guide`: short sentences and paragraphs, no private words, no broken link, and a
//! length that people read.
//!
//! Code is not prose: a code block is skipped, and a code span counts as one word.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{
    support::{
        program::{Bench, Ran},
        site::{Response, Site},
    },
    words::found_in,
};

const MAX_SENTENCE_WORDS: usize = 35;
const MAX_PARAGRAPH_WORDS: usize = 90;
const MAX_README_LINES: usize = 150;
const MAX_CHANGELOG_LINES: usize = 50;

/// Pages of the guide that are made from the code, whose texts are those of the code.
const GENERATED: [&str; 3] = ["reasons.md", "settings.md", "state-schema.md"];

/// A file in Markdown.
struct Document {
    path: PathBuf,
    text: String,
}

impl Document {
    fn read(path: PathBuf) -> Self {
        let text = fs::read_to_string(&path).expect("the file can be read");
        Self { path, text }
    }

    /// The lines outside of code blocks, with their numbers; a line of a block is empty.
    fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut is_code = false;
        self.text.lines().enumerate().map(move |(index, line)| {
            let is_fence = line.trim_start().starts_with("```");
            is_code ^= is_fence;
            let line = if is_code || is_fence { "" } else { line.trim() };
            (index + 1, line)
        })
    }

    /// The paragraphs with their first lines: headings, items of lists and cells of tables are some, too.
    fn paragraphs(&self) -> Vec<(usize, String)> {
        let mut paragraphs: Vec<(usize, String)> = Vec::new();
        let mut is_open = false;
        for (number, line) in self.lines() {
            if line.starts_with('|') {
                let line = line.replace("\\|", "/");
                paragraphs.extend(line.split('|').map(|cell| (number, cell.to_owned())));
                is_open = false;
            } else if line.is_empty() {
                is_open = false;
            } else if is_open && !is_item(line) && !line.starts_with('#') {
                let (_, text) = paragraphs.last_mut().expect("one is open");
                *text = format!("{text} {line}");
            } else {
                paragraphs.push((number, line.to_owned()));
                is_open = !line.starts_with('#');
            }
        }
        paragraphs
    }

    /// The targets of its links, with their lines.
    fn links(&self) -> impl Iterator<Item = (usize, String)> {
        self.lines().flat_map(|(number, line)| {
            let prose = without_code(line);
            let ends = prose.split("](").skip(1).filter_map(|rest| {
                let (target, _) = rest.split_once(')')?;
                Some((number, target.to_owned()))
            });
            ends.collect::<Vec<_>>()
        })
    }

    /// The names of its headings in links, as GitHub and mdBook make them.
    fn anchors(&self) -> BTreeSet<String> {
        let headings = self.lines().filter(|(_, line)| line.starts_with('#'));
        let names = headings.map(|(_, line)| {
            let text = line.trim_start_matches('#').trim().to_lowercase();
            let kept = |c: &char| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ');
            text.chars().filter(kept).collect::<String>()
        });
        names.map(|name| name.replace(' ', "-")).collect()
    }
}

fn is_item(line: &str) -> bool {
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with("- ") || line.starts_with("* ") || number.starts_with(". ")
}

/// The text with `code` in the place of each code span.
fn without_code(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let prose = parts.map(|(index, part)| if index % 2 == 0 { part } else { "code" });
    prose.collect()
}

/// The text as it is read: no code, and of a link its text.
fn prose(text: &str) -> String {
    let text = without_code(text);
    let mut parts = text.split("](");
    let mut prose = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        prose.push_str(part.split_once(')').map_or(part, |(_, rest)| rest));
    }
    prose
}

fn sentences(prose: &str) -> Vec<Vec<&str>> {
    let mut sentences = vec![Vec::new()];
    for word in prose.split_whitespace() {
        let sentence = sentences.last_mut().expect("never empty");
        if word.contains(char::is_alphanumeric) {
            sentence.push(word);
        }
        if word
            .trim_end_matches([')', '"', '*'])
            .ends_with(['.', '!', '?'])
        {
            sentences.push(Vec::new());
        }
    }
    sentences
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn guide() -> Vec<Document> {
    let folder = fs::read_dir(root().join("cli/guide")).expect("the guide is there");
    let paths = folder.map(|entry| entry.expect("it can be listed").path());
    let mut pages: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    pages.sort();
    pages.into_iter().map(Document::read).collect()
}

/// Fails with all problems that `find` has in README and guide.
#[track_caller]
fn check(mut pages: Vec<Document>, find: impl Fn(&Document, &mut dyn FnMut(usize, &str))) {
    pages.push(Document::read(root().join("README.md")));
    let mut problems = Vec::new();
    for page in &pages {
        find(page, &mut |line, problem| {
            problems.push(format!("{}:{line}: {problem}", page.path.display()));
        });
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The guide without the generated pages, whose texts are those of the code.
fn written() -> Vec<Document> {
    let mut pages = guide();
    pages.retain(|page| !GENERATED.iter().any(|name| page.path.ends_with(name)));
    pages
}

#[test]
fn sentences_and_paragraphs_are_short() {
    check(written(), |page, report| {
        for (line, paragraph) in page.paragraphs() {
            let prose = prose(&paragraph);
            let sentences = sentences(&prose);
            let words: usize = sentences.iter().map(Vec::len).sum();
            if words > MAX_PARAGRAPH_WORDS {
                report(line, &format!("a paragraph of {words} words"));
            }
            for sentence in sentences.iter().filter(|s| s.len() > MAX_SENTENCE_WORDS) {
                let words = sentence.len();
                report(line, &format!("{words} words: {}", sentence.join(" ")));
            }
        }
    });
}

#[test]
fn no_private_words_are_used() {
    check(written(), |page, report| {
        for (line, paragraph) in page.paragraphs() {
            for phrase in found_in(&prose(&paragraph)) {
                report(line, &format!("says \"{phrase}\""));
            }
        }
    });
}

#[test]
fn every_link_leads_somewhere() {
    check(guide(), |page, report| {
        for (line, link) in page.links().filter(|(_, link)| !link.contains("://")) {
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let folder = page.path.parent().expect("it is in a folder");
            let target = match file {
                "" => page.path.clone(),
                file => folder.join(file),
            };
            if !target.exists() {
                report(line, &format!("no file {file}"));
            } else if !anchor.is_empty() && !Document::read(target).anchors().contains(anchor) {
                report(line, &format!("no heading {link}"));
            }
        }
    });
}

#[test]
fn every_page_is_in_the_summary() {
    let summary = Document::read(root().join("cli/guide/SUMMARY.md"));
    let listed: BTreeSet<PathBuf> = summary.links().map(|(_, link)| link.into()).collect();
    for page in guide() {
        let name = page.path.file_name().expect("a page has a name");
        assert!(
            name == "SUMMARY.md" || listed.contains(Path::new(name)),
            "SUMMARY.md lacks {}",
            page.path.display()
        );
    }
}

#[test]
fn readme_and_changelog_are_short() {
    for (name, most) in [
        ("README.md", MAX_README_LINES),
        ("CHANGELOG.md", MAX_CHANGELOG_LINES),
    ] {
        let lines = Document::read(root().join(name)).text.lines().count();
        assert!(lines <= most, "{name} has {lines} lines, at most {most}");
    }
}

/// A site that also serves what was published in `folder`.
fn site_with_set(folder: PathBuf) -> Site {
    Site::start(move |request| {
        let path = request.target.trim_start_matches('/');
        let sets = fs::read_dir(folder.join("sitemaps"))
            .into_iter()
            .flatten()
            .flatten();
        // The set of the whole site has the shortest name.
        let mut files: Vec<PathBuf> = sets.map(|set| set.path().join(path)).collect();
        files.sort_by_key(|file| file.as_os_str().len());
        let file = files.into_iter().find(|file| file.is_file());
        match (path, file) {
            ("" | "docs/", _) => Response::linking(["/docs/", "/news/a", "/shop/a", "/tmp/a"]),
            ("robots.txt", _) => Response::text(""),
            (_, Some(file)) => Response {
                body: fs::read(file).expect("it can be read"),
                headers: vec![("Content-Type".into(), "application/xml".into())],
                ..Response::text("")
            },
            _ => Response::html(format!("<title>{path}</title>the page {path}")),
        }
    })
}

/// Every command in a block that shows a terminal, and in the first table of the README, is run as it is, on a site of its own.
#[test]
fn every_command_works() {
    let bench = Bench::new();
    let site = site_with_set(bench.path().to_owned());
    let readme = Document::read(root().join("README.md"));
    let pages = std::iter::once(readme).chain(guide());
    let commands = pages.flat_map(|page| {
        let blocks = page.text.split("```console\n").skip(1);
        let blocks = blocks.filter_map(|block| block.split("```").next());
        let lines = blocks.flat_map(|block| block.lines().map(str::to_owned).collect::<Vec<_>>());
        let is_readme = page.path.ends_with("README.md");
        let cells = page.text.lines().filter_map(|line| {
            let (_, cell) = line.split_once("| `arpent ").filter(|_| is_readme)?;
            Some(format!("$ arpent {}", cell.split('`').next()?))
        });
        lines.chain(cells).collect::<Vec<_>>()
    });
    let mut ran = 0;
    let first = "$ arpent crawl https://www.example.com/".to_owned();
    for line in std::iter::once(first).chain(commands) {
        let Some(arguments) = line.strip_prefix("$ arpent ") else {
            continue;
        };
        // The daemon ends by a signal only.
        if arguments.starts_with("daemon") {
            continue;
        }
        let arguments = arguments.replace("https://www.example.com/", &site.url("/"));
        let mut command = sh(&bench, &format!("exec \"$0\" {arguments}"));
        command.arg(bench.program().get_program());
        let is_crawl = arguments.starts_with("crawl");
        command.envs(is_crawl.then_some(("ARPENT_RATE", "unlimited")));
        let result = Ran::of(command);
        let code = result.code;
        assert_eq!(
            code,
            Some(0),
            "{line}\n{}\n{}",
            result.stdout,
            result.stderr
        );
        ran += 1;
    }
    assert!(ran > 30, "{ran}");
}

/// A command line for the shell, in the folder of `bench`.
fn sh(bench: &Bench, line: &str) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", line])
        .env_clear()
        .env("HOME", bench.path())
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .current_dir(bench.path())
        .stdin(Stdio::null());
    command
}
