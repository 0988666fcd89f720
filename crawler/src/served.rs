//! Whether readers get the published set where it is served: its indexes, the files that changed and some of the others are read back,
//! and the `Sitemap` lines of robots.txt are looked for. It sends requests only through what it is given, and notifies nobody.
//!
//! ```text
//! index -> the first fault ends the look; robots.txt -> files that changed -> a sample of the others -> ServedReport, in the state
//! ```

mod content;
mod program;
mod robots_lines;

#[cfg(test)]
mod tests;

use std::{cmp::Reverse, sync::Arc, time::Duration};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use self::content::fault_of;
pub use self::content::other_program;
pub use self::{program::program_of, robots_lines::missing_lines};
use crate::{
    client::{DownloadError, DownloadedDocument},
    human,
    page::words,
    publish::{PublishedContent, PublishedContents, PublishedSet, published_contents},
    robots::Rules,
    store::{Effect, Store, StoreError, json_value, with_causes},
    url_key::UrlKey,
    view::{Tone, View},
};

/// Name of the state's value with the last [`ServedReport`].
const SERVED: &str = crate::store::names::PUBLISH_SERVED;

/// Files of a set that did not change and are read back all the same, at each look others.
const SAMPLE: usize = 3;

/// Faults that end a look: what is wrong is clear by then.
const MAX_FAULTS: usize = 10;

/// When the daemon looks again at a set that is not served, after the first look, the second and the third; then once in the interval
/// of the settings.
const NEXT_LOOKS: [Duration; 3] = [
    Duration::from_secs(10 * 60),
    Duration::from_secs(60 * 60),
    Duration::from_secs(6 * 60 * 60),
];

/// After so long a set that is not served is a failure.
const LATE_AFTER: SignedDuration = SignedDuration::from_hours(24);

words! {
    /// What readers get where a set is served, the best first.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Serving {
        /// robots.txt names the set, and each file that was asked for has its content.
        Served = "served",
        /// The files are there, and robots.txt does not name them.
        NoRobotsLine = "no-robots-line",
        /// A file has the content of an earlier set.
        NotYetServed = "not-yet-served",
        /// A file arrives otherwise than it was written: unpacked, or cut short.
        Altered = "altered",
        /// A file of another program is in the place.
        Overwritten = "overwritten",
        /// There is no such file, or a page in its place.
        Missing = "missing",
        /// The server or robots.txt refuses it, or nothing answers.
        Blocked = "blocked",
    }
}

/// A URL that does not serve what it should.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServingFault {
    /// What it serves.
    pub serving: Serving,
    /// The URL.
    pub url: String,
    /// A fragment: what came in its place.
    pub problem: String,
}

/// What a look at a served set found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServedReport {
    /// The id of the set.
    set: String,
    /// The worst of all.
    pub serving: Serving,
    /// The time of the look.
    pub looked_at: Timestamp,
    /// Files that were asked for.
    pub files: u64,
    /// The faults, the worst first; at most 10.
    pub faults: Vec<ServingFault>,
    /// The first of the looks in a row that found a set not served.
    pub not_served_since: Option<Timestamp>,
    /// The number of looks in a row that found this set not served.
    pub looks: u32,
    /// When the last set that was found served was published: files that changed later were not read back yet.
    pub read_until: Option<Timestamp>,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LookError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No request can be sent from here, or the work was stopped.
    #[error(transparent)]
    Request(DownloadError),
    /// The state does not know the files of the set.
    #[error(
        "the state does not know the files of the published set; the next crawl publishes it again"
    )]
    UnknownFiles,
}

/// Reads what is served.
#[expect(missing_debug_implementations, reason = "it holds functions")]
#[expect(clippy::exhaustive_structs, reason = "a session fills it in")]
pub struct ServedReader<'r> {
    /// A document as an engine gets it.
    pub document: &'r mut dyn FnMut(&UrlKey) -> Result<DownloadedDocument, DownloadError>,
    /// The rules of the robots.txt of the site at a URL.
    pub robots: &'r mut dyn FnMut(&UrlKey) -> Result<Arc<Rules>, DownloadError>,
}

