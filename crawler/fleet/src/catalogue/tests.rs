//! The catalogue against `PostgreSQL`. Nothing waits: a test moves the times in the tables instead.

mod server;

use std::{collections::HashSet, sync::Arc, time::Duration};

use crawler::{
    schedule::{Schedule, zone},
    url_key::HostKey,
};
use jiff::Timestamp;
use serde_json::json;

use self::server::Server;
use super::*;

const TTL: Duration = Duration::from_secs(60);

/// The time that the tests pass where the catalogue takes one.
fn now() -> Timestamp {
    "2026-11-26T12:00:00Z".parse().unwrap()
}

/// A catalogue of its own; the server goes last.
struct Fleet {
    catalogue: Catalogue,
    _server: Arc<Server>,
}

impl Fleet {
    async fn new() -> Option<Self> {
        let server = Server::shared()?;
        let catalogue = server.catalogue().await;
        Some(Self {
            catalogue,
            _server: server,
        })
    }

    /// Sites by name and host, all on demand.
    async fn with(sites: &[(&str, &str)]) -> Option<Self> {
        let fleet = Self::new().await?;
        let sites: Vec<NewSite> = sites.iter().map(|(name, host)| site(name, host)).collect();
        fleet.catalogue.import(&sites, now()).await.unwrap();
        Some(fleet)
    }

    /// Sites by name and host, all due.
    async fn due(sites: &[(&str, &str)]) -> Option<Self> {
        let fleet = Self::with(sites).await?;
        for (name, _) in sites {
            fleet.run_now(name).await;
        }
        Some(fleet)
    }

    async fn sql(&self, sql: &str) {
        let client = self.catalogue.client().await.unwrap();
        client.batch_execute(sql).await.unwrap();
    }

    async fn value(&self, sql: &str) -> String {
        let client = self.catalogue.client().await.unwrap();
        let row = client.query_one(sql, &[]).await.unwrap();
        row.get::<_, Option<String>>(0).unwrap_or_default()
    }

    /// Lets every lease end, and every gap pass.
    async fn expire(&self) {
        self.sql(
            "UPDATE host SET claimable_at = claimable_at - interval '1 h', lease_until = lease_until - interval '1 h'
             WHERE lease_until IS NOT NULL",
        )
        .await;
    }

    /// Lets a day pass.
    async fn tomorrow(&self) {
        self.sql(
            "UPDATE site SET next_run = next_run - interval '25 h';
             UPDATE host SET claimable_at = claimable_at - interval '25 h'",
        )
        .await;
    }

    async fn claim(&self, worker: &str) -> Vec<HostLease> {
        self.catalogue.claim(worker, 10, TTL).await.unwrap()
    }

    async fn claim_one(&self, worker: &str) -> HostLease {
        let mut claimed = self.claim(worker).await;
        assert_eq!(claimed.len(), 1, "{claimed:?}");
        claimed.remove(0)
    }

    async fn run_now(&self, name: &str) {
        self.catalogue.run_now(name, false).await.unwrap();
    }

    async fn next(&self, lease: &HostLease) -> NextSite {
        self.catalogue.begin(lease, true).await.unwrap()
    }

    async fn begin(&self, lease: &HostLease) -> SiteSession {
        match self.next(lease).await {
            NextSite::Session(session) => session,
            other => panic!("{other:?}"),
        }
    }

    /// Begins a session of the only due site, and lets its lease end.
    async fn lose(&self) {
        let lease = self.claim_one("w").await;
        drop(self.begin(&lease).await);
        self.expire().await;
    }

    /// Sets the only due site of a host aside.
    async fn set_aside(&self) {
        let lease = self.claim_one("w").await;
        let next = self.next(&lease).await;
        assert!(matches!(next, NextSite::SetAside { .. }), "{next:?}");
        let next = self.next(&lease).await;
        assert!(matches!(next, NextSite::NoneDue), "{next:?}");
        assert!(self.give_back(&lease).await);
    }

    async fn end(&self, lease: &HostLease, session: &SiteSession) {
        let end = ended(None);
        self.catalogue.end(lease, session.id, &end).await.unwrap();
    }

    async fn checkpoint(&self, lease: &HostLease, session: &SiteSession, state: &str) {
        let stored = self.catalogue.checkpoint(lease, session.id, state);
        stored.await.unwrap();
    }

