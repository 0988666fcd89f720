//! The streaming pass over a page: takes links, directives, canonical links and a little text from
//! the tags as they go by. Nothing here holds a page or builds a tree, and nothing is resolved: a
//! later `<base>` could change it. The only file that knows the tokenizer, `lol_html`.
//!
//! The tokenizer takes the content of `noscript` and `noframes` for text, as a browser with scripts and
//! frames does. Their links are there for readers without, and a crawler is one: that text goes through
//! a tokenizer of its own. Content of `template`, comments, scripts, styles and text fields is never
//! searched.
//!
//! Without a tree some things are known less well: an end tag that is out of place inside a `template`
//! ends it, and a stray one is not seen at all.

use std::{
    borrow::Cow,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use lol_html::{
    AsciiCompatibleEncoding, MemorySettings,
    html_content::{EndTag, TextChunk, TextType},
    send::{DocumentContentHandlers, Element, ElementContentHandlers, HtmlRewriter, Settings},
};

use crate::{page::Via, url_key::UrlKey};

use super::{
    PageReader,
    alternates::RawAlternates,
    directives::DirectiveSum,
    images::{RawImage, RawImages},
    json_ld::{JsonLdBlocks, is_page_type},
    links::{RawLinks, is_nofollow, rel_contains},
    main_content::{Closing, MainContent, Part},
    refresh::{RawRefresh, parse_refresh},
    stated::{DatedElement, RawDates},
    tame::{StartTag, Tameness},
    text::{TextCount, Title},
};

/// Longest attribute value that is read, in bytes as written. The longest URL that is followed has
/// 2,047 bytes; the rest is room for character references.
const MAX_ATTRIBUTE_BYTES: usize = 4 * 1_024;

/// Longest `srcset` that is read: some twenty candidates, each as long as a URL may be.
const MAX_SRCSET_BYTES: usize = 64 * 1_024;

/// The shortest tag of an element with the date of the page.
const MIN_DATED_TAG_BYTES: usize = "<p itemprop=dateModified>".len();

/// Memory of the tokenizer: its stack of open elements, and a tag or comment that is not complete yet.
const MAX_MEMORY_BYTES: usize = 64 * 1_024 * 1_024;

/// The same for the content of a `noscript`.
const MAX_INNER_MEMORY_BYTES: usize = 8 * 1_024 * 1_024;

/// The page, `noscript` in the page, and `noscript` in that. Deeper ones are not read.
const MAX_LEVELS: usize = 3;

/// Canonical links that are collected; two different ones are a conflict already.
const MAX_CANONICALS: usize = 16;

/// Feeds kept of one page. Most have one or two: of the site, and of the page's comments.
pub(super) const MAX_FEEDS: usize = 16;

const SVG_NAMESPACE: &str = "http://www.w3.org/2000/svg";
const HTML_NAMESPACE: &str = "http://www.w3.org/1999/xhtml";

/// Elements that may stand in the head (HTML standard sections 13.2.6.4.4 and 13.2.6.4.6). The
/// first other start tag, or text, begins the body, whatever the markup says later.
const HEAD_ELEMENTS: [&str; 13] = [
    "html", "head", "title", "base", "link", "meta", "style", "script", "noscript", "template",
    "bgsound", "basefont", "noframes",
];

/// What the pass found, as it is written on the page.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent findings, each asked for by its own name"
)]
pub(super) struct Findings {
    /// Links in document order.
    pub(super) links: RawLinks,
    /// `href` of the first `<base>` that has one.
    pub(super) base: Option<String>,
    /// Canonical links of the head.
    pub(super) canonicals: Vec<String>,
    /// Feeds that it names; the first [`MAX_FEEDS`].
    pub(super) feeds: Vec<String>,
    /// The first meta refresh that scripts do not hide.
    pub(super) refresh: Option<RawRefresh>,
    /// Robots metas.
    pub(super) directives: DirectiveSum,
    /// The first title.
    pub(super) title: Title,
    /// The text readers see.
    pub(super) text: TextCount,
    /// Images, when they are asked for.
    pub(super) images: Option<RawImages>,
    /// Versions in other languages that the head names, when they are asked for.
    pub(super) alternates: Option<RawAlternates>,
    /// What tells whether the page changed.
    pub(super) content: MainContent,
    /// When the page says it changed.
    pub(super) dates: RawDates,
    /// Its structured data.
    pub(super) json_ld: JsonLdBlocks,
    /// There is a script that runs.
    pub(super) has_script: bool,
    /// There is an anchor that may lead to another page.
    pub(super) has_anchor: bool,
    /// There is a field for a password.
    pub(super) has_password_field: bool,
    /// For pages that a rule wants as a tree.
    pub(super) tameness: Option<Tameness>,
    /// The tokenizer gave up; what follows that point is missing.
    pub(super) is_cut: bool,
}

