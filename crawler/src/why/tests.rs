use std::{collections::HashSet, fmt::Write as _};

use super::*;
use crate::{clock::SystemClock, page::PatternKind};

/// The explanation of `path` by a new state.
fn explain(path: &str, config: &Config) -> UrlExplanation {
    let start = UrlKey::from_normalised("https://h.example/docs/").unwrap();
    let site = crate::site::settle_so_far(&start, &[], config.scope.width);
    let store = Store::in_memory().unwrap();
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let question = Question {
        store: &store,
        site: &site,
        config,
        clock: &clock,
    };
    question
        .explain(&UrlKey::from_normalised(path).unwrap())
        .unwrap()
}

#[test]
fn unknown_url_is_judged_by_scope_and_rules() {
    let mut config = Config::default();
    config.scope.exclude = vec!["/docs/private/**".to_owned()];
    let check = |url: &str, judgement: &str, why: &str| {
        let explanation = explain(url, &config);
        assert_eq!(explanation.state, "unknown");
        assert_eq!(explanation.scope.judgement, judgement, "{url}");
        assert!(explanation.why.contains(why), "{url}: {}", explanation.why);
        assert!(explanation.advice.is_some());
    };
    check("https://other.example/docs/", "outside", "not on the host");
    check(
        "https://h.example/blog/",
        "outside",
        "outside of the directory",
    );
    check(
        "https://h.example/docs/private/a",
        "excluded",
        "include or exclude rule",
    );
    check("https://h.example/docs/a", "inside", "no page");
}

#[test]
fn reasons_other_than_listed_have_advice() {
    let mut texts = HashSet::new();
    for reason in Reason::ALL {
        let advice = reason.advice();
        let is_fine = matches!(
            reason,
            Reason::Listed | Reason::ListOnly | Reason::FromInput
        );
        assert_eq!(advice.is_none(), is_fine, "{reason:?}");
        texts.extend(advice);
    }
    assert!(texts.len() > 30);
}

#[test]
fn pattern_matches_parameter_or_place() {
    let closed = |name: &str| ClosedPattern {
        kind: PatternKind::Parameter,
        name: name.to_owned(),
        crawl: 1,
        requested: 50,
        left_out: 1,
        not_requested: 2,
        exclude: None,
        example: UrlKey::from_normalised("https://h.example/a?b=1").unwrap(),
    };
    let patterns = ["/a?", "?print=", "/g/", "/c/*"].map(closed);
    let find = |path: &str| {
        let url = UrlKey::from_normalised(&format!("https://h.example{path}")).unwrap();
        pattern_of(&url, &patterns).map(|pattern| pattern.name.clone())
    };
    assert_eq!(find("/a?m=3").as_deref(), Some("/a?"));
    assert_eq!(find("/b?m=3"), None);
    assert_eq!(find("/b?x=1&print=3").as_deref(), Some("?print="));
    assert_eq!(find("/g/page").as_deref(), Some("/g/"));
    assert_eq!(find("/c/d/page").as_deref(), Some("/c/*"));
    assert_eq!(find("/d/page"), None);
}

#[test]
fn the_guide_lists_every_reason() {
    let mut page = "# Reasons\n\nThe reason of each known URL, as summaries, reports, `arpent why` and the state have it.\n".to_owned();
    for state in [State::Listed, State::Excluded, State::Failed, State::Queued] {
        let state = state.as_str();
        writeln!(
            page,
            "\n## {state}\n\n| code | reason | what to do |\n|---|---|---|"
        )
        .unwrap();
        for reason in Reason::ALL
            .iter()
            .filter(|reason| reason.state().as_str() == state)
        {
            let advice = reason.advice().unwrap_or_default();
            writeln!(
                page,
                "| `{}` | {} | {advice} |",
                reason.code(),
                reason.text()
            )
            .unwrap();
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../cli/guide/reasons.md");
    crate::testing::assert_guide(path, &page);
}
