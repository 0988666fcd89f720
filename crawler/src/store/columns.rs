//! The rows of the tables: each struct of the state names its columns once, and the tables, the statements and the rows as
//! they are read and written are made from these lists.

use super::{
    StoredSession,
    values::{Binder, Columns, OutcomeWord, failure, unknown},
};
use crate::page::{
    ClosedPattern, Directives, LedgerDates, LedgerEntry, Outcome, Page, PageFacts, PageRecord,
    PageText, Reading, Reason, RenderedContent, SitemapDate, StatedDates, Supplied, Visit,
};

/// A column as the table has it.
pub(super) struct Column {
    pub(super) name: &'static str,
    kind: &'static str,
    comment: &'static str,
}

/// Columns that are written and read together, in their order.
pub(super) trait ColumnGroup: Sized {
    /// The number of the columns.
    const WIDTH: usize;

    /// Adds the columns to a list.
    fn columns(list: &mut Vec<Column>);

    /// Binds all of them.
    fn put(&self, row: &mut Binder<'_, '_>) -> rusqlite::Result<()>;

    /// Reads all of them.
    fn get(row: &mut Columns<'_, '_>) -> rusqlite::Result<Self>;
}

/// Nothing is `NULL` in all columns; something has a value in the first.
impl<R: ColumnGroup> ColumnGroup for Option<R> {
    const WIDTH: usize = R::WIDTH;

    fn columns(list: &mut Vec<Column>) {
        R::columns(list);
    }

    fn put(&self, row: &mut Binder<'_, '_>) -> rusqlite::Result<()> {
        if let Some(value) = self {
            return value.put(row);
        }
        row.skip(R::WIDTH);
        Ok(())
    }

    fn get(row: &mut Columns<'_, '_>) -> rusqlite::Result<Self> {
        if row.is_null()? {
            row.skip(R::WIDTH);
            return Ok(None);
        }
        R::get(row).map(Some)
    }
}

impl<R: ColumnGroup> ColumnGroup for Box<R> {
    const WIDTH: usize = R::WIDTH;

    fn columns(list: &mut Vec<Column>) {
        R::columns(list);
    }

    fn put(&self, row: &mut Binder<'_, '_>) -> rusqlite::Result<()> {
        R::put(self, row)
    }

    fn get(row: &mut Columns<'_, '_>) -> rusqlite::Result<Self> {
        R::get(row).map(Self::new)
    }
}

/// Makes a struct the row of its fields. A field is a column (its name, its type, its comment), or a row in angle brackets.
/// Fields that are not stored come from the value after `..`.
macro_rules! row {
    ($($row:ident { $($field:ident: $(<$part:ty>)? $($name:ident $kind:literal $comment:literal)?;)* $(..$rest:expr)? })*) => {$(
        impl ColumnGroup for $row {
            const WIDTH: usize = 0 $($(+ <$part as ColumnGroup>::WIDTH)? $(+ { let _ = stringify!($name); 1 })?)*;

            fn columns(list: &mut Vec<Column>) {
                $(
                    $(<$part as ColumnGroup>::columns(list);)?
                    $(list.push(Column { name: stringify!($name), kind: $kind, comment: $comment });)?
                )*
            }

            fn put(&self, row: &mut Binder<'_, '_>) -> rusqlite::Result<()> {
                $(
                    $(<$part as ColumnGroup>::put(&self.$field, row)?;)?
                    $({ let _ = stringify!($name); row.put(&self.$field)?; })?
                )*
                Ok(())
            }

            fn get(row: &mut Columns<'_, '_>) -> rusqlite::Result<Self> {
                // Fields are read in the order of the columns.
                Ok(Self {
                    $($field: {
                        $(<$part as ColumnGroup>::get(row)?)?
                        $({ let _ = stringify!($name); row.get()? })?
                    },)*
                    $(..$rest)?
                })
            }
        }
    )*};
}

