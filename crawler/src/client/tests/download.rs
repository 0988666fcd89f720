//! Documents through the gate, on fixture sites and paused time.

use std::{
    io::Read as _,
    sync::{Arc, Mutex},
    time::Duration,
};

use crate::{
    client::{DownloadError, DownloadedDocument, Downloader, MAX_DOCUMENT_BYTES, Shutdown},
    config::Config,
    fetch::FetchErrorKind,
    page::BodyEnd,
    parse::PageReader,
    politeness::Politeness,
    retry_after::RetryAfterFile,
    robots,
    testing::{FixturePage, FixtureSite, TestClock},
    url_key::UrlKey,
};

const MAP: &str = "https://site.example/sitemap.xml";

fn url(path: &str) -> String {
    format!("https://site.example{path}")
}

fn downloader(site: &FixtureSite, config: &Config) -> Downloader {
    let now = "2026-03-01T12:00:00Z".parse().unwrap();
    Downloader::new(
        config,
        Arc::new(site.clone()),
        Arc::new(TestClock::starting_at(now)),
        Arc::new(Mutex::new(Politeness::new(&config.politeness))),
        RetryAfterFile::default(),
    )
}

async fn get(downloader: &Downloader, address: &str) -> Result<DownloadedDocument, DownloadError> {
    let url = UrlKey::from_normalised(address).unwrap();
    downloader.download(&url, &Shutdown::default()).await
}

async fn download(
    pages: &[(&str, FixturePage)],
) -> (Result<DownloadedDocument, DownloadError>, Vec<String>) {
    let site = FixtureSite::new(pages.iter().map(|(url, page)| (*url, page.clone())));
    let result = get(&downloader(&site, &Config::default()), MAP).await;
    let requests = site.requests().into_iter().map(|request| request.url);
    (result, requests.collect())
}

fn text_of(document: DownloadedDocument) -> String {
    let mut text = String::new();
    let mut body = document.into_body().unwrap();
    body.read_to_string(&mut text).unwrap();
    text
}

#[tokio::test(start_paused = true)]
async fn a_document_has_its_body_place_and_hash() {
    // Larger than what stays in memory.
    let body = "<urlset/>".repeat(100_000);
    let page = FixturePage::text(&body).with_header("x-map", "1");
    let (result, requests) = download(&[(MAP, page)]).await;
    let document = result.unwrap();
    assert_eq!(document.url.as_str(), MAP);
    assert_eq!((document.status, document.redirects), (200, 0));
    assert_eq!(document.end, BodyEnd::Complete);
    assert_eq!(document.headers.text("x-map"), Some("1"));
    assert_eq!(document.body_bytes, body.len() as u64);
    assert_eq!(
        document.sha256,
        "1dd1d3b040cc99a63de9975cc045b90ade24824d8823d0ff188fc89e4c1768fe"
    );
    assert_eq!(text_of(document), body);
    assert_eq!(requests, ["https://site.example/robots.txt", MAP]);
}

#[tokio::test(start_paused = true)]
async fn each_redirect_obeys_rules_of_its_host() {
    let elsewhere = "https://files.example/maps/1.xml";
    let (result, requests) = download(&[
        (MAP, FixturePage::redirect(301, elsewhere)),
        (elsewhere, FixturePage::text("<urlset/>")),
        (
            "https://site.example/robots.txt",
            FixturePage::text("User-agent: *\nDisallow: /maps/\n"),
        ),
    ])
    .await;
    let document = result.unwrap();
    assert_eq!(document.url.as_str(), elsewhere);
    assert_eq!(document.redirects, 1);
    assert_eq!(text_of(document), "<urlset/>");
    let robots = "https://files.example/robots.txt";
    let home = "https://site.example/robots.txt";
    assert_eq!(requests, [home, MAP, robots, elsewhere]);

    let (result, requests) = download(&[
        (MAP, FixturePage::redirect(301, elsewhere)),
        (
            robots,
            FixturePage::text("User-agent: *\nDisallow: /maps/\n"),
        ),
    ])
    .await;
    let Err(DownloadError::Disallowed(url)) = result else {
        panic!("{result:?}")
    };
    assert_eq!(url.as_str(), elsewhere);
    assert_eq!(requests, [home, MAP, robots]);
}

