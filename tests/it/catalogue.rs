//! `arpent catalogue` and `arpent status --catalogue`, with a `PostgreSQL` server of their own.

use std::{collections::BTreeMap, fmt::Write as _, fs};

use serde_json::Value;

use crate::support::{
    postgres::Postgres,
    program::{Bench, Ran},
};

/// A database, and a folder for settings.
struct Database {
    postgres: Postgres,
    bench: Bench,
}

impl Database {
    /// `None`: `PostgreSQL` is not installed.
    fn new() -> Option<Self> {
        let postgres = Postgres::start()?;
        let bench = Bench::new();
        Some(Self { postgres, bench })
    }

    /// With the tables, and the sites of a settings file.
    fn with(sites: &str) -> Option<Self> {
        let database = Self::new()?;
        database.run("catalogue init").expect_code(0);
        database.write("sites.toml", sites);
        database.run("catalogue import sites.toml").expect_code(0);
        Some(database)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.bench.path().join(name), text).expect("it can be written");
    }

    /// Runs a command line; the URL of the catalogue is in the environment.
    fn run(&self, line: &str) -> Ran {
        let mut command = self.bench.program();
        command
            .args(line.split(' '))
            .env("ARPENT_CATALOGUE", self.postgres.url());
        Ran::of(command)
    }

    /// Standard output of a command that ends well.
    fn print(&self, line: &str) -> String {
        self.run(line).expect_code(0).stdout
    }

    /// Checks standard output of a command that ends well.
    #[track_caller]
    fn check(&self, line: &str, expected: &str) {
        assert_eq!(self.print(line), expected, "{line}");
    }

    /// Checks that a command is wrong usage, and that its message has these words.
    #[track_caller]
    fn check_refused(&self, line: &str, words: &str) {
        let refused = self.run(line).expect_code(2).stderr;
        assert!(refused.contains(words), "{line}: {refused}");
    }

    /// The sites of a list, by their names.
    fn list(&self, options: &str) -> BTreeMap<String, Value> {
        let ran = self.run(&format!("catalogue list --json{options}"));
        let sites = ran.expect_code(0).summaries();
        let name = |site: &Value| site["name"].as_str().expect("a name").to_owned();
        sites.into_iter().map(|site| (name(&site), site)).collect()
    }
}

