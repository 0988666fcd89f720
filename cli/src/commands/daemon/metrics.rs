//! The metrics of a daemon for Prometheus: what its sessions report while they run, and how they ended. The labels have few
//! values: a class, an outcome, or the name of a site of the settings. Nothing here changes a session.

mod responder;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    fmt,
    net::SocketAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use crawler::{
    clock::Clock,
    driver::{
        AroundFetch, Crawler, ObservedSession, Observer, ServiceManager, SiteSettings,
        site_of_start,
    },
    fetch::{BodySink, BoxFuture, Fetch, FetchError, Fetched, Request},
    politeness::SharedPoliteness,
    site_run::{LastSession, Progress, SessionOutcome},
    summary::Summary,
};
use jiff::Timestamp;
use prometheus_client::{
    encoding::text,
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::{Registry, Unit},
};
use tokio::{sync::watch, task::JoinSet, time::Instant};

use crate::{failure, http, output::Output, settings::CrawlSettings, signal::Stop};

/// The loop of a daemon that hangs: it goes round every minute at least.
const LONGEST_ROUND: Duration = Duration::from_secs(150);

/// Classes of answers; the last one is a request without an answer.
const CLASSES: [&str; 5] = ["2xx", "3xx", "4xx", "5xx", "none"];

/// A label with its value.
type Label = [(&'static str, Cow<'static, str>); 1];

/// The metrics of a daemon. Clones share them.
#[derive(Clone)]
pub(super) struct Metrics {
    shared: Arc<Shared>,
}

/// Answers requests for metrics until it is dropped.
pub(super) struct Responder {
    _tasks: JoinSet<()>,
}

struct Shared {
    numbers: Numbers,
    registry: Registry,
    sites: Mutex<Sites>,
    politeness: SharedPoliteness,
    clock: Arc<dyn Clock>,
    stop: Stop,
    /// The last round of the loop of the daemon.
    round: watch::Receiver<Option<Instant>>,
}

/// The sites that are crawled.
#[derive(Default)]
struct Sites {
    /// Names of those that have a schedule.
    scheduled: BTreeSet<String>,
    /// Sessions that are under way, by the names of their sites.
    running: BTreeMap<String, RunningSession>,
}

/// A session that is under way.
struct RunningSession {
    newest: watch::Receiver<Progress>,
    /// Numbers that are counted already.
    pages: u64,
    bytes: u64,
}

/// The numbers as Prometheus gets them.
#[derive(Default)]
struct Numbers {
    pages: Counter,
    received: Counter,
    answers: Family<Label, Counter>,
    waits: Counter<f64, AtomicU64>,
    in_flight: Gauge,
    pace: Gauge<f64, AtomicU64>,
    queued: Gauge,
    sessions: Family<Label, Counter>,
    last_publish: Family<Label, Gauge>,
    served: Family<Label, Gauge>,
    google: GoogleNumbers,
    scheduled: Gauge,
    running: Gauge,
    lost_leases: Counter,
    /// 0: the storage of a worker cannot be worked with.
    storage_ready: Gauge,
}

/// What Google has of the sets.
#[derive(Default)]
struct GoogleNumbers {
    read: Family<Label, Gauge>,
    errors: Family<Label, Gauge>,
}

impl Numbers {
    /// All of them at zero.
    fn new() -> Self {
        let numbers = Self::default();
        // A counter that appears with its first event shows no increase.
        for class in CLASSES {
            drop(numbers.answers.get_or_create(&status(class)));
        }
        for outcome in SessionOutcome::ALL {
            drop(numbers.sessions.get_or_create(&ended_as(outcome)));
        }
        numbers.storage_ready.set(1);
        numbers
    }

