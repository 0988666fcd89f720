//! A night of a published site: a table of changes by its owners, which are published, and one of failures, which are not.
//! Each row is a session of the program, on pages that mark their parts and on pages of plain `div`s.

mod deaths;
mod site;

use jiff::ToSpan as _;

use self::site::{Answer, Layout, Now, Page, path, town};
use super::*;
use crate::{
    publish::{Objection, PublishError},
    site_run::SessionError,
};

/// Pages besides the start page.
const PAGES: usize = 40;

/// A site over the nights, and its published set.
struct World {
    bench: Bench,
    now: Arc<Mutex<Now>>,
}

/// How a night ended: the objections, if it was refused.
type Night = Result<(), Vec<&'static str>>;

impl World {
    fn new(now: Now) -> Self {
        let now = Arc::new(Mutex::new(now));
        let asked = Arc::clone(&now);
        let site = FixtureSite::default().scripted(move |url, _| {
            let target = url.strip_prefix("https://site.example")?;
            asked.lock().unwrap().answer(target)
        });
        let mut bench = Bench::new(site);
        bench.config.limits.max_tries = 1;
        bench.config.politeness.failures_before_pause = 1_000;
        Self { bench, now }
    }

    /// A session, a day after the last one.
    async fn night(&mut self, now: Now) -> Night {
        *self.now.lock().unwrap() = now;
        let ended = Box::pin(self.bench.session()).await;
        self.bench.now += 24.hours();
        match ended.published {
            Ok(published) => {
                assert_eq!(published.problems, [""; 0]);
                Ok(())
            }
            Err(SessionError::Publish(PublishError::Refused(refusal))) => {
                Err(refusal.objections.iter().map(Objection::code).collect())
            }
            Err(error) => panic!("{error:?}"),
        }
    }

    fn published(&self) -> BTreeSet<String> {
        self.bench.published().into_keys().collect()
    }
}

/// A row of a table: a site, and what it is in the nights after it was published, by their numbers from 1 on.
struct Row {
    name: &'static str,
    before: fn(Layout) -> Now,
    after: fn(&mut Now, usize),
}

impl Row {
    const fn new(
        name: &'static str,
        before: fn(Layout) -> Now,
        after: fn(&mut Now, usize),
    ) -> Self {
        Self {
            name,
            before,
            after,
        }
    }

    /// A site that was published, and the paths of its set.
    async fn published(&self, layout: Layout) -> (World, Now, BTreeSet<String>) {
        let before = (self.before)(layout);
        let mut world = World::new(before.clone());
        let night = world.night(before.clone()).await;
        assert_eq!(night, Ok(()), "{}", self.name);
        let set = world.published();
        assert_eq!(set, before.paths().into_iter().collect(), "{}", self.name);
        (world, before, set)
    }

    fn at_night(&self, before: &Now, night: usize) -> Now {
        let mut now = before.clone();
        (self.after)(&mut now, night);
        now
    }
}

/// Changes by the owners of a site.
const CHANGES: &[Row] = &[
    Row::new(
        "all texts are edited, each night",
        Now::articles,
        |now, night| {
            now.edit(|number, page| page.text = Page::article(number + 1_000 * night).text);
        },
    ),
    Row::new(
        "the titles become that of the site",
        Now::articles,
        |now, _| {
            now.edit(|_, page| page.title = "Acme".to_owned());
        },
    ),
    Row::new("a login in the header", Now::articles, |now, _| {
        now.above = "<form>Password <input type=password></form>".to_owned();
    }),
    Row::new("a relaunch to new paths", Now::articles, |now, _| {
        now.relaunch(
            301,
            |number| format!("/new/{}", town(number)),
            Page::article,
        );
    }),
    Row::new(
        "a quarter of the pages is retired to one",
        Now::articles,
        |now, _| {
            now.answer_for(2, PAGES / 4, |_| Answer::Redirect(301, path(1)));
        },
    ),
];

#[tokio::test(start_paused = true)]
async fn changes_by_site_owners_are_published() {
    let mut failures = Vec::new();
    for row in CHANGES {
        for layout in [Layout::Landmarks, Layout::Divs] {
            let (mut world, before, _) = Box::pin(row.published(layout)).await;
            for night in 1..=2 {
                let now = row.at_night(&before, night);
                let ended = world.night(now.clone()).await;
                let mut expected: BTreeSet<String> = now.paths().into_iter().collect();
                expected
                    .retain(|path| !matches!(now.answers.get(path), Some(Answer::Redirect(..))));
                if ended.is_err() || world.published() != expected {
                    failures.push((row.name, layout, night, ended));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
