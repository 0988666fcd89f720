//! Makes XHTML safe for an HTML tokenizer, byte by byte, before it is parsed.
//!
//! In XML syntax `<script src="x"/>` is a whole element; an HTML tokenizer takes everything after it for script text. So such
//! elements get an end tag of their own. What HTML would take for markup but XML does not (CDATA sections, processing
//! instructions, the internal subset of a document type) is left out. Everything else passes unchanged, well-formed or not.

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

/// Elements whose content is not searched for tags.
const RAW: [&str; 2] = ["script", "style"];

const CDATA_START: &[u8] = b"<![CDATA[";

#[derive(Debug)]
enum State {
    Text,
    /// After a `<` whose construct is not known yet; the bytes are in `pending`.
    Open,
    Tag(Tag),
    /// The end that is looked for, how much of it has been seen, and whether the content is dropped.
    Until {
        end: &'static [u8],
        matched: usize,
        dropped: bool,
    },
    Declaration {
        quote: Option<u8>,
        in_subset: bool,
    },
}

/// Inside a start tag.
#[derive(Debug, Default)]
struct Tag {
    name: String,
    has_name: bool,
    quote: Option<u8>,
    previous: u8,
}

/// The filter; see the module.
#[derive(Debug)]
pub(super) struct XhtmlFilter {
    state: State,
    pending: Vec<u8>,
    /// The raw element that is open, out of [`RAW`].
    raw: Option<&'static str>,
    output: Vec<u8>,
}

impl XhtmlFilter {
    /// A filter at the beginning of a page.
    pub(super) fn new() -> Self {
        Self {
            state: State::Text,
            pending: Vec::new(),
            raw: None,
            output: Vec::new(),
        }
    }

    /// Filters the next chunk, which is UTF-8 or close to it.
    pub(super) fn filter(&mut self, bytes: &[u8]) -> &[u8] {
        self.output.clear();
        let mut rest = bytes;
        while !rest.is_empty() {
            let plain_bytes = match self.state {
                State::Text => memchr::memchr(b'<', rest).unwrap_or(rest.len()),
                State::Open | State::Tag(_) | State::Until { .. } | State::Declaration { .. } => 0,
            };
            let (plain, others) = rest.split_at(plain_bytes);
            self.output.extend_from_slice(plain);
            let Some((&byte, others)) = others.split_first() else {
                break;
            };
            self.step(byte);
            rest = others;
        }
        &self.output
    }

    fn step(&mut self, byte: u8) {
        match &mut self.state {
            State::Text => {
                if byte == b'<' {
                    self.pending.push(byte);
                    self.state = State::Open;
                } else {
                    self.output.push(byte);
                }
            }
            State::Open => {
                self.pending.push(byte);
                self.decide();
            }
            State::Tag(tag) => {
                self.output.push(byte);
                if tag.step(byte) {
                    let tag = std::mem::take(tag);
                    self.end_tag(&tag);
                }
            }
            State::Until {
                end,
                matched,
                dropped,
            } => {
                if !*dropped {
                    self.output.push(byte);
                }
                *matched = advance(end, *matched, byte);
                if *matched == end.len() {
                    self.state = State::Text;
                }
            }
            State::Declaration { quote, in_subset } => {
                let opens_subset = byte == b'[' && quote.is_none();
                if !*in_subset && !opens_subset {
                    self.output.push(byte);
                }
                match (*quote, byte) {
                    (Some(open), _) if open == byte => *quote = None,
                    (None, b'"' | b'\'') => *quote = Some(byte),
                    (None, b'[') => *in_subset = true,
                    (None, b']') => *in_subset = false,
                    (None, b'>') if !*in_subset => self.state = State::Text,
                    (Some(_) | None, _) => {}
                }
            }
        }
    }

    /// Decides the construct that `pending` begins, as soon as that is certain.
    fn decide(&mut self) {
        let pending = &*self.pending;
        if pending == CDATA_START {
            self.pending.clear();
            self.state = State::Until {
                end: b"]]>",
                matched: 0,
                dropped: true,
            };
            return;
        }
        if CDATA_START.starts_with(pending) {
            return;
        }
        if let Some(name) = self.raw {
            self.decide_in_raw(name);
            return;
        }
        match pending {
            b"<!-" => return,
            b"<?" => {
                self.pending.clear();
                self.state = State::Until {
                    end: b"?>",
                    matched: 0,
                    dropped: true,
                };
                return;
            }
            b"<!--" => {
                self.state = State::Until {
                    end: b"-->",
                    matched: 0,
                    dropped: false,
                }
            }
            [b'<', b'!', ..] => {
                self.state = State::Declaration {
                    quote: None,
                    in_subset: false,
                }
            }
            &[b'<', letter] if letter.is_ascii_alphabetic() => {
                self.state = State::Tag(Tag {
                    name: char::from(letter.to_ascii_lowercase()).to_string(),
                    ..Tag::default()
                });
            }
            [b'<', b'<'] => {
                // The second one may begin a construct.
                self.output.push(b'<');
                self.pending.truncate(1);
                return;
            }
            _ => self.state = State::Text,
        }
        self.output.append(&mut self.pending);
    }