/// Three sites on two hosts.
const SITES: &str = "
schedule = \"30 2 * * *\"
[output]
output = \"s3://sets\"
[[site]]
url = \"https://a.example/\"
name = \"a\"
[[site]]
url = \"https://www.a.example/docs/\"
name = \"docs\"
schedule = \"\"
[[site]]
url = \"https://b.example/\"
name = \"b\"
[site.requests]
basic_auth = { variable = \"B_AUTH\" }
";

#[test]
fn sites_are_added_imported_listed_and_removed() {
    let Some(database) = Database::new() else {
        return;
    };
    let missing = "error: the catalogue has no tables yet; run `arpent catalogue init`\n";
    database.check_refused("catalogue list", missing);
    let made = database.print("catalogue init");
    assert!(made.starts_with("made the tables in 127.0.0.1:"), "{made}");
    let again = database.print("catalogue init");
    assert!(again.ends_with("are up to date, version 1\n"), "{again}");
    let empty = database.run("catalogue list").expect_code(0);
    assert_eq!(
        (&*empty.stdout, &*empty.stderr),
        ("", "the catalogue has no site\n")
    );

    database.write("sites.toml", SITES);
    database.check(
        "catalogue import sites.toml",
        "3 sites added, 0 changed, 0 unchanged\n  a: s3://sets/https_a.example\n  b: s3://sets/https_b.example\n  \
         docs: s3://sets/https_www.a.example_docs\n",
    );
    let changed = SITES.replace("b.example/\"", "b.example/x/\"");
    database.write("sites.toml", &changed);
    database.check(
        "catalogue import sites.toml",
        "0 sites added, 1 changed, 2 unchanged\n  b: s3://sets/https_b.example_x\n",
    );
    let sites = database.list("");
    assert_eq!(sites.len(), 3);
    for (name, key, expected) in [
        ("docs", "host", "a.example"),
        ("docs", "state", "on-demand"),
        ("a", "state", "waiting"),
        ("a", "schedule", "30 2 * * * UTC"),
        ("b", "output", "s3://sets/https_b.example_x"),
    ] {
        assert_eq!(sites[name][key], expected, "{key} of {name}");
    }

    database.check(
        "catalogue add https://c.example/ --name c --output s3://c/",
        "added: c; it has no schedule; arpent catalogue run-now c crawls it\n  c: s3://c\n",
    );
    database.write("none.toml", "schedule = \"@daily\"");
    for (line, words) in [
        (
            "add https://d.example/ --output s3://c --schedule @daily",
            "error: the output s3://c of site \"https_d.example\" is that of site \"c\"; choose another output, or remove that site first\n",
        ),
        (
            "add https://c.example/ --name c -o s3://d",
            "there is a site \"c\" already",
        ),
        (
            "add https://c.example/",
            "error: output: not set; a fleet needs a bucket, such as s3://BUCKET/PREFIX\n",
        ),
        (
            "import none.toml",
            "error: urls: no site; expected urls or [[site]] in the file\n",
        ),
    ] {
        database.check_refused(&format!("catalogue {line}"), words);
    }
    let refused = database.run("catalogue import missing.toml").expect_code(2);
    let refused = refused.stderr;
    assert!(
        refused.starts_with("error: FILE: failed to read missing.toml: ")
            && !refused.contains("--config"),
        "{refused}"
    );

    let removed = database.run("catalogue remove c x docs").expect_code(2);
    assert_eq!(removed.stdout, "removed: c\nremoved: docs\n");
    assert_eq!(
        removed.stderr,
        "error: the catalogue has no site \"x\"; `arpent catalogue list` shows all\n"
    );
    assert_eq!(database.list("").len(), 2);
}

#[test]
fn sites_are_paused_resumed_and_run_now() {
    let Some(database) = Database::with(SITES) else {
        return;
    };
    database.check("pause a b", "a: paused\nb: paused\n");
    assert_eq!(database.list(" --state paused").len(), 2);
    let resume = "run `arpent resume` first";
    database.check_refused("catalogue run-now a", resume);
    database.print("resume a");
    database.check("catalogue run-now a --force", "due now: a\n");
    database.check(
        "resume a b",
        "a: neither paused nor set aside\nb: resumed\n",
    );
    database.print("pause b --until 2999-01-01 --reason moving");

    database.postgres.sql(
        "UPDATE host SET owner = 'w', epoch = 7, lease_until = now() + interval '1 h' WHERE name = 'a.example';
         UPDATE site SET epoch = 7 WHERE name = 'a'",
    );
    database.check(
        "catalogue run-now a",
        "a session of a is under way, and run-now adds no other\n",
    );
    let forced = database.print("catalogue run-now a --force");
    let end = "publishes in spite of the guard\n";
    assert!(forced.ends_with(end), "{forced}");
    database.check("pause a", "a: paused; its session stops\n");
    let list = database.print("catalogue list");
    let line = list.lines().find(|line| line.starts_with("a "));
    let line: Vec<&str> = line.unwrap_or_default().split_whitespace().collect();
    assert_eq!(line.join(" "), "a running, stops - - - -");
    database
        .postgres
        .sql("UPDATE site SET epoch = NULL WHERE name = 'a'");
    database.print("resume a");

    let aside = "UPDATE site SET set_aside = 'its workers died' WHERE name <> 'b'";
    database.postgres.sql(aside);
    let list = database.print("catalogue list --state set-aside");
    assert!(list.contains("\n    its workers died\n"), "{list}");
    database.check("resume --set-aside", "resumed: 2 sites\n");
}

#[test]
fn a_site_is_shown_with_settings_and_sessions() {
    let Some(database) = Database::with(SITES) else {
        return;
    };
    database.postgres.sql(
        "UPDATE site SET outcome = 'published', listed = 1234, published = '2026-11-26 02:31:40Z' WHERE name = 'b';
         INSERT INTO session (site, worker, epoch, began, ended, outcome, summary) SELECT id, 'w-1', 1, '2026-11-26 02:30Z',
         '2026-11-26 02:31Z', 'published', '{\"listed\": 1234}' FROM site WHERE name = 'b';
         INSERT INTO session (site, worker, epoch, began, ended, outcome, summary) SELECT id, 'w-1', 1, '2026-11-26 03:30Z',
         '2026-11-26 03:30:04Z', 'refused', '{\"message\": \"the site is down\"}' FROM site WHERE name = 'b';
         INSERT INTO session (site, worker, epoch, began, ended, outcome) SELECT id, 'w-2', 1, '2026-11-26 04:30Z',
         '2026-11-26 04:31:40Z', 'lost' FROM site WHERE name = 'b'",
    );
    let shown = database.print("catalogue show b");
    for part in [
        "b: waiting\n",
        "  host          b.example\n",
        "  last good     2026-11-26 02:31Z\n",
        "  listed        1,234\n",
        "Settings\n  [[site]]\n",
        "  variable = \"B_AUTH\"\n",
        "Last sessions\n  Began                 Ended                 Outcome    Worker\n",
        "  2026-11-26 04:30:00Z  2026-11-26 04:31:40Z  lost       w-2\n      the worker did not renew its lease",
        "  2026-11-26 03:30:00Z  2026-11-26 03:30:04Z  refused    w-1\n      the site is down\n",
        "  2026-11-26 02:30:00Z  2026-11-26 02:31:00Z  published  w-1\n",
    ] {
        assert!(shown.contains(part), "{part:?}: {shown}");
    }
    let shown = database.run("catalogue show b --json").expect_code(0);
    let shown = shown.summary();
    assert_eq!(shown["sessions"][2]["summary"]["listed"], 1234);
    assert_eq!(shown["site"]["listed"], 1234);
    database.check_refused("catalogue show c", "has no site \"c\"");
}

#[test]
fn the_status_of_a_fleet_names_problems() {
    let Some(database) = Database::with(SITES) else {
        return;
    };
    database.postgres.sql(
        "UPDATE site SET set_aside = 'its workers died' WHERE name = 'docs';
         UPDATE site SET outcome = 'published', published = now() - interval '27 h' WHERE name = 'a';
         UPDATE host SET claimable_at = now() - interval '3 min' WHERE name = 'b.example';
         INSERT INTO worker VALUES ('w-1', '0.1.0', now(), now(), 3, true, true),
         ('w-2', '0.1.0', now(), now() - interval '10 min', 3, false, true),
         ('w-3', '0.1.0', now(), now(), 0, false, false)",
    );
    let status = database.run("status --catalogue").expect_code(0);
    assert_eq!(
        status.stdout,
        "3 sites: 1 set-aside, 2 waiting\n\
         \x20 last sessions: 1 published\n\
         \x20 0 hosts leased to workers; b.example is due since 3 min ago\n\n\
         3 workers: 1 lost\n  w-1: 3 sites, version 0.1.0, seen now, is stopping\n  \
         w-2: lost, last seen 10 min ago; its hosts are free when its leases have ended\n  \
         w-3: 0 sites, version 0.1.0, seen now, not ready: its storage does not answer\n\n\
         Set aside\n  docs: its workers died\n"
    );
    database.print("status --catalogue --max-age 2d");
    let late = database
        .run("status --catalogue --json --max-age 26h")
        .expect_code(1);
    assert_eq!(
        late.stderr,
        "error: a: the last good session ended 1 d 3 h ago\n"
    );
    let late = late.summary();
    assert_eq!(late["late"][0]["name"], "a");
    assert_eq!(late["sites"]["set-aside"], 1);
    assert_eq!(late["workers"][0]["draining"], true);
    assert_eq!(late["workers"][1]["lost"], true);
    assert_eq!(late["workers"][2]["ready"], false);
}

#[test]
fn an_unusable_catalogue_is_reported_with_advice() {
    let Some(database) = Database::with(SITES) else {
        return;
    };
    let closed = "postgres://arpent:secret,@127.0.0.1:1/arpent";
    let typed = format!("catalogue list --catalogue {closed}");
    let settings = "[fleet]\ncatalogue = { variable = \"DATABASE\" }\n[requests]\nbasic_auth = { file = \"missing\" }";
    database.write("worker.toml", settings);
    let with_file = "catalogue list -c worker.toml";
    let advice = "Connection refused (os error 111); check that PostgreSQL runs there and lets this user in\n";
    let check = |url: Option<&str>, line: &str, code: i32, expected: &str| {
        let mut command = database.bench.program();
        command.args(line.split(' '));
        command.envs(url.map(|url| ("ARPENT_CATALOGUE", url)));
        let ran = Ran::of(command).expect_code(code);
        assert!(ran.stderr.contains(expected), "{line}: {}", ran.stderr);
        assert!(!ran.stderr.contains("secret,"), "{}", ran.stderr);
    };
    check(None, "catalogue list", 2, "expected --catalogue URL");
    check(None, "status --catalogue", 2, "expected --catalogue URL");
    check(Some(closed), "catalogue list", 4, advice);
    check(None, &typed, 4, "can see the password of the catalogue");
    check(None, with_file, 2, "the variable DATABASE is not set");
    let mut command = database.bench.program();
    command.args(with_file.split(' '));
    command.env("DATABASE", database.postgres.url());
    // Other secrets of the file are not read.
    Ran::of(command).expect_code(0);
    let newer = "INSERT INTO arpent_version VALUES (1000, now())";
    database.postgres.sql(newer);
    for line in ["catalogue list", "catalogue init", "status --catalogue"] {
        database.check_refused(line, "update arpent here");
    }
}

/// A file of 100,000 sites has 20 MB; a settings file may have 1 MiB.
#[test]
fn a_large_file_of_sites_is_imported() {
    let mut sites = "[output]\noutput = \"s3://sets\"\n".to_owned();
    for number in 0..5_000 {
        let padding = "x".repeat(200);
        let _ = write!(
            sites,
            "[[site]]\n# {padding}\nurl = \"https://h{number}.example/\"\nlimits.max_pages = {}\n",
            number + 1
        );
    }
    assert!(sites.len() > 1 << 20, "larger than a settings file");
    let Some(database) = Database::with(&sites) else {
        return;
    };
    database.check(
        "catalogue import sites.toml",
        "0 sites added, 0 changed, 5,000 unchanged\n",
    );
    let sites = database.list("");
    assert_eq!(sites.len(), 5_000);
    assert_eq!(
        sites["https_h77.example"]["output"],
        "s3://sets/https_h77.example"
    );
    database.write("large.toml", &"# x\n".repeat(17 << 20));
    database.check_refused("catalogue import large.toml", "larger than 64 MiB");
}
