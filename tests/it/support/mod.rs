//! Parts that the tests share: a loopback site that logs every request, the program as a child process, a
//! slow oracle, an observer of the output, readers for published files, and lists of expected failures.

pub mod agreement;
pub mod authority;
pub mod expected;
pub mod json_schema;
pub mod nginx;
pub mod observer;
pub mod oracle;
#[cfg(all(target_os = "linux", feature = "catalogue"))]
pub mod postgres;
pub mod program;
pub mod published;
pub mod random;
pub mod sentences;
pub mod site;
pub mod state;
pub mod xmllint;

use std::{io::Write as _, path::PathBuf};

pub use crawler::testing::skip;
use flate2::{Compression, write::GzEncoder};

/// The bytes, compressed.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory can be written");
    encoder.finish().expect("memory can be written")
}

/// The folder with conformance tables and schemas; `None` after a note that the test is skipped.
pub fn shared() -> Option<PathBuf> {
    let found = std::env::var_os("ARPENT_SHARED").map(PathBuf::from);
    if found.is_none() {
        skip("ARPENT_SHARED is not set");
    }
    found
}

/// Returns whether a program is installed; prints that the test is skipped when it is not.
pub fn has_program(name: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&folders).collect();
    folders.extend(["/usr/sbin", "/sbin"].map(PathBuf::from));
    let found = folders.iter().any(|folder| folder.join(name).is_file());
    if !found {
        skip(&format!("{name} is not installed"));
    }
    found
}
