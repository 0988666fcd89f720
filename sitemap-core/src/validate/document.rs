//! One document from its first byte to its last.

use std::{
    cmp::Ordering,
    collections::{HashMap, hash_map::Entry},
    io::{self, BufRead},
};

use super::{
    AnswerEnd, Child, DocumentId, Facts, MAX_REPORTED_CHILDREN, Problem, Report, Sink, Validator,
    clusters::MAX_COMPARED_LINKS,
    finding::{Diagnosis, Spot, Tally},
    fingerprint::fingerprint_of,
    is_near,
    place::AllowedUrls,
    refused::Refused,
    set::{Known, MAX_COMPARED_URLS},
    tomorrow,
};
use crate::{
    ChangeFreq, IndexEntry, LastMod, Limits, Loc, Priority, UrlEntry,
    extension::Alternate,
    read::{self, Item, Kind, Position, ReadError, Reader, Source},
};

/// The first bytes of gzip (RFC 1952 section 2.3.1).
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The first year in which a page can have changed; the web began in 1990.
const FIRST_YEAR: u16 = 1990;

/// Number of findings of the reader that may wait for the end of their entry. They are then reported without its URL, but no
/// error is lost when warnings fill the reader's [list](crate::read::MAX_FINDINGS).
const MAX_WAITING_FINDINGS: usize = 100;

/// Number of entries from which equal values are reported.
const MIN_EQUAL_ENTRIES: u64 = 2;

/// From how many sitemaps without a date on an index costs its readers something: a few more files to fetch do not.
const MIN_UNDATED_SITEMAPS: u64 = 10;

/// Reads a document to its end and reports its problems.
pub(super) fn check(
    validator: &mut Validator,
    mut input: impl BufRead,
    facts: &Facts<'_>,
    sink: &mut Sink<'_>,
) -> io::Result<Report> {
    let id = validator.remember(facts);
    let is_gzip = facts.answer.is_some() && input.fill_buf()?.starts_with(&GZIP_MAGIC);
    let mut reader = Reader::new(input, validator.options.limits).keeping_text();
    if let Some(place) = facts.place {
        reader = reader.at(place);
    }
    let mut pass = Pass {
        id,
        territory: AllowedUrls::new(validator.set.route(id)),
        tally: Tally::new(validator.options.max_repeats),
        values: Values::default(),
        refused: Refused::default(),
        urls: HashMap::new(),
        children: Vec::new(),
        over_limits: [false; 2],
        validator,
        facts,
        sink,
    };
    let outcome = pass.read(&mut reader);
    let kind = reader.kind();
    pass.validator.set.documents[id.index()].kind = kind;
    // Findings of a broken document count as well.
    let is_complete = outcome? && is_whole(facts);
    if pass.territory.is_for_others() {
        pass.validator.set.is_for_others(id);
    }
    pass.about_answer(&mut reader, is_gzip);
    pass.finish(&mut reader);
    let Pass {
        territory,
        mut tally,
        children,
        ..
    } = pass;
    Ok(Report {
        document: id,
        kind,
        entries: reader.entries(),
        bytes: reader.bytes(),
        skipped_elements: reader.extension_elements(),
        is_complete,
        common_directory: territory.common_directory(),
        children,
        counts: tally.counts,
        repeated: tally.take_repeated(),
    })
}

/// A document while it is read.
struct Pass<'a, 's> {
    id: DocumentId,
    territory: AllowedUrls,
    tally: Tally,
    values: Values,
    refused: Refused,
    /// In which line each URL is listed first.
    urls: HashMap<u64, u64>,
    children: Vec<Child>,
    /// The limits that were broken so far: entries, bytes.
    over_limits: [bool; 2],
    validator: &'a mut Validator,
    facts: &'a Facts<'a>,
    sink: &'a mut Sink<'s>,
}

