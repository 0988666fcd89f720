//! `arpent publish` without a crawl: what it changes, and which notifications it sends.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::{Value, json};

use crate::support::{
    program::{Bench, Ran},
    site::{Response, Site},
    state::number,
};

/// A site whose edition the test sets.
struct World {
    bench: Bench,
    site: Site,
    edition: Arc<AtomicUsize>,
    /// Commands so far: each is run an hour later than the one before.
    commands: AtomicUsize,
}

impl World {
    /// `answer` makes the answer of the site for a request target in an edition.
    fn new(answer: impl Fn(&str, usize) -> Response + Send + Sync + 'static) -> Self {
        let edition = Arc::new(AtomicUsize::new(1));
        let now = Arc::clone(&edition);
        let bench = Bench::new();
        let output = bench.output();
        let site = Site::undated(move |request| {
            // The published set is served by the site itself.
            let name = request.target.trim_start_matches('/');
            match fs::read_to_string(output.join(name)) {
                Ok(text) if name.strip_suffix(".txt").is_some() => Response::text(text),
                _ => answer(&request.target, now.load(Ordering::SeqCst)),
            }
        });
        Self {
            bench,
            site,
            edition,
            commands: AtomicUsize::new(0),
        }
    }

    fn is(&self, edition: usize) {
        self.edition.store(edition, Ordering::SeqCst);
    }

    /// The time by which the clock of the next command is ahead.
    fn ahead(&self) -> String {
        format!("{}h", self.commands.fetch_add(1, Ordering::SeqCst))
    }

    fn crawl(&self, options: &[&str]) -> Ran {
        let mut command = self.bench.command(&self.site.url("/"), options);
        command.env("ARPENT_CLOCK_AHEAD", self.ahead());
        Ran::of(command)
    }

    /// `arpent publish` with these options.
    fn publish(&self, options: &[&str]) -> Ran {
        let mut command = self.bench.program();
        command
            .env("ARPENT_CLOCK_AHEAD", self.ahead())
            .args(["publish", &self.site.url("/"), "--json"])
            .arg("--output")
            .arg(self.bench.output())
            .arg("--state")
            .arg(self.bench.state())
            .args(options);
        Ran::of(command)
    }
}

/// The stored data on the last session: its outcome, its exit code, and the number of listed URLs.
fn last_session(world: &World) -> (Value, Value, Value) {
    let names = fs::read_dir(world.bench.state()).expect("there is a state");
    let mut paths = names.map(|entry| entry.expect("it can be read").path());
    let path = paths.find(|path| path.to_string_lossy().ends_with(".last.json"));
    let text = fs::read_to_string(path.expect("it was noted")).expect("it can be read");
    let last: Value = serde_json::from_str(&text).expect("JSON");
    let summary = &last["summary"];
    (
        summary["outcome"].clone(),
        last["exit_code"].clone(),
        summary["listed"].clone(),
    )
}

/// The edition in which every page but the first has the same text.
const NOTHING_HERE: usize = 100;

/// Ten pages, of which the tenth differs in each edition.
fn ten_pages(target: &str, edition: usize) -> Response {
    if target == "/" {
        return Response::linking((1..=10).map(|number| format!("/p{number}")));
    }
    match target
        .strip_prefix("/p")
        .and_then(|number| number.parse::<usize>().ok())
    {
        Some(1..=10) if edition == NOTHING_HERE => {
            Response::html("<title>Nothing here</title>There is nothing here.")
        }
        Some(10) => Response::html(format!("<title>ten</title>edition number {edition} of it")),
        Some(1..=9) => Response::html(format!("<title>{target}</title>text of {target}")),
        Some(_) | None => Response::status(404),
    }
}

/// Every file below `folder`, with its bytes; without the locks, which name their last holder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            all.extend(files(&path));
        } else if path.extension().is_none_or(|extension| extension != "lock") {
            let bytes = fs::read(&path).expect("the file can be read");
            all.insert(path.display().to_string(), bytes);
        }
    }
    all
}

#[test]
fn dry_run_changes_neither_disk_nor_state() {
    let world = World::new(ten_pages);
    world.crawl(&[]).expect_code(0);
    world.is(2);
    world.crawl(&[]).expect_code(0);
    let before = files(world.bench.path());
    let plan = ["--dry-run", "--exclude", "/p1", "--format", "xml,txt"];
    let summary = world.publish(&plan).expect_code(0).summary();
    assert_eq!(summary["outcome"], "dry-run");
    assert_eq!(number(&summary, "listed"), 10);
    assert_eq!(summary["excluded"]["excluded-by-rule"], 1);
    world
        .publish(&["--dry-run", "--include", "/p1"])
        .expect_code(0);
    world.publish(&["--dry-run", "--rollback"]).expect_code(0);
    let after = files(world.bench.path());
    let names = before.keys().chain(after.keys());
    let changed: Vec<_> = names
        .filter(|name| before.get(*name) != after.get(*name))
        .collect();
    assert_eq!(changed, [] as [&String; 0]);
    // The dry run stored nothing for later commands.
    let summary = world.publish(&[]).expect_code(0).summary();
    assert_eq!(summary["outcome"], "unchanged");
    assert_eq!(number(&summary, "listed"), 11);
}

