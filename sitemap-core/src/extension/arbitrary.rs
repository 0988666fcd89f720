//! Any extensions, for property tests.

use proptest::{option, prelude::*, sample::select};

use super::*;
use crate::UrlEntry;

/// Characters of every kind that a text can have trouble with.
const TEXT: &str = "[ \\t\\n&<>'\"\u{a0}\u{1}\u{85}a-cüß語😀\\]]{0,40}[!-~é]";

/// The page that all of them belong to.
const PAGE: &str = "https://www.example.com/page";

/// The namespaces of the custom elements.
pub(crate) fn own_namespaces() -> Vec<OwnNamespace> {
    vec![
        OwnNamespace::new("shop", "https://example.com/schemas/shop?a='b'").unwrap(),
        OwnNamespace::new("ü-1", "urn:example:other")
            .unwrap()
            .with_schema(Loc::parse("https://example.com/o.xsd?a&b").unwrap()),
    ]
}

/// All namespaces that [`any_entry`] needs.
pub(crate) fn all_namespaces() -> Namespaces {
    let mut namespaces = Extension::ALL
        .into_iter()
        .fold(Namespaces::default(), Namespaces::with);
    for own in own_namespaces() {
        namespaces.add_own(&own).unwrap();
    }
    namespaces
}

/// An entry with any extensions that can be written.
pub(crate) fn any_entry() -> impl Strategy<Value = UrlEntry> {
    any_extensions().prop_map(|extensions| {
        let mut entry = UrlEntry::new(Loc::parse(PAGE).unwrap());
        entry.extensions = extensions;
        entry
    })
}

fn any_extensions() -> impl Strategy<Value = Extensions> {
    (
        prop::collection::vec(any_alternate(), 0..6),
        prop::collection::vec(any_loc(), 0..4),
        prop::collection::vec(any_video(), 0..3),
        option::of(any_news()),
        prop::collection::vec(any_own(), 0..4),
    )
        .prop_map(|(alternates, images, videos, news, own)| {
            let mut extensions = Extensions::default();
            for alternate in alternates {
                // A repeated one is left out.
                let _ = extensions.add_alternate(alternate);
            }
            for loc in images {
                extensions.add(Element::image(&loc)).unwrap();
            }
            for video in videos {
                extensions.add(video).unwrap();
            }
            if let Some(news) = news {
                extensions.add(news).unwrap();
            }
            for element in own {
                extensions.add_own(element).unwrap();
            }
            extensions
        })
}

/// A URL that is not that of the page.
fn any_loc() -> impl Strategy<Value = Loc> {
    "[a-z&'?=%\"é ]{0,20}x"
        .prop_map(|path| Loc::parse(&format!("https://cdn.example.net/{path}")).unwrap())
}

fn any_text() -> impl Strategy<Value = Text> {
    TEXT.prop_map(|raw| Text::new(&raw).unwrap())
}

fn any_alternate() -> impl Strategy<Value = Alternate> {
    let languages = [
        "de",
        "en",
        "en-GB",
        "zh-Hant",
        "zh-Hant-TW",
        "x-default",
        "pt-BR",
    ];
    (select(languages.to_vec()), any_loc())
        .prop_map(|(hreflang, href)| Alternate::new(Hreflang::parse(hreflang).unwrap(), href))
}

fn any_news() -> impl Strategy<Value = Element> {
    any_element(Extension::News)
}

fn any_video() -> impl Strategy<Value = Element> {
    any_element(Extension::Video)
}

/// An element with any values that its rows take, and those that it needs.
fn any_element(extension: Extension) -> impl Strategy<Value = Element> {
    let rows: Vec<_> = Element::rows(extension)
        .map(|row| {
            let most = row.most;
            let least =
                usize::from(row.need == Need::Required || row.local_name() == "content_loc");
            let attribute = match row.attribute() {
                Some(known) if known.is_required => any_value(known.kind).prop_map(Some).boxed(),
                Some(_) => {
                    option::of("[a-z&']{0,9}".prop_map(|path| format!("{PAGE}/{path}"))).boxed()
                }
                None => Just(None).boxed(),
            };
            let value = (any_value(row.kind), attribute);
            prop::collection::vec(value.prop_map(move |value| (row, value)), least..=most)
        })
        .collect();
    rows.prop_map(move |rows| {
        let mut element = Element::new(extension);
        for (row, (text, attribute)) in rows.into_iter().flatten() {
            element
                .set(row.local_name(), &text, attribute.as_deref())
                .unwrap();
        }
        element
    })
}

fn any_value(kind: Kind) -> BoxedStrategy<String> {
    let of = |values: &'static [&'static str]| select(values).prop_map(str::to_owned).boxed();
    match kind {
        Kind::Retired => Just(String::new()).boxed(),
        Kind::Url => any_loc().prop_map(|loc| loc.to_string()).boxed(),
        Kind::Text(_) => TEXT.boxed(),
        Kind::Date => of(&[
            "2024-02-29",
            "2024-05-17T09:30:00.45+02:00",
            "0001-01-01T00:00:00Z",
        ]),
        Kind::Seconds => (1..=28_800_u64).prop_map(|it| it.to_string()).boxed(),
        Kind::Rating => of(&["0.0", "4.3", "5"]),
        Kind::Count => any::<u64>().prop_map(|it| it.to_string()).boxed(),
        Kind::YesNo => of(&["yes", "no"]),
        Kind::Language => of(&["en", "zh-cn", "fra"]),
        Kind::Countries => of(&["IE", "GB IE US", "ZW"]),
        Kind::Platforms => of(&["web", "web mobile tv", "tv"]),
        Kind::Relationship => of(&["allow", "deny"]),
    }
}

fn any_own() -> impl Strategy<Value = OwnElement> {
    (
        select(own_namespaces()),
        "[a-zé_][a-z0-9.-]{0,8}",
        prop::collection::btree_map("[a-w_][a-z0-9.-]{0,8}", any_text(), 0..4),
        option::of(any_text()),
    )
        .prop_filter_map("a reserved name", |(namespace, name, attributes, text)| {
            let mut element = OwnElement::new(&namespace, &name).ok()?;
            for (name, value) in attributes {
                element = element.with_attribute(&name, value).ok()?;
            }
            Some(match text {
                Some(text) => element.with_text(text),
                None => element,
            })
        })
}
