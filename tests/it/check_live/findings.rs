//! Findings of live sitemaps: their answers, their places, and the proofs that they may list other hosts.

use super::*;

#[test]
fn unreadable_sitemaps_are_reported_in_their_index() {
    let blocked = "User-agent: *\nDisallow: /blocked\n";
    let site = site([
        ("/robots.txt", Response::text(blocked)),
        (
            "/i.xml",
            xml(index([
                "{}/good.xml",
                "{}/gone.xml",
                "{}/blocked.xml",
                "{}/dropped.xml",
                "{}/round.xml",
                "{}/page.xml",
            ])),
        ),
        ("/good.xml", xml(urlset(["{}/"]))),
        ("/dropped.xml", Response::dropped()),
        ("/round.xml", Response::redirect(301, "/round.xml")),
        ("/page.xml", Response::linking(["/"])),
    ]);
    let json = Bench::new().json(1, &[&site.url("/i.xml")]);
    for expected in [
        "error R40 /i.xml:4",
        "error R79 /i.xml:5",
        "error R40 /i.xml:6",
        "error R40 /i.xml:7",
        // A page in the place of a sitemap is read, and is not a sitemap.
        "error R4 /page.xml:2",
    ] {
        has(&json, expected);
    }
    let statuses: Vec<_> = files(&json)
        .into_iter()
        .map(|(_, _, _, status)| status)
        .collect();
    let none = Value::Null;
    assert_eq!(
        statuses,
        [
            200.into(),
            200.into(),
            404.into(),
            none.clone(),
            none.clone(),
            none,
            200.into()
        ]
    );
    assert!(!targets(&site).contains(&"/blocked.xml".to_owned()));
}

#[test]
fn robots_txt_of_the_listed_host_proves() {
    let target = Arc::new(std::sync::OnceLock::new());
    let line = Arc::clone(&target);
    let (listed, is_there) = proving(move || format!("Sitemap: {}\n", line.get().unwrap()));
    let pages = urlset([listed.url("/a"), listed.url("/b/c")]);
    let maps = site([
        ("/x/i.xml", xml(index(["{}/x/s.xml"]))),
        ("/x/s.xml", xml(pages)),
        ("/old.xml", Response::redirect(301, "{}/x/s.xml")),
    ]);
    let bench = Bench::new();
    target.set(maps.url("/x/s.xml")).unwrap();
    let url = maps.url("/x/s.xml");
    let json = bench.json(1, &[&url]);
    has(&json, "error R64 /x/s.xml:3");
    has(&json, "error R64 /x/s.xml:4");
    is_there.store(true, Ordering::SeqCst);
    let json = bench.json(0, &[&url]);
    let proof = format!(
        "URLs of {0} are allowed here: {0}/robots.txt points to this sitemap",
        listed.origin()
    );
    assert_eq!(message(&json, "R67"), proof);
    // The robots.txt of a host is requested once, for any number of URLs.
    assert_eq!(targets(&listed), ["/robots.txt", "/robots.txt"]);
    // The line may name the index, a redirect to the sitemap, or its target.
    assert_eq!(
        message(&bench.json(0, &[&maps.url("/old.xml")]), "R67"),
        proof
    );
    let robots = bench.0.path().join("robots.txt");
    for named in ["/x/i.xml", "/old.xml"] {
        std::fs::write(&robots, format!("Sitemap: {}\n", maps.url(named))).unwrap();
        let given = format!("{}=robots.txt", listed.origin());
        let json = bench.json(0, &[&maps.url(named), "--robots", &given]);
        assert_eq!(message(&json, "R67"), proof, "{named}");
    }
}

#[test]
fn urls_in_a_wrong_directory_are_reported() {
    let site = site([
        ("/robots.txt", Response::text("Sitemap: {}/i.xml")),
        ("/i.xml", xml(index(["{}/docs/s.xml", "{}/old.xml"]))),
        ("/docs/s.xml", xml(urlset(["{}/docs/a", "{}/blog/b"]))),
        ("/old.xml", Response::redirect(301, "{}/blog/s.xml")),
        ("/blog/s.xml", xml(urlset(["{}/blog/a", "{}/c"]))),
        ("/else.xml", xml(index(["{}/more.xml"]))),
        ("/more.xml", xml(urlset(["{}/d"]))),
    ]);
    let bench = Bench::new();
    let json = bench.json(1, &[&site.url("/")]);
    for expected in [
        "error R58 /docs/s.xml:4",
        // The place is where the redirect ends.
        "error R58 /old.xml:4",
    ] {
        has(&json, expected);
    }
    let notes = |rule: &str| {
        let found = findings(&json);
        let of_rule = found.iter().filter(|finding| finding.contains(rule));
        of_rule.count()
    };
    assert_eq!(notes("R34"), 0);
    // Only sitemaps in robots.txt are read from there; another index has to be typed.
    let json = bench.json(1, &[&site.url("/i.xml"), &site.url("/else.xml")]);
    has(&json, "note R34 /else.xml");
    let json = bench.json(0, &[&site.url("/else.xml")]);
    assert_eq!(findings(&json), [""; 0]);
}

