//! The first-level directories that fail, so that a broken part of a site neither holds up nor slows down the rest.

use std::collections::HashMap;

use crate::url_key::UrlKey;

/// Failures in a row after which a directory fails.
const FAILURES: u32 = 3;

/// Directories with failures that are kept in mind at most; further ones count as well.
const MAX_DIRECTORIES: usize = 1_024;

/// Directories that are given up at most.
const MAX_GIVEN_UP: usize = 1_024;

/// The directories whose last answer was a failure.
#[derive(Debug, Default)]
pub(super) struct Directories {
    /// Failures in a row; none is zero.
    failures: HashMap<Box<str>, u32>,
    given_up: Vec<Box<str>>,
    /// The pages in no directory are given up.
    is_root_given_up: bool,
    is_all_given_up: bool,
}

impl Directories {
    /// The first try of a URL failed; returns whether its directory fails now.
    pub(super) fn failed(&mut self, url: &UrlKey) -> bool {
        let Some(directory) = directory_of(url) else {
            return false;
        };
        if let Some(failures) = self.failures.get_mut(directory) {
            *failures = failures.saturating_add(1);
            return *failures >= FAILURES;
        }
        if self.failures.len() < MAX_DIRECTORIES {
            self.failures.insert(directory.into(), 1);
        }
        false
    }

    /// A URL was answered well, and so is its directory.
    pub(super) fn answered(&mut self, url: &UrlKey) {
        if let Some(directory) = directory_of(url) {
            self.failures.remove(directory);
        }
    }

    pub(super) fn is_failing(&self, url: &UrlKey) -> bool {
        directory_of(url)
            .and_then(|directory| self.failures.get(directory))
            .is_some_and(|failures| *failures >= FAILURES)
    }

    /// Gives up what fails; returns how many directories that are.
    pub(super) fn give_up_failing(&mut self) -> usize {
        let before = self.given_up.len();
        let failing = self.failures.iter();
        let failing = failing.filter(|(_, failures)| **failures >= FAILURES);
        let room = MAX_GIVEN_UP.saturating_sub(before);
        let new: Vec<Box<str>> = failing
            .map(|(directory, _)| directory.clone())
            .take(room)
            .collect();
        for directory in &new {
            self.failures.remove(directory);
        }
        self.given_up.extend(new);
        self.given_up.len() - before
    }

    /// Gives up the directories of these URLs; returns those that were not given up before.
    pub(super) fn give_up_of(&mut self, urls: &[UrlKey]) -> Vec<String> {
        let mut new = Vec::new();
        if !self.is_root_given_up && urls.iter().any(|url| directory_of(url).is_none()) {
            self.is_root_given_up = true;
            new.push("the pages in no directory".to_owned());
        }
        for directory in urls.iter().filter_map(directory_of) {
            let is_known = self.given_up.iter().any(|known| **known == *directory);
            if !is_known && self.given_up.len() < MAX_GIVEN_UP {
                self.failures.remove(directory);
                self.given_up.push(directory.into());
                new.push(format!("/{directory}/"));
            }
        }
        new
    }

    /// Gives up everything.
    pub(super) fn give_up_all(&mut self) {
        self.is_all_given_up = true;
    }

    /// The same of a document: those in no directory are the sitemaps of the site, and not pages.
    pub(super) fn is_document_given_up(&self, url: &UrlKey) -> bool {
        (self.is_all_given_up || directory_of(url).is_some()) && self.is_given_up(url)
    }

    pub(super) fn is_given_up(&self, url: &UrlKey) -> bool {
        let is = |directory: &str| self.given_up.iter().any(|known| **known == *directory);
        self.is_all_given_up
            || self.is_root_given_up && directory_of(url).is_none()
            || !self.given_up.is_empty() && directory_of(url).is_some_and(is)
    }
}

/// The first segment of the path of a URL below a first-level directory.
fn directory_of(url: &UrlKey) -> Option<&str> {
    let (first, _) = url.path().strip_prefix('/')?.split_once('/')?;
    Some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(path: &str) -> UrlKey {
        UrlKey::from_normalised(&format!("https://h.example{path}")).unwrap()
    }

    #[test]
    fn three_failures_in_a_row_fail_a_directory() {
        let mut directories = Directories::default();
        assert!(!directories.failed(&url("/a/1")));
        assert!(!directories.failed(&url("/a/2")));
        assert!(!directories.failed(&url("/b/1")));
        assert!(directories.failed(&url("/a/deeper/3")));
        assert!(directories.is_failing(&url("/a/")) && !directories.is_failing(&url("/b/")));
        directories.answered(&url("/a/4"));
        assert!(!directories.is_failing(&url("/a/")));
    }

    #[test]
    fn pages_of_the_root_are_in_no_directory() {
        let mut directories = Directories::default();
        for path in ["/", "/1", "/2", "/3?back=/a/b"] {
            assert!(!directories.failed(&url(path)), "{path}");
        }
        assert_eq!(directories.give_up_failing(), 0);
    }

    #[test]
    fn failures_are_given_up_once() {
        let mut directories = Directories::default();
        assert_eq!(
            (0..3).filter(|_| directories.failed(&url("/a/1"))).count(),
            1
        );
        assert_eq!(directories.give_up_failing(), 1);
        assert!(directories.is_given_up(&url("/a/2")) && !directories.is_given_up(&url("/b/2")));
        assert_eq!(directories.give_up_failing(), 0);
    }

    #[test]
    fn sitemaps_in_no_directory_are_not_given_up() {
        let mut directories = Directories::default();
        directories.give_up_of(&[url("/post-1"), url("/a/1")]);
        let map = url("/sitemap-2.xml");
        assert!(directories.is_given_up(&map) && !directories.is_document_given_up(&map));
        assert!(directories.is_document_given_up(&url("/a/sitemap.xml")));
    }

    #[test]
    fn known_failures_of_directories_are_bounded() {
        let mut directories = Directories::default();
        for number in 0..10_000 {
            directories.failed(&url(&format!("/{number}/page")));
        }
        assert_eq!(directories.failures.len(), MAX_DIRECTORIES);
    }
}
