//! Several sites in one file: the settings of each, and values that they may not share.

use std::sync::Arc;

use crawler::config::ScopeConfig;

use super::*;

fn sites(arguments: &[&str], variables: &[(&str, &str)], file: &str) -> Vec<Arc<SiteSettings>> {
    load_sites(arguments, variables, Some(file))
        .unwrap_or_else(|error| panic!("{error}"))
        .sites
}

/// The problems of a file with sites, one a line.
fn check_sites(file: &str, expected: &[&str]) {
    let error = load_sites(&[], &[], Some(file)).unwrap_err();
    assert_eq!(error.to_string(), expected.join("\n"), "{file}");
}

const TWO: &str = r#"
rate = 3
exclude = ["/shared/*"]

[[site]]
url = "https://a.example/"
rate = 1

[[site]]
url = "https://b.example/docs/"
exclude = ["/own/*"]
"#;

#[test]
fn settings_of_a_site_win_over_shared_ones() {
    fn check(arguments: &[&str], variables: &[(&str, &str)], expected: &[(f64, &str)]) {
        let sites = sites(arguments, variables, TWO);
        let found: Vec<_> = sites
            .iter()
            .map(|site| {
                let ScopeConfig { exclude, .. } = &site.settings.config.scope;
                (site.settings.config.politeness.rate, exclude.join(" "))
            })
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(rate, exclude)| (Rate::PerSecond(*rate), (*exclude).to_owned()))
            .collect();
        assert_eq!(found, expected);
    }
    check(&[], &[], &[(1.0, "/shared/*"), (3.0, "/own/*")]);
    check(
        &[],
        &[("ARPENT_RATE", "2")],
        &[(2.0, "/shared/*"), (2.0, "/own/*")],
    );
    check(
        &["--rate", "4", "--exclude", "/typed/*"],
        &[("ARPENT_RATE", "2")],
        &[(4.0, "/typed/*"), (4.0, "/typed/*")],
    );
}

#[test]
fn urls_that_are_typed_choose_among_the_sites() {
    fn check(arguments: &[&str], file: &str, expected: &[(&str, f64)]) {
        let sites = sites(arguments, &[], file);
        let found: Vec<_> = sites
            .iter()
            .map(|site| (site.start.as_str(), site.settings.config.politeness.rate))
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(url, rate)| (*url, Rate::PerSecond(*rate)))
            .collect();
        assert_eq!(found, expected, "{arguments:?}");
    }
    let (a, b) = ("https://a.example/", "https://b.example/docs/");
    check(&[], TWO, &[(a, 1.0), (b, 3.0)]);
    check(&[b], TWO, &[(b, 3.0)]);
    check(&["HTTPS://A.example:443"], TWO, &[(a, 1.0)]);
    check(&[b, a, b], TWO, &[(b, 3.0), (a, 1.0)]);
    let other = "https://c.example/";
    check(&[other, a], TWO, &[(other, 3.0), (a, 1.0)]);
    // Those of the list above the tables come first, each once.
    let list = format!("urls = [\"{other}\", \"{b}\"]\n{TWO}");
    check(&[], &list, &[(other, 3.0), (b, 3.0), (a, 1.0)]);
    check(&[a], &list, &[(a, 1.0)]);
}

#[test]
fn a_list_of_tables_replaces_the_one_above() {
    let file = r#"
[[page_rule]]
selector = ".shared"
action = "exclude"

[[namespace]]
prefix = "x"
uri = "https://example.com/x"
[[namespace.element]]
name = "y"
selector = ".y"

[[site]]
url = "https://a.example/"
[[site.page_rule]]
selector = ".own"
action = "exclude"

[[site]]
url = "https://b.example/"
[[site.namespace]]
prefix = "z"
uri = "https://example.com/z"
[[site.namespace.element]]
name = "w"
value = "1"
"#;
    let found: Vec<Vec<_>> = sites(&[], &[], file)
        .iter()
        .map(|site| {
            let config = &site.settings.config;
            let rules = config.parse.page_rules.iter();
            let namespaces = config.publish.entries.namespaces.iter();
            rules
                .map(|rule| rule.selector.clone())
                .chain(namespaces.map(|namespace| namespace.prefix.clone()))
                .collect()
        })
        .collect();
    assert_eq!(found, [vec![".own", ".y", "x"], vec![".shared", "z"]]);
}

