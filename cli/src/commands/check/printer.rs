//! Prints what a check finds, as text for people or as JSON for programs, while it is found.

use std::collections::BTreeMap;

use crawler::check::{CheckEvent, CheckOutcome, CheckedDocument};
use serde_json::{Value, json};
use sitemap_core::{
    read::{Rule, Severity, Source},
    validate::{Counts, Finding, Repeated},
};

use super::code_of;
use crate::{
    exit_code::ExitCode,
    human,
    output::{Output, Paint},
};

/// The name of what is found in no document, and not about one URL.
const ALL: &str = "all files";

/// Prints the events of a check and its outcome.
pub(super) struct Printer<'a> {
    is_json: bool,
    output: &'a Output,
    /// The last help that was given for a rule; it is not repeated.
    helped: BTreeMap<Rule, String>,
    /// Objects of the JSON list of findings that were written. Before the first the head of the JSON is written, so that wrong
    /// usage leaves nothing behind.
    lines: u64,
}

impl<'a> Printer<'a> {
    pub(super) fn new(format: &str, output: &'a Output) -> Self {
        Self {
            is_json: format == "json",
            output,
            helped: BTreeMap::new(),
            lines: 0,
        }
    }

    /// Prints an event.
    pub(super) fn event(&mut self, event: &CheckEvent<'_>) {
        match event {
            CheckEvent::Finding { document, finding } if self.is_json => {
                self.json_line(&json_finding(*document, finding));
            }
            CheckEvent::Finding { document, finding } => self.text_finding(*document, finding),
            CheckEvent::Repeated { document, repeated } => self.repeated(*document, repeated),
            CheckEvent::Read(document) => self.read(document),
            CheckEvent::Info(text) => self.output.info(text),
            CheckEvent::Warning(text) => self.output.warn(text),
            CheckEvent::Error(text) => self.output.error(text),
        }
    }

    /// Prints the sums, and returns the exit code. Where nothing could be read there are none.
    pub(super) fn finish(&mut self, outcome: &CheckOutcome) -> ExitCode {
        if outcome.is_stopped || !outcome.documents.is_empty() {
            if self.is_json {
                self.json_outcome(outcome);
            } else {
                self.text_outcome(outcome);
            }
        }
        code_of(outcome)
    }

    fn read(&self, document: &CheckedDocument) {
        let directory = document.report.as_ref();
        let directory = directory.and_then(|report| report.common_directory.as_ref());
        if let Some(directory) = directory.filter(|_| !self.is_json) {
            self.output.info(&format!(
                "{} has to be served from {directory} or above; --base-url URL says where it is",
                document.name
            ));
        }
    }

    fn text_outcome(&self, outcome: &CheckOutcome) {
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
        let paint = |number, paint| if number == 0 { Paint::Plain } else { paint };
        self.output.data_painted(&[
            (Paint::Plain, &format!("{files}, {entries}{asked}: ")),
            (paint(errors, Paint::Error), &human::count(errors, "error")),
            (Paint::Plain, ", "),
            (
                paint(warnings, Paint::Warning),
                &human::count(warnings, "warning"),
            ),
            (Paint::Plain, ", "),
            (paint(notes, Paint::Note), &human::count(notes, "note")),
        ]);
    }

    fn json_outcome(&mut self, outcome: &CheckOutcome) {
        self.begin_json();
        self.output.data_json("],\"files\":[");
        for (number, document) in outcome.documents.iter().enumerate() {
            let comma = if number == 0 { "" } else { "," };
            let line = json_document(document);
            self.output.data_json(&format!("{comma}{line}"));
        }
        let line = json!({
            "files": outcome.documents.len(),
            "entries": entries_of(outcome),
            "pages": outcome.pages,
            "errors": outcome.counts.errors,
            "warnings": outcome.counts.warnings,
            "notes": outcome.counts.notes,
        });
        self.output.data_json(&format!("],\"summary\":{line}}}"));
    }

