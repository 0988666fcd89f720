//! [`Mounts`]: what the indexes in a folder say about where it is served. Several may stand side by side in one folder, each with what
//! its indexes list; a file that nothing lists is of none, unless what it lists itself is of there.

use std::{
    cmp::Reverse,
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use sitemap_core::Loc;

use super::{bases::Mount, guess::Guess};

/// The mounts of a folder. Paths are relative to that folder.
#[derive(Debug, Default)]
pub(super) struct Mounts {
    all: Vec<Mount>,
    /// Their numbers by their folder and their origin, in ascending order.
    by_folder: BTreeMap<PathBuf, BTreeMap<String, Vec<usize>>>,
    /// Their numbers by their base and their folder.
    by_base: BTreeMap<String, BTreeMap<PathBuf, usize>>,
    /// On which one the indexes stand, and what they list.
    of_file: BTreeMap<PathBuf, usize>,
}

impl Mounts {
    /// What the indexes in a folder say, each with the sitemaps that it lists.
    pub(super) fn guess(root: &Path, indexes: &BTreeMap<PathBuf, Vec<Loc>>) -> Self {
        let guesses = indexes
            .iter()
            .filter_map(|(index, children)| Some((index, Guess::of(root, index, children)?)));
        let mut guesses: Vec<(&PathBuf, Guess)> = guesses.collect();
        // What is above counts for what is below.
        guesses.sort_by_key(|(_, guess)| {
            (
                guess.below.components().count(),
                Reverse(guess.found),
                guess.base.loc().as_str().len(),
            )
        });
        let mut mounts = Self::default();
        // Indexes that others list stand where those say.
        let mut listed: BTreeMap<PathBuf, usize> = BTreeMap::new();
        for (index, guess) in guesses {
            let known = listed.get(index).copied().or_else(|| mounts.known(&guess));
            let number = known.unwrap_or_else(|| {
                let number = mounts.add(Mount::new(guess.below, guess.base));
                let files = indexes[index]
                    .iter()
                    .filter_map(|child| mounts.all[number].file(child));
                for file in files.filter(|file| indexes.contains_key(file)) {
                    listed.entry(file).or_insert(number);
                }
                number
            });
            mounts.take_index(index, number);
        }
        // Where nothing is that they list, which other indexes of the same origin may tell.
        for (index, children) in indexes {
            if mounts.of_file(index).is_none()
                && let Some(number) = children.iter().find_map(|child| mounts.above(index, child))
            {
                mounts.take_index(index, number);
            }
        }
        mounts
    }

    fn add(&mut self, mount: Mount) -> usize {
        let number = self.all.len();
        let base = mount.base.loc();
        let by_origin = self.by_folder.entry(mount.below.clone()).or_default();
        by_origin
            .entry(base.origin().to_owned())
            .or_default()
            .push(number);
        let by_folder = self.by_base.entry(base.to_string()).or_default();
        by_folder.insert(mount.below.clone(), number);
        self.all.push(mount);
        number
    }

    fn take_index(&mut self, index: &Path, number: usize) {
        self.all[number].indexes.push(index.to_owned());
        self.of_file.insert(index.to_owned(), number);
    }

    /// The latest mount that a guess is part of: the same one, or one of the same origin in a folder above.
    fn known(&self, guess: &Guess) -> Option<usize> {
        let base = guess.base.loc();
        let same = self
            .by_base
            .get(base.as_str())
            .and_then(|by_folder| by_folder.get(&guess.below));
        let folders = guess.below.ancestors().skip(1);
        let above =
            folders.filter_map(|folder| self.by_folder.get(folder)?.get(base.origin())?.last());
        above.chain(same).copied().max()
    }

    /// The first mount in the lowest folder above an index that is of the origin of a URL.
    fn above(&self, index: &Path, loc: &Loc) -> Option<usize> {
        let mut folders = index.ancestors().skip(1);
        folders.find_map(|folder| {
            let by_origin = self.by_folder.get(folder)?;
            by_origin.get(loc.origin())?.first().copied()
        })
    }

    /// All of them.
    pub(super) fn all(&self) -> &[Mount] {
        &self.all
    }

    /// Where an index stands, or a file that is listed or named.
    pub(super) fn of_file(&self, file: &Path) -> Option<&Mount> {
        self.of_file.get(file).map(|number| &self.all[*number])
    }

    /// Where a file may stand that nothing lists: where it may list most of its `entries`, if most of them are of that origin; one
    /// without entries where there is no choice.
    pub(super) fn of_entries(&self, file: &Path, entries: &[Loc]) -> Option<&Mount> {
        if entries.is_empty() {
            return self.only_above(file);
        }
        let mut votes: BTreeMap<usize, usize> = BTreeMap::new();
        for entry in entries {
            for number in self.over(entry) {
                let place = self.all[number].place(file);
                if place.is_some_and(|place| place.may_list(entry)) {
                    *votes.entry(number).or_default() += 1;
                }
            }
        }
        let is_of_most = |mount: &Mount| {
            let origin = mount.base.loc().origin();
            let own = entries.iter().filter(|entry| entry.origin() == origin);
            2 * own.count() >= entries.len()
        };
        let best = votes
            .into_iter()
            .filter(|(number, _)| is_of_most(&self.all[*number]))
            .max_by_key(|(number, votes)| {
                let depth = self.all[*number].below.components().count();
                (*votes, depth, Reverse(*number))
            });
        best.map(|(number, _)| &self.all[number])
    }

    /// The mount in the lowest folder above a file, if there is one only.
    fn only_above(&self, file: &Path) -> Option<&Mount> {
        let mut folders = file.ancestors().skip(1);
        let by_origin = folders.find_map(|folder| self.by_folder.get(folder))?;
        let mut numbers = by_origin.values().flatten();
        let number = *numbers.next()?;
        numbers.next().is_none().then(|| &self.all[number])
    }

    /// The numbers of the mounts on which a URL may be a file, in ascending order.
    fn over(&self, loc: &Loc) -> Vec<usize> {
        let url = loc.as_str();
        let bases = url.match_indices('/').map(|(slash, _)| &url[..=slash]);
        let mounts = bases.filter_map(|base| self.by_base.get(base));
        let mut numbers: Vec<usize> = mounts.flat_map(BTreeMap::values).copied().collect();
        numbers.sort_unstable();
        numbers
    }

    /// The file that a sitemap is, whether it exists or not; `None` for what stands elsewhere.
    pub(super) fn file(&self, root: &Path, index: Option<&Path>, sitemap: &Loc) -> Option<PathBuf> {
        Some(self.find(root, index, sitemap)?.1)
    }

    /// Takes the file that a sitemap is in where it stands, if it is there; it stays where it is if it was taken in before.
    pub(super) fn take(
        &mut self,
        root: &Path,
        index: Option<&Path>,
        sitemap: &Loc,
    ) -> Option<PathBuf> {
        let (number, file) = self.find(root, index, sitemap)?;
        if index == Some(&*file) || !root.join(&file).is_file() {
            return None;
        }
        self.of_file.entry(file.clone()).or_insert(number);
        Some(file)
    }

    /// The file that a sitemap is, and its mount: one on which it exists, that of the index before others. One that is nowhere is
    /// missed on the mount of the index, and on any where there is none.
    fn find(&self, root: &Path, index: Option<&Path>, sitemap: &Loc) -> Option<(usize, PathBuf)> {
        let own = index.and_then(|index| self.of_file.get(index).copied());
        let numbers = own.into_iter().chain(self.over(sitemap));
        let files = numbers.filter_map(|number| Some((number, self.all[number].file(sitemap)?)));
        let mut missing = None;
        for (number, file) in files {
            if root.join(&file).is_file() {
                return Some((number, file));
            }
            if own.is_none_or(|own| own == number) {
                missing.get_or_insert((number, file));
            }
        }
        missing
    }
}
