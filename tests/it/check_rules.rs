//! Every rule of the protocol that a document, its place or a set can break, through `arpent check`: one set of files that breaks
//! it, where that is said, and one that is as near to it as can be and does not.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
    time::SystemTime,
};

use flate2::{Compression, write::GzEncoder};
use serde_json::Value;

use crate::support::program::Ran;

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
const SITEMAP: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";

/// Files by name, and what is typed besides the path: the file itself if there is one, else their folder.
struct Given {
    files: Vec<(String, Vec<u8>)>,
    arguments: Vec<String>,
}

impl Given {
    fn file(name: &str, content: impl Into<Vec<u8>>) -> Self {
        Self {
            files: vec![(name.to_owned(), content.into())],
            arguments: Vec::new(),
        }
    }

    fn and(mut self, name: &str, content: impl Into<Vec<u8>>) -> Self {
        self.files.push((name.to_owned(), content.into()));
        self
    }

    fn at(self, url: &str) -> Self {
        self.with("--at", url)
    }

    fn with(mut self, option: &str, value: &str) -> Self {
        self.arguments.extend([option.to_owned(), value.to_owned()]);
        self
    }
}

/// What the program found, as it says it with `--format json`.
struct Found {
    code: i32,
    findings: Vec<Value>,
}

impl Found {
    /// Whether a rule is broken in this way, in this line.
    fn has(&self, rule: &str, severity: &str, line: Option<u64>) -> bool {
        self.findings.iter().any(|finding| {
            finding["rule"] == rule
                && finding["severity"] == severity
                && finding["line"].as_u64() == line
        })
    }
}

fn check(given: &Given) -> Found {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in &given.files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        // Long ago, so that no date in a file is the file's own by chance.
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    }
    let sitemaps: Vec<_> = given
        .files
        .iter()
        .filter(|(name, _)| !name.ends_with("robots"))
        .collect();
    let path = match sitemaps[..] {
        [(name, _)] => name.as_str(),
        _ => ".",
    };
    run(folder.path(), path, &given.arguments)
}

fn run(folder: &Path, path: &str, arguments: &[String]) -> Found {
    let ran = Ran::of(command(folder, path, arguments));
    let said: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| {
        panic!("{error}: {} {}", ran.stdout, ran.stderr);
    });
    Found {
        code: ran.code.unwrap(),
        findings: said["findings"].as_array().unwrap().clone(),
    }
}

fn command(folder: &Path, path: &str, arguments: &[String]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_arpent"));
    command.env_clear().current_dir(folder).stdin(Stdio::null());
    command.args(["check", path, "--format", "json"]);
    command.args(arguments);
    command
}

/// `fail` breaks the rule in this line, `pass` does not; an error decides the exit code.
#[track_caller]
fn rule(rule: &str, severity: &str, line: impl Into<Option<u64>>, fail: &Given, pass: &Given) {
    let line = line.into();
    let found = check(fail);
    assert!(
        found.has(rule, severity, line),
        "{rule} {severity} in line {line:?} is missing: {:#?}",
        found.findings
    );
    if severity == "error" {
        assert_eq!(found.code, 1, "{rule}");
    }
    let found = check(pass);
    assert!(
        found.findings.iter().all(|finding| finding["rule"] != rule),
        "{rule} is told of what keeps it: {:#?}",
        found.findings
    );
}

/// A urlset of these lines: the first stands in line 3.
fn urlset(lines: &str) -> Given {
    Given::file("sitemap.xml", urlset_text(lines))
}

fn urlset_text(lines: &str) -> String {
    format!("{HEAD}<urlset xmlns=\"{SITEMAP}\">\n{lines}\n</urlset>\n")
}

fn index(lines: &str) -> Given {
    Given::file("sitemap.xml", index_text(lines))
}

fn index_text(lines: &str) -> String {
    format!("{HEAD}<sitemapindex xmlns=\"{SITEMAP}\">\n{lines}\n</sitemapindex>\n")
}

/// One page with these elements behind its `loc`, in line 3.
fn page(elements: &str) -> Given {
    urlset(&format!(
        "<url><loc>https://h.example/a</loc>{elements}</url>"
    ))
}

/// One page with this URL, in line 3.
fn loc(url: &str) -> Given {
    urlset(&format!("<url><loc>{url}</loc></url>"))
}

fn sitemap(elements: &str) -> Given {
    index(&format!(
        "<sitemap><loc>https://h.example/a.xml</loc>{elements}</sitemap>"
    ))
}

