//! What a person has to know of the pages of a site, and what the counts of their reasons do not show: canonical links that have
//! to be corrected, and a path to which much of the site redirects.

use std::collections::{BTreeMap, HashMap};

use crate::{
    export::MergedView,
    notes::{ExampleCount, Note, grouped},
    page::{PageRecord, Reason},
    store::StoreError,
    url_key::{Origin, UrlKey},
};

/// Paths that are counted; redirects to further ones are not reported.
const MAX_PATHS: usize = 1_000;

/// Redirects to one path that are reported, and the part of the site that they are, at least.
const MIN_REDIRECTS: u64 = 5;
const MIN_PART: u64 = 20;

/// The part of the pages that may name another name of the site as canonical before a note reports which name to crawl.
const MAX_BY_NAME: u64 = 10;

/// The remarks on the pages of a view.
#[derive(Debug, Default)]
pub(super) struct Remarks {
    /// Listed pages whose canonical link redirects back to them, or was not answered.
    canonicals_back: ExampleCount,
    /// Pages that are left out because of a canonical link to a URL that is not known.
    canonicals_unknown: ExampleCount,
    /// Redirects by the path that they lead to, with its origin.
    redirects: HashMap<String, ExampleCount>,
    /// Listed pages, and those whose canonical link uses another name of the site, by what differs: scheme, host.
    pages: u64,
    by_name: BTreeMap<(bool, bool), ExampleCount>,
    /// Pages that answered 404 for the first time.
    gone: ExampleCount,
}

impl Remarks {
    /// Takes a page of the view.
    ///
    /// # Errors
    /// The store failed.
    pub(super) fn add_page(
        &mut self,
        view: &MergedView<'_>,
        key: &UrlKey,
        record: &PageRecord,
    ) -> Result<(), StoreError> {
        if let Some(target) = record.redirect_target() {
            let path = format!("{}{}", target.origin(), target.path());
            if self.redirects.len() < MAX_PATHS || self.redirects.contains_key(&path) {
                self.redirects.entry(path).or_default().add(target);
            }
        }
        if record.reason == Reason::GoneOnce {
            self.gone.add(key);
        }
        if record.reason == Reason::Listed
            && let Some(facts) = record.facts()
        {
            self.pages += 1;
            let warnings = facts.warnings;
            let differs = (warnings.canonical_by_scheme, warnings.canonical_by_host);
            if differs != (false, false) {
                self.by_name.entry(differs).or_default().add(key);
            }
        }
        let canonical = record.facts().and_then(|facts| facts.canonical.other());
        let Some(target) = canonical.filter(|target| *target != key) else {
            return Ok(());
        };
        match record.reason {
            Reason::Listed if view.judge().takes_canonicals() => self.canonicals_back.add(key),
            Reason::CanonicalElsewhere if view.of(target)?.is_none() => {
                self.canonicals_unknown.add(key);
            }
            _ => {}
        }
        Ok(())
    }

    /// The notes on a site with so many listed pages.
    ///
    /// # Errors
    /// The store failed.
    pub(super) fn notes(
        &self,
        view: &MergedView<'_>,
        listed: u64,
    ) -> Result<Vec<Note>, StoreError> {
        let back = |count: &String| Note::canonical_redirects_back(count);
        let unknown = |count: &String| Note::canonical_unknown(count);
        let canonicals = [
            self.canonicals_back.note_of_any(back),
            self.canonicals_unknown.note_of_any(unknown),
        ];
        let mut notes: Vec<Note> = canonicals.into_iter().flatten().collect();
        let gone = |count: &String| Note::gone_at_once(count, &grouped(listed));
        let is_much = self.gone.count * 10 >= listed;
        notes.extend(self.gone.note_of_any(gone).filter(|_| is_much));
        notes.extend(
            self.by_name
                .iter()
                .filter_map(|((by_scheme, by_host), pages)| {
                    let example = pages.example.as_ref()?;
                    let name = other_name(&example.origin(), *by_scheme, *by_host);
                    let is_much = pages.count * MAX_BY_NAME > self.pages;
                    let note = |count: &String| {
                        Note::canonicals_by_name(count, &grouped(self.pages), &name)
                    };
                    pages.note_of_any(note).filter(|_| is_much)
                }),
        );
        let mut walls = Vec::new();
        for (path, redirects) in &self.redirects {
            let (count, all) = (redirects.count, listed + redirects.count);
            if count < MIN_REDIRECTS || count * MIN_PART < all {
                continue;
            }
            let target = redirects.example.as_ref().map(|target| view.of(target));
            let target = target.transpose()?.flatten();
            let warnings = target.and_then(|target| Some(target.record.facts()?.warnings));
            if warnings.is_some_and(|warnings| warnings.sets_cookie || warnings.password_field) {
                walls.push((path, count));
            }
        }
        walls.sort_unstable();
        notes.extend(walls.into_iter().map(|(path, count)| {
            Note::pages_behind_wall(&grouped(count), path)
                .counting(count)
                .naming(path)
        }));
        Ok(notes)
    }
}

/// The name of a site that differs from `origin` in its scheme, in `www.`, or in both.
fn other_name(origin: &Origin, by_scheme: bool, by_host: bool) -> String {
    let spellings = origin.spellings();
    let name = spellings.iter().find(|name| {
        (name.scheme != origin.scheme) == by_scheme && (name.host != origin.host) == by_host
    });
    name.unwrap_or(origin).to_string()
}
