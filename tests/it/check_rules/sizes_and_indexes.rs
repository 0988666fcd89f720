//! Sizes of files, their compression, and entries of indexes (R27 to R44).

use std::fs;

use super::{
    GOOD, Supplied, allowed, check, good, gzip, index, index_text, keeps, message, now, rule, run,
    sitemap, urlset, urlset_text,
};

const LISTED: &str = "<sitemap><loc>https://h.example/a.xml</loc></sitemap>";

pub(super) fn limits() {
    let many = |count: usize| {
        let lines: Vec<String> = (0..count)
            .map(|number| format!("<url><loc>https://h.example/{number}</loc></url>"))
            .collect();
        urlset(&lines.join("\n"))
    };
    rule("R27", "error", 50_003, &many(50_001), &many(50_000));
    // Two files and their index; `more` than 20,000 URLs make the second file too long.
    let halves = |more: usize| {
        let half = |name: &str, count: usize| {
            let lines: Vec<String> = (0..count)
                .map(|number| format!("<url><loc>https://h.example/{name}{number}</loc></url>"))
                .collect();
            urlset_text(&lines.join("\n"))
        };
        let listed = ["a", "b"]
            .map(|name| format!("<sitemap><loc>https://h.example/{name}.xml</loc></sitemap>"));
        Supplied::file("sitemap.xml", index_text(&listed.concat()))
            .and("a.xml", half("a", 30_000))
            .and("b.xml", half("b", 30_000 + more))
            .at("https://h.example/")
    };
    rule("R30", "note", None, &halves(20_001), &halves(0));
    let found = check(&many(100_001));
    let needed = "100001 URLs need at least 3 sitemaps, and an index that lists them";
    assert_eq!(message(&found, "R30"), needed);
    // That there are too many is one error, in its line.
    assert!(found.has("R27", "error", Some(50_003)));
    assert_eq!(found.findings.len(), 2, "{:#?}", found.findings);
    let list = |count: usize| {
        let lines: Vec<String> = (0..count)
            .map(|number| format!("https://h.example/{number}\n"))
            .collect();
        Supplied::file("urls.txt", lines.concat())
    };
    rule("R30", "note", None, &list(50_001), &list(50_000));
    // Lines of a thousand bytes between the entry in line 3 and the last tag, of which the second half is beyond the limit.
    let large = |text: &str, bytes: usize| {
        let (head, tail) = text.trim_end().rsplit_once('\n').unwrap();
        let mut text = format!("{head}\n");
        while text.len() + tail.len() + 1_000 <= bytes {
            text.push_str("<!--");
            text.push_str(&" ".repeat(1_000 - 8));
            text.push_str("-->\n");
        }
        text.push_str(&" ".repeat(bytes - text.len() - tail.len()));
        let lines = text.lines().count() as u64;
        text.push_str(tail);
        assert_eq!(text.len(), bytes);
        (
            Supplied::file("sitemap.xml.gz", gzip(text.as_bytes())),
            lines,
        )
    };
    let reported_once = |fail: &Supplied| {
        let errors = check(fail).findings;
        let errors = errors
            .iter()
            .filter(|finding| finding["severity"] == "error");
        assert_eq!(errors.count(), 1);
    };
    let text = urlset_text(GOOD);
    let (fail, last_line) = large(&text, 52_428_801);
    let (pass, _) = large(&text, 52_428_800);
    rule("R28", "error", last_line, &fail, &pass);
    reported_once(&fail);
    let text = index_text(LISTED);
    let (fail, last_line) = large(&text, 52_428_801);
    let (pass, _) = large(&text, 52_428_800);
    rule("R33", "error", last_line, &fail, &pass);
    reported_once(&fail);
}

