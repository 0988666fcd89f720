//! Reading of pages against the tables of other projects: links (Nutch, Heritrix, lychee, muffet),
//! robots directives (Nutch, `StormCrawler`), encodings and character references (html5lib), media types
//! (web-platform-tests), and a tree builder as oracle.
//!
//! The tables are in the folder `ARPENT_SHARED`. Every row is run; rows that depend on a policy of their
//! project are listed with a reason in `tests/data/expected_failures/html.txt`.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

use crawler::{
    config::{Extensions, ParseConfig},
    fetch::{BodySink as _, BodyWish, Fetched, ResponseHead},
    page::{BodyEnd, Canonical, PageFacts, Via},
    parse::{PageParser, PageReader},
    testing::sample,
    url_key::Identity,
};
use scraper::{Html, Selector};
use serde_json::Value;
use url::Url;

use crate::support::{
    expected::{ExpectedFailures, Judgement, list, same, text},
    shared, skip,
};

const EXPECTED_FAILURES: &str = include_str!("../data/expected_failures/html.txt");

/// Base of the rows that have none.
const SITE: &str = "https://site.test/";

/// Judges every row of a table, `table/0` being the first; a row that is expected to fail must fail.
fn check_table(table: &str, judgements: impl Iterator<Item = Judgement>) {
    let mut expected = ExpectedFailures::of_table(EXPECTED_FAILURES, &format!("{table}/"));
    for (index, judgement) in judgements.enumerate() {
        expected.judge(&format!("{table}/{index}"), judgement);
    }
    expected.finish(1);
}

/// URLs as they are: the tables test session ids elsewhere.
fn plain_identity() -> Identity {
    Identity {
        drop_parameters: Vec::new(),
        drop_sessions: Vec::new(),
        ..Identity::default()
    }
}

/// The facts of an answer 200 from `url`.
fn read(url: &str, headers: &[(&str, &[u8])], body: &[u8]) -> PageFacts {
    let reader = PageReader::new(&ParseConfig::default()).expect("the defaults are valid");
    read_with(reader, url, headers, body)
}

fn read_with(reader: PageReader, url: &str, headers: &[(&str, &[u8])], body: &[u8]) -> PageFacts {
    let identity = Arc::new(plain_identity());
    let reader = Arc::new(reader);
    let url = identity.parse(url).expect("an absolute URL");
    let mut parser = PageParser::new(&url, &identity, &reader);
    let mut head = ResponseHead {
        status: 200,
        ..ResponseHead::default()
    };
    for (name, value) in headers {
        head.headers.push(name, value);
    }
    let is_wanted = parser.head(&head) == BodyWish::Read
        && (body.is_empty() || parser.chunk(body) == BodyWish::Read);
    let end = if is_wanted {
        BodyEnd::Complete
    } else {
        BodyEnd::Skipped
    };
    parser.finish(&Fetched {
        head,
        end,
        wire_bytes: 0,
    })
}

fn read_html(url: &str, html: &str) -> PageFacts {
    read(
        url,
        &[("Content-Type", b"text/html; charset=utf-8")],
        html.as_bytes(),
    )
}

/// The images of a page that holds `html`.
fn images(html: &str) -> Vec<String> {
    let extensions = Extensions {
        images: true,
        ..Extensions::default()
    };
    let reader = PageReader::new(&ParseConfig::default()).expect("the defaults are valid");
    let headers = [("Content-Type", &b"text/html; charset=utf-8"[..])];
    let facts = read_with(
        reader.with_extensions(extensions),
        SITE,
        &headers,
        html.as_bytes(),
    );
    let images = facts.images.expect("they were asked for");
    images.iter().map(ToString::to_string).collect()
}

/// All links of a page.
fn links(facts: &PageFacts) -> BTreeSet<String> {
    let links = facts.links.iter();
    links.map(|link| link.target.as_str().to_owned()).collect()
}

/// The links of a page that a crawler may follow.
fn followed(facts: &PageFacts) -> BTreeSet<String> {
    let may_follow = !facts.directives.nofollow;
    let links = facts
        .links
        .iter()
        .filter(|link| may_follow && !link.nofollow);
    links.map(|link| link.target.as_str().to_owned()).collect()
}

