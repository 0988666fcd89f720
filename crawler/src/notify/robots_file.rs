//! The `Sitemap` line in a robots.txt file (<https://www.sitemaps.org/protocol.html#submit_robots>): it is
//! alone, whatever group is around it, so it is appended at the end and everything else stays byte for byte.
//!
//! The file is replaced in one step, with its mode and group, and its owner where the system allows that. Where somebody
//! could not read it any more, such as a web server, it is left as it is. A symbolic link is not followed: whoever may write to
//! the folder of the site could lead to any file with it.

use std::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use crate::{
    machine::open_regular,
    robots::{MAX_ROBOTS_BYTES, Rules},
    url_key::{Identity, UrlKey},
};

/// The result of [`write_lines`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    /// Every line was there: nothing was touched.
    Unchanged,
    /// These URLs got a line.
    Added(Vec<String>),
}

/// Why a robots.txt file did not get its lines. It is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RobotsFileError {
    /// It, or the folder it is in, cannot be read or written.
    #[error("failed to {action} {}", path.display())]
    Io {
        /// The action that was tried.
        action: &'static str,
        /// The path.
        path: PathBuf,
        /// The system's words.
        #[source]
        source: io::Error,
    },
    /// A folder, a device, or a link.
    #[error("{} is not a regular file; where it is a symbolic link, give the file that it leads to", .0.display())]
    NoFile(PathBuf),
    /// It is not in UTF-8 (RFC 9309 section 2.2).
    #[error("{} is in UTF-16, which crawlers do not read; expected UTF-8", .0.display())]
    Encoding(PathBuf),
    /// With the lines it would be larger than what crawlers read (RFC 9309 section 2.5).
    #[error(
        "{} would be larger than {MAX_ROBOTS_BYTES} bytes, and crawlers may ignore lines after that",
        .0.display()
    )]
    TooLarge(PathBuf),
}

/// The URLs of `sitemaps` that have no line in the robots.txt with these rules. A line with a relative URL does not count: the
/// protocol wants the whole URL.
pub fn missing_lines<'a>(rules: &Rules, sitemaps: &'a [String]) -> Vec<&'a str> {
    let identity = Identity::default().verbatim();
    let values = rules.sitemaps().iter();
    let named: Vec<UrlKey> = values
        .filter_map(|value| identity.parse(value).ok())
        .collect();
    let mut missing: Vec<&str> = Vec::new();
    for sitemap in sitemaps {
        let is_named = identity
            .parse(sitemap)
            .is_ok_and(|sitemap| named.contains(&sitemap));
        if !is_named && !missing.contains(&sitemap.as_str()) {
            missing.push(sitemap);
        }
    }
    missing
}

/// The same for the robots.txt `body`: its `Sitemap` lines are for every agent.
fn missing_in<'a>(body: &[u8], sitemaps: &'a [String]) -> Vec<&'a str> {
    missing_lines(&Rules::parse(body, "*"), sitemaps)
}

/// The robots.txt `body` with a line for each of `sitemaps` that has none; `None` when none is missing.
///
/// The old content stays, byte for byte; the lines end as its lines do, and a last line without an end
/// gets one.
///
/// ```
/// use crawler::notify::add_lines;
///
/// let sitemaps = ["https://example.com/sitemap.xml".to_owned()];
/// let body = add_lines(b"User-agent: *\r\nDisallow: /a", &sitemaps).unwrap();
/// assert_eq!(body, b"User-agent: *\r\nDisallow: /a\r\nSitemap: https://example.com/sitemap.xml\r\n");
/// assert_eq!(add_lines(&body, &sitemaps), None);
/// ```
pub fn add_lines(body: &[u8], sitemaps: &[String]) -> Option<Vec<u8>> {
    let missing = missing_in(body, sitemaps);
    if missing.is_empty() {
        return None;
    }
    let text = without_mark(body);
    let end = line_end(text);
    let mut added = body.to_vec();
    if !matches!(text.last(), None | Some(b'\n' | b'\r')) {
        added.extend_from_slice(end);
    }
    for sitemap in missing {
        added.extend_from_slice(b"Sitemap: ");
        added.extend_from_slice(sitemap.as_bytes());
        added.extend_from_slice(end);
    }
    Some(added)
}

