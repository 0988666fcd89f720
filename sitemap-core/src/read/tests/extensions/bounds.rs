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
fn texts_have_a_length_and_who_bounds_it_decides_how_much_it_matters() {
    let none: [&str; 0] = [];
    let long = "a".repeat(MAX_TEXT_CHARACTERS);
    assert_eq!(findings_of("description", &long), none);
    assert_eq!(findings_of("tag", &long), none);
    let too_long = "a".repeat(MAX_TEXT_CHARACTERS + 1);
    // The owner of the extension bounds the description; other texts are only too long for us.
    assert_eq!(findings_of("description", &too_long), ["error R71"]);
    assert_eq!(findings_of("tag", &too_long), ["warning R71"]);
    // The title has a bound in the schema alone.
    assert_eq!(findings_of("title", &"a".repeat(100)), none);
    assert_eq!(
        findings_of("title", &"a".repeat(101)),
        ["warning R71 schema"]
    );
    assert_eq!(findings_of("category", &"a".repeat(256)), ["note R71"]);
    let loc = |bytes: usize| format!("http://cdn/{}", "a".repeat(bytes - 11));
    assert_eq!(findings_of("content_loc", &loc(2_047)), none);
    assert_eq!(findings_of("content_loc", &loc(2_048)), ["warning R71"]);
    assert_eq!(
        findings_of("content_loc", "http://u:p@cdn/"),
        ["warning R71"]
    );
    assert_eq!(findings_of("content_loc", "/v.mp4"), ["error R71"]);
    assert_eq!(
        findings_of("publication_date", "2024-05"),
        ["warning R71 schema"]
    );
    assert_eq!(findings_of("publication_date", "soon"), ["error R71"]);
}

#[test]
fn prefix_without_declaration_is_reported_once_up_to_a_bound() {
    let elements = |count: usize| -> String {
        let element = |number: usize| format!("<p{number}:x/>");
        (0..count).map(element).collect()
    };
    let count = |content: &str| {
        let (_, found) = read_in("", content);
        let is_prefix = |found: &&String| found.contains("is not declared");
        found.iter().filter(is_prefix).count()
    };
    assert_eq!(count(&elements(16).repeat(2)), 16);
    assert_eq!(count(&elements(17).repeat(2)), 18);
}

#[test]
fn schema_location_is_looked_at_in_its_own_namespace_only() {
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
fn fields_that_an_article_lost_are_named_and_the_rest_is_read() {
    let (extensions, found) = read_in(
        &declarations(),
        "<news:news><news:publication><news:name>N</news:name></news:publication><news:title>T</news:title></news:news>\
         <image:image><image:loc>http://cdn/a</image:loc></image:image>",
    );
    assert!(extensions.news().is_none());
    assert_eq!(extensions.images().len(), 1);
    assert_eq!(
        found,
        [
            "error R71: <news:news> has no news:language",
            "error R71: <news:news> has no news:publication_date",
        ]
    );
}

#[test]
fn entry_that_is_left_out_takes_its_extensions_with_it() {
    let image = "<image:image><image:loc>http://cdn/a</image:loc></image:image>";
    let file = format!(
        "<urlset xmlns=\"{NAMESPACE}\"{}><url><loc>/no</loc>{image}</url><url><loc>{PAGE}</loc></url></urlset>",
        declarations()
    );
    let mut reader = Reader::new(file.as_bytes(), Limits::default());
    assert!(reader.next().unwrap().is_err());
    let Some(Ok(Item::Url(entry))) = reader.next() else {
        panic!("no entry")
    };
    assert!(entry.extensions.is_empty());
}

#[test]
fn file_has_room_for_a_thousand_articles() {
    let count = |count: usize| {
        let news = format!("<url><loc>{PAGE}</loc>{}</url>", article(PUBLICATION));
        let news = news.repeat(count);
        let file = format!(
            "<urlset xmlns=\"{NAMESPACE}\"{}>{news}</urlset>",
            declarations()
        );
        let (items, found) = reading(file.as_bytes());
        assert_eq!(items.len(), count);
        found.len()
    };
    assert_eq!((count(1_000), count(1_001), count(1_003)), (0, 1, 1));
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
    let kept = extensions.own_elements().len();
    assert!((790..840).contains(&kept), "{kept}");
}
