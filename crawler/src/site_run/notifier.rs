//! Whoever is notified of one site after a session: engines, object storage, hooks.

use std::{
    cell::RefCell,
    collections::BTreeSet,
    future::Future,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use jiff::Timestamp;
use tokio::runtime::Handle;
#[cfg(feature = "google")]
use tokio::time::timeout;

use super::{
    LastSession,
    last_session::SessionRecord,
    messages::{MessageLogs, SiteHealth, message_of, test_message},
};
use crate::{
    client::{
        Call, CallAnswer, CallError, ConnectError, DownloadError, DownloadedDocument, Downloader,
        Downloaders, Shutdown, with_https_twin,
    },
    clock::Clock,
    config::{Config, CookieUse, GoogleConfig, HookEvent, NotifyConfig, Secret},
    notify::{
        GoogleResult, HookRun, Notifications, Recipient, Submission, call_webhook, notify,
        report_to_google, run_command,
    },
    outcome::SessionOutcome,
    politeness::SharedPoliteness,
    publish::{PublishError, PublishedSet, hooks_know, published_set},
    retry_after::RetryAfterFile,
    robots::Rules,
    served::{LookError, ServedReader, ServedReport, look, note_look, other_program},
    storage::Storage,
    store::{Store, StoreError, with_causes},
    url_key::{Origin, UrlKey},
};

/// How long the program of a hook may run: longer than any request of such a program takes.
const HOOK_TIMEOUT: Duration = Duration::from_secs(60);

/// Time for a token of Google, with all tries of the library.
#[cfg(feature = "google")]
const TOKEN_TIMEOUT: Duration = Duration::from_secs(30);

/// As whom an origin gets a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum AskedAs {
    /// As anybody: what an engine would see.
    Anybody,
    /// As anybody, past what caches store.
    Reader,
    /// As the crawler, with the headers and credentials of the site where they may go.
    Crawler,
}

/// Whether others are notified of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Announce {
    /// Once the set is served, where the settings want that looked at.
    WhenServed,
    /// In any case.
    Now,
    /// Nobody is: it is counted who would be.
    DryRun,
}

/// Who is notified of one site, and how.
#[derive(Debug, Clone)]
pub struct NotifierConfig {
    /// The settings of the site.
    pub config: Config,
    /// The URLs that its crawl begins with. The credentials of the settings are for their origins.
    pub starts: Vec<UrlKey>,
    /// Variables of the environment with secrets, which no hook gets.
    pub withheld: Vec<String>,
}

/// Notifies others of one site. Blocks: for a thread that may.
///
/// Each service is named by the user, so each decides which addresses may be contacted for it. The credentials of the site go
/// nowhere but to its own robots.txt.
#[expect(missing_debug_implementations, reason = "it holds a clock")]
pub struct Notifier {
    settings: Arc<NotifierConfig>,
    clock: Arc<dyn Clock>,
    runtime: Handle,
    shutdown: Shutdown,
    downloaders: Downloaders<(Origin, AskedAs)>,
}

impl Notifier {
    /// Needs a running runtime.
    pub fn new(
        settings: NotifierConfig,
        retry_after: RetryAfterFile,
        politeness: SharedPoliteness,
        clock: Arc<dyn Clock>,
        shutdown: Shutdown,
    ) -> Self {
        Self {
            downloaders: Downloaders::new(Arc::clone(&clock), politeness, retry_after),
            runtime: Handle::current(),
            shutdown,
            settings: Arc::new(settings),
            clock,
        }
    }

    /// Notifies whom the settings name of the published set, once it is served; see [`notify`].
    ///
    /// # Errors
    /// The state failed. Whatever else fails is among the problems.
    pub fn notify(
        &mut self,
        store: &mut Store,
        set: &PublishedSet,
        has_changed: bool,
        announce: Announce,
    ) -> Result<Notifications, StoreError> {
        let (settings, clock) = (Arc::clone(&self.settings), Arc::clone(&self.clock));
        let config = &settings.config.notify;
        let dry_run = announce == Announce::DryRun;
        let mut looked = Ok(None);
        if config.check_served && announce == Announce::WhenServed {
            looked = self.read_back(store, set).map(Some);
        }
        let (served, problem) = match looked {
            Ok(served) => (served, None),
            Err(LookError::Store(error)) => return Err(error),
            Err(LookError::UnknownFiles) => (None, None),
            Err(error) => (None, Some(with_causes(&error))),
        };
        let is_served = served.as_ref().is_none_or(ServedReport::is_served);
        let submission = Submission {
            config,
            standing: set,
            dry_run,
            is_held: problem.is_some() || !is_served,
            deliver: &|| deliver(&settings.config, set, clock.now()),
        };
        let now = || clock.now();
        let mut done = notify(store, &submission, has_changed, &now, &mut |call| {
            self.call(call)
        })?;
        let problem = problem.map(|problem| format!("the set was not read back: {problem}"));
        done.problems.extend(problem);
        if let Some(google) = config
            .google
            .as_ref()
            .filter(|_| !dry_run && !submission.is_held)
        {
            let result = self.report_to_google(store, google, set)?;
            done.problems.extend(result.problems);
            done.warnings = result.warnings;
            done.google = result.report;
        }
        Ok(Notifications { served, ..done })
    }

