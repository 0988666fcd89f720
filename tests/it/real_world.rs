//! The documentation packages of Debian as web sites, served by nginx: pages that other people wrote with
//! other tools, larger and older than any page that is written for a test.
//!
//! For every site the published set must be the oracle's, date by date, and valid by the official schemas (see [`Published`]).
//! The tests need nginx, xmllint, the packages, and the schemas in the folder `ARPENT_SHARED`; they are
//! skipped where one of these is missing. Numbers of pages belong to the versions in Debian 12.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
    time::{Duration, Instant},
};

use crawler::testing::{is_full, is_in_sample, sample};
use jiff::Timestamp;
use serde_json::Value;

use crate::support::{
    self,
    authority::{Authority, Validity},
    nginx::{Line, Nginx, Place},
    oracle,
    program::{Bench, CLOSES_PATTERNS, Ran},
    published::Published,
};

/// The pages of one package as a site.
struct Documentation {
    package: &'static str,
    root: &'static str,
    start: &'static str,
}

/// One flat directory of 1,169 pages (version 15.20), made by the `DocBook` stylesheets.
const POSTGRESQL: Documentation = Documentation {
    package: "postgresql-doc-15",
    root: "/usr/share/doc/postgresql-doc-15/html",
    start: "/",
};

/// Made by Sphinx: canonical links to `file:` URLs, pages of megabytes, sources and downloads beside the pages.
const PYTHON: Documentation = Documentation {
    package: "python3.11-doc",
    root: "/usr/share/doc/python3.11/html",
    start: "/",
};

/// Written by hand, with meta refreshes; one directory of a larger site.
const SQLITE: Documentation = Documentation {
    package: "sqlite3-doc",
    root: "/usr/share/doc",
    start: "/sqlite3/",
};

/// The same manual in twelve languages, in several charsets, linked with each other.
const APACHE: Documentation = Documentation {
    package: "apache2-doc",
    root: "/usr/share/doc/apache2-doc",
    start: "/manual/",
};

/// A wiki: `noindex` pages, meta refreshes, links to pages that do not exist, escapes in names.
const IKIWIKI: Documentation = Documentation {
    package: "ikiwiki",
    root: "/usr/share/doc/ikiwiki/html",
    start: "/",
};

/// What must be listed: paths with their dates.
type Listed = BTreeMap<String, Option<String>>;

impl Documentation {
    /// Returns whether everything is there that this site needs; prints what is missing.
    fn is_served(&self) -> bool {
        if !support::has_program("nginx") || !support::has_program("xmllint") {
            return false;
        }
        if !self.folder().join("index.html").is_file() {
            support::skip(&format!("{} is not installed", self.package));
            return false;
        }
        support::shared().is_some()
    }

    fn folder(&self) -> PathBuf {
        Path::new(self.root).join(self.start.trim_start_matches('/'))
    }

    fn serve(&self) -> Nginx {
        Nginx::serving(Path::new(self.root))
    }
}

/// The oracle's answer about a site, as paths; and how many URLs of the site there are.
fn ask_oracle(nginx: &Nginx, site: &Documentation) -> (Listed, usize) {
    let found = oracle::crawl(&nginx.url(site.start));
    let known = found.listed.len() + found.others.len();
    let date = |value: String| {
        let time = httpdate::parse_http_date(&value).expect("nginx sends HTTP dates");
        Timestamp::try_from(time)
            .expect("a date of our age")
            .to_string()
    };
    let listed = found
        .listed
        .into_iter()
        .map(|(url, value)| (path_of(&url, &nginx.origin()), value.map(date)))
        .collect();
    drop(nginx.new_lines());
    (listed, known)
}

fn path_of(url: &str, origin: &str) -> String {
    let path = url.strip_prefix(origin);
    path.unwrap_or_else(|| panic!("{url} is not on {origin}"))
        .to_owned()
}

