//! `arpent page`, and `arpent daemon --page`: what the states of this machine have of all sites, for people in a browser, and commands
//! that they start from there. It reads what `arpent status`, `report` and `why` read, and changes nothing by itself.

mod access;
mod actions;
mod content;
#[cfg(feature = "catalogue")]
mod fleet;
mod layout;

use std::{
    convert::Infallible,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use axum::{
    Extension, Form, Router,
    extract::{DefaultBodyLimit, FromRequestParts, Path, Query, Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header, request::Parts},
    middleware::{Next, from_fn_with_state},
    response::{Html, IntoResponse, Redirect, Response, Sse, sse::Event},
    routing::{get, post},
};
use crawler::{clock::Clock, failure::blocking, site_run::SiteStatus};
use futures_util::stream::unfold;
use serde::Deserialize;
use tokio::{
    sync::Semaphore,
    task::JoinSet,
    time::{Instant, sleep},
};

use self::{
    access::{Access, Login},
    actions::{ActionKind, Actions, SiteAction},
    layout::Bar,
};
use super::{crawl::begin_log, dependencies, pause, runtime, status};
use crate::{
    args::PageArgs,
    exit_code::ExitCode,
    failure::{self, Context as _},
    http::{self, Client},
    output::Output,
    settings::{CrawlSettings, Environment, Purpose, Typed},
    signal::Signals,
};

/// Where the page is when nothing else is said.
const DEFAULT_ADDRESS: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

/// What is known of all sites is read again after so long.
const FRESH: Duration = Duration::from_secs(1);

/// Reading takes one part in so many of the time, where that is longer.
const READING_SHARE: u32 = 20;

/// Requests that read states at the same time.
const MAX_READERS: usize = 4;

/// Streams of changes at the same time; pages without one look each minute.
const MAX_FOLLOWERS: usize = 32;

/// Bytes of a form.
const MAX_FORM_BYTES: usize = 16 * 1024;

/// Paths that need no login.
const OPEN: [&str; 3] = ["/login", "/page.css", "/page.js"];

/// The time that a browser may use the style sheet and the script without asking.
const ASSET_AGE: &str = "max-age=3600";

/// The parts of the page. Clones share them.
#[derive(Clone)]
struct Page(Arc<PageParts>);

struct PageParts {
    /// For work that reads states: a few at a time.
    readers: Arc<Semaphore>,
    /// For the comparison of two sets, which may take long.
    comparing: Arc<Semaphore>,
    followers: Arc<Semaphore>,
    /// The sites are those of a catalogue.
    #[cfg(feature = "catalogue")]
    fleet: Option<fleet::FleetPage>,
    typed: Typed,
    environment: Environment,
    clock: Arc<dyn Clock>,
    output: Output,
    access: Access,
    actions: Actions,
    known: Mutex<Option<(Instant, Arc<Known>)>>,
}

/// What was read of all sites.
struct Known {
    settings: Arc<CrawlSettings>,
    /// When the settings file was changed last.
    changed: Option<SystemTime>,
    report: crawler::site_run::StatusReport,
    /// Differs when something of a site does.
    version: u64,
    /// How long the reading took.
    took: Duration,
}

/// A request that is not answered as it was asked.
enum Refusal {
    NotFound,
    Forbidden(&'static str),
    TooMany,
    Failed(failure::Failure),
}

impl From<failure::Failure> for Refusal {
    fn from(failure: failure::Failure) -> Self {
        Self::Failed(failure)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, text) = match self {
            Self::NotFound => (StatusCode::NOT_FOUND, "There is no such page.".to_owned()),
            Self::Forbidden(why) => (StatusCode::FORBIDDEN, why.to_owned()),
            Self::TooMany => {
                let text = "There were too many of these requests, or wrong tokens. Try again in a minute.";
                (StatusCode::TOO_MANY_REQUESTS, text.to_owned())
            }
            Self::Failed(failure) => (StatusCode::INTERNAL_SERVER_ERROR, failure.in_full()),
        };
        (status, Html(layout::refusal(status, &text))).into_response()
    }
}

type Answer<T = Html<String>> = Result<T, Refusal>;

/// Runs `arpent page`.
///
/// # Errors
/// The settings make no sense, or the address cannot be used.
pub(super) fn run(
    args: &PageArgs,
    environment: &Environment,
    output: &Output,
) -> failure::Result<ExitCode> {
    let typed = args.settings.0.clone();
    let settings = super::crawl::load(Purpose::Look, typed.clone(), environment)?;
    begin_log(&settings.shared, output);
    output.begin_log(false);
    runtime::run(runtime::Threads::OfCores, async {
        let mut signals = Signals::listen().context("failed to listen to signals")?;
        let address = settings.shared.page.address.unwrap_or(DEFAULT_ADDRESS);
        let _page = begin(&settings, address, &typed, environment, output).await?;
        Ok(signals.next().await.into())
    })
}

/// Answers requests at `address` until the result is dropped. A catalogue of the settings takes the place of their sites.
///
/// # Errors
/// The address cannot be used, or the token cannot be read.
pub(super) async fn begin(
    settings: &CrawlSettings,
    address: SocketAddr,
    typed: &Typed,
    environment: &Environment,
    output: &Output,
) -> failure::Result<JoinSet<()>> {
    #[cfg(feature = "catalogue")]
    let fleet = fleet::FleetPage::begin(typed, environment).await?;
    let access = Access::new(settings.shared.page.token_file.as_deref(), address)?;
    let listener = http::listen(address, "the page", "--page ADDR").await?;
    let address = listener.local_addr()?;
    output.info(&format!("page: http://{address}/"));
    let page = Page(Arc::new(PageParts {
        typed: typed.clone(),
        environment: environment.clone(),
        clock: dependencies::clock(environment),
        output: output.clone(),
        readers: Arc::new(Semaphore::new(MAX_READERS)),
        comparing: Arc::new(Semaphore::new(1)),
        followers: Arc::new(Semaphore::new(MAX_FOLLOWERS)),
        #[cfg(feature = "catalogue")]
        fleet,
        access,
        actions: Actions::default(),
        known: Mutex::default(),
    }));
    let mut tasks = JoinSet::new();
    tasks.spawn(http::serve(listener, router(page.clone())));
    // Whoever looks first does not wait for settings and states. What fails is reported to them.
    tasks.spawn(async move { drop(page.known().await) });
    Ok(tasks)
}

fn router(page: Page) -> Router {
    let asset = |kind: &'static str, text: &'static str| {
        let heads = [
            (header::CONTENT_TYPE, kind),
            (header::CACHE_CONTROL, ASSET_AGE),
        ];
        get(move || async move { (heads, text) })
    };
    let own = Router::new()
        .route("/", get(sites))
        .route("/site/{name}", get(site))
        .route("/site/{name}/why", get(why))
        .route("/site/{name}/set/{back}", get(compare))
        .route("/site/{name}/do/{action}", get(confirm).post(act))
        .route("/changes", get(changes))
        .route("/status.json", get(status_json))
        .route("/events.atom", get(events))
        .route("/badge/{name}", get(badge));
    #[cfg(feature = "catalogue")]
    let own = match page.0.fleet {
        Some(_) => Router::new()
            .route("/", get(fleet::sites))
            .route("/status.json", get(fleet::status_json)),
        None => own,
    };
    own.route("/login", get(login_form).post(login))
        .route("/logout", post(logout))
        .route("/page.css", asset("text/css", layout::STYLE))
        .route("/page.js", asset("text/javascript", layout::SCRIPT))
        .fallback(|| async { Refusal::NotFound })
        .layer(DefaultBodyLimit::max(MAX_FORM_BYTES))
        .layer(from_fn_with_state(page.clone(), guard))
        .with_state(page)
}

/// Who may see and do what; and the headers of all answers.
async fn guard(
    State(page): State<Page>,
    headers: HeaderMap,
    mut request: Request,
    next: Next,
) -> Response {
    let access = &page.0.access;
    let login = access.login_of(&headers);
    let is_open = OPEN.contains(&request.uri().path());
    // Pages of other sites may have links, and the badges.
    let is_picture = request.uri().path().starts_with("/badge/");
    let is_link =
        request.method() == Method::GET && (is_picture || access::is_navigation(&headers));
    let is_foreign = !is_link && access::is_of_other_site(&headers);
    let mut answer = if !access::is_asked_by_address(&headers) {
        let why = "This page is asked for by its address alone: by an IP address, or as localhost. Behind a proxy, let the proxy do so.";
        (
            StatusCode::MISDIRECTED_REQUEST,
            Html(layout::refusal(StatusCode::MISDIRECTED_REQUEST, why)),
        )
            .into_response()
    } else if is_foreign {
        Refusal::Forbidden("The request is of a page of another site.").into_response()
    } else if access.has_token() && login.is_none() && !is_open {
        Redirect::to("/login").into_response()
    } else {
        request.extensions_mut().insert(login);
        next.run(request).await
    };
    for (name, value) in layout::HEADERS {
        let headers = answer.headers_mut();
        // The style sheet and the script may be kept.
        if name != header::CACHE_CONTROL || !headers.contains_key(&name) {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
    answer
}

/// The login of a request, if there is one.
type MaybeLogin = Extension<Option<Login>>;

impl PageParts {
    /// The settings, and when their file was changed last: those that were read `before`, while that is the same.
    fn settings(
        &self,
        before: Option<&Arc<Known>>,
    ) -> failure::Result<(Arc<CrawlSettings>, Option<SystemTime>)> {
        let found = before.and_then(|before| before.settings.shared.found_file.as_ref());
        let file = self.typed.config.as_ref().or(found);
        let changed = file.and_then(|file| file.metadata().ok()?.modified().ok());
        if let Some(before) = before.filter(|before| changed.is_some() && before.changed == changed)
        {
            return Ok((Arc::clone(&before.settings), changed));
        }
        let settings = super::crawl::load(Purpose::Look, self.typed.clone(), &self.environment)?;
        Ok((Arc::new(settings), changed))
    }
}

impl Page {
    /// Work that reads states, a few at a time. It goes on, and counts, when nobody waits for it any more.
    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> failure::Result<T> + Send + 'static,
    ) -> Answer<T> {
        let reading = Arc::clone(&self.0.readers).acquire_owned().await.ok();
        let counted = move || {
            let _reading = reading;
            work()
        };
        Ok(blocking(counted).await?)
    }

    /// What is known of all sites now.
    async fn known(&self) -> Answer<Arc<Known>> {
        let page = Arc::clone(&self.0);
        let read = move || -> failure::Result<Arc<Known>> {
            // One reads; others wait for what it read.
            let mut known = page.known.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((read, known)) = &*known
                && read.elapsed() < FRESH.max(known.took * READING_SHARE)
            {
                return Ok(Arc::clone(known));
            }
            let began = Instant::now();
            let before = known.as_ref().map(|(_, known)| known);
            let (settings, changed) = page.settings(before)?;
            let mut report = status::report_on(&settings, None, page.clock.now(), &page.output)?;
            report.sites.sort_by_cached_key(SiteStatus::badness);
            let mut hasher = DefaultHasher::new();
            serde_json::to_string(&report.sites)
                .unwrap_or_default()
                .hash(&mut hasher);
            let new = Arc::new(Known {
                settings,
                changed,
                report,
                version: hasher.finish(),
                took: began.elapsed(),
            });
            *known = Some((Instant::now(), Arc::clone(&new)));
            Ok(new)
        };
        Ok(blocking(read).await?)
    }
}

/// The filter of the sites.
#[derive(Deserialize, Default)]
struct Filter {
    #[serde(default)]
    name: String,
    #[serde(default)]
    outcome: String,
}

async fn sites(
    State(page): State<Page>,
    Extension(login): MaybeLogin,
    Query(filter): Query<Filter>,
) -> Answer {
    let known = page.known().await?;
    let filter = (&*filter.name, &*filter.outcome);
    let html = content::sites(&known.report, filter, &access::bar_of(login.as_ref()));
    Ok(Html(html))
}

/// A site that somebody looks at.
struct Look {
    page: Page,
    known: Arc<Known>,
    site: SiteStatus,
    login: Option<Login>,
    /// The last part of the path, where it is no name.
    rest: String,
}

impl FromRequestParts<Page> for Look {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, page: &Page) -> Answer<Self> {
        let path = Path::<Vec<(String, String)>>::from_request_parts(parts, page).await;
        let Path(path) = path.map_err(|_| Refusal::NotFound)?;
        let mut path = path.into_iter().map(|(_, part)| part);
        let name = path.next().unwrap_or_default();
        let known = page.known().await?;
        let mut sites = known.report.sites.iter();
        let site = sites.find(|site| site.name == name).cloned();
        Ok(Self {
            page: page.clone(),
            site: site.ok_or(Refusal::NotFound)?,
            known,
            login: parts.extensions.get().cloned().flatten(),
            rest: path.next().unwrap_or_default(),
        })
    }
}

impl Look {
    /// What the head of the page has.
    fn bar(&self) -> Bar {
        access::bar_of(self.login.as_ref())
    }

    fn action(&self) -> Answer<&'static SiteAction> {
        SiteAction::of(&self.rest).ok_or(Refusal::NotFound)
    }

    /// Whether something can be done with the site: settings that only the states know are not those of its crawls.
    fn check(&self, action: &SiteAction) -> Answer<()> {
        let report = &self.known.report;
        let mut sites = report.sites.iter();
        let is_twin =
            |other: &SiteStatus| other.name != self.site.name && other.start == self.site.start;
        Err(Refusal::Forbidden(
            if self.known.settings.sites.is_empty() {
                "Commands are for sites of the settings file: start the page with --config FILE."
            } else if !action.is_possible(&self.site, report.has_daemon) {
                "The site is not in the state for that any more. Go back, and look again."
            } else if sites.any(is_twin) {
                "Several sites of the settings have this URL, and a command would be about all of them."
            } else if self.page.0.actions.is_running(&self.site.name) {
                "A command of this page runs for the site. Wait until it has ended."
            } else {
                return Ok(());
            },
        ))
    }

    /// What is wrong with a form. Blocks.
    fn problem_of(&self, action: &SiteAction, form: &ActionForm) -> Option<String> {
        match action.kind {
            ActionKind::Pause if !form.value.is_empty() => {
                let zone = self.site.time_zone.0.clone();
                let time = pause::time_of(&form.value, zone, self.page.0.clock.now());
                time.err().map(|error| error.to_string())
            }
            ActionKind::RollBack => {
                let sets = content::sets_of(self).unwrap_or_default();
                let published = sets.first().map(|set| set.published.to_string());
                let is_seen = published.is_some_and(|published| published == form.seen);
                (!is_seen).then(|| "Another set was published meanwhile. Choose again.".to_owned())
            }
            _ => None,
        }
    }

    /// Draws what it reads.
    async fn read(self, draw: impl FnOnce(&Self) -> String + Send + 'static) -> Answer {
        let page = self.page.clone();
        page.read(move || Ok(draw(&self))).await.map(Html)
    }
}

