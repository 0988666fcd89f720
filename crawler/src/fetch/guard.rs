//! The address guard: which addresses a crawl may contact.
//!
//! A link, a redirect or a DNS record of a crawled site must not lead the crawler into the network it runs in (server-side
//! request forgery). The host the user named decides: a crawl that began on a public site contacts public addresses only. Pure
//! decisions; [`super::http`] calls it before it connects, and connects to no other address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Kind of network of an address, by the IANA special-purpose address registries (RFC 6890) and the address plans they name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum AddressClass {
    /// Globally routed.
    Public,
    /// This machine: 127.0.0.0/8, `::1`.
    Loopback,
    /// This network segment: 169.254.0.0/16, `fe80::/10`.
    LinkLocal,
    /// A private network: RFC 1918, RFC 6598 (100.64.0.0/10), `fc00::/7`.
    Private,
    /// Addresses at which cloud providers serve the credentials of the machine, in any range.
    Metadata,
    /// Everything else that is not a host on the Internet: unspecified, multicast, documentation, benchmarks, reserved.
    Special,
}

impl AddressClass {
    /// The class of `address`. Addresses that carry an IPv4 address inside (mapped, NAT64, 6to4,
    /// Teredo) are judged by that one.
    pub(super) fn of(address: IpAddr) -> Self {
        if METADATA.contains(&address) {
            return Self::Metadata;
        }
        match address {
            IpAddr::V4(address) => Self::of_v4(address),
            IpAddr::V6(address) => Self::of_v6(address),
        }
    }

    fn of_v4(address: Ipv4Addr) -> Self {
        match address.octets() {
            [127, ..] => Self::Loopback,
            [169, 254, ..] => Self::LinkLocal,
            [10, ..] | [172, 16..=31, ..] | [192, 168, ..] | [100, 64..=127, ..] => Self::Private,
            // This network; multicast and all that is reserved above it.
            [0 | 224..=255, ..]
            // Protocol assignments and documentation, 6to4 relays, benchmarks, documentation.
            | [192, 0, 0 | 2, _]
            | [192, 88, 99, _]
            | [198, 18 | 19, ..]
            | [198, 51, 100, _]
            | [203, 0, 113, _] => Self::Special,
            _ => Self::Public,
        }
    }

    fn of_v6(address: Ipv6Addr) -> Self {
        if let Some(embedded) = embedded_v4(address) {
            return Self::of(IpAddr::V4(embedded));
        }
        match address.segments() {
            [0, 0, 0, 0, 0, 0, 0, 1] => Self::Loopback,
            [0xfe80..=0xfebf, ..] => Self::LinkLocal,
            [0xfc00..=0xfdff, ..] => Self::Private,
            // IETF protocol assignments (2001::/23), documentation.
            [0x2001, 0..=0x01ff | 0x0db8, ..] | [0x3fff, 0..=0x0fff, ..] => Self::Special,
            // Global unicast is only 2000::/3 (RFC 4291 2.4, IANA).
            [0x2000..=0x3fff, ..] => Self::Public,
            _ => Self::Special,
        }
    }

    /// The word for messages.
    fn as_str(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Loopback => "loopback",
            Self::LinkLocal => "link-local",
            Self::Private => "private",
            Self::Metadata => "cloud metadata",
            Self::Special => "special-purpose",
        }
    }
}

/// Metadata services outside 169.254.0.0/16 or worth naming: AWS, GCP and others; AWS over IPv6; GCP
/// over IPv6; Alibaba; Azure's host; Oracle.
const METADATA: [IpAddr; 6] = [
    IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V6(Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
];

/// The IPv4 address that packets to `address` end up at.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let from_words = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match address.segments() {
        // IPv4-mapped (RFC 4291 2.5.5.2) and NAT64 (RFC 6052).
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            Some(from_words(high, low))
        }
        // 6to4 (RFC 3056).
        [0x2002, high, low, ..] => Some(from_words(high, low)),
        // Teredo: the client's address, with all bits inverted (RFC 4380 4).
        [0x2001, 0, _, _, _, _, high, low] => Some(from_words(!high, !low)),
        _ => None,
    }
}

/// Addresses that one crawl may contact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Guard {
    /// Addresses of the start host, when none of them is public.
    start: Vec<IpAddr>,
    /// The classes of the addresses; `Public` alone otherwise.
    began_on: Vec<AddressClass>,
}

