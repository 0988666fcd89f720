//! The settings that are tables of the file: page rules and own namespaces. It finds their keys, texts
//! and lines; whether a selector or a name is one is decided by the library.

use std::ops::Range;

use crawler::config::{ElementValue, Namespace, NamespaceElement, PageAction, PageRule};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    file::Place,
    problem::{Origin, Problem},
};

/// The key of the tables that hold page rules.
pub(super) const PAGE_RULE: &str = "page_rule";

/// The key of the tables that hold own namespaces.
pub(super) const NAMESPACE: &str = "namespace";

/// The key of the tables of a namespace that hold its elements.
const ELEMENT: &str = "element";

/// One `[[namespace]]` with its lines.
#[derive(Debug, Clone)]
pub(crate) struct NamespaceTable {
    /// What it says.
    pub(crate) namespace: Namespace,
    /// Where it begins.
    pub(crate) origin: Origin,
    /// Where each of its elements begins.
    pub(crate) elements: Vec<Origin>,
}

/// A text of a table and where it stands.
type Found<'a> = Option<(&'a str, Range<usize>)>;

/// The path of the tables under `key` in the table `of`.
fn path_of(of: Option<&str>, key: &str) -> String {
    of.map_or_else(|| key.to_owned(), |of| format!("{of}.{key}"))
}

impl Place {
    /// The page rules, of the table `of` if they are part of one.
    pub(super) fn page_rules(
        &self,
        value: &Spanned<DeValue<'_>>,
        of: Option<&str>,
        problems: &mut Vec<Problem>,
    ) -> Vec<(PageRule, Origin)> {
        let rules = self.tables(value, PAGE_RULE, &path_of(of, PAGE_RULE), problems);
        let rules = rules.into_iter().filter_map(|(table, span)| {
            Some((self.page_rule(table, &span, problems)?, self.origin(&span)))
        });
        rules.collect()
    }

    /// The namespaces, of the table `of` if they are part of one.
    pub(super) fn namespaces(
        &self,
        value: &Spanned<DeValue<'_>>,
        of: Option<&str>,
        problems: &mut Vec<Problem>,
    ) -> Vec<NamespaceTable> {
        let path = path_of(of, NAMESPACE);
        let namespaces = self.tables(value, NAMESPACE, &path, problems);
        let namespaces = namespaces
            .into_iter()
            .filter_map(|(table, span)| self.namespace(table, &span, &path, problems));
        namespaces.collect()
    }

    /// The tables under a key, `path` in full.
    pub(super) fn tables<'a, 'd>(
        &self,
        value: &'a Spanned<DeValue<'d>>,
        key: &str,
        path: &str,
        problems: &mut Vec<Problem>,
    ) -> Vec<(&'a DeTable<'d>, Range<usize>)> {
        let items: &[_] = match value.get_ref() {
            DeValue::Array(items) => items,
            _ => &[],
        };
        let tables: Vec<_> = items
            .iter()
            .filter_map(|item| Some((item.get_ref().as_table()?, item.span())))
            .collect();
        if tables.is_empty() || tables.len() < items.len() {
            let message = format!("expected tables: write [[{path}]] above each");
            problems.push(self.problem(&value.span(), key, &message));
            return Vec::new();
        }
        tables
    }

