//! Login walls and outages that last a few nights, and crawls that see a part of the site.

use std::fs;

use super::{Mode, PAGES, World, objections};
use crate::support::program::Ran;

/// A crawl in the night `day`, with a limit.
fn night(world: &World, day: u32, limit: &str) -> Ran {
    let ahead = format!("{}h", 24 * day);
    world.crawl_later(&ahead, &["--max-pages", limit])
}

#[test]
fn a_login_wall_removes_nothing_from_limited_crawls() {
    for is_later in [false, true] {
        let world = World::new();
        let before = world.publish();
        if is_later {
            night(&world, 1, "10").expect_code(3);
        }
        world.is(Mode::LoginRedirect);
        let ran = night(&world, 2, "15").expect_code(4);
        assert_eq!(objections(&ran.summary()), ["alike"]);
        world.assert_unchanged(&before);
        world.is(Mode::Well);
        world.site.clear_log();
        // After recovery: the pages that showed the login wall are requested again, and those answers do not count in any session.
        for (day, code) in (3..).zip([3, 3, 3, 0]) {
            night(&world, day, "15").expect_code(code).summary();
            world.assert_unchanged(&before);
        }
        let mut asked = world.site.pages();
        asked.retain(|target| target != "/");
        asked.sort();
        asked.dedup();
        assert!(is_later || asked.len() == PAGES, "{asked:?}");
    }
}

#[test]
fn answers_of_a_dry_run_are_not_evidence() {
    let world = World::new();
    let before = world.publish();
    world.is(Mode::FiveGone);
    let rehearsed = world.crawl_later("24h", &["--dry-run"]);
    let summary = rehearsed.expect_code(0).summary();
    assert_eq!(summary["excluded"]["gone"], 5);
    for _ in 0..2 {
        world.crawl_later("24h", &["--dry-run", "--max-pages", "20"]);
        world.assert_unchanged(&before);
    }
    world.is(Mode::PagesAnswer(500));
    world.crawl_later("48h", &["--force"]).expect_code(3);
    world.assert_unchanged(&before);
    world.is(Mode::Well);
    world.crawl_later("49h", &[]).expect_code(0);
    world.assert_unchanged(&before);
}

#[test]
fn pages_that_refuse_for_months_are_not_gone() {
    let world = World::new();
    let before = world.publish();
    world.is(Mode::PagesAnswer(401));
    for day in [1, 31, 80] {
        let ran = world.crawl_later(&format!("{}h", 24 * day), &[]);
        let summary = ran.expect_code(4).summary();
        assert!(objections(&summary).contains(&"failing"), "{summary}");
        world.assert_unchanged(&before);
    }
    world.is(Mode::Well);
    world.crawl_later("2400h", &[]).expect_code(0);
    world.assert_unchanged(&before);
}

#[test]
fn the_guard_works_after_the_state_is_lost() {
    let world = World::new();
    let before = world.publish();
    fs::remove_dir_all(world.bench.state()).expect("the state can be removed");
    world.is(Mode::LoginForm);
    for _ in 0..2 {
        let summary = world.crawl(&[]).expect_code(4).summary();
        assert_eq!(objections(&summary).len(), 1, "{summary}");
        world.assert_unchanged(&before);
    }
    world.is(Mode::Well);
    let summary = world.crawl(&[]).expect_code(0).summary();
    assert_eq!(summary["outcome"], "unchanged", "{summary}");
    world.assert_unchanged(&before);
}