/// Key of a URL of a table, or `None` when it is not a page's.
fn key(base: &str, url: &str) -> Option<String> {
    let url = Url::parse(base).expect("an absolute URL").join(url).ok()?;
    let key = plain_identity().parse(url.as_str()).ok()?;
    Some(key.as_str().to_owned())
}

fn table(name: &str) -> Option<String> {
    let path = shared()?.join("conformance/html").join(name);
    Some(
        std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display())),
    )
}

fn rows(table: &str) -> impl Iterator<Item = Value> {
    table
        .lines()
        .map(|line| serde_json::from_str(line).expect("every line is JSON"))
}

fn judge_links(row: &Value) -> Judgement {
    let base = row["base"].as_str().unwrap_or(SITE);
    let facts = read_html(base, text(row, "html"));
    let found = if row["obey_nofollow"] == false {
        links(&facts)
    } else {
        followed(&facts)
    };
    let url_of = |link: &Value| {
        link.as_str()
            .map_or_else(|| text(link, "url").to_owned(), str::to_owned)
    };
    for wanted in list(&row["contains"]) {
        let wanted = key(base, &url_of(wanted)).ok_or("not a page's URL")?;
        same(&found.contains(&wanted), &true).map_err(|_| format!("no {wanted} in {found:?}"))?;
    }
    for wanted in list(&row["contains_substring"]) {
        let wanted = wanted.as_str().expect("a string");
        let is_found = found.iter().any(|link| link.contains(wanted));
        same(&is_found, &true).map_err(|_| format!("no {wanted} in {found:?}"))?;
    }
    // `L` marks links that are followed, `E` parts of the page.
    for wanted in list(&row["links_typed"]).filter_map(Value::as_str) {
        let is_found = wanted
            .strip_prefix("L ")
            .is_none_or(|wanted| found.contains(wanted));
        same(&is_found, &true).map_err(|_| format!("no {wanted} in {found:?}"))?;
    }
    for field in ["links", "link_set"] {
        if row.get(field).is_some() {
            // Only http(s) URLs of the table can be pages.
            let wanted = list(&row[field]).filter_map(|link| key(base, &url_of(link)));
            same(&found, &wanted.collect())?;
        }
    }
    for invalid in list(&row["invalid"]) {
        let invalid = invalid.as_str().expect("a string");
        same(&found.iter().any(|link| link.ends_with(invalid)), &false)?;
    }
    if let Some(wanted) = row["link_count"].as_u64() {
        same(&(found.len() as u64), &wanted).map_err(|problem| format!("{problem}: {found:?}"))?;
    }
    Ok(())
}

#[test]
fn links_are_those_of_other_crawlers() {
    for name in [
        "nutch_outlinks",
        "heritrix_links",
        "muffet_links",
        "lychee_links",
    ] {
        let Some(table) = table(&format!("{name}.jsonl")) else {
            return;
        };
        check_table(name, rows(&table).map(|row| judge_links(&row)));
    }
}

/// Returns whether each candidate is the image of the page once it is the widest.
fn judge_candidates(row: &Value) -> Judgement {
    let (srcset, base) = (text(row, "srcset"), Url::parse(SITE).expect("a URL"));
    let candidates = row["urls"].as_array().expect("a list");
    if candidates.is_empty() {
        return same(&images(&format!("<img srcset='{srcset}'>")), &Vec::new());
    }
    candidates.iter().try_for_each(|candidate| {
        let candidate = candidate.as_str().expect("a URL");
        let (before, after) = srcset
            .split_once(&format!("{candidate} "))
            .ok_or("no such candidate")?;
        let others = after.find(',').map_or("", |end| &after[end..]);
        let found = images(&format!(
            "<img srcset='{before}{candidate} 99999w{others}'>"
        ));
        let wanted = base.join(candidate).map_err(|error| error.to_string())?;
        same(&found, &vec![wanted.to_string()])
    })
}

#[test]
fn image_candidates_are_those_of_other_crawlers() {
    let Some(table) = table("lychee_srcset.jsonl") else {
        return;
    };
    check_table(
        "lychee_srcset",
        rows(&table).map(|row| judge_candidates(&row)),
    );
}

