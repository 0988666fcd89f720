//! States that are looked at as a whole before they are worked with: whatever is wrong with one, it is
//! set aside as it is, and a new one with what can be saved takes its place.

use super::*;
use crate::store::{LedgerEntry, conformance::key};

/// What a state of this version has at least.
const PAGE: usize = 4_096;

/// Ledger entries of a state that is to be damaged.
const ENTRIES: u64 = 200;

/// A closed state in which every table has pages of its own.
fn make_large_state(path: &Path) {
    let mut store = SqliteStore::open(path).unwrap();
    for from in (1..ENTRIES).step_by(50) {
        let discovered: Vec<_> = (from..from + 50)
            .map(|number| discovery(&format!("/{number}"), number))
            .collect();
        let finish = |found| crate::store::Finished {
            links: Some(vec![key("https://example.com/1")]),
            ..finished(found, record(1, Reason::Listed))
        };
        let commit = Commit {
            run: 1,
            finished: discovered.iter().map(finish).collect(),
            discovered,
            ..Commit::default()
        };
        store.commit(&commit).unwrap();
    }
    let entries: Vec<_> = (1..=ENTRIES)
        .map(|number| (known(number), entry()))
        .collect();
    store.set_ledger(&entries).unwrap();
}

fn known(number: u64) -> UrlKey {
    key(&format!("https://example.com/known/{number:04}"))
}

fn entry() -> LedgerEntry {
    LedgerEntry {
        content_hash: 7,
        hash_version: 2,
        lastmod: Some("2026-04-05".to_owned()),
        ..LedgerEntry::default()
    }
}

/// Copies what can be read of the ledger.
fn salvage(old: Option<&dyn Store>, new: &mut dyn Store) -> Result<(), StoreError> {
    let mut entries = Vec::new();
    let read =
        old.map(|old| old.visit_ledger(&mut |key, entry| entries.push((key.clone(), entry))));
    new.set_ledger(&entries)?;
    match read {
        Some(Err(error)) if error.kind() != StoreErrorKind::Corrupt => Err(error),
        Some(_) | None => Ok(()),
    }
}

/// Opens `contents` as a state; when it is set aside, then as it was. The new one can be worked with.
#[track_caller]
fn open_damaged(contents: &[u8], damage: Option<&str>) -> Result<Sound, StoreError> {
    let folder = tempfile::tempdir().unwrap();
    let path = state(&folder);
    fs::write(&path, contents).unwrap();
    let sound = SqliteStore::open_sound(&path, "then", damage, salvage)?;
    if let Some(damaged) = &sound.damaged {
        assert_eq!(damaged.aside, folder.path().join("site.db.corrupt-then"));
        assert!(fs::read(&damaged.aside).unwrap() == contents, "changed");
        assert_eq!(sound.store.counts(1).unwrap().len(), 0);
        let words = damaged.problem.as_str();
        assert!(
            damage.is_some() || words.contains(&*path.to_string_lossy()),
            "{words}"
        );
    }
    assert!(!folder.path().join("site.db.new").exists());
    // Of a deleted folder the open files go on.
    Ok(sound)
}

fn whole() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    make_large_state(&state(&folder));
    fs::read(state(&folder)).unwrap()
}

fn entries(store: &SqliteStore) -> u64 {
    let mut count = 0;
    store
        .visit_ledger(&mut |_, found| {
            assert_eq!(found, entry());
            count += 1;
        })
        .unwrap();
    count
}

#[test]
fn a_whole_state_and_a_new_one_are_opened_as_they_are() {
    let sound = open_damaged(&whole(), None).unwrap();
    assert_eq!(sound.damaged, None);
    assert_eq!(entries(&sound.store), ENTRIES);
    let folder = tempfile::tempdir().unwrap();
    let sound = SqliteStore::open_sound(&state(&folder), "then", None, salvage).unwrap();
    assert_eq!(sound.damaged, None);
    assert_eq!(open_error(&state(&folder)).kind(), StoreErrorKind::Busy);
}

#[test]
fn what_is_no_state_is_set_aside() {
    let foreign = {
        let folder = tempfile::tempdir().unwrap();
        meddle(&state(&folder), "CREATE TABLE page (url TEXT)");
        fs::read(state(&folder)).unwrap()
    };
    let whole = whole();
    let cut = |length: usize| whole.split_at(length).0.to_vec();
    for contents in [
        b"https://example.com/\n".to_vec(),
        vec![0; 5_000],
        foreign,
        cut(100),
        cut(PAGE),
        cut(whole.len() / 2),
        cut(whole.len() - 1),
    ] {
        let sound = open_damaged(&contents, None).unwrap();
        assert!(sound.damaged.is_some(), "{} bytes", contents.len());
        assert_eq!(entries(&sound.store), 0);
    }
}

