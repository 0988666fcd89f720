//! The catalogue against `PostgreSQL`. Nothing waits: a test moves the times in the tables instead.

mod claims;
mod server;

use std::{collections::HashSet, sync::Arc, time::Duration};

use jiff::Timestamp;
use serde_json::json;

use self::server::Server;
use super::*;
use crate::{
    schedule::{Schedule, zone},
    url_key::HostKey,
};

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

    async fn begin(&self, lease: &HostLease) -> SiteSession {
        match self.catalogue.begin(lease, true).await.unwrap() {
            NextSite::Session(session) => session,
            other => panic!("{other:?}"),
        }
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
async fn a_migration_makes_tables_once_and_refuses_those_of_a_newer_program() {
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
async fn encryption_is_as_the_url_says_and_certificates_are_verified() {
    let Some(server) = Server::shared() else {
        return;
    };
    let address = format!(
        "postgres://arpent:secret@localhost:{}/postgres",
        server.port
    );
    let authority = server.certificate().display().to_string();
    for (options, encrypted) in [
        ("sslmode=disable".to_owned(), Ok(false)),
        (
            format!("sslmode=verify-full&sslrootcert={authority}"),
            Ok(true),
        ),
        (format!("sslrootcert={authority}"), Ok(true)),
        (
            "sslmode=require".to_owned(),
            Err("sslrootcert=FILE in the URL"),
        ),
        (
            format!("sslrootcert={authority}.none"),
            Err("expected certificates in PEM format"),
        ),
        ("sslmode=maybe".to_owned(), Err("sslmode")),
        (
            "sslmode=disable&user=nobody".to_owned(),
            Err("lets this user in"),
        ),
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
            (Err(error), Err(part)) => {
                assert!(error.contains(part), "{options}: {error}");
                let is_about_certificate = part.starts_with("sslrootcert");
                assert_eq!(
                    error.contains("sslrootcert"),
                    is_about_certificate,
                    "{error}"
                );
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
async fn hosts_are_claimed_in_the_order_in_which_they_fell_due() {
    let fleet = fleet!(Fleet::with(&[
        ("a", "a.test"),
        ("b", "b.test"),
        ("c", "c.test"),
        ("d", "d.test")
    ]));
    assert!(fleet.claim("w").await.is_empty());
    for name in ["c", "a", "d", "b"] {
        fleet.catalogue.run_now(name, false).await.unwrap();
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
    assert!(!a.is_empty() && !b.is_empty() && !c.is_empty());
    let all: HashSet<_> = a.iter().chain(&b).chain(&c).collect();
    assert_eq!((all.len(), a.len() + b.len() + c.len()), (200, 200));
}

#[tokio::test]
async fn a_heartbeat_renews_only_what_the_worker_has() {
    let fleet = fleet!(Fleet::with(&[("a", "a.test"), ("b", "b.test")]));
    fleet.catalogue.run_now("a", false).await.unwrap();
    fleet.catalogue.run_now("b", false).await.unwrap();
    let old = fleet.claim("old").await;
    assert_eq!(
        fleet
            .catalogue
            .heartbeat(&[&old[0], &old[1]], TTL)
            .await
            .unwrap(),
        []
    );
    // An expired lease that nobody claimed is renewed.
    fleet.expire().await;
    assert_eq!(
        fleet.catalogue.heartbeat(&[&old[0]], TTL).await.unwrap(),
        []
    );
    let new = fleet.claim_one("new").await;
    assert_eq!(new.host, old[1].host);
    assert!(new.epoch > old[1].epoch);
    let lost = fleet
        .catalogue
        .heartbeat(&[&old[0], &old[1]], TTL)
        .await
        .unwrap();
    assert_eq!(lost, [HostKey::new("b.test")]);
    assert!(fleet.catalogue.give_back(&new).await.unwrap());
    let lost = fleet.catalogue.heartbeat(&[&new], TTL).await.unwrap();
    assert_eq!(lost, [HostKey::new("b.test")]);
}

#[tokio::test]
async fn a_lost_lease_changes_nothing() {
    let fleet = fleet!(Fleet::with(&[("a", "a.test")]));
    fleet.catalogue.run_now("a", false).await.unwrap();
    let old = fleet.claim_one("old").await;
    let session = fleet.begin(&old).await;
    fleet
        .catalogue
        .checkpoint(&old, session.id, "1/1-1")
        .await
        .unwrap();
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
        if let Some(new) = new {
            assert!(!catalogue.give_back(&old).await.unwrap());
            assert_eq!(fleet.value(dump).await, before);
            let session = fleet.begin(&new).await;
            assert_eq!(session.state_object.as_deref(), Some("1/1-1"));
            assert_eq!(fleet.outcomes("a").await, [None, Some("lost".to_owned())]);
        } else {
            assert_eq!(fleet.value(dump).await, before);
        }
    }
}

#[tokio::test]
async fn a_session_ends_with_its_state_and_its_next_run() {
    let fleet = fleet!(Fleet::new());
    let two = [
        NewSite {
            schedule: Some(nightly("a")),
            ..site("a", "a.test")
        },
        site("b", "a.test"),
    ];
    fleet.catalogue.import(&two, now()).await.unwrap();
    assert_eq!(fleet.state("b").await, SiteState::OnDemand);
    fleet.catalogue.run_now("a", false).await.unwrap();
    fleet.catalogue.run_now("b", false).await.unwrap();
    let lease = fleet.claim_one("w").await;
    let (first, second) = (fleet.begin(&lease).await, fleet.begin(&lease).await);
    assert_eq!((&*first.name, &*second.name), ("a", "b"));
    assert_eq!(first.settings, "url = \"https://a.test/\"");
    assert_eq!(fleet.state("a").await, SiteState::Running);
    let next = "2100-01-01T00:00:00Z".parse().ok();
    let state = "1/9-2";
    fleet
        .catalogue
        .checkpoint(&lease, first.id, state)
        .await
        .unwrap();
    fleet
        .catalogue
        .end(&lease, first.id, &ended(next))
        .await
        .unwrap();
    // Once more would be a mistake of the worker.
    let again = fleet.catalogue.end(&lease, first.id, &ended(next)).await;
    assert!(
        matches!(again, Err(CatalogueError::SiteGone(_))),
        "{again:?}"
    );
    fleet.catalogue.remove("b").await.unwrap();
    let removed = fleet.catalogue.end(&lease, second.id, &ended(None)).await;
    assert!(
        matches!(removed, Err(CatalogueError::SiteGone(_))),
        "{removed:?}"
    );
    assert!(matches!(
        fleet.catalogue.begin(&lease, true).await.unwrap(),
        NextSite::NoneDue
    ));
    assert!(fleet.catalogue.give_back(&lease).await.unwrap());
    assert!(fleet.claim("w").await.is_empty());

    let listed = fleet.catalogue.list("", 10, None).await.unwrap();
    let a = &listed[0];
    assert_eq!(
        (a.state, a.next_run, a.listed),
        (SiteState::Waiting, next, Some(12))
    );
    assert_eq!(a.schedule.as_deref(), Some("30 2 * * * UTC"));
    let run = fleet.catalogue.history("a", 1).await.unwrap().remove(0);
    assert_eq!(run.worker, "w");
    assert_eq!(run.summary, Some(json!({"listed": 12})));
    fleet.catalogue.run_now("a", false).await.unwrap();
    fleet.expire().await;
    fleet.catalogue.run_now("a", false).await.unwrap();
    let lease = fleet.claim_one("w").await;
    let session = fleet.begin(&lease).await;
    assert_eq!(session.state_object.as_deref(), Some(state));
}

#[tokio::test]
async fn a_site_is_set_aside_after_three_lost_leases() {
    let fleet = fleet!(Fleet::with(&[("a", "a.test")]));
    fleet.catalogue.run_now("a", false).await.unwrap();
    for _ in 0..3 {
        let lease = fleet.claim_one("w").await;
        drop(fleet.begin(&lease).await);
        fleet.expire().await;
    }
    let lease = fleet.claim_one("w").await;
    let next = fleet.catalogue.begin(&lease, true).await.unwrap();
    assert!(
        matches!(&next, NextSite::SetAside { name, .. } if name == "a"),
        "{next:?}"
    );
    assert!(matches!(
        fleet.catalogue.begin(&lease, true).await.unwrap(),
        NextSite::NoneDue
    ));
    assert!(fleet.catalogue.give_back(&lease).await.unwrap());
    let status = fleet.catalogue.status().await.unwrap();
    assert_eq!(status.sites[&SiteState::SetAside], 1);
    let aside = fleet
        .catalogue
        .list("", 9, Some(SiteState::SetAside))
        .await
        .unwrap();
    assert!(aside[0].set_aside.is_some());
    let refused = fleet.catalogue.run_now("a", false).await.unwrap_err();
    assert!(
        matches!(refused, CatalogueError::NotRunnable(_)),
        "{refused}"
    );
    fleet.catalogue.resume("a").await.unwrap();
    fleet.expire().await;
    fleet.catalogue.run_now("a", false).await.unwrap();
    let lease = fleet.claim_one("w").await;
    assert_eq!(fleet.begin(&lease).await.name, "a");
}

#[tokio::test]
async fn a_site_that_is_set_aside_is_tried_again_after_a_day() {
    let fleet = fleet!(Fleet::with(&[("a", "a.test")]));
    fleet.catalogue.run_now("a", false).await.unwrap();
    for _ in 0..3 {
        let lease = fleet.claim_one("w").await;
        drop(fleet.begin(&lease).await);
        fleet.expire().await;
    }
    for _ in 0..2 {
        let lease = fleet.claim_one("w").await;
        let next = fleet.catalogue.begin(&lease, true).await.unwrap();
        assert!(matches!(next, NextSite::SetAside { .. }), "{next:?}");
        assert!(fleet.catalogue.give_back(&lease).await.unwrap());
        fleet.expire().await;
        assert!(fleet.claim("w").await.is_empty());
        let days = "SELECT count(*)::text FROM site
            WHERE next_run BETWEEN now() + interval '23 h' AND now() + interval '25 h'";
        assert_eq!(fleet.value(days).await, "1");
        fleet.tomorrow().await;
        let lease = fleet.claim_one("w").await;
        // It has its worker to itself.
        let next = fleet.catalogue.begin(&lease, false).await.unwrap();
        assert!(matches!(next, NextSite::Alone), "{next:?}");
        drop(fleet.begin(&lease).await);
        fleet.expire().await;
    }
    fleet.tomorrow().await;
    let lease = fleet.claim_one("w").await;
    let next = fleet.catalogue.begin(&lease, true).await.unwrap();
    assert!(matches!(next, NextSite::SetAside { .. }), "{next:?}");
    assert!(fleet.catalogue.give_back(&lease).await.unwrap());
    fleet.tomorrow().await;
    let lease = fleet.claim_one("w").await;
    let session = fleet.begin(&lease).await;
    let end = ended(None);
    fleet.catalogue.end(&lease, session.id, &end).await.unwrap();
    let site = fleet.catalogue.site("a").await.unwrap();
    assert_eq!(site.row.set_aside, None);
}

#[tokio::test]
async fn a_lost_session_that_stored_a_checkpoint_counts_against_nobody() {
    let fleet = fleet!(Fleet::with(&[("a", "a.test")]));
    fleet.catalogue.run_now("a", false).await.unwrap();
    for number in 0..9 {
        let lease = fleet.claim_one("w").await;
        let session = fleet.begin(&lease).await;
        if number % 2 == 1 {
            let stored = fleet.catalogue.checkpoint(&lease, session.id, "1/1-1");
            stored.await.unwrap();
        }
        fleet.expire().await;
    }
    let lease = fleet.claim_one("w").await;
    assert_eq!(fleet.begin(&lease).await.name, "a");
}

#[tokio::test]
async fn a_host_that_is_given_back_is_due_after_its_gap() {
    let fleet = fleet!(Fleet::with(&[("a", "a.test")]));
    fleet.catalogue.run_now("a", false).await.unwrap();
    for _ in 0..5 {
        let lease = fleet.claim_one("w").await;
        drop(fleet.begin(&lease).await);
        // As at a drain: the session did not end, and is not lost either.
        assert!(fleet.catalogue.give_back(&lease).await.unwrap());
        assert_eq!(fleet.state("a").await, SiteState::Due);
        assert!(fleet.claim("w").await.is_empty());
        // Another order does not shorten the gap.
        fleet.catalogue.run_now("a", false).await.unwrap();
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
    let fleet = fleet!(Fleet::with(&[("a", "a.test")]));
    fleet.catalogue.run_now("a", false).await.unwrap();
    fleet.catalogue.pause("a").await.unwrap();
    assert_eq!(fleet.state("a").await, SiteState::Paused);
    assert!(fleet.claim("w").await.is_empty());
    let next = |site: SiteDetails| site.row.next_run;
    assert_eq!(next(fleet.catalogue.site("a").await.unwrap()), None);
    assert!(fleet.catalogue.resume("a").await.unwrap());
    assert!(next(fleet.catalogue.site("a").await.unwrap()).is_some());
    assert!(
        !fleet.catalogue.resume("a").await.unwrap(),
        "it is not paused"
    );
    let lease = fleet.claim_one("w").await;
    assert!(!fleet.catalogue.pause("a").await.unwrap());
    assert!(matches!(
        fleet.catalogue.begin(&lease, true).await.unwrap(),
        NextSite::NoneDue
    ));
    let unknown = fleet.catalogue.pause("b").await.unwrap_err();
    assert!(
        matches!(unknown, CatalogueError::UnknownSite(_)),
        "{unknown}"
    );
}

#[tokio::test]
async fn retry_after_and_gap_go_with_the_host() {
    let fleet = fleet!(Fleet::with(&[("a", "a.test"), ("b", "a.test")]));
    fleet.catalogue.run_now("a", false).await.unwrap();
    let lease = fleet.claim_one("w").await;
    assert_eq!(lease.retry_after, None);
    let wall = fleet
        .value("SELECT to_char(now() + interval '2 h', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')")
        .await;
    let wait: Timestamp = wall.parse().unwrap();
    fleet
        .catalogue
        .note_pace(&lease, Duration::from_secs(30), Some(wait))
        .await
        .unwrap();
    fleet
        .catalogue
        .note_pace(&lease, Duration::from_secs(40), None)
        .await
        .unwrap();
    assert_eq!(fleet.value("SELECT gap::text FROM host").await, "00:00:40");
    // Whether the worker dies or gives the host back: nobody gets it before.
    fleet.expire().await;
    fleet
        .sql("UPDATE host SET claimable_at = greatest(lease_until + gap, retry_after)")
        .await;
    assert!(fleet.claim("w").await.is_empty());
    assert_eq!(fleet.catalogue.heartbeat(&[&lease], TTL).await.unwrap(), []);
    assert!(fleet.catalogue.give_back(&lease).await.unwrap());
    fleet.catalogue.run_now("b", false).await.unwrap();
    assert!(fleet.claim("w").await.is_empty());
    let until = "SELECT (claimable_at = retry_after)::text FROM host";
    assert_eq!(fleet.value(until).await, "true");
    fleet.sql("UPDATE host SET claimable_at = now()").await;
    let lease = fleet.claim_one("w").await;
    assert_eq!(lease.retry_after, Some(wait));
    // A year is the mistake of a clock.
    let year = "2100-01-01T00:00:00Z".parse().ok();
    fleet.catalogue.note_pace(&lease, TTL, year).await.unwrap();
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
    assert!(catalogue.site("a").await.unwrap().force_next);
    let lease = fleet.claim_one("w").await;
    assert!(fleet.begin(&lease).await.force);
    // The session is repeated after its worker died.
    fleet.expire().await;
    let lease = fleet.claim_one("w").await;
    let session = fleet.begin(&lease).await;
    assert!(session.force);
    // An order during a session is for the one after it.
    assert!(catalogue.run_now("a", true).await.unwrap());
    let end = ended(Some(now()));
    catalogue.end(&lease, session.id, &end).await.unwrap();
    for expected in [true, false] {
        fleet.sql("UPDATE site SET next_run = now()").await;
        let session = fleet.begin(&lease).await;
        assert_eq!(session.force, expected);
        catalogue.end(&lease, session.id, &end).await.unwrap();
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
    assert!(catalogue.pause("a").await.unwrap());
    let site = catalogue.site("a").await.unwrap().row;
    assert_eq!((site.state, site.is_paused), (SiteState::Running, true));
    catalogue.resume("a").await.unwrap();
    catalogue
        .end(&lease, session.id, &ended(None))
        .await
        .unwrap();
    assert_eq!(fleet.state("a").await, SiteState::OnDemand);
}

#[tokio::test]
async fn all_sites_that_are_set_aside_are_resumed() {
    let fleet = fleet!(Fleet::with(&[
        ("a", "a.test"),
        ("b", "b.test"),
        ("c", "c.test")
    ]));
    for name in ["a", "b", "c"] {
        fleet.catalogue.run_now(name, false).await.unwrap();
    }
    fleet.catalogue.pause("c").await.unwrap();
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
async fn a_site_is_late_when_its_last_good_session_is_too_old() {
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
    fleet.catalogue.pause("c").await.unwrap();
    assert_eq!(late().await, "a");
}

#[tokio::test]
async fn workers_are_listed_until_they_end() {
    let fleet = fleet!(Fleet::new());
    fleet
        .catalogue
        .note_worker("w", "0.1.0", now(), 3, (false, true))
        .await
        .unwrap();
    fleet
        .catalogue
        .note_worker("w", "0.1.0", now(), 1, (true, true))
        .await
        .unwrap();
    fleet
        .catalogue
        .note_worker("v", "0.1.0", now(), 0, (false, false))
        .await
        .unwrap();
    fleet.catalogue.forget_worker("v").await.unwrap();
    let status = fleet.catalogue.status().await.unwrap();
    let [worker] = status.workers.as_slice() else {
        panic!("{status:?}")
    };
    assert_eq!(
        (
            &*worker.name,
            worker.sites,
            worker.is_draining,
            worker.is_ready
        ),
        ("w", 1, true, true)
    );
    assert!(!worker.is_lost);
    fleet
        .sql("UPDATE worker SET seen = now() - interval '4 min'")
        .await;
    let status = fleet.catalogue.status().await.unwrap();
    assert!(status.workers[0].is_lost);
    fleet
        .sql("UPDATE worker SET seen = now() - interval '61 min'")
        .await;
    assert!(fleet.catalogue.status().await.unwrap().workers.is_empty());
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
            assert_eq!(
                in_a_task(catalogue.heartbeat(&held, TTL)).await.unwrap(),
                []
            );
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
