//! A year of nightly crawls of a site that changes by a script: every change of the content gets its own date
//! or one between the two crawls around it, and no other date moves. Each night has a page of its own and
//! links that lead nowhere: the state does not keep the URLs of all nights.

use std::{collections::BTreeMap, fmt::Write as _};

use jiff::ToSpan as _;

use super::{random::Random, *};
use crate::{
    crawl_state::FORGOTTEN_AFTER,
    page::DateSource,
    testing::{is_full, is_in_sample},
};

/// Nights of the year.
const NIGHTS: i64 = 365;

/// Nights in a sample: long enough that what nothing leads to is forgotten within them.
const SAMPLE: i64 = 125;

/// Pages of each kind.
const PAGES: usize = 6;

/// The night before which a deploy gives everything a new date, and the one before which the design changes.
const DEPLOY: i64 = 100;
const REDESIGN: i64 = 200;

/// Links of each night that lead nowhere.
const DEAD_LINKS: i64 = 20;

/// Bytes of the state for each URL that is remembered, most of which lead nowhere here, and those of its tables when they
/// are empty.
const BYTES_PER_URL: u64 = 256;
const EMPTY_BYTES: u64 = 128 * 1_024;

/// How the pages of a directory state when they changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// Structured data, truly.
    JsonLd,
    /// A meta with the day only.
    Meta,
    /// The sitemap of the site.
    Sitemap,
    /// `Last-Modified`, truly.
    Header,
    /// `Last-Modified` is the time of the request.
    Now,
    /// Structured data with the time of the request.
    Liar,
    /// Not at all.
    Silent,
}

const KINDS: [Kind; 7] = [
    Kind::JsonLd,
    Kind::Meta,
    Kind::Sitemap,
    Kind::Header,
    Kind::Now,
    Kind::Liar,
    Kind::Silent,
];

impl Kind {
    fn directory(self) -> &'static str {
        match self {
            Self::JsonLd => "/blog/",
            Self::Meta => "/shop/",
            Self::Sitemap => "/map/",
            Self::Header => "/docs/",
            Self::Now => "/now/",
            Self::Liar => "/liar/",
            Self::Silent => "/silent/",
        }
    }
}

/// The scripted life of one page: when its content changed, the first time being before the year.
#[derive(Debug, Clone)]
struct Life {
    kind: Kind,
    path: String,
    changes: Vec<Timestamp>,
}

impl Life {
    /// How often its content had changed by then.
    fn version(&self, now: Timestamp) -> usize {
        self.changes.iter().filter(|change| **change <= now).count()
    }

    /// Half of the pages can be asked whether they are what they were.
    fn has_etag(&self) -> bool {
        self.path.ends_with(['1', '3', '5'])
    }

    fn last_change(&self, now: Timestamp) -> Timestamp {
        *self.changes[..self.version(now)]
            .last()
            .expect("it was there before the year")
    }
}

/// The whole site as it is at one instant.
#[derive(Debug, Clone)]
struct World {
    lives: Arc<Vec<Life>>,
    now: Timestamp,
    night: i64,
    deployed: Timestamp,
}

impl World {
    /// The date that the site's own tools have for a page: a deploy touches all of them.
    fn stated(&self, life: &Life) -> Timestamp {
        let change = life.last_change(self.now);
        if self.now >= self.deployed {
            change.max(self.deployed)
        } else {
            change
        }
    }

    fn answer(&self, path: &str) -> Option<FixturePage> {
        if path == "/robots.txt" {
            return Some(FixturePage::text("User-agent: *\nDisallow:\n"));
        }
        if path == "/sitemap.xml" {
            return Some(self.sitemap());
        }
        if let Some(night) = path.strip_prefix("/today/") {
            if night != self.night.to_string() {
                return Some(FixturePage::status(410));
            }
            let page = FixturePage::html(format!("<main><h1>Night {night}</h1></main>"));
            return Some(page.with_header("date", &http_date(self.now)));
        }
        let page = if path == "/" {
            let links = self
                .lives
                .iter()
                .map(|life| format!("<a href='{}'>x</a>", life.path));
            let night = self.night;
            let dead = (0..DEAD_LINKS).map(|at| format!("<a href='/gone/{night}/{at}'>x</a>"));
            let passing = format!(
                "<nav><a href='/today/{night}'>today</a>{}</nav>",
                dead.collect::<String>()
            );
            FixturePage::html(self.around(
                &format!("{passing}<main><h1>All pages</h1>"),
                &links.collect::<String>(),
                "",
            ))
        } else {
            self.page(self.lives.iter().find(|life| life.path == path)?)
        };
        Some(page.with_header("date", &http_date(self.now)))
    }

    fn sitemap(&self) -> FixturePage {
        let lives = self.lives.iter().filter(|life| life.kind == Kind::Sitemap);
        let entries = lives.map(|life| {
            let lastmod = self.stated(life);
            format!(
                "<url><loc>{}</loc><lastmod>{lastmod}</lastmod></url>",
                url(&life.path)
            )
        });
        let mut page =
            FixturePage::text(&format!("<urlset>{}</urlset>", entries.collect::<String>()));
        page.headers = vec![("content-type".into(), "application/xml".into())];
        page
    }

