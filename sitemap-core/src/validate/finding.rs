//! [`Finding`]: one thing that is wrong, ready to be shown, and [`Tally`], which counts them and keeps repetitions apart.

use std::{collections::HashMap, mem};

use super::{DocumentId, Problem, RuleText};
use crate::{
    Loc,
    read::{self, Excerpt, Kind, Position, Rule, Severity, Source},
};

/// A thing in a document, or in a set of documents, that is not as the protocol wants it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The document it is in; `None` when it is about the set, or about a robots.txt.
    pub document: Option<DocumentId>,
    /// The rule it breaks.
    pub rule: Rule,
    /// The severity.
    pub severity: Severity,
    /// True when a rule of the text is broken, or the schema alone refuses it.
    pub source: Source,
    /// The position; `None` when it concerns the document as a whole.
    pub position: Option<Position>,
    /// The line it is in; `None` when it is known only after the line is gone.
    pub excerpt: Option<Excerpt>,
    /// The URL it is about, if there is one.
    pub url: Option<String>,
    /// The message: a fragment of a sentence without a full stop.
    pub message: String,
    /// Advice for the correction.
    pub help: String,
}

/// Number of findings of each severity, including repeated ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Against the protocol.
    pub errors: u64,
    /// Worth mending.
    pub warnings: u64,
    /// Worth knowing.
    pub notes: u64,
}

impl Counts {
    pub(super) fn add(&mut self, severity: Severity) {
        match severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
            Severity::Note => self.notes += 1,
        }
    }
}

/// Findings that repeat others and were only counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repeated {
    /// The document they are in.
    pub document: Option<DocumentId>,
    /// The rule they break.
    pub rule: Rule,
    /// The severity of the findings.
    pub severity: Severity,
    /// True when a rule of the text is broken, or the schema alone refuses it.
    pub source: Source,
    /// Number of findings besides those that were handed over.
    pub more: u64,
}

/// Problem of a finding, and the kind of document in which the reader found it.
#[derive(Clone, Debug)]
pub(super) struct Diagnosis {
    pub(super) problem: Problem,
    kind: Option<Kind>,
}

impl From<read::ReadFinding> for Diagnosis {
    fn from(finding: read::ReadFinding) -> Self {
        Self {
            kind: finding.kind,
            problem: finding.problem,
        }
    }
}

impl From<Problem> for Diagnosis {
    fn from(problem: Problem) -> Self {
        let kind = None;
        Self { problem, kind }
    }
}

impl Diagnosis {
    /// The kind was unknown when text before the root element was found.
    fn rule(&self, kind: Option<Kind>) -> Rule {
        self.problem.rule().for_kind(self.kind.or(kind))
    }

    /// The severity; a problem that a lenient reader passes over still breaks the rule.
    pub(super) fn severity(&self) -> Severity {
        match (&self.problem, self.kind) {
            (
                Problem::LateDeclaration
                | Problem::ChangeFreqCase
                | Problem::Padded { name: "changefreq" },
                _,
            ) => Severity::Error,
            (problem, kind) => problem.severity_in(kind),
        }
    }

    fn help(&self, rule: Rule, place: Option<&Loc>) -> String {
        let usual = || RuleText::of(rule).map_or_else(String::new, |text| text.help.clone());
        self.problem.help(place).unwrap_or_else(usual)
    }
}

/// Counts findings, and decides which of them are only counted.
#[derive(Debug)]
pub(super) struct Tally {
    max_repeats: u64,
    pub(super) counts: Counts,
    groups: Vec<Repeated>,
    /// Group of each key.
    numbers: HashMap<Key, usize>,
}

/// The values that repeated findings have in common.
type Key = (
    Option<DocumentId>,
    Rule,
    Severity,
    mem::Discriminant<Problem>,
);

/// Position and subject of a finding.
#[derive(Clone, Debug, Default)]
pub(super) struct Spot<'a> {
    pub(super) document: Option<DocumentId>,
    pub(super) kind: Option<Kind>,
    pub(super) place: Option<&'a Loc>,
    pub(super) position: Option<Position>,
    pub(super) url: Option<&'a str>,
}

impl Tally {
    pub(super) fn new(max_repeats: u64) -> Self {
        Self {
            max_repeats,
            counts: Counts::default(),
            groups: Vec::new(),
            numbers: HashMap::new(),
        }
    }

    /// The group with a key; it is new if there was none.
    fn group(&mut self, key: Key, source: Source) -> &mut Repeated {
        let (document, rule, severity, _) = key;
        let next = self.groups.len();
        let number = *self.numbers.entry(key).or_insert(next);
        if number == self.groups.len() {
            self.groups.push(Repeated {
                document,
                rule,
                severity,
                source,
                more: 0,
            });
        }
        &mut self.groups[number]
    }

    /// Counts a finding; returns it if it is to be shown.
    pub(super) fn count_finding(
        &mut self,
        what: &Diagnosis,
        spot: &Spot<'_>,
        excerpt: impl FnOnce() -> Option<Excerpt>,
    ) -> Option<Finding> {
        let (rule, severity) = (what.rule(spot.kind), what.severity());
        let source = what.problem.source();
        self.counts.add(severity);
        let key = (
            spot.document,
            rule,
            severity,
            mem::discriminant(&what.problem),
        );
        let max_repeats = self.max_repeats;
        let group = self.group(key, source);
        group.more += 1;
        if group.more > max_repeats {
            return None;
        }
        Some(Finding {
            document: spot.document,
            rule,
            severity,
            source,
            position: spot.position,
            excerpt: excerpt(),
            url: spot.url.map(str::to_owned),
            message: what.problem.to_string(),
            help: what.help(rule, spot.place),
        })
    }

    /// Findings that were only counted, by document and rule; resets the counts.
    pub(super) fn take_repeated(&mut self) -> Vec<Repeated> {
        self.numbers.clear();
        let groups = mem::take(&mut self.groups);
        let mut repeated: Vec<Repeated> = groups
            .into_iter()
            .map(|group| Repeated {
                more: group.more.saturating_sub(self.max_repeats),
                ..group
            })
            .filter(|group| group.more > 0)
            .collect();
        repeated.sort_by_key(|group| (group.document, group.rule, group.severity, group.more));
        repeated
    }
}
