//! The repetitions among the pages of the crawl, at its end: marks copies, and the pages of places that were cut which have no text of their
//! own. Works on the store alone, a portion at a time.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap, HashSet},
    ops::ControlFlow,
};

use super::{
    Ending,
    held::HeldUrls,
    probe::{Probe, Probed},
    second_look::SecondLooks,
    validators::changed_content,
};
use crate::{
    config::RepeatsConfig,
    crawl_state::OpenCrawl,
    human,
    lastmod::Restless,
    notes::{ExampleCount, Note, grouped},
    page::{
        Basis, Canonical, ClosedPattern, CrawlId, PatternKind, Reason, Repeat, State, TextNovelty,
    },
    pattern::Pattern,
    repeats::{ReadPage, Repeats, count_parameters, exclude_of},
    store::{Effect, Shown, Store, StoreError, Texts, VisitText},
    url_key::{UrlKey, bare_path, short},
    verdict::Judge,
};

/// The distance from which on a page may be of a part without end.
const FAR: u16 = 2;

/// Marks of one commit at most.
const PORTION: usize = 2_048;

/// The texts of the pages of a crawl, its probe, and the URLs that are not asked for because of them.
#[derive(Debug)]
pub(super) struct Repetition {
    pub(super) repeats: Repeats,
    pub(super) probe: Probe,
    pub(super) held: HeldUrls,
    pub(super) seconds: SecondLooks,
}

/// The state of both when a session begins.
#[derive(Debug)]
pub(super) struct KnownRepetition {
    pub(super) repeats: Repeats,
    /// The page of the site for URLs that do not exist, when the crawl asked for it.
    pub(super) probed: Option<Probed>,
    /// The pages that changed.
    pub(super) seconds: SecondLooks,
}

impl KnownRepetition {
    /// The part of the loop on a site that begins at `start`.
    pub(super) fn of(self, start: &UrlKey, judge: &Judge, config: &RepeatsConfig) -> Repetition {
        let is_wanted = config.close_patterns && config.not_found_probe && self.probed.is_none();
        let probe = if is_wanted {
            Probe::new(start, judge)
        } else {
            Probe::Over
        };
        let Self {
            mut repeats,
            probed,
            seconds,
        } = self;
        if let Some(probed) = probed {
            probed.show(&mut repeats);
        }
        Repetition {
            repeats,
            probe,
            held: HeldUrls::default(),
            seconds,
        }
    }
}

/// Fills `repeats` with what the crawl of the site that begins at `start` knows already: the patterns of the last session, and the pages
/// that it read.
pub(super) fn remember(
    store: &Store,
    repeats: &mut Repeats,
    start: &UrlKey,
    open: OpenCrawl,
) -> Result<(), StoreError> {
    for pattern in &store.patterns()? {
        // What this crawl cut itself is counted again, as if it had not stopped.
        if pattern.kind == PatternKind::Parameter || pattern.crawl != open.number {
            repeats.remember(pattern);
        }
    }
    if !open.resumed {
        return Ok(());
    }
    find_written(store, repeats)?;
    // What a page led to is taken off once, whichever of the pages found on it has new text: first all is counted.
    let mut refunds = Vec::new();
    store.each_text(Texts::All, &mut |visit| {
        let (Some(novelty), false) = (
            visit.reading.novelty,
            visit.repeat == Some(Repeat::NotFound),
        ) else {
            return;
        };
        if visit.key == *start {
            repeats.take_start(&visit.text);
        } else if visit.found_on.as_ref() == Some(start) {
            repeats.take_reference(&visit.text);
        }
        repeats.read(&visit.key, &visit.text);
        let page = ReadPage {
            url: &visit.key,
            text: &visit.text,
            novelty,
            is_listed: visit.may_be_listed(),
            is_canonical: visit.canonical == Some(Canonical::Itself),
            is_end: false,
        };
        repeats.add_page(&page, &[]);
        if novelty == TextNovelty::Nothing {
            repeats.count(&visit.key, visit.reading.distance, visit.reading.led_to);
        } else if let Some(finder) = visit.found_on {
            refunds.push(short(finder.fingerprint()));
        }
    })?;
    for finder in refunds {
        repeats.refund(finder);
    }
    Ok(())
}

