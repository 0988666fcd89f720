//! Query parameters and directories: how many of their last pages were new, and which are closed because hardly any was.

use std::{collections::HashMap, hash::BuildHasherDefault};

use super::{
    Novelty, PatternChanges,
    places::{LEVELS, UrlPlaces, parameter_place, part_of_name},
};
use crate::{
    page::{ClosedPattern, PatternKind},
    url_key::{FingerprintHasher, UrlKey},
};

/// Pages with a parameter that are looked at.
const PAGES_OF_PARAMETER: u32 = 50;

/// Pages of a directory that are looked at.
const PAGES_OF_DIRECTORY: u32 = 100;

/// One page in so many has to be new.
const NEW_SHARE: u32 = 20;

/// Of all pages with a parameter, one in so many keeps it open: lists of the same items by date, by tag and by author come to an
/// end, and each shows a part of the items again.
const NEW_SHARE_OF_ALL: u32 = 10;

/// Represents all parameters that hardly any page has: names that are made up on each view never come again.
const RARE: &str = "*";

/// Paths from which on a parameter is closed on all.
const PATHS: usize = 5;

/// Pages after which a parameter is proven, when half of them are new.
const PROVEN_PAGES: u32 = 3;

/// Pages after which a directory stays open in a closed one, when half of them are new.
const WORTHY_PAGES: u32 = 10;

/// Places that are watched at most.
const MAX_PLACES: usize = 50_000;

/// URLs of a closed pattern of an earlier crawl that are asked for all the same.
const SAMPLES: u32 = 5;

/// The pages of a place.
#[derive(Debug, Default, Clone)]
struct PageTally {
    pages: u32,
    new: u32,
    /// The last pages, the newest in the lowest bit: those that were new, and those that led on.
    last_new: u128,
    last_leading: u128,
    /// Paths of a parameter, as hashes; the first [`PATHS`].
    paths: Vec<u64>,
    /// URLs of a directory that were to be asked for.
    urls: u64,
    is_closed: bool,
    /// An earlier crawl closed it.
    was_closed: bool,
    /// URLs that are asked for although it is closed.
    samples: u32,
}

/// The tallies of all places.
#[derive(Debug, Default)]
pub(super) struct Patterns {
    places: HashMap<u64, PageTally, BuildHasherDefault<FingerprintHasher>>,
    has_closed: bool,
}

impl PageTally {
    fn take(&mut self, is_new: bool, leads_on: bool) {
        self.pages += 1;
        self.new += u32::from(is_new);
        self.last_new = self.last_new << 1 | u128::from(is_new);
        self.last_leading = self.last_leading << 1 | u128::from(leads_on);
    }

    fn is_proven(&self, pages: u32) -> bool {
        self.pages >= pages && self.new * 2 >= self.pages
    }

    fn has_no_new_text(&self, window: u32) -> bool {
        let last = self.last_new & !(u128::MAX << window);
        self.pages >= window && last.count_ones() * NEW_SHARE < window
    }

    fn leads_on(&self, window: u32) -> bool {
        let last = self.last_leading & !(u128::MAX << window);
        last.count_ones() * 2 >= window
    }

    /// Opens a place that an earlier crawl closed, when most of its samples are new; whether it does. The first ones may be new
    /// only because little of the site was read before.
    fn reopens(&mut self, is_new: bool) -> bool {
        let is_most = (self.new + u32::from(is_new)) * 2 > SAMPLES;
        let reopens = self.is_closed && self.was_closed && is_most;
        if reopens {
            *self = Self {
                urls: self.urls,
                ..Self::default()
            };
        }
        reopens
    }
}

