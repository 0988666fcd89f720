//! Extensions: their values, problems that are passed over, and findings.

mod bounds;

use super::{columns, problems, reading};
use crate::{
    Limits, Loc, Push, UrlEntry, UrlSetOptions, UrlSetWriter,
    extension::{CustomNamespace, Extension, Extensions, Hreflang, MAX_ENTRY_BYTES, Namespaces},
    limits::NAMESPACE,
    read::{Item, MAX_VALUE_BYTES, Reader, Source},
};

const PAGE: &str = "http://host/page";

/// The declarations of a root element that declares all known extensions and one of its own.
fn declarations() -> String {
    let known = Extension::ALL.map(|extension| {
        format!(
            " xmlns:{}=\"{}\"",
            extension.prefix(),
            extension.namespace()
        )
    });
    format!("{} xmlns:o=\"{}\"", known.concat(), own().address())
}

fn own() -> CustomNamespace {
    CustomNamespace::new("own", "urn:example:own").unwrap()
}

/// The extensions of the one entry of a file, and the findings, with rule and severity.
fn read_in(declarations: &str, content: &str) -> (Extensions, Vec<String>) {
    let file = format!(
        "<urlset xmlns=\"{NAMESPACE}\"{declarations}><url><loc>{PAGE}</loc>{content}</url></urlset>"
    );
    let mut reader =
        Reader::new(file.as_bytes(), Limits::default()).with_custom_namespaces(&[own()]);
    let Some(Ok(Item::Url(entry))) = reader.next() else {
        panic!("no entry in {file}");
    };
    assert!(reader.next().is_none(), "{file}");
    let findings = reader.findings().iter().map(|finding| {
        let source = match finding.source() {
            Source::Rule => "",
            Source::Schema => " schema",
        };
        let (severity, rule) = (finding.severity(), finding.rule());
        format!("{severity} {rule}{source}: {}", finding.problem)
    });
    let findings = findings.collect();
    (entry.extensions, findings)
}

/// The text of a writer for extensions.
fn written(extensions: &Extensions) -> String {
    let mut entry = UrlEntry::new(Loc::parse(PAGE).unwrap());
    entry.extensions = extensions.clone();
    let mut namespaces = Namespaces::default();
    namespaces.add(extensions).unwrap();
    let options = UrlSetOptions::default().with_namespaces(namespaces);
    let mut writer = UrlSetWriter::with_options(Vec::new(), options).unwrap();
    assert_eq!(writer.push(&entry).unwrap(), Push::Written);
    let file = String::from_utf8(writer.finish().unwrap().0).unwrap();
    let (_, after) = file.split_once("</loc>").unwrap();
    after.split_once("</url>").unwrap().0.to_owned()
}

/// Reads `content` in an entry, and compares the text written from it, and the findings.
#[track_caller]
fn check(content: &str, expected: &str, findings: &[&str]) {
    let (extensions, found) = read_in(&declarations(), content);
    assert_eq!(written(&extensions), expected, "{content}");
    assert_eq!(found, findings, "{content}");
}

/// The same for elements that are written as they were read.
#[track_caller]
fn check_kept(content: &str) {
    check(content, content, &[]);
}

/// A video with all it needs, and this after its file.
fn video(rest: &str) -> String {
    format!(
        "<video:video><video:thumbnail_loc>http://cdn/t.jpg</video:thumbnail_loc><video:title>T</video:title>\
         <video:description>D</video:description><video:content_loc>http://cdn/v.mp4</video:content_loc>{rest}</video:video>"
    )
}

/// An article with this in the place of its publication.
fn article(publication: &str) -> String {
    format!(
        "<news:news><news:publication>{publication}</news:publication>\
         <news:publication_date>2024-05-17</news:publication_date><news:title>T</news:title></news:news>"
    )
}

const PUBLICATION: &str = "<news:name>N</news:name><news:language>en</news:language>";

