//! The unusual properties of a page that the report counts.

/// Warnings about one page. They do not change the verdict, but for [`Warnings::parse_cut`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent flags, each counted in the report"
)]
pub struct Warnings {
    /// More links than the limit; the rest was not taken.
    pub links_cut: bool,
    /// No links, little text, scripts: probably rendered by JavaScript.
    pub script_shell: bool,
    /// Scripts, and an empty element for an application that they fill, as `<div id="root"></div>`.
    pub empty_root: bool,
    /// Links to routes that only scripts know, as `#/about`.
    pub hash_routes: bool,
    /// Looks like an error page although it answered 200.
    pub soft_404: bool,
    /// The canonical link is empty, unparsable or not http(s).
    pub bad_canonical: bool,
    /// Several canonical links that differ: none counts.
    pub conflicting_canonicals: bool,
    /// A canonical link uses a name of the site with another scheme.
    pub canonical_by_scheme: bool,
    /// A canonical link uses a name of the site with another host.
    pub canonical_by_host: bool,
    /// HTML under a missing or wrong content type, recognised by sniffing.
    pub sniffed: bool,
    /// Parsing was cut off; facts after that point are missing, so that the page is not judged.
    pub parse_cut: bool,
    /// A page rule could not be evaluated because the tree of the page would be too large.
    pub page_rule_skipped: bool,
    /// An `unavailable_after` value could not be read.
    pub bad_unavailable_after: bool,
    /// More images than an entry may have; the rest was not taken.
    pub images_cut: bool,
    /// More versions in other languages than the limit; the rest was not taken.
    pub alternates_cut: bool,
    /// More videos than the limit; the rest was not taken.
    pub videos_cut: bool,
    /// The page asks for a password.
    pub password_field: bool,
    /// The answer sets a cookie.
    pub sets_cookie: bool,
    /// The answer, 403, 429 or 503, is a challenge of a protection against programs.
    pub challenge: bool,
}

impl Warnings {
    /// Each flag with its stable code.
    pub fn codes(self) -> impl Iterator<Item = &'static str> {
        [
            (self.links_cut, "links-cut"),
            (self.script_shell, "script-shell"),
            (self.empty_root, "empty-root"),
            (self.hash_routes, "hash-routes"),
            (self.soft_404, "soft-404"),
            (self.bad_canonical, "bad-canonical"),
            (self.conflicting_canonicals, "conflicting-canonicals"),
            (self.canonical_by_scheme, "canonical-by-scheme"),
            (self.canonical_by_host, "canonical-by-host"),
            (self.sniffed, "sniffed-html"),
            (self.parse_cut, "parse-cut"),
            (self.page_rule_skipped, "page-rule-skipped"),
            (self.bad_unavailable_after, "bad-unavailable-after"),
            (self.images_cut, "images-cut"),
            (self.alternates_cut, "alternates-cut"),
            (self.videos_cut, "videos-cut"),
            (self.password_field, "password-field"),
            (self.sets_cookie, "sets-cookie"),
            (self.challenge, "challenge"),
        ]
        .into_iter()
        .filter_map(|(set, code)| set.then_some(code))
    }

    /// The flags of a list of codes; unknown codes are ignored.
    pub fn from_codes<'a>(codes: impl Iterator<Item = &'a str>) -> Self {
        let mut warnings = Self::default();
        for code in codes {
            match code {
                "links-cut" => warnings.links_cut = true,
                "script-shell" => warnings.script_shell = true,
                "empty-root" => warnings.empty_root = true,
                "hash-routes" => warnings.hash_routes = true,
                "soft-404" => warnings.soft_404 = true,
                "bad-canonical" => warnings.bad_canonical = true,
                "conflicting-canonicals" => warnings.conflicting_canonicals = true,
                "canonical-by-scheme" => warnings.canonical_by_scheme = true,
                "canonical-by-host" => warnings.canonical_by_host = true,
                "sniffed-html" => warnings.sniffed = true,
                "parse-cut" => warnings.parse_cut = true,
                "page-rule-skipped" => warnings.page_rule_skipped = true,
                "bad-unavailable-after" => warnings.bad_unavailable_after = true,
                "images-cut" => warnings.images_cut = true,
                "alternates-cut" => warnings.alternates_cut = true,
                "videos-cut" => warnings.videos_cut = true,
                "password-field" => warnings.password_field = true,
                "sets-cookie" => warnings.sets_cookie = true,
                "challenge" => warnings.challenge = true,
                _ => {}
            }
        }
        warnings
    }
}
