//! The namespace of each element, HTML, SVG or `MathML`, as far as text and links depend on it: a `title` of SVG has tags in
//! it, and `<![CDATA[` is markup there only. A stack of the open elements that are not HTML is enough (HTML standard section
//! 13.2.6.5); what tree construction does to elements of HTML is left out.

use super::{Following, Name, Tag, TextModel};

/// Open elements that are followed; deeper ones count as HTML.
const MAX_DEPTH: usize = 512;

/// The namespace of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ElementNamespace {
    Html,
    Svg,
    MathMl,
}

/// The open elements of SVG and `MathML`.
#[derive(Debug, Default)]
pub(crate) struct Namespaces {
    open: Vec<OpenForeign>,
}

/// An open element.
#[derive(Debug, Clone, Copy)]
struct OpenForeign {
    name: Name,
    namespace: ElementNamespace,
    content: Content,
}

/// How the content of an element that is not HTML is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    /// As the element itself.
    Foreign,
    /// As HTML: an HTML integration point.
    Html,
    /// As HTML, but for a few elements: a `MathML` text integration point.
    MathText,
}

const SVG: Name = Name::new(b"svg");
const MATH: Name = Name::new(b"math");
const FONT: Name = Name::new(b"font");
const ANNOTATION: Name = Name::new(b"annotation-xml");

/// Elements of HTML that end SVG and `MathML` around them.
const BREAKOUTS: [Name; 44] = [
    Name::new(b"b"),
    Name::new(b"big"),
    Name::new(b"blockquote"),
    Name::new(b"body"),
    Name::new(b"br"),
    Name::new(b"center"),
    Name::new(b"code"),
    Name::new(b"dd"),
    Name::new(b"div"),
    Name::new(b"dl"),
    Name::new(b"dt"),
    Name::new(b"em"),
    Name::new(b"embed"),
    Name::new(b"h1"),
    Name::new(b"h2"),
    Name::new(b"h3"),
    Name::new(b"h4"),
    Name::new(b"h5"),
    Name::new(b"h6"),
    Name::new(b"head"),
    Name::new(b"hr"),
    Name::new(b"i"),
    Name::new(b"img"),
    Name::new(b"li"),
    Name::new(b"listing"),
    Name::new(b"menu"),
    Name::new(b"meta"),
    Name::new(b"nobr"),
    Name::new(b"ol"),
    Name::new(b"p"),
    Name::new(b"pre"),
    Name::new(b"ruby"),
    Name::new(b"s"),
    Name::new(b"small"),
    Name::new(b"span"),
    Name::new(b"strong"),
    Name::new(b"strike"),
    Name::new(b"sub"),
    Name::new(b"sup"),
    Name::new(b"table"),
    Name::new(b"tt"),
    Name::new(b"u"),
    Name::new(b"ul"),
    Name::new(b"var"),
];

impl Namespaces {
    /// Takes a start tag; returns the namespace of its element, and how the text after it is read.
    #[inline]
    pub(crate) fn start_tag(&mut self, tag: &Tag<'_>) -> (ElementNamespace, Following) {
        let name = tag.name();
        if self.open.is_empty() && name != SVG && name != MATH {
            return (ElementNamespace::Html, html(name));
        }
        let namespace = self.namespace_of(tag);
        if namespace == ElementNamespace::Html {
            let following = Following {
                allows_cdata: self.is_foreign(),
                ..html(name)
            };
            return (namespace, following);
        }
        if !tag.is_self_closing() && self.open.len() < MAX_DEPTH {
            self.open.push(OpenForeign {
                name,
                namespace,
                content: content_of(tag, namespace),
            });
        }
        (namespace, self.data())
    }

    /// Takes an end tag; returns how the text after it is read.
    #[inline]
    pub(crate) fn end_tag(&mut self, tag: &Tag<'_>) -> Following {
        let name = tag.name();
        let ends = [Name::new(b"p"), Name::new(b"br")];
        if self.is_foreign() && ends.contains(&name) {
            self.leave();
        } else if let Some(place) = self.open.iter().rposition(|open| open.name == name) {
            self.open.truncate(place);
        }
        self.data()
    }

