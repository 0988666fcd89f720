//! One spelling for one page, rule by rule.

mod properties;

use encoding_rs::{Encoding, ISO_2022_JP, SHIFT_JIS, UTF_8, UTF_16LE, WINDOWS_1252};
use url::Url;

use super::*;

fn identity() -> Identity {
    Identity::default()
}

/// The default with an optional rule.
fn normalizing(change: fn(&mut Normalize)) -> Identity {
    let mut identity = identity();
    change(&mut identity.normalize);
    identity
}

#[track_caller]
fn check_with(identity: &Identity, input: &str, expected: &str) {
    let key = identity
        .parse(input)
        .unwrap_or_else(|error| panic!("{input}: {error}"));
    assert_eq!(key.as_str(), expected, "{input}");
    assert_eq!(
        identity.parse(expected).unwrap(),
        key,
        "{input} a second time"
    );
    assert_eq!(
        UrlKey::from_normalised(expected).unwrap(),
        key,
        "{input} from a store"
    );
}

#[track_caller]
fn check(input: &str, expected: &str) {
    check_with(&identity(), input, expected);
}

#[track_caller]
fn check_path(input: &str, expected: &str) {
    check(&format!("http://h{input}"), &format!("http://h{expected}"));
}

#[test]
fn urls_that_whatwg_unifies() {
    check("HTTP://EXAMPLE.com:80", "http://example.com/");
    check("https://example.com:0443/", "https://example.com/");
    check("https://example.com:/", "https://example.com/");
    check("http://example.com:8080", "http://example.com:8080/");
    check("  http://h/a\tb\n ", "http://h/ab");
    check("http:\\\\h\\a\\b?c\\d", "http://h/a/b?c%5Cd");
    check("http://faß.de/", "http://xn--fa-hia.de/");
    check("http://ex%41mple.com/", "http://example.com/");
    check("http://0x7f.1/", "http://127.0.0.1/");
    check("https://127.0.0.1:80/", "https://127.0.0.1:80/");
    check("http://2130706433/", "http://127.0.0.1/");
    check("http://[0:0::1]:80/", "http://[::1]/");
    check_path("/a/./b/../c/%2e/%2E%2e/d", "/a/d");
    check_path("/é \"<>`?é'", "/%C3%A9%20%22%3C%3E%60?%C3%A9%27");
}

#[test]
fn escapes_have_one_spelling() {
    check_path("/%c3%a9?%c3%a9", "/%C3%A9?%C3%A9");
    check_path("/%7Ejo/%41%2d%2E%5f?%7e=%61", "/~jo/A-._?~=a");
    check_path("/a%2fb%3fc%23d%25e%20", "/a%2Fb%3Fc%23d%25e%20");
    check_path("/%2a%24%21%40", "/%2A%24%21%40");
    check_path("/100%", "/100%");
    check_path("/%zz%4g%", "/%zz%4g%");
    check_path("/%252e%252e/a", "/%252e%252e/a");
}

#[test]
fn characters_forbidden_in_a_sitemap_are_escaped() {
    check_path(
        "/a|b^c[d]{e}?a|b^c[d]{e}`\\",
        "/a%7Cb%5Ec%5Bd%5D%7Be%7D?a%7Cb%5Ec%5Bd%5D%7Be%7D%60%5C",
    );
    check_path("/%7c?%5B", "/%7C?%5B");
}

#[test]
fn decoding_makes_no_escape_or_dot_segment() {
    check_path("/%2%65", "/%2%65");
    check_path("/%%36%31", "/%%361");
    check_path("/%4%31", "/%4%31");
    check_path("/%%7Ea", "/%~a");
    check_path("/a/%2e%2ejo/b", "/a/..jo/b");
    check_path("/a/..;jsessionid=1/b", "/a/..;jsessionid=1/b");
    check_path("/a/%2e;jsessionid=1/b", "/a/.;jsessionid=1/b");
}