pub(super) fn compression() {
    let text = urlset_text(GOOD).into_bytes();
    let gz = |bytes: Vec<u8>| Supplied::file("sitemap.xml.gz", bytes);
    let good = gz(gzip(&text));
    rule(
        "R29",
        "error",
        1,
        &gz([b"PK\x03\x04".to_vec(), vec![0; 100]].concat()),
        &good,
    );
    rule("R29", "warning", 1, &gz(gzip(&gzip(&text))), &good);
    let cut = gzip(&text)[..60].to_vec();
    rule("R29", "error", 2, &gz(cut), &good);
    let followed = [gzip(&text), b"more".to_vec()].concat();
    rule("R29", "warning", 4, &gz(followed), &good);
    // With any name, and in several members.
    let two_members = [gzip(&text[..50]), gzip(&text[50..])].concat();
    assert_eq!(check(&Supplied::file("sitemap.xml", two_members)).code, 0);
}

pub(super) fn indexes() {
    let root = |text: String| Supplied::file("sitemap.xml", text);
    let good = sitemap("");
    let text = index_text("<sitemap><loc>https://h.example/a.xml</loc></sitemap>");
    rule(
        "R35",
        "error",
        2,
        &root(text.replace("http://www", "https://www")),
        &good,
    );
    rule("R36", "error", 3, &index("<sitemap/>"), &good);
    rule(
        "R36",
        "error",
        3,
        &index("<url><loc>https://h.example/a</loc></url>"),
        &good,
    );
    rule(
        "R36",
        "error",
        3,
        &urlset("<sitemap><loc>https://h.example/a.xml</loc></sitemap>"),
        &self::good(),
    );
    rule(
        "R36",
        "error",
        3,
        &sitemap("<changefreq>daily</changefreq>"),
        &good,
    );
    rule(
        "R36",
        "error",
        3,
        &sitemap("<priority>0.5</priority>"),
        &good,
    );
    let late =
        index("<sitemap><lastmod>2024-05-17</lastmod><loc>https://h.example/a.xml</loc></sitemap>");
    rule("R36", "warning", 3, &late, &good);
    rule(
        "R38",
        "error",
        1,
        &root(text.replace("UTF-8", "US-EBCDIC")),
        &good,
    );
    rule(
        "R39",
        "error",
        3,
        &index("<sitemap><loc>https://h.example/a.xml?a&b</loc></sitemap>"),
        &good,
    );
    rule(
        "R42",
        "error",
        3,
        &sitemap("<lastmod>yesterday</lastmod>"),
        &sitemap("<lastmod>2024-05-17</lastmod>"),
    );
    let many = |count: usize| {
        let lines: Vec<String> = (0..count)
            .map(|number| format!("<sitemap><loc>https://h.example/{number}.xml</loc></sitemap>"))
            .collect();
        index(&lines.join("\n"))
    };
    rule("R32", "error", 50_003, &many(50_001), &many(50_000));
    let gz = |bytes: Vec<u8>| Supplied::file("sitemap.xml.gz", bytes);
    let once = gzip(text.as_bytes());
    rule("R33", "warning", 1, &gz(gzip(&once)), &gz(once.clone()));
}

