//! Sections: sets of keys that get files with their own name, in any directories.
//!
//! Owns the rule for names of sections, so that their files never collide with others, and the directory of a section. The caller
//! decides which keys belong to it.

use std::{fmt, str::FromStr};

use super::{Placement, layout, name};

/// Longest name of a section: the rest of the file name needs room too.
pub const MAX_SECTION_NAME_BYTES: usize = 40;

/// Sections of one site. Each costs one more pass over the keys in its directory.
pub const MAX_SECTIONS: usize = 100;

/// Names that other files have after `sitemap-`.
const TAKEN: [&str; 3] = ["root", "recent", "news"];

/// Name of a section: `shop` has the file `sitemap-shop.xml`.
///
/// Letters `a` to `z`, digits and `-`, beginning with a letter and not ending with `-`, at most [`MAX_SECTION_NAME_BYTES`]; not
/// `root`, `recent`, `news` or `news-2` and the like, which are other files.
///
/// ```
/// use sitemap_core::partition::SectionName;
///
/// assert_eq!("shop".parse::<SectionName>()?.as_str(), "shop");
/// assert!("Shop".parse::<SectionName>().is_err());
/// assert!("news".parse::<SectionName>().is_err());
/// # Ok::<(), sitemap_core::partition::SectionNameError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SectionName(String);

/// Reason why a text is not a [`SectionName`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SectionNameError {
    /// The name has characters that not every disk and URL takes as they are, or too many.
    #[error(
        "expected 1 to {MAX_SECTION_NAME_BYTES} of a to z, 0 to 9 and -, with a letter at the beginning and no - at the end"
    )]
    Characters,
    /// Another file of the set has it.
    #[error("expected another name than root, recent and news, which other files of the set have")]
    Taken,
}

impl SectionName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SectionName {
    type Err = SectionNameError;

    fn from_str(text: &str) -> Result<Self, SectionNameError> {
        let is_good = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if text.len() > MAX_SECTION_NAME_BYTES
            || !text.starts_with(|first: char| first.is_ascii_lowercase())
            || text.ends_with('-')
            || !text.bytes().all(is_good)
        {
            return Err(SectionNameError::Characters);
        }
        // News are divided into `sitemap-news.xml`, `sitemap-news-2.xml` and so on.
        let is_number = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_digit());
        if TAKEN.contains(&text) || text.strip_prefix("news-").is_some_and(is_number) {
            return Err(SectionNameError::Taken);
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for SectionName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A section of a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The name.
    pub name: SectionName,
    /// A directory that all of its keys lie in, `/` at both ends: in place its files are there.
    pub directory: String,
}

impl Section {
    /// The deepest directory that its keys lie in and its files can be in; the base when no deeper one is known.
    pub(super) fn home(&self, base: &str, placement: Placement) -> String {
        let below = self
            .directory
            .strip_prefix(base)
            .filter(|_| layout::is_directory(&self.directory))
            .unwrap_or_default();
        let can_hold_files = |segment: &&str| match placement {
            Placement::Root => true,
            Placement::InPlace => name::folder_key(segment.trim_end_matches('/')).is_some(),
        };
        let folders = below.split_inclusive('/').take_while(can_hold_files);
        folders.fold(base.to_owned(), |home, folder| home + folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_is_a_file_name_of_its_own() {
        let check = |text: &str, expected: Option<SectionNameError>| {
            assert_eq!(text.parse::<SectionName>().err(), expected, "{text:?}");
        };
        let long = "a".repeat(MAX_SECTION_NAME_BYTES);
        for good in [
            "shop", "a", "shop-2", "root-2", "newsroom", "news-old", &long,
        ] {
            check(good, None);
        }
        let bad = ",Shop,2,2024,-a,a-,a.b,a_b,a/b,..,é,a b".split(',');
        for bad in bad.chain([&*format!("{long}a")]) {
            check(bad, Some(SectionNameError::Characters));
        }
        for taken in ["root", "recent", "news", "news-2", "news-10"] {
            check(taken, Some(SectionNameError::Taken));
        }
    }

    #[test]
    fn files_are_in_the_deepest_possible_directory() {
        let check = |base: &str, directory: &str, root: &str, in_place: &str| {
            let section = Section {
                name: SectionName("a".to_owned()),
                directory: directory.to_owned(),
            };
            assert_eq!(section.home(base, Placement::Root), root, "{directory}");
            assert_eq!(
                section.home(base, Placement::InPlace),
                in_place,
                "{directory}"
            );
        };
        check("/", "/", "/", "/");
        check("/", "/shop/a/", "/shop/a/", "/shop/a/");
        check("/shop/", "/", "/shop/", "/shop/");
        check("/shop/", "/blog/x/", "/shop/", "/shop/");
        check("/", "/a/%2e%2e/b/", "/a/%2e%2e/b/", "/a/");
        check("/", "/a//b/", "/a//b/", "/a/");
        check("/", "/a", "/", "/");
    }
}
