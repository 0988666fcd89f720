//! What may become of a published site over night: a table of what its people do, which is published, beside one of
//! what befalls it, which is not. Each row goes through crawl and publish, on pages that tell their parts apart by their
//! markup and on pages of plain `div`s.

mod deaths;
mod doubted;
mod few;
mod honest;
mod site;

use std::collections::BTreeSet;

use jiff::ToSpan as _;

use self::site::{Layout, Now};
use super::*;
use crate::{
    config::PublishConfig,
    page::{Basis, Outcome, PageRecord, Via},
    publish::{PublishError, PublishRequest, disown, publish},
    store::{Commit, Discovery, Finished, outbox::Listing},
};

/// Pages besides the start page.
const PAGES: usize = 40;

/// A site over the nights, and what is published of it.
struct World {
    bench: Bench,
    now: Arc<Mutex<Now>>,
    /// So many requests from now on this is stopped.
    stop: Arc<Mutex<Option<(usize, Shutdown)>>>,
    output: tempfile::TempDir,
}

/// How a night ended: the objections, if it was refused.
type Night = Result<(), Vec<&'static str>>;

impl World {
    fn new(now: Now) -> Self {
        let now = Arc::new(Mutex::new(now));
        let asked = Arc::clone(&now);
        let stop: Arc<Mutex<Option<(usize, Shutdown)>>> = Arc::default();
        let stopping = Arc::clone(&stop);
        let site = FixtureSite::default().scripted(move |url, _| {
            let target = url.strip_prefix("https://site.example")?;
            if let Some((left, shutdown)) = &mut *stopping.lock().unwrap() {
                *left = left.saturating_sub(1);
                if *left == 0 {
                    shutdown.stop();
                }
            }
            asked.lock().unwrap().answer(target)
        });
        let mut bench = Bench::new(site);
        bench.config.limits.max_tries = 1;
        bench.config.politeness.failures_before_pause = 1_000;
        let output = tempfile::tempdir().unwrap();
        bench.config.publish = PublishConfig {
            output: output.path().join("out"),
            ..PublishConfig::default()
        };
        Self {
            bench,
            now,
            stop,
            output,
        }
    }