    fn page(&self, life: &Life) -> FixturePage {
        let version = life.version(self.now);
        let stated = self.stated(life);
        let head = match life.kind {
            Kind::JsonLd => json_ld(stated),
            Kind::Liar => json_ld(self.now),
            Kind::Meta => format!(
                "<meta property=article:modified_time content={}>",
                &stated.to_string()[..10]
            ),
            Kind::Sitemap | Kind::Header | Kind::Now | Kind::Silent => String::new(),
        };
        // Each change is of another sort.
        let content = match version % 3 {
            0 => format!("<p>It costs €{version} today.</p>"),
            1 => format!("<p>See <a href='/more?edition={version}'>more</a>.</p>"),
            _ => format!("<p>A picture: <img src='/img/view-{version}.jpg' alt=''></p>"),
        };
        let main = format!(
            "<main><h1>{}</h1><p>posted {} days ago</p>",
            life.path, self.night
        );
        let page = FixturePage::html(self.around(&main, &content, &head));
        let page = if life.has_etag() {
            page.with_header("etag", &self.etag(life))
        } else {
            page
        };
        match life.kind {
            Kind::Header => page.with_header("last-modified", &http_date(stated)),
            Kind::Now => page.with_header("last-modified", &http_date(self.now)),
            Kind::JsonLd | Kind::Meta | Kind::Sitemap | Kind::Liar | Kind::Silent => page,
        }
    }

    /// Changes the main content, not the text around it.
    fn etag(&self, life: &Life) -> String {
        let version = life.version(self.now);
        match life.kind {
            Kind::JsonLd | Kind::Meta => format!("W/\"{version}, {}\"", self.stated(life)),
            Kind::Sitemap | Kind::Header | Kind::Now | Kind::Liar | Kind::Silent => {
                format!("W/\"{version}\"")
            }
        }
    }

    /// The text around the content, and differs each night.
    fn around(&self, main: &str, content: &str, head: &str) -> String {
        let night = self.night;
        let design = if night >= REDESIGN {
            "<li><a href='/'>New</a>"
        } else {
            ""
        };
        let mut related: Vec<&str> = self.lives.iter().map(|life| &*life.path).collect();
        let turn = usize::try_from(night).unwrap_or_default() % related.len();
        related.rotate_left(turn);
        let mut aside = String::new();
        for path in &related[..3] {
            write!(aside, "<li><a href='{path}'>{path}</a>").unwrap();
        }
        format!(
            "<!doctype html><title>A page</title>{head}<link rel=stylesheet href='/app.{night:08x}.css'>\
             <script nonce=n{night}>window.build = {night};</script>\
             <header><p>Night {night}</p></header><nav><ul><li><a href='/'>Home</a>{design}</ul></nav>\
             {main}{content}<p>{} views</p><div class=ad>Offer {night}</div>\
             <form><input type=hidden name=csrf value=t{night}></form></main>\
             <aside><ul>{aside}</ul></aside>\
             <footer>© {} Example. Thought of the day: {night}. Served in 0.{night} s</footer>",
            1_000 + 7 * night,
            &self.now.to_string()[..4],
        )
    }
}

fn json_ld(date: Timestamp) -> String {
    format!(
        "<script type='application/ld+json'>{{\"@type\":\"Article\",\"dateModified\":\"{date}\"}}</script>"
    )
}

