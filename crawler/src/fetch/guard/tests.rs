//! The ranges of the IANA special-purpose address registries, first and last address of each.

use std::net::IpAddr;

use super::{AddressClass, AddressClass::*, Guard};

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn check_class(addresses: &str, expected: AddressClass) {
    for text in addresses.split_whitespace() {
        assert_eq!(AddressClass::of(address(text)), expected, "{text}");
    }
}

#[test]
fn ipv4_ranges() {
    check_class("127.0.0.0 127.0.0.1 127.255.255.255", Loopback);
    check_class("169.254.0.0 169.254.1.1 169.254.255.255", LinkLocal);
    check_class(
        "10.0.0.0 10.255.255.255 172.16.0.0 172.31.255.255 192.168.0.0 192.168.255.255 \
         100.64.0.0 100.127.255.255",
        Private,
    );
    check_class(
        "169.254.169.254 100.100.100.200 168.63.129.16 192.0.0.192",
        Metadata,
    );
    check_class(
        "0.0.0.0 0.255.255.255 192.0.0.0 192.0.0.255 192.0.2.0 192.0.2.255 192.88.99.0 \
         192.88.99.255 198.18.0.0 198.19.255.255 198.51.100.0 198.51.100.255 203.0.113.0 \
         203.0.113.255 224.0.0.0 239.255.255.255 240.0.0.0 255.255.255.254 \
         255.255.255.255",
        Special,
    );
}

#[test]
fn ipv4_neighbours_of_the_ranges_are_public() {
    check_class(
        "1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 \
         128.0.0.0 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 \
         192.0.1.0 192.0.3.0 192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0 \
         198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 \
         223.255.255.255 8.8.8.8 93.184.216.34 168.63.129.15 168.63.129.17",
        Public,
    );
}

#[test]
fn ipv6_ranges() {
    check_class("::1", Loopback);
    check_class("fe80:: fe80::1 febf:ffff::1", LinkLocal);
    check_class(
        "fc00:: fd12:3456::1 fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        Private,
    );
    check_class("fd00:ec2::254 fd20:ce::254", Metadata);
    check_class(
        ":: ::2 ::7f00:1 ::ffff:0:7f00:1 100:: 100::1 100:0:0:1::1 64:ff9b:1::1 200:: \
         1fff:ffff::1 2001:1::1 2001:2::1 2001:10::1 2001:20::1 2001:1ff:ffff::1 \
         2001:db8::1 2001:db8:ffff::1 3fff::1 3fff:fff:ffff::1 4000::1 5f00::1 fec0::1 \
         feff::1 ff00:: ff02::1 ff0e::1 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        Special,
    );
    check_class(
        "2000::1 2001:200::1 2001:db7::1 2001:db9::1 2003::1 2606:2800:220:1::1 \
         2a00:1450::1 3ffe:ffff::1 3fff:1000::1",
        Public,
    );
}

#[test]
fn embedded_ipv4_addresses_decide() {
    check_class(
        "::ffff:127.0.0.1 64:ff9b::127.0.0.1 2002:7f00:1::1",
        Loopback,
    );
    check_class(
        "::ffff:10.0.0.5 64:ff9b::10.0.0.5 2002:a00:5:: 2002:c0a8:101::",
        Private,
    );
    check_class(
        "::ffff:169.254.169.254 64:ff9b::169.254.169.254 2002:a9fe:a9fe::",
        Metadata,
    );
    check_class("::ffff:169.254.0.1", LinkLocal);
    check_class("::ffff:0.0.0.0 64:ff9b::224.0.0.1 2002:c000:201::", Special);
    check_class("::ffff:8.8.8.8 64:ff9b::8.8.8.8 2002:808:808::1", Public);
    // Teredo holds the client's address inverted: 8.8.8.8, 10.0.0.5, 127.0.0.1.
    check_class("2001:0:4136:e378:8000:63bf:f7f7:f7f7", Public);
    check_class("2001:0:4136:e378:8000:63bf:f5ff:fffa", Private);
    check_class("2001:0:4136:e378:8000:63bf:80ff:fffe", Loopback);
}

fn check_guard(start: &str, permitted: &str, refused: &str) {
    let addresses: Vec<IpAddr> = start.split_whitespace().map(address).collect();
    let guard = Guard::of_start(&addresses);
    for text in permitted.split_whitespace() {
        assert!(guard.permits(address(text)), "{start} may contact {text}");
    }
    for text in refused.split_whitespace() {
        assert!(!guard.permits(address(text)), "{start} reaches {text}");
    }
}

#[test]
fn class_of_the_start_host_decides() {
    let inside = "10.0.0.5 192.168.1.1 fd12::1 127.0.0.1 ::1 169.254.1.1 0.0.0.0";
    check_guard("", "8.8.8.8", inside);
    check_guard("93.184.216.34", "8.8.8.8 2606:2800::1", inside);
    check_guard("93.184.216.34 10.0.0.5", "8.8.8.8", inside);
    check_guard(
        "10.0.0.5",
        "10.0.0.5 10.9.9.9 192.168.1.1 fd12::1 8.8.8.8",
        "127.0.0.1 ::1 ::ffff:127.0.0.1 169.254.1.1 100.100.100.200 fd00:ec2::254 0.0.0.0",
    );
    check_guard(
        "127.0.0.1",
        "127.0.0.1 127.0.0.2 ::1 ::ffff:127.0.0.1 8.8.8.8",
        "10.0.0.5 fd12::1 169.254.169.254 0.0.0.0",
    );
    check_guard(
        "127.0.1.1 192.168.1.7",
        "127.0.0.1 192.168.1.8",
        "169.254.1.1",
    );
}

#[test]
fn special_starts_open_themselves_only() {
    check_guard(
        "169.254.1.1",
        "169.254.1.1 8.8.8.8",
        "169.254.1.2 169.254.169.254 127.0.0.1",
    );
    check_guard(
        "169.254.169.254",
        "169.254.169.254 ::ffff:169.254.169.254",
        "169.254.1.1",
    );
    check_guard("198.18.0.1", "198.18.0.1", "198.18.0.2 10.0.0.1");
    check_guard("0.0.0.0", "0.0.0.0", "127.0.0.1");
}

#[test]
fn names_are_judged_by_their_form() {
    let public = Guard::of_start_name("www.example.com");
    assert!(public.permits_name("other.example"));
    assert!(!public.permits_name("localhost") && !public.permits_name("app.localhost"));
    assert!(!public.permits_name("metadata.google.internal"));
    assert!(public.permits_name("notlocalhost") && public.permits_name("localhost.example"));
    let local = Guard::of_start_name("app.localhost");
    assert!(local.permits_name("localhost") && local.permits(address("127.0.0.1")));
    assert!(!local.permits_name("metadata.google.internal") && !local.permits(address("10.0.0.1")));
}

#[test]
fn refusals_name_address_class_and_start() {
    let guard = Guard::default();
    assert_eq!(
        guard.refusal_of_name("intranet.example", address("10.0.0.5")),
        "intranet.example resolves to 10.0.0.5 (private) but the crawl began on a public site"
    );
    assert_eq!(
        Guard::of_start(&[address("10.0.0.5")]).refusal_of_literal(address("::1")),
        "::1 is a loopback address but the crawl began on a private site"
    );
}
