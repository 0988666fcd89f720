//! A folder of HTML files as a site.

use std::time::{Duration, SystemTime};

use super::*;

fn html(head: &str) -> String {
    format!(
        "<!doctype html><html><head><title>A page</title>{head}</head><body><p>Words of {head:?}</body></html>"
    )
}

impl Builds {
    /// Sets the time of a file: days after the beginning of 2026.
    fn set_day(&self, name: &str, day: u64) {
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_225_600);
        let file = fs::File::options()
            .write(true)
            .open(self.path().join(name))
            .expect("the file is there");
        file.set_modified(start + Duration::from_secs(day * 86_400))
            .expect("its time can be set");
    }
}

fn excluded(ran: &Ran) -> Value {
    ran.summary()["excluded"].clone()
}

#[test]
fn canonical_spelled_otherwise_is_the_page_itself() {
    let builds = Builds::new();
    let canonical = |path: &str| html(&format!("<link rel=canonical href=\"{BASE}{path}\">"));
    for (name, path) in [
        ("site/index.html", ""),
        ("site/docs/intro/index.html", "docs/intro"),
        ("site/blog/index.html", "blog/index.html"),
        ("site/Team/index.html", "team/"),
        ("site/copy/index.html", "docs/intro/"),
        ("site/lost.html", "nowhere"),
    ] {
        builds.file(name, canonical(path));
    }
    let ran = builds.build(&["site"]).expect_code(0);
    let listed: Vec<String> = builds.lines().into_keys().collect();
    assert_eq!(listed, ["/", "/Team/", "/blog/", "/docs/intro/"]);
    let notes = ran.summary()["notes"].clone();
    let note = |code: &str| {
        notes
            .as_array()
            .unwrap()
            .iter()
            .find(|note| note["code"] == code)
            .cloned()
            .unwrap_or_default()
    };
    assert_eq!(note("canonical-redirects-back")["count"], 2);
    assert_eq!(
        note("canonical-unknown")["example"],
        format!("{BASE}lost.html")
    );
}

#[test]
fn files_become_urls() {
    let builds = Builds::new();
    for name in [
        "site/index.html",
        "site/about.html",
        "site/docs/index.html",
        "site/docs/index.htm",
        "site/docs/a b.html",
        "site/docs/100%.html",
        "site/old/index.htm",
        "site/é/page.xhtml",
        "site/guide.pdf",
        "site/.hidden/secret.html",
        "site/.draft.html",
    ] {
        builds.file(name, html(name));
    }
    let ran = builds.build(&["site"]).expect_code(0);
    assert_eq!(
        builds.lines().into_keys().collect::<Vec<_>>(),
        [
            "/",
            "/%C3%A9/page.xhtml",
            "/about.html",
            "/docs/",
            "/docs/100%25.html",
            "/docs/a%20b.html",
            "/docs/index.htm",
            "/guide.pdf",
            "/old/",
        ]
    );
    assert_eq!(ran.summary()["input"]["files"], 9);
    let other = builds.path().join("other");
    let base = "https://www.example.com/sub/dir";
    Ran::of(builds.command_to(&other, base, &["site/docs"])).expect_code(0);
    let other = Published::read(&other);
    assert!(
        other
            .urls()
            .contains(&"https://www.example.com/sub/dir/".to_owned())
    );
}

