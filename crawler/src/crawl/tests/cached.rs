//! Sitemaps that did not change by their index, over several crawls, in virtual time.

use std::collections::BTreeMap;

use super::*;
use crate::{
    page::Via,
    seeds::{OwnFiles, SeedProblem, Tally},
    store::{CachedSitemap, Commit},
    testing::SeenRequest,
};

/// The current answers of a site: bodies by path. Everything else is a page.
#[derive(Clone, Default)]
struct Says(Arc<Mutex<BTreeMap<String, String>>>);

impl Says {
    fn set(&self, path: &str, body: impl Into<String>) {
        self.0.lock().unwrap().insert(path.to_owned(), body.into());
    }
}

fn urlset(paths: &[&str]) -> String {
    let locs = paths
        .iter()
        .map(|path| format!("<url><loc>{}</loc></url>", url(path)));
    format!("<urlset>{}</urlset>", locs.collect::<String>())
}

/// An index of files (absolute, or paths) with their dates.
fn index(files: &[(&str, &str)]) -> String {
    let entry = |(file, lastmod): &(&str, &str)| {
        let loc = if file.starts_with('/') {
            url(file)
        } else {
            (*file).to_owned()
        };
        let lastmod = match *lastmod {
            "" => String::new(),
            date => format!("<lastmod>{date}</lastmod>"),
        };
        format!("<sitemap><loc>{loc}</loc>{lastmod}</sitemap>")
    };
    let entries: String = files.iter().map(entry).collect();
    format!("<sitemapindex>{entries}</sitemapindex>")
}

/// A site whose `/sitemap.xml` is an index of `files`, each of which names a page of its own.
fn bench(files: &[(&str, &str)]) -> (Bench, Says) {
    let says = Says::default();
    says.set("/sitemap.xml", index(files));
    for (file, _) in files {
        says.set(file, urlset(&[&file.replace(".xml", "-page")]));
    }
    let said = says.clone();
    let site = FixtureSite::new([(START, FixturePage::linking([]))]).scripted(move |asked, _| {
        let path = asked.strip_prefix("https://site.example").unwrap_or(asked);
        if path == "/" {
            return None;
        }
        let said = said.0.lock().unwrap().get(path).cloned();
        Some(match said.as_deref() {
            Some(target) if target.starts_with('/') => FixturePage::redirect(302, target),
            Some("") => FixturePage::status(503),
            Some(body) => FixturePage::text(body),
            None if path.ends_with("-page") => FixturePage::linking([]),
            None => FixturePage::status(404),
        })
    });
    let mut bench = Bench::new(site);
    bench.config.discover = DiscoverConfig::default();
    bench.config.limits.max_tries = 1;
    (bench, says)
}

/// The result of one run.
#[derive(Debug, PartialEq)]
struct Ran {
    /// Documents that were asked for, sorted.
    asked: Vec<String>,
    tally: Tally,
    /// Pages that sitemaps led to, with the documents that named them.
    found: Vec<(String, String)>,
}

/// Returns whether it is one of the files of the site that name others.
fn is_document(request: &SeenRequest) -> bool {
    request.url.rsplit('.').next() == Some("xml")
}

/// Runs the crawl to its end as a run of its own, puts the store back, and lets an hour pass.
async fn run(bench: &mut Bench) -> Ran {
    let before = bench.site.requests().len();
    let crawled = bench.run().await;
    assert_eq!((crawled.ending, crawled.resumed), (Ending::Drained, false));
    let requests = bench.site.requests().split_off(before);
    let documents = requests.into_iter().filter(is_document);
    let mut asked: Vec<String> = documents
        .map(|request| request.url.replace("https://site.example", ""))
        .collect();
    asked.sort();
    let found = visits(&crawled).into_iter().filter_map(|(path, visit)| {
        let named_by = visit.found_on.map(|url| url.as_str().to_owned());
        (visit.via == Via::Sitemap).then(|| (path, named_by.unwrap_or_default()))
    });
    let found = found.collect();
    let ran = Ran {
        asked,
        tally: Tally::read(&crawled.store).unwrap(),
        found,
    };
    bench.finish(crawled);
    bench.now += Duration::from_secs(3_600);
    ran
}

/// The documents that the store has copies of.
fn copies(bench: &Bench) -> Vec<String> {
    let store = bench.store.lock().unwrap();
    let mut copies = Vec::new();
    let store = store.as_ref().expect("the store is at home");
    let mut visit = |key: &UrlKey, _| copies.push(key.as_str().replace("https://site.example", ""));
    store.each_sitemap(&mut visit).unwrap();
    copies.sort();
    copies
}

