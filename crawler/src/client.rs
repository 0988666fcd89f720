//! The client of the crawl and of every command that sends requests: robots.txt, permits, tries, waits and redirects in one
//! place.
//!
//! A request goes through one `gate`, under the clocks of its host. Documents and pages come through a [`Downloader`], the
//! site of a start URL through [`start_page`]. It stores nothing and decides no verdict.

mod call;
pub(crate) mod challenge;
mod cookies;
mod download;
mod downloaders;
pub(crate) mod gate;
pub(crate) mod names;
pub(crate) mod page_sink;
mod shutdown;
pub(crate) mod signal;
pub(crate) mod start;
mod start_page;
mod stop;

#[cfg(test)]
mod tests;

pub use self::{
    call::{Call, CallAnswer, CallError, Retry},
    download::{ConnectError, DownloadError, DownloadedDocument, Downloader, MAX_DOCUMENT_BYTES},
    downloaders::{Downloaders, with_https_twin},
    shutdown::Shutdown,
    start::StartError,
    start_page::{StartPage, start_page},
    stop::{Reaction, SignalRequest, Stop, StopSignal},
};