#[test]
fn pages_are_judged_by_their_content() {
    let builds = Builds::new();
    for (name, head) in [
        ("index.html", "<link rel=canonical href=/index.html>"),
        ("noindex.html", "<meta name=robots content=noindex>"),
        ("copy.html", "<link rel=canonical href=index.html>"),
        (
            "moved.html",
            "<meta http-equiv=refresh content='0; url=/a/'>",
        ),
        (
            "foreign.html",
            "<link rel=canonical href=https://elsewhere.example/>",
        ),
        (
            "a/index.html",
            "<link rel=canonical href='https://www.example.com/a/index.html'>",
        ),
        ("404.html", ""),
        ("private/page.html", ""),
        ("markup", "recognised"),
    ] {
        builds.file(&format!("site/{name}"), html(head));
    }
    for (name, text) in [
        ("style.css", "p {}"),
        ("empty.html", ""),
        ("notes", "no markup"),
        ("sitemap.xml", "<urlset/>"),
        ("robots.txt", "User-agent: *\nDisallow: /private/\n"),
    ] {
        builds.file(&format!("site/{name}"), text);
    }
    let ran = builds.build(&["site"]).expect_code(0);
    assert_eq!(
        builds.lines().into_keys().collect::<Vec<_>>(),
        ["/", "/a/", "/markup"]
    );
    assert_eq!(
        excluded(&ran),
        json!({
            "canonical-elsewhere": 1,
            "canonical-foreign": 1,
            "empty": 1,
            "gone": 1,
            "noindex": 1,
            "not-a-page": 2,
            "refresh-redirect": 1,
            "robots-disallowed": 1,
        })
    );
    let summary = ran.summary();
    assert_eq!(summary["known"], 12);
    assert_eq!(summary["listed"], 3);
}

#[test]
fn times_of_files_count_when_they_are_plausible() {
    let pages = ["index.html", "a.html", "b.html", "c.html"];
    let site = || {
        let builds = Builds::new();
        for (day, page) in pages.iter().enumerate() {
            builds.file(&format!("site/{page}"), html(page));
            builds.set_day(&format!("site/{page}"), day as u64);
        }
        builds
    };
    let builds = site();
    builds.build(&["site"]).expect_code(0);
    assert_eq!(
        builds.lines()["/a.html"],
        "<lastmod>2026-01-02T00:00:00Z</lastmod>"
    );
    // The same files with other times: unchanged pages keep their dates.
    let before = builds.published();
    for (day, page) in pages.iter().enumerate() {
        builds.set_day(&format!("site/{page}"), 10 + day as u64);
    }
    builds.build(&["site"]).expect_code(0);
    assert_eq!(builds.published().differences(&before), [""; 0]);
    let without = site();
    without.build(&["site", "--lastmod", "none"]).expect_code(0);
    assert_eq!(without.lines()["/a.html"], "");
}

#[test]
fn times_of_a_checkout_are_not_evidence() {
    let builds = Builds::new();
    for (number, page) in ["index.html", "a.html", "b.html", "c.html", "d.html"]
        .iter()
        .enumerate()
    {
        builds.file(&format!("site/{page}"), html(page));
        builds.set_day(
            &format!("site/{page}"),
            if number < 3 { 5 } else { number as u64 * 20 },
        );
    }
    builds.file(
        "site/dated.html",
        html("<meta property=\"article:modified_time\" content=\"2026-01-15T10:00:00+01:00\">"),
    );
    builds.set_day("site/dated.html", 5);
    let ran = builds.build(&["site"]).expect_code(0);
    let words = "4 of 6 pages were written within 10 minutes, as by a checkout or a build";
    assert!(ran.stderr.contains(words), "{}", ran.stderr);
    let lines = builds.lines();
    // Directives of a page count nevertheless.
    assert_eq!(
        lines["/dated.html"],
        "<lastmod>2026-01-15T10:00:00+01:00</lastmod>"
    );
    assert!(
        lines
            .iter()
            .filter(|(url, _)| *url != "/dated.html")
            .all(|(_, rest)| rest.is_empty())
    );
}

