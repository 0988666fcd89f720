//! Whole answers through [`PageParser`], chunk by chunk.

mod answers;
mod content;
mod dates;
mod extensions;
mod hostile;
mod links;
mod signals;
mod tree;

use jiff::Timestamp;

use crate::{
    config::{PageAction, PageRule},
    fetch::Headers,
    page::{Canonical, Via, Warnings},
};

use super::*;

const URL: &str = "https://example.com/dir/page?q=1";

/// An answer to a request for [`URL`], with the settings it is read with.
struct Answer<'a> {
    status: u16,
    headers: Vec<(&'a str, &'a str)>,
    body: &'a [u8],
    end: BodyEnd,
    config: ParseConfig,
    extensions: Extensions,
    cpu_clock: Option<CpuClock>,
}

impl<'a> Answer<'a> {
    fn html(body: &'a (impl AsRef<[u8]> + ?Sized)) -> Self {
        Self::of_type("text/html; charset=utf-8", body)
    }

    fn of_type(content_type: &'a str, body: &'a (impl AsRef<[u8]> + ?Sized)) -> Self {
        Self {
            status: 200,
            headers: vec![("Content-Type", content_type)],
            body: body.as_ref(),
            end: BodyEnd::Complete,
            config: ParseConfig::default(),
            extensions: Extensions::default(),
            cpu_clock: None,
        }
    }

    fn with_extensions(mut self, extensions: Extensions) -> Self {
        self.extensions = extensions;
        self
    }

    fn with_header(mut self, name: &'a str, value: &'a str) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Reads the answer in the given pieces, as a fetcher would.
    fn read_in<'p>(&self, pieces: impl IntoIterator<Item = &'p [u8]>) -> PageFacts {
        let identity = Arc::new(Identity::default());
        let mut reader = PageReader::new(&self.config).unwrap();
        reader.cpu_clock = self.cpu_clock.unwrap_or(reader.cpu_clock);
        let reader = Arc::new(reader.with_extensions(self.extensions));
        let mut parser = PageParser::new(&identity.parse(URL).unwrap(), &identity, &reader);
        let headers: Headers = self.headers.iter().copied().collect();
        let head = ResponseHead {
            status: self.status,
            headers,
        };
        let mut end = self.end.clone();
        if parser.head(&head) == BodyWish::Stop {
            end = BodyEnd::Skipped;
        } else {
            for piece in pieces {
                if !piece.is_empty() && parser.chunk(piece) == BodyWish::Stop {
                    end = BodyEnd::Skipped;
                    break;
                }
            }
        }
        parser.finish(&Fetched {
            head,
            end,
            wire_bytes: 0,
        })
    }

    fn read(&self) -> PageFacts {
        self.read_in([self.body])
    }
}

/// A URL without the site's own origin.
fn short(url: &UrlKey) -> String {
    let url = url.as_str();
    url.strip_prefix("https://example.com")
        .unwrap_or(url)
        .to_owned()
}

/// Links: `!` in front of those not to follow, and the way they were found after others than plain links.
fn links(facts: &PageFacts) -> String {
    let shown = facts.links.iter().map(|link| {
        let mark = if link.nofollow { "!" } else { "" };
        let target = short(&link.target);
        match link.via {
            Via::Link => format!("{mark}{target}"),
            via => format!("{mark}{target} {}", via.as_str()),
        }
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// Checks rows of the form `input => expected`; `find` is called with each input.
#[track_caller]
pub(super) fn check_rows(rows: &[&str], find: impl Fn(&str) -> String) {
    for row in rows {
        let (input, expected) = row.split_once(" =>").expect(row);
        assert_eq!(find(input), expected.trim_start(), "{input}");
    }
}

/// Checks rows of the form `html => links`.
#[track_caller]
fn check_links(rows: &[&str]) {
    check_rows(rows, |html| links(&Answer::html(html).read()));
}
