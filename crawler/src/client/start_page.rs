//! The begin of a crawl alone, for who looks at a site without crawling it: the start URL and its redirects.

use std::sync::Arc;

use super::{
    download::Downloader,
    shutdown::Shutdown,
    start::{self, Guide, StartError},
};
use crate::{
    config::Config, notes::Note, page::PageFacts, parse::PageReader, robots::Rules, site::Site,
    url_key::UrlKey,
};

/// The site that a start URL leads to, and the answers on the way.
#[derive(Debug)]
pub struct StartPage {
    /// The site.
    pub site: Site,
    /// The URLs that answered, the start page last.
    pub hops: Vec<(UrlKey, PageFacts)>,
    /// The robots.txt of the site.
    pub robots: Rules,
    /// What the user should know of the way.
    pub notes: Vec<Note>,
}

/// Asks for the start URL `typed` and follows its redirects to the site, as a crawl by `config` does.
///
/// # Errors
/// See [`StartError`]: a crawl could not begin.
pub async fn start_page(
    downloader: &Downloader,
    typed: &UrlKey,
    config: &Config,
    reader: &Arc<PageReader>,
    shutdown: &Shutdown,
) -> Result<StartPage, StartError> {
    let gate = downloader.gate_of_pages(&config.identity);
    let guide = Guide {
        gate: &gate,
        reader,
        config,
        stop: &shutdown.stop,
    };
    let started = Box::pin(start::start(&guide, typed)).await?;
    downloader.know(&started.site.origin, started.robots.clone());
    let hops = started.hops.into_iter();
    Ok(StartPage {
        site: started.site,
        hops: hops.map(|hop| (hop.url, hop.facts)).collect(),
        robots: started.robots,
        notes: started.notes,
    })
}
