//! Google Search Console: a new or changed index is submitted, and what Google has read of it is read back ("Search Console API",
//! Sites and Sitemaps, <https://developers.google.com/webmaster-tools/v1/sitemaps>). Without the feature `google` there is none.

use std::{collections::BTreeMap, fs, path::Path};

use jiff::Timestamp;
use serde::{Deserialize, Serialize, de::IgnoredAny};
use serde_json::Value;

use super::{Caller, service_url, unanswered};
use crate::{
    client::{Call, CallAnswer, Retry},
    config::{GoogleConfig, Secret},
    fetch::CallMethod,
    human,
    publish::{PublishedSet, published_contents},
    store::{Effect, Store, StoreError, json_value},
    url_key::{UrlKey, percent},
};

/// Name of the state's value with what Google has of the set.
const GOOGLE: &str = crate::store::names::NOTIFY_GOOGLE;

/// Properties that a message names.
const MAX_NAMED: usize = 3;

/// What Google has read of the published set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoogleReport {
    /// The property of Search Console: a URL, or `sc-domain:` and a domain.
    pub property: String,
    /// The time of this report.
    pub looked_at: Timestamp,
    /// The indexes of the set.
    pub sitemaps: Vec<GoogleSitemap>,
    /// URLs that the set lists.
    pub listed: u64,
}

/// A sitemap as Search Console shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoogleSitemap {
    /// The URL.
    pub url: String,
    /// The first time that it was submitted by this state.
    pub submitted_at: Option<Timestamp>,
    /// The last time that Google read it; `None`: never.
    pub read_at: Option<Timestamp>,
    /// Errors that Google found in it.
    pub errors: u64,
    /// Warnings.
    pub warnings: u64,
    /// URLs of pages that Google found in it.
    pub urls: u64,
}

/// What the state has of Google.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct StoredGoogle {
    /// The SHA-256 of each index that was submitted, and when that was done first.
    submitted: BTreeMap<String, (String, Timestamp)>,
    report: Option<GoogleReport>,
}

/// The result of one visit to Search Console.
#[derive(Debug, Default)]
pub struct GoogleResult {
    /// What Google has read, as it answered last; `None`: it never did.
    pub report: Option<GoogleReport>,
    /// What went wrong, and what to do, each a fragment.
    pub problems: Vec<String>,
    /// What somebody should look at.
    pub warnings: Vec<String>,
}

/// Gives a token for an account, by the content of its key file.
pub type TokenSource<'a> = dyn FnMut(&str) -> Result<Secret, String> + 'a;

/// A property of Search Console.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Property {
    site_url: String,
    permission_level: String,
}

/// The fields of a service account's key that are read here.
#[derive(Debug, Deserialize)]
struct KeyFile {
    client_email: String,
    #[expect(dead_code, reason = "without it the file is another one")]
    private_key: IgnoredAny,
}

/// A conversation with Search Console.
struct SearchConsole<'g, 'c> {
    endpoint: &'g str,
    /// The account, for messages.
    account: String,
    token: Secret,
    call: &'g mut Caller<'c>,
}

/// The last report of the set of `store`.
///
/// # Errors
/// The store cannot be read.
pub fn last_google_report(store: &Store) -> Result<Option<GoogleReport>, StoreError> {
    let stored: Option<StoredGoogle> = store.read_json(GOOGLE)?;
    Ok(stored.and_then(|stored| stored.report))
}

/// Submits the indexes of `set` that changed since they were submitted, and reads what Google has of them.
///
/// # Errors
/// The store failed. Whatever else fails is among the problems.
pub fn report_to_google(
    store: &mut Store,
    config: &GoogleConfig,
    set: &PublishedSet,
    now: Timestamp,
    token: &mut TokenSource<'_>,
    call: &mut Caller<'_>,
) -> Result<GoogleResult, StoreError> {
    let mut stored: StoredGoogle = store.read_json(GOOGLE)?.unwrap_or_default();
    let contents = published_contents(store, set)?;
    let listed = contents.as_ref().map_or(0, |contents| contents.listed);
    let digests = contents.into_iter().flat_map(|contents| contents.files);
    let digests: BTreeMap<_, _> = digests.map(|file| (file.url, file.sha256)).collect();
    let mut result = GoogleResult::default();
    let began = SearchConsole::begin(config, token, call);
    let visited = began.and_then(|mut console| {
        let property = console.property_of(&set.site)?;
        let mut report = GoogleReport {
            property,
            looked_at: now,
            sitemaps: Vec::new(),
            listed,
        };
        for url in &set.sitemaps {
            let digest = digests.get(url).cloned().unwrap_or_default();
            let before = stored.submitted.get(url);
            let since = before.map_or(now, |(_, since)| *since);
            if before.is_none_or(|(before, _)| *before != digest) {
                console.submit(&report.property, url)?;
                stored.submitted.insert(url.clone(), (digest, since));
            }
            let Some(mut read) = console.read(&report.property, url)? else {
                stored.submitted.remove(url);
                return Err(format!(
                    "Search Console does not have {url} any more (404); the next session submits it again"
                ));
            };
            read.submitted_at = Some(since);
            report.sitemaps.push(read);
        }
        Ok(report)
    });
    result.warnings.extend(warning_of_key(&config.key_file));
    match visited {
        Ok(report) => {
            result.warnings.extend(report.warnings(config));
            stored.report = Some(report);
        }
        Err(problem) => result.problems.push(problem),
    }
    result.report.clone_from(&stored.report);
    store.commit(&[Effect::Value(json_value(GOOGLE, &stored))])?;
    Ok(result)
}

