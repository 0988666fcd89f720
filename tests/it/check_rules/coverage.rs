//! Whether every rule of the protocol has its cases, here or where sitemaps are served.

use sitemap_core::validate::RULES;

/// The sources of the cases: those of files, and those of what is served.
const FILES: [&str; 5] = [
    include_str!("document.rs"),
    include_str!("extensions.rs"),
    include_str!("formats.rs"),
    include_str!("places.rs"),
    include_str!("sizes_and_indexes.rs"),
];
const SERVED: &str = include_str!("../check_live.rs");

/// Rules that are broken by breaking another one, which is told: the rule, and the test that has its cases.
const TOLD_AS: [(u8, u8, &str); 9] = [
    (25, 3, "urls"),
    (30, 27, "limits"),
    (34, 40, "several_indexes"),
    (44, 58, "listed_sitemaps_stand_at_their_own_place"),
    (61, 60, "places"),
    (63, 58, "sections_have_sitemaps_of_their_own"),
    (65, 60, "sitemaps_on_other_hosts"),
    (74, 60, "robots_of_the_folder"),
    (78, 75, "robots_of_the_folder"),
];

/// Rules that nothing to be checked can break, and why.
const UNBREAKABLE: [(u8, &str); 4] = [
    (
        43,
        "it lets consumers ask for less: `IndexEntry::changed_since`",
    ),
    (76, "a ping is a request, and no document"),
    (77, "a ping is a request, and no document"),
    (80, "it says what a sitemap does not do"),
];

#[test]
fn every_rule_has_a_document_that_breaks_it_and_one_that_keeps_it() {
    let has_cases = |number: u8| {
        // `rule` has one of each; what is served is compared with all that is found.
        let case = format!("rule(\"R{number}\",");
        let is_in_files = FILES
            .iter()
            .any(|source| source.replace(char::is_whitespace, "").contains(&case));
        let is_served = ["error", "warning", "note"]
            .iter()
            .any(|severity| SERVED.contains(&format!("\"{severity} R{number} ")));
        is_in_files || is_served
    };
    for text in &RULES {
        let number = text.rule.0;
        let told_as = TOLD_AS.iter().find(|(rule, _, _)| *rule == number);
        let is_unbreakable = UNBREAKABLE.iter().any(|(rule, _)| *rule == number);
        match told_as {
            Some((_, other, test)) => {
                assert!(has_cases(*other), "{}", text.rule);
                let test = format!("fn {test}()");
                assert!(FILES.iter().any(|source| source.contains(&test)), "{test}");
            }
            None if is_unbreakable => assert!(!has_cases(number), "{}", text.rule),
            None => assert!(
                has_cases(number),
                "{} has no cases: {}",
                text.rule,
                text.title
            ),
        }
    }
}
