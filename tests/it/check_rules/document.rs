//! Content of a urlset: XML, elements, URLs and values (R1 to R26).

use super::{
    GOOD, HEAD, SITEMAP, Supplied, check, good, index, loc, page, rule, sitemap, urlset,
    urlset_text,
};

pub(super) fn xml_and_its_root() {
    rule(
        "R1",
        "error",
        3,
        &urlset("<url><loc>https://h.example/a</url>"),
        &good(),
    );
    let late = Supplied::file("sitemap.xml", format!("\n{}", urlset_text(GOOD)));
    rule("R1", "error", 2, &late, &good());
    let doctype = Supplied::file(
        "sitemap.xml",
        urlset_text(GOOD).replacen("<urlset", "<!DOCTYPE urlset>\n<urlset", 1),
    );
    rule("R1", "error", 2, &doctype, &good());
    let other_encoding = urlset_text(GOOD).replacen("UTF-8", "ISO-8859-1", 1);
    let other_encoding = Supplied::file("sitemap.xml", other_encoding);
    rule("R2", "error", 1, &other_encoding, &good());
    // Under the name by which it can be found in the file.
    assert_eq!(
        check(&other_encoding).findings[0]["message"],
        "encoding is ISO-8859-1 (read as windows-1252), expected UTF-8"
    );
    let marked = Supplied::file("sitemap.xml", format!("\u{feff}{}", urlset_text(GOOD)));
    rule("R2", "note", 1, &marked, &good());
    rule(
        "R3",
        "error",
        3,
        &loc("https://h.example/?a=1&b=2"),
        &loc("https://h.example/?a=1&amp;b=2"),
    );
    let html = Supplied::file("sitemap.xml", "<!-- a page -->\n<html><body/></html>");
    rule("R4", "error", 2, &html, &good());
    let two_roots = Supplied::file("sitemap.xml", urlset_text(GOOD) + "<urlset/>\n");
    rule("R4", "error", 5, &two_roots, &good());
    let namespace =
        |uri: &str| Supplied::file("sitemap.xml", urlset_text(GOOD).replace(SITEMAP, uri));
    for wrong in [
        "",
        "https://www.sitemaps.org/schemas/sitemap/0.9",
        "http://www.sitemaps.org/schemas/sitemap/0.9/",
    ] {
        rule("R5", "error", 2, &namespace(wrong), &good());
    }
    // Some programs take the namespace away again; the entries are read all the same.
    let nowhere = urlset("<url xmlns=\"\"><loc>https://h.example/a</loc></url>");
    rule("R5", "error", 3, &nowhere, &good());
    assert!(!check(&nowhere).has("R68", "warning", Some(4)));
    let half_prefixed = format!(
        "{HEAD}<s:urlset xmlns:s=\"{SITEMAP}\">\n<url><loc>https://h.example/a</loc></url></s:urlset>"
    );
    rule(
        "R5",
        "error",
        3,
        &Supplied::file("sitemap.xml", half_prefixed),
        &good(),
    );
    let historic = namespace("http://www.google.com/schemas/sitemap/0.84");
    let prefixed = format!(
        "{HEAD}<s:urlset xmlns:s=\"{SITEMAP}\"><s:url><s:loc>https://h.example/a</s:loc></s:url></s:urlset>"
    );
    rule(
        "R5",
        "warning",
        2,
        &historic,
        &Supplied::file("sitemap.xml", prefixed),
    );
}

