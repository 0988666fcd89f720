//! The settings file with every setting, its documentation and its default: `config/default.toml`.

use std::{fmt::Write as _, iter};

use super::table::{SETTINGS, Setting, Special, TABLES, Table};
use crate::human;

/// The begin of the file, with a place for the names of the settings that most users need.
const BEGIN: &str = include_str!("templates/begin.toml");

/// The settings that are tables: page rules, namespaces and sites.
const END: &str = include_str!("templates/end.toml");

/// Columns of a line.
const WIDTH: usize = 100;

/// The text of the file.
pub(crate) fn default_file() -> String {
    let mut text = BEGIN.replace("{common}", &common());
    for table in TABLES {
        let [common, advanced] = table.settings();
        if common.is_empty() && advanced.is_empty() {
            continue;
        }
        add_head(table, common.is_empty(), &mut text);
        let has_both = !common.is_empty() && !advanced.is_empty();
        add_settings(&common, &mut text);
        if has_both {
            _ = writeln!(text, "# -- Advanced: {}\n", table.title);
        }
        add_settings(&advanced, &mut text);
    }
    text + END
}

/// The names of the settings that most users need, as lines of a comment.
fn common() -> String {
    let settings = SETTINGS
        .iter()
        .filter(|setting| setting.is(Special::Common));
    let names: Vec<&str> = settings.map(|setting| setting.name).collect();
    let lines = human::wrapped(&names.join(", "), WIDTH - 2).into_iter();
    let lines: Vec<String> = lines.map(|line| format!("# {}", line.trim())).collect();
    lines.join("\n")
}

fn add_head(table: &Table, is_advanced: bool, text: &mut String) {
    let advanced = if is_advanced { "Advanced: " } else { "" };
    let title = format!("# ----- {advanced}{} ", table.title);
    let rest = iter::repeat_n('-', WIDTH.saturating_sub(title.len()));
    text.push_str(&title);
    text.extend(rest);
    text.push('\n');
    add_comment(table.about, text);
    if !table.name.is_empty() {
        _ = writeln!(text, "[{}]", table.name);
    }
    text.push('\n');
}

fn add_settings(settings: &[&Setting], text: &mut String) {
    for setting in settings {
        add_comment(setting.docs, text);
        _ = writeln!(text, "{} = {}\n", setting.name, setting.default);
    }
}

fn add_comment(lines: &[&str], text: &mut String) {
    let words = lines.join("");
    let wrapped = human::wrapped(words.trim(), WIDTH - 2).into_iter();
    for line in wrapped.filter(|line| !line.is_empty()) {
        _ = writeln!(text, "# {line}");
    }
}