#[test]
fn parts_that_servers_never_see_are_dropped() {
    check("http://user:secret@h/a#b", "http://h/a");
    check("http://h/#!/route", "http://h/");
    check("http://h./a", "http://h/a");
    check("http://h.:8080/a", "http://h:8080/a");
    check("http://h../a", "http://h../a");
    check("http://h/a?", "http://h/a");
    check("http://h/a?#", "http://h/a");
    check("http://h/a??", "http://h/a??");
    check("http://h/a?&", "http://h/a?&");
}

#[test]
fn parameters_that_change_the_page_stay() {
    check_path("/A", "/A");
    check_path("/a/", "/a/");
    check_path("/a//b", "/a//b");
    check_path("/index.html", "/index.html");
    check_path("/?b=1&a=1&&c", "/?b=1&a=1&&c");
    check_path(
        "/?ref=x&source=y&page=2&p=3&id=4&sort=a&lang=de&sid=5",
        "/?ref=x&source=y&page=2&p=3&id=4&sort=a&lang=de&sid=5",
    );
    check_path("/100%|", "/100%%7C");
}

#[test]
fn tracking_parameters_are_dropped() {
    check_path("/?utm_source=a&x=1&UTM_Medium=b&utm_=", "/?x=1");
    check_path("/?utm%5Fsource=a", "/");
    check_path("/?x=1&gclid=2&fbclid=3", "/?x=1");
    check_path("/?fbclid", "/");
    check_path(
        "/?utmost=1&xgclid=2&gclidx=3",
        "/?utmost=1&xgclid=2&gclidx=3",
    );
    check_path("/?q=utm_source=a", "/?q=utm_source=a");
    for name in TRACKING_PARAMETERS {
        check_path(
            &format!("/?a=1&{}=2&b=3", name.replace('*', "x")),
            "/?a=1&b=3",
        );
    }
    let all = Identity {
        drop_parameters: vec!["*".to_owned()],
        ..identity()
    };
    check_with(&all, "http://h/?a=1&b", "http://h/");
    let none = Identity {
        drop_parameters: Vec::new(),
        ..identity()
    };
    check_with(&none, "http://h/?utm_source=a", "http://h/?utm_source=a");
}

#[test]
fn session_ids_are_dropped() {
    check_path("/a;jsessionid=1F/b;v=2;JSESSIONID=x?c=1", "/a/b;v=2?c=1");
    check_path("/a;v=1?x=2;jsessionid=F", "/a;v=1?x=2");
    check_path("/a?PHPSESSID=1&x=2", "/a?x=2");
    check_path("/a?ASPSESSIONIDQQ=1", "/a");
    check_path("/a;;b", "/a;;b");
    check_path("/a?q=tl;dr", "/a?q=tl;dr");
    check_path("/a?NewsID=1&addressid=2", "/a?NewsID=1&addressid=2");
}

#[test]
fn cfid_and_cftoken_are_dropped_only_together() {
    check_path("/a?CFID=1&x=2&CFTOKEN=3", "/a?x=2");
    check_path("/a;cfid=1;cftoken=2", "/a");
    check_path("/a?cfid=1", "/a?cfid=1");
    check_path("/a?cftoken=1", "/a?cftoken=1");
}

