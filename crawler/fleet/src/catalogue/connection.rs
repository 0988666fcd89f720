//! Connections to `PostgreSQL` from a URL, and the few ways in which statements are sent.

use std::{error::Error, iter, path::PathBuf, time::Duration};

use deadpool_postgres::{
    GenericClient, Manager, ManagerConfig, Pool, PoolError, RecyclingMethod, Runtime, Transaction,
};
use tokio_postgres::{
    Config, NoTls, Row,
    config::{Host, SslMode},
    types::ToSql,
};
use tokio_postgres_rustls::MakeRustlsConnect;

pub(super) use deadpool_postgres::Client;

use super::{CatalogueError, tls};

/// Connections of a process at most: `PostgreSQL` has 100 for all by default, and a statement takes milliseconds.
const MAX_CONNECTIONS: usize = 4;

/// Time for a connection, and for an answer of the network below it.
const PATIENCE: Duration = Duration::from_secs(10);

/// The server ends a transaction whose client sends nothing for ten seconds. So a worker that froze with a row locked does not
/// keep others from the row for longer than its lease.
const LIMITS: &str =
    "-c idle_in_transaction_session_timeout=10s -c statement_timeout=30s -c timezone=UTC";

/// Connections to the database at `url`, and its place without credentials. Connects when the first statement is sent.
pub(super) fn pool(url: &str) -> Result<(Pool, String), CatalogueError> {
    let (url, authorities) = separate(url)?;
    // The cause is the name of the wrong option, never its value.
    let mut config: Config = url.parse().map_err(|error: tokio_postgres::Error| {
        let cause = error.into_source().map(|cause| cause.to_string());
        CatalogueError::Url(cause.unwrap_or_else(|| "it cannot be read".to_owned()))
    })?;
    let place = place(&config);
    if config.get_application_name().is_none() {
        config.application_name("arpent");
    }
    let options = config.get_options().unwrap_or_default();
    let options = format!("{LIMITS} {options}");
    config
        .options(options)
        .connect_timeout(PATIENCE)
        .tcp_user_timeout(PATIENCE)
        .keepalives_idle(PATIENCE);
    let recycling = ManagerConfig {
        recycling_method: RecyclingMethod::Fast,
    };
    let manager = if config.get_ssl_mode() == SslMode::Disable {
        Manager::from_config(config, NoTls, recycling)
    } else {
        let tls = tls::client_config(authorities.as_deref())?;
        Manager::from_config(config, MakeRustlsConnect::new(tls), recycling)
    };
    let pool = Pool::builder(manager)
        .max_size(MAX_CONNECTIONS)
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(PATIENCE))
        .create_timeout(Some(PATIENCE))
        .build();
    Ok((pool.map_err(CatalogueError::statement)?, place))
}

/// The URL in the form that the client knows, and the file of `sslrootcert`. Each kind of verification is the full one.
fn separate(url: &str) -> Result<(String, Option<PathBuf>), CatalogueError> {
    if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
        return Err(CatalogueError::Url("it has another scheme".to_owned()));
    }
    let Some((address, options)) = url.rsplit_once('?') else {
        return Ok((url.to_owned(), None));
    };
    let mut authorities = None;
    let mut kept = Vec::new();
    for option in options.split('&') {
        match option.split_once('=') {
            Some(("sslrootcert", _)) => {
                let mut decoded = url::form_urlencoded::parse(option.as_bytes());
                authorities = decoded.next().map(|(_, file)| file.into_owned().into());
            }
            Some(("sslmode", "verify-ca" | "verify-full")) => kept.push("sslmode=require"),
            Some(_) | None => kept.push(option),
        }
    }
    Ok((format!("{address}?{}", kept.join("&")), authorities))
}

/// Hosts and database. A password with an `@` that is not escaped looks like a part of the host: what is before the last `@`
/// is left out.
fn place(config: &Config) -> String {
    let hosts = config.get_hosts().iter().map(|host| match host {
        Host::Tcp(host) => host.rsplit('@').next().unwrap_or_default().to_owned(),
        #[cfg(unix)]
        Host::Unix(folder) => folder.display().to_string(),
    });
    let hosts: Vec<String> = hosts.collect();
    let ports: Vec<String> = config.get_ports().iter().map(u16::to_string).collect();
    let ports = Some(ports.join(",")).filter(|ports| !ports.is_empty());
    let ports = ports.map(|ports| format!(":{ports}")).unwrap_or_default();
    format!(
        "{}{ports}/{}",
        hosts.join(","),
        config.get_dbname().unwrap_or_default()
    )
}

pub(super) async fn client(pool: &Pool, place: &str) -> Result<Client, CatalogueError> {
    pool.get().await.map_err(|error| {
        let (cause, advice) = cause_and_advice(&error);
        CatalogueError::Connect {
            place: place.to_owned(),
            cause,
            advice,
        }
    })
}

fn cause_and_advice(error: &PoolError) -> (String, &'static str) {
    let check = "check that PostgreSQL runs there and lets this user in";
    match error {
        PoolError::Timeout(_) => (format!("no answer within {} s", PATIENCE.as_secs()), check),
        PoolError::Backend(error) => {
            let causes = iter::successors(error.source(), |&cause| cause.source());
            let cause = causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"));
            let advice = if tls::is_about_certificate(error) {
                "name the file of its certificate authority by sslrootcert=FILE in the URL"
            } else {
                check
            };
            (cause, advice)
        }
        other => (other.to_string(), check),
    }
}

pub(super) async fn begin(client: &mut Client) -> Result<Transaction<'_>, CatalogueError> {
    client
        .transaction()
        .await
        .map_err(CatalogueError::statement)
}

pub(super) async fn commit(transaction: Transaction<'_>) -> Result<(), CatalogueError> {
    transaction
        .commit()
        .await
        .map_err(CatalogueError::statement)
}

/// The rows of an answer. Each connection prepares `sql` once.
pub(super) async fn rows(
    client: &impl GenericClient,
    sql: &str,
    values: &[&(dyn ToSql + Sync)],
) -> Result<Vec<Row>, CatalogueError> {
    let statement = client.prepare_cached(sql).await;
    let statement = statement.map_err(CatalogueError::statement)?;
    let answer = client.query(&statement, values).await;
    answer.map_err(CatalogueError::statement)
}

/// The first row of an answer.
pub(super) async fn row(
    client: &impl GenericClient,
    sql: &str,
    values: &[&(dyn ToSql + Sync)],
) -> Result<Option<Row>, CatalogueError> {
    Ok(rows(client, sql, values).await?.into_iter().next())
}

/// Number of rows that `sql` changed.
pub(super) async fn change(
    client: &impl GenericClient,
    sql: &str,
    values: &[&(dyn ToSql + Sync)],
) -> Result<u64, CatalogueError> {
    let statement = client.prepare_cached(sql).await;
    let statement = statement.map_err(CatalogueError::statement)?;
    let answer = client.execute(&statement, values).await;
    answer.map_err(CatalogueError::statement)
}
