//! What a page looks like, and which signs pages show together: see the table in `guard/signs.rs`.

use std::collections::BTreeMap;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::{
    groups::Groups,
    sights::{End, Sight},
};
use crate::{
    config::Share,
    page::{BodyEnd, ContentHash, Likeness, PageFacts},
    publish::guard::{Group, Sign, Usual},
    store::Doubt,
    url_key::UrlKey,
};

/// What all pages share that have something at all.
const ANY: u64 = 0;

/// Of [`Likeness::minima`] so many agree where a text was edited: what stands around all pages may make one agree.
const MIN_IN_COMMON: usize = 2;

/// What can be alike of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::publish) struct Look {
    content: u64,
    title: u64,
    /// All of it, with what says where the page stands.
    full_title: u64,
    likeness: Likeness,
    pub(super) has_form: bool,
    /// It has few words in common with what it said before.
    is_replaced: bool,
}

impl Look {
    /// That of a page with these facts; `None` when it was not read, or in another way.
    pub(super) fn of(facts: &PageFacts) -> Option<Self> {
        if facts.status != 200 || facts.end != BodyEnd::Complete {
            return None;
        }
        let ContentHash(content) = facts.content_hash?;
        let likeness = Likeness::unpack(facts.likeness?);
        // The title of a wall may repeat where the page stands.
        let is_text = |word: &&str| !word.contains(['/', '@']);
        let full_title = facts.title.as_deref().unwrap_or_default();
        let title: Vec<&str> = full_title.split_whitespace().filter(is_text).collect();
        Some(Self {
            content: xxh3_64(&content.to_le_bytes()),
            title: xxh3_64(title.join(" ").as_bytes()),
            full_title: xxh3_64(full_title.as_bytes()),
            likeness,
            has_form: facts.warnings.password_field,
            is_replaced: false,
        })
    }

    /// The same of a page that looked like `before`.
    pub(super) fn behind(self, before: &Self) -> Self {
        let minima = self.likeness.minima.iter().zip(&before.likeness.minima);
        let in_common = minima.filter(|(now, then)| now == then).count();
        Self {
            is_replaced: in_common < MIN_IN_COMMON,
            ..self
        }
    }

    fn text(&self) -> u64 {
        key_of(&self.likeness.minima)
    }

    /// Parts of [`Look::text`] of which pages with nearly the same one have at least one in common.
    fn parts_of_text(&self) -> [u64; Likeness::MINIMA] {
        let [one, two, three] = self.likeness.minima;
        [[one, two], [one, three], [two, three]].map(|pair| key_of(&pair))
    }

    fn words(&self) -> u64 {
        key_of(&[self.likeness.words])
    }

    /// How it begins: with headings, if it has any.
    fn opening(&self) -> u64 {
        key_of(&[self.likeness.opening])
    }

    fn begins(&self) -> Beginning {
        match (self.likeness.has_heading, self.likeness.opening) {
            (true, _) => Beginning::Heading,
            (false, 0) => Beginning::Nothing,
            (false, _) => Beginning::Words,
        }
    }

    /// The signs of a page that looks like this, each with what it shares by it.
    pub(super) fn shown(&self) -> Vec<(Sign, u64)> {
        let text = self.text();
        let mut shown = vec![
            (Sign::Content, self.content),
            (Sign::Words, self.words()),
            (Sign::Text, self.with_title(text)),
        ];
        if self.is_replaced {
            shown.push((Sign::Replaced, self.words()));
        }
        let opening = self.with_title(self.opening());
        match self.begins() {
            Beginning::Heading => shown.push((Sign::Heading, opening)),
            Beginning::Words => shown.push((Sign::Opening, opening)),
            Beginning::Nothing => {}
        }
        if !self.has_form {
            return shown;
        }
        shown.extend([(Sign::FormTitle, self.title), (Sign::FormText, text)]);
        if self.begins() == Beginning::Heading {
            shown.push((Sign::FormHeading, self.opening()));
        }
        if self.likeness.is_short {
            shown.push((Sign::FormShort, ANY));
        }
        shown
    }

    /// What pages share that redirect to URLs of their own where it looks like this.
    pub(in crate::publish) fn as_an_end(&self) -> (Sign, u64) {
        let key = if self.has_form {
            self.title
        } else {
            self.with_title(self.text())
        };
        (Sign::Each, key)
    }

