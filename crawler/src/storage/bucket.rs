//! A prefix of a bucket: its requests, one by one. Nothing here knows what a set is.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use futures_util::TryStreamExt as _;
use globset::{Glob, GlobMatcher};
use object_store::{
    Attribute, Attributes, BackoffConfig, ClientOptions, Error, GetOptions, ObjectStore,
    ObjectStoreExt as _, ObjectStoreScheme, PutMode, PutOptions, PutPayload, RetryConfig,
    aws::AmazonS3Builder, azure::MicrosoftAzureBuilder, gcp::GoogleCloudStorageBuilder,
    path::Path as Key, prefix::PrefixStore,
};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use sha2::{Digest as _, Sha256};
use url::Url;

use super::{StorageError, record::Sent};
use crate::{
    config::{ObjectField, ObjectHeader, PublishConfig},
    machine::hex,
};

/// Time for one request, and for its connection. A file of 50 MB needs 7 Mbit/s.
const TIMEOUT: Duration = Duration::from_secs(60);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Retries of a request after errors 5xx, throttling and lost connections.
const MAX_RETRIES: usize = 5;
const RETRY_TIMEOUT: Duration = Duration::from_secs(60);

/// How long caches may keep an object without a setting.
const CACHE_CONTROL: &str = "max-age=300";

/// Metadata of every object: the SHA-256 of its content, and the URL of its site. Azure allows only letters and digits.
const SHA256: &str = "arpentsha256";
const SITE: &str = "arpentsite";

/// A prefix of a bucket.
pub(super) struct Bucket {
    /// As in the settings, without a slash at the end.
    pub(super) url: String,
    /// URL of the site.
    pub(super) site: String,
    pub(super) grace: Duration,
    /// For objects that readers get: its requests have the ACL.
    writes: Arc<dyn ObjectStore>,
    reads: Arc<dyn ObjectStore>,
    headers: Vec<(GlobMatcher, ObjectHeader)>,
    acl: String,
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bucket")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

/// An object that was found.
#[derive(Debug)]
pub(super) struct FoundObject {
    /// The content is the one that arpent sent, as far as its metadata has it.
    pub(super) sent: Sent,
    /// The object belongs to the site.
    pub(super) is_ours: bool,
}

impl Bucket {
    pub(super) fn open(
        url: &str,
        config: &PublishConfig,
        site: &str,
    ) -> Result<Self, StorageError> {
        let settings = |problem: String| StorageError::Settings {
            url: url.to_owned(),
            problem,
        };
        let scheme = scheme_of(url)?.0;
        let acl = |name: &'static str| {
            let mut headers = HeaderMap::new();
            if let Some(acl) = &config.object_acl {
                let value = HeaderValue::from_str(acl);
                let value = value.map_err(|error| settings(format!("object_acl: {error}")))?;
                headers.insert(HeaderName::from_static(name), value);
            }
            Ok::<_, StorageError>(headers)
        };
        let (writes, _) = open_store(
            url,
            match scheme {
                ObjectStoreScheme::AmazonS3 => acl("x-amz-acl")?,
                ObjectStoreScheme::GoogleCloudStorage => acl("x-goog-acl")?,
                _ if config.object_acl.is_some() => {
                    return Err(settings(
                        "object_acl: Azure has no ACL of objects; set the access of the container"
                            .to_owned(),
                    ));
                }
                _ => HeaderMap::new(),
            },
        )?;
        let (reads, prefix) = open_plain(url)?;
        Self::with_stores([writes, reads], &prefix, url, site, config)
    }

    /// A bucket by its clients, the first for PUTs.
    pub(super) fn with_stores(
        stores: [Arc<dyn ObjectStore>; 2],
        prefix: &Key,
        url: &str,
        site: &str,
        config: &PublishConfig,
    ) -> Result<Self, StorageError> {
        let [writes, reads] = stores
            .map(|store| Arc::new(PrefixStore::new(store, prefix.clone())) as Arc<dyn ObjectStore>);
        let headers = config.object_headers.iter().map(|rule| {
            let glob = Glob::new(&rule.objects).map_err(|error| StorageError::Settings {
                url: url.to_owned(),
                problem: format!("object_headers: {error}"),
            })?;
            Ok((glob.compile_matcher(), rule.header.clone()))
        });
        Ok(Self {
            url: url.trim_end_matches('/').to_owned(),
            site: site.to_owned(),
            grace: config.grace,
            writes,
            reads,
            headers: headers.collect::<Result<_, StorageError>>()?,
            acl: config.object_acl.clone().unwrap_or_default(),
        })
    }

    /// The URL of an object, for messages.
    pub(super) fn url_of(&self, name: &str) -> String {
        format!("{}/{name}", self.url)
    }

