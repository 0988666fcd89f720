//! A fleet: the servers that it needs, its workers as processes that are killed, frozen and stopped, and the settings of its sites.

use std::{
    fmt::Write as _,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant, SystemTime},
};

use tempfile::TempDir;

use super::{
    storage::{Proxy, SETS, STATES},
    web::{WORKER, Web, WebSite},
};
use crate::{
    cloud::{Moto, keys},
    support::{
        postgres::Postgres,
        program::{Ran, arpent},
    },
};

/// Options of every worker.
pub(super) const LEASE: Duration = Duration::from_secs(3);
pub(super) const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(2);

/// The variable with the header of a worker: the settings in the catalogue name it as the place of a secret, so it is the one thing
/// in which the requests of two workers differ.
pub(super) const WORKER_VARIABLE: &str = "FLEET_WORKER";

/// Time between two looks at what a test waits for.
const LOOK: Duration = Duration::from_millis(50);

/// Lines of the log of each worker in a message.
const TAIL: usize = 12;

/// A worker.
pub(super) struct Worker {
    /// As in the log of the hosts.
    pub(super) name: String,
    /// The end of its name in the catalogue.
    pub(super) id: u32,
    child: Child,
    log: PathBuf,
    /// Whether the worker may end, or has ended.
    is_dismissed: bool,
}

impl Worker {
    /// Sends a signal by its name.
    pub(super) fn signal(&self, name: &str) {
        let mut command = Command::new("kill");
        let sent = command
            .args([format!("-{name}"), self.id.to_string()])
            .status();
        assert!(sent.expect("kill is installed").success(), "{}", self.name);
    }
}

/// A session in the catalogue.
#[derive(Debug, Clone)]
pub(super) struct Session {
    /// Name of the site, and its host.
    pub(super) site: String,
    pub(super) domain: String,
    /// Name of the worker in the log of the hosts.
    pub(super) worker: String,
    pub(super) epoch: u64,
    pub(super) began: Instant,
    /// Empty: it has not ended.
    pub(super) outcome: String,
}

/// The fleet. Workers end before the servers.
pub(super) struct Fleet {
    pub(super) workers: Vec<Worker>,
    pub(super) web: Web,
    pub(super) proxy: Proxy,
    pub(super) moto: Moto,
    pub(super) postgres: Postgres,
    folder: TempDir,
    /// Least pause between two requests to a host.
    pub(super) delay: Duration,
}

impl Drop for Fleet {
    fn drop(&mut self) {
        for worker in &mut self.workers {
            drop(worker.child.kill());
            drop(worker.child.wait());
        }
    }
}

impl Fleet {
    /// The servers, and a catalogue in which all sites are due; `None`: a server is not installed.
    pub(super) fn prepare(sites: Vec<WebSite>, delay_ms: u64) -> Option<Self> {
        let postgres = Postgres::start()?;
        let moto = Moto::start(&[SETS, STATES])?;
        let fleet = Self {
            workers: Vec::new(),
            web: Web::serve(sites),
            proxy: Proxy::before(&moto),
            moto,
            postgres,
            folder: tempfile::tempdir().expect("a temporary folder"),
            delay: Duration::from_millis(delay_ms),
        };
        let pace = format!("concurrency = 1\ndelay = \"{delay_ms}ms\"");
        let in_bucket =
            |name: &str| format!("output = \"s3://{SETS}/{name}\"\nobject_acl = \"public-read\"");
        let settings = fleet.settings(&pace, in_bucket);
        fs::write(fleet.path().join("sites.toml"), settings).expect("it can be written");
        fleet.catalogue(&["init"]);
        fleet.catalogue(&["import", "sites.toml"]);
        let names: Vec<&str> = fleet.web.sites.iter().map(|site| &*site.name).collect();
        fleet.catalogue(&[&["run-now"], &*names].concat());
        let due = fleet
            .postgres
            .value("SELECT count(*) FROM site WHERE next_run <= now()");
        assert_eq!(due, names.len().to_string(), "sites that are due at first");
        Some(fleet)
    }

