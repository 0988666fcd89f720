//! html5ever's tokenizer beside ours, for tests: both must find the same tokens in any text.

use std::{cell::RefCell, collections::BTreeMap};

use html5ever::{
    tendril::StrTendril,
    tokenizer::{self, BufferQueue, TagKind, Token, TokenSinkResult, states::RawKind},
};

use super::{
    Following, MAX_TAG_BYTES, Name, Tag, Text, TextKind, TextModel, TokenSink, Tokenizer, decode,
    decode_attribute, namespaces::html, references::plain, tag::MAX_ATTRIBUTES,
};

/// A token, as both tokenizers have it.
#[derive(Debug, PartialEq, Eq)]
enum FoundToken {
    Start {
        name: String,
        attributes: BTreeMap<String, String>,
        is_self_closing: bool,
    },
    End(String),
    Comment(String),
    Text(String),
}

/// Asserts that html5ever finds the same tokens in a text that comes in pieces of so many bytes, at least one. A text that may
/// have a tag that is not kept whole is not compared.
///
/// # Panics
/// It finds others.
pub fn assert_tokens_of_html5ever(text: &str, piece: usize) {
    if text.len() > MAX_TAG_BYTES {
        return;
    }
    let mut tokenizer = Tokenizer::new(Ours::default());
    for piece in text.as_bytes().chunks(piece) {
        tokenizer.write(piece);
    }
    let ours = tokenizer.finish().found;
    let theirs = theirs(text);
    let is_kept_whole = |found: &FoundToken| match found {
        FoundToken::Start { attributes, .. } => attributes.len() <= MAX_ATTRIBUTES,
        FoundToken::End(_) | FoundToken::Comment(_) | FoundToken::Text(_) => true,
    };
    if theirs.iter().all(is_kept_whole) {
        assert_eq!(ours, theirs, "{text:?} in pieces of {piece} bytes");
    }
}

/// Number of tags in a page that comes in pieces of so many bytes, at least one: the work of the tokenizer alone.
pub fn count_tags(page: &[u8], piece: usize) -> usize {
    let mut tokenizer = Tokenizer::new(TagCount::default());
    for piece in page.chunks(piece) {
        tokenizer.write(piece);
    }
    tokenizer.finish().tags
}

#[derive(Default)]
struct TagCount {
    tags: usize,
}

impl TokenSink for TagCount {
    fn start_tag(&mut self, tag: &Tag<'_>) -> Following {
        self.tags += 1;
        html(tag.name())
    }

    fn end_tag(&mut self, _tag: &Tag<'_>) -> Following {
        self.tags += 1;
        Following::DATA
    }

    fn text(&mut self, _text: Text<'_>, _kind: TextKind) {}
}

fn put_text(found: &mut Vec<FoundToken>, text: &str) {
    match found.last_mut() {
        _ if text.is_empty() => {}
        Some(FoundToken::Text(last)) => last.push_str(text),
        _ => found.push(FoundToken::Text(text.to_owned())),
    }
}

#[derive(Default)]
struct Ours {
    found: Vec<FoundToken>,
    comment: Vec<u8>,
}

impl TokenSink for Ours {
    fn start_tag(&mut self, tag: &Tag<'_>) -> Following {
        let mut attributes = BTreeMap::new();
        for (name, value) in tag.all_attributes() {
            let name = plain(name, false).to_ascii_lowercase();
            let value = decode_attribute(value).into_owned();
            attributes.entry(name).or_insert(value);
        }
        self.found.push(FoundToken::Start {
            name: plain(tag.name_as_written(), false).to_ascii_lowercase(),
            attributes,
            is_self_closing: tag.is_self_closing(),
        });
        html(tag.name())
    }

    fn end_tag(&mut self, tag: &Tag<'_>) -> Following {
        let name = plain(tag.name_as_written(), false).to_ascii_lowercase();
        self.found.push(FoundToken::End(name));
        Following::DATA
    }

    fn text(&mut self, text: Text<'_>, kind: TextKind) {
        let text = text.bytes();
        put_text(&mut self.found, &decode(text, kind));
    }

    fn comment(&mut self, piece: &[u8], is_last: bool) {
        self.comment.extend_from_slice(piece);
        if is_last {
            let comment = plain(&std::mem::take(&mut self.comment), false).into_owned();
            self.found.push(FoundToken::Comment(comment));
        }
    }
}

#[derive(Default)]
struct Theirs {
    found: RefCell<Vec<FoundToken>>,
}

impl tokenizer::TokenSink for Theirs {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut found = self.found.borrow_mut();
        match token {
            Token::TagToken(tag) => {
                let name = tag.name.to_string();
                if tag.kind == TagKind::EndTag {
                    found.push(FoundToken::End(name));
                    return TokenSinkResult::Continue;
                }
                let model = html(Name::new(name.as_bytes())).model;
                let attributes = tag.attrs.iter();
                let attributes =
                    attributes.map(|it| (it.name.local.to_string(), it.value.to_string()));
                found.push(FoundToken::Start {
                    name,
                    attributes: attributes.collect(),
                    is_self_closing: tag.self_closing,
                });
                return match model {
                    TextModel::Data => TokenSinkResult::Continue,
                    TextModel::Rcdata => TokenSinkResult::RawData(RawKind::Rcdata),
                    TextModel::Rawtext => TokenSinkResult::RawData(RawKind::Rawtext),
                    TextModel::Script => TokenSinkResult::RawData(RawKind::ScriptData),
                    TextModel::Plaintext => TokenSinkResult::Plaintext,
                };
            }
            Token::CommentToken(text) => found.push(FoundToken::Comment(text.to_string())),
            Token::CharacterTokens(text) => put_text(&mut found, &text),
            Token::NullCharacterToken => put_text(&mut found, "\0"),
            Token::DoctypeToken(_) | Token::ParseError(_) | Token::EOFToken => {}
        }
        TokenSinkResult::Continue
    }
}

fn theirs(text: &str) -> Vec<FoundToken> {
    let options = tokenizer::TokenizerOpts {
        discard_bom: false,
        ..tokenizer::TokenizerOpts::default()
    };
    let tokenizer = tokenizer::Tokenizer::new(Theirs::default(), options);
    let input = BufferQueue::default();
    input.push_back(StrTendril::from_slice(text));
    // It stops at each script.
    while !input.is_empty() {
        let _ = tokenizer.feed(&input);
    }
    tokenizer.end();
    tokenizer.sink.found.into_inner()
}
