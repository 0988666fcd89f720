//! Which sets are kept, the oldest first, as a value of the state: of each what its publish recorded, and what has to be
//! known of each file to publish it again. It never drops what it cannot read, and touches no file.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    export,
    page::RunId,
    publish::{
        MANIFEST, PublishError, Standing,
        files::{FileKind, Role},
        guard::Remembered,
        manifest::Manifest,
        set::ReadySet,
    },
    store::{Store, StoreError, undo::SetNumber},
};

/// Published sets that are kept, the one that stands included.
pub const KEPT_SETS: usize = 3;

/// Name of the state's value with the list.
const SETS: &str = crate::store::names::PUBLISH_GENERATIONS;

/// Name of the state's value with the number of the set that was published last.
const NUMBER: &str = crate::store::names::PUBLISH_SET;

/// Lists that are set aside at most, as values with the name of the list, `.aside.` and a number from 1 on: each is of
/// another version of arpent, or damaged.
const MAX_ASIDE: usize = 9;

/// One published set.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::publish) struct Generation {
    pub(super) manifest: Manifest,
    pub(super) standing: Standing,
    pub(super) remembered: Remembered,
    /// What the manifest does not say of its files, in their order.
    pub(super) files: Vec<Kept>,
    /// `None`: its publish did not note it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) made: Option<Made>,
}

/// What the state knew when a set was published: what it comes back to with the set.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Made {
    /// The place of the set in the state's undo log.
    pub(super) number: SetNumber,
    /// The run that it was published from; 0: none of this state.
    pub(super) run: RunId,
    /// Whose dates were not believed, in the form that the state has it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) distrusted: Option<String>,
}

impl Made {
    /// That of the set which is published from `run` now, and has the next number.
    pub(super) fn now(store: &dyn Store, run: RunId) -> Result<Self, StoreError> {
        let last = store.value(NUMBER)?.and_then(|text| text.parse().ok());
        Ok(Self {
            number: last.unwrap_or(0) + 1,
            run,
            distrusted: export::distrusted(store)?.1,
        })
    }

    /// The value that notes the number.
    pub(super) fn value(&self) -> (String, Option<String>) {
        (NUMBER.to_owned(), Some(self.number.to_string()))
    }
}

/// What has to be known of a file to publish it again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) url: String,
    /// It becomes visible after all others.
    is_entrance: bool,
    /// What is in it; `None`: by its publish that was not noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content: Option<FileKind>,
    /// Of an index: the names of the files that it names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) members: Option<Vec<String>>,
}

/// A set that was published and is still kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptSet {
    /// When it was published.
    pub published: Timestamp,
    /// URLs in it.
    pub listed: u64,
}

/// The list as the state has it.
pub(super) enum List {
    /// The sets, the oldest first.
    Sets(Vec<Generation>),
    /// It is of another version, or damaged.
    Unreadable {
        /// As it stands.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl Generation {
    /// What is to be kept of the set that stands, as its publish records it.
    pub(super) fn of(
        set: &ReadySet,
        manifest: &Manifest,
        standing: &Standing,
        made: Option<Made>,
    ) -> Self {
        let files = set.built.iter().map(|file| Kept {
            url: file.address.url.clone(),
            is_entrance: file.role == Role::Entrance,
            content: Some(file.kind),
            members: (file.kind == FileKind::Index).then(|| file.members.clone()),
        });
        Self {
            files: files.collect(),
            manifest: manifest.clone(),
            standing: standing.clone(),
            remembered: set.remembered.clone(),
            made,
        }
    }

    /// Its number; 0 when it has none.
    pub(super) fn number(&self) -> SetNumber {
        self.made.as_ref().map_or(0, |made| made.number)
    }

    /// Whether the files say the same. Indexes need not: they also say when files were written.
    pub(super) fn has_files_of(&self, manifest: &Manifest) -> bool {
        let ours = self.manifest.files.iter().zip(&self.files);
        self.manifest.files.len() == manifest.files.len()
            && ours.zip(&manifest.files).all(|((our, kept), other)| {
                let is_index = kept.kind() == Some(FileKind::Index);
                our.name == other.name && (is_index || our.file_sha256 == other.file_sha256)
            })
    }

    /// Who finds the file.
    pub(super) fn role_of(&self, kept: &Kept) -> Role {
        if kept.is_entrance {
            Role::Entrance
        } else if self.standing.sitemaps.contains(&kept.url) {
            Role::Beside
        } else {
            Role::Part
        }
    }

    /// What is wrong with it, if it cannot be one of ours.
    fn fault(&self) -> Option<&'static str> {
        if !self.manifest.is_sound() {
            Some("a set is of another version, or names a file that no output can have")
        } else if self.files.len() != self.manifest.files.len() {
            Some("of a set not every file is known")
        } else {
            None
        }
    }
}

