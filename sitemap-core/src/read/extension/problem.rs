//! [`ExtensionProblem`]: what can be wrong with extensions.

use super::super::{Rule, Severity, Source};
use crate::{
    LastModError, LocError,
    extension::{
        Extension, ExtensionError, MAX_ENTRY_BYTES, MAX_NEWS_PER_FILE, MAX_TEXT_CHARACTERS,
        TextError, ValueProblem,
    },
};

/// What can be wrong with the extensions of a file; all are findings of R71, but for namespaces (R70).
///
/// What they say comes from the schemas of the extensions and from the texts of those who read them; see
/// [`Finding::source`](super::super::Finding::source).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExtensionProblem {
    /// The namespace of an extension is not spelled as it should be; told once for each extension.
    #[error("namespace is {found}, expected {}", .extension.namespace())]
    Namespace {
        /// What stands there.
        found: String,
        /// What is meant.
        extension: Extension,
    },
    /// A namespace is declared below the root; told once.
    #[error("namespace is declared below the root element")]
    DeclaredBelowRoot,
    /// An element that search engines dropped, or that only its schema knows; told once for each.
    #[error("<{name}> is not read by search engines any more, leave it out")]
    Retired {
        /// The element, an element and its attribute, or a whole extension by its prefix.
        name: &'static str,
    },
    /// An element that the extension does not have; it is skipped.
    #[error("unknown element <{name}> in <{parent}>")]
    UnknownElement {
        /// Its name without prefix.
        name: String,
        /// What it stands in.
        parent: &'static str,
    },
    /// An element that stands in the root element, beside the entries; it is skipped.
    #[error("<{name}> stands outside of <url>, where nobody reads it")]
    OutsideEntry {
        /// Its name as it stands there.
        name: String,
    },
    /// An attribute that the element does not have.
    #[error("unknown attribute {name} of <{element}>")]
    UnknownAttribute {
        /// Its name.
        name: String,
        /// The element.
        element: &'static str,
    },
    /// The elements are not in the order of their schema.
    #[error("<{name}> is out of the order of its schema")]
    Order {
        /// The element that comes too late.
        name: &'static str,
    },
    /// An element that may stand there once stands there again; the first one counts.
    #[error("more than one <{name}>")]
    Repeated {
        /// The element.
        name: &'static str,
    },
    /// There are more elements of a kind than allowed; the first ones count.
    #[error("more than {limit} <{name}>")]
    TooMany {
        /// The element.
        name: &'static str,
        /// How many are allowed.
        limit: usize,
    },
    /// An element lacks what it must have; it is left out.
    #[error("<{element}> has no {what}")]
    Missing {
        /// What it must have: an element in it, or an attribute.
        what: &'static str,
        /// The element.
        element: &'static str,
    },
    /// A value cannot be used; it is left out.
    #[error("{name}: {problem}")]
    Value {
        /// The element or attribute.
        name: &'static str,
        /// What is wrong with it.
        problem: ValueProblem,
    },
    /// The text of an element that nobody reads any more is not as its schema has it.
    #[error("{name} is not as its schema has it, expected {expected}")]
    Form {
        /// The element.
        name: &'static str,
        /// What its schema has.
        expected: &'static str,
    },
    /// The value of an attribute that nobody reads is not as the schema has it.
    #[error("{name} of <{element}> is not as its schema has it, expected {expected}")]
    AttributeForm {
        /// The attribute.
        name: &'static str,
        /// The element.
        element: &'static str,
        /// What its schema has.
        expected: &'static str,
    },
    /// A time without a zone; it is read as UTC.
    #[error("{name}: time has no zone, read as UTC")]
    ZoneAssumed {
        /// The element.
        name: &'static str,
    },
    /// White space around a value that is no free text; it is left out.
    #[error("{name} has white space around its value")]
    Padded {
        /// The element or attribute.
        name: &'static str,
    },
    /// Something contradicts the entry, or there is too much of it; it is left out.
    #[error(transparent)]
    Refused(ExtensionError),
    /// The entry has more than a reader takes; the rest of its extensions is left out.
    #[error("extensions of the entry have more than {MAX_ENTRY_BYTES} bytes")]
    TooLarge,
    /// The file has more articles than allowed; told once.
    #[error("file has more than {MAX_NEWS_PER_FILE} <news:news>")]
    TooManyNews,
}

