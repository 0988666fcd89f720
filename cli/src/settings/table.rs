//! The table of settings: one row for each, with its name and how its value is read. The name is
//! the key in the settings file; the option is `--` and the name with `-` for `_`; the variable is
//! `ARPENT_` and the name in capitals. Those of who is told stand in the table `[notify]` of the file. `config/default.toml` documents each row.

use std::time::Duration;

use crawler::{
    config::{
        DiscoverConfig, FileDates, HtmlSuffix, IgnoreConfig, IndexMode, InputFormat, Layout, Rate,
        ScopeWidth, Share,
    },
    schedule,
};
use jiff::tz::TimeZone;

use super::{
    LogFormat, SummaryFormat,
    merge::{Draft, StopTimeout},
    notify, output, request,
    units::{self, MAX_DURATION},
    value::{
        Read, Value, Wrong, count, count_or_unlimited, duration, filled, list, non_zero,
        optional_path, optional_text, size, small_count, switch, text, time_out, word,
    },
};

/// One setting.
#[derive(Clone, Copy)]
pub(crate) struct Setting {
    /// Its name everywhere.
    pub(crate) name: &'static str,
    /// What it is about.
    pub(crate) reach: Reach,
    /// The file may say where its value is kept instead.
    pub(crate) is_secret: bool,
    /// It stands in the table `[notify]` of the file.
    pub(crate) is_in_notify: bool,
    /// It holds several values: a list in the file, an option that is repeated, a variable with one value per line.
    pub(crate) is_list: bool,
    /// Reads a value into the draft.
    pub(crate) read: fn(&mut Draft, &Value) -> Read<()>,
}

/// What a setting is about, and so where in the file it may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// One site: it may stand in the table of each.
    Site,
    /// The program with all its sites.
    Program,
    /// `arpent build`.
    Build,
}

