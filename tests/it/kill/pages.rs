//! The site that is crawled while the program is killed, with its record of the requests.

use std::{
    collections::{BTreeMap, HashSet},
    fmt::Write as _,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use crate::support::{
    random::Random,
    site::{Request, Response, Site},
};

/// Pages of the site, listed or not.
pub(super) const PAGES: usize = 5_000;

/// Pages of the directory that only the second edition has.
pub(super) const NEW_PAGES: usize = 120;

/// Directories that are large enough for a separate part.
const DIRECTORIES: usize = 40;

/// Time to answer a page.
const ANSWER_TIME: Duration = Duration::from_millis(5);

/// The directory that is too small for a separate part in the second edition.
const SHRINKING: &str = "/part-07/";

/// The requests since the last call of `forget`.
#[derive(Default)]
pub(super) struct Asked {
    /// Page requests.
    pub(super) requests: usize,
    pages: HashSet<String>,
    first_and_last: Option<(Instant, Instant)>,
}

impl Asked {
    /// Different pages.
    pub(super) fn pages(&self) -> usize {
        self.pages.len()
    }

    /// Time from the first to the last request.
    pub(super) fn duration(&self) -> Duration {
        self.first_and_last
            .map_or(Duration::ZERO, |(first, last)| last - first)
    }

    /// Time since the last request.
    pub(super) fn silence(&self) -> Duration {
        self.first_and_last
            .map_or(Duration::ZERO, |(_, last)| last.elapsed())
    }
}

/// A tree of pages with further random links, so that the order of answers decides on which page a URL is
/// found first.
pub(super) struct Pages {
    paths: Vec<String>,
    places: BTreeMap<String, usize>,
    links: Vec<Vec<usize>>,
    edition: AtomicUsize,
    asked: Mutex<Asked>,
}

impl Pages {
    /// The first edition, with the site that serves it.
    pub(super) fn serve() -> (Arc<Self>, Site) {
        let pages = Arc::new(Self::new());
        let served = Arc::clone(&pages);
        let site = Site::start(move |request| match request.target.as_str() {
            "/robots.txt" => Response::text("User-agent: *\nDisallow: /private/\n"),
            _ => served.answer(request),
        });
        (pages, site)
    }

    fn new() -> Self {
        let mut random = Random(7);
        let mut paths = vec!["/".to_owned()];
        for place in 1..PAGES {
            let word = random.word();
            paths.push(match random.below(DIRECTORIES + 2) {
                DIRECTORIES => format!("/{word}-{place}"),
                number if number > DIRECTORIES => format!("/few/{}/{place}", &word[..2]),
                number => format!("/part-{number:02}/{word}/{place}.html"),
            });
        }
        let places = paths.iter().cloned().zip(0..).collect();
        let links = (0..PAGES)
            .map(|place| {
                let tree = [3, 2, 1].map(|child| 3 * place + child);
                let tree = tree.into_iter().filter(|&child| child < PAGES);
                let others: Vec<usize> = (0..6).map(|_| random.below(PAGES)).collect();
                tree.chain(others).collect()
            })
            .collect();
        Self {
            paths,
            places,
            links,
            edition: AtomicUsize::new(1),
            asked: Mutex::default(),
        }
    }

    /// Changes to the next edition: some pages edited, a directory new, a directory nearly gone.
    pub(super) fn next_edition(&self) {
        self.edition.fetch_add(1, Ordering::SeqCst);
    }

    /// The recorded requests.
    pub(super) fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Deletes the record of the requests.
    pub(super) fn forget(&self) {
        *self.asked() = Asked::default();
    }

    fn answer(&self, request: &Request) -> Response {
        let target = request.target.as_str();
        {
            let now = Instant::now();
            let mut asked = self.asked();
            asked.requests += 1;
            asked.pages.insert(target.to_owned());
            let first = asked.first_and_last.map_or(now, |(first, _)| first);
            asked.first_and_last = Some((first, now));
        }
        let is_second = self.edition.load(Ordering::SeqCst) > 1;
        let response = match self.places.get(target) {
            Some(&place) => self.page(place, is_second),
            None if is_second && target.starts_with("/new/") => {
                Response::html("<!doctype html><title>New</title><p>A new page.")
            }
            None => Response::status(404),
        };
        response.after(ANSWER_TIME)
    }

    fn page(&self, place: usize, is_second: bool) -> Response {
        let path = &self.paths[place];
        // A changed page without a date would get the time of the crawl, which differs in the two sets.
        let is_edited = is_second && place % 331 == 5;
        let is_shrinking = is_second && path.starts_with(SHRINKING) && !place.is_multiple_of(3);
        let is_leaving = is_edited || is_shrinking;
        let head = if place % 97 == 1 || is_leaving {
            "<meta name=robots content=noindex>".to_owned()
        } else if place % 89 == 1 {
            format!("<link rel=canonical href=\"{}\">", self.paths[place - 1])
        } else {
            String::new()
        };
        let mut body = format!("<!doctype html><title>Page {place}</title>{head}\n");
        for &target in &self.links[place] {
            let path = &self.paths[target];
            writeln!(body, "<a href=\"{path}\">more</a>").expect("a string grows");
        }
        if place == 0 && is_second {
            body.push_str("<nav>\n");
            for number in 0..NEW_PAGES {
                writeln!(body, "<a href=\"/new/{number}\">new</a>").expect("a string grows");
            }
            body.push_str("</nav>\n");
        }
        let response = Response::html(body);
        if place.is_multiple_of(7) {
            return response;
        }
        let days = u32::try_from(place % 2_000).expect("below 2,000");
        let modified = SystemTime::UNIX_EPOCH
            + Duration::from_secs(1_500_000_000)
            + Duration::from_secs(86_400) * days;
        response.with("Last-Modified", &httpdate::fmt_http_date(modified))
    }
}
