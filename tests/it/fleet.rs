//! Daemons that share the sites of a catalogue: what they publish, and how their sites, the readers of the bucket and the catalogue
//! see them while workers are killed and frozen, `PostgreSQL` stops and the object storage fails.
//!
//! By default the sites of the large test are small. With `ARPENT_FULL=1` sites have up to 500 pages, and one has 20,000.

mod storage;
mod web;
mod workers;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use crawler::testing::is_full;
use serde_json::Value;

use self::{
    storage::{Change, Reader, SETS, STATES, get, list},
    web::{Asked, WORKER, WebSite},
    workers::{CHECKPOINT_INTERVAL, Fleet, LEASE, Session, WORKER_VARIABLE},
};
use crate::support::{
    program::{Ran, arpent},
    published::Published,
    random::Random,
    site::{Response, Site},
};

/// Time for what takes seconds on an idle machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long the object storage fails.
const STORAGE_FAILS: Duration = Duration::from_secs(10);

/// A worker that dies has lost the requests since its last checkpoint. The next checkpoint is due after the interval, or after twenty
/// times as long as the one before took: 8 s more are for checkpoints of up to 0.4 s.
const LOST_AT_MOST: Duration = CHECKPOINT_INTERVAL.saturating_add(Duration::from_secs(8));

/// Time after a thaw in which the request may be sent that had passed the check of the lease when the process froze.
const LATE: Duration = Duration::from_secs(1);

/// A worker that was frozen for longer than its lease.
struct Frozen {
    worker: String,
    thawed: Instant,
}

/// 201 sites on 41 hosts, the first of which has most of the pages.
fn many_sites() -> Vec<WebSite> {
    let mut random = Random(18);
    let mut sites = vec![WebSite::new(41, 1, if is_full() { 20_000 } else { 3_000 })];
    for host in 1..=40 {
        for number in 1..=5 {
            let most = match host % 10 {
                5 => 6,
                _ if is_full() => [40, 40, 40, 496][random.below(4)],
                _ => 20,
            };
            sites.push(WebSite::new(host, number, 5 + random.below(most)));
        }
    }
    sites
}

/// Crawls all sites of the fleet with one command, into folders, and without pauses; returns the requests.
fn crawl_with_one_machine(fleet: &Fleet) -> Vec<Asked> {
    let settings = fleet.settings("concurrency = 8", |name| format!("output = \"one/{name}\""));
    fs::write(fleet.path().join("one.toml"), settings).expect("it can be written");
    let mut command = arpent(fleet.path());
    let line = "crawl --config one.toml --state one-state --quiet";
    command.args(line.split(' '));
    command.env(WORKER_VARIABLE, format!("{WORKER}: one"));
    Ran::of(command).expect_code(0);
    fleet.web.take_log()
}

// ----- Faults -----

/// Waits until the hosts have seen so many percent of the requests of one machine: half as many when one site has half of them, and is
/// alone in the second half.
fn wait_for_percent(fleet: &mut Fleet, one: &[Asked], percent: usize) {
    let percent = if is_full() { percent / 2 } else { percent };
    let what = format!("{percent} % of {} requests", one.len());
    let patience = PATIENCE * if is_full() { 10 } else { 1 };
    fleet.wait_for(&what, patience, |fleet| {
        (fleet.web.log().len() * 100 >= one.len() * percent).then_some(())
    });
}

/// Waits for a worker with sessions that has the site `large`, or has not.
fn target(fleet: &mut Fleet, large: &str, has_large: bool) -> usize {
    let what = format!("a worker has sessions, among them one of {large}: {has_large}");
    let sql = format!(
        "SELECT owner FROM host h JOIN site s ON s.host = h.name WHERE s.epoch = h.epoch AND lease_until > now()
        GROUP BY owner HAVING bool_or(s.name = '{large}') = {has_large}"
    );
    fleet.wait_for(&what, PATIENCE, |fleet| {
        let owners = fleet.postgres.sql(&sql);
        let mut alive = fleet.alive().into_iter();
        alive.find(|worker| {
            let id = format!("-{}", fleet.workers[*worker].id);
            owners.iter().any(|owner| owner.ends_with(&id))
        })
    })
}

