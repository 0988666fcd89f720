//! Sites that are served, crawled or written elsewhere: sets on another host and what proves them,
//! staging copies, and what one's own site says and is not listened to.

use std::{collections::BTreeMap, fs, process::Command};

use serde_json::{Value, json};

use crate::support::{
    program::{Bench, Ran},
    published::Published,
    site::{Request, Response, Site},
    state::{assert_adds_up, excluded, file, number, records},
};

/// Where central sets of these tests are said to be served; nothing is ever asked of it.
const MAPS: &str = "https://maps.example.net/";

/// A page with this `head` and links to `targets`.
fn page(head: &str, targets: &[&str]) -> Response {
    let link = |target: &&str| format!("<a href=\"{target}\">x</a>");
    let links = targets.iter().map(link).collect::<Vec<_>>().concat();
    Response::html(format!(
        "<!doctype html><html><head><title>A page</title>{head}</head><body>{links}</body></html>"
    ))
}

/// Three pages and this robots.txt.
fn small_site(robots: impl Into<String>) -> Site {
    let robots = robots.into();
    Site::start(move |request| match request.target.as_str() {
        "/robots.txt" => Response::text(robots.clone()),
        "/" => Response::linking(["/a", "/docs/b"]),
        _ => Response::linking(["/"]),
    })
}

/// The URLs that the index of a set names.
fn index_of(set: &Published) -> Vec<&str> {
    let index = &set.files["sitemap.xml"];
    assert!(index.is_index);
    index.entries.iter().map(|(loc, _)| loc.as_str()).collect()
}

/// Listed paths, the URL of the site's directory taken away.
#[track_caller]
fn listed(set: &Published, directory: &str) -> Vec<String> {
    let below = |url: String| match url.strip_prefix(directory) {
        Some(below) => below.to_owned(),
        None => panic!("{url} is not below {directory}"),
    };
    set.urls().into_iter().map(below).collect()
}

/// Runs `arpent` with these arguments in the folder of `bench`.
fn arpent<'a>(bench: &Bench, arguments: impl IntoIterator<Item = &'a str>) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_arpent"));
    command
        .env_clear()
        .env("HOME", bench.path())
        .current_dir(bench.path())
        .args(arguments);
    Ran::of(command)
}

/// Crawls with a summary for people.
fn crawl_for_people(bench: &Bench, url: &str, options: &[&str]) -> Ran {
    let (output, state) = (bench.output(), bench.state());
    let folders = [("--output", &output), ("--state", &state)].map(|(option, folder)| {
        [
            option,
            folder.to_str().expect("the folder has a plain name"),
        ]
    });
    let own = ["crawl", url, "--rate", "unlimited"];
    arpent(
        bench,
        own.into_iter()
            .chain(folders.concat())
            .chain(options.iter().copied()),
    )
}

// ----- Served elsewhere -----

#[test]
fn each_of_several_sites_has_a_set_of_its_own_on_the_central_host() {
    let one = small_site("");
    let two = small_site("User-agent: *\nDisallow: /a\n");
    let bench = Bench::new();
    let ran = bench
        .crawl(
            &one.url("/"),
            &[
                &two.url("/docs/b"),
                &one.url("/docs/"),
                "--public-url",
                MAPS,
            ],
        )
        .expect_code(0);
    let summaries = ran.summaries();
    let check = |summary: &Value, site: &Site, directory: &str, name: &str, paths: &[&str]| {
        let url = site.url(directory);
        assert_eq!(summary["site"], json!(url));
        let set = Published::read(&bench.output().join(name));
        assert_eq!(listed(&set, &url), paths, "entries are on the crawled host");
        assert_eq!(
            index_of(&set),
            [format!("{MAPS}{name}/sitemap-root.xml.gz")]
        );
        assert_eq!(
            summary["robots_txt"],
            json!([{
                "url": site.url("/robots.txt"),
                "line": format!("Sitemap: {MAPS}{name}/sitemap.xml"),
                "required": true,
                "present": false,
            }])
        );
    };
    let name = |site: &Site, rest: &str| format!("http_127.0.0.1_{}{rest}", site.port());
    check(
        &summaries[0],
        &one,
        "/",
        &name(&one, ""),
        &["", "a", "docs/b"],
    );
    check(&summaries[1], &two, "/docs/", &name(&two, "_docs"), &["b"]);
    check(&summaries[2], &one, "/docs/", &name(&one, "_docs"), &[""]);
}

