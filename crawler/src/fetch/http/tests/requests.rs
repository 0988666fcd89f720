//! Requests as sent, and ordinary answers.

use super::{Collector, HELLO, failure, get, get_text, key, server::Server, settings};
use crate::{
    config::{Credentials, FetchConfig, Secret},
    fetch::{
        BodySink, BodyWish, Fetch as _, FetchErrorKind, Request, ResponseHead, Validators,
        http::HttpFetch,
    },
    page::BodyEnd,
    url_key::Origin,
};

fn origin_of(server: &Server) -> Origin {
    key(&server.url("/")).origin()
}

fn with_secrets(origins: Vec<Origin>) -> FetchConfig {
    FetchConfig {
        headers: vec![
            ("X-Token".to_owned(), Secret::new("sesame")),
            ("accept-language".to_owned(), Secret::new("de")),
        ],
        credentials: Some(Credentials::Basic {
            user: "aladdin".to_owned(),
            password: Secret::new("opensesame"),
        }),
        credential_origins: origins,
        ..settings()
    }
}

#[tokio::test]
async fn request_carries_our_headers_and_no_others() {
    let server = Server::always(HELLO);
    let fetch = HttpFetch::new(&settings()).unwrap();
    get_text(&fetch, &server.url("/a/b?c=%2Fd")).await;
    let expected = format!(
        "get /a/b?c=%2fd http/1.1\r\n\
         accept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.1\r\n\
         accept-encoding: gzip, br, zstd, deflate\r\n\
         user-agent: arpent/{}\r\n\
         host: {}\r\n\r\n",
        env!("CARGO_PKG_VERSION"),
        server.address
    );
    assert_eq!(server.requests(), [expected]);
}

/// Takes documents, of which there may be several forms under one URL.
struct Documents;

impl BodySink for Documents {
    fn accepted_types(&self) -> &'static str {
        "application/xml,*/*;q=0.1"
    }

    fn head(&mut self, _head: &ResponseHead) -> BodyWish {
        BodyWish::Stop
    }

    fn chunk(&mut self, _bytes: &[u8]) -> BodyWish {
        BodyWish::Stop
    }
}

#[tokio::test]
async fn the_receiver_decides_the_requested_types() {
    let server = Server::always(HELLO);
    let fetch = HttpFetch::new(&settings()).unwrap();
    let request = Request::get(&key(&server.url("/")), 1_000);
    fetch.fetch(&request, &mut Documents).await.unwrap();
    let sent = server.requests().remove(0);
    assert!(
        sent.contains("accept: application/xml,*/*;q=0.1\r\n"),
        "{sent}"
    );
}

#[tokio::test]
async fn validators_are_sent_in_their_forms() {
    let not_modified = "HTTP/1.1 304 Not Modified\r\nETag: \"2\"\r\n\r\n";
    let server = Server::always(not_modified);
    let fetch = HttpFetch::new(&settings()).unwrap();
    let request = Request {
        validators: Some(Validators {
            etag: Some("W/\"a, b\"".to_owned()),
            last_modified: Some("2026-03-01T09:08:07.5Z".parse().unwrap()),
        }),
        ..Request::get(&key(&server.url("/")), 1_000)
    };
    let fetched = fetch.fetch(&request, &mut Collector::new()).await.unwrap();
    assert_eq!((fetched.head.status, fetched.wire_bytes), (304, 0));
    let sent = server.requests().remove(0);
    assert!(sent.contains("if-none-match: w/\"a, b\"\r\n"), "{sent}");
    let since = "if-modified-since: sun, 01 mar 2026 09:08:07 gmt\r\n";
    assert!(sent.contains(since), "{sent}");
}

#[tokio::test]
async fn heads_keep_repeated_lines_and_lower_case_names() {
    let server = Server::always(
        "HTTP/1.1 404 Gone fishing\r\nX-Robots-Tag: noindex\r\nLINK: <a>\r\nx-robots-tag: nofollow\r\n\
         X-Latin: caf\u{e9}\r\nContent-Length: 4\r\n\r\nnope",
    );
    let fetch = HttpFetch::new(&settings()).unwrap();
    let head = get(&fetch, &server.url("/")).await.unwrap().fetched.head;
    assert_eq!(head.status, 404);
    let robots: Vec<&[u8]> = head.headers.all("x-robots-tag").collect();
    assert_eq!(robots, [&b"noindex"[..], b"nofollow"]);
    assert_eq!(head.headers.text("link"), Some("<a>"));
    assert_eq!(head.headers.text("x-latin"), Some("caf\u{e9}"));
}

