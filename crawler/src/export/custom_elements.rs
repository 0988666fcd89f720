//! The custom elements of entries (sitemaps.org protocol, "Extending the Sitemaps
//! protocol"): a constant, or a field of the input.

use std::collections::BTreeMap;

use sitemap_core::extension::{CustomElement, CustomNamespace, Extensions, Namespaces, Text};

use crate::{
    config::{ElementValue, MAX_ELEMENTS, Namespace, NamespaceElement},
    pattern::Pattern,
    url_key::UrlKey,
};

/// The compiled elements of all namespaces, in the order in which entries have them.
#[derive(Debug, Default)]
pub(super) struct CustomElements {
    rules: Vec<CustomElementRule>,
}

#[derive(Debug)]
struct CustomElementRule {
    /// Prefix and name.
    qualified: String,
    /// Without text.
    element: CustomElement,
    pages: Pattern,
    source: ValueSource,
}

/// The source of a value.
#[derive(Debug)]
enum ValueSource {
    Constant(Text),
    /// The value of this name in the input.
    Named(String),
}

impl CustomElements {
    /// Reads the namespaces of the settings.
    ///
    /// # Errors
    /// The setting that is wrong: a name, an address, a glob, a text, two namespaces that exclude each other, or too many
    /// elements.
    pub(super) fn new(namespaces: &[Namespace]) -> Result<Self, String> {
        let mut declared = Namespaces::default();
        let mut rules = Vec::new();
        for namespace in namespaces {
            let of = |problem: String| format!("{}: {problem}", namespace.prefix);
            let own = namespace.to_own().map_err(of)?;
            declared
                .add_custom(&own)
                .map_err(|error| of(error.to_string()))?;
            for element in &namespace.elements {
                let of = |problem| format!("{}:{}: {problem}", namespace.prefix, element.name);
                rules.push(CustomElementRule::new(&own, element).map_err(of)?);
            }
        }
        if rules.len() > MAX_ELEMENTS {
            return Err(format!(
                "expected at most {MAX_ELEMENTS} elements, found {}",
                rules.len()
            ));
        }
        Ok(Self { rules })
    }

    /// Adds the elements that `key` has a value for. Of those with the same name the first counts.
    pub(super) fn apply(
        &self,
        key: &UrlKey,
        values: &BTreeMap<String, String>,
        extensions: &mut Extensions,
    ) {
        let mut given: Vec<&str> = Vec::new();
        for rule in &self.rules {
            if given.contains(&rule.qualified.as_str()) || !rule.pages.matches(key) {
                continue;
            }
            let Some(text) = rule.source.text(values) else {
                continue;
            };
            let element = rule.element.clone().with_text(text);
            // The extensions of the entry may leave no room.
            if extensions.add_custom(element).is_ok() {
                given.push(&rule.qualified);
            }
        }
    }
}

impl CustomElementRule {
    fn new(namespace: &CustomNamespace, element: &NamespaceElement) -> Result<Self, String> {
        let qualified = format!("{}:{}", namespace.prefix(), element.name);
        let source = match &element.value {
            ElementValue::Constant(text) => {
                ValueSource::Constant(Text::new(text).map_err(|error| error.to_string())?)
            }
            ElementValue::Field(name) => ValueSource::Named(name.clone()),
        };
        Ok(Self {
            element: CustomElement::new(namespace, &element.name)
                .map_err(|error| error.to_string())?,
            pages: Pattern::parse(&element.pages)
                .map_err(|problem| format!("pages: \"{}\" {problem}", element.pages))?,
            qualified,
            source,
        })
    }
}

