//! The columns of `page` that a record fills, in the order in which it does. What is written, bound and skipped is named
//! and counted from here.

/// How the URL was found, and how the last attempt ended.
pub(super) const FOUND: [&str; 12] = [
    "url",
    "run",
    "state",
    "reason",
    "depth",
    "via",
    "found_on",
    "attempts",
    "fetched_at",
    "not_fetched",
    "error",
    "outlinks",
];

/// What was answered; the first column says in which run.
pub(super) const ANSWER: [&str; 36] = [
    "answer_run",
    "status",
    "content_type",
    "kind",
    "body_end",
    "body_bytes",
    "content_hash",
    "hash_version",
    "last_modified",
    "date",
    "etag",
    "noindex",
    "nofollow",
    "noimageindex",
    "unavailable_after",
    "canonical_is",
    "canonical",
    "refresh_delay",
    "refresh_url",
    "location",
    "selected_lastmod",
    "excluded_by_page_rule",
    "warnings",
    "title",
    "images",
    "alternates",
    "selected_values",
    "feeds",
    "robots_by_header",
    "read_as",
    "body_hash",
    "json_ld_modified",
    "meta_modified",
    "time_modified",
    "published",
    "likeness",
];

/// What an input of the user's says.
pub(super) const INPUT: [&str; 4] = [
    "given_lastmod",
    "given_changefreq",
    "given_priority",
    "given_extensions",
];

/// By whose answer the record counts, and what a sitemap of the site says of it.
pub(super) const BASIS: [&str; 6] = [
    "confirmed",
    "kept",
    "failing_since",
    "gone_since",
    "sitemap_lastmod",
    "sitemap_is_file",
];

/// How many parameters of [`replace`] are bound with the answer, with what an input says, and with all of it.
pub(super) const WITH_ANSWER: usize = FOUND.len() + ANSWER.len();
pub(super) const WITH_INPUT: usize = WITH_ANSWER + INPUT.len();
pub(super) const PARAMETERS: usize = WITH_INPUT + BASIS.len();

/// All columns of `page`, and of the tables that have rows of it too, as they are called in `table`.
pub(super) fn of(table: &str) -> String {
    let columns = [&FOUND[..], &ANSWER, &INPUT, &BASIS, &["listed_before"]].concat();
    let columns = columns.iter().map(|column| format!("{table}.{column}"));
    columns.collect::<Vec<_>>().join(", ")
}

/// The same columns by their names alone.
pub(super) fn all() -> String {
    [&FOUND[..], &ANSWER, &INPUT, &BASIS, &["listed_before"]]
        .concat()
        .join(", ")
}

/// The statement that stores a record; its parameters are the columns, in their order. Of a record of the same run, how
/// the URL was found, whether it was listed before and the smaller depth stay; links that are not new stay in any case.
pub(super) fn replace() -> String {
    let columns = [&FOUND[..], &ANSWER, &INPUT, &BASIS].concat();
    let values: Vec<String> = columns.iter().map(|column| value(column)).collect();
    format!(
        "REPLACE INTO page ({}, listed_before)
         SELECT {}, iif(old.run = :run, old.listed_before, NULL)
         FROM (SELECT 1) LEFT JOIN page AS old ON old.url = :url",
        columns.join(", "),
        values.join(", ")
    )
}

/// What a column gets, when `old` is the row that stood there.
fn value(column: &str) -> String {
    match column {
        "depth" => "iif(old.run = :run, min(old.depth, :depth), :depth)".to_owned(),
        "via" | "found_on" => format!("iif(old.run = :run, old.{column}, :{column})"),
        "outlinks" => "ifnull(:outlinks, old.outlinks)".to_owned(),
        "sitemap_lastmod" | "sitemap_is_file" => format!(
            "iif(old.run = :run AND old.sitemap_lastmod IS NOT NULL, old.{column}, :{column})"
        ),
        _ => format!(":{column}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sqlite::{SqliteStore, record::select_records};

    #[test]
    fn parameters_are_the_columns_in_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("state.db")).unwrap();
        let statement = store.connection.prepare(&replace()).unwrap();
        let bound: Vec<_> = (1..=statement.parameter_count())
            .map(|position| statement.parameter_name(position).unwrap())
            .collect();
        let expected: Vec<String> = [&FOUND[..], &ANSWER, &INPUT, &BASIS]
            .concat()
            .iter()
            .map(|column| format!(":{column}"))
            .collect();
        assert_eq!(bound, expected);
        assert_eq!(bound.len(), PARAMETERS);
    }

    #[test]
    fn all_columns_of_a_page_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("state.db")).unwrap();
        let mut named: Vec<String> = all().split(", ").map(str::to_owned).collect();
        named.sort();
        for table in ["page", "stood", "put_off"] {
            let sql = format!("SELECT name FROM pragma_table_info('{table}') ORDER BY name");
            let mut statement = store.connection.prepare(&sql).unwrap();
            let columns = statement.query_map([], |row| row.get(0)).unwrap();
            let columns: Vec<String> = columns.map(Result::unwrap).collect();
            assert_eq!(named, columns, "{table}");
        }
        let of_one: Vec<String> = all().split(", ").map(|name| format!("x.{name}")).collect();
        assert_eq!(of("x"), of_one.join(", "));
    }

    #[test]
    fn what_is_read_is_what_is_written() {
        let sql = select_records!("");
        let read = sql.strip_prefix("SELECT ").unwrap();
        let (read, _) = read.split_once(" FROM ").unwrap();
        let read: Vec<&str> = read
            .split(", ")
            .map(|column| column.trim_start_matches("page."))
            .collect();
        // The state follows from the reason, and links are asked for by themselves.
        let found = FOUND
            .into_iter()
            .filter(|column| !["state", "outlinks"].contains(column));
        let written: Vec<&str> = found.chain(INPUT).chain(BASIS).chain(ANSWER).collect();
        assert_eq!(read, written);
    }
}
