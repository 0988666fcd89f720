//! The catalogue of a fleet: sites, their settings and schedules, leases on hosts, and the history of sessions, in one `PostgreSQL`
//! database that many workers share. It is SQL only: it runs no session, parses no settings and waits for nothing but the
//! database.
//!
//! A worker claims hosts that are due ([`Catalogue::claim`]), renews its leases ([`Catalogue::heartbeat`]), begins the due sites of
//! a host one after the other ([`Catalogue::begin`]), ends each ([`Catalogue::end`]), and gives the host back
//! ([`Catalogue::give_back`]). A lease is on a host, so the sites of one host never run on two workers.
//!
//! **Fence**: whatever a worker writes about a host or its sites is a transaction that first locks the row of the host and finds the
//! epoch of the worker's lease in it. A worker that lost its lease gets [`CatalogueError::LeaseLost`], and nothing has changed.
//! All times are those of the database server.

mod connection;
mod error;
mod leases;
mod sessions;
mod sites;
mod status;
mod tls;
mod view;

#[cfg(test)]
mod tests;

use std::{fmt, time::Duration};

use deadpool_postgres::Pool;

use self::connection::{Client, begin, change, row};
pub use self::{
    error::CatalogueError,
    leases::HostLease,
    sessions::{NextSite, SiteEnd, SiteId, SiteSession},
    sites::{ImportCount, NewSite, next_run},
    status::{CatalogueSession, FleetStatus, SiteDetails, SiteRow, SiteState, WorkerRow},
    view::FleetReport,
};

/// The steps that make the tables, in order; a step that was released never changes.
const MIGRATIONS: [(i32, &str); 1] = [(1, include_str!("catalogue/migrations/1.sql"))];

/// The version of the tables that this program knows.
pub const VERSION: i32 = MIGRATIONS[MIGRATIONS.len() - 1].0;

/// Key of the advisory lock of migrations: one at a time.
const MIGRATION_LOCK: i64 = 0x6172_7065_6e74_0001;

/// A catalogue in `PostgreSQL`.
pub struct Catalogue {
    pool: Pool,
    place: String,
}

impl fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Catalogue").field(&self.place).finish()
    }
}

impl Catalogue {
    /// Connects to the database at `url`, `postgres://USER:PASSWORD@HOST/DATABASE?OPTION=VALUE`, and keeps at most four
    /// connections.
    ///
    /// With `sslmode=disable` nothing is encrypted. With `prefer`, the default, everything is encrypted if the server can. With
    /// `require`, `verify-ca` or `verify-full` there is no connection without encryption. The certificate of the server is always
    /// verified, by the authorities that the platform trusts and those in the file that `sslrootcert` names.
    ///
    /// # Errors
    /// The URL is wrong, certificates cannot be read, or there is no connection.
    pub async fn connect(url: &str) -> Result<Self, CatalogueError> {
        let (pool, place) = connection::pool(url)?;
        let catalogue = Self { pool, place };
        drop(catalogue.client().await?);
        Ok(catalogue)
    }

    /// Server and database, without credentials.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Creates the tables, or brings them to the version of this program. Returns the version that they had: 0 without tables.
    ///
    /// # Errors
    /// The tables are of a newer program, or a statement fails; then nothing has changed.
    pub async fn migrate(&self) -> Result<i32, CatalogueError> {
        let mut client = self.client().await?;
        let transaction = begin(&mut client).await?;
        let lock = "SELECT FROM pg_advisory_xact_lock($1)";
        change(&transaction, lock, &[&MIGRATION_LOCK]).await?;
        let table = "CREATE TABLE IF NOT EXISTS arpent_version (version integer PRIMARY KEY, migrated timestamptz NOT NULL)";
        change(&transaction, table, &[]).await?;
        let found = "SELECT coalesce(max(version), 0) FROM arpent_version";
        let found: i32 = row(&transaction, found, &[])
            .await?
            .map_or(0, |row| row.get(0));
        if found > VERSION {
            return Err(CatalogueError::Newer {
                found,
                known: VERSION,
            });
        }
        for (version, migration) in MIGRATIONS {
            if version > found {
                let failed = CatalogueError::statement;
                transaction.batch_execute(migration).await.map_err(failed)?;
                let note = "INSERT INTO arpent_version VALUES ($1, now())";
                change(&transaction, note, &[&version]).await?;
            }
        }
        connection::commit(transaction).await?;
        Ok(found)
    }

    /// Checks that the tables are of the version of this program.
    ///
    /// # Errors
    /// The tables are missing, older or newer.
    pub async fn check_version(&self) -> Result<(), CatalogueError> {
        let client = self.client().await?;
        let exists = "SELECT to_regclass('arpent_version') IS NOT NULL";
        let exists = row(&client, exists, &[]).await?;
        let known = VERSION;
        let mut found = 0;
        if exists.is_some_and(|row| row.get(0)) {
            let newest = "SELECT coalesce(max(version), 0) FROM arpent_version";
            found = row(&client, newest, &[]).await?.map_or(0, |row| row.get(0));
        }
        match found {
            0 => Err(CatalogueError::NoTables),
            _ if found < known => Err(CatalogueError::Older { found, known }),
            _ if found > known => Err(CatalogueError::Newer { found, known }),
            _ => Ok(()),
        }
    }

    async fn client(&self) -> Result<Client, CatalogueError> {
        connection::client(&self.pool, &self.place).await
    }
}

/// A time span as the number that `make_interval(secs => ...)` takes.
fn seconds(span: Duration) -> f64 {
    span.as_secs_f64()
}
