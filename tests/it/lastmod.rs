//! `lastmod` comes from evidence or is absent: the headers of a site, when they are used, and their dates
//! from one crawl to the next.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime},
};

use crate::support::{
    program::Bench,
    site::{Response, Site},
};

/// A page's body and its `Last-Modified`.
#[derive(Clone)]
struct Page {
    body: String,
    modified: Modified,
}

/// The value of the header.
#[derive(Clone)]
enum Modified {
    /// A fixed text.
    At(String),
    /// The time of the request.
    Now,
}

/// A page that was written at `time`.
fn written(time: SystemTime) -> Page {
    Page {
        body: String::new(),
        modified: Modified::At(httpdate::fmt_http_date(time)),
    }
}

fn always_now() -> Page {
    Page {
        body: String::new(),
        modified: Modified::Now,
    }
}

/// An instant some days ago.
fn days_ago(days: u64) -> SystemTime {
    // Not on a full day, so that no part of the value could be lost unnoticed.
    SystemTime::now() - Duration::from_secs(days * 86_400 + 3_723)
}

/// An instant as a sitemap writes it.
fn as_lastmod(time: SystemTime) -> String {
    let seconds = time
        .duration_since(SystemTime::UNIX_EPOCH)
        .expect("after 1970")
        .as_secs();
    let seconds = i64::try_from(seconds).expect("a time of today");
    jiff::Timestamp::from_second(seconds)
        .expect("a time of today")
        .to_string()
}

/// A site on which the start page, which has no date, links to all pages of this version; `version`
/// counts from 0.
fn start(versions: Vec<BTreeMap<String, Page>>) -> (Site, Arc<AtomicUsize>) {
    let version = Arc::new(AtomicUsize::new(0));
    let current = Arc::clone(&version);
    let site = Site::start(move |request| {
        let pages = &versions[current.load(Ordering::SeqCst)];
        if request.target == "/" {
            return Response::linking(pages.keys());
        }
        let Some(page) = pages.get(&request.target) else {
            return Response::status(404);
        };
        let title = &request.target;
        let answer = Response::html(format!("<title>{title}</title><p>{}</p>", page.body));
        match &page.modified {
            Modified::At(text) => answer.with("Last-Modified", text),
            Modified::Now => {
                answer.with("Last-Modified", &httpdate::fmt_http_date(SystemTime::now()))
            }
        }
    });
    (site, version)
}

type Dates = BTreeMap<String, Option<String>>;

/// The published dates by path, without the start page (which has no date).
#[track_caller]
fn published(bench: &Bench, site: &Site) -> Dates {
    let mut dates = bench.published().dates(&site.origin());
    assert_eq!(dates.remove("/"), Some(None), "the start page has no date");
    dates
}

/// Removes from the published dates the one of a page that changed between two crawls; it is the time of the second crawl.
#[track_caller]
fn take_crawl_time(dates: &mut Dates, path: &str, began: SystemTime) {
    let date = dates.remove(path).flatten().expect("it has a date");
    let date: jiff::Timestamp = date.parse().expect("an instant");
    let began = jiff::Timestamp::try_from(began).expect("a time of today");
    assert!(
        date.as_second() >= began.as_second() && date <= jiff::Timestamp::now(),
        "{path}: {date}"
    );
}

/// Crawls the pages once and compares every entry; returns the printed text.
#[track_caller]
fn check(pages: BTreeMap<String, Page>, expected: &Dates) -> String {
    let (site, _) = start(vec![pages]);
    let bench = Bench::new();
    let ran = bench.crawl(&site.url("/"), &[]).expect_code(0);
    assert_eq!(&published(&bench, &site), expected);
    ran.stderr
}

fn numbered(count: u64, page: impl Fn(u64) -> Page) -> BTreeMap<String, Page> {
    (0..count)
        .map(|number| (format!("/page/{number}"), page(number)))
        .collect()
}

fn dates(count: u64, date: impl Fn(u64) -> Option<String>) -> Dates {
    (0..count)
        .map(|number| (format!("/page/{number}"), date(number)))
        .collect()
}

