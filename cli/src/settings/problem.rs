//! Problems of the settings with their places, and messages that name the expected form.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Place of a value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Origin {
    /// Nowhere.
    #[default]
    Default,
    /// In the settings file.
    File {
        /// The file.
        path: Arc<Path>,
        /// The line, from 1.
        line: usize,
    },
    /// In this variable of the environment.
    Variable(String),
    /// On the command line, as this option.
    Flag(String),
}

impl Origin {
    /// The origin of a typed value of `setting`.
    pub(crate) fn flag(setting: &str) -> Self {
        match setting {
            "urls" => Self::Flag("URL".to_owned()),
            "inputs" => Self::Flag("FILE|DIR|-".to_owned()),
            _ => Self::Flag(format!("--{}", setting.replace('_', "-"))),
        }
    }

    /// The place with the name of `setting`, which is empty when it is about the file as a whole.
    pub(crate) fn named(&self, setting: &str) -> String {
        match self {
            // The name of a flag or variable names the setting well enough.
            Self::Flag(name) | Self::Variable(name) => name.clone(),
            Self::File { path, line } if setting.is_empty() => format!("{}:{line}", path.display()),
            Self::File { path, line } => format!("{}:{line}: {setting}", path.display()),
            Self::Default => setting.to_owned(),
        }
    }

    /// The order of reported problems: layer by layer, the file by line.
    pub(crate) fn position(&self) -> (u8, usize) {
        match self {
            Self::File { line, .. } => (0, *line),
            Self::Variable(_) => (1, 0),
            Self::Flag(_) => (2, 0),
            Self::Default => (3, 0),
        }
    }
}

/// A thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The place.
    pub(crate) origin: Origin,
    /// The setting; empty when it is about the file as a whole.
    pub(crate) setting: String,
    /// The problem and the expected form: a fragment.
    pub(crate) message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.origin.named(&self.setting);
        let colon = if place.is_empty() { "" } else { ": " };
        write!(f, "{place}{colon}{}", self.message)
    }
}

/// Everything that is wrong with the settings, one problem a line.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SettingsError {
    /// The file cannot be read.
    #[error("failed to read the settings file {}; expected the path of a TOML file with --config (arpent init writes one)", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's words.
        #[source]
        source: std::io::Error,
    },
    /// Values, or names, that make no sense.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Problems(Vec<Problem>),
}

impl SettingsError {
    /// The problems, when there are some.
    pub(crate) fn problems(&self) -> &[Problem] {
        match self {
            Self::Unreadable { .. } => &[],
            Self::Problems(problems) => problems,
        }
    }
}

/// The name among `known` that `name` was probably meant to be: the fewest single-character edits away, if they are few for its
/// length. `-` and `_` are the same, and so are capitals and small letters.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // One edit in three characters is a slip; more is another word.
    let most_edits = (name.chars().count() / 3).clamp(1, 3);
    let name = name.replace('-', "_").to_lowercase();
    known
        .into_iter()
        .map(|candidate| (strsim::levenshtein(&name, candidate), candidate))
        .filter(|(edits, _)| *edits <= most_edits)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_offered_for_a_slip() {
        fn check(name: &str, expected: Option<&str>) {
            let known = [
                "rate",
                "delay",
                "concurrency",
                "max_pages",
                "max_time",
                "max_pause",
                "state",
            ];
            assert_eq!(nearest(name, known), expected, "{name}");
        }
        check("rte", Some("rate"));
        check("rates", Some("rate"));
        check("Rate", Some("rate"));
        check("concurency", Some("concurrency"));
        check("max-pages", Some("max_pages"));
        check("maxpages", Some("max_pages"));
        check("max_page", Some("max_pages"));
        check("stat", Some("state"));
        check("colour", None);
        check("x", None);
        check("", None);
    }
}
