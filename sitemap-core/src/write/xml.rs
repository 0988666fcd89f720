//! The XML both kinds of file are made of: a tag with text in it, and how many bytes that takes.

use std::io;

use quick_xml::{
    Writer,
    events::{BytesEnd, BytesStart, BytesText, Event},
};

/// Writes `<name>text</name>`, all five entities escaped (R20).
pub(super) fn element(out: &mut Vec<u8>, name: &str, text: &str) -> io::Result<()> {
    let mut writer = Writer::new(out);
    writer.write_event(Event::Start(BytesStart::new(name)))?;
    writer.write_event(Event::Text(BytesText::new(text)))?;
    writer.write_event(Event::End(BytesEnd::new(name)))
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