/// Whether only the live parts of a page are wanted.
#[derive(Deserialize)]
struct Wanted {
    live: Option<String>,
}

async fn site(look: Look, Query(wanted): Query<Wanted>) -> Answer {
    look.read(move |look| content::site(look, wanted.live.is_some()))
        .await
}

/// A question about a URL.
#[derive(Deserialize)]
struct Asked {
    url: String,
}

async fn why(look: Look, Query(asked): Query<Asked>) -> Answer {
    look.read(move |look| content::why(look, &asked.url)).await
}

async fn compare(look: Look) -> Answer {
    let back = look.rest.parse().map_err(|_| Refusal::NotFound)?;
    let comparing = Arc::clone(&look.page.0.comparing);
    let comparing = comparing.try_acquire_owned();
    let comparing = comparing.map_err(|_| Refusal::TooMany)?;
    look.read(move |look| {
        let _comparing = comparing;
        content::compare(look, back)
    })
    .await
}

/// Sends an event whenever something of a site changed, and one at the begin.
async fn changes(State(page): State<Page>, headers: HeaderMap) -> Answer<impl IntoResponse> {
    let follower = Arc::clone(&page.0.followers);
    let follower = follower.try_acquire_owned().map_err(|_| Refusal::TooMany)?;
    let seen = headers.get("last-event-id");
    let seen = seen.and_then(|id| id.to_str().ok()).map(str::to_owned);
    let events = unfold((page, follower, seen), async |(page, follower, seen)| {
        loop {
            let known = page.known().await.ok()?;
            let id = format!("{:x}-{}", known.version, page.0.actions.changes());
            if seen.as_ref() != Some(&id) {
                let event = Event::default().id(&id).data("changed");
                return Some((Ok::<_, Infallible>(event), (page, follower, Some(id))));
            }
            sleep(FRESH).await;
        }
    });
    // A proxy would hold them back.
    Ok(([("x-accel-buffering", "no")], Sse::new(events)))
}

