//! Prints what a check finds while it is found, and its sums.

use crawler::check::{CheckEvent, CheckOutcome, CheckedDocument};
use serde_json::{Value, json};
use sitemap_core::{
    read::Rule,
    validate::{Counts, Finding, Repeated, RuleText},
};

use super::{
    super::findings::{FindingPrinter, MoreFindings, PrintedFinding, PrintedRule},
    code_of,
};
use crate::{
    args::CheckArgs,
    exit_code::ExitCode,
    failure::Misuse,
    human,
    output::{Output, Tone},
};

/// Prints the events of a check and its outcome.
pub(super) struct Printer<'a> {
    findings: FindingPrinter<'a>,
    output: &'a Output,
}

impl<'a> Printer<'a> {
    /// A printer of findings, as set by the arguments.
    ///
    /// # Errors
    /// The baseline cannot be read.
    pub(super) fn new(args: &CheckArgs, output: &'a Output) -> Result<Self, Misuse> {
        Ok(Self {
            findings: FindingPrinter::new(&args.findings, output)?,
            output,
        })
    }

    /// Prints an event.
    pub(super) fn event(&mut self, event: &CheckEvent<'_>) {
        match event {
            CheckEvent::Finding { document, finding } => {
                self.findings.finding(&printed(*document, finding));
            }
            CheckEvent::Repeated { document, repeated } => {
                self.findings.more(&more(*document, repeated));
            }
            CheckEvent::Read(document) => self.read(document),
            CheckEvent::Info(text) => self.output.info(text),
            CheckEvent::Warning(text) => self.output.warn(text),
            CheckEvent::Error(text) => self.output.error(text),
        }
    }

    /// Prints the sums, and returns the exit code. Where nothing could be read there are none.
    pub(super) fn finish(&mut self, outcome: &CheckOutcome) -> ExitCode {
        if outcome.is_stopped || !outcome.documents.is_empty() {
            self.findings.finish(
                |output| text_outcome(outcome, output),
                |output| json_outcome(outcome, output),
            );
        }
        code_of(outcome, self.findings.fails())
    }

    fn read(&self, document: &CheckedDocument) {
        let directory = document.report.as_ref();
        let directory = directory.and_then(|report| report.common_directory.as_ref());
        if let Some(directory) = directory.filter(|_| self.findings.is_text()) {
            self.output.info(&format!(
                "{} has to be served from {directory} or above; --base-url URL sets where it is served",
                document.name
            ));
        }
    }
}

fn text_outcome(outcome: &CheckOutcome, output: &Output) {
    let Counts {
        errors,
        warnings,
        notes,
        ..
    } = outcome.counts;
    let asked = match outcome.pages {
        0 => String::new(),
        pages => format!(", {} asked for", human::count(pages, "page")),
    };
    let entries = match entries_of(outcome) {
        1 => "1 entry".to_owned(),
        entries => format!("{} entries", human::number(entries)),
    };
    let files = human::count(outcome.documents.len() as u64, "file");
    let paint = |number, paint| if number == 0 { Tone::Plain } else { paint };
    output.data_painted(&[
        (Tone::Plain, &format!("{files}, {entries}{asked}: ")),
        (paint(errors, Tone::Error), &human::count(errors, "error")),
        (Tone::Plain, ", "),
        (
            paint(warnings, Tone::Warning),
            &human::count(warnings, "warning"),
        ),
        (Tone::Plain, ", "),
        (paint(notes, Tone::Note), &human::count(notes, "note")),
    ]);
}

fn json_outcome(outcome: &CheckOutcome, output: &Output) {
    output.data_json("],\"files\":[");
    for (number, document) in outcome.documents.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        let line = json_document(document);
        output.data_json(&format!("{comma}{line}"));
    }
    let line = json!({
        "files": outcome.documents.len(),
        "entries": entries_of(outcome),
        "pages": outcome.pages,
        "errors": outcome.counts.errors,
        "warnings": outcome.counts.warnings,
        "notes": outcome.counts.notes,
    });
    output.data_json(&format!("],\"summary\":{line}}}"));
}

fn entries_of(outcome: &CheckOutcome) -> u64 {
    let reports = outcome
        .documents
        .iter()
        .filter_map(|document| document.report.as_ref());
    reports.map(|report| report.entries).sum()
}

/// A document as JSON: everything but findings.
fn json_document(document: &CheckedDocument) -> Value {
    let mut line = match &document.report {
        Some(report) => json!({
            "kind": report.kind.map(|kind| kind.to_string()),
            "entries": report.entries,
            "bytes": report.bytes,
            "skipped_elements": report.skipped_elements,
            "complete": report.is_complete,
            "directory": report.common_directory,
            "errors": report.counts.errors,
            "warnings": report.counts.warnings,
            "notes": report.counts.notes,
        }),
        None => json!({"complete": false}),
    };
    line["file"] = json!(document.name);
    line["url"] = json!(document.url);
    line["final_url"] = json!(document.final_url);
    line["status"] = json!(document.status);
    line
}

fn printed<'f>(document: Option<&'f str>, finding: &'f Finding) -> PrintedFinding<'f> {
    PrintedFinding {
        document,
        rule: printed_rule(finding.rule),
        severity: finding.severity,
        source: finding.source,
        position: finding.position,
        excerpt: finding.excerpt.as_ref(),
        url: finding.url.as_deref(),
        named_by: None,
        message: &finding.message,
        help: &finding.help,
    }
}

fn more<'f>(document: Option<&'f str>, repeated: &Repeated) -> MoreFindings<'f> {
    MoreFindings {
        document,
        rule: printed_rule(repeated.rule),
        severity: repeated.severity,
        source: repeated.source,
        count: repeated.more,
    }
}

fn printed_rule(rule: Rule) -> PrintedRule {
    let text = RuleText::of(rule);
    PrintedRule {
        id: rule.to_string(),
        help: text.map_or_else(String::new, |text| text.help.clone()),
        title: text.map_or_else(|| rule.to_string(), |text| text.title.clone()),
    }
}
