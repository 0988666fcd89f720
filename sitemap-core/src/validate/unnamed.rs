//! Indexes that a robots.txt does not name although it names others of its site: consumers do not find their sitemaps (R34).

use std::collections::{BTreeMap, HashSet};

use super::{DocumentId, Problem, fingerprint::fingerprint_of, place::Proofs, set::Set};
use crate::{
    Loc,
    read::{Kind, Position},
};

impl Set {
    /// Indexes that the robots.txt of their origin does not name although it names others beside them. An index needs no line
    /// when another index lists it, when its sitemaps are all found otherwise, or when it serves another host. A robots.txt that
    /// names no index is not reported: its indexes are announced in another way.
    pub(super) fn conclude_unnamed(
        &self,
        proofs: &Proofs,
        problems: &mut Vec<(Option<DocumentId>, Option<Position>, Problem)>,
    ) {
        let mut by_origin: BTreeMap<&str, Vec<(DocumentId, &Loc)>> = BTreeMap::new();
        let nested = self.nested();
        for (number, document) in self.documents.iter().enumerate() {
            let id = DocumentId(number);
            if let Some(place) = &document.place
                && document.kind == Some(Kind::Index)
                && !nested.contains(&id)
                && !self.is_for_other_hosts(id)
                && !proofs.are_for_others(&self.route(id))
            {
                by_origin
                    .entry(place.origin())
                    .or_default()
                    .push((id, place));
            }
        }
        for (origin, indexes) in by_origin {
            let Some((robots, named)) = proofs.named_by(origin) else {
                continue;
            };
            let is_named = |id: DocumentId| {
                let mut places = self.documents[id.index()].places();
                places.any(|place| named.contains(&fingerprint_of(place)))
            };
            let (known, forgotten): (Vec<_>, Vec<_>) =
                indexes.into_iter().partition(|&(id, _)| is_named(id));
            if known.is_empty() || forgotten.is_empty() {
                continue;
            }
            let mut found = named.clone();
            for (id, _) in known {
                found.extend(self.listings_of(id).map(|listing| listing.child));
            }
            for (id, index) in forgotten {
                if self
                    .listings_of(id)
                    .any(|listing| !found.contains(&listing.child))
                {
                    let (robots, index) = (robots.clone(), index.clone());
                    problems.push((Some(id), None, Problem::UnnamedIndex { robots, index }));
                }
            }
        }
    }

    /// Documents that an index other than themselves lists.
    fn nested(&self) -> HashSet<DocumentId> {
        let listed = self.listings.iter();
        let listed = listed.filter_map(|listing| {
            let child = self.at(listing.child)?;
            (child != listing.index).then_some(child)
        });
        listed.collect()
    }
}