/// Values that the entries have in common.
#[derive(Debug, Default)]
struct Values {
    entries: u64,
    /// Position of the first one.
    first: Option<Position>,
    /// Number of values with a time.
    instants: u64,
    /// Sitemaps of an index without a date, and where the first is; none in another document.
    undated: u64,
    first_undated: Option<Position>,
    /// The earliest and the latest date.
    earliest: Option<LastMod>,
    latest: Option<LastMod>,
    /// Pages that change always or hourly.
    busy: u64,
    priority: Option<Priority>,
    /// Pages with the same priority as the first.
    equal_priorities: u64,
}

impl Pass<'_, '_> {
    /// Reads all entries; returns whether the end was reached.
    fn read<R: BufRead>(&mut self, reader: &mut Reader<R>) -> io::Result<bool> {
        loop {
            let next = reader.next_or_findings(MAX_WAITING_FINDINGS);
            let entry = reader.entry_position();
            let url = match &next {
                Some(Ok(Some(Item::Url(entry)))) => Some(entry.loc.as_str()),
                Some(Ok(Some(Item::Sitemap(entry)))) => Some(entry.loc.as_str()),
                Some(Ok(None) | Err(_)) | None => None,
            };
            let has_schema = matches!(reader.kind(), Some(Kind::UrlSet | Kind::Index) | None);
            for finding in reader.take_findings() {
                // Text and feeds have none.
                if finding.source() == Source::Schema && !has_schema {
                    continue;
                }
                let is_in_entry = finding.position >= entry;
                self.report(finding, reader, url.filter(|_| is_in_entry));
            }
            self.see_limits(reader);
            match next {
                None => return Ok(true),
                Some(Ok(None)) => {}
                Some(Ok(Some(Item::Url(entry)))) => self.page(reader, &entry),
                Some(Ok(Some(Item::Sitemap(entry)))) => self.sitemap(reader, entry),
                Some(Err(ReadError::Entry(finding))) => {
                    self.report(finding, reader, None);
                }
                Some(Err(ReadError::File(finding))) => {
                    let position = Some(finding.position);
                    // The broken limit of the protocol was reported at its position.
                    let end = end_of_reading(&finding.problem);
                    let what = end.map_or_else(|| Diagnosis::from(finding), Diagnosis::from);
                    self.report_at(&what, position, reader, None);
                    return Ok(false);
                }
                Some(Err(ReadError::Io(error))) => return Err(error),
            }
        }
    }

    /// Reports a finding of the reader at its position.
    fn report<R: BufRead>(
        &mut self,
        finding: read::ReadFinding,
        reader: &mut Reader<R>,
        url: Option<&str>,
    ) {
        let position = Some(finding.position);
        self.report_at(&finding.into(), position, reader, url);
    }

    fn report_at<R: BufRead>(
        &mut self,
        what: &Diagnosis,
        position: Option<Position>,
        reader: &mut Reader<R>,
        url: Option<&str>,
    ) {
        let spot = Spot {
            document: Some(self.id),
            kind: reader.kind(),
            place: self.facts.place,
            position,
            url,
        };
        self.validator.counts.add(what.severity());
        let excerpt = || position.and_then(|position| reader.excerpt(position));
        if let Some(finding) = self.tally.count_finding(what, &spot, excerpt) {
            (self.sink)(finding);
        }
    }

    fn strict<R: BufRead>(&mut self, problem: Problem, reader: &mut Reader<R>, url: &Loc) {
        let position = Some(reader.loc_position());
        self.report_at(&problem.into(), position, reader, Some(url.as_str()));
    }

    /// The limits of the protocol, which the reader goes beyond (R27, R28).
    fn see_limits<R: BufRead>(&mut self, reader: &mut Reader<R>) {
        let Limits { entries, bytes } = Limits::PROTOCOL;
        let is_over = [reader.entries() > entries, reader.bytes() > bytes];
        let positions = [reader.entry_position(), reader.read_position()];
        let problems = [
            Problem::TooManyEntries { limit: entries },
            Problem::TooManyBytes { limit: bytes },
        ];
        for (limit, problem) in problems.into_iter().enumerate() {
            if is_over[limit] && !self.over_limits[limit] {
                self.over_limits[limit] = true;
                self.report_at(&problem.into(), Some(positions[limit]), reader, None);
            }
        }
    }

