//! Tests through the binary, over sockets, and over the conformance tables of other projects.

#[expect(
    unreachable_pub,
    reason = "what the support modules offer is public to the tests"
)]
mod support;

mod architecture;
mod audit;
mod build;
#[cfg(all(target_os = "linux", feature = "catalogue"))]
mod catalogue;
mod check;
mod check_live;
mod check_published;
mod cli;
#[cfg(feature = "cloud")]
mod cloud;
mod conformance_html;
mod conformance_robots;
mod conformance_sitemaps;
mod conformance_url;
mod cookies;
#[cfg(unix)]
mod daemon;
mod diff;
mod discovery;
mod documentation;
mod exit_codes;
mod extensions;
#[cfg(all(target_os = "linux", feature = "catalogue"))]
mod fleet;
mod formats;
mod fuzz_inputs;
mod generate;
mod generations;
mod guard;
mod hints;
mod hosts;
mod identity;
mod init;
mod kill;
mod lastmod;
mod limits;
#[cfg(all(unix, feature = "metrics"))]
mod metrics;
mod news_and_videos;
mod notify;
mod numbers;
mod options;
#[cfg(all(unix, feature = "page"))]
mod page;
mod politeness;
mod publish_by_hand;
mod real_world;
mod reasons;
mod recrawl;
mod reference_model;
#[cfg(all(target_os = "linux", feature = "render"))]
mod render;
mod report;
mod safe;
mod schemas;
mod sections;
mod sites;
mod traps;
mod typed_site;
mod verdicts;
mod well_formed;
mod why;
mod words;
mod wrong_invocations;
