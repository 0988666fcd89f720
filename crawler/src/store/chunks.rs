//! A walk over the records of a run with writes in between: the store cannot be changed while it is
//! read, and what is to be written must not grow with the site.

use std::ops::ControlFlow;

use super::{LedgerEntry, Store, StoreError};
use crate::{
    page::{PageRecord, RunId},
    url_key::UrlKey,
};

/// Records looked at between two writes.
const CHUNK: usize = 8_192;

/// Looks at every record of `run` in key order, and after every few thousand lets `write` store what
/// was gathered from them. What is written must not make a record of the run leave it.
///
/// # Errors
/// The store failed, or `look` or `write` did; what earlier chunks wrote stays.
pub(crate) fn change_in_chunks<T: Default>(
    store: &mut dyn Store,
    run: RunId,
    mut look: impl FnMut(
        &dyn Store,
        &UrlKey,
        PageRecord,
        Option<LedgerEntry>,
        &mut T,
    ) -> Result<(), StoreError>,
    mut write: impl FnMut(&mut dyn Store, T) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut from: Option<UrlKey> = None;
    loop {
        let mut gathered = T::default();
        let mut left = CHUNK;
        let mut next = None;
        let mut looked = Ok(());
        let reader: &dyn Store = store;
        reader.visit_pages_with_ledger(run, from.as_ref(), &mut |key, record, known| {
            if left == 0 {
                next = Some(key.clone());
                return ControlFlow::Break(());
            }
            left -= 1;
            looked = look(reader, key, record, known, &mut gathered);
            match looked {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        })?;
        looked?;
        write(store, gathered)?;
        match next {
            Some(key) => from = Some(key),
            None => return Ok(()),
        }
    }
}
