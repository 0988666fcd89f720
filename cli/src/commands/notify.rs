//! Notifies others of what was published: after a crawl, or by hand as `arpent notify`. Who is notified of what is decided by
//! [`crawler::notify`]; here are the way to the network and the words.

mod by_hand;

use std::{future::Future, path::Path, sync::Arc};

use crawler::{
    client::{Call, CallAnswer, CallError, ConnectError, DownloadError, Downloader, Shutdown},
    clock::Clock,
    config::HookEvent,
    notify::{HookRun, Notifications, Submission, Submitted, call_webhook, notify, run_command},
    politeness::SharedPoliteness,
    publish::{PublishError, PublishedSet},
    robots::Rules,
    storage::Storage,
    store::{Store, StoreError, with_causes},
    url_key::{Origin, UrlKey},
};
use jiff::Timestamp;
use tokio::runtime::Handle;

pub(super) use self::by_hand::run;
use crate::{
    commands::{crawl::with_https_twin, dependencies, downloaders::Downloaders},
    human,
    settings::Settings,
};

/// As whom an origin is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Guise {
    /// As anybody: what an engine would see.
    Anybody,
    /// As the crawler, with the headers and credentials of the site where they may go.
    Crawler,
}

/// Notifies others of one site. Blocks: for a thread that may.
///
/// Each service is named by the user, so each decides which addresses may be contacted for it. The credentials of the site go
/// nowhere but to its own robots.txt.
pub(super) struct Notifier {
    settings: Arc<Settings>,
    clock: Arc<dyn Clock>,
    runtime: Handle,
    shutdown: Shutdown,
    downloaders: Downloaders<(Origin, Guise)>,
}

impl Notifier {
    /// Needs a running runtime.
    pub(super) fn new(
        settings: &Arc<Settings>,
        politeness: SharedPoliteness,
        clock: Arc<dyn Clock>,
        shutdown: Shutdown,
    ) -> Self {
        let retry_after = dependencies::retry_after(&settings.state);
        Self {
            downloaders: Downloaders::new(Arc::clone(&clock), politeness, retry_after),
            runtime: Handle::current(),
            shutdown,
            settings: Arc::clone(settings),
            clock,
        }
    }

    /// Notifies whom the settings name of the published set; see [`notify`].
    ///
    /// # Errors
    /// The state failed. Whatever else fails is among the problems.
    pub(super) fn notify(
        &mut self,
        store: &mut Store,
        standing: &PublishedSet,
        has_changed: bool,
        dry_run: bool,
    ) -> Result<Notifications, StoreError> {
        let (settings, clock) = (Arc::clone(&self.settings), Arc::clone(&self.clock));
        let submission = Submission {
            config: &settings.config.notify,
            standing,
            dry_run,
            deliver: &|| deliver(&settings, standing, clock.now()),
        };
        let now = || clock.now();
        notify(store, &submission, has_changed, &now, &mut |call| {
            self.call(call)
        })
    }

