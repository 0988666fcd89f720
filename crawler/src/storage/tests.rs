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

    fn storage(&self) -> Storage {
        let store = || Arc::clone(&self.recorder) as Arc<dyn ObjectStore>;
        let place = (URL, "https://site.example/");
        let bucket =
            Bucket::with_stores([store(), store()], &Key::from("maps"), place, &self.config);
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
            self.recorder
                .memory
                .put(&key, content.into())
                .await
                .unwrap();
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
fn parts_are_sent_before_the_index_and_the_manifest_last() {
    let bench = Bench::new();
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
}

#[test]
fn an_unchanged_object_is_not_sent() {
    let bench = Bench::new();
    bench.publish(&SET);
    bench.send();
    bench.changes();
    bench.send();
    assert_eq!(bench.changes(), [""; 0]);
    bench.publish(&[SET[0], SET[1], ("sitemap.b.xml.gz", "b2")]);
    bench.send();
    assert_eq!(
        bench.changes(),
        ["put sitemap.b.xml.gz", "put .arpent-manifest.json"]
    );
}

#[test]
fn without_the_record_the_metadata_decides() {
    let bench = Bench::new();
    bench.publish(&SET);
    bench.send();
    bench.changes();
    fs::remove_file(bench.path().join(".arpent-sent.json")).unwrap();
    bench.publish(&[SET[0], SET[1], ("sitemap.b.xml.gz", "b2")]);
    bench.send();
    assert_eq!(
        bench.changes(),
        ["put sitemap.b.xml.gz", "put .arpent-manifest.json"]
    );
}

/// After each number of changes the storage fails: the index in the bucket names only objects that are there, and the next
/// attempt sends the rest.
#[test]
fn a_storage_that_fails_at_any_step_leaves_a_complete_set() {
    for budget in 0..4 {
        let bench = Bench::new();
        bench.publish(&SET);
        bench.send();
        bench.publish(&[
            ("sitemap.xml", "index2"),
            ("sitemap.a.xml.gz", "a2"),
            ("sitemap.c.xml.gz", "c"),
        ]);
        *bench.recorder.budget.lock().unwrap() = Some(budget);
        let error = bench.send_at("2026-01-02T05:00:00Z").unwrap_err();
        assert!(matches!(error, StorageError::Failed { .. }), "{error}");
        assert!(bench.object("sitemap.b.xml.gz").is_some());
        if bench.object("sitemap.xml").unwrap() == "index2" {
            assert_eq!(bench.object("sitemap.a.xml.gz").unwrap(), "a2");
            assert_eq!(bench.object("sitemap.c.xml.gz").unwrap(), "c");
        }
        *bench.recorder.budget.lock().unwrap() = None;
        bench.send_at("2026-01-02T05:00:01Z").unwrap();
        assert_eq!(bench.object("sitemap.xml").unwrap(), "index2");
        assert_eq!(bench.object("sitemap.c.xml.gz").unwrap(), "c");
    }
}

#[test]
fn a_dropped_object_leaves_after_its_grace() {
    let bench = Bench::new();
    bench.publish(&SET);
    bench.send();
    bench.publish(&SET[..2]);
    bench.send_at("2026-01-02T05:00:00Z").unwrap();
    bench.send_at("2026-01-02T05:59:59Z").unwrap();
    assert!(bench.object("sitemap.b.xml.gz").is_some());
    bench.send_at("2026-01-02T06:00:00Z").unwrap();
    assert_eq!(bench.object("sitemap.b.xml.gz"), None);
}

#[test]
fn an_object_of_others_is_not_overwritten_without_force() {
    let bench = Bench::new();
    bench.put("sitemap.xml", "theirs");
    bench.publish(&SET);
    let error = bench.send_at("2026-01-02T05:00:00Z").unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("s3://bucket/maps/sitemap.xml is not an object"),
        "{error}"
    );
    assert_eq!(bench.object("sitemap.xml").unwrap(), "theirs");
    let now: Timestamp = "2026-01-02T05:00:00Z".parse().unwrap();
    bench.storage().send(bench.path(), true, now, None).unwrap();
    assert_eq!(bench.object("sitemap.xml").unwrap(), "index");
    let copy = "sitemap.xml.bak-20260102T050000Z";
    assert_eq!(bench.object(copy).unwrap(), "theirs");
}

#[test]
fn a_set_of_another_machine_is_fetched_and_not_overwritten_unseen() {
    let [first, second] = [Bench::new(), Bench::new()];
    let second = Bench {
        recorder: Arc::clone(&first.recorder),
        ..second
    };
    first.publish(&SET);
    first.send();
    second.storage().fetch(second.path(), None).unwrap();
    let copied = fs::read_to_string(second.path().join("sitemap.a.xml.gz")).unwrap();
    assert_eq!(copied, "a");
    first.changes();
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
    first.storage().fetch(first.path(), None).unwrap();
    let fetched = fs::read_to_string(first.path().join("sitemap.xml")).unwrap();
    assert_eq!(fetched, "index2");
}