pub(super) fn beginning_names_and_prefixes_that_are_read_all_the_same() {
    let warning = "Warning: Undefined variable in /srv/map.php on line 3\n\n";
    let noisy = Supplied::file("sitemap.xml", format!("{warning}{}", urlset_text(GOOD)));
    rule("R1", "error", 3, &noisy, &good());
    let upper_case = |name: &str| {
        let text = urlset_text(GOOD)
            .replace(&format!("<{name}"), &format!("<{}", name.to_uppercase()))
            .replace(&format!("</{name}"), &format!("</{}", name.to_uppercase()));
        Supplied::file("sitemap.xml", text)
    };
    rule("R4", "error", 2, &upper_case("urlset"), &good());
    rule("R6", "error", 3, &upper_case("loc"), &good());
    let attribute = "<x:x xmlns:x=\"https://x.example/\" y:z=\"1\"/>";
    let declared = attribute.replace("y:z", "xmlns:y=\"https://y.example/\" y:z");
    let found = check(&page(attribute));
    assert!(found.has("R70", "error", Some(3)), "{:#?}", found.findings);
    let found = check(&page(&declared));
    assert!(!found.has("R70", "error", Some(3)), "{:#?}", found.findings);
    let feed = "<rss version=\"2.0\"><channel>\n<item><link>https://h.example/a</link>\n<media:content/></item></channel></rss>";
    let found = check(&Supplied::file("feed.xml", feed));
    assert!(found.has("R70", "error", Some(3)), "{:#?}", found.findings);
}

pub(super) fn elements_of_an_entry() {
    rule("R6", "warning", 3, &page("<title>x</title>"), &page(""));
    let bare = "<loc>https://h.example/a</loc>";
    rule("R6", "error", 3, &urlset(bare), &good());
    rule("R36", "error", 3, &index(bare), &sitemap(""));
    // An entry inside of another element, at any place.
    let own = |content: &str| {
        page(&format!(
            "<x:x xmlns:x=\"https://x.example/\">{content}</x:x>"
        ))
    };
    rule("R6", "error", 3, &own(GOOD), &own("<url>a</url>"));
    let lost = index(
        "<sitemap><loc>https://h.example/a.xml</loc><x><sitemap><loc>https://h.example/b.xml</loc></sitemap></x></sitemap>",
    );
    rule("R36", "error", 3, &lost, &sitemap(""));
    // An error decides, after any number of warnings.
    let flood = urlset(&format!("{}<y>&nbsp;</y>{GOOD}", "<x/>".repeat(2_000)));
    rule("R22", "error", 3, &flood, &good());
    let wrong_case = "<urlset xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:schemalocation=\"a b\"";
    let wrong_case = urlset_text(GOOD).replacen("<urlset", wrong_case, 1);
    rule(
        "R6",
        "warning",
        2,
        &Supplied::file("sitemap.xml", wrong_case),
        &good(),
    );
    rule(
        "R7",
        "error",
        3,
        &urlset("<url><lastmod>2024-05-17</lastmod></url>"),
        &page(""),
    );
    rule("R7", "error", 3, &loc(""), &page(""));
    rule(
        "R7",
        "error",
        3,
        &page("<loc>https://h.example/b</loc>"),
        &page(""),
    );
    let dates = "<lastmod>2024-05-17</lastmod>";
    rule(
        "R8",
        "warning",
        3,
        &page(&format!("<priority>0.8</priority>{dates}")),
        &page(&format!("{dates}<priority>0.8</priority>")),
    );
    rule("R8", "error", 3, &page(&dates.repeat(2)), &page(dates));
}

pub(super) fn urls() {
    for relative in [
        "/a",
        "//h.example/a",
        "ftp://h.example/a",
        "https:///a",
        "h.example/a",
    ] {
        rule("R9", "error", 3, &loc(relative), &good());
    }
    rule(
        "R9",
        "warning",
        3,
        &loc("https://me:you@h.example/a"),
        &good(),
    );
    let long = |characters: usize| {
        loc(&format!(
            "https://h.example/{}",
            "a".repeat(characters - 18)
        ))
    };
    rule("R11", "warning", 3, &long(2_048), &long(2_047));
    rule("R11", "error", 3, &long(2_049), &long(2_047));
    rule(
        "R12",
        "warning",
        3,
        &loc("\nhttps://h.example/a\n"),
        &good(),
    );
    rule("R12", "error", 3, &loc("https://h.example/a\nb"), &good());
    rule(
        "R20",
        "note",
        3,
        &loc("https://h.example/it's"),
        &loc("https://h.example/it&apos;s"),
    );
    rule(
        "R20",
        "warning",
        3,
        &loc("https://h.example/?a&amp;amp;b"),
        &loc("https://h.example/?a&amp;b"),
    );
    rule(
        "R21",
        "error",
        3,
        &loc("https://h.example/&#1;"),
        &loc("https://h.example/%01"),
    );
    rule(
        "R22",
        "error",
        3,
        &loc("https://h.example/&eacute;"),
        &loc("https://h.example/&#233;"),
    );
}