/// One page with extensions, in line 3.
fn extended(elements: &str) -> Given {
    let namespaces = [
        ("image", "http://www.google.com/schemas/sitemap-image/1.1"),
        ("video", "http://www.google.com/schemas/sitemap-video/1.1"),
        ("news", "http://www.google.com/schemas/sitemap-news/0.9"),
        ("xhtml", "http://www.w3.org/1999/xhtml"),
    ]
    .map(|(prefix, uri)| format!(" xmlns:{prefix}=\"{uri}\""))
    .concat();
    let text = format!(
        "{HEAD}<urlset xmlns=\"{SITEMAP}\"{namespaces}>\n<url><loc>https://h.example/a</loc>{elements}</url>\n</urlset>\n"
    );
    Given::file("sitemap.xml", text)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

const GOOD: &str = "<url><loc>https://h.example/a</loc></url>";

fn good() -> Given {
    urlset(GOOD)
}

#[test]
fn xml_and_its_root() {
    rule(
        "R1",
        "error",
        3,
        &urlset("<url><loc>https://h.example/a</url>"),
        &good(),
    );
    let late = Given::file("sitemap.xml", format!("\n{}", urlset_text(GOOD)));
    rule("R1", "error", 2, &late, &good());
    let doctype = Given::file(
        "sitemap.xml",
        urlset_text(GOOD).replacen("<urlset", "<!DOCTYPE urlset>\n<urlset", 1),
    );
    rule("R1", "error", 2, &doctype, &good());
    let other_encoding = urlset_text(GOOD).replacen("UTF-8", "ISO-8859-1", 1);
    rule(
        "R2",
        "error",
        1,
        &Given::file("sitemap.xml", other_encoding),
        &good(),
    );
    let marked = Given::file("sitemap.xml", format!("\u{feff}{}", urlset_text(GOOD)));
    rule("R2", "note", 1, &marked, &good());
    rule(
        "R3",
        "error",
        3,
        &loc("https://h.example/?a=1&b=2"),
        &loc("https://h.example/?a=1&amp;b=2"),
    );
    let html = Given::file("sitemap.xml", "<!-- a page -->\n<html><body/></html>");
    rule("R4", "error", 2, &html, &good());
    let two_roots = Given::file("sitemap.xml", urlset_text(GOOD) + "<urlset/>\n");
    rule("R4", "error", 5, &two_roots, &good());
    let namespace = |uri: &str| Given::file("sitemap.xml", urlset_text(GOOD).replace(SITEMAP, uri));
    for wrong in [
        "",
        "https://www.sitemaps.org/schemas/sitemap/0.9",
        "http://www.sitemaps.org/schemas/sitemap/0.9/",
    ] {
        rule("R5", "error", 2, &namespace(wrong), &good());
    }
    // Some programs take the namespace away again; the entries are read all the same.
    let nowhere = urlset("<url xmlns=\"\"><loc>https://h.example/a</loc></url>");
    rule("R5", "error", 3, &nowhere, &good());
    assert!(!check(&nowhere).has("R68", "warning", Some(4)));
    let half_prefixed = format!(
        "{HEAD}<s:urlset xmlns:s=\"{SITEMAP}\">\n<url><loc>https://h.example/a</loc></url></s:urlset>"
    );
    rule(
        "R5",
        "error",
        3,
        &Given::file("sitemap.xml", half_prefixed),
        &good(),
    );
    let historic = namespace("http://www.google.com/schemas/sitemap/0.84");
    let prefixed = format!(
        "{HEAD}<s:urlset xmlns:s=\"{SITEMAP}\"><s:url><s:loc>https://h.example/a</s:loc></s:url></s:urlset>"
    );
    rule(
        "R5",
        "warning",
        2,
        &historic,
        &Given::file("sitemap.xml", prefixed),
    );
}

#[test]
fn beginning_names_and_prefixes_that_are_read_all_the_same() {
    let warning = "Warning: Undefined variable in /srv/map.php on line 3\n\n";
    let noisy = Given::file("sitemap.xml", format!("{warning}{}", urlset_text(GOOD)));
    rule("R1", "error", 3, &noisy, &good());
    let upper_case = |name: &str| {
        let text = urlset_text(GOOD)
            .replace(&format!("<{name}"), &format!("<{}", name.to_uppercase()))
            .replace(&format!("</{name}"), &format!("</{}", name.to_uppercase()));
        Given::file("sitemap.xml", text)
    };
    rule("R4", "error", 2, &upper_case("urlset"), &good());
    rule("R6", "error", 3, &upper_case("loc"), &good());
    let attribute = "<x:x xmlns:x=\"https://x.example/\" y:z=\"1\"/>";
    let declared = attribute.replace("y:z", "xmlns:y=\"https://y.example/\" y:z");
    let told = check(&page(attribute));
    assert!(told.has("R70", "error", Some(3)), "{:#?}", told.findings);
    let told = check(&page(&declared));
    assert!(!told.has("R70", "error", Some(3)), "{:#?}", told.findings);
    let feed = "<rss version=\"2.0\"><channel>\n<item><link>https://h.example/a</link>\n<media:content/></item></channel></rss>";
    let told = check(&Given::file("feed.xml", feed));
    assert!(told.has("R70", "error", Some(3)), "{:#?}", told.findings);
}

#[test]
fn damaged_compression_is_told_behind_all_that_can_be_read() {
    let mut file = gzip(urlset_text(GOOD).as_bytes());
    let last = file.len() - 1;
    file[last] ^= 1;
    let told = check(&Given::file("sitemap.xml.gz", file));
    assert!(told.has("R29", "error", Some(5)), "{:#?}", told.findings);
    assert_eq!(told.code, 1);
}

#[test]
fn elements_of_an_entry() {
    rule("R6", "warning", 3, &page("<title>x</title>"), &page(""));
    let bare = "<loc>https://h.example/a</loc>";
    rule("R6", "error", 3, &urlset(bare), &good());
    rule("R36", "error", 3, &index(bare), &sitemap(""));
    // However many warnings come before it, an error decides.
    let flood = urlset(&format!("{}<y>&nbsp;</y>{GOOD}", "<x/>".repeat(2_000)));
    rule("R22", "error", 3, &flood, &good());
    let wrong_case = "<urlset xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:schemalocation=\"a b\"";
    let wrong_case = urlset_text(GOOD).replacen("<urlset", wrong_case, 1);
    rule(
        "R6",
        "warning",
        2,
        &Given::file("sitemap.xml", wrong_case),
        &good(),
    );
    rule(
        "R7",
        "error",
        3,
        &urlset("<url><lastmod>2024-05-17</lastmod></url>"),
        &page(""),
    );
    rule("R7", "error", 3, &loc(""), &page(""));
    rule(
        "R7",
        "error",
        3,
        &page("<loc>https://h.example/b</loc>"),
        &page(""),
    );
    let dates = "<lastmod>2024-05-17</lastmod>";
    rule(
        "R8",
        "warning",
        3,
        &page(&format!("<priority>0.8</priority>{dates}")),
        &page(&format!("{dates}<priority>0.8</priority>")),
    );
    rule("R8", "error", 3, &page(&dates.repeat(2)), &page(dates));
}

#[test]
fn urls() {
    for relative in [
        "/a",
        "//h.example/a",
        "ftp://h.example/a",
        "https:///a",
        "h.example/a",
    ] {
        rule("R9", "error", 3, &loc(relative), &good());
    }
    rule(
        "R9",
        "warning",
        3,
        &loc("https://me:you@h.example/a"),
        &good(),
    );
    let long = |characters: usize| {
        loc(&format!(
            "https://h.example/{}",
            "a".repeat(characters - 18)
        ))
    };
    rule("R11", "warning", 3, &long(2_048), &long(2_047));
    rule("R11", "error", 3, &long(2_049), &long(2_047));
    rule(
        "R12",
        "warning",
        3,
        &loc("\nhttps://h.example/a\n"),
        &good(),
    );
    rule("R12", "error", 3, &loc("https://h.example/a\nb"), &good());
    rule(
        "R20",
        "note",
        3,
        &loc("https://h.example/it's"),
        &loc("https://h.example/it&apos;s"),
    );
    rule(
        "R20",
        "warning",
        3,
        &loc("https://h.example/?a&amp;amp;b"),
        &loc("https://h.example/?a&amp;b"),
    );
    rule(
        "R21",
        "error",
        3,
        &loc("https://h.example/&#1;"),
        &loc("https://h.example/%01"),
    );
    rule(
        "R22",
        "error",
        3,
        &loc("https://h.example/&eacute;"),
        &loc("https://h.example/&#233;"),
    );
    // The bytes of a server that is not in UTF-8 are its own business.
    rule(
        "R23",
        "warning",
        3,
        &loc("https://h.example/ümlat"),
        &loc("https://h.example/%FCmlat"),
    );
    for wrong in [
        "a b", "a%zz", "a{b}", "a|b", "a^b", "a`b", "a\\b", "a\"b", "100%",
    ] {
        rule(
            "R24",
            "error",
            3,
            &loc(&format!("https://h.example/{wrong}")),
            &good(),
        );
    }
    rule(
        "R24",
        "note",
        3,
        &loc("https://bücher.example/"),
        &loc("https://xn--bcher-kva.example/"),
    );
    // First the bytes, then the entities: the four forms of the protocol page.
    let four = [
        "http://www.example.com/%C3%BCmlat.html&amp;q=name",
        "http://www.example.com/%FCmlat.html&amp;q=name",
    ];
    for form in four {
        assert_eq!(check(&loc(form)).code, 0, "{form}");
        assert_eq!(check(&loc(&form.replace("&amp;", "&"))).code, 1, "{form}");
    }
    rule("R26", "note", 3, &loc("https://h.example:443/a"), &good());
}

#[test]
fn values_of_an_entry() {
    let lastmod = |value: &str| page(&format!("<lastmod>{value}</lastmod>"));
    for wrong in [
        "",
        "2004-12-23T18:00:15",
        "2004-12-23T18:00",
        "2005-01-01Z",
        "2005-01-01T24:00:00Z",
        "-2005-01-01",
        "2005-01-01 10:00:00",
        "20050101",
        "01/02/2005",
        "Mon, 02 Mar 2026 04:00:11 GMT",
        "1104537600",
        "2005-02-30",
        "2005-13-01",
        "2004-12-23T18:00:15+0000",
        "2004-12-23T23:59:60Z",
        "2004-12-23t18:00:15Z",
        "12005-01-01",
        "0000-01-01",
    ] {
        rule(
            "R13",
            "error",
            3,
            &lastmod(wrong),
            &lastmod("2004-12-23T18:00:15.5+00:00"),
        );
    }
    let fine = lastmod("2004-12-23T18:00:15.123456789012+00:00");
    rule("R13", "error", 3, &lastmod("2004-12-23T18:00:15.Z"), &fine);
    for schema in [
        "2005",
        "2005-01",
        "2004-12-23T18:00+00:00",
        " 2005-01-01 ",
        "2004-12-23T18:00:15+14:30",
    ] {
        rule(
            "R13",
            "warning",
            3,
            &lastmod(schema),
            &lastmod("2005-01-01"),
        );
    }
    rule(
        "R14",
        "warning",
        3,
        &lastmod("2999-01-01"),
        &lastmod("1990-01-01"),
    );
    rule(
        "R14",
        "warning",
        3,
        &lastmod("1989-12-31"),
        &lastmod("2005-01-01"),
    );
    // What only the schema refuses is a date nevertheless.
    for (wrong, right) in [
        ("2999", "2005"),
        ("2999-05", "2005-05"),
        ("2999-05-17T10:00Z", "2005-05-17T10:00Z"),
        ("1989", "1990"),
    ] {
        rule("R14", "warning", 3, &lastmod(wrong), &lastmod(right));
    }
    for wrong in ["Daily", " daily ", "sometimes", ""] {
        let changefreq = |value: &str| page(&format!("<changefreq>{value}</changefreq>"));
        rule("R16", "error", 3, &changefreq(wrong), &changefreq("daily"));
    }
    for wrong in ["1.1", "-0.1", "0,5", "1e-1", "NaN", "", "high"] {
        let priority = |value: &str| page(&format!("<priority>{value}</priority>"));
        rule("R18", "error", 3, &priority(wrong), &priority("1.0"));
    }
}

#[test]
fn values_that_all_entries_share() {
    let pages = |elements: [&str; 2]| {
        let [one, other] = elements;
        urlset(&format!(
            "<url><loc>https://h.example/a</loc>{one}</url>\n<url><loc>https://h.example/b</loc>{other}</url>"
        ))
    };
    let often = "<changefreq>always</changefreq>";
    let seldom = "<changefreq>yearly</changefreq>";
    rule(
        "R17",
        "note",
        3,
        &pages([often, often]),
        &pages([often, seldom]),
    );
    let (half, full) = ("<priority>0.5</priority>", "<priority>1.0</priority>");
    rule("R19", "note", 3, &pages([half, half]), &pages([half, full]));
    // The time of the file, which these tests set.
    let then = "<lastmod>1999-12-31T00:01:00Z</lastmod>";
    let date = "<lastmod>1999-12-31</lastmod>";
    let folder = tempfile::tempdir().unwrap();
    let told = |elements: [&str; 2]| {
        let path = folder.path().join("sitemap.xml");
        fs::write(&path, &pages(elements).files[0].1).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        let made = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(946_598_400);
        file.set_modified(made).unwrap();
        run(folder.path(), "sitemap.xml", &[]).has("R14", "warning", Some(3))
    };
    assert!(told([then, then]));
    assert!(!told([then, date]));
    assert!(!told([then, ""]));
}

#[test]
fn urls_are_listed_once() {
    let twice = format!("{GOOD}\n{GOOD}");
    rule("R26", "warning", 4, &urlset(&twice), &good());
    let with_date =
        urlset_text("<url><loc>https://h.example/a</loc><lastmod>2024-05-17</lastmod></url>");
    let two = |one: &str, other: &str| Given::file("a.xml", one).and("b.xml", other);
    rule(
        "R26",
        "warning",
        3,
        &two(&urlset_text(GOOD), &with_date),
        &two(&with_date, &with_date),
    );
    // Text and feeds beside a sitemap say other things than it, or nothing at all.
    let feed = "<feed xmlns=\"http://www.w3.org/2005/Atom\"><title>t</title><id>https://h.example/</id>\
                <updated>2024-05-18T00:00:00Z</updated><author><name>h</name></author>\
                <entry><title>a</title><link href=\"https://h.example/a\"/><id>https://h.example/a</id>\
                <updated>2024-05-18T00:00:00Z</updated></entry></feed>";
    let text = "https://h.example/a\n";
    let others = || Given::file("a.txt", text).and("b.atom", feed);
    rule(
        "R26",
        "warning",
        3,
        &others()
            .and("c.xml", with_date.as_str())
            .and("d.xml", urlset_text(GOOD)),
        &others().and("c.xml", with_date.as_str()).and("d.txt", text),
    );
}

#[test]
fn limits() {
    let many = |count: usize| {
        let lines: Vec<String> = (0..count)
            .map(|number| format!("<url><loc>https://h.example/{number}</loc></url>"))
            .collect();
        urlset(&lines.join("\n"))
    };
    rule("R27", "error", 50_003, &many(50_001), &many(50_000));
    let large = |bytes: usize| {
        let text = urlset_text(&format!("{GOOD}\n{}", " ".repeat(200_000) + "\n"));
        let (head, tail) = text.split_at(text.len() - "</urlset>\n".len());
        let mut text = head.to_owned();
        while text.len() + tail.len() + 1_001 <= bytes {
            text.push_str(&" ".repeat(1_000));
            text.push_str("<!-- -->\n");
        }
        while text.len() + tail.len() < bytes {
            text.push('\n');
        }
        Given::file("sitemap.xml.gz", gzip((text + tail).as_bytes()))
    };
    let lines = |given: &Given| {
        check(given)
            .findings
            .iter()
            .filter(|finding| finding["rule"] == "R28" && finding["severity"] == "error")
            .count()
    };
    assert_eq!(lines(&large(52_428_801)), 1);
    assert_eq!(lines(&large(52_428_800)), 0);
}

#[test]
fn compression() {
    let text = urlset_text(GOOD).into_bytes();
    let gz = |bytes: Vec<u8>| Given::file("sitemap.xml.gz", bytes);
    let good = gz(gzip(&text));
    rule(
        "R29",
        "error",
        1,
        &gz([b"PK\x03\x04".to_vec(), vec![0; 100]].concat()),
        &good,
    );
    rule("R29", "warning", 1, &gz(gzip(&gzip(&text))), &good);
    let cut = gzip(&text)[..60].to_vec();
    let found = check(&gz(cut)).findings;
    assert!(
        found
            .iter()
            .any(|finding| finding["rule"] == "R29" && finding["severity"] == "error")
    );
    let followed = [gzip(&text), b"more".to_vec()].concat();
    let found = check(&gz(followed)).findings;
    assert!(
        found
            .iter()
            .any(|finding| finding["rule"] == "R29" && finding["severity"] == "warning")
    );
    // Whatever the name says, and in several members.
    let two_members = [gzip(&text[..50]), gzip(&text[50..])].concat();
    assert_eq!(check(&Given::file("sitemap.xml", two_members)).code, 0);
}

#[test]
fn indexes() {
    let root = |text: String| Given::file("sitemap.xml", text);
    let good = sitemap("");
    let text = index_text("<sitemap><loc>https://h.example/a.xml</loc></sitemap>");
    rule(
        "R35",
        "error",
        2,
        &root(text.replace("http://www", "https://www")),
        &good,
    );
    rule("R36", "error", 3, &index("<sitemap/>"), &good);
    rule(
        "R36",
        "error",
        3,
        &index("<url><loc>https://h.example/a</loc></url>"),
        &good,
    );
    rule(
        "R36",
        "error",
        3,
        &urlset("<sitemap><loc>https://h.example/a.xml</loc></sitemap>"),
        &self::good(),
    );
    rule(
        "R36",
        "error",
        3,
        &sitemap("<changefreq>daily</changefreq>"),
        &good,
    );
    rule(
        "R36",
        "error",
        3,
        &sitemap("<priority>0.5</priority>"),
        &good,
    );
    let late =
        index("<sitemap><lastmod>2024-05-17</lastmod><loc>https://h.example/a.xml</loc></sitemap>");
    rule("R36", "warning", 3, &late, &good);
    rule(
        "R38",
        "error",
        1,
        &root(text.replace("UTF-8", "US-EBCDIC")),
        &good,
    );
    rule(
        "R39",
        "error",
        3,
        &index("<sitemap><loc>https://h.example/a.xml?a&b</loc></sitemap>"),
        &good,
    );
    rule(
        "R42",
        "error",
        3,
        &sitemap("<lastmod>yesterday</lastmod>"),
        &sitemap("<lastmod>2024-05-17</lastmod>"),
    );
    let many = |count: usize| {
        let lines: Vec<String> = (0..count)
            .map(|number| format!("<sitemap><loc>https://h.example/{number}.xml</loc></sitemap>"))
            .collect();
        index(&lines.join("\n"))
    };
    rule("R32", "error", 50_003, &many(50_001), &many(50_000));
    let found = check(&Given::file("sitemap.xml.gz", gzip(&gzip(text.as_bytes())))).findings;
    assert!(
        found
            .iter()
            .any(|finding| finding["rule"] == "R33" || finding["rule"] == "R29"),
        "{found:#?}"
    );
}

#[test]
fn what_an_index_lists() {
    let at = |given: Given| given.at("https://h.example/maps/");
    let child = |url: &str| at(index(&format!("<sitemap><loc>{url}</loc></sitemap>")));
    let below = child("https://h.example/maps/a.xml");
    rule(
        "R37",
        "error",
        3,
        &child("https://g.example/maps/a.xml"),
        &below,
    );
    rule(
        "R37",
        "error",
        3,
        &child("http://h.example/maps/a.xml"),
        &below,
    );
    rule(
        "R37",
        "warning",
        3,
        &child("https://h.example/a.xml"),
        &below,
    );
    // Without a place all have to be of one site.
    let two = |other: &str| {
        index(&format!(
            "<sitemap><loc>https://h.example/a.xml</loc></sitemap>\n<sitemap><loc>{other}</loc></sitemap>"
        ))
    };
    rule(
        "R37",
        "error",
        4,
        &two("https://g.example/b.xml"),
        &two("https://h.example/x/b.xml"),
    );
    rule(
        "R40",
        "error",
        3,
        &child("https://h.example/maps/sitemap.xml"),
        &below,
    );

    let set = |index: &str, other: &str| {
        Given::file("sitemap.xml", index)
            .and("a.xml", other)
            .at("https://h.example/")
    };
    let one = |name: &str| {
        index_text(&format!(
            "<sitemap><loc>https://h.example/{name}</loc></sitemap>"
        ))
    };
    let good = set(&one("a.xml"), &urlset_text(GOOD));
    rule("R40", "error", 3, &set(&one("a.xml"), &one("b.xml")), &good);
    rule(
        "R40",
        "error",
        3,
        &set(&one("a.xml"), &one("sitemap.xml")),
        &good,
    );
    rule(
        "R40",
        "error",
        3,
        &set(&one("gone.xml"), &urlset_text(GOOD)),
        &good,
    );
    // The index says where the folder is.
    let mut guessed = set(
        &index_text(
            "<sitemap><loc>https://h.example/x/a.xml</loc></sitemap>\n<sitemap><loc>https://h.example/x/gone.xml</loc></sitemap>",
        ),
        &urlset_text(GOOD),
    );
    guessed.arguments.clear();
    let found = check(&guessed);
    assert!(found.has("R40", "error", Some(4)), "{:#?}", found.findings);
    assert!(found.has("R58", "error", Some(3)), "{:#?}", found.findings);

    let index = one("a.xml");
    let listed = set(&index, &urlset_text(GOOD));
    let unlisted = set(&index, &urlset_text(GOOD)).and("b.xml", urlset_text(GOOD));
    rule("R31", "note", None, &unlisted, &listed);
    let no_index = set(&urlset_text(GOOD), &urlset_text(GOOD));
    rule("R31", "note", None, &no_index, &listed);
}

#[test]
fn dates_of_an_index() {
    let now = &now();
    let entry = |name: &str, date: &str| {
        format!("<sitemap><loc>https://h.example/{name}</loc><lastmod>{date}</lastmod></sitemap>")
    };
    let two =
        |one: &str, other: &str| index(&(entry("a.xml", one) + "\n" + &entry("b.xml", other)));
    rule(
        "R41",
        "warning",
        3,
        &two(now, now),
        &two(now, "2024-05-17T00:00:00Z"),
    );
    // Files that say the same of themselves prove it.
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.xml", "b.xml"] {
        fs::write(folder.path().join(name), urlset_text(GOOD)).unwrap();
    }
    fs::write(folder.path().join("sitemap.xml"), &two(now, now).files[0].1).unwrap();
    let found = run(folder.path(), ".", &[]);
    assert!(
        !found.has("R41", "warning", Some(3)),
        "{:#?}",
        found.findings
    );
}

