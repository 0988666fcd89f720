//! Names to addresses, remembered for the session.
//!
//! The system's resolver is used, so `/etc/hosts` and split horizons work. Its calls cannot be cancelled: each sits on a blocking
//! thread until it returns, so their number is bounded and each name is resolved once at a time. Independent of the guard:
//! [`super::http`] filters the addresses, and connects to exactly those.

use std::{
    collections::HashMap,
    io,
    net::{IpAddr, ToSocketAddrs as _},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{OnceCell, Semaphore},
    time::{Instant, timeout},
};

/// Time for which addresses are used. The system's resolver hides the record's own lifetime.
const MAX_AGE: Duration = Duration::from_secs(10 * 60);

/// Younger addresses are kept even when no connection to them succeeded.
const MIN_AGE: Duration = Duration::from_secs(60);

/// Time for which a failure is cached.
const NEGATIVE_AGE: Duration = Duration::from_secs(30);

/// Tries per lookup, the first included.
const TRIES: u32 = 2;

/// Calls of the system's resolver at the same time, including abandoned ones.
const MAX_CALLS: usize = 16;

/// Most names that are remembered. A crawl meets a handful; when there are more, all are forgotten.
const MAX_NAMES: usize = 1_024;

/// Asks the system, and remembers.
pub(super) struct Resolver {
    /// A try.
    timeout: Duration,
    names: Mutex<HashMap<Box<str>, Arc<DnsCacheSlot>>>,
    calls: Arc<Semaphore>,
    ask: Ask,
}

/// The blocking call; tests put their own here.
type Ask = fn(&str) -> io::Result<Vec<IpAddr>>;

#[derive(Default)]
struct DnsCacheSlot {
    /// Filled by the first to ask, while all others wait. When the first is cancelled the next takes over.
    answer: OnceCell<DnsAnswer>,
}

struct DnsAnswer {
    at: Instant,
    /// Never empty, or the reason for people.
    addresses: Result<Arc<[IpAddr]>, String>,
}

impl DnsAnswer {
    fn is_fresh(&self, now: Instant) -> bool {
        let age = if self.addresses.is_ok() {
            MAX_AGE
        } else {
            NEGATIVE_AGE
        };
        now < self.at + age
    }
}

impl Resolver {
    /// A resolver that waits `timeout` for each try.
    pub(super) fn new(timeout: Duration) -> Self {
        Self::with(timeout, ask_system)
    }

    fn with(timeout: Duration, ask: Ask) -> Self {
        Self {
            timeout,
            names: Mutex::default(),
            calls: Arc::new(Semaphore::new(MAX_CALLS)),
            ask,
        }
    }

    /// The addresses of `name`, at least one.
    ///
    /// # Errors
    /// The text has the reason why there are none, e.g. `no answer within 10s`.
    pub(super) async fn lookup(&self, name: &str) -> Result<Arc<[IpAddr]>, String> {
        let entry = self.entry(name);
        let answer = entry.answer.get_or_init(|| async {
            let addresses = self.ask_repeatedly(name).await;
            DnsAnswer {
                at: Instant::now(),
                addresses,
            }
        });
        answer.await.addresses.clone()
    }

    /// No connection to the addresses of `name` succeeded: they are looked up again, unless they are young.
    pub(super) fn mark_suspect(&self, name: &str) {
        let now = Instant::now();
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let is_old = |entry: &Arc<DnsCacheSlot>| {
            entry
                .answer
                .get()
                .is_some_and(|answer| now >= answer.at + MIN_AGE)
        };
        if names.get(name).is_some_and(is_old) {
            names.remove(name);
        }
    }

    /// The entry of `name`: being filled, or fresh.
    fn entry(&self, name: &str) -> Arc<DnsCacheSlot> {
        let now = Instant::now();
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = names.get(name)
            && entry.answer.get().is_none_or(|answer| answer.is_fresh(now))
        {
            return Arc::clone(entry);
        }
        if names.len() >= MAX_NAMES {
            names.clear();
        }
        let entry = Arc::new(DnsCacheSlot::default());
        names.insert(name.into(), Arc::clone(&entry));
        entry
    }

    async fn ask_repeatedly(&self, name: &str) -> Result<Arc<[IpAddr]>, String> {
        let mut reason = String::new();
        for _ in 0..TRIES {
            reason = match timeout(self.timeout, self.ask_once(name)).await {
                Ok(Ok(addresses)) if addresses.is_empty() => "it has no address".to_owned(),
                Ok(Ok(addresses)) => return Ok(addresses.into()),
                Ok(Err(error)) => error.to_string(),
                Err(_) => format!("no answer within {:?}", self.timeout),
            };
        }
        Err(reason)
    }

    async fn ask_once(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let permit = Arc::clone(&self.calls)
            .acquire_owned()
            .await
            .map_err(io::Error::other)?;
        let (ask, name) = (self.ask, name.to_owned());
        let call = tokio::task::spawn_blocking(move || {
            let answer = ask(&name);
            // Released when the call has really ended, even if it was abandoned.
            drop(permit);
            answer
        });
        call.await.map_err(io::Error::other)?
    }
}

fn ask_system(name: &str) -> io::Result<Vec<IpAddr>> {
    let mut addresses: Vec<IpAddr> = Vec::new();
    for socket_address in (name, 0).to_socket_addrs()? {
        if !addresses.contains(&socket_address.ip()) {
            addresses.push(socket_address.ip());
        }
    }
    Ok(addresses)
}

#[cfg(test)]
mod tests;