    fn registry(&self) -> Registry {
        let mut registry = Registry::with_prefix("arpent");
        registry.register(
            "pages",
            "Fetched pages, further tries not counted",
            self.pages.clone(),
        );
        registry.register_with_unit(
            "received",
            "Bytes of pages as they came over the wire",
            Unit::Bytes,
            self.received.clone(),
        );
        registry.register(
            "answers",
            "Requests of crawls by the class of the status, or none without an answer",
            self.answers.clone(),
        );
        registry.register_with_unit(
            "politeness_waits",
            "Time in which no request could start, because of Retry-After and of pauses after failures",
            Unit::Seconds,
            self.waits.clone(),
        );
        registry.register(
            "requests_in_flight",
            "Requests in flight",
            self.in_flight.clone(),
        );
        registry.register(
            "pace_requests_per_second",
            "Requests per second that the running crawls may send now",
            self.pace.clone(),
        );
        registry.register(
            "queued_urls",
            "URLs that wait in the running crawls",
            self.queued.clone(),
        );
        registry.register(
            "sessions",
            "Ended sessions by outcome",
            self.sessions.clone(),
        );
        registry.register_with_unit(
            "site_last_publish_timestamp",
            "End of the last session of a site whose set is published, also unchanged or partial",
            Unit::Seconds,
            self.last_publish.clone(),
        );
        registry.register(
            "site_served",
            "1: readers get the published set of a site, and robots.txt names it; 0: not",
            self.served.clone(),
        );
        registry.register(
            "site_google_read_timestamp_seconds",
            "When Google read the set of a site last; of several indexes the one that waits longest; 0: never",
            self.google.read.clone(),
        );
        registry.register(
            "site_google_errors",
            "Errors that Google found in the set of a site",
            self.google.errors.clone(),
        );
        registry.register(
            "sites_scheduled",
            "Sites with a schedule",
            self.scheduled.clone(),
        );
        registry.register(
            "sites_running",
            "Sites that are being crawled",
            self.running.clone(),
        );
        #[cfg(feature = "catalogue")]
        registry.register(
            "lost_leases",
            "Leases on hosts that ended before the hosts were given back",
            self.lost_leases.clone(),
        );
        #[cfg(feature = "catalogue")]
        registry.register(
            "storage_ready",
            "1: the storage of the states can be worked with; 0: the worker claims no hosts",
            self.storage_ready.clone(),
        );
        registry
    }
}

fn status(class: &'static str) -> Label {
    [("status", class.into())]
}

fn ended_as(outcome: SessionOutcome) -> Label {
    [("outcome", outcome.as_str().into())]
}

fn of_site(name: &str) -> Label {
    [("site", name.to_owned().into())]
}

impl Metrics {
    /// The metrics of a daemon with the sites of `settings`, which `crawler` crawls and whose loop reports to `service`.
    pub(super) fn new(
        settings: &CrawlSettings,
        crawler: &Crawler,
        service: &ServiceManager,
    ) -> Self {
        let numbers = Numbers::new();
        let metrics = Self {
            shared: Arc::new(Shared {
                registry: numbers.registry(),
                numbers,
                sites: Mutex::default(),
                politeness: Arc::clone(&crawler.politeness),
                clock: Arc::clone(&crawler.clock),
                stop: crawler.stop.clone(),
                round: service.rounds(),
            }),
        };
        metrics.take_settings(settings);
        metrics
    }

    /// The metrics that `settings` ask for, with a crawler that counts for them, and what answers requests until it is dropped.
    ///
    /// # Errors
    /// See [`Metrics::serve`].
    pub(super) async fn begin_for(
        settings: &CrawlSettings,
        crawler: Crawler,
        service: &ServiceManager,
        output: &Output,
    ) -> failure::Result<(Crawler, Option<Self>, Option<Responder>)> {
        let Some(address) = settings.shared.metrics else {
            return Ok((crawler, None, None));
        };
        let metrics = Self::new(settings, &crawler, service);
        let responder = metrics.serve(address, output).await?;
        let around_fetch = Some(metrics.around_fetch());
        let crawler = Crawler {
            around_fetch,
            ..crawler
        };
        Ok((crawler, Some(metrics), Some(responder)))
    }

    /// Answers requests at `address` until the result is dropped.
    ///
    /// # Errors
    /// The address cannot be used.
    pub(super) async fn serve(
        &self,
        address: SocketAddr,
        output: &Output,
    ) -> failure::Result<Responder> {
        let listener = http::listen(address, "metrics", "--metrics ADDR").await?;
        let address = listener.local_addr()?;
        output.info(&format!("metrics: http://{address}/metrics"));
        let mut tasks = JoinSet::new();
        tasks.spawn(responder::serve(listener, self.clone()));
        Ok(Responder { _tasks: tasks })
    }

    /// Takes the sites of new settings. It reads the file of the last session of each new site.
    pub(super) fn take_settings(&self, settings: &CrawlSettings) {
        let scheduled = settings.sites.iter();
        let scheduled = scheduled.filter(|site| site.schedule.is_some());
        let names: BTreeSet<_> = scheduled.clone().map(|site| site.name.clone()).collect();
        let before = std::mem::replace(&mut self.sites().scheduled, names.clone());
        let last_publish = &self.shared.numbers.last_publish;
        for gone in before.difference(&names) {
            last_publish.remove(&of_site(gone));
            let numbers = &self.shared.numbers;
            for gauge in [
                &numbers.served,
                &numbers.google.read,
                &numbers.google.errors,
            ] {
                gauge.remove(&of_site(gone));
            }
        }
        for site in scheduled.filter(|site| !before.contains(&site.name)) {
            let Some(time) = last_good(site) else {
                continue;
            };
            // A session may have ended meanwhile.
            let _sites = self.sites();
            let label = of_site(&site.name);
            let is_known = last_publish.get(&label).is_some();
            if !is_known {
                last_publish.get_or_create(&label).set(time.as_second());
            }
        }
    }

