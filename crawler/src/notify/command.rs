//! The hook that is a program: it gets the summary on its standard input, and so long to run. What it says is
//! read to the end, so that it never waits for us, and only the end of it is kept. When its time is over it is
//! killed with all that it has started. No secret of ours is in its environment. Nothing of ours is left when it has ended,
//! whatever it has left behind.

mod talk;

use std::{
    io,
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::Duration,
};

use tokio::time::Instant;

use self::talk::Talk;
use crate::{config::HookEvent, machine};

/// Time between two looks at whether it has ended.
const LOOK: Duration = Duration::from_millis(20);

/// How long the rest of what it said is waited for when it has ended: a child of its own may hold the pipe.
const REST: Duration = Duration::from_millis(500);

/// What is called, and what it is told.
#[derive(Debug, Clone, Copy)]
pub struct HookRun<'a> {
    /// The program and its arguments. No shell has a part in it unless it is one.
    pub command: &'a [String],
    /// What happened: `ARPENT_EVENT`.
    pub event: HookEvent,
    /// Further variables of the environment.
    pub variables: &'a [(&'static str, String)],
    /// Names of variables that it does not inherit.
    pub withheld: &'a [String],
    /// An object of JSON for its standard input.
    pub summary: &'a str,
    /// How long it may run.
    pub timeout: Duration,
}

