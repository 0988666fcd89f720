//! Fingerprints as keys of maps.

use std::hash::Hasher;

/// Passes a fingerprint through: it is a good hash already. Of a short one, some of whose bits may be alike, it makes a hash.
#[derive(Debug, Default)]
pub(crate) struct FingerprintHasher(u64);

impl Hasher for FingerprintHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u32(&mut self, value: u32) {
        self.0 = (self.0 ^ u64::from(value)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

/// Half of a fingerprint, for tables in which a URL in four thousand millions may be taken for another one.
pub(crate) fn short(fingerprint: u64) -> u32 {
    u32::try_from(fingerprint >> 32).unwrap_or_default()
}
