//! The settings that are tables of the file: page rules and custom namespaces. It finds their keys and texts; whether a selector
//! or a name is one is decided by the library.

use std::ops::Range;

use crawler::config::{ElementValue, Namespace, NamespaceElement, PageAction, PageRule};
use serde::{
    Deserialize,
    de::{DeserializeOwned, IntoDeserializer as _},
};
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

/// The key of the tables that hold custom namespaces.
pub(super) const NAMESPACE: &str = "namespace";

/// One `[[page_rule]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PageRuleTable {
    #[serde(default = "all_pages")]
    pages: String,
    selector: String,
    action: Action,
    attribute: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    Exclude,
    Lastmod,
}

/// One `[[namespace]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NamespaceTable {
    prefix: String,
    uri: String,
    schema: Option<String>,
    #[serde(default)]
    element: Vec<ElementTable>,
}

/// One `[[namespace.element]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ElementTable {
    name: String,
    #[serde(default = "all_pages")]
    pages: String,
    value: Option<String>,
    selector: Option<String>,
    attribute: Option<String>,
    field: Option<String>,
}

fn all_pages() -> String {
    "*".to_owned()
}

impl TryFrom<PageRuleTable> for PageRule {
    type Error = String;

    fn try_from(table: PageRuleTable) -> Result<Self, String> {
        let action = match (table.action, table.attribute) {
            (Action::Exclude, None) => PageAction::Exclude,
            (Action::Exclude, Some(_)) => {
                return Err(
                    "only a rule with action = \"lastmod\" may have an attribute".to_owned(),
                );
            }
            (Action::Lastmod, attribute) => PageAction::Lastmod { attribute },
        };
        Ok(Self {
            pages: table.pages,
            selector: table.selector,
            action,
        })
    }
}

impl TryFrom<NamespaceTable> for Namespace {
    type Error = String;

    fn try_from(table: NamespaceTable) -> Result<Self, String> {
        let elements = table.element.into_iter().map(NamespaceElement::try_from);
        Ok(Self {
            prefix: table.prefix,
            uri: table.uri,
            schema: table.schema,
            elements: elements.collect::<Result<_, _>>()?,
        })
    }
}

impl TryFrom<ElementTable> for NamespaceElement {
    type Error = String;

    fn try_from(table: ElementTable) -> Result<Self, String> {
        let ElementTable {
            name,
            pages,
            value,
            selector,
            attribute,
            field,
        } = table;
        let value = match (value, selector, field, attribute) {
            (Some(value), None, None, None) => ElementValue::Constant(value),
            (None, Some(selector), None, attribute) => ElementValue::Selected {
                selector,
                attribute,
            },
            (None, None, Some(field), None) => ElementValue::Field(field),
            _ => {
                return Err(format!(
                    "{name}: expected one of value, field and selector; only selector may have an attribute"
                ));
            }
        };
        Ok(Self { name, pages, value })
    }
}

impl Place {
    /// The settings in the tables under `key`, which is part of the table `of`; their problems are added to `problems`.
    pub(super) fn read_tables<T: DeserializeOwned, S: TryFrom<T, Error = String>>(
        &self,
        value: &Spanned<DeValue<'_>>,
        (of, key): (Option<&str>, &str),
        problems: &mut Vec<Problem>,
    ) -> Vec<(S, Origin)> {
        let path = of.map_or_else(|| key.to_owned(), |of| format!("{of}.{key}"));
        if self.tables(value, key, &path, problems).is_empty() {
            return Vec::new();
        }
        let tables = match Vec::<Spanned<T>>::deserialize(value.clone().into_deserializer()) {
            Ok(tables) => tables,
            Err(error) => {
                let span = error.span().unwrap_or_else(|| value.span());
                problems.push(self.problem(&span, key, error.message()));
                return Vec::new();
            }
        };
        let mut settings = Vec::with_capacity(tables.len());
        for table in tables {
            let span = table.span();
            match S::try_from(table.into_inner()) {
                Ok(setting) => settings.push((setting, self.origin(&span))),
                Err(message) => problems.push(self.problem(&span, key, &message)),
            }
        }
        settings
    }

    /// The tables under a key, `path` in full; none when the value is anything else.
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
        let tables = items
            .iter()
            .map(|item| Some((item.get_ref().as_table()?, item.span())));
        let tables: Option<Vec<_>> = tables.collect();
        let tables = tables.unwrap_or_default();
        if tables.is_empty() {
            let message = format!("expected tables: write [[{path}]] above each");
            problems.push(self.problem(&value.span(), key, &message));
        }
        tables
    }
}
