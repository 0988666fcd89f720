//! Facts from each tag and each piece of text as it goes by.

use std::{borrow::Cow, sync::Arc};

use super::super::{
    PageReader,
    element::Element,
    images::RawImage,
    json_ld::is_page_type,
    links::{is_nofollow, rel_contains},
    main_content::{Part, is_comment, part_of},
    news,
    refresh::parse_refresh,
};
use super::{
    Findings,
    attribute::{
        MAX_SRCSET_BYTES, image_reference, is_feed, is_page_variant, is_running_script, value,
        value_up_to,
    },
};
use crate::{
    html::{
        ElementNamespace, Following, Name, Namespaces, Tag, Text, TextKind, TextModel, TokenSink,
    },
    page::Via,
    url_key::MAX_REFERENCE_BYTES,
};

/// The shortest tag of an element with the date of the page.
const MIN_DATED_TAG_BYTES: usize = "<p itemprop=dateModified>".len();

/// Canonical links that are collected; two different ones are a conflict already.
const MAX_CANONICALS: usize = 16;

/// Feeds kept of one page. Most have one or two: of the site, and of the page's comments.
pub(in crate::parse) const MAX_FEEDS: usize = 16;

/// Progress of reading the head of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Head {
    Open,
    /// After `</head>`: metadata still belongs to it, until the body begins.
    Ended,
    /// The body has begun.
    Closed,
}

/// The element whose text is read unparsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RawElement {
    Title,
    /// A script of structured data.
    JsonLd,
    Other,
}

/// Takes the tokens of a page.
#[derive(Debug)]
pub(super) struct Collector {
    reader: Arc<PageReader>,
    findings: Findings,
    namespaces: Namespaces,
    head: Head,
    /// Open `template` elements.
    template_depth: u32,
    /// In a `noscript`: `template` elements that were open before it.
    fallback: Option<u32>,
    /// The element whose start tag came last.
    raw_text: RawElement,
    /// There was text after the last tag.
    has_text: bool,
    /// The last tag began an element for an application, and only spaces followed.
    is_in_root: bool,
}

/// Returns whether a `template` is a declarative shadow root (HTML standard, "The `template` element").
fn is_shadow_root(tag: &Tag<'_>) -> bool {
    let mode = value(tag, "shadowrootmode");
    mode.is_some_and(|mode| {
        ["open", "closed"]
            .iter()
            .any(|known| mode.eq_ignore_ascii_case(known))
    })
}

/// Ids of elements for an application, as the common frameworks give them.
const ROOTS: [&str; 6] = ["root", "app", "__next", "__nuxt", "___gatsby", "svelte"];

/// The longest tag of an element for an application: most tags are longer, or are other elements.
const MAX_ROOT_TAG_BYTES: usize = 40;

/// Returns whether an element holds an application, by its id, or by the name that Angular gives it.
fn is_application_root(element: Element, tag: &Tag<'_>) -> bool {
    const ANGULAR: Name = Name::new(b"app-root");
    match element {
        Element::Div | Element::Main if tag.len() <= MAX_ROOT_TAG_BYTES => {
            let id = tag.attribute("id");
            id.is_some_and(|id| ROOTS.iter().any(|root| root.as_bytes() == id))
        }
        _ => tag.name() == ANGULAR,
    }
}

impl TokenSink for Collector {
    fn start_tag(&mut self, tag: &Tag<'_>) -> Following {
        let (namespace, following) = self.namespaces.start_tag(tag);
        self.end_text();
        self.raw_text = RawElement::Other;
        let element = Element::of(tag.name());
        if !element.is_inline() {
            self.findings.content.divide();
            self.findings.links.take_text(b" ");
        }
        self.is_in_root = is_application_root(element, tag);
        self.element(element, namespace, tag);
        following
    }

    fn end_tag(&mut self, tag: &Tag<'_>) -> Following {
        self.end_text();
        self.raw_text = RawElement::Other;
        let element = Element::of(tag.name());
        if !element.is_inline() {
            self.findings.content.divide();
            self.findings.links.take_text(b" ");
        }
        self.findings.application.has_empty_root |= std::mem::take(&mut self.is_in_root);
        self.end_of_element(element);
        self.namespaces.end_tag(tag)
    }

