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

/// What is found in a folder with these files, by the name of the file.
fn told(files: &[(&str, &str)]) -> Vec<String> {
    let files: Vec<(String, &str)> = files
        .iter()
        .map(|(name, text)| (format!("set/{name}"), *text))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (&**name, *text)).collect();
    let ran = Place::new(&files).check(&["set"]);
    let findings = ran.stdout.lines().filter_map(|line| {
        let (place, what) = line.split_once(": ")?;
        let rule = what.split_once(']')?.0;
        let file = place.split(':').next()?;
        let file = file.strip_prefix("set/").unwrap_or(file);
        Some(format!("{file} {}", rule.replace('[', " ")))
    });
    findings.collect()
}

#[test]
fn sets_side_by_side_are_judged_each_for_itself() {
    let sets = |second: &str| {
        let part = |host: &str, name: &str| index(&[&format!("https://{host}/{name}-1.xml")]);
        let files = [
            ("x.xml", part("h.example", "x")),
            ("x-1.xml", pages("https://h.example/a")),
            ("y.xml", part(second, "y")),
            ("y-1.xml", pages(&format!("https://{second}/b"))),
        ];
        let files = files.each_ref().map(|(name, text)| (*name, &**text));
        told(&files)
    };
    assert_eq!(sets("h.example"), [""; 0]);
    // Of two hosts, and of two folders of one host.
    assert_eq!(sets("g.example"), [""; 0]);
    assert_eq!(sets("h.example/blog"), ["y.xml note R62"]);
    // What is wrong in one of them is found.
    let files = [
        ("x.xml", index(&["https://h.example/x-1.xml"])),
        ("x-1.xml", pages("https://g.example/a")),
        (
            "y.xml",
            index(&["https://g.example/y-1.xml", "https://h.example/y-2.xml"]),
        ),
        ("y-1.xml", pages("https://g.example/b")),
    ];
    let files = files.each_ref().map(|(name, text)| (*name, &**text));
    let said = told(&files);
    let errors: Vec<&String> = said.iter().filter(|said| said.contains("error")).collect();
    assert_eq!(errors, ["y.xml error R37", "x-1.xml error R60"], "{said:?}");
}

#[test]
fn files_of_no_index_are_judged_alone() {
    let own_index = index(&["https://h.example/x-1.xml"]);
    let check = |strays: &[(&str, &str)], expected: &[&str]| {
        let part = pages("https://h.example/a");
        let set = [("x.xml", &*own_index), ("x-1.xml", &*part)];
        assert_eq!(told(&[&set, strays].concat()), expected, "{strays:?}");
    };
    let (own, other) = (pages("https://h.example/b"), pages("https://g.example/b"));
    check(&[("stray.xml", &other)], &[]);
    check(&[("stray.txt", "https://g.example/b\n")], &[]);
    check(&[("a.xml", &own)], &["a.xml note R31"]);
    // An index of which nothing is here.
    let portal = index(&["https://g.example/maps"]);
    check(&[("portal.xml", &portal)], &[]);
    let gone = index(&["https://g.example/gone.xml"]);
    check(&[("gone.xml", &gone)], &["gone.xml error R40"]);
    // Its own entries are of one host all the same.
    let two = urlset(
        "<url><loc>https://g.example/b</loc></url>\n<url><loc>https://i.example/b</loc></url>",
    );
    check(&[("a.xml", &two)], &["a.xml error R60"]);
}

#[test]
fn a_file_of_no_index_may_stand_elsewhere_on_its_host() {
    let files = [
        ("x.xml", index(&["https://h.example/docs/x-1.xml"])),
        ("x-1.xml", pages("https://h.example/docs/a")),
        ("a.xml", pages("https://h.example/b")),
    ];
    let files = files.each_ref().map(|(name, text)| (*name, &**text));
    assert_eq!(told(&files), ["x.xml note R62", "a.xml note R31"]);
}

#[test]
fn robots_txt_in_a_shared_folder_is_of_the_hosts_whose_sitemaps_it_names() {
    let check = |robots: &str, expected: &[&str]| {
        let files = [
            ("robots.txt", robots.to_owned()),
            ("x.xml", index(&["https://h.example/x-1.xml"])),
            ("x-1.xml", pages("https://h.example/a")),
            ("y.xml", index(&["https://g.example/y-1.xml"])),
            ("y-1.xml", pages("https://g.example/a")),
        ];
        let files = files.each_ref().map(|(name, text)| (*name, &**text));
        assert_eq!(told(&files), expected, "{robots}");
    };
    let rules = "User-agent: *\nDisallow: /a\n";
    check(rules, &[]);
    let named = format!("{rules}Sitemap: https://g.example/y.xml\n");
    check(&named, &["y-1.xml warning R79"]);
}

