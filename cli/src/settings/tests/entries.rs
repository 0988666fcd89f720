//! Settings of files and entries: formats, extensions, globs, page rules, namespaces.

use super::*;

#[test]
fn words_stand_between_commas_or_one_by_one() {
    let check = |arguments: &[&str], file, images, hreflang| {
        let settings = good(&[&[URL], arguments].concat(), &[], file);
        let expected = Extensions { images, hreflang };
        let found = settings.config.publish.extensions;
        assert_eq!(found, expected, "{arguments:?}");
    };
    let file = Some(r#"extensions = ["images"]"#);
    let one_by_one = ["--extensions=hreflang", "--extensions=images"];
    check(&[], None, false, false);
    check(&[], file, true, false);
    check(&["--extensions=images, hreflang"], None, true, true);
    check(&one_by_one, None, true, true);
    // A higher layer replaces the list.
    check(&["--extensions=hreflang"], file, false, true);
    for (given, found) in [
        ("image", "image"),
        ("images,", ""),
        ("Hreflang", "Hreflang"),
    ] {
        let expected =
            format!("--extensions: expected \"images\" or \"hreflang\", found \"{found}\"");
        check_flag(&["--extensions", given], &expected);
    }
}

#[test]
fn formats_are_words_and_not_only_feeds() {
    let settings = good(
        &[URL, "--format", "atom,xml, txt,rss"],
        &[("ARPENT_FORMAT", "txt")],
        None,
    );
    let all = [Format::Xml, Format::Text, Format::Rss, Format::Atom];
    assert_eq!(settings.config.publish.formats, all.into());
    let lines = good(&[URL], &[("ARPENT_FORMAT", "xml\natom")], None);
    let two = [Format::Xml, Format::Atom];
    assert_eq!(lines.config.publish.formats, two.into());
    check_flag(
        &["--format", "rss,atom"],
        "--format: expected \"xml\" or \"txt\" among them: a feed lists recent changes only",
    );
    check_flag(
        &["--format", "xml,pdf"],
        "--format: expected \"xml\", \"txt\", \"rss\" or \"atom\", found \"pdf\"",
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
                "--priority: expected GLOB=NUMBER from 0.0 to 1.0 with one digit after the point, such as \"/shop/*=0.8\", found \"{wrong}\""
            ),
        );
    }
    check_file(
        "priority = [\"/ok=1\", \"shop/*=0.8\"]",
        "config.toml:1: priority: \"shop/*\" can never match: it must begin with `/`, `*`, `http://` or `https://`",
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
    // The page is read by the same rules as for a lastmod.
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
    const KINDS: &str =
        "expected one of value, field and selector, the last perhaps with an attribute";
    let check = |rest: &str, line: usize, expected: &str| {
        let expected = format!("config.toml:{line}: namespace: {expected}");
        check_file(&format!("{HEAD}{rest}"), &expected);
    };
    let element = |rest: &str, line: usize, expected: &str| {
        check(&format!("[[namespace.element]]\n{rest}"), line, expected);
    };
    check_file(
        "namespace = 1",
        "config.toml:1: namespace: expected tables: write [[namespace]] above each",
    );
    check_file(
        "[[namespace]]\nuri = \"urn:s\"",
        "config.toml:1: namespace: missing field `prefix`",
    );
    check(
        "url = \"urn:s\"",
        4,
        "unknown field `url`, expected one of `prefix`, `uri`, `schema`, `element`",
    );
    check(
        "[[namespace]]\nprefix = \"t\"\nuri = \"urn:s\"",
        4,
        "t: namespace urn:s is declared differently as s",
    );
    element("value = \"x\"", 4, "missing field `name`");
    element("name = \"a\"", 1, &format!("a: {KINDS}"));
    element(
        "name = \"a\"\nvalue = \"x\"\nfield = \"y\"",
        1,
        &format!("a: {KINDS}"),
    );
    element(
        "name = \"a\"\nvalue = 5",
        6,
        "invalid type: integer `5`, expected a string",
    );
    element(
        "name = \"a b\"\nvalue = \"x\"",
        1,
        "s:a b: \"a b\" is not an XML name, expected at most 100 bytes: a letter or _, then letters, digits, - . _",
    );
    element(
        "name = \"a\"\nselector = \"..a\"",
        1,
        "\"..a\" is not a CSS selector: ClassNeedsIdent",
    );
}

#[test]
fn a_wrong_page_rule_names_its_line() {
    let check = |rest: &str, line: usize, expected: &str| {
        let expected = format!("config.toml:{line}: page_rule: {expected}");
        check_file(rest, &expected);
    };
    let rule = |rest: &str, line: usize, expected: &str| {
        check(&format!("[[page_rule]]\n{rest}"), line, expected);
    };
    rule("action = \"exclude\"", 1, "missing field `selector`");
    rule(
        "selector = \"a\"\naction = \"drop\"",
        3,
        "unknown variant `drop`, expected `exclude` or `lastmod`",
    );
    rule(
        "selector = \"a\"\naction = \"exclude\"\nattribute = \"b\"",
        1,
        "only a lastmod rule has an attribute",
    );
    rule(
        "selektor = \"a\"\naction = \"exclude\"",
        2,
        "unknown field `selektor`, expected one of `pages`, `selector`, `action`, `attribute`",
    );
    for wrong in ["page_rule = []", "page_rule = [1]", "[page_rule]"] {
        check(wrong, 1, "expected tables: write [[page_rule]] above each");
    }
}
