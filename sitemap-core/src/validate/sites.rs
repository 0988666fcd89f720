//! Sitemaps that need an index, or miss in the one that their site has: no index may list those of another site (R31, R37).

use std::collections::{BTreeMap, HashMap};

use super::{
    DocumentId, Problem, Site,
    fingerprint::fingerprint_of,
    set::{Remembered, Set},
};
use crate::{
    Loc,
    read::{Kind, Position},
};

/// Problems, each with its document and position.
type Problems = Vec<(Option<DocumentId>, Option<Position>, Problem)>;

impl Set {
    /// Of a whole folder, which is of one site: whether its sitemaps need an index, or miss in the one that they have. A sitemap
    /// whose place is not known may be listed.
    pub(super) fn conclude_whole(
        &self,
        listed: &HashMap<u64, DocumentId>,
        named: &BTreeMap<Loc, Loc>,
        problems: &mut Problems,
    ) {
        let documents: Vec<&Remembered> = self.documents.iter().collect();
        if !has_index(&documents) {
            report_no_index(&documents, None, problems);
            return;
        }
        let has_urlset = has_urlset(&documents);
        for (number, document) in documents.into_iter().enumerate() {
            let is_unlisted = document.listed_by.is_none()
                && document.place.as_ref().is_some_and(|place| {
                    !listed.contains_key(&fingerprint_of(place)) && !named.contains_key(place)
                });
            if is_unlisted && is_sitemap(document, has_urlset) {
                problems.push((Some(DocumentId(number)), None, Problem::Unlisted));
            }
        }
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
                robots: robots.clone(),
                origin: origin.into(),
            });
            if !has_index(&documents) {
                report_no_index(&documents, site, problems);
            }
        }
    }
}

/// Reports that the documents of a site without an index need one; `site` is `None` when there is only one.
fn report_no_index(documents: &[&Remembered], site: Option<Site>, problems: &mut Problems) {
    let has_urlset = has_urlset(documents);
    let sitemaps = documents
        .iter()
        .filter(|document| is_sitemap(document, has_urlset));
    let count = sitemaps.count();
    if count > 1 {
        problems.push((None, None, Problem::NoIndex { count, site }));
    }
}

/// Returns whether a document lists all pages of its kind: an index and a feed do not.
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