    fn with_title(&self, key: u64) -> u64 {
        xxh3_64_with_seed(&key.to_le_bytes(), self.title)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beginning {
    Heading,
    Words,
    Nothing,
}

fn key_of(parts: &[u16]) -> u64 {
    let bytes: Vec<u8> = parts.iter().flat_map(|part| part.to_le_bytes()).collect();
    xxh3_64(&bytes)
}

/// Counts pages by the signs that they show.
#[derive(Debug, Default)]
pub(in crate::publish) struct Signs(BTreeMap<Sign, Groups>);

impl Signs {
    /// Counts what readers see of the page `key`; `is_fresh`: it was another page when it was published, as one that redirects
    /// always was.
    pub(in crate::publish) fn add(&mut self, sight: &Sight, key: &UrlKey, is_fresh: bool) {
        match sight {
            Sight::Page(look) => self.add_look(look, key, is_fresh),
            Sight::Redirect(end) => {
                // A wall may send each page to an address of its own.
                if let Some(look) = &end.look {
                    self.add_look(look, &end.target, true);
                }
                self.add_end(end, true);
            }
            Sight::Nothing => {}
        }
    }

    /// Counts what stands at `address`; `is_fresh`: it was another page when it was published.
    pub(in crate::publish) fn add_look(&mut self, look: &Look, address: &UrlKey, is_fresh: bool) {
        for (sign, key) in look.shown() {
            self.of(sign).add_once(key, address.as_str(), is_fresh);
        }
    }

    /// Counts a redirect that ends at `end`.
    pub(in crate::publish) fn add_end(&mut self, end: &End, is_fresh: bool) {
        let url = end.target.as_str();
        for (sign, key) in end.shown() {
            let groups = self.of(sign);
            if sign == Sign::Each {
                groups.add_once_of(key, xxh3_64(url.as_bytes()), end.place(), is_fresh);
            } else {
                let example = if end.is_known { url } else { end.place() };
                groups.add(key, example, is_fresh);
            }
        }
    }

    /// Counts a page by what it showed when it was heard last.
    pub(in crate::publish) fn add_doubt(&mut self, doubt: &Doubt) {
        if let Some(sign) = Sign::from_word(&doubt.sign) {
            self.of(sign).add(doubt.key, &doubt.example, true);
        }
    }

    fn of(&mut self, sign: Sign) -> &mut Groups {
        self.0.entry(sign).or_default()
    }

    /// The largest groups of each sign that have at least `min` pages.
    pub(in crate::publish) fn largest(self, min: u64) -> Vec<Group> {
        let groups = self.0.into_iter();
        let largest = groups.flat_map(|(sign, groups)| {
            if sign.is_of_several() {
                groups.shared(sign).into_iter().collect()
            } else {
                groups.largest(sign, min)
            }
        });
        largest.collect()
    }
}

/// Counts what the listed pages have in common: how the site is.
#[derive(Debug, Default)]
pub(super) struct Habit {
    contents: Groups,
    words: Groups,
    texts: Groups,
    parts_of_texts: [Groups; Likeness::MINIMA],
    titles: Groups,
    headings: Groups,
    openings: Groups,
    forms: u64,
    short: u64,
}

impl Habit {
    pub(super) fn add(&mut self, look: &Look) {
        let count = |groups: &mut Groups, key| groups.add(key, "", false);
        count(&mut self.contents, look.content);
        count(&mut self.words, look.words());
        count(&mut self.texts, look.text());
        for (groups, key) in self.parts_of_texts.iter_mut().zip(look.parts_of_text()) {
            count(groups, key);
        }
        count(&mut self.titles, look.full_title);
        match look.begins() {
            Beginning::Heading => count(&mut self.headings, look.opening()),
            Beginning::Words => count(&mut self.openings, look.opening()),
            Beginning::Nothing => {}
        }
        self.forms += u64::from(look.has_form);
        self.short += u64::from(look.likeness.is_short);
    }

    /// How much of it is usual among `listed` pages, in words of [`Usual`].
    pub(super) fn shares(&self, listed: u64) -> BTreeMap<String, Share> {
        let pages = [
            (Usual::Content, self.contents.most().0),
            (Usual::Words, self.words.most().0),
            (Usual::Text, self.nearly_one_text()),
            (Usual::Texts, self.texts.shared_pages()),
            (Usual::Title, self.titles.most().0),
            (Usual::Titles, self.titles.shared_pages()),
            (Usual::Heading, self.headings.most().0),
            (Usual::Headings, self.headings.shared_pages()),
            (Usual::Opening, self.openings.most().0),
            (Usual::Form, self.forms),
            (Usual::Short, self.short),
        ];
        let shares = pages.into_iter().filter(|(_, pages)| *pages > 0);
        shares
            .map(|(usual, pages)| (usual.word().to_owned(), Share::of(pages, listed)))
            .collect()
    }

    /// Pages that agree with those of the largest group in all but one of the minima. Chance divides pages that are much
    /// alike into several groups, and after an edit into others: what is usual must not depend on it.
    fn nearly_one_text(&self) -> u64 {
        let (pages, _) = self.texts.most();
        // A page that agrees in all of them is in each of the three groups of its pairs.
        let parts = self.parts_of_texts.iter();
        let in_parts: u64 = parts.map(|groups| groups.most().0.max(pages)).sum();
        in_parts.saturating_sub(pages.saturating_mul(Likeness::MINIMA as u64 - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(minima: [u16; 3]) -> Look {
        Look {
            content: 1,
            title: 2,
            full_title: 2,
            likeness: Likeness {
                opening: 3,
                has_heading: false,
                words: 4,
                minima,
                is_short: false,
            },
            has_form: false,
            is_replaced: false,
        }
    }

    #[test]
    fn what_is_usual_is_counted_more_loosely_than_what_is_a_sign() {
        let mut habit = Habit::default();
        for minima in [[1, 2, 3], [1, 2, 3], [1, 2, 9], [1, 8, 3], [7, 2, 3]] {
            habit.add(&look(minima));
        }
        for other in 0..5 {
            habit.add(&look([100 + other, 200 + other, 3]));
        }
        let shares = habit.shares(10);
        assert_eq!(shares["text"], Share::of(5, 10));
        assert_eq!(shares["texts"], Share::of(2, 10));
        assert_eq!(shares["title"], Share::ALL);
        assert_eq!(shares["opening"], Share::ALL);
        assert_eq!(shares.get("form"), None);
    }
}
