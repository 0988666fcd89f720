//! What of the answers of a run is not believed yet. A start of the program that is not a whole run comes to a few pages only,
//! and among those that earlier starts heard a wall would be few. So each start is looked at by itself. What too
//! many of its pages show together is *doubted*: pages of the published set stay as they were and new ones wait,
//! until a later start hears the same of them, and the site turned out to be itself in between.
//!
//! ```text
//! doubted -> (a start that heard others, and doubts none of them) -> heard the same again, among others: believed
//!         -> heard otherwise: believed
//!         -> the run is refused, or another one comes to its end in one start: forgotten
//! ```
//!
//! A pure judgement, in two passes over the records of the run and in bounded memory: it says what is doubted, and
//! changes nothing.

mod seen;

use std::{cmp::Reverse, collections::BTreeMap, ops::ControlFlow};

use jiff::Timestamp;

use self::seen::{Before, Eye, Role, Seen, Shown, is_of};
use super::{
    guard::{self, Alike, Group, Grouped, OldSet, Remembered, Sign, Young},
    survey::{self, Sight, Signs},
};
use crate::{
    config::GuardConfig,
    page::{PageRecord, RunId},
    site::Site,
    store::{Commit, Doubt, QueuedUrl, Store, StoreError, doubt},
    url_key::UrlKey,
};

/// Name of the state's value with when a start ended last that shows that the site is itself (RFC 3339).
const WELL: &str = crate::store::names::PUBLISH_WELL;

/// Name of the state's value with when the starts were about to be judged that are not yet, if somebody began with that (RFC 3339).
const JUDGING: &str = crate::store::names::PUBLISH_JUDGING;

/// Pages besides the start page that a start must have heard to show that the site is itself: of fewer nobody can tell
/// whether they are alike.
const MIN_WELL: u64 = 3;

/// Kinds of what is doubted that are told one by one.
const MAX_TOLD: usize = 3;

/// Kinds of what earlier starts showed that are looked for among other pages.
const MAX_STANDING: usize = 64;

/// Waiting URLs, and doubts, that are looked at at once.
const PORTION: usize = 2_048;

/// What is doubted of the answers that a run heard in these starts.
#[derive(Debug)]
pub struct Doubts<'a> {
    eye: Eye<'a>,
    now: Timestamp,
    /// Which groups are doubted, for each start.
    doubtful: Vec<Doubtful>,
    /// What earlier starts showed that nobody vouched for before these.
    standing: Vec<Shown>,
    /// See [`WELL`].
    well: Option<Timestamp>,
    /// Pages that answered in these starts.
    heard: u64,
    /// Those of them, besides the start page, of which it counts what they said.
    believed: u64,
    /// Nothing of the site was asked for twice.
    is_first: bool,
}

/// What becomes of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// It does not count yet.
    Doubted {
        /// What is remembered of that.
        doubt: Doubt,
        /// The page stands in the published set.
        is_published: bool,
    },
    /// It counts from now on.
    Believed,
}

/// The groups of a start that are doubted.
#[derive(Debug, Default)]
struct Doubtful {
    published: Vec<Group>,
    new: Vec<Group>,
    /// It heard enough to tell.
    is_enough: bool,
    /// It heard enough pages that are not doubted: what it heard again is not what all of the site says.
    can_confirm: bool,
}

/// How many pages are doubted, by what they show.
#[derive(Debug, Default)]
pub struct Told(BTreeMap<(Alike, String), Pages>);

#[derive(Debug, Default)]
struct Pages {
    published: u64,
    new: u64,
}

/// What is doubted of what was heard in a start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubted {
    /// Pages, published and new ones.
    pub pages: u64,
    /// In what they are alike, each a word of [`super::Objection::code`]; that of most pages first.
    pub signs: Vec<&'static str>,
    /// How many are alike in what, and what becomes of them, as a sentence.
    pub text: String,
    /// Nothing else counts that was heard, besides the start page, and these are at least three, not all of them new ones of a
    /// site that was crawled before.
    pub is_all: bool,
}

impl Pages {
    fn all(&self) -> u64 {
        self.published + self.new
    }
}

impl Told {
    /// Counts a page.
    pub fn add(&mut self, doubt: &Doubt, is_published: bool) {
        let Some(sign) = Sign::from_word(&doubt.sign) else {
            return;
        };
        let pages = self.0.entry((sign.alike(), doubt.example.clone()));
        let pages = pages.or_default();
        pages.published += u64::from(is_published);
        pages.new += u64::from(!is_published);
    }

