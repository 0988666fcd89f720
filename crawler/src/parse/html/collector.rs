//! Facts from each tag and each piece of text as it goes by.

use std::sync::Arc;

use lol_html::{
    html_content::{TextChunk, TextType},
    send::Element,
};

use super::super::{
    PageReader,
    images::RawImage,
    json_ld::is_page_type,
    links::{is_nofollow, rel_contains},
    main_content::Part,
    refresh::parse_refresh,
    stated::DatedElement,
};
use super::{
    Findings, MAX_LEVELS,
    attribute::{
        MAX_SRCSET_BYTES, image_reference, is_feed, is_page_variant, is_running_script, value,
        value_up_to,
    },
};
use crate::page::Via;

/// The shortest tag of an element with the date of the page.
const MIN_DATED_TAG_BYTES: usize = "<p itemprop=dateModified>".len();

/// Canonical links that are collected; two different ones are a conflict already.
const MAX_CANONICALS: usize = 16;

/// Feeds kept of one page. Most have one or two: of the site, and of the page's comments.
pub(in crate::parse) const MAX_FEEDS: usize = 16;

const SVG_NAMESPACE: &str = "http://www.w3.org/2000/svg";

const HTML_NAMESPACE: &str = "http://www.w3.org/1999/xhtml";

/// Elements that may stand in the head (HTML standard sections 13.2.6.4.4 and 13.2.6.4.6). The first other start tag, or text,
/// begins the body, whatever follows.
const HEAD_ELEMENTS: [&str; 13] = [
    "html", "head", "title", "base", "link", "meta", "style", "script", "noscript", "template",
    "bgsound", "basefont", "noframes",
];

/// Facts that are collected from an element after its start tag.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Wish {
    /// To know of its end.
    pub(super) end: bool,
    /// Part of the page as which it is followed to its end.
    pub(super) part: Option<Part>,
}

/// Progress of reading the head of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Head {
    Open,
    /// After `</head>`: metadata still belongs to it, until the body begins.
    Ended,
    /// The body has begun.
    Closed,
}

/// To which element the text that a tokenizer reads unparsed belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RawText {
    Title,
    /// `noscript` or `noframes`.
    Fallback,
    /// A script of structured data.
    JsonLd,
    Other,
}

#[derive(Debug)]
pub(super) struct Collector {
    pub(super) reader: Arc<PageReader>,
    pub(super) findings: Findings,
    pub(super) head: Head,
    /// Open `template` elements.
    pub(super) template_depth: u32,
    /// For each level, the element whose start tag came last.
    pub(super) raw_text: [RawText; MAX_LEVELS],
}

impl Collector {
    /// Takes a start tag.
    pub(super) fn start_tag(
        &mut self,
        name: &str,
        element: &Element<'_, '_>,
        level: usize,
    ) -> Wish {
        let namespace = element.namespace_uri();
        let is_html = namespace == HTML_NAMESPACE;
        let in_template = self.template_depth > 0;
        self.raw_text[level] = match name {
            "title" if level == 0 && !in_template => RawText::Title,
            "noscript" | "noframes" if is_html => RawText::Fallback,
            _ => RawText::Other,
        };
        if name == "template" && is_html {
            if element.can_have_content() {
                self.template_depth += 1;
            }
            return Wish {
                end: true,
                part: None,
            };
        }
        if in_template {
            return Wish::default();
        }
        if level == 0 && self.head != Head::Closed {
            let stays =
                HEAD_ELEMENTS.contains(&name) && !(name == "noscript" && self.head == Head::Ended);
            self.head = if stays { self.head } else { Head::Closed };
        }
        match name {
            "a" => self.take_anchor(element, level, namespace == SVG_NAMESPACE),
            "area" => self.take_anchor(element, level, false),
            "iframe" | "frame" => {
                if let Some(source) = value(element, "src") {
                    self.take_link(&source, Via::Link, false);
                }
            }
            "link" => self.take_link_element(element, level),
            "meta" => self.take_meta(element, level),
            "base" if level == 0 && self.findings.base.is_none() => {
                self.findings.base = value(element, "href");
            }
            "script" if is_html => self.take_script(element, level),
            "input" if is_html => {
                self.findings.has_password_field |= value(element, "type")
                    .is_some_and(|kind| kind.eq_ignore_ascii_case("password"));
            }
            "picture" | "source" | "img" | "image" if is_html => {
                self.take_image(name, element, level);
            }
            _ => {}
        }
        let is_open_picture = name == "picture" && self.findings.images.is_some();
        let part = if level == 0 && is_html {
            self.take_content(name, element)
        } else {
            None
        };
        Wish {
            end: name == "head" || is_open_picture || part.is_some(),
            part,
        }
    }

