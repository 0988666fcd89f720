//! Numbers in README.md and the guide: each is that of the program, wherever a text repeats it.

use std::fs;

use crate::documentation::{Document, guide, root};

/// Where the program has a number, and the words around it in the texts, with `#` in its place. The number is that of a constant, or of
/// the default of a field, of a source file, or of a setting of `config/default.toml`.
const NUMBERS: &[(&str, &str, &[&str])] = &[
    // Politeness.
    (
        "config/default.toml",
        "rate",
        &[
            "At most # requests a second",
            "**: # requests a second at most",
            "crawl: at # requests a second",
            "arpent sends at most # requests a second",
            "The default is # requests a second",
            "| requests to one host | # a second",
        ],
    ),
    (
        "config/default.toml",
        "concurrency",
        &[
            "evenly spaced, and at most # at a time",
            "a second, # at a time",
        ],
    ),
    (
        "config/default.toml",
        "max_tries",
        &["`max_tries` (#)", "| tries of one URL | # |"],
    ),
    (
        "config/default.toml",
        "max_retry_after",
        &["`max_retry_after` (# s)", "| `Retry-After` | # s |"],
    ),
    (
        "crawler/src/retry_after.rs",
        "MAX_RETRY_AFTER",
        &["at most for # hours", "waits at most # h."],
    ),
    (
        "crawler/src/robots.rs",
        "MAX_CRAWL_DELAY",
        &["`Crawl-delay` up to # hour", "| `Crawl-delay` | # h |"],
    ),
    (
        "crawler/src/client/gate.rs",
        "ROBOTS_LIFETIME",
        &["reads robots.txt again after # day"],
    ),
    (
        "crawler/src/robots/body.rs",
        "MAX_ROBOTS_BYTES",
        &["| robots.txt | # KiB |"],
    ),
    (
        "crawler/src/politeness/host.rs",
        "WINDOW",
        &["of the last # pages failed", "of the last # answers"],
    ),
    (
        "crawler/src/politeness/host.rs",
        "FAILURES_PER_STEP",
        &["| # of the last 10 pages failed"],
    ),
    (
        "crawler/src/politeness/host.rs",
        "STEP_BACK",
        &[
            "| # seconds have passed with",
            "within # seconds of a doubling",
        ],
    ),
    (
        "crawler/src/politeness/host.rs",
        "GOOD_PER_STEP",
        &["have passed with # good answers"],
    ),
    (
        "crawler/src/politeness/host.rs",
        "MAX_STEP_BACK",
        &["doubles, up to # minutes"],
    ),
    (
        "crawler/src/politeness/host.rs",
        "LONG_WAITS",
        &["The same happens when # pages"],
    ),
    (
        "crawler/src/frontier/directories.rs",
        "FAILURES",
        &["After # failures in a row below one first-level directory"],
    ),
    (
        "crawler/src/frontier/directories.rs",
        "MAX_DIRECTORIES",
        &["URLs that wait for them | #, and"],
    ),
    (
        "crawler/src/frontier/mod.rs",
        "MAX_BEHIND",
        &["URLs that wait for them | 1,024, and # |"],
    ),
    // Limits.
    (
        "config/default.toml",
        "max_pages",
        &["| fetched pages of a session | # |"],
    ),
    (
        "config/default.toml",
        "max_time",
        &["| time of a session | # h |"],
    ),
    (
        "config/default.toml",
        "max_known_urls",
        &["| known URLs of a crawl | # |"],
    ),
    (
        "config/default.toml",
        "max_state_bytes",
        &["| size of the state | # GiB |"],
    ),
    (
        "config/default.toml",
        "max_links",
        &["| links of one page | #, and"],
    ),
    (
        "config/default.toml",
        "max_body_bytes",
        &["| body of one page | # MiB |"],
    ),
    (
        "config/default.toml",
        "timeout",
        &["| wait for the head of an answer | # s |"],
    ),
    (
        "config/default.toml",
        "keep_failing",
        &[
            "for # days (`keep_failing`)",
            "stay listed for # days while they answer 403",
            "that a listed page may fail | # days |",
        ],
    ),
    (
        "config/default.toml",
        "stop_timeout",
        &[
            "within # s (`stop_timeout`)",
            "all within `stop_timeout` (# s)",
            "time to stop after a signal | # s |",
        ],
    ),
    (
        "crawler/src/parse/mod.rs",
        "UNMEASURED_BYTES",
        &["CPU time of one page, after its first # KiB"],
    ),
    (
        "crawler/src/verdict.rs",
        "MAX_HOPS",
        &["| redirects in a row | # |"],
    ),
    (
        "crawler/src/url_key.rs",
        "MAX_URL_BYTES",
        &[
            "| length of a URL | # bytes |",
            "URL longer than # bytes",
            "a sitemap takes at most # bytes",
        ],
    ),
    (
        "crawler/src/html/tag.rs",
        "MAX_ATTRIBUTES",
        &["| attributes of a tag | #, and"],
    ),
    (
        "crawler/src/html.rs",
        "MAX_TAG_BYTES",
        &["| attributes of a tag | 256, and # KiB |"],
    ),
    (
        "crawler/src/client/cookies.rs",
        "MAX_HEADER_BYTES",
        &["The header `Cookie` has at most # KiB"],
    ),
    (
        "crawler/src/publish/remarks.rs",
        "MIN_REDIRECTS",
        &["When at least # pages, and a twentieth of the site"],
    ),
    (
        "crawler/src/client/download.rs",
        "MAX_DOCUMENT_BYTES",
        &["| one sitemap or feed | # MiB"],
    ),
    (
        "crawler/src/seeds/read.rs",
        "MAX_UNPACKED_BYTES",
        &["MiB, unpacked # MiB |"],
    ),
    (
        "crawler/src/seeds/list.rs",
        "MAX_LIST_BYTES",
        &["| one list of `--seeds` | # GiB |"],
    ),
    (
        "crawler/src/seeds.rs",
        "MAX_ROBOTS_SITEMAPS",
        &["feeds on pages | #, 100"],
    ),
    (
        "crawler/src/seeds.rs",
        "MAX_FEEDS",
        &["feeds on pages | 500, # |"],
    ),
    (
        "crawler/src/seeds.rs",
        "MAX_INDEX_DEPTH",
        &["| levels of sitemap indexes | # |"],
    ),
    (
        "crawler/src/site_run/notifier.rs",
        "HOOK_TIMEOUT",
        &["| time of a hook | # minute |"],
    ),
    (
        "crawler/src/publish/generations/list.rs",
        "MAX_ARCHIVED",
        &[
            "| sets for a rollback | # |",
            "arpent retains the last # sets",
            "arpent keeps the last # sets.",
        ],
    ),
    // Sessions and dates.
    (
        "crawler/src/crawl/validators.rs",
        "TRUTHS_FOR_TRUST",
        &["Trust returns after # correct answers"],
    ),
    (
        "crawler/src/verdict/removal.rs",
        "GONE_AGAIN_AFTER",
        &["a second 404, at least # hour later"],
    ),
    (
        "crawler/src/crawl/second_look.rs",
        "OF_DIRECTORY",
        &["pages that changed, # in each first-level directory"],
    ),
    (
        "crawler/src/crawl/second_look.rs",
        "AT_LEAST",
        &["and up to # in all"],
    ),
    // The guard.
    (
        "crawler/src/publish/guard.rs",
        "MIN_LOSS",
        &["The new set has at least # URLs fewer"],
    ),
    (
        "crawler/src/publish/guard.rs",
        "MIN_SMALL",
        &["more than half of at least # URLs"],
    ),
    (
        "crawler/src/publish/guard.rs",
        "MIN_GROWTH",
        &["published, and at least # more"],
    ),
    (
        "crawler/src/publish/guard.rs",
        "MIN_FAILING",
        &["| At least # URLs, and over half"],
    ),
    (
        "crawler/src/publish/guard.rs",
        "MIN_ALIKE",
        &["| At least #, and over 30 %"],
    ),
    (
        "crawler/src/publish/guard.rs",
        "MIN_FIRST_ALIKE",
        &["of the new set, and at least # pages"],
    ),
    (
        "config/default.toml",
        "max_growth",
        &["The new set has over # times as many URLs"],
    ),
    // Endless sites.
    (
        "crawler/src/repeats/growth.rs",
        "OF_DIRECTORY",
        &[
            "The limit is # in one directory",
            "lead, in one directory | # |",
            "After about # months",
            "`about # pages may be missing",
        ],
    ),
    (
        "crawler/src/repeats/growth.rs",
        "OF_BRANCH",
        &["It is # with all below a directory"],
    ),
    (
        "crawler/src/repeats/growth.rs",
        "OF_SITE",
        &["all below a directory, and # on the site"],
    ),
    (
        "crawler/src/repeats/growth.rs",
        "OF_PAGE",
        &["Of one page # URLs count at most"],
    ),
    (
        "crawler/src/repeats/growth.rs",
        "MAX_COPIES",
        &[
            "the first # pages with the same text",
            "a site with more than # copies",
        ],
    ),
    (
        "crawler/src/repeats/crowd.rs",
        "WINDOW",
        &["While # URLs wait", "half of the last # that links led to"],
    ),
    (
        "crawler/src/repeats/parameters.rs",
        "LAST",
        &["of the last # pages, on five paths"],
    ),
    (
        "crawler/src/repeats/parameters.rs",
        "NEAR_COPIES",
        &["when # of the last 20 pages"],
    ),
    (
        "crawler/src/repeats/parameters.rs",
        "PATHS",
        &["pages, on # paths"],
    ),
    (
        "crawler/src/repeats/parameters.rs",
        "SAMPLE",
        &["One URL in # is requested to find"],
    ),
    (
        "crawler/src/repeats/presumed.rs",
        "FIRST",
        &["are the first # URLs of each name"],
    ),
    (
        "crawler/src/repeats/presumed.rs",
        "SAMPLE",
        &["one in # of the others"],
    ),
    (
        "crawler/src/repeats/presumed.rs",
        "MAX_RECORDED",
        &["After # URLs with one of these parameters"],
    ),
    // The files.
    (
        "config/default.toml",
        "file_entries",
        &[
            "| `file_entries` | # |",
            "| entries of one file | # |",
            "for a site of at most # pages",
        ],
    ),
    (
        "config/default.toml",
        "min_section",
        &["| `min_section` | # |"],
    ),
    (
        "crawler/src/config/publish.rs",
        "feed_entries",
        &["one feed of the # pages that changed last"],
    ),
    (
        "sitemap-core/src/limits.rs",
        "MAX_ENTRIES",
        &["the protocol allows #.", "The protocol allows #."],
    ),
    (
        "sitemap-core/src/partition/thresholds.rs",
        "RAISED_SECTION",
        &["gets a file of its own from # URLs on, when"],
    ),
    (
        "sitemap-core/src/partition/section.rs",
        "MAX_SECTIONS",
        &["At most # names are possible"],
    ),
    (
        "sitemap-core/src/partition/section.rs",
        "MAX_SECTION_NAME_BYTES",
        &["A name has up to # letters"],
    ),
    (
        "crawler/src/publish/overview.rs",
        "MAX_ENTRIES",
        &[
            "titles by directory; from # pages on",
            "the titles of the first # pages",
        ],
    ),
    (
        "sitemap-core/src/extension/text.rs",
        "MAX_TEXT_CHARACTERS",
        &["descriptions to #;"],
    ),
    (
        "crawler/src/parse/videos.rs",
        "MAX_VIDEOS",
        &["a page has at most # videos"],
    ),
    (
        "sitemap-core/src/extension/mod.rs",
        "MAX_NEWS_PER_FILE",
        &["in `sitemap-news.xml.gz` too, # in a file"],
    ),
    (
        "sitemap-core/src/read/lines.rs",
        "MAX_RECORD_BYTES",
        &["A row has at most # KiB", "quotation mark, # KiB at most"],
    ),
    // What looks at sets, and who is notified.
    (
        "crawler/src/check/live.rs",
        "MAX_INDEXES",
        &["lists, # indexes deep"],
    ),
    (
        "crawler/src/check/live.rs",
        "MAX_ORIGINS",
        &["# such hosts. The note R67"],
    ),
    (
        "crawler/src/driver/daemon/other_work.rs",
        "LOOK_RETRY",
        &["looks again after # minutes"],
    ),
    (
        "crawler/src/notify/indexnow.rs",
        "MAX_URLS_PER_REQUEST",
        &["Up to # URLs go into one request"],
    ),
    (
        "cli/src/print/text.rs",
        "MAX_ROWS",
        &["prints the first # rows of each part"],
    ),
    (
        "cli/src/commands/report/page.rs",
        "MAX_ROWS",
        &["has the first # URLs, links and conflicts"],
    ),
    // The page for operators.
    (
        "crawler/src/site_run/last_session.rs",
        "MAX_RECENT",
        &[
            "last # sessions, URLs listed",
            "ends of the last # sessions",
        ],
    ),
    (
        "cli/src/commands/page/actions.rs",
        "MAX_DONE",
        &["output of the last # commands"],
    ),
    (
        "cli/src/commands/page/access.rs",
        "MAX_FAILURES",
        &["After # wrong tokens in a minute"],
    ),
    (
        "cli/src/commands/page/access.rs",
        "LOGIN_TIME",
        &["A login lasts # hours"],
    ),
    (
        "cli/src/commands/page/fleet.rs",
        "MAX_SITES",
        &["# at a time. It is read only"],
    ),
    // Rendering.
    (
        "crawler/src/crawl/rendering.rs",
        "OF_GROUP",
        &["# pages of each group"],
    ),
    (
        "config/default.toml",
        "render_time",
        &["`render_time` (# s)"],
    ),
    (
        "config/default.toml",
        "render_pages",
        &["# pages are rendered at once (`render_pages`)"],
    ),
    // The fleet.
    (
        "cli/src/settings/fleet.rs",
        "checkpoint_interval",
        &["stored as a checkpoint every # minutes"],
    ),
];

