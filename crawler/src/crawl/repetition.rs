//! The repetitions among the pages of the crawl, at its end: marks the visits of closed patterns that have no text of their own, pages below
//! themselves, and copies by query. Works on the store alone, a portion at a time.

use std::collections::{BTreeMap, HashSet};

use super::probe::{Probe, Probed};
use crate::{
    config::RepeatsConfig,
    page::{ClosedPattern, Repeat},
    repeats::{self, NestedGroup, Repeats},
    store::{Commit, Store, StoreError, Texts, VisitText},
    url_key::UrlKey,
    verdict::Judge,
};

/// Marks of one commit at most.
const PORTION: usize = 2_048;

/// File names of index pages: the directory is the same page.
const INDEX_PAGES: [&str; 8] = [
    "index.html",
    "index.htm",
    "index.php",
    "index.shtml",
    "index.xhtml",
    "index.jsp",
    "default.aspx",
    "default.asp",
];

/// The texts of the pages of a crawl, and its probe.
#[derive(Debug)]
pub(super) struct Repetition {
    pub(super) repeats: Repeats,
    pub(super) probe: Probe,
}

/// The state of both when a session begins.
#[derive(Debug)]
pub(super) struct KnownRepetition {
    pub(super) repeats: Repeats,
    /// The page of the site for URLs that do not exist, when the crawl asked for it.
    pub(super) probed: Option<Probed>,
}

impl KnownRepetition {
    /// The part of the loop on a site that begins at `start`.
    pub(super) fn of(
        mut self,
        start: &UrlKey,
        judge: &Judge,
        config: &RepeatsConfig,
    ) -> Repetition {
        let is_wanted = config.close_patterns && config.not_found_probe && self.probed.is_none();
        let probe = if is_wanted {
            Probe::new(start, judge)
        } else {
            Probe::Over
        };
        if let Some(pages) = self.probed.and_then(|probed| probed.pages) {
            self.repeats.take_not_found(pages);
        }
        Repetition {
            repeats: self.repeats,
            probe,
        }
    }
}

/// Fills `repeats` with what the crawl knows already: its closed patterns, and the pages that it read.
pub(super) fn remember(
    store: &Store,
    repeats: &mut Repeats,
    resumed: bool,
) -> Result<(), StoreError> {
    let closed: Vec<(ClosedPattern, bool)> = store.patterns()?;
    for (pattern, is_published) in &closed {
        repeats.remember(pattern, *is_published);
    }
    if resumed {
        store.each_text(Texts::All, &mut |visit| {
            if visit.repeat.is_some() {
                return;
            }
            let novelty = repeats.novelty(&visit.key, &visit.text);
            repeats.take(
                &visit.key,
                &visit.text,
                novelty,
                repeats::leads_on(&visit.key, visit.after_repeat, &[]),
            );
        })?;
    }
    Ok(())
}

/// Marks the visits by all that the crawl found, but for the `start` page.
pub(super) fn settle(
    store: &mut Store,
    repeats: &Repeats,
    start: &UrlKey,
) -> Result<(), StoreError> {
    let mut marks: BTreeMap<UrlKey, Repeat> = BTreeMap::new();
    let mut group: Vec<VisitText> = Vec::new();
    store.each_text(Texts::Shared, &mut |visit| {
        if group
            .first()
            .is_some_and(|first| first.text.whole != visit.text.whole)
        {
            mark_group(&group, repeats, start, &mut marks);
            group.clear();
        }
        group.push(visit);
    })?;
    mark_group(&group, repeats, start, &mut marks);
    mark_closed(store, repeats, &mut marks)?;
    marks.remove(start);
    let mut changes = Vec::new();
    store.each_text(Texts::All, &mut |visit| {
        let mark = marks.remove(&visit.key);
        let is_not_found = visit.key != *start && repeats.is_not_found(&visit.text);
        let mark = is_not_found.then_some(Repeat::NotFound).or(mark);
        if mark != visit.repeat {
            changes.push((visit.key, mark));
        }
    })?;
    for portion in changes.chunks(PORTION) {
        store.commit(&Commit {
            repeats: portion.to_vec(),
            ..Commit::default()
        })?;
    }
    Ok(())
}

