//! Google Search Console, by a server in its place: the token, the properties, and the sitemaps.

use std::{
    fs,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};

use super::{ONE_TRY, page};
use crate::support::{
    program::{Bench, Ran},
    site::{Response, Site},
};

/// The private key of an account that exists nowhere.
const KEY: &str = include_str!("../../data/service-account.pem");

/// The account.
const ACCOUNT: &str = "arpent@project.iam.gserviceaccount.com";

/// How Search Console answers.
#[derive(Default)]
struct Console {
    /// The properties of the account.
    properties: Vec<Value>,
    /// Status and body of every answer but the token, when they are other ones.
    failure: Option<(u16, String)>,
    /// What it has of the index.
    sitemap: Value,
    token_status: u16,
}

/// A site that serves its set, and Search Console.
struct World {
    bench: Bench,
    site: Site,
    edition: Arc<Mutex<usize>>,
    console: Arc<Mutex<Console>>,
    google: Site,
    settings: String,
}

impl World {
    fn new() -> Self {
        let bench = Bench::new();
        let edition = Arc::new(Mutex::new(1));
        let (of_site, output) = (Arc::clone(&edition), bench.output());
        let site = Site::start(move |request| {
            page(&request.target, *of_site.lock().expect("no panic"), &output)
        });
        let console = Arc::new(Mutex::new(Console {
            properties: vec![property(&site.url("/"), "siteFullUser")],
            token_status: 200,
            ..Console::default()
        }));
        let of_google = Arc::clone(&console);
        let google = Site::start(move |request| {
            answer(&of_google.lock().expect("no panic"), &request.target)
        });
        let port = google.port();
        let key = json!({
            "type": "service_account",
            "client_email": ACCOUNT,
            "private_key": KEY,
            "token_uri": format!("http://127.0.0.1:{port}/token"),
        });
        fs::write(bench.path().join("key.json"), key.to_string()).expect("written");
        let settings = bench.settings(&format!(
            "{ONE_TRY}requests.resolve = [\"google.test:{port}:127.0.0.1\"]\n[notify.google]\nkey_file = \"key.json\"\n\
             endpoint = \"http://google.test:{port}/v3\"\n"
        ));
        Self {
            bench,
            site,
            edition,
            console,
            google,
            settings,
        }
    }

    fn crawl(&self) -> Ran {
        let options = ["--config", &self.settings, "-vvv"];
        let ran = self
            .bench
            .crawl(&self.site.url("/"), &options)
            .expect_code(0);
        for secret in ["PRIVATE KEY", "token-of-google", &KEY[40..80]] {
            assert!(!ran.stderr.contains(secret), "{secret}: {}", ran.stderr);
            assert!(!ran.stdout.contains(secret), "{secret}: {}", ran.stdout);
        }
        ran
    }

    fn set(&self, change: impl FnOnce(&mut Console)) {
        change(&mut self.console.lock().expect("no panic"));
    }

    /// The requests for the index that changed something, and the others for it, since the last call.
    fn requests(&self) -> (usize, usize) {
        let log = self.google.log();
        self.google.clear_log();
        let of_sitemap = log.iter().filter(|seen| seen.target.contains("/sitemaps/"));
        let (puts, gets): (Vec<_>, Vec<_>) =
            of_sitemap.partition(|seen| seen.headers.contains_key("content-length"));
        for seen in log.iter().filter(|seen| seen.target != "/token") {
            assert_eq!(seen.headers["authorization"], "Bearer token-of-google");
        }
        (puts.len(), gets.len())
    }
}

fn property(url: &str, permission: &str) -> Value {
    json!({ "siteUrl": url, "permissionLevel": permission })
}

fn answer(console: &Console, target: &str) -> Response {
    let json = |value: &Value| Response::text(value.to_string());
    match (target, &console.failure) {
        ("/token", _) if console.token_status != 200 => Response::status(console.token_status),
        ("/token", _) => json(&json!({ "access_token": "token-of-google", "expires_in": 3600 })),
        (_, Some((status, body))) => Response {
            status: *status,
            ..Response::text(body.clone())
        },
        ("/v3/sites", None) => json(&json!({ "siteEntry": console.properties })),
        (_, None) => json(&console.sitemap),
    }
}