    /// Inside script or style only their end tag and CDATA sections count.
    fn decide_in_raw(&mut self, name: &'static str) {
        let pending = &*self.pending;
        let end_tag = [b"</", name.as_bytes()].concat();
        if pending.eq_ignore_ascii_case(&end_tag) {
            self.raw = None;
        } else if end_tag
            .get(..pending.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(pending))
        {
            return;
        } else if pending.ends_with(b"<") {
            // The last byte may begin the end tag.
            self.pending.pop();
            self.output.append(&mut self.pending);
            self.pending.push(b'<');
            return;
        }
        self.state = State::Text;
        self.output.append(&mut self.pending);
    }

    /// A start tag has just been written.
    fn end_tag(&mut self, tag: &Tag) {
        self.state = State::Text;
        let is_self_closing = tag.previous == b'/';
        let find = |names: &[&'static str]| names.iter().copied().find(|name| *name == tag.name);
        if is_self_closing {
            if let Some(name) = find(&EXPANDED) {
                self.output.extend_from_slice(b"</");
                self.output.extend_from_slice(name.as_bytes());
                self.output.push(b'>');
            }
        } else {
            self.raw = find(&RAW);
        }
    }
}

impl Tag {
    /// Takes the next byte; true when it ends the tag. `previous` is then the byte before the end.
    fn step(&mut self, byte: u8) -> bool {
        if let Some(quote) = self.quote {
            if byte == quote {
                self.quote = None;
                self.previous = byte;
            }
            return false;
        }
        match byte {
            b'>' => return true,
            b'"' | b'\'' if self.previous == b'=' => self.quote = Some(byte),
            // Longer names are none of ours.
            _ if !self.has_name && byte.is_ascii_alphanumeric() && self.name.len() < 16 => {
                self.name.push(char::from(byte.to_ascii_lowercase()));
            }
            _ => self.has_name = true,
        }
        if !byte.is_ascii_whitespace() {
            self.previous = byte;
        }
        false
    }
}

/// Length of the part of `end` that was seen after one more byte.
fn advance(end: &[u8], matched: usize, byte: u8) -> usize {
    if end[matched] == byte {
        return matched + 1;
    }
    // All ends repeat their first byte at most: `]]>`, `-->`, `?>`.
    if end[0] != byte {
        0
    } else if matched == 2 {
        2
    } else {
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, expected: &str) {
        assert_eq!(
            String::from_utf8_lossy(XhtmlFilter::new().filter(input.as_bytes())),
            expected,
            "{input}"
        );
        for at in 0..input.len() {
            let mut filter = XhtmlFilter::new();
            let mut output = filter.filter(&input.as_bytes()[..at]).to_vec();
            output.extend_from_slice(filter.filter(&input.as_bytes()[at..]));
            assert_eq!(
                String::from_utf8_lossy(&output),
                expected,
                "{input} split at {at}"
            );
        }
    }

    #[test]
    fn self_closing_raw_elements_get_an_end_tag() {
        check("<script src='x'/>y", "<script src='x'/></script>y");
        check("<script src=x />y", "<script src=x /></script>y");
        check(
            "<SCRIPT\nsrc=\"/>\" / >y",
            "<SCRIPT\nsrc=\"/>\" / ></script>y",
        );
        check(
            "<title/><svg/><template/>",
            "<title/></title><svg/></svg><template/></template>",
        );
        check(
            "<br/><a href='x'/><scripts/>",
            "<br/><a href='x'/><scripts/>",
        );
        check(
            "<script>x</script><style/>",
            "<script>x</script><style/></style>",
        );
    }

    #[test]
    fn text_that_is_not_markup_in_xml_is_left_out() {
        check("<?xml version='1.0'?><p>", "<p>");
        check("<?php echo '<a>' ?>x", "x");
        check("a<![CDATA[ <a href='x'> ]]]>b", "ab");
        check("<!DOCTYPE html [<!ENTITY x '<a>]'>]>y", "<!DOCTYPE html >y");
        check(
            "<!DOCTYPE html PUBLIC '[>' \"x\">y",
            "<!DOCTYPE html PUBLIC '[>' \"x\">y",
        );
    }

    #[test]
    fn script_text_is_not_searched_for_tags() {
        check(
            "<script>a('<style/>')</script><style/>",
            "<script>a('<style/>')</script><style/></style>",
        );
        check(
            "<script>//<![CDATA[\nx='</script>'//]]>\n</script>",
            "<script>//\n</script>",
        );
        check(
            "<style>a<<</STYLE><title/>",
            "<style>a<<</STYLE><title/></title>",
        );
    }

    #[test]
    fn everything_else_passes() {
        check("a < b << c <", "a < b << c ");
        check("<!-- <script/> ---><p>", "<!-- <script/> ---><p>");
        check("</p><!x><a b='<script/>'>", "</p><!x><a b='<script/>'>");
        check("<<script/>", "<<script/></script>");
        check("é", "é");
    }
}
