//! Challenges of a protection against programs: in front of a part, of the site, or for a while.

use std::sync::OnceLock;

use super::*;

/// A site of these pages. `answer` gets a path and the seconds since the first request; without an answer the page is good.
fn site_of(
    paths: &[String],
    answer: impl Fn(&str, u64) -> Option<FixturePage> + Send + Sync + 'static,
) -> FixtureSite {
    let began = OnceLock::new();
    let home = linking(paths);
    FixtureSite::default().scripted(move |asked, _| {
        let path = asked.strip_prefix("https://site.example")?;
        if path == "/robots.txt" {
            return None;
        }
        let began = *began.get_or_init(Instant::now);
        let good = || match path {
            "/" => home.clone(),
            _ => FixturePage::linking(["/"]).after(Duration::from_secs(1)),
        };
        Some(answer(path, began.elapsed().as_secs()).unwrap_or_else(good))
    })
}

/// 60 paths that begin with one of these by turns.
fn by_turns(starts: [&str; 2]) -> Vec<String> {
    let numbers = 0..30;
    numbers
        .flat_map(|number| starts.map(|start| format!("{start}{number}")))
        .collect()
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
    let posts = (0..60).map(|number| format!("/post-{number}"));
    let posts = posts.chain(["/a/1".to_owned()]).collect();
    for (paths, closed, listed, note) in [
        (by_turns(["/a/", "/b/"]), "/b/", 31, "the rest of /b/"),
        (posts, "/post-", 2, "the rest of the pages in no directory"),
    ] {
        let bench = Bench::new(site_of(&paths, move |path, _| {
            path.starts_with(closed).then(challenge)
        }));
        let crawled = bench.run().await;
        assert_eq!(crawled.ending, Ending::Drained, "{closed}");
        assert_eq!(with_reason(&crawled, Reason::Listed).len(), listed);
        assert_noted(&crawled, note);
        let asked = bench.pages();
        let asked = asked.iter().filter(|path| path.starts_with(closed)).count();
        assert!((10..28).contains(&asked), "{closed}: {asked}");
    }
}

#[tokio::test(start_paused = true)]
async fn start_page_is_requested_twice_on_challenges() {
    for minutes in [20, 100] {
        let paths = by_turns(["/a/", "/b/"]);
        let bench = Bench::new(site_of(&paths, move |_, seconds| {
            let is_up = (10..minutes * 60).contains(&seconds);
            is_up.then(challenge)
        }));
        let crawled = bench.run().await;
        let listed = with_reason(&crawled, Reason::Listed).len();
        if minutes == 20 {
            assert_eq!((crawled.ending, count(&bench, "/")), (Ending::Drained, 3));
            assert!(listed > 50, "{listed}");
        } else {
            assert_eq!((crawled.ending, count(&bench, "/")), (Ending::Deferred, 3));
            assert!((5..60).contains(&listed), "{listed}");
            assert_noted(&crawled, "also after a wait");
        }
    }
}

/// A page that is gone is an answer of the site.
#[tokio::test(start_paused = true)]
async fn challenges_between_other_answers_are_no_row() {
    let paths = by_turns(["/gone-", "/shop-"]);
    let bench = Bench::new(site_of(&paths, |path, _| {
        let gone = FixturePage::status(404).after(Duration::from_secs(1));
        let is_gone = path.starts_with("/gone-");
        let challenged = path.starts_with("/shop-").then(challenge);
        challenged.or_else(|| is_gone.then_some(gone))
    }));
    let crawled = bench.run().await;
    assert_eq!((crawled.ending, count(&bench, "/")), (Ending::Drained, 1));
}

/// The last pages of a crawl do not end it while the start page is asked for.
#[tokio::test(start_paused = true)]
async fn challenges_at_the_end_wait_for_the_start() {
    let paths = by_turns(["/a/", "/b/"]);
    let bench = Bench::new(site_of(&paths, |_, seconds| {
        (seconds >= 10).then(challenge)
    }));
    let crawled = bench.run().await;
    assert_eq!(crawled.ending, Ending::Deferred);
}
