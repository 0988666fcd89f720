//! Which URLs belong to a crawl, and by which rule. It looks at the URL alone: robots.txt, depth and
//! the page itself are judged elsewhere. A rule that cannot be evaluated is an error at the start,
//! never a guess during the crawl.

#[cfg(test)]
mod tests;

use globset::{GlobBuilder, GlobMatcher};

use crate::{
    config::{ScopeConfig, ScopeWidth},
    page::Reason,
    site::Site,
    url_key::{UrlKey, escape_of, key_spelling},
};

/// What the scope says of one URL.
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

/// A setting that is no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the {setting} rule `{pattern}` {problem}")]
pub struct ScopeError {
    /// The field of [`ScopeConfig`], e.g. `exclude`.
    pub setting: &'static str,
    /// The rule as written.
    pub pattern: String,
    /// What is wrong with it, and what is expected.
    pub problem: String,
}

/// The rules of one crawl, ready to judge.
///
/// The first of these that fits decides: outside the directory, `exclude`, `follow_only`,
/// `list_only`, `include`. The start URL is always fetched: where a rule would leave it out it is fetched
/// for its links only.
#[derive(Debug, Clone)]
pub struct Scope {
    site: Site,
    exclude: Vec<Rule>,
    follow_only: Vec<Rule>,
    list_only: Vec<Rule>,
    include: Vec<Rule>,
}

/// One glob of the settings.
#[derive(Debug, Clone)]
struct Rule {
    /// As written in the settings.
    pattern: String,
    matcher: GlobMatcher,
    /// Compared with the whole URL, not with path and query.
    sees_origin: bool,
}

/// A [`Judgement`] with the rule behind it, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// What [`Scope::judge`] says.
    pub judgement: Judgement,
    /// The setting that decided: a field of [`ScopeConfig`], `scope` for origin and directory, or
    /// `start` for the start URL.
    pub setting: &'static str,
    /// The rule as written; the directory's URL for `scope`; `None` when no rule had to decide, or
    /// when no `include` rule fits.
    pub rule: Option<String>,
}

impl Scope {
    /// Reads the rules of `config` for `site`.
    ///
    /// # Errors
    /// A pattern is no glob, or could never match a URL.
    pub fn new(site: &Site, config: &ScopeConfig) -> Result<Self, ScopeError> {
        let mut site = site.clone();
        match config.width {
            ScopeWidth::Directory => {}
            ScopeWidth::Origin => "/".clone_into(&mut site.directory),
        }
        Ok(Self {
            site,
            exclude: Rule::parse_all("exclude", &config.exclude)?,
            follow_only: Rule::parse_all("follow_only", &config.follow_only)?,
            list_only: Rule::parse_all("list_only", &config.list_only)?,
            include: Rule::parse_all("include", &config.include)?,
        })
    }

    /// What is to be done with `key`.
    pub fn judge(&self, key: &UrlKey) -> Judgement {
        self.decide(key).0
    }

    /// [`Scope::judge`] with the rule that decided.
    pub fn explain(&self, key: &UrlKey) -> Explanation {
        let (judgement, setting, rule) = self.decide(key);
        let rule = match (setting, rule) {
            ("scope", _) => Some(format!("{}{}", self.site.origin, self.site.directory)),
            (_, rule) => rule.map(|rule| rule.pattern.clone()),
        };
        Explanation {
            judgement,
            setting,
            rule,
        }
    }

    /// Whether `key` is on the site's origin and in its directory, whatever the rules say.
    pub fn contains(&self, key: &UrlKey) -> bool {
        self.site.contains(key)
    }

    fn decide(&self, key: &UrlKey) -> (Judgement, &'static str, Option<&Rule>) {
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

    fn apply_rules(&self, key: &UrlKey) -> (Judgement, &'static str, Option<&Rule>) {
        let first = |rules: &'_ [Rule]| rules.iter().position(|rule| rule.matches(key));
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

impl Rule {
    fn parse_all(setting: &'static str, patterns: &[String]) -> Result<Vec<Self>, ScopeError> {
        let error = |pattern: &str, problem: String| ScopeError {
            setting,
            pattern: pattern.to_owned(),
            problem,
        };
        patterns
            .iter()
            .map(|pattern| Self::parse(pattern).map_err(|problem| error(pattern, problem)))
            .collect()
    }

    fn parse(pattern: &str) -> Result<Self, String> {
        let sees_origin = pattern.starts_with("http://") || pattern.starts_with("https://");
        if !sees_origin && !pattern.starts_with(['/', '*', '?', '[', '{']) {
            return Err(
                "can never match: it must begin with `/`, `*`, `http://` or `https://`".to_owned(),
            );
        }
        let matcher = GlobBuilder::new(&as_keys_are_written(pattern, sees_origin)?)
            .literal_separator(false)
            .backslash_escape(true)
            .empty_alternates(true)
            .build()
            .map_err(|error| format!("is not a glob: {}", error.kind()))?
            .compile_matcher();
        Ok(Self {
            pattern: pattern.to_owned(),
            matcher,
            sees_origin,
        })
    }

    fn matches(&self, key: &UrlKey) -> bool {
        self.matcher.is_match(if self.sees_origin {
            key.as_str()
        } else {
            key.path_and_query()
        })
    }
}

/// The pattern in the spelling of keys; scheme and host in lower case when it has them.
fn as_keys_are_written(pattern: &str, sees_origin: bool) -> Result<String, String> {
    if let Some(character) = foreign_class_member(pattern) {
        let shown = character.escape_default();
        return Err(format!(
            "holds `{shown}` inside `[...]`, which URLs hold only percent-encoded"
        ));
    }
    let spelled = key_spelling(&with_forbidden_escaped(pattern));
    let path_at = spelled
        .match_indices('/')
        .nth(2)
        .map_or(spelled.len(), |(index, _)| index);
    let (origin, path) = spelled.split_at(if sees_origin { path_at } else { 0 });
    Ok(format!("{}{path}", origin.to_ascii_lowercase()))
}

/// Characters that keys hold only percent-encoded, encoded where they stand for themselves: outside
/// `[...]`, and not as signs of a glob (`\\[` stands for itself, `[` does not).
fn with_forbidden_escaped(pattern: &str) -> String {
    let mut output = String::with_capacity(pattern.len());
    let mut is_in_class = false;
    let mut characters = pattern.chars().peekable();
    while let Some(character) = characters.next() {
        let stands_for_itself = match character {
            '\\' => characters.next_if(|next| matches!(next, '[' | ']' | '{' | '}' | '\\')),
            '"' | '<' | '>' | '^' | '`' | '|' => Some(character),
            _ => None,
        };
        is_in_class = match character {
            '[' => true,
            ']' => false,
            _ => is_in_class,
        };
        match stands_for_itself {
            Some(literal) if !is_in_class => {
                output.extend(escape_of(literal));
            }
            Some(literal) if literal != character => output.extend([character, literal]),
            Some(_) | None => output.push(character),
        }
    }
    output
}

/// A character in one of the `[...]` of a glob that no URL holds: as an escape it would be three
/// members.
fn foreign_class_member(pattern: &str) -> Option<char> {
    let mut is_in_class = false;
    let mut is_escaped = false;
    pattern.chars().find(|character| {
        match character {
            _ if is_escaped => {}
            '[' => is_in_class = true,
            ']' => is_in_class = false,
            _ => {}
        }
        is_escaped = *character == '\\' && !is_escaped;
        is_in_class && !character.is_ascii_graphic()
    })
}
