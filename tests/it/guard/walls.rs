//! Walls that stand before a part of the site only, or for a few nights, and crawls that see a part of it.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use super::{Mode, PAGES, QUICK, Text, World, objections, words};
use crate::support::{
    program::{Bench, Ran},
    published::Published,
    site::{Response, Site},
    state::{assert_adds_up, number},
};

/// A crawl with a limit in the night `day`.
fn night(world: &World, day: u32, limit: &str) -> Ran {
    let ahead = format!("{}h", 24 * day);
    world.crawl_later(&ahead, &["--max-pages", limit])
}

#[track_caller]
fn assert_stands(world: &World, before: &Published) {
    let changed = world.bench.published().differences(before);
    assert_eq!(changed, [] as [String; 0]);
}

#[test]
fn a_wall_takes_nothing_out_however_few_pages_a_night_asks_for() {
    for mode in [
        Mode::LoginRedirect,
        Mode::LoginEach,
        Mode::LoginForm,
        Mode::NotFoundAdorned,
    ] {
        for limit in ["5", "8"] {
            let world = World::new(Text::Articles);
            let before = world.publish().entries();
            world.is(mode);
            let mut refused = 0;
            for day in 1..=6 {
                let ran = night(&world, day, limit);
                refused += u32::from(ran.code == Some(4));
                let now = world.bench.published().entries();
                let changed = before
                    .iter()
                    .filter(|(url, date)| now.get(*url) != Some(date));
                // One page may be another one, or have moved.
                assert!(
                    changed.count() <= 1,
                    "{mode:?} {limit} {day}: {}",
                    ran.stderr
                );
            }
            // Pages that lead to one of their own each wait until that is asked for.
            let may_wait = limit == "5" || mode == Mode::LoginEach;
            assert!(may_wait || refused > 0, "{mode:?}: nobody is told");
        }
    }
}

#[test]
fn a_wall_does_not_fill_the_set_of_a_crawl_in_parts() {
    for mode in [Mode::LoginForm, Mode::NotFound200, Mode::NotFoundAdorned] {
        let world = World::new(Text::Articles);
        for day in 0..2 {
            night(&world, day, "6").expect_code(3);
        }
        let before = world.bench.published();
        assert_eq!(before.entries().len(), 12);
        world.is(mode);
        for day in 2..14 {
            let ran = night(&world, day, "6").expect_code(4);
            let said = &ran.stderr;
            let is_told =
                said.contains("nothing that this crawl heard") || said.contains("kept the old set");
            assert!(is_told, "{mode:?} {day}: {said}");
            assert_stands(&world, &before);
        }
        world.is(Mode::Well);
        // What the run was told before may be refused once.
        for day in 14..16 {
            night(&world, day, "1000");
        }
        night(&world, 16, "1000").expect_code(0);
        assert_eq!(world.bench.published().entries().len(), PAGES + 1);
    }
}

#[test]
fn a_refused_crawl_with_a_limit_is_not_gone_on_with() {
    let world = World::new(Text::Articles);
    let before = world.publish();
    world.is(Mode::LoginRedirect);
    let ran = night(&world, 1, "15").expect_code(4);
    let summary = ran.summary();
    assert_eq!(objections(&summary), ["one-redirect-target"]);
    assert_stands(&world, &before);
    world.is(Mode::Well);
    world.site.clear_log();
    // Well again: what the wall said is asked for again, and nothing of it counts, however long the run takes.
    for (day, code) in (2..).zip([3, 3, 3, 0]) {
        let ran = night(&world, day, "15").expect_code(code);
        assert_adds_up(&ran.summary());
        assert_stands(&world, &before);
    }
    let mut asked = world.site.pages();
    asked.retain(|target| target != "/");
    asked.sort();
    asked.dedup();
    assert_eq!(asked.len(), PAGES, "{asked:?}");
}

