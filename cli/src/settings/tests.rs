//! Settings from their three places, as one table of cases each.

use std::{collections::BTreeSet, io};

use clap::Parser as _;
use crawler::{
    config::{
        Credentials, ElementValue, Extensions, Format, Namespace, NamespaceElement, PageAction,
        PageRule, Rate, ScopeWidth,
    },
    site::settle,
};

use super::{merge::default_state_folder, table::SETTINGS, *};
use crate::args::{Args, Command};

/// What is loaded from arguments behind `arpent crawl`, variables and a file `config.toml`.
fn load(
    arguments: &[&str],
    variables: &[(&str, &str)],
    file: Option<&str>,
) -> Result<Settings, SettingsError> {
    let mut line = vec!["arpent", "crawl"];
    line.extend(arguments);
    if file.is_some() {
        line.extend(["--config", "config.toml"]);
    }
    let Command::Crawl(args) = Args::try_parse_from(line).unwrap().command else {
        panic!("`arpent crawl` was typed");
    };
    let home = if cfg!(windows) {
        ("LOCALAPPDATA", "C:\\home")
    } else {
        ("HOME", "/home/me")
    };
    let environment = variables
        .iter()
        .chain([&home])
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Settings::load(&args, &environment.collect(), |path| match file {
        Some(text) if path == Path::new("config.toml") => Ok(text.to_owned()),
        Some(_) | None => Err(io::Error::from(io::ErrorKind::NotFound)),
    })
}

fn good(arguments: &[&str], variables: &[(&str, &str)], file: Option<&str>) -> Settings {
    load(arguments, variables, file).unwrap_or_else(|error| panic!("{error}"))
}

const URL: &str = "https://example.com/";

/// The problems of a file, one a line.
fn check_file(file: &str, expected: &str) {
    let error = load(&[URL], &[], Some(file)).unwrap_err();
    assert_eq!(error.to_string(), expected, "{file}");
}

fn check_flag(arguments: &[&str], expected: &str) {
    let error = load(&[&[URL], arguments].concat(), &[], None).unwrap_err();
    assert_eq!(error.to_string(), expected, "{arguments:?}");
}

fn check_variable(name: &str, value: &str, expected: &str) {
    let error = load(&[URL], &[(name, value)], None).unwrap_err();
    assert_eq!(error.to_string(), expected, "{name}={value}");
}

fn config_file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../config")
        .join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_default_file_is_the_default() {
    let written = good(&[URL], &[], Some(&config_file("default.toml")));
    let built_in = good(&[URL], &[], None);
    assert_eq!(
        format!(
            "{:#?}",
            Settings {
                public_url_origin: Origin::Default,
                ..written
            }
        ),
        format!("{built_in:#?}")
    );
}

#[test]
fn every_setting_stands_in_the_default_file_in_the_order_of_the_table() {
    let text = config_file("default.toml");
    let file = SettingsFile::parse(Path::new("default.toml"), &text);
    assert_eq!(file.problems, []);
    let written: Vec<_> = file.values.iter().map(|(name, _, _)| *name).collect();
    let known: Vec<_> = SETTINGS.iter().map(|setting| setting.name).collect();
    assert_eq!(written, known);
    assert!(text.contains("\n# [[page_rule]]\n"));
    assert!(text.contains("\n# [[namespace]]\n"));
}

#[test]
fn every_setting_of_the_default_file_is_explained() {
    let text = config_file("default.toml");
    let lines: Vec<_> = text.lines().collect();
    // Pairs that share one comment, second first.
    let shared: BTreeSet<_> = ["bearer_token", "max_pause"].into();
    for setting in SETTINGS {
        let start = format!("{} = ", setting.name);
        let at = lines
            .iter()
            .position(|line| line.starts_with(&start))
            .unwrap();
        let explained = lines[at - 1].starts_with("# ") || shared.contains(setting.name);
        assert!(explained, "{}", setting.name);
    }
}

#[test]
fn settings_have_names_of_their_own() {
    let names: BTreeSet<_> = SETTINGS.iter().map(|setting| setting.name).collect();
    assert_eq!(names.len(), SETTINGS.len());
}

#[test]
fn the_example_files_are_settings() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../config");
    let mut examples = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        if name.starts_with("example-") {
            examples += 1;
            let settings = good(&[], &[], Some(&config_file(&name)));
            assert_eq!(settings.urls.len(), 1, "{name}");
        }
    }
    assert_eq!(examples, 5);
}