pub(super) fn several_indexes() {
    let both = "Sitemap: https://h.example/sitemap.xml\nSitemap: https://h.example/sitemap-2.xml\n";
    let named = |first: &str, robots: Option<&str>| {
        let given = Supplied::file("sitemap.xml", index_text(first))
            .and(
                "sitemap-2.xml",
                index_text(&LISTED.replace("a.xml", "b.xml")),
            )
            .and("a.xml", urlset_text(GOOD))
            .and(
                "b.xml",
                urlset_text("<url><loc>https://h.example/b</loc></url>"),
            )
            .at("https://h.example/");
        match robots {
            Some(robots) => given.and("robots.txt", robots),
            None => given,
        }
    };
    let set = |first: &str| named(first, Some(both));
    // Both are named, and none lists the other.
    let good = set(LISTED);
    allowed("R34", &good);
    let (first, _) = both.split_once('\n').unwrap();
    let forgotten = named(LISTED, Some(first));
    rule("R34", "note", None, &forgotten, &good);
    let found = check(&forgotten);
    let [finding] = &found.findings[..] else {
        panic!("{:#?}", found.findings)
    };
    assert_eq!(
        (&finding["file"], found.code),
        (&"./sitemap-2.xml".into(), 0)
    );
    let line =
        "add the line \"Sitemap: https://h.example/sitemap-2.xml\" to https://h.example/robots.txt";
    assert_eq!(finding["help"], line);
    // A robots.txt that is missing, or names none of them, proves nothing.
    allowed("R34", &named(LISTED, None));
    allowed("R34", &named(LISTED, Some("User-agent: *\nDisallow:\n")));
    // What no sitemap lists is not a fault (R80).
    let with_page = good.and("other.html", "<p>not listed</p>");
    allowed("R80", &with_page);
    let good = set(LISTED);
    let nested = "<sitemap><loc>https://h.example/sitemap-2.xml</loc></sitemap>";
    rule("R40", "error", 3, &set(nested), &good);
}

pub(super) fn listed_sitemaps_are_judged_at_their_own_place() {
    let set = |page: &str| {
        Supplied::file(
            "sitemap.xml",
            index_text("<sitemap><loc>https://h.example/docs/a.xml</loc></sitemap>"),
        )
        .and(
            "docs/a.xml",
            urlset_text(&format!("\n<url><loc>{page}</loc></url>")),
        )
        .at("https://h.example/")
    };
    // The index could list both pages, its sitemap cannot.
    let good = set("https://h.example/docs/x");
    let above = set("https://h.example/x");
    rule("R44", "note", 4, &above, &good);
    let found = check(&above);
    assert!(found.has("R58", "error", Some(4)));
    assert_eq!(
        message(&found, "R44"),
        "index https://h.example/sitemap.xml covers this URL, but its sitemap is judged at its own place"
    );
    // Of a sitemap that no index lists, no index could list the page either.
    let alone = Supplied::file(
        "docs/a.xml",
        urlset_text("<url><loc>https://h.example/x</loc></url>"),
    )
    .at("https://h.example/docs/a.xml");
    keeps("R44", &check(&alone));
}

pub(super) fn sitemaps_that_are_read_again_each_time() {
    let list = |dated: usize, undated: usize| {
        let entry = |number: usize| {
            let lastmod = if number < dated {
                "<lastmod>2024-05-17</lastmod>"
            } else {
                ""
            };
            format!("<sitemap><loc>https://h.example/{number}.xml</loc>{lastmod}</sitemap>")
        };
        let lines: Vec<String> = (0..dated + undated).map(entry).collect();
        index(&lines.join("\n"))
    };
    rule("R43", "note", 3, &list(0, 12), &list(12, 0));
    let found = check(&list(0, 12));
    assert_eq!((found.findings.len(), found.code), (1, 0));
    assert_eq!(
        message(&found, "R43"),
        "none of the 12 sitemaps has a lastmod that can be read: consumers have to fetch all of them again each time"
    );
    // The first of those that have none.
    rule("R43", "note", 23, &list(20, 10), &list(20, 9));
    // Fewer than ten have no finding.
    allowed("R43", &list(0, 9));
}

