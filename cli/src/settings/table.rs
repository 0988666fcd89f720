//! The table of settings: one row for each, with its documentation, its default, its reader and its option. The name is the key in a table
//! of the settings file; the option is `--` and the name with `-` for `_`; the variable is `ARPENT_` and the name in capitals.
//! `config/default.toml`, the help and the guide are made from the rows.

use std::{net::SocketAddr, time::Duration};

use crawler::{
    IS_FOR_TESTS,
    config::{
        CookieUse, DiscoverConfig, FileDates, HtmlSuffix, IgnoreConfig, IndexMode, InputFormat,
        Layout, Rate, ScopeWidth, Share,
    },
    schedule,
    url_key::Normalize,
};
use jiff::tz::TimeZone;

use super::{
    LogFormat, StopTimeout,
    draft::Draft,
    fleet, notify,
    options::{
        ADD, AUDIT, BUILD, CATALOGUE, CHECK, CRAWL, DAEMON, DIFF, FORGET, NOTIFIED, NOTIFY, PAGE,
        PAUSE, PUBLISH, REQUESTS, SETS, STATES, SettingOption, option,
    },
    output, request, units,
    value::{
        Read, Value, Wrong, count, count_or_unlimited, duration, filled, list, non_zero,
        optional_path, optional_text, size, small_count, switch, switches, text, time_out, word,
    },
};

/// A setting.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting {
    /// The name everywhere.
    pub(crate) name: &'static str,
    /// The table of the file that it is in; empty: above all tables.
    pub(crate) table: &'static str,
    /// The documentation, by lines.
    pub(crate) docs: &'static [&'static str],
    /// The default, as TOML.
    pub(crate) default: &'static str,
    specials: &'static [Special],
    /// The option.
    pub(crate) option: Option<SettingOption>,
    /// Reads a value into the draft.
    pub(crate) read: fn(&mut Draft, &Value) -> Read<()>,
}

/// A table of the settings file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Table {
    /// The name; empty: what is above all tables.
    pub(crate) name: &'static str,
    /// The title in the documentation.
    pub(crate) title: &'static str,
    /// What holds for all of its settings, by lines.
    pub(crate) about: &'static [&'static str],
}

/// Special properties of a setting. A setting that is neither of the program nor of builds is about a site and may be in the
/// table of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Special {
    /// Most users need it: the documentation names it first.
    Common,
    /// The setting is about the program with all its sites.
    Program,
    /// The setting is about `arpent build`.
    Build,
    /// The file may name the place of its value instead.
    Secret,
    /// The setting holds several values: a list in the file, an option that is repeated, a variable with one value per line.
    List,
    /// An option of the command line alone.
    Option,
    /// No variable has it: a forgotten one would reach other sites.
    NoVariable,
    /// A constant, of which a program that was built for tests takes another value.
    Testing,
}

impl Setting {
    /// Returns whether this is special about it.
    pub(crate) fn is(&self, special: Special) -> bool {
        self.specials.contains(&special)
    }

    /// Returns whether a settings file has it.
    pub(crate) fn is_in_files(&self) -> bool {
        !self.is(Special::Option) && !self.is(Special::Testing)
    }
}

impl Table {
    /// The settings of files in it: those that most users need, and the others.
    pub(crate) fn settings(&self) -> [Vec<&'static Setting>; 2] {
        let all = SETTINGS.iter();
        let all = all.filter(|setting| setting.table == self.name && setting.is_in_files());
        let (common, advanced) = all.partition(|setting| setting.is(Special::Common));
        [common, advanced]
    }
}

/// Each row has the documentation of a setting, its name, its default as the file has it, its special properties, the field of the draft
/// that it fills, its reader, and its option, if commands have one. The tables have their titles.
macro_rules! settings {
    ($($(#[doc = $about:literal])* $table:literal $title:literal { $(
        $(#[doc = $docs:literal])*
        $name:literal = $default:literal $([$($special:ident)*])? $($field:ident).+: $read:expr $(, $option:expr)?;
    )* })*) => {
        /// Every setting but the page rules and namespaces, in the order of `config/default.toml`.
        pub(crate) const SETTINGS: &[Setting] = &[
            $($(Setting {
                name: $name,
                table: $table,
                docs: &[$($docs),*],
                default: $default,
                specials: &[$($(Special::$special),*)?],
                option: first(&[$($option)?]),
                read: |draft, value| {
                    draft.$($field).+ = ($read)(value)?;
                    Ok(())
                },
            }),*),*
        ];

        /// The tables of the settings file that have settings.
        pub(crate) const TABLES: &[Table] = &[$(Table {
            name: $table,
            title: $title,
            about: &[$($about),*],
        }),*];
    };
}

/// The option of a row, if it has one.
const fn first(options: &[SettingOption]) -> Option<SettingOption> {
    match options {
        [option, ..] => Some(*option),
        [] => None,
    }
}

