//! The daemon of one machine: its loop, what it remembers between starts, and its signs of life for the service manager.

mod dispatch;
mod lock;
mod other_work;
mod schedule_file;
mod service;
mod words;

pub use self::{dispatch::Stopping, words::kind_of_end};
pub use self::{
    dispatch::{DaemonParts, DaemonSettings, Dispatcher, Load},
    lock::{acquire as lock_daemon, is_held as has_daemon},
    other_work::DaemonWork,
    schedule_file::{
        ScheduleRecord, ScheduleStates, file_in as schedule_file_in, read as read_schedules,
        set_aside as set_schedules_aside,
    },
    service::{ServiceManager, ready},
};
