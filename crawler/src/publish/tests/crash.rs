//! Publishes that end before their end, at every step, in every way; what a reader finds then, and what
//! the next publish makes of it.

use std::{
    io::Read as _,
    panic::{AssertUnwindSafe, catch_unwind},
};

use sitemap_core::partition::Suffix;

use super::*;
use crate::config::Format;

/// What the publish after the interrupted one does differently.
#[derive(Debug, Clone, Copy)]
enum Next {
    Same,
    Plain,
    InPlace,
    /// The same, but both publish every format.
    EveryFormat,
    /// The same, but copies of both are kept.
    Kept,
}

/// Where a publish is interrupted: a step in the folder, or a write to the state.
#[derive(Debug, Clone, Copy)]
enum Interrupted {
    Folder(Fault),
    State,
}

/// Reads the set as a search engine would: every file that the index names is there, whole, and not
/// older than the index says. The number of URLs; `None` when there is no index.
fn read_as_a_reader(output: &Path) -> Option<usize> {
    let index = fs::read_to_string(output.join("sitemap.xml")).ok()?;
    assert!(index.ends_with("</sitemapindex>\n"), "{index}");
    let mut urls = 0;
    for entry in index.split("<sitemap>").skip(1) {
        let value = |tag: &str| {
            let (_, rest) = entry.split_once(&format!("<{tag}>")).unwrap();
            rest.split_once("</").unwrap().0.to_owned()
        };
        let loc = value("loc");
        let name = loc.strip_prefix("https://shop.example/").unwrap();
        let file = fs::File::open(output.join(name)).unwrap_or_else(|error| {
            panic!("the index names {name}: {error}");
        });
        let modified = file.metadata().unwrap().modified().unwrap();
        assert!(
            time(&value("lastmod")) <= Timestamp::try_from(modified).unwrap(),
            "{name}"
        );
        let mut xml = String::new();
        if name.ends_with(Suffix::XmlGz.as_str()) {
            let mut gzip = flate2::read::GzDecoder::new(file);
            gzip.read_to_string(&mut xml).unwrap();
        } else {
            let mut file = file;
            file.read_to_string(&mut xml).unwrap();
        }
        if [".rss", ".atom"].iter().any(|end| name.ends_with(end)) {
            let is_whole = xml.ends_with("</rss>\n") || xml.ends_with("</feed>\n");
            assert!(is_whole, "{name}: {xml}");
            continue;
        }
        assert!(xml.ends_with("</urlset>\n"), "{name}: {xml}");
        urls += xml.matches("<loc>").count();
    }
    Some(urls)
}

impl Bench {
    /// Publishes, and is interrupted after `steps` steps; whether it did not get that far.
    fn publish_interrupted(&mut self, how: Interrupted, steps: u32) -> bool {
        match how {
            Interrupted::Folder(fault) => {
                fault::after(steps, fault);
                let result = catch_unwind(AssertUnwindSafe(|| self.publish_again()));
                let is_over = !fault::end();
                if is_over {
                    assert_eq!(result.unwrap().unwrap().problems, [""; 0]);
                }
                is_over
            }
            Interrupted::State => {
                let writes = usize::try_from(steps).unwrap();
                let whole = self.store.snapshot();
                let mut failing = FailingStore::after_writes(whole, writes);
                let result = publish(&mut failing, &self.request());
                self.store = failing.into_inner();
                result.is_ok_and(|published| published.problems.is_empty())
            }
        }
    }

    fn request(&self) -> PublishRequest<'_> {
        PublishRequest {
            site: &self.site,
            run: self.run,
            config: &self.config,
            robots: None,
            partial: false,
            doubted: None,
            dry_run: false,
            now: self.now,
            is_stopped: &|| false,
        }
    }

    /// Publishes without an end of the run.
    fn publish_again(&mut self) -> Result<Published, PublishError> {
        let mut store = self.store.clone();
        publish(&mut store, &self.request())
    }
}

/// A second publish is interrupted at each of its steps; then another one has to come out well.
fn check(how: Interrupted, next: Next) {
    let mut interrupted = 0;
    for steps in 0.. {
        let mut bench = Bench::new("/");
        match next {
            Next::Same | Next::Plain | Next::InPlace => {}
            Next::EveryFormat => {
                bench.config.formats =
                    [Format::Xml, Format::Text, Format::Rss, Format::Atom].into();
            }
            Next::Kept => bench.config.generations = Some(bench.folder.path().join("kept")),
        }
        bench.crawl(&shop());
        bench.publish().unwrap();
        let mut pages = shop();
        pages.insert("/blog/7".into(), 2);
        pages.insert("/about".into(), 3);
        pages.retain(|path, _| !path.starts_with("/docs/"));
        pages.extend((0..110).map(|number| (format!("/news/{number}"), 1)));
        // Longer than the grace after the first one, so that something could be removed.
        bench.wait(25);
        bench.crawl(&pages);
        let is_over = bench.publish_interrupted(how, steps);
        let context = format!("{how:?} after {steps} steps, then {next:?}");
        let urls = read_as_a_reader(&bench.config.output);
        assert!(urls.is_some(), "{context}: the index is gone");

        match next {
            Next::Same | Next::EveryFormat | Next::Kept => {}
            Next::Plain => bench.config.gzip = false,
            Next::InPlace => bench.config.layout = Layout::InPlace,
        }
        bench.wait(1);
        let published = bench
            .publish()
            .unwrap_or_else(|error| panic!("{context}: {error}"));
        assert_eq!(published.problems, [""; 0], "{context}");
        let urls = read_as_a_reader(&bench.config.output);
        assert_eq!(urls, Some(pages.len()), "{context}");

        bench.wait(25);
        bench.crawl(&pages);
        let published = bench.publish().unwrap();
        assert_eq!(changed(&published), [""; 0], "{context}");
        let mut names: Vec<&str> = published.files.iter().map(|file| &*file.name).collect();
        names.sort_unstable();
        let files = bench.files();
        let standing: Vec<&str> = files.keys().map(|name| &**name).collect();
        assert_eq!(standing, names, "{context}: leftovers or backups");
        if is_over {
            break;
        }
        interrupted += 1;
    }
    assert!(interrupted >= 2, "{how:?}: interrupted {interrupted} times");
}

