//! A URL beyond a bound is counted and left out; what is published or waits already stays.

use super::*;

fn not_recorded(crawled: &Crawled) -> u64 {
    crawl_state::not_recorded(&crawled.store).unwrap()
}

/// A page for each number, with links to these others.
fn numbered(links: impl Fn(u32) -> Vec<u32>, pages: u32) -> FixtureSite {
    let path = |number: u32| {
        if number == 0 {
            "/".to_owned()
        } else {
            format!("/{number}")
        }
    };
    site((0..pages).map(|number| {
        let links: Vec<String> = links(number).into_iter().map(path).collect();
        (path(number), linking(&links).after(Duration::from_secs(1)))
    }))
}

#[tokio::test(start_paused = true)]
async fn urls_beyond_max_known_urls_are_counted() {
    let mut bench = Bench::new(numbered(|number| vec![number + 1, number + 2, 0], 100));
    bench.config.limits.max_known_urls = 10;
    bench.config.limits.max_pages = 9;
    let crawled = bench.run().await;
    assert_eq!(crawled.ending, Ending::LimitReached);
    // The ninth page leads to one of them, the tenth to two.
    assert_eq!(not_recorded(&crawled), 1);
    bench.keep(crawled);
    let crawled = bench.run().await;
    assert!(crawled.resumed);
    assert_eq!(crawled.ending, Ending::Drained);
    assert_eq!((reasons(&crawled).len(), not_recorded(&crawled)), (10, 3));
    let asked: BTreeSet<String> = bench.pages().into_iter().collect();
    assert_eq!(asked.len(), 10, "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn a_full_state_takes_no_further_urls() {
    let mut bench = Bench::new(numbered(|number| vec![number + 1], 200));
    let empty = Store::in_memory().unwrap().bytes().unwrap();
    let whole = bench.run().await.store.bytes().unwrap();
    bench = Bench::new(numbered(|number| vec![number + 1], 200));
    bench.config.limits.max_state_bytes = u64::midpoint(empty, whole);
    let crawled = bench.run().await;
    let known = reasons(&crawled).len();
    assert!((15..190).contains(&known), "{known} known");
    assert_eq!(bench.pages().len(), known, "what waited was asked for");
    assert_eq!(not_recorded(&crawled), 1);
}

#[tokio::test(start_paused = true)]
async fn a_page_with_cut_links_gets_no_validators() {
    let mut bench = Bench::new(site([
        (
            "/",
            FixturePage::linking(["/a", "/b", "/c"]).with_header("ETag", "\"1\""),
        ),
        ("/a", FixturePage::linking([]).with_header("ETag", "\"2\"")),
        ("/b", FixturePage::linking([])),
        ("/c", FixturePage::linking([])),
    ]));
    bench.config.parse.max_links = 2;
    let crawled = bench.run().await;
    assert_eq!(not_recorded(&crawled), 1);
    let facts = |crawled: &Crawled, path: &str| visits(crawled)[path].facts().unwrap().clone();
    assert_eq!(
        facts(&crawled, "/").read_as,
        None,
        "no 304 says where it leads"
    );
    assert_ne!(facts(&crawled, "/a").read_as, None);
}

#[tokio::test(start_paused = true)]
async fn requests_wait_while_much_is_to_be_stored() {
    const PAGES: usize = 60;
    // A hundred links of a thousand bytes each, which lead out of the site but for one.
    let page = |number: usize| {
        let links =
            (0..100).map(|link| format!("https://o.example/{number}/{link}/{}", "x".repeat(970)));
        let inside = (number == 0).then(|| (1..PAGES).map(|number| format!("/{number}")));
        let links: Vec<String> = links.chain(inside.into_iter().flatten()).collect();
        linking(&links).after(Duration::from_secs(1))
    };
    let pages = (1..PAGES).map(|number| (format!("/{number}"), page(number)));
    let start = std::iter::once(("/".to_owned(), page(0)));
    let mut bench = Bench::new(site(start.chain(pages)));
    bench.config.politeness.concurrency = 64.try_into().unwrap();
    bench.config.limits.max_pending_bytes = 1 << 20;
    let crawled = bench.run().await;
    assert_eq!(with_reason(&crawled, Reason::Listed).len(), PAGES);
    let requests = bench.site.requests();
    let in_flight = requests.iter().map(|request| {
        let others = requests.iter();
        others
            .filter(|other| other.begun <= request.begun && other.ended.unwrap() > request.begun)
            .count()
    });
    let most = in_flight.max().unwrap();
    assert!((5..=10).contains(&most), "{most} in flight, of 111 kB each");
}