#[cfg(unix)]
#[test]
fn links_lead_no_further_than_the_folder() {
    use std::os::unix::fs::symlink;
    let builds = Builds::new();
    builds.file("site/real/page.html", html("real"));
    builds.file("outside/secret.html", html("secret"));
    let at = |name: &str| builds.path().join(name);
    symlink(at("outside"), at("site/out")).expect("a link can be made");
    symlink(at("outside/secret.html"), at("site/secret.html")).expect("a link can be made");
    symlink(at("site"), at("site/real/circle")).expect("a link can be made");
    symlink(at("site/real/page.html"), at("site/linked.html")).expect("a link can be made");
    symlink("missing.html", at("site/broken.html")).expect("a link can be made");
    let ran = builds.build(&["site"]).expect_code(0);
    assert_eq!(
        builds.lines().into_keys().collect::<Vec<_>>(),
        ["/linked.html", "/real/page.html"]
    );
    assert!(
        ran.stderr.contains(
            "symbolic links that lead out of the folder, or in circles, are not followed: 4"
        ),
        "{}",
        ran.stderr
    );
}

#[test]
fn files_of_a_set_are_no_pages() {
    let builds = Builds::new();
    builds.file(
        "out/index.html",
        html("<meta itemprop=dateModified content=2026-01-02>"),
    );
    builds.file("out/sitemap.html", html("for people"));
    for (gzip, outcome) in [
        ("", "published"),
        ("", "unchanged"),
        ("--no-gzip", "published"),
    ] {
        let options = ["out", "--format", "xml,txt,rss,atom", gzip];
        let options: Vec<_> = options
            .into_iter()
            .filter(|option| !option.is_empty())
            .collect();
        let ran = builds.build(&options).expect_code(0);
        assert_eq!(ran.summary()["outcome"], outcome);
        assert_eq!(ran.summary()["known"], 2);
    }
    for name in [
        "sitemap-root.txt",
        "sitemap-recent.rss",
        "sitemap-recent.atom",
    ] {
        assert!(builds.output().join(name).is_file(), "{name}");
    }
    // The backup of a file that somebody changed.
    builds.file("out/sitemap.xml", "<urlset/>");
    for outcome in ["published", "unchanged"] {
        let options = ["out", "--format", "xml,txt,rss,atom", "--no-gzip"];
        let ran = builds.build(&options).expect_code(0);
        assert_eq!(ran.summary()["outcome"], outcome);
        assert_eq!(ran.summary()["known"], 2);
    }
}

#[test]
fn facts_of_a_folder_go_before_a_list() {
    let builds = Builds::new();
    builds.file(
        "site/index.html",
        html("<meta name=robots content=noindex>"),
    );
    builds.file("site/a.html", html("a"));
    let list = builds.file("list.txt", "/\n/a.html\n/elsewhere\n");
    let ran = builds.build(&[&list, "site"]).expect_code(0);
    assert_eq!(
        builds.lines().into_keys().collect::<Vec<_>>(),
        ["/a.html", "/elsewhere"]
    );
    assert_eq!(excluded(&ran), json!({"noindex": 1}));
}

#[test]
fn robots_txt_below_the_root_is_ignored() {
    let builds = Builds::new();
    builds.file("site/a.html", html("a"));
    builds.file("site/robots.txt", "User-agent: *\nDisallow: /\n");
    builds.build(&["site"]).expect_code(4);
    let ran = Ran::of(builds.command("https://www.example.com/docs/", &["site"])).expect_code(0);
    assert!(
        ran.stderr.contains("robots.txt is not obeyed"),
        "{}",
        ran.stderr
    );
}

/// Pages of a site, of which `contact.html` does not state its URL.
fn site_with_short_urls() -> Builds {
    let builds = Builds::new();
    let versions = "<link rel=alternate hreflang=en href=/about.html><link rel=alternate hreflang=de href=/de/about>";
    for (name, head) in [
        ("index.html", ""),
        (
            "about.html",
            &*format!("<link rel=canonical href=/about>{versions}"),
        ),
        (
            "de/about.html",
            &*format!("<link rel=canonical href='{BASE}de/about'>{versions}"),
        ),
        ("contact.html", ""),
        ("copy.html", "<link rel=canonical href=/contact.html>"),
        ("elsewhere.html", "<link rel=canonical href=/contact>"),
        (
            "docs/index.html",
            "<link rel=canonical href=/docs/index.html>",
        ),
        ("taken.html", "<link rel=canonical href=/taken>"),
        ("taken", ""),
        ("404.html", ""),
    ] {
        builds.file(
            &format!("site/{name}"),
            html(&format!("{head}<!-- {name} -->")),
        );
    }
    builds
}