row! {
    PageRecord {
        reason: <Reason>;
        depth: depth "INTEGER NOT NULL" "fewest hops from the start URL";
        via: via "TEXT NOT NULL" "how it was found: start, link, redirect, refresh, canonical, alternate, input, file, sitemap, feed, list, earlier";
        found_on: found_on "TEXT" "on which page, or in which sitemap or feed";
        attempts: attempts "INTEGER NOT NULL" "requests, first included";
        sitemap_lastmod: <Option<SitemapDate>>;
        fetched_at: fetched_at "TEXT" "end of the last attempt; all times are UTC";
        basis: basis "TEXT" "NULL: the answer is that of the last attempt; confirmed: a 304 confirmed it; else reason code and error of the last attempt, and it is the last good answer";
        failing_since: failing_since "TEXT" "first failed attempt since the last good answer";
        gone_since: gone_since "TEXT" "first 404 since then";
        outcome: <Option<Outcome>>;
    }

    SitemapDate {
        lastmod: sitemap_lastmod "TEXT" "lastmod in a sitemap of the site";
        is_of_file: sitemap_is_file "INTEGER" "1: that is the date of the sitemap file itself";
    }

    PageFacts {
        status: status "INTEGER" "HTTP status; NULL: no answer, and the columns below are NULL";
        content_type: content_type "TEXT" "";
        kind: kind "TEXT" "page or document; NULL: anything else";
        end: body_end "TEXT" "complete, too-large, cut-short, 'undecodable: ...'; NULL: not read";
        body_bytes: body_bytes "INTEGER" "decoded";
        duration: duration_ms "INTEGER" "from the request to the end of the body; NULL: not measured";
        content_hash: content_hash "TEXT" "of the main content: version of the algorithm, a colon, XXH3 in 128 bits, hexadecimal";
        shown: <Option<RenderedContent>>;
        text: <Option<Box<PageText>>>;
        repeat: repeat "TEXT" "nothing-new, not-found-page, 'duplicate-of URL'; NULL: repeats nothing";
        body_hash: body_hash "TEXT" "of the decoded body: XXH3, 128 bits, hexadecimal";
        last_modified: last_modified "TEXT" "";
        date: date "TEXT" "the server's clock";
        etag: etag "TEXT" "";
        directives: <Directives>;
        robots_by_header: robots_by_header "INTEGER" "noindex and the like came with a header";
        canonical: canonical "TEXT" "itself, conflicting, or the other URL; NULL: absent";
        refresh: refresh "TEXT" "meta refresh: seconds, a space, the URL";
        location: location "TEXT" "target of a redirect";
        selected_lastmod: selected_lastmod "TEXT" "date that a page rule found";
        excluded_by_page_rule: excluded_by_page_rule "INTEGER" "";
        dates: <StatedDates>;
        title: title "TEXT" "";
        images: images "BLOB" "zlib: one URL per line; NULL: not looked for";
        alternates: alternates "BLOB" "versions in other languages: the same, each URL after its code and a space";
        videos: videos "TEXT" "JSON: of each video the values of its elements; NULL: not looked for";
        news: news "TEXT" "the same of the article that it is";
        feeds: feeds "BLOB" "feeds that it names, packed";
        read_as: read_as "INTEGER" "fingerprint of the settings that it was read with";
        warnings: warnings "TEXT" "codes, separated by commas";
        ..Self::default()
    }

    RenderedContent {
        hash: shown_hash "TEXT" "of the main content as a browser shows it: the same";
        html_links: html_links "INTEGER" "links of its HTML,";
        links: shown_links "INTEGER" "and as it is shown";
        html_text: html_text "INTEGER" "characters of its text without white space,";
        text: shown_text "INTEGER" "and as it is shown";
    }

    PageText {
        whole: text_hash "INTEGER" "of all its text: XXH3, 64 bits; 0: too little of its own to be a copy";
        alike: text_alike "INTEGER" "the same but for times and ids";
        ..Self::default()
    }

    Directives {
        noindex: noindex "INTEGER" "1 or NULL, like the other flags";
        nofollow: nofollow "INTEGER" "";
        noimageindex: noimageindex "INTEGER" "";
        unavailable_after: unavailable_after "TEXT" "";
    }

    StatedDates {
        json_ld: json_ld_modified "TEXT" "dates that the page states, as precise as it does: in structured data,";
        meta: meta_modified "TEXT" "in a meta or microdata,";
        published: published "TEXT" "the earliest date of publication";
    }

    Page {
        record: <PageRecord>;
        crawl: crawl "INTEGER" "number of the crawl that wrote it last; NULL: only an imported set names it";
        first_seen: first_seen "TEXT NOT NULL" "when a publish wrote it first";
        last_seen: last_seen "TEXT NOT NULL" "when a publish wrote it last, or found it unlisted";
        dates: <Option<LedgerEntry>>;
    }

    LedgerEntry {
        content_hash: dated_hash "TEXT" "content that lastmod belongs to, as content_hash; NULL: nothing of these is known";
        hash_version: dated_hash_version "INTEGER" "version of the algorithm; 1000: hash of the ETag of a document";
        shown_hash: dated_shown_hash "TEXT" "the content as a browser showed it last";
        is_shown_steady: shown_is_steady "INTEGER" "two renderings of an unchanged page had the same content";
        lastmod: lastmod "TEXT" "as published; it moves only with the content";
        source: source "TEXT" "where lastmod came from: rule, history, json-ld, meta, sitemap, header, input";
        last_modified_seconds: last_modified_seconds "INTEGER" "last Last-Modified with this content, seconds since 1970";
        since_seconds: since_seconds "INTEGER" "when this content was fetched first and last, seconds since 1970";
        seen_seconds: seen_seconds "INTEGER" "";
        stated: <LedgerDates>;
    }

    LedgerDates {
        json_ld: stated_json_ld "TEXT" "the dates that were stated when it was fetched last";
        meta: stated_meta "TEXT" "";
        sitemap: stated_sitemap "TEXT" "";
    }

    Visit {
        record: <PageRecord>;
        sequence: sequence "INTEGER NOT NULL" "place in the queue; 0: never waited";
        hops: hops "INTEGER NOT NULL" "redirects in a row that led to it";
        is_orphan: is_orphan "INTEGER" "1: a sitemap, a feed or a list names it, and no page leads to it";
        is_declared: is_declared "INTEGER" "1: a sitemap of the site, or a list of the user's, names it";
        reading: <Reading>;
        promotion: promotion "TEXT" "copied to its page row; JSON: that row when the crawl began";
    }

    Reading {
        distance: distance "INTEGER NOT NULL" "pages in a row that said nothing new, on the shortest way to it";
        novelty: novelty "TEXT" "new, copy or nothing: what the page has; NULL: not compared";
        led_to: led_to "INTEGER NOT NULL" "URLs that it led to, and that no page led to before";
    }

    ClosedPattern {
        name: name "TEXT NOT NULL PRIMARY KEY" "/path?, /directory/, /directory/*, ?parameter=; a run of digits is 0";
        crawl: crawl "INTEGER NOT NULL" "number of the first of the crawls in a row that found it";
        kind: kind "TEXT NOT NULL" "place: it was cut; parameter: it was left out of URLs";
        requested: requested "INTEGER NOT NULL" "pages of it that were asked for";
        left_out: left_out "INTEGER NOT NULL" "those of them that are not listed because of it";
        not_requested: not_requested "INTEGER NOT NULL" "URLs of it that were not asked for";
        example: example "TEXT NOT NULL" "one that was left out or not asked for";
        exclude: exclude "TEXT" "a glob for the setting exclude that matches no listed page";
    }

    StoredSession {
        began: began "TEXT NOT NULL" "";
        ended: ended "TEXT" "NULL: it was killed, or goes on; nothing below is known";
        outcome: outcome "TEXT" "as in the summary";
        exit_code: exit_code "INTEGER" "";
        crawl: crawl "INTEGER" "number of the crawl that it was a session of";
        known: known "INTEGER" "URLs; the sum of the next four; NULL: not counted";
        listed: listed "INTEGER" "";
        excluded: excluded "INTEGER" "";
        failed: failed "INTEGER" "";
        queued: queued "INTEGER" "";
        robots_disallowed: robots_disallowed "INTEGER" "among the excluded";
        fetched: fetched "INTEGER" "pages, further tries not counted";
        not_modified: not_modified "INTEGER" "among them: 304";
        bytes_in: bytes_in "INTEGER" "";
        requests: requests "INTEGER" "to the host, of whatever kind";
        slowdowns: slowdowns "INTEGER" "how often the pace was halved";
        retry_afters: retry_afters "INTEGER" "answers whose Retry-After was obeyed";
        waited_ms: waited_ms "INTEGER" "in which no request could start, because of these and of pauses after failures";
        interval_ms: interval_ms "INTEGER" "from one request to the next at the end";
    }
}