/// The time it is, as a sitemap has it.
fn now() -> String {
    sitemap_core::LastMod::from_timestamp(jiff::Timestamp::now()).to_string()
}

#[test]
fn places() {
    let at = |page: &str, place: &str| loc(page).at(place);
    let catalog = "http://h.example/catalog/sitemap.xml";
    let good = at("http://h.example/catalog/show?item=23", catalog);
    for outside in [
        "http://h.example/catalog",
        "http://h.example/catalogue/x",
        "http://h.example/Catalog/x",
        "http://h.example/image/show",
        "http://h.example/catalog/../image/x",
        "http://h.example/catalog/%2e%2e/image/x",
        "http://h.example/catalog%2Fx",
    ] {
        rule("R58", "error", 3, &at(outside, catalog), &good);
    }
    rule(
        "R58",
        "error",
        3,
        &at("http://h.example/image/a", catalog),
        &at("http://h.example:80/%63atalog/x", catalog),
    );
    let query = "http://h.example/s.php?f=/catalog/x";
    rule(
        "R58",
        "error",
        3,
        &at("http://h.example/image/a", catalog),
        &at("http://h.example/any", query),
    );
    rule(
        "R59",
        "error",
        3,
        &at("https://h.example/catalog/page1.html", catalog),
        &good,
    );
    rule(
        "R60",
        "error",
        3,
        &at("http://blog.h.example/catalog/x", catalog),
        &good,
    );
    rule(
        "R60",
        "note",
        3,
        &at("http://www.h.example/catalog/x", catalog),
        &good,
    );
    rule(
        "R62",
        "note",
        None,
        &good,
        &at("http://h.example/x", "http://h.example/sitemap.xml"),
    );
    rule(
        "R64",
        "error",
        3,
        &at("http://h.example:8080/catalog/x", catalog),
        &good,
    );
    let port = "http://h.example:100/sitemap.xml";
    rule(
        "R64",
        "error",
        3,
        &at("http://h.example/x", port),
        &at("http://h.example:100/x", port),
    );
    // The port of the scheme is none.
    rule(
        "R64",
        "error",
        3,
        &at("https://h.example:8443/x", "https://h.example/sitemap.xml"),
        &at("https://h.example:443/x", "https://h.example/sitemap.xml"),
    );
    // Without a place all have to be of one origin.
    let two = |other: &str| urlset(&format!("{GOOD}\n<url><loc>{other}</loc></url>"));
    let same = two("https://h.example/x/b");
    rule("R59", "error", 4, &two("http://h.example/b"), &same);
    rule("R60", "error", 4, &two("https://g.example/b"), &same);
    rule("R64", "error", 4, &two("https://h.example:8443/b"), &same);
    // What is refused does not cost the others.
    let refused = check(&two("https://g.example/b"));
    let told = |url: &str| refused.findings.iter().any(|finding| finding["url"] == url);
    assert!(told("https://g.example/b") && !told("https://h.example/a"));
}

