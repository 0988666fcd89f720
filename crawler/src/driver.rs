//! The work of whole programs: one site after its settings, several sites at a time, and the daemon that crawls by schedules. It
//! shows nothing itself: messages go to a [`MessageSink`], progress to a [`Board`], counts to an [`Observer`].

mod board;
mod crawler;
mod daemon;
mod ended;
mod faults;
mod job;
mod lists;
mod look;
mod many;
mod messages;
mod names;
mod publish;
mod published;
mod reserved;
mod sessions;
mod settings;

pub use self::{
    board::{Board, ObservedSession, Observer, SessionStage, SessionWatch},
    crawler::{AroundFetch, BeforePublish, Crawler, SiteResult},
    daemon::{
        DaemonParts, DaemonSettings, DaemonWork, Dispatcher, Load, ScheduleRecord, ScheduleStates,
        ServiceManager, Stopping, has_daemon, kind_of_end, lock_daemon, read_schedules, ready,
        schedule_file_in, set_schedules_aside,
    },
    ended::notifier_of,
    faults::Faults,
    job::session_site,
    lists::UserLists,
    look::look_at_site,
    many::crawl_all,
    messages::{MessageKind, MessageSink, Messenger},
    names::{Named, Names, find_state, forget_names, names_file_in, names_of_site, site_of_start},
    publish::publish_site,
    published::{print_published, report_opened, set_output},
    reserved::ReservedPlaces,
    settings::{
        HOST_PLACE, SITE_PLACE, SessionSettings, SiteSettings, directory, has_user_info,
        is_storage, settled,
    },
};