#[test]
fn extensions_come_with_all_their_values() {
    check_kept(
        "<xhtml:link rel=\"alternate\" hreflang=\"en-GB\" href=\"http://host/en?a&amp;b\"/>\
         <image:image><image:loc>http://cdn/a.jpg?a&amp;b</image:loc></image:image>",
    );
    check_kept(&video(
        "<video:player_loc>http://cdn/p</video:player_loc><video:duration>600</video:duration>\
         <video:expiration_date>2030-01-01</video:expiration_date><video:rating>4.2</video:rating>\
         <video:view_count>12345</video:view_count><video:publication_date>2024-01-01T00:00:00Z</video:publication_date>\
         <video:tag>a</video:tag><video:tag>b &amp; c</video:tag><video:family_friendly>yes</video:family_friendly>\
         <video:restriction relationship=\"allow\">GB IE</video:restriction>\
         <video:requires_subscription>no</video:requires_subscription>\
         <video:uploader info=\"http://host/u\">U</video:uploader><video:platform relationship=\"deny\">web tv</video:platform>\
         <video:live>no</video:live>",
    ));
    check_kept(&article(PUBLICATION));
    check(
        "<o:a b=\"c &amp; d\">e &lt; f</o:a>",
        "<own:a b=\"c &amp; d\">e &lt; f</own:a>",
        &[],
    );
}

#[test]
fn custom_elements_are_yielded_on_request() {
    let kept = "<own:a b=\"c\" d=\"e\">f</own:a><own:g/>";
    check("<o:a d=\"e\" b=\"c\"> f </o:a><o:g></o:g>", kept, &[]);
    for row in [
        "<o:a>f<o:b>x</o:b></o:a> => <own:a>f</own:a> => warning R6 schema: unknown element <b>",
        "<o:a b=' '>f</o:a> => <own:a>f</own:a> => error R71: custom element: text is empty",
        "<o:xmla/> =>  => error R71: custom element: xmla begins with xml, which is reserved",
    ] {
        let [content, expected, finding] = columns(row);
        check(content, expected, &[finding]);
    }
    check(
        "<other:a xmlns:other=\"urn:other\"/>",
        "",
        &[
            "note R70: namespace is declared below the root element",
            "note R71 schema: extension <a>",
        ],
    );
}

#[test]
fn alternate_needs_a_language_and_an_address() {
    check(
        "<xhtml:link REL=\"x\" rel=\"Alternate\" hreflang=\"EN-gb\" href=\"http://host/b\" title=\"t\">x</xhtml:link>",
        "<xhtml:link rel=\"alternate\" hreflang=\"en-GB\" href=\"http://host/b\"/>",
        &[
            "warning R71 schema: unknown attribute REL of <xhtml:link>",
            "warning R6 schema: text outside of an element for text",
        ],
    );
    for row in [
        "rel='alternate' href='http://host/b' => error R71: <xhtml:link> has no hreflang",
        "rel='alternate' hreflang='en' => error R71: <xhtml:link> has no href",
        "hreflang='en' href='http://host/b' => error R71: <xhtml:link> has no rel",
        "rel='canonical' hreflang='en' href='http://host/b' => error R71: rel: expected alternate",
        "rel='alternate' hreflang='en-UK' href='http://host/b' => error R71: hreflang: UK is not a country of ISO 3166-1, expected GB",
        "rel='alternate' hreflang='en_US' href='http://host/b' => error R71: hreflang: language has an underscore, expected a hyphen as in en-GB",
        "rel='alternate' hreflang='en' href='/b' => error R71: href: URL is not absolute, expected http:// or https:// and a host",
        "rel='alternate' media='only screen and (max-width: 640px)' href='http://host/b' \
         => note R71: <xhtml:link media> is not read by search engines any more, leave it out",
    ] {
        let [attributes, finding] = columns(row);
        check(&format!("<xhtml:link {attributes}/>"), "", &[finding]);
    }
    check(
        "<xhtml:link rel=\"alternate\" hreflang=\"en\" href=\"http://host/?a=1&b=2\"/>",
        "<xhtml:link rel=\"alternate\" hreflang=\"en\" href=\"http://host/?a=1&amp;b=2\"/>",
        &["error R3: ampersand is not escaped, expected &amp;"],
    );
    check(
        "<xhtml:link rel=\"alternate\" hreflang=\"en\" href=\"http://host/1\"/>\
         <xhtml:link rel=\"alternate\" hreflang=\"EN\" href=\"http://host/2\"/>",
        "<xhtml:link rel=\"alternate\" hreflang=\"en\" href=\"http://host/1\"/>",
        &["error R71: hreflang en is there already, for http://host/1"],
    );
    check(
        "<xhtml:a/>",
        "",
        &["warning R71 schema: unknown element <a> in <url>"],
    );
}

