//! What can be seen of the program without a site: help, wrong usage, wrong settings, exit codes.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::{
    path::Path,
    process::{Command, Output},
};

use crate::support::{program::Bench, site::Site};

/// Runs `arpent` in an empty folder with nothing in its environment but a home and `variables`.
fn arpent(folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_arpent"))
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("HOME", folder)
        .env("LOCALAPPDATA", folder)
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Wrong usage or settings: exit code 2, nothing on stdout, exactly `expected` on stderr.
#[track_caller]
fn check_refused(arguments: &[&str], expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    let output = arpent(folder.path(), arguments, &[]);
    assert_eq!(text(&output.stderr), expected);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""));
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        0,
        "nothing is written"
    );
}

/// The same for a settings file.
#[track_caller]
fn check_file_refused(file: &str, expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("config.toml"), file).unwrap();
    let output = arpent(folder.path(), &["crawl", "--config", "config.toml"], &[]);
    assert_eq!(text(&output.stderr), expected);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""));
}

#[test]
fn help_and_version_are_data() {
    fn check(arguments: &[&str], expected: &str) {
        let folder = tempfile::tempdir().unwrap();
        let output = arpent(folder.path(), arguments, &[]);
        assert!(
            text(&output.stdout).contains(expected),
            "{}",
            text(&output.stdout)
        );
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
    }
    check(
        &["--version"],
        concat!("arpent ", env!("CARGO_PKG_VERSION"), "\n"),
    );
    check(&["--help"], "Usage: arpent [OPTIONS] <COMMAND>");
    check(
        &["crawl", "--help"],
        "Usage: arpent crawl [OPTIONS] [URL]...",
    );
    check(&["crawl", "--help"], "--max-pages <N>");
    check(&["crawl", "--help"], "Exit codes:");
    check(&["crawl", "-h"], "--rate <N|unlimited>");
}

#[test]
fn help_lists_exactly_the_options() {
    let folder = tempfile::tempdir().unwrap();
    let output = arpent(folder.path(), &["crawl", "--help"], &[]);
    let mut options: Vec<_> = text(&output.stdout)
        .split_whitespace()
        .filter(|word| word.starts_with("--") && word.len() > 2)
        .map(|word| word.trim_matches(|letter: char| !letter.is_ascii_lowercase() && letter != '-'))
        .collect();
    options.sort_unstable();
    options.dedup();
    let expected = "--browser --ca-file --changefreq --color --concurrency --config --contact --delay --discover --dry-run --exclude \
        --file-group --file-mode --follow-only --force --format --fresh --header --help --hook-command --ignore --include --index \
        --indexnow --json --layout --list-only --log-format --max-depth --max-pages --max-time --no-gzip --output --ping --priority \
        --proxy --public-url --publish-as --quiet --rate --render --render-hosts --render-time --resolve --schema-location --scope --section --seeds --state \
        --user-agent --verbose --with";
    assert_eq!(options, expected.split_whitespace().collect::<Vec<_>>());
}

#[test]
fn short_help_has_at_most_40_lines() {
    let folder = tempfile::tempdir().unwrap();
    let lines = |arguments: &[&str]| -> Vec<String> {
        let output = arpent(folder.path(), arguments, &[("COLUMNS", "80")]);
        text(&output.stdout).lines().map(str::to_owned).collect()
    };
    let help = lines(&["-h"]);
    assert!(help.len() <= 40, "{} lines", help.len());
    let commands = help.iter().take_while(|line| *line != "Options:");
    let commands = commands.filter_map(|line| line.strip_prefix("  "));
    let names = commands.filter_map(|line| line.split_whitespace().next());
    let mut count = 0;
    for name in names {
        let help = lines(&[name, "-h"]);
        assert!(help.len() <= 40, "{name}: {} lines", help.len());
        count += 1;
    }
    assert!(count >= 13, "{count} commands");
}

#[test]
fn foreign_text_cannot_act_on_the_terminal() {
    check_refused(
        &["crawl", "--quiet", "gopher://\x1b[31m\r\u{202e}/"],
        "error: URL: expected a URL, found \"gopher://\\u{1b}[31m\\u{d}\\u{202e}/\"\n",
    );
    check_file_refused(
        "\"a\\u001b[2Jb\" = 1\nurls = [\"https://example.com/\"]",
        "error: config.toml:1: a\\u{1b}[2Jb: no such setting\n",
    );
}

#[test]
fn warnings_go_to_stderr_and_not_when_quiet() {
    let folder = tempfile::tempdir().unwrap();
    let variables = [("ARPENT_RATES", "1"), ("ARPENT_FAULT", "panic-in-crawl")];
    let warning = "warning: the variable ARPENT_RATES is ignored, because there is no such setting; did you mean ARPENT_RATE?\n";
    let crawl = |arguments: &[&str]| {
        let all = [&["crawl", "https://example.com/"], arguments].concat();
        text(&arpent(folder.path(), &all, &variables).stderr).to_owned()
    };
    assert!(crawl(&[]).starts_with(warning), "{}", crawl(&[]));
    assert!(!crawl(&["--quiet"]).contains("warning"));
}

#[test]
fn unprinted_result_is_an_error() {
    let (bench, site) = (Bench::new(), Site::of_two_pages());
    let full = || {
        std::fs::File::options()
            .write(true)
            .open("/dev/full")
            .expect("Linux has it")
    };
    let mut command = bench.command(&site.url("/"), &[]);
    let ran = command.stdout(full()).output().expect("the program starts");
    let stderr = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(3), "{stderr}");
    assert!(
        stderr.contains("failed to print to stdout: No space left"),
        "{stderr}"
    );
}