#[test]
fn each_site_has_its_own_notifications() {
    let file = r#"
[notify]
indexnow = true
hook_shell = "shared"
[[site]]
url = "https://a.example/"
[site.notify]
robots_file = "a.txt"
hook_shell = "own"
[[site]]
url = "https://b.example/"
"#;
    let found: Vec<_> = sites(&[], &[], file)
        .iter()
        .map(|site| {
            let notify = site.settings.config.notify.clone();
            (notify.indexnow, notify.hook_shell, notify.robots_file)
        })
        .collect();
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(
        found,
        [
            (true, text("own"), Some("a.txt".into())),
            (true, text("shared"), None)
        ]
    );
    check_sites(
        r#"
[notify]
robots_file = "one.txt"
rate = 1
pong = []
[[site]]
url = "https://a.example/"
ping = []
[site.notify]
max_sites = 1
hooks_url = []
[[site]]
url = "https://b.example/"
"#,
        &[
            "config.toml:3: robots_file: one file cannot be that of several sites; write it into [site.notify] of the one it is for",
            "config.toml:4: rate: not a setting of [notify]; write it above that table",
            "config.toml:5: pong: no such setting of [notify]; did you mean ping?",
            "config.toml:8: ping: expected in the table [notify]",
            "config.toml:10: max_sites: not a setting of [notify]; write it above that table",
            "config.toml:11: hooks_url: no such setting of [notify]; did you mean hook_url?",
        ],
    );
}

#[test]
fn a_folder_of_the_site_is_its_own() {
    fn check(arguments: &[&str], file: &str, expected: &[[&str; 3]]) {
        let found: Vec<_> = sites(arguments, &[], file)
            .iter()
            .map(|site| {
                let (settings, known) = (&site.settings, site.foreseen());
                [
                    settings.output_of(&known.name()).display().to_string(),
                    settings.public_url_of(&known).unwrap().unwrap(),
                    settings.state_of(&known).display().to_string(),
                ]
            })
            .collect();
        assert_eq!(found, expected);
    }
    let file = r#"
output = "all"
public_url = "https://maps.example/"
[[site]]
url = "https://a.example/"
output = "here"
public_url = "https://there.example/"
state = "memory"
[[site]]
url = "https://b.example/docs/"
"#;
    let second = [
        "all/https_b.example_docs",
        "https://maps.example/https_b.example_docs/",
        "s/https_b.example_docs.db",
    ];
    check(
        &[],
        &format!("state = \"s\"\n{file}"),
        &[
            [
                "here",
                "https://there.example/",
                "memory/https_a.example.db",
            ],
            second,
        ],
    );
    // What is typed is meant for all of them again.
    check(
        &["--output", "typed", "--state", "s"],
        file,
        &[
            [
                "typed/https_a.example",
                "https://there.example/",
                "s/https_a.example.db",
            ],
            ["typed/https_b.example_docs", second[1], second[2]],
        ],
    );
}

