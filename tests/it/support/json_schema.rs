//! What a JSON schema says of a document, by the Python package `jsonschema` (Debian: python3-jsonschema). Skipped where it is missing.

use std::{
    fmt::Write as _,
    path::Path,
    process::{Command, Stdio},
};

use super::{program::Ran, skip};

/// The schema of SARIF logs.
pub const SARIF: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../tests/data/schemas/sarif-2.1.0.json"
);

/// The schema of the rows of a report.
pub const REPORT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/src/commands/report/report.schema.json"
);

/// Checks each line of its input against the schema that is named; 1 when one is not valid.
const SCRIPT: &str = "
import json, sys
from jsonschema.validators import validator_for
with open(sys.argv[1], 'rb') as file:
    schema = json.load(file)
kind = validator_for(schema)
kind.check_schema(schema)
validator = kind(schema)
failed = False
for number, line in enumerate(sys.stdin.buffer, 1):
    for error in validator.iter_errors(json.loads(line)):
        failed = True
        print(f'line {number}: {error.json_path}: {error.message}')
sys.exit(failed)
";

/// A Python that has the package. The one of Debian may be hidden by another.
fn python() -> Option<&'static str> {
    let has_package = |python: &&str| {
        let mut command = Command::new(python);
        command.args(["-c", "import jsonschema"]);
        let status = command.stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    let found = ["python3", "/usr/bin/python3"]
        .into_iter()
        .find(has_package);
    if found.is_none() {
        skip("the Python package jsonschema is not installed");
    }
    found
}

/// Whether each line is a JSON value that the schema allows, or what is wrong; `None` when there is no validator.
pub fn validate(schema: &Path, lines: &str) -> Option<Result<(), String>> {
    let mut command = Command::new(python()?);
    command.args(["-c", SCRIPT]).arg(schema);
    let ran = Ran::with_input(command, lines.as_bytes());
    let mut said = ran.stdout;
    write!(said, "{}", ran.stderr).expect("a string can be written");
    Some(if ran.code == Some(0) {
        Ok(())
    } else {
        Err(said)
    })
}

/// Fails when a line is not a JSON value that the schema allows, and when there is no line.
#[track_caller]
pub fn assert_valid(schema: impl AsRef<Path>, lines: &str) {
    assert!(!lines.trim().is_empty(), "there is nothing to validate");
    if let Some(Err(problem)) = validate(schema.as_ref(), lines) {
        panic!("not valid: {problem}\n{lines}");
    }
}
