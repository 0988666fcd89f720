//! The hook that is a program: it gets the summary on its standard input, and a limited time. Its output is read to the
//! end, so that the program never waits, and only the last bytes are stored. When its time is over, it is killed with all
//! processes that it started. Its environment has no secrets of arpent. When it has ended, no task of arpent for it is left,
//! even when processes that it started go on.

#[cfg(all(test, unix))]
mod tests;

use std::{
    cell::RefCell,
    io,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    process::{Child, ChildStdin, Command},
    time,
};

use crate::{config::HookEvent, machine};

/// How long the rest of its output is waited for when it has ended: a child of its own may hold the pipe.
const REST: Duration = Duration::from_millis(500);

/// Bytes of its output that are kept: the last ones.
const MAX_OUTPUT_BYTES_SHOWN: usize = 4 * 1024;

/// Bytes that are read at once: what a pipe of Linux holds.
const READ_BYTES: usize = 64 * 1024;

/// The command and its input.
#[derive(Debug, Clone, Copy)]
pub struct HookRun<'a> {
    /// The program and its arguments. No shell has a part in it unless it is one.
    pub command: &'a [String],
    /// The event: `ARPENT_EVENT`.
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

/// Why the call of a program is not a success.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// The command cannot be started.
    #[error("cannot be started")]
    Start(#[source] io::Error),
    /// The command ended by something else than success.
    #[error("ended with {status}{}", shown_output(output))]
    Failed {
        /// How.
        status: ExitStatus,
        /// The end of its output.
        output: String,
    },
    /// The command did not end in time, and was killed.
    #[error("did not end within {limit:?} and was killed{}", shown_output(output))]
    TimedOut {
        /// How long it had.
        limit: Duration,
        /// The end of its output.
        output: String,
    },
    /// The work is stopping, and it was killed.
    #[error("was killed because the work is stopping")]
    Stopped,
    /// The system does not report whether it has ended.
    #[error("cannot be waited for")]
    Wait(#[source] io::Error),
}

fn shown_output(output: &str) -> String {
    match output.trim() {
        "" => String::new(),
        text => format!(": {text}"),
    }
}

/// Runs a program to its end, to the end of its time, or until `stopped`.
///
/// # Errors
/// See [`CommandError`].
pub async fn run_command(
    run: &HookRun<'_>,
    stopped: impl Future<Output = ()>,
) -> Result<(), CommandError> {
    let mut child = start(run).map_err(CommandError::Start)?;
    let (output, errors) = (RefCell::default(), RefCell::default());
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let talk = async {
        let (stdin, stdout, stderr) = pipes;
        tokio::join!(
            write(stdin, run.summary),
            read(stdout, &output),
            read(stderr, &errors)
        );
    };
    tokio::pin!(talk, stopped);
    let deadline = time::sleep(run.timeout);
    tokio::pin!(deadline);
    let mut has_talked = false;
    let ended = loop {
        // Waiting for the program loses nothing when it is dropped, and the others are polled again.
        tokio::select! {
            ended = child.wait() => break ended.map_err(CommandError::Wait),
            () = &mut stopped => break Err(CommandError::Stopped),
            () = &mut deadline => break Err(CommandError::TimedOut {
                limit: run.timeout,
                output: String::new(),
            }),
            () = &mut talk, if !has_talked => has_talked = true,
        }
    };
    if ended.is_err() {
        end(&mut child).await;
    }
    if !has_talked {
        let _ = time::timeout(REST, talk).await;
    }
    let output = [output.take(), errors.take()].concat();
    let output = String::from_utf8_lossy(&output).into_owned();
    match ended {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(CommandError::Failed { status, output }),
        Err(CommandError::TimedOut { limit, .. }) => Err(CommandError::TimedOut { limit, output }),
        Err(error) => Err(error),
    }
}

fn start(run: &HookRun<'_>) -> io::Result<Child> {
    let nothing = || io::Error::new(io::ErrorKind::InvalidInput, "no program is named");
    let (program, arguments) = run.command.split_first().ok_or_else(nothing)?;
    let mut command = Command::new(program);
    for name in run.withheld {
        command.env_remove(name);
    }
    machine::set_apart(command.as_std_mut());
    command
        .args(arguments)
        .env("ARPENT_EVENT", run.event.as_str())
        .envs(run.variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
}

/// Not every program reads what it gets.
async fn write(stdin: Option<ChildStdin>, text: &str) {
    if let Some(mut stdin) = stdin {
        let _ = stdin.write_all(text.as_bytes()).await;
    }
}

/// Reads a pipe to its end; `output` keeps the end of it.
async fn read(pipe: Option<impl AsyncRead + Unpin>, output: &RefCell<Vec<u8>>) {
    let Some(mut pipe) = pipe else {
        return;
    };
    let mut buffer = vec![0; READ_BYTES];
    while let Ok(read @ 1..) = pipe.read(&mut buffer).await {
        let mut output = output.borrow_mut();
        output.extend_from_slice(&buffer[..read]);
        let excess = output.len().saturating_sub(MAX_OUTPUT_BYTES_SHOWN / 2);
        output.drain(..excess);
    }
}

/// Ends a program and what it has started, and waits for that.
async fn end(child: &mut Child) {
    machine::end_group(child.id());
    // It may have ended by itself in between.
    let _ = child.start_kill();
    let _ = child.wait().await;
}
