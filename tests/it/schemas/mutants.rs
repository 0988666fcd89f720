//! `check` and `xmllint` on documents that are nearly right: problems by the schemas are reported, and accepted documents are
//! reported only by rules of the text.
//!
//! Two documents have every element of the schemas. Each mutant of them differs in one place.

use std::{
    collections::BTreeSet,
    fs,
    ops::Range,
    path::Path,
    process::{Command, Stdio},
};

use sitemap_core::{
    read::{Severity, Source},
    validate::{Facts, Finding, Options, Validator},
};

use super::{Dice, schemas};
use crate::support::has_program;

/// Number of mutants that are made by chance, besides those that are made one by one.
const MUTANTS: usize = 1_500;

/// Number of documents that are given to one `xmllint`.
const BATCH: usize = 250;

const ROOT: &str = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" \
     xmlns:s=\"http://www.sitemaps.org/schemas/sitemap/0.9\" \
     xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\" \
     xmlns:video=\"http://www.google.com/schemas/sitemap-video/1.1\" \
     xmlns:news=\"http://www.google.com/schemas/sitemap-news/0.9\" \
     xmlns:xhtml=\"http://www.w3.org/1999/xhtml\" xmlns:o=\"urn:own\" \
     xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"";

/// Both have all elements of all schemas, and of the XHTML one the link.
fn documents() -> [Document; 2] {
    let urlset = "<url><loc>https://h.example/a</loc><lastmod>2026-01-01</lastmod><changefreq>daily</changefreq><priority>0.5</priority>\
        <image:image><image:loc>https://h.example/i.jpg</image:loc><image:caption>C</image:caption><image:geo_location>G</image:geo_location>\
        <image:title>T</image:title><image:license>https://h.example/l</image:license></image:image>\
        <video:video><video:thumbnail_loc>https://h.example/t.jpg</video:thumbnail_loc><video:title>t</video:title><video:description>d</video:description>\
        <video:content_loc>https://h.example/v.mp4</video:content_loc><video:player_loc allow_embed=\"yes\" autoplay=\"ap=1\">https://h.example/p</video:player_loc>\
        <video:duration>600</video:duration><video:expiration_date>2027-01-01</video:expiration_date><video:rating>4.5</video:rating>\
        <video:content_segment_loc duration=\"5\">https://h.example/s</video:content_segment_loc><video:view_count>3</video:view_count>\
        <video:publication_date>2026-01-01T00:00:00Z</video:publication_date><video:tag>a</video:tag><video:category>c</video:category>\
        <video:family_friendly>yes</video:family_friendly><video:restriction relationship=\"allow\">DE AT</video:restriction>\
        <video:gallery_loc title=\"g\">https://h.example/g</video:gallery_loc><video:price currency=\"EUR\" type=\"rent\" resolution=\"HD\">1.99</video:price>\
        <video:requires_subscription>no</video:requires_subscription><video:uploader info=\"https://h.example/u\">U</video:uploader>\
        <video:tvshow><video:show_title>S</video:show_title><video:video_type>full</video:video_type><video:episode_title>E</video:episode_title>\
        <video:season_number>1</video:season_number><video:episode_number>2</video:episode_number><video:premier_date>2020-01-01</video:premier_date></video:tvshow>\
        <video:platform relationship=\"deny\">web tv</video:platform><video:live>no</video:live><video:id type=\"url\">x</video:id></video:video>\
        <news:news><news:publication><news:name>N</news:name><news:language>de</news:language></news:publication><news:access>Subscription</news:access>\
        <news:genres>Blog, Satire</news:genres><news:publication_date>2026-03-02</news:publication_date><news:title>T</news:title>\
        <news:keywords>k</news:keywords><news:stock_tickers>A:B, C:D</news:stock_tickers></news:news>\
        <xhtml:link rel=\"alternate\" hreflang=\"de\" href=\"https://h.example/a\" xml:lang=\"de\" lang=\"de\" dir=\"ltr\" id=\"i\" class=\"c\" \
        type=\"text/html\" media=\"screen\" title=\"t\"></xhtml:link></url><url><loc>https://h.example/b</loc></url>";
    let index = "<sitemap><loc>https://h.example/s.xml</loc><lastmod>2026-01-01</lastmod></sitemap>\
        <sitemap><loc>https://h.example/t.xml</loc></sitemap>";
    [("urlset", urlset), ("sitemapindex", index)].map(|(root, content)| Document {
        text: format!("<{root} {ROOT}>{content}</{root}>"),
        is_index: root == "sitemapindex",
        change: String::new(),
    })
}

