//! Sites as people enter and change them. A change of a site moves the time at which its host is due.

use std::{
    collections::{HashMap, HashSet},
    slice,
};

use crawler::{
    schedule::{NextRun, Schedule},
    url_key::HostKey,
};
use deadpool_postgres::Transaction;
use jiff::Timestamp;
use tokio_postgres::types::ToSql;

use super::{
    Catalogue, CatalogueError,
    connection::{begin, change, commit, row, rows},
    leases::RESCHEDULE,
    status::SITES,
};

/// Sites that one statement of an import sends: about a megabyte.
const BATCH: usize = 1_000;

/// Key of the advisory lock of imports: one at a time, since each locks many hosts.
const IMPORT_LOCK: i64 = 0x6172_7065_6e74_0002;

/// The slow part of an import works on a table of its own. Rows of hosts are locked only from the lock to the commit, so that
/// workers do not miss a heartbeat.
const INCOMING: &str = "
    SET LOCAL statement_timeout = 0;
    CREATE TEMPORARY TABLE incoming (
        name text PRIMARY KEY, host text NOT NULL, settings text NOT NULL, schedule text, next_run timestamptz,
        output text NOT NULL) ON COMMIT DROP";

const INCOMING_BATCH: &str = "
    INSERT INTO incoming SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::text[])";

/// Sites that are as before.
const UNCHANGED: &str = "
    DELETE FROM incoming i USING site s
    WHERE s.name = i.name AND s.settings = i.settings AND s.output = i.output AND s.schedule IS NOT DISTINCT FROM i.schedule";

/// A site that is not replaced has the output of a site that is put.
const OUTPUT_TAKEN: &str = "
    SELECT i.output, i.name, s.name FROM incoming i JOIN site s USING (output)
    WHERE s.name NOT IN (SELECT name FROM incoming) ORDER BY i.name LIMIT 1";

const NEW_HOSTS: &str = "INSERT INTO host (name) SELECT DISTINCT host FROM incoming ORDER BY host ON CONFLICT DO NOTHING";

const LOCK_HOSTS: &str = "
    SELECT count(*) FROM (
        SELECT FROM host WHERE name IN (SELECT host FROM incoming UNION SELECT s.host FROM site s JOIN incoming USING (name))
        ORDER BY name FOR NO KEY UPDATE) AS locked";

const PUT_SITES: &str = "
    WITH put AS (
        INSERT INTO site AS s (name, host, settings, output, schedule, next_run)
        SELECT name, host, settings, output, schedule, next_run FROM incoming
        ON CONFLICT (name) DO UPDATE SET settings = excluded.settings, host = excluded.host, output = excluded.output,
            schedule = excluded.schedule,
            epoch = CASE WHEN s.host = excluded.host THEN s.epoch END,
            next_run = CASE WHEN s.schedule IS NOT DISTINCT FROM excluded.schedule THEN s.next_run ELSE excluded.next_run END
        RETURNING s.host, s.name, xmax = 0 AS is_new)
    SELECT count(*) FILTER (WHERE is_new), count(*) FILTER (WHERE NOT is_new), array_agg(DISTINCT host),
        (array_agg(name ORDER BY name))[:20] FROM put";

/// A site as people enter it.
#[derive(Debug, Clone)]
pub struct NewSite {
    /// Name of the site in the catalogue.
    pub name: String,
    /// Host of its start URL.
    pub host: HostKey,
    /// The settings: a settings file with this site alone, and with secrets as references only.
    pub settings: String,
    /// URL of its set, without a last slash. No other site has the same.
    pub output: String,
    /// The times; `None`: on demand.
    pub schedule: Option<Schedule>,
}

/// The changes by an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportCount {
    /// New sites.
    pub added: u64,
    /// Sites with new settings or another schedule.
    pub changed: u64,
    /// Sites that are as before.
    pub unchanged: u64,
    /// Names of the new and the changed sites: the first 20 in their order.
    pub names: Vec<String>,
}

/// The treatment of a site that the catalogue has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Existing {
    Refused,
    Replaced,
}

/// Start of the next crawl after `now`: slots that passed are served. `None`: no slot comes, or there is no schedule.
pub fn next_run(schedule: Option<&Schedule>, now: Timestamp) -> Option<Timestamp> {
    let schedule = schedule?;
    match schedule.next(&schedule.begin(now), now) {
        NextRun::Now { slot, .. } => Some(slot),
        NextRun::At { start, .. } => Some(start),
        NextRun::Never => None,
    }
}

impl Catalogue {
    /// Adds a site. Its first session is the next one of its schedule.
    ///
    /// # Errors
    /// [`CatalogueError::NameTaken`], [`CatalogueError::OutputTaken`], or the database fails.
    pub async fn add(&self, site: &NewSite, now: Timestamp) -> Result<(), CatalogueError> {
        let sites = slice::from_ref(site);
        self.put(sites, now, Existing::Refused).await?;
        Ok(())
    }

