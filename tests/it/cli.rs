//! What can be seen of the program without a site: help, wrong usage, wrong settings, exit codes.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Command, Output, Stdio},
    sync::mpsc,
};

use crate::support::program::Bench;

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
    check(&["--help"], "Usage: arpent <COMMAND>");
    check(
        &["crawl", "--help"],
        "Usage: arpent crawl [OPTIONS] [URL]...",
    );
    check(&["crawl", "--help"], "--max-pages <N>");
    check(&["crawl", "--help"], "Exit codes:");
    check(&["crawl", "-h"], "--rate <N|unlimited>");
}

#[test]
fn help_lists_the_options_that_work_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let output = arpent(folder.path(), &["crawl", "--help"], &[]);
    let mut options: Vec<_> = text(&output.stdout)
        .split_whitespace()
        .filter(|word| word.starts_with("--") && word.len() > 2)
        .map(|word| word.trim_matches(|letter: char| !letter.is_ascii_lowercase() && letter != '-'))
        .collect();
    options.sort_unstable();
    options.dedup();
    let expected = "--as --ca-file --changefreq --concurrency --config --delay --discover --dry-run --exclude \
        --extensions --file-group --file-mode --follow-only --force --format --fresh --header --help --hook-shell --ignore --include --index \
        --indexnow --layout --list-only --log --max-depth --max-pages --max-time --no-gzip --output --ping --priority \
        --proxy --public-url --quiet --rate --resolve --robots-file --schema-location --scope --sections --seeds --state --summary \
        --user-agent --verbose";
    assert_eq!(options, expected.split_whitespace().collect::<Vec<_>>());
}

#[test]
fn without_a_command_help_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let output = arpent(folder.path(), &[], &[]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""));
    assert!(text(&output.stderr).contains("Usage: arpent <COMMAND>"));
}

#[test]
fn an_option_that_does_not_exist_is_refused() {
    for option in ["--frobnicate", "--basic-auth=a:b", "-q"] {
        let folder = tempfile::tempdir().unwrap();
        let output = arpent(
            folder.path(),
            &["crawl", "https://example.com/", option],
            &[],
        );
        let name = option.split('=').next().unwrap();
        let expected = format!("error: unexpected argument '{name}' found\n");
        assert!(
            text(&output.stderr).starts_with(&expected),
            "{}",
            text(&output.stderr)
        );
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""));
    }
}

#[test]
fn a_command_that_does_not_exist_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let output = arpent(folder.path(), &["crwal"], &[]);
    assert!(text(&output.stderr).starts_with("error: unrecognized subcommand 'crwal'\n"));
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_crawl_needs_a_url() {
    check_refused(
        &["crawl"],
        "error: urls: no site to crawl: name at least one URL, or urls in the settings file\n",
    );
    check_refused(
        &["crawl", "example.com"],
        "error: URL: not a URL: \"example.com\"; expected one that begins with http:// or https://\n",
    );
    check_refused(
        &["crawl", "ftp://example.com/"],
        "error: URL: not an http or https URL: \"ftp://example.com/\"\n",
    );
}

#[test]
fn a_wrong_value_says_what_was_expected() {
    check_refused(
        &["crawl", "https://example.com/", "--rate", "fast"],
        "error: --rate: expected a number above 0 per second or \"unlimited\", found \"fast\"\n",
    );
    check_refused(
        &[
            "crawl",
            "https://example.com/",
            "--concurrency=0",
            "--max-time=x",
        ],
        "error: --concurrency: expected a whole number from 1 to 1000, found \"0\"\n\
         error: --max-time: expected a duration such as \"500ms\", \"2s\", \"1m\" or \"24h\", found \"x\"\n",
    );
    check_file_refused(
        "urls = [\"https://example.com/\"]\n\nrate = \"fast\"\n",
        "error: config.toml:3: rate: expected a number above 0 per second or \"unlimited\", found \"fast\"\n",
    );
}

#[test]
fn an_unknown_key_names_the_nearest() {
    check_file_refused(
        "urls = [\"https://example.com/\"]\nconcurency = 2\n",
        "error: config.toml:2: concurency: no such setting; did you mean concurrency?\n",
    );
}

