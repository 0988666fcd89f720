//! The tokenizer against html5lib's tables, and against itself when its input is cut anywhere.

use std::{collections::BTreeMap, fs, path::PathBuf};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::references::plain;
use super::*;

/// Collects tokens in the form of html5lib's tables.
#[derive(Debug, Default)]
struct Tokens {
    found: Vec<Value>,
    comment: Vec<u8>,
    raw: Vec<u8>,
    kind: Option<TextKind>,
}

impl Tokens {
    fn end_text(&mut self) {
        if let Some(kind) = self.kind.take() {
            let text = decode(&std::mem::take(&mut self.raw), kind).into_owned();
            if let Some(Value::Array(last)) = self.found.last_mut()
                && last[0] == "Character"
            {
                let joined = format!("{}{text}", last[1].as_str().unwrap());
                last[1] = Value::String(joined);
            } else {
                self.found.push(json!(["Character", text]));
            }
        }
    }

    fn push(&mut self, token: Value) {
        self.end_text();
        self.found.push(token);
    }
}

impl TokenSink for Tokens {
    fn start_tag(&mut self, tag: &Tag<'_>) -> Following {
        let mut attributes = serde_json::Map::new();
        for (name, value) in tag.all_attributes() {
            let name = plain(name, false).to_ascii_lowercase();
            let value = Value::String(decode_attribute(value).into_owned());
            attributes.entry(name).or_insert(value);
        }
        let name = plain(tag.name_as_written(), false).to_ascii_lowercase();
        let mut token = vec![json!("StartTag"), json!(name), Value::Object(attributes)];
        if tag.is_self_closing() {
            token.push(json!(true));
        }
        self.push(Value::Array(token));
        Following::DATA
    }

    fn end_tag(&mut self, tag: &Tag<'_>) -> Following {
        let name = plain(tag.name_as_written(), false).to_ascii_lowercase();
        self.push(json!(["EndTag", name]));
        Following::DATA
    }

    fn text(&mut self, text: Text<'_>, kind: TextKind) {
        let text = text.bytes();
        if self.kind != Some(kind) {
            self.end_text();
        }
        self.kind = Some(kind);
        self.raw.extend_from_slice(text);
    }

    fn comment(&mut self, piece: &[u8], is_last: bool) {
        self.comment.extend_from_slice(piece);
        if is_last {
            let comment = plain(&std::mem::take(&mut self.comment), false).into_owned();
            self.push(json!(["Comment", comment]));
        }
    }

    fn doctype(&mut self) {
        self.push(json!(["DOCTYPE"]));
    }
}

/// The tokens of a page that comes in pieces of so many bytes, read from a state of the standard on.
fn tokens(input: &[u8], state: &str, element: &str, piece: usize) -> Vec<Value> {
    let mut tokenizer = Tokenizer::new(Tokens::default());
    let model = match state {
        "Data state" => TextModel::Data,
        "RCDATA state" => TextModel::Rcdata,
        "RAWTEXT state" => TextModel::Rawtext,
        "Script data state" => TextModel::Script,
        "PLAINTEXT state" => TextModel::Plaintext,
        "CDATA section state" => {
            tokenizer.state = TokenState::Cdata;
            TextModel::Data
        }
        other => panic!("{other}"),
    };
    tokenizer.following.model = model;
    tokenizer.raw = RawTextEnd::new(Name::new(element.as_bytes()));
    for piece in input.chunks(piece) {
        tokenizer.write(piece);
    }
    let mut sink = tokenizer.finish();
    sink.end_text();
    sink.found
}

/// The folder with the tables; `None` where there is none.
fn tables() -> Option<PathBuf> {
    let shared = std::env::var_os("ARPENT_SHARED").map(PathBuf::from);
    if shared.is_none() {
        crate::testing::skip("ARPENT_SHARED is not set");
    }
    Some(shared?.join("conformance/html/tokenizer"))
}

