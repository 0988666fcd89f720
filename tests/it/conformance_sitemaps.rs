//! Sitemaps against the test suites of other projects: crawler-commons, sitemap.js, crawlee, rust-sitemap and the Ultimate Sitemap
//! Parser.
//!
//! The tables are in the folder `ARPENT_SHARED`. Each document goes through the lenient reader, and the result is compared with
//! that of the table: kind, entries and their values, extensions. When a table expects an error, the reader has to report one,
//! although it continues. Whole sites are walked here in memory; how a crawl walks them is tested elsewhere. Cases that fail are
//! listed with a reason in `tests/data/expected_failures/sitemaps.txt`.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fs,
    path::{Path, PathBuf},
};

use crawler::robots::Rules;
use serde_json::Value;
use sitemap_core::{
    IndexEntry, Limits, Loc, UrlEntry,
    read::{Item, Kind, ReadError, ReadFinding, Reader, Severity},
};
use url::Url;

use crate::support::{
    self,
    expected::{ExpectedFailures, Judgement, list, same, text},
};

const SUITES: [&str; 4] = [
    "crawler-commons",
    "crawlee-python",
    "rust-sitemap",
    "sitemap.js",
];

const SITES: &str = "ultimate-sitemap-parser";

const EXPECTED_FAILURES: &str = include_str!("../data/expected_failures/sitemaps.txt");

/// Limits for the documents that break the limits of the protocol.
const WIDE: Limits = Limits {
    entries: 200_000,
    bytes: 1 << 28,
};

/// The share of the cases that may fail, in percent.
const MAX_FAILED_PERCENT: usize = 3;

#[test]
fn documents_read_as_in_the_tables() {
    let Some(folder) = support::shared().map(|shared| shared.join("conformance/sitemaps")) else {
        return;
    };
    let mut results = ExpectedFailures::new(EXPECTED_FAILURES);
    for suite in SUITES {
        let folder = folder.join(suite);
        for case in cases(&folder) {
            if let Some(result) = judge(&folder, &case) {
                results.judge(&format!("{suite}/{}", text(&case, "id")), result);
            }
        }
        judge_tables(&folder, &mut results);
    }
    let folder = folder.join(SITES);
    judge_tables(&folder, &mut results);
    for case in cases(&folder) {
        let id = format!("{SITES}/{}", text(&case, "id"));
        let site = folder.join("sites").join(text(&case, "id"));
        results.judge(&id, judge_site(&site, &case));
    }
    let count = results.finish(150);
    let listed = EXPECTED_FAILURES.lines().count();
    assert!(
        listed * 100 <= count * MAX_FAILED_PERCENT,
        "{listed} of {count} cases are expected to fail"
    );
}

/// A document as it was read.
struct Reading {
    kind: Option<Kind>,
    urls: Vec<UrlEntry>,
    sitemaps: Vec<IndexEntry>,
    /// Problems of the document.
    findings: Vec<ReadFinding>,
    is_whole: bool,
}

impl Reading {
    fn of(bytes: &[u8], place: Option<&Loc>, limits: Limits) -> Self {
        let mut reader = Reader::new(bytes, limits);
        if let Some(place) = place {
            reader = reader.at(place);
        }
        let mut reading = Self {
            kind: None,
            urls: Vec::new(),
            sitemaps: Vec::new(),
            findings: Vec::new(),
            is_whole: true,
        };
        for item in &mut reader {
            match item {
                Ok(Item::Url(entry)) => reading.urls.push(entry),
                Ok(Item::Sitemap(entry)) => reading.sitemaps.push(entry),
                Err(ReadError::Entry(finding)) => reading.findings.push(finding),
                Err(ReadError::File(finding)) => {
                    reading.findings.push(finding);
                    reading.is_whole = false;
                }
                Err(error) => panic!("a slice cannot fail: {error}"),
            }
        }
        reading.kind = reader.kind();
        reading.findings.extend(reader.take_findings());
        reading
    }

    fn has_error(&self) -> bool {
        self.findings
            .iter()
            .any(|finding| finding.severity() == Severity::Error)
    }

    fn has_rule(&self, rules: &[u8]) -> bool {
        self.findings
            .iter()
            .any(|finding| rules.contains(&finding.rule().0))
    }