/// Fails with the missing URLs, the additional ones, and those with another date.
#[track_caller]
fn check_listed(published: &Published, origin: &str, expected: &Listed) {
    let found: Listed = published
        .entries()
        .into_iter()
        .map(|(url, lastmod)| (path_of(&url, origin), lastmod))
        .collect();
    let paths: BTreeSet<&String> = found.keys().chain(expected.keys()).collect();
    let differences: Vec<String> = paths
        .into_iter()
        .filter(|path| found.get(*path) != expected.get(*path))
        .map(|path| {
            format!(
                "{path}: published {:?}, oracle {:?}",
                found.get(path),
                expected.get(path)
            )
        })
        .collect();
    assert!(
        differences.is_empty(),
        "{} differ:\n{}",
        differences.len(),
        differences.join("\n")
    );
}

/// Fails when the index does not name the parts by their URLs below `base`. Each file is valid: it was checked when it was read.
#[track_caller]
fn check_index(published: &Published, base: &str) {
    let named: BTreeSet<&str> = published.files["sitemap.xml"]
        .entries
        .iter()
        .map(|(loc, _)| loc.strip_prefix(base).unwrap_or(loc))
        .collect();
    assert_eq!(named, published.parts().into_keys().collect());
}

/// Checks the numbers of the summary.
#[track_caller]
fn check_summary(summary: &Value, listed: usize, known: usize) {
    let number = |value: &Value| value.as_u64().expect("a number");
    let excluded = summary["excluded"]
        .as_object()
        .expect("a table")
        .values()
        .map(number)
        .sum::<u64>();
    assert_eq!(summary["listed"], listed, "{summary}");
    assert_eq!(summary["known"], known, "{summary}");
    assert_eq!(summary["failed"], 0, "{summary}");
    assert_eq!(summary["queued"], 0, "{summary}");
    assert_eq!(
        usize::try_from(excluded).ok(),
        Some(known - listed),
        "{summary}"
    );
}

/// Checks the requests that nginx got: robots.txt first, then every URL once, over few connections.
#[track_caller]
fn check_requests(lines: &[Line], known: usize, concurrency: usize) {
    let (robots, pages) = lines.split_first().expect("there was a request");
    assert_eq!(robots.target, "/robots.txt");
    let targets: BTreeSet<&str> = pages.iter().map(|line| line.target.as_str()).collect();
    assert_eq!(targets.len(), pages.len(), "something was asked for twice");
    assert_eq!(pages.len(), known);
    let connections = lines.iter().filter(|line| line.on_connection == 1).count();
    // A connection may come too late for the request it was opened for, often on a busy machine, and nginx ends each after 1,000
    // requests; a body that is not read ends one, too.
    let enough = 2 * concurrency + known / 10;
    assert!(
        connections <= enough,
        "{connections} connections, {enough} are enough"
    );
}

/// Crawls a site at full speed, once with each list of options, and compares everything.
#[track_caller]
fn check(site: &Documentation, at_least: usize, variants: &[&[&str]]) {
    if !site.is_served() {
        return;
    }
    let nginx = site.serve();
    let start = nginx.url(site.start);
    let (expected, known) = ask_oracle(&nginx, site);
    let pages = expected.len();
    assert!(pages >= at_least, "only {pages} pages of {}", site.package);
    for options in variants {
        let bench = Bench::new();
        let ran = bench.crawl(&start, options).expect_code(0);
        let published = bench.published();
        check_listed(&published, &nginx.origin(), &expected);
        check_index(&published, &start);
        check_summary(&ran.summary(), pages, known);
        check_requests(&nginx.new_lines(), known, 32);
    }
}

#[test]
fn python_manual() {
    check(&PYTHON, 500, &[&[]]);
}

#[test]
fn sqlite_manual() {
    check(&SQLITE, 700, &[&[]]);
}

#[test]
fn apache_manual() {
    let plain_files_in_their_directories = ["--layout", "in-place", "--no-gzip"];
    let variants: [&[&str]; 2] = [&[], &plain_files_in_their_directories];
    let taken: Vec<_> = sample(variants, 2).collect();
    check(&APACHE, 2_000, &taken);
}

