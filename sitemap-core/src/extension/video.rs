//! [`Video`]: a film on a page, `<video:video>`.

use std::{collections::BTreeSet, fmt};

use super::{ExtensionError, Text, codes::is_country};
use crate::{LastMod, Loc, entry::parse_tenths};

/// The most tags a video may have, by the schema.
pub const MAX_VIDEO_TAGS: usize = 32;

/// A film that a page shows.
///
/// Source: <https://developers.google.com/search/docs/crawling-indexing/sitemaps/video-sitemaps> and the schema `sitemap-video.xsd`,
/// which also has the bounds of the texts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Video {
    /// A still picture of it.
    pub thumbnail_loc: Loc,
    /// Its title.
    pub title: Text<100>,
    /// What it shows.
    pub description: Text<2_048>,
    /// Where it can be seen; never the page itself.
    pub media: Media,
    /// How long it is.
    pub duration: Option<VideoDuration>,
    /// Until when it can be seen; nothing for a film that stays.
    pub expiration_date: Option<LastMod>,
    /// How much its viewers like it.
    pub rating: Option<Rating>,
    /// How often it was seen.
    pub view_count: Option<u64>,
    /// When it was first published.
    pub publication_date: Option<LastMod>,
    tags: Vec<Text>,
    /// Whether children may see it; nothing means yes.
    pub family_friendly: Option<bool>,
    /// In which countries it can be seen.
    pub restriction: Option<Restriction>,
    /// Whether one must subscribe to see it.
    pub requires_subscription: Option<bool>,
    /// Who put it there.
    pub uploader: Option<Uploader>,
    /// On which kinds of device it can be seen.
    pub platform: Option<Platforms>,
    /// Whether it is a live stream.
    pub live: Option<bool>,
    /// What was read of elements that search engines dropped or never read; never written.
    pub retired: Option<Box<RetiredVideo>>,
}

/// Where a film can be seen: as a file, in a player, or both.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Media {
    /// The file itself.
    Content(Loc),
    /// A page with a player for it.
    Player(Loc),
    /// The file, and a player for it.
    Both {
        /// The file itself.
        content: Loc,
        /// A page with a player for it.
        player: Loc,
    },
}

/// How long a film is: 1 to 28,800 seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VideoDuration {
    seconds: u16,
}

/// A number that is no [`VideoDuration`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a duration, expected 1 to 28800 seconds")]
pub struct VideoDurationError;

/// How much viewers like a film: 0.0 to 5.0 in steps of a tenth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rating {
    tenths: u8,
}

/// A value that is no [`Rating`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a rating, expected a decimal from 0.0 to 5.0 with a point and no exponent")]
pub struct RatingError;

/// Whether a list names where a film can be seen, or where it cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relationship {
    /// There and nowhere else.
    Allow,
    /// Everywhere else.
    Deny,
}

/// The countries in which a film can be seen, or cannot: at least one, each once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Restriction {
    relationship: Relationship,
    countries: BTreeSet<Country>,
}

/// A country of ISO 3166-1: two upper case letters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Country([u8; 2]);

/// Why there is no [`Restriction`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RestrictionError {
    /// It names no country.
    #[error("restriction names no country")]
    Empty,
    /// It names something else.
    #[error("{found:?} is no country of ISO 3166-1, expected two upper case letters such as GB")]
    Country {
        /// The beginning of what it names.
        found: Box<str>,
    },
}

/// The kinds of device on which a film can be seen, or cannot: at least one, each once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Platforms {
    relationship: Relationship,
    platforms: BTreeSet<Platform>,
}

/// A kind of device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Platform {
    /// Browsers on computers.
    Web,
    /// Browsers on phones and tablets.
    Mobile,
    /// Television sets.
    Tv,
}

/// Why there are no [`Platforms`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a list of platforms, expected web, mobile or tv, separated by single spaces")]
pub struct PlatformsError;

/// Who put a film there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Uploader {
    /// Their name.
    pub name: Text<255>,
    /// A page about them, in the same domain as the page with the film
    /// (<https://developers.google.com/search/docs/crawling-indexing/sitemaps/video-sitemaps>).
    pub info: Option<Loc>,
}