#[test]
fn optional_rules_do_what_they_promise() {
    let slashes = normalizing(|normalize| normalize.slashes = true);
    check_with(&slashes, "http://h//a///b//?c//d", "http://h/a/b/?c//d");
    check_with(&slashes, "http://h/a/;jsessionid=1/b", "http://h/a/b");

    let sorted = normalizing(|normalize| normalize.parameter_order = true);
    check_with(&sorted, "http://h/?c=1&a=2&b&a", "http://h/?a=2&a&b&c=1");
    check_with(&sorted, "http://h/?%7e=1&a", "http://h/?a&~=1");

    let ampersands = normalizing(|normalize| normalize.empty_parameters = true);
    check_with(&ampersands, "http://h/?&a&&b=1&", "http://h/?a&b=1");
    check_with(&ampersands, "http://h/?&", "http://h/");

    let index = normalizing(|normalize| normalize.index_pages = true);
    check_with(&index, "http://h/a/Index.HTML?b", "http://h/a/?b");
    check_with(&index, "http://h/default.aspx;jsessionid=1", "http://h/");
    check_with(&index, "http://h/index.html/", "http://h/index.html/");
    check_with(&index, "http://h/index.jsps", "http://h/index.jsps");
    check_with(&index, "http://h/reindex.html", "http://h/reindex.html");
    check_with(&index, "http://h/index", "http://h/index");

    let sessions = Identity {
        drop_sessions: vec!["sid".to_owned(), "*_session".to_owned()],
        ..identity()
    };
    check_with(&sessions, "http://h/?SID=1&sidx=2", "http://h/?sidx=2");
}

#[track_caller]
fn check_resolved(base: &str, reference: &str, expected: &str) {
    let base = Url::parse(base).unwrap();
    let key = identity().resolve(&base, reference, UTF_8).unwrap();
    assert_eq!(key.as_str(), expected, "{reference}");
}

#[test]
fn references_are_resolved_against_the_base() {
    let base = "https://h:8443/a/b?c#d";
    check_resolved(base, "", "https://h:8443/a/b?c");
    check_resolved(base, "#e", "https://h:8443/a/b?c");
    check_resolved(base, "?", "https://h:8443/a/b");
    check_resolved(base, "e", "https://h:8443/a/e");
    check_resolved(base, "../../e", "https://h:8443/e");
    check_resolved(base, "/e", "https://h:8443/e");
    check_resolved(base, "//o/e", "https://o/e");
    check_resolved(base, " \\\\o\\e ", "https://o/e");
    check_resolved(base, "https:e", "https://h:8443/a/e");
    check_resolved(base, "http:e", "http://e/");
    check_resolved(base, "h\ttt\nps://o/", "https://o/");
    check_resolved(base, "./a:8080", "https://h:8443/a/a:8080");
}

#[test]
fn more_than_two_slashes_are_two() {
    check_resolved("https://h/", "///o/e", "https://o/e");
    check_resolved("https://h/", " /\t/\n/\\/o//e", "https://o//e");
    check_resolved("https://h/", "//o//e", "https://o//e");
    check_resolved("https://h/", "https:///o/e", "https://o/e");
}

#[test]
fn the_encoding_of_the_document_encodes_the_query() {
    let check = |encoding: &'static Encoding, reference: &str, expected: &str| {
        let base = Url::parse("https://h/").unwrap();
        let key = identity().resolve(&base, reference, encoding).unwrap();
        assert_eq!(key.path_and_query(), expected, "{reference}");
    };
    check(UTF_8, "/\u{e9}?q=\u{e9}", "/%C3%A9?q=%C3%A9");
    check(UTF_16LE, "/\u{e9}?q=\u{e9}", "/%C3%A9?q=%C3%A9");
    check(WINDOWS_1252, "/\u{e9}?q=\u{e9}", "/%C3%A9?q=%E9");
    check(WINDOWS_1252, "?q=%c3%a9 \u{e9}#\u{e9}", "/?q=%C3%A9%20%E9");
    check(WINDOWS_1252, "?q=\u{20ac}\u{3042}", "/?q=%80%26%2312354%3B");
    check(SHIFT_JIS, "?q=\u{3042}", "/?q=%82%A0");
    check(ISO_2022_JP, "?q=\u{3042}b", "/?q=%1B$B$%22%1B(Bb");
    check(
        ISO_2022_JP,
        "?q=\u{3042}\u{1f600}",
        "/?q=%1B$B$%22%1B(B%26%23128512%3B",
    );
}