#[tokio::test(start_paused = true)]
async fn chains_of_redirects_end() {
    async fn check(pages: &[(&str, FixturePage)], expected: &str, requests: usize) {
        let (result, asked) = download(pages).await;
        assert_eq!(result.unwrap_err().to_string(), expected);
        // And one for robots.txt.
        assert_eq!(asked.len(), requests + 1);
    }
    let other = url("/other.xml");
    let loops = [
        (MAP, FixturePage::redirect(302, &other)),
        (other.as_str(), FixturePage::redirect(302, MAP)),
    ];
    let said = format!("{other} redirects in a loop, to {MAP}");
    check(&loops, &said, 2).await;
    let nowhere = [(MAP, FixturePage::status(301))];
    let said = format!("{MAP} answered 301 without a usable Location");
    check(&nowhere, &said, 1).await;
    let names: Vec<String> = (0..20).map(|number| url(&format!("/{number}"))).collect();
    let mut long = vec![(MAP, FixturePage::redirect(308, &names[0]))];
    for (from, to) in names.iter().zip(&names[1..]) {
        long.push((from, FixturePage::redirect(308, to)));
    }
    let said = format!(
        "{} is the end of 10 redirects and redirects again",
        url("/9")
    );
    check(&long, &said, 11).await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_without_document_has_its_status() {
    let (result, _) = download(&[]).await;
    let document = result.unwrap();
    assert_eq!((document.status, document.body_bytes), (404, 0));
    let mut page = FixturePage::text("");
    page.body = vec![b'x'; usize::try_from(MAX_DOCUMENT_BYTES).unwrap() + 1];
    let (result, _) = download(&[(MAP, page)]).await;
    assert_eq!(result.unwrap().end, BodyEnd::TooLarge);
}

#[tokio::test(start_paused = true)]
async fn a_passing_failure_is_tried_again() {
    let site = FixtureSite::new([(MAP, FixturePage::text("<urlset/>"))])
        .scripted(|url, earlier| (url == MAP && earlier < 2).then(|| FixturePage::status(503)));
    let downloader = downloader(&site, &Config::default());
    assert_eq!(get(&downloader, MAP).await.unwrap().status, 200);
    assert_eq!(site.requests().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn an_unreachable_robots_txt_forbids_and_is_remembered() {
    let robots = "https://site.example/robots.txt";
    let site = FixtureSite::new([(robots, FixturePage::failing(FetchErrorKind::Connect))]);
    let downloader = downloader(&site, &Config::default());
    for path in ["/a.xml", "/b.xml"] {
        let result = get(&downloader, &url(path)).await;
        let Err(DownloadError::RobotsUnreachable { origin, .. }) = result else {
            panic!("{result:?}")
        };
        assert_eq!(origin.to_string(), "https://site.example");
    }
    let asked = site.requests();
    assert!(asked.iter().all(|request| request.url == robots));
    assert_eq!(asked.len(), 3, "the tries of one question");
}

#[tokio::test(start_paused = true)]
async fn documents_keep_the_delay_of_their_host() {
    let robots = "https://site.example/robots.txt";
    let plain = "http://site.example/sitemap.xml";
    let site = FixtureSite::new([
        (robots, FixturePage::text("User-agent: *\nCrawl-delay: 7\n")),
        (MAP, FixturePage::text("<urlset/>")),
        (plain, FixturePage::text("<urlset/>")),
    ]);
    let downloader = downloader(&site, &Config::default());
    for address in [MAP, MAP, plain, MAP] {
        assert_eq!(get(&downloader, address).await.unwrap().status, 200);
    }
    let requests = site.requests();
    assert_eq!(requests.len(), 6, "two of them for a robots.txt");
    for pair in requests.windows(2) {
        let gap = pair[1].begun - pair[0].ended.unwrap();
        assert!(
            gap >= Duration::from_secs(7),
            "{gap:?} before {}",
            pair[1].url
        );
    }
}

#[tokio::test(start_paused = true)]
async fn redirect_target_keeps_its_parameters() {
    let signed = "https://site.example/sitemap.xml?PHPSESSID=1&utm_source=robots";
    let (result, requests) = download(&[
        (MAP, FixturePage::redirect(302, signed)),
        (signed, FixturePage::text("<urlset/>")),
    ])
    .await;
    assert_eq!(result.unwrap().url.as_str(), signed);
    assert_eq!(requests[1..], [MAP, signed]);
}

#[tokio::test(start_paused = true)]
async fn forbidden_address_is_distinguished_from_silence() {
    let forbidden = FixturePage::failing(FetchErrorKind::Forbidden);
    for asked in ["https://site.example/robots.txt", MAP] {
        let (result, requests) = download(&[(asked, forbidden.clone())]).await;
        let Err(DownloadError::Forbidden { origin, .. }) = result else {
            panic!("{result:?}")
        };
        assert_eq!(origin.to_string(), "https://site.example");
        assert_eq!(requests.last().map(String::as_str), Some(asked));
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_the_waiting() {
    let site = FixtureSite::new([(MAP, FixturePage::text("<urlset/>"))]);
    let downloader = downloader(&site, &Config::default());
    let shutdown = Shutdown::default();
    shutdown.stop();
    let url = UrlKey::from_normalised(MAP).unwrap();
    // The first request of a host waits for nothing; the second has to keep a distance.
    let result = downloader.download(&url, &shutdown).await;
    assert!(matches!(result, Err(DownloadError::Stopped)), "{result:?}");
    assert_eq!(site.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_document_can_be_read_again_in_part() {
    let page = FixturePage::text("0123456789")
        .with_header("last-modified", "Sun, 01 Feb 2026 12:00:00 GMT");
    let site = FixtureSite::new([(MAP, page)]);
    let downloader = downloader(&site, &Config::default()).with_max_bytes(4);
    let mut document = get(&downloader, MAP).await.unwrap();
    assert_eq!(document.end, BodyEnd::TooLarge);
    assert_eq!(document.last_modified, "2026-02-01T12:00:00Z".parse().ok());
    for _ in 0..2 {
        let mut text = String::new();
        document.body().unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "0123");
    }
}

#[tokio::test(start_paused = true)]
async fn one_robots_txt_serves_us_and_everybody() {
    let robots = "User-agent: arpent\nDisallow: /ours\n\nUser-agent: *\nDisallow: /theirs\n";
    let site = FixtureSite::new([("https://site.example/robots.txt", FixturePage::text(robots))]);
    let downloader = downloader(&site, &Config::default());
    let origin = UrlKey::from_normalised(MAP).unwrap().origin();
    let shutdown = Shutdown::default();
    let ours = downloader.robots(&origin, &shutdown).await.unwrap();
    let theirs = downloader.robots_for_everybody(&origin, &shutdown).await;
    let theirs = theirs.unwrap();
    let allowed = |rules: &robots::Rules| ["/ours", "/theirs"].map(|path| rules.allows(path));
    assert_eq!(allowed(&ours), [false, true]);
    assert_eq!(allowed(&theirs), [true, false]);
    assert_eq!(site.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_page_has_its_directives_and_location() {
    let page = FixturePage::html("<title>x</title><meta name=robots content=noindex>");
    let site = FixtureSite::new([
        (url("/page").as_str(), page),
        (&url("/moved"), FixturePage::redirect(301, &url("/page"))),
        (
            "https://site.example/robots.txt",
            FixturePage::text("User-agent: *\nDisallow: /kept\n"),
        ),
    ]);
    let downloader = downloader(&site, &Config::default());
    let reader = Arc::new(PageReader::new(&Config::default().parse).unwrap());
    let shutdown = Shutdown::default();
    let ask = async |path: &str| {
        let url = UrlKey::from_normalised(&url(path)).unwrap();
        downloader.page(&url, &reader, &shutdown).await
    };
    let page = ask("/page").await.unwrap();
    assert_eq!((page.status, page.directives.noindex), (200, true));
    let moved = ask("/moved").await.unwrap();
    let target = moved.location.map(|target| target.to_string());
    assert_eq!((moved.status, target), (301, Some(url("/page"))));
    let kept = ask("/kept").await;
    assert!(
        matches!(kept, Err(DownloadError::Disallowed(_))),
        "{kept:?}"
    );
    assert_eq!(site.requests().len(), 3);
}