#[test]
fn others_are_notified_as_after_a_crawl() {
    let world = World::new(ten_pages);
    let engine = Site::start(|_| Response::status(200));
    let (port, folder) = (engine.port(), world.bench.path().display());
    let settings = world.bench.settings(&format!(
        "limits.max_tries = 1\npoliteness.rate = \"unlimited\"\nrequests.resolve = [\"engine.test:{port}:127.0.0.1\"]\n[notify]\nindexnow = true\n\
         indexnow_endpoint = \"http://engine.test:{port}/indexnow\"\n\
         hook_command = 'echo $ARPENT_EVENT $ARPENT_OUTCOME $ARPENT_EXIT_CODE >> {folder}/hooks'\n"
    ));
    let publish = |options: &[&str], code: i32| {
        let options = [&["--config", settings.as_str()], options].concat();
        world.publish(&options).expect_code(code)
    };
    // The calls of the hooks and the URLs that the engine got, since the last look.
    let sent = || {
        let hooks = world.bench.path().join("hooks");
        let called = fs::read_to_string(&hooks).unwrap_or_default();
        fs::write(&hooks, "").expect("it can be written");
        let mut urls = Vec::new();
        for request in engine.log() {
            let body: Value = serde_json::from_str(&request.body).expect("JSON");
            let list = body["urlList"].as_array().expect("a list").iter();
            urls.extend(list.map(|url| {
                url.as_str()
                    .expect("a URL")
                    .replace(&world.site.origin(), "")
            }));
        }
        engine.clear_log();
        (called.trim_end().to_owned(), urls.join(" "))
    };
    let check = |called: &str, urls: &str| {
        assert_eq!(sent(), (called.to_owned(), urls.to_owned()));
    };
    let with_settings = ["--config", settings.as_str()];
    world.crawl(&with_settings).expect_code(0);
    check("published published 0", "");
    world.is(2);
    world.crawl(&with_settings).expect_code(0);
    check("published published 0", "/p10");

    publish(&[], 0);
    check("", "");
    assert_eq!(
        last_session(&world),
        (json!("unchanged"), json!(0), json!(11))
    );
    let summary = publish(&["--exclude", "/p1"], 0).summary();
    check("published published 0", "/p1");
    assert_eq!(
        summary["notified"].as_array().map(Vec::len),
        Some(1),
        "{summary}"
    );
    assert_eq!(
        last_session(&world),
        (json!("published"), json!(0), json!(10))
    );

    // Back to the set with that page, and to the one before, in which another page has another date, but has not changed.
    publish(&["--rollback"], 0);
    check("published published 0", "/p1");
    publish(&["--rollback"], 0);
    check("published published 0", "");
    assert_eq!(
        last_session(&world),
        (json!("published"), json!(0), json!(11))
    );

    publish(&["--dry-run", "--exclude", "/p1"], 0);
    check("", "");
    assert_eq!(
        last_session(&world),
        (json!("published"), json!(0), json!(11))
    );
    publish(&["--exclude", "/**"], 4);
    check("refused refused 4", "");
    assert_eq!(last_session(&world).1, json!(4));
    publish(&["--rollback=3"], 2);
    check("failed settings 2", "");
    // The page that has another date in the restored set has no content to compare with; changes after the next crawl are sent.
    world.is(3);
    world.crawl(&with_settings).expect_code(0);
    check("", "");
    world.is(4);
    world.crawl(&with_settings).expect_code(0);
    check("published published 0", "/p10");

    // The forced set and its rollback changed no page of the site.
    world.is(NOTHING_HERE);
    let forced = [&with_settings[..], &["--force"]].concat();
    world.crawl(&forced).expect_code(0);
    assert_eq!(sent().1.split(' ').count(), 10);
    publish(&["--rollback"], 0);
    check("published published 0", "");
    world.is(4);
    let summary = world.crawl(&with_settings).expect_code(0).summary();
    assert_eq!(summary["outcome"], "unchanged", "{summary}");
    check("", "");
}

#[test]
fn robots_txt_of_the_last_crawl_is_obeyed() {
    let world = World::new(|target, _| match target {
        "/" => Response::html(
            "<a href=/open>a</a><a href=/shut/page>b</a><img src=/shut/1.png><img src=/2.png>",
        ),
        "/robots.txt" => Response::text("User-agent: *\nDisallow: /shut/\n"),
        "/open" | "/shut/page" => {
            Response::html(format!("<title>{target}</title>text of {target}"))
        }
        _ => Response::status(404),
    });
    let images = ["--with", "images"];
    world
        .crawl(&[&images[..], &["--ignore", "robots"]].concat())
        .expect_code(0);
    let has = |text: &str| {
        let published = world.bench.published();
        published.files.values().any(|file| file.xml.contains(text))
    };
    assert!(has("/shut/page<") && has("/shut/1.png") && has("/2.png"));
    let summary = world.publish(&images).expect_code(0).summary();
    assert_eq!(summary["excluded"]["robots-disallowed"], 1);
    assert!(!has("/shut/page<") && !has("/shut/1.png") && has("/2.png") && has("/open<"));

    world.crawl(&images).expect_code(0);
    assert!(!has("/shut/"));
    world
        .publish(&[&images[..], &["--no-gzip"]].concat())
        .expect_code(0);
    assert!(!has("/shut/") && has("/2.png"));
}