#[test]
fn text_that_is_no_key_has_a_reason() {
    let check = |text: &str, expected: UrlKeyError| {
        assert_eq!(identity().parse(text), Err(expected), "{text}");
    };
    check("", UrlKeyError::Syntax);
    check("/a", UrlKeyError::Syntax);
    check("example.com/a", UrlKeyError::Syntax);
    check("http://", UrlKeyError::Syntax);
    check("http://a b/", UrlKeyError::Syntax);
    check("http://h:99999/", UrlKeyError::Syntax);
    check("http://1.2.3.4.5/", UrlKeyError::Syntax);
    check("http://xn--/", UrlKeyError::Syntax);
    check("ftp://h/", UrlKeyError::Scheme);
    check("mailto:a@h", UrlKeyError::Scheme);
    check("file:///etc/passwd", UrlKeyError::Scheme);
    check(" java\nscript:alert(1)", UrlKeyError::Scheme);
    check("httpsx://h/", UrlKeyError::Scheme);
    let base = Url::parse("https://h/").unwrap();
    let resolve = |reference: &str| identity().resolve(&base, reference, UTF_8);
    assert_eq!(resolve("tel:1"), Err(UrlKeyError::Scheme));
    assert_eq!(resolve("host:8080"), Err(UrlKeyError::Scheme));
    assert_eq!(resolve("FILE:///x"), Err(UrlKeyError::Scheme));
    assert_eq!(
        resolve(&format!("data:,{}", "x".repeat(1 << 20))),
        Err(UrlKeyError::Scheme)
    );
    assert_eq!(resolve(&"a/../".repeat(30_000)), Err(UrlKeyError::TooLong));
}

#[test]
fn keys_have_fewer_than_2_048_bytes() {
    let text = |length: usize| format!("http://h/{}", "a".repeat(length - "http://h/".len()));
    let too_long = Err(UrlKeyError::TooLong);
    let longest = identity().parse(&text(MAX_URL_BYTES)).unwrap();
    assert!(longest.as_str().len() == MAX_URL_BYTES && !longest.is_cut());
    let stored = UrlKey::from_normalised(longest.as_str());
    assert_eq!(stored.as_ref(), Ok(&longest));
    assert_eq!(identity().parse(&text(MAX_URL_BYTES + 1)), too_long);
    assert_eq!(UrlKey::from_normalised(&text(MAX_URL_BYTES + 1)), too_long);
    // The key counts, not the written text.
    let decorated = format!(
        "{}?utm_source={}#{}",
        text(MAX_URL_BYTES),
        "b".repeat(3_000),
        "c".repeat(3_000)
    );
    assert_eq!(identity().parse(&decorated), Ok(longest));
    // What is longer is represented by its beginning.
    let cut = UrlKey::cut(&text(MAX_URL_BYTES + 1)).unwrap();
    assert_eq!((cut.as_str().len(), cut.is_cut()), (MAX_URL_BYTES, true));
    assert_eq!(UrlKey::from_normalised(cut.as_str()), Ok(cut.clone()));
    assert_ne!(UrlKey::cut(&text(MAX_URL_BYTES + 2)), Some(cut));
    let longer_in_bytes = format!("http://h/{}", "\u{e9}".repeat(400));
    assert_eq!(identity().parse(&longer_in_bytes), too_long);
}

