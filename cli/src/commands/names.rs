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
    of_file.map_or(&settings.shared.session, |site| &*site.settings)
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
    let above = directories_of(url)
        .into_iter()
        .map(|directory| (&settings.shared.session, directory));
    let mut best: Option<(&SessionSettings, (Site, PathBuf))> = None;
    for (settings, start) in of_file.chain(above) {
        let (site, path) = match find_state(settings, &start) {
            Ok(found) => found,
            Err(error) if error.cause() == Cause::Misuse => continue,
            Err(error) => return Err(error),
        };
        let is_deeper = |best: &Site| site.directory.len() > best.directory.len();
        let crawled = site.crawled_key(url);
        let covers = site.contains(url) || crawled.is_some_and(|url| site.contains(&url));
        if covers && best.as_ref().is_none_or(|(_, (best, _))| is_deeper(best)) {
            best = Some((settings, (site, path)));
        }
    }
    best.ok_or_else(|| {
        let folder = settings.shared.session.state.display();
        let message = format!(
            "{url} is in no site that was crawled with the states in {folder}; run arpent crawl {url} first, or see arpent status"
        );
        Misuse(message).into()
    })
}

/// The directories that a URL is in, the deepest first.
fn directories_of(url: &UrlKey) -> Vec<UrlKey> {
    let (origin, path) = (url.origin(), url.path());
    let urls = path
        .rmatch_indices('/')
        .map(|(slash, _)| format!("{origin}{}", &path[..=slash]));
    urls.filter_map(|url| UrlKey::from_normalised(&url).ok())
        .collect()
}
