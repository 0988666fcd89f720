//! Sitemaps and feeds beside the pages, in virtual time: the order of their requests, their hosts, and the reports on them.

use std::path::Path;

use super::{
    page_or_document::{LINKS_FEED, LINKS_LATE, NAMES_FEED},
    random::Random,
    *,
};
use crate::{
    fetch::FetchErrorKind,
    seeds::{self, DocumentState, MAX_OTHER_HOSTS, SeedProblem},
    store::Effect,
};

pub(super) fn urlset(paths: impl IntoIterator<Item = String>) -> FixturePage {
    let mut text = "<urlset>".to_owned();
    for path in paths {
        text.extend(["<url><loc>", &url(&path), "</loc></url>"]);
    }
    FixturePage::text(&(text + "</urlset>"))
}

fn index(paths: impl IntoIterator<Item = String>) -> FixturePage {
    let mut text = "<sitemapindex>".to_owned();
    for path in paths {
        text.extend(["<sitemap><loc>", &url(&path), "</loc></sitemap>"]);
    }
    FixturePage::text(&(text + "</sitemapindex>"))
}

pub(super) fn discovering(site: FixtureSite) -> Bench {
    let mut bench = Bench::new(site);
    bench.config.discover = DiscoverConfig::default();
    bench
}

pub(super) fn orphans(crawled: &Crawled) -> BTreeSet<String> {
    let rows = crawled.store.rows_from(None).into_iter();
    let orphans = rows.filter(|(_, _, visit)| visit.as_ref().is_some_and(|visit| visit.is_orphan));
    let orphans = orphans.map(|(key, ..)| key.path_and_query().to_owned());
    orphans.collect()
}

