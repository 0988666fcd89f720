//! The judging pass: every URL of the view once, in key order. It gives the plan of the files, what must be known of all
//! entries before the first of them is written, and the numbers of the guard and of the report.

use std::{
    collections::{BTreeMap, HashSet},
    ops::ControlFlow,
};

use sitemap_core::{
    LastMod, Loc,
    extension::{MAX_NEWS_PER_FILE, Namespaces},
    partition::{Counter, Layout as PartLayout, Part, PartitionError, Placement, Plan, Thresholds},
};

use super::{
    PublishError, PublishRequest,
    entries::{EntryWriter, WrittenEntry},
    entry_check::{LeftOutNotes, Trial, Tried, declare},
    guard::{GuardCounts, Signs},
    journal::{Journal, change_of, set_change_of},
    manifest::Manifest,
    overview::{self, MAX_ENTRIES},
    recent::Recent,
    remarks::Remarks,
    sections::Sections,
};
use crate::{
    config::{Layout, PublishConfig},
    export::{Export, ExtensionCounts, Listed, MergedView, OmittedPart, Sameness, Spelling},
    lastmod::Statistics,
    notes::Note,
    page::{Basis, DateSource, Mark, Outcome, Page, PageFacts, Reason, State, Visit},
    report::{ReasonCounts, SetChange, SetChanges},
    store::{StoreError, outbox::UrlChange},
    url_key::UrlKey,
    verdict::{MAX_HOPS, Merged, MergedBy, Mode, Rows},
};

/// Contents that others are compared with, the first of the set: what a table of 2^19 takes, 5 MB.
const MAX_CONTENTS: usize = 458_752;

/// The numbers and the plan of a set before its first file is written.
pub(super) struct Census {
    /// The files and the keys that each of them holds.
    pub(super) plan: Plan,
    /// Listed URLs.
    pub(super) listed: u64,
    /// Bytes of all entries.
    pub(super) bytes: u64,
    /// Namespaces of the entries of the whole site.
    pub(super) namespaces: Namespaces,
    /// Path and query of the first article of each file of news.
    pub(super) news: Vec<String>,
    /// Path and query of the first page of each file for people.
    pub(super) overviews: Vec<String>,
    /// The pages that changed last, for the feeds.
    pub(super) recent: Recent,
    /// Notes for the user.
    pub(super) notes: Vec<Note>,
    pub(super) numbers: Numbers,
}

/// Counts of a judging pass beside the plan.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// URLs of the view by reason.
    pub(super) reasons: ReasonCounts,
    /// Listed URLs that only sitemaps, feeds or lists name.
    pub(super) orphans: u64,
    /// Changes between the published set and this one.
    pub(super) journal: Journal,
    /// The same as readers of the sets see it.
    pub(super) changes: SetChanges,
    /// The numbers of the guard.
    pub(super) guard: GuardCounts,
    /// Published URLs that leave by the user's own rules and have no visit.
    pub(super) removed_unvisited: u64,
    /// Entries with a `lastmod`, by source.
    pub(super) sources: BTreeMap<DateSource, u64>,
    /// Counts of the extensions that the settings ask for.
    pub(super) extensions: ExtensionCounts,
    /// Listed pages whose content an earlier listed page has too.
    pub(super) duplicates: u64,
    /// How often the dates of each source were wrong.
    pub(super) dates: Statistics,
    /// Halves of the hashes of the bodies of listed pages, at most [`MAX_CONTENTS`].
    contents: HashSet<u64>,
}

/// The data on a page that is needed when the trial of its entry ends.
#[derive(Debug, Clone, Copy)]
struct TrialNote {
    reason: Reason,
    change: Option<UrlChange>,
    set_change: Option<SetChange>,
    /// The page is in the published set.
    is_published: bool,
    /// The page was in the set that was published when the crawl began.
    was_published: bool,
}

