//! Effects of the site and the settings that the numbers of a crawl do not show: counts while the pages come in, and notes
//! at the start page and at the end. Decides nothing.

use std::{cmp::Reverse, collections::BTreeMap};

use crate::{
    config::{Config, ScopeConfig},
    notes::{ExampleCount, Note, grouped, script_advice},
    page::{Canonical, PageFacts, Reason, Via},
    pattern::Pattern,
    site::Site,
    url_key::{Origin, UrlKey},
    verdict::Judge,
};

/// Links of the start page to an unrelated site that are needed for a note about them: fewer are a reference.
const MIN_UNRELATED_LINKS: u64 = 3;

/// Pages with noindex that are needed for a note about them: fewer cost the site nothing.
const MIN_NOINDEX: u64 = 20;

/// Pages that scripts fill, by their signs.
#[derive(Debug, Default)]
struct ApplicationCounts {
    shells: ExampleCount,
    empty_roots: ExampleCount,
    hash_routes: ExampleCount,
}

/// Pages of a site that may be no more than its login.
const MAX_PAGES_OF_LOGIN: u64 = 5;

/// The data of this session that the notes at the end need.
#[derive(Debug, Default)]
pub(super) struct Hints {
    /// The crawl began in an earlier session.
    is_resumed: bool,
    /// Answers to requests for pages, and the 200s among them.
    answers: u64,
    pages: u64,
    applications: ApplicationCounts,
    start_has_password_field: bool,
    unauthorized: ExampleCount,
    forbidden: ExampleCount,
    /// Canonical URLs on another origin.
    canonicals: ExampleCount,
    /// Include and exclude rules that matched no URL so far, with their settings.
    unmatched: Vec<(&'static str, Pattern)>,
    /// URLs but the start URL that the rules left out, and how many they did not.
    left_out: ExampleCount,
    taken: u64,
    /// The site answers 200 for URLs that do not exist.
    is_always_found: bool,
    noindex: ExampleCount,
    /// Hosts below the domain of the site, each with an origin and the number of pages that link there.
    siblings: BTreeMap<String, (Origin, u64)>,
}

/// Hosts below the domain of a site that are counted.
const MAX_SIBLINGS: usize = 100;

/// Hosts below the domain of a site that a note names.
const MAX_NAMED_SIBLINGS: usize = 3;

impl Hints {
    /// The hints of a crawl with these rules, which were read before.
    pub(super) fn new(config: &ScopeConfig, is_resumed: bool) -> Self {
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
            is_resumed,
            unmatched: rules.collect(),
            ..Self::default()
        }
    }

    /// Takes a URL that the rules are held against.
    pub(super) fn see(&mut self, url: &UrlKey) {
        self.unmatched.retain(|(_, rule)| !rule.matches(url));
    }

    /// Returns whether an `exclude` rule keeps a document from being fetched.
    pub(super) fn excludes(&mut self, judge: &Judge, url: &UrlKey) -> bool {
        let is_excluded = judge.excludes(url);
        if is_excluded {
            self.see(url);
        }
        is_excluded
    }

    /// Takes a URL that was found, which is `reason` by the rules.
    pub(super) fn find(&mut self, url: &UrlKey, reason: Reason) {
        if reason == Reason::ExcludedByRule {
            self.left_out.add(url);
        } else {
            self.taken += 1;
        }
    }

    /// Takes note that the site answers 200 for URLs that do not exist.
    pub(super) fn always_finds(&mut self) {
        self.is_always_found = true;
    }

    /// Takes what a page answered, in this session or as far as that still holds. `is_published`: the published set has it. Gives what the user should know at once.
    pub(super) fn watch(
        &mut self,
        url: &UrlKey,
        facts: &PageFacts,
        site: &Site,
        config: &Config,
        judge: &Judge,
        is_published: bool,
    ) -> Vec<Note> {
        self.answers += 1;
        match facts.status {
            200 => self.pages += 1,
            401 => self.unauthorized.add(url),
            403 => self.forbidden.add(url),
            _ => {}
        }
        if let Canonical::Other(canonical) = &facts.canonical
            && facts.status == 200
            && !canonical.is_on(&site.origin)
        {
            self.canonicals.add(canonical);
        }
        if facts.warnings.script_shell && !is_rendered(facts) {
            self.applications.shells.add(url);
        }
        if facts.warnings.empty_root && !is_rendered(facts) {
            self.applications.empty_roots.add(url);
        }
        if facts.warnings.hash_routes {
            self.applications.hash_routes.add(url);
        }
        if facts.directives.noindex && facts.status == 200 && !is_published {
            self.noindex.add(url);
        }
        self.count_siblings(facts, site);
        if *url == site.start && facts.status == 200 {
            self.start_has_password_field = facts.warnings.password_field;
            start_notes(facts, site, config, judge)
        } else {
            Vec::new()
        }
    }

