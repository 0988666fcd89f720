//! Requests to live sites, their order, and their end.

use super::*;

#[test]
fn a_site_is_checked_from_its_robots_txt() {
    let robots = "User-agent: *\nDisallow: /private\nSitemap: {}/maps.xml.gz\nsitemap: {}/feed\nSitemap: {}/urls.txt\nSitemap: {}/gone.xml\n";
    let rss = "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>t</title><link>{}/</link><description>d</description><item><title>x</title><link>{}/news</link></item></channel></rss>";
    let atom = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><feed xmlns=\"http://www.w3.org/2005/Atom\"><title>t</title><id>urn:x</id><updated>2026-01-01T00:00:00Z</updated><entry><title>x</title><id>urn:y</id><updated>2026-01-01T00:00:00Z</updated><link href=\"{}/c\"/></entry></feed>";
    let site = site([
        ("/robots.txt", Response::text(robots)),
        ("/", Response::linking(["/a"])),
        (
            "/maps.xml.gz",
            compressed(index(["{}/a.xml", "{}/atom.xml"])),
        ),
        ("/feed", xml(rss)),
        ("/urls.txt", Response::text("{}/a\n{}/private/b\n")),
        ("/a.xml", xml(urlset(["{}/a", "{}/b", "{}/d"]))),
        ("/atom.xml", xml(atom)),
    ]);
    let json = Bench::new().json(1, &[&site.url("/")]);
    has(&json, "error R72 /gone.xml");
    assert_eq!(message(&json, "R72"), "sitemap cannot be read: status 404");
    has(&json, "warning R79 /urls.txt:2");
    let row = |path: &str, kind: &str, entries: u64| {
        (path.to_owned(), kind.into(), entries.into(), 200.into())
    };
    let reported = files(&json);
    assert_eq!(reported[0], row("/maps.xml.gz", "sitemapindex", 2));
    assert_eq!(reported[1], row("/feed", "rss", 1));
    assert_eq!(reported[2], row("/urls.txt", "text", 2));
    assert_eq!(
        (reported[3].0.as_str(), &reported[3].3),
        ("/gone.xml", &404.into())
    );
    assert_eq!(reported[4], row("/a.xml", "urlset", 3));
    assert_eq!(reported[5], row("/atom.xml", "atom", 1));
    assert_eq!(json["summary"]["entries"], 9);
    // Each once, robots.txt first.
    let mut asked = targets(&site);
    assert_eq!(&asked[..2], ["/robots.txt", "/"]);
    let count = asked.len();
    asked.sort();
    asked.dedup();
    assert_eq!((count, asked.len()), (8, 8));

    // The same from robots.txt itself, and from another page.
    for start in ["/robots.txt", "/about"] {
        let page = Response::html("<!doctype html><title>About</title>");
        let site = self::site([
            ("/robots.txt", Response::text("Sitemap: {}/s.xml")),
            ("/about", page),
            ("/s.xml", xml(urlset(["{}/about"]))),
        ]);
        let json = Bench::new().json(0, &[&site.url(start)]);
        assert_eq!(files(&json), [row("/s.xml", "urlset", 1)], "{start}");
    }
}

#[test]
fn site_without_a_line_has_the_usual_place() {
    let good = site([
        ("/", Response::status(403)),
        ("/sitemap.xml", xml(urlset(["{}/"]))),
    ]);
    let ran = Bench::new().check(&[&good.url("/")]).expect_code(0);
    assert_eq!(
        ran.stdout,
        "1 file, 1 entry: 0 errors, 0 warnings, 0 notes\n"
    );
    assert!(
        ran.stderr.contains("/robots.txt names no sitemap; "),
        "{}",
        ran.stderr
    );
    let bare = site([("/", Response::linking(["/"]))]);
    let ran = Bench::new().check(&[&bare.origin()]).expect_code(1);
    let expected = format!(
        "{}/sitemap.xml: error[R72]: sitemap cannot be read: status 404",
        bare.origin()
    );
    assert!(ran.stdout.starts_with(&expected), "{}", ran.stdout);
}