    fn text(&mut self, piece: Text<'_>, kind: TextKind) {
        let text = piece.bytes();
        if self.template_depth > 0 || self.fallback.is_some() {
            return;
        }
        self.has_text = true;
        self.is_in_root &= text.trim_ascii().is_empty();
        match kind {
            TextKind::Model(TextModel::Data) | TextKind::Cdata => {
                self.findings.text.add(text);
                self.findings.content.text(piece);
                self.findings.links.take_text(text);
                self.findings.dates.text(text);
                if self.head != Head::Closed && !text.trim_ascii().is_empty() {
                    self.head = Head::Closed;
                }
            }
            TextKind::Model(TextModel::Rcdata) if self.raw_text == RawElement::Title => {
                self.findings.title.add(text);
            }
            TextKind::Model(TextModel::Script) if self.raw_text == RawElement::JsonLd => {
                self.findings.json_ld.add(text);
            }
            TextKind::Model(_) => {}
        }
    }
}

impl Collector {
    /// Begins a page.
    pub(super) fn new(reader: Arc<PageReader>, findings: Findings) -> Self {
        Self {
            reader,
            findings,
            namespaces: Namespaces::default(),
            head: Head::Open,
            template_depth: 0,
            fallback: None,
            raw_text: RawElement::Other,
            has_text: false,
            is_in_root: false,
        }
    }

    /// The findings, once the page has ended.
    pub(super) fn into_findings(mut self) -> Findings {
        self.end_text();
        self.findings
    }

    /// A tag ends what was text before it.
    fn end_text(&mut self) {
        if !std::mem::take(&mut self.has_text) {
            return;
        }
        self.findings.text.end_text();
        self.findings.content.end_text();
        self.findings.dates.end_text();
        match self.raw_text {
            RawElement::Title => self.findings.title.end(),
            RawElement::JsonLd => self.findings.json_ld.end(),
            RawElement::Other => {}
        }
    }

    /// Takes a start tag.
    fn element(&mut self, element: Element, namespace: ElementNamespace, tag: &Tag<'_>) {
        let is_html = namespace == ElementNamespace::Html;
        if element == Element::Template && is_html {
            // The content of a declarative shadow root is part of the page.
            let is_shown = self.template_depth == 0 && is_shadow_root(tag);
            self.template_depth += u32::from(!is_shown);
            return;
        }
        if self.template_depth > 0 {
            return;
        }
        let is_fallback = self.fallback.is_some();
        if !is_fallback && self.head != Head::Closed {
            let stays = element.may_be_in_head()
                && !(element == Element::Noscript && self.head == Head::Ended);
            self.head = if stays { self.head } else { Head::Closed };
        }
        match element {
            Element::A => self.take_anchor(tag, namespace == ElementNamespace::Svg),
            Element::Area => {
                self.take_anchor(tag, false);
                if let Some(alternative) = value(tag, "alt") {
                    self.findings.links.take_alternative(&alternative);
                }
                self.findings.links.end_text();
            }
            Element::Iframe | Element::Frame => {
                if let Some(source) = value(tag, "src") {
                    self.findings.content.frame(&source);
                    self.take_link(&source, Via::Link, false);
                }
            }
            Element::Link => self.take_link_element(tag),
            Element::Meta => self.take_meta(tag),
            Element::Base if !is_fallback && self.findings.base.is_none() => {
                self.findings.base = value(tag, "href").map(Cow::into_owned);
            }
            Element::Html if is_html && self.findings.language.is_none() => {
                self.findings.language = value(tag, "lang").map(Cow::into_owned);
            }
            Element::Noscript if is_html && !is_fallback => {
                self.fallback = Some(self.template_depth);
            }
            Element::Script if is_html => self.take_script(tag),
            Element::Title if is_html && !is_fallback => self.raw_text = RawElement::Title,
            Element::Input if is_html => {
                self.findings.has_password_field |=
                    value(tag, "type").is_some_and(|kind| kind.eq_ignore_ascii_case("password"));
            }
            Element::Picture | Element::Source | Element::Img | Element::Image if is_html => {
                self.take_image(element, tag);
            }
            _ => {}
        }
        if is_html && self.fallback.is_none() {
            self.take_content(element, tag);
        }
    }

