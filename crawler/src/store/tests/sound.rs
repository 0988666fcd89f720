//! States that are checked as a whole before they are used: a state with any damage is renamed, and a new one
//! with the rows that can be saved takes its place.

use super::{damage::unreadable_files, *};

/// A closed state in which every table has pages of its own.
fn make_large_state(path: &Path) {
    make_state(path);
    let mut store = Store::open(path).unwrap();
    for from in (10..210).step_by(50) {
        let found: Vec<_> = (from..from + 50)
            .map(|number| discovery(&format!("/{number}"), number))
            .collect();
        let finish = |found: &Discovery| linking(found, &["/1"]);
        let page = |found: &Discovery| {
            let page = page_of(record(Reason::Listed));
            page_row(found.key.clone(), page, PageLinks::OfVisit)
        };
        commit(&mut store, |commit| {
            commit.finished = found.iter().map(finish).collect();
            commit.pages = found.iter().map(page).collect();
            commit.discovered = found;
        });
    }
}

/// Opens `contents` as a state; when it is set aside, then as it was. The new one can be worked with.
#[track_caller]
fn open_damaged(contents: &[u8], damage: Option<&str>) -> Result<Sound, StoreError> {
    let folder = tempfile::tempdir().unwrap();
    let path = state(&folder);
    fs::write(&path, contents).unwrap();
    let sound = Store::open_sound(&path, "then", damage)?;
    if let Some(damaged) = &sound.damaged {
        assert_eq!(damaged.aside, folder.path().join("site.db.corrupt-then"));
        assert!(fs::read(&damaged.aside).unwrap() == contents, "changed");
        assert_eq!(rows(&sound.store, None), []);
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

/// Returns whether the state has what engines know of the site.
fn has_key(store: &Store) -> bool {
    let key = store.value(names::NOTIFY_KEY).unwrap();
    key.as_deref() == Some("secret")
}

#[test]
fn sound_state_is_opened_unchanged() {
    let sound = open_damaged(&whole(), None).unwrap();
    assert_eq!(sound.damaged, None);
    assert!(has_key(&sound.store));
    let folder = tempfile::tempdir().unwrap();
    let sound = Store::open_sound(&state(&folder), "then", None).unwrap();
    assert_eq!(sound.damaged, None);
    assert_eq!(open_error(&state(&folder)).kind(), StoreErrorKind::Busy);
}

#[test]
fn unreadable_file_is_set_aside() {
    for (contents, kind, words) in unreadable_files() {
        if kind == StoreErrorKind::Corrupt {
            let sound = open_damaged(&contents, None).unwrap();
            assert!(sound.damaged.is_some(), "{words}");
            assert!(!has_key(&sound.store), "{words}");
        }
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
                Some(_) => saved.push(has_key(&sound.store)),
                // Nothing but the free part of the page was hit.
                None => assert!(has_key(&sound.store)),
            }
        }
    }
    assert!(
        saved.len() >= whole.len() / PAGE,
        "{} were found",
        saved.len()
    );
    assert!(saved.contains(&true), "damage elsewhere costs no value");
    assert!(saved.contains(&false), "the page with the values was hit");
}

/// Whatever a byte of the header is, the file is a state, one of a newer version, or set aside.
#[test]
fn changed_header_is_newer_or_set_aside() {
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
fn damage_found_while_reading_sets_a_state_aside() {
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
    assert!(has_key(&sound.store));
}

#[test]
fn damaged_state_is_set_aside_with_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = state(&folder);
    make_large_state(&path);
    let (log, crashed) = {
        let mut store = Store::open(&path).unwrap();
        discover(&mut store, &[discovery("/last", 999)]);
        let log = fs::read(folder.path().join("site.db-wal")).unwrap();
        (log, fs::read(&path).unwrap())
    };
    let mut damaged = crashed;
    let middle = damaged.len() / PAGE / 2 * PAGE;
    damaged[middle..][..PAGE].fill(0xa5);
    fs::write(&path, &damaged).unwrap();
    fs::write(folder.path().join("site.db-wal"), &log).unwrap();
    let sound = Store::open_sound(&path, "then", None).unwrap();
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
        let error = Store::open_sound(&state(&folder), "then", damage).unwrap_err();
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
fn damaged_state_stays_while_no_replacement_exists() {
    let folder = tempfile::tempdir().unwrap();
    let path = state(&folder);
    fs::write(&path, b"no state").unwrap();
    // In the place of the new one.
    let new = folder.path().join("site.db.new");
    fs::create_dir(&new).unwrap();
    for _ in 0..2 {
        Store::open_sound(&path, "then", None).unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), b"no state");
    }
    fs::remove_dir(&new).unwrap();
    let sound = Store::open_sound(&path, "then", None).unwrap();
    assert!(sound.damaged.is_some());
}

#[test]
fn killed_replacement_leaves_a_whole_state() {
    let folder = tempfile::tempdir().unwrap();
    let (path, new) = (state(&folder), folder.path().join("site.db.new"));
    // Before the old one was set aside.
    make_state(&path);
    drop(Store::open(&new).unwrap());
    fs::write(folder.path().join("site.db.new-wal"), "half").unwrap();
    let store = Store::open(&path).unwrap();
    assert!(has_key(&store) && !new.exists());
    drop(store);
    // After that, all but its log.
    fs::rename(&path, &new).unwrap();
    fs::write(folder.path().join("site.db-wal"), "log of the old one").unwrap();
    let sound = Store::open_sound(&path, "then", None).unwrap();
    assert_eq!(sound.damaged, None);
    assert!(has_key(&sound.store) && !new.exists());
}
