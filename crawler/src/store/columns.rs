//! The columns of `page` and `visit`, each written once: the tables, the statements and the rows as they are read and
//! written are made from these lists.

use std::collections::BTreeMap;

use jiff::Timestamp;
use sitemap_core::{ChangeFreq, LastMod, Priority};

use super::values::{Binder, Columns, Hex64, Hex128, NotFetched};
use crate::{
    page::{
        BodyEnd, BodyKind, Canonical, CrawlId, DateSource, Promotion, Reason, Refresh, Repeat,
        State, StatedElement, TextNovelty, Via, Warnings,
    },
    url_key::UrlKey,
};

/// A column as the table has it.
pub(super) struct Column {
    pub(super) name: &'static str,
    kind: &'static str,
    comment: &'static str,
}

impl Column {
    /// The line of `CREATE TABLE`.
    pub(super) fn definition(&self) -> String {
        let Self {
            name,
            kind,
            comment,
        } = self;
        let definition = format!("{name} {kind},");
        if comment.is_empty() {
            return format!("  {definition}\n");
        }
        format!("  {definition:<38} -- {comment}\n")
    }
}

macro_rules! columns {
    ($($(#[$doc:meta])* $group:ident { $($name:ident: $type:ty, $kind:literal, $comment:literal;)* })*) => {$(
        $(#[$doc])*
        pub(super) struct $group { $(pub(super) $name: $type,)* }

        impl $group {
            /// The columns in their order.
            pub(super) const COLUMNS: &[Column] = &[$(Column {
                name: stringify!($name),
                kind: $kind,
                comment: $comment,
            },)*];

            /// Binds all of them.
            pub(super) fn put(&self, row: &mut Binder<'_, '_>) -> rusqlite::Result<()> {
                $(row.put(&self.$name)?;)*
                Ok(())
            }

            /// Reads all of them.
            pub(super) fn read(columns: &mut Columns<'_, '_>) -> rusqlite::Result<Self> {
                // Fields are read in the order of the columns.
                Ok(Self { $($name: columns.get::<$type>()?,)* })
            }
        }
    )*};
}

columns! {
    /// How a URL was found, and what became of it.
    #[derive(Debug)]
    Origin {
        state: State, "TEXT NOT NULL", "queued, listed, excluded or failed";
        reason: Reason, "TEXT NOT NULL", "reason code, as in reports";
        depth: u32, "INTEGER NOT NULL", "fewest hops from the start URL";
        via: Via, "TEXT NOT NULL", "how it was found: start, link, redirect, refresh, canonical, alternate, input, file, sitemap, feed, list, earlier";
        found_on: Option<UrlKey>, "TEXT", "on which page, or in which sitemap or feed";
        attempts: u32, "INTEGER NOT NULL", "requests, first included";
        sitemap_lastmod: Option<String>, "TEXT", "lastmod in a sitemap of the site";
        sitemap_is_file: bool, "INTEGER", "1: that is the date of the sitemap file itself";
    }

    /// How the last attempt ended; of a row of `page` the last good answer, where one is known.
    #[derive(Debug, Default)]
    Attempt {
        fetched_at: Option<Timestamp>, "TEXT", "end of the last attempt; all times are UTC";
        not_fetched: Option<NotFetched>, "TEXT", "reason code, when no request was made; 'input': the next four columns are from an input";
        supplied_lastmod: Option<LastMod>, "TEXT", "";
        supplied_changefreq: Option<ChangeFreq>, "TEXT", "";
        supplied_priority: Option<Priority>, "TEXT", "";
        supplied_extensions: Option<String>, "TEXT", "JSON: images, videos, news, alternates, custom, fields";
        error: Option<String>, "TEXT", "error, when no answer came";
        status: Option<u16>, "INTEGER", "HTTP status; NULL: no answer, and the columns below are NULL";
        content_type: Option<String>, "TEXT", "";
        kind: Option<BodyKind>, "TEXT", "page or document; NULL: anything else";
        body_end: Option<BodyEnd>, "TEXT", "complete, too-large, cut-short, 'undecodable: ...'; NULL: not read";
        body_bytes: Option<u64>, "INTEGER", "decoded";
        duration_ms: Option<u32>, "INTEGER", "from the request to the end of the body; NULL: not measured";
        content_hash: Option<Hex128>, "TEXT", "of the main content: XXH3, 128 bits, hexadecimal";
        hash_version: Option<u32>, "INTEGER", "version of the algorithm of content_hash";
        text_hash: Option<i64>, "INTEGER", "of all its text: XXH3, 64 bits; 0: too little of its own to be a copy";
        text_alike: Option<i64>, "INTEGER", "the same but for times and ids";
        text_blocks: Option<Vec<u8>>, "BLOB", "blocks of its text, 7 bytes each: hash, hash of numbers, length; at most 256";
        repeat: Option<Repeat>, "TEXT", "nothing-new, not-found-page, 'duplicate-of URL'; NULL: repeats nothing";
        body_hash: Option<Hex128>, "TEXT", "of the decoded body: XXH3, 128 bits, hexadecimal";
        last_modified: Option<Timestamp>, "TEXT", "";
        date: Option<Timestamp>, "TEXT", "the server's clock";
        etag: Option<String>, "TEXT", "";
        noindex: bool, "INTEGER", "1 or NULL, like the other flags";
        nofollow: bool, "INTEGER", "";
        noimageindex: bool, "INTEGER", "";
        unavailable_after: Option<Timestamp>, "TEXT", "";
        robots_by_header: bool, "INTEGER", "noindex and the like came with a header";
        canonical: Option<Canonical>, "TEXT", "itself, conflicting, or the other URL; NULL: absent";
        refresh: Option<Refresh>, "TEXT", "meta refresh: seconds, a space, the URL";
        location: Option<UrlKey>, "TEXT", "target of a redirect";
        selected_lastmod: Option<String>, "TEXT", "date that a page rule found";
        selected_values: Option<BTreeMap<String, String>>, "TEXT", "values for custom elements, a JSON object by name";
        excluded_by_page_rule: bool, "INTEGER", "";
        json_ld_modified: Option<String>, "TEXT", "dates that the page states, as precise as it does: in structured data,";
        meta_modified: Option<String>, "TEXT", "in a meta or microdata,";
        time_modified: Option<String>, "TEXT", "in a time element that is called the date of an update;";
        published: Option<String>, "TEXT", "the earliest date of publication";
        title: Option<String>, "TEXT", "";
        images: Option<Vec<u8>>, "BLOB", "as link.links, without texts; NULL: not looked for";
        alternates: Option<Vec<u8>>, "BLOB", "versions in other languages: the same, each URL after its code and a space";
        videos: Option<Vec<StatedElement>>, "TEXT", "JSON: of each video the values of its elements; NULL: not looked for";
        news: Option<Vec<StatedElement>>, "TEXT", "the same of the article that it is";
        feeds: Option<Vec<u8>>, "BLOB", "feeds that it names; as link.links";
        read_as: Option<Hex64>, "TEXT", "fingerprint of the settings that it was read with, hexadecimal";
        warnings: Option<Warnings>, "TEXT", "codes, separated by commas";
        confirmed: bool, "INTEGER", "of a visit: the answer is a 304; of a page: a 304 confirmed it";
    }

    /// Columns of `page` only.
    #[derive(Debug)]
    Published {
        crawl: CrawlId, "INTEGER NOT NULL", "number of the crawl that wrote it last; 0: only an imported set names it";
        first_seen: Timestamp, "TEXT NOT NULL", "when a publish wrote it first";
        last_seen: Timestamp, "TEXT NOT NULL", "when a publish wrote it last, or found it unlisted";
        kept: Option<Reason>, "TEXT", "listed by its last good answer; the reason code of the last attempt";
        kept_error: Option<String>, "TEXT", "error of that attempt";
        failing_since: Option<Timestamp>, "TEXT", "first failed attempt since the last good answer";
        gone_since: Option<Timestamp>, "TEXT", "first 404 since then";
        lastmod: Option<String>, "TEXT", "as published; it moves only with the content";
        source: Option<DateSource>, "TEXT", "where lastmod came from: rule, history, json-ld, meta, sitemap, header, time-element, input";
        dated_hash: Option<Hex128>, "TEXT", "content that lastmod belongs to, as content_hash; NULL: nothing of these is known";
        dated_hash_version: Option<u32>, "INTEGER", "as hash_version; 1000: hash of the ETag of a document";
        last_modified_seconds: Option<i64>, "INTEGER", "last Last-Modified with this content, seconds since 1970";
        since_seconds: Option<i64>, "INTEGER", "when this content was fetched first and last, seconds since 1970";
        seen_seconds: Option<i64>, "INTEGER", "";
        stated_json_ld: Option<String>, "TEXT", "the dates that were stated when it was fetched last";
        stated_meta: Option<String>, "TEXT", "";
        stated_sitemap: Option<String>, "TEXT", "";
        stated_time_element: Option<String>, "TEXT", "";
    }

    /// Columns of `visit` only.
    #[derive(Debug)]
    Queue {
        sequence: u64, "INTEGER NOT NULL", "place in the queue; 0: never waited";
        hops: u8, "INTEGER NOT NULL", "redirects in a row that led to it";
        is_orphan: bool, "INTEGER", "1: a sitemap, a feed or a list names it, and no page leads to it";
        distance: u16, "INTEGER NOT NULL", "pages in a row that said nothing new, on the shortest way to it";
        novelty: Option<TextNovelty>, "TEXT", "new, copy or nothing: what the page has; NULL: not compared";
        led_to: u32, "INTEGER NOT NULL", "URLs that it led to, and that no page led to before";
        is_declared: bool, "INTEGER", "1: a sitemap of the site, or a list of the user's, names it";
        promotion: Option<Promotion>, "TEXT", "copied to its page row; JSON: that row when the crawl began";
    }
}

impl Attempt {
    /// Reads all columns, but for those of the answer where there was none.
    pub(super) fn of_row(columns: &mut Columns<'_, '_>) -> rusqlite::Result<Self> {
        let status = Self::COLUMNS
            .iter()
            .position(|column| column.name == "status");
        let answer = status.map_or(Self::COLUMNS.len(), |status| status + 1);
        // The last one, `confirmed`, is of the attempt.
        columns.nulls_after(answer, Self::COLUMNS.len() - 1 - answer)?;
        Self::read(columns)
    }
}

/// The columns of groups with `before` before each name, separated by commas.
pub(super) fn list(before: &str, groups: &[&[Column]]) -> String {
    let columns = groups.iter().copied().flatten();
    let names = columns.map(|column| format!("{before}{}", column.name));
    names.collect::<Vec<_>>().join(", ")
}

/// `INSERT` of a row of `table`, whose parameters are `url`, the columns of `groups`, and `links`.
pub(super) fn insert(table: &str, groups: &[&[Column]]) -> String {
    let count = 2 + groups.iter().map(|group| group.len()).sum::<usize>();
    format!(
        "INSERT INTO {table} (url, {}, links) VALUES ({})",
        list("", groups),
        vec!["?"; count].join(", "),
    )
}
