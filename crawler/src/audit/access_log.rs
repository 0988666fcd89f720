//! Lines of access logs of web servers in three forms: the common log format, the combined one, and JSON with the names of nginx and
//! Caddy. Pure; any bytes have a result.

use std::{
    borrow::Cow,
    io::{self, BufRead, Read as _},
};

use flate2::bufread::MultiGzDecoder;
use serde_json::{Map, Value};

/// The longest line that is read, in bytes: twice what servers allow for a request line and a `Referer` together.
const MAX_LINE_BYTES: u64 = 64 * 1024;

/// The first two bytes of gzip (RFC 1952 section 2.3.1).
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The object of a JSON line whose fields count like those of the line, as Caddy writes it.
const NESTED: &str = "request";

/// Names of one fact in JSON lines.
const METHODS: &[&str] = &["method", "request_method"];
const TARGETS: &[&str] = &["request_uri", "uri", "url"];
const STATUSES: &[&str] = &["status"];
const HOSTS: &[&str] = &["host", "http_host"];
const USER_AGENTS: &[&str] = &["user_agent", "http_user_agent"];

/// A request in an access log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct LoggedRequest {
    pub(super) method: String,
    /// Path and query, or a URL.
    pub(super) target: String,
    pub(super) status: u16,
    /// Without its port.
    pub(super) host: Option<String>,
    pub(super) user_agent: Option<String>,
}

/// Shows each line of a log, plain or gzipped, as a request; `None`: it cannot be read as one.
///
/// # Errors
/// The log cannot be read to its end; or `show` fails.
pub(super) fn each_request<E: From<io::Error>>(
    mut input: impl BufRead,
    show: &mut dyn FnMut(Option<LoggedRequest>) -> Result<(), E>,
) -> Result<(), E> {
    if input.fill_buf()?.starts_with(&GZIP_MAGIC) {
        let unpacked = io::BufReader::new(MultiGzDecoder::new(input));
        return each_line(unpacked, show);
    }
    each_line(input, show)
}

fn each_line<E: From<io::Error>>(
    mut input: impl BufRead,
    show: &mut dyn FnMut(Option<LoggedRequest>) -> Result<(), E>,
) -> Result<(), E> {
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut bounded = input.by_ref().take(MAX_LINE_BYTES);
        if bounded.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        if bounded.limit() == 0 && !line.ends_with(b"\n") {
            input.skip_until(b'\n')?;
            show(None)?;
        } else if !line.trim_ascii().is_empty() {
            show(request_of(&line))?;
        }
    }
}

fn request_of(line: &[u8]) -> Option<LoggedRequest> {
    let line = line.trim_ascii();
    if line.starts_with(b"{") {
        let fields: Map<String, Value> = serde_json::from_slice(line).ok()?;
        return Fields(&fields).request();
    }
    combined(&String::from_utf8_lossy(line))
}

/// A line of the combined log format, or of the common one, which ends after the bytes:
/// `client ident user [time] "GET /path HTTP/1.1" 200 bytes "referer" "user agent"`.
fn combined(line: &str) -> Option<LoggedRequest> {
    let (_, rest) = line.split_once(" [")?;
    let (_, rest) = rest.split_once("] ")?;
    let (request, rest) = quoted(rest)?;
    let mut rest = rest.trim_start();
    let status = rest.split(' ').next()?;
    let mut found = of_request_line(&request, status.parse().ok()?)?;
    while let Some(start) = rest.find('"') {
        let Some((text, after)) = quoted(&rest[start..]) else {
            break;
        };
        found.user_agent = Some(text.into_owned());
        rest = after;
    }
    Some(found)
}

/// `GET /path HTTP/1.1`, the version being left out by old clients.
fn of_request_line(line: &str, status: u16) -> Option<LoggedRequest> {
    let (method, rest) = line.split_once(' ')?;
    let target = match rest.rsplit_once(' ') {
        Some((target, version)) if version.starts_with("HTTP/") => target,
        _ => rest,
    };
    let is_token = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase());
    (is_token && !target.is_empty()).then(|| LoggedRequest {
        method: method.to_owned(),
        target: target.to_owned(),
        status,
        ..LoggedRequest::default()
    })
}

/// The text between two quotation marks at the start of `text`, without the escapes of nginx and Apache, and what follows.
fn quoted(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let text = text.strip_prefix('"')?;
    let mut end = None;
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => {
                end = Some(at);
                break;
            }
            _ => {}
        }
    }
    let (inside, rest) = text.split_at(end?);
    Some((unescaped(inside), &rest[1..]))
}

/// `\"`, `\\` and `\xHH` as what they represent.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let escape = (byte == b'\\').then_some(after);
        match escape {
            Some([b'x', high, low, after @ ..]) => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16);
                if let (Some(high), Some(low)) = (digit(high), digit(low)) {
                    bytes.extend(u8::try_from(high * 16 + low));
                    rest = after;
                } else {
                    bytes.push(byte);
                }
            }
            Some([escaped, after @ ..]) => {
                bytes.push(*escaped);
                rest = after;
            }
            Some([]) | None => bytes.push(byte),
        }
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

/// The fields of a JSON line.
struct Fields<'a>(&'a Map<String, Value>);

