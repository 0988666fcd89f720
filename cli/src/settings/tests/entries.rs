//! Settings of files and entries: formats, extensions, globs, page rules, namespaces.

use super::*;

#[test]
fn words_are_listed_or_repeated() {
    let check = |arguments: &[&str], file, images, hreflang| {
        let settings = good(&[&[URL], arguments].concat(), &[], file);
        let expected = Extensions {
            images,
            hreflang,
            ..Extensions::default()
        };
        let found = settings.session.config.publish.extensions;
        assert_eq!(found, expected, "{arguments:?}");
    };
    let file = Some(r#"output.with = ["images"]"#);
    let one_by_one = ["--with=hreflang", "--with=images"];
    check(&[], None, false, false);
    check(&[], file, true, false);
    check(&["--with=images, hreflang"], None, true, true);
    check(&one_by_one, None, true, true);
    // A higher layer replaces the list.
    check(&["--with=hreflang"], file, false, true);
}

#[test]
fn formats_are_words_and_not_only_feeds() {
    let settings = good(
        &[URL, "--format", "atom,xml, txt,rss"],
        &[("ARPENT_FORMAT", "txt")],
        None,
    );
    let all = [Format::Xml, Format::Text, Format::Rss, Format::Atom];
    assert_eq!(settings.session.config.publish.formats, all.into());
    let lines = good(&[URL], &[("ARPENT_FORMAT", "xml\natom")], None);
    let two = [Format::Xml, Format::Atom];
    assert_eq!(lines.session.config.publish.formats, two.into());
}

#[test]
fn values_for_entries_have_globs() {
    let entries = |arguments: &[&str], file| good(&[&[URL], arguments].concat(), &[], file);
    let settings = entries(
        &["--changefreq", "/?a=b=daily", "--changefreq", "*=never"],
        Some(r#"output.priority = ["/shop/*=0.8", "*=1"]"#),
    );
    let entries = settings.session.config.publish.entries;
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
        good(&[URL], &[], Some(file))
            .session
            .config
            .parse
            .page_rules,
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
        [[namespace]]
        prefix = "shop"
        uri = "urn:shop"
        schema = "https://example.com/shop.xsd"
        [[namespace.element]]
        name = "price"
        pages = "/shop/*"
        field = "cost"
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
    let config = good(&[URL], &[], Some(file)).session.config;
    let price = ElementValue::Field("cost".to_owned());
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
}