#[test]
fn html_suffix_decides_the_url_of_a_page() {
    for (suffix, listed) in [
        ("", "/ /about /contact.html /de/about /docs/ /taken"),
        (
            "keep",
            "/ /about.html /contact.html /de/about.html /docs/ /taken",
        ),
        ("drop", "/ /about /contact /de/about /docs/ /taken"),
    ] {
        let builds = site_with_short_urls();
        let mut options = vec!["site", "--with", "hreflang"];
        if !suffix.is_empty() {
            options.extend(["--html-suffix", suffix]);
        }
        let ran = builds.build(&options).expect_code(0);
        let lines = builds.lines();
        let paths: Vec<&str> = lines.keys().map(String::as_str).collect();
        assert_eq!(paths.join(" "), listed, "{suffix}");
        assert_eq!(excluded(&ran)["canonical-elsewhere"], 3, "{suffix}");
        if suffix != "keep" {
            assert_eq!(excluded(&ran)["gone"], 1, "{suffix}");
        }
        if suffix == "drop" {
            let english = format!("hreflang=\"en\" href=\"{BASE}about\"/>");
            for page in ["/about", "/de/about"] {
                assert!(lines[page].contains(&english), "{}", lines[page]);
            }
            let again = builds.build(&options).expect_code(0);
            assert_eq!(again.summary()["outcome"], "unchanged");
        }
    }
    let builds = site_with_short_urls();
    builds
        .build(&["site", "--html-suffix", "shorten"])
        .expect_code(2);
    // Rules apply to the URL that is listed.
    let ran = builds
        .build(&["site", "--exclude", "/about"])
        .expect_code(0);
    assert!(!builds.lines().contains_key("/about"));
    assert_eq!(excluded(&ran)["excluded-by-rule"], 1);
}

#[cfg(unix)]
#[test]
fn file_with_too_long_url_is_reported() {
    let builds = Builds::new();
    builds.file("site/a.html", html("a"));
    let folder = "\u{20ac}".repeat(80);
    let deep = format!("site/{folder}/{folder}/{folder}/page.html");
    builds.file(&deep, html("deep"));
    let ran = builds.build(&["site"]).expect_code(3);
    assert_eq!(ran.summary()["input"]["left_out"], 1);
    assert!(
        ran.stderr
            .contains("page.html left out: the URL would be longer than 2,047"),
        "{}",
        ran.stderr
    );
}

#[test]
fn answers_of_servers_and_sources_are_left_out() {
    let builds = Builds::new();
    for name in [
        "index.html",
        "404.html",
        "404/index.html",
        "500.html",
        "50x.html",
        "_includes/head.html",
        "docs/node_modules/a/readme.html",
        // Numbers are names of pages.
        "415/index.html",
        "500/index.html",
        "420.html",
        "docs/404.html",
        "google.html",
    ] {
        builds.file(&format!("site/{name}"), html(&format!("<!-- {name} -->")));
    }
    let name = "google0123456789abcdef.html";
    builds.file(
        &format!("site/{name}"),
        format!("google-site-verification: {name}"),
    );
    let ran = builds.build(&["site"]).expect_code(0);
    assert_eq!(
        builds.lines().into_keys().collect::<Vec<_>>(),
        [
            "/",
            "/415/",
            "/420.html",
            "/500/",
            "/docs/404.html",
            "/google.html"
        ]
    );
    let excluded = &ran.summary()["excluded"];
    assert_eq!(
        (&excluded["gone"], &excluded["not-a-page"]),
        (&4.into(), &1.into())
    );
    assert!(
        ran.stderr.contains("node_modules are not read"),
        "{}",
        ran.stderr
    );
}