/// The elements and attributes of a film that search engines dropped in 2022, and those that only the schema knows, as they stood
/// there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct RetiredVideo {
    /// Parts of the film; known to the schema alone. At most [`MAX_VIDEO_TAGS`] are kept.
    pub content_segment_locs: Vec<Loc>,
    /// What it is about in general.
    pub category: Option<Text<256>>,
    /// A page with more films.
    pub gallery_loc: Option<Loc>,
    /// Title of that page.
    pub gallery_title: Option<Text>,
    /// What it costs. At most [`MAX_VIDEO_TAGS`] are kept.
    pub prices: Vec<Price>,
    /// The series that it is a part of.
    pub tv_show: Option<TvShow>,
    /// Identifiers in systems such as `tms:series`; known to the schema alone. At most [`MAX_VIDEO_TAGS`] are kept.
    pub ids: Vec<VideoId>,
    /// Whether the player may be embedded elsewhere.
    pub allow_embed: Option<Text>,
    /// What makes the player start at once.
    pub autoplay: Option<Text>,
}

/// What a film costs, as it stood there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Price {
    /// The number.
    pub amount: Option<Text>,
    /// The currency, by ISO 4217.
    pub currency: Option<Text>,
    /// `purchase` or `rent`.
    pub kind: Option<Text>,
    /// `sd` or `hd`.
    pub resolution: Option<Text>,
}

/// The series a film is a part of, as it stood there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct TvShow {
    /// Title of the series.
    pub show_title: Option<Text>,
    /// `full`, `preview`, `clip`, `interview`, `news` or `other`.
    pub video_type: Option<Text>,
    /// Title of the part.
    pub episode_title: Option<Text>,
    /// Number of the season.
    pub season_number: Option<Text>,
    /// Number of the part.
    pub episode_number: Option<Text>,
    /// When it was first shown.
    pub premier_date: Option<Text>,
}

/// An identifier of a film, as it stood there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct VideoId {
    /// The system it is from.
    pub kind: Option<Text>,
    /// The identifier.
    pub id: Text,
}

impl Video {
    /// A film with all it needs and nothing more.
    pub fn new(
        thumbnail_loc: Loc,
        title: Text<100>,
        description: Text<2_048>,
        media: Media,
    ) -> Self {
        Self {
            thumbnail_loc,
            title,
            description,
            media,
            duration: None,
            expiration_date: None,
            rating: None,
            view_count: None,
            publication_date: None,
            tags: Vec::new(),
            family_friendly: None,
            restriction: None,
            requires_subscription: None,
            uploader: None,
            platform: None,
            live: None,
            retired: None,
        }
    }

    /// The words that describe it, at most [`MAX_VIDEO_TAGS`].
    pub fn tags(&self) -> &[Text] {
        &self.tags
    }

    /// Adds a word that describes it.
    ///
    /// # Errors
    /// [`ExtensionError::TooMany`] when it has [`MAX_VIDEO_TAGS`].
    pub fn add_tag(&mut self, tag: Text) -> Result<(), ExtensionError> {
        if self.tags.len() >= MAX_VIDEO_TAGS {
            return Err(ExtensionError::TooMany {
                what: "video:tag",
                limit: MAX_VIDEO_TAGS,
            });
        }
        self.tags.push(tag);
        Ok(())
    }

    /// Takes away what contradicts the address of the page that the film is on, and says whether a film is left.
    pub(super) fn remove_contradictions(
        &mut self,
        page: &Loc,
        mut tell: impl FnMut(ExtensionError),
    ) -> bool {
        while let Err(error) = self.check(page) {
            if matches!(error, ExtensionError::MediaIsPage { .. }) {
                let not_page = |loc: Option<&Loc>| loc.filter(|loc| *loc != page).cloned();
                let media = Media::of(
                    not_page(self.media.content()),
                    not_page(self.media.player()),
                );
                tell(error);
                match media {
                    Some(media) => self.media = media,
                    None => return false,
                }
            } else {
                tell(error);
                if let Some(uploader) = &mut self.uploader {
                    uploader.info = None;
                }
            }
        }
        true
    }

