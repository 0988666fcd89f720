//! The reader and the writers against the official schemas of sitemaps.org and documents made for them.
//!
//! Schemas and documents are not part of this repository: the tests look for them in the folder that the environment variable
//! `ARPENT_SHARED` names, and are skipped when it is not set. Validation needs `xmllint` (Debian: libxml2-utils).

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod mutants;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use sitemap_core::{
    ChangeFreq, IndexEntry, IndexWriter, LastMod, Limits, Loc, Priority, Push, SchemaLocation,
    UrlEntry, UrlSetOptions, UrlSetWriter,
    extension::{
        Alternate, CustomElement, CustomNamespace, Element, Extension, Hreflang, Namespaces, Text,
        ValueKind,
    },
    read::{Expectation, Item, Kind, ReadError, Reader, check},
};

use crate::support::{shared, xmllint::validate};

fn schemas() -> Option<PathBuf> {
    Some(shared()?.join("schemas"))
}

/// The documents of a folder, by name.
fn documents(folder: &Path) -> BTreeMap<String, String> {
    let mut documents = BTreeMap::new();
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        documents.insert(path.file_name().unwrap().to_str().unwrap().to_owned(), text);
    }
    assert!(
        !documents.is_empty(),
        "no documents in {}",
        folder.display()
    );
    documents
}

/// Result of reading a document: the number of entries, and rule and severity of each finding.
fn reading(document: &str) -> (usize, Vec<String>) {
    let mut reader = Reader::new(document.as_bytes(), Limits::default());
    let mut entries = 0;
    let mut lost = Vec::new();
    for item in &mut reader {
        match item {
            Ok(Item::Url(_) | Item::Sitemap(_)) => entries += 1,
            Err(ReadError::Entry(finding) | ReadError::File(finding)) => lost.push(finding),
            Err(error) => panic!("{error}"),
        }
    }
    let findings = reader.findings().iter().chain(&lost);
    (
        entries,
        findings
            .map(|finding| format!("{:?} {}", finding.severity(), finding.rule()))
            .collect(),
    )
}

fn passes_check(document: &str) -> bool {
    let place = Loc::parse("https://www.example.com/sitemap.xml").unwrap();
    let kind = if document.contains("<sitemapindex") {
        Kind::Index
    } else {
        Kind::UrlSet
    };
    check(document.as_bytes(), &Expectation::new(kind, &place)).is_ok()
}

#[test]
fn valid_documents_have_no_findings() {
    let Some(schemas) = schemas() else { return };
    for (name, document) in documents(&schemas.join("examples/valid")) {
        let (entries, printed) = reading(&document);
        // The schema allows one character more than the text of the protocol.
        if name == "urlset-loc-2048.xml" {
            assert_eq!(
                (entries, printed),
                (0, vec!["Warning R11".to_owned()]),
                "{name}"
            );
            assert!(!passes_check(&document), "{name}");
        } else {
            assert_eq!(entries, document.matches("<loc>").count(), "{name}");
            assert_eq!(printed, Vec::<String>::new(), "{name}");
            assert!(passes_check(&document), "{name}");
        }
    }
}

