//! The fleet as the catalogue knows it, for people.

use std::{collections::BTreeMap, time::Duration};

use crawler::url_key::HostKey;
use jiff::Timestamp;
use serde::Serialize;
use tokio_postgres::{Row, types::ToSql};

use super::{
    Catalogue, CatalogueError,
    connection::{change, row, rows},
    seconds,
};

/// Every site with its state in a word: the first that is true, in the order of [`SiteState`].
pub(super) const SITES: &str = "
    SELECT s.*, CASE
        WHEN s.epoch = h.epoch AND h.owner IS NOT NULL AND h.lease_until > now() THEN 'running'
        WHEN s.set_aside IS NOT NULL THEN 'set-aside'
        WHEN s.paused_until > now() THEN 'paused'
        WHEN s.next_run IS NULL THEN 'on-demand'
        WHEN s.next_run <= now() THEN 'due'
        ELSE 'waiting' END AS state,
        s.paused_until > now() AS paused,
        CASE WHEN s.paused_until > now() AND isfinite(s.paused_until) THEN s.paused_until END AS pause_end,
        CASE WHEN s.paused_until > now() THEN s.pause_reason END AS pause_text,
        CASE WHEN s.paused_until <= now() THEN s.next_run END AS planned
    FROM site s JOIN host h ON h.name = s.host";

/// Every worker but those that are dead for an hour. A worker describes itself each sixth of its lease time, every 10 s by default.
const WORKERS: &str = "
    SELECT *, seen < now() - interval '3 min' AS is_lost FROM worker
    WHERE seen >= now() - interval '1 hour' ORDER BY name";

/// Activity of a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SiteState {
    /// A session is under way.
    Running,
    /// The sessions did not end: it runs once a day until one does, or it is resumed.
    SetAside,
    /// The site does not run until it is resumed.
    Paused,
    /// The site runs on demand only.
    OnDemand,
    /// A session begins as soon as its host is free.
    Due,
    /// The time of its next session is known.
    Waiting,
}

impl SiteState {
    /// All states.
    pub const ALL: [Self; 6] = [
        Self::Running,
        Self::SetAside,
        Self::Paused,
        Self::OnDemand,
        Self::Due,
        Self::Waiting,
    ];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::SetAside => "set-aside",
            Self::Paused => "paused",
            Self::OnDemand => "on-demand",
            Self::Due => "due",
            Self::Waiting => "waiting",
        }
    }

    fn of(row: &Row) -> Self {
        let word: &str = row.get("state");
        let state = Self::ALL.into_iter().find(|state| state.as_str() == word);
        state.unwrap_or(Self::Waiting)
    }
}

/// A site in a list.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct SiteRow {
    /// The name.
    pub name: String,
    /// The host.
    pub host: HostKey,
    /// The activity.
    pub state: SiteState,
    /// No session begins before it is resumed; one that is under way stops.
    #[serde(rename = "paused")]
    pub is_paused: bool,
    /// When it is resumed by itself.
    pub paused_until: Option<Timestamp>,
    /// Why it is paused.
    pub pause_reason: Option<String>,
    /// The reason for which it is set aside.
    pub set_aside: Option<String>,
    /// URL of its set.
    pub output: String,
    /// The schedule.
    pub schedule: Option<String>,
    /// The next session; `None`: none is planned, or it waits until it is resumed.
    #[serde(rename = "next")]
    pub next_run: Option<Timestamp>,
    /// Outcome of its last session that ended.
    pub outcome: Option<String>,
    /// End of the last session that published or found nothing to change.
    #[serde(rename = "last_good")]
    pub published: Option<Timestamp>,
    /// URLs in its set.
    pub listed: Option<u64>,
}

impl SiteRow {
    fn of(row: &Row) -> Self {
        Self {
            name: row.get("name"),
            host: HostKey::new(row.get("host")),
            state: SiteState::of(row),
            is_paused: row.get("paused"),
            paused_until: row.get("pause_end"),
            pause_reason: row.get("pause_text"),
            set_aside: row.get("set_aside"),
            output: row.get("output"),
            schedule: row.get("schedule"),
            next_run: row.get("planned"),
            outcome: row.get("outcome"),
            published: row.get("published"),
            listed: row.get::<_, Option<i64>>("listed").map(unsigned),
        }
    }
}

