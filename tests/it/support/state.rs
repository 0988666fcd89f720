//! Reads the state of a site, and checks the sums of a summary.

use std::{collections::BTreeMap, ops::ControlFlow, path::PathBuf};

use crawler::{
    page::{PageRecord, Reason},
    store::{Shown, Store},
};
use serde_json::Value;

use super::program::Bench;

/// The state file of the only site of a place.
pub fn file(bench: &Bench) -> PathBuf {
    let mut files: Vec<PathBuf> = std::fs::read_dir(bench.state())
        .expect("there is a state")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "db"))
        .collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files.remove(0)
}

/// Every URL that the last crawl met, by path and query: as it was published, or as the crawl found it where that is
/// not published yet.
pub fn records(bench: &Bench) -> BTreeMap<String, PageRecord> {
    let store = Store::open(&file(bench)).expect("the state can be opened");
    let number = crawler::crawl_state::number(&store).expect("the state can be read");
    let mut records = BTreeMap::new();
    store
        .each(None, Shown::Whole, &mut |rows| {
            let page = rows.page()?.filter(|page| page.crawl == Some(number));
            let record = page.map(|page| page.record);
            let record = record.or(rows.visit()?.map(|visit| visit.record));
            let path = rows.key.path_and_query().to_owned();
            records.extend(record.map(|record| (path, record)));
            Ok(ControlFlow::Continue(()))
        })
        .expect("the state can be read");
    records
}

/// The reason of every known URL of the last crawl, by path and query.
pub fn reasons(bench: &Bench) -> BTreeMap<String, Reason> {
    let records = records(bench).into_iter();
    records
        .map(|(path, record)| (path, record.reason))
        .collect()
}

/// A number of a summary.
#[track_caller]
pub fn number(summary: &Value, name: &str) -> u64 {
    summary[name]
        .as_u64()
        .unwrap_or_else(|| panic!("{name}: {summary}"))
}

/// The excluded URLs of a summary by reason.
pub fn excluded(summary: &Value) -> BTreeMap<String, u64> {
    serde_json::from_value(summary["excluded"].clone()).expect("counts by reason")
}

/// Fails when the numbers of a summary do not add up.
#[track_caller]
pub fn assert_adds_up(summary: &Value) {
    let parts = ["listed", "failed", "queued"].map(|name| number(summary, name));
    let sum = parts.iter().sum::<u64>() + excluded(summary).values().sum::<u64>();
    let known = number(summary, "known");
    assert_eq!(known, sum, "{summary}");
    assert!(number(summary, "fetched") <= known, "{summary}");
}
