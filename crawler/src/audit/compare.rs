//! The comparison of the named URLs with the rows of the state: three passes, over the named URLs for those whose links matter, over
//! the links, and over both for the findings.

use std::collections::{HashMap, HashSet};

use super::{
    ANSWERED, Audit, AuditError, AuditFinding, AuditKind, AuditOutcome, FEED, MAX_SHOWN,
    MIN_MISSING, MISSING, SITEMAP, finding::AuditGroups,
};
use crate::{
    crawl_state,
    page::{Canonical, ListingFault, Mark, PageRecord, Reason, State},
    site_report::{ReportError, walk},
    store::{LinkReader, ListsOf, SpooledValues, Store, StoreError},
    url_key::UrlKey,
    verdict::Judge,
};

/// The finding on a URL with this fault in a sitemap.
fn in_sitemap(fault: ListingFault) -> AuditKind {
    match fault {
        ListingFault::Dead => AuditKind::SitemapDead,
        ListingFault::Failing => AuditKind::SitemapFailing,
        ListingFault::Redirect => AuditKind::SitemapRedirect,
        ListingFault::Noindex => AuditKind::SitemapNoindex,
        ListingFault::Canonical => AuditKind::SitemapCanonical,
        ListingFault::Robots => AuditKind::SitemapRobots,
        ListingFault::LeftOut => AuditKind::SitemapLeftOut,
    }
}

/// A feed lists what is new, whatever a crawl makes of it.
fn in_feed(fault: ListingFault) -> Option<AuditKind> {
    Some(match fault {
        ListingFault::Dead => AuditKind::FeedDead,
        ListingFault::Failing => AuditKind::FeedFailing,
        ListingFault::Redirect => AuditKind::FeedRedirect,
        ListingFault::Noindex => AuditKind::FeedNoindex,
        ListingFault::Canonical => AuditKind::FeedCanonical,
        ListingFault::Robots => AuditKind::FeedRobots,
        ListingFault::LeftOut => return None,
    })
}

/// The fact that shows the fault.
fn detail_of(fault: ListingFault, record: &PageRecord) -> Option<String> {
    let facts = record.facts();
    let status = facts.map(|facts| format!("status {}", facts.status));
    match fault {
        ListingFault::Dead => status,
        ListingFault::Failing => record.error().map(str::to_owned).or(status),
        ListingFault::Redirect => {
            let refresh = facts.and_then(|facts| facts.refresh.as_ref());
            let refresh = refresh.map(|refresh| &refresh.target);
            let target = facts.and_then(|facts| facts.location.as_ref());
            target.or(refresh).map(|target| format!("to {target}"))
        }
        ListingFault::Canonical => facts.and_then(|facts| match &facts.canonical {
            Canonical::Other(other) => Some(other.to_string()),
            Canonical::Absent | Canonical::Itself | Canonical::Conflicting => None,
        }),
        ListingFault::LeftOut => Some(record.reason.text().to_owned()),
        ListingFault::Noindex | ListingFault::Robots => None,
    }
}

impl Audit<'_, '_> {
    /// Compares what was read with the state. Of one kind of finding the first `max_shown`, and at most [`MAX_SHOWN`], are shown.
    ///
    /// # Errors
    /// The state or the temporary file cannot be read, or a setting contradicts the site.
    pub fn finish(mut self, max_shown: u64) -> Result<AuditOutcome, AuditError> {
        let is_published = crawl_state::has_pages(self.of.store)?;
        let linked = if is_published {
            self.linked()?
        } else {
            HashMap::new()
        };
        let of = self.of;
        let known = crawl_state::rules_at_rest(of.store)?;
        let judge = known.judge(of.config, of.site, of.clock)?;
        let max_shown = usize::try_from(max_shown.min(MAX_SHOWN)).unwrap_or(usize::MAX);
        let mut findings = NamedFindings {
            documents: &self.documents.names,
            judge: &judge,
            linked: is_published.then_some(&linked),
            groups: AuditGroups::new(max_shown),
        };
        self.named.each(&mut |url, values| {
            self.outcome.sitemap_urls += u64::from(values.number(SITEMAP).is_some());
            self.outcome.feed_urls += u64::from(values.number(FEED).is_some());
            if let Ok(key) = UrlKey::from_normalised(url) {
                findings.named(&key, values, record_of(of.store, &key)?.as_ref());
            }
            Ok(())
        })?;
        // An unread sitemap may list any page.
        let is_complete = self.outcome.sitemap_urls > 0 && self.outcome.unread.is_empty();
        let walked = walk(of.store, is_published, &mut |key, _, record| {
            self.outcome.known += 1;
            let is_listed = record.reason.state() == State::Listed;
            self.outcome.listed += u64::from(is_listed);
            if is_complete
                && is_listed
                && !record.reason.has(Mark::Broken)
                && !self.named.has(key.as_str(), SITEMAP)?
            {
                findings.add(AuditKind::NotInSitemap, key, None, None, 0);
            }
            Ok(())
        });
        walked.map_err(store_error)?;
        self.outcome.groups = findings.groups.finish();
        Ok(self.outcome)
    }

