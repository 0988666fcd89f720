//! Identity of pages: the settings, and the one way from text to a [`UrlKey`].

use std::{borrow::Cow, fmt, sync::LazyLock};

use encoding_rs::{EncoderResult, Encoding, UTF_8};
use url::{EncodingOverride, Position, Url};

use super::{PublishAs, SiteNames, UrlKey, UrlKeyError, normal_form};

/// Longest text that is read, in bytes: enough for a key with its session ids, tracking parameters, dot segments and fragment,
/// and a bound on the work that one link can cost.
pub const MAX_REFERENCE_BYTES: usize = 64 * 1024;

/// Default of [`Identity::drop_parameters`]: parameters that analytics, advertising and mail tools add to links, and that no page
/// depends on.
pub const TRACKING_PARAMETERS: &[&str] = &[
    "utm_*",
    "gclid",
    "gclsrc",
    "dclid",
    "gbraid",
    "wbraid",
    "fbclid",
    "msclkid",
    "ttclid",
    "twclid",
    "yclid",
    "igshid",
    "mc_cid",
    "mc_eid",
    "_ga",
    "_gl",
    "_hsenc",
    "_hsmi",
    "mkt_tok",
    "srsltid",
    "vero_id",
    "s_cid",
    "oly_enc_id",
    "oly_anon_id",
];

/// Default of [`Identity::drop_sessions`]: session ids of Java, PHP, ASP and `ColdFusion` servers, and common names for them where
/// the value can be nothing else.
pub const SESSION_PARAMETERS: &[&str] = &[
    "jsessionid",
    "phpsessid",
    "aspsessionid*",
    "cfid+cftoken",
    "(s(*",
    "sid=",
    "sessionid=",
    "session_id=",
    "session=",
];

/// Version of the rules that have no switch: a change of them changes keys as a setting does.
const RULES_VERSION: u32 = 1;

/// Optional rules that make two URLs the same page. The rules that are always on have no switch:
/// - the rules of WHATWG URL: case of scheme and host, default port, dot segments, encoding, punycode;
/// - escapes in upper case, escapes of unreserved characters decoded (RFC 3986 section 6.2.2);
/// - no fragment, no user-info, no lone `?`, no trailing dot after the host;
/// - characters that RFC 3986 allows nowhere in a path or query (`|`, `^`, `[`, `]`, `` ` ``, `{`, `}`) escaped:
///   a sitemap may not hold them.
///
/// A `%` that starts no escape stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Query parameters that are dropped, compared without case; a trailing `*` matches a prefix.
    /// Default: [`TRACKING_PARAMETERS`].
    pub drop_parameters: Vec<String>,
    /// Session ids that are dropped from the query and from `;` suffixes (`;jsessionid=`), compared
    /// without case; a trailing `*` matches a prefix, and names joined by `+` are only dropped together. A name that ends with `=`
    /// is dropped where its value has at least 16 letters and digits, a name that begins with `(` as a segment of a path.
    /// Default: [`SESSION_PARAMETERS`].
    pub drop_sessions: Vec<String>,
    /// Further differences that are ignored. Default: none.
    pub normalize: Normalize,
    /// The URLs of another directory are those of the crawled one. Default: none. Filled in when the
    /// site is known.
    pub stand_in: Option<PublishAs>,
    /// Other spellings of the origin of the site that mean the site. Default: none. Filled in when the site is known.
    pub names: Option<SiteNames>,
}

/// Differences between URLs that some servers ignore, and others do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent switches, each a word of one setting"
)]
pub struct Normalize {
    /// `//` in a path becomes `/`.
    pub slashes: bool,
    /// Parameters are sorted by name, stable.
    pub parameter_order: bool,
    /// Empty parameters (`&&`, a leading or trailing `&`) are dropped.
    pub empty_parameters: bool,
    /// `index.html` and the like at the end of a path are dropped.
    pub index_pages: bool,
}

