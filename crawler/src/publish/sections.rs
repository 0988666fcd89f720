//! The sections of the settings: the section of each page, and the directory of each section. The partition decides about
//! files.

use sitemap_core::partition::Section;

use super::{PublishError, PublishRequest};
use crate::{notes::Note, pattern::Pattern, site::Site, url_key::UrlKey};

/// The compiled settings.
#[derive(Debug)]
pub(super) struct Sections {
    /// Globs of pages with the number of their section. The first that matches decides.
    rules: Vec<(Pattern, usize)>,
    /// In the order in which the settings name them first.
    sections: Vec<Section>,
}

impl Sections {
    /// Reads the settings.
    ///
    /// # Errors
    /// A glob cannot be read, or could never match a URL.
    pub(super) fn new(request: &PublishRequest<'_>) -> Result<Self, PublishError> {
        let mut found = Self {
            rules: Vec::new(),
            sections: Vec::new(),
        };
        for rule in &request.config.sections {
            let pattern = Pattern::parse(&rule.pages).map_err(|problem| {
                PublishError::Settings(format!("sections: \"{}\" {problem}", rule.pages))
            })?;
            let directory = directory_of(request.site, &pattern);
            let named = |section: &Section| section.name == rule.value;
            let number = found.sections.iter().position(named);
            let number = number.unwrap_or_else(|| {
                found.sections.push(Section {
                    name: rule.value.clone(),
                    directory: directory.clone(),
                });
                found.sections.len() - 1
            });
            let known = &mut found.sections[number].directory;
            *known = shared_directory(known, &directory).to_owned();
            found.rules.push((pattern, number));
        }
        Ok(found)
    }

    /// All sections.
    pub(super) fn all(&self) -> &[Section] {
        &self.sections
    }

    /// The number of the section that a crawled page belongs to.
    pub(super) fn of(&self, page: &UrlKey) -> Option<usize> {
        let rule = self.rules.iter().find(|(pattern, _)| pattern.matches(page));
        rule.map(|(_, number)| *number)
    }

    /// A note on each section without pages.
    pub(super) fn notes(&self, has_pages: impl Fn(usize) -> bool) -> Vec<Note> {
        let empty = (0..).zip(&self.sections).filter(|(at, _)| !has_pages(*at));
        empty
            .map(|(_, section)| Note::section_empty(&section.name).naming(&section.name))
            .collect()
    }
}

/// The directory, as it is written, that all pages lie in which a glob can match.
fn directory_of(site: &Site, pattern: &Pattern) -> String {
    let written = site.written();
    let literal = pattern.directory();
    let below = literal.strip_prefix(site.directory.as_str());
    // A glob that begins above the crawled directory can match anything in it.
    match below {
        Some(below) => format!("{}{below}", written.directory),
        None => written.directory,
    }
}

/// The deepest directory that both lie in.
fn shared_directory<'d>(one: &'d str, other: &str) -> &'d str {
    let bytes = one.bytes().zip(other.bytes());
    let shared = bytes.take_while(|(one, other)| one == other).count();
    let end = one.as_bytes()[..shared]
        .iter()
        .rposition(|byte| *byte == b'/');
    // What both begin with is ASCII, and a slash is where characters part.
    one.split_at(end.map_or(0, |slash| slash + 1)).0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{config::ScopeWidth, site::settle_so_far};

    #[test]
    fn section_is_in_the_directory_globs_share() {
        let check = |one: &str, other: &str, expected: &str| {
            assert_eq!(shared_directory(one, other), expected, "{one} {other}");
            assert_eq!(shared_directory(other, one), expected, "{other} {one}");
        };
        check("/a/", "/a/", "/a/");
        check("/a/b/", "/a/", "/a/");
        check("/a/b/", "/a/bc/", "/a/");
        check("/ab/", "/ac/", "/");
        check("/", "/x/", "/");
    }

    #[test]
    fn directory_of_a_glob_is_the_written_one() {
        let check = |start: &str, original: Option<&str>, glob: &str, expected: &str| {
            let key = |url: &str| UrlKey::from_normalised(url).unwrap();
            let site = settle_so_far(&key(start), &[], ScopeWidth::Directory);
            let site = match original {
                Some(original) => site.standing_for(&key(original)).unwrap(),
                None => site,
            };
            let pattern = Pattern::parse(glob).unwrap();
            assert_eq!(directory_of(&site, &pattern), expected, "{start} {glob}");
        };
        let root = "https://a.example/";
        check(root, None, "/shop/**", "/shop/");
        check(root, None, "/shop*", "/");
        check(root, None, "*.pdf", "/");
        check("https://a.example/docs/", None, "/docs/v1/*", "/docs/v1/");
        check("https://a.example/docs/", None, "/**", "/docs/");
        check("https://a.example/docs/", None, "/doc*/v1/*", "/docs/");
        check("https://a.example/docs/", None, "/blog/*", "/docs/");
        let staging = "https://a.example/staging/";
        let own = Some(root);
        check(staging, own, "/staging/shop/*", "/shop/");
        check(staging, own, "/sta*", "/");
        check(staging, own, "/shop/*", "/");
        check(
            staging,
            Some("https://b.example/x/"),
            "/staging/shop/*",
            "/x/shop/",
        );
    }
}
