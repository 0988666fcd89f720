//! `strace` tells by which calls a program changes a disk, and kills it at any of them, before the call has an
//! effect.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::support::{has_program, skip};

/// The calls that change a disk.
const CHANGES: [&str; 25] = [
    "openat",
    "creat",
    "write",
    "writev",
    "pwrite64",
    "pwritev",
    "copy_file_range",
    "fsync",
    "fdatasync",
    "rename",
    "renameat",
    "renameat2",
    "unlink",
    "unlinkat",
    "rmdir",
    "mkdir",
    "mkdirat",
    "link",
    "linkat",
    "symlink",
    "truncate",
    "ftruncate",
    "utimensat",
    "fchmod",
    "fchown",
];

/// What is named after a process or a time, or only says who is at work.
const VARYING: [&str; 3] = [".arpent-probe-", ".arpent-run", ".corrupt-"];

/// A call of the thread that publishes.
#[derive(Debug, Clone)]
pub(super) struct Call {
    /// Its name.
    pub(super) name: String,
    /// The how manyth call by this name it is, from 1.
    number: usize,
    /// What it is about: its arguments, with paths relative to the place.
    arguments: String,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} number {}, ({}",
            self.name, self.number, self.arguments
        )
    }
}

/// Whether programs can be traced here; says that the test is skipped when they cannot.
pub(super) fn is_able() -> bool {
    if !has_program("strace") {
        return false;
    }
    let mut command = Command::new("strace");
    command.args(["-f", "-o", "/dev/null", "true"]);
    let traced = command.stderr(Stdio::null()).status();
    let is_able = traced.is_ok_and(|status| status.success());
    if !is_able {
        skip("programs may not be traced here");
    }
    is_able
}

/// `command` under `strace` with further options; what is traced goes to the file `log`.
fn traced(command: &Command, log: &Path, calls: &str, options: &[String]) -> Command {
    let mut traced = Command::new("strace");
    traced
        .args(["-f", "-y", "-s", "0", "-o"])
        .arg(log)
        .arg(format!("--trace={calls}"))
        .args(options)
        .arg(command.get_program())
        .args(command.get_args())
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            traced.env(name, value);
        }
    }
    if let Some(folder) = command.get_current_dir() {
        traced.current_dir(folder);
    }
    traced
}

/// Options by which only calls about these paths are traced, and counted.
fn only(paths: impl IntoIterator<Item = PathBuf>) -> Vec<String> {
    let options = paths
        .into_iter()
        .map(|path| format!("--trace-path={}", path.display()));
    options.collect()
}

/// Runs `command` twice to its end; the calls by which it changes what is in these folders of `root`, in their order,
/// and the paths that it changes there, relative to `root`.
pub(super) fn record(
    command: &Command,
    root: &Path,
    folders: &[&str],
) -> (Vec<Call>, Vec<PathBuf>) {
    let kept = tempfile::tempdir().expect("a temporary folder");
    for folder in folders {
        crate::kill::copy(&root.join(folder), &kept.path().join(folder));
    }
    let log = kept.path().join("log");
    let run = |options: &[String]| {
        let status = traced(command, &log, &CHANGES.join(","), options).status();
        assert!(status.is_ok_and(|status| status.success()), "{command:?}");
        fs::read_to_string(&log).expect("the log")
    };
    // All of the program, so that what it changes is found.
    let everything = run(&["--string-limit=4096".to_owned()]);
    let mut paths: BTreeSet<PathBuf> = folders.iter().map(PathBuf::from).collect();
    for quoted in everything
        .lines()
        .flat_map(|line| line.split('"').skip(1).step_by(2))
    {
        let Ok(path) = Path::new(quoted).strip_prefix(root) else {
            continue;
        };
        let is_inside = folders.iter().any(|folder| path.starts_with(folder));
        if is_inside && !VARYING.iter().any(|word| quoted.contains(word)) {
            paths.insert(path.to_owned());
        }
    }
    for folder in folders {
        crate::kill::copy(&kept.path().join(folder), &root.join(folder));
    }
    let log = run(&only(paths.iter().map(|path| root.join(path))));
    (calls_of(&log, root), paths.into_iter().collect())
}

/// The calls that change something of the thread that makes the most of them.
fn calls_of(log: &str, root: &Path) -> Vec<Call> {
    let mut threads: BTreeMap<&str, Vec<Call>> = BTreeMap::new();
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for line in log.lines() {
        let Some((thread, call)) = line.split_once(' ') else {
            continue;
        };
        let call = call.trim_start();
        let Some((name, arguments)) = call.split_once('(') else {
            continue;
        };
        if !CHANGES.contains(&name) {
            continue;
        }
        let number = counts.entry((thread, name)).or_default();
        *number += 1;
        let is_failed = arguments.contains("= -1 ");
        let is_reading = name == "openat" && !arguments.contains("O_CREAT");
        if !is_failed && !is_reading {
            threads.entry(thread).or_default().push(Call {
                name: name.to_owned(),
                number: *number,
                arguments: normal(arguments, root),
            });
        }
    }
    let longest = threads.into_values().max_by_key(Vec::len);
    longest.expect("a thread that changes the disk")
}

/// What a call is about, the same in every run and place: the path of an open file, or else the arguments without
/// the result. How much is written, and where, depends on how a time is written.
fn normal(arguments: &str, root: &Path) -> String {
    let mut arguments = arguments.replace(&*root.to_string_lossy(), "");
    // A time follows.
    while let Some(place) = arguments.find(".corrupt-2") {
        let end = arguments[place..]
            .find('Z')
            .map_or(arguments.len(), |end| place + end);
        arguments.replace_range(place..end, "");
    }
    let is_file = arguments.starts_with(|character: char| character.is_ascii_digit());
    let file = arguments.find('<').zip(arguments.find('>'));
    if let (true, Some((start, end))) = (is_file, file) {
        return arguments[start..=end].to_owned();
    }
    let ends = [") = ", ") ", " <unfinished"];
    let end = ends.iter().filter_map(|end| arguments.find(end)).min();
    arguments[..end.unwrap_or(arguments.len())]
        .trim_end()
        .to_owned()
}

/// Kills `command` when a thread is about to make a call as `call` the `number`th time; whether `call` was it.
/// `None`: no thread makes so many.
pub(super) fn kill_at(
    command: &Command,
    call: &Call,
    number: usize,
    (paths, root): (&[PathBuf], &Path),
) -> Option<bool> {
    let log = root.join("log");
    let mut options = only(paths.iter().cloned());
    options.push(format!("--inject={}:signal=KILL:when={number}", call.name));
    let status = traced(command, &log, &call.name, &options).status();
    let status = status.expect("strace starts");
    let said = fs::read_to_string(&log).unwrap_or_default();
    // It ends as the program does.
    if status.code().is_some() {
        return None;
    }
    let last = said
        .lines()
        .rfind(|line| line.contains(&format!("{}(", call.name)));
    let (_, arguments) = last.and_then(|line| line.split_once('('))?;
    Some(normal(arguments, root) == call.arguments)
}

impl Call {
    /// The numbers that it may have: other threads may have worked for this one, or it for them.
    pub(super) fn numbers(&self) -> impl Iterator<Item = usize> {
        let near = (1..=6).flat_map(|away| [self.number + away, self.number.saturating_sub(away)]);
        let numbers = std::iter::once(self.number).chain(near);
        numbers.chain([self.number; 3]).filter(|number| *number > 0)
    }
}
