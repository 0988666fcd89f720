//! What the site and the settings make of a crawl that its numbers do not say: counts while the pages come in, and notes
//! at the start page and at the end. Decides nothing.

use std::collections::BTreeMap;

use super::Run;
use crate::{
    config::ScopeConfig,
    engine::Ending,
    notes::Note,
    page::{Canonical, PageFacts, Reason, Via},
    pattern::Pattern,
    url_key::{Origin, UrlKey},
};

/// Links of the start page to an unrelated site that are needed for a note about them: fewer are a reference.
const MIN_UNRELATED_LINKS: u64 = 3;

/// What the notes at the end need to know of this session.
#[derive(Debug, Default)]
pub(super) struct Hints {
    /// Answers to requests for pages, and the 200s among them.
    answers: u64,
    pages: u64,
    shells: Tally,
    unauthorized: Tally,
    forbidden: Tally,
    wants_cookies: Tally,
    /// Canonical URLs on another origin.
    canonicals: Tally,
    /// Include and exclude rules that matched no URL so far, with their settings.
    unmatched: Vec<(&'static str, Pattern)>,
    /// URLs but the start URL that the rules left out, and how many they did not.
    left_out: Tally,
    taken: u64,
}

/// A count with its first example.
#[derive(Debug, Default)]
struct Tally {
    count: u64,
    example: Option<UrlKey>,
}

impl Tally {
    fn add(&mut self, url: &UrlKey) {
        self.count += 1;
        self.example.get_or_insert_with(|| url.clone());
    }

    /// `note` about them, if they are more than half of `all`.
    fn note_of_most(&self, all: u64, note: impl FnOnce() -> Note) -> Option<Note> {
        (self.count * 2 > all).then(|| self.note(note()))
    }

    fn note(&self, note: Note) -> Note {
        let note = note.counting(self.count);
        match &self.example {
            Some(example) => note.naming(example),
            None => note,
        }
    }
}

impl Hints {
    /// The hints of a crawl with these rules, which were read before.
    pub(super) fn new(config: &ScopeConfig) -> Self {
        let settings = [
            ("include", &config.include),
            ("exclude", &config.exclude),
            ("follow_only", &config.follow_only),
            ("list_only", &config.list_only),
        ];
        let rules = settings.into_iter().flat_map(|(setting, rules)| {
            let patterns = rules.iter().filter_map(|rule| Pattern::parse(rule).ok());
            patterns.map(move |pattern| (setting, pattern))
        });
        Self {
            unmatched: rules.collect(),
            ..Self::default()
        }
    }

    /// Takes a URL that the rules are held against.
    pub(super) fn see(&mut self, url: &UrlKey) {
        self.unmatched.retain(|(_, rule)| !rule.matches(url));
    }

    /// Takes a URL that was found, which is `reason` by the rules.
    pub(super) fn find(&mut self, url: &UrlKey, reason: Reason) {
        if reason == Reason::ExcludedByRule {
            self.left_out.add(url);
        } else {
            self.taken += 1;
        }
    }

    /// Takes an answer that redirects a page to itself and sets a cookie.
    pub(super) fn want_cookie(&mut self, url: &UrlKey) {
        self.wants_cookies.add(url);
    }
}

impl Run<'_> {
    /// Whether an `exclude` rule keeps a document from being fetched.
    pub(super) fn excludes(&mut self, url: &UrlKey) -> bool {
        let is_excluded = self.rules.judge().excludes(url);
        if is_excluded {
            self.hints.see(url);
        }
        is_excluded
    }

