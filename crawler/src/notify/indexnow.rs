//! `IndexNow` (<https://www.indexnow.org/documentation>): one engine is notified of the URLs that changed, and passes
//! it on to the others. Always by POST, also for one URL: a GET would put the key into the logs of every
//! proxy on the way.
//!
//! A URL leaves the outbox when the engine has it (200, 202), or refuses that URL alone again and again; the time between
//! its answer and the store is the only one in which a crash notifies it twice.

use std::{ops::ControlFlow, path::Path};

use jiff::Timestamp;
use serde::Serialize;
use sitemap_core::Loc;

use super::{Caller, Key, KeyError, service_url, shown_url, unanswered, with_causes};
use crate::{
    client::{Call, CallAnswer, Retry},
    config::NotifyConfig,
    publish::{Placed, PublishError, PublishedSet, place_file, take_back},
    site::Site,
    store::{
        Effect, MetaValue, Shown, Store, StoreError,
        outbox::{NOTIFIES_ENGINES, OutboxStep, UrlChange, Waiting},
    },
    url_key::UrlKey,
};

/// URLs of one request at most (`IndexNow` documentation, "Submitting set of URLs").
pub const MAX_URLS_PER_REQUEST: usize = 10_000;

/// So often a URL may be refused (400, 422) before it leaves when it is refused alone: the first times the fault may lie
/// elsewhere, in the engine or in a URL that was sent with it.
const MAX_REFUSALS: u32 = 3;

/// Refused URLs that are named.
const MAX_NAMED: usize = 5;

/// URLs that a dry run names.
const MAX_SHOWN: usize = 20;

/// The beginning of the names of all published files.
const SITEMAP: &str = "sitemap";

/// Name of the state's value with the name of the key's file in the output.
const KEY_FILE: &str = crate::store::names::NOTIFY_KEY_FILE;

/// The URLs that are sent, and the site.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "it holds a function")]
pub struct Submission<'a> {
    /// The settings.
    pub config: &'a NotifyConfig,
    /// The published set.
    pub standing: &'a PublishedSet,
    /// Report what would be sent; send no request, write nothing.
    pub dry_run: bool,
    /// The set is not served yet: nobody is notified of it.
    pub is_held: bool,
    /// Called after a file was added to the folder of the set: sends it to where readers get the set.
    pub deliver: &'a dyn Fn() -> Result<(), PublishError>,
}

/// The result for the URLs that waited.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Submitted {
    /// URLs that the engine has.
    pub sent: u64,
    /// Sent URLs that the engine took before it looked at the key (202).
    pub unchecked: u64,
    /// URLs that still wait.
    pub waiting: u64,
    /// Waiting URLs that were sent less than ten minutes ago.
    pub resting: u64,
    /// URLs that a dry run would send.
    pub would_send: u64,
    /// The first of them, each with what became of it.
    pub shown: Vec<String>,
    /// Notes for the user, each a sentence or fragment.
    pub notices: Vec<String>,
    /// Why not all was sent, each a fragment. The next session sends the URLs that wait.
    pub problems: Vec<String>,
}

/// Switches notifications of engines on for the site. Changes from before are not sent, so a session that notifies
/// engines calls this before it publishes.
///
/// # Errors
/// The store failed.
pub fn start_notifying(store: &mut Store) -> Result<(), StoreError> {
    if store.value(NOTIFIES_ENGINES)?.is_some() {
        return Ok(());
    }
    store.commit(&[
        Effect::Value(notifies_engines()),
        Effect::Outbox(OutboxStep::Forget),
    ])
}

fn notifies_engines() -> MetaValue {
    (NOTIFIES_ENGINES.to_owned(), Some("1".to_owned()))
}

