//! Messages for new users.

use super::*;

#[test]
fn a_limit_and_a_continued_crawl_are_reported() {
    let site = small_site("");
    // Both sessions have the same sources: other sources begin a new crawl.
    let bench = Bench::new().discovering();
    let ran = crawl_for_people(&bench, &site.url("/"), &["--max-pages", "2"]).expect_code(3);
    assert!(
        ran.stdout
            .contains("\n  max_pages = 2 was reached; the same command continues the crawl\n"),
        "{}",
        ran.stdout
    );
    assert!(
        !ran.stderr.contains("continuing the unfinished crawl"),
        "{}",
        ran.stderr
    );
    let state = file(&bench);
    assert!(
        ran.stdout
            .contains(&format!("\n  state in {}\n", state.display())),
        "{}",
        ran.stdout
    );
    let ran = crawl_for_people(&bench, &site.url("/"), &[]).expect_code(0);
    assert!(
        ran.stderr
            .contains("continuing the unfinished crawl: 3 URLs known, 1 waiting\n"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_crawl_delay_is_reported_once() {
    let site = small_site("User-agent: *\nCrawl-delay: 0.01\n");
    for options in [&[][..], &["-v"]] {
        let ran = crawl_for_people(&Bench::new(), &site.url("/"), options).expect_code(0);
        let printed = format!("{}{}", ran.stdout, ran.stderr);
        assert_eq!(printed.matches("(Crawl-delay)").count(), 1, "{printed}");
    }
}