#[test]
fn a_publish_that_is_killed_at_any_step_can_be_followed_by_any_other() {
    for next in [Next::Same, Next::Plain, Next::InPlace, Next::EveryFormat] {
        check(Interrupted::Folder(Fault::Kill), next);
    }
}

#[test]
fn a_publish_that_fails_at_any_step_can_be_followed_by_any_other() {
    for next in [Next::Same, Next::Plain, Next::InPlace, Next::EveryFormat] {
        check(Interrupted::Folder(Fault::Once), next);
        check(Interrupted::Folder(Fault::Always), next);
    }
}

#[test]
fn a_publish_that_ends_while_copies_are_kept_can_be_followed_by_another() {
    for fault in [Fault::Kill, Fault::Once, Fault::Always] {
        check(Interrupted::Folder(fault), Next::Kept);
    }
}

#[test]
fn a_publish_whose_state_fails_at_any_write_can_be_followed_by_any_other() {
    for next in [Next::Same, Next::Plain, Next::InPlace, Next::EveryFormat] {
        check(Interrupted::State, next);
    }
}

/// A rollback is interrupted at each of its steps; a reader finds a whole set, and the same rollback then comes out well.
fn check_rollback(how: Interrupted) {
    let mut interrupted = 0;
    for steps in 0.. {
        let mut bench = Bench::new("/");
        bench.config.generations = Some(bench.folder.path().join("kept"));
        bench.crawl(&shop());
        bench.publish().unwrap();
        let first = bench.files();
        let mut pages = shop();
        pages.insert("/about".into(), 3);
        pages.retain(|path, _| !path.starts_with("/docs/"));
        pages.extend((0..110).map(|number| (format!("/news/{number}"), 1)));
        bench.wait(25);
        bench.crawl(&pages);
        bench.publish().unwrap();
        bench.wait(25);
        let back = |bench: &Bench| {
            let mut store = bench.store.clone();
            roll_back(&mut store, &bench.request(), 1)
        };
        let context = format!("{how:?} after {steps} steps");
        let (result, is_over) = match how {
            Interrupted::Folder(fault) => {
                fault::after(steps, fault);
                let result = catch_unwind(AssertUnwindSafe(|| back(&bench)));
                (result.ok(), !fault::end())
            }
            Interrupted::State => {
                let writes = usize::try_from(steps).unwrap();
                let mut failing = FailingStore::after_writes(bench.store.snapshot(), writes);
                let result = roll_back(&mut failing, &bench.request(), 1);
                bench.store = failing.into_inner();
                let is_over = matches!(&result, Ok(published) if published.problems.is_empty());
                (Some(result), is_over)
            }
        };
        let urls = read_as_a_reader(&bench.config.output);
        assert!(urls.is_some(), "{context}: the index is gone");
        let is_done = matches!(&result, Some(Ok(published)) if published.problems.is_empty());
        if is_over {
            assert!(is_done, "{context}: {result:?}");
        }
        if !is_done {
            bench.wait(1);
            let published = back(&bench);
            let is_done_now = matches!(&published, Ok(published) if published.problems.is_empty());
            // Either it is done now, or it was recorded before it was interrupted.
            let is_recorded = kept_sets(&bench.store).unwrap().is_empty();
            assert!(is_done_now || is_recorded, "{context}: {published:?}");
        }
        assert_eq!(
            read_as_a_reader(&bench.config.output),
            Some(shop().len()),
            "{context}"
        );
        let files = bench.files();
        let is_part = |name: &str| name.starts_with("sitemap.") && name != "sitemap.xml";
        for (name, (bytes, _)) in first.iter().filter(|(name, _)| is_part(name)) {
            let now = files.get(name).map(|(bytes, _)| bytes);
            assert_eq!(now, Some(bytes), "{context}: {name}");
        }
        // What is remembered is of the set that stands, and what came and went is to be told once.
        let remembered = bench.store.published(None, usize::MAX).unwrap();
        assert_eq!(remembered.len(), shop().len(), "{context}");
        let waiting = bench
            .store
            .outbox(None, usize::MAX, Timestamp::MAX)
            .unwrap();
        assert_eq!(waiting.len(), 110 + 120, "{context}");
        // The next crawl goes on from there.
        bench.wait(25);
        bench.crawl(&pages);
        assert_eq!(bench.publish().unwrap().problems, [""; 0], "{context}");
        assert_eq!(read_as_a_reader(&bench.config.output), Some(pages.len()));
        if is_over {
            break;
        }
        interrupted += 1;
    }
    assert!(interrupted >= 4, "interrupted {interrupted} times");
}

#[test]
fn a_rollback_that_ends_at_any_step_leaves_a_whole_set_and_can_be_done_again() {
    for fault in [Fault::Kill, Fault::Once, Fault::Always] {
        check_rollback(Interrupted::Folder(fault));
    }
}

#[test]
fn a_rollback_whose_state_fails_at_any_write_can_be_done_again() {
    check_rollback(Interrupted::State);
}
