//! Login walls and outages that last a few nights, and crawls that see a part of the site.

use std::fs;

use super::{Mode, PAGES, World, objections};
use crate::support::{
    program::Ran,
    published::Published,
    state::{assert_adds_up, number},
};

/// A crawl in the night `day`, with a limit.
fn night(world: &World, day: u32, limit: &str) -> Ran {
    let ahead = format!("{}h", 24 * day);
    world.crawl_later(&ahead, &["--max-pages", limit])
}

#[track_caller]
fn assert_unchanged(world: &World, before: &Published) {
    let changed = world.bench.published().differences(before);
    assert_eq!(changed, [] as [String; 0]);
}

#[test]
fn a_refused_crawl_with_a_limit_is_not_continued() {
    let world = World::new();
    let before = world.publish();
    world.is(Mode::LoginRedirect);
    let ran = night(&world, 1, "15").expect_code(4);
    let summary = ran.summary();
    assert_eq!(objections(&summary), ["alike"]);
    assert_unchanged(&world, &before);
    world.is(Mode::Well);
    world.site.clear_log();
    // After recovery: the pages that showed the login wall are requested again, and those answers do not count in any session.
    for (day, code) in (2..).zip([3, 3, 3, 0]) {
        let ran = night(&world, day, "15").expect_code(code);
        assert_adds_up(&ran.summary());
        assert_unchanged(&world, &before);
    }
    let mut asked = world.site.pages();
    asked.retain(|target| target != "/");
    asked.sort();
    asked.dedup();
    assert_eq!(asked.len(), PAGES, "{asked:?}");
}

#[test]
fn a_login_wall_in_the_middle_of_a_long_crawl_removes_nothing() {
    let world = World::new();
    let before = world.publish();
    night(&world, 1, "10").expect_code(3);
    world.is(Mode::LoginRedirect);
    let ran = night(&world, 2, "15").expect_code(4);
    assert_eq!(objections(&ran.summary()), ["alike"]);
    world.is(Mode::Well);
    for (day, code) in (3..).zip([3, 3, 3, 0]) {
        let ran = night(&world, day, "15").expect_code(code);
        let summary = ran.summary();
        assert_adds_up(&summary);
        assert_eq!(number(&summary, "listed"), PAGES as u64 + 1, "{summary}");
        assert_unchanged(&world, &before);
    }
}

#[test]
fn after_a_login_wall_pages_that_a_limited_crawl_does_not_reach_stay() {
    for mode in [
        Mode::LoginRedirect,
        Mode::StatusBehindTheStart(410),
        Mode::LoginForm,
    ] {
        let world = World::new();
        let before = world.publish();
        world.is(mode);
        world.crawl_later("24h", &[]).expect_code(4);
        world.crawl_later("48h", &[]).expect_code(4);
        world.is(Mode::Well);
        let summary = night(&world, 3, "15").expect_code(3).summary();
        assert_adds_up(&summary);
        assert_eq!(summary["retained"]["not-reached"], PAGES + 1 - 15);
        assert_unchanged(&world, &before);
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
        assert_unchanged(&world, &before);
    }
    world.is(Mode::FailFrom(0));
    world.crawl_later("48h", &["--force"]).expect_code(3);
    assert_unchanged(&world, &before);
    world.is(Mode::Well);
    world.crawl_later("49h", &[]).expect_code(0);
    assert_unchanged(&world, &before);
}

#[test]
fn pages_that_may_not_be_read_for_a_month_are_not_gone() {
    let world = World::new();
    let before = world.publish();
    world.is(Mode::StatusBehindTheStart(401));
    for day in [1, 15, 31, 33, 80] {
        let ran = world.crawl_later(&format!("{}h", 24 * day), &[]);
        let summary = ran.expect_code(4).summary();
        assert!(objections(&summary).contains(&"failing"), "{summary}");
        assert_unchanged(&world, &before);
    }
    world.is(Mode::Well);
    world.crawl_later("2400h", &[]).expect_code(0);
    assert_unchanged(&world, &before);
}

#[test]
fn the_guard_works_after_the_state_is_lost() {
    for mode in [Mode::Parked, Mode::LoginEach, Mode::LoginForm] {
        let world = World::new();
        let before = world.publish();
        fs::remove_dir_all(world.bench.state()).expect("the state can be removed");
        world.is(mode);
        for _ in 0..2 {
            let summary = world.crawl(&[]).expect_code(4).summary();
            assert_eq!(objections(&summary).len(), 1, "{mode:?}: {summary}");
            assert_unchanged(&world, &before);
        }
        world.is(Mode::Well);
        let summary = world.crawl(&[]).expect_code(0).summary();
        assert_eq!(summary["outcome"], "unchanged", "{mode:?}: {summary}");
        assert_unchanged(&world, &before);
    }
}
