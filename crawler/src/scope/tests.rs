//! Tests of the deciding rule, and of patterns.

use proptest::prelude::*;

use super::{
    Judgement::{FollowOnly, Inside, ListOnly, Outside},
    *,
};
use crate::{site, url_key::Identity};

fn key(text: &str) -> UrlKey {
    Identity::default().parse(text).unwrap()
}

fn scope_with(start: &str, change: impl FnOnce(&mut ScopeConfig)) -> Scope {
    let mut config = ScopeConfig::default();
    change(&mut config);
    let site = site::site_of_redirects(&key(start), &[], config.width).unwrap();
    Scope::new(&site, &config).unwrap()
}

fn rules(patterns: &[&str]) -> Vec<String> {
    patterns.iter().copied().map(str::to_owned).collect()
}

const EXCLUDED: Judgement = Judgement::Excluded(Reason::ExcludedByRule);

#[test]
fn the_directory_of_the_start_is_the_scope() {
    let scope = scope_with("https://h/docs/start?x=1", |_| {});
    let check =
        |text: &str, expected: Judgement| assert_eq!(scope.judge(&key(text)), expected, "{text}");
    check("https://h/docs/", Inside);
    check("https://h/docs/a/b?c#d", Inside);
    check("https://h:443/docs/", Inside);
    check("https://h/docs/../docs/a", Inside);
    check("https://h/docs/%2e%2e/docs/a", Inside);
    check("https://h/docs", Outside);
    check("https://h/docs?/docs/", Outside);
    check("https://h/docs2/", Outside);
    check("https://h/Docs/", Outside);
    check("https://h//docs/", Outside);
    check("https://h/docs/../other", Outside);
    check("https://h/docs%2Fa", Outside);
    check("http://h/docs/", Outside);
    check("https://h:8443/docs/", Outside);
    check("https://www.h/docs/", Outside);
}

#[test]
fn the_origin_is_the_scope_on_request() {
    let scope = scope_with("https://h/docs/", |config| {
        config.width = ScopeWidth::Origin;
    });
    assert_eq!(scope.judge(&key("https://h/other")), Inside);
    assert_eq!(scope.judge(&key("https://other/docs/")), Outside);
}

#[test]
fn the_first_kind_of_rule_that_matches_decides() {
    let scope = scope_with("https://h/", |config| {
        config.exclude = rules(&["*.png", "/private/*", "/all/exclude"]);
        config.follow_only = rules(&["/nav/*", "/all/[ef]*"]);
        config.list_only = rules(&["/files/*", "/all/*"]);
        config.include = rules(&["/docs/*", "/all/*"]);
    });
    let check = |path: &str, expected: Judgement, setting: &str, rule: Option<&str>| {
        let found = scope.explain(&key(&format!("https://h{path}")));
        let found = (found.judgement, found.setting, found.rule);
        let rule = rule.map(str::to_owned);
        assert_eq!(found, (expected, setting, rule), "{path}");
    };
    check("/docs/a", Inside, "include", Some("/docs/*"));
    check("/docs/a.png", EXCLUDED, "exclude", Some("*.png"));
    check("/private/a", EXCLUDED, "exclude", Some("/private/*"));
    check("/nav/a", FollowOnly, "follow_only", Some("/nav/*"));
    check("/files/a", ListOnly, "list_only", Some("/files/*"));
    check("/all/exclude", EXCLUDED, "exclude", Some("/all/exclude"));
    check("/all/e", FollowOnly, "follow_only", Some("/all/[ef]*"));
    check("/all/list", ListOnly, "list_only", Some("/all/*"));
    check("/other", EXCLUDED, "include", None);
    check("/", FollowOnly, "start", None);
    let outside = scope.explain(&key("https://other/"));
    assert_eq!(
        (outside.judgement, outside.rule.as_deref()),
        (Outside, Some("https://h/"))
    );
}

#[test]
fn the_start_url_is_always_fetched() {
    let check = |change: fn(&mut ScopeConfig), expected: Judgement| {
        let scope = scope_with("https://h/start", change);
        assert_eq!(scope.judge(&key("https://h/start")), expected);
    };
    check(|_| {}, Inside);
    check(|config| config.include = rules(&["/docs/*"]), FollowOnly);
    check(|config| config.exclude = rules(&["*"]), FollowOnly);
    check(|config| config.list_only = rules(&["/*"]), Inside);
    check(|config| config.follow_only = rules(&["/*"]), FollowOnly);
}

