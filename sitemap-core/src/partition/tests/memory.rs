//! The memory of a counter grows with the files, not with the keys.

use super::{Random, SMALL, counter_of};

const KEYS: u64 = 100_000;

/// Counts the keys: at no time more than `most` counts are held, and no more than `at_end` after the last key.
#[track_caller]
fn check(keys: impl Iterator<Item = String>, most: usize, at_end: usize) {
    let mut counter = counter_of("/").unwrap();
    let mut held = 0;
    for (number, key) in keys.enumerate() {
        counter.push(&key, SMALL).unwrap();
        if number % 64 == 0 {
            held = held.max(counter.held());
        }
    }
    assert!(held <= most, "{held} counts were held, expected {most}");
    let held = counter.held();
    assert!(held <= at_end, "{held} at the end, expected {at_end}");
}

/// A number that looks random, the same for the same `at`.
fn scatter(at: u64) -> u64 {
    Random(at).next()
}

#[test]
fn numbers_in_one_directory() {
    check((0..KEYS).map(|number| format!("/p/{number:08}")), 200, 200);
}

#[test]
fn words_in_one_directory() {
    let words = (0..KEYS).map(|number| format!("/u/{:016x}", scatter(number)));
    let mut words: Vec<String> = words.collect();
    words.sort_unstable();
    check(words.into_iter(), 400, 400);
}

#[test]
fn directories_that_are_too_small_for_a_file() {
    let key = |number: u64| format!("/{:06}/{:06}/{number:06}", number / 60, number / 6);
    check((0..KEYS).map(key), 300, 300);
}

#[test]
fn large_directories_in_one_that_is_not_divided() {
    let key = |number: u64| format!("/{:06}/{:06}/{number:06}", number / 4_000, number / 1_000);
    check((0..KEYS).map(key), 120, 120);
}

#[test]
fn more_sections_than_an_index_should_name() {
    let key = |number: u64| format!("/{:06}/{number:06}", number / 100);
    check((0..3 * KEYS).map(key), 1_300, 450);
}

#[test]
fn a_prefix_of_two_thousand_bytes() {
    let prefix = format!("/{}/", "long/".repeat(390));
    let keys = (0..KEYS).map(|number| format!("{prefix}{number:08}"));
    check(keys, 600, 600);
}

/// A chain of 400 large prefixes, each with some 90 small ones beside it, of 4 keys each.
#[test]
fn prefixes_that_part_at_every_byte() {
    let beside = (b'!'..=b'~')
        .map(char::from)
        .filter(|other| !matches!(other, 'm' | '?' | '/'));
    let beside: Vec<char> = beside.collect();
    let mut keys = Vec::new();
    for depth in 0..400 {
        let prefix = "m".repeat(depth);
        for other in &beside {
            keys.extend((0..4).map(|number| format!("/{prefix}{other}{number}")));
        }
    }
    keys.sort_unstable();
    check(keys.into_iter(), 31_000, 1_000);
}
