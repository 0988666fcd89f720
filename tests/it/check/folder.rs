//! Folders whose indexes say where they are served: sets beside each other, and parts that are missing or elsewhere.

use std::process::{Command, Stdio};

use super::{Place, urlset};
use crate::support::{
    program::Ran,
    site::{Response, Site},
};

fn index(children: &[&str]) -> String {
    let entry = |child| format!("\n<sitemap><loc>{child}</loc></sitemap>");
    let entries = children.iter().map(entry).collect::<Vec<_>>().concat();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{entries}\n</sitemapindex>\n"
    )
}

fn pages(url: &str) -> String {
    urlset(&format!("<url><loc>{url}</loc></url>"))
}

#[test]
fn sets_of_several_sites_in_one_folder_are_each_checked_where_they_are_served() {
    let sites = [(); 2].map(|()| {
        Site::start(|request| match request.target.as_str() {
            "/robots.txt" => Response::text(""),
            "/" => Response::linking(["/a"]),
            _ => Response::html("<title>a</title>"),
        })
    });
    let place = Place::new(&[]);
    let mut crawl = Command::new(env!("CARGO_BIN_EXE_arpent"));
    crawl.env_clear().env("HOME", place.0.path());
    crawl.current_dir(place.0.path()).stdin(Stdio::null());
    crawl.args(["crawl", "--output", "deep/out", "--state", "state"]);
    crawl.args(["--rate", "unlimited", "--discover", "links"]);
    crawl.args(sites.iter().map(|site| site.url("/")));
    Ran::of(crawl).expect_code(0);
    for folder in ["deep/out", "deep"] {
        let ran = place.check(&[folder]).expect_code(0);
        let expected = "4 files, 6 entries: 0 errors, 0 warnings, 0 notes";
        assert!(ran.stdout.contains(expected), "{folder}: {}", ran.stdout);
        for site in &sites {
            let served = format!(" is taken to be served at {}, ", site.url("/"));
            assert!(ran.stderr.contains(&served), "{folder}: {}", ran.stderr);
        }
    }
}

#[test]
fn index_never_stands_for_its_own_part() {
    let check = |children: &[&str], files: &[(&str, &str)], missing: &[&str]| {
        let index = index(children);
        let files = [&[("set/sitemap.xml", &*index)], files].concat();
        let ran = Place::new(&files).check(&["set"]);
        let said = format!("{children:?}: {}", ran.stdout);
        for file in missing {
            let why = format!("there is no file {file}");
            assert!(said.contains(&why), "{file}: {said}");
        }
        assert_eq!(said.matches("error[").count(), missing.len(), "{said}");
    };
    let parts = [
        "https://h.example/en/sitemap.xml",
        "https://h.example/de/sitemap.xml",
    ];
    let german = pages("https://h.example/de/a");
    check(&parts, &[], &["en/sitemap.xml", "de/sitemap.xml"]);
    let files = [("set/de/sitemap.xml", &*german)];
    check(&parts, &files, &["en/sitemap.xml"]);
    // A blog with an index of its own below.
    let parts = [
        "https://h.example/blog/sitemap.xml",
        "https://h.example/pages.xml",
    ];
    let root = pages("https://h.example/a");
    check(&parts, &[("set/pages.xml", &*root)], &["blog/sitemap.xml"]);
    // A file of the same name elsewhere is not the one that is missing.
    let parts = [
        "https://h.example/en/pages.xml",
        "https://h.example/pages.xml",
    ];
    check(&parts, &[("set/pages.xml", &*root)], &["en/pages.xml"]);
}

#[test]
fn index_without_any_of_its_parts_says_so() {
    let check = |child: &str, expected: Option<&str>| {
        let place = Place::new(&[("set/sitemap.xml", &index(&[child]))]);
        let ran = place
            .check(&["set"])
            .expect_code(i32::from(expected.is_some()));
        let said = ran.stdout.contains("error[R40]");
        assert_eq!(said, expected.is_some(), "{child}: {}", ran.stdout);
        let words = expected.unwrap_or_default();
        assert!(ran.stdout.contains(words), "{child}: {}", ran.stdout);
    };
    let words = "there is no file s/a.xml in set, nor anything else that the index lists; --at URL says where it is served";
    check("https://cdn.example/s/a.xml", Some(words));
    // Programs are no files.
    check("https://h.example/blog/sitemap", None);
    check("https://h.example/shop/sitemap.php", None);
    check("https://h.example/sitemap.xml.php?file=a.xml", None);
}
