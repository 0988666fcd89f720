//! Runs that take several starts: one of them goes into a wall, or a part of the site moves while a few pages a night are
//! asked for. A wall changes nothing, and what people do comes to its end.

use super::{
    few::{WALLS, Wall, behind, recover},
    honest::articles,
    site::{Answer, Layout, Now, Page, path},
    *,
};
use crate::store::names;

/// No limit.
const ALL: u64 = u64::MAX;

/// Nights in which what people did has to come to its end.
const MANY: usize = 20;

/// Pages that each night asks for at most, and in which nights the wall is there.
const PLANS: &[(&[u64], std::ops::Range<usize>)] = &[
    (&[30, ALL], 1..2),
    (&[30, ALL, ALL], 1..3),
    (&[38, ALL, ALL], 1..3),
    (&[12, 12, 12, ALL], 1..2),
    (&[12, 12, 12, ALL], 2..3),
    (&[12, 12, 12, 12], 3..4),
    (&[9, ALL], 0..1),
    (&[12, 12, 12, 12, 12, 12], 0..6),
];

/// Those that take out nothing: pages that answer 404 twice leave, as few as may leave unseen.
fn seen_walls() -> impl Iterator<Item = &'static (&'static str, Wall)> {
    WALLS.iter().filter(|(name, _)| !name.ends_with("404"))
}

