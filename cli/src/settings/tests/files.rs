//! The settings file: the default one, the examples, and broken ones.

use std::fmt::Write as _;

use super::*;

#[test]
fn the_default_file_is_the_default() {
    let written = good(&[URL], &[], Some(&config_file("default.toml")));
    let built_in = good(&[URL], &[], None);
    assert_eq!(
        format!(
            "{:#?}",
            Settings {
                public_url_origin: Origin::Default,
                state_origin: Origin::Default,
                ..written
            }
        ),
        format!("{built_in:#?}")
    );
}

#[test]
fn every_setting_stands_in_the_default_file_in_the_order_of_the_table() {
    let text = config_file("default.toml");
    let file = SettingsFile::parse(Path::new("default.toml"), &text, MAX_FILE_BYTES);
    assert_eq!(file.problems, []);
    let values = file.shared.values.iter();
    let written: Vec<_> = values.map(|written| written.name).collect();
    let known: Vec<_> = SETTINGS.iter().map(|setting| setting.name).collect();
    assert_eq!(written, known);
    assert!(text.contains("\n# [[page_rule]]\n"));
    assert!(text.contains("\n# [[namespace]]\n"));
    assert!(text.contains("\n# [[site]]\n"));
}

#[test]
fn every_setting_of_the_default_file_is_explained() {
    let text = config_file("default.toml");
    let lines: Vec<_> = text.lines().collect();
    // Pairs that share one comment, second first.
    let shared: BTreeSet<_> = ["bearer_token", "max_pause"].into();
    for setting in SETTINGS {
        let start = format!("{} = ", setting.name);
        let at = lines
            .iter()
            .position(|line| line.starts_with(&start))
            .unwrap();
        let explained = lines[at - 1].starts_with("# ") || shared.contains(setting.name);
        assert!(explained, "{}", setting.name);
    }
}

#[test]
fn settings_have_names_of_their_own() {
    let names: BTreeSet<_> = SETTINGS.iter().map(|setting| setting.name).collect();
    assert_eq!(names.len(), SETTINGS.len());
}

#[test]
fn the_example_files_are_settings() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../config");
    let mut examples = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        if name.starts_with("example-") {
            examples += 1;
            let credentials = [("CREDENTIALS_DIRECTORY", "/credentials")];
            let settings = good(&[], &credentials, Some(&config_file(&name)));
            let sites = if name == "example-many-sites.toml" {
                4
            } else {
                1
            };
            assert_eq!(settings.urls.len(), sites, "{name}");
        }
    }
    assert_eq!(examples, 6);
}

#[test]
fn a_broken_file_names_the_line() {
    check_file(
        &format!("# {}", "x".repeat(MAX_FILE_BYTES)),
        "config.toml:1: the file is larger than 1 MiB, which is too large for a settings file",
    );
    let error = load(
        &[],
        &[],
        Some("urls = [\"https://example.com/\"]\npoliteness.rate = \n"),
    )
    .unwrap_err();
    assert_eq!(
        error.to_string().lines().count(),
        1,
        "a file that cannot be read has no missing sites: {error}"
    );
    let error = load(&[URL, "--config", "missing.toml"], &[], None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "failed to read the settings file missing.toml; expected the path of a TOML file with --config (arpent init writes one)"
    );
    let error = load(&[URL], &[("ARPENT_CONFIG", "missing.toml")], None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "failed to read the settings file missing.toml; expected the path of a TOML file with --config (arpent init writes one)"
    );
}

/// The lines of a comment as one paragraph.
fn in_markdown(comment: &[&str]) -> String {
    comment.join(" ").replace('<', "&lt;").replace('*', "\\*")
}

/// The page of the guide that lists every setting, made from `default.toml` and the command line.
fn settings_page() -> String {
    let text = config_file("default.toml");
    let command = Args::command();
    let crawl = command.find_subcommand("crawl").unwrap();
    let build = command.find_subcommand("build").unwrap();
    let mut page = "# Settings\n\nEvery setting with its default, by the tables of the settings file. `config/default.toml` has the same \
                    text. [Configuration](configuration.md) describes the file.\n"
        .to_owned();
    let mut comment: Vec<&str> = Vec::new();
    let mut lines = text
        .lines()
        .skip_while(|line| !line.starts_with("# -----"))
        .peekable();
    while let Some(line) = lines.next() {
        let name = line.split_once(" = ").map_or("", |(name, _)| name);
        if line.starts_with("# ----- Page rules") {
            break;
        } else if let Some(title) = line.strip_prefix("# ----- ") {
            writeln!(page, "\n## {}", title.trim_end_matches(['-', ' '])).unwrap();
        } else if let Some(text) = line.strip_prefix('#') {
            comment.push(text.trim());
        } else if line.starts_with('[') {
            let about = format!("Table `{line}`. {}", in_markdown(&comment));
            writeln!(page, "\n{}", about.trim_end()).unwrap();
            comment.clear();
        } else if let Some(setting) = SETTINGS.iter().find(|setting| setting.name == name) {
            let mut value = line.split_once(" = ").unwrap().1.to_owned();
            while value.starts_with('[') && !value.ends_with(']') {
                value += lines.next().unwrap().trim();
            }
            let option = [crawl, build].iter().find_map(|command| {
                let named = command
                    .get_arguments()
                    .find(|option| option.get_id() == name);
                named.and_then(clap::Arg::get_long)
            });
            let option = option.map_or_else(String::new, |long| format!("option `--{long}`, "));
            writeln!(
                page,
                "\n### {name}\n\n{}\n\nDefault `{value}`, {option}variable `ARPENT_{}`.",
                in_markdown(&comment),
                setting.name.to_ascii_uppercase()
            )
            .unwrap();
            // The next one may share the comment.
            if lines.peek().is_none_or(|next| next.is_empty()) {
                comment.clear();
            }
        }
    }
    page
}

#[test]
fn the_guide_lists_every_setting() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/guide/settings.md");
    crawler::testing::assert_guide(path, &settings_page());
}
