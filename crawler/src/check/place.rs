//! The file that is served at a URL, and the URL at which a file is served: a folder is at a [`Base`], its files below. Pure.

use std::{
    ffi::OsStr,
    path::{Component, Path, PathBuf},
};

use sitemap_core::Loc;

use crate::url_key::percent;

/// Names of sitemaps and feeds end so.
const ENDINGS: [&str; 5] = [".xml", ".txt", ".rss", ".atom", ".gz"];

/// Returns whether a name is one that sitemaps and feeds have.
pub(super) fn has_ending(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    !["robots.txt", "llms.txt"].contains(&name.as_str())
        && ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// The URL of a folder; it ends in `/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Base(Loc);

impl Base {
    /// The folder at a URL; the `/` at its end may be missing, but the URL of a file is refused.
    pub(super) fn of_folder(at: &Loc) -> Result<Self, String> {
        let name = at.path().rsplit('/').next().unwrap_or_default();
        if at.path_and_query().contains('?') || has_ending(name) {
            return Err(format!(
                "--base-url: expected the URL of the folder, with a / at its end and no query, found {at}"
            ));
        }
        if at.path().ends_with('/') {
            return Ok(Self(at.clone()));
        }
        let with_slash = Loc::parse(&format!("{at}/"));
        with_slash
            .map(Self)
            .map_err(|error| format!("--base-url: {error}"))
    }

    /// The folder at the beginning of a URL, which ends in `/`.
    pub(super) fn beginning(url: &str) -> Option<Self> {
        Loc::parse(url).ok().map(Self)
    }

    /// The URL.
    pub(super) fn loc(&self) -> &Loc {
        &self.0
    }

    /// Returns whether it is the root directory of its host.
    pub(super) fn is_root(&self) -> bool {
        self.0.path_and_query() == "/"
    }

    /// URL of a file of the folder; `None` for a name that is impossible in a URL.
    pub(super) fn place(&self, relative: &Path) -> Option<Loc> {
        Loc::parse(&format!("{}{}", self.0, encoded(relative)?)).ok()
    }

    /// The file of the folder that is served at a URL; `None` for a URL elsewhere.
    pub(super) fn relative(&self, loc: &Loc) -> Option<PathBuf> {
        let rest = loc.as_str().strip_prefix(self.0.as_str())?;
        decoded(rest)
    }
}

/// The URL of a file that is served at `at` itself, or under its name in it when `at` is a folder.
pub(super) fn place_of_file(at: &Loc, name: Option<&OsStr>) -> Result<Loc, String> {
    if !at.path().ends_with('/') {
        return Ok(at.clone());
    }
    let place = name.and_then(|name| Base(at.clone()).place(Path::new(name)));
    place.ok_or_else(|| {
        format!("--base-url: expected the whole URL of the file, found the folder {at}")
    })
}

/// The path of a URL that decodes to a relative path.
fn encoded(relative: &Path) -> Option<String> {
    let segments = relative.components().map(|component| match component {
        Component::Normal(name) => Some(percent::segment(name.to_str()?.as_bytes())),
        _ => None,
    });
    Some(segments.collect::<Option<Vec<_>>>()?.join("/"))
}

/// The relative path that a part of a URL's path names; `None` when it could leave the folder or is not a name of a file.
fn decoded(url: &str) -> Option<PathBuf> {
    if url.is_empty() || url.contains('?') {
        return None;
    }
    let mut path = PathBuf::new();
    for segment in url.split('/') {
        let mut name = Vec::new();
        let mut bytes = segment.bytes();
        while let Some(byte) = bytes.next() {
            if byte != b'%' {
                name.push(byte);
                continue;
            }
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            let (high, low) = (digit(bytes.next())?, digit(bytes.next())?);
            name.push(u8::try_from(high * 16 + low).ok()?);
        }
        let name = String::from_utf8(name).ok()?;
        if name.is_empty() || name == "." || name == ".." || name.contains(['/', '\\', '\0']) {
            return None;
        }
        path.push(name);
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base(url: &str) -> Base {
        Base::of_folder(&Loc::parse(url).unwrap()).unwrap()
    }

    #[test]
    fn files_and_urls_correspond() {
        let check = |relative: &str, url: &str| {
            let base = base("https://h/docs");
            let loc = Loc::parse(url).unwrap();
            assert_eq!(base.place(Path::new(relative)).as_ref(), Some(&loc));
            assert_eq!(base.relative(&loc), Some(PathBuf::from(relative)));
        };
        check("sitemap.xml", "https://h/docs/sitemap.xml");
        check("a/b c/ü.xml", "https://h/docs/a/b%20c/%C3%BC.xml");
        check("50%.xml", "https://h/docs/50%25.xml");
        check("a?b#c.xml", "https://h/docs/a%3Fb%23c.xml");
        let escaped = Loc::parse("https://h/docs/%61.xml").unwrap();
        assert_eq!(
            base("https://h/docs/").relative(&escaped),
            Some("a.xml".into())
        );
    }

    #[test]
    fn urls_elsewhere_are_not_files() {
        let check = |url: &str| {
            let loc = Loc::parse(url).unwrap();
            assert_eq!(base("https://h/docs/").relative(&loc), None, "{url}");
        };
        check("https://h/other/sitemap.xml");
        check("https://g/docs/sitemap.xml");
        check("https://h/docs/");
        check("https://h/docs/a//b.xml");
        check("https://h/docs/x%2F..%2F..%2Fetc");
        check("https://h/docs/a%00b");
        check("https://h/docs/s.php?f=1");
        check("https://h/docs/%FF.xml");
    }

    #[test]
    fn at_names_a_file_or_its_folder() {
        let at = |url: &str, name: Option<&str>| {
            let at = Loc::parse(url).unwrap();
            place_of_file(&at, name.map(OsStr::new)).map(|loc| loc.to_string())
        };
        let whole = "https://h/x/y.xml";
        assert_eq!(at(whole, Some("a.xml")).unwrap(), whole);
        assert_eq!(
            at("https://h/x/", Some("a.xml")).unwrap(),
            "https://h/x/a.xml"
        );
        assert!(at("https://h/", None).is_err());
        for wrong in [whole, "https://h/x?y"] {
            assert!(Base::of_folder(&Loc::parse(wrong).unwrap()).is_err());
        }
    }
}
