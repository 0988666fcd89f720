//! The extensions of an entry that a file refuses, each element judged by itself.

use super::extensions::item_len;
use crate::{
    Loc,
    extension::{ExtensionError, ExtensionRef, Extensions, MAX_ENTRY_BYTES},
};

/// Largest size of the extensions of an entry. The rest of [`MAX_ENTRY_BYTES`] is for its other elements, and for custom elements
/// that settings add to each entry.
const MAX_EXTENSION_BYTES: u64 = MAX_ENTRY_BYTES - 1_024 * 1_024;

impl Extensions {
    /// Removes the extensions that a file refuses in the entry of `page`, and returns their errors.
    ///
    /// The function removes the value of a video that contradicts the address of the page, or the video where that value is required. It
    /// also removes every element that would make the extensions larger than 7 MiB of the [`MAX_ENTRY_BYTES`] of an entry.
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

/// Returns whether an element can be in the entry of a page after those that have so many bytes.
fn judge(item: ExtensionRef<'_>, page: &Loc, bytes: &mut u64) -> Result<(), ExtensionError> {
    if let ExtensionRef::Element(element) = item {
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

    fn make_video(
        title: &str,
        thumbnail: &str,
        content: Option<&str>,
        player: Option<&str>,
    ) -> Element {
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

    /// An entry with an image, a version, an article or none, a good video and this one.
    fn extensions(video: Element) -> Extensions {
        let mut extensions = Extensions::default();
        extensions
            .add(Element::image(&loc("https://h.ex/i.jpg")))
            .unwrap();
        let alternate = Alternate::new(Hreflang::parse("de").unwrap(), loc("https://h.ex/de"));
        extensions.add_alternate(alternate).unwrap();
        extensions.add(video).unwrap();
        let (thumbnail, content) = ("https://h.ex/t.jpg", Some("https://h.ex/v.mp4"));
        let good = make_video("good", thumbnail, content, None);
        extensions.add(good).unwrap();
        extensions
    }

    #[test]
    fn refused_video_is_left_out_alone() {
        let (t, v) = ("https://h.ex/t.jpg", "https://h.ex/w.mp4");
        let check = |video: Element, expected: &str, videos: &[&str]| {
            let mut extensions = extensions(video);
            assert!(extensions.check(&loc(PAGE)).is_err());
            let refused = extensions.retain_writable(&loc(PAGE));
            let refused: Vec<String> = refused.iter().map(ToString::to_string).collect();
            assert_eq!(refused, [expected]);
            assert_eq!(extensions.check(&loc(PAGE)), Ok(()));
            let kept = extensions.videos().iter();
            let titles: Vec<_> = kept.map(|video| video.get("title").unwrap()).collect();
            assert_eq!(titles, videos, "{expected}");
            assert_eq!(extensions.images().len(), 1);
            assert_eq!(extensions.alternates().len(), 1);
        };
        let page = "https://H.ex:443/%70age";
        for (thumbnail, content, player, element, videos) in [
            (t, Some(PAGE), None, "content_loc", &["good"][..]),
            (t, None, Some(PAGE), "player_loc", &["good"]),
            (page, Some(v), None, "thumbnail_loc", &["good"]),
            (t, Some(PAGE), Some(v), "content_loc", &["bad", "good"]),
        ] {
            let video = make_video("bad", thumbnail, content, player);
            let expected = format!("<video:{element}> of \"bad\" is the page itself");
            check(video, &expected, videos);
        }
        let mut elsewhere = make_video("bad", t, Some(v), None);
        let info = Some("https://g.ex/u");
        elsewhere.set("uploader", "U", info).unwrap();
        check(
            elsewhere,
            "uploader info https://g.ex/u is elsewhere, expected a URL in the domain of h.ex",
            &["bad", "good"],
        );
    }

    #[test]
    fn extensions_above_the_entry_size_are_left_out() {
        let (thumbnail, content) = ("https://h.ex/t.jpg", Some("https://h.ex/v.mp4"));
        let mut video = make_video("large", thumbnail, content, None);
        video.set("description", &"&".repeat(2_048), None).unwrap();
        for _ in 0..32 {
            video.set("tag", &"&".repeat(1_024), None).unwrap();
        }
        let bytes = item_len(ExtensionRef::Element(&video));
        let room = usize::try_from(MAX_EXTENSION_BYTES / bytes).unwrap();
        let mut extensions = Extensions::default();
        extensions
            .add(Element::image(&loc("https://h.ex/i.jpg")))
            .unwrap();
        for _ in 0..room + 2 {
            extensions.add(video.clone()).unwrap();
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
    fn absent_value_stays_absent() {
        let mut extensions = Extensions::default();
        assert_eq!(extensions.retain_writable(&loc(PAGE)), []);
        extensions
            .add(make_video("bad", PAGE, Some("https://h.ex/v"), None))
            .unwrap();
        assert_eq!(extensions.retain_writable(&loc(PAGE)).len(), 1);
        assert_eq!(extensions, Extensions::default());
    }
}
