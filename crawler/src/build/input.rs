//! From the bytes of a list to its rows: undoes gzip by its magic bytes, finds out in which encoding and
//! which format it is.

use std::{
    collections::BTreeSet,
    io::{self, BufRead, BufReader, Cursor, Read},
};

use encoding_rs::{Encoding, UTF_8};
use sitemap_core::read::{Columns, MAX_GZIP_LAYERS, Start, Unpacked, UrlColumn};

use super::{
    BuildError,
    csv::{self, CsvRows},
    draft::Draft,
    lines::Lines,
    ndjson::NdjsonRows,
    sitemap::SitemapRows,
    text::{TextRows, is_silent},
};
use crate::{config::InputFormat, seeds::Decoded};

/// How many bytes are looked at to find out the format: comments in front of the first line, and the
/// header line of a table with many columns.
const HEAD_BYTES: u64 = 64 * 1024;

/// Bytes that are read at once.
const BUFFER_BYTES: usize = 64 * 1024;

/// The first bytes of every zip archive that has a file in it.
const ZIP_MAGIC: &[u8] = b"PK\x03\x04";

/// The first bytes of every gzip file (RFC 1952 section 2.3.1).
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];

/// One entry of a list.
#[derive(Debug)]
pub(super) struct Row {
    /// Where it begins, from 1.
    pub(super) line: u64,
    /// What it says, or why it cannot be used.
    pub(super) said: Result<Draft, String>,
}

type Bytes = Box<dyn BufRead + Send>;

/// The rows of a list in whatever format.
pub(super) enum Rows {
    Text(TextRows<Bytes>),
    Csv(CsvRows<Bytes>),
    Ndjson(NdjsonRows<Bytes>),
    Sitemap(Box<SitemapRows<Bytes>>),
}

impl Rows {
    /// Begins to read a list; `format` is found out when none is given, `wanted` are the fields that own
    /// elements ask for.
    pub(super) fn open(
        name: &str,
        bytes: Box<dyn Read + Send>,
        format: Option<InputFormat>,
        wanted: &BTreeSet<String>,
    ) -> Result<Self, BuildError> {
        let broken = |line| {
            move |source| BuildError::Broken {
                name: name.to_owned(),
                line,
                source,
            }
        };
        let (head, raw) = peek(bytes).map_err(broken(0))?;
        let refused = |line, problem: String| BuildError::Format {
            name: name.to_owned(),
            line,
            problem,
        };
        if head.starts_with(ZIP_MAGIC) {
            let problem =
                "this is a zip archive, expected a list, which may be compressed with gzip";
            return Err(refused(1, problem.to_owned()));
        }
        let (head, input) = peek(Box::new(Unpacked::new(raw))).map_err(broken(0))?;
        if head.starts_with(GZIP_MAGIC) {
            let problem = format!(
                "this is compressed more than {MAX_GZIP_LAYERS} times, expected a list that is compressed once"
            );
            return Err(refused(1, problem));
        }
        let start = Start::of(&head)
            .ok_or_else(|| refused(1, "this is UTF-32, expected UTF-8 or UTF-16".to_owned()))?;
        let encoding = start
            .encoding
            .and_then(|name| Encoding::for_label(name.as_bytes()))
            .unwrap_or(UTF_8);
        let (head, _) = encoding.decode_with_bom_removal(&head);
        let lines = telling_lines(&head);
        let detected = match format {
            Some(format) => format,
            None if start.is_markup => InputFormat::Sitemap,
            None => detect(&lines),
        };
        if let (None, InputFormat::Text) = (format, detected)
            && let Some((line, problem)) = table_in(&lines)
        {
            let advice = "(--input-format text reads each line as one URL)";
            return Err(refused(line, format!("{problem} {advice}")));
        }
        // The reader of sitemaps undoes every encoding itself.
        let input: Bytes = if encoding == UTF_8 || detected == InputFormat::Sitemap {
            input
        } else {
            Box::new(BufReader::new(Decoded::new(input, encoding)))
        };
        Ok(match detected {
            InputFormat::Text => Self::Text(TextRows {
                lines: Lines::new(input),
                is_asked_for: format.is_some(),
            }),
            InputFormat::Csv => Self::Csv(CsvRows::open(name, input, wanted)?),
            InputFormat::Ndjson => Self::Ndjson(NdjsonRows::new(Lines::new(input), wanted)),
            InputFormat::Sitemap => Self::Sitemap(Box::new(SitemapRows::new(input))),
        })
    }

