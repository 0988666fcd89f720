//! The notes on sites and settings with which a crawl comes to little.

use super::*;

/// Code, count and example of each note.
fn told(crawled: &Crawled) -> Vec<(&'static str, u64, Option<String>)> {
    let notes = crawled.notes.iter();
    notes
        .map(|note| (note.code, note.count, note.example.clone()))
        .collect()
}

fn codes(crawled: &Crawled) -> Vec<&'static str> {
    crawled.notes.iter().map(|note| note.code).collect()
}

async fn failure(bench: &Bench) -> Note {
    match bench.fail().await {
        CrawlError::Start(StartError::Page(note) | StartError::Robots(note)) => note,
        other => panic!("{other:?}"),
    }
}

/// A redirect that sets a cookie.
fn with_cookie(target: &str) -> FixturePage {
    FixturePage::redirect(302, target).with_header("set-cookie", "seen=1")
}

#[tokio::test(start_paused = true)]
async fn links_to_another_name_are_reported() {
    let check = async |links: &[&str], code: Option<&str>| {
        let links = links.iter().copied();
        let crawled = Bench::new(site([("/", FixturePage::linking(links))]))
            .run()
            .await;
        let expected = Vec::from_iter(code);
        assert_eq!(codes(&crawled), expected, "{:?}", crawled.notes);
    };
    let elsewhere = Some("links-lead-elsewhere");
    let www = [
        "https://www.site.example/",
        "https://www.site.example/a",
        "https://www.site.example/b",
    ];
    // Links to the page itself, and to others, do not change that.
    let others = ["/", "#top", "https://social.example/site"];
    check(&[&www[..], &others[..]].concat(), elsewhere).await;
    // As a copy has them, whatever the original is called.
    let original = www.map(|link| link.replace("www.site", "original"));
    let original: Vec<&str> = original.iter().map(String::as_str).collect();
    check(&original, elsewhere).await;
    check(&www[1..2], elsewhere).await;
    check(&["https://partner.example/"], None).await;
    check(&[&www[..], &["/c"][..]].concat(), None).await;
    check(&[], None).await;
}

#[tokio::test(start_paused = true)]
async fn links_out_of_the_directory_are_reported() {
    let links = ["/blog/a", "/blog/b", "/docs/"];
    let bench = Bench::new(site([("/docs/", FixturePage::linking(links))]));
    let crawled = bench.run_from("/docs/").await;
    let expected = ("links-leave-directory", 2, Some(url("/blog/a")));
    assert_eq!(told(&crawled), [expected]);
}

#[tokio::test(start_paused = true)]
async fn canonicals_on_another_host_are_reported() {
    let page = |path: &str, links: &str| {
        FixturePage::html(format!(
            "<title>t</title><link rel=canonical href=\"https://live.example{path}\"><p>{links}</p>"
        ))
    };
    let links = "<a href=/a>a</a> <a href=/b>b</a>";
    let own = || FixturePage::html("<title>b</title><p>text</p>");
    let pages = |start, b| site([("/", start), ("/a", page("/a", "")), ("/b", b)]);
    let crawled = Bench::new(pages(page("/", links), own())).run().await;
    let expected = (
        "canonicals-elsewhere",
        2,
        Some("https://live.example/".to_owned()),
    );
    assert_eq!(told(&crawled), [expected]);
    let text = &crawled.notes[0].text;
    assert!(
        text.contains("--publish-as https://live.example/"),
        "{text}"
    );
    // One of three is the page's own business.
    let start = FixturePage::html(format!("<title>s</title>{links}"));
    let crawled = Bench::new(pages(start, own())).run().await;
    assert_eq!(codes(&crawled), [""; 0]);
    let mut bench = Bench::new(pages(page("/", links), own()));
    bench.config.ignore.canonical = true;
    assert_eq!(codes(&bench.run().await), ["ignored"]);
}

