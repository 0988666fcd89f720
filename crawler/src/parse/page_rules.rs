//! The rules of the settings that ask a page by CSS selector. They need the whole page as a tree, so
//! they are evaluated only where a rule is meant for the page, and only on pages that [`super::tree`] can build.

use scraper::{ElementRef, Html, Selector};
use sitemap_core::LastMod;

use crate::{
    config::{PageAction, PageRule},
    pattern::Pattern,
    url_key::UrlKey,
};

use super::ParseConfigError;

/// The compiled rules.
#[derive(Debug)]
pub(super) struct PageRules {
    rules: Vec<CompiledRule>,
}

#[derive(Debug)]
struct CompiledRule {
    pages: Pattern,
    selector: Selector,
    action: PageAction,
}

/// Results of the rules on a page.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct RuleFacts {
    /// An exclude rule matched.
    pub(super) is_excluded: bool,
    /// The first valid date of a lastmod rule, in W3C format.
    pub(super) lastmod: Option<String>,
}

impl PageRules {
    /// Compiles the rules.
    ///
    /// # Errors
    /// A glob or a selector cannot be read; the error names the rule by its position, from 0.
    pub(super) fn new(rules: &[PageRule]) -> Result<Self, ParseConfigError> {
        let rules = rules.iter().enumerate().map(|(index, rule)| {
            let error = |field: &str, problem: String| ParseConfigError {
                setting: format!("page_rules[{index}].{field}"),
                problem,
            };
            let pages = Pattern::parse(&rule.pages)
                .map_err(|problem| error("pages", format!("{:?} {problem}", rule.pages)))?;
            let selector = Selector::parse(&rule.selector).map_err(|cause| {
                // What the library has no words for is a variant's name after a request to report it.
                let cause = cause.to_string();
                let cause = cause.lines().last().unwrap_or_default();
                error(
                    "selector",
                    format!("{:?} is not a CSS selector: {cause}", rule.selector),
                )
            })?;
            Ok(CompiledRule {
                pages,
                selector,
                action: rule.action.clone(),
            })
        });
        Ok(Self {
            rules: rules.collect::<Result<_, _>>()?,
        })
    }

    /// Returns whether any rule is meant for the page.
    pub(super) fn concern(&self, url: &UrlKey) -> bool {
        self.rules.iter().any(|rule| rule.pages.matches(url))
    }

    /// Evaluates the rules that are meant for the page. The first lastmod rule with a valid date wins.
    pub(super) fn evaluate(&self, url: &UrlKey, page: &Html) -> RuleFacts {
        let mut facts = RuleFacts::default();
        for rule in self.rules.iter().filter(|rule| rule.pages.matches(url)) {
            let Some(element) = page.select(&rule.selector).next() else {
                continue;
            };
            match &rule.action {
                PageAction::Exclude => facts.is_excluded = true,
                PageAction::Lastmod { attribute } => {
                    let text = read(element, attribute.as_deref());
                    let date = LastMod::parse(text.trim()).ok();
                    facts.lastmod = facts.lastmod.or(date.map(|date| date.as_str().to_owned()));
                }
            }
        }
        facts
    }
}

/// An attribute of an element, or its text.
fn read(element: ElementRef<'_>, attribute: Option<&str>) -> String {
    match attribute {
        Some(name) => element
            .attr(&name.to_ascii_lowercase())
            .unwrap_or_default()
            .to_owned(),
        None => element.text().collect(),
    }
}

#[cfg(test)]
mod tests {
    use crate::url_key::Identity;

    use super::*;

    fn rule(pages: &str, selector: &str, action: PageAction) -> PageRule {
        PageRule {
            pages: pages.to_owned(),
            selector: selector.to_owned(),
            action,
        }
    }

    fn lastmod(attribute: Option<&str>) -> PageAction {
        PageAction::Lastmod {
            attribute: attribute.map(str::to_owned),
        }
    }

    fn key(url: &str) -> UrlKey {
        Identity::default().parse(url).unwrap()
    }

    #[test]
    fn rules_read_a_page() {
        let html = "<p class=draft>x</p><time datetime='2024-05-06'>May</time><b> 2023-01-02 </b><i>never</i><u>2024</u>";
        let check = |rules: &[PageRule], is_excluded: bool, lastmod: Option<&str>| {
            let expected = RuleFacts {
                is_excluded,
                lastmod: lastmod.map(str::to_owned),
            };
            let found = PageRules::new(rules)
                .unwrap()
                .evaluate(&key("https://example.com/"), &Html::parse_document(html));
            assert_eq!(found, expected, "{rules:?}");
        };
        check(&[], false, None);
        for (pages, selector, is_excluded) in [
            ("*", "p.draft", true),
            ("/other", "p.draft", false),
            ("*", "p.final", false),
        ] {
            let rule = rule(pages, selector, PageAction::Exclude);
            check(&[rule], is_excluded, None);
        }
        let day = Some("2023-01-02");
        for (selector, attribute, expected) in [
            ("time", Some("DateTime"), Some("2024-05-06")),
            ("time", Some("title"), None),
            ("time", None, None),
            ("b", None, day),
        ] {
            check(&[rule("*", selector, lastmod(attribute))], false, expected);
        }
        let rules = ["i", "u", "b"].map(|selector| rule("*", selector, lastmod(None)));
        check(&rules, false, day);
    }

    #[test]
    fn errors_name_the_setting() {
        let check = |pages: &str, selector: &str, expected: &str| {
            let rules = [
                rule("*", "a", PageAction::Exclude),
                rule(pages, selector, PageAction::Exclude),
            ];
            assert_eq!(PageRules::new(&rules).unwrap_err().setting, expected);
        };
        check("[", "a", "page_rules[1].pages");
        check("*", "a[", "page_rules[1].selector");
    }
}
