//! A prefix of a bucket: its requests, one by one. Nothing here knows what a set is.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use futures_util::TryStreamExt as _;
use globset::{Glob, GlobMatcher};
use object_store::{
    Attribute, Attributes, BackoffConfig, ClientOptions, GetOptions, ObjectStore,
    ObjectStoreExt as _, ObjectStoreScheme, PutMode, PutOptions, RetryConfig, aws::AmazonS3Builder,
    azure::MicrosoftAzureBuilder, gcp::GoogleCloudStorageBuilder, path::Path as Key,
    prefix::PrefixStore,
};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use url::Url;

use super::{StorageError, record::Sent};
use crate::config::{ObjectField, ObjectHeader, PublishConfig};

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
    /// Its content is the one that arpent sent, as far as its metadata has it.
    pub(super) sent: Sent,
    /// It belongs to the site.
    pub(super) is_ours: bool,
}

/// The condition of a PUT.
#[derive(Debug)]
pub(super) enum Expected {
    /// There is no such object.
    Nothing,
    /// The object is the one that was sent or found.
    Object(Sent),
}

/// The result of a PUT.
#[derive(Debug)]
pub(super) enum Put {
    /// The object is there.
    Done(Sent),
    /// The condition is not true any more.
    Refused,
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
        // Both the client of the storage and the one of the crawl have this provider.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let parsed = Url::parse(url).map_err(|error| settings(error.to_string()))?;
        let (scheme, prefix) =
            ObjectStoreScheme::parse(&parsed).map_err(|error| settings(error.to_string()))?;
        let acl = |name: &'static str| {
            let mut headers = HeaderMap::new();
            if let Some(acl) = &config.object_acl {
                let value = HeaderValue::from_str(acl);
                let value = value.map_err(|error| settings(format!("object_acl: {error}")))?;
                headers.insert(HeaderName::from_static(name), value);
            }
            Ok::<_, StorageError>(headers)
        };
        let failed = |error: object_store::Error| settings(error.to_string());
        let open = |headers: HeaderMap| -> Result<Arc<dyn ObjectStore>, StorageError> {
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
            Ok(match scheme {
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
                    return Err(settings(
                        "expected a URL that begins with s3://, gs:// or az://".to_owned(),
                    ));
                }
            })
        };
        let writes = open(match scheme {
            ObjectStoreScheme::AmazonS3 => acl("x-amz-acl")?,
            ObjectStoreScheme::GoogleCloudStorage => acl("x-goog-acl")?,
            _ if config.object_acl.is_some() => {
                return Err(settings(
                    "object_acl: Azure has no ACL of objects; set the access of the container"
                        .to_owned(),
                ));
            }
            _ => HeaderMap::new(),
        })?;
        let reads = open(HeaderMap::new())?;
        Self::with_stores([writes, reads], &prefix, (url, site), config)
    }

    /// A bucket by its clients, the first for PUTs.
    pub(super) fn with_stores(
        stores: [Arc<dyn ObjectStore>; 2],
        prefix: &Key,
        (url, site): (&str, &str),
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
        })
    }

    /// The URL of an object, for messages.
    pub(super) fn url_of(&self, name: &str) -> String {
        format!("{}/{name}", self.url)
    }

    /// The `ETag` of every object by its name; empty where the storage has none.
    pub(super) async fn list(&self) -> Result<BTreeMap<String, String>, StorageError> {
        let objects = self.reads.list(None).try_collect::<Vec<_>>().await;
        let objects = objects.map_err(|error| self.failed("list", "", error))?;
        let named = objects.into_iter();
        Ok(named
            .map(|object| {
                (
                    object.location.to_string(),
                    object.e_tag.unwrap_or_default(),
                )
            })
            .collect())
    }

    /// The metadata of an object; `None`: there is none.
    pub(super) async fn head(&self, name: &str) -> Result<Option<FoundObject>, StorageError> {
        let options = GetOptions {
            head: true,
            ..GetOptions::default()
        };
        let found = match self.reads.get_opts(&Key::from(name), options).await {
            Ok(found) => found,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(self.failed("look up", name, error)),
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
                unnamed_since: None,
            },
        }))
    }

    /// The content of an object; `None`: there is none.
    pub(super) async fn get(&self, name: &str) -> Result<Option<(Vec<u8>, Sent)>, StorageError> {
        let found = match self.reads.get(&Key::from(name)).await {
            Ok(found) => found,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(self.failed("fetch", name, error)),
        };
        let sent = Sent {
            etag: found.meta.e_tag.clone(),
            version: found.meta.version.clone(),
            ..Sent::default()
        };
        let content = found.bytes().await;
        let content = content.map_err(|error| self.failed("fetch", name, error))?;
        Ok(Some((content.to_vec(), sent)))
    }

    /// Sends an object, if the condition is true.
    pub(super) async fn put(
        &self,
        (name, content): (&str, Vec<u8>),
        sha256: &str,
        expected: &Expected,
    ) -> Result<Put, StorageError> {
        let mode = match expected {
            Expected::Nothing => PutMode::Create,
            Expected::Object(sent) => PutMode::Update(sent.update()),
        };
        let options = |mode| PutOptions {
            mode,
            attributes: self.attributes(name, sha256),
            ..PutOptions::default()
        };
        let key = Key::from(name);
        let put = self
            .writes
            .put_opts(&key, content.clone().into(), options(mode));
        let result = match put.await {
            // A storage without conditions.
            Err(
                object_store::Error::NotImplemented { .. }
                | object_store::Error::NotSupported { .. },
            ) => {
                let put = self
                    .writes
                    .put_opts(&key, content.into(), options(PutMode::Overwrite));
                put.await
            }
            result => result,
        };
        match result {
            Ok(result) => Ok(Put::Done(Sent {
                sha256: sha256.to_owned(),
                etag: result.e_tag,
                version: result.version,
                unnamed_since: None,
            })),
            Err(
                object_store::Error::AlreadyExists { .. }
                | object_store::Error::Precondition { .. }
                | object_store::Error::NotFound { .. },
            ) => Ok(Put::Refused),
            Err(error) => Err(self.failed("send", name, error)),
        }
    }

    /// Copies an object inside the bucket.
    pub(super) async fn copy(&self, from: &str, to: &str) -> Result<(), StorageError> {
        let copied = self.reads.copy(&Key::from(from), &Key::from(to)).await;
        copied.map_err(|error| self.failed("copy", from, error))
    }

    /// Removes an object.
    pub(super) async fn remove(&self, name: &str) -> Result<(), StorageError> {
        match self.reads.delete(&Key::from(name)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.failed("remove", name, error)),
        }
    }

    /// The headers and the metadata of an object.
    fn attributes(&self, name: &str, sha256: &str) -> Attributes {
        let mut attributes = Attributes::new();
        attributes.insert(Attribute::ContentType, content_type(name).into());
        attributes.insert(Attribute::CacheControl, CACHE_CONTROL.into());
        for (glob, header) in &self.headers {
            if glob.is_match(name) {
                let attribute = match header.field {
                    ObjectField::CacheControl => Attribute::CacheControl,
                    ObjectField::ContentDisposition => Attribute::ContentDisposition,
                    ObjectField::ContentEncoding => Attribute::ContentEncoding,
                    ObjectField::ContentLanguage => Attribute::ContentLanguage,
                    ObjectField::ContentType => Attribute::ContentType,
                };
                attributes.insert(attribute, header.value.clone().into());
            }
        }
        for (key, value) in [(SHA256, sha256), (SITE, &self.site)] {
            attributes.insert(Attribute::Metadata(key.into()), value.to_owned().into());
        }
        attributes
    }

    fn failed(
        &self,
        action: &'static str,
        name: &str,
        source: object_store::Error,
    ) -> StorageError {
        StorageError::Failed {
            action,
            url: self.url_of(name),
            source: source.into(),
        }
    }
}

/// The media type of a file of a set by its name.
fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("xml") => "application/xml",
        Some("gz") => "application/gzip",
        Some("rss") => "application/rss+xml",
        Some("atom") => "application/atom+xml",
        Some("json") => "application/json",
        _ => "text/plain; charset=utf-8",
    }
}
