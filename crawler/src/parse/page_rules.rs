//! The rules of the settings that ask a page by CSS selector. They need the whole page as a tree, so
//! they are evaluated only where a rule is meant for the page, and only on pages that
//! [`super::tame`] lets through.

use globset::{GlobBuilder, GlobMatcher};
use scraper::{Html, Selector};
use sitemap_core::LastMod;

use crate::{
    config::{PageAction, PageRule},
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
    pages: PagePattern,
    selector: Selector,
    action: PageAction,
}

/// A glob on path and query, or on the whole URL.
#[derive(Debug)]
struct PagePattern {
    glob: GlobMatcher,
    is_whole_url: bool,
}

/// What the rules found on a page.
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
            let pages = PagePattern::new(&rule.pages).map_err(|cause| {
                error(
                    "pages",
                    format!("{:?} is not a glob: {}", rule.pages, cause.kind()),
                )
            })?;
            let selector = Selector::parse(&rule.selector).map_err(|cause| {
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

    /// Whether any rule is meant for the page.
    pub(super) fn concern(&self, url: &UrlKey) -> bool {
        self.rules.iter().any(|rule| rule.pages.matches(url))
    }

    /// Evaluates the rules that are meant for the page. The first lastmod rule with a valid date wins.
    pub(super) fn evaluate(&self, url: &UrlKey, html: &str) -> RuleFacts {
        let page = Html::parse_document(html);
        let mut facts = RuleFacts::default();
        for rule in self.rules.iter().filter(|rule| rule.pages.matches(url)) {
            let Some(element) = page.select(&rule.selector).next() else {
                continue;
            };
            match &rule.action {
                PageAction::Exclude => facts.is_excluded = true,
                PageAction::Lastmod { attribute } => {
                    let text = match attribute {
                        Some(name) => element
                            .attr(&name.to_ascii_lowercase())
                            .unwrap_or_default()
                            .to_owned(),
                        None => element.text().collect(),
                    };
                    let date = LastMod::parse(text.trim()).ok();
                    facts.lastmod = facts.lastmod.or(date.map(|date| date.as_str().to_owned()));
                }
            }
        }
        facts
    }
}

impl PagePattern {
    fn new(pattern: &str) -> Result<Self, globset::Error> {
        let glob = GlobBuilder::new(pattern)
            .literal_separator(false)
            .build()?
            .compile_matcher();
        let is_whole_url = pattern.starts_with("http://") || pattern.starts_with("https://");
        Ok(Self { glob, is_whole_url })
    }

    fn matches(&self, url: &UrlKey) -> bool {
        self.glob.is_match(if self.is_whole_url {
            url.as_str()
        } else {
            url.path_and_query()
        })
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
    fn pattern_selects_pages_by_path_and_query_or_by_whole_url() {
        let check = |pattern: &str, url: &str, expected: bool| {
            let rules = PageRules::new(&[rule(pattern, "a", PageAction::Exclude)]).unwrap();
            assert_eq!(rules.concern(&key(url)), expected, "{pattern} {url}");
        };
        check("*", "https://example.com/", true);
        check("/blog/*", "https://example.com/blog/2024/x?y", true);
        check("/blog/*", "https://example.com/news/blog/x", false);
        check("/x?id=*", "https://example.com/x?id=1", true);
        check("https://example.com/b*", "https://example.com/blog/x", true);
        check(
            "https://example.com/b*",
            "https://example.org/blog/x",
            false,
        );
    }

    #[test]
    fn rules_read_a_page() {
        let html = "<p class=draft>x</p><time datetime='2024-05-06'>May</time><b> 2023-01-02 </b><i>never</i>";
        let check = |rules: &[PageRule], is_excluded: bool, lastmod: Option<&str>| {
            let expected = RuleFacts {
                is_excluded,
                lastmod: lastmod.map(str::to_owned),
            };
            let found = PageRules::new(rules)
                .unwrap()
                .evaluate(&key("https://example.com/"), html);
            assert_eq!(found, expected, "{rules:?}");
        };
        check(&[], false, None);
        check(&[rule("*", "p.draft", PageAction::Exclude)], true, None);
        check(
            &[rule("/other", "p.draft", PageAction::Exclude)],
            false,
            None,
        );
        check(&[rule("*", "p.final", PageAction::Exclude)], false, None);
        check(
            &[rule("*", "time", lastmod(Some("DateTime")))],
            false,
            Some("2024-05-06"),
        );
        check(&[rule("*", "time", lastmod(None))], false, None);
        check(&[rule("*", "b", lastmod(None))], false, Some("2023-01-02"));
        check(
            &[rule("*", "i", lastmod(None)), rule("*", "b", lastmod(None))],
            false,
            Some("2023-01-02"),
        );
        check(&[rule("*", "time", lastmod(Some("title")))], false, None);
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
