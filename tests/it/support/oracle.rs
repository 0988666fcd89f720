//! A slow crawler for comparison: breadth-first, one request at a time, whole pages in memory, a
//! tree by html5ever. It shares no code with arpent, so a set of pages on which both agree is
//! probably right.
//!
//! It supports only what documentation sites need: plain HTTP, no robots.txt, UTF-8 (other bytes are
//! not in links), no tracking parameters, headers without directives.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    io::{Read as _, Write as _},
    net::TcpStream,
};

use scraper::{ElementRef, Html, Selector};
use url::Url;

/// The result of the oracle.
#[derive(Debug, Default)]
pub struct Found {
    /// URLs that belong into the sitemap, with their `Last-Modified` as sent.
    pub listed: BTreeMap<String, Option<String>>,
    /// URLs of the site that do not.
    pub others: BTreeSet<String>,
}

struct Answer {
    status: u16,
    headers: HashMap<String, String>,
    body: Vec<u8>,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

/// Crawls the plain-http site of `start`, everything below its directory.
pub fn crawl(start: &str) -> Found {
    let start = one_spelling(Url::parse(start).expect("a URL"));
    let directory = start.join(".").expect("a directory");
    let is_ours =
        |url: &Url| url.as_str().starts_with(directory.as_str()) && url.path() != "/robots.txt";
    let mut found = Found::default();
    let mut seen = BTreeSet::from([start.to_string()]);
    let mut queue = VecDeque::from([start]);
    while let Some(url) = queue.pop_front() {
        let answer = get(&url);
        let mut targets = Vec::new();
        if judge(&url, &answer, &mut targets) {
            let last_modified = answer.header("last-modified").map(str::to_owned);
            found.listed.insert(url.to_string(), last_modified);
        } else {
            found.others.insert(url.to_string());
        }
        for target in targets {
            let target = one_spelling(target);
            if is_ours(&target) && seen.insert(target.to_string()) {
                queue.push_back(target);
            }
        }
    }
    // The index page of a directory is the directory, which is listed.
    let directory = |url: &String| url.strip_suffix("index.html").map(str::to_owned);
    let copies: Vec<String> = (found.listed.keys())
        .filter(|url| directory(url).is_some_and(|directory| found.listed.contains_key(&directory)))
        .cloned()
        .collect();
    for copy in copies {
        found.listed.remove(&copy);
        found.others.insert(copy);
    }
    found
}

/// Returns whether the page belongs into the sitemap; adds its targets.
fn judge(url: &Url, answer: &Answer, targets: &mut Vec<Url>) -> bool {
    if matches!(answer.status, 301 | 302 | 303 | 307 | 308) {
        let location = answer.header("location");
        targets.extend(location.and_then(|location| url.join(location).ok()));
        return false;
    }
    if answer.status != 200 || answer.body.is_empty() {
        return false;
    }
    let content_type = answer.header("content-type").unwrap_or_default();
    let (essence, _) = content_type.split_once(';').unwrap_or((content_type, ""));
    match essence.trim() {
        "text/html" | "application/xhtml+xml" => judge_page(url, &answer.body, targets),
        "application/pdf" | "application/postscript" | "application/rtf" => true,
        _ => false,
    }
}

/// The same for HTML that was answered with 200.
fn judge_page(url: &Url, body: &[u8], targets: &mut Vec<Url>) -> bool {
    let page = Html::parse_document(&String::from_utf8_lossy(body));
    // With scripting on, the parser reads the content of noscript as text.
    let noscripts: Vec<Html> = select(&page, "noscript")
        .into_iter()
        .map(|noscript| Html::parse_fragment(&noscript.text().collect::<String>()))
        .collect();
    let everything = || [&page].into_iter().chain(&noscripts);
    let base = select(&page, "base[href]")
        .first()
        .and_then(|base| url.join(base.attr("href")?).ok())
        .filter(is_http)
        .unwrap_or_else(|| url.clone());

    let directives: BTreeSet<String> = everything()
        .flat_map(|page| select(page, "meta[name][content]"))
        .filter(|meta| {
            let name = meta.attr("name").unwrap_or_default().to_ascii_lowercase();
            name == "robots" || name == "googlebot"
        })
        .flat_map(|meta| meta.attr("content").unwrap_or_default().split(','))
        .map(|word| word.trim().to_ascii_lowercase())
        .collect();
    let says = |word| directives.contains(word) || directives.contains("none");

    let refreshes: Vec<(bool, Url)> = everything()
        .flat_map(|page| select(page, "meta[http-equiv=refresh i][content]"))
        .filter_map(|meta| read_refresh(meta.attr("content")?, &base))
        .collect();
    let leaves_at_once = refreshes
        .iter()
        .any(|(at_once, target)| *at_once && one_spelling(target.clone()) != *url);
    targets.extend(refreshes.into_iter().map(|(_, target)| target));

    let canonicals: BTreeSet<Url> = select(&page, "head > link[rel~=canonical i][href]")
        .into_iter()
        .filter(|link| {
            let limits = ["hreflang", "lang", "media", "type"];
            limits.iter().all(|name| link.attr(name).is_none())
        })
        .filter_map(|link| link.attr("href").filter(|target| !target.trim().is_empty()))
        .filter_map(|target| base.join(target).ok())
        .filter(is_http)
        .map(one_spelling)
        .collect();
    let is_elsewhere = canonicals.len() == 1 && !canonicals.contains(url);
    targets.extend(canonicals);

    if !leaves_at_once && !says("nofollow") {
        everything().for_each(|page| collect_links(page, &base, targets));
    }
    !leaves_at_once && !says("noindex") && !is_elsewhere
}

/// Reads `content` of a meta refresh as the HTML standard has it ("shared declarative refresh steps"):
/// whether it happens at once, and its target. A refresh without a target leads to the page itself and
/// has no result.
fn read_refresh(content: &str, base: &Url) -> Option<(bool, Url)> {
    let blank = |character: char| character.is_ascii_whitespace();
    let content = content.trim_start_matches(blank);
    let digits = content.len()
        - content
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .len();
    let (seconds, rest) = content.split_at(digits);
    if seconds.is_empty() && !rest.starts_with('.') {
        return None;
    }
    let rest =
        rest.trim_start_matches(|character: char| character.is_ascii_digit() || character == '.');
    if !rest.starts_with([';', ',']) && !rest.starts_with(blank) {
        return None;
    }
    let rest = rest.trim_start_matches(blank);
    let rest = rest
        .strip_prefix([';', ','])
        .unwrap_or(rest)
        .trim_start_matches(blank);
    let named = rest
        .get(..3)
        .filter(|name| name.eq_ignore_ascii_case("url"))
        .and_then(|name| {
            rest.strip_prefix(name)?
                .trim_start_matches(blank)
                .strip_prefix('=')
        })
        .map_or(rest, |target| target.trim_start_matches(blank));
    let target = match named.strip_prefix(['"', '\'']) {
        Some(quoted) => quoted.split(&named[..1]).next().unwrap_or_default(),
        None => named,
    };
    let target = base.join(target).ok().filter(is_http)?;
    Some((seconds.trim_start_matches('0').is_empty(), target))
}

fn collect_links(page: &Html, base: &Url, targets: &mut Vec<Url>) {
    let kinds = [
        ("a[href]", "href"),
        ("area[href]", "href"),
        ("iframe[src]", "src"),
        ("frame[src]", "src"),
        ("link[rel~=next i][href]", "href"),
        ("link[rel~=prev i][href]", "href"),
        ("link[rel~=amphtml i][href]", "href"),
        ("link[rel~=alternate i][hreflang][href]", "href"),
    ];
    for (selector, attribute) in kinds {
        for element in select(page, selector) {
            let rel = element.attr("rel").unwrap_or_default().to_ascii_lowercase();
            let is_nofollow = rel
                .split(|character: char| character == ',' || character.is_ascii_whitespace())
                .any(|word| matches!(word, "nofollow" | "ugc" | "sponsored"));
            let is_in_template = element
                .ancestors()
                .filter_map(ElementRef::wrap)
                .any(|above| above.value().name() == "template");
            if !is_nofollow && !is_in_template {
                let target = element
                    .attr(attribute)
                    .and_then(|target| base.join(target).ok());
                targets.extend(target.filter(is_http));
            }
        }
    }
}

fn select<'a>(page: &'a Html, selector: &str) -> Vec<ElementRef<'a>> {
    let selector = Selector::parse(selector).expect("a selector");
    page.select(&selector).collect()
}