/// The text of a value of a table that is escaped twice.
fn unescape(value: &mut Value) {
    match value {
        Value::String(text) => {
            let mut units = Vec::new();
            let mut rest = text.as_str();
            while let Some((before, after)) = rest.split_once("\\u") {
                units.extend(before.encode_utf16());
                units.push(u16::from_str_radix(&after[..4], 16).unwrap());
                rest = &after[4..];
            }
            units.extend(rest.encode_utf16());
            *text = String::from_utf16_lossy(&units);
        }
        Value::Array(values) => values.iter_mut().for_each(unescape),
        Value::Object(values) => {
            let old = std::mem::take(values);
            for (name, mut value) in old {
                let mut name = Value::String(name);
                unescape(&mut name);
                unescape(&mut value);
                values.insert(name.as_str().unwrap().to_owned(), value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Cases of the tables that fail, with the reason.
const EXPECTED_FAILURES: [(&str, &str); 3] = [
    ("xmlViolation.test: Non-XML character", COERCED),
    ("xmlViolation.test: Non-XML space", COERCED),
    ("xmlViolation.test: Double hyphen in comment", COERCED),
];

/// A reason of [`EXPECTED_FAILURES`].
const COERCED: &str =
    "only for readers that make XML of a page: characters that XML forbids are replaced";

#[test]
fn tokens_are_those_of_html5lib() {
    let Some(folder) = tables() else {
        return;
    };
    let mut wrong = BTreeMap::new();
    let mut cases = 0;
    for file in
        fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
    {
        let path = file.unwrap().path();
        let table: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        for case in table
            .as_object()
            .unwrap()
            .values()
            .flat_map(|cases| cases.as_array().unwrap())
        {
            cases += 1;
            let mut case = case.clone();
            let is_escaped = case["doubleEscaped"] == true;
            if is_escaped {
                unescape(&mut case["input"]);
                unescape(&mut case["output"]);
            }
            let states = case["initialStates"].as_array().cloned();
            let states = states.unwrap_or_else(|| vec![json!("Data state")]);
            let input = case["input"].as_str().unwrap();
            let element = case["lastStartTag"].as_str().unwrap_or_default();
            let mut expected: Vec<Value> = Vec::new();
            for token in case["output"].as_array().unwrap() {
                match token[0].as_str() {
                    // Of a DOCTYPE nothing is read.
                    Some("DOCTYPE") => expected.push(json!(["DOCTYPE"])),
                    _ => expected.push(token.clone()),
                }
            }
            for state in &states {
                for piece in [input.len().max(1), 1, 3] {
                    let found = tokens(input.as_bytes(), state.as_str().unwrap(), element, piece);
                    if found != expected {
                        let name = path.file_name().unwrap().to_string_lossy().into_owned();
                        wrong.insert(
                            format!("{name}: {}", case["description"].as_str().unwrap()),
                            format!("{state} {piece} {input:?}\n  found    {found:?}\n  expected {expected:?}"),
                        );
                    }
                }
            }
        }
    }
    assert_eq!(cases, 6_810);
    for (name, _reason) in EXPECTED_FAILURES {
        assert!(wrong.remove(name).is_some(), "{name} passes");
    }
    assert_eq!(wrong, BTreeMap::new());
}

/// Pieces of markup that switch the state of a tokenizer, in and out of order, divided by `|`.
const FRAGMENTS: &str = "\
    <a href=b>|<a href='b&amp;c' rel=\"d\">|</a|</a b='>'>|<p/>|<|>|</|<!|<!-|<!--|-->|--!>|--|\
    <!doctype html>|<![CDATA[|]]>|<?xml ?>|<title>|</title>|<textarea>|</textarea >|<script>|\
    </script>|</script|<style>|</style/>|<xmp>|</xmp>|<plaintext>|&amp;|&ampx|&notit;|&#65;|\
    &#x0;|&|é|\0|\r\n|\r|text |'|\"|=";

fn fragments() -> Vec<&'static str> {
    FRAGMENTS.split('|').collect()
}

proptest! {
    #[test]
    fn tokens_are_those_of_html5ever(
        fragments in proptest::collection::vec(proptest::sample::select(fragments()), 0..24),
        piece in 1_usize..12,
    ) {
        let text = fragments.concat();
        assert_tokens_of_html5ever(&text, piece);
        assert_tokens_of_html5ever(&text, usize::MAX);
    }

    #[test]
    fn tokens_of_any_text_are_those_of_html5ever(text in "[<>/!a-c&#x;='\"\\- \\PC]{0,60}") {
        assert_tokens_of_html5ever(&text, 1);
        assert_tokens_of_html5ever(&text, usize::MAX);
    }
}

/// Takes the tokens and keeps none.
#[derive(Default)]
struct Counted {
    namespaces: Namespaces,
    tokens: usize,
}

impl TokenSink for Counted {
    fn start_tag(&mut self, tag: &Tag<'_>) -> Following {
        self.tokens += 1;
        self.namespaces.start_tag(tag).1
    }

    fn end_tag(&mut self, tag: &Tag<'_>) -> Following {
        self.tokens += 1;
        self.namespaces.end_tag(tag)
    }

    fn text(&mut self, _text: Text<'_>, _kind: TextKind) {
        self.tokens += 1;
    }
}

#[test]
fn work_grows_with_the_page_and_not_faster() {
    let megabyte = 1 << 20;
    for (start, part) in [
        ("", "<a href=x>"),
        ("", "<div>"),
        ("", "</div>"),
        ("", "<"),
        ("", "</"),
        ("", "&"),
        ("", "&amp"),
        ("<a href='", "x"),
        ("<a ", "b "),
        ("<a ", "b='c' "),
        ("<", "a"),
        ("<!--", "-"),
        ("<!--", "<!--"),
        ("<script><!--", "<script>"),
        ("<script>", "</scrip"),
        ("<title>", "</titl"),
        ("<svg>", "<g>"),
        ("<svg>", "<![CDATA["),
        ("<svg><![CDATA[", "]]"),
        ("<!", "x"),
        ("<!doctype ", "'"),
        ("<plaintext>", "&"),
    ] {
        let work = |bytes: usize| {
            let page = [start, &part.repeat(bytes / part.len())].concat();
            let mut tokenizer = Tokenizer::new(Counted::default());
            for piece in page.as_bytes().chunks(16 * 1_024) {
                tokenizer.write(piece);
                assert!(tokenizer.rest.len() <= MAX_TAG_BYTES + 16 * 1_024);
            }
            let work = tokenizer.work;
            work + tokenizer.finish().tokens
        };
        let (once, twice) = (work(megabyte), work(2 * megabyte));
        assert!(
            twice <= 2 * once + once / 10,
            "{start} {part}: {once} for 1 MiB, {twice} for 2 MiB"
        );
    }
}
