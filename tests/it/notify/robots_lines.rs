//! The `Sitemap` lines of robots.txt: looked for in the live file.

use super::ONE_TRY;
use crate::support::{
    program::{Bench, Ran},
    site::{Response, Site},
};

#[test]
fn robots_txt_is_read_with_the_password() {
    let site =
        Site::start(
            |request| match (request.headers.get("authorization"), &*request.target) {
                (None, _) => Response::status(401),
                (Some(_), "/robots.txt") => {
                    Response::text("User-agent: *\nSitemap: /sitemap.xml\n")
                }
                (Some(_), "/") => Response::html("<title>a page</title>"),
                (Some(_), _) => Response::status(404),
            },
        );
    let bench = Bench::new();
    let settings = bench.settings(&format!(
        "{ONE_TRY}requests.basic_auth = \"user:password\"\n"
    ));
    bench
        .crawl(&site.url("/"), &["--config", &settings])
        .expect_code(0);
    let notify = |options: &[&str]| {
        let mut command = bench.program();
        command
            .args(["notify", &site.url("/"), "--rate", "unlimited"])
            .arg("--state")
            .arg(bench.state())
            .args(options);
        Ran::of(command)
    };
    let ran = notify(&["--config", &settings]).expect_code(0);
    assert!(
        ran.stdout.contains("robots.txt lacks the line"),
        "{}",
        ran.stdout
    );
    // Without the password the lines are not known.
    let ran = notify(&[]).expect_code(3);
    assert!(
        ran.stdout.contains("robots.txt should have the line"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stderr.contains("could not read robots.txt") && ran.stderr.contains("answered 401"),
        "{}",
        ran.stderr
    );
}
