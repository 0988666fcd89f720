//! Turns findings into facts: relative references are resolved here, once the page has ended and its base is known.

use encoding_rs::{Encoding, UTF_8};
use jiff::Timestamp;
use sitemap_core::LastMod;
use url::Url;

use crate::{
    fetch::ResponseHead,
    page::{Canonical, Directives, Link, PageFacts, Refresh, StatedDates, StatedElement, Via},
    url_key::{Identity, UrlKey},
};

use super::{
    PageReader,
    alternates::AlternateList,
    content, dates,
    directives::DirectiveSum,
    headers::{self, HeaderLink},
    html::{Findings, MAX_FEEDS, is_feed, is_page_variant},
    json_ld::{self, EntityDates},
    links::{Canonicals, LinkList, base_url, is_nofollow, trim_reference},
    news::{self, PageValues},
    open_graph::OpenGraph,
    refresh::{RawRefresh, parse_refresh},
    stated::RawDates,
    text::is_error_title,
    tree,
    videos::VideoList,
};

/// The requested page, and the settings it is read with.
#[derive(Debug)]
pub(super) struct PageContext<'a> {
    pub(super) url: &'a UrlKey,
    pub(super) identity: &'a Identity,
    pub(super) reader: &'a PageReader,
}

/// A page after its last byte.
#[derive(Debug)]
pub(super) struct ParsedPage {
    pub(super) findings: Findings,
    pub(super) encoding: &'static Encoding,
    /// The text, when a rule wants it as a tree.
    pub(super) kept: Option<Vec<u8>>,
}

/// Fills in the facts of head and page.
pub(super) fn fill(
    facts: &mut PageFacts,
    site: &PageContext<'_>,
    head: &ResponseHead,
    page: Option<ParsedPage>,
) {
    let headers = &head.headers;
    facts.status = head.status;
    facts.content_type = content::declared_type(headers).map(|media_type| media_type.essence);
    facts.last_modified = headers
        .text("last-modified")
        .and_then(dates::parse_http_date);
    facts.date = headers.text("date").and_then(dates::parse_http_date);
    facts.etag = headers::etag(headers);
    facts.location = headers::location(head, site.url, site.identity);
    facts.warnings.sets_cookie = headers.all("set-cookie").next().is_some();
    let mut directives = headers::directives(headers, &site.reader.robots_names);
    let is_set_by_header = directives.directives != Directives::default();
    if head.status == 200 {
        let extensions = site.reader.extensions;
        let mut content = LinkFacts {
            site,
            own: site.url.to_url(),
            links: LinkList::default(),
            canonicals: Canonicals::default(),
            images: extensions.images.then(Vec::new),
            alternates: extensions.hreflang.then(AlternateList::default),
            videos: extensions.video.then(VideoList::default),
            news: extensions.news.then(Vec::new),
            feeds: Vec::new(),
        };
        content.take_headers(&headers::links(headers));
        let refresh = headers.text("refresh").and_then(parse_refresh);
        facts.refresh =
            refresh.and_then(|refresh| content.resolve_refresh(refresh, &content.own, UTF_8));
        if let Some(page) = page {
            content.take_page(page, &mut directives, facts);
        }
        let of_news = headers::directives(headers, &[news::BOT.to_owned()]);
        content.keep_news_unless(of_news.directives.noindex);
        content.finish(facts);
    } else if head.status == 304 {
        facts.canonical = canonical_by_header(site, &headers::links(headers));
    }
    facts.directives = directives.directives;
    facts.robots_by_header = is_set_by_header;
    facts.warnings.bad_unavailable_after = directives.bad_date;
}

/// Returns whether it names a canonical URL.
fn names_canonical(link: &HeaderLink) -> bool {
    let is_for_a_variant = !link.hreflang.is_empty() || link.has_media || link.media_type.is_some();
    link.is("canonical") && !is_for_a_variant
}

/// The canonical URL by headers alone.
fn canonical_by_header(site: &PageContext<'_>, links: &[HeaderLink]) -> Canonical {
    let mut canonicals = Canonicals::default();
    for link in links.iter().filter(|link| names_canonical(link)) {
        canonicals.add(&site.url.to_url(), &link.target, site.identity, UTF_8);
    }
    canonicals.judge(site.url)
}

/// Links and canonical links, headers first.
#[derive(Debug)]
struct LinkFacts<'a> {
    site: &'a PageContext<'a>,
    own: Url,
    links: LinkList,
    canonicals: Canonicals,
    /// `None` when they are not requested, like the next.
    images: Option<Vec<UrlKey>>,
    alternates: Option<AlternateList>,
    videos: Option<VideoList>,
    news: Option<Vec<StatedElement>>,
    feeds: Vec<UrlKey>,
}