/// The sessions of a worker that have this outcome; none: those that have not ended.
fn sessions_of(fleet: &Fleet, worker: usize, outcome: &str) -> Vec<(String, u64)> {
    let mut sessions = fleet.sessions();
    let name = &fleet.workers[worker].name;
    sessions.retain(|it| it.worker == *name && it.outcome == outcome);
    sessions.into_iter().map(|it| (it.site, it.epoch)).collect()
}

/// Freezes a worker without the site `large` until another worker has begun with one of its sites.
fn freeze(fleet: &mut Fleet, large: &str) -> Frozen {
    loop {
        let worker = target(fleet, large, false);
        before(fleet, "a worker is frozen");
        fleet.workers[worker].signal("STOP");
        let frozen = sessions_of(fleet, worker, "");
        // They may have ended just before.
        if !frozen.is_empty() {
            let what = "a session of the frozen worker is lost";
            fleet.wait_for(what, PATIENCE, |fleet| {
                let lost = sessions_of(fleet, worker, "lost");
                lost.iter().any(|it| frozen.contains(it)).then_some(())
            });
        }
        let thawed = Instant::now();
        fleet.workers[worker].signal("CONT");
        if !frozen.is_empty() {
            let worker = fleet.workers[worker].name.clone();
            return Frozen { worker, thawed };
        }
    }
}

/// Waits for the next checkpoint of a site, so that the next fault costs what was requested since then, not what another fault cost.
fn wait_for_checkpoint(fleet: &mut Fleet, site: &str) {
    let sql = format!("SELECT coalesce(state_object, '') FROM site WHERE name = '{site}'");
    let before = fleet.postgres.value(&sql);
    fleet.wait_for("another checkpoint", PATIENCE, |fleet| {
        (fleet.postgres.value(&sql) != before).then_some(())
    });
}

/// Waits until all workers are in the catalogue: one that starts while `PostgreSQL` is away ends with an error.
fn wait_for_workers(fleet: &mut Fleet) {
    fleet.wait_for("all workers have started", PATIENCE, |fleet| {
        let known = fleet.postgres.sql("SELECT name FROM worker");
        let is_known = |worker: usize| {
            let id = format!("-{}", fleet.workers[worker].id);
            known.iter().any(|name| name.ends_with(&id))
        };
        fleet.alive().into_iter().all(is_known).then_some(())
    });
}

/// Kills a worker, and starts another one with an empty folder.
fn replace(fleet: &mut Fleet, worker: usize) {
    before(fleet, "a worker is killed");
    fleet.kill(worker);
    fleet.start_worker(8);
    wait_for_workers(fleet);
}

/// Prepares for a fault. The catalogue sets a site aside after three sessions in a row that did not end, which another test checks; here
/// more faults may hit a site than that, so the count begins again.
#[expect(clippy::print_stderr, reason = "when a fault hit is worth reading")]
fn before(fleet: &Fleet, fault: &str) {
    let sql = "UPDATE site SET attempts = 1 WHERE attempts > 1";
    drop(fleet.postgres.sql(sql));
    let running = fleet.postgres.value("SELECT count(epoch) FROM site");
    let requests = fleet.web.log().len();
    eprintln!("after {requests} requests, with {running} sessions: {fault}");
}

/// What happens to the fleet while it works.
fn faults(fleet: &mut Fleet, one: &[Asked]) -> Frozen {
    let large = fleet.web.sites[0].name.clone();
    wait_for_workers(fleet);
    wait_for_percent(fleet, one, 10);
    before(fleet, "PostgreSQL is away for less than a lease");
    fleet.postgres.stop();
    fleet.postgres.start_again();

    wait_for_percent(fleet, one, 20);
    let worker = target(fleet, &large, false);
    replace(fleet, worker);

    wait_for_percent(fleet, one, 25);
    before(fleet, "the storage fails");
    fleet.proxy.break_down(true);
    thread::sleep(STORAGE_FAILS);
    fleet.proxy.break_down(false);
    wait_for_checkpoint(fleet, &large);

    wait_for_percent(fleet, one, 33);
    before(fleet, "PostgreSQL is away for longer than a lease");
    fleet.postgres.stop();
    thread::sleep(LEASE + Duration::from_secs(2));
    fleet.postgres.start_again();

    // While smaller sites are left.
    let frozen = freeze(fleet, &large);

    wait_for_percent(fleet, one, 50);
    wait_for_checkpoint(fleet, &large);
    let worker = target(fleet, &large, true);
    replace(fleet, worker);
    frozen
}

