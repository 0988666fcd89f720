//! [`Columns`]: which part of a line is its URL. A header line tells it for a table; without one only what is beyond doubt is
//! taken for columns.

use super::text::{has_web_scheme, is_metadata};

/// Names that only a column of URLs has.
const CERTAIN_NAMES: [&str; 2] = ["loc", "url"];

/// Names that exports give the column of their URLs, and others to columns of something else.
const POSSIBLE_NAMES: [&str; 10] = [
    "urls",
    "uri",
    "pageurl",
    "permalink",
    "link",
    "address",
    "landingpage",
    "toppages",
    "page",
    "location",
];

/// How sure the name of a column is that URLs stand in it.
///
/// ```
/// use sitemap_core::read::UrlColumn;
///
/// assert_eq!(UrlColumn::named("URL"), Some(UrlColumn::Certain));
/// assert_eq!(UrlColumn::named("Page"), Some(UrlColumn::Possible));
/// assert_eq!(UrlColumn::named("title"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UrlColumn {
    /// No other column is called so.
    Certain,
    /// It is the one if no other is more certain: `page` may be a number, `location` a town.
    Possible,
}

impl UrlColumn {
    /// What `name` says, if anything; case, blanks, `_`, `-` and `'` do not matter.
    pub fn named(name: &str) -> Option<Self> {
        let is = |known: &&str| {
            let characters = name.chars();
            characters
                .filter(|character| !character.is_whitespace() && !"_-'".contains(*character))
                .map(|character| character.to_ascii_lowercase())
                .eq(known.chars())
        };
        if CERTAIN_NAMES.iter().any(is) {
            Some(Self::Certain)
        } else {
            POSSIBLE_NAMES.iter().any(is).then_some(Self::Possible)
        }
    }
}

/// Where the URL stands in the lines of a text file that has more columns: behind its header line a table has it where that says,
/// other files only where there is no doubt.
///
/// ```
/// use sitemap_core::read::Columns;
///
/// let line = "https://example.com/a,2026-01-02";
/// assert_eq!(Columns::default().url_in(line), Some(line));
/// let table = Columns::of_header("url,lastmod").unwrap();
/// assert_eq!(table.url_in(line), Some("https://example.com/a"));
/// let table = Columns::of_header("lastmod;url").unwrap();
/// assert_eq!(table.url_in("2026-01-02;https://example.com/a,b"), Some("https://example.com/a,b"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Columns {
    /// `None` for a file without a header line, or with one that names the URLs only.
    table: Option<Table>,
}

/// What a header line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Table {
    delimiter: char,
    /// How many columns there are, and which of them has the URLs.
    count: usize,
    url: usize,
}

impl Columns {
    /// What may stand between two columns, in the order in which a header line is tried with them.
    pub const DELIMITERS: [char; 4] = [',', ';', '\t', '|'];

    /// Whether a line is what spreadsheets write in front of a table: `sep=;`, in either case, in quotation marks or not. The
    /// header line tells as much.
    pub fn is_separator_line(line: &str) -> bool {
        let quoted = line
            .strip_prefix('"')
            .and_then(|line| line.strip_suffix('"'));
        let (name, separator) = quoted
            .unwrap_or(line)
            .split_at_checked(4)
            .unwrap_or_default();
        if !name.eq_ignore_ascii_case("sep=") {
            return false;
        }
        let mut separator = separator.chars();
        let is_delimiter = |character| Self::DELIMITERS.contains(&character);
        separator.next().is_some_and(is_delimiter) && separator.next().is_none()
    }

    /// The columns behind `line`, when that is the header line of a table with a column of URLs.
    pub fn of_header(line: &str) -> Option<Self> {
        let tables = || {
            Self::DELIMITERS
                .into_iter()
                .map(move |delimiter| (delimiter, fields(line, delimiter)))
        };
        for wanted in [UrlColumn::Certain, UrlColumn::Possible] {
            for (delimiter, names) in tables() {
                let names: Vec<_> = names.map(UrlColumn::named).collect();
                let Some(url) = names.iter().position(|name| *name == Some(wanted)) else {
                    continue;
                };
                let count = names.len();
                let table = Table {
                    delimiter,
                    count,
                    url,
                };
                return Some(Self {
                    table: (count > 1).then_some(table),
                });
            }
        }
        None
    }

