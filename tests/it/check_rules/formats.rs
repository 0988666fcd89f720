//! Feeds and text files (R45 to R57).

use super::{GOOD, Supplied, check, gzip, rule, urlset_text};

/// One item in line 3 of its feed, and one entry.
const ITEM: &str = "<item><link>https://h.example/blog/a</link><pubDate>Mon, 02 Mar 2026 04:00:11 GMT</pubDate></item>";
const ENTRY: &str = "<entry><link href=\"https://h.example/blog/a\"/><updated>2026-03-02T04:00:11Z</updated></entry>";

const ATOM_1: &str = "http://www.w3.org/2005/Atom";

/// An RSS feed with these items; the attribute has the version.
fn rss_of(version: &str, items: &str) -> Supplied {
    let text = format!(
        "<?xml version=\"1.0\"?>\n<rss{version}><channel><title>T</title><link>https://h.example/</link><description>D</description>\n{items}\n</channel></rss>\n"
    );
    Supplied::file("feed.rss", text)
}

fn rss(items: &str) -> Supplied {
    rss_of(" version=\"2.0\"", items)
}

/// An Atom feed with these entries, in this namespace.
fn atom_of(namespace: &str, entries: &str) -> Supplied {
    let text = format!(
        "<?xml version=\"1.0\"?>\n<feed xmlns=\"{namespace}\"><title>T</title>\n{entries}\n</feed>\n"
    );
    Supplied::file("feed.atom", text)
}

fn atom(entries: &str) -> Supplied {
    atom_of(ATOM_1, entries)
}

pub(super) fn feeds() {
    let rdf = Supplied::file(
        "feed.xml",
        "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns=\"http://purl.org/rss/1.0/\">\n<item><link>https://h.example/a</link></item>\n</rdf:RDF>",
    );
    rule("R45", "note", 1, &rdf, &rss(ITEM));
    // Versions before 2.0 are read, but are not those of the protocol.
    for wrong in [" version=\"0.91\"", " version=\"\"", ""] {
        rule("R45", "note", 2, &rss_of(wrong, ITEM), &rss(ITEM));
    }
    rule(
        "R45",
        "error",
        2,
        &atom_of("https://www.w3.org/2005/Atom", ENTRY),
        &atom(ENTRY),
    );
    rule(
        "R46",
        "error",
        3,
        &rss("<item><title>x</title></item>"),
        &rss(ITEM),
    );
    rule(
        "R46",
        "error",
        3,
        &atom("<entry><link rel=\"self\" href=\"https://h.example/blog/a\"/></entry>"),
        &atom(ENTRY),
    );
    rule(
        "R46",
        "warning",
        3,
        &rss("<item><guid>https://h.example/blog/a</guid></item>"),
        &rss(ITEM),
    );
    let with_sitemap = rss(ITEM).and("sitemap.xml", urlset_text(GOOD));
    rule("R48", "note", None, &rss(ITEM), &with_sitemap);
    let place = |given: Supplied| given.at("https://h.example/blog/");
    let outside = ITEM.replace("/blog/", "/shop/");
    rule("R49", "error", 3, &place(rss(&outside)), &place(rss(ITEM)));
}

pub(super) fn dates_of_feeds() {
    rule(
        "R47",
        "error",
        3,
        &rss(&ITEM.replace("Mon, 02 Mar", "some day in")),
        &rss(ITEM),
    );
    rule(
        "R47",
        "error",
        3,
        &atom(&ENTRY.replace("2026-03-02T", "yesterday")),
        &atom(ENTRY),
    );
    rule(
        "R47",
        "error",
        3,
        &rss(&ITEM.replace("Mon, 02 Mar 2026 04:00:11 GMT", "2026-03-02T04:00:11Z")),
        &rss(&ITEM.replace("2026 04:00:11 GMT", "26 04:00 EST")),
    );
    // Atom 1.0 wants a time, with seconds and a zone, in upper case; Atom 0.3 accepts the dates of sitemaps.
    for wrong in [
        "2026-03-02",
        "2026-03",
        "2026-03-02T04:00:11",
        "2026-03-02T04:00Z",
        "2026-03-02 04:00:11Z",
        "2026-03-02t04:00:11z",
    ] {
        let dated = |date: &str| ENTRY.replace("2026-03-02T04:00:11Z", date);
        let good = atom(&dated("2026-03-02T04:00:11.25+01:00"));
        rule("R47", "error", 3, &atom(&dated(wrong)), &good);
    }
    for right in ["2026-03-02", "2026-03-02T04:00Z"] {
        let entry = ENTRY.replace("2026-03-02T04:00:11Z", right);
        let found = check(&atom_of("http://purl.org/atom/ns#", &entry));
        assert_eq!(found.code, 0, "{right}: {:#?}", found.findings);
    }
}

pub(super) fn text_files() {
    let text = |content: &str| Supplied::file("urls.txt", content);
    let good = text("https://h.example/a\nhttps://h.example/b\n");
    rule(
        "R50",
        "warning",
        2,
        &text("https://h.example/a\n\nhttps://h.example/b\n"),
        &good,
    );
    rule("R51", "error", 2, &text("https://h.example/a\n/b\n"), &good);
    let many = |count: usize| {
        let lines: Vec<String> = (0..count)
            .map(|number| format!("https://h.example/{number}\n"))
            .collect();
        text(&lines.concat())
    };
    rule("R52", "error", 50_001, &many(50_001), &many(50_000));
    rule(
        "R53",
        "warning",
        1,
        &text("\u{feff}https://h.example/a\n"),
        &good,
    );
    let latin = Supplied::file(
        "urls.txt",
        b"https://h.example/a\nhttps://h.example/\xfc\n".to_vec(),
    );
    rule("R53", "error", 2, &latin, &good);
    rule(
        "R54",
        "error",
        2,
        &text("https://h.example/a\n# more\nhttps://h.example/b\n"),
        &good,
    );
    rule(
        "R54",
        "error",
        2,
        &text("https://h.example/a\nhttps://h.example/b\t2024-05-17\nhttps://h.example/c\n"),
        &good,
    );
    rule(
        "R54",
        "error",
        1,
        &text("URL,Title\nhttps://h.example/a,A\n"),
        &good,
    );
    rule(
        "R55",
        "error",
        1,
        &text("URL\nhttps://h.example/b\n"),
        &good,
    );
    rule(
        "R55",
        "error",
        2,
        &text("https://h.example/b\nend\n"),
        &good,
    );
    let place = |content: &str| text(content).at("https://h.example/a/");
    rule(
        "R57",
        "error",
        2,
        &place("https://h.example/a/x\nhttps://h.example/b\n"),
        &place("https://h.example/a/x\n"),
    );
    let once = gzip(b"https://h.example/a\n");
    let gz = |bytes: Vec<u8>| Supplied::file("urls.txt.gz", bytes);
    rule("R56", "warning", 1, &gz(gzip(&once)), &gz(once.clone()));
    // The end of the compressed text and its sum are missing.
    let two = gzip(b"https://h.example/a\nhttps://h.example/b\n");
    let cut = two[..two.len() - 12].to_vec();
    rule("R56", "error", 2, &gz(cut), &gz(two));
}