impl Fields<'_> {
    fn request(&self) -> Option<LoggedRequest> {
        let status = self.text(STATUSES)?.parse().ok()?;
        let line = self.text(&["request"]);
        let mut found = line.and_then(|line| of_request_line(&line, status));
        if let Some(target) = self.text(TARGETS).filter(|_| found.is_none()) {
            found = Some(LoggedRequest {
                method: self.text(METHODS).unwrap_or_else(|| "GET".to_owned()),
                target,
                status,
                ..LoggedRequest::default()
            });
        }
        let mut found = found?;
        found.host = self.text(HOSTS).map(|host| without_port(&host).to_owned());
        found.user_agent = self.text(USER_AGENTS).or_else(|| {
            let values = self.0.get(NESTED)?.get("headers")?.get("User-Agent")?;
            Some(values.get(0)?.as_str()?.to_owned())
        });
        Some(found)
    }

    /// The first field of these names, here or in an object that counts like the line.
    fn text(&self, names: &[&str]) -> Option<String> {
        let nested = self.0.get(NESTED).and_then(Value::as_object);
        let objects: Vec<_> = std::iter::once(self.0).chain(nested).collect();
        let values = names
            .iter()
            .flat_map(|name| objects.iter().filter_map(|object| object.get(*name)));
        let mut texts = values.filter_map(|value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        });
        texts.find(|text| !text.is_empty() && text != "-")
    }
}

/// `host` of `host:port`.
fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    /// Method, target, status, host and user agent of a line.
    fn facts(line: &str) -> Option<(String, String, u16, String, String)> {
        let request = request_of(line.as_bytes())?;
        Some((
            request.method,
            request.target,
            request.status,
            request.host.unwrap_or_default(),
            request.user_agent.unwrap_or_default(),
        ))
    }

    #[track_caller]
    fn check(line: &str, expected: (&str, &str, u16, &str, &str)) {
        let (method, target, status, host, user_agent) = expected;
        let [method, target, host, user_agent] =
            [method, target, host, user_agent].map(str::to_owned);
        assert_eq!(
            facts(line),
            Some((method, target, status, host, user_agent))
        );
    }

    #[test]
    fn combined_lines_are_read_with_quotes_and_escapes() {
        check(
            r#"192.0.2.1 - - [10/Oct/2026:13:55:36 -0700] "GET /a?b=1 HTTP/1.1" 200 2326 "https://h/" "Mozilla/5.0 (X; \"Y\")""#,
            ("GET", "/a?b=1", 200, "", "Mozilla/5.0 (X; \"Y\")"),
        );
        check(
            r#"2001:db8::1 - jo [10/Oct/2026:13:55:36 -0700] "HEAD /\xc3\xa4\x22 HTTP/2.0" 404 -"#,
            ("HEAD", "/ä\"", 404, "", ""),
        );
        check(
            r#"192.0.2.1 - - [x] "GET http://h.example/a b HTTP/1.1" 301 0 "-" "-""#,
            ("GET", "http://h.example/a b", 301, "", "-"),
        );
        check(
            r#"a - - [x] "GET /old" 200 1"#,
            ("GET", "/old", 200, "", ""),
        );
        for line in [
            "",
            "garbage",
            r#"a - - [x] "-" 400 0 "-" "-""#,
            r#"a - - [x] "\x16\x03\x01" 400 0 "-" "-""#,
            r#"a - - [x] "GET /a HTTP/1.1"#,
            r#"a - - [x] "GET /a HTTP/1.1" x 0"#,
            r#"a - - [x] "GET  HTTP/1.1" 200 0"#,
        ] {
            assert_eq!(facts(line), None, "{line}");
        }
        assert_eq!(request_of(b"\xff\xfe[] \"\\"), None);
    }

    #[test]
    fn json_lines_are_read() {
        // nginx, with log_format escape=json.
        check(
            r#"{"remote_addr":"192.0.2.1","request":"GET /a HTTP/1.1","status":"200","http_host":"h.example:8080","http_user_agent":"x"}"#,
            ("GET", "/a", 200, "h.example", "x"),
        );
        check(
            r#"{"request_method":"GET","uri":"/a/?b=1","status":200,"host":"h.example"}"#,
            ("GET", "/a/?b=1", 200, "h.example", ""),
        );
        // Caddy.
        check(
            r#"{"level":"info","request":{"method":"GET","host":"h.example","uri":"/a?b=1","headers":{"User-Agent":["y"]}},"status":404}"#,
            ("GET", "/a?b=1", 404, "h.example", "y"),
        );
        for line in [
            "{",
            "{}",
            r#"{"status":200}"#,
            r#"{"uri":"/a"}"#,
            r#"{"uri":"/a","status":"x"}"#,
            "[1]",
        ] {
            assert_eq!(facts(line), None, "{line}");
        }
    }

    #[test]
    fn lines_are_bounded_and_gzip_is_unpacked() {
        let long = "x".repeat(2 * 64 * 1024);
        let text = format!(
            "a - - [x] \"GET /1 HTTP/1.1\" 200 1\n\n{long}\n{{}}\na - - [x] \"GET /2 HTTP/1.1\" 200 1"
        );
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(text.as_bytes()).unwrap();
        for input in [text.into_bytes(), packed.finish().unwrap()] {
            let mut targets = Vec::new();
            let show = &mut |request: Option<LoggedRequest>| {
                targets.push(request.map_or_else(|| "?".to_owned(), |request| request.target));
                io::Result::Ok(())
            };
            each_request(&input[..], show).unwrap();
            assert_eq!(targets, ["/1", "?", "?", "/2"]);
        }
        let cut = &[0x1f, 0x8b, 8, 0][..];
        each_request(cut, &mut |_| io::Result::Ok(())).unwrap_err();
    }
}
