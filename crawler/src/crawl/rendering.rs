//! Which pages of a crawl are rendered: those without content of their own as soon as they are answered, then the start page and of each group a
//! sample when nothing else is left. When one of the sample has links or text that only scripts show, all pages of its group are
//! rendered, now and in later crawls.
//!
//! A group is a first directory and a number of directories below it. The sample are the [`OF_GROUP`] listed pages with the smallest
//! hashes, in later crawls those among one page in [`LATER_PART`]: the order of the answers does not matter.

use std::{
    collections::{BTreeMap, HashSet, VecDeque},
    ops::ControlFlow,
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

use super::{
    page_resources::{PageResources, ResourcesOfPage, Scripts},
    requests::PageDone,
    unlinked::{PORTION, PortionAfter, StoreWalk},
};
use crate::{
    config::{RenderConfig, RenderMode},
    frontier::Lease,
    human,
    notes::{ExampleCount, Note},
    page::{
        Basis, BodyEnd, BodyKind, Canonical, CrawlId, Link, PageFacts, RenderedContent, State, Via,
        Visit,
    },
    parse::{PageReader, read_rendered, text_length},
    render::{PageToRender, Render, RenderError},
    store::{
        Earlier, MetaValue, QueuedUrl, Shown, Store, StoreError, StoredRows, json_value,
        names::CRAWL_RENDERED,
    },
    url_key::{Identity, UrlKey},
};

/// Pages of a group that are rendered to see what scripts add.
const OF_GROUP: usize = 3;

/// In later crawls the sample is taken of one page in so many.
const LATER_PART: u64 = 100;

/// Scripts whose hashes are stored; with more of them, pages are rendered again as if one had changed.
const MAX_SCRIPTS: usize = 1_000;

/// Groups that are known; pages of further ones are rendered only when they have no content of their own.
const MAX_GROUPS: usize = 10_000;

/// Bytes of a page as it is shown that are read.
const MAX_SHOWN_BYTES: usize = 16 << 20;

/// Answers that wait for the browser at most, before the crawl waits for it.
const MAX_HELD: usize = 16;

/// The pages of a crawl that are rendered.
pub(super) struct Rendering {
    /// `None`: no page is.
    renderer: Option<Renderer>,
    rules: RenderRules,
    groups: BTreeMap<String, PageGroup>,
    scripts: KnownScripts,
    /// Pages that were decided and are asked for once more, to be rendered, by their fingerprints.
    again: HashSet<u64>,
    /// All of them of this session.
    chosen: HashSet<u64>,
    /// Answers that wait for the browser.
    held: VecDeque<HeldAnswer>,
    /// Pages that the browser has.
    out: usize,
    /// Over the pages that were not rendered.
    walk: StoreWalk,
    /// Pages were decided since the walk began.
    is_stale: bool,
    counts: RenderCounts,
    /// The browser ended.
    is_lost: bool,
    /// What is known of the groups is not in the next commit.
    is_dirty: bool,
}

/// What shows pages, and answers their requests.
#[derive(Clone)]
pub(super) struct Renderer {
    render: Arc<dyn Render>,
    resources: Arc<PageResources>,
}

impl Renderer {
    /// Returns whether one of the scripts is another one now.
    pub(super) async fn check(self, scripts: Scripts) -> bool {
        self.resources.have_changed(scripts).await
    }

    /// Pages are shown by `render`, and ask for `resources`.
    pub(super) fn new(render: Arc<dyn Render>, resources: PageResources) -> Self {
        let resources = Arc::new(resources);
        Self { render, resources }
    }
}

/// What crawls know of the pages that are rendered.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct RenderMemory {
    /// The crawl that they are of.
    crawl: CrawlId,
    /// The groups of which pages were rendered: how many of the sample, and whether all of each are rendered.
    groups: BTreeMap<String, (usize, bool)>,
    /// The scripts that pages loaded.
    scripts: Scripts,
}