impl Patterns {
    /// Closes a pattern that an earlier session closed, or an earlier crawl.
    pub(super) fn remember(&mut self, pattern: &ClosedPattern, is_earlier_crawl: bool) {
        let place = match pattern.kind {
            PatternKind::Directory => part_of_name(&pattern.name),
            PatternKind::Parameter | PatternKind::Copies | PatternKind::Capitals => {
                let (path, name) = pattern.name.split_once('?').unwrap_or_default();
                let path = (!path.is_empty()).then(|| xxhash_rust::xxh3::xxh3_64(path.as_bytes()));
                parameter_place(path, name.trim_end_matches('='))
            }
        };
        self.has_closed = true;
        let tally = self.places.entry(place).or_default();
        tally.is_closed = true;
        tally.was_closed = is_earlier_crawl;
        tally.samples = if is_earlier_crawl { SAMPLES } else { 0 };
    }

    /// Returns whether a URL is in a closed pattern, and none of the samples that are asked for all the same.
    pub(super) fn is_closed(&mut self, places: &UrlPlaces) -> bool {
        let Some(place) = self.closed_place(places) else {
            return false;
        };
        let Some(tally) = self.places.get_mut(&place) else {
            return false;
        };
        let is_sample = tally.samples > 0;
        tally.samples = tally.samples.saturating_sub(1);
        !is_sample
    }

    /// Returns whether a URL is in a closed pattern.
    pub(super) fn is_in_closed(&self, places: &UrlPlaces) -> bool {
        if places.path.is_some() {
            return self.closed_parameter(places).is_some();
        }
        self.closed_place(places).is_some()
    }

    /// The places with whose pages one with a query is compared: each of its parameters on its path. Those that hardly any page
    /// has are one place, which only counts when there is no other.
    pub(super) fn compared(&self, places: &UrlPlaces) -> Vec<u64> {
        let (rare, common): (Vec<&String>, Vec<&String>) =
            (places.parameters.iter()).partition(|name| self.is_rare(name));
        let of_name = |name: &str| parameter_place(places.path, name);
        if common.is_empty() {
            return rare.first().map(|_| of_name(RARE)).into_iter().collect();
        }
        common.into_iter().map(|name| of_name(name)).collect()
    }

    fn closed_place(&self, places: &UrlPlaces) -> Option<u64> {
        if !self.has_closed {
            return None;
        }
        if let Some(place) = self.closed_parameter(places) {
            return Some(place);
        }
        for level in (0..places.directories.len()).rev() {
            let place = places.part(level);
            if self.is_place_closed(place) {
                return Some(place);
            }
            let is_worthy = |tally: &PageTally| tally.is_proven(WORTHY_PAGES);
            if self.places.get(&place).is_some_and(is_worthy) {
                return None;
            }
        }
        None
    }

    fn closed_parameter(&self, places: &UrlPlaces) -> Option<u64> {
        places.parameters.iter().find_map(|name| {
            let known = [places.path, None].map(|path| parameter_place(path, name));
            let place = known.into_iter().find(|place| self.is_place_closed(*place));
            place.or_else(|| {
                let rare = parameter_place(None, RARE);
                (self.is_rare(name) && self.is_place_closed(rare)).then_some(rare)
            })
        })
    }

    fn is_place_closed(&self, place: u64) -> bool {
        self.places.get(&place).is_some_and(|tally| tally.is_closed)
    }

    /// Returns whether hardly any page had a parameter of this name.
    fn is_rare(&self, name: &str) -> bool {
        let tally = self.places.get(&parameter_place(None, name));
        name != RARE && tally.is_none_or(|tally| tally.pages < PROVEN_PAGES)
    }

    /// Counts a URL of its deepest directory; whether there were fewer than `most`.
    pub(super) fn count_url(&mut self, places: &UrlPlaces, most: u64) -> bool {
        let Some(tally) = places
            .directories
            .last()
            .and_then(|place| self.tally(*place))
        else {
            return true;
        };
        tally.urls += 1;
        tally.urls <= most
    }