/// Units of times in seconds, and of sizes in bytes, as they come after a number.
const UNITS: [(&str, f64); 12] = [
    (" days", 86_400.0),
    (" day", 86_400.0),
    (" hours", 3_600.0),
    (" hour", 3_600.0),
    (" h", 3_600.0),
    (" minutes", 60.0),
    (" minute", 60.0),
    (" seconds", 1.0),
    (" s", 1.0),
    (" KiB", 1_024.0),
    (" MiB", 1_048_576.0),
    (" GiB", 1_073_741_824.0),
];

const WORDS: [&str; 13] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
];

/// A number as a text writes it.
fn number(text: &str) -> Option<f64> {
    let word = text.to_lowercase();
    if matches!(&*word, "a" | "an") {
        return Some(1.0);
    }
    let place = WORDS.iter().position(|known| *known == word);
    let digits = word.replace([',', '_'], "");
    let place = place.map(|place| f64::from(u8::try_from(place).expect("few words")));
    place.or_else(|| digits.parse().ok())
}

/// A product of numbers as sources and settings write it, with the unit of its wrapper.
fn value(written: &str) -> Option<f64> {
    let written = written.trim().trim_matches('"');
    if let Some((_, seconds)) = written.split_once("from_secs(") {
        return value(seconds.trim_end_matches(')'));
    }
    if let Some((one, bits)) = written.split_once("<<") {
        return Some(value(one)? * value(bits)?.exp2());
    }
    if written.contains('*') {
        return written.split('*').map(value).product();
    }
    let shorts = [
        ("ms", 0.001),
        ("s", 1.0),
        ("m", 60.0),
        ("h", 3_600.0),
        ("d", 86_400.0),
    ];
    let units = UNITS.iter().chain(&shorts);
    let with_unit =
        units.filter_map(|(unit, size)| Some(number(written.strip_suffix(unit)?.trim())? * size));
    number(written).or_else(|| with_unit.min_by(f64::total_cmp))
}

