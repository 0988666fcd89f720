//! Staging copies, which are written as production.

use super::*;

/// A staging copy whose pages name production, and a production that must never be asked.
struct Staging {
    copy: Site,
    production: Site,
}

impl Staging {
    /// `answer` makes the pages of the copy, given the URL of production's directory.
    fn start(
        directory: &str,
        answer: impl Fn(&Request, &str) -> Response + Send + Sync + 'static,
    ) -> Self {
        let production = Site::start(|_| Response::status(500));
        let url = production.url(directory);
        let copy = Site::start(move |request| answer(request, &url));
        Self { copy, production }
    }

    /// Crawls the copy as `directory` of production.
    #[track_caller]
    fn crawl(&self, bench: &Bench, start: &str, directory: &str, options: &[&str]) -> Ran {
        let original = self.production.url(directory);
        let options = [&["--publish-as", &original], options].concat();
        let ran = bench.crawl(&self.copy.url(start), &options);
        assert!(self.production.log().is_empty(), "production was asked");
        ran
    }
}

/// A copy that names production in every way there is.
fn staging_site() -> Staging {
    Staging::start("/", |request, production| match request.target.as_str() {
        // A copy of production's own file.
        "/robots.txt" => Response::text(format!(
            "User-agent: *\nDisallow: /private/\nSitemap: {production}sitemap.xml\n"
        )),
        "/" => page(
            &format!(
                "<link rel=canonical href=\"{production}\"><link rel=alternate hreflang=fr href=\"{production}fr/\">"
            ),
            &[
                "/relative",
                &format!("{production}absolute?b=1"),
                "/moved",
                "/refresh",
                "/private/x",
                "/no",
            ],
        ),
        "/relative" => page(
            "",
            &[
                "/canonical-to-production",
                "/canonical-to-copy",
                "/canonical-elsewhere",
                "/both",
            ],
        ),
        "/canonical-to-production" => page(
            &format!("<link rel=canonical href=\"{production}canonical-to-production\">"),
            &[],
        ),
        "/canonical-to-copy" => page("<link rel=canonical href=\"/canonical-to-copy\">", &[]),
        "/canonical-elsewhere" => page(
            &format!("<link rel=canonical href=\"{production}relative\">"),
            &[],
        ),
        // Both name the page itself: no conflict.
        "/both" => page(
            &format!(
                "<link rel=canonical href=\"{production}both\"><link rel=canonical href=\"/both\">"
            ),
            &[],
        ),
        "/moved" => Response::redirect(301, &format!("{production}landed")),
        "/refresh" => page(
            &format!("<meta http-equiv=refresh content=\"0; url={production}refreshed\">"),
            &[],
        ),
        "/no" => page("<meta name=robots content=noindex>", &[]),
        _ => page("", &[]),
    })
}

#[test]
fn a_staging_crawl_lists_and_reports_production() {
    let staging = staging_site();
    let bench = Bench::new();
    let ran = staging.crawl(&bench, "/", "/", &[]).expect_code(0);
    let production = staging.production.url("/");
    assert_eq!(
        listed(&bench.published(), &production),
        [
            "",
            "absolute?b=1",
            "both",
            "canonical-to-copy",
            "canonical-to-production",
            "fr/",
            "landed",
            "refreshed",
            "relative"
        ]
    );
    assert_eq!(
        index_of(&bench.published()),
        [format!("{production}sitemap-root.xml.gz")]
    );
    let summary = ran.summary();
    assert_adds_up(&summary);
    let expected = [
        ("canonical-elsewhere", 1),
        ("noindex", 1),
        ("redirected", 1),
        ("refresh-redirect", 1),
        ("robots-disallowed", 1),
    ];
    assert_eq!(
        excluded(&summary),
        BTreeMap::from(expected.map(|(code, count)| (code.to_owned(), count)))
    );
    // The report has both URLs; production's robots.txt is not known.
    assert_eq!(summary["site"], json!(staging.copy.url("/")));
    assert_eq!(summary["publish_as"], json!(production));
    assert_eq!(
        summary["robots_txt"],
        json!([{
            "url": staging.production.url("/robots.txt"),
            "line": format!("Sitemap: {production}sitemap.xml"),
            "required": false,
            "present": null,
        }])
    );
    let crawling = format!(
        "crawling {} and everything below it, as {production}\n",
        staging.copy.url("/")
    );
    assert!(ran.stderr.contains(&crawling), "{}", ran.stderr);
    // The state is named after the crawled copy, and has the requested URLs.
    let name = format!("http_127.0.0.1_{}.db", staging.copy.port());
    assert_eq!(file(&bench).file_name(), Some(name.as_ref()));
    assert!(records(&bench).contains_key("/canonical-to-production"));

    // Nothing changed: not a byte is written.
    let before = bench.published();
    let ran = staging.crawl(&bench, "/", "/", &[]).expect_code(0);
    assert_eq!(ran.summary()["outcome"], json!("unchanged"));
    assert_eq!(bench.published().differences(&before), [] as [String; 0]);

    // Without `--output`, the folder of the set is named after production.
    let arguments = [
        "crawl",
        &staging.copy.url("/"),
        "--publish-as",
        &production,
        "--rate",
        "unlimited",
    ];
    arpent(&bench, arguments).expect_code(0);
    let folder = format!("sitemaps/http_127.0.0.1_{}", staging.production.port());
    assert_eq!(
        Published::read(&bench.path().join(folder)).urls(),
        bench.published().urls()
    );
}