settings! {
    "" "Sites" {
        /// Start URLs of the sites. A crawl covers the directory of its start URL and everything below it:
        /// "https://www.example.com/docs/" means /docs/. A URL on the command line selects the site that covers it, or is
        /// another site. For a site with its own settings write a table [[site]], see the end of this file.
        "urls" = "[]" [Program List Common] urls: |value| list(value, |item| filled(item, "a URL"));

        /// Number of sites that are crawled at the same time, from 1 to 1000. arpent never crawls two sites on one
        /// host at the same time.
        "max_sites" = "4" [Program Common] max_sites: |value| non_zero(value, 1_000).map(Some);

        /// Schedule by which `arpent daemon` crawls each site. Five fields as in a crontab (minute, hour, day of
        /// month, month, day of week): "30 2 * * *" is 02:30 each night. Or @hourly, @daily, @weekly, @monthly.
        /// Empty: no schedule.
        "schedule" = r#""""# [Common] schedule:
            |value| optional_text(value, "a cron expression such as \"30 2 * * *\""),
            option(ADD, "CRON", "Schedule of the crawls, such as \"30 2 * * *\"");

        /// Time zone of the schedule, for example "Europe/Paris".
        "time_zone" = r#""UTC""# [Common] settings.session.time_zone: |value| time_zone(value).map(Some);

        /// Longest delay of a crawl after the time of its schedule. Each site has its own delay, so that not all
        /// crawls start at once. The delay is at most a tenth of the time to the next crawl.
        "jitter" = r#""0s""# jitter: duration;
    }
    "output" "Output" {
        /// Folder of the sitemaps. Empty: sitemaps/<site>. With several sites, each site gets its own folder
        /// <site> in it, for example https_www.example.com_docs. The same folder is used when only one of the sites of
        /// a file is crawled. A typed URL that the file does not have is one more site.
        /// Or object storage: "s3://BUCKET/PREFIX", "gs://BUCKET/PREFIX" or "az://CONTAINER/PREFIX". arpent reads keys of the storage
        /// from the environment only (AWS_*, GOOGLE_*, AZURE_*). Packages have it; a build needs --features cloud.
        "output" = r#""""# [Common] settings.session.output: output::place,
            option(CRAWL | PUBLISH | BUILD | ADD, "DIR", "Folder or bucket of the sitemaps [default: sitemaps/SITE]").short('o');

        /// Folder of the states, with one SQLite file <site>.db for each site. The state has the history that lastmod
        /// needs, and lets arpent continue a crawl. Empty: arpent/ in $XDG_STATE_HOME or ~/.local/state (macOS:
        /// ~/Library/Application Support, Windows: %LOCALAPPDATA%).
        "state" = r#""""# [Common] state: optional_path,
            option(STATES, "DIR", "Folder of the states, one SQLite file per site [default: arpent/ in the platform's state directory]").rare();

        /// URL of the directory where the sitemaps will be served. Empty: the directory of the site.
        /// On the origin of the site, a sitemap may list only URLs below its own directory, so this directory must
        /// cover the crawl. On another origin (host, port or scheme), robots.txt of the site must name the sitemap;
        /// the summary prints the line.
        /// {site} is replaced by the name of the site's folder, {host} by its host. With several sites and no
        /// placeholder, arpent adds {site}: "https://maps.example.net/" means
        /// "https://maps.example.net/https_www.example.com/" and so on.
        "public_url" = r#""""# [Common] config.publish.public_url: request::public_url,
            option(CRAWL | PUBLISH | BUILD, "URL", "URL of the sitemaps [default: the site's directory]");

        /// URL of the directory that the site is written as: crawl a staging copy, list production. Empty: the
        /// site itself. The directory of the start URL is written as this directory. With scope = "origin" the start
        /// URL has to be in the root of its host.
        /// Canonical links, alternates, links and redirects that name production mean the page of the staging copy.
        /// arpent sends no request to production. Globs (include, page rules ...) match the crawled URLs. The name
        /// of the folder and public_url belong to production.
        "publish_as" = r#""""# [Common] config.written_as: request::written_as,
            option(CRAWL | PUBLISH, "URL", "Crawl a staging copy, and write its URLs as URLs of production, below this URL").rare();

        /// Places of the files. "root": every file in the root of the output (sitemap.blog.2026.xml.gz). "in-place":
        /// each file inside the directory that it lists (blog/2026/sitemap.xml.gz). Use "in-place" if directories
        /// have different owners. A directory whose name begins with a dot, or ends like a file (.txt, .xml, .html,
        /// .php ...), gets no file; the file of its parent directory lists it.
        /// Names: a dot joins directories: /jdk/java.base/ has sitemap.jdk.java.base.xml.gz. A file name keeps letters,
        /// digits, "-", "_" and "." of the directory; any other byte becomes "_" and two hexadecimal digits. If another
        /// directory has or had the same name (ignoring case), the name ends in "_x" and 16 digits of a hash.
        "layout" = r#""root""# [Common] config.publish.layout:
            |value| word(value, &[("root", Layout::Root), ("in-place", Layout::InPlace)]),
            option(SETS, "root|in-place", "Write each file into the root of the output, or into the directory that it lists [default: root]").rare();

        /// "always": sitemap.xml is an index. "auto": sitemap.xml lists the pages itself while they need only one file
        /// (file_entries, 10 MB). Use "auto" for a small site.
        "index" = r#""always""# config.publish.index:
            |value| word(value, &[("always", IndexMode::Always), ("auto", IndexMode::Auto)]),
            option(SETS, "always|auto", "Write an index always, or only if one file is not enough [default: always]").rare();

        /// Name of the index, or of the only sitemap, for a site whose other program writes sitemap.xml itself. It ends with .xml; further
        /// indexes have a number.
        "index_name" = r#""sitemap.xml""# config.publish.index_name: output::index_name;

        /// Formats, one or more. "xml": sitemaps. "txt": the same files as lists of URLs, sitemap.blog.txt.gz beside
        /// sitemap.blog.xml.gz; without "xml" the index names the lists. "rss", "atom": a feed of recent changes,
        /// sitemap-recent.rss and sitemap-recent.atom, with pages that have a lastmod; the index names it. "html": sitemap.html, a page
        /// for visitors, 5,000 links in each file. "llms": llms.txt with the first 5,000 pages. "xml" or "txt" is required.
        "format" = r#"["xml"]"# [List] config.publish.formats: output::formats,
            option(SETS, "FORMATS", "Formats: xml, txt (URLs), rss, atom (recent changes), html (for visitors), llms (llms.txt) [default: xml]").rare();

        /// Write plain .xml and .txt files instead of .xml.gz and .txt.gz.
        "no_gzip" = "false" config.publish.gzip: |value| switch(value).map(|on| !on),
            option(SETS, "", "Do not compress the sitemap files").rare();

        /// Use of file times and Last-Modified. "mtime": lastmod may come from Last-Modified of the answer, or for
        /// folders of `arpent build` from the time of the file. File times are not used when most files of the folder
        /// were written at once, for example by a checkout. "none": lastmod comes only from the pages, from the
        /// sitemaps of the site, and from changes that a crawl saw.
        "lastmod" = r#""mtime""# config.publish.lastmod:
            |value| word(value, &[("mtime", FileDates::Mtime), ("none", FileDates::None)]),
            option(BUILD, "mtime|none", "Use the time of a file as the lastmod of its page, if it is plausible; or never [default: mtime]").rare();

        /// Change frequency of the pages that match a glob, ["/news/*=daily", "/archive/*=never"]: always, hourly,
        /// daily, weekly, monthly, yearly or never. The first glob that matches decides (see [scope] for globs).
        /// Search engines mostly ignore this value, so the default is none.
        "changefreq" = "[]" [List] config.publish.entries.changefreq: output::changefreq,
            option(SETS, "GLOB=V", "Write this changefreq for matching pages, e.g. '/news/*=daily' (repeatable)").rare();

        /// Priority of the pages that match a glob, ["/shop/*=0.8", "/tags/*=0.2"]: from 0.0 to 1.0 in steps of 0.1.
        /// The first glob that matches decides. A page without a priority counts as 0.5.
        "priority" = "[]" [List] config.publish.entries.priority: output::priority,
            option(SETS, "GLOB=V", "Write this priority for matching pages, e.g. '/shop/*=0.8' (repeatable)").rare();

        /// Extensions that arpent writes, ["images", "hreflang", "news", "video"].
        /// "images": images of each page. "hreflang": versions in other languages; both pages must name each other and
        /// be listed. "news": news articles (NewsArticle in JSON-LD), for two days, in sitemap-news.xml.gz. "video":
        /// videos (VideoObject in JSON-LD, otherwise og:video).
        /// After a change of this setting, an unfinished crawl fetches the pages again that it has read; otherwise the
        /// next crawl does.
        "with" = "[]" [List Common] config.publish.extensions: output::extensions,
            option(SETS, "WHAT", "Add images, hreflang, news, video (comma-separated)");

        /// Write the places of the schemas (xsi:schemaLocation) into each file. Search engines ignore it. Set it if a
        /// validator needs it.
        "schema_location" = "false" [Option] config.publish.schema_location: switch,
            option(SETS, "", "Write xsi:schemaLocation into each file, for validators that need it").rare();

        /// Sitemaps with names, ["/shop/**=shop", "*.pdf=papers"]. Pages that match a glob are listed in
        /// sitemap-shop.xml.gz, and in no other sitemap. The first glob that matches decides; several globs may have one
        /// name. Pages that match no glob are listed in the sitemaps of their directories.
        /// If one file is too small, the pages are divided by directories and then by characters
        /// (sitemap-shop.shop.2026.xml.gz). With layout = "in-place" the file is in the directory that its globs share
        /// (shop/sitemap-shop.xml.gz). A name has up to 40 letters a to z, digits and -; root, recent and news are
        /// reserved. At most 100 names.
        "section" = "[]" [List] config.publish.sections: output::sections,
            option(SETS, "GLOB=NAME", "List matching pages in a sitemap with this name, e.g. '/shop/**=shop' (repeatable)").rare();

        /// Number of URLs from which a first-level directory gets its own file. With a lower number there are more and
        /// smaller files, and a change rewrites fewer bytes.
        "min_section" = "100" config.publish.min_section: positive;

        /// Target number of entries of a file. At most 50,000 (protocol). A lower number means that search engines fetch
        /// fewer bytes again after a change.
        "file_entries" = "10000" config.publish.file_entries: entries;

        /// ACL of the objects in object storage, for example "public-read". Empty: the one of the bucket. Not for Azure.
        "object_acl" = r#""""# config.publish.object_acl:
            |value| optional_text(value, "an ACL such as \"public-read\"");

        /// Headers of the objects in object storage, for the objects whose names match the glob, for example
        /// "*.xml.gz=Content-Type: application/x-gzip". If several globs match, the last one counts for each header. Without a rule, the
        /// Content-Type follows the ending of the name, and Cache-Control is max-age=300.
        "object_headers" = "[]" [List] config.publish.object_headers: output::object_headers;

        /// Permissions of the published files, octal as for chmod: "0644" lets everybody read them, "0640" only their
        /// group. New folders get the matching permissions, and existing files are changed, too. Empty: by the umask of
        /// the process. Not on Windows.
        "file_mode" = r#""""# config.publish.file_mode: output::file_mode,
            option(SETS, "OCTAL", "Permissions of the published files, e.g. 0640 [default: by the umask]").rare();

        /// Group of the published files and of new folders, by name or number: "www-data". The user that runs arpent has
        /// to be in this group. Empty: the group of the process. Not on Windows.
        "file_group" = r#""""# config.publish.file_group: output::file_group,
            option(SETS, "GROUP", "Group of the published files, by name or number [default: the group of the process]").rare();
    }
    /// The guard compares the new set with the set that was published when the crawl began. If it refuses the new set,
    /// the published sitemaps stay (exit code 4), until a later crawl passes or --force publishes. Shares are
    /// from 0 to 1.
    "guard" "Guard" {
        /// Lowest share of the published URLs that a new set lists. The guard does not refuse if fewer than 20 URLs are
        /// missing and more than half are left. URLs that the settings exclude are not counted as missing. 0: no limit.
        "min_listed_share" = "0.8" config.publish.guard.min_listed_share: share;

        /// Highest share of the requested URLs that fail (network, 5xx, 401, 403), if at least 20 fail. 1: no limit.
        "max_error_share" = "0.5" config.publish.guard.max_error_share: share;

        /// Highest share of the published pages that answered and now have the same main text, the same redirect target,
        /// or the same title with a password field, if at least five do. Reasons are a login page, a parked domain or
        /// maintenance. 1: no limit.
        "max_alike_share" = "0.3" config.publish.guard.max_alike_share: share;

        /// Highest growth. The guard refuses a new set that has more than this many times the URLs of a complete crawl, and at
        /// least 1,000 more, for example because of endless pages. Or "unlimited".
        "max_growth" = "5" config.publish.guard.max_growth: factor_or_unlimited;

        /// Share of the listed and failed URLs that may fail in a crawl that counts as whole. With more failures the crawl is
        /// partial (exit code 3). Published pages that fail stay listed meanwhile.
        "partial_above" = "0" config.publish.guard.partial_above: share;

        /// Publish although the guard refuses, and replace files of other programs after a backup.
        "force" = "false" [Option] config.publish.force: switch,
            option(SETS, "", "Publish even if the guard refuses, and replace files of other programs after a backup").rare_in(CRAWL | BUILD);

        /// Crawl and plan the sitemaps, but write no files.
        "dry_run" = "false" [Option] settings.session.dry_run: switch,
            option(SETS | NOTIFY | FORGET, "", "Change nothing; print what would be done").short('n');
    }
    /// These settings apply to each host, and to every request to it. arpent halves rate and concurrency when 3 of the
    /// last 10 pages failed (429, 5xx, time-outs, broken connections), or when answers take twice as long. After
    /// 10 s with 3 good answers it doubles them again. arpent obeys Retry-After and Crawl-delay (up to 1 h).
    "politeness" "Politeness" {
        /// Highest rate, in requests per second. From one a day to 1000000, or "unlimited". Use "unlimited" only for your
        /// own machines.
        "rate" = "10" [Common] config.politeness.rate: rate,
            option(REQUESTS, "N|unlimited", "Requests per second and host, at most [default: 10]");

        /// Highest number of requests in flight. From 1 to 1000.
        "concurrency" = "4" [Common] config.politeness.concurrency: |value| non_zero(value, 1_000),
            option(CRAWL, "N", "Requests in flight per host, at most [default: 4]").rare();

        /// If not 0: arpent sends one request at a time, and waits this long after the end of each answer. Crawl-delay of
        /// robots.txt has the same effect; the larger value is used.
        "delay" = r#""0s""# [Common] config.politeness.delay:
            |value| duration(value).map(|delay| Some(delay).filter(|delay| !delay.is_zero())),
            option(REQUESTS, "T", "Send one request at a time, and wait this long after each answer, e.g. 2s").rare();

        /// Longest Retry-After that makes arpent pause the host. A longer Retry-After defers only its URL, to the next
        /// crawl. arpent stops requests to the host until that time (at most 24 h) in two cases: robots.txt or the start
        /// page has the longer Retry-After; or 5 URLs, and more than half of the last 10 answers, have one.
        "max_retry_after" = r#""120s""# config.politeness.max_retry_after: duration;

        /// Highest number of requests in flight to all hosts together; fewer where the process may not open so many files.
        /// From 1 to 10000.
        "max_in_flight" = "64" [Program] config.politeness.max_in_flight: |value| non_zero(value, 10_000);
    }
    "discovery" "Discovery" {
        /// Sources of URLs. "links": links on pages. "sitemaps": the sitemaps that robots.txt names, or /sitemap.xml if it
        /// names none; sitemaps that arpent published are ignored. "feeds": RSS and Atom feeds that the pages name. "list":
        /// the files of seeds. All URLs are judged by the same rules. Redirects and canonical links are always followed.
        "discover" = r#"["links", "sitemaps", "feeds", "list"]"# [List] config.discover: sources,
            option(CRAWL, "SOURCES", "Sources of URLs [default: links,sitemaps,feeds,list]").rare();

        /// Files with more URLs to crawl; "-" is standard input. A file has one absolute URL per line, or is a table (CSV),
        /// a sitemap or a feed. URLs outside of the scope are only counted.
        "seeds" = "[]" [List Common] settings.session.seeds:
            |value| list(value, |item| filled(item, "a file, or - for standard input")),
            option(CRAWL, "FILE|-", "Also crawl the URLs in this file; - is standard input");
    }
    /// Globs: * matches any characters (slashes too), ? one character, [a-z] one of these characters, {a,b} one of
    /// these texts. A glob that begins with http:// or https:// is compared with the whole URL, any other glob with path
    /// and query. The whole text must match: "/private/*", "*.pdf", "*[?]print=*" ([?] is a question mark).
    /// If several globs match, the first of these decides: exclude, follow_only, list_only, include.
    "scope" "Scope" {
        /// "dir": the directory of the start URL. "origin": the whole origin of the start URL.
        "scope" = r#""dir""# [Common] config.scope.width:
            |value| word(value, &[("dir", ScopeWidth::Directory), ("origin", ScopeWidth::Origin)]),
            option(CRAWL, "dir|origin", "Crawl the directory of the URL, or its whole origin [default: dir]").rare();

        /// If not empty: arpent fetches and lists only URLs that match one of these globs.
        "include" = "[]" [List Common] config.scope.include: globs,
            option(SETS, "GLOB", "Fetch and list only URLs that match (repeatable)").short('i');

        /// URLs that arpent neither fetches nor lists.
        "exclude" = "[]" [List Common] config.scope.exclude: globs,
            option(SETS, "GLOB", "Neither fetch nor list URLs that match (repeatable)").short('x');

        /// URLs that arpent fetches for their links, but does not list: archives, tag pages.
        "follow_only" = "[]" [List] config.scope.follow_only: globs,
            option(CRAWL, "GLOB", "Fetch matching URLs for their links, but do not list them (repeatable)").rare();

        /// URLs that arpent lists without fetching them: large files that are known to be good.
        "list_only" = "[]" [List] config.scope.list_only: globs,
            option(CRAWL, "GLOB", "List matching URLs without fetching them (repeatable)").rare();

        /// Follow links that log out, delete, remove, unsubscribe, add to a cart or carry a nonce, although requests carry
        /// credentials or cookies of yours. URLs that are published, or that a sitemap or a list names, are always requested.
        "follow_actions" = "false" config.scope.follow_actions: switch;

        /// Rules of the site that arpent ignores. Use it for your own site only. The crawl and its summary print a warning.
        /// "robots": arpent fetches and lists URLs that robots.txt disallows, and continues if robots.txt cannot be read.
        /// "noindex": arpent lists pages with noindex, or past unavailable_after. "canonical": arpent lists pages that name
        /// another canonical URL. "nofollow": arpent follows links marked nofollow, ugc or sponsored. "retry-after": arpent ignores
        /// Retry-After, also of earlier sessions. Crawl-delay and the nofollow of a whole page are obeyed in any case. There is no
        /// variable for this setting.
        "ignore" = "[]" [List NoVariable] config.ignore: ignored,
            option(CRAWL | PUBLISH, "RULES", "Ignore these rules of your own site: robots, noindex, canonical, nofollow, retry-after (repeatable)").rare();
    }
    "identity" "Identity" {
        /// Query parameters that arpent removes from every URL, ignoring case. A * at the end matches a prefix. The defaults
        /// are parameters that analytics, advertising and mail tools add to links.
        "drop_parameters" = r#"[
    "utm_*", "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "fbclid", "msclkid", "ttclid", "twclid",
    "yclid", "igshid", "mc_cid", "mc_eid", "_ga", "_gl", "_hsenc", "_hsmi", "mkt_tok", "srsltid",
    "vero_id", "s_cid", "oly_enc_id", "oly_anon_id",
]"# [List Common] config.identity.drop_parameters: parameters;

        /// Session ids that arpent removes from queries and paths (;jsessionid=). Names joined by + are removed only
        /// together. A name that ends with = is removed if its value has at least 16 letters and digits. A name that
        /// begins with ( is a segment of a path.
        "drop_sessions" = r#"[
    "jsessionid", "phpsessid", "aspsessionid*", "cfid+cftoken", "(s(*", "sid=", "sessionid=", "session_id=", "session=",
]"# [List] config.identity.drop_sessions: parameters;

        /// More differences between URLs of one page that arpent ignores, ["slashes", "index-pages"]. Name those that your server
        /// ignores, too. "slashes": // in a path is one slash. "parameter-order": query parameters are sorted by name.
        /// "empty-parameters": empty query parameters (&&) are removed. "index-pages": index.html and similar names at the end of
        /// a path are removed.
        "normalize" = "[]" [List] config.identity.normalize: normalize;
    }
    /// max_pages and max_time end a session early: it is partial (exit code 3), and the same command continues the crawl.
    "limits" "Limits" {
        /// Highest number of fetched pages in one session, without further tries.
        "max_pages" = "1000000" [Common] config.limits.max_pages: positive,
            option(CRAWL, "N", "Stop after N pages [default: 1000000]");

        /// Longest time of one session.
        "max_time" = r#""24h""# [Common] config.limits.max_time: time_out,
            option(CRAWL, "T", "Stop after this time; the same command continues [default: 24h]").rare();

        /// Highest number of links between the start URL and a page. Deeper URLs are known, but not fetched. A number, or
        /// "unlimited".
        "max_depth" = r#""unlimited""# config.limits.max_depth: count_or_unlimited,
            option(CRAWL, "N", "Fetch only pages that are at most N links from the start [default: unlimited]").rare();

        /// Highest number of URLs that one crawl knows, over all its sessions. Further links are counted (not-recorded) and
        /// left out, which makes the crawl partial. Known URLs are still fetched, and published URLs stay.
        "max_known_urls" = "10000000" config.limits.max_known_urls: positive;

        /// Highest size of the state, from 1 MiB to 8192 GiB. While the state is larger, new links are left out in the same
        /// way.
        "max_state_bytes" = r#""4 GiB""# config.limits.max_state_bytes:
            |value| size(value, 1 << 20..=1 << 43, "from 1 MiB to 8192 GiB");

        /// Number of tries per URL, with the first one. From 1 to 100. Only temporary failures are tried again.
        "max_tries" = "3" config.limits.max_tries: |value| small_count(value, 1..=100);

        /// Time that a listed page stays listed while it cannot be fetched (network, 5xx, 401, 403, a truncated body), from
        /// the first failure. It keeps its lastmod. "0s": the page leaves the sitemap at once.
        /// A page with 404 leaves the sitemap when it has 404 again at least an hour later. 410, noindex and redirects
        /// count at once.
        "keep_failing" = r#""30d""# config.removal.keep_failing: duration;
    }
    /// Pages that only a script can show. A browser, Chromium, runs their scripts, and arpent answers what they ask for: with requests of
    /// its own, under the same rules. Packages have it; a build needs --features render, and both need the Chromium of the system.
    "rendering" "Rendering" {
        /// "never": arpent runs no scripts. "auto": the start page, pages without content of their own, and 3 of each group of pages (first
        /// directory, number of directories); when scripts add links or a tenth of the text to one of these, all of the group. "always":
        /// all pages. It takes about 2 s for each page.
        "render" = r#""never""# config.parse.render.mode: request::render,
            option(CRAWL, "auto|always|never", "Run the scripts of pages in Chromium: of those that need it, of all, of none [default: never]").rare();

        /// The browser: a path, or a name in PATH. Empty: the first of chromium-headless-shell, chromium, chromium-browser,
        /// google-chrome.
        "browser" = r#""""# config.parse.render.browser: optional_path,
            option(CRAWL, "PROGRAM", "The Chromium that renders pages [default: the first in PATH]").rare();

        /// Number of pages that are rendered at once, from 1 to 16.
        "render_pages" = "2" config.parse.render.at_once: |value| small_count(value, 1..=16).map(|count| count as usize);

        /// Longest time for one page, without the time in which it waits for answers. Then links that were shown count, and the
        /// next crawl renders the page again.
        "render_time" = r#""10s""# config.parse.render.time: time_out,
            option(CRAWL, "T", "Longest time for rendering one page [default: 10s]").rare();

        /// Other hosts that scripts and data of pages may come from, ["cdn.example.net"]. Requests to all other hosts are not
        /// sent, and neither are those for images, fonts and media.
        "render_hosts" = "[]" [List] config.parse.render.hosts: |value| list(value, request::host),
            option(CRAWL, "HOST", "Another host that scripts and data may come from (repeatable)").rare();
    }
    /// How arpent ends the crawl of an endless site.
    "patterns" "Patterns" {
        /// Stop at parts of the site that go on without end: pages that say nothing new and lead, behind each other, to more
        /// than 1,000 unknown URLs of one directory. Leave out query parameters that only make copies of pages. The page that
        /// the site shows for URLs that do not exist is neither listed nor followed.
        /// A site that ends is requested and listed whole. arpent requests URLs in any case that are published, that a page
        /// with new text links to, or that a sitemap of the site or a file of seeds names.
        "close_patterns" = "true" config.repeats.close_patterns: switch;

        /// Request three URLs that cannot exist in each crawl. arpent then recognizes the page that the site shows for such
        /// URLs, where it answers 200.
        "not_found_probe" = "true" config.repeats.not_found_probe: switch;
    }
    "requests" "Requests" {
        /// User-Agent header. Its first word is the name that groups of robots.txt are looked up by. Empty:
        /// arpent/<version>.
        "user_agent" = r#""""# user_agent: request::user_agent,
            option(REQUESTS, "S", "User-Agent header [default: arpent/VERSION]").rare();

        /// URL or mail address for questions of the site's operator. arpent adds it to the default User-Agent:
        /// arpent/<version> (+https://example.com/bot).
        "contact" = r#""""# [Common] contact: request::contact,
            option(REQUESTS, "URL|MAIL", "Your URL or mail address, sent in User-Agent");

        /// More headers, ["Accept-Language: fr"]. arpent sends them only to the origin of the start URL.
        "header" = "[]" [Secret List Common] config.fetch.headers: |value| list(value, request::header),
            option(REQUESTS, "NAME:VALUE", "Header for requests, e.g. 'Accept-Language: fr'").short('H');

        /// Requests that send cookies of the site's host. "start": those that lead from the start URL to the start page. All
        /// requests send the cookies of that way when the start page answers only with them. Search engines send none either.
        /// "session": all, with one jar for the crawl. "none": none. A Cookie in header replaces them.
        "cookies" = r#""start""# config.fetch.cookies:
            |value| word(value, &[
            ("start", CookieUse::Start),
            ("session", CookieUse::Session),
            ("none", CookieUse::Never),
        ]);

        /// Credentials for the origin of the start URL: "user:password". There is no option for them and for bearer_token,
        /// because every user can see options in the process list. The variables ARPENT_BASIC_AUTH and ARPENT_BEARER_TOKEN
        /// keep them out of this file.
        "basic_auth" = r#""""# [Secret Common] basic_auth: request::basic_auth;

        /// Token for the origin of the start URL, in the place of basic_auth.
        "bearer_token" = r#""""# [Secret] bearer_token: request::bearer_token;

        /// Connect to an address instead of asking DNS, ["www.example.com:443:192.0.2.1"]. Use it to crawl a site before
        /// its DNS entry changes.
        "resolve" = "[]" [List] config.fetch.resolve: |value| list(value, request::resolve),
            option(REQUESTS | PUBLISH, "HOST:PORT:ADDRESS", "Connect to ADDRESS for HOST:PORT instead of asking DNS (repeatable)").rare();

        /// Crawl a host whose address was public in the last crawl and is private now. false: the crawl ends (exit code 5),
        /// because the DNS entry could lead the crawl into your network. Set it to true after a move of your own site.
        "allow_private" = "false" config.fetch.allow_private: switch;

        /// Proxy for all requests, "http://proxy.example:3128". arpent ignores the proxy variables of the environment.
        "proxy" = r#""""# [Secret] config.fetch.proxy: request::proxy,
            option(REQUESTS | PUBLISH, "URL", "Send requests through this proxy; proxy variables are ignored").rare();

        /// PEM file with certificate authorities that are trusted in addition to those of the system.
        "ca_file" = r#""""# config.fetch.ca_file: optional_path,
            option(REQUESTS | PUBLISH, "FILE", "Also trust the certificate authorities in this PEM file").rare();

        /// Longest wait for the head of an answer. A connection may take as long, but at most 10 s, a pause inside a body half of
        /// it, and a whole request twice as long.
        "timeout" = r#""30s""# timeout: |value| time_out(value).map(Some);

        /// Highest size of one body, after decoding and on the wire, with the bytes around its chunks or frames. A larger
        /// page is not listed. From 1 KiB to 1 GiB.
        "max_body_bytes" = r#""15 MiB""# config.fetch.max_body_bytes:
            |value| size(value, 1 << 10..=1 << 30, "from 1 KiB to 1 GiB");
    }
    "pages" "Pages" {
        /// Names whose robots directives (meta tags, X-Robots-Tag headers) arpent obeys.
        "robots_names" = r#"["robots", "googlebot"]"# [List] config.parse.robots_names: robots_names;

        /// Content types that arpent lists besides HTML.
        "document_types" = r#"[
    "application/pdf",
    "application/postscript",
    "application/rtf",
    "application/epub+zip",
    "application/msword",
    "application/vnd.ms-excel",
    "application/vnd.ms-powerpoint",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "application/vnd.oasis.opendocument.text",
    "application/vnd.oasis.opendocument.spreadsheet",
    "application/vnd.oasis.opendocument.presentation",
]"# [List] config.parse.document_types: |value| list(value, content_type);

        /// Highest number of links that arpent takes from one page, from 1 to 1000000, and 2 MiB of them. Further links are
        /// counted (not-recorded) and left out, which makes the crawl partial.
        "max_links" = "50000" config.parse.max_links:
            |value| small_count(value, 1..=1_000_000).map(|links| links as usize);
    }
    "build" "Build" {
        /// Directory of the site for `arpent build`. The sitemaps list only URLs in it, and relative URLs of inputs are
        /// relative to it.
        "base_url" = r#""""# [Build] base_url: request::public_url,
            option(BUILD, "URL", "Directory of the site; the sitemaps list only URLs in it");

        /// Lists of URLs, sitemaps, and folders of HTML files; "-" is standard input. Inputs on the command line replace
        /// this list.
        "inputs" = "[]" [Build List] inputs:
            |value| list(value, |item| filled(item, "a file, a folder or -"));

        /// Format of lists. "text": one URL per line. "csv": a table whose header line names the columns. "ndjson": one JSON
        /// object per line. "sitemap": a sitemap. "auto": detected from the first bytes of each list.
        "input_format" = r#""auto""# [Option Build] config.build.format:
            |value| word(value, &[
                ("auto", None),
                ("text", Some(InputFormat::Text)),
                ("csv", Some(InputFormat::Csv)),
                ("ndjson", Some(InputFormat::Ndjson)),
                ("sitemap", Some(InputFormat::Sitemap)),
            ]),
            option(BUILD, "text|csv|ndjson|sitemap", "Format of the lists [default: detected from their first bytes]");

        /// Publish nothing if a line or a value of an input cannot be used. false: arpent leaves it out and reports it.
        "strict" = "false" [Option Build] config.build.strict: switch,
            option(BUILD, "", "Publish nothing if a line or a value cannot be used [default: leave it out, exit code 3]");

        /// URL of the file about.html of a folder. "drop": /about, unless there is a file of that name. "keep": /about.html.
        /// "auto": /about if the canonical link of the page has this URL. index.html is always the URL of its folder.
        "html_suffix" = r#""auto""# [Build] config.build.html_suffix:
            |value| word(value, &[
                ("auto", HtmlSuffix::Auto),
                ("keep", HtmlSuffix::Keep),
                ("drop", HtmlSuffix::Drop),
            ]),
            option(BUILD, "drop|keep|auto", "URL of the file about.html: /about (drop), /about.html (keep), or by its canonical link (auto) [default: auto]").rare();
    }
    "run" "Run" {
        /// Crawl as if no crawl had been before: no conditional requests, and only pages that this crawl finds.
        "fresh" = "false" [Option] settings.session.fresh: switch,
            option(CRAWL, "", "Crawl as if no crawl had been before: every page is fetched in full, and only found pages are listed").rare();

        /// Print the summary as JSON on stdout, one line for each site.
        "json" = "false" [Option Program] settings.json: switch,
            option(SETS, "", "Print the summary as JSON, one line for each site");

        /// Print only errors on stderr.
        "quiet" = "false" [Option Program] settings.quiet: switch,
            option(SETS | DAEMON | NOTIFY | CHECK | AUDIT | DIFF, "", "Print only errors on stderr").short('q');

        /// More messages on stderr. 1: unusual events of a crawl, 2: a line for each URL, 3: everything.
        "verbose" = "0" [Option Program] settings.verbose: |value| small_count(value, 0..=u32::from(u8::MAX)),
            option(SETS | DAEMON | NOTIFY, "+", "Print more on stderr; -vv and -vvv print still more").short('v');

        /// Format of the log of crawl, build and daemon on stderr. "text", or "json": one object per line (time, level,
        /// target, site, message, fields), without the live view.
        "log_format" = r#""text""# [Program] settings.log_format: |value| word(value, &LOG_FORMATS),
            option(SETS | DAEMON, "json|text", "Format of the log on stderr [default: text]").rare();

        /// Longest time that `arpent daemon` takes to stop after a signal. Requests in flight get two thirds of it. The next
        /// start continues crawls that have not ended by then.
        "stop_timeout" = r#""9s""# [Program] settings.stop_timeout: |value| time_out(value).map(StopTimeout);

        /// IP address and port at which `arpent daemon` has metrics for Prometheus (/metrics) and answers health checks
        /// (/healthz, /readyz): "127.0.0.1:9464". Anyone who reaches the address can read them. A change needs a restart of
        /// the daemon. Empty: no metrics. Packages have it; a build needs --features metrics.
        "metrics" = r#""""# [Program] settings.metrics: listen_address,
            option(DAEMON, "ADDR", "Answer Prometheus and health checks at this address, such as 127.0.0.1:9464");

        /// IP address and port at which `arpent daemon` and `arpent page` show all sites in a browser: "127.0.0.1:8080". An address that
        /// other machines reach needs page_token_file. TLS is left to a proxy before it. Empty: `arpent daemon` has no page. Packages have
        /// it; a build needs --features page.
        "page" = r#""""# [Program] settings.page.address: listen_address,
            option(DAEMON | PAGE, "ADDR", "Show all sites in a browser at this address, such as 127.0.0.1:8080");

        /// File with the token, of 16 characters or more, by which people log in to the page and start commands there. Empty: the page is
        /// read only.
        "page_token_file" = r#""""# [Program] settings.page.token_file: optional_path;
    }
    /// Notifications about published sets. A notification that fails is reported. It does not change the published set
    /// or the exit code of a crawl. Secrets in URLs are not printed.
    "notify" "Notify" {
        /// Read the set back from where it is served, before anybody is notified of it: the indexes, the files that changed, some
        /// of the others, and the Sitemap lines of robots.txt. Nobody is notified of a set before readers get it.
        "check_served" = "true" config.notify.check_served: switch;

        /// How often a set that is served is read back. `arpent daemon` does it without a crawl. It looks again after 10
        /// minutes, an hour and six hours while the set is not served. At least a minute.
        "check_served_interval" = r#""1d""# config.notify.check_served_interval: notify::interval;

        /// After a change, notify an engine of IndexNow of the URLs that were added, changed or removed. The engine informs
        /// the other engines of IndexNow (not Google). The first publish sends nothing. With `publish_as`, arpent requests
        /// the key from the written site before it sends anything.
        "indexnow" = "false" [Common] config.notify.indexnow: switch,
            option(NOTIFIED, "", "Notify search engines of changed URLs by IndexNow").rare();

        /// URL of the engine.
        "indexnow_endpoint" = r#""https://api.indexnow.org/indexnow""# config.notify.indexnow_endpoint: notify::endpoint,
            option(NOTIFY, "URL", "URL of the engine [default: the engine of api.indexnow.org]").rare();

        /// File with the key: 8 to 128 letters, digits and hyphens. Empty: arpent makes a key and stores it in the state. The file
        /// <key>.txt on the site proves the key. arpent writes it into the output; if the output is served on another host, write
        /// it into the root of the site.
        "indexnow_key_file" = r#""""# config.notify.indexnow_key_file: optional_path,
            option(NOTIFY, "FILE", "File with the key [default: a new key, stored in the state]").rare();

        /// URLs that arpent requests after a change, once for each index:
        /// ["https://engine.example/ping?sitemap={sitemap}"]. Google and Bing no longer accept such requests.
        "ping" = "[]" [List] config.notify.ping: |value| list(value, notify::ping),
            option(NOTIFIED, "URL", "Request this URL after a change, with the URL of the sitemap in place of {sitemap} (repeatable)").rare();

        /// Command that arpent calls after a crawl: a text is a command line for sh, a list is a program with its arguments,
        /// ["/usr/local/bin/notify", "--loud"]. Its standard input is the summary as JSON. The variables ARPENT_EVENT,
        /// ARPENT_SITE, ARPENT_OUTCOME, ARPENT_EXIT_CODE and ARPENT_SITEMAPS_DIR describe the result. After a minute arpent kills
        /// it and the processes that it started.
        "hook_command" = "[]" [Common] config.notify.hook_command: notify::hook_command,
            option(CRAWL | PUBLISH, "COMMAND", "Run this command line after a session; its standard input is the summary as JSON").rare();

        /// URLs to which arpent sends {"event": ..., "summary": ...} by POST after a crawl.
        "hook_url" = "[]" [Secret List] config.notify.hook_url: |value| list(value, notify::hook_url);

        /// Events for which arpent calls hooks. "published": a set changed. "refused": the published sitemaps stay. "failed":
        /// the crawl failed.
        "hook_events" = r#"["published", "refused", "failed"]"# [List] config.notify.hook_events: notify::hook_events;

        /// The account that submits the set to Google Search Console, a table [notify.google]. key_file: the JSON file with the key of a
        /// service account. max_age: a set that Google has not read for so long is reported, "14d". endpoint: another URL of the API. Empty: none. Packages have it; a
        /// build needs --features google.
        "google" = r#""""# config.notify.google: notify::google;

        /// People who get a message when a site begins to fail and when it is good again, each a table [[notify.message]]. to:
        /// "ntfy:URL", "slack:URL", "teams:URL", "matrix:URL" or "mailto:ADDRESS". token: of ntfy or Matrix. server and from: of mail.
        /// digest = true: a summary each week. to, token and server can be secrets, such as { file = "..." }.
        "message" = "[]" [Secret List] config.notify.messages: |value| list(value, notify::message);
    }
    /// Several daemons, the workers, share the sites of a catalogue: a PostgreSQL database that `arpent catalogue` fills. Packages
    /// have it; a build needs --features catalogue.
    "fleet" "Fleet" {
        /// URL of the catalogue: "postgres://USER@HOST/DATABASE". `arpent daemon` then crawls the sites of the catalogue, not
        /// those of its settings. A password belongs in another file: catalogue = { file = "..." }, or in a variable. Empty: no
        /// catalogue.
        "catalogue" = r#""""# [Program Secret] settings.fleet.catalogue: fleet::catalogue,
            option(DAEMON | CATALOGUE | PAUSE, "URL", "Use the catalogue at this URL, a PostgreSQL database that daemons share");

        /// Object storage for the states of the sites: "s3://BUCKET/PREFIX", "gs://BUCKET/PREFIX" or "az://CONTAINER/PREFIX". All
        /// workers have the same. It must not be public.
        "storage" = r#""""# [Program] settings.fleet.storage: fleet::storage,
            option(DAEMON | CATALOGUE, "URL", "URL of the bucket with the states of the sites of a catalogue");
    }
    /// Constants, of which a program that was built for tests takes other values, so that tests need no minutes.
    "testing" "Testing" {
        /// Time that a file stays on disk after it left the index. Search engines may fetch a file hours after the index.
        "grace" = r#""24h""# [Testing] config.publish.grace: duration;

        /// Number of URLs from which a deeper directory gets its own file, when the file of its parent directory is too large.
        "min_subsection" = "1000" [Testing] config.publish.min_subsection: positive;

        /// Number of failures in a row that make arpent pause a host. Further tries of a page do not count. A first-level
        /// directory does not count either if it fails while others answer.
        "failures_before_pause" = "10" [Testing] config.politeness.failures_before_pause:
            |value| small_count(value, 1..=u32::MAX);

        /// First pause. Each further pause is twice as long, up to max_pause.
        "pause" = r#""60s""# [Testing] config.politeness.pause: time_out;

        /// The longest pause.
        "max_pause" = r#""600s""# [Testing] config.politeness.max_pause: time_out;

        /// Number of pauses after which the host counts as down. Then arpent publishes nothing. If the start page still
        /// answers, arpent gives up only the directories that failed.
        "max_pauses" = "3" [Testing] config.politeness.max_pauses: |value| small_count(value, 1..=u32::MAX);

        /// Waits before the second, third ... try; the last value repeats. arpent adds up to a quarter, by URL and try.
        "retry_delays" = r#"["1s", "5s"]"# [Testing List] config.limits.retry_delays: retry_delays;

        /// Longest CPU time for parsing one page after its first 64 KiB. A page that needs more time fails, because the part
        /// that was not read may have noindex.
        "max_parse_time" = r#""5s""# [Testing] config.parse.max_parse_time: time_out;

        /// Time after which another worker may take over the sites of a worker that does not answer, from 2s to 1h.
        "lease_time" = r#""60s""# [Testing Program] settings.fleet.lease_time: fleet::lease_time;

        /// Time between two copies of the state of a site that is crawled, from 1s to 24h. If a worker dies, another one goes on
        /// from the last copy.
        "checkpoint_interval" = r#""5m""# [Testing Program] settings.fleet.checkpoint_interval: fleet::checkpoint_interval;
    }
}

