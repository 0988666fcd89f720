//! The table of settings: one row for each, with its name and its reader. The name is the key in a table of the settings file; the
//! option is `--` and the name with `-` for `_`; the variable is `ARPENT_` and the name in capitals. `config/default.toml` documents
//! each row.

use std::{net::SocketAddr, time::Duration};

use crawler::{
    config::{
        CookieUse, DiscoverConfig, FileDates, HtmlSuffix, IgnoreConfig, IndexMode, InputFormat,
        Layout, Rate, ScopeWidth, Share,
    },
    schedule,
};
use jiff::tz::TimeZone;

use super::{
    LogFormat, StopTimeout, fleet,
    merge::Draft,
    notify, output, request, units,
    value::{
        Read, Value, Wrong, count, count_or_unlimited, duration, filled, list, non_zero,
        optional_path, optional_text, size, small_count, switch, switches, text, time_out, word,
    },
};

/// One setting.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting {
    /// Its name everywhere.
    pub(crate) name: &'static str,
    /// The table of the file that it is in; empty: above all tables.
    pub(crate) table: &'static str,
    specials: &'static [Special],
    /// Reads a value into the draft.
    pub(crate) read: fn(&mut Draft, &Value) -> Read<()>,
}

/// Special properties of a setting. A setting that is neither of the program nor of builds is about a site and may be in the
/// table of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Special {
    /// It is about the program with all its sites.
    Program,
    /// It is about `arpent build`.
    Build,
    /// The file may name the place of its value instead.
    Secret,
    /// It holds several values: a list in the file, an option that is repeated, a variable with one value per line.
    List,
}

impl Setting {
    /// Returns whether this is special about it.
    pub(crate) fn is(&self, special: Special) -> bool {
        self.specials.contains(&special)
    }
}

/// Each row has the name of a setting, its special properties, the field of the draft that it fills, and its reader.
macro_rules! settings {
    ($($table:literal { $(
        $name:literal $([$($special:ident)*])? $($field:ident).+: $read:expr;
    )* })*) => {
        /// Every setting but the page rules and namespaces, in the order of `config/default.toml`.
        pub(crate) const SETTINGS: &[Setting] = &[
            $($(Setting {
                name: $name,
                table: $table,
                specials: &[$($(Special::$special),*)?],
                read: |draft, value| {
                    draft.$($field).+ = ($read)(value)?;
                    Ok(())
                },
            }),*),*
        ];

        /// The tables of the settings file that have settings.
        pub(crate) const TABLES: &[&str] = &[$($table),*];
    };
}

