//! The memory that is in use, and the most that was.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The allocator of the system, and a count of what it has given out.
struct Counting;

// SAFETY: every call goes to the allocator of the system as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller keeps the promises of this function, which are the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_bytes: usize) -> *mut u8 {
        // While it moves, there are both.
        add(new_bytes);
        IN_USE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, new_bytes) }
    }
}

fn add(bytes: usize) {
    let in_use = IN_USE.fetch_add(bytes, Relaxed) + bytes;
    PEAK.fetch_max(in_use, Relaxed);
}

/// Forgets the peak, and says how much is in use now.
pub(crate) fn begin() -> usize {
    let in_use = IN_USE.load(Relaxed);
    PEAK.store(in_use, Relaxed);
    in_use
}

/// The most that was in use since [`begin`].
pub(crate) fn peak() -> usize {
    PEAK.load(Relaxed)
}