    fn page<R: BufRead>(&mut self, reader: &mut Reader<R>, entry: &UrlEntry) {
        let loc = &entry.loc;
        for problem in self.territory.judge_page(loc, &self.validator.proofs) {
            self.refused
                .add_problem(&problem, loc, reader.loc_position());
            self.strict(problem, reader, loc);
        }
        self.lastmod(reader, entry.lastmod.as_ref(), loc);
        self.values.take_page(entry, reader.entry_position());
        self.compare(reader, entry);
        if !entry.extensions.is_empty() {
            self.extensions(reader, entry);
        }
        if self
            .facts
            .is_blocked
            .is_some_and(|is_blocked| is_blocked(loc))
        {
            self.strict(Problem::Blocked, reader, loc);
        }
    }

    fn sitemap<R: BufRead>(&mut self, reader: &mut Reader<R>, entry: IndexEntry) {
        let IndexEntry { loc, lastmod, .. } = entry;
        let position = reader.loc_position();
        if self
            .facts
            .place
            .is_some_and(|place| place.is_equivalent(&loc))
        {
            self.strict(Problem::ListsItself, reader, &loc);
        }
        for problem in self.territory.judge_sitemap(&loc, &self.validator.proofs) {
            self.strict(problem, reader, &loc);
        }
        self.lastmod(reader, lastmod.as_ref(), &loc);
        self.values.take_lastmod(lastmod.as_ref(), position);
        if lastmod.is_none() {
            self.values.undated += 1;
            self.values.first_undated.get_or_insert(position);
        }
        self.see_duplicate(reader, fingerprint_of(&loc), &loc);
        self.validator.set.list(self.id, &loc, position);
        if self.children.len() < MAX_REPORTED_CHILDREN {
            self.children.push(Child {
                loc,
                lastmod,
                position,
            });
        }
    }

    /// Dates that cannot be true (R14).
    fn lastmod<R: BufRead>(
        &mut self,
        reader: &mut Reader<R>,
        lastmod: Option<&LastMod>,
        loc: &Loc,
    ) {
        let Some(lastmod) = lastmod else { return };
        let is_future = lastmod.earliest_instant() > tomorrow(self.validator.options.now);
        let is_ancient = year(lastmod.as_str()).is_some_and(|year| year < FIRST_YEAR);
        let date = lastmod.as_str().to_owned();
        let problem = match (is_future, is_ancient) {
            (true, _) => Problem::Future { date },
            (false, true) => Problem::Ancient { date },
            (false, false) => return,
        };
        let position = Some(reader.lastmod_position());
        self.report_at(&problem.into(), position, reader, Some(loc.as_str()));
    }

    /// Returns whether the URL was listed before, here or elsewhere (R26).
    fn compare<R: BufRead>(&mut self, reader: &mut Reader<R>, entry: &UrlEntry) {
        let url = fingerprint_of(&entry.loc);
        if self.see_duplicate(reader, url, &entry.loc) {
            return;
        }
        match self
            .validator
            .set
            .compare(self.id, reader.kind(), url, entry)
        {
            Known::Fine => {}
            Known::Otherwise(other) => {
                let other = self.validator.set.documents[other.index()].name.clone();
                self.strict(Problem::DuplicateElsewhere { other }, reader, &entry.loc);
            }
            Known::Full => self.no_room(reader, 0, MAX_COMPARED_URLS, "URLs", &entry.loc),
        }
    }

    /// Reports once that the limit of memory for comparisons is reached.
    fn no_room<R: BufRead>(
        &mut self,
        reader: &mut Reader<R>,
        table: usize,
        limit: usize,
        what: &'static str,
        loc: &Loc,
    ) {
        if !std::mem::replace(&mut self.validator.has_reported_full[table], true) {
            self.strict(Problem::NotCompared { limit, what }, reader, loc);
        }
    }

