//! The way from the start URL to a URL: on which page each was found first.

use serde::Serialize;

use super::UrlRows;
use crate::{
    page::{PageRecord, Via},
    store::{Store, StoreError},
    url_key::UrlKey,
};

/// Steps that are followed; a crawl is hardly deeper.
pub(super) const MAX_STEPS: usize = 100;

/// A step of the way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FoundStep {
    /// The URL.
    pub url: String,
    /// How it was found on the one before it ([`Via`]).
    pub via: &'static str,
}

/// The way to `url`, itself last; empty when nothing is known of it.
pub(super) fn path_to(
    store: &Store,
    url: &UrlKey,
    record: Option<&PageRecord>,
) -> Result<Vec<FoundStep>, StoreError> {
    let mut steps: Vec<FoundStep> = Vec::new();
    let mut next = record.cloned().map(|record| (url.clone(), record));
    while let Some((url, record)) = next.take() {
        let is_known = steps.iter().any(|step| step.url == url.as_str());
        if is_known || steps.len() == MAX_STEPS {
            break;
        }
        steps.push(FoundStep {
            url: url.to_string(),
            via: record.via.as_str(),
        });
        let Some(page) = record.found_on.filter(|_| record.via != Via::Start) else {
            break;
        };
        let above = UrlRows::read(store, &page)?.record().cloned();
        match above {
            Some(above) => next = Some((page, above)),
            // A sitemap, a feed or a list.
            None => steps.push(FoundStep {
                url: page.to_string(),
                via: "document",
            }),
        }
    }
    steps.reverse();
    Ok(steps)
}