#[test]
fn wiki() {
    check(&IKIWIKI, 300, &[&[]]);
}

/// Sites with the rules for parts without end, in a sample: one in so many.
const OF_SITES: usize = 5;

/// Whole sites are listed whole, also below a directory of a directory, and the next crawl lists the same.
#[test]
fn a_manual_is_listed_whole_with_all_rules() {
    let sites = [POSTGRESQL, PYTHON, SQLITE, APACHE, IKIWIKI];
    let places = ["", "/software/docs/manuals"];
    let cases = sites
        .iter()
        .flat_map(|site| places.map(|place| (site, place)));
    for (number, (site, place)) in cases.enumerate() {
        if !is_in_sample(number, OF_SITES) {
            continue;
        }
        if !site.is_served() {
            return;
        }
        let nginx = Nginx::start(|free| {
            format!(
                "server {{ listen 127.0.0.1:{}; location {place}/ {{ alias \"{}/\"; index index.html; }} }}\n",
                free.http, site.root
            )
        });
        let start = nginx.url(&format!("{place}{}", site.start));
        let expected: BTreeSet<String> = oracle::crawl(&start).listed.into_keys().collect();
        assert!(expected.len() > 300, "{} at {start}", site.package);
        for connections in ["1", "16"] {
            let bench = Bench::with_options(["--rate", "unlimited", "--concurrency", connections]);
            for _ in 0..2 {
                let mut command = bench.command(&start, &[]);
                command.env_remove(CLOSES_PATTERNS);
                let ran = Ran::of(command).expect_code(0);
                let listed: BTreeSet<String> = bench.published().entries().into_keys().collect();
                let missing: Vec<_> = expected.difference(&listed).take(10).collect();
                assert_eq!(missing, [""; 0], "{} at {start}", site.package);
                assert_eq!(listed.len(), expected.len(), "{}", ran.stderr);
            }
        }
    }
}

/// The result of the oracle for [`POSTGRESQL`], which several tests crawl.
static MANUAL: LazyLock<(Listed, usize)> =
    LazyLock::new(|| ask_oracle(&POSTGRESQL.serve(), &POSTGRESQL));

#[test]
fn postgresql_manual_and_again_without_rewriting_a_byte() {
    if !POSTGRESQL.is_served() {
        return;
    }
    let (expected, known) = &*MANUAL;
    let nginx = POSTGRESQL.serve();
    check_every_page_is_expected(expected);
    let bench = Bench::new();
    let start = nginx.url("/");
    let ran = bench.crawl(&start, &[]).expect_code(0);
    let first = bench.published();
    check_listed(&first, &nginx.origin(), expected);
    check_index(&first, &start);
    check_summary(&ran.summary(), expected.len(), *known);
    check_requests(&nginx.new_lines(), *known, 32);

    let ran = bench.crawl(&start, &[]).expect_code(0);
    let second = bench.published();
    assert_eq!(first.differences(&second), Vec::<String>::new());
    let summary = ran.summary();
    assert_eq!(summary["outcome"], "unchanged", "{summary}");
    check_summary(&summary, expected.len(), *known);
    check_requests(&nginx.new_lines(), *known, 32);
}

/// Every page of this manual is linked: the oracle is checked by the files themselves.
#[track_caller]
fn check_every_page_is_expected(expected: &Listed) {
    let files = fs::read_dir(POSTGRESQL.root).expect("the manual can be read");
    let pages = files
        .map(|file| PathBuf::from(file.expect("a file").file_name()))
        .filter(|name| {
            name.extension()
                .is_some_and(|extension| extension == "html")
                && name != Path::new("index.html")
        })
        .map(|name| format!("/{}", name.display()));
    let pages: BTreeSet<String> = pages.chain(["/".to_owned()]).collect();
    let expected: BTreeSet<String> = expected.keys().cloned().collect();
    assert_eq!(expected, pages);
    assert!(expected.len() > 1_100, "only {} pages", expected.len());
}

