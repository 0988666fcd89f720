//! The unusual properties of a page that the report counts.

macro_rules! warnings {
    ($($(#[$doc:meta])* $flag:ident = $code:literal,)*) => {
        /// Warnings about one page. They do not change the verdict, but for [`Warnings::parse_cut`].
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct Warnings {
            $($(#[$doc])* pub $flag: bool,)*
        }

        impl Warnings {
            /// The stable code of each flag that is set.
            pub fn codes(self) -> impl Iterator<Item = &'static str> {
                let flags = [$((self.$flag, $code),)*];
                flags.into_iter().filter_map(|(is_set, code)| is_set.then_some(code))
            }

            /// The flags of a list of codes; unknown codes are ignored.
            pub fn from_codes<'a>(codes: impl Iterator<Item = &'a str>) -> Self {
                let mut warnings = Self::default();
                for code in codes {
                    match code {
                        $($code => warnings.$flag = true,)*
                        _ => {}
                    }
                }
                warnings
            }
        }
    };
}

warnings! {
    /// More links than the limit; the rest was not taken.
    links_cut = "links-cut",
    /// No links, little text, scripts: probably rendered by JavaScript.
    script_shell = "script-shell",
    /// Scripts, and an empty element for an application that they fill, as `<div id="root"></div>`.
    empty_root = "empty-root",
    /// Links to routes that only scripts know, as `#/about`.
    hash_routes = "hash-routes",
    /// The facts are those of the page as a browser shows it.
    rendered = "rendered",
    /// Links, or a tenth more text, that only scripts show.
    script_content = "script-content",
    /// Scripts of the page asked for data.
    script_data = "script-data",
    /// The page could not be rendered to its end: the facts are those of its HTML, with the links that were shown.
    render_failed = "render-failed",
    /// Looks like an error page although it answered 200.
    soft_404 = "soft-404",
    /// The canonical link is empty, unparsable or not http(s).
    bad_canonical = "bad-canonical",
    /// Several canonical links that differ: none counts.
    conflicting_canonicals = "conflicting-canonicals",
    /// A canonical link uses a name of the site with another scheme.
    canonical_by_scheme = "canonical-by-scheme",
    /// A canonical link uses a name of the site with another host.
    canonical_by_host = "canonical-by-host",
    /// HTML under a missing or wrong content type, recognised by sniffing.
    sniffed = "sniffed-html",
    /// Parsing was cut off; facts after that point are missing, so that the page is not judged.
    parse_cut = "parse-cut",
    /// A page rule could not be evaluated because the tree of the page would be too large.
    page_rule_skipped = "page-rule-skipped",
    /// An `unavailable_after` value could not be read.
    bad_unavailable_after = "bad-unavailable-after",
    /// More images than an entry may have; the rest was not taken.
    images_cut = "images-cut",
    /// More versions in other languages than the limit; the rest was not taken.
    alternates_cut = "alternates-cut",
    /// More videos than the limit; the rest was not taken.
    videos_cut = "videos-cut",
    /// The page asks for a password.
    password_field = "password-field",
    /// The answer sets a cookie.
    sets_cookie = "sets-cookie",
    /// The answer, 403, 429 or 503, is a challenge of a protection against programs.
    challenge = "challenge",
}
