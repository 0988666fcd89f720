//! What a page answered in one of the starts that are looked at, and what it shares with others by that.

use jiff::Timestamp;

use crate::{
    page::{PageRecord, Reason, RunId, State, Via},
    publish::{
        guard::Sign,
        journal::Known,
        survey::{self, Sight},
    },
    site::Site,
    store::{Doubt, Store, StoreError},
    url_key::UrlKey,
};

/// Sees what the pages of a run answered since it began to be looked at, in key order.
#[derive(Debug)]
pub(super) struct Eye<'a> {
    site: &'a Site,
    starts: &'a [Timestamp],
    /// When they ended.
    end: Timestamp,
    pub(super) known: Known,
    has_doubts: bool,
}

/// An answer.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) run: RunId,
    /// In which of the starts it was heard.
    pub(super) start: usize,
    pub(super) is_start: bool,
    pub(super) role: Role,
    /// It was another page when it was published.
    pub(super) is_fresh: bool,
    pub(super) sight: Sight,
    /// See [`Sight::shown`].
    pub(super) shown: Vec<(Sign, u64)>,
    pub(super) before: Before,
}

/// What a page is to the published set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Published,
    /// A new page that a redirect led to first.
    End,
    /// Another new page.
    New,
}

impl Role {
    /// So many starts that heard the same are believed, whatever else they heard: nothing waits for ever. One counts twice if the
    /// site was itself before it. A wall that comes and goes leads to pages of its own; other new ones, if any, are few.
    pub(super) fn max_times(self) -> u32 {
        match self {
            Self::Published | Self::End => 9,
            Self::New => 5,
        }
    }
}

/// What is doubted of a page that answers.
#[derive(Debug)]
pub(super) enum Before {
    /// Nothing.
    Unknown,
    /// It says something else now.
    Other(Doubt),
    /// It says that again, or something else each time, for so many times that it is believed.
    Again(Doubt),
}

/// What pages share with each other.
#[derive(Debug, Clone)]
pub(super) struct Shown {
    pub(super) sign: Sign,
    /// What they share, as a fingerprint.
    pub(super) key: u64,
    /// One of them, or where they lead.
    pub(super) example: String,
}

impl Before {
    fn of(doubt: Option<Doubt>, role: Role, is_fresh: bool, shown: &[(Sign, u64)]) -> Self {
        let Some(doubt) = doubt else {
            return Self::Unknown;
        };
        let sign = Sign::from_word(&doubt.sign);
        let says_it = |shown| sign.is_some_and(|sign| is_of(sign, doubt.key, shown));
        if is_fresh && (doubt.times >= role.max_times() || shown.iter().copied().any(says_it)) {
            Self::Again(doubt)
        } else {
            Self::Other(doubt)
        }
    }

    pub(super) fn doubt(&self) -> Option<&Doubt> {
        match self {
            Self::Unknown => None,
            Self::Other(doubt) | Self::Again(doubt) => Some(doubt),
        }
    }
}

impl Seen {
    pub(super) fn is_published(&self) -> bool {
        self.role == Role::Published
    }

    /// Whether it shows what others showed, and was another page when it was published.
    pub(super) fn shows(&self, kind: &Shown) -> bool {
        let mut shown = self.shown.iter();
        self.is_fresh && shown.any(|shown| is_of(kind.sign, kind.key, *shown))
    }

    /// Whether the site was itself at `well`, after this was doubted.
    pub(super) fn is_vouched_for(&self, well: Option<Timestamp>) -> bool {
        let doubt = self.before.doubt();
        doubt.is_some_and(|doubt| is_vouched_for(doubt, well))
    }

    /// Whether it says again what is doubted of it, and the site was itself at `well`, in between.
    pub(super) fn is_confirmed(&self, well: Option<Timestamp>) -> bool {
        matches!(self.before, Before::Again(_)) && self.is_vouched_for(well)
    }
}

/// Whether the site was itself at `well`, after what `doubt` says.
pub(super) fn is_vouched_for(doubt: &Doubt, well: Option<Timestamp>) -> bool {
    well.is_some_and(|well| doubt.at < well)
}

/// Whether a page that shows `shown` is of the group of those that share `key` by `sign`.
pub(super) fn is_of(sign: Sign, key: u64, shown: (Sign, u64)) -> bool {
    // Whether it is for good shows when it is known what stands there.
    let is_target = |sign| matches!(sign, Sign::Target | Sign::Moved);
    let is_same = sign == shown.0 || is_target(sign) && is_target(shown.0);
    is_same && (key == shown.1 || sign.is_of_several())
}

impl<'a> Eye<'a> {
    pub(super) fn new(
        site: &'a Site,
        starts: &'a [Timestamp],
        end: Timestamp,
        has_doubts: bool,
    ) -> Self {
        Self {
            site,
            starts,
            end,
            known: Known::default(),
            has_doubts,
        }
    }

    /// In which of the starts something happened at `time`; `None`: in none of them. A clock may have been ahead in an earlier one,
    /// so that what was heard then is still to come.
    fn start_of(&self, time: Timestamp) -> Option<usize> {
        let begun = self.starts.iter().enumerate();
        let begun = begun.filter(|(_, start)| **start <= time);
        let (position, start) = begun.max_by_key(|(_, start)| **start)?;
        (time <= self.end || *start > self.end).then_some(position)
    }

    /// What a record says of a page that is published, or would be new; `None` if that was not heard in one of the starts.
    pub(super) fn look(
        &mut self,
        store: &dyn Store,
        key: &UrlKey,
        record: &PageRecord,
    ) -> Result<Option<Seen>, StoreError> {
        let published = survey::published(&mut self.known, store, self.site, key)?;
        let Some(fetched_at) = record.fetched_at else {
            return Ok(None);
        };
        let Some(start) = self.start_of(fetched_at) else {
            return Ok(None);
        };
        // What a page that is listed by what it was before answered itself.
        let own = if record.reason == Reason::KeptNotReached {
            store.put_off(key)?
        } else {
            None
        };
        let record = own.as_ref().unwrap_or(record);
        let is_listed = record.reason.state() == State::Listed;
        if !survey::has_spoken(record) {
            return Ok(None);
        }
        let facts = record.facts();
        if published.is_none() && !(is_listed && facts.is_some()) {
            return Ok(None);
        }
        let is_what_it_was = published.as_ref().zip(facts);
        let is_what_it_was =
            is_what_it_was.is_some_and(|(known, facts)| survey::is_what_it_was(known, facts));
        let is_fresh = !(is_listed && is_what_it_was);
        let sight = match facts {
            Some(facts) => {
                let is_fresh = is_fresh && published.is_some();
                Sight::of(store, key, record.run, facts, is_fresh)?
            }
            None => Sight::Nothing,
        };
        let mut shown = sight.shown();
        if let Sight::Page(look) = &sight
            && published.is_none()
        {
            // It may be where pages lead that are doubted.
            shown.push(look.as_an_end());
            if record.via == Via::Redirect {
                shown.extend(survey::as_target(key));
            }
        }
        let doubt = if self.has_doubts {
            store.doubt(key)?
        } else {
            None
        };
        let role = match published {
            Some(_) => Role::Published,
            None if record.via == Via::Redirect => Role::End,
            None => Role::New,
        };
        Ok(Some(Seen {
            run: record.run,
            start,
            is_start: record.is_start(),
            role,
            is_fresh,
            sight,
            before: Before::of(doubt, role, is_fresh, &shown),
            shown,
        }))
    }
}