    /// Articles and versions (R71).
    fn extensions<R: BufRead>(&mut self, reader: &mut Reader<R>, entry: &UrlEntry) {
        let loc = &entry.loc;
        if let Some(news) = entry.extensions.news()
            && !news.is_recent(self.validator.options.now)
            && let Some(published) = news.publication_date()
        {
            self.strict(Problem::OldNews { published }, reader, loc);
        }
        let mut videos = entry.extensions.videos().iter();
        if let Some(video) = videos.find(|video| video.check_thumbnail(loc).is_err()) {
            let title = video.get("title").unwrap_or_default().into();
            self.strict(Problem::ThumbnailIsPage { title }, reader, loc);
        }
        let mut images = entry.extensions.images().iter();
        let is_page = |image: Loc| image.is_equivalent(loc);
        if images.any(|image| image.loc("loc").is_some_and(is_page)) {
            self.strict(Problem::ImageIsPage, reader, loc);
        }
        let alternates = entry.extensions.alternates();
        let is_itself = |alternate: &Alternate| alternate.href.is_equivalent(loc);
        if !alternates.is_empty() && !alternates.iter().any(is_itself) {
            self.strict(Problem::NoSelfLink, reader, loc);
        }
        let position = reader.loc_position();
        if !self.validator.clusters.add(self.id, position, entry) {
            self.no_room(reader, 1, MAX_COMPARED_LINKS, "links between versions", loc);
        }
    }

    /// Returns whether this document has listed the URL before, which is reported.
    fn see_duplicate<R: BufRead>(&mut self, reader: &mut Reader<R>, url: u64, loc: &Loc) -> bool {
        let line = reader.loc_position().line;
        match self.urls.entry(url) {
            Entry::Vacant(vacant) => {
                vacant.insert(line);
                false
            }
            Entry::Occupied(first) => {
                let line = *first.get();
                self.strict(Problem::Duplicate { line }, reader, loc);
                true
            }
        }
    }

    /// Checks the answer of the server.
    fn about_answer<R: BufRead>(&mut self, reader: &mut Reader<R>, is_gzip: bool) {
        let Some(answer) = &self.facts.answer else {
            return;
        };
        let Facts {
            place, modified, ..
        } = *self.facts;
        let end = answer.problem_of_end();
        let others = answer.problems(place, reader.kind(), is_gzip, modified);
        for problem in end.into_iter().chain(others) {
            self.report_at(&problem.into(), None, reader, None);
        }
    }

    /// Checks that need the whole document.
    fn finish<R: BufRead>(&mut self, reader: &mut Reader<R>) {
        let Some(kind) = reader.kind() else { return };
        for problem in self.about_place() {
            self.report_at(&problem.into(), None, reader, None);
        }
        self.about_refused(reader);
        if let Some(problem) = division(reader, kind) {
            self.report_at(&problem.into(), None, reader, None);
        }
        if let Some(problem) = self.values.conclude_undated() {
            let position = self.values.first_undated;
            self.report_at(&problem.into(), position, reader, None);
        }
        let first = self.values.first;
        for problem in self.values.conclude(kind) {
            self.report_at(&problem.into(), first, reader, None);
        }
    }

    /// Reports the effects on URLs that it may not list, and the lines that would allow them (R61, R65).
    fn about_refused<R: BufRead>(&mut self, reader: &mut Reader<R>) {
        let has_others = self.territory.has_claim();
        let lines = self
            .refused
            .lines(has_others, &mut self.validator.reported_lines);
        for (position, url, problem) in lines {
            self.report_at(&problem.into(), Some(position), reader, Some(url.as_str()));
        }
        // Which host is the right one shows in its place alone.
        if let Some(problem) = self.refused.dropped(self.values.entries)
            && self.facts.place.is_some()
        {
            self.report_at(&problem.into(), None, reader, None);
        }
    }

    /// Checks the origin of its place (D5).
    fn about_place(&mut self) -> Vec<Problem> {
        let Some(place) = self.facts.place else {
            return Vec::new();
        };
        let mut problems = Vec::new();
        if let Some(requested) = self.facts.requested
            && requested.directory() != place.directory()
        {
            let requested = requested.clone();
            problems.push(Problem::Moved { requested });
        }
        problems
    }
}