/// What decides which pages are rendered.
struct RenderRules {
    mode: RenderMode,
    at_once: usize,
    crawl: CrawlId,
    start: UrlKey,
}

/// The scripts that pages load.
struct KnownScripts {
    /// Those of earlier sessions, until they are compared with what they are now.
    before: Scripts,
    /// Those of this session.
    now: Scripts,
    check: ScriptCheck,
}

/// Counts for the notes at the end.
#[derive(Default)]
struct RenderCounts {
    /// Pages that were not rendered, or not to their end, although they should have been.
    failed: u64,
    /// Elements that react to clicks and are no links, and pages that have such.
    clicks: u64,
    clicked: ExampleCount,
}

/// Whether the scripts of earlier crawls are as they were: otherwise pages that a 304 confirmed are rendered again too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScriptCheck {
    Wanted,
    Out,
    Over { has_changed: bool },
}

/// What is known of a group of pages.
#[derive(Debug, Clone, Default)]
struct PageGroup {
    /// A sample was rendered in an earlier crawl.
    is_known: bool,
    /// The sample of this crawl, by its fingerprints, and how many of it were rendered, those of earlier sessions included.
    sample: HashSet<u64>,
    rendered: usize,
    /// All of it are rendered.
    is_whole: bool,
    /// The candidates by their fingerprints.
    candidates: BTreeMap<u64, QueuedUrl>,
}

/// An answer that waits for the browser.
pub(super) struct HeldAnswer {
    pub(super) lease: Lease,
    pub(super) is_conditional: bool,
    pub(super) done: PageDone,
}

/// An answer that was rendered, or could not be.
pub(super) struct RenderEnd {
    pub(super) answer: HeldAnswer,
    pub(super) result: Result<RenderedFacts, RenderError>,
}

/// The facts of a page as it is shown.
pub(super) struct RenderedFacts {
    pub(super) facts: PageFacts,
    /// The length of its text, and of that in its HTML.
    text: usize,
    text_before: usize,
    /// Where it went by itself.
    redirects: Vec<UrlKey>,
    /// Elements that react to clicks and are no links.
    clicks: u64,
    /// Its scripts asked for data.
    has_data: bool,
    /// Its time was over, or something that it asked for did not come.
    pub(super) is_cut: bool,
}

/// Listed pages that were not rendered.
pub(super) struct Unrendered {
    pages: Vec<(QueuedUrl, Why)>,
    is_last: bool,
}

/// Why a page may be rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    /// It is one of its group.
    OfGroup,
    /// It has no content of its own.
    IsShell,
    /// It was rendered before a 304 confirmed it.
    Confirmed,
}

impl Unrendered {
    /// Reads a portion from `store`.
    pub(super) fn read(portion: &PortionAfter, store: &Store) -> Result<Self, StoreError> {
        let after = portion.0.as_ref();
        let mut pages = Vec::new();
        store.each(after, Shown::Outline, &mut |rows| {
            let note = rows.note()?;
            if after != Some(&rows.key)
                && note.is_some_and(|note| note.reason.state() == State::Listed)
                && let (Some(note), Some(visit)) = (note, rows.visit()?)
                && let Some(facts) = facts_of(rows, &visit)?
                && may_be_rendered(&facts)
                && let Some(why) = why(&facts, visit.record.basis == Basis::Own)
            {
                let was_listed = rows.is_listed()?;
                let page = QueuedUrl {
                    sequence: note.sequence,
                    key: rows.key.clone(),
                    depth: visit.record.depth,
                    hops: visit.hops,
                    distance: note.distance,
                    earlier: Some(Box::new(Earlier {
                        was_listed,
                        answer: None,
                    })),
                };
                pages.push((page, why));
            }
            Ok(if pages.len() < PORTION {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            })
        })?;
        let is_last = pages.len() < PORTION;
        Ok(Self { pages, is_last })
    }
}