impl Default for Identity {
    fn default() -> Self {
        let owned = |names: &[&str]| names.iter().copied().map(str::to_owned).collect();
        Self {
            drop_parameters: owned(TRACKING_PARAMETERS),
            drop_sessions: owned(SESSION_PARAMETERS),
            normalize: Normalize::default(),
            stand_in: None,
            names: None,
        }
    }
}

impl Identity {
    /// Returns whether the parameters that are dropped are those of the defaults, and not those of the user.
    pub fn drops_defaults(&self) -> bool {
        let is = |names: &[String], defaults: &[&str]| names.iter().eq(defaults.iter());
        is(&self.drop_parameters, TRACKING_PARAMETERS)
            && is(&self.drop_sessions, SESSION_PARAMETERS)
    }

    /// The same, but no parameter is dropped.
    #[must_use]
    pub fn as_written(&self) -> Self {
        Self {
            drop_parameters: Vec::new(),
            drop_sessions: Vec::new(),
            ..self.clone()
        }
    }

    /// The identity of sitemaps and feeds: no parameter is dropped from their URLs, which were written for machines. Stand-in
    /// sites and names of the site still apply.
    #[must_use]
    pub fn verbatim(&self) -> Self {
        Self {
            drop_parameters: Vec::new(),
            drop_sessions: Vec::new(),
            stand_in: self.stand_in.clone(),
            names: self.names.clone(),
            ..Self::default()
        }
    }

    /// The key of an absolute URL.
    ///
    /// ```
    /// use crawler::url_key::Identity;
    ///
    /// let key = Identity::default().parse("HTTP://Example.com:80/%7ejo/?utm_source=mail#top")?;
    /// assert_eq!(key.as_str(), "http://example.com/~jo/");
    /// # Ok::<(), crawler::url_key::UrlKeyError>(())
    /// ```
    ///
    /// # Errors
    /// See [`UrlKeyError`].
    pub fn parse(&self, text: &str) -> Result<UrlKey, UrlKeyError> {
        guard(text)?;
        let url = Url::parse(text).map_err(|_| UrlKeyError::Syntax)?;
        self.key_of(&url)
    }

    /// The key of a reference found on a page: `base` is the document's base URL (its own URL, or the resolved `<base>`),
    /// `encoding` the document's, which encodes its query (WHATWG URL).
    ///
    /// # Errors
    /// See [`UrlKeyError`].
    pub fn resolve(
        &self,
        base: &Url,
        reference: &str,
        encoding: &'static Encoding,
    ) -> Result<UrlKey, UrlKeyError> {
        guard(reference)?;
        let reference = with_two_slashes(reference);
        let encoding = encoding.output_encoding();
        let encode: EncodingOverride<'_> = Some(&|query| encode_query(encoding, query));
        let url = Url::options()
            .base_url(Some(base))
            .encoding_override(encode.filter(|_| encoding != UTF_8))
            .parse(&reference)
            .map_err(|_| UrlKeyError::Syntax)?;
        self.key_of(&url)
    }

    /// 64-bit fingerprint (XXH3) of these settings and of the version of the rules without a switch:
    /// keys that were made under another fingerprint may have to be made again.
    pub fn fingerprint(&self) -> u64 {
        xxhash_rust::xxh3::xxh3_64(self.to_string().as_bytes())
    }

    fn key_of(&self, url: &Url) -> Result<UrlKey, UrlKeyError> {
        let key = self.normal_form(url)?;
        let key = match &self.names {
            Some(names) => names.key_of_site(key),
            None => key,
        };
        match &self.stand_in {
            Some(stand_in) => stand_in.crawled(key),
            None => Ok(key),
        }
    }

