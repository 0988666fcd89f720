//! The site of the command line beside a settings file of other sites: each command answers for the typed URL, or fails.

use std::fs;

use serde_json::Value;

use crate::support::{
    program::{Bench, Ran},
    published::Published,
    site::{Response, Site},
};

/// A site of so many pages.
fn site(pages: usize) -> Site {
    Site::start(move |request| match request.target.as_str() {
        "/" => Response::linking((1..pages).map(|page| format!("/{page}"))),
        target if target[1..].parse::<usize>().is_ok() => Response::html("<title>p</title>text"),
        _ => Response::status(404),
    })
}

fn run(bench: &Bench, arguments: &[&str]) -> Ran {
    let mut command = bench.program();
    command
        .env("ARPENT_STATE", "state")
        .env("ARPENT_RATE", "unlimited")
        .args(arguments);
    Ran::of(command)
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stderr))
}

#[test]
fn every_command_answers_for_the_typed_site() {
    let (own, typed, unknown) = (site(3), site(5), site(2));
    let (bench, url) = (Bench::new(), typed.url("/"));
    let host = |port: u16| format!("[[site]]\nurl = \"http://127.0.0.1:{port}/\"\n");
    let several: String = [own.port(), 1, 2, 3].map(host).concat();
    let one = format!(
        "urls = [\"{}\"]\noutput.public_url = \"{}\"\n",
        own.url("/"),
        own.url("/")
    );
    for (file, name) in [
        (&one, "arpent.toml"),
        (&several, "arpent.toml"),
        (&several, "named.toml"),
    ] {
        fs::write(bench.path().join(name), file).expect("written");
        let config: &[&str] = if name == "arpent.toml" {
            &[]
        } else {
            &["--config", name]
        };
        let run = |arguments: &[&str]| run(&bench, &[arguments, config].concat());
        // The site of the file, and the typed one, which has no place in the file.
        for (site, pages) in [(&own, 3), (&typed, 5)] {
            let ran = run(&["crawl", &site.url("/"), "--json"]).expect_code(0);
            assert_eq!(ran.summary()["site"], site.url("/"), "{file}");
            assert_eq!(ran.summary()["listed"], pages, "{file}");
        }
        let set = bench
            .path()
            .join(format!("sitemaps/http_127.0.0.1_{}", typed.port()));
        let urls = Published::read(&set).urls();
        assert!(
            urls.iter().all(|listed| listed.starts_with(&url)),
            "{urls:?}"
        );
        let page = typed.url("/2");
        let report = json(&run(&["report", &url, "--json"]));
        assert_eq!(
            (&report["site"], &report["known"]),
            (&url.clone().into(), &5.into())
        );
        let why = json(&run(&["why", &page, "--json"]));
        assert_eq!(
            (&why["url"], &why["state"]),
            (&page.into(), &"listed".into())
        );
        // The typed site serves no set.
        let audit = run(&["audit", &url]);
        assert!(
            audit
                .stderr
                .contains(&format!("the set {url} cannot be read")),
            "{}",
            audit.stderr
        );
        let status = run(&["status", &url]).expect_code(0).stdout;
        assert!(
            status.contains(&url) && !status.contains(&own.url("/")),
            "{status}"
        );
        // A site that nobody crawled.
        for command in ["report", "audit", "why"] {
            let ran = run(&[command, &unknown.url("/1")]).expect_code(2);
            let words = "is in no site that was crawled";
            assert!(
                ran.stderr.contains(words) && ran.stdout.is_empty(),
                "{}",
                ran.stderr
            );
        }
        run(&["status", &unknown.url("/")]).expect_code(2);
        fs::remove_file(bench.path().join(name)).expect("removed");
    }
    assert_eq!(unknown.pages(), Vec::<String>::new());
}
