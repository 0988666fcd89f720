//! Leases on hosts: claim, heartbeat, fence, give back.

use std::{collections::BTreeMap, time::Duration};

use crawler::{retry_after::MAX_RETRY_AFTER, url_key::HostKey};
use deadpool_postgres::Transaction;
use jiff::Timestamp;
use tokio_postgres::Row;

use super::{
    Catalogue, CatalogueError,
    connection::{Client, begin, change, commit, row, rows},
    seconds,
};

/// `FOR NO KEY UPDATE`, here and below: a row that gets a site, by its foreign key, is not in the way.
const CLAIM: &str = "
    WITH due AS (
        SELECT name, claimable_at FROM host WHERE claimable_at <= now()
        ORDER BY claimable_at LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED)
    UPDATE host h SET owner = $1, epoch = nextval('lease_epoch'), lease_until = now() + make_interval(secs => $3),
        claimable_at = greatest(now() + make_interval(secs => $3) + gap, retry_after)
    FROM due WHERE h.name = due.name
    RETURNING h.name, h.epoch, h.retry_after, due.claimable_at";

/// Rows are locked in the order of names, as an import locks them.
const HEARTBEAT: &str = "
    WITH held AS (
        SELECT h.name FROM host h JOIN unnest($1::text[], $2::bigint[]) AS lease (name, epoch) USING (name, epoch)
        WHERE h.owner IS NOT NULL ORDER BY h.name FOR NO KEY UPDATE OF h)
    UPDATE host h SET lease_until = now() + make_interval(secs => $3),
        claimable_at = greatest(now() + make_interval(secs => $3) + gap, retry_after)
    FROM held WHERE h.name = held.name RETURNING h.name, EXISTS (
        SELECT FROM site s WHERE s.host = h.name AND s.epoch = h.epoch AND s.paused_until > now())";

const HOLD: &str = "
    SELECT lease_until > now() FROM host WHERE name = $1 AND epoch = $2 AND owner IS NOT NULL FOR NO KEY UPDATE";

/// The time from which a host without a lease may be claimed. `$1`: names of hosts, whose rows this transaction has locked before.
pub(super) const RESCHEDULE: &str = "
    UPDATE host h SET claimable_at = greatest(lease_until + gap, retry_after, coalesce((
        SELECT min(greatest(next_run, paused_until)) FROM site WHERE host = h.name AND next_run IS NOT NULL), 'infinity'))
    WHERE owner IS NULL AND name = ANY ($1)";

/// A worker's right to be the only one that sends requests to a host. It ends by [`Catalogue::give_back`], or when no
/// heartbeat renews it.
#[must_use]
#[derive(Debug)]
#[non_exhaustive]
pub struct HostLease {
    /// The host.
    pub host: HostKey,
    /// Number of the lease, higher than those of all earlier leases of any host.
    pub epoch: i64,
    /// The time before which the host asked for no request.
    pub retry_after: Option<Timestamp>,
}

impl Catalogue {
    /// Leases at most `limit` hosts to `worker` for `ttl`, those first that are due for the longest time. A host that another worker
    /// has, or that waits for a gap or by `Retry-After`, is not due.
    ///
    /// # Errors
    /// The database fails.
    pub async fn claim(
        &self,
        worker: &str,
        limit: u32,
        ttl: Duration,
    ) -> Result<Vec<HostLease>, CatalogueError> {
        let client = self.client().await?;
        let values = (i64::from(limit), seconds(ttl));
        let mut claimed = rows(&client, CLAIM, &[&worker, &values.0, &values.1]).await?;
        claimed.sort_by_key(|row| row.get::<_, Timestamp>(3));
        let lease = |row: &Row| HostLease {
            host: HostKey::new(row.get(0)),
            epoch: row.get(1),
            retry_after: row.get(2),
        };
        Ok(claimed.iter().map(lease).collect())
    }

