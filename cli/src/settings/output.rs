//! Readers of the settings of the published set.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use crawler::config::{
    ChangeFreq, EntryRule, Extensions, FileGroup, Format, MAX_SECTIONS, ObjectField, ObjectHeader,
    ObjectRule, Priority, SectionName,
};

use super::{
    is_storage,
    value::{Read, Value, Wrong, list, optional_text, switches, text, words},
};

/// A folder, or the URL of object storage.
pub(crate) fn place(value: &Value) -> Read<Option<PathBuf>> {
    const EXPECTED: &str =
        "a folder, or a bucket as s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or az://CONTAINER/PREFIX";
    let place = optional_text(value, EXPECTED)?.map(PathBuf::from);
    let text = place.as_deref().and_then(Path::to_str).unwrap_or_default();
    if !text.contains("://") {
        return Ok(place);
    }
    if !place.as_deref().is_some_and(is_storage) || text.contains(['?', '#', '@']) {
        return Err(Wrong::found(EXPECTED, value));
    }
    if !cfg!(feature = "cloud") {
        return Err(Wrong::new(
            "this arpent was built without object storage; expected a folder, or a package or a build with --features cloud",
        ));
    }
    Ok(place)
}

/// `GLOB=HEADER: VALUE` lines.
pub(crate) fn object_headers(value: &Value) -> Read<Vec<ObjectRule>> {
    const EXPECTED: &str = "GLOB=HEADER: VALUE with Cache-Control, Content-Disposition, Content-Encoding, Content-Language or \
                            Content-Type, such as \"*.xml=Cache-Control: max-age=60\"";
    const FIELDS: [(&str, ObjectField); 5] = [
        ("cache-control", ObjectField::CacheControl),
        ("content-disposition", ObjectField::ContentDisposition),
        ("content-encoding", ObjectField::ContentEncoding),
        ("content-language", ObjectField::ContentLanguage),
        ("content-type", ObjectField::ContentType),
    ];
    list(value, |item| {
        let wrong = || Wrong::found(EXPECTED, item);
        let (objects, header) = text(item, EXPECTED)?.split_once('=').ok_or_else(wrong)?;
        let (name, content) = header.split_once(':').ok_or_else(wrong)?;
        let name = name.trim_ascii().to_ascii_lowercase();
        let field = FIELDS.iter().find(|(known, _)| *known == name);
        let (_, field) = field.ok_or_else(wrong)?;
        let content = content.trim_ascii();
        let is_text = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
        if objects.is_empty() || content.is_empty() || !content.bytes().all(is_text) {
            return Err(wrong());
        }
        Ok(ObjectRule {
            objects: objects.to_owned(),
            header: ObjectHeader {
                field: *field,
                value: content.to_owned(),
            },
        })
    })
}

/// Longest name of an index, without its ending, in bytes.
const MAX_INDEX_NAME_BYTES: usize = 100;

/// The name of the index.
pub(crate) fn index_name(value: &Value) -> Read<String> {
    const EXPECTED: &str = "a name of letters, digits, - and _ that ends with .xml, such as \"pages.xml\"; names that begin with \"sitemap-\" or \
                            \"sitemap.\" are those of parts";
    let name = text(value, EXPECTED)?;
    let stem = name.strip_suffix(".xml").unwrap_or_default();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let is_name = !stem.is_empty()
        && stem.len() <= MAX_INDEX_NAME_BYTES
        && stem.bytes().all(is_plain)
        && !stem.starts_with("sitemap-");
    if is_name {
        Ok(name.to_owned())
    } else {
        Err(Wrong::found(EXPECTED, value))
    }
}

/// Words for formats, several in one text divided by commas.
pub(crate) fn formats(value: &Value) -> Read<BTreeSet<Format>> {
    const WORDS: [(&str, Format); 6] = [
        ("xml", Format::Xml),
        ("txt", Format::Text),
        ("rss", Format::Rss),
        ("atom", Format::Atom),
        ("html", Format::Html),
        ("llms", Format::Llms),
    ];
    let formats: BTreeSet<Format> = words(value, &WORDS)?.into_iter().collect();
    // A feed lists recent changes only (sitemaps.org protocol, "Syndication feed").
    if formats.contains(&Format::Xml) || formats.contains(&Format::Text) {
        Ok(formats)
    } else {
        Err(Wrong::new(
            "search engines need a list of all pages; expected also \"xml\" or \"txt\"",
        ))
    }
}

