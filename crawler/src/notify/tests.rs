//! Notifications to an engine that answers by a script.

use std::{cell::RefCell, path::Path};

use jiff::Timestamp;

use super::{Key, MAX_URLS_PER_REQUEST, PingTemplate, Submission, Submitted, submit};
use crate::{
    client::{CallAnswer, CallError},
    config::NotifyConfig,
    fetch::FetchErrorKind,
    publish::PublishedSet,
    store::{
        Effect, Store,
        outbox::{OutboxStep, UrlChange},
    },
    url_key::UrlKey,
};

const NOW: &str = "2026-03-01T12:00:00Z";

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

fn url(text: &str) -> UrlKey {
    UrlKey::from_normalised(text).unwrap()
}

fn answer(status: u16, body: &str) -> CallAnswer {
    CallAnswer {
        status,
        body: body.as_bytes().to_vec(),
        is_whole: true,
        tries: 1,
    }
}

/// How an engine answers the request of a number with these URLs.
type AnswerTo<'a> = dyn Fn(usize, &[String]) -> Result<CallAnswer, CallError> + 'a;

/// A site whose set is in a folder, with these URLs to be sent.
struct Bench {
    folder: tempfile::TempDir,
    store: Store,
    config: NotifyConfig,
    standing: PublishedSet,
    /// Every call: what it is shown as, and its body.
    calls: RefCell<Vec<(String, Option<serde_json::Value>)>>,
}

impl Bench {
    fn new(urls: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut bench = Self {
            standing: PublishedSet {
                site: "https://h.example/".to_owned(),
                output: folder.path().display().to_string(),
                storage: None,
                directory: "https://h.example/".to_owned(),
                sitemaps: vec!["https://h.example/sitemap.xml".to_owned()],
            },
            folder,
            store: Store::in_memory().unwrap(),
            config: NotifyConfig {
                indexnow: true,
                indexnow_endpoint: "https://engine.example/indexnow".to_owned(),
                ..NotifyConfig::default()
            },
            calls: RefCell::default(),
        };
        bench.wait(urls, UrlChange::Changed);
        bench
    }

    /// Adds URLs to those that wait to be sent.
    fn wait(&mut self, urls: &[&str], change: UrlChange) {
        let changes = urls.iter().map(|text| (url(text), change)).collect();
        let since = now();
        let added = Effect::Outbox(OutboxStep::Add { changes, since });
        self.store.commit(&[added]).unwrap();
    }

    /// Submits: key files are served from the folder, the engine answers the request of a number by `engine`.
    fn submit_with(
        &mut self,
        at: &str,
        engine: &dyn Fn(usize) -> Result<CallAnswer, CallError>,
    ) -> Submitted {
        self.submit_to(at, &|number, _| engine(number))
    }

    /// The same, where the answer depends on the URLs that were sent too.
    fn submit_to(&mut self, at: &str, engine: &AnswerTo<'_>) -> Submitted {
        let Self {
            folder,
            store,
            config,
            standing,
            calls,
        } = self;
        calls.borrow_mut().clear();
        let submission = Submission {
            config,
            standing,
            deliver: &|| Ok(()),
            dry_run: false,
            is_held: false,
        };
        let at: Timestamp = at.parse().unwrap();
        let sent = RefCell::new(0);
        submit(store, &submission, &|| at, &mut |call| {
            let body = call.json.as_deref();
            let body: Option<serde_json::Value> =
                body.map(|json| serde_json::from_str(json).unwrap());
            let urls = body.as_ref().map(|body| body["urlList"].clone());
            let urls: Vec<String> =
                urls.map_or_else(Vec::new, |urls| serde_json::from_value(urls).unwrap());
            let shown = call.shown.to_string();
            assert!(call.json.is_some() || !shown.contains("engine"), "{shown}");
            calls.borrow_mut().push((shown, body));
            if call.json.is_some() {
                *sent.borrow_mut() += 1;
                return engine(*sent.borrow(), &urls);
            }
            let name = call.url.path().rsplit('/').next().unwrap();
            Ok(match std::fs::read_to_string(folder.path().join(name)) {
                Ok(text) => answer(200, &text),
                Err(_) => answer(404, ""),
            })
        })
        .unwrap()
    }

