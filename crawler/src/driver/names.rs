//! Names of sites: start URLs as they were typed, each with the site that its redirects led to last. A small file in the
//! folder of the states. A crawl notes here what it learns; every command that takes a URL asks here which site it means.

use std::{
    collections::HashMap,
    io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::settings::SessionSettings as Settings;
use crate::{
    config::ScopeWidth,
    failure::{self, Misuse},
    machine::json_file,
    site::{Site, settle_so_far},
    store::StoreError,
    url_key::UrlKey,
};

/// The file in the folder of the states.
const FILE: &str = "names.json";

/// The file of the names in the folder `state`.
pub fn names_file_in(state: &Path) -> PathBuf {
    state.join(FILE)
}

/// Names that are remembered; those that were learnt first are forgotten first.
const MAX_NAMES: usize = 10_000;

/// Largest file that is read, in bytes: a name takes three URLs.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// A start URL as it was typed, and where it led.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct StoredName {
    typed: String,
    /// The URL of the site.
    site: String,
    /// URL at which its crawl begins.
    start: String,
}

/// The site that a start URL means.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "it is a pair")]
pub struct Named {
    /// The site.
    pub site: Site,
    /// The URL is a name of the site: the site's own URL, or a start URL that led to it.
    pub is_known: bool,
}

impl Named {
    /// The site of a start URL that never led to a site, as far as the URL itself shows it.
    pub fn as_typed(settings: &Settings, typed: &UrlKey) -> Self {
        let site = settle_so_far(typed, &[], settings.config.scope.width);
        let is_known = site.url() == typed.as_str();
        Self { site, is_known }
    }
}

/// The start URLs whose sites a folder of states knows.
#[derive(Debug, Default)]
pub struct Names(HashMap<String, StoredName>);

impl Names {
    /// Those in the folder `state`.
    ///
    /// # Errors
    /// The file of names cannot be read.
    pub fn read(state: &Path) -> Result<Self, StoreError> {
        let names = read(state).map_err(|error| {
            let path = state.join(FILE).display().to_string();
            let message = format!(
                "failed to read {path}, the list of start URLs and their sites; if the file is damaged, the next crawl \
                 writes it again"
            );
            StoreError::of_io(message, error)
        })?;
        // Of two of one URL the first is the newer one.
        let names = names.into_iter().rev();
        Ok(Self(names.map(|name| (name.typed.clone(), name)).collect()))
    }

    /// The site that `typed` led to last; otherwise the one of the URL as it was typed.
    pub fn site_of(&self, settings: &Settings, typed: &UrlKey) -> Named {
        let mut as_typed = Named::as_typed(settings, typed);
        let name = self.0.get(typed.as_str());
        let keys =
            name.map(|name| [&name.site, &name.start].map(|url| UrlKey::from_normalised(url)));
        if let Some([Ok(directory), Ok(start)]) = keys {
            as_typed.is_known = true;
            as_typed.site.origin = directory.origin();
            as_typed.site.start = start;
            if settings.config.scope.width == ScopeWidth::Directory {
                directory.path().clone_into(&mut as_typed.site.directory);
            }
        }
        as_typed
    }
}

/// The site that `typed` led to last; otherwise the one of the URL as it was typed.
///
/// # Errors
/// The file of names cannot be read.
pub fn site_of_start(settings: &Settings, typed: &UrlKey) -> Result<Named, StoreError> {
    Ok(Names::read(&settings.state)?.site_of(settings, typed))
}

/// The site that the crawl of `typed` will be, as far as that is known before its first request, written as the settings
/// want it.
pub(super) fn foreseen(settings: &Settings, typed: &UrlKey) -> Site {
    // Commands that cannot do without the names report that they cannot be read.
    let named = site_of_start(settings, typed).unwrap_or_else(|_| Named::as_typed(settings, typed));
    let site = named.site;
    match &settings.config.written_as {
        Some(original) => site.clone().standing_for(original).unwrap_or(site),
        None => site,
    }
}

/// The site that `typed` means, written as the settings want it, and its state.
///
/// # Errors
/// It has no state, or cannot be written so; or what is known of names cannot be read.
pub fn find_state(settings: &Settings, typed: &UrlKey) -> failure::Result<(Site, PathBuf)> {
    let site = site_of_start(settings, typed)?.site;
    let path = settings.state_of(&site);
    if !path.is_file() {
        let folder = settings.state.display();
        let message = format!("there is no state of the site in {folder}; run arpent crawl first");
        return Err(Misuse(message).into());
    }
    let Some(original) = &settings.config.written_as else {
        return Ok((site, path));
    };
    let written = site.standing_for(original);
    let written = written.map_err(|error| Misuse(format!("publish_as: {error}")))?;
    Ok((written, path))
}