    async fn heartbeat(&self, leases: &[&HostLease]) -> Vec<HostKey> {
        let in_force = self.catalogue.heartbeat(leases, TTL).await.unwrap();
        let hosts = leases.iter().map(|lease| lease.host.clone());
        hosts.filter(|host| !in_force.contains_key(host)).collect()
    }

    async fn give_back(&self, lease: &HostLease) -> bool {
        self.catalogue.give_back(lease).await.unwrap()
    }

    async fn site(&self, name: &str) -> SiteDetails {
        self.catalogue.site(name).await.unwrap()
    }

    async fn state(&self, name: &str) -> SiteState {
        let all = self.catalogue.list("", 100, None).await.unwrap();
        all.iter().find(|site| site.name == name).unwrap().state
    }

    async fn outcomes(&self, name: &str) -> Vec<Option<String>> {
        let runs = self.catalogue.history(name, 100).await.unwrap();
        runs.into_iter().map(|run| run.outcome).collect()
    }
}

fn site(name: &str, host: &str) -> NewSite {
    NewSite {
        name: name.to_owned(),
        host: HostKey::new(host),
        settings: format!("url = \"https://{host}/\""),
        output: format!("s3://sets/{name}"),
        schedule: None,
    }
}

fn nightly(name: &str) -> Schedule {
    let utc = zone("UTC").unwrap();
    Schedule::new("30 2 * * *", utc, Duration::ZERO, name).unwrap()
}

fn ended(next_run: Option<Timestamp>) -> SiteEnd {
    SiteEnd {
        outcome: "published".to_owned(),
        summary: json!({"listed": 12}),
        published: Some(now()),
        listed: Some(12),
        next_run,
    }
}

/// Sessions run in tasks that go from one thread to another.
fn in_a_task<F: Future + Send>(future: F) -> F {
    future
}

fn hosts(leases: &[HostLease]) -> Vec<&str> {
    leases.iter().map(|lease| lease.host.as_str()).collect()
}

fn assert_lost<T: fmt::Debug>(result: Result<T, CatalogueError>) {
    let error = result.err();
    assert!(
        matches!(error, Some(CatalogueError::LeaseLost(_))),
        "{error:?}"
    );
}

/// The fleet of a test, or the end of the test where there is no `PostgreSQL`.
macro_rules! fleet {
    ($new:expr) => {
        match $new.await {
            Some(fleet) => fleet,
            None => return,
        }
    };
}

#[tokio::test]
async fn a_migration_refuses_newer_tables() {
    let Some(server) = Server::shared() else {
        return;
    };
    let url = server.url(&server.database().await);
    let catalogue = Catalogue::connect(&url).await.unwrap();
    let missing = catalogue.check_version().await.unwrap_err();
    assert!(matches!(missing, CatalogueError::NoTables), "{missing}");
    let second = Catalogue::connect(&url).await.unwrap();
    let both = tokio::join!(catalogue.migrate(), second.migrate());
    let found = HashSet::from([both.0.unwrap(), both.1.unwrap()]);
    assert_eq!(found, HashSet::from([0, VERSION]));
    catalogue.check_version().await.unwrap();
    let client = catalogue.client().await.unwrap();
    let newer = "INSERT INTO arpent_version VALUES (1000, now())";
    client.batch_execute(newer).await.unwrap();
    for refused in [
        catalogue.migrate().await.map(|_| ()),
        catalogue.check_version().await,
    ] {
        let text = refused.unwrap_err().to_string();
        assert!(
            text.contains("version 1000") && text.contains("update"),
            "{text}"
        );
    }
}

