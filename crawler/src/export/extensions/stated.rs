//! Videos and the article of an entry, from what the page states: judged like those of an input.

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use sitemap_core::{
    Loc, UrlEntry,
    extension::{Element, Extensions},
};

use super::{
    super::counts::{KindCounts, LeftOut},
    PageExtensions,
};
use crate::{
    page::{PageFacts, StatedElement, extensions_from_json},
    url_key::UrlKey,
};

/// Values of a video whose files robots.txt may disallow.
const FILES: [&str; 3] = ["thumbnail_loc", "content_loc", "player_loc"];

impl PageExtensions {
    pub(super) fn add_videos(
        &self,
        key: &UrlKey,
        facts: &PageFacts,
        entry: &mut UrlEntry,
        counts: &mut KindCounts,
    ) {
        counts.pages_cut = u64::from(facts.warnings.videos_cut);
        let Some(videos) = &facts.videos else {
            counts.pages_not_read = 1;
            return;
        };
        for video in videos {
            if self.disallows_file_of(key, video) {
                counts.leave_out(LeftOut::RobotsDisallowed, 1);
                continue;
            }
            let read = self.read("videos", video, &entry.loc);
            let added = match read.videos() {
                [element] => entry.extensions.add(element.clone()).is_ok(),
                _ => false,
            };
            counts.leave_out(LeftOut::Unusable, u64::from(!added));
        }
        counts.wrote(entry.extensions.videos().len());
    }

    pub(super) fn add_news(
        &self,
        facts: &PageFacts,
        entry: &mut UrlEntry,
        counts: &mut KindCounts,
    ) {
        let Some(articles) = &facts.news else {
            counts.pages_not_read = 1;
            return;
        };
        for article in articles {
            let read = self.read("news", article, &entry.loc);
            let reason = match read.news() {
                Some(element) if !element.is_recent(self.now) => Some(LeftOut::TooOld),
                Some(element) => {
                    let start = self.start_ahead(element);
                    counts.change_at(start.or_else(|| element.recent_until()));
                    match start {
                        Some(_) => Some(LeftOut::Future),
                        None => add_article(element, entry),
                    }
                }
                None => Some(LeftOut::Unusable),
            };
            match reason {
                Some(reason) => counts.leave_out(reason, 1),
                None => counts.wrote(1),
            }
        }
    }

    /// The date of an article, when it is in the future.
    fn start_ahead(&self, article: &Element) -> Option<Timestamp> {
        let start = article.publication_date()?.earliest_instant();
        (start > self.now).then_some(start)
    }

    /// Returns whether robots.txt of the site disallows a file of a video.
    fn disallows_file_of(&self, page: &UrlKey, video: &StatedElement) -> bool {
        let origin = page.origin();
        let files = FILES.iter().filter_map(|name| video.get(*name));
        let mut files = files.filter_map(|url| UrlKey::from_normalised(url).ok());
        files.any(|url| {
            let url = &*self.crawled(&url);
            url.is_on(&origin) && !self.allows(url)
        })
    }

    /// Reads the values of an element as an input of the user's is read. A URL that is that of the page `own` is unusable.
    fn read(&self, kind: &str, values: &StatedElement, own: &Loc) -> Extensions {
        let resolve = |text: &str| {
            let url = UrlKey::from_normalised(text).ok();
            let loc = url.and_then(|url| self.loc(&self.crawled(&url)));
            loc.filter(|loc| !loc.is_equivalent(own))
                .ok_or_else(|| "expected a URL of a file".to_owned())
        };
        let object = Map::from_iter([(kind.to_owned(), json!(values))]);
        let object: Map<String, Value> = object;
        let (extensions, _) = extensions_from_json(&object, &resolve);
        extensions
    }
}