/// The streaming pass over one page.
#[derive(Debug)]
pub(super) struct HtmlPass {
    /// `None` after the tokenizer gave up.
    rewriter: Option<Rewriter>,
    collector: Shared,
}

type Rewriter = HtmlRewriter<'static, fn(&[u8])>;

/// The tokenizer calls back from several closures.
type Shared = Arc<Mutex<Collector>>;

impl HtmlPass {
    /// A pass with these settings; `watch_tameness` for pages that a rule wants as a tree.
    pub(super) fn new(reader: &Arc<PageReader>, watch_tameness: bool) -> Self {
        let findings = Findings {
            links: RawLinks::new(reader.max_links),
            base: None,
            canonicals: Vec::new(),
            feeds: Vec::new(),
            refresh: None,
            directives: DirectiveSum::default(),
            title: Title::default(),
            text: TextCount::default(),
            images: reader.extensions.images.then(RawImages::default),
            alternates: reader.extensions.hreflang.then(RawAlternates::default),
            content: MainContent::default(),
            dates: RawDates::default(),
            json_ld: JsonLdBlocks::default(),
            has_script: false,
            has_anchor: false,
            has_password_field: false,
            tameness: watch_tameness.then(Tameness::default),
            is_cut: false,
        };
        let collector = Arc::new(Mutex::new(Collector {
            reader: Arc::clone(reader),
            findings,
            head: Head::Open,
            template_depth: 0,
            closes_others: false,
            raw_text: [RawText::Other; MAX_LEVELS],
        }));
        Self {
            rewriter: Some(new_rewriter(&collector, 0)),
            collector,
        }
    }

    /// The same for the page at `url`.
    pub(super) fn of(self, url: &UrlKey) -> Self {
        let path_and_query = url.path_and_query();
        lock(&self.collector).findings.content.is_of(path_and_query);
        self
    }

    /// Takes the next piece of the page, in UTF-8.
    pub(super) fn write(&mut self, text: &[u8]) {
        if let Some(rewriter) = &mut self.rewriter
            && rewriter.write(text).is_err()
        {
            self.stop();
        }
    }

    /// Reads no further: the page costs too much.
    pub(super) fn stop(&mut self) {
        self.rewriter = None;
        lock(&self.collector).findings.is_cut = true;
    }

    /// Whether it has stopped reading.
    pub(super) fn is_stopped(&self) -> bool {
        self.rewriter.is_none()
    }

    /// Whether the page may still become a tree for its rules.
    pub(super) fn may_become_tree(&self) -> bool {
        let collector = lock(&self.collector);
        collector
            .findings
            .tameness
            .as_ref()
            .is_some_and(Tameness::is_tame)
    }

    /// What was found, once the page has ended.
    pub(super) fn finish(mut self) -> Findings {
        if let Some(rewriter) = self.rewriter.take()
            && rewriter.end().is_err()
        {
            self.stop();
        }
        let collector =
            Arc::into_inner(self.collector).expect("only the tokenizer held it, and it is gone");
        collector
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
            .findings
    }
}

/// A tokenizer for the page (level 0) or for the content of a `noscript` (above).
fn new_rewriter(collector: &Shared, level: usize) -> Rewriter {
    let memory_bytes = if level == 0 {
        MAX_MEMORY_BYTES
    } else {
        MAX_INNER_MEMORY_BYTES
    };
    let for_elements = Arc::clone(collector);
    let elements =
        ElementContentHandlers::default().element(move |element: &mut Element<'_, '_>| {
            on_start_tag(&for_elements, element, level);
            Ok(())
        });
    let for_text = Arc::clone(collector);
    let mut fallback = Fallback::Outside;
    let text = DocumentContentHandlers::default().text(move |chunk: &mut TextChunk<'_>| {
        if lock(&for_text).text(chunk, level) {
            fallback.take(chunk, &for_text, level + 1);
        }
        Ok(())
    });
    let every_element = "*".parse().expect("a selector");
    let settings = Settings::new_send()
        .with_encoding(AsciiCompatibleEncoding::utf_8())
        .with_strict(false)
        .with_memory_settings(MemorySettings::new().with_max_allowed_memory_usage(memory_bytes))
        .append_element_content_handler((Cow::Owned(every_element), elements))
        .append_document_content_handler(text);
    let discard: fn(&[u8]) = |_| {};
    HtmlRewriter::new(settings, discard)
}

