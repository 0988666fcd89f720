//! `arpent notify`: the same as after a crawl, from what the state of a site knows, and what a person does
//! with it: the pages to submit at, the lines of robots.txt.

use std::{
    collections::BTreeSet,
    ops::ControlFlow,
    sync::{Arc, Mutex},
};

use crawler::{
    client::DownloadError,
    clock::Clock,
    driver::{SessionSettings, SiteSettings, find_state, notifier_of},
    notify::{ENGINES, Notified, submit_all},
    politeness::Politeness,
    publish::{PublishedSet, published_set},
    served::missing_lines,
    site_run::{Announce, LastSession, Notifier},
    store::{Shown, Store, StoreError, with_causes},
    url_key::UrlKey,
};
use serde_json::{Map, Value, json};

use crate::{
    args::NotifyArgs,
    commands::{
        crawl::{begin_log, load},
        dependencies, report_error,
        requesting::until_stopped,
    },
    exit_code::ExitCode,
    failure::{self, Misuse},
    human,
    output::Output,
    settings::{CrawlSettings, Environment, Purpose},
};

/// Runs `arpent notify`.
///
/// # Errors
/// The settings make no sense, or the program cannot start; what fails for a site is reported and only changes
/// the exit code.
pub(in crate::commands) fn run(
    args: &NotifyArgs,
    environment: &Environment,
    output: &Output,
) -> failure::Result<ExitCode> {
    let CrawlSettings { sites, shared, .. } = load(Purpose::Notify, args.typed(), environment)?;
    begin_log(&shared, output);
    let notifies_engine = |site: &Arc<SiteSettings>| site.settings.config.notify.indexnow;
    if args.submit_all && !sites.iter().any(notifies_engine) {
        return Err(Misuse(
            "--all needs IndexNow; expected also --indexnow, or indexnow = true in the table [notify] of the settings file"
                .to_owned(),
        )
        .into());
    }
    let clock = dependencies::clock(environment);
    let (list, now, submit_all) = (args.list, args.now, args.submit_all);
    let mut tested = args.test_messages.then(BTreeSet::new);
    let has_recipient = |site: &Arc<SiteSettings>| !site.settings.config.notify.messages.is_empty();
    if args.test_messages && !sites.iter().any(has_recipient) {
        return Err(Misuse(
            "--test-messages: nobody gets messages; expected a table [[notify.message]] in the settings file".to_owned(),
        )
        .into());
    }
    let (is_json, of_work) = (args.json, output.clone());
    until_stopped(output, move |shutdown| {
        let politeness = Politeness::new(&shared.session.config.politeness);
        let politeness = Arc::new(Mutex::new(politeness));
        let mut worst = ExitCode::Success;
        for site in sites {
            let mut by_hand = ByHand {
                document: is_json.then(Map::new),
                list,
                announce: match (site.settings.dry_run, now) {
                    (true, _) => Announce::DryRun,
                    (false, true) => Announce::Now,
                    (false, false) => Announce::WhenServed,
                },
                submit_all: submit_all && notifies_engine(&site),
                settings: Arc::clone(&site.settings),
                clock: Arc::clone(&clock),
                notifier: notifier_of(
                    &site.settings,
                    Arc::clone(&politeness),
                    Arc::clone(&clock),
                    shutdown.clone(),
                ),
                output: of_work.clone(),
            };
            worst = worst.worse(match &mut tested {
                Some(asked) => by_hand.test_messages(asked),
                None => by_hand.notify(&site.start),
            });
        }
        worst
    })
}

/// The command, for one site.
struct ByHand {
    /// The result as JSON, in place of text.
    document: Option<Map<String, Value>>,
    list: bool,
    announce: Announce,
    submit_all: bool,
    settings: Arc<SessionSettings>,
    clock: Arc<dyn Clock>,
    notifier: Notifier,
    output: Output,
}

impl ByHand {
    fn notify(mut self, url: &UrlKey) -> ExitCode {
        let code = self.notify_site(url).unwrap_or_else(|error| {
            let code = error.code();
            report_error(&error.context(url.to_string()), &self.output);
            self.document = None;
            code
        });
        if let Some(document) = self.document.take() {
            self.output.data_json(&Value::Object(document).to_string());
        }
        self.notifier.write_waits();
        code
    }

    /// Sends test messages to whoever is not in `asked`.
    fn test_messages(&mut self, asked: &mut BTreeSet<String>) -> ExitCode {
        let mut code = ExitCode::Success;
        for result in self.notifier.send_test_messages(asked) {
            match result {
                Ok(recipient) => self.print(&format!("sent to {recipient}")),
                Err(problem) => {
                    code = ExitCode::Partial;
                    self.output.warn(&format!("message not sent: {problem}"));
                }
            }
        }
        self.notifier.write_waits();
        code
    }

