//! Readers of the settings of requests: names, credentials, addresses. Secrets are never repeated in a message.

use std::{borrow::Cow, net::IpAddr};

use crawler::{
    config::{Credentials, RenderMode, Resolve, Secret},
    driver::{HOST_PLACE, SITE_PLACE, directory},
    url_key::{Identity, UrlKey},
};

use super::value::{Read, Value, Wrong, filled, optional_text, text, word};

/// Headers that arpent sets itself, or that would break the reading of answers.
const RESERVED_HEADERS: &[&str] = &[
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "host",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "keep-alive",
    "proxy-connection",
    "range",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
];

/// Headers that carry secrets: they should not be typed, a process list shows them.
const SECRET_HEADERS: &[&str] = &["authorization", "cookie", "proxy-authorization"];

/// Returns whether a header of this name carries a secret.
pub(crate) fn is_secret_header(name: &str) -> bool {
    SECRET_HEADERS
        .iter()
        .any(|secret| name.eq_ignore_ascii_case(secret))
}

/// `NAME: VALUE`.
pub(crate) fn header(value: &Value) -> Read<(String, Secret)> {
    // The value may be secret, so a wrong header is not repeated as a whole.
    const EXPECTED: &str = "expected a header such as \"Accept-Language: fr\"";
    let Value::Text(line) = value else {
        return Err(Wrong::new(EXPECTED));
    };
    let (name, content) = line
        .split_once(':')
        .ok_or_else(|| Wrong::new(format!("{EXPECTED}, found no colon")))?;
    let (name, content) = (name.trim_ascii(), content.trim_ascii());
    if !is_token(name) {
        return Err(Wrong::new(format!("{EXPECTED}, found the name \"{name}\"")));
    }
    if RESERVED_HEADERS
        .iter()
        .any(|reserved| name.eq_ignore_ascii_case(reserved))
    {
        return Err(Wrong::new(format!("arpent sets the header {name} itself")));
    }
    if !content.bytes().all(is_field_byte) {
        return Err(Wrong::new(format!(
            "the value of the header {name} contains a control or non-ASCII character"
        )));
    }
    Ok((name.to_owned(), Secret::new(content)))
}

/// `user:password`; empty: none.
pub(crate) fn basic_auth(value: &Value) -> Read<Option<Credentials>> {
    const EXPECTED: &str = "expected \"user:password\"";
    let Value::Text(text) = value else {
        return Err(Wrong::new(EXPECTED));
    };
    if text.is_empty() {
        return Ok(None);
    }
    // RFC 7617 section 2: the user name holds no colon, neither part a control character.
    match text.split_once(':') {
        Some((user, password)) if !text.chars().any(char::is_control) => {
            Ok(Some(Credentials::Basic {
                user: user.to_owned(),
                password: Secret::new(password),
            }))
        }
        Some(_) => Err(Wrong::new(format!("{EXPECTED}, found a control character"))),
        None => Err(Wrong::new(format!("{EXPECTED}, found no colon"))),
    }
}

/// A token as RFC 6750 section 2.1 allows it; empty: none.
pub(crate) fn bearer_token(value: &Value) -> Read<Option<Credentials>> {
    const EXPECTED: &str = "expected a token of letters, digits and -._~+/=";
    let Value::Text(text) = value else {
        return Err(Wrong::new(EXPECTED));
    };
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
    match text.as_str() {
        "" => Ok(None),
        text if text.bytes().all(allowed) => Ok(Some(Credentials::Bearer(Secret::new(text)))),
        _ => Err(Wrong::new(format!("{EXPECTED}, found another character"))),
    }
}

/// The `User-Agent`; empty: the default.
pub(crate) fn user_agent(value: &Value) -> Read<Option<String>> {
    const EXPECTED: &str =
        "a User-Agent of visible ASCII that begins with a name, such as \"example-bot/1.0\"";
    let found = optional_text(value, EXPECTED)?;
    // RFC 9309 section 2.2.1: robots.txt groups are looked up by a product token of letters, _ and -.
    let begins_with_name = |text: &str| {
        text.starts_with(|letter: char| letter.is_ascii_alphabetic() || "_-".contains(letter))
    };
    match found {
        Some(text) if !begins_with_name(&text) || !text.bytes().all(is_field_byte) => {
            Err(Wrong::found(EXPECTED, value))
        }
        Some(_) | None => Ok(found),
    }
}

/// A URL or mail address for the `User-Agent`; empty: none.
pub(crate) fn contact(value: &Value) -> Read<Option<String>> {
    const EXPECTED: &str = "a URL or mail address of visible ASCII without brackets";
    let found = optional_text(value, EXPECTED)?;
    let allowed = |byte: u8| byte.is_ascii_graphic() && !b"()".contains(&byte);
    match found {
        Some(text) if !text.bytes().all(allowed) => Err(Wrong::found(EXPECTED, value)),
        Some(_) | None => Ok(found),
    }
}