impl<'g, 'c> SearchConsole<'g, 'c> {
    fn begin(
        config: &'g GoogleConfig,
        token: &mut TokenSource<'_>,
        call: &'g mut Caller<'c>,
    ) -> Result<Self, String> {
        let key = read_key(&config.key_file)?;
        let account = account_of(&key, &config.key_file)?;
        let token = token(&key).map_err(|problem| {
            format!(
                "Google gave no token for {account}: {problem}; check that the key in {} was not deleted in Google Cloud, and \
                 that the clock of this machine is right",
                config.key_file.display()
            )
        })?;
        Ok(Self {
            endpoint: config.endpoint.trim_end_matches('/'),
            account,
            token,
            call,
        })
    }

    /// The property that a site is in: the one with the longest URL, or one of its domain.
    fn property_of(&mut self, site: &str) -> Result<String, String> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Properties {
            #[serde(default)]
            site_entry: Vec<Property>,
        }
        let answer = self.ask(CallMethod::Get, "/sites")?;
        if answer.status == 404 {
            return Err(format!(
                "{}/sites answers 404; check endpoint in the table [notify.google]",
                self.endpoint
            ));
        }
        self.check(&answer, "the list of its properties")?;
        let list: Properties = serde_json::from_slice(&answer.body).map_err(|error| {
            format!("Search Console lists its properties in an unknown form: {error}")
        })?;
        let mut known = list.site_entry;
        known.retain(|property| property.permission_level != "siteUnverifiedUser");
        let host = UrlKey::from_normalised(site).map(|site| site.host_str().to_owned());
        let host = host.unwrap_or_default();
        let covers = |property: &str| match property.strip_prefix("sc-domain:") {
            Some(domain) => host == domain || host.ends_with(&format!(".{domain}")),
            None => site.starts_with(property),
        };
        let rank = |property: &&Property| {
            let url = &property.site_url;
            let may_submit = property.permission_level != "siteRestrictedUser";
            (may_submit, url.starts_with("http"), url.len())
        };
        let covering = known.iter().filter(|property| covers(&property.site_url));
        if let Some(property) = covering.max_by_key(rank) {
            return Ok(property.site_url.clone());
        }
        let account = &self.account;
        let count = known.len();
        known.truncate(MAX_NAMED);
        let known: Vec<_> = known
            .into_iter()
            .map(|property| property.site_url)
            .collect();
        let others = match count {
            0 => "it has none".to_owned(),
            _ => format!("it has {}", known.join(", ")),
        };
        Err(format!(
            "{account} has no property of {site} in Search Console, {others}; add {account} as a user with full permission to {site} or to \
             sc-domain:{host} (Settings, Users and permissions)"
        ))
    }

    fn submit(&mut self, property: &str, sitemap: &str) -> Result<(), String> {
        let answer = self.ask(CallMethod::Put, &path_of(property, sitemap))?;
        self.check(&answer, property)
    }

    /// What Google has of a sitemap; `None`: nothing.
    fn read(&mut self, property: &str, sitemap: &str) -> Result<Option<GoogleSitemap>, String> {
        let answer = self.ask(CallMethod::Get, &path_of(property, sitemap))?;
        if answer.status == 404 {
            return Ok(None);
        }
        self.check(&answer, property)?;
        let value: Value = serde_json::from_slice(&answer.body)
            .map_err(|error| format!("Search Console answers in an unknown form: {error}"))?;
        // Numbers of 64 bits are texts in the JSON of Google.
        let number = |value: &Value| {
            let text = value.as_str().and_then(|text| text.parse().ok());
            value.as_u64().or(text).unwrap_or_default()
        };
        let contents = value["contents"].as_array().into_iter().flatten();
        let pages = contents.filter(|content| content["type"] == "web");
        let read_at = value["lastDownloaded"].as_str();
        Ok(Some(GoogleSitemap {
            url: sitemap.to_owned(),
            submitted_at: None,
            read_at: read_at.and_then(|time| time.parse().ok()),
            errors: number(&value["errors"]),
            warnings: number(&value["warnings"]),
            urls: pages.map(|content| number(&content["submitted"])).sum(),
        }))
    }

    fn ask(&mut self, method: CallMethod, path: &str) -> Result<CallAnswer, String> {
        const SHOWN: &str = "Google Search Console";
        let url = service_url(&format!("{}{path}", self.endpoint));
        let url = url.ok_or("google: endpoint is not a URL")?;
        let call = Call {
            method,
            bearer: Some(self.token.clone()),
            ..Call::get(url, SHOWN, Retry::Passing)
        };
        (self.call)(&call).map_err(|error| unanswered(SHOWN, &error))
    }

    /// What an answer means, and what to do. Source of the statuses: "Standard error responses" of the API.
    fn check(&self, answer: &CallAnswer, what: &str) -> Result<(), String> {
        let account = &self.account;
        let body = String::from_utf8_lossy(&answer.body);
        let is_off = ["accessNotConfigured", "SERVICE_DISABLED"];
        Err(match answer.status {
            200..300 => return Ok(()),
            401 => format!(
                "Search Console does not accept the token of {account} (401); check that the key was not deleted in Google Cloud"
            ),
            403 if is_off.iter().any(|reason| body.contains(reason)) => format!(
                "the Search Console API is off in the Google Cloud project of {account} (403); enable it at \
                 https://console.cloud.google.com/apis/library/searchconsole.googleapis.com"
            ),
            403 => format!(
                "{account} may not use {what} (403); give it full permission in Search Console (Settings, Users and permissions)"
            ),
            404 => format!(
                "Search Console does not know {what} (404); check the property in Search Console"
            ),
            429 => {
                "Search Console got too many requests (429); the next session asks again".to_owned()
            }
            status @ 500.. => {
                format!("Search Console failed ({status}); the next session asks again")
            }
            status => format!("Search Console answered {status} for {what}"),
        })
    }
}