#[test]
fn a_changed_index_is_submitted_once_and_read_back() {
    let world = World::new();
    world.set(|console| {
        console.sitemap = json!({
            "lastDownloaded": "2026-01-01T00:00:00.000Z",
            "errors": "2",
            "warnings": "0",
            "contents": [{ "type": "web", "submitted": "12" }, { "type": "image", "submitted": "7" }],
        });
    });
    let ran = world.crawl();
    assert_eq!(world.requests(), (1, 1));
    let google = &ran.summary()["google"];
    assert_eq!(google["property"], world.site.url("/"));
    let sitemap = &google["sitemaps"][0];
    assert_eq!(
        (&sitemap["errors"], &sitemap["urls"]),
        (&json!(2), &json!(12))
    );
    let index = world.site.url("/sitemap.xml");
    for words in [
        format!("Google found 2 errors in {index}"),
        format!("Google has not read {index} for "),
    ] {
        assert!(ran.stderr.contains(&words), "{words}: {}", ran.stderr);
    }
    world.crawl();
    assert_eq!(world.requests(), (0, 1), "nothing changed");
    *world.edition.lock().expect("no panic") = 2;
    world.crawl();
    assert_eq!(world.requests(), (1, 1));
    let mut status = world.bench.program();
    status
        .args(["status", "--config", &world.settings])
        .arg("--state")
        .arg(world.bench.state());
    let status = Ran::of(status).expect_code(0).stdout;
    let line = format!("Google read {index} ");
    assert!(
        status.contains(&line) && status.contains("; this set lists 4"),
        "{status}"
    );
}

#[test]
fn each_failure_has_a_sentence_with_the_next_step() {
    let check = |change: &dyn Fn(&mut Console, &str), words: &str| {
        let world = World::new();
        let start = world.site.url("/");
        world.set(|console| change(console, &start));
        let ran = world.crawl();
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
        assert_eq!(ran.summary().get("google"), None);
    };
    let failure = |status: u16, body: &'static str| {
        move |console: &mut Console, _: &str| console.failure = Some((status, body.to_owned()))
    };
    check(
        &failure(401, ""),
        "does not accept the token of arpent@project",
    );
    check(
        &failure(403, "{\"error\":{\"status\":\"SERVICE_DISABLED\"}}"),
        "enable it at https://console.cloud.google.com/",
    );
    check(
        &failure(403, "{}"),
        "give it full permission in Search Console",
    );
    check(
        &failure(404, ""),
        "check endpoint in the table [notify.google]",
    );
    check(
        &failure(429, ""),
        "too many requests (429); the next session asks again",
    );
    check(
        &failure(503, ""),
        "failed (503); the next session asks again",
    );
    check(
        &|console, _| console.token_status = 400,
        "Google gave no token for arpent@project",
    );
    let none = |console: &mut Console, _: &str| {
        console.properties = vec![property("https://www.example.com/", "siteOwner")];
    };
    check(&none, "it has https://www.example.com/; add arpent@project");
    let unverified = |console: &mut Console, start: &str| {
        console.properties = vec![property(start, "siteUnverifiedUser")];
    };
    check(
        &unverified,
        "in Search Console, it has none; add arpent@project",
    );
}

#[test]
fn a_property_of_the_domain_is_found() {
    let world = World::new();
    world.set(|console| {
        console.properties = vec![
            property("sc-domain:0.1", "siteRestrictedUser"),
            property("sc-domain:27.0.0.1", "siteOwner"),
            property("sc-domain:127.0.0.1", "siteOwner"),
            property("https://127.0.0.1/", "siteOwner"),
        ];
    });
    let ran = world.crawl();
    assert_eq!(ran.summary()["google"]["property"], "sc-domain:127.0.0.1");
    assert_eq!(
        ran.summary()["google"]["sitemaps"][0]["read_at"],
        Value::Null
    );
}