/// The number that the program has.
fn of_program(file: &str, name: &str) -> f64 {
    let text = fs::read_to_string(root().join(file)).expect("the file can be read");
    let written = text.lines().find_map(|line| {
        let field = line
            .trim()
            .strip_prefix(name)
            .and_then(|rest| rest.strip_prefix(": "));
        if let Some(written) = field.and_then(|field| field.strip_suffix(',')) {
            return Some(written);
        }
        let (left, right) = line.split_once(" = ")?;
        let named = left.trim().split(':').next()?.rsplit(' ').next()?;
        (named == name).then(|| right.split(';').next())?
    });
    let written = written.unwrap_or_else(|| panic!("{file} has no {name} on one line"));
    value(written).unwrap_or_else(|| panic!("{file}: {name} = {written} is not understood"))
}

/// All numbers that a text has in the place of `#`, with the size of the unit behind them.
fn stated(text: &str, words: &str) -> Vec<(String, f64)> {
    let (before, after) = words.split_once('#').expect("a place");
    let unit = UNITS.iter().find(|(unit, _)| {
        let rest = after.strip_prefix(unit);
        rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    });
    let size = unit.map_or(1.0, |(_, size)| *size);
    let mut found = Vec::new();
    let ends = text.match_indices(after).filter(|_| !after.is_empty());
    for (end, _) in ends {
        let begin = text[..end]
            .rfind([' ', '(', '`'])
            .map_or(0, |place| place + 1);
        if text[..begin].ends_with(before) && number(&text[begin..end]).is_some() {
            found.push((text[begin..end].to_owned(), size));
        }
    }
    found
}

