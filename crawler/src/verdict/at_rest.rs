//! The judge of a crawl that is over, without a request.

use std::sync::Arc;

use super::{fingerprint::read_as, judge::Judge};
use crate::{
    clock::Clock,
    config::Config,
    robots::Rules,
    scope::{Scope, ScopeError},
    site::Site,
};

/// The data in a state that a site is judged by besides its settings ([`crate::crawl_state::rules_at_rest`]).
#[derive(Debug, Clone, Default)]
pub(crate) struct RulesAtRest {
    /// robots.txt of the site as it was read last; `None`: no crawl read it.
    pub(crate) robots: Option<Rules>,
    /// The clocks of this machine and of the host were apart: no date of the host is compared with the time here.
    pub(crate) are_clocks_apart: bool,
}

impl RulesAtRest {
    /// The judge of `site` by the current settings, with what its state knows.
    ///
    /// # Errors
    /// A setting contradicts the site.
    pub(crate) fn judge(
        &self,
        config: &Config,
        site: &Site,
        clock: &Arc<dyn Clock>,
    ) -> Result<Judge, ScopeError> {
        let scope = Scope::new(site, &config.scope)?;
        let rules = self.robots.clone().unwrap_or_default();
        let judge = Judge::new(
            config,
            scope,
            rules,
            read_as(config, site, None),
            Arc::clone(clock),
        );
        Ok(if self.are_clocks_apart {
            judge.without_clock()
        } else {
            judge
        })
    }
}