/// Links, versions and images lead to the other directory.
#[test]
fn a_directory_is_written_as_another_directory() {
    let staging = Staging::start("/app/", |request, production| {
        let versions = format!(
            "<link rel=alternate hreflang=en href=\"{production}en\">\
             <link rel=alternate hreflang=fr href=\"{production}fr\">"
        );
        match request.target.as_str() {
            "/robots.txt" => Response::text("User-agent: *\nDisallow: /x/private/"),
            "/x/" => page(
                "",
                &[
                    "a",
                    &format!("{production}b/c"),
                    "../outside",
                    &production.replace("/app/", "/other/"),
                    "en",
                    "fr",
                ],
            ),
            "/x/a" => page(&format!("<link rel=canonical href=\"{production}a\">"), &[]),
            "/x/b/c" => page("<base href=\"/x/\">", &["d"]),
            // An image of a copy is one image, by either of its addresses.
            "/x/en" => Response::html(format!(
                "<!doctype html><title>A</title>{versions}<img src=\"pictures/1.png\"><img src=\"{production}pictures/1.png\">\
                 <img src=\"{production}pictures/2.png\"><img src=\"private/4.png\"><img src=\"{production}private/4.png\">\
                 <img src=\"/outside.png\"><img src=\"https://cdn.example/3.png\">"
            )),
            "/x/fr" => page(&versions, &[]),
            _ => page("", &[]),
        }
    });
    let bench = Bench::new();
    let options = ["--with", "images,hreflang", "--no-gzip"];
    let ran = staging
        .crawl(&bench, "/x/", "/app/", &options)
        .expect_code(0);
    let app = staging.production.url("/app/");
    let set = bench.published();
    assert_eq!(listed(&set, &app), ["", "a", "b/c", "d", "en", "fr"]);
    assert_eq!(index_of(&set), [format!("{app}sitemap-root.xml")]);
    let mut asked = staging.copy.pages();
    asked.sort();
    let expected = ["/x/", "/x/a", "/x/b/c", "/x/d", "/x/en", "/x/fr"];
    assert_eq!(asked, expected);

    let xml = &set.files["sitemap-root.xml"].xml;
    let count = |text: String| xml.matches(&text).count();
    for version in ["en", "fr"] {
        let link = format!("hreflang=\"{version}\" href=\"{app}{version}\"");
        assert_eq!(count(link), 2, "{xml}");
    }
    for image in [
        format!("{app}pictures/1.png"),
        format!("{app}pictures/2.png"),
        "https://cdn.example/3.png".to_owned(),
    ] {
        assert_eq!(count(format!("<image:loc>{image}</image:loc>")), 1, "{xml}");
    }
    let of_copy = count(staging.copy.origin());
    assert_eq!(of_copy, 0, "the copy is not named: {xml}");
    let left_out = &ran.summary()["extensions"]["images"]["left_out"];
    let expected = json!({"not-written": 1, "robots-disallowed": 1});
    assert_eq!(*left_out, expected);
}

