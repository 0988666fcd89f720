//! The numbers of the sitemap protocol, each with its source, and [`Limits`], the limits of a writer or reader.
//!
//! The writers count, the readers cap. These constants are the only place with these numbers.

/// The most entries one file may have: URLs in a urlset, sitemaps in an index (R27, R32).
///
/// Source: <https://www.sitemaps.org/protocol.html#index>, "no more than 50,000 URLs", "may not list more than 50,000 Sitemaps".
pub const MAX_ENTRIES: u64 = 50_000;

/// The most bytes one file may have before compression, urlset and index alike (R28, R33).
///
/// Source: <https://www.sitemaps.org/protocol.html#index>, "no larger than 50MB (52,428,800 bytes)".
pub const MAX_BYTES: u64 = 52_428_800;

/// The most characters a `<loc>` may have after percent-encoding and before entity escaping (R11).
///
/// Source: <https://www.sitemaps.org/protocol.html#xmlTagDefinitions>, "must be less than 2,048 characters". The schema accepts
/// 2,048 as well; both accept 2,047.
pub const MAX_LOC_CHARACTERS: usize = 2_047;

/// The fewest characters a `<loc>` may have.
///
/// Source: `minLength` of `tLoc` in <https://www.sitemaps.org/schemas/sitemap/0.9/sitemap.xsd>; the protocol itself names none.
pub const MIN_LOC_CHARACTERS: usize = 12;

/// The most bytes the lines around the entries of a file take, with all namespaces it declares. The partition keeps them free.
pub const MAX_FRAME_BYTES: u64 = 4_096;

/// The XML namespace of the root element, exactly this string (R5).
///
/// Source: <https://www.sitemaps.org/protocol.html#xmlTagDefinitions> and the `targetNamespace` of both schemas.
pub const NAMESPACE: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";

/// Limits of one file. A writer never exceeds it, a reader stops at it.
///
/// The default is the maximum of the protocol. A writer takes smaller values as they are and larger ones as the maximum; a
/// reader takes any, because a file that breaks the limits can still be worth reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// Entries per file; [`MAX_ENTRIES`] by default.
    pub entries: u64,
    /// Bytes per file before compression; [`MAX_BYTES`] by default.
    pub bytes: u64,
}

impl Limits {
    /// The maximum of the protocol: 50,000 entries and 52,428,800 bytes.
    pub const PROTOCOL: Self = Self {
        entries: MAX_ENTRIES,
        bytes: MAX_BYTES,
    };

    /// The same limits, each lowered to the protocol's maximum where it is above it.
    #[must_use]
    pub fn within_protocol(self) -> Self {
        Self {
            entries: self.entries.min(MAX_ENTRIES),
            bytes: self.bytes.min(MAX_BYTES),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::PROTOCOL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_lowered_to_the_protocol() {
        let check = |entries, bytes, expected: (u64, u64)| {
            let limits = Limits { entries, bytes }.within_protocol();
            assert_eq!((limits.entries, limits.bytes), expected);
        };
        assert_eq!(Limits::default(), Limits::PROTOCOL);
        check(50_001, 52_428_801, (50_000, 52_428_800));
        check(50_000, 52_428_800, (50_000, 52_428_800));
        check(10_000, 10_485_760, (10_000, 10_485_760));
    }
}