// ----- What is checked afterwards -----

/// Fails unless all requests to each host were sent by the worker that had the newest lease on it, with the pause between them that the
/// settings and robots.txt ask for, also from one worker to the next.
///
/// The pause is counted from the answer as the host knows it, which the worker knows later. The start of a lease is the time of the
/// catalogue at which its first session began, which is before its first request. One request to each host is left out: it had passed
/// the check of the lease when its worker froze, and was sent when the worker was thawed.
fn check_hosts(fleet: &Fleet, log: &[Asked], frozen: Option<&Frozen>) {
    let sessions = fleet.sessions();
    let mut breaches = Vec::new();
    let sites = fleet.web.sites.iter();
    let hosts: BTreeMap<String, &WebSite> = sites.map(|site| (site.domain(), site)).collect();
    for (domain, site) in hosts {
        let turns = sessions.iter().filter(|turn| turn.domain == domain);
        let turns: Vec<&Session> = turns.collect();
        let mut own: Vec<&Asked> = log.iter().filter(|it| it.domain == domain).collect();
        own.sort_by_key(|asked| asked.at);
        let mut late = 0;
        own.retain(|asked| {
            let Asked { path, worker, .. } = asked;
            let turn = turns.iter().rfind(|turn| turn.began <= asked.at);
            let owner = turn.map_or("nobody", |turn| &*turn.worker);
            let is_late = frozen.is_some_and(|frozen| {
                let times = frozen.thawed..frozen.thawed + LATE;
                frozen.worker == *worker && times.contains(&asked.at)
            });
            if worker != owner {
                late += usize::from(is_late);
                if !is_late || late > 1 {
                    breaches.push(format!(
                        "{worker} asked {domain} for {path} when {owner} had the lease"
                    ));
                }
            }
            worker == owner
        });
        let pause = fleet.delay.max(site.crawl_delay().unwrap_or_default());
        for pair in own.windows(2) {
            let passed = pair[1].at - pair[0].at;
            if passed < pause {
                let [(one, first), (two, second)] =
                    [0, 1].map(|it| (&pair[it].worker, &pair[it].path));
                breaches.push(format!(
                    "{two} asked {domain} for {second} {passed:?} after the answer for {first} to {one}, expected {pause:?} at least"
                ));
            }
            if site.has_secrets() && pair[1].path.contains("/private/") {
                breaches.push(format!("{domain} disallows {}", pair[1].path));
            }
        }
    }
    let count = breaches.len();
    breaches.truncate(20);
    assert_eq!(count, 0, "requests that were not allowed: {breaches:#?}");
}

/// How often the paths below the directory of a site were asked for.
fn counts(log: &[Asked], site: &WebSite) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let own = log.iter().filter(|asked| site.has(asked));
    own.for_each(|asked| *counts.entry(asked.path.clone()).or_default() += 1);
    counts
}

/// How many requests for pages of a site were repeated, compared with one machine, and how many are allowed: for each session after
/// the first one those of [`LOST_AT_MOST`] at the highest pace that the site saw, the start page and a page that it redirects to.
fn repeats(one: &[Asked], log: &[Asked], site: &WebSite, sessions: usize) -> (usize, usize) {
    let expected = counts(one, site);
    // Addresses that cannot exist are new ones in each crawl: they are left out.
    let repeated = counts(log, site).into_iter();
    let repeated =
        repeated.filter_map(|(path, count)| Some(count.saturating_sub(*expected.get(&path)?)));
    let own = log.iter().filter(|asked| site.has(asked));
    let mut times: Vec<Instant> = own.map(|asked| asked.at).collect();
    times.sort_unstable();
    let within = |(number, first): (usize, &Instant)| {
        times.partition_point(|time| *time < *first + LOST_AT_MOST) - number
    };
    let busiest = times.iter().enumerate().map(within).max();
    let busiest = busiest.unwrap_or_default();
    (repeated.sum(), sessions.saturating_sub(1) * (busiest + 2))
}

/// Entries of each file of a set; of an index the names only, since it has the times at which its files were written.
fn contents(set: &Published) -> BTreeMap<&str, Vec<(&str, Option<&str>)>> {
    let files = set.files.iter().map(|(name, file)| {
        let entries = file.entries.iter();
        let entries = entries.map(|(url, lastmod)| {
            let lastmod = lastmod.as_deref().filter(|_| !file.is_index);
            (url.as_str(), lastmod)
        });
        (name.as_str(), entries.collect())
    });
    files.collect()
}

