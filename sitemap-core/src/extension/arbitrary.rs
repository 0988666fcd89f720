//! Any extensions, for property tests.

use proptest::{option, prelude::*, sample::select};

use super::*;
use crate::{LastMod, UrlEntry};

/// Characters of every kind that a text can have trouble with.
const TEXT: &str = "[ \\t\\n&<>'\"\u{a0}\u{1}\u{85}a-cüß語😀\\]]{0,40}[!-~é]";

/// The page that all of them belong to.
const PAGE: &str = "https://www.example.com/page";

/// The namespaces of the own elements.
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
                // One that is there already is left out.
                let _ = extensions.add_alternate(alternate);
            }
            for loc in images {
                extensions.add_image(Image::new(loc)).unwrap();
            }
            for video in videos {
                extensions.add_video(video).unwrap();
            }
            if let Some(news) = news {
                extensions.set_news(news).unwrap();
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

fn any_text<const MAX: usize>() -> impl Strategy<Value = Text<MAX>> {
    TEXT.prop_map(|raw| Text::new(&raw).unwrap())
}

fn any_date() -> impl Strategy<Value = LastMod> {
    let dates = [
        "2024-02-29",
        "2024-05-17T09:30:00.45+02:00",
        "0001-01-01T00:00:00Z",
    ];
    select(dates.to_vec()).prop_map(|text| LastMod::parse(text).unwrap())
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

fn any_news() -> impl Strategy<Value = News> {
    let languages = ["en", "zh-cn", "fra"];
    (
        any_text(),
        select(languages.to_vec()),
        any_date(),
        any_text(),
    )
        .prop_map(|(name, language, date, title)| {
            News::new(name, NewsLanguage::parse(language).unwrap(), date, title)
        })
}

fn any_relationship() -> impl Strategy<Value = Relationship> {
    select(&[Relationship::Allow, Relationship::Deny][..])
}

fn any_video() -> impl Strategy<Value = Video> {
    let needed = (any_loc(), any_text(), any_text(), any_media());
    let numbers = (
        option::of(1..=28_800_u64),
        option::of(0..=50_u8),
        option::of(any::<u64>()),
    );
    let dates = (option::of(any_date()), option::of(any_date()));
    let answers = any::<[Option<bool>; 3]>();
    let countries = (any_relationship(), select(&["IE", "GB IE US", "ZW"][..]));
    let platforms = (
        any_relationship(),
        select(&["web", "web mobile tv", "tv"][..]),
    );
    let uploader = (any_text(), option::of("[a-z&']{0,9}"));
    let rest = (
        prop::collection::vec(any_text(), 0..=MAX_VIDEO_TAGS),
        option::of(countries),
        option::of(platforms),
        option::of(uploader),
    );
    (needed, numbers, dates, answers, rest).prop_map(
        |((thumbnail, title, description, media), numbers, dates, answers, rest)| {
            let mut video = Video::new(thumbnail, title, description, media);
            video.duration = numbers
                .0
                .map(|seconds| VideoDuration::from_seconds(seconds).unwrap());
            video.rating = numbers.1.map(|tenths| Rating::from_tenths(tenths).unwrap());
            video.view_count = numbers.2;
            (video.expiration_date, video.publication_date) = dates;
            [
                video.family_friendly,
                video.requires_subscription,
                video.live,
            ] = answers;
            for tag in rest.0 {
                video.add_tag(tag).unwrap();
            }
            video.restriction = rest.1.map(|(relationship, countries)| {
                Restriction::parse(relationship, countries).unwrap()
            });
            video.platform = rest.2.map(|(relationship, platforms)| {
                Platforms::parse(relationship, platforms).unwrap()
            });
            video.uploader = rest.3.map(|(name, info)| {
                let info = info.map(|path| Loc::parse(&format!("{PAGE}/{path}")).unwrap());
                Uploader { name, info }
            });
            video
        },
    )
}

fn any_media() -> impl Strategy<Value = Media> {
    (option::of(any_loc()), option::of(any_loc()))
        .prop_filter_map("neither file nor player", |(content, player)| {
            Media::of(content, player)
        })
}

fn any_own() -> impl Strategy<Value = OwnElement> {
    (
        select(own_namespaces()),
        "[a-zé_][a-z0-9.-]{0,8}",
        prop::collection::btree_map(
            "[a-w_][a-z0-9.-]{0,8}",
            any_text::<MAX_TEXT_CHARACTERS>(),
            0..4,
        ),
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
