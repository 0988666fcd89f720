//! What goes wrong around a crawl and must do no harm: states that are damaged, disks that are full, read-only or
//! gone, two runs on one place, clocks that jump, and the end of the process at any instant of a publish.

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
