//! Problems of sitemaps, feeds and their entries: which of them are reported, and their effect on the set.

use std::collections::{BTreeMap, BTreeSet};

use super::{asked, bench, crawl_to, cut, gzipped, index, pages, site, troubles, urlset};
use crate::support::{site::Response, state::records};

#[test]
fn documents_that_cannot_be_read_are_reported() {
    let site = site(|request, origin| {
        Some(match request.target.as_str() {
            "/robots.txt" => Response::text(format!(
                "User-agent: *\nDisallow: /secret.xml\n\nSitemap: {origin}/index.xml\n\
                 sitemap: relative.xml\nSITEMAP: {origin}/index.xml\nSitemap: ftp://files.example/a.xml\n"
            )),
            "/index.xml" => index(
                [
                    "html.xml",
                    "error.xml",
                    "cut.xml",
                    "cut.xml.gz",
                    "short.xml",
                    "secret.xml",
                    "circle.xml",
                    "nowhere.xml",
                    "drop.xml",
                    "odd.xml",
                    "index.xml",
                ]
                .map(|name| format!("{origin}/{name}")),
            ),
            "/relative.xml" => urlset(pages(origin, "relative", 3)),
            "/html.xml" => Response::html("<!doctype html><title>Not here</title><p>Sorry"),
            "/error.xml" => Response::status(500),
            "/cut.xml" => cut(urlset(pages(origin, "cut", 5)), 12),
            "/cut.xml.gz" => cut(gzipped(&urlset(pages(origin, "zip", 5))), 9),
            "/short.xml" => {
                let whole = urlset(pages(origin, "short", 5));
                Response {
                    announced: Some(whole.body.len()),
                    ..cut(whole, 12)
                }
            }
            "/circle.xml" => Response::redirect(301, "/circle.xml"),
            "/nowhere.xml" => Response::status(301),
            "/drop.xml" => Response::dropped(),
            "/odd.xml" => Response::status(418),
            _ => return None,
        })
    });
    let bench = bench();
    let config = bench.settings("limits.max_tries = 1\ntesting.failures_before_pause = 1000\n");
    let summary = crawl_to(3, &bench, &site, &["--config", &config]);
    let problems = troubles(&summary).into_iter();
    let problems: BTreeMap<String, String> = problems
        .map(|(name, problem)| (name.replace(&site.origin(), ""), problem))
        .collect();
    let expected = [
        ("/html.xml", "not-a-sitemap"),
        ("/error.xml", "server-error"),
        ("/cut.xml", "truncated"),
        ("/cut.xml.gz", "damaged"),
        ("/short.xml", "cut-short"),
        ("/secret.xml", "robots-disallowed"),
        ("/circle.xml", "bad-redirect"),
        ("/nowhere.xml", "bad-redirect"),
        ("/drop.xml", "network-error"),
        ("/odd.xml", "bad-status"),
        ("/index.xml", "loop"),
        ("/relative.xml", "relative-url"),
        ("ftp://files.example/a.xml", "bad-url"),
    ];
    let expected = expected.map(|(name, problem)| (name.to_owned(), problem.to_owned()));
    assert_eq!(problems, BTreeMap::from(expected));
    let found: BTreeSet<String> = records(&bench).into_keys().collect();
    assert!(found.contains("/p/cut-3"), "{found:?}");
    assert!(found.contains("/p/relative-2"), "{found:?}");
    assert_eq!(asked(&site, "/secret.xml"), 0);
    assert_eq!(asked(&site, "/index.xml"), 1);
}