/// The state of a reason is beside it, for people and for the queries.
impl ColumnGroup for Reason {
    const WIDTH: usize = 2;

    fn columns(list: &mut Vec<Column>) {
        list.push(Column {
            name: "state",
            kind: "TEXT NOT NULL",
            comment: "queued, listed, excluded or failed",
        });
        list.push(Column {
            name: "reason",
            kind: "TEXT NOT NULL",
            comment: "reason code, as in reports",
        });
    }

    fn put(&self, row: &mut Binder<'_, '_>) -> rusqlite::Result<()> {
        row.put(&self.state())?;
        row.put(self)
    }

    fn get(row: &mut Columns<'_, '_>) -> rusqlite::Result<Self> {
        row.skip(1);
        row.get()
    }
}

impl ColumnGroup for Outcome {
    const WIDTH: usize = 2 + Supplied::WIDTH + PageFacts::WIDTH;

    fn columns(list: &mut Vec<Column>) {
        list.push(Column {
            name: "outcome",
            kind: "TEXT",
            comment: "answered; no-answer; input: what an input states; else the reason code, without a request; NULL: it waits",
        });
        list.push(Column {
            name: "error",
            kind: "TEXT",
            comment: "error, when no answer came",
        });
        Supplied::columns(list);
        PageFacts::columns(list);
    }

