//! Problems of values that cannot be used, alone or together.

use super::*;

/// A file with this one line is refused, because something else was expected.
fn wrong(line: &str, expected: &str) {
    let (name, found) = line.split_once(" = ").unwrap();
    let message = format!("config.toml:1: {name}: expected {expected}, found {found}");
    check_file(line, &message);
}

#[test]
fn a_wrong_value_names_file_and_line_setting_and_what_was_expected() {
    check_file(
        "# a comment\n\nrate = \"fast\"",
        "config.toml:3: rate: expected a number above 0 per second or \"unlimited\", found \"fast\"",
    );
    wrong("rate = 0", "a number above 0 per second or \"unlimited\"");
    wrong("rate = -1", "a number above 0 per second or \"unlimited\"");
    wrong("rate = inf", "a number above 0 per second or \"unlimited\"");
    wrong(
        "rate = 0.000001",
        "at least one a day (0.000012 per second)",
    );
    wrong(
        "rate = 1000001",
        "at most 1000000 per second, or \"unlimited\"",
    );
    wrong("concurrency = 0", "a whole number from 1 to 1000");
    wrong("concurrency = 1.5", "a whole number from 1 to 1000");
    wrong("max_pages = 0", "a whole number, 1 or more");
    wrong("max_depth = \"deep\"", "a whole number or \"unlimited\"");
    wrong("file_entries = 50001", "a whole number from 1 to 50000");
    wrong("file_bytes = \"51 MiB\"", "from 1 kB to 50 MiB");
    wrong(
        "file_bytes = \"big\"",
        "a size such as \"500 kB\" or \"15 MiB\"",
    );
    wrong(
        "delay = \"soon\"",
        "a duration such as \"500ms\", \"2s\", \"1m\" or \"24h\"",
    );
    wrong("max_time = \"0s\"", "at least 1ms");
    wrong("no_gzip = \"yes\"", "true or false");
    wrong("scope = \"all\"", "\"dir\" or \"origin\"");
    wrong("layout = 1979-05-27", "\"root\" or \"in-place\"");
    wrong("output = 5", "a path");
    wrong("exclude = \"/a*\"", "a list");
    check_file(
        "exclude = [\n  \"/a*\",\n  \"\",\n]",
        "config.toml:3: exclude: expected a glob such as \"/private/*\", found \"\"",
    );
    check_file(
        "summary = [1]",
        "config.toml:1: summary: expected \"json\" or \"text\", found a list",
    );
    check_file(
        "[rate]",
        "config.toml:1: rate: expected a number above 0 per second or \"unlimited\", found a table",
    );
    check_file(
        "retry_delays = []",
        "config.toml:1: retry_delays: expected at least one duration, found an empty list",
    );
    check_file(
        "document_types = [\"pdf\"]",
        "config.toml:1: document_types: expected a content type such as \"application/pdf\", found \"pdf\"",
    );
}

#[test]
fn a_wrong_value_names_its_flag_or_variable() {
    check_flag(
        &["--rate", "fast"],
        "--rate: expected a number above 0 per second or \"unlimited\", found \"fast\"",
    );
    check_flag(
        &["--max-pages", "0"],
        "--max-pages: expected a whole number, 1 or more, found \"0\"",
    );
    check_flag(
        &["--max-pages", "+1"],
        "--max-pages: expected a whole number, 1 or more, found \"+1\"",
    );
    check_variable(
        "ARPENT_RATE",
        "0",
        "ARPENT_RATE: expected a number above 0 per second or \"unlimited\", found \"0\"",
    );
    check_variable(
        "ARPENT_FRESH",
        "yes",
        "ARPENT_FRESH: expected true or false, found \"yes\"",
    );
}

#[test]
fn all_problems_are_reported_at_once() {
    let error = load(
        &["ftp://example.com/", "--max-pages", "0"],
        &[("ARPENT_DELAY", "x")],
        Some("concurrency = 0\nrats = 3\nrate = true"),
    );
    assert_eq!(
        error.unwrap_err().to_string(),
        "config.toml:1: concurrency: expected a whole number from 1 to 1000, found 0\n\
         config.toml:2: rats: no such setting; did you mean rate?\n\
         config.toml:3: rate: expected a number above 0 per second or \"unlimited\", found true\n\
         ARPENT_DELAY: expected a duration such as \"500ms\", \"2s\", \"1m\" or \"24h\", found \"x\"\n\
         --max-pages: expected a whole number, 1 or more, found \"0\"\n\
         URL: not an http or https URL: \"ftp://example.com/\""
    );
}