/// Gives the robots.txt file at `path` a line for each of `sitemaps` that has none there. A file that is
/// missing is begun. It is replaced in one step.
///
/// # Errors
/// See [`RobotsFileError`].
pub fn write_lines(path: &Path, sitemaps: &[String]) -> Result<Written, RobotsFileError> {
    let failed = |action: &'static str, path: &Path| {
        let path = path.to_owned();
        move |source| RobotsFileError::Io {
            action,
            path,
            source,
        }
    };
    let old = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => Some(metadata),
        Ok(_) => return Err(RobotsFileError::NoFile(path.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed("read", path)(error)),
    };
    let mut body = Vec::new();
    if old.is_some() {
        let limit = MAX_ROBOTS_BYTES as u64 + 1;
        let read = open_regular(path).and_then(|file| file.take(limit).read_to_end(&mut body));
        read.map_err(failed("read", path))?;
    }
    if body.starts_with(&[0xff, 0xfe]) || body.starts_with(&[0xfe, 0xff]) {
        return Err(RobotsFileError::Encoding(path.to_owned()));
    }
    let Some(added) = add_lines(&body, sitemaps) else {
        return Ok(Written::Unchanged);
    };
    if added.len() > MAX_ROBOTS_BYTES {
        return Err(RobotsFileError::TooLarge(path.to_owned()));
    }
    replace(path, &added, old.as_ref()).map_err(failed("replace", path))?;
    let missing = missing_in(&body, sitemaps);
    Ok(Written::Added(
        missing.into_iter().map(str::to_owned).collect(),
    ))
}

/// Puts `body` in the place of the file `place`, which had the metadata `old`.
fn replace(place: &Path, body: &[u8], old: Option<&fs::Metadata>) -> io::Result<()> {
    let folder = place
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".robots.txt.");
    // As any new file; the temporary ones of others are private.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder.unwrap_or(Path::new(".")))?;
    if let Some(old) = old {
        #[cfg(unix)]
        give(file.as_file(), old)?;
        file.as_file().set_permissions(old.permissions())?;
    }
    file.write_all(body)?;
    file.as_file().sync_all()?;
    file.persist(place)?;
    Ok(())
}

/// Gives `file` to those to whom the file with the metadata `old` belongs.
///
/// # Errors
/// Who reads that one could not read this one.
#[cfg(unix)]
fn give(file: &File, old: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    // Only root gives files away; their group anybody who is in it.
    if fchown(file, Some(old.uid()), Some(old.gid())).is_err() {
        let _ = fchown(file, None, Some(old.gid()));
    }
    let new = file.metadata()?;
    let by_owner_or_group =
        old.gid() == new.gid() && (old.uid() == new.uid() || old.mode() & 0o040 != 0);
    if old.mode() & 0o004 != 0 || by_owner_or_group {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::PermissionDenied,
        "whoever reads it by its owner or group now could not read it any more; expected a file that everybody may read, or \
         one of a group that this program's user is in",
    ))
}

fn without_mark(body: &[u8]) -> &[u8] {
    body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body)
}