#[tokio::test]
async fn redirect_targets_are_not_contacted() {
    let target = Server::always(HELLO);
    let answer = format!(
        "HTTP/1.1 301 Moved Permanently\r\nLocation: {}\r\nRefresh: 0; url={}\r\n\
         Alt-Svc: http/1.1=\"{}\"\r\nContent-Length: 0\r\n\r\n",
        target.url("/"),
        target.url("/"),
        target.address,
    );
    let server = Server::always(answer);
    let fetch = HttpFetch::new(&settings()).unwrap();
    for _ in 0..2 {
        let answer = get(&fetch, &server.url("/")).await.unwrap();
        assert_eq!(answer.fetched.head.status, 301);
        assert_eq!(
            answer.fetched.head.headers.text("location"),
            Some(&*target.url("/"))
        );
        assert_eq!(answer.fetched.end, BodyEnd::Complete);
    }
    assert_eq!(target.connections(), 0);
}

#[tokio::test]
async fn requests_share_no_state() {
    let server = Server::always(
        "HTTP/1.1 200 OK\r\nSet-Cookie: id=1; Path=/\r\nStrict-Transport-Security: max-age=99999\r\n\
         Content-Length: 0\r\n\r\n",
    );
    let fetch = HttpFetch::new(&settings()).unwrap();
    get_text(&fetch, &server.url("/first")).await;
    let request = Request {
        cookie: Some("own=1".into()),
        ..Request::get(&key(&server.url("/second")), 1_000)
    };
    fetch.fetch(&request, &mut Collector::new()).await.unwrap();
    get_text(&fetch, &server.url("/third")).await;
    let requests = server.requests();
    let [first, second, third] = &requests[..] else {
        panic!("three requests: {requests:?}");
    };
    assert!(second.contains("cookie: own=1\r\n"), "{second}");
    for sent in [first, third] {
        assert!(
            !sent.contains("cookie") && !sent.contains("referer"),
            "{sent}"
        );
    }
}

#[tokio::test]
async fn secrets_go_to_their_origin_only() {
    let (ours, other) = (Server::always(HELLO), Server::always(HELLO));
    let fetch = HttpFetch::new(&with_secrets(vec![origin_of(&ours)])).unwrap();
    get_text(&fetch, &ours.url("/")).await;
    get_text(&fetch, &other.url("/")).await;
    get_text(&fetch, &ours.url("/").replace("127.0.0.1", "localhost")).await;
    let sent = &ours.requests()[0];
    assert!(sent.contains("x-token: sesame\r\n"), "{sent}");
    assert!(sent.contains("accept-language: de\r\n"), "{sent}");
    assert!(
        sent.contains("authorization: basic ywxhzgrpbjpvcgvuc2vzyw1l\r\n"),
        "{sent}"
    );
    let anonymous = Request {
        is_anonymous: true,
        ..Request::get(&key(&ours.url("/")), 1_000)
    };
    fetch
        .fetch(&anonymous, &mut Collector::new())
        .await
        .unwrap();
    for elsewhere in [
        &other.requests()[0],
        &ours.requests()[1],
        &ours.requests()[2],
    ] {
        let is_clean = !["sesame", "authorization", "accept-language"]
            .iter()
            .any(|word| elsewhere.contains(word));
        assert!(is_clean, "{elsewhere}");
    }
}

#[tokio::test]
async fn configured_headers_replace_our_own() {
    let server = Server::always(HELLO);
    let config = FetchConfig {
        user_agent: "Arpent/1 (+https://example.com/bot)".to_owned(),
        headers: vec![
            ("Accept".to_owned(), Secret::new("a/b")),
            ("ACCEPT".to_owned(), Secret::new("c/d")),
        ],
        credentials: Some(Credentials::Bearer(Secret::new("abc.def"))),
        ..with_secrets(vec![origin_of(&server)])
    };
    get_text(&HttpFetch::new(&config).unwrap(), &server.url("/")).await;
    let sent = &server.requests()[0];
    for line in [
        "user-agent: arpent/1 (+https://example.com/bot)\r\n",
        "authorization: bearer abc.def\r\n",
        "accept: a/b\r\naccept: c/d\r\n",
    ] {
        assert!(sent.contains(line), "{sent}");
    }
    assert!(!sent.contains("text/html"), "{sent}");
}

