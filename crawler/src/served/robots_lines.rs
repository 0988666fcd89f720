//! The `Sitemap` lines that a robots.txt has (<https://www.sitemaps.org/protocol.html#submit_robots>): each is alone, whatever
//! group is around it.

use crate::{
    robots::Rules,
    url_key::{Identity, UrlKey},
};

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

#[cfg(test)]
mod tests {
    use super::*;

    const SITEMAP: &str = "https://example.com/sitemap.xml";

    #[test]
    fn a_line_is_there_however_it_is_written() {
        let check = |body: &str, is_there: bool| {
            let rules = Rules::parse(body.as_bytes(), "*");
            let sitemaps = [SITEMAP.to_owned()];
            assert_eq!(
                missing_lines(&rules, &sitemaps).is_empty(),
                is_there,
                "{body:?}"
            );
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
}
