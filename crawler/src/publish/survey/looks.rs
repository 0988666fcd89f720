//! What a page looks like, and which signs pages show together: see the table of [`guard`](super::super::guard).

use std::collections::BTreeMap;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::groups::Groups;
use crate::{
    config::Share,
    page::{BodyEnd, ContentHash, Likeness, PageFacts},
    publish::guard::{Group, Sign, Usual},
    url_key::UrlKey,
};

/// What all pages share that have something at all.
const ANY: u64 = 0;

/// What can be alike of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Look {
    content: u64,
    title: u64,
    /// The same of all of the title.
    full_title: u64,
    likeness: Likeness,
    has_form: bool,
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
        })
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
pub(super) struct Signs {
    targets: Groups,
    moved: Groups,
    queries: Groups,
    contents: Groups,
    words: Groups,
    texts: Groups,
    headings: Groups,
    openings: Groups,
    forms: Forms,
}

/// Counts pages that ask for a password by the signs that they show.
#[derive(Debug, Default)]
struct Forms {
    titles: Groups,
    headings: Groups,
    texts: Groups,
    short: Groups,
}

impl Signs {
    /// Counts what stands at `address`; `is_fresh`: it was another page when it was published.
    pub(super) fn add(&mut self, look: &Look, address: &UrlKey, is_fresh: bool) {
        let address = address.as_str();
        let text = look.text();
        self.contents.add_once(look.content, address, is_fresh);
        self.words.add_once(look.words(), address, is_fresh);
        self.texts
            .add_once(look.with_title(text), address, is_fresh);
        let opening = look.with_title(look.opening());
        match look.begins() {
            Beginning::Heading => self.headings.add_once(opening, address, is_fresh),
            Beginning::Words => self.openings.add_once(opening, address, is_fresh),
            Beginning::Nothing => {}
        }
        if !look.has_form {
            return;
        }
        let forms = &mut self.forms;
        forms.titles.add_once(look.title, address, is_fresh);
        forms.texts.add_once(text, address, is_fresh);
        if look.begins() == Beginning::Heading {
            forms.headings.add_once(look.opening(), address, is_fresh);
        }
        if look.likeness.is_short {
            forms.short.add_once(ANY, address, is_fresh);
        }
    }

    /// Counts a redirect that leads to `target`, of which nothing is known: its query may say where readers came from.
    pub(super) fn add_target(&mut self, target: &UrlKey, is_fresh: bool) {
        let target = without_query(target);
        self.targets
            .add(xxh3_64(target.as_bytes()), target, is_fresh);
    }

    /// Counts a redirect that leads to `target`, which answers with a page.
    pub(super) fn add_redirect(
        &mut self,
        target: &UrlKey,
        look: Option<&Look>,
        is_for_good: bool,
        is_fresh: bool,
    ) {
        let asks = look.is_some_and(|look| look.has_form);
        let groups = if is_for_good && !asks {
            &mut self.moved
        } else {
            &mut self.targets
        };
        let url = target.as_str();
        groups.add(xxh3_64(url.as_bytes()), url, is_fresh);
        let path = without_query(target);
        if let Some(look) = look.filter(|_| path != url) {
            let look = look.with_title(look.text());
            let key = xxh3_64_with_seed(path.as_bytes(), look);
            self.queries.add(key, path, is_fresh);
        }
    }

    /// The largest groups of each sign.
    pub(super) fn largest(self) -> Vec<Group> {
        let groups = [
            (self.targets, Sign::Target),
            (self.moved, Sign::Moved),
            (self.queries, Sign::Query),
            (self.contents, Sign::Content),
            (self.words, Sign::Words),
            (self.texts, Sign::Text),
            (self.headings, Sign::Heading),
            (self.openings, Sign::Opening),
            (self.forms.short, Sign::FormShort),
        ];
        let mut largest: Vec<Group> = groups
            .into_iter()
            .flat_map(|(groups, sign)| groups.largest(sign))
            .collect();
        // There may be forms of several kinds.
        let forms = [
            (self.forms.titles, Sign::FormTitle),
            (self.forms.headings, Sign::FormHeading),
            (self.forms.texts, Sign::FormText),
        ];
        largest.extend(
            forms
                .into_iter()
                .filter_map(|(groups, sign)| groups.shared(sign)),
        );
        largest
    }
}

fn without_query(url: &UrlKey) -> &str {
    url.as_str().split('?').next().unwrap_or_default()
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
