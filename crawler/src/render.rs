//! Pages as a browser shows them. A crawl decides which pages are rendered and answers all that they ask for; whoever implements
//! [`Render`] runs their scripts, and has no network of its own.

use std::sync::Arc;

use crate::{config::RenderConfig, fetch::BoxFuture, url_key::UrlKey};

/// Opens the browser of a session, which begins with its first page and ends with its last handle.
///
/// # Errors
/// There is no program for it; the text names what to do.
pub type OpenBrowser = Arc<dyn Fn(&RenderConfig) -> Result<Arc<dyn Render>, String> + Send + Sync>;

/// Runs the scripts of pages.
pub trait Render: Send + Sync {
    /// Shows a page until nothing more comes, or its time is over.
    ///
    /// # Errors
    /// See [`RenderError`].
    fn render(&self, page: PageToRender) -> BoxFuture<'_, Result<RenderedPage, RenderError>>;
}

/// A page that was answered.
#[expect(missing_debug_implementations, reason = "it holds a trait object")]
pub struct PageToRender {
    /// The URL.
    pub url: UrlKey,
    /// `Content-Type` as it was sent.
    pub content_type: String,
    /// The body, without its content coding.
    pub body: Vec<u8>,
    /// Answers everything else that the page asks for.
    pub resources: Arc<dyn Resources>,
}

/// Answers the requests of a page that is rendered.
pub trait Resources: Send + Sync {
    /// The answer to a request; `None`: it is not sent.
    fn answer(&self, request: ResourceRequest) -> BoxFuture<'_, Option<Resource>>;
}

/// A request of a page that is rendered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceRequest {
    /// The method, in capitals.
    pub method: String,
    /// The URL as the page has it.
    pub url: String,
    /// What it is for.
    pub kind: ResourceKind,
}

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResourceKind {
    /// A script.
    Script,
    /// A style sheet.
    Style,
    /// Data that a script asks for.
    Data,
    /// Whatever adds neither links nor text: images, media, fonts, beacons.
    Other,
}

/// The answer to a request of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// HTTP status.
    pub status: u16,
    /// `Content-Type`; empty: none.
    pub content_type: String,
    /// The body.
    pub body: Vec<u8>,
}

/// A page as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedPage {
    /// The document as HTML in UTF-8, with its shadow roots as templates.
    pub html: Vec<u8>,
    /// URLs that the page went to by itself.
    pub redirects: Vec<String>,
    /// Elements that react to clicks and are neither links nor parts of forms.
    pub clicks: u64,
    /// Its time was over before nothing more came.
    pub is_cut: bool,
}

/// Why a page is not shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// The page crashed, or nothing of it was shown in time.
    #[error("{0}")]
    Page(String),
    /// There is no browser any more.
    #[error("the browser ended: {0}")]
    Browser(String),
}