#[test]
fn postgresql_manual_at_the_default_pace() {
    /// The defaults: requests in flight, and requests in any ten seconds.
    const IN_FLIGHT: usize = 4;
    const IN_TEN_SECONDS: usize = 101;
    if !POSTGRESQL.is_served() {
        return;
    }
    let (expected, known) = &*MANUAL;
    let nginx = POSTGRESQL.serve();
    let bench = Bench::with_options([]);
    let began = Instant::now();
    let start = nginx.url("/");
    // The whole manual takes two minutes, twice.
    let options: &[&str] = if is_full() {
        &[]
    } else {
        &["--max-pages", "100"]
    };
    let ran = bench.crawl(&start, options);
    let took = began.elapsed();
    let lines = nginx.new_lines();
    if is_full() {
        let summary = ran.expect_code(0).summary();
        check_listed(&bench.published(), &nginx.origin(), expected);
        check_index(&bench.published(), &start);
        check_summary(&summary, expected.len(), *known);
        check_requests(&lines, *known, IN_FLIGHT);
    } else {
        ran.expect_code(3);
        check_requests(&lines, 100, IN_FLIGHT);
    }
    let spaces = u32::try_from(lines.len() - 1).expect("some thousand");
    assert!(took >= Duration::from_millis(100) * spaces, "{took:?}");
    // A request that ends in these ten seconds began in them, or was in flight when they began.
    let ends: Vec<u64> = lines.iter().map(|line| line.ended_milliseconds).collect();
    for (position, begin) in ends.iter().enumerate() {
        let count = ends[position..]
            .iter()
            .take_while(|end| **end < begin + 10_000)
            .count();
        assert!(
            count <= IN_TEN_SECONDS + IN_FLIGHT,
            "{count} requests in ten seconds"
        );
    }

    if is_full() {
        let before = bench.published();
        bench.crawl(&start, &[]).expect_code(0);
        assert_eq!(bench.published().differences(&before), [""; 0]);
    }
}

/// The name of the site over TLS, and the one that redirects to it.
const NAME: &str = "www.manual.test";
const APEX: &str = "manual.test";

/// The manual over TLS and HTTP/2, compressed; http and the apex redirect there.
fn serve_tls(authority: &Authority, names: &[&str], validity: Validity) -> Nginx {
    Nginx::start(|place| {
        let issued = authority.issue(names, validity);
        let certificate = place.write("certificate.pem", &issued.certificate);
        let key = place.write("key.pem", &issued.key);
        let Place { http, https, .. } = place;
        format!(
            "ssl_certificate \"{}\"; ssl_certificate_key \"{}\"; gzip on;\n\
            server {{ listen 127.0.0.1:{https} ssl http2; server_name {NAME}; root \"{}\"; }}\n\
            server {{ listen 127.0.0.1:{https} ssl http2; server_name {APEX}; return 301 https://{NAME}:{https}$request_uri; }}\n\
            server {{ listen 127.0.0.1:{http}; return 301 https://$host:{https}$request_uri; }}\n",
            certificate.display(),
            key.display(),
            POSTGRESQL.root,
        )
    })
}

/// Crawls from `start`, with both names led to nginx; `trusted` is trusted besides the system's authorities.
fn crawl_tls(bench: &Bench, nginx: &Nginx, start: &str, trusted: &Authority) -> Ran {
    fs::write(bench.path().join("authority.pem"), trusted.pem()).expect("written");
    let mut options = ["--ca-file", "authority.pem"].map(str::to_owned).to_vec();
    for name in [NAME, APEX] {
        for port in [nginx.place().http, nginx.place().https] {
            options.extend(["--resolve".to_owned(), format!("{name}:{port}:127.0.0.1")]);
        }
    }
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    bench.crawl(start, &options)
}

