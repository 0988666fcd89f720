//! The fuzzer's side: runs a target under its oracles. A run that takes more than its share of time or
//! memory ends in a panic like one that finds something wrong.

mod memory;
pub mod targets;

use std::hash::{DefaultHasher, Hash, Hasher};

use self::targets::Target;

/// The most memory that may be in use at once, besides the input: 64 MiB.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// What a run may take whatever it reads.
const BASE_NANOSECONDS: u64 = 1_000_000_000;

/// What each byte that goes through a reader may take. Ten times what the slowest input is known to take
/// with the counters of the fuzzer in the code, and no more than that, so that work that grows with the
/// square of the input shows within some hundred kilobytes.
const NANOSECONDS_PER_BYTE: u64 = 5_000;

/// What an input of the target `repeated` grows to at first, and then; how its time grows says whether it
/// is worth the time to let it grow to its full size.
const SMALL_BYTES: usize = 512;
const LARGER_BYTES: usize = 8 * SMALL_BYTES;

/// How many times more the larger one may take: more than the number of bytes has grown, since the clock is
/// coarse and the machine busy; the full size decides.
const MAX_GROWTH: u64 = 12;

/// One of so many inputs grows to its full size however it behaves: what is quadratic in moving memory alone
/// does not show in little of it.
const FULL_SIZE_OF: u64 = 512;

/// Runs a target with an input.
///
/// # Panics
/// Something does not hold, or the run took too much time or memory.
pub fn fuzz(target: &Target, input: &[u8]) {
    measured(|| (target.run)(input));
}

/// Runs the target `repeated` with an input that grows as far as is worth it.
///
/// # Panics
/// As [`fuzz`].
pub fn fuzz_repeated(input: &[u8]) {
    let small = measured(|| targets::repeated(input, SMALL_BYTES));
    let larger = measured(|| targets::repeated(input, LARGER_BYTES));
    let mut hasher = DefaultHasher::new();
    input.hash(&mut hasher);
    if larger > MAX_GROWTH * small || hasher.finish() % FULL_SIZE_OF == 0 {
        fuzz(&targets::REPEATED, input);
    }
}

/// Runs what says how many bytes it took through a reader, and returns how many nanoseconds it took.
fn measured(run: impl FnOnce() -> u64) -> u64 {
    let before = memory::begin();
    let start = processor_nanoseconds();
    let bytes = run();
    let took = processor_nanoseconds() - start;
    let used = memory::peak() - before;
    let allowed = BASE_NANOSECONDS + NANOSECONDS_PER_BYTE * bytes;
    assert!(
        took <= allowed,
        "{took} ns for {bytes} bytes, expected at most {allowed}"
    );
    assert!(
        used <= MAX_BYTES,
        "{used} bytes in use at once, expected at most {MAX_BYTES}"
    );
    took
}

/// The time that this thread was given: what others do on the machine does not count.
fn processor_nanoseconds() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is to a value of the right type that outlives the call.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(result, 0, "no clock");
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000
        + u64::try_from(time.tv_nsec).unwrap_or(0)
}