    /// What counts the answers to the requests of sessions.
    pub(super) fn around_fetch(&self) -> AroundFetch {
        let answers = self.shared.numbers.answers.clone();
        Arc::new(move |fetch| {
            let answers = answers.clone();
            Arc::new(CountedFetch { fetch, answers })
        })
    }

    fn ended(&self, name: &str, outcome: SessionOutcome) {
        let numbers = &self.shared.numbers;
        let mut sites = self.sites();
        if let Some(mut session) = sites.running.remove(name) {
            session.count(numbers);
        }
        numbers.sessions.get_or_create(&ended_as(outcome)).inc();
        if outcome.is_good() && sites.scheduled.contains(name) {
            let now = self.shared.clock.now().as_second();
            numbers.last_publish.get_or_create(&of_site(name)).set(now);
        }
    }

    /// The metrics as text for Prometheus.
    fn text(&self) -> Result<String, fmt::Error> {
        let numbers = &self.shared.numbers;
        {
            let mut sites = self.sites();
            let (mut queued, mut pace) = (0, 0.0);
            for session in sites.running.values_mut() {
                let progress = session.count(numbers);
                queued += progress.queued;
                pace += progress.pace.map_or(0.0, |pace| pace.as_secs_f64().recip());
            }
            numbers.queued.set(gauge(queued));
            numbers.pace.set(pace);
            numbers.running.set(gauge(sites.running.len() as u64));
            numbers.scheduled.set(gauge(sites.scheduled.len() as u64));
            let clocks = self.shared.politeness.lock();
            // The numbers stay valid when another thread panicked.
            let clocks = clocks.unwrap_or_else(PoisonError::into_inner);
            numbers.in_flight.set(clocks.in_flight().into());
            // A sum that only grows.
            let waited = clocks.waited().as_secs_f64().to_bits();
            numbers.waits.inner().store(waited, Ordering::Relaxed);
        }
        let mut encoded = String::new();
        text::encode(&mut encoded, &self.shared.registry)?;
        Ok(encoded)
    }

    /// Returns whether the loop of the daemon goes round.
    fn is_alive(&self) -> bool {
        let round = *self.shared.round.borrow();
        round.is_some_and(|round| round.elapsed() < LONGEST_ROUND)
    }

    /// Returns whether the daemon starts the sessions that are due.
    fn is_ready(&self) -> bool {
        self.is_alive()
            && self.shared.stop.asked_by().is_none()
            && self.shared.numbers.storage_ready.get() != 0
    }

    fn sites(&self) -> MutexGuard<'_, Sites> {
        let sites = self.shared.sites.lock();
        // The numbers stay valid when another thread panicked.
        sites.unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Metrics {
    fn begin(&self, name: &str, newest: watch::Receiver<Progress>) -> Box<dyn ObservedSession> {
        let session = RunningSession {
            newest,
            pages: 0,
            bytes: 0,
        };
        self.sites().running.insert(name.to_owned(), session);
        Box::new(CountedSession {
            metrics: self.clone(),
            name: name.to_owned(),
            outcome: SessionOutcome::Internal,
        })
    }

    fn take_summary(&self, name: &str, summary: &Summary) {
        let (numbers, label) = (&self.shared.numbers, of_site(name));
        if let Some(served) = summary.served() {
            let gauge = numbers.served.get_or_create(&label);
            gauge.set(served.is_served().into());
        }
        if let Some(google) = summary.google() {
            let sitemaps = google.sitemaps.iter();
            let read = sitemaps.clone().map(|sitemap| sitemap.read_at).min();
            let read = read.flatten().map_or(0, Timestamp::as_second);
            numbers.google.read.get_or_create(&label).set(read);
            let errors: u64 = sitemaps.map(|sitemap| sitemap.errors).sum();
            let errors = i64::try_from(errors).unwrap_or(i64::MAX);
            numbers.google.errors.get_or_create(&label).set(errors);
        }
    }

    fn lease_lost(&self) {
        self.shared.numbers.lost_leases.inc();
    }

    fn set_storage(&self, is_ready: bool) {
        self.shared.numbers.storage_ready.set(is_ready.into());
    }
}

impl RunningSession {
    /// Counts what is new since the last call; returns the progress.
    fn count(&mut self, numbers: &Numbers) -> Progress {
        let progress = self.newest.borrow().clone();
        // A session whose state turned out to be damaged begins again at zero.
        let new = |now: u64, before: u64| now.checked_sub(before).unwrap_or(now);
        numbers.pages.inc_by(new(progress.fetched, self.pages));
        numbers.received.inc_by(new(progress.bytes_in, self.bytes));
        (self.pages, self.bytes) = (progress.fetched, progress.bytes_in);
        progress
    }
}

/// A session that is counted until this is dropped: as ended by a bug, unless its end is set.
struct CountedSession {
    metrics: Metrics,
    name: String,
    outcome: SessionOutcome,
}

impl ObservedSession for CountedSession {
    fn end(mut self: Box<Self>, outcome: SessionOutcome) {
        self.outcome = outcome;
    }
}

impl Drop for CountedSession {
    fn drop(&mut self) {
        self.metrics.ended(&self.name, self.outcome);
    }
}

/// Counts the answers that another [`Fetch`] gets.
struct CountedFetch {
    fetch: Arc<dyn Fetch>,
    answers: Family<Label, Counter>,
}

impl Fetch for CountedFetch {
    fn fetch<'a>(
        &'a self,
        request: &'a Request,
        sink: &'a mut (dyn BodySink + Send),
    ) -> BoxFuture<'a, Result<Fetched, FetchError>> {
        Box::pin(async move {
            let result = self.fetch.fetch(request, sink).await;
            let class = class_of(result.as_ref().ok().map(|fetched| fetched.head.status));
            self.answers.get_or_create(&status(class)).inc();
            result
        })
    }

    fn network(&self) -> Option<&'static str> {
        self.fetch.network()
    }
}