settings! {
    "" {
        "urls" [Program List] urls: |value| list(value, |item| filled(item, "a URL"));
        "max_sites" [Program] max_sites: |value| non_zero(value, 1_000).map(Some);
        "schedule" schedule: |value| optional_text(value, "a cron expression such as \"30 2 * * *\"");
        "time_zone" settings.time_zone: |value| time_zone(value).map(Some);
        "jitter" jitter: duration;
    }
    "output" {
        "output" settings.output: output::place;
        "state" state: optional_path;
        "public_url" config.publish.public_url: request::public_url;
        "publish_as" config.written_as: request::written_as;
        "layout" config.publish.layout:
            |value| word(value, &[("root", Layout::Root), ("in-place", Layout::InPlace)]);
        "index" config.publish.index:
            |value| word(value, &[("always", IndexMode::Always), ("auto", IndexMode::Auto)]);
        "format" [List] config.publish.formats: output::formats;
        "feed_entries" config.publish.feed_entries: entries;
        "no_gzip" config.publish.gzip: |value| switch(value).map(|on| !on);
        "lastmod" config.publish.lastmod:
            |value| word(value, &[("mtime", FileDates::Mtime), ("none", FileDates::None)]);
        "changefreq" [List] config.publish.entries.changefreq: output::changefreq;
        "priority" [List] config.publish.entries.priority: output::priority;
        "with" [List] config.publish.extensions: output::extensions;
        "schema_location" config.publish.schema_location: switch;
        "section" [List] config.publish.sections: output::sections;
        "min_section" config.publish.min_section: positive;
        "min_subsection" config.publish.min_subsection: positive;
        "file_entries" config.publish.file_entries: entries;
        "file_bytes" config.publish.file_bytes:
            |value| size(value, 1_000..=MAX_FILE_BYTES, "from 1 kB to 50 MiB");
        "index_entries" config.publish.index_entries: entries;
        "grace" config.publish.grace: duration;
        "object_acl" config.publish.object_acl: |value| optional_text(value, "an ACL such as \"public-read\"");
        "object_headers" [List] config.publish.object_headers: output::object_headers;
        "file_mode" config.publish.file_mode: output::file_mode;
        "file_group" config.publish.file_group: output::file_group;
    }
    "guard" {
        "min_listed_share" config.publish.guard.min_listed_share: share;
        "max_error_share" config.publish.guard.max_error_share: share;
        "max_alike_share" config.publish.guard.max_alike_share: share;
        "max_growth" config.publish.guard.max_growth: factor_or_unlimited;
        "force" config.publish.force: switch;
        "dry_run" settings.dry_run: switch;
    }
    "politeness" {
        "rate" config.politeness.rate: rate;
        "concurrency" config.politeness.concurrency: |value| non_zero(value, 1_000);
        "delay" config.politeness.delay:
            |value| duration(value).map(|delay| Some(delay).filter(|delay| !delay.is_zero()));
        "max_retry_after" config.politeness.max_retry_after: duration;
        "max_in_flight" [Program] config.politeness.max_in_flight: |value| non_zero(value, 10_000);
        "failures_before_pause" config.politeness.failures_before_pause:
            |value| small_count(value, 1..=u32::MAX);
        "pause" config.politeness.pause: time_out;
        "max_pause" config.politeness.max_pause: time_out;
        "max_pauses" config.politeness.max_pauses: |value| small_count(value, 1..=u32::MAX);
    }
    "discovery" {
        "discover" [List] config.discover: sources;
        "seeds" [List] settings.seeds:
            |value| list(value, |item| filled(item, "a file, or - for standard input"));
    }
    "scope" {
        "scope" config.scope.width:
            |value| word(value, &[("dir", ScopeWidth::Directory), ("origin", ScopeWidth::Origin)]);
        "include" [List] config.scope.include: globs;
        "exclude" [List] config.scope.exclude: globs;
        "follow_only" [List] config.scope.follow_only: globs;
        "list_only" [List] config.scope.list_only: globs;
        "take_nofollow_links" config.scope.take_nofollow_links: switch;
        "follow_actions" config.scope.follow_actions: switch;
        "ignore" [List] config.ignore: ignored;
    }
    "identity" {
        "drop_parameters" [List] config.identity.drop_parameters: parameters;
        "drop_sessions" [List] config.identity.drop_sessions: parameters;
        "collapse_slashes" config.identity.collapse_slashes: switch;
        "sort_parameters" config.identity.sort_parameters: switch;
        "collapse_ampersands" config.identity.collapse_ampersands: switch;
        "drop_index_pages" config.identity.drop_index_pages: switch;
    }
    "limits" {
        "max_pages" config.limits.max_pages: positive;
        "max_time" config.limits.max_time: time_out;
        "max_depth" config.limits.max_depth: count_or_unlimited;
        "max_known_urls" config.limits.max_known_urls: positive;
        "max_state_bytes" config.limits.max_state_bytes:
            |value| size(value, 1 << 20..=1 << 43, "from 1 MiB to 8192 GiB");
        "max_pending_bytes" config.limits.max_pending_bytes:
            |value| size(value, 1 << 20..=1 << 30, "from 1 MiB to 1 GiB").map(as_usize);
        "max_tries" config.limits.max_tries: |value| small_count(value, 1..=100);
        "retry_delays" [List] config.limits.retry_delays: retry_delays;
        "keep_failing" config.removal.keep_failing: duration;
    }
    "patterns" {
        "close_patterns" config.repeats.close_patterns: switch;
        "not_found_probe" config.repeats.not_found_probe: switch;
        "max_block_memory" config.repeats.max_block_memory:
            |value| size(value, 1 << 20..=1 << 34, "from 1 MiB to 16 GiB").map(as_usize);
    }
    "requests" {
        "user_agent" user_agent: request::user_agent;
        "contact" contact: request::contact;
        "header" [Secret List] config.fetch.headers: |value| list(value, request::header);
        "cookies" config.fetch.cookies: |value| word(value, &[
            ("start", CookieUse::Start),
            ("session", CookieUse::Session),
            ("none", CookieUse::Never),
        ]);
        "basic_auth" [Secret] basic_auth: request::basic_auth;
        "bearer_token" [Secret] bearer_token: request::bearer_token;
        "resolve" [List] config.fetch.resolve: |value| list(value, request::resolve);
        "allow_private" config.fetch.allow_private: switch;
        "proxy" [Secret] config.fetch.proxy: request::proxy;
        "ca_file" config.fetch.ca_file: optional_path;
        "dns_timeout" config.fetch.dns_timeout: time_out;
        "connect_timeout" config.fetch.connect_timeout: time_out;
        "head_timeout" config.fetch.head_timeout: time_out;
        "idle_timeout" config.fetch.idle_timeout: time_out;
        "total_timeout" config.fetch.total_timeout: time_out;
        "max_body_bytes" config.fetch.max_body_bytes:
            |value| size(value, 1 << 10..=1 << 30, "from 1 KiB to 1 GiB");
    }
    "pages" {
        "robots_names" [List] config.parse.robots_names: robots_names;
        "document_types" [List] config.parse.document_types: |value| list(value, content_type);
        "max_links" config.parse.max_links:
            |value| small_count(value, 1..=1_000_000).map(|links| links as usize);
        "max_link_bytes" config.parse.max_link_bytes:
            |value| size(value, 1 << 10..=1 << 30, "from 1 KiB to 1 GiB").map(as_usize);
        "max_parse_time" config.parse.max_parse_time: time_out;
    }
    "build" {
        "base_url" [Build] base_url: request::public_url;
        "inputs" [Build List] inputs: |value| list(value, |item| filled(item, "a file, a folder or -"));
        "input_format" [Build] config.build.format:
            |value| word(value, &[
                ("auto", None),
                ("text", Some(InputFormat::Text)),
                ("csv", Some(InputFormat::Csv)),
                ("ndjson", Some(InputFormat::Ndjson)),
                ("sitemap", Some(InputFormat::Sitemap)),
            ]);
        "strict" [Build] config.build.strict: switch;
        "html_suffix" [Build] config.build.html_suffix:
            |value| word(value, &[
                ("auto", HtmlSuffix::Auto),
                ("keep", HtmlSuffix::Keep),
                ("drop", HtmlSuffix::Drop),
            ]);
    }
    "run" {
        "fresh" settings.fresh: switch;
        "json" [Program] settings.json: switch;
        "quiet" [Program] settings.quiet: switch;
        "verbose" [Program] settings.verbose: |value| small_count(value, 0..=u32::from(u8::MAX));
        "log_format" [Program] settings.log_format: |value| word(value, &LOG_FORMATS);
        "stop_timeout" [Program] settings.stop_timeout: |value| time_out(value).map(StopTimeout);
        "metrics" [Program] settings.metrics: listen_address;
    }
    "notify" {
        "indexnow" config.notify.indexnow: switch;
        "indexnow_endpoint" config.notify.indexnow_endpoint: notify::endpoint;
        "indexnow_key_file" config.notify.indexnow_key_file: optional_path;
        "indexnow_key_location" config.notify.indexnow_key_location: notify::key_location;
        "ping" [List] config.notify.ping: |value| list(value, notify::ping);
        "robots_file" config.notify.robots_file: optional_path;
        "hook_command" [List] config.notify.hook_command:
            |value| list(value, |item| text(item, "a program or an argument").map(str::to_owned));
        "hook_shell" config.notify.hook_shell: |value| optional_text(value, "a command line");
        "hook_url" [Secret List] config.notify.hook_url: |value| list(value, notify::hook_url);
        "hook_events" [List] config.notify.hook_events: notify::hook_events;
        "hook_timeout" config.notify.hook_timeout: time_out;
    }
    "fleet" {
        "catalogue" [Program Secret] settings.fleet.catalogue: fleet::catalogue;
        "storage" [Program] settings.fleet.storage: fleet::storage;
        "lease_time" [Program] settings.fleet.lease_time: fleet::lease_time;
        "checkpoint_interval" [Program] settings.fleet.checkpoint_interval: fleet::checkpoint_interval;
    }
}

/// Entries of one file, and files of one index, at most (sitemaps.org protocol).
const MAX_ENTRIES: u64 = 50_000;

/// Uncompressed bytes of one file at most (sitemaps.org protocol: 50 MiB).
const MAX_FILE_BYTES: u64 = 52_428_800;

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

/// A size that a limit keeps small enough for memory.
fn as_usize(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
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

fn ignored(value: &Value) -> Read<IgnoreConfig> {
    switches(
        value,
        IgnoreConfig::default(),
        &[
            ("robots", |ignored| ignored.robots = true),
            ("noindex", |ignored| ignored.noindex = true),
            ("canonical", |ignored| ignored.canonical = true),
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
