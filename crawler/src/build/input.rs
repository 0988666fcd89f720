//! From the bytes of a list to its rows: undoes gzip by its magic bytes, finds out in which encoding and
//! which format it is.

use std::{
    collections::BTreeSet,
    io::{self, BufRead, BufReader, Cursor, Read},
};

use encoding_rs::{Encoding, UTF_8};
use sitemap_core::read::{
    Lines, ListError, ListForm, MAX_GZIP_LAYERS, MAX_RECORD_BYTES, Start, Unpacked,
};

use super::{
    BuildError,
    list::ListRows,
    ndjson::{MAX_OBJECT_BYTES, NdjsonRows, is_silent},
    rows::EntryRows,
    sitemap::SitemapRows,
};
use crate::{config::InputFormat, seeds::decoded};

/// How many bytes are looked at to find out the format: comments may be in front of the first line, as many as `check` takes.
const HEAD_BYTES: u64 = MAX_RECORD_BYTES as u64;

/// Bytes that are read at once.
const BUFFER_BYTES: usize = 64 * 1024;

/// A text has as many bytes for each control character, at least, if it has more than a few. Of compressed or binary data a tenth are
/// such.
const MIN_CHARACTERS_OF_TEXT: usize = 50;

/// Control characters that the shortest text may have by mistake.
const MAX_SLIPS: usize = 10;

/// The first bytes of every zip archive that has a file in it.
const ZIP_MAGIC: &[u8] = b"PK\x03\x04";

/// The first bytes of every gzip file (RFC 1952 section 2.3.1).
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];

type Bytes = Box<dyn BufRead + Send>;

/// Begins to read a list; `format` is found out when none is given, `wanted` are the fields that own
/// elements ask for.
pub(super) fn open_list(
    name: &str,
    bytes: Box<dyn Read + Send>,
    format: Option<InputFormat>,
    wanted: &BTreeSet<String>,
) -> Result<Box<dyn EntryRows>, BuildError> {
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
        let problem = "this is a zip archive, expected a list, which may be compressed with gzip";
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
    if !start.is_markup && is_binary(&head) {
        let problem = "the file is not text, expected a list of URLs, a sitemap or a feed";
        return Err(refused(1, problem.to_owned()));
    }
    let format = match format {
        None if start.is_markup => Some(InputFormat::Sitemap),
        None if is_ndjson(&head) => Some(InputFormat::Ndjson),
        other => other,
    };
    // The reader of sitemaps undoes every encoding itself.
    let input: Bytes = if encoding == UTF_8 || format == Some(InputFormat::Sitemap) {
        input
    } else {
        Box::new(decoded(input, encoding))
    };
    let form = match format {
        Some(InputFormat::Ndjson) => {
            let lines = Lines::new(input).with_max_bytes(MAX_OBJECT_BYTES);
            return Ok(Box::new(NdjsonRows::new(lines, wanted)));
        }
        Some(InputFormat::Sitemap) => {
            return Ok(Box::new(SitemapRows::new(input)));
        }
        Some(InputFormat::Text) => Some(ListForm::Lines),
        Some(InputFormat::Csv) => Some(ListForm::Table),
        None => None,
    };
    match ListRows::open(input, form, wanted) {
        Ok(rows) => Ok(Box::new(rows)),
        Err(ListError::Refused { line, problem }) if form.is_none() => {
            let advice = "--input-format text reads each line as one URL";
            Err(refused(line, format!("{problem} ({advice})")))
        }
        Err(error) => Err(BuildError::of_list(name, 0, error)),
    }
}

/// An input that is at its end because it failed.
struct Failed(Option<io::Error>);

impl Read for Failed {
    fn read(&mut self, _out: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// The first bytes of an input, and all of it. What fails after some of them fails again when they were read.
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

/// Returns whether a file begins like a picture, a document of a program or the like: control characters are as common in it as any others.
fn is_binary(head: &str) -> bool {
    let is_control = |character: &char| character.is_control() && !character.is_whitespace();
    let count = head.chars().filter(is_control).count();
    count > MAX_SLIPS && count * MIN_CHARACTERS_OF_TEXT > head.len()
}

/// Returns whether the first line of a list that is not blank is JSON.
fn is_ndjson(head: &str) -> bool {
    let mut lines = Lines::new(head.as_bytes());
    // Bytes in memory do not fail.
    while let Ok(Some(line)) = lines.next() {
        match line.map(str::trim) {
            Ok(line) if is_silent(line) => {}
            Ok(line) => return line.starts_with(['{', '[']),
            Err(_) => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_files_are_known_by_their_control_characters() {
        assert!(is_binary(&"%PDF-1.7\n/a\n\0\u{1}\u{2}x".repeat(10)));
        assert!(is_binary(&"\0".repeat(100)));
        assert!(!is_binary(""));
        assert!(!is_binary("/a,\u{1}\u{2}\n"));
        assert!(!is_binary(&format!(
            "/a\t\r\n\u{c}{}",
            "\u{1a}\u{85}".repeat(5)
        )));
        assert!(!is_binary(
            &"/some/path,with\u{1}a control character in every line of many\n".repeat(1_000)
        ));
    }

    #[test]
    fn json_is_known_by_its_first_line() {
        fn check(text: &str, expected: bool) {
            assert_eq!(is_ndjson(text), expected, "{text:?}");
        }
        check("  {\"loc\": \"/a\"}\n", true);
        check("# ours\n\n[\n{\"loc\": \"/a\"}\n]", true);
        check("", false);
        check("# {}\n", false);
        check("/a\n{\n", false);
    }
}