/// The class of an answer with this status, from 200 to 599.
fn class_of(status: Option<u16>) -> &'static str {
    let [success, redirect, client_error, server_error, none] = CLASSES;
    match status {
        Some(..=299) => success,
        Some(300..=399) => redirect,
        Some(400..=499) => client_error,
        Some(500..) => server_error,
        None => none,
    }
}

/// A number as the value of a gauge.
fn gauge(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// End of the last good session of `site`, if its file can be read. `arpent status` reports why it cannot.
fn last_good(site: &SiteSettings) -> Option<Timestamp> {
    let named = site_of_start(&site.settings, &site.start).ok()?;
    let path = site.settings.last_session_of(&named.site);
    LastSession::read(&path).ok()??.last_good
}

#[cfg(test)]
mod tests {
    use crawler::{config::PolitenessConfig, politeness::Politeness, testing::TestClock};

    use super::*;

    /// The metrics of a daemon whose loop goes round by `round`.
    pub(super) fn metrics_of(round: watch::Receiver<Option<Instant>>, stop: &Stop) -> Metrics {
        let numbers = Numbers::new();
        let politeness = Politeness::new(&PolitenessConfig::default());
        Metrics {
            shared: Arc::new(Shared {
                registry: numbers.registry(),
                numbers,
                sites: Mutex::default(),
                politeness: Arc::new(Mutex::new(politeness)),
                clock: Arc::new(TestClock::starting_at(Timestamp::UNIX_EPOCH)),
                stop: stop.clone(),
                round,
            }),
        }
    }

    #[test]
    fn a_session_that_begins_again_is_counted_on() {
        let (_, round) = watch::channel(None);
        let metrics = metrics_of(round, &Stop::default());
        let (progress, newest) = watch::channel(Progress::default());
        let session = metrics.begin("docs", newest);
        let pages = &metrics.shared.numbers.pages;
        for (fetched, expected) in [(5, 5), (5, 5), (7, 7), (2, 9)] {
            let queued = 3;
            progress.send_replace(Progress {
                fetched,
                queued,
                ..Progress::default()
            });
            let text = metrics.text().unwrap();
            assert!(text.contains("\narpent_queued_urls 3\n"), "{text}");
            assert_eq!(pages.get(), expected);
        }
        progress.send_modify(|progress| progress.fetched = 4);
        session.end(SessionOutcome::Refused);
        assert_eq!(pages.get(), 11);
        drop(metrics.begin("docs", progress.subscribe()));
        let text = metrics.text().unwrap();
        for line in [
            "arpent_queued_urls 0",
            "arpent_sites_running 0",
            "arpent_sessions_total{outcome=\"refused\"} 1",
            "arpent_sessions_total{outcome=\"internal\"} 1",
            "arpent_sessions_total{outcome=\"published\"} 0",
        ] {
            assert!(text.contains(&format!("\n{line}\n")), "{line}: {text}");
        }
    }

    #[test]
    fn answers_are_counted_by_class() {
        let classes = [
            Some(200),
            Some(299),
            Some(304),
            Some(404),
            Some(503),
            Some(599),
            None,
        ];
        assert_eq!(
            classes.map(class_of),
            ["2xx", "2xx", "3xx", "4xx", "5xx", "5xx", "none"]
        );
    }
}
