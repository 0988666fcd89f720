//! What the pages of the crawl repeat, at its end: marks the visits of closed patterns that have no text of their own, pages below
//! themselves, and copies by query. Works on the store alone, a portion at a time.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::probe::{Probe, Probed};
use crate::{
    config::RepeatsConfig,
    page::{ClosedPattern, Repeat},
    repeats::{NestedGroup, Repeats},
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

/// What the pages of a crawl say, and its probe.
#[derive(Debug)]
pub(super) struct Repetition {
    pub(super) repeats: Repeats,
    pub(super) probe: Probe,
}

/// What is known of both when a session begins.
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
            repeats.take(&visit.key, &visit.text, novelty, [visit.after_repeat; 3]);
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

/// Marks the pages of closed patterns that say nothing new: less than half of their text stands neither on a page outside of
/// closed patterns nor at a shorter URL.
fn mark_closed(
    store: &Store,
    repeats: &Repeats,
    marks: &mut BTreeMap<UrlKey, Repeat>,
) -> Result<(), StoreError> {
    let mut closed = Vec::new();
    let mut in_closed: HashMap<u32, u32> = HashMap::new();
    store.each_text(Texts::All, &mut |visit| {
        if repeats.is_in_closed(&visit.key) && !visit.is_named {
            for block in repeats.compared(&visit.text) {
                *in_closed.entry(block.hash).or_default() += 1;
            }
            closed.push(visit);
        }
    })?;
    closed.sort_unstable_by(|one, other| {
        let place = |visit: &VisitText| visit.key.as_str().len();
        (place(one), one.key.as_str()).cmp(&(place(other), other.key.as_str()))
    });
    let mut said = HashSet::new();
    for visit in closed {
        let (mut own, mut all) = (0, 0);
        for block in repeats.compared(&visit.text) {
            let weight = u32::from(block.weight);
            all += weight;
            let is_first = said.insert(block.hash);
            let is_of_closed_only = repeats.pages_with(*block) <= in_closed[&block.hash];
            own += weight * u32::from(is_first && is_of_closed_only);
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
/// published, then that with the fewest parameters, then the shortest.
fn rank(visit: &VisitText) -> (bool, bool, usize, usize, &str) {
    let url = visit.key.as_str();
    let parameters = visit
        .key
        .path_and_query()
        .split_once('?')
        .map_or(0, |(_, query)| query.split('&').count());
    let in_path = url.matches(';').count();
    (
        !visit.is_canonical,
        !visit.is_named,
        parameters + in_path,
        url.len(),
        url,
    )
}

/// The path of a URL with its origin, without its path parameters and without the name of an index page.
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
    format!("{origin}{path}")
}