#[test]
fn every_page_of_a_static_site_has_its_own_date() {
    let newest = days_ago(1);
    let time = |number: u64| newest - Duration::from_secs(number * 86_461);
    for count in [12, 30] {
        let printed = check(
            numbered(count, |number| written(time(number))),
            &dates(count, |number| Some(as_lastmod(time(number)))),
        );
        assert!(!printed.contains("share one"), "{printed}");
    }
}

#[test]
fn one_last_modified_of_a_whole_site_is_reported_and_can_be_left_out() {
    const MESSAGE: &str =
        "12 pages share one Last-Modified, perhaps a deploy; lastmod = \"none\" leaves it out";
    let deployed = days_ago(1);
    let (site, _) = start(vec![numbered(12, |_| written(deployed))]);
    let bench = Bench::new();
    let crawl = |options: &[&str]| bench.crawl(&site.url("/"), options).expect_code(0).stderr;
    assert!(crawl(&[]).contains(MESSAGE));
    let date = as_lastmod(deployed);
    assert_eq!(published(&bench, &site), dates(12, |_| Some(date.clone())));
    // A date that was published is left out too, and listed again without the setting.
    let config = bench.settings("output.lastmod = \"none\"");
    assert!(!crawl(&["--config", &config]).contains("Last-Modified"));
    assert_eq!(published(&bench, &site), dates(12, |_| None));
    assert!(crawl(&[]).contains(MESSAGE));
    assert_eq!(published(&bench, &site), dates(12, |_| Some(date.clone())));
}

#[test]
fn a_site_written_seconds_before_the_crawl_has_the_dates_of_its_files() {
    for count in [12, 30] {
        // Files of three seconds, the newest two seconds old: the host's clock shows a later second.
        let written_at = SystemTime::now() - Duration::from_secs(4);
        let time = |number: u64| written_at + Duration::from_secs(number % 3);
        check(
            numbered(count, |number| written(time(number))),
            &dates(count, |number| Some(as_lastmod(time(number)))),
        );
        let same = SystemTime::now() - Duration::from_secs(2);
        check(
            numbered(count, |_| written(same)),
            &dates(count, |_| Some(as_lastmod(same))),
        );
    }
}

#[test]
fn a_header_that_always_has_the_time_of_the_request_is_not_used() {
    for count in [12, 30] {
        check(numbered(count, |_| always_now()), &dates(count, |_| None));
    }
}

#[test]
fn headers_of_a_directory_that_often_have_the_time_of_the_request_are_not_used() {
    let old = days_ago(30);
    let mut pages = BTreeMap::new();
    let mut expected = Dates::new();
    for number in 0..40 {
        let path = format!("/docs/{number}");
        pages.insert(path.clone(), written(old));
        expected.insert(path, Some(as_lastmod(old)));
    }
    for number in 0..10 {
        // Three in ten are generated on request.
        let path = format!("/news/{number}");
        let page = if number < 3 {
            always_now()
        } else {
            written(old)
        };
        pages.insert(path.clone(), page);
        expected.insert(path, None);
    }
    for number in 0..10 {
        // One in ten: the other dates are used.
        let path = format!("/blog/{number}");
        let page = if number < 1 {
            always_now()
        } else {
            written(old)
        };
        pages.insert(path.clone(), page);
        expected.insert(path, (number > 0).then(|| as_lastmod(old)));
    }
    check(pages, &expected);
}

#[test]
fn a_date_moves_only_with_the_content() {
    let (old, new) = (days_ago(20), days_ago(2));
    let page = |body: &str, time| Page {
        body: body.to_owned(),
        ..written(time)
    };
    let first = numbered(20, |_| page("first", old));
    let mut second = first.clone();
    // One file has a new time and the same bytes; another one changed.
    second.insert("/page/1".to_owned(), page("first", new));
    second.insert("/page/2".to_owned(), page("second", new));
    second.insert("/page/new".to_owned(), page("new", new));
    let (site, version) = start(vec![first, second]);
    let bench = Bench::new();
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    let mut expected = dates(20, |_| Some(as_lastmod(old)));
    assert_eq!(published(&bench, &site), expected);

    version.store(1, Ordering::SeqCst);
    let began = SystemTime::now();
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    let mut dates = bench.published().dates(&site.origin());
    // The date that is stated is not of the time between the crawls; the start page has one more link.
    take_crawl_time(&mut dates, "/page/2", began);
    take_crawl_time(&mut dates, "/", began);
    expected.remove("/page/2");
    expected.insert("/page/new".to_owned(), Some(as_lastmod(new)));
    assert_eq!(dates, expected);
}