    /// Takes the content and the dates of an element, and decides its part of the page.
    fn take_content(&mut self, name: &str, element: &Element<'_, '_>) -> Option<Part> {
        match name {
            "img" => {
                if let Some(reference) = image_reference(element) {
                    let alternative = value(element, "alt");
                    self.findings
                        .content
                        .image(&reference, alternative.as_deref());
                }
                return None;
            }
            "video" | "audio" | "embed" => {
                if let Some(reference) = value(element, "src") {
                    self.findings.content.image(&reference, None);
                }
                return None;
            }
            "time" | "span" | "abbr" | "p" => {
                self.take_dated(name, element);
                return None;
            }
            _ => {}
        }
        let part = self.findings.content.part_of(name, element);
        if !matches!(
            name,
            "div" | "section" | "article" | "main" | "ul" | "ol" | "li"
        ) || element.attributes().is_empty()
        {
            return part;
        }
        // An item of its own on the page: a comment, a review, an article of a list.
        if part.is_none() && element.has_attribute("itemscope") {
            let kind = value(element, "itemtype").unwrap_or_default();
            let is_page = kind
                .rsplit(['/', ':'])
                .next()
                .is_some_and(|kind| kind.is_empty() || is_page_type(kind));
            return (!is_page).then_some(Part::Item);
        }
        self.take_dated(name, element);
        part
    }

    /// Takes an element that may have the date of the page.
    fn take_dated(&mut self, name: &str, element: &Element<'_, '_>) {
        let is_time = name == "time";
        // Most tags are too short for such attributes, which are then not read.
        if !is_time && element.source_location().bytes().len() < MIN_DATED_TAG_BYTES {
            return;
        }
        let itemprop = value(element, "itemprop");
        if !is_time && itemprop.is_none() || !self.findings.content.may_be_dated() {
            return;
        }
        let of_time = |attribute| is_time.then(|| value(element, attribute)).flatten();
        self.findings.dates.element(&DatedElement {
            is_time,
            itemprop,
            class: of_time("class"),
            label: of_time("aria-label").or_else(|| of_time("title")),
            value: of_time("datetime").or_else(|| value(element, "content")),
        });
    }

    fn take_script(&mut self, element: &Element<'_, '_>, level: usize) {
        let kind = value(element, "type").map(|kind| kind.trim().to_ascii_lowercase());
        self.findings.has_script |= kind.as_deref().is_none_or(is_running_script);
        let is_json_ld = kind.is_some_and(|kind| {
            kind.split(';').next().unwrap_or_default().trim_end() == "application/ld+json"
        });
        if is_json_ld && level == 0 {
            self.raw_text[level] = RawText::JsonLd;
        }
    }

    /// Takes the end of an element whose end is wanted.
    pub(super) fn end_of_element(&mut self, name: &str, level: usize) {
        if name == "template" {
            self.template_depth = self.template_depth.saturating_sub(1);
        }
        if name == "head" && level == 0 && self.head == Head::Open {
            self.head = Head::Ended;
        }
        if name == "picture"
            && let Some(images) = &mut self.findings.images
        {
            images.close_picture();
        }
    }

    /// Takes a piece of text; true when it belongs to a `noscript` or `noframes`.
    pub(super) fn text(&mut self, chunk: &TextChunk<'_>, level: usize) -> bool {
        let text = chunk.as_str();
        let ends_node = chunk.last_in_text_node();
        match chunk.text_type() {
            TextType::Data | TextType::CDataSection => {
                if level == 0 && self.template_depth == 0 {
                    self.findings.text.add(text, ends_node);
                    self.findings.content.text(text, ends_node);
                    self.findings.dates.text(text, ends_node);
                    let is_blank = text.bytes().all(|byte| byte.is_ascii_whitespace());
                    self.head = if is_blank { self.head } else { Head::Closed };
                }
                false
            }
            // The title of a drawing is ordinary text.
            TextType::RCData => {
                if self.raw_text[level] == RawText::Title {
                    self.findings.title.add(text, ends_node);
                }
                false
            }
            TextType::RawText => self.raw_text[level] == RawText::Fallback,
            TextType::ScriptData => {
                if self.raw_text[level] == RawText::JsonLd && self.template_depth == 0 {
                    self.findings.json_ld.add(text, ends_node);
                }
                false
            }
            TextType::PlainText => false,
        }
    }