    /// Submits the set to Google Search Console, and reads what Google has of it.
    fn report_to_google(
        &mut self,
        store: &mut Store,
        config: &GoogleConfig,
        set: &PublishedSet,
    ) -> Result<GoogleResult, StoreError> {
        let now = self.clock.now();
        let this = RefCell::new(self);
        let mut token = |key: &str| this.borrow().google_token(key);
        let mut call = |call: &Call| this.borrow_mut().call(call);
        report_to_google(store, config, set, now, &mut token, &mut call)
    }

    /// A token for the account of a key. The request is that of a library: it waits for no permit, and knows no proxy.
    #[cfg(feature = "google")]
    fn google_token(&self, key: &str) -> Result<Secret, String> {
        use gcp_auth::{CustomServiceAccount, Error, TokenProvider as _};

        const SCOPE: &str = "https://www.googleapis.com/auth/webmasters";

        let account = CustomServiceAccount::from_json(key).map_err(|error| match error {
            Error::Io(..) | Error::Other(..) => error.to_string(),
            // The others may hold a part of the key.
            _ => "the key cannot be read".to_owned(),
        })?;
        let asked = async {
            let token = timeout(TOKEN_TIMEOUT, account.token(&[SCOPE])).await;
            let token = token.map_err(|_| "no answer".to_owned())?;
            token.map_err(|error| with_causes(&error))
        };
        let token = self.wait(asked, "stopped before there was an answer".to_owned())?;
        Ok(Secret::new(token.as_str()))
    }

    /// There is none.
    #[cfg(not(feature = "google"))]
    fn google_token(&self, _: &str) -> Result<Secret, String> {
        Err("this program was built without google".to_owned())
    }

    /// Looks at what is served of the set, and stores the report.
    fn read_back(
        &mut self,
        store: &mut Store,
        set: &PublishedSet,
    ) -> Result<ServedReport, LookError> {
        let interval = self.settings.config.notify.check_served_interval;
        let report = self.look(store, set, interval)?;
        note_look(store, &report)?;
        Ok(report)
    }

    /// Looks at what is served of the set ([`look`]).
    ///
    /// # Errors
    /// See [`LookError`].
    pub fn look(
        &mut self,
        store: &Store,
        set: &PublishedSet,
        interval: Duration,
    ) -> Result<ServedReport, LookError> {
        let now = self.clock.now();
        let this = RefCell::new(self);
        let mut reader = ServedReader {
            document: &mut |url| this.borrow_mut().document(url),
            robots: &mut |site| this.borrow_mut().robots_as(site, AskedAs::Reader),
        };
        look(store, set, now, interval, &mut reader)
    }

    /// Notifies whom the settings name of the set that `store` knows as published, and of whether it `has_changed`. Returns the set, if
    /// there is one.
    ///
    /// # Errors
    /// As [`Notifier::notify`].
    pub fn notify_of_published(
        &mut self,
        store: &mut Store,
        has_changed: bool,
    ) -> Result<Option<(PublishedSet, Notifications)>, StoreError> {
        let Some(set) = published_set(store)? else {
            return Ok(None);
        };
        let done = self.notify(store, &set, has_changed, Announce::WhenServed);
        self.write_waits();
        Ok(Some((set, done?)))
    }

    /// Ends a session: calls the hooks of the settings when the end is one of their events, notes that they know of the set, and writes
    /// the record beside the state. Hooks that were not called for a published set are called again with the next session, when one
    /// fails or the program ends before. Returns what failed, each a fragment: the outcome of the session stays.
    pub fn end_session(&mut self, end: EndOfSession) -> Vec<String> {
        let config = &self.settings.config.notify;
        let event = hook_event(end.outcome, end.has_news);
        let event = event.filter(|event| config.has_hooks() && config.hook_events.contains(event));
        let mut problems = Vec::new();
        if let Some(event) = event {
            problems = self.call_hooks(event, &end.variables, &end.summary);
            self.write_waits();
            if let Some(state) = end.awaited_in.filter(|_| problems.is_empty())
                && event == HookEvent::Published
                && let Err(error) = Store::open(&state).and_then(|mut store| hooks_know(&mut store))
            {
                problems.push(format!(
                    "the next session calls the hooks again, because the state could not be written: {}",
                    with_causes(&error)
                ));
            }
        }
        if let Some(record) = end.record {
            let path = record.path.clone();
            match record.write(end.outcome, self.clock.now()) {
                Ok(true) => problems.extend(self.send_messages(&path)),
                Ok(false) => {}
                Err(error) => problems.push(format!(
                    "the result of the session could not be written to {}: {error}",
                    path.display()
                )),
            }
        }
        problems
    }