/// A document, and how it differs from the one it is made of.
#[derive(Clone, Debug)]
struct Document {
    text: String,
    is_index: bool,
    change: String,
}

/// An element: where its start tag begins and ends, where its end tag does, and its name.
#[derive(Clone, Copy, Debug)]
struct Element<'a> {
    open: [usize; 2],
    close: [usize; 2],
    name: &'a str,
}

impl Element<'_> {
    fn whole(&self) -> [usize; 2] {
        [self.open[0], self.close[1]]
    }

    fn content(&self) -> Range<usize> {
        self.open[1]..self.close[0]
    }
}

impl Document {
    /// All elements in the order in which they end; the root is the last one. Every one has an end tag.
    fn elements(&self) -> Vec<Element<'_>> {
        let mut open = Vec::new();
        let mut elements = Vec::new();
        for (start, _) in self.text.match_indices('<') {
            let end = start + self.text[start..].find('>').unwrap() + 1;
            let tag = &self.text[start + 1..end - 1];
            if tag.starts_with('/') {
                let (from, name) = open.pop().unwrap();
                let close = [start, end];
                elements.push(Element {
                    open: from,
                    close,
                    name,
                });
            } else {
                let name = tag.split(' ').next().unwrap();
                open.push(([start, end], name));
            }
        }
        assert!(open.is_empty());
        elements
    }

    /// The values of attributes, but for declarations.
    fn values(&self) -> Vec<[usize; 2]> {
        let root = self.text.find('>').unwrap();
        let starts = self.text[root..].match_indices("=\"");
        let starts = starts.map(|(start, _)| root + start + 2);
        // In a text there is none.
        starts
            .map(|start| [start, start + self.text[start..].find('"').unwrap()])
            .collect()
    }

    /// The same with another text in the place of a part.
    fn with(&self, part: [usize; 2], text: &str, change: String) -> Self {
        let mut changed = self.text.clone();
        changed.replace_range(part[0]..part[1], text);
        Self {
            text: changed,
            change,
            is_index: self.is_index,
        }
    }

    fn findings(&self) -> Vec<Finding> {
        let mut options = Options::new("2026-03-02T12:00:00Z".parse().unwrap());
        options.max_repeats = u64::MAX;
        let mut validator = Validator::new(options);
        let mut findings = Vec::new();
        let facts = Facts::new("mutant.xml");
        let mut sink = |finding| findings.push(finding);
        validator
            .check(self.text.as_bytes(), &facts, &mut sink)
            .unwrap();
        findings
    }
}

/// Verdicts of `xmllint` on the documents.
fn verdicts(schemas: &Path, documents: &[Document]) -> Vec<bool> {
    let folder = tempfile::tempdir().unwrap();
    let mut valid = BTreeSet::new();
    for (schema, is_index) in [("all-urlset.xsd", false), ("all-siteindex.xsd", true)] {
        let numbers = (0..documents.len()).filter(|number| documents[*number].is_index == is_index);
        for batch in numbers.collect::<Vec<_>>().chunks(BATCH) {
            let mut command = Command::new("xmllint");
            command.args(["--nonet", "--noout", "--schema"]);
            command.arg(schemas.join(schema)).current_dir(folder.path());
            for number in batch {
                let name = format!("{number}.xml");
                fs::write(folder.path().join(&name), &documents[*number].text).unwrap();
                command.arg(name);
            }
            let found = command.stdin(Stdio::null()).output().unwrap().stderr;
            let found = String::from_utf8_lossy(&found);
            let names = found
                .lines()
                .filter_map(|line| line.strip_suffix(".xml validates"));
            valid.extend(names.map(|name| name.parse::<usize>().unwrap()));
        }
    }
    (0..documents.len())
        .map(|number| valid.contains(&number))
        .collect()
}

/// Findings about texts that only the protocol forbids.
const RULES_OF_TEXTS: [&str; 19] = [
    "URL is not absolute",
    "URL is empty",
    "text is empty",
    "time has no zone",
    "more than one <news:news>",
    "expected alternate",
    "expected 1 to 28800",
    "is there already",
    "has no hreflang",
    "has no href",
    "has no rel",
    "has no video:content_loc and no video:player_loc",
    "is not a country of ISO 3166-1",
    "not a language, expected one such as",
    "is not a language of ISO 639-1",
    "not a list of platforms",
    "restriction names no country",
    "is the page itself",
    "is not declared",
];

