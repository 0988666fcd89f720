//! The rules after [`super::Identity`], as functions from one part of a parsed URL to its normal form. Each returns `None` when
//! there is nothing to change, so that the common case allocates nothing.

use memchr::memchr;

/// Escapes in upper case, and escapes of unreserved characters decoded (RFC 3986 sections 6.2.2.1 and 6.2.2.2). A `%` without an
/// escape stays, and nothing is encoded a second time.
pub(super) fn escapes(text: &str) -> Option<String> {
    let (head, escaped) = text.split_once('%')?;
    let mut output = String::with_capacity(text.len());
    output.push_str(head);
    for piece in escaped.split('%') {
        let Some((digits, tail)) = piece.split_at_checked(2) else {
            output.push('%');
            output.push_str(piece);
            continue;
        };
        match byte_of(digits) {
            // Right after a stray `%` a decoded hexadecimal digit would complete an escape that was not written, and a second
            // pass would decode it: `%2%65` must not become `%2e`.
            Some(byte)
                if is_unreserved(byte)
                    && !(byte.is_ascii_hexdigit() && ends_in_stray_percent(&output)) =>
            {
                output.push(byte.into());
            }
            Some(_) => {
                output.push('%');
                output.extend(digits.chars().map(|digit| digit.to_ascii_uppercase()));
            }
            None => {
                output.push('%');
                output.push_str(digits);
            }
        }
        output.push_str(tail);
    }
    (output != text).then_some(output)
}

/// Text that a person wrote, e.g. a pattern, in the spelling of keys: characters impossible in URLs (spaces, controls, everything
/// beyond ASCII) as escapes, and escapes as [`escapes`] writes them.
pub(crate) fn key_spelling(text: &str) -> String {
    let mut output = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_graphic() {
            output.push(byte.into());
        } else {
            let digits = [byte >> 4, byte & 15].map(|digit| char::from_digit(digit.into(), 16));
            output.push('%');
            output.extend(digits.into_iter().flatten());
        }
    }
    escapes(&output).unwrap_or(output)
}

/// Characters escaped that RFC 3986 allows in neither path nor query, and which the URL parser of
/// browsers leaves as they are: a sitemap may not hold them.
pub(super) fn without_forbidden(text: &str) -> Option<String> {
    const FORBIDDEN: [char; 11] = ['"', '<', '>', '[', '\\', ']', '^', '`', '{', '|', '}'];
    text.contains(FORBIDDEN).then(|| {
        let mut output = String::with_capacity(text.len() + 8);
        for character in text.chars() {
            if FORBIDDEN.contains(&character) {
                output.extend(escape_of(character));
            } else {
                output.push(character);
            }
        }
        output
    })
}

/// The other writing of the escapes of a normal form, in which links have them too: characters raw that browsers send raw, all other
/// escapes in lower case. `None`: it is the same.
pub(crate) fn other_escapes(text: &str) -> Option<String> {
    let (head, escaped) = text.split_once('%')?;
    let mut output = String::with_capacity(text.len());
    output.push_str(head);
    for piece in escaped.split('%') {
        let (digits, tail) = piece.split_at_checked(2).unwrap_or((piece, ""));
        match byte_of(digits)
            .filter(|_| digits.len() == 2)
            .map(char::from)
        {
            Some(raw @ ('[' | ']' | '^' | '|')) => output.push(raw),
            Some(_) => {
                output.push('%');
                output.push_str(&digits.to_ascii_lowercase());
            }
            None => {
                output.push('%');
                output.push_str(digits);
            }
        }
        output.push_str(tail);
    }
    (output != text).then_some(output)
}

/// `%XX` for a character of ASCII.
pub(crate) fn escape_of(character: char) -> [char; 3] {
    let code = u32::from(character);
    let digit = |value: u32| {
        char::from_digit(value & 15, 16).map_or('0', |digit| digit.to_ascii_uppercase())
    };
    ['%', digit(code >> 4), digit(code)]
}

fn byte_of(digits: &str) -> Option<u8> {
    if digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        u8::from_str_radix(digits, 16).ok()
    } else {
        None
    }
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

fn ends_in_stray_percent(text: &str) -> bool {
    match text.as_bytes() {
        [.., b'%'] => true,
        [.., b'%', digit] => digit.is_ascii_hexdigit(),
        _ => false,
    }
}

/// Session ids written as `;name=value` after a path segment or a query parameter, dropped. `separator` divides the text: `/` in
/// paths, `&` in queries.
pub(super) fn without_session_suffixes(
    text: &str,
    separator: char,
    sessions: &[String],
) -> Option<String> {
    memchr(b';', text.as_bytes())?;
    let mut output = String::with_capacity(text.len());
    for (index, segment) in text.split(separator).enumerate() {
        if index > 0 {
            output.push(separator);
        }
        let start = output.len();
        let mut pieces = segment.split(';');
        output.extend(pieces.next());
        for suffix in pieces.clone() {
            if !is_session(suffix, || pieces.clone(), sessions) {
                output.push(';');
                output.push_str(suffix);
            }
        }
        // The rest must not turn into a dot segment: `/a/..;jsessionid=1` is not `/`.
        if separator == '/' && matches!(output.split_at(start).1, "." | "..") {
            output.truncate(start);
            output.push_str(segment);
        }
    }
    (output != text).then_some(output)
}