fn http_date(time: Timestamp) -> String {
    time.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

/// The pages with some changes each, none of them in the seconds of a run.
fn lives(begin: Timestamp) -> Vec<Life> {
    let mut random = Random(7);
    let mut lives = Vec::new();
    for kind in KINDS {
        for number in 0..PAGES {
            let mut changes = vec![begin - 24.hours() * i64::try_from(number + 1).unwrap_or(1)];
            for _ in 0..random.below(9) {
                let hours = i64::try_from(random.below(24 * 364)).unwrap_or_default();
                changes.push(begin + hours.hours() + 30.minutes());
            }
            changes.sort_unstable();
            changes.dedup();
            let path = format!("{}{number}", kind.directory());
            lives.push(Life {
                kind,
                path,
                changes,
            });
        }
    }
    lives
}

/// The entries of a set by page.
type Dates = BTreeMap<String, (Option<String>, Option<DateSource>)>;

/// Runs one night: a session of the program.
async fn night(bench: &mut Bench, world: &World, not_modified: &mut u64) -> Dates {
    let said = world.clone();
    bench.site = FixtureSite::new([])
        .scripted(move |asked, _| said.answer(asked.strip_prefix("https://site.example")?));
    bench.now = world.now;
    let ended = bench.session().await;
    let published = ended.published.unwrap();
    assert_eq!(published.problems, [""; 0], "night {}", world.night);
    let crawl = ended.crawl.unwrap();
    assert_eq!(crawl.ending, Ending::Drained);
    let mut notes = crawl.notes.iter();
    assert!(
        notes.all(|note| !note.text.contains("304")),
        "night {}: {:?}",
        world.night,
        crawl.notes
    );
    *not_modified += crawl.not_modified;
    let store = ended.held.unwrap().store;
    let dated = |(path, lastmod): (String, Option<String>)| {
        let key = UrlKey::from_normalised(&url(&path)).unwrap();
        let dates = store.page(&key).unwrap().dates;
        (path, (lastmod, dates.and_then(|dates| dates.source)))
    };
    bench.published().into_iter().map(dated).collect()
}

#[tokio::test(start_paused = true)]
async fn a_year_moves_dates_of_changes_only() {
    let begin: Timestamp = "2026-01-01T02:00:00Z".parse().unwrap();
    let lives = Arc::new(lives(begin));
    let mut bench = Bench::new(FixtureSite::new([]));
    bench.config.discover = DiscoverConfig::default();
    let state = bench.folder.path().join("state.db");
    let size = || std::fs::metadata(&state).map_or(0, |file| file.len());
    let mut sizes = Vec::new();
    let mut before: Option<(Timestamp, Dates)> = None;
    let (mut changes, mut right, mut own, mut not_modified) = (0, 0, 0, 0);
    let (mut wrong, mut moved) = (Vec::new(), Vec::new());
    let nights = nights();
    let count = nights.end - nights.start;
    for number in nights {
        let world = World {
            lives: Arc::clone(&lives),
            now: begin + (24 * number).hours(),
            night: number,
            deployed: begin + (24 * DEPLOY - 5).hours(),
        };
        if number % 30 == 0 {
            sizes.push(size());
        }
        let dates = night(&mut bench, &world, &mut not_modified).await;
        // The pages, the start page, and that of the night.
        assert_eq!(dates.len(), lives.len() + 2, "night {number}");
        if let Some((last, before)) = &before {
            if dates["/"] != before["/"] {
                moved.push(format!("night {number}: / {:?}", dates["/"]));
            }
            for life in lives.iter() {
                let (old, new) = (&before[&life.path], &dates[&life.path]);
                if life.version(*last) == life.version(world.now) {
                    if new != old {
                        moved.push(format!("night {number}: {} {old:?} {new:?}", life.path));
                    }
                    continue;
                }
                changes += 1;
                if is_right(life, new.0.as_deref(), *last, world.now) {
                    right += 1;
                    own += u32::from(new.1 != Some(DateSource::History));
                } else {
                    wrong.push(format!("night {number}: {} {new:?}", life.path));
                }
            }
        }
        before = Some((world.now, dates));
    }
    assert!(moved.is_empty(), "nothing changed there: {moved:#?}");
    let enough = |of_a_year: i64| of_a_year * count / NIGHTS;
    assert!(i64::from(changes) > enough(100), "{changes}");
    let is_enough = not_modified > enough(5_000).unsigned_abs();
    assert!(is_enough, "{not_modified}");
    assert!(
        right * 100 >= changes * 99,
        "{right} of {changes}: {wrong:#?}"
    );
    // What no run finds any more is forgotten after one month, at the latest after two.
    let nights = 2 * FORGOTTEN_AFTER.as_hours() / 24;
    let per_night = u64::try_from((DEAD_LINKS + 1) * nights).unwrap();
    let most = EMPTY_BYTES + BYTES_PER_URL * (per_night + lives.len() as u64 + 1);
    sizes.push(size());
    assert!(sizes.iter().all(|size| *size <= most), "{sizes:?}, {most}");
    // From then on nothing but what room the file finds within itself, which is a matter of chance by some pages of 8 KiB. The dead
    // links of each night would show if they stayed.
    let (earlier, last) = (sizes[sizes.len() / 2], sizes[sizes.len() - 1]);
    assert!(last < earlier + 64 * 1_024, "it grows for ever: {sizes:?}");
    // Those that state the truth are trusted in all but the night of the deploy.
    assert!(
        own * 3 > changes,
        "{own} of {changes} by what the site states"
    );
}

/// The whole year, or the sample that [`is_in_sample`] chooses.
fn nights() -> std::ops::Range<i64> {
    if is_full() {
        return 0..NIGHTS;
    }
    let parts = 0..5;
    let part = parts.into_iter().find(|part| is_in_sample(*part, 5));
    let part = i64::try_from(part.unwrap_or_default()).unwrap_or_default();
    let first = part * (NIGHTS - SAMPLE) / 4;
    first..first + SAMPLE
}

/// Returns whether a date is the page's own for its last change, or lies between the two runs.
fn is_right(life: &Life, date: Option<&str>, last: Timestamp, now: Timestamp) -> bool {
    let Some(date) = date else {
        return false;
    };
    let change = life.last_change(now).to_string();
    if date == change || date == &change[..10] {
        return true;
    }
    // The run takes a little while.
    date.parse::<Timestamp>()
        .is_ok_and(|date| date > last && date <= now + 10.minutes())
}
