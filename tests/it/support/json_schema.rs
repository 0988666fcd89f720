//! Validation of JSON against a schema, by the Python package `jsonschema` (Debian: python3-jsonschema). Skipped where it is missing.

use std::{
    fmt::Write as _,
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    sync::{Mutex, OnceLock, PoisonError},
};

use serde_json::{Deserializer, Value, json};

use super::skip;

/// The schema of SARIF logs.
pub const SARIF: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../tests/data/schemas/sarif-2.1.0.json"
);

/// Reads a line for each value: the path of a schema, and the value. Prints a line for each: what is not valid.
const SCRIPT: &str = "
import json, sys
from jsonschema.validators import validator_for
validators = {}
for line in sys.stdin.buffer:
    path, value = json.loads(line)
    if path not in validators:
        with open(path, 'rb') as file:
            schema = json.load(file)
        kind = validator_for(schema)
        kind.check_schema(schema)
        validators[path] = kind(schema)
    errors = validators[path].iter_errors(value)
    print(json.dumps([f'{error.json_path}: {error.message}' for error in errors]), flush=True)
";

/// A process that validates until the tests end.
struct Validator {
    child: Child,
    answers: BufReader<ChildStdout>,
}

impl Validator {
    /// Starts the first Python that has the package; another may hide the one of Debian.
    fn start() -> Option<Self> {
        let has_package = |python: &&str| {
            let mut command = Command::new(python);
            command.args(["-c", "import jsonschema"]);
            let status = command.stderr(Stdio::null()).status();
            status.is_ok_and(|status| status.success())
        };
        let pythons = ["python3", "/usr/bin/python3"];
        let Some(python) = pythons.into_iter().find(has_package) else {
            skip("the Python package jsonschema is not installed");
            return None;
        };
        let mut command = Command::new(python);
        command
            .args(["-c", SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().expect("Python starts");
        let answers = BufReader::new(child.stdout.take().expect("it is piped"));
        Some(Self { child, answers })
    }

    /// The parts of `value` that are not valid.
    fn problems(&mut self, schema: &Path, value: &Value) -> Vec<String> {
        let requests = self.child.stdin.as_mut().expect("it is piped");
        writeln!(requests, "{}", json!([schema, value])).expect("Python reads");
        let mut answer = String::new();
        let read = self.answers.read_line(&mut answer);
        read.expect("Python answers");
        serde_json::from_str(&answer).expect("a list of problems")
    }
}

/// Whether each value of a text is one that the schema allows, or what is wrong; `None` when there is no validator.
pub fn validate(schema: &Path, text: &str) -> Option<Result<(), String>> {
    static VALIDATOR: OnceLock<Option<Mutex<Validator>>> = OnceLock::new();
    let validator = VALIDATOR.get_or_init(|| Validator::start().map(Mutex::new));
    let mut validator = validator
        .as_ref()?
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let mut found = String::new();
    for (number, value) in Deserializer::from_str(text).into_iter().enumerate() {
        let problems = match value {
            Ok(value) => validator.problems(schema, &value),
            Err(error) => vec![error.to_string()],
        };
        for problem in problems {
            let line = number + 1;
            writeln!(found, "line {line}: {problem}").expect("a string can be written");
        }
    }
    Some(if found.is_empty() { Ok(()) } else { Err(found) })
}

/// Fails when a value of a text is not one that the schema allows, and when there is no value.
#[track_caller]
pub fn assert_valid(schema: impl AsRef<Path>, text: &str) {
    assert!(!text.trim().is_empty(), "there is nothing to validate");
    if let Some(Err(problem)) = validate(schema.as_ref(), text) {
        panic!("not valid: {problem}\n{text}");
    }
}

/// The schema of what a command line of arpent prints on its standard output; `None`: it prints something else.
pub fn schema_of(command: &Command) -> Option<PathBuf> {
    if command.get_program() != env!("CARGO_BIN_EXE_arpent") {
        return None;
    }
    let arguments: Vec<_> = command
        .get_args()
        .map(|word| word.to_string_lossy())
        .collect();
    let has = |words: &[&str]| arguments.windows(words.len()).any(|part| part == words);
    let name = match arguments.first()?.as_ref() {
        "report" if has(&["--ndjson", "-"]) => "report-rows",
        _ if !has(&["--json"]) && !has(&["--format", "json"]) => return None,
        "crawl" | "build" | "publish" => "summary",
        "check" if has(&["--served"]) => "served",
        "status" if has(&["--catalogue"]) => "fleet",
        "catalogue" if has(&["list"]) => "catalogue-list",
        "catalogue" => "catalogue-show",
        name => name,
    };
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/schema");
    Some(Path::new(folder).join(format!("{name}.schema.json")))
}
