//! `kill -9` while commits are written. The test runs itself as the process that is killed.

use std::{
    env,
    io::{self, BufRead, BufReader, Write},
    process::{Command, Stdio},
};

use super::*;
use crate::store::outbox::UrlChange;

/// Names the state for the process that is to be killed.
const STATE: &str = "ARPENT_TEST_STATE_OF_KILLED_PROCESS";

/// URLs discovered by each commit; the first of them is finished by it, too.
const URLS_PER_COMMIT: u64 = 5;

/// Commits of a process that nobody kills, so that it ends some time.
const MAX_COMMITS: u64 = 100_000;

/// The commit with this number: every table is written to.
fn numbered_commit(number: u64) -> Vec<Effect> {
    let discovered: Vec<_> = (0..URLS_PER_COMMIT)
        .map(|url| discovery(&format!("/{number}/{url}"), number * URLS_PER_COMMIT + url))
        .collect();
    let first = discovered[0].key.clone();
    let end = Finished {
        links: Some(
            discovered
                .iter()
                .map(|found| found.key.clone())
                .collect::<Vec<_>>()
                .into(),
        ),
        ..finished(&discovered[0], record(Reason::Listed))
    };
    let page = page_of(record(Reason::Listed));
    Commit {
        pages: vec![PageRow {
            promotion: Some(Promotion::default()),
            ..page_row(first.clone(), page, PageLinks::OfVisit)
        }],
        discovered,
        finished: vec![end],
        values: vec![("commits".to_owned(), Some(number.to_string()))],
        outbox: vec![OutboxStep::Add {
            changes: vec![(first, UrlChange::Added)],
            since: Timestamp::UNIX_EPOCH,
        }],
        ..Commit::default()
    }
    .effects()
}

/// Number of commits that `store` reports.
fn commits(store: &Store) -> u64 {
    store
        .value("commits")
        .unwrap()
        .map_or(0, |value| value.parse().unwrap())
}

/// The process that is killed: prints the number of each commit once it is done.
fn commit_until_killed(path: &Path) {
    let mut store = Store::open(path).unwrap();
    let first = commits(&store) + 1;
    for number in first..first + MAX_COMMITS {
        store.commit(&numbered_commit(number)).unwrap();
        writeln!(io::stderr(), "{number}").unwrap();
    }
}

/// Everything that the first `count` commits wrote is there, and nothing else.
fn check_contents(store: &Store, count: u64) {
    assert_eq!(rows(store, None).len() as u64, count * URLS_PER_COMMIT);
    let queued = store.queued(None, usize::MAX).unwrap();
    assert_eq!(queued.len() as u64, count * (URLS_PER_COMMIT - 1));
    assert_eq!(stored_links(store), count);
    assert_eq!(store.outbox_len(), count);
    for number in 1..=count {
        let first = url(&format!("/{number}/0"));
        let page = store.page(&first).unwrap();
        assert_eq!(page.record, record(Reason::Listed));
        let visit = store.visit(&first).unwrap();
        assert_eq!(visit.promotion, Some(Promotion::default()));
        let links = links_of(store, &first);
        assert_eq!(links.map(|links| links.len()), Some(5));
    }
    assert!(
        queued
            .iter()
            .all(|queued| queued.sequence % URLS_PER_COMMIT != 0)
    );
}

#[test]
fn killed_process_leaves_every_reported_commit() {
    if let Some(path) = env::var_os(STATE) {
        commit_until_killed(Path::new(&path));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let name = concat!(
        module_path!(),
        "::killed_process_leaves_every_reported_commit"
    );
    let (_crate, name) = name.split_once("::").unwrap();
    for acknowledgements in [1, 2, 30, 100, 300] {
        let mut process = Command::new(env::current_exe().unwrap())
            .args([name, "--exact", "--nocapture"])
            .env(STATE, state(&folder))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap())
            .lines()
            .map(Result::unwrap);
        let told: Vec<String> = lines.by_ref().take(acknowledgements).collect();
        assert_eq!(told.len(), acknowledgements, "{told:?}");
        process.kill().unwrap();
        let last = lines.last().or(told.last().cloned()).unwrap();
        process.wait().unwrap();

        let store = Store::open(&state(&folder)).unwrap();
        let count = commits(&store);
        assert!(
            count >= last.parse().unwrap(),
            "{count} commits, {last} were told of"
        );
        check_contents(&store, count);
    }
}
