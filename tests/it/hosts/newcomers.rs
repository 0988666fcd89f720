//! Messages for new users.

use super::*;

#[test]
fn a_crawl_that_continues_and_a_limit_are_reported() {
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

#[test]
fn a_url_without_a_command_is_answered_with_the_command_to_use() {
    let check = |argument: &str, hint: Option<&str>| {
        let ran = arpent(&Bench::new(), [argument]).expect_code(2);
        let printed = ran
            .stderr
            .lines()
            .last()
            .filter(|line| line.starts_with("to crawl a site: "));
        assert_eq!(printed, hint, "{}", ran.stderr);
    };
    check(
        "https://www.example.com/",
        Some("to crawl a site: arpent crawl https://www.example.com/"),
    );
    check(
        "www.example.com",
        Some("to crawl a site: arpent crawl https://www.example.com"),
    );
    check("crwl", None);
    check("--rate=1.5", None);
    check("ftp://example.com/", None);
}
