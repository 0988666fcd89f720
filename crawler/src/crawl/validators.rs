//! Trust in the answer "not modified" (304). A cache that answers 304 to everything would hide every change, so one page
//! in a hundred is asked for as a whole although it has validators. Where its content changed, the server is asked again
//! with the old validators: a 304 is then false, and no page of the site is asked conditionally until
//! [`TRUTHS_FOR_TRUST`] such answers in a row were true. Pure; the loop sends the requests.

use crate::{
    fetch::{FetchErrorKind, Validators},
    page::{BodyEnd, Canonical, ContentHash, CrawlId, PageFacts},
    store::{MetaValue, Store, StoreError},
    url_key::UrlKey,
};

use super::FetchedFacts;

/// Pages among which one is asked for as a whole: a change that a false 304 hides is found within as many crawls.
const SAMPLE: u64 = 100;

/// Crawls of which one asks again for what seldom changes: the redirects of the canonical link of a page that did not, and a
/// spelling of the site.
const SELDOM: u64 = 7;

/// True answers in a row after which a server is trusted again.
const TRUTHS_FOR_TRUST: u32 = 30;

/// Name of the state's value with the true answers since the last false one; without it the server is trusted.
const TRUST: &str = crate::store::names::VALIDATORS_TRUST;

/// The trust in the answer 304.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ValidatorTrust {
    /// True answers in a row since the last false one; `None`: trusted.
    truths: Option<u32>,
}

/// Change of the trust in a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TrustChange {
    /// Trusted until now.
    Lost,
    /// Distrusted until now.
    Regained,
}

impl ValidatorTrust {
    /// Reads what the state has; a value that is damaged is that of a server which is not trusted.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(super) fn load(store: &Store) -> Result<Self, StoreError> {
        let text = store.value(TRUST)?;
        let truths = text.map(|text| text.parse().unwrap_or(0));
        Ok(Self { truths })
    }

    /// The value that a commit stores.
    pub(super) fn value(self) -> MetaValue {
        let text = self.truths.map(|truths| truths.to_string());
        (TRUST.to_owned(), text)
    }

    /// Returns whether pages are asked conditionally.
    pub(super) fn is_given(self) -> bool {
        self.truths.is_none()
    }

    /// Takes the status of the answer to the old validators of a page that changed.
    pub(super) fn record_status(&mut self, status: u16) -> Option<TrustChange> {
        match (status, self.truths) {
            (304, before) => {
                self.truths = Some(0);
                before.is_none().then_some(TrustChange::Lost)
            }
            (status, Some(truths)) if is_about_changes(status) => {
                self.truths = Some(truths + 1).filter(|truths| *truths < TRUTHS_FOR_TRUST);
                self.is_given().then_some(TrustChange::Regained)
            }
            _ => None,
        }
    }
}

/// Returns whether crawl number `crawl` asks for `url` as a whole: once in a hundred crawls.
pub(super) fn is_sample(url: &UrlKey, crawl: CrawlId) -> bool {
    is_turn(url.fingerprint(), crawl, SAMPLE)
}

/// Returns whether crawl number `crawl` asks again for `url`, a redirect that a canonical link names: on one crawl in seven.
pub(super) fn is_redirect_turn(url: &UrlKey, crawl: CrawlId) -> bool {
    is_turn(url.fingerprint(), crawl, SELDOM)
}

/// Returns whether crawl number `crawl` asks again which spellings are names of the site: the seventh, and each seventh after it.
pub(super) fn is_turn_of_names(crawl: CrawlId) -> bool {
    is_turn(0, crawl, SELDOM)
}

fn is_turn(fingerprint: u64, crawl: CrawlId, every: u64) -> bool {
    (fingerprint % every + crawl % every).is_multiple_of(every)
}

/// Returns whether a status shows if a page changed: it did, it did not, or the page is not there any more.
fn is_about_changes(status: u16) -> bool {
    matches!(status, 200 | 301..=304 | 307 | 308 | 404 | 410)
}

