//! The option of the program that helps after a refusal of the library, which does not know how its settings are spelled on a
//! command line.

use crawler::publish::PublishError;

/// An error on one line: it, its causes, and the option that helps.
pub(crate) fn in_full(error: &anyhow::Error) -> String {
    let refusal = error.chain().find_map(|cause| cause.downcast_ref());
    match refusal.and_then(advice) {
        Some(advice) => format!("{error:#}; {advice}"),
        None => format!("{error:#}"),
    }
}

fn advice(error: &PublishError) -> Option<&'static str> {
    match error {
        PublishError::Refused(_) => Some("--force publishes the set in spite of the guard"),
        PublishError::Outdated { .. } => Some("--force publishes the set of this state"),
        PublishError::Foreign(_) => Some("--force replaces the file and keeps a backup"),
        PublishError::Unmounted { .. } => Some("--force publishes to this folder"),
        PublishError::Check { .. } => Some("--exclude leaves out a URL that is named here"),
        // Messages of the others have the expected form, or no option helps.
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn the_option_that_helps_follows_any_error() {
        let foreign = PublishError::Foreign(PathBuf::from("out/sitemap.xml"));
        let error = anyhow::Error::from(foreign).context("https://h.example/");
        assert!(in_full(&error).starts_with("https://h.example/: out/sitemap.xml is not"));
        let foreign = PublishError::Foreign(PathBuf::from("out/sitemap.xml"));
        assert_eq!(
            in_full(&foreign.into()),
            "out/sitemap.xml is not a file that arpent published for this site, and is not overwritten; choose another folder \
             with --output; --force replaces the file and keeps a backup"
        );
        let empty = PublishError::Empty;
        assert_eq!(
            in_full(&empty.into()),
            "nothing to list: a sitemap may contain none of the known URLs; `arpent report` lists the reasons"
        );
    }
}