    /// Sends people the messages that are due on the site whose last session is in the file `path`. Returns what failed, each a fragment:
    /// it is sent after a later session.
    pub fn send_messages(&mut self, path: &Path) -> Vec<String> {
        let settings = Arc::clone(&self.settings);
        let config = &settings.config.notify;
        if config.messages.is_empty() || self.shutdown.is_stopping() {
            return Vec::new();
        }
        let mut problems = Vec::new();
        let sent = LastSession::read(path).and_then(|last| match last {
            Some(last) => {
                let messages = self.send_messages_of(&last, config, &mut problems);
                LastSession::note_messages(path, messages)
            }
            None => Ok(()),
        });
        let sent = sent.map_err(|error| format!("messages: {}: {error}", path.display()));
        problems.extend(sent.err());
        self.write_waits();
        problems
    }

    /// Sends the messages that are due after the session `last`. Returns all that people got.
    fn send_messages_of(
        &mut self,
        last: &LastSession,
        config: &NotifyConfig,
        problems: &mut Vec<String>,
    ) -> MessageLogs {
        let (now, health) = (self.clock.now(), SiteHealth::of(last));
        let mut sent = MessageLogs::new();
        for config in &config.messages {
            let recipient = match Recipient::of(config) {
                Ok(recipient) => recipient,
                Err(error) => {
                    problems.push(format!("message not sent: {error}"));
                    continue;
                }
            };
            let id = recipient.id();
            let mut log = last.messages.get(id).copied().unwrap_or_default();
            if sent.contains_key(id) {
                continue;
            }
            if let Some(news) = log.take(&health, config.digest, now) {
                let message = message_of(news, &health, last, now);
                let key = format!("{id}-{}", now.as_millisecond());
                match recipient.send(&message, &key, &mut |call| self.call(call)) {
                    Ok(()) => log.note(news, last.listed.unwrap_or_default(), now),
                    Err(problem) => problems.push(format!("message not sent: {problem}")),
                }
            }
            sent.insert(id.to_owned(), log);
        }
        sent
    }

    /// Sends each recipient of messages that is not in `asked` yet a test message. Returns who got it, or why not, each a fragment.
    pub fn send_test_messages(
        &mut self,
        asked: &mut BTreeSet<String>,
    ) -> Vec<Result<String, String>> {
        let settings = Arc::clone(&self.settings);
        let now = self.clock.now();
        let mut results = Vec::new();
        for config in &settings.config.notify.messages {
            let result = match Recipient::of(config) {
                Ok(to) if !asked.insert(to.id().to_owned()) => continue,
                Ok(to) => {
                    let key = format!("{}-test-{}", to.id(), now.as_millisecond());
                    let sent = to.send(&test_message(), &key, &mut |call| self.call(call));
                    sent.map(|()| to.shown())
                }
                Err(error) => Err(error.to_string()),
            };
            results.push(result);
        }
        results
    }