#[test]
fn directives_are_those_of_other_crawlers() {
    let flags = |row: &Value| (row["noindex"] == true, row["nofollow"] == true);
    let Some(metas) = table("nutch_robots_meta.jsonl") else {
        return;
    };
    check_table(
        "nutch_robots_meta",
        rows(&metas).map(|row| {
            let found = read_html(SITE, text(&row, "html")).directives;
            same(&(found.noindex, found.nofollow), &flags(&row))
        }),
    );
    let Some(headers) = table("stormcrawler_x_robots.jsonl") else {
        return;
    };
    check_table(
        "stormcrawler_x_robots",
        rows(&headers).map(|row| {
            let lines = list(&row["headers"]).filter_map(Value::as_str);
            let mut headers: Vec<(&str, &[u8])> = vec![("Content-Type", b"text/html")];
            headers.extend(lines.map(|line| ("X-Robots-Tag", line.as_bytes())));
            let found = read(SITE, &headers, b"").directives;
            same(&(found.noindex, found.nofollow), &flags(&row))
        }),
    );
}

/// After `start`: a link whose path shows in which encoding the page was read. It is not a valid UTF-8.
fn with_encoding_probe(start: &[u8]) -> Vec<u8> {
    /// The first bytes, in which an encoding is looked for.
    const SEARCHED: usize = 16 * 1_024;
    let mut page = start.to_vec();
    page.resize(SEARCHED - 1, b' ');
    page.push(0xff);
    page.extend(b"-->'\"></script></style></title></textarea></noscript><a href='/\x1b$B$\"\x1b(B");
    page.extend(0xa1..=0xfe);
    page.extend(b"'>");
    page
}

/// The probe of a page, read with these content types.
fn probe(page: &[u8], content_types: &[&[u8]]) -> Vec<String> {
    let headers: Vec<(&str, &[u8])> = content_types
        .iter()
        .map(|line| ("Content-Type", *line))
        .collect();
    let facts = read(SITE, &headers, page);
    facts
        .links
        .iter()
        .map(|link| link.target.as_str().to_owned())
        .collect()
}

#[test]
fn encoding_is_found_as_the_html_standard_wants() {
    for name in ["tests1", "tests2", "test-yahoo-jp"] {
        let Some(shared) = shared() else { return };
        let path = shared.join(format!("conformance/html/encoding/{name}.dat"));
        let table =
            std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        // Bytes as characters, so that nothing is lost.
        let table: String = table.iter().copied().map(char::from).collect();
        let judgements = format!("\n{table}")
            .split("\n#data\n")
            .skip(1)
            .map(judge_encoding)
            .collect::<Vec<_>>();
        check_table(name, judgements.into_iter());
    }
}

fn judge_encoding(row: &str) -> Judgement {
    let (data, label) = row
        .split_once("\n#encoding\n")
        .ok_or("no encoding in the row")?;
    let data: Vec<u8> = data.chars().map(|character| character as u8).collect();
    let page = with_encoding_probe(&data);
    let declared = format!("text/html; charset={}", label.trim());
    let wanted = probe(&page, &[declared.as_bytes()]);
    assert_eq!(
        wanted.len(),
        1,
        "the probe is seen: {}",
        data.escape_ascii()
    );
    same(&probe(&page, &[b"text/html"]), &wanted)
}

#[test]
fn media_types_are_those_of_web_platform_tests() {
    for name in ["wpt-mime-types", "wpt-generated-mime-types"] {
        let Some(table) = table(&format!("encoding/{name}.json")) else {
            return;
        };
        let rows: Vec<Value> = serde_json::from_str(&table).expect("the table is JSON");
        check_table(
            name,
            rows.iter()
                .filter(|row| row.is_object())
                .map(judge_media_type),
        );
    }
}