    fn take_link(&mut self, reference: &str, via: Via, nofollow: bool) -> bool {
        self.findings.links.add(reference, via, nofollow)
    }

    fn take_anchor(&mut self, element: &Element<'_, '_>, level: usize, is_svg: bool) {
        let in_xlink = || value(element, "xlink:href").filter(|_| is_svg);
        if let Some(reference) = value(element, "href").or_else(in_xlink) {
            let nofollow = value(element, "rel").is_some_and(|rel| is_nofollow(&rel));
            let regions = if level == 0 {
                self.findings.content.regions()
            } else {
                0
            };
            let links = &mut self.findings.links;
            let leads_somewhere = links.add_in(&reference, Via::Link, nofollow, regions);
            self.findings.has_anchor |= leads_somewhere && level == 0;
        }
    }

    fn take_link_element(&mut self, element: &Element<'_, '_>, level: usize) {
        let (Some(rel), Some(reference)) = (value(element, "rel"), value(element, "href")) else {
            return;
        };
        let is = |relation| rel_contains(&rel, relation);
        let has = |attribute| element.has_attribute(attribute);
        let is_for_a_variant = ["hreflang", "lang", "media", "type"].into_iter().any(has);
        let counts = level == 0 && self.head != Head::Closed && !is_for_a_variant;
        if is("canonical") && counts && self.findings.canonicals.len() < MAX_CANONICALS {
            self.findings.canonicals.push(reference.clone());
        }
        let nofollow = is_nofollow(&rel);
        let media_type = value(element, "type");
        let is_version = is("alternate")
            && !is("stylesheet")
            && is_page_variant(has("hreflang") || has("media"), media_type.as_deref());
        if is_version
            && level == 0
            && self.head != Head::Closed
            && !has("media")
            && let Some(alternates) = &mut self.findings.alternates
            && let Some(hreflang) = value(element, "hreflang")
        {
            alternates.add(hreflang, reference.clone());
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
            self.findings.feeds.push(reference);
        }
    }

    /// Takes an element that makes up an image; `image` is how some write `img` (HTML standard section
    /// 13.2.6.4.7).
    fn take_image(&mut self, name: &str, element: &Element<'_, '_>, level: usize) {
        let Some(images) = &mut self.findings.images else {
            return;
        };
        let srcset = || value_up_to(element, "srcset", MAX_SRCSET_BYTES);
        match name {
            "picture" => images.open_picture(),
            "source" if images.wants_source() => {
                if let Some(srcset) = srcset() {
                    images.add_source(&srcset);
                }
            }
            "source" => {}
            _ => images.add(&RawImage {
                src: value(element, "src"),
                srcset: srcset(),
                width: value(element, "width"),
                height: value(element, "height"),
                style: value(element, "style"),
                is_fallback: level > 0,
            }),
        }
    }

    fn take_meta(&mut self, element: &Element<'_, '_>, level: usize) {
        let Some(content) = value(element, "content") else {
            return;
        };
        let name = value(element, "name");
        if name
            .as_deref()
            .is_some_and(|name| self.reader.obeys(name.trim()))
        {
            self.findings.directives.add_list(&content);
        }
        let header = value(element, "http-equiv");
        if level == 0 {
            let name = name.or_else(|| value(element, "property"));
            if let Some(name) = name.or_else(|| header.clone()) {
                self.findings.dates.meta(&name, &content);
            } else {
                self.take_dated("meta", element);
            }
        }
        let is_refresh = header.is_some_and(|header| header.trim().eq_ignore_ascii_case("refresh"));
        let Some(refresh) = is_refresh.then(|| parse_refresh(&content)).flatten() else {
            return;
        };
        if level == 0 {
            self.findings.refresh.get_or_insert(refresh);
        } else if let Some(target) = refresh.target {
            // Readers with scripts, and search engines are among them, stay on the page.
            self.take_link(&target, Via::Refresh, false);
        }
    }
}