#[test]
fn patterns_are_compared_with_path_and_query() {
    let check = |pattern: &str, text: &str, expected: bool| {
        let scope = scope_with("https://h/", |config| config.exclude = rules(&[pattern]));
        let is_excluded = scope.judge(&key(text)) == EXCLUDED;
        assert_eq!(is_excluded, expected, "{pattern} {text}");
    };
    check("/a", "https://h/a", true);
    check("/a", "https://h/a/", false);
    check("/a", "https://h/a?b", false);
    check("/A", "https://h/a", false);
    check("/a*", "https://h/a/b/c?d", true);
    check("/a/*", "https://h/a", false);
    check("/a/**", "https://h/a/b/c", true);
    check("/*/c", "https://h/a/b/c", true);
    check("*?*", "https://h/a", true);
    check("*[?]*", "https://h/a", false);
    check("*[?]*", "https://h/a?b", true);
    check("*[?&]sort=*", "https://h/a?b&sort=c", true);
    check("/a\\*", "https://h/a*", true);
    check("/a\\*", "https://h/ab", false);
    check("/{a,b}/c", "https://h/b/c", true);
    check("/{,a}b", "https://h/b", true);
    check("*.{jpg,png}", "https://h/a.b/c.png", true);
    check("*.png", "https://h/a?b.png", true);
    check("/caf\u{e9} x/*", "https://h/caf%c3%a9%20x/", true);
    check("/caf%c3%a9/*", "https://h/caf\u{e9}/", true);
    check("https://h/a*", "https://h/ab", true);
    check("http://h/a*", "https://h/ab", false);
    check("https://H/a*", "https://h/ab", true);
    check("https://H/A*", "https://h/ab", false);
    check("/\\[\u{e9}*", "https://h/[\u{e9}", true);
    check("/%7ejo/*", "https://h/~jo/", true);
}

#[test]
fn an_unusable_rule_is_an_error() {
    let check = |pattern: &str, expected: &str| {
        let site = site::site_of_redirects(&key("https://h/"), &[], ScopeWidth::Directory).unwrap();
        let config = ScopeConfig {
            exclude: rules(&["/fine", pattern]),
            ..ScopeConfig::default()
        };
        let error = Scope::new(&site, &config).unwrap_err();
        assert_eq!(
            (error.setting, error.pattern.as_str()),
            ("exclude", pattern)
        );
        assert!(error.to_string().contains(expected), "{error}");
    };
    check(
        "docs/*",
        "the exclude rule `docs/*` can never match: a glob begins with `/`",
    );
    check("", "can never match");
    check("h/docs", "can never match");
    check("/[a", "is not a glob: unclosed character class");
    check("/{a", "is not a glob: unclosed alternate group");
    check("/[\u{e9}]", "holds `\\u{e9}` inside `[...]`");
}

proptest! {
    /// Whatever is in scope lies on the origin and below the directory, and the other way round.
    #[test]
    fn containment_is_a_prefix_at_a_slash(
        directory in "(/[a-c.%2e]{1,3}){0,3}/",
        path in "(/[a-c.%2e]{0,3}){0,5}(\\?[a-c/]{0,3})?",
    ) {
        let scope = scope_with(&format!("https://h{directory}"), |_| {});
        let page = key(&format!("https://h{path}"));
        let directory = &scope.site.directory;
        prop_assert!(directory.starts_with('/') && directory.ends_with('/'));
        let segments = |path: &str| -> Vec<String> { path.split('/').map(str::to_owned).collect() };
        let (inside, outer) = (segments(page.path()), segments(directory));
        let expected = outer.split_last().is_some_and(|(_, outer)| inside.len() > outer.len() && inside.starts_with(outer));
        prop_assert_eq!(scope.judge(&page) == Inside, expected);
    }

    /// No pattern panics, and no pattern reaches beyond the directory.
    #[test]
    fn no_pattern_widens_the_scope(pattern in "[/*?]?\\PC{0,12}", path in "/[a-z/]{0,8}") {
        let site = site::site_of_redirects(&key("https://h/d/"), &[], ScopeWidth::Directory).unwrap();
        let config = ScopeConfig { include: vec![pattern.clone()], follow_only: vec![pattern.clone()], list_only: vec![pattern], ..ScopeConfig::default() };
        if let Ok(scope) = Scope::new(&site, &config) {
            let page = key(&format!("https://h{path}"));
            prop_assert_eq!(scope.judge(&page) == Outside, !path.starts_with("/d/"));
        }
    }
}