/// A form that starts an action, as it is shown and as it comes back.
#[derive(Deserialize, Default)]
#[serde(default)]
struct ActionForm {
    token: String,
    /// What was typed.
    value: String,
    /// When the set was published that somebody saw.
    seen: String,
}

async fn confirm(look: Look, Query(form): Query<ActionForm>) -> Answer<Response> {
    let action = look.action()?;
    if look.login.is_none() {
        return Ok(Redirect::to("/login").into_response());
    }
    look.check(action)?;
    let html = look.read(move |look| content::confirm(look, action, &form.value, ""));
    Ok(html.await?.into_response())
}

async fn act(
    look: Look,
    Extension(client): Extension<Client>,
    Form(form): Form<ActionForm>,
) -> Answer<Response> {
    let action = look.action()?;
    let name = look.site.name.clone();
    let has_sent = |login: &Login| login.has_sent(&form.token, action.word, &name);
    if !look.login.as_ref().is_some_and(has_sent) {
        let why = "The form is of another login, or of none. Go back, and open it again.";
        return Err(Refusal::Forbidden(why));
    }
    look.check(action)?;
    let page = look.page.clone();
    let judged = move || Ok((look.problem_of(action, &form), look, form));
    let (problem, look, form) = page.read(judged).await?;
    if let Some(problem) = problem {
        let html = look.read(move |look| content::confirm(look, action, &form.value, &problem));
        return Ok((StatusCode::UNPROCESSABLE_ENTITY, html.await?).into_response());
    }
    let arguments = action.arguments(content::start_of(&look.site), &form.value);
    let (parts, line) = (&page.0, arguments.join(" "));
    parts
        .output
        .info(&format!("page: {} asked for arpent {line}", client.0.ip()));
    parts
        .actions
        .start(&name, &arguments, &parts.typed, parts.clock.now());
    Ok(Redirect::to(&format!("{}#done", content::place_of(&look.site))).into_response())
}