/// Fails unless the bucket has for each site the files that one machine has in its folder, with the same URLs and the same dates, and
/// the row of the site counts these URLs and names a state that exists.
///
/// Left out are the write times in the index and the bytes of the compression. A file in the bucket that one machine does not have would
/// be one of a worker that had lost its lease.
fn check_sets(fleet: &Fleet) {
    let rows = fleet
        .postgres
        .sql("SELECT name, listed, state_object FROM site");
    for row in rows {
        let columns: Vec<&str> = row.split('|').collect();
        let [name, listed, state] = columns[..] else {
            panic!("{row}");
        };
        let expected = Published::read(&fleet.path().join("one").join(name));
        let folder = fleet.path().join("bucket").join(name);
        for key in list(&fleet.moto, SETS, &format!("{name}/")) {
            let file = folder.join(key.split_once('/').expect("a prefix").1);
            // The manifest is not for readers.
            if file.extension().is_some_and(|it| it == "xml" || it == "gz") {
                fs::create_dir_all(file.parent().unwrap_or(Path::new(""))).expect("a folder");
                fs::write(file, get(&fleet.moto, SETS, &key)).expect("it can be written");
            }
        }
        let found = Published::read(&folder);
        assert!(
            !expected.files.is_empty(),
            "one machine published nothing for {name}"
        );
        assert_eq!(
            contents(&found),
            contents(&expected),
            "found and expected set of {name}"
        );
        assert_eq!(
            listed,
            expected.entries().len().to_string(),
            "listed by the row of {name}"
        );
        let objects = list(&fleet.moto, STATES, &format!("fleet/{state}"));
        assert!(
            !state.is_empty() && !objects.is_empty(),
            "{name} has no state {state:?}; its sessions: {:?}",
            fleet.outcomes(name)
        );
    }
}

/// Stops all workers, which give back what they have.
fn stop_all(fleet: &mut Fleet) {
    for worker in fleet.alive() {
        let (ended, _) = fleet.stop(worker);
        let code = ended.code();
        assert_eq!(code, Some(143), "w{}: {}", worker + 1, fleet.report());
    }
    let owned = "SELECT name, owner FROM host WHERE owner IS NOT NULL";
    let owned = fleet.postgres.sql(owned);
    assert_eq!(owned, [""; 0], "hosts that were not given back");
}

#[test]
#[expect(clippy::print_stderr, reason = "what was measured is worth reading")]
fn a_fleet_publishes_what_one_machine_does() {
    let Some(mut fleet) = Fleet::prepare(many_sites(), 10) else {
        return;
    };
    let began = Instant::now();
    let one = crawl_with_one_machine(&fleet);
    eprintln!(
        "one machine: {} requests in {:?}",
        one.len(),
        began.elapsed()
    );
    let watched = fleet.web.sites.iter().step_by(20);
    let watched: BTreeSet<String> = watched.map(|site| site.name.clone()).collect();
    let reader = Reader::watch(&fleet.moto, watched.iter().cloned().collect());

    let began = Instant::now();
    for _ in 0..3 {
        fleet.start_worker(8);
    }
    let frozen = faults(&mut fleet, &one);
    fleet.wait_for_all_sites(PATIENCE * if is_full() { 20 } else { 2 });
    let outcomes =
        "SELECT coalesce(outcome, '...') || ' ' || count(*) FROM session GROUP BY outcome";
    eprintln!(
        "a fleet: {} requests in {:?}; sessions: {}",
        fleet.web.log().len(),
        began.elapsed(),
        fleet.postgres.sql(outcomes).join(", ")
    );
    stop_all(&mut fleet);
    let found = reader.finish();
    assert_eq!(found, watched, "sites whose sets the reader found");

    let log = fleet.web.take_log();
    check_hosts(&fleet, &log, Some(&frozen));
    check_sets(&fleet);

    let sessions = fleet.sessions();
    for site in &fleet.web.sites {
        let name = &site.name;
        let own = sessions.iter().filter(|session| session.site == *name);
        let count = own.count();
        let (repeated, allowed) = repeats(&one, &log, site, count);
        let found = format!(
            "{name}: {repeated} requests repeated in {count} sessions, {allowed} are allowed"
        );
        if *name == fleet.web.sites[0].name {
            assert!(count > 1, "the worker was killed: {found}");
            eprintln!("{found}");
        }
        assert!(repeated <= allowed, "{found}");
    }

    let changes = fleet.proxy.changes();
    assert!(
        changes.iter().any(|it| it.status == 500),
        "no PUT met the failure of the storage"
    );
    // A first set replaces none, and nothing is removed before its grace is over.
    let is_removed = |it: &&Change| it.method == "DELETE" && it.key.starts_with(SETS);
    let removed = changes.iter().find(is_removed);
    assert!(removed.is_none(), "an object was removed: {removed:?}");
}

