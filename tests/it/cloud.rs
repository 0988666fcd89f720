//! Sets in object storage, over a server of the S3 protocol on loopback (the `moto_server` of the Python package `moto`; `ARPENT_MOTO_SERVER` names it).

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use crate::support::{
    program::{Bench, Ran},
    site::{Response, Site},
    skip,
};

/// Time between two looks at the storage.
const PAUSE: Duration = Duration::from_millis(50);

/// A server.
pub(crate) struct Moto {
    server: Child,
    pub(crate) port: u16,
}

impl Drop for Moto {
    fn drop(&mut self) {
        drop(self.server.kill());
        drop(self.server.wait());
    }
}

impl Moto {
    /// Starts a server with these buckets; `None`: it is not installed.
    pub(crate) fn start(buckets: &[&str]) -> Option<Self> {
        let program = std::env::var("ARPENT_MOTO_SERVER").unwrap_or("moto_server".to_owned());
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("it has an address").port();
        drop(listener);
        let started = Command::new(&program)
            .args(["-H", "127.0.0.1", "-p", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(server) = started else {
            skip(&format!("{program} cannot be started"));
            return None;
        };
        let moto = Self { server, port };
        let deadline = Instant::now() + Duration::from_secs(60);
        for bucket in buckets {
            while request(port, "PUT", &format!("/{bucket}")).is_none_or(|it| it.0 != 200) {
                assert!(Instant::now() < deadline, "{program} does not answer");
                thread::sleep(PAUSE);
            }
        }
        Some(moto)
    }

    /// The content of an object of the bucket `maps`.
    fn get(&self, name: &str) -> Option<Vec<u8>> {
        let (status, body) = request(self.port, "GET", &format!("/maps/{name}"))?;
        (status == 200).then_some(body)
    }

    /// Runs a command whose output is in the bucket `maps`.
    fn run(&self, mut command: Command) -> Ran {
        command.envs(keys(self.port)).envs([
            ("ARPENT_OUTPUT", "s3://maps/site"),
            ("ARPENT_RATE", "unlimited"),
            // The server refuses readers without keys otherwise.
            ("ARPENT_OBJECT_ACL", "public-read"),
        ]);
        Ran::of(command)
    }
}

/// The environment of a program that uses the storage at this port.
pub(crate) fn keys(port: u16) -> [(&'static str, String); 4] {
    [
        ("AWS_ENDPOINT", format!("http://127.0.0.1:{port}")),
        ("AWS_ACCESS_KEY_ID", "key".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "secret".to_owned()),
        ("AWS_REGION", "us-east-1".to_owned()),
    ]
}

/// Status and body of an answer; `None`: there was none.
pub(crate) fn request(port: u16, method: &str, path: &str) -> Option<(u16, Vec<u8>)> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    let head = format!("{method} {path} HTTP/1.0\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n");
    stream.write_all(head.as_bytes()).ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok()?;
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&answer[..end]).into_owned();
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some((status, answer.split_off(end + 4)))
}

/// The status of an object. The server stores an object first, and lets readers have it a moment later: until then it answers 403.
fn head_status(port: u16, path: &str) -> u16 {
    let status = || request(port, "HEAD", path).expect("an answer").0;
    let mut statuses = (0..20).map(|_| status());
    let ready = statuses.find(|status| {
        let is_ready = *status != 403;
        if !is_ready {
            thread::sleep(PAUSE);
        }
        is_ready
    });
    ready.unwrap_or(403)
}

/// Reads the index of a set, and asks for every object that it names. Returns whether there is a set.
pub(crate) fn read_set(port: u16, folder: &str) -> bool {
    let index = request(port, "GET", &format!("{folder}/sitemap.xml"));
    let (status, index) = index.expect("an answer");
    if status != 200 {
        // Readers who may not list a bucket get 403 for an object that does not exist.
        assert!(matches!(status, 403 | 404), "{folder}: {status}");
        return false;
    }
    let index = String::from_utf8(index).expect("an index is text");
    assert!(index.contains("</sitemapindex>"), "{folder}: {index}");
    for rest in index.split("<loc>").skip(1) {
        let (url, _) = rest.split_once("</loc>").expect("it is closed");
        let (_, name) = url.rsplit_once('/').expect("a URL has a path");
        let status = head_status(port, &format!("{folder}/{name}"));
        assert_eq!(status, 200, "{folder}: the index names {name}");
    }
    true
}

/// A site with three directories, whose pages grow with `pages`.
fn growing_site(pages: Arc<AtomicUsize>) -> Site {
    Site::start(move |request| {
        let count = pages.load(Ordering::SeqCst);
        match request.target.as_str() {
            "/robots.txt" => Response::text(""),
            "/" => {
                let links = (0..count).flat_map(|number| {
                    ["a", "b", "c"].map(|directory| format!("/{directory}/{number}"))
                });
                let links: Vec<_> = links.map(|link| format!("<a href={link}>x</a>")).collect();
                Response::html(format!("<title>start</title>{}", links.concat()))
            }
            path => Response::html(format!("<title>{path}</title>the page {path}")),
        }
    })
}

fn crawl(bench: &Bench, site: &Site) -> Command {
    let mut command = bench.program();
    command.args(["crawl", &site.url("/"), "--json"]);
    command
}

#[test]
fn readers_of_a_bucket_find_whole_sets() {
    let Some(storage) = Moto::start(&["maps"]) else {
        return;
    };
    let bench = Bench::new();
    let pages = Arc::new(AtomicUsize::new(120));
    let site = growing_site(Arc::clone(&pages));
    storage.run(crawl(&bench, &site)).expect_code(0);
    let is_over = Arc::new(AtomicBool::new(false));
    let (port, over) = (storage.port, Arc::clone(&is_over));
    let reader = thread::spawn(move || {
        let mut reads = 0;
        while !over.load(Ordering::SeqCst) {
            assert!(read_set(port, "/maps/site"), "the set is gone");
            reads += 1;
        }
        reads
    });
    // Parts come and go with the number of pages.
    for count in [140, 90, 160, 100] {
        pages.store(count, Ordering::SeqCst);
        let mut command = crawl(&bench, &site);
        command.arg("--force");
        storage.run(command).expect_code(0);
    }
    is_over.store(true, Ordering::SeqCst);
    let reads = reader.join().expect("every object was there");
    assert!(reads > 5, "{reads}");
}

#[test]
fn the_bucket_follows_publishes_and_rollbacks() {
    let Some(storage) = Moto::start(&["maps"]) else {
        return;
    };
    let bench = Bench::new();
    let pages = Arc::new(AtomicUsize::new(3));
    let site = growing_site(Arc::clone(&pages));
    let missing = Bench::new();
    let mut elsewhere = crawl(&missing, &site);
    elsewhere.args(["-o", "s3://elsewhere/maps"]);
    let ran = storage.run(elsewhere).expect_code(4);
    for part in ["s3://elsewhere/maps", "NoSuchBucket"] {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
    let summary = storage.run(crawl(&bench, &site)).expect_code(0).summary();
    assert_eq!(summary["outcome"], "published");
    let first = storage.get("site/sitemap.xml").expect("the index is there");
    let part = storage
        .get("site/sitemap-root.xml.gz")
        .expect("the part is there");
    let summary = storage.run(crawl(&bench, &site)).expect_code(0).summary();
    assert_eq!(summary["outcome"], "unchanged");
    assert_eq!(storage.get("site/sitemap.xml").as_ref(), Some(&first));
    pages.store(4, Ordering::SeqCst);
    storage.run(crawl(&bench, &site)).expect_code(0);
    assert_ne!(
        storage.get("site/sitemap-root.xml.gz").as_ref(),
        Some(&part)
    );
    let mut back = bench.program();
    back.args(["publish", &site.url("/"), "--rollback"]);
    storage.run(back).expect_code(0);
    assert_eq!(storage.get("site/sitemap-root.xml.gz"), Some(part));
    // A machine without a state reads the set back first.
    let other = Bench::new();
    let ran = storage.run(crawl(&other, &site)).expect_code(0);
    assert!(
        ran.stderr.contains("imported the published set"),
        "{}",
        ran.stderr
    );
    // The first one sees that the set is not its own any more.
    pages.store(5, Ordering::SeqCst);
    let ran = storage.run(crawl(&bench, &site)).expect_code(0);
    assert_eq!(ran.summary()["listed"], 16);
}
