//! The place and form of a set.

use std::{collections::BTreeSet, path::PathBuf, time::Duration};

use sitemap_core::partition::SectionName;

use super::{EntryConfig, EntryRule, Extensions, GuardConfig};

/// Name of the manifest of a set in its output.
pub const MANIFEST_FILE: &str = ".arpent-manifest.json";

/// The places of the files of the set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// Every file in the root of the output.
    #[default]
    Root,
    /// Each file inside the directory it lists.
    InPlace,
}

/// When there is an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IndexMode {
    /// Always.
    #[default]
    Always,
    /// Not when the whole site is within one file's aim: then `sitemap.xml` is the only urlset.
    Auto,
}

/// A format that a published set can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// XML sitemaps.
    Xml,
    /// Lists of URLs alone.
    Text,
    /// A feed of recent changes, RSS 2.0.
    Rss,
    /// A feed of recent changes, Atom 1.0.
    Atom,
    /// Pages with titles for visitors.
    Html,
    /// Pages with titles for language models.
    Llms,
}

/// The place and form of the result.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct PublishConfig {
    /// The folder the set is written to.
    pub output: PathBuf,
    /// URL of the object storage that the set is sent to from this folder: `s3://`, `gs://` or `az://` with a bucket and a prefix.
    /// `None`: readers get the folder. Filled in per site; needs the feature `cloud`.
    pub storage: Option<String>,
    /// ACL of the objects, such as `public-read`. `None`: that of the bucket.
    pub object_acl: Option<String>,
    /// Headers of the objects by the globs of their names; of several rules for a header the last one that matches decides. Default:
    /// a media type by the ending, and `Cache-Control: max-age=300`.
    pub object_headers: Vec<ObjectRule>,
    /// URL of the directory where the output will be served, ending in `/`. `None`: the scope's directory.
    pub public_url: Option<String>,
    /// Default root.
    pub layout: Layout,
    /// Default always.
    pub index: IndexMode,
    /// Name of the index, or of the only sitemap; further indexes have a number. Default `sitemap.xml`.
    pub index_name: String,
    /// Parts are gzipped. Default yes.
    pub gzip: bool,
    /// Pages that get files of their own under a name, whatever directories they lie in: the first that matches decides. A section
    /// is one file, `sitemap-shop.xml.gz`, until it outgrows its aim. In place it is in the directory that its globs
    /// share. At most [`MAX_SECTIONS`](super::MAX_SECTIONS) names. Default none.
    pub sections: Vec<EntryRule<SectionName>>,
    /// Entries from which a first-level directory gets its own file. Default 100.
    pub min_section: u64,
    /// Entries from which a deeper directory gets its own file. Default 1,000.
    pub min_subsection: u64,
    /// Entries that a file aims at. Default 10,000, at most 50,000.
    pub file_entries: u64,
    /// Uncompressed bytes that a file aims at. Default 10 MB, at most 52,428,800.
    pub file_bytes: u64,
    /// Files one index names at most. Default 50,000, the protocol's limit.
    pub index_entries: u64,
    /// The formats. Feeds list recent changes only, so XML or text must be among them. Default XML.
    pub formats: BTreeSet<Format>,
    /// Pages in a feed at most, from 1 to 50,000. Default 500.
    pub feed_entries: u64,
    /// Files name the addresses of their schemas (`xsi:schemaLocation`): search engines ignore it, some validators
    /// ask for it. Default no.
    pub schema_location: bool,
    /// `true` if the times of files count for `lastmod`. Default: they do.
    pub lastmod: FileDates,
    /// The content of entries besides URL and date. Default nothing.
    pub entries: EntryConfig,
    /// How long a dropped part stays on disk after it left the index. Default 24 h.
    pub grace: Duration,
    /// The data that is taken from the pages for their entries. Default nothing.
    pub extensions: Extensions,
    /// The folder for copies of the sets that were published last; `None`: none are kept. Filled in per site.
    pub generations: Option<PathBuf>,
    /// When the published set is kept.
    pub guard: GuardConfig,
    /// Publish in spite of the guard, and replace foreign files after a backup. Default no.
    pub force: bool,
    /// Rights of the published files, from 0o400 to 0o777; folders that are made for them can also be gone
    /// through by whom may read them. `None`: by the umask of the process.
    pub file_mode: Option<u32>,
    /// Group of the published files, and of folders that are made for them. `None`: that of the process.
    pub file_group: Option<FileGroup>,
    /// The published set is recorded in the store, so that the next publish knows what changes and which dates stay. Default
    /// yes; a store that is thrown away afterwards needs none of it. No setting of a user.
    pub remembers: bool,
}

/// A header for the objects whose names match a glob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectRule {
    /// Glob on names, such as `*.xml.gz`.
    pub objects: String,
    /// The header.
    pub header: ObjectHeader,
}

/// A header of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectHeader {
    /// The header.
    pub field: ObjectField,
    /// The value.
    pub value: String,
}

/// The headers that an object can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectField {
    /// `Cache-Control`.
    CacheControl,
    /// `Content-Disposition`.
    ContentDisposition,
    /// `Content-Encoding`.
    ContentEncoding,
    /// `Content-Language`.
    ContentLanguage,
    /// `Content-Type`.
    ContentType,
}

/// The meaning of the times of files for pages: `Last-Modified` of a crawled page, the time of a file in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FileDates {
    /// When a page changed, as far as it is plausible.
    #[default]
    Mtime,
    /// Nothing.
    None,
}

/// A group of users of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileGroup {
    /// By its name in `/etc/group`.
    Name(String),
    /// By its number.
    Number(u32),
}

impl Default for PublishConfig {
    fn default() -> Self {
        Self {
            output: PathBuf::new(),
            storage: None,
            object_acl: None,
            object_headers: Vec::new(),
            public_url: None,
            layout: Layout::default(),
            index: IndexMode::default(),
            index_name: "sitemap.xml".to_owned(),
            gzip: true,
            sections: Vec::new(),
            min_section: 100,
            min_subsection: 1_000,
            file_entries: 10_000,
            file_bytes: 10_000_000,
            index_entries: 50_000,
            formats: BTreeSet::from([Format::Xml]),
            feed_entries: 500,
            schema_location: false,
            lastmod: FileDates::default(),
            entries: EntryConfig::default(),
            grace: Duration::from_secs(24 * 60 * 60),
            extensions: Extensions::default(),
            generations: None,
            guard: GuardConfig::default(),
            force: false,
            file_mode: None,
            file_group: None,
            remembers: true,
        }
    }
}