    fn text_finding(&mut self, document: Option<&str>, finding: &Finding) {
        let mut place = document
            .or(finding.url.as_deref())
            .unwrap_or(ALL)
            .to_owned();
        let column = finding.excerpt.as_ref().map(|excerpt| excerpt.column);
        let line = finding.position.map(|position| position.line);
        for number in [line, column].into_iter().flatten() {
            place.push(':');
            place.push_str(&number.to_string());
        }
        let only_schema = match finding.source {
            Source::Schema => " (only the schema refuses it)",
            Source::Rule => "",
        };
        self.output.data_painted(&[
            (Paint::Bold, &place),
            (Paint::Plain, ": "),
            (
                paint_of(finding.severity),
                &heading(finding.severity, finding.rule),
            ),
            (Paint::Plain, ": "),
            (Paint::Bold, &finding.message),
            (Paint::Plain, only_schema),
        ]);
        match (&finding.excerpt, &finding.url) {
            (Some(excerpt), _) if !excerpt.text.is_empty() => {
                // One character stays one, so that the mark below stands where it should.
                let text: String = excerpt
                    .text
                    .chars()
                    .map(|letter| if letter.is_control() { ' ' } else { letter })
                    .collect();
                self.output.data(&format!("    {text}"));
                let mark = format!("    {}^", " ".repeat(excerpt.marker));
                self.output
                    .data_painted(&[(paint_of(finding.severity), &mark)]);
            }
            (_, Some(url)) if finding.document.is_some() => {
                self.output.data(&format!("    {url}"));
            }
            (_, _) => {}
        }
        if self.helped.get(&finding.rule) != Some(&finding.help) {
            self.output.data_painted(&[
                (Paint::Plain, "    "),
                (Paint::Note, "help"),
                (Paint::Plain, ": "),
                (Paint::Plain, &finding.help),
            ]);
            self.helped.insert(finding.rule, finding.help.clone());
        }
    }

    fn begin_json(&self) {
        if self.lines == 0 {
            self.output.data_json("{\"findings\":[");
        }
    }

    fn json_line(&mut self, line: &Value) {
        self.begin_json();
        let comma = if self.lines == 0 { "" } else { "," };
        self.output.data_json(&format!("{comma}{line}"));
        self.lines += 1;
    }

    fn repeated(&mut self, document: Option<&str>, repeated: &Repeated) {
        if self.is_json {
            self.json_line(&json!({
                "file": document,
                "rule": repeated.rule.to_string(),
                "severity": repeated.severity.to_string(),
                "source": repeated.source.to_string(),
                "message": format!("{} more like this", repeated.more),
                "more": repeated.more,
            }));
            return;
        }
        let more = human::number(repeated.more);
        self.output.data_painted(&[
            (Paint::Bold, document.unwrap_or(ALL)),
            (Paint::Plain, ": "),
            (
                paint_of(repeated.severity),
                &heading(repeated.severity, repeated.rule),
            ),
            (
                Paint::Plain,
                &format!(": {more} more like this (--repeats N shows more)"),
            ),
        ]);
    }
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

fn json_finding(document: Option<&str>, finding: &Finding) -> Value {
    let excerpt = finding.excerpt.as_ref();
    json!({
        "file": document,
        "line": finding.position.map(|position| position.line),
        "column": excerpt.map(|excerpt| excerpt.column),
        "offset": finding.position.map(|position| position.offset),
        "rule": finding.rule.to_string(),
        "severity": finding.severity.to_string(),
        "source": finding.source.to_string(),
        "url": finding.url,
        "text": excerpt.map(|excerpt| &excerpt.text),
        "message": finding.message,
        "help": finding.help,
        "more": Value::Null,
    })
}

fn heading(severity: Severity, rule: Rule) -> String {
    format!("{severity}[{rule}]")
}

fn paint_of(severity: Severity) -> Paint {
    match severity {
        Severity::Error => Paint::Error,
        Severity::Warning => Paint::Warning,
        Severity::Note => Paint::Note,
    }
}