#[test]
fn image_needs_an_address() {
    let retired = |name: &str| {
        format!("note R71: <{name}> is not read by search engines any more, leave it out")
    };
    let (extensions, findings) = read_in(
        &declarations(),
        "<image:image><image:loc>http://cdn/a</image:loc><image:caption>C</image:caption>\
         <image:geo_location>Limerick, Ireland</image:geo_location><image:title> T </image:title>\
         <image:license>http://host/l</image:license></image:image>\
         <image:image><image:loc>http://cdn/b</image:loc><image:title/></image:image>",
    );
    let names = [
        "image:caption",
        "image:geo_location",
        "image:title",
        "image:license",
    ];
    assert_eq!(findings, names.map(retired));
    assert_eq!(extensions.images().len(), 2);

    let long = "a".repeat(MAX_VALUE_BYTES);
    for row in [
        " => error R71: <image:image> has no image:loc",
        "<image:loc>a.jpg</image:loc> => error R71: image:loc: URL is not absolute, expected http:// or https:// and a host",
        "<image:loc>&nothing;</image:loc> => error R22: entity &nothing; is not defined",
        "<image:loc>http://cdn/~</image:loc> => error R1: <image:loc> has more than 8192 bytes of text",
    ] {
        let [content, finding] = columns(row);
        let image = format!("<image:image>{content}</image:image>");
        check(&image.replace('~', &long), "", &[finding]);
    }
    let kept = |content: &str, findings: &[&str]| {
        let image = "<image:image><image:loc>http://cdn/a</image:loc></image:image>";
        check(
            &format!("<image:image>{content}</image:image>"),
            image,
            findings,
        );
    };
    kept("<image:loc><![CDATA[http://cdn/a]]></image:loc>", &[]);
    for row in [
        "<image:loc>\n http://cdn/a\n</image:loc> => warning R71: image:loc has white space around its value",
        "<image:loc>http://cdn/a</image:loc><image:loc>http://cdn/b</image:loc> => error R71: more than one <image:loc>",
        "<image:loc>http://cdn/<b>x</b>a</image:loc> => warning R6 schema: unknown element <b>",
    ] {
        let [content, finding] = columns(row);
        kept(content, &[finding]);
    }
    kept(
        "<image:x><image:loc>http://no/</image:loc></image:x><image:loc y=\"z\">http://cdn/a</image:loc><loc/>text",
        &[
            "warning R71 schema: unknown element <x> in <image:image>",
            "warning R71 schema: unknown attribute y of <image:loc>",
            "warning R71 schema: unknown element <loc> in <image:image>",
            "warning R6 schema: text outside of an element for text",
        ],
    );
}

#[test]
fn unknown_parts_of_an_extension_are_reported() {
    let link = |attributes: &str, content: &str| {
        format!(
            "<xhtml:link rel=\"alternate\" hreflang=\"de\" href=\"http://host/de\"{attributes}>{content}</xhtml:link>"
        )
    };
    let read = "<xhtml:link rel=\"alternate\" hreflang=\"de\" href=\"http://host/de\"/>";
    let check_link = |attributes: &str, content: &str, findings: &[&str]| {
        check(&link(attributes, content), read, findings);
    };
    check_link(" xml:lang=\"de\" onclick=\"x\"", "<!-- x -->", &[]);
    let blank = &["warning R6 schema: text outside of an element for text"];
    for white_space in [" \n", "&#32;", "<![CDATA[]]>", "<![CDATA[ ]]>"] {
        check_link("", white_space, blank);
    }
    check_link(
        " xml:base=\"/\"",
        "x<image:loc>y</image:loc>z",
        &[
            "warning R71 schema: unknown attribute xml:base of <xhtml:link>",
            "warning R6 schema: text outside of an element for text",
            "warning R71 schema: unknown element <loc> in <xhtml:link>",
            "warning R6 schema: text outside of an element for text",
        ],
    );
    let image = |attribute: &str| {
        format!("<image:image{attribute}><image:loc>http://cdn/a</image:loc></image:image>")
    };
    check(
        &image(" xml:lang=\"de\""),
        &image(""),
        &["warning R71 schema: unknown attribute xml:lang of <image:image>"],
    );
    // After a link all is as before.
    check(
        &format!(
            "{}<image:image>{}</image:image>",
            link("", "<b/>"),
            "<image:loc>http://cdn/a</image:loc>"
        ),
        &format!("{read}{}", image("")),
        &["warning R71 schema: unknown element <b> in <xhtml:link>"],
    );
}

