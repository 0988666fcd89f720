//! [`Guess`]: where a folder is served by one of its indexes. It looks which files there are, and reads none.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use sitemap_core::Loc;

use super::{bases::without_query, places::Base};

/// How many sitemaps of an index are tried to find out where it is served; in sets that real sites publish the first few agree.
const MAX_TRIES: usize = 1_000;

/// Where a folder may be served.
#[derive(Debug)]
pub(super) struct Guess {
    /// The folder, relative to the one that is checked.
    pub(super) below: PathBuf,
    pub(super) base: Base,
    /// How many of the sitemaps that the index lists are there then.
    pub(super) found: usize,
}

impl Guess {
    /// Where most of the sitemaps that an index lists are there: in its folder or one above it, under an end of their path. Of
    /// places that are equally good it is the one where the fewest folders are guessed.
    pub(super) fn of(root: &Path, index: &Path, children: &[Loc]) -> Option<Self> {
        let children: BTreeSet<Loc> = children.iter().take(MAX_TRIES).map(without_query).collect();
        let mut guesses: BTreeMap<(&Path, Loc), Self> = BTreeMap::new();
        for child in &children {
            for (below, base) in candidates(root, index, child, children.len() == 1) {
                let key = (below, base.loc().clone());
                let guess = guesses.entry(key).or_insert_with(|| Self {
                    below: below.to_owned(),
                    base,
                    found: 0,
                });
                guess.found += 1;
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

/// The folders, and where they are served, by which a sitemap that an index lists is there.
fn candidates<'i>(
    root: &Path,
    index: &'i Path,
    child: &Loc,
    is_only: bool,
) -> Vec<(&'i Path, Base)> {
    let mut candidates = Vec::new();
    let Some(path) = path_of(child) else {
        return candidates;
    };
    for below in index.ancestors().skip(1) {
        let mut rest = path.components();
        while rest.clone().next().is_some() {
            let end = rest.as_path();
            let file = below.join(end);
            // An index is no part of itself, unless it lists nothing else.
            let may_be = file != index || (end == path && is_only);
            rest.next();
            if may_be
                && root.join(&file).is_file()
                && let Some(base) = Base::of_file(child, end)
            {
                candidates.push((below, base));
            }
        }
    }
    candidates
}

/// The path of a URL as that of a file.
fn path_of(loc: &Loc) -> Option<PathBuf> {
    let origin = Base::directory(&Loc::parse(loc.origin()).ok()?).ok()?;
    origin.relative(loc)
}