    /// Takes the content and the dates of an element, and decides its part of the page.
    fn take_content(&mut self, element: Element, tag: &Tag<'_>) {
        match element {
            Element::Img => {
                if let Some(reference) = image_reference(tag) {
                    let alternative = value(tag, "alt");
                    self.findings
                        .content
                        .image(&reference, alternative.as_deref());
                    if let Some(alternative) = alternative {
                        self.findings.links.take_alternative(&alternative);
                    }
                }
            }
            Element::Video | Element::Audio | Element::Embed => {
                if let Some(reference) = value(tag, "src") {
                    self.findings.content.image(&reference, None);
                }
            }
            Element::Time | Element::Span | Element::Abbr | Element::P => {
                self.take_dated(element, tag);
            }
            _ if element.can_be_part() => {
                let part = self.part_of(element, tag);
                self.findings.content.start(element, part);
            }
            _ => {}
        }
    }

    /// The part of the page that an element is. Takes its date, if it has one.
    fn part_of(&mut self, element: Element, tag: &Tag<'_>) -> Option<Part> {
        let part = part_of(element, tag, self.findings.content.open());
        let may_have_date = matches!(
            element,
            Element::Div
                | Element::Section
                | Element::Article
                | Element::Main
                | Element::Ul
                | Element::Ol
                | Element::Li
        );
        if !may_have_date || !tag.has_attributes() {
            return part;
        }
        if matches!(part, None | Some(Part::Section)) && is_comment(tag) {
            return Some(Part::Item);
        }
        // An item of its own on the page: a comment, a review, an article of a list.
        if part.is_none() && tag.attribute("itemscope").is_some() {
            let kind = value(tag, "itemtype").unwrap_or_default();
            let is_page = kind
                .rsplit(['/', ':'])
                .next()
                .is_some_and(|kind| kind.is_empty() || is_page_type(kind));
            return (!is_page).then_some(Part::Item);
        }
        self.take_dated(element, tag);
        part
    }

    /// Takes an element that may have the date of the page.
    fn take_dated(&mut self, element: Element, tag: &Tag<'_>) {
        // Most tags are too short for such attributes, which are then not read.
        let is_time = element == Element::Time;
        let is_short = tag.len() < MIN_DATED_TAG_BYTES && !is_time;
        if is_short || !self.findings.content.open().may_be_dated() {
            return;
        }
        // The text of a `time` without a property is the date of no element before it.
        let itemprop = value(tag, "itemprop").or_else(|| is_time.then(Cow::default));
        let Some(itemprop) = itemprop else {
            return;
        };
        let datetime = is_time.then(|| value(tag, "datetime")).flatten();
        let date = datetime.or_else(|| value(tag, "content"));
        self.findings.dates.element(&itemprop, date.as_deref());
    }

    fn take_script(&mut self, tag: &Tag<'_>) {
        let kind = value(tag, "type").map(|kind| kind.trim().to_ascii_lowercase());
        self.findings.application.has_script |= kind.as_deref().is_none_or(is_running_script);
        let is_json_ld = kind.is_some_and(|kind| {
            kind.split(';').next().unwrap_or_default().trim_end() == "application/ld+json"
        });
        if is_json_ld && self.fallback.is_none() {
            self.raw_text = RawElement::JsonLd;
        }
    }

    /// Takes an end tag.
    fn end_of_element(&mut self, element: Element) {
        match element {
            Element::A => self.findings.links.end_text(),
            Element::Template => self.template_depth = self.template_depth.saturating_sub(1),
            Element::Noscript => {
                // A template that was left open in it ends too.
                if let Some(depth) = self.fallback.take() {
                    self.template_depth = depth;
                }
            }
            _ if self.template_depth > 0 => {}
            Element::Picture => {
                if let Some(images) = &mut self.findings.images {
                    images.close_picture();
                }
            }
            _ if self.fallback.is_some() => {}
            Element::Head if self.head == Head::Open => self.head = Head::Ended,
            _ if element.can_be_part() => self.findings.content.end(element),
            _ => {}
        }
    }

    fn take_link(&mut self, reference: &str, via: Via, nofollow: bool) -> bool {
        self.findings.links.add(reference, via, nofollow)
    }

    fn take_anchor(&mut self, tag: &Tag<'_>, is_svg: bool) {
        let in_xlink = || value(tag, "xlink:href").filter(|_| is_svg);
        let href = value_up_to(tag, "href", MAX_REFERENCE_BYTES);
        if let Some(reference) = href.or_else(in_xlink) {
            let nofollow = value(tag, "rel").is_some_and(|rel| is_nofollow(&rel));
            let is_content = self.fallback.is_none();
            let regions = if is_content {
                self.findings.content.open().regions()
            } else {
                0
            };
            let links = &mut self.findings.links;
            let leads_somewhere = links.add_anchor(&reference, nofollow, regions);
            self.findings.application.has_anchor |= leads_somewhere && is_content;
        }
    }