#[test]
fn invalid_documents_are_reported_with_their_rule() {
    let Some(schemas) = schemas() else { return };
    // Name, usable entries, findings in their order.
    let expected = [
        ("index-bad-lastmod.xml", 1, "Error R42"),
        ("index-changefreq.xml", 1, "Error R36"),
        ("index-empty.xml", 0, "Warning R68"),
        ("index-lastmod-before-loc.xml", 1, "Warning R36"),
        ("index-no-loc.xml", 0, "Error R36"),
        ("urlset-bad-changefreq.xml", 1, "Warning R16"),
        ("urlset-bad-lastmod.xml", 1, "Error R13"),
        ("urlset-bad-priority.xml", 1, "Error R18"),
        ("urlset-empty-lastmod.xml", 1, "Error R13"),
        ("urlset-empty.xml", 0, "Warning R68"),
        ("urlset-hreflang-bad-lang.xml", 1, "Error R71"),
        ("urlset-https-namespace.xml", 1, "Error R5"),
        ("urlset-image-before-lastmod.xml", 1, "Warning R8"),
        ("urlset-image-no-loc.xml", 1, "Note R71, Error R71"),
        ("urlset-lastmod-no-seconds.xml", 1, "Warning R13"),
        ("urlset-lastmod-year.xml", 1, "Warning R13"),
        ("urlset-lastmod-yearmonth.xml", 1, "Warning R13"),
        ("urlset-loc-2049.xml", 0, "Error R11"),
        ("urlset-loc-too-short.xml", 1, "Warning R68"),
        ("urlset-news-bad-language.xml", 1, "Error R71"),
        ("urlset-news-no-title.xml", 1, "Error R71"),
        ("urlset-no-loc.xml", 0, "Error R7"),
        ("urlset-no-namespace.xml", 1, "Error R5"),
        ("urlset-priority-exponent.xml", 1, "Error R18"),
        ("urlset-two-locs.xml", 2, "Error R7"),
        ("urlset-unescaped-amp.xml", 1, "Error R3"),
        ("urlset-unknown-child.xml", 1, "Warning R6"),
        ("urlset-unknown-extension.xml", 1, "Note R70, Note R71"),
        ("urlset-video-33-tags.xml", 1, "Error R71, Error R71"),
        ("urlset-video-duration-28801.xml", 1, "Error R71, Error R71"),
        ("urlset-video-no-title.xml", 1, "Error R71, Error R71"),
        (
            "urlset-video-tag-before-rating.xml",
            1,
            "Warning R71, Error R71",
        ),
        ("urlset-wrong-order.xml", 1, "Warning R8"),
    ];
    compare(&schemas.join("examples/invalid"), &expected);
}

#[test]
fn documents_that_only_the_schema_accepts_are_reported() {
    let Some(schemas) = schemas() else { return };
    let expected = [
        ("xsd-accepts-date-with-zone.xml", 1, "Error R13"),
        ("xsd-accepts-datetime-without-zone.xml", 1, "Error R13"),
        ("xsd-accepts-ftp-loc.xml", 0, "Error R9"),
        ("xsd-accepts-hour-24.xml", 1, "Error R13"),
        ("xsd-accepts-link-without-href.xml", 1, "Error R71"),
        ("xsd-accepts-negative-year.xml", 1, "Error R13"),
        // Only the check knows the place of the file.
        ("xsd-accepts-other-host.xml", 2, ""),
        ("xsd-accepts-padded-loc.xml", 1, "Warning R12"),
        ("xsd-accepts-raw-non-ascii-and-space.xml", 1, "Error R24"),
        ("xsd-accepts-relative-loc.xml", 0, "Error R9"),
        ("xsd-accepts-two-news-in-one-url.xml", 1, "Error R71"),
        (
            "xsd-accepts-video-duration-0.xml",
            1,
            "Error R71, Error R71",
        ),
        (
            "xsd-accepts-video-without-content-or-player.xml",
            1,
            "Error R71",
        ),
    ];
    compare(&schemas.join("examples/xsd-too-lenient"), &expected);
}

/// Compares every document of a folder with its row, and fails when one passes the check.
fn compare(folder: &Path, expected: &[(&str, usize, &str)]) {
    let documents = documents(folder);
    assert_eq!(documents.len(), expected.len(), "{:?}", documents.keys());
    for (name, entries, printed) in expected {
        let document = &documents[*name];
        let printed: Vec<String> = printed
            .split(", ")
            .filter(|printed| !printed.is_empty())
            .map(ToOwned::to_owned)
            .collect();
        assert_eq!(reading(document), (*entries, printed), "{name}");
        let is_short_url = *name == "urlset-loc-too-short.xml";
        assert!(!passes_check(document) || is_short_url, "{name}");
    }
}

