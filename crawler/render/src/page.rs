//! A page in a tab: its requests are answered until nothing more comes, then it is written down.

use std::{sync::Arc, time::Duration};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use chromiumoxide::{
    Page,
    cdp::{
        browser_protocol::{
            dom::{GetDocumentParams, GetOuterHtmlParams},
            fetch::{
                self, EventRequestPaused, FailRequestParams, FulfillRequestParams, HeaderEntry,
                RequestPattern,
            },
            inspector::EventTargetCrashed,
            network::{ErrorReason, ResourceType},
            page::{
                CreateIsolatedWorldParams, EventDomContentEventFired, EventJavascriptDialogOpening,
                FrameId, HandleJavaScriptDialogParams, NavigateParams,
            },
        },
        js_protocol::runtime::EvaluateParams,
    },
    error::CdpError,
    listeners::EventStream,
};
use crawler::{
    fetch::BoxFuture,
    render::{PageToRender, RenderedPage, Resource, ResourceKind, ResourceRequest},
};
use futures_util::{StreamExt as _, stream::FuturesUnordered};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

/// How long the browser may take to answer a command.
pub(crate) const COMMAND_TIME: Duration = Duration::from_secs(5);

/// Nothing was asked for so long: nothing more comes.
const QUIET: Duration = Duration::from_millis(500);

/// Between two looks at the links.
const BETWEEN_LOOKS: Duration = Duration::from_millis(250);

/// How exactly times are kept.
const TICK: Duration = Duration::from_millis(50);

/// With the waits for its answers, a page takes so many times its time at most.
const WITH_WAITS: u32 = 6;

/// Requests of one page that are answered.
const MAX_REQUESTS: usize = 2_000;

/// Characters of a document that is written down.
const MAX_CHARACTERS: u64 = 64 << 20;

/// Pages that a page goes to by itself, at most.
const MAX_REDIRECTS: usize = 10;

/// The number of links, with those in shadow roots, and a hash of them. It runs in a world that the page cannot change.
const LINKS: &str = "(() => {
    let count = 0, hash = 0;
    const walk = root => {
        for (const element of root.querySelectorAll('*')) {
            if (element.shadowRoot) walk(element.shadowRoot);
            if (!element.matches('a[href], area[href]')) continue;
            count++;
            for (const unit of String(element.getAttribute('href'))) hash = Math.imul(hash, 31) + unit.codePointAt(0) | 0;
        }
    };
    walk(document);
    return `${count} ${hash}`;
})()";

/// To the end of the page.
const SCROLL: &str = "window.scrollTo(0, document.documentElement.scrollHeight); ''";

/// The length of the document.
const LENGTH: &str =
    "document.documentElement ? String(document.documentElement.outerHTML.length) : '0'";

/// Small elements that react to clicks and are no link, no part of one, and nothing that a form or a menu has. Frameworks listen at
/// one large element, so the properties of React are looked at.
const CLICKS: &str = "String([...document.querySelectorAll('body *')].filter(element => {
    const clicks = element.onclick || getEventListeners(element).click
        || Object.keys(element).some(key => key.startsWith('__reactProps$') && element[key]?.onClick);
    return clicks && element.getElementsByTagName('*').length <= 10
        && !element.closest('a, button, input, select, textarea, label, summary, option, [role=button]')
        && !element.querySelector('a, button, input, select, textarea');
}).length)";

/// Why a page is not shown.
#[derive(Debug)]
pub(crate) enum ShowError {
    /// By the page.
    Page(String),
    /// The browser, or the tab, ended.
    Crashed(String),
}

impl From<CdpError> for ShowError {
    fn from(error: CdpError) -> Self {
        match error {
            CdpError::Ws(_)
            | CdpError::Io(_)
            | CdpError::NoResponse
            | CdpError::ChannelSendError(_) => Self::Crashed("the browser ended".to_owned()),
            CdpError::Timeout => Self::Page("the page does not answer".to_owned()),
            error => Self::Page(error.to_string()),
        }
    }
}

/// A page that is shown.
struct Showing<'p> {
    tab: &'p Page,
    page: &'p PageToRender,
    /// The frame of the page, as soon as it is asked for.
    frame: Option<FrameId>,
    requests: usize,
    redirects: Vec<String>,
    answers: FuturesUnordered<BoxFuture<'p, ()>>,
    /// The look or step that is under way.
    steps: FuturesUnordered<BoxFuture<'p, Result<Step, CdpError>>>,
    is_loaded: bool,
    has_scrolled: bool,
    links: Option<String>,
    quiet_since: Instant,
    looked: Instant,
}

/// What was done with a page.
enum Step {
    Links(String),
    Scrolled,
}