fn judge_media_type(row: &Value) -> Judgement {
    let input = text(row, "input");
    // A header holds bytes; other characters cannot arrive in one.
    let Ok(line) = input
        .chars()
        .map(u8::try_from)
        .collect::<Result<Vec<u8>, _>>()
    else {
        return Ok(());
    };
    let facts = read(SITE, &[("Content-Type", &line)], b"");
    let wanted = row["output"].as_str();
    let essence = wanted.and_then(|wanted| wanted.split(';').next());
    same(&facts.content_type.as_deref(), &essence)?;
    if essence != Some("text/html") || row.get("encoding").is_none() {
        return Ok(());
    }
    let page = with_encoding_probe(b"");
    let declared = row["encoding"]
        .as_str()
        .map(|encoding| format!("text/html; charset={encoding}"));
    let declared = declared.as_deref().unwrap_or("text/html");
    same(
        &probe(&page, &[&line]),
        &probe(&page, &[declared.as_bytes()]),
    )
}

#[test]
fn character_references_are_those_of_the_html_standard() {
    for name in [
        "entities",
        "numericEntities",
        "test1",
        "test2",
        "test4",
        "domjs",
    ] {
        let Some(table) = table(&format!("tokenizer/{name}.test")) else {
            return;
        };
        let table: Value = serde_json::from_str(&table).expect("the table is JSON");
        check_table(name, list(&table["tests"]).map(judge_tokens));
    }
}

/// A row whose only token is text becomes the title of a page and, if its references are numeric, an
/// attribute; one whose first token is a start tag with an attribute becomes a link. Other rows only
/// must not panic.
fn judge_tokens(row: &Value) -> Judgement {
    let input = text(row, "input");
    let facts = read_html(SITE, input);
    same(&facts.end, &BodyEnd::Complete)?;
    let in_data = row
        .get("initialStates")
        .is_none_or(|states| states.to_string().contains("Data state"));
    if !in_data || row.get("doubleEscaped").is_some() {
        return Ok(());
    }
    let first = &row["output"][0];
    let is_only = list(&row["output"]).count() == 1;
    match first[0].as_str() {
        Some("Character") if is_only => {
            let wanted = first[1].as_str().expect("a string");
            if !input.contains('<') {
                judge_title(input, wanted)?;
            }
            if input.starts_with("&#") && !input.contains('"') {
                judge_link(&format!("<a href=\"?x{input}\">"), &format!("?x{wanted}"))?;
            }
            Ok(())
        }
        Some("StartTag") => {
            let tag = first[1].as_str().expect("a string");
            let attributes = first[2].as_object().into_iter().flatten();
            for (name, value) in attributes {
                let (before, after) = (format!("<{tag} {name}="), "<a href=".to_owned());
                if input.starts_with(&before) {
                    let value = value.as_str().expect("a string");
                    judge_link(&input.replacen(&before, &after, 1), value)?;
                }
            }
            Ok(())
        }
        Some(_) | None => Ok(()),
    }
}

fn judge_title(input: &str, wanted: &str) -> Judgement {
    let facts = read_html(SITE, &format!("<title>x{input} y</title>"));
    let wanted = format!("x{wanted} y");
    let wanted: Vec<&str> = wanted.split_ascii_whitespace().collect();
    same(&facts.title, &Some(wanted.join(" ")))
}

fn judge_link(html: &str, wanted: &str) -> Judgement {
    let wanted: BTreeSet<String> = key(SITE, wanted).into_iter().collect();
    same(&followed(&read_html(SITE, html)), &wanted)
        .map_err(|problem| format!("{problem} in {html}"))
}

/// Folders of documentation packages of Debian, and a number of pages that they have at least.
const DOCUMENTATION: [(&str, usize); 4] = [
    ("/usr/share/doc/postgresql-doc-15/html", 1_000),
    ("/usr/share/doc/python3.11/html", 400),
    ("/usr/share/doc/sqlite3", 500),
    ("/usr/share/doc/apache2-doc/manual", 1_000),
];

/// Of how many real pages a sample has one.
const OF_PAGES: usize = 5;

#[test]
fn real_pages_have_the_facts_of_a_tree() {
    std::thread::scope(|scope| {
        for (folder, least) in DOCUMENTATION {
            if !Path::new(folder).is_dir() {
                skip(&format!("{folder} is not installed"));
                continue;
            }
            scope.spawn(move || {
                let mut pages = Vec::new();
                find_pages(Path::new(folder), &mut pages);
                assert!(pages.len() >= least, "{folder} has {} pages", pages.len());
                for page in sample(&pages, OF_PAGES) {
                    check_page(page);
                }
            });
        }
    });
}