#[test]
fn sitemaps_on_other_hosts() {
    let place = "https://maps.example/host1/sitemap.xml";
    let page = |url: &str| loc(url).at(place);
    let line = format!("User-agent: *\nDisallow:\nSitemap: {place}\n");
    let proven = |given: Given, host: &str| {
        given
            .and(&format!("{host}.robots"), line.as_str())
            .with("--robots", &format!("https://{host}={host}.robots"))
    };
    let good = || proven(page("https://host1.example/x"), "host1.example");
    rule("R60", "error", 3, &page("https://host1.example/x"), &good());
    rule(
        "R60",
        "error",
        3,
        &proven(page("https://host1.example/x"), "host2.example"),
        &good(),
    );
    let found = check(&good());
    assert_eq!(found.code, 0);
    // Which robots.txt proved it is said; http and https have one each.
    assert!(found.has("R67", "note", Some(3)));
    let words = found
        .findings
        .iter()
        .find(|finding| finding["rule"] == "R67")
        .unwrap();
    assert!(
        words["message"]
            .as_str()
            .unwrap()
            .contains("https://host1.example/robots.txt")
    );
    rule(
        "R60",
        "error",
        3,
        &proven(page("http://host1.example/x"), "host1.example"),
        &good(),
    );
    let both = urlset(
        "<url><loc>https://host1.example/x</loc></url>\n<url><loc>https://host2.example/x</loc></url>",
    )
    .at(place);
    let both = proven(proven(both, "host1.example"), "host2.example");
    rule("R66", "error", 4, &both, &good());
    // The line that is missing is told.
    let help = check(&page("https://host1.example/x")).findings[0]["help"].clone();
    assert!(
        help.as_str()
            .unwrap()
            .contains(&format!("Sitemap: {place}")),
        "{help}"
    );
}

