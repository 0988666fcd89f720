//! Other spellings of the site: which are its names, what is asked of them, and what URLs mean that use them.

use super::{
    recrawl::{Says, bench, run},
    *,
};
use crate::testing::SeenRequest;

const SPELLINGS: [&str; 3] = [
    "https://www.site.example",
    "http://site.example",
    "http://www.site.example",
];

/// A site of sixty pages, whose spellings answer by `spelled`: the spelling, and path and query.
fn spelled(
    spelled: impl Fn(&str, &str) -> Option<FixturePage> + Send + Sync + 'static,
) -> (Bench, Says) {
    let (mut bench, says) = bench();
    let own = bench.site.script().unwrap();
    bench.site = FixtureSite::default().scripted(move |asked, times| {
        let spelling = SPELLINGS.iter().find(|spelling| {
            let rest = asked.strip_prefix(**spelling);
            rest.is_some_and(|rest| rest.starts_with('/'))
        });
        match spelling {
            Some(spelling) => spelled(spelling, &asked[spelling.len()..]),
            None => own(asked, times),
        }
    });
    bench.config.discover = DiscoverConfig::default();
    (bench, says)
}

/// Every address redirects to the same of the site.
#[expect(clippy::unnecessary_wraps, reason = "one of several scripts")]
fn redirects(_: &str, path: &str) -> Option<FixturePage> {
    Some(FixturePage::redirect(
        301,
        &format!("https://site.example{path}"),
    ))
}

fn paths() -> Vec<String> {
    (0..60).map(|number| format!("/p{number}")).collect()
}

/// Links to all pages, each of which begins with `origin`.
fn linked(origin: &str) -> String {
    let link = |path: &String| format!("<a href='{origin}{path}'>{path}</a>");
    paths().iter().map(link).collect::<Vec<_>>().concat()
}

/// The pages of the site, each with the `head`, in which `*` is its path; their links begin with `origin`.
fn write(says: &Says, origin: &str, head: &str) {
    for path in std::iter::once("/".to_owned()).chain(paths()) {
        let links = linked(origin);
        let head = head.replace('*', &path);
        says.html(
            &path,
            &format!("{head}<title>{path}</title><p>The text of {path}.</p>{links}"),
        );
    }
}

