//! The hooks and engines that have to be notified of the published set. They are noted in the commit of a publish and removed
//! when they were notified, so that a crash, or a hook or an engine that fails, does not lose the notification. `IndexNow` is
//! notified URL by URL, from the outbox.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::manifest::Manifest;
use crate::store::{Commit, MetaValue, Store, StoreError};

/// Name of the state's value with [`Untold`].
const UNTOLD: &str = crate::store::names::PUBLISH_UNTOLD;

/// The hooks and engines that have to be notified of the published set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Untold {
    /// Origins of the engines that take the request of the protocol; `None`: all that the settings name.
    pub engines: Option<BTreeSet<String>>,
    /// Whether the hooks have to run.
    pub hooks: bool,
}

impl Untold {
    /// All hooks and engines.
    fn everybody() -> Self {
        Self {
            engines: None,
            hooks: true,
        }
    }

    fn is_nobody(&self) -> bool {
        !self.hooks && self.engines.as_ref().is_some_and(BTreeSet::is_empty)
    }

    fn value(&self) -> MetaValue {
        let text = serde_json::to_string(self).expect("strings are always JSON");
        (UNTOLD.to_owned(), Some(text).filter(|_| !self.is_nobody()))
    }
}

/// The value that notes all hooks and engines, when the files of the set `new` are not those of `old`.
pub(super) fn value_for(old: &Manifest, new: &Manifest) -> Option<MetaValue> {
    (old.files != new.files).then(|| Untold::everybody().value())
}

/// The hooks and engines that have to be notified; `None`: none.
///
/// # Errors
/// The store failed.
pub fn untold(store: &Store) -> Result<Option<Untold>, StoreError> {
    let text = store.value(UNTOLD)?;
    // A second notification does less harm than none.
    Ok(text.map(|text| serde_json::from_str(&text).unwrap_or_else(|_| Untold::everybody())))
}

/// Notes the hooks and engines that have to be notified.
///
/// # Errors
/// The store failed.
pub fn note_untold(store: &mut Store, untold: &Untold) -> Result<(), StoreError> {
    store.commit(&Commit {
        values: vec![untold.value()],
        ..Commit::default()
    })
}

/// Notes that the hooks were notified.
///
/// # Errors
/// The store failed.
pub fn hooks_know(store: &mut Store) -> Result<(), StoreError> {
    match untold(store)? {
        None => Ok(()),
        Some(untold) => {
            let hooks = false;
            note_untold(store, &Untold { hooks, ..untold })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    #[test]
    fn what_is_noted_goes_when_all_know() {
        let mut store = Store::in_memory().unwrap();
        let noted = |store: &Store| untold(store).unwrap();
        assert_eq!(noted(&store), None);
        hooks_know(&mut store).unwrap();
        assert_eq!(noted(&store), None);
        let values = vec![Untold::everybody().value()];
        let commit = Commit {
            values,
            ..Commit::default()
        };
        store.commit(&commit).unwrap();
        assert_eq!(noted(&store), Some(Untold::everybody()));
        let engines = Some(BTreeSet::from(["https://engine.example".to_owned()]));
        let one = Untold {
            engines,
            hooks: true,
        };
        note_untold(&mut store, &one).unwrap();
        hooks_know(&mut store).unwrap();
        let left = Untold {
            hooks: false,
            ..one
        };
        assert_eq!(noted(&store), Some(left.clone()));
        let engines = Some(BTreeSet::new());
        note_untold(&mut store, &Untold { engines, ..left }).unwrap();
        assert_eq!(noted(&store), None);
    }

    #[test]
    fn what_cannot_be_read_is_told_to_all() {
        let mut store = Store::in_memory().unwrap();
        let values = vec![(UNTOLD.to_owned(), Some("soon".to_owned()))];
        let commit = Commit {
            values,
            ..Commit::default()
        };
        store.commit(&commit).unwrap();
        assert_eq!(untold(&store).unwrap(), Some(Untold::everybody()));
    }
}
