//! Prints what a check finds while it is found: as text for people, as JSON for programs, as annotations of GitHub, or as one SARIF log.

use std::collections::BTreeMap;

use crawler::check::{CheckEvent, CheckOutcome, CheckedDocument};
use serde_json::{Value, json};
use sitemap_core::{
    read::{Rule, Severity, Source},
    validate::{Counts, Finding, Repeated},
};

use super::{baseline::Baseline, code_of, sarif::SarifLog};
use crate::{
    args::CheckArgs,
    exit_code::{ExitCode, Misuse},
    human,
    output::{Output, Paint},
};

/// The name of what is found in no document, and not about one URL.
const ALL: &str = "all files";

/// How findings are printed.
enum Format {
    Text,
    Json,
    /// All at once, at the end.
    Sarif(SarifLog),
    Github,
}

/// Prints the events of a check and its outcome.
pub(super) struct Printer<'a> {
    format: Format,
    /// Findings of this severity, and worse ones, make the check fail.
    fail_on: Severity,
    /// Findings that do not count.
    baseline: Baseline,
    /// How many of them were found again.
    known: u64,
    fails: bool,
    output: &'a Output,
    /// The last help that was given for a rule; it is not repeated.
    helped: BTreeMap<Rule, String>,
    /// Objects of the JSON list of findings that were written. Before the first the head of the JSON is written, so that wrong
    /// usage leaves nothing behind.
    lines: u64,
}

impl<'a> Printer<'a> {
    /// A printer of findings as the arguments say.
    ///
    /// # Errors
    /// The baseline cannot be read.
    pub(super) fn new(args: &CheckArgs, output: &'a Output) -> Result<Self, Misuse> {
        let baseline = args.baseline.as_deref().map(|path| {
            Baseline::read(path).map_err(|error| {
                let path = path.display();
                Misuse(format!(
                    "--baseline: expected what arpent check --format json printed, in {path}: {error}"
                ))
            })
        });
        Ok(Self {
            format: match args.format.as_str() {
                "json" => Format::Json,
                "sarif" => Format::Sarif(SarifLog::default()),
                "github" => Format::Github,
                _ => Format::Text,
            },
            fail_on: match args.fail_on.as_str() {
                "warning" => Severity::Warning,
                _ => Severity::Error,
            },
            baseline: baseline.transpose()?.unwrap_or_default(),
            known: 0,
            fails: false,
            output,
            helped: BTreeMap::new(),
            lines: 0,
        })
    }

    /// Prints an event.
    pub(super) fn event(&mut self, event: &CheckEvent<'_>) {
        match event {
            CheckEvent::Finding { document, finding } => {
                if self.baseline.take(*document, finding) {
                    self.known += 1;
                } else {
                    self.fails |= is_at_least(finding.severity, self.fail_on);
                    self.finding(*document, finding);
                }
            }
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
            match &mut self.format {
                Format::Text => self.text_outcome(outcome),
                Format::Json => self.json_outcome(outcome),
                Format::Sarif(log) => self.output.data_json(&log.document().to_string()),
                Format::Github => {}
            }
        }
        code_of(outcome, self.fails)
    }

    fn finding(&mut self, document: Option<&str>, finding: &Finding) {
        match &mut self.format {
            Format::Text => self.text_finding(document, finding),
            Format::Json => self.json_line(&json_finding(document, finding)),
            Format::Sarif(log) => log.add(document, finding),
            Format::Github => self.output.data(&annotation(document, finding)),
        }
    }

    fn read(&self, document: &CheckedDocument) {
        let directory = document.report.as_ref();
        let directory = directory.and_then(|report| report.common_directory.as_ref());
        if let Some(directory) = directory.filter(|_| matches!(self.format, Format::Text)) {
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
        if self.known > 0 {
            let known = human::number(self.known);
            self.output
                .info(&format!("{known} are in the baseline and do not count"));
        }
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
        let new = self.baseline.new_ones(document, repeated);
        self.known += repeated.more - new;
        if new == 0 {
            return;
        }
        self.fails |= is_at_least(repeated.severity, self.fail_on);
        match &mut self.format {
            Format::Sarif(log) => {
                log.add_more(document, repeated.rule, repeated.severity, repeated.more);
                return;
            }
            Format::Github => {
                let command = command_of(repeated.severity);
                let properties = properties(document, None, repeated.rule);
                let more = repeated.more;
                self.output
                    .data(&format!("::{command} {properties}::{more} more like this"));
                return;
            }
            Format::Text | Format::Json => {}
        }
        if matches!(self.format, Format::Json) {
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

/// Whether a severity is `least` or worse.
fn is_at_least(severity: Severity, least: Severity) -> bool {
    severity == Severity::Error || severity == least
}

/// A finding as a workflow command of GitHub (docs.github.com, "Workflow commands for GitHub Actions").
fn annotation(document: Option<&str>, finding: &Finding) -> String {
    let command = command_of(finding.severity);
    let properties = properties(document, Some(finding), finding.rule);
    let url = finding
        .url
        .as_ref()
        .map(|url| format!(": {url}"))
        .unwrap_or_default();
    let text = format!("{}{url}; {}", finding.message, finding.help);
    let text = text
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A");
    format!("::{command} {properties}::{text}")
}

fn command_of(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    }
}

fn properties(document: Option<&str>, finding: Option<&Finding>, rule: Rule) -> String {
    let mut properties = vec![format!("title={rule}")];
    if let Some(document) = document {
        let escapes = [
            ('%', "%25"),
            ('\r', "%0D"),
            ('\n', "%0A"),
            (':', "%3A"),
            (',', "%2C"),
        ];
        let file = escapes
            .iter()
            .fold(document.to_owned(), |text, (letter, escape)| {
                text.replace(*letter, escape)
            });
        properties.push(format!("file={file}"));
    }
    let line = finding.and_then(|finding| finding.position);
    properties.extend(line.map(|position| format!("line={}", position.line)));
    properties.join(",")
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