#[test]
fn robots_of_the_folder() {
    let index = index_text("<sitemap><loc>https://h.example/a.xml</loc></sitemap>");
    let set = |robots: &str| {
        Given::file("sitemap.xml", index.as_str())
            .and("a.xml", urlset_text("<url><loc>https://h.example/a</loc></url>\n<url><loc>https://h.example/b</loc></url>"))
            .and("robots.txt", robots)
            .at("https://h.example/")
    };
    let line = "Sitemap: https://h.example/sitemap.xml\n";
    rule(
        "R73",
        "warning",
        None,
        &set("Sitemap: /sitemap.xml\n"),
        &set(line),
    );
    let both = format!("{line}Sitemap: https://h.example/a.xml\n");
    rule("R75", "note", None, &set(&both), &set(line));
    let grouped = format!("User-agent: other\n{line}Disallow: /b\n");
    rule(
        "R79",
        "warning",
        4,
        &set("User-agent: *\nDisallow: /b\n"),
        &set(&grouped),
    );
}

#[test]
fn schema_and_namespaces() {
    rule("R68", "warning", 4, &urlset(""), &good());
    rule(
        "R68",
        "warning",
        3,
        &loc("http://a.b/"),
        &loc("http://a.bc/"),
    );
    let located = |schema: &str| {
        let attribute = format!(
            "<urlset xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:schemaLocation=\"{SITEMAP} {SITEMAP}/{schema}\""
        );
        Given::file(
            "sitemap.xml",
            urlset_text(GOOD).replacen("<urlset", &attribute, 1),
        )
    };
    rule(
        "R69",
        "warning",
        2,
        &located("siteindex.xsd"),
        &located("sitemap.xsd"),
    );
    rule("R70", "error", 3, &page("<x:y>1</x:y>"), &page(""));
    let undeclared = format!("<urlset xsi:schemaLocation=\"{SITEMAP} {SITEMAP}/sitemap.xsd\"");
    rule(
        "R70",
        "error",
        2,
        &Given::file(
            "sitemap.xml",
            urlset_text(GOOD).replacen("<urlset", &undeclared, 1),
        ),
        &located("sitemap.xsd"),
    );
    let own = |below: &str| {
        let root = if below.is_empty() {
            " xmlns:x=\"http://x.example/\""
        } else {
            ""
        };
        let text = urlset_text(&format!(
            "<url><loc>https://h.example/a</loc><x:y{below}>1</x:y></url>"
        ));
        Given::file(
            "sitemap.xml",
            text.replacen("<urlset", &format!("<urlset{root}"), 1),
        )
    };
    rule(
        "R70",
        "note",
        3,
        &own(" xmlns:x=\"http://x.example/\""),
        &own(""),
    );
    rule("R71", "note", 3, &own(""), &good());
}