#[tokio::test]
async fn the_url_decides_about_encryption() {
    let Some(server) = Server::shared() else {
        return;
    };
    let port = server.port;
    let address = format!("postgres://arpent:secret@localhost:{port}/postgres");
    let authority = server.certificate().display().to_string();
    let prefer = format!("sslrootcert={authority}");
    let full = format!("sslmode=verify-full&{prefer}");
    let missing = format!("{prefer}.none");
    for (options, encrypted) in [
        ("sslmode=disable", Ok(false)),
        (full.as_str(), Ok(true)),
        (prefer.as_str(), Ok(true)),
        ("sslmode=require", Err("sslrootcert=FILE in the URL")),
        (missing.as_str(), Err("certificates in PEM format")),
        ("sslmode=maybe", Err("sslmode")),
        ("sslmode=disable&user=nobody", Err("lets this user in")),
    ] {
        let found = match Catalogue::connect(&format!("{address}?{options}")).await {
            Err(error) => {
                let text = format!("{error} {error:?}");
                assert!(!text.contains("secret"), "{text}");
                Err(error.to_string())
            }
            Ok(catalogue) => {
                let client = catalogue.client().await.unwrap();
                let ssl = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
                Ok(client.query_one(ssl, &[]).await.unwrap().get(0))
            }
        };
        match (&found, encrypted) {
            (Err(error), Err(shown)) => {
                assert!(error.contains(shown), "{options}: {error}");
                let is_about_certificate = shown.starts_with("sslrootcert");
                let names_certificate = error.contains("sslrootcert");
                assert_eq!(names_certificate, is_about_certificate, "{error}");
            }
            _ => assert_eq!(found.ok(), encrypted.ok(), "{options}"),
        }
    }
}

#[tokio::test]
async fn a_message_never_shows_a_password() {
    for url in [
        "postgres://user:pass-@word@nowhere.invalid:1/db",
        "postgres://user:word@nowhere.invalid:1/db?sslmode=disable",
        "postgres://user:word@nowhere.invalid:port/db",
        "mysql://user:word@nowhere.invalid/db",
    ] {
        let error = Catalogue::connect(url).await.unwrap_err();
        let text = format!("{error} {error:?}");
        assert!(!text.contains("word"), "{text}");
    }
}

#[tokio::test]
async fn hosts_are_claimed_in_order_of_due_times() {
    let fleet = fleet!(Fleet::with(&[
        ("a", "a.test"),
        ("b", "b.test"),
        ("c", "c.test"),
        ("d", "d.test")
    ]));
    assert!(fleet.claim("w").await.is_empty());
    for name in ["c", "a", "d", "b"] {
        fleet.run_now(name).await;
    }
    let first = fleet.catalogue.claim("w", 3, TTL).await.unwrap();
    assert_eq!(hosts(&first), ["c.test", "a.test", "d.test"]);
    assert_eq!(hosts(&fleet.claim("v").await), ["b.test"]);
    assert!(fleet.claim("w").await.is_empty());
}

#[tokio::test]
async fn two_workers_never_have_one_host() {
    let fleet = fleet!(Fleet::new());
    let sites: Vec<_> = (0..200)
        .map(|n| site(&format!("s{n}"), &format!("h{n}.test")))
        .collect();
    fleet.catalogue.import(&sites, now()).await.unwrap();
    fleet
        .sql("UPDATE site SET next_run = now(); UPDATE host SET claimable_at = now()")
        .await;
    let worker = async |name: &str| {
        let mut claimed = Vec::new();
        loop {
            let leases = fleet.catalogue.claim(name, 3, TTL).await.unwrap();
            if leases.is_empty() {
                return claimed;
            }
            claimed.extend(leases.into_iter().map(|lease| lease.host));
        }
    };
    // A connection for each, so that all begin at once.
    let connect = || fleet.catalogue.check_version();
    let connected = tokio::join!(connect(), connect(), connect());
    connected.0.and(connected.1).and(connected.2).unwrap();
    let (a, b, c) = tokio::join!(worker("a"), worker("b"), worker("c"));
    // One that finds all rows locked by the others ends before it has any.
    let all: HashSet<_> = a.iter().chain(&b).chain(&c).collect();
    assert_eq!((all.len(), a.len() + b.len() + c.len()), (200, 200));
}

#[tokio::test]
async fn a_heartbeat_renews_only_own_leases() {
    let fleet = fleet!(Fleet::due(&[("a", "a.test"), ("b", "b.test")]));
    let old = fleet.claim("old").await;
    let both = [&old[0], &old[1]];
    assert_eq!(fleet.heartbeat(&both).await, []);
    // An expired lease that nobody claimed is renewed.
    fleet.expire().await;
    assert_eq!(fleet.heartbeat(&both[..1]).await, []);
    let new = fleet.claim_one("new").await;
    assert_eq!(new.host, old[1].host);
    assert!(new.epoch > old[1].epoch);
    let lost = [HostKey::new("b.test")];
    assert_eq!(fleet.heartbeat(&both).await, lost);
    assert!(fleet.give_back(&new).await);
    assert_eq!(fleet.heartbeat(&[&new]).await, lost);
}