    /// The entries of its first root, as values to compare.
    fn entries(&self) -> Vec<Value> {
        match self.kind {
            Some(Kind::Index) => self.sitemaps.iter().map(sitemap_value).collect(),
            _ => self.urls.iter().map(url_value).collect(),
        }
    }
}

fn url_value(entry: &UrlEntry) -> Value {
    serde_json::json!({
        "loc": entry.loc.as_str(),
        "lastmod": entry.lastmod.as_ref().map(ToString::to_string),
        "changefreq": entry.changefreq.map(|value| value.to_string()),
        "priority": entry.priority.map(|value| value.to_string()),
    })
}

fn sitemap_value(entry: &IndexEntry) -> Value {
    serde_json::json!({
        "loc": entry.loc.as_str(),
        "lastmod": entry.lastmod.as_ref().map(ToString::to_string),
    })
}

/// Returns whether a document reads as in its case; `None` for a case without a document.
fn judge(folder: &Path, case: &Value) -> Option<Judgement> {
    let expect = &case["expect"];
    let kind = text(expect, "kind");
    // The reader neither reads robots.txt nor decides about fetches.
    if matches!(kind, "recipe" | "http" | "robots") {
        return None;
    }
    let file = folder.join(text(case, "file"));
    let bytes = document(folder, &file);
    let place = case["url"].as_str().and_then(|url| Loc::parse(url).ok());
    let limits = match case["id"].as_str() {
        Some("security/respects-custom-maxentries-limit") => Limits { entries: 2, ..WIDE },
        _ => WIDE,
    };
    let reading = Reading::of(&bytes, place.as_ref(), limits);
    if kind == "error" {
        return Some(ensure(reading.has_error(), "an error was expected"));
    }
    Some(
        judge_reading(&reading, case, place.as_ref(), folder).and_then(|()| {
            // The same document within the limits of the protocol.
            let too_many = expect.get("violation").is_some()
                || upstream_warnings(expect).any(|warning| warning.contains("maximum of 50000"));
            let strict = Reading::of(&bytes, place.as_ref(), Limits::PROTOCOL);
            ensure(
                !too_many || strict.has_rule(&[27, 52]),
                "more than 50,000 entries were not reported",
            )
        }),
    )
}

fn judge_reading(reading: &Reading, case: &Value, place: Option<&Loc>, folder: &Path) -> Judgement {
    let expect = &case["expect"];
    same(
        &reading.kind.map(|kind| kind.to_string()).as_deref(),
        &expect["kind"].as_str(),
    )?;
    let mut entries = reading.entries();
    let mode = case["mode"].as_str().unwrap_or_default();
    let loc_of = |entry: &Value| Loc::parse(text(entry, "loc")).expect("it was one");
    if mode.contains("strict scope") {
        entries.retain(|entry| place.is_some_and(|place| place.may_list(&loc_of(entry))));
    }
    if mode == "same host only" {
        entries.retain(|entry| place.is_some_and(|place| place.origin() == loc_of(entry).origin()));
    }
    let urls: Vec<&str> = entries.iter().map(|entry| text(entry, "loc")).collect();
    if let Some(count) = expect["count"].as_u64() {
        same(&(urls.len() as u64), &count)?;
    }
    if let Some(wanted) = expect["urls"].as_array() {
        let wanted: Vec<String> = wanted.iter().map(|url| normal(string(url))).collect();
        same(&urls, &wanted.iter().map(String::as_str).collect())?;
    }
    for wanted in list(&expect["contains"]) {
        let wanted = normal(string(wanted));
        ensure(
            urls.contains(&wanted.as_str()),
            &format!("{wanted} is missing"),
        )?;
    }
    if let Some(wanted) = expect["first_in_scope"].as_bool() {
        let first = entries.first().map(loc_of);
        let is_in_scope = first
            .zip(place)
            .map(|(first, place)| place.may_list(&first));
        same(&is_in_scope, &Some(wanted))?;
    }
    if let Some(wanted) = expect["entries"].as_array() {
        same(&entries.len(), &wanted.len())?;
        for (entry, wanted) in entries.iter().zip(wanted) {
            compare(entry, wanted)?;
        }
    }
    for (field, name) in [
        ("first_changefreq", "changefreq"),
        ("first_lastmod", "lastmod"),
    ] {
        if let Some(wanted) = expect.get(field) {
            same(&&entries[0][name], &wanted)?;
        }
    }
    if let Some(wanted) = expect.get("first") {
        compare(&entries[0], wanted)?;
    }
    let sitemaps: Vec<Value> = reading.sitemaps.iter().map(sitemap_value).collect();
    for (index, wanted) in list(&expect["sitemap_entries"]).enumerate() {
        compare(sitemaps.get(index).unwrap_or(&Value::Null), wanted)?;
    }
    if expect.get("warnings").is_some() {
        ensure(
            reading.has_rule(&[6, 36]),
            "an unknown element was not reported",
        )?;
    }
    if let Some(full) = expect["full"].as_str() {
        judge_full(
            &folder.join(full.split(' ').next().unwrap_or(full)),
            reading,
        )?;
    }
    // Its warnings about the elements that every reader has.
    for warning in upstream_warnings(expect) {
        let rules: &[u8] = match warning {
            "URL exceeds max length" => &[11],
            "must start with http://" => &[9],
            "Invalid priority" => &[18],
            "Invalid lastmod date format" => &[13],
            _ => continue,
        };
        ensure(
            reading.has_rule(rules),
            &format!("no finding for: {warning}"),
        )?;
    }
    for assertion in list(&expect["upstream_asserts"]) {
        judge_assertion(string(assertion), &entries)?;
    }
    judge_extensions(&reading.urls, expect)
}