#[test]
fn the_partition_is_that_of_production() {
    let pages: Vec<String> = (0..150).map(|number| format!("/docs/{number}")).collect();
    let staging = Staging::start("/app/", move |request, _| match request.target.as_str() {
        "/robots.txt" => Response::text(""),
        own => Response::linking(pages.iter().map(String::as_str).chain([own])),
    });
    let bench = Bench::new();
    let root = staging.production.url("/");
    let options = ["--public-url", root.as_str(), "--layout", "in-place"];
    staging.crawl(&bench, "/", "/app/", &options).expect_code(0);
    let set = bench.published();
    assert_eq!(
        index_of(&set),
        [
            format!("{root}sitemap-root.xml.gz"),
            format!("{root}app/docs/sitemap.xml.gz")
        ]
    );
    assert_eq!(set.files["app/docs/sitemap.xml.gz"].entries.len(), 150);
    assert!(
        set.urls()
            .iter()
            .all(|url| url.starts_with(&format!("{root}app/")))
    );
}

#[test]
fn a_copy_may_be_inside_production() {
    let site = Site::start(|request| match request.target.as_str() {
        "/robots.txt" => Response::text("Sitemap: /sitemap.xml\n"),
        "/staging/" => page(
            "<link rel=canonical href=\"/\">",
            &["/a", "/staging/b", "c"],
        ),
        target if target.starts_with("/staging/") => page("", &[]),
        _ => Response::status(500),
    });
    let bench = Bench::new();
    let ran = bench
        .crawl(&site.url("/staging/"), &["--publish-as", &site.url("/")])
        .expect_code(0);
    assert_eq!(
        listed(&bench.published(), &site.url("/")),
        ["", "a", "b", "c"]
    );
    assert!(
        site.pages()
            .iter()
            .all(|target| target.starts_with("/staging/")),
        "{:?}",
        site.pages()
    );
    // One origin, one robots.txt: it was read.
    assert_eq!(ran.summary()["robots_txt"][0]["present"], json!(true));
}

#[test]
fn redirects_to_production_are_not_followed() {
    /// The path that redirects, and the place below production to which it leads.
    fn check(from: &'static str, to: &'static str, directory: &str, reasons: &[&str]) {
        let staging = Staging::start("/", move |request, production| {
            match request.target.as_str() {
                target if target == from => Response::redirect(301, &format!("{production}{to}")),
                "/robots.txt" => Response::text(""),
                _ => Response::linking(["/"]),
            }
        });
        let ran = staging
            .crawl(&Bench::new(), "/", directory, &[])
            .expect_code(5);
        for reason in reasons {
            assert!(ran.stderr.contains(reason), "{reason}: {}", ran.stderr);
        }
    }
    let no_requests = "which gets no requests";
    check("/", "", "/", &["count as redirects to itself"]);
    check("/", "elsewhere", "/app/", &[no_requests]);
    let unread = "robots.txt cannot be read";
    check("/robots.txt", "robots.txt", "/", &[no_requests, unread]);
}

#[test]
fn pages_are_requested_again_when_publish_as_changes() {
    let staging = Staging::start("/", |request, production| match request.target.as_str() {
        "/robots.txt" => Response::text(""),
        "/" => page("", &["/a", "/b"]),
        target => page(
            &format!(
                "<link rel=canonical href=\"{production}{}\">",
                target.trim_start_matches('/')
            ),
            &[],
        ),
    });
    // Not as production: the canonical links lead out of the site.
    let one_by_one = ["--max-pages", "2", "--concurrency", "1"];
    let bench = bench_without_rate();
    let ran = bench
        .crawl(&staging.copy.url("/"), &one_by_one)
        .expect_code(3);
    assert_eq!(excluded(&ran.summary())["canonical-foreign"], 1);
    // As production: the answers have another meaning, so the pages are requested again. The set in the
    // folder is that of another site.
    staging.copy.clear_log();
    let ran = staging.crawl(&bench, "/", "/", &["--force"]).expect_code(0);
    assert!(
        !ran.stderr.contains("continuing the unfinished crawl"),
        "{}",
        ran.stderr
    );
    let mut asked = staging.copy.pages();
    asked.sort();
    assert_eq!(asked, ["/", "/a", "/b"]);
    assert_eq!(
        listed(&bench.published(), &staging.production.url("/")),
        ["", "a", "b"]
    );
}