/// Puts every URL of the published set into the outbox: for a site that begins to notify engines.
///
/// # Errors
/// The store failed; some URLs may wait already.
pub fn submit_all(store: &mut Store, site: &Site, now: Timestamp) -> Result<(), StoreError> {
    let mut from: Option<UrlKey> = None;
    loop {
        let (mut changes, mut next) = (Vec::new(), None);
        store.each(from.as_ref(), Shown::Outline, &mut |rows| {
            if changes.len() == MAX_URLS_PER_REQUEST {
                next = Some(rows.key.clone());
                return Ok(ControlFlow::Break(()));
            }
            if rows.is_listed()? {
                let written = match &site.stand_in {
                    Some(stand_in) => stand_in.shown(&rows.key),
                    None => Some(rows.key.clone()),
                };
                changes.extend(written.map(|url| (url, UrlChange::Added)));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        let since = now;
        store.commit(&[Effect::Outbox(OutboxStep::Add { changes, since })])?;
        match next {
            Some(key) => from = Some(key),
            None => return Ok(()),
        }
    }
}

/// Sends the URLs of the outbox; before the first notification these are the changes of the last publish. The clock is read
/// for each request, because answers take time.
///
/// # Errors
/// The store failed; what was sent before is noted.
pub fn submit(
    store: &mut Store,
    submission: &Submission<'_>,
    clock: &dyn Fn() -> Timestamp,
    call: &mut Caller<'_>,
) -> Result<Submitted, StoreError> {
    if !submission.dry_run && store.value(NOTIFIES_ENGINES)?.is_none() {
        store.commit(&[Effect::Value(notifies_engines())])?;
    }
    let mut submitted = Submitted {
        waiting: store.outbox(None, 0, clock())?.total,
        ..Submitted::default()
    };
    if submitted.waiting == 0 {
        return Ok(submitted);
    }
    if submission.dry_run {
        show(store, clock(), &mut submitted)?;
        return Ok(submitted);
    }
    let Some(endpoint) = service_url(&submission.config.indexnow_endpoint) else {
        let problem = "indexnow_endpoint is not an http or https URL".to_owned();
        submitted.problems.push(problem);
        return Ok(submitted);
    };
    let key = match key_of(store, submission.config) {
        Ok(key) => key,
        Err(KeyError::Store(error)) => return Err(error),
        Err(error) => {
            submitted.problems.push(with_causes(&error));
            return Ok(submitted);
        }
    };
    let mut sender = Sender {
        submission,
        endpoint,
        key,
        outside: 0,
        submitted,
    };
    sender.place_key_file(store, clock())?;
    let mut after = None;
    let mut seen = 0_u64;
    let mut proof = None;
    'all: loop {
        let outbox = store.outbox(after.as_ref(), MAX_URLS_PER_REQUEST, clock())?;
        let waiting = outbox.waiting;
        let Some(last) = waiting.last() else { break };
        after = Some(last.place());
        let proof = proof.get_or_insert_with(|| sender.proof(call));
        let location = match proof {
            Ok(location) => location,
            Err(problem) => {
                sender.problem(problem.clone());
                break;
            }
        };
        for batch in batches(&waiting) {
            seen += batch.len() as u64;
            if !sender.send_batch(store, location, batch, clock, call)? {
                break 'all;
            }
        }
    }
    let mut submitted = sender.finish();
    let before = submitted.waiting;
    submitted.waiting = store.outbox(None, 0, clock())?.total;
    if submitted.problems.is_empty() {
        submitted.resting = before.saturating_sub(seen);
    }
    Ok(submitted)
}

/// The next batch of the URLs that wait, in their order. URLs that were refused are not sent with others, and
/// each time in halves, so that the one which is at fault is alone in the end.
fn batches(waiting: &[Waiting]) -> impl Iterator<Item = &[Waiting]> {
    waiting
        .chunk_by(|one, next| one.tries == next.tries)
        .flat_map(|refused_alike| {
            let was_refused = refused_alike.first().is_some_and(|url| url.tries > 0);
            let parts = if was_refused { 2 } else { 1 };
            refused_alike.chunks(refused_alike.len().div_ceil(parts))
        })
}

/// The messages of a dry run.
fn show(store: &Store, now: Timestamp, submitted: &mut Submitted) -> Result<(), StoreError> {
    let mut after = None;
    loop {
        let outbox = store.outbox(after.as_ref(), MAX_URLS_PER_REQUEST, now)?;
        let waiting = outbox.waiting;
        let Some(last) = waiting.last() else { break };
        after = Some(last.place());
        submitted.would_send += waiting.len() as u64;
        let room = MAX_SHOWN - submitted.shown.len();
        let lines = waiting.iter().take(room);
        submitted
            .shown
            .extend(lines.map(|url| format!("{} {}", url.change.as_str(), url.key)));
    }
    submitted.resting = submitted.waiting - submitted.would_send;
    Ok(())
}

/// The key of the settings, or that of the state, which is made when there is none.
fn key_of(store: &mut Store, config: &NotifyConfig) -> Result<Key, KeyError> {
    if let Some(path) = &config.indexnow_key_file {
        return Key::read(path);
    }
    match Key::stored(store)? {
        Some(key) => Ok(key),
        None => Key::make(store),
    }
}

/// The body of a request.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    host: &'a str,
    key: &'a str,
    key_location: &'a str,
    url_list: Vec<&'a str>,
}

/// The file that proves the key; `Err` is the reason why nothing can be sent.
type Proof = Result<Loc, String>;

struct Sender<'a> {
    submission: &'a Submission<'a>,
    endpoint: UrlKey,
    key: Key,
    /// URLs that no key file covers.
    outside: u64,
    submitted: Submitted,
}

