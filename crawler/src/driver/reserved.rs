//! The places that each site writes to: no two sites of a program write to one place.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, Weak},
};

use super::settings::{SiteSettings, settled};
use crate::{failure::Misuse, site::Site, url_key::UrlKey};

/// The sites by the places that they write to, as it turned out: two start URLs may redirect to one site, which only shows when they
/// are asked. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct ReservedPlaces {
    /// Held by sites that are still in the settings.
    taken: Arc<Mutex<BTreeMap<PathBuf, Weak<SiteSettings>>>>,
}

impl ReservedPlaces {
    /// `site`, which `configured` turned out to be, writes to `paths`.
    ///
    /// # Errors
    /// Another site writes there.
    pub(super) fn reserve(
        &self,
        configured: &Arc<SiteSettings>,
        site: &Site,
        paths: [&Path; 2],
    ) -> Result<(), Misuse> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.retain(|_, holder| holder.strong_count() > 0);
        let paths = paths.map(settled);
        for path in &paths {
            if let Some(other) = other_holder(&taken, path, configured) {
                return Err(already_taken(&configured.start, site, &other.start, path));
            }
        }
        for path in paths {
            taken.insert(path, Arc::downgrade(configured));
        }
        Ok(())
    }

    /// Returns true if another site than `configured` writes to `path`.
    pub(super) fn is_of_another(&self, configured: &SiteSettings, path: &Path) -> bool {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        other_holder(&taken, &settled(path), configured).is_some()
    }
}

/// The site that writes to `path`, if it is another one than `configured`. Settings that were read again have the same
/// sites again, while sessions under way may have the earlier ones.
fn other_holder(
    taken: &BTreeMap<PathBuf, Weak<SiteSettings>>,
    path: &Path,
    configured: &SiteSettings,
) -> Option<Arc<SiteSettings>> {
    let holder = taken.get(path).and_then(Weak::upgrade);
    holder.filter(|holder| holder.start != configured.start)
}

fn already_taken(start: &UrlKey, site: &Site, other: &UrlKey, path: &Path) -> Misuse {
    Misuse(format!(
        "{start} leads to the site {}, which writes to {}, where {other} already writes; expected each site once, \
         with its own folders",
        site.url(),
        path.display()
    ))
}
