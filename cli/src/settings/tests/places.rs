//! Places of sets, sites and states.

use super::*;

#[test]
fn the_public_url_must_cover_the_site_on_its_own_host() {
    fn check(site: &str, public_url: &str, fits: bool) {
        let settings = good(&[site, "--public-url", public_url], &[], None);
        let start = settings.urls[0].clone();
        let site = site_of_redirects(&start, &[], ScopeWidth::Directory).unwrap();
        assert_eq!(
            settings.public_url_of(&site).is_ok(),
            fits,
            "{site:?} {public_url}"
        );
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
    let site = site_of_redirects(&settings.urls[0], &[], ScopeWidth::Directory).unwrap();
    assert_eq!(
        settings.public_url_of(&site).unwrap_err().to_string(),
        "--public-url: a sitemap in https://h/a/ may not list https://h/, because a sitemap lists only URLs in its own directory (R58); \
         expected https://h/, a directory above it, or another host whose sitemaps https://h/robots.txt names"
    );
}

#[test]
fn each_of_several_sites_has_its_public_url() {
    fn check(urls: &[&str], public_url: &str, expected: &[&str]) {
        let settings = good(&[urls, &["--public-url", public_url]].concat(), &[], None);
        let found = settings.urls.iter().map(|start| {
            let site = site_of_redirects(start, &[], ScopeWidth::Directory).unwrap();
            settings.public_url_of(&site).unwrap().unwrap()
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
fn two_sites_of_a_host_cannot_share_a_public_url() {
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
    let site = site_of_redirects(&settings.urls[0], &[], ScopeWidth::Directory).unwrap();
    assert_eq!(
        settings.public_url_of(&site).unwrap_err().to_string(),
        "--public-url: https://{host}.example/ is not a URL for http://[::1]/; use {site} in the path"
    );
}

#[test]
fn a_site_is_written_as_one_other_directory() {
    fn check(arguments: &[&str], expected: Result<&str, &str>) {
        let found = load(arguments, &[], None);
        let found = found
            .map(|settings| settings.session.config.written_as.unwrap().to_string())
            .map_err(|error| error.to_string());
        assert_eq!(
            found.as_deref(),
            expected.map_err(str::to_owned).as_ref().copied()
        );
    }
    let staging = "https://staging.example/";
    check(
        &[staging, "--publish-as", "https://www.example"],
        Ok("https://www.example/"),
    );
    check(
        &[staging, "--publish-as", "https://www.example/app"],
        Ok("https://www.example/app/"),
    );
    check(
        &["https://h/staging/", "--publish-as", "https://h/"],
        Ok("https://h/"),
    );
    check(
        &[staging, "--publish-as", "www.example"],
        Err(
            "--publish-as: expected the http or https URL of a directory, without query and user name, found \"www.example\"",
        ),
    );
    check(
        &[staging, "--publish-as", "https://staging.example/app/"],
        Err(
            "--publish-as: https://staging.example/app/ is https://staging.example/, which is crawled, or a directory in it: \
             the URLs of the two could not be distinguished",
        ),
    );
    let within = "https://h/stage/";
    check(
        &[within, "--publish-as", "https://www.example/app/"],
        Ok("https://www.example/app/"),
    );
    check(
        &[
            staging,
            "--publish-as",
            "https://h/app/",
            "--scope",
            "origin",
        ],
        Ok("https://h/app/"),
    );
    // It is unclear which of the two directories is written as the other.
    check(
        &[
            within,
            "--publish-as",
            "https://www.example/app/",
            "--scope",
            "origin",
        ],
        Err(
            "--publish-as: the directory of the start URL, https://h/stage/, is written as https://www.example/app/, but the scope \
             is all of https://h/; set scope to \"dir\", or start at https://h/ and set publish_as to the directory that https://h/ is written as",
        ),
    );
    check(
        &[
            staging,
            "https://other.example/",
            "--publish-as",
            "https://www.example/",
        ],
        Err(
            "--publish-as: several sites cannot be written as the same directory; write publish_as into the table [[site]] of one site",
        ),
    );
}

#[test]
fn the_public_url_is_about_what_the_site_is_written_as() {
    fn check(public_url: &str, fits: bool) {
        let arguments = [
            "http://127.0.0.1/",
            "--publish-as",
            "https://h/app/",
            "--public-url",
            public_url,
        ];
        let settings = good(&arguments, &[], None);
        let site = site_of_redirects(&settings.urls[0], &[], ScopeWidth::Directory).unwrap();
        let site = site
            .standing_for(settings.config.written_as.as_ref().unwrap())
            .unwrap();
        assert_eq!(settings.public_url_of(&site).is_ok(), fits, "{public_url}");
    }
    check("https://h/app/", true);
    check("https://h/", true);
    check("https://h/maps/", false);
    check("https://other/maps/", true);
}

#[test]
fn each_of_several_sites_has_its_folder() {
    fn check(arguments: &[&str], expected: &str) {
        assert_eq!(
            good(arguments, &[], None).output_of("name"),
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
fn the_state_has_its_place_in_the_home_directory() {
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
fn without_a_home_directory_the_state_must_be_named() {
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
