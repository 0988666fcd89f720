//! The elements that a fact is read from, or that can be a part of the page.

use crate::html::Name;

/// Elements with their names.
macro_rules! elements {
    ($($element:ident $name:literal,)*) => {
        /// An element by its name, whatever its namespace.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Element {
            $($element,)*
            /// Nothing is read from it.
            Other,
        }

        /// All elements with their names.
        const ELEMENTS: &[(Name, Element)] = &[$((Name::new($name), Element::$element),)*];
    };
}

elements! {
    A b"a",
    Abbr b"abbr",
    Area b"area",
    Article b"article",
    Aside b"aside",
    Audio b"audio",
    Base b"base",
    Basefont b"basefont",
    Bgsound b"bgsound",
    Dialog b"dialog",
    Div b"div",
    Embed b"embed",
    Footer b"footer",
    Form b"form",
    Frame b"frame",
    Head b"head",
    Header b"header",
    Html b"html",
    Iframe b"iframe",
    Image b"image",
    Img b"img",
    Input b"input",
    Ins b"ins",
    Li b"li",
    Link b"link",
    Main b"main",
    Meta b"meta",
    Nav b"nav",
    Noframes b"noframes",
    Noscript b"noscript",
    Ol b"ol",
    P b"p",
    Picture b"picture",
    Script b"script",
    Section b"section",
    Source b"source",
    Span b"span",
    Style b"style",
    Template b"template",
    Time b"time",
    Title b"title",
    Ul b"ul",
    Video b"video",
}

/// Found by trial: no two elements have one hash with it.
const SEED: u64 = 0x81f9_c1f6_6c0f_3459;

/// The elements by their hash.
static TABLE: [(Name, Element); 256] = table();

const fn table() -> [(Name, Element); 256] {
    let mut table = [(Name::NONE, Element::Other); 256];
    let mut at = 0;
    while at < ELEMENTS.len() {
        let place = ELEMENTS[at].0.hash(SEED) as usize;
        assert!(matches!(table[place].1, Element::Other), "a free place");
        table[place] = ELEMENTS[at];
        at += 1;
    }
    table
}

impl Element {
    /// The element of this name.
    pub(super) fn of(name: Name) -> Self {
        let (known, element) = TABLE[usize::from(name.hash(SEED))];
        if known == name { element } else { Self::Other }
    }

    /// Whether it may stand in the head (HTML standard sections 13.2.6.4.4 and 13.2.6.4.6). The first other start tag, or
    /// text, begins the body, whatever follows.
    pub(super) fn may_be_in_head(self) -> bool {
        matches!(
            self,
            Self::Html
                | Self::Head
                | Self::Title
                | Self::Base
                | Self::Link
                | Self::Meta
                | Self::Script
                | Self::Noscript
                | Self::Template
                | Self::Style
                | Self::Bgsound
                | Self::Basefont
                | Self::Noframes
        )
    }

    /// Whether it can be a part of the page; see [`super::main_content`].
    pub(super) fn can_be_part(self) -> bool {
        matches!(
            self,
            Self::Article
                | Self::Aside
                | Self::Dialog
                | Self::Div
                | Self::Footer
                | Self::Form
                | Self::Header
                | Self::Ins
                | Self::Li
                | Self::Main
                | Self::Nav
                | Self::Ol
                | Self::Section
                | Self::Ul
        )
    }
}
