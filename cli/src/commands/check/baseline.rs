//! The findings of an earlier check, which do not count again. Lines are left out of the comparison, and so are the digits of
//! messages, because they move.

use std::{collections::HashMap, fs, io, path::Path};

use serde::Deserialize;
use sitemap_core::validate::{Finding, Repeated};

/// Largest file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 30;

/// The document of `arpent check --format json`, as far as it is compared.
#[derive(Deserialize)]
struct Report {
    findings: Vec<KnownFinding>,
}

#[derive(Deserialize)]
struct KnownFinding {
    file: Option<String>,
    rule: String,
    url: Option<String>,
    message: String,
    more: Option<u64>,
}

/// What makes a finding the same: its document, rule, URL and message.
type Identity = (Option<String>, String, Option<String>, String);

/// The findings of an earlier check.
#[derive(Debug, Default)]
pub(super) struct Baseline {
    /// How many there are of each.
    findings: HashMap<Identity, u64>,
    /// Those that were only counted, by document and rule.
    counted: HashMap<(Option<String>, String), u64>,
}

impl Baseline {
    /// Reads what `--format json` wrote.
    ///
    /// # Errors
    /// It cannot be read, or is something else.
    pub(super) fn read(path: &Path) -> io::Result<Self> {
        if fs::metadata(path)?.len() > MAX_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let report: Report = serde_json::from_slice(&fs::read(path)?)?;
        let mut baseline = Self::default();
        for line in report.findings {
            if let Some(more) = line.more {
                let kind = (line.file, line.rule);
                *baseline.counted.entry(kind).or_default() += more;
            } else {
                let message = without_digits(&line.message);
                let identity = (line.file, line.rule, line.url, message);
                *baseline.findings.entry(identity).or_default() += 1;
            }
        }
        Ok(baseline)
    }

    /// Whether the earlier check had a finding; each of its findings counts once.
    pub(super) fn take(&mut self, document: Option<&str>, finding: &Finding) -> bool {
        let identity = (
            document.map(str::to_owned),
            finding.rule.to_string(),
            finding.url.clone(),
            without_digits(&finding.message),
        );
        let left = self.findings.get_mut(&identity).filter(|left| **left > 0);
        left.is_some_and(|left| {
            *left -= 1;
            true
        })
    }

    /// How many of the findings that are only counted are more than the earlier check had.
    pub(super) fn new_ones(&self, document: Option<&str>, repeated: &Repeated) -> u64 {
        let kind = (document.map(str::to_owned), repeated.rule.to_string());
        let known = self.counted.get(&kind).copied().unwrap_or_default();
        repeated.more.saturating_sub(known)
    }
}

fn without_digits(message: &str) -> String {
    message
        .chars()
        .filter(|letter| !letter.is_ascii_digit())
        .collect()
}