    /// URLs for which it matters whether a page links to them, with the first page that does, by fingerprint.
    fn linked(&self) -> Result<HashMap<u64, UrlKey>, StoreError> {
        let store = self.of.store;
        let mut wanted: HashSet<u64> = HashSet::new();
        self.named.each(&mut |url, values| {
            if let Ok(key) = UrlKey::from_normalised(url) {
                let is_candidate = || -> Result<bool, StoreError> {
                    let record = record_of(store, &key)?;
                    Ok(record.is_some_and(|record| record.via.is_seed()))
                };
                let is_missing = values.number(MISSING) >= Some(MIN_MISSING);
                if is_missing || values.number(SITEMAP).is_some() && is_candidate()? {
                    wanted.insert(key.fingerprint());
                }
            }
            Ok(())
        })?;
        let mut linked = HashMap::new();
        let mut reader = LinkReader::default();
        let walked = walk(store, true, &mut |page, _, record| {
            if wanted.is_empty() || record.facts().is_none() {
                return Ok(());
            }
            let links = store.lists(page, ListsOf::Page)?.links;
            let is_wanted = |link| wanted.contains(&link) && link != page.fingerprint();
            for target in reader.keys_where(links, is_wanted)? {
                wanted.remove(&target.fingerprint());
                linked.insert(target.fingerprint(), page.clone());
            }
            Ok(())
        });
        walked.map_err(store_error)?;
        Ok(linked)
    }
}

/// The published data on a URL, or else the data of the crawl under way.
fn record_of(store: &Store, key: &UrlKey) -> Result<Option<PageRecord>, StoreError> {
    let (page, visit) = store.rows(key)?;
    let published = page.map(|page| page.record);
    Ok(published.or(visit.map(|visit| visit.record)))
}

fn store_error(error: ReportError<StoreError>) -> StoreError {
    match error {
        ReportError::Store(error) | ReportError::Refused(error) => error,
    }
}

/// The findings so far.
struct NamedFindings<'f> {
    documents: &'f [String],
    judge: &'f Judge,
    /// `None`: the links of the crawl are not known.
    linked: Option<&'f HashMap<u64, UrlKey>>,
    groups: AuditGroups,
}

impl NamedFindings<'_> {
    /// Adds what is wrong with a URL that a source names.
    fn named(&mut self, key: &UrlKey, values: &SpooledValues, record: Option<&PageRecord>) {
        let [sitemap, feed] = [SITEMAP, FEED].map(|kind| values.number(kind));
        let [answered, missing] = [ANSWERED, MISSING].map(|kind| values.number(kind).unwrap_or(0));
        let before = self.judge.before_fetch(key, 0);
        let reason = record.map(|record| record.reason).or(before);
        let fault = reason.and_then(Reason::listing_fault);
        let detail = || fault.and_then(|fault| detail_of(fault, record?));
        let is_unknown = record.is_none() && matches!(before, None | Some(Reason::Queued));
        if sitemap.is_some() {
            if let Some(fault) = fault {
                self.add(in_sitemap(fault), key, sitemap, detail(), 0);
            } else if is_unknown {
                let outside = || format!("it is outside of {}", self.judge.place());
                let detail = before.is_none().then(outside);
                self.add(AuditKind::SitemapUnknown, key, sitemap, detail, 0);
            } else if self.is_orphan(key, record) {
                self.add(AuditKind::SitemapOrphan, key, sitemap, None, 0);
            }
        }
        if feed.is_some() {
            if let Some(kind) = fault.and_then(in_feed) {
                self.add(kind, key, feed, detail(), 0);
            } else if is_unknown && before.is_some() {
                self.add(AuditKind::FeedUnknown, key, feed, None, 0);
            }
        }
        let is_named = sitemap.is_some() || feed.is_some();
        if answered > 0 && is_unknown && before.is_some() && !is_named {
            let detail = requests(answered, "200");
            self.add(AuditKind::LogUnknown, key, None, Some(detail), answered);
        }
        let is_alive = reason.is_some_and(|reason| {
            record.is_some() && reason.state() == State::Listed && !reason.has(Mark::Broken)
        });
        if missing >= MIN_MISSING && !is_alive {
            let mut detail = requests(missing, "404 or 410");
            let page = self
                .linked
                .and_then(|linked| linked.get(&key.fingerprint()));
            if let Some(page) = page {
                detail = format!("{detail}; {page} links to it");
            }
            self.add(AuditKind::LogDead, key, None, Some(detail), missing);
        }
    }

    /// Returns whether a URL is listed, was found in a sitemap, feed or list, and no page links to it.
    fn is_orphan(&self, key: &UrlKey, record: Option<&PageRecord>) -> bool {
        let is_seed = record
            .is_some_and(|record| record.via.is_seed() && record.reason.state() == State::Listed);
        let linked = self.linked.filter(|_| is_seed);
        linked.is_some_and(|linked| !linked.contains_key(&key.fingerprint()))
    }

    fn add(
        &mut self,
        kind: AuditKind,
        url: &UrlKey,
        document: Option<u64>,
        detail: Option<String>,
        requests: u64,
    ) {
        let name = document.and_then(|number| self.documents.get(usize::try_from(number).ok()?));
        self.groups.add(AuditFinding {
            kind,
            url: url.to_string(),
            named_by: name.cloned(),
            message: match detail {
                Some(detail) => format!("{}: {detail}", kind.title()),
                None => kind.title().to_owned(),
            },
            requests,
        });
    }
}

fn requests(count: u64, status: &str) -> String {
    let noun = if count == 1 { "request" } else { "requests" };
    format!("{count} {noun} answered {status}")
}
