//! Programs as hooks, with a shell.

use std::{
    fs::{self, File},
    future,
    io::{BufRead as _, BufReader, Read as _},
    process, thread,
};

use tokio::sync::oneshot;

use super::*;

async fn shell(script: &str, timeout: Duration) -> Result<(), CommandError> {
    let command = ["sh", "-c", script].map(str::to_owned);
    run(&command, timeout, future::pending()).await
}

/// Runs a hook until its end, until the time is over or until `stopped`.
async fn run(
    command: &[String],
    timeout: Duration,
    stopped: impl Future<Output = ()>,
) -> Result<(), CommandError> {
    let run = HookRun {
        command,
        event: HookEvent::Refused,
        variables: &[("ARPENT_SITE", "https://example.com/".to_owned())],
        withheld: &["CARGO_MANIFEST_DIR".to_owned()],
        summary: &"x".repeat(200_000),
        timeout,
    };
    run_command(&run, stopped).await
}

const LONG: Duration = Duration::from_secs(600);

#[tokio::test]
async fn hook_gets_summary_and_variables() {
    shell(
        r#"test "$ARPENT_EVENT $ARPENT_SITE $(wc -c)" = "refused https://example.com/ 200000""#,
        LONG,
    )
    .await
    .unwrap();
    // Not every program reads what it gets.
    shell("exit 0", LONG).await.unwrap();
}

#[tokio::test]
async fn hook_inherits_other_variables() {
    // Cargo sets both.
    shell(
        r#"test -n "$PATH" && test -n "$CARGO_PKG_NAME" && test -z "${CARGO_MANIFEST_DIR+set}""#,
        LONG,
    )
    .await
    .unwrap();
}

#[tokio::test]
async fn children_of_a_hook_are_killed_with_it() {
    // The pipe has an end when nobody holds its other side any more.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    let made = process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    let (begun, has_begun) = oneshot::channel();
    let reader = thread::spawn({
        let path = path.clone();
        move || {
            let mut pipe = BufReader::new(File::open(path).unwrap());
            let mut text = String::new();
            pipe.read_line(&mut text).unwrap();
            begun.send(()).unwrap();
            pipe.read_to_string(&mut text).unwrap();
            text
        }
    });
    let script = format!(
        "(echo begun; sleep 600; echo never) > '{}'; echo never",
        path.display()
    );
    let command = ["sh", "-c", &script].map(str::to_owned);
    let stopped = async { has_begun.await.unwrap() };
    let error = run(&command, LONG, stopped).await.unwrap_err();
    assert!(matches!(error, CommandError::Stopped), "{error}");
    assert_eq!(reader.join().unwrap(), "begun\n");
}

#[tokio::test]
async fn children_of_a_hook_hold_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let pipes = ["go", "answer"].map(|name| folder.path().join(name));
    let made = process::Command::new("mkfifo")
        .args(&pipes)
        .status()
        .unwrap();
    assert!(made.success());
    let [go, answer] = &pipes;
    let left = format!(
        "trap '' PIPE; read line < '{}'; env echo late && word=heard || word=refused; echo $word > '{}'",
        go.display(),
        answer.display()
    );
    shell(&format!("({left}) & exit 0"), LONG).await.unwrap();
    fs::write(go, "now\n").unwrap();
    // Had we still an end of the pipe, late output would be taken.
    assert_eq!(fs::read_to_string(answer).unwrap(), "refused\n");
}

#[tokio::test]
async fn failed_hook_is_reported_with_its_output() {
    let error = shell(
        "cat > /dev/null; yes | head -c 1000000; echo the reason >&2; exit 3",
        LONG,
    )
    .await
    .unwrap_err();
    let CommandError::Failed { status, output } = &error else {
        panic!("{error}");
    };
    assert_eq!(status.code(), Some(3));
    assert!(output.contains("the reason"), "{output}");
    assert!(output.len() <= MAX_OUTPUT_BYTES_SHOWN);
    assert!(error.to_string().starts_with("ended with exit status: 3: "));
}

#[tokio::test]
async fn hook_is_killed_after_its_time() {
    let error = shell("echo begun; exec sleep 600", Duration::from_millis(200))
        .await
        .unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("did not end within 200ms and was killed"),
        "{text}"
    );
}

#[tokio::test]
async fn failed_start_is_reported() {
    let command = ["/nowhere/at/all".to_owned()];
    let error = run(&command, LONG, future::pending()).await.unwrap_err();
    assert!(matches!(error, CommandError::Start(_)), "{error}");
}