/// Shows the URLs with parameters that are left out in the order in which they were found, with the pages that they were found on.
fn find_written(store: &Store, repeats: &mut Repeats) -> Result<(), StoreError> {
    let mut written = Vec::new();
    store.each(None, Shown::Outline, &mut |rows| {
        if let Some(note) = rows.note()?
            && let Some(short) = repeats.short_form(&rows.key)
        {
            let page = rows.found_on()?.map(|page| page.fingerprint());
            written.push((note.sequence, rows.key.clone(), short, page));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    written.sort_unstable_by_key(|(sequence, ..)| *sequence);
    for (_, url, short, page) in written {
        repeats.find_written(&url, &short, page);
    }
    repeats.end_find_written();
    Ok(())
}

/// The pages of which a second answer is looked at, as far as a crawl that goes on read them.
/// The `start` page was answered before the loop, and is none of them.
pub(super) fn changed_pages(
    store: &Store,
    start: &UrlKey,
    open: OpenCrawl,
) -> Result<SecondLooks, StoreError> {
    let mut seconds = SecondLooks::new(Restless::load(store)?);
    if !open.resumed || open.is_fresh {
        return Ok(seconds);
    }
    store.each(None, Shown::Outline, &mut |rows| {
        let note = rows.note()?;
        if note.is_some_and(|note| note.reason == Reason::Listed)
            && rows.key != *start
            && let (Some(page), Some(visit)) = (rows.page()?, rows.visit()?)
            && visit.record.basis == Basis::Own
            && let (Some(before), Some(now)) = (page.record.facts(), visit.record.facts())
            && let Some(content) = changed_content(now, before)
        {
            seconds.change(&rows.key, content);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(seconds)
}

/// Marks the visits by all that the crawl found, but for the `start` page, and stores its patterns; returns what people should know. When
/// a bound ended the session, pages at distance 2 and more wait. What earlier crawls cut is kept until the crawl is over.
pub(super) fn store_repeats(
    store: &mut Store,
    repeats: &Repeats,
    start: &UrlKey,
    crawl: CrawlId,
    ending: Ending,
) -> Result<Vec<Note>, StoreError> {
    let mut marks: BTreeMap<UrlKey, Repeat> = BTreeMap::new();
    let mut patterns = Patterns {
        crawl,
        by_name: BTreeMap::new(),
    };
    let mut named = NamedRepeats::default();
    let mut group: Vec<VisitText> = Vec::new();
    store.each_text(Texts::Shared, &mut |visit| {
        if group
            .first()
            .is_some_and(|first| first.text.whole != visit.text.whole)
        {
            mark_copies(&group, start, &mut marks, &mut named);
            group.clear();
        }
        group.push(visit);
    })?;
    mark_copies(&group, start, &mut marks, &mut named);
    mark_cut(store, repeats, start, &mut marks, &mut patterns)?;
    let mut changes = Vec::new();
    // Pages that were read stay.
    let mut read = HashSet::new();
    store.each_text(Texts::All, &mut |visit| {
        if !repeats.is_on() && repeats.short_form(&visit.key).is_some() {
            read.insert(visit.key.fingerprint());
        }
        let is_sure = visit.key == *start || visit.is_declared || visit.is_published;
        let mut mark = marks.remove(&visit.key);
        let is_not_found = visit.key != *start && repeats.is_not_found(&visit.text);
        if is_sure && is_not_found {
            named.not_found.add(&visit.key);
        } else if is_not_found {
            mark = Some(Repeat::NotFound);
        } else if !is_sure && mark.is_none() && visit.canonical != Some(Canonical::Itself) {
            let shorter = repeats.near_copy_of(&visit.key, &visit.text);
            mark = shorter.map(Repeat::DuplicateOf);
        }
        if ending == Ending::LimitReached
            && !is_sure
            && mark.is_none()
            && visit.may_be_listed()
            && visit.reading.distance >= FAR
        {
            mark = Some(Repeat::Waits);
        }
        if matches!(mark, Some(Repeat::DuplicateOf(_))) {
            let name = repeats.left_out_of(&visit.key);
            patterns.leave_out(PatternKind::Parameter, name, &visit.key);
        }
        if mark != visit.repeat {
            changes.push(Effect::Mark(visit.key, mark));
        }
    })?;
    for portion in changes.chunks(PORTION) {
        store.commit(portion)?;
    }
    let mut forgotten = Vec::new();
    store.each(None, Shown::Outline, &mut |rows| {
        let url = &rows.key;
        match rows.note()? {
            // What is left out of URLs from the start is no pattern that was found.
            Some(note)
                if note.reason == Reason::DuplicateOf
                    && !repeats.is_on()
                    && !note.is_declared
                    && !read.contains(&url.fingerprint())
                    && repeats.short_form(url).is_some() =>
            {
                forgotten.push(Effect::Forget(url.clone()));
            }
            Some(note) if note.reason == Reason::PatternClosed => {
                patterns.skip(PatternKind::Place, repeats.place_of(url), url);
            }
            Some(note) if note.reason == Reason::DuplicateOf => {
                patterns.skip(PatternKind::Parameter, repeats.left_out_of(url), url);
            }
            Some(_) | None => {}
        }
        Ok(ControlFlow::Continue(()))
    })?;
    patterns.count_asked(store, repeats)?;
    let mut patterns = patterns.with_excludes(store)?;
    let mut notes = notes_of(&patterns);
    let is_over = ending == Ending::Drained;
    for earlier in store.patterns()? {
        match patterns.iter_mut().find(|it| it.name == earlier.name) {
            Some(again) => again.crawl = earlier.crawl,
            None if is_over || earlier.crawl == crawl => {}
            None => patterns.push(earlier),
        }
    }
    forgotten.push(Effect::Patterns(patterns));
    store.commit(&forgotten)?;
    notes.extend(
        named
            .copies
            .note_of_most(0, |count| Note::named_copies(count)),
    );
    notes.extend((named.not_found).note_of_most(0, |count| Note::named_not_found_pages(count)));
    Ok(notes)
}

/// Names of parameters that a note has.
const MAX_NAMES: usize = 5;

/// What people should know of the patterns of a crawl.
fn notes_of(patterns: &[ClosedPattern]) -> Vec<Note> {
    let of_kind = |kind| patterns.iter().filter(move |pattern| pattern.kind == kind);
    let of_place = |place: &ClosedPattern| {
        let missing = place.left_out + place.not_requested;
        let (name, asked) = (&place.name, grouped(place.requested));
        let pages = human::count(missing, "page");
        let note = match &place.exclude {
            Some(glob) => Note::place_cut(&pages, name, &asked, glob),
            None => Note::place_cut_with_listed(&pages, name, &asked),
        };
        note.counting(missing).naming(&place.example)
    };
    let mut notes: Vec<Note> = of_kind(PatternKind::Place).map(of_place).collect();
    let mut parameters: Vec<&ClosedPattern> = of_kind(PatternKind::Parameter).collect();
    parameters.sort_by_key(|pattern| Reverse(pattern.left_out + pattern.not_requested));
    if let Some(first) = parameters.first() {
        let count: u64 = parameters
            .iter()
            .map(|it| it.left_out + it.not_requested)
            .sum();
        let names = parameters.iter().take(MAX_NAMES);
        let names: Vec<&str> = names.map(|pattern| &*pattern.name).collect();
        let note = Note::parameters_left_out(&grouped(count), &names.join(", "));
        notes.push(note.counting(count).naming(&first.example));
    }
    notes
}

/// The patterns of the crawl, by their names.
#[derive(Debug)]
struct Patterns {
    crawl: CrawlId,
    by_name: BTreeMap<String, ClosedPattern>,
}

impl Patterns {
    /// Takes a page that is not listed because of the pattern `name`.
    fn leave_out(&mut self, kind: PatternKind, name: Option<String>, url: &UrlKey) {
        if let Some(pattern) = self.of(kind, name, url) {
            pattern.left_out += 1;
        }
    }

    /// Takes a URL that was not asked for because of it.
    fn skip(&mut self, kind: PatternKind, name: Option<String>, url: &UrlKey) {
        if let Some(pattern) = self.of(kind, name, url) {
            pattern.not_requested += 1;
        }
    }

    /// Counts the pages that were asked for in each place; what was read because of a parameter does not count as not asked for.
    fn count_asked(&mut self, store: &Store, repeats: &Repeats) -> Result<(), StoreError> {
        for pattern in self.by_name.values_mut() {
            if pattern.kind == PatternKind::Parameter {
                pattern.requested = pattern.left_out;
                pattern.not_requested = pattern.not_requested.saturating_sub(pattern.left_out);
            }
        }
        if !repeats.has_cut() {
            return Ok(());
        }
        store.each_text(Texts::All, &mut |visit| {
            let place = repeats.place_of(&visit.key);
            if let Some(pattern) = place.and_then(|name| self.by_name.get_mut(&name)) {
                pattern.requested += 1;
            }
        })
    }

    /// All of them, with the globs that end places and match no page that is listed or that led to one.
    fn with_excludes(self, store: &Store) -> Result<Vec<ClosedPattern>, StoreError> {
        let mut patterns: Vec<ClosedPattern> = self.by_name.into_values().collect();
        let mut globs = Vec::new();
        for (number, pattern) in patterns.iter().enumerate() {
            if pattern.kind == PatternKind::Place
                && let Some(glob) = exclude_of(&pattern.name)
                && let Ok(rule) = Pattern::parse(&glob)
            {
                globs.push((number, glob, rule));
            }
        }
        if !globs.is_empty() {
            leave_needed(store, &mut globs)?;
        }
        for (number, glob, _) in globs {
            patterns[number].exclude = Some(glob);
        }
        Ok(patterns)
    }

    fn of(
        &mut self,
        kind: PatternKind,
        name: Option<String>,
        url: &UrlKey,
    ) -> Option<&mut ClosedPattern> {
        let name = name?;
        let crawl = self.crawl;
        let pattern = self.by_name.entry(name.clone());
        Some(pattern.or_insert_with(|| ClosedPattern {
            kind,
            name,
            crawl,
            requested: 0,
            left_out: 0,
            not_requested: 0,
            example: url.clone(),
            exclude: None,
        }))
    }
}

/// Removes the globs that match a listed page, or what led to one first: a page, a sitemap, a feed.
fn leave_needed(
    store: &Store,
    globs: &mut Vec<(usize, String, Pattern)>,
) -> Result<(), StoreError> {
    let mut ways = HashSet::new();
    store.each(None, Shown::Outline, &mut |rows| {
        let note = rows.note()?;
        let is_to_be = note.is_some_and(|note| note.reason.state() == State::Listed);
        if !is_to_be && !rows.is_listed()? {
            return Ok(ControlFlow::Continue(()));
        }
        globs.retain(|(_, _, rule)| !rule.matches(&rows.key));
        let mut next = rows.found_on()?.filter(|_| is_to_be);
        while let Some(url) = next.filter(|url| ways.insert(url.fingerprint())) {
            globs.retain(|(_, _, rule)| !rule.matches(&url));
            let (_, visit) = store.rows(&url)?;
            next = visit.and_then(|visit| visit.record.found_on);
        }
        Ok(ControlFlow::Continue(()))
    })
}

/// Marks the pages of places that were cut whose text is at simpler URLs that can be listed, but for half of it. Published pages stay, the
/// `start` page, and those that a sitemap or a list names.
fn mark_cut(
    store: &Store,
    repeats: &Repeats,
    start: &UrlKey,
    marks: &mut BTreeMap<UrlKey, Repeat>,
    patterns: &mut Patterns,
) -> Result<(), StoreError> {
    if !repeats.has_cut() {
        return Ok(());
    }
    let mut cut = Vec::new();
    // What is compared of them: the texts of other pages are many.
    let mut simplest: HashMap<u32, (usize, usize, u64)> = HashMap::new();
    let rank = |url: &UrlKey| (count_parameters(url), url.as_str().len(), url.fingerprint());
    // Text at a copy of another page, or at one that is not listed, would be at no URL of the set.
    let counts = |visit: &VisitText| visit.may_be_listed() && !marks.contains_key(&visit.key);
    store.each_text(Texts::All, &mut |visit| {
        if visit.is_declared || visit.is_published || visit.key == *start || !counts(&visit) {
            return;
        }
        if let Some(place) = repeats.cut_of(&visit.key, visit.reading.distance) {
            let own = rank(&visit.key);
            for block in repeats.compared(&visit.text) {
                let known = simplest.entry(block.hash).or_insert(own);
                *known = own.min(*known);
            }
            cut.push((visit, place));
        }
    })?;
    if cut.is_empty() {
        return Ok(());
    }
    store.each_text(Texts::All, &mut |visit| {
        if !counts(&visit) {
            return;
        }
        let own = rank(&visit.key);
        for block in &visit.text.blocks {
            if let Some(known) = simplest.get_mut(&block.hash) {
                *known = own.min(*known);
            }
        }
    })?;
    for (visit, place) in cut {
        let own = rank(&visit.key);
        let (mut mine, mut all) = (0, 0);
        for block in repeats.compared(&visit.text) {
            let weight = u32::from(block.weight);
            all += weight;
            mine += weight * u32::from(simplest.get(&block.hash) == Some(&own));
        }
        if all == 0 || mine * 2 < all {
            patterns.leave_out(PatternKind::Place, Some(place), &visit.key);
            marks.insert(visit.key, Repeat::NothingNew);
        }
    }
    Ok(())
}

/// Marks pages that are the same to the letter, under spellings of one path: one of them stays, and those that a sitemap or a list names,
/// which are counted. A published page is a copy when the last crawl saw the same: both have their texts from then.
fn mark_copies(
    group: &[VisitText],
    start: &UrlKey,
    marks: &mut BTreeMap<UrlKey, Repeat>,
    named: &mut NamedRepeats,
) {
    let mut paths: BTreeMap<String, Vec<&VisitText>> = BTreeMap::new();
    for visit in group {
        paths.entry(bare_path(&visit.key)).or_default().push(visit);
    }
    for copies in paths.values().filter(|copies| copies.len() > 1) {
        let best = copies.iter();
        let Some(best) = best.min_by_key(|visit| (visit.key != *start, rank(visit))) else {
            continue;
        };
        for copy in copies.iter().filter(|copy| copy.key != best.key) {
            if copy.is_declared {
                named.copies.add(&copy.key);
            } else if !copy.is_published || copy.is_unchanged && best.is_unchanged {
                marks.insert(copy.key.clone(), Repeat::DuplicateOf(best.key.clone()));
            }
        }
    }
}

/// Pages that stay listed although they repeat others, because a sitemap or a list names them.
#[derive(Debug, Default)]
struct NamedRepeats {
    copies: ExampleCount,
    not_found: ExampleCount,
}

/// The best of several URLs of a page comes first, after the start URL: the one that calls itself canonical, then one that a sitemap names
/// or that is published, then that with the fewest parameters, then the shortest, then that with the fewest capitals.
fn rank(visit: &VisitText) -> (bool, bool, usize, usize, usize, &str) {
    let url = visit.key.as_str();
    let parameters = count_parameters(&visit.key);
    let in_path = url.matches(';').count();
    (
        visit.canonical != Some(Canonical::Itself),
        !visit.is_declared && !visit.is_published,
        parameters + in_path,
        url.len(),
        url.bytes().filter(u8::is_ascii_uppercase).count(),
        url,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::fixture::{commit, finished, queued_at, unfetched};

    #[test]
    fn the_way_to_a_listed_page_is_whole() {
        let key =
            |path: &str| UrlKey::from_normalised(&format!("https://a.example{path}")).unwrap();
        let mut store = Store::in_memory().unwrap();
        let way = [
            ("/", None, Reason::NothingNew),
            ("/a", Some("/"), Reason::NothingNew),
            ("/a/b", Some("/a"), Reason::Noindex),
            ("/c", Some("/a/b"), Reason::Listed),
            ("/d", Some("/"), Reason::Noindex),
            ("/e", Some("/feeds/e.xml"), Reason::Listed),
        ];
        commit(&mut store, |commit| {
            for (sequence, (path, found_on, reason)) in (1..).zip(way) {
                let mut record = unfetched(reason);
                record.found_on = found_on.map(key);
                let found = queued_at(sequence, key(path));
                commit.finished.push(finished(&found, record));
            }
        });
        let globs = ["/a", "/a/*", "/c", "/d", "/feeds/*", "/x/*"].into_iter();
        let globs = globs.map(|glob| (0, glob.to_owned(), Pattern::parse(glob).unwrap()));
        let mut globs = globs.collect();
        leave_needed(&store, &mut globs).unwrap();
        let left: Vec<_> = globs.iter().map(|(_, glob, _)| glob.as_str()).collect();
        assert_eq!(left, ["/d", "/x/*"]);
    }
}
