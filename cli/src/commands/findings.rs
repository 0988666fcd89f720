//! The output of the findings of `check` and `audit`: as text for people, as JSON for programs, as annotations of GitHub, or as one
//! SARIF log; which of them count, and whether the command fails by them.

mod baseline;
mod sarif;

use std::{collections::BTreeMap, io};

use serde_json::{Value, json};
use sitemap_core::read::{Excerpt, Position, Severity, Source};

use self::{baseline::Baseline, sarif::SarifLog};
use crate::{
    args::FindingArgs,
    failure::Misuse,
    human,
    output::{Output, Tone},
};

/// The name of what is found in no document, and not about one URL.
const ALL: &str = "all files";

/// The rule that a finding breaks.
#[derive(Debug, Clone)]
pub(super) struct PrintedRule {
    /// The name, which is stable.
    pub(super) id: String,
    /// The title.
    pub(super) title: String,
    /// The advice for somebody who breaks it.
    pub(super) help: String,
}

/// A finding.
#[derive(Debug, Clone)]
pub(super) struct PrintedFinding<'f> {
    /// The document it is in.
    pub(super) document: Option<&'f str>,
    pub(super) rule: PrintedRule,
    pub(super) severity: Severity,
    pub(super) source: Source,
    pub(super) position: Option<Position>,
    pub(super) excerpt: Option<&'f Excerpt>,
    /// The URL it is about.
    pub(super) url: Option<&'f str>,
    /// The document that names the URL, which is not the place of the finding.
    pub(super) named_by: Option<&'f str>,
    pub(super) message: &'f str,
    pub(super) help: &'f str,
}

/// Findings like others that were printed.
#[derive(Debug, Clone)]
pub(super) struct MoreFindings<'f> {
    /// The document they are in.
    pub(super) document: Option<&'f str>,
    pub(super) rule: PrintedRule,
    pub(super) severity: Severity,
    pub(super) source: Source,
    pub(super) count: u64,
}

/// How findings are printed.
enum Format {
    Text,
    Json,
    /// All at once, at the end.
    Sarif(SarifLog),
    Github,
}

/// Prints findings.
pub(super) struct FindingPrinter<'a> {
    format: Format,
    /// Findings of this severity, and worse ones, make the command fail.
    fail_on: Severity,
    /// Findings that do not count.
    baseline: Baseline,
    /// How many of them were found again.
    known: u64,
    fails: bool,
    output: &'a Output,
    /// The last help that was given for a rule; it is not repeated.
    helped: BTreeMap<String, String>,
    /// Objects of the JSON list of findings that were written. Before the first the head of the JSON is written, so that wrong
    /// usage prints nothing.
    lines: u64,
}

