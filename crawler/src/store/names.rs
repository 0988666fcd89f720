//! The names of all values that a state holds, in one place, because two that are the same would overwrite each other,
//! and because a value that a fresh state takes over is named where it is written and where it is carried. What a value
//! holds is where it is used. A name is part of the format: it never changes.

/// Values that a new state takes over from a damaged one: what engines know of the site.
pub(crate) const SALVAGED: [&str; 3] = [NOTIFY_ENGINES, NOTIFY_KEY, NOTIFY_KEY_FILE];

/// Directories whose dates are not trusted.
pub(crate) const LASTMOD_DISTRUSTED: &str = "lastmod.distrusted";

/// Directories whose pages differ from one request to the next.
pub(crate) const LASTMOD_RESTLESS: &str = "lastmod.restless";

/// Marks that engines are notified of the site.
pub(crate) const NOTIFY_ENGINES: &str = "notify.engines";

/// The key of `IndexNow` that was made.
pub(crate) const NOTIFY_KEY: &str = "notify.key";

/// The name of the key's file in the output.
pub(crate) const NOTIFY_KEY_FILE: &str = "notify.key_file";

/// The sets that can be restored.
pub(crate) const PUBLISH_GENERATIONS: &str = "publish.generations";

/// The counts that the guard stores.
pub(crate) const PUBLISH_GUARD: &str = "publish.guard";

/// The manifest.
pub(crate) const PUBLISH_MANIFEST: &str = "publish.manifest";

/// The mount point of the disk of the output.
pub(crate) const PUBLISH_MOUNT: &str = "publish.mount";

/// A publish that is about to rename files, or has renamed them.
pub(crate) const PUBLISH_PENDING: &str = "publish.pending";

/// What Google has of the published set.
pub(crate) const NOTIFY_GOOGLE: &str = "notify.google";

/// What a look at the served set found.
pub(crate) const PUBLISH_SERVED: &str = "publish.served";

/// The published set.
pub(crate) const PUBLISH_STANDING: &str = "publish.standing";

/// Hooks and engines that were not notified of the published set.
pub(crate) const PUBLISH_UNNOTIFIED: &str = "publish.unnotified";

/// Mark that nothing is left to ask for in the crawl.
pub(crate) const CRAWL_DRAINED: &str = "crawl.drained";

/// The times that this machine's clock and the host's showed in the crawl, where they were apart.
pub(crate) const CRAWL_CLOCKS: &str = "crawl.clocks";

/// The host's clock when the crawl began.
pub(crate) const CRAWL_HOST_DATE: &str = "crawl.host_date";

/// The settings that decide which URLs are known.
pub(crate) const CRAWL_IDENTITY: &str = "crawl.identity";

/// The other spellings of the origin of the site that answered, and whether they are its names: JSON.
pub(crate) const CRAWL_NAMES: &str = "crawl.names";

/// The kind of network that the start host was on.
pub(crate) const CRAWL_NETWORK: &str = "crawl.network";

/// The texts that the site shows for URLs that do not exist, and the crawl that asked for them.
pub(crate) const CRAWL_NOT_FOUND: &str = "crawl.not_found";

/// How many links the newest crawl did not record, because a bound was reached.
pub(crate) const CRAWL_NOT_RECORDED: &str = "crawl.not_recorded";

/// The groups of pages of which some were rendered, and whether all of each are: JSON.
pub(crate) const CRAWL_RENDERED: &str = "crawl.rendered";

/// Present when the newest crawl is one of `--fresh`.
pub(crate) const CRAWL_FRESH: &str = "crawl.fresh";

/// The number of the newest run.
pub(crate) const CRAWL_NUMBER: &str = "crawl.number";

/// The last time the site went down in the newest run.
pub(crate) const CRAWL_OUTAGE: &str = "crawl.outage";

/// The rules of robots.txt as the newest run read them.
pub(crate) const CRAWL_ROBOTS: &str = "crawl.robots";

/// The rules that the known URLs were judged by.
pub(crate) const CRAWL_RULES: &str = "crawl.rules";

/// The phase of the crawl.
pub(crate) const CRAWL_STATE: &str = "crawl.state";

/// The beginning of the name of the value of one document: its number follows.
pub(crate) const SEEDS: &str = "seeds.";

/// How many documents there are.
pub(crate) const SEEDS_COUNT: &str = "seeds.count";

/// Our own files, which are not news.
pub(crate) const SEEDS_PUBLISHED_BY_ARPENT: &str = "seeds.published_by_arpent";

/// The crawl that the documents are of.
pub(crate) const SEEDS_CRAWL: &str = "seeds.crawl";

/// True answers in a row of a server whose "not modified" is not trusted.
pub(crate) const VALIDATORS_TRUST: &str = "validators.trust";

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    /// The names as they are above.
    fn names() -> Vec<&'static str> {
        include_str!("names.rs")
            .lines()
            .filter_map(|line| line.strip_prefix("pub(crate) const "))
            .filter_map(|line| line.split('"').nth(1))
            .collect()
    }

    #[test]
    fn each_value_has_a_name_of_its_own() {
        let names = names();
        assert!(names.len() > 20, "{names:?}");
        let different: BTreeSet<_> = names.iter().collect();
        assert_eq!(different.len(), names.len(), "{names:?}");
        // Documents are numbered.
        let is_document = |name: &&str| {
            let number = name.strip_prefix(super::SEEDS);
            number.is_some_and(|number| number.parse::<usize>().is_ok())
        };
        assert!(!names.iter().any(is_document), "{names:?}");
    }
}