/// Elements and attributes that search engines do not read, as changes of their values name them: the values are not looked at.
const IGNORED: [&str; 26] = [
    "<image:license>",
    "<video:content_segment_loc>",
    "<video:category>",
    "<video:gallery_loc>",
    "<video:restriction>",
    "<video:platform>",
    "<video:price>",
    "<video:video_type>",
    "<video:season_number>",
    "<video:episode_number>",
    "<video:premier_date>",
    "<news:access>",
    "<news:genres>",
    "<news:stock_tickers>",
    " allow_embed=\"",
    " duration=\"",
    " currency=\"",
    " type=\"",
    " resolution=\"",
    " media=\"",
    " rev=\"",
    " id=\"",
    " class=\"",
    " lang=\"",
    " dir=\"",
    " xml:lang=\"",
];

/// Compares the verdicts on each document.
fn compare(documents: &[Document]) {
    let Some(schemas) = schemas().filter(|_| has_program("xmllint")) else {
        return;
    };
    let mut wrong = Vec::new();
    let verdicts = verdicts(&schemas.canonicalize().unwrap(), documents);
    let valid = verdicts.iter().filter(|is_valid| **is_valid).count();
    // Both kinds are there.
    assert!(valid > 0 && valid < documents.len(), "{valid}");
    for (document, is_valid) in documents.iter().zip(verdicts) {
        let findings = document.findings();
        let is_of_schema = |finding: &Finding| finding.source == Source::Schema;
        let is_reported =
            |finding: &Finding| finding.severity > Severity::Note || is_of_schema(finding);
        let is_rule_of_text = |finding: &Finding| {
            let mut rules = RULES_OF_TEXTS.iter();
            finding.severity < Severity::Error || rules.any(|rule| finding.message.contains(rule))
        };
        let is_right = if is_valid {
            findings.iter().all(is_rule_of_text) && !findings.iter().any(is_of_schema)
        } else {
            let mut ignored = IGNORED.iter();
            findings.iter().any(is_reported) || ignored.any(|name| document.change.ends_with(name))
        };
        if !is_right {
            let found = findings.iter().filter(|finding| is_reported(finding));
            let found: Vec<_> = found
                .map(|finding| {
                    format!(
                        "{} {}: {}",
                        finding.severity, finding.source, finding.message
                    )
                })
                .collect();
            let is = if is_valid { "valid" } else { "not valid" };
            wrong.push(format!("{}: {is}, found: {found:?}", document.change));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} are judged otherwise:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn documents_have_every_element_of_the_schemas() {
    let Some(schemas) = schemas() else { return };
    let documents = documents();
    for document in &documents {
        let found = document.findings();
        let is_reported = |finding: &&Finding| finding.severity > Severity::Note;
        assert_eq!(found.iter().filter(is_reported).count(), 0, "{found:#?}");
    }
    let mut elements: BTreeSet<&str> = BTreeSet::new();
    for document in &documents {
        let names = document.elements().into_iter();
        elements.extend(names.map(|element| element.name));
    }
    for (schema, prefix) in [
        ("sitemap.xsd", ""),
        ("siteindex.xsd", ""),
        ("sitemap-image.xsd", "image:"),
        ("sitemap-video.xsd", "video:"),
        ("sitemap-news.xsd", "news:"),
    ] {
        let text = fs::read_to_string(schemas.join(schema)).unwrap();
        let names = text.split("<xsd:element name=\"").skip(1);
        let names: Vec<&str> = names.map(|rest| rest.split('"').next().unwrap()).collect();
        assert!(!names.is_empty());
        for name in names {
            let name = format!("{prefix}{name}");
            assert!(elements.contains(&*name), "{name} of {schema}");
        }
    }
}

#[test]
fn attributes_are_judged_alike_on_every_element() {
    let attributes = [
        "a=\"1\"",
        "o:a=\"1\"",
        "id=\"a\"",
        "xml:lang=\"de\"",
        "xml:space=\"preserve\"",
        "xml:base=\"/\"",
        "xsi:nil=\"false\"",
        "xsi:type=\"o:none\"",
        "xsi:other=\"1\"",
        "xsi:schemaLocation=\"urn:a b\"",
        "xsi:noNamespaceSchemaLocation=\"b\"",
        "xmlns:x=\"http://www.w3.org/2001/XMLSchema-instance\" x:schemaLocation=\"urn:a b\"",
        "xmlns:xsi=\"urn:other\" xsi:schemaLocation=\"urn:a b\"",
        "xmlns:q=\"urn:q\"",
        "s:x=\"1\"",
    ];
    let mut mutants = Vec::new();
    for document in documents() {
        let mut names = BTreeSet::new();
        for element in document.elements() {
            let at = element.open[0] + 1 + element.name.len();
            for attribute in attributes {
                // A repeated attribute is not well-formed.
                let tag = &document.text[element.open[0]..element.open[1]];
                let name = attribute.split('=').next().unwrap();
                if names.contains(element.name) || tag.contains(&format!(" {name}=")) {
                    continue;
                }
                let change = format!("{attribute} on <{}>", element.name);
                mutants.push(document.with([at, at], &format!(" {attribute}"), change));
            }
            names.insert(element.name);
        }
    }
    compare(&mutants);
}

/// Fragments that are inserted.
const FRAGMENTS: [&str; 36] = [
    "<url></url>",
    "<url><loc>https://h.example/q</loc></url>",
    "<s:url><s:loc>https://h.example/q</s:loc></s:url>",
    "<loc>https://h.example/q</loc>",
    "<lastmod>2026-01-02</lastmod>",
    "<priority>0.3</priority>",
    "<sitemap><loc>https://h.example/q.xml</loc></sitemap>",
    "<urlset></urlset>",
    "<sitemapindex></sitemapindex>",
    "<o:x>t</o:x>",
    "<o:x><url><loc>https://h.example/q</loc></url></o:x>",
    "<x xmlns=\"\"></x>",
    "<foo></foo>",
    "<URL></URL>",
    "<Loc></Loc>",
    "<image:foo></image:foo>",
    "<video:title>x</video:title>",
    "<news:title>x</news:title>",
    "<video:tvshow></video:tvshow>",
    "<q:x></q:x>",
    "text",
    "<![CDATA[]]>",
    "<![CDATA[ ]]>",
    "<![CDATA[x]]>",
    "<!-- c -->",
    "<!-- c -- c -->",
    "<?pi x?>",
    " ",
    "\n",
    "&#32;",
    "&#160;",
    "&amp;",
    "&nbsp;",
    "&x;",
    "&",
    "]]>",
];

/// Replacements of a text or the value of an attribute.
const VALUES: [&str; 60] = [
    "",
    "x",
    " ",
    "\n x \n",
    "0",
    "-1",
    "+1",
    "-0",
    "00",
    "1.",
    "0.00",
    "1.5",
    "1e3",
    "5.0",
    "5.01",
    "28801",
    "9999999999999999999999",
    "\u{663}",
    "1 2",
    "yes",
    "YES",
    "yEs",
    "true",
    "web",
    "web  tv",
    "DE,AT",
    "de",
    "DEU",
    "en-US",
    "zh-cn",
    "zh-CN",
    "x-default",
    "a, b",
    "a,b",
    ",",
    "2026",
    "2026-13-01",
    "2026-01-01",
    "2026-01-01T00:00:00",
    "2026-01-01T00:00Z",
    "2026-01-01T00:00:00Z",
    "a b",
    "http://[x",
    "%zz",
    "1:x",
    "/x",
    "https://h.example/x",
    "https://h.example/\u{fc}",
    "Blog",
    "Blog ,OpEd",
    "A:B",
    "A:B:C",
    "Registration",
    "preview",
    "allow",
    "ALLOW",
    "rent",
    "HD",
    "EURO",
    "tms:series",
];

/// Names that are put around an element, or in the place of its name.
const NAMES: [&str; 10] = [
    "o:w",
    "foo",
    "url",
    "loc",
    "image:image",
    "image:loc",
    "news:publication",
    "s:url",
    "video:tvshow",
    "q:w",
];

/// One way to make a mutant.
type Change = fn(&Document, &mut Dice) -> Document;

/// All of them; a repeated one is applied twice as often.
const CHANGES: [Change; 12] = [
    insert,
    insert,
    replace_text,
    replace_text,
    replace_value,
    remove,
    carry,
    repeat,
    unwrap,
    wrap,
    rename,
    redeclare,
];

/// Any element but the root.
fn pick<'a>(document: &'a Document, dice: &mut Dice) -> Element<'a> {
    let elements = document.elements();
    let (_, inner) = elements.split_last().unwrap();
    dice.pick(inner)
}

