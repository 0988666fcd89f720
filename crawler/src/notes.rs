//! Notes on a crawl that its numbers do not show: the summary prints each note as a sentence, its JSON has them as `notes`. All
//! codes and texts are in the table below; a new note is one row there, and one call where its condition is detected.

use std::fmt::Display;

use serde::Serialize;

use crate::url_key::UrlKey;

/// A note for the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// The code of the note, for scripts: stable, in kebab-case.
    pub code: &'static str,
    /// The number of URLs or things that the note is about, at least 1.
    pub count: u64,
    /// One of these: a URL or a value.
    pub example: Option<String>,
    /// Condition, effect and advice: one or two plain sentences without a full stop.
    pub text: String,
}

impl Note {
    fn new(code: &'static str, text: String) -> Self {
        Self {
            code,
            count: 1,
            example: None,
            text,
        }
    }

    /// The same note with this count.
    #[must_use]
    pub fn counting(self, count: u64) -> Self {
        Self { count, ..self }
    }

    /// Returns whether a summary begins with the note: what is missing, or crawled under another name, is said first.
    pub fn comes_first(&self) -> bool {
        [
            "canonicals-by-name",
            "canonical-unknown",
            "pages-behind-wall",
            "blocked",
            "blocked-in-part",
            "pages-may-be-missing",
            "pages-may-be-missing-beside-listed",
        ]
        .contains(&self.code)
    }

    /// The same note with an example.
    #[must_use]
    pub fn naming(self, example: &dyn Display) -> Self {
        Self {
            example: Some(example.to_string()),
            ..self
        }
    }
}

/// Each row makes a function `Note::name(arguments)`; the text takes the arguments by their names.
macro_rules! notes {
    ($($name:ident $code:literal ($($argument:ident),*) $text:literal;)*) => {
        impl Note {
            /// The code of every note.
            pub const CODES: &'static [&'static str] = &[$($code),*];

            $(
                #[doc = concat!("The note `", $code, "`.")]
                pub fn $name($($argument: &dyn Display),*) -> Self {
                    Self::new($code, format!($text))
                }
            )*
        }
    };
}