    /// Whether there are published ones, and new ones.
    fn whose(&self) -> (bool, bool) {
        let is_any = |count: fn(&Pages) -> u64| self.0.values().any(|pages| count(pages) > 0);
        (is_any(|pages| pages.published), is_any(|pages| pages.new))
    }
}

impl<'a> Doubts<'a> {
    /// Looks at what run `run` of `site` heard since each of `starts`, until `now`. `None`: nothing is doubted, and nothing was.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn of(
        store: &dyn Store,
        site: &'a Site,
        run: RunId,
        config: &GuardConfig,
        starts: &'a [Timestamp],
        now: Timestamp,
    ) -> Result<Option<Self>, StoreError> {
        let has_doubts = doubt::is_any(store)?;
        let is_first = survey::is_first(store, run)?;
        let last = survey::recall(store)?.unwrap_or_default();
        let mut heard: Vec<Heard> = starts.iter().map(|_| Heard::default()).collect();
        let mut eye = Eye::new(site, starts, now, has_doubts);
        let mut well = time(store, WELL)?.filter(|well| *well <= now);
        let begun = time(store, JUDGING)?;
        let standing = standing(store, well)?;
        let mut looked = Ok(());
        store.visit_pages(run, None, &mut |key, record| {
            match eye.look(store, key, &record) {
                Ok(Some(seen)) => {
                    // What nobody vouches for yet counts as if it were heard first.
                    let is_confirmed = seen.is_confirmed(well);
                    heard[seen.start].add(&seen, key, is_first, is_confirmed);
                }
                Ok(None) => {}
                Err(error) => looked = Err(error),
            }
            if looked.is_ok() {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })?;
        looked?;
        let pages = eye.known.count(store)?;
        if pages == 0 {
            return Ok(None);
        }
        let all = heard.iter().map(|heard| heard.all).sum();
        let mut doubtful = Vec::with_capacity(starts.len());
        for (position, heard) in heard.into_iter().enumerate() {
            let groups = heard.doubtful(pages, is_first, &last, config);
            // Of one that was judged in part already, what was doubted is asked for again by now.
            let is_whole = begun.is_none_or(|begun| begun < starts[position]);
            if groups.is_none() && groups.is_enough && is_whole {
                let end = starts.get(position + 1).copied().unwrap_or(now);
                well = well.max(Some(end));
            }
            doubtful.push(groups);
        }
        if !has_doubts && doubtful.iter().all(Doubtful::is_none) {
            return Ok(None);
        }
        Ok(Some(Self {
            eye: Eye::new(site, starts, now, has_doubts),
            now,
            doubtful,
            standing,
            well,
            heard: all,
            believed: 0,
            is_first,
        }))
    }

    /// What becomes of what `record` says of the page `key`; `None`: nothing that it would not come to anyway. To be asked of
    /// each record of the run, in key order.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn look(
        &mut self,
        store: &dyn Store,
        key: &UrlKey,
        record: &PageRecord,
    ) -> Result<Option<Finding>, StoreError> {
        let Some(seen) = self.eye.look(store, key, record)? else {
            return Ok(None);
        };
        let found = self.judge(&seen);
        let is_believed = !matches!(found, Some(Finding::Doubted { .. }));
        let counts = is_believed && !seen.is_start && !seen.sight.is_open();
        self.believed += u64::from(counts);
        Ok(found)
    }

    fn judge(&self, seen: &Seen) -> Option<Finding> {
        let is_vouched_for = seen.is_vouched_for(self.well);
        let shown = self.doubtful[seen.start].shown_by(seen);
        let shown = shown.or_else(|| {
            let mut standing = self.standing.iter().filter(|_| !is_vouched_for);
            standing.find(|kind| seen.shows(kind)).cloned()
        });
        let before = match &seen.before {
            Before::Unknown => return shown.map(|shown| self.doubted(seen, shown, 1)),
            // Where it leads is asked for before it counts.
            Before::Other(before) | Before::Again(before)
                if shown.is_none()
                    && seen.sight.is_open()
                    && before.times < seen.role.max_times() =>
            {
                return Some(Self::still_doubted(seen, before, 1));
            }
            Before::Other(before) => before,
            Before::Again(before) => {
                // A new page may be one of a section that comes by itself.
                let is_among_others =
                    seen.role == Role::New || self.doubtful[seen.start].can_confirm;
                let is_confirmed = shown.is_none() && is_vouched_for && is_among_others;
                // That the site was itself in between counts for one time more.
                let more = if is_vouched_for { 2 } else { 0 };
                return Some(
                    if is_confirmed || before.times + more >= seen.role.max_times() {
                        Finding::Believed
                    } else {
                        Self::still_doubted(seen, before, more.max(1))
                    },
                );
            }
        };
        Some(match shown {
            Some(shown) => self.doubted(seen, shown, before.times + 1),
            None => Finding::Believed,
        })
    }

    /// What was doubted still is, and was heard so many times `more`.
    fn still_doubted(seen: &Seen, before: &Doubt, more: u32) -> Finding {
        Finding::Doubted {
            doubt: Doubt {
                run: seen.run,
                times: before.times + more,
                ..before.clone()
            },
            is_published: seen.is_published(),
        }
    }

    fn doubted(&self, seen: &Seen, shown: Shown, times: u32) -> Finding {
        Finding::Doubted {
            doubt: Doubt {
                run: seen.run,
                at: self.now,
                sign: shown.sign.word().to_owned(),
                key: shown.key,
                example: shown.example,
                times,
            },
            is_published: seen.is_published(),
        }
    }

    /// What is doubted, to be told; `None`: nothing.
    pub fn told(&self, told: &Told) -> Option<Doubted> {
        let mut kinds: Vec<_> = told.0.iter().collect();
        kinds.sort_by_key(|(_, pages)| Reverse(pages.all()));
        let stay = match told.whose() {
            (true, false) => "they stay as they were",
            (false, true) => "they are new, and wait",
            (true, true) => "those that are published stay as they were, and new ones wait,",
            (false, false) => return None,
        };
        let first: Vec<String> = kinds
            .iter()
            .take(MAX_TOLD)
            .map(|((alike, example), pages)| {
                format!("{} {}", Grouped(pages.all()), alike.with(example))
            })
            .collect();
        let others = if kinds.len() > MAX_TOLD {
            ", and others are alike"
        } else {
            ""
        };
        let mut signs = Vec::new();
        for ((alike, _), _) in &kinds {
            if !signs.contains(&alike.code()) {
                signs.push(alike.code());
            }
        }
        let pages = kinds.iter().map(|(_, pages)| pages.all()).sum();
        let has_published = told.whose().0;
        Some(Doubted {
            pages,
            signs,
            text: format!(
                "of the {} pages that answered, {}{others}: {stay} until a later start hears the same",
                Grouped(self.heard),
                first.join(", "),
            ),
            is_all: self.believed == 0 && pages >= MIN_WELL && (has_published || self.is_first),
        })
    }

    /// Whether a page that waits, `waiting`, is one that only another run can decide: in this one nobody vouches for it.
    fn is_for_another_run(
        &self,
        store: &dyn Store,
        waiting: &QueuedUrl,
    ) -> Result<bool, StoreError> {
        let doubt = store.doubt(&waiting.key)?;
        Ok(doubt.is_some_and(|doubt| !seen::is_vouched_for(&doubt, self.well)))
    }

    /// Whether nothing waits but pages of which this run cannot tell more: then another one has to ask for all of the site.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn are_for_another_run(&self, store: &dyn Store) -> Result<bool, StoreError> {
        let mut after = None;
        loop {
            let portion = store.queued(after, PORTION)?;
            let Some(last) = portion.last() else {
                return Ok(after.is_some());
            };
            after = Some(last.sequence);
            for waiting in &portion {
                if !self.is_for_another_run(store, waiting)? {
                    return Ok(false);
                }
            }
        }
    }

    /// The value of the state that says that what is doubted begins to be noted.
    pub fn beginning(&self) -> (String, Option<String>) {
        (JUDGING.to_owned(), Some(self.now.to_string()))
    }

    /// The values of the state that say that all of it is noted, and when the site was itself last.
    pub fn end(&self) -> [(String, Option<String>); 2] {
        [
            (JUDGING.to_owned(), None),
            (WELL.to_owned(), self.well.map(|well| well.to_string())),
        ]
    }
}

