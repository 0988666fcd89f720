//! The addresses at which the owner of a site submits a sitemap by hand ("Submitting your Sitemap via the search engine's
//! submission interface", <https://www.sitemaps.org/protocol.html#submit_interface>).

/// A search engine with an interface for owners of sites.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Engine {
    /// The name.
    pub name: &'static str,
    /// The page to open.
    pub page: &'static str,
    /// The known use of sitemaps by the engine, a fragment.
    pub note: &'static str,
    /// `true` if it is notified of changed URLs by `IndexNow`.
    pub takes_indexnow: bool,
}

/// The engines, the largest first.
pub const ENGINES: [Engine; 5] = [
    Engine {
        name: "Google Search Console",
        page: "https://search.google.com/search-console/sitemaps",
        note: "reads indexes, and the Sitemap line in robots.txt; takes no pings",
        takes_indexnow: false,
    },
    Engine {
        name: "Bing Webmaster Tools",
        page: "https://www.bing.com/webmasters/sitemaps",
        note: "reads indexes, and the Sitemap line in robots.txt; takes no pings",
        takes_indexnow: true,
    },
    Engine {
        name: "Yandex Webmaster",
        page: "https://webmaster.yandex.com/",
        note: "reads indexes, and the Sitemap line in robots.txt",
        takes_indexnow: true,
    },
    Engine {
        name: "Naver Search Advisor",
        page: "https://searchadvisor.naver.com/",
        note: "reads the Sitemap line in robots.txt",
        takes_indexnow: true,
    },
    Engine {
        name: "Seznam Webmaster",
        page: "https://reporter.seznam.cz/wm/",
        note: "reads the Sitemap line in robots.txt, else /sitemap.xml",
        takes_indexnow: true,
    },
];
