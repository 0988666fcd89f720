//! Values that the settings add to entries: `changefreq` and `priority` by glob, and custom elements. None by default, because
//! search engines ignore them or nearly so.

use std::collections::{BTreeMap, HashMap};

use sitemap_core::{ChangeFreq, Priority, UrlEntry};

use super::custom_elements::CustomElements;
use crate::{
    config::{EntryConfig, EntryRule},
    notes::{Note, grouped},
    page::DateSource,
    pattern::Pattern,
    url_key::UrlKey,
};

/// The compiled settings. Of several rules for the same value the first that matches decides.
#[derive(Debug, Default)]
pub struct EntryRules {
    changefreq: Vec<(Pattern, ChangeFreq)>,
    priority: Vec<(Pattern, Priority)>,
    own: CustomElements,
}

/// A rule that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{setting}: {problem}")]
pub struct EntryRulesError {
    /// The field of [`EntryConfig`], e.g. `priority`.
    pub setting: &'static str,
    /// The value, and what is wrong with it.
    pub problem: String,
}

impl EntryRules {
    /// Reads the rules.
    ///
    /// # Errors
    /// A glob cannot be read, or could never match a URL; a namespace or element cannot be in a sitemap.
    pub fn new(config: &EntryConfig) -> Result<Self, EntryRulesError> {
        Ok(Self {
            changefreq: compile("changefreq", &config.changefreq)?,
            priority: compile("priority", &config.priority)?,
            own: CustomElements::new(&config.namespaces).map_err(|problem| EntryRulesError {
                setting: "namespaces",
                problem,
            })?,
        })
    }

    /// Adds the values of the rules that match `key`; `values` are those that custom elements take from the input, by
    /// name.
    pub(super) fn apply(
        &self,
        key: &UrlKey,
        values: &BTreeMap<String, String>,
        entry: &mut UrlEntry,
    ) {
        entry.changefreq = first(&self.changefreq, key).or(entry.changefreq);
        entry.priority = first(&self.priority, key).or(entry.priority);
        self.own.apply(key, values, &mut entry.extensions);
    }
}

fn compile<T: Copy>(
    setting: &'static str,
    rules: &[EntryRule<T>],
) -> Result<Vec<(Pattern, T)>, EntryRulesError> {
    let compiled = rules.iter().map(|rule| {
        let pattern = Pattern::parse(&rule.pages).map_err(|problem| EntryRulesError {
            setting,
            problem: format!("\"{}\" {problem}", rule.pages),
        })?;
        Ok((pattern, rule.value))
    });
    compiled.collect()
}

fn first<T: Copy>(rules: &[(Pattern, T)], key: &UrlKey) -> Option<T> {
    let rule = rules.iter().find(|(pattern, _)| pattern.matches(key));
    rule.map(|(_, value)| *value)
}

/// Counts whether the values of the entries differ. Search engines compare `priority` among the pages of one site only, so
/// one value for all pages is useless (sitemaps.org protocol, rule R19).
#[derive(Debug, Default)]
pub struct Sameness {
    entries: u64,
    /// The value of all entries so far; a missing one counts as the default.
    priority: Option<Priority>,
    has_priority: bool,
    /// An entry has none.
    lacks_priority: bool,
    priorities_differ: bool,
    /// Entries that claim to change all the time.
    restless: u64,
    /// How many pages have which `Last-Modified` as their `lastmod`, in seconds since 1970.
    last_modified: HashMap<i64, u64>,
}

/// Pages that share one `Last-Modified` before there is a note: with fewer pages it may be chance.
const MIN_SHARING: u64 = 5;

/// Different values of `Last-Modified` that are counted; they take less than a megabyte.
const MAX_LAST_MODIFIED: usize = 20_000;

impl Sameness {
    /// Counts an entry, with where its `lastmod` came from.
    pub fn add(&mut self, entry: &UrlEntry, source: Option<DateSource>) {
        self.entries += 1;
        if let (Some(DateSource::Header), Some(lastmod)) = (source, &entry.lastmod) {
            let seconds = lastmod.latest_instant().as_second();
            let has_room = self.last_modified.len() < MAX_LAST_MODIFIED;
            if has_room || self.last_modified.contains_key(&seconds) {
                *self.last_modified.entry(seconds).or_default() += 1;
            }
        }
        let priority = entry.priority.unwrap_or(Priority::DEFAULT);
        self.has_priority |= entry.priority.is_some();
        self.lacks_priority |= entry.priority.is_none();
        self.priorities_differ |= *self.priority.get_or_insert(priority) != priority;
        let restless = [ChangeFreq::Always, ChangeFreq::Hourly];
        let is_restless = entry
            .changefreq
            .is_some_and(|changefreq| restless.contains(&changefreq));
        self.restless += u64::from(is_restless);
    }

