//! Decides the addresses of a request: fixed ones, the resolver, the proxy, and the judgement of the guard on each. Opens
//! nothing; its [`Attempt`] has the only addresses that the connection of that request can use.

use std::{net::IpAddr, sync::Arc};

use tokio::sync::OnceCell;
use url::{Host, Url};

use super::{FetchError, FetchErrorKind, attempt::Attempt, dns::Resolver, guard::Guard};
use crate::config::{FetchConfig, Resolve};

/// See the module.
pub(super) struct Router {
    resolver: Resolver,
    fixed: Vec<Resolve>,
    /// The host that is connected to instead of that of the URL.
    proxy: Option<Proxy>,
    start_host: Option<Host>,
    /// The start host was public in the last crawl, and settings do not allow a private one now.
    has_to_be_public: bool,
    /// Decided when the first request has looked up the start host, then fixed for the session.
    guard: OnceCell<Guard>,
}

/// A proxy. Its URL may hold a password, which stays out of messages.
struct Proxy {
    host: Host,
    /// Host and port.
    authority: String,
}

/// The two kinds of hosts.
enum HostForm<'a> {
    Address(IpAddr),
    Name(&'a str),
}

impl<'a> HostForm<'a> {
    fn of<S: AsRef<str>>(host: &'a Host<S>) -> Self {
        match host {
            Host::Domain(name) => Self::Name(name.as_ref()),
            Host::Ipv4(address) => Self::Address(IpAddr::V4(*address)),
            Host::Ipv6(address) => Self::Address(IpAddr::V6(*address)),
        }
    }
}

impl Router {
    /// # Errors
    /// The start host or the proxy of the settings is none.
    pub(super) fn new(config: &FetchConfig) -> Result<Self, FetchError> {
        let start_host = match &*config.start_host {
            "" => None,
            host => Some(parse_host(host).ok_or_else(|| {
                FetchError::bad_setting(format!("start host {host:?} is not a host"))
            })?),
        };
        Ok(Self {
            resolver: Resolver::new(config.dns_timeout),
            fixed: config.resolve.clone(),
            proxy: config.proxy.as_deref().map(Proxy::parse).transpose()?,
            start_host,
            has_to_be_public: config.was_public && !config.allow_private,
            guard: OnceCell::new(),
        })
    }

    /// Decides whether `url` may be requested, and the addresses to connect to.
    ///
    /// # Errors
    /// The guard refuses (`Forbidden`), or a name does not resolve (`Dns`).
    pub(super) async fn attempt(&self, url: &Url) -> Result<Attempt, FetchError> {
        let guard = self.guard.get_or_try_init(|| self.start_guard()).await?;
        let host = url.host().ok_or_else(|| {
            FetchError::new(FetchErrorKind::Protocol, format!("{url} has no host"))
        })?;
        match (HostForm::of(&host), &self.proxy) {
            // The connector does not resolve literals: this is the only place that sees them.
            (HostForm::Address(address), _) if !guard.permits(address) => {
                Err(forbidden(guard.refusal_of_literal(address)))
            }
            (HostForm::Name(name), Some(_)) if !guard.permits_name(name) => {
                Err(forbidden(guard.refusal_of_unresolved(name)))
            }
            (_, Some(proxy)) => match HostForm::of(&proxy.host) {
                HostForm::Address(_) => Ok(Attempt::without_names()),
                HostForm::Name(name) => {
                    let addresses = self.look_up(name).await.map_err(|error| {
                        let message = format!("the proxy (setting proxy) is not reached: {error}");
                        FetchError::new(FetchErrorKind::Local, message)
                    })?;
                    Ok(Attempt::new(name, addresses.to_vec()))
                }
            },
            (HostForm::Address(_), None) => Ok(Attempt::without_names()),
            (HostForm::Name(name), None) => {
                let addresses = self.addresses(name, url.port_or_known_default()).await?;
                let (permitted, refused): (Vec<IpAddr>, Vec<IpAddr>) = addresses
                    .iter()
                    .partition(|&&address| guard.permits(address));
                match refused.first() {
                    Some(&first) if permitted.is_empty() => {
                        Err(forbidden(guard.refusal_of_name(name, first)))
                    }
                    _ => Ok(Attempt::new(name, permitted)),
                }
            }
        }
    }