/// The dates of pages, of the sitemap of the site and of headers, and the sources of the published dates.
#[test]
fn the_summary_counts_where_dates_came_from() {
    let site = Site::start(|request| match &*request.target {
        "/" => Response::linking(["/data", "/meta", "/header", "/map", "/none"]),
        "/robots.txt" => Response::text("Sitemap: /cms.xml\n"),
        "/cms.xml" => Response::text(format!(
            "<urlset><url><loc>http://{}/map</loc><lastmod>2026-01-03</lastmod></url></urlset>",
            request.headers["host"]
        )),
        "/data" => Response::html(
            "<script type=application/ld+json>{\"@type\":\"Article\",\"dateModified\":\"2026-01-01\"}</script>a",
        ),
        "/meta" => Response::html("<meta property=article:modified_time content=2026-01-02>b"),
        "/header" => Response::html("c").with("Last-Modified", "Sun, 04 Jan 2026 10:00:00 GMT"),
        "/map" | "/none" => Response::html("d"),
        _ => Response::status(404),
    });
    let bench = Bench::new().discovering();
    let ran = bench.crawl(&site.url("/"), &[]).expect_code(0);
    let expected = [
        ("/", None),
        ("/data", Some("2026-01-01")),
        ("/header", Some("2026-01-04T10:00:00Z")),
        ("/map", Some("2026-01-03")),
        ("/meta", Some("2026-01-02")),
        ("/none", None),
    ];
    let expected = expected.map(|(path, date)| (path.to_owned(), date.map(str::to_owned)));
    assert_eq!(
        bench.published().dates(&site.origin()),
        Dates::from(expected)
    );
    let counts = serde_json::json!({"header": 1, "json-ld": 1, "meta": 1, "sitemap": 1});
    assert_eq!(ran.summary()["lastmod"], counts);
}

#[test]
fn a_page_rule_reads_the_date_from_the_page() {
    let time = |value: &str| {
        format!("<article><time class=updated datetime=\"{value}\">today</time></article>")
    };
    let page = |body: String| Page {
        body,
        modified: Modified::At("Sat, 02 Nov 2019 08:49:37 GMT".to_owned()),
    };
    let cases = [
        ("/blog/date", page(time("2021-05-06")), Some("2021-05-06")),
        (
            "/blog/zone",
            page(time("2021-05-06T07:08:09+02:00")),
            Some("2021-05-06T07:08:09+02:00"),
        ),
        // The header is the next best evidence.
        (
            "/blog/unreadable",
            page(time("last week")),
            Some("2019-11-02T08:49:37Z"),
        ),
        (
            "/blog/future",
            page(time("2999-01-01")),
            Some("2019-11-02T08:49:37Z"),
        ),
        (
            "/blog/without",
            page(String::new()),
            Some("2019-11-02T08:49:37Z"),
        ),
        (
            "/docs/no-rule",
            page(time("2021-05-06")),
            Some("2019-11-02T08:49:37Z"),
        ),
        (
            "/text/date",
            page("<span id=changed> 2022-03-04 </span>".to_owned()),
            Some("2022-03-04"),
        ),
    ];
    let pages = cases
        .iter()
        .map(|(path, page, _)| ((*path).to_owned(), page.clone()));
    let (site, _) = start(vec![pages.collect()]);
    let bench = Bench::new();
    let config = bench.settings(
        "[[page_rule]]\npages = \"/blog/*\"\nselector = \"article time.updated\"\naction = \"lastmod\"\nattribute = \"datetime\"\n\
         [[page_rule]]\npages = \"/text/*\"\nselector = \"#changed\"\naction = \"lastmod\"\n",
    );
    bench
        .crawl(&site.url("/"), &["--config", &config])
        .expect_code(0);
    let expected = cases
        .iter()
        .map(|(path, _, date)| ((*path).to_owned(), date.map(str::to_owned)));
    assert_eq!(published(&bench, &site), expected.collect());
}