    /// The URL in a line: all of it when it has no more columns; `None` when its columns are not those of the header line, so
    /// that nobody knows which of them is the URL.
    pub fn url_in(self, line: &str) -> Option<&str> {
        let Some(table) = self.table else {
            let line = line.trim();
            return Some(column(line).unwrap_or(line));
        };
        let mut fields = fields(line, table.delimiter);
        let first = fields.next()?;
        let mut url = (table.url == 0).then_some(first);
        let mut count = 1;
        for field in fields {
            if count == table.url {
                url = Some(field);
            } else if count >= table.count && !field.is_empty() {
                // Programs add empty fields at the end, but the delimiter in a value has to stand between quotation marks.
                return None;
            }
            count += 1;
        }
        if count == 1 { Some(first) } else { url }
    }
}

/// The fields of a line, without the blanks and quotation marks around them (RFC 4180). Two quotation marks within a field stay two:
/// no URL has one.
fn fields(line: &str, delimiter: char) -> impl Iterator<Item = &str> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        // A tab may be the delimiter, and an empty field may stand in front of it.
        let start = text.trim_start_matches(|character: char| {
            character.is_whitespace() && character != delimiter
        });
        if let Some(quoted) = start.strip_prefix('"') {
            let end = closing_quote(quoted);
            let (field, behind) = quoted.split_at(end);
            rest = behind.split_once(delimiter).map(|(_, rest)| rest);
            return Some(field.trim());
        }
        let field = match text.split_once(delimiter) {
            Some((field, behind)) => {
                rest = Some(behind);
                field
            }
            None => text,
        };
        Some(field.trim())
    })
}

/// Where the quotation mark is that closes a field; two of them stand for one within it. The end of the line when there is none.
fn closing_quote(text: &str) -> usize {
    let mut marks = text.match_indices('"').map(|(place, _)| place);
    while let Some(place) = marks.next() {
        if !text[place..].starts_with("\"\"") {
            return place;
        }
        marks.next();
    }
    text.len()
}

/// The URL in a line without header that has more columns, beyond doubt: quotation marks, a tab, or another URL or date behind a
/// blank.
fn column(line: &str) -> Option<&str> {
    if let Some(quoted) = line.strip_prefix('"') {
        return quoted.split('"').next().map(str::trim);
    }
    if let Some((url, _)) = line.split_once('\t') {
        return Some(url.trim());
    }
    let (url, rest) = line.split_once(char::is_whitespace)?;
    let is_metadata = rest
        .split_whitespace()
        .any(|word| has_web_scheme(word) || is_metadata(word));
    is_metadata.then(|| url.trim_end_matches([',', ';']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_tells_the_delimiter_and_the_column() {
        fn check(header: &str, line: &str, expected: Option<&str>) {
            let columns = Columns::of_header(header).expect(header);
            assert_eq!(columns.url_in(line), expected, "{header:?}: {line:?}");
        }
        check("url,lastmod", "/a,2026-01-02", Some("/a"));
        check("url;title", "/a,b.html;T|U", Some("/a,b.html"));
        check("url\ttitle", "/a,b;c\tT", Some("/a,b;c"));
        check("url|title", " /a,b | T", Some("/a,b"));
        check("id,url", "1,/a", Some("/a"));
        check("id\turl", "\t/a", Some("/a"));
        check("\"lastmod\";\"URL\"", "\"2026\";\"/a;b\" ;", Some("/a;b"));
        check("title,Page URL", "\"5\"\" disk, round\",/a", Some("/a"));
        // The more certain name counts, wherever it stands.
        check("page,url", "1,/a", Some("/a"));
        check("Status,Address,Link", "200,/a,/b", Some("/a"));
        check("url|page,link", "/a|x,y", Some("/a"));
        // Nobody knows where the URL ends.
        check("url,title", "/a,b.html,T", None);
        check("url,title", "/a,T,, ,", Some("/a"));
        check("id,title,url", "1,T", None);
        check("id,url", "/a", Some("/a"));
        check("id,url", "", Some(""));
        check("url,title", "\"/a,b", Some("/a,b"));
        // One column has no delimiter.
        check("url", "/a,b;c", Some("/a,b;c"));
        check("\"Top pages\"", "\"/a,b\"", Some("/a,b"));
    }

    #[test]
    fn other_lines_are_no_headers() {
        for line in [
            "",
            "name,title",
            "https://example.com/url",
            "my url",
            "url/a",
        ] {
            assert_eq!(Columns::of_header(line), None, "{line:?}");
        }
    }

    #[test]
    fn separator_line_names_one_delimiter() {
        for (line, expected) in [
            ("sep=;", true),
            ("sep=\t", true),
            ("SEP=;", true),
            ("\"sep=;\"", true),
            ("\"Sep=,\"", true),
            ("\"sep=;", false),
            ("sepä;", false),
            ("sep=", false),
            ("sep=x", false),
            ("sep=;;", false),
            (";", false),
        ] {
            assert_eq!(Columns::is_separator_line(line), expected, "{line:?}");
        }
    }
}
