//! The daemon's loop under a paused clock: days of schedules with sessions that only take time.

use std::{
    collections::VecDeque,
    future::pending,
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use clap::Parser as _;
use crawler::{
    driver::{SiteResult, SiteSettings},
    export::{ExtensionCounts, KindCounts},
    failure::Failure,
    served::ServedReport,
    site_run::{Pause, Pauses, SessionOutcome, change_pauses},
    summary::Summary,
    testing::TestClock,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use tempfile::TempDir;
use tokio::time::{Instant, sleep, sleep_until};

use super::*;
use crate::{
    args::{Args, Command},
    exit_code::ExitCode,
    settings::CrawlSettings,
    signal::{SignalRequest, StopSignal},
};

const MINUTE: Duration = Duration::from_secs(60);

/// Above the sites: nobody reads what is said.
const SHARED: &str = "time_zone = \"Europe/Paris\"\n";

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// A table of the site `name` on a host.
fn site(name: &str, host: &str, schedule: &str) -> String {
    format!(
        "[[site]]\nurl = \"https://{host}/{name}/\"\nname = \"{name}\"\nschedule = \"{schedule}\"\n"
    )
}

/// An event during the run of a daemon.
enum Happening {
    /// The file is another one, and SIGHUP.
    Reload(String),
    Signal(StopSignal),
    /// Somebody pauses a site, or resumes it.
    Pause(&'static str, bool),
    /// Somebody sets the clock of the machine forward by so many hours, or back.
    Jump(i64),
}

/// A clock that somebody may set.
struct SetClock {
    clock: TestClock,
    hours_ahead: Arc<AtomicI64>,
}

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        let ahead = self.hours_ahead.load(Ordering::SeqCst);
        self.clock.now() + SignedDuration::from_hours(ahead)
    }
}

/// A folder for what is kept, and sites of which each takes its time.
struct Bench {
    state: TempDir,
    file: String,
    takes: fn(&str) -> Duration,
    /// Whether a run ends when it is asked to.
    obeys: bool,
}

/// The result of a daemon.
#[derive(Debug)]
struct Did {
    code: ExitCode,
    /// When which run began, in order.
    began: Vec<String>,
    /// How long the daemon was there.
    lasted: Duration,
}

fn load(file: &str, state: &Path) -> Result<DaemonSettings, Failure> {
    let line = ["arpent", "daemon", "--config", "config.toml", "--state"];
    let line = line.into_iter().chain(state.to_str());
    let Command::Daemon(args) = Args::try_parse_from(line).unwrap().command else {
        panic!("`arpent daemon` was typed");
    };
    let typed = args.settings.0;
    let read = |_: &Path| Ok(file.to_owned().into());
    let loaded = CrawlSettings::load(Purpose::Daemon, typed, &Environment::new(), read);
    Ok(settings_of(&loaded?))
}

impl Bench {
    fn new(sites: &[String], takes: fn(&str) -> Duration) -> Self {
        Self {
            state: tempfile::tempdir().unwrap(),
            file: format!("{SHARED}{}", sites.concat()),
            takes,
            obeys: true,
        }
    }

    /// A daemon from the time `from` on, to whom something happens after so many minutes each.
    async fn run(&self, from: &str, happenings: Vec<(u64, Happening)>) -> Did {
        let began = Instant::now();
        let hours_ahead = Arc::new(AtomicI64::new(0));
        let clock: Arc<dyn Clock> = Arc::new(SetClock {
            clock: TestClock::starting_at(at(from)),
            hours_ahead: Arc::clone(&hours_ahead),
        });
        let file = Arc::new(Mutex::new(self.file.clone()));
        let settings = load(&self.file, self.state.path()).unwrap();
        let output = Output::new(&Environment::new(), crate::args::ColorChoice::Never);
        output.be_quiet();
        let stop = Stop::default();
        let (read, state) = (Arc::clone(&file), self.state.path().to_owned());
        let dependencies = DaemonParts {
            board: Arc::new(Board::new(usize::MAX, &output)),
            output: output.messenger(),
            clock: Arc::clone(&clock),
            stop: stop.clone(),
            politeness: Arc::new(Mutex::new(Politeness::new(&settings.politeness))),
            service: ServiceManager::default(),
            load: Arc::new(move || {
                let file = read.lock().unwrap_or_else(PoisonError::into_inner);
                load(&file, &state)
            }),
        };
        let table = Arc::new(Mutex::new(Vec::new()));
        let record = read_schedules(self.state.path()).unwrap();
        let (takes, obeys) = (self.takes, self.obeys);
        let dispatcher = Dispatcher::new(dependencies, &settings, record, |work, site, _, part| {
            let what = match work {
                DaemonWork::Crawl => "",
                DaemonWork::Publish => " published",
                DaemonWork::Look => " looked",
            };
            let line = format!("{:.0} {}{what}", clock.now(), site.name);
            table.lock().unwrap().push(line);
            let clock = Arc::clone(&clock);
            let looks = table.lock().unwrap().len();
            let takes = takes(&site.name);
            let news = (site.name == "news" && work == DaemonWork::Crawl).then(|| KindCounts {
                changes_at: Some(clock.now() + SignedDuration::from_hours(30)),
                ..KindCounts::default()
            });
            async move {
                let mut run = pretend(&site, takes, obeys.then_some(&part)).await;
                let extensions = ExtensionCounts::default();
                (run.summary).set_extensions(ExtensionCounts { news, ..extensions });
                let served = (site.name == "stale").then(|| served(looks, clock.now()));
                run.summary.set_served(served);
                run
            }
        });
        let mut happenings: VecDeque<_> = happenings.into();
        let code = dispatcher
            .run(async || {
                loop {
                    let Some((minutes, _)) = happenings.front() else {
                        return pending().await;
                    };
                    sleep_until(began + MINUTE * u32::try_from(*minutes).unwrap()).await;
                    let (_, happening) = happenings.pop_front().unwrap();
                    match happening {
                        Happening::Reload(text) => {
                            *file.lock().unwrap() = text;
                            return SignalRequest::Reload;
                        }
                        Happening::Signal(signal) => return SignalRequest::Stop(signal),
                        Happening::Pause(name, is_paused) => {
                            let edit = |pauses: &mut Pauses| {
                                pauses.remove(name);
                                let pause = is_paused.then(|| (name.to_owned(), Pause::default()));
                                pauses.extend(pause);
                            };
                            change_pauses(self.state.path(), clock.now(), edit).unwrap();
                        }
                        Happening::Jump(hours) => {
                            hours_ahead.fetch_add(hours, Ordering::SeqCst);
                        }
                    }
                }
            })
            .await;
        let began_at = table.lock().unwrap().clone();
        Did {
            code,
            began: began_at,
            lasted: began.elapsed(),
        }
    }

    /// The same until SIGTERM comes.
    async fn run_for(&self, from: &str, minutes: u64) -> Did {
        self.run(from, vec![(minutes, terminate())]).await
    }

    /// Checks the sessions that begin until SIGTERM comes after so many minutes.
    async fn check(&self, from: &str, minutes: u64, began: &[&str]) {
        let did = self.run_for(from, minutes).await;
        assert_eq!(did.began, began, "{from}");
        assert_eq!(did.code, ExitCode::Terminated, "{from}");
    }
}

fn terminate() -> Happening {
    Happening::Signal(StopSignal::Terminate)
}

/// What is served of a set that takes until the fourth look to be served.
fn served(looks: usize, now: Timestamp) -> ServedReport {
    let is_served = looks > 3;
    let report = json!({
        "set": "a",
        "serving": if is_served { "served" } else { "missing" },
        "looked_at": now,
        "files": 1,
        "faults": [],
        "not_served_since": null,
        "looks": if is_served { 0 } else { looks },
        "read_until": null,
    });
    serde_json::from_value(report).unwrap()
}

/// A run that takes its time, unless it obeys a stop.
async fn pretend(site: &SiteSettings, takes: Duration, stop: Option<&Stop>) -> SiteResult {
    let mut summary = Summary::new(site.start.as_str());
    let ends = Instant::now() + takes;
    while Instant::now() < ends {
        if stop.is_some_and(|stop| stop.shutdown.is_stopping()) {
            summary.outcome = SessionOutcome::Interrupted;
            let code = ExitCode::Interrupted;
            return SiteResult {
                summary,
                code,
                error: None,
            };
        }
        sleep(Duration::from_secs(1).min(ends - Instant::now())).await;
    }
    summary.outcome = SessionOutcome::Published;
    let code = ExitCode::Success;
    SiteResult {
        summary,
        code,
        error: None,
    }
}

#[tokio::test]
async fn hanging_settings_file_delays_no_signal() {
    let folder = tempfile::tempdir().unwrap();
    let file = format!("{SHARED}{}", site("a", "a.example", "@yearly"));
    let settings = load(&file, folder.path()).unwrap();
    let output = Output::new(&Environment::new(), crate::args::ColorChoice::Never);
    output.be_quiet();
    let (release, hangs) = std::sync::mpsc::channel::<()>();
    let hangs = Mutex::new(hangs);
    let state = folder.path().to_owned();
    let dependencies = DaemonParts {
        board: Arc::new(Board::new(usize::MAX, &output)),
        output: output.messenger(),
        clock: Arc::new(TestClock::starting_at(at("2026-03-01T12:00:00Z"))),
        stop: Stop::default(),
        politeness: Arc::new(Mutex::new(Politeness::new(&settings.politeness))),
        service: ServiceManager::default(),
        load: Arc::new(move || {
            // Until the test is over.
            let _ = hangs.lock().unwrap().recv();
            load("", &state)
        }),
    };
    let dispatcher = Dispatcher::new(
        dependencies,
        &settings,
        ScheduleRecord::default(),
        |_, site, _, _| async move { pretend(&site, MINUTE, None).await },
    );
    let mut signals = VecDeque::from([
        SignalRequest::Reload,
        SignalRequest::Reload,
        SignalRequest::Stop(StopSignal::Terminate),
    ]);
    let code = dispatcher
        .run(async || match signals.pop_front() {
            Some(asked) => asked,
            None => pending().await,
        })
        .await;
    assert_eq!(code, ExitCode::Terminated);
    assert!(
        read_schedules(folder.path()).is_ok(),
        "what was done is kept"
    );
    drop(release);
}

fn takes(name: &str) -> Duration {
    match name {
        "long" => 130 * MINUTE,
        "weekly" => 30 * MINUTE,
        _ => 10 * MINUTE,
    }
}

#[tokio::test(start_paused = true)]
async fn ageing_set_is_published_without_a_crawl() {
    let sites = [
        site("news", "a.example", "0 3 * * SUN"),
        site("other", "b.example", "0 3 * * SUN"),
    ];
    let bench = Bench::new(&sites, takes);
    let began = ["2026-06-07T01:00:00Z news", "2026-06-07T01:00:00Z other"];
    bench.check("2026-06-06T23:30:00Z", 24 * 60, &began).await;
    // The next daemon knows when.
    let began = ["2026-06-08T07:00:00Z news published"];
    bench.check("2026-06-08T00:00:00Z", 24 * 60, &began).await;
    assert!(
        read_schedules(bench.state.path())
            .unwrap()
            .publish_at
            .is_empty()
    );
}

#[tokio::test(start_paused = true)]
async fn a_set_that_is_not_served_is_looked_at_again() {
    let stale = site("stale", "a.example", "0 3 * * SUN");
    let bench = Bench::new(std::slice::from_ref(&stale), takes);
    let began = [
        "2026-06-07T01:00:00Z stale",
        "2026-06-07T01:20:00Z stale looked",
        "2026-06-07T02:30:00Z stale looked",
        "2026-06-07T08:40:00Z stale looked",
        "2026-06-08T08:50:00Z stale looked",
    ];
    bench.check("2026-06-06T23:30:00Z", 34 * 60, &began).await;
    // The next daemon knows when; one that does not look forgets it.
    let look_at = || read_schedules(bench.state.path()).unwrap().look_at;
    assert_eq!(look_at()["stale"], at("2026-06-09T09:00:00Z"));
    let bench = Bench {
        file: format!("notify.check_served = false\n{SHARED}{stale}"),
        ..bench
    };
    bench.check("2026-06-09T00:00:00Z", 24 * 60, &[]).await;
}

#[tokio::test(start_paused = true)]
async fn sites_come_and_go_by_a_reload() {
    let [long, a, b] = [
        site("long", "a.example", "0 3 * * *"),
        site("a", "b.example", "30 3 * * *"),
        site("b", "c.example", "45 3 * * *"),
    ];
    let bench = Bench::new(&[long, a.clone()], takes);
    // The run of 03:00 goes on; its site is gone, and another one is there.
    let file = format!("{SHARED}{a}{b}");
    let happenings = vec![(70, Happening::Reload(file)), (26 * 60, terminate())];
    let did = bench.run("2026-06-01T00:00:00Z", happenings).await;
    assert_eq!(
        did.began,
        [
            "2026-06-01T01:00:00Z long",
            "2026-06-01T01:30:00Z a",
            "2026-06-01T01:45:00Z b",
            "2026-06-02T01:30:00Z a",
            "2026-06-02T01:45:00Z b",
        ]
    );
    let known: Vec<_> = read_schedules(bench.state.path())
        .unwrap()
        .sites
        .into_keys()
        .collect();
    assert_eq!(known, ["a", "b"]);
}

#[tokio::test(start_paused = true)]
async fn a_paused_site_stops_and_goes_on() {
    let sites = [
        site("long", "a.example", "0 3 * * *"),
        site("a", "b.example", "30 4 * * *"),
    ];
    let bench = Bench::new(&sites, takes);
    let happenings = vec![
        (70, Happening::Pause("long", true)),
        (100, Happening::Pause("a", true)),
        (240, Happening::Pause("long", false)),
        (24 * 60 + 10, terminate()),
    ];
    let did = bench.run("2026-06-01T00:00:00Z", happenings).await;
    let minutes: Vec<_> = did
        .began
        .iter()
        .map(|line| line.replace(":00Z", "Z"))
        .collect();
    // The session of 03:00 stopped, and goes on within a minute after the pause.
    assert_eq!(minutes.len(), 2, "{minutes:?}");
    assert_eq!(minutes[0], "2026-06-01T01:00Z long");
    let (time, name) = did.began[1].split_once(' ').unwrap();
    let late = at(time).duration_since(at("2026-06-01T04:00:00Z"));
    assert_eq!(name, "long");
    assert!(
        late >= SignedDuration::ZERO && late <= SignedDuration::from_mins(1),
        "{did:?}"
    );
    // The pause outlasts the daemon.
    let began = ["2026-06-02T02:00:00Z long"];
    bench.check("2026-06-02T02:00:00Z", 180, &began).await;
    change_pauses(
        bench.state.path(),
        at("2026-06-02T05:00:00Z"),
        Pauses::clear,
    )
    .unwrap();
    let began = ["2026-06-02T05:10:00Z a"];
    bench.check("2026-06-02T05:10:00Z", 30, &began).await;
}

#[tokio::test(start_paused = true)]
async fn stop_waits_for_a_bounded_time() {
    let mut bench = Bench::new(&[site("long", "a.example", "0 3 * * *")], takes);
    bench.obeys = false;
    let did = bench.run_for("2026-06-01T00:00:00Z", 90).await;
    let stop_timeout = Duration::from_secs(9);
    assert_eq!(did.lasted, 90 * MINUTE + stop_timeout);
    assert_eq!(did.code, ExitCode::Terminated);
    // As after a crash.
    bench.obeys = true;
    bench
        .check("2026-06-01T01:35:00Z", 10, &["2026-06-01T01:35:00Z long"])
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_third_signal_waits_for_nothing() {
    let mut bench = Bench::new(&[site("long", "a.example", "0 3 * * *")], takes);
    bench.obeys = false;
    bench.file = format!("run.stop_timeout = \"1h\"\n{}", bench.file);
    let interrupt = || Happening::Signal(StopSignal::Interrupt);
    let happenings = vec![(90, interrupt()), (92, terminate()), (95, interrupt())];
    let did = bench.run("2026-06-01T00:00:00Z", happenings).await;
    assert_eq!(did.lasted, 95 * MINUTE);
    assert_eq!(did.code, ExitCode::Interrupted, "the first one counts");
}

#[tokio::test(start_paused = true)]
async fn set_clock_is_noticed_within_a_minute() {
    let bench = Bench::new(&[site("a", "a.example", "0 3 * * *")], takes);
    // Forward over the run, while nothing is waited for but that: it is made up.
    let happenings = vec![
        (10, Happening::Jump(5)),
        // And back: it is not done twice.
        (60, Happening::Jump(-5)),
        (180, terminate()),
    ];
    let did = bench.run("2026-06-01T00:00:00Z", happenings).await;
    assert_eq!(did.began.len(), 1, "{did:?}");
    let (time, _) = did.began[0].split_once(' ').unwrap();
    let late = at(time).duration_since(at("2026-06-01T05:10:00Z"));
    assert!(
        late >= SignedDuration::ZERO && late <= SignedDuration::from_mins(1),
        "{did:?}"
    );
}
