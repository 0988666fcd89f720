//! The published sitemap that lists a URL.

use std::{fs::File, io::BufReader, path::Path};

use sitemap_core::{
    Loc,
    read::{Item, Reader},
    validate::READING_LIMITS,
};

use crate::{
    publish::{published_files, published_set},
    site::Site,
    store::{Store, StoreError},
    url_key::UrlKey,
};

/// The path of the file that lists `url`; `None`: none of the files that can be read does.
pub(super) fn holding(
    store: &Store,
    site: &Site,
    url: &UrlKey,
) -> Result<Option<String>, StoreError> {
    let Some(set) = published_set(store)? else {
        return Ok(None);
    };
    let written = site.written_key(url).unwrap_or_else(|| url.clone());
    let Ok(loc) = Loc::parse(written.as_str()) else {
        return Ok(None);
    };
    let files = published_files(Path::new(&set.output)).unwrap_or_default();
    let file = files.into_iter().find(|file| lists(&file.path, &loc));
    Ok(file.map(|file| file.path.display().to_string()))
}

/// Returns whether a sitemap lists `loc`; not, when it cannot be read.
fn lists(path: &Path, loc: &Loc) -> bool {
    let Ok(file) = File::open(path) else {
        return false;
    };
    let reader = Reader::new(BufReader::new(file), READING_LIMITS);
    for item in reader {
        match item {
            Ok(Item::Url(entry)) if entry.loc == *loc => return true,
            Err(error) if error.is_fatal() => return false,
            Ok(Item::Url(_) | Item::Sitemap(_)) | Err(_) => {}
        }
    }
    false
}