    /// Adds sites, and replaces the settings of those that the catalogue has, all or nothing. A site keeps the time of its next
    /// session unless its schedule is another one. A session under way ends with the settings that it began with.
    ///
    /// # Errors
    /// [`CatalogueError::NameTaken`] for a name that occurs twice in `sites`, or the database fails.
    pub async fn import(
        &self,
        sites: &[NewSite],
        now: Timestamp,
    ) -> Result<ImportCount, CatalogueError> {
        self.put(sites, now, Existing::Replaced).await
    }

    async fn put(
        &self,
        sites: &[NewSite],
        now: Timestamp,
        existing: Existing,
    ) -> Result<ImportCount, CatalogueError> {
        let mut names = HashSet::new();
        if let Some(twice) = sites.iter().find(|site| !names.insert(&site.name)) {
            return Err(CatalogueError::NameTaken(twice.name.clone()));
        }
        let mut outputs = HashMap::new();
        for site in sites {
            if let Some(owner) = outputs.insert(&site.output, &site.name) {
                return Err(CatalogueError::OutputTaken {
                    output: site.output.clone(),
                    site: site.name.clone(),
                    owner: owner.clone(),
                });
            }
        }
        let failed = CatalogueError::statement;
        let mut client = self.client().await?;
        let transaction = begin(&mut client).await?;
        transaction.batch_execute(INCOMING).await.map_err(failed)?;
        // These statements are not kept: their table is another one in each import.
        for batch in sites.chunks(BATCH) {
            let column = |text: fn(&NewSite) -> &str| batch.iter().map(text).collect::<Vec<&str>>();
            let schedules = batch.iter().map(|site| site.schedule.as_ref());
            let texts: Vec<_> = schedules.clone().map(|it| it.map(Schedule::text)).collect();
            let times: Vec<_> = schedules.map(|it| next_run(it, now)).collect();
            let (names, settings) = (column(|site| &site.name), column(|site| &site.settings));
            let (hosts, outputs) = (
                column(|site| site.host.as_str()),
                column(|site| &site.output),
            );
            let values: [&(dyn ToSql + Sync); 6] =
                [&names, &hosts, &settings, &texts, &times, &outputs];
            let sent = transaction.execute(INCOMING_BATCH, &values);
            sent.await.map_err(failed)?;
        }
        let lock = "SELECT FROM pg_advisory_xact_lock($1)";
        change(&transaction, lock, &[&IMPORT_LOCK]).await?;
        if existing == Existing::Refused {
            let taken = "SELECT name FROM site JOIN incoming USING (name)";
            let taken = transaction.query_opt(taken, &[]).await.map_err(failed)?;
            if let Some(taken) = taken {
                return Err(CatalogueError::NameTaken(taken.get(0)));
            }
        }
        let unchanged = transaction.execute(UNCHANGED, &[]).await.map_err(failed)?;
        let taken = transaction.query_opt(OUTPUT_TAKEN, &[]).await;
        if let Some(taken) = taken.map_err(failed)? {
            return Err(CatalogueError::OutputTaken {
                output: taken.get(0),
                site: taken.get(1),
                owner: taken.get(2),
            });
        }
        for step in [NEW_HOSTS, LOCK_HOSTS] {
            transaction.execute(step, &[]).await.map_err(failed)?;
        }
        let put = transaction
            .query_one(PUT_SITES, &[])
            .await
            .map_err(failed)?;
        let hosts: Option<Vec<String>> = put.get(2);
        change(&transaction, RESCHEDULE, &[&hosts]).await?;
        commit(transaction).await?;
        let count = |at| u64::try_from(put.get::<_, i64>(at)).unwrap_or(0);
        Ok(ImportCount {
            added: count(0),
            changed: count(1),
            unchanged,
            names: put.get::<_, Option<_>>(3).unwrap_or_default(),
        })
    }

    /// Removes a site with its history. A session under way does not count any more.
    /// The sitemaps and its state stay in the object storage.
    ///
    /// # Errors
    /// [`CatalogueError::UnknownSite`], or the database fails.
    pub async fn remove(&self, name: &str) -> Result<(), CatalogueError> {
        let sql = "DELETE FROM site WHERE name = $1";
        self.change_site(name, sql, &[]).await?;
        Ok(())
    }

    /// Pauses a site `until` a time, or until it is resumed: no session begins. Returns whether a session is under way, which its
    /// worker stops with its next heartbeat.
    ///
    /// # Errors
    /// [`CatalogueError::UnknownSite`], or the database fails.
    pub async fn pause(
        &self,
        name: &str,
        until: Option<Timestamp>,
        reason: Option<&str>,
    ) -> Result<bool, CatalogueError> {
        let sql = "UPDATE site SET paused_until = coalesce($2::timestamptz, 'infinity'), pause_reason = $3 WHERE name = $1";
        let changed = self.change_site(name, sql, &[&until, &reason]).await?;
        Ok(changed.is_running)
    }