/// Query parameters that stay, and their order.
#[derive(Debug, Clone, Copy)]
pub(super) struct QueryRules<'a> {
    pub(super) drop: &'a [String],
    pub(super) sessions: &'a [String],
    pub(super) sort: bool,
    pub(super) drop_empty: bool,
}

/// The query under `rules`; `Some("")` when all of it is dropped.
pub(super) fn query(text: &str, rules: QueryRules<'_>) -> Option<String> {
    let parameters = || text.split('&');
    let is_dropped = |parameter: &str| {
        let name = name_of(parameter);
        (rules.drop_empty && parameter.is_empty())
            || rules.drop.iter().any(|pattern| matches_name(pattern, name))
            || is_session(parameter, parameters, rules.sessions)
    };
    if !rules.sort && !parameters().any(is_dropped) {
        return None;
    }
    let mut kept: Vec<&str> = parameters()
        .filter(|parameter| !is_dropped(parameter))
        .collect();
    if rules.sort {
        kept.sort_by_key(|parameter| name_of(parameter));
    }
    let output = kept.join("&");
    (output != text).then_some(output)
}

/// Runs of slashes as one.
pub(super) fn without_doubled_slashes(path: &str) -> Option<String> {
    if !path.contains("//") {
        return None;
    }
    let mut output = String::with_capacity(path.len());
    for character in path.chars() {
        if character != '/' || !output.ends_with('/') {
            output.push(character);
        }
    }
    Some(output)
}

/// The path without a last segment that names the index page of its directory.
pub(super) fn without_index_page(path: &str) -> Option<String> {
    let (directory, file) = path.rsplit_once('/')?;
    is_index_page(file).then(|| format!("{directory}/"))
}

/// `index` or `default` with an ending of pages: the names that web servers ship as index pages.
pub(super) fn is_index_page(file: &str) -> bool {
    const ENDINGS: [&str; 23] = [
        "html", "htm", "xhtml", "xhtm", "shtml", "shtm", "phtml", "php", "php3", "php4", "php5",
        "php6", "php7", "asp", "aspx", "jsp", "jspx", "jspa", "jspf", "jsf", "jsfx", "cgi", "cfm",
    ];
    file.split_once('.').is_some_and(|(stem, ending)| {
        ["index", "default"]
            .iter()
            .any(|name| stem.eq_ignore_ascii_case(name))
            && ENDINGS
                .iter()
                .any(|known| ending.eq_ignore_ascii_case(known))
    })
}

/// The name of a parameter: the text before its first `=`.
fn name_of(parameter: &str) -> &str {
    parameter
        .split_once('=')
        .map_or(parameter, |(name, _)| name)
}

/// Returns whether `parameter` is a session id. An entry with `+` names parameters that are only dropped where all of them occur
/// together (`others` are all parameters there); one that ends with `=` only counts with a value that can be an id.
fn is_session<'a, I: Iterator<Item = &'a str>>(
    parameter: &str,
    others: impl Fn() -> I,
    sessions: &[String],
) -> bool {
    let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
    sessions.iter().any(|entry| {
        if let Some(entry) = entry.strip_suffix('=') {
            return is_id(value) && matches_name(entry, name);
        }
        if !entry.contains('+') {
            return matches_name(entry, name);
        }
        entry.split('+').any(|part| matches_name(part, name))
            && entry
                .split('+')
                .all(|part| others().any(|other| matches_name(part, name_of(other))))
    })
}

/// Returns whether a value has at least 16 characters, letters and digits only, and both.
fn is_id(value: &str) -> bool {
    value.len() >= 16
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// The path without segments that are session ids, as in `/(S(abc))/page`: entries that begin with a parenthesis.
pub(super) fn without_session_segments(path: &str, sessions: &[String]) -> Option<String> {
    if !path.contains("/(") {
        return None;
    }
    let is_session = |segment: &&str| {
        segment.ends_with("))")
            && sessions
                .iter()
                .any(|entry| entry.starts_with('(') && matches_name(entry, segment))
    };
    let kept: Vec<&str> = path
        .split('/')
        .filter(|segment| !is_session(segment))
        .collect();
    let output = if kept.len() == 1 {
        "/".to_owned()
    } else {
        kept.join("/")
    };
    (output != path).then_some(output)
}

/// Without case; a trailing `*` in `pattern` matches any rest.
fn matches_name(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    match pattern.split_last() {
        Some((b'*', prefix)) => name
            .get(..prefix.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(prefix)),
        Some(_) | None => name.eq_ignore_ascii_case(pattern),
    }
}
