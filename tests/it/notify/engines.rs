//! Notifications of engines: each change once, with a key that is proven.

use super::{SECOND, World};

#[test]
fn changes_are_submitted_once() {
    let world = World::new();
    // The first set is not submitted, and nothing is without a change.
    for _ in 0..2 {
        world.submit().expect_code(0);
        assert_eq!(world.submitted(), Vec::<Vec<String>>::new());
    }
    world.changes();
    // A refusal leaves the exit code as it is, and no line of the log shows the key.
    world.answers(403);
    let ran = world.crawl(&["--indexnow", "-vvv"]).expect_code(0);
    let key = world.key();
    let refusal = "answered 403: it does not find the key in";
    assert!(ran.stderr.contains(refusal), "{}", ran.stderr);
    assert!(!ran.stderr.contains(&key), "{}", ran.stderr);
    assert!(!ran.stdout.contains(&key), "{}", ran.stdout);
    assert_eq!(ran.summary()["notified"][0]["waiting"], 4);
    assert_eq!(world.submitted(), [SECOND]);
    world.answers(202);
    let ran = world.submit().expect_code(0);
    assert_eq!(world.submitted(), [SECOND]);
    let unchecked = "accepted 4 URLs and has still to check the key (202)";
    assert!(ran.stderr.contains(unchecked), "{}", ran.stderr);
    let notified = &ran.summary()["notified"][0];
    assert_eq!(
        (
            &notified["channel"],
            &notified["sent"],
            &notified["waiting"]
        ),
        (&"indexnow".into(), &4.into(), &0.into())
    );
    // The file of the key is requested first, and has the key.
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
fn changes_before_indexnow_are_not_submitted() {
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
fn urls_are_submitted_again_after_a_kill() {
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
