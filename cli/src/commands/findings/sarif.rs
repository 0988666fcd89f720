//! Findings as SARIF 2.1.0 (OASIS standard), which code scanning services read.

use std::{collections::BTreeMap, path::Path};

use serde_json::{Value, json};
use sitemap_core::read::Severity;

use super::{MoreFindings, PrintedFinding, PrintedRule};

/// The findings of one check.
#[derive(Debug, Default)]
pub(super) struct SarifLog {
    results: Vec<Value>,
    rules: BTreeMap<String, Value>,
}

impl SarifLog {
    /// Takes a finding.
    pub(super) fn add(&mut self, finding: &PrintedFinding<'_>) {
        let place = finding.document.or(finding.url);
        let mut text = finding.message.to_owned();
        for part in finding.url.into_iter().chain(finding.named_by) {
            text = format!("{text}: {part}");
        }
        let mut result = self.result(&finding.rule, finding.severity, &text);
        if let Some(place) = place {
            let mut location = json!({ "artifactLocation": { "uri": uri(place) } });
            if let Some(position) = finding.position {
                location["region"] = json!({ "startLine": position.line });
                if let Some(excerpt) = finding.excerpt {
                    location["region"]["startColumn"] = json!(excerpt.column);
                }
            }
            result["locations"] = json!([{ "physicalLocation": location }]);
        }
        self.results.push(result);
    }

    /// Takes the number of findings that are not shown.
    pub(super) fn add_more(&mut self, more: &MoreFindings<'_>) {
        let text = format!("{} more like this", more.count);
        let mut result = self.result(&more.rule, more.severity, &text);
        if let Some(document) = more.document {
            let location = json!({ "artifactLocation": { "uri": uri(document) } });
            result["locations"] = json!([{ "physicalLocation": location }]);
        }
        self.results.push(result);
    }

    /// A result without a place, whose rule is among those of the log.
    fn result(&mut self, rule: &PrintedRule, severity: Severity, text: &str) -> Value {
        if !self.rules.contains_key(&rule.id) {
            let described = json!({
                "id": rule.id,
                "shortDescription": { "text": rule.title },
                "help": { "text": rule.help },
            });
            self.rules.insert(rule.id.clone(), described);
        }
        json!({
            "ruleId": rule.id,
            "level": level(severity),
            "message": { "text": text },
        })
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
    fn paths_become_references() {
        assert_eq!(uri("a b/ä.xml"), "a%20b/%C3%A4.xml");
        assert_eq!(uri("/a/b.xml"), "file:///a/b.xml");
        assert_eq!(uri("https://h/a?b"), "https://h/a?b");
    }
}