pub(super) fn entries_of_an_index() {
    let at = |given: Supplied| given.at("https://h.example/maps/");
    let child = |url: &str| at(index(&format!("<sitemap><loc>{url}</loc></sitemap>")));
    let below = child("https://h.example/maps/a.xml");
    rule(
        "R37",
        "error",
        3,
        &child("https://g.example/maps/a.xml"),
        &below,
    );
    rule(
        "R37",
        "error",
        3,
        &child("http://h.example/maps/a.xml"),
        &below,
    );
    rule(
        "R37",
        "warning",
        3,
        &child("https://h.example/a.xml"),
        &below,
    );
    // Without a place all have to be of one site.
    let two = |other: &str| {
        index(&format!(
            "<sitemap><loc>https://h.example/a.xml</loc></sitemap>\n<sitemap><loc>{other}</loc></sitemap>"
        ))
    };
    rule(
        "R37",
        "error",
        4,
        &two("https://g.example/b.xml"),
        &two("https://h.example/x/b.xml"),
    );
    rule(
        "R40",
        "error",
        3,
        &child("https://h.example/maps/sitemap.xml"),
        &below,
    );

    let set = |index: &str, other: &str| {
        Supplied::file("sitemap.xml", index)
            .and("a.xml", other)
            .at("https://h.example/")
    };
    let one = |name: &str| {
        index_text(&format!(
            "<sitemap><loc>https://h.example/{name}</loc></sitemap>"
        ))
    };
    let good = set(&one("a.xml"), &urlset_text(GOOD));
    rule("R40", "error", 3, &set(&one("a.xml"), &one("b.xml")), &good);
    rule(
        "R40",
        "error",
        3,
        &set(&one("a.xml"), &one("sitemap.xml")),
        &good,
    );
    rule(
        "R40",
        "error",
        3,
        &set(&one("gone.xml"), &urlset_text(GOOD)),
        &good,
    );
    // It is unknown whether a single file lists its own URL, with any name; in a folder the index decides.
    let mut itself = index(LISTED);
    "a.xml".clone_into(&mut itself.files[0].0);
    keeps("R40", &check(&itself));
    rule(
        "R40",
        "error",
        3,
        &itself.at("https://h.example/"),
        &sitemap(""),
    );
    // The index decides the place of the folder.
    let mut guessed = set(
        &index_text(
            "<sitemap><loc>https://h.example/x/a.xml</loc></sitemap>\n<sitemap><loc>https://h.example/x/gone.xml</loc></sitemap>",
        ),
        &urlset_text(GOOD),
    );
    guessed.arguments.clear();
    let found = check(&guessed);
    assert!(found.has("R40", "error", Some(4)), "{:#?}", found.findings);
    assert!(found.has("R58", "error", Some(3)), "{:#?}", found.findings);

    let index = one("a.xml");
    let listed = set(&index, &urlset_text(GOOD));
    let unlisted = set(&index, &urlset_text(GOOD)).and("b.xml", urlset_text(GOOD));
    rule("R31", "note", None, &unlisted, &listed);
    let no_index = set(&urlset_text(GOOD), &urlset_text(GOOD));
    rule("R31", "note", None, &no_index, &listed);
}

pub(super) fn dates_of_an_index() {
    let now = &now();
    let entry = |name: &str, date: &str| {
        format!("<sitemap><loc>https://h.example/{name}</loc><lastmod>{date}</lastmod></sitemap>")
    };
    let two =
        |one: &str, other: &str| index(&(entry("a.xml", one) + "\n" + &entry("b.xml", other)));
    rule(
        "R41",
        "warning",
        3,
        &two(now, now),
        &two(now, "2024-05-17T00:00:00Z"),
    );
    // Files with the same dates prove it.
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.xml", "b.xml"] {
        fs::write(folder.path().join(name), urlset_text(GOOD)).unwrap();
    }
    fs::write(folder.path().join("sitemap.xml"), &two(now, now).files[0].1).unwrap();
    let found = run(folder.path(), ".", &[]);
    assert!(
        !found.has("R41", "warning", Some(3)),
        "{:#?}",
        found.findings
    );
}

pub(super) fn damaged_compression_is_reported_after_all_that_can_be_read() {
    let mut file = gzip(urlset_text(GOOD).as_bytes());
    let last = file.len() - 1;
    file[last] ^= 1;
    let found = check(&Supplied::file("sitemap.xml.gz", file));
    assert!(found.has("R29", "error", Some(4)), "{:#?}", found.findings);
    assert_eq!(found.code, 1);
}
