//! Sites that are crawled a few pages a night: a wall takes nothing out and brings nothing in, and what people do comes
//! to its end.

use super::{
    deaths::{login, not_found, own, redirect, suggestions},
    honest::{
        add_placeholders, articles, branches, data, one_shell, one_title, photos, shells, shop,
    },
    site::{Answer, Layout, Now},
    *,
};

/// Pages of a night.
const BUDGETS: [u64; 3] = [4, 5, 8];

/// Nights with a wall: several runs come and go meanwhile.
const NIGHTS: usize = 12;

/// Nights in which a run over a site comes to its end.
const MANY: usize = 30;

/// What is in the place of all pages but the first.
pub(super) type Wall = fn(&mut Now);

pub(super) const WALLS: &[(&str, Wall)] = &[
    ("to the login", |now| {
        now.instead = Some(|_, _| redirect("/login".to_owned()));
        now.below.push(("/login", |_| login("")));
    }),
    ("to the login with the address", |now| {
        now.instead = Some(|target, _| redirect(format!("/login?next={target}")));
        now.below.push(("/login", |_| login("")));
    }),
    ("to a login for each page", |now| {
        now.instead = Some(|target, _| redirect(format!("/login{target}")));
        now.below.push(("/login", |_| login("")));
    }),
    ("to a login for each page, with other suggestions", |now| {
        now.instead = Some(|target, _| redirect(format!("/login{target}")));
        now.below
            .push(("/login", |target| login(&suggestions(target))));
    }),
    ("to an error for each page, for good", |now| {
        now.instead = Some(|target, _| Answer::Redirect(301, format!("/error{target}")));
        now.below.push(("/error", |_| {
            Answer::Html("<title>Oh no</title><p>That did not work. Try the search.".to_owned())
        }));
    }),
    ("the login in place", |now| {
        now.instead = Some(|_, _| login(""));
    }),
    ("the login in place, with suggestions", |now| {
        now.instead = Some(|target, _| login(&suggestions(target)));
    }),
    ("not found", |now| {
        now.instead = Some(|_, page| own(page, "Not found", "Not found", "There is nothing here."));
    }),
    ("not found, with suggestions", |now| {
        now.instead = Some(not_found);
    }),
    ("not found, with status 404", |now| {
        now.instead = Some(|_, _| Answer::Status(404));
    }),
];

pub(super) fn behind(wall: Wall, before: &Now) -> Now {
    let mut now = before.clone();
    wall(&mut now);
    now.reach = 1..usize::MAX;
    now
}

/// Lets the site be crawled without a limit. What the run that is gone on with was told before may be refused once, and what
/// came in by mistake leaves when it answered 404 twice.
pub(super) async fn recover(world: &mut World, site: &Now) -> BTreeSet<String> {
    world.bench.config.limits.max_pages = u64::MAX;
    let first = world.night(site.clone()).await;
    for _ in 0..3 {
        let night = world.night(site.clone()).await;
        assert_eq!(night, Ok(()), "{first:?}");
    }
    world.published()
}

/// A single page may have moved, or be another one; two are not, when they lead to the same or are the same. Pages that answer
/// 404 twice leave, as few as may leave unseen.
#[tokio::test(start_paused = true)]
async fn a_wall_changes_next_to_nothing_in_the_set() {
    let mut failures = Vec::new();
    for (name, wall) in WALLS {
        for budget in BUDGETS {
            let site = articles(Layout::Landmarks);
            let mut world = World::new(site.clone());
            world.night(site.clone()).await.unwrap();
            let (set, listings) = (world.published(), world.listings());
            world.bench.config.limits.max_pages = budget;
            let mut nights = Vec::new();
            for _ in 0..NIGHTS {
                nights.push(world.night(behind(*wall, &site)).await);
                let now = world.listings();
                let others = now.iter().filter(|listing| !listings.contains(listing));
                let missing = set.difference(&world.published()).count();
                let most_missing = if name.ends_with("404") { 19 } else { 1 };
                if missing > most_missing || others.count() > 2 {
                    failures.push((*name, budget, missing, nights.clone()));
                    break;
                }
            }
            if recover(&mut world, &site).await != set {
                failures.push((*name, budget, 0, Vec::new()));
            }
        }
    }
    assert!(failures.is_empty(), "{failures:?}");
}

#[tokio::test(start_paused = true)]
async fn a_wall_does_not_fill_the_set_of_a_first_crawl() {
    let mut failures = Vec::new();
    for (name, wall) in WALLS {
        for budget in [5, 8] {
            let site = articles(Layout::Landmarks);
            let mut world = World::new(site.clone());
            world.bench.config.limits.max_pages = budget;
            for _ in 0..2 {
                world.night(site.clone()).await.unwrap();
            }
            let set = world.published();
            assert_eq!(set.len() as u64, 2 * budget);
            let mut nights = Vec::new();
            for _ in 0..NIGHTS {
                nights.push(world.night(behind(*wall, &site)).await);
                // The login is one page.
                if world.published().difference(&set).count() > 1 {
                    failures.push((*name, budget, nights.clone()));
                    break;
                }
            }
            let all: BTreeSet<String> = site.paths().into_iter().collect();
            if recover(&mut world, &site).await != all {
                failures.push((*name, budget, Vec::new()));
            }
        }
    }
    assert!(failures.is_empty(), "{failures:?}");
}

/// A site.
type Honest = (&'static str, fn(Layout) -> Now);

const SITES: &[Honest] = &[
    ("articles", articles),
    ("pages that are much alike", branches),
    ("numbers", data),
    ("one title", one_title),
    ("pictures", photos),
    ("a login in the header", shop),
    ("what scripts fill", shells),
    ("one application", one_shell),
    ("a section of placeholders", |layout| {
        let mut now = articles(layout);
        add_placeholders(&mut now, PAGES * 3 / 10);
        now
    }),
];

#[tokio::test(start_paused = true)]
async fn a_first_crawl_comes_to_its_end() {
    let mut failures = Vec::new();
    for (name, site) in SITES {
        for budget in [3, 5, 8] {
            for layout in [Layout::Landmarks, Layout::Divs] {
                let site = site(layout);
                let mut world = World::new(site.clone());
                world.bench.config.limits.max_pages = budget;
                let mut nights = Vec::new();
                while nights.len() < MANY && !nights.last().is_some_and(|(_, is_all)| *is_all) {
                    let night = world.night(site.clone()).await;
                    let is_all = night.is_ok() && world.published().len() == site.paths().len();
                    nights.push((night, is_all));
                }
                let is_well = nights.iter().all(|(night, _)| night.is_ok());
                if !is_well || !nights.last().is_some_and(|(_, is_all)| *is_all) {
                    failures.push((*name, budget, layout, nights));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{failures:?}");
}
