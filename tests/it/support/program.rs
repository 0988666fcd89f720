//! The program as a child process with its own folders.

use std::{
    ffi::OsStr,
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use super::{
    json_schema::{assert_valid, schema_of},
    published::Published,
    sentences::assert_each_once,
    state::assert_adds_up,
};

/// A place to run the program in: its own output and state, nothing from the environment.
pub struct Bench {
    folder: TempDir,
    options: Vec<String>,
    /// Value of `--discover`; `None`: the default.
    discover: Option<&'static str>,
    /// The set is read back where it is served.
    reads_back: bool,
}

/// The result of one start of the program.
#[derive(Debug)]
pub struct Ran {
    /// Exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Ran {
    /// The result of a process that has ended. Unless a signal ended it, `schema` allows what it printed.
    #[track_caller]
    fn new(output: &Output, schema: Option<PathBuf>) -> Self {
        let code = output.status.code();
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        if let Some(schema) = schema.filter(|_| code.is_some() && !stdout.is_empty()) {
            assert_valid(schema, &stdout);
        }
        Self {
            code,
            stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Runs a command to its end.
    #[track_caller]
    pub fn of(mut command: Command) -> Self {
        let output = command.output().expect("the program starts");
        let ran = Self::new(&output, schema_of(&command));
        assert_each_once(&command, &ran.stdout, &ran.stderr);
        ran
    }

    /// Runs a command to its end, with this on its standard input.
    #[track_caller]
    pub fn with_input(mut command: Command, input: &[u8]) -> Self {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        // A program that refuses its arguments ends without reading, and the pipe breaks.
        drop(child.stdin.take().expect("it is piped").write_all(input));
        let output = child.wait_with_output().expect("the program ends");
        let ran = Self::new(&output, schema_of(&command));
        assert_each_once(&command, &ran.stdout, &ran.stderr);
        ran
    }

    /// Every summary line of `--json`.
    pub fn summaries(&self) -> Vec<Value> {
        let read = |line| serde_json::from_str(line).expect("a line of JSON");
        self.stdout.lines().map(read).collect()
    }

    /// The last summary line of `--json`.
    pub fn summary(&self) -> Value {
        let line = self
            .stdout
            .lines()
            .last()
            .unwrap_or_else(|| panic!("no summary; stderr: {}", self.stderr));
        let summary = serde_json::from_str(line);
        let summary: Value = summary.unwrap_or_else(|error| panic!("{error}: {line}"));
        if summary.get("known").is_some() {
            assert_adds_up(&summary);
        }
        summary
    }

    /// Fails with all output when the exit code is another one.
    #[track_caller]
    pub fn expect_code(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "stdout: {}\nstderr: {}",
            self.stdout,
            self.stderr
        );
        self
    }
}

impl Bench {
    /// A new place, with options for tests: unlimited rate, a JSON summary; only links are followed, so that
    /// each request is one for a page of the test.
    pub fn new() -> Self {
        Self::with_options(["--rate", "unlimited", "--concurrency", "32"])
    }

    /// A new place with these options in every command, besides output, state and summary.
    pub fn with_options<const N: usize>(options: [&str; N]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        Self {
            folder,
            options: options.map(str::to_owned).to_vec(),
            discover: Some("links"),
            reads_back: false,
        }
    }

    /// The same, but URLs come from everywhere, as they do by default.
    #[must_use]
    pub fn discovering(mut self) -> Self {
        self.discover = None;
        self
    }

    /// The same, but the set is read back where it is served, as it is by default.
    #[must_use]
    pub fn reading_back(mut self) -> Self {
        self.reads_back = true;
        self
    }

    /// The folder of the place.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The folder of the published set.
    pub fn output(&self) -> PathBuf {
        self.path().join("out")
    }

    /// The folder of the state.
    pub fn state(&self) -> PathBuf {
        self.path().join("state")
    }

    /// The published set.
    pub fn published(&self) -> Published {
        Published::read(&self.output())
    }

    /// The program in the folder of the place, with nothing to read and nothing from the environment but where programs are.
    pub fn program(&self) -> Command {
        let mut command = arpent(self.path());
        if self.reads_back {
            command.env_remove(CHECKS_SERVED);
        }
        command
    }

    /// The command line of a crawl of `url` with further options.
    pub fn command(&self, url: &str, options: &[&str]) -> Command {
        let mut command = self.program();
        command.arg("crawl").arg(url);
        command
            .arg("--output")
            .arg(self.output())
            .arg("--state")
            .arg(self.state());
        command
            .args(["--json"])
            .args(self.discover.map(|sources| format!("--discover={sources}")))
            .args(&self.options)
            .args(options);
        command
    }

    /// Crawls `url` to the end.
    pub fn crawl(&self, url: &str, options: &[&str]) -> Ran {
        Ran::of(self.command(url, options))
    }

    /// The same with a clock that is `ahead`, or late: `-10d`.
    pub fn crawl_ahead(&self, ahead: &str, url: &str, options: &[&str]) -> Ran {
        let mut command = self.command(url, options);
        command.env("ARPENT_CLOCK_AHEAD", ahead);
        Ran::of(command)
    }

    /// Writes a settings file; returns its name, for `--config`.
    pub fn settings(&self, text: &str) -> String {
        let path = self.path().join("config.toml");
        std::fs::write(&path, text).expect("the settings file can be written");
        "config.toml".to_owned()
    }

    /// Starts a crawl of `url` and leaves it running.
    pub fn spawn(&self, url: &str, options: &[&str]) -> Running {
        Running::of(self.command(url, options))
    }
}

/// The variable that turns off the closing of patterns: the pages of most tests differ in a number only.
pub const CLOSES_PATTERNS: &str = "ARPENT_CLOSE_PATTERNS";

/// The variable that turns off the look at what is served: the sites of most tests serve no set.
pub const CHECKS_SERVED: &str = "ARPENT_CHECK_SERVED";

/// The program in this folder, with nothing to read and nothing from the environment but where programs are.
pub fn arpent(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_arpent"));
    command
        .env_clear()
        .env("HOME", folder)
        .env(CLOSES_PATTERNS, "false")
        .env(CHECKS_SERVED, "false")
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .current_dir(folder)
        .stdin(Stdio::null());
    command
}

/// A program that is running.
pub struct Running {
    child: Child,
    /// The schema of its output.
    schema: Option<PathBuf>,
    /// Standard error as far as it was read.
    said: String,
}

impl Running {
    /// Starts a command and leaves it running.
    pub fn of(mut command: Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Self {
            child: command.spawn().expect("the program starts"),
            schema: schema_of(&command),
            said: String::new(),
        }
    }

    /// The id of its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills it at once (SIGKILL); returns whether the kill ended it.
    pub fn kill(mut self) -> bool {
        drop(self.child.kill());
        self.child
            .wait()
            .is_ok_and(|status| status.code().is_none())
    }

    /// Returns whether it has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        self.child
            .try_wait()
            .expect("the child can be asked")
            .is_some()
    }

    /// Sends a signal by its name, e.g. `INT`.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill")
            .arg(format!("-{name}"))
            .arg(self.child.id().to_string())
            .status();
        assert!(sent.expect("kill is installed").success());
    }

    /// Reads its standard error until `text` was printed; fails when it ends before.
    #[track_caller]
    pub fn wait_until_it_prints(&mut self, text: &str) {
        let stderr = self.child.stderr.as_mut().expect("it is piped");
        while !self.said.contains(text) {
            // Byte by byte, so that nothing after the text is read.
            let mut byte = [0];
            let read = stderr.read(&mut byte).expect("it can be read");
            assert_eq!(read, 1, "it ended without saying {text:?}: {}", self.said);
            self.said.push(char::from(byte[0]));
        }
    }

    /// The rest of the line of its standard error that has `text`; fails when it ends before.
    #[cfg(feature = "metrics")]
    #[track_caller]
    pub fn line_after(&mut self, text: &str) -> String {
        self.wait_until_it_prints(text);
        loop {
            let (_, rest) = self.said.split_once(text).expect("it was printed");
            if let Some((line, _)) = rest.split_once('\n') {
                return line.to_owned();
            }
            let stderr = self.child.stderr.as_mut().expect("it is piped");
            let mut byte = [0];
            let read = stderr.read(&mut byte).expect("it can be read");
            assert_eq!(read, 1, "it ended within a line: {}", self.said);
            self.said.push(char::from(byte[0]));
        }
    }

    /// Waits for its end.
    #[track_caller]
    pub fn wait(self) -> Ran {
        let Self {
            child,
            schema,
            said,
        } = self;
        let output = child.wait_with_output().expect("the program ends");
        let mut ran = Ran::new(&output, schema);
        ran.stderr.insert_str(0, &said);
        ran
    }
}

/// Runs a tool; fails with its output when the tool fails.
#[track_caller]
pub fn run_tool<S: AsRef<OsStr>>(program: &str, arguments: impl IntoIterator<Item = S>) -> String {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} failed: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
