//! What of an entry's extensions no file takes, each element judged by itself.

use super::extensions::item_len;
use crate::{
    Loc,
    extension::{ExtensionError, Extensions, Item, MAX_ENTRY_BYTES},
};

/// What the extensions of an entry may have of [`MAX_ENTRY_BYTES`]. The rest is for its other elements, and for own elements that
/// settings add to each entry.
const MAX_EXTENSION_BYTES: u64 = MAX_ENTRY_BYTES - 1_024 * 1_024;

impl Extensions {
    /// Takes away what a file refuses in the entry of `page`, and says what it was; all else stays.
    ///
    /// That is of a film the value that contradicts the address of the page, or the film where it cannot do without, and every element
    /// that would make the extensions larger than 7 MiB of the [`MAX_ENTRY_BYTES`] of an entry.
    ///
    /// ```
    /// use sitemap_core::{Loc, extension::{Element, Extension, Extensions}};
    ///
    /// let page = Loc::parse("https://example.com/a")?;
    /// let mut extensions = Extensions::default();
    /// extensions.add(Element::image(&Loc::parse("https://example.com/a.jpg")?))?;
    /// let values = [
    ///     ("thumbnail_loc", page.as_str()),
    ///     ("title", "T"),
    ///     ("description", "D"),
    ///     ("content_loc", "https://example.com/a.mp4"),
    /// ];
    /// extensions.add(Element::of(Extension::Video, values)?)?;
    /// let refused = extensions.retain_writable(&page);
    /// assert_eq!(refused[0].to_string(), "<video:thumbnail_loc> of \"T\" is the page itself");
    /// assert_eq!((extensions.images().len(), extensions.videos().len()), (1, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn retain_writable(&mut self, page: &Loc) -> Vec<ExtensionError> {
        let removed = self.remove_contradictions(page).into_iter();
        let mut refused: Vec<ExtensionError> = removed.map(|(_, error)| error).collect();
        let mut bytes = 0;
        self.retain_items(|item| match judge(item, page, &mut bytes) {
            Ok(()) => true,
            Err(error) => {
                refused.push(error);
                false
            }
        });
        refused
    }
}

/// Whether an element can stand in the entry of a page behind those that have so many bytes.
fn judge(item: Item<'_>, page: &Loc, bytes: &mut u64) -> Result<(), ExtensionError> {
    if let Item::Element(element) = item {
        element.check_thumbnail(page)?;
    }
    let with_item = *bytes + item_len(item);
    if with_item > MAX_EXTENSION_BYTES {
        let item = item.to_string().into();
        return Err(ExtensionError::NoRoom { item });
    }
    *bytes = with_item;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extension::{Alternate, Element, Extension, Hreflang};

    const PAGE: &str = "https://h.ex/page";

    fn loc(text: &str) -> Loc {
        Loc::parse(text).unwrap()
    }

    fn video(title: &str, thumbnail: &str, content: Option<&str>, player: Option<&str>) -> Element {
        let values = [
            ("thumbnail_loc", Some(thumbnail)),
            ("title", Some(title)),
            ("description", Some("D")),
            ("content_loc", content),
            ("player_loc", player),
        ];
        let values = values.into_iter();
        let values = values.filter_map(|(name, text)| Some((name, text?)));
        Element::of(Extension::Video, values).unwrap()
    }

    /// An entry with an image, a version, an article or none, a good film and this one.
    fn extensions(film: Element) -> Extensions {
        let mut extensions = Extensions::default();
        extensions
            .add(Element::image(&loc("https://h.ex/i.jpg")))
            .unwrap();
        let alternate = Alternate::new(Hreflang::parse("de").unwrap(), loc("https://h.ex/de"));
        extensions.add_alternate(alternate).unwrap();
        extensions.add(film).unwrap();
        let good = video(
            "good",
            "https://h.ex/t.jpg",
            Some("https://h.ex/v.mp4"),
            None,
        );
        extensions.add(good).unwrap();
        extensions
    }

    #[test]
    fn one_film_that_is_the_page_costs_nothing_but_itself() {
        let (t, v) = ("https://h.ex/t.jpg", "https://h.ex/w.mp4");
        let check = |film: Element, expected: &str, films: &[&str]| {
            let mut extensions = extensions(film);
            assert!(extensions.check(&loc(PAGE)).is_err());
            let refused = extensions.retain_writable(&loc(PAGE));
            let refused: Vec<String> = refused.iter().map(ToString::to_string).collect();
            assert_eq!(refused, [expected]);
            assert_eq!(extensions.check(&loc(PAGE)), Ok(()));
            let titles = extensions
                .videos()
                .iter()
                .map(|video| video.get("title").unwrap());
            assert_eq!(titles.collect::<Vec<_>>(), films, "{expected}");
            assert_eq!(extensions.images().len(), 1);
            assert_eq!(extensions.alternates().len(), 1);
        };
        let is_page = |element: &str| format!("<video:{element}> of \"bad\" is the page itself");
        check(
            video("bad", t, Some(PAGE), None),
            &is_page("content_loc"),
            &["good"],
        );
        check(
            video("bad", t, None, Some(PAGE)),
            &is_page("player_loc"),
            &["good"],
        );
        check(
            video("bad", "https://H.ex:443/%70age", Some(v), None),
            &is_page("thumbnail_loc"),
            &["good"],
        );
        check(
            video("bad", t, Some(PAGE), Some(v)),
            &is_page("content_loc"),
            &["bad", "good"],
        );
        let mut elsewhere = video("bad", t, Some(v), None);
        let info = Some("https://g.ex/u");
        elsewhere.set("uploader", "U", info).unwrap();
        check(
            elsewhere,
            "uploader info https://g.ex/u is elsewhere, expected a URL in the domain of h.ex",
            &["bad", "good"],
        );
    }

    #[test]
    fn what_an_entry_has_no_room_for_is_told_one_by_one() {
        let mut film = video(
            "large",
            "https://h.ex/t.jpg",
            Some("https://h.ex/v.mp4"),
            None,
        );
        film.set("description", &"&".repeat(2_048), None).unwrap();
        for _ in 0..32 {
            film.set("tag", &"&".repeat(1_024), None).unwrap();
        }
        let bytes = item_len(Item::Element(&film));
        let room = usize::try_from(MAX_EXTENSION_BYTES / bytes).unwrap();
        let mut extensions = Extensions::default();
        extensions
            .add(Element::image(&loc("https://h.ex/i.jpg")))
            .unwrap();
        for _ in 0..room + 2 {
            extensions.add(film.clone()).unwrap();
        }
        let refused = extensions.retain_writable(&loc(PAGE));
        assert_eq!(extensions.videos().len() + refused.len(), room + 2);
        assert!(extensions.videos().len() + 1 >= room && extensions.videos().len() <= room);
        assert_eq!(
            refused[0].to_string(),
            "video \"large\" makes the entry larger than 8388608 bytes"
        );
        assert_eq!(extensions.images().len(), 1);
        assert_eq!(extensions.retain_writable(&loc(PAGE)), []);
    }

    #[test]
    fn nothing_stays_nothing() {
        let mut extensions = Extensions::default();
        assert_eq!(extensions.retain_writable(&loc(PAGE)), []);
        extensions
            .add(video("bad", PAGE, Some("https://h.ex/v"), None))
            .unwrap();
        assert_eq!(extensions.retain_writable(&loc(PAGE)).len(), 1);
        assert_eq!(extensions, Extensions::default());
    }
}
