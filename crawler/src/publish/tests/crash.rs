//! Publishes that are interrupted at every step, in every way; the files that a reader finds then, and the
//! result of the next publish.

use std::{
    io::Read as _,
    panic::{AssertUnwindSafe, catch_unwind},
};

use sitemap_core::partition::Suffix;

use super::*;
use crate::{config::Format, publish::pending::Pending};

/// The differences of the publish after the interrupted one.
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

/// Reads the set as a search engine would: every file that the index names is there, whole, and not
/// older than the index states. The number of URLs; `None` when there is no index.
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

/// A small site with two directories that are big enough for files of their own.
fn small_bench() -> Bench {
    let mut bench = Bench::new("/");
    bench.config.min_section = 10;
    bench.config.min_subsection = 100;
    bench
}

/// Pages in each of the two directories of [`pages_before`].
const IN_DIRECTORY: u32 = 18;

/// Pages in the directory that comes with [`pages_after`].
const NEWS: u32 = 16;

/// A few root pages, and pages in two directories.
fn pages_before() -> BTreeMap<String, u64> {
    let root = ["/", "/about", "/small/1"].map(str::to_owned);
    let below =
        (0..IN_DIRECTORY).flat_map(|number| [format!("/blog/{number}"), format!("/docs/{number}")]);
    root.into_iter()
        .chain(below)
        .map(|path| (path, 1))
        .collect()
}

/// The same with a changed page, and another directory in the place of one.
fn pages_after() -> BTreeMap<String, u64> {
    let mut pages = pages_before();
    pages.insert("/about".into(), 3);
    pages.retain(|path, _| !path.starts_with("/docs/"));
    pages.extend((0..NEWS).map(|number| (format!("/news/{number}"), 1)));
    pages
}

impl Bench {
    /// Publishes, and is interrupted after `steps` steps in the folder or in the state; whether it did not get that far.
    fn publish_interrupted(&mut self, fault: PublishFault, steps: u32) -> bool {
        fault::after(steps, fault);
        let result = catch_unwind(AssertUnwindSafe(|| self.publish()));
        let is_over = !fault::end();
        if is_over {
            assert_eq!(result.unwrap().unwrap().problems, [""; 0]);
        }
        is_over
    }
}

/// A second publish is interrupted at each of its steps; then another one has to come out well.
fn check(how: PublishFault, next: Next) {
    let mut interrupted = 0;
    for steps in 0.. {
        let mut bench = small_bench();
        match next {
            Next::Same | Next::Plain | Next::InPlace => {}
            Next::EveryFormat => {
                bench.config.formats =
                    [Format::Xml, Format::Text, Format::Rss, Format::Atom].into();
            }
            Next::Kept => bench.config.generations = Some(bench.folder.path().join("kept")),
        }
        journal::adopt(&mut bench.store);
        bench.edition(0, &pages_before());
        let mut pages = pages_after();
        pages.insert("/blog/7".into(), 2);
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
        let listed: Vec<String> = bench.listed().into_keys().collect();
        let expected: Vec<String> = pages.keys().cloned().collect();
        assert_eq!(listed, expected, "{context}");
        assert_eq!(
            bench.store.outbox_len(),
            u64::from(2 + IN_DIRECTORY + NEWS),
            "{context}: no news is lost or doubled"
        );
        assert_eq!(Pending::read(&bench.store).unwrap(), None, "{context}");

        let published = bench.edition(25, &pages);
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
fn killed_publish_can_be_followed_by_any_other() {
    for next in [Next::Same, Next::Plain, Next::InPlace, Next::EveryFormat] {
        check(PublishFault::Kill, next);
    }
}

#[test]
fn failed_publish_can_be_followed_by_any_other() {
    for next in [Next::Same, Next::Plain, Next::InPlace, Next::EveryFormat] {
        check(PublishFault::Once, next);
        check(PublishFault::Always, next);
    }
}

#[test]
fn interrupted_publish_with_copies_can_be_repeated() {
    for fault in [PublishFault::Kill, PublishFault::Once, PublishFault::Always] {
        check(fault, Next::Kept);
    }
}

/// A rollback is interrupted at each of its steps; a reader finds a whole set, and the next command comes out well.
#[test]
fn interrupted_rollback_leaves_a_whole_set() {
    for fault in [PublishFault::Kill, PublishFault::Once, PublishFault::Always] {
        for steps in 0.. {
            let mut bench = small_bench();
            bench.config.generations = Some(bench.folder.path().join("kept"));
            journal::adopt(&mut bench.store);
            bench.edition(0, &pages_before());
            let pages = pages_after();
            bench.edition(25, &pages);
            bench.wait(25);
            fault::after(steps, fault);
            let result = catch_unwind(AssertUnwindSafe(|| bench.roll_back(false)));
            let is_over = !fault::end();
            let context = format!("{fault:?} after {steps} steps: {result:?}");
            assert!(
                read_as_a_reader(&bench.config.output).is_some(),
                "{context}"
            );
            // A copy of the manifest that could not be written is a problem of a set that is in place.
            let is_settled = Pending::read(&bench.store).unwrap().is_none();
            let mut is_done = matches!(&result, Ok(Ok(_))) && is_settled;
            if is_over {
                assert_eq!(result.unwrap().unwrap().problems, [""; 0]);
                assert!(is_done);
            }
            if !is_done {
                bench.wait(1);
                let settled = bench.settle().unwrap();
                is_done = settled == Settled::Completed;
            }
            let expected = if is_done { &pages_before() } else { &pages };
            if !is_done {
                // The index of the set before, perhaps with parts of the archived one.
                bench.publish().unwrap();
            }
            let urls = read_as_a_reader(&bench.config.output);
            assert_eq!(urls, Some(expected.len()), "{context}");
            assert_eq!(bench.listed().len(), expected.len(), "{context}");
            if is_over {
                assert!(steps >= 4, "interrupted {steps} times");
                break;
            }
        }
    }
}

/// A part that a publish which was given up has put in place is not removed while the index on disk names it.
#[test]
fn part_is_removed_after_its_index_is_replaced() {
    for steps in 0.. {
        let mut pages = pages_before();
        pages.insert("/about".into(), 3);
        let mut bench = small_bench();
        bench.edition(0, &pages_before());
        bench.wait(1);
        bench.crawl(&pages);
        // The first step after which the state knows of the publish.
        let mut first = 0;
        while Pending::read(&bench.store).unwrap().is_none() {
            bench.publish_interrupted(PublishFault::Kill, first);
            first += 1;
        }
        assert_eq!(bench.settle().unwrap(), Settled::GivenUp);
        bench.wait(25);
        pages.retain(|path, _| !path.starts_with("/docs/"));
        bench.crawl(&pages);
        let is_over = bench.publish_interrupted(PublishFault::Kill, steps);
        assert!(
            read_as_a_reader(&bench.config.output).is_some(),
            "after {steps} steps"
        );
        bench.publish().unwrap();
        let urls = read_as_a_reader(&bench.config.output);
        assert_eq!(urls, Some(pages.len()), "after {steps} steps");
        if is_over {
            break;
        }
    }
}