/// Each page of the file in turn is what a write that did not come to its end, or a disk that fails, leaves.
#[test]
fn a_torn_page_is_found_wherever_it_is() {
    let whole = whole();
    let mut saved = Vec::new();
    for page in 1..whole.len() / PAGE {
        for torn in [
            vec![0; PAGE],
            vec![0xa5; PAGE],
            // The first half is of this page, the second of another one.
            [&whole[page * PAGE..][..512], &whole[..PAGE - 512]].concat(),
        ] {
            let mut contents = whole.clone();
            contents[page * PAGE..][..PAGE].copy_from_slice(&torn);
            let sound = open_damaged(&contents, None).unwrap();
            match &sound.damaged {
                Some(_) => saved.push(entries(&sound.store)),
                // Nothing but the free part of the page was hit.
                None => assert_eq!(entries(&sound.store), ENTRIES),
            }
        }
    }
    assert!(
        saved.len() >= whole.len() / PAGE,
        "{} were found",
        saved.len()
    );
    assert!(saved.contains(&ENTRIES), "damage elsewhere costs no entry");
    assert!(saved.contains(&0), "the root of the ledger was hit");
}

/// Whatever a byte of the header is, the file is a state, one of a newer version, or set aside.
#[test]
fn a_bad_header_is_no_riddle() {
    let whole = whole();
    let mut set_aside = 0;
    for place in 0..100 {
        for byte in [0, 0xff, whole[place] ^ 1, whole[place] ^ 0x80] {
            let mut contents = whole.clone();
            contents[place] = byte;
            match open_damaged(&contents, None) {
                Ok(sound) => set_aside += u32::from(sound.damaged.is_some()),
                Err(error) => {
                    assert_eq!(error.kind(), StoreErrorKind::Version, "{place}: {error}");
                    assert!((60..64).contains(&place), "{place}: {error}");
                }
            }
        }
    }
    assert!(set_aside > 50, "{set_aside}");
}

#[test]
fn what_was_found_while_it_was_read_sets_a_state_aside() {
    let folder = tempfile::tempdir().unwrap();
    make_large_state(&state(&folder));
    meddle(
        &state(&folder),
        "UPDATE page SET reason = 'from-the-future'",
    );
    let contents = fs::read(state(&folder)).unwrap();
    let sound = open_damaged(&contents, None).unwrap();
    assert_eq!(sound.damaged, None, "only a reader finds that");
    let sound = open_damaged(&contents, Some("unknown reason")).unwrap();
    assert_eq!(sound.damaged.unwrap().problem, "unknown reason");
    assert_eq!(entries(&sound.store), ENTRIES);
}

#[test]
fn a_damaged_state_is_set_aside_with_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = state(&folder);
    make_large_state(&path);
    let (log, crashed) = {
        let mut store = SqliteStore::open(&path).unwrap();
        store.set_ledger(&[(known(9_999), entry())]).unwrap();
        let log = fs::read(folder.path().join("site.db-wal")).unwrap();
        (log, fs::read(&path).unwrap())
    };
    let mut damaged = crashed;
    let middle = damaged.len() / PAGE / 2 * PAGE;
    damaged[middle..][..PAGE].fill(0xa5);
    fs::write(&path, &damaged).unwrap();
    fs::write(folder.path().join("site.db-wal"), &log).unwrap();
    let sound = SqliteStore::open_sound(&path, "then", None, salvage).unwrap();
    let aside = sound.damaged.unwrap().aside;
    assert!(fs::read(&aside).unwrap() == damaged);
    assert!(fs::read(folder.path().join("site.db.corrupt-then-wal")).unwrap() == log);
}

#[test]
fn a_newer_state_stays_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    make_state(&state(&folder));
    meddle(&state(&folder), "PRAGMA user_version = 2");
    for damage in [None, Some("unknown reason")] {
        let error = SqliteStore::open_sound(&state(&folder), "then", damage, salvage).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Version);
        let words = error.to_string();
        assert!(
            words.contains("format 2") && words.contains("format 1"),
            "{words}"
        );
        assert!(words.contains("another folder for the state"), "{words}");
    }
    assert!(state(&folder).exists());
}

#[test]
fn a_damaged_state_stands_while_nothing_can_take_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = state(&folder);
    fs::write(&path, b"no state").unwrap();
    for _ in 0..2 {
        let full = |_: Option<&dyn Store>, _: &mut dyn Store| {
            Err(StoreError::new(StoreErrorKind::Io, "no space left"))
        };
        let error = SqliteStore::open_sound(&path, "then", None, full).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Io);
        assert_eq!(fs::read(&path).unwrap(), b"no state");
    }
    let sound = SqliteStore::open_sound(&path, "then", None, salvage).unwrap();
    assert!(sound.damaged.is_some());
}
