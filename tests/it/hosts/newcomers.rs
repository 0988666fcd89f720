//! What newcomers are told.

use super::*;

#[test]
fn a_run_that_goes_on_says_so_and_a_limit_is_named() {
    let site = small_site("");
    // Both runs with the same sources: other ones begin a new run.
    let bench = Bench::new().discovering();
    let ran = crawl_for_people(&bench, &site.url("/"), &["--max-pages", "2"]).expect_code(3);
    assert!(
        ran.stdout
            .contains("\n  max_pages = 2 was reached; the same command continues the crawl\n"),
        "{}",
        ran.stdout
    );
    assert!(!ran.stderr.contains("going on with"), "{}", ran.stderr);
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
fn a_crawl_delay_is_told_once() {
    let site = small_site("User-agent: *\nCrawl-delay: 0.01\n");
    for options in [&[][..], &["-v"]] {
        let ran = crawl_for_people(&Bench::new(), &site.url("/"), options).expect_code(0);
        let told = format!("{}{}", ran.stdout, ran.stderr);
        assert_eq!(told.matches("(Crawl-delay)").count(), 1, "{told}");
    }
}

#[test]
fn a_url_without_a_job_is_told_which_it_could_be() {
    let check = |argument: &str, hint: Option<&str>| {
        let ran = arpent(&Bench::new(), [argument]).expect_code(2);
        let told = ran
            .stderr
            .lines()
            .last()
            .filter(|line| line.starts_with("to crawl a site: "));
        assert_eq!(told, hint, "{}", ran.stderr);
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