/// How lines end.
fn line_end(text: &[u8]) -> &'static [u8] {
    match memchr::memmem::find(text, b"\r\n") {
        Some(_) => b"\r\n",
        None => b"\n",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SITEMAP: &str = "https://example.com/sitemap.xml";

    fn sitemaps(urls: &[&str]) -> Vec<String> {
        urls.iter().copied().map(str::to_owned).collect()
    }

    #[test]
    fn a_line_is_there_however_it_is_written() {
        let check = |body: &str, is_there: bool| {
            let missing = missing_in(body.as_bytes(), &sitemaps(&[SITEMAP])).is_empty();
            assert_eq!(missing, is_there, "{body:?}");
        };
        check("Sitemap: https://example.com/sitemap.xml", true);
        check(
            "\u{feff}SITEMAP :https://EXAMPLE.com:443/sitemap.xml # ours\r",
            true,
        );
        check(
            "User-agent: a\nsitemap:https://example.com/sitemap.xml\nDisallow: /",
            true,
        );
        check("Sitemap: /sitemap.xml", false);
        check("# Sitemap: https://example.com/sitemap.xml", false);
        check("Sitemap: https://example.com/sitemap.xml.gz", false);
        check("Sitemap: http://example.com/sitemap.xml", false);
        check("", false);
    }

    #[test]
    fn lines_end_as_those_of_the_file_do() {
        let check = |body: &str, expected: &str| {
            let added = add_lines(body.as_bytes(), &sitemaps(&["https://a.example/s.xml"]));
            assert_eq!(String::from_utf8(added.unwrap()).unwrap(), expected);
        };
        check("", "Sitemap: https://a.example/s.xml\n");
        check("\u{feff}", "\u{feff}Sitemap: https://a.example/s.xml\n");
        check("a: b", "a: b\nSitemap: https://a.example/s.xml\n");
        check("a: b\n\n", "a: b\n\nSitemap: https://a.example/s.xml\n");
        check(
            "a: b\r\nc",
            "a: b\r\nc\r\nSitemap: https://a.example/s.xml\r\n",
        );
    }

    /// Any bytes, and pieces that mean something in a robots.txt.
    fn body() -> impl Strategy<Value = Vec<u8>> {
        let pieces = [
            "\u{feff}",
            "User-agent: *",
            "Disallow: /a",
            "Sitemap: https://example.com/sitemap.xml",
            "sitemap:\t/relative.xml",
            "#",
            "\n",
            "\r\n",
            "\r",
            "\0",
        ];
        let piece = prop_oneof![
            4 => proptest::sample::select(pieces.to_vec()).prop_map(|piece| piece.as_bytes().to_vec()),
            1 => proptest::collection::vec(any::<u8>(), 0..6),
        ];
        proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn everything_else_stays_byte_for_byte(body in body()) {
            let wanted = sitemaps(&[SITEMAP, "https://example.com/sitemap-2.xml", SITEMAP]);
            let Some(added) = add_lines(&body, &wanted) else {
                prop_assert!(missing_in(&body, &wanted).is_empty());
                return Ok(());
            };
            prop_assert!(added.starts_with(&body));
            let missing = missing_in(&body, &wanted);
            let mut rest = &added[body.len()..];
            let end = line_end(without_mark(&body));
            if !matches!(without_mark(&body).last(), None | Some(b'\n' | b'\r')) {
                rest = rest.strip_prefix(end).unwrap();
            }
            let end = String::from_utf8_lossy(end);
            let lines = missing
                .iter()
                .fold(String::new(), |text, url| text + "Sitemap: " + url + &end);
            prop_assert_eq!(rest, lines.as_bytes());
            // Once is enough, and crawlers see the lines and the same rules as before.
            prop_assert_eq!(add_lines(&added, &wanted), None);
            let (before, after) = (Rules::parse(&body, "arpent"), Rules::parse(&added, "arpent"));
            for path in ["/", "/a", "/a/b"] {
                prop_assert_eq!(before.allows(path), after.allows(path));
            }
            for url in missing {
                prop_assert!(after.sitemaps().iter().any(|known| known == url));
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_replaced_with_its_mode_and_a_link_is_not_followed() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (
            folder.path().join("robots.txt"),
            folder.path().join("link.txt"),
        );
        fs::write(&real, "User-agent: *\nDisallow:").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink("robots.txt", &link).unwrap();
        let wanted = sitemaps(&[SITEMAP]);
        let error = write_lines(&link, &wanted).unwrap_err();
        assert!(matches!(error, RobotsFileError::NoFile(_)), "{error}");
        assert_eq!(
            write_lines(&real, &wanted).unwrap(),
            Written::Added(wanted.clone())
        );
        assert_eq!(
            fs::metadata(&real).unwrap().permissions().mode() & 0o777,
            0o640
        );
        let text = fs::read_to_string(&real).unwrap();
        assert_eq!(
            text,
            format!("User-agent: *\nDisallow:\nSitemap: {SITEMAP}\n")
        );
        let before = fs::metadata(&real).unwrap().modified().unwrap();
        assert_eq!(write_lines(&real, &wanted).unwrap(), Written::Unchanged);
        assert_eq!(fs::metadata(&real).unwrap().modified().unwrap(), before);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn what_is_no_robots_txt_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let wanted = sitemaps(&[SITEMAP]);
        let check = |name: &str, body: &[u8], expected: &str| {
            let path = folder.path().join(name);
            fs::write(&path, body).unwrap();
            let error = write_lines(&path, &wanted).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
            assert_eq!(fs::read(&path).unwrap(), body);
        };
        check("wide", b"\xff\xfeU\0", "is in UTF-16");
        check(
            "large",
            &vec![b'a'; MAX_ROBOTS_BYTES],
            "would be larger than",
        );
        let error = write_lines(folder.path(), &wanted).unwrap_err();
        assert!(matches!(error, RobotsFileError::NoFile(_)), "{error}");
        let new = folder.path().join("new.txt");
        assert!(matches!(write_lines(&new, &wanted), Ok(Written::Added(_))));
        assert_eq!(
            fs::read_to_string(&new).unwrap(),
            format!("Sitemap: {SITEMAP}\n")
        );
        let astray = folder.path().join("missing/robots.txt");
        assert!(write_lines(&astray, &wanted).is_err());
    }
}