#[test]
fn extensions_are_kinds_between_commas_or_one_by_one() {
    let check = |arguments: &[&str], file, images, hreflang| {
        let settings = good(&[&[URL], arguments].concat(), &[], file);
        let expected = Extensions { images, hreflang };
        assert_eq!(
            settings.config.publish.extensions, expected,
            "{arguments:?}"
        );
    };
    check(&[], None, false, false);
    check(&["--extensions", "images,hreflang"], None, true, true);
    check(&["--extensions", "images, hreflang"], None, true, true);
    check(&["--extensions", "hreflang"], None, false, true);
    check(
        &["--extensions", "hreflang", "--extensions", "images"],
        None,
        true,
        true,
    );
    check(&[], Some(r#"extensions = ["images"]"#), true, false);
    // A higher layer replaces the list.
    check(
        &["--extensions", "hreflang"],
        Some(r#"extensions = ["images"]"#),
        false,
        true,
    );
    for (given, found) in [
        ("image", "image"),
        ("images,", ""),
        ("images,Hreflang", "Hreflang"),
    ] {
        check_flag(
            &["--extensions", given],
            &format!("--extensions: expected \"images\" or \"hreflang\", found \"{found}\""),
        );
    }
}

#[test]
fn formats_are_words_and_not_only_feeds() {
    let check = |arguments: &[&str], variable: &str, file, expected: &[Format]| {
        let variables = [("ARPENT_FORMAT", variable)];
        let variables = &variables[..usize::from(!variable.is_empty())];
        let settings = good(&[&[URL], arguments].concat(), variables, file);
        let formats: Vec<_> = settings.config.publish.formats.into_iter().collect();
        assert_eq!(formats, expected);
    };
    check(&[], "", None, &[Format::Xml]);
    check(&[], "", Some("format = [\"txt\"]"), &[Format::Text]);
    let all = [Format::Xml, Format::Text, Format::Rss, Format::Atom];
    check(&["--format", "atom,xml, txt,rss"], "txt", None, &all);
    check(
        &["--format", "rss", "--format", "txt"],
        "",
        None,
        &all[1..3],
    );
    check(&[], "xml\natom", None, &[Format::Xml, Format::Atom]);
    let wrong =
        "--format: expected \"xml\" or \"txt\" among them: a feed lists recent changes only";
    check_flag(&["--format", "rss,atom"], wrong);
    check_flag(
        &["--format", "xml,pdf"],
        "--format: expected \"xml\" or \"txt\" or \"rss\" or \"atom\", found \"pdf\"",
    );
    check_file(
        "format = [\"atom\"]",
        "config.toml:1: format: expected \"xml\" or \"txt\" among them: a feed lists recent changes only",
    );
}

#[test]
fn values_for_entries_are_a_glob_and_a_word() {
    let entries = |arguments: &[&str], file| good(&[&[URL], arguments].concat(), &[], file);
    let settings = entries(
        &["--changefreq", "/?a=b=daily", "--changefreq", "*=never"],
        Some(r#"priority = ["/shop/*=0.8", "*=1"]"#),
    );
    let entries = settings.config.publish.entries;
    let changefreq: Vec<_> = entries
        .changefreq
        .iter()
        .map(|rule| (rule.pages.as_str(), rule.value.as_str()))
        .collect();
    assert_eq!(changefreq, [("/?a=b", "daily"), ("*", "never")]);
    let priority: Vec<_> = entries
        .priority
        .iter()
        .map(|rule| (rule.pages.as_str(), rule.value.tenths()))
        .collect();
    assert_eq!(priority, [("/shop/*", 8), ("*", 10)]);
    for wrong in ["daily", "=daily", "/x=Daily", "/x=", "/x=0.5"] {
        check_flag(
            &["--changefreq", wrong],
            &format!(
                "--changefreq: expected GLOB=always, hourly, daily, weekly, monthly, yearly or never, such as \"/news/*=daily\", found \"{wrong}\""
            ),
        );
    }
    for wrong in [
        "0.5", "/x=1.1", "/x=0,5", "/x=0.55", "/x=", "=0.5", "/x=1e-1",
    ] {
        check_flag(
            &["--priority", wrong],
            &format!(
                "--priority: expected GLOB=NUMBER from 0.0 to 1.0 with one digit behind the point, such as \"/shop/*=0.8\", found \"{wrong}\""
            ),
        );
    }
    check_file(
        "priority = [\"/ok=1\", \"shop/*=0.8\"]",
        "config.toml:1: priority: \"shop/*\" can never match: it must begin with `/`, `*`, `http://` or `https://`",
    );
}

#[test]
fn flags_win_over_variables_over_the_file_over_defaults() {
    let rate = |arguments: &[&str], variables: &[(&str, &str)], file| {
        let mut all = vec![URL];
        all.extend(arguments);
        good(&all, variables, file).config.politeness.rate
    };
    let (flag, variable, file) = (["--rate", "1"], [("ARPENT_RATE", "2")], Some("rate = 3"));
    assert_eq!(rate(&flag, &variable, file), Rate::PerSecond(1.0));
    assert_eq!(rate(&[], &variable, file), Rate::PerSecond(2.0));
    assert_eq!(rate(&[], &[], file), Rate::PerSecond(3.0));
    assert_eq!(rate(&[], &[], None), Rate::PerSecond(10.0));
    assert_eq!(
        rate(&["--rate", "unlimited"], &variable, file),
        Rate::Unlimited
    );
}

#[test]
fn a_list_replaces_the_list_below_it() {
    let exclude = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut all = vec![URL];
        all.extend(arguments);
        good(&all, variables, Some(r#"exclude = ["/file/*"]"#))
            .config
            .scope
            .exclude
    };
    let variable = [("ARPENT_EXCLUDE", "/a/*\n\n  /b/* \n")];
    assert_eq!(exclude(&[], &[]), ["/file/*"]);
    assert_eq!(exclude(&[], &variable), ["/a/*", "/b/*"]);
    assert_eq!(
        exclude(&["--exclude", "/c/*", "--exclude", "/d/*"], &variable),
        ["/c/*", "/d/*"]
    );
    assert_eq!(exclude(&[], &[("ARPENT_EXCLUDE", "")]), [""; 0]);
}

#[test]
fn urls_come_from_the_command_line_or_the_settings() {
    fn check(arguments: &[&str], file: &str, expected: &[&str]) {
        let settings = good(arguments, &[], Some(file));
        assert_eq!(
            settings.urls.iter().map(UrlKey::as_str).collect::<Vec<_>>(),
            expected
        );
    }
    let file = r#"urls = ["https://a.example/", "https://b.example/docs/"]"#;
    check(
        &[],
        file,
        &["https://a.example/", "https://b.example/docs/"],
    );
    check(&["https://c.example"], file, &["https://c.example/"]);
    check(
        &["https://c.example", "HTTPS://C.example:443/"],
        file,
        &["https://c.example/"],
    );
}

#[test]
fn values_become_what_they_mean() {
    let settings = good(
        &[
            "https://example.com/docs/",
            "--output=out",
            "--state=st",
            "--public-url=https://Example.com:443/docs",
            "--concurrency=2",
            "--delay=1.5s",
            "--scope=origin",
            "--include=/a*",
            "--follow-only=/b*",
            "--list-only=/c*",
            "--max-pages=7",
            "--max-time=1h 30m",
            "--max-depth=0",
            "--layout=in-place",
            "--index=auto",
            "--no-gzip",
            "--fresh",
            "--force",
            "--dry-run",
            "--summary=json",
            "--quiet",
            "-vv",
        ],
        &[],
        None,
    );
    let config = &settings.config;
    assert_eq!(settings.urls[0].as_str(), "https://example.com/docs/");
    assert_eq!(
        (settings.output.as_deref(), &*settings.state),
        (Some(Path::new("out")), Path::new("st"))
    );
    assert_eq!(
        config.publish.public_url.as_deref(),
        Some("https://example.com/docs/")
    );
    assert_eq!(config.politeness.concurrency.get(), 2);
    assert_eq!(
        config.politeness.delay,
        Some(std::time::Duration::from_millis(1_500))
    );
    assert_eq!(config.scope.width, ScopeWidth::Origin);
    assert_eq!(
        (
            &config.scope.include[0][..],
            &config.scope.follow_only[0][..],
            &config.scope.list_only[0][..]
        ),
        ("/a*", "/b*", "/c*")
    );
    assert_eq!(
        (config.limits.max_pages, config.limits.max_depth),
        (7, Some(0))
    );
    assert_eq!(config.limits.max_time.as_secs(), 5_400);
    assert_eq!(config.publish.layout, crawler::config::Layout::InPlace);
    assert_eq!(config.publish.index, crawler::config::IndexMode::Auto);
    assert!(!config.publish.gzip && config.publish.force);
    assert!(settings.fresh && settings.dry_run && settings.quiet);
    assert_eq!(
        (settings.summary, settings.verbose),
        (SummaryFormat::Json, 2)
    );
    assert_eq!(settings.warnings, [""; 0]);
}

#[test]
fn values_about_requests_become_what_they_mean() {
    let settings = good(
        &[
            URL,
            "--user-agent=example-bot/1.0",
            "--header=X-A: b: c",
            "--header=X-D:e",
            "--resolve=Example.com:443:192.0.2.1",
            "--resolve=example.com:80:[2001:db8::1]",
            "--resolve=example.com:81:2001:db8::2",
            "--proxy=http://proxy.example:3128",
            "--ca-file=ca.pem",
        ],
        &[("ARPENT_BASIC_AUTH", "me:a:b")],
        None,
    );
    let config = &settings.config;
    assert_eq!(config.fetch.user_agent, "example-bot/1.0");
    let headers: Vec<_> = config
        .fetch
        .headers
        .iter()
        .map(|(name, value)| (&**name, value.reveal()))
        .collect();
    assert_eq!(headers, [("X-A", "b: c"), ("X-D", "e")]);
    let resolve: Vec<_> = config
        .fetch
        .resolve
        .iter()
        .map(|fixed| (&*fixed.host, fixed.port, fixed.address))
        .collect();
    assert_eq!(
        resolve,
        [
            ("example.com", 443, "192.0.2.1".parse().unwrap()),
            ("example.com", 80, "2001:db8::1".parse().unwrap()),
            ("example.com", 81, "2001:db8::2".parse().unwrap()),
        ]
    );
    assert_eq!(
        config.fetch.proxy.as_deref(),
        Some("http://proxy.example:3128")
    );
    assert_eq!(config.fetch.ca_file.as_deref(), Some(Path::new("ca.pem")));
    let Some(Credentials::Basic { user, password }) = &config.fetch.credentials else {
        panic!("{:?}", config.fetch.credentials);
    };
    assert_eq!((&**user, password.reveal()), ("me", "a:b"));
}

#[test]
fn the_user_agent_names_the_contact() {
    fn check(variables: &[(&str, &str)], expected: &str) {
        let own = good(&[URL], &[], None).config.fetch.user_agent;
        assert_eq!(
            good(&[URL], variables, None).config.fetch.user_agent,
            expected.replace("OWN", &own)
        );
    }
    check(&[], "OWN");
    check(
        &[("ARPENT_CONTACT", "https://example.net/bot")],
        "OWN (+https://example.net/bot)",
    );
    check(
        &[
            ("ARPENT_USER_AGENT", "x/1"),
            ("ARPENT_CONTACT", "me@example.net"),
        ],
        "x/1",
    );
}

#[test]
fn page_rules_are_tables() {
    let file = r#"
        [[page_rule]]
        pages = "/shop/*"
        selector = ".sold-out"
        action = "exclude"
        [[page_rule]]
        selector = "time"
        action = "lastmod"
        attribute = "datetime"
    "#;
    let rule = |pages: &str, selector: &str, action| PageRule {
        pages: pages.to_owned(),
        selector: selector.to_owned(),
        action,
    };
    assert_eq!(
        good(&[URL], &[], Some(file)).config.parse.page_rules,
        [
            rule("/shop/*", ".sold-out", PageAction::Exclude),
            rule(
                "*",
                "time",
                PageAction::Lastmod {
                    attribute: Some("datetime".to_owned())
                }
            ),
        ]
    );
}

#[test]
fn namespaces_are_tables_of_tables() {
    let file = r#"
        [[page_rule]]
        selector = "time"
        action = "lastmod"
        [[namespace]]
        prefix = "shop"
        uri = "urn:shop"
        schema = "https://example.com/shop.xsd"
        [[namespace.element]]
        name = "price"
        pages = "/shop/*"
        selector = ".price"
        attribute = "content"
        [[namespace.element]]
        name = "source"
        value = "crawl"
        [[namespace]]
        prefix = "stock"
        uri = "urn:stock"
        [[namespace.element]]
        name = "count"
        field = "stock"
    "#;
    let element = |name: &str, pages: &str, value| NamespaceElement {
        name: name.to_owned(),
        pages: pages.to_owned(),
        value,
    };
    let config = good(&[URL], &[], Some(file)).config;
    let price = ElementValue::Selected {
        selector: ".price".to_owned(),
        attribute: Some("content".to_owned()),
    };
    assert_eq!(
        config.publish.entries.namespaces,
        [
            Namespace {
                prefix: "shop".to_owned(),
                uri: "urn:shop".to_owned(),
                schema: Some("https://example.com/shop.xsd".to_owned()),
                elements: vec![
                    element("price", "/shop/*", price),
                    element("source", "*", ElementValue::Constant("crawl".to_owned())),
                ],
            },
            Namespace {
                prefix: "stock".to_owned(),
                uri: "urn:stock".to_owned(),
                schema: None,
                elements: vec![element(
                    "count",
                    "*",
                    ElementValue::Field("stock".to_owned())
                )],
            },
        ]
    );
    // The page is asked through the same rules as for a lastmod.
    let rules = config.parse.page_rules;
    assert_eq!(rules.len(), 2);
    assert_eq!(
        rules[1],
        PageRule {
            pages: "/shop/*".to_owned(),
            selector: ".price".to_owned(),
            action: PageAction::Select {
                name: "shop:price".to_owned(),
                attribute: Some("content".to_owned()),
            },
        }
    );
}

#[test]
fn a_wrong_namespace_names_its_line() {
    const HEAD: &str = "[[namespace]]\nprefix = \"s\"\nuri = \"urn:s\"\n";
    let check = |rest: &str, expected: &str| check_file(&format!("{HEAD}{rest}"), expected);
    check_file(
        "namespace = 1",
        "config.toml:1: namespace: expected tables: write [[namespace]] above each",
    );
    check_file(
        "[[namespace]]\nuri = \"urn:s\"",
        "config.toml:1: namespace: prefix is missing",
    );
    check_file(
        "\n[[namespace]]\nprefix = \"s\"\nurl = \"urn:s\"",
        "config.toml:4: url: no such key of a namespace; did you mean uri?",
    );
    check_file(
        "[[namespace]]\nprefix = \"image\"\nuri = \"urn:s\"\n[[namespace.element]]\nname = \"a\"\nvalue = \"x\"",
        "config.toml:1: namespace: image: prefix image is that of http://www.google.com/schemas/sitemap-image/1.1, choose another one",
    );
    check(
        "[[namespace]]\nprefix = \"t\"\nuri = \"urn:s\"",
        "config.toml:4: namespace: t: namespace urn:s is declared differently as s",
    );
    check(
        "[[namespace.element]]\nvalue = \"x\"",
        "config.toml:4: element: name is missing",
    );
    check(
        "[[namespace.element]]\nname = \"a\"",
        "config.toml:4: element: expected one of value, selector and field",
    );
    check(
        "[[namespace.element]]\nname = \"a\"\nvalue = \"x\"\nfield = \"y\"",
        "config.toml:4: element: expected one of value, selector and field",
    );
    check(
        "[[namespace.element]]\nname = \"a\"\nvalue = \"x\"\nattribute = \"y\"",
        "config.toml:7: attribute: only an element with a selector has one",
    );
    check(
        "[[namespace.element]]\nname = \"a\"\nvalue = 5",
        "config.toml:6: value: expected text, found 5",
    );
    check(
        "[[namespace.element]]\nname = \"ok\"\nvalue = \"x\"\n[[namespace.element]]\nname = \"a b\"\nvalue = \"x\"",
        "config.toml:7: namespace: s:a b: \"a b\" is no XML name, expected at most 100 bytes: a letter or _, then letters, digits, - . _",
    );
    check(
        "[[namespace.element]]\nname = \"a\"\npages = \"x\"\nvalue = \"x\"",
        "config.toml:4: namespace: s:a: pages: \"x\" can never match: it must begin with `/`, `*`, `http://` or `https://`",
    );
    let error = load(
        &[URL],
        &[],
        Some(&format!(
            "{HEAD}[[namespace.element]]\nname = \"a\"\nselector = \"a[\""
        )),
    )
    .unwrap_err();
    let expected = "config.toml:4: namespace: \"a[\" is not a CSS selector: ";
    assert!(error.to_string().starts_with(expected), "{error}");
    check_file(
        &format!("{HEAD}[[namespace.element]]\nname = \"a\"\nselector = \"..a\""),
        "config.toml:4: namespace: \"..a\" is not a CSS selector: ClassNeedsIdent",
    );
}

#[test]
fn a_wrong_page_rule_names_its_line() {
    check_file(
        "[[page_rule]]\naction = \"exclude\"",
        "config.toml:1: page_rule: selector is missing",
    );
    check_file(
        "[[page_rule]]\nselector = \"a\"",
        "config.toml:1: page_rule: action is missing",
    );
    check_file(
        "[[page_rule]]\nselector = \"a\"\naction = \"drop\"",
        "config.toml:3: action: expected \"exclude\" or \"lastmod\", found \"drop\"",
    );
    check_file(
        "[[page_rule]]\nselector = \"a\"\naction = \"exclude\"\nattribute = \"b\"",
        "config.toml:4: attribute: only a lastmod rule has one",
    );
    check_file(
        "[[page_rule]]\nselektor = \"a\"\naction = \"exclude\"",
        "config.toml:2: selektor: no such key of a page rule; did you mean selector?",
    );
    check_file(
        "[[page_rule]]\nselector = 5\naction = \"exclude\"",
        "config.toml:2: selector: expected text, found 5",
    );
    check_file(
        "page_rule = []",
        "config.toml:1: page_rule: expected tables: write [[page_rule]] above each",
    );
    check_file(
        "page_rule = [1]",
        "config.toml:1: page_rule: expected tables: write [[page_rule]] above each",
    );
    check_file(
        "[page_rule]",
        "config.toml:1: page_rule: expected tables: write [[page_rule]] above each",
    );
}

#[test]
fn an_unknown_key_names_the_nearest() {
    check_file(
        "\nrats = 3",
        "config.toml:2: rats: no such setting; did you mean rate?",
    );
    check_file(
        "max-pages = 3",
        "config.toml:1: max-pages: no such setting; did you mean max_pages?",
    );
    check_file("colour = true", "config.toml:1: colour: no such setting");
    check_file("[site]\nrate = 3", "config.toml:1: site: no such setting");
    check_file(
        "page_rules = []",
        "config.toml:1: page_rules: no such setting; did you mean page_rule?",
    );
}

#[test]
fn a_broken_file_names_the_line() {
    check_file("rate = 3\nrate = 4\n", "config.toml:2: duplicate key");
    check_file(
        "rate = \n",
        "config.toml:1: string values must be quoted, expected literal string",
    );
    check_file(
        &format!("# {}", "x".repeat(MAX_FILE_BYTES)),
        "config.toml:1: larger than 1 MiB: this is no settings file",
    );
    let error = load(
        &[],
        &[],
        Some("urls = [\"https://example.com/\"]\nrate = \n"),
    )
    .unwrap_err();
    assert_eq!(
        error.to_string().lines().count(),
        1,
        "a file that cannot be read has no missing sites: {error}"
    );
    let error = load(&[URL, "--config", "missing.toml"], &[], None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "failed to read the settings file missing.toml"
    );
    let error = load(&[URL], &[("ARPENT_CONFIG", "missing.toml")], None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "failed to read the settings file missing.toml"
    );
}

#[test]
fn a_wrong_value_names_file_and_line_setting_and_what_was_expected() {
    check_file(
        "# a comment\n\nrate = \"fast\"",
        "config.toml:3: rate: expected a number above 0 per second or \"unlimited\", found \"fast\"",
    );
    check_file(
        "rate = 0",
        "config.toml:1: rate: expected a number above 0 per second or \"unlimited\", found 0",
    );
    check_file(
        "rate = -1",
        "config.toml:1: rate: expected a number above 0 per second or \"unlimited\", found -1",
    );
    check_file(
        "rate = inf",
        "config.toml:1: rate: expected a number above 0 per second or \"unlimited\", found inf",
    );
    check_file(
        "rate = 0.000001",
        "config.toml:1: rate: expected at least one a day (0.000012 per second), found 0.000001",
    );
    check_file(
        "rate = 1000001",
        "config.toml:1: rate: expected at most 1000000 per second, or \"unlimited\", found 1000001",
    );
    check_file(
        "concurrency = 0",
        "config.toml:1: concurrency: expected a whole number from 1 to 1000, found 0",
    );
    check_file(
        "concurrency = 1.5",
        "config.toml:1: concurrency: expected a whole number from 1 to 1000, found 1.5",
    );
    check_file(
        "max_pages = 0",
        "config.toml:1: max_pages: expected a whole number, 1 or more, found 0",
    );
    check_file(
        "max_depth = \"deep\"",
        "config.toml:1: max_depth: expected a whole number or \"unlimited\", found \"deep\"",
    );
    check_file(
        "file_entries = 50001",
        "config.toml:1: file_entries: expected a whole number from 1 to 50000, found 50001",
    );
    check_file(
        "file_bytes = \"51 MiB\"",
        "config.toml:1: file_bytes: expected from 1 kB to 50 MiB, found \"51 MiB\"",
    );
    check_file(
        "file_bytes = \"big\"",
        "config.toml:1: file_bytes: expected a size such as \"500 kB\" or \"15 MiB\", found \"big\"",
    );
    check_file(
        "delay = \"soon\"",
        "config.toml:1: delay: expected a duration such as \"500ms\", \"2s\", \"1m\" or \"24h\", found \"soon\"",
    );
    check_file(
        "max_time = \"0s\"",
        "config.toml:1: max_time: expected at least 1ms, found \"0s\"",
    );
    check_file(
        "no_gzip = \"yes\"",
        "config.toml:1: no_gzip: expected true or false, found \"yes\"",
    );
    check_file(
        "scope = \"all\"",
        "config.toml:1: scope: expected \"dir\" or \"origin\", found \"all\"",
    );
    check_file(
        "layout = 1979-05-27",
        "config.toml:1: layout: expected \"root\" or \"in-place\", found 1979-05-27",
    );
    check_file(
        "output = 5",
        "config.toml:1: output: expected a path, found 5",
    );
    check_file(
        "exclude = \"/a*\"",
        "config.toml:1: exclude: expected a list, found \"/a*\"",
    );
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
fn all_problems_are_told_at_once() {
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
fn requests_keep_their_form() {
    check_flag(
        &["--header", "X-A"],
        "--header: expected a header such as \"Accept-Language: fr\", found no colon",
    );
    check_flag(
        &["--header", "X A: b"],
        "--header: expected a header such as \"Accept-Language: fr\", found the name \"X A\"",
    );
    check_flag(
        &["--header", "X-A: b\nX-C: d"],
        "--header: the value of the header X-A holds a control or non-ASCII character",
    );
    check_flag(
        &["--header", "Accept-Encoding: br"],
        "--header: the header Accept-Encoding is set by arpent itself",
    );
    check_flag(
        &["--header", "HOST: x"],
        "--header: the header HOST is set by arpent itself",
    );
    let expected = |found: &str| {
        format!(
            "--resolve: expected HOST:PORT:ADDRESS such as \"www.example.com:443:192.0.2.1\", found \"{found}\""
        )
    };
    for wrong in [
        "h",
        "h:80",
        "h:0:192.0.2.1",
        "h:x:192.0.2.1",
        "h:80:name",
        ":80:192.0.2.1",
        "a/b:80:192.0.2.1",
    ] {
        check_flag(&["--resolve", wrong], &expected(wrong));
    }
    let expected = |found: &str| {
        format!(
            "--public-url: expected the http or https URL of a directory, without query and user name, found \"{found}\""
        )
    };
    for wrong in [
        "x",
        "ftp://h/",
        "https://h/?a",
        "https://h/#a",
        "https://me@h/",
    ] {
        check_flag(&["--public-url", wrong], &expected(wrong));
    }
    check_flag(
        &["--user-agent", "(x)"],
        "--user-agent: expected a User-Agent of visible ASCII that begins with a name, such as \"example-bot/1.0\", found \"(x)\"",
    );
    check_variable(
        "ARPENT_CONTACT",
        "a b",
        "ARPENT_CONTACT: expected a URL or mail address of visible ASCII without brackets, found \"a b\"",
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
fn a_variable_that_is_probably_a_slip_is_warned_of() {
    fn check(name: &str, expected: &[&str]) {
        assert_eq!(
            good(&[URL], &[(name, "1")], None).warnings,
            expected,
            "{name}"
        );
    }
    check(
        "ARPENT_RATES",
        &["the variable ARPENT_RATES is no setting and is ignored; did you mean ARPENT_RATE?"],
    );
    check(
        "ARPENT_rate",
        &["the variable ARPENT_rate is no setting and is ignored; did you mean ARPENT_RATE?"],
    );
    check("ARPENT_FAULT", &[]);
    check("ARPENT_SHARED", &[]);
    check("OTHER_RATES", &[]);
}

#[test]
fn values_must_fit_each_other() {
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
        "--header: each of several sites would be sent these credentials; crawl one site at a time",
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
fn the_public_url_must_cover_the_site_on_its_own_host() {
    fn check(site: &str, public_url: &str, fits: bool) {
        let settings = good(&[site, "--public-url", public_url], &[], None);
        let start = settings.urls[0].clone();
        let site = settle(&start, &[], ScopeWidth::Directory).unwrap();
        assert_eq!(
            settings.public_url_of(&site).is_ok(),
            fits,
            "{site:?} {public_url}"
        );
    }
    check("https://h/docs/", "https://h/docs/", true);
    check("https://h/docs/", "https://h/", true);
    check("https://h/docs/", "https://h/doc", false);
    check("https://h/docs/", "https://h/docs/sitemaps/", false);
    check("https://h/docs/", "https://h/other/", false);
    // Another origin: its robots.txt proves it, as that of another host does.
    check("https://h/docs/", "http://h/", true);
    check("https://h/docs/", "https://h:8443/", true);
    check("https://h/docs/", "https://cdn.example/sitemaps/", true);
    let settings = good(&["https://h/", "--public-url", "https://h/a/"], &[], None);
    let site = settle(&settings.urls[0], &[], ScopeWidth::Directory).unwrap();
    assert_eq!(
        settings.public_url_of(&site).unwrap_err().to_string(),
        "--public-url: a sitemap in https://h/a/ may not list https://h/, because it lists only what is in its own directory (R58); \
         expected https://h/, a directory above it, or another host that https://h/robots.txt names"
    );
}

#[test]
fn each_of_several_sites_has_its_public_url() {
    fn check(urls: &[&str], public_url: &str, expected: &[&str]) {
        let settings = good(&[urls, &["--public-url", public_url]].concat(), &[], None);
        let found = settings.urls.iter().map(|start| {
            let site = settle(start, &[], ScopeWidth::Directory).unwrap();
            settings.public_url_of(&site).unwrap().unwrap()
        });
        assert_eq!(found.collect::<Vec<_>>(), expected, "{public_url}");
    }
    let one = &["https://a.example/docs/"][..];
    let two = &["https://a.example/", "http://b.example:8080/docs/"][..];
    let maps = "https://maps.example";
    check(one, maps, &["https://maps.example/"]);
    check(
        two,
        maps,
        &[
            "https://maps.example/https_a.example/",
            "https://maps.example/http_b.example_8080_docs/",
        ],
    );
    check(
        two,
        "https://maps.example/x/{host}",
        &[
            "https://maps.example/x/a.example/",
            "https://maps.example/x/b.example/",
        ],
    );
    check(
        two,
        "https://{host}.maps.example/{site}/all/",
        &[
            "https://a.example.maps.example/https_a.example/all/",
            "https://b.example.maps.example/http_b.example_8080_docs/all/",
        ],
    );
    check(
        one,
        "https://maps.example/{host}/",
        &["https://maps.example/a.example/"],
    );
    check(
        &["http://[::1]:81/"],
        "https://maps.example/{host}/",
        &["https://maps.example/%5B::1%5D/"],
    );
}

#[test]
fn an_unknown_place_in_the_public_url_is_refused() {
    let problem = |found: &str| {
        format!(
            "--public-url: expected nothing but {{site}} and {{host}} in braces, found {found:?}"
        )
    };
    let found = "https://maps.example/{sit}/";
    check_flag(&["--public-url", found], &problem(found));
    let found = "https://maps.example/{host/{site}/";
    check_flag(&["--public-url", found], &problem(found));
}

#[test]
fn two_sites_of_a_host_cannot_share_a_public_url() {
    let urls = ["https://h/a/", "https://h/b/", "--public-url"];
    let shared = [&urls[..], &["https://maps.example/{host}/"]].concat();
    assert_eq!(
        load(&shared, &[], None).unwrap_err().to_string(),
        "--public-url: several sites are on the host h, and one directory cannot serve the sitemaps of two; use {site} in the place of {host}"
    );
    good(
        &[&urls[..], &["https://maps.example/{site}/"]].concat(),
        &[],
        None,
    );
    // A host that makes no URL in its place is found out when the site is known.
    let settings = good(
        &["http://[::1]/", "--public-url", "https://{host}.example/"],
        &[],
        None,
    );
    let site = settle(&settings.urls[0], &[], ScopeWidth::Directory).unwrap();
    assert_eq!(
        settings.public_url_of(&site).unwrap_err().to_string(),
        "--public-url: https://{host}.example/ is no URL for http://[::1]/; use {site} in the path"
    );
}

#[test]
fn a_site_is_written_as_one_other_directory() {
    fn check(arguments: &[&str], expected: Result<&str, &str>) {
        let found = load(arguments, &[], None);
        let found = found
            .map(|settings| settings.config.written_as.unwrap().to_string())
            .map_err(|error| error.to_string());
        assert_eq!(
            found.as_deref(),
            expected.map_err(str::to_owned).as_ref().copied()
        );
    }
    let staging = "https://staging.example/";
    check(
        &[staging, "--as", "https://www.example"],
        Ok("https://www.example/"),
    );
    check(
        &[staging, "--as", "https://www.example/app"],
        Ok("https://www.example/app/"),
    );
    check(
        &["https://h/staging/", "--as", "https://h/"],
        Ok("https://h/"),
    );
    check(
        &[staging, "--as", "www.example"],
        Err(
            "--as: expected the http or https URL of a directory, without query and user name, found \"www.example\"",
        ),
    );
    check(
        &[staging, "--as", "https://staging.example/app/"],
        Err(
            "--as: https://staging.example/app/ is https://staging.example/, which is crawled, or a directory in it: \
             nothing would tell the URLs of the two apart",
        ),
    );
    check(
        &[
            staging,
            "https://other.example/",
            "--as",
            "https://www.example/",
        ],
        Err(
            "--as: one directory cannot be what several sites are written as; crawl one site at a time",
        ),
    );
}

#[test]
fn the_public_url_is_about_what_the_site_is_written_as() {
    fn check(public_url: &str, fits: bool) {
        let arguments = [
            "http://127.0.0.1/",
            "--as",
            "https://h/app/",
            "--public-url",
            public_url,
        ];
        let settings = good(&arguments, &[], None);
        let site = settle(&settings.urls[0], &[], ScopeWidth::Directory).unwrap();
        let site = site
            .standing_for(settings.config.written_as.as_ref().unwrap())
            .unwrap();
        assert_eq!(settings.public_url_of(&site).is_ok(), fits, "{public_url}");
    }
    check("https://h/app/", true);
    check("https://h/", true);
    check("https://h/maps/", false);
    check("https://other/maps/", true);
}

#[test]
fn what_is_ignored_is_named_word_by_word_but_not_in_a_variable() {
    fn check(arguments: &[&str], file: Option<&str>, expected: &[&str]) {
        let settings = good(
            &[&[URL], arguments].concat(),
            &[("ARPENT_IGNORE", "")],
            file,
        );
        let words: Vec<_> = settings.config.ignore.words().collect();
        assert_eq!(words, expected);
    }
    check(&[], None, &[]);
    check(
        &["--ignore", "canonical, robots"],
        None,
        &["robots", "canonical"],
    );
    check(
        &["--ignore=noindex", "--ignore=robots"],
        None,
        &["robots", "noindex"],
    );
    check(
        &[],
        Some("ignore = [\"robots\", \"noindex\", \"canonical\"]"),
        &["robots", "noindex", "canonical"],
    );
    check(
        &["--ignore=noindex"],
        Some("ignore = [\"robots\"]"),
        &["noindex"],
    );
    check_variable(
        "ARPENT_IGNORE",
        "robots",
        "ARPENT_IGNORE: not taken from the environment, where it would hold for every site; give --ignore, or write it into the site's settings file",
    );
    assert_eq!(
        load(&[URL, "--ignore", "robots,nofollow"], &[], None)
            .unwrap_err()
            .to_string(),
        "--ignore: expected \"robots\", \"noindex\" or \"canonical\", found \"nofollow\""
    );
}

#[test]
fn problems_are_told_in_the_order_in_which_one_reads() {
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

#[test]
fn each_of_several_sites_has_its_folder() {
    fn check(arguments: &[&str], expected: &str) {
        assert_eq!(
            good(arguments, &[], None).output_of("name"),
            Path::new(expected)
        );
    }
    check(&[URL], "sitemaps/name");
    check(&[URL, "--output", "out"], "out");
    check(&[URL, "https://other.example/"], "sitemaps/name");
    check(
        &[URL, "https://other.example/", "--output", "out"],
        "out/name",
    );
}

#[cfg(all(unix, not(target_os = "macos")))]
#[test]
fn the_state_has_its_place_in_the_home_directory() {
    fn check(variables: &[(&str, &str)], expected: Option<&str>) {
        let environment = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        assert_eq!(
            default_state_folder(&environment),
            expected.map(PathBuf::from)
        );
    }
    check(
        &[("HOME", "/home/me")],
        Some("/home/me/.local/state/arpent"),
    );
    check(
        &[("HOME", "/home/me"), ("XDG_STATE_HOME", "/state")],
        Some("/state/arpent"),
    );
    check(
        &[("HOME", "/home/me"), ("XDG_STATE_HOME", "relative")],
        Some("/home/me/.local/state/arpent"),
    );
    check(&[("HOME", "")], None);
    check(&[], None);
}

#[test]
fn without_a_home_directory_the_state_must_be_named() {
    let Command::Crawl(args) = Args::try_parse_from(["arpent", "crawl", URL])
        .unwrap()
        .command
    else {
        panic!("`arpent crawl` was typed");
    };
    let error = Settings::load(&args, &Environment::new(), |_| Ok(String::new())).unwrap_err();
    assert_eq!(
        error.to_string(),
        "state: no home directory to keep the state in; give --state DIR"
    );
}
