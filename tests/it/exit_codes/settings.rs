//! 2: wrong settings, reported before anything is requested or written.

use super::site_of;
use crate::support::program::Bench;

#[test]
fn wrong_settings_request_and_write_nothing() {
    let site = site_of(1);
    let bench = Bench::with_options([]);
    let config = bench.settings("# comment\n\nlimits.max_pages = -1\n");
    let ran = bench.crawl(&site.url("/"), &["--config", &config]);
    let ran = ran.expect_code(2);
    assert_eq!(
        ran.stderr,
        "error: config.toml:3: max_pages: expected a whole number, 1 or more, found -1\n"
    );
    assert_eq!(ran.stdout, "");
    assert!(site.log().is_empty());
    assert!(!bench.state().exists() && !bench.output().exists());
}
