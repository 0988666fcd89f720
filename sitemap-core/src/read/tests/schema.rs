//! Problems that only the schemas refuse: attributes on elements that have none, and text where none may be.

use super::urlset;
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

/// Problems by the schema alone in a urlset that declares all known extensions, `o`, and two prefixes for XML Schema other than
/// `xsi`.
fn refused(content: &str) -> Vec<String> {
    let known = Extension::ALL
        .map(|known| format!("xmlns:{}='{}' ", known.prefix(), known.namespace()))
        .concat();
    let declared = format!(
        "<urlset {known} xmlns:o='urn:own' xmlns:xsi='urn:other' xmlns:s='{XSI_NAMESPACE}' \
         xmlns:p='http://www.sitemaps.org/schemas/sitemap/0.9' "
    );
    findings(&urlset(content).replacen("<urlset ", &declared, 1))
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
fn ignored_value_matches_its_schema() {
    let video = |rest: &str| {
        format!(
            "<url><loc>http://host/a</loc><video:video><video:thumbnail_loc>http://cdn/t</video:thumbnail_loc>\
             <video:title>T</video:title><video:description>D</video:description><video:content_loc>http://cdn/v</video:content_loc>\
             {rest}</video:video></url>"
        )
    };
    let show = |rest: &str| video(&format!("<video:tvshow>{rest}</video:tvshow>"));
    let link = |attribute: &str| ELEMENTS[6].replace('~', attribute);
    let (title, kind) = (
        "<video:show_title>S</video:show_title>",
        "<video:video_type>full</video:video_type>",
    );
    let named = |id: &str| link(" id='i'") + &link(&format!(" id='{id}'"));
    for (content, expected) in [
        (named("j"), ""),
        (
            named(" i "),
            "id of <xhtml:link> is not as its schema has it, expected a name that no other link has",
        ),
        (video("<video:category>C</video:category>"), ""),
        (
            video("<video:price currency='eur' type='RENT'>1</video:price>"),
            "currency of <video:price> is not as its schema has it, expected three upper case letters such as EUR",
        ),
        (video("<video:id type='url'>x</video:id>"), ""),
        (video("<video:id>x</video:id>"), "<video:id> has no type"),
        (show(&format!("{title}{kind}")), ""),
        (show(kind), "<video:tvshow> has no video:show_title"),
        (show(title), "<video:tvshow> has no video:video_type"),
        (
            show(&format!(
                "{title}{kind}<video:season_number>0</video:season_number>"
            )),
            "video:season_number is not as its schema has it, expected a whole number from 1 on",
        ),
        (
            video("<video:restriction relationship='allow'>DE\tAT</video:restriction>"),
            "video:restriction is not as its schema has it, expected spaces between countries",
        ),
        (link(" dir='ltr' lang='de' id='a'"), ""),
        (
            link(" dir='left'"),
            "dir of <xhtml:link> is not as its schema has it, expected ltr or rtl",
        ),
    ] {
        let expected: Vec<String> = [expected]
            .into_iter()
            .filter(|expected| !expected.is_empty())
            .map(|expected| format!("warning {expected}"))
            .collect();
        assert_eq!(refused(&content), expected, "{content}");
    }
}

#[test]
fn accepted_values_are_not_refused_by_the_schema() {
    // The schema allows foreign elements in front of the entries, where they are ignored.
    let image = "<image:image><image:loc>http://cdn/a</image:loc></image:image>";
    let file = format!("{image}<url><loc>http://host/a</loc></url>");
    assert_eq!(refused(&file), [""; 0]);
    let counted = |count: &str| {
        let template = "<url><loc>http://host/a</loc><video:video><video:thumbnail_loc>http://cdn/t</video:thumbnail_loc>\
             <video:title>T</video:title><video:description>D</video:description><video:content_loc>http://cdn/v</video:content_loc>\
             <video:view_count>~</video:view_count></video:video></url>";
        let known = Extension::ALL
            .map(|known| format!("xmlns:{}='{}' ", known.prefix(), known.namespace()))
            .concat();
        let file = urlset(&template.replace('~', count)).replacen(
            "<urlset ",
            &format!("<urlset {known}"),
            1,
        );
        let mut reader = Reader::new(file.as_bytes(), Limits::default());
        let Some(Ok(Item::Url(entry))) = reader.next() else {
            panic!("no entry in {file}")
        };
        let findings = reader
            .findings()
            .iter()
            .map(|finding| finding.severity().to_string());
        (
            entry.extensions.videos()[0]
                .get("view_count")
                .map(str::to_owned),
            findings.collect::<Vec<_>>(),
        )
    };
    let nothing = Vec::<String>::new();
    for (count, expected) in [("7", "7"), ("+7", "7"), ("-0", "0"), ("007", "7")] {
        assert_eq!(
            counted(count),
            (Some(expected.to_owned()), nothing.clone()),
            "{count}"
        );
    }
    assert_eq!(
        counted("99999999999999999999"),
        (None, vec!["warning".to_owned()])
    );
    assert_eq!(counted("+"), (None, vec!["error".to_owned()]));
    assert_eq!(counted("-1"), (None, vec!["error".to_owned()]));
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