fn insert(document: &Document, dice: &mut Dice) -> Document {
    let Element { open, close, name } = pick(document, dice);
    let (at, fragment) = (
        dice.pick(&[open[0], open[1], close[0], close[1]]),
        dice.pick(&FRAGMENTS),
    );
    document.with([at, at], fragment, format!("{fragment} at <{name}>"))
}

fn replace_text(document: &Document, dice: &mut Dice) -> Document {
    let elements = document.elements().into_iter();
    let leaves = elements.filter(|element| !document.text[element.content()].contains('<'));
    let leaf = dice.pick(&leaves.collect::<Vec<_>>());
    let value = dice.pick(&VALUES);
    document.with(
        [leaf.open[1], leaf.close[0]],
        value,
        format!("{value:?} in <{}>", leaf.name),
    )
}

fn replace_value(document: &Document, dice: &mut Dice) -> Document {
    let values = document.values();
    if values.is_empty() {
        return replace_text(document, dice);
    }
    let (part, value) = (dice.pick(&values), dice.pick(&VALUES));
    let before = &document.text[..part[0]];
    let name = before.rsplit(' ').next().unwrap();
    document.with(part, value, format!("{value:?} after {name}"))
}

fn remove(document: &Document, dice: &mut Dice) -> Document {
    let element = pick(document, dice);
    document.with(
        element.whole(),
        "",
        format!("<{}> is missing", element.name),
    )
}

