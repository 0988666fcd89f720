//! Values that make sense alone, but not with each other, or not for the sites they are meant for.

use std::collections::BTreeSet;

use crawler::{
    config::{Config, ScopeWidth},
    driver::HOST_PLACE,
    pattern::Pattern,
    site::settle_so_far,
    url_key::UrlKey,
};

use super::super::{
    has_user_info,
    problem::Origin,
    request::{has_password, is_one_for_a_host, is_secret_header},
};
use super::{Merge, VARIABLE_PREFIX};

/// The sites that a value can be meant for.
#[derive(Debug, Clone, Copy)]
pub(in crate::settings) struct Among<'s> {
    /// The sites of this session: typed values apply to these.
    pub(in crate::settings) chosen: &'s [UrlKey],
    /// The chosen sites and all sites of the settings file: values of the file apply to all of them, so that a site has one place.
    pub(in crate::settings) named: &'s [UrlKey],
    /// The first site of each of both that is on the host of an earlier one.
    twins: [Option<&'s UrlKey>; 2],
    /// The sites are some of the sites of a catalogue.
    is_of_catalogue: bool,
}

impl<'s> Among<'s> {
    /// The sites `chosen` of the sites `named`.
    pub(in crate::settings) fn new(chosen: &'s [UrlKey], named: &'s [UrlKey]) -> Self {
        let twin = |urls: &'s [UrlKey]| {
            let mut hosts = BTreeSet::new();
            urls.iter().find(|url| !hosts.insert(url.host()))
        };
        Self {
            chosen,
            named,
            twins: [twin(chosen), twin(named)],
            is_of_catalogue: false,
        }
    }

    /// The sites `chosen` of the sites `named`, on their way into a catalogue.
    #[cfg(feature = "catalogue")]
    pub(in crate::settings) fn of_catalogue(chosen: &'s [UrlKey], named: &'s [UrlKey]) -> Self {
        Self {
            is_of_catalogue: true,
            ..Self::new(chosen, named)
        }
    }

    /// The sites of a settings file without a table of sites.
    pub(in crate::settings) fn alone(urls: &'s [UrlKey]) -> Self {
        Self::new(urls, urls)
    }

    /// Returns whether the chosen sites are on one origin.
    fn have_one_origin(self) -> bool {
        let mut pairs = self.chosen.windows(2);
        pairs.all(|pair| pair[0].origin() == pair[1].origin())
    }

    /// The sites that a value from `origin` applies to.
    pub(super) fn meant_by(self, origin: &Origin) -> &'s [UrlKey] {
        match origin {
            Origin::Flag(_) => self.chosen,
            Origin::Default | Origin::File { .. } | Origin::Variable(_) => self.named,
        }
    }

    /// Returns whether a value from `origin` has room for several sites. In a catalogue only a typed value is for one site: the place
    /// of a site does not depend on the number of sites in a file.
    pub(super) fn share(self, origin: &Origin) -> bool {
        let is_typed = matches!(origin, Origin::Flag(_));
        self.meant_by(origin).len() > 1 || self.is_of_catalogue && !is_typed
    }

    /// The first site that a value from `origin` applies to, and that is on the host of an earlier one.
    fn twin(self, origin: &Origin) -> Option<&'s UrlKey> {
        let [chosen, named] = self.twins;
        match origin {
            Origin::Flag(_) => chosen,
            Origin::Default | Origin::File { .. } | Origin::Variable(_) => named,
        }
    }
}

impl Merge {
    /// Leaves out places of the settings file that are meant for sites of other origins than that of `start`.
    pub(in crate::settings) fn leave_out_places_of_others(&mut self, start: &UrlKey) {
        let is_of_file = |name| matches!(self.origin(name), Origin::File { .. });
        let (of_site, of_url) = (is_of_file("publish_as"), is_of_file("public_url"));
        let config = &mut self.draft.config;
        let origin = start.origin();
        if of_site {
            let own = |url: &UrlKey| url.is_on(&origin);
            config.written_as = config.written_as.take().filter(own);
        }
        if of_url {
            let own =
                |url: &String| url.contains(HOST_PLACE) || url.starts_with(&format!("{origin}/"));
            config.publish.public_url = config.publish.public_url.take().filter(own);
        }
    }

    /// Values that make sense alone, but not with each other: for the sites `urls` `among` others.
    pub(super) fn check_together(&mut self, urls: &[UrlKey], among: Among<'_>) {
        if self.draft.basic_auth.is_some() && self.draft.bearer_token.is_some() {
            self.add_wrong(
                "bearer_token",
                "a request cannot have both bearer_token and basic_auth; remove one of them",
            );
        }
        self.check_places(urls, among);
        if !self.draft.settings.session.seeds.is_empty() && !self.draft.config.discover.list {
            self.add_wrong(
                "seeds",
                "the lists are not read, because discover does not have \"list\"",
            );
        }
        let discover = &self.draft.config.discover;
        if self.draft.settings.session.seeds.is_empty()
            && discover.list
            && !(discover.links || discover.sitemaps || discover.feeds)
        {
            self.add_wrong(
                "discover",
                "discover has only \"list\", but seeds has no list",
            );
        }
        if !among.have_one_origin() {
            self.check_what_is_of_one_site();
        }
    }