impl Default for Guard {
    fn default() -> Self {
        Self::of_start(&[])
    }
}

impl Guard {
    /// The guard of a crawl whose start host has these addresses.
    ///
    /// Public addresses are open to every crawl. A start host that has none of them opens its own
    /// addresses, and the whole class when that is private or loopback.
    pub(super) fn of_start(addresses: &[IpAddr]) -> Self {
        let classes: Vec<AddressClass> = addresses
            .iter()
            .map(|&address| AddressClass::of(address))
            .collect();
        if classes.is_empty() || classes.contains(&AddressClass::Public) {
            return Self {
                start: Vec::new(),
                began_on: vec![AddressClass::Public],
            };
        }
        Self {
            start: addresses.iter().map(IpAddr::to_canonical).collect(),
            began_on: classes,
        }
    }

    /// The guard of a crawl whose start host is reached through a proxy, so that its addresses are
    /// not known: by its name alone.
    pub(super) fn of_start_name(name: &str) -> Self {
        match class_of_name(name) {
            Some(class) => Self {
                start: Vec::new(),
                began_on: vec![class],
            },
            None => Self::default(),
        }
    }

    /// The kind of network that the crawl began on: `public`, `private`, `loopback` ...
    pub(super) fn network(&self) -> &'static str {
        let class = self.began_on.first().copied();
        class.unwrap_or(AddressClass::Public).as_str()
    }

    /// Reason why the start host `name` was refused, which was public in the last crawl; `None`: it still is.
    pub(super) fn refusal_of_start(&self, name: &str) -> Option<String> {
        if self.began_on.contains(&AddressClass::Public) {
            return None;
        }
        let address = self.start.first();
        let address = address.map_or_else(String::new, |address| format!(" ({address})"));
        Some(format!(
            "{name} was public in the last crawl and is {} now{address}: whoever controls the name may lead the crawl into \
             this network; allow_private = true crawls a site of your own that moved",
            self.network()
        ))
    }

    /// Returns whether `address` may be contacted.
    pub(super) fn permits(&self, address: IpAddr) -> bool {
        let class = AddressClass::of(address);
        match class {
            AddressClass::Public => true,
            AddressClass::Private | AddressClass::Loopback if self.began_on.contains(&class) => {
                true
            }
            AddressClass::Private
            | AddressClass::Loopback
            | AddressClass::LinkLocal
            | AddressClass::Metadata
            | AddressClass::Special => self.start.contains(&address.to_canonical()),
        }
    }

    /// Returns whether a host with unknown addresses may be requested through a proxy. Only names with an obvious kind can be
    /// refused.
    pub(super) fn permits_name(&self, name: &str) -> bool {
        class_of_name(name).is_none_or(|class| self.began_on.contains(&class))
    }

    /// Reason why `address`, a literal in a URL, was refused.
    pub(super) fn refusal_of_literal(&self, address: IpAddr) -> String {
        format!(
            "{address} is a {} address but {}",
            AddressClass::of(address).as_str(),
            self.origin()
        )
    }

    /// Reason why `name` was refused; it resolved to `address`.
    pub(super) fn refusal_of_name(&self, name: &str, address: IpAddr) -> String {
        format!(
            "{name} resolves to {address} ({}) but {}",
            AddressClass::of(address).as_str(),
            self.origin()
        )
    }

    /// Reason why `name` was refused before a proxy was used.
    pub(super) fn refusal_of_unresolved(&self, name: &str) -> String {
        let class = class_of_name(name).map_or("unknown", AddressClass::as_str);
        format!("{name} is a {class} name but {}", self.origin())
    }

    fn origin(&self) -> String {
        format!("the crawl began on a {} site", self.network())
    }
}

/// The class that a name declares by itself: RFC 6761 6.3, and the names of metadata services.
fn class_of_name(name: &str) -> Option<AddressClass> {
    match name {
        "localhost" => Some(AddressClass::Loopback),
        _ if name.ends_with(".localhost") => Some(AddressClass::Loopback),
        "metadata"
        | "metadata.google.internal"
        | "instance-data"
        | "instance-data.ec2.internal" => Some(AddressClass::Metadata),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
