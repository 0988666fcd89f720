//! The rules of the protocol in words: their requirements, and advice for documents that break them.
//!
//! The requirements are the titles in the tables of `RULES.md`, which has the details as well.

use std::sync::LazyLock;

use crate::read::Rule;

/// One rule in words.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleText {
    /// Its number.
    pub rule: Rule,
    /// Its requirement, as a fragment of a sentence.
    pub title: String,
    /// Advice for a document that breaks it, in one or two sentences.
    pub help: &'static str,
}

impl RuleText {
    /// The words for a rule; `None` for a number that is not from 1 to 80.
    pub fn of(rule: Rule) -> Option<&'static Self> {
        RULES.get(usize::from(rule.0).checked_sub(1)?)
    }
}

/// All rules, in the order of their numbers.
pub static RULES: LazyLock<Vec<RuleText>> = LazyLock::new(|| {
    let rows = include_str!("../../RULES.md").lines();
    let titles = rows.filter_map(|row| row.strip_prefix("| R")?.split(" | ").nth(1));
    let texts = (1..).zip(titles).zip(HELP);
    let texts = texts.map(|((number, title), help)| RuleText {
        rule: Rule(number),
        // What Markdown would take for a tag is marked as code, or escaped.
        title: title.replace(['`', '\\'], ""),
        help,
    });
    texts.collect()
});

/// Advice for each rule, in the order of their numbers.
const HELP: [&str; 80] = [
    "write the file with an XML library; begin with <?xml version=\"1.0\" encoding=\"UTF-8\"?> at the first byte, and leave DOCTYPEs out",
    "save the file in UTF-8 without a byte order mark, and declare encoding=\"UTF-8\" or nothing",
    "write &amp; for every & in text and attributes",
    "begin with <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"> and end with </urlset>, with nothing after it",
    "write xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" exactly: http, no slash at the end",
    "put into <urlset> nothing but <url> elements, and into these only loc, lastmod, changefreq, priority and extensions",
    "give every <url> exactly one <loc> with the address of the page, or leave the entry out",
    "write loc, lastmod, changefreq, priority, then extensions, each once",
    "write the whole address with http:// or https://, host and path, without user name and password",
    "list the address that answers without a redirect",
    "shorten the URL to at most 2,047 characters, counted after percent-encoding",
    "write <loc> and the URL on one line without spaces or line breaks between them",
    "write YYYY-MM-DD, or YYYY-MM-DDThh:mm:ss with Z or an offset such as +01:00; without a date leave the element out",
    "write when the content of the page last changed, not when the sitemap was made; leave it out when that is not known",
    "the two need not be equal; see that lastmod moves when the content does",
    "write always, hourly, daily, weekly, monthly, yearly or never, in lower case without spaces",
    "give each page its real frequency of change, or leave the element out: Google and Bing ignore it",
    "write a number such as 0.8, with a point and without an exponent",
    "equal priorities have no effect: leave them out",
    "write &amp; &apos; &quot; &gt; &lt;, each character once",
    "remove control characters; in URLs percent-encode them",
    "write the character itself in UTF-8, or a reference to its number such as &#160;",
    "percent-encode characters beyond ASCII, as bytes of the encoding that the server expects, usually UTF-8",
    "percent-encode spaces and < > \" { } | \\ ^ `, write % itself as %25, and hosts in their xn-- form",
    "first percent-encode the URL, then escape its & as &amp;",
    "list each page once, in one file, under the form of its address that your links use",
    "divide the list over several sitemaps and list these in an index",
    "divide the list over several sitemaps; compression does not count",
    "compress the file once, with gzip, and append nothing",
    "divide the list over several sitemaps, and list these in an index",
    "write a <sitemapindex> that lists all of them, and name only it in robots.txt",
    "write a second index and name both in robots.txt",
    "write a second index and name both in robots.txt",
    "name each of them in robots.txt, or all their sitemaps in one of them",
    "begin with <sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"> and end with </sitemapindex>",
    "put into an index nothing but <sitemap> elements, and into these one loc and at most one lastmod after it",
    "list sitemaps of the same scheme, host and port, in the directory of the index or below",
    "save the file in UTF-8 without a byte order mark, and declare encoding=\"UTF-8\" or nothing",
    "write &amp; for every & in text and attributes",
    "list every sitemap in one index that no other index lists, and nothing that cannot be read",
    "write when the bytes of each sitemap last changed, not the time at which the index is made",
    "write YYYY-MM-DD, or YYYY-MM-DDThh:mm:ss with Z or an offset such as +01:00",
    "state lastmod for every sitemap of an index, so that unchanged ones are not read again",
    "put each sitemap into a directory that covers its URLs; where its index stands does not help",
    "publish the feed as RSS 2.0 or Atom 1.0",
    "give every item a <link> with the absolute address of its page",
    "write pubDate as in RFC 822 with a year of four digits (RSS), updated as in RFC 3339 (Atom)",
    "publish a sitemap of all URLs beside the feed",
    "move the feed up, or leave out what is outside of its directory",
    "write one URL per line and no blank lines",
    "write the whole address with http:// or https:// on every line",
    "divide the list over several files",
    "save the file in UTF-8 without a byte order mark",
    "remove titles, columns, comments and tabs",
    "begin with the first URL and end with the last one",
    "compress the file once, with gzip",
    "move the file up, or leave out what is outside of its directory",
    "move the sitemap up to a directory that covers the URL, or list the URL in a sitemap there",
    "list http and https addresses in sitemaps of their own, served in the same way; best list only one of the two",
    "list each host in a sitemap of its own; www and other subdomains are hosts of their own",
    "move the reported URLs to a sitemap that may list them, or take them out",
    "a sitemap in the root directory may list every URL of its host",
    "put each section's sitemap into the directory of the section",
    "write the port of the sitemap's own address into every URL, or none if that has none",
    "add a line \"Sitemap: <address of the sitemap>\" to the robots.txt of the host whose URLs it lists",
    "write one sitemap (or index) for each host whose robots.txt points to it",
    "each host needs the line in its own robots.txt, http and https apart",
    "write at least one entry, and only what the schemas allow",
    "name sitemap.xsd for a urlset and siteindex.xsd for a sitemapindex, or leave the attribute out",
    "declare each prefix that is used on the root element",
    "write extensions as their owners describe them; other consumers skip them",
    "use robots.txt, the engine's own interface, or IndexNow",
    "write Sitemap: https://host/sitemap.xml, with scheme and host",
    "put the line anywhere in robots.txt",
    "name the index only; what it lists is found through it",
    "Google and Bing have closed their interfaces; use robots.txt",
    "send again later when the answer was another",
    "announce the index only",
    "do not list what robots.txt disallows or pages with noindex, or allow it",
    "absence excludes nothing: keep pages out with robots.txt or noindex",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_found_by_its_number() {
        for number in 1..=80 {
            let text = RuleText::of(Rule(number)).unwrap();
            assert_eq!(text.rule, Rule(number));
            assert!(!text.title.is_empty() && !text.help.is_empty());
            assert!(!text.help.ends_with('.'), "{text:?}");
            let row = format!("\n| R{number} | ");
            assert_eq!(
                include_str!("../../RULES.md").matches(&row).count(),
                1,
                "{row}"
            );
        }
        assert_eq!(
            RuleText::of(Rule(20)).unwrap().title,
            "& ' \" > < are escaped"
        );
        assert_eq!(RuleText::of(Rule(0)), None);
        assert_eq!(RuleText::of(Rule(81)), None);
    }
}