    /// Reports settings of one site that are written for several.
    fn check_what_is_of_one_site(&mut self) {
        const CREDENTIALS: &str = "several sites would get these credentials; write them into the table [[site]] of one site";
        let fetch = &self.draft.config.fetch;
        let mut headers = fetch.headers.iter();
        let of_one_site = [
            ("basic_auth", self.draft.basic_auth.is_some(), CREDENTIALS),
            (
                "bearer_token",
                self.draft.bearer_token.is_some(),
                CREDENTIALS,
            ),
            (
                "header",
                headers.any(|(name, _)| is_secret_header(name)),
                CREDENTIALS,
            ),
        ];
        for (name, is_given, message) in of_one_site {
            if is_given && !self.own.contains(name) {
                self.add_wrong(name, message);
            }
        }
    }

    /// Checks the URLs of the sites and the public ones.
    fn check_places(&mut self, urls: &[UrlKey], among: Among<'_>) {
        let public_url = self.draft.config.publish.public_url.as_deref();
        let public_url = public_url.filter(|_| !self.own.contains("public_url"));
        let twin = among.twin(&self.origin("public_url"));
        if let Some(url) = twin.filter(|_| public_url.is_some_and(is_one_for_a_host)) {
            self.add_wrong(
                "public_url",
                format!(
                    "several sites are on the host {}, and two sites cannot have the same directory; use {{site}} in place of {{host}}",
                    url.host()
                ),
            );
        }
        let Some(written_as) = self.draft.config.written_as.clone() else {
            return;
        };
        if among.chosen.len() > 1 && !self.own.contains("publish_as") {
            self.add_wrong(
                "publish_as",
                "several sites cannot be written as the same directory; write publish_as into the table [[site]] of one site",
            );
        } else if let Some(start) = urls.first()
            && self.draft.config.scope.width == ScopeWidth::Origin
            && start.to_directory().path() != "/"
        {
            // The directory of the scope is written as the other directory: a start in a directory does not mean the root.
            let directory = start.to_directory();
            let root = format!("{}/", start.origin());
            self.add_wrong(
                "publish_as",
                format!(
                    "the directory of the start URL, {directory}, is written as {written_as}, but the scope is all of {root}; \
                     set scope to \"dir\", or start at {root} and set publish_as to the directory that {root} is written as"
                ),
            );
        } else if let Some(start) = urls.first()
            && let Err(error) =
                settle_so_far(start, &[], self.draft.config.scope.width).standing_for(&written_as)
        {
            self.add_wrong("publish_as", error.to_string());
        }
    }

    /// Every glob alone, so that all wrong ones are reported.
    pub(super) fn check_globs(&mut self) {
        let Config { scope, publish, .. } = &self.draft.config;
        let scoped = [
            ("include", &scope.include),
            ("exclude", &scope.exclude),
            ("follow_only", &scope.follow_only),
            ("list_only", &scope.list_only),
        ];
        let scoped = scoped
            .into_iter()
            .flat_map(|(name, globs)| globs.iter().map(move |glob| (name, glob)));
        let changefreq = publish.entries.changefreq.iter();
        let priority = publish.entries.priority.iter();
        let sections = publish.sections.iter();
        let wrong: Vec<_> = changefreq
            .map(|rule| ("changefreq", &rule.pages))
            .chain(priority.map(|rule| ("priority", &rule.pages)))
            .chain(sections.map(|rule| ("section", &rule.pages)))
            .chain(scoped)
            .filter_map(|(name, glob)| {
                let problem = Pattern::parse(glob).err()?;
                Some((name, format!("\"{glob}\" {problem}")))
            })
            .collect();
        for (name, message) in wrong {
            self.add_wrong(name, message);
        }
    }

    pub(in crate::settings) fn warn_of_typed_secrets(&mut self) {
        let fetch = &self.draft.config.fetch;
        let header = fetch
            .headers
            .iter()
            .find(|(name, _)| is_secret_header(name));
        let header = header.map(|(name, _)| format!("the header {name}"));
        let has_secret = fetch.proxy.as_deref().is_some_and(has_user_info);
        let proxy = has_secret.then(|| "the proxy's password".to_owned());
        let catalogue = self.draft.settings.fleet.catalogue.as_deref();
        let catalogue = catalogue.is_some_and(has_password);
        let catalogue = catalogue.then(|| "the password of the catalogue".to_owned());
        let secrets = [
            ("header", header),
            ("proxy", proxy),
            ("catalogue", catalogue),
        ];
        for (setting, secret) in secrets {
            if let (Some(secret), Origin::Flag(_)) = (secret, self.origin(setting)) {
                self.warnings.push(format!(
                    "every user of this machine can see {secret} in the process list; write it into the settings file or the \
                     variable {VARIABLE_PREFIX}{}",
                    setting.to_ascii_uppercase()
                ));
            }
        }
    }
}
