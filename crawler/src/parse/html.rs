//! The pass over a page: takes links, directives, canonical links and a little text from the tags as they go by. It neither
//! stores a page nor builds a tree, and resolves no URL, because a later `<base>` could change it.
//!
//! Scripts are off. Content of `noscript` is for readers without scripts, and a crawler is one: its links, images and directives
//! count, the rest of it does not. Content of `template` (but for declarative shadow roots), comments, scripts, styles and text fields is never searched.
//!
//! Without a tree some things are known less well: an end tag that is out of place inside a `template` ends it.

mod attribute;
mod collector;

use std::sync::Arc;

use self::collector::Collector;
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
    main_content::MainContent,
    open_graph::OpenGraph,
    refresh::RawRefresh,
    stated::RawDates,
    text::{TextCount, Title},
};
use crate::{html::Tokenizer, url_key::UrlKey};

/// Findings of the pass, as written on the page.
#[derive(Debug)]
pub(super) struct Findings {
    /// Links in document order.
    pub(super) links: RawLinks,
    /// `href` of the first `<base>` that has one.
    pub(super) base: Option<String>,
    /// Canonical links of the head.
    pub(super) canonicals: Vec<String>,
    /// Directives for news alone.
    pub(super) news_directives: DirectiveSum,
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
    /// Open Graph tags, when news or videos are requested.
    pub(super) open_graph: Option<OpenGraph>,
    /// `lang` of the root.
    pub(super) language: Option<String>,
    /// Evidence of a change of the page.
    pub(super) content: MainContent,
    /// Dates that the page states.
    pub(super) dates: RawDates,
    /// The structured data.
    pub(super) json_ld: JsonLdBlocks,
    /// What scripts may add.
    pub(super) application: ApplicationSigns,
    /// There is a field for a password.
    pub(super) has_password_field: bool,
    /// The page after some point was not read.
    pub(super) is_cut: bool,
}

/// Signs of a page that scripts fill.
#[derive(Debug, Default)]
pub(super) struct ApplicationSigns {
    /// There is a script that runs.
    pub(super) has_script: bool,
    /// There is an anchor that may lead to another page.
    pub(super) has_anchor: bool,
    /// An element for an application has no content.
    pub(super) has_empty_root: bool,
}

/// The pass over one page.
#[derive(Debug)]
pub(super) struct HtmlPass {
    tokenizer: Tokenizer<Collector>,
    is_stopped: bool,
}

impl HtmlPass {
    /// A pass over the page at `url` with these settings.
    pub(super) fn new(reader: &Arc<PageReader>, url: &UrlKey) -> Self {
        let findings = Findings {
            links: RawLinks::new(reader.max_links, reader.max_link_bytes),
            base: None,
            canonicals: Vec::new(),
            news_directives: DirectiveSum::default(),
            feeds: Vec::new(),
            refresh: None,
            directives: DirectiveSum::default(),
            title: Title::default(),
            text: TextCount::default(),
            images: reader.extensions.images.then(RawImages::default),
            alternates: reader.extensions.hreflang.then(RawAlternates::default),
            open_graph: (reader.extensions.news || reader.extensions.video)
                .then(OpenGraph::default),
            language: None,
            content: MainContent::of_page(url, reader.reads_blocks),
            dates: RawDates::default(),
            json_ld: JsonLdBlocks::default(),
            application: ApplicationSigns::default(),
            has_password_field: false,
            is_cut: false,
        };
        Self {
            tokenizer: Tokenizer::new(Collector::new(Arc::clone(reader), findings)),
            is_stopped: false,
        }
    }

    /// Takes the next piece of the page, in UTF-8.
    pub(super) fn write(&mut self, text: &[u8]) {
        if !self.is_stopped {
            self.tokenizer.write(text);
        }
    }

    /// Reads no further: the page costs too much.
    pub(super) fn stop(&mut self) {
        self.is_stopped = true;
    }

    /// Returns whether it has stopped reading.
    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    /// The findings, once the page has ended.
    pub(super) fn finish(self) -> Findings {
        let mut findings = self.tokenizer.finish().into_findings();
        findings.is_cut = self.is_stopped;
        findings
    }
}
