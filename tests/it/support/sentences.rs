//! Each fact is printed once: no sentence of a summary, a warning or an error comes twice in the output of one command.

use std::{collections::BTreeSet, process::Command};

/// Words of a sentence that is looked at; fewer are a label or a count.
const MIN_WORDS: usize = 5;

/// Commands whose output is a summary. Others print rows, which may share a sentence.
const COMMANDS: [&str; 3] = ["crawl", "build", "publish"];

/// Fails when a sentence comes twice in what `command` printed. Where several sites print, each has sentences of its own.
#[track_caller]
pub fn assert_each_once(command: &Command, stdout: &str, stderr: &str) {
    let name = command.get_args().next().and_then(|name| name.to_str());
    if !name.is_some_and(|name| COMMANDS.contains(&name)) {
        return;
    }
    let mut messages = BTreeSet::new();
    let mut repeated = Vec::new();
    for (site, text) in stderr.lines().filter_map(message) {
        let is_repeated = |sentence: &String| !messages.insert((site.to_owned(), sentence.clone()));
        repeated.extend(sentences(text).filter(is_repeated));
    }
    let messages: BTreeSet<String> = messages.into_iter().map(|(_, sentence)| sentence).collect();
    let is_text = !stdout.starts_with(['{', '<', '#']);
    let mut of_site = BTreeSet::new();
    for line in stdout.lines().filter(|_| is_text) {
        // A line that is not indented begins the summary of a site.
        if !line.starts_with(' ') {
            of_site.clear();
        }
        let is_repeated =
            |sentence: &String| messages.contains(sentence) || !of_site.insert(sentence.clone());
        repeated.extend(sentences(line).filter(is_repeated));
    }
    assert!(
        repeated.is_empty(),
        "printed twice: {repeated:?}\nstdout: {stdout}\nstderr: {stderr}"
    );
}

/// The text of a warning or an error, after the name of its site; other lines are the progress of the work.
fn message(line: &str) -> Option<(&str, &str)> {
    let found = ["error: ", "warning: "]
        .iter()
        .find_map(|word| line.split_once(word));
    let (before, text) = found?;
    // The time of a log line differs.
    Some((before.split_once("Z ").map_or("", |(_, site)| site), text))
}

/// The sentences of a line. What names a line of a file is a part of each sentence on it, and a reason of the system is the cause
/// of more than one fact.
fn sentences(line: &str) -> impl Iterator<Item = String> {
    let line = line.trim_start();
    let line = line.strip_prefix("NOTE: ").unwrap_or(line);
    let names_line = |label: &&str| label.contains(':') && !label.contains(' ');
    let label = line.split_once(": ").map(|(label, _)| label);
    let label = label.filter(names_line).unwrap_or_default().to_owned();
    line.split([';', ':'])
        .flat_map(|part| part.split(". "))
        .map(str::trim)
        .filter(|sentence| sentence.split(' ').count() >= MIN_WORDS)
        .filter(|sentence| !sentence.contains("(os error"))
        .map(move |sentence| format!("{label} {sentence}"))
}