#[tokio::test(start_paused = true)]
async fn start_failures_leave_the_state_closed() {
    let robots = |answer: FixturePage| vec![("/robots.txt", answer)];
    let page = |answer: FixturePage| vec![("/", answer)];
    let status = FixturePage::status;
    let to = |target: &str| FixturePage::redirect(302, target);
    let refused = FixturePage::failing(FetchErrorKind::Connect);
    let disallowing = FixturePage::text("User-agent: *\nDisallow: /\n");
    let elsewhere = to("https://elsewhere.example/");
    for (pages, code, requests) in [
        (robots(status(503)), "robots-unreadable", 3),
        (robots(status(429)), "robots-unreadable", 3),
        (robots(refused.clone()), "start-unreachable", 3),
        (robots(disallowing), "start-disallowed", 1),
        // After robots.txt.
        (page(status(404)), "start-status", 2),
        (page(status(500)), "start-fails", 4),
        (page(refused), "start-unreachable", 4),
        (page(elsewhere), "start-leads-elsewhere", 2),
        (page(to("/")), "start-redirect-loop", 2),
        (page(status(301)), "start-redirect-unusable", 2),
        (page(status(401)), "start-unauthorized", 2),
        (page(status(403)), "start-forbidden", 2),
        // A gate gets its cookie back once.
        (page(with_cookie("/")), "start-wants-cookies", 3),
        (
            vec![("/", with_cookie("/check")), ("/check", to("/"))],
            "start-wants-cookies",
            5,
        ),
    ] {
        let bench = Bench::new(site(pages.clone()));
        let note = failure(&bench).await;
        assert_eq!(note.code, code, "{pages:?}");
        assert!(note.example.is_some(), "{pages:?}");
        let asked = bench.site.requests();
        assert_eq!(asked.len(), requests, "{pages:?}");
        let ended = asked.last().unwrap().ended;
        assert_eq!(ended, Some(Instant::now()), "no wait: {pages:?}");
        let is_closed = bench.store.lock().unwrap().is_some();
        assert!(is_closed, "{pages:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn refused_credentials_are_reported() {
    let mut bench = Bench::new(site([("/", FixturePage::status(401))]));
    let header = (
        "Authorization".to_owned(),
        crate::config::Secret::new("Bearer x"),
    );
    bench.config.fetch.headers = vec![header];
    assert_eq!(failure(&bench).await.code, "credentials-not-sent");
    let start = Identity::default().parse(START).unwrap();
    bench.config.fetch.credential_origins = vec![start.origin()];
    assert_eq!(failure(&bench).await.code, "credentials-refused");
}

#[tokio::test(start_paused = true)]
async fn common_answer_is_reported_at_the_end() {
    let check = async |page: FixturePage, code: &'static str| {
        let paths = ["/a", "/b", "/c", "/d"];
        let with = |bad: usize| {
            let pages = paths.into_iter().enumerate().map(|(number, path)| {
                let good = FixturePage::html("<title>t</title><p>text</p>");
                (path, if number < bad { page.clone() } else { good })
            });
            site(std::iter::once(("/", FixturePage::linking(paths))).chain(pages))
        };
        let crawled = Bench::new(with(3)).run().await;
        assert_eq!(told(&crawled), [(code, 3, Some(url("/a")))]);
        assert_eq!(codes(&Bench::new(with(2)).run().await), [""; 0]);
    };
    check(FixturePage::status(403), "forbidden").await;
    check(FixturePage::status(401), "unauthorized").await;
}

#[tokio::test(start_paused = true)]
async fn a_cookie_gate_is_tried_once_more() {
    for by_way in ["/", "/check"] {
        let script = move |asked: &str, times: usize| match (asked == START, times) {
            (true, 0) => Some(with_cookie(by_way)),
            _ if asked == url("/check") => Some(FixturePage::redirect(302, "/")),
            _ => None,
        };
        let bench = Bench::new(site([("/", FixturePage::linking(["/a"]))]).scripted(script));
        let crawled = bench.run().await;
        assert_eq!(codes(&crawled), ["start-needs-cookies"], "{by_way}");
        let asked = bench.pages();
        assert_eq!(asked.iter().filter(|path| *path == "/").count(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_start_page_that_has_noindex_is_reported() {
    let page = |content: &str| {
        let meta = format!("<meta name=robots content=\"{content}\">");
        FixturePage::html(format!("<title>t</title>{meta}x"))
    };
    let header = FixturePage::html("<title>t</title>x").with_header("x-robots-tag", "noindex");
    for (start, expected) in [
        (page("noindex"), &["start-noindex"][..]),
        (page("none"), &["start-noindex", "start-nofollow"][..]),
        (header, &["start-noindex"][..]),
    ] {
        let bench = Bench::new(site([("/", start.clone())]));
        assert_eq!(codes(&bench.run().await), expected, "{start:?}");
    }
    // When the crawl goes on, too.
    let start = FixturePage::linking(["/a"]).with_header("x-robots-tag", "noindex");
    let mut bench = Bench::new(site([("/", start), ("/a", FixturePage::linking([]))]));
    bench.config.limits.max_pages = 1;
    for _ in 0..2 {
        let crawled = bench.run().await;
        assert_eq!(codes(&crawled), ["start-noindex"]);
        bench.keep(crawled);
    }
    let mut bench = Bench::new(site([("/", page("noindex"))]));
    bench.config.ignore.noindex = true;
    assert_eq!(codes(&bench.run().await), ["ignored"]);
}

#[tokio::test(start_paused = true)]
async fn a_start_page_rendered_by_scripts_is_reported() {
    let shell = "<!doctype html><title>App</title><div id=root></div><script src=/app.js></script>";
    let crawled = Bench::new(site([("/", FixturePage::html(shell))]))
        .run()
        .await;
    assert_noted(&crawled, "JavaScript");
    let crawled = Bench::new(site([("/", FixturePage::linking(["/a"]))]))
        .run()
        .await;
    assert_eq!(codes(&crawled), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn rules_that_match_nothing_are_reported() {
    let pages = || {
        site([
            ("/", FixturePage::linking(["/blog/a", "/news/b"])),
            ("/blog/a", FixturePage::linking([])),
            ("/news/b", FixturePage::linking([])),
        ])
    };
    let check = async |include: &[&str], exclude: &[&str], expected: &[(&str, u64, &str)]| {
        let mut bench = Bench::new(pages());
        bench.config.scope.include = include.iter().map(ToString::to_string).collect();
        bench.config.scope.exclude = exclude.iter().map(ToString::to_string).collect();
        let crawled = bench.run().await;
        let told = told(&crawled);
        let told: Vec<_> = told
            .iter()
            .map(|(code, count, example)| (*code, *count, example.as_deref().unwrap_or_default()))
            .collect();
        assert_eq!(told, expected);
        crawled
    };
    let lost = ("rules-left-all-out", 2, "https://site.example/blog/a");
    let unmatched = |rule: &'static str| ("rule-without-match", 1, rule);
    check(&["/blog/*"], &["/news/*"], &[]).await;
    // What a rule matches is its own, whichever comes first.
    check(&["/blog/*", "/blog/a"], &[], &[]).await;
    let crawled = check(&["/blog/.*"], &[], &[lost, unmatched("/blog/.*")]).await;
    let text = &crawled.notes[1].text;
    assert!(text.contains("`/blog/*`"), "{text}");
    check(
        &["/blgo/*"],
        &["/x/*"],
        &[lost, unmatched("/blgo/*"), unmatched("/x/*")],
    )
    .await;
    check(&["/"], &[], &[lost]).await;
    check(&[], &["/*/*"], &[lost]).await;
    // Before the end nobody knows.
    let mut bench = Bench::new(pages());
    bench.config.scope.exclude = vec!["/x/*".to_owned()];
    bench.config.limits.max_pages = 2;
    assert_eq!(codes(&bench.run().await), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_in_the_other_scheme_is_reported() {
    // The other scheme is answered by the fixture site.
    for (start, code, other) in [
        ("http://site.example:8443/", "speaks-tls", "https"),
        ("https://site.example:8080/", "speaks-plain-http", "http"),
    ] {
        let kinds = [FetchErrorKind::Reset, FetchErrorKind::Protocol];
        let mut answers = kinds.map(FixturePage::failing).to_vec();
        answers.push(match other {
            "https" => FixturePage::status(400),
            _ => FixturePage::failing(FetchErrorKind::Timeout),
        });
        let (_, server) = start.split_once("://").unwrap();
        let expected = format!("use {other}://{}", server.trim_end_matches('/'));
        for answer in answers {
            let robots = format!("{start}robots.txt");
            let pages = [(start, answer.clone()), (robots.as_str(), answer.clone())];
            let bench = Bench::new(site(pages));
            let error = bench.crawl(start, &Shutdown::default()).await.unwrap_err();
            let CrawlError::Start(StartError::Page(note) | StartError::Robots(note)) = error else {
                panic!("{error}");
            };
            assert_eq!(note.code, code, "{start} {answer:?}");
            assert!(note.text.ends_with(&expected), "{}", note.text);
        }
    }
}