/// The last report, on whatever set.
///
/// # Errors
/// The store cannot be read.
pub fn last_look(store: &Store) -> Result<Option<ServedReport>, StoreError> {
    store.read_json(SERVED)
}

/// Looks at what is served of the published `set`, unless the last look found it served less than `interval` ago; then that is the
/// result.
///
/// # Errors
/// See [`LookError`].
pub fn look(
    store: &Store,
    set: &PublishedSet,
    now: Timestamp,
    interval: Duration,
    reader: &mut ServedReader<'_>,
) -> Result<ServedReport, LookError> {
    let contents = published_contents(store, set)?.ok_or(LookError::UnknownFiles)?;
    let before = last_look(store)?;
    if let Some(before) = &before
        && before.set == contents.set_id
        && before.is_served()
        && before.next_look(interval) > now
    {
        return Ok(before.clone());
    }
    let mut look = SetLook {
        reader,
        contents: &contents,
        files: 0,
        faults: Vec::new(),
    };
    look.all(set, before.as_ref(), now)?;
    let SetLook {
        files, mut faults, ..
    } = look;
    faults.sort_by_key(|fault| Reverse(fault.serving));
    let serving = faults
        .first()
        .map_or(Serving::Served, |fault| fault.serving);
    let is_served = serving == Serving::Served;
    let (mut since, mut looks, mut read_until) = (None, 0, Some(contents.published));
    if !is_served {
        let before = before.as_ref();
        since = before
            .and_then(|before| before.not_served_since)
            .or(Some(now));
        let same = before.filter(|before| before.set == contents.set_id);
        looks = same.map_or(0, |before| before.looks) + 1;
        read_until = before.and_then(|before| before.read_until);
    }
    Ok(ServedReport {
        set: contents.set_id,
        serving,
        looked_at: now,
        files,
        faults,
        not_served_since: since,
        looks,
        read_until,
    })
}

/// Stores what the last look found.
///
/// # Errors
/// The store failed.
pub fn note_look(store: &mut Store, report: &ServedReport) -> Result<(), StoreError> {
    store.commit(&[Effect::Value(json_value(SERVED, report))])
}

/// A look that is under way.
struct SetLook<'l, 'r> {
    reader: &'l mut ServedReader<'r>,
    contents: &'l PublishedContents,
    files: u64,
    faults: Vec<ServingFault>,
}

impl SetLook<'_, '_> {
    fn all(
        &mut self,
        set: &PublishedSet,
        before: Option<&ServedReport>,
        now: Timestamp,
    ) -> Result<(), LookError> {
        let contents = self.contents;
        let (entrances, parts): (Vec<_>, Vec<_>) = contents
            .files
            .iter()
            .partition(|file| set.sitemaps.contains(&file.url));
        for file in entrances {
            self.file(file)?;
        }
        // Where the index is not, nobody finds the files, and they are not either.
        if !self.faults.is_empty() {
            return Ok(());
        }
        self.robots(set)?;
        let read_until = before.and_then(|before| before.read_until);
        let is_same = before.is_some_and(|before| before.set == contents.set_id);
        let has_changed = |file: &&PublishedContent| match (read_until, file.changed) {
            (None, _) => true,
            (Some(_), None) => !is_same,
            (Some(until), Some(changed)) => changed > until,
        };
        let (changed, others): (Vec<_>, Vec<_>) = parts.into_iter().partition(has_changed);
        for file in changed.into_iter().chain(sample(&others, now)) {
            self.file(file)?;
            if self.faults.len() >= MAX_FAULTS {
                break;
            }
        }
        Ok(())
    }

    fn file(&mut self, file: &PublishedContent) -> Result<(), LookError> {
        self.files += 1;
        let (serving, problem) = match UrlKey::from_normalised(&file.url) {
            Err(error) => (Serving::Blocked, error.to_string()),
            Ok(url) => match (self.reader.document)(&url) {
                Ok(mut document) => match fault_of(file, &mut document, &self.contents.earlier) {
                    Some(fault) => fault,
                    None => return Ok(()),
                },
                Err(error) => (Serving::Blocked, refusal(error)?),
            },
        };
        self.faults.push(ServingFault {
            serving,
            url: file.url.clone(),
            problem,
        });
        Ok(())
    }