notes! {
    // Causes of a crawl that does not begin (exit 5).
    start_unreachable "start-unreachable" (cause, url)
        "{cause}. The crawl begins with {url}: check that the server runs, and its name and port";
    start_unresolved "start-unresolved" (cause)
        "{cause}: check the name, and that this machine resolves others";
    start_not_sent "start-not-sent" (cause)
        "{cause}";
    speaks_tls "speaks-tls" (server, url)
        "the server at {server} expects TLS: use {url}";
    speaks_plain_http "speaks-plain-http" (server, url)
        "the server at {server} expects plain http, not TLS: use {url}";
    tls_failed "tls-failed" (cause)
        "{cause}";
    robots_unreadable "robots-unreadable" (origin, why)
        "{why}; arpent fetches nothing of {origin} while its robots.txt cannot be read (RFC 9309)";
    host_closed "host-closed" (place, why)
        "{place} {why}";
    crawl_delay_too_long "crawl-delay-too-long" (origin, delay, seconds, most)
        "robots.txt of {origin} asks for one request every {delay} (Crawl-delay: {seconds}); arpent waits at most {most} \
         between two requests, so nothing is fetched there until robots.txt has a shorter delay";
    start_disallowed "start-disallowed" (url, origin, agent, advice)
        "{url} is disallowed by {origin}/robots.txt for user agent \"{agent}\"; {advice}";
    start_unauthorized "start-unauthorized" (url)
        "{url} answered 401: it requires a user name and a password, or a token. Set basic_auth or bearer_token in \
         the settings file, or ARPENT_BASIC_AUTH=user:password or ARPENT_BEARER_TOKEN in the environment";
    credentials_refused "credentials-refused" (url)
        "{url} answered 401: the server does not accept the credentials of the settings (basic_auth, bearer_token, header)";
    credentials_not_sent "credentials-not-sent" (url)
        "{url} answered 401: the credentials of the settings go to the host of the start URL only. Start the crawl with \
         this URL";
    start_forbidden "start-forbidden" (url, agent)
        "{url} answered 403: the server refuses arpent. Configure the server to allow the User-Agent \"{agent}\" or the \
         address of this machine, or try another --user-agent";
    start_blocked "start-blocked" (url, status, agent)
        "{url} answered {status} with a challenge for browsers, from a protection against programs (CDN, firewall). Allow the \
         User-Agent \"{agent}\", or the address of this machine, there";
    start_status "start-status" (url, status)
        "{url} answered {status}; a crawl begins at a page that answers 200: check the URL";
    start_fails "start-fails" (url, status)
        "{url} answered {status}: the server is in trouble, or gets too many requests. Try again later, or with a lower --rate";
    start_empty "start-empty" (url)
        "{url} answered 200 without content; a crawl needs a start page with content";
    start_without_answer "start-without-answer" (url)
        "max_time passed before {url} answered";
    start_leads_elsewhere "start-leads-elsewhere" (problem)
        "{problem}";
    start_redirect_unusable "start-redirect-unusable" (url, status)
        "{url} answered {status} without a usable Location";
    start_redirects_in_a_loop "start-redirect-loop" (url, most, hint)
        "{url} redirects in a loop, or more than {most} times{hint}";
    start_wants_cookies "start-wants-cookies" (url)
        "{url} redirects in a loop and sets a cookie: it requires a cookie that arpent does not send back (cookies = \"none\", or \
         a cookie of another host or of a script). Let the server answer this User-Agent without the cookie, or send the cookie with --header \"Cookie: name=value\"";

    // The place of the set.
    output_moved "output-moved" (old, new)
        "the set was published to {old} until now, and is in {new} from now on; the files in {old} are not updated any more";
    output_would_move "output-would-move" (old, new)
        "the set is published in {old}; a session that is no dry run would publish it in {new}, and not update {old} any more";

    // Unusual answers of the site.
    start_redirected "start-redirected" (typed, origin)
        "{typed} redirects to {origin}, so arpent crawls {origin}";
    robots_ignored "robots-unreadable-ignored" (why)
        "{why}; ignored because of --ignore robots";
    ignored "ignored" (effects)
        "ignoring {effects}. Use this for your own site only";
    waits_damaged "waits-damaged" (what)
        "{what}";
    start_noindex "start-noindex" (url)
        "the start page {url} has noindex, so it is not listed. If search engines are to show it, remove noindex from \
         its robots meta tag or its X-Robots-Tag header";
    start_nofollow "start-nofollow" (url)
        "the start page {url} has nofollow, so its links are not followed. Remove nofollow there, or name the pages in \
         a sitemap or with --seeds";
    start_is_shell "start-needs-javascript" (url, advice)
        "{url} has scripts, no links and little text: it seems to be rendered by JavaScript. {advice}";
    pages_are_shells "pages-need-javascript" (count, pages, advice)
        "{count} of {pages} pages have scripts, no links and little text: they seem to be rendered by JavaScript. {advice}";
    empty_roots "empty-application-root" (count, example, advice)
        "pages have an empty element for an application that scripts fill ({count}), e.g. {example}. {advice}";
    browser_ended "browser-ended" (why)
        "the browser that renders pages ended: {why}. The pages that are left are rendered by the next session";
    not_rendered "not-rendered" (count)
        "{count} could not be rendered, so links and text that scripts add to them are missing; the next crawl tries again";
    requests_not_sent "requests-not-sent" (count)
        "scripts wanted to send {count} with other methods than GET: arpent sends none, so what they show may be missing";
    clicks_not_followed "clicks-not-followed" (count, example)
        "{count} of rendered pages react to clicks without being links, e.g. on {example}: search engines follow links alone, and so does \
         arpent. Make them links, if they lead to pages";
    hash_routes "hash-routes" (count, example)
        "pages link to routes after a # ({count}), e.g. {example}: to search engines these are one page, and a sitemap lists none of \
         them. Give each route a path of its own";
    start_needs_cookies "start-needs-cookies" (url)
        "{url} answers only when the cookies that it sets are sent back, so arpent sends them with every request. Search engines \
         keep no cookies and may not get these pages: let the server answer without them";
    start_asks_for_password "start-asks-for-password" (url)
        "{url} has a password field. If the pages can be read only after that login, a crawl finds the login page alone: \
         let the server answer this User-Agent without it, or send a session with --header \"Cookie: name=value\"";
    links_lead_elsewhere "links-lead-elsewhere" (count, all, site, other)
        "{count} of {all} links on the start page lead to {other}, which is not part of the site {site}, so they are not \
         followed. Crawl {other}/, or use --publish-as {other}/ if {site} is a copy of it";
    links_leave_the_directory "links-leave-directory" (count, all, place, origin)
        "{count} of {all} links on the start page lead out of {place}, so they are not followed. --scope origin crawls \
         the whole of {origin}";
    canonicals_elsewhere "canonicals-elsewhere" (count, pages, other)
        "{count} of {pages} pages name a canonical URL on {other}, so they are not listed. If the crawled site is a copy of \
         {other}, use --publish-as {other}/; otherwise correct the canonical links";
    canonical_redirects_back "canonical-redirects-back" (count)
        "listed pages whose canonical URL redirects back to them, or differs in spelling alone and was not answered, count as \
         their own canonical URLs ({count}). Let the links name the URLs of the pages";
    canonicals_by_name "canonicals-by-name" (count, pages, name)
        "{count} of {pages} listed pages name {name} in their canonical links: crawl {name}/, so that the set has these URLs";
    gone_at_once "gone-at-once" (count, listed)
        "{count} of {listed} listed pages answered 404 and stay listed for now. Let them answer 200 if the site is in trouble; a 404 \
         in a crawl an hour or more after the first one is the end of a page";
    other_names "other-names" (site, names)
        "URLs in pages and sitemaps use other names of the site, and count as those of {site}: {names}";
    canonical_unknown "canonical-unknown" (count)
        "pages whose canonical links name URLs that arpent does not know are not listed ({count}): no file of the folder, or a URL \
         that was not recorded. Correct the links if the pages are to be listed";
    unauthorized "unauthorized" (count, pages)
        "{count} of {pages} pages answered 401: they require a user name and a password, or a token. Set basic_auth or \
         bearer_token in the settings file, or ARPENT_BASIC_AUTH or ARPENT_BEARER_TOKEN in the environment";
    mostly_noindex "mostly-noindex" (count, pages)
        "{count} of {pages} pages have noindex and are not in the published set. If they lead to no other page, exclude rules spare these requests";
    sibling_hosts "sibling-hosts" (hosts, first)
        "hosts of the same domain that pages link to are sites of their own: {hosts}. To crawl one: arpent crawl {first}/";
    forbidden "forbidden" (count, pages, agent)
        "{count} of {pages} pages answered 403: the server refuses arpent. Configure the server to allow the User-Agent \
         \"{agent}\" or the address of this machine, or try another --user-agent or a lower --rate";
    pages_behind_wall "pages-behind-wall" (count, path)
        "pages that redirect to {path}, which sets a cookie or asks for a password, are not listed ({count}). Let the server answer \
         them without a cookie, as search engines send none; cookies = \"session\" keeps the cookies of a crawl, and --header \
         \"Cookie: name=value\" sends a session";
    not_modified_distrusted "not-modified-distrusted" (url)
        "{url} changed, but the server answered not modified (304): arpent does not trust its answers 304 any more. All pages \
         of the site that such an answer confirmed are requested again in full, in this crawl and the next ones";
    not_modified_trusted "not-modified-trusted" ()
        "the answers not modified (304) of the server were correct again: arpent trusts them";

    place_cut "pages-may-be-missing" (missing, place, asked, glob)
        "{missing} may be missing: {place} goes on without end. Of {asked} pages there that arpent requested, few say anything new. \
         If the site needs none of them, exclude = ['{glob}'] ends it; close_patterns = false requests and lists everything";
    place_cut_with_listed "pages-may-be-missing-beside-listed" (missing, place, asked)
        "{missing} may be missing: {place} goes on without end. Of {asked} pages there that arpent requested, some are listed, so no \
         rule is proposed here; an exclude rule of yours ends it, and close_patterns = false requests and lists everything";
    parameters_left_out "parameters-left-out" (count, names)
        "URLs with parameters without effect were left out ({count}), because pages with and without them were the same: {names}. \
         close_patterns = false requests all of them; the setting drop_parameters leaves parameters out from the start";
    named_copies "named-copies" (count)
        "copies of other pages to the letter, under another spelling of the path, stay listed, because a sitemap or a list names \
         them ({count}). Let the copies redirect, or name one URL of each page";
    named_not_found_pages "named-not-found-pages" (count)
        "published pages, or pages that a sitemap or a list names, stay listed although they have the text of the site's answer to \
         URLs that do not exist ({count}). Let the server answer 404 for those that are gone";
    never_not_found "never-not-found" ()
        "the site answers 200 for URLs that do not exist. Pages with the content of that answer are left out, but for the start \
         page, published pages and those that a sitemap or a list names. Let the server answer 404 for such URLs";
    bound_reached "not-recorded" (setting)
        "{setting} is reached: further URLs are counted and not recorded; raise the setting, or leave parts of the site out \
         with --exclude";

    // Failures of the host.
    machine_at_fault "machine-at-fault" (cause)
        "{cause}: arpent tried again after a pause";
    host_slowed "host-slowed" (count, last)
        "the crawl slowed down or paused after failures (times: {count}); the last failure: {last}";
    blocked "blocked" (start)
        "{start} answered with a challenge of a protection against programs, also after a wait, so the rest of the site was not requested. Allow the User-Agent of arpent, or the address of this machine, in the protection (CDN, firewall); the next crawl goes on";
    blocked_in_part "blocked-in-part" (directories)
        "ten answers in a row were challenges of a protection against programs, so the rest of {directories} was not requested. Allow the \
         User-Agent of arpent, or the address of this machine, in the protection (CDN, firewall)";
    given_up "given-up" (what, last)
        "pages fail ({last}) while the start page answers: {what} is not requested in this crawl and counts as failed";
    retry_after_long "retry-after-long" (url, status, date, count)
        "{url} answered {status} and asks for no request before {date} (Retry-After; such answers: {count}); the URL counts \
         as failed, and the next crawl requests it. For your own site: --ignore retry-after";

    // Effects of the settings.
    rule_without_match "rule-without-match" (setting, rule, known, hint)
        "the {setting} rule `{rule}` matches none of {known} URLs{hint}";
    rules_left_all_out "rules-left-all-out" (count, example)
        "the include and exclude rules leave out all {count} URLs that the crawl found besides the start URL, e.g. {example}";
    sitemaps_excluded "sitemaps-excluded" (count)
        "sitemaps and feeds that exclude rules match are not read: {count}";
    robots_sitemaps_left_out "robots-sitemaps-left-out" (count, most)
        "robots.txt names {count} sitemaps; the first {most} are read";
    feeds_left_out "feeds-left-out" (count, most)
        "the pages name more feeds than the {most} that a session reads: {count} more";

    // Unusual values in the set.
    clocks_apart "clocks-apart" (ours, host)
        "the clock of this machine shows {ours}, the clock of the host {host}: changed pages have no lastmod until the two clocks agree";
    entry_left_out "entry-left-out" (why)
        "left out, because a sitemap may not contain it: {why}";
    entries_left_out "entries-left-out" (count)
        "more entries are left out for such a reason: {count}";
    same_priority "same-priority" (priority, or_none)
        "every page has the priority {priority}{or_none}, which has no effect: search engines compare priorities within one \
         site only";
    restless_changefreq "restless-changefreq" ()
        "every page has the changefreq always or hourly, which search engines do not trust";
    last_modified_shared "last-modified-shared" (pages)
        "{pages} pages share one Last-Modified, perhaps a deploy; lastmod = \"none\" leaves it out";
    feed_empty "feed-empty" ()
        "no page has a lastmod, so there is no feed of recent changes: a feed lists pages with the time of their change";
    section_empty "section-empty" (section)
        "no listed page is in the section {section}, so it has no sitemap";
    file_backed_up "file-backed-up" (file, backup)
        "{file} was not written by arpent, or was changed since; it was replaced, and is kept as {backup}";

    // Unusual inputs of a build.
    bytes_after_compressed "bytes-after-compressed" (name)
        "{name}: bytes that are not compressed follow the compressed ones; they are left out";
    rows_left_out "rows-left-out" (name, count)
        "{name}: rows with another status than 200, or of what is not indexable or no page, are left out: {count}";
    fields_unused "fields-unused" (name, fields)
        "{name}: the fields {fields} are unknown and not used";
    links_out_of_folder "links-out-of-folder" (folder, count)
        "{folder}: symbolic links that lead out of the folder, or in circles, are not followed: {count}";
    source_folders "source-folders" (folder, count)
        "{folder}: folders named _includes, _layouts or node_modules are not read, because a site publishes no pages from them: {count}";
    file_names_too_long "file-names-too-long" (first, others)
        "{first}{others} left out: the URL would be longer than 2,047 characters";
    robots_file_not_obeyed "robots-file-not-obeyed" (file, origin)
        "{file} is not obeyed: crawlers read only the robots.txt at the root of {origin} (RFC 9309 section 2.3)";
    file_times_unused "file-times-unused" (folder, at_once, files, minutes)
        "{folder}: {at_once} of {files} pages were written within {minutes} minutes, as by a checkout or a build; the \
         times of the files are not used as lastmod";
}

