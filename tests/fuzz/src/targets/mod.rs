//! What the fuzz targets do with an input, without the fuzzer: the same functions go over the stored
//! inputs in the ordinary tests. Each ends in a panic when something does not hold, and says how many
//! bytes it took the readers through, so that the fuzzer can tell much work from an endless one.

mod crawl;
mod documents;

/// A target: what it is called, and what it does.
pub struct Target {
    /// As its file in `fuzz_targets`, and its folders in `seeds` and `corpus`.
    pub name: &'static str,
    /// Reads an input in all its ways, and returns the bytes that went through a reader.
    pub run: fn(&[u8]) -> u64,
}

pub const SITEMAP: Target = target("sitemap", documents::sitemap);
pub const ENCODING: Target = target("encoding", documents::encoding);
pub const GZIP: Target = target("gzip", documents::gzip);
pub const VALIDATE: Target = target("validate", documents::validate);
pub const LIST: Target = target("list", crawl::list);
pub const PAGE: Target = target("page", crawl::page);
pub const ROBOTS: Target = target("robots", crawl::robots);
pub const REPEATED: Target = target("repeated", |input| repeated(input, REPEATED_BYTES));
/// The same, a part as long: an input that costs time by the square of its length shows in both.
pub const REPEATED_SHORT: Target = target("repeated", |input| repeated(input, REPEATED_BYTES / 32));

const fn target(name: &'static str, run: fn(&[u8]) -> u64) -> Target {
    Target { name, run }
}

/// Stands between the parts of an input that has several: the record separator of ASCII, which no
/// format uses.
const SEPARATOR: u8 = 0x1e;

/// Stands between what is repeated and what is not, each of which may have several parts: the group
/// separator.
const REPEAT: u8 = 0x1d;

/// What a repeated input grows to: enough for work that grows with the square of it to show.
pub const REPEATED_BYTES: usize = 512 * 1024;

/// The parts of an input, at most so many; the last one has the rest.
fn parts(input: &[u8], max_parts: usize) -> impl Iterator<Item = &[u8]> {
    input.splitn(max_parts, |&byte| byte == SEPARATOR)
}

/// A letter for what reads it, a head, a part that is repeated until there are so many bytes of it, and a tail.
pub fn repeated(input: &[u8], bytes: usize) -> u64 {
    let Some((&letter, input)) = input.split_first() else {
        return 0;
    };
    let target = match letter {
        b'v' => VALIDATE,
        b'l' => LIST,
        b'p' => PAGE,
        b'r' => ROBOTS,
        _ => SITEMAP,
    };
    let mut parts = input.splitn(3, |&byte| byte == REPEAT);
    let mut part = || parts.next().unwrap_or_default();
    let (head, body, tail) = (part(), part(), part());
    let times = bytes / body.len().max(1);
    (target.run)(&[head, &body.repeat(times), tail].concat())
}