/// The entries that sitemap.js gives for one of its own documents.
fn judge_full(table: &Path, reading: &Reading) -> Judgement {
    let table = json(table);
    for (entry, wanted) in reading.urls.iter().zip(list(&table["urls"])) {
        same(&entry.loc.as_str(), &normal(text(wanted, "url")).as_str())?;
        let found = url_value(entry);
        let priority = wanted["priority"]
            .as_f64()
            .map(|value| format!("{value:.1}"));
        same(&found["priority"].as_str(), &priority.as_deref())?;
        same(&found["changefreq"], &wanted["changefreq"])?;
        same(&found["lastmod"], &wanted["lastmod"])?;
        let images = entry.extensions.images();
        let image_urls: Vec<&str> = images.iter().filter_map(|image| image.get("loc")).collect();
        let wanted_urls: Vec<String> = list(&wanted["img"])
            .map(|image| normal(text(image, "url")))
            .collect();
        same(
            &image_urls,
            &wanted_urls.iter().map(String::as_str).collect(),
        )?;
        let titles: Vec<&str> = entry
            .extensions
            .videos()
            .iter()
            .filter_map(|video| video.get("title"))
            .collect();
        let wanted_titles: Vec<&str> = list(&wanted["video"])
            .map(|video| text(video, "title"))
            .collect();
        same(&titles, &wanted_titles)?;
    }
    Ok(())
}

/// An assertion of a test in JavaScript, if it is about something that an entry has here.
fn judge_assertion(assertion: &str, entries: &[Value]) -> Judgement {
    let Some((subject, matcher)) = assertion
        .trim_start_matches("expect(")
        .trim_end_matches(';')
        .split_once(").")
    else {
        return Ok(());
    };
    if let Some(length) = matcher
        .strip_prefix("toHaveLength(")
        .and_then(|rest| rest.strip_suffix(')'))
    {
        return same(&entries.len().to_string().as_str(), &length);
    }
    let Some((index, field)) = subject
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once("]."))
    else {
        return Ok(());
    };
    let field = match field {
        "url" => "loc",
        "lastmod" | "changefreq" | "priority" => field,
        _ => return Ok(()),
    };
    let index: usize = index.parse().map_err(|_| "no index")?;
    let found = entries.get(index).and_then(|entry| entry[field].as_str());
    let quoted = |matcher: &'static str| {
        let rest = assertion.split_once(matcher)?.1;
        rest.strip_suffix("');").map(str::to_owned)
    };
    if matcher == "toBeUndefined()" {
        same(&found, &None)
    } else if let Some(refused) = quoted(".not.toBe('") {
        ensure(found != Some(&refused), &format!("{refused} was kept"))
    } else if let Some(wanted) = quoted(".toBe('") {
        let wanted = if field == "loc" {
            normal(&wanted)
        } else {
            wanted
        };
        same(&found, &Some(wanted.as_str()))
    } else {
        Ok(())
    }
}

