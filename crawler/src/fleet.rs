//! Workers of a fleet: they lease hosts of a catalogue, crawl and publish their sites as on one machine, and store checkpoints of the
//! states, from which any worker goes on.

mod checkpoint;
mod health;
mod leases;
mod session;
mod worker;

pub use self::{
    checkpoint::{CheckpointError, restore_checkpoint},
    worker::{ReadSite, WorkerParts, WorkerSettings, run_worker},
};