#[tokio::test]
async fn a_lost_lease_changes_nothing() {
    let fleet = fleet!(Fleet::due(&[("a", "a.test")]));
    let old = fleet.claim_one("old").await;
    let session = fleet.begin(&old).await;
    fleet.checkpoint(&old, &session, "1/1-1").await;
    fleet.expire().await;
    let dump = "SELECT json_agg(t)::text FROM (SELECT s.*, h.*, (SELECT json_agg(r) FROM session r) FROM site s, host h) AS t";
    for is_claimed in [false, true] {
        let new = if is_claimed {
            Some(fleet.claim_one("new").await)
        } else {
            None
        };
        let before = fleet.value(dump).await;
        let catalogue = &fleet.catalogue;
        assert_lost(catalogue.check_lease(&old).await);
        assert_lost(catalogue.begin(&old, true).await);
        assert_lost(catalogue.checkpoint(&old, session.id, "1/1-2").await);
        assert_lost(catalogue.end(&old, session.id, &ended(None)).await);
        assert_lost(catalogue.note_pace(&old, TTL, None).await);
        assert_eq!(fleet.value(dump).await, before);
        if let Some(new) = new {
            assert!(!fleet.give_back(&old).await);
            assert_eq!(fleet.value(dump).await, before);
            let session = fleet.begin(&new).await;
            assert_eq!(session.state_object.as_deref(), Some("1/1-1"));
            assert_eq!(fleet.outcomes("a").await, [None, Some("lost".to_owned())]);
        }
    }
}

#[tokio::test]
async fn a_session_ends_with_state_and_next_run() {
    let fleet = fleet!(Fleet::new());
    let catalogue = &fleet.catalogue;
    let two = [
        NewSite {
            schedule: Some(nightly("a")),
            ..site("a", "a.test")
        },
        site("b", "a.test"),
    ];
    catalogue.import(&two, now()).await.unwrap();
    assert_eq!(fleet.state("b").await, SiteState::OnDemand);
    fleet.run_now("a").await;
    fleet.run_now("b").await;
    let lease = fleet.claim_one("w").await;
    let (first, second) = (fleet.begin(&lease).await, fleet.begin(&lease).await);
    assert_eq!((&*first.name, &*second.name), ("a", "b"));
    assert_eq!(first.settings, "url = \"https://a.test/\"");
    assert_eq!(fleet.state("a").await, SiteState::Running);
    let next = "2100-01-01T00:00:00Z".parse().ok();
    let state = "1/9-2";
    fleet.checkpoint(&lease, &first, state).await;
    let end = ended(next);
    catalogue.end(&lease, first.id, &end).await.unwrap();
    catalogue.remove("b").await.unwrap();
    // Once more would be a mistake of the worker, and the other site is gone.
    for id in [first.id, second.id] {
        let refused = catalogue.end(&lease, id, &end).await;
        let is_gone = matches!(refused, Err(CatalogueError::SiteGone(_)));
        assert!(is_gone, "{refused:?}");
    }
    assert!(matches!(fleet.next(&lease).await, NextSite::NoneDue));
    assert!(fleet.give_back(&lease).await);
    assert!(fleet.claim("w").await.is_empty());

    let a = catalogue.list("", 10, None).await.unwrap().remove(0);
    assert_eq!(
        (a.state, a.next_run, a.listed),
        (SiteState::Waiting, next, Some(12))
    );
    assert_eq!(a.schedule.as_deref(), Some("30 2 * * * UTC"));
    let run = catalogue.history("a", 1).await.unwrap().remove(0);
    assert_eq!(run.worker, "w");
    assert_eq!(run.summary, Some(json!({"listed": 12})));
    fleet.run_now("a").await;
    fleet.expire().await;
    fleet.run_now("a").await;
    let lease = fleet.claim_one("w").await;
    let session = fleet.begin(&lease).await;
    assert_eq!(session.state_object.as_deref(), Some(state));
}

