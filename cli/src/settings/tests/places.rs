//! Places of sets, sites and states.

use super::*;

/// The site at the first URL of the settings.
fn first_site(settings: &Settings) -> Site {
    site_of_redirects(&settings.session.urls[0], &[], ScopeWidth::Directory).unwrap()
}

#[test]
fn public_url_must_cover_the_site() {
    fn check(site: &str, public_url: &str, is_good: bool) {
        let settings = good(&[site, "--public-url", public_url], &[], None);
        let found = settings.session.public_url_of(&first_site(&settings));
        assert_eq!(found.is_ok(), is_good, "{site} {public_url}");
    }
    check("https://h/docs/", "https://h/docs/", true);
    check("https://h/docs/", "https://h/", true);
    check("https://h/docs/", "https://h/doc", false);
    check("https://h/docs/", "https://h/docs/sitemaps/", false);
    check("https://h/docs/", "https://h/other/", false);
    // Another origin: its robots.txt proves it, as that of another host does.
    check("https://h/docs/", "http://h/", true);
    check("https://h/docs/", "https://h:8443/", true);
    check("https://h/docs/", "https://cdn.example/sitemaps/", true);
    let settings = good(&["https://h/", "--public-url", "https://h/a/"], &[], None);
    let found = settings.session.public_url_of(&first_site(&settings));
    assert_eq!(
        found.unwrap_err().to_string(),
        "--public-url: a sitemap in https://h/a/ may not list https://h/, because a sitemap lists only URLs in its own directory (R58); \
         expected https://h/, a directory above it, or another host whose sitemaps https://h/robots.txt names"
    );
    // Of a site that is written as another one, that one counts.
    for (public_url, is_good) in [
        ("https://h/app/", true),
        ("https://h/", true),
        ("https://h/maps/", false),
        ("https://other/maps/", true),
    ] {
        let site = ["http://127.0.0.1/", "--publish-as", "https://h/app/"];
        let arguments = [&site[..], &["--public-url", public_url]].concat();
        let settings = good(&arguments, &[], None);
        let written = settings.session.config.written_as.as_ref().unwrap();
        let site = first_site(&settings).standing_for(written).unwrap();
        let found = settings.session.public_url_of(&site);
        assert_eq!(found.is_ok(), is_good, "{public_url}");
    }
}

#[test]
fn each_of_several_sites_has_its_public_url() {
    fn check(urls: &[&str], public_url: &str, expected: &[&str]) {
        let settings = good(&[urls, &["--public-url", public_url]].concat(), &[], None);
        let found = settings.session.urls.iter().map(|start| {
            let site = site_of_redirects(start, &[], ScopeWidth::Directory).unwrap();
            settings.session.public_url_of(&site).unwrap().unwrap()
        });
        assert_eq!(found.collect::<Vec<_>>(), expected, "{public_url}");
    }
    let one = &["https://a.example/docs/"][..];
    let two = &["https://a.example/", "http://b.example:8080/docs/"][..];
    let maps = "https://maps.example";
    check(one, maps, &["https://maps.example/"]);
    check(
        two,
        maps,
        &[
            "https://maps.example/https_a.example/",
            "https://maps.example/http_b.example_8080_docs/",
        ],
    );
    check(
        two,
        "https://maps.example/x/{host}",
        &[
            "https://maps.example/x/a.example/",
            "https://maps.example/x/b.example/",
        ],
    );
    check(
        two,
        "https://{host}.maps.example/{site}/all/",
        &[
            "https://a.example.maps.example/https_a.example/all/",
            "https://b.example.maps.example/http_b.example_8080_docs/all/",
        ],
    );
    check(
        one,
        "https://maps.example/{host}/",
        &["https://maps.example/a.example/"],
    );
    check(
        &["http://[::1]:81/"],
        "https://maps.example/{host}/",
        &["https://maps.example/%5B::1%5D/"],
    );
}

#[test]
fn placeholders_separate_sites_of_a_host() {
    let urls = ["https://h/a/", "https://h/b/", "--public-url"];
    good(
        &[&urls[..], &["https://maps.example/{site}/"]].concat(),
        &[],
        None,
    );
    // A host that makes no URL in its place is found out when the site is known.
    let settings = good(
        &["http://[::1]/", "--public-url", "https://{host}.example/"],
        &[],
        None,
    );
    let found = settings.session.public_url_of(&first_site(&settings));
    assert_eq!(
        found.unwrap_err().to_string(),
        "--public-url: https://{host}.example/ is not a URL for http://[::1]/; use {site} in the path"
    );
}

#[test]
fn site_is_written_as_one_other_directory() {
    fn check(site: &str, publish_as: &str, scope: &str, expected: &str) {
        let arguments = [site, "--publish-as", publish_as, "--scope", scope];
        let written_as = good(&arguments, &[], None).session.config.written_as;
        assert_eq!(written_as.unwrap().as_str(), expected, "{site}");
    }
    let staging = "https://staging.example/";
    let (www, app) = ("https://www.example/", "https://www.example/app/");
    check(staging, "https://www.example", "dir", www);
    check(staging, "https://www.example/app", "dir", app);
    check(staging, app, "origin", app);
    check("https://h/staging/", "https://h/", "dir", "https://h/");
    check("https://h/stage/", app, "dir", app);
}

#[test]
fn each_of_several_sites_has_its_folder() {
    fn check(arguments: &[&str], expected: &str) {
        assert_eq!(
            good(arguments, &[], None).session.output_of("name"),
            Path::new(expected)
        );
    }
    check(&[URL], "sitemaps/name");
    check(&[URL, "--output", "out"], "out");
    check(&[URL, "https://other.example/"], "sitemaps/name");
    check(
        &[URL, "https://other.example/", "--output", "out"],
        "out/name",
    );
}

#[cfg(all(unix, not(target_os = "macos")))]
#[test]
fn default_state_is_in_the_home_directory() {
    fn check(variables: &[(&str, &str)], expected: Option<&str>) {
        let environment = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        assert_eq!(
            default_state_folder(&environment),
            expected.map(PathBuf::from)
        );
    }
    check(
        &[("HOME", "/home/me")],
        Some("/home/me/.local/state/arpent"),
    );
    check(
        &[("HOME", "/home/me"), ("XDG_STATE_HOME", "/state")],
        Some("/state/arpent"),
    );
    check(
        &[("HOME", "/home/me"), ("XDG_STATE_HOME", "relative")],
        Some("/home/me/.local/state/arpent"),
    );
    check(&[("HOME", "")], None);
    check(&[], None);
}

#[test]
fn state_is_required_without_a_home() {
    let Command::Crawl(args) = Args::try_parse_from(["arpent", "crawl", URL])
        .unwrap()
        .command
    else {
        panic!("`arpent crawl` was typed");
    };
    let error = CrawlSettings::load(Purpose::Crawl, args.typed(), &Environment::new(), |_| {
        Ok(String::new().into())
    })
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "state: there is no home directory for the state; expected --state DIR"
    );
}