    fn normal_form(&self, url: &Url) -> Result<UrlKey, UrlKeyError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(UrlKeyError::Scheme);
        }
        let path = self.path(url.path());
        let query = url.query().and_then(|query| self.query(query));
        let host = url.host_str().ok_or(UrlKeyError::Syntax)?;
        let short_host = without_trailing_dot(host);
        let is_plain = short_host == host && url.username().is_empty() && url.password().is_none();

        // Most URLs are normal already: then the parser's text is the key.
        if is_plain && path.is_none() && query.is_none() {
            let end = if url.query() == Some("") {
                Position::AfterPath
            } else {
                Position::AfterQuery
            };
            let host_end = url[..Position::AfterHost].len();
            return UrlKey::from_parts(&url[..end], host_end, url[..Position::BeforePath].len());
        }

        let mut text = String::with_capacity(url.as_str().len());
        text.push_str(url.scheme());
        text.push_str("://");
        text.push_str(short_host);
        let host_end = text.len();
        text.push_str(&url[Position::AfterHost..Position::BeforePath]);
        let path_at = text.len();
        text.push_str(path.as_deref().unwrap_or(url.path()));
        let query = query.as_deref().or(url.query()).unwrap_or_default();
        if !query.is_empty() {
            text.push('?');
            text.push_str(query);
        }
        UrlKey::from_parts(&text, host_end, path_at)
    }

    /// The normal form of a path; `None` when it is normal already.
    fn path(&self, path: &str) -> Option<String> {
        let mut text = Cow::Borrowed(path);
        replace(&mut text, normal_form::escapes);
        replace(&mut text, normal_form::without_forbidden);
        replace(&mut text, |path| {
            normal_form::without_session_suffixes(path, '/', &self.drop_sessions)
        });
        replace(&mut text, |path| {
            normal_form::without_session_segments(path, &self.drop_sessions)
        });
        if self.normalize.slashes {
            replace(&mut text, normal_form::without_doubled_slashes);
        }
        if self.normalize.index_pages {
            replace(&mut text, normal_form::without_index_page);
        }
        changed(text)
    }

    /// The normal form of a query; `None` when it is normal already, empty text when all parameters are dropped.
    fn query(&self, query: &str) -> Option<String> {
        let mut text = Cow::Borrowed(query);
        replace(&mut text, normal_form::escapes);
        replace(&mut text, normal_form::without_forbidden);
        replace(&mut text, |query| {
            normal_form::without_session_suffixes(query, '&', &self.drop_sessions)
        });
        let rules = normal_form::QueryRules {
            drop: &self.drop_parameters,
            sessions: &self.drop_sessions,
            sort: self.normalize.parameter_order,
            drop_empty: self.normalize.empty_parameters,
        };
        replace(&mut text, |query| normal_form::query(query, rules));
        changed(text)
    }
}

/// Returns whether the defaults leave a parameter, or a session id in the path, out of `key`.
pub(crate) fn has_presumed_parameters(key: &UrlKey) -> bool {
    static DEFAULT: LazyLock<Identity> = LazyLock::new(Identity::default);
    let has_sign = key.path_and_query().contains(['?', ';', '(']);
    has_sign && DEFAULT.parse(key.as_str()).is_ok_and(|short| short != *key)
}

/// All settings on one line, lists sorted: equal lines make equal keys.
impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |names: &[String]| {
            let mut names: Vec<String> =
                names.iter().map(|name| name.to_ascii_lowercase()).collect();
            names.sort_unstable();
            names.dedup();
            names.join(",")
        };
        write!(
            f,
            "rules={RULES_VERSION} drop_parameters={} drop_sessions={} slashes={} parameter_order={} \
             empty_parameters={} index_pages={}",
            list(&self.drop_parameters),
            list(&self.drop_sessions),
            self.normalize.slashes,
            self.normalize.parameter_order,
            self.normalize.empty_parameters,
            self.normalize.index_pages,
        )?;
        if let Some(stand_in) = &self.stand_in {
            write!(f, " stand_in={}", stand_in.text())?;
        }
        match &self.names {
            Some(names) => write!(f, " names={names}"),
            None => Ok(()),
        }
    }
}