/// A sender that was killed between a part and the manifest, and whose machine is lost, blocks nobody.
#[test]
fn a_set_that_was_sent_in_part_is_fetched_without_the_parts_that_differ() {
    let first = Bench::new();
    first.publish(&SET);
    first.send();
    first.publish(&[
        ("sitemap.xml", "index2"),
        ("sitemap.a.xml.gz", "a2"),
        SET[2],
    ]);
    *first.recorder.budget.lock().unwrap() = Some(1);
    first.send_at("2026-01-02T05:00:00Z").unwrap_err();
    *first.recorder.budget.lock().unwrap() = None;
    let second = Bench {
        recorder: Arc::clone(&first.recorder),
        ..Bench::new()
    };
    second.storage().fetch(second.path(), None).unwrap();
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
fn names_of_directories_are_those_of_the_site() {
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
    bench.send();
    bench.changes();
    bench.send();
    assert_eq!(bench.changes(), [""; 0]);
}

#[test]
fn a_setting_of_headers_changes_objects_that_are_there() {
    let mut bench = Bench::new();
    bench.publish(&SET);
    bench.send();
    bench.changes();
    bench.config.object_acl = Some("public-read".to_owned());
    bench.send();
    assert_eq!(bench.changes().len(), 4);
}

#[test]
fn a_set_of_another_site_is_not_fetched() {
    let bench = Bench::new();
    bench.put(MANIFEST_FILE, "{\"files\": []}");
    let error = bench.storage().fetch(bench.path(), None).unwrap_err();
    assert!(matches!(error, StorageError::Foreign { .. }), "{error}");
}

#[test]
fn an_object_that_somebody_changed_is_repaired() {
    let bench = Bench::new();
    bench.publish(&SET);
    bench.send();
    super::wait_for(Path::new(""), async {
        bench
            .recorder
            .memory
            .delete(&Key::from("maps/sitemap.b.xml.gz"))
            .await
            .unwrap();
        Ok(())
    })
    .unwrap();
    bench.send();
    assert_eq!(bench.object("sitemap.b.xml.gz").unwrap(), "b");
}

#[test]
fn key_files_are_sent_and_other_files_are_not() {
    let bench = Bench::new();
    bench.publish(&SET);
    fs::write(bench.path().join("abc123.txt"), "abc123").unwrap();
    fs::write(bench.path().join("notes.txt"), "something else").unwrap();
    bench.send();
    assert_eq!(bench.object("abc123.txt").unwrap(), "abc123");
    assert_eq!(bench.object("notes.txt"), None);
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
            let value = |attribute| {
                found
                    .attributes
                    .get(&attribute)
                    .unwrap()
                    .as_ref()
                    .to_owned()
            };
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
fn a_machine_without_its_right_changes_nothing_and_what_it_left_goes_after_the_grace() {
    let first = Bench::new();
    first.publish(&SET);
    first.send();
    let second = Bench {
        recorder: Arc::clone(&first.recorder),
        ..Bench::new()
    };
    second.storage().fetch(second.path(), None).unwrap();
    first.publish(&[("sitemap.xml", "index2"), ("sitemap.c.xml.gz", "c"), SET[2]]);
    let fence = TestFence::new(&first, 1);
    let error = first
        .send_through(&fence, "2026-01-02T05:00:00Z")
        .unwrap_err();
    let expected = "s3://bucket/maps/sitemap.xml was not changed: the lease has ended";
    assert_eq!(error.to_string(), expected);
    assert_eq!(first.object("sitemap.xml").unwrap(), "index");
    assert_eq!(first.object("sitemap.c.xml.gz").unwrap(), "c");
    let fence = TestFence::new(&second, 9);
    second.send_through(&fence, "2026-01-02T06:00:00Z").unwrap();
    assert_eq!(second.object("sitemap.c.xml.gz").unwrap(), "c");
    second.send_through(&fence, "2026-01-02T07:00:00Z").unwrap();
    assert_eq!(second.object("sitemap.c.xml.gz"), None);
}

#[test]
fn a_machine_with_its_right_goes_on_after_failures_and_replaces_what_others_sent() {
    let [bench, other] = [Bench::new(), Bench::new()];
    bench.publish(&SET);
    bench.send();
    // The last request of another machine arrives late.
    let other = Bench {
        recorder: Arc::clone(&bench.recorder),
        ..other
    };
    other.storage().fetch(other.path(), None).unwrap();
    other.publish(&[("sitemap.xml", "late"), SET[1], SET[2]]);
    other.send();
    bench.publish(&[
        ("sitemap.xml", "index2"),
        ("sitemap.a.xml.gz", "a2"),
        SET[2],
    ]);
    *bench.recorder.budget.lock().unwrap() = Some(1);
    let fence = TestFence::new(&bench, 9);
    bench.send_through(&fence, "2026-01-02T05:00:00Z").unwrap();
    assert_eq!(bench.object("sitemap.xml").unwrap(), "index2");
    assert_eq!(bench.object("sitemap.a.xml.gz").unwrap(), "a2");
}
