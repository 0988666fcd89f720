//! The new text of a page, and how far the page is from one that has some.

use super::words::words;

words! {
    /// The text of a page, compared with the pages before it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum TextNovelty {
        /// At least half of its text is on no page before it.
        New = "new",
        /// The same as a page of its name in another directory: a version, a language, a mirror.
        Copy = "copy",
        /// Nothing new.
        Nothing = "nothing",
    }
}

/// The part of a page in the growth of the site, as the state has it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reading {
    /// Pages in a row that said nothing new, on the shortest way to the page.
    pub distance: u16,
    /// The text; `None`: it has none that was compared.
    pub novelty: Option<TextNovelty>,
    /// URLs that it led to, and that no page of the crawl led to before; published ones do not count.
    pub led_to: u32,
}