    /// The folder of all files.
    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A settings file with all sites; `pace` is their politeness, `output` the settings of the output of a site.
    pub(super) fn settings(&self, pace: &str, output: impl Fn(&str) -> String) -> String {
        let mut text = "max_sites = 8\n".to_owned();
        for site in &self.web.sites {
            let (name, domain, port) = (&site.name, site.domain(), self.web.server.port());
            let (output, directory) = (output(name), &site.directory);
            write!(
                text,
                "[[site]]\nname = \"{name}\"\nurl = \"http://{domain}:{port}{directory}\"\n[site.output]\n{output}\n[site.discovery]\ndiscover = [\"links\"]\n\
                 [site.politeness]\nrate = \"unlimited\"\n{pace}\n\
                 [site.requests]\nheader = [{{ variable = \"{WORKER_VARIABLE}\" }}]\nresolve = [\"{domain}:{port}:127.0.0.1\"]\n"
            )
            .expect("a string can be written");
        }
        text
    }

    /// A command whose requests have the name `worker`.
    pub(super) fn command(&self, worker: &str, arguments: &[&str]) -> Command {
        let mut command = arpent(self.path());
        command.args(arguments).envs(keys(self.proxy.port));
        command.envs([
            (WORKER_VARIABLE, format!("{WORKER}: {worker}")),
            ("ARPENT_CATALOGUE", self.postgres.url()),
        ]);
        command
    }

    /// Runs `arpent catalogue`.
    #[track_caller]
    pub(super) fn catalogue(&self, arguments: &[&str]) -> Ran {
        let arguments = [&["catalogue"], arguments].concat();
        Ran::of(self.command("catalogue", &arguments)).expect_code(0)
    }

    /// Starts a worker with a state folder of its own; returns its place among the workers.
    pub(super) fn start_worker(&mut self, max_sites: usize) -> usize {
        let name = format!("w{}", self.workers.len() + 1);
        let folder = self.path().join(&name);
        fs::create_dir(&folder).expect("a folder can be made");
        let settings = folder.join("worker.toml");
        let [lease, interval] = [LEASE, CHECKPOINT_INTERVAL].map(|time| time.as_secs());
        let text = format!(
            "max_sites = {max_sites}\n[testing]\nlease_time = {lease}\ncheckpoint_interval = {interval}\n"
        );
        fs::write(&settings, text).expect("it can be written");
        let log = folder.join("log");
        let storage = format!("s3://{STATES}/fleet");
        let mut command = self.command(&name, &["daemon", "--state", "state"]);
        command
            .current_dir(&folder)
            .args(["--config", "worker.toml", "--storage", &storage])
            .stdout(Stdio::null())
            .stderr(File::create(&log).expect("a log can be made"));
        let child = command.spawn().expect("the program starts");
        self.workers.push(Worker {
            name,
            id: child.id(),
            child,
            log,
            is_dismissed: false,
        });
        self.workers.len() - 1
    }

    /// Kills a worker at once.
    pub(super) fn kill(&mut self, worker: usize) {
        let worker = &mut self.workers[worker];
        worker.is_dismissed = true;
        worker.child.kill().expect("it can be killed");
        let ended = worker.child.wait().expect("it was a child");
        assert_eq!(ended.code(), None, "{} had ended before", worker.name);
    }

    /// Stops a worker by SIGTERM; returns how it ended, and after which time.
    pub(super) fn stop(&mut self, worker: usize) -> (ExitStatus, Duration) {
        let worker = &mut self.workers[worker];
        worker.is_dismissed = true;
        let began = Instant::now();
        worker.signal("TERM");
        let ended = worker.child.wait().expect("it was a child");
        (ended, began.elapsed())
    }

    /// The workers that were not stopped or killed.
    pub(super) fn alive(&self) -> Vec<usize> {
        let all = 0..self.workers.len();
        all.filter(|worker| !self.workers[*worker].is_dismissed)
            .collect()
    }

