//! The partition from outside: keys in, files out.

mod borders;
mod cases;
mod extensions;
mod histories;
mod memory;
mod model;
mod names;
mod reference;
mod sections;

use std::collections::BTreeMap;

use super::{Counter, Layout, PartitionError, Placement, Plan, Suffix, Thresholds};

/// Keys with the bytes of their entries.
type Keys = BTreeMap<String, u64>;

/// Bytes of an entry where they do not matter.
const SMALL: u64 = 100;

const BOTH: [Placement; 2] = [Placement::Root, Placement::InPlace];

fn keys<T: Into<String>>(keys: impl IntoIterator<Item = T>) -> Keys {
    keys.into_iter().map(|key| (key.into(), SMALL)).collect()
}

/// `count` keys that begin with `prefix`.
fn many(prefix: &str, count: u64) -> impl Iterator<Item = String> + use<> {
    let prefix = prefix.to_owned();
    (0..count).map(move |number| format!("{prefix}{number:06}"))
}

/// The same for a pair, to chain several.
fn several((prefix, count): (&str, u64)) -> impl Iterator<Item = String> + use<> {
    many(prefix, count)
}

fn plan_below(
    base: &str,
    keys: &Keys,
    thresholds: Thresholds,
    placement: Placement,
    previous: &Layout,
) -> Plan {
    let mut counter = Counter::new(base, thresholds, placement, previous).unwrap();
    for (key, bytes) in keys {
        counter.push(key, *bytes).unwrap();
    }
    counter.finish()
}

fn plan(keys: &Keys, thresholds: Thresholds, placement: Placement, previous: &Layout) -> Plan {
    plan_below("/", keys, thresholds, placement, previous)
}

/// A plan with default thresholds after this one.
fn next(keys: &Keys, placement: Placement, previous: &Plan) -> Plan {
    plan(keys, Thresholds::default(), placement, previous.layout())
}

/// A plan with default thresholds and without history.
fn fresh(keys: &Keys, placement: Placement) -> Plan {
    plan(keys, Thresholds::default(), placement, &Layout::default())
}

/// A counter below a base, with default thresholds and without history.
fn counter_of(base: &str) -> Result<Counter, PartitionError> {
    let layout = Layout::default();
    Counter::new(base, Thresholds::default(), Placement::Root, &layout)
}

/// The names of the files and how many entries each has, in tree order.
fn files(plan: &Plan) -> Vec<(String, u64)> {
    plan.parts()
        .iter()
        .map(|part| (part.path(Suffix::Xml), part.entries()))
        .collect()
}

#[track_caller]
fn check(plan: &Plan, expected: &[(&str, u64)]) {
    let found = files(plan);
    let found: Vec<(&str, u64)> = found
        .iter()
        .map(|(name, entries)| (name.as_str(), *entries))
        .collect();
    assert_eq!(found, expected);
}

/// The files with the keys that a second scan writes into each.
fn contents(plan: &Plan, keys: &Keys) -> BTreeMap<String, Vec<(String, u64)>> {
    let content = |part: &super::Part| {
        let ranges = part.ranges().iter();
        let found = ranges.flat_map(|range| keys.range(range.start.clone()..range.end.clone()));
        found.map(|(key, bytes)| (key.clone(), *bytes)).collect()
    };
    plan.parts()
        .iter()
        .map(|part| (part.path(Suffix::XmlGz), content(part)))
        .collect()
}

/// Is it an index, a feed, or a file of news?
fn is_taken(path: &str) -> bool {
    let stem = path.strip_suffix(".xml").unwrap();
    let Some(rest) = stem.strip_prefix("sitemap") else {
        return false;
    };
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    rest.is_empty()
        || rest == "-recent"
        || rest.strip_prefix('-').is_some_and(number)
        || rest.strip_prefix("-news").is_some_and(|rest| {
            rest.strip_prefix('-')
                .unwrap_or(rest)
                .bytes()
                .all(|b| b.is_ascii_digit())
        })
}

/// Numbers that are the same on every machine: splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap()
    }

    fn choice<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn text(&mut self, alphabet: &[&str], most: usize) -> String {
        let length = self.below(most + 1);
        (0..length).map(|_| self.choice(alphabet)).collect()
    }

    /// A key out of few characters, so that prefixes, empty segments, dots and slashes in queries are frequent.
    fn key(&mut self) -> String {
        let alphabets: [&[&str]; 5] = [
            &["a", "b"],
            &["a", "b", "c", "X", "Y", "Z"],
            &["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"],
            &["a", "A", ".", "%", "~", "_", "-"],
            &["%C3%A9", "/"],
        ];
        let depth = self.choice(&[0, 1, 1, 2, 2, 3, 4]);
        let alphabet = self.choice(&alphabets);
        let mut key = "/".to_owned();
        for _ in 0..depth {
            key.push_str(&self.text(alphabet, 4));
            key.push('/');
        }
        let tail = [alphabet, &["?", "=", "&", "/"]].concat();
        key.push_str(&self.text(&tail, 6));
        key
    }
}
