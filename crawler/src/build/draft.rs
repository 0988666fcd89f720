//! The data of one entry of an input: its URL as it is written, its values checked one by one. A value
//! that cannot be used becomes a problem, and the entry goes on without it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use sitemap_core::{ChangeFreq, LastMod, Priority, UrlEntry, extension::Text};

use super::quoted;
use crate::page::Supplied;

/// An entry whose URL is not looked at yet.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Draft {
    /// As written, absolute or relative.
    pub(super) loc: String,
    pub(super) supplied: Supplied,
    /// Extensions as they are written, by the names that [`extensions_from_json`] knows.
    ///
    /// [`extensions_from_json`]: crate::page::extensions_from_json
    pub(super) extensions: Map<String, Value>,
    /// The defect of values that are not in it.
    pub(super) problems: Vec<String>,
    /// Values that are in it, and not as they are written.
    pub(super) corrections: Vec<String>,
}

/// A value of an entry, by the name that a column or a key has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Field {
    Loc,
    LastMod,
    ChangeFreq,
    Priority,
    /// Extensions of a kind, by their key.
    Extension(&'static str),
    /// The version for this language.
    Alternate(String),
    /// A value of the only video or article: its kind, and its name there.
    Member(&'static str, String),
    /// A value that an element of an own namespace asks for by this name.
    Own(String),
}

impl Field {
    /// The field that is called `name`; case and `_` or `-` do not matter. Columns can name single values:
    /// `hreflang:de`, `video_title`, `news_language`.
    /// `wanted` are the names that own elements ask for.
    pub(super) fn named(name: &str, wanted: &BTreeSet<String>) -> Option<Self> {
        let plain: String = name
            .trim()
            .chars()
            .filter(|character| !matches!(character, '_' | '-' | ' '))
            .map(|character| character.to_ascii_lowercase())
            .collect();
        Some(match plain.as_str() {
            "loc" | "url" => Self::Loc,
            "lastmod" | "lastmodified" => Self::LastMod,
            "changefreq" | "changefrequency" => Self::ChangeFreq,
            "priority" => Self::Priority,
            "image" | "images" | "imageloc" => Self::Extension("images"),
            "video" | "videos" => Self::Extension("videos"),
            "alternate" | "alternates" => Self::Extension("alternates"),
            "news" => Self::Extension("news"),
            "custom" => Self::Extension("custom"),
            _ if wanted.contains(name.trim()) => Self::Own(name.trim().to_owned()),
            _ => return Self::member(name.trim()),
        })
    }
}

impl Field {
    fn member(name: &str) -> Option<Self> {
        const KINDS: [(&str, &str); 2] = [("video", "videos"), ("news", "news")];
        const ALTERNATES: [&str; 2] = ["hreflang", "alternate"];
        let (kind, member) = name.split_once([':', '_'])?;
        let is = |known: &str| kind.eq_ignore_ascii_case(known);
        if member.is_empty() {
            None
        } else if ALTERNATES.into_iter().any(is) {
            Some(Self::Alternate(member.replace('_', "-")))
        } else {
            let (_, kind) = KINDS.into_iter().find(|(known, _)| is(known))?;
            Some(Self::Member(kind, member.to_ascii_lowercase()))
        }
    }
}

impl Draft {
    /// Sets a value that is written as text, as in a column; empty text is no value. Several
    /// images or videos are in one field with `|` between them, or in several fields.
    pub(super) fn set(&mut self, field: &Field, text: &str) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        let problem = match field {
            Field::Loc => {
                text.clone_into(&mut self.loc);
                return;
            }
            Field::LastMod => LastMod::parse(text)
                .map(|value| self.supplied.lastmod = Some(value))
                .map_err(|error| format!("lastmod {}: {error}", quoted(text))),
            Field::ChangeFreq => ChangeFreq::parse(&text.to_ascii_lowercase())
                .map(|value| {
                    self.supplied.changefreq = Some(value);
                    if value.as_str() != text {
                        self.corrections.push(format!(
                            "changefreq {} is read as {value}, expected lower case (R16)",
                            quoted(text)
                        ));
                    }
                })
                .map_err(|error| format!("changefreq {}: {error}", quoted(text))),
            Field::Extension(name) => {
                for item in text
                    .split('|')
                    .map(str::trim)
                    .filter(|item| !item.is_empty())
                {
                    self.add(name, Value::from(item));
                }
                return;
            }
            Field::Alternate(hreflang) => {
                self.add("alternates", json!({"hreflang": hreflang, "href": text}));
                return;
            }
            Field::Member(kind, name) => {
                self.add_member(kind, name, text);
                return;
            }
            Field::Own(name) => Text::new(text)
                .map(|value| {
                    let value = value.as_str().to_owned();
                    self.supplied.fields.insert(name.clone(), value);
                })
                .map_err(|error| format!("{name} {}: {error}", quoted(text))),
            Field::Priority => Priority::parse(text)
                .map(|value| self.supplied.priority = Some(value))
                .map_err(|error| format!("priority {}: {error}", quoted(text))),
        };
        self.problems.extend(problem.err());
    }

    /// Adds an extension as it is written.
    pub(super) fn add(&mut self, name: &str, value: Value) {
        if let Some(Value::Array(values)) = self.extensions.get_mut(name) {
            values.push(value);
        } else {
            let list = Value::Array(vec![value]);
            self.extensions.insert(name.to_owned(), list);
        }
    }

    /// Adds a value to the only video or article.
    fn add_member(&mut self, kind: &str, name: &str, text: &str) {
        let is_there =
            matches!(self.extensions.get(kind), Some(Value::Array(values)) if !values.is_empty());
        if !is_there {
            self.add(kind, Value::Object(Map::new()));
        }
        let first = self
            .extensions
            .get_mut(kind)
            .and_then(|values| values.get_mut(0));
        if let Some(Value::Object(members)) = first {
            let value = match name {
                "tag" | "tags" => text.split('|').map(Value::from).collect(),
                _ => Value::from(text),
            };
            members.insert(name.to_owned(), value);
        }
    }
}

impl From<UrlEntry> for Draft {
    fn from(entry: UrlEntry) -> Self {
        Self {
            loc: entry.loc.to_string(),
            supplied: Supplied {
                lastmod: entry.lastmod,
                changefreq: entry.changefreq,
                priority: entry.priority,
                extensions: entry.extensions,
                fields: BTreeMap::new(),
            },
            extensions: Map::new(),
            problems: Vec::new(),
            corrections: Vec::new(),
        }
    }
}
