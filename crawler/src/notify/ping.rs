//! The request of the sitemap protocol ("Submitting your Sitemap via an HTTP request",
//! <https://www.sitemaps.org/protocol.html#submit_ping>): a GET of an engine's URL with that of the sitemap in
//! it. Google and Bing do not accept it any more; engines of the user may.

use super::{Caller, service_url, shown_url, with_causes};
use crate::{
    client::{Call, Retry},
    config::Secret,
    url_key::{UrlKey, percent},
};

/// Placeholder in a template for the encoded URL of the sitemap.
const PLACE: &str = "{sitemap}";

/// The URL of an engine with a place for that of a sitemap. Its `Debug` does not show it: it may hold a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PingTemplate(Secret);

/// Why a text is not a template. The text is not repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PingTemplateError {
    /// The place is missing.
    #[error("expected {PLACE} in the place of the sitemap's URL")]
    NoPlace,
    /// The text is not a URL.
    #[error(
        "expected an http or https URL such as \"https://engine.example/ping?sitemap={PLACE}\""
    )]
    NoUrl,
}

impl PingTemplate {
    /// Reads a template.
    ///
    /// # Errors
    /// See [`PingTemplateError`].
    pub fn parse(text: &str) -> Result<Self, PingTemplateError> {
        if !text.contains(PLACE) {
            return Err(PingTemplateError::NoPlace);
        }
        let template = Self(Secret::new(text));
        match template.url_for("https://example.com/sitemap.xml") {
            Some(_) => Ok(template),
            None => Err(PingTemplateError::NoUrl),
        }
    }

    /// The URL to ask for, with that of `sitemap` encoded as the protocol has it.
    ///
    /// ```
    /// use crawler::notify::PingTemplate;
    ///
    /// let template = PingTemplate::parse("http://engine.example/ping?sitemap={sitemap}")?;
    /// let url = template.url_for("http://www.yoursite.com/sitemap.gz");
    /// assert_eq!(
    ///     url.unwrap().as_str(),
    ///     "http://engine.example/ping?sitemap=http%3A%2F%2Fwww.yoursite.com%2Fsitemap.gz"
    /// );
    /// # Ok::<(), crawler::notify::PingTemplateError>(())
    /// ```
    pub fn url_for(&self, sitemap: &str) -> Option<UrlKey> {
        service_url(
            &self
                .0
                .reveal()
                .replace(PLACE, &percent::query_value(sitemap)),
        )
    }

    /// The origin of the engine, as [`Pinged::engine`] has it: it may be shown and kept.
    pub fn engine(&self) -> String {
        let url = self.url_for("");
        url.map_or_else(String::new, |url| shown_url(&url))
    }
}

/// The result of one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pinged {
    /// Whom it went to: the origin of the engine.
    pub engine: String,
    /// Why it was not received, as a fragment. `None`: the engine has the request, which is not evidence of
    /// whether the sitemap is right or will be read.
    pub problem: Option<String>,
    /// `true` if that is the last word; otherwise it is worth another try some day.
    pub is_final: bool,
}

/// Asks each engine once for each of `sitemaps`, the indexes of a set (or its only sitemap). What is answered
/// by anything but 200 is sent again, as often as the settings have tries; 404 and 410 are final.
pub fn ping(templates: &[PingTemplate], sitemaps: &[String], call: &mut Caller<'_>) -> Vec<Pinged> {
    let mut pinged = Vec::new();
    for template in templates {
        for sitemap in sitemaps {
            let Some(url) = template.url_for(sitemap) else {
                continue;
            };
            let engine = shown_url(&url);
            let answer = call(&Call::get(url, &engine, Retry::UnlessReceived));
            let is_final = answer
                .as_ref()
                .is_ok_and(|answer| matches!(answer.status, 200 | 404 | 410));
            let problem = match answer {
                Ok(answer) if answer.status == 200 => None,
                Ok(answer) if matches!(answer.status, 404 | 410) => Some(format!(
                    "answered {}: it does not accept pings",
                    answer.status
                )),
                Ok(answer) => Some(format!(
                    "answered {} to each of {} tries",
                    answer.status, answer.tries
                )),
                Err(error) => {
                    let why = with_causes(&error);
                    let named = format!("{engine}: ");
                    Some(why.strip_prefix(&named).unwrap_or(&why).to_owned())
                }
            };
            pinged.push(Pinged {
                engine,
                problem,
                is_final,
            });
        }
    }
    pinged
}