    /// What contradicts the address of the page that the film is on.
    pub(super) fn check(&self, page: &Loc) -> Result<(), ExtensionError> {
        if self.media.content() == Some(page) {
            return Err(self.is_page("video:content_loc"));
        }
        if self.media.player() == Some(page) {
            return Err(self.is_page("video:player_loc"));
        }
        let info = self
            .uploader
            .as_ref()
            .and_then(|uploader| uploader.info.as_ref());
        match info {
            Some(info) if domain(info.host()) != domain(page.host()) => {
                Err(ExtensionError::UploaderElsewhere {
                    info: info.clone(),
                    host: page.host().into(),
                })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Whether its picture is the page. A reader keeps such a film: what it is of is not in doubt.
    pub(crate) fn check_thumbnail(&self, page: &Loc) -> Result<(), ExtensionError> {
        if self.thumbnail_loc.is_equivalent(page) {
            return Err(self.is_page("video:thumbnail_loc"));
        }
        Ok(())
    }

    /// That an element of it is the page that shows it.
    fn is_page(&self, element: &'static str) -> ExtensionError {
        ExtensionError::MediaIsPage {
            element,
            title: self.title.as_str().into(),
        }
    }
}

/// The names under which the domains of a country are given out, each where the name of the country has two letters: `co.uk`.
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

impl Media {
    /// The file, the player, or both; `None` if there is neither.
    pub fn of(content: Option<Loc>, player: Option<Loc>) -> Option<Self> {
        match (content, player) {
            (Some(content), Some(player)) => Some(Self::Both { content, player }),
            (Some(content), None) => Some(Self::Content(content)),
            (None, Some(player)) => Some(Self::Player(player)),
            (None, None) => None,
        }
    }

    /// The file itself.
    pub fn content(&self) -> Option<&Loc> {
        match self {
            Self::Content(content) | Self::Both { content, .. } => Some(content),
            Self::Player(_) => None,
        }
    }

    /// A page with a player.
    pub fn player(&self) -> Option<&Loc> {
        match self {
            Self::Player(player) | Self::Both { player, .. } => Some(player),
            Self::Content(_) => None,
        }
    }
}

impl VideoDuration {
    /// The longest one, by the schema and the text alike: eight hours.
    pub const MAX: Self = Self { seconds: 28_800 };

    /// So many seconds.
    ///
    /// # Errors
    /// [`VideoDurationError`] for 0, which only the schema allows, and above 28,800.
    pub fn from_seconds(seconds: u64) -> Result<Self, VideoDurationError> {
        match u16::try_from(seconds) {
            Ok(seconds) if (1..=Self::MAX.seconds).contains(&seconds) => Ok(Self { seconds }),
            Ok(_) | Err(_) => Err(VideoDurationError),
        }
    }

    /// Reads a number of seconds.
    ///
    /// # Errors
    /// [`VideoDurationError`] for anything but digits, and out of range.
    pub fn parse(text: &str) -> Result<Self, VideoDurationError> {
        parse_count(text).map_or(Err(VideoDurationError), Self::from_seconds)
    }

    /// The duration in seconds.
    pub fn seconds(self) -> u16 {
        self.seconds
    }
}

/// Reads a `nonNegativeInteger` of the schema that a `u64` has room for.
pub(crate) fn parse_count(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

impl Rating {
    /// The best one: 5.0.
    pub const MAX: Self = Self { tenths: 50 };

    /// A rating of so many tenths, 0 to 50.
    ///
    /// # Errors
    /// [`RatingError`] above 50.
    pub fn from_tenths(tenths: u8) -> Result<Self, RatingError> {
        if tenths > Self::MAX.tenths {
            return Err(RatingError);
        }
        Ok(Self { tenths })
    }

    /// Reads a decimal from 0 to 5 as the schema does. Further digits are rounded, halves up.
    ///
    /// # Errors
    /// [`RatingError`] outside the range, and for a comma, an exponent, an empty text or anything else.
    pub fn parse(text: &str) -> Result<Self, RatingError> {
        parse_tenths(text, 5)
            .map(|tenths| Self { tenths })
            .ok_or(RatingError)
    }

    /// The rating in tenths, 0 to 50.
    pub fn tenths(self) -> u8 {
        self.tenths
    }
}

impl fmt::Display for Rating {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.tenths / 10, self.tenths % 10)
    }
}

impl Relationship {
    /// Reads `allow` or `deny`.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Allow, Self::Deny]
            .into_iter()
            .find(|relationship| relationship.as_str() == text)
    }

    /// The word that stands in a file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
        }
    }
}

impl Restriction {
    /// A restriction to these countries, or to all but these.
    ///
    /// # Errors
    /// [`RestrictionError::Empty`] without a country.
    pub fn new(
        relationship: Relationship,
        countries: impl IntoIterator<Item = Country>,
    ) -> Result<Self, RestrictionError> {
        let countries: BTreeSet<Country> = countries.into_iter().collect();
        if countries.is_empty() {
            return Err(RestrictionError::Empty);
        }
        Ok(Self {
            relationship,
            countries,
        })
    }

