//! Sites of the settings, or of the folder of the states, that a URL on the command line means.

use std::path::PathBuf;

use crawler::{
    driver::{SessionSettings, find_state},
    site::Site,
    url_key::UrlKey,
};

use crate::{
    failure::{self, Cause, Misuse},
    settings::CrawlSettings,
};

/// The settings of the site that is crawled from `start`.
pub(super) fn settings_of<'a>(settings: &'a CrawlSettings, start: &UrlKey) -> &'a SessionSettings {
    let of_file = settings.sites.iter().find(|site| site.start == *start);
    of_file.map_or(&*settings.shared, |site| &*site.settings)
}

/// The crawled site with the deepest directory that `url` is in, with its settings and its state.
///
/// # Errors
/// No crawled site has this URL, which is a [`Misuse`]; or what is known of names cannot be read.
pub(super) fn covering<'a>(
    settings: &'a CrawlSettings,
    url: &UrlKey,
) -> failure::Result<(&'a SessionSettings, (Site, PathBuf))> {
    let of_file = settings
        .sites
        .iter()
        .map(|site| (&*site.settings, site.start.clone()));
    let above = directories_of(url).map(|directory| (&*settings.shared, directory));
    let mut best: Option<(&SessionSettings, (Site, PathBuf))> = None;
    for (settings, start) in of_file.chain(above) {
        let (site, path) = match find_state(settings, &start) {
            Ok(found) => found,
            Err(error) if error.cause() == Cause::Misuse => continue,
            Err(error) => return Err(error),
        };
        let is_deeper = |best: &Site| site.directory.len() > best.directory.len();
        let covers = site.contains(url) || site.crawled_key(url).is_some();
        if covers && best.as_ref().is_none_or(|(_, (best, _))| is_deeper(best)) {
            best = Some((settings, (site, path)));
        }
    }
    best.ok_or_else(|| {
        let folder = settings.shared.state.display();
        let message = format!(
            "{url}: no crawled site in {folder} has this URL; arpent status lists the sites"
        );
        Misuse(message).into()
    })
}

/// The directories that a URL is in, the deepest first.
fn directories_of(url: &UrlKey) -> impl Iterator<Item = UrlKey> {
    let path = url.path();
    let slashes: Vec<usize> = path.match_indices('/').map(|(at, _)| at).collect();
    let origin = url.origin();
    let urls = slashes
        .into_iter()
        .rev()
        .map(move |slash| format!("{origin}{}", &path[..=slash]));
    urls.filter_map(|url| UrlKey::from_normalised(&url).ok())
        .collect::<Vec<_>>()
        .into_iter()
}