#[test]
fn loops_of_indexes_end_and_are_reported() {
    let site = site([
        ("/a.xml", xml(index(["{}/b.xml"]))),
        ("/b.xml", xml(index(["{}/c.xml", "{}/s.xml"]))),
        ("/c.xml", xml(index(["{}/a.xml", "{}/c.xml"]))),
        ("/s.xml", xml(urlset(["{}/"]))),
        ("/back.xml", xml(index(["{}/forth.xml"]))),
        ("/forth.xml", Response::redirect(302, "{}/back.xml")),
    ]);
    let bench = Bench::new();
    let json = bench.json(1, &[&site.url("/a.xml")]);
    for expected in [
        "error R40 /a.xml:3",
        "error R40 /b.xml:3",
        "error R40 /c.xml:3",
        "error R40 /c.xml:4",
    ] {
        has(&json, expected);
    }
    assert!(
        json.to_string().contains("which leads back to it"),
        "{json:#}"
    );
    assert_eq!(
        targets(&site),
        ["/robots.txt", "/a.xml", "/b.xml", "/c.xml", "/s.xml"]
    );
    site.clear_log();
    let json = bench.json(1, &[&site.url("/back.xml")]);
    has(&json, "error R40 /back.xml:3");
    // The redirect is followed, and its target was checked.
    assert_eq!(
        targets(&site),
        ["/robots.txt", "/back.xml", "/forth.xml", "/back.xml"]
    );
}

#[test]
fn indexes_are_followed_to_a_limited_depth() {
    let site = Site::start(|request| {
        let origin = format!("http://{}", request.headers["host"]);
        match request
            .target
            .trim_matches(|byte: char| !byte.is_ascii_digit())
            .parse::<u32>()
        {
            Ok(number) => xml(index([format!("{origin}/{}.xml", number + 1)])),
            Err(_) => Response::status(404),
        }
    });
    let json = Bench::new().json(1, &[&site.url("/1.xml")]);
    assert_eq!(
        targets(&site),
        ["/robots.txt", "/1.xml", "/2.xml", "/3.xml", "/4.xml"]
    );
    assert!(
        json.to_string()
            .contains("4 indexes lead to it, more than are followed"),
        "{json:#}"
    );
    has(&json, "error R40 /1.xml:3");
}

#[test]
fn at_most_100_listed_hosts_are_asked() {
    let (stranger, _) = proving(String::new);
    // All of these are the same machine under other names, and no robots.txt of them has the line.
    let port = stranger.port();
    let urls = (0..150).map(|number| format!("http://127.0.{number}.2:{port}/x"));
    let maps = site([("/s.xml", xml(urlset(urls)))]);
    let bench = Bench::new();
    let ran = bench
        .check(&[&maps.url("/s.xml"), "--repeats", "1"])
        .expect_code(1);
    assert!(
        ran.stderr
            .contains("the robots.txt files of 100 listed other hosts were requested"),
        "{}",
        ran.stderr
    );
    assert!(ran.stdout.contains("150 errors"), "{}", ran.stdout);
    // A document to be checked does not count as one of the 100 other hosts.
    let named = site([
        ("/robots.txt", Response::text("Sitemap: {}/real.xml\n")),
        ("/", Response::linking(["/"])),
        ("/real.xml", xml(urlset(["{}/"]))),
    ]);
    bench
        .check(&[&maps.url("/s.xml"), &named.url("/")])
        .expect_code(1);
    let asked = targets(&named);
    assert!(asked.contains(&"/real.xml".to_owned()), "{asked:?}");
    assert!(!asked.contains(&"/sitemap.xml".to_owned()), "{asked:?}");
}