#[tokio::test]
async fn a_site_with_three_losses_is_tried_daily() {
    let fleet = fleet!(Fleet::due(&[("a", "a.test")]));
    let catalogue = &fleet.catalogue;
    for _ in 0..3 {
        fleet.lose().await;
    }
    fleet.set_aside().await;
    let status = catalogue.status().await.unwrap();
    assert_eq!(status.sites[&SiteState::SetAside], 1);
    let aside = catalogue.list("", 9, Some(SiteState::SetAside)).await;
    assert!(aside.unwrap()[0].set_aside.is_some());
    let refused = catalogue.run_now("a", false).await.unwrap_err();
    assert!(
        matches!(refused, CatalogueError::NotRunnable(_)),
        "{refused}"
    );
    // A site that was resumed has three sessions again.
    catalogue.resume("a").await.unwrap();
    fleet.expire().await;
    fleet.run_now("a").await;
    for _ in 0..3 {
        fleet.lose().await;
    }
    for _ in 0..2 {
        fleet.set_aside().await;
        fleet.expire().await;
        assert!(fleet.claim("w").await.is_empty());
        let days = "SELECT count(*)::text FROM site
            WHERE next_run BETWEEN now() + interval '23 h' AND now() + interval '25 h'";
        assert_eq!(fleet.value(days).await, "1");
        fleet.tomorrow().await;
        let lease = fleet.claim_one("w").await;
        // The site has its worker to itself.
        let next = catalogue.begin(&lease, false).await.unwrap();
        assert!(matches!(next, NextSite::Alone), "{next:?}");
        drop(fleet.begin(&lease).await);
        fleet.expire().await;
    }
    fleet.tomorrow().await;
    fleet.set_aside().await;
    fleet.tomorrow().await;
    let lease = fleet.claim_one("w").await;
    let session = fleet.begin(&lease).await;
    fleet.end(&lease, &session).await;
    assert_eq!(fleet.site("a").await.row.set_aside, None);
}

#[tokio::test]
async fn lost_sessions_with_checkpoints_are_not_counted() {
    let fleet = fleet!(Fleet::due(&[("a", "a.test")]));
    for number in 0..9 {
        let lease = fleet.claim_one("w").await;
        let session = fleet.begin(&lease).await;
        if number % 2 == 1 {
            fleet.checkpoint(&lease, &session, "1/1-1").await;
        }
        fleet.expire().await;
    }
    let lease = fleet.claim_one("w").await;
    assert_eq!(fleet.begin(&lease).await.name, "a");
}

#[tokio::test]
async fn a_returned_host_is_due_after_its_gap() {
    let fleet = fleet!(Fleet::due(&[("a", "a.test")]));
    for _ in 0..5 {
        let lease = fleet.claim_one("w").await;
        drop(fleet.begin(&lease).await);
        // As at a drain: the session did not end, and is not lost either.
        assert!(fleet.give_back(&lease).await);
        assert_eq!(fleet.state("a").await, SiteState::Due);
        assert!(fleet.claim("w").await.is_empty());
        // Another order does not shorten the gap.
        fleet.run_now("a").await;
        assert!(fleet.claim("w").await.is_empty());
        fleet.expire().await;
    }
    assert_eq!(
        fleet.outcomes("a").await,
        vec![Some("given-back".to_owned()); 5]
    );
}

#[tokio::test]
async fn a_paused_site_does_not_run() {
    let fleet = fleet!(Fleet::due(&[("a", "a.test")]));
    fleet.catalogue.pause("a", None, None).await.unwrap();
    assert_eq!(fleet.state("a").await, SiteState::Paused);
    assert!(fleet.claim("w").await.is_empty());
    assert_eq!(fleet.site("a").await.row.next_run, None);
    assert!(fleet.catalogue.resume("a").await.unwrap());
    assert!(fleet.site("a").await.row.next_run.is_some());
    let again = fleet.catalogue.resume("a").await.unwrap();
    assert!(!again, "it is not paused");
    let lease = fleet.claim_one("w").await;
    assert!(!fleet.catalogue.pause("a", None, None).await.unwrap());
    assert!(matches!(fleet.next(&lease).await, NextSite::NoneDue));
    fleet.catalogue.resume("a").await.unwrap();
    // A session that is under way hears of it with a heartbeat.
    let is_paused = async || {
        let in_force = fleet.catalogue.heartbeat(&[&lease], TTL).await.unwrap();
        in_force[&lease.host]
    };
    let NextSite::Session(session) = fleet.next(&lease).await else {
        panic!("it is due");
    };
    assert_eq!((session.name.as_str(), is_paused().await), ("a", false));
    let end = "2999-01-01T00:00:00Z".parse().unwrap();
    let is_running = fleet.catalogue.pause("a", Some(end), Some("a move")).await;
    assert!(is_running.unwrap() && is_paused().await);
    let row = fleet.site("a").await.row;
    assert_eq!(row.pause_reason.as_deref(), Some("a move"));
    assert!(row.paused_until.is_some());
    let unknown = fleet.catalogue.pause("b", None, None).await.unwrap_err();
    assert!(
        matches!(unknown, CatalogueError::UnknownSite(_)),
        "{unknown}"
    );
}