    /// Looks at what a page answered, in this session or as far as that still holds.
    pub(super) fn watch(&mut self, url: &UrlKey, facts: &PageFacts) {
        let hints = &mut self.hints;
        hints.answers += 1;
        match facts.status {
            200 => hints.pages += 1,
            401 => hints.unauthorized.add(url),
            403 => hints.forbidden.add(url),
            _ => {}
        }
        if let Canonical::Other(canonical) = &facts.canonical
            && facts.status == 200
            && !canonical.is_on(&self.context.site.origin)
        {
            hints.canonicals.add(canonical);
        }
        if facts.warnings.script_shell {
            hints.shells.add(url);
        }
        if *url == self.context.site.start && facts.status == 200 {
            self.watch_start(facts);
        }
    }

    fn watch_start(&mut self, facts: &PageFacts) {
        let start = self.context.site.start.clone();
        let said = facts.directives;
        let takes_links = self.context.config.discover.links;
        let notes = [
            (said.noindex && !self.context.config.ignore.noindex)
                .then(|| Note::start_noindex(&start)),
            (said.nofollow && takes_links).then(|| Note::start_nofollow(&start)),
            facts
                .warnings
                .script_shell
                .then(|| Note::start_is_shell(&start)),
        ];
        for note in notes.into_iter().flatten() {
            self.say(note.naming(&start));
        }
        if takes_links && let Some(note) = self.links_elsewhere(facts) {
            self.say(note);
        }
    }

    /// That nine in ten links of the start page, or more, lead to one place that is not crawled, if they do.
    fn links_elsewhere(&self, facts: &PageFacts) -> Option<Note> {
        let start = &self.context.site.start;
        let links = facts.links.iter().filter(|link| link.via == Via::Link);
        let targets = links.map(|link| &link.target);
        let (inside, outside): (Vec<_>, Vec<_>) = targets
            .filter(|target| *target != start)
            .partition(|target| self.rules.judge().is_inside(target));
        let mut places: BTreeMap<String, (u64, &UrlKey)> = BTreeMap::new();
        for target in outside {
            let origin = target.origin().to_string();
            places.entry(origin).or_insert((0, target)).0 += 1;
        }
        let (other, (count, example)) = places.into_iter().max_by_key(|(_, (count, _))| *count)?;
        let all = count + inside.len() as u64;
        let origin = &self.context.site.origin;
        let is_related = is_related(&example.origin(), origin);
        if count * 10 < all * 9 || !is_related && count < MIN_UNRELATED_LINKS {
            return None;
        }
        let note = if example.is_on(origin) {
            Note::links_leave_the_directory(&count, &all, &self.rules.judge().place(), origin)
        } else {
            Note::links_lead_elsewhere(&count, &all, origin, &other)
        };
        Some(note.counting(count).naming(example))
    }

    /// What is to be said at the end.
    pub(super) fn conclude(&mut self) {
        let hints = std::mem::take(&mut self.hints);
        let (answers, pages) = (hints.answers, hints.pages);
        let agent = &self.context.config.fetch.user_agent;
        let mut notes = Vec::new();
        let start = &self.context.site.start;
        if hints.shells.count > 0 && hints.shells.example.as_ref() != Some(start) {
            let note = Note::pages_are_shells(&hints.shells.count, &self.counts.fetched);
            notes.push(hints.shells.note(note));
        }
        let Hints {
            unauthorized,
            forbidden,
            canonicals,
            wants_cookies,
            left_out,
            ..
        } = &hints;
        let count = unauthorized.count;
        notes.extend(unauthorized.note_of_most(answers, || Note::unauthorized(&count, &answers)));
        let count = forbidden.count;
        notes.extend(forbidden.note_of_most(answers, || Note::forbidden(&count, &answers, agent)));
        let count = wants_cookies.count;
        notes.extend(wants_cookies.note_of_most(answers, || Note::wants_cookies(&count, &answers)));
        if let Some(other) = &canonicals.example
            && !self.context.config.ignore.canonical
        {
            let count = canonicals.count;
            let note = || Note::canonicals_elsewhere(&count, &pages, &other.origin());
            notes.extend(canonicals.note_of_most(pages, note));
        }
        // Of what an earlier session found nothing is known here.
        if !self.context.open.resumed {
            if let Some(example) = left_out.example.as_ref().filter(|_| hints.taken == 0) {
                let note = Note::rules_left_all_out(&left_out.count, example);
                notes.push(left_out.note(note));
            }
            if self.end.ending.unwrap_or(Ending::Drained) == Ending::Drained {
                let known = self.known.len();
                let unmatched = hints.unmatched.iter();
                notes.extend(unmatched.map(|(setting, rule)| {
                    let note = Note::rule_without_match(
                        setting,
                        &rule.as_str(),
                        &known,
                        &glob_hint(rule.as_str()),
                    );
                    note.naming(&rule.as_str())
                }));
            }
        }
        for note in notes {
            self.say(note);
        }
    }
}