    /// The next entry.
    pub(super) fn next(&mut self, name: &str) -> Result<Option<Row>, BuildError> {
        let (row, line) = match self {
            Self::Text(rows) => (rows.next(), rows.lines.number()),
            Self::Csv(rows) => (rows.next(), rows.lines.number()),
            Self::Ndjson(rows) => (rows.next(), rows.lines.number()),
            Self::Sitemap(rows) => return rows.next(name),
        };
        row.map_err(|source| BuildError::Broken {
            name: name.to_owned(),
            line,
            source,
        })
    }

    /// Bytes that were read, after decompression.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::Text(rows) => rows.lines.bytes(),
            Self::Csv(rows) => rows.lines.bytes(),
            Self::Ndjson(rows) => rows.lines.bytes(),
            Self::Sitemap(rows) => rows.bytes(),
        }
    }

    /// Whether it was compressed and has other bytes behind its end, which are left out.
    pub(super) fn has_trailing_bytes(&self) -> bool {
        match self {
            Self::Text(rows) => rows.lines.has_trailing_bytes(),
            Self::Csv(rows) => rows.lines.has_trailing_bytes(),
            Self::Ndjson(rows) => rows.lines.has_trailing_bytes(),
            Self::Sitemap(rows) => rows.has_trailing_bytes(),
        }
    }

    /// Names of columns and keys that mean nothing here.
    pub(super) fn unused_columns(&self) -> Vec<String> {
        match self {
            Self::Csv(rows) => rows.unused.clone(),
            Self::Ndjson(rows) => rows.unused.clone(),
            Self::Text(_) | Self::Sitemap(_) => Vec::new(),
        }
    }
}

/// An input that is at its end because it failed.
struct Failed(Option<io::Error>);

