//! A site of any size for `tests/bench/run`: pages of 4 KiB with 20 links each, computed from their number, so that a
//! million of them take no memory. One thread per connection; answers cost less than any crawler spends on them.
//!
//! ```text
//! server site PORT PAGES   serves the pages on 127.0.0.1. Prints `listening`, and then the milliseconds since the first answer
//!                          after each tenth of PAGES answers. `/counts` has two numbers: pages that were asked for, answers 304
//! server docs PAGES        the same with pages of 15 to 35 KB as generators write them, on a port that it prints: `config/build`
//!                          finds out with them which code runs
//! server urls PAGES        prints the URLs of the pages, as input of `arpent build`
//! ```
//!
//! Page 0 is `/`. Page n links to the pages 10n+1 to 10n+10, which makes all of them reachable, and to others by a hash.

#[path = "../../crawler/benches/reading/pages.rs"]
mod pages;

use std::{
    env,
    io::{self, BufWriter, Read, Write},
    iter,
    net::{TcpListener, TcpStream},
    process::ExitCode,
    sync::{
        Mutex, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Instant,
};

/// Bytes of a page.
const PAGE_BYTES: usize = 4_096;

/// Links of a page, and how many of them make all pages reachable.
const LINKS: usize = 20;
const CHILDREN: u64 = 10;

/// Bytes of the text that pages take their sentences from.
const POOL_BYTES: usize = 1 << 20;

/// Bytes of the head of a request at most.
const MAX_HEAD_BYTES: usize = 16 * 1_024;

const WORDS: [&str; 32] = [
    "arpent", "field", "measure", "walk", "chain", "border", "stone", "river", "meadow", "orchard",
    "hedge", "parish", "survey", "map", "scale", "north", "slope", "ditch", "road", "bridge",
    "mill", "forest", "clearing", "barn", "well", "garden", "wall", "gate", "marsh", "ridge",
    "valley", "spring",
];

/// What all connections share.
struct Site {
    pages: u64,
    /// Pages are those of generators.
    has_docs: bool,
    pool: Vec<u8>,
    /// Answers with a page, and of them those that say 304.
    answers: AtomicU64,
    unchanged: AtomicU64,
    /// A bit for each page that was asked for.
    asked: Vec<AtomicU64>,
    began: OnceLock<Instant>,
    /// One line of progress at a time.
    output: Mutex<()>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        ["site", port, pages] => match (port.parse(), pages.parse()) {
            (Ok(port), Ok(pages)) => serve(port, pages, false),
            _ => Err(io::Error::other("PORT and PAGES are numbers")),
        },
        ["docs", pages] => match pages.parse() {
            Ok(pages) => serve(0, pages, true),
            Err(_) => Err(io::Error::other("PAGES is a number")),
        },
        ["urls", pages] => match pages.parse() {
            Ok(pages) => print_urls(pages),
            Err(_) => Err(io::Error::other("PAGES is a number")),
        },
        _ => Err(io::Error::other(
            "usage: site PORT PAGES, docs PAGES, or urls PAGES",
        )),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            drop(writeln!(io::stderr(), "error: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn print_urls(pages: u64) -> io::Result<()> {
    let mut output = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let mut line = Vec::new();
    for number in 0..pages {
        line.clear();
        line.extend_from_slice(b"https://bench.example");
        line.extend_from_slice(path(number).as_bytes());
        line.push(b'\n');
        output.write_all(&line)?;
    }
    output.flush()
}

fn serve(port: u16, pages: u64, has_docs: bool) -> io::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    let site: &'static Site = Box::leak(Box::new(Site {
        pages,
        has_docs,
        pool: pool(),
        answers: AtomicU64::new(0),
        unchanged: AtomicU64::new(0),
        asked: (0..pages.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
        began: OnceLock::new(),
        output: Mutex::new(()),
    }));
    if port == 0 {
        writeln!(io::stdout(), "{}", listener.local_addr()?.port())?;
    }
    writeln!(io::stdout(), "listening")?;
    loop {
        let (connection, _) = listener.accept()?;
        // A crawler that opens more connections than there are threads loses some.
        let thread = thread::Builder::new().stack_size(128 * 1_024);
        drop(thread.spawn(move || drop(converse(connection, site))));
    }
}

/// Answers the requests of a connection until it ends.
fn converse(mut connection: TcpStream, site: &Site) -> io::Result<()> {
    connection.set_nodelay(true)?;
    let mut received = Vec::with_capacity(MAX_HEAD_BYTES);
    let mut answer = Vec::with_capacity(2 * PAGE_BYTES);
    let mut buffer = [0; MAX_HEAD_BYTES];
    loop {
        let Some(end) = received.windows(4).position(|it| it == b"\r\n\r\n") else {
            let count = connection.read(&mut buffer)?;
            if count == 0 || received.len() + count > MAX_HEAD_BYTES {
                return Ok(());
            }
            received.extend_from_slice(&buffer[..count]);
            continue;
        };
        let head = String::from_utf8_lossy(&received[..end]);
        let keep_alive = write_answer(&mut answer, &head, site);
        drop(head);
        received.drain(..end + 4);
        connection.write_all(&answer)?;
        if !keep_alive {
            return Ok(());
        }
    }
}

