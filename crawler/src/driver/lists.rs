//! The URL lists of the user, each read once to find what is wrong with it before anything else is done.

use std::{
    collections::BTreeSet,
    io,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use super::messages::Messenger;
use crate::{
    human,
    seeds::{SeedList, SeedListError},
};

/// Name of standard input.
const STANDARD_INPUT: &str = "-";

/// The lists of all sites of a program. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct UserLists {
    /// The list can be read once only.
    standard_input: Arc<Mutex<Option<SeedList>>>,
}

impl UserLists {
    /// Opens the lists `files`, each once; lines that are left out are reported.
    ///
    /// # Errors
    /// One cannot be read, or holds no URL.
    pub(super) fn read(
        &self,
        files: &[String],
        output: &Messenger,
    ) -> Result<Vec<SeedList>, SeedListError> {
        let mut seen = BTreeSet::new();
        let files = files.iter().filter(|file| seen.insert(*file));
        files.map(|file| self.open(file, output)).collect()
    }

    fn open(&self, file: &str, output: &Messenger) -> Result<SeedList, SeedListError> {
        if file != STANDARD_INPUT {
            let list = SeedList::open(Path::new(file))?;
            check(&list, output)?;
            return Ok(list);
        }
        let mut known = self
            .standard_input
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(list) = &*known {
            return Ok(list.clone());
        }
        let list = SeedList::copy("standard input", io::stdin().lock())?;
        check(&list, output)?;
        *known = Some(list.clone());
        Ok(list)
    }
}

fn check(list: &SeedList, output: &Messenger) -> Result<(), SeedListError> {
    let check = list.check()?;
    for bad in &check.told {
        output.warn(&bad.to_string());
    }
    if check.bad_lines > 0 {
        let lines = human::count(check.bad_lines, "line");
        output.warn(&format!("{}: {lines} left out", list.name()));
    }
    Ok(())
}
