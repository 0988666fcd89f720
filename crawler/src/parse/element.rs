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
    B b"b",
    Base b"base",
    Basefont b"basefont",
    Bdi b"bdi",
    Bdo b"bdo",
    Bgsound b"bgsound",
    Big b"big",
    Cite b"cite",
    Code b"code",
    Del b"del",
    Dfn b"dfn",
    Dialog b"dialog",
    Div b"div",
    Em b"em",
    Embed b"embed",
    Font b"font",
    Footer b"footer",
    Form b"form",
    Frame b"frame",
    Head b"head",
    Header b"header",
    Html b"html",
    I b"i",
    Iframe b"iframe",
    Image b"image",
    Img b"img",
    Input b"input",
    Ins b"ins",
    Kbd b"kbd",
    Li b"li",
    Link b"link",
    Main b"main",
    Mark b"mark",
    Meta b"meta",
    Nav b"nav",
    Noframes b"noframes",
    Noscript b"noscript",
    Ol b"ol",
    P b"p",
    Picture b"picture",
    Q b"q",
    S b"s",
    Samp b"samp",
    Script b"script",
    Section b"section",
    Small b"small",
    Source b"source",
    Span b"span",
    Strike b"strike",
    Strong b"strong",
    Style b"style",
    Sub b"sub",
    Sup b"sup",
    Template b"template",
    Time b"time",
    Title b"title",
    Tt b"tt",
    U b"u",
    Ul b"ul",
    Var b"var",
    Video b"video",
    Wbr b"wbr",
}

/// Found by trial: no two elements have one hash with it.
const SEED: u64 = 0x3b7c_28e1_c818_356b;

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
    #[inline]
    pub(super) fn of(name: Name) -> Self {
        let (known, element) = TABLE[usize::from(name.hash(SEED))];
        if known == name { element } else { Self::Other }
    }

    /// Returns whether it may be in the head (HTML standard sections 13.2.6.4.4 and 13.2.6.4.6). The first other start tag, or
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

    /// Returns whether text goes on in it, and after it, as if there were no tag (HTML standard section 3.2.5.2.5, text-level elements).
    /// The text of a link counts by itself.
    #[inline]
    pub(super) fn is_inline(self) -> bool {
        matches!(
            self,
            Self::Abbr
                | Self::B
                | Self::Bdi
                | Self::Bdo
                | Self::Big
                | Self::Cite
                | Self::Code
                | Self::Del
                | Self::Dfn
                | Self::Em
                | Self::Font
                | Self::I
                | Self::Ins
                | Self::Kbd
                | Self::Mark
                | Self::Q
                | Self::S
                | Self::Samp
                | Self::Small
                | Self::Span
                | Self::Strike
                | Self::Strong
                | Self::Sub
                | Self::Sup
                | Self::Time
                | Self::Tt
                | Self::U
                | Self::Var
                | Self::Wbr
        )
    }

    /// Returns whether it can be a part of the page; see [`super::main_content`].
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
