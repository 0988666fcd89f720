//! Tells others of what was published: after a crawl, or by hand as `arpent notify`. What is told, and when
//! it counts as told, is decided by [`crawler::notify`]; here are the order, the way to the network and words.

mod by_hand;
mod doors;

use std::{collections::BTreeSet, sync::Arc};

use crawler::{
    clock::Clock,
    config::HookEvent,
    engine::{Shutdown, download::DownloadError},
    notify::{
        HookRun, PingTemplate, Submission, Submitted, Written, call_webhook, ping, run_command,
        service_url, shown_url, submit, write_lines,
    },
    politeness::SharedPoliteness,
    publish::{Standing, Untold, note_untold, untold},
    store::{Store, StoreError},
    url_key::UrlKey,
};
use tokio::runtime::Handle;

pub(super) use self::by_hand::run;
use self::doors::Doors;
use crate::{
    commands::{crawl::with_https_twin, seams, ways::Ways},
    human,
    settings::Settings,
    summary::{Channel, Notified},
};

/// What was told to whom.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) notified: Vec<Notified>,
    /// What the user should know.
    pub(super) notices: Vec<String>,
    /// What failed; it is tried again the next time.
    pub(super) problems: Vec<String>,
    /// The hooks do not know of the set yet.
    pub(super) awaits_hooks: bool,
}

impl Told {
    /// All that went well, for people.
    fn lines(&self) -> Vec<String> {
        let notified = self.notified.iter().map(Notified::text);
        notified.chain(self.notices.iter().cloned()).collect()
    }
}

/// The engines that are asked to read a set.
enum Asked {
    /// All that the settings name.
    All,
    /// Those with these origins.
    Only(BTreeSet<String>),
}

impl Asked {
    fn has(&self, template: &PingTemplate) -> bool {
        match self {
            Self::All => true,
            Self::Only(engines) => engines.contains(&template.engine()),
        }
    }
}

/// Tells others of one site after another. Blocks: for a thread that may.
pub(super) struct Teller {
    settings: Arc<Settings>,
    clock: Arc<dyn Clock>,
    doors: Doors,
}

impl Teller {
    /// Needs a running runtime.
    pub(super) fn new(
        settings: &Arc<Settings>,
        politeness: SharedPoliteness,
        clock: Arc<dyn Clock>,
        shutdown: Shutdown,
    ) -> Self {
        Self {
            doors: Doors {
                config: settings.config.clone(),
                ways: Ways::new(
                    Arc::clone(&clock),
                    politeness,
                    seams::holds(&settings.state),
                ),
                handle: Handle::current(),
                shutdown,
                own: settings
                    .urls
                    .iter()
                    .flat_map(|start| with_https_twin(start.origin()))
                    .collect(),
            },
            settings: Arc::clone(settings),
            clock,
        }
    }

    /// Tells whom the settings name of the set that stands. `has_changed`: its files are not those of
    /// before; otherwise those are told who did not hear of it when that was so.
    ///
    /// # Errors
    /// The state failed. Whatever else fails is among the problems.
    pub(super) fn tell(
        &mut self,
        store: &mut Store,
        standing: &Standing,
        has_changed: bool,
        dry_run: bool,
    ) -> Result<Told, StoreError> {
        let settings = Arc::clone(&self.settings);
        let config = &settings.config.notify;
        let mut told = Told::default();
        if let Some(path) = &config.robots_file {
            if dry_run {
                let notice = format!("{} would get the lines that it lacks", path.display());
                told.notices.push(notice);
            } else {
                match write_lines(path, &standing.sitemaps) {
                    Ok(Written::Stood) => {}
                    Ok(Written::Added(urls)) => told.notified.push(Notified {
                        told: urls.len() as u64,
                        ..Notified::new(Channel::RobotsFile, path.display().to_string())
                    }),
                    Err(error) => told.fail(
                        Notified::new(Channel::RobotsFile, path.display().to_string()),
                        format!("{:#}", anyhow::Error::from(error)),
                    ),
                }
            }
        }
        if config.indexnow {
            let submission = Submission {
                config,
                standing,
                dry_run,
            };
            let (clock, doors) = (Arc::clone(&self.clock), &mut self.doors);
            let now = || clock.now();
            let submitted = submit(store, &submission, &now, &mut |call| doors.call(call))?;
            told.take_submitted(submitted, &config.indexnow_endpoint);
        }
        let untold = untold(store)?;
        let asked = match &untold {
            _ if has_changed => Asked::All,
            Some(untold) => untold.engines.clone().map_or(Asked::All, Asked::Only),
            None => Asked::Only(BTreeSet::new()),
        };
        let unanswered = self.ping(standing, &asked, dry_run, &mut told);
        if let Some(untold) = untold.filter(|_| !dry_run) {
            let listen = config.has_hooks() && config.hook_events.contains(&HookEvent::Published);
            told.awaits_hooks = untold.hooks && listen;
            let untold = Untold {
                engines: Some(unanswered),
                hooks: told.awaits_hooks,
            };
            note_untold(store, &untold)?;
        }
        Ok(told)
    }