    /// The `ETag` of every object whose name is wanted; empty where the storage has none.
    pub(super) async fn list(
        &self,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<BTreeMap<String, String>, StorageError> {
        let mut found = BTreeMap::new();
        let mut objects = self.reads.list(None);
        loop {
            let object = objects.try_next().await;
            let object = object.map_err(|error| self.failed("list", "", &error))?;
            let Some(object) = object else {
                return Ok(found);
            };
            if is_wanted(object.location.as_ref()) {
                let etag = object.e_tag.unwrap_or_default();
                found.insert(object.location.to_string(), etag);
            }
        }
    }

    /// The key of a name, without escapes.
    fn key(&self, name: &str) -> Result<Key, StorageError> {
        Key::parse(name).map_err(|error| self.failed("name", name, &error.into()))
    }

    /// The metadata of an object; `None`: there is none.
    pub(super) async fn head(&self, name: &str) -> Result<Option<FoundObject>, StorageError> {
        let options = GetOptions {
            head: true,
            ..GetOptions::default()
        };
        let found = match self.reads.get_opts(&self.key(name)?, options).await {
            Ok(found) => found,
            Err(Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(self.failed("look up", name, &error)),
        };
        let value = |key: &'static str| {
            let value = found.attributes.get(&Attribute::Metadata(key.into()));
            value
                .map(|value| value.as_ref().to_owned())
                .unwrap_or_default()
        };
        Ok(Some(FoundObject {
            is_ours: value(SITE) == self.site,
            sent: Sent {
                sha256: value(SHA256),
                etag: found.meta.e_tag,
                version: found.meta.version,
                ..Sent::default()
            },
        }))
    }

    /// The content of an object; `None`: there is none.
    pub(super) async fn get(&self, name: &str) -> Result<Option<(Vec<u8>, Sent)>, StorageError> {
        let found = match self.reads.get(&self.key(name)?).await {
            Ok(found) => found,
            Err(Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(self.failed("fetch", name, &error)),
        };
        let (etag, version) = (found.meta.e_tag.clone(), found.meta.version.clone());
        let content = found.bytes().await;
        let content = content.map_err(|error| self.failed("fetch", name, &error))?;
        let sent = Sent {
            sha256: hex(Sha256::new_with_prefix(&content)),
            form: self.form(name),
            etag,
            version,
            unnamed_since: None,
        };
        Ok(Some((content.to_vec(), sent)))
    }

    /// Sends an object in place of the one `before`, or where there is none. `None`: the bucket has another object meanwhile.
    /// `has_fence`: a storage without conditions is not good enough.
    pub(super) async fn put(
        &self,
        name: &str,
        content: Vec<u8>,
        sha256: &str,
        before: Option<&Sent>,
        has_fence: bool,
    ) -> Result<Option<Sent>, StorageError> {
        let mode = before.map_or(PutMode::Create, |sent| PutMode::Update(sent.update()));
        let options = |mode| PutOptions {
            mode,
            attributes: self.attributes(name, sha256),
            ..PutOptions::default()
        };
        let (key, payload) = (self.key(name)?, PutPayload::from(content));
        let put = self.writes.put_opts(&key, payload.clone(), options(mode));
        let result = match put.await {
            Err(Error::NotImplemented { .. } | Error::NotSupported { .. }) if has_fence => {
                return Err(StorageError::Settings {
                    url: self.url.clone(),
                    problem: "a fleet needs a storage with conditional PUTs".to_owned(),
                });
            }
            // A storage without conditions.
            Err(Error::NotImplemented { .. } | Error::NotSupported { .. }) => {
                let put = self
                    .writes
                    .put_opts(&key, payload, options(PutMode::Overwrite));
                put.await
            }
            result => result,
        };
        match result {
            Ok(result) => Ok(Some(Sent {
                sha256: sha256.to_owned(),
                form: self.form(name),
                etag: result.e_tag,
                version: result.version,
                unnamed_since: None,
            })),
            Err(
                Error::AlreadyExists { .. } | Error::Precondition { .. } | Error::NotFound { .. },
            ) => Ok(None),
            Err(error) => Err(self.failed("send", name, &error)),
        }
    }

    /// Copies an object inside the bucket.
    pub(super) async fn copy(&self, from: &str, to: &str) -> Result<(), StorageError> {
        let copied = self.reads.copy(&self.key(from)?, &self.key(to)?).await;
        copied.map_err(|error| self.failed("copy", from, &error))
    }

    /// Removes an object.
    pub(super) async fn remove(&self, name: &str) -> Result<(), StorageError> {
        match self.reads.delete(&self.key(name)?).await {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.failed("remove", name, &error)),
        }
    }

    /// The headers of an object and its ACL as one text, which shows whether a setting changed.
    pub(super) fn form(&self, name: &str) -> String {
        let headers = self.headers_of(name);
        let headers: Vec<String> = headers.into_iter().map(|(_, value)| value).collect();
        format!("{}; {}", headers.join("; "), self.acl)
    }

    /// The headers of an object; of two for one field the last one counts.
    fn headers_of(&self, name: &str) -> Vec<(ObjectField, String)> {
        let mut headers = vec![
            (ObjectField::ContentType, content_type(name).to_owned()),
            (ObjectField::CacheControl, CACHE_CONTROL.to_owned()),
        ];
        let rules = self.headers.iter().filter(|(glob, _)| glob.is_match(name));
        headers.extend(rules.map(|(_, header)| (header.field, header.value.clone())));
        headers
    }

    /// The headers and the metadata of an object.
    fn attributes(&self, name: &str, sha256: &str) -> Attributes {
        let mut attributes = Attributes::new();
        for (field, value) in self.headers_of(name) {
            let attribute = match field {
                ObjectField::CacheControl => Attribute::CacheControl,
                ObjectField::ContentDisposition => Attribute::ContentDisposition,
                ObjectField::ContentEncoding => Attribute::ContentEncoding,
                ObjectField::ContentLanguage => Attribute::ContentLanguage,
                ObjectField::ContentType => Attribute::ContentType,
            };
            attributes.insert(attribute, value.into());
        }
        for (key, value) in [(SHA256, sha256), (SITE, &self.site)] {
            attributes.insert(Attribute::Metadata(key.into()), value.to_owned().into());
        }
        attributes
    }

    fn failed(&self, action: &'static str, name: &str, source: &Error) -> StorageError {
        StorageError::Failed {
            action,
            url: self.url_of(name),
            // Its text has those of its causes.
            source: source.to_string().into(),
        }
    }
}

/// The media type of a file of a set by its name.
fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("xml") => "application/xml",
        Some("gz") => "application/gzip",
        Some("rss") => "application/rss+xml",
        Some("html") => "text/html; charset=utf-8",
        Some("atom") => "application/atom+xml",
        Some("json") => "application/json",
        _ => "text/plain; charset=utf-8",
    }
}