/// `GLOB=WORD` lines.
pub(crate) fn changefreq(value: &Value) -> Read<Vec<EntryRule<ChangeFreq>>> {
    const EXPECTED: &str =
        "GLOB=always, hourly, daily, weekly, monthly, yearly or never, such as \"/news/*=daily\"";
    entry_rules(value, EXPECTED, |word| ChangeFreq::parse(word).ok())
}

/// `GLOB=NUMBER` lines.
pub(crate) fn priority(value: &Value) -> Read<Vec<EntryRule<Priority>>> {
    const EXPECTED: &str =
        "GLOB=NUMBER from 0.0 to 1.0 with one digit after the point, such as \"/shop/*=0.8\"";
    entry_rules(value, EXPECTED, |number| {
        // A value that would be rounded was not meant.
        Priority::parse(number).ok().filter(|_| {
            number
                .split_once('.')
                .is_none_or(|(_, digits)| digits.len() == 1)
        })
    })
}

/// `GLOB=NAME` lines, of a bounded number of names.
pub(crate) fn sections(value: &Value) -> Read<Vec<EntryRule<SectionName>>> {
    const EXPECTED: &str = "GLOB=NAME with a name of up to 40 letters a to z, digits and -, which begins with a letter, \
                            does not end with - and is not root, recent or news, such as \"/shop/**=shop\"";
    let rules = entry_rules(value, EXPECTED, |name| name.parse().ok())?;
    let names: BTreeSet<&SectionName> = rules.iter().map(|rule| &rule.value).collect();
    if names.len() > MAX_SECTIONS {
        return Err(Wrong::new(format!(
            "expected at most {MAX_SECTIONS} names, found {}",
            names.len()
        )));
    }
    Ok(rules)
}

/// Kinds of extensions.
pub(crate) fn extensions(value: &Value) -> Read<Extensions> {
    switches(
        value,
        Extensions::default(),
        &[
            ("images", |extensions| extensions.images = true),
            ("hreflang", |extensions| extensions.hreflang = true),
            ("news", |extensions| extensions.news = true),
            ("video", |extensions| extensions.video = true),
        ],
    )
}

/// The rights of files, as `chmod` takes them: octal. Whoever writes a file has to be able to read it back.
pub(crate) fn file_mode(value: &Value) -> Read<Option<u32>> {
    const EXPECTED: &str = "octal permissions as text from \"0400\" to \"0777\" that let the owner read, such as \"0644\"";
    let Some(digits) = optional_text(value, EXPECTED)? else {
        return Ok(None);
    };
    let is_octal = digits.len() <= 4 && digits.bytes().all(|digit| digit.is_ascii_digit());
    let mode = u32::from_str_radix(&digits, 8).ok();
    mode.filter(|mode| is_octal && *mode <= 0o777 && mode & 0o400 != 0)
        .map(Some)
        .ok_or_else(|| Wrong::found(EXPECTED, value))
}

/// The name of a group, or its number.
pub(crate) fn file_group(value: &Value) -> Read<Option<FileGroup>> {
    const EXPECTED: &str = "the name or the number of a group as text, such as \"www-data\"";
    let Some(group) = optional_text(value, EXPECTED)? else {
        return Ok(None);
    };
    if group.contains([':', '\n', '\0']) {
        return Err(Wrong::found(EXPECTED, value));
    }
    match group.parse() {
        // To the system that number means: leave the group as it is.
        Ok(u32::MAX) => Err(Wrong::found(EXPECTED, value)),
        Ok(number) => Ok(Some(FileGroup::Number(number))),
        Err(_) => Ok(Some(FileGroup::Name(group.clone()))),
    }
}

/// A glob may hold `=`, a value never does: the last one divides them.
fn entry_rules<T>(
    value: &Value,
    expected: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Read<Vec<EntryRule<T>>> {
    list(value, |item| {
        let wrong = || Wrong::found(expected, item);
        let (pages, value) = text(item, expected)?.rsplit_once('=').ok_or_else(wrong)?;
        if pages.is_empty() {
            return Err(wrong());
        }
        Ok(EntryRule {
            pages: pages.to_owned(),
            value: read(value).ok_or_else(wrong)?,
        })
    })
}