/// Why the call of a program is no success.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// It cannot be started.
    #[error("cannot be started")]
    Start(#[source] io::Error),
    /// It ended by something else than success.
    #[error("ended with {status}{}", said(output))]
    Failed {
        /// How.
        status: ExitStatus,
        /// The end of what it said.
        output: String,
    },
    /// It did not end in time, and was killed.
    #[error("did not end within {limit:?} and was killed{}", said(output))]
    TimedOut {
        /// How long it had.
        limit: Duration,
        /// The end of what it said.
        output: String,
    },
    /// The work is stopping, and it was killed.
    #[error("was killed because the work is stopping")]
    Stopped,
    /// The system does not say whether it has ended.
    #[error("cannot be waited for")]
    Wait(#[source] io::Error),
}

fn said(output: &str) -> String {
    match output.trim() {
        "" => String::new(),
        text => format!(": {text}"),
    }
}

/// Runs a program to its end, or to the end of its time; `is_stopped` says whether to wait no longer. Blocks.
///
/// # Errors
/// See [`CommandError`].
pub fn run_command(run: &HookRun<'_>, is_stopped: &dyn Fn() -> bool) -> Result<(), CommandError> {
    let nothing = || io::Error::new(io::ErrorKind::InvalidInput, "no program is named");
    let (program, arguments) = run
        .command
        .split_first()
        .ok_or_else(|| CommandError::Start(nothing()))?;
    let mut command = Command::new(program);
    for name in run.withheld {
        command.env_remove(name);
    }
    machine::set_apart(&mut command);
    command
        .args(arguments)
        .env("ARPENT_EVENT", run.event.as_str())
        .envs(run.variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped());
    // One pipe for both, so that what is said last is read last.
    let (pipe, writer) = io::pipe().map_err(CommandError::Start)?;
    command
        .stdout(writer.try_clone().map_err(CommandError::Start)?)
        .stderr(writer);
    let mut child = command.spawn().map_err(CommandError::Start)?;
    // It holds our side of what the program writes to.
    drop(command);
    let talk = Talk::new(child.stdin.take(), run.summary, pipe);
    let talk = talk.map_err(|error| {
        end(&mut child);
        CommandError::Start(error)
    })?;
    wait(&mut child, talk, run.timeout, is_stopped)
}

fn wait(
    child: &mut Child,
    mut talk: Talk<'_>,
    limit: Duration,
    is_stopped: &dyn Fn() -> bool,
) -> Result<(), CommandError> {
    let deadline = Instant::now() + limit;
    let ended = loop {
        let has_talked = talk.go_on();
        let now = Instant::now();
        match child.try_wait() {
            Ok(Some(status)) => break Ok(status),
            Ok(None) if is_stopped() => break Err(CommandError::Stopped),
            Ok(None) if now >= deadline => {
                break Err(CommandError::TimedOut {
                    limit,
                    output: String::new(),
                });
            }
            Ok(None) => {}
            Err(error) => break Err(CommandError::Wait(error)),
        }
        if !has_talked {
            thread::park_timeout(LOOK.min(deadline - now));
        }
    };
    if ended.is_err() {
        end(child);
    }
    let rest = Instant::now() + REST;
    loop {
        let has_talked = talk.go_on();
        let left = rest.saturating_duration_since(Instant::now());
        if talk.is_over() || left.is_zero() {
            break;
        }
        if !has_talked {
            thread::park_timeout(LOOK.min(left));
        }
    }
    let output = talk.into_said();
    match ended {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(CommandError::Failed { status, output }),
        Err(CommandError::TimedOut { limit, .. }) => Err(CommandError::TimedOut { limit, output }),
        Err(error) => Err(error),
    }
}

/// Ends a program and what it has started, and waits for that.
fn end(child: &mut Child) {
    machine::end_all(child);
    let _ = child.wait();
}

#[cfg(all(test, unix))]
mod tests {
    use std::{
        fs::{self, File},
        io::{BufRead as _, BufReader, Read as _},
        sync::{
            Arc,
            atomic::{AtomicBool, Ordering},
        },
    };

    use super::{talk::MAX_SAID_BYTES, *};

    fn shell(script: &str, timeout: Duration) -> Result<(), CommandError> {
        let command = ["sh", "-c", script].map(str::to_owned);
        let run = HookRun {
            command: &command,
            event: HookEvent::Refused,
            variables: &[("ARPENT_SITE", "https://example.com/".to_owned())],
            withheld: &["CARGO_MANIFEST_DIR".to_owned()],
            summary: &"x".repeat(200_000),
            timeout,
        };
        run_command(&run, &|| false)
    }

    const LONG: Duration = Duration::from_secs(600);

    #[test]
    fn it_gets_the_summary_and_the_variables() {
        shell(
            r#"test "$ARPENT_EVENT $ARPENT_SITE $(wc -c)" = "refused https://example.com/ 200000""#,
            LONG,
        )
        .unwrap();
        // Not every program reads what it gets.
        shell("exit 0", LONG).unwrap();
    }

    #[test]
    fn it_inherits_what_is_not_withheld() {
        // Cargo sets both.
        shell(
            r#"test -n "$PATH" && test -n "$CARGO_PKG_NAME" && test -z "${CARGO_MANIFEST_DIR+set}""#,
            LONG,
        )
        .unwrap();
    }

    #[test]
    fn what_it_has_started_is_killed_with_it() {
        // The pipe has an end when nobody holds its other side any more.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        let made = Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        let has_begun = Arc::new(AtomicBool::new(false));
        let reader = thread::spawn({
            let (path, has_begun) = (path.clone(), Arc::clone(&has_begun));
            move || {
                let mut pipe = BufReader::new(File::open(path).unwrap());
                let mut text = String::new();
                pipe.read_line(&mut text).unwrap();
                has_begun.store(true, Ordering::SeqCst);
                pipe.read_to_string(&mut text).unwrap();
                text
            }
        });
        let script = format!(
            "(echo begun; sleep 600; echo never) > '{}'; echo never",
            path.display()
        );
        let command = ["sh", "-c", &script].map(str::to_owned);
        let run = HookRun {
            command: &command,
            event: HookEvent::Published,
            variables: &[],
            withheld: &[],
            summary: "{}",
            timeout: LONG,
        };
        let error = run_command(&run, &|| has_begun.load(Ordering::SeqCst)).unwrap_err();
        assert!(matches!(error, CommandError::Stopped), "{error}");
        assert_eq!(reader.join().unwrap(), "begun\n");
    }

    #[test]
    fn what_it_leaves_behind_holds_nothing_of_ours() {
        let folder = tempfile::tempdir().unwrap();
        let pipes = ["go", "answer"].map(|name| folder.path().join(name));
        let made = Command::new("mkfifo").args(&pipes).status().unwrap();
        assert!(made.success());
        let [go, answer] = &pipes;
        let left = format!(
            "trap '' PIPE; read line < '{}'; env echo late && word=heard || word=refused; echo $word > '{}'",
            go.display(),
            answer.display()
        );
        shell(&format!("({left}) & exit 0"), LONG).unwrap();
        fs::write(go, "now\n").unwrap();
        // Had we still an end of the pipe, what is said late would be taken.
        assert_eq!(fs::read_to_string(answer).unwrap(), "refused\n");
    }

    #[test]
    fn the_end_of_what_it_says_is_told_when_it_fails() {
        let error = shell(
            "cat > /dev/null; yes | head -c 1000000; echo the reason >&2; exit 3",
            LONG,
        )
        .unwrap_err();
        let CommandError::Failed { status, output } = &error else {
            panic!("{error}");
        };
        assert_eq!(status.code(), Some(3));
        assert!(output.contains("the reason"), "{output}");
        assert!(output.len() <= MAX_SAID_BYTES);
        assert!(error.to_string().starts_with("ended with exit status: 3: "));
    }

    #[test]
    fn it_is_killed_when_its_time_is_over() {
        let error = shell("echo begun; exec sleep 600", Duration::from_millis(200)).unwrap_err();
        let text = error.to_string();
        assert!(
            text.starts_with("did not end within 200ms and was killed"),
            "{text}"
        );
    }

    #[test]
    fn what_cannot_be_started_is_told() {
        let command = ["/nowhere/at/all".to_owned()];
        let run = HookRun {
            command: &command,
            event: HookEvent::Failed,
            variables: &[],
            withheld: &[],
            summary: "{}",
            timeout: LONG,
        };
        let error = run_command(&run, &|| false).unwrap_err();
        assert!(matches!(error, CommandError::Start(_)), "{error}");
    }
}
