//! The places of a URL that pages are compared in: its path, its parameters, and its directories. Years, with the months and days
//! after them, count as one directory, because each day of a calendar would be a directory of its own.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::url_key::UrlKey;

/// Directories of a URL that count, from the first below the root on.
pub(super) const LEVELS: usize = 3;

/// Directories below a directory from which on all pages are in one part of it.
const MAX_PART: usize = 2;

/// The pattern of URLs with capitals in their paths.
pub(super) const CAPITALS: &str = "capitals in paths";

/// Represents a year in the name of a directory, with the month and day after it. No path has these signs as they are.
const DATE: &str = "{date}";

/// Represents a directory in the name of a part.
const ANY: &str = "*/";

/// Parameters of a URL that are looked at.
const MAX_PARAMETERS: usize = 16;

/// The places of one URL, as hashes.
#[derive(Debug)]
pub(super) struct UrlPlaces {
    /// Its path, when it has a query.
    pub(super) path: Option<u64>,
    /// The names of its parameters.
    pub(super) parameters: Vec<String>,
    /// The directories that it is in, from the top down; the root for a page that is in no other.
    pub(super) directories: Vec<u64>,
    /// Directories below the root that it is in, also those below [`LEVELS`].
    depth: usize,
    /// Their names.
    names: Vec<String>,
}

impl UrlPlaces {
    /// The places of `url`.
    pub(super) fn of(url: &UrlKey) -> Self {
        let (path, query) = match url.path_and_query().split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (url.path_and_query(), None),
        };
        let mut directories = Vec::with_capacity(LEVELS);
        let mut names = Vec::with_capacity(LEVELS);
        let mut name = "/".to_owned();
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut is_date = false;
        let mut depth = 0;
        for segment in folder.split('/').skip(1) {
            if is_date && is_number_up_to(segment, 31) {
                continue;
            }
            is_date = is_date_beginning_with_year(segment);
            name.push_str(if is_date { DATE } else { segment });
            name.push('/');
            depth += 1;
            if names.len() < LEVELS {
                directories.push(xxh3_64(name.as_bytes()));
                names.push(name.clone());
            }
        }
        if names.is_empty() {
            directories.push(xxh3_64(b"/"));
            names.push("/".to_owned());
        }
        let mut parameters: Vec<String> = Vec::new();
        for parameter in query.into_iter().flat_map(|query| query.split('&')) {
            // A query without `=` is a parameter without a name.
            let name = parameter.split_once('=').map_or("", |(name, _)| name);
            if parameters.len() < MAX_PARAMETERS && !parameters.iter().any(|known| known == name) {
                parameters.push(name.to_owned());
            }
        }
        Self {
            path: query.map(|_| xxh3_64(path.as_bytes())),
            parameters,
            directories,
            depth,
            names,
        }
    }

    /// The part of its directory at `level` that the URL is in: the pages in that directory, in the directories of it, or
    /// further below. Each part has pages of one kind.
    pub(super) fn part(&self, level: usize) -> u64 {
        let below = self.depth.saturating_sub(level + 1).min(MAX_PART);
        self.directories[level] ^ below as u64
    }

    /// The name of that part.
    pub(super) fn part_name(&self, level: usize) -> String {
        let below = self.depth.saturating_sub(level + 1).min(MAX_PART);
        let name = self.names.get(level).map_or("/", String::as_str);
        format!("{name}{}", ANY.repeat(below))
    }

    /// The names of the patterns that `url`, whose places these are, may be in, the narrowest first.
    pub(super) fn pattern_names(&self, url: &UrlKey) -> Vec<String> {
        let mut names = Vec::new();
        for name in &self.parameters {
            names.extend([format!("{}?{name}=", url.path()), format!("?{name}=")]);
        }
        if !self.parameters.is_empty() {
            names.push("?*=".to_owned());
        }
        if in_small_letters(url).is_some() {
            names.push(CAPITALS.to_owned());
        }
        names.extend(
            (0..self.directories.len())
                .rev()
                .map(|level| self.part_name(level)),
        );
        names
    }

    /// Returns whether the URL is in the directory at `level` of `others`.
    pub(super) fn is_in(&self, directory: u64) -> bool {
        self.directories.contains(&directory)
    }

    /// For each directory of `self`, whether one of `others` is in it.
    pub(super) fn shared_with<'a>(
        &self,
        others: impl Iterator<Item = &'a UrlKey>,
    ) -> [bool; LEVELS] {
        let mut shared = [false; LEVELS];
        for other in others {
            let other = Self::of(other);
            for (shared, directory) in shared.iter_mut().zip(&self.directories) {
                *shared |= other.is_in(*directory);
            }
        }
        shared
    }
}

/// The URL with its path in small letters, but for percent-encoded bytes; `None`: it has no capitals there.
pub(super) fn in_small_letters(url: &UrlKey) -> Option<UrlKey> {
    let path = url.path();
    if !path.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return None;
    }
    let (before, after) = url.as_str().split_once(path)?;
    let mut small = before.to_owned();
    let mut parts = path.split('%');
    small.extend(parts.next().map(str::to_ascii_lowercase));
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        small.push('%');
        small.push_str(digits);
        small.push_str(&rest.to_ascii_lowercase());
    }
    small.push_str(after);
    let small = UrlKey::from_normalised(&small).ok()?;
    (small != *url).then_some(small)
}

/// The part of a directory that [`UrlPlaces::part_name`] names.
pub(super) fn part_of_name(name: &str) -> u64 {
    let directory = name.trim_end_matches(ANY);
    let below = (name.len() - directory.len()) / ANY.len();
    xxh3_64(directory.as_bytes()) ^ below as u64
}

/// The place of a parameter on a path, or on any.
pub(super) fn parameter_place(path: Option<u64>, name: &str) -> u64 {
    xxh3_64_with_seed(name.as_bytes(), path.unwrap_or(1))
}

fn is_number_up_to(text: &str, most: u32) -> bool {
    text.len() <= 2 && text.parse().is_ok_and(|number: u32| number <= most)
}

/// Returns whether a segment is a year, or a year with what divides it: `2026`, `2026-11`, `2026-W07`, `2026-11-22`.
fn is_date_beginning_with_year(segment: &str) -> bool {
    let Some((year, rest)) = segment.split_at_checked(4) else {
        return false;
    };
    let is_year = matches!(year.as_bytes(), [b'1', b'9', _, _] | [b'2', b'0', _, _])
        && year.bytes().all(|byte| byte.is_ascii_digit());
    is_year
        && rest.len() <= 6
        && rest.split(['-', '_', '.']).all(|part| {
            is_number_up_to(part.trim_start_matches(['W', 'w', 'Q', 'q']), 53) || part.is_empty()
        })
        && rest
            .bytes()
            .next()
            .is_none_or(|byte| !byte.is_ascii_digit())
}
