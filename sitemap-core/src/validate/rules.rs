//! The rules of the protocol in words: their requirements, and advice for documents that break them.
//!
//! The numbers are those of `RULES.md`, which has the same titles and the details; a test keeps the two equal.

use crate::read::Rule;

/// One rule in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleText {
    /// Its number.
    pub rule: Rule,
    /// Its requirement, as a fragment of a sentence.
    pub title: &'static str,
    /// Advice for a document that breaks it, in one or two sentences.
    pub help: &'static str,
}

impl RuleText {
    /// The words for a rule; `None` for a number that is not from 1 to 80.
    pub fn of(rule: Rule) -> Option<&'static Self> {
        RULES.get(usize::from(rule.0).checked_sub(1)?)
    }
}

const fn row(number: u8, title: &'static str, help: &'static str) -> RuleText {
    RuleText {
        rule: Rule(number),
        title,
        help,
    }
}

/// All rules, in the order of their numbers.
pub const RULES: [RuleText; 80] = [
    row(
        1,
        "well-formed XML 1.0",
        "write the file with an XML library; begin with <?xml version=\"1.0\" encoding=\"UTF-8\"?> at the first byte, and leave DOCTYPEs out",
    ),
    row(
        2,
        "UTF-8",
        "save the file in UTF-8 without a byte order mark, and declare encoding=\"UTF-8\" or nothing",
    ),
    row(
        3,
        "values are entity-escaped",
        "write &amp; for every & in text and attributes",
    ),
    row(
        4,
        "the root element is <urlset>",
        "begin with <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"> and end with </urlset>, with nothing after it",
    ),
    row(
        5,
        "the namespace is http://www.sitemaps.org/schemas/sitemap/0.9",
        "write xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" exactly: http, no slash at the end",
    ),
    row(
        6,
        "one <url> element per URL",
        "put into <urlset> nothing but <url> elements, and into these only loc, lastmod, changefreq, priority and extensions",
    ),
    row(
        7,
        "one <loc> element per <url>",
        "give every <url> exactly one <loc> with the address of the page, or leave the entry out",
    ),
    row(
        8,
        "other elements are optional, each at most once",
        "write loc, lastmod, changefreq, priority, then extensions, each once",
    ),
    row(
        9,
        "loc is an absolute URL",
        "write the whole address with http:// or https://, host and path, without user name and password",
    ),
    row(
        10,
        "loc is the address that the server wants",
        "list the address that answers without a redirect",
    ),
    row(
        11,
        "loc has fewer than 2,048 characters",
        "shorten the URL to at most 2,047 characters, counted after percent-encoding",
    ),
    row(
        12,
        "no white space in or around loc",
        "write <loc> and the URL on one line without spaces or line breaks between them",
    ),
    row(
        13,
        "lastmod is a W3C date-time",
        "write YYYY-MM-DD, or YYYY-MM-DDThh:mm:ss with Z or an offset such as +01:00; without a date leave the element out",
    ),
    row(
        14,
        "lastmod is when the page changed",
        "write when the content of the page last changed, not when the sitemap was made; leave it out when that is not known",
    ),
    row(
        15,
        "lastmod is separate from the If-Modified-Since header",
        "the two need not be equal; see that lastmod moves when the content does",
    ),
    row(
        16,
        "changefreq is one of seven words",
        "write always, hourly, daily, weekly, monthly, yearly or never, in lower case without spaces",
    ),
    row(
        17,
        "changefreq is a hint",
        "give each page its real frequency of change, or leave the element out: Google and Bing ignore it",
    ),
    row(
        18,
        "priority is a decimal from 0.0 to 1.0",
        "write a number such as 0.8, with a point and without an exponent",
    ),
    row(
        19,
        "priority is relative within the site, 0.5 when missing",
        "equal priorities have no effect: leave them out",
    ),
    row(
        20,
        "& ' \" > < are escaped",
        "write &amp; &apos; &quot; &gt; &lt;, each character once",
    ),
    row(
        21,
        "only characters of XML 1.0",
        "remove control characters; in URLs percent-encode them",
    ),
    row(
        22,
        "no entities but those of XML",
        "write the character itself in UTF-8, or a reference to its number such as &#160;",
    ),
    row(
        23,
        "URLs are escaped for their server",
        "percent-encode characters beyond ASCII, as bytes of the encoding that the server expects, usually UTF-8",
    ),
    row(
        24,
        "URLs follow RFC 3986",
        "percent-encode spaces and < > \" { } | \\ ^ `, write % itself as %25, and hosts in their xn-- form",
    ),
    row(
        25,
        "percent-encoding comes before entities",
        "first percent-encode the URL, then escape its & as &amp;",
    ),
    row(
        26,
        "one entry per URL",
        "list each page once, in one file, under the form of its address that your links use",
    ),
    row(
        27,
        "at most 50,000 URLs per sitemap",
        "divide the list over several sitemaps and list these in an index",
    ),
    row(
        28,
        "at most 52,428,800 bytes per sitemap, uncompressed",
        "divide the list over several sitemaps; compression does not count",
    ),
    row(
        29,
        "compressed with gzip or not at all",
        "compress the file once, with gzip, and append nothing",
    ),
    row(
        30,
        "more than 50,000 URLs mean several sitemaps",
        "divide the list over several sitemaps, and list these in an index",
    ),
    row(
        31,
        "several sitemaps are listed in an index",
        "write a <sitemapindex> that lists all of them, and name only it in robots.txt",
    ),
    row(
        32,
        "at most 50,000 sitemaps per index",
        "write a second index and name both in robots.txt",
    ),
    row(
        33,
        "an index has at most 52,428,800 bytes, and may be gzipped",
        "write a second index and name both in robots.txt",
    ),
    row(
        34,
        "several indexes are allowed",
        "name each of them in robots.txt, or all their sitemaps in one of them",
    ),
    row(
        35,
        "the root element is <sitemapindex>, in the same namespace",
        "begin with <sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"> and end with </sitemapindex>",
    ),
    row(
        36,
        "one <sitemap> with one <loc> per sitemap",
        "put into an index nothing but <sitemap> elements, and into these one loc and at most one lastmod after it",
    ),
    row(
        37,
        "an index lists sitemaps of its own site",
        "list sitemaps of the same scheme, host and port, in the directory of the index or below",
    ),
    row(
        38,
        "an index is in UTF-8",
        "save the file in UTF-8 without a byte order mark, and declare encoding=\"UTF-8\" or nothing",
    ),
    row(
        39,
        "values of an index are entity-escaped",
        "write &amp; for every & in text and attributes",
    ),
    row(
        40,
        "an index lists sitemaps, feeds and text files that exist, but no index",
        "list every sitemap in one index that no other index lists, and nothing that cannot be read",
    ),
    row(
        41,
        "lastmod in an index is when the file changed",
        "write when the bytes of each sitemap last changed, not the time at which the index is made",
    ),
    row(
        42,
        "lastmod in an index is a W3C date-time",
        "write YYYY-MM-DD, or YYYY-MM-DDThh:mm:ss with Z or an offset such as +01:00",
    ),
    row(
        43,
        "consumers may fetch only what changed",
        "state lastmod for every sitemap of an index, so that unchanged ones are not read again",
    ),
    row(
        44,
        "each sitemap of an index is valid at its own place",
        "put each sitemap into a directory that covers its URLs; where its index stands does not help",
    ),
    row(
        45,
        "feeds are RSS 2.0, Atom 0.3 or Atom 1.0",
        "publish the feed as RSS 2.0 or Atom 1.0",
    ),
    row(
        46,
        "the link of a feed's item is its URL",
        "give every item a <link> with the absolute address of its page",
    ),
    row(
        47,
        "pubDate or updated is the date of change",
        "write pubDate as in RFC 822 with a year of four digits (RSS), updated as in RFC 3339 (Atom)",
    ),
    row(
        48,
        "a feed lists recent URLs only",
        "publish a sitemap of all URLs beside the feed",
    ),
    row(
        49,
        "a feed stands in the highest directory that it lists",
        "move the feed up, or leave out what is outside of its directory",
    ),
    row(
        50,
        "a text file has one URL per line",
        "write one URL per line and no blank lines",
    ),
    row(
        51,
        "a text file has absolute URLs",
        "write the whole address with http:// or https:// on every line",
    ),
    row(
        52,
        "a text file has at most 50,000 URLs and 52,428,800 bytes",
        "divide the list over several files",
    ),
    row(
        53,
        "a text file is in UTF-8",
        "save the file in UTF-8 without a byte order mark",
    ),
    row(
        54,
        "a text file has nothing but URLs",
        "remove titles, columns, comments and tabs",
    ),
    row(
        55,
        "a text file has no header and no footer",
        "begin with the first URL and end with the last one",
    ),
    row(
        56,
        "a text file may be gzipped",
        "compress the file once, with gzip",
    ),
    row(
        57,
        "a text file stands in the highest directory that it lists",
        "move the file up, or leave out what is outside of its directory",
    ),
    row(
        58,
        "a sitemap lists only URLs of its own directory and below",
        "move the sitemap up to a directory that covers the URL, or list the URL in a sitemap there",
    ),
    row(
        59,
        "URLs have the scheme of the sitemap",
        "list http and https addresses in sitemaps of their own, served in the same way; best list only one of the two",
    ),
    row(
        60,
        "URLs are of the host of the sitemap",
        "list each host in a sitemap of its own; www and other subdomains are hosts of their own",
    ),
    row(
        61,
        "URLs that may not be listed are dropped, the others count",
        "move the reported URLs to a sitemap that may list them, or take them out",
    ),
    row(
        62,
        "the root directory is the best place for a sitemap",
        "a sitemap in the root directory may list every URL of its host",
    ),
    row(
        63,
        "sections with owners of their own have sitemaps of their own",
        "put each section's sitemap into the directory of the section",
    ),
    row(
        64,
        "URLs have the port of the sitemap",
        "write the port of the sitemap's own address into every URL, or none if that has none",
    ),
    row(
        65,
        "a sitemap on another host needs a line in robots.txt",
        "add a line \"Sitemap: <address of the sitemap>\" to the robots.txt of the host whose URLs it lists",
    ),
    row(
        66,
        "a sitemap on another host lists one host",
        "write one sitemap (or index) for each host whose robots.txt points to it",
    ),
    row(
        67,
        "proof is per host",
        "each host needs the line in its own robots.txt, http and https apart",
    ),
    row(
        68,
        "valid by the official schemas",
        "write at least one entry, and only what the schemas allow",
    ),
    row(
        69,
        "schemaLocation names the schema of this kind of file",
        "name sitemap.xsd for a urlset and siteindex.xsd for a sitemapindex, or leave the attribute out",
    ),
    row(
        70,
        "namespaces of extensions are declared in the root element",
        "declare each prefix that is used on the root element",
    ),
    row(
        71,
        "extensions stand in <url>, after the elements of the protocol",
        "write extensions as their owners describe them; other consumers skip them",
    ),
    row(
        72,
        "there are three ways to notify search engines",
        "use robots.txt, the engine's own interface, or IndexNow",
    ),
    row(
        73,
        "robots.txt names sitemaps by their whole address",
        "write Sitemap: https://host/sitemap.xml, with scheme and host",
    ),
    row(
        74,
        "Sitemap lines are independent of user agents",
        "put the line anywhere in robots.txt",
    ),
    row(
        75,
        "a line for the index is enough",
        "name the index only; what it lists is found through it",
    ),
    row(
        76,
        "a ping has the address of the sitemap percent-encoded",
        "Google and Bing have closed their interfaces; use robots.txt",
    ),
    row(
        77,
        "200 means that a ping was received, no more",
        "send again later when the answer was another",
    ),
    row(
        78,
        "one ping for an index is enough",
        "announce the index only",
    ),
    row(
        79,
        "a sitemap does not exclude, robots.txt and robots meta tags do",
        "do not list what robots.txt disallows or pages with noindex, or allow it",
    ),
    row(
        80,
        "what no sitemap lists may be indexed nevertheless",
        "absence excludes nothing: keep pages out with robots.txt or noindex",
    ),
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
        }
        assert_eq!(RuleText::of(Rule(0)), None);
        assert_eq!(RuleText::of(Rule(81)), None);
    }

    #[test]
    fn rules_md_has_the_same_titles() {
        // What Markdown would take for a tag is marked as code there.
        let document = include_str!("../../RULES.md").replace(['`', '\\'], "");
        for text in &RULES {
            let row = format!("| {} | {} |", text.rule, text.title);
            let rows = document.lines().filter(|line| line.starts_with(&row));
            let rows: Vec<&str> = rows.collect();
            assert_eq!(rows.len(), 1, "{row}");
            let cells: Vec<&str> = rows[0]
                .trim_matches('|')
                .split('|')
                .map(str::trim)
                .collect();
            let [_, _, example, writer, reader, check] = cells[..] else {
                panic!("{row}: {cells:?}");
            };
            assert!(!example.is_empty(), "{row} has no example");
            // A ping is sent by others.
            let says_something = [writer, reader, check].iter().any(|cell| *cell != "-");
            assert!(says_something || (76..=78).contains(&text.rule.0), "{row}");
        }
    }
}
