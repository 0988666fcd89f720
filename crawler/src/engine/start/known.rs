//! What earlier runs know of the start page. It is asked before it is certain which site it belongs to, so its
//! validators come from a look at the state that it would belong to, without opening that; whether a 304 to them means
//! anything is found out when the state is open. The look is a guess: a wrong one costs a request, and decides nothing.

use std::sync::Arc;

use crate::{
    engine::{
        PeekStore,
        honesty::{Honesty, is_sample},
        judge::Judge,
        run::recrawl::says_all,
    },
    fetch::Validators,
    page::{PageFacts, PageRecord},
    runs::{self, OpenRun},
    site::Site,
    store::{EarlierAnswer, Store, StoreError},
    url_key::UrlKey,
};

/// Looks into states before they are opened.
#[derive(Clone)]
pub(in crate::engine) struct Peek {
    pub(in crate::engine) store: PeekStore,
    /// The settings that decide which run comes next ([`runs::next`]).
    pub(in crate::engine) identity: Arc<str>,
}

/// An answer of an earlier run that may still stand, and what to ask with whether it does.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::engine) struct Known {
    /// Without its links.
    pub(in crate::engine) facts: PageFacts,
    pub(in crate::engine) validators: Validators,
}

/// An earlier answer that the server says still stands, and the links that were taken from it.
#[derive(Debug)]
pub(in crate::engine) struct Standing {
    pub(in crate::engine) facts: PageFacts,
    pub(in crate::engine) links: Vec<UrlKey>,
}

/// A page that answered 304, and what it was asked with.
#[derive(Debug, Clone)]
pub(in crate::engine) struct Confirmation {
    pub(in crate::engine) url: UrlKey,
    pub(in crate::engine) validators: Validators,
    pub(in crate::engine) answer: PageFacts,
}

impl Peek {
    /// What `url` can be asked with if it turns out to be the start page of `site`, by the rules of `judge`; `None`
    /// when it has to be asked for as a whole, or nobody can tell now.
    pub(in crate::engine) async fn known(
        &self,
        site: &Site,
        judge: Judge,
        url: &UrlKey,
    ) -> Option<Known> {
        let (peek, site, url) = (self.clone(), site.clone(), url.clone());
        let look = tokio::task::spawn_blocking(move || {
            let mut known = None;
            (peek.store)(&site, &mut |store| {
                let found = runs::next(store, &peek.identity)
                    .and_then(|next| known_of(store, next, &judge, &url));
                match found {
                    Ok(found) => known = found,
                    // Whoever opens it in earnest tells of it.
                    Err(error) => tracing::debug!(target: "engine", "{error}"),
                }
            });
            known
        });
        let known = look.await;
        known.unwrap_or_else(|error| {
            tracing::error!(target: "engine", "internal error while looking into a state: {error}");
            None
        })
    }
}

/// What run `run` asks `url` with when it begins, and what it then asks about; `None`: it asks for the whole page. It is
/// the same before and after the run was opened.
fn known_of(
    store: &dyn Store,
    run: OpenRun,
    judge: &Judge,
    url: &UrlKey,
) -> Result<Option<Known>, StoreError> {
    if is_sample(url, run.number) || !Honesty::load(store, run.number)?.believes(url) {
        return Ok(None);
    }
    let facts = match store.page(url)? {
        Some(record) if run.resumed => last_answer(store, url, &record)?,
        Some(_) | None => store.facts_before(url)?,
    };
    Ok(facts.and_then(|facts| {
        let validators = judge.validators(&EarlierAnswer::of(&facts))?;
        Some(Known { facts, validators })
    }))
}

/// The last answer of `url`, of which `record` is known.
///
/// # Errors
/// The store cannot be read.
pub(in crate::engine) fn last_answer(
    store: &dyn Store,
    url: &UrlKey,
    record: &PageRecord,
) -> Result<Option<PageFacts>, StoreError> {
    match record.facts() {
        Some(facts) => Ok(Some(facts.clone())),
        None => store.earlier_facts(url),
    }
}

/// What `confirmation` confirms, now that the store is open and run `run` is known: `None` when the run would ask in
/// another way, because the look into the state was wrong, or when the answer leaves something open.
///
/// # Errors
/// The store cannot be read.
pub(in crate::engine) fn standing(
    store: &dyn Store,
    run: OpenRun,
    judge: &Judge,
    confirmation: &Confirmation,
) -> Result<Option<Standing>, StoreError> {
    let Confirmation {
        url,
        validators,
        answer,
    } = confirmation;
    let known = known_of(store, run, judge, url)?
        .filter(|known| known.validators == *validators && says_all(answer, &known.facts));
    let Some(Known { facts, .. }) = known else {
        return Ok(None);
    };
    let links = store.links(url)?.unwrap_or_default();
    Ok(Some(Standing { facts, links }))
}
