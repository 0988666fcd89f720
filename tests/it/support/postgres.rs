//! A `PostgreSQL` server that a test stops at once, as in a crash, and starts again with the same data on the same port.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::TcpListener,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

use tempfile::TempDir;

use super::skip;

const PROGRAMS: &str = "/usr/lib/postgresql/15/bin";

/// Prepares a folder, then obeys `start` and `stop` until the input ends, which is when the test process does, however it ends. What
/// was committed outlives a crash of the server, not one of the machine.
const SCRIPT: &str = r#"
cd "$1" || exit 1
"$2/initdb" --pgdata=data --username=arpent --auth=trust --encoding=UTF8 --locale=C --no-sync >log 2>&1 || exit 1
while read -r word; do
    if [ "$word" = start ]; then
        "$2/postgres" -D data -k "$1" -c listen_addresses=127.0.0.1 -c port="$3" -c fsync=off >>log 2>&1 &
        server=$!
        until "$2/pg_isready" --quiet --host="$1" --port="$3"; do
            kill -0 $server 2>/dev/null || exit 1
            sleep 0.05
        done
    else
        kill -QUIT $server
        wait $server
    fi
    echo done
done
kill -QUIT $server
wait
"#;

/// A server that runs, or was stopped.
pub struct Postgres {
    folder: TempDir,
    port: u16,
    process: Child,
    answers: BufReader<ChildStdout>,
}

impl Postgres {
    /// Starts a server; `None`: it is not installed.
    pub fn start() -> Option<Self> {
        if !Path::new(PROGRAMS).join("postgres").exists() {
            skip(&format!("{PROGRAMS} has no PostgreSQL"));
            return None;
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = free.local_addr().expect("it has an address").port();
        drop(free);
        let mut command = Command::new("sh");
        if fs::metadata(folder.path()).expect("it is there").uid() == 0 {
            // PostgreSQL does not run as root: the folder is for the user `nobody`.
            let everybody = fs::Permissions::from_mode(0o777);
            fs::set_permissions(folder.path(), everybody).expect("it can be given away");
            command = Command::new("runuser");
            command.args(["-u", "nobody", "--", "sh"]);
        }
        let mut process = command
            .args(["-c", SCRIPT, "sh"])
            .arg(folder.path())
            .args([PROGRAMS, &port.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell starts");
        let answers = BufReader::new(process.stdout.take().expect("it is piped"));
        let mut server = Self {
            folder,
            port,
            process,
            answers,
        };
        server.order("start");
        Some(server)
    }

    /// Stops the server without a shutdown: connections break, and the next start recovers.
    pub fn stop(&mut self) {
        self.order("stop");
    }

    /// Starts the server after [`Self::stop`].
    pub fn start_again(&mut self) {
        self.order("start");
    }

    fn order(&mut self, word: &str) {
        let orders = self.process.stdin.as_mut().expect("it is piped");
        let sent = writeln!(orders, "{word}");
        let mut answer = String::new();
        let read = self.answers.read_line(&mut answer);
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        assert!(
            sent.is_ok() && read.is_ok() && answer == "done\n",
            "PostgreSQL does not obey {word}: {log}"
        );
    }

    pub fn url(&self) -> String {
        format!(
            "postgres://arpent@127.0.0.1:{}/postgres?sslmode=disable",
            self.port
        )
    }

    /// The rows of an answer, with `|` between columns.
    pub fn sql(&self, sql: &str) -> Vec<String> {
        let output = Command::new(format!("{PROGRAMS}/psql"))
            .args(["-X", "-q", "-A", "-t", "-d", &self.url(), "-c", sql])
            .output()
            .expect("psql starts");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{sql}: {error}");
        let rows = String::from_utf8_lossy(&output.stdout);
        rows.lines().map(str::to_owned).collect()
    }

    /// The only value of an answer.
    pub fn value(&self, sql: &str) -> String {
        self.sql(sql).concat()
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        drop(self.process.wait());
    }
}