#[test]
fn stored_text_has_the_shape_of_a_key() {
    let check = |text: &str, expected: UrlKeyError| {
        assert_eq!(UrlKey::from_normalised(text), Err(expected), "{text}");
    };
    check("", UrlKeyError::Scheme);
    check("HTTP://h/", UrlKeyError::Scheme);
    check("ftp://h/", UrlKeyError::Scheme);
    check("http:/h/", UrlKeyError::Scheme);
    check("http://h", UrlKeyError::Syntax);
    check("http:///a", UrlKeyError::Syntax);
    check("http://user@h/", UrlKeyError::Syntax);
    check("http://H/", UrlKeyError::Syntax);
    check("http://h:80/", UrlKeyError::Syntax);
    check("http://h:x/", UrlKeyError::Syntax);
    check("http://h:/", UrlKeyError::Syntax);
    check("http://h:08080/", UrlKeyError::Syntax);
    check("http://h:65536/", UrlKeyError::Syntax);
    check("https://127.0.0.1:443/", UrlKeyError::Syntax);
    check("http://127.0.0.01/", UrlKeyError::Syntax);
    check("http://127.1/", UrlKeyError::Syntax);
    check("http://0x7f.1/", UrlKeyError::Syntax);
    check("http://[::1/", UrlKeyError::Syntax);
    check("http://h/a#b", UrlKeyError::Syntax);
    check("http://h/a b", UrlKeyError::Syntax);
    check("http://h/\u{e9}", UrlKeyError::Syntax);
}

#[test]
fn a_key_has_parts() {
    let check = |text: &str, scheme: &str, host: &str, port: u16, path: &str, whole: &str| {
        let key = identity().parse(text).unwrap();
        let origin = Origin {
            scheme: scheme.into(),
            host: host.into(),
            port,
        };
        assert_eq!(key.origin(), origin);
        assert!(key.is_on(&origin));
        assert!(!key.is_on(&Origin {
            port: port + 1,
            ..origin.clone()
        }));
        assert!(!key.is_on(&Origin {
            host: "other".into(),
            ..origin.clone()
        }));
        assert!(!key.is_on(&Origin {
            scheme: "ftp".into(),
            ..origin.clone()
        }));
        assert_eq!(key.host(), HostKey::new(host));
        assert_eq!((key.path(), key.path_and_query()), (path, whole));
        assert_eq!(key.to_url().as_str(), key.as_str());
        assert_eq!(format!("{origin}{whole}"), key.as_str());
    };
    check("http://h/a?b?c", "http", "h", 80, "/a", "/a?b?c");
    check("https://h", "https", "h", 443, "/", "/");
    check("https://a.h:80/?x", "https", "a.h", 80, "/", "/?x");
    check(
        "http://[::1]:8080/a:b@c",
        "http",
        "[::1]",
        8080,
        "/a:b@c",
        "/a:b@c",
    );
    check("http://127.0.0.1/", "http", "127.0.0.1", 80, "/", "/");
}

#[test]
fn keys_sort_by_scheme_host_port_and_path() {
    let sorted = [
        "http://a/",
        "http://a/z",
        "http://a:81/",
        "http://a:800/",
        "http://a-b/",
        "http://a.b/",
        "http://ab/",
        "https://a:80/",
        "https://a/",
        "https://a/!",
        "https://a/a-b",
        "https://a/a/b",
        "https://a/a?b",
        "https://a/ab",
        "https://a:444/",
    ];
    let keys = sorted.map(|text| identity().parse(text).unwrap());
    assert!(keys.is_sorted(), "{keys:?}");
}

#[test]
fn a_fingerprint_distinguishes_changed_settings() {
    let default = identity();
    let none = Identity {
        drop_parameters: Vec::new(),
        ..identity()
    };
    let sorted = normalizing(|normalize| normalize.parameter_order = true);
    let mut reordered = identity();
    reordered.drop_parameters.reverse();
    reordered.drop_parameters.push("GCLID".to_owned());
    assert_eq!(default.fingerprint(), reordered.fingerprint());
    assert_ne!(default.fingerprint(), none.fingerprint());
    assert_ne!(default.fingerprint(), sorted.fingerprint());
    assert_eq!(
        none.to_string(),
        "rules=1 drop_parameters= drop_sessions=(s(*,aspsessionid*,cfid+cftoken,jsessionid,\
         phpsessid,session=,session_id=,sessionid=,sid= \
         slashes=false parameter_order=false empty_parameters=false index_pages=false",
    );
}
