//! Errors of a catalogue. No message has a password: a URL appears as server and database.

use std::{error::Error, path::PathBuf};

use crawler::{failure::Failure, outcome::SessionOutcome, url_key::HostKey};

use super::SiteId;

/// A failure of the catalogue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogueError {
    /// The URL is not one of `PostgreSQL`.
    #[error("the URL of the catalogue is wrong ({0}); expected postgres://USER@HOST/DATABASE")]
    Url(String),
    /// Certificates cannot be read.
    #[error("cannot use the certificate authorities of {}; expected certificates in PEM format", path.display())]
    Authorities {
        /// The file, or the name of the collection.
        path: PathBuf,
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
    /// There is no connection.
    #[error("cannot connect to the catalogue at {place}: {cause}; {advice}")]
    Connect {
        /// Server and database.
        place: String,
        /// The cause with its own causes.
        cause: String,
        /// The next step.
        advice: &'static str,
    },
    /// The database has no tables of a catalogue.
    #[error("the catalogue has no tables yet; run `arpent catalogue init`")]
    NoTables,
    /// The tables are of a newer program.
    #[error(
        "the tables of the catalogue have version {found}, and this program knows {known}; update arpent here"
    )]
    Newer {
        /// Version of the tables.
        found: i32,
        /// Version of this program.
        known: i32,
    },
    /// The tables are of an older program.
    #[error(
        "the tables of the catalogue have version {found}, and this program needs {known}; run `arpent catalogue init`"
    )]
    Older {
        /// Version of the tables.
        found: i32,
        /// Version of this program.
        known: i32,
    },
    /// A worker's lease has ended, or another worker has the host. Nothing was written.
    #[error(
        "the lease on {0} is lost, and another worker may crawl the host; this session does not count"
    )]
    LeaseLost(HostKey),
    /// A site was removed, or moved to another host, while its session was under way. Nothing was written.
    #[error("site {0} was removed or moved to another host meanwhile; this session does not count")]
    SiteGone(SiteId),
    /// There is no such site.
    #[error("the catalogue has no site {0:?}; `arpent catalogue list` shows all")]
    UnknownSite(String),
    /// A new site has the name of another one.
    #[error("there is a site {0:?} already; choose another name, or remove that site first")]
    NameTaken(String),
    /// A site would publish to the place of another one.
    #[error(
        "the output {output} of site {site:?} is that of site {owner:?}; choose another output, or remove that site first"
    )]
    OutputTaken {
        /// The output.
        output: String,
        /// The site that would get it.
        site: String,
        /// The site that has it.
        owner: String,
    },
    /// The site does not run before it is resumed.
    #[error("site {0:?} is paused or set aside; run `arpent resume` first")]
    NotRunnable(String),
    /// The server did not carry out a statement.
    #[error(
        "a statement of the catalogue failed; after a restart of PostgreSQL the next try succeeds"
    )]
    Statement(#[source] Box<dyn Error + Send + Sync>),
}

impl CatalogueError {
    /// The outcome of what this error ended.
    pub fn outcome(&self) -> SessionOutcome {
        match self {
            Self::Connect { .. } | Self::Statement(_) => SessionOutcome::Refused,
            Self::LeaseLost(_) | Self::SiteGone(_) => SessionOutcome::Busy,
            // The user can mend these.
            Self::Url(_)
            | Self::Authorities { .. }
            | Self::NoTables
            | Self::Newer { .. }
            | Self::Older { .. }
            | Self::UnknownSite(_)
            | Self::NameTaken(_)
            | Self::OutputTaken { .. }
            | Self::NotRunnable(_) => SessionOutcome::Settings,
        }
    }

    /// A statement that failed because of `source`.
    pub(super) fn statement(source: impl Error + Send + Sync + 'static) -> Self {
        Self::Statement(Box::new(source))
    }
}

impl From<CatalogueError> for Failure {
    fn from(error: CatalogueError) -> Self {
        Self::new(error.outcome(), error)
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn every_error_of_a_catalogue_has_its_code() {
        fn check(error: CatalogueError, expected: u8) {
            assert_eq!(Failure::from(error).code() as u8, expected);
        }
        let source = || Box::new(io::Error::other("x"));
        check(CatalogueError::Url("x".to_owned()), 2);
        check(CatalogueError::Older { found: 0, known: 1 }, 2);
        check(CatalogueError::UnknownSite("x".to_owned()), 2);
        check(CatalogueError::Statement(source()), 4);
        check(
            CatalogueError::Connect {
                place: "x".to_owned(),
                cause: "y".to_owned(),
                advice: "z",
            },
            4,
        );
        check(CatalogueError::NoTables, 2);
        check(CatalogueError::LeaseLost(HostKey::new("x")), 6);
    }
}