#[test]
fn extensions() {
    let image = "<image:image><image:loc>https://cdn.example/1.jpg</image:loc></image:image>";
    rule(
        "R71",
        "error",
        3,
        &extended("<image:image/>"),
        &extended(image),
    );
    rule(
        "R71",
        "error",
        3,
        &extended(&image.repeat(1_001)),
        &extended(&image.repeat(1_000)),
    );
    let video = |inner: &str| {
        extended(&format!(
            "<video:video><video:thumbnail_loc>https://h.example/t.jpg</video:thumbnail_loc><video:title>T</video:title>\
             <video:description>D</video:description>{inner}</video:video>"
        ))
    };
    let content = "<video:content_loc>https://h.example/v.mp4</video:content_loc>";
    rule("R71", "error", 3, &video(""), &video(content));
    rule(
        "R71",
        "error",
        3,
        &video(&format!("{content}<video:duration>0</video:duration>")),
        &video(content),
    );
    let news = |count: usize, date: &str| {
        let news = format!(
            "<news:news><news:publication><news:name>N</news:name><news:language>en</news:language></news:publication>\
             <news:publication_date>{date}</news:publication_date><news:title>T</news:title></news:news>"
        );
        extended(&news.repeat(count))
    };
    let now = &now();
    rule("R71", "error", 3, &news(2, now), &news(1, now));
    rule("R71", "warning", 3, &news(1, "2024-05-17"), &news(1, now));
    let one_article = String::from_utf8(news(1, now).files.remove(0).1).unwrap();
    let articles = |count: usize| {
        let (head, rest) = one_article.split_once("<url>").unwrap();
        let (article, tail) = rest.split_once("</url>").unwrap();
        let lines: Vec<String> = (0..count)
            .map(|number| {
                format!(
                    "<url>{}</url>",
                    article.replacen("/a<", &format!("/{number}<"), 1)
                )
            })
            .collect();
        Given::file("sitemap.xml", format!("{head}{}{tail}", lines.join("\n")))
    };
    rule("R71", "error", 1_003, &articles(1_001), &articles(1_000));
}

