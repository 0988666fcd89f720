//! Notifies others of what was published by hand, as `arpent notify`. Who is notified of what is decided by [`crawler::notify`].

mod by_hand;

pub(super) use self::by_hand::run;