#[test]
fn two_workers_share_the_sites() {
    let hosts = [11, 12, 13, 14, 16, 17];
    let sites = hosts.map(|host| WebSite::new(host, 1, 30)).into();
    let Some(mut fleet) = Fleet::prepare(sites, 20) else {
        return;
    };
    for _ in 0..2 {
        fleet.start_worker(3);
    }
    fleet.wait_for_all_sites(PATIENCE);
    stop_all(&mut fleet);
    let log = fleet.web.take_log();
    check_hosts(&fleet, &log, None);
    let hosts = log.iter().map(|asked| (&*asked.worker, &*asked.domain));
    let hosts: BTreeSet<(&str, &str)> = hosts.collect();
    for worker in ["w1", "w2"] {
        let count = hosts.iter().filter(|(name, _)| *name == worker).count();
        assert_eq!(count, 3, "hosts of {worker}: {hosts:?}");
    }
    assert_eq!(hosts.len(), 6, "{hosts:?}");
    check_fetched(&fleet);
}

/// The last checkpoint of a site is what `report` and `why` read on any machine.
fn check_fetched(fleet: &Fleet) {
    let site = &fleet.web.sites[0];
    let storage = format!("s3://{STATES}/fleet");
    let fetch = ["fetch", &site.name, "fetched", "--storage", &storage];
    let ran = fleet.catalogue(&fetch);
    assert!(ran.stdout.starts_with("fetched: "), "{ran:?}");
    let url = ran.stdout.split(' ').find(|word| word.starts_with("http"));
    let url = url.expect("the URL of the site").to_owned();
    let report = ["report", &url, "--state", "fetched", "--json"];
    let ran = Ran::of(fleet.command("report", &report)).expect_code(0);
    let known: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(known["listed"], 28, "{ran:?}");
    let again = [&["catalogue"][..], &fetch[..]].concat();
    let ran = Ran::of(fleet.command("catalogue", &again)).expect_code(2);
    assert!(ran.stderr.contains("fetched is not empty"), "{ran:?}");
}

#[test]
fn a_drained_worker_gives_its_hosts_back() {
    let site = WebSite::new(11, 1, 300);
    let Some(mut fleet) = Fleet::prepare(vec![site.clone()], 20) else {
        return;
    };
    let first = fleet.start_worker(1);
    fleet.wait_for("100 requests", PATIENCE, |fleet| {
        (fleet.web.log().len() >= 100).then_some(())
    });
    let (ended, took) = fleet.stop(first);
    assert_eq!(ended.code(), Some(143), "{}", fleet.report());
    // The default of stop_timeout, and a second to end.
    assert!(took < Duration::from_secs(10), "it took {took:?} to stop");
    let asked = fleet.web.log().len();
    assert!(asked < 250, "{asked} requests: the crawl had nearly ended");

    fleet.start_worker(1);
    fleet.wait_for_all_sites(PATIENCE);
    assert_eq!(fleet.outcomes(&site.name), ["given-back", "published"]);
    let log = fleet.web.take_log();
    check_hosts(&fleet, &log, None);
    let mut counts = counts(&log, &site);
    counts.retain(|_, count| *count > 1);
    let repeated: usize = counts.values().map(|count| count - 1).sum();
    // The start page, and what was in flight.
    assert!(
        repeated <= 5,
        "{repeated} requests were repeated, expected 5 at most: {counts:?}"
    );
}

