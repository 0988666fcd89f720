//! Name and folder of the file of a part.
//!
//! Owns the file names: a name is a function of the part and the base alone, so it never comes to mean another scope. No two parts
//! of a plan get the same name, not even where upper and lower case are the same, and none gets the name of an index.

use std::{fmt::Write as _, str};

use sha2::{Digest, Sha256};

use super::{PartId, SectionName};

/// Longer names are cut: most file systems allow 255 bytes for a name, and temporary names are longer than the final one.
const MAX_STEM_BYTES: usize = 150;

/// Length to which a longer name is cut; a hash of the whole name follows.
const CUT_STEM_BYTES: usize = 120;

/// Longest folder name of the common file systems.
const MAX_FOLDER_BYTES: usize = 255;

/// Endings of the names of files that sites serve: a folder of such a name could take the place of the file.
const FILE_ENDINGS: [&str; 37] = [
    "asp",
    "aspx",
    "atom",
    "cfm",
    "cgi",
    "config",
    "css",
    "csv",
    "gif",
    "gz",
    "htm",
    "html",
    "ico",
    "jpeg",
    "jpg",
    "js",
    "json",
    "jsp",
    "md",
    "mjs",
    "pdf",
    "php",
    "pl",
    "png",
    "py",
    "rss",
    "shtml",
    "svg",
    "txt",
    "wasm",
    "webmanifest",
    "webp",
    "xhtml",
    "xml",
    "xsl",
    "yaml",
    "zip",
];

/// Folders of the files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// All files in the base directory: `/sitemap.blog.2026.xml` lists `/blog/2026/`. A file there may list everything below.
    #[default]
    Root,
    /// Each file inside the directory it lists: `/blog/2026/sitemap.xml`.
    InPlace,
}

/// End of the file name of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suffix {
    /// `.xml`, plain.
    Xml,
    /// `.xml.gz`, compressed.
    XmlGz,
    /// `.txt`, the URLs alone, plain.
    Txt,
    /// `.txt.gz`, the URLs alone, compressed.
    TxtGz,
}

impl Suffix {
    /// The text, with its first dot.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Xml => ".xml",
            Self::XmlGz => ".xml.gz",
            Self::Txt => ".txt",
            Self::TxtGz => ".txt.gz",
        }
    }
}

/// The name of a part without its suffix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    /// Below the base: empty, or folders that each end in `/`, percent-decoded.
    pub(super) folder: String,
    /// The folders as in a URL.
    pub(super) url_folder: String,
    /// File name up to its suffix, one of `sitemap`, `sitemap-root`, `sitemap.` and more.
    pub(super) stem: String,
}

/// Names of the files of one tree.
#[derive(Clone, Debug)]
pub(super) struct Naming<'a> {
    /// The directory of the site.
    pub(super) base: &'a str,
    /// The directory at the top of the tree.
    pub(super) home: &'a str,
    /// `None` for the tree of the site.
    pub(super) section: Option<&'a SectionName>,
    pub(super) placement: Placement,
}

impl Name {
    /// The parts of a section below its home name their directories from the site's base on, so that they mean the same when
    /// its home becomes another one.
    pub(super) fn new(naming: &Naming<'_>, id: &PartId) -> Self {
        let (own, top) = match naming.section {
            None => ("sitemap".to_owned(), "sitemap-root".to_owned()),
            Some(section) => (format!("sitemap-{section}"), format!("sitemap-{section}")),
        };
        let below = id.directory.strip_prefix(naming.base);
        let below = below.unwrap_or(&id.directory);
        let shard = id.prefix.as_deref().map(encode_prefix);
        let is_top = id.directory == naming.home && shard.is_none();
        let (folder, url_folder, directories) = match naming.placement {
            Placement::Root => (String::new(), "", below),
            Placement::InPlace => (below.split_inclusive('/').map(decode).collect(), below, ""),
        };
        let directories = directories.split_terminator('/').map(encode_segment);
        let encoded: Vec<_> = directories.chain(shard).collect();
        Self {
            folder,
            url_folder: url_folder.to_owned(),
            stem: if is_top {
                top
            } else if encoded.is_empty() {
                own
            } else {
                stem(&own, &encoded.join("."))
            },
        }
    }
}