/// Shows a page for `time` at most, without the waits for its answers.
pub(crate) async fn show(
    tab: &Page,
    page: &PageToRender,
    time: Duration,
) -> Result<RenderedPage, ShowError> {
    let mut showing = Showing::new(tab, page);
    let is_cut = !showing.settle(time).await?;
    showing.write_down(is_cut).await
}

/// What a tab reports.
struct Events {
    paused: EventStream<EventRequestPaused>,
    dialogs: EventStream<EventJavascriptDialogOpening>,
    crashes: EventStream<EventTargetCrashed>,
    loads: EventStream<EventDomContentEventFired>,
}

impl Events {
    async fn of(tab: &Page) -> Result<Self, CdpError> {
        let events = Self {
            paused: tab.event_listener().await?,
            dialogs: tab.event_listener().await?,
            crashes: tab.event_listener().await?,
            loads: tab.event_listener().await?,
        };
        let all = RequestPattern::builder().url_pattern("*").build();
        let enable = fetch::EnableParams::builder().pattern(all).build();
        tab.execute(enable).await?;
        Ok(events)
    }
}

impl<'p> Showing<'p> {
    fn new(tab: &'p Page, page: &'p PageToRender) -> Self {
        Self {
            tab,
            page,
            frame: None,
            requests: 0,
            redirects: Vec::new(),
            answers: FuturesUnordered::new(),
            steps: FuturesUnordered::new(),
            is_loaded: false,
            has_scrolled: false,
            links: None,
            quiet_since: Instant::now(),
            looked: Instant::now(),
        }
    }

    /// Answers requests until nothing more comes; `false`: the time was over before.
    async fn settle(&mut self, time: Duration) -> Result<bool, ShowError> {
        let tab = self.tab;
        let mut events = Events::of(tab).await?;
        let navigation = tab.execute(NavigateParams::new(self.page.url.as_str()));
        tokio::pin!(navigation);
        let mut is_going = true;
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (began, mut last, mut used) = (Instant::now(), Instant::now(), Duration::ZERO);
        while used < time && began.elapsed() < time * WITH_WAITS {
            tokio::select! {
                done = &mut navigation, if is_going => {
                    is_going = false;
                    if let (Err(error), None) = (done, &self.frame) {
                        return Err(error.into());
                    }
                }
                Some(event) = events.paused.next() => self.take_request(event),
                Some(()) = self.answers.next() => self.quiet_since = Instant::now(),
                Some(_) = events.dialogs.next() => {
                    let dismiss = HandleJavaScriptDialogParams::new(false);
                    self.answers.push(Box::pin(async move { _ = tab.execute(dismiss).await; }));
                }
                Some(_) = events.crashes.next() => {
                    return Err(ShowError::Crashed("the page crashed".to_owned()));
                }
                Some(_) = events.loads.next() => self.is_loaded = true,
                Some(step) = self.steps.next() => match step {
                    Ok(step) => {
                        if self.take_step(step) {
                            return Ok(true);
                        }
                    }
                    Err(error) => match error.into() {
                        ShowError::Page(_) => self.links = None,
                        crashed @ ShowError::Crashed(_) => return Err(crashed),
                    },
                },
                _ = ticks.tick() => {}
            }
            let now = Instant::now();
            if self.answers.is_empty() {
                used += now - last;
            }
            last = now;
            if self.is_quiet(now) {
                let step = look(tab, self.frame.clone());
                self.steps.push(Box::pin(step));
            }
        }
        Ok(false)
    }

    /// Returns whether it is time to look at the links.
    fn is_quiet(&self, now: Instant) -> bool {
        self.is_loaded
            && self.answers.is_empty()
            && self.steps.is_empty()
            && now - self.quiet_since >= QUIET
            && now - self.looked >= BETWEEN_LOOKS
    }

    /// Takes what was done; `true`: nothing more comes.
    fn take_step(&mut self, step: Step) -> bool {
        self.looked = Instant::now();
        match step {
            Step::Scrolled => self.quiet_since = Instant::now(),
            Step::Links(links) if self.links.as_ref() != Some(&links) => self.links = Some(links),
            Step::Links(_) if self.has_scrolled => return true,
            Step::Links(_) => {
                self.has_scrolled = true;
                self.links = None;
                let tab = self.tab;
                self.steps.push(Box::pin(async move {
                    tab.evaluate_expression(SCROLL).await?;
                    Ok(Step::Scrolled)
                }));
            }
        }
        false
    }