fn replace(text: &mut Cow<'_, str>, rule: impl Fn(&str) -> Option<String>) {
    if let Some(changed) = rule(text) {
        *text = Cow::Owned(changed);
    }
}

fn changed(text: Cow<'_, str>) -> Option<String> {
    match text {
        Cow::Borrowed(_) => None,
        Cow::Owned(text) => Some(text),
    }
}

/// Refuses references that need not be parsed: text without end, and the many `data:`, `mailto:` and `javascript:` references of
/// a page.
fn guard(text: &str) -> Result<(), UrlKeyError> {
    if has_foreign_scheme(text) {
        Err(UrlKeyError::Scheme)
    } else if text.len() > MAX_REFERENCE_BYTES {
        Err(UrlKeyError::TooLong)
    } else {
        Ok(())
    }
}

/// Returns whether a reference is absolute with a scheme other than http(s). The bases of pages are http(s), so everything else
/// is decided by the URL parser.
pub(crate) fn has_foreign_scheme(text: &str) -> bool {
    if memchr::memchr(b':', text.as_bytes()).is_none() {
        return false;
    }
    let mut scheme = [0_u8; 5];
    for (length, character) in significant(text).enumerate() {
        match character {
            ':' if length > 0 => {
                let scheme = scheme.get(..length);
                return !scheme.is_some_and(|scheme| matches!(scheme, b"http" | b"https"));
            }
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if length > 0 => {}
            _ => return false,
        }
        if let (Some(slot), Ok(byte)) = (scheme.get_mut(length), u8::try_from(character)) {
            *slot = byte.to_ascii_lowercase();
        }
    }
    false
}

/// The characters that a URL parser sees: outer spaces and controls, tabs and line ends gone.
fn significant(text: &str) -> impl Iterator<Item = char> {
    text.trim_start_matches(|character| character <= ' ')
        .chars()
        .filter(|character| !matches!(character, '\t' | '\n' | '\r'))
}

/// `///host/x` as `//host/x`: WHATWG URL skips the further slashes, the `url` crate finds no host.
fn with_two_slashes(reference: &str) -> Cow<'_, str> {
    let is_skipped = |character| matches!(character, '/' | '\\' | '\t' | '\n' | '\r');
    let trimmed = reference.trim_start_matches(|character| character <= ' ');
    let rest = trimmed.trim_start_matches(is_skipped);
    let slashes = significant(trimmed.split_at(trimmed.len() - rest.len()).0).count();
    if slashes > 2 {
        Cow::Owned(format!("//{rest}"))
    } else {
        Cow::Borrowed(reference)
    }
}

/// Without the dot that marks a fully qualified name. A host of dots only, or with an empty last
/// label, names nothing either way and stays.
fn without_trailing_dot(host: &str) -> &str {
    match host.strip_suffix('.') {
        Some(name) if !name.is_empty() && !name.ends_with('.') => name,
        Some(_) | None => host,
    }
}

/// Percent-encode after encoding (WHATWG URL): a character that `encoding` lacks becomes an escaped numeric character reference.
fn encode_query<'a>(encoding: &'static Encoding, query: &'a str) -> Cow<'a, [u8]> {
    if query.is_ascii() {
        return Cow::Borrowed(query.as_bytes());
    }
    let mut encoder = encoding.new_encoder();
    let mut output = Vec::with_capacity(query.len() * 2);
    let mut rest = query;
    loop {
        let (result, read) =
            encoder.encode_from_utf8_to_vec_without_replacement(rest, &mut output, true);
        rest = rest.split_at(read).1;
        match result {
            EncoderResult::InputEmpty => return Cow::Owned(output),
            EncoderResult::OutputFull => output.reserve(rest.len() * 2 + 16),
            EncoderResult::Unmappable(character) => {
                output.extend_from_slice(format!("%26%23{}%3B", u32::from(character)).as_bytes());
            }
        }
    }
}
