//! A site in one night, as parts from which its pages are made.

use std::collections::BTreeMap;

use super::super::random::Random;
use super::PAGES;
use crate::testing::FixturePage;

/// How the pages are marked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// By `header`, `nav`, `main`, and `footer`.
    Landmarks,
    /// All of it is `div`s.
    Divs,
}

/// A page of the site's own.
#[derive(Debug, Clone)]
pub(super) struct Page {
    pub(super) title: String,
    /// The `h1`.
    pub(super) heading: Option<String>,
    /// The main text, as HTML.
    pub(super) text: String,
}

/// The answer of one address.
#[derive(Debug, Clone)]
pub(super) enum Answer {
    Page(Page),
    Redirect(u16, String),
    Status(u16),
    /// A page that is none of the site's own.
    Html(String),
}

/// The answer for a target.
pub(super) type Answering = fn(&str) -> Answer;

/// The site.
#[derive(Debug, Clone)]
pub(super) struct Now {
    pub(super) layout: Layout,
    /// The part that all pages have above their text, as HTML.
    pub(super) above: String,
    pub(super) start: Page,
    /// The other pages, and is linked to by the start page unless it is in [`Now::unlinked`].
    pub(super) answers: BTreeMap<String, Answer>,
    pub(super) unlinked: BTreeMap<String, Answer>,
    /// For all other addresses below `/`, by what they begin with.
    pub(super) below: Vec<(&'static str, Answering)>,
    /// Answered to each request for a page instead of all that.
    pub(super) instead: Option<fn(&str, &Page) -> Answer>,
    /// Which pages that befalls, by their numbers; 0: the start page.
    pub(super) reach: std::ops::Range<usize>,
}

/// So many words, others for each seed, of a language of its own.
pub(super) fn words(seed: u64, count: usize) -> String {
    let mut random = Random(seed.wrapping_mul(0x1000_0000_01b3));
    let syllables = [
        "ba", "de", "fi", "go", "lu", "ma", "ne", "pi", "ro", "su", "ta", "ve", "wi", "zo", "ke",
        "la",
    ];
    let mut word = || {
        let count = 2 + random.below(3);
        let syllable = |_| syllables[usize::try_from(random.below(16)).unwrap()];
        (0..count).map(syllable).collect::<String>()
    };
    let words: Vec<String> = (0..count).map(|_| word()).collect();
    words.join(" ")
}

/// The number of a page as a name without digits.
pub(super) fn town(number: usize) -> String {
    words(number as u64 + 50_000, 1)
}

impl Page {
    /// Something to read.
    pub(super) fn article(number: usize) -> Self {
        let title = words(number as u64, 3);
        Self {
            heading: Some(title.clone()),
            title,
            text: words(number as u64 + 10_000, 40),
        }
    }
}

pub(super) fn path(number: usize) -> String {
    format!("/s{}/page-{number}", number % 3)
}

impl Now {
    /// A site of pages that `page` makes of their numbers, from 1 on.
    pub(super) fn of(layout: Layout, pages: usize, page: impl Fn(usize) -> Page) -> Self {
        let answers = (1..=pages).map(|number| (path(number), Answer::Page(page(number))));
        Self {
            layout,
            above: String::new(),
            start: Page {
                title: "All there is to know".to_owned(),
                heading: Some("Welcome".to_owned()),
                text: words(7, 30),
            },
            answers: answers.collect(),
            unlinked: BTreeMap::new(),
            below: Vec::new(),
            instead: None,
            reach: 0..usize::MAX,
        }
    }

    pub(super) fn articles(layout: Layout) -> Self {
        Self::of(layout, PAGES, Page::article)
    }

    /// Changes the pages, by their numbers.
    pub(super) fn edit(&mut self, edit: impl Fn(usize, &mut Page)) {
        for (path, answer) in &mut self.answers {
            let number = number_of(path);
            if let (Answer::Page(page), Some(number)) = (answer, number) {
                edit(number, page);
            }
        }
    }