    /// Takes a page; gives the patterns that change by it.
    pub(super) fn take(
        &mut self,
        url: &UrlKey,
        places: &UrlPlaces,
        novelty: Novelty,
        leads_on: [bool; LEVELS],
    ) -> PatternChanges {
        if places.path.is_some() {
            return novelty
                .of_query
                .map_or_else(PatternChanges::default, |is_new| {
                    self.take_parameters(url, places, is_new, novelty.without)
                });
        }
        let mut changes = PatternChanges::default();
        for (level, is_new) in (0..places.directories.len()).zip(novelty.of_directories) {
            let (Some(is_new), Some(tally)) = (is_new, self.tally(places.part(level))) else {
                continue;
            };
            if tally.reopens(is_new) {
                changes.opened.push(places.part_name(level));
            }
            tally.take(is_new, leads_on[level]);
            if !tally.is_closed
                && tally.has_no_new_text(PAGES_OF_DIRECTORY)
                && tally.leads_on(PAGES_OF_DIRECTORY)
            {
                tally.is_closed = true;
                let name = places.part_name(level);
                changes
                    .closed
                    .push(closing(PatternKind::Directory, name, url, tally));
            }
        }
        self.has_closed |= !changes.closed.is_empty();
        changes
    }

    /// A new page speaks for its parameters that are proven, or for all; one that is not speaks against those without which the
    /// page has the same text, or else those that are not proven, or against all.
    fn take_parameters(
        &mut self,
        url: &UrlKey,
        places: &UrlPlaces,
        is_new: bool,
        without: u16,
    ) -> PatternChanges {
        let own_path = places.path;
        let is_proven = |patterns: &Self, name: &String| {
            let tally = patterns.places.get(&parameter_place(own_path, name));
            tally.is_some_and(|tally| tally.is_proven(PROVEN_PAGES))
        };
        let is_concerned = |name: &&String| is_proven(self, name) == is_new;
        let numbered = places.parameters.iter().enumerate();
        let changes_nothing = numbered.filter(|(number, _)| without >> number & 1 == 1);
        let mut concerned: Vec<&String> = changes_nothing.map(|(_, name)| name).collect();
        if concerned.is_empty() {
            concerned = places.parameters.iter().filter(is_concerned).collect();
        }
        if concerned.is_empty() {
            concerned = places.parameters.iter().collect();
        }
        let rare = concerned
            .iter()
            .any(|name| self.is_rare(name))
            .then_some(RARE);
        let mut votes: Vec<(Option<u64>, &str)> = Vec::new();
        for name in concerned {
            votes.extend([(own_path, name.as_str()), (None, name)]);
        }
        votes.extend(rare.map(|name| (None, name)));
        let mut changes = PatternChanges::default();
        for (path, name) in votes {
            let Some(tally) = self.tally(parameter_place(path, name)) else {
                continue;
            };
            let full_name = || format!("{}?{name}=", path.map_or("", |_| url.path()));
            if tally.reopens(is_new) {
                changes.opened.push(full_name());
            }
            tally.take(is_new, false);
            if let Some(own_path) = own_path
                && tally.paths.len() < PATHS
                && !tally.paths.contains(&own_path)
            {
                tally.paths.push(own_path);
            }
            let has_paths = path.is_some() || tally.paths.len() >= PATHS;
            if !tally.is_closed
                && has_paths
                && tally.has_no_new_text(PAGES_OF_PARAMETER)
                && tally.new * NEW_SHARE_OF_ALL < tally.pages
            {
                tally.is_closed = true;
                let kind = PatternKind::Parameter;
                changes.closed.push(closing(kind, full_name(), url, tally));
            }
        }
        self.has_closed |= !changes.closed.is_empty();
        changes
    }

    /// The tally of a place; `None`: there are too many.
    fn tally(&mut self, place: u64) -> Option<&mut PageTally> {
        if self.places.len() >= MAX_PLACES && !self.places.contains_key(&place) {
            return None;
        }
        Some(self.places.entry(place).or_default())
    }
}

fn closing(kind: PatternKind, name: String, example: &UrlKey, tally: &PageTally) -> ClosedPattern {
    ClosedPattern {
        kind,
        name,
        pages: tally.pages,
        new: tally.new,
        example: example.clone(),
    }
}