/// The facts that decided a visit: those of its page row, when a 304 confirmed them.
fn facts_of(rows: &StoredRows<'_>, visit: &Visit) -> Result<Option<PageFacts>, StoreError> {
    Ok(match visit.record.basis {
        Basis::Confirmed => rows.page()?.and_then(|page| page.record.facts().cloned()),
        _ => visit.record.facts().cloned(),
    })
}

impl Rendering {
    /// Pages are rendered by `renderer`, if there is one; `known` are the groups of earlier crawls, and whether all of each are
    /// rendered.
    pub(super) fn new(
        renderer: Option<Renderer>,
        config: &RenderConfig,
        known: RenderMemory,
        crawl: CrawlId,
        start: &UrlKey,
    ) -> Self {
        let (scripts, is_earlier) = (known.scripts, known.crawl != crawl);
        let check = match scripts.len() {
            0 => ScriptCheck::Over { has_changed: false },
            MAX_SCRIPTS.. => ScriptCheck::Over { has_changed: true },
            _ => ScriptCheck::Wanted,
        };
        let known = known
            .groups
            .into_iter()
            .map(|(name, (rendered, is_whole))| {
                let group = PageGroup {
                    is_known: is_earlier && rendered > 0,
                    rendered: if is_earlier { 0 } else { rendered },
                    is_whole,
                    ..PageGroup::default()
                };
                (name, group)
            });
        Self {
            renderer,
            rules: RenderRules {
                mode: config.mode,
                at_once: config.at_once.max(1),
                crawl,
                start: start.clone(),
            },
            groups: known.collect(),
            scripts: KnownScripts {
                before: scripts,
                now: Scripts::new(),
                check,
            },
            again: HashSet::new(),
            chosen: HashSet::new(),
            held: VecDeque::new(),
            out: 0,
            walk: StoreWalk::new(false),
            is_stale: true,
            counts: RenderCounts::default(),
            is_lost: false,
            is_dirty: false,
        }
    }

    /// Returns whether bodies are kept until it is known whether their pages are rendered.
    pub(super) fn is_on(&self) -> bool {
        self.renderer.is_some() && self.rules.mode != RenderMode::Never
    }

    /// Returns whether an answer is to be rendered before it is decided.
    pub(super) fn wants(&self, url: &UrlKey, done: &PageDone) -> bool {
        let facts = done.facts().filter(|_| done.body.is_some());
        facts.is_some_and(|facts| self.wants_facts(url, facts))
    }

    /// Returns whether a page with these facts is to be rendered.
    pub(super) fn wants_facts(&self, url: &UrlKey, facts: &PageFacts) -> bool {
        self.is_on()
            && may_be_rendered(facts)
            && (self.rules.mode == RenderMode::Always
                || is_shell(facts)
                || self.is_again(url)
                || self
                    .groups
                    .get(&group_of(url))
                    .is_some_and(|it| it.is_whole))
    }

    /// Returns whether a page was decided, and is asked for once more.
    pub(super) fn is_again(&self, url: &UrlKey) -> bool {
        self.again.contains(&url.fingerprint())
    }

    /// The request for a page that was decided has ended, and the page `is_rendered` to its end; whether it was one.
    pub(super) fn end_again(&mut self, url: &UrlKey, is_rendered: bool) -> bool {
        let fingerprint = url.fingerprint();
        let was_again = self.again.remove(&fingerprint);
        if was_again
            && is_rendered
            && let Some(group) = self.groups.get_mut(&group_of(url))
            && group.sample.contains(&fingerprint)
        {
            group.rendered += 1;
            self.is_dirty = true;
        }
        was_again
    }

    /// The same of a page that was not rendered, which the notes count.
    pub(super) fn end_unrendered(&mut self, url: &UrlKey) -> bool {
        let was_again = self.end_again(url, false);
        self.counts.failed += u64::from(was_again);
        was_again
    }

    /// Returns whether a page was decided before in this session.
    pub(super) fn was_read(&self, url: &UrlKey) -> bool {
        self.chosen.contains(&url.fingerprint())
    }