#[test]
fn a_wall_in_the_middle_of_a_long_crawl_takes_nothing_out() {
    let world = World::new(Text::Articles);
    let before = world.publish();
    night(&world, 1, "10").expect_code(3);
    world.is(Mode::LoginRedirect);
    let ran = night(&world, 2, "15").expect_code(4);
    assert_eq!(objections(&ran.summary()), ["one-redirect-target"]);
    world.is(Mode::Well);
    for (day, code) in (3..).zip([3, 3, 3, 0]) {
        let ran = night(&world, day, "15").expect_code(code);
        let summary = ran.summary();
        assert_adds_up(&summary);
        assert_eq!(number(&summary, "listed"), PAGES as u64 + 1, "{summary}");
        assert_stands(&world, &before);
    }
}

#[test]
fn after_a_wall_a_crawl_with_a_limit_keeps_what_it_does_not_come_to() {
    for mode in [
        Mode::LoginRedirect,
        Mode::StatusBehindTheStart(410),
        Mode::NotFound200,
    ] {
        let world = World::new(Text::Articles);
        let before = world.publish();
        world.is(mode);
        world.crawl_later("24h", &[]).expect_code(4);
        world.crawl_later("48h", &[]).expect_code(4);
        world.is(Mode::Well);
        let summary = night(&world, 3, "15").expect_code(3).summary();
        assert_adds_up(&summary);
        assert_eq!(summary["kept"]["kept-not-reached"], PAGES + 1 - 15);
        assert_stands(&world, &before);
    }
}

#[test]
fn a_page_that_fails_after_a_wall_is_kept_as_it_was_before_it() {
    let world = World::new(Text::Articles);
    let before = world.publish();
    world.is(Mode::LoginRedirect);
    world.crawl_later("24h", &[]).expect_code(4);
    // Most answer; the others fail.
    world.is(Mode::FailFrom(30));
    let summary = world.crawl_later("48h", &[]).expect_code(3).summary();
    assert_adds_up(&summary);
    assert_eq!(summary["kept"]["kept-unreachable"], PAGES - 30);
    assert_stands(&world, &before);
}

#[test]
fn what_a_rehearsal_saw_is_no_evidence() {
    let world = World::new(Text::Articles);
    let before = world.publish();
    world.is(Mode::FiveGone);
    let summary = world
        .crawl_later("24h", &["--dry-run"])
        .expect_code(0)
        .summary();
    assert_eq!(summary["excluded"]["gone"], 5);
    world.is(Mode::FailFrom(0));
    world.crawl_later("48h", &["--force"]).expect_code(3);
    assert_stands(&world, &before);
}

#[test]
fn what_a_rehearsal_with_a_limit_saw_is_no_evidence() {
    let world = World::new(Text::Articles);
    let before = world.publish();
    world.is(Mode::FiveGone);
    for _ in 0..2 {
        world.crawl_later("24h", &["--dry-run", "--max-pages", "20"]);
        assert_stands(&world, &before);
    }
    world.is(Mode::Well);
    world.crawl_later("48h", &[]).expect_code(0);
    assert_stands(&world, &before);
}

#[test]
fn a_crawl_with_a_limit_comes_to_its_end_also_when_the_state_was_lost() {
    let world = World::new(Text::Articles);
    let before = world.publish();
    fs::remove_dir_all(world.bench.state()).expect("the state can be removed");
    let codes: Vec<Option<i32>> = (0..3)
        .map(|_| world.crawl(&["--max-pages", "20"]).code)
        .collect();
    assert_eq!(codes.last(), Some(&Some(0)), "{codes:?}");
    assert_stands(&world, &before);
}

#[test]
fn pages_that_may_not_be_read_for_a_month_are_not_gone() {
    let world = World::new(Text::Articles);
    let before = world.publish();
    world.is(Mode::StatusBehindTheStart(401));
    for day in [1, 15, 31, 33, 80] {
        let ran = world.crawl_later(&format!("{}h", 24 * day), &[]);
        let summary = ran.expect_code(4).summary();
        assert!(objections(&summary).contains(&"failing"), "{summary}");
        assert_stands(&world, &before);
    }
    world.is(Mode::Well);
    world.crawl_later("2400h", &[]).expect_code(0);
    assert_stands(&world, &before);
}