    /// Submits to an engine that refuses every request with `bad` in it.
    fn submit_refusing(&mut self, bad: &str) -> Submitted {
        self.submit_to(NOW, &|_, urls| {
            let refuses = urls.iter().any(|url| url == bad);
            Ok(answer(if refuses { 422 } else { 200 }, ""))
        })
    }

    fn submit(&mut self, status: u16) -> Submitted {
        self.submit_with(NOW, &|_| Ok(answer(status, "")))
    }

    /// Lists of URLs that were sent.
    fn sent(&self) -> Vec<Vec<String>> {
        let calls = self.calls.borrow();
        let bodies = calls.iter().filter_map(|(_, body)| body.as_ref());
        let urls = |body: &serde_json::Value| serde_json::from_value(body["urlList"].clone());
        bodies.map(|body| urls(body).unwrap()).collect()
    }

    fn key(&self) -> String {
        let key = Key::stored(&self.store).unwrap().unwrap();
        key.reveal().to_owned()
    }
}

#[test]
fn without_an_answer_the_urls_stay() {
    let mut bench = Bench::new(&["https://h.example/a"]);
    let submitted = bench.submit_with(NOW, &|_| {
        Err(CallError::NoAnswer {
            kind: FetchErrorKind::Connect,
            message: "refused".to_owned(),
        })
    });
    assert_eq!((submitted.sent, submitted.waiting), (0, 1));
    assert_eq!(submitted.problems, ["https://engine.example/...: refused"]);
    // What names the engine already names it once.
    let message = "https://engine.example/...: status 999 is not an answer";
    let submitted = bench.submit_with(NOW, &|_| {
        Err(CallError::NoAnswer {
            kind: FetchErrorKind::Protocol,
            message: message.to_owned(),
        })
    });
    assert_eq!(submitted.problems, [message]);
}

#[test]
fn requests_have_at_most_ten_thousand_urls() {
    let urls: Vec<String> = (0..25_000)
        .map(|number| format!("https://h.example/{number:05}"))
        .collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let mut bench = Bench::new(&urls);
    // The third one fails: what it held stays, and only that.
    let submitted = bench.submit_with(NOW, &|number| {
        Ok(answer(if number < 3 { 200 } else { 503 }, ""))
    });
    let sizes: Vec<usize> = bench.sent().iter().map(Vec::len).collect();
    assert_eq!(sizes, [MAX_URLS_PER_REQUEST, MAX_URLS_PER_REQUEST, 5_000]);
    assert_eq!((submitted.sent, submitted.waiting), (20_000, 5_000));
    assert_eq!(bench.submit(200).sent, 5_000);
    assert_eq!(bench.sent()[0][0], "https://h.example/20000");
}

#[test]
fn key_is_proved_in_the_root() {
    let mut bench = Bench::new(&["https://h.example/a", "https://old.example/b"]);
    let key = Key::make(&mut bench.store).unwrap();
    bench.standing.directory = "https://maps.example/h/".to_owned();
    let name = key.file_name();
    let file = bench.folder.path().join(&name);
    let submitted = bench.submit(200);
    assert_eq!(bench.sent(), Vec::<Vec<String>>::new());
    assert_eq!(submitted.problems.len(), 1, "{submitted:?}");
    assert!(!file.exists(), "there it would prove nothing");
    std::fs::write(&file, "\u{feff}other-key-1\n").unwrap();
    let submitted = bench.submit(200);
    assert_eq!(
        submitted.problems,
        ["the key's file https://h.example/<key>.txt does not have the key, but another key"]
    );
    std::fs::write(&file, format!("{}\r\n", key.reveal())).unwrap();
    let submitted = bench.submit(200);
    assert_eq!(bench.sent(), [["https://h.example/a"]]);
    assert_eq!((submitted.sent, submitted.waiting), (1, 1));
}

#[test]
fn key_of_another_host_has_no_file() {
    let mut bench = Bench::new(&["https://h.example/a"]);
    assert_eq!(bench.submit(429).waiting, 1);
    let file = bench.folder.path().join(format!("{}.txt", bench.key()));
    assert!(file.exists());
    bench.standing.directory = "https://maps.example/h/".to_owned();
    bench.submit(200);
    assert!(!file.exists());
}