#[tokio::test(start_paused = true)]
async fn a_run_that_goes_on_into_a_wall_changes_nothing() {
    let mut failures = Vec::new();
    for (name, wall) in seen_walls() {
        for (budgets, walled) in PLANS {
            let site = articles(Layout::Landmarks);
            let mut world = World::new(site.clone());
            world.night(site.clone()).await.unwrap();
            let before = world.listings();
            let mut nights = Vec::new();
            for (night, budget) in budgets.iter().enumerate() {
                world.bench.config.limits.max_pages = *budget;
                let now = if walled.contains(&night) {
                    behind(*wall, &site)
                } else {
                    site.clone()
                };
                nights.push(world.night(now).await);
                if world.listings() != before {
                    failures.push((*name, *budgets, walled.clone(), nights.clone()));
                    break;
                }
            }
            recover(&mut world, &site).await;
            if world.listings() != before {
                failures.push((*name, *budgets, walled.clone(), Vec::new()));
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_start_that_is_stopped_in_a_wall_takes_nothing_out_later() {
    for (name, wall) in seen_walls() {
        let site = articles(Layout::Divs);
        let mut world = World::new(site.clone());
        world.night(site.clone()).await.unwrap();
        let before = world.listings();
        world.bench.config.limits.max_pages = 20;
        assert_eq!(world.night(site.clone()).await, Ok(()), "{name}");
        world.bench.config.limits.max_pages = ALL;
        world.stopped(behind(*wall, &site), 9).await;
        // Too few of all to tell, and the site is well by now.
        assert_eq!(world.night(site.clone()).await, Ok(()), "{name}");
        assert_eq!(world.listings(), before, "{name}");
        recover(&mut world, &site).await;
        assert_eq!(world.listings(), before, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_was_stopped_and_goes_on_into_a_wall_changes_nothing() {
    for (name, wall) in seen_walls() {
        let site = articles(Layout::Landmarks);
        let mut world = World::new(site.clone());
        world.night(site.clone()).await.unwrap();
        let before = world.listings();
        world.stopped(site.clone(), 30).await;
        // What is left is few of all, and all of it is alike.
        assert_eq!(world.night(behind(*wall, &site)).await, Ok(()), "{name}");
        assert_eq!(world.listings(), before, "{name}");
        recover(&mut world, &site).await;
        assert_eq!(world.listings(), before, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_heard_while_the_clock_was_ahead_is_of_that_start() {
    for (name, wall) in seen_walls() {
        let site = articles(Layout::Landmarks);
        let mut world = World::new(site.clone());
        world.night(site.clone()).await.unwrap();
        let before = world.listings();
        world.bench.config.limits.max_pages = 27;
        world.bench.now += 72.hours();
        assert_eq!(world.night(site.clone()).await, Ok(()), "{name}");
        assert_eq!(world.listings(), before, "{name}");
        world.bench.now -= 72.hours();
        world.bench.config.limits.max_pages = 9;
        assert_eq!(world.night(behind(*wall, &site)).await, Ok(()), "{name}");
        assert_eq!(world.listings(), before, "{name}");
        recover(&mut world, &site).await;
        assert_eq!(world.listings(), before, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_start_that_is_killed_while_it_is_judged_vouches_for_nothing() {
    for (name, wall) in seen_walls() {
        let site = articles(Layout::Landmarks);
        let mut world = World::new(site.clone());
        world.night(site.clone()).await.unwrap();
        let before = world.listings();
        // Too many for one start, and too few for a refusal; what else it heard is well.
        let mut walled = behind(*wall, &site);
        walled.reach = 12..24;
        for (night, budget) in [12, ALL].into_iter().enumerate() {
            let began = world.bench.now;
            world.bench.config.limits.max_pages = budget;
            assert_eq!(world.night(walled.clone()).await, Ok(()), "{name}");
            // The login is a page, too.
            let now = world.listings();
            let is_there = before.iter().all(|listing| now.contains(listing));
            assert!(is_there, "{name} {night}");
            if night == 0 {
                world.is_being_judged(began);
            }
        }
    }
}

impl World {
    /// As if the last start, which began at `began`, had been killed when what is doubted was noted.
    fn is_being_judged(&self, began: Timestamp) {
        let mut store = self.bench.store.lock().unwrap();
        let store = store.as_mut().unwrap();
        let run = runs::newest(&**store).unwrap().unwrap();
        let values = [
            (names::RUN_STARTS, Some(format!("{run} {began}"))),
            (names::PUBLISH_JUDGING, Some(began.to_string())),
            (names::PUBLISH_WELL, None),
        ];
        let values = values.map(|(name, value)| (name.to_owned(), value));
        let commit = Commit {
            run,
            values: values.into(),
            ..Commit::default()
        };
        store.commit(&commit).unwrap();
    }
}

/// What people do with some pages of a site.
type Edit = fn(&mut Now, usize, usize);

const EDITS: &[(&str, Edit)] = &[
    ("moved to one page for good", |now, first, last| {
        now.answer_for(first, last, |_| Answer::Redirect(301, path(40)));
    }),
    ("moved to one page", |now, first, last| {
        now.answer_for(first, last, |_| Answer::Redirect(302, path(40)));
    }),
    ("moved to a new page", |now, first, last| {
        now.answer_for(first, last, |_| {
            Answer::Redirect(301, "/archive".to_owned())
        });
        now.answers
            .insert("/archive".to_owned(), Answer::Page(Page::article(900)));
    }),
    ("not made any more", |now, first, last| {
        now.answer_for(first, last, |_| {
            Answer::Page(Page {
                title: "Discontinued".to_owned(),
                heading: Some("Discontinued".to_owned()),
                text: "This is no longer made. See our new range.".to_owned(),
            })
        });
    }),
];

#[tokio::test(start_paused = true)]
async fn a_section_that_moves_while_few_pages_are_asked_for_leaves_some_nights_later() {
    let mut failures = Vec::new();
    for (name, edit) in EDITS {
        for (first, last) in [(1, 6), (20, 29), (33, 39)] {
            for budgets in [&[9][..], &[12], &[20], &[30, ALL]] {
                let site = articles(Layout::Landmarks);
                let mut world = World::new(site.clone());
                world.night(site.clone()).await.unwrap();
                let mut edited = site.clone();
                edit(&mut edited, first, last);
                // As a crawl without a limit has it.
                let mut other = World::new(site.clone());
                other.night(site.clone()).await.unwrap();
                other.night(edited.clone()).await.unwrap();
                let (expected, stays) = (other.contents(), world.contents());
                let mut nights = Vec::new();
                while nights.len() < MANY && world.contents() != expected {
                    let night = nights.len().min(budgets.len() - 1);
                    world.bench.config.limits.max_pages = budgets[night];
                    nights.push(world.night(edited.clone()).await);
                    // What did not move is there all the time.
                    let now = world.contents();
                    assert!(
                        expected
                            .iter()
                            .filter(|page| stays.contains(*page))
                            .all(|page| now.contains(page)),
                        "{name} {budgets:?}"
                    );
                }
                let is_well = nights.iter().all(Result::is_ok);
                if !is_well || world.contents() != expected {
                    failures.push((*name, first, budgets, nights));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