impl Read for Failed {
    fn read(&mut self, _out: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// The first bytes of an input, and all of it. What fails behind some of them fails again when they were read.
fn peek(mut bytes: Box<dyn Read + Send>) -> io::Result<(Vec<u8>, Bytes)> {
    let mut head = Vec::new();
    let outcome = bytes.by_ref().take(HEAD_BYTES).read_to_end(&mut head);
    let rest: Box<dyn Read + Send> = match outcome {
        Ok(_) => bytes,
        Err(error) if head.is_empty() => return Err(error),
        Err(error) => Box::new(Failed(Some(error))),
    };
    let whole = Cursor::new(head.clone()).chain(rest);
    Ok((
        head,
        Box::new(BufReader::with_capacity(BUFFER_BYTES, whole)),
    ))
}

/// The lines at the beginning of a list that say something, without blanks around them, and their numbers from 1.
fn telling_lines(head: &str) -> Vec<(u64, String)> {
    let mut lines = Lines::new(head.as_bytes());
    let mut telling = Vec::new();
    // Bytes in memory do not fail.
    while let Ok(Some(line)) = lines.next() {
        let line = line.ok().filter(|line| !Columns::is_separator_line(line));
        let line = line.map(str::trim).filter(|line| !is_silent(line));
        if let Some(line) = line.map(str::to_owned) {
            telling.push((lines.number(), line));
        }
    }
    telling
}

/// The format of a list that is no markup, by its first lines that say anything.
fn detect(lines: &[(u64, String)]) -> InputFormat {
    let mut lines = lines.iter().map(|(_, line)| &**line);
    let first = lines.next().unwrap_or_default();
    if first.starts_with(['{', '[']) {
        return InputFormat::Ndjson;
    }
    match csv::delimiter_of(first) {
        Some((_, UrlColumn::Certain)) => InputFormat::Csv,
        Some((delimiter, UrlColumn::Possible))
            if csv::is_possible_header(first, delimiter, lines.next()) =>
        {
            InputFormat::Csv
        }
        Some(_) | None => InputFormat::Text,
    }
}

/// What shows that lines are those of a table of which nobody knows where its URLs are: where, and in words.
fn table_in(lines: &[(u64, String)]) -> Option<(u64, &'static str)> {
    let (number, first) = lines.first()?;
    let second = lines.get(1).map(|(_, line)| &**line);
    if csv::is_row_without_header(first, second) {
        let problem = "this is a table without a header line, expected one that names the columns, e.g. `url,lastmod`";
        return Some((*number, problem));
    }
    let before_urls = lines.windows(2).take_while(|pair| match pair {
        [(_, header), _] => !csv::is_address(header),
        _ => false,
    });
    for pair in before_urls {
        if let [(number, header), (_, row)] = pair
            && csv::are_header_and_row(header, row)
        {
            let problem = "this begins a table, no column of which is called `url` or `loc`, expected one that is";
            return Some((*number, problem));
        }
    }
    // Behind a URL such a line is a bad one of a list, and a note among relative URLs is as well.
    let mut before_urls = lines
        .iter()
        .take_while(|(_, line)| !csv::is_address(line))
        .map(|(number, line)| (number, csv::has_url_in_column(line)));
    let rows = before_urls.clone().filter(|(_, is_row)| *is_row).count();
    if rows * 2 < before_urls.clone().count() {
        return None;
    }
    let (number, _) = before_urls.find(|(_, is_row)| *is_row)?;
    let problem = "this is the row of a table, expected a header line that names the columns, `url` or `loc` among them";
    Some((*number, problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_told_by_its_first_line() {
        fn check(text: &str, expected: InputFormat) {
            assert_eq!(detect(&telling_lines(text)), expected, "{text:?}");
        }
        check("", InputFormat::Text);
        check("https://example.com/\n", InputFormat::Text);
        check("/a,b;c\n", InputFormat::Text);
        check("# url,lastmod\n\n/a\n", InputFormat::Text);
        check("url,lastmod\n", InputFormat::Csv);
        check("\n# export\n\"Priority\";\"LOC\"\r\n", InputFormat::Csv);
        check("id\turl\tlastmod", InputFormat::Csv);
        check("loc\n/a\n", InputFormat::Csv);
        check("sep=\t\r\nloc\tpriority\r\n", InputFormat::Csv);
        check("url|lastmod\n", InputFormat::Csv);
        check("Status Code,Address\n", InputFormat::Csv);
        check("page\r/a\r", InputFormat::Csv);
        check("page\nother\n", InputFormat::Text);
        check("page,1.html\npage,2.html\n", InputFormat::Text);
        check("page,1.html\n", InputFormat::Text);
        check("link;a\nlink;b\n", InputFormat::Text);
        check("address,one\nabout\n", InputFormat::Text);
        check("Page,Views/Month\n/a,3\n", InputFormat::Csv);
        check("Location,Name\nBerlin,x\n/a,y\n", InputFormat::Csv);
        check("Title,Link\n\"Two\nlines\",/a\n", InputFormat::Csv);
        check("  {\"loc\": \"/a\"}\n", InputFormat::Ndjson);
        check("[\n{\"loc\": \"/a\"}\n]", InputFormat::Ndjson);
    }
    #[test]
    fn tables_that_nobody_can_read_are_told_from_lists() {
        fn check(text: &str, expected: Option<u64>) {
            let found = table_in(&telling_lines(text)).map(|(line, _)| line);
            assert_eq!(found, expected, "{text:?}");
        }
        check("https://h/a,2026-01-02\n", Some(1));
        check("/a;;daily\n", Some(1));
        check("https://h/a,https://h/a.png\n", Some(1));
        check("Adresse;Titel\nhttps://h/a;Hallo\n", Some(1));
        check("# x\n\nWas,Wo\r\n200,https://h/a\r\n", Some(3));
        check("Report\nSeite,Klicks\n/a,3\n", Some(2));
        check("a,b\n200,https://h/b\n404,https://h/c\n", Some(1));
        check("200,https://h/a\n404,https://h/b\n", Some(1));
        check("Was,Wo\n\"a, b\",\"https://h/a\",x\n", Some(2));
        check("", None);
        check("/a,b;c\n/d,e;f\n", None);
        check("https://h/a,1.html\nhttps://h/b,2.html\n", None);
        check("https://h/go?to=1,https://h/b\n", None);
        check("about\nproducts/1\nproducts/1,2\n", None);
        check("artikel,1.html\nartikel,2.html\n/artikel,3.html\n", None);
        check("docs/a;v=1\ndocs/b;v=2\n", None);
        check("wiki/a|x\nwiki/b|y\n", None);
        check("Export, spring\n/a,b\n/c,d\n", None);
        check("https://h/a\nTODO, https://h/b\n", None);
        check("about\nproducts\nTODO, https://h/b\n", None);
        check("go?u=1;https://h/\nabout\n", None);
        check("/web/2020,https://h/\n/b\n", None);
        check("/a,https://h/a\n/b,https://h/b\n", Some(1));
        check("sep=;\nabout\n", None);
    }
}