impl Sender<'_> {
    /// Writes the key's file into the output, when that is where it is served; one of an earlier key goes.
    fn place_key_file(&mut self, store: &mut Store, now: Timestamp) -> Result<(), StoreError> {
        let standing = self.submission.standing;
        let output = Path::new(&standing.output);
        // On another host it would prove nothing of this one.
        let is_served = are_on_one_host(&standing.directory, &standing.site);
        let name = self.key.file_name();
        let wanted = is_served.then_some(name.as_str());
        let old = store.value(KEY_FILE)?;
        if let Some(old) = old.as_deref().filter(|old| Some(*old) != wanted) {
            let content = old.strip_suffix(".txt").unwrap_or(old);
            if let Err(error) = take_back(output, old, content.as_bytes()) {
                let causes = with_causes(&error).replace(content, "<key>");
                let notice = format!("the file of an earlier key stays in the output: {causes}");
                self.submitted.notices.push(notice);
                return Ok(());
            }
        }
        if old.as_deref() != wanted {
            // Noted first: a file that is noted and not there does no harm.
            let value = wanted.map(str::to_owned);
            store.commit(&[Effect::value(KEY_FILE, value)])?;
        }
        if !is_served {
            return Ok(());
        }
        // On some disks upper and lower case are one.
        if name.to_ascii_lowercase().starts_with(SITEMAP) {
            self.submitted.problems.push(format!(
                "the key's file would have the name of a sitemap: expected a key that does not begin with \
                 {SITEMAP}"
            ));
            return Ok(());
        }
        let placed = place_file(output, &name, self.key.reveal().as_bytes(), now);
        let delivered = placed.and_then(|placed| {
            if placed == Placed::New {
                (self.submission.deliver)()?;
            }
            Ok(placed)
        });
        match delivered {
            Ok(Placed::New) => self.submitted.notices.push(format!(
                "the key's file <key>.txt is now in {}",
                output.display()
            )),
            Ok(Placed::Unchanged) => {}
            Err(PublishError::Foreign(_)) => self.submitted.problems.push(format!(
                "{} has another file in the place of the key's file <key>.txt, which arpent does not replace",
                output.display()
            )),
            Err(error) => {
                let causes = self.key.hidden_in(&with_causes(&error));
                let problem = format!("the key's file cannot be put into the output: {causes}");
                self.submitted.problems.push(problem);
            }
        }
        Ok(())
    }

    /// Sends those of the URLs that the key's file at `location` covers; whether to go on.
    fn send_batch(
        &mut self,
        store: &mut Store,
        location: &Loc,
        waiting: &[Waiting],
        clock: &dyn Fn() -> Timestamp,
        call: &mut Caller<'_>,
    ) -> Result<bool, StoreError> {
        let mut urls = Vec::new();
        let mut unsendable = Vec::new();
        for Waiting { key, .. } in waiting {
            // As it is in the sitemap.
            match Loc::parse(key.as_str()) {
                Ok(loc) if covers(location, &loc) => urls.push((key.clone(), loc)),
                Ok(_) => self.outside += 1,
                Err(_) => unsendable.push(key.clone()),
            }
        }
        if !unsendable.is_empty() {
            // No sitemap can list them: they would wait for ever.
            let step = OutboxStep::Sent {
                urls: unsendable,
                at: clock(),
            };
            store.commit(&[Effect::Outbox(step)])?;
        }
        if urls.is_empty() {
            return Ok(true);
        }
        // Those of one request were refused alike.
        let refusals = waiting.first().map_or(0, |url| url.tries);
        self.send(store, location, &urls, refusals, clock, call)
    }

    /// The file that proves the key, which is asked for.
    fn proof(&self, call: &mut Caller<'_>) -> Proof {
        let standing = self.submission.standing;
        let (directory, site) = (&standing.directory, &standing.site);
        let place = if are_on_one_host(directory, site) {
            directory.clone()
        } else {
            // No file there proves the key for the site.
            let site = Loc::parse(site).map_err(|error| error.to_string())?;
            format!("{}/", site.origin())
        };
        let location = Loc::parse(&format!("{place}{}", self.key.file_name()))
            .map_err(|error| format!("no file can prove the key: {error}"))?;
        self.check(location, call)
    }

    /// Returns whether the file at `location` holds the key, as an engine will see it.
    fn check(&self, location: Loc, call: &mut Caller<'_>) -> Proof {
        let shown = self.key.hidden_in(location.as_str());
        let url = service_url(location.as_str())
            .ok_or_else(|| format!("{shown} is not an http or https URL"))?;
        let answer = call(&Call::get(url, &shown, Retry::Passing));
        let answer =
            answer.map_err(|error| format!("the key's file {}", unanswered(&shown, &error)))?;
        if answer.status != 200 {
            return Err(format!(
                "the key's file {shown} answered {}, expected 200 and the key; the file has to be served there",
                answer.status
            ));
        }
        let found = String::from_utf8_lossy(&answer.body);
        let found = found.trim_start_matches('\u{feff}').trim();
        if found != self.key.reveal() {
            return Err(format!(
                "the key's file {shown} does not have the key, but {}",
                described(found, &self.key)
            ));
        }
        Ok(location)
    }

    /// Sends URLs that the file at `location` covers, and that were refused `refusals` times; whether to go on.
    fn send(
        &mut self,
        store: &mut Store,
        location: &Loc,
        urls: &[(UrlKey, Loc)],
        refusals: u32,
        clock: &dyn Fn() -> Timestamp,
        call: &mut Caller<'_>,
    ) -> Result<bool, StoreError> {
        let body = Body {
            host: host_of(location),
            key: self.key.reveal(),
            key_location: location.as_str(),
            url_list: urls.iter().map(|(_, loc)| loc.as_str()).collect(),
        };
        let json = serde_json::to_string(&body).expect("strings are always JSON");
        let engine = shown_url(&self.endpoint);
        let answer = call(&Call::post(self.endpoint.clone(), &engine, &json));
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => {
                self.problem(unanswered(&engine, &error));
                return Ok(false);
            }
        };
        let keys = || urls.iter().map(|(key, _)| key.clone()).collect();
        let gives_up = urls.len() == 1 && refusals + 1 >= MAX_REFUSALS;
        let step = match answer.status {
            200 | 202 => {
                let count = urls.len() as u64;
                self.submitted.sent += count;
                if answer.status == 202 {
                    self.submitted.unchecked += count;
                }
                let at = clock();
                OutboxStep::Sent { urls: keys(), at }
            }
            400 | 422 if gives_up => OutboxStep::GiveUp(keys()),
            400 | 422 => OutboxStep::Tried(keys()),
            _ => {
                self.problem(self.refusal(&engine, location, urls, &answer));
                return Ok(false);
            }
        };
        store.commit(&[Effect::Outbox(step)])?;
        if matches!(answer.status, 200 | 202) {
            return Ok(true);
        }
        let refusal = self.refusal(&engine, location, urls, &answer);
        let last = urls.first().filter(|_| gives_up).map(|(_, loc)| {
            let times = refusals + 1;
            format!("; {loc} was refused {times} times and is not sent again before it changes")
        });
        let refusal = refusal + last.as_deref().unwrap_or_default();
        self.problem(refusal);
        Ok(false)
    }

    /// The meaning of an answer that is not a success.
    fn refusal(
        &self,
        engine: &str,
        location: &Loc,
        urls: &[(UrlKey, Loc)],
        answer: &CallAnswer,
    ) -> String {
        let status = answer.status;
        let said = String::from_utf8_lossy(&answer.body);
        let said = match described(said.trim(), &self.key).as_str() {
            "nothing" => String::new(),
            text => format!("; answer: {text}"),
        };
        let tries = format!(" to each of {} tries", answer.tries);
        let what = match status {
            400 => ": it finds the request badly formed".to_owned(),
            403 => format!(
                ": it does not find the key in {}, where arpent found it before the request",
                self.key.hidden_in(location.as_str())
            ),
            422 => {
                let named: Vec<&str> = urls
                    .iter()
                    .take(MAX_NAMED)
                    .map(|(_, loc)| loc.as_str())
                    .collect();
                let more = match urls.len() - named.len() {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                format!(
                    ": these URLs are not of the host {}, or the key does not match its schema: {}{more}",
                    host_of(location),
                    named.join(" ")
                )
            }
            429 => tries + ": too many requests",
            500..=599 => tries,
            _ => ", which IndexNow does not define; check indexnow_endpoint".to_owned(),
        };
        format!("{engine} answered {status}{what}{said}")
    }

    fn problem(&mut self, problem: String) {
        self.submitted.problems.push(problem);
    }

    fn finish(mut self) -> Submitted {
        if self.outside > 0 {
            self.submitted.problems.push(format!(
                "{} of the URLs are outside of the directory of the key's file and are not sent",
                self.outside
            ));
        }
        self.submitted
    }
}