    /// Calls the hooks; what failed, each a fragment.
    pub(super) fn call_hooks(
        &mut self,
        event: HookEvent,
        variables: &[(&'static str, String)],
        summary: &str,
    ) -> Vec<String> {
        let settings = Arc::clone(&self.settings);
        let config = &settings.config.notify;
        let shell = config.hook_shell.as_ref();
        let shell = shell.map(|line| ["sh", "-c", line].map(str::to_owned).to_vec());
        let direct = Some(config.hook_command.clone()).filter(|command| !command.is_empty());
        let mut problems = Vec::new();
        for (command, name) in [(direct, "hook_command"), (shell, "hook_shell")] {
            let Some(command) = command else { continue };
            let run = HookRun {
                command: &command,
                event,
                variables,
                withheld: &settings.withheld,
                summary,
                timeout: config.hook_timeout,
            };
            let ended = run_command(&run, self.shutdown.aborted());
            if let Err(error) = self.runtime.block_on(ended) {
                problems.push(format!("{name} {}", with_causes(&error)));
            }
        }
        for url in &config.hook_url {
            let called = call_webhook(url, event, summary, &mut |call| self.call(call));
            problems.extend(called.err().map(|problem| format!("hook_url: {problem}")));
        }
        problems
    }

    /// Writes down what hosts asked to wait for; to be called at the end.
    pub(super) fn settle(&self) {
        self.downloaders.settle(&self.runtime);
    }

    /// The rules in robots.txt of the site at `site` for every crawler.
    fn robots(&mut self, site: &UrlKey) -> Result<Arc<Rules>, DownloadError> {
        let downloader = self
            .downloader_for(site, Guise::Crawler)
            .map_err(DownloadError::Settings)?;
        let origin = site.origin();
        let rules = downloader.robots_as_shown(&origin, &self.shutdown);
        self.wait(rules, DownloadError::Stopped)
    }

    /// Calls a service.
    fn call(&mut self, call: &Call) -> Result<CallAnswer, CallError> {
        let downloader = self
            .downloader_for(&call.url, Guise::Anybody)
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
    fn downloader_for(&mut self, url: &UrlKey, guise: Guise) -> Result<Downloader, ConnectError> {
        let (origin, settings) = (url.origin(), &self.settings);
        self.downloaders.to((origin.clone(), guise), || {
            let mut config = settings.config.clone();
            let fetch = &mut config.fetch;
            fetch.start_host = origin.host.to_string();
            fetch.credential_origins.clear();
            match guise {
                Guise::Anybody => {
                    fetch.headers.clear();
                    fetch.cookies = false;
                    fetch.credentials = None;
                }
                Guise::Crawler => {
                    let own = settings.urls.iter();
                    let own = own.flat_map(|start| with_https_twin(start.origin()));
                    fetch.credential_origins.extend(own);
                }
            }
            config
        })
    }
}

/// Sends the folder of the set to object storage, if that is where readers get it.
fn deliver(
    settings: &Settings,
    standing: &PublishedSet,
    now: Timestamp,
) -> Result<(), PublishError> {
    let mut config = settings.config.publish.clone();
    config.storage.clone_from(&standing.storage);
    if let Some(storage) = Storage::open(&config, &standing.site)? {
        storage.send(Path::new(&standing.output), false, now, None)?;
    }
    Ok(())
}

/// Lines for the user besides the notifications themselves.
pub(super) fn notices(notifications: &Notifications, standing: &PublishedSet) -> Vec<String> {
    let Notifications {
        submitted,
        would_write,
        would_ping,
        ..
    } = notifications;
    let Submitted {
        unchecked,
        resting,
        would_send,
        shown,
        notices,
        ..
    } = submitted;
    let path = would_write.iter().map(|path| path.display());
    let mut lines: Vec<String> = path
        .map(|path| format!("the missing lines would be added to {path}"))
        .chain(notices.iter().cloned())
        .collect();
    if *would_send > 0 {
        let urls = human::count(*would_send, "URL");
        lines.push(format!("IndexNow would be notified of {urls}"));
        lines.extend(shown.iter().map(|line| format!("  {line}")));
        let more = would_send - shown.len() as u64;
        if more > 0 {
            lines.push(format!("  and {} more", human::number(more)));
        }
    }
    if *unchecked > 0 {
        let urls = human::count(*unchecked, "URL");
        lines.push(format!(
            "the engine accepted {urls} and has still to check the key (202)"
        ));
    }
    if *resting > 0 {
        let urls = human::count(*resting, "URL");
        lines.push(format!(
            "{urls} sent less than ten minutes ago; the next notification sends them again"
        ));
    }
    if *would_ping > 0 {
        let engines = human::count(*would_ping, "engine");
        let sitemaps = standing.sitemaps.iter();
        lines.extend(
            sitemaps.map(|sitemap| format!("{engines} would get a request to read {sitemap}")),
        );
    }
    lines
}