/// Adds an article; `None`: it is in the entry.
fn add_article(element: &Element, entry: &mut UrlEntry) -> Option<LeftOut> {
    let added = entry.extensions.add(element.clone());
    added.err().map(|_| LeftOut::Unusable)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{config::Extensions as Wanted, robots::Rules};

    fn element(values: &[(&str, &str)]) -> StatedElement {
        let values = values.iter();
        values
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
            .collect()
    }

    /// The entry and the counts of a page with these videos or articles, at noon of the second of March.
    fn add(facts: &PageFacts) -> (UrlEntry, [KindCounts; 2]) {
        let robots = Rules::parse(b"User-agent: *\nDisallow: /private/", "*");
        let now = "2026-03-02T12:00:00Z".parse().unwrap();
        let extensions = PageExtensions::new(Wanted::default(), Some(robots), None, now);
        let key = UrlKey::from_normalised("https://h.example/page").unwrap();
        let mut entry = UrlEntry::new(Loc::parse(key.as_str()).unwrap());
        let mut counts = [KindCounts::default(), KindCounts::default()];
        let [videos, news] = &mut counts;
        extensions.add_videos(&key, facts, &mut entry, videos);
        extensions.add_news(facts, &mut entry, news);
        (entry, counts)
    }

    #[test]
    fn videos_are_judged_like_those_of_an_input() {
        let check = |changes: &[(&str, &str)], expected: Option<LeftOut>| {
            let mut video = element(&[
                ("thumbnail_loc", "https://h.example/t.jpg"),
                ("title", "T"),
                ("description", "D"),
                ("player_loc", "https://p.example/1"),
            ]);
            for (name, text) in changes {
                if text.is_empty() {
                    video.remove(*name);
                } else {
                    video.extend(element(&[(name, text)]));
                }
            }
            let facts = PageFacts {
                videos: Some(vec![video]),
                ..PageFacts::default()
            };
            let (entry, [counts, _]) = add(&facts);
            let is_written = usize::from(expected.is_none());
            assert_eq!(entry.extensions.videos().len(), is_written, "{changes:?}");
            assert_eq!(counts.written, is_written as u64);
            let left_out = expected.map(|reason| (reason, 1));
            assert_eq!(
                counts.left_out,
                BTreeMap::from_iter(left_out),
                "{changes:?}"
            );
        };
        check(&[], None);
        check(
            &[("duration", "60"), ("publication_date", "2026-01-01")],
            None,
        );
        // A value that need not be there is left out by itself.
        check(&[("duration", "28801")], None);
        for name in ["thumbnail_loc", "title", "description", "player_loc"] {
            check(&[(name, "")], Some(LeftOut::Unusable));
        }
        check(
            &[("player_loc", "https://h.example/page")],
            Some(LeftOut::Unusable),
        );
        let private = ("content_loc", "https://h.example/private/v.mp4");
        check(&[private], Some(LeftOut::RobotsDisallowed));
        check(&[("content_loc", "https://p.example/private/v.mp4")], None);
    }

    #[test]
    fn an_article_is_news_for_two_days() {
        let check = |date: &str, expected: Option<LeftOut>| -> Option<String> {
            let article = element(&[
                ("name", "The Times"),
                ("language", "en"),
                ("publication_date", date),
                ("title", "T"),
            ]);
            let facts = PageFacts {
                news: Some(vec![article]),
                ..PageFacts::default()
            };
            let (entry, [_, counts]) = add(&facts);
            assert_eq!(
                entry.extensions.news().is_some(),
                expected.is_none(),
                "{date}"
            );
            let left_out = expected.map(|reason| (reason, 1));
            assert_eq!(counts.left_out, BTreeMap::from_iter(left_out), "{date}");
            counts.changes_at.map(|time| time.to_string())
        };
        let until = |time: &str| Some(time.to_owned());
        assert_eq!(
            check("2026-03-02T11:00:00Z", None),
            until("2026-03-04T11:00:01Z")
        );
        assert_eq!(
            check("2026-02-28T12:00:00Z", None),
            until("2026-03-02T12:00:01Z")
        );
        check("2026-02-28", None);
        check("2026-03-02", None);
        for old in ["2026-02-28T11:59:59Z", "2026-02-27"] {
            assert_eq!(check(old, Some(LeftOut::TooOld)), None);
        }
        assert_eq!(check("yesterday", Some(LeftOut::Unusable)), None);
        let ahead = "2026-03-02T12:00:01Z";
        assert_eq!(check(ahead, Some(LeftOut::Future)), until(ahead));
        assert_eq!(
            check("2026-03-03", Some(LeftOut::Future)),
            until("2026-03-03T00:00:00Z")
        );
    }

    #[test]
    fn pages_that_were_read_without_them_are_counted() {
        let (_, [videos, news]) = add(&PageFacts::default());
        assert_eq!((videos.pages_not_read, news.pages_not_read), (1, 1));
    }
}
