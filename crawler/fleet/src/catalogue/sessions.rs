//! Sessions of sites under a lease: begin, checkpoint, end. Each is one fenced transaction.

use std::fmt;

use jiff::Timestamp;
use tokio_postgres::types::ToSql;

use super::{
    Catalogue, CatalogueError, HostLease,
    connection::{change, commit, row},
    leases::fence,
};

/// Sessions in a row that began, stored no checkpoint and did not end, after which a site is set aside: the site may be what kills
/// its workers.
const MAX_ATTEMPTS: i16 = 3;

/// After so many, a session has its worker to itself, so that its end is nobody else's.
const ATTEMPTS_TOGETHER: i16 = 2;

/// Sessions of a site in the history: a quarter of a year of nightly crawls.
const MAX_SESSIONS: i64 = 100;

/// Key of a site in the catalogue. A key is never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SiteId(i64);

impl fmt::Display for SiteId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The next step of a worker with a host.
#[derive(Debug)]
pub enum NextSite {
    /// A session that has begun. It ends by [`Catalogue::end`].
    Session(SiteSession),
    /// The site was due, and is set aside because of its attempts.
    SetAside {
        /// Name of the site.
        name: String,
        /// The reason.
        reason: String,
    },
    /// The session may end its worker, so that no other may be under way there: the worker asks again when none is.
    Alone,
    /// No site of the host is due: the host is given back.
    NoneDue,
}

/// The start of a session.
#[derive(Debug)]
#[non_exhaustive]
pub struct SiteSession {
    /// The site.
    pub id: SiteId,
    /// The name.
    pub name: String,
    /// The settings: a settings file with this site alone.
    pub settings: String,
    /// The state that counts.
    pub state_object: Option<String>,
    /// The session publishes in spite of the guard.
    pub force: bool,
}

/// The end of a session.
#[derive(Debug)]
pub struct SiteEnd {
    /// The outcome in a word.
    pub outcome: String,
    /// The summary.
    pub summary: serde_json::Value,
    /// Time at which the set was published or found up to date; `None`: neither.
    pub published: Option<Timestamp>,
    /// Number of URLs in the set; `None`: the same as before.
    pub listed: Option<u64>,
    /// Next session, see [`super::next_run`]; in a minute at the earliest. `None`: never by itself.
    pub next_run: Option<Timestamp>,
}

impl Catalogue {
    /// Begins a session of the site that is due for the longest time, of those on the host that have none under way with this lease.
    /// Sessions of earlier leases are noted as lost. A site whose last three sessions stored no checkpoint and did not end is set
    /// aside instead, and tried again after a day. `is_alone`: the worker has no other session.
    ///
    /// # Errors
    /// [`CatalogueError::LeaseLost`], or the database fails.
    pub async fn begin(
        &self,
        lease: &HostLease,
        is_alone: bool,
    ) -> Result<NextSite, CatalogueError> {
        let mut client = self.client().await?;
        let transaction = fence(&mut client, lease).await?;
        let due = "SELECT id, name, settings, state_object, attempts FROM site
            WHERE host = $1 AND paused_until <= now() AND next_run <= now() AND epoch IS DISTINCT FROM $2
            ORDER BY next_run, id LIMIT 1 FOR NO KEY UPDATE";
        let host = lease.host.as_str();
        let due = row(&transaction, due, &[&host, &lease.epoch]).await?;
        let Some(due) = due else {
            return Ok(NextSite::NoneDue);
        };
        let mut session = SiteSession {
            id: SiteId(due.get(0)),
            name: due.get(1),
            settings: due.get(2),
            state_object: due.get(3),
            force: false,
        };
        let (id, attempts) = (session.id.0, due.get::<_, i16>(4));
        if attempts == ATTEMPTS_TOGETHER && !is_alone {
            return Ok(NextSite::Alone);
        }
        let lost =
            "UPDATE session SET ended = now(), outcome = 'lost' WHERE site = $1 AND ended IS NULL";
        change(&transaction, lost, &[&id]).await?;
        let next = if attempts >= MAX_ATTEMPTS {
            let reason = format!(
                "{MAX_ATTEMPTS} sessions in a row did not end: each lost its lease before a checkpoint"
            );
            let aside = "UPDATE site SET set_aside = $2, epoch = NULL, attempts = $3, next_run = now() + interval '1 day'
                WHERE id = $1";
            change(&transaction, aside, &[&id, &reason, &ATTEMPTS_TOGETHER]).await?;
            NextSite::SetAside {
                name: session.name,
                reason,
            }
        } else {
            let begun = "UPDATE site SET attempts = attempts + 1, epoch = $2, forced = forced OR force_next, force_next = false
                WHERE id = $1 RETURNING forced";
            let begun = row(&transaction, begun, &[&id, &lease.epoch]).await?;
            session.force = begun.is_some_and(|row| row.get(0));
            let note = "INSERT INTO session (site, worker, epoch, began) SELECT $1, owner, epoch, now() FROM host WHERE name = $2";
            change(&transaction, note, &[&id, &host]).await?;
            NextSite::Session(session)
        };
        let old = "DELETE FROM session WHERE site = $1
            AND id <= (SELECT id FROM session WHERE site = $1 ORDER BY id DESC OFFSET $2 LIMIT 1)";
        change(&transaction, old, &[&id, &MAX_SESSIONS]).await?;
        commit(transaction).await?;
        Ok(next)
    }

    /// Notes the state from which the next worker goes on if this one dies; then the session does not count as one that did not end.
    ///
    /// # Errors
    /// [`CatalogueError::LeaseLost`], [`CatalogueError::SiteGone`], or the database fails.
    pub async fn checkpoint(
        &self,
        lease: &HostLease,
        site: SiteId,
        state_object: &str,
    ) -> Result<(), CatalogueError> {
        let mut client = self.client().await?;
        let transaction = fence(&mut client, lease).await?;
        let note = "UPDATE site SET state_object = $4, attempts = 0, set_aside = NULL WHERE id = $1 AND host = $2 AND epoch = $3";
        let host = lease.host.as_str();
        let values: [&(dyn ToSql + Sync); 4] = [&site.0, &host, &lease.epoch, &state_object];
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
        let note = "UPDATE site SET epoch = NULL, attempts = 0, set_aside = NULL, forced = false, outcome = $4,
            published = coalesce($5, published), listed = coalesce($6, listed),
            next_run = CASE WHEN $7::timestamptz IS NOT NULL THEN greatest($7, now() + interval '1 minute') END
            WHERE id = $1 AND host = $2 AND epoch = $3";
        let listed = end
            .listed
            .map(|urls| i64::try_from(urls).unwrap_or(i64::MAX));
        let host = lease.host.as_str();
        let values: [&(dyn ToSql + Sync); 7] = [
            &site.0,
            &host,
            &lease.epoch,
            &end.outcome,
            &end.published,
            &listed,
            &end.next_run,
        ];
        if change(&transaction, note, &values).await? == 0 {
            return Err(CatalogueError::SiteGone(site));
        }
        let note = "UPDATE session SET ended = now(), outcome = $2, summary = $3 WHERE site = $1 AND ended IS NULL";
        change(&transaction, note, &[&site.0, &end.outcome, &end.summary]).await?;
        commit(transaction).await
    }
}
