//! What the catalogue knows as people and programs read it.

use crawler::{
    human,
    view::{Tone, View},
};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{CatalogueSession, FleetStatus, SiteDetails, SiteRow, SiteState};

/// Counts of a fleet with the sites that need somebody.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "the program fills it in")]
pub struct FleetReport {
    /// The counts.
    pub status: FleetStatus,
    /// The first sites that are set aside.
    pub set_aside: Vec<SiteRow>,
    /// The first sites whose last good session ended too long ago; `None`: no age was asked for.
    pub late: Option<Vec<SiteRow>>,
}

impl SiteRow {
    /// A page of a list of sites.
    pub fn list(page: &[Self]) -> View {
        let mut view = View::default();
        let section = view.section("sites", "");
        section.heads(&[
            "Site",
            "State",
            "Last session",
            "Last good",
            "Listed",
            "Next crawl",
        ]);
        for site in page {
            let row = section.row([
                (&*site.name).into(),
                site.activity().into(),
                site.outcome.clone().into(),
                site.published.map(human::minute).into(),
                site.listed.into(),
                site.next_run.map(human::minute).into(),
            ]);
            row.below(site.set_aside.iter().chain(&site.pause_reason), 0);
            // A site that needs somebody.
            if site.state == SiteState::SetAside {
                row.toned(Tone::Error);
            }
        }
        view
    }

    /// The state in words.
    fn activity(&self) -> String {
        let state = self.state.as_str();
        match self.paused_until.filter(|_| self.is_paused) {
            _ if self.is_paused && self.state == SiteState::Running => format!("{state}, stops"),
            Some(until) if self.state == SiteState::Paused => {
                format!("{state} until {}", human::minute(until))
            }
            Some(_) | None => state.to_owned(),
        }
    }
}

impl SiteDetails {
    /// The site with its last `sessions`.
    pub fn view(&self, sessions: &[CatalogueSession]) -> View {
        let row = &self.row;
        let mut view = View::new(format!("{}: {}", row.name, row.activity()));
        let section = view.section("site", "");
        if let Some(reason) = &row.set_aside {
            section.line(reason).toned(Tone::Error);
        }
        section.fact("paused", row.pause_reason.clone());
        section.fact("host", Some(row.host.as_str()));
        section.fact("output", Some(&*row.output));
        section.fact("schedule", row.schedule.clone());
        section.fact("next crawl", row.next_run.map(human::minute));
        let forced = self.force_next.then_some("in spite of the guard");
        section.fact("publishes", forced);
        section.fact("last session", row.outcome.clone());
        section.fact("last good", row.published.map(human::minute));
        section.fact("listed", row.listed);
        section.fact("state", self.state_object.clone());
        section.fact("added", Some(human::minute(self.added)));
        let section = view.section("settings", "Settings");
        for line in self.settings.lines() {
            section.line(line);
        }
        let section = view.section("sessions", "Last sessions");
        section.heads(&["Began", "Ended", "Outcome", "Worker"]);
        let second = |time: Timestamp| time.strftime("%Y-%m-%d %H:%M:%SZ").to_string();
        for session in sessions {
            let row = section.row([
                second(session.began).into(),
                session.ended.map(second).into(),
                session.outcome.as_deref().unwrap_or("under way").into(),
                (&*session.worker).into(),
            ]);
            row.below(session.message(), 0);
        }
        view
    }

    /// The site with its last `sessions` as JSON.
    pub fn document(&self, sessions: &[CatalogueSession]) -> Value {
        json!({
            "version": 1,
            "site": self.row,
            "added": self.added,
            "state_object": self.state_object,
            "force_next": self.force_next,
            "settings": self.settings,
            "sessions": sessions,
        })
    }
}

impl CatalogueSession {
    /// What went wrong.
    fn message(&self) -> Option<&str> {
        match self.outcome.as_deref() {
            Some("lost") => Some("the worker did not renew its lease"),
            Some("given-back") => Some("the worker stopped, or could not begin the session"),
            _ => self.summary.as_ref()?["message"].as_str(),
        }
    }
}

impl FleetReport {
    /// Number of sites.
    pub fn count(&self) -> u64 {
        self.status.sites.values().sum()
    }