    /// Asks the engines of the settings that are among `asked` to read the set; those that another try may reach.
    fn ping(
        &mut self,
        standing: &Standing,
        asked: &Asked,
        dry_run: bool,
        told: &mut Told,
    ) -> BTreeSet<String> {
        let templates = self.settings.config.notify.ping.iter();
        let templates: Vec<PingTemplate> = templates
            .filter_map(|text| PingTemplate::parse(text.reveal()).ok())
            .filter(|template| asked.has(template))
            .collect();
        let mut unanswered = BTreeSet::new();
        if templates.is_empty() {
            return unanswered;
        }
        if dry_run {
            for sitemap in &standing.sitemaps {
                let engines = human::count(templates.len() as u64, "engine");
                let notice = format!("{engines} would be asked to read {sitemap}");
                told.notices.push(notice);
            }
            return unanswered;
        }
        let pinged = ping(&templates, &standing.sitemaps, &mut |call| {
            self.doors.call(call)
        });
        for one in pinged {
            if !one.is_final {
                unanswered.insert(one.engine.clone());
            }
            let notified = Notified::new(Channel::Ping, one.engine);
            match one.problem {
                None => told.notified.push(Notified {
                    told: 1,
                    ..notified
                }),
                Some(problem) => {
                    let problem = format!("{} {problem}", notified.to);
                    told.fail(notified, problem);
                }
            }
        }
        unanswered
    }

    /// The `Sitemap` lines of the live robots.txt.
    fn named_in_robots(&mut self, standing: &Standing) -> Result<String, DownloadError> {
        let Ok(site) = UrlKey::from_normalised(&standing.site) else {
            return Ok(String::new());
        };
        let rules = self.doors.robots(&site)?;
        let lines = rules.sitemaps().iter();
        Ok(lines.fold(String::new(), |text, value| {
            text + "Sitemap: " + value + "\n"
        }))
    }

    /// Calls the hooks; what failed, each a fragment.
    pub(super) fn call_hooks(
        &mut self,
        event: HookEvent,
        variables: &[(&'static str, String)],
        summary: &str,
    ) -> Vec<String> {
        let settings = Arc::clone(&self.settings);
        let config = &settings.config.notify;
        let shell = config.hook_shell.as_ref();
        let shell = shell.map(|line| ["sh", "-c", line].map(str::to_owned).to_vec());
        let direct = Some(config.hook_command.clone()).filter(|command| !command.is_empty());
        let mut problems = Vec::new();
        let shutdown = self.doors.shutdown.clone();
        for (command, name) in [(direct, "hook_command"), (shell, "hook_shell")] {
            let Some(command) = command else { continue };
            let run = HookRun {
                command: &command,
                event,
                variables,
                withheld: &settings.withheld,
                summary,
                timeout: config.hook_timeout,
            };
            let handle = &self.doors.handle;
            if let Err(error) = handle.block_on(run_command(&run, shutdown.aborted())) {
                problems.push(format!("{name} {:#}", anyhow::Error::from(error)));
            }
        }
        for url in &config.hook_url {
            let called = call_webhook(url, event, summary, &mut |call| self.doors.call(call));
            problems.extend(called.err().map(|problem| format!("hook_url: {problem}")));
        }
        problems
    }

    /// Writes down what hosts asked to wait for; to be called when all is told.
    pub(super) fn settle(&self) {
        self.doors.ways.settle(&self.doors.handle);
    }
}

impl Told {
    fn fail(&mut self, notified: Notified, problem: String) {
        self.problems.push(problem.clone());
        self.notified.push(Notified {
            problem: Some(problem),
            ..notified
        });
    }

    fn take_submitted(&mut self, submitted: Submitted, endpoint: &str) {
        let Submitted {
            told,
            unchecked,
            waiting,
            resting,
            would_send,
            shown,
            notices,
            problems,
            ..
        } = submitted;
        self.notices.extend(notices);
        if would_send > 0 {
            let urls = human::count(would_send, "URL");
            self.notices
                .push(format!("IndexNow would be told of {urls}"));
            let more = would_send - shown.len() as u64;
            self.notices
                .extend(shown.into_iter().map(|line| format!("  {line}")));
            if more > 0 {
                let more = human::number(more);
                self.notices.push(format!("  and {more} more"));
            }
        }
        if unchecked > 0 {
            let urls = human::count(unchecked, "URL");
            self.notices.push(format!(
                "the engine will check the key of {urls} later (202)"
            ));
        }
        if resting > 0 {
            let urls = human::count(resting, "URL");
            self.notices.push(format!(
                "{urls} told of less than ten minutes ago, to be told again the next time"
            ));
        }
        if told == 0 && problems.is_empty() {
            return;
        }
        let to = service_url(endpoint).map_or_else(String::new, |url| shown_url(&url));
        self.notified.push(Notified {
            told,
            waiting,
            problem: Some(problems.join("; ")).filter(|text| !text.is_empty()),
            ..Notified::new(Channel::IndexNow, to)
        });
        let of_engine = problems.into_iter();
        self.problems
            .extend(of_engine.map(|problem| format!("IndexNow: {problem}")));
    }
}