/// The name of the index with this number, from 0: `sitemap.xml`, `sitemap-2.xml`, ...
///
/// ```
/// use sitemap_core::partition::index_name;
///
/// assert_eq!((index_name(0), index_name(1)), ("sitemap.xml".to_owned(), "sitemap-2.xml".to_owned()));
/// ```
pub fn index_name(number: usize) -> String {
    match number {
        0 => "sitemap.xml".to_owned(),
        _ => format!("sitemap-{}.xml", number + 1),
    }
}

/// The folders on disk for `directories`, segments of a path that each end in `/`: percent-decoded. `None` when one of them
/// cannot be a folder that holds sitemaps.
///
/// ```
/// use sitemap_core::partition::folders;
///
/// assert_eq!(folders("a%20b/c/").as_deref(), Some("a b/c/"));
/// assert_eq!(folders("").as_deref(), Some(""));
/// assert_eq!(folders("a/%2e%2e/"), None);
/// ```
pub fn folders(directories: &str) -> Option<String> {
    let can_be_folders = directories
        .split_terminator('/')
        .all(|segment| folder_key(segment).is_some());
    can_be_folders.then(|| directories.split_inclusive('/').map(decode).collect())
}

/// The folder a path segment names on disk, folded so that names which some disk takes for the same are equal; `None` when no file
/// may stand in it.
///
/// A name is refused if it is empty, not UTF-8, over 255 bytes, or has a separator, NUL or control character. So is a name that
/// begins with a dot, because servers and tools use it (`.git`, `.htaccess`), and a name that could be a file beside it
/// (`sitemap.xml`, `robots.txt`, `index.php`).
pub(super) fn folder_key(segment: &str) -> Option<String> {
    let bytes = decode_bytes(segment);
    let name = str::from_utf8(&bytes).ok()?;
    let bad = |character: char| matches!(character, '/' | '\\') || character.is_control();
    if name.is_empty()
        || name.starts_with('.')
        || name.len() > MAX_FOLDER_BYTES
        || name.contains(bad)
    {
        return None;
    }
    // Through upper case, because some letters have several lower-case forms.
    let key = name.to_uppercase().to_lowercase();
    let is_file_name = key
        .rsplit_once('.')
        .is_some_and(|(_, ending)| key.starts_with("sitemap") || FILE_ENDINGS.contains(&ending));
    (!is_file_name).then_some(key)
}

fn stem(own: &str, encoded: &str) -> String {
    if encoded.len() <= MAX_STEM_BYTES {
        return format!("{own}.{encoded}");
    }
    let mut stem = format!("{own}.{}_x", &encoded[..CUT_STEM_BYTES]);
    for byte in &Sha256::digest(encoded.as_bytes())[..8] {
        push_hex(&mut stem, *byte);
    }
    stem
}

/// A shard's prefix: its `/` become dots, and a single underscore marks the end.
fn encode_prefix(prefix: &str) -> String {
    let mut encoded = prefix
        .split('/')
        .map(encode_segment)
        .collect::<Vec<_>>()
        .join(".");
    encoded.push('_');
    encoded
}

/// Keeps `a-z 0-9 -`; another byte becomes `_` and two hex digits, upper case too, so that names do not meet on a disk that
/// ignores case. `_e` is the empty segment.
fn encode_segment(segment: &str) -> String {
    if segment.is_empty() {
        return "_e".to_owned();
    }
    let mut encoded = String::with_capacity(segment.len());
    for byte in segment.bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' => encoded.push(char::from(byte)),
            _ => {
                encoded.push('_');
                push_hex(&mut encoded, byte);
            }
        }
    }
    encoded
}

fn push_hex(text: &mut String, byte: u8) {
    write!(text, "{byte:02x}").expect("writing to a String does not fail");
}

/// A folder that passed [`folder_key`], with its slash.
fn decode(segment: &str) -> String {
    String::from_utf8_lossy(&decode_bytes(segment)).into_owned()
}

/// Percent-decoding of RFC 3986 section 2.1; a `%` without two hex digits stays as it is.
fn decode_bytes(text: &str) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let hex = |at: usize| {
            after
                .get(at)
                .and_then(|byte| char::from(*byte).to_digit(16))
        };
        if let (b'%', Some(high), Some(low)) = (first, hex(0), hex(1)) {
            decoded.push(u8::try_from(high * 16 + low).expect("two hex digits are at most 255"));
            rest = &after[2..];
        } else {
            decoded.push(first);
            rest = after;
        }
    }
    decoded
}