/// URLs with every allowed character.
fn urls() -> Vec<Loc> {
    let mut urls = Vec::new();
    for code in (0..0x3000_u32).step_by(7) {
        if let Some(character) = char::from_u32(code) {
            urls.push(
                Loc::parse(&format!(
                    "https://www.example.com/{character}x?{character}&'%FC"
                ))
                .unwrap(),
            );
        }
    }
    urls.push(Loc::parse("https://[2001:db8::1]:8443/").unwrap());
    urls.push(Loc::parse("http://ümlat.example:8080/%zz?[]").unwrap());
    urls.push(Loc::parse(&format!("https://example.com/{}", "a".repeat(2_027))).unwrap());
    urls
}

#[test]
fn written_urlset_is_valid() {
    let Some(schemas) = schemas() else { return };
    let dates = [
        "2024-05-17",
        "0001-01-01",
        "9999-12-31T23:59:59.123456789-14:00",
        "2024-02-29T00:00:00Z",
        "1969-12-31T00:00:00.5+14:00",
    ];
    let mut writer = UrlSetWriter::new(Vec::new(), Limits::default()).unwrap();
    for (number, loc) in urls().into_iter().enumerate() {
        let mut entry = UrlEntry::new(loc);
        entry.lastmod = dates
            .get(number % 6)
            .map(|date| LastMod::parse(date).unwrap());
        entry.changefreq = ChangeFreq::ALL.get(number % 8).copied();
        entry.priority = u8::try_from(number % 12)
            .ok()
            .and_then(|tenths| Priority::from_tenths(tenths).ok());
        assert_eq!(writer.push(&entry).unwrap(), Push::Written);
    }
    let (file, _) = writer.finish().unwrap();
    let verdict = validate(&schemas.join("all-urlset.xsd"), &file);
    assert_eq!(verdict.unwrap_or(Ok(())), Ok(()));
}

#[test]
fn written_index_is_valid() {
    let Some(schemas) = schemas() else { return };
    let mut writer = IndexWriter::new(Vec::new(), Limits::default()).unwrap();
    let lastmod = LastMod::from_timestamp("2026-03-02T04:00:11.5Z".parse().unwrap());
    for (number, loc) in urls().into_iter().enumerate() {
        let mut entry = IndexEntry::new(loc);
        entry.lastmod = (number % 2 == 0).then(|| lastmod.clone());
        assert_eq!(writer.push(&entry).unwrap(), Push::Written);
    }
    let (file, _) = writer.finish().unwrap();
    let verdict = validate(&schemas.join("all-siteindex.xsd"), &file);
    assert_eq!(verdict.unwrap_or(Ok(())), Ok(()));
}

/// Numbers that look like chance and are the same each time (Knuth's MMIX).
struct Dice(u64);