/// The row of the table that is called `name`.
pub(crate) fn setting_of(name: &str) -> Option<&'static Setting> {
    let is_known = |setting: &&Setting| IS_FOR_TESTS || !setting.is(Special::Testing);
    let mut settings = SETTINGS.iter().filter(is_known);
    settings.find(|setting| setting.name == name)
}

/// The names of the tables of the file.
pub(super) fn tables() -> impl Iterator<Item = &'static str> {
    let names = TABLES.iter().map(|table| table.name);
    names.filter(|name| !name.is_empty())
}

/// Entries of one file, and files of one index, at most (sitemaps.org protocol).
const MAX_ENTRIES: u64 = 50_000;

/// The formats of the log by their words.
const LOG_FORMATS: [(&str, LogFormat); 2] = [("json", LogFormat::Json), ("text", LogFormat::Text)];

/// Slowest rate: one request a day. Slower ones could not be waited for.
const MIN_RATE: f64 = 1.0 / 86_400.0;

/// Fastest rate that has a number; a gap below a microsecond is none.
const MAX_RATE: f64 = 1_000_000.0;

fn positive(value: &Value) -> Read<u64> {
    count(value, 1..=u64::MAX)
}

fn entries(value: &Value) -> Read<u64> {
    count(value, 1..=MAX_ENTRIES)
}