impl Kept {
    /// What is in the file, as far as its publish noted it.
    pub(super) fn kind(&self) -> Option<FileKind> {
        self.content
            .or_else(|| self.members.as_ref().map(|_| FileKind::Index))
    }
}

/// Reads the list.
///
/// # Errors
/// The store cannot be read.
pub(super) fn read(store: &dyn Store) -> Result<List, StoreError> {
    let Some(text) = store.value(SETS)? else {
        return Ok(List::Sets(Vec::new()));
    };
    let reason = match serde_json::from_str::<Vec<Generation>>(&text) {
        Ok(sets) => match sets.iter().find_map(Generation::fault) {
            None => return Ok(List::Sets(sets)),
            Some(fault) => fault.to_owned(),
        },
        Err(error) => error.to_string(),
    };
    Ok(List::Unreadable { text, reason })
}

/// The value with this list.
pub(super) fn value(sets: &[Generation]) -> (String, Option<String>) {
    let text = serde_json::to_string(sets).expect("strings, numbers and times are always JSON");
    (SETS.to_owned(), Some(text))
}

fn aside_name(number: usize) -> String {
    format!("{SETS}.aside.{number}")
}

/// The value that keeps a list that cannot be read; `None`: there are too many.
pub(super) fn set_aside(
    store: &dyn Store,
    text: String,
) -> Result<Option<(String, Option<String>)>, StoreError> {
    for number in 1..=MAX_ASIDE {
        let name = aside_name(number);
        if store.value(&name)?.is_none_or(|known| known == text) {
            return Ok(Some((name, Some(text))));
        }
    }
    Ok(None)
}

/// The lists that were set aside, as they were.
pub(super) fn aside(store: &dyn Store) -> Result<Vec<String>, StoreError> {
    let lists = (1..=MAX_ASIDE).map(|number| store.value(&aside_name(number)));
    lists.filter_map(Result::transpose).collect()
}

/// The values that a fresh state takes over. It has the sets, and nothing of what was known with them.
pub(in crate::publish) fn carried(
    old: &dyn Store,
) -> Result<Vec<(String, Option<String>)>, StoreError> {
    let sets = match read(old)? {
        List::Sets(sets) if sets.is_empty() => None,
        List::Sets(mut sets) => {
            for made in sets.iter_mut().filter_map(|set| set.made.as_mut()) {
                (made.number, made.run) = (0, 0);
            }
            Some(value(&sets))
        }
        List::Unreadable { text, .. } => Some((SETS.to_owned(), Some(text))),
    };
    let aside = (1..=MAX_ASIDE).map(aside_name).map(|name| {
        let value = old.value(&name)?;
        Ok(value.map(|text| (name, Some(text))))
    });
    let aside = aside.filter_map(Result::transpose);
    sets.map(Ok).into_iter().chain(aside).collect()
}

/// The sets that can be restored, the oldest first: all but the one that stands, which is of `manifest`.
///
/// # Errors
/// The store cannot be read; [`PublishError::Settings`]: the list cannot.
pub(super) fn restorable(
    store: &dyn Store,
    manifest: &Manifest,
) -> Result<Vec<Generation>, PublishError> {
    match read(store)? {
        List::Sets(mut sets) => {
            sets.pop_if(|last| last.has_files_of(manifest));
            Ok(sets)
        }
        List::Unreadable { reason, .. } => Err(PublishError::Settings(format!(
            "rollback: the list of the sets that are kept cannot be read ({reason}); the next publish sets it aside"
        ))),
    }
}