#[test]
fn host_and_site_have_places_in_the_public_url() {
    // Two names of one server are two hosts.
    let site = small_site("");
    let localhost = format!("http://localhost:{}/", site.port());
    let bench = Bench::new();
    let options = [
        localhost.as_str(),
        "--public-url",
        "https://maps.example.net/{host}/all",
    ];
    let ran = bench.crawl(&site.url("/"), &options).expect_code(0);
    let lines: Vec<_> = ran
        .summaries()
        .iter()
        .map(|summary| {
            (
                summary["robots_txt"][0]["url"].clone(),
                summary["robots_txt"][0]["line"].clone(),
            )
        })
        .collect();
    assert_eq!(
        lines,
        [
            (
                json!(site.url("/robots.txt")),
                json!(format!("Sitemap: {MAPS}127.0.0.1/all/sitemap.xml"))
            ),
            (
                json!(format!("{localhost}robots.txt")),
                json!(format!("Sitemap: {MAPS}localhost/all/sitemap.xml"))
            ),
        ]
    );
    let set = Published::read(
        &bench
            .output()
            .join(format!("http_localhost_{}", site.port())),
    );
    assert_eq!(listed(&set, &localhost), ["", "a", "docs/b"]);
    assert_eq!(
        index_of(&set),
        [format!("{MAPS}localhost/all/sitemap-root.xml.gz")]
    );

    let options = [
        &site.url("/docs/")[..],
        "--public-url",
        "https://maps.example.net/{host}/all",
    ];
    let ran = bench.crawl(&site.url("/"), &options).expect_code(2);
    assert!(
        ran.stderr
            .contains("several sites are on the host 127.0.0.1"),
        "{}",
        ran.stderr
    );
}

#[test]
fn the_line_in_robots_txt_is_asked_for_until_it_is_there() {
    let line = format!("Sitemap: {MAPS}sitemap.xml");
    let check = |robots: &str, present: bool| {
        let site = small_site(robots);
        let ran = Bench::new()
            .crawl(&site.url("/"), &["--public-url", MAPS])
            .expect_code(0);
        let expected = json!([{"url": site.url("/robots.txt"), "line": line, "required": true, "present": present}]);
        assert_eq!(ran.summary()["robots_txt"], expected, "{robots}");
        let ran =
            crawl_for_people(&Bench::new(), &site.url("/"), &["--public-url", MAPS]).expect_code(0);
        let title = if present {
            "has the line:"
        } else {
            "needs this line, or engines do not accept sitemaps that stand elsewhere:"
        };
        let told = format!("  {} {title}\n    {line}\n", site.url("/robots.txt"));
        assert!(ran.stdout.contains(&told), "{}", ran.stdout);
    };
    check("", false);
    check("Sitemap: https://maps.example.net/other.xml\n", false);
    check("Sitemap: http://maps.example.net/sitemap.xml\n", false);
    check(
        &format!("User-agent: other\nDisallow: /\nsitemap:  {MAPS}sitemap.xml\n"),
        true,
    );
    check("Sitemap: https://MAPS.example.net:443/sitemap.xml\n", true);
}

#[test]
fn another_port_or_scheme_of_the_same_host_is_another_origin() {
    let site = small_site("");
    for public_url in ["http://127.0.0.1:1/", "https://127.0.0.1/maps/"] {
        let bench = Bench::new();
        let ran = bench
            .crawl(&site.url("/"), &["--public-url", public_url])
            .expect_code(0);
        let robots = &ran.summary()["robots_txt"][0];
        assert_eq!(robots["required"], json!(true));
        assert_eq!(
            robots["line"],
            json!(format!("Sitemap: {public_url}sitemap.xml"))
        );
        assert_eq!(
            listed(&bench.published(), &site.url("/")),
            ["", "a", "docs/b"]
        );
    }
    // The set of the site's own origin needs no proof.
    let ran = Bench::new().crawl(&site.url("/docs/b"), &["--public-url", &site.url("/")]);
    assert_eq!(
        ran.expect_code(0).summary()["robots_txt"][0]["required"],
        json!(false)
    );
}

