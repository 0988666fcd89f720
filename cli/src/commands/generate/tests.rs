//! The page of the guide on the results as JSON, made from their schemas.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use clap::ValueEnum as _;
use serde_json::Value;

use super::*;

/// Values of an enumeration that the page lists; a longer list has a page of its own.
const MAX_VALUES: usize = 20;

const HEAD: &str = "\
# JSON results

`--json` prints the result of a command as JSON on stdout. Every command that has a result takes it.

| command | output |
|---|---|
| `crawl`, `build`, `publish` | one line for each site: the [summary](#summary) |
| `check`, `audit` | one object with [findings](#findings): [check](#check), [audit](#audit); `--format json` means the same |
| `diff`, `init`, `status`, `why` | one object: [diff](#diff), [init](#init), [status](#status), [why](#why) |
| `report` | one object with [counts and examples](#report) |
| `report --ndjson FILE` | one object on each line: [the rows](#report-rows) |
| `notify`, `forget` | one line for each site: [notify](#notify), [forget](#forget) |
| `catalogue list` | one line for each site: [the site](#catalogue-list) |
| `catalogue show` | one object: [the site with its settings and sessions](#catalogue-show) |
| `status --catalogue` | one object: [fleet](#fleet) |

`arpent generate schema` prints the JSON Schema of a result:

```console
$ arpent crawl https://www.example.com/ --json
$ arpent generate schema crawl
```

The first result is one line. It begins with these values:

```json
{\"version\": 1, \"site\": \"https://www.example.com/\", \"outcome\": \"unchanged\", \"known\": 47, \"listed\": 42,
 \"excluded\": {\"duplicate-of\": 1, \"excluded-by-rule\": 1, \"gone\": 1, \"noindex\": 1, \"robots-disallowed\": 1}, \"failed\": 0, \"queued\": 0}
```

Every result has a `version`; of the rows, the first has it. A new arpent may add keys. When a key is removed or gets another meaning,
the `version` changes.

An optional key is absent where it does not apply. [Reasons](reasons.md) lists the codes of reasons, and [Guard](guard.md) describes
the objections of the guard.
";

const OTHERS_HEAD: &str = "\
# JSON results of the other commands

[JSON results](json.md) has what holds for all of them, and the results of `crawl`, `build` and `publish`.
";

/// The page while it is written.
struct Page {
    text: String,
    /// The parts that have a section, by their titles.
    described: BTreeMap<String, Value>,
}

impl Page {
    /// Adds a section for a schema or a titled definition of it, then one for each titled definition that it refers to.
    fn add(&mut self, marks: &str, schema: &Value, part: &Value) {
        let title = part["title"].as_str().unwrap().to_owned();
        if let Some(known) = self.described.insert(title.clone(), part.clone()) {
            assert_eq!(known, *part, "two definitions have the title {title}");
            return;
        }
        let description = part["description"].as_str().unwrap();
        write!(self.text, "\n{marks} {title}\n\n{description}\n").unwrap();
        let mut referred = Vec::new();
        let mut rows = Vec::new();
        let alternatives = part["oneOf"].as_array().into_iter().flatten();
        for alternative in alternatives {
            if let Some(value) = alternative.get("const") {
                rows.push(row(
                    value.as_str().unwrap(),
                    "",
                    description_of(alternative),
                ));
            } else if alternative.get("$ref").is_some() {
                referred.push(resolved(schema, alternative));
            }
        }
        let first = if rows.is_empty() { "key" } else { "value" };
        add_keys(schema, part, "", &mut rows, &mut referred);
        if !rows.is_empty() {
            write!(
                self.text,
                "\n| {first} | meaning |\n|---|---|\n{}",
                rows.concat()
            )
            .unwrap();
        }
        for part in referred {
            self.add("###", schema, part);
        }
    }
}

/// A row of a table.
fn row(key: &str, optional: &str, meaning: &str) -> String {
    assert!(!meaning.contains('|'), "{meaning}");
    format!("| `{key}`{optional} | {meaning} |\n")
}

/// Adds a row for each key of an object and of the objects in it, and the titled definitions that these refer to.
fn add_keys<'s>(
    schema: &'s Value,
    part: &'s Value,
    prefix: &str,
    rows: &mut Vec<String>,
    referred: &mut Vec<&'s Value>,
) {
    let Some(properties) = part["properties"].as_object() else {
        return;
    };
    assert_eq!(part["additionalProperties"], false, "{part}");
    let required = part["required"].as_array().unwrap();
    let required: Vec<&str> = required.iter().filter_map(Value::as_str).collect();
    let names = properties.keys().map(String::as_str);
    let optional = names.filter(|name| !required.contains(name));
    for name in required.iter().copied().chain(optional) {
        let property = &properties[name];
        let mut meaning = description_of(property).to_owned();
        let value = resolved(schema, property);
        let (key, value) = match value.get("items") {
            Some(items) => (format!("{name}[]"), resolved(schema, items)),
            None => (name.to_owned(), value),
        };
        if let Some(title) = value["title"].as_str() {
            let anchor = title.to_lowercase().replace(' ', "-");
            write!(meaning, " See [{title}](#{anchor}).").unwrap();
            referred.push(value);
        } else {
            meaning += &values_of(value);
        }
        let is_optional = !required.contains(&name);
        let mark = if is_optional { " (optional)" } else { "" };
        rows.push(row(&format!("{prefix}{name}"), mark, &meaning));
        if value.get("title").is_none() {
            add_keys(schema, value, &format!("{prefix}{key}."), rows, referred);
        }
    }
}

fn description_of(part: &Value) -> &str {
    let description = part["description"].as_str();
    let description = description.unwrap_or_else(|| panic!("no description: {part}"));
    assert!(description.ends_with('.'), "{description}");
    description
}

/// The values that the schema allows, as a sentence.
fn values_of(part: &Value) -> String {
    if let Some(value) = part.get("const") {
        return format!(" Always `{}`.", value.to_string().trim_matches('"'));
    }
    let (word, values) = match part["propertyNames"].get("enum") {
        Some(names) => ("Keys", names),
        None => ("Values", &part["enum"]),
    };
    let values: Vec<String> = values
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(|value| format!("`{value}`"))
        .collect();
    if values.is_empty() || values.len() > MAX_VALUES {
        return String::new();
    }
    format!(" {word}: {}.", values.join(", "))
}

/// The target of a reference, or the first alternative.
fn resolved<'s>(schema: &'s Value, part: &'s Value) -> &'s Value {
    let part = part["anyOf"].get(0).unwrap_or(part);
    match part["$ref"].as_str() {
        Some(reference) => schema.pointer(reference.trim_start_matches('#')).unwrap(),
        None => part,
    }
}

/// Each page for a command has a text for each of its options.
#[test]
fn every_option_of_a_man_page_has_a_text() {
    fn check(command: &clap::Command, count: &mut usize) {
        let mut page = Vec::new();
        clap_mangen::Man::new(command.clone())
            .render(&mut page)
            .unwrap();
        let page = String::from_utf8(page).unwrap();
        let lines: Vec<&str> = page.lines().collect();
        for (place, _) in lines.iter().enumerate().filter(|(_, line)| **line == ".TP") {
            let text = lines.get(place + 2).copied().unwrap_or_default();
            let is_text = !text.is_empty() && !text.starts_with(".TP") && !text.starts_with(".SH");
            assert!(is_text, "{}: {:?}", command.get_name(), &lines[place..]);
            *count += 1;
        }
        for command in command.get_subcommands() {
            check(command, count);
        }
    }
    let mut count = 0;
    check(&described(), &mut count);
    assert!(count > 300, "{count} options");
}

#[test]
fn the_guide_describes_every_json_result() {
    let mut page = Page {
        text: HEAD.to_owned(),
        described: BTreeMap::new(),
    };
    for result in JsonResult::value_variants() {
        let schema: Value = serde_json::from_str(schema_of(*result)).unwrap();
        page.add("##", &schema, &schema);
    }
    let (summaries, others) = page.text.split_once("\n## Check\n").unwrap();
    let pages = [
        ("json.md", summaries.to_owned()),
        (
            "json-results.md",
            format!("{OTHERS_HEAD}\n## Check\n{others}"),
        ),
    ];
    for ((name, text), (other, _)) in pages.iter().zip(pages.iter().rev()) {
        let path = format!("{}/guide/{name}", env!("CARGO_MANIFEST_DIR"));
        crawler::testing::assert_guide(&path, &linked_to(text, other));
    }
}

/// The text of a page, whose links to sections of the other page name that page.
fn linked_to(text: &str, other: &str) -> String {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let own: BTreeSet<String> = headings
        .map(|line| {
            line.trim_start_matches('#')
                .trim()
                .to_lowercase()
                .replace(' ', "-")
        })
        .collect();
    let mut parts = text.split("](#");
    let mut linked = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let anchor = part.split(')').next().unwrap_or_default();
        let page = if own.contains(anchor) { "" } else { other };
        write!(linked, "]({page}#{part}").unwrap();
    }
    linked
}
