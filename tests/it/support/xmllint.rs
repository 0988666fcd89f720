//! Validation by `xmllint` and the official schemas. Skipped where the program, or the folder with the
//! schemas, is missing.

use std::{
    collections::BTreeSet,
    fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io::{ErrorKind, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{LazyLock, Mutex, PoisonError},
};

use tempfile::TempDir;

use super::{shared, skip};

/// The custom namespace that entries of tests may have; its schema is beside the tests.
pub const SHOP: &str = "https://example.com/schemas/shop";

/// Where the schema of [`SHOP`] is.
const SHOP_SCHEMA: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../tests/data/schemas/shop.xsd"
);

/// The schemas of everything that a urlset may have, by namespace; the files are in the folder of
/// the official ones.
const URLSET_SCHEMAS: [(&str, &str); 5] = [
    ("http://www.sitemaps.org/schemas/sitemap/0.9", "sitemap.xsd"),
    (
        "http://www.google.com/schemas/sitemap-image/1.1",
        "sitemap-image.xsd",
    ),
    (
        "http://www.google.com/schemas/sitemap-video/1.1",
        "sitemap-video.xsd",
    ),
    (
        "http://www.google.com/schemas/sitemap-news/0.9",
        "sitemap-news.xsd",
    ),
    ("http://www.w3.org/1999/xhtml", "xhtml1-strict.xsd"),
];

/// The schemas for published files.
struct Schemas {
    _folder: TempDir,
    urlset: PathBuf,
    index: PathBuf,
}

static SCHEMAS: LazyLock<Option<Schemas>> = LazyLock::new(|| {
    let official = shared()?.join("schemas");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let urlset = folder.path().join("urlset.xsd");
    let mut imports = String::new();
    for (namespace, file) in URLSET_SCHEMAS {
        imports += &import(namespace, &official.join(file));
    }
    imports += &import(SHOP, Path::new(SHOP_SCHEMA));
    let driver = format!(
        "<xs:schema xmlns:xs=\"http://www.w3.org/2001/XMLSchema\" elementFormDefault=\"qualified\">\n{imports}</xs:schema>\n"
    );
    fs::write(&urlset, driver).expect("the driver can be written");
    Some(Schemas {
        urlset,
        index: official.join("all-siteindex.xsd"),
        _folder: folder,
    })
});

fn import(namespace: &str, file: &Path) -> String {
    let file = file.display();
    format!("<xs:import namespace=\"{namespace}\" schemaLocation=\"{file}\"/>\n")
}

/// Documents that were found valid: many tests read the same file again and again.
static VALID: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

/// Asks `xmllint` whether a document is valid; `None` when it is not installed.
pub fn validate(schema: &Path, document: &[u8]) -> Option<Result<(), String>> {
    let mut command = Command::new("xmllint");
    command
        .args(["--nonet", "--noout", "--schema"])
        .arg(schema)
        .arg("-");
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            skip("xmllint is not installed");
            return None;
        }
        Err(error) => panic!("start xmllint: {error}"),
    };
    // It prints only "- validates" before it has read everything, so writing first cannot block.
    let mut input = child.stdin.take().expect("it is piped");
    // It may stop before the end of a document that is not XML; its exit status shows that.
    drop(input.write_all(document));
    drop(input);
    let output = child.wait_with_output().expect("xmllint ends");
    let verdict = if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    };
    Some(verdict)
}

/// Fails when a published urlset or index is not valid; `name` is its name in the message.
#[track_caller]
pub fn assert_valid(name: &str, document: &str, is_index: bool) {
    let Some(schemas) = &*SCHEMAS else { return };
    let mut hasher = DefaultHasher::new();
    document.hash(&mut hasher);
    let fingerprint = hasher.finish();
    let known = || VALID.lock().unwrap_or_else(PoisonError::into_inner);
    if known().contains(&fingerprint) {
        return;
    }
    let schema = if is_index {
        &schemas.index
    } else {
        &schemas.urlset
    };
    match validate(schema, document.as_bytes()) {
        None => {}
        Some(Ok(())) => {
            known().insert(fingerprint);
        }
        Some(Err(problem)) => panic!("{name} is not valid: {problem}\n{document}"),
    }
}