fn retry_delays(value: &Value) -> Read<Vec<Duration>> {
    match list(value, duration)? {
        delays if delays.is_empty() => Err(Wrong::new(
            "expected at least one duration, found an empty list",
        )),
        delays => Ok(delays),
    }
}

fn robots_names(value: &Value) -> Read<Vec<String>> {
    list(value, |item| {
        Ok(filled(item, "a robot's name")?.to_ascii_lowercase())
    })
}

fn time_zone(value: &Value) -> Read<TimeZone> {
    let name = filled(value, "a time zone such as \"Europe/Paris\"")?;
    schedule::zone(&name).map_err(|error| Wrong::new(error.to_string()))
}

/// An address of this machine with a port; empty text: none.
fn listen_address(value: &Value) -> Read<Option<SocketAddr>> {
    const EXPECTED: &str = "an IP address with a port such as \"127.0.0.1:9464\"";
    let text = optional_text(value, EXPECTED)?;
    let address = text.map(|text| text.parse());
    address
        .transpose()
        .map_err(|_| Wrong::found(EXPECTED, value))
}

/// A part of a whole, from 0 to 1, to the millionth.
fn share(value: &Value) -> Read<Share> {
    let number = match value {
        Value::Text(text) | Value::Bare(text) => units::decimal(text),
        Value::List(_) | Value::Table(_) => None,
    };
    let number = number.filter(|number| *number <= 1.0);
    let number = number.ok_or_else(|| Wrong::found("a number from 0 to 1", value))?;
    // `{:.0}` rounds, and is exact for numbers of this size.
    let millionths = format!("{:.0}", number * 1e6);
    Ok(Share::millionths(millionths.parse().unwrap_or_default()))
}