impl LinkFacts<'_> {
    /// Links of headers are relative to the page itself, independent of `<base>` (RFC 8288 section 3.2).
    fn take_headers(&mut self, links: &[HeaderLink]) {
        for link in links {
            let has_hreflang = !link.hreflang.is_empty();
            if names_canonical(link) {
                self.canonicals
                    .add(&self.own, &link.target, self.site.identity, UTF_8);
            }
            if link.is("alternate")
                && is_feed(link.media_type.as_deref())
                && !is_nofollow(&link.rel)
            {
                self.add_feed(&self.own.clone(), &link.target, UTF_8);
            }
            let is_variant =
                is_page_variant(has_hreflang || link.has_media, link.media_type.as_deref());
            if let Some(alternates) = &mut self.alternates
                && link.is("alternate")
                && !link.is("stylesheet")
                && !link.has_media
                && is_variant
            {
                for hreflang in &link.hreflang {
                    alternates.add(hreflang, &link.target, &self.own, self.site.identity, UTF_8);
                }
            }
            let via = if link.is("amphtml")
                || link.is("alternate") && !link.is("stylesheet") && is_variant
            {
                Via::Alternate
            } else if link.is("next") || link.is("prev") || link.is("previous") {
                Via::Link
            } else {
                continue;
            };
            if let Ok(target) = self.site.identity.resolve(&self.own, &link.target, UTF_8) {
                self.links.add(Link {
                    target,
                    via,
                    nofollow: is_nofollow(&link.rel),
                });
            }
        }
    }

    fn take_page(
        &mut self,
        page: ParsedPage,
        directives: &mut DirectiveSum,
        facts: &mut PageFacts,
    ) {
        let ParsedPage {
            findings,
            encoding,
            kept,
        } = page;
        self.apply_rules(&findings, kept, facts);
        directives.merge(&findings.directives);
        let base = base_url(self.own.clone(), findings.base.as_deref());
        for reference in &findings.canonicals {
            self.canonicals
                .add(&base, reference, self.site.identity, encoding);
        }
        for reference in &findings.feeds {
            self.add_feed(&base, reference, encoding);
        }
        if facts.refresh.is_none() {
            facts.refresh = findings
                .refresh
                .and_then(|refresh| self.resolve_refresh(refresh, &base, encoding));
        }
        facts.title = findings.title.finish();
        facts.warnings.parse_cut = findings.is_cut;
        facts.warnings.soft_404 =
            findings.text.has_few_words() && facts.title.as_deref().is_some_and(is_error_title);
        facts.warnings.script_shell = findings.application.has_script
            && !findings.application.has_anchor
            && !findings.is_cut
            && findings.text.has_few_characters();
        facts.warnings.empty_root = findings.application.has_empty_root
            && findings.application.has_script
            && !facts.warnings.script_shell;
        facts.warnings.hash_routes = findings.links.has_hash_routes();
        let identity = self.site.identity;
        let resolved =
            (findings.links).resolve(self.site.url, &base, identity, encoding, &mut self.links);
        facts.links_left_out = resolved.left_out;
        facts.warnings.links_cut = resolved.left_out > 0;
        let data = findings.json_ld.read();
        facts.dates = self.dates(findings.dates, &data, &base, encoding);
        if let Some(tags) = &findings.open_graph {
            let title = facts.title.as_deref();
            let language = findings.language.as_deref();
            self.take_elements(&data, tags, title, language, &base, encoding);
        }
        self.keep_news_unless(findings.news_directives.directives.noindex);
        facts.warnings.password_field = findings.has_password_field;
        if !findings.is_cut {
            let title = facts.title.as_deref();
            let data = json_ld::content_hash(&data);
            let (hash, text) = findings.content.finish(&resolved.in_content, title, data);
            facts.content_hash = Some(hash);
            facts.text = Some(Box::new(text));
        }
        if let Some(images) = findings.images {
            facts.warnings.images_cut = images.cut;
            self.images = Some(images.resolve(&base, encoding));
        }
        if let (Some(alternates), Some(raw)) = (&mut self.alternates, findings.alternates) {
            alternates.add_all(raw, &base, self.site.identity, encoding);
        }
    }

    /// Takes the videos and the article of the page, as far as they are requested.
    fn take_elements(
        &mut self,
        data: &[serde_json::Value],
        tags: &OpenGraph,
        title: Option<&str>,
        language: Option<&str>,
        base: &Url,
        encoding: &'static Encoding,
    ) {
        if self.videos.is_some() {
            // As images, videos stay at their own address.
            let identity = Identity {
                drop_parameters: Vec::new(),
                drop_sessions: Vec::new(),
                ..Identity::default()
            };
            let resolve = |reference: &str| {
                let reference = trim_reference(reference);
                identity.resolve(base, reference, encoding).ok()
            };
            self.videos = Some(VideoList::read(data, tags, title, &resolve));
        }
        if self.news.is_some() {
            let values = PageValues {
                site_name: tags.site_name.as_deref(),
                language,
            };
            let article = news::article(data, &self.is_page(base, encoding), values);
            self.news = Some(article.into_iter().collect());
        }
    }

    /// Leaves out the article of a page that has noindex for news.
    fn keep_news_unless(&mut self, is_noindex: bool) {
        if is_noindex && let Some(news) = &mut self.news {
            news.clear();
        }
    }

    /// Returns whether a reference, as written, is the page itself. The host is not compared: a copy of a site names the site
    /// itself.
    fn is_page<'s>(
        &self,
        base: &'s Url,
        encoding: &'static Encoding,
    ) -> impl Fn(&str) -> bool + use<'s, '_> {
        let place = |key: &UrlKey| key.path_and_query().trim_end_matches('/').to_owned();
        let (own, identity) = (place(self.site.url), self.site.identity);
        move |reference| {
            let target = identity.resolve(base, reference, encoding);
            target.is_ok_and(|target| place(&target) == own)
        }
    }

    /// The dates that the page states.
    fn dates(
        &self,
        raw: RawDates,
        data: &[serde_json::Value],
        base: &Url,
        encoding: &'static Encoding,
    ) -> StatedDates {
        let is_page = self.is_page(base, encoding);
        let EntityDates {
            modified,
            published,
        } = json_ld::entity_dates(data, &is_page);
        let states = raw.finish();
        let read = |texts: Vec<String>| {
            texts
                .into_iter()
                .filter_map(|text| dates::parse_stated(&text))
        };
        StatedDates {
            json_ld: latest(read(modified)),
            meta: states.meta,
            published: earliest(read(published).chain(states.published)),
        }
    }

    /// Page rules want a tree, and only a page that is known to the end can become one.
    fn apply_rules(&self, findings: &Findings, kept: Option<Vec<u8>>, facts: &mut PageFacts) {
        let Some(kept) = kept else {
            return;
        };
        let reader = self.site.reader;
        let began = (reader.cpu_clock)();
        let has_time = || (reader.cpu_clock)().saturating_sub(began) <= reader.max_parse_time;
        let page = if findings.is_cut {
            None
        } else {
            tree::build(&String::from_utf8_lossy(&kept), has_time)
        };
        let Some(page) = page else {
            facts.warnings.page_rule_skipped = true;
            return;
        };
        let found = reader.rules.evaluate(self.site.url, &page);
        facts.excluded_by_page_rule = found.is_excluded;
        facts.selected_lastmod = found.lastmod;
    }

    fn add_feed(&mut self, base: &Url, reference: &str, encoding: &'static Encoding) {
        let identity = self.site.identity.verbatim();
        let Ok(feed) = identity.resolve(base, trim_reference(reference), encoding) else {
            return;
        };
        if self.feeds.len() < MAX_FEEDS && !self.feeds.contains(&feed) {
            self.feeds.push(feed);
        }
    }

    fn resolve_refresh(
        &self,
        refresh: RawRefresh,
        base: &Url,
        encoding: &'static Encoding,
    ) -> Option<Refresh> {
        let target = match refresh.target {
            Some(target) => self.site.identity.resolve(base, &target, encoding).ok()?,
            None => self.site.url.clone(),
        };
        Some(Refresh {
            delay_seconds: refresh.delay_seconds,
            target,
        })
    }

    fn finish(mut self, facts: &mut PageFacts) {
        facts.warnings.bad_canonical = self.canonicals.has_bad;
        facts.warnings.canonical_by_scheme = self.canonicals.has_other_scheme;
        facts.warnings.canonical_by_host = self.canonicals.has_other_host;
        facts.canonical = self.canonicals.judge(self.site.url);
        if facts.canonical == Canonical::Conflicting {
            // None of them counts, but each may be a page.
            for target in self.canonicals.targets() {
                self.links.add(Link {
                    target: target.clone(),
                    via: Via::Canonical,
                    nofollow: false,
                });
            }
        }
        facts.links = self.links.links;
        facts.link_texts = self.links.texts;
        facts.images = self.images;
        facts.alternates = self.alternates.map(|alternates| {
            facts.warnings.alternates_cut = alternates.cut;
            alternates.into_ordered()
        });
        facts.videos = self.videos.map(|list| {
            facts.warnings.videos_cut = list.cut;
            list.videos
        });
        facts.news = self.news;
        facts.feeds = self.feeds;
    }
}

fn latest(dates: impl Iterator<Item = String>) -> Option<String> {
    dates.max_by_key(|date| instant(date))
}

fn earliest(dates: impl Iterator<Item = String>) -> Option<String> {
    dates.min_by_key(|date| instant(date))
}

fn instant(date: &str) -> Option<Timestamp> {
    Some(LastMod::parse(date).ok()?.latest_instant())
}
