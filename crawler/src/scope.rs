//! Decides the URLs that belong to a crawl, with the rule. It reads the URL alone: robots.txt, depth and the page itself are
//! judged elsewhere. A rule that cannot be evaluated is an error at the start, never a guess during the crawl.

#[cfg(test)]
mod tests;

use crate::{
    config::{ScopeConfig, ScopeWidth},
    page::Reason,
    pattern::Pattern,
    site::Site,
    url_key::UrlKey,
};

/// Judgement of the scope on one URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Judgement {
    /// On another origin, or outside the directory of the crawl: such a URL is only counted.
    Outside,
    /// Known, but neither fetched nor listed.
    Excluded(Reason),
    /// Fetched for its links, not listed.
    FollowOnly,
    /// Listed, not fetched.
    ListOnly,
    /// Fetched, and listed when the page allows it.
    Inside,
}

/// A setting that is not a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the {setting} rule `{pattern}` {problem}")]
pub struct ScopeError {
    /// The field of [`ScopeConfig`], e.g. `exclude`.
    pub setting: &'static str,
    /// The rule as written.
    pub pattern: String,
    /// The problem, and the expected form.
    pub problem: String,
}

/// The rules of one crawl, ready to judge.
///
/// The first of these that matches decides: outside the directory, `exclude`, `follow_only`, `list_only`, `include`. The start
/// URL is always fetched: where a rule would leave it out it is fetched for its links only.
#[derive(Debug, Clone)]
pub struct Scope {
    site: Site,
    exclude: Vec<Pattern>,
    follow_only: Vec<Pattern>,
    list_only: Vec<Pattern>,
    include: Vec<Pattern>,
}

/// A [`Judgement`] with the rule after it, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The judgement.
    pub judgement: Judgement,
    /// The setting that decided: a field of [`ScopeConfig`], `scope` for origin and directory, or
    /// `start` for the start URL.
    pub setting: &'static str,
    /// The rule as written; the directory's URL for `scope`; `None` when no rule had to decide, or when no `include` rule
    /// matches.
    pub rule: Option<String>,
}

impl Scope {
    /// Reads the rules of `config` for `site`.
    ///
    /// # Errors
    /// A pattern is not a glob, or could never match a URL.
    pub fn new(site: &Site, config: &ScopeConfig) -> Result<Self, ScopeError> {
        let mut site = site.clone();
        match config.width {
            ScopeWidth::Directory => {}
            ScopeWidth::Origin => "/".clone_into(&mut site.directory),
        }
        Ok(Self {
            site,
            exclude: parse_all("exclude", &config.exclude)?,
            follow_only: parse_all("follow_only", &config.follow_only)?,
            list_only: parse_all("list_only", &config.list_only)?,
            include: parse_all("include", &config.include)?,
        })
    }

    /// Judges `key`.
    pub fn judge(&self, key: &UrlKey) -> Judgement {
        self.decide(key).0
    }

    /// [`Scope::judge`] with the rule that decided.
    pub fn explain(&self, key: &UrlKey) -> Explanation {
        let (judgement, setting, rule) = self.decide(key);
        let rule = match (setting, rule) {
            ("scope", _) => Some(self.place()),
            (_, rule) => rule.map(|rule| rule.as_str().to_owned()),
        };
        Explanation {
            judgement,
            setting,
            rule,
        }
    }

    /// The URL of the directory that everything lies in.
    pub fn place(&self) -> String {
        format!("{}{}", self.site.origin, self.site.directory)
    }

    /// Returns whether `key` is on the site's origin and in its directory, independent of the rules.
    pub fn contains(&self, key: &UrlKey) -> bool {
        self.site.contains(key)
    }

    /// Returns whether an `exclude` rule matches `key`, anywhere on the site's origin: sitemaps may be above the crawled
    /// directory.
    pub fn excludes(&self, key: &UrlKey) -> bool {
        key.is_on(&self.site.origin) && self.exclude.iter().any(|rule| rule.matches(key))
    }

    fn decide(&self, key: &UrlKey) -> (Judgement, &'static str, Option<&Pattern>) {
        if !self.site.contains(key) {
            return (Judgement::Outside, "scope", None);
        }
        let (judgement, setting, rule) = self.apply_rules(key);
        match judgement {
            Judgement::Excluded(_) if *key == self.site.start => {
                (Judgement::FollowOnly, "start", rule)
            }
            Judgement::ListOnly if *key == self.site.start => (Judgement::Inside, "start", rule),
            Judgement::Outside
            | Judgement::Excluded(_)
            | Judgement::FollowOnly
            | Judgement::ListOnly
            | Judgement::Inside => (judgement, setting, rule),
        }
    }

    fn apply_rules(&self, key: &UrlKey) -> (Judgement, &'static str, Option<&Pattern>) {
        let first = |rules: &'_ [Pattern]| rules.iter().position(|rule| rule.matches(key));
        if let Some(index) = first(&self.exclude) {
            return (
                Judgement::Excluded(Reason::ExcludedByRule),
                "exclude",
                self.exclude.get(index),
            );
        }
        if let Some(index) = first(&self.follow_only) {
            return (
                Judgement::FollowOnly,
                "follow_only",
                self.follow_only.get(index),
            );
        }
        if let Some(index) = first(&self.list_only) {
            return (Judgement::ListOnly, "list_only", self.list_only.get(index));
        }
        match first(&self.include) {
            Some(index) => (Judgement::Inside, "include", self.include.get(index)),
            None if self.include.is_empty() => (Judgement::Inside, "scope", None),
            None => (Judgement::Excluded(Reason::ExcludedByRule), "include", None),
        }
    }
}

fn parse_all(setting: &'static str, patterns: &[String]) -> Result<Vec<Pattern>, ScopeError> {
    let error = |pattern: &str, problem: String| ScopeError {
        setting,
        pattern: pattern.to_owned(),
        problem,
    };
    patterns
        .iter()
        .map(|pattern| Pattern::parse(pattern).map_err(|problem| error(pattern, problem)))
        .collect()
}