#[tokio::test]
async fn retry_after_and_gap_go_with_the_host() {
    let fleet = fleet!(Fleet::with(&[("a", "a.test"), ("b", "a.test")]));
    let note = async |lease: &HostLease, gap: u64, wait: Option<Timestamp>| {
        let noted = fleet
            .catalogue
            .note_pace(lease, Duration::from_secs(gap), wait);
        noted.await.unwrap();
    };
    fleet.run_now("a").await;
    let lease = fleet.claim_one("w").await;
    assert_eq!(lease.retry_after, None);
    let wall = fleet
        .value("SELECT to_char(now() + interval '2 h', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')")
        .await;
    let wait: Timestamp = wall.parse().unwrap();
    note(&lease, 30, Some(wait)).await;
    note(&lease, 40, None).await;
    assert_eq!(fleet.value("SELECT gap::text FROM host").await, "00:00:40");
    // Whether the worker dies or gives the host back: nobody gets it before.
    fleet.expire().await;
    fleet
        .sql("UPDATE host SET claimable_at = greatest(lease_until + gap, retry_after)")
        .await;
    assert!(fleet.claim("w").await.is_empty());
    assert_eq!(fleet.heartbeat(&[&lease]).await, []);
    assert!(fleet.give_back(&lease).await);
    fleet.run_now("b").await;
    assert!(fleet.claim("w").await.is_empty());
    let until = "SELECT (claimable_at = retry_after)::text FROM host";
    assert_eq!(fleet.value(until).await, "true");
    fleet.sql("UPDATE host SET claimable_at = now()").await;
    let lease = fleet.claim_one("w").await;
    assert_eq!(lease.retry_after, Some(wait));
    // A year is the mistake of a clock.
    note(&lease, 60, "2100-01-01T00:00:00Z".parse().ok()).await;
    let bound = "SELECT (retry_after < now() + interval '25 h')::text FROM host";
    assert_eq!(fleet.value(bound).await, "true");
}

#[tokio::test]
async fn an_import_replaces_what_changed_and_nothing_else() {
    let fleet = fleet!(Fleet::new());
    let catalogue = &fleet.catalogue;
    let mut sites: Vec<_> = (0..2_500)
        .map(|n| site(&format!("s{n:04}"), &format!("h{}.test", n % 700)))
        .collect();
    let import = async |sites: &[NewSite]| {
        let count = catalogue.import(sites, now()).await.unwrap();
        let numbers = [count.added, count.changed, count.unchanged];
        (numbers, count.names.join(" "))
    };
    let (numbers, names) = import(&sites).await;
    assert_eq!(numbers, [2_500, 0, 0]);
    assert!(
        names.starts_with("s0000 ") && names.ends_with(" s0019"),
        "{names}"
    );
    assert_eq!(import(&sites).await, ([0, 0, 2_500], String::new()));
    sites[7].schedule = Some(nightly("s0007"));
    sites[8].host = HostKey::new("other.test");
    sites[8].settings.push_str("\nmax_pages = 10");
    sites.push(site("new", "new.test"));
    let changed = "new s0007 s0008".to_owned();
    assert_eq!(import(&sites).await, ([1, 2, 2_498], changed));
    let page = catalogue.list("s0006", 2, None).await.unwrap();
    assert_eq!(page[0].next_run, "2026-11-27T02:30:00Z".parse().ok());
    assert_eq!(page[1].host.as_str(), "other.test");
    for twice in [
        catalogue.add(&sites[0], now()).await,
        catalogue
            .import(&[site("x", "x.test"), site("x", "y.test")], now())
            .await
            .map(|_| ()),
    ] {
        assert!(
            matches!(twice, Err(CatalogueError::NameTaken(_))),
            "{twice:?}"
        );
    }
    let status = catalogue.status().await.unwrap();
    assert_eq!(status.sites.values().sum::<u64>(), 2_501);
}

