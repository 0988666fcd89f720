//! Values of extensions at their borders: the last that is taken, the first that is not, and how much each matters.

use super::*;
use crate::extension::MAX_TEXT_CHARACTERS;

/// Findings of a video with this text in one of its elements.
fn findings_of(element: &str, text: &str) -> Vec<String> {
    let mut values = vec![
        ("thumbnail_loc", "http://cdn/t.jpg"),
        ("title", "T"),
        ("description", "D"),
        ("content_loc", "http://cdn/v.mp4"),
    ];
    match values.iter_mut().find(|(name, _)| *name == element) {
        Some((_, value)) => *value = text,
        None => values.push((element, text)),
    }
    let values = values.iter();
    let values = values.map(|(name, value)| format!("<video:{name}>{value}</video:{name}>"));
    let video = format!("<video:video>{}</video:video>", values.collect::<String>());
    let (_, found) = read_in(&declarations(), &video);
    let short = |found: String| found.split(": ").next().unwrap_or_default().to_owned();
    found.into_iter().map(short).collect()
}

#[test]
fn severity_depends_on_who_bounds_a_text() {
    let check = |element: &str, text: &str, expected: &str| {
        let found = findings_of(element, text).concat();
        assert_eq!(found, expected, "{element} of {} bytes", text.len());
    };
    let long = "a".repeat(MAX_TEXT_CHARACTERS);
    check("description", &long, "");
    check("tag", &long, "");
    // The owner of the extension bounds the description; other texts are only too long for us.
    check("description", &format!("{long}a"), "error R71");
    check("tag", &format!("{long}a"), "warning R71");
    // The title has a bound in the schema alone.
    check("title", &"a".repeat(100), "");
    check("title", &"a".repeat(101), "warning R71 schema");
    check("category", &"a".repeat(256), "note R71");
    let loc = |bytes: usize| format!("http://cdn/{}", "a".repeat(bytes - 11));
    check("content_loc", &loc(2_047), "");
    check("content_loc", &loc(2_048), "warning R71");
    check("content_loc", "http://u:p@cdn/", "warning R71");
    check("content_loc", "/v.mp4", "error R71");
    check("publication_date", "2024-05", "warning R71 schema");
    check("publication_date", "soon", "error R71");
}

#[test]
fn undeclared_prefixes_are_reported_up_to_a_bound() {
    let elements = |count: usize| -> String {
        let element = |number: usize| format!("<p{number}:x/>");
        (0..count).map(element).collect()
    };
    let count = |content: &str| {
        let (_, found) = read_in("", content);
        let is_prefix = |found: &&String| found.contains("is not declared");
        found.iter().filter(is_prefix).count()
    };
    assert_eq!(count(&elements(100).repeat(2)), 100);
    assert_eq!(count(&elements(200).repeat(2)), 200 + 73);
}

#[test]
fn schema_location_counts_in_its_namespace_only() {
    let check = |attribute: &str, expected: &[&str]| {
        let (_, found) = read_in(
            &format!(
                " xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xmlns:o=\"urn:example:own\" {attribute}=\"http://a http://b\""
            ),
            "",
        );
        let rules: Vec<&str> = found
            .iter()
            .filter_map(|found| found.split(' ').nth(1))
            .map(|rule| rule.trim_end_matches(':'))
            .collect();
        assert_eq!(rules, expected, "{attribute}");
    };
    check("xsi:schemaLocation", &["R69"]);
    check("xsi:noNamespaceSchemaLocation", &[]);
    check("o:schemaLocation", &["R6"]);
    check("schemaLocation", &["R6"]);
    check("xsi:schemalocation", &["R6"]);
}

#[test]
fn lost_entry_takes_its_extensions_with_it() {
    let image = "<image:image><image:loc>http://cdn/a</image:loc></image:image>";
    // The next entry begins after it, or inside of it.
    for between in ["</url><url>", "<url>", ""] {
        let file = format!(
            "<urlset xmlns=\"{NAMESPACE}\"{}><url><loc>/no</loc>{image}{between}<loc>{PAGE}</loc></url></urlset>",
            declarations()
        );
        let mut reader = Reader::new(file.as_bytes(), Limits::default());
        assert!(reader.next().unwrap().is_err());
        let Some(Ok(Item::Url(entry))) = reader.next() else {
            panic!("no entry: {between}")
        };
        assert!(entry.extensions.is_empty(), "{between}");
    }
}

#[test]
fn file_has_room_for_a_thousand_articles() {
    for (count, findings) in [(1_000, 0), (1_001, 1), (1_003, 1)] {
        let news = format!("<url><loc>{PAGE}</loc>{}</url>", article(PUBLICATION));
        let news = news.repeat(count);
        let file = format!(
            "<urlset xmlns=\"{NAMESPACE}\"{}>{news}</urlset>",
            declarations()
        );
        let (items, found) = reading(file.as_bytes());
        assert_eq!(items.len(), count);
        assert_eq!(found, vec!["Error R71"; findings], "{count}");
    }
}

#[test]
fn custom_elements_count_with_all_their_parts() {
    let attribute = |number| format!(" attribute-{number:010}=\"{}\"", "a".repeat(2_000));
    let attributes = [0, 1, 2, 3].map(attribute).concat();
    let element = format!(
        "<o:with-a-name{attributes}>{}</o:with-a-name>",
        "a".repeat(2_000)
    );
    let (extensions, found) = read_in(&declarations(), &element.repeat(1_000));
    assert_eq!(
        found,
        ["warning R71: extensions of the entry have more than 8388608 bytes"]
    );
    let kept = extensions.custom_elements().len();
    assert!((790..840).contains(&kept), "{kept}");
}
