//! What the service manager is told: that the daemon is ready, reads its settings again, stops, is alive, and what it
//! is doing. The protocol of `sd_notify(3)`: datagrams of `NAME=value` lines to the socket in `NOTIFY_SOCKET`. Without
//! a service manager all of it does nothing.

use std::time::Duration;

use tokio::time::Instant;

use crate::settings::Environment;

/// Longest status, in characters.
const MAX_STATUS: usize = 300;

/// The service manager, if there is one.
#[derive(Debug, Default)]
pub(super) struct ServiceManager {
    #[cfg(unix)]
    socket: Option<unix::Socket>,
    /// It wants to hear at least this often that the daemon is alive.
    watchdog: Option<Duration>,
    alive_at: Option<Instant>,
    /// What it knows already.
    status: String,
}

impl ServiceManager {
    /// The one that the environment names. One that cannot be reached is none.
    pub(super) fn new(environment: &Environment) -> Self {
        let microseconds = environment
            .get("WATCHDOG_USEC")
            .and_then(|text| text.parse().ok())
            .filter(|&microseconds| microseconds > 0);
        let is_meant = environment
            .get("WATCHDOG_PID")
            .is_none_or(|text| text.parse() == Ok(std::process::id()));
        Self {
            #[cfg(unix)]
            socket: environment
                .get("NOTIFY_SOCKET")
                .and_then(|name| unix::Socket::open(name)),
            watchdog: microseconds.filter(|_| is_meant).map(Duration::from_micros),
            alive_at: None,
            status: String::new(),
        }
    }

    /// The daemon has begun, or has read its settings again.
    pub(super) fn ready(&self) {
        self.send("READY=1");
    }

    /// The settings are being read again. The time lets the manager tell this from an earlier reload.
    pub(super) fn reloading(&self) {
        match monotonic_microseconds() {
            Some(now) => self.send(&format!("RELOADING=1\nMONOTONIC_USEC={now}")),
            None => self.send("RELOADING=1"),
        }
    }

    /// The daemon stops.
    pub(super) fn stopping(&self) {
        self.send("STOPPING=1");
    }

    /// What the daemon is doing, for people; sent when it is something else than before.
    pub(super) fn say(&mut self, status: &str) {
        if self.status != status {
            status.clone_into(&mut self.status);
            let line = crate::untrusted::escape(status);
            let line = crate::untrusted::shorten(&line, MAX_STATUS);
            self.send(&format!("STATUS={line}"));
        }
    }

    /// Says that the daemon is alive, when that is due at `now`.
    pub(super) fn say_alive(&mut self, now: Instant) {
        if let Some(watchdog) = self.watchdog
            && self.alive_at.is_none_or(|due| due <= now)
        {
            // Half of what is allowed, as sd_watchdog_enabled(3) recommends.
            self.alive_at = Some(now + watchdog / 2);
            self.send("WATCHDOG=1");
        }
    }

    /// When it has to hear again that the daemon is alive.
    pub(super) fn alive_at(&self) -> Option<Instant> {
        self.alive_at
    }

    #[cfg(unix)]
    fn send(&self, message: &str) {
        if let Some(socket) = &self.socket {
            socket.send(message);
        }
    }

    #[cfg(not(unix))]
    fn send(&self, _: &str) {}
}

/// The clock by which systemd tells one reload from another.
#[cfg(unix)]
fn monotonic_microseconds() -> Option<u64> {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let seconds = u64::try_from(now.tv_sec).ok()?;
    let microseconds = u64::try_from(now.tv_nsec).ok()? / 1_000;
    Some(seconds * 1_000_000 + microseconds)
}

#[cfg(not(unix))]
fn monotonic_microseconds() -> Option<u64> {
    None
}

#[cfg(unix)]
mod unix {
    use std::os::unix::net::{SocketAddr, UnixDatagram};

    /// The way to the manager.
    #[derive(Debug)]
    pub(super) struct Socket {
        socket: UnixDatagram,
        manager: SocketAddr,
    }