impl<'a> FindingPrinter<'a> {
    /// A printer of findings, as set by the arguments.
    ///
    /// # Errors
    /// The baseline cannot be read.
    pub(super) fn new(args: &FindingArgs, output: &'a Output) -> Result<Self, Misuse> {
        let baseline = args.baseline.as_deref().map(|path| {
            Baseline::read(path).map_err(|error| {
                let path = path.display();
                Misuse(match error.kind() {
                    io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => {
                        format!("--baseline: cannot read {path}: {error}")
                    }
                    _ => format!("--baseline: {path} is not the output of --json: {error}"),
                })
            })
        });
        Ok(Self {
            format: match args.format.as_str() {
                _ if args.json => Format::Json,
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

    /// Returns true if a printed finding makes the command fail.
    pub(super) fn fails(&self) -> bool {
        self.fails
    }

    /// Returns true if the format is text for people.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.format, Format::Text)
    }

    /// Prints a finding, unless the baseline has it.
    pub(super) fn finding(&mut self, finding: &PrintedFinding<'_>) {
        if self.baseline.match_finding(finding) {
            self.known += 1;
            return;
        }
        self.fails |= is_at_least(finding.severity, self.fail_on);
        match &mut self.format {
            Format::Text => self.text_finding(finding),
            Format::Json => self.json_line(&json_finding(finding)),
            Format::Sarif(log) => log.add(finding),
            Format::Github => self.output.data(&annotation(finding)),
        }
    }

    /// Prints the number of findings that are not shown, unless the baseline has them.
    pub(super) fn more(&mut self, more: &MoreFindings<'_>) {
        let new = self.baseline.new_ones(more);
        self.known += more.count - new;
        if new == 0 {
            return;
        }
        self.fails |= is_at_least(more.severity, self.fail_on);
        match &mut self.format {
            Format::Sarif(log) => log.add_more(more),
            Format::Github => {
                let command = command_of(more.severity);
                let properties = properties(more.document, None, &more.rule);
                let count = more.count;
                self.output
                    .data(&format!("::{command} {properties}::{count} more like this"));
            }
            Format::Json => self.json_line(&json!({
                "file": more.document,
                "rule": more.rule.id,
                "severity": more.severity.to_string(),
                "source": more.source.to_string(),
                "message": format!("{} more like this", more.count),
                "more": more.count,
            })),
            Format::Text => {
                let count = human::number(more.count);
                self.output.data_painted(&[
                    (Tone::Strong, more.document.unwrap_or(ALL)),
                    (Tone::Plain, ": "),
                    (Tone::of(more.severity), &heading(more.severity, &more.rule)),
                    (
                        Tone::Plain,
                        &format!(": {count} more like this (--repeats N shows more)"),
                    ),
                ]);
            }
        }
    }

    /// Prints the end: `text` prints the sums for people, and `json` what follows the findings, with the bracket that closes their
    /// list and the brace that closes the object.
    pub(super) fn finish(&mut self, text: impl FnOnce(&Output), json: impl FnOnce(&Output)) {
        match &mut self.format {
            Format::Text => {
                text(self.output);
                if self.known > 0 {
                    let known = human::number(self.known);
                    self.output.info(&format!(
                        "{known} of these are in the baseline and were not printed"
                    ));
                }
            }
            Format::Json => {
                self.begin_json();
                json(self.output);
            }
            Format::Sarif(log) => self.output.data_json(&log.document().to_string()),
            Format::Github => {}
        }
    }

    fn text_finding(&mut self, finding: &PrintedFinding<'_>) {
        let place = finding.document.or(finding.url);
        let mut place = place.unwrap_or(ALL).to_owned();
        let column = finding.excerpt.map(|excerpt| excerpt.column);
        let line = finding.position.map(|position| position.line);
        for number in [line, column].into_iter().flatten() {
            place.push(':');
            place.push_str(&number.to_string());
        }
        let only_schema = match finding.source {
            Source::Schema => " (only the schema forbids it)",
            Source::Rule => "",
        };
        self.output.data_painted(&[
            (Tone::Strong, &place),
            (Tone::Plain, ": "),
            (
                Tone::of(finding.severity),
                &heading(finding.severity, &finding.rule),
            ),
            (Tone::Plain, ": "),
            (Tone::Strong, finding.message),
            (Tone::Plain, only_schema),
        ]);
        match (finding.excerpt, finding.url) {
            (Some(excerpt), _) if !excerpt.text.is_empty() => {
                // One character stays one, so that the mark below is at the right column.
                let text: String = excerpt
                    .text
                    .chars()
                    .map(|letter| if letter.is_control() { ' ' } else { letter })
                    .collect();
                self.output.data(&format!("    {text}"));
                let mark = format!("    {}^", " ".repeat(excerpt.marker));
                self.output
                    .data_painted(&[(Tone::of(finding.severity), &mark)]);
            }
            (_, Some(url)) if finding.document.is_some() => {
                self.output.data(&format!("    {url}"));
            }
            (_, _) => {}
        }
        if let Some(document) = finding.named_by {
            self.output.data(&format!("    named by {document}"));
        }
        let helped = self.helped.get(&finding.rule.id);
        if helped.is_none_or(|helped| helped != finding.help) {
            self.output.data_painted(&[
                (Tone::Plain, "    "),
                (Tone::Note, "help"),
                (Tone::Plain, ": "),
                (Tone::Plain, finding.help),
            ]);
            self.helped
                .insert(finding.rule.id.clone(), finding.help.to_owned());
        }
    }

    fn begin_json(&self) {
        if self.lines == 0 {
            self.output.data_json("{\"version\":1,\"findings\":[");
        }
    }

    fn json_line(&mut self, line: &Value) {
        self.begin_json();
        let comma = if self.lines == 0 { "" } else { "," };
        self.output.data_json(&format!("{comma}{line}"));
        self.lines += 1;
    }
}

fn json_finding(finding: &PrintedFinding<'_>) -> Value {
    let excerpt = finding.excerpt;
    json!({
        "file": finding.document,
        "line": finding.position.map(|position| position.line),
        "column": excerpt.map(|excerpt| excerpt.column),
        "offset": finding.position.map(|position| position.offset),
        "rule": finding.rule.id,
        "severity": finding.severity.to_string(),
        "source": finding.source.to_string(),
        "url": finding.url,
        "named_by": finding.named_by,
        "text": excerpt.map(|excerpt| &excerpt.text),
        "message": finding.message,
        "help": finding.help,
        "more": Value::Null,
    })
}

/// Returns true if a severity is `least` or worse.
fn is_at_least(severity: Severity, least: Severity) -> bool {
    severity == Severity::Error || severity == least
}

/// A finding as a workflow command of GitHub (docs.github.com, "Workflow commands for GitHub Actions").
fn annotation(finding: &PrintedFinding<'_>) -> String {
    let command = command_of(finding.severity);
    let properties = properties(finding.document, finding.position, &finding.rule);
    let mut text = finding.message.to_owned();
    for part in finding.url.into_iter().chain(finding.named_by) {
        text = format!("{text}: {part}");
    }
    let text = format!("{text}; {}", finding.help);
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

fn properties(document: Option<&str>, position: Option<Position>, rule: &PrintedRule) -> String {
    let mut properties = vec![format!("title={}", rule.id)];
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
    properties.extend(position.map(|position| format!("line={}", position.line)));
    properties.join(",")
}

fn heading(severity: Severity, rule: &PrintedRule) -> String {
    format!("{severity}[{}]", rule.id)
}