    /// Crawls and publishes as the program does, a day after the last time.
    async fn night(&mut self, now: Now) -> Night {
        *self.now.lock().unwrap() = now;
        let mut crawled = self.bench.run().await;
        let is_drained = crawled.ending == Ending::Drained;
        let request = PublishRequest {
            site: &crawled.site,
            run: crawled.run,
            config: &self.bench.config.publish,
            robots: None,
            partial: false,
            doubted: crawled.doubted.as_ref(),
            dry_run: false,
            now: self.bench.now,
            is_stopped: &|| false,
        };
        let published = publish(&mut *crawled.store, &request);
        let is_refused = matches!(published, Err(PublishError::Refused(_)));
        if is_refused {
            disown(&mut *crawled.store, crawled.run).unwrap();
        }
        if is_refused || is_drained {
            runs::finish(&mut *crawled.store, crawled.run).unwrap();
        }
        self.bench.keep(crawled);
        self.bench.now += 24.hours();
        match published {
            Ok(published) => {
                assert_eq!(published.problems, [""; 0]);
                Ok(())
            }
            // Nothing changes, and the run goes on.
            Err(PublishError::Doubted(_)) => Ok(()),
            Err(PublishError::Refused(refusal)) => {
                let codes = refusal.objections.iter();
                Err(codes.map(crate::publish::Objection::code).collect())
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// Begins to crawl, a day after the last time, and is stopped at a request.
    async fn stopped(&mut self, now: Now, request: usize) {
        *self.now.lock().unwrap() = now;
        let shutdown = Shutdown::default();
        *self.stop.lock().unwrap() = Some((request, shutdown.clone()));
        let crawled = self.bench.crawl(START, &shutdown).await.unwrap();
        assert_eq!(crawled.ending, Ending::Stopped);
        *self.stop.lock().unwrap() = None;
        self.bench.keep(crawled);
        self.bench.now += 24.hours();
    }

    /// Publishes the pages of the site as a list of URLs names them.
    fn build(&mut self) {
        let mut store = self.bench.store.lock().unwrap();
        let store = store.as_mut().unwrap();
        let run = runs::open(&mut **store, "", self.bench.now).unwrap();
        let mut commit = Commit {
            run: run.number,
            ..Commit::default()
        };
        for (path, sequence) in self.now.lock().unwrap().paths().into_iter().zip(1..) {
            let key = UrlKey::from_normalised(&url(&path)).unwrap();
            commit.discovered.push(Discovery {
                key: key.clone(),
                sequence,
                depth: 0,
                hops: 0,
                via: Via::Input,
                found_on: None,
                reason: Reason::Queued,
            });
            commit.finished.push(Finished {
                key,
                sequence,
                record: PageRecord {
                    run: run.number,
                    reason: Reason::Given,
                    depth: 0,
                    via: Via::Input,
                    found_on: None,
                    attempts: 0,
                    fetched_at: None,
                    sitemap_lastmod: None,
                    outcome: Some(Outcome::Given(Box::default())),
                    basis: Basis::Own,
                },
                links: None,
            });
        }
        store.commit(&commit).unwrap();
        let start = UrlKey::from_normalised(START).unwrap();
        let request = PublishRequest {
            site: &Site {
                origin: start.origin(),
                directory: "/".to_owned(),
                start,
                stand_in: None,
            },
            run: run.number,
            config: &self.bench.config.publish,
            robots: None,
            partial: false,
            doubted: None,
            dry_run: false,
            now: self.bench.now,
            is_stopped: &|| false,
        };
        publish(&mut **store, &request).unwrap();
        runs::finish(&mut **store, run.number).unwrap();
        self.bench.now += 24.hours();
    }

    /// What is known of the URLs of the published set.
    fn listings(&self) -> Vec<(UrlKey, Listing)> {
        let store = self.bench.store.lock().unwrap();
        store.as_ref().unwrap().published(None, 10_000).unwrap()
    }

    /// The URLs of the published set with what tells their contents apart.
    fn contents(&self) -> BTreeSet<(UrlKey, Option<u64>)> {
        let listings = self.listings().into_iter();
        let contents = listings.map(|(key, listing)| (key, listing.content.map(|mark| mark.hash)));
        contents.collect()
    }

    /// The paths of the published set.
    fn published(&self) -> BTreeSet<String> {
        let store = self.bench.store.lock().unwrap();
        let listed = store.as_ref().unwrap().published(None, 10_000).unwrap();
        let paths = listed
            .iter()
            .map(|(key, _)| key.path_and_query().to_owned());
        assert!(self.output.path().join("out").join("sitemap.xml").exists());
        paths.collect()
    }
}

/// One row of a table: a site, and what it is in the nights after it was published, by their numbers from 1 on.
struct Row {
    name: &'static str,
    before: fn(Layout) -> Now,
    after: fn(&mut Now, usize),
    /// Pages that a night asks for at most.
    budget: Option<u64>,
    /// The set that stands was made from a list.
    is_built: bool,
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
            budget: None,
            is_built: false,
        }
    }

    const fn with_budget(self, pages: u64) -> Self {
        Self {
            budget: Some(pages),
            ..self
        }
    }

    const fn built(self) -> Self {
        Self {
            is_built: true,
            ..self
        }
    }

    /// A site that was published, and the paths of its set.
    async fn published(&self, layout: Layout) -> (World, Now, BTreeSet<String>) {
        let before = (self.before)(layout);
        let mut world = World::new(before.clone());
        if self.is_built {
            world.build();
        } else {
            let night = world.night(before.clone()).await;
            assert_eq!(night, Ok(()), "{}", self.name);
        }
        let set = world.published();
        assert_eq!(set, before.paths().into_iter().collect(), "{}", self.name);
        world.bench.config.limits.max_pages = self.budget.unwrap_or(u64::MAX);
        (world, before, set)
    }

    fn at_night(&self, before: &Now, night: usize) -> Now {
        let mut now = before.clone();
        (self.after)(&mut now, night);
        now
    }
}