#[test]
fn a_paused_session_stops_and_goes_on() {
    let site = WebSite::new(11, 1, 300);
    let Some(mut fleet) = Fleet::prepare(vec![site.clone()], 20) else {
        return;
    };
    fleet.start_worker(1);
    fleet.wait_for("100 requests", PATIENCE, |fleet| {
        (fleet.web.log().len() >= 100).then_some(())
    });
    let pause = ["pause", &site.name, "--reason", "a move"];
    let ran = Ran::of(fleet.command("pause", &pause)).expect_code(0);
    let said = format!("{}: paused: a move; its session stops\n", site.name);
    assert_eq!(ran.stdout, said);
    fleet.wait_for("the session stops", PATIENCE, |fleet| {
        let idle = "SELECT count(epoch) = 0 FROM site";
        (fleet.postgres.value(idle) == "t").then_some(())
    });
    let asked = fleet.web.log().len();
    assert!(asked < 250, "{asked} requests: the crawl had nearly ended");
    // More than a lease, within which a worker looks for sites.
    thread::sleep(LEASE + LATE);
    assert_eq!(fleet.web.log().len(), asked, "requests while it is paused");

    let resume = fleet.command("resume", &["resume", &site.name]);
    let ran = Ran::of(resume).expect_code(0);
    assert_eq!(ran.stdout, format!("{}: resumed\n", site.name));
    fleet.wait_for_all_sites(PATIENCE);
    assert_eq!(fleet.outcomes(&site.name), ["given-back", "published"]);
    let log = fleet.web.take_log();
    let counts = counts(&log, &site);
    let repeated: usize = counts.values().map(|count| count - 1).sum();
    // The start page, and what was in flight.
    assert!(
        repeated <= 5,
        "{repeated} requests were repeated, expected 5 at most"
    );
}

#[test]
fn people_get_one_message_from_all_workers() {
    let site = WebSite::new(11, 1, 3);
    let Some(mut fleet) = Fleet::prepare(vec![site.clone()], 20) else {
        return;
    };
    let chat = Site::start(|_| Response::status(200));
    let hook = fleet.path().join("hook");
    fs::write(&hook, format!("slack:{}", chat.url("/hook"))).expect("it can be written");
    let messages = |name: &str| {
        let hook = hook.display();
        format!(
            "output = \"s3://{SETS}/{name}\"\n[[site.notify.message]]\nto = {{ file = \"{hook}\" }}"
        )
    };
    // The directory of no site: it has never answered.
    let settings = fleet.settings("", messages).replace("/s1/", "/none/");
    fs::write(fleet.path().join("sites.toml"), settings).expect("it can be written");
    fleet.catalogue(&["import", "sites.toml"]);
    for run in 1..=2 {
        fleet.catalogue(&["run-now", &site.name]);
        let worker = fleet.start_worker(1);
        let ended = format!("SELECT count(*) >= {run} FROM session WHERE outcome = 'unreachable'");
        fleet.wait_for("the site fails", PATIENCE, |fleet| {
            (fleet.postgres.value(&ended) == "t").then_some(())
        });
        fleet.stop(worker);
    }
    let posts = chat.log();
    assert_eq!(posts.len(), 1, "{posts:?}");
}

#[test]
fn a_site_killing_its_workers_is_set_aside() {
    let site = WebSite::new(11, 1, 300);
    let Some(mut fleet) = Fleet::prepare(vec![site.clone()], 20) else {
        return;
    };
    for _ in 0..3 {
        let worker = fleet.start_worker(1);
        let name = fleet.workers[worker].name.clone();
        fleet.wait_for("the site is crawled", PATIENCE, |fleet| {
            let log = fleet.web.log();
            log.iter().any(|asked| asked.worker == name).then_some(())
        });
        fleet.kill(worker);
    }
    let asked = fleet.web.log().len();
    fleet.start_worker(1);
    fleet.wait_for("the site is set aside", PATIENCE, |fleet| {
        let aside = "SELECT count(*) FROM site WHERE set_aside IS NOT NULL";
        (fleet.postgres.value(aside) == "1").then_some(())
    });
    assert_eq!(fleet.outcomes(&site.name), ["lost"; 3]);
    let command = fleet.command("status", &["status", "--catalogue", "--json"]);
    let status = Ran::of(command).summary();
    assert_eq!(status["sites"]["set-aside"], 1, "{status}");
    assert_eq!(status["set_aside"][0]["name"], site.name, "{status}");
    stop_all(&mut fleet);
    let later = fleet.web.log().len();
    assert_eq!(later, asked, "requests after the site was set aside");
}