#[test]
fn bad_value_costs_itself_or_the_video() {
    for row in [
        "<video:duration>0</video:duration> => error R71: video:duration: not a duration, expected 1 to 28800 seconds",
        "<video:rating>5.1</video:rating> => error R71: video:rating: not a rating, expected a decimal from 0.0 to 5.0 with a point and no exponent",
        "<video:view_count>-1</video:view_count> => error R71: video:view_count: not a count, expected digits only",
        "<video:expiration_date>2024</video:expiration_date> => warning R71 schema: video:expiration_date: date has a precision \
         that the sitemap schema refuses, expected YYYY-MM-DD or seconds and a zone",
        "<video:tag> </video:tag> => error R71: video:tag: text is empty",
        "<video:live>true</video:live> => error R71: video:live: expected yes or no",
        "<video:restriction>IE</video:restriction> => error R71: <video:restriction> has no relationship",
        "<video:restriction relationship='no'>IE</video:restriction> => error R71: relationship: expected allow or deny",
        "<video:restriction relationship='deny'>UK</video:restriction> => error R71: video:restriction: \"UK\" is not a country \
         of ISO 3166-1, expected two upper case letters such as GB",
        "<video:platform relationship='deny'>phone</video:platform> => error R71: video:platform: not a list of platforms, \
         expected web, mobile or tv, separated by single spaces",
        "<video:player_loc>http://host/page</video:player_loc> => error R71: <video:player_loc> of \"T\" is the page itself",
    ] {
        let [rest, finding] = columns(row);
        check(&video(rest), &video(""), &[finding]);
    }
    check(
        &video("<video:uploader info=\"http://elsewhere/\">U</video:uploader>"),
        &video("<video:uploader>U</video:uploader>"),
        &[
            "error R71: uploader info http://elsewhere/ is elsewhere, expected a URL in the domain of host",
        ],
    );
    check(
        &video("<video:publication_date>2024-05-17T09:30:00</video:publication_date>"),
        &video("<video:publication_date>2024-05-17T09:30:00Z</video:publication_date>"),
        &["error R71: video:publication_date: time has no zone, read as UTC"],
    );
    check(
        &video("<video:tag>a</video:tag><video:rating>4</video:rating>"),
        &video("<video:rating>4.0</video:rating><video:tag>a</video:tag>"),
        &["warning R71 schema: <video:rating> is out of the order of its schema"],
    );
    let tags = |count: usize| video(&"<video:tag>a</video:tag>".repeat(count));
    check(
        &tags(33),
        &tags(32),
        &["error R71: more than 32 <video:tag>"],
    );

    let image = "<image:image><image:loc>http://cdn/a</image:loc></image:image>";
    let lost = |part: &str, with: &str, finding: &str| {
        let content = video("").replace(part, with) + image;
        check(&content, image, &[finding]);
    };
    for row in [
        "<video:title>T</video:title> =>  => error R71: <video:video> has no video:title",
        "<video:content_loc>http://cdn/v.mp4</video:content_loc> =>  => error R71: <video:video> has no video:content_loc and no video:player_loc",
        "http://cdn/v.mp4 => http://host/page => error R71: <video:content_loc> of \"T\" is the page itself",
    ] {
        let [part, with, finding] = columns(row);
        lost(part, with, finding);
    }
    let long = |characters: usize| format!(">{}<", "ü".repeat(characters));
    let title = "warning R71 schema: video:title: text has 101 characters, expected at most 100";
    lost(">T<", &long(101), title);
    let description =
        "error R71: video:description: text has 2049 characters, expected at most 2048";
    lost(">D<", &long(2_049), description);
}