/// Everything about a site but its history.
#[derive(Debug)]
#[non_exhaustive]
pub struct SiteDetails {
    /// The line in a list.
    pub row: SiteRow,
    /// The settings.
    pub settings: String,
    /// Time at which it was added.
    pub added: Timestamp,
    /// The state that counts, in the storage of the fleet.
    pub state_object: Option<String>,
    /// The next session publishes in spite of the guard.
    pub force_next: bool,
}

/// A session in the history of a site.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct CatalogueSession {
    /// The worker.
    pub worker: String,
    /// The begin.
    pub began: Timestamp,
    /// The end; `None`: it is under way, or its worker is dead.
    pub ended: Option<Timestamp>,
    /// Outcome as the worker has it, or `lost`, `given-back`.
    pub outcome: Option<String>,
    /// Summary of a session that ended.
    pub summary: Option<serde_json::Value>,
}

/// A worker, as it described itself.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct WorkerRow {
    /// The name.
    pub name: String,
    /// Version of its program.
    pub version: String,
    /// Begin of its process.
    pub began: Timestamp,
    /// Time at which it described itself last.
    pub seen: Timestamp,
    /// The worker did not describe itself for three minutes.
    #[serde(rename = "lost")]
    pub is_lost: bool,
    /// Sites with a session under way.
    pub sites: u32,
    /// Claims no more hosts, and ends its sessions.
    #[serde(rename = "draining")]
    pub is_draining: bool,
    /// `false`: the storage of the states does not answer it, and it claims no hosts.
    #[serde(rename = "ready")]
    pub is_ready: bool,
}

/// Counts of a fleet.
#[derive(Debug)]
#[non_exhaustive]
pub struct FleetStatus {
    /// Number of sites by what they do now.
    pub sites: BTreeMap<SiteState, u64>,
    /// Number of sites by the outcome of the last session that ended.
    pub outcomes: BTreeMap<String, u64>,
    /// Hosts with a lease in force.
    pub leased_hosts: u64,
    /// The first host in the queue, and since when it waits for a worker.
    pub oldest_due: Option<(HostKey, Timestamp)>,
    /// The workers that described themselves within an hour.
    pub workers: Vec<WorkerRow>,
}

impl Catalogue {
    /// At most `limit` sites in the order of their names, those after the name `after`; `state` leaves out all others.
    ///
    /// # Errors
    /// The database fails.
    pub async fn list(
        &self,
        after: &str,
        limit: u32,
        state: Option<SiteState>,
    ) -> Result<Vec<SiteRow>, CatalogueError> {
        let client = self.client().await?;
        let sql = format!(
            "SELECT * FROM ({SITES}) AS s WHERE name > $1 AND ($2::text IS NULL OR state = $2) ORDER BY name LIMIT $3"
        );
        let state = state.map(SiteState::as_str);
        let listed = rows(&client, &sql, &[&after, &state, &i64::from(limit)]).await?;
        Ok(listed.iter().map(SiteRow::of).collect())
    }

    /// Everything about the site `name` but its history.
    ///
    /// # Errors
    /// [`CatalogueError::UnknownSite`], or the database fails.
    pub async fn site(&self, name: &str) -> Result<SiteDetails, CatalogueError> {
        let client = self.client().await?;
        let sql = format!("SELECT * FROM ({SITES}) AS s WHERE name = $1");
        let found = row(&client, &sql, &[&name]).await?;
        let found = found.ok_or_else(|| CatalogueError::UnknownSite(name.to_owned()))?;
        Ok(SiteDetails {
            row: SiteRow::of(&found),
            settings: found.get("settings"),
            added: found.get("added"),
            state_object: found.get("state_object"),
            force_next: found.get("force_next"),
        })
    }

    /// At most `limit` sites whose last good session ended more than `age` ago, or that are older and had none, in the order of their
    /// names. Only sites with a schedule that are not paused count.
    ///
    /// # Errors
    /// The database fails.
    pub async fn late(&self, age: Duration, limit: u32) -> Result<Vec<SiteRow>, CatalogueError> {
        let client = self.client().await?;
        let sql = format!(
            "SELECT * FROM ({SITES}) AS s WHERE schedule IS NOT NULL AND NOT paused
                AND coalesce(published, added) < now() - make_interval(secs => $1) ORDER BY name LIMIT $2"
        );
        let late = rows(&client, &sql, &[&seconds(age), &i64::from(limit)]).await?;
        Ok(late.iter().map(SiteRow::of).collect())
    }

