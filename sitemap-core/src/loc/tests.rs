//! Addresses, their escapes, and the location rule.

use super::{syntax::is, *};
use proptest::prelude::*;

fn loc(text: &str) -> Loc {
    Loc::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn check(text: &str, expected: &str) {
    assert_eq!(loc(text).as_str(), expected, "{text}");
}

/// Checks texts with bars between them.
fn check_refused(texts: &str, expected: &LocError) {
    for text in texts.split('|') {
        assert_eq!(Loc::parse(text).as_ref(), Err(expected), "{text:?}");
    }
}

#[test]
fn clean_url_stays_as_it_is() {
    for text in [
        "https://example.com/",
        "http://example.com:8080/catalog/show?item=23&user=3453",
        "https://www.example.com/%C3%BCmlat.html?q=%22a%22",
        "https://www.example.com/%FCmlat",
        "https://example.com/a/b;c=d/e:f@g/!$&'()*+,=~._-",
        "https://example.com/?a=/b?c&d=e:@",
        "https://example.com/a%2Fb%2fc//d/",
        "https://example.com/.well-known/x",
        "https://example.com/...",
        "https://192.0.2.1/",
        "https://[2001:db8::1]:8443/x",
        "https://my_host.example/",
        "https://localhost/",
        "https://xn--mlat-zra.example/",
    ] {
        check(text, text);
    }
}

#[test]
fn scheme_host_and_port_take_their_one_form() {
    check("HTTPS://WWW.Example.COM", "https://www.example.com/");
    check("http://example.com:80/", "http://example.com/");
    check("https://example.com:443/", "https://example.com/");
    check("https://example.com:80/", "https://example.com:80/");
    check("http://example.com:443/", "http://example.com:443/");
    check("http://example.com:/", "http://example.com/");
    check("http://example.com:0080/", "http://example.com/");
    check("http://example.com:08080/", "http://example.com:8080/");
    check("https://ümlat.example/", "https://xn--mlat-zra.example/");
    check("https://ÜMLAT.example/", "https://xn--mlat-zra.example/");
    check("https://ex%61mple.com/", "https://example.com/");
    check("https://192.168.257/", "https://192.168.1.1/");
    check("https://[2001:DB8:0::1]/", "https://[2001:db8::1]/");
    check("https://example.com?q", "https://example.com/?q");
}

#[test]
fn needless_escapes_make_no_other_url() {
    let check = |text: &str, expected: &str| {
        let loc = loc(text);
        assert_eq!(loc.normalised(), expected, "{text}");
        assert!(loc.is_equivalent(&Loc::parse(expected).unwrap()), "{text}");
    };
    check("https://h/a/b?c=%2B", "https://h/a/b?c=%2B");
    check("https://h/%61%2d%7E%5f", "https://h/a-~_");
    check("https://h/?%61=%7e", "https://h/?a=~");
    check("https://h/%fc%2f%C3%bc", "https://h/%FC%2F%C3%BC");
    // What was escaped once is not unescaped twice, and a lone % stays one.
    check("https://h/%2561", "https://h/%2561");
    check("https://h/100%/%2%65", "https://h/100%25/%252e");
    let different = |one: &str, other: &str| assert!(!loc(one).is_equivalent(&loc(other)), "{one}");
    different("https://h/a%2Fb", "https://h/a/b");
    different("https://h/%41", "https://h/a");
    different("https://h/a", "http://h/a");
    let needless = ["https://h/%61", "https://h/?%7E"];
    assert!(needless.iter().all(|text| loc(text).has_needless_escapes()));
    let needed = [
        "https://h/",
        "https://h/%fc",
        "https://h/%25",
        "https://h/%2561",
    ];
    assert!(!needed.iter().any(|text| loc(text).has_needless_escapes()));
}

#[test]
fn forbidden_characters_are_percent_encoded() {
    check("http://h/a b", "http://h/a%20b");
    for start in ["http://h/", "http://h/?"] {
        let encoded = format!("{start}%3C%3E%22%7B%7D%7C%5C%5E%60%5B%5D");
        check(&format!("{start}<>\"{{}}|\\^`[]"), &encoded);
    }
    check("http://h/ü?ü", "http://h/%C3%BC?%C3%BC");
    check("http://h/\u{1F600}", "http://h/%F0%9F%98%80");
    check("http://h/a\nb\tc\u{0}d\u{7F}", "http://h/a%0Ab%09c%00d%7F");
    check("http://h/%FCmlat%c3%bc", "http://h/%FCmlat%c3%bc");
    check("http://h/100%", "http://h/100%25");
    check("http://h/%zz%4%", "http://h/%25zz%254%25");
    check("http://h/%%41", "http://h/%25%41");
    check("http://h/?q=%zz", "http://h/?q=%25zz");
    check("http://h/%é", "http://h/%25%C3%A9");
    check("http://h/'", "http://h/'");
    check("http://h/a?", "http://h/a?");
}

#[test]
fn dot_segments_are_resolved_and_fragments_left_out() {
    check("http://h/catalog/../image/x", "http://h/image/x");
    check("http://h/catalog/%2e%2E/image/x", "http://h/image/x");
    check("http://h/catalog/.%2e/x", "http://h/x");
    check("http://h/a/./b/.", "http://h/a/b/");
    check("http://h/a/b/..", "http://h/a/");
    check("http://h/../../a", "http://h/a");
    check("http://h/..", "http://h/");
    check("http://h/a//../b", "http://h/a/b");
    check("http://h/a/.../..b/b..", "http://h/a/.../..b/b..");
    check("http://h//x", "http://h//x");
    check("http://h/?a=/../b", "http://h/?a=/../b");
    check("http://h/a#b", "http://h/a");
    check("http://h#b", "http://h/");
    check("http://h/a?b#c?d#e", "http://h/a?b");
}

#[test]
fn anything_but_an_absolute_http_url_is_refused() {
    check_refused("", &LocError::Empty);
    let padded = " http://h/|http://h/ |\nhttp://h/|http://h/\r\n| ";
    check_refused(padded, &LocError::Padded);
    check_refused(
        "/a|a|//h/a|www.example.com/a|ftp://h/|mailto:a@b.example|http:/h/|http:h|javascript:1|httpa://h/",
        &LocError::NotAbsolute,
    );
    check_refused(
        "http://|http:///a|http://?q|http://a b/|http://a\\b/|http://[::1/|http://1.2.3.4.5/|http://a{b}/|http://\u{AD}/\
         |http://xn--/|http://%00/|http://h..example/|http://.example/|http://example../|http://./",
        &LocError::Host,
    );
    check_refused(
        "http://h:a/|http://h:65536/|http://h:-1/|http://h:+1/|http://h:1:2/",
        &LocError::Port,
    );
    check_refused("http://u@h/|http://u:p@h/|http://@h/", &LocError::UserInfo);
}

#[test]
fn length_is_counted_after_percent_encoding() {
    let url_of = |characters: usize| format!("https://example.com/{}", "a".repeat(characters - 20));
    assert_eq!(loc(&url_of(2_047)).as_str().len(), 2_047);
    check_refused(&url_of(2_048), &LocError::TooLong { characters: 2_048 });
    let encoded =
        |characters: usize| format!("https://example.com/{}ü", "a".repeat(characters - 26));
    assert_eq!(loc(&encoded(2_047)).as_str().len(), 2_047);
    check_refused(&encoded(2_048), &LocError::TooLong { characters: 2_048 });
    // An ampersand counts as one character although it takes five bytes in the file.
    assert_eq!(loc(&format!("{}&", url_of(2_046))).as_str().len(), 2_047);
    let long_fragment = format!("https://example.com/#{}", "a".repeat(5_000));
    check(&long_fragment, "https://example.com/");
    check_refused(
        &format!("https://{}/", "a".repeat(100_000)),
        &LocError::Host,
    );
}

#[test]
fn parts_are_those_of_the_text() {
    let url = loc("https://example.com:8443/a/b/c.html?d=/e/f");
    assert_eq!(url.origin(), "https://example.com:8443");
    assert_eq!(url.path_and_query(), "/a/b/c.html?d=/e/f");
    assert_eq!(url.path(), "/a/b/c.html");
    assert_eq!(url.directory(), "https://example.com:8443/a/b/");
    assert_eq!(loc("http://h/s.php?f=/catalog/x").directory(), "http://h/");
    assert_eq!(loc("http://h").directory(), "http://h/");
    assert_eq!(loc("http://h/catalog/").directory(), "http://h/catalog/");
}

#[test]
fn sitemap_lists_its_directory_on_its_origin() {
    let check = |sitemap: &str, pages: &str, expected: bool| {
        for page in pages.split('|') {
            let found = loc(sitemap).may_list(&loc(page));
            assert_eq!(found, expected, "{sitemap} lists {page}");
        }
    };
    let catalog = "http://h/catalog/sitemap.xml";
    check(
        catalog,
        "http://h/catalog/|http://h/catalog/show?item=23|http://h/catalog/a/b|http://h/catalog/../catalog/x|http://h:80/%63atalog/x",
        true,
    );
    check(
        catalog,
        "http://h/catalog|http://h/catalogue/x|http://h/Catalog/x|http://h/image/show|http://h/catalog/../image/x\
         |http://h/catalog/%2e%2e/image/x|http://h/catalog%2Fx|http://h/?/catalog/x\
         |https://h/catalog/page1.html|http://h:8080/catalog/x|http://www.h/catalog/x",
        false,
    );
    check(
        "http://h:80/%63atalog/sitemap.xml",
        "http://h/catalog/x",
        true,
    );
    check("http://h/s.php?f=/catalog/x", "http://h/any", true);
    check("http://h:100/sitemap.xml", "http://h:100/x", true);
    check("http://h:100/sitemap.xml", "http://h/x", false);
    check("https://h:443/sitemap.xml", "https://h/x", true);
    check("http://h/%c3%bc/sitemap.xml", "http://h/%C3%BC/x", true);
    check("http://h/%c3%bc/sitemap.xml", "http://h/ü/x", true);
    check("http://h/%FC/sitemap.xml", "http://h/ü/x", false);
    check("http://h/a%2Fb/sitemap.xml", "http://h/a%2fb/x", true);
    check("http://h/a%2Fb/sitemap.xml", "http://h/a/b/x", false);
    check("http://h/a/b/sitemap.xml", "http://h/a%2Fb/x", false);
    check("http://h/%7Eme/sitemap.xml", "http://h/~me/x", true);
    check("http://h/%28/sitemap.xml", "http://h/(/x", false);
    check("http://H/sitemap.xml", "http://h", true);
}

proptest! {
    #[test]
    fn parsing_is_idempotent_and_gives_only_allowed_characters(text in "(http|https)://[a-zA-Z0-9._-]{1,12}(:[0-9]{1,5})?(/\\PC{0,12}){0,4}(\\?\\PC{0,12})?") {
        if let Ok(first) = Loc::parse(&text) {
            let again = loc(first.as_str());
            prop_assert_eq!(&again, &first);
            prop_assert_eq!(again.path_start, first.path_start);
            let allowed = |byte: u8| is(byte, QUERY) || matches!(byte, b'%' | b'[' | b']');
            prop_assert!(first.as_str().bytes().all(allowed), "{}", first);
            prop_assert!(!first.path_and_query().contains(['[', ']']));
        }
    }

    #[test]
    fn clean_url_is_taken_over_as_it_is(text in "https?://[a-z0-9x._-]{1,8}(\\.[a-zn-]{1,6})?(:[0-9]{1,5})?(/[a-zA-Z0-9.%2eE~!'()?&-]{0,8}){0,4}") {
        if let Some(path_start) = clean_path_start(&text) {
            let parts = split(&text).unwrap();
            let mut encoded = String::from(if parts.https { "https://" } else { "http://" });
            push_authority(&mut encoded, parts.authority, parts.https).unwrap();
            prop_assert_eq!(encoded.len(), path_start);
            push_path(&mut encoded, parts.path);
            if let Some(query) = parts.query {
                encoded.push('?');
                push_encoded(&mut encoded, query, QUERY);
            }
            prop_assert_eq!(encoded, text);
        }
    }

    #[test]
    fn any_text_is_parsed_or_refused(text in any::<String>(), path in any::<String>()) {
        for text in [&text, &format!("https://{text}/")] {
            if let Ok(url) = Loc::parse(text) {
                prop_assert_eq!(loc(url.as_str()), url);
            }
        }
        if let Ok(url) = Loc::parse(&format!("https://example.com/{path}")) {
            prop_assert!(url.as_str().is_ascii());
            prop_assert!(url.as_str().len() <= MAX_LOC_CHARACTERS);
            prop_assert!(loc("https://example.com/sitemap.xml").may_list(&url));
        }
    }

    #[test]
    fn every_page_is_in_its_own_directory(path in "(/[a-c.%2F~]{0,4}){1,4}") {
        let page = loc(&format!("https://example.com{path}"));
        prop_assert!(page.may_list(&page));
        let directory = loc(page.directory());
        prop_assert!(directory.may_list(&page));
    }

    #[test]
    fn order_is_that_of_the_bytes(first in "https?://[ab.]{1,3}/[ab/%]{0,4}", second in "https?://[ab.]{1,3}/[ab/%]{0,4}") {
        if let (Ok(first), Ok(second)) = (Loc::parse(&first), Loc::parse(&second)) {
            prop_assert_eq!(first.cmp(&second), first.as_str().cmp(second.as_str()));
        }
    }
}
