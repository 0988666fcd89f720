//! URLs that a sitemap may list at its place, and proofs by robots.txt (R58 to R67, R73 to R79).

use super::{
    GOOD, Supplied, check, index, index_text, keeps, loc, message, rule, rule_as, urlset,
    urlset_text,
};

pub(super) fn places() {
    let at = |page: &str, place: &str| loc(page).at(place);
    let catalog = "http://h.example/catalog/sitemap.xml";
    let good = at("http://h.example/catalog/show?item=23", catalog);
    for outside in [
        "http://h.example/catalog",
        "http://h.example/catalogue/x",
        "http://h.example/Catalog/x",
        "http://h.example/image/show",
        "http://h.example/catalog/../image/x",
        "http://h.example/catalog/%2e%2e/image/x",
        "http://h.example/catalog%2Fx",
    ] {
        rule("R58", "error", 3, &at(outside, catalog), &good);
    }
    rule(
        "R58",
        "error",
        3,
        &at("http://h.example/image/a", catalog),
        &at("http://h.example:80/%63atalog/x", catalog),
    );
    let query = "http://h.example/s.php?f=/catalog/x";
    rule(
        "R58",
        "error",
        3,
        &at("http://h.example/image/a", catalog),
        &at("http://h.example/any", query),
    );
    rule(
        "R59",
        "error",
        3,
        &at("https://h.example/catalog/page1.html", catalog),
        &good,
    );
    rule(
        "R60",
        "error",
        3,
        &at("http://blog.h.example/catalog/x", catalog),
        &good,
    );
    rule(
        "R60",
        "note",
        3,
        &at("http://www.h.example/catalog/x", catalog),
        &good,
    );
    rule(
        "R62",
        "note",
        None,
        &good,
        &at("http://h.example/x", "http://h.example/sitemap.xml"),
    );
    rule(
        "R64",
        "error",
        3,
        &at("http://h.example:8080/catalog/x", catalog),
        &good,
    );
    let port = "http://h.example:100/sitemap.xml";
    rule(
        "R64",
        "error",
        3,
        &at("http://h.example/x", port),
        &at("http://h.example:100/x", port),
    );
    // The port of the scheme is none.
    rule(
        "R64",
        "error",
        3,
        &at("https://h.example:8443/x", "https://h.example/sitemap.xml"),
        &at("https://h.example:443/x", "https://h.example/sitemap.xml"),
    );
    // Without a place all have to be of one origin.
    let two = |other: &str| urlset(&format!("{GOOD}\n<url><loc>{other}</loc></url>"));
    let same = two("https://h.example/x/b");
    rule("R59", "error", 4, &two("http://h.example/b"), &same);
    rule("R60", "error", 4, &two("https://g.example/b"), &same);
    rule("R64", "error", 4, &two("https://h.example:8443/b"), &same);
    // The right host is unknown then, and dropped URLs are not reported.
    keeps("R61", &check(&two("https://g.example/b")));
}

pub(super) fn urls_that_are_dropped_are_counted() {
    let place = "https://h.example/docs/sitemap.xml";
    let list = |urls: &[&str]| {
        let lines: Vec<_> = urls
            .iter()
            .map(|url| format!("<url><loc>{url}</loc></url>"))
            .collect();
        urlset(&lines.join("\n")).at(place)
    };
    let inside = "https://h.example/docs/a";
    let good = list(&[inside, "https://h.example/docs/b"]);
    let refused = [
        ("R58", "https://h.example/b"),
        ("R59", "http://h.example/docs/b"),
        ("R60", "https://g.example/docs/b"),
        ("R64", "https://h.example:8443/docs/b"),
    ];
    for (why, url) in refused {
        let fail = list(&[inside, url]);
        rule("R61", "note", None, &fail, &good);
        // A refused URL is an error in its line, and does not affect the others.
        let found = check(&fail);
        let errors = found.findings.iter();
        let errors: Vec<_> = errors
            .filter(|finding| finding["severity"] == "error")
            .map(|finding| (finding["rule"].as_str().unwrap(), finding["line"].as_u64()))
            .collect();
        assert_eq!(errors, [(why, Some(4))]);
        assert_eq!(
            message(&found, "R61"),
            "1 of 2 URLs is dropped by search engines; the others count"
        );
    }
    let all: Vec<_> = refused.iter().map(|(_, url)| *url).collect();
    let found = check(&list(&all));
    let dropped = "all 4 URLs are dropped by search engines";
    assert_eq!(message(&found, "R61"), dropped);
    // A text file and a feed have the same rules.
    let text = |urls: &str| Supplied::file("urls.txt", urls).at("https://h.example/docs/urls.txt");
    rule(
        "R61",
        "note",
        None,
        &text("https://h.example/docs/a\nhttps://h.example/b\n"),
        &text("https://h.example/docs/a\nhttps://h.example/docs/b\n"),
    );
}

