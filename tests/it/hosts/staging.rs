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
