//! [`Element`]: an image, a video or an article, as the values of its elements in the one [table](super::rows) of them.

use jiff::{SignedDuration, Timestamp};

use super::{
    Extension, ExtensionError, Row, ValueKind, ValueProblem,
    rows::{Need, element_of},
};
use crate::{LastMod, Loc};

/// Time for which an article is news.
const RECENT: SignedDuration = SignedDuration::from_hours(48);

/// An image, a video or an article of a page.
///
/// Sources: <https://developers.google.com/search/docs/crawling-indexing/sitemaps/image-sitemaps>, `video-sitemaps` and `news-sitemap`
/// beside it, and their schemas.
///
/// ```
/// use sitemap_core::extension::{Element, Extension};
///
/// let mut video = Element::new(Extension::Video);
/// video.set("title", "Dogs &\n cats", None)?;
/// video.set("rating", "4.25", None)?;
/// video.set("restriction", "US GB", Some("allow"))?;
/// assert_eq!(video.get("title"), Some("Dogs & cats"));
/// assert_eq!(video.get("rating"), Some("4.3"));
/// assert!(video.set("duration", "an hour", None).is_err());
/// assert_eq!(video.missing().collect::<Vec<_>>()[..2], ["video:thumbnail_loc", "video:description"]);
/// # Ok::<(), sitemap_core::extension::ValueProblem>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Element {
    extension: Extension,
    /// In the order of the table.
    values: Vec<Value>,
}

/// The value of one of its elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Value {
    /// The row of its element.
    pub row: &'static Row,
    /// In the form in which it is written.
    pub text: Box<str>,
    /// Value of the attribute that is read, if there is one.
    pub attribute: Option<Box<str>>,
}

impl Element {
    /// An element without values.
    pub fn new(extension: Extension) -> Self {
        Self {
            extension,
            values: Vec::new(),
        }
    }

    /// One with these values, by the names of their elements without prefix.
    ///
    /// # Errors
    /// The errors of [`set`](Self::set).
    pub fn of<'a>(
        extension: Extension,
        values: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, ValueProblem> {
        let mut element = Self::new(extension);
        for (name, text) in values {
            element.set(name, text, None)?;
        }
        Ok(element)
    }

    /// The image at `loc`.
    pub fn image(loc: &Loc) -> Self {
        let mut image = Self::new(Extension::Image);
        image.values = element_of(Extension::Image)
            .rows
            .iter()
            .take(1)
            .map(|row| Value {
                row,
                text: loc.as_str().into(),
                attribute: None,
            })
            .collect();
        image
    }

    /// The extension it belongs to.
    pub fn extension(&self) -> Extension {
        self.extension
    }

