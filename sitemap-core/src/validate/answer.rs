//! The answer of a server with a document, and its problems (R2, R28, R29, R41).

use jiff::Timestamp;

use super::{Problem, is_near};
use crate::{LastMod, Loc, read::Kind};

/// The answer of a server with a document.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Answer<'a> {
    /// The `Content-Type` header, as sent.
    pub content_type: Option<&'a str>,
    /// True when the connection undid a `Content-Encoding`; then neither the bytes nor the name show the compression.
    pub had_coding: bool,
    /// True when a `Content-Encoding` was announced for bytes that have none.
    pub is_coding_missing: bool,
    /// End of its body.
    pub end: AnswerEnd<'a>,
    /// The `lastmod` in the index that lists it (R41).
    pub listed_lastmod: Option<&'a LastMod>,
}

/// End of the body of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnswerEnd<'a> {
    /// All of it was read.
    #[default]
    Complete,
    /// The connection ended, or the time was up, before the end that was announced.
    CutShort,
    /// Reading stopped at the limit of bytes.
    TooLarge {
        /// Number of bytes read.
        limit: u64,
    },
    /// The `Content-Encoding` cannot be undone.
    Undecodable {
        /// The name, or its problem.
        coding: &'a str,
    },
}

/// Reason why there is no document at a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unavailable<'a> {
    /// The robots.txt of its host disallows it.
    Disallowed,
    /// The robots.txt of its host cannot be read, so nothing there may be (RFC 9309 section 2.3.1.4); why, in words.
    RobotsUnreachable(&'a str),
    /// The document was not requested, so it was not checked.
    NotAsked {
        /// The reason for messages.
        why: &'a str,
        /// Advice for having it requested.
        help: &'a str,
    },
    /// The URL redirects here, to a document that is checked by itself.
    Elsewhere(&'a Loc),
    /// Anything else, in words: "status 404".
    Because(&'a str),
}

/// Media types of XML documents (RFC 7303); a feed has its own besides.
const XML: [&str; 2] = ["application/xml", "text/xml"];

/// Media types of gzip (RFC 6713 section 3), and generic ones.
const GZIP: [&str; 4] = [
    "application/gzip",
    "application/x-gzip",
    "application/octet-stream",
    "binary/octet-stream",
];

impl Answer<'_> {
    /// Problem of an incomplete body, if any.
    pub(super) fn problem_of_end(&self) -> Option<Problem> {
        match self.end {
            AnswerEnd::Complete => None,
            AnswerEnd::CutShort => Some(Problem::CutShort),
            AnswerEnd::TooLarge { limit } => Some(Problem::NotReadFurther { limit }),
            AnswerEnd::Undecodable { coding } => Some(Problem::Undecodable {
                coding: coding.to_owned(),
            }),
        }
    }

    /// Contradictions between headers or name and the bytes.
    pub(super) fn problems(
        &self,
        place: Option<&Loc>,
        kind: Option<Kind>,
        is_gzip: bool,
        modified: Option<Timestamp>,
    ) -> Vec<Problem> {
        let mut problems = Vec::new();
        if let Some(kind) = kind {
            problems.extend(self.problem_of_type(kind, is_gzip));
            problems.extend(self.problem_of_charset());
        }
        let is_named_gzip =
            place.is_some_and(|place| place.path().to_ascii_lowercase().ends_with(".gz"));
        match (is_gzip, is_named_gzip) {
            (true, false) => problems.push(Problem::NotNamedGzip),
            (false, true) if kind.is_some() && !self.had_coding => {
                problems.push(Problem::NamedGzip);
            }
            (true, true) | (false, _) => {}
        }
        if self.is_coding_missing {
            problems.push(Problem::CodingMissing);
        }
        if let (Some(modified), Some(lastmod)) = (modified, self.listed_lastmod) {
            let listed = lastmod.latest_instant();
            if modified > listed && !is_near(modified, listed) {
                problems.push(Problem::FileChangedLater {
                    lastmod: lastmod.clone(),
                    last_modified: LastMod::from_timestamp(modified),
                });
            }
        }
        problems
    }

    fn problem_of_type(&self, kind: Kind, is_gzip: bool) -> Option<Problem> {
        let essence = self.content_type.map(essence).unwrap_or_default();
        let (own, expected): (&[&str], _) = match kind {
            Kind::UrlSet | Kind::Index => (&[], "application/xml"),
            Kind::Rss => (
                &["application/rss+xml", "application/rdf+xml"],
                "application/rss+xml",
            ),
            Kind::Atom => (&["application/atom+xml"], "application/atom+xml"),
            Kind::Text => (&["text/plain"], "text/plain"),
        };
        let is_expected = own.contains(&essence.as_str())
            || kind != Kind::Text && XML.contains(&essence.as_str())
            || is_gzip && GZIP.contains(&essence.as_str());
        (!is_expected).then(|| Problem::ContentType {
            found: self.content_type.map(shortened),
            expected: if is_gzip { GZIP[0] } else { expected },
        })
    }

    /// A header that names another encoding has precedence over the document (RFC 7303 section 3).
    fn problem_of_charset(&self) -> Option<Problem> {
        let charset = parameter(self.content_type?, "charset")?;
        let is_utf_8 = ["utf-8", "utf8", "us-ascii"]
            .iter()
            .any(|name| charset.eq_ignore_ascii_case(name));
        (!is_utf_8).then(|| Problem::HeaderCharset {
            charset: shortened(&charset),
        })
    }
}

/// The media type without parameters, in lower case.
fn essence(content_type: &str) -> String {
    let essence = content_type.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

/// The value of a parameter of a media type, without quotes.
fn parameter(content_type: &str, name: &str) -> Option<String> {
    let mut parameters = content_type.split(';').skip(1);
    parameters.find_map(|parameter| {
        let (found, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches('"');
        (found.trim().eq_ignore_ascii_case(name) && !value.is_empty()).then(|| value.to_owned())
    })
}

/// A header, shortened for a message.
fn shortened(text: &str) -> String {
    text.chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_and_name_match_the_file() {
        // Name, type, format, and the problem, if there is one.
        for row in [
            "s.xml | application/xml | urlset",
            "s.xml | Text/XML; charset=\"UTF-8\" | index",
            "s.xml.GZ | application/x-gzip | urlset.gz",
            "s.xml.gz | application/xml | urlset.gz",
            "s.txt | text/plain;charset=utf-8 | text",
            "feed | application/rss+xml | rss",
            "feed | application/atom+xml; type=feed | atom",
            "s.xml | text/html | urlset | Content-Type is \"text/html\", expected application/xml",
            "s.txt |  | text | there is no Content-Type, expected text/plain",
            "s.xml.gz | text/plain | urlset.gz | Content-Type is \"text/plain\", expected application/gzip",
            "s.xml | text/xml; Charset=iso-8859-1 | urlset | Content-Type declares the encoding iso-8859-1",
            "s.xml?x=.gz | application/gzip | urlset.gz | file is compressed, but its name does not end in .gz",
            "s.xml.gz | text/xml | urlset | name ends in .gz, but the file is not compressed",
        ] {
            let columns: Vec<&str> = row.split(" | ").collect();
            let (format, is_gzip) = match columns[2].strip_suffix(".gz") {
                Some(format) => (format, true),
                None => (columns[2], false),
            };
            let kind = match format {
                "urlset" => Kind::UrlSet,
                "index" => Kind::Index,
                "text" => Kind::Text,
                "rss" => Kind::Rss,
                _ => Kind::Atom,
            };
            let answer = Answer {
                content_type: Some(columns[1]).filter(|content_type| !content_type.is_empty()),
                ..Answer::default()
            };
            let place = Loc::parse(&format!("https://h/{}", columns[0])).unwrap();
            let problems = answer.problems(Some(&place), Some(kind), is_gzip, None);
            let found: Vec<String> = problems.iter().map(ToString::to_string).collect();
            assert_eq!(found, columns[3..], "{row}");
        }
    }

    #[test]
    fn coding_of_the_connection_counts_as_compression() {
        let answer = Answer {
            content_type: Some("application/xml"),
            had_coding: true,
            ..Answer::default()
        };
        let place = Loc::parse("https://h/s.xml.gz").unwrap();
        let problems = answer.problems(Some(&place), Some(Kind::UrlSet), false, None);
        assert_eq!(problems, []);
    }
}