#[test]
fn a_lost_state_does_not_blind_the_guard() {
    for mode in [Mode::NotFound200, Mode::LoginEach, Mode::NotFoundAdorned] {
        let world = World::new(Text::Articles);
        let before = world.publish();
        fs::remove_dir_all(world.bench.state()).expect("the state can be removed");
        world.is(mode);
        for _ in 0..2 {
            let summary = world.crawl(&[]).expect_code(4).summary();
            assert_eq!(objections(&summary).len(), 1, "{mode:?}: {summary}");
            assert_stands(&world, &before);
        }
        world.is(Mode::Well);
        let summary = world.crawl(&[]).expect_code(0).summary();
        assert_eq!(summary["outcome"], "unchanged", "{mode:?}: {summary}");
        assert_stands(&world, &before);
    }
}

#[test]
fn a_set_that_was_alike_is_not_refused_when_its_state_is_lost() {
    let world = World::new(Text::Numbered);
    let before = world.publish();
    fs::remove_dir_all(world.bench.state()).expect("the state can be removed");
    world.crawl(&[]).expect_code(0);
    assert_stands(&world, &before);
}

/// A site whose start page links to `/p/1` to `/p/<pages>`, which `answer` gives in the edition that the test chooses.
struct Small {
    bench: Bench,
    site: Site,
    edition: Arc<AtomicUsize>,
    settings: String,
}

impl Small {
    fn new(
        pages: usize,
        answer: impl Fn(usize, usize, &super::Request) -> Response + Send + Sync + 'static,
    ) -> Self {
        let bench = Bench::new();
        let edition = Arc::new(AtomicUsize::new(0));
        let now = Arc::clone(&edition);
        let site = Site::undated(move |request| {
            let edition = now.load(Ordering::SeqCst);
            let number = request.target.strip_prefix("/p/");
            match number.and_then(|number| number.parse().ok()) {
                Some(number) => answer(edition, number, request),
                None if request.target == "/" => {
                    let links = (1..=pages).map(|number| format!("<a href=/p/{number}>x</a>"));
                    Response::html(format!(
                        "<title>Home</title><h1>All of it</h1>{}",
                        links.collect::<String>()
                    ))
                }
                None if request.target.starts_with("/all") => {
                    Response::html("<title>All</title><h1>All</h1><p>What there is.")
                }
                None => Response::status(404),
            }
        });
        let settings = bench.settings(QUICK);
        Self {
            bench,
            site,
            edition,
            settings,
        }
    }

    fn crawl(&self, edition: usize, day: u32, options: &[&str]) -> Ran {
        self.edition.store(edition, Ordering::SeqCst);
        let options = [&["--config", self.settings.as_str()], options].concat();
        let mut command = self.bench.command(&self.site.url("/"), &options);
        command.env("ARPENT_CLOCK_AHEAD", format!("{}h", 24 * day));
        Ran::of(command)
    }
}

fn article(number: usize) -> Response {
    let title = words(number as u64 + 1_000, 3);
    let text = words(number as u64, 40);
    Response::html(format!("<title>{title}</title><main><p>{text}</main>"))
}

#[test]
fn a_small_site_behind_a_wall_keeps_its_set_and_one_that_shrinks_does_not() {
    let wall = |edition: usize, number: usize, _: &super::Request| match edition {
        1 => Response::redirect(302, &format!("/all?from={number}")),
        2 => Response::html(format!(
            "<title>Not found</title><p>Sorry, /p/{number} was not found here."
        )),
        // Three of five are gone for good.
        3 if number <= 3 => Response::status(410),
        // Or are one page now.
        4 if number <= 3 => Response::redirect(301, "/all"),
        _ => article(number),
    };
    for pages in [2, 3, 4] {
        for edition in [1, 2] {
            let small = Small::new(pages, wall);
            small.crawl(0, 0, &[]).expect_code(0);
            let before = small.bench.published();
            for day in 1..3 {
                small.crawl(edition, day, &[]).expect_code(4);
                let changed = small.bench.published().differences(&before);
                assert_eq!(changed, [] as [String; 0], "{pages} {edition}");
            }
            small.crawl(0, 3, &[]).expect_code(0);
        }
    }
    for (edition, left) in [(3, 2), (4, 3)] {
        let small = Small::new(4, wall);
        small.crawl(0, 0, &[]).expect_code(0);
        small.crawl(edition, 1, &[]).expect_code(0);
        assert_eq!(small.bench.published().entries().len(), left);
    }
}

