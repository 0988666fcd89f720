//! Checks that every rule of the protocol has a document that breaks it and one that obeys it, in all groups of cases.

use std::sync::PoisonError;

use sitemap_core::validate::RULES;

use super::{SEEN, Seen, groups};

/// Rules that always break with another one, which is reported: both at one place would be two findings for one fault.
const REPORTED_AS: [(u8, u8, &str); 1] = [(74, 60, "a line that is not read proves nothing")];

/// Rules that no document can break, and why.
const UNBREAKABLE: [(u8, &str); 4] = [
    (76, "a ping is a request, and no document"),
    (77, "a ping is a request, and no document"),
    (78, "a ping is a request, and no document"),
    (
        80,
        "it says what a sitemap does not do: what is missing is no fault",
    ),
];

/// Rules about requests that arpent does not send, so that no document obeys them either.
const PINGS: [u8; 3] = [76, 77, 78];

#[test]
fn every_rule_has_a_document_that_breaks_it_and_one_that_keeps_it() {
    groups::all();
    let seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    for text in RULES.iter() {
        let number = text.rule.0;
        let was = |what: Seen| seen.contains(&(number, what));
        let reported_as = REPORTED_AS.iter().find(|(rule, _, _)| *rule == number);
        let is_unbreakable = UNBREAKABLE.iter().any(|(rule, _)| *rule == number);
        assert_eq!(
            was(Seen::Broken),
            reported_as.is_none() && !is_unbreakable,
            "{}: {}",
            text.rule,
            text.title
        );
        if let Some((_, other, _)) = reported_as {
            assert!(was(Seen::BrokenAs(*other)), "{} as R{other}", text.rule);
        }
        assert_eq!(
            was(Seen::Kept),
            !PINGS.contains(&number),
            "{} is kept",
            text.rule
        );
    }
}