/// The reading of a `noscript` or `noframes`: its text goes through a tokenizer of its own.
#[derive(Debug)]
enum Fallback {
    Outside,
    Inside {
        /// `None` after it gave up; the rest of the text is skipped.
        rewriter: Option<Box<Rewriter>>,
        /// Templates that were open before.
        template_depth: u32,
    },
}

impl Fallback {
    fn take(&mut self, chunk: &TextChunk<'_>, collector: &Shared, level: usize) {
        if level >= MAX_LEVELS {
            return;
        }
        if let Self::Outside = self {
            *self = Self::Inside {
                rewriter: Some(Box::new(new_rewriter(collector, level))),
                template_depth: lock(collector).template_depth,
            };
        }
        let Self::Inside {
            rewriter,
            template_depth,
        } = self
        else {
            return;
        };
        let mut failed = match rewriter {
            Some(rewriter) => rewriter.write(chunk.as_str().as_bytes()).is_err(),
            None => false,
        };
        if failed {
            *rewriter = None;
        }
        if chunk.last_in_text_node() {
            failed |= rewriter
                .take()
                .is_some_and(|rewriter| rewriter.end().is_err());
            // A template that was left open ends here too.
            lock(collector).template_depth = *template_depth;
            *self = Self::Outside;
        }
        if failed {
            lock(collector).findings.is_cut = true;
        }
    }
}

/// A lock that a panic elsewhere cannot make unusable: the engine catches panics per page.
fn lock(collector: &Shared) -> MutexGuard<'_, Collector> {
    collector.lock().unwrap_or_else(PoisonError::into_inner)
}

fn on_start_tag(collector: &Shared, element: &mut Element<'_, '_>, level: usize) {
    let name = element.tag_name();
    let wish = lock(collector).start_tag(&name, element, level);
    if !wish.end || !element.can_have_content() {
        return;
    }
    let is_part = wish
        .part
        .is_some_and(|part| lock(collector).findings.content.open(part));
    let collector = Arc::clone(collector);
    let handler = move |end: &mut EndTag<'_>| {
        let mut collector = lock(&collector);
        if is_part {
            let closing = if end.name() == name {
                Closing::Own
            } else {
                Closing::OfParent
            };
            collector.findings.content.close(closing);
        }
        collector.end_of_element(&name, &end.name(), level);
        Ok(())
    };
    // It fails for elements without content only.
    let _ = element.on_end_tag(Box::new(handler));
}

/// What is wanted of an element whose start tag was taken.
#[derive(Debug, Clone, Copy, Default)]
struct Wish {
    /// To know of its end.
    end: bool,
    /// As what part of the page it is followed to its end.
    part: Option<Part>,
}

/// How far the head of the document has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Head {
    Open,
    /// After `</head>`: metadata still belongs to it, until the body begins.
    Ended,
    /// The body has begun.
    Closed,
}

/// To which element the text that a tokenizer reads unparsed belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RawText {
    Title,
    /// `noscript` or `noframes`.
    Fallback,
    /// A script of structured data.
    JsonLd,
    Other,
}

#[derive(Debug)]
struct Collector {
    reader: Arc<PageReader>,
    findings: Findings,
    head: Head,
    /// Open `template` elements.
    template_depth: u32,
    /// The end tag that is being taken has closed other elements than its own.
    closes_others: bool,
    /// For each level, the element whose start tag came last.
    raw_text: [RawText; MAX_LEVELS],
}