pub(super) fn problems(crawled: &Crawled) -> Vec<(String, Option<SeedProblem>)> {
    let documents = seeds::documents(&crawled.store).unwrap();
    documents
        .into_iter()
        .map(|document| {
            assert_ne!(document.state, DocumentState::Waiting, "{}", document.name);
            (document.name, document.problem)
        })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_document_does_not_wait_for_all_pages() {
    // The pages alone would take all turns of the host: there is always one more to ask for.
    let links: Vec<String> = (0..60).map(|number| format!("/{number}")).collect();
    let mut answers = vec![
        ("/", linking(&links)),
        ("/robots.txt", FixturePage::text("Sitemap: /index.xml")),
        (
            "/index.xml",
            index(["/a.xml".to_owned(), "/b.xml".to_owned()]),
        ),
        ("/a.xml", urlset(["/seed-a".to_owned()])),
        ("/b.xml", urlset(["/seed-b".to_owned()])),
    ];
    let empty = || FixturePage::linking([]);
    answers.extend(links.iter().map(|path| (path.as_str(), empty())));
    let mut bench = discovering(site(answers));
    bench.config.politeness.rate = Rate::PerSecond(10.0);
    bench.run().await;
    let order = bench.pages();
    let place = |path: &str| order.iter().position(|asked| asked == path).unwrap();
    for document in ["/index.xml", "/a.xml", "/b.xml"] {
        assert!(place(document) < 10, "{document}: {order:?}");
    }
    let requests = bench.site.requests();
    for pair in requests.windows(2) {
        let gap = pair[1].begun - pair[0].begun;
        assert!(
            gap >= Duration::from_millis(100),
            "{gap:?} before {}",
            pair[1].url
        );
    }
}

#[tokio::test(start_paused = true)]
async fn pages_do_not_wait_for_all_documents() {
    let maps: Vec<String> = (0..50).map(|number| format!("/{number}.xml")).collect();
    let links: Vec<String> = (0..50).map(|number| format!("/{number}")).collect();
    let mut answers = vec![
        ("/", linking(&links)),
        ("/sitemap.xml", index(maps.clone())),
    ];
    let of = |path: &String| urlset([format!("/of{path}")]);
    answers.extend(maps.iter().map(|path| (path.as_str(), of(path))));
    for delay in [None, Some(Duration::from_secs(1))] {
        let mut bench = discovering(site(answers.clone()));
        bench.config.politeness.rate = Rate::PerSecond(10.0);
        bench.config.politeness.delay = delay;
        bench.config.limits.max_pages = 10;
        let crawled = bench.run().await;
        assert_eq!(crawled.ending, Ending::LimitReached);
        let (documents, pages): (Vec<String>, Vec<String>) =
            bench.pages().into_iter().partition(|path| {
                Path::new(path).extension() == Some("xml".as_ref()) && !path.starts_with("/of")
            });
        assert_eq!(pages.len(), 10);
        assert!((5..=12).contains(&documents.len()), "{documents:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_postponed_document_is_read_next_time() {
    let wait = FixturePage::status(503).with_header("retry-after", "3600");
    let home = FixturePage::linking([]);
    let site = site([("/", home), ("/sitemap.xml", urlset(["/seed".to_owned()]))]).scripted(
        move |asked, earlier| (asked == url("/sitemap.xml") && earlier == 0).then(|| wait.clone()),
    );
    let bench = discovering(site);
    let crawled = bench.run().await;
    assert_eq!(crawled.ending, Ending::Drained);
    let failed = [(url("/sitemap.xml"), Some(SeedProblem::ServerError))];
    assert_eq!(problems(&crawled), failed);
    bench.finish(crawled);
    let crawled = bench.run().await;
    assert_eq!(crawled.ending, Ending::Drained);
    assert_eq!(orphans(&crawled), BTreeSet::from(["/seed".to_owned()]));
}

/// An index may name thousands of files that are large and name nothing.
#[tokio::test(start_paused = true)]
async fn a_session_reads_so_many_bytes_of_documents() {
    let paths: Vec<String> = (0..12).map(|number| format!("/{number}.xml")).collect();
    let mut pages = vec![
        ("/".to_owned(), FixturePage::linking([])),
        ("/sitemap.xml".to_owned(), index(paths.clone())),
    ];
    for (number, path) in paths.into_iter().enumerate() {
        let mut map = urlset([format!("/seed{number}")]);
        map.body.resize(1 << 17, b' ');
        pages.push((path, map));
        pages.push((format!("/seed{number}"), FixturePage::linking([])));
    }
    let crawled = discovering(site(pages)).run().await;
    let problems = problems(&crawled);
    let unread = problems
        .iter()
        .filter(|(_, problem)| *problem == Some(SeedProblem::TooMany));
    assert_eq!(unread.count(), 4, "{problems:?}");
    assert_eq!(crawl_state::not_recorded(&crawled.store).unwrap(), 4);
}

#[tokio::test(start_paused = true)]
async fn documents_lead_to_a_bounded_number_of_hosts() {
    async fn check(
        way: &str,
        documents: impl Iterator<Item = String>,
        script: impl Fn(&str) -> Option<FixturePage> + Send + Sync + 'static,
    ) {
        let lines = documents.map(|name| format!("Sitemap: {name}\n"));
        let robots = FixturePage::text(&lines.collect::<String>());
        let pages = [("/", FixturePage::linking([])), ("/robots.txt", robots)];
        let site = site(pages).scripted(move |asked, _| script(asked));
        let bench = discovering(site);
        let crawled = bench.run().await;
        let requests = bench.site.requests();
        let hosts = requests
            .iter()
            .filter_map(|seen| seen.url.split('/').nth(2));
        let hosts: BTreeSet<&str> = hosts.collect();
        // One more is the site's own.
        assert_eq!(hosts.len(), MAX_OTHER_HOSTS + 1, "{way}: {hosts:?}");
        let problems = problems(&crawled).into_iter();
        let failed: Vec<SeedProblem> = problems.filter_map(|(_, problem)| problem).collect();
        assert_eq!(failed, [SeedProblem::TooMany; 4], "{way}");
    }
    /// The document at one of the hosts.
    fn map(asked: &str) -> Option<FixturePage> {
        let number = asked.strip_prefix("https://h")?;
        let number = number.strip_suffix(".example/map.xml")?;
        Some(urlset([format!("/seed{number}")]))
    }
    let named = (0..20).map(|number| format!("https://h{number}.example/map.xml"));
    check("documents", named, map).await;
    let redirected = (0..20).map(|number| url(&format!("/{number}.xml")));
    check("redirects", redirected, |asked| {
        let number = asked.strip_prefix(START).and_then(|name| {
            let number = name.strip_suffix(".xml")?;
            number.parse::<u32>().ok()
        });
        let to_host = |number: u32| {
            let target = format!("https://h{number}.example/map.xml");
            FixturePage::redirect(302, &target)
        };
        number.map(to_host).or_else(|| map(asked))
    })
    .await;
    // Each document has a host of its own, and each robots.txt is five hosts away.
    let named = (0..6).map(|number| format!("https://h{number}-0.example/map.xml"));
    check("robots.txt", named, |asked| {
        let rest = asked.strip_prefix("https://h")?;
        let (name, path) = rest.split_once(".example")?;
        let (number, hop) = name.split_once('-')?;
        let hop: u32 = hop.parse().ok()?;
        Some(match (path, hop) {
            ("/robots.txt", 0..5) => {
                let next = hop + 1;
                let target = format!("https://h{number}-{next}.example/robots.txt");
                FixturePage::redirect(302, &target)
            }
            ("/robots.txt", _) => FixturePage::text("User-agent: *\nDisallow: /private"),
            _ => urlset([format!("/from-{number}")]),
        })
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_failing_document_elsewhere_costs_no_page() {
    let (there, robots) = (
        "https://files.example/1.xml",
        "https://files.example/robots.txt",
    );
    let wait = FixturePage::status(503).with_header("retry-after", "3600");
    let forbidden = FixturePage::failing(FetchErrorKind::Forbidden);
    for (asked, answer, problem, passing) in [
        (there, wait, SeedProblem::ServerError, 1),
        (robots, forbidden, SeedProblem::Forbidden, 0),
    ] {
        let named = FixturePage::text(&format!("Sitemap: {there}"));
        let bench = discovering(site([
            ("/", FixturePage::linking(["/a"])),
            ("/a", FixturePage::linking([])),
            ("/robots.txt", named),
            (asked, answer),
        ]));
        let crawled = bench.run().await;
        assert_eq!(crawled.ending, Ending::Drained, "{asked}");
        assert_eq!(with_reason(&crawled, Reason::Listed), ["/", "/a"]);
        let expected = [(there.to_owned(), Some(problem))];
        assert_eq!(problems(&crawled), expected);
        let tally = seeds::Tally::read(&crawled.store).unwrap();
        assert_eq!((tally.with_problems, tally.passing), (1, passing));
    }
}

#[tokio::test(start_paused = true)]
async fn ignored_rules_are_those_of_the_site() {
    let mut bench = discovering(site([
        ("/", FixturePage::linking([])),
        ("/seed", FixturePage::linking([])),
        (
            "/robots.txt",
            FixturePage::text(
                "User-agent: *\nDisallow: /\nSitemap: /map.xml\nSitemap: https://files.example/map.xml",
            ),
        ),
        ("/map.xml", urlset(["/seed".to_owned()])),
        (
            "https://files.example/robots.txt",
            FixturePage::text("User-agent: *\nDisallow: /"),
        ),
    ]));
    bench.config.ignore.robots = true;
    let crawled = bench.run().await;
    assert_eq!(with_reason(&crawled, Reason::Listed), ["/", "/seed"]);
    let expected = [
        (url("/map.xml"), Some(SeedProblem::RelativeUrl)),
        (
            "https://files.example/map.xml".to_owned(),
            Some(SeedProblem::RobotsDisallowed),
        ),
    ];
    assert_eq!(problems(&crawled), expected);
}

/// A site as in [`random`], and an index of sitemaps that name some of its pages and some others.
fn random_seeds(seed: u64) -> (FixtureSite, BTreeSet<String>) {
    let (site, reachable) = random::random_site(seed);
    let mut random = Random(seed ^ 0x5eed);
    let mut maps = Vec::new();
    let mut named = BTreeSet::new();
    for number in 0..=random.below(4) {
        let paths: Vec<String> = (0..random.below(30))
            .map(|_| format!("/{}", random.below(120)))
            .map(|path| path.replace("/0", "/"))
            .collect();
        named.extend(paths.iter().cloned());
        maps.push((url(&format!("/{number}.xml")), urlset(paths)));
    }
    let children = (0..=maps.len()).map(|number| format!("/{number}.xml"));
    maps.push((url("/sitemap.xml"), index(children)));
    let maps: std::collections::HashMap<_, _> = maps.into_iter().collect();
    let script = site.script();
    let site = site.scripted(move |asked, earlier| {
        let map = maps.get(asked).cloned();
        map.or_else(|| script.as_ref().and_then(|script| script(asked, earlier)))
    });
    let orphans = named.difference(&reachable).cloned().collect();
    (site, orphans)
}

#[tokio::test(start_paused = true)]
async fn resumed_crawls_lose_no_seed_and_no_orphan() {
    for seed in 0..60 {
        let (site, named) = random_seeds(seed);
        let whole = discovering(site).run().await;
        assert!(orphans(&whole).is_subset(&named), "seed {seed}");
        let (site, _) = random_seeds(seed);
        let crawled = random::run_with_stops(&discovering(site), seed).await;
        assert_eq!(reasons(&crawled), reasons(&whole), "seed {seed}");
        assert_eq!(orphans(&crawled), orphans(&whole), "seed {seed}");
        assert_eq!(problems(&crawled), problems(&whole), "seed {seed}");
    }
}

/// Requests for the path.
pub(super) fn asked(bench: &Bench, path: &str) -> usize {
    bench.pages().iter().filter(|asked| *asked == path).count()
}

#[tokio::test(start_paused = true)]
async fn a_broken_file_differs_from_a_broken_answer() {
    const WHOLE: &str = "<urlset><url><loc>https://site.example/a</loc></url></urlset>";
    async fn check(
        answers: &'static [&'static str],
        says_length: bool,
        requests: usize,
        expected: Option<SeedProblem>,
    ) {
        let script = move |asked: &str, earlier: usize| {
            (asked == url("/sitemap.xml")).then(|| {
                let body = answers[earlier.min(answers.len() - 1)];
                let page = FixturePage::text(body);
                if says_length {
                    page.with_header("content-length", &body.len().to_string())
                } else {
                    page
                }
            })
        };
        let bench = discovering(site([("/", FixturePage::linking([]))]).scripted(script));
        let crawled = bench.run().await;
        assert_eq!(asked(&bench, "/sitemap.xml"), requests, "{answers:?}");
        assert_eq!(problems(&crawled), [(url("/sitemap.xml"), expected)]);
        assert!(orphans(&crawled).contains("/a"), "{answers:?}");
        let tally = seeds::Tally::read(&crawled.store).unwrap();
        let is_passing = expected == Some(SeedProblem::CutShort);
        assert_eq!(tally.passing, u64::from(is_passing));
    }
    const CUT: &str = "<urlset><url><loc>https://site.example/a</loc></url><url><lo";
    const CUT_LATER: &str = "<urlset><url><loc>https://site.example/a</loc></url><url><loc>ht";
    check(&[WHOLE], false, 1, None).await;
    check(&[CUT], true, 1, Some(SeedProblem::Truncated)).await;
    check(&[CUT], false, 2, Some(SeedProblem::Truncated)).await;
    check(&[CUT, CUT_LATER], false, 2, Some(SeedProblem::CutShort)).await;
    check(&[CUT, WHOLE], false, 2, None).await;
}

#[tokio::test(start_paused = true)]
async fn our_own_index_may_be_missing_at_first() {
    async fn check(index: &str, public_url: Option<&str>, page: FixturePage, expected: bool) {
        check_after(false, index, public_url, page, expected).await;
    }
    async fn check_after(
        is_published: bool,
        index: &str,
        public_url: Option<&str>,
        page: FixturePage,
        expected: bool,
    ) {
        let robots = FixturePage::text(&format!("Sitemap: {index}"));
        let own = if index.starts_with('/') {
            url(index)
        } else {
            index.to_owned()
        };
        let script = move |asked: &str, _: usize| {
            let is_elsewhere = asked.starts_with("https://files.example/");
            (is_elsewhere || asked == own).then(|| page.clone())
        };
        let pages = [("/", FixturePage::linking([])), ("/robots.txt", robots)];
        let mut bench = discovering(site(pages).scripted(script));
        bench.public_url = public_url.map(str::to_owned);
        bench.config.limits.max_tries = 1;
        if is_published {
            let mut own = seeds::OwnFiles::default();
            own.add(&"0123456789abcdef".repeat(4));
            let value = Effect::Value(own.value());
            let mut store = bench.store.lock().unwrap();
            store.as_mut().unwrap().commit(&[value]).unwrap();
        }
        let crawled = bench.run().await;
        let tally = seeds::Tally::read(&crawled.store).unwrap();
        let found = tally.with_problems > 0;
        assert_eq!(found, expected, "{index} {public_url:?} {is_published}");
    }
    let (gone, down) = (FixturePage::status(404), FixturePage::status(503));
    let silent = FixturePage::failing;
    let there = |name: &str| format!("https://files.example/maps/{name}");
    let place = there("");
    let place = Some(place.as_str());
    check(&there("sitemap.xml"), place, gone.clone(), false).await;
    check(&there("sitemap-2.xml"), place, gone.clone(), false).await;
    // The host itself may be to come.
    let no_host = silent(FetchErrorKind::Dns);
    check(&there("sitemap.xml"), place, no_host, false).await;
    check(&there("sitemap.xml"), place, down.clone(), false).await;
    // Other files are somebody else's, and something names them.
    check(&there("sitemap-1.xml"), place, gone.clone(), true).await;
    check(&there("sitemap-old.xml"), place, gone.clone(), true).await;
    let above = Some("https://files.example/");
    check(&there("sitemap.xml"), above, gone.clone(), true).await;
    check(&there("sitemap.xml"), None, gone.clone(), true).await;
    // On the site itself it is missing only when it is not there.
    let own = url("/sitemap.xml");
    let timeout = silent(FetchErrorKind::Timeout);
    check(&own, Some(START), gone.clone(), false).await;
    check(&own, Some(START), down.clone(), true).await;
    check(&own, Some(START), timeout, true).await;
    // Without a setting its place is the site, until it is published.
    check("/sitemap.xml", None, gone.clone(), false).await;
    check_after(true, &own, None, gone.clone(), true).await;
    check("/sitemap.xml", None, down, true).await;
    check("/maps/sitemap.xml", None, gone.clone(), true).await;
    check("/news.xml", None, gone, true).await;
}

#[tokio::test(start_paused = true)]
async fn excluded_documents_are_not_fetched() {
    let mut bench = discovering(site([
        ("/", FixturePage::html(format!("{NAMES_FEED}{LINKS_LATE}"))),
        ("/late", FixturePage::html(format!("<p>late{LINKS_FEED}"))),
        (
            "/robots.txt",
            FixturePage::text(&format!(
                "Sitemap: {0}\nSitemap: {1}",
                url("/private.xml"),
                url("/index.xml")
            )),
        ),
        (
            "/index.xml",
            index(["/private/a.xml".to_owned(), "/b.xml".to_owned()]),
        ),
        ("/b.xml", urlset(["/b".to_owned()])),
        ("/b", FixturePage::linking([])),
    ]));
    bench.config.scope.exclude = ["/private*", "/feed"].map(str::to_owned).to_vec();
    let crawled = bench.run().await;
    assert_eq!(with_reason(&crawled, Reason::Listed), ["/", "/b", "/late"]);
    assert_eq!(with_reason(&crawled, Reason::ExcludedByRule), ["/feed"]);
    for path in ["/feed", "/private.xml", "/private/a.xml"] {
        assert_eq!(asked(&bench, path), 0, "{path}");
    }
    assert_noted(&crawled, "exclude rule");
}

#[tokio::test(start_paused = true)]
async fn urls_of_documents_outside_are_counted() {
    let bench = discovering(site([
        (
            "/docs/",
            FixturePage::linking(["/docs/b", "/blog/b", "/docs", "../x"]),
        ),
        ("/docs/a", FixturePage::linking([])),
        ("/docs/b", FixturePage::linking([])),
        (
            "/sitemap.xml",
            urlset(["/blog", "/docs/a", "/news"].map(str::to_owned)),
        ),
    ]));
    let crawled = bench.run_from("/docs/").await;
    let listed = ["/docs/", "/docs/a", "/docs/b"];
    assert_eq!(with_reason(&crawled, Reason::Listed), listed);
    assert_eq!(known_and_listed(&crawled), (3, 3));
    let tally = seeds::Tally::read(&crawled.store).unwrap();
    assert_eq!((tally.outside, tally.with_problems), (2, 0));
    let outside = tally.outside_in[0].outside.clone().unwrap();
    assert_eq!((outside.count, outside.example), (2, url("/blog")));
}

#[tokio::test(start_paused = true)]
async fn a_disallowed_document_is_reported_in_one_sentence() {
    let elsewhere = url("/private/map.xml");
    let bench = discovering(site([
        ("/", FixturePage::linking([])),
        (
            "/robots.txt",
            FixturePage::text(&format!(
                "User-agent: *\nDisallow: /private/\nSitemap: {elsewhere}\nSitemap: {}",
                url("/moved.xml")
            )),
        ),
        (
            "/moved.xml",
            FixturePage::redirect(302, "/private/other.xml"),
        ),
    ]));
    let crawled = bench.run().await;
    let told: Vec<Option<String>> = seeds::documents(&crawled.store)
        .unwrap()
        .iter()
        .map(seeds::Document::trouble)
        .collect();
    let other = url("/private/other.xml");
    let expected = [
        "is disallowed by robots.txt".to_owned(),
        format!("is disallowed by robots.txt ({other} is disallowed by robots.txt)"),
    ];
    assert_eq!(told, expected.map(Some));
}

#[tokio::test(start_paused = true)]
async fn rules_that_could_not_be_read_are_none() {
    async fn check(robots: FixturePage, is_read: bool) {
        let mut bench = Bench::new(site([
            ("/", FixturePage::linking([])),
            ("/robots.txt", robots),
        ]));
        bench.config.ignore.robots = true;
        bench.config.limits.max_tries = 1;
        let crawled = bench.run().await;
        assert_eq!(crawled.robots.is_some(), is_read);
    }
    check(FixturePage::text("User-agent: *\nDisallow: /"), true).await;
    check(FixturePage::status(404), true).await;
    check(FixturePage::status(503), false).await;
}