/// `HOST:PORT:ADDRESS`; an IPv6 address with or without brackets.
pub(crate) fn resolve(value: &Value) -> Read<Resolve> {
    const EXPECTED: &str = "HOST:PORT:ADDRESS such as \"www.example.com:443:192.0.2.1\"";
    let wrong = || Wrong::found(EXPECTED, value);
    let line = text(value, EXPECTED)?;
    let (host, rest) = line.split_once(':').ok_or_else(wrong)?;
    let (port, address) = rest.split_once(':').ok_or_else(wrong)?;
    let bare = address
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(address);
    let address: IpAddr = bare.parse().map_err(|_| wrong())?;
    let port = port
        .parse()
        .ok()
        .filter(|port| *port != 0)
        .ok_or_else(wrong)?;
    // The host as a URL would have it: lower case, internationalised names as A-labels.
    let key = Identity::default()
        .parse(&format!("http://{host}/"))
        .map_err(|_| wrong())?;
    if host.is_empty() || host.contains(['/', '?', '#', '@']) {
        return Err(wrong());
    }
    Ok(Resolve {
        host: key.origin().host.to_string(),
        port,
        address,
    })
}

/// Which pages are rendered.
pub(crate) fn render(value: &Value) -> Read<RenderMode> {
    let words = [
        ("auto", RenderMode::Auto),
        ("always", RenderMode::Always),
        ("never", RenderMode::Never),
    ];
    let mode = word(value, &words)?;
    if mode != RenderMode::Never && cfg!(not(feature = "render")) {
        return Err(Wrong::new(
            "this program was built without render; remove the setting, use a package of arpent, or build arpent with --features render",
        ));
    }
    Ok(mode)
}

/// The name of a host, as a URL has it.
pub(crate) fn host(value: &Value) -> Read<String> {
    const EXPECTED: &str = "the name of a host such as \"cdn.example.net\"";
    let name = filled(value, EXPECTED)?;
    let url = Identity::default().parse(&format!("http://{name}/"));
    match url {
        Ok(url) if !name.contains(['/', '?', '#', '@', ':']) => Ok(url.origin().host.to_string()),
        _ => Err(Wrong::found(EXPECTED, value)),
    }
}

/// The proxy's URL; empty: none.
pub(crate) fn proxy(value: &Value) -> Read<Option<String>> {
    // It may hold a password, so it is not repeated.
    const EXPECTED: &str = "expected a proxy such as \"http://proxy.example:3128\"";
    let Value::Text(text) = value else {
        return Err(Wrong::new(EXPECTED));
    };
    if text.is_empty() {
        return Ok(None);
    }
    let is_proxy = Identity::default()
        .parse(text)
        .is_ok_and(|url| url.path_and_query() == "/");
    if is_proxy {
        Ok(Some(text.clone()))
    } else {
        Err(Wrong::new(EXPECTED))
    }
}

/// Form of the URL of a directory, for messages.
pub(crate) const DIRECTORY_FORM: &str =
    "the http or https URL of a directory, without query and user name";

/// Names allowed in braces in a public URL, for messages.
const PLACES_FORM: &str = "only {site} and {host} in braces";

/// The URL of a directory, with or without places for the site's name or host; gets its slash. Empty: the
/// scope's directory.
pub(crate) fn public_url(value: &Value) -> Read<Option<String>> {
    let Some(found) = optional_text(value, DIRECTORY_FORM)? else {
        return Ok(None);
    };
    let example = found
        .replace(SITE_PLACE, "https_example.com")
        .replace(HOST_PLACE, "example.com");
    if example.contains(['{', '}']) {
        return Err(Wrong::found(PLACES_FORM, value));
    }
    let url = directory(&example).ok_or_else(|| Wrong::found(DIRECTORY_FORM, value))?;
    Ok(Some(if example == found {
        url.to_string()
    } else {
        format!("{}/", found.trim_end_matches('/'))
    }))
}

/// Returns whether several sites on one host would have the same public URL.
pub(crate) fn is_one_for_a_host(public_url: &str) -> bool {
    public_url.contains(HOST_PLACE) && !public_url.contains(SITE_PLACE)
}

/// The URL of the directory that a site is written as; gets its slash. Empty: the site itself.
pub(crate) fn written_as(value: &Value) -> Read<Option<UrlKey>> {
    let Some(found) = optional_text(value, DIRECTORY_FORM)? else {
        return Ok(None);
    };
    directory(&found)
        .map(Some)
        .ok_or_else(|| Wrong::found(DIRECTORY_FORM, value))
}

/// A typed URL with its scheme: a host without one means `https://`.
pub(crate) fn with_scheme(typed: &str) -> Cow<'_, str> {
    let authority = typed.split(['/', '?', '#']).next().unwrap_or_default();
    let (host, port) = authority.split_once(':').unwrap_or((authority, ""));
    let is_host = host.contains('.') || host == "localhost";
    let may_be_host =
        |byte: u8| byte.is_ascii_alphanumeric() || b".-".contains(&byte) || !byte.is_ascii();
    if is_host
        && host.bytes().all(may_be_host)
        && !host.starts_with(['.', '-'])
        && port.bytes().all(|byte| byte.is_ascii_digit())
    {
        Cow::Owned(format!("https://{typed}"))
    } else {
        Cow::Borrowed(typed)
    }
}

/// Returns whether the authority of a URL holds a password.
pub(crate) fn has_password(url: &str) -> bool {
    let authority = url.split_once("//").map_or(url, |(_, rest)| rest);
    let user = authority.rsplit_once('@').map(|(user, _)| user);
    user.is_some_and(|user| user.contains(':'))
}

/// A token of RFC 9110 section 5.6.2.
pub(crate) fn is_token(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(allowed)
}

/// Bytes of a header value: visible ASCII, spaces and tabs.
fn is_field_byte(byte: u8) -> bool {
    byte.is_ascii_graphic() || byte == b' ' || byte == b'\t'
}