fn copy(bench: &Bench, path: &str) -> CachedSitemap {
    let store = bench.store.lock().unwrap();
    let key = UrlKey::from_normalised(&url(path)).unwrap();
    let store = store.as_ref().expect("the store is at home");
    store.sitemap(&key).unwrap().expect("it is kept")
}

fn commit(bench: &Bench, commit: &Commit) {
    let mut store = bench.store.lock().unwrap();
    let store = store.as_mut().expect("the store is at home");
    store.commit(commit).unwrap();
}

#[tokio::test(start_paused = true)]
async fn unchanged_documents_of_an_index_are_not_requested() {
    let files = [
        ("/a.xml", "2026-02-01"),
        ("/b.xml", "2026-02-01T10:00:00Z"),
        ("/c.xml", ""),
    ];
    let (mut bench, says) = bench(&files);
    let first = run(&mut bench).await;
    assert_eq!(first.asked, ["/a.xml", "/b.xml", "/c.xml", "/sitemap.xml"]);
    assert_eq!((first.tally.read, first.tally.cached), (4, 0));
    assert_eq!(copies(&bench), ["/a.xml", "/b.xml"]);

    bench.now = "2026-03-02T12:00:00Z".parse().unwrap();
    let second = run(&mut bench).await;
    assert_eq!(second.asked, ["/c.xml", "/sitemap.xml"]);
    assert_eq!((second.tally.read, second.tally.cached), (4, 2));
    assert_eq!(second.found, first.found);
    assert_eq!(second.found[0], ("/a-page".to_owned(), url("/a.xml")));

    // One of them moves.
    let moved = [("/a.xml", "2026-02-01"), ("/b.xml", "2026-03-02T13:00:00Z")];
    says.set("/sitemap.xml", index(&moved));
    says.set("/b.xml", urlset(&["/new-page", "/b-page"]));
    bench.now = "2026-03-03T12:00:00Z".parse().unwrap();
    let third = run(&mut bench).await;
    assert_eq!(third.asked, ["/b.xml", "/sitemap.xml"]);
    assert_eq!(third.tally.cached, 1);
    let found: Vec<&str> = third.found.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(found, ["/a-page", "/b-page", "/new-page"]);
    assert_eq!(copy(&bench, "/b.xml").lastmod, "2026-03-02T13:00:00Z");
}

#[tokio::test(start_paused = true)]
async fn only_whole_sitemaps_of_site_indexes_are_kept() {
    let date = "2026-02-01";
    let files = [
        ("/index.xml", date),
        ("/cut.xml", date),
        ("/moved.xml", date),
        ("/gone.xml", date),
        ("/year.xml", "2025"),
        ("https://files.example/elsewhere.xml", date),
    ];
    let (mut bench, says) = bench(&files);
    let elsewhere = "https://files.example/elsewhere.xml";
    says.set(elsewhere, urlset(&["/elsewhere-page"]));
    says.set("/index.xml", index(&[("/deep.xml", date)]));
    says.set("/deep.xml", urlset(&["/deep-page"]));
    says.set("/cut.xml", urlset(&["/cut-page"]).replace("</urlset>", ""));
    says.set("/moved.xml", "/target.xml");
    says.set("/target.xml", urlset(&["/moved-page"]));
    says.0.lock().unwrap().remove("/gone.xml");
    says.set(
        "/robots.txt",
        format!(
            "Sitemap: {}\nSitemap: https://files.example/list.xml\n",
            url("/sitemap.xml")
        ),
    );
    // A sitemap elsewhere is kept when the site names it, and not the other way round.
    says.set(
        "https://files.example/list.xml",
        index(&[("/theirs.xml", date)]),
    );
    says.set("/theirs.xml", urlset(&["/theirs-page"]));
    let first = run(&mut bench).await;
    assert_eq!(first.found.len(), 6, "{:?}", first.found);
    let kept = ["/deep.xml", elsewhere];
    assert_eq!(copies(&bench), kept);
    let second = run(&mut bench).await;
    assert_eq!(second.found, first.found);
    let asked = first
        .asked
        .iter()
        .filter(|asked| !kept.contains(&asked.as_str()));
    assert!(second.asked.iter().eq(asked), "{:?}", second.asked);
}

