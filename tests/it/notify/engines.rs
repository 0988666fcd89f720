//! What engines are told of: each change once, by a key that is proven.

use super::{ONE_TRY, SECOND, World};

#[test]
fn what_changed_is_told_once_and_nothing_at_first() {
    let world = World::new();
    world.tell().expect_code(0);
    assert_eq!(world.told(), Vec::<Vec<String>>::new());
    // Nothing changed, nothing is sent.
    world.tell().expect_code(0);
    assert_eq!(world.told(), Vec::<Vec<String>>::new());
    world.changes();
    let ran = world.tell().expect_code(0);
    assert_eq!(world.told(), [SECOND]);
    let notified = &ran.summary()["notified"][0];
    assert_eq!(
        (&notified["channel"], &notified["sent"]),
        (&"indexnow".into(), &4.into())
    );
    // Its file is asked for before, and holds it.
    let key = world.key();
    let file = format!("/{key}.txt");
    assert!(world.site.pages().contains(&file));
    world.tell().expect_code(0);
    assert_eq!(world.told(), Vec::<Vec<String>>::new());
    // A publish does not mind the file, and the file stays.
    world.changes();
    world.crawl(&[]).expect_code(0);
    assert_eq!(world.key(), key);
}

#[test]
fn engines_are_told_of_what_changes_since_they_are_told_at_all() {
    let world = World::new();
    for _ in 0..3 {
        world.crawl(&[]).expect_code(0);
        world.changes();
    }
    world.crawl(&[]).expect_code(0);
    // What was noted before is old, however much of it there is.
    world.tell().expect_code(0);
    assert_eq!(world.told(), Vec::<Vec<String>>::new());
    world.changes();
    world.tell().expect_code(0);
    assert_eq!(world.told(), [["/", "/4", "/5", "/changes"]]);
    // From then on also what changed in runs that tell nobody, but not the same URLs twice in ten minutes.
    for _ in 0..2 {
        world.changes();
        world.crawl(&[]).expect_code(0);
    }
    world.notify(&["--indexnow"]).expect_code(0);
    assert_eq!(world.told(), [["/6", "/7"]]);
}

#[test]
fn every_status_of_the_engine_has_its_meaning() {
    let world = World::new();
    world.tell().expect_code(0);
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
        // What was refused goes out in halves.
        (
            422,
            "answered 422: these URLs are not of the host",
            &SECOND[..2],
        ),
    ] {
        world.answers(status);
        // The crawl itself went well, and whatever is logged of it does not show the key.
        let ran = world.crawl(&["--indexnow", "-vvv"]).expect_code(0);
        assert!(ran.stderr.contains(expected), "{status}: {}", ran.stderr);
        assert!(!ran.stderr.contains(&world.key()), "{}", ran.stderr);
        assert!(!ran.stdout.contains(&world.key()), "{}", ran.stdout);
        assert_eq!(world.told(), [sent], "{status}");
        assert_eq!(ran.summary()["notified"][0]["waiting"], 4, "{status}");
    }
    world.answers(202);
    let ran = world.tell().expect_code(0);
    assert_eq!(world.told(), [["/2"], ["/changes"], ["/"], ["/1"]]);
    assert!(
        ran.stderr
            .contains("accepted 4 URLs and has still to check the key (202)")
    );
    assert_eq!(ran.summary()["notified"][0]["waiting"], 0);
}

#[test]
fn a_passing_failure_is_tried_again_and_a_long_wait_is_kept() {
    let world = World::with_settings("limits.retry_delays = [\"0s\"]\n", "");
    world.tell().expect_code(0);
    world.changes();
    world.answers(2);
    world.tell().expect_code(0);
    assert_eq!(world.told(), [SECOND, SECOND]);
    world.changes();
    world.answers(3);
    let ran = world.tell().expect_code(0);
    assert_eq!(world.requests().len(), 1);
    assert!(
        ran.stderr
            .contains("engine.test gets no further request now: it asked to wait")
    );
    // Also by the next start.
    world.answers(200);
    world.tell().expect_code(0);
    assert_eq!(world.requests().len(), 0);
}

#[test]
fn killed_before_the_answer_is_noted_the_urls_are_told_again() {
    let world = World::new();
    world.tell().expect_code(0);
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
    assert_eq!(world.told(), [SECOND]);
    world.answers(200);
    world.tell().expect_code(0);
    assert_eq!(world.told(), [SECOND]);
    world.tell().expect_code(0);
    assert_eq!(world.told(), Vec::<Vec<String>>::new());
}

#[test]
fn a_key_on_another_host_is_told_of_before_anything_is_asked_for() {
    let world = World::new();
    let check = |notify: &str, options: &[&str], expected: Option<&str>| {
        world.bench.settings(&format!("{ONE_TRY}{notify}"));
        let ran = world.crawl(options);
        let found = ran.stderr.contains("config.toml:");
        assert_eq!(found, expected.is_some(), "{notify}: {}", ran.stderr);
        if let Some(expected) = expected {
            let ran = ran.expect_code(2);
            let own = world.site.origin().replace("http://", "");
            let expected = expected.replace("SITE", &own);
            assert!(ran.stderr.contains(&expected), "{notify}: {}", ran.stderr);
            assert!(!ran.stderr.contains("secret-key"), "{}", ran.stderr);
            assert_eq!(world.site.pages(), [] as [String; 0]);
        }
        world.site.clear_log();
    };
    let elsewhere = "[notify]\nindexnow = true\nindexnow_key_location = \"https://other.example/secret-key.txt\"\n";
    let why = "a file on other.example does not prove the key for SITE; expected the URL of a file on SITE";
    check(elsewhere, &[], Some(why));
    // Another port is another host, as IndexNow has it.
    let port = "[notify]\nindexnow_key_location = \"http://127.0.0.1:1/secret-key.txt\"\n";
    check(port, &["--dry-run"], Some("a file on 127.0.0.1:1 does not"));
    // What counts is the host that the set is written for.
    check(
        elsewhere,
        &["--publish-as", "https://www.other.example/"],
        None,
    );
    let own = format!(
        "[notify]\nindexnow_key_location = \"{}\"\n",
        world.site.url("/k.txt")
    );
    check(&own, &[], None);
    check(
        &own,
        &["--publish-as", "https://other.example/"],
        Some("does not prove the key for other.example"),
    );
}

#[test]
fn without_the_key_served_nothing_is_sent() {
    let world = World::new();
    world.tell().expect_code(0);
    world.changes();
    let location = world.site.url("/not-there.txt");
    // Nothing was noted yet.
    let ran = world
        .notify(&["--indexnow", "--indexnow-key-location", &location])
        .expect_code(0);
    assert!(ran.stdout.contains("robots.txt"), "{}", ran.stdout);
    world.crawl(&[]).expect_code(0);
    let ran = world
        .notify(&["--indexnow", "--indexnow-key-location", &location])
        .expect_code(3);
    assert!(
        ran.stderr.contains("/not-there.txt answered 404"),
        "{}",
        ran.stderr
    );
    assert_eq!(world.requests().len(), 0);
}
