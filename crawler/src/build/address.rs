//! The URL of a file in a folder, and the URLs in its pages that are about files: `index.html` is served as
//! its folder, and many hosts serve `about.html` as `/about`.

use std::{ffi::OsStr, path::Path};

use crate::{
    config::HtmlSuffix,
    page::{Canonical, PageFacts},
    site::Site,
    url_key::{Identity, UrlKey, percent},
};

/// The endings that hosts leave away at the end of a path.
const SUFFIX: &str = ".html";

/// The addresses of a site that is read from files.
#[derive(Debug, Clone, Copy)]
pub(super) struct Addresses<'a> {
    pub(super) site: &'a Site,
    pub(super) identity: &'a Identity,
    pub(super) suffix: HtmlSuffix,
}

impl Addresses<'_> {
    /// The URL of the file `name` in `folder`, whose URL is `folder_url`; `None` when the name cannot be in
    /// a URL.
    pub(super) fn of_file(&self, folder: &Path, folder_url: &str, name: &OsStr) -> Option<UrlKey> {
        let is_short = self.suffix == HtmlSuffix::Drop && !has_twin(folder, name);
        let name = percent::segment(name.as_encoded_bytes());
        let name = name
            .strip_suffix(SUFFIX)
            .filter(|short| is_short && !short.is_empty())
            .unwrap_or(&name);
        self.identity.parse(&format!("{folder_url}{name}")).ok()
    }

    /// Replaces the URL of a file in the facts of a page by the URL at which the file is served: it is the same page.
    pub(super) fn name_pages(&self, url: &UrlKey, facts: &mut PageFacts) {
        if let Canonical::Other(target) = &facts.canonical
            && let Some(served) = self.served(target)
        {
            facts.canonical = if served == *url {
                Canonical::Itself
            } else {
                Canonical::Other(served)
            };
        }
        if let Some(refresh) = &mut facts.refresh
            && let Some(served) = self.served(&refresh.target)
        {
            refresh.target = served;
        }
        if let Some(versions) = &mut facts.alternates {
            for version in &mut *versions {
                if let Some(served) = self.served(&version.target) {
                    version.target = served;
                }
            }
            versions.sort_unstable();
            versions.dedup();
        }
    }

    /// The URL without suffix that the page at `url` names as its own, when that is trusted.
    pub(super) fn short_of<'f>(&self, url: &UrlKey, facts: &'f PageFacts) -> Option<&'f UrlKey> {
        let Canonical::Other(target) = &facts.canonical else {
            return None;
        };
        let is_asked = self.suffix == HtmlSuffix::Auto;
        (is_asked && self.without_suffix(url).as_ref() == Some(target)).then_some(target)
    }

    /// The URL at which the file that `key` names is served, when that is another one.
    fn served(&self, key: &UrlKey) -> Option<UrlKey> {
        let path = key.path();
        if !self.site.contains(key) || key.path_and_query() != path {
            return None;
        }
        let (folder, name) = path.rsplit_once('/')?;
        if is_index_name(OsStr::new(name)) {
            return self.at(key, &format!("{folder}/"));
        }
        match self.suffix {
            HtmlSuffix::Drop => self.without_suffix(key),
            HtmlSuffix::Auto | HtmlSuffix::Keep => None,
        }
    }

    /// The URL of a file without its suffix.
    fn without_suffix(&self, key: &UrlKey) -> Option<UrlKey> {
        let path = key.path();
        let short = path.strip_suffix(SUFFIX)?;
        let is_plain = key.path_and_query() == path && !short.ends_with('/');
        is_plain.then(|| self.at(key, short)).flatten()
    }

    /// The URL of a path beside `key`.
    fn at(&self, key: &UrlKey, path: &str) -> Option<UrlKey> {
        let url = format!("{}{path}", key.origin());
        self.identity.parse(&url).ok()
    }
}

/// Returns whether a file is beside another one, whose name is the same without the suffix: hosts answer with
/// that one when they are asked without it.
pub(super) fn has_twin(folder: &Path, name: &OsStr) -> bool {
    let name = Path::new(name);
    name.file_stem()
        .is_some_and(|stem| folder.join(stem).is_file())
}

/// Returns whether a file of this name is the page of its folder.
pub(super) fn is_index_name(name: &OsStr) -> bool {
    name == "index.html" || name == "index.htm"
}
