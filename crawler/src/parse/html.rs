//! The streaming pass over a page: takes links, directives, canonical links and a little text from the tags as they go by. It
//! neither stores a page nor builds a tree, and resolves no URL, because a later `<base>` could change it. No other module uses
//! the tokenizer, `lol_html`.
//!
//! The tokenizer takes the content of `noscript` and `noframes` for text, as a browser with scripts and
//! frames does. Their links are there for readers without, and a crawler is one: that text goes through
//! a tokenizer of its own. Content of `template`, comments, scripts, styles and text fields is never
//! searched.
//!
//! Without a tree some things are known less well: an end tag that is out of place inside a `template`
//! ends it, and a stray one is not seen at all.

mod attribute;
mod collector;

use std::{
    borrow::Cow,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use lol_html::{
    AsciiCompatibleEncoding, MemorySettings,
    html_content::{EndTag, TextChunk},
    send::{DocumentContentHandlers, Element, ElementContentHandlers, HtmlRewriter, Settings},
};

use self::collector::{Collector, Head, RawText};
pub(super) use self::{
    attribute::{is_feed, is_page_variant},
    collector::MAX_FEEDS,
};
use super::{
    PageReader,
    alternates::RawAlternates,
    directives::DirectiveSum,
    images::RawImages,
    json_ld::JsonLdBlocks,
    links::RawLinks,
    main_content::{Closing, MainContent},
    refresh::RawRefresh,
    stated::RawDates,
    text::{TextCount, Title},
};

/// Memory of the tokenizer: its stack of open elements, and a tag or comment that is not complete yet.
const MAX_MEMORY_BYTES: usize = 64 * 1_024 * 1_024;

/// Memory of the tokenizer of the content of a `noscript`.
const MAX_INNER_MEMORY_BYTES: usize = 8 * 1_024 * 1_024;

/// The page, `noscript` in the page, and `noscript` in that. Deeper ones are not read.
const MAX_LEVELS: usize = 3;

/// Findings of the pass, as written on the page.
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
    /// Images, when they are requested.
    pub(super) images: Option<RawImages>,
    /// Versions in other languages that the head names, when they are requested.
    pub(super) alternates: Option<RawAlternates>,
    /// Evidence of a change of the page.
    pub(super) content: MainContent,
    /// Dates that the page states.
    pub(super) dates: RawDates,
    /// Its structured data.
    pub(super) json_ld: JsonLdBlocks,
    /// There is a script that runs.
    pub(super) has_script: bool,
    /// There is an anchor that may lead to another page.
    pub(super) has_anchor: bool,
    /// There is a field for a password.
    pub(super) has_password_field: bool,
    /// The tokenizer gave up; the page after that point is missing.
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
    /// A pass with these settings.
    pub(super) fn new(reader: &Arc<PageReader>) -> Self {
        let findings = Findings {
            links: RawLinks::new(reader.max_links, reader.max_link_bytes),
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
            is_cut: false,
        };
        let collector = Arc::new(Mutex::new(Collector {
            reader: Arc::clone(reader),
            findings,
            head: Head::Open,
            template_depth: 0,
            raw_text: [RawText::Other; MAX_LEVELS],
        }));
        Self {
            rewriter: Some(new_rewriter(&collector, 0)),
            collector,
        }
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

    /// Returns whether it has stopped reading.
    pub(super) fn is_stopped(&self) -> bool {
        self.rewriter.is_none()
    }

    /// The findings, once the page has ended.
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
        collector.end_of_element(&name, level);
        Ok(())
    };
    // It fails for elements without content only.
    let _ = element.on_end_tag(Box::new(handler));
}
