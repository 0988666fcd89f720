//! The record of the settings that the state was made under, as text of named fields. A crawl continues, and a page is
//! requested conditionally, only when the text is the same as before. So the text is independent of names in the code,
//! and the same settings always have the same text. A setting of a later version adds to it only when it differs from its
//! default. [`Debug`] writes only types of the standard library here.

use crate::{
    config::{Config, DiscoverConfig, PageAction, PageRule, ParseConfig, RenderMode, ScopeWidth},
    page::ContentHash,
    site::Site,
    url_key::SiteNames,
};

/// Grows when a new version of arpent reads other facts from the same bytes: stored ones then are not
/// asked to be confirmed, but read again.
const READING: u32 = 3;

/// Changes with the settings that decide which URLs are known, and which facts of them. A crawl under other settings does
/// not continue: a new one begins. `lists` are the names of URL lists. Extensions are not part of it, because the pages that need them are requested again
/// ([`Judge::again`](crate::verdict::Judge::again)).
pub(crate) fn identity_of(config: &Config, lists: &[&str]) -> String {
    let sources = format!("{} {lists:?}", discover_text(config.discover));
    let written_as = config
        .written_as
        .as_ref()
        .map(|original| format!(" written_as={original}"))
        .unwrap_or_default();
    format!(
        "{:016x} parse={:016x} nofollow={} exact_depth={} sources={:016x}{written_as}",
        config.identity.fingerprint(),
        hash(&parse_text(&config.parse)),
        config.ignore.nofollow,
        config.limits.max_depth.is_some(),
        hash(&sources),
    )
}

/// The fingerprint of everything that decides which facts and links are taken from the same answer of a site with these
/// `names`.
pub(crate) fn read_as(config: &Config, site: &Site, names: Option<&SiteNames>) -> u64 {
    let names = names.map(|names| format!(" names={names}"));
    let text = reading_text(config, site) + &names.unwrap_or_default();
    hash(&text)
}

fn reading_text(config: &Config, site: &Site) -> String {
    let width = match config.scope.width {
        ScopeWidth::Directory => "Directory",
        ScopeWidth::Origin => "Origin",
    };
    let written_as = config
        .written_as
        .as_ref()
        .map_or_else(|| "None".to_owned(), |url| format!("Some(\"{url}\")"));
    format!(
        "{READING} hash={} {:016x} {} nofollow={} links={} {} {width} {written_as}{}",
        ContentHash::VERSION,
        config.identity.fingerprint(),
        parse_text(&config.parse),
        config.ignore.nofollow,
        config.discover.links,
        site.url(),
        if config.repeats.close_patterns {
            ""
        } else {
            " no_blocks"
        },
    )
}

fn parse_text(config: &ParseConfig) -> String {
    let ParseConfig {
        robots_names,
        document_types,
        max_links,
        max_link_bytes,
        max_parse_time,
        page_rules,
        render,
    } = config;
    let rules: Vec<String> = page_rules.iter().map(rule_text).collect();
    let link_bytes = if *max_link_bytes == ParseConfig::default().max_link_bytes {
        String::new()
    } else {
        format!(" max_link_bytes: {max_link_bytes},")
    };
    let render = match render.mode {
        RenderMode::Never => "",
        RenderMode::Auto => ", render: auto",
        RenderMode::Always => ", render: always",
    };
    format!(
        "ParseConfig {{ robots_names: {robots_names:?}, document_types: {document_types:?}, max_links: {max_links},{link_bytes} \
         max_parse_time: {max_parse_time:?}, page_rules: [{}]{render} }}",
        rules.join(", ")
    )
}

fn rule_text(rule: &PageRule) -> String {
    let PageRule {
        pages,
        selector,
        action,
    } = rule;
    let action = match action {
        PageAction::Exclude => "Exclude".to_owned(),
        PageAction::Lastmod { attribute } => format!("Lastmod {{ attribute: {attribute:?} }}"),
    };
    format!("PageRule {{ pages: {pages:?}, selector: {selector:?}, action: {action} }}")
}

fn discover_text(config: DiscoverConfig) -> String {
    let DiscoverConfig {
        links,
        sitemaps,
        feeds,
        list,
    } = config;
    format!(
        "DiscoverConfig {{ links: {links}, sitemaps: {sitemaps}, feeds: {feeds}, list: {list} }}"
    )
}

fn hash(text: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{site, url_key::Identity};

    fn config() -> Config {
        let mut config = Config::default();
        let rule = |action| PageRule {
            pages: "/a*".to_owned(),
            selector: "p[x=\"y\"]".to_owned(),
            action,
        };
        config.parse.robots_names = vec!["robots".to_owned()];
        config.parse.document_types = vec!["application/pdf".to_owned()];
        config.parse.page_rules = vec![
            rule(PageAction::Exclude),
            rule(PageAction::Lastmod { attribute: None }),
        ];
        config
    }

    fn site_of(config: &Config) -> Site {
        let start = Identity::default()
            .parse("https://example.com/docs/")
            .unwrap();
        site::site_of_redirects(&start, &[], config.scope.width).unwrap()
    }

    // The expected texts are in states of users: a text changes only together with its meaning.

    #[test]
    fn the_texts_of_reading_are_fixed() {
        assert_eq!(
            parse_text(&config().parse),
            r#"ParseConfig { robots_names: ["robots"], document_types: ["application/pdf"], max_links: 50000, max_parse_time: 5s, page_rules: [PageRule { pages: "/a*", selector: "p[x=\"y\"]", action: Exclude }, PageRule { pages: "/a*", selector: "p[x=\"y\"]", action: Lastmod { attribute: None } }] }"#
        );
        assert_eq!(
            discover_text(DiscoverConfig::LINKS),
            "DiscoverConfig { links: true, sitemaps: false, feeds: false, list: false }"
        );
    }

    #[test]
    fn the_values_in_states_are_fixed() {
        fn check(config: &Config, identity: &str, reading: u64) {
            assert_eq!(identity_of(config, &[]), identity);
            assert_eq!(
                format!("{:016x}", read_as(config, &site_of(config), None)),
                format!("{reading:016x}"),
                "{}",
                reading_text(config, &site_of(config))
            );
        }
        check(
            &Config::default(),
            "b8f86f803af8fbee parse=754ff4787af8740e nofollow=false exact_depth=false sources=33c7ad1bfa3b450d",
            0xb091_bd49_5e72_5428,
        );
        let mut other = config();
        other.scope.width = ScopeWidth::Origin;
        other.ignore.nofollow = true;
        other.limits.max_depth = Some(3);
        other.discover = DiscoverConfig::LINKS;
        other.written_as = Some(
            Identity::default()
                .parse("https://www.example.com/")
                .unwrap(),
        );
        check(
            &other,
            "b8f86f803af8fbee parse=491f262c95157cd3 nofollow=true exact_depth=true sources=c9dd8742dadea441 written_as=https://www.example.com/",
            0xd72a_840c_d260_ed64,
        );
    }
}
