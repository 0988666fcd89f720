//! The crawl engine of arpent as a library: it walks one site politely, keeps what it learns in a
//! store, and publishes a set of sitemaps from that store. It prints nothing and reads no
//! environment.
//!
//! `crawler/ARCHITECTURE.md` has the modules, who uses whom, the life of a URL and of a crawl, and the tables of the state.
//! The order of the `mod` lines is that of its table: a module uses those below it.

#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub mod driver;

pub mod failure;
pub mod summary;

pub mod site_run;

pub mod audit;
pub mod site_report;
pub mod survey;
pub mod why;

pub mod notify;
pub mod served;

pub mod build;
pub mod diff;
pub mod sitemap_set;

pub mod check;
mod crawl;

pub mod publish;

pub mod export;
mod lastmod;
pub mod report;
pub mod schedule;

pub mod crawl_state;

pub mod client;

pub mod frontier;
pub mod politeness;
pub mod repeats;
pub mod verdict;

pub mod scope;
pub mod seeds;

pub mod parse;
pub mod robots;

mod html;

pub mod render;

pub mod fetch;

pub mod retry_after;
#[cfg_attr(not(feature = "cloud"), path = "storage/none.rs")]
pub mod storage;
pub mod store;

pub mod machine;

pub mod site;

pub mod config;
pub mod notes;
pub mod outcome;
pub mod page;
pub mod pattern;

pub mod url_key;

pub mod view;

pub mod clock;
pub mod human;

/// `true` if this was built for tests: with debug assertions, or with the feature `testing`. Only such a program may offer
/// functions that only a test has a use for, e.g. faults on demand.
pub const IS_FOR_TESTS: bool = cfg!(any(debug_assertions, feature = "testing"));
