//! Meaning of values.

use super::*;

#[test]
fn values_become_what_they_mean() {
    let settings = good(
        &[
            "https://example.com/docs/",
            "--output=out",
            "--state=st",
            "--public-url=https://Example.com:443/docs",
            "--concurrency=2",
            "--delay=1.5s",
            "--scope=origin",
            "--include=/a*",
            "--follow-only=/b*",
            "--list-only=/c*",
            "--max-pages=7",
            "--max-time=1h 30m",
            "--max-depth=0",
            "--layout=in-place",
            "--index=auto",
            "--no-gzip",
            "--fresh",
            "--force",
            "--dry-run",
            "--json",
            "--quiet",
            "-vv",
        ],
        &[],
        None,
    );
    let config = &settings.session.config;
    assert_eq!(
        settings.session.urls[0].as_str(),
        "https://example.com/docs/"
    );
    assert_eq!(
        (settings.session.output.as_deref(), &*settings.session.state),
        (Some(Path::new("out")), Path::new("st"))
    );
    assert_eq!(
        config.publish.public_url.as_deref(),
        Some("https://example.com/docs/")
    );
    assert_eq!(config.politeness.concurrency.get(), 2);
    assert_eq!(config.politeness.delay, Some(Duration::from_millis(1_500)));
    assert_eq!(config.scope.width, ScopeWidth::Origin);
    assert_eq!(
        (
            &config.scope.include[0][..],
            &config.scope.follow_only[0][..],
            &config.scope.list_only[0][..]
        ),
        ("/a*", "/b*", "/c*")
    );
    assert_eq!(
        (config.limits.max_pages, config.limits.max_depth),
        (7, Some(0))
    );
    assert_eq!(config.limits.max_time.as_secs(), 5_400);
    assert_eq!(config.publish.layout, crawler::config::Layout::InPlace);
    assert_eq!(config.publish.index, crawler::config::IndexMode::Auto);
    assert!(!config.publish.gzip && config.publish.force);
    assert!(settings.session.fresh && settings.session.dry_run && settings.quiet);
    assert_eq!((settings.json, settings.verbose), (true, 2));
    assert_eq!(settings.warnings, [""; 0]);
}

#[test]
fn values_about_requests_become_what_they_mean() {
    let settings = good(
        &[
            URL,
            "--user-agent=example-bot/1.0",
            "--header=X-A: b: c",
            "--header=X-D:e",
            "--resolve=Example.com:443:192.0.2.1",
            "--resolve=example.com:80:[2001:db8::1]",
            "--resolve=example.com:81:2001:db8::2",
            "--proxy=http://proxy.example:3128",
            "--ca-file=ca.pem",
        ],
        &[("ARPENT_BASIC_AUTH", "me:a:b")],
        None,
    );
    let config = &settings.session.config;
    assert_eq!(config.fetch.user_agent, "example-bot/1.0");
    let headers: Vec<_> = config
        .fetch
        .headers
        .iter()
        .map(|(name, value)| (&**name, value.reveal()))
        .collect();
    assert_eq!(headers, [("X-A", "b: c"), ("X-D", "e")]);
    let resolve: Vec<_> = config
        .fetch
        .resolve
        .iter()
        .map(|fixed| (&*fixed.host, fixed.port, fixed.address))
        .collect();
    assert_eq!(
        resolve,
        [
            ("example.com", 443, "192.0.2.1".parse().unwrap()),
            ("example.com", 80, "2001:db8::1".parse().unwrap()),
            ("example.com", 81, "2001:db8::2".parse().unwrap()),
        ]
    );
    assert_eq!(
        config.fetch.proxy.as_deref(),
        Some("http://proxy.example:3128")
    );
    assert_eq!(config.fetch.ca_file.as_deref(), Some(Path::new("ca.pem")));
    let Some(Credentials::Basic { user, password }) = &config.fetch.credentials else {
        panic!("{:?}", config.fetch.credentials);
    };
    assert_eq!((&**user, password.reveal()), ("me", "a:b"));
}

#[test]
fn the_user_agent_names_the_contact() {
    fn check(variables: &[(&str, &str)], expected: &str) {
        let own = good(&[URL], &[], None).session.config.fetch.user_agent;
        assert_eq!(
            good(&[URL], variables, None)
                .session
                .config
                .fetch
                .user_agent,
            expected.replace("OWN", &own)
        );
    }
    check(&[], "OWN");
    check(
        &[("ARPENT_CONTACT", "https://example.net/bot")],
        "OWN (+https://example.net/bot)",
    );
    check(
        &[
            ("ARPENT_USER_AGENT", "x/1"),
            ("ARPENT_CONTACT", "me@example.net"),
        ],
        "x/1",
    );
}

#[test]
fn ignore_takes_words_but_no_variable() {
    let empty = [("ARPENT_IGNORE", "")];
    let file = "scope.ignore = [\"robots\", \"noindex\", \"canonical\", \"retry-after\"]";
    let words = |arguments: &[&str]| {
        let settings = good(&[&[URL], arguments].concat(), &empty, Some(file));
        settings.session.config.ignore.words().collect::<Vec<_>>()
    };
    assert_eq!(
        words(&[]),
        ["robots", "noindex", "canonical", "retry-after"]
    );
    assert_eq!(
        words(&["--ignore=canonical, robots"]),
        ["robots", "canonical"]
    );
}