#[test]
fn unusable_settings_are_named_and_secrets_are_not() {
    let check = |change: fn(&mut FetchConfig), expected: &str| {
        let mut config = settings();
        change(&mut config);
        let error = HttpFetch::new(&config).unwrap_err();
        assert_eq!(error.to_string(), expected);
    };
    for (name, value, expected) in [
        ("a b", "x", "\"a b\" is not a header name"),
        ("User-Agent", "x", "\"User-Agent\" cannot be set"),
        (
            "Transfer-Encoding",
            "x",
            "\"Transfer-Encoding\" cannot be set",
        ),
        (
            "x-a",
            "secret\r\ny: z",
            "\"x-a\" has a value with forbidden characters",
        ),
    ] {
        let config = FetchConfig {
            headers: vec![(name.to_owned(), Secret::new(value))],
            ..settings()
        };
        let error = HttpFetch::new(&config).unwrap_err();
        assert_eq!(error.to_string(), format!("header {expected}"));
    }
    check(
        |c| c.credentials = Some(Credentials::Bearer(Secret::new("sec\nret"))),
        "the credentials hold forbidden characters",
    );
    check(
        |c| {
            c.credentials = Some(Credentials::Basic {
                user: "a:b".to_owned(),
                password: Secret::new("secret"),
            });
        },
        "the user name holds a colon",
    );
    for (proxy, expected) in [
        (
            "socks5://user:secret@h",
            "proxy is not an http or https URL",
        ),
        ("user:secret@", "proxy is not a URL"),
        ("nowhere", "proxy is not a URL"),
    ] {
        let config = FetchConfig {
            proxy: Some(proxy.to_owned()),
            ..settings()
        };
        assert_eq!(HttpFetch::new(&config).unwrap_err().to_string(), expected);
    }
    check(
        |c| c.user_agent = "a\nb".to_owned(),
        "cannot use user agent \"a\\nb\"",
    );
    check(
        |c| c.start_host = "a b".to_owned(),
        "start host \"a b\" is not a host",
    );
}

#[test]
fn debug_output_holds_no_secret() {
    let fetch = HttpFetch::new(&with_secrets(Vec::new())).unwrap();
    assert!(!format!("{fetch:?}").contains("sesame"));
}

#[tokio::test]
async fn proxy_is_used_for_everything() {
    let proxy = Server::always("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nproxy");
    let config = FetchConfig {
        proxy: Some(format!("http://{}", proxy.address)),
        start_host: "site.example".to_owned(),
        ..settings()
    };
    let fetch = HttpFetch::new(&config).unwrap();
    assert_eq!(get_text(&fetch, "http://site.example/x").await, "proxy");
    assert!(proxy.requests()[0].starts_with("get http://site.example/x http/1.1\r\n"));
    for (host, refusal) in [
        ("127.0.0.1:9", "127.0.0.1 is a loopback address"),
        ("localhost", "localhost is a loopback name"),
        ("metadata.google.internal", "metadata.google.internal is"),
    ] {
        let (kind, message) = failure(&fetch, &format!("http://{host}/")).await;
        assert_eq!(kind, FetchErrorKind::Forbidden, "{message}");
        assert!(message.starts_with(refusal), "{message}");
    }
    assert_eq!(proxy.requests().len(), 1);
}

#[tokio::test]
async fn unreachable_proxy_is_reported() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let cases = [
        (
            format!("http://user:secret@localhost:{port}"),
            format!(
                "cannot connect to the proxy localhost:{port} (setting proxy): connection refused; site.example:80 was not asked"
            ),
        ),
        (
            "http://proxy.invalid:3128".to_owned(),
            "the proxy (setting proxy) is not reached: no address found for proxy.invalid (DNS): "
                .to_owned(),
        ),
    ];
    for (proxy, expected) in cases {
        let config = FetchConfig {
            proxy: Some(proxy),
            start_host: "site.example".to_owned(),
            ..settings()
        };
        let fetch = HttpFetch::new(&config).unwrap();
        let (kind, message) = failure(&fetch, "http://site.example/").await;
        assert_eq!(kind, FetchErrorKind::Local);
        assert!(message.starts_with(&expected), "{message}");
    }
}
