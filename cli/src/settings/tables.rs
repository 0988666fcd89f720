//! The settings that are tables of the file: page rules and custom namespaces. It finds their keys and texts; whether a selector
//! or a name is one is decided by the library.

use crawler::config::{ElementValue, Namespace, NamespaceElement, PageAction, PageRule};
use serde::Deserialize;

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
            field,
        } = table;
        let value = match (value, field) {
            (Some(value), None) => ElementValue::Constant(value),
            (None, Some(field)) => ElementValue::Field(field),
            (_, _) => return Err(format!("{name}: expected one of value and field")),
        };
        Ok(Self { name, pages, value })
    }
}