    /// Resumes a site that is paused or set aside. A session that it missed meanwhile begins now. Returns false if the site is
    /// neither.
    ///
    /// # Errors
    /// [`CatalogueError::UnknownSite`], or the database fails.
    pub async fn resume(&self, name: &str) -> Result<bool, CatalogueError> {
        let sql = "UPDATE site SET paused_until = '-infinity', pause_reason = NULL, attempts = 0, set_aside = NULL,
                next_run = CASE WHEN set_aside IS NULL THEN next_run ELSE now() END
            WHERE name = $1 AND (paused_until > now() OR set_aside IS NOT NULL)";
        Ok(self.change_site(name, sql, &[]).await?.is_changed)
    }

    /// Resumes every site that is set aside, and returns their number. A site that is paused too stays paused.
    ///
    /// # Errors
    /// The database fails.
    pub async fn resume_set_aside(&self) -> Result<u64, CatalogueError> {
        let mut client = self.client().await?;
        let transaction = begin(&mut client).await?;
        let lock = "SELECT name FROM host WHERE name IN (SELECT host FROM site WHERE set_aside IS NOT NULL)
            ORDER BY name FOR NO KEY UPDATE";
        let hosts = rows(&transaction, lock, &[]).await?;
        let hosts: Vec<&str> = hosts.iter().map(|row| row.get(0)).collect();
        let sql = "UPDATE site SET set_aside = NULL, attempts = 0, next_run = now() WHERE set_aside IS NOT NULL AND host = ANY ($1)";
        let resumed = change(&transaction, sql, &[&hosts]).await?;
        change(&transaction, RESCHEDULE, &[&hosts]).await?;
        commit(transaction).await?;
        Ok(resumed)
    }

    /// Makes a site due now. With `force`, the next session that begins publishes in spite of the guard. Returns whether a session is
    /// under way: then the site is not crawled again after it, and its next session is that of its schedule.
    ///
    /// # Errors
    /// [`CatalogueError::UnknownSite`], [`CatalogueError::NotRunnable`], or the database fails.
    pub async fn run_now(&self, name: &str, force: bool) -> Result<bool, CatalogueError> {
        let sql = if force {
            "UPDATE site SET next_run = now(), force_next = true WHERE name = $1 AND paused_until <= now() AND set_aside IS NULL"
        } else {
            "UPDATE site SET next_run = now() WHERE name = $1 AND paused_until <= now() AND set_aside IS NULL"
        };
        let found = self.change_site(name, sql, &[]).await?;
        if found.is_changed {
            Ok(found.is_running)
        } else {
            Err(CatalogueError::NotRunnable(name.to_owned()))
        }
    }

    /// Carries out `sql` on the site `name`, its `$1`, with the row of its host locked, then computes when the host is due. `more` are
    /// its other values.
    async fn change_site(
        &self,
        name: &str,
        sql: &str,
        more: &[&(dyn ToSql + Sync)],
    ) -> Result<ChangedSite, CatalogueError> {
        let mut values: Vec<&(dyn ToSql + Sync)> = vec![&name];
        values.extend(more);
        let mut client = self.client().await?;
        loop {
            let transaction = begin(&mut client).await?;
            let host = host_of(&transaction, name).await?;
            let lock = "SELECT FROM host WHERE name = $1 FOR NO KEY UPDATE";
            change(&transaction, lock, &[&host]).await?;
            // An import may have given the site another host before the lock; from here on it cannot.
            if host_of(&transaction, name).await? != host {
                continue;
            }
            let running =
                format!("SELECT FROM ({SITES}) AS s WHERE name = $1 AND state = 'running'");
            let is_running = row(&transaction, &running, &[&name]).await?.is_some();
            let is_changed = change(&transaction, sql, &values).await? > 0;
            change(&transaction, RESCHEDULE, &[&[host].as_slice()]).await?;
            commit(transaction).await?;
            return Ok(ChangedSite {
                is_running,
                is_changed,
            });
        }
    }
}

/// A site at the time of its change.
struct ChangedSite {
    /// A session is under way.
    is_running: bool,
    /// The statement applied to it.
    is_changed: bool,
}

async fn host_of(transaction: &Transaction<'_>, name: &str) -> Result<String, CatalogueError> {
    let sql = "SELECT host FROM site WHERE name = $1";
    let host = row(transaction, sql, &[&name]).await?;
    host.map(|row| row.get(0))
        .ok_or_else(|| CatalogueError::UnknownSite(name.to_owned()))
}