async fn status_json(State(page): State<Page>) -> Answer<Response> {
    let known = page.known().await?;
    let text = known.report.document().to_string();
    Ok(([(header::CONTENT_TYPE, "application/json")], text).into_response())
}

async fn events(State(page): State<Page>) -> Answer<Response> {
    let known = page.known().await?;
    let text = content::feed(&known.report);
    Ok(([(header::CONTENT_TYPE, "application/atom+xml")], text).into_response())
}

async fn badge(State(page): State<Page>, Path(name): Path<String>) -> Answer<Response> {
    let known = page.known().await?;
    let mut sites = known.report.sites.iter();
    let site = sites.find(|site| name.strip_suffix(".svg") == Some(&site.name));
    let text = content::badge(site.ok_or(Refusal::NotFound)?);
    Ok(([(header::CONTENT_TYPE, "image/svg+xml")], text).into_response())
}

async fn login_form(State(page): State<Page>) -> Html<String> {
    Html(content::login(page.0.access.has_token(), ""))
}

/// A form with the token.
#[derive(Deserialize)]
struct TypedToken {
    token: String,
}

async fn login(
    State(page): State<Page>,
    Extension(client): Extension<Client>,
    Form(typed): Form<TypedToken>,
) -> Answer<Response> {
    let now = Instant::now();
    let access = &page.0.access;
    let address = client.0.ip();
    let cookie = access.log_in(&typed.token, address, now);
    let cookie = cookie.map_err(|()| Refusal::TooMany)?;
    if let Some(cookie) = cookie {
        let message = format!("page: {address} logged in");
        page.0.output.info(&message);
        Ok(([(header::SET_COOKIE, cookie)], Redirect::to("/")).into_response())
    } else {
        page.0
            .output
            .info(&format!("page: {address} sent a wrong token"));
        let html = content::login(access.has_token(), "This is not the token.");
        Ok((StatusCode::FORBIDDEN, Html(html)).into_response())
    }
}

async fn logout(
    State(page): State<Page>,
    Extension(login): MaybeLogin,
    Form(typed): Form<TypedToken>,
) -> Redirect {
    if let Some(login) = login.filter(|login| login.has_sent(&typed.token, "logout", "")) {
        page.0.access.log_out(&login);
    }
    Redirect::to("/")
}
