//! Plain words: no message, help, settings file or rule, and no comment of a test has a private word of the people who wrote the
//! program. The glossary of the architecture has the words to use.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Crates whose texts are plain.
pub(crate) const CRATES: [&str; 5] = [
    "cli",
    "crawler",
    "crawler/fleet",
    "crawler/render",
    "sitemap-core",
];

/// Further texts for users, as whole files: these, and all files of these folders.
const FILES: [&str; 3] = [
    "CHANGELOG.md",
    "cli/src/commands/report/page.html",
    "sitemap-core/RULES.md",
];
const FOLDERS: [&str; 3] = [
    "config",
    "cli/src/commands/init/templates",
    "cli/src/schema",
];

/// Phrases that no text has, between two ends of words. A phrase is long enough not to hit an ordinary use of its words.
const BANNED: [&str; 26] = [
    "holds the state",
    "holds the output",
    "honesty",
    "forgiven",
    "recalled",
    "told",
    "tells",
    "anew",
    "as you like",
    "by your order",
    "says",
    "stands",
    "stood",
    "vouched",
    "of now",
    "is no page",
    "doubt",
    "a wall",
    "the wall",
    "films",
    "fits",
    "behind it",
    "hear of",
    "errand",
    "put off",
    "its turn",
];

/// A text of a file, with its first line.
type Text = (usize, String);

/// The string literals of a source file and its doc comments. Stops at the unit tests.
fn texts(source: &str) -> Vec<Text> {
    let source = source.split("\n#[cfg(test)]\nmod tests {").next();
    let source = source.unwrap_or_default();
    let mut texts = Vec::new();
    let mut rest = source;
    while let Some(at) = rest.find(['"', '/', '\'']) {
        let line = source[..source.len() - rest.len() + at]
            .matches('\n')
            .count()
            + 1;
        let is_raw = rest[..at].ends_with('#') || rest[..at].ends_with('r');
        let hashes = rest[..at].len() - rest[..at].trim_end_matches('#').len();
        rest = &rest[at..];
        let end = if rest.starts_with("//") {
            let end = rest.find('\n').unwrap_or(rest.len());
            if rest.starts_with("///") || rest.starts_with("//!") {
                texts.push((line, rest[3..end].to_owned()));
            }
            end
        } else if let Some(string) = rest.strip_prefix('"') {
            let end = if is_raw {
                string.find(&format!("\"{}", "#".repeat(hashes)))
            } else {
                end_of_string(string)
            };
            let end = 1 + end.expect("a string has an end");
            texts.push((line, rest[1..end].replace("\\\n", " ")));
            end + 1 + hashes
        } else if rest.starts_with('\'') {
            // A character, or a lifetime.
            let mut letters = rest.char_indices().skip(1);
            let is_escaped = letters.next().is_some_and(|(_, letter)| letter == '\\');
            let after = if is_escaped {
                rest[2..].find('\'').map(|end| end + 3)
            } else {
                letters
                    .next()
                    .filter(|(_, letter)| *letter == '\'')
                    .map(|(end, _)| end + 1)
            };
            after.unwrap_or(1)
        } else {
            1
        };
        rest = &rest[end..];
    }
    texts
}

/// The place of the quote that ends a string.
fn end_of_string(rest: &str) -> Option<usize> {
    let mut is_escaped = false;
    rest.bytes().position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    })
}

/// The lines of a file that begin with `start`.
fn lines(file: &str, start: &str) -> Vec<Text> {
    let lines = file.lines().enumerate();
    lines
        .filter(|(_, line)| line.trim_start().starts_with(start))
        .map(|(index, line)| (index + 1, line.to_owned()))
        .collect()
}

/// The banned phrases in a text.
pub(crate) fn found_in(text: &str) -> impl Iterator<Item = &'static str> {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '-');
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let text = format!(" {} ", words.join(" "));
    BANNED
        .into_iter()
        .filter(move |phrase| text.contains(&format!(" {phrase} ")))
}

/// The source files below `folder`, without unit tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be listed").path();
        let name = path.file_name().and_then(|name| name.to_str());
        if path.is_dir() && name != Some("tests") {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") && name != Some("tests.rs")
        {
            found.push(path);
        }
    }
}

#[test]
fn texts_have_no_private_words() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let read = |path: &Path| fs::read_to_string(path).expect("the file can be read");
    let mut files = Vec::new();
    let mut paths = FILES.map(|name| root.join(name)).to_vec();
    for folder in FOLDERS {
        let entries = fs::read_dir(root.join(folder)).expect("the folder is there");
        let entries = entries.map(|entry| entry.expect("it can be listed").path());
        // The text of a licence is not ours.
        paths.extend(entries.filter(|path| path.is_file() && !path.ends_with("copyright")));
    }
    for path in paths {
        files.push((path.clone(), lines(&read(&path), "")));
    }
    let mut suite = Vec::new();
    sources(&root.join("tests/it"), &mut suite);
    suite.retain(|path| !path.ends_with("it/words.rs"));
    for path in suite {
        files.push((path.clone(), lines(&read(&path), "//")));
    }
    for name in CRATES {
        let mut paths = Vec::new();
        sources(&root.join(name).join("src"), &mut paths);
        files.extend(paths.into_iter().map(|path| {
            let texts = texts(&read(&path));
            (path, texts)
        }));
    }
    let mut problems = Vec::new();
    for (path, texts) in &files {
        for (line, text) in texts {
            problems.extend(
                found_in(text).map(|phrase| format!("{}:{line}: \"{phrase}\"", path.display())),
            );
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn the_reader_finds_strings_and_doc_comments() {
    let source = "/// One 'doc'.\n// no doc\nlet a: &'static str = \"t\\\"wo\"; let b = '\"'; let c = r#\"th\"ree\"#;\nlet d = '\\'';\n\"fo\\\n  ur\"\n#[cfg(test)]\nmod tests {\n\"five\"}";
    let found: Vec<(usize, String)> = texts(source);
    let found: Vec<(usize, &str)> = found.iter().map(|(line, text)| (*line, &**text)).collect();
    assert_eq!(
        found,
        [
            (1, " One 'doc'."),
            (3, "t\\\"wo"),
            (3, "th\"ree"),
            (5, "fo   ur"),
        ]
    );
    assert!(
        found_in("it understands standard crawls, fallback")
            .next()
            .is_none()
    );
    assert_eq!(found_in("A page\n stands.").collect::<Vec<_>>(), ["stands"]);
}