impl ExtensionProblem {
    pub(in crate::read) fn rule(&self) -> Rule {
        Rule(match self {
            Self::DeclaredBelowRoot => 70,
            Self::Namespace { .. }
            | Self::Retired { .. }
            | Self::UnknownElement { .. }
            | Self::OutsideEntry { .. }
            | Self::UnknownAttribute { .. }
            | Self::Order { .. }
            | Self::Repeated { .. }
            | Self::TooMany { .. }
            | Self::Missing { .. }
            | Self::Form { .. }
            | Self::AttributeForm { .. }
            | Self::Value { .. }
            | Self::ZoneAssumed { .. }
            | Self::Padded { .. }
            | Self::Refused(_)
            | Self::TooLarge
            | Self::TooManyNews => 71,
        })
    }

    pub(in crate::read) fn severity(&self) -> Severity {
        match self {
            Self::DeclaredBelowRoot | Self::Retired { .. } => Severity::Note,
            Self::Namespace { .. }
            | Self::UnknownElement { .. }
            | Self::OutsideEntry { .. }
            | Self::UnknownAttribute { .. }
            | Self::Order { .. }
            | Self::Form { .. }
            | Self::AttributeForm { .. }
            | Self::Padded { .. }
            | Self::TooLarge => Severity::Warning,
            Self::Missing { element, .. } if is_retired(element) => Severity::Warning,
            Self::Value { name, problem } => severity_of(problem, name),
            // Of versions, films and own elements there may be any number; how many are read is our own bound.
            Self::Refused(ExtensionError::TooMany { what, .. }) if *what != "image:image" => {
                Severity::Warning
            }
            Self::Repeated { .. }
            | Self::TooMany { .. }
            | Self::Missing { .. }
            | Self::ZoneAssumed { .. }
            | Self::Refused(_)
            | Self::TooManyNews => Severity::Error,
        }
    }

    /// Whether a value or an element was left out because of it.
    pub(in crate::read) fn costs_value(&self) -> bool {
        match self {
            Self::Repeated { .. }
            | Self::TooMany { .. }
            | Self::Value { .. }
            | Self::Refused(_)
            | Self::TooLarge
            | Self::OutsideEntry { .. } => true,
            Self::Missing { element, .. } => !is_retired(element),
            Self::Namespace { .. }
            | Self::DeclaredBelowRoot
            | Self::Retired { .. }
            | Self::UnknownElement { .. }
            | Self::UnknownAttribute { .. }
            | Self::Order { .. }
            | Self::Form { .. }
            | Self::AttributeForm { .. }
            | Self::ZoneAssumed { .. }
            | Self::Padded { .. }
            | Self::TooManyNews => false,
        }
    }

    pub(in crate::read) fn source(&self) -> Source {
        match self {
            Self::UnknownElement { .. }
            | Self::UnknownAttribute { .. }
            | Self::Order { .. }
            | Self::Form { .. }
            | Self::AttributeForm { .. } => Source::Schema,
            Self::Missing { element, .. } if is_retired(element) => Source::Schema,
            Self::Value { name, problem } => source_of(problem, name),
            Self::Namespace { .. }
            | Self::OutsideEntry { .. }
            | Self::DeclaredBelowRoot
            | Self::Retired { .. }
            | Self::Repeated { .. }
            | Self::TooMany { .. }
            | Self::Missing { .. }
            | Self::ZoneAssumed { .. }
            | Self::Padded { .. }
            | Self::Refused(_)
            | Self::TooLarge
            | Self::TooManyNews => Source::Rule,
        }
    }
}

/// Whether nobody reads an element any more, so that only its schema asks what it has.
fn is_retired(element: &str) -> bool {
    matches!(element, "video:tvshow" | "video:id")
}

fn severity_of(problem: &ValueProblem, name: &str) -> Severity {
    // No rule bounds these; they are only too long for us.
    let is_own_bound = match problem {
        ValueProblem::Text(TextError::TooLong { limit, .. }) => {
            *limit == MAX_TEXT_CHARACTERS && name != "video:description"
        }
        problem => matches!(
            problem,
            ValueProblem::Loc(LocError::TooLong { .. } | LocError::UserInfo)
                | ValueProblem::LargeCount
        ),
    };
    if is_own_bound || source_of(problem, name) == Source::Schema {
        Severity::Warning
    } else {
        Severity::Error
    }
}

/// Of the length of a video's title only the schema speaks, and of dates it allows less than the text.
fn source_of(problem: &ValueProblem, name: &str) -> Source {
    let is_schema = match problem {
        ValueProblem::Text(TextError::TooLong { .. }) => name == "video:title",
        problem => matches!(
            problem,
            ValueProblem::Date(LastModError::Precision | LastModError::ZoneRange)
        ),
    };
    if is_schema {
        Source::Schema
    } else {
        Source::Rule
    }
}
