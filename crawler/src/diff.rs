//! Differences between two published sets: [`Comparison`] reads both into a temporary file, [`SetDiff`] has the counts and the
//! first URLs, in all and by first-level directory. Nothing is judged or printed here.

mod count;
mod view;

use sitemap_core::LastMod;

use crate::{
    check::{CheckProgress, Network},
    sitemap_set::{SetEntry, SetError, SetOutline, SetPlace, SetReading},
    store::UrlSpool,
};

pub use self::count::{SectionDiff, SetDiff};

/// One of the two sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetSide {
    /// The first, which is the older one.
    First,
    /// The second.
    Second,
}

/// Two sets while they are read. Its methods block: they are for a thread that may.
#[expect(missing_debug_implementations, reason = "the network holds a function")]
pub struct Comparison<'n> {
    entries: UrlSpool,
    network: Network<'n>,
    progress: CheckProgress,
    outlines: [SetOutline; 2],
}

impl<'n> Comparison<'n> {
    /// Nothing is read yet.
    ///
    /// # Errors
    /// There is no room for the temporary file.
    pub fn new(network: Network<'n>, progress: CheckProgress) -> Result<Self, SetError> {
        Ok(Self {
            entries: UrlSpool::new()?,
            network,
            progress,
            outlines: Default::default(),
        })
    }

    /// Reads a set, whose name in messages is `name`.
    ///
    /// # Errors
    /// See [`SetError`].
    pub fn read(&mut self, side: SetSide, name: &str, place: &SetPlace) -> Result<(), SetError> {
        let entries = &mut self.entries;
        let mut take = |SetEntry { entry, .. }: SetEntry<'_>| {
            let lastmod = entry.lastmod.as_ref().map_or("", LastMod::as_str);
            entries.add_text(entry.loc.as_str(), side as u8, lastmod)
        };
        let reading = SetReading::new(&mut self.network, &self.progress, &mut take);
        self.outlines[side as usize] = reading.read(name, place)?;
        Ok(())
    }

    /// Compares the two sets.
    ///
    /// # Errors
    /// The temporary file cannot be read.
    pub fn finish(self) -> Result<SetDiff, SetError> {
        Ok(SetDiff::of(&self.entries, self.outlines)?)
    }
}
