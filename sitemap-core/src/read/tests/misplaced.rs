//! Entries in places that are not read: lost, unless an element of another vocabulary has the same name.

use super::{extended_urlset, index};
use crate::{
    Limits,
    read::{Problem, Reader},
};

/// A urlset that declares all known extensions, and `o`.
fn extended(content: &str) -> String {
    extended_urlset("xmlns:o='urn:own'", content)
}

/// Number of entries that are reported as lost, and start of the first of them.
fn lost(file: &str) -> (usize, Option<u64>) {
    let mut reader = Reader::new(file.as_bytes(), Limits::default());
    reader.by_ref().for_each(drop);
    let findings = reader.findings().iter();
    let offsets: Vec<u64> = findings
        .filter(|finding| matches!(finding.problem, Problem::LostEntry { .. }))
        .map(|finding| {
            let is_index = file.contains("<sitemapindex");
            assert_eq!(finding.rule().0, if is_index { 36 } else { 6 });
            assert_eq!(finding.severity(), crate::read::Severity::Error);
            finding.position.offset
        })
        .collect();
    (offsets.len(), offsets.first().copied())
}

#[track_caller]
fn check(file: &str, marked: &str) {
    let expected = file.find(marked).map(|offset| offset as u64);
    assert_eq!(lost(file), (1, expected), "{file}");
}

#[track_caller]
fn check_none(file: &str) {
    assert_eq!(lost(file), (0, None), "{file}");
}

const INNER: &str = "<url><loc>http://host/b</loc></url>";

fn in_url(content: &str) -> String {
    extended(&format!("<url><loc>http://host/a</loc>{content}</url>"))
}

#[test]
fn entry_in_whatever_is_not_read_is_lost() {
    for around in [
        "<o:g>~</o:g>",
        "<o:g><o:h><x/>~</o:h></o:g>",
        "<foo>~</foo>",
        "<image:image><image:loc>http://cdn/a</image:loc>~</image:image>",
        "<image:image><image:loc>http://cdn/a~</image:loc></image:image>",
        "<image:image><image:x>~</image:x></image:image>",
        "<video:video>~</video:video>",
        "<video:video><video:tvshow>~</video:tvshow></video:video>",
        "<news:news><news:publication>~</news:publication></news:news>",
        "<xhtml:link rel='alternate' hreflang='de' href='http://host/de'>~</xhtml:link>",
        "<xhtml:link rel='alternate' hreflang='de' href='http://host/de'><o:g>~</o:g></xhtml:link>",
        "<lastmod>2026-01-01<o:g>~</o:g></lastmod>",
        "<lastmod>2026-01-01</lastmod><lastmod><o:g>~</o:g></lastmod>",
    ] {
        check(&in_url(&around.replace('~', INNER)), INNER);
        // One after the other, and one in the other: each is one.
        let two = in_url(&around.replace('~', &format!("{INNER}{INNER}")));
        assert_eq!(lost(&two).0, 2, "{two}");
        let nested = format!("<url>{INNER}<loc>http://host/c</loc></url>");
        assert_eq!(
            lost(&in_url(&around.replace('~', &nested))).0,
            2,
            "{around}"
        );
    }
    let upper = INNER.replace("url", "URL").replace("loc", "Loc");
    check(&in_url(&format!("<o:g>{upper}</o:g>")), &upper);
    let inner = "<s:url xmlns:s='http://www.sitemaps.org/schemas/sitemap/0.9'><s:lastmod/><s:loc>http://host/b</s:loc></s:url>";
    check(&in_url(&format!("<g xmlns='urn:own'>{inner}</g>")), inner);
    let inner = "<sitemap><loc>http://host/b.xml</loc></sitemap>";
    let file = index(&format!(
        "<sitemap><loc>http://host/a.xml</loc><g>{inner}</g></sitemap>"
    ));
    check(&file, inner);
    // In the root the meaning is clear, with a URL or without.
    check(&extended("<o:g><url/></o:g>"), "<url/>");
}

#[test]
fn foreign_elements_are_not_entries() {
    for content in [
        // What belongs to an extension, with its prefix or without.
        "<o:g><o:url><o:loc>http://host/b</o:loc></o:url></o:g>",
        "<g xmlns='urn:own'><url><loc>http://host/b</loc></url></g>",
        "<o:g><url>http://host/b</url></o:g>",
        "<o:g><loc>http://host/b</loc></o:g>",
        "<o:g><url/><loc>http://host/b</loc></o:g>",
        "<o:g><url><o:h><loc>http://host/b</loc></o:h></url></o:g>",
        "<o:g><sitemap><loc>http://host/b</loc></sitemap></o:g>",
        "<image:image><url>http://cdn/a</url></image:image>",
        "<image:image><loc>http://cdn/a</loc></image:image>",
        "<xhtml:div><xhtml:p>url</xhtml:p><xhtml:a href='http://host/b'>loc</xhtml:a></xhtml:div>",
        "<PageMap xmlns='http://www.google.com/schemas/sitemap-pagemap/1.0'><DataObject type='url'><Attribute name='loc'>x</Attribute></DataObject></PageMap>",
        "<m:group xmlns:m='http://search.yahoo.com/mrss/'><m:content url='http://cdn/a'/></m:group>",
        // An entry in an entry is read.
        INNER,
    ] {
        check_none(&in_url(content));
    }
    check_none(
        "<rss version='2.0'><channel><item><link>http://host/a</link><image><url>http://cdn/a</url><loc>x</loc></image>\
         <url><loc>http://host/b</loc></url></item></channel></rss>",
    );
    check_none(
        "<feed xmlns='http://www.w3.org/2005/Atom'><entry><link href='http://host/a'/><content type='application/xml'>\
         <urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>http://host/b</loc></url></urlset></content></entry></feed>",
    );
}
