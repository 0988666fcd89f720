//! The rules of the protocol in words: their titles, sections and corrections, all read from `RULES.md`.

use std::sync::LazyLock;

use crate::read::Rule;

/// All rules in sections, each below a heading `## R13: title`.
const TEXT: &str = include_str!("../../RULES.md");

/// Begins the line of a section on how to correct a document.
const CORRECTION: &str = "- Correction: ";

/// A rule in words.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleText {
    /// The number.
    pub rule: Rule,
    /// The requirement, as a fragment of a sentence.
    pub title: String,
    /// Advice for a document that breaks it, in one or two sentences.
    pub help: String,
    /// The section of `RULES.md` below the heading, in Markdown: the rule, its source, its findings, a bad and a good example.
    pub section: &'static str,
}

impl RuleText {
    /// The words for a rule; `None` for a number that is not from 1 to 80.
    ///
    /// ```
    /// use sitemap_core::{read::Rule, validate::RuleText};
    ///
    /// let text = RuleText::of(Rule(13)).unwrap();
    /// assert_eq!(text.title, "lastmod is a W3C date-time");
    /// assert!(text.section.contains("<lastmod>2005-02-30</lastmod>"));
    /// assert_eq!(RuleText::of(Rule(81)), None);
    /// ```
    pub fn of(rule: Rule) -> Option<&'static Self> {
        RULES.get(usize::from(rule.0).checked_sub(1)?)
    }
}

/// All rules, in the order of their numbers.
pub static RULES: LazyLock<Vec<RuleText>> = LazyLock::new(|| {
    let sections = TEXT.split("\n## R").skip(1);
    let texts = (1..).zip(sections).map(|(number, text)| {
        let (heading, section) = text.split_once('\n').unwrap_or((text, ""));
        let title = heading.split_once(": ").map_or("", |(_, title)| title);
        let help = section
            .lines()
            .find_map(|line| line.strip_prefix(CORRECTION));
        RuleText {
            rule: Rule(number),
            // What Markdown would take for a tag is marked as code, or escaped.
            title: title.replace(['`', '\\'], ""),
            help: help.unwrap_or_default().replace('`', ""),
            section: section.trim(),
        }
    });
    texts.collect()
});

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{
        Loc,
        read::problem::ROWS,
        read::{Kind, Severity},
        validate::{Facts, Options, Validator},
    };

    #[test]
    fn every_rule_is_found_by_its_number() {
        for number in 1..=80 {
            let text = RuleText::of(Rule(number)).unwrap();
            assert!(!text.title.is_empty() && !text.help.is_empty());
            assert!(!text.help.ends_with('.'), "{text:?}");
            let heading = format!("\n## R{number}: ");
            assert_eq!(TEXT.matches(&heading).count(), 1, "{heading}");
            for part in ["- Source: ", "- Level: ", "\nBad", "\nGood", "```"] {
                assert!(text.section.contains(part), "R{number} has no {part:?}");
            }
        }
        assert_eq!(RULES.len(), 80);
        assert_eq!(
            RuleText::of(Rule(20)).unwrap().title,
            "& ' \" > < are escaped"
        );
        assert_eq!(RuleText::of(Rule(0)), None);
        assert_eq!(RuleText::of(Rule(81)), None);
    }

    #[test]
    fn every_finding_has_a_section_with_its_level() {
        let kinds = [Kind::UrlSet, Kind::Index, Kind::Text, Kind::Rss, Kind::Atom];
        for (number, severity) in ROWS {
            for kind in kinds {
                let rule = Rule(*number).for_kind(Some(kind));
                assert!(RuleText::of(rule).is_some(), "{rule}");
            }
            // These warnings of the lenient reading are errors of the strict one.
            let is_raised = *severity == Severity::Warning && matches!(number, 1 | 16);
            let mut lines = RULES[usize::from(*number) - 1].section.lines();
            let levels = lines.find_map(|line| line.strip_prefix("- Level: "));
            let has_level = levels.is_some_and(|levels| levels.contains(&severity.to_string()));
            assert!(
                has_level || is_raised,
                "R{number} has no {severity}: {levels:?}"
            );
        }
    }

    /// The rules that a document of an example breaks.
    fn broken(place: Option<&str>, document: &str) -> BTreeSet<Rule> {
        let place = place.map(|place| Loc::parse(place).unwrap());
        let mut facts = Facts::new("example");
        facts.place = place.as_ref();
        let now = "2026-03-02T04:00:11Z".parse().unwrap();
        let mut validator = Validator::new(Options::new(now));
        let mut rules = BTreeSet::new();
        let mut note = |finding: crate::validate::Finding| {
            rules.insert(finding.rule);
        };
        validator
            .check(document.as_bytes(), &facts, &mut note)
            .unwrap();
        validator.finish(&mut note);
        rules
    }

    /// Rules without an example of one document: they need a large file, a set, a robots.txt, an answer or a request.
    const WITHOUT_EXAMPLES: [u8; 30] = [
        10, 11, 15, 27, 28, 29, 30, 31, 32, 33, 34, 41, 43, 44, 52, 53, 56, 63, 65, 66, 67, 72, 73,
        74, 75, 76, 77, 78, 79, 80,
    ];

    #[test]
    fn bad_examples_break_their_rule() {
        let mut examples = BTreeSet::new();
        for text in RULES.iter() {
            for block in text.section.split("\n```").skip(1).step_by(2) {
                let (info, document) = block.split_once('\n').unwrap();
                let words: Vec<&str> = info.split(' ').collect();
                let (&["xml" | "text", verdict] | &["xml" | "text", verdict, _]) = words.as_slice()
                else {
                    continue;
                };
                let found = broken(words.get(2).copied(), document);
                let is_bad = verdict == "bad";
                assert!(is_bad || verdict == "good", "{}: {info}", text.rule);
                assert_eq!(
                    found.contains(&text.rule),
                    is_bad,
                    "{}: {found:?}",
                    text.rule
                );
                examples.insert((text.rule.0, is_bad));
            }
        }
        let has_both =
            |rule: u8| examples.contains(&(rule, true)) && examples.contains(&(rule, false));
        let without: Vec<u8> = (1..=80).filter(|rule| !has_both(*rule)).collect();
        assert_eq!(without, WITHOUT_EXAMPLES);
    }
}