/// Returns whether the content of a page differs from that of its last answer, as far as both are known. What surrounds the
/// content does not count: it may differ in each answer.
pub(super) fn has_changed(facts: &PageFacts, answer: &PageFacts) -> bool {
    match facts.status {
        200 => {
            let is_known = facts.end == BodyEnd::Complete && answer.content_hash.is_some();
            let orders = |facts: &PageFacts| (facts.directives.noindex, facts.directives.nofollow);
            let is_same = facts.content_hash == answer.content_hash
                && orders(facts) == orders(answer)
                && facts.canonical == answer.canonical;
            is_known && !is_same
        }
        status => status != 304 && is_about_changes(status),
    }
}

/// The content of a page, when it is known to be another one than that of its last answer.
pub(super) fn changed_content(facts: &PageFacts, answer: &PageFacts) -> Option<ContentHash> {
    let before = answer.content_hash?;
    let is_read = facts.status == 200 && facts.end == BodyEnd::Complete;
    facts.content_hash.filter(|now| is_read && *now != before)
}

/// Returns whether the content and the statements of a page are known to be those of its last answer.
pub(super) fn is_unchanged(facts: &PageFacts, answer: &PageFacts) -> bool {
    facts.status == 200 && facts.content_hash.is_some() && !has_changed(facts, answer)
}

/// Returns whether `result` answers a request with `validators`: some servers refuse such requests, or redirect them, while the
/// page itself is fine.
pub(super) fn is_answer_to(validators: &Validators, result: &FetchedFacts) -> bool {
    match result {
        Ok((_, facts)) if facts.status == 304 => !validators.are_not_of(facts.etag.as_deref()),
        // Who asks to wait is not asked in another way.
        Ok((_, facts)) => matches!(facts.status, 200 | 408 | 429),
        // An answer 304 with a body cannot be read.
        Err(error) => error.kind() != FetchErrorKind::Protocol,
    }
}

/// Returns whether a 304 decides a page of which `facts` are known: one that names another canonical URL leaves open which of the
/// two counts.
pub(super) fn is_enough(answer: &PageFacts, facts: &PageFacts) -> bool {
    [&answer.canonical, &facts.canonical].contains(&&Canonical::Absent)
        || answer.canonical == facts.canonical
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirty_true_answers_regain_lost_trust() {
        let mut trust = ValidatorTrust::default();
        assert_eq!(trust.record_status(200), None);
        assert_eq!(trust.record_status(503), None);
        assert_eq!(trust.record_status(304), Some(TrustChange::Lost));
        for _ in 1..TRUTHS_FOR_TRUST {
            assert_eq!(trust.record_status(200), None);
        }
        assert_eq!(trust.record_status(304), None, "the row begins again");
        for _ in 1..TRUTHS_FOR_TRUST {
            assert_eq!(trust.record_status(404), None);
            assert_eq!(trust.record_status(503), None, "is not evidence");
            assert!(!trust.is_given());
        }
        assert_eq!(trust.record_status(200), Some(TrustChange::Regained));
        assert_eq!(trust, ValidatorTrust::default());
    }

    #[test]
    fn trust_is_kept_in_the_state() {
        let mut store = Store::in_memory().unwrap();
        assert!(ValidatorTrust::load(&store).unwrap().is_given());
        let distrusted = ValidatorTrust { truths: Some(7) };
        let value = crate::store::Effect::Value(distrusted.value());
        store.commit(&[value]).unwrap();
        assert_eq!(ValidatorTrust::load(&store).unwrap(), distrusted);
    }

    #[test]
    fn one_crawl_in_a_hundred_samples_a_page() {
        let url = UrlKey::from_normalised("https://h.example/a").unwrap();
        let samples = (1..=100).filter(|crawl| is_sample(&url, *crawl)).count();
        assert_eq!(samples, 1);
    }
}