/// What is doubted that nobody vouched for until `well`, of each kind one.
fn standing(store: &dyn Store, well: Option<Timestamp>) -> Result<Vec<Shown>, StoreError> {
    let mut kinds: Vec<Shown> = Vec::new();
    let mut after = None;
    loop {
        let portion = store.doubts(after.as_ref(), PORTION)?;
        let Some((last, _)) = portion.last() else {
            return Ok(kinds);
        };
        after = Some(last.clone());
        for (_, doubt) in portion {
            let Some(sign) = Sign::from_word(&doubt.sign) else {
                continue;
            };
            let is_told = kinds
                .iter()
                .any(|kind| kind.sign == sign && kind.key == doubt.key);
            if !is_told && !seen::is_vouched_for(&doubt, well) && kinds.len() < MAX_STANDING {
                kinds.push(Shown {
                    sign,
                    key: doubt.key,
                    example: doubt.example,
                });
            }
        }
    }
}

/// The time that the state's value `name` says. What cannot be read never was.
fn time(store: &dyn Store, name: &str) -> Result<Option<Timestamp>, StoreError> {
    Ok(store.value(name)?.and_then(|text| text.parse().ok()))
}

/// A run was refused: of a site that was not itself nothing is remembered.
pub(super) fn forget(store: &mut dyn Store, run: RunId) -> Result<(), StoreError> {
    doubt::forget_all(store, run)?;
    store.commit(&Commit {
        run,
        values: vec![(WELL.to_owned(), None)],
        ..Commit::default()
    })
}

