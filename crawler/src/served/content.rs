//! Compares the answer of a URL with the file that belongs there.

use std::{
    collections::HashSet,
    io::{self, BufRead as _, BufReader, Read},
};

use sha2::{Digest as _, Sha256};
use sitemap_core::read::Unpacked;

use super::{Serving, program_of};
use crate::{
    check::sniff,
    client::{DownloadedDocument, MAX_DOCUMENT_BYTES},
    human,
    machine::hex,
    page::BodyEnd,
    publish::PublishedContent,
};

/// The first line of a file of arpent.
const XML_DECLARATION: &str = r#"<?xml version="1.0" encoding="UTF-8"?>"#;

/// Bytes at the beginning of a file in which its program names itself.
const HEAD_BYTES: u64 = 4 * 1024;

/// What is wrong with the `document` in the place of `file`, and a fragment on it; `None`: nothing is. `earlier` are contents of
/// earlier sets.
pub(super) fn fault_of(
    file: &PublishedContent,
    document: &mut DownloadedDocument,
    earlier: &HashSet<String>,
) -> Option<(Serving, String)> {
    let after = match document.redirects {
        0 => String::new(),
        _ => format!(", after a redirect to {}", document.url),
    };
    match document.status {
        200 => {}
        status @ (404 | 410) => {
            return Some((Serving::Missing, format!("answers {status}{after}")));
        }
        status => return Some((Serving::Blocked, format!("answers {status}{after}"))),
    }
    if document.sha256 == file.file_sha256 {
        return None;
    }
    let is_broken = match &document.end {
        BodyEnd::Complete | BodyEnd::Skipped => None,
        BodyEnd::TooLarge | BodyEnd::CutShort => {
            let bytes = human::bytes(document.body_bytes);
            Some(format!("breaks off after {bytes}{after}"))
        }
        BodyEnd::Undecodable(coding) => Some(format!(
            "is not {coding}, as its Content-Encoding has it{after}"
        )),
    };
    if let Some(problem) = is_broken {
        return Some((Serving::Altered, problem));
    }
    if document.sha256 == file.sha256 {
        let problem =
            format!("arrives unpacked{after}; serve it as it is, without Content-Encoding");
        return Some((Serving::Altered, problem));
    }
    let content = match content_hash(document) {
        // A server may pack it again.
        Ok(content) if content == file.sha256 => return None,
        Ok(content) => content,
        Err(error) => return Some((Serving::Altered, format!("cannot be read{after}: {error}"))),
    };
    let head = head_of(document).unwrap_or_default();
    if earlier.contains(&content) || is_form_of_arpent(&head) {
        let problem = format!(
            "has the content of an earlier set{after}; a cache keeps it, or the new files were not copied"
        );
        return Some((Serving::NotYetServed, problem));
    }
    let kind = document.body().ok().and_then(sniff);
    if kind.is_some() && !is_html(&head) {
        let program = program_of(&head);
        let program = program.as_deref().unwrap_or("another program");
        let problem = format!("has a file of {program}{after}");
        return Some((Serving::Overwritten, problem));
    }
    let what = if is_html(&head) {
        "answers with a page of HTML"
    } else {
        "answers with something else than a sitemap"
    };
    Some((Serving::Missing, format!("{what}{after}")))
}

/// The program whose sitemap a `document` is; `None`: it is no sitemap, or one of arpent.
pub fn other_program(document: &mut DownloadedDocument) -> Option<String> {
    if document.status != 200 {
        return None;
    }
    let head = head_of(document).ok()?;
    let is_sitemap = document.body().ok().and_then(sniff).is_some() && !is_html(&head);
    let is_other = is_sitemap && !is_form_of_arpent(&head);
    is_other.then(|| program_of(&head).unwrap_or_else(|| "another program".to_owned()))
}

/// The content without compression, no more of it than a file of ours has.
fn unpacked(document: &mut DownloadedDocument) -> io::Result<impl Read + '_> {
    Ok(Unpacked::new(document.body()?).take(MAX_DOCUMENT_BYTES + 1))
}

/// SHA-256 of the content without compression, hex.
fn content_hash(document: &mut DownloadedDocument) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut body = BufReader::new(unpacked(document)?);
    loop {
        let bytes = body.fill_buf()?;
        if bytes.is_empty() {
            return Ok(hex(hash));
        }
        hash.update(bytes);
        let length = bytes.len();
        body.consume(length);
    }
}

/// The beginning of the content.
fn head_of(document: &mut DownloadedDocument) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    unpacked(document)?
        .take(HEAD_BYTES)
        .read_to_end(&mut head)?;
    Ok(head)
}

/// Returns whether the beginning is as arpent writes it: an entry a line, its URL first.
fn is_form_of_arpent(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.lines();
    lines.next() == Some(XML_DECLARATION)
        && lines.next().is_some_and(|line| {
            line.starts_with("<urlset xmlns=") || line.starts_with("<sitemapindex xmlns=")
        })
        && lines.next().is_some_and(|line| {
            line.starts_with("<url><loc>") || line.starts_with("<sitemap><loc>")
        })
}

fn is_html(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head).to_ascii_lowercase();
    ["<!doctype html", "<html", "<body", "<head"]
        .iter()
        .any(|mark| text.contains(mark))
}
