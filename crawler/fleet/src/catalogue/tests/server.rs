//! A `PostgreSQL` server of the tests: in a temporary folder, on a socket and a free port of the loopback address,
//! without care for crashes.

use std::{
    fs,
    io::Read as _,
    net::TcpListener,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicU32, Ordering},
    },
};

use crawler::testing::skip;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use tempfile::TempDir;

use crate::catalogue::Catalogue;

const PROGRAMS: &str = "/usr/lib/postgresql/15/bin";

/// Prepares a folder and runs the server until the input ends, which is when the test process does, however it ends.
const SCRIPT: &str = r#"
cd "$1" || exit 1
"$2/initdb" --pgdata=data --username=arpent --auth=trust --encoding=UTF8 --locale=C --no-sync >log 2>&1 || exit 1
cp server.crt server.key data/ && chmod 600 data/server.key
"$2/postgres" -D data -k "$1" -c listen_addresses=127.0.0.1 -c port="$3" -c ssl=on -c fsync=off -c synchronous_commit=off \
    -c full_page_writes=off -c max_connections=200 >>log 2>&1 &
until "$2/pg_isready" --quiet --host="$1" --port="$3"; do
    kill -0 $! 2>/dev/null || exit 1
    sleep 0.05
done
echo ready
read -r _
kill -QUIT $!
wait
"#;

/// A running server. It stops when this is dropped, and when the process ends.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) folder: TempDir,
    pub(super) port: u16,
    process: Child,
    databases: AtomicU32,
}

impl Server {
    /// The server that all tests of the process share while one of them needs it; `None` if `PostgreSQL` is not installed.
    ///
    /// # Panics
    /// The server does not start, or is not installed and `ARPENT_REQUIRE_ALL` is set.
    pub(super) fn shared() -> Option<Arc<Self>> {
        static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
        if !Path::new(PROGRAMS).join("postgres").exists() {
            skip(&format!("{PROGRAMS} has no PostgreSQL"));
            return None;
        }
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        let server = shared.upgrade().unwrap_or_else(|| Arc::new(Self::start()));
        *shared = Arc::downgrade(&server);
        Some(server)
    }

    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // PostgreSQL does not run as root: the folder is for the user `nobody`.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        fs::write(folder.path().join("server.crt"), cert.pem()).unwrap();
        fs::write(
            folder.path().join("server.key"),
            signing_key.serialize_pem(),
        )
        .unwrap();
        let port = {
            let free = TcpListener::bind("127.0.0.1:0").unwrap();
            free.local_addr().unwrap().port()
        };
        let mut command = if rustix::process::getuid().is_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", "nobody", "--", "sh"]);
            command
        } else {
            Command::new("sh")
        };
        let mut process = command
            .args(["-c", SCRIPT, "sh"])
            .arg(folder.path())
            .args([PROGRAMS, &port.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut word = [0; 5];
        let started = process.stdout.as_mut().unwrap().read_exact(&mut word);
        let log = fs::read_to_string(folder.path().join("log")).unwrap_or_default();
        started.unwrap_or_else(|error| panic!("PostgreSQL does not start: {error}\n{log}"));
        Self {
            folder,
            port,
            process,
            databases: AtomicU32::new(0),
        }
    }

    pub(super) fn certificate(&self) -> PathBuf {
        self.folder.path().join("server.crt")
    }

    /// The URL of a database by the socket.
    pub(super) fn url(&self, database: &str) -> String {
        let folder = self.folder.path().display().to_string().replace('/', "%2F");
        let port = self.port;
        format!("postgres://arpent@{folder}:{port}/{database}?sslmode=disable")
    }

    /// A new database without tables.
    pub(super) async fn database(&self) -> String {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        let name = format!("catalogue{number}");
        let all = Catalogue::connect(&self.url("postgres")).await.unwrap();
        let create = format!("CREATE DATABASE {name}");
        all.client()
            .await
            .unwrap()
            .batch_execute(&create)
            .await
            .unwrap();
        name
    }

    /// A catalogue of its own, with tables.
    pub(super) async fn catalogue(&self) -> Catalogue {
        let url = self.url(&self.database().await);
        let catalogue = Catalogue::connect(&url).await.unwrap();
        assert_eq!(catalogue.migrate().await.unwrap(), 0);
        catalogue
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        self.process.wait().ok();
    }
}