impl Dice {
    /// One of `sides` numbers, from 0.
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.roll(values.len())]
    }

    fn chance(&mut self) -> bool {
        self.roll(2) == 0
    }

    /// A text of any characters, some of which XML cannot hold.
    fn text(&mut self, most: usize) -> String {
        let characters = [
            'a', ' ', '\n', '&', '<', '>', '"', '\'', 'é', '語', '😀', '\u{1}', '\u{a0}', ']',
            '\u{FFFF}',
        ];
        let length = 1 + self.roll(most.min(40));
        let text: String = (0..length).map(|_| self.pick(&characters)).collect();
        format!("x{text}").chars().take(most).collect()
    }

    fn loc(&mut self) -> Loc {
        let path = self.pick(&["", "a.jpg", "?a=1&b='2'", "ü b", "%FC", "[x]", "%zz|"]);
        Loc::parse(&format!("https://cdn.example.net/{path}")).unwrap()
    }

    fn value(&mut self, kind: ValueKind) -> String {
        let values: &[&str] = match kind {
            ValueKind::Url => return self.loc().to_string(),
            ValueKind::Text(most) => return self.text(most),
            ValueKind::Retired => &[""],
            ValueKind::Date => &[
                "2024-05-17",
                "0001-01-01",
                "9999-12-31T23:59:59.123456789-14:00",
                "2024-02-29T00:00:00Z",
            ],
            ValueKind::Seconds => &["1", "600", "28800"],
            ValueKind::Rating => &["0", "4.2", "5.0"],
            ValueKind::Count => &["0", "12345", "18446744073709551615"],
            ValueKind::YesNo => &["yes", "no"],
            ValueKind::Language => &["en", "zh-cn", "zh-tw", "fra"],
            ValueKind::Countries => &["IE", "US GB IE", "AD AE AF ZA ZM ZW"],
            ValueKind::Platforms => &["web", "tv mobile", "web mobile tv"],
            ValueKind::Relationship => &["allow", "deny"],
        };
        self.pick(values).to_owned()
    }

    fn date(&mut self) -> LastMod {
        LastMod::parse(&self.value(ValueKind::Date)).unwrap()
    }

    /// An element with random optional values, and all required ones.
    fn element(&mut self, extension: Extension) -> Element {
        let mut element = Element::new(extension);
        let missing: Vec<&str> = element.missing().collect();
        for row in Element::rows(extension) {
            let is_needed = missing.contains(&row.name) || row.local_name() == "content_loc";
            let most = if row.most > 1 {
                self.pick(&[0, 1, row.most])
            } else {
                1
            };
            for _ in 0..most {
                if !is_needed && self.chance() {
                    continue;
                }
                let attribute = row.attribute().and_then(|known| match known.kind {
                    ValueKind::Url => self
                        .chance()
                        .then(|| "https://www.example.com/u?a&b".to_owned()),
                    kind => Some(self.value(kind)),
                });
                let text = self.value(row.kind);
                element
                    .set(row.local_name(), &text, attribute.as_deref())
                    .unwrap();
            }
        }
        element
    }

    fn own(&mut self, namespace: &CustomNamespace) -> CustomElement {
        match self.roll(3) {
            0 => CustomElement::new(namespace, "stock").unwrap(),
            1 => CustomElement::new(namespace, "price")
                .unwrap()
                .with_attribute("currency", Text::new("EUR").unwrap())
                .unwrap()
                .with_text(Text::new("12.50").unwrap()),
            _ => CustomElement::new(namespace, "note")
                .unwrap()
                .with_text(Text::new(&self.text(40)).unwrap()),
        }
    }

    /// An entry with some of the extensions; only the first 1,000 of a file have an article.
    fn entry(&mut self, number: usize, own: &CustomNamespace) -> UrlEntry {
        let loc = Loc::parse(&format!("https://www.example.com/{number:06}")).unwrap();
        let mut entry = UrlEntry::new(loc);
        entry.lastmod = self.chance().then(|| self.date());
        let extensions = &mut entry.extensions;
        for language in ["en", "en-GB", "zh-Hant-TW", "x-default"] {
            if self.chance() {
                let hreflang = Hreflang::parse(language).unwrap();
                extensions
                    .add_alternate(Alternate::new(hreflang, self.loc()))
                    .unwrap();
            }
        }
        for _ in 0..self.roll(4) {
            extensions.add(Element::image(&self.loc())).unwrap();
        }
        for _ in 0..self.roll(3) {
            extensions.add(self.element(Extension::Video)).unwrap();
        }
        if self.chance() {
            extensions.add(self.element(Extension::News)).unwrap();
        }
        for _ in 0..self.roll(3) {
            extensions.add_custom(self.own(own)).unwrap();
        }
        entry
    }
}

/// The schema of the custom namespace of [`Dice::own`].
const OWN_SCHEMA: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="https://www.example.com/schemas/shop?a=1"
           elementFormDefault="qualified">
  <xs:element name="stock"><xs:complexType/></xs:element>
  <xs:element name="note" type="xs:string"/>
  <xs:element name="price">
    <xs:complexType>
      <xs:simpleContent>
        <xs:extension base="xs:decimal">
          <xs:attribute name="currency" use="required">
            <xs:simpleType><xs:restriction base="xs:string"><xs:pattern value="[A-Z]{3}"/></xs:restriction></xs:simpleType>
          </xs:attribute>
        </xs:extension>
      </xs:simpleContent>
    </xs:complexType>
  </xs:element>