    /// Calls the hooks; what failed, each a fragment.
    fn call_hooks(
        &mut self,
        event: HookEvent,
        variables: &[(&'static str, String)],
        summary: &str,
    ) -> Vec<String> {
        let settings = Arc::clone(&self.settings);
        let config = &settings.config.notify;
        let mut problems = Vec::new();
        if !config.hook_command.is_empty() {
            let run = HookRun {
                command: &config.hook_command,
                event,
                variables,
                withheld: &settings.withheld,
                summary,
                timeout: HOOK_TIMEOUT,
            };
            let ended = run_command(&run, self.shutdown.aborted());
            if let Err(error) = self.runtime.block_on(ended) {
                problems.push(format!("hook_command {}", with_causes(&error)));
            }
        }
        for url in &config.hook_url {
            let called = call_webhook(url, event, summary, &mut |call| self.call(call));
            problems.extend(called.err().map(|problem| format!("hook_url: {problem}")));
        }
        problems
    }

    /// Writes down what hosts asked to wait for; to be called at the end.
    pub fn write_waits(&self) {
        self.downloaders.write_waits(&self.runtime);
    }

    /// The rules in robots.txt of the site at `site` for every crawler.
    ///
    /// # Errors
    /// The file cannot be read, or no request can be sent at all ([`DownloadError::Settings`]).
    pub fn robots(&mut self, site: &UrlKey) -> Result<Arc<Rules>, DownloadError> {
        self.robots_as(site, AskedAs::Crawler)
    }

    fn robots_as(&mut self, site: &UrlKey, asked_as: AskedAs) -> Result<Arc<Rules>, DownloadError> {
        let downloader = self
            .downloader_for(site, asked_as)
            .map_err(DownloadError::Settings)?;
        let origin = site.origin();
        let rules = downloader.robots_as_shown(&origin, &self.shutdown);
        self.wait(rules, DownloadError::Stopped)
    }

    /// The program whose sitemap is served at `url`; `None`: none is, it is one of arpent, or nobody answers.
    pub fn other_program_at(&mut self, url: &UrlKey) -> Option<String> {
        let document = self.document(url);
        self.write_waits();
        other_program(&mut document.ok()?)
    }

    /// A file of the set as an engine gets it.
    fn document(&mut self, url: &UrlKey) -> Result<DownloadedDocument, DownloadError> {
        let downloader = self
            .downloader_for(url, AskedAs::Reader)
            .map_err(DownloadError::Settings)?;
        self.wait(
            downloader.download(url, &self.shutdown),
            DownloadError::Stopped,
        )
    }

    /// Calls a service.
    fn call(&mut self, call: &Call) -> Result<CallAnswer, CallError> {
        let downloader = self
            .downloader_for(&call.url, AskedAs::Anybody)
            .map_err(CallError::Settings)?;
        self.wait(downloader.call(call, &self.shutdown), CallError::Stopped)
    }

    fn wait<T, E>(&self, answer: impl Future<Output = Result<T, E>>, stopped: E) -> Result<T, E> {
        if self.shutdown.is_stopping() {
            return Err(stopped);
        }
        self.runtime.block_on(async {
            tokio::select! {
                answer = answer => answer,
                // Dropped is a request in flight: that is what was asked for.
                () = self.shutdown.aborted() => Err(stopped),
            }
        })
    }

    /// The way to the origin of `url`.
    fn downloader_for(
        &mut self,
        url: &UrlKey,
        asked_as: AskedAs,
    ) -> Result<Downloader, ConnectError> {
        let (origin, settings) = (url.origin(), &self.settings);
        self.downloaders.to((origin.clone(), asked_as), || {
            let mut config = settings.config.clone();
            let fetch = &mut config.fetch;
            fetch.start_host = origin.host.to_string();
            fetch.credential_origins.clear();
            match asked_as {
                AskedAs::Anybody | AskedAs::Reader => {
                    fetch.headers.clear();
                    if asked_as == AskedAs::Reader {
                        let no_cache = ("Cache-Control".to_owned(), Secret::new("no-cache"));
                        fetch.headers.push(no_cache);
                        fetch.credential_origins.push(origin);
                    }
                    fetch.cookies = CookieUse::Never;
                    fetch.credentials = None;
                }
                AskedAs::Crawler => {
                    let starts = settings.starts.iter();
                    let origins = starts.flat_map(|start| with_https_twin(start.origin()));
                    fetch.credential_origins.extend(origins);
                }
            }
            config
        })
    }
}

/// The end of a session.
#[derive(Debug)]
pub struct EndOfSession {
    /// How it ended.
    pub outcome: SessionOutcome,
    /// The set changed, or the hooks do not know of it yet.
    pub has_news: bool,
    /// Variables of the environment of a program that is called.
    pub variables: Vec<(&'static str, String)>,
    /// The summary as JSON.
    pub summary: String,
    /// The state in which it is noted that the hooks know of the set; `None`: they knew before.
    pub awaited_in: Option<PathBuf>,
    /// The record of the session; `None`: another session has the state, and writes its own.
    pub record: Option<SessionRecord>,
}

/// The event of the end of a session: a set with news, one that was refused, and every failure.
fn hook_event(outcome: SessionOutcome, has_news: bool) -> Option<HookEvent> {
    match outcome {
        SessionOutcome::Published | SessionOutcome::Partial | SessionOutcome::Unchanged => {
            has_news.then_some(HookEvent::Published)
        }
        SessionOutcome::Refused => Some(HookEvent::Refused),
        SessionOutcome::Unreachable
        | SessionOutcome::Busy
        | SessionOutcome::Settings
        | SessionOutcome::Internal => Some(HookEvent::Failed),
        SessionOutcome::DryRun | SessionOutcome::Interrupted => None,
    }
}

/// Sends the folder of the set to object storage, if that is where readers get it.
fn deliver(config: &Config, set: &PublishedSet, now: Timestamp) -> Result<(), PublishError> {
    let mut config = config.publish.clone();
    config.storage.clone_from(&set.storage);
    if let Some(storage) = Storage::open(&config, &set.site)? {
        storage.send(Path::new(&set.output), false, now, None)?;
    }
    Ok(())
}