#[test]
fn no_message_shows_the_key() {
    let mut bench = Bench::new(&["https://h.example/a"]);
    bench.submit(429);
    let key = bench.key();
    let echo = format!("{}{key}", "x".repeat(40));
    let submitted = bench.submit_with(NOW, &|_| Ok(answer(400, &echo)));
    assert!(!submitted.problems[0].contains(&key[..8]), "{submitted:?}");
    bench.standing.directory = "https://maps.example/h/".to_owned();
    bench.submit(200);
    let file = bench.folder.path().join(format!("{key}.txt"));
    std::fs::write(&file, format!("<p>{key}</p>")).unwrap();
    let submitted = bench.submit(200);
    assert_eq!(
        submitted.problems,
        ["the key's file https://h.example/<key>.txt does not have the key, but \"<p><key></p>\""]
    );
}

#[test]
fn refused_url_delays_no_other() {
    let mut bench = Bench::new(&[]);
    // What an engine is sent in a run; it refuses every request with `/bad` in it.
    let run = |bench: &mut Bench, new: &[&str]| -> Vec<Vec<String>> {
        for path in new {
            let url = format!("https://h.example{path}");
            bench.wait(&[&url], UrlChange::Changed);
        }
        bench.submit_refusing("https://h.example/bad");
        let sent = bench.sent().into_iter();
        let path = |url: String| url.replacen("https://h.example", "", 1);
        sent.map(|urls| urls.into_iter().map(path).collect())
            .collect()
    };
    assert_eq!(
        run(&mut bench, &["/a", "/bad", "/c"]),
        [["/a", "/bad", "/c"]]
    );
    // New ones are not sent with what was refused; that goes out in halves.
    assert_eq!(
        run(&mut bench, &["/new"]),
        [vec!["/new"], vec!["/a", "/bad"]]
    );
    assert_eq!(run(&mut bench, &[]), [vec!["/c"], vec!["/a"], vec!["/bad"]]);
    // Refused alone for the third time it is sent no more, until there are news of it.
    assert_eq!(run(&mut bench, &["/newer"]), [["/newer"]]);
    assert_eq!(bench.store.outbox_len(), 0);
    assert_eq!(run(&mut bench, &["/bad"]), [["/bad"]]);
    assert_eq!(bench.store.outbox_len(), 1);
}

#[test]
fn url_too_long_for_sitemaps_leaves() {
    // Each is escaped in a sitemap, which makes it too long.
    let long = format!("https://h.example/{}", "%".repeat(1_500));
    let mut bench = Bench::new(&[&long, "https://h.example/b"]);
    let submitted = bench.submit(200);
    assert_eq!((submitted.sent, submitted.waiting), (1, 0));
    assert_eq!(submitted.problems, [""; 0]);
    assert_eq!(bench.store.outbox_len(), 0);
}

#[test]
fn url_refused_alone_three_times_leaves() {
    for (status, meaning) in [
        (400, "it finds the request badly formed"),
        (422, "these URLs are not of the host h.example, or the key"),
    ] {
        let mut bench = Bench::new(&["https://h.example/a"]);
        for submission in 1..3 {
            let submitted = bench.submit(status);
            assert_eq!(submitted.waiting, 1, "{status}: {submission}");
        }
        let submitted = bench.submit(status);
        assert_eq!((submitted.sent, submitted.waiting), (0, 0), "{status}");
        let problems = submitted.problems.join("\n");
        let expected =
            "https://h.example/a was refused 3 times and is not sent again before it changes";
        assert!(problems.contains(expected), "{problems}");
        assert!(problems.contains(meaning), "{problems}");
        assert_eq!(bench.submit(200), Submitted::default(), "{status}");
    }
    // The other refusals are not about the URL.
    for (status, meaning) in [
        (403, "answered 403: it does not find the key in"),
        (429, "answered 429 to each of 1 tries: too many requests"),
        (500, "answered 500 to each of 1 tries"),
        (
            302,
            "which IndexNow does not define; check indexnow_endpoint",
        ),
    ] {
        let mut bench = Bench::new(&["https://h.example/a"]);
        for _ in 0..5 {
            let submitted = bench.submit(status);
            assert_eq!(submitted.waiting, 1, "{status}");
            let problems = submitted.problems.join("\n");
            assert!(problems.contains(meaning), "{status}: {problems}");
        }
    }
}