pub(super) fn escapes() {
    // Escapes of bytes that are not UTF-8 have no finding.
    rule(
        "R23",
        "warning",
        3,
        &loc("https://h.example/ümlat"),
        &loc("https://h.example/%FCmlat"),
    );
    for wrong in [
        "a b", "a%zz", "a{b}", "a|b", "a^b", "a`b", "a\\b", "a\"b", "100%",
    ] {
        rule(
            "R24",
            "error",
            3,
            &loc(&format!("https://h.example/{wrong}")),
            &good(),
        );
    }
    rule(
        "R24",
        "note",
        3,
        &loc("https://bücher.example/"),
        &loc("https://xn--bcher-kva.example/"),
    );
    // First the bytes, then the entities: the four forms of the protocol page.
    let four = [
        "http://www.example.com/%C3%BCmlat.html&amp;q=name",
        "http://www.example.com/%FCmlat.html&amp;q=name",
    ];
    for form in four {
        assert_eq!(check(&loc(form)).code, 0, "{form}");
        let raw = form.replace("&amp;", "&");
        rule("R3", "error", 3, &loc(&raw), &loc(form));
        let twice = form.replace("&amp;", "&amp;amp;");
        rule("R20", "warning", 3, &loc(&twice), &loc(form));
    }
    // Entities that were written first had their `&` percent-encoded with the rest.
    for wrong in ["?a=1%26amp;b", "?a=1%26amp%3Bb", "?it%26apos%3bs"] {
        let wrong = loc(&format!("https://h.example/{wrong}"));
        rule(
            "R25",
            "warning",
            3,
            &wrong,
            &loc("https://h.example/?a=1%26amplitude"),
        );
    }
    rule("R26", "note", 3, &loc("https://h.example:443/a"), &good());
    // A needed escape is not reported, in any case of its letters.
    rule(
        "R26",
        "note",
        3,
        &loc("https://h.example/%61"),
        &loc("https://h.example/%fc"),
    );
}

pub(super) fn values_of_an_entry() {
    let lastmod = |value: &str| page(&format!("<lastmod>{value}</lastmod>"));
    for wrong in [
        "",
        "2004-12-23T18:00:15",
        "2004-12-23T18:00",
        "2005-01-01Z",
        "2005-01-01T24:00:00Z",
        "-2005-01-01",
        "2005-01-01 10:00:00",
        "20050101",
        "01/02/2005",
        "Mon, 02 Mar 2026 04:00:11 GMT",
        "1104537600",
        "2005-02-30",
        "2005-13-01",
        "2004-12-23T18:00:15+0000",
        "2004-12-23T23:59:60Z",
        "2004-12-23t18:00:15Z",
        "12005-01-01",
        "0000-01-01",
    ] {
        rule(
            "R13",
            "error",
            3,
            &lastmod(wrong),
            &lastmod("2004-12-23T18:00:15.5+00:00"),
        );
    }
    let fine = lastmod("2004-12-23T18:00:15.123456789012+00:00");
    rule("R13", "error", 3, &lastmod("2004-12-23T18:00:15.Z"), &fine);
    for schema in [
        "2005",
        "2005-01",
        "2004-12-23T18:00+00:00",
        " 2005-01-01 ",
        "2004-12-23T18:00:15+14:30",
    ] {
        rule(
            "R13",
            "warning",
            3,
            &lastmod(schema),
            &lastmod("2005-01-01"),
        );
    }
    rule(
        "R14",
        "warning",
        3,
        &lastmod("2999-01-01"),
        &lastmod("1990-01-01"),
    );
    rule(
        "R14",
        "warning",
        3,
        &lastmod("1989-12-31"),
        &lastmod("2005-01-01"),
    );
    for wrong in ["Daily", " daily ", "sometimes", ""] {
        let changefreq = |value: &str| page(&format!("<changefreq>{value}</changefreq>"));
        rule("R16", "error", 3, &changefreq(wrong), &changefreq("daily"));
    }
    for wrong in ["1.1", "-0.1", "0,5", "1e-1", "NaN", "", "high"] {
        let priority = |value: &str| page(&format!("<priority>{value}</priority>"));
        rule("R18", "error", 3, &priority(wrong), &priority("1.0"));
    }
}