#[test]
fn in_place_files_of_a_central_set_stand_in_folders_below_it() {
    let pages: Vec<String> = (0..120).map(|number| format!("/docs/{number}")).collect();
    let site = Site::start(move |request| match request.target.as_str() {
        "/robots.txt" => Response::text(""),
        _ => Response::linking(&pages),
    });
    let bench = Bench::new();
    let options = [
        "--layout",
        "in-place",
        "--public-url",
        "https://maps.example.net/one",
    ];
    bench.crawl(&site.url("/"), &options).expect_code(0);
    let set = bench.published();
    assert_eq!(
        index_of(&set),
        [
            "https://maps.example.net/one/sitemap-root.xml.gz",
            "https://maps.example.net/one/docs/sitemap.xml.gz"
        ]
    );
    assert_eq!(set.files["docs/sitemap.xml.gz"].entries.len(), 120);
    assert_eq!(listed(&set, &site.url("/")).len(), 121);
}

// ----- Staging -----

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
        let options = [&["--as", &original], options].concat();
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
fn a_staging_crawl_lists_production() {
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
        [staging.production.url("/sitemap-root.xml.gz")]
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
}

#[test]
fn a_staging_crawl_is_known_as_what_is_crawled_and_told_as_both() {
    let staging = staging_site();
    let bench = Bench::new();
    let ran = staging.crawl(&bench, "/", "/", &[]).expect_code(0);
    let (summary, production) = (ran.summary(), staging.production.url("/"));
    // Production's robots.txt is not known.
    assert_eq!(summary["site"], json!(staging.copy.url("/")));
    assert_eq!(summary["as"], json!(production));
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
    // The state is named after what is crawled, and knows it by the URLs that were asked for.
    let name = format!("http_127.0.0.1_{}.db", staging.copy.port());
    assert_eq!(file(&bench).file_name(), Some(name.as_ref()));
    assert!(records(&bench).contains_key("/canonical-to-production"));

    // Nothing changed: not a byte is written.
    let before = bench.published();
    let ran = staging.crawl(&bench, "/", "/", &[]).expect_code(0);
    assert_eq!(ran.summary()["outcome"], json!("unchanged"));
    assert_eq!(bench.published().differences(&before), [] as [String; 0]);

    // Without a folder of its own, the set is named after production.
    let arguments = [
        "crawl",
        &staging.copy.url("/"),
        "--as",
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
fn versions_and_images_of_a_staging_crawl_are_those_of_production() {
    let staging = Staging::start("/app/", |request, production| {
        let versions = format!(
            "<link rel=alternate hreflang=en href=\"{production}en\">\
             <link rel=alternate hreflang=fr href=\"{production}fr\">"
        );
        match request.target.as_str() {
            "/robots.txt" => Response::text(""),
            "/x/" => page("", &["en", "fr"]),
            "/x/en" => Response::html(format!(
                "<!doctype html><title>A</title>{versions}<img src=\"pictures/1.png\"><img src=\"{production}pictures/2.png\">\
                 <img src=\"/outside.png\"><img src=\"https://cdn.example/3.png\">"
            )),
            _ => page(&versions, &[]),
        }
    });
    let bench = Bench::new();
    let options = ["--extensions", "images,hreflang", "--no-gzip"];
    let ran = staging
        .crawl(&bench, "/x/", "/app/", &options)
        .expect_code(0);
    let app = staging.production.url("/app/");
    let set = bench.published();
    assert_eq!(listed(&set, &app), ["", "en", "fr"]);
    let xml = &set.files["sitemap-root.xml"].xml;
    let count = |text: String| xml.matches(&text).count();
    assert_eq!(
        count(format!("hreflang=\"fr\" href=\"{app}fr\"")),
        2,
        "{xml}"
    );
    assert_eq!(
        count(format!("hreflang=\"en\" href=\"{app}en\"")),
        2,
        "{xml}"
    );
    for image in [
        format!("{app}pictures/1.png"),
        format!("{app}pictures/2.png"),
        "https://cdn.example/3.png".to_owned(),
    ] {
        assert_eq!(count(format!("<image:loc>{image}</image:loc>")), 1, "{xml}");
    }
    assert_eq!(
        count(staging.copy.origin()),
        0,
        "nobody comes to know the copy: {xml}"
    );
    let left_out = &ran.summary()["extensions"]["images"]["left_out"];
    assert_eq!(*left_out, json!({"not-written": 1}));
}

#[test]
fn an_image_of_a_copy_is_one_by_either_of_its_addresses() {
    let staging = Staging::start("/", |request, production| match request.target.as_str() {
        "/robots.txt" => Response::text("User-agent: *\nDisallow: /private/"),
        _ => Response::html(format!(
            "<title>A</title><img src=\"/1.png\"><img src=\"{production}1.png\">\
             <img src=\"{production}private/2.png\"><img src=\"/private/2.png\">"
        )),
    });
    let bench = Bench::new();
    let options = ["--extensions", "images", "--no-gzip"];
    let ran = staging.crawl(&bench, "/", "/", &options).expect_code(0);
    let xml = &bench.published().files["sitemap-root.xml"].xml;
    let image = staging.production.url("/1.png");
    assert_eq!(xml.matches(&image).count(), 1, "{xml}");
    let images = &ran.summary()["extensions"]["images"];
    assert_eq!(images["written"], 1);
    assert_eq!(images["left_out"], json!({"robots-disallowed": 1}));
}

#[test]
fn what_is_selected_on_a_copy_does_not_name_it() {
    let staging = Staging::start("/", |request, production| match request.target.as_str() {
        "/robots.txt" => Response::text(""),
        _ => Response::html(format!(
            "<title>A</title><base href=\"http://{host}/\"><meta name=own content=\"http://{host}/a.png\">\
             <meta name=other content=\"http://{host}\"><meta name=real content=\"{production}b.png\">",
            host = request.headers["host"],
        )),
    });
    let bench = Bench::new();
    let element = |name: &str| {
        format!(
            "[[namespace.element]]\nname = \"{name}\"\nselector = \"meta[name={name}]\"\nattribute = \"content\"\n"
        )
    };
    let config = bench.settings(&format!(
        "[[namespace]]\nprefix = \"n\"\nuri = \"https://example.com/ns\"\n{}{}{}",
        element("own"),
        element("other"),
        element("real")
    ));
    let options = ["--config", &config, "--no-gzip"];
    staging.crawl(&bench, "/", "/", &options).expect_code(0);
    // Not shown to the schemas, which know nothing of this namespace.
    let xml = fs::read_to_string(bench.output().join("sitemap-root.xml")).expect("a sitemap");
    let production = staging.production.url("/");
    assert!(
        xml.contains(&format!(
            "<n:own>{production}a.png</n:own><n:real>{production}b.png</n:real>"
        )),
        "{xml}"
    );
    assert!(!xml.contains(&staging.copy.origin()), "{xml}");
}

#[test]
fn a_directory_stands_for_another_directory() {
    let staging = Staging::start("/app/", |request, production| {
        match request.target.as_str() {
            "/robots.txt" => Response::text(""),
            "/x/" => page(
                "",
                &[
                    "a",
                    &format!("{production}b/c"),
                    "../outside",
                    &production.replace("/app/", "/other/"),
                ],
            ),
            "/x/a" => page(&format!("<link rel=canonical href=\"{production}a\">"), &[]),
            "/x/b/c" => page("<base href=\"/x/\">", &["d"]),
            _ => page("", &[]),
        }
    });
    let bench = Bench::new();
    staging
        .crawl(&bench, "/x/", "/app/", &["--no-gzip"])
        .expect_code(0);
    let app = staging.production.url("/app/");
    assert_eq!(listed(&bench.published(), &app), ["", "a", "b/c", "d"]);
    assert_eq!(
        index_of(&bench.published()),
        [format!("{app}sitemap-root.xml")]
    );
    let mut asked = staging.copy.pages();
    asked.sort();
    assert_eq!(asked, ["/x/", "/x/a", "/x/b/c", "/x/d"]);

    // The set may be served from above, in the folders of production.
    let bench = Bench::new();
    let root = staging.production.url("/");
    let options = ["--public-url", root.as_str(), "--layout", "in-place"];
    staging
        .crawl(&bench, "/x/", "/app/", &options)
        .expect_code(0);
    assert_eq!(
        index_of(&bench.published()),
        [format!("{root}sitemap-root.xml.gz")]
    );
    // What does not cover production is refused, whatever it is to the copy.
    let ran = staging.crawl(
        &bench,
        "/x/",
        "/app/",
        &["--public-url", &staging.production.url("/maps/")],
    );
    let stderr = ran.expect_code(2).stderr;
    assert!(
        stderr.contains(&format!("may not list {app}, ")),
        "{stderr}"
    );
}

#[test]
fn the_partition_is_that_of_production() {
    let pages: Vec<String> = (0..150).map(|number| format!("/docs/{number}")).collect();
    let staging = Staging::start("/app/", move |request, _| match request.target.as_str() {
        "/robots.txt" => Response::text(""),
        _ => Response::linking(&pages),
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
fn a_copy_may_stand_inside_what_it_stands_for() {
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
        .crawl(&site.url("/staging/"), &["--as", &site.url("/")])
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
    let ran = bench
        .crawl(&site.url("/"), &["--as", &site.url("/staging/")])
        .expect_code(2);
    assert!(ran.stderr.starts_with("error: --as: "), "{}", ran.stderr);
}

#[test]
fn production_is_not_asked_even_when_staging_redirects_there() {
    let check =
        |answer: fn(&Request, &str) -> Response, directory: &str, code: i32, reason: &str| {
            let staging = Staging::start("/", answer);
            let ran = staging
                .crawl(&Bench::new(), "/", directory, &[])
                .expect_code(code);
            assert!(ran.stderr.contains(reason), "{}", ran.stderr);
        };
    check(
        |request, production| match request.target.as_str() {
            "/robots.txt" => Response::text(""),
            _ => Response::redirect(301, production),
        },
        "/",
        5,
        "count as redirects to itself",
    );
    check(
        |request, production| match request.target.as_str() {
            "/robots.txt" => Response::text(""),
            _ => Response::redirect(301, &format!("{production}elsewhere")),
        },
        "/app/",
        5,
        "where nothing is asked",
    );
    check(
        |request, production| match request.target.as_str() {
            "/robots.txt" => Response::redirect(301, &format!("{production}robots.txt")),
            _ => Response::linking(["/"]),
        },
        "/",
        5,
        "where nothing is asked",
    );
    check(
        |request, production| match request.target.as_str() {
            "/robots.txt" => Response::redirect(301, &format!("{production}robots.txt")),
            _ => Response::linking(["/"]),
        },
        "/",
        5,
        "robots.txt of",
    );
}

#[test]
fn what_a_site_is_written_as_is_part_of_what_is_known_of_it() {
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
    // As production: what the pages said means something else, so they are asked again. What stands in the
    // folder is the set of another site.
    staging.copy.clear_log();
    let ran = staging.crawl(&bench, "/", "/", &["--force"]).expect_code(0);
    assert!(!ran.stderr.contains("going on with"), "{}", ran.stderr);
    let mut asked = staging.copy.pages();
    asked.sort();
    assert_eq!(asked, ["/", "/a", "/b"]);
    assert_eq!(
        listed(&bench.published(), &staging.production.url("/")),
        ["", "a", "b"]
    );
}

fn bench_without_rate() -> Bench {
    Bench::with_options(["--rate", "unlimited"])
}

// ----- Ignored -----

/// A site that forbids, hides and misnames its pages.
fn shy_site() -> Site {
    Site::start(|request| match request.target.as_str() {
        "/robots.txt" => Response::text("User-agent: *\nDisallow: /private/\nCrawl-delay: 0.001\n"),
        "/" => Response::linking([
            "/private/a",
            "/hidden",
            "/header",
            "/expired",
            "/none",
            "/misnamed",
            "/both",
        ]),
        "/hidden" => page("<meta name=robots content=noindex>", &["/below"]),
        "/header" => page("", &[]).with("X-Robots-Tag", "noindex"),
        "/expired" => page("", &[]).with("X-Robots-Tag", "unavailable_after: 2001-01-01"),
        // nofollow is not ignored.
        "/none" => page("<meta name=robots content=none>", &["/never"]),
        "/misnamed" => page("<link rel=canonical href=\"/\">", &[]),
        "/both" => page(
            "<link rel=canonical href=\"/\"><meta name=robots content=noindex>",
            &[],
        ),
        _ => page("", &[]),
    })
}

/// Crawls the shy site; what is listed, and each thing that is ignored, told as often as it has to be.
#[track_caller]
fn check_ignored(ignored: &[&str], expected: &[&str]) {
    let site = shy_site();
    let bench = Bench::new();
    let option = ignored.join(",");
    let options = if ignored.is_empty() {
        vec![]
    } else {
        vec!["--ignore", option.as_str()]
    };
    let ran = bench.crawl(&site.url("/"), &options).expect_code(0);
    let set = listed(&bench.published(), &site.url("/"));
    assert_eq!(set, expected, "{ignored:?}");
    assert_adds_up(&ran.summary());
    assert_eq!(ran.summary()["ignored"], json!(ignored));
    for word in ["robots", "noindex", "canonical"] {
        let times = ran
            .stderr
            .matches(&format!("warning: ignoring {word}: "))
            .count();
        assert_eq!(
            times,
            usize::from(ignored.contains(&word)),
            "{}",
            ran.stderr
        );
    }
    let ran = crawl_for_people(&Bench::new(), &site.url("/"), &options).expect_code(0);
    assert_eq!(
        ran.stdout.matches("  NOTE: ignoring ").count(),
        ignored.len(),
        "{}",
        ran.stdout
    );
}

#[test]
fn only_what_is_named_is_ignored() {
    let plain = ["", "below"];
    check_ignored(&[], &plain);
    check_ignored(&["robots"], &["", "below", "private/a"]);
    check_ignored(
        &["noindex"],
        &["", "below", "expired", "header", "hidden", "none"],
    );
    check_ignored(&["canonical"], &["", "below", "misnamed"]);
    check_ignored(
        &["robots", "noindex", "canonical"],
        &[
            "",
            "below",
            "both",
            "expired",
            "header",
            "hidden",
            "misnamed",
            "none",
            "private/a",
        ],
    );
}

#[test]
fn a_site_that_forbids_everything_is_crawled_when_that_is_ignored() {
    let answers = [
        Response::text("User-agent: *\nDisallow: /\n"),
        Response::status(503),
        Response::dropped(),
    ];
    for answer in answers {
        let robots = answer.clone();
        let site = Site::start(move |request| match request.target.as_str() {
            "/robots.txt" => robots.clone(),
            "/" => Response::linking(["/a"]),
            _ => Response::linking(["/"]),
        });
        let bench = Bench::new();
        let config =
            bench.settings("max_tries = 1\nignore = [\"robots\"]\nretry_delays = [\"1ms\"]\n");
        let ran = bench
            .crawl(&site.url("/"), &["--config", &config])
            .expect_code(0);
        assert_eq!(listed(&bench.published(), &site.url("/")), ["", "a"]);
        let is_unreadable = answer.status == 503 || answer.is_dropped;
        assert_eq!(
            ran.stderr.contains("cannot be read"),
            is_unreadable,
            "{}",
            ran.stderr
        );
        let bench = Bench::new();
        let config = bench.settings("max_tries = 1\n");
        bench
            .crawl(&site.url("/"), &["--config", &config])
            .expect_code(5);
    }
}

#[test]
fn crawl_delay_counts_when_robots_txt_is_ignored() {
    let site = Site::start(|request| match request.target.as_str() {
        "/robots.txt" => Response::text("User-agent: *\nDisallow: /\nCrawl-delay: 0.2\n"),
        _ => Response::linking(["/a", "/b"]),
    });
    Bench::new()
        .crawl(&site.url("/"), &["--ignore", "robots"])
        .expect_code(0);
    let log = site.log();
    for pair in log.windows(2) {
        let ended = pair[0].ended.expect("it was answered");
        assert!(pair[1].begun >= ended + std::time::Duration::from_millis(190));
        assert_eq!(pair[1].in_flight, 1);
    }
}

#[test]
fn what_is_known_is_judged_again_when_other_things_are_ignored() {
    let site = Site::start(|request| match request.target.as_str() {
        "/robots.txt" => Response::text("User-agent: *\nDisallow: /private\n"),
        "/" => Response::linking(["/a", "/b", "/private", "/c"]),
        "/a" => page("<meta name=robots content=noindex>", &[]),
        "/b" => page("<link rel=canonical href=\"/\">", &[]),
        _ => page("", &[]),
    });
    let bench = bench_without_rate();
    let url = site.url("/");
    let one_by_one = ["--concurrency", "1"];
    bench
        .crawl(&url, &[&["--max-pages", "3"], &one_by_one[..]].concat())
        .expect_code(3);
    assert_eq!(listed(&bench.published(), &url), [""]);
    site.clear_log();
    let all = ["--ignore", "robots", "--ignore", "noindex,canonical"];
    let ran = bench
        .crawl(&url, &[&all, &one_by_one[..]].concat())
        .expect_code(0);
    assert_eq!(
        listed(&bench.published(), &url),
        ["", "a", "b", "c", "private"]
    );
    let mut asked = site.pages();
    asked.sort();
    assert_eq!(asked, ["/", "/c", "/private"], "known facts are enough");
    assert_eq!(number(&ran.summary(), "known"), 5);
}

// ----- What newcomers are told -----

#[test]
fn a_run_that_goes_on_says_so_and_a_limit_is_named() {
    let site = small_site("");
    // Both runs with the same sources: other ones begin a new run.
    let bench = Bench::new().discovering();
    let ran = crawl_for_people(&bench, &site.url("/"), &["--max-pages", "2"]).expect_code(3);
    assert!(
        ran.stdout
            .contains("\n  max_pages = 2 was reached; the same command goes on from here\n"),
        "{}",
        ran.stdout
    );
    assert!(!ran.stderr.contains("going on with"), "{}", ran.stderr);
    let state = file(&bench);
    assert!(
        ran.stdout
            .contains(&format!("\n  state in {}\n", state.display())),
        "{}",
        ran.stdout
    );
    let ran = crawl_for_people(&bench, &site.url("/"), &[]).expect_code(0);
    assert!(
        ran.stderr
            .contains("going on with the run that was not finished: 3 URLs known, 1 waiting\n"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_crawl_delay_is_told_once() {
    let site = small_site("User-agent: *\nCrawl-delay: 0.01\n");
    for options in [&[][..], &["-v"]] {
        let ran = crawl_for_people(&Bench::new(), &site.url("/"), options).expect_code(0);
        let told = format!("{}{}", ran.stdout, ran.stderr);
        assert_eq!(told.matches("(Crawl-delay)").count(), 1, "{told}");
    }
}

#[test]
fn a_backup_is_told_in_a_sentence() {
    let site = small_site("");
    let bench = Bench::new();
    fs::create_dir_all(bench.output()).expect("created");
    let path = bench.output().join("sitemap.xml");
    fs::write(&path, "mine").expect("written");
    let ran = crawl_for_people(&bench, &site.url("/"), &[]).expect_code(4);
    assert!(
        ran.stdout
            .starts_with(&format!("{}: not published\n", site.url("/"))),
        "{}",
        ran.stdout
    );
    let ran = bench.crawl(&site.url("/"), &["--force"]).expect_code(0);
    let sentence = format!(
        "warning: {path} was not as arpent left it; what it was is kept as {path}.bak-",
        path = path.display()
    );
    assert_eq!(ran.stderr.matches(&sentence).count(), 1, "{}", ran.stderr);
    assert!(!ran.stderr.contains("WARN"), "{}", ran.stderr);
    // Now there is a set to speak of.
    fs::write(&path, "mine again").expect("written");
    let gone = Site::start(|request| match request.target.as_str() {
        "/robots.txt" => Response::text(""),
        _ => page("<meta name=robots content=noindex>", &[]),
    });
    let ran = crawl_for_people(&bench, &gone.url("/"), &[]).expect_code(4);
    assert!(
        ran.stdout
            .contains(": not published, the old sitemaps stand\n"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_url_without_a_job_is_told_which_it_could_be() {
    let check = |argument: &str, hint: Option<&str>| {
        let ran = arpent(&Bench::new(), [argument]).expect_code(2);
        let told = ran
            .stderr
            .lines()
            .last()
            .filter(|line| line.starts_with("to crawl a site: "));
        assert_eq!(told, hint, "{}", ran.stderr);
    };
    check(
        "https://www.example.com/",
        Some("to crawl a site: arpent crawl https://www.example.com/"),
    );
    check(
        "www.example.com",
        Some("to crawl a site: arpent crawl https://www.example.com"),
    );
    check("crwl", None);
    check("--rate=1.5", None);
    check("ftp://example.com/", None);
}