/// The sets that are kept besides the one that stands, the newest first.
///
/// # Errors
/// The store cannot be read; [`PublishError::Settings`]: the list cannot.
pub fn kept_sets(store: &dyn Store) -> Result<Vec<KeptSet>, PublishError> {
    let Some(manifest) = store.value(MANIFEST)? else {
        return Ok(Vec::new());
    };
    let Ok(manifest) = serde_json::from_str(&manifest) else {
        return Ok(Vec::new());
    };
    let sets = restorable(store, &manifest)?;
    let sets = sets.iter().rev().map(|set| KeptSet {
        published: set.manifest.published,
        listed: set.manifest.listed,
    });
    Ok(sets.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Commit, memory::MemoryStore};

    fn store_with(text: &str) -> MemoryStore {
        let mut store = MemoryStore::default();
        set(&mut store, (SETS.to_owned(), Some(text.to_owned())));
        store
    }

    fn set(store: &mut MemoryStore, value: (String, Option<String>)) {
        let values = vec![value];
        let commit = Commit {
            values,
            ..Commit::default()
        };
        store.commit(&commit).unwrap();
    }

    /// A set of one index and one part, as an arpent wrote it that did not note what is in a file.
    const UNNOTED: &str = r#"[{"manifest":{"version":1,"site":"s","output":"/o","published":"2026-01-01T00:00:00Z",
        "listed":1,"layout":"","files":[
          {"name":"sitemap.xml","sha256":"a","file_sha256":"a","entries":1,"bytes":1,"lastmod":"2026-01-01T00:00:00Z"},
          {"name":"p.xml","sha256":"b","file_sha256":"b","entries":1,"bytes":1,"lastmod":"2026-01-01T00:00:00Z"}],
        "dropped":[]},
        "standing":{"site":"https://e.example/","output":"/o","directory":"https://e.example/","sitemaps":[]},
        "remembered":{"is_complete":true,"failing":0,"alike":{}},
        "files":[{"url":"https://e.example/sitemap.xml","is_entrance":true,"members":["p.xml"]},
          {"url":"https://e.example/p.xml","is_entrance":false}]}]"#;

    #[test]
    fn a_list_without_what_is_in_the_files_is_read_and_guesses_nothing() {
        let List::Sets(sets) = read(&store_with(UNNOTED)).unwrap() else {
            panic!("it can be read");
        };
        let kinds: Vec<_> = sets[0].files.iter().map(Kept::kind).collect();
        assert_eq!(kinds, [Some(FileKind::Index), None]);
    }

    #[test]
    fn what_cannot_be_a_list_of_ours_is_unreadable() {
        let fewer = UNNOTED.replace(
            r#",
          {"url":"https://e.example/p.xml","is_entrance":false}"#,
            "",
        );
        let newer = UNNOTED.replace(r#""version":1"#, r#""version":2"#);
        let outside = UNNOTED.replace(r#""name":"p.xml""#, r#""name":"../p.xml""#);
        for text in ["", "{}", "[{}]", "not JSON", &fewer, &newer, &outside] {
            assert_ne!(text, UNNOTED);
            let list = read(&store_with(text)).unwrap();
            assert!(matches!(list, List::Unreadable { .. }), "{text}");
        }
        let none = read(&MemoryStore::default()).unwrap();
        assert!(matches!(none, List::Sets(sets) if sets.is_empty()));
    }

    #[test]
    fn lists_that_are_set_aside_take_no_place_of_each_other() {
        let mut store = MemoryStore::default();
        for number in 1..=MAX_ASIDE {
            let text = format!("list {number}");
            // A second time changes nothing.
            for _ in 0..2 {
                let value = set_aside(&store, text.clone()).unwrap().unwrap();
                assert_eq!(value.0, aside_name(number));
                set(&mut store, value);
            }
        }
        assert_eq!(set_aside(&store, "one more".to_owned()).unwrap(), None);
        assert_eq!(aside(&store).unwrap().len(), MAX_ASIDE);
        assert_eq!(carried(&store).unwrap().len(), MAX_ASIDE);
    }
}
