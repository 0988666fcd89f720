//! A bucket in memory: what is sent, in which order, and what is left after each fault.

use std::{
    fmt, fs,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures_util::stream::BoxStream;
use jiff::Timestamp;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    ObjectStoreExt as _, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
    memory::InMemory, path::Path as Key,
};
use sha2::{Digest as _, Sha256};

use super::{FenceFuture, SendFence, Storage, StorageError, bucket::Bucket};
use crate::{
    config::{MANIFEST_FILE, ObjectField, ObjectHeader, ObjectRule, PublishConfig},
    machine::hex,
};

const URL: &str = "s3://bucket/maps";

/// A storage that notes its changes, and fails when its budget is used up.
#[derive(Debug, Default)]
struct Recorder {
    memory: InMemory,
    changes: Mutex<Vec<String>>,
    /// Changes that are carried out before all others fail.
    budget: Mutex<Option<usize>>,
}

impl Recorder {
    fn note(&self, change: &str, key: &Key) -> Result<()> {
        let mut budget = self.budget.lock().unwrap();
        if *budget == Some(0) {
            return Err(object_store::Error::Generic {
                store: "test",
                source: "out of order".into(),
            });
        }
        *budget = budget.map(|budget| budget - 1);
        let name = key.as_ref().strip_prefix("maps/").unwrap().to_owned();
        self.changes
            .lock()
            .unwrap()
            .push(format!("{change} {name}"));
        Ok(())
    }
}

impl fmt::Display for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("recorder")
    }
}

#[async_trait::async_trait]
impl ObjectStore for Recorder {
    async fn put_opts(
        &self,
        key: &Key,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        self.note("put", key)?;
        self.memory.put_opts(key, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        key: &Key,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.memory.put_multipart_opts(key, options).await
    }

    async fn get_opts(&self, key: &Key, options: GetOptions) -> Result<GetResult> {
        self.memory.get_opts(key, options).await
    }

    fn delete_stream(
        &self,
        keys: BoxStream<'static, Result<Key>>,
    ) -> BoxStream<'static, Result<Key>> {
        self.changes.lock().unwrap().push("delete".to_owned());
        self.memory.delete_stream(keys)
    }

    fn list(&self, prefix: Option<&Key>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.memory.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Key>) -> Result<ListResult> {
        self.memory.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Key, to: &Key, options: CopyOptions) -> Result<()> {
        self.note("copy", to)?;
        self.memory.copy_opts(from, to, options).await
    }
}

/// A bucket and a folder whose set is sent to it.
struct Bench {
    recorder: Arc<Recorder>,
    folder: tempfile::TempDir,
    config: PublishConfig,
}

impl Bench {
    fn new() -> Self {
        Self {
            recorder: Arc::default(),
            folder: tempfile::tempdir().unwrap(),
            config: PublishConfig {
                grace: Duration::from_secs(3600),
                ..PublishConfig::default()
            },
        }
    }

    /// A bucket with the set [`SET`].
    fn sent() -> Self {
        let bench = Self::new();
        bench.publish(&SET);
        bench.send();
        bench.changes();
        bench
    }

    /// Another machine with the bucket of `first`.
    fn beside(first: &Self) -> Self {
        Self {
            recorder: Arc::clone(&first.recorder),
            ..Self::new()
        }
    }

    /// Lets all changes after so many fail; `None`: no change.
    fn fail_after(&self, changes: Option<usize>) {
        *self.recorder.budget.lock().unwrap() = changes;
    }

    fn fetch(&self) {
        self.storage().fetch(self.path(), None).unwrap();
    }