/// Every setting but the page rules and namespaces, in the order of `config/default.toml`.
pub(crate) const SETTINGS: &[Setting] = &[
    of_program(list_row("urls", |draft, value| {
        set(&mut draft.urls, list(value, |item| filled(item, "a URL")))
    })),
    of_program(row("max_sites", |draft, value| {
        set(&mut draft.max_sites, non_zero(value, 1_000).map(Some))
    })),
    row("schedule", |draft, value| {
        set(
            &mut draft.schedule,
            optional_text(value, "a cron expression such as \"30 2 * * *\""),
        )
    }),
    row("time_zone", |draft, value| {
        set(&mut draft.time_zone, time_zone(value).map(Some))
    }),
    row("jitter", |draft, value| {
        set(
            &mut draft.jitter,
            duration(value, Duration::ZERO..=MAX_DURATION),
        )
    }),
    // Output.
    row("output", |draft, value| {
        set(&mut draft.output, optional_path(value))
    }),
    row("state", |draft, value| {
        set(&mut draft.state, optional_path(value))
    }),
    row("public_url", |draft, value| {
        set(
            &mut draft.config.publish.public_url,
            request::public_url(value),
        )
    }),
    row("as", |draft, value| {
        set(&mut draft.config.written_as, request::written_as(value))
    }),
    row("layout", |draft, value| {
        let words = [("root", Layout::Root), ("in-place", Layout::InPlace)];
        set(&mut draft.config.publish.layout, word(value, &words))
    }),
    row("index", |draft, value| {
        let words = [("always", IndexMode::Always), ("auto", IndexMode::Auto)];
        set(&mut draft.config.publish.index, word(value, &words))
    }),
    list_row("format", |draft, value| {
        set(&mut draft.config.publish.formats, output::formats(value))
    }),
    row("feed_entries", |draft, value| {
        set(
            &mut draft.config.publish.feed_entries,
            count(value, 1..=MAX_ENTRIES),
        )
    }),
    row("no_gzip", |draft, value| {
        set(&mut draft.config.publish.gzip, switch(value).map(|on| !on))
    }),
    row("lastmod", |draft, value| {
        let words = [("mtime", FileDates::Mtime), ("none", FileDates::None)];
        set(&mut draft.config.publish.lastmod, word(value, &words))
    }),
    list_row("changefreq", |draft, value| {
        set(
            &mut draft.config.publish.entries.changefreq,
            output::changefreq(value),
        )
    }),
    list_row("priority", |draft, value| {
        set(
            &mut draft.config.publish.entries.priority,
            output::priority(value),
        )
    }),
    list_row("extensions", |draft, value| {
        set(
            &mut draft.config.publish.extensions,
            output::extensions(value),
        )
    }),
    row("schema_location", |draft, value| {
        set(&mut draft.config.publish.schema_location, switch(value))
    }),
    list_row("sections", |draft, value| {
        set(&mut draft.config.publish.sections, output::sections(value))
    }),
    row("min_section", |draft, value| {
        set(
            &mut draft.config.publish.min_section,
            count(value, 1..=u64::MAX),
        )
    }),
    row("min_subsection", |draft, value| {
        set(
            &mut draft.config.publish.min_subsection,
            count(value, 1..=u64::MAX),
        )
    }),
    row("file_entries", |draft, value| {
        set(
            &mut draft.config.publish.file_entries,
            count(value, 1..=MAX_ENTRIES),
        )
    }),
    row("file_bytes", |draft, value| {
        set(
            &mut draft.config.publish.file_bytes,
            size(value, 1_000..=MAX_FILE_BYTES, "from 1 kB to 50 MiB"),
        )
    }),
    row("index_entries", |draft, value| {
        set(
            &mut draft.config.publish.index_entries,
            count(value, 1..=MAX_ENTRIES),
        )
    }),
    row("grace", |draft, value| {
        set(
            &mut draft.config.publish.grace,
            duration(value, Duration::ZERO..=MAX_DURATION),
        )
    }),
    row("file_mode", |draft, value| {
        set(
            &mut draft.config.publish.file_mode,
            output::file_mode(value),
        )
    }),
    row("file_group", |draft, value| {
        set(
            &mut draft.config.publish.file_group,
            output::file_group(value),
        )
    }),
    row("min_listed_share", |draft, value| {
        set(
            &mut draft.config.publish.guard.min_listed_share,
            share(value),
        )
    }),
    row("max_error_share", |draft, value| {
        set(
            &mut draft.config.publish.guard.max_error_share,
            share(value),
        )
    }),
    row("max_alike_share", |draft, value| {
        set(
            &mut draft.config.publish.guard.max_alike_share,
            share(value),
        )
    }),
    row("max_growth", |draft, value| {
        set(
            &mut draft.config.publish.guard.max_growth,
            factor_or_unlimited(value),
        )
    }),
    row("force", |draft, value| {
        set(&mut draft.config.publish.force, switch(value))
    }),
    row("dry_run", |draft, value| {
        set(&mut draft.dry_run, switch(value))
    }),
    // Politeness.
    row("rate", |draft, value| {
        set(&mut draft.config.politeness.rate, rate(value))
    }),
    row("concurrency", |draft, value| {
        set(
            &mut draft.config.politeness.concurrency,
            non_zero(value, 1_000),
        )
    }),
    row("delay", |draft, value| {
        let delay = duration(value, Duration::ZERO..=MAX_DURATION);
        set(
            &mut draft.config.politeness.delay,
            delay.map(|delay| Some(delay).filter(|delay| !delay.is_zero())),
        )
    }),
    row("max_retry_after", |draft, value| {
        set(
            &mut draft.config.politeness.max_retry_after,
            duration(value, Duration::ZERO..=MAX_DURATION),
        )
    }),
    of_program(row("max_in_flight", |draft, value| {
        set(
            &mut draft.config.politeness.max_in_flight,
            non_zero(value, 10_000),
        )
    })),
    row("failures_before_pause", |draft, value| {
        set(
            &mut draft.config.politeness.failures_before_pause,
            small_count(value, 1..=u32::MAX),
        )
    }),
    row("pause", |draft, value| {
        set(&mut draft.config.politeness.pause, time_out(value))
    }),
    row("max_pause", |draft, value| {
        set(&mut draft.config.politeness.max_pause, time_out(value))
    }),
    row("max_pauses", |draft, value| {
        set(
            &mut draft.config.politeness.max_pauses,
            small_count(value, 1..=u32::MAX),
        )
    }),
    // Discovery.
    list_row("discover", |draft, value| {
        set(&mut draft.config.discover, sources(value))
    }),
    list_row("seeds", |draft, value| {
        set(
            &mut draft.seeds,
            list(value, |item| {
                filled(item, "a file, or - for standard input")
            }),
        )
    }),
    // Scope.
    row("scope", |draft, value| {
        let words = [
            ("dir", ScopeWidth::Directory),
            ("origin", ScopeWidth::Origin),
        ];
        set(&mut draft.config.scope.width, word(value, &words))
    }),
    list_row("include", |draft, value| {
        set(&mut draft.config.scope.include, globs(value))
    }),
    list_row("exclude", |draft, value| {
        set(&mut draft.config.scope.exclude, globs(value))
    }),
    list_row("follow_only", |draft, value| {
        set(&mut draft.config.scope.follow_only, globs(value))
    }),
    list_row("list_only", |draft, value| {
        set(&mut draft.config.scope.list_only, globs(value))
    }),
    row("take_nofollow_links", |draft, value| {
        set(&mut draft.config.scope.take_nofollow_links, switch(value))
    }),
    list_row("ignore", |draft, value| {
        set(&mut draft.config.ignore, ignored(value))
    }),
    // Identity.
    list_row("drop_parameters", |draft, value| {
        set(
            &mut draft.config.identity.drop_parameters,
            parameters(value),
        )
    }),
    list_row("drop_sessions", |draft, value| {
        set(&mut draft.config.identity.drop_sessions, parameters(value))
    }),
    row("collapse_slashes", |draft, value| {
        set(&mut draft.config.identity.collapse_slashes, switch(value))
    }),
    row("sort_parameters", |draft, value| {
        set(&mut draft.config.identity.sort_parameters, switch(value))
    }),
    row("collapse_ampersands", |draft, value| {
        set(
            &mut draft.config.identity.collapse_ampersands,
            switch(value),
        )
    }),
    row("drop_index_pages", |draft, value| {
        set(&mut draft.config.identity.drop_index_pages, switch(value))
    }),
    // Limits.
    row("max_pages", |draft, value| {
        set(
            &mut draft.config.limits.max_pages,
            count(value, 1..=u64::MAX),
        )
    }),
    row("max_time", |draft, value| {
        set(&mut draft.config.limits.max_time, time_out(value))
    }),
    row("max_depth", |draft, value| {
        set(
            &mut draft.config.limits.max_depth,
            count_or_unlimited(value),
        )
    }),
    row("max_known_urls", |draft, value| {
        set(
            &mut draft.config.limits.max_known_urls,
            count(value, 1..=u64::MAX),
        )
    }),
    row("max_state_bytes", |draft, value| {
        set(
            &mut draft.config.limits.max_state_bytes,
            size(value, 1 << 20..=1 << 43, "from 1 MiB to 8192 GiB"),
        )
    }),
    row("max_pending_bytes", |draft, value| {
        let bytes = size(value, 1 << 20..=1 << 30, "from 1 MiB to 1 GiB");
        set(
            &mut draft.config.limits.max_pending_bytes,
            bytes.map(as_usize),
        )
    }),
    row("max_tries", |draft, value| {
        set(
            &mut draft.config.limits.max_tries,
            small_count(value, 1..=100),
        )
    }),
    list_row("retry_delays", |draft, value| {
        let delays = list(value, |item| duration(item, Duration::ZERO..=MAX_DURATION))?;
        if delays.is_empty() {
            return Err(Wrong::new(
                "expected at least one duration, found an empty list",
            ));
        }
        set(&mut draft.config.limits.retry_delays, Ok(delays))
    }),
    row("keep_failing", |draft, value| {
        set(
            &mut draft.config.removal.keep_failing,
            duration(value, Duration::ZERO..=MAX_DURATION),
        )
    }),
    // Requests.
    row("user_agent", |draft, value| {
        set(&mut draft.user_agent, request::user_agent(value))
    }),
    row("contact", |draft, value| {
        set(&mut draft.contact, request::contact(value))
    }),
    secret(list_row("header", |draft, value| {
        set(
            &mut draft.config.fetch.headers,
            list(value, request::header),
        )
    })),
    secret(row("basic_auth", |draft, value| {
        set(&mut draft.basic_auth, request::basic_auth(value))
    })),
    secret(row("bearer_token", |draft, value| {
        set(&mut draft.bearer_token, request::bearer_token(value))
    })),
    list_row("resolve", |draft, value| {
        set(
            &mut draft.config.fetch.resolve,
            list(value, request::resolve),
        )
    }),
    row("allow_private", |draft, value| {
        set(&mut draft.config.fetch.allow_private, switch(value))
    }),
    secret(row("proxy", |draft, value| {
        set(&mut draft.config.fetch.proxy, request::proxy(value))
    })),
    row("ca_file", |draft, value| {
        set(&mut draft.config.fetch.ca_file, optional_path(value))
    }),
    row("dns_timeout", |draft, value| {
        set(&mut draft.config.fetch.dns_timeout, time_out(value))
    }),
    row("connect_timeout", |draft, value| {
        set(&mut draft.config.fetch.connect_timeout, time_out(value))
    }),
    row("head_timeout", |draft, value| {
        set(&mut draft.config.fetch.head_timeout, time_out(value))
    }),
    row("idle_timeout", |draft, value| {
        set(&mut draft.config.fetch.idle_timeout, time_out(value))
    }),
    row("total_timeout", |draft, value| {
        set(&mut draft.config.fetch.total_timeout, time_out(value))
    }),
    row("max_body_bytes", |draft, value| {
        set(
            &mut draft.config.fetch.max_body_bytes,
            size(value, 1 << 10..=1 << 30, "from 1 KiB to 1 GiB"),
        )
    }),
    // Pages.
    list_row("robots_names", |draft, value| {
        let names = list(value, |item| filled(item, "a robot's name"))?;
        set(
            &mut draft.config.parse.robots_names,
            Ok(names.iter().map(|name| name.to_ascii_lowercase()).collect()),
        )
    }),
    list_row("document_types", |draft, value| {
        set(
            &mut draft.config.parse.document_types,
            list(value, content_type),
        )
    }),
    row("max_links", |draft, value| {
        set(
            &mut draft.config.parse.max_links,
            small_count(value, 1..=1_000_000).map(|links| links as usize),
        )
    }),
    row("max_link_bytes", |draft, value| {
        let bytes = size(value, 1 << 10..=1 << 30, "from 1 KiB to 1 GiB");
        set(&mut draft.config.parse.max_link_bytes, bytes.map(as_usize))
    }),
    row("max_parse_time", |draft, value| {
        set(&mut draft.config.parse.max_parse_time, time_out(value))
    }),
    // Build.
    of_build(row("base_url", |draft, value| {
        set(&mut draft.base_url, request::public_url(value))
    })),
    of_build(list_row("inputs", |draft, value| {
        set(
            &mut draft.inputs,
            list(value, |item| filled(item, "a file, a folder or -")),
        )
    })),
    of_build(row("input_format", |draft, value| {
        let words = [
            ("auto", None),
            ("text", Some(InputFormat::Text)),
            ("csv", Some(InputFormat::Csv)),
            ("ndjson", Some(InputFormat::Ndjson)),
            ("sitemap", Some(InputFormat::Sitemap)),
        ];
        set(&mut draft.config.build.format, word(value, &words))
    })),
    of_build(row("strict", |draft, value| {
        set(&mut draft.config.build.strict, switch(value))
    })),
    of_build(row("html_suffix", |draft, value| {
        let words = [
            ("auto", HtmlSuffix::Auto),
            ("keep", HtmlSuffix::Keep),
            ("drop", HtmlSuffix::Drop),
        ];
        set(&mut draft.config.build.html_suffix, word(value, &words))
    })),
    // Run.
    row("fresh", |draft, value| set(&mut draft.fresh, switch(value))),
    of_program(row("summary", |draft, value| {
        let words = [("json", SummaryFormat::Json), ("text", SummaryFormat::Text)];
        set(&mut draft.summary, word(value, &words))
    })),
    of_program(row("quiet", |draft, value| {
        set(&mut draft.quiet, switch(value))
    })),
    of_program(row("verbose", |draft, value| {
        set(
            &mut draft.verbose,
            small_count(value, 0..=u32::from(u8::MAX)),
        )
    })),
    of_program(row("log", |draft, value| {
        set(&mut draft.log, word(value, &LOG_FORMATS))
    })),
    of_program(row("stop_timeout", |draft, value| {
        set(&mut draft.stop_timeout, time_out(value).map(StopTimeout))
    })),
    // Notify.
    in_notify(row("indexnow", |draft, value| {
        set(&mut draft.config.notify.indexnow, switch(value))
    })),
    in_notify(row("indexnow_endpoint", |draft, value| {
        set(
            &mut draft.config.notify.indexnow_endpoint,
            notify::endpoint(value),
        )
    })),
    in_notify(row("indexnow_key_file", |draft, value| {
        set(
            &mut draft.config.notify.indexnow_key_file,
            optional_path(value),
        )
    })),
    in_notify(row("indexnow_key_location", |draft, value| {
        set(
            &mut draft.config.notify.indexnow_key_location,
            notify::key_location(value),
        )
    })),
    in_notify(list_row("ping", |draft, value| {
        set(&mut draft.config.notify.ping, list(value, notify::ping))
    })),
    in_notify(row("robots_file", |draft, value| {
        set(&mut draft.config.notify.robots_file, optional_path(value))
    })),
    in_notify(list_row("hook_command", |draft, value| {
        set(
            &mut draft.config.notify.hook_command,
            list(value, |item| {
                text(item, "a program or an argument").map(str::to_owned)
            }),
        )
    })),
    in_notify(row("hook_shell", |draft, value| {
        set(
            &mut draft.config.notify.hook_shell,
            optional_text(value, "a command line"),
        )
    })),
    in_notify(secret(list_row("hook_url", |draft, value| {
        set(
            &mut draft.config.notify.hook_url,
            list(value, notify::hook_url),
        )
    }))),
    in_notify(list_row("hook_events", |draft, value| {
        set(
            &mut draft.config.notify.hook_events,
            notify::hook_events(value),
        )
    })),
    in_notify(row("hook_timeout", |draft, value| {
        set(&mut draft.config.notify.hook_timeout, time_out(value))
    })),
];

