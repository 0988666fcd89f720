//! nginx as a site: started and stopped by the test that needs it, on free loopback ports, with
//! all files that it writes in a temporary folder, as root or as any user. Its access log has
//! every request.

use std::{
    cell::Cell,
    fs,
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
};

use tempfile::TempDir;

/// Highest number of starts with other ports, when a port is not free any more.
const STARTS: usize = 10;

/// A message of nginx, at level notice, after it listens on every port.
const LISTENING: &str = "event method";

/// Name and place of Debian's table of content types.
const MIME_TYPES: &str = "/etc/nginx/mime.types";

/// The fields of a [`Line`], separated by tabs.
const LOG_FORMAT: &str = "$msec\\t$connection_requests\\t$status\\t$server_protocol\\t\
    $sent_http_content_encoding\\t$http_host\\t$request_uri";

/// Where nginx may write, and the ports it may listen on.
#[derive(Debug)]
pub struct Place {
    folder: TempDir,
    /// Free ports of 127.0.0.1: one for http, one for https.
    pub http: u16,
    /// See `http`.
    pub https: u16,
    control: u16,
}

impl Place {
    fn new() -> Self {
        // All of them are open at once, so that they differ.
        let listeners = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").expect("a free port"));
        let [http, https, control] =
            listeners.map(|listener| listener.local_addr().expect("it is bound").port());
        let folder = tempfile::tempdir().expect("a temporary folder");
        Self {
            folder,
            http,
            https,
            control,
        }
    }

    /// Writes a file and returns its path, to be named in the settings.
    pub fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, content).expect("the folder can be written");
        path
    }
}

/// One line of the access log, written when a request was answered.
#[derive(Debug, Clone)]
pub struct Line {
    /// Unix time of the end, in milliseconds.
    pub ended_milliseconds: u64,
    /// Number of the request on its connection, from 1.
    pub on_connection: u64,
    /// Status.
    pub status: u16,
    /// `HTTP/1.1`, `HTTP/2.0`.
    pub protocol: String,
    /// `Content-Encoding`, if there was one.
    pub encoding: Option<String>,
    /// Port and host that were asked.
    pub authority: String,
    /// Path and query, as sent.
    pub target: String,
}

/// A running nginx; it is killed when this is dropped.
#[derive(Debug)]
pub struct Nginx {
    place: Place,
    child: Child,
    read: Cell<usize>,
}

impl Nginx {
    /// Serves the files of `root` over plain http.
    pub fn serving(root: &Path) -> Self {
        Self::start(|place| server(place.http, "127.0.0.1", root))
    }

    /// Starts nginx with the server blocks that `servers` writes.
    pub fn start(servers: impl Fn(&Place) -> String) -> Self {
        let mut said = String::new();
        for _ in 0..STARTS {
            let place = Place::new();
            let settings = settings(&place, &servers(&place));
            place.write("nginx.conf", &settings);
            match run(&place) {
                Ok(child) => {
                    return Self {
                        place,
                        child,
                        read: Cell::default(),
                    };
                }
                Err(words) => said = words,
            }
        }
        panic!("nginx does not start: {said}");
    }

    /// `http://127.0.0.1:port`, without a slash at the end.
    pub fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.place.http)
    }

    /// The URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.origin())
    }

    /// The place of this nginx.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The requests answered since the last look, in the order in which they ended.
    pub fn new_lines(&self) -> Vec<Line> {
        // nginx has one thread here: this is answered when all before has been logged.
        let mut control =
            TcpStream::connect(("127.0.0.1", self.place.control)).expect("nginx runs");
        control
            .write_all(b"GET / HTTP/1.0\r\n\r\n")
            .expect("nginx listens");
        io::copy(&mut control.take(1_024), &mut io::sink()).expect("nginx answers");
        let log = self.place.folder.path().join("access.log");
        let log = fs::read_to_string(log).expect("there is a log");
        let lines: Vec<Line> = log.lines().skip(self.read.get()).map(read_line).collect();
        self.read.set(self.read.get() + lines.len());
        lines
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A server block that serves the files of `root`.
pub fn server(port: u16, name: &str, root: &Path) -> String {
    format!(
        "server {{ listen 127.0.0.1:{port}; server_name {name}; root \"{}\"; index index.html; }}\n",
        root.display()
    )
}

/// The settings: one process without workers, so that killing it ends all of nginx.
fn settings(place: &Place, servers: &str) -> String {
    let control = place.control;
    // All files go to the folder, for every user.
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|module| format!("    {module}_temp_path {module};\n"))
        .concat();
    format!(
        "daemon off;
master_process off;
pid nginx.pid;
error_log stderr notice;
events {{ worker_connections 512; }}
http {{
    include {MIME_TYPES};
    default_type application/octet-stream;
{temporary}    log_format witness \"{LOG_FORMAT}\";
    access_log access.log witness;
    server {{ listen 127.0.0.1:{control}; access_log off; return 204; }}
{servers}}}
"
    )
}

/// Starts nginx and waits until it listens; the error has its messages.
fn run(place: &Place) -> Result<Child, String> {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut child = Command::new("nginx")
        .env("PATH", format!("{path}:/usr/sbin:/sbin"))
        .args(["-e", "stderr", "-c", "nginx.conf", "-p"])
        .arg(place.folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("nginx can be started");
    let mut errors = BufReader::new(child.stderr.take().expect("it is piped"));
    let mut said = String::new();
    while !said.contains(LISTENING) {
        if errors.read_line(&mut said).expect("its words are text") == 0 {
            drop(child.wait());
            return Err(said);
        }
    }
    // Its error output is read to the end, so that nginx never waits.
    thread::spawn(move || io::copy(&mut errors, &mut io::sink()));
    Ok(child)
}

fn read_line(line: &str) -> Line {
    let fields: Vec<&str> = line.split('\t').collect();
    let [
        ended,
        on_connection,
        status,
        protocol,
        encoding,
        authority,
        target,
    ] = fields[..]
    else {
        panic!("a line of another form: {line}");
    };
    let given = |text: &str| (text != "-").then(|| text.to_owned());
    Line {
        ended_milliseconds: ended
            .replace('.', "")
            .parse()
            .expect("seconds with three digits"),
        on_connection: on_connection.parse().expect("a number"),
        status: status.parse().expect("a status"),
        protocol: protocol.to_owned(),
        encoding: given(encoding),
        authority: authority.to_owned(),
        target: target.to_owned(),
    }
}