    /// The texts of a table by key; what is no text or has an unknown key is among `problems`. The key
    /// `other` is somebody else's.
    fn texts<'a, const N: usize>(
        &self,
        table: &'a DeTable<'_>,
        (what, keys): (&str, [&str; N]),
        other: Option<&str>,
        problems: &mut Vec<Problem>,
    ) -> [Found<'a>; N] {
        let mut texts: [Found<'a>; N] = [const { None }; N];
        for (key, value) in table {
            let name: &str = key.get_ref();
            if other == Some(name) {
                continue;
            }
            let Some(index) = keys.iter().position(|known| *known == name) else {
                problems.push(self.unknown(key, what, keys.into_iter().chain(other)));
                continue;
            };
            match value.get_ref().as_str() {
                Some(text) if !text.is_empty() => texts[index] = Some((text, value.span())),
                Some(_) | None => {
                    let found = self.value(value);
                    problems.push(self.problem(
                        &value.span(),
                        name,
                        &format!("expected text, found {found}"),
                    ));
                }
            }
        }
        texts
    }

    /// One `[[page_rule]]` table; `None` when it cannot be used, and why is among `problems`.
    fn page_rule(
        &self,
        table: &DeTable<'_>,
        span: &Range<usize>,
        problems: &mut Vec<Problem>,
    ) -> Option<PageRule> {
        const KEYS: [&str; 4] = ["pages", "selector", "action", "attribute"];
        let before = problems.len();
        let [pages, selector, action, attribute] =
            self.texts(table, ("key of a page rule", KEYS), None, problems);
        let action = match (action, attribute) {
            (Some(("exclude", _)), None) => Some(PageAction::Exclude),
            (Some(("exclude", _)), Some((_, span))) => {
                problems.push(self.problem(&span, "attribute", "only a lastmod rule has one"));
                None
            }
            (Some(("lastmod", _)), attribute) => Some(PageAction::Lastmod {
                attribute: attribute.map(|(text, _)| text.to_owned()),
            }),
            (Some((other, span)), _) => {
                let message = format!(r#"expected "exclude" or "lastmod", found "{other}""#);
                problems.push(self.problem(&span, "action", &message));
                None
            }
            (None, _) => None,
        };
        if problems.len() > before {
            return None;
        }
        let missing = [
            ("selector", selector.is_none()),
            ("action", action.is_none()),
        ];
        self.missing(span, PAGE_RULE, &missing, problems);
        let pages = pages.map_or("*", |(text, _)| text).to_owned();
        Some(PageRule {
            pages,
            selector: selector?.0.to_owned(),
            action: action?,
        })
    }

    /// One `[[namespace]]` table, `path` in full; `None` when it cannot be used, and why is among `problems`.
    fn namespace(
        &self,
        table: &DeTable<'_>,
        span: &Range<usize>,
        path: &str,
        problems: &mut Vec<Problem>,
    ) -> Option<NamespaceTable> {
        const KEYS: [&str; 3] = ["prefix", "uri", "schema"];
        let before = problems.len();
        let what = ("key of a namespace", KEYS);
        let [prefix, uri, schema] = self.texts(table, what, Some(ELEMENT), problems);
        let missing = [("prefix", prefix.is_none()), ("uri", uri.is_none())];
        if problems.len() == before {
            self.missing(span, NAMESPACE, &missing, problems);
        }
        let mut namespace = Namespace {
            prefix: prefix?.0.to_owned(),
            uri: uri?.0.to_owned(),
            schema: schema.map(|(text, _)| text.to_owned()),
            elements: Vec::new(),
        };
        let mut origins = Vec::new();
        let elements = table
            .get(ELEMENT)
            .map(|value| self.tables(value, ELEMENT, &format!("{path}.{ELEMENT}"), problems));
        for (table, span) in elements.unwrap_or_default() {
            if let Some(element) = self.element(table, &span, problems) {
                namespace.elements.push(element);
                origins.push(self.origin(&span));
            }
        }
        Some(NamespaceTable {
            namespace,
            origin: self.origin(span),
            elements: origins,
        })
    }

    /// One `[[namespace.element]]` table; `None` when it cannot be used, and why is among `problems`.
    fn element(
        &self,
        table: &DeTable<'_>,
        span: &Range<usize>,
        problems: &mut Vec<Problem>,
    ) -> Option<NamespaceElement> {
        const KEYS: [&str; 6] = ["name", "pages", "value", "selector", "attribute", "field"];
        let before = problems.len();
        let [name, pages, value, selector, attribute, field] =
            self.texts(table, ("key of an element", KEYS), None, problems);
        let owned = |(text, _): (&str, Range<usize>)| text.to_owned();
        let value = match (value, selector, field) {
            (Some(value), None, None) => Some(ElementValue::Constant(owned(value))),
            (None, Some(selector), None) => Some(ElementValue::Selected {
                selector: owned(selector),
                attribute: attribute.clone().map(owned),
            }),
            (None, None, Some(field)) => Some(ElementValue::Field(owned(field))),
            _ => None,
        };
        if problems.len() > before {
            return None;
        }
        self.missing(span, ELEMENT, &[("name", name.is_none())], problems);
        if value.is_none() {
            let message = "expected one of value, selector and field";
            problems.push(self.problem(span, ELEMENT, message));
        } else if let (Some(ElementValue::Constant(_) | ElementValue::Field(_)), Some((_, span))) =
            (&value, attribute)
        {
            let message = "only an element with a selector has one";
            problems.push(self.problem(&span, "attribute", message));
            return None;
        }
        Some(NamespaceElement {
            name: owned(name?),
            pages: pages.map_or("*", |(text, _)| text).to_owned(),
            value: value?,
        })
    }

    /// Says which keys of a table are missing.
    pub(super) fn missing(
        &self,
        span: &Range<usize>,
        table: &str,
        keys: &[(&str, bool)],
        problems: &mut Vec<Problem>,
    ) {
        for (key, _) in keys.iter().filter(|(_, is_missing)| *is_missing) {
            problems.push(self.problem(span, table, &format!("{key} is missing")));
        }
    }
}