/// The kind of storage and the prefix of a URL.
fn scheme_of(url: &str) -> Result<(ObjectStoreScheme, Key), StorageError> {
    let wrong = |problem: String| StorageError::Settings {
        url: url.to_owned(),
        problem,
    };
    let parsed = Url::parse(url).map_err(|error| wrong(error.to_string()))?;
    ObjectStoreScheme::parse(&parsed).map_err(|error| wrong(error.to_string()))
}

/// A client of the storage at `url`, and the prefix of the URL. Keys come from the environment.
pub(super) fn open_plain(url: &str) -> Result<(Arc<dyn ObjectStore>, Key), StorageError> {
    open_store(url, HeaderMap::new())
}

/// The same, which sends `headers` with each request.
fn open_store(url: &str, headers: HeaderMap) -> Result<(Arc<dyn ObjectStore>, Key), StorageError> {
    // Both the client of the storage and the one of the crawl have this provider.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (scheme, prefix) = scheme_of(url)?;
    // Without TLS only where the operator names such an endpoint.
    let options = ClientOptions::new()
        .with_allow_http(true)
        .with_timeout(TIMEOUT)
        .with_connect_timeout(CONNECT_TIMEOUT)
        .with_default_headers(headers);
    let retry = RetryConfig {
        backoff: BackoffConfig::default(),
        max_retries: MAX_RETRIES,
        retry_timeout: RETRY_TIMEOUT,
    };
    let wrong = |problem: String| StorageError::Settings {
        url: url.to_owned(),
        problem,
    };
    let failed = |error: Error| wrong(error.to_string());
    let store: Arc<dyn ObjectStore> = match scheme {
        ObjectStoreScheme::AmazonS3 => Arc::new(
            AmazonS3Builder::from_env()
                .with_url(url)
                .with_client_options(options)
                .with_retry(retry)
                .build()
                .map_err(failed)?,
        ),
        ObjectStoreScheme::GoogleCloudStorage => Arc::new(
            GoogleCloudStorageBuilder::from_env()
                .with_url(url)
                .with_client_options(options)
                .with_retry(retry)
                .build()
                .map_err(failed)?,
        ),
        ObjectStoreScheme::MicrosoftAzure => Arc::new(
            MicrosoftAzureBuilder::from_env()
                .with_url(url)
                .with_client_options(options)
                .with_retry(retry)
                .build()
                .map_err(failed)?,
        ),
        _ => {
            let expected = "expected a URL that begins with s3://, gs:// or az://";
            return Err(wrong(expected.to_owned()));
        }
    };
    Ok((store, prefix))
}
