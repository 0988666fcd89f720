//! `strace` prints the calls by which a program changes a disk, and kills it at any of them, before the call has an
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

/// Parts of names of files that have a time in their name, exist for an instant, or only name a process.
const VARYING: [&str; 3] = [".arpent-probe", "output-", ".corrupt-"];

/// Highest number of attempts at a kill that did not come at its call: the calls of other threads, and their numbers,
/// differ a little each time.
const ATTEMPTS: usize = 16;

/// A call of the thread that publishes.
#[derive(Debug, Clone)]
pub(super) struct Call {
    /// Name.
    name: String,
    /// The path that it changes, relative to the place.
    path: PathBuf,
    /// Number, from 1, among the calls of its thread with this name and path.
    number: usize,
    /// Arguments, with paths relative to the place.
    arguments: String,
    /// Number of equal calls before it in its thread.
    twins: usize,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            number,
            arguments,
            ..
        } = self;
        write!(f, "{name} number {number}, ({arguments}")
    }
}

/// Returns whether programs can be traced here; prints that the test is skipped when they cannot.
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

/// `command` under `strace` with further options; the trace goes to the file `log`.
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

/// Runs `command` twice to its end; returns the calls by which it changes these folders of `root`, in their order.
pub(super) fn record(command: &Command, root: &Path, folders: &[&str]) -> Vec<Call> {
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
    // All calls of the program, to find the paths that it changes.
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
    calls_of(&log, root, &paths)
}

/// The calls that change one of `paths`, of the thread that makes the most of them.
fn calls_of(log: &str, root: &Path, paths: &BTreeSet<PathBuf>) -> Vec<Call> {
    let mut threads: BTreeMap<&str, Vec<Call>> = BTreeMap::new();
    let mut counts: BTreeMap<(&str, &str, &Path), usize> = BTreeMap::new();
    for line in log.lines() {
        let Some((thread, call)) = line.split_once(' ') else {
            continue;
        };
        let Some((name, arguments)) = call.trim_start().split_once('(') else {
            continue;
        };
        if !CHANGES.contains(&name) {
            continue;
        }
        let about: Vec<&Path> = mentioned(arguments)
            .filter_map(|path| path.strip_prefix(root).ok())
            .filter_map(|path| paths.get(path).map(PathBuf::as_path))
            .collect();
        // A call may have two paths, and is about each of them once.
        for path in about.iter().copied().collect::<BTreeSet<_>>() {
            *counts.entry((thread, name, path)).or_default() += 1;
        }
        let is_failed = arguments.contains("= -1 ");
        let is_reading = name == "openat" && !arguments.contains("O_CREAT");
        let Some(path) = about.first().filter(|_| !is_failed && !is_reading) else {
            continue;
        };
        let calls = threads.entry(thread).or_default();
        let arguments = normal(arguments, root);
        let twins = calls
            .iter()
            .filter(|other| other.name == name && other.arguments == arguments);
        calls.push(Call {
            name: name.to_owned(),
            path: path.to_path_buf(),
            number: counts[&(thread, name, *path)],
            twins: twins.count(),
            arguments,
        });
    }
    threads
        .into_values()
        .max_by_key(Vec::len)
        .unwrap_or_default()
}

/// The paths in the arguments of a call: of its strings, and of its open files.
fn mentioned(arguments: &str) -> impl Iterator<Item = &Path> {
    let strings = arguments.split('"').skip(1).step_by(2);
    let files = arguments
        .split('<')
        .skip(1)
        .filter_map(|rest| rest.split_once('>'));
    strings.chain(files.map(|(path, _)| path)).map(Path::new)
}

/// The arguments of a call in a form that is the same each time and in every place: the path of an open file, or else the
/// arguments without the result. Lengths and offsets are left out, because they depend on how a time is written.
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

/// The end of a command that was to be killed.
enum Kill {
    /// Right before the call.
    Hit,
    /// Right before another call with the same name and path.
    Other,
    /// The command ended by itself; these were its calls.
    Missed(Vec<Call>),
}

impl Call {
    /// Runs `command` until a kill comes right before this call; returns whether one did. `prepare` restores the place
    /// before each attempt, and `look` gets its result after it.
    pub(super) fn kill<T>(
        &self,
        command: impl Fn() -> Command,
        root: &Path,
        prepare: impl Fn() -> T,
        look: impl Fn(T),
    ) -> bool {
        let mut number = self.number;
        for _ in 0..ATTEMPTS {
            let prepared = prepare();
            let kill = self.kill_at(&command(), number, root);
            look(prepared);
            number = match kill {
                Kill::Hit => return true,
                Kill::Other => number + 1,
                // Its right place. The number of equal calls may differ by one: the length of times decides whether a page
                // of the state is written once more.
                Kill::Missed(calls) => calls
                    .iter()
                    .filter(|call| call.arguments == self.arguments)
                    .take(self.twins + 1)
                    .last()
                    .map_or(self.number, |call| call.number),
            };
        }
        false
    }

    /// Kills `command` when a thread is about to make the `number`th call with this name and path.
    fn kill_at(&self, command: &Command, number: usize, root: &Path) -> Kill {
        let log = root.join("log");
        let mut options = only([root.join(&self.path)]);
        options.push(format!("--inject={}:signal=KILL:when={number}", self.name));
        let status = traced(command, &log, &self.name, &options).status();
        let status = status.expect("strace starts");
        let said = fs::read_to_string(&log).unwrap_or_default();
        // It ends as the program does.
        if status.code().is_some() {
            let path = BTreeSet::from([self.path.clone()]);
            return Kill::Missed(calls_of(&said, root, &path));
        }
        let name = format!("{}(", self.name);
        let last = said.lines().rfind(|line| line.contains(&name));
        match last.and_then(|line| line.split_once('(')) {
            Some((_, arguments)) if normal(arguments, root) == self.arguments => Kill::Hit,
            _ => Kill::Other,
        }
    }
}