    /// Waits until `look` finds something. Fails when `patience` is over, or a worker ends by itself.
    #[track_caller]
    pub(super) fn wait_for<T>(
        &mut self,
        what: &str,
        patience: Duration,
        mut look: impl FnMut(&Self) -> Option<T>,
    ) -> T {
        let deadline = Instant::now() + patience;
        loop {
            for number in self.alive() {
                let worker = &mut self.workers[number];
                let ended = worker.child.try_wait().expect("it is a child");
                if let Some(status) = ended {
                    let name = worker.name.clone();
                    panic!("{name} ended by itself ({status}); {}", self.report());
                }
            }
            if let Some(found) = look(self) {
                return found;
            }
            assert!(
                Instant::now() < deadline,
                "after {patience:?} the fleet has not come to this: {what}; {}",
                self.report()
            );
            thread::sleep(LOOK);
        }
    }

    /// Waits until each site has ended a session with a set.
    #[track_caller]
    pub(super) fn wait_for_all_sites(&mut self, patience: Duration) {
        let good = "count(*) FILTER (WHERE outcome IN ('published', 'unchanged'))";
        let sql = format!("SELECT {good} = count(*) AND count(epoch) = 0 FROM site");
        self.wait_for("every site ended with success", patience, |fleet| {
            (fleet.postgres.value(&sql) == "t").then_some(())
        });
    }

    /// What is missing: sites that did not end with success, and the last lines of each worker.
    pub(super) fn report(&self) -> String {
        let missing = "SELECT s.name, 'outcome ' || coalesce(s.outcome, '-'), 'attempts ' || attempts, 'set aside ' || coalesce(set_aside, '-'),
                'owner ' || coalesce(owner, '-'), 'lease ends ' || coalesce(lease_until::text, '-'), 'claimable ' || claimable_at,
                (SELECT string_agg(worker || ' ' || coalesce(outcome, '...'), ', ' ORDER BY id) FROM session WHERE site = s.id)
            FROM site s JOIN host h ON h.name = s.host
            WHERE s.outcome IS NULL OR s.outcome NOT IN ('published', 'unchanged') OR s.epoch IS NOT NULL ORDER BY s.id LIMIT 40";
        let mut report = format!(
            "sites that have not ended with success:\n{}\n",
            self.postgres.sql(missing).join("\n")
        );
        for worker in &self.workers {
            let log = fs::read_to_string(&worker.log).unwrap_or_default();
            let lines: Vec<&str> = log.lines().collect();
            let tail = &lines[lines.len().saturating_sub(TAIL)..];
            let (name, id) = (&worker.name, worker.id);
            writeln!(report, "{name} (process {id}):\n{}", tail.join("\n"))
                .expect("a string can be written");
        }
        report
    }

    /// All sessions in the order in which they began.
    pub(super) fn sessions(&self) -> Vec<Session> {
        let (now, wall) = (Instant::now(), SystemTime::now());
        let wall = wall
            .duration_since(SystemTime::UNIX_EPOCH)
            .expect("it is later");
        let sql =
            "SELECT name, host, worker, session.epoch, extract(epoch FROM began), coalesce(session.outcome, '')
            FROM session JOIN site ON site.id = session.site ORDER BY session.id";
        let session = |row: String| {
            let columns: Vec<&str> = row.split('|').collect();
            let [site, host, worker, epoch, began, outcome] = columns[..] else {
                panic!("{row}");
            };
            let id = worker
                .rsplit('-')
                .next()
                .and_then(|id| id.parse::<u32>().ok());
            let known = self.workers.iter().find(|worker| Some(worker.id) == id);
            let began = Duration::from_secs_f64(began.parse().expect("a time"));
            Session {
                site: site.to_owned(),
                domain: host.to_owned(),
                worker: known
                    .unwrap_or_else(|| panic!("no such worker: {row}"))
                    .name
                    .clone(),
                epoch: epoch.parse().expect("a number"),
                began: now
                    .checked_sub(wall.saturating_sub(began))
                    .expect("the machine is older than the test"),
                outcome: outcome.to_owned(),
            }
        };
        self.postgres.sql(sql).into_iter().map(session).collect()
    }

    /// The outcomes of the sessions of a site.
    pub(super) fn outcomes(&self, site: &str) -> Vec<String> {
        let sessions = self.sessions().into_iter();
        let own = sessions.filter(|session| session.site == site);
        own.map(|session| session.outcome).collect()
    }
}
