//! What is doubted, as rows.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::columns::Columns;
use crate::{store::Doubt, url_key::UrlKey};

/// Sets what is doubted of `key`, or forgets it.
pub(super) fn set(
    transaction: &Connection,
    key: &UrlKey,
    doubt: Option<&Doubt>,
) -> rusqlite::Result<()> {
    let Some(doubt) = doubt else {
        return transaction
            .execute("DELETE FROM doubt WHERE url = ?1", [key.as_str()])
            .map(drop);
    };
    let parameters = params![
        key.as_str(),
        doubt.run,
        doubt.at.to_string(),
        doubt.sign,
        format!("{:016x}", doubt.key),
        doubt.example,
        doubt.times,
    ];
    transaction
        .execute(
            "REPLACE INTO doubt (url, run, since, sign, shared, example, times) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            parameters,
        )
        .map(drop)
}

/// What is doubted of `key`.
pub(super) fn of(connection: &Connection, key: &UrlKey) -> rusqlite::Result<Option<Doubt>> {
    let sql = "SELECT url, run, since, sign, shared, example, times FROM doubt WHERE url = ?1";
    let mut statement = connection.prepare(sql)?;
    let doubt = statement.query_row([key.as_str()], read);
    Ok(doubt.optional()?.map(|(_, doubt)| doubt))
}

/// The first `limit` doubts behind `after`.
pub(super) fn portion(
    connection: &Connection,
    after: Option<&UrlKey>,
    limit: usize,
) -> rusqlite::Result<Vec<(UrlKey, Doubt)>> {
    let sql = "SELECT url, run, since, sign, shared, example, times FROM doubt
               WHERE url > ?1 ORDER BY url LIMIT ?2";
    let mut statement = connection.prepare(sql)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = statement.query_map(params![after.map_or("", UrlKey::as_str), limit], read)?;
    rows.collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<(UrlKey, Doubt)> {
    let mut columns = Columns::new(row);
    Ok((
        columns.key()?,
        Doubt {
            run: columns.get()?,
            at: columns.needed_time("time of a doubt")?,
            sign: columns.get()?,
            key: columns.word("fingerprint", |text| u64::from_str_radix(text, 16).ok())?,
            example: columns.get()?,
            times: columns.get()?,
        },
    ))
}