    /// Reads countries that are separated by white space: `IE GB US`.
    ///
    /// # Errors
    /// [`RestrictionError`] names what is no country.
    pub fn parse(relationship: Relationship, text: &str) -> Result<Self, RestrictionError> {
        let countries: Result<BTreeSet<Country>, _> =
            text.split_ascii_whitespace().map(Country::parse).collect();
        Self::new(relationship, countries?)
    }

    /// Whether the film can be seen there, or everywhere else.
    pub fn relationship(&self) -> Relationship {
        self.relationship
    }

    /// The countries, in the order of their codes.
    pub fn countries(&self) -> impl Iterator<Item = Country> + '_ {
        self.countries.iter().copied()
    }
}

impl Country {
    /// Reads two upper case letters.
    ///
    /// # Errors
    /// [`RestrictionError::Country`] for anything that is not assigned in ISO 3166-1.
    pub fn parse(text: &str) -> Result<Self, RestrictionError> {
        match <[u8; 2]>::try_from(text.as_bytes()) {
            Ok(code) if is_country(text) => Ok(Self(code)),
            Ok(_) | Err(_) => Err(RestrictionError::Country {
                found: text.chars().take(12).collect(),
            }),
        }
    }
}

impl fmt::Display for Country {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = self.0.map(char::from);
        write!(formatter, "{first}{second}")
    }
}

impl fmt::Debug for Country {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Country({self})")
    }
}

impl Platforms {
    /// These platforms, or all but these.
    ///
    /// # Errors
    /// [`PlatformsError`] without a platform.
    pub fn new(
        relationship: Relationship,
        platforms: impl IntoIterator<Item = Platform>,
    ) -> Result<Self, PlatformsError> {
        let platforms: BTreeSet<Platform> = platforms.into_iter().collect();
        if platforms.is_empty() {
            return Err(PlatformsError);
        }
        Ok(Self {
            relationship,
            platforms,
        })
    }

    /// Reads platforms that are separated by white space: `web tv`.
    ///
    /// # Errors
    /// [`PlatformsError`] for anything else.
    pub fn parse(relationship: Relationship, text: &str) -> Result<Self, PlatformsError> {
        let platforms: Option<BTreeSet<Platform>> =
            text.split_ascii_whitespace().map(Platform::parse).collect();
        Self::new(relationship, platforms.ok_or(PlatformsError)?)
    }

    /// Whether the film can be seen there, or everywhere else.
    pub fn relationship(&self) -> Relationship {
        self.relationship
    }

    /// The platforms: web, mobile, tv.
    pub fn platforms(&self) -> impl Iterator<Item = Platform> + '_ {
        self.platforms.iter().copied()
    }
}