    fn storage(&self) -> Storage {
        let store = || Arc::clone(&self.recorder) as Arc<dyn ObjectStore>;
        let bucket = Bucket::with_stores(
            [store(), store()],
            &Key::from("maps"),
            URL,
            "https://site.example/",
            &self.config,
        );
        Storage {
            bucket: bucket.unwrap(),
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a set: the first file is the index.
    fn publish(&self, files: &[(&str, &str)]) {
        let mut records = Vec::new();
        for (name, content) in files {
            fs::write(self.path().join(name), content).unwrap();
            let hash = hex(Sha256::new_with_prefix(content));
            records.push(serde_json::json!({
                "name": name, "file_sha256": hash, "lastmod": "2026-01-02T03:04:05Z",
            }));
        }
        let manifest = serde_json::json!({ "files": records }).to_string();
        fs::write(self.path().join(MANIFEST_FILE), manifest).unwrap();
    }

    fn send_at(&self, time: &str) -> std::result::Result<(), StorageError> {
        self.storage()
            .send(self.path(), false, time.parse().unwrap(), None)
    }

    fn send(&self) {
        self.send_at("2026-01-02T04:00:00Z").unwrap();
    }

    /// The changes since the last call.
    fn changes(&self) -> Vec<String> {
        std::mem::take(&mut self.recorder.changes.lock().unwrap())
    }

    fn object(&self, name: &str) -> Option<String> {
        super::wait_for(Path::new(""), async {
            let key = Key::parse(format!("maps/{name}")).unwrap();
            let Ok(found) = self.recorder.memory.get(&key).await else {
                return Ok(None);
            };
            let bytes = found.bytes().await.unwrap();
            Ok(Some(String::from_utf8(bytes.to_vec()).unwrap()))
        })
        .unwrap()
    }

    fn put(&self, name: &str, content: &'static str) {
        super::wait_for(Path::new(""), async {
            let key = Key::parse(format!("maps/{name}")).unwrap();
            let memory = &self.recorder.memory;
            memory.put(&key, content.into()).await.unwrap();
            Ok(())
        })
        .unwrap();
    }
}

const SET: [(&str, &str); 3] = [
    ("sitemap.xml", "index"),
    ("sitemap.a.xml.gz", "a"),
    ("sitemap.b.xml.gz", "b"),
];

#[test]
fn only_changes_are_sent_and_manifest_last() {
    let mut bench = Bench::new();
    bench.publish(&SET);
    bench.send();
    assert_eq!(
        bench.changes(),
        [
            "put sitemap.b.xml.gz",
            "put sitemap.a.xml.gz",
            "put sitemap.xml",
            "put .arpent-manifest.json",
        ]
    );
    bench.send();
    assert_eq!(bench.changes(), [""; 0]);
    // Without the record the metadata decides.
    for (content, has_record) in [("b2", true), ("b3", false)] {
        if !has_record {
            fs::remove_file(bench.path().join(".arpent-sent.json")).unwrap();
        }
        bench.publish(&[SET[0], SET[1], ("sitemap.b.xml.gz", content)]);
        bench.send();
        let expected = ["put sitemap.b.xml.gz", "put .arpent-manifest.json"];
        assert_eq!(bench.changes(), expected, "{content}");
    }
    // An object that somebody removed is repaired.
    super::wait_for(Path::new(""), async {
        let key = Key::from("maps/sitemap.b.xml.gz");
        bench.recorder.memory.delete(&key).await.unwrap();
        Ok(())
    })
    .unwrap();
    bench.send();
    assert_eq!(bench.object("sitemap.b.xml.gz").unwrap(), "b3");
    // Another setting of headers changes objects that are there.
    bench.changes();
    bench.config.object_acl = Some("public-read".to_owned());
    bench.send();
    assert_eq!(bench.changes().len(), 4);
}

/// After each number of changes the storage fails: the index in the bucket names only objects that are there, and the next
/// attempt sends the rest.
#[test]
fn a_failing_storage_has_a_complete_set() {
    for budget in 0..4 {
        let bench = Bench::sent();
        bench.publish(&[
            ("sitemap.xml", "index2"),
            ("sitemap.a.xml.gz", "a2"),
            ("sitemap.c.xml.gz", "c"),
        ]);
        bench.fail_after(Some(budget));
        let error = bench.send_at("2026-01-02T05:00:00Z").unwrap_err();
        assert!(matches!(error, StorageError::Failed { .. }), "{error}");
        assert!(bench.object("sitemap.b.xml.gz").is_some());
        if bench.object("sitemap.xml").unwrap() == "index2" {
            assert_eq!(bench.object("sitemap.a.xml.gz").unwrap(), "a2");
            assert_eq!(bench.object("sitemap.c.xml.gz").unwrap(), "c");
        }
        bench.fail_after(None);
        bench.send_at("2026-01-02T05:00:01Z").unwrap();
        assert_eq!(bench.object("sitemap.xml").unwrap(), "index2");
        assert_eq!(bench.object("sitemap.c.xml.gz").unwrap(), "c");
    }
}

#[test]
fn a_dropped_object_leaves_after_its_grace() {
    let bench = Bench::sent();
    bench.publish(&SET[..2]);
    bench.send_at("2026-01-02T05:00:00Z").unwrap();
    bench.send_at("2026-01-02T05:59:59Z").unwrap();
    assert!(bench.object("sitemap.b.xml.gz").is_some());
    bench.send_at("2026-01-02T06:00:00Z").unwrap();
    assert_eq!(bench.object("sitemap.b.xml.gz"), None);
}

#[test]
fn foreign_objects_are_overwritten_with_force_only() {
    let bench = Bench::new();
    bench.put("sitemap.xml", "theirs");
    bench.publish(&SET);
    let error = bench.send_at("2026-01-02T05:00:00Z").unwrap_err();
    let expected = "s3://bucket/maps/sitemap.xml is not an object";
    assert!(error.to_string().starts_with(expected), "{error}");
    assert_eq!(bench.object("sitemap.xml").unwrap(), "theirs");
    let now: Timestamp = "2026-01-02T05:00:00Z".parse().unwrap();
    bench.storage().send(bench.path(), true, now, None).unwrap();
    assert_eq!(bench.object("sitemap.xml").unwrap(), "index");
    let copy = "sitemap.xml.bak-20260102T050000Z";
    assert_eq!(bench.object(copy).unwrap(), "theirs");
    // A set of another site is not fetched.
    let bench = Bench::new();
    bench.put(MANIFEST_FILE, "{\"files\": []}");
    let error = bench.storage().fetch(bench.path(), None).unwrap_err();
    assert!(matches!(error, StorageError::Foreign { .. }), "{error}");
}

#[test]
fn foreign_sets_are_fetched_before_they_are_overwritten() {
    let first = Bench::sent();
    let second = Bench::beside(&first);
    second.fetch();
    let copied = fs::read_to_string(second.path().join("sitemap.a.xml.gz")).unwrap();
    assert_eq!(copied, "a");
    second.publish(&SET);
    second.send();
    assert_eq!(second.changes(), [""; 0]);
    second.publish(&[("sitemap.xml", "index2"), SET[1], SET[2]]);
    second.send();
    // The first machine does not know that set.
    first.publish(&[("sitemap.xml", "index3"), SET[1], SET[2]]);
    let error = first.send_at("2026-01-02T05:00:00Z").unwrap_err();
    assert!(matches!(error, StorageError::Changed { .. }), "{error}");
    assert_eq!(first.object("sitemap.xml").unwrap(), "index2");
    first.fetch();
    let fetched = fs::read_to_string(first.path().join("sitemap.xml")).unwrap();
    assert_eq!(fetched, "index2");
}

/// A sender that was killed between a part and the manifest, and whose machine is lost, blocks nobody.
#[test]
fn parts_of_an_unfinished_set_are_not_fetched() {
    let first = Bench::sent();
    first.publish(&[
        ("sitemap.xml", "index2"),
        ("sitemap.a.xml.gz", "a2"),
        SET[2],
    ]);
    first.fail_after(Some(1));
    first.send_at("2026-01-02T05:00:00Z").unwrap_err();
    first.fail_after(None);
    let second = Bench::beside(&first);
    second.fetch();
    assert!(!second.path().join("sitemap.a.xml.gz").exists());
    assert!(second.path().join("sitemap.b.xml.gz").exists());
    second.publish(&[
        ("sitemap.xml", "index3"),
        ("sitemap.a.xml.gz", "a3"),
        SET[2],
    ]);
    second.send_at("2026-01-02T06:00:00Z").unwrap();
    assert_eq!(second.object("sitemap.a.xml.gz").unwrap(), "a3");
}

#[test]
fn sets_and_key_files_are_sent_only() {
    let bench = Bench::new();
    for folder in ["~anna", "donn\u{e9}es", "100%"] {
        fs::create_dir(bench.path().join(folder)).unwrap();
    }
    bench.publish(&[
        ("sitemap.xml", "index"),
        ("~anna/sitemap.xml.gz", "a"),
        ("donn\u{e9}es/sitemap.xml.gz", "b"),
        ("100%/sitemap.xml.gz", "c"),
    ]);
    fs::write(bench.path().join("abc123.txt"), "abc123").unwrap();
    fs::write(bench.path().join("notes.txt"), "something else").unwrap();
    bench.send();
    assert_eq!(bench.object("abc123.txt").unwrap(), "abc123");
    assert_eq!(bench.object("notes.txt"), None);
    // The objects have the names of the directories of the site.
    bench.changes();
    bench.send();
    assert_eq!(bench.changes(), [""; 0]);
}

#[test]
fn headers_follow_the_ending_and_the_settings() {
    let mut bench = Bench::new();
    bench.config.object_headers.push(ObjectRule {
        objects: "*.gz".to_owned(),
        header: ObjectHeader {
            field: ObjectField::CacheControl,
            value: "max-age=60".to_owned(),
        },
    });
    bench.publish(&SET);
    bench.send();
    super::wait_for(Path::new(""), async {
        for (name, media_type, cache) in [
            ("sitemap.xml", "application/xml", "max-age=300"),
            ("sitemap.a.xml.gz", "application/gzip", "max-age=60"),
        ] {
            let key = Key::parse(format!("maps/{name}")).unwrap();
            let found = bench.recorder.memory.get(&key).await.unwrap();
            let value = |name| found.attributes.get(&name).unwrap().as_ref().to_owned();
            assert_eq!(value(object_store::Attribute::ContentType), media_type);
            assert_eq!(value(object_store::Attribute::CacheControl), cache);
        }
        Ok(())
    })
    .unwrap();
}

/// The fence of a machine that has its right for so many changes.
#[derive(Debug)]
struct TestFence {
    changes: Mutex<usize>,
    /// Repaired when a request fails.
    recorder: Arc<Recorder>,
}

impl TestFence {
    fn new(bench: &Bench, changes: usize) -> Self {
        Self {
            changes: Mutex::new(changes),
            recorder: Arc::clone(&bench.recorder),
        }
    }
}

impl SendFence for TestFence {
    fn confirm(&self) -> FenceFuture<'_, std::result::Result<(), String>> {
        Box::pin(async {
            let mut changes = self.changes.lock().unwrap();
            *changes = changes.checked_sub(1).ok_or("the lease has ended")?;
            Ok(())
        })
    }

    fn tries_again<'a>(&'a self, _: &'a StorageError) -> FenceFuture<'a, bool> {
        Box::pin(async {
            *self.recorder.budget.lock().unwrap() = None;
            true
        })
    }
}

impl Bench {
    fn send_through(&self, fence: &TestFence, time: &str) -> std::result::Result<(), StorageError> {
        let now = time.parse().unwrap();
        self.storage().send(self.path(), false, now, Some(fence))
    }
}

#[test]
fn a_lost_lease_ends_changes_of_a_set() {
    let first = Bench::sent();
    let second = Bench::beside(&first);
    second.fetch();
    first.publish(&[("sitemap.xml", "index2"), ("sitemap.c.xml.gz", "c"), SET[2]]);
    let fence = TestFence::new(&first, 1);
    let error = first.send_through(&fence, "2026-01-02T05:00:00Z");
    let expected = "s3://bucket/maps/sitemap.xml was not changed: the lease has ended";
    assert_eq!(error.unwrap_err().to_string(), expected);
    assert_eq!(first.object("sitemap.xml").unwrap(), "index");
    assert_eq!(first.object("sitemap.c.xml.gz").unwrap(), "c");
    let fence = TestFence::new(&second, 9);
    second.send_through(&fence, "2026-01-02T06:00:00Z").unwrap();
    assert_eq!(second.object("sitemap.c.xml.gz").unwrap(), "c");
    second.send_through(&fence, "2026-01-02T07:00:00Z").unwrap();
    assert_eq!(second.object("sitemap.c.xml.gz"), None);
}

#[test]
fn a_lease_holder_replaces_late_changes_of_others() {
    let bench = Bench::sent();
    // The last request of another machine arrives late.
    let other = Bench::beside(&bench);
    other.fetch();
    other.publish(&[("sitemap.xml", "late"), SET[1], SET[2]]);
    other.send();
    bench.publish(&[
        ("sitemap.xml", "index2"),
        ("sitemap.a.xml.gz", "a2"),
        SET[2],
    ]);
    bench.fail_after(Some(1));
    let fence = TestFence::new(&bench, 9);
    bench.send_through(&fence, "2026-01-02T05:00:00Z").unwrap();
    assert_eq!(bench.object("sitemap.xml").unwrap(), "index2");
    assert_eq!(bench.object("sitemap.a.xml.gz").unwrap(), "a2");
}
