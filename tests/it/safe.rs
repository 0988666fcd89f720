//! Faults around a crawl that must leave the published set intact: damaged states, disks that are full, read-only or
//! missing, two sessions on one output, clocks that jump, and the end of the process at any instant of a publish.

mod clock;
mod damaged;
mod disks;
mod killed;
mod locks;
mod lost;
mod older;
mod output;
mod reader;
mod rights;
