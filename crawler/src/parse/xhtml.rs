//! Makes XHTML safe for an HTML tokenizer, before it is parsed.
//!
//! In XML syntax `<script src="x"/>` is a whole element; an HTML tokenizer takes everything after it for script text. So such
//! elements get an end tag of their own. CDATA sections, which are not markup to HTML, are left out. Everything else passes
//! unchanged, well-formed or not.

/// Elements whose start tag changes how the tokenizer reads on.
const EXPANDED: [&str; 13] = [
    "script",
    "style",
    "title",
    "textarea",
    "iframe",
    "noscript",
    "noframes",
    "noembed",
    "xmp",
    "plaintext",
    "template",
    "svg",
    "math",
];

const CDATA: &[u8] = b"<![CDATA[";

const COMMENT: &[u8] = b"<!--";

/// Most bytes of a tag, comment or section whose end has not come; of more, the `<` passes as text.
const MAX_PENDING_BYTES: usize = 64 * 1_024;

/// The filter; see the module.
#[derive(Debug, Default)]
pub(super) struct XhtmlFilter {
    /// A tag, comment or section that is not whole yet.
    pending: Vec<u8>,
    output: Vec<u8>,
}

impl XhtmlFilter {
    /// Filters the next chunk, which is UTF-8 or close to it; `is_last` lets go of what is not whole.
    pub(super) fn filter(&mut self, bytes: &[u8], is_last: bool) -> &[u8] {
        let mut input = std::mem::take(&mut self.pending);
        input.extend_from_slice(bytes);
        self.output.clear();
        let mut rest = &*input;
        while let Some(at) = memchr::memchr(b'<', rest) {
            let (text, markup) = rest.split_at(at);
            self.output.extend_from_slice(text);
            let length = match length_of(markup) {
                Some(length) => length,
                None if is_last || markup.len() > MAX_PENDING_BYTES => 1,
                None => {
                    self.pending = markup.to_vec();
                    return &self.output;
                }
            };
            let (construct, others) = markup.split_at(length);
            if !construct.starts_with(CDATA) {
                self.output.extend_from_slice(construct);
            }
            if let Some(name) = expanded(construct) {
                self.output
                    .extend_from_slice(format!("</{name}>").as_bytes());
            }
            rest = others;
        }
        self.output.extend_from_slice(rest);
        &self.output
    }
}

/// Length of the tag, comment or section that begins here, 1 for a `<` that begins none; `None` when its end has not come.
fn length_of(markup: &[u8]) -> Option<usize> {
    let until = |end: &[u8]| Some(memchr::memmem::find(markup, end)? + end.len());
    if markup.starts_with(CDATA) {
        until(b"]]>")
    } else if markup.starts_with(COMMENT) {
        until(b"-->")
    } else if CDATA.starts_with(markup) || COMMENT.starts_with(markup) {
        None
    } else if markup[1].is_ascii_alphabetic() {
        end_of_tag(markup)
    } else {
        Some(1)
    }
}

/// Length of a start tag: a `>` in quotes does not end it.
fn end_of_tag(tag: &[u8]) -> Option<usize> {
    let mut quote = None;
    for (at, &byte) in tag.iter().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(at + 1),
            (None, b'"' | b'\'') if tag[..at].trim_ascii_end().ends_with(b"=") => {
                quote = Some(byte);
            }
            (Some(open), _) if open == byte => quote = None,
            (Some(_) | None, _) => {}
        }
    }
    None
}

/// The element of a self-closing tag that needs an end tag.
fn expanded(tag: &[u8]) -> Option<&'static str> {
    let inside = tag.strip_prefix(b"<")?.strip_suffix(b">")?;
    let inside = inside.trim_ascii_end().strip_suffix(b"/")?;
    let ends_name = |byte: &u8| !byte.is_ascii_alphanumeric();
    let end = inside.iter().position(ends_name).unwrap_or(inside.len());
    let name = &inside[..end];
    let is_it = |known: &&&str| known.as_bytes().eq_ignore_ascii_case(name);
    EXPANDED.iter().find(is_it).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::tests::check_rows;

    /// The output, which is the same wherever the input is cut.
    fn filter(input: &str) -> String {
        let parts = |cut: usize| {
            let mut filter = XhtmlFilter::default();
            let mut output = filter.filter(&input.as_bytes()[..cut], false).to_vec();
            output.extend_from_slice(filter.filter(&input.as_bytes()[cut..], true));
            String::from_utf8_lossy(&output).into_owned()
        };
        for cut in 1..=input.len() {
            assert_eq!(parts(cut), parts(0), "{input} cut at {cut}");
        }
        parts(0)
    }

    #[test]
    fn self_closing_raw_elements_get_an_end_tag() {
        let rows = [
            "<script src='x'/>y => <script src='x'/></script>y",
            "<script src=x />y => <script src=x /></script>y",
            "<SCRIPT\nsrc=\"/>\" / >y => <SCRIPT\nsrc=\"/>\" / ></script>y",
            "<title/><svg/><template/> => <title/></title><svg/></svg><template/></template>",
            "<br/><a href='x'/><scripts/> => <br/><a href='x'/><scripts/>",
            "<script>x</script><style/> => <script>x</script><style/></style>",
        ];
        check_rows(&rows, filter);
    }

    #[test]
    fn sections_are_left_out_and_others_pass() {
        let rows = [
            "a<![CDATA[ <a href='x'> ]]]>b => ab",
            "<script>//<![CDATA[\nx='</script>'//]]>\n</script> => <script>//\n</script>",
            "<<script/> => <<script/></script>",
        ];
        check_rows(&rows, filter);
        for unchanged in [
            "<?xml version='1.0'?><p>",
            "a < b << c <",
            "<!-- <script/> ---><p>",
            "</p><!x><a b='<script/>'>",
            "é<!-- x",
        ] {
            assert_eq!(filter(unchanged), unchanged);
        }
        let long = format!("<a b='{}", "x".repeat(MAX_PENDING_BYTES));
        let mut filter = XhtmlFilter::default();
        let output = filter.filter(long.as_bytes(), false);
        assert_eq!(output, long.as_bytes());
    }
}