    /// The fleet as it is `now`.
    pub fn view(&self, now: Timestamp) -> View {
        let status = &self.status;
        let by_state = status.sites.iter();
        let by_state = by_state.map(|(state, count)| (state.as_str(), *count));
        let mut view = View::new(counts(&human::count(self.count(), "site"), by_state));
        let section = view.section("fleet", "");
        let outcomes = status.outcomes.iter();
        let outcomes = outcomes.map(|(outcome, count)| (outcome.as_str(), *count));
        if !status.outcomes.is_empty() {
            section.line(counts("last sessions", outcomes));
        }
        let queue = match &status.oldest_due {
            Some((host, since)) => {
                let since = human::relative(*since, now);
                format!("{} is due since {since}", host.as_str())
            }
            None => "none is due".to_owned(),
        };
        let leased = human::count(status.leased_hosts, "host");
        section.line(format!("{leased} leased to workers; {queue}"));
        self.add_workers(&mut view, now);
        let section = view.section("set-aside", "Set aside");
        for site in &self.set_aside {
            let reason = site.set_aside.as_deref().unwrap_or_default();
            let row = section.line(format!("{}: {reason}", site.name));
            row.toned(Tone::Error);
        }
        let all = status.sites.get(&SiteState::SetAside).copied();
        let more = all
            .unwrap_or_default()
            .saturating_sub(self.set_aside.len() as u64);
        if more > 0 {
            let more = human::number(more);
            section.line(format!(
                "and {more} more; arpent catalogue list --state set-aside lists all"
            ));
        }
        view
    }

    fn add_workers(&self, view: &mut View, now: Timestamp) {
        let workers = &self.status.workers;
        let lost = workers.iter().filter(|worker| worker.is_lost).count() as u64;
        let lost = Some(("lost", lost)).filter(|(_, count)| *count > 0);
        let title = counts(
            &human::count(workers.len() as u64, "worker"),
            lost.into_iter(),
        );
        let section = view.section("workers", title);
        for worker in workers {
            let seen = human::relative(worker.seen, now);
            let name = &worker.name;
            if worker.is_lost {
                let lost = format!(
                    "{name}: lost, last seen {seen}; its hosts are free when its leases have ended"
                );
                section.line(lost).toned(Tone::Error);
                continue;
            }
            let state = match (worker.is_draining, worker.is_ready) {
                (true, _) => ", is stopping",
                (false, true) => "",
                (false, false) => ", not ready: its storage does not answer",
            };
            let sites = human::count(worker.sites.into(), "site");
            section.line(format!(
                "{name}: {sites}, version {}, seen {seen}{state}",
                worker.version
            ));
        }
    }

    /// The fleet as it is `now` as JSON.
    pub fn document(&self, now: Timestamp) -> Value {
        let status = &self.status;
        let sites = SiteState::ALL.map(|state| {
            let count = status.sites.get(&state).copied().unwrap_or_default();
            (state.as_str().to_owned(), count.into())
        });
        let oldest_due = status.oldest_due.as_ref();
        let oldest_due =
            oldest_due.map(|(host, since)| json!({ "host": host.as_str(), "since": since }));
        let set_aside = self.set_aside.iter();
        let set_aside =
            set_aside.map(|site| json!({ "name": site.name, "reason": site.set_aside }));
        let mut document = json!({
            "version": 1,
            "now": now,
            "sites": serde_json::Map::from_iter(sites),
            "outcomes": status.outcomes,
            "leased_hosts": status.leased_hosts,
            "oldest_due": oldest_due,
            "workers": status.workers,
            "set_aside": set_aside.collect::<Vec<_>>(),
        });
        if let Some(late) = &self.late {
            let late = late.iter();
            let late = late.map(|site| json!({ "name": site.name, "last_good": site.published }));
            document["late"] = late.collect();
        }
        document
    }

    /// The sites that are late, each with the reason, when an age was asked for. Without any site there is no set that could be new
    /// enough.
    pub fn faults(&self, now: Timestamp) -> Vec<String> {
        let Some(late) = &self.late else {
            return Vec::new();
        };
        if self.count() == 0 {
            return vec!["the catalogue has no site".to_owned()];
        }
        let faults = late.iter().map(|site| {
            let good = match site.published {
                Some(time) => format!("the last good session ended {}", human::relative(time, now)),
                None => "no good session since the site was added".to_owned(),
            };
            format!("{}: {good}", site.name)
        });
        faults.collect()
    }
}

/// A line with counts by their words.
fn counts<'w>(what: &str, counts: impl Iterator<Item = (&'w str, u64)>) -> String {
    let counts = counts.map(|(word, count)| format!("{} {word}", human::number(count)));
    let counts: Vec<String> = counts.collect();
    if counts.is_empty() {
        return what.to_owned();
    }
    format!("{what}: {}", counts.join(", "))
}
