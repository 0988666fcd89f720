//! Sessions of sites under a lease: begin, checkpoint, end, and the move of a site to another host. Each is one fenced transaction.

use std::fmt;

use jiff::Timestamp;
use tokio_postgres::types::ToSql;

use super::{
    Catalogue, CatalogueError, HostLease,
    connection::{begin, change, commit, row},
    leases::{RESCHEDULE, fence, hold},
};
use crate::url_key::HostKey;

/// Sessions in a row that began and did not end, after which a site is set aside: the site may be what kills its workers.
const MAX_ATTEMPTS: i16 = 3;

/// Sessions of a site in the history: a quarter of a year of nightly crawls.
const MAX_RUNS: i64 = 100;

/// Key of a site in the catalogue. A key is never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SiteId(i64);

impl fmt::Display for SiteId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What a worker does next with a host.
#[derive(Debug)]
pub enum NextSite {
    /// A session that has begun. It ends by [`Catalogue::end`].
    Session(SiteSession),
    /// The site was due, and is set aside because of its attempts.
    SetAside {
        /// Name of the site.
        name: String,
        /// Why.
        reason: String,
    },
    /// No site of the host is due: the host is given back.
    NoneDue,
}

/// What a session begins with.
#[derive(Debug)]
#[non_exhaustive]
pub struct SiteSession {
    /// The site.
    pub id: SiteId,
    /// Its name.
    pub name: String,
    /// Its settings: the TOML table of a site.
    pub settings: String,
    /// The state that counts.
    pub state_object: Option<String>,
    /// The published set that counts.
    pub set_id: Option<String>,
}

/// How a session ended.
#[derive(Debug)]
pub struct SiteEnd {
    /// The outcome in a word.
    pub outcome: String,
    /// The summary.
    pub summary: serde_json::Value,
    /// The state that counts from now on; `None`: the same as before.
    pub state_object: Option<String>,
    /// The set that counts from now on; `None`: the same as before.
    pub set_id: Option<String>,
    /// When the set was published; `None`: nothing was published.
    pub published: Option<Timestamp>,
    /// Number of URLs in the set; `None`: the same as before.
    pub listed: Option<u64>,
    /// Next session, see [`super::next_run`]. The current time for a session that was stopped and goes on with another
    /// worker; `None`: never by itself.
    pub next_run: Option<Timestamp>,
}

impl Catalogue {
    /// Begins a session of the site that is due for the longest time, of those on the host that have none under way with this lease.
    /// Sessions of earlier leases are noted as lost. A site whose last three sessions did not end is set aside instead.
    ///
    /// # Errors
    /// [`CatalogueError::LeaseLost`], or the database fails.
    pub async fn begin(&self, lease: &HostLease) -> Result<NextSite, CatalogueError> {
        let mut client = self.client().await?;
        let transaction = fence(&mut client, lease).await?;
        let due = "SELECT id, name, settings, state_object, set_id, attempts FROM site
            WHERE host = $1 AND NOT paused AND set_aside IS NULL AND next_run <= now() AND epoch IS DISTINCT FROM $2
            ORDER BY next_run, id LIMIT 1 FOR NO KEY UPDATE";
        let host = lease.host.as_str();
        let due = row(&transaction, due, &[&host, &lease.epoch]).await?;
        let Some(due) = due else {
            return Ok(NextSite::NoneDue);
        };
        let session = SiteSession {
            id: SiteId(due.get(0)),
            name: due.get(1),
            settings: due.get(2),
            state_object: due.get(3),
            set_id: due.get(4),
        };
        let id = session.id.0;
        let lost =
            "UPDATE run SET ended = now(), outcome = 'lost' WHERE site = $1 AND ended IS NULL";
        change(&transaction, lost, &[&id]).await?;
        let next = if due.get::<_, i16>(5) >= MAX_ATTEMPTS {
            let reason = format!(
                "{MAX_ATTEMPTS} sessions in a row did not end: each lost its lease or moved to another host"
            );
            let aside = "UPDATE site SET set_aside = $2, epoch = NULL WHERE id = $1";
            change(&transaction, aside, &[&id, &reason]).await?;
            NextSite::SetAside {
                name: session.name,
                reason,
            }
        } else {
            let begun = "UPDATE site SET attempts = attempts + 1, epoch = $2 WHERE id = $1";
            change(&transaction, begun, &[&id, &lease.epoch]).await?;
            let run = "INSERT INTO run (site, worker, epoch, began) SELECT $1, owner, epoch, now() FROM host WHERE name = $2";
            change(&transaction, run, &[&id, &host]).await?;
            NextSite::Session(session)
        };
        commit(transaction).await?;
        Ok(next)
    }