#[test]
fn key_of_the_settings_replaces_older_file() {
    let mut bench = Bench::new(&["https://h.example/a"]);
    bench.submit(429);
    let made = format!("{}.txt", bench.key());
    let path = bench.folder.path().join("own-key");
    std::fs::write(&path, "my-own-key-0123\n").unwrap();
    bench.config.indexnow_key_file = Some(path);
    assert_eq!(bench.submit(200).sent, 1);
    let names: Vec<String> = std::fs::read_dir(bench.folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(!names.contains(&made), "{names:?}");
    assert!(
        names.contains(&"my-own-key-0123.txt".to_owned()),
        "{names:?}"
    );
}

#[test]
fn foreign_file_under_the_key_name_stays() {
    let mut bench = Bench::new(&["https://h.example/a"]);
    let key = Key::make(&mut bench.store).unwrap();
    let path = bench.folder.path().join(format!("{}.txt", key.reveal()));
    std::fs::write(&path, "mine").unwrap();
    let submitted = bench.submit(200);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
    assert_eq!((submitted.sent, submitted.waiting), (0, 1));
    assert!(submitted.problems[0].contains("has another file in the place of"));
    assert!(!submitted.problems.join("\n").contains(key.reveal()));
}

#[test]
fn key_named_like_a_sitemap_has_no_file() {
    let mut bench = Bench::new(&["https://h.example/a"]);
    let path = bench.folder.path().join("own-key");
    std::fs::write(&path, "Sitemap-root").unwrap();
    bench.config.indexnow_key_file = Some(path);
    let submitted = bench.submit(200);
    assert!(submitted.problems[0].contains("would have the name of a sitemap"));
    assert_eq!((submitted.sent, submitted.waiting), (0, 1));
    assert_eq!(std::fs::read_dir(bench.folder.path()).unwrap().count(), 1);
}

#[test]
fn no_url_is_sent_twice_in_ten_minutes() {
    let mut bench = Bench::new(&["https://h.example/a"]);
    assert_eq!(bench.submit(200).sent, 1);
    bench.wait(&["https://h.example/a"], UrlChange::Removed);
    let submitted = bench.submit_with("2026-03-01T12:09:59Z", &|_| Ok(answer(200, "")));
    assert_eq!(
        (submitted.sent, submitted.waiting, submitted.resting),
        (0, 1, 1)
    );
    assert_eq!(submitted.problems, Vec::<String>::new());
    let submitted = bench.submit_with("2026-03-01T12:10:00Z", &|_| Ok(answer(200, "")));
    assert_eq!((submitted.sent, submitted.waiting), (1, 0));
}

#[test]
fn a_dry_run_asks_nobody_and_writes_nothing() {
    let mut bench = Bench::new(&[]);
    let added = ["https://h.example/a", "https://h.example/b"];
    bench.wait(&added, UrlChange::Added);
    let submission = Submission {
        config: &bench.config,
        standing: &bench.standing,
        deliver: &|| Ok(()),
        dry_run: true,
        is_held: false,
    };
    let submitted = submit(&mut bench.store, &submission, &now, &mut |_| {
        panic!("nobody is asked")
    });
    let submitted = submitted.unwrap();
    assert_eq!((submitted.would_send, submitted.waiting), (2, 2));
    assert_eq!(
        submitted.shown,
        ["added https://h.example/a", "added https://h.example/b"]
    );
    assert!(Key::stored(&bench.store).unwrap().is_none());
    assert_eq!(
        std::fs::read_dir(Path::new(&bench.standing.output))
            .unwrap()
            .count(),
        0
    );
}

#[test]
fn ping_template_is_a_url_with_placeholder() {
    let check = |text: &str, expected: bool| {
        assert_eq!(PingTemplate::parse(text).is_ok(), expected, "{text}");
    };
    check("https://engine.example/ping?sitemap={sitemap}&key=1", true);
    check("https://engine.example/ping?sitemap=", false);
    check("engine.example/ping?sitemap={sitemap}", false);
    check("ftp://engine.example/{sitemap}", false);
}
