//! The settings file: the default one, the examples, and broken ones.

use std::fmt::Write as _;

use crawler::summary::CommandOptions;

use super::*;
use crate::settings::options::BUILD;

#[test]
fn the_default_file_is_the_default() {
    let mut written = good(&[URL], &[], Some(&config_file("default.toml")));
    let mut built_in = good(&[URL], &[], None);
    for settings in [&mut written, &mut built_in] {
        // Both have the places of the values.
        settings.session.public_url_name.clear();
        settings.session.options = CommandOptions::default();
    }
    assert_eq!(format!("{written:#?}"), format!("{built_in:#?}"));
}

#[test]
fn the_default_file_is_made_from_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../config/default.toml");
    crawler::testing::assert_guide(path, &default_file());
    let file = SettingsFile::parse(Path::new("default.toml"), &default_file(), MAX_FILE_BYTES);
    assert_eq!(file.problems, []);
    let values = file.shared.values.iter();
    let written: Vec<_> = values.map(|written| written.name).collect();
    let known = TABLES.iter().flat_map(|table| table.settings().concat());
    let known: Vec<_> = known.map(|setting| setting.name).collect();
    assert_eq!(written, known);
}

#[test]
fn there_are_few_settings_and_each_is_explained() {
    let is_common = |setting: &&Setting| setting.is(Special::Common);
    assert_eq!(SETTINGS.iter().filter(is_common).count(), 25);
    let in_files = SETTINGS.iter().filter(|setting| setting.is_in_files());
    assert!(in_files.count() <= 97);
    assert!(SETTINGS.iter().all(|setting| !setting.docs.is_empty()));
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
            assert_eq!(settings.session.urls.len(), sites, "{name}");
        }
    }
    assert_eq!(examples, 6);
}

#[test]
fn typed_options_are_those_of_the_next_publish() {
    let check = |typed: &[&str], expected: Option<&str>| {
        let settings = good(typed, &[], None);
        let found = settings.session.options.publish;
        assert_eq!(found.as_deref(), expected, "{typed:?}");
    };
    check(&[URL], Some(""));
    check(
        &[URL, "--exclude=/a b*", "--exclude", "/c", "--no-gzip"],
        Some(" --no-gzip --exclude '/a b*' --exclude /c"),
    );
    check(&[URL, "--output=-x"], Some(" --output=-x"));
    // Nothing of requests, notifications and the run, which may have secrets.
    let proxy = "--proxy=http://user:password@127.0.0.1:9/";
    check(&[URL, proxy, "--rate=5", "--force", "--json"], Some(""));
    check(&[URL, "https://other.example/", "--output=x"], None);
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
    let lines: Vec<&str> = comment.iter().map(|line| line.trim()).collect();
    lines.join(" ").replace('<', "&lt;").replace('*', "\\*")
}

/// The page of the guide that lists every setting, made from the table: those that most users need come first.
fn settings_page() -> String {
    let mut page = "# Settings\n\nEvery setting with its default. `arpent generate settings` prints the same as a file. \
                    [Configuration](configuration.md) describes the file.\n\nMost sites need no other settings than some of the [common \
                    settings](#common-settings). The others are [advanced](#advanced-sites): leave them as they are until you know why \
                    you need another value.\n\n## Common settings\n"
        .to_owned();
    for table in TABLES {
        let [common, _] = table.settings();
        for setting in common {
            add_setting(&mut page, setting);
        }
    }
    for table in TABLES {
        let [_, advanced] = table.settings();
        if advanced.is_empty() {
            continue;
        }
        writeln!(page, "\n## Advanced: {}", table.title).unwrap();
        if !table.name.is_empty() {
            let about = format!("Table `[{}]`. {}", table.name, in_markdown(table.about));
            writeln!(page, "\n{}", about.trim_end()).unwrap();
        }
        for setting in advanced {
            add_setting(&mut page, setting);
        }
    }
    page
}

fn add_setting(page: &mut String, setting: &Setting) {
    let name = setting.name;
    let value = setting.default.replace("\n    ", "").replace('\n', "");
    let is_in_table = setting.is(Special::Common) && !setting.table.is_empty();
    let table = if is_in_table {
        format!(", table `[{}]`", setting.table)
    } else {
        String::new()
    };
    let option = setting.option.map_or_else(String::new, |option| {
        let of = match option.commands {
            BUILD => " of `arpent build`",
            _ => "",
        };
        format!(", option `--{}`{of}", name.replace('_', "-"))
    });
    let variable = if setting.is(Special::NoVariable) {
        String::new()
    } else {
        format!(", variable `ARPENT_{}`", name.to_ascii_uppercase())
    };
    let docs = in_markdown(setting.docs);
    let ends = format!("Default `{value}`{table}{option}{variable}.");
    writeln!(page, "\n### {name}\n\n{docs}\n\n{ends}").unwrap();
}

#[test]
fn the_guide_lists_every_setting() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/guide/settings.md");
    crawler::testing::assert_guide(path, &settings_page());
}