</xs:schema>
"#;

#[test]
fn written_extensions_are_valid_and_pass_the_check() {
    let Some(schemas) = schemas() else { return };
    let folder = tempfile::tempdir().unwrap();
    let own_schema = folder.path().join("shop.xsd");
    fs::write(&own_schema, OWN_SCHEMA).unwrap();
    let driver = folder.path().join("all.xsd");
    let known = schemas.canonicalize().unwrap().join("all-urlset.xsd");
    let content = format!(
        "<xs:schema xmlns:xs=\"http://www.w3.org/2001/XMLSchema\"><xs:include schemaLocation=\"{}\"/>\
         <xs:import namespace=\"https://www.example.com/schemas/shop?a=1\" schemaLocation=\"shop.xsd\"/></xs:schema>",
        known.display()
    );
    fs::write(&driver, content).unwrap();
    let own = CustomNamespace::new("shop", "https://www.example.com/schemas/shop?a=1").unwrap();

    for (schema_location, seed) in [(SchemaLocation::Omitted, 1), (SchemaLocation::Written, 2)] {
        let mut dice = Dice(seed);
        let mut namespaces = Extension::ALL
            .into_iter()
            .fold(Namespaces::default(), Namespaces::with);
        namespaces.add_custom(&own).unwrap();
        let options = UrlSetOptions::default()
            .with_namespaces(namespaces)
            .with_schema_location(schema_location);
        let mut writer = UrlSetWriter::with_options(Vec::new(), options).unwrap();
        let entries: Vec<UrlEntry> = (0..400).map(|number| dice.entry(number, &own)).collect();
        for entry in &entries {
            assert_eq!(writer.push(entry).unwrap(), Push::Written);
        }
        let (file, written) = writer.finish().unwrap();
        let own = std::slice::from_ref(&own);
        let reader = Reader::new(&file[..], Limits::default()).with_custom_namespaces(own);
        let read: Vec<UrlEntry> = reader
            .map(|item| match item.unwrap() {
                Item::Url(entry) => entry,
                Item::Sitemap(_) => panic!("a sitemap in a urlset"),
            })
            .collect();
        assert!(read == entries);
        let place = Loc::parse("https://www.example.com/sitemap.xml").unwrap();
        let mut expectation = Expectation::new(Kind::UrlSet, &place);
        expectation.custom_namespaces = own;
        assert_eq!(check(&file[..], &expectation).unwrap(), written);
        let verdict = validate(&driver, &file);
        assert_eq!(verdict.unwrap_or(Ok(())), Ok(()));
    }
}

#[test]
fn largest_urlset_is_valid_and_passes_the_check() {
    let Some(schemas) = schemas() else { return };
    let mut writer = UrlSetWriter::new(Vec::new(), Limits::default()).unwrap();
    let mut number = 0;
    loop {
        let url = format!(
            "https://www.example.com/{number:08}?{}",
            "a&'".repeat(number % 400)
        );
        match writer
            .push(&UrlEntry::new(Loc::parse(&url).unwrap()))
            .unwrap()
        {
            Push::Written => number += 1,
            Push::Full => break,
        }
    }
    let (file, written) = writer.finish().unwrap();
    let largest_entry = 2_048 * 6;
    assert!(file.len() as u64 <= 52_428_800 && file.len() as u64 > 52_428_800 - largest_entry);
    let place = Loc::parse("https://www.example.com/sitemap.xml").unwrap();
    assert_eq!(
        check(&file[..], &Expectation::new(Kind::UrlSet, &place)).unwrap(),
        written
    );
    let verdict = validate(&schemas.join("all-urlset.xsd"), &file);
    assert_eq!(verdict.unwrap_or(Ok(())), Ok(()));
}
