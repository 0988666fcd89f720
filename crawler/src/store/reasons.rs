//! The input of a report: the reasons of all URLs, and the links of visits.

use super::{Store, StoreError, StoredLinks, walks};
use crate::{page::Reason, url_key::UrlKey};

impl Store {
    /// Shows the reason of each page row, or of each visit that is not published, in no special order.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn each_reason(
        &self,
        of_pages: bool,
        show: &mut dyn FnMut(&UrlKey, Reason),
    ) -> Result<(), StoreError> {
        self.read(|connection| walks::each_reason(connection, of_pages, show))
    }

    /// Shows the URL of each listed visit, and the pages on the way by which it was found first, each once and in no special order.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn each_listed_visit(&self, show: &mut dyn FnMut(&UrlKey)) -> Result<(), StoreError> {
        self.read(|connection| walks::each_listed_visit(connection, show))
    }

    /// Returns whether a set was published, or imported.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn has_pages(&self) -> Result<bool, StoreError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM page)";
        self.read(|connection| connection.query_row(sql, [], |row| row.get(0)))
    }

    /// The first published URLs, at most `most`, whose pages have the bytes of the page `url`. Reads all rows.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn copies_of(&self, url: &UrlKey, most: u32) -> Result<Vec<UrlKey>, StoreError> {
        self.read(|connection| walks::copies_of(connection, url, most))
    }

    /// The links of the visit of `url`.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn visit_links(&self, url: &UrlKey) -> Result<StoredLinks, StoreError> {
        self.read(|connection| walks::visit_links(connection, url))
    }
}