/// Writes the answer to a request, and returns whether the connection goes on.
fn write_answer(answer: &mut Vec<u8>, head: &str, site: &Site) -> bool {
    answer.clear();
    let mut lines = head.split("\r\n");
    let mut first = lines.next().unwrap_or_default().split(' ');
    let method = first.next().unwrap_or_default();
    let path = first.next().unwrap_or_default();
    let (mut seen, mut keep_alive) = ("", true);
    for line in lines {
        let (name, value) = line.split_once(':').unwrap_or_default();
        if name.eq_ignore_ascii_case("if-none-match") {
            seen = value.trim();
        } else if name.eq_ignore_ascii_case("connection") {
            keep_alive = !value.trim().eq_ignore_ascii_case("close");
        }
    }
    if path == "/counts" {
        let asked = site.asked.iter().map(|bits| bits.load(Ordering::Relaxed));
        let asked: u32 = asked.map(u64::count_ones).sum();
        let text = format!("{asked} {}", site.unchanged.load(Ordering::Relaxed));
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", text.len());
        answer.extend_from_slice(head.as_bytes());
        answer.extend_from_slice(text.as_bytes());
        return keep_alive;
    }
    let number = number_of(path).filter(|number| *number < site.pages);
    let Some(number) = number else {
        let status = "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\n";
        answer.extend_from_slice(status.as_bytes());
        answer.extend_from_slice(b"Content-Length: 0\r\n\r\n");
        return keep_alive;
    };
    let bits = &site.asked[usize::try_from(number / 64).unwrap_or_default()];
    bits.fetch_or(1 << (number % 64), Ordering::Relaxed);
    let tag = format!("\"{number}\"");
    if seen == tag {
        answer.extend_from_slice(b"HTTP/1.1 304 Not Modified\r\nETag: ");
        answer.extend_from_slice(tag.as_bytes());
        answer.extend_from_slice(b"\r\n\r\n");
        site.unchanged.fetch_add(1, Ordering::Relaxed);
        count(site);
        return keep_alive;
    }
    let status = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nETag: ";
    answer.extend_from_slice(status.as_bytes());
    answer.extend_from_slice(tag.as_bytes());
    let page = site.has_docs.then(|| docs_page(number, site));
    let bytes = page.as_ref().map_or(PAGE_BYTES, String::len);
    answer.extend_from_slice(format!("\r\nContent-Length: {bytes}\r\n\r\n").as_bytes());
    if method != "HEAD" {
        match page {
            Some(page) => answer.extend_from_slice(page.as_bytes()),
            None => push_page(answer, number, site),
        }
        count(site);
    }
    keep_alive
}

/// Counts an answer; after each tenth of the pages it prints the time.
fn count(site: &Site) {
    let began = site.began.get_or_init(Instant::now);
    let answers = site.answers.fetch_add(1, Ordering::Relaxed) + 1;
    if answers.is_multiple_of((site.pages / 10).max(1)) {
        let _one_at_a_time = site.output.lock();
        drop(writeln!(io::stdout(), "{}", began.elapsed().as_millis()));
    }
}

/// Appends a page of exactly [`PAGE_BYTES`].
fn push_page(answer: &mut Vec<u8>, number: u64, site: &Site) {
    let start = answer.len();
    let title = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Parcel {number}</title>\
         <link rel=\"stylesheet\" href=\"/style.css\"></head>\n<body><h1>Parcel {number}</h1>\n<ul>\n"
    );
    answer.extend_from_slice(title.as_bytes());
    for link in links(number, site).take(LINKS) {
        answer.extend_from_slice(b"<li><a href=\"");
        answer.extend_from_slice(path(link).as_bytes());
        answer.extend_from_slice(b"\">parcel</a></li>\n");
    }
    answer.extend_from_slice(b"</ul>\n<main><p>");
    let end = b"</p></main></body></html>\n";
    let text = PAGE_BYTES - (answer.len() - start) - end.len();
    let from = mix(number) % (POOL_BYTES - PAGE_BYTES) as u64;
    let from = usize::try_from(from).unwrap_or_default();
    answer.extend_from_slice(&site.pool[from..from + text]);
    answer.extend_from_slice(end);
}

/// The page of a generator, with its links to others replaced.
fn docs_page(number: u64, site: &Site) -> String {
    let place = usize::try_from(number).unwrap_or_default();
    let page = pages::page(pages::GENERATORS[place % pages::GENERATORS.len()], place);
    let mut parts = page.split("href=\"");
    let mut text = parts.next().unwrap_or_default().to_owned();
    // The first is the canonical link.
    let mut links = iter::once(number).chain(links(number, site));
    for part in parts {
        text.push_str("href=\"");
        let mut kept = part;
        if !part.starts_with('#') {
            text.extend(links.next().map(path));
            kept = &part[part.find('"').unwrap_or_default()..];
        }
        text.push_str(kept);
    }
    text
}

/// The pages that a page links to, without end.
fn links(number: u64, site: &Site) -> impl Iterator<Item = u64> {
    let pages = site.pages;
    let children = (1..=CHILDREN).map(move |child| number * CHILDREN + child);
    let children = children.filter(move |child| *child < pages);
    let others = (1..).map(move |other| mix(number ^ mix(other)) % pages);
    children.chain(others)
}

/// The path of a page: directories of 10,000 pages, with directories of 100.
fn path(number: u64) -> String {
    match number {
        0 => "/".to_owned(),
        _ => format!("/{}/{}/{number}.html", number / 10_000, number / 100 % 100),
    }
}

/// The page of a path.
fn number_of(path: &str) -> Option<u64> {
    if path == "/" {
        return Some(0);
    }
    let (_, name) = path.rsplit_once('/')?;
    name.strip_suffix(".html")?.parse().ok()
}

/// Words in no order, without markup.
fn pool() -> Vec<u8> {
    let mut pool = Vec::with_capacity(POOL_BYTES + 16);
    for position in 0.. {
        if pool.len() >= POOL_BYTES {
            break;
        }
        let word = usize::try_from(mix(position) % WORDS.len() as u64).unwrap_or_default();
        pool.extend_from_slice(WORDS[word].as_bytes());
        pool.push(b' ');
    }
    pool
}

/// A number that looks random (the finaliser of `SplitMix64`).
fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