#[test]
fn versions_in_other_languages() {
    let link = |language: &str, href: &str| {
        format!(
            "<xhtml:link rel=\"alternate\" hreflang=\"{language}\" href=\"https://h.example/{href}\"/>"
        )
    };
    let own = link("en", "a");
    let good = extended(&own);
    for wrong in ["en-UK", "en_US", "english", "xx"] {
        rule(
            "R71",
            "error",
            3,
            &extended(&(own.clone() + &link(wrong, "b"))),
            &good,
        );
    }
    rule(
        "R71",
        "error",
        3,
        &extended(&(own.clone() + &link("en", "b"))),
        &good,
    );
    rule(
        "R71",
        "error",
        3,
        &extended("<xhtml:link rel=\"alternate\" hreflang=\"en\"/>"),
        &good,
    );
    // Not the page itself, and a version that is nowhere.
    let other = extended(&link("de", "b"));
    rule("R71", "warning", 3, &other, &good);
    rule("R71", "note", 3, &other, &good);
    // Across files.
    let file = |page: &str, links: &str| {
        let text = String::from_utf8(extended(links).files.remove(0).1).unwrap();
        text.replacen(
            "<loc>https://h.example/a",
            &format!("<loc>https://h.example/{page}"),
            1,
        )
    };
    let both = own.clone() + &link("de", "b");
    let two = |links: &str| Given::file("a.xml", file("a", &both)).and("b.xml", file("b", links));
    rule("R71", "warning", 3, &two(&link("de", "b")), &two(&both));
}

