//! Calls of services, on fixture sites and paused time.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use crate::{
    client::{Call, CallAnswer, CallError, Downloader, Retry, Shutdown},
    config::Config,
    fetch::FetchErrorKind,
    politeness::Politeness,
    retry_after::RetryAfterFile,
    testing::SeenRequest,
    testing::{FixturePage, FixtureSite, TestClock},
    url_key::UrlKey,
};

const SERVICE: &str = "https://engine.example/notify";

/// Calls a service that answers by `answers`, the last of them again and again.
async fn call(
    answers: Vec<FixturePage>,
    retry: Retry,
) -> (Result<CallAnswer, CallError>, Vec<SeenRequest>) {
    let site = FixtureSite::new([]).scripted(move |_, earlier| {
        let last = answers.len() - 1;
        Some(answers[earlier.min(last)].clone())
    });
    let config = Config::default();
    let now = "2026-03-01T12:00:00Z".parse().unwrap();
    let downloader = Downloader::new(
        &config,
        Arc::new(site.clone()),
        Arc::new(TestClock::starting_at(now)),
        Arc::new(Mutex::new(Politeness::new(&config.politeness))),
        RetryAfterFile::default(),
    );
    let url = UrlKey::from_normalised(SERVICE).unwrap();
    let call = Call {
        retry,
        ..Call::post(url, "the engine", "{}")
    };
    let answer = downloader.call(&call, &Shutdown::default()).await;
    (answer, site.requests())
}

fn status(status: u16) -> FixturePage {
    FixturePage::status(status)
}

#[tokio::test(start_paused = true)]
async fn the_answer_decides_about_another_try() {
    async fn check(answers: &[u16], retry: Retry, expected: u16, requests: usize) {
        let pages = answers.iter().copied().map(status).collect();
        let (answer, seen) = call(pages, retry).await;
        let answer = answer.unwrap();
        assert_eq!(
            (answer.status, seen.len()),
            (expected, requests),
            "{answers:?}"
        );
        assert_eq!(answer.tries as usize, requests);
        // Nobody asks for robots.txt: it speaks to those who follow links.
        assert!(seen.iter().all(|request| request.url == SERVICE));
    }
    for received in [200, 202, 301, 400, 403, 404, 410, 422] {
        check(&[received], Retry::Passing, received, 1).await;
    }
    for passing in [408, 429, 500, 501, 503, 505, 507, 599] {
        check(&[passing], Retry::Passing, passing, 3).await;
        check(&[passing, 200], Retry::Passing, 200, 2).await;
    }
    for received in [200, 404, 410] {
        check(&[received], Retry::UnlessReceived, received, 1).await;
    }
    for other in [202, 301, 400, 403, 503] {
        check(&[other], Retry::UnlessReceived, other, 3).await;
        check(&[other, 200], Retry::UnlessReceived, 200, 2).await;
    }
}

#[tokio::test(start_paused = true)]
async fn retry_after_delays_or_closes_the_host() {
    let wait = |seconds: &str| status(429).with_header("retry-after", seconds);
    let (answer, seen) = call(vec![wait("30"), status(200)], Retry::Passing).await;
    assert_eq!(answer.unwrap().status, 200);
    assert!(seen[1].begun - seen[0].begun >= Duration::from_secs(30));
    let (answer, seen) = call(vec![wait("3600")], Retry::Passing).await;
    let error = answer.unwrap_err();
    assert!(matches!(error, CallError::Closed { .. }), "{error}");
    assert_eq!(
        error.to_string(),
        "engine.example gets no further request now: it asked to wait (Retry-After)"
    );
    assert_eq!(seen.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_network_that_may_recover_is_tried_again() {
    let reset = FixturePage::failing(FetchErrorKind::Reset);
    let (answer, seen) = call(vec![reset.clone(), status(200)], Retry::Passing).await;
    assert_eq!((answer.unwrap().status, seen.len()), (200, 2));
    let (answer, seen) = call(vec![reset], Retry::UnlessReceived).await;
    assert!(
        matches!(answer, Err(CallError::NoAnswer { .. })),
        "{answer:?}"
    );
    assert_eq!(seen.len(), 3);
    let forbidden = FixturePage::failing(FetchErrorKind::Forbidden);
    let (_, seen) = call(vec![forbidden], Retry::UnlessReceived).await;
    assert_eq!(seen.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn only_the_beginning_of_an_answer_is_kept() {
    let (answer, _) = call(
        vec![FixturePage::text(&"a".repeat(600_000))],
        Retry::Passing,
    )
    .await;
    let answer = answer.unwrap();
    assert_eq!((answer.body.len(), answer.is_whole), (524_288, false));
    let (answer, _) = call(vec![FixturePage::text("key")], Retry::Passing).await;
    let answer = answer.unwrap();
    assert_eq!(
        (answer.body.as_slice(), answer.is_whole),
        (&b"key"[..], true)
    );
}
