//! Settings while they are put together.

use std::{num::NonZeroU32, path::PathBuf, time::Duration};

use crawler::config::{Config, Credentials};

use super::Settings;

/// Settings while they are put together.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(in crate::settings) urls: Vec<String>,
    pub(in crate::settings) max_sites: Option<NonZeroU32>,
    pub(in crate::settings) schedule: Option<String>,
    pub(in crate::settings) jitter: Duration,
    pub(in crate::settings) base_url: Option<String>,
    pub(in crate::settings) inputs: Vec<String>,
    pub(in crate::settings) config: Config,
    pub(in crate::settings) state: Option<PathBuf>,
    pub(in crate::settings) user_agent: Option<String>,
    pub(in crate::settings) contact: Option<String>,
    pub(in crate::settings) basic_auth: Option<Credentials>,
    pub(in crate::settings) bearer_token: Option<Credentials>,
    pub(in crate::settings) timeout: Option<Duration>,
    /// The settings that a value goes to as it is.
    pub(in crate::settings) settings: Settings,
}
