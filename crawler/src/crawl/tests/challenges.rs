//! Challenges of a protection against programs: in front of a part, of the site, or for a while.

use std::sync::OnceLock;

use super::*;

/// 60 pages below `/a/` and `/b/`. `is_blocked` gets a path and the seconds since the first request.
fn site_with_challenges(
    is_blocked: impl Fn(&str, u64) -> bool + Send + Sync + 'static,
) -> FixtureSite {
    let began = OnceLock::new();
    FixtureSite::default().scripted(move |asked, _| {
        let path = asked.strip_prefix("https://site.example")?;
        if path == "/robots.txt" {
            return None;
        }
        let began = *began.get_or_init(Instant::now);
        if is_blocked(path, began.elapsed().as_secs()) {
            return Some(challenge());
        }
        if path == "/" {
            let pages = (0..30).flat_map(|number| [format!("/a/{number}"), format!("/b/{number}")]);
            let pages: Vec<String> = pages.collect();
            return Some(FixturePage::linking(pages.iter().map(String::as_str)));
        }
        Some(FixturePage::linking(["/"]).after(Duration::from_secs(1)))
    })
}

fn challenge() -> FixturePage {
    let mut challenge = FixturePage::status(403);
    let sign = ("cf-mitigated".to_owned(), "challenge".to_owned());
    challenge.headers.push(sign);
    challenge.after(Duration::from_secs(1))
}

fn count(bench: &Bench, wanted: &str) -> usize {
    let pages = bench.pages();
    pages.iter().filter(|path| *path == wanted).count()
}

#[tokio::test(start_paused = true)]
async fn a_part_with_challenges_is_given_up() {
    let bench = Bench::new(site_with_challenges(|path, _| path.starts_with("/b/")));
    let crawled = bench.run().await;
    assert_eq!(crawled.ending, Ending::Drained);
    let listed = with_reason(&crawled, Reason::Listed);
    assert_eq!(listed.len(), 31);
    let texts = texts(&crawled);
    let note = "so the rest of /b/ was not requested";
    assert!(texts.iter().any(|text| text.contains(note)), "{texts:?}");
    let asked = bench.pages();
    let asked = asked.iter().filter(|path| path.starts_with("/b/")).count();
    assert!((10..28).contains(&asked), "{asked}");
}

#[tokio::test(start_paused = true)]
async fn start_page_is_requested_twice_on_challenges() {
    for minutes in [20, 100] {
        let is_up = move |path: &str, seconds: u64| {
            path != "/robots.txt" && (10..minutes * 60).contains(&seconds)
        };
        let bench = Bench::new(site_with_challenges(is_up));
        let crawled = bench.run().await;
        let listed = with_reason(&crawled, Reason::Listed).len();
        if minutes == 20 {
            assert_eq!((crawled.ending, count(&bench, "/")), (Ending::Drained, 3));
            assert!(listed > 50, "{listed}");
        } else {
            assert_eq!((crawled.ending, count(&bench, "/")), (Ending::Deferred, 3));
            assert!((5..60).contains(&listed), "{listed}");
            let texts = texts(&crawled);
            let note = "also after a wait";
            assert!(texts.iter().any(|text| text.contains(note)), "{texts:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn pages_in_no_directory_are_given_up_too() {
    let site = FixtureSite::default().scripted(|asked, _| {
        let path = asked.strip_prefix("https://site.example")?;
        let pages: Vec<String> = (0..60).map(|number| format!("/post-{number}")).collect();
        match path {
            "/robots.txt" => None,
            "/" => Some(FixturePage::linking(
                pages.iter().map(String::as_str).chain(["/a/1"]),
            )),
            "/a/1" => Some(FixturePage::linking([])),
            _ => Some(challenge()),
        }
    });
    let bench = Bench::new(site);
    let crawled = bench.run().await;
    assert_eq!(crawled.ending, Ending::Drained);
    assert_eq!(with_reason(&crawled, Reason::Listed), ["/", "/a/1"]);
    let asked = bench.pages();
    let asked = asked.iter().filter(|path| path.starts_with("/post-"));
    assert!((10..28).contains(&asked.count()));
    let texts = texts(&crawled);
    let note = "the rest of the pages in no directory";
    assert!(texts.iter().any(|text| text.contains(note)), "{texts:?}");
}

/// A page that is gone is an answer of the site.
#[tokio::test(start_paused = true)]
async fn challenges_with_other_answers_between_them_are_no_row() {
    let site = FixtureSite::default().scripted(|asked, _| {
        let path = asked.strip_prefix("https://site.example")?;
        let pages =
            (0..30).flat_map(|number| [format!("/gone-{number}"), format!("/shop-{number}")]);
        let pages: Vec<String> = pages.collect();
        match path {
            "/" => Some(FixturePage::linking(pages.iter().map(String::as_str))),
            _ if path.starts_with("/gone-") => {
                Some(FixturePage::status(404).after(Duration::from_secs(1)))
            }
            _ if path.starts_with("/shop-") => Some(challenge()),
            _ => None,
        }
    });
    let bench = Bench::new(site);
    let crawled = bench.run().await;
    assert_eq!((crawled.ending, count(&bench, "/")), (Ending::Drained, 1));
}

/// The last pages of a crawl do not end it while the start page is asked for.
#[tokio::test(start_paused = true)]
async fn a_crawl_whose_last_pages_are_challenges_is_not_over_before_the_start_page_is_known() {
    let is_blocked =
        |path: &str, seconds: u64| path != "/robots.txt" && seconds >= 10 && path != "/x";
    let bench = Bench::new(site_with_challenges(is_blocked));
    let crawled = bench.run().await;
    assert_eq!(crawled.ending, Ending::Deferred);
}
