//! A folder of HTML files as a site: each file is read by the crawler's own parser and judged by its
//! verdicts, as if a web server had answered with it. Nothing is requested; links are not followed, since
//! every file is known already.
//!
//! - `index.html` (or `index.htm`) is the page of its folder; other names are in the URL as they are, but
//!   for `.html` where the host serves pages without it.
//! - `404.html`, `404/index.html`, `500.html` and `50x.html` at the root are answers of servers instead of pages.
//! - Hidden files, `robots.txt` and sitemaps are not pages and are not counted.
//! - A link leads no further than the folder itself.
//!
//! The time of a file is evidence of a change only when the files were not all written at once, as a
//! checkout or a build does.

mod dates;
mod walk;

use std::{
    fs::File,
    io::{self, Read as _},
    path::Path,
    sync::Arc,
};

use self::walk::{FolderFile, Walk};
use super::{
    BuildError, LoadRequest, Loaded, News, PROGRESS_STEP,
    address::{Addresses, has_twin},
};
use crate::{
    config::FileDates,
    fetch::{BodySink as _, BodyWish, Fetched},
    notes::Note,
    page::{BodyEnd, Canonical, Outcome, PageRecord, Reading, Reason, Via, Visit},
    parse::{PageParser, PageReader},
    robots::{MAX_ROBOTS_BYTES, Rules, agent_token},
    scope::{Judgement, Scope},
    store::{Effect, Finished, Store},
    url_key::UrlKey,
    verdict::{self, Policy},
};

/// Bytes that are read at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// Records that are kept before they are stored.
const BATCH: usize = 1_000;

/// Loads the files of the folder `root`.
pub(super) fn load(
    store: &mut Store,
    root: &Path,
    request: &LoadRequest<'_>,
    scope: &Scope,
    loaded: &mut Loaded,
    report: &mut dyn FnMut(News<'_>),
) -> Result<(), BuildError> {
    let dates_count = match request.config.publish.lastmod {
        FileDates::None => false,
        FileDates::Mtime => dates::times_count(&mut Walk::new(root, request)?, root, loaded)?,
    };
    let mut reading = FolderReader {
        request,
        addresses: addresses(request),
        scope,
        robots: robots(root, request, loaded)?,
        reader: Arc::new(
            PageReader::new(&request.config.parse)?
                .with_extensions(request.config.publish.extensions)
                .reading_blocks(false),
        ),
        dates_count,
        commit: Vec::new(),
        sequence: 0,
    };
    let (mut nameless, mut first_nameless) = (0, None);
    let mut walk = Walk::new(root, request)?;
    walk.each(&mut |file| {
        loaded.files += 1;
        if loaded.files % PROGRESS_STEP == 1 {
            report(News::Progress(loaded));
        }
        loaded.bytes += reading.add_file(file);
        if file.url.is_none() {
            nameless += 1;
            first_nameless.get_or_insert_with(|| file.path.to_owned());
        }
        if reading.commit.len() >= BATCH {
            store.commit(&reading.commit)?;
            reading.commit.clear();
        }
        Ok(())
    })?;
    store.commit(&reading.commit)?;
    if walk.links_out > 0 {
        let note = Note::links_out_of_folder(&root.display(), &walk.links_out);
        loaded.notes.push(note.counting(walk.links_out));
    }
    if walk.source_folders > 0 {
        let note = Note::source_folders(&root.display(), &walk.source_folders);
        loaded.notes.push(note.counting(walk.source_folders));
    }
    loaded.left_out += nameless;
    if let Some(first) = &first_nameless {
        let others = match nameless {
            1 => String::new(),
            many => format!(" and {} other files", many - 1),
        };
        let note = Note::file_names_too_long(&first.display(), &others);
        let note = note.counting(nameless).naming(&first.display());
        loaded.notes.push(note);
    }
    Ok(())
}

/// How files and URLs belong together.
fn addresses<'a>(request: &LoadRequest<'a>) -> Addresses<'a> {
    Addresses {
        site: request.site,
        identity: &request.config.identity,
        suffix: request.config.build.html_suffix,
    }
}