    /// Returns whether the browser ended.
    pub(super) fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// Answers that wait for the browser, or that it has.
    pub(super) fn waiting(&self) -> usize {
        self.held.len() + self.out
    }

    /// Memory of the bodies that wait.
    pub(super) fn held_bytes(&self) -> usize {
        let bodies = self.held.iter().filter_map(|held| held.done.body.as_ref());
        bodies.map(Vec::len).sum()
    }

    /// Takes an answer that is to be rendered.
    pub(super) fn hold(&mut self, answer: HeldAnswer) {
        self.held.push_back(answer);
    }

    /// The next answer for the browser, if it has room.
    pub(super) fn next(&mut self) -> Option<(Renderer, HeldAnswer)> {
        let renderer = self
            .renderer
            .clone()
            .filter(|_| self.out < self.rules.at_once)?;
        let answer = self.held.pop_front()?;
        self.out += 1;
        Some((renderer, answer))
    }

    /// The browser is done with a page.
    pub(super) fn ended(&mut self) {
        self.out = self.out.saturating_sub(1);
    }

    /// There is no browser any more; whether there was one until now.
    pub(super) fn lose(&mut self) -> bool {
        self.renderer = None;
        self.walk = StoreWalk::new(false);
        !std::mem::replace(&mut self.is_lost, true)
    }

    /// The answers that wait for the browser, which are left.
    pub(super) fn take_held(&mut self) -> VecDeque<HeldAnswer> {
        std::mem::take(&mut self.held)
    }

    /// A page was not rendered to its end.
    pub(super) fn note_failure(&mut self) {
        self.counts.failed += 1;
    }

    /// Takes note of how a page was shown.
    pub(super) fn note_shown(&mut self, url: &UrlKey, shown: &RenderedFacts) {
        self.counts.failed += u64::from(shown.is_cut);
        self.counts.clicks += shown.clicks;
        if shown.clicks > 0 {
            self.counts.clicked.add(url);
        }
    }

    /// The scripts of earlier crawls, which are to be asked for now: nothing else is left.
    pub(super) fn begin_check(&mut self) -> Option<(Renderer, Scripts)> {
        let renderer = self.renderer.clone()?;
        let is_wanted = self.is_on() && self.scripts.check == ScriptCheck::Wanted;
        is_wanted.then(|| {
            self.scripts.check = ScriptCheck::Out;
            (renderer, self.scripts.before.clone())
        })
    }

    /// Takes whether scripts of earlier crawls changed.
    pub(super) fn take_check(&mut self, has_changed: bool) {
        self.scripts.check = ScriptCheck::Over { has_changed };
        if !has_changed {
            self.scripts.before.clear();
            self.is_dirty = true;
        }
    }