impl Platform {
    /// Reads `web`, `mobile` or `tv`.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Web, Self::Mobile, Self::Tv]
            .into_iter()
            .find(|platform| platform.as_str() == text)
    }

    /// The word that stands in a file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Web => "web",
            Self::Mobile => "mobile",
            Self::Tv => "tv",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loc(text: &str) -> Loc {
        Loc::parse(text).unwrap()
    }

    fn video(media: Media) -> Video {
        Video::new(
            loc("https://cdn.example/t.jpg"),
            Text::new("T").unwrap(),
            Text::new("D").unwrap(),
            media,
        )
    }

    #[test]
    fn duration_is_a_second_to_eight_hours() {
        let check = |text: &str, expected: Option<u16>| {
            let seconds = VideoDuration::parse(text).ok().map(VideoDuration::seconds);
            assert_eq!(seconds, expected, "{text:?}");
        };
        check("1", Some(1));
        check("28800", Some(28_800));
        check("0060", Some(60));
        for refused in [
            "",
            "0",
            "28801",
            "-1",
            "+1",
            "1.5",
            "65537",
            "99999999999999999999",
            "1 ",
        ] {
            check(refused, None);
        }
        assert_eq!(
            VideoDuration::from_seconds(65_536 + 1),
            Err(VideoDurationError)
        );
    }

    #[test]
    fn rating_is_a_decimal_from_zero_to_five() {
        let check = |text: &str, expected: Option<&str>| {
            let rating = Rating::parse(text).ok().map(|rating| rating.to_string());
            assert_eq!(rating.as_deref(), expected, "{text:?}");
        };
        check("0", Some("0.0"));
        check("4.25", Some("4.3"));
        check("4.96", Some("5.0"));
        check("5.0", Some("5.0"));
        check("-0", Some("0.0"));
        for refused in ["5.01", "6", "15", "-1", "-3.2", "", "4,2", "4e0", "five"] {
            check(refused, None);
        }
        assert_eq!(Rating::from_tenths(50), Ok(Rating::MAX));
        assert_eq!(Rating::from_tenths(51), Err(RatingError));
    }

    #[test]
    fn restriction_is_a_set_of_countries() {
        let check = |text: &str, expected: Result<&str, &str>| {
            let found = Restriction::parse(Relationship::Allow, text);
            let found = found
                .map(|restriction| {
                    restriction
                        .countries()
                        .map(|country| country.to_string())
                        .collect::<Vec<_>>()
                        .join(" ")
                })
                .map_err(|error| error.to_string());
            let found = found.as_deref().map_err(String::as_str);
            assert_eq!(found, expected);
        };
        check("IE", Ok("IE"));
        check(" US  GB\nIE GB", Ok("GB IE US"));
        check("", Err("restriction names no country"));
        check(
            "IE gb",
            Err("\"gb\" is no country of ISO 3166-1, expected two upper case letters such as GB"),
        );
        check(
            "UK",
            Err("\"UK\" is no country of ISO 3166-1, expected two upper case letters such as GB"),
        );
        check(
            "IE,GB",
            Err(
                "\"IE,GB\" is no country of ISO 3166-1, expected two upper case letters such as GB",
            ),
        );
    }

    #[test]
    fn platforms_are_a_set_of_three() {
        let platforms = Platforms::parse(Relationship::Deny, "tv web tv").unwrap();
        assert_eq!(
            platforms.platforms().collect::<Vec<_>>(),
            [Platform::Web, Platform::Tv]
        );
        for refused in ["", "Web", "web,tv", "phone"] {
            assert_eq!(
                Platforms::parse(Relationship::Deny, refused),
                Err(PlatformsError),
                "{refused}"
            );
        }
    }

    #[test]
    fn film_has_32_tags_and_not_one_more() {
        let mut video = video(Media::Content(loc("https://cdn.example/v.mp4")));
        for number in 0..32 {
            video
                .add_tag(Text::new(&number.to_string()).unwrap())
                .unwrap();
        }
        let error = video.add_tag(Text::new("x").unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "more than 32 <video:tag>");
        assert_eq!(video.tags().len(), 32);
    }

    #[test]
    fn film_is_not_its_page_and_its_uploader_is_on_the_same_host() {
        let page = loc("https://example.com/page");
        let other = || loc("https://cdn.example/v.mp4");
        let both = |content: Loc, player: Loc| Media::of(Some(content), Some(player)).unwrap();
        let check = |media: Media, expected: Result<(), &str>| {
            let found = video(media).check(&page).map_err(|error| error.to_string());
            assert_eq!(found.as_ref().map_err(String::as_str).copied(), expected);
        };
        check(Media::Content(other()), Ok(()));
        check(both(other(), other()), Ok(()));
        check(
            Media::Content(page.clone()),
            Err("<video:content_loc> of \"T\" is the page itself"),
        );
        check(
            both(other(), page.clone()),
            Err("<video:player_loc> of \"T\" is the page itself"),
        );

        let with_info = |info: &str| {
            let mut video = video(Media::Content(other()));
            let name = Text::new("U").unwrap();
            let info = Some(loc(info));
            video.uploader = Some(Uploader { name, info });
            video.check(&page)
        };
        assert_eq!(with_info("http://example.com:8080/u"), Ok(()));
        assert_eq!(
            with_info("https://other.example/u")
                .unwrap_err()
                .to_string(),
            "uploader info https://other.example/u is elsewhere, expected a URL in the domain of example.com"
        );
        assert_eq!(with_info("https://users.example.com/u"), Ok(()));
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
    fn media_is_at_least_one_of_two() {
        assert_eq!(Media::of(None, None), None);
        let (content, player) = (loc("http://h/c"), loc("http://h/p"));
        for (given, expected) in [
            ((Some(&content), None), Media::Content(content.clone())),
            ((None, Some(&player)), Media::Player(player.clone())),
        ] {
            let media = Media::of(given.0.cloned(), given.1.cloned()).unwrap();
            assert_eq!(media, expected);
            assert_eq!((media.content(), media.player()), given);
        }
    }
}
