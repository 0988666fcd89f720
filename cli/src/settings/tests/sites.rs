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
politeness.rate = 3
scope.exclude = ["/shared/*"]

[[site]]
url = "https://a.example/"
politeness.rate = 1

[[site]]
url = "https://b.example/docs/"
scope.exclude = ["/own/*"]
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
    // The site whose scope covers it longest.
    check(&["https://a.example/x/y"], TWO, &[(a, 1.0)]);
    check(&["https://b.example/docs/x", b], TWO, &[(b, 3.0)]);
    check(&["https://b.example/"], TWO, &[("https://b.example/", 3.0)]);
    let inner = format!("{TWO}\n[[site]]\nurl = \"https://a.example/x/\"\npoliteness.rate = 2\n");
    check(
        &["https://a.example/x/y"],
        &inner,
        &[("https://a.example/x/", 2.0)],
    );
    check(&["https://a.example/z"], &inner, &[(a, 1.0)]);
    // Those of the list above the tables come first, each once.
    let list = format!("urls = [\"{other}\", \"{b}\"]\n{TWO}");
    check(&[], &list, &[(other, 3.0), (b, 3.0), (a, 1.0)]);
    check(&[a], &list, &[(a, 1.0)]);
}

#[test]
fn typed_site_takes_no_foreign_places() {
    let check = |typed: &str, expected: (Option<&str>, Option<&str>)| {
        let file = "urls = [\"https://staging.example/\"]\noutput.publish_as = \"https://www.example/\"\n\
                    output.public_url = \"https://www.example/maps/\"\n";
        let sites = sites(&[typed], &[], file);
        let config = &sites[0].settings.config;
        let written_as = config.written_as.as_ref().map(UrlKey::as_str);
        assert_eq!((written_as, config.publish.public_url.as_deref()), expected);
    };
    let both = (
        Some("https://www.example/"),
        Some("https://www.example/maps/"),
    );
    check("https://staging.example/", both);
    check("https://other.example/", (None, None));
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
value = "1"

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
    assert_eq!(found, [vec![".own", "x"], vec![".shared", "z"]]);
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
output.output = "all"
output.public_url = "https://maps.example/"
[[site]]
url = "https://a.example/"
output.output = "here"
output.public_url = "https://there.example/"
output.state = "memory"
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
        &format!("output.state = \"s\"\n{file}"),
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
                settings.public_url_of(&known).unwrap().unwrap_or_default(),
            ],
            expected,
            "{arguments:?} {variables:?} {file}"
        );
    }
    let places = "output.output = \"all\"\noutput.public_url = \"https://maps.example/\"\n";
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
        // The place of the maps is that of the sites of the file.
        check(&[beside], &[], file, [&c[0], ""]);
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
    let beside = [named[0], ""];
    check(&[a], &[], &a_urls.replace("a.ex", "z.ex"), beside);
    check(&[a], &[], &a_table.replace("a.ex", "z.ex"), beside);
    // A file without sites is for every site.
    check(&[a], &[], places, plain);
    // One directory for a host does not become right by choosing.
    let file = tables
        .replace("maps.example/", "maps.example/{host}/")
        .replace("b.ex", "a.ex")
        .replace("a.example/\"\n[[", "a.example/x/\"\n[[");
    let message = "config.toml:2: public_url: several sites are on the host a.example, and two sites cannot have the same directory; use {site} in place of {host}";
    for arguments in [&[][..], &[a]] {
        let error = load_sites(arguments, &[], Some(&file)).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn output_must_not_contain_a_state() {
    check_sites(
        "[[site]]\nurl = \"https://a.example/\"\noutput.output = \"x/../mine\"\noutput.state = \"mine/\"\n",
        &[&format!(
            "config.toml:2: output: {} is the output of https://a.example/ (line 2), and contains the state of https://a.example/ (line 2); expected a folder that contains only files that are served",
            std::env::current_dir().unwrap().join("mine").display()
        )],
    );
    check_sites(
        "output.state = \"all\"\n[[site]]\nurl = \"https://a.example/\"\noutput.state = \"own\"\n[[site]]\nurl = \"https://b.example/\"\noutput.output = \"own\"\n",
        &[&format!(
            "config.toml:6: output: {} is the output of https://b.example/ (line 6), and contains the state of https://a.example/ (line 3); expected a folder that contains only files that are served",
            std::env::current_dir().unwrap().join("own").display()
        )],
    );
    let error = load_sites(&[URL, "--output", "here", "--state", "here"], &[], None).unwrap_err();
    assert!(
        error.to_string().contains("contains the state of"),
        "{error}"
    );
    // Folders in it are independent.
    sites(
        &[],
        &[],
        &format!("output.output = \"all\"\noutput.state = \"all\"\n{TWO}"),
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
    let last_run = found[1].settings.last_session_of(&found[1].foreseen());
    assert!(last_run.ends_with("https_b.example_docs.last.json"));
}

#[test]
fn sessions_at_a_time_are_limited() {
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
fn host_is_the_same_with_www() {
    let file =
        "urls = [\"https://www.a.example/x/\", \"http://a.example/y/\", \"https://b.example/\"]";
    let hosts: Vec<_> = sites(&[], &[], file)
        .iter()
        .map(|site| site.host().to_string())
        .collect();
    assert_eq!(hosts, ["a.example", "a.example", "b.example"]);
}

#[test]
fn credentials_belong_to_one_site() {
    let file = r#"
[[site]]
url = "https://a.example/"
requests.basic_auth = "user:secret"
requests.header = ["Cookie: a=b"]
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
    let shared = "\nrequests.basic_auth = \"u:p\"\n[[site]]\nurl = \"https://a.example/\"\n[[site]]\nurl = \"https://b.example/\"\n";
    // Only one of them is crawled.
    assert_eq!(sites(&["https://a.example/"], &[], shared).len(), 1);
}

#[test]
fn one_site_may_be_written_to_two_places() {
    let file = "
[[site]]
url = \"https://a.example/\"
[[site]]
url = \"https://a.example/\"
name = \"again\"
output.state = \"/nowhere/2\"
output.output = \"/nowhere/3\"";
    assert_eq!(sites(&[], &[], file).len(), 2);
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
fn site_tables_take_all_settings_of_sites() {
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
        format!("{:?}", default.session.config)
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
