//! The guard at work: nothing that it refuses sees as much as a connection.

use crate::fetch::Fetch as _;
use std::net::{IpAddr, Ipv4Addr};

use super::{HELLO, failure, get_text, server::Server, settings};
use crate::{
    config::{FetchConfig, Resolve},
    fetch::{FetchErrorKind, http::HttpFetch},
};

fn fixed(host: &str, port: u16, address: [u8; 4]) -> Resolve {
    let address = IpAddr::V4(Ipv4Addr::from(address));
    Resolve {
        host: host.to_owned(),
        port,
        address,
    }
}

/// A crawl that began on `start.example`, which has `address`.
fn begun_at(address: [u8; 4], mut others: Vec<Resolve>) -> HttpFetch {
    others.push(fixed("start.example", 80, address));
    let config = FetchConfig {
        start_host: "start.example".to_owned(),
        resolve: others,
        ..settings()
    };
    HttpFetch::new(&config).unwrap()
}

async fn check_forbidden(fetch: &HttpFetch, url: &str, expected: &str) {
    let (kind, message) = failure(fetch, url).await;
    assert_eq!(kind, FetchErrorKind::Forbidden, "{url}");
    assert_eq!(message, expected, "{url}");
}

#[tokio::test]
async fn every_spelling_of_a_loopback_address_is_refused() {
    let server = Server::always(HELLO);
    let port = server.address.port();
    let fetch = begun_at([93, 184, 216, 34], Vec::new());
    for host in [
        "127.0.0.1",
        "127.1",
        "0x7f.1",
        "2130706433",
        "0x7f000001",
        "017700000001",
        "0177.0.0.01",
        "127.0.0.1.",
        "\u{2460}\u{2461}\u{2466}.0.0.1",
        "127\u{3002}0\u{3002}0\u{3002}1",
        "%31%32%37.0.0.1",
        "user:pass@127.0.0.1",
    ] {
        let url = format!("http://{host}:{port}/");
        check_forbidden(
            &fetch,
            &url,
            "127.0.0.1 is a loopback address but the crawl began on a public site",
        )
        .await;
    }
    for (host, address, class) in [
        ("[::1]", "::1", "loopback"),
        ("[0:0:0:0:0:0:0:1]", "::1", "loopback"),
        ("[::ffff:127.0.0.1]", "::ffff:127.0.0.1", "loopback"),
        ("[::ffff:7f00:1]", "::ffff:127.0.0.1", "loopback"),
        ("[64:ff9b::7f00:1]", "64:ff9b::7f00:1", "loopback"),
        ("[::]", "::", "special-purpose"),
        ("0.0.0.0", "0.0.0.0", "special-purpose"),
        ("0", "0.0.0.0", "special-purpose"),
        ("10.0.0.5", "10.0.0.5", "private"),
        ("169.254.169.254", "169.254.169.254", "cloud metadata"),
        ("[fd00:ec2::254]", "fd00:ec2::254", "cloud metadata"),
        ("[fe80::1]", "fe80::1", "link-local"),
    ] {
        let expected =
            format!("{address} is a {class} address but the crawl began on a public site");
        check_forbidden(&fetch, &format!("http://{host}:{port}/"), &expected).await;
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn name_that_leads_inside_is_refused() {
    let server = Server::always(HELLO);
    let port = server.address.port();
    let inside = vec![
        fixed("evil.example", port, [127, 0, 0, 1]),
        fixed("intranet.example", 80, [10, 0, 0, 5]),
    ];
    let fetch = begun_at([93, 184, 216, 34], inside);
    check_forbidden(
        &fetch,
        &format!("http://evil.example:{port}/"),
        "evil.example resolves to 127.0.0.1 (loopback) but the crawl began on a public site",
    )
    .await;
    check_forbidden(
        &fetch,
        "http://intranet.example/",
        "intranet.example resolves to 10.0.0.5 (private) but the crawl began on a public site",
    )
    .await;
    let (kind, message) = failure(&fetch, &format!("http://localhost:{port}/")).await;
    assert_eq!(kind, FetchErrorKind::Forbidden, "{message}");
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn loopback_starts_open_loopback_only() {
    let server = Server::always(HELLO);
    let port = server.address.port();
    // Forbidden addresses of a name are dropped, and the others used.
    let mixed = vec![
        fixed("mixed.example", port, [10, 0, 0, 5]),
        fixed("mixed.example", port, [127, 0, 0, 1]),
    ];
    let fetch = begun_at([127, 0, 0, 1], mixed);
    let url = format!("http://mixed.example:{port}/");
    assert_eq!(get_text(&fetch, &url).await, "hello");
    assert_eq!(get_text(&fetch, &server.url("/")).await, "hello");
    let expected = "10.0.0.5 is a private address but the crawl began on a loopback site";
    check_forbidden(&fetch, "http://10.0.0.5/", expected).await;
}

#[tokio::test]
async fn without_a_start_host_public_addresses_only() {
    let server = Server::always(HELLO);
    let fetch = HttpFetch::new(&FetchConfig::default()).unwrap();
    let expected = "127.0.0.1 is a loopback address but the crawl began on a public site";
    check_forbidden(&fetch, &server.url("/"), expected).await;
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn start_host_may_be_a_literal() {
    for start_host in ["127.0.0.1", "[::1]", "::1", "localhost", "LOCALHOST"] {
        let server = Server::always(HELLO);
        let config = FetchConfig {
            start_host: start_host.to_owned(),
            ..settings()
        };
        let fetch = HttpFetch::new(&config).unwrap();
        let text = get_text(&fetch, &server.url("/")).await;
        assert_eq!(text, "hello", "{start_host}");
    }
}

#[tokio::test]
async fn start_host_that_does_not_resolve_stops_everything() {
    let server = Server::always(HELLO);
    let config = FetchConfig {
        start_host: "start.invalid".to_owned(),
        ..settings()
    };
    let fetch = HttpFetch::new(&config).unwrap();
    let (kind, message) = failure(&fetch, &server.url("/")).await;
    assert_eq!(kind, FetchErrorKind::Dns);
    assert!(
        message.starts_with("no address found for start.invalid (DNS): "),
        "{message}"
    );
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn start_hosts_stay_public_unless_allowed() {
    let server = Server::always(HELLO);
    let url = format!("http://start.example:{}/", server.address.port());
    let fetch = |address: [u8; 4], was_public, allow_private| {
        let port = server.address.port();
        let config = FetchConfig {
            start_host: "start.example".to_owned(),
            resolve: vec![fixed("start.example", port, address)],
            was_public,
            allow_private,
            ..settings()
        };
        HttpFetch::new(&config).unwrap()
    };
    for (address, class) in [
        ([127, 0, 0, 1], "loopback"),
        ([10, 0, 0, 5], "private"),
        ([169, 254, 169, 254], "cloud metadata"),
    ] {
        let (kind, message) = failure(&fetch(address, true, false), &url).await;
        assert_eq!(kind, FetchErrorKind::Forbidden);
        let expected = format!(
            "start.example was public in the last crawl and is {class} now ({}): ",
            IpAddr::from(address)
        );
        assert!(message.starts_with(&expected), "{message}");
    }
    assert_eq!(server.connections(), 0);
    // The network at the start of each crawl is passed to the next one.
    for (was_public, allow_private) in [(true, true), (false, false), (false, true)] {
        let fetch = fetch([127, 0, 0, 1], was_public, allow_private);
        assert_eq!(fetch.network(), None);
        assert_eq!(get_text(&fetch, &url).await, "hello");
        assert_eq!(fetch.network(), Some("loopback"));
    }
    // It may become public.
    for was_public in [true, false] {
        let fetch = fetch([93, 184, 216, 34], was_public, false);
        failure(&fetch, "http://127.0.0.1/").await;
        assert_eq!(fetch.network(), Some("public"));
    }
}