    impl Socket {
        /// `name` is a path, or begins with `@`: then it is in the abstract namespace.
        pub(super) fn open(name: &str) -> Option<Self> {
            let manager = if name.starts_with('/') {
                SocketAddr::from_pathname(name).ok()?
            } else {
                abstract_address(name.strip_prefix('@')?)?
            };
            let socket = UnixDatagram::unbound().ok()?;
            // A manager that does not listen must not hold up the daemon.
            socket.set_nonblocking(true).ok()?;
            Some(Self { socket, manager })
        }

        pub(super) fn send(&self, message: &str) {
            if let Err(error) = self.socket.send_to_addr(message.as_bytes(), &self.manager) {
                tracing::debug!(target: "daemon", "the service manager cannot be told: {error}");
            }
        }
    }

    #[cfg(target_os = "linux")]
    fn abstract_address(name: &str) -> Option<SocketAddr> {
        use std::os::linux::net::SocketAddrExt as _;
        SocketAddr::from_abstract_name(name).ok()
    }

    #[cfg(not(target_os = "linux"))]
    fn abstract_address(_: &str) -> Option<SocketAddr> {
        None
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::net::UnixDatagram;

    use super::*;

    fn heard(socket: &UnixDatagram) -> String {
        let mut bytes = [0; 1_000];
        let length = socket.recv(&mut bytes).unwrap();
        String::from_utf8(bytes[..length].to_vec()).unwrap()
    }

    fn environment(variables: &[(&str, &str)]) -> Environment {
        let variables = variables.iter();
        variables
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn a_manager_hears_what_happens() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        let own = std::process::id().to_string();
        let mut manager = ServiceManager::new(&environment(&[
            ("NOTIFY_SOCKET", path.to_str().unwrap()),
            ("WATCHDOG_USEC", "2000000"),
            ("WATCHDOG_PID", &own),
        ]));
        manager.ready();
        assert_eq!(heard(&socket), "READY=1");
        manager.say("waiting\u{202e}");
        manager.say("waiting\u{202e}");
        assert_eq!(heard(&socket), "STATUS=waiting\\u{202e}");
        let before = monotonic_microseconds().unwrap();
        manager.reloading();
        let heard_reload = heard(&socket);
        let time = heard_reload
            .strip_prefix("RELOADING=1\nMONOTONIC_USEC=")
            .unwrap();
        assert!(time.parse::<u64>().unwrap() >= before);
        let now = Instant::now();
        assert_eq!(manager.alive_at(), None);
        manager.say_alive(now);
        assert_eq!(heard(&socket), "WATCHDOG=1");
        assert_eq!(manager.alive_at(), Some(now + Duration::from_secs(1)));
        manager.say_alive(now + Duration::from_millis(999));
        manager.stopping();
        assert_eq!(heard(&socket), "STOPPING=1", "it was not due yet");
        manager.say_alive(now + Duration::from_secs(1));
        assert_eq!(heard(&socket), "WATCHDOG=1");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_socket_may_have_no_file() {
        use std::os::{linux::net::SocketAddrExt as _, unix::net::SocketAddr};
        let name = format!("arpent-test-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let socket = UnixDatagram::bind_addr(&address).unwrap();
        let name = format!("@{name}");
        ServiceManager::new(&environment(&[("NOTIFY_SOCKET", &name)])).ready();
        assert_eq!(heard(&socket), "READY=1");
    }

    #[test]
    fn without_a_manager_nothing_happens() {
        fn check(variables: &[(&str, &str)]) {
            let mut manager = ServiceManager::new(&environment(variables));
            manager.ready();
            manager.say("waiting");
            manager.say_alive(Instant::now());
            assert_eq!(manager.alive_at(), None, "{variables:?}");
        }
        check(&[]);
        check(&[("NOTIFY_SOCKET", "/nowhere/notify")]);
        check(&[("NOTIFY_SOCKET", "vsock:2:1234")]);
        check(&[("NOTIFY_SOCKET", "")]);
        check(&[("WATCHDOG_USEC", "0")]);
        check(&[("WATCHDOG_USEC", "1000"), ("WATCHDOG_PID", "1")]);
    }
}
