//! Settings while they are put together.

use std::{num::NonZeroU32, path::PathBuf, time::Duration};

use crawler::config::{Config, Credentials};
use jiff::tz::TimeZone;

use super::super::{LogFormat, SummaryFormat};

/// Settings while they are put together.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(in crate::settings) urls: Vec<String>,
    pub(in crate::settings) max_sites: Option<NonZeroU32>,
    pub(in crate::settings) schedule: Option<String>,
    pub(in crate::settings) time_zone: Option<TimeZone>,
    pub(in crate::settings) jitter: Duration,
    pub(in crate::settings) base_url: Option<String>,
    pub(in crate::settings) inputs: Vec<String>,
    pub(in crate::settings) config: Config,
    pub(in crate::settings) output: Option<PathBuf>,
    pub(in crate::settings) state: Option<PathBuf>,
    pub(in crate::settings) seeds: Vec<String>,
    pub(in crate::settings) user_agent: Option<String>,
    pub(in crate::settings) contact: Option<String>,
    pub(in crate::settings) basic_auth: Option<Credentials>,
    pub(in crate::settings) bearer_token: Option<Credentials>,
    pub(in crate::settings) fresh: bool,
    pub(in crate::settings) dry_run: bool,
    pub(in crate::settings) summary: SummaryFormat,
    pub(in crate::settings) quiet: bool,
    pub(in crate::settings) verbose: u32,
    pub(in crate::settings) log: LogFormat,
    pub(in crate::settings) stop_timeout: StopTimeout,
}

/// Time that a daemon may take to stop.
#[derive(Debug, Clone, Copy)]
pub(in crate::settings) struct StopTimeout(pub(in crate::settings) Duration);

impl Default for StopTimeout {
    /// Below the ten seconds that container engines grant.
    fn default() -> Self {
        Self(Duration::from_secs(9))
    }
}
