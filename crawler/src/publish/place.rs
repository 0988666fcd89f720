//! The URL of the output, and the folder in it where the files of the crawled directory belong.

use sitemap_core::{
    Loc,
    partition::{Part, Suffix, folders},
};

use super::{PublishError, PublishRequest};
use crate::config::Layout;

/// The place of an output on the web.
#[derive(Debug)]
pub(super) struct Place {
    /// The URL of the output's root, ending in `/`.
    root_url: String,
    /// The folder of the crawled directory in the output: not empty only when the output is served from
    /// above it and the layout is `in-place`.
    folder: String,
    /// The folder as text of a URL.
    below: String,
}

/// A file by its path in the output and by its URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    /// Path relative to the output, `/` between folders.
    pub(super) name: String,
    /// The URL at which it will be served.
    pub(super) url: String,
}

impl Place {
    /// The place that the settings ask for.
    ///
    /// # Errors
    /// A sitemap there may not list the crawled directory, or there can be no such folder.
    pub(super) fn of(request: &PublishRequest<'_>) -> Result<Self, PublishError> {
        let site = request.site.written();
        let public_url = request.config.public_url.clone();
        let root_url = public_url.unwrap_or_else(|| site.url());
        let at_root = |root_url| Self {
            root_url,
            folder: String::new(),
            below: String::new(),
        };
        let root = Loc::parse(&root_url)
            .map_err(|error| PublishError::Settings(format!("public_url {root_url}: {error}")))?;
        let own = Loc::parse(&site.url()).map_err(|error| {
            PublishError::Settings(format!("the directory {}: {error}", site.directory))
        })?;
        if own.origin() != root.origin() {
            return Ok(at_root(root_url));
        }
        let Some(below) = own.as_str().strip_prefix(root.directory()) else {
            return Err(PublishError::Settings(format!(
                "public_url {root_url} does not cover {}: a sitemap may list only what is in its own directory or below \
                 (R58; sitemaps.org, sitemap file location)",
                site.url()
            )));
        };
        match request.config.layout {
            Layout::Root => Ok(at_root(root_url)),
            Layout::InPlace => {
                let folder = folders(below).ok_or_else(|| {
                    PublishError::Settings(format!(
                        "the directory {} cannot be a folder of the output",
                        site.directory
                    ))
                })?;
                Ok(Self {
                    root_url,
                    folder,
                    below: below.to_owned(),
                })
            }
        }
    }

    /// A file in the root of the output.
    pub(super) fn in_root(&self, name: &str) -> Address {
        Address {
            url: format!("{}{name}", self.root_url),
            name: name.to_owned(),
        }
    }

    /// The file of a part; `base` is the crawled directory.
    pub(super) fn of_part(&self, part: &Part, base: &str, suffix: Suffix) -> Address {
        let (path, url_path) = (part.path(suffix), part.url_path(suffix));
        // The base's own files are beside the index.
        if !path.contains('/') && part.id().directory == base {
            return Address {
                name: path,
                url: format!("{}{url_path}", self.root_url),
            };
        }
        Address {
            name: format!("{}{path}", self.folder),
            url: format!("{}{}{url_path}", self.root_url, self.below),
        }
    }
}