/// A factor, or no limit.
fn factor_or_unlimited(value: &Value) -> Read<Option<u32>> {
    match count_or_unlimited(value)? {
        Some(0) => Err(Wrong::found(
            r#"a whole number from 1, or "unlimited""#,
            value,
        )),
        factor => Ok(factor),
    }
}

fn rate(value: &Value) -> Read<Rate> {
    let number = match value {
        Value::Text(text) if text == "unlimited" => return Ok(Rate::Unlimited),
        Value::Text(text) | Value::Bare(text) => units::decimal(text),
        Value::List(_) | Value::Table(_) => None,
    };
    match number {
        Some(number) if (MIN_RATE..=MAX_RATE).contains(&number) => Ok(Rate::PerSecond(number)),
        Some(number) if number > MAX_RATE => Err(Wrong::found(
            r#"at most 1000000 per second, or "unlimited""#,
            value,
        )),
        Some(number) if number > 0.0 => Err(Wrong::found(
            "at least one a day (0.000012 per second)",
            value,
        )),
        Some(_) | None => Err(Wrong::found(
            r#"a number above 0 per second or "unlimited""#,
            value,
        )),
    }
}

fn normalize(value: &Value) -> Read<Normalize> {
    switches(
        value,
        Normalize::default(),
        &[
            ("slashes", |rules| rules.slashes = true),
            ("parameter-order", |rules| rules.parameter_order = true),
            ("empty-parameters", |rules| rules.empty_parameters = true),
            ("index-pages", |rules| rules.index_pages = true),
        ],
    )
}