pub(super) fn sections_have_sitemaps_of_their_own() {
    let section = |page: &str| {
        Supplied::file(
            "docs/sitemap.xml",
            urlset_text(&format!("<url><loc>https://h.example{page}</loc></url>")),
        )
        .and(
            "blog/sitemap.xml",
            urlset_text("<url><loc>https://h.example/blog/a</loc></url>"),
        )
        .at("https://h.example/")
    };
    let strayed = section("/blog/b");
    rule("R63", "note", 3, &strayed, &section("/docs/b"));
    let found = check(&strayed);
    assert!(found.has("R58", "error", Some(3)));
    assert_eq!(
        message(&found, "R63"),
        "sitemap ./blog/sitemap.xml covers this URL at its place"
    );
    // A URL that no other sitemap covers has no better place in the set.
    let found = check(&section("/news/b"));
    assert!(found.has("R58", "error", Some(3)));
    keeps("R63", &found);
    // A place below the root directory is reported once, for the first.
    let found = check(&section("/docs/b"));
    let notes: Vec<_> = found
        .findings
        .iter()
        .filter(|finding| finding["rule"] == "R62")
        .map(|finding| finding["message"].as_str().unwrap())
        .collect();
    assert_eq!(
        notes,
        ["sitemap is in https://h.example/blog/ and can list no URL outside of it"]
    );
}

