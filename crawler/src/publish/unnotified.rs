//! The hooks and engines that have to be notified of the published set. They are noted in the commit of a publish and removed
//! when they were notified, so that a crash, or a hook or an engine that fails, does not lose the notification. `IndexNow` is
//! notified URL by URL, from the outbox.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::manifest::Manifest;
use crate::store::{Effect, MetaValue, Store, StoreError, json_value};

/// Name of the state's value with [`Unnotified`].
const UNNOTIFIED: &str = crate::store::names::PUBLISH_UNNOTIFIED;

/// The hooks and engines that have to be notified of the published set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unnotified {
    /// Origins of the engines that take the request of the protocol; `None`: all that the settings name.
    pub engines: Option<BTreeSet<String>>,
    /// `true` if the hooks have to run.
    pub hooks: bool,
}

impl Unnotified {
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
        let (name, text) = json_value(UNNOTIFIED, self);
        (name, text.filter(|_| !self.is_nobody()))
    }
}

/// The value that notes all hooks and engines, when the files of the set `new` are not those of `old`.
pub(super) fn value_for(old: &Manifest, new: &Manifest) -> Option<MetaValue> {
    (old.files != new.files).then(|| Unnotified::everybody().value())
}

/// The hooks and engines that have to be notified; `None`: none.
///
/// # Errors
/// The store failed.
pub fn unnotified(store: &Store) -> Result<Option<Unnotified>, StoreError> {
    let text = store.value(UNNOTIFIED)?;
    // A second notification does less harm than none.
    Ok(text.map(|text| serde_json::from_str(&text).unwrap_or_else(|_| Unnotified::everybody())))
}

/// Notes the hooks and engines that have to be notified.
///
/// # Errors
/// The store failed.
pub fn note_unnotified(store: &mut Store, unnotified: &Unnotified) -> Result<(), StoreError> {
    store.commit(&[Effect::Value(unnotified.value())])
}

/// Notes that the hooks were notified.
///
/// # Errors
/// The store failed.
pub fn hooks_know(store: &mut Store) -> Result<(), StoreError> {
    let Some(mut unnotified) = unnotified(store)? else {
        return Ok(());
    };
    unnotified.hooks = false;
    note_unnotified(store, &unnotified)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    #[test]
    fn note_goes_when_all_are_notified() {
        let mut store = Store::in_memory().unwrap();
        let noted = |store: &Store| unnotified(store).unwrap();
        assert_eq!(noted(&store), None);
        hooks_know(&mut store).unwrap();
        assert_eq!(noted(&store), None);
        note_unnotified(&mut store, &Unnotified::everybody()).unwrap();
        assert_eq!(noted(&store), Some(Unnotified::everybody()));
        let engines = Some(BTreeSet::from(["https://engine.example".to_owned()]));
        let one = Unnotified {
            engines,
            hooks: true,
        };
        note_unnotified(&mut store, &one).unwrap();
        hooks_know(&mut store).unwrap();
        let left = Unnotified {
            hooks: false,
            ..one
        };
        assert_eq!(noted(&store), Some(left.clone()));
        let engines = Some(BTreeSet::new());
        note_unnotified(&mut store, &Unnotified { engines, ..left }).unwrap();
        assert_eq!(noted(&store), None);
    }

    #[test]
    fn unreadable_file_is_reported_to_all() {
        let mut store = Store::in_memory().unwrap();
        let values = vec![(UNNOTIFIED.to_owned(), Some("soon".to_owned()))];
        store.commit(&Effect::values(values)).unwrap();
        assert_eq!(unnotified(&store).unwrap(), Some(Unnotified::everybody()));
    }
}