fn ignored(value: &Value) -> Read<IgnoreConfig> {
    switches(
        value,
        IgnoreConfig::default(),
        &[
            ("robots", |ignored| ignored.robots = true),
            ("noindex", |ignored| ignored.noindex = true),
            ("canonical", |ignored| ignored.canonical = true),
            ("nofollow", |ignored| ignored.nofollow = true),
            ("retry-after", |ignored| ignored.retry_after = true),
        ],
    )
}

/// Sources of URLs; at least one.
fn sources(value: &Value) -> Read<DiscoverConfig> {
    let none = DiscoverConfig {
        links: false,
        sitemaps: false,
        feeds: false,
        list: false,
    };
    let sources = switches(
        value,
        none,
        &[
            ("links", |sources: &mut DiscoverConfig| sources.links = true),
            ("sitemaps", |sources| sources.sitemaps = true),
            ("feeds", |sources| sources.feeds = true),
            ("list", |sources| sources.list = true),
        ],
    )?;
    if sources == none {
        return Err(Wrong::new(
            "expected \"links\", \"sitemaps\", \"feeds\" or \"list\", found an empty list",
        ));
    }
    Ok(sources)
}

fn globs(value: &Value) -> Read<Vec<String>> {
    list(value, |item| filled(item, "a glob such as \"/private/*\""))
}

fn parameters(value: &Value) -> Read<Vec<String>> {
    list(value, |item| {
        Ok(filled(item, "a parameter's name")?.to_ascii_lowercase())
    })
}

fn content_type(value: &Value) -> Read<String> {
    const EXPECTED: &str = "a content type such as \"application/pdf\"";
    let essence = text(value, EXPECTED)?.to_ascii_lowercase();
    match essence.split_once('/') {
        Some((kind, subtype)) if request::is_token(kind) && request::is_token(subtype) => {
            Ok(essence)
        }
        Some(_) | None => Err(Wrong::found(EXPECTED, value)),
    }
}