#[test]
fn headers_are_compared_with_the_file() {
    let latin = xml(urlset(["{}/"])).with("Content-Type", "x");
    let mut latin = latin;
    latin.headers = vec![("Content-Type".into(), "text/xml; charset=ISO-8859-1".into())];
    let mut untyped = xml(urlset(["{}/"]));
    untyped.headers.clear();
    let mut zipped = compressed(urlset(["{}/"]));
    zipped
        .headers
        .push(("Content-Disposition".into(), "inline".into()));
    let mut short = xml(urlset(["{}/a", "{}/b"]));
    short.announced = Some(10_000);
    let site = site([
        ("/latin.xml", latin),
        ("/untyped.xml", untyped),
        ("/zipped.xml", zipped),
        ("/plain.xml.gz", xml(urlset(["{}/"]))),
        ("/short.xml", short),
        (
            "/coded.xml",
            xml(urlset(["{}/"])).with("Content-Encoding", "gzip"),
        ),
        ("/empty.xml", xml("")),
        ("/page.xml", Response::linking(["/"])),
        ("/good.xml.gz", compressed(urlset(["{}/"]))),
    ]);
    let check = |code: i32, paths: &[&str], expected: &[&str]| {
        let urls: Vec<String> = paths.iter().map(|path| site.url(path)).collect();
        let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
        let json = Bench::new().json(code, &urls);
        for expected in expected {
            has(&json, expected);
        }
        json
    };
    let odd = ["/latin.xml", "/untyped.xml", "/zipped.xml", "/plain.xml.gz"];
    let expected = [
        "warning R2 /latin.xml",
        "note R2 /untyped.xml",
        "note R29 /zipped.xml",
        "note R29 /plain.xml.gz",
    ];
    check(0, &odd, &expected);
    let wrong = ["/page.xml", "/coded.xml", "/short.xml"];
    let expected = [
        "error R4 /page.xml:2",
        "error R29 /coded.xml",
        "error R1 /short.xml",
    ];
    check(1, &wrong, &expected);
    let json = check(1, &["/empty.xml", "/good.xml.gz"], &[]);
    assert_eq!(json["summary"]["errors"], 1, "{json:#}");
    let mut found = findings(&json).into_iter();
    assert!(
        found.all(|finding| !finding.contains("good.xml.gz")),
        "{json:#}"
    );
}

#[test]
fn unanswered_site_has_its_own_exit_code() {
    let gone = Site::start(|_| Response::status(404));
    let silent = gone.url("/sitemap.xml");
    drop(gone);
    let broken = Site::start(|_| Response::status(500));
    let bench = Bench::new();
    let json = bench.json(5, &[&silent]);
    assert_eq!(findings(&json), ["error R72 /sitemap.xml"]);
    let json = bench.json(5, &[&broken.url("/")]);
    let why = message(&json, "R72");
    assert!(
        why.starts_with("sitemap may not be read: http") && why.contains("robots.txt answered 500"),
        "{why}"
    );
    assert!(
        json["findings"][0]["help"]
            .as_str()
            .unwrap()
            .starts_with("let robots.txt answer")
    );
    // The others are checked all the same.
    let good = site([("/s.xml", xml(urlset(["{}/"])))]);
    let json = bench.json(5, &[&silent, &good.url("/s.xml")]);
    assert_eq!(files(&json)[1].3, 200);
    // The exit code of unchecked documents goes before that of findings, as in the help.
    let bad = site([("/s.xml", xml(urlset(["/"])))]);
    let json = bench.json(5, &[&silent, &bad.url("/s.xml")]);
    has(&json, "error R9 /s.xml:3");
    let help = bench.check(&["--help"]).expect_code(0).stdout;
    assert!(
        help.contains("the first of 130, 2, 5, 1. With 5, errors may"),
        "{help}"
    );
    let ran = bench
        .check(&["https://user:secret@h.example/"])
        .expect_code(2);
    assert!(!ran.stderr.contains("secret"), "{}", ran.stderr);
}

#[test]
fn files_and_urls_are_one_set() {
    let site = site([(
        "/s.xml",
        xml(urlset(["{}/a"]).replace("</loc>", "</loc><priority>0.5</priority>")),
    )]);
    let bench = Bench::new();
    let local = urlset([site.url("/a")]);
    std::fs::write(bench.0.path().join("local.xml"), local).unwrap();
    let json = bench.json(0, &["local.xml", &site.url("/s.xml")]);
    has(&json, "warning R26 /s.xml:3");
    assert_eq!(json["files"][0]["file"], "local.xml");
    assert_eq!(json["files"][0]["url"], Value::Null);
    assert_eq!(json["files"][1]["file"], site.url("/s.xml"));
}