pub(super) fn values_that_all_entries_share() {
    let pages = |elements: [&str; 2]| {
        let [one, other] = elements;
        urlset(&format!(
            "<url><loc>https://h.example/a</loc>{one}</url>\n<url><loc>https://h.example/b</loc>{other}</url>"
        ))
    };
    let often = "<changefreq>always</changefreq>";
    let seldom = "<changefreq>yearly</changefreq>";
    rule(
        "R17",
        "note",
        3,
        &pages([often, often]),
        &pages([often, seldom]),
    );
    let (half, full) = ("<priority>0.5</priority>", "<priority>1.0</priority>");
    rule("R19", "note", 3, &pages([half, half]), &pages([half, full]));
    let then = "<lastmod>1999-12-31T00:01:00Z</lastmod>";
    for other in ["<lastmod>1999-12-31</lastmod>", ""] {
        rule(
            "R14",
            "note",
            3,
            &pages([then, then]),
            &pages([then, other]),
        );
    }
}

pub(super) fn urls_are_listed_once() {
    let twice = format!("{GOOD}\n{GOOD}");
    rule("R26", "warning", 4, &urlset(&twice), &good());
    // In any spelling (RFC 3986 section 6.2.2); a different URL for a server is a different one here.
    let pair = |one: &str, other: &str| {
        urlset(&format!(
            "<url><loc>https://h.example/{one}</loc></url>\n<url><loc>{other}</loc></url>"
        ))
    };
    let other = pair("a", "https://h.example/A");
    rule(
        "R26",
        "warning",
        4,
        &pair("a", "https://h.example/%61"),
        &other,
    );
    rule(
        "R26",
        "warning",
        4,
        &pair("a?%7Eb", "https://h.example/a?~b"),
        &other,
    );
    rule(
        "R26",
        "warning",
        4,
        &pair("%fc", "https://h.example/%FC"),
        &pair("a%2Fb", "https://h.example/a/b"),
    );
    rule(
        "R26",
        "warning",
        4,
        &pair("aaa", "HTTPS://H.example:443/aaa"),
        &other,
    );
    let with_date =
        urlset_text("<url><loc>https://h.example/a</loc><lastmod>2024-05-17</lastmod></url>");
    let two = |one: &str, other: &str| Supplied::file("a.xml", one).and("b.xml", other);
    rule(
        "R26",
        "warning",
        3,
        &two(&urlset_text(GOOD), &with_date),
        &two(&with_date, &with_date),
    );
    // Text and feeds beside a sitemap have other metadata, or none.
    let feed = "<feed xmlns=\"http://www.w3.org/2005/Atom\"><title>t</title><id>https://h.example/</id>\
                <updated>2024-05-18T00:00:00Z</updated><author><name>h</name></author>\
                <entry><title>a</title><link href=\"https://h.example/a\"/><id>https://h.example/a</id>\
                <updated>2024-05-18T00:00:00Z</updated></entry></feed>";
    let text = "https://h.example/a\n";
    let others = || Supplied::file("a.txt", text).and("b.atom", feed);
    rule(
        "R26",
        "warning",
        3,
        &others()
            .and("c.xml", with_date.as_str())
            .and("d.xml", urlset_text(GOOD)),
        &others().and("c.xml", with_date.as_str()).and("d.txt", text),
    );
}
