//! Properties of every text.

use encoding_rs::{ISO_2022_JP, SHIFT_JIS, UTF_8, WINDOWS_1252};
use proptest::prelude::*;
use url::Url;

use super::*;

/// Every optional rule at once, and each alone.
fn identities() -> impl Strategy<Value = Identity> {
    (any::<[bool; 4]>(), any::<bool>()).prop_map(|(switches, drops)| {
        let [slashes, parameter_order, empty_parameters, index_pages] = switches;
        let default = identity();
        Identity {
            drop_parameters: if drops {
                default.drop_parameters
            } else {
                Vec::new()
            },
            drop_sessions: if drops {
                default.drop_sessions
            } else {
                vec!["a*".to_owned()]
            },
            normalize: Normalize {
                slashes,
                parameter_order,
                empty_parameters,
                index_pages,
            },
            stand_in: None,
            names: None,
        }
    })
}

/// Text made of the pieces that the rules look at.
fn tails() -> impl Strategy<Value = String> {
    let pieces = "/ // . .. %2e %2E % %2 %25 %7e %c3 %36 %61 2 e a Z ~ ; = & ? + jsessionid cfid cftoken utm_x \
                  index.html default.asp \\ | [ ^ \u{e9} \u{1f600} ' \" : @ ,";
    let pieces: Vec<&str> = pieces.split(' ').chain([" ", "\t"]).collect();
    let piece = prop::sample::select(pieces);
    prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

/// The key of the key is the key, and it survives a store.
#[track_caller]
fn assert_stable(identity: &Identity, key: &UrlKey) {
    assert_eq!(identity.parse(key.as_str()).as_ref(), Ok(key));
    assert_eq!(UrlKey::from_normalised(key.as_str()).as_ref(), Ok(key));
    assert_eq!(key.to_url().as_str(), key.as_str());
}

#[track_caller]
fn assert_same_place(key: &UrlKey, url: &Url) {
    assert_eq!(key.scheme(), url.scheme());
    assert_eq!(Some(key.host_str()), url.host_str());
    assert_eq!(Some(key.port()), url.port_or_known_default());
}

proptest! {
    #[test]
    fn normalising_twice_changes_nothing(identity in identities(), tail in tails()) {
        assert_stable(&identity, &identity.parse(&format!("https://h.example/{tail}")).unwrap());
    }

    /// Without its optional rules the identity only changes how escapes are spelled.
    #[test]
    fn the_origin_and_the_meaning_are_kept(tail in tails()) {
        let text = format!("https://h.example:444/{tail}");
        let bare = Identity { drop_parameters: Vec::new(), drop_sessions: Vec::new(), ..identity() };
        let key = bare.parse(&text).unwrap();
        let url = Url::parse(&text).unwrap();
        assert_same_place(&key, &url);
        assert_eq!(decoded(key.path()), decoded(url.path()));
        assert_eq!(decoded(key.to_url().query().unwrap_or_default()), decoded(url.query().unwrap_or_default()));
    }

    #[test]
    fn the_origin_is_kept_by_every_rule(identity in identities(), tail in tails()) {
        let text = format!("http://h.example:8080/{tail}");
        assert_same_place(&identity.parse(&text).unwrap(), &Url::parse(&text).unwrap());
    }

    #[test]
    fn no_text_panics(identity in identities(), text in "(https?:/{0,2})?\\PC{0,40}", reference in ".{0,40}") {
        let base = Url::parse("https://h/a/b?c").unwrap();
        for encoding in [UTF_8, WINDOWS_1252, ISO_2022_JP, SHIFT_JIS] {
            let keys = [identity.parse(&text), identity.resolve(&base, &reference, encoding)];
            keys.iter().flatten().for_each(|key| assert_stable(&identity, key));
        }
    }

    #[test]
    fn a_host_has_one_spelling(host in "[a-cA-C0-9.x%é。\\[:\\]_~-]{1,12}", port in "(:[0-9]{0,5})?") {
        if let Ok(key) = identity().parse(&format!("http://u@{host}{port}/")) {
            let url = Url::parse(&format!("http://{host}{port}/")).unwrap();
            assert_eq!(Some(key.port()), url.port_or_known_default());
            let parsed = url.host_str().unwrap();
            assert!(parsed == key.host_str() || parsed.strip_suffix('.') == Some(key.host_str()));
            assert_stable(&identity(), &key);
            assert_same_place(&key, &key.to_url());
        }
    }

    /// Whatever a store holds, a key made from it is a URL.
    #[test]
    fn stored_text_never_makes_a_broken_key(text in "https?://[a-d0-9x.:_%@\\[\\]-]{0,10}/[ -~]{0,8}") {
        if let Ok(key) = UrlKey::from_normalised(&text) {
            assert_same_place(&key, &key.to_url());
        }
    }

    #[test]
    fn order_agrees_with_text_on_one_origin(one in tails(), other in tails()) {
        let [one, other] = [one, other].map(|tail| identity().parse(&format!("https://h/{tail}")).unwrap());
        assert_eq!(one.cmp(&other), one.as_str().cmp(other.as_str()));
    }
}

/// Escapes of unreserved characters decoded and the others in upper case, distinguished from literal characters: an oracle that
/// reads the text from left to right, once.
fn decoded(text: &str) -> Vec<(u8, bool)> {
    let mut rest = text.as_bytes();
    let mut output = Vec::new();
    while let [first, tail @ ..] = rest {
        let digits = tail
            .get(..2)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        if let (b'%', Some(digits)) = (first, digits) {
            let byte = u8::from_str_radix(digits, 16).unwrap();
            output.push((
                byte,
                byte.is_ascii_alphanumeric() || b"-._~\"<>[\\]^`{|}".contains(&byte),
            ));
            rest = tail.split_at(2).1;
        } else {
            output.push((*first, true));
            rest = tail;
        }
    }
    output
}