/// Entries of one file, and files of one index, at most (sitemaps.org protocol).
const MAX_ENTRIES: u64 = 50_000;

/// Uncompressed bytes of one file at most (sitemaps.org protocol: 50 MiB).
const MAX_FILE_BYTES: u64 = 52_428_800;

/// The formats of the log by their words.
const LOG_FORMATS: [(&str, LogFormat); 2] = [("text", LogFormat::Text), ("json", LogFormat::Json)];

/// Slowest rate: one request a day. Slower ones could not be waited for.
const MIN_RATE: f64 = 1.0 / 86_400.0;

/// Fastest rate that has a number; a gap below a microsecond is none.
const MAX_RATE: f64 = 1_000_000.0;

const fn row(name: &'static str, read: fn(&mut Draft, &Value) -> Read<()>) -> Setting {
    Setting {
        name,
        reach: Reach::Site,
        is_secret: false,
        is_in_notify: false,
        is_list: false,
        read,
    }
}

const fn list_row(name: &'static str, read: fn(&mut Draft, &Value) -> Read<()>) -> Setting {
    Setting {
        name,
        reach: Reach::Site,
        is_secret: false,
        is_in_notify: false,
        is_list: true,
        read,
    }
}

/// A setting of the program with all its sites.
const fn of_program(setting: Setting) -> Setting {
    Setting {
        reach: Reach::Program,
        ..setting
    }
}

