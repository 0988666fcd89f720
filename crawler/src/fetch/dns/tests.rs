//! The cache, with the system's resolver replaced and the time paused.

use std::{
    io,
    net::{IpAddr, Ipv4Addr},
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use tokio::time::advance;

use super::{Ask, Resolver};

const TRY: Duration = Duration::from_secs(10);

fn resolver(ask: Ask) -> Resolver {
    Resolver::with(TRY, ask)
}

/// Counts its calls in the address.
macro_rules! counting {
    () => {{
        static CALLS: AtomicU32 = AtomicU32::new(0);
        let ask: Ask = |_| {
            Ok(vec![IpAddr::V4(Ipv4Addr::from(
                CALLS.fetch_add(1, Ordering::SeqCst),
            ))])
        };
        ask
    }};
}

async fn call_number(resolver: &Resolver, name: &str) -> u32 {
    match resolver.lookup(name).await.unwrap()[0] {
        IpAddr::V4(address) => u32::from(address),
        IpAddr::V6(_) => unreachable!("the tests answer in IPv4"),
    }
}

#[tokio::test(start_paused = true)]
async fn addresses_are_remembered_for_ten_minutes() {
    let resolver = resolver(counting!());
    assert_eq!(call_number(&resolver, "a").await, 0);
    advance(Duration::from_secs(599)).await;
    assert_eq!(call_number(&resolver, "a").await, 0);
    assert_eq!(call_number(&resolver, "b").await, 1);
    advance(Duration::from_secs(1)).await;
    assert_eq!(call_number(&resolver, "a").await, 2);
    assert_eq!(call_number(&resolver, "b").await, 1);
}

#[tokio::test(start_paused = true)]
async fn uncertain_addresses_are_resolved_again_after_a_minute() {
    let resolver = resolver(counting!());
    assert_eq!(call_number(&resolver, "a").await, 0);
    advance(Duration::from_secs(59)).await;
    resolver.mark_suspect("a");
    resolver.mark_suspect("unknown");
    assert_eq!(call_number(&resolver, "a").await, 0);
    advance(Duration::from_secs(1)).await;
    resolver.mark_suspect("a");
    assert_eq!(call_number(&resolver, "a").await, 1);
}

#[tokio::test(start_paused = true)]
async fn failures_are_tried_twice_and_remembered() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let resolver = resolver(|_| {
        CALLS.fetch_add(1, Ordering::SeqCst);
        Err(io::Error::other("no such host"))
    });
    let calls = || CALLS.load(Ordering::SeqCst);
    assert_eq!(resolver.lookup("a").await.unwrap_err(), "no such host");
    assert_eq!(calls(), 2);
    advance(Duration::from_secs(29)).await;
    assert!(resolver.lookup("a").await.is_err());
    assert_eq!(calls(), 2);
    advance(Duration::from_secs(1)).await;
    assert!(resolver.lookup("a").await.is_err());
    assert_eq!(calls(), 4);
}

#[tokio::test(start_paused = true)]
async fn second_try_may_succeed() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let resolver = resolver(|_| match CALLS.fetch_add(1, Ordering::SeqCst) {
        0 => Err(io::Error::other("try again")),
        _ => Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)]),
    });
    assert_eq!(resolver.lookup("a").await.unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn name_without_address_is_a_failure() {
    let resolver = resolver(|_| Ok(Vec::new()));
    assert_eq!(resolver.lookup("a").await.unwrap_err(), "it has no address");
}

#[tokio::test(start_paused = true)]
async fn one_name_is_resolved_once_at_a_time() {
    let resolver = resolver(counting!());
    let ask = || call_number(&resolver, "a");
    let (first, second, third) = tokio::join!(ask(), ask(), ask());
    assert_eq!([first, second, third], [0; 3]);
}

#[tokio::test]
async fn resolver_that_hangs_is_given_up() {
    static RELEASE: std::sync::Barrier = std::sync::Barrier::new(3);
    let resolver = Resolver::with(Duration::from_millis(50), |_| {
        RELEASE.wait();
        Ok(Vec::new())
    });
    assert_eq!(
        resolver.lookup("a").await.unwrap_err(),
        "no answer within 50ms"
    );
    // Both calls are still waiting.
    assert_eq!(resolver.calls.available_permits(), super::MAX_CALLS - 2);
    RELEASE.wait();
}
