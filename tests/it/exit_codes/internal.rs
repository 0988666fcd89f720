//! 70: a bug, and its report.

use super::{assert_nothing_published, assert_outcome, site_of};
use crate::support::program::{Bench, Ran};

#[test]
fn bug_is_reported_and_costs_nothing() {
    for fault in ["panic-in-publish", "panic-in-opening"] {
        let site = site_of(3);
        let bench = Bench::new();
        let mut command = bench.command(&site.url("/"), &[]);
        command.env("ARPENT_FAULT", fault);
        let ran = Ran::of(command).expect_code(70);
        assert_outcome(&ran, "internal");
        assert!(ran.stderr.contains("please report it"), "{}", ran.stderr);
        assert_nothing_published(&bench);
        let asked = site.pages().len();
        bench.crawl(&site.url("/"), &[]).expect_code(0);
        assert_eq!(bench.published().urls().len(), 4, "{fault}");
        if fault == "panic-in-publish" {
            let again = site.pages().split_off(asked);
            assert_eq!(again, ["/"], "only the start page is asked for again");
        }
    }
}
