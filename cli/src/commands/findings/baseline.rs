//! The findings of an earlier check or audit, which do not count again. Lines are left out of the comparison, and so are the digits
//! of messages, because they move.

use std::{collections::HashMap, fs, io, path::Path};

use serde::Deserialize;

use super::{MoreFindings, PrintedFinding};

/// Largest file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 30;

/// The document of `--format json`, as far as it is compared.
#[derive(Deserialize)]
struct FindingsDocument {
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

/// Identity of a finding: its document, rule, URL and message.
type Identity = (Option<String>, String, Option<String>, String);

/// The findings of an earlier check.
#[derive(Debug, Default)]
pub(super) struct Baseline {
    /// How many there are of each.
    findings: HashMap<Identity, u64>,
    /// How many there are by document and rule, with those that were only counted, and without those that were met again.
    left: HashMap<(Option<String>, String), u64>,
}

impl Baseline {
    /// Reads what `--format json` wrote.
    ///
    /// # Errors
    /// The file cannot be read, or is something else.
    pub(super) fn read(path: &Path) -> io::Result<Self> {
        if fs::metadata(path)?.len() > MAX_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let report: FindingsDocument = serde_json::from_slice(&fs::read(path)?)?;
        let mut baseline = Self::default();
        for line in report.findings {
            let kind = (line.file.clone(), line.rule.clone());
            *baseline.left.entry(kind).or_default() += line.more.unwrap_or(1);
            if line.more.is_none() {
                let message = without_digits(&line.message);
                let identity = (line.file, line.rule, line.url, message);
                *baseline.findings.entry(identity).or_default() += 1;
            }
        }
        Ok(baseline)
    }

    /// Returns true if the earlier check had the finding; each of its findings counts once.
    pub(super) fn match_finding(&mut self, finding: &PrintedFinding<'_>) -> bool {
        let identity = (
            finding.document.map(str::to_owned),
            finding.rule.id.clone(),
            finding.url.map(str::to_owned),
            without_digits(finding.message),
        );
        let Some(left) = self.findings.get_mut(&identity).filter(|left| **left > 0) else {
            return false;
        };
        *left -= 1;
        let (document, rule, ..) = identity;
        if let Some(left) = self.left.get_mut(&(document, rule)) {
            *left = left.saturating_sub(1);
        }
        true
    }

    /// How many of the findings that are only counted are more than the earlier check had besides those that were met again.
    pub(super) fn new_ones(&mut self, more: &MoreFindings<'_>) -> u64 {
        let kind = (more.document.map(str::to_owned), more.rule.id.clone());
        let Some(left) = self.left.get_mut(&kind) else {
            return more.count;
        };
        let known = more.count.min(*left);
        *left -= known;
        more.count - known
    }
}

fn without_digits(message: &str) -> String {
    message
        .chars()
        .filter(|letter| !letter.is_ascii_digit())
        .collect()
}