    /// The rows of the elements that are read, in the order of the schema; `publication` is replaced by its parts.
    pub fn rows(extension: Extension) -> impl Iterator<Item = &'static Row> {
        let rows = element_of(extension).rows.iter().flat_map(Row::leaves);
        rows.filter(|row| row.kind != ValueKind::Retired)
    }

    /// Sets the value of an element by its name without prefix, or adds one where several are allowed. An unknown name, or a
    /// value above the allowed number, is not added.
    ///
    /// # Errors
    /// The text, or that of the attribute, is not of the [kind](Row::kind) that the element has.
    pub fn set(
        &mut self,
        name: &str,
        text: &str,
        attribute: Option<&str>,
    ) -> Result<(), ValueProblem> {
        let Some(row) = Self::rows(self.extension).find(|row| row.local_name() == name) else {
            return Ok(());
        };
        let kind = row.attribute().map(|attribute| attribute.kind);
        let attribute = kind.zip(attribute);
        let attribute = attribute.map(|(kind, text)| kind.parse(text)).transpose()?;
        self.add(Value {
            text: row.kind.parse(text)?,
            row,
            attribute,
        });
        Ok(())
    }

    /// Adds a value that is as its row wants it.
    pub(crate) fn add(&mut self, value: Value) {
        let place_of = |row: &Row| Self::rows(self.extension).position(|other| other == row);
        let place = place_of(value.row);
        let is_after = |other: &Value| place_of(other.row) <= place;
        let end = self.values.partition_point(is_after);
        let same = self.all(value.row.local_name()).count();
        if same < value.row.most {
            self.values.insert(end, value);
        } else if value.row.most == 1 {
            self.values[end - 1] = value;
        }
    }

    /// All values, in the order in which they are written.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// The values of the elements of this name, which has no prefix.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &Value> {
        self.values
            .iter()
            .filter(move |value| value.row.local_name() == name)
    }

    /// The value of an element by its name without prefix.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.all(name).next().map(|value| &*value.text)
    }

    /// The same of an element that has a URL.
    pub fn loc(&self, name: &str) -> Option<Loc> {
        Loc::parse(self.get(name)?).ok()
    }

    /// Time of publication.
    pub fn publication_date(&self) -> Option<LastMod> {
        LastMod::parse(self.get("publication_date")?).ok()
    }

    /// Names of the elements it lacks.
    pub fn missing(&self) -> impl Iterator<Item = &'static str> {
        let is_missing =
            |row: &&Row| row.need == Need::Required && self.get(row.local_name()).is_none();
        let rows = Self::rows(self.extension).filter(is_missing);
        let has_media = self.get("content_loc").is_some() || self.get("player_loc").is_some();
        let media = (self.extension == Extension::Video && !has_media).then_some(NO_MEDIA);
        rows.map(|row| row.name).chain(media)
    }

    /// Returns whether an article is news at `now`: published within the last 48 hours. A date without a time counts as its last
    /// instant, in UTC, so that no article is dropped too early.
    pub fn is_recent(&self, now: Timestamp) -> bool {
        self.publication_date()
            .is_some_and(|date| now.duration_since(date.latest_instant()) <= RECENT)
    }

    /// The first instant, to a second, at which [`Element::is_recent`] is false for an article with a date.
    pub fn recent_until(&self) -> Option<Timestamp> {
        let date = self.publication_date()?;
        let after = RECENT.checked_add(SignedDuration::from_secs(1))?;
        date.latest_instant().checked_add(after).ok()
    }

    /// Checks a video against the address of its page: an optional part that contradicts it, or else the video.
    pub(super) fn check(&self, page: &Loc) -> Result<(), ExtensionError> {
        for name in ["content_loc", "player_loc"] {
            let mut values = self.all(name);
            if let Some(value) = values.find(|value| *value.text == *page.as_str()) {
                return Err(self.is_page(value.row));
            }
        }
        let info = self.all("uploader").find_map(|it| it.attribute.as_deref());
        match info.and_then(|info| Loc::parse(info).ok()) {
            Some(info) if domain(info.host()) != domain(page.host()) => {
                let host = page.host().into();
                Err(ExtensionError::UploaderElsewhere { info, host })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Returns whether the thumbnail of a video is the page. A reader keeps such a video, because its content is known.
    pub(crate) fn check_thumbnail(&self, page: &Loc) -> Result<(), ExtensionError> {
        let mut values = self.all("thumbnail_loc");
        let is_page = |value: &&Value| {
            Loc::parse(&value.text).is_ok_and(|thumbnail| thumbnail.is_equivalent(page))
        };
        match values.find(is_page) {
            Some(value) => Err(self.is_page(value.row)),
            None => Ok(()),
        }
    }

    /// Removes the parts that contradict the address of the page, and returns whether a video is left.
    pub(super) fn remove_contradictions(
        &mut self,
        page: &Loc,
        mut report: impl FnMut(ExtensionError),
    ) -> bool {
        while let Err(error) = self.check(page) {
            if let ExtensionError::MediaIsPage { element, .. } = error {
                self.values.retain(|value| value.row.name != element);
            } else {
                for value in &mut self.values {
                    value
                        .attribute
                        .take_if(|_| value.row.local_name() == "uploader");
                }
            }
            report(error);
        }
        self.missing().next().is_none()
    }

    /// The error for an element that is the page which shows it.
    fn is_page(&self, row: &'static Row) -> ExtensionError {
        ExtensionError::MediaIsPage {
            element: row.name,
            title: self.get("title").unwrap_or_default().into(),
        }
    }
}

/// The missing part of a video without any address.
pub(crate) const NO_MEDIA: &str = "video:content_loc and no video:player_loc";

/// Second-level names of registries, each before a two-letter country: `co.uk`.
const REGISTRIES: [&str; 14] = [
    "ac", "co", "com", "edu", "go", "gob", "gov", "ltd", "mil", "ne", "net", "or", "org", "plc",
];

/// The domain that a host belongs to: `example.com` of `www.example.com`. An address of numbers belongs to itself.
///
/// Without the list of all public suffixes it is an estimate, which rather takes two domains for one than one for two.
fn domain(host: &str) -> &str {
    let is_address =
        host.starts_with('[') || host.split('.').all(|label| label.parse::<u8>().is_ok());
    if is_address {
        return host;
    }
    let mut labels = host.rsplit('.');
    let (top, second) = (
        labels.next().unwrap_or(host),
        labels.next().unwrap_or_default(),
    );
    let mut bytes = top.len() + second.len() + 1;
    if top.len() == 2 && REGISTRIES.contains(&second) {
        bytes += labels.next().map_or(0, |third| third.len() + 1);
    }
    &host[host.len().saturating_sub(bytes)..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn video(content: Option<&str>, player: Option<&str>) -> Element {
        let values = [
            ("thumbnail_loc", Some("https://cdn.example/t.jpg")),
            ("title", Some("T")),
            ("description", Some("D")),
            ("content_loc", content),
            ("player_loc", player),
        ];
        let values = values.into_iter();
        let values = values.filter_map(|(name, text)| Some((name, text?)));
        Element::of(Extension::Video, values).unwrap()
    }

    #[test]
    fn values_are_in_the_order_of_the_schema() {
        let mut video = Element::new(Extension::Video);
        for (name, text) in [("live", "no"), ("tag", "b"), ("title", "T"), ("tag", "a")] {
            video.set(name, text, None).unwrap();
        }
        video.set("title", "U", None).unwrap();
        video.set("category", "retired", None).unwrap();
        let values = video.values().iter();
        let values: Vec<String> = values
            .map(|it| format!("{} {}", it.row.name, it.text))
            .collect();
        let expected = "video:title U, video:tag b, video:tag a, video:live no";
        assert_eq!(values.join(", "), expected);
        for number in 0..40 {
            video.set("tag", &number.to_string(), None).unwrap();
        }
        assert_eq!(video.all("tag").count(), 32);
    }

    #[test]
    fn video_needs_a_file_or_a_player() {
        let there = Some("https://cdn.example/v");
        assert_eq!(video(there, None).missing().next(), None);
        assert_eq!(video(None, there).missing().next(), None);
        assert_eq!(video(None, None).missing().collect::<Vec<_>>(), [NO_MEDIA]);
    }

    #[test]
    fn video_is_checked_against_its_page() {
        let page = Loc::parse("https://example.com/page").unwrap();
        let other = Some("https://cdn.example/v.mp4");
        let check = |video: Element, expected: Result<(), &str>| {
            let found = video.check(&page).map_err(|error| error.to_string());
            assert_eq!(found.as_ref().map_err(String::as_str).copied(), expected);
        };
        check(video(other, other), Ok(()));
        let content = "<video:content_loc> of \"T\" is the page itself";
        check(video(Some(page.as_str()), None), Err(content));
        let player = "<video:player_loc> of \"T\" is the page itself";
        check(video(other, Some(page.as_str())), Err(player));
        let with_info = |info: &str| {
            let mut video = video(other, None);
            video.set("uploader", "U", Some(info)).unwrap();
            video
        };
        check(with_info("http://example.com:8080/u"), Ok(()));
        check(with_info("https://users.example.com/u"), Ok(()));
        check(
            with_info("https://other.example/u"),
            Err(
                "uploader info https://other.example/u is elsewhere, expected a URL in the domain of example.com",
            ),
        );
    }

    #[test]
    fn domain_is_what_somebody_registered() {
        let check = |host: &str, expected: &str| assert_eq!(domain(host), expected, "{host}");
        check("example.com", "example.com");
        check("www.example.com", "example.com");
        check("a.b.example.de", "example.de");
        check("users.example.co.uk", "example.co.uk");
        check("co.uk", "co.uk");
        check("www.com.example", "com.example");
        check("localhost", "localhost");
        check("192.0.2.1", "192.0.2.1");
        check("[2001:db8::1]", "[2001:db8::1]");
    }

    #[test]
    fn article_is_news_for_two_days() {
        let check = |date: &str, now: &str, expected: bool| {
            let news = Element::of(Extension::News, [("publication_date", date)]).unwrap();
            let found = news.is_recent(now.parse().unwrap());
            assert_eq!(found, expected, "{date} at {now}");
        };
        check("2026-03-01", "2026-03-01T00:00:00Z", true);
        check("2026-03-01", "2026-03-03T23:59:59Z", true);
        check("2026-03-01", "2026-03-04T00:00:00Z", false);
        check("2026-03-01T10:00:00+02:00", "2026-03-03T08:00:00Z", true);
        check("2026-03-01T10:00:00+02:00", "2026-03-03T08:00:01Z", false);
        check("9999-12-31", "2026-03-03T08:00:01Z", true);
        check("0001-01-01", "9999-12-30T22:00:00Z", false);
    }
}
