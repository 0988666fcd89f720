//! Tests of the site of a start URL, and of its name.

use super::*;
use crate::url_key::Identity;

fn key(text: &str) -> UrlKey {
    Identity::default().parse(text).unwrap()
}

fn keys(texts: &[&str]) -> Vec<UrlKey> {
    texts.iter().map(|text| key(text)).collect()
}

#[track_caller]
fn check(typed: &str, hops: &[&str], expected: &str) -> Site {
    let site = site_of_redirects(&key(typed), &keys(hops), ScopeWidth::Directory).unwrap();
    assert_eq!(format!("{}{}", site.origin, site.directory), expected);
    assert_eq!(site.start, key(hops.last().unwrap_or(&typed)));
    site
}

#[track_caller]
fn check_problem(typed: &str, hops: &[&str], expected: &str) {
    let problem = site_of_redirects(&key(typed), &keys(hops), ScopeWidth::Directory).unwrap_err();
    assert!(problem.to_string().contains(expected), "{problem}");
}

#[test]
fn the_directory_is_of_the_typed_url() {
    check("https://h/", &[], "https://h/");
    check("https://h/docs", &[], "https://h/");
    check("https://h/docs/", &[], "https://h/docs/");
    check("https://h/docs/index.html?a/b", &[], "https://h/docs/");
    check("https://h/docs/v2/", &[], "https://h/docs/v2/");
    check("https://h/", &["https://h/en/"], "https://h/");
    check(
        "https://h/docs/",
        &["https://h/docs/en/"],
        "https://h/docs/",
    );
    check("https://h/docs", &["https://h/en/docs"], "https://h/");
}

#[test]
fn a_redirect_may_add_a_slash() {
    check("https://h/docs", &["https://h/docs/"], "https://h/docs/");
    check(
        "https://h/docs?a=1",
        &["https://h/docs/?a=1"],
        "https://h/docs/",
    );
    check(
        "https://h/docs",
        &["https://h/docs/", "https://h/docs/en/"],
        "https://h/docs/",
    );
    check(
        "http://h/docs",
        &["https://h/docs", "https://www.h/docs/"],
        "https://www.h/docs/",
    );
    check("https://h/", &["https://h//"], "https://h/");
}

#[test]
fn https_and_www_may_change() {
    check("http://h/", &["https://h/"], "https://h/");
    check("http://h:8080/", &["https://h:8443/"], "https://h:8443/");
    check("http://h/", &["http://www.h/"], "http://www.h/");
    check("https://www.h/", &["https://h/"], "https://h/");
    check(
        "http://h/",
        &["https://h/", "https://www.h/"],
        "https://www.h/",
    );
    check(
        "https://h/",
        &["http://www.h/", "https://www.h/"],
        "https://www.h/",
    );
    check("http://h/a/", &["https://www.h/a/b/"], "https://www.h/a/");
}

#[test]
fn other_moves_stop_with_advice() {
    check_problem(
        "https://h/",
        &["https://other/"],
        "https://h/ redirects to another host: https://other/; start the crawl there",
    );
    check_problem(
        "https://h/",
        &["https://login.h/", "https://h/"],
        "another host: https://login.h/",
    );
    check_problem("https://h/", &["https://wwwh/"], "another host");
    check_problem("https://www.www.h/", &["https://h/"], "another host");
    check_problem("https://h/", &["http://h/"], "from https to http://h/");
    check_problem(
        "http://h/",
        &["http://h:8080/"],
        "another port: http://h:8080/",
    );
    check_problem(
        "https://h/docs/",
        &["https://h/"],
        "out of its own directory to https://h/",
    );
    check_problem("https://h/docs/", &["https://h/docs"], "widen the scope");
    check_problem(
        "https://h/docs/",
        &["https://www.h/login"],
        "out of its own directory",
    );
}

#[test]
fn the_whole_origin_has_no_directory_to_leave() {
    let site = site_of_redirects(
        &key("https://h/docs/"),
        &keys(&["https://h/login"]),
        ScopeWidth::Origin,
    )
    .unwrap();
    assert_eq!(site.directory, "/");
    assert!(site.contains(&key("https://h/")));
}

/// The name of the site of a start URL.
fn name(start: &str) -> String {
    let site = site_of_redirects(&key(start), &[], ScopeWidth::Directory);
    site.unwrap().name()
}

#[test]
fn names_are_safe_on_every_disk() {
    let check = |start: &str, expected: &str| assert_eq!(name(start), expected);
    check("https://www.example.com/", "https_www.example.com");
    check(
        "https://www.example.com/docs/",
        "https_www.example.com_docs",
    );
    check("http://example.com:8080/", "http_example.com_8080");
    check(
        "http://example.com:8080/docs/v2/",
        "http_example.com_8080_docs+v2",
    );
    check("https://h/jdk/java.base/", "https_h_jdk+java.base");
    check("https://h/3.12/en_us/", "https_h_3.12+en_us");
    check("https://h/Docs/a.b/~x/", "https_h_=44ocs+a.b+=7ex");
    check("https://h/caf\u{e9}/", "https_h_caf=c3=a9");
    check("https://h/a%2Bb/", "https_h_a=252=42b");
    check("https://h//docs/", "https_h_+docs");
    check("https://bücher.de/", "https_xn--bcher-kva.de");
    check("http://my_host/", "http_my=5fhost");
    check("http://[::1]:81/", "http_=5b=3a=3a1=5d_81");
    check("http://127.0.0.1:8000/", "http_127.0.0.1_8000");
    // A scope that looks like a port.
    check("http://h/8080/", "http_h_80_8080");
    check("http://h/8080a/", "http_h_8080a");
    for (scope, port) in [
        ("http://h/8080/", "http://h:8080/"),
        ("https://h/2024/", "https://h:2024/"),
        ("http://h/5f/", "http://h_/"),
        ("http://h/8080_a/", "http://h:8080/a/"),
    ] {
        assert_ne!(name(scope), name(port));
    }
}

proptest::proptest! {
    #[test]
    fn different_sites_have_different_names(
        one in "https?://h(_|5f)?(:80|:8080)?/([aA0-9._+=~%/-]|%C3|%2B|8080_){0,8}/",
        other in "https?://h(_|5f)?(:80|:8080)?/([aA0-9._+=~%/-]|%C3|%2B|8080_){0,8}/",
    ) {
        let site = |start: &str| {
            let start = Identity::default().parse(start).ok()?;
            site_of_redirects(&start, &[], ScopeWidth::Directory).ok()
        };
        if let (Some(one), Some(other)) = (site(&one), site(&other)) {
            let names = [one.name().to_lowercase(), other.name().to_lowercase()];
            proptest::prop_assert_eq!(one.url() == other.url(), names[0] == names[1]);
        }
    }
}

#[test]
fn long_names_are_cut_and_stay_different() {
    let name = |segment: &str| name(&format!("https://h/{}/{segment}/", "long/".repeat(40)));
    assert_eq!(name("a").len(), CUT_NAME_BYTES + "=x".len() + 16);
    assert_eq!(name("a"), name("a"));
    assert_ne!(name("a"), name("b"));
}
