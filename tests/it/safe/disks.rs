//! Disks that are full, read-only or missing: the old set stays, no temporary files are left, and the cause is
//! reported.

use std::{
    fs::{self, File},
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use crate::support::{
    program::{Bench, Ran, Running},
    published::Published,
    site::{Response, Site},
    skip,
};

/// A small disk, unmounted when it is dropped.
struct Disk(PathBuf);

impl Disk {
    /// Mounts a disk at `path`; `None` after a note that the test is skipped where that is not allowed.
    fn mount(path: &Path, size: &str) -> Option<Self> {
        fs::create_dir_all(path).expect("a folder");
        let options = format!("size={size},mode=0755");
        let is_mounted = run("mount", &["-t", "tmpfs", "-o", &options, "tmpfs"], path);
        if !is_mounted {
            skip("disks may not be mounted here");
        }
        is_mounted.then(|| Self(path.to_owned()))
    }

    /// Writes until at most `room` bytes are free.
    fn fill(&self, room: usize) {
        let path = self.0.join("filler");
        let mut file = File::create(&path).expect("a file");
        let block = [0; 1_024];
        let mut written = 0;
        while file.write_all(&block).is_ok() {
            written += block.len() as u64;
        }
        let room = u64::try_from(room).expect("a small number");
        file.set_len(written.saturating_sub(room))
            .expect("it shrinks");
    }

    fn empty(&self) {
        fs::remove_file(self.0.join("filler")).expect("the filler");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        run("umount", &["-l"], &self.0);
    }
}

fn run(program: &str, options: &[&str], path: &Path) -> bool {
    let mut command = Command::new(program);
    let command = command.args(options).arg(path).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// A site that has this many pages.
fn serve() -> (Site, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(20));
    let pages = Arc::clone(&count);
    let site = Site::start(move |request| match request.target.as_str() {
        "/" => {
            let pages = 0..pages.load(Ordering::SeqCst);
            Response::linking(pages.map(|page| format!("/a-longer-name-of-a-page/{page}")))
        }
        target if target.starts_with("/a-longer") => {
            Response::html(format!("<!doctype html><title>{target}</title>"))
        }
        _ => Response::status(404),
    });
    (site, count)
}

fn crawl(bench: &Bench, site: &Site, options: &[&str]) -> Ran {
    bench.crawl(&site.url("/"), options)
}

#[track_caller]
fn assert_reported(ran: &Ran, words: &[&str]) {
    for words in words {
        assert!(ran.stderr.contains(words), "{words:?} in {}", ran.stderr);
    }
}

/// Names in a folder, hidden ones included.
fn names(folder: &Path) -> Vec<String> {
    let listing = fs::read_dir(folder).expect("a folder").flatten();
    let mut names: Vec<_> = listing
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_full_disk_leaves_the_old_set() {
    let (site, count) = serve();
    let bench = Bench::with_options(["--rate", "unlimited", "--concurrency", "32", "--no-gzip"]);
    let Some(disk) = Disk::mount(&bench.output(), "1m") else {
        return;
    };
    let output = bench.output();
    let ran = crawl(&bench, &site, &[]).expect_code(0);
    assert!(!ran.stderr.contains("bytes are free"), "{}", ran.stderr);
    let before = Published::read(&output);
    let files = names(&output);
    // An unchanged set needs no space.
    disk.fill(0);
    let ran = crawl(&bench, &site, &[]).expect_code(0);
    assert_reported(&ran, &["bytes are free for ", "a new set may be too large"]);
    disk.empty();

    // The new part has 100 kB and more.
    count.store(1_000, Ordering::SeqCst);
    for room in [60_000, 20_000, 0] {
        disk.fill(room);
        let ran = crawl(&bench, &site, &[]).expect_code(4);
        assert_eq!(ran.summary()["outcome"], "refused");
        let folder = output.to_string_lossy();
        assert_reported(&ran, &["No space left on device", &folder, "bytes"]);
        let now = Published::read(&output);
        assert_eq!(now.differences(&before), [""; 0], "{room} bytes of room");
        disk.empty();
        assert_eq!(names(&output), files, "{room} bytes of room");
    }
    let ran = crawl(&bench, &site, &[]).expect_code(0);
    assert_eq!(ran.summary()["listed"], 1_001);
}

#[test]
fn a_read_only_disk_stops_the_crawl() {
    let (site, _) = serve();
    let bench = Bench::new();
    let Some(disk) = Disk::mount(&bench.output(), "1m") else {
        return;
    };
    let output = bench.output();
    crawl(&bench, &site, &[]).expect_code(0);
    let before = Published::read(&output);
    assert!(run("mount", &["-o", "remount,ro"], &disk.0));
    site.clear_log();
    let ran = crawl(&bench, &site, &[]).expect_code(4);
    assert_reported(&ran, &["Read-only file system", &output.to_string_lossy()]);
    let pages = site
        .log()
        .into_iter()
        .filter(|seen| seen.target.starts_with("/a-longer"));
    assert_eq!(pages.count(), 0, "nothing is crawled for nothing");
    assert_eq!(Published::read(&output).differences(&before), [""; 0]);
    assert!(run("mount", &["-o", "remount,rw"], &disk.0));
    crawl(&bench, &site, &[]).expect_code(0);
    assert_eq!(Published::read(&output).differences(&before), [""; 0]);
}

#[test]
fn a_read_only_state_disk_is_tried_again() {
    let (site, _) = serve();
    let bench = Bench::new();
    let Some(disk) = Disk::mount(&bench.state(), "4m") else {
        return;
    };
    let daemon = || {
        let config = bench.settings(&format!(
            "output.output = \"out\"\noutput.state = \"state\"\n[[site]]\nurl = \"{}\"\nschedule = \"0 0 1 1 *\"\n",
            site.url("/")
        ));
        let mut command = bench.program();
        command.args(["daemon", "--config", &config]);
        command
    };
    assert!(run("mount", &["-o", "remount,ro"], &disk.0));
    // The exit code is not that of wrong settings, so that a service manager tries again.
    let words = ["Read-only file system", "state"];
    let ran = crawl(&bench, &site, &[]).expect_code(4);
    assert_reported(&ran, &words);
    let ran = Ran::of(daemon()).expect_code(4);
    assert_reported(&ran, &words);
    assert!(run("mount", &["-o", "remount,rw"], &disk.0));
    let mut running = Running::of(daemon());
    running.wait_until_it_prints("has the schedule");
    running.signal("TERM");
    running.wait().expect_code(143);
    // A disk that becomes read-only while its state is there.
    crawl(&bench, &site, &[]).expect_code(0);
    assert!(run("mount", &["-o", "remount,ro"], &disk.0));
    let ran = crawl(&bench, &site, &[]).expect_code(4);
    assert_reported(&ran, &words);
}

#[test]
fn folder_under_a_missing_disk_is_not_written() {
    let (site, _) = serve();
    let bench = Bench::new();
    let Some(disk) = Disk::mount(&bench.path().join("disk"), "1m") else {
        return;
    };
    // The same disk at a second place, where it can be unmounted without being lost.
    let place = bench.output();
    fs::create_dir(&place).expect("a folder");
    let source = disk.0.to_string_lossy().into_owned();
    assert!(run("mount", &["--bind", &source], &place));
    let mounted = Disk(place.clone());
    crawl(&bench, &site, &[]).expect_code(0);
    let before = Published::read(&disk.0);
    drop(mounted);
    let ran = crawl(&bench, &site, &[]).expect_code(4);
    assert_reported(
        &ran,
        &[
            "nothing is mounted at ",
            &place.to_string_lossy(),
            "--force",
        ],
    );
    assert_eq!(names(&place), [""; 0], "nothing was written beneath");
    let after = Published::read(&disk.0);
    assert_eq!(after.differences(&before), [""; 0]);
    // When it is gone for good, this is reported once.
    crawl(&bench, &site, &["--force"]).expect_code(0);
    crawl(&bench, &site, &[]).expect_code(0);
    assert!(place.join("sitemap.xml").exists());
}

#[test]
fn a_full_state_disk_loses_nothing_stored() {
    let (site, count) = serve();
    let bench = Bench::new();
    let Some(disk) = Disk::mount(&bench.path().join("state"), "8m") else {
        return;
    };
    crawl(&bench, &site, &[]).expect_code(0);
    let before = bench.published();
    count.store(1_000, Ordering::SeqCst);
    disk.fill(200_000);
    let ran = crawl(&bench, &site, &[]).expect_code(4);
    assert_reported(
        &ran,
        &[
            "cannot write to the state ",
            "full",
            "bytes are free on its disk",
        ],
    );
    assert_eq!(bench.published().differences(&before), [""; 0]);
    disk.empty();
    let ran = crawl(&bench, &site, &[]).expect_code(0);
    assert_eq!(ran.summary()["listed"], 1_001);
    let aside = names(&bench.state())
        .into_iter()
        .find(|name| name.contains("corrupt"));
    assert_eq!(aside, None, "full is not damaged");
}