#[test]
fn pages_that_were_alike_all_the_time_are_no_wall() {
    let alike = |edition: usize, number: usize, _: &super::Request| {
        if edition == 2 && number > 20 {
            return Response::status(503);
        }
        if number > 20 {
            return article(number);
        }
        // In the last edition all of them change.
        let word = if edition == 3 { "swedes" } else { "turnips" };
        Response::html(format!(
            "<title>Number {number}</title><main><p>This is number {number} of the many {word} that we have for sale.</main>"
        ))
    };
    // A crawl with a limit comes to these first.
    let small = Small::new(50, alike);
    small.crawl(0, 0, &[]).expect_code(0);
    let before = small.bench.published();
    small.crawl(0, 1, &["--max-pages", "15"]).expect_code(3);
    // The others fail.
    let small = Small::new(40, alike);
    small.crawl(0, 0, &[]).expect_code(0);
    small.crawl(2, 1, &[]).expect_code(3);
    // They change, and are as alike as they were.
    let summary = small.crawl(3, 2, &["--max-pages", "21"]).expect_code(3);
    assert_eq!(number(&summary.summary(), "listed"), 41);
    assert_eq!(before.entries().len(), 51);
}

#[test]
fn an_honest_server_is_asked_with_what_was_published() {
    const WELL: &str = "Fri, 02 Oct 2020 08:00:00 GMT";
    const WALL: &str = "Sat, 07 Nov 2020 08:00:00 GMT";
    let small = Small::new(30, |edition, number, request| {
        let (since, answer) = match edition {
            0 => (WELL, article(number)),
            _ => (
                WALL,
                Response::html("<title>Sorry</title><h1>Not found</h1><p>There is nothing here."),
            ),
        };
        // Both are dates of one form; the year is the same, and October comes before November.
        let asked = request.headers.get("if-modified-since");
        let is_known = asked.is_some_and(|asked| asked == since || asked == WALL);
        let answer = answer.with("Last-Modified", since);
        if is_known {
            return Response {
                status: 304,
                body: Vec::new(),
                ..answer
            };
        }
        answer
    });
    small.crawl(0, 0, &[]).expect_code(0);
    let before = small.bench.published();
    small.crawl(0, 1, &[]).expect_code(0);
    small.crawl(1, 2, &[]).expect_code(4);
    for (day, limit, code) in [(3, "15", 3), (4, "1000", 0), (5, "1000", 0)] {
        small.site.clear_log();
        let ran = small
            .crawl(0, day, &["--max-pages", limit])
            .expect_code(code);
        let changed = small.bench.published().differences(&before);
        assert_eq!(changed, [] as [String; 0], "{}", ran.stderr);
        let asked_by_the_wall = small.site.log().into_iter().filter(|seen| {
            let since = seen.headers.get("if-modified-since");
            since.is_some_and(|since| since == WALL)
        });
        assert_eq!(asked_by_the_wall.count(), 0);
        assert!(number(&ran.summary(), "not_modified") > 10);
    }
}

#[test]
fn a_wall_that_grows_night_by_night_is_seen() {
    let small = Small::new(45, |edition, number, _| {
        if number <= 10 * edition {
            Response::redirect(302, &format!("/all?from={number}"))
        } else {
            article(number)
        }
    });
    small.crawl(0, 0, &[]).expect_code(0);
    small.crawl(1, 1, &[]).expect_code(0);
    let before = small.bench.published();
    for day in 2..4 {
        let summary = small.crawl(2, day, &[]).expect_code(4).summary();
        assert_eq!(objections(&summary), ["one-redirect-target"], "{summary}");
        let changed = small.bench.published().differences(&before);
        assert_eq!(changed, [] as [String; 0]);
    }
    // Somebody looked: it is so, and no more than that.
    small.crawl(2, 4, &["--force"]).expect_code(0);
    small.crawl(2, 5, &[]).expect_code(0);
    small.crawl(4, 6, &[]).expect_code(4);
}
