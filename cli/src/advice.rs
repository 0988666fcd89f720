//! Which option of the program helps where the library refused: it names what is wrong, and does not know how its
//! settings are spelled on a command line.

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
        PublishError::Shrunk { .. } => Some("--force publishes anyway"),
        PublishError::Doubted(_) => Some("if that is meant, crawl with --force"),
        PublishError::Refused(_) => Some("publish anyway with --force"),
        PublishError::Outdated { .. } => Some("--force publishes what this state knows"),
        PublishError::Foreign(_) => Some("--force replaces it and keeps a backup"),
        PublishError::Unmounted { .. } => Some("--force publishes there all the same"),
        PublishError::Check { .. } => {
            Some("until it is mended, --exclude leaves out a URL that is named here")
        }
        // The others say themselves what was expected, or no option helps.
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn the_option_that_helps_stands_behind_the_error_wherever_it_came_from() {
        let shrunk = PublishError::Shrunk { before: 9, now: 3 };
        let error = anyhow::Error::from(shrunk).context("https://h.example/");
        assert_eq!(
            in_full(&error),
            "https://h.example/: a partial set would list 3 URLs, the published set lists 9; --force publishes anyway"
        );
        let foreign = PublishError::Foreign(PathBuf::from("out/sitemap.xml"));
        assert_eq!(
            in_full(&foreign.into()),
            "out/sitemap.xml is not a file of arpent for this site and stands in the way; \
             --force replaces it and keeps a backup"
        );
        let empty = PublishError::Empty;
        assert_eq!(
            in_full(&empty.into()),
            "nothing to list: no known URL may stand in a sitemap"
        );
    }
}
