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
        has_program,
        program::{Bench, Ran},
        site::{Response, Site},
        state,
    },
    words::found_in,
};

/// The browser that renders pages.
const BROWSER: &str = "chromium-headless-shell";

const MAX_SENTENCE_WORDS: usize = 35;
const MAX_PARAGRAPH_WORDS: usize = 90;
const MAX_README_LINES: usize = 150;
const MAX_CHANGELOG_LINES: usize = 50;

/// Pages of the guide that are made from the code, whose texts are those of the code.
const GENERATED: [&str; 6] = [
    "exit-codes.md",
    "json.md",
    "json-results.md",
    "reasons.md",
    "settings.md",
    "state-schema.md",
];

/// A file in Markdown.
pub(crate) struct Document {
    path: PathBuf,
    pub(crate) text: String,
}

impl Document {
    pub(crate) fn read(path: PathBuf) -> Self {
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

pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

pub(crate) fn guide() -> Vec<Document> {
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

/// The address of the repository is that of the manifest everywhere, so that the owner has one line to change and a search to do.
#[test]
fn the_repository_has_one_address() {
    let manifest = Document::read(root().join("Cargo.toml")).text;
    let line = manifest
        .lines()
        .find_map(|line| line.strip_prefix("repository = \"https://github.com/"));
    let own = line.expect("an address").trim_end_matches('"').to_owned();
    let mut files = vec![root().join("README.md")];
    for folder in [".github", "cli/guide", "config"] {
        files.extend(files_below(&root().join(folder)));
    }
    let mut count = 0;
    for file in files {
        let Ok(text) = fs::read_to_string(&file) else {
            continue;
        };
        let names = ["https://github.com/", "ghcr.io/", "uses: "];
        for rest in names.iter().flat_map(|name| text.split(name).skip(1)) {
            let end = |c: char| !(c.is_ascii_alphanumeric() || "-_/.".contains(c));
            let name: Vec<&str> = rest
                .split(end)
                .next()
                .unwrap_or("")
                .split('/')
                .take(2)
                .collect();
            if name.last() == Some(&"arpent") {
                assert_eq!(name.join("/"), own, "{}", file.display());
                count += 1;
            }
        }
    }
    assert!(count > 5, "{count}");
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    paths
        .flat_map(|path| {
            if path.is_dir() {
                files_below(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

/// A site that also serves what was published in `folder`.
fn site_with_set(folder: PathBuf) -> Site {
    Site::start(move |request| {
        let path = request.target.trim_start_matches('/');
        let sets = fs::read_dir(folder.join("sitemaps"))
            .into_iter()
            .flatten()
            .flatten();
        // The set of this host, and of the whole site: it has the shortest name.
        let host = format!("http_{}", request.headers["host"].replace(':', "_"));
        let is_of_host = |set: &fs::DirEntry| set.file_name().to_string_lossy().starts_with(&host);
        let sets = sets.filter(is_of_host);
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

/// The command lines of a page that run arpent: in blocks that show a terminal or a script, and in the first table of the README.
fn commands(page: &Document) -> Vec<String> {
    let mut lines = Vec::new();
    let mut kind = "";
    let text = page.text.replace("\\\n", "");
    let is_readme = page.path.ends_with("README.md");
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("```") {
            kind = name;
        } else if kind == "console" {
            lines.extend(line.strip_prefix("$ "));
        } else if kind == "sh" {
            lines.push(line);
        } else if let Some((_, cell)) = line.split_once("| `arpent ").filter(|_| is_readme) {
            let end = cell.find('`').expect("the code has an end");
            let start = line.len() - cell.len() - "arpent ".len();
            lines.push(&line[start..start + "arpent ".len() + end]);
        }
    }
    let runs = |line: &&str| {
        line.split('|').any(|command| {
            let mut words = command.split_whitespace();
            words.find(|word| !word.contains('=')) == Some("arpent")
        })
    };
    lines.into_iter().filter(runs).map(str::to_owned).collect()
}

/// The files and programs that commands of the guide use.
fn prepare(bench: &Bench, url: &str) {
    let write = |name: &str, text: &str| {
        let path = bench.path().join(name);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("created");
        fs::write(path, text).expect("written");
    };
    let sitemap = format!(
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>{url}docs/</loc></url></urlset>"
    );
    write("urls.txt", &format!("{url}docs/\n{url}news/a\n"));
    write(
        "pages.csv",
        &format!("url,lastmod\n{url}shop/a,2026-01-02\n"),
    );
    write("public/index.html", "<title>start</title>text");
    write(
        "access.log",
        "192.0.2.1 - - [25/Nov/2026:01:02:03 +0000] \"GET /docs/ HTTP/1.1\" 200 120 \"-\" \"Mozilla\"\n",
    );
    for name in [
        "sitemap.xml",
        "old-sitemap.xml",
        "old/sitemap.xml",
        "new/sitemap.xml",
    ] {
        write(name, &sitemap);
    }
    let script = "set -e
        gzip -c pages.csv >pages.csv.gz
        gzip -c access.log >access.log.1.gz
        gzip old/sitemap.xml new/sitemap.xml
        cp sitemap.xml old/sitemap.xml
        mkdir bin
        printf '#!/bin/sh\ncat urls.txt\n' >bin/some-command
        cp bin/some-command bin/my-database-dump
        printf '#!/bin/sh\ncat sitemap.xml\n' >bin/curl
        chmod +x bin/*";
    Ran::of(sh(bench, script)).expect_code(0);
}

/// Every command of README and guide is run as it is, on a site of its own.
#[test]
fn every_command_works() {
    let bench = Bench::new();
    let site = site_with_set(bench.path().to_owned());
    let url = site.url("/");
    let other = url.replace("127.0.0.1", "localhost");
    prepare(&bench, &url);
    let set = format!("sitemaps/http_127.0.0.1_{}", site.port());
    let readme = Document::read(root().join("README.md"));
    let pages: Vec<Document> = std::iter::once(readme).chain(guide()).collect();
    // Commands that restore or compare earlier sets need some.
    let first = ["", "--no-gzip", "--index auto"]
        .map(|option| format!("arpent crawl https://www.example.com/ {option}"));
    let mut ran = 0;
    for line in first.into_iter().chain(pages.iter().flat_map(commands)) {
        // The daemon ends by a signal only.
        if line.contains("arpent daemon") {
            continue;
        }
        if line.contains("--render") && !(cfg!(feature = "render") && has_program(BROWSER)) {
            continue;
        }
        let local = line
            .replace("sitemaps/https_www.example.com", &set)
            .replace(
                "--publish-as https://www.example.com/",
                "--publish-as PUBLIC",
            )
            .replace("https://www.example.com/", &url)
            .replace("http://localhost:8000/", &url)
            .replace(" --output site", "")
            .replace("https://staging.example.com/", &other)
            .replace("https://a.example/", &url)
            .replace("https://b.example/", &other)
            .replace("PUBLIC", "https://www.example.com/");
        let mut command = sh(
            &bench,
            &format!("PATH=$PWD/bin:$PATH; arpent() {{ \"$0\" \"$@\"; }}; {local}"),
        );
        command.arg(bench.program().get_program());
        let is_crawl = line.contains("arpent crawl");
        command.envs(is_crawl.then_some(("ARPENT_RATE", "unlimited")));
        let is_build = line.contains("arpent build");
        command.envs(is_build.then(|| ("ARPENT_OUTPUT", format!("built/{ran}"))));
        let result = Ran::of(command);
        assert_eq!(
            result.code,
            Some(0),
            "{line}\n{local}\n{}\n{}",
            result.stdout,
            result.stderr
        );
        ran += 1;
    }
    assert!(ran > 55, "{ran}");
}

/// Every query of the guide can be run on a state.
#[test]
fn every_query_works() {
    let bench = Bench::new();
    let site = site_with_set(bench.path().to_owned());
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    let state = rusqlite::Connection::open(state::file(&bench)).expect("the state can be opened");
    let mut count = 0;
    for page in guide() {
        for rest in page.text.split(".db \"").skip(1) {
            let (query, _) = rest.split_once('"').expect("a query has an end");
            state.prepare(query).expect(query);
            count += 1;
        }
    }
    assert!(count > 4, "{count}");
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