    /// Renews leases: each ends `ttl` from now. Returns the hosts of those that are in force, with whether the site is paused whose session
    /// is under way.
    ///
    /// # Errors
    /// The database fails: nothing is known of the leases.
    pub async fn heartbeat(
        &self,
        leases: &[&HostLease],
        ttl: Duration,
    ) -> Result<BTreeMap<HostKey, bool>, CatalogueError> {
        let client = self.client().await?;
        let names: Vec<&str> = leases.iter().map(|lease| lease.host.as_str()).collect();
        let epochs: Vec<i64> = leases.iter().map(|lease| lease.epoch).collect();
        let renewed = rows(&client, HEARTBEAT, &[&names, &epochs, &seconds(ttl)]).await?;
        let renewed = renewed.iter();
        let renewed = renewed.map(|row| (HostKey::new(row.get(0)), row.get(1)));
        Ok(renewed.collect())
    }

    /// Checks that the lease is in force, as before the index of a set is written.
    ///
    /// # Errors
    /// [`CatalogueError::LeaseLost`], or the database fails.
    pub async fn check_lease(&self, lease: &HostLease) -> Result<(), CatalogueError> {
        let mut client = self.client().await?;
        commit(fence(&mut client, lease).await?).await
    }

    /// Notes what the next worker has to know of the host: the longest time between two requests to it, and the time before which the
    /// host asked for no request. A noted `retry_after` is never shortened, and ends in a day at the latest.
    ///
    /// # Errors
    /// [`CatalogueError::LeaseLost`], or the database fails.
    pub async fn note_pace(
        &self,
        lease: &HostLease,
        gap: Duration,
        retry_after: Option<Timestamp>,
    ) -> Result<(), CatalogueError> {
        let mut client = self.client().await?;
        let transaction = fence(&mut client, lease).await?;
        let retry = "UPDATE host SET gap = make_interval(secs => $2),
            retry_after = greatest(retry_after,
                CASE WHEN $3::timestamptz IS NOT NULL THEN least($3, now() + make_interval(secs => $4)) END)
            WHERE name = $1";
        let host = lease.host.as_str();
        let (gap, longest) = (seconds(gap), seconds(MAX_RETRY_AFTER));
        change(&transaction, retry, &[&host, &gap, &retry_after, &longest]).await?;
        let claimable = "UPDATE host SET claimable_at = greatest(lease_until + gap, retry_after) WHERE name = $1";
        change(&transaction, claimable, &[&host]).await?;
        commit(transaction).await
    }

    /// Gives a host back: after its gap and its `Retry-After` it is due with the first of its sites. Sites whose sessions did not
    /// end stay due, and these sessions do not count as lost. Returns `false` if the lease was lost; then nothing has changed.
    ///
    /// # Errors
    /// The database fails; the lease then ends by itself.
    pub async fn give_back(&self, lease: &HostLease) -> Result<bool, CatalogueError> {
        let mut client = self.client().await?;
        let transaction = begin(&mut client).await?;
        let host = lease.host.as_str();
        if row(&transaction, HOLD, &[&host, &lease.epoch])
            .await?
            .is_none()
        {
            return Ok(false);
        }
        let sessions = "
            WITH open AS (UPDATE site SET epoch = NULL, attempts = greatest(attempts - 1, 0) WHERE host = $1 AND epoch = $2 RETURNING id)
            UPDATE session SET ended = now(), outcome = 'given-back' FROM open WHERE session.site = open.id AND session.ended IS NULL";
        change(&transaction, sessions, &[&host, &lease.epoch]).await?;
        let free = "UPDATE host SET owner = NULL, lease_until = now() WHERE name = $1";
        change(&transaction, free, &[&host]).await?;
        change(&transaction, RESCHEDULE, &[&[host].as_slice()]).await?;
        commit(transaction).await?;
        Ok(true)
    }
}

/// A transaction that begins with the fence: it has locked the row of the host, and the lease is in force.
pub(super) async fn fence<'a>(
    client: &'a mut Client,
    lease: &HostLease,
) -> Result<Transaction<'a>, CatalogueError> {
    let transaction = begin(client).await?;
    let held = row(&transaction, HOLD, &[&lease.host.as_str(), &lease.epoch]).await?;
    match held {
        Some(row) if row.get(0) => Ok(transaction),
        Some(_) | None => Err(CatalogueError::LeaseLost(lease.host.clone())),
    }
}
