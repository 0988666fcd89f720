//! What `check` found, as text for people or as JSON for programs, while it is found.

use std::{collections::BTreeMap, path::Path};

use serde_json::{Value, json};
use sitemap_core::{
    Loc,
    read::{Rule, Severity, Source},
    validate::{Counts, Finding, Repeated, Report, Summary},
};

use crate::{
    human,
    output::{Output, Paint},
};

/// How many findings of a document wait for its end, so that they can be told in the order of its lines. Of more, those that
/// were found first are told first.
const MAX_WAITING: usize = 1_000;

/// Tells findings one document after the other. Besides those of the one that is read, nothing but the names of documents and a
/// line of numbers for each is kept.
pub(super) struct Teller<'a> {
    is_json: bool,
    output: &'a Output,
    documents: Vec<Told>,
    entries: u64,
    /// The last help that was given for a rule; it is not repeated.
    helped: BTreeMap<Rule, String>,
    has_findings: bool,
    /// The head of the JSON has been written: not before there is something to say, so that wrong usage leaves nothing behind.
    has_begun: bool,
    /// Findings of the document that is being read; `None` while none is.
    waiting: Option<Vec<Finding>>,
}

/// Where a document is served, as far as that is known.
#[derive(Debug, Clone, Default)]
pub(super) struct Served {
    /// Its URL: that of `--at`, or the one that was asked for.
    pub(super) url: Option<String>,
    /// The URL that answered, behind all redirects.
    pub(super) final_url: Option<String>,
    /// The status of the answer.
    pub(super) status: Option<u16>,
}

/// What is kept of a document.
struct Told {
    name: String,
    served: Served,
    /// For JSON: everything but findings.
    summary: Value,
}

impl<'a> Teller<'a> {
    pub(super) fn new(format: &str, output: &'a Output) -> Self {
        Self {
            is_json: format == "json",
            has_begun: false,
            output,
            documents: Vec::new(),
            entries: 0,
            helped: BTreeMap::new(),
            has_findings: false,
            waiting: None,
        }
    }

    /// A folder, or one of several indexes in it and what it lists, is taken to be served at `base`.
    pub(super) fn guessed(&mut self, served: &Path, base: &Loc, is_index: bool) {
        let served = served.display();
        self.output.say(&if is_index {
            format!("{served} and what it lists are taken to be served at {base}, as it says; --at URL says otherwise")
        } else {
            format!("{served} is taken to be served at {base}, as its index says; --at URL says otherwise")
        });
    }

    /// A document is about to be read.
    pub(super) fn begin(&mut self, name: &str, served: Served) {
        self.tell_waiting();
        self.waiting = Some(Vec::new());
        self.documents.push(Told {
            name: name.to_owned(),
            served,
            summary: Value::Null,
        });
    }

    /// The document that was begun last has been read.
    pub(super) fn end(&mut self, report: &Report) {
        self.tell_waiting();
        self.waiting = None;
        self.entries += report.entries;
        self.repeated(&report.repeated);
        if self.is_json
            && let Some(told) = self.documents.last_mut()
        {
            told.summary = json!({
                "kind": report.kind.map(|kind| kind.to_string()),
                "entries": report.entries,
                "bytes": report.bytes,
                "skipped_elements": report.skipped_elements,
                "complete": report.is_complete,
                "directory": report.common_directory,
                "errors": report.counts.errors,
                "warnings": report.counts.warnings,
                "notes": report.counts.notes,
            });
        } else if let Some(directory) = &report.common_directory
            && let Some(told) = self.documents.last()
        {
            self.output.say(&format!(
                "{} has to be served from {directory} or above; --at URL says where it is",
                told.name
            ));
        }
    }

    /// One finding.
    pub(super) fn finding(&mut self, finding: &Finding) {
        let Some(waiting) = &mut self.waiting else {
            return self.tell(finding);
        };
        waiting.push(finding.clone());
        if waiting.len() >= MAX_WAITING {
            self.tell_waiting();
        }
    }

    /// Tells what waits, in the order of the document; what is about all of it comes last.
    fn tell_waiting(&mut self) {
        let Some(mut waiting) = self.waiting.as_mut().map(std::mem::take) else {
            return;
        };
        waiting.sort_by_key(|finding| {
            let offset = finding.position.map(|position| position.offset);
            (finding.document, offset.is_none(), offset)
        });
        for finding in &waiting {
            self.tell(finding);
        }
    }

    fn tell(&mut self, finding: &Finding) {
        if self.is_json {
            self.json_finding(finding);
        } else {
            self.text_finding(finding);
        }
        self.has_findings = true;
    }