fn judge_extensions(entries: &[UrlEntry], expect: &Value) -> Judgement {
    let images: Vec<_> = entries
        .iter()
        .flat_map(|entry| entry.extensions.images())
        .collect();
    for (index, wanted) in list(&expect["image"]).enumerate() {
        let image = images.get(index).ok_or("an image is missing")?;
        // Elements that search engines dropped are not read.
        same(&image.get("loc"), &wanted["loc"].as_str())?;
    }
    let videos: Vec<_> = entries
        .iter()
        .flat_map(|entry| entry.extensions.videos())
        .collect();
    for (index, wanted) in list(&expect["video"]).enumerate() {
        let video = videos.get(index).ok_or("a video is missing")?;
        let tags: Vec<&str> = video.all("tag").map(|tag| &*tag.text).collect();
        let number = |name: &str| video.get(name).and_then(|text| text.parse::<u64>().ok());
        let flag = |name: &str| video.get(name).map(|text| text == "yes");
        let found = serde_json::json!({
            "thumbnail_loc": video.get("thumbnail_loc"),
            "title": video.get("title"),
            "description": video.get("description"),
            "content_loc": video.get("content_loc"),
            "player_loc": video.get("player_loc"),
            "duration": number("duration"),
            "view_count": number("view_count"),
            "family_friendly": flag("family_friendly"),
            "requires_subscription": flag("requires_subscription"),
            "live": flag("live"),
            "uploader": video.get("uploader"),
            "tags": tags,
        });
        let wanted = wanted.as_object().ok_or("a video is not an object")?;
        let known = wanted
            .iter()
            .filter(|(name, _)| found.get(name.as_str()).is_some());
        for (name, wanted) in known {
            same(&&found[name], &wanted).map_err(|problem| format!("{name}: {problem}"))?;
        }
    }
    for wanted in list(&expect["links_of_every_url"]) {
        for entry in entries {
            let is_there = entry.extensions.alternates().iter().any(|alternate| {
                alternate.href.as_str() == text(wanted, "href")
                    && alternate
                        .hreflang
                        .to_string()
                        .eq_ignore_ascii_case(text(wanted, "hreflang"))
            });
            ensure(is_there, &format!("{wanted} is missing in {}", entry.loc))?;
        }
    }
    let valid_news = list(&expect["news"]).filter(|news| news["valid"] == true);
    let news: Vec<_> = entries
        .iter()
        .filter_map(|entry| entry.extensions.news())
        .collect();
    for (index, wanted) in valid_news.enumerate() {
        let news = news.get(index).ok_or("news is missing")?;
        for name in ["name", "title", "publication_date"] {
            same(&news.get(name), &Some(text(wanted, name)))?;
        }
    }
    if let Some(year) = expect["news_year"].as_u64() {
        same(&news.len(), &entries.len())?;
        let year = year.to_string();
        ensure(
            news.iter()
                .filter_map(|news| news.get("publication_date"))
                .all(|date| date.starts_with(&year)),
            "news is of another year",
        )?;
    }
    Ok(())
}

/// The small tables beside the cases: which pages a sitemap may list, and the dates of RSS.
fn judge_tables(folder: &Path, results: &mut ExpectedFailures<'_>) {
    let tables = json(&folder.join("expected.json"));
    let suite = folder.file_name().unwrap_or_default().to_string_lossy();
    for row in list(&tables["scope"]) {
        let parse = |field| Loc::parse(text(row, field)).expect("each URL is good");
        let may_list = parse("sitemap").may_list(&parse("url"));
        let result = same(&Some(may_list), &row["in_scope"].as_bool());
        results.judge(&format!("{suite}/scope/{}", text(row, "url")), result);
    }
    let dates = &tables["dates"];
    for row in list(&dates["rss"]).chain(list(&dates["rfc2822"])) {
        let feed = format!(
            "<rss><channel><item><link>http://host/</link><pubDate>{}</pubDate></item></channel></rss>",
            string(&row[0])
        );
        let reading = Reading::of(feed.as_bytes(), None, WIDE);
        let found = &reading.entries()[0]["lastmod"];
        let id = format!("{suite}/dates/{}", string(&row[0]));
        results.judge(&id, same(&found, &&row[1]));
    }
}