#[test]
fn robots_txt_says_where_a_file_of_no_index_stands() {
    let check = |robots: &str, listed: &str, expected: &[&str]| {
        let files = [
            ("robots.txt", robots.to_owned()),
            ("x.xml", index(&["https://h.example/x-1.xml"])),
            ("x-1.xml", pages("https://h.example/a")),
            ("c.xml", pages(listed)),
        ];
        let files = files.each_ref().map(|(name, text)| (*name, &**text));
        let said = told(&files);
        let errors: Vec<&String> = said.iter().filter(|said| said.contains("error")).collect();
        assert_eq!(errors, expected, "{robots} {listed}: {said:?}");
    };
    let named = "Sitemap: https://h.example/x.xml\nSitemap: https://h.example/c.xml\n";
    check(named, "https://g.example/1", &["c.xml error R60"]);
    check(named, "https://www.h.example/1", &["c.xml error R60"]);
    check(named, "http://h.example/1", &["c.xml error R59"]);
    check(
        "Sitemap: https://h.example/x.xml\n",
        "https://g.example/1",
        &[],
    );
}

#[test]
fn order_of_entries_does_not_say_where_a_file_stands() {
    let check = |base: &str, entries: &[&str], expected: &[&str]| {
        for turn in 0..entries.len() {
            let mut entries = entries.to_vec();
            entries.rotate_left(turn);
            let lines: Vec<String> = entries
                .iter()
                .map(|url| format!("<url><loc>{url}</loc></url>"))
                .collect();
            let files = [
                ("x.xml", index(&[&format!("{base}x-1.xml")])),
                ("x-1.xml", pages(&format!("{base}a"))),
                ("c.xml", urlset(&lines.join("\n"))),
            ];
            let files = files.each_ref().map(|(name, text)| (*name, &**text));
            let said = told(&files);
            let errors: Vec<&String> = said.iter().filter(|said| said.contains("error")).collect();
            assert_eq!(errors, expected, "{entries:?}: {said:?}");
        }
    };
    let docs = ["https://h.example/", "https://h.example/docs/2"];
    check("https://h.example/docs/", &docs, &["c.xml error R58"]);
    let mixed = [
        "http://h.example/",
        "https://h.example/1",
        "https://h.example/2",
    ];
    check("https://h.example/", &mixed, &["c.xml error R59"]);
}

#[test]
fn robots_txt_is_of_all_that_stands_in_its_folder_if_that_is_of_one_host() {
    let files = [
        ("robots.txt", "User-agent: *\nDisallow: /a\n".to_owned()),
        ("x.xml", index(&["https://h.example/x-1.xml"])),
        ("x-1.xml", pages("https://h.example/a")),
        ("y.xml", index(&["https://h.example/blog/y-1.xml"])),
        ("y-1.xml", pages("https://h.example/blog/a")),
    ];
    let files = files.each_ref().map(|(name, text)| (*name, &**text));
    assert!(told(&files).contains(&"x-1.xml warning R79".to_owned()));
}

#[test]
fn files_in_which_nothing_can_be_read_need_an_index_too() {
    let empty = urlset("");
    let alone = [("a.xml", &*empty), ("b.xml", &*empty)];
    let ran = Place::new(&alone).check(&["."]);
    let expected = "there are 2 sitemaps, but no index that lists them";
    assert!(ran.stdout.contains(expected), "{}", ran.stdout);
    // Whichever of the two hosts it is of.
    let files = [
        ("x.xml", index(&["https://h.example/x-1.xml"])),
        ("x-1.xml", pages("https://h.example/a")),
        ("y.xml", index(&["https://g.example/y-1.xml"])),
        ("y-1.xml", pages("https://g.example/a")),
        ("c.xml", empty),
    ];
    let files = files.each_ref().map(|(name, text)| (*name, &**text));
    assert!(told(&files).contains(&"c.xml note R31".to_owned()));
}

#[test]
fn a_part_is_found_however_its_url_is_written() {
    let check = |child: &str, expected: &[&str]| {
        let files = [
            ("x.xml", index(&[child])),
            ("a.xml", pages("https://h.example/a")),
        ];
        let files = files.each_ref().map(|(name, text)| (*name, &**text));
        assert_eq!(told(&files), expected, "{child}");
    };
    check("https://h.example/a.xml?v=1", &[]);
    check("https://h.example/%61.xml", &["x.xml note R26"]);
}
