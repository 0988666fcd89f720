//! The XML all files are made of: a tag with text and attributes in it, and how many bytes that takes.

use std::io::{self, Write};

use quick_xml::{
    Writer,
    events::{BytesEnd, BytesStart, BytesText, Event},
};

/// Writes `<name>text</name>`, all five entities escaped (R20).
pub(super) fn element(out: &mut impl Write, name: &str, text: &str) -> io::Result<()> {
    element_with(out, name, [], Some(text))
}

/// Writes `<name attribute="value">text</name>`, or `<name attribute="value"/>` without a text.
pub(super) fn element_with<'a>(
    out: &mut impl Write,
    name: &str,
    attributes: impl IntoIterator<Item = (&'a str, &'a str)>,
    text: Option<&str>,
) -> io::Result<()> {
    let mut writer = Writer::new(out);
    let start = BytesStart::new(name).with_attributes(attributes);
    let Some(text) = text else {
        return writer.write_event(Event::Empty(start));
    };
    writer.write_event(Event::Start(start))?;
    writer.write_event(Event::Text(BytesText::new(text)))?;
    writer.write_event(Event::End(BytesEnd::new(name)))
}

/// Writes `<name>`, the output of `content`, and `</name>`.
pub(super) fn parent<W: Write>(
    out: &mut W,
    name: &str,
    content: impl FnOnce(&mut W) -> io::Result<()>,
) -> io::Result<()> {
    Writer::new(&mut *out).write_event(Event::Start(BytesStart::new(name)))?;
    content(out)?;
    Writer::new(out).write_event(Event::End(BytesEnd::new(name)))
}

/// The bytes that [`element`] writes for a text without control characters, which no value of an entry has.
pub(super) fn element_len(name: &str, text: &str) -> u64 {
    let escaped_len: usize = text
        .bytes()
        .map(|byte| match byte {
            b'<' | b'>' => "&lt;".len(),
            b'&' => "&amp;".len(),
            b'\'' | b'"' => "&apos;".len(),
            _ => 1,
        })
        .sum();
    ("<></>".len() + 2 * name.len() + escaped_len) as u64
}

/// An output that only counts its bytes.
#[derive(Debug, Default)]
pub(super) struct Counter(pub(super) u64);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
