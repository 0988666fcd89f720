//! The layer that a value comes from.

use super::*;

#[test]
fn flags_variables_file_defaults_in_this_order() {
    let rate = |arguments: &[&str], variables: &[(&str, &str)], file| {
        let mut all = vec![URL];
        all.extend(arguments);
        good(&all, variables, file).session.config.politeness.rate
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
fn misspelled_variable_causes_a_warning() {
    for (name, is_warned) in [
        ("ARPENT_RATES", true),
        ("ARPENT_rate", true),
        ("ARPENT_FAULT", false),
        ("ARPENT_SHARED", false),
        ("OTHER_RATES", false),
    ] {
        let warning = format!(
            "the variable {name} is ignored, because there is no such setting; did you mean ARPENT_RATE?"
        );
        let expected = is_warned.then_some(warning);
        let warnings = &good(&[URL], &[(name, "1")], None).warnings;
        assert_eq!(warnings, expected.as_slice(), "{name}");
    }
}