    /// Host and port of the proxy that requests go through.
    pub(super) fn proxy(&self) -> Option<&str> {
        self.proxy.as_ref().map(|proxy| proxy.authority.as_str())
    }

    /// No connection to `name` could be opened: its addresses may have changed.
    pub(super) fn mark_suspect(&self, name: &str) {
        self.resolver.mark_suspect(name);
    }

    /// The kind of network that the start host is on; `None` before the first request, and when a proxy hides it.
    pub(super) fn network(&self) -> Option<&'static str> {
        let guard = self.guard.get().filter(|_| self.proxy.is_none());
        guard.map(Guard::network)
    }

    /// The guard for the start host.
    async fn start_guard(&self) -> Result<Guard, FetchError> {
        let guard = self.guard_of_start().await?;
        match &self.start_host {
            Some(host) if self.has_to_be_public => {
                match guard.refusal_of_start(&host.to_string()) {
                    Some(refusal) => Err(forbidden(refusal)),
                    None => Ok(guard),
                }
            }
            Some(_) | None => Ok(guard),
        }
    }

    async fn guard_of_start(&self) -> Result<Guard, FetchError> {
        match (self.start_host.as_ref().map(HostForm::of), &self.proxy) {
            (None, _) => Ok(Guard::default()),
            (Some(HostForm::Address(address)), _) => Ok(Guard::of_start(&[address])),
            (Some(HostForm::Name(name)), Some(_)) => Ok(Guard::of_start_name(name)),
            (Some(HostForm::Name(name)), None) => {
                Ok(Guard::of_start(&self.addresses(name, None).await?))
            }
        }
    }

    /// The addresses that the settings fix for `name`, at `port` or at any; else those of the resolver.
    async fn addresses(&self, name: &str, port: Option<u16>) -> Result<Arc<[IpAddr]>, FetchError> {
        let of_name = |fixed: &&Resolve| {
            fixed.host.eq_ignore_ascii_case(name) && port.is_none_or(|port| port == fixed.port)
        };
        let fixed = self.fixed.iter().filter(of_name);
        let fixed: Arc<[IpAddr]> = fixed.map(|fixed| fixed.address).collect();
        if fixed.is_empty() {
            self.look_up(name).await
        } else {
            Ok(fixed)
        }
    }

    async fn look_up(&self, name: &str) -> Result<Arc<[IpAddr]>, FetchError> {
        self.resolver.lookup(name).await.map_err(|reason| {
            FetchError::new(
                FetchErrorKind::Dns,
                format!("no address found for {name} (DNS): {reason}"),
            )
        })
    }
}

fn forbidden(message: String) -> FetchError {
    FetchError::new(FetchErrorKind::Forbidden, message)
}

/// A host name or address; IPv6 with or without brackets.
fn parse_host(host: &str) -> Option<Host> {
    match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => Some(Host::Ipv4(address)),
        Ok(IpAddr::V6(address)) => Some(Host::Ipv6(address)),
        Err(_) => Host::parse(host).ok(),
    }
}

impl Proxy {
    fn parse(proxy: &str) -> Result<Self, FetchError> {
        let url = Url::parse(proxy).map_err(|_| FetchError::bad_setting("proxy is not a URL"))?;
        match (url.scheme(), url.host(), url.port_or_known_default()) {
            ("http" | "https", Some(host), Some(port)) => {
                tracing::warn!(target: "fetch", "a proxy is used, so the addresses of host names cannot be checked");
                Ok(Self {
                    host: host.to_owned(),
                    authority: format!("{host}:{port}"),
                })
            }
            _ => Err(FetchError::bad_setting("proxy is not an http or https URL")),
        }
    }
}
