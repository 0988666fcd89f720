//! `arpent diff`: two published sets, and the differences that a hook gets.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::{Value, json};

use crate::support::{
    gzip,
    program::{Bench, Ran},
    site::{Response, Site},
};

/// A folder in which sets are compared.
fn diff(bench: &Bench, arguments: &[&str]) -> Ran {
    let mut command = bench.program();
    command
        .env("ARPENT_MAX_TRIES", "1")
        .args(["diff", "--rate", "unlimited", "--state"])
        .arg(bench.state())
        .args(arguments);
    Ran::of(command)
}

/// The result as JSON.
#[track_caller]
fn json_of(bench: &Bench, arguments: &[&str]) -> Value {
    let ran = diff(bench, &[&["--json"], arguments].concat()).expect_code(0);
    serde_json::from_str(&ran.stdout).expect("one object")
}

/// The counts: added, removed, moved, unchanged.
fn counts(diff: &Value) -> [u64; 4] {
    let count = |value: &Value| value.as_u64().expect("a number");
    [
        count(&diff["added"]["count"]),
        count(&diff["removed"]["count"]),
        count(&diff["lastmod_moved"]["count"]),
        count(&diff["unchanged"]),
    ]
}

fn urlset(entries: &[(&str, &str)]) -> String {
    let entries = entries.iter().map(|(url, lastmod)| {
        let lastmod = match *lastmod {
            "" => String::new(),
            lastmod => format!("<lastmod>{lastmod}</lastmod>"),
        };
        format!("<url><loc>{url}</loc>{lastmod}</url>")
    });
    let entries: String = entries.collect();
    format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{entries}</urlset>")
}

fn index(urls: &[&str]) -> String {
    let entries = urls
        .iter()
        .map(|url| format!("<sitemap><loc>{url}</loc></sitemap>"));
    let entries: String = entries.collect();
    format!(
        "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{entries}</sitemapindex>"
    )
}

fn write(bench: &Bench, name: &str, bytes: impl AsRef<[u8]>) {
    let path = bench.path().join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, bytes).expect("written");
}

/// A site with two editions: from the first to the second one page goes, one comes, and the start page has other links.
fn site(edition: &Arc<AtomicUsize>) -> Site {
    let edition = Arc::clone(edition);
    Site::undated(move |request| {
        let second = edition.load(Ordering::SeqCst) == 2;
        match request.target.as_str() {
            "/" if second => Response::linking(["/a/1", "/a/2", "/b/new", "/b/gone"]),
            "/" => Response::linking(["/a/1", "/a/2", "/b/gone"]),
            "/b/gone" if second => Response::status(410),
            "/a/1" | "/a/2" | "/b/gone" | "/b/new" => {
                Response::html(format!("<p>{}", request.target))
            }
            _ => Response::status(404),
        }
    })
}

#[test]
fn folders_sitemaps_and_urls_are_compared() {
    let bench = Bench::new();
    let live = Site::start(|request| {
        let origin = format!("http://{}", request.headers["host"]);
        let xml = |text: String| Response::text(text.replace("{}", &origin));
        match request.target.as_str() {
            "/sitemap.xml" => xml(index(&["{}/1.xml", "{}/2.xml"])),
            "/1.xml" => xml(urlset(&[
                ("https://h/", ""),
                ("https://h/a/1", "2026-01-02"),
            ])),
            "/2.xml" => xml(urlset(&[("https://h/b/2", "")])),
            "/broken.xml" => xml(index(&["{}/1.xml", "{}/none.xml"])),
            _ => Response::status(404),
        }
    });
    let old = urlset(&[
        ("https://h/", ""),
        ("https://h/a/1", "2026-01-01"),
        ("https://h/a/2", ""),
    ]);
    write(&bench, "old/sitemap.xml", index(&["https://h/x/1.xml.gz"]));
    write(&bench, "old/1.xml.gz", gzip(old.as_bytes()));
    // A file that the index does not list is not in the set.
    write(&bench, "old/stale.xml", urlset(&[("https://h/stale", "")]));
    write(
        &bench,
        "old.txt",
        "https://h/\nhttps://h/a/1\nhttps://h/a/2\n",
    );
    let url = live.url("/sitemap.xml");
    for old in ["old", "old/sitemap.xml", "old/1.xml.gz"] {
        let diff = json_of(&bench, &[old, &url]);
        assert_eq!(counts(&diff), [1, 1, 1, 1], "{diff:#}");
        assert_eq!(diff["version"], 1);
        let outline = |set: &str, sitemaps, urls| json!({"set": set, "sitemaps": sitemaps, "urls": urls, "left_out": 0});
        assert_eq!(diff["a"], outline(old, 1, 3));
        assert_eq!(diff["b"], outline(&url, 2, 3));
        let section = |number: usize| &diff["sections"][number];
        assert_eq!(section(1)["section"], "https://h/a/");
        assert_eq!(section(1)["removed"]["first"], json!(["https://h/a/2"]));
        assert_eq!(counts(section(2)), [1, 0, 0, 0]);
    }
    assert_eq!(counts(&json_of(&bench, &["old", "old"])), [0, 0, 0, 3]);
    assert_eq!(counts(&json_of(&bench, &["old", "old.txt"])), [0, 0, 1, 2]);
    let text = diff(&bench, &["old", &url]).expect_code(0).stdout;
    for line in [
        "1 added, 1 removed, 1 with another lastmod, 1 unchanged",
        "    ~ https://h/a/1",
    ] {
        assert!(text.lines().any(|known| known == line), "{line}: {text}");
    }
    // A live set asks for robots.txt first, and for each document once.
    live.clear_log();
    json_of(&bench, &[&url, &url]);
    let asked: Vec<String> = live.log().into_iter().map(|seen| seen.target).collect();
    let once = ["/sitemap.xml", "/1.xml", "/2.xml"];
    assert_eq!(asked, [&["/robots.txt"][..], &once, &once].concat());
}

