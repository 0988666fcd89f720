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
//! A room may use rooms below it, never above or beside unless its module says so.
//!
//! | room | question it answers |
//! | --- | --- |
//! | [`notify`] | who is told of what was published, and how? |
//! | [`engine`] | what happens next? The only place that starts work |
//! | [`build`] | which records do lists and folders make, without a request? |
//! | [`publish`] | how does a new set of files become visible at once? |
//! | [`export`] | which entry does this page become, or why none? |
//! | [`schedule`] | which site is crawled next, and when? |
//! | [`report`] | how many URLs are in which state, for which reason? |
//! | [`frontier`] | which URL is next? |
//! | [`politeness`] | may the host be contacted now? |
//! | [`robots`] | does robots.txt allow this URL? |
//! | [`scope`] | does this URL belong to the crawl? |
//! | [`verdict`] | is this page listed, and which links are followed? |
//! | [`parse`] | what does this answer say? |
//! | [`seeds`] | what do sitemaps, feeds and lists name? |
//! | [`fetch`] | one request, one answer |
//! | [`store`] | what is known, durably |
//! | [`runs`] | which run is open, which begins? |
//! | [`holds`] | which hosts asked to wait, across starts? |
//! | `machine` | what do the machine and its disks say of themselves? |
//! | [`page`], [`site`], [`url_key`], [`pattern`], [`config`], [`clock`] | the words everything else is written in |

pub mod notify;

pub mod build;
pub mod engine;

pub mod publish;

pub mod export;
pub mod report;
pub mod schedule;

pub mod frontier;
pub mod politeness;
pub mod robots;
pub mod scope;
pub mod verdict;

pub mod parse;
pub mod seeds;

pub mod fetch;

pub mod store;

pub mod holds;
pub mod runs;

mod machine;

pub mod clock;
pub mod config;
pub mod page;
pub mod pattern;
pub mod site;
pub mod url_key;

#[cfg(any(test, feature = "testing"))]
pub mod testing;