    /// Counts the origins below the domain of `site` that a page links to.
    fn count_siblings(&mut self, facts: &PageFacts, site: &Site) {
        let domain = site
            .origin
            .host
            .strip_prefix("www.")
            .unwrap_or(&site.origin.host);
        let targets = facts.links.iter().map(|link| &link.target);
        let targets = targets.filter(|target| {
            let above = target.host_str().strip_suffix(domain);
            above.is_some_and(|above| above.ends_with('.') && above != "www.")
        });
        let hosts: BTreeMap<String, Origin> = targets
            .map(|target| (target.host_str().to_owned(), target.origin()))
            .collect();
        for (host, origin) in hosts {
            if self.siblings.len() < MAX_SIBLINGS || self.siblings.contains_key(&host) {
                self.siblings.entry(host).or_insert((origin, 0)).1 += 1;
            }
        }
    }

    /// The note about hosts below the domain of the site that several pages link to.
    fn siblings_note(&self) -> Option<Note> {
        let siblings = self.siblings.iter();
        let mut linked: Vec<_> = siblings
            .filter(|(_, (_, pages))| *pages >= MIN_UNRELATED_LINKS)
            .collect();
        linked.sort_by_key(|(host, (_, pages))| (Reverse(*pages), *host));
        let (_, (first, _)) = linked.first()?;
        let hosts = linked.iter().take(MAX_NAMED_SIBLINGS);
        let hosts: Vec<&str> = hosts.map(|(host, _)| &***host).collect();
        let note = Note::sibling_hosts(&hosts.join(", "), first);
        Some(note.counting(linked.len() as u64).naming(first))
    }

    /// The notes at the end of a session that fetched so many pages; of a crawl that is drained, it knows this many
    /// URLs.
    pub(super) fn conclude(
        &self,
        site: &Site,
        config: &Config,
        fetched: u64,
        drained: Option<u64>,
    ) -> Vec<Note> {
        let (answers, pages) = (self.answers, self.pages);
        let agent = &config.fetch.user_agent;
        let advice = script_advice(config.parse.render.is_offered);
        let mut notes = Vec::new();
        if self.applications.shells.count > 0
            && self.applications.shells.example.as_ref() != Some(&site.start)
        {
            let note = Note::pages_are_shells(&self.applications.shells.count, &fetched, &advice);
            notes.push(self.applications.shells.note(note));
        }
        if self.start_has_password_field && pages <= MAX_PAGES_OF_LOGIN {
            notes.push(Note::start_asks_for_password(&site.start).naming(&site.start));
        }
        if let Some(example) = &self.applications.empty_roots.example {
            let count = grouped(self.applications.empty_roots.count);
            let note = Note::empty_roots(&count, example, &advice);
            notes.push(self.applications.empty_roots.note(note));
        }
        if let Some(example) = &self.applications.hash_routes.example {
            let count = grouped(self.applications.hash_routes.count);
            let note = Note::hash_routes(&count, example);
            notes.push(self.applications.hash_routes.note(note));
        }
        let Self {
            unauthorized,
            forbidden,
            canonicals,
            left_out,
            ..
        } = self;
        notes.extend(unauthorized.note_of_most(answers, |count| {
            Note::unauthorized(count, &grouped(answers))
        }));
        notes.extend(forbidden.note_of_most(answers, |count| {
            Note::forbidden(count, &grouped(answers), agent)
        }));
        if let Some(other) = &canonicals.example
            && !config.ignore.canonical
        {
            let note = |count: &String| {
                Note::canonicals_elsewhere(count, &grouped(pages), &other.origin())
            };
            notes.extend(canonicals.note_of_most(pages, note));
        }
        if self.noindex.count >= MIN_NOINDEX {
            let note = |count: &String| Note::mostly_noindex(count, &grouped(pages));
            notes.extend(self.noindex.note_of_most(pages, note));
        }
        notes.extend(self.siblings_note());
        notes.extend(self.is_always_found.then(Note::never_not_found));
        // Of what an earlier session found nothing is known here.
        if self.is_resumed {
            return notes;
        }
        if let Some(example) = left_out.example.as_ref().filter(|_| self.taken == 0) {
            let note = Note::rules_left_all_out(&grouped(left_out.count), example);
            notes.push(left_out.note(note));
        }
        if let Some(known) = drained {
            notes.extend(self.unmatched.iter().map(|(setting, rule)| {
                let hint = glob_hint(rule.as_str());
                let note = Note::rule_without_match(setting, &rule.as_str(), &known, &hint);
                note.naming(&rule.as_str())
            }));
        }
        notes
    }
}