#[test]
fn unreadable_set_has_its_exit_code() {
    let bench = Bench::new();
    write(&bench, "set/sitemap.xml", urlset(&[("https://h/", "")]));
    write(&bench, "lost/sitemap.xml", index(&["https://h/1.xml"]));
    write(&bench, "damaged.xml", "<urlset><url>");
    // The part that the damaged entry names would be missing without a word.
    let parts = index(&["https://h/sitemap-1.xml", "1.xml"]);
    write(&bench, "half/sitemap.xml", parts);
    let part = urlset(&[("https://h/", "")]);
    write(&bench, "half/sitemap-1.xml", part);
    fs::create_dir(bench.path().join("empty")).expect("a folder");
    let closed = Site::allowing(|_| Response::status(404));
    let disallowed = Site::start(|request| match request.target.as_str() {
        "/robots.txt" => Response::text("User-agent: *\nDisallow: /"),
        _ => Response::text(urlset(&[("https://h/", "")])),
    });
    let check = |set: &str, reason: &str| {
        let ran = diff(&bench, &["set", set]).expect_code(5);
        assert_eq!(ran.stdout, "", "{set}");
        assert!(ran.stderr.contains(reason), "{set}: {}", ran.stderr);
    };
    check("empty", "no sitemap found");
    check("damaged.xml", "damaged.xml");
    check("lost", "lists https://h/1.xml");
    check("half", "sitemap.xml: line 1, byte ");
    check("half/sitemap.xml", "sitemap.xml: line 1, byte ");
    check(&closed.url("/sitemap.xml"), "answered 404");
    check(&disallowed.url("/sitemap.xml"), "disallowed by robots.txt");
    check("https://h.example/@1", "there is no state of the site");
    assert_eq!(disallowed.pages(), [] as [String; 0]);
    let ran = diff(&bench, &["set", "none"]).expect_code(2);
    assert!(
        ran.stderr
            .contains("none: no such file or folder; expected")
    );
    diff(&bench, &["set"]).expect_code(2);
    diff(&bench, &["set", "set", "--base-url", "https://h/"]).expect_code(2);
}

#[test]
fn hook_gets_the_changes_of_a_publish() {
    let bench = Bench::new();
    let edition = Arc::new(AtomicUsize::new(1));
    let site = site(&edition);
    let hook = "cat > hooked";
    let crawl = |ahead: &str| {
        let options = ["--hook-command", hook];
        let ran = bench.crawl_ahead(ahead, &site.url("/"), &options);
        ran.expect_code(0).summary()
    };
    let hooked = || -> Value {
        let text = fs::read_to_string(bench.path().join("hooked")).expect("it was called");
        serde_json::from_str(&text).expect("a summary")
    };
    let first = crawl("0m");
    assert_eq!(first["changes"]["added"]["count"], 4);
    edition.store(2, Ordering::SeqCst);
    crawl("1m");
    let changes = hooked()["changes"].clone();
    let named = |path: &str| json!({"count": 1, "first": [site.url(path)]});
    let expected = json!({
        "added": named("/b/new"), "removed": named("/b/gone"), "lastmod_moved": named("/"),
    });
    assert_eq!(changes, expected);
    // The sets themselves differ by the same.
    let kept = |back: usize| format!("{}@{back}", site.url("/"));
    let diff_of = |a: &str, b: &str| counts(&json_of(&bench, &[a, b]));
    assert_eq!(diff_of(&kept(1), &kept(0)), [1, 1, 1, 2]);
    assert_eq!(diff_of(&kept(1), "out"), [1, 1, 1, 2]);
    assert_eq!(diff_of(&kept(0), "out"), [0, 0, 0, 4]);
    let ran = diff(&bench, &[&kept(2), "out"]).expect_code(5);
    assert!(ran.stderr.contains("the archive has 1"), "{}", ran.stderr);
    // A rollback is a publish as well.
    let mut rollback = bench.program();
    rollback
        .args(["publish", &site.url("/"), "--rollback", "--json"])
        .args(["--hook-command", hook, "--output"])
        .arg(bench.output())
        .arg("--state")
        .arg(bench.state());
    Ran::of(rollback).expect_code(0);
    let expected = json!({
        "added": named("/b/gone"), "removed": named("/b/new"), "lastmod_moved": named("/"),
    });
    assert_eq!(hooked()["changes"], expected);
    // A set with a file that was changed cannot be compared.
    let file = bench.output().join("sitemap.xml");
    fs::write(file, urlset(&[])).expect("written");
    let ran = diff(&bench, &["out", "out"]).expect_code(5);
    assert!(
        ran.stderr.contains("not as it was published"),
        "{}",
        ran.stderr
    );
}