impl Doubtful {
    fn is_none(&self) -> bool {
        self.published.is_empty() && self.new.is_empty()
    }

    /// What a page shows that is doubted.
    fn shown_by(&self, seen: &Seen) -> Option<Shown> {
        if !seen.is_fresh {
            return None;
        }
        let new = self.new.iter().filter(|_| !seen.is_published());
        let groups = self.published.iter().chain(new);
        let found = groups.filter_map(|group| {
            let shown = seen.shown.iter().copied();
            let mut shared = shown.filter(|shown| is_of(group.sign, group.key, *shown));
            Some((group, shared.next()?.1))
        });
        let found = found.min_by_key(|(group, _)| (group.sign.alike(), Reverse(group.pages)));
        let (group, key) = found?;
        Some(Shown {
            sign: group.sign,
            key,
            example: group.example.clone(),
        })
    }
}

/// What one start heard, without what it heard again and somebody vouches for.
#[derive(Debug, Default)]
struct Heard {
    all: u64,
    /// Pages besides the start page.
    others: u64,
    published: u64,
    open: u64,
    old: Signs,
    new: u64,
    young: Signs,
    /// Pages besides the start page that are read, and of which it does not hear again what is doubted.
    read: u64,
}

impl Heard {
    fn add(&mut self, seen: &Seen, key: &UrlKey, is_first: bool, is_confirmed: bool) {
        self.all += 1;
        let is_again = matches!(seen.before, Before::Again(_));
        let is_known = seen.is_published() || is_first;
        let is_read = matches!(seen.sight, Sight::Page(_));
        self.read += u64::from(is_read && is_known && !is_again && !seen.is_start);
        if is_confirmed {
            return;
        }
        let counts_as_new = !seen.is_published() || !is_first;
        self.others += u64::from(is_known && !seen.is_start);
        self.new += u64::from(counts_as_new);
        if let Sight::Page(look) = &seen.sight
            && counts_as_new
        {
            self.young.add_look(look, key, seen.is_fresh);
        }
        if seen.is_published() {
            self.published += 1;
            self.open += u64::from(seen.sight.is_open());
            self.old.add(&seen.sight, key, seen.is_fresh);
        }
    }

    /// What is doubted of it, where the published set has `pages`.
    fn doubtful(
        self,
        pages: u64,
        is_first: bool,
        last: &Remembered,
        config: &GuardConfig,
    ) -> Doubtful {
        let is_enough = self.others >= MIN_WELL;
        let mut old = OldSet {
            pages,
            heard: self.published,
            open: self.open,
            groups: self.old.largest(1),
            ..OldSet::default()
        };
        let mut published = std::mem::take(&mut old.groups);
        published.retain(|group| guard::is_doubtful(group, &old, last, config));
        let mut young = Young {
            pages: self.new,
            groups: self.young.largest(1),
            is_first,
        };
        let mut new = std::mem::take(&mut young.groups);
        new.retain(|group| guard::is_doubtful_of_new(group, &young, last, config));
        let groups = published.iter().chain(&new);
        let of_pages = groups.filter(|group| group.sign.redirects().is_none());
        let alike = of_pages.map(|group| group.pages).max().unwrap_or_default();
        Doubtful {
            can_confirm: self.read.saturating_sub(alike) >= MIN_WELL,
            published,
            new,
            is_enough,
        }
    }
}
