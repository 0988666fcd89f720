//! A site of 12,000 URLs with sections of many shapes, and changes of it: of single URLs, and such
//! that directories and shards come and go.

use std::collections::BTreeSet;

use crate::support::random::Random;

/// URLs of the site.
pub(super) const URLS: usize = 12_000;

/// Entries that a file has at most, and those that a directory in the root, or one below it, needs for a file of its own: a tenth
/// of what they are by default, as the site is a tenth of a large one.
pub(super) const THRESHOLDS: [u64; 3] = [1_000, 10, 100];

/// Pages that link to all others.
pub(super) const HUBS: usize = 12;

/// A change of the site.
#[derive(Debug, Default)]
pub(super) struct Change {
    /// Its description in messages.
    pub(super) name: String,
    /// Keys that were not there.
    pub(super) added: Vec<String>,
    /// Keys that are not there any more.
    pub(super) removed: Vec<String>,
    /// Keys whose page has another text.
    pub(super) edited: Vec<String>,
}

/// The site's keys: path and query.
pub(super) struct Keys {
    /// All of them.
    pub(super) all: BTreeSet<String>,
    random: Random,
}

impl Keys {
    /// The site as it begins.
    pub(super) fn new() -> Self {
        let mut keys = Self {
            all: BTreeSet::from(["/".to_owned()]),
            random: Random(120_000),
        };
        keys.grow(HUBS, |_, number| hub(number));
        // Too many for one file, by number: shards of prefixes.
        keys.grow(6_000, |_, number| format!("/p/{}", 1_000_001 + number));
        // Nearly full, in directories of years and months.
        keys.grow(990, |random, number| {
            let (year, month) = (2016 + number % 10, 1 + number / 10 % 12);
            format!("/blog/{year}/{month:02}/{}", words(random))
        });
        // Nearly full, flat.
        keys.grow(995, |random, _| format!("/u/{}", words(random)));
        // Just too many for one file, flat.
        keys.grow(1_020, |random, _| format!("/tag/{}", words(random)));
        // Exactly full.
        keys.grow(1_000, |random, number| {
            format!("/docs/chapter-{}/{}", number % 40, words(random))
        });
        // Names that have to be encoded in one layout and decoded in the other.
        keys.grow(30, |random, _| format!("/Shop%20A/{}", random.word()));
        keys.grow(30, |random, _| format!("/caf%C3%A9/{}", random.word()));
        keys.grow(120, |random, _| format!("/x_y/Z/{}", words(random)));
        // Around the threshold of a separate file.
        keys.grow(8, |random, _| format!("/club/{}", random.word()));
        keys.grow(12, |random, _| format!("/small/{}", random.word()));
        keys.grow(5, |random, _| format!("/search?q={}", random.word()));
        // Many directories without a separate file, and pages in the root.
        keys.grow(600, |random, number| {
            format!("/m{}/{}", number % 170, words(random))
        });
        let rest = URLS - keys.all.len();
        keys.grow(rest, |random, _| format!("/{}", words(random)));
        keys
    }

    /// Adds `count` keys that are not there; returns them.
    fn grow(&mut self, count: usize, make: impl Fn(&mut Random, usize) -> String) -> Vec<String> {
        let mut added = Vec::with_capacity(count);
        while added.len() < count {
            let key = make(&mut self.random, added.len());
            if self.all.insert(key.clone()) {
                added.push(key);
            }
        }
        added
    }

    fn any(&mut self) -> String {
        let place = self.random.below(self.all.len());
        self.all
            .iter()
            .nth(place)
            .expect("below the length")
            .clone()
    }

    /// The site as it begins, as a change of nothing.
    pub(super) fn beginning(&self) -> Change {
        Change {
            name: "the beginning".to_owned(),
            added: self.all.iter().cloned().collect(),
            ..Change::default()
        }
    }

    /// One page has another text.
    pub(super) fn edit(&mut self) -> Change {
        let key = self.any();
        Change {
            name: format!("edited {key}"),
            edited: vec![key],
            ..Change::default()
        }
    }
}

/// The path of a hub.
pub(super) fn hub(number: usize) -> String {
    format!("/hub/{number:03}")
}

fn words(random: &mut Random) -> String {
    format!("{}-{}", random.word(), random.word())
}