/// Host, and port where it is not the scheme's default: http and https may mix.
fn host_of(loc: &Loc) -> &str {
    let origin = loc.origin();
    origin
        .split_once("://")
        .map_or(origin, |(_, authority)| authority)
}

fn are_on_one_host(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|url| Loc::parse(url).ok());
    one.zip(other)
        .is_some_and(|(one, other)| host_of(&one) == host_of(&other))
}

/// Returns whether the key's file at `location` covers `url`: as a sitemap there may list it, but with the host in
/// the place of the origin.
fn covers(location: &Loc, url: &Loc) -> bool {
    if host_of(location) != host_of(url) {
        return false;
    }
    // Of the URL only the path matters now; without its query none becomes too long by the other scheme.
    let there = format!("{}{}", location.origin(), url.path());
    Loc::parse(&there).is_ok_and(|there| location.may_list(&there))
}

/// The text that was found where another was expected, in a few words, without the key in them.
fn described(found: &str, key: &Key) -> String {
    const MAX_CHARACTERS: usize = 60;
    if found.is_empty() {
        return "nothing".to_owned();
    }
    if Key::parse(found).is_ok() {
        return "another key".to_owned();
    }
    let is_printable = |character: &char| !character.is_control();
    let printable: String = found.chars().filter(is_printable).collect();
    // Before it is cut: a part of the key is not a key any more.
    let shown = key.hidden_in(&printable);
    let mut text: String = shown.chars().take(MAX_CHARACTERS).collect();
    if shown.chars().count() > MAX_CHARACTERS {
        text.push_str("...");
    }
    format!("{text:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loc(text: &str) -> Loc {
        Loc::parse(text).unwrap()
    }

    #[test]
    fn key_file_covers_its_directory() {
        let check = |location: &str, url: &str, expected: bool| {
            assert_eq!(
                covers(&loc(location), &loc(url)),
                expected,
                "{location} {url}"
            );
        };
        let file = "https://h.example/catalog/key.txt";
        check(file, "https://h.example/catalog/show?item=23", true);
        check(file, "http://h.example/catalog/show?item=23", true);
        check(file, "https://h.example/catalogue/show", false);
        check(file, "https://h.example/catalog", false);
        check(file, "https://www.h.example/catalog/show", false);
        check(file, "https://h.example:8443/catalog/show", false);
        check(file, "https://h.example/%63atalog/show", true);
        check(file, "https://h.example/catalog%2Fshow", false);
        check("https://h.example/key.txt", "http://h.example/any", true);
        check("http://127.0.0.1:81/key.txt", "http://127.0.0.1:81/a", true);
        check(
            "http://127.0.0.1:81/key.txt",
            "http://127.0.0.1:82/a",
            false,
        );
    }

    #[test]
    fn description_of_findings_has_no_key() {
        let key = Key::parse("the-key-of-this-site-0123456789").unwrap();
        let check = |found: &str, expected: &str| assert_eq!(described(found, &key), expected);
        check("", "nothing");
        check("0123456789abcdef", "another key");
        check("<html>\u{1b}[1m\n</html>", "\"<html>[1m</html>\"");
        assert!(described(&"é ".repeat(100), &key).ends_with("...\""));
        let own = key.reveal();
        check(&format!("<p>{own}</p>"), "\"<p><key></p>\"");
        check(&format!("{own}\n{own}"), "\"<key><key>\"");
        check(&own.to_ascii_uppercase(), "another key");
        check(&format!("<p>{}", own.to_ascii_uppercase()), "\"<p><key>\"");
        check(&format!("{}\0{}!", &own[..9], &own[9..]), "\"<key>!\"");
        // Where the text is cut lies in the key.
        let long = format!("{} {own}", "x".repeat(50));
        check(&long, &format!("\"{} <key>\"", "x".repeat(50)));
        let long = format!("{} {own}", "x".repeat(58));
        check(&long, &format!("\"{} <...\"", "x".repeat(58)));
    }
}