    /// Notes for the end of the session: on pages that were decided by their HTML alone, and on requests that were not sent.
    pub(super) fn conclude(&self) -> impl Iterator<Item = Note> + use<> {
        let failed = Note::not_rendered(&human::count(self.counts.failed, "page"));
        let renderer = self.renderer.as_ref();
        let refused = renderer.map_or(0, |it| it.resources.refused());
        let not_sent = Note::requests_not_sent(&human::count(refused, "request"));
        let count = human::count(self.counts.clicks, "element");
        let clicks = |example: &UrlKey| Note::clicks_not_followed(&count, example).naming(example);
        let clicks = self.counts.clicked.example.as_ref().map(clicks);
        [
            (self.counts.failed, Some(failed)),
            (refused, Some(not_sent)),
            (self.counts.clicks, clicks),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .filter_map(|(count, note)| Some(note?.counting(count)))
    }

    /// Takes whether rendering added something to a page: then all pages of its group are rendered from now on.
    pub(super) fn learn(&mut self, url: &UrlKey, has_more: bool) {
        let name = group_of(url);
        let has_room = self.groups.len() < MAX_GROUPS || self.groups.contains_key(&name);
        if self.rules.mode != RenderMode::Auto || !has_more || !has_room {
            return;
        }
        let group = self.groups.entry(name).or_default();
        if !group.is_whole {
            group.is_whole = true;
            self.is_stale = true;
            self.is_dirty = true;
        }
    }

    /// What is known of the groups, for the next commit, when it changed.
    pub(super) fn take_value(&mut self) -> Option<MetaValue> {
        let resources = self.renderer.as_ref().map(|it| &it.resources);
        let has_new = resources.is_some_and(|it| it.has_new_scripts());
        (std::mem::take(&mut self.is_dirty) || has_new).then(|| {
            let loaded = resources.map(|it| it.take_scripts());
            self.scripts.now.extend(loaded.unwrap_or_default());
            let mut known = RenderMemory {
                crawl: self.rules.crawl,
                groups: BTreeMap::new(),
                scripts: self.scripts.now.clone(),
            };
            // Until all pages are rendered that they concern, the hashes of earlier crawls are what is compared.
            known.scripts.extend(self.scripts.before.clone());
            while known.scripts.len() > MAX_SCRIPTS {
                known.scripts.pop_last();
            }
            for (name, group) in &self.groups {
                let rendered = group.rendered.max(usize::from(group.is_known));
                if rendered > 0 || group.is_whole {
                    known
                        .groups
                        .insert(name.clone(), (rendered, group.is_whole));
                }
            }
            json_value(CRAWL_RENDERED, &known)
        })
    }

    /// Returns whether the browser is so far behind that no other page is asked for.
    pub(super) fn is_full(&self) -> bool {
        self.held.len() >= MAX_HELD
    }

    /// Returns whether the browser has nothing to do.
    pub(super) fn is_idle(&self) -> bool {
        self.out == 0 && self.held.is_empty()
    }

    /// Takes note of a page that was decided.
    pub(super) fn note_decided(&mut self) {
        self.is_stale = true;
    }

    /// Returns whether nothing is left to be rendered of what the crawl knows.
    pub(super) fn is_over(&self) -> bool {
        self.is_idle()
            && self.walk.is_over()
            && !self.is_lost
            && !(self.is_on() && (self.is_stale || self.scripts.check == ScriptCheck::Out))
    }

    /// Returns whether the store can be asked for a portion of the pages that were not rendered, when nothing else is left.
    pub(super) fn is_wanted(&self) -> bool {
        self.is_on()
            && matches!(self.scripts.check, ScriptCheck::Over { .. })
            && (self.is_stale || self.walk.is_wanted())
    }

    /// The portion that the store is asked for now.
    pub(super) fn next_portion(&mut self) -> Option<PortionAfter> {
        if self.walk.is_over() && std::mem::take(&mut self.is_stale) {
            self.walk = StoreWalk::new(true);
        }
        self.walk.next_portion()
    }

    /// Takes a portion of the pages that were not rendered; returns those that are asked for once more.
    pub(super) fn take_portion(&mut self, portion: Unrendered) -> Vec<QueuedUrl> {
        let Unrendered { pages, is_last } = portion;
        let last = pages.last().filter(|_| !is_last);
        self.walk.arrived(last.map(|(last, _)| &last.key));
        let mut chosen = Vec::new();
        let has_changed = self.scripts.check == (ScriptCheck::Over { has_changed: true });
        for (url, why) in pages {
            let (name, fingerprint) = (group_of(&url.key), url.key.fingerprint());
            let has_room = self.groups.len() < MAX_GROUPS || self.groups.contains_key(&name);
            if self.chosen.contains(&fingerprint) {
                continue;
            }
            match why {
                Why::Confirmed if !has_changed => continue,
                Why::OfGroup
                    if self.rules.mode == RenderMode::Auto && url.key != self.rules.start => {}
                _ => {
                    chosen.push(url);
                    continue;
                }
            }
            if !has_room {
                continue;
            }
            let group = self.groups.entry(name).or_default();
            if group.is_whole {
                chosen.push(url);
            } else if !group.is_known || fingerprint % LATER_PART == self.rules.crawl % LATER_PART {
                group.candidates.insert(fingerprint, url);
                let sampled = group.sample.len().max(group.rendered);
                if group.candidates.len() + sampled > OF_GROUP {
                    group.candidates.pop_last();
                }
            }
        }
        if is_last {
            for group in self.groups.values_mut() {
                let candidates = std::mem::take(&mut group.candidates);
                group.sample.extend(candidates.keys());
                chosen.extend(candidates.into_values());
            }
            if has_changed && chosen.is_empty() && self.again.is_empty() {
                self.scripts.before.clear();
                self.is_dirty = true;
            }
        }
        for url in &chosen {
            self.again.insert(url.key.fingerprint());
            self.chosen.insert(url.key.fingerprint());
        }
        chosen
    }
}

/// Returns whether it is a whole page of HTML that search engines may index: they render no other.
fn may_be_rendered(facts: &PageFacts) -> bool {
    facts.status == 200
        && facts.kind == BodyKind::Page
        && facts.end == BodyEnd::Complete
        && !facts.directives.noindex
}

/// Why a page with these facts may be rendered; `is_own`: they are those of the last answer.
fn why(facts: &PageFacts, is_own: bool) -> Option<Why> {
    let warnings = &facts.warnings;
    match (warnings.rendered, warnings.render_failed) {
        (true, _) => (!is_own).then_some(Why::Confirmed),
        (false, true) if is_own => None,
        _ if is_shell(facts) => Some(Why::IsShell),
        _ => Some(Why::OfGroup),
    }
}

/// Returns whether a page has no content of its own.
fn is_shell(facts: &PageFacts) -> bool {
    facts.warnings.script_shell || facts.warnings.empty_root
}

/// The name of the group of a page: its first directory, and the number of directories in its path.
fn group_of(url: &UrlKey) -> String {
    // A slash at the end makes no directory.
    let path = url.path();
    let path = path.strip_suffix('/').unwrap_or(path);
    let path = if path.is_empty() { "/" } else { path };
    let first = path[1..].find('/').map_or("/", |end| &path[..end + 2]);
    format!("{first} {}", path.matches('/').count())
}

/// Renders the page of an answer, and reads it as all pages are read.
pub(super) async fn render(
    renderer: Renderer,
    answer: HeldAnswer,
    identity: Arc<Identity>,
    reader: Arc<PageReader>,
) -> RenderEnd {
    let mut answer = answer;
    let body = answer.done.body.take().unwrap_or_default();
    let fetched = match &answer.done.result {
        Ok((fetched, _)) => fetched.clone(),
        Err(error) => {
            let result = Err(RenderError::Page(error.to_string()));
            return RenderEnd { answer, result };
        }
    };
    let url = answer.lease.url().clone();
    // A panic is the failure of this page.
    let mut task = JoinSet::new();
    task.spawn(async move {
        let content_type = fetched.head.headers.text("content-type");
        let content_type = content_type.unwrap_or("text/html").to_owned();
        let text_before = text_length(&body, &content_type);
        let resources = Arc::new(ResourcesOfPage::new(renderer.resources));
        let page = PageToRender {
            url: url.clone(),
            content_type,
            body,
            resources: resources.clone(),
        };
        let shown = renderer.render.render(page).await?;
        let html = &shown.html[..shown.html.len().min(MAX_SHOWN_BYTES)];
        let redirects = shown.redirects.iter();
        Ok(RenderedFacts {
            facts: read_rendered(&url, &fetched, html, &identity, &reader),
            text: text_length(html, "text/html; charset=utf-8"),
            text_before,
            redirects: redirects
                .filter_map(|url| identity.parse(url).ok())
                .collect(),
            clicks: shown.clicks,
            has_data: resources.has_data(),
            is_cut: shown.is_cut || resources.is_incomplete() || html.len() < shown.html.len(),
        })
    });
    let result = match task.join_next().await {
        Some(Ok(result)) => result,
        Some(Err(error)) => Err(RenderError::Page(format!("internal error: {error}"))),
        None => Err(RenderError::Page("not begun".to_owned())),
    };
    RenderEnd { answer, result }
}

impl RenderedFacts {
    /// The facts of a page of which `before` are those of its HTML; and whether scripts change what the crawl does with it: links of the
    /// site, a tenth of the text, the directives, the canonical link.
    pub(super) fn merge(
        self,
        mut before: PageFacts,
        is_inside: impl Fn(&UrlKey) -> bool,
    ) -> (PageFacts, bool) {
        let mut facts = self.facts;
        for target in self.redirects {
            facts.links.push(Link {
                target,
                via: Via::Redirect,
                nofollow: false,
            });
        }
        let known = before.links.iter().map(|link| link.target.fingerprint());
        let known: HashSet<u64> = known.collect();
        let is_new = |url: &UrlKey| is_inside(url) && !known.contains(&url.fingerprint());
        let has_links = facts.links.iter().any(|link| is_new(&link.target));
        if self.is_cut {
            // What an application shows meanwhile, or of an error, is no content.
            add_links(&mut before, &facts);
            before.warnings.render_failed = true;
            before.warnings.script_data = self.has_data;
            return (before, has_links);
        }
        let counted = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        facts.shown = facts.content_hash.map(|hash| RenderedContent {
            hash,
            html_links: counted(before.links.len()),
            links: counted(facts.links.len()),
            html_text: counted(self.text_before),
            text: counted(self.text),
        });
        let has_text = self.text * 10 > self.text_before * 11;
        let orders = |facts: &PageFacts| (facts.directives.noindex, facts.directives.nofollow);
        let has_orders = orders(&facts) != orders(&before)
            || facts.canonical != Canonical::Absent && facts.canonical != before.canonical;
        add_links(&mut facts, &before);
        facts.links_left_out = facts.links_left_out.max(before.links_left_out);
        facts.directives.noindex |= before.directives.noindex;
        facts.directives.nofollow |= before.directives.nofollow;
        facts.directives.noimageindex |= before.directives.noimageindex;
        if facts.canonical == Canonical::Absent {
            facts.canonical = before.canonical;
        }
        facts.warnings.rendered = true;
        facts.warnings.script_data = self.has_data;
        facts.warnings.empty_root = false;
        facts.warnings.script_content = has_links || has_text;
        let facts = PageFacts {
            content_type: before.content_type,
            // What a script shows differs from one time to the next; what was answered is what validators confirm.
            content_hash: before.content_hash,
            body_hash: before.body_hash,
            body_bytes: before.body_bytes,
            duration: before.duration,
            ..facts
        };
        (facts, has_links || has_text || has_orders)
    }
}

/// Adds the links that a page has in another form of it.
fn add_links(facts: &mut PageFacts, before: &PageFacts) {
    let mut places: BTreeMap<u64, usize> = BTreeMap::new();
    for (place, link) in facts.links.iter().enumerate() {
        places.insert(link.target.fingerprint(), place);
    }
    for (number, link) in before.links.iter().enumerate() {
        if let Some(place) = places.get(&link.target.fingerprint()) {
            facts.links[*place].nofollow &= link.nofollow;
            continue;
        }
        let place = facts.links.len();
        facts.links.push(link.clone());
        facts
            .link_texts
            .copy_text(place, (&before.link_texts, number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_directories_of_a_depth() {
        let check = |path: &str, expected: &str| {
            let url = UrlKey::from_normalised(&format!("https://h.example{path}")).unwrap();
            assert_eq!(group_of(&url), expected, "{path}");
        };
        check("/", "/ 1");
        check("/a", "/ 1");
        check("/shop/a", "/shop/ 2");
        check("/shop/a?page=2", "/shop/ 2");
        check("/shop/a/", "/shop/ 2");
        check("/post/", "/ 1");
    }
}