#[test]
fn retired_elements_are_reported_and_left_out() {
    let (extensions, findings) = read_in(
        &declarations(),
        &video(
            "<video:player_loc allow_embed=\"yes\" autoplay=\"ap=1\">http://cdn/p</video:player_loc>\
             <video:content_segment_loc duration=\"9\">http://cdn/1</video:content_segment_loc>\
             <video:category>Cats</video:category><video:gallery_loc title=\"G\">http://host/g</video:gallery_loc>\
             <video:price currency=\"EUR\" type=\"rent\" resolution=\"hd\">1.99</video:price><video:price/>\
             <video:tvshow><video:show_title>S</video:show_title><video:video_type>full</video:video_type>\
             <video:season_number>1</video:season_number></video:tvshow>\
             <video:id type=\"tms:series\">7</video:id>",
        ),
    );
    assert_eq!(findings.len(), 8, "{findings:?}");
    assert!(
        findings
            .iter()
            .all(|findings| findings.starts_with("note R71: <video:"))
    );
    let kept = "<video:player_loc>http://cdn/p</video:player_loc>";
    assert_eq!(written(&extensions), video(kept));
}

#[test]
fn article_needs_publication_date_and_title() {
    let lost = |content: &str, findings: &[&str]| {
        let image = "<image:image><image:loc>http://cdn/a</image:loc></image:image>";
        check(&format!("{content}{image}"), image, findings);
    };
    lost(
        "<news:news></news:news>",
        &[
            "error R71: <news:news> has no news:name",
            "error R71: <news:news> has no news:language",
            "error R71: <news:news> has no news:publication_date",
            "error R71: <news:news> has no news:title",
        ],
    );
    lost(
        "<news:news><news:publication><news:name>N</news:name></news:publication><news:title>T</news:title></news:news>",
        &[
            "error R71: <news:news> has no news:language",
            "error R71: <news:news> has no news:publication_date",
        ],
    );
    lost(
        &article("<news:name>N</news:name><news:language>en-US</news:language>"),
        &[
            "error R71: news:language: not a language of a publication, expected two or three letters of ISO 639, zh-cn or zh-tw",
        ],
    );
    let twice =
        format!("{PUBLICATION}</news:publication><news:publication><news:name>M</news:name>");
    for (content, finding) in [
        (
            article(PUBLICATION).repeat(2),
            "error R71: more than one <news:news>",
        ),
        (
            article("<news:language>en</news:language><news:name>N</news:name>"),
            "warning R71 schema: <news:name> is out of the order of its schema",
        ),
        (
            article(&twice),
            "error R71: more than one <news:publication>",
        ),
    ] {
        check(&content, &article(PUBLICATION), &[finding]);
    }
    let retired = "<news:genres>Blog</news:genres><news:publication_date>";
    let (extensions, findings) = read_in(
        &declarations(),
        &article(PUBLICATION)
            .replace("<news:publication_date>", retired)
            .replace("</news:news>", "<news:keywords>k</news:keywords><news:stock_tickers>A:B</news:stock_tickers></news:news>"),
    );
    assert_eq!(findings.len(), 3, "{findings:?}");
    assert_eq!(written(&extensions), article(PUBLICATION));
}

#[test]
fn misspelled_namespaces_are_read_and_reported() {
    let image = "<image:image><image:loc>http://cdn/a</image:loc></image:image>";
    let twice = format!("{image}{image}");
    let unprefixed = twice.replace("image:", "");
    let right = Extension::Image.namespace();
    let below = "note R70: namespace is declared below the root element";
    let on_each = |content: &str, declaration: &str| {
        let start = content.split_once('>').map_or("", |(start, _)| start);
        content.replace(&format!("{start}>"), &format!("{start} {declaration}>"))
    };
    let check = |declarations: &str, content: &str, findings: &[&str]| {
        let (extensions, found) = read_in(declarations, content);
        assert_eq!(extensions.images().len(), 2, "{declarations}");
        assert_eq!(found, findings, "{declarations}");
    };
    check(
        " xmlns:image=\"https://www.google.com/schemas/sitemap-image/1.1\"",
        &twice,
        &[
            "error R71: namespace is https://www.google.com/schemas/sitemap-image/1.1, expected http://www.google.com/schemas/sitemap-image/1.1",
        ],
    );
    let escaped = " xmlns:image=\"http:&#47;&#x2F;www.google.com/schemas/sitemap-image/1.1\"";
    check(escaped, &twice, &[]);
    check("", &twice, &["error R70: prefix image is not declared"]);
    let short = twice.replace("image:", "i:");
    check(&format!(" xmlns:i=\"{right}\""), &short, &[]);
    let declared = on_each(&twice, &format!("xmlns:image=\"{right}\""));
    check("", &declared, &[below]);
    let default = on_each(&unprefixed, &format!("xmlns=\"{right}\""));
    check("", &default, &[below]);
}

