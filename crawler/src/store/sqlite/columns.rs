//! Parameters and columns of a statement, one after the other, so that writing and reading follow
//! the order of the SQL text and nobody counts positions. Knows no table.

use jiff::Timestamp;
use rusqlite::{
    Row, Statement, ToSql,
    types::{FromSql, Type},
};

use crate::url_key::UrlKey;

/// Why a column cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum ColumnError {
    /// A word that nothing of ours is called.
    #[error("unknown {what} `{word}`")]
    Word {
        /// Which kind of word was expected.
        what: &'static str,
        /// What stands there.
        word: String,
    },
    /// Nothing where something must be.
    #[error("there is no {what}")]
    Missing {
        /// What must be there.
        what: &'static str,
    },
    /// One of two columns that only mean something together.
    #[error("there is a {what} without the other half of it")]
    Half {
        /// What the two make.
        what: &'static str,
    },
}

/// Binds one parameter after the other.
pub(super) struct Binder<'a, 'c> {
    statement: &'a mut Statement<'c>,
    position: usize,
}

impl<'a, 'c> Binder<'a, 'c> {
    /// Begins with the first parameter of `statement`.
    pub(super) fn new(statement: &'a mut Statement<'c>) -> Self {
        Self {
            statement,
            position: 0,
        }
    }

    /// How many parameters are bound.
    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// Binds the next parameter.
    pub(super) fn put(&mut self, value: impl ToSql) -> rusqlite::Result<()> {
        self.position += 1;
        self.statement.raw_bind_parameter(self.position, value)
    }

    /// Binds 1 or nothing.
    pub(super) fn flag(&mut self, set: bool) -> rusqlite::Result<()> {
        self.put(set.then_some(1))
    }
}

/// Reads one column after the other.
pub(super) struct Columns<'a, 'r> {
    row: &'a Row<'r>,
    position: usize,
}

impl<'a, 'r> Columns<'a, 'r> {
    /// Begins with the first column of `row`.
    pub(super) fn new(row: &'a Row<'r>) -> Self {
        Self { row, position: 0 }
    }

    /// The next column as it is.
    pub(super) fn get<T: FromSql>(&mut self) -> rusqlite::Result<T> {
        let position = self.position;
        self.position += 1;
        self.row.get(position)
    }

    /// Leaves out the next columns.
    pub(super) fn skip(&mut self, columns: usize) {
        self.position += columns;
    }

    /// Whether it is 1.
    pub(super) fn flag(&mut self) -> rusqlite::Result<bool> {
        Ok(self.get::<Option<i64>>()? == Some(1))
    }

    fn text(&mut self) -> rusqlite::Result<Option<&'a str>> {
        let value = self.row.get_ref(self.position)?;
        self.position += 1;
        value.as_str_or_null().map_err(|error| self.failure(error))
    }

    fn optional<T, E>(
        &mut self,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> rusqlite::Result<Option<T>>
    where
        E: std::error::Error + Send + Sync + 'static,
    {
        self.text()?
            .map(parse)
            .transpose()
            .map_err(|error| self.failure(error))
    }

    /// A key or nothing.
    pub(super) fn optional_key(&mut self) -> rusqlite::Result<Option<UrlKey>> {
        self.optional(UrlKey::from_normalised)
    }

    /// A time or nothing.
    pub(super) fn time(&mut self) -> rusqlite::Result<Option<Timestamp>> {
        self.optional(str::parse)
    }

    /// A time that must be there.
    pub(super) fn needed_time(&mut self, what: &'static str) -> rusqlite::Result<Timestamp> {
        self.time()?
            .ok_or_else(|| self.failure(ColumnError::Missing { what }))
    }

    /// Text that `meaning` understands, or nothing.
    pub(super) fn optional_word<T>(
        &mut self,
        what: &'static str,
        meaning: impl FnOnce(&str) -> Option<T>,
    ) -> rusqlite::Result<Option<T>> {
        self.optional(|word| {
            meaning(word).ok_or_else(|| ColumnError::Word {
                what,
                word: word.to_owned(),
            })
        })
    }

    /// A key that must be there.
    pub(super) fn key(&mut self) -> rusqlite::Result<UrlKey> {
        self.optional_key()?
            .ok_or_else(|| self.failure(ColumnError::Missing { what: "URL" }))
    }

    /// Text that must be there and that `meaning` understands.
    pub(super) fn word<T>(
        &mut self,
        what: &'static str,
        meaning: impl FnOnce(&str) -> Option<T>,
    ) -> rusqlite::Result<T> {
        self.optional_word(what, meaning)?
            .ok_or_else(|| self.failure(ColumnError::Missing { what }))
    }

    /// Bytes that must be there and that `meaning` understands.
    pub(super) fn bytes<T, E>(
        &mut self,
        meaning: impl FnOnce(&[u8]) -> Result<T, E>,
    ) -> rusqlite::Result<T>
    where
        E: std::error::Error + Send + Sync + 'static,
    {
        let value = self.row.get_ref(self.position)?;
        self.position += 1;
        let bytes = value.as_blob().map_err(|error| self.failure(error))?;
        meaning(bytes).map_err(|error| self.failure(error))
    }

    /// Bytes that `meaning` understands, or nothing.
    pub(super) fn optional_bytes<T, E>(
        &mut self,
        meaning: impl FnOnce(&[u8]) -> Result<T, E>,
    ) -> rusqlite::Result<Option<T>>
    where
        E: std::error::Error + Send + Sync + 'static,
    {
        let value = self.row.get_ref(self.position)?;
        self.position += 1;
        let bytes = value
            .as_blob_or_null()
            .map_err(|error| self.failure(error))?;
        bytes
            .map(meaning)
            .transpose()
            .map_err(|error| self.failure(error))
    }

    /// The column that was read last says something that cannot be.
    pub(super) fn failure(
        &self,
        error: impl std::error::Error + Send + Sync + 'static,
    ) -> rusqlite::Error {
        rusqlite::Error::FromSqlConversionFailure(
            self.position.saturating_sub(1),
            Type::Text,
            Box::new(error),
        )
    }
}
