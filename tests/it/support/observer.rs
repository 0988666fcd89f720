//! A reader that polls the output folder while the program runs, is killed, and runs again. At every
//! instant each file that the index names must exist, must be complete, and must not be older than
//! its time in the index.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io::{ErrorKind, Read as _},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, SystemTime},
};

use flate2::read::GzDecoder;
use jiff::Timestamp;

/// Time between two looks, so that the observed program has the cores; no result depends on it.
const PAUSE: Duration = Duration::from_millis(1);

/// Highest number of stored problems.
const MAX_PROBLEMS: usize = 20;

/// A thread that looks at an output folder until it is stopped.
pub struct Observer {
    is_over: Arc<AtomicBool>,
    /// Locked while it looks.
    looking: Arc<Mutex<()>>,
    thread: JoinHandle<Seen>,
}

/// The observations of one reader.
#[derive(Debug, Default)]
pub struct Seen {
    /// How often it looked and found an index.
    pub looks: usize,
    /// How many different indexes it found.
    pub indexes: usize,
    /// How many different contents of the named files it read.
    pub files: usize,
    /// The problems, each with the number of its look.
    pub problems: Vec<String>,
}

impl Observer {
    /// Begins to look at `folder`, whose files are served below `root` (a URL that ends in `/`).
    pub fn watch(folder: &Path, root: &str) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let looking = Arc::new(Mutex::new(()));
        let mut eye = Eye {
            folder: folder.to_owned(),
            root: root.to_owned(),
            indexes: BTreeSet::new(),
            read: BTreeMap::new(),
            seen: Seen::default(),
        };
        let (over, held) = (Arc::clone(&is_over), Arc::clone(&looking));
        let thread = thread::spawn(move || {
            while !over.load(Ordering::SeqCst) {
                let holding = held.lock().unwrap_or_else(PoisonError::into_inner);
                eye.look();
                drop(holding);
                thread::sleep(PAUSE);
            }
            eye.look();
            eye.seen.indexes = eye.indexes.len();
            eye.seen.files = eye.read.values().map(BTreeSet::len).sum();
            eye.seen
        });
        Self {
            is_over,
            looking,
            thread,
        }
    }

    /// Changes the folder while the reader does not look, for example to restore an earlier state.
    pub fn unseen<T>(&self, work: impl FnOnce() -> T) -> T {
        let _holding = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
        work()
    }

    /// Stops looking; fails when there were problems.
    #[track_caller]
    pub fn finish(self) -> Seen {
        self.is_over.store(true, Ordering::SeqCst);
        let seen = self.thread.join().expect("the observer does not panic");
        assert!(
            seen.problems.is_empty(),
            "in {} looks a reader saw: {:#?}",
            seen.looks,
            seen.problems
        );
        seen
    }
}

/// Length and modification time: a file that has both unchanged is not read again.
type Stamp = (u64, SystemTime);

struct Eye {
    folder: PathBuf,
    root: String,
    indexes: BTreeSet<String>,
    read: BTreeMap<String, BTreeSet<Stamp>>,
    seen: Seen,
}

impl Eye {
    fn look(&mut self) {
        let index = match fs::read_to_string(self.folder.join("sitemap.xml")) {
            Ok(index) => index,
            Err(error) if error.kind() == ErrorKind::NotFound => return,
            Err(error) => return self.problem(format_args!("the index: {error}")),
        };
        self.seen.looks += 1;
        if !self.indexes.contains(&index) {
            if let Err(problem) = check(&index, "sitemapindex", "sitemap") {
                self.problem(format_args!("the index: {problem}"));
            }
            self.indexes.insert(index.clone());
        }
        for entry in index.split("<sitemap>").skip(1) {
            if let Err(problem) = self.look_at(entry) {
                self.problem(problem);
            }
        }
    }

    fn problem(&mut self, problem: impl std::fmt::Display) {
        if self.seen.problems.len() < MAX_PROBLEMS {
            let look = self.seen.looks;
            self.seen.problems.push(format!("look {look}: {problem}"));
        }
    }

    /// One file that the index names.
    fn look_at(&mut self, entry: &str) -> Result<(), String> {
        let loc = text_of(entry, "loc").ok_or("an entry of the index without loc")?;
        let lastmod = text_of(entry, "lastmod").ok_or_else(|| format!("{loc} without lastmod"))?;
        let below = loc
            .strip_prefix(&self.root)
            .ok_or_else(|| format!("{loc} is not below {}", self.root))?;
        let name = percent_decode(below);
        let told = |error: &std::io::Error| format!("{name}: {error}");
        let mut file = File::open(self.folder.join(&name)).map_err(|error| told(&error))?;
        let metadata = file.metadata().map_err(|error| told(&error))?;
        let modified = metadata.modified().map_err(|error| told(&error))?;
        let lastmod: Timestamp = lastmod
            .parse()
            .map_err(|error| format!("{name}: lastmod {lastmod}: {error}"))?;
        if SystemTime::from(lastmod) > modified {
            let modified = Timestamp::try_from(modified).expect("a time of this era");
            return Err(format!(
                "{name} changed at {modified}, the index says {lastmod}"
            ));
        }
        let stamp = (metadata.len(), modified);
        if !self.read.entry(name.clone()).or_default().insert(stamp) {
            return Ok(());
        }
        let mut xml = String::new();
        let is_read = if name.strip_suffix(".gz").is_some() {
            GzDecoder::new(file).read_to_string(&mut xml)
        } else {
            file.read_to_string(&mut xml)
        };
        is_read.map_err(|error| told(&error))?;
        if name == "sitemap-recent.rss" {
            let is_whole = xml.ends_with("</rss>\n");
            return is_whole
                .then_some(())
                .ok_or_else(|| format!("{name} is cut"));
        }
        check(&xml, "urlset", "url").map_err(|problem| format!("{name}: {problem}"))
    }
}

/// Checks that a file is complete: its begin, its end, and an end tag for each entry.
fn check(xml: &str, root: &str, element: &str) -> Result<(), String> {
    let is_framed = xml.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>")
        && xml.contains(&format!("<{root} "))
        && xml.trim_end().ends_with(&format!("</{root}>"));
    let counts = [
        format!("<{element}>"),
        format!("</{element}>"),
        "<loc>".to_owned(),
        "</loc>".to_owned(),
    ]
    .map(|tag| xml.matches(&tag).count());
    if is_framed && counts[0] > 0 && counts.iter().all(|count| *count == counts[0]) {
        Ok(())
    } else {
        let end: String = xml.chars().rev().take(60).collect();
        let end: String = end.chars().rev().collect();
        Err(format!("not a whole {root}: {counts:?}, ends in {end:?}"))
    }
}

fn text_of<'a>(entry: &'a str, element: &str) -> Option<&'a str> {
    let (_, rest) = entry.split_once(&format!("<{element}>"))?;
    Some(rest.split_once(&format!("</{element}>"))?.0)
}

/// The file that is served under a URL path: its escapes decoded.
pub fn percent_decode(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escape = after
            .get(..2)
            .filter(|_| first == b'%')
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(escape.unwrap_or(first));
        rest = if escape.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).expect("a path of a file is UTF-8")
}
