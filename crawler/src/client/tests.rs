//! The client on fixture sites and paused time.

mod call;
mod download;
