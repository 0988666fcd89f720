//! Whole answers through [`PageParser`], chunk by chunk.

mod answers;
mod content;
mod dates;
mod extensions;
mod hostile;
mod links;
mod signals;
mod tree;

use std::fmt::Write as _;

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

/// Links, one per line: `!` in front of those not to follow, the way they were found after others than plain links; the site's
/// own origin is left out.
fn links(facts: &PageFacts) -> String {
    let mut text = String::new();
    for link in &facts.links {
        let target = link.target.as_str();
        let target = target.strip_prefix("https://example.com").unwrap_or(target);
        let mark = if link.nofollow { "!" } else { "" };
        let via = match link.via {
            Via::Link => String::new(),
            via => format!(" {}", via.as_str()),
        };
        writeln!(text, "{mark}{target}{via}").unwrap();
    }
    text
}

#[track_caller]
fn check_links(html: &str, expected: &[&str]) {
    let found = Answer::html(html).read();
    let expected: String = expected.iter().flat_map(|link| [*link, "\n"]).collect();
    assert_eq!(links(&found), expected, "{html}");
}
