//! What stands in files and entries: formats, extensions, globs, page rules, namespaces.

use super::*;

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
