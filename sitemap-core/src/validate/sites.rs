//! Which sitemaps of each site need an index, or miss in the one that it has: no index may list those of another site (R31, R37).

use std::collections::{BTreeMap, HashMap};

use super::{
    DocumentId, Problem, Site,
    set::{Remembered, Set, fingerprint_of},
};
use crate::{
    Loc,
    read::{Kind, Position},
};

/// What was found: the problem, its document and its place.
type Problems = Vec<(Option<DocumentId>, Option<Position>, Problem)>;

impl Set {
    /// Of a whole folder: which sitemaps of each site need an index, or miss in it.
    pub(super) fn conclude_whole(
        &self,
        listed: &HashMap<u64, DocumentId>,
        named: &BTreeMap<Loc, Loc>,
        problems: &mut Problems,
    ) {
        let sites = self.sites();
        let is_only = sites.len() == 1;
        for (origin, ids) in sites {
            let documents: Vec<&Remembered> = ids.iter().map(|id| &self.documents[id.0]).collect();
            if !has_index(&documents) {
                let site = (!is_only).then(|| Site {
                    robots: None,
                    origin: origin.into(),
                });
                tell_no_index(&documents, site, problems);
                continue;
            }
            let unlisted = ids.iter().zip(&documents).filter(|(_, document)| {
                let is_named = document.place.as_ref().is_some_and(|place| {
                    listed.contains_key(&fingerprint_of(place)) || named.contains_key(place)
                });
                !is_named && document.listed_by.is_none()
            });
            let has_urlset = has_urlset(&documents);
            for (id, _) in unlisted.filter(|(_, document)| is_sitemap(document, has_urlset)) {
                problems.push((Some(*id), None, Problem::Unlisted));
            }
        }
    }

    /// The documents of each site. One that does not say of which it is, as nothing in it can be read, is of the only one; of several,
    /// if all have an index, it is of any.
    fn sites(&self) -> BTreeMap<&str, Vec<DocumentId>> {
        let mut sites: BTreeMap<&str, Vec<DocumentId>> = BTreeMap::new();
        let mut silent = Vec::new();
        for (number, document) in self.documents.iter().enumerate() {
            match document.site.as_deref() {
                _ if document.kind.is_none() => {}
                Some(site) => sites.entry(site).or_default().push(DocumentId(number)),
                None => silent.push(DocumentId(number)),
            }
        }
        if silent.is_empty() {
            return sites;
        }
        if sites.is_empty() {
            return BTreeMap::from([("", silent)]);
        }
        let is_index = |id: &DocumentId| self.kind(*id) == Some(Kind::Index);
        if (sites.len() == 1 || sites.values().all(|ids| ids.iter().any(is_index)))
            && let Some(mut any) = sites.first_entry()
        {
            any.get_mut().extend(silent);
            any.get_mut().sort_unstable();
        }
        sites
    }

    /// Of parts of sites: whether the sitemaps of each need an index, those that its robots.txt names, on each host by themselves.
    pub(super) fn conclude_named(&self, named: &BTreeMap<Loc, Loc>, problems: &mut Problems) {
        let mut sites: BTreeMap<(&Loc, &str), Vec<&Remembered>> = BTreeMap::new();
        for (sitemap, robots) in named {
            let site = sites.entry((robots, sitemap.origin())).or_default();
            if let Some(id) = self.at(fingerprint_of(sitemap)) {
                site.push(&self.documents[id.0]);
            }
        }
        let is_only = sites.len() == 1;
        for ((robots, origin), documents) in sites {
            let site = (!is_only).then(|| Site {
                robots: Some(robots.clone()),
                origin: origin.into(),
            });
            if !has_index(&documents) {
                tell_no_index(&documents, site, problems);
            }
        }
    }
}

/// Tells that the documents of a site, of which none is an index, need one; `site` is nothing where there is only one.
fn tell_no_index(documents: &[&Remembered], site: Option<Site>, problems: &mut Problems) {
    let has_urlset = has_urlset(documents);
    let sitemaps = documents
        .iter()
        .filter(|document| is_sitemap(document, has_urlset));
    let count = sitemaps.count();
    if count > 1 {
        problems.push((None, None, Problem::NoIndex { count, site }));
    }
}

/// Whether a document lists all pages of its kind: an index and a feed do not.
fn is_sitemap(document: &Remembered, has_urlset: bool) -> bool {
    document.kind.is_some_and(|kind| match kind {
        Kind::UrlSet => true,
        // Beside sitemaps it is another form of the same list.
        Kind::Text => !has_urlset,
        Kind::Index | Kind::Rss | Kind::Atom => false,
    })
}

fn has_urlset(documents: &[&Remembered]) -> bool {
    documents
        .iter()
        .any(|document| document.kind == Some(Kind::UrlSet))
}

fn has_index(documents: &[&Remembered]) -> bool {
    documents
        .iter()
        .any(|document| document.kind == Some(Kind::Index))
}