/// Requests to other spellings.
fn elsewhere(requests: &[SeenRequest]) -> Vec<&str> {
    let urls = requests.iter().map(|request| request.url.as_str());
    urls.filter(|url| !url.starts_with("https://site.example/"))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn urls_that_use_a_name_mean_the_site() {
    for name in SPELLINGS {
        for (links, head) in [
            (name, String::new()),
            ("", format!("<base href='{name}/x/'>")),
            ("", format!("<link rel=canonical href='{name}*'>")),
            (
                name,
                format!(
                    "<link rel=canonical href='{name}*'><link rel=alternate hreflang=en href='{name}*'>"
                ),
            ),
        ] {
            let (mut bench, says) = spelled(redirects);
            write(&says, links, &head);
            let ran = run(&mut bench).await;
            assert_eq!(ran.listed().len(), 61, "{name} {links} {head}");
            let requests = elsewhere(&ran.requests);
            // robots.txt and the path of the start page of each.
            assert_eq!(requests.len(), 6, "{requests:?}");
            // The same by 304, without a question to a name that is known.
            let again = run(&mut bench).await;
            assert_eq!(again.listed().len(), 61, "{name} {links} {head}");
            let requests = elsewhere(&again.requests);
            assert!(requests.len() <= 2, "{requests:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn redirects_and_sitemaps_may_use_a_name() {
    let (mut bench, says) = spelled(redirects);
    says.link("/", &["/a"]);
    // A proxy that ends TLS: the server behind it does not know of it.
    says.set("/a", FixturePage::redirect(301, "http://site.example/a/"));
    says.html(
        "/a/",
        "<meta http-equiv=refresh content='0; url=http://site.example/b/'>",
    );
    says.link("/b/", &[]);
    let mut robots = FixturePage::html("Sitemap: http://www.site.example/map.xml");
    robots.headers[0].1 = "text/plain".to_owned();
    says.set("/robots.txt", robots);
    let mut map = FixturePage::html(
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>http://www.site.example/c</loc></url></urlset>",
    );
    map.headers[0].1 = "application/xml".to_owned();
    says.set("/map.xml", map);
    says.link("/c", &[]);
    let ran = run(&mut bench).await;
    assert_eq!(ran.listed(), ["/", "/b/", "/c"]);
}

#[tokio::test(start_paused = true)]
async fn spelling_becomes_a_name_on_evidence() {
    let start = |says: &Says| write(says, "http://site.example", "");
    let check = async |answer: fn(&str, &str) -> Option<FixturePage>, listed: usize| {
        let (mut bench, says) = spelled(answer);
        start(&says);
        let ran = run(&mut bench).await;
        assert_eq!(ran.listed().len(), listed);
    };
    // The start page redirects to another path, other addresses to the same.
    check(
        |spelling, path| match path {
            "/" => Some(FixturePage::redirect(302, "https://site.example/en/")),
            path => redirects(spelling, path),
        },
        61,
    )
    .await;
    // By way of another name.
    check(
        |spelling, path| match spelling {
            "http://site.example" => Some(FixturePage::redirect(
                301,
                &format!("https://www.site.example{path}"),
            )),
            spelling => redirects(spelling, path),
        },
        61,
    )
    .await;
    // Every address redirects to the start page.
    check(
        |_, _| Some(FixturePage::redirect(301, "https://site.example/")),
        61,
    )
    .await;
    // Something else is there, nothing is there, or it is down.
    check(|_, _| Some(FixturePage::html("<p>Welcome to nginx")), 1).await;
    check(|_, _| Some(FixturePage::status(404)), 1).await;
    check(|_, _| Some(FixturePage::status(503)), 1).await;
    check(|_, _| None, 1).await;
    // Its start page is the same to the letter, but for its addresses.
    for (text, listed) in [("The text of /.", 61), ("Another text.", 1)] {
        let (mut bench, says) = spelled(move |spelling, path| {
            let links = linked(spelling);
            let page = format!("<title>/</title><p>{text}</p>{links}");
            (path == "/").then(|| FixturePage::html(page))
        });
        start(&says);
        assert_eq!(run(&mut bench).await.listed().len(), listed, "{text}");
    }
    // The site asks for https in its place.
    for (name, value, listed) in [
        (
            "strict-transport-security",
            "max-age=31536000; includeSubDomains",
            61,
        ),
        ("strict-transport-security", "max-age=0", 1),
        (
            "content-security-policy",
            "default-src 'self'; upgrade-insecure-requests",
            61,
        ),
        ("content-security-policy", "default-src https:", 1),
    ] {
        let (mut bench, says) = spelled(|_, _| None);
        start(&says);
        let page = says.0.lock().unwrap()["/"].clone();
        says.set("/", page.with_header(name, value));
        let ran = run(&mut bench).await;
        assert_eq!(ran.listed().len(), listed, "{name}: {value}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_name_stays_until_an_answer_contradicts() {
    let state = Arc::new(Mutex::new("name"));
    let now = Arc::clone(&state);
    let (mut bench, says) = spelled(move |spelling, path| match *now.lock().unwrap() {
        "name" => redirects(spelling, path),
        "down" => Some(FixturePage::status(503)),
        _ => Some(FixturePage::status(404)),
    });
    write(&says, "http://site.example", "");
    assert_eq!(run(&mut bench).await.listed().len(), 61);
    let again = run(&mut bench).await;
    assert_eq!(again.listed().len(), 61);
    assert!(elsewhere(&again.requests).is_empty(), "a known name");
    *state.lock().unwrap() = "down";
    for _ in 0..8 {
        assert_eq!(run(&mut bench).await.listed().len(), 61);
    }
    *state.lock().unwrap() = "gone";
    bench.config.removal.keep_failing = Duration::ZERO;
    let mut lost = 0;
    for _ in 0..8 {
        // Pages that nothing leads to are asked for all the same, and stay.
        let ran = run(&mut bench).await;
        assert_eq!(ran.listed().len(), 61);
        lost += elsewhere(&ran.requests).len();
    }
    // Each spelling once: robots.txt, its start page, and what cannot exist.
    assert!((9..=12).contains(&lost), "{lost}");
}

#[tokio::test(start_paused = true)]
async fn a_redirect_to_a_name_is_followed_once() {
    let (mut bench, says) = spelled(|spelling, path| match path {
        "/there" => Some(FixturePage::html("<p>not on the site")),
        "/on" => Some(FixturePage::redirect(302, "https://site.example/end")),
        "/gone" => Some(FixturePage::status(404)),
        path => redirects(spelling, path),
    });
    let all = ["/there", "/on", "/gone", "/back"];
    says.link("/", &all);
    says.link("/end", &[]);
    for path in all {
        says.set(
            path,
            FixturePage::redirect(301, &format!("http://site.example{path}")),
        );
    }
    let ran = run(&mut bench).await;
    assert_eq!(ran.reason("/there"), Reason::RedirectedOutOfScope);
    assert_eq!(ran.reason("/on"), Reason::Redirected);
    assert_eq!(ran.reason("/end"), Reason::Listed);
    assert_eq!(ran.reason("/gone"), Reason::Gone);
    assert_eq!(ran.reason("/back"), Reason::RedirectLoop);
    for path in all {
        let asked = |origin: &str| {
            let url = format!("{origin}{path}");
            ran.requests
                .iter()
                .filter(|request| request.url == url)
                .count()
        };
        assert_eq!(
            (asked("https://site.example"), asked("http://site.example")),
            (1, 1),
            "{path}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_redirect_to_another_writing_is_followed_once() {
    type Written = fn(&str) -> String;
    let sessions: [Written; 6] = [
        |path| format!("{path};jsessionid=0123456789ABCDEF0123"),
        |path| format!("{path}?PHPSESSID=abcdef0123456789abcdef0123"),
        |path| format!("/(S(lit3py55t21z5v55vlm25s55)){path}"),
        |path| format!("{path}?utm_source=x"),
        |path| path.replace('p', "%70"),
        |path| format!("{path}?"),
    ];
    for written in sessions {
        for has_way in [true, false] {
            let (mut bench, says) = bench();
            let inner = says.clone();
            bench.site = FixtureSite::default().scripted(move |asked, _| {
                let path = asked.strip_prefix("https://site.example")?;
                let own: Vec<String> = paths().into_iter().chain(["/".to_owned()]).collect();
                let is_other = |own: &&String| *own == path && written(own) != path;
                if let Some(path) = own.iter().find(is_other) {
                    let target = format!("https://site.example{}", written(path));
                    return Some(FixturePage::redirect(302, &target));
                }
                let path = own.into_iter().find(|own| written(own) == path)?;
                let back = FixturePage::redirect(302, &format!("https://site.example{path}"));
                if has_way {
                    let page = inner.0.lock().unwrap().get(&path).cloned();
                    page.map(|page| page.with_header("etag", "\"1\""))
                } else {
                    Some(back)
                }
            });
            write(&says, "", "");
            if has_way {
                let ran = run(&mut bench).await;
                assert_eq!(ran.listed().len(), 61, "{}", written("/p1"));
                let first = ran.requests.len();
                let again = run(&mut bench).await;
                assert_eq!(again.listed().len(), 61, "{}", written("/p1"));
                assert!(again.not_modified > 50, "{}", again.not_modified);
                assert!(again.requests.len() <= first, "{}", written("/p1"));
            } else if written("/") != "/" {
                let failed = bench.crawl(START, &Shutdown::default()).await;
                assert!(failed.is_err(), "{}", written("/p1"));
                assert_eq!(bench.site.requests().len(), 3);
            }
        }
    }
}

/// Some servers know a path only as a link has it.
#[tokio::test(start_paused = true)]
async fn a_missing_page_is_tried_with_other_escapes() {
    for (link, key, is_there) in [
        ("/a%2fb", "/a%2Fb", true),
        ("/x[1]", "/x%5B1%5D", true),
        ("/y?q=[a]|%c3%a9", "/y?q=%5Ba%5D%7C%C3%A9", true),
        ("/gone%2fb", "/gone%2Fb", false),
        ("/gone", "/gone", false),
    ] {
        let site = FixtureSite::default().scripted(move |asked, _| {
            let path = asked.strip_prefix("https://site.example")?;
            match path {
                "/" => Some(FixturePage::linking([link])),
                _ if path == link && is_there => Some(FixturePage::linking(["/behind"])),
                "/behind" => Some(FixturePage::linking([])),
                _ => None,
            }
        });
        let bench = Bench::new(site);
        let crawled = bench.run().await;
        let mut expected = vec![
            (key.to_owned(), Reason::Gone),
            ("/".to_owned(), Reason::Listed),
        ];
        if is_there {
            expected[0].1 = Reason::Listed;
            expected.push(("/behind".to_owned(), Reason::Listed));
        }
        expected.sort();
        assert_eq!(reasons(&crawled), expected, "{link}");
        let asked = bench
            .pages()
            .into_iter()
            .filter(|path| path.starts_with(&key[..2]));
        let tries = if key.contains('%') { 2 } else { 1 };
        assert_eq!(asked.count(), tries, "{link}");
    }
}