/// Whether two origins may be names of one site: the same host name, one below the other, or both this machine.
fn is_related(one: &Origin, other: &Origin) -> bool {
    let [one, other] = [one, other].map(|origin| {
        let host = &*origin.host;
        host.strip_prefix("www.").unwrap_or(host)
    });
    let is_below = |one: &str, other: &str| {
        one.strip_suffix(other)
            .is_some_and(|name| name.ends_with('.'))
    };
    let is_local = |host: &str| host == "localhost" || host == "[::1]" || host.starts_with("127.");
    one == other || is_below(one, other) || is_below(other, one) || is_local(one) && is_local(other)
}

/// What is said of a rule without a match that looks like a regular expression, or like the beginning of a path.
fn glob_hint(rule: &str) -> String {
    const OF_REGEX: [&str; 8] = [".*", ".+", "\\", "^", "$", "(", "|", "[^"];
    if !OF_REGEX.iter().any(|sign| rule.contains(sign)) {
        return if rule.contains(['*', '?', '[', '{']) {
            String::new()
        } else {
            format!(". It stands for that URL alone; `{rule}*` stands for all that begin with it")
        };
    }
    let glob = rule
        .trim_start_matches('^')
        .trim_end_matches('$')
        .replace(".*", "*")
        .replace(".+", "*")
        .replace('\\', "");
    let example = if glob.contains(['(', '|', '^', '$', '[']) {
        String::new()
    } else {
        format!(", as in `{glob}`")
    };
    format!(
        ". It looks like a regular expression; a rule is a glob, in which * stands for any text{example}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_that_looks_like_a_regular_expression_is_rewritten() {
        fn check(rule: &str, expected: Option<&str>) {
            let hint = glob_hint(rule);
            let example = hint.split('`').nth(1);
            assert_eq!(example, expected, "{rule}: {hint}");
        }
        check("/blog/.*", Some("/blog/*"));
        check("/blog/.+$", Some("/blog/*"));
        check("/a\\.html$", Some("/a.html"));
        check("/(a|b)/.*", None);
        assert!(glob_hint("/(a|b)/").contains("regular expression"));
        check("/private/", Some("/private/*"));
        for glob in ["/blog/*", "*.pdf", "/{a,b}/*", "/[ab]?c"] {
            assert_eq!(glob_hint(glob), "");
        }
    }

    #[test]
    fn names_of_one_site_are_related() {
        fn check(one: &str, other: &str, expected: bool) {
            let [a, b] = [one, other].map(|url| UrlKey::from_normalised(url).unwrap().origin());
            assert_eq!(is_related(&a, &b), expected, "{one} {other}");
            assert_eq!(is_related(&b, &a), expected, "{other} {one}");
        }
        check("https://h.example/", "https://www.h.example/", true);
        check("https://h.example/", "http://h.example/", true);
        check("https://h.example/", "https://h.example:8443/", true);
        check("https://www.h.example/", "https://m.h.example/", true);
        check("http://localhost:8000/", "http://127.0.0.1:8000/", true);
        check("https://h.example/", "https://other.example/", false);
        check("https://h.example/", "https://ah.example/", false);
    }
}