    fn notify_site(&mut self, url: &UrlKey) -> failure::Result<ExitCode> {
        let (site, path) = find_state(&self.settings, url)?;
        let mut store = Store::open(&path)?;
        let standing = published_set(&store)?.ok_or_else(|| {
            Misuse("the state has no published set; arpent crawl publishes a set".to_owned())
        })?;
        self.note("version", 1);
        self.note("site", &*standing.site);
        self.note("sitemaps", &*standing.sitemaps);
        self.print(&format!("{}:", standing.site));
        if self.list {
            self.print_engines(&standing);
            return Ok(ExitCode::Success);
        }
        let mut is_complete = self.print_robots(&standing)?;
        let dry_run = self.announce == Announce::DryRun;
        if self.submit_all && dry_run {
            let urls = human::count(count_published(&store)?, "URL");
            let line = format!("  all {urls} of the set would be sent, and these changes:");
            self.print(&line);
        } else if self.submit_all {
            submit_all(&mut store, &site, self.clock.now())?;
        }
        let done = self
            .notifier
            .notify(&mut store, &standing, true, self.announce)?;
        let notified = done.notified.iter().map(Notified::text);
        let notices = done.notices(&standing);
        if let Some(served) = &done.served {
            self.print(&format!("  {}", served.line()));
            // What `arpent status` shows; without it nothing is lost.
            drop(LastSession::note_served(
                &path,
                served,
                done.google.as_ref(),
            ));
            is_complete &= !done.is_held;
        }
        for line in notified.chain(notices.clone()) {
            self.print(&format!("  {line}"));
        }
        let waiting = store.outbox(None, 0, self.clock.now())?.total;
        self.note("dry_run", dry_run);
        if let Some(served) = &done.served {
            self.note("served", serde_json::to_value(served)?);
        }
        if let Some(google) = &done.google {
            for line in google.lines(self.clock.now()).iter().chain(&done.warnings) {
                self.print(&format!("  {line}"));
            }
            self.note("google", serde_json::to_value(google)?);
        }
        self.note("notified", serde_json::to_value(&done.notified)?);
        self.note("notices", notices);
        self.note("waiting", waiting);
        self.note("problems", &*done.problems);
        if waiting > 0 && !self.settings.config.notify.indexnow {
            self.print(&format!(
                "  {} changed and not sent; --indexnow sends them to an engine",
                human::count(waiting, "URL")
            ));
        }
        for problem in &done.problems {
            is_complete = false;
            self.output.warn(problem);
        }
        Ok(if is_complete {
            ExitCode::Success
        } else {
            ExitCode::Partial
        })
    }

    /// Prints a line, unless the result is JSON.
    fn print(&self, line: &str) {
        if self.document.is_none() {
            self.output.data(line);
        }
    }

    /// Adds a value to the result as JSON.
    fn note(&mut self, key: &str, value: impl Into<Value>) {
        if let Some(document) = &mut self.document {
            document.insert(key.to_owned(), value.into());
        }
    }

    /// Prints the pages where sitemaps are submitted by hand.
    fn print_engines(&mut self, standing: &PublishedSet) {
        let engines = ENGINES.iter().map(|engine| {
            let (name, page, indexnow) = (engine.name, engine.page, engine.takes_indexnow);
            json!({"name": name, "page": page, "note": engine.note, "indexnow": indexnow})
        });
        self.note("engines", engines.collect::<Vec<_>>());
        for engine in ENGINES {
            self.print(&format!("  {}", engine.name));
            self.print(&format!("    open:  {}", engine.page));
            for sitemap in &standing.sitemaps {
                self.print(&format!("    paste: {sitemap}"));
            }
            let indexnow = if engine.takes_indexnow {
                "; IndexNow notifies it of changed URLs"
            } else {
                ""
            };
            self.print(&format!("    {}{indexnow}", engine.note));
        }
        self.print("  for all engines, in robots.txt:");
        for sitemap in &standing.sitemaps {
            self.print(&format!("    Sitemap: {sitemap}"));
        }
    }

    /// Prints the lines that robots.txt should have, and whether it has them; returns whether that could be found out.
    ///
    /// # Errors
    /// No request can be sent at all.
    fn print_robots(&mut self, standing: &PublishedSet) -> Result<bool, DownloadError> {
        let site = UrlKey::from_normalised(&standing.site).ok();
        let asked = site.as_ref().filter(|_| self.announce != Announce::DryRun);
        let found = asked.map(|site| self.notifier.robots(site)).transpose();
        if let Err(error @ DownloadError::Settings(_)) = found {
            return Err(error);
        }
        let origin = site.map_or_else(|| standing.site.clone(), |site| site.origin().to_string());
        let missing = match &found {
            Ok(Some(rules)) => Some(missing_lines(rules, &standing.sitemaps)),
            Ok(None) | Err(_) => None,
        };
        let lines = standing.sitemaps.iter().map(|sitemap| {
            let lacks = |missing: &Vec<&str>| missing.contains(&sitemap.as_str());
            let present = missing.as_ref().map(|missing| !lacks(missing));
            json!({"line": format!("Sitemap: {sitemap}"), "present": present})
        });
        self.note("robots_txt", lines.collect::<Vec<_>>());
        for sitemap in &standing.sitemaps {
            let state = match &missing {
                Some(missing) if missing.contains(&sitemap.as_str()) => "lacks",
                Some(_) => "has",
                None => "should have",
            };
            self.print(&format!("  {origin}/robots.txt {state} the line:"));
            self.print(&format!("    Sitemap: {sitemap}"));
        }
        if let Err(error) = found {
            let error = with_causes(&error);
            self.output
                .warn(&format!("arpent could not read robots.txt, so it does not know if the lines are there: {error}"));
            return Ok(false);
        }
        Ok(true)
    }
}

/// URLs of the published set.
fn count_published(store: &Store) -> Result<u64, StoreError> {
    let mut count = 0;
    store.each(None, Shown::Outline, &mut |rows| {
        count += u64::from(rows.is_listed()?);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(count)
}
