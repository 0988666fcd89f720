//! The layer that a value comes from.

use super::*;

#[test]
fn flags_win_over_variables_over_the_file_over_defaults() {
    let rate = |arguments: &[&str], variables: &[(&str, &str)], file| {
        let mut all = vec![URL];
        all.extend(arguments);
        good(&all, variables, file).config.politeness.rate
    };
    let (flag, variable, file) = (
        ["--rate", "1"],
        [("ARPENT_RATE", "2")],
        Some("politeness.rate = 3"),
    );
    assert_eq!(rate(&flag, &variable, file), Rate::PerSecond(1.0));
    assert_eq!(rate(&[], &variable, file), Rate::PerSecond(2.0));
    assert_eq!(rate(&[], &[], file), Rate::PerSecond(3.0));
    assert_eq!(rate(&[], &[], None), Rate::PerSecond(10.0));
    assert_eq!(
        rate(&["--rate", "unlimited"], &variable, file),
        Rate::Unlimited
    );
}

#[test]
fn a_list_replaces_the_list_below_it() {
    let exclude = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut all = vec![URL];
        all.extend(arguments);
        good(&all, variables, Some(r#"scope.exclude = ["/file/*"]"#))
            .session
            .config
            .scope
            .exclude
    };
    let variable = [("ARPENT_EXCLUDE", "/a/*\n\n  /b/* \n")];
    assert_eq!(exclude(&[], &[]), ["/file/*"]);
    assert_eq!(exclude(&[], &variable), ["/a/*", "/b/*"]);
    assert_eq!(
        exclude(&["--exclude", "/c/*", "--exclude", "/d/*"], &variable),
        ["/c/*", "/d/*"]
    );
    assert_eq!(exclude(&[], &[("ARPENT_EXCLUDE", "")]), [""; 0]);
}

#[test]
fn urls_come_from_the_command_line_or_the_settings() {
    fn check(arguments: &[&str], file: &str, expected: &[&str]) {
        let settings = good(arguments, &[], Some(file));
        assert_eq!(
            settings.urls.iter().map(UrlKey::as_str).collect::<Vec<_>>(),
            expected
        );
    }
    let file = r#"urls = ["https://a.example/", "https://b.example/docs/"]"#;
    check(
        &[],
        file,
        &["https://a.example/", "https://b.example/docs/"],
    );
    check(&["https://c.example"], file, &["https://c.example/"]);
    check(
        &["https://c.example", "HTTPS://C.example:443/"],
        file,
        &["https://c.example/"],
    );
}

#[test]
fn a_variable_that_is_probably_a_slip_is_warned_of() {
    fn check(name: &str, expected: &[&str]) {
        assert_eq!(
            good(&[URL], &[(name, "1")], None).warnings,
            expected,
            "{name}"
        );
    }
    check(
        "ARPENT_RATES",
        &[
            "the variable ARPENT_RATES is ignored, because there is no such setting; did you mean ARPENT_RATE?",
        ],
    );
    check(
        "ARPENT_rate",
        &[
            "the variable ARPENT_rate is ignored, because there is no such setting; did you mean ARPENT_RATE?",
        ],
    );
    check("ARPENT_FAULT", &[]);
    check("ARPENT_SHARED", &[]);
    check("OTHER_RATES", &[]);
}
