//! Comparison with the reference model of the scope tree. It is not part of the project: without it, or without its interpreter,
//! these tests print a note and pass.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::{env, thread};

use super::super::{Layout, Placement, Thresholds};
use super::{Keys, Random, keys, plan};

/// Reads questions, each a line of three thresholds, the keys, and an empty line; a line `forget` before it clears the history.
/// Answers with the directory, prefix and count of each part, and an empty line. Names are compared elsewhere.
const ASK: &str = "
import importlib.util, sys
spec = importlib.util.spec_from_file_location('model', sys.argv[1])
model = importlib.util.module_from_spec(spec)
spec.loader.exec_module(model)
previous = frozenset()
lines = (line.rstrip('\\n') for line in sys.stdin)
for line in lines:
    if line == 'forget':
        previous = frozenset()
        continue
    section, minimum, target = map(int, line.split())
    keys = set(iter(lambda: next(lines), ''))
    answer, previous = model.layout(keys, previous=previous, section=section, minimum=minimum, target=target)
    for (directory, prefix), held in answer.values():
        print(directory, prefix or '-', len(held))
    print()
";

/// The example site of the model: its keys.
const SITE: &str = "
import importlib.util, random, sys
spec = importlib.util.spec_from_file_location('model', sys.argv[1])
model = importlib.util.module_from_spec(spec)
spec.loader.exec_module(model)
print('\\n'.join(model.site(random.Random(7))[0]))
";

/// Runs a program with the path of the model and this input; `None` when there is no model or no interpreter.
fn run(program: &str, input: String) -> Option<String> {
    let Some(shared) = env::var_os("ARPENT_SHARED") else {
        skip("ARPENT_SHARED is not set");
        return None;
    };
    let model = PathBuf::from(shared).join("design/scope_tree_model.py");
    let mut command = Command::new("python3");
    command
        .args(["-B", "-c", program])
        .arg(model)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let Ok(mut child) = command.spawn() else {
        skip("there is no python3");
        return None;
    };
    let mut stdin = child.stdin.take().unwrap();
    let writer = thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "the model failed");
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Reports a skipped test, past the harness; in continuous integration this is a failure.
fn skip(reason: &str) {
    assert!(
        env::var_os("ARPENT_REQUIRE_ALL").is_none(),
        "a test may not be skipped here: {reason}"
    );
    let thread = thread::current();
    let test = thread.name().unwrap_or("a test");
    drop(writeln!(std::io::stderr(), "skipped: {test}: {reason}"));
}

/// Collects questions for the model, and our answers to them.
#[derive(Default)]
struct Questions {
    input: String,
    answers: Vec<Vec<String>>,
    layout: Layout,
}

impl Questions {
    fn forget(&mut self) {
        self.input.push_str("forget\n");
        self.layout = Layout::default();
    }

    fn ask(&mut self, keys: &Keys, thresholds: Thresholds) {
        let Thresholds {
            section,
            subsection,
            file_entries,
            ..
        } = thresholds;
        writeln!(self.input, "{section} {subsection} {file_entries}").unwrap();
        for key in keys.keys() {
            self.input.push_str(key);
            self.input.push('\n');
        }
        self.input.push('\n');
        let plan = plan(keys, thresholds, Placement::Root, &self.layout);
        let line = |part: &super::super::Part| {
            let id = part.id();
            let prefix = id.prefix.as_deref().unwrap_or("-");
            format!("{} {prefix} {}", id.directory, part.entries())
        };
        let mut answer: Vec<String> = plan.parts().iter().map(line).collect();
        answer.sort_unstable();
        self.answers.push(answer);
        self.layout = plan.layout().clone();
    }

    fn compare(self) {
        let Some(output) = run(ASK, self.input) else {
            return;
        };
        let mut lines = output.lines();
        for (number, ours) in self.answers.iter().enumerate() {
            let mut theirs: Vec<&str> =
                lines.by_ref().take_while(|line| !line.is_empty()).collect();
            theirs.sort_unstable();
            assert_eq!(ours, &theirs, "question {number}");
        }
        assert_eq!(lines.next(), None);
    }
}

fn histories(
    number: u64,
    steps: usize,
    start: &[usize],
    choose: impl Fn(&mut Random) -> Thresholds,
) {
    let mut questions = Questions::default();
    for seed in 0..number {
        let random = &mut Random(seed ^ 0xabcd);
        let thresholds = choose(random);
        let mut keys = Keys::new();
        for _ in 0..random.choice(start) {
            keys.insert(random.key(), 0);
        }
        questions.forget();
        for _ in 0..steps {
            questions.ask(&keys, thresholds);
            for _ in 0..random.choice(&[1, 1, 1, 5, 40]) {
                let at = random.below(keys.len().max(1));
                match keys.keys().nth(at).cloned() {
                    Some(key) if random.below(2) == 0 => drop(keys.remove(&key)),
                    Some(_) | None => drop(keys.insert(random.key(), 0)),
                }
            }
        }
    }
    questions.compare();
}

#[test]
fn the_model_agrees_on_small_histories() {
    histories(150, 25, &[0, 1, 10, 100, 600], |random| Thresholds {
        section: random.choice(&[1, 2, 3, 5]),
        subsection: random.choice(&[1, 2, 5, 10, 40]),
        file_entries: random.choice(&[2, 12, 30, 60]),
        ..Thresholds::default()
    });
}

#[test]
fn the_model_agrees_where_small_prefixes_are_forgotten() {
    histories(12, 8, &[3_000, 6_000], |random| Thresholds {
        section: random.choice(&[5, 50]),
        subsection: random.choice(&[20, 60, 200]),
        file_entries: random.choice(&[200, 400, 1_000]),
        ..Thresholds::default()
    });
}

#[test]
fn the_model_agrees_on_a_large_shop() {
    let Some(site) = run(SITE, String::new()) else {
        return;
    };
    let mut questions = Questions::default();
    let mut keys = keys(site.lines());
    questions.ask(&keys, Thresholds::default());
    for number in 0..20 {
        keys.insert(format!("/p/{}", 1_200_001 + number), 0);
        keys.insert(format!("/blog/2026/01/post-{number}"), 0);
    }
    questions.ask(&keys, Thresholds::default());
    questions.compare();
}