fn is_http(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}

/// One spelling of the URLs of a page: no fragment, no empty query, and escapes as RFC 3986 sections
/// 6.2.2.1 and 6.2.2.2 normalise them.
fn one_spelling(mut url: Url) -> Url {
    url.set_fragment(None);
    url.set_path(&respell(url.path()));
    let query = url.query().filter(|query| !query.is_empty()).map(respell);
    url.set_query(query.as_deref());
    url
}

/// Escapes in upper case, and none for characters that need no escape.
fn respell(text: &str) -> String {
    let mut pieces = text.split('%');
    let mut respelled = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let is_escape =
            piece.len() >= 2 && piece.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
        let (digits, rest) = piece.split_at(if is_escape { 2 } else { 0 });
        match u8::from_str_radix(digits, 16) {
            Ok(byte) if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => {
                respelled.push(byte.into());
            }
            Ok(_) | Err(_) => {
                respelled.push('%');
                respelled.push_str(&digits.to_ascii_uppercase());
            }
        }
        respelled.push_str(rest);
    }
    respelled
}

/// One GET over a connection of its own.
fn get(url: &Url) -> Answer {
    let host = url.host_str().expect("a host");
    let port = url.port_or_known_default().expect("a port");
    let mut stream =
        TcpStream::connect((host, port)).unwrap_or_else(|error| panic!("{url}: {error}"));
    let mut target = url.path().to_owned();
    if let Some(query) = url.query() {
        target.push('?');
        target.push_str(query);
    }
    let request =
        format!("GET {target} HTTP/1.0\r\nHost: {host}:{port}\r\nUser-Agent: oracle\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("sent");
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("an answer");
    let end = bytes
        .windows(4)
        .position(|window| window == b"\r\n\r\n")
        .expect("a head");
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.split("\r\n");
    let status = lines
        .next()
        .and_then(|line| line.split(' ').nth(1)?.parse().ok())
        .expect("a status");
    let headers = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    Answer {
        status,
        headers,
        body: bytes.split_off(end + 4),
    }
}