    fn namespace_of(&mut self, tag: &Tag<'_>) -> ElementNamespace {
        let name = tag.name();
        let own = match name {
            SVG => ElementNamespace::Svg,
            MATH => ElementNamespace::MathMl,
            _ => ElementNamespace::Html,
        };
        let Some(current) = self.open.last().copied() else {
            return own;
        };
        match current.content {
            Content::Html => return own,
            Content::MathText => {
                let stays = [Name::new(b"mglyph"), Name::new(b"malignmark")];
                return if stays.contains(&name) {
                    ElementNamespace::MathMl
                } else {
                    own
                };
            }
            Content::Foreign => {}
        }
        if current.name == ANNOTATION && name == SVG {
            return ElementNamespace::Svg;
        }
        let sizes = ["color", "face", "size"];
        let is_font = name == FONT && sizes.iter().any(|size| tag.attribute(size).is_some());
        if is_font || BREAKOUTS.contains(&name) {
            self.leave();
            return ElementNamespace::Html;
        }
        current.namespace
    }

    /// Closes elements up to one whose content is HTML.
    fn leave(&mut self) {
        while self.is_foreign() {
            self.open.pop();
        }
    }

    /// Returns whether the current element is not HTML and neither is its content.
    fn is_foreign(&self) -> bool {
        self.open
            .last()
            .is_some_and(|open| open.content == Content::Foreign)
    }

    /// Ordinary content of the current element.
    fn data(&self) -> Following {
        Following {
            allows_cdata: !self.open.is_empty(),
            ..Following::DATA
        }
    }
}

/// How the text after a start tag of HTML is read. Scripts are off, so `noscript` has ordinary content.
#[inline]
pub(super) fn html(name: Name) -> Following {
    const TITLE: Name = Name::new(b"title");
    const TEXTAREA: Name = Name::new(b"textarea");
    const STYLE: Name = Name::new(b"style");
    const XMP: Name = Name::new(b"xmp");
    const IFRAME: Name = Name::new(b"iframe");
    const NOEMBED: Name = Name::new(b"noembed");
    const NOFRAMES: Name = Name::new(b"noframes");
    const SCRIPT: Name = Name::new(b"script");
    const PLAINTEXT: Name = Name::new(b"plaintext");
    // Most names are shorter.
    if name.len() < TITLE.len() && name != XMP {
        return Following::DATA;
    }
    Following {
        model: match name {
            TITLE | TEXTAREA => TextModel::Rcdata,
            STYLE | XMP | IFRAME | NOEMBED | NOFRAMES => TextModel::Rawtext,
            SCRIPT => TextModel::Script,
            PLAINTEXT => TextModel::Plaintext,
            _ => TextModel::Data,
        },
        allows_cdata: false,
    }
}

fn content_of(tag: &Tag<'_>, namespace: ElementNamespace) -> Content {
    const FOREIGN_OBJECT: Name = Name::new(b"foreignobject");
    const DESC: Name = Name::new(b"desc");
    const TITLE: Name = Name::new(b"title");
    const MI: Name = Name::new(b"mi");
    const MO: Name = Name::new(b"mo");
    const MN: Name = Name::new(b"mn");
    const MS: Name = Name::new(b"ms");
    const MTEXT: Name = Name::new(b"mtext");
    match (namespace, tag.name()) {
        (ElementNamespace::Svg, FOREIGN_OBJECT | DESC | TITLE) => Content::Html,
        (ElementNamespace::MathMl, MI | MO | MN | MS | MTEXT) => Content::MathText,
        (ElementNamespace::MathMl, ANNOTATION) => {
            let encoding = tag.attribute("encoding").unwrap_or_default();
            let types: [&[u8]; 2] = [b"text/html", b"application/xhtml+xml"];
            if types
                .iter()
                .any(|known| known.eq_ignore_ascii_case(encoding))
            {
                Content::Html
            } else {
                Content::Foreign
            }
        }
        _ => Content::Foreign,
    }
}
