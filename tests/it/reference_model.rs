//! Names and entries of the files of a site of 12,000 URLs, against the reference model of the
//! partition, through the whole program.

mod keys;
mod model;

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use crawler::testing::is_in_sample;

use self::{
    keys::{Change, HUBS, Keys, THRESHOLDS, URLS, hub},
    model::{Files, Model},
};
use crate::support::{
    program::Bench,
    published::Published,
    site::{Response, Site},
};

/// Files that a change touches at most, also when it makes a full section split or become whole again.
const MAX_TOUCHED: usize = 13;

/// The test takes minutes: one of three samples has it.
const OF_TESTS: usize = 3;

#[test]
fn a_crawled_site_gives_the_model_files() {
    if !is_in_sample(2, OF_TESTS) {
        return;
    }
    let Some(mut model) = Model::start() else {
        return;
    };
    let mut keys = Keys::new();
    let beginning = keys.beginning();
    let edited = keys.edit();
    let answer = model.change(&beginning.added, []);
    let is_edited = Arc::new(AtomicBool::new(false));
    let site = serve(&keys, &edited.edited[0], Arc::clone(&is_edited));
    let bench = Bench::new();
    let [file_entries, min_section, min_subsection] = THRESHOLDS;
    let config = bench.settings(&format!(
        "output.file_entries = {file_entries}\noutput.min_section = {min_section}\ntesting.min_subsection = {min_subsection}\n"
    ));
    let options = ["--config", config.as_str()];

    let ran = bench.crawl(&site.url("/"), &options).expect_code(0);
    assert_eq!(ran.summary()["listed"], URLS);
    let first = bench.published();
    check_files(&beginning, &first, &site.origin(), &answer);

    is_edited.store(true, Ordering::SeqCst);
    site.clear_log();
    bench.crawl(&site.url("/"), &options).expect_code(0);
    let second = bench.published();
    check_files(&edited, &second, &site.origin(), &answer);
    check_touched(&edited, &first, &second);
}

/// Serves the keys: the start page links to the hubs, these to all others.
fn serve(keys: &Keys, edited: &str, is_edited: Arc<AtomicBool>) -> Site {
    let hubs: Vec<String> = (0..HUBS).map(hub).collect();
    let others: Vec<&String> = keys
        .all
        .iter()
        .filter(|key| *key != "/" && !hubs.contains(key))
        .collect();
    let shares = others.chunks(others.len().div_ceil(HUBS));
    let mut links: BTreeMap<String, Vec<String>> = hubs
        .iter()
        .cloned()
        .zip(shares.map(|share| share.iter().map(|&key| key.clone()).collect()))
        .collect();
    links.insert("/".to_owned(), hubs);
    let (known, edited) = (keys.all.clone(), edited.to_owned());
    Site::start(move |request| {
        let target = request.target.as_str();
        let is_new = target == edited && is_edited.load(Ordering::SeqCst);
        let modified = if is_new { "2022" } else { "2021" };
        let modified = format!("Tue, 04 May {modified} 10:00:00 GMT");
        match links.get(target) {
            Some(links) => Response::linking(links).with("Last-Modified", &modified),
            None if known.contains(target) => Response::html(format!(
                "<!doctype html><title>{target}</title>{}",
                if is_new { "new" } else { "" }
            ))
            .with("Last-Modified", &modified),
            None => Response::status(404),
        }
    })
}

/// The set has the files of the model, and each has its entries in its order.
#[track_caller]
fn check_files(change: &Change, published: &Published, origin: &str, expected: &Files) {
    let name = &change.name;
    let parts = published.parts();
    let names: Vec<&str> = parts
        .keys()
        .map(|name| name.trim_end_matches(".gz"))
        .collect();
    let mut names_expected: Vec<&str> = expected.keys().map(String::as_str).collect();
    names_expected.sort_by_key(|name| format!("{name}.gz"));
    assert_eq!(names, names_expected, "{name}");
    for (file, expected) in expected {
        let part = parts[format!("{file}.gz").as_str()];
        let keys = part.entries.iter().map(|(loc, _)| {
            loc.strip_prefix(origin)
                .unwrap_or_else(|| panic!("{loc} is not below {origin}"))
        });
        assert!(
            keys.eq(expected.iter().map(String::as_str)),
            "{name}: {file} lists other URLs than the model"
        );
    }
    let index = &published.files["sitemap.xml"];
    assert_eq!(index.entries.len(), parts.len(), "{name}");
}

/// A change of one page that makes no file come or go rewrites one part and the index; any other a few.
#[track_caller]
fn check_touched(change: &Change, before: &Published, after: &Published) {
    let name = &change.name;
    let touched = before.differences(after);
    let changes = change.added.len() + change.removed.len() + change.edited.len();
    let stays = before.files.keys().eq(after.files.keys());
    if changes == 1 && stays {
        assert_eq!(touched.len(), 2, "{name}: {touched:?}");
        assert!(touched.contains(&"sitemap.xml".to_owned()), "{name}");
    } else {
        assert!(touched.len() <= MAX_TOUCHED, "{name}: {touched:?}");
    }
}