/// The rules of a `robots.txt` in the folder; they only hold where engines look for them.
fn robots(
    root: &Path,
    request: &LoadRequest<'_>,
    loaded: &mut Loaded,
) -> Result<Rules, BuildError> {
    let path = root.join("robots.txt");
    let mut body = Vec::new();
    let read = File::open(&path).and_then(|file| {
        file.take(MAX_ROBOTS_BYTES as u64 + 1)
            .read_to_end(&mut body)
    });
    match read {
        Ok(_) if request.site.directory == "/" => {
            let agent = agent_token(&request.config.fetch.user_agent);
            let rules = Rules::parse(&body, &agent);
            loaded.robots.get_or_insert_with(|| rules.clone());
            Ok(rules)
        }
        Ok(_) => {
            let note = Note::robots_file_not_obeyed(&path.display(), &request.site.origin);
            loaded.notes.push(note.naming(&path.display()));
            Ok(Rules::allow_all())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Rules::allow_all()),
        Err(error) => Err(BuildError::open(&path, error)),
    }
}

/// Files become records.
struct FolderReader<'a> {
    request: &'a LoadRequest<'a>,
    addresses: Addresses<'a>,
    scope: &'a Scope,
    robots: Rules,
    reader: Arc<PageReader>,
    /// The times of the files are evidence.
    dates_count: bool,
    commit: Vec<Effect>,
    sequence: u64,
}

impl FolderReader<'_> {
    /// Adds the record of a file to the next commit; how many bytes of the file were read.
    fn add_file(&mut self, file: &FolderFile<'_>) -> u64 {
        let Some(url) = &file.url else {
            return 0;
        };
        let (url, outcome) = self.look_at(url, file);
        let now = self.request.now;
        let verdict = verdict::judge(&url, &outcome, self.scope, &Policy::default(), now);
        let bytes = match &outcome {
            Outcome::Answered(facts) => facts.body_bytes,
            Outcome::NotFetched(_) | Outcome::NoAnswer { .. } | Outcome::Supplied(_) => 0,
        };
        self.sequence += 1;
        let record = PageRecord {
            attempts: 1,
            fetched_at: Some(now),
            outcome: Some(outcome),
            ..PageRecord::new(verdict.reason, 0, Via::File)
        };
        self.commit.push(Effect::Finish(Box::new(Finished {
            key: url,
            visit: Visit::finished(self.sequence, record, Reading::default()),
            links: None,
        })));
        bytes
    }

    /// The URL at which a file is a page, and its answer.
    fn look_at(&self, url: &UrlKey, file: &FolderFile<'_>) -> (UrlKey, Outcome) {
        if let Some(reason) = self.before_reading(url) {
            return (url.clone(), Outcome::NotFetched(reason));
        }
        let outcome = self.read(url, file);
        let mut outcome = outcome.unwrap_or_else(|error| Outcome::NoAnswer {
            error: error.to_string(),
        });
        if let Outcome::Answered(facts) = &mut outcome
            && let Some(short) = self.addresses.short_of(url, facts).cloned()
            && !has_twin(file.folder, file.name)
        {
            facts.canonical = Canonical::Itself;
            if let Some(reason) = self.before_reading(&short) {
                outcome = Outcome::NotFetched(reason);
            }
            return (short, outcome);
        }
        (url.clone(), outcome)
    }

    /// The decision without a look into the file.
    fn before_reading(&self, url: &UrlKey) -> Option<Reason> {
        match self.scope.judge(url) {
            Judgement::Excluded(reason) => Some(reason),
            Judgement::Outside => Some(Reason::ExcludedByRule),
            Judgement::ListOnly | Judgement::Inside | Judgement::FollowOnly
                if !self.robots.allows(url.path_and_query()) =>
            {
                Some(Reason::RobotsDisallowed)
            }
            Judgement::ListOnly => Some(Reason::ListOnly),
            Judgement::Inside | Judgement::FollowOnly => None,
        }
    }

    fn read(&self, url: &UrlKey, file: &FolderFile<'_>) -> io::Result<Outcome> {
        let identity = Arc::new(self.request.config.identity.clone());
        let mut parser = PageParser::new(url, &identity, &self.reader);
        let head = file.head(self.dates_count);
        let mut input = File::open(file.path)?;
        let most = self.request.config.fetch.max_body_bytes;
        let mut buffer = vec![0; CHUNK_BYTES];
        let mut total = 0;
        let mut wish = parser.head(&head);
        let end = loop {
            if wish == BodyWish::Stop {
                break BodyEnd::Skipped;
            }
            let read = match input.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            if read == 0 {
                break BodyEnd::Complete;
            }
            total += read as u64;
            if total > most {
                break BodyEnd::TooLarge;
            }
            wish = parser.chunk(buffer.split_at(read).0);
        };
        let fetched = Fetched {
            head,
            end,
            wire_bytes: total,
        };
        let mut facts = parser.finish(&fetched);
        facts.links = Vec::new();
        self.addresses.name_pages(url, &mut facts);
        Ok(Outcome::Answered(Box::new(facts)))
    }
}
