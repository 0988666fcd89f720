//! Where a folder is served if nobody said: where its indexes say that their parts are. Several sets may stand in one folder,
//! each with a place of its own. It decides from names alone, and reads no part.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use sitemap_core::Loc;

use super::places::Base;

/// How many sitemaps of an index are tried to find out where it is served.
const MAX_TRIES: usize = 1_000;

/// Which folders below the one that is checked are served where. Paths are relative to that one.
#[derive(Debug, Default)]
pub(super) struct Bases(BTreeMap<PathBuf, Base>);

impl Bases {
    /// The whole folder is served at one place.
    pub(super) fn one(base: Base) -> Self {
        Self(BTreeMap::from([(PathBuf::new(), base)]))
    }

    /// What the indexes in a folder say; `children` are the sitemaps that one lists.
    pub(super) fn guess<I: Iterator<Item = Loc>>(
        root: &Path,
        indexes: &[PathBuf],
        children: impl Fn(&Path) -> I,
    ) -> Self {
        let mut guesses: Vec<(&PathBuf, Guess)> = indexes
            .iter()
            .filter_map(|index| Some((index, Guess::of(root, index, children(index))?)))
            .collect();
        // What is above counts for what is below.
        guesses.sort_by_key(|(_, guess)| {
            (
                guess.below.components().count(),
                Reverse(guess.found),
                guess.base.loc().as_str().len(),
            )
        });
        let mut bases = Self::default();
        let mut placed = BTreeSet::new();
        for (index, Guess { below, base, .. }) in guesses {
            let is_known = bases.above(index).is_some_and(|(known, above)| {
                *known == below || above.loc().origin() == base.loc().origin()
            });
            if is_known || placed.contains(index) {
                continue;
            }
            // An index that another one lists stands where that says.
            let listed = children(index).filter_map(|child| base.relative(&child));
            placed.extend(listed.map(|relative| below.join(relative)));
            bases.0.insert(below, base);
        }
        bases
    }

    /// The folders that are served at a place of their own.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&PathBuf, &Base)> {
        self.0.iter()
    }

    /// Whether it is known where a file is served.
    pub(super) fn knows(&self, file: &Path) -> bool {
        self.above(file).is_some()
    }

    /// Where a file is served.
    pub(super) fn place(&self, file: &Path) -> Option<Loc> {
        let (below, base) = self.above(file)?;
        base.place(file.strip_prefix(below).ok()?)
    }

    /// The file that a sitemap is which `index` lists, whether it exists or not; `None` for what stands elsewhere.
    pub(super) fn file(&self, root: &Path, index: &Path, child: &Loc) -> Option<PathBuf> {
        let own = self.above(index).into_iter();
        let mut files = own
            .chain(&self.0)
            .filter_map(|(below, base)| Some(below.join(base.relative(child)?)));
        let first = files.next()?;
        if root.join(&first).is_file() {
            return Some(first);
        }
        files.find(|file| root.join(file).is_file()).or(Some(first))
    }

    /// The lowest folder above a file that is served at a known place.
    fn above(&self, file: &Path) -> Option<(&PathBuf, &Base)> {
        let mut folders = file.ancestors().skip(1);
        folders.find_map(|folder| self.0.get_key_value(folder))
    }
}

/// Where a folder may be served.
#[derive(Debug)]
struct Guess {
    below: PathBuf,
    base: Base,
    /// How many of the sitemaps that the index lists are there then.
    found: usize,
}

impl Guess {
    /// Where most of the sitemaps that an index lists are there: in its folder or one above it, under an end of their path. Of
    /// places that are equally good it is the one where the fewest folders are guessed.
    fn of(root: &Path, index: &Path, children: impl Iterator<Item = Loc>) -> Option<Self> {
        let children: BTreeSet<Loc> = children.take(MAX_TRIES).map(without_query).collect();
        let mut guesses: BTreeMap<(&Path, Loc), Self> = BTreeMap::new();
        for child in &children {
            let Some(path) = path_of(child) else {
                continue;
            };
            for below in index.ancestors().skip(1) {
                let mut rest = path.components();
                while rest.clone().next().is_some() {
                    let end = rest.as_path();
                    let file = below.join(end);
                    let is_whole = end == path;
                    rest.next();
                    // An index is no part of itself, unless it lists nothing else.
                    if file == index && !(is_whole && children.len() == 1)
                        || !root.join(&file).is_file()
                    {
                        continue;
                    }
                    if let Some(base) = Base::of_file(child, end) {
                        let key = (below, base.loc().clone());
                        let guess = guesses.entry(key).or_insert_with(|| Self {
                            below: below.to_owned(),
                            base,
                            found: 0,
                        });
                        guess.found += 1;
                    }
                }
            }
        }
        guesses.into_values().min_by_key(|guess| {
            (
                Reverse(guess.found),
                guess.base.loc().as_str().len(),
                Reverse(guess.below.components().count()),
            )
        })
    }
}

/// The path of a URL as that of a file.
fn path_of(loc: &Loc) -> Option<PathBuf> {
    let origin = Base::directory(&Loc::parse(loc.origin()).ok()?).ok()?;
    origin.relative(loc)
}

/// A URL without its query, which says nothing to a server of files.
fn without_query(loc: Loc) -> Loc {
    let path = loc.as_str().split('?').next().unwrap_or_default();
    Loc::parse(path).unwrap_or(loc)
}