    fn take_link_element(&mut self, tag: &Tag<'_>) {
        let (Some(rel), Some(reference)) = (value(tag, "rel"), value(tag, "href")) else {
            return;
        };
        let is = |relation| rel_contains(&rel, relation);
        let has = |attribute| tag.attribute(attribute).is_some();
        let is_for_a_variant = ["hreflang", "lang", "media", "type"].into_iter().any(has);
        let counts = self.is_in_head() && !is_for_a_variant;
        if is("canonical") && counts && self.findings.canonicals.len() < MAX_CANONICALS {
            self.findings
                .canonicals
                .push(reference.clone().into_owned());
        }
        let nofollow = is_nofollow(&rel);
        let media_type = value(tag, "type");
        let is_version = is("alternate")
            && !is("stylesheet")
            && is_page_variant(has("hreflang") || has("media"), media_type.as_deref());
        if is_version
            && self.is_in_head()
            && !has("media")
            && let Some(alternates) = &mut self.findings.alternates
            && let Some(hreflang) = value(tag, "hreflang")
        {
            alternates.add(hreflang.into_owned(), reference.clone().into_owned());
        }
        if is("amphtml") || is_version {
            self.take_link(&reference, Via::Alternate, nofollow);
        } else if is("next") || is("prev") || is("previous") {
            self.take_link(&reference, Via::Link, nofollow);
        } else if is("alternate")
            && !nofollow
            && is_feed(media_type.as_deref())
            && self.findings.feeds.len() < MAX_FEEDS
        {
            self.findings.feeds.push(reference.into_owned());
        }
    }

    /// Takes an element that makes up an image; `image` is how some write `img` (HTML standard section
    /// 13.2.6.4.7).
    fn take_image(&mut self, element: Element, tag: &Tag<'_>) {
        let Some(images) = &mut self.findings.images else {
            return;
        };
        let srcset = || value_up_to(tag, "srcset", MAX_SRCSET_BYTES);
        match element {
            Element::Picture => images.open_picture(),
            Element::Source if images.wants_source() => {
                if let Some(srcset) = srcset() {
                    images.add_source(&srcset);
                }
            }
            Element::Source => {}
            _ => images.add(&RawImage {
                src: value(tag, "src").map(Cow::into_owned),
                srcset: srcset().map(Cow::into_owned),
                width: value(tag, "width").map(Cow::into_owned),
                height: value(tag, "height").map(Cow::into_owned),
            }),
        }
    }

    fn take_meta(&mut self, tag: &Tag<'_>) {
        let Some(content) = value(tag, "content") else {
            return;
        };
        let name = value(tag, "name");
        if name
            .as_deref()
            .is_some_and(|name| self.reader.obeys(name.trim()))
        {
            self.findings.directives.add_list(&content);
        } else if name
            .as_deref()
            .is_some_and(|name| name.trim().eq_ignore_ascii_case(news::BOT))
        {
            self.findings.news_directives.add_list(&content);
        }
        let header = value(tag, "http-equiv");
        if self.fallback.is_none() {
            let name = name.or_else(|| value(tag, "property"));
            if let Some(name) = name.or_else(|| header.clone()) {
                self.findings.dates.meta(&name, &content);
                if let Some(tags) = &mut self.findings.open_graph {
                    tags.meta(&name, &content);
                }
            } else {
                self.take_dated(Element::Meta, tag);
            }
        }
        let is_refresh = header.is_some_and(|header| header.trim().eq_ignore_ascii_case("refresh"));
        let Some(refresh) = is_refresh.then(|| parse_refresh(&content)).flatten() else {
            return;
        };
        if self.fallback.is_none() {
            self.findings.refresh.get_or_insert(refresh);
        } else if let Some(target) = refresh.target {
            // Readers with scripts, and search engines are among them, stay on the page.
            self.take_link(&target, Via::Refresh, false);
        }
    }

    fn is_in_head(&self) -> bool {
        self.fallback.is_none() && self.head != Head::Closed
    }
}