/// Marks the pages of closed patterns that have no new text: more than half of their text is on a page outside of closed
/// patterns, or at a URL with fewer parameters or a shorter one. A page with a query is compared with those of its path only, another
/// one with those of its first-level directory: a list repeats the texts of the pages that it lists.
fn mark_closed(
    store: &Store,
    repeats: &Repeats,
    marks: &mut BTreeMap<UrlKey, Repeat>,
) -> Result<(), StoreError> {
    let mut closed = Vec::new();
    // What is compared of them: the texts of other pages are many.
    let mut wanted = HashSet::new();
    store.each_text(Texts::All, &mut |visit| {
        if repeats.is_in_closed(&visit.key) && !visit.is_named {
            let place = place_of(&visit.key);
            let compared = repeats.compared(&visit.text);
            wanted.extend(compared.map(|block| (place, block.hash)));
            closed.push(visit);
        }
    })?;
    if closed.is_empty() {
        return Ok(());
    }
    let mut said = HashSet::new();
    store.each_text(Texts::All, &mut |visit| {
        if visit.is_named || !repeats.is_in_closed(&visit.key) {
            let of_url = [path_of(&visit.key), section_of(&visit.key)];
            for place in of_url {
                let blocks = visit.text.blocks.iter().map(|block| (place, block.hash));
                said.extend(blocks.filter(|block| wanted.contains(block)));
            }
        }
    })?;
    closed.sort_unstable_by(|one, other| {
        let place = |visit: &VisitText| (parameters_of(&visit.key), visit.key.as_str().len());
        (place(one), one.key.as_str()).cmp(&(place(other), other.key.as_str()))
    });
    for visit in closed {
        let place = place_of(&visit.key);
        let (mut own, mut all) = (0, 0);
        for block in repeats.compared(&visit.text) {
            let weight = u32::from(block.weight);
            all += weight;
            own += weight * u32::from(said.insert((place, block.hash)));
        }
        if all == 0 || own * 2 < all {
            marks.insert(visit.key, Repeat::NothingNew);
        }
    }
    Ok(())
}

/// Marks visits with one text.
fn mark_group(
    group: &[VisitText],
    repeats: &Repeats,
    start: &UrlKey,
    marks: &mut BTreeMap<UrlKey, Repeat>,
) {
    let nested = NestedGroup::new(group.iter().map(|visit| &visit.key));
    let is_nested = repeats.is_on() && nested.is_nested();
    let mut paths: BTreeMap<String, Vec<&VisitText>> = BTreeMap::new();
    for visit in group {
        if is_nested && nested.is_below_another(&visit.key) {
            marks.insert(visit.key.clone(), Repeat::Nested);
        } else if visit.is_named || !repeats.is_in_closed(&visit.key) {
            paths.entry(bare_path(&visit.key)).or_default().push(visit);
        }
    }
    for copies in paths.values().filter(|copies| copies.len() > 1) {
        let Some(best) = copies
            .iter()
            .min_by_key(|visit| (visit.key != *start, rank(visit)))
        else {
            continue;
        };
        for copy in copies.iter().filter(|copy| copy.key != best.key) {
            marks.insert(copy.key.clone(), Repeat::DuplicateOf(best.key.clone()));
        }
    }
}

/// The best of several URLs of a page comes first, after the start URL: the one that calls itself canonical, then one that a sitemap names or that is
/// published, then that with the fewest parameters, then the shortest, then that with the fewest capitals.
fn rank(visit: &VisitText) -> (bool, bool, usize, usize, usize, &str) {
    let url = visit.key.as_str();
    let parameters = parameters_of(&visit.key);
    let in_path = url.matches(';').count();
    (
        !visit.is_canonical,
        !visit.is_named,
        parameters + in_path,
        url.len(),
        url.bytes().filter(u8::is_ascii_uppercase).count(),
        url,
    )
}

/// How many parameters a URL has.
fn parameters_of(url: &UrlKey) -> usize {
    let query = url.path_and_query().split_once('?');
    query.map_or(0, |(_, query)| query.split('&').count())
}

/// The place in which a page of a closed pattern is compared.
fn place_of(url: &UrlKey) -> u64 {
    if parameters_of(url) > 0 {
        path_of(url)
    } else {
        section_of(url)
    }
}

/// The hash of the first-level directory of a URL.
fn section_of(url: &UrlKey) -> u64 {
    let path = url.path();
    let end = path
        .match_indices('/')
        .nth(1)
        .map_or(1, |(slash, _)| slash + 1);
    xxhash_rust::xxh3::xxh3_64_with_seed(&path.as_bytes()[..end], 1)
}

/// The hash of the path of a URL.
fn path_of(url: &UrlKey) -> u64 {
    xxhash_rust::xxh3::xxh3_64(url.path().as_bytes())
}

/// The path of a URL with its origin in small letters, without its path parameters and without the name of an index page.
fn bare_path(url: &UrlKey) -> String {
    let origin = url.origin();
    let path = url.path();
    let segments = path.split('/').map(|segment| {
        let bare = segment.split(';').next().unwrap_or_default();
        if INDEX_PAGES
            .iter()
            .any(|name| bare.eq_ignore_ascii_case(name))
        {
            ""
        } else {
            bare
        }
    });
    let path = segments.collect::<Vec<_>>().join("/");
    format!("{origin}{path}").to_ascii_lowercase()
}