/// The path of a sitemap in a property.
fn path_of(property: &str, sitemap: &str) -> String {
    let (property, sitemap) = (
        percent::query_value(property),
        percent::query_value(sitemap),
    );
    format!("/sites/{property}/sitemaps/{sitemap}")
}

fn read_key(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| {
        format!(
            "google: failed to read key_file {}: {error}",
            path.display()
        )
    })
}

/// Everybody can read the key.
#[cfg(unix)]
fn warning_of_key(path: &Path) -> Option<String> {
    use std::os::unix::fs::PermissionsExt as _;

    let mode = fs::metadata(path).ok()?.permissions().mode();
    let path = path.display();
    (mode & 0o004 != 0).then(|| {
        format!("every user of this machine can read the key in {path}; run chmod o-r {path}")
    })
}

/// Who may read a file is nothing that is known here.
#[cfg(not(unix))]
fn warning_of_key(_: &Path) -> Option<String> {
    None
}

/// The name of the account of a key.
fn account_of(key: &str, path: &Path) -> Result<String, String> {
    let key: Result<KeyFile, _> = serde_json::from_str(key);
    // The error itself may hold a part of the key.
    key.map(|key| key.client_email).map_err(|_| {
        format!(
            "google: key_file {} is no key of a service account; expected the JSON file that Google Cloud made",
            path.display()
        )
    })
}

impl GoogleReport {
    /// A line for each index.
    pub fn lines(&self, now: Timestamp) -> Vec<String> {
        let line = |sitemap: &GoogleSitemap| {
            let url = &sitemap.url;
            let Some(read) = sitemap.read_at else {
                let since = sitemap.submitted_at.unwrap_or(now);
                let since = human::relative(since, now);
                return format!("Google has not read {url} yet, which was submitted {since}");
            };
            format!(
                "Google read {url} {}: {}, {}; this set lists {}",
                human::relative(read, now),
                human::count(sitemap.errors, "error"),
                human::count(sitemap.urls, "URL"),
                human::number(self.listed)
            )
        };
        self.sitemaps.iter().map(line).collect()
    }

    /// What somebody should look at: errors, and a set that Google has not read for long.
    pub fn warnings(&self, config: &GoogleConfig) -> Vec<String> {
        let mut warnings = Vec::new();
        for sitemap in &self.sitemaps {
            let url = &sitemap.url;
            if sitemap.errors > 0 {
                let errors = human::count(sitemap.errors, "error");
                warnings.push(format!(
                    "Google found {errors} in {url}; Search Console shows them under Sitemaps"
                ));
            }
            let Some(since) = sitemap
                .read_at
                .max(sitemap.submitted_at.filter(|_| sitemap.read_at.is_none()))
            else {
                continue;
            };
            let age = self.looked_at.duration_since(since).unsigned_abs();
            if age > config.max_age {
                let age = human::duration(age);
                warnings.push(format!(
                    "Google has not read {url} for {age} (max_age of google is {}); in Search Console remove the sitemap and add it again",
                    human::duration(config.max_age)
                ));
            }
        }
        warnings
    }
}