    /// The newest sessions of a site, at most `limit`.
    ///
    /// # Errors
    /// The database fails.
    pub async fn history(
        &self,
        name: &str,
        limit: u32,
    ) -> Result<Vec<CatalogueSession>, CatalogueError> {
        let client = self.client().await?;
        let sql = "SELECT r.* FROM session r JOIN site s ON s.id = r.site WHERE s.name = $1 ORDER BY r.id DESC LIMIT $2";
        let sessions = rows(&client, sql, &[&name, &i64::from(limit)]).await?;
        let session = |row: &Row| CatalogueSession {
            worker: row.get("worker"),
            began: row.get("began"),
            ended: row.get("ended"),
            outcome: row.get("outcome"),
            summary: row.get("summary"),
        };
        Ok(sessions.iter().map(session).collect())
    }

    /// Counts of sites and hosts, and the workers. It reads every site.
    ///
    /// # Errors
    /// The database fails.
    pub async fn status(&self) -> Result<FleetStatus, CatalogueError> {
        let client = self.client().await?;
        let sites = format!("SELECT state, count(*) FROM ({SITES}) AS s GROUP BY state");
        let sites = rows(&client, &sites, &[]).await?;
        let outcomes =
            "SELECT outcome, count(*) FROM site WHERE outcome IS NOT NULL GROUP BY outcome";
        let outcomes = rows(&client, outcomes, &[]).await?;
        let leased = "SELECT count(*) FROM host WHERE owner IS NOT NULL AND lease_until > now()";
        let leased = row(&client, leased, &[]).await?;
        let due = "SELECT name, claimable_at FROM host WHERE claimable_at <= now() ORDER BY claimable_at LIMIT 1";
        let due = row(&client, due, &[]).await?;
        let workers = rows(&client, WORKERS, &[]).await?;
        let worker = |row: &Row| WorkerRow {
            name: row.get("name"),
            version: row.get("version"),
            began: row.get("began"),
            seen: row.get("seen"),
            is_lost: row.get("is_lost"),
            sites: row.get::<_, i32>("sites").unsigned_abs(),
            is_draining: row.get("is_draining"),
            is_ready: row.get("is_ready"),
        };
        let count = |row: &Row| unsigned(row.get("count"));
        let by_state = sites.iter().map(|row| (SiteState::of(row), count(row)));
        let by_outcome = outcomes.iter().map(|row| (row.get("outcome"), count(row)));
        Ok(FleetStatus {
            sites: by_state.collect(),
            outcomes: by_outcome.collect(),
            leased_hosts: leased.map_or(0, |row| count(&row)),
            oldest_due: due.map(|row| (HostKey::new(row.get(0)), row.get(1))),
            workers: workers.iter().map(worker).collect(),
        })
    }

    /// Describes a worker, which is being stopped or not, and ready or not; forgets those that did not describe themselves for an hour.
    ///
    /// # Errors
    /// The database fails.
    pub async fn note_worker(
        &self,
        name: &str,
        version: &str,
        began: Timestamp,
        sites: u32,
        is_draining: bool,
        is_ready: bool,
    ) -> Result<(), CatalogueError> {
        let client = self.client().await?;
        let note =
            "INSERT INTO worker VALUES ($1, $2, $3, now(), $4, $5, $6) ON CONFLICT (name) DO UPDATE
            SET version = $2, began = $3, seen = now(), sites = $4, is_draining = $5, is_ready = $6";
        let sites = i32::try_from(sites).unwrap_or(i32::MAX);
        let values: [&(dyn ToSql + Sync); 6] =
            [&name, &version, &began, &sites, &is_draining, &is_ready];
        change(&client, note, &values).await?;
        let old = "DELETE FROM worker WHERE seen < now() - interval '1 hour'";
        change(&client, old, &[]).await?;
        Ok(())
    }

    /// Forgets a worker that ends in order.
    ///
    /// # Errors
    /// The database fails.
    pub async fn forget_worker(&self, name: &str) -> Result<(), CatalogueError> {
        let client = self.client().await?;
        change(&client, "DELETE FROM worker WHERE name = $1", &[&name]).await?;
        Ok(())
    }
}

/// A count of rows, which is never negative.
fn unsigned(count: i64) -> u64 {
    u64::try_from(count).unwrap_or(0)
}
