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
    match bench.crawl(START, &Shutdown::default()).await {
        Err(CrawlError::Start(StartError::Page(note) | StartError::Robots(note))) => note,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_start_page_whose_links_all_lead_to_another_name_of_the_site_says_so() {
    let at = |origin: &str, rest: &[&'static str]| -> Vec<String> {
        let paths = ["/", "/a", "/b"].map(|path| format!("{origin}{path}"));
        paths
            .into_iter()
            .chain(rest.iter().map(|link| (*link).to_owned()))
            .collect()
    };
    let check = async |links: Vec<String>, code: Option<&str>| {
        let links = links.iter().map(String::as_str);
        let bench = Bench::new(site([("/", FixturePage::linking(links))]));
        let crawled = bench.run().await;
        let told: Vec<_> = told(&crawled).into_iter().map(|(code, ..)| code).collect();
        assert_eq!(told, Vec::from_iter(code), "{:?}", crawled.notes);
    };
    let elsewhere = Some("links-lead-elsewhere");
    for origin in [
        "https://www.site.example",
        "http://site.example",
        "https://site.example:8443",
        "https://m.site.example",
    ] {
        // Links to the page itself, and to others, do not change that.
        let rest = ["/", "#top", "https://social.example/site"];
        check(at(origin, &rest), elsewhere).await;
    }
    // As a copy has them, whatever the original is called.
    check(at("https://original.example", &[]), elsewhere).await;
    check(vec!["https://www.site.example/a".to_owned()], elsewhere).await;
    check(vec!["https://partner.example/".to_owned()], None).await;
    check(at("https://www.site.example", &["/c"]), None).await;
    check(Vec::new(), None).await;
}

#[tokio::test(start_paused = true)]
async fn a_start_page_whose_links_all_leave_its_directory_says_so() {
    let links = ["/blog/a", "/blog/b", "/docs/"];
    let bench = Bench::new(site([("/docs/", FixturePage::linking(links))]));
    let start = url("/docs/");
    let crawled = bench.crawl(&start, &Shutdown::default()).await.unwrap();
    let expected = ("links-leave-directory", 2, Some(url("/blog/a")));
    assert_eq!(told(&crawled), [expected]);
}

#[tokio::test(start_paused = true)]
async fn canonicals_of_most_pages_on_another_host_are_reported_with_the_option_for_copies() {
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
async fn a_start_page_that_wants_credentials_or_refuses_is_reported_with_the_way_out() {
    let bench = Bench::new(site([("/", FixturePage::status(401))]));
    let note = failure(&bench).await;
    assert_eq!(note.code, "start-unauthorized");
    assert!(note.text.contains("basic_auth"), "{}", note.text);
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
    let bench = Bench::new(site([("/", FixturePage::status(403))]));
    let note = failure(&bench).await;
    assert_eq!(note.code, "start-forbidden");
    assert!(note.text.contains("--user-agent"), "{}", note.text);
    assert_eq!(note.example, Some(START.to_owned()));
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
async fn pages_that_want_their_cookie_back_are_reported() {
    let with_cookie =
        |target: &str| FixturePage::redirect(302, target).with_header("set-cookie", "seen=1");
    let bench = Bench::new(site([("/", with_cookie("/"))]));
    assert_eq!(failure(&bench).await.code, "start-wants-cookies");
    // By way of another URL.
    let bench = Bench::new(site([
        ("/", with_cookie("/check")),
        ("/check", FixturePage::redirect(302, "/")),
    ]));
    let note = failure(&bench).await;
    assert_eq!(note.code, "start-wants-cookies");
    assert!(note.text.contains("does not send back"), "{}", note.text);
    let bench = Bench::new(site([("/", FixturePage::redirect(302, "/"))]));
    assert_eq!(failure(&bench).await.code, "start-redirect-loop");
    let bench = Bench::new(site([
        ("/", FixturePage::linking(["/a", "/b"])),
        ("/a", with_cookie("/a")),
        ("/b", with_cookie("/b")),
    ]));
    let visits = visits(&bench.run().await);
    assert_eq!(visits["/a"].reason, Reason::NeedsCookie);
}

#[tokio::test(start_paused = true)]
async fn a_gate_that_sets_a_cookie_is_tried_once_more() {
    let first = |target: &str| FixturePage::redirect(302, target).with_header("set-cookie", "a=1");
    for by_way in ["/", "/check"] {
        let script = move |asked: &str, times: usize| match (asked == START, times) {
            (true, 0) => Some(first(by_way)),
            _ if asked == url("/check") => Some(FixturePage::redirect(302, "/")),
            _ => None,
        };
        let bench = Bench::new(site([("/", FixturePage::linking(["/a"]))]).scripted(script));
        let crawled = bench.run().await;
        assert_eq!(codes(&crawled), ["start-needs-cookies"], "{by_way}");
        let asked = bench.site.requests().into_iter();
        let asked = asked.filter(|request| request.url == START);
        assert_eq!(asked.count(), 2, "{by_way}");
    }
    let bench = Bench::new(site([("/", first("/"))]));
    failure(&bench).await;
    let asked = bench.site.requests().into_iter();
    assert_eq!(asked.filter(|request| request.url == START).count(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_start_page_that_has_noindex_is_reported() {
    let page = |content: &str| {
        let meta = format!("<meta name=robots content=\"{content}\">");
        site([("/", FixturePage::html(format!("<title>t</title>{meta}x")))])
    };
    assert_eq!(
        codes(&Bench::new(page("noindex")).run().await),
        ["start-noindex"]
    );
    let crawled = Bench::new(page("none")).run().await;
    assert_eq!(codes(&crawled), ["start-noindex", "start-nofollow"]);
    let start = FixturePage::html("<title>t</title>x").with_header("x-robots-tag", "noindex");
    let bench = Bench::new(site([("/", start)]));
    assert_eq!(codes(&bench.run().await), ["start-noindex"]);
    // When the crawl goes on, too.
    let start = FixturePage::linking(["/a"]).with_header("x-robots-tag", "noindex");
    let mut bench = Bench::new(site([("/", start), ("/a", FixturePage::linking([]))]));
    bench.config.limits.max_pages = 1;
    for _ in 0..2 {
        let crawled = bench.run().await;
        assert_eq!(codes(&crawled), ["start-noindex"]);
        bench.keep(crawled);
    }
    let mut bench = Bench::new(page("noindex"));
    bench.config.ignore.noindex = true;
    assert_eq!(codes(&bench.run().await), ["ignored"]);
}

#[tokio::test(start_paused = true)]
async fn a_rule_that_matches_nothing_is_reported_when_the_crawl_is_done() {
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
async fn a_start_that_is_answered_in_the_other_scheme_is_reported_with_the_url_that_works() {
    let check = async |start: &str, page: FixturePage, code: &str, expected: &str| {
        let origin = start.trim_end_matches('/');
        let pages = [
            (format!("{origin}/robots.txt"), page.clone()),
            (start.to_owned(), page),
        ];
        let pages = pages.iter().map(|(url, page)| (url.as_str(), page.clone()));
        let bench = Bench::new(FixtureSite::new(pages));
        let error = bench.crawl(start, &Shutdown::default()).await.unwrap_err();
        let CrawlError::Start(StartError::Page(note) | StartError::Robots(note)) = error else {
            panic!("{error}");
        };
        assert_eq!(note.code, code);
        assert!(note.text.ends_with(expected), "{}", note.text);
    };
    // The other scheme is answered by the fixture site.
    let tls = |kind| FixturePage::failing(kind);
    for kind in [FetchErrorKind::Reset, FetchErrorKind::Protocol] {
        check(
            "http://site.example:8443/",
            tls(kind),
            "speaks-tls",
            "use https://site.example:8443",
        )
        .await;
        check(
            "https://site.example:8080/",
            tls(kind),
            "speaks-plain-http",
            "use http://site.example:8080",
        )
        .await;
    }
    check(
        "http://site.example:8443/",
        FixturePage::status(400),
        "speaks-tls",
        "use https://site.example:8443",
    )
    .await;
    let refused = tls(FetchErrorKind::Connect);
    check(
        "http://site.example/",
        refused,
        "start-unreachable",
        "its name and port",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn last_try_of_a_start_is_not_waited_after() {
    let refused = || FixturePage::failing(FetchErrorKind::Connect);
    for pages in [
        vec![("/robots.txt", refused())],
        vec![("/robots.txt", FixturePage::text("")), ("/", refused())],
    ] {
        let bench = Bench::new(site(pages));
        assert_eq!(failure(&bench).await.code, "start-unreachable");
        let tries = bench.site.requests();
        assert_eq!(tries.last().unwrap().ended, Some(Instant::now()));
    }
}
