//! First-level directories whose pages differ from one request to the next: a change of content there is none of the page.

use std::collections::BTreeSet;

use super::trust::first_directory;
use crate::{
    store::{MetaValue, Store, StoreError, names::LASTMOD_RESTLESS},
    url_key::UrlKey,
};

/// The directory of the pages that are in none.
const ROOT: &str = "/";

/// The directories where half of the pages that changed, asked for a second time, had other content again. Stored between
/// crawls; one in which no page changed stays as it was.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Restless(BTreeSet<String>);

impl Restless {
    /// Reads what the state has.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn load(store: &Store) -> Result<Self, StoreError> {
        let text = store.value(LASTMOD_RESTLESS)?.unwrap_or_default();
        Ok(Self(text.lines().map(str::to_owned).collect()))
    }

    /// The directory that `key` belongs to.
    pub(crate) fn directory_of(key: &UrlKey) -> &str {
        first_directory(key).unwrap_or(ROOT)
    }

    /// Notes whether a directory is one of them.
    pub(crate) fn set(&mut self, directory: &str, is_restless: bool) {
        if is_restless {
            self.0.insert(directory.to_owned());
        } else {
            self.0.remove(directory);
        }
    }

    /// Returns whether a change of content dates the page `key`.
    pub(crate) fn dates(&self, key: &UrlKey) -> bool {
        !self.0.contains(Self::directory_of(key))
    }

    /// The value that a commit stores.
    pub(crate) fn value(&self) -> MetaValue {
        let lines = self.0.iter().map(String::as_str).collect::<Vec<_>>();
        let text = (!lines.is_empty()).then(|| lines.join("\n"));
        (LASTMOD_RESTLESS.to_owned(), text)
    }
}
