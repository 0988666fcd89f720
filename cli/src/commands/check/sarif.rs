//! Findings as SARIF 2.1.0 (OASIS standard), which code scanning services read.

use std::{collections::BTreeMap, path::Path};

use serde_json::{Value, json};
use sitemap_core::{
    read::{Rule, Severity},
    validate::{Finding, RuleText},
};

/// The findings of one check.
#[derive(Debug, Default)]
pub(super) struct SarifLog {
    results: Vec<Value>,
    rules: BTreeMap<Rule, Value>,
}

impl SarifLog {
    /// Takes a finding.
    pub(super) fn add(&mut self, document: Option<&str>, finding: &Finding) {
        self.rules
            .entry(finding.rule)
            .or_insert_with(|| rule(finding.rule));
        let place = document.or(finding.url.as_deref());
        let text = match &finding.url {
            Some(url) => format!("{}: {url}", finding.message),
            None => finding.message.clone(),
        };
        let mut result = json!({
            "ruleId": finding.rule.to_string(),
            "level": level(finding.severity),
            "message": { "text": text },
        });
        if let Some(place) = place {
            let mut location = json!({ "artifactLocation": { "uri": uri(place) } });
            if let Some(position) = finding.position {
                location["region"] = json!({ "startLine": position.line });
                if let Some(excerpt) = &finding.excerpt {
                    location["region"]["startColumn"] = json!(excerpt.column);
                }
            }
            result["locations"] = json!([{ "physicalLocation": location }]);
        }
        self.results.push(result);
    }

    /// Takes the number of findings that are not shown.
    pub(super) fn add_more(
        &mut self,
        document: Option<&str>,
        id: Rule,
        severity: Severity,
        more: u64,
    ) {
        self.rules.entry(id).or_insert_with(|| rule(id));
        let mut result = json!({
            "ruleId": id.to_string(),
            "level": level(severity),
            "message": { "text": format!("{more} more like this") },
        });
        if let Some(document) = document {
            let location = json!({ "artifactLocation": { "uri": uri(document) } });
            result["locations"] = json!([{ "physicalLocation": location }]);
        }
        self.results.push(result);
    }

    /// The whole log.
    pub(super) fn document(&mut self) -> Value {
        let rules: Vec<Value> = std::mem::take(&mut self.rules).into_values().collect();
        json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": {
                    "name": "arpent",
                    "version": env!("CARGO_PKG_VERSION"),
                    "rules": rules,
                } },
                "columnKind": "unicodeCodePoints",
                "results": std::mem::take(&mut self.results),
            }],
        })
    }
}

fn rule(rule: Rule) -> Value {
    let id = rule.to_string();
    match RuleText::of(rule) {
        Some(text) => json!({
            "id": id,
            "shortDescription": { "text": text.title },
            "help": { "text": text.help },
        }),
        None => json!({ "id": id }),
    }
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// The URI reference of a path, or the URL as it is.
fn uri(place: &str) -> String {
    if place.contains("://") {
        return place.to_owned();
    }
    let escaped = place.bytes().map(|byte| {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    });
    let scheme = if Path::new(place).is_absolute() {
        "file://"
    } else {
        ""
    };
    format!("{scheme}{}", escaped.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_becomes_a_reference_and_a_url_stays() {
        assert_eq!(uri("a b/ä.xml"), "a%20b/%C3%A4.xml");
        assert_eq!(uri("/a/b.xml"), "file:///a/b.xml");
        assert_eq!(uri("https://h/a?b"), "https://h/a?b");
    }
}