#[tokio::test]
async fn two_sites_never_have_one_output() {
    let fleet = fleet!(Fleet::with(&[("a", "a.test"), ("b", "b.test")]));
    let catalogue = &fleet.catalogue;
    let taken = |result: Result<(), CatalogueError>| match result {
        Err(CatalogueError::OutputTaken {
            output,
            site,
            owner,
        }) => (output, site, owner),
        other => panic!("{other:?}"),
    };
    let of_a = |name: &str| NewSite {
        output: "s3://sets/a".to_owned(),
        ..site(name, "c.test")
    };
    let expected = |site: &str| ("s3://sets/a".to_owned(), site.to_owned(), "a".to_owned());
    let refused = catalogue.add(&of_a("c"), now()).await;
    assert_eq!(taken(refused), expected("c"));
    // Whether the site that has it is named again or not.
    for sites in [vec![of_a("b")], vec![site("a", "a.test"), of_a("b")]] {
        let refused = catalogue.import(&sites, now()).await.map(|_| ());
        assert_eq!(taken(refused), expected("b"));
    }
    // An exchange is no conflict.
    let other = |name: &str, output: &str| NewSite {
        output: format!("s3://sets/{output}"),
        ..site(name, &format!("{name}.test"))
    };
    let exchanged = [other("a", "b"), other("b", "a")];
    let count = catalogue.import(&exchanged, now()).await.unwrap();
    assert_eq!(count.changed, 2);
    assert_eq!(catalogue.site("b").await.unwrap().row.output, "s3://sets/a");
}

#[tokio::test]
async fn the_next_session_is_forced_once() {
    let fleet = fleet!(Fleet::with(&[("a", "a.test")]));
    let catalogue = &fleet.catalogue;
    catalogue.run_now("a", true).await.unwrap();
    assert!(fleet.site("a").await.force_next);
    let lease = fleet.claim_one("w").await;
    assert!(fleet.begin(&lease).await.force);
    // The session is repeated after its worker died.
    fleet.expire().await;
    let lease = fleet.claim_one("w").await;
    let session = fleet.begin(&lease).await;
    assert!(session.force);
    // An order during a session is for the one after it.
    assert!(catalogue.run_now("a", true).await.unwrap());
    fleet.end(&lease, &session).await;
    for expected in [true, false] {
        fleet.sql("UPDATE site SET next_run = now()").await;
        let session = fleet.begin(&lease).await;
        assert_eq!(session.force, expected);
        fleet.end(&lease, &session).await;
    }
}

#[tokio::test]
async fn a_session_under_way_is_not_repeated() {
    let fleet = fleet!(Fleet::with(&[("a", "a.test")]));
    let catalogue = &fleet.catalogue;
    assert!(!catalogue.run_now("a", false).await.unwrap());
    let lease = fleet.claim_one("w").await;
    let session = fleet.begin(&lease).await;
    assert!(catalogue.run_now("a", false).await.unwrap());
    assert!(catalogue.pause("a", None, None).await.unwrap());
    let site = fleet.site("a").await.row;
    assert_eq!((site.state, site.is_paused), (SiteState::Running, true));
    catalogue.resume("a").await.unwrap();
    fleet.end(&lease, &session).await;
    assert_eq!(fleet.state("a").await, SiteState::OnDemand);
}

#[tokio::test]
async fn all_set_aside_sites_are_resumed() {
    let sites = [("a", "a.test"), ("b", "b.test"), ("c", "c.test")];
    let fleet = fleet!(Fleet::due(&sites));
    fleet.catalogue.pause("c", None, None).await.unwrap();
    fleet
        .sql("UPDATE site SET set_aside = 'x' WHERE name <> 'b'; UPDATE host SET claimable_at = 'infinity' WHERE name <> 'b.test'")
        .await;
    assert_eq!(fleet.catalogue.resume_set_aside().await.unwrap(), 2);
    assert_eq!(fleet.state("c").await, SiteState::Paused);
    let leases = fleet.claim("w").await;
    let mut due = hosts(&leases);
    due.sort_unstable();
    assert_eq!(due, ["a.test", "b.test"]);
    assert_eq!(fleet.catalogue.resume_set_aside().await.unwrap(), 0);
}

