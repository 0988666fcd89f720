//! Problems that only the schemas refuse: attributes on elements that have none, and text where none may be.

use super::{columns, extended_urlset, urlset};
use crate::{
    Limits,
    extension::Extension,
    read::{Item, Reader, Source},
    write::XSI_NAMESPACE,
};

/// An entry with elements of all kinds; a tilde represents attributes.
const ELEMENTS: [&str; 7] = [
    "<url~><loc>http://host/a</loc></url>",
    "<url><loc~>http://host/a</loc></url>",
    "<url><loc>http://host/a</loc><priority~>0.5</priority></url>",
    "<url><loc>http://host/a</loc><image:image~><image:loc>http://cdn/a</image:loc></image:image></url>",
    "<url><loc>http://host/a</loc><image:image><image:loc~>http://cdn/a</image:loc></image:image></url>",
    "<url><loc>http://host/a</loc><news:news><news:publication~><news:name>N</news:name><news:language>en</news:language></news:publication>\
     <news:publication_date>2026-01-01</news:publication_date><news:title>T</news:title></news:news></url>",
    "<url><loc>http://host/a</loc><xhtml:link rel='alternate' hreflang='de' href='http://host/de'~/></url>",
];

/// An entry with a video; a tilde represents more of its elements.
const VIDEO: &str = "<url><loc>http://host/a</loc><video:video><video:thumbnail_loc>http://cdn/t</video:thumbnail_loc>\
     <video:title>T</video:title><video:description>D</video:description><video:content_loc>http://cdn/v</video:content_loc>\
     ~</video:video></url>";

/// Problems by the schema alone in a urlset that declares all known extensions, `o`, and two prefixes for XML Schema other than
/// `xsi`.
fn refused(content: &str) -> Vec<String> {
    let declared = format!(
        "xmlns:o='urn:own' xmlns:xsi='urn:other' xmlns:s='{XSI_NAMESPACE}' xmlns:p='http://www.sitemaps.org/schemas/sitemap/0.9'"
    );
    findings(&extended_urlset(&declared, content))
}

fn findings(file: &str) -> Vec<String> {
    let mut reader = Reader::new(file.as_bytes(), Limits::default());
    reader.by_ref().for_each(drop);
    let findings = reader.findings().iter();
    findings
        .filter(|finding| finding.source() == Source::Schema)
        .map(|finding| format!("{} {}", finding.severity(), finding.problem))
        .collect()
}

#[test]
fn attribute_is_reported_wherever_it_is() {
    for element in ELEMENTS {
        for name in [
            "a",
            "o:a",
            "xml:space",
            "xsi:schemaLocation",
            "s:nil",
            "s:type",
            "s:schemalocation",
        ] {
            let found = refused(&element.replace('~', &format!(" {name}='true'")));
            let [findings] = &found[..] else {
                panic!("{name} in {element}: {found:?}")
            };
            assert!(
                findings.starts_with(&format!("warning unknown attribute {name}")),
                "{findings}"
            );
        }
        for attribute in [
            "",
            " xmlns:q='urn:q'",
            " s:schemaLocation='urn:a b'",
            " s:noNamespaceSchemaLocation='b'",
        ] {
            let found = refused(&element.replace('~', attribute));
            assert_eq!(found, [""; 0], "{attribute} in {element}");
        }
    }
}

#[test]
fn section_of_text_is_text_between_elements() {
    let image = |text: &str| {
        format!(
            "<url><loc>http://host/a</loc><image:image>{text}<image:loc>http://cdn/a</image:loc></image:image></url>"
        )
    };
    let places = [
        "~<url><loc>http://host/a</loc></url>".to_owned(),
        "<url><loc>http://host/a</loc>~</url>".to_owned(),
        image("~"),
    ];
    for place in places {
        for text in [
            "<![CDATA[]]>",
            "<![CDATA[ \n]]>",
            "<![CDATA[x]]>",
            "x",
            "&#160;",
        ] {
            let found = refused(&place.replace('~', text));
            assert_eq!(
                found,
                ["warning text outside of an element for text"],
                "{text} in {place}"
            );
        }
        for text in [" \n", "&#32;", "<!-- x -->", "<?x y?>"] {
            assert_eq!(
                refused(&place.replace('~', text)),
                [""; 0],
                "{text} in {place}"
            );
        }
    }
    assert_eq!(
        refused("<url><loc><![CDATA[http://host/a]]><![CDATA[]]></loc></url>"),
        [""; 0]
    );
}

#[test]
fn ignored_elements_need_their_parts() {
    let check = |content: &str, expected: &str| {
        assert_eq!(refused(content).concat(), expected, "{content}");
    };
    for row in [
        "<video:category>C</video:category>",
        "<video:price currency='eur' type='RENT'>1</video:price>",
        "<video:id type='url'>x</video:id>",
        "<video:id>x</video:id> => warning <video:id> has no type",
        "<video:tvshow><video:show_title>S</video:show_title><video:video_type>full</video:video_type></video:tvshow>",
        "<video:tvshow><video:video_type>full</video:video_type></video:tvshow> => warning <video:tvshow> has no video:show_title",
        "<video:tvshow><video:show_title>S</video:show_title></video:tvshow> => warning <video:tvshow> has no video:video_type",
    ] {
        let [rest, expected] = columns(row);
        check(&VIDEO.replace('~', rest), expected);
    }
    check(
        &ELEMENTS[6].replace('~', " dir='left' lang='de' id='a'"),
        "",
    );
}

#[test]
fn accepted_values_are_not_refused_by_the_schema() {
    // The schema allows foreign elements in front of the entries, where they are ignored.
    let image = "<image:image><image:loc>http://cdn/a</image:loc></image:image>";
    let file = format!("{image}<url><loc>http://host/a</loc></url>");
    assert_eq!(refused(&file), [""; 0]);
    for row in [
        "7 => 7",
        "+7 => 7",
        "-0 => 0",
        "007 => 7",
        "99999999999999999999 =>  => warning",
        "+ =>  => error",
        "-1 =>  => error",
    ] {
        let [count, expected, severity] = columns(row);
        let count = format!("<video:view_count>{count}</video:view_count>");
        let file = extended_urlset("", &VIDEO.replace('~', &count));
        let mut reader = Reader::new(file.as_bytes(), Limits::default());
        let Some(Ok(Item::Url(entry))) = reader.next() else {
            panic!("no entry in {file}")
        };
        let found = entry.extensions.videos()[0].get("view_count");
        assert_eq!(found.unwrap_or_default(), expected, "{row}");
        let findings = reader.findings().iter();
        let severities = findings.map(|finding| finding.severity().to_string());
        assert_eq!(severities.collect::<String>(), severity, "{row}");
    }
}

#[test]
fn extension_beside_the_entries_is_reported_as_ignored() {
    let known = format!("<urlset xmlns:image='{}' ", Extension::Image.namespace());
    let image = "<image:image><image:loc>http://cdn/a</image:loc></image:image>";
    let file = urlset(&format!("<url><loc>http://host/a</loc></url>{image}"));
    let file = file.replacen("<urlset ", &known, 1);
    let mut reader = Reader::new(file.as_bytes(), Limits::default());
    assert!(reader.next().is_some_and(|item| item.is_ok()));
    assert!(reader.next().is_none());
    let findings: Vec<String> = reader.findings().iter().map(ToString::to_string).collect();
    let expected = "<image:image> is outside of <url>, where it is ignored (R71)";
    assert!(
        findings.len() == 1 && findings[0].ends_with(expected),
        "{findings:?}"
    );
}
