//! Workers of a fleet: they lease hosts of a catalogue, crawl and publish their sites as on one machine, and store checkpoints of the
//! states, from which any worker goes on.

pub mod catalogue;
mod checkpoint;
mod fence;
mod health;
mod leases;
mod session;
mod worker;
mod worker_loop;

pub use self::{
    checkpoint::{CheckpointError, restore_checkpoint},
    worker::{ReadSite, WorkerParts, WorkerSettings},
    worker_loop::run_worker,
};