/// Walks a site from its robots.txt and from where sitemaps usually are, as that parser does, and compares the pages.
fn judge_site(folder: &Path, case: &Value) -> Judgement {
    let base = Url::parse(text(case, "base")).map_err(|error| error.to_string())?;
    let responses: BTreeMap<&str, &Value> = list(&case["responses"])
        .map(|response| (text(response, "path"), response))
        .collect();
    let answer = |url: &Url| -> Option<(Url, Vec<u8>)> {
        let mut url = url.clone();
        for _ in 0..5 {
            let response = responses
                .get(url.path())
                .filter(|_| url.host() == base.host())?;
            match response["status"].as_u64() {
                Some(200) => {
                    let file = folder.join(text(response, "body_file"));
                    return Some((url, fs::read(file).expect("each body is there")));
                }
                Some(301 | 302) => {
                    let target = string(&response["headers"]["Location"]);
                    url = url.join(target).ok()?;
                }
                _ => return None,
            }
        }
        None
    };
    let robots = base
        .join("/robots.txt")
        .map_err(|error| error.to_string())?;
    let mut waiting: VecDeque<Url> = answer(&robots)
        .map(|(url, body)| Rules::parse(&body, "arpent").sitemap_urls(&url))
        .unwrap_or_default()
        .into();
    for usual in ["/sitemap.xml", "/sitemap_index.xml", "/sitemap-index.xml"] {
        waiting.push_back(base.join(usual).map_err(|error| error.to_string())?);
    }
    let (mut visited, mut pages) = (BTreeSet::new(), Vec::new());
    while let Some(url) = waiting.pop_front() {
        let Some((url, body)) = answer(&url) else {
            continue;
        };
        if !visited.insert(url.clone()) {
            continue;
        }
        let reading = Reading::of(&body, Loc::parse(url.as_str()).ok().as_ref(), WIDE);
        for child in &reading.sitemaps {
            waiting.push_back(Url::parse(child.loc.as_str()).map_err(|error| error.to_string())?);
        }
        pages.extend(reading.urls.iter().map(|entry| entry.loc.to_string()));
    }
    pages.sort();
    let expect = &case["expect"];
    if let Some(count) = expect["page_count"].as_u64() {
        same(&(pages.len() as u64), &count)?;
    }
    if let Some(wanted) = expect["pages"].as_array() {
        let mut wanted: Vec<String> = wanted
            .iter()
            .map(|page| normal(text(page, "loc")))
            .collect();
        wanted.sort();
        same(&pages, &wanted)?;
    }
    Ok(())
}

/// The bytes of a document; two of them have a local file as the target of an entity.
fn document(folder: &Path, file: &Path) -> Vec<u8> {
    let bytes = fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let bait: PathBuf = folder.join("sitemaps/do-not-visit.txt");
    match String::from_utf8(bytes) {
        Ok(text) => text
            .replace("/PLACEHOLDER/do-not-visit.txt", &bait.to_string_lossy())
            .into_bytes(),
        Err(error) => error.into_bytes(),
    }
}

/// Compares the fields that are expected, dates as instants.
fn compare(found: &Value, wanted: &Value) -> Judgement {
    let fields = wanted.as_object().ok_or("the entry is not an object")?;
    for (name, wanted) in fields {
        let found = &found[name];
        let is_same = match (name.as_str(), found.as_str(), wanted.as_str()) {
            ("loc", Some(found), Some(wanted)) => found == normal(wanted),
            ("lastmod", Some(found), Some(wanted)) => {
                let instant =
                    |text: &str| text.parse::<jiff::Timestamp>().map_err(|_| text.to_owned());
                instant(found) == instant(wanted)
            }
            _ => found == wanted,
        };
        ensure(is_same, &format!("{name} is {found} instead of {wanted}"))?;
    }
    Ok(())
}

/// A URL as we write it.
fn normal(url: &str) -> String {
    Loc::parse(url.trim()).map_or_else(|_| url.to_owned(), |loc| loc.to_string())
}

fn upstream_warnings(expect: &Value) -> impl Iterator<Item = &str> {
    list(&expect["upstream_warnings"]).map(string)
}

fn ensure(is_true: bool, problem: &str) -> Judgement {
    if is_true {
        Ok(())
    } else {
        Err(problem.to_owned())
    }
}

fn cases(folder: &Path) -> Vec<Value> {
    match json(&folder.join("expected.json"))["cases"].take() {
        Value::Array(cases) => cases,
        other => panic!("no cases in {}: {other}", folder.display()),
    }
}

fn json(path: &Path) -> Value {
    let table = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&table).expect("it is JSON")
}

fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}
