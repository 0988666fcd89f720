//! Places in the queue: waiting URLs are grouped by their first path segment, their depth in the path, and the names of their
//! parameters, and each round has one place for each group. So a part of a site without end delays the others by one request a round.
//! A URL with a query comes after the waiting ones without a query in its section, because the text of its page is compared with theirs.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

use crate::url_key::UrlKey;

/// Groups that are distinguished. Further ones share a place with others.
const GROUPS: u64 = 1_024;

/// Segments of a path that count as depth.
const MAX_DEPTH: usize = 3;

/// Bits of a place that number the rounds of a level and the groups in them.
const LEVEL_BITS: u32 = 40;

/// Levels beyond it are one: a place has the range of an `i64`.
const MAX_LEVEL: u64 = (1 << (63 - LEVEL_BITS)) - 1;

/// The places that were given to waiting URLs.
#[derive(Debug, Clone, Default)]
pub struct Rounds {
    /// The last round of each group, by level and group.
    last: HashMap<u64, u64>,
    /// The first places that wait are in this one; 0: none waits.
    first: u64,
    /// A deeper URL comes after all that are nearer to the start.
    level_by_level: bool,
}

impl Rounds {
    /// Sets whether all URLs of one depth come before the next depth, so that depths are the fewest hops.
    #[must_use]
    pub fn level_by_level(self, level_by_level: bool) -> Self {
        Self {
            level_by_level,
            ..self
        }
    }

    /// Takes note of a URL that waits already.
    pub fn add_waiting(&mut self, place: u64) {
        let last = self.last.entry(line_of(place)).or_default();
        *last = round_of(place).max(*last);
        if self.first == 0 || place < self.first {
            self.first = place;
        }
    }

    /// The first place that waited when the session began; 0: none did.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The next place of the group of `url`, unique, and after the place `after`.
    ///
    /// The level is `depth`, where all URLs of one depth come before the next one; else it is by `distance`: one distance after the
    /// other.
    pub fn place(&mut self, url: &UrlKey, depth: u32, distance: u16, after: u64) -> u64 {
        let own = if self.level_by_level {
            u64::from(depth)
        } else {
            u64::from(distance)
        };
        let level = level_of(after).max(own.min(MAX_LEVEL));
        let (section, group) = groups_of(url);
        let begun = if level == level_of(after) {
            round_of(after)
        } else {
            0
        };
        let first = level << LEVEL_BITS | group;
        let of_section = self.last.get(&line_of(level << LEVEL_BITS | section));
        let begun = of_section.copied().unwrap_or_default().max(begun);
        let last = self.last.entry(line_of(first)).or_default();
        *last = begun.max(*last) + 1;
        first + *last * GROUPS
    }
}

/// The level of a place: all of one level are asked for before the first of the next one.
pub(super) fn level_of(place: u64) -> u64 {
    place >> LEVEL_BITS
}

/// Level and group of a place.
fn line_of(place: u64) -> u64 {
    level_of(place) * GROUPS + place % GROUPS
}

/// The round of a place in its level.
fn round_of(place: u64) -> u64 {
    (place & ((1 << LEVEL_BITS) - 1)) / GROUPS
}

/// The group of the URLs of its section without a query, and its own.
fn groups_of(url: &UrlKey) -> (u64, u64) {
    let (path, query) = match url.path_and_query().split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (url.path_and_query(), None),
    };
    let mut segments = path.split('/').skip(1);
    let first = segments.next().unwrap_or_default();
    let depth = segments.take(MAX_DEPTH).count();
    // A file in the root is in no directory of its own.
    let first = if depth == 0 { "" } else { first };
    let names = query.into_iter().flat_map(|query| query.split('&'));
    // In whatever order.
    let names = names.map(|parameter| parameter.split('=').next().unwrap_or_default());
    let section = xxh3_64(first.as_bytes()).wrapping_add(depth as u64);
    let group = names.fold(section, |sum, name| {
        sum.wrapping_add(xxh3_64(name.as_bytes()) | 1)
    });
    (section % GROUPS, group % GROUPS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(path: &str) -> UrlKey {
        UrlKey::from_normalised(&format!("https://h.example{path}")).unwrap()
    }

    /// The paths in the order of their places, all found after nothing was asked for.
    fn order(rounds: &mut Rounds, paths: &[(&'static str, u32)]) -> Vec<&'static str> {
        let places = paths.iter().map(|(path, depth)| {
            let place = rounds.place(&key(path), *depth, 0, 0);
            (place, *path)
        });
        let mut places: Vec<_> = places.collect();
        places.sort_unstable();
        assert!(
            places
                .array_windows()
                .all(|[(one, _), (next, _)]| one < next)
        );
        places.into_iter().map(|(_, path)| path).collect()
    }

    #[test]
    fn each_group_has_one_place_in_a_round() {
        let found = [
            ("/a/1", 1),
            ("/a/2", 1),
            ("/a/3", 1),
            ("/b/1", 1),
            ("/b/2", 1),
            ("/a/1?x=1&y=2", 1),
            ("/a/1?y=3&x=4", 1),
            ("/a/x/1", 1),
        ];
        let order = order(&mut Rounds::default(), &found);
        let mut first = order[..3].to_vec();
        first.sort_unstable();
        assert_eq!(first, ["/a/1", "/a/x/1", "/b/1"]);
        // Those with a query come after those without in their section, whatever the order of their parameters.
        assert_eq!(order[5..], ["/a/3", "/a/1?x=1&y=2", "/a/1?y=3&x=4"]);
    }

    #[test]
    fn a_quiet_group_begins_within_the_round() {
        let mut rounds = Rounds::default();
        let places: Vec<u64> = (0..100)
            .map(|number| rounds.place(&key(&format!("/a/{number}")), 1, 0, 0))
            .collect();
        let late = rounds.place(&key("/b/1"), 1, 0, places[49]);
        assert!(places[49] < late && late < places[51]);
    }

    #[test]
    fn levels_come_one_after_the_other() {
        let mut rounds = Rounds::default().level_by_level(true);
        let found = [
            ("/a/1", 2),
            ("/a/2", 1),
            ("/b/1", 2),
            ("/c/1", 1),
            ("/a/3", 3),
        ];
        let order = order(&mut rounds, &found);
        let mut near = order[..2].to_vec();
        near.sort_unstable();
        assert_eq!(near, ["/a/2", "/c/1"]);
        assert_eq!(order[4], "/a/3");
        // What is found late is not before what was asked for.
        let asked = rounds.place(&key("/a/4"), 3, 0, 0);
        assert!(rounds.place(&key("/a/5"), 1, 0, asked) > asked);
    }

    #[test]
    fn urls_far_from_new_text_come_last() {
        let mut rounds = Rounds::default();
        let mut place = |path: &str, distance| rounds.place(&key(path), 1, distance, 0);
        let (far, farther) = (place("/a/1", 2), place("/a/2", 3));
        let near = [place("/a/3", 0), place("/b/1", 1)];
        assert!(near.iter().all(|near| *near < far) && far < farther);
    }

    #[test]
    fn places_of_earlier_sessions_are_taken() {
        let mut rounds = Rounds::default();
        let url = key("/a/1");
        let places: Vec<u64> = (0..5).map(|_| rounds.place(&url, 1, 0, 0)).collect();
        let mut again = Rounds::default();
        for place in &places[2..] {
            again.add_waiting(*place);
        }
        assert_eq!(again.first(), places[2]);
        assert!(again.place(&url, 1, 0, 0) > places[4]);
    }
}