impl ValueSource {
    fn text(&self, values: &BTreeMap<String, String>) -> Option<Text> {
        match self {
            Self::Constant(text) => Some(text.clone()),
            Self::Named(name) => Text::new(values.get(name)?).ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(name: &str, pages: &str, value: ElementValue) -> NamespaceElement {
        NamespaceElement {
            name: name.to_owned(),
            pages: pages.to_owned(),
            value,
        }
    }

    fn namespace(prefix: &str, elements: Vec<NamespaceElement>) -> Namespace {
        Namespace {
            prefix: prefix.to_owned(),
            uri: format!("urn:{prefix}"),
            schema: None,
            elements,
        }
    }

    fn constant(text: &str) -> ElementValue {
        ElementValue::Constant(text.to_owned())
    }

    fn price() -> ElementValue {
        ElementValue::Field("price".to_owned())
    }

    /// The elements of a page as `prefix:name=text`.
    fn elements(rules: &CustomElements, path: &str, values: &[(&str, &str)]) -> Vec<String> {
        let key = UrlKey::from_normalised(&format!("https://example.com{path}")).unwrap();
        let values = values
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let mut extensions = Extensions::default();
        rules.apply(&key, &values.collect(), &mut extensions);
        let own = extensions.custom_elements().iter().map(|element| {
            let text = element.text().map_or("", Text::as_str);
            format!("{}:{}={text}", element.namespace().prefix(), element.name())
        });
        own.collect()
    }

    #[test]
    fn elements_follow_the_order_of_the_settings() {
        let rules = CustomElements::new(&[
            namespace(
                "z",
                vec![
                    element("origin", "*", constant(" a\nb ")),
                    element("price", "/shop/*", price()),
                ],
            ),
            namespace(
                "a",
                vec![element(
                    "stock",
                    "*",
                    ElementValue::Field("Stock".to_owned()),
                )],
            ),
        ])
        .unwrap();
        let check = |path: &str, values: &[(&str, &str)], expected: &[&str]| {
            assert_eq!(
                elements(&rules, path, values),
                expected,
                "{path} {values:?}"
            );
        };
        check("/", &[], &["z:origin=a b"]);
        check("/shop/1", &[("price", "5")], &["z:origin=a b", "z:price=5"]);
        check("/blog/1", &[("price", "5")], &["z:origin=a b"]);
        check(
            "/",
            &[("Stock", "3"), ("stock", "4")],
            &["z:origin=a b", "a:stock=3"],
        );
        // A value that cannot be written is left out.
        check("/", &[("Stock", "  ")], &["z:origin=a b"]);
    }

    #[test]
    fn first_element_with_a_value_counts() {
        let rules = CustomElements::new(&[namespace(
            "s",
            vec![
                element("kind", "/x/*", constant("x")),
                element("kind", "*", ElementValue::Field("kind".to_owned())),
                element("kind", "*", constant("other")),
            ],
        )])
        .unwrap();
        assert_eq!(elements(&rules, "/x/1", &[("kind", "y")]), ["s:kind=x"]);
        assert_eq!(elements(&rules, "/1", &[("kind", "y")]), ["s:kind=y"]);
        assert_eq!(elements(&rules, "/1", &[]), ["s:kind=other"]);
    }

    #[test]
    fn bad_namespaces_are_refused() {
        let check = |namespaces: &[Namespace], expected: &str| {
            let problem = CustomElements::new(namespaces).unwrap_err();
            assert!(problem.starts_with(expected), "{problem}");
        };
        let one =
            |name: &str, pages: &str, value| namespace("s", vec![element(name, pages, value)]);
        check(
            &[namespace("image", Vec::new())],
            "image: prefix image is that of",
        );
        check(&[namespace("1", Vec::new())], "1: \"1\" is not an XML name");
        check(
            &[one("a b", "*", price())],
            "s:a b: \"a b\" is not an XML name",
        );
        check(
            &[one("a", "x", price())],
            "s:a: pages: \"x\" can never match",
        );
        check(&[one("a", "*", constant(" "))], "s:a: text is empty");
        let again = Namespace {
            uri: "urn:other".to_owned(),
            ..namespace("s", Vec::new())
        };
        check(
            &[namespace("s", Vec::new()), again],
            "s: prefix s is bound to urn:s",
        );
        let schema = Namespace {
            schema: Some("shop.xsd".to_owned()),
            ..namespace("s", Vec::new())
        };
        check(&[schema], "s: schema shop.xsd: ");
        let many = (0..101).map(|number| element(&format!("e{number}"), "*", price()));
        check(
            &[namespace("s", many.collect())],
            "expected at most 100 elements, found 101",
        );
    }
}