/// Where files begin that have a fixed number of entries, while the entries come in their order.
struct Starts {
    every: u64,
    entries: u64,
    /// Path and query of the first entry of each file.
    keys: Vec<String>,
}

impl Starts {
    fn every(every: u64) -> Self {
        Self {
            every,
            entries: 0,
            keys: Vec::new(),
        }
    }

    fn add(&mut self, key: &str) {
        if self.entries.is_multiple_of(self.every) {
            self.keys.push(key.to_owned());
        }
        self.entries += 1;
    }
}

/// A judging pass under way.
struct Pass<'a> {
    counter: Counter,
    entries: &'a mut EntryWriter,
    /// Memory for the lines of an entry, in a urlset and in a sitemap of news.
    lines: [Vec<u8>; 2],
    sections: &'a Sections,
    trial: Trial<TrialNote>,
    namespaces: Namespaces,
    recent: Recent,
    sameness: Sameness,
    news: Starts,
    /// `None`: no settings ask for files for people.
    overviews: Option<Starts>,
    numbers: Numbers,
    left_out: LeftOutNotes,
    exceptions: Vec<(OmittedPart, UrlKey)>,
    remarks: Remarks,
}

impl Census {
    /// Judges and counts all URLs of the view, divides the listed ones into files, and adds them to `entries`. URLs that cannot be
    /// listed are noted in `export`.
    ///
    /// # Errors
    /// The store failed, or the settings contradict each other.
    pub(super) fn take_census(
        view: &MergedView<'_>,
        request: &PublishRequest<'_>,
        export: &mut Export,
        sections: &Sections,
        previous: &Manifest,
        entries: &mut EntryWriter,
    ) -> Result<Self, PublishError> {
        let counter = counter(request, previous)
            .and_then(|counter| counter.with_sections(sections.all()))
            .map_err(|error| PublishError::Settings(error.to_string()))?;
        let site = request.site.written().url();
        let place = Loc::parse(&site)
            .map_err(|error| PublishError::Settings(format!("the directory {site}: {error}")))?;
        let mut pass = Pass {
            counter,
            entries,
            lines: Default::default(),
            sections,
            trial: Trial::new(place),
            namespaces: Namespaces::default(),
            recent: Recent::new(request.config),
            sameness: Sameness::default(),
            news: Starts::every(MAX_NEWS_PER_FILE),
            overviews: overview::is_wanted(request.config).then(|| Starts::every(MAX_ENTRIES)),
            numbers: Numbers::default(),
            left_out: LeftOutNotes::default(),
            exceptions: Vec::new(),
            remarks: Remarks::default(),
        };
        let mut spelling = Spelling::default();
        let mut urls = 0_u64;
        view.each::<PublishError>(None, &mut |key, rows, merged| {
            urls += 1;
            if urls.is_multiple_of(STOP_EVERY) {
                super::go_on(request)?;
            }
            pass.take_in(request, view, export, &mut spelling, (key, rows, merged))?;
            Ok(ControlFlow::Continue(()))
        })?;
        for tried in pass.trial.finish()? {
            pass.count(tried)?;
        }
        for (without, key) in &pass.exceptions {
            export.leave_out(*without, key);
        }
        let remarks = std::mem::take(&mut pass.remarks);
        let mut census = pass.finish();
        census.notes.extend(remarks.notes(view, census.listed)?);
        Ok(census)
    }
}

/// URLs after which a pass asks whether to stop.
const STOP_EVERY: u64 = 1_024;