    fn put(&self, row: &mut Binder<'_, '_>) -> rusqlite::Result<()> {
        match self {
            Self::NotFetched(reason) => {
                row.put(&OutcomeWord::NotFetched(*reason))?;
                row.skip(Self::WIDTH - 1);
            }
            Self::NoAnswer { error } => {
                row.put(&OutcomeWord::NoAnswer)?;
                row.put(error)?;
                row.skip(Self::WIDTH - 2);
            }
            Self::Supplied(supplied) => {
                row.put(&OutcomeWord::Supplied)?;
                row.skip(1);
                supplied.put(row)?;
                row.skip(PageFacts::WIDTH);
            }
            Self::Answered(facts) => {
                row.put(&OutcomeWord::Answered)?;
                row.skip(1 + Supplied::WIDTH);
                facts.put(row)?;
            }
        }
        Ok(())
    }

    fn get(row: &mut Columns<'_, '_>) -> rusqlite::Result<Self> {
        Ok(match row.get()? {
            OutcomeWord::NotFetched(reason) => {
                row.skip(Self::WIDTH - 1);
                Self::NotFetched(reason)
            }
            OutcomeWord::NoAnswer => {
                let error = row.get()?;
                row.skip(Self::WIDTH - 2);
                Self::NoAnswer { error }
            }
            OutcomeWord::Supplied => {
                row.skip(1);
                let supplied = ColumnGroup::get(row)?;
                row.skip(PageFacts::WIDTH);
                Self::Supplied(supplied)
            }
            OutcomeWord::Answered => {
                row.skip(1 + Supplied::WIDTH);
                Self::Answered(ColumnGroup::get(row)?)
            }
        })
    }
}

impl ColumnGroup for Supplied {
    const WIDTH: usize = 4;

    fn columns(list: &mut Vec<Column>) {
        let names = [
            "supplied_lastmod",
            "supplied_changefreq",
            "supplied_priority",
        ];
        list.extend(names.map(|name| Column {
            name,
            kind: "TEXT",
            comment: "",
        }));
        list.push(Column {
            name: "supplied_extensions",
            kind: "TEXT",
            comment: "JSON: images, videos, news, alternates, custom, fields",
        });
    }

    fn put(&self, row: &mut Binder<'_, '_>) -> rusqlite::Result<()> {
        row.put(&self.lastmod)?;
        row.put(&self.changefreq)?;
        row.put(&self.priority)?;
        row.put(&self.extensions_text())
    }

    fn get(row: &mut Columns<'_, '_>) -> rusqlite::Result<Self> {
        let (changed, frequency, priority) = (row.get()?, row.get()?, row.get()?);
        let values = Self {
            lastmod: changed,
            changefreq: frequency,
            priority,
            ..Self::default()
        };
        let text: Option<String> = row.get()?;
        match text {
            Some(text) => values
                .with_extensions_text(&text)
                .ok_or_else(|| failure(unknown("supplied_extensions", &text))),
            None => Ok(values),
        }
    }
}

/// The names of the columns of a row, in their order.
pub(super) fn names<R: ColumnGroup>() -> Vec<&'static str> {
    let mut list = Vec::with_capacity(R::WIDTH);
    R::columns(&mut list);
    list.iter().map(|column| column.name).collect()
}

/// The lines of `CREATE TABLE` for the columns of a row, the last of which ends with `end`.
pub(super) fn definitions<R: ColumnGroup>(end: &str) -> String {
    let mut list = Vec::with_capacity(R::WIDTH);
    R::columns(&mut list);
    let count = list.len();
    let line = |(number, column): (usize, &Column)| {
        let Column {
            name,
            kind,
            comment,
        } = column;
        let definition = format!(
            "{name} {kind}{}",
            if number + 1 == count { end } else { "," }
        );
        if comment.is_empty() {
            return format!("  {definition}\n");
        }
        format!("  {definition:<38} -- {comment}\n")
    };
    list.iter().enumerate().map(line).collect()
}

/// Names of columns with `before` before each, separated by commas.
pub(super) fn list(before: &str, names: &[&str]) -> String {
    let names = names.iter().map(|name| format!("{before}{name}"));
    names.collect::<Vec<_>>().join(", ")
}

/// `INSERT` of a row of `table` with a parameter for each of `names`.
pub(super) fn insert(table: &str, names: &[&str]) -> String {
    let parameters = vec!["?"; names.len()].join(", ");
    format!(
        "INSERT INTO {table} ({}) VALUES ({parameters})",
        list("", names)
    )
}
