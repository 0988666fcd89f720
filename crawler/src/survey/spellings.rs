//! Other URLs under which the same site is often reached: with `www.` and without, over http and over https.

use serde::Serialize;

use super::Surveyor;
use crate::{
    client::{DownloadError, StartError},
    page::PageFacts,
    url_key::UrlKey,
};

/// The answer of a URL.
#[derive(Debug, Clone, Default, Serialize)]
pub struct UrlAnswer {
    /// The URL.
    pub url: String,
    /// HTTP status; `None`: no answer came.
    pub status: Option<u16>,
    /// The target of a redirect.
    pub redirects_to: Option<String>,
    /// The reason why no answer came, or why it could not be read.
    pub error: Option<String>,
}

impl UrlAnswer {
    pub(super) fn new(url: &UrlKey, answer: Result<&PageFacts, &DownloadError>) -> Self {
        let location = answer.ok().and_then(|facts| facts.location.as_ref());
        Self {
            url: url.to_string(),
            status: answer.ok().map(|facts| facts.status),
            redirects_to: location.map(ToString::to_string),
            error: answer.err().map(ToString::to_string),
        }
    }
}

impl Surveyor<'_, '_> {
    /// Requests the spellings that are not among the redirects of the start URL.
    pub(super) fn spellings(
        &self,
        hops: &[(UrlKey, PageFacts)],
    ) -> Result<Vec<UrlAnswer>, StartError> {
        let site = self.site;
        let directory = UrlKey::from_normalised(&site.url()).ok();
        let spellings = site.origin.spellings().into_iter();
        spellings
            .filter_map(|origin| directory.as_ref()?.at(&origin))
            .filter(|url| hops.iter().all(|(hop, _)| hop != url))
            .map(|url| Ok(UrlAnswer::new(&url, self.page(&url)?.as_ref())))
            .collect()
    }
}