impl Pass<'_> {
    /// Takes in one URL.
    fn take_in(
        &mut self,
        request: &PublishRequest<'_>,
        view: &MergedView<'_>,
        export: &Export,
        spelling: &mut Spelling,
        (key, rows, merged): (&UrlKey, &Rows, Option<Merged>),
    ) -> Result<(), PublishError> {
        let visit = rows.visit.as_ref().filter(|_| request.mode != Mode::AtRest);
        let before = signs_before(rows.page.as_ref(), visit);
        let known = rows.page.as_ref().and_then(|page| page.dates.as_ref());
        let Some(merged) = merged else {
            self.unlisted(export, key, rows, before.as_ref(), Reason::NotInSet, false);
            return Ok(());
        };
        self.count_answer(view, key, visit, before.as_ref(), &merged)?;
        let mut reason = merged.record.reason;
        self.remarks.add_page(view, key, &merged.record)?;
        if reason.state() == State::Listed
            && let Some(objection) = spelling.objection(export, view, key)?
        {
            self.exceptions
                .push((OmittedPart::Entry(objection), key.clone()));
            reason = objection;
        }
        let listed = if reason.state() == State::Listed {
            export.listed(view, key, &merged, known)?
        } else {
            None
        };
        let Some(listed) = listed else {
            let reason = export.reason(key, reason);
            self.unlisted(export, key, rows, before.as_ref(), reason, true);
            return Ok(());
        };
        let numbers = &mut self.numbers;
        numbers.orphans += u64::from(visit.is_some_and(|visit| visit.is_orphan));
        export.count_dates(key, &merged.record, known, &mut numbers.dates);
        let facts = merged.record.facts();
        if let Some(half) = facts.and_then(PageFacts::half_of_body_hash) {
            numbers.note_content(half);
        }
        let note = TrialNote {
            reason,
            change: change_of(rows.page.as_ref(), Some((&merged.record, &listed))),
            set_change: set_change_of(rows.page.as_ref(), &listed),
            is_published: change_of(rows.page.as_ref(), None).is_some(),
            was_published: before.is_some(),
        };
        for tried in self.trial.add(listed, note)? {
            self.count(tried)?;
        }
        Ok(())
    }

    /// Counts a URL that is not listed; `is_known`: the view has it.
    fn unlisted(
        &mut self,
        export: &Export,
        key: &UrlKey,
        rows: &Rows,
        before: Option<&Signs>,
        reason: Reason,
        is_known: bool,
    ) {
        let numbers = &mut self.numbers;
        if is_known {
            numbers.reasons.add(reason, key);
        }
        if let Some(change) = change_of(rows.page.as_ref(), None) {
            numbers.journal.count(change);
            if let Some(url) = export.written(key) {
                numbers.note_change(SetChange::Removed, &url);
            }
        }
        if before.is_some() {
            numbers.guard.lost(reason);
            let is_of_rules = reason.has(Mark::UserRule);
            numbers.removed_unvisited += u64::from(is_of_rules && rows.visit.is_none());
        }
    }

    /// Counts an entry that was tried.
    fn count(&mut self, tried: Tried<TrialNote>) -> Result<(), PublishError> {
        let Tried {
            listed,
            known,
            mut without,
        } = tried;
        let entry = &listed.entry;
        let is_refused = |(without, _): &(OmittedPart, _)| matches!(without, OmittedPart::Entry(_));
        if !without.iter().any(is_refused)
            && let Some(refused) = self.push(&listed)?
        {
            let without_entry = OmittedPart::Entry(Reason::EntryRefused);
            without.push((without_entry, format!("{}: {refused} (R58)", entry.loc)));
        }
        let is_refused = without.iter().any(is_refused);
        for (without, why) in without {
            self.left_out.add(why);
            self.exceptions.push((without, listed.key.clone()));
        }
        let numbers = &mut self.numbers;
        if is_refused {
            let reason = Reason::EntryRefused;
            numbers.reasons.add(reason, &listed.key);
            if known.is_published {
                numbers.journal.count(UrlChange::Removed);
                numbers.note_change(SetChange::Removed, &listed.written);
            }
            if known.was_published {
                numbers.guard.lost(reason);
            }
            return Ok(());
        }
        numbers.reasons.add(known.reason, &listed.key);
        if let Some(change) = known.change {
            numbers.journal.count(change);
        }
        if let Some(change) = known.set_change {
            numbers.note_change(change, &listed.written);
        }
        self.note_entry(&listed)
    }

    /// Puts an entry into the plan, and writes it. Returns why it cannot be in any file.
    fn push(&mut self, listed: &Listed) -> Result<Option<PartitionError>, PublishError> {
        let Listed { written, entry, .. } = listed;
        let key = written.path_and_query();
        let [line, news] = &mut self.lines;
        entry.write_line(line);
        let bytes = line.len() as u64;
        let section = self.sections.of(&listed.key);
        let pushed = match section {
            Some(section) => self.counter.push_to(section, key, bytes),
            None => self.counter.push(key, bytes),
        };
        match pushed {
            Ok(()) => {
                let mut namespaces = Namespaces::default();
                declare(&mut namespaces, entry)?;
                news.clear();
                let has_title = self.overviews.is_some();
                if let Some(overviews) = &mut self.overviews {
                    overviews.add(key);
                }
                if let Some(entry) = listed.news_entry() {
                    entry.write_line(news);
                }
                self.entries.push(WrittenEntry {
                    key,
                    section,
                    namespaces: &namespaces,
                    lastmod: entry.lastmod.as_ref().map_or("", LastMod::as_str),
                    line,
                    news,
                    title: listed.title.as_deref().filter(|_| has_title).unwrap_or(""),
                })?;
                Ok(None)
            }
            Err(error @ (PartitionError::Key { .. } | PartitionError::KeyTooLong { .. })) => {
                Ok(Some(error))
            }
            Err(error) => Err(PublishError::Check {
                name: "the partition".to_owned(),
                problem: error.to_string(),
            }),
        }
    }

    /// Counts the answer of a visit for the guard.
    fn count_answer(
        &mut self,
        view: &MergedView<'_>,
        key: &UrlKey,
        visit: Option<&Visit>,
        before: Option<&Signs>,
        merged: &Merged,
    ) -> Result<(), PublishError> {
        let counts = &mut self.numbers.guard;
        let Some(visit) = visit else {
            return Ok(());
        };
        let has_answer = match &visit.record.outcome {
            Some(Outcome::Answered(_)) => true,
            Some(Outcome::NoAnswer { .. }) => false,
            Some(Outcome::NotFetched(_) | Outcome::Supplied(_)) | None => return Ok(()),
        };
        // A redirect that was not asked for again has the answer of an earlier crawl.
        let is_asked = visit.record.attempts > 0;
        counts.asked += u64::from(is_asked);
        let has_failed = visit.record.reason.state() == State::Failed
            || merged.record.reason == Reason::Unreachable;
        // One that was given up with its directory was not asked for.
        counts.failed += u64::from(has_failed && is_asked);
        let status = visit.record.facts().map(|facts| facts.status);
        counts.refused += u64::from(!has_failed && matches!(status, Some(400 | 431)));
        let facts = match (&visit.record.basis, merged.merged_by) {
            (Basis::Confirmed, MergedBy::Decided) => merged.record.facts(),
            _ => visit.record.facts(),
        };
        // A start URL may redirect to the start page, or to a document.
        let is_redirect = facts.is_some_and(|facts| facts.location.is_some());
        if visit.record.is_start() && !is_redirect {
            let is_good = facts.is_some_and(|facts| facts.status == 200 && facts.body_bytes > 0);
            counts.has_start = Some(is_good || counts.has_start == Some(true));
            counts.has_shell_start = facts.is_some_and(|facts| facts.warnings.script_shell);
        }
        let is_declared = visit.record.via.is_declared() || visit.record.sitemap_lastmod.is_some();
        if merged.record.reason == Reason::Listed
            && before.is_none()
            && !is_declared
            && let Some(facts) = facts
        {
            counts.first_listed(key.as_str(), &Signs::of_first(facts));
        }
        let counts_as_answer = |facts: &&PageFacts| matches!(facts.status, 200 | 300..=399);
        if let (Some(facts), Some(before), true) =
            (facts.filter(counts_as_answer), before, has_answer)
        {
            let end = end_of(view, facts)?;
            let now = Signs::of(facts, end.as_ref());
            counts.answered(key.as_str(), &now, before);
        }
        Ok(())
    }

    fn note_entry(&mut self, listed: &Listed) -> Result<(), PublishError> {
        let entry = &listed.entry;
        declare(&mut self.namespaces, entry)?;
        self.sameness.add(entry, listed.source);
        if listed.news.is_some() {
            self.news.add(listed.written.path_and_query());
        }
        let numbers = &mut self.numbers;
        if let Some(source) = listed.source {
            *numbers.sources.entry(source).or_default() += 1;
        }
        numbers.extensions.merge(&listed.extensions);
        self.recent.offer(listed);
        Ok(())
    }

    fn finish(self) -> Census {
        let plan = self.counter.finish();
        let mut notes = self.sameness.notes();
        notes.extend(self.recent.note());
        let is_in = |section| {
            plan.parts()
                .iter()
                .any(|part| part.section() == Some(section))
        };
        notes.extend(self.sections.notes(is_in));
        notes.extend(self.left_out.notes());
        let listed = plan.parts().iter().map(Part::entries).sum();
        let mut numbers = self.numbers;
        numbers.guard.listed = listed;
        Census {
            listed,
            bytes: plan.parts().iter().map(Part::bytes).sum(),
            namespaces: self.namespaces,
            news: self.news.keys,
            overviews: self
                .overviews
                .map_or_else(Vec::new, |overviews| overviews.keys),
            recent: self.recent,
            notes,
            plan,
            numbers,
        }
    }
}