/// Puts an element elsewhere, or, where that is in it, another one like it there.
fn carry(document: &Document, dice: &mut Dice) -> Document {
    let (element, other) = (pick(document, dice), pick(document, dice));
    let [start, end] = element.whole();
    let at = dice.pick(&[other.open[0], other.open[1], other.close[0]]);
    let change = format!("<{}> is carried to <{}>", element.name, other.name);
    let both = document.with([at, at], &document.text[start..end], change.clone());
    if (start..=end).contains(&at) {
        return both;
    }
    let shift = if at < start { end - start } else { 0 };
    both.with([start + shift, end + shift], "", change)
}

fn repeat(document: &Document, dice: &mut Dice) -> Document {
    let element = pick(document, dice);
    let [start, end] = element.whole();
    let change = format!("<{}> is there twice", element.name);
    document.with([end, end], &document.text[start..end], change)
}

fn unwrap(document: &Document, dice: &mut Dice) -> Document {
    let element = pick(document, dice);
    let change = format!("tags of <{}> are missing", element.name);
    document.with(element.whole(), &document.text[element.content()], change)
}

fn wrap(document: &Document, dice: &mut Dice) -> Document {
    let (element, around) = (pick(document, dice), dice.pick(&NAMES));
    let [start, end] = element.whole();
    let wrapped = format!("<{around}>{}</{around}>", &document.text[start..end]);
    let change = format!("<{}> is in <{around}>", element.name);
    document.with([start, end], &wrapped, change)
}

fn rename(document: &Document, dice: &mut Dice) -> Document {
    let element = dice.pick(&document.elements());
    let name = element.name;
    let local = name.rsplit(':').next().unwrap();
    let names = [
        name.to_uppercase(),
        format!("{name}x"),
        format!("o:{local}"),
        format!("s:{local}"),
        format!("image:{local}"),
        local.to_owned(),
        dice.pick(&NAMES).to_owned(),
    ];
    let new = &names[dice.roll(names.len())];
    let attributes = &document.text[element.open[0] + 1 + name.len()..element.open[1]];
    let content = &document.text[element.content()];
    let renamed = format!("<{new}{attributes}{content}</{new}>");
    document.with(
        element.whole(),
        &renamed,
        format!("<{name}> is called <{new}>"),
    )
}

/// Declares another namespace in the root element.
fn redeclare(document: &Document, dice: &mut Dice) -> Document {
    let parts = document.text.split(' ');
    let names = parts.filter_map(|part| part.split_once("=\"http"));
    let names: Vec<&str> = names
        .map(|(name, _)| name)
        .filter(|name| name.starts_with("xmlns"))
        .collect();
    let name = dice.pick(&names);
    let start = document.text.find(&format!("{name}=\"")).unwrap() + name.len() + 2;
    let end = start + document.text[start..].find('"').unwrap();
    let namespace = &document.text[start..end];
    let others = [
        "urn:other".to_owned(),
        format!("{namespace}/"),
        namespace.replace("http:", "https:"),
        namespace.to_uppercase(),
    ];
    let other = &others[dice.roll(others.len())];
    document.with([start, end], other, format!("{name} is {other}"))
}

#[test]
fn nearly_valid_documents_are_judged_as_by_xmllint() {
    let documents = documents();
    let mut dice = Dice(20_260_301);
    let mutants: Vec<Document> = (0..MUTANTS)
        .map(|_| {
            let document = &documents[usize::from(dice.roll(4) == 0)];
            dice.pick(&CHANGES)(document, &mut dice)
        })
        .collect();
    compare(&mutants);
}