impl Collector {
    /// Takes a start tag.
    fn start_tag(&mut self, name: &str, element: &Element<'_, '_>, level: usize) -> Wish {
        let namespace = element.namespace_uri();
        let is_html = namespace == HTML_NAMESPACE;
        let in_template = self.template_depth > 0;
        self.raw_text[level] = match name {
            "title" if level == 0 && !in_template => RawText::Title,
            "noscript" | "noframes" if is_html => RawText::Fallback,
            _ => RawText::Other,
        };
        let watches_tameness = level == 0 && self.watch_tameness(name, element, is_html);
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
            return Wish {
                end: watches_tameness,
                part: None,
            };
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
            end: watches_tameness || name == "head" || is_open_picture || part.is_some(),
            part,
        }
    }

    /// Takes what an element says of the page's content and dates, and finds out what part of the page it is.
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
        // Most tags are shorter than one that says so much, and their attributes need not be read.
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

    /// Takes the end of an element whose end is wanted; `end_name` is the tag that closed it.
    fn end_of_element(&mut self, name: &str, end_name: &str, level: usize) {
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
        let Some(tameness) = &mut self.findings.tameness else {
            return;
        };
        // An end tag closes what is inside first; only the last one bears its name.
        if level == 0 && name == end_name {
            tameness.end_tag(name, std::mem::take(&mut self.closes_others));
        } else if level == 0 {
            self.closes_others = true;
        }
    }

    /// Takes a piece of text; true when it belongs to a `noscript` or `noframes`.
    fn text(&mut self, chunk: &TextChunk<'_>, level: usize) -> bool {
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

    fn watch_tameness(&mut self, name: &str, element: &Element<'_, '_>, is_html: bool) -> bool {
        let Some(tameness) = &mut self.findings.tameness else {
            return false;
        };
        tameness.start_tag(StartTag {
            name,
            is_html,
            is_self_closing: element.is_self_closing(),
            can_have_content: element.can_have_content(),
            attributes: element.attributes().len(),
            bytes: element.source_location().bytes().len(),
        });
        tameness.is_tame()
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
        if level == 0 {
            if let Some(name) = name.or_else(|| value(element, "property")) {
                self.findings.dates.meta(&name, &content);
            } else {
                self.take_dated("meta", element);
            }
        }
        let is_refresh = value(element, "http-equiv")
            .is_some_and(|header| header.trim().eq_ignore_ascii_case("refresh"));
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

/// Whether an alternate link leads to another version of the page, not to a feed or other data.
pub(super) fn is_page_variant(has_language_or_media: bool, media_type: Option<&str>) -> bool {
    let media_type =
        media_type.map(|media_type| media_type.split(';').next().unwrap_or_default().trim());
    let is_page = media_type.is_none_or(|essence| {
        ["", "text/html", "application/xhtml+xml"]
            .iter()
            .any(|known| known.eq_ignore_ascii_case(essence))
    });
    has_language_or_media && is_page
}

/// Whether an alternate link leads to a feed: RSS or Atom by its type (RSS Advisory Board, "RSS
/// Autodiscovery").
pub(super) fn is_feed(media_type: Option<&str>) -> bool {
    let essence = media_type.and_then(|media_type| media_type.split(';').next());
    essence.is_some_and(|essence| {
        ["application/rss+xml", "application/atom+xml"]
            .iter()
            .any(|known| known.eq_ignore_ascii_case(essence.trim()))
    })
}

/// Whether a script element of this type (in lower case) is a script, not data such as JSON-LD.
fn is_running_script(kind: &str) -> bool {
    kind.is_empty()
        || kind == "module"
        || kind.contains("javascript")
        || kind.contains("ecmascript")
}

/// What an `img` shows; scripts load some of them from elsewhere. `None` for counters, which nobody sees.
fn image_reference(element: &Element<'_, '_>) -> Option<String> {
    let is_pixel =
        |name| value(element, name).is_some_and(|length| matches!(length.trim(), "0" | "1"));
    if is_pixel("width") && is_pixel("height") {
        return None;
    }
    let is_usable = |reference: &String| {
        let reference = reference.trim();
        !reference.is_empty() && !reference.starts_with("data:")
    };
    ["src", "data-src", "data-lazy-src", "data-original"]
        .iter()
        .find_map(|name| value(element, name).filter(is_usable))
        .or_else(|| {
            let srcset = value(element, "srcset").or_else(|| value(element, "data-srcset"))?;
            let first = srcset.split_ascii_whitespace().next()?;
            Some(first.trim_end_matches(',').to_owned())
        })
}

/// The value of an attribute, with its character references decoded; `None` when absent or too long.
fn value(element: &Element<'_, '_>, name: &str) -> Option<String> {
    value_up_to(element, name, MAX_ATTRIBUTE_BYTES)
}

fn value_up_to(element: &Element<'_, '_>, name: &str, max_bytes: usize) -> Option<String> {
    let raw = element
        .get_attribute(name)
        .filter(|raw| raw.len() <= max_bytes)?;
    // The tokenization rule for NUL, which the tokenizer leaves to us.
    let raw = if raw.contains('\0') {
        raw.replace('\0', "\u{fffd}")
    } else {
        raw
    };
    Some(if raw.contains('&') {
        htmlize::unescape_attribute(&*raw).into_owned()
    } else {
        raw
    })
}
