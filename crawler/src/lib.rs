//! The crawl engine of arpent as a library: it walks one site politely, keeps what it learns in a
//! store, and publishes a set of sitemaps from that store. It prints nothing and reads no
//! environment.
//!
//! # Flow
//! ```text
//! start URL -> start (robots.txt, redirects, which site and scope)
//!    -> seeds (sitemaps of robots.txt, feeds of pages, lists of the user), beside the pages
//!    -> frontier (queued URLs, in order)  -> politeness: a turn for the host
//!    -> fetch (one request, no redirect followed, streamed, capped)
//!    -> parse while it streams            -> verdict: state, reason, what to follow
//!    -> one atomic commit: record + new URLs
//!    ... frontier drained ...
//!    -> export in URL order -> partition -> sitemap-core writers -> check -> atomic publish
//!    -> notify: an engine gets the URLs that changed, robots.txt its line, hooks the summary
//! ```
//!
//! # Map, top to bottom
//! A room uses rooms below it, never above or beside. The order of the table, of the `mod` lines and of the list in
//! `tests/it/architecture.rs`, which says who uses whom and is checked against the sources, is one.
//!
//! | room | question it answers |
//! | --- | --- |
//! | `testing` | what do tests crawl instead of a site? |
//! | [`notify`] | who is told of what was published, and how? |
//! | [`build`] | which records do lists and folders make, without a request? |
//! | [`check`] | what is wrong with the sitemaps of a folder, or of a site as it is served? |
//! | [`engine`] | what happens next? It starts the tasks of a crawl and alone writes its state |
//! | [`publish`] | how does a new set of files become visible at once? |
//! | [`export`] | which entry does this page become, or why none? |
//! | `lastmod` | when did a page change, and who says so? |
//! | [`report`] | how many URLs are in which state, for which reason? |
//! | [`schedule`] | which site is crawled next, and when? |
//! | [`frontier`] | which URL is next? |
//! | [`politeness`] | may the host be contacted now? |
//! | [`verdict`] | is this page listed, and which links are followed? |
//! | [`scope`] | does this URL belong to the crawl? |
//! | [`seeds`] | what do sitemaps, feeds and lists name? |
//! | [`parse`] | what does this answer say? |
//! | [`robots`] | does robots.txt allow this URL? |
//! | [`fetch`] | one request, one answer |
//! | [`runs`] | which run is open, which begins? |
//! | [`holds`] | which hosts asked to wait, across starts? |
//! | [`store`] | what is known, durably |
//! | `machine` | what do the machine and its disks say of themselves, and what runs on it? |
//! | [`site`], [`config`], [`notes`], [`page`], [`pattern`], [`url_key`], [`clock`] | the words everything else is written in |

#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub mod notify;

pub mod build;
pub mod check;
pub mod engine;

pub mod publish;

pub mod export;
mod lastmod;
pub mod report;
pub mod schedule;

pub mod frontier;
pub mod politeness;
pub mod verdict;

pub mod scope;
pub mod seeds;

pub mod parse;
pub mod robots;

pub mod fetch;

pub mod runs;

pub mod holds;
pub mod store;

mod machine;

pub mod site;

pub mod config;
pub mod notes;
pub mod page;
pub mod pattern;

pub mod url_key;

pub mod clock;

/// Whether this was built for tests: with debug assertions, or with the feature `testing`. Only such a program may offer
/// seams that nobody but a test has a use for, e.g. faults on demand.
pub const IS_FOR_TESTS: bool = cfg!(any(debug_assertions, feature = "testing"));