impl Values {
    fn take_page(&mut self, entry: &UrlEntry, position: Position) {
        self.take_lastmod(entry.lastmod.as_ref(), position);
        let is_busy = matches!(
            entry.changefreq,
            Some(ChangeFreq::Always | ChangeFreq::Hourly)
        );
        self.busy += u64::from(is_busy);
        if self.entries == 1 {
            self.priority = entry.priority;
        }
        let is_equal = entry.priority.is_some() && entry.priority == self.priority;
        self.equal_priorities += u64::from(is_equal);
    }

    fn take_lastmod(&mut self, lastmod: Option<&LastMod>, position: Position) {
        self.entries += 1;
        self.first.get_or_insert(position);
        let Some(lastmod) = lastmod else { return };
        self.instants += u64::from(!is_day(lastmod));
        let instant = lastmod.latest_instant();
        let is_beyond = |other: &Option<LastMod>, order| {
            other
                .as_ref()
                .is_none_or(|other| instant.cmp(&other.latest_instant()) == order)
        };
        if is_beyond(&self.earliest, Ordering::Less) {
            self.earliest = Some(lastmod.clone());
        }
        if is_beyond(&self.latest, Ordering::Greater) {
            self.latest = Some(lastmod.clone());
        }
    }

    /// Checks of all pages of a document together (R14, R17, R19).
    fn conclude(&self, kind: Kind) -> Vec<Problem> {
        let count = self.entries;
        if count < MIN_EQUAL_ENTRIES || kind == Kind::Index {
            return Vec::new();
        }
        let mut problems = Vec::new();
        if let (Some(earliest), Some(latest)) = (&self.earliest, &self.latest)
            && self.instants == count
            && is_near(earliest.latest_instant(), latest.latest_instant())
        {
            let lastmod = latest.clone();
            problems.push(Problem::AllAtOnce { count, lastmod });
        }
        if self.busy == count {
            problems.push(Problem::AllBusy { count });
        }
        if self.equal_priorities == count {
            problems.push(Problem::EqualPriorities { count });
        }
        problems
    }

    /// Returns whether readers of an index have to fetch many of its sitemaps for want of a date (R43).
    fn conclude_undated(&self) -> Option<Problem> {
        let (count, of) = (self.undated, self.entries);
        (count >= MIN_UNDATED_SITEMAPS).then_some(Problem::Undated { count, of })
    }
}

/// Number of sitemaps that a list over the limits needs (R30). A single entry cannot be divided.
fn division<R: BufRead>(reader: &Reader<R>, kind: Kind) -> Option<Problem> {
    let Limits { entries, bytes } = Limits::PROTOCOL;
    let (urls, size) = (reader.entries(), reader.bytes());
    let by_entries = urls.div_ceil(entries);
    let by_bytes = size.div_ceil(bytes).min(urls);
    let (sitemaps, amount, unit) = if by_entries >= by_bytes {
        (by_entries, urls, "URLs")
    } else {
        (by_bytes, size, "bytes")
    };
    (sitemaps > 1 && kind != Kind::Index).then_some(Problem::NeedsSeveral {
        amount,
        unit,
        sitemaps,
    })
}

/// Problem for reading that ends above the limits of the protocol.
fn end_of_reading(problem: &Problem) -> Option<Problem> {
    match *problem {
        Problem::TooManyEntries { limit } if limit > Limits::PROTOCOL.entries => {
            Some(Problem::EntriesNotRead { limit })
        }
        Problem::TooManyBytes { limit } if limit > Limits::PROTOCOL.bytes => {
            Some(Problem::BytesNotRead { limit })
        }
        _ => None,
    }
}

/// Returns whether all of the document was given to the reader.
fn is_whole(facts: &Facts<'_>) -> bool {
    facts
        .answer
        .is_none_or(|answer| answer.end == AnswerEnd::Complete)
}

/// Returns whether a date has no time.
fn is_day(lastmod: &LastMod) -> bool {
    !lastmod.as_str().contains('T')
}

/// The year that a date begins with.
fn year(date: &str) -> Option<u16> {
    date.get(..4)?.parse().ok()
}