#[tokio::test(start_paused = true)]
async fn copies_of_removed_sitemaps_are_dropped() {
    let date = "2026-02-01";
    let (mut bench, says) = bench(&[("/a.xml", date), ("/b.xml", date), ("/c.xml", date)]);
    run(&mut bench).await;
    assert_eq!(copies(&bench), ["/a.xml", "/b.xml", "/c.xml"]);
    // An index that could not be read is not evidence about its files.
    let whole = says.0.lock().unwrap()["/sitemap.xml"].clone();
    says.set("/sitemap.xml", "");
    let ran = run(&mut bench).await;
    assert_eq!((ran.tally.with_problems, copies(&bench).len()), (1, 3));
    says.set("/sitemap.xml", whole);
    assert_eq!(run(&mut bench).await.asked, ["/sitemap.xml"]);
    // One is named no more, one moved and is gone, one has lost its date.
    says.set(
        "/sitemap.xml",
        index(&[("/b.xml", "2026-02-02"), ("/c.xml", "")]),
    );
    says.0.lock().unwrap().remove("/b.xml");
    let ran = run(&mut bench).await;
    assert_eq!(ran.tally.problems[0].problem, Some(SeedProblem::Gone));
    assert_eq!(copies(&bench), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_useless_copy_is_requested_again() {
    let (mut bench, says) = bench(&[("/a.xml", "2026-02-01")]);
    let first = run(&mut bench).await;
    let key = UrlKey::from_normalised(&url("/a.xml")).unwrap();
    let whole = copy(&bench, "/a.xml");
    let mut damaged = whole.clone();
    damaged.body.truncate(whole.body.len() - 3);
    commit(
        &bench,
        &Commit {
            sitemaps: vec![(key, Some(damaged))],
            ..Commit::default()
        },
    );
    let second = run(&mut bench).await;
    assert_eq!((&second.asked, &second.found), (&first.asked, &first.found));
    assert_eq!((second.tally.cached, second.tally.with_problems), (0, 0));
    assert_eq!(copy(&bench, "/a.xml").body, whole.body);

    // arpent published the same bytes meanwhile: they are not evidence.
    let mut own = OwnFiles::default();
    assert!(own.add(&whole.sha256));
    commit(
        &bench,
        &Commit {
            values: vec![own.value()],
            ..Commit::default()
        },
    );
    let third = run(&mut bench).await;
    assert_eq!((third.tally.published_by_arpent, third.found.len()), (1, 0));
    assert_eq!(copies(&bench), [""; 0]);

    says.set("/a.xml", urlset(&["/other-page"]));
    run(&mut bench).await;
    assert_eq!(copies(&bench), ["/a.xml"]);
    // robots.txt closes it.
    says.set("/robots.txt", "User-agent: *\nDisallow: /a.xml\n");
    let closed = run(&mut bench).await;
    assert_eq!(closed.asked, ["/sitemap.xml"]);
    assert_eq!(
        closed.tally.problems[0].problem,
        Some(SeedProblem::RobotsDisallowed)
    );
    assert_eq!((closed.found.len(), copies(&bench).len()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_crawl_stopped_while_reading_copies_goes_on() {
    let names: Vec<String> = (0..8).map(|number| format!("/{number}.xml")).collect();
    let files: Vec<(&str, &str)> = names
        .iter()
        .map(|name| (name.as_str(), "2026-02-01"))
        .collect();
    for stop_after in 0..40 {
        let (mut bench, _) = bench(&files);
        let first = run(&mut bench).await;
        bench.config.politeness.rate = Rate::PerSecond(50.0);
        let shutdown = Shutdown::default();
        let crawl = bench.crawl(START, &shutdown);
        tokio::pin!(crawl);
        let stopped = tokio::select! {
            crawled = &mut crawl => crawled,
            () = tokio::time::sleep(Duration::from_millis(5 * stop_after)) => {
                shutdown.abort();
                crawl.await
            }
        };
        match stopped {
            Ok(crawled) if crawled.ending == Ending::Drained => bench.finish(crawled),
            Ok(crawled) => bench.keep(crawled),
            // Before the store was opened, which is lost with the dependencies.
            Err(CrawlError::Stopped) => continue,
            Err(error) => panic!("after {stop_after}: {error}"),
        }
        let before = bench.site.requests().len();
        let crawled = bench.run().await;
        let asked = bench.site.requests().split_off(before);
        let is_child =
            |request: &&SeenRequest| is_document(request) && !request.url.ends_with("/sitemap.xml");
        assert_eq!(
            asked.iter().filter(is_child).count(),
            0,
            "after {stop_after}"
        );
        let tally = Tally::read(&crawled.store).unwrap();
        assert_eq!((tally.read, tally.cached), (9, 8), "after {stop_after}");
        assert_eq!(
            with_reason(&crawled, Reason::Listed).len(),
            first.found.len() + 1
        );
    }
}