#[tokio::test]
async fn only_old_sets_of_scheduled_sites_are_late() {
    let fleet = fleet!(Fleet::new());
    let nightly = |name: &str| NewSite {
        schedule: Some(nightly(name)),
        ..site(name, "a.test")
    };
    let sites = [
        nightly("a"),
        nightly("b"),
        nightly("c"),
        site("d", "a.test"),
    ];
    fleet.catalogue.import(&sites, now()).await.unwrap();
    let late = async || {
        let day = Duration::from_secs(24 * 60 * 60);
        let late = fleet.catalogue.late(day, 9).await.unwrap();
        let names = late.into_iter().map(|site| site.name);
        names.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(late().await, "");
    fleet
        .sql("UPDATE site SET added = now() - interval '2 days'")
        .await;
    fleet
        .sql("UPDATE site SET published = now() WHERE name = 'b'")
        .await;
    assert_eq!(late().await, "a c");
    fleet.catalogue.pause("c", None, None).await.unwrap();
    assert_eq!(late().await, "a");
}

#[tokio::test]
async fn workers_are_listed_until_they_end() {
    let fleet = fleet!(Fleet::new());
    let catalogue = &fleet.catalogue;
    for (name, sites, is_draining, is_ready) in [
        ("w", 3, false, true),
        ("w", 1, true, true),
        ("v", 0, false, false),
    ] {
        let noted = catalogue.note_worker(name, "0.1.0", now(), sites, is_draining, is_ready);
        noted.await.unwrap();
    }
    catalogue.forget_worker("v").await.unwrap();
    let found = async || catalogue.status().await.unwrap().workers;
    let workers = found().await;
    let [worker] = workers.as_slice() else {
        panic!("{workers:?}")
    };
    let flags = (worker.is_draining, worker.is_ready, worker.is_lost);
    assert_eq!((&*worker.name, worker.sites), ("w", 1));
    assert_eq!(flags, (true, true, false));
    for (minutes, expected) in [(4, Some(true)), (61, None)] {
        let seen = format!("UPDATE worker SET seen = now() - interval '{minutes} min'");
        fleet.sql(&seen).await;
        let workers = found().await;
        assert_eq!(workers.first().map(|worker| worker.is_lost), expected);
    }
}

/// Workers, imports and orders at once: no statement fails by a deadlock, and no host is forgotten.
#[tokio::test]
async fn simultaneous_changes_leave_hosts_due() {
    let fleet = fleet!(Fleet::new());
    let host = |n: usize| format!("h{}.test", n % 12);
    let mut sites: Vec<_> = (0..40).map(|n| site(&format!("s{n}"), &host(n))).collect();
    fleet.catalogue.import(&sites, now()).await.unwrap();
    let catalogue = &fleet.catalogue;
    let worker = async |name: &str| {
        for _ in 0..60 {
            let leases = catalogue.claim(name, 4, TTL).await.unwrap();
            let held: Vec<&HostLease> = leases.iter().collect();
            let in_force = in_a_task(catalogue.heartbeat(&held, TTL)).await.unwrap();
            assert_eq!(in_force.len(), held.len());
            for lease in &leases {
                if let NextSite::Session(session) =
                    in_a_task(catalogue.begin(lease, true)).await.unwrap()
                {
                    let end = in_a_task(catalogue.end(lease, session.id, &ended(None))).await;
                    assert!(
                        matches!(end, Ok(()) | Err(CatalogueError::SiteGone(_))),
                        "{end:?}"
                    );
                }
                catalogue
                    .note_pace(lease, Duration::ZERO, None)
                    .await
                    .unwrap();
                assert!(in_a_task(catalogue.give_back(lease)).await.unwrap());
            }
        }
    };
    let orders = async || {
        for round in 0..150 {
            let name = format!("s{}", round * 7 % 40);
            catalogue.resume(&name).await.unwrap();
            in_a_task(catalogue.run_now(&name, false)).await.unwrap();
        }
    };
    let mut imports = async || {
        for round in 0..15 {
            for site in &mut sites {
                site.settings = format!("round = {round}");
            }
            in_a_task(catalogue.import(&sites, now())).await.unwrap();
        }
    };
    tokio::join!(worker("a"), worker("b"), worker("c"), orders(), imports());
    for n in 0..40 {
        catalogue.resume(&format!("s{n}")).await.unwrap();
        catalogue.run_now(&format!("s{n}"), false).await.unwrap();
    }
    let forgotten = "SELECT count(*)::text FROM host h WHERE owner IS NOT NULL
        OR EXISTS (SELECT FROM site WHERE host = h.name AND next_run < h.claimable_at - interval '2 s')";
    assert_eq!(fleet.value(forgotten).await, "0");
}
