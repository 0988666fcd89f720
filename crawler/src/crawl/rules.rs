//! The rules of a session: those of the settings and of robots.txt, which is read again when it is a day old.

use std::time::Duration;

use tokio::time::Instant;

use crate::{
    client::gate::{ROBOTS_LIFETIME, Robots},
    robots,
    verdict::Judge,
};

/// When robots.txt cannot be read again, the old one stays and the next try is due after this long.
const ROBOTS_RETRY: Duration = Duration::from_secs(60 * 60);

/// The rules, and where they are from.
pub(super) struct SiteRules {
    judge: Judge,
    /// The rules are those of a robots.txt that was read.
    is_robots_read: bool,
    due: Instant,
    /// robots.txt is being read again.
    is_reading: bool,
}

/// The consequence of a robots.txt.
pub(super) enum RobotsChange {
    /// The host has these rules now.
    Rules(robots::Rules),
    /// The `Crawl-delay` is too long for a crawl.
    TooSlow(Duration),
    /// The rules stay.
    Nothing,
}

impl SiteRules {
    /// The rules of a robots.txt that was read just now, if it was.
    pub(super) fn new(judge: Judge, is_robots_read: bool) -> Self {
        Self {
            judge,
            is_robots_read,
            due: Instant::now() + ROBOTS_LIFETIME,
            is_reading: false,
        }
    }

    /// The current rules.
    pub(super) fn judge(&self) -> &Judge {
        &self.judge
    }

    /// Returns whether robots.txt is to be read again now; true once.
    pub(super) fn wants_robots(&mut self, now: Instant) -> bool {
        let is_due = !self.is_reading && now >= self.due;
        self.is_reading |= is_due;
        is_due
    }

    /// Takes what the task brought.
    pub(super) fn take_robots(&mut self, robots: Robots) -> RobotsChange {
        self.is_reading = false;
        self.due = Instant::now() + ROBOTS_RETRY;
        match robots {
            Robots::Rules(rules) => {
                self.judge = self.judge.with_robots(rules.clone());
                self.is_robots_read = true;
                self.due = Instant::now() + ROBOTS_LIFETIME;
                RobotsChange::Rules(rules)
            }
            Robots::Unreachable(why, _) | Robots::Forbidden(why) => {
                tracing::warn!(target: "crawl", "{why}: robots.txt cannot be read again, so the rules read before stay in use");
                RobotsChange::Nothing
            }
            Robots::Refused(_) => RobotsChange::Nothing,
            Robots::TooSlow(delay) => RobotsChange::TooSlow(delay),
        }
    }

    /// The rules, and robots.txt where it was read.
    pub(super) fn into_parts(self) -> (Judge, Option<robots::Rules>) {
        let robots = self.is_robots_read.then(|| self.judge.robots().clone());
        (self.judge, robots)
    }
}