pub(super) fn sets_for_other_hosts_may_be_below_the_root() {
    let place = "https://maps.example/host1/sitemap.xml";
    let list = |urls: &[&str]| {
        let entries: Vec<_> = urls
            .iter()
            .map(|url| format!("<url><loc>{url}</loc></url>"))
            .collect();
        urlset(&entries.join("\n")).at(place)
    };
    let own = "https://maps.example/host1/a";
    let other = "https://host1.example/a";
    rule("R62", "note", None, &list(&[own]), &list(&[other]));
    rule("R62", "note", None, &list(&[other, own]), &list(&[other]));
    // An index leads to such a list, or is named by the other host.
    let index = |child: &str, page: &str| {
        let child = format!("<sitemap><loc>https://maps.example/host1/{child}</loc></sitemap>");
        Supplied::file("sitemap.xml", index_text(&child))
            .and(
                "a.xml",
                urlset_text(&format!("<url><loc>{page}</loc></url>")),
            )
            .at("https://maps.example/host1/")
    };
    rule(
        "R62",
        "note",
        None,
        &index("a.xml", own),
        &index("a.xml", other),
    );
    let named = index("gone.xml", own)
        .and("host1.robots", format!("Sitemap: {place}\n"))
        .with("--robots", "https://host1.example=host1.robots");
    let reported = |given: &Supplied| {
        let found = check(given).findings;
        let notes = found.iter().filter(|finding| finding["rule"] == "R62");
        notes
            .map(|finding| finding["file"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(reported(&index("gone.xml", own)), ["./sitemap.xml"]);
    assert_eq!(reported(&named), ["./a.xml"]);
}

/// The missing line is reported with its robots.txt, for any difference of the origin, and its URL is possible in a robots.txt.
pub(super) fn the_missing_line_is_reported() {
    let help = |given: &Supplied, rule: &str| {
        let found = check(given).findings;
        let finding = found.into_iter().find(|finding| finding["rule"] == rule);
        finding.unwrap()["help"].as_str().unwrap().to_owned()
    };
    let place = "https://h.example/sitemap.xml";
    for (rule, url, robots) in [
        ("R59", "http://h.example/x", "http://h.example/robots.txt"),
        ("R65", "https://g.example/x", "https://g.example/robots.txt"),
        (
            "R64",
            "https://h.example:8443/x",
            "https://h.example:8443/robots.txt",
        ),
    ] {
        let reported = help(&loc(url).at(place), rule);
        let line = format!("add the line \"Sitemap: {place}\" to {robots}");
        assert!(reported.ends_with(&line), "{rule}: {reported}");
    }
    let index = index("<sitemap><loc>https://g.example/a.xml</loc></sitemap>").at(place);
    let reported = help(&index, "R37");
    let line = format!("add the line \"Sitemap: {place}\" to https://g.example/robots.txt");
    assert!(reported.ends_with(&line), "{reported}");
    // The errors only mention it.
    let reported = help(&loc("https://g.example/x").at(place), "R60");
    assert!(reported.ends_with("name this one (R65)"), "{reported}");
    // Where the file is served is not known, so no line can be.
    let among = urlset(&format!(
        "{GOOD}\n<url><loc>https://g.example/b</loc></url>"
    ));
    assert!(!help(&among, "R60").contains("R65"));
    keeps("R65", &check(&among));
}

pub(super) fn sitemaps_on_other_hosts() {
    let place = "https://maps.example/host1/sitemap.xml";
    let page = |url: &str| loc(url).at(place);
    let line = format!("User-agent: *\nDisallow:\nSitemap: {place}\n");
    let proven = |given: Supplied, host: &str| {
        given
            .and(&format!("{host}.robots"), line.as_str())
            .with("--robots", &format!("https://{host}={host}.robots"))
    };
    let good = || proven(page("https://host1.example/x"), "host1.example");
    rule("R65", "note", 3, &page("https://host1.example/x"), &good());
    let several = urlset(
        "<url><loc>https://host1.example/x</loc></url>\n<url><loc>https://host1.example/y</loc></url>\n<url><loc>https://host2.example/x</loc></url>",
    );
    let found = check(&several.at(place));
    let notes = found.findings.iter().filter(|found| found["rule"] == "R65");
    let notes: Vec<_> = notes
        .map(|found| {
            (
                found["line"].as_u64().unwrap(),
                found["help"].as_str().unwrap(),
            )
        })
        .collect();
    // One for each host, where it is listed first; to prove one is not enough where two are listed.
    let help = |host: &str| {
        format!(
            "add the line \"Sitemap: {place}\" to https://{host}/robots.txt, and list the URLs of no other host in this sitemap (R66)"
        )
    };
    let expected = [(3, help("host1.example")), (5, help("host2.example"))];
    assert_eq!(
        notes,
        expected
            .each_ref()
            .map(|(line, help)| (*line, help.as_str()))
    );
    let errors = [3, 4, 5].map(|line| found.has("R60", "error", Some(line)));
    assert_eq!(errors, [true; 3]);
    rule(
        "R60",
        "error",
        3,
        &proven(page("https://host1.example/x"), "host2.example"),
        &good(),
    );
    let found = check(&good());
    assert_eq!(found.code, 0);
    // The robots.txt that proved it is reported; http and https have one each. URLs without need of proof have none.
    let own = page("https://maps.example/host1/x");
    rule("R67", "note", 3, &good(), &own);
    let words = found
        .findings
        .iter()
        .find(|finding| finding["rule"] == "R67")
        .unwrap();
    assert!(
        words["message"]
            .as_str()
            .unwrap()
            .contains("https://host1.example/robots.txt")
    );
    rule(
        "R60",
        "error",
        3,
        &proven(page("http://host1.example/x"), "host1.example"),
        &good(),
    );
    let both = urlset(
        "<url><loc>https://host1.example/x</loc></url>\n<url><loc>https://host2.example/x</loc></url>",
    )
    .at(place);
    let both = proven(proven(both, "host1.example"), "host2.example");
    rule("R66", "error", 4, &both, &good());
}

pub(super) fn robots_of_the_folder() {
    let index = index_text("<sitemap><loc>https://h.example/a.xml</loc></sitemap>");
    let set = |robots: &str| {
        Supplied::file("sitemap.xml", index.as_str())
            .and("a.xml", urlset_text("<url><loc>https://h.example/a</loc></url>\n<url><loc>https://h.example/b</loc></url>"))
            .and("robots.txt", robots)
            .at("https://h.example/")
    };
    let line = "Sitemap: https://h.example/sitemap.xml\n";
    rule(
        "R73",
        "warning",
        None,
        &set("Sitemap: /sitemap.xml\n"),
        &set(line),
    );
    let both = format!("{line}Sitemap: https://h.example/a.xml\n");
    rule("R75", "note", None, &set(&both), &set(line));
    let words = check(&set(&both)).findings;
    let words = words
        .iter()
        .find(|finding| finding["rule"] == "R75")
        .unwrap();
    assert_eq!(words["url"], "https://h.example/robots.txt");
    // The same lines in the robots.txt of another host, which proves something, change nothing.
    let copied = set(&both)
        .and("g.robots", both.as_str())
        .with("--robots", "https://g.example=g.robots");
    let notes = check(&copied).findings;
    let notes = notes.iter().filter(|finding| finding["rule"] == "R75");
    assert_eq!(notes.count(), 1);
    // The place of a line does not matter, even in the group of another agent (R74).
    let proven = |robots: String| {
        loc("https://h.example/a")
            .at("https://maps.example/a.xml")
            .and("h.robots", robots)
            .with("--robots", "https://h.example=h.robots")
    };
    let lines = |comment: &str| {
        format!(
            "User-agent: other\nDisallow: /b\n{comment}sitemap: https://maps.example/a.xml\nDisallow: /c\n"
        )
    };
    rule_as("R74", "R60", 3, &proven(lines("# ")), &proven(lines("")));
    let grouped = format!("User-agent: other\n{line}Disallow: /b\n");
    rule(
        "R79",
        "warning",
        4,
        &set("User-agent: *\nDisallow: /b\n"),
        &set(&grouped),
    );
}