    fn take_request(&mut self, event: Arc<EventRequestPaused>) {
        self.quiet_since = Instant::now();
        self.requests += 1;
        let is_document = event.resource_type == ResourceType::Document;
        let is_main = self
            .frame
            .as_ref()
            .is_none_or(|frame| *frame == event.frame_id);
        let is_page = is_document && self.frame.is_none();
        if is_page {
            self.frame = Some(event.frame_id.clone());
        } else if is_document
            && is_main
            && event.request.method == "GET"
            && self.redirects.len() < MAX_REDIRECTS
        {
            self.redirects.push(event.request.url.clone());
        }
        let (tab, page, has_room) = (self.tab, self.page, self.requests <= MAX_REQUESTS);
        self.answers.push(Box::pin(async move {
            let resource = if is_page {
                Some(Resource {
                    status: 200,
                    content_type: page.content_type.clone(),
                    body: page.body.clone(),
                })
            } else if is_document && is_main {
                if event.request.method != "GET" {
                    // It is counted, and not sent.
                    page.resources.answer(request_of(&event)).await;
                }
                // Any other answer takes the place of the page.
                Some(Resource {
                    status: 204,
                    content_type: String::new(),
                    body: Vec::new(),
                })
            } else if has_room && (!is_document || event.request.method != "GET") {
                page.resources.answer(request_of(&event)).await
            } else {
                None
            };
            answer(tab, &event, resource).await;
        }));
    }

    /// The document as it is.
    async fn write_down(mut self, is_cut: bool) -> Result<RenderedPage, ShowError> {
        self.answers.clear();
        self.steps.clear();
        let tab = self.tab;
        let written = timeout(COMMAND_TIME, async {
            let length = text_of(tab.evaluate_expression(LENGTH).await?);
            if length.parse().unwrap_or(0) > MAX_CHARACTERS {
                return Err(ShowError::Page("the document is too large".to_owned()));
            }
            let clicks = EvaluateParams::builder()
                .expression(CLICKS)
                .include_command_line_api(true)
                .return_by_value(true)
                .build();
            // A page can break this count, and nothing else by it.
            let clicks = match clicks {
                Ok(clicks) => tab.evaluate_expression(clicks).await.map(text_of).ok(),
                Err(_) => None,
            };
            let root = GetDocumentParams::builder().depth(0).build();
            let root = tab.execute(root).await?.result.root.node_id;
            let html = GetOuterHtmlParams::builder()
                .node_id(root)
                .include_shadow_dom(true)
                .build();
            let html = tab.execute(html).await?.result.outer_html;
            Ok((html, clicks.and_then(|clicks| clicks.parse().ok())))
        });
        let written = written.await;
        let written = written.map_err(|_| ShowError::Page("the page is busy".to_owned()))?;
        let (html, clicks) = written?;
        Ok(RenderedPage {
            html: html.into_bytes(),
            redirects: self.redirects,
            clicks: clicks.unwrap_or(0),
            is_cut,
        })
    }
}

/// Looks at the links.
async fn look(tab: &Page, frame: Option<FrameId>) -> Result<Step, CdpError> {
    let frame = frame.ok_or(CdpError::NotFound)?;
    let world = tab.execute(CreateIsolatedWorldParams::new(frame)).await?;
    let links = EvaluateParams::builder()
        .expression(LINKS)
        .context_id(world.result.execution_context_id)
        .return_by_value(true)
        .build();
    let links = links.map_err(CdpError::msg)?;
    let links = tab.evaluate_expression(links).await?;
    Ok(Step::Links(text_of(links)))
}

/// The text that an expression has as its value.
fn text_of(result: chromiumoxide::js::EvaluationResult) -> String {
    result.into_value().unwrap_or_default()
}

/// A request as the crawl gets it.
fn request_of(event: &EventRequestPaused) -> ResourceRequest {
    let kind = match event.resource_type {
        ResourceType::Script => ResourceKind::Script,
        ResourceType::Stylesheet => ResourceKind::Style,
        ResourceType::Xhr | ResourceType::Fetch => ResourceKind::Data,
        _ => ResourceKind::Other,
    };
    ResourceRequest {
        method: event.request.method.clone(),
        url: event.request.url.clone(),
        kind,
    }
}

/// Answers a request, or ends it.
async fn answer(tab: &Page, event: &EventRequestPaused, resource: Option<Resource>) {
    let id = event.request_id.clone();
    let answer = resource.and_then(|resource| {
        let answer = FulfillRequestParams::builder()
            .request_id(id.clone())
            .response_code(i64::from(resource.status))
            .body(BASE64_STANDARD.encode(resource.body));
        let answer = match resource.content_type {
            none if none.is_empty() => answer,
            content_type => answer.response_header(HeaderEntry::new("content-type", content_type)),
        };
        answer.build().ok()
    });
    // A page that has ended needs no answer.
    if let Some(answer) = answer {
        _ = tab.execute(answer).await;
    } else {
        let refuse = FailRequestParams::new(id, ErrorReason::BlockedByClient);
        _ = tab.execute(refuse).await;
    }
}