#[test]
fn a_settings_file_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let output = arpent(folder.path(), &["crawl", "--config", "missing.toml"], &[]);
    assert!(
        text(&output.stderr).starts_with("error: failed to read the settings file missing.toml: "),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn what_others_wrote_cannot_act_on_the_terminal() {
    check_refused(
        &["crawl", "gopher://\x1b[31m\r\u{202e}/"],
        "error: URL: expected a URL, found \"gopher://\\u{1b}[31m\\u{d}\\u{202e}/\"\n",
    );
    check_file_refused(
        "\"a\\u001b[2Jb\" = 1\nurls = [\"https://example.com/\"]",
        "error: config.toml:1: a\\u{1b}[2Jb: no such setting\n",
    );
}

#[test]
fn quiet_says_errors_still() {
    check_refused(
        &["crawl", "--quiet", "example"],
        "error: URL: not a URL: \"example\"; expected one that begins with http:// or https://\n",
    );
}

#[test]
fn warnings_go_to_stderr_and_not_when_quiet() {
    let folder = tempfile::tempdir().unwrap();
    let variables = [("ARPENT_RATES", "1"), ("ARPENT_FAULT", "panic-in-crawl")];
    let warning = "warning: the variable ARPENT_RATES is not a setting and is ignored; did you mean ARPENT_RATE?\n";
    let crawl = |arguments: &[&str]| {
        let all = [&["crawl", "https://example.com/"], arguments].concat();
        text(&arpent(folder.path(), &all, &variables).stderr).to_owned()
    };
    assert!(crawl(&[]).starts_with(warning), "{}", crawl(&[]));
    assert!(!crawl(&["--quiet"]).contains("warning"));
}

#[test]
fn a_bug_ends_the_site_and_not_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let output = arpent(
        folder.path(),
        &[
            "crawl",
            "https://a.example/",
            "https://b.example/docs/",
            "--summary",
            "json",
        ],
        &[("ARPENT_FAULT", "panic-in-crawl")],
    );
    assert_eq!(output.status.code(), Some(70), "{}", text(&output.stderr));
    let lines: Vec<serde_json::Value> = text(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    // Whichever of the two ends first.
    let told: std::collections::BTreeSet<_> = lines
        .iter()
        .map(|line| {
            (
                line["site"].as_str().unwrap(),
                line["outcome"].as_str().unwrap(),
            )
        })
        .collect();
    let expected = [
        ("https://a.example/", "internal"),
        ("https://b.example/docs/", "internal"),
    ];
    assert_eq!(told, expected.into());
    let errors = text(&output.stderr);
    assert_eq!(errors.matches("please report it").count(), 2, "{errors}");
    assert!(
        errors.contains("error: https://a.example/: ended by an internal error: "),
        "{errors}"
    );
}

/// A signal that comes while the first request waits for an answer.
#[cfg(unix)]
fn check_stopped_by(signal: &str, code: i32) {
    let bench = Bench::new();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let running = bench.spawn(&format!("http://{}/", silent.local_addr().unwrap()), &[]);
    // From here on the request is in flight.
    let _connection = silent.accept().unwrap();
    running.signal(signal);
    let ran = running.wait().expect_code(code);
    let summary = ran.summary();
    assert_eq!(summary["outcome"], "interrupted", "{summary}");
    assert!(
        ran.stderr.contains("Z stopping: no new requests"),
        "{}",
        ran.stderr
    );
    assert!(!bench.output().exists());
    // Nothing is known of the site, only how the run ended.
    let names = std::fs::read_dir(bench.state()).unwrap();
    let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    let is_note = |name: &std::ffi::OsString| name.to_string_lossy().ends_with(".last.json");
    assert!(names.len() == 1 && names.iter().all(is_note), "{names:?}");
}

#[cfg(unix)]
#[test]
fn a_signal_before_the_first_answer_ends_the_run_at_once() {
    check_stopped_by("INT", 130);
    check_stopped_by("TERM", 143);
}

/// A site with one page that answers, and one that never does: who asks for `/slow` comes out of the channel.
#[cfg(unix)]
fn half_silent_site() -> (String, mpsc::Receiver<TcpStream>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let (sender, slow) = mpsc::channel();
    std::thread::spawn(move || {
        while let Ok((mut connection, _)) = listener.accept() {
            let mut head = BufReader::new(connection.try_clone().unwrap())
                .lines()
                .map_while(Result::ok);
            let request = head.next().unwrap_or_default();
            let _ = head.find(String::is_empty);
            let (status, body) = match request.split(' ').nth(1) {
                Some("/") => ("200 OK", "<a href=/slow>slow</a>"),
                Some("/slow") => {
                    drop(sender.send(connection));
                    continue;
                }
                _ => ("404 Not Found", ""),
            };
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
            drop(connection.write_all(answer.as_bytes()));
        }
    });
    (url, slow)
}

#[cfg(unix)]
#[test]
fn a_second_signal_drops_what_is_in_flight_and_the_next_start_asks_again() {
    let bench = Bench::new();
    let (url, slow) = half_silent_site();
    let mut command = bench.command(&url, &[]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let process = child.id().to_string();
    let signal = |name: &str| {
        let arguments = [format!("-{name}"), process.clone()];
        assert!(
            Command::new("kill")
                .args(arguments)
                .status()
                .unwrap()
                .success()
        );
    };
    let _connection = slow.recv().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap())
        .lines()
        .map(Result::unwrap);
    signal("TERM");
    assert!(said.any(|line| line.contains("stopping: no new requests")));
    signal("INT");
    assert!(said.any(|line| line.contains("stopping now: ")));
    let output = child.wait_with_output().unwrap();
    // The first signal names the exit code.
    assert_eq!(output.status.code(), Some(143));
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["outcome"], "interrupted", "{summary}");
    assert_eq!(
        (&summary["known"], &summary["queued"]),
        (&2.into(), &1.into()),
        "{summary}"
    );
    assert!(!bench.output().exists());
    let running = bench.spawn(&url, &[]);
    drop(slow.recv().unwrap());
    running.kill();
}