#[test]
fn numbers_are_those_of_the_program() {
    let mut pages = guide();
    pages.push(Document::read(root().join("README.md")));
    let texts = pages
        .iter()
        .map(|page| page.text.split_whitespace().collect::<Vec<_>>().join(" "));
    let texts: Vec<String> = texts.collect();
    let mut wrong = Vec::new();
    for (file, name, places) in NUMBERS {
        let known = of_program(file, name);
        for words in *places {
            let found: Vec<_> = texts.iter().flat_map(|text| stated(text, words)).collect();
            if found.is_empty() {
                wrong.push(format!("no page says {words:?} ({file}: {name} = {known})"));
            }
            for (written, size) in found {
                let is_right =
                    number(&written).is_some_and(|written| (written * size - known).abs() < 1e-6);
                if !is_right {
                    wrong.push(format!(
                        "{words:?} has {written}, but {file}: {name} = {known}"
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn numbers_are_read_as_they_are_written() {
    for (written, expected) in [
        ("Duration::from_secs(10 * 60)", 600.0),
        ("4 * 52_428_800", 209_715_200.0),
        ("1 << 30", 1_073_741_824.0),
        ("\"15 MiB\"", 15_728_640.0),
        ("\"30d\"", 2_592_000.0),
        ("\"120s\"", 120.0),
        ("10.0", 10.0),
        ("2_048", 2_048.0),
    ] {
        assert_eq!(value(written), Some(expected), "{written}");
    }
    let text = "It waits at most 24 h. It waits at most two h. It waits at most long h.";
    let found = stated(text, "waits at most # h.");
    assert_eq!(
        found,
        [("24".to_owned(), 3_600.0), ("two".to_owned(), 3_600.0)]
    );
}
