//! Resolves the references of one page. Most are absolute paths of the same site, names in the directory of the page or above
//! it, or plain URLs of other sites: their keys are put together without a URL parser. It decides all others.

use encoding_rs::Encoding;
use url::{Position, Url};

use super::{Identity, UrlKey, UrlKeyError};

/// The way from the references of a page to keys.
#[derive(Debug)]
pub(crate) struct ReferenceResolver<'a> {
    identity: &'a Identity,
    base: &'a Url,
    encoding: &'static Encoding,
    /// `None`: the identity or the base has something that needs the parser for every reference.
    plain: Option<PlainBase<'a>>,
    /// The buffer in which a key is put together.
    text: String,
}

/// A base that keys can be put together from.
#[derive(Debug)]
struct PlainBase<'a> {
    /// Scheme, host and port.
    origin: &'a str,
    host_end: usize,
    /// The path up to its last slash; `None` when it may not be in normal form.
    directory: Option<&'a str>,
}

impl<'a> ReferenceResolver<'a> {
    /// For a page with this base URL and encoding.
    pub(crate) fn new(identity: &'a Identity, base: &'a Url, encoding: &'static Encoding) -> Self {
        let is_plain = !identity.normalize.slashes
            && !identity.normalize.index_pages
            && identity.stand_in.is_none()
            && (identity.names.as_ref()).is_none_or(|names| names.keeps(base))
            && base.username().is_empty()
            && base.password().is_none()
            && base.host_str().is_some_and(|host| !host.ends_with('.'));
        let plain = is_plain.then(|| {
            let directory = base.path().rfind('/').map(|slash| &base.path()[..=slash]);
            PlainBase {
                origin: &base[..Position::BeforePath],
                host_end: base[..Position::AfterHost].len(),
                directory: directory.filter(|directory| is_plain_path(directory)),
            }
        });
        Self {
            identity,
            base,
            encoding,
            plain,
            text: String::new(),
        }
    }

    /// The key of a reference; the same as [`Identity::resolve`].
    ///
    /// # Errors
    /// See [`UrlKeyError`].
    pub(crate) fn resolve(&mut self, reference: &str) -> Result<UrlKey, UrlKeyError> {
        let plain = self.plain.as_ref();
        let key = plain.and_then(|base| base.resolve(reference, &mut self.text));
        let other = || plain.and_then(|_| key_on_other_host(reference, self.identity));
        match key.or_else(other) {
            Some(key) => Ok(key),
            None => self.identity.resolve(self.base, reference, self.encoding),
        }
    }

    /// The key that represents a reference which is too long; `None`: it is none.
    pub(crate) fn cut(&self, reference: &str) -> Option<UrlKey> {
        let url = self.base.join(reference).ok()?;
        UrlKey::cut(&url[..Position::AfterQuery])
    }
}

impl PlainBase<'_> {
    /// The key of a reference in one of the common forms.
    fn resolve(&self, reference: &str, text: &mut String) -> Option<UrlKey> {
        let absolute = reference.strip_prefix(self.origin).unwrap_or(reference);
        let (directory, path) = if absolute.starts_with('/') {
            ("", absolute)
        } else if reference.is_empty() || memchr::memchr(b':', reference.as_bytes()).is_some() {
            return None;
        } else {
            climb(self.directory?, reference)
        };
        if !is_plain_path(path) {
            return None;
        }
        text.clear();
        text.extend([self.origin, directory, path]);
        UrlKey::from_parts(text, self.host_end, self.origin.len()).ok()
    }
}

/// The key of an absolute URL with a host of small letters, digits and single hyphens, which needs no mapping (UTS #46) and is no
/// address, and without a port.
fn key_on_other_host(reference: &str, identity: &Identity) -> Option<UrlKey> {
    let mut schemes = ["https://", "http://"].into_iter();
    let rest = schemes.find_map(|scheme| reference.strip_prefix(scheme))?;
    let (host, path) = rest.split_at(rest.find('/')?);
    // The last label of an address is a number.
    let is_no_number = |label: &str| label.starts_with(|first: char| first.is_ascii_lowercase());
    let is_plain = host.len() <= MAX_HOST_BYTES
        && host.split('.').all(is_plain_label)
        && host.rsplit('.').next().is_some_and(is_no_number)
        && is_plain_path(path);
    if !is_plain {
        return None;
    }
    let end = reference.len() - path.len();
    let key = UrlKey::from_parts(reference, end, end).ok()?;
    Some(match &identity.names {
        Some(names) => names.key_of_site(key),
        None => key,
    })
}

/// Longest host, and longest part of one between dots (RFC 1035 section 2.3.4).
const MAX_HOST_BYTES: usize = 253;
const MAX_LABEL_BYTES: usize = 63;

fn is_plain_label(label: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=MAX_LABEL_BYTES).contains(&label.len())
        && label.bytes().all(is_plain)
        && !label.starts_with('-')
        && !label.ends_with('-')
        && !label.contains("--")
}

/// The directory that `./` and `../` lead to, and the rest of the reference. Above the root is the root.
fn climb<'t>(directory: &'t str, reference: &'t str) -> (&'t str, &'t str) {
    let (mut directory, mut rest) = (directory, reference);
    loop {
        if let Some(after) = rest.strip_prefix("../") {
            rest = after;
            let parent = directory.trim_end_matches('/').rfind('/');
            directory = parent.map_or("/", |slash| &directory[..=slash]);
        } else if let Some(after) = rest.strip_prefix("./") {
            rest = after;
        } else {
            return (directory, rest);
        }
    }
}