    /// Changes what the pages from `first` to `last` answer.
    pub(super) fn answer_for(
        &mut self,
        first: usize,
        last: usize,
        answer: impl Fn(usize) -> Answer,
    ) {
        for number in first..=last {
            self.answers.insert(path(number), answer(number));
        }
    }

    /// Every page moves to the address that `to` makes of its number, by redirects with this status, and is made again.
    pub(super) fn relaunch(
        &mut self,
        status: u16,
        to: impl Fn(usize) -> String,
        page: impl Fn(usize) -> Page,
    ) {
        let pages = self.answers.len();
        self.answers.clear();
        for number in 1..=pages {
            let new = to(number);
            let old = Answer::Redirect(status, new.clone());
            self.unlinked.insert(path(number), old);
            self.answers.insert(new, Answer::Page(page(number)));
        }
    }

    pub(super) fn paths(&self) -> Vec<String> {
        let paths = self.answers.keys().cloned();
        std::iter::once("/".to_owned()).chain(paths).collect()
    }

    pub(super) fn answer(&self, target: &str) -> Option<FixturePage> {
        if target == "/robots.txt" {
            return None;
        }
        let known = self
            .answers
            .get(target)
            .or_else(|| self.unlinked.get(target));
        let own = match known {
            _ if target == "/" => Some(&self.start),
            Some(Answer::Page(page)) => Some(page),
            Some(Answer::Redirect(..) | Answer::Status(_) | Answer::Html(_)) | None => None,
        };
        let number = if target == "/" {
            Some(0)
        } else {
            number_of(target)
        };
        if let (Some(instead), Some(own), Some(number)) = (self.instead, own, number)
            && self.reach.contains(&number)
        {
            return Some(self.shown(target, &instead(target, own)));
        }
        if target == "/" {
            return Some(self.shown(target, &Answer::Page(self.start.clone())));
        }
        if let Some(answer) = known {
            return Some(self.shown(target, answer));
        }
        let below = self
            .below
            .iter()
            .find(|(start, _)| target.starts_with(start));
        below.map(|(_, answer)| self.shown(target, &answer(target)))
    }

    fn shown(&self, target: &str, answer: &Answer) -> FixturePage {
        let html = match answer {
            Answer::Page(page) => self.html(page, target == "/"),
            Answer::Redirect(status, to) => return FixturePage::redirect(*status, to),
            Answer::Status(status) => return FixturePage::status(*status),
            Answer::Html(html) => html.clone(),
        };
        let etag = format!("\"{:x}\"", xxhash_rust::xxh3::xxh3_64(html.as_bytes()));
        FixturePage::html(html).with_header("etag", &etag)
    }

    fn html(&self, page: &Page, is_start: bool) -> String {
        let Page {
            title,
            heading,
            text,
        } = page;
        let heading = heading
            .as_ref()
            .map(|heading| format!("<h1>{heading}</h1>"));
        let heading = heading.unwrap_or_default();
        let links: String = if is_start {
            let links = self.answers.keys();
            let links = links.map(|path| format!("<a href=\"{path}\">{path}</a>"));
            links.collect::<Vec<_>>().join(" ")
        } else {
            "<a href=\"/\">Home</a>".to_owned()
        };
        let above = &self.above;
        match self.layout {
            Layout::Landmarks => format!(
                "<!doctype html><title>{title}</title><body><header>{above}</header><nav>{links}</nav>\
                 <main>{heading}<p>{text}</main><footer>All rights reserved</footer>"
            ),
            Layout::Divs => format!(
                "<!doctype html><title>{title}</title><body><div class=top>{above}</div><div class=menu>Home \
                 Products News Contact</div><div class=content>{heading}<p>{text}</div><div>{links}</div>\
                 <div class=bottom>All rights reserved</div>"
            ),
        }
    }
}

/// The number that the path of a page has.
pub(super) fn number_of(path: &str) -> Option<usize> {
    path.rsplit_once("/page-")?.1.parse().ok()
}