#[test]
fn a_site_has_one_place_whichever_are_chosen() {
    fn check(arguments: &[&str], variables: &[(&str, &str)], file: &str, expected: [&str; 2]) {
        let found = sites(arguments, variables, file);
        let (settings, known) = (&found[0].settings, found[0].foreseen());
        assert_eq!(
            [
                settings.output_of(&known.name()).display().to_string(),
                settings.public_url_of(&known).unwrap().unwrap(),
            ],
            expected,
            "{arguments:?} {variables:?} {file}"
        );
    }
    let places = "output = \"all\"\npublic_url = \"https://maps.example/\"\n";
    let a = "https://a.example/";
    let a_urls = format!("{places}urls = [\"{a}\"]\n");
    let urls = format!("{places}urls = [\"{a}\", \"https://b.example/\"]\n");
    let a_table = format!("{places}[[site]]\nurl = \"{a}\"\n");
    let tables = format!("{a_table}[[site]]\nurl = \"https://b.example/\"\n");
    let both = format!("{a_urls}[[site]]\nurl = \"https://b.example/\"\n");
    let named = [
        "all/https_a.example",
        "https://maps.example/https_a.example/",
    ];
    let plain = ["all", "https://maps.example/"];
    for file in [&urls, &tables, &both] {
        check(&[], &[], file, named);
        check(&[a], &[], file, named);
        check(&[], &[("ARPENT_URLS", a)], file, named);
        let beside = "https://c.example/";
        let c = named.map(|place| place.replace("a.example", "c.example"));
        check(&[beside], &[], file, [&c[0], &c[1]]);
    }
    check(
        &[a],
        &[("ARPENT_OUTPUT", "variable")],
        &tables,
        ["variable/https_a.example", named[1]],
    );
    // What is typed beside one URL is meant for it.
    check(&["--output", "typed", a], &[], &tables, ["typed", named[1]]);
    // The only site of a file needs no name, until there is another one.
    check(&[], &[], &a_table, plain);
    check(&[a], &[], &a_table, plain);
    check(&[a, "https://c.example/"], &[], &a_table, named);
    check(&[], &[], &a_urls, plain);
    check(&[a], &[], &a_urls.replace("a.ex", "z.ex"), plain);
    check(&[a], &[], &a_table.replace("a.ex", "z.ex"), named);
    // One directory for a host does not become right by choosing.
    let file = tables
        .replace("maps.example/", "maps.example/{host}/")
        .replace("b.ex", "a.ex")
        .replace("a.example/\"\n[[", "a.example/x/\"\n[[");
    let message = "config.toml:2: public_url: several sites are on the host a.example, and one directory cannot serve the sitemaps of two; use {site} in the place of {host}";
    for arguments in [&[][..], &[a]] {
        let error = load_sites(arguments, &[], Some(&file)).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn an_output_is_not_a_folder_of_a_state() {
    check_sites(
        "[[site]]\nurl = \"https://a.example/\"\noutput = \"x/../mine\"\nstate = \"mine/\"\n",
        &[&format!(
            "config.toml:3: output: {} is the output of https://a.example/ (line 2), and the state of https://a.example/ (line 2) is kept in it; expected a folder that has nothing in it but what is served",
            std::env::current_dir().unwrap().join("mine").display()
        )],
    );
    check_sites(
        "state = \"all\"\n[[site]]\nurl = \"https://a.example/\"\nstate = \"own\"\n[[site]]\nurl = \"https://b.example/\"\noutput = \"own\"\n",
        &[&format!(
            "config.toml:7: output: {} is the output of https://b.example/ (line 6), and the state of https://a.example/ (line 3) is kept in it; expected a folder that has nothing in it but what is served",
            std::env::current_dir().unwrap().join("own").display()
        )],
    );
    let error = load_sites(&[URL, "--output", "here", "--state", "here"], &[], None).unwrap_err();
    assert!(error.to_string().contains("is kept in it"), "{error}");
    // Folders in it are independent.
    sites(
        &[],
        &[],
        &format!("output = \"all\"\nstate = \"all\"\n{TWO}"),
    );
}

#[test]
fn each_site_has_its_name_and_schedule() {
    let file = r#"
schedule = "30 2 * * *"
time_zone = "Europe/Paris"
jitter = "10m"
[[site]]
url = "https://a.example/"
name = "shop"
[[site]]
url = "https://b.example/docs/"
schedule = "@hourly"
time_zone = "UTC"
[[site]]
url = "https://c.example/"
schedule = ""
"#;
    let found = sites(&[], &[], file);
    let names: Vec<_> = found.iter().map(|site| site.name.as_str()).collect();
    assert_eq!(names, ["shop", "https_b.example_docs", "https_c.example"]);
    let schedules = found.iter().map(|site| site.schedule.as_ref());
    let texts: Vec<_> = schedules
        .map(|schedule| schedule.map(|schedule| schedule.text().to_owned()))
        .collect();
    assert_eq!(
        texts,
        [
            Some("30 2 * * * Europe/Paris".to_owned()),
            Some("@hourly UTC".to_owned()),
            None
        ]
    );
    let last_run = found[1].settings.last_run_of(&found[1].foreseen());
    assert!(last_run.ends_with("https_b.example_docs.last.json"));
}

#[test]
fn a_schedule_that_is_none_is_a_problem() {
    check_sites(
        "time_zone = \"Paris\"\n[[site]]\nurl = \"https://a.example/\"\nschedule = \"61 * * * *\"\n",
        &[
            "config.toml:1: time_zone: \"Paris\" is not a time zone; expected a name of the IANA database such as Europe/Paris, or UTC",
            "config.toml:4: schedule: \"61 * * * *\" is not a cron expression (Component error: Number out of bounds); expected five fields (minute, hour, day of month, month, day of week) such as \"30 2 * * *\", or one of @hourly, @daily, @weekly, @monthly",
        ],
    );
    check_sites(
        "[[site]]\nurl = \"https://a.example/\"\nschedule = \"0 0 31 2 *\"\n",
        &["config.toml:3: schedule: \"0 0 31 2 *\" names a time that never comes"],
    );
}

#[test]
fn one_crawls_only_so_many_at_a_time() {
    fn check(file: &str, variables: &[(&str, &str)], expected: usize) {
        let file = format!("{file}{TWO}");
        let settings = load_sites(&[], variables, Some(&file)).unwrap();
        assert_eq!(settings.max_sites, expected);
    }
    check("", &[], 4);
    check("max_sites = 2\n", &[], 2);
    check("max_sites = 2\n", &[("ARPENT_MAX_SITES", "1")], 1);
}

#[test]
fn the_host_of_a_site_is_the_same_with_www() {
    let file =
        "urls = [\"https://www.a.example/x/\", \"http://a.example/y/\", \"https://b.example/\"]";
    let hosts: Vec<_> = sites(&[], &[], file)
        .iter()
        .map(|site| site.host().to_string())
        .collect();
    assert_eq!(hosts, ["a.example", "a.example", "b.example"]);
}

#[test]
fn all_problems_of_all_sites_are_reported_once_and_in_order() {
    check_sites(
        r#"rate = 0
[[site]]
url = "https://a.example/"
rates = 1
concurrency = 0
summary = "json"
inputs = ["x"]
urls = ["https://b.example/"]
[[site.page_rule]]
selector = "p["
action = "exclude"
[[site]]
rate = 1
[[site]]
url = "b.example"
[[site]]
url = 7
[[site]]
url = "https://u:p@c.example/"
pause = "5m"
max_pause = "4m"
"#,
        &[
            "config.toml:1: rate: expected a number above 0 per second or \"unlimited\", found 0",
            "config.toml:4: rates: no such setting of a site; did you mean rate?",
            "config.toml:5: concurrency: expected a whole number from 1 to 1000, found 0",
            "config.toml:6: summary: holds for all sites together; write it above the first table",
            "config.toml:7: inputs: a setting of arpent build, not of a site that is crawled",
            "config.toml:8: urls: a site has one url; write each site into a table of its own",
            "config.toml:9: page_rule: \"p[\" is not a CSS selector: Unexpected EOL",
            "config.toml:12: site: url is missing",
            "config.toml:15: url: not a URL: \"b.example\"; expected one that begins with http:// or https://",
            "config.toml:17: url: expected text, found 7",
            "config.toml:19: url: a URL with a user name or password; put it into basic_auth in the settings file, or ARPENT_BASIC_AUTH",
        ],
    );
    check_sites(
        "[[site]]\nurl = \"https://a.example/\"\npause = \"5m\"\nmax_pause = \"4m\"\nurn = 1\n",
        &[
            "config.toml:4: max_pause: shorter than pause",
            "config.toml:5: urn: no such setting of a site; did you mean url?",
        ],
    );
}

#[test]
fn credentials_go_to_the_site_they_are_written_for() {
    let file = r#"
[[site]]
url = "https://a.example/"
basic_auth = "user:secret"
header = ["Cookie: a=b"]
[[site]]
url = "https://b.example/"
"#;
    let found = sites(&[], &[], file);
    assert!(found[0].settings.config.fetch.credentials.is_some());
    assert_eq!(found[0].settings.config.fetch.headers.len(), 1);
    assert_eq!(found[1].settings.config.fetch.credentials, None);
    assert!(found[1].settings.config.fetch.headers.is_empty());
    let text = format!("{found:?}");
    assert!(!text.contains("secret") && !text.contains("a=b"), "{text}");
    let shared = "\nbasic_auth = \"u:p\"\n[[site]]\nurl = \"https://a.example/\"\n[[site]]\nurl = \"https://b.example/\"\n";
    check_sites(
        shared,
        &[
            "config.toml:2: basic_auth: each of several sites would be sent these credentials; write them into the table [[site]] of the one they are for",
        ],
    );
    // Only one of them is crawled.
    assert_eq!(sites(&["https://a.example/"], &[], shared).len(), 1);
}

#[test]
fn two_sites_never_write_to_one_place() {
    fn check(first: &str, second: &str, expected: &[&str]) {
        let file = format!("state = \"/nowhere/state\"\n[[site]]\n{first}\n[[site]]\n{second}\n");
        match load_sites(&[], &[], Some(&file)) {
            Ok(_) => assert!(expected.is_empty(), "{file}"),
            Err(error) => assert_eq!(error.to_string(), expected.join("\n"), "{file}"),
        }
    }
    let (a, b) = (
        "url = \"https://a.example/\"",
        "url = \"https://b.example/\"",
    );
    check(a, b, &[]);
    check(
        a,
        "url = \"https://a.example/index.html\"",
        &[
            "config.toml:5: state: the state of https://a.example/index.html (line 5) would also be that of https://a.example/ (line 3); expected a folder of its own for each site, and each site once",
        ],
    );
    check(
        a,
        "url = \"https://a.example/\"\nstate = \"/nowhere/state/../state\"",
        &[
            "config.toml:6: state: the state of https://a.example/ (line 5) would also be that of https://a.example/ (line 3); expected a folder of its own for each site, and each site once",
        ],
    );
    let out = "https://b.example/ (line 6) and of https://a.example/ (line 3); expected a folder of its own for each site";
    check(
        &format!("{a}\noutput = \"/nowhere/a\""),
        &format!("{b}\noutput = \"/nowhere/b/../a/\""),
        &[&format!(
            "config.toml:7: output: /nowhere/a is the output of {out}"
        )],
    );
    // The same site twice, to places of their own and under names of their own.
    let other = "url = \"https://a.example/\"\nname = \"again\"\nstate = \"/nowhere/2\"\noutput = \"/nowhere/3\"";
    check(a, other, &[]);
    check(
        &format!("{a}\nname = \"x\""),
        &format!("{b}\nname = \"x\""),
        &[
            "config.toml:7: name: https://b.example/ (line 6) would be called as https://a.example/ (line 3) is; expected a name of its own for each site",
        ],
    );
    check(
        &format!("{a}\npublic_url = \"https://maps.example/x\""),
        &format!("{b}\npublic_url = \"https://maps.example/x/\""),
        &[
            "config.toml:7: public_url: the sitemaps of https://b.example/ (line 6) would be served where those of https://a.example/ (line 3) are; expected a directory of its own for each site",
        ],
    );
}

#[test]
fn links_and_detours_lead_to_one_place() {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().join("real");
    std::fs::create_dir(&real).unwrap();
    let real = real.canonicalize().unwrap();
    #[cfg(unix)]
    {
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        assert_eq!(settled(&link.join("new/./x")), real.join("new/x"));
        assert_eq!(settled(&link.join("..")), real.parent().unwrap());
    }
    assert_eq!(settled(&real.join("a/../b/")), real.join("b"));
}

#[test]
fn a_site_may_have_everything_that_is_about_one_site() {
    use super::super::table::Special;
    let text = config_file("default.toml");
    let is_about_more = |line: &str| {
        let name = line.split(" = ").next().unwrap();
        let setting = SETTINGS.iter().find(|setting| setting.name == name);
        setting.is_some_and(|setting| setting.is(Special::Program) || setting.is(Special::Build))
    };
    let own: Vec<_> = text.lines().filter(|line| !is_about_more(line)).collect();
    let own = own.join("\n").replace("\n[notify]\n", "\n[site.notify]\n");
    let file = format!("[[site]]\nurl = \"{URL}\"\n{own}\n");
    let site = &sites(&[], &[], &file)[0];
    let default = good(&[URL], &[], None);
    assert_eq!(
        format!("{:?}", site.settings.config),
        format!("{:?}", default.config)
    );
}

#[test]
fn the_example_of_the_default_file_is_one() {
    let text = config_file("default.toml");
    let at = text.find("# [[site]]\n").unwrap();
    let lines = text[at..].lines();
    let lines: Vec<_> = lines
        .map(|line| line.strip_prefix('#').unwrap().trim_start())
        .collect();
    let example = lines.join("\n");
    // Without a secret in a file that is not there.
    let example = example.replace("{ file = \"/etc/arpent/shop.header\" }", "\"X: y\"");
    let credentials = [("CREDENTIALS_DIRECTORY", "/credentials")];
    let found = sites(&[], &credentials, &example);
    assert_eq!(found[0].name, "shop");
    let config = &found[0].settings.config;
    assert!(config.fetch.credentials.is_some());
    assert_eq!(config.parse.page_rules.len(), 1);
}