#[test]
fn retired_extensions_are_counted_and_reported_once() {
    let file = format!(
        "<urlset xmlns=\"{NAMESPACE}\" xmlns:m=\"http://www.google.com/schemas/sitemap-mobile/1.0\" xmlns:x=\"urn:x\">{}</urlset>",
        "<url><loc>http://host/page</loc><m:mobile/><x:y/><x:z/></url>".repeat(3)
    );
    let mut reader = Reader::new(file.as_bytes(), Limits::default());
    assert_eq!(reader.by_ref().flatten().count(), 3);
    assert_eq!(reader.extension_elements(), 9);
    let retired = "<mobile> is not read by search engines any more, leave it out";
    assert_eq!(problems(&file), [retired, "extension <y>"]);
}

#[test]
fn extension_before_protocol_elements_is_out_of_order() {
    check(
        "<image:image><image:loc>http://cdn/a</image:loc></image:image><lastmod>2024-05-17</lastmod>",
        "<image:image><image:loc>http://cdn/a</image:loc></image:image>",
        &[
            "warning R8 schema: <lastmod> is out of order, expected loc, lastmod, changefreq, priority, then extensions",
        ],
    );
}

#[test]
fn there_is_a_bound_to_everything() {
    let (extensions, findings) = read_in(
        &declarations(),
        &"<image:image><image:loc>http://cdn/a</image:loc></image:image>".repeat(1_001),
    );
    assert_eq!(extensions.images().len(), 1_000);
    assert_eq!(findings, ["error R71: more than 1000 <image:image>"]);

    let (extensions, findings) = read_in(&declarations(), &"<o:a/>".repeat(1_001));
    assert_eq!(extensions.custom_elements().len(), 1_000);
    assert_eq!(
        findings,
        ["warning R71: more than 1000 <element of a custom namespace>"]
    );

    let tag = format!("<video:tag>{}</video:tag>", "a".repeat(2_048));
    let (extensions, findings) = read_in(&declarations(), &video(&tag.repeat(32)).repeat(200));
    let kept = extensions.videos().len();
    assert!((100..140).contains(&kept), "{kept}");
    assert!(written(&extensions).len() as u64 <= MAX_ENTRY_BYTES);
    assert_eq!(
        findings,
        ["warning R71: extensions of the entry have more than 8388608 bytes"]
    );
}

#[test]
fn entry_that_the_file_end_cuts_is_kept() {
    let file = format!(
        "<urlset xmlns=\"{NAMESPACE}\"{}><url><loc>{PAGE}</loc><image:image><image:loc>http://cdn/a</image:loc></image:image>{}{}",
        declarations(),
        "<xhtml:link rel=\"alternate\" hreflang=\"en\" href=\"http://host/1\"/>",
        video("")
    );
    // Where the video ends, where something in it does, and where it has not begun.
    let end = file.len();
    let begin = file.find("<video:video>").unwrap();
    for (at, videos) in [
        (end, 1),
        (end - 14, 0),
        (end - 30, 0),
        (begin + 20, 0),
        (begin + 13, 0),
        (begin, 0),
    ] {
        let mut reader = Reader::new(&file.as_bytes()[..at], Limits::default());
        let Some(Ok(Item::Url(entry))) = reader.next() else {
            panic!("no entry in {}", &file[..at]);
        };
        let extensions = &entry.extensions;
        assert_eq!(extensions.videos().len(), videos, "{}", &file[..at]);
        assert_eq!(extensions.images().len(), 1);
        assert_eq!(
            extensions.alternates()[0].hreflang,
            Hreflang::parse("en").unwrap()
        );
        assert!(reader.next().is_some_and(|error| error.is_err()));
    }
}