/// Returns whether a path is in normal form whatever it represents: letters, digits and marks that need no escape, no segment that
/// begins with a dot, no empty one but the last.
fn is_plain_path(path: &str) -> bool {
    let mut before = 0;
    path.bytes().enumerate().all(|(at, byte)| {
        let is_plain = match byte {
            // After a slash a parenthesis may begin a session id.
            b'.' | b'(' => before != b'/' && at > 0,
            b'/' => before != b'/',
            byte => IS_PLAIN[usize::from(byte)],
        };
        before = byte;
        is_plain
    })
}

/// Bytes of a path that mean themselves: RFC 3986 `pchar` without escapes, and without `;`, which may begin a session id.
static IS_PLAIN: [bool; 256] = plain_bytes();

const fn plain_bytes() -> [bool; 256] {
    let marks = b"-_~!$&()*+,=:@";
    let mut plain = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        plain[byte as usize] = byte.is_ascii_alphanumeric();
        byte += 1;
    }
    let mut at = 0;
    while at < marks.len() {
        plain[marks[at] as usize] = true;
        at += 1;
    }
    plain
}

#[cfg(test)]
mod tests {
    use encoding_rs::UTF_8;
    use proptest::prelude::*;

    use super::*;
    use crate::url_key::{Normalize, SiteNames};

    const BASES: [&str; 8] = [
        "https://example.com/",
        "https://example.com/a/b?q",
        "http://example.com:8080/a/b/c/",
        "https://example.com./a/",
        "https://user@example.com/a/",
        "https://example.com/a//b/",
        "https://example.com/%7Ea/%c3%a9;x/b",
        "https://[::1]/a;jsessionid=1/b",
    ];

    /// Parts of references, besides white space.
    const PIECES: &str = "/ / / a b index.html . .. ../ ./ // ? # : ; %7e % %2F \\ \u{e9} ~ ' \" | ^ & = @ ! * http: \
                          https://example.com https://example.com/ http://example.com:8080 jsessionid=1 \
                          https://o-k.example/ http://1.2.3.4/ http://x.0x7f/ http://xn--x/ https://-a.example/ http://A/ \
                          javascript: { `";

    fn known_pieces() -> Vec<&'static str> {
        PIECES.split(' ').chain([" ", "\t"]).collect()
    }

    fn assert_same(identity: &Identity, base: &str, reference: &str) {
        let base = Url::parse(base).unwrap();
        let mut resolver = ReferenceResolver::new(identity, &base, UTF_8);
        assert_eq!(
            resolver.resolve(reference),
            identity.resolve(&base, reference, UTF_8),
            "{base} {reference:?}"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_096))]

        #[test]
        fn common_forms_are_resolved_as_by_the_parser(
            pieces in proptest::collection::vec(proptest::sample::select(known_pieces()), 0..7),
            base in proptest::sample::select(&BASES[..]),
            slashes: bool,
            index_pages: bool,
        ) {
            assert_same(&Identity::default(), base, &pieces.concat());
            let normalize = Normalize { slashes, index_pages, ..Normalize::default() };
            let identity = Identity { normalize, ..Identity::default() };
            assert_same(&identity, base, &pieces.concat());
        }

        #[test]
        fn any_text_is_resolved_as_by_the_parser(reference: String) {
            assert_same(&Identity::default(), BASES[1], &reference);
        }
    }

    #[test]
    fn every_byte_is_resolved_as_by_the_parser() {
        for base in BASES {
            for byte in 0..=u8::MAX {
                for around in ["*", "a*b", "/*", "/a*", "../*b", "*/"] {
                    let reference = around.replace('*', &char::from(byte).to_string());
                    assert_same(&Identity::default(), base, &reference);
                }
            }
            for length in [2_000, 2_020, 2_040, 2_048, 3_000] {
                assert_same(&Identity::default(), base, &"a".repeat(length));
            }
        }
    }

    #[test]
    fn hosts_are_resolved_as_by_the_parser() {
        let long = "a".repeat(63);
        let origin = |text: &str| Identity::default().parse(text).unwrap().origin();
        let names = ["https://www.o-k.example/", "http://a/"].map(origin);
        let names = SiteNames::new(&origin(BASES[0]), names.to_vec());
        let with_names = Identity {
            names: Some(names),
            ..Identity::default()
        };
        for host in [
            "a",
            "www.o-k.example",
            "1a.example",
            "a.1",
            "a.b1",
            "a.0x1",
            "1",
            "0x7f.1",
            "xn--bcher-kva.example",
            "xn--a",
            "a--b.example",
            "-a.example",
            "a-.example",
            "a..b",
            ".a",
            "a.",
            "A.example",
            "a_b.example",
            "a%2e.example",
            "b\u{fc}cher.example",
            "a:80",
            "a:8080",
            "u@a",
            "",
            &long,
            &format!("{long}a.example"),
            &[&*long; 4].join("."),
        ] {
            for rest in ["", "/", "/x/y.html", "/a/../b", "/x?q", "/%41"] {
                for scheme in ["https:", "http:", "HTTP:", "ftp:", ""] {
                    let reference = format!("{scheme}//{host}{rest}");
                    for identity in [&Identity::default(), &with_names] {
                        assert_same(identity, BASES[0], &reference);
                    }
                }
            }
        }
    }

    #[test]
    fn most_references_need_no_parser() {
        let base = Url::parse("https://example.com/a/b?q").unwrap();
        let identity = Identity::default();
        let plain = ReferenceResolver::new(&identity, &base, UTF_8)
            .plain
            .unwrap();
        for reference in [
            "/",
            "/x/y.html",
            "x",
            "../x/",
            "../../../x",
            "./",
            "https://example.com/x",
        ] {
            let key = plain.resolve(reference, &mut String::new());
            assert!(key.is_some(), "{reference}");
        }
    }
}