    /// Looks for the lines of robots.txt.
    fn robots(&mut self, set: &PublishedSet) -> Result<(), LookError> {
        let Ok(site) = UrlKey::from_normalised(&set.site) else {
            return Ok(());
        };
        let url = format!("{}/robots.txt", site.origin());
        let (serving, problems) = match (self.reader.robots)(&site) {
            Err(error) => (Serving::Blocked, vec![refusal(error)?]),
            Ok(rules) => {
                let missing = missing_lines(&rules, &set.sitemaps).into_iter();
                let lines = missing.map(|line| format!("has no line Sitemap: {line}"));
                (Serving::NoRobotsLine, lines.collect())
            }
        };
        let faults = problems.into_iter().map(|problem| ServingFault {
            serving,
            url: url.clone(),
            problem,
        });
        self.faults.extend(faults);
        Ok(())
    }
}

/// Why a server gave no answer, as a fragment.
///
/// # Errors
/// It is not the server that failed.
fn refusal(error: DownloadError) -> Result<String, LookError> {
    match error {
        DownloadError::Stopped | DownloadError::Settings(_) | DownloadError::Spool(_) => {
            Err(LookError::Request(error))
        }
        DownloadError::Disallowed(_)
        | DownloadError::RobotsUnreachable { .. }
        | DownloadError::Forbidden { .. }
        | DownloadError::TooManyHosts { .. }
        | DownloadError::Redirects { .. }
        | DownloadError::NoAnswer { .. }
        | DownloadError::Closed { .. } => Ok(format!("has no answer: {}", with_causes(&error))),
    }
}

/// Some of `files`, others at other times.
fn sample<'f>(
    files: &[&'f PublishedContent],
    now: Timestamp,
) -> impl Iterator<Item = &'f PublishedContent> {
    let count = files.len().min(SAMPLE);
    // A look a day reads all of them in time.
    let day = usize::try_from(now.as_second() / 86_400).unwrap_or_default();
    let first = day * SAMPLE;
    (0..count).map(move |place| files[(first + place) % files.len()])
}

impl Serving {
    /// What readers get, in a few words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Served => "served",
            Self::NoRobotsLine => "served, but robots.txt does not name it",
            Self::NotYetServed => "not yet served: readers get an earlier set",
            Self::Altered => "not served: the server changes the files",
            Self::Overwritten => "not served: files of another program are in the place",
            Self::Missing => "not served: files are missing",
            Self::Blocked => "not served: readers get no answer",
        }
    }
}

impl ServedReport {
    /// Returns whether others may be notified of the set.
    pub fn is_served(&self) -> bool {
        self.serving == Serving::Served
    }

    /// Returns whether no set has been served for a day.
    pub fn is_late(&self) -> bool {
        self.not_served_since
            .is_some_and(|since| self.looked_at.duration_since(since) >= LATE_AFTER)
    }

    /// When to look again, where a set that is served is looked at every `interval`.
    pub fn next_look(&self, interval: Duration) -> Timestamp {
        let place = usize::try_from(self.looks)
            .unwrap_or(usize::MAX)
            .checked_sub(1);
        let wait = place.and_then(|place| NEXT_LOOKS.get(place)).copied();
        let wait = wait.map_or(interval, |wait| wait.min(interval));
        self.looked_at
            .saturating_add(wait)
            .unwrap_or(Timestamp::MAX)
    }

    /// The result in one line.
    pub fn line(&self) -> String {
        let text = self.serving.text();
        match self.faults.first() {
            None => format!("{text}: {} read back", human::count(self.files, "file")),
            Some(fault) => format!("{text}: {}", fault.text()),
        }
    }

    /// The result for people: `site` is what the set is of.
    pub fn view(&self, site: &str) -> View {
        let mut view = View::new(format!("{site}: {}", self.serving.text()));
        let section = view.section("served", "");
        section.line(format!("{} read back", human::count(self.files, "file")));
        for fault in &self.faults {
            section.line(fault.text()).toned(Tone::Error);
        }
        view
    }
}

impl ServingFault {
    /// The URL, and what came in the place of the file.
    pub fn text(&self) -> String {
        format!("{} {}", self.url, self.problem)
    }
}