/// Remembers in the folder `state` that `typed` led to `site`; where it led before is forgotten.
///
/// # Errors
/// It cannot be written.
pub(super) fn remember(state: &Path, typed: &UrlKey, site: &Site) -> io::Result<()> {
    let name = StoredName {
        typed: typed.as_str().to_owned(),
        site: site.url(),
        start: site.start.as_str().to_owned(),
    };
    let is_own_url = name.typed == name.site && name.typed == name.start;
    change(state, |names| {
        if names.contains(&name) {
            return;
        }
        names.retain(|known| known.typed != name.typed);
        if !is_own_url {
            names.insert(0, name.clone());
            names.truncate(MAX_NAMES);
        }
    })
}

/// The start URLs that led to `site`, as far as they are not its own URL.
///
/// # Errors
/// They cannot be read.
pub fn names_of_site(state: &Path, site: &Site) -> io::Result<Vec<String>> {
    let url = site.url();
    let names = read(state)?.into_iter().filter(|name| name.site == url);
    Ok(names.map(|name| name.typed).collect())
}

/// Forgets the names of `site`.
///
/// # Errors
/// It cannot be written.
pub fn forget_names(state: &Path, site: &Site) -> io::Result<()> {
    let url = site.url();
    change(state, |names| names.retain(|name| name.site != url))
}

/// Names, the newest first.
fn read(state: &Path) -> io::Result<Vec<StoredName>> {
    let names = json_file::read(&state.join(FILE), MAX_BYTES)?;
    Ok(names.unwrap_or_default())
}

/// Writes the names as `edit` leaves them, unless that changes nothing. Those of a damaged file are learnt again.
fn change(state: &Path, edit: impl Fn(&mut Vec<StoredName>)) -> io::Result<()> {
    let edited = || {
        let before = match read(state) {
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof
                ) =>
            {
                None
            }
            read => Some(read?),
        };
        let mut names = before.clone().unwrap_or_default();
        edit(&mut names);
        io::Result::Ok((before.as_ref() != Some(&names)).then_some(names))
    };
    if edited()?.is_none() {
        return Ok(());
    }
    let _lock = json_file::lock(&state.join(FILE))?;
    match edited()? {
        Some(names) => json_file::write(&state.join(FILE), &names),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn key(url: &str) -> UrlKey {
        UrlKey::from_normalised(url).unwrap()
    }

    /// The site that each start URL is a name of.
    fn known(state: &Path) -> Vec<(String, String)> {
        let names = read(state).unwrap().into_iter();
        names.map(|name| (name.typed, name.site)).collect()
    }

    #[test]
    fn the_newest_crawl_decides_what_a_name_means() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path();
        let learn = |typed: &str, hops: &[&str]| {
            let hops: Vec<_> = hops.iter().map(|hop| key(hop)).collect();
            let site = settle_so_far(&key(typed), &hops, ScopeWidth::Directory);
            remember(state, &key(typed), &site).unwrap();
            site
        };
        learn("https://h.example/", &[]);
        assert_eq!(fs::read_dir(state).unwrap().count(), 0, "nothing to know");
        let name = |typed: &str, site: &str| (typed.to_owned(), site.to_owned());
        let blog = name("https://h.example/blog", "https://h.example/blog/");
        learn(&blog.0, &[&blog.1]);
        let www = learn("http://h.example/", &["https://www.h.example/"]);
        let moved = name("http://h.example/", "https://www.h.example/");
        assert_eq!(known(state), [moved.clone(), blog.clone()]);
        assert_eq!(names_of_site(state, &www).unwrap(), [moved.0]);
        // Its redirect leads elsewhere, and then nowhere.
        learn("http://h.example/", &["https://h.example/"]);
        assert_eq!(known(state)[0].1, "https://h.example/");
        learn("http://h.example/", &[]);
        assert_eq!(known(state), std::slice::from_ref(&blog));
        // Damaged names are learnt again.
        fs::write(state.join(FILE), "[{").unwrap();
        read(state).unwrap_err();
        let site = learn(&blog.0, &[&blog.1]);
        assert_eq!(known(state), [blog]);
        forget_names(state, &site).unwrap();
        assert_eq!(known(state), []);
    }
}