#[test]
fn listed_pages_are_checked_on_request() {
    let pages = [
        "/fine", "/moved", "/gone", "/hidden", "/shy", "/copy", "/later", "/secret", "/silent",
    ];
    let list = urlset(pages.map(|page| format!("{{}}{page}")))
        .replace("/later</loc>", "/later</loc><lastmod>2026-01-01</lastmod>");
    let head = |head: &str| {
        Response::html(format!(
            "<!doctype html><html><head><title>x</title>{head}</head><body>x</body></html>"
        ))
    };
    let site = site([
        (
            "/robots.txt",
            Response::text("User-agent: *\nDisallow: /secret\n"),
        ),
        ("/s.xml", xml(list)),
        ("/fine", head("<link rel=canonical href=/fine>")),
        ("/moved", Response::redirect(301, "{}/fine")),
        ("/hidden", head("<meta name=robots content=noindex>")),
        ("/shy", head("").with("X-Robots-Tag", "noindex")),
        ("/copy", head("<link rel=canonical href=/fine>")),
        (
            "/later",
            head("").with("Last-Modified", "Sun, 01 Feb 2026 12:00:00 GMT"),
        ),
        ("/silent", Response::dropped()),
    ]);
    let bench = Bench::new();
    let json = bench.json(1, &[&site.url("/s.xml"), "--pages", "all"]);
    let expected = [
        "warning R79 /s.xml:10",
        "error R10 /s.xml:4",
        "error R10 /s.xml:5",
        "error R79 /s.xml:6",
        "error R79 /s.xml:7",
        "warning R10 /s.xml:8",
        "note R15 /s.xml:9",
        "warning R10 /s.xml:11",
    ];
    assert_eq!(findings(&json), expected);
    assert_eq!(json["summary"]["pages"], 8);
    let asked = targets(&site);
    assert!(!asked.contains(&"/secret".to_owned()), "{asked:?}");
    // Without the option no page is requested.
    site.clear_log();
    let json = bench.json(0, &[&site.url("/s.xml")]);
    assert_eq!(findings(&json), ["warning R79 /s.xml:10"]);
    assert_eq!(targets(&site), ["/robots.txt", "/s.xml"]);
}

#[test]
fn some_pages_are_spread_over_all_lists() {
    let urls = |part: usize| urlset((0..100).map(move |page| format!("{{}}/{part}/{page}")));
    let site = site([
        ("/i.xml", xml(index(["{}/0.xml", "{}/1.xml", "{}/2.xml"]))),
        ("/0.xml", xml(urls(0))),
        ("/1.xml", xml(urls(1))),
        ("/2.xml", xml(urls(2))),
    ]);
    let bench = Bench::new();
    let asked = || {
        site.clear_log();
        let json = bench.json(1, &[&site.url("/i.xml"), "--pages", "6"]);
        assert_eq!(json["summary"]["pages"], 6);
        let asked = targets(&site);
        let (_, pages) = asked.split_at(5);
        pages.to_vec()
    };
    let first = asked();
    assert_eq!(first.len(), 6);
    for part in 0..3 {
        let of_part = first
            .iter()
            .filter(|page| page.starts_with(&format!("/{part}/")));
        assert!((1..=3).contains(&of_part.count()), "{first:?}");
    }
    assert_eq!(asked(), first);
    let ran = bench
        .check(&["--pages", "many", &site.url("/i.xml")])
        .expect_code(2);
    assert!(
        ran.stderr.contains("--pages: expected a number"),
        "{}",
        ran.stderr
    );
    std::fs::write(bench.0.path().join("s.xml"), urlset(["https://h.example/"])).unwrap();
    let mut command = bench.command(&["--pages", "3", "s.xml"]);
    command.stdin(Stdio::null());
    let ran = Ran::of(command).expect_code(2);
    assert!(ran.stderr.contains("expected the URL"), "{}", ran.stderr);
}

#[test]
fn disallowed_requests_are_not_faults_but_are_reported() {
    let busy = Response::status(429).with("Retry-After", "3600");
    let site = site([
        ("/robots.txt", Response::text("Sitemap: {}/i.xml")),
        ("/i.xml", xml(index(["{}/busy.xml", "{}/s.xml"]))),
        ("/busy.xml", busy),
        ("/s.xml", xml(urlset(["{}/a"]))),
    ]);
    let bench = Bench::new();
    let json = bench.json(5, &[&site.url("/i.xml")]);
    assert_eq!(
        findings(&json),
        ["error R40 /i.xml:3", "warning R40 /i.xml:4"]
    );
    assert!(
        json.to_string().contains("asks to wait another "),
        "{json:#}"
    );
    assert_eq!(targets(&site), ["/robots.txt", "/i.xml", "/busy.xml"]);
    // The next session reads the wait from its file, and reports it once.
    site.clear_log();
    let ran = bench.check(&[&site.url("/")]).expect_code(5);
    assert!(
        ran.stdout
            .contains("(Retry-After), longer than max_retry_after allows"),
        "{}",
        ran.stdout
    );
    assert_eq!(ran.stderr, "");
    assert_eq!(targets(&site), [""; 0]);
}