    /// Notes the state, and with it the set, from which the next worker goes on if this one dies.
    ///
    /// # Errors
    /// [`CatalogueError::LeaseLost`], [`CatalogueError::SiteGone`], or the database fails.
    pub async fn checkpoint(
        &self,
        lease: &HostLease,
        site: SiteId,
        state_object: &str,
        set_id: Option<&str>,
    ) -> Result<(), CatalogueError> {
        let mut client = self.client().await?;
        let transaction = fence(&mut client, lease).await?;
        let note = "UPDATE site SET state_object = $4, set_id = coalesce($5, set_id)
            WHERE id = $1 AND host = $2 AND epoch = $3";
        let host = lease.host.as_str();
        let values: [&(dyn ToSql + Sync); 5] =
            [&site.0, &host, &lease.epoch, &state_object, &set_id];
        if change(&transaction, note, &values).await? == 0 {
            return Err(CatalogueError::SiteGone(site));
        }
        commit(transaction).await
    }

    /// Ends a session. The next session of the site may begin with the same lease.
    ///
    /// # Errors
    /// [`CatalogueError::LeaseLost`], [`CatalogueError::SiteGone`], or the database fails.
    pub async fn end(
        &self,
        lease: &HostLease,
        site: SiteId,
        end: &SiteEnd,
    ) -> Result<(), CatalogueError> {
        let mut client = self.client().await?;
        let transaction = fence(&mut client, lease).await?;
        let note = "UPDATE site SET epoch = NULL, attempts = 0, outcome = $4, state_object = coalesce($5, state_object),
            set_id = coalesce($6, set_id), published = coalesce($7, published), listed = coalesce($8, listed), next_run = $9
            WHERE id = $1 AND host = $2 AND epoch = $3";
        let listed = end
            .listed
            .map(|urls| i64::try_from(urls).unwrap_or(i64::MAX));
        let host = lease.host.as_str();
        let values: [&(dyn ToSql + Sync); 9] = [
            &site.0,
            &host,
            &lease.epoch,
            &end.outcome,
            &end.state_object,
            &end.set_id,
            &end.published,
            &listed,
            &end.next_run,
        ];
        if change(&transaction, note, &values).await? == 0 {
            return Err(CatalogueError::SiteGone(site));
        }
        let run = "UPDATE run SET ended = now(), outcome = $2, summary = $3 WHERE site = $1 AND ended IS NULL";
        change(&transaction, run, &[&site.0, &end.outcome, &end.summary]).await?;
        let old = "DELETE FROM run WHERE site = $1
            AND id <= (SELECT id FROM run WHERE site = $1 ORDER BY id DESC OFFSET $2 LIMIT 1)";
        change(&transaction, old, &[&site.0, &MAX_RUNS]).await?;
        commit(transaction).await
    }

    /// Ends a session whose start URL redirects to `host`: the site is due there. The attempt counts, so that a site whose hosts
    /// redirect to each other is set aside.
    ///
    /// # Errors
    /// [`CatalogueError::LeaseLost`], [`CatalogueError::SiteGone`], or the database fails.
    pub async fn move_to(
        &self,
        lease: &HostLease,
        site: SiteId,
        host: &HostKey,
    ) -> Result<(), CatalogueError> {
        let mut client = self.client().await?;
        let transaction = begin(&mut client).await?;
        let (from, to) = (lease.host.as_str(), host.as_str());
        let new = "INSERT INTO host (name) VALUES ($1) ON CONFLICT DO NOTHING";
        change(&transaction, new, &[&to]).await?;
        // In the order of names, so that two moves in opposite directions do not wait for each other.
        let both = "SELECT FROM host WHERE name IN ($1, $2) ORDER BY name FOR NO KEY UPDATE";
        change(&transaction, both, &[&from, &to]).await?;
        hold(&transaction, lease).await?;
        let moved =
            "UPDATE site SET host = $4, epoch = NULL WHERE id = $1 AND host = $2 AND epoch = $3";
        if change(&transaction, moved, &[&site.0, &from, &lease.epoch, &to]).await? == 0 {
            return Err(CatalogueError::SiteGone(site));
        }
        let run =
            "UPDATE run SET ended = now(), outcome = 'moved' WHERE site = $1 AND ended IS NULL";
        change(&transaction, run, &[&site.0]).await?;
        change(&transaction, RESCHEDULE, &[&[to].as_slice()]).await?;
        commit(transaction).await
    }
}
