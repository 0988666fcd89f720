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

/// A server with the bucket `maps`.
struct Storage {
    server: Child,
    port: u16,
}

impl Drop for Storage {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Storage {
    /// Starts a server; `None`: it is not installed.
    fn start() -> Option<Self> {
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
        let storage = Self { server, port };
        let deadline = Instant::now() + Duration::from_secs(60);
        while storage
            .request("PUT", "/maps")
            .is_none_or(|(status, _)| status != 200)
        {
            assert!(Instant::now() < deadline, "{program} does not answer");
            thread::sleep(Duration::from_millis(100));
        }
        Some(storage)
    }

    /// Status and body of an answer; `None`: there was none.
    fn request(&self, method: &str, path: &str) -> Option<(u16, Vec<u8>)> {
        request(self.port, method, path)
    }

    /// The content of an object.
    fn get(&self, name: &str) -> Option<Vec<u8>> {
        let (status, body) = self.request("GET", &format!("/maps/{name}"))?;
        (status == 200).then_some(body)
    }

    /// Runs a command with the keys of the storage in its environment.
    fn run(&self, mut command: Command) -> Ran {
        command.envs([
            ("AWS_ENDPOINT", format!("http://127.0.0.1:{}", self.port)),
            ("AWS_ACCESS_KEY_ID", "key".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "secret".to_owned()),
            ("AWS_REGION", "us-east-1".to_owned()),
            ("ARPENT_OUTPUT", "s3://maps/site".to_owned()),
            ("ARPENT_RATE", "unlimited".to_owned()),
            // The server refuses readers without keys otherwise.
            ("ARPENT_OBJECT_ACL", "public-read".to_owned()),
        ]);
        Ran::of(command)
    }
}

fn request(port: u16, method: &str, path: &str) -> Option<(u16, Vec<u8>)> {
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
            thread::sleep(Duration::from_millis(50));
        }
        is_ready
    });
    ready.unwrap_or(403)
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
fn a_reader_of_the_bucket_never_sees_an_index_that_names_a_missing_object() {
    let Some(storage) = Storage::start() else {
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
            let (status, index) =
                request(port, "GET", "/maps/site/sitemap.xml").expect("an answer");
            assert_eq!(status, 200);
            let index = String::from_utf8(index).expect("an index is text");
            for rest in index.split("<loc>").skip(1) {
                let (url, _) = rest.split_once("</loc>").expect("it is closed");
                let (_, name) = url.rsplit_once('/').expect("a URL has a path");
                let status = head_status(port, &format!("/maps/site/{name}"));
                assert_eq!(status, 200, "{name}");
            }
            reads += 1;
        }
        reads
    });
    // Parts come and go with the number of pages.
    for count in [140, 90, 160, 100] {
        pages.store(count, Ordering::SeqCst);
        let ran = storage.run({
            let mut command = crawl(&bench, &site);
            command.arg("--force");
            command
        });
        ran.expect_code(0);
    }
    is_over.store(true, Ordering::SeqCst);
    let reads = reader.join().expect("every object was there");
    assert!(reads > 5, "{reads}");
}

#[test]
fn the_bucket_follows_publishes_and_rollbacks_and_another_machine_goes_on() {
    let Some(storage) = Storage::start() else {
        return;
    };
    let bench = Bench::new();
    let pages = Arc::new(AtomicUsize::new(3));
    let site = growing_site(Arc::clone(&pages));
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

#[test]
fn without_keys_or_a_bucket_the_message_names_the_cause() {
    let Some(storage) = Storage::start() else {
        return;
    };
    let bench = Bench::new();
    let site = growing_site(Arc::new(AtomicUsize::new(1)));
    let mut command = crawl(&bench, &site);
    command.args(["-o", "s3://elsewhere/maps"]);
    let ran = storage.run(command).expect_code(4);
    assert!(
        ran.stderr.contains("s3://elsewhere/maps") && ran.stderr.contains("NoSuchBucket"),
        "{}",
        ran.stderr
    );
}