#[test]
fn robots_txt_is_obeyed_by_name() {
    let robots =
        "User-agent: arpent\nDisallow: /kept\nDisallow: /b.xml\n\nUser-agent: *\nDisallow: /b\n";
    let site = site([
        ("/robots.txt", Response::text(robots)),
        ("/kept.xml", xml(urlset(["{}/a"]))),
        ("/s.xml", xml(urlset(["{}/kept/a", "{}/b"]))),
        (
            "/i.xml",
            xml(index(["{}/kept.xml", "{}/b.xml", "{}/moved.xml"])),
        ),
        ("/b.xml", xml(urlset(["{}/a"]))),
        ("/moved.xml", Response::redirect(301, "{}/kept.xml")),
    ]);
    let bench = Bench::new();
    // Other agents may read it, so this is not an error; it is not checked, and the help is printed.
    let json = bench.json(5, &[&site.url("/kept.xml")]);
    assert_eq!(findings(&json), ["warning R72 /kept.xml"]);
    assert!(
        json["findings"][0]["help"]
            .as_str()
            .unwrap()
            .contains("--user-agent"),
        "{json:#}"
    );
    assert_eq!(targets(&site), ["/robots.txt"]);
    let json = bench.json(0, &[&site.url("/s.xml")]);
    assert_eq!(findings(&json), ["warning R79 /s.xml:4"]);
    // In an index, and after a redirect; a sitemap disallowed to all is an error.
    let json = bench.json(5, &[&site.url("/i.xml")]);
    assert_eq!(
        findings(&json),
        [
            "warning R40 /i.xml:3",
            "error R79 /i.xml:4",
            "warning R40 /i.xml:5"
        ]
    );
    // Under another name it may be read.
    let json = bench.json(0, &[&site.url("/kept.xml"), "--user-agent", "probe/1.0"]);
    assert_eq!(findings(&json), [""; 0]);
}

#[test]
fn index_leads_to_no_network_of_another_kind() {
    let child = "http://169.254.169.254/latest/s.xml";
    let maps = site([("/i.xml", xml(index([child])))]);
    let json = Bench::new().json(1, &[&maps.url("/i.xml")]);
    has(&json, "error R40 /i.xml:3");
    assert!(
        json.to_string().contains("cloud metadata address"),
        "{json:#}"
    );
}

#[test]
fn a_signal_ends_it_with_what_was_found() {
    let site = Site::start(|request| {
        let origin = format!("http://{}", request.headers["host"]);
        match request.target.as_str() {
            "/robots.txt" => Response::text("User-agent: *\nCrawl-delay: 600\n"),
            _ => xml(index([format!("{origin}/next.xml")])),
        }
    });
    let bench = Bench::new();
    let running = Running::of(bench.command(&["--format", "json", &site.url("/i.xml")]));
    // It waits after it has read the delay.
    while site.log().is_empty() {
        std::thread::yield_now();
    }
    running.signal("INT");
    let ran = running.wait().expect_code(130);
    let stopped = ran.stderr.matches("stopped: ").count();
    assert_eq!(stopped, 1, "{}", ran.stderr);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(json["summary"]["entries"], 0);
}

#[test]
fn lone_url_makes_no_list_of_a_page() {
    let check = |content_type: &str, body: &str, path: &str, is_list: bool| {
        let mut page = Response::html(body);
        page.headers.clear();
        let page = page.with("Content-Type", content_type);
        let robots = Response::text("Sitemap: {}/map.xml\n");
        let map = xml(urlset(["{}/a"]));
        let site = site([(path, page), ("/robots.txt", robots), ("/map.xml", map)]);
        let ran = Bench::new().check(&[&site.url(path)]);
        let asked = targets(&site).contains(&"/map.xml".to_owned());
        assert_eq!(asked, !is_list, "{content_type} {path}: {}", ran.stdout);
    };
    let page = "Welcome\n<pre>\n{}/a\n</pre>\n";
    for page_type in [
        "text/html; charset=utf-8",
        "text/plain",
        "text/css",
        "application/pdf",
    ] {
        check(page_type, page, "/", false);
    }
    let table = "all our pages\n{}/a\n";
    check("text/csv", table, "/export", true);
    check("Text/Tab-Separated-Values", table, "/export", true);
    check("application/octet-stream", table, "/pages.csv", true);
    check("text/plain", "{}/a\n", "/list", true);
}
