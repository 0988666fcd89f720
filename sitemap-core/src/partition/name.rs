//! Name and folder of the file of a part.
//!
//! Owns the file names. A name keeps the letters, digits, `-`, `_` and `.` of its scope. A dot joins directories, and every other
//! byte becomes `_` and two hexadecimal digits. A name that another scope has or had, ignoring case, ends in `_x` and a hash of its
//! scope; so does a name of more than 150 bytes.
//!
//! The [`Layout`](super::Layout) remembers the scopes that had a name, so a name never comes to mean another scope. No part gets
//! the name of an index.

use std::{
    collections::{BTreeSet, HashMap},
    fmt::Write as _,
    str,
};

use sha2::{Digest, Sha256};

use super::{PartId, SectionName};

/// Longer names are cut: most file systems allow 255 bytes for a name, and temporary names are longer than the final one.
const MAX_STEM_BYTES: usize = 150;

/// Length to which a longer name is cut; a hash of the scope follows.
const CUT_STEM_BYTES: usize = 120;

/// Begins the hash at the end of a name.
const HASH_MARK: &str = "_x";

/// Hexadecimal digits of a hash in a name.
const HASH_DIGITS: usize = 16;

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
    /// The readable name, which another scope may have too. The parts of a section below its home name their directories from the
    /// site's base on, so that they mean the same when its home becomes another one.
    fn readable(naming: &Naming<'_>, id: &PartId) -> Self {
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
                format!("{own}.{}", encoded.join("."))
            },
        }
    }

    /// Returns whether the name is made of a scope, so that another scope could have it.
    fn is_of_scope(&self) -> bool {
        self.stem.contains('.')
    }

    /// Returns whether no scope may have the name as it is, because it is too long or ends as if it had a hash.
    fn needs_hash(&self) -> bool {
        let stem = self.stem.to_ascii_lowercase();
        let hash = stem.rsplit_once(HASH_MARK).map(|(_, hash)| hash);
        let is_hash = |hash: &str| {
            hash.len() == HASH_DIGITS && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        self.is_of_scope() && (self.stem.len() > MAX_STEM_BYTES || hash.is_some_and(is_hash))
    }

    fn with_hash(mut self, id: &PartId) -> Self {
        self.stem.truncate(CUT_STEM_BYTES);
        self.stem.push_str(HASH_MARK);
        let (scope, is_shard) = meaning(id);
        let hash = Sha256::digest(format!("{scope}\t{is_shard}"));
        for byte in &hash[..HASH_DIGITS / 2] {
            push_hex(&mut self.stem, *byte);
        }
        self
    }
}

/// Scope that a name means, and whether it is a share of a directory by characters.
fn meaning(id: &PartId) -> (String, bool) {
    (id.scope(), id.prefix.is_some())
}

/// Names that scopes of one tree have or had, and the parts among them whose name ends in a hash because of another scope.
#[derive(Debug)]
pub(super) struct FileNames<'a> {
    naming: Naming<'a>,
    /// The scope of each name, in lower case.
    taken: HashMap<String, (String, bool)>,
    pub(super) hashed: BTreeSet<PartId>,
}

impl<'a> FileNames<'a> {
    /// The names of parts that were published, of which those in `hashed` have a hash.
    pub(super) fn new<'p>(
        naming: Naming<'a>,
        published: impl Iterator<Item = &'p PartId>,
        hashed: BTreeSet<PartId>,
    ) -> Self {
        let taken = HashMap::new();
        let mut names = Self {
            naming,
            taken,
            hashed,
        };
        published.for_each(|id| drop(names.give(id)));
        names
    }

    /// The name of a part: the readable one, unless another scope has it.
    pub(super) fn give(&mut self, id: &PartId) -> Name {
        let name = Name::readable(&self.naming, id);
        if name.needs_hash() {
            return name.with_hash(id);
        }
        if !name.is_of_scope() {
            return name;
        }
        if !self.hashed.contains(id) {
            let key = format!("{}{}", name.folder, name.stem.to_ascii_lowercase());
            let owner = self.taken.entry(key).or_insert_with(|| meaning(id));
            if *owner == meaning(id) {
                return name;
            }
            self.hashed.insert(id.clone());
        }
        name.with_hash(id)
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
    numbered_name("sitemap.xml", number)
}

/// The name of the file with this number, from 0, of those whose first has the name `first`.
///
/// ```
/// use sitemap_core::partition::numbered_name;
///
/// assert_eq!(numbered_name("pages.xml", 0), "pages.xml");
/// assert_eq!(numbered_name("pages.xml", 1), "pages-2.xml");
/// ```
pub fn numbered_name(first: &str, number: usize) -> String {
    let number = match number {
        0 => return first.to_owned(),
        _ => number + 1,
    };
    match first.rsplit_once('.') {
        Some((stem, ending)) => format!("{stem}-{number}.{ending}"),
        None => format!("{first}-{number}"),
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
/// may be in it.
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

/// Keeps the portable characters of POSIX file names (section 3.265); another byte, percent-decoded, becomes `_` and two hex
/// digits. `_e` is the empty segment.
fn encode_segment(segment: &str) -> String {
    if segment.is_empty() {
        return "_e".to_owned();
    }
    let mut encoded = String::with_capacity(segment.len());
    for byte in decode_bytes(segment) {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.') {
            encoded.push(char::from(byte));
        } else {
            encoded.push('_');
            push_hex(&mut encoded, byte);
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
