//! Notifications of engines: each change once, with a key that is proven.

use super::{SECOND, World};

#[test]
fn changes_are_submitted_once_and_the_first_set_is_not() {
    let world = World::new();
    world.submit().expect_code(0);
    assert_eq!(world.submitted(), Vec::<Vec<String>>::new());
    // Nothing changed, nothing is sent.
    world.submit().expect_code(0);
    assert_eq!(world.submitted(), Vec::<Vec<String>>::new());
    world.changes();
    let ran = world.submit().expect_code(0);
    assert_eq!(world.submitted(), [SECOND]);
    let notified = &ran.summary()["notified"][0];
    assert_eq!(
        (&notified["channel"], &notified["sent"]),
        (&"indexnow".into(), &4.into())
    );
    // The file of the key is requested first, and has the key.
    let key = world.key();
    let file = format!("/{key}.txt");
    assert!(world.site.pages().contains(&file));
    world.submit().expect_code(0);
    assert_eq!(world.submitted(), Vec::<Vec<String>>::new());
    // A publish leaves the file in place.
    world.changes();
    world.crawl(&[]).expect_code(0);
    assert_eq!(world.key(), key);
}

#[test]
fn only_changes_after_indexnow_was_switched_on_are_submitted() {
    let world = World::new();
    for _ in 0..3 {
        world.crawl(&[]).expect_code(0);
        world.changes();
    }
    world.crawl(&[]).expect_code(0);
    // Changes from before are old and are not sent.
    world.submit().expect_code(0);
    assert_eq!(world.submitted(), Vec::<Vec<String>>::new());
    world.changes();
    world.submit().expect_code(0);
    assert_eq!(world.submitted(), [["/", "/4", "/5", "/changes"]]);
    // After that, changes of crawls without `--indexnow` are sent, too, but not the same URLs twice in ten minutes.
    for _ in 0..2 {
        world.changes();
        world.crawl(&[]).expect_code(0);
    }
    world.notify(&["--indexnow"]).expect_code(0);
    assert_eq!(world.submitted(), [["/6", "/7"]]);
}

#[test]
fn every_status_of_the_engine_has_its_meaning() {
    let world = World::new();
    world.submit().expect_code(0);
    world.changes();
    let all = &SECOND[..];
    for (status, expected, sent) in [
        (403, "answered 403: it does not find the key in", all),
        (429, "answered 429 to each of 1 tries", all),
        (500, "answered 500", all),
        (503, "answered 503", all),
        (302, "check indexnow_endpoint", all),
        (1, "engine.test", all),
        (400, "badly formed", all),
        // Refused URLs are sent again in halves.
        (
            422,
            "answered 422: these URLs are not of the host",
            &SECOND[..2],
        ),
    ] {
        world.answers(status);
        // The crawl succeeded, and no line of its log shows the key.
        let ran = world.crawl(&["--indexnow", "-vvv"]).expect_code(0);
        assert!(ran.stderr.contains(expected), "{status}: {}", ran.stderr);
        assert!(!ran.stderr.contains(&world.key()), "{}", ran.stderr);
        assert!(!ran.stdout.contains(&world.key()), "{}", ran.stdout);
        assert_eq!(world.submitted(), [sent], "{status}");
        assert_eq!(ran.summary()["notified"][0]["waiting"], 4, "{status}");
    }
    world.answers(202);
    let ran = world.submit().expect_code(0);
    assert_eq!(world.submitted(), [["/2"], ["/changes"], ["/"], ["/1"]]);
    assert!(
        ran.stderr
            .contains("accepted 4 URLs and has still to check the key (202)")
    );
    assert_eq!(ran.summary()["notified"][0]["waiting"], 0);
}

#[test]
fn a_passing_failure_is_tried_again_and_a_long_wait_is_obeyed() {
    let world = World::with_settings("testing.retry_delays = [\"0s\"]\n", "");
    world.submit().expect_code(0);
    world.changes();
    world.answers(2);
    world.submit().expect_code(0);
    assert_eq!(world.submitted(), [SECOND, SECOND]);
    world.changes();
    world.answers(3);
    let ran = world.submit().expect_code(0);
    assert_eq!(world.requests().len(), 1);
    assert!(
        ran.stderr
            .contains("engine.test gets no further request now: it asked to wait")
    );
    // Also by the next session.
    world.answers(200);
    world.submit().expect_code(0);
    assert_eq!(world.requests().len(), 0);
}

#[test]
fn after_a_kill_before_the_answer_is_stored_the_urls_are_submitted_again() {
    let world = World::new();
    world.submit().expect_code(0);
    world.changes();
    world.answers(0);
    let mut running = world.bench.spawn(
        &world.site.url("/"),
        &["--config", &world.settings, "--indexnow"],
    );
    while world.engine.log().is_empty() {
        assert!(!running.has_ended());
        std::thread::yield_now();
    }
    assert!(running.kill());
    assert_eq!(world.submitted(), [SECOND]);
    world.answers(200);
    world.submit().expect_code(0);
    assert_eq!(world.submitted(), [SECOND]);
    world.submit().expect_code(0);
    assert_eq!(world.submitted(), Vec::<Vec<String>>::new());
}
