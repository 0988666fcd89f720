//! The rules of a session: those of the settings and of robots.txt, which is read again when it is a day old.

use std::time::Duration;

use tokio::{task::Id, time::Instant};

use crate::{
    engine::door::{ROBOTS_LIFETIME, Robots},
    robots,
    verdict::Judge,
};

/// When robots.txt cannot be read again, the old one stays and the next try is due after this long.
const ROBOTS_RETRY: Duration = Duration::from_secs(60 * 60);

/// The rules, and where they are from.
pub(super) struct SiteRules {
    judge: Judge,
    /// They are those of a robots.txt that was read.
    is_robots_read: bool,
    due: Instant,
    /// The task that reads robots.txt again.
    task: Option<Id>,
}

/// What follows from a robots.txt.
pub(super) enum Change {
    /// It has these rules now.
    Rules(robots::Rules),
    /// Its `Crawl-delay` is too long for a crawl.
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
            task: None,
        }
    }

    /// The rules of now.
    pub(super) fn judge(&self) -> &Judge {
        &self.judge
    }

    /// Whether robots.txt is to be read again.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.task.is_none() && now >= self.due
    }

    /// Takes note of the task that reads it.
    pub(super) fn read_by(&mut self, task: Id) {
        self.task = Some(task);
    }

    /// Whether the task `id` reads it.
    pub(super) fn is_task(&self, id: Id) -> bool {
        self.task == Some(id)
    }

    /// Takes what the task brought.
    pub(super) fn take(&mut self, robots: Robots) -> Change {
        self.task = None;
        self.due = Instant::now() + ROBOTS_RETRY;
        match robots {
            Robots::Rules(rules) => {
                self.judge = self.judge.with_robots(rules.clone());
                self.is_robots_read = true;
                self.due = Instant::now() + ROBOTS_LIFETIME;
                Change::Rules(rules)
            }
            Robots::Unreachable(why, _) | Robots::Forbidden(why) => {
                tracing::warn!(target: "engine", "robots.txt cannot be read again, the rules of yesterday hold: {why}");
                Change::Nothing
            }
            Robots::Refused(_) => Change::Nothing,
            Robots::TooSlow(delay) => Change::TooSlow(delay),
        }
    }

    /// The rules, and robots.txt where it was read.
    pub(super) fn into_parts(self) -> (Judge, Option<robots::Rules>) {
        let robots = self.is_robots_read.then(|| self.judge.robots().clone());
        (self.judge, robots)
    }
}