/// A setting of `arpent build`.
const fn of_build(setting: Setting) -> Setting {
    Setting {
        reach: Reach::Build,
        ..setting
    }
}

/// A setting with a value that may be kept elsewhere.
const fn secret(setting: Setting) -> Setting {
    Setting {
        is_secret: true,
        ..setting
    }
}

/// A setting in the table `[notify]` of the file.
const fn in_notify(setting: Setting) -> Setting {
    Setting {
        is_in_notify: true,
        ..setting
    }
}

fn set<T>(slot: &mut T, read: Read<T>) -> Read<()> {
    *slot = read?;
    Ok(())
}

/// A size that a limit keeps small enough for memory.
fn as_usize(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

fn time_zone(value: &Value) -> Read<TimeZone> {
    let name = filled(value, "a time zone such as \"Europe/Paris\"")?;
    schedule::zone(&name).map_err(|error| Wrong::new(error.to_string()))
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

/// How many times as many.
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

/// Words, several of them with commas between them too.
fn ignored(value: &Value) -> Read<IgnoreConfig> {
    const EXPECTED: &str = r#""robots", "noindex", "canonical" or "retry-after""#;
    let mut ignored = IgnoreConfig::default();
    for words in list(value, |item| filled(item, EXPECTED))? {
        for word in words.split(',').map(str::trim_ascii) {
            match word {
                "robots" => ignored.robots = true,
                "noindex" => ignored.noindex = true,
                "canonical" => ignored.canonical = true,
                "retry-after" => ignored.retry_after = true,
                other => return Err(Wrong::found(EXPECTED, &Value::Text(other.to_owned()))),
            }
        }
    }
    Ok(ignored)
}

/// Sources of URLs by their words, several in one value or in a list.
fn sources(value: &Value) -> Read<DiscoverConfig> {
    const EXPECTED: &str = "links, sitemaps, feeds or list, several of them separated by commas";
    let mut sources = DiscoverConfig {
        links: false,
        sitemaps: false,
        feeds: false,
        list: false,
    };
    let words = list(value, |item| filled(item, EXPECTED))?;
    for word in words.iter().flat_map(|words| words.split(',')) {
        match word.trim() {
            "links" => sources.links = true,
            "sitemaps" => sources.sitemaps = true,
            "feeds" => sources.feeds = true,
            "list" => sources.list = true,
            _ => return Err(Wrong::found(EXPECTED, &Value::Text(word.to_owned()))),
        }
    }
    if words.is_empty() {
        return Err(Wrong::new(format!(
            "expected {EXPECTED}, found an empty list"
        )));
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