    /// All documents have been read.
    pub(super) fn finish(&mut self, summary: &Summary, pages: u64) {
        self.tell_waiting();
        self.repeated(&summary.repeated);
        let Counts {
            errors,
            warnings,
            notes,
            ..
        } = summary.counts;
        let files = self.documents.len() as u64;
        if self.is_json {
            self.begin_json();
            self.output.data_json("],\"files\":[");
            for (number, told) in self.documents.iter_mut().enumerate() {
                let mut line = std::mem::take(&mut told.summary);
                // A document that could not be read has no summary.
                if !line.is_object() {
                    line = json!({"complete": false});
                }
                line["file"] = json!(told.name);
                line["url"] = json!(told.served.url);
                line["final_url"] = json!(told.served.final_url);
                line["status"] = json!(told.served.status);
                let comma = if number == 0 { "" } else { "," };
                self.output.data_json(&format!("{comma}{line}"));
            }
            let line = json!({
                "files": files,
                "entries": self.entries,
                "pages": pages,
                "errors": errors,
                "warnings": warnings,
                "notes": notes,
            });
            self.output.data_json(&format!("],\"summary\":{line}}}"));
            return;
        }
        let asked = if pages > 0 {
            format!(", {} asked for", human::count(pages, "page"))
        } else {
            String::new()
        };
        let counted = format!(
            "{}, {}{asked}: ",
            human::count(files, "file"),
            if self.entries == 1 {
                "1 entry".to_owned()
            } else {
                format!("{} entries", human::number(self.entries))
            }
        );
        let paint = |number, paint| if number == 0 { Paint::Plain } else { paint };
        let (errors, warnings, notes) = (
            (paint(errors, Paint::Error), human::count(errors, "error")),
            (
                paint(warnings, Paint::Warning),
                human::count(warnings, "warning"),
            ),
            (paint(notes, Paint::Note), human::count(notes, "note")),
        );
        self.output.data_painted(&[
            (Paint::Plain, &counted),
            (errors.0, &errors.1),
            (Paint::Plain, ", "),
            (warnings.0, &warnings.1),
            (Paint::Plain, ", "),
            (notes.0, &notes.1),
        ]);
    }

    /// The name of what a finding is about.
    fn name<'b>(&'b self, finding: &'b Finding) -> &'b str {
        let document = finding.document;
        document
            .and_then(|document| self.documents.get(document.index()))
            .map(|told| told.name.as_str())
            // What is said about a robots.txt has its URL; the rest is about all of them.
            .or(finding.url.as_deref())
            .unwrap_or("all files")
    }

    fn text_finding(&mut self, finding: &Finding) {
        let mut place = self.name(finding).to_owned();
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
            head(finding.severity, &heading(finding.severity, finding.rule)),
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

    fn json_finding(&mut self, finding: &Finding) {
        let line = json!({
            "file": finding.document.map(|_| self.name(finding)),
            "line": finding.position.map(|position| position.line),
            "column": finding.excerpt.as_ref().map(|excerpt| excerpt.column),
            "offset": finding.position.map(|position| position.offset),
            "rule": finding.rule.to_string(),
            "severity": finding.severity.to_string(),
            "source": finding.source.to_string(),
            "url": finding.url,
            "text": finding.excerpt.as_ref().map(|excerpt| &excerpt.text),
            "message": finding.message,
            "help": finding.help,
            "more": Value::Null,
        });
        self.json_line(&line);
    }

    fn begin_json(&mut self) {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.output.data_json("{\"findings\":[");
        }
    }

    fn json_line(&mut self, line: &Value) {
        self.begin_json();
        let comma = if self.has_findings { "," } else { "" };
        self.output.data_json(&format!("{comma}{line}"));
        self.has_findings = true;
    }

    /// What was only counted.
    fn repeated(&mut self, repeated: &[Repeated]) {
        for group in repeated {
            let name = group
                .document
                .and_then(|document| self.documents.get(document.index()))
                .map(|told| told.name.clone());
            if self.is_json {
                let line = json!({
                    "file": name,
                    "rule": group.rule.to_string(),
                    "severity": group.severity.to_string(),
                    "source": group.source.to_string(),
                    "message": format!("{} more like this", group.more),
                    "more": group.more,
                });
                self.json_line(&line);
            } else {
                let more = format!(
                    ": {} more like this (--repeats N shows more)",
                    human::number(group.more)
                );
                self.output.data_painted(&[
                    (Paint::Bold, name.as_deref().unwrap_or("all files")),
                    (Paint::Plain, ": "),
                    head(group.severity, &heading(group.severity, group.rule)),
                    (Paint::Plain, &more),
                ]);
            }
        }
    }
}

fn heading(severity: Severity, rule: Rule) -> String {
    format!("{severity}[{rule}]")
}

fn head(severity: Severity, heading: &str) -> (Paint, &str) {
    (paint_of(severity), heading)
}

fn paint_of(severity: Severity) -> Paint {
    match severity {
        Severity::Error => Paint::Error,
        Severity::Warning => Paint::Warning,
        Severity::Note => Paint::Note,
    }
}
