//! `xsi:type` on the elements of extensions. It names the type that the element has by its schema, or a restriction of that type
//! (XML Schema part 1 section 3.14.6), either built in or of the schemas of sitemaps. Its text has to be of the named type.

use super::{Extension, form::Form};
use crate::limits::NAMESPACE;

/// The namespace of the types that are built in.
const XSD_NAMESPACE: &str = "http://www.w3.org/2001/XMLSchema";

/// Type of an element by its schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaType {
    /// A type without a name: it has no restrictions.
    Unnamed,
    /// `xsd:string`.
    String,
    /// `xsd:anyURI`.
    Uri,
    /// `xsd:nonNegativeInteger`.
    Count,
    /// `tYesNo` of the schema for videos.
    YesNo,
}

impl SchemaType {
    /// Form of a text by the type of this name, if that is this type or a restriction of it.
    pub(crate) fn restricted(self, namespace: &str, name: &str) -> Option<Form> {
        let of_videos = namespace == Extension::Video.namespace();
        match self {
            Self::String if namespace == XSD_NAMESPACE => built_in_string(name),
            Self::String if of_videos => match name {
                "tYesNo" => Some(Form::YES_NO),
                "tCountryList" => Some(Form::COUNTRY_LIST),
                "tPlatformList" => Some(Form::PLATFORM_LIST),
                _ => None,
            },
            Self::String => {
                ((namespace, name) == (NAMESPACE, "tChangeFreq")).then_some(Form::CHANGE_FREQ)
            }
            Self::Uri => match (namespace, name) {
                (XSD_NAMESPACE, "anyURI") => Some(Form::URI),
                (NAMESPACE, "tLoc") => Some(Form::LOC),
                _ => None,
            },
            Self::Count if namespace == XSD_NAMESPACE => built_in_count(name),
            Self::Unnamed | Self::Count => None,
            Self::YesNo => (of_videos && name == "tYesNo").then_some(Form::YES_NO),
        }
    }
}

/// Types made of `xsd:string`. An `ENTITY` would have to be declared in a DOCTYPE, and no sitemap has one.
fn built_in_string(name: &str) -> Option<Form> {
    Some(match name {
        "string" | "normalizedString" | "token" => Form::ANY,
        "language" => Form::LANGUAGE,
        "NMTOKEN" => Form::NAME_TOKEN,
        "Name" => Form::NAME,
        "NCName" | "ID" | "IDREF" => Form::ID,
        _ => return None,
    })
}

/// Types made of `xsd:nonNegativeInteger`.
fn built_in_count(name: &str) -> Option<Form> {
    Some(match name {
        "nonNegativeInteger" => Form::COUNT,
        "positiveInteger" => Form::POSITIVE,
        "unsignedLong" => Form::UNSIGNED_LONG,
        "unsignedInt" => Form::UNSIGNED_INT,
        "unsignedShort" => Form::UNSIGNED_SHORT,
        "unsignedByte" => Form::UNSIGNED_BYTE,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_restrictions_of_the_type_may_be_named() {
        let check =
            |own: SchemaType, namespace: &str, name: &str, text: &str, expected: Option<bool>| {
                let form = own.restricted(namespace, name);
                let is_one = form.map(|form| (form.accepts)(text));
                assert_eq!(is_one, expected, "{namespace} {name} of {own:?}: {text}");
            };
        let videos = Extension::Video.namespace();
        check(
            SchemaType::String,
            XSD_NAMESPACE,
            "string",
            " any ",
            Some(true),
        );
        check(SchemaType::String, "", "string", "any", None);
        check(
            SchemaType::String,
            XSD_NAMESPACE,
            "NMTOKEN",
            "a b",
            Some(false),
        );
        check(SchemaType::String, XSD_NAMESPACE, "Name", ":a", Some(true));
        check(
            SchemaType::String,
            XSD_NAMESPACE,
            "NCName",
            ":a",
            Some(false),
        );
        check(SchemaType::String, XSD_NAMESPACE, "ENTITY", "a", None);
        check(SchemaType::String, XSD_NAMESPACE, "anyURI", "a", None);
        check(
            SchemaType::String,
            NAMESPACE,
            "tChangeFreq",
            "daily",
            Some(true),
        );
        check(
            SchemaType::String,
            NAMESPACE,
            "tLoc",
            "http://h.example/",
            None,
        );
        check(
            SchemaType::String,
            videos,
            "tCountryList",
            "DE AT",
            Some(true),
        );
        check(
            SchemaType::String,
            videos,
            "tPlatformList",
            "web  tv",
            Some(false),
        );
        check(SchemaType::Uri, XSD_NAMESPACE, "anyURI", "/a", Some(true));
        check(SchemaType::Uri, XSD_NAMESPACE, "string", "/a", None);
        check(
            SchemaType::Uri,
            NAMESPACE,
            "tLoc",
            " http://a.b ",
            Some(false),
        );
        check(
            SchemaType::Count,
            XSD_NAMESPACE,
            "nonNegativeInteger",
            "+3",
            Some(true),
        );
        check(
            SchemaType::Count,
            XSD_NAMESPACE,
            "unsignedByte",
            "+3",
            Some(false),
        );
        check(
            SchemaType::Count,
            XSD_NAMESPACE,
            "unsignedByte",
            "256",
            Some(false),
        );
        check(SchemaType::Count, XSD_NAMESPACE, "integer", "3", None);
        check(SchemaType::YesNo, videos, "tYesNo", "YES", Some(true));
        check(SchemaType::YesNo, XSD_NAMESPACE, "string", "yes", None);
        check(SchemaType::Unnamed, XSD_NAMESPACE, "string", "x", None);
    }
}