/// The advice for pages that scripts fill; `is_offered`: there is a browser that could render them.
pub(crate) fn script_advice(is_offered: bool) -> &'static str {
    if is_offered {
        "--render auto runs their scripts in a browser; without it pages that only scripts link to are missing, unless a sitemap or \
         --seeds names them"
    } else {
        "arpent runs no scripts, so pages that only scripts link to are missing, unless a sitemap or --seeds names them"
    }
}

/// A count with its first example.
#[derive(Debug, Default)]
pub(crate) struct ExampleCount {
    /// How many.
    pub(crate) count: u64,
    /// The first of them.
    pub(crate) example: Option<UrlKey>,
}

impl ExampleCount {
    /// Counts `url`.
    pub(crate) fn add(&mut self, url: &UrlKey) {
        self.count += 1;
        self.example.get_or_insert_with(|| url.clone());
    }

    /// `note` about them, if they are more than half of `all`.
    pub(crate) fn note_of_most(
        &self,
        all: u64,
        note: impl FnOnce(&String) -> Note,
    ) -> Option<Note> {
        (self.count * 2 > all).then(|| self.note(note(&grouped(self.count))))
    }

    /// `note` about them, if there are any.
    pub(crate) fn note_of_any(&self, note: impl FnOnce(&String) -> Note) -> Option<Note> {
        (self.count > 0).then(|| self.note(note(&grouped(self.count))))
    }

    /// The same note with the count and the example.
    pub(crate) fn note(&self, note: Note) -> Note {
        let note = note.counting(self.count);
        match &self.example {
            Some(example) => note.naming(example),
            None => note,
        }
    }
}

/// A number with commas between its thousands.
pub(crate) fn grouped(number: u64) -> String {
    let mut text = number.to_string();
    let mut end = text.len();
    while end > 3 {
        end -= 3;
        text.insert(end, ',');
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn codes_are_unique_and_in_kebab_case() {
        let is_word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase());
        assert!(Note::CODES.iter().all(|code| code.split('-').all(is_word)));
        let distinct: BTreeSet<_> = Note::CODES.iter().collect();
        assert_eq!(distinct.len(), Note::CODES.len());
    }

    #[test]
    fn a_note_is_an_object_with_four_keys() {
        let note = Note::feeds_left_out(&7, &50).counting(7).naming(&"/a");
        assert_eq!(
            serde_json::to_string(&note).unwrap(),
            concat!(
                r#"{"code":"feeds-left-out","count":7,"example":"/a","#,
                r#""text":"the pages name more feeds than the 50 that a session reads: 7 more"}"#
            )
        );
    }
}