#[test]
fn a_url_that_cannot_be_crawled_is_refused() {
    fn check(url: &str, expected: &str) {
        assert_eq!(load(&[url], &[], None).unwrap_err().to_string(), expected);
    }
    check(
        "example.com",
        "URL: not a URL: \"example.com\"; expected one that begins with http:// or https://",
    );
    check(
        "ftp://example.com/",
        "URL: not an http or https URL: \"ftp://example.com/\"",
    );
    check("https://", "URL: not a URL: \"https://\"");
    check(
        "https://me:secret@example.com/",
        "URL: a URL with a user name or password; put it into basic_auth in the settings file, or ARPENT_BASIC_AUTH",
    );
    assert_eq!(
        load(&[], &[], None).unwrap_err().to_string(),
        "urls: no site to crawl: name at least one URL, or urls in the settings file"
    );
}

#[test]
fn secrets_are_not_repeated() {
    check_variable(
        "ARPENT_BASIC_AUTH",
        "hunter2",
        "ARPENT_BASIC_AUTH: expected \"user:password\", found no colon",
    );
    check_variable(
        "ARPENT_BASIC_AUTH",
        "a:\u{7}",
        "ARPENT_BASIC_AUTH: expected \"user:password\", found a control character",
    );
    check_variable(
        "ARPENT_BEARER_TOKEN",
        "hunter 2",
        "ARPENT_BEARER_TOKEN: expected a token of letters, digits and -._~+/=, found another character",
    );
    check_variable(
        "ARPENT_PROXY",
        "socks5://me:hunter2@h/",
        "ARPENT_PROXY: expected a proxy such as \"http://proxy.example:3128\"",
    );
    let settings = good(
        &[URL],
        &[
            ("ARPENT_BEARER_TOKEN", "hunter2"),
            ("ARPENT_HEADER", "Cookie: hunter2"),
        ],
        None,
    );
    assert!(!format!("{settings:?}").contains("hunter2"));
}

#[test]
fn typed_secrets_are_warned_of() {
    fn check(arguments: &[&str], variables: &[(&str, &str)], expected: &[&str]) {
        assert_eq!(
            good(&[&[URL], arguments].concat(), variables, None).warnings,
            expected
        );
    }
    check(
        &["--header", "Cookie: a=b"],
        &[],
        &[
            "everyone on this machine can see the header Cookie in the process list; \
           put it into the settings file or the variable ARPENT_HEADER",
        ],
    );
    check(
        &["--proxy", "http://me:secret@proxy.example:3128"],
        &[],
        &[
            "everyone on this machine can see the proxy's password in the process list; \
           put it into the settings file or the variable ARPENT_PROXY",
        ],
    );
    check(&[], &[("ARPENT_HEADER", "Cookie: a=b")], &[]);
    check(&["--header", "Accept-Language: fr"], &[], &[]);
}

#[test]
fn values_must_not_conflict() {
    check_file(
        "pause = \"5m\"\nmax_pause = \"4m\"",
        "config.toml:2: max_pause: shorter than pause",
    );
    check_file(
        "basic_auth = \"a:b\"\nbearer_token = \"c\"",
        "config.toml:2: bearer_token: a request carries either this or basic_auth, not both",
    );
    check_file(
        "discover = [\"list\"]",
        "config.toml:1: discover: only lists are to be read, but seeds names none",
    );
    let several = ["https://other.example/"];
    check_flag(
        &[several[0], "--header", "Cookie: a=b"],
        "--header: each of several sites would be sent these credentials; write them into the table [[site]] of the one they are for",
    );
    let settings = good(
        &[URL, "https://example.com/docs/", "--header", "Cookie: a=b"],
        &[],
        None,
    );
    assert_eq!(settings.urls.len(), 2);
}

#[test]
fn globs_that_can_never_match_are_found_before_the_crawl() {
    let error = load(
        &[
            URL,
            "--exclude",
            "private",
            "--include",
            "/[a",
            "--list-only",
            "/fine*",
        ],
        &[],
        None,
    );
    let text = error.unwrap_err().to_string();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(lines[0].starts_with("--include: \"/[a\" "), "{text}");
    assert!(lines[1].starts_with("--exclude: \"private\" "), "{text}");
}

#[test]
fn problems_are_reported_in_the_order_in_which_one_reads() {
    let file = "max_pages = 0\nrates = 3\nmin_section = 0\n[[page_rule]]\nselector = \"p[\"\naction = \"exclude\"\n";
    let error = load(
        &[URL, "--rate", "x"],
        &[("ARPENT_CONCURRENCY", "0")],
        Some(file),
    )
    .unwrap_err();
    let text = error.to_string();
    let begins: Vec<_> = text
        .lines()
        .map(|line| line.split(": ").next().unwrap())
        .collect();
    assert_eq!(
        begins,
        [
            "config.toml:1",
            "config.toml:2",
            "config.toml:3",
            "config.toml:4",
            "ARPENT_CONCURRENCY",
            "--rate"
        ],
        "{text}"
    );
}