/// Returns whether a browser was asked to show a page: notes on scripts that nothing ran are not about it.
fn is_rendered(facts: &PageFacts) -> bool {
    facts.warnings.rendered || facts.warnings.render_failed
}

/// Notes for the user on the start page.
fn start_notes(facts: &PageFacts, site: &Site, config: &Config, judge: &Judge) -> Vec<Note> {
    let start = &site.start;
    let orders = facts.directives;
    let takes_links = config.discover.links;
    let notes = [
        (orders.noindex && !config.ignore.noindex).then(|| Note::start_noindex(start)),
        (orders.nofollow && takes_links).then(|| Note::start_nofollow(start)),
        (facts.warnings.script_shell && !is_rendered(facts)).then(|| {
            let advice = script_advice(config.parse.render.is_offered);
            Note::start_is_shell(start, &advice)
        }),
    ];
    let notes = notes.into_iter().flatten().map(|note| note.naming(start));
    let elsewhere = takes_links.then(|| links_elsewhere(facts, site, judge));
    notes.chain(elsewhere.flatten()).collect()
}

/// A note when nine in ten links of the start page, or more, lead to one place that is not crawled.
fn links_elsewhere(facts: &PageFacts, site: &Site, judge: &Judge) -> Option<Note> {
    let Site { start, origin, .. } = site;
    let links = facts.links.iter().filter(|link| link.via == Via::Link);
    let targets = links.map(|link| &link.target);
    let (inside, outside): (Vec<_>, Vec<_>) = targets
        .filter(|target| *target != start)
        .partition(|target| judge.is_inside(target));
    let mut places: BTreeMap<String, (u64, &UrlKey)> = BTreeMap::new();
    for target in outside {
        let origin = target.origin().to_string();
        places.entry(origin).or_insert((0, target)).0 += 1;
    }
    let (other, (count, example)) = places.into_iter().max_by_key(|(_, (count, _))| *count)?;
    let all = count + inside.len() as u64;
    let is_related = is_related(&example.origin(), origin);
    if count * 10 < all * 9 || !is_related && count < MIN_UNRELATED_LINKS {
        return None;
    }
    let note = if example.is_on(origin) {
        Note::links_leave_the_directory(&count, &all, &judge.place(), origin)
    } else {
        Note::links_lead_elsewhere(&count, &all, origin, &other)
    };
    Some(note.counting(count).naming(example))
}

/// Returns whether two origins may be names of one site: the same host name, one below the other, or both this machine.
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

/// The hint on a rule without a match that looks like a regular expression, or like the beginning of a path.
fn glob_hint(rule: &str) -> String {
    const OF_REGEX: [&str; 8] = [".*", ".+", "\\", "^", "$", "(", "|", "[^"];
    if !OF_REGEX.iter().any(|sign| rule.contains(sign)) {
        return if rule.contains(['*', '?', '[', '{']) {
            String::new()
        } else {
            format!(". It matches this URL only; `{rule}*` matches all URLs that begin with it")
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
        ". It looks like a regular expression; a rule is a glob, in which * matches any text{example}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_like_a_regular_expression_is_rewritten() {
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