/// Crawls the manual over TLS from the URL that `start` makes; returns the requests that nginx got, each as
/// its authority and target, and the printed text.
#[track_caller]
fn check_tls(start: impl Fn(&Place) -> String) -> (Nginx, Vec<String>, Ran) {
    let (expected, known) = &*MANUAL;
    let authority = Authority::new();
    let nginx = serve_tls(&authority, &[NAME, APEX], Validity::Current);
    let bench = Bench::new();
    let ran = crawl_tls(&bench, &nginx, &start(nginx.place()), &authority).expect_code(0);
    let site = format!("{NAME}:{}", nginx.place().https);
    check_listed(&bench.published(), &format!("https://{site}"), expected);
    check_index(&bench.published(), &format!("https://{site}/"));
    check_summary(&ran.summary(), expected.len(), *known);

    let lines = nginx.new_lines();
    let pages: Vec<&Line> = lines.iter().filter(|line| line.status == 200).collect();
    assert_eq!(pages.len(), *known);
    for page in pages {
        assert_eq!(page.authority, site, "{page:?}");
        assert_eq!(page.protocol, "HTTP/2.0", "{page:?}");
        assert_eq!(page.encoding.as_deref(), Some("gzip"), "{page:?}");
    }
    let requests = lines
        .iter()
        .map(|line| format!("{} {}", line.authority, line.target))
        .collect();

    let before = bench.published();
    crawl_tls(&bench, &nginx, &start(nginx.place()), &authority).expect_code(0);
    assert_eq!(bench.published().differences(&before), [""; 0]);
    (nginx, requests, ran)
}

#[test]
fn http2_and_gzip_with_a_private_authority() {
    if !POSTGRESQL.is_served() {
        return;
    }
    let (nginx, requests, _) = check_tls(|place| format!("https://{NAME}:{}/", place.https));
    let site = format!("{NAME}:{}", nginx.place().https);
    assert_eq!(
        requests[..2],
        [format!("{site} /robots.txt"), format!("{site} /")]
    );
    assert_eq!(requests.len(), MANUAL.1 + 1, "every URL once");
}

#[test]
fn start_urls_redirect_to_https_and_www() {
    if !POSTGRESQL.is_served() {
        return;
    }
    for (scheme, name) in [("http", NAME), ("https", APEX)] {
        let port = |place: &Place| match scheme {
            "http" => place.http,
            _ => place.https,
        };
        let typed = |place: &Place| format!("{name}:{}", port(place));
        let (nginx, requests, ran) = check_tls(|place| format!("{scheme}://{}/", typed(place)));
        let typed = typed(nginx.place());
        let site = format!("{NAME}:{}", nginx.place().https);
        let expected = [
            // robots.txt redirects as well; its rules are those of the typed site (RFC 9309 section 2.3.1.2).
            format!("{typed} /robots.txt"),
            format!("{site} /robots.txt"),
            format!("{typed} /"),
            format!("{site} /robots.txt"),
            format!("{site} /"),
        ];
        assert_eq!(requests[..5], expected);
        let report = format!("{scheme}://{typed} redirects to https://{site}, so arpent crawls ");
        assert!(ran.stderr.contains(&report), "{}", ran.stderr);
    }
}

/// Certificates that must not be accepted: exit code 5, the reason, no request, nothing published.
#[test]
fn wrong_certificates_are_refused() {
    if !POSTGRESQL.is_served() {
        return;
    }
    for (name, validity, reason) in [
        (
            NAME,
            Validity::Expired,
            "certificate of www.manual.test expired on 2020-01-01",
        ),
        (
            APEX,
            Validity::Current,
            "certificate is for manual.test, not for www.manual.test",
        ),
    ] {
        let authority = Authority::new();
        let nginx = serve_tls(&authority, &[name], validity);
        let bench = Bench::new();
        let start = format!("https://{NAME}:{}/", nginx.place().https);
        let ran = crawl_tls(&bench, &nginx, &start, &authority).expect_code(5);
        assert!(ran.stderr.contains(reason), "{}", ran.stderr);
        assert!(bench.published().files.is_empty());
        assert!(nginx.new_lines().is_empty());
    }
}
