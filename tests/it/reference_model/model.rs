//! The reference model of the partition, run unchanged by `python3`: it reads changes and answers with every file of
//! both layouts and the keys in each.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use super::keys::THRESHOLDS;
use crate::support;

/// Reads lines `+key` and `-key` up to an empty one; answers with a line `root-name<TAB>in-place-name<TAB>count`
/// for each file and its keys, and an empty line. It remembers the layout as the next one's history.
/// The division is that of the model, with the names that scopes have when no two of them would have one name.
const CONVERSATION: &str = "
import importlib.util, string, sys, urllib.parse
spec = importlib.util.spec_from_file_location('model', sys.argv[1])
model = importlib.util.module_from_spec(spec)
spec.loader.exec_module(model)

def enc(segment):
    if not segment:
        return '_e'
    safe = string.ascii_letters + string.digits + '-_.'
    return ''.join(chr(b) if chr(b) in safe else f'_{b:02x}' for b in urllib.parse.unquote_to_bytes(segment))

def name(directory, prefix):
    parts = [enc(s) for s in directory.split('/')[1:-1]]
    if prefix is not None:
        parts.append('.'.join(enc(s) for s in prefix.split('/')) + '_')
    return '.'.join(['sitemap', *parts]) + '.xml' if parts else 'sitemap-root.xml'

keys, previous = set(), frozenset()
for line in sys.stdin:
    line = line.rstrip('\\n')
    if line:
        (keys.add if line[0] == '+' else keys.remove)(line[1:])
        continue
    target, section, minimum = map(int, sys.argv[2:5])
    answer, previous = model.layout(keys, previous=previous, section=section, minimum=minimum, target=target)
    out = []
    for ident, held in answer.values():
        out.append(f'{name(*ident)}\\t{len(held)}')
        out.extend(held)
    out.append('')
    print('\\n'.join(out), flush=True)
";

/// What the files of one layout list: by name without `.gz`, the keys in order.
pub(super) type Files = BTreeMap<String, Vec<String>>;

/// The model, waiting for changes.
pub(super) struct Model {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Model {
    /// Starts the model with no keys; `None` after a note that the test is skipped.
    pub(super) fn start() -> Option<Self> {
        let script = support::shared()?.join("design/scope_tree_model.py");
        if !support::has_program("python3") {
            return None;
        }
        let mut child = Command::new("python3")
            .args(["-B", "-c", CONVERSATION])
            .arg(script)
            .args(THRESHOLDS.map(|threshold| threshold.to_string()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 starts");
        let stdin = child.stdin.take().expect("it is a pipe");
        let stdout = BufReader::new(child.stdout.take().expect("it is a pipe"));
        Some(Self {
            child,
            stdin,
            stdout,
        })
    }

    /// Sends a change and reads the layout.
    pub(super) fn change<'a>(
        &mut self,
        added: impl IntoIterator<Item = &'a String>,
        removed: impl IntoIterator<Item = &'a String>,
    ) -> Files {
        let mut question = String::new();
        for (sign, key) in added
            .into_iter()
            .map(|key| ('+', key))
            .chain(removed.into_iter().map(|key| ('-', key)))
        {
            question.push(sign);
            question.push_str(key);
            question.push('\n');
        }
        question.push('\n');
        self.stdin
            .write_all(question.as_bytes())
            .and_then(|()| self.stdin.flush())
            .expect("the model reads");
        let mut answer = Files::new();
        loop {
            let head = self.line();
            if head.is_empty() {
                return answer;
            }
            let [name, count] = head
                .split('\t')
                .collect::<Vec<_>>()
                .try_into()
                .expect("a head of a file");
            let count: usize = count.parse().expect("a count");
            let keys: Vec<String> = (0..count).map(|_| self.line()).collect();
            answer.insert(name.to_owned(), keys);
        }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        let read = self.stdout.read_line(&mut line).expect("the model writes");
        assert!(read > 0, "the model failed");
        line.truncate(line.trim_end_matches('\n').len());
        line
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