/// Compares links, canonical links, title and robots directives of a page with those of its tree.
fn check_page(path: &Path) {
    let html = std::fs::read(path).expect("a page");
    let html = String::from_utf8_lossy(&html);
    let facts = read_html(SITE, &html);
    let page = Html::parse_document(&html);
    let select = |selector: &str| {
        let selector = Selector::parse(selector).expect("a selector");
        page.select(&selector).collect::<Vec<_>>()
    };
    let base = select("base[href]")
        .first()
        .and_then(|base| base.attr("href").map(str::to_owned));
    let base = base.map_or_else(
        || SITE.to_owned(),
        |base| {
            let site = Url::parse(SITE).expect("an absolute URL");
            site.join(&base).expect("a base").to_string()
        },
    );
    let resolved = |reference: &str| key(&base, reference.trim());
    let tokens = |value: Option<&str>| -> Vec<String> {
        let value = value.unwrap_or_default().to_ascii_lowercase();
        value.split([' ', ',']).map(str::to_owned).collect()
    };
    let name = path.display();

    let mut links = BTreeSet::new();
    for (selector, attribute) in [
        ("a[href], area[href]", "href"),
        ("iframe[src], frame[src]", "src"),
    ] {
        let elements = select(selector);
        let references = elements.iter();
        links.extend(references.filter_map(|element| resolved(element.attr(attribute)?)));
    }
    for link in select("link[rel][href]") {
        let rel = tokens(link.attr("rel"));
        let has = |name: &str| rel.iter().any(|token| token == name);
        let is_version = has("alternate")
            && !has("stylesheet")
            && (link.attr("hreflang").is_some() || link.attr("media").is_some())
            && link
                .attr("type")
                .is_none_or(|kind| kind.trim() == "text/html");
        if is_version || has("amphtml") || has("next") || has("prev") || has("previous") {
            links.extend(link.attr("href").and_then(resolved));
        }
    }
    let found: BTreeSet<String> = facts
        .links
        .iter()
        .filter(|link| !matches!(link.via, Via::Canonical | Via::Refresh))
        .map(|link| link.target.as_str().to_owned())
        .collect();
    assert_eq!(found, links, "links of {name}");

    let canonicals =
        select("head > link[rel][href]:not([media]):not([type]):not([hreflang]):not([lang])");
    let canonicals = canonicals
        .iter()
        .filter(|link| tokens(link.attr("rel")).contains(&"canonical".to_owned()));
    let canonicals: BTreeSet<String> = canonicals
        .filter_map(|link| resolved(link.attr("href")?))
        .collect();
    let expected = match canonicals.iter().collect::<Vec<_>>().as_slice() {
        [] => Canonical::Absent,
        [one] if *one == SITE => Canonical::Itself,
        [one] => Canonical::Other(plain_identity().parse(one).expect("a key")),
        _ => Canonical::Conflicting,
    };
    assert_eq!(facts.canonical, expected, "canonical link of {name}");

    let titles = select("head title, body > title");
    let mut titles = titles.iter().map(|title| {
        let text = title.text().collect::<String>();
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        words.join(" ").chars().take(200).collect::<String>()
    });
    let title = titles.find(|title| !title.is_empty());
    assert_eq!(facts.title, title, "title of {name}");

    let metas = select("meta[name][content]");
    let has_noindex = metas.iter().any(|meta| {
        meta.attr("name")
            .is_some_and(|name| name.eq_ignore_ascii_case("robots"))
            && tokens(meta.attr("content"))
                .iter()
                .any(|token| token == "noindex" || token == "none")
    });
    assert_eq!(
        facts.directives.noindex, has_noindex,
        "directives of {name}"
    );
}

fn find_pages(folder: &Path, pages: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            find_pages(&path, pages);
        } else if path.to_string_lossy().contains(".html") {
            pages.push(path);
        }
    }
}