    /// Notes for the user.
    pub fn notes(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        // One page alone is always like all others.
        if self.entries < 2 {
            return notes;
        }
        if let (Some(priority), true, false) =
            (self.priority, self.has_priority, self.priorities_differ)
        {
            let or_none = if self.lacks_priority {
                " or none (the same)"
            } else {
                ""
            };
            notes.push(Note::same_priority(&priority, &or_none).counting(self.entries));
        }
        if self.restless == self.entries {
            notes.push(Note::restless_changefreq().counting(self.entries));
        }
        let shared = self.last_modified.values().max().copied();
        if let Some(pages) =
            shared.filter(|pages| *pages >= MIN_SHARING && pages * 2 > self.entries)
        {
            notes.push(Note::last_modified_shared(&grouped(pages)).counting(pages));
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use sitemap_core::{LastMod, Loc};

    use super::*;

    fn rules<T>(rules: &[(&str, T)]) -> Vec<EntryRule<T>>
    where
        T: Copy,
    {
        let rule = |(pages, value): &(&str, T)| EntryRule {
            pages: (*pages).to_owned(),
            value: *value,
        };
        rules.iter().map(rule).collect()
    }

    fn entry(path: &str) -> (UrlKey, UrlEntry) {
        let url = format!("https://example.com{path}");
        let entry = UrlEntry::new(Loc::parse(&url).unwrap());
        (UrlKey::from_normalised(&url).unwrap(), entry)
    }

    fn tenths(tenths: u8) -> Priority {
        Priority::from_tenths(tenths).unwrap()
    }

    #[test]
    fn first_matching_rule_decides_each_value() {
        let config = EntryConfig {
            changefreq: rules(&[("/blog/*", ChangeFreq::Weekly)]),
            priority: rules(&[
                ("/blog/old/*", tenths(1)),
                ("/blog/*", tenths(8)),
                ("*", tenths(4)),
            ]),
            ..EntryConfig::default()
        };
        let rules = EntryRules::new(&config).unwrap();
        let check = |path: &str, changefreq: Option<ChangeFreq>, priority: u8| {
            let (key, mut entry) = entry(path);
            rules.apply(&key, &BTreeMap::new(), &mut entry);
            assert_eq!(
                (entry.changefreq, entry.priority),
                (changefreq, Some(tenths(priority))),
                "{path}"
            );
        };
        check("/blog/old/1", Some(ChangeFreq::Weekly), 1);
        check("/blog/1?x=1", Some(ChangeFreq::Weekly), 8);
        check("/", None, 4);
    }

    #[test]
    fn without_rules_nothing_is_added() {
        let (key, mut entry) = entry("/");
        let untouched = entry.clone();
        EntryRules::default().apply(&key, &BTreeMap::new(), &mut entry);
        assert_eq!(entry, untouched);
    }

    #[test]
    fn impossible_glob_is_an_error_with_its_setting() {
        let config = EntryConfig {
            priority: rules(&[("blog/*", tenths(8))]),
            ..EntryConfig::default()
        };
        let error = EntryRules::new(&config).unwrap_err();
        assert_eq!(error.setting, "priority");
        assert_eq!(
            error.to_string(),
            "priority: \"blog/*\" can never match: a glob begins with `/`, `*`, `http://` or `https://`, and is no regular expression"
        );
    }

    #[test]
    fn values_that_tell_nothing_apart_are_reported() {
        let check = |entries: &[(Option<u8>, Option<ChangeFreq>)], expected: &[&str]| {
            let mut sameness = Sameness::default();
            for (priority, changefreq) in entries {
                let (_, mut entry) = entry("/");
                entry.priority = priority.map(tenths);
                entry.changefreq = *changefreq;
                sameness.add(&entry, None);
            }
            let notes = sameness.notes();
            assert_eq!(notes.len(), expected.len(), "{entries:?}: {notes:?}");
            for (note, word) in notes.iter().zip(expected) {
                assert!(note.text.contains(word), "{note:?}");
            }
        };
        let (always, hourly, daily) = (
            Some(ChangeFreq::Always),
            Some(ChangeFreq::Hourly),
            Some(ChangeFreq::Daily),
        );
        check(&[], &[]);
        check(&[(None, None), (None, None)], &[]);
        check(&[(Some(8), always)], &[]);
        check(&[(Some(8), None), (Some(8), None)], &["priority 0.8"]);
        check(&[(Some(8), None), (Some(7), None)], &[]);
        check(&[(Some(8), None), (None, None)], &[]);
        // A missing priority means 0.5.
        check(&[(Some(5), None), (None, None)], &["priority 0.5"]);
        check(&[(None, always), (None, hourly)], &["changefreq"]);
        check(&[(None, always), (None, daily)], &[]);
        check(
            &[(Some(1), always), (Some(1), always)],
            &["priority 0.1", "changefreq"],
        );
    }

    #[test]
    fn common_last_modified_has_a_note() {
        // Pages that share one value, pages with others, pages without.
        let check = |shared: u64, others: u64, without: u64, expected: Option<&str>| {
            let mut sameness = Sameness::default();
            let mut add = |lastmod: Option<i64>, source| {
                let (_, mut entry) = entry("/");
                let instant = lastmod.map(|seconds| Timestamp::from_second(seconds).unwrap());
                entry.lastmod = instant.map(LastMod::from_timestamp);
                sameness.add(&entry, source);
            };
            let header = Some(DateSource::Header);
            (0..others).for_each(|number| add(Some(number.cast_signed()), header));
            (0..shared).for_each(|_| add(Some(1_700_000_000), header));
            (0..without).for_each(|_| add(None, None));
            // What pages state themselves is of each page.
            (0..3).for_each(|_| add(Some(5), Some(DateSource::Meta)));
            let notes = sameness.notes();
            let texts: Vec<String> = notes.into_iter().map(|note| note.text).collect();
            let expected = expected.map(|pages| {
                format!("{pages} pages share one Last-Modified, perhaps a deploy; lastmod = \"none\" leaves it out")
            });
            assert_eq!(texts, expected.into_iter().collect::<Vec<_>>());
        };
        check(1_170, 30, 100, Some("1,170"));
        check(5, 0, 1, Some("5"));
        check(5, 0, 2, None);
        check(4, 0, 0, None);
        check(50, 60, 0, None);
        check(0, 100, 0, None);
        check(1_234_567, 0, 0, Some("1,234,567"));
    }
}