impl Numbers {
    fn note_change(&mut self, change: SetChange, url: &UrlKey) {
        self.changes
            .add(change, url.as_str(), SetChanges::MAX_NAMED);
    }

    fn note_content(&mut self, half: u64) {
        if self.contents.contains(&half) {
            self.duplicates += 1;
        } else if self.contents.len() < MAX_CONTENTS {
            self.contents.insert(half);
        }
    }
}

/// The signs that a URL had when the crawl began; `None`: it was not published.
fn signs_before(page: Option<&Page>, visit: Option<&Visit>) -> Option<Signs> {
    if let Some(promotion) = visit.and_then(|visit| visit.promotion.as_ref()) {
        return promotion
            .was_listed
            .then(|| Signs::when_promoted(promotion));
    }
    let page = page.filter(|page| page.record.reason.state() == State::Listed)?;
    let facts = page.record.facts();
    Some(
        facts
            .map(|facts| Signs::of(facts, None))
            .unwrap_or_default(),
    )
}

/// The answer at the end of the redirects of an answer.
fn end_of(view: &MergedView<'_>, facts: &PageFacts) -> Result<Option<PageFacts>, StoreError> {
    let mut end = None;
    let mut next = facts.location.clone();
    for _ in 0..MAX_HOPS {
        let Some(key) = &next else { break };
        let found = view.of(key)?;
        let Some(facts) = found.and_then(|found| found.record.facts().cloned()) else {
            break;
        };
        next.clone_from(&facts.location);
        end = Some(facts);
    }
    Ok(end)
}

/// Divides the listed URLs into files, beginning with the layout of the published set.
fn counter(request: &PublishRequest<'_>, previous: &Manifest) -> Result<Counter, PartitionError> {
    let PublishConfig {
        min_section,
        min_subsection,
        file_entries,
        file_bytes,
        ..
    } = *request.config;
    let thresholds = Thresholds {
        section: min_section,
        subsection: min_subsection,
        file_entries,
        file_bytes,
    };
    let placement = match request.config.layout {
        Layout::Root => Placement::Root,
        Layout::InPlace => Placement::InPlace,
    };
    let layout: PartLayout = previous.layout.parse().unwrap_or_default();
    Counter::new(
        &request.site.written().directory,
        thresholds,
        placement,
        &layout,
    )
}