#[test]
fn feeds() {
    let rss = |items: &str| {
        let text = format!(
            "<?xml version=\"1.0\"?>\n<rss version=\"2.0\"><channel><title>T</title><link>https://h.example/</link><description>D</description>\n{items}\n</channel></rss>\n"
        );
        Given::file("feed.rss", text)
    };
    let atom = |entries: &str| {
        let text = format!(
            "<?xml version=\"1.0\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\"><title>T</title>\n{entries}\n</feed>\n"
        );
        Given::file("feed.atom", text)
    };
    let item = "<item><link>https://h.example/blog/a</link><pubDate>Mon, 02 Mar 2026 04:00:11 GMT</pubDate></item>";
    let entry = "<entry><link href=\"https://h.example/blog/a\"/><updated>2026-03-02T04:00:11Z</updated></entry>";
    let rdf = Given::file(
        "feed.xml",
        "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns=\"http://purl.org/rss/1.0/\">\n<item><link>https://h.example/a</link></item>\n</rdf:RDF>",
    );
    rule("R45", "note", 1, &rdf, &rss(item));
    rule(
        "R46",
        "error",
        3,
        &rss("<item><title>x</title></item>"),
        &rss(item),
    );
    rule(
        "R46",
        "error",
        3,
        &atom("<entry><link rel=\"self\" href=\"https://h.example/blog/a\"/></entry>"),
        &atom(entry),
    );
    rule(
        "R46",
        "warning",
        3,
        &rss("<item><guid>https://h.example/blog/a</guid></item>"),
        &rss(item),
    );
    rule(
        "R47",
        "error",
        3,
        &rss(&item.replace("Mon, 02 Mar", "some day in")),
        &rss(item),
    );
    rule(
        "R47",
        "error",
        3,
        &atom(&entry.replace("2026-03-02T", "yesterday")),
        &atom(entry),
    );
    let with_sitemap = rss(item).and("sitemap.xml", urlset_text(GOOD));
    rule("R48", "note", None, &rss(item), &with_sitemap);
    let place = |given: Given| given.at("https://h.example/blog/");
    let outside = item.replace("/blog/", "/shop/");
    rule("R49", "error", 3, &place(rss(&outside)), &place(rss(item)));
}

#[test]
fn text_files() {
    let text = |content: &str| Given::file("urls.txt", content);
    let good = text("https://h.example/a\nhttps://h.example/b\n");
    rule(
        "R50",
        "warning",
        2,
        &text("https://h.example/a\n\nhttps://h.example/b\n"),
        &good,
    );
    rule("R51", "error", 2, &text("https://h.example/a\n/b\n"), &good);
    let many = |count: usize| {
        let lines: Vec<String> = (0..count)
            .map(|number| format!("https://h.example/{number}\n"))
            .collect();
        text(&lines.concat())
    };
    rule("R52", "error", 50_001, &many(50_001), &many(50_000));
    rule(
        "R53",
        "warning",
        1,
        &text("\u{feff}https://h.example/a\n"),
        &good,
    );
    let latin = Given::file(
        "urls.txt",
        b"https://h.example/a\nhttps://h.example/\xfc\n".to_vec(),
    );
    let found = check(&latin);
    assert!(
        found
            .findings
            .iter()
            .any(|finding| finding["rule"] == "R53" && finding["severity"] == "error"),
        "{:#?}",
        found.findings
    );
    rule(
        "R54",
        "error",
        2,
        &text("https://h.example/a\n# more\nhttps://h.example/b\n"),
        &good,
    );
    rule(
        "R54",
        "error",
        2,
        &text("https://h.example/a\nhttps://h.example/b\t2024-05-17\nhttps://h.example/c\n"),
        &good,
    );
    rule(
        "R55",
        "error",
        1,
        &text("URL\nhttps://h.example/b\n"),
        &good,
    );
    rule(
        "R55",
        "error",
        2,
        &text("https://h.example/b\nend\n"),
        &good,
    );
    let place = |content: &str| text(content).at("https://h.example/a/");
    rule(
        "R57",
        "error",
        2,
        &place("https://h.example/a/x\nhttps://h.example/b\n"),
        &place("https://h.example/a/x\n"),
    );
    let double = Given::file("urls.txt.gz", gzip(&gzip(b"https://h.example/a\n")));
    let found = check(&double).findings;
    assert!(
        found.iter().any(|finding| finding["severity"] == "warning"),
        "{found:#?}"
    );
    assert_eq!(
        check(&Given::file("urls.txt.gz", gzip(b"https://h.example/a\n"))).code,
        0
    );
}
