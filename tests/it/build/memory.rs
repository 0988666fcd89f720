//! Lists of any size and in any order, in bounded memory.

use std::{collections::BTreeMap, ffi::OsString, fmt::Write as _, fs, process::Command};

use crawler::testing::is_full;

use super::Builds;
use crate::support::{program::Ran, random::Random};

/// URLs of the list: enough that a build that kept them in memory would fail.
const URLS: usize = 100_000;

/// URLs of the list when the full proof is requested with `ARPENT_FULL=1`: thirty times as many in the same memory.
const ALL_URLS: usize = 3_000_000;

fn urls() -> usize {
    if is_full() { ALL_URLS } else { URLS }
}

/// Memory that the process may write to, in KiB. A list of any length needs less than 64 MiB, stacks included. The rest is
/// 160 bytes for each URL, so that a build that kept them in memory would fail.
const MEMORY_KIB: u64 = 80 * 1_024;

fn rows(count: usize) -> Vec<String> {
    let row = |number: usize| {
        let (section, year) = (number % 30, 2000 + number / 30 % 20);
        let day = 1 + number % 28;
        format!(
            "/section-{section}/{year}/an-article-about-{number:07},2026-01-{day:02},0.{}",
            number % 10
        )
    };
    (0..count).map(row).collect()
}

fn list(rows: &[String]) -> String {
    let mut list = "url,lastmod,priority\n".to_owned();
    for row in rows {
        writeln!(list, "{row}").expect("memory can be written");
    }
    list
}

#[test]
fn order_of_a_list_changes_no_file() {
    let count = urls();
    let mut rows = rows(count);
    let ordered = Builds::new();
    let file = ordered.file("list.csv", list(&rows));
    ordered.build(&[&file]).expect_code(0);
    let mut random = Random(11);
    for last in (1..rows.len()).rev() {
        rows.swap(last, random.below(last + 1));
    }
    let shuffled = Builds::new();
    let file = shuffled.file("list.csv", list(&rows));
    let ran = in_limited_memory(&shuffled.command(super::BASE, &[&file])).expect_code(0);
    assert_eq!(ran.summary()["listed"], count);
    let (one, two) = (parts(&ordered), parts(&shuffled));
    // A section of 100,000 URLs is split by year.
    let files = if is_full() { 30 * 20 } else { 30 };
    assert_eq!(one.len(), files, "{:?}", one.keys());
    for (name, part) in &one {
        assert!(two.get(name) == Some(part), "{} differs", name.display());
    }
    assert_eq!(one.len(), two.len());
}

/// The bytes of each part.
fn parts(builds: &Builds) -> BTreeMap<OsString, Vec<u8>> {
    let entries = fs::read_dir(builds.output()).expect("an output");
    let entries = entries.map(|entry| entry.expect("the folder can be read"));
    let parts = entries.filter(|entry| entry.path().extension().is_some_and(|end| end == "gz"));
    parts
        .map(|part| (part.file_name(), fs::read(part.path()).expect("a part")))
        .collect()
}

/// Runs a command that cannot have more memory than [`MEMORY_KIB`].
fn in_limited_memory(command: &Command) -> Ran {
    let mut limited = Command::new("sh");
    limited
        .args(["-c", &format!("ulimit -d {MEMORY_KIB}; exec \"$0\" \"$@\"")])
        .arg(command.get_program())
        .args(command.get_args())
        .env_clear()
        .envs(
            command
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
    if let Some(folder) = command.get_current_dir() {
        limited.current_dir(folder);
    }
    Ran::of(limited)
}
