//! The rules by which the sources are put into crates and modules, checked on the sources themselves: who may
//! use whom, which file owns which third-party crate, and which code may be async.
//!
//! Tests in the sources may use anything.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use crawler::store::Store;

use crate::words::CRATES;

/// Third-party crates and the only places that may name them: one file or folder, so that it can be
/// exchanged, and so that its types stay out of every public signature.
const OWNERS: [(&str, &[&str]); 35] = [
    ("axum", &["cli/src/http.rs", "cli/src/commands/page"]),
    ("base64", &["crawler/render/src/page.rs"]),
    (
        "brotli_decompressor",
        &["crawler/src/fetch/decode/brotli.rs"],
    ),
    ("chromiumoxide", &["crawler/render/src/"]),
    (
        "clap",
        &[
            "cli/src/args",
            "cli/src/commands/generate.rs",
            "cli/src/output.rs",
        ],
    ),
    (
        "clap_complete",
        &["cli/src/args/generate.rs", "cli/src/commands/generate.rs"],
    ),
    ("clap_mangen", &["cli/src/commands/generate.rs"]),
    ("comfy_table", &["cli/src/print/text.rs"]),
    ("cookie_store", &["crawler/src/client/cookies.rs"]),
    ("croner", &["crawler/src/schedule.rs"]),
    ("deadpool_postgres", &["crawler/fleet/src/catalogue"]),
    (
        "futures_util",
        &[
            "crawler/src/storage",
            "crawler/render/src/",
            "cli/src/commands/page.rs",
        ],
    ),
    (
        "getrandom",
        &[
            "crawler/src/notify/key.rs",
            "cli/src/commands/page/access.rs",
        ],
    ),
    ("governor", &["crawler/src/politeness"]),
    ("h2", &["crawler/src/fetch/"]),
    ("hyper", &["crawler/src/fetch/", "cli/src/http.rs"]),
    ("hyper_util", &["cli/src/http.rs"]),
    ("maud", &["cli/src/commands/page"]),
    (
        "html5ever",
        &["crawler/src/html/testing.rs", "crawler/src/parse/tree.rs"],
    ),
    ("csv_core", &["sitemap-core/src/read/list.rs"]),
    ("lettre", &["crawler/src/notify/mail.rs"]),
    ("object_store", &["crawler/src/storage"]),
    ("prometheus_client", &["cli/src/commands/daemon/metrics.rs"]),
    ("quick_xml", &["sitemap-core/src/"]),
    (
        "reqwest",
        &["crawler/src/fetch/http", "crawler/src/storage/bucket.rs"],
    ),
    ("robotstxt", &["crawler/src/robots"]),
    ("rusqlite", &["crawler/src/store/"]),
    (
        "rustix",
        &["crawler/src/machine.rs", "crawler/src/clock.rs"],
    ),
    (
        "rustls",
        &[
            "crawler/src/fetch/",
            "crawler/fleet/src/catalogue/tls.rs",
            "crawler/src/storage/bucket.rs",
        ],
    ),
    ("scraper", &["crawler/src/parse/"]),
    ("sd_notify", &["crawler/src/driver/daemon/service.rs"]),
    ("tokio_postgres", &["crawler/fleet/src/catalogue"]),
    (
        "tokio_postgres_rustls",
        &["crawler/fleet/src/catalogue/connection.rs"],
    ),
    ("webpki", &["crawler/src/fetch/"]),
    (
        "zstd",
        &["crawler/src/fetch/decode", "crawler/src/store/snapshot.rs"],
    ),
];

/// The code that may be async. The rest are plain functions: they take the time as an argument, and the caller of a
/// function that blocks decides on which thread.
const MAY_WAIT: [&str; 12] = [
    "cli/src/",
    "crawler/fleet/src/",
    "crawler/render/src/",
    "crawler/src/check/live",
    "crawler/src/client/",
    "crawler/src/crawl/",
    "crawler/src/driver/",
    "crawler/src/failure/",
    "crawler/src/fetch/",
    "crawler/src/notify/",
    "crawler/src/site_run",
    "crawler/src/storage",
];

/// Calls that start threads, tasks or programs, and the only places that have them.
const STARTERS: [(&str, &[&str]); 5] = [
    // The loop of the crawl and its work in parallel; requests for the metrics of a daemon; hosts of a worker.
    (
        "JoinSet",
        &[
            "cli/src/commands/daemon/metrics",
            "cli/src/commands/page",
            "cli/src/http.rs",
            "crawler/src/client/gate.rs",
            "crawler/src/crawl/",
            "crawler/src/driver/sessions.rs",
            "crawler/fleet/src/worker_loop.rs",
            "crawler/render/src/process.rs",
        ],
    ),
    // Work that blocks, outside of the threads of the runtime.
    (
        "spawn_blocking",
        &[
            "cli/src/commands/",
            "crawler/src/client/gate.rs",
            "crawler/src/crawl/",
            "crawler/src/driver/",
            "crawler/src/failure/panicked.rs",
            "crawler/src/fetch/dns.rs",
            "crawler/src/site_run.rs",
            "crawler/src/storage/states.rs",
        ],
    ),
    ("tokio::spawn", &[]),
    ("thread::spawn", &[]),
    // A hook, a browser, what people start from the page.
    (
        "Command::new",
        &[
            "cli/src/commands/page/actions.rs",
            "crawler/src/notify/command.rs",
            "crawler/render/src/process.rs",
        ],
    ),
];

/// The modules of the crawler from top to bottom, and what each uses besides itself: modules below it.
const MODULES: [(&str, &[&str]); 48] = [
    // For tests of this and other crates.
    ("testing", &["clock", "fetch", "html", "page", "url_key"]),
    (
        "driver",
        &[
            "client",
            "clock",
            "config",
            "crawl_state",
            "failure",
            "fetch",
            "human",
            "machine",
            "notify",
            "outcome",
            "politeness",
            "publish",
            "render",
            "retry_after",
            "schedule",
            "seeds",
            "served",
            "site",
            "site_run",
            "storage",
            "store",
            "summary",
            "url_key",
        ],
    ),
    (
        "failure",
        &[
            "audit",
            "build",
            "client",
            "fetch",
            "outcome",
            "parse",
            "publish",
            "retry_after",
            "seeds",
            "site_run",
            "sitemap_set",
            "storage",
            "store",
            "url_key",
            "why",
        ],
    ),
    (
        "summary",
        &[
            "build", "config", "export", "human", "notes", "notify", "outcome", "page", "publish",
            "report", "robots", "seeds", "served", "site", "site_run", "url_key", "view",
        ],
    ),
    // One session of a site, from the open state to how it ended.
    (
        "site_run",
        &[
            "client",
            "clock",
            "config",
            "crawl",
            "crawl_state",
            "fetch",
            "human",
            "machine",
            "notes",
            "notify",
            "outcome",
            "page",
            "politeness",
            "publish",
            "render",
            "report",
            "retry_after",
            "robots",
            "scope",
            "seeds",
            "served",
            "site",
            "storage",
            "store",
            "url_key",
            "verdict",
            "view",
        ],
    ),
    // Statements to a database. It runs no session.
    // The state compared with the URLs that others name. It sends requests only through what it is given.
    (
        "audit",
        &[
            "check",
            "clock",
            "config",
            "crawl_state",
            "human",
            "outcome",
            "page",
            "robots",
            "scope",
            "seeds",
            "site",
            "site_report",
            "sitemap_set",
            "store",
            "url_key",
            "verdict",
            "view",
        ],
    ),
    // The state on all URLs. It sends no request.
    (
        "site_report",
        &[
            "crawl_state",
            "human",
            "outcome",
            "page",
            "repeats",
            "site",
            "store",
            "url_key",
            "view",
        ],
    ),
    // The answers of a site to some requests. It sends requests only through what it is given.
    (
        "survey",
        &[
            "check",
            "client",
            "config",
            "crawl_state",
            "human",
            "notes",
            "page",
            "robots",
            "site",
            "store",
            "url_key",
            "view",
        ],
    ),
    // The state on one URL. It sends requests only through what it is given, and on demand.
    (
        "why",
        &[
            "check",
            "client",
            "clock",
            "config",
            "crawl_state",
            "fetch",
            "human",
            "lastmod",
            "outcome",
            "page",
            "publish",
            "repeats",
            "robots",
            "scope",
            "site",
            "store",
            "url_key",
            "verdict",
            "view",
        ],
    ),
    // It sends requests through a function that it is given.
    (
        "notify",
        &[
            "client", "config", "fetch", "human", "machine", "publish", "served", "site", "store",
            "url_key", "view",
        ],
    ),
    // It sends requests through functions that it is given.
    (
        "served",
        &[
            "check", "client", "human", "machine", "page", "publish", "robots", "store", "url_key",
            "view",
        ],
    ),
    // It reads files and sends no request.
    (
        "build",
        &[
            "config", "fetch", "notes", "outcome", "page", "parse", "robots", "scope", "seeds",
            "site", "store", "url_key", "verdict",
        ],
    ),
    (
        "diff",
        &["check", "human", "report", "sitemap_set", "store", "view"],
    ),
    (
        "sitemap_set",
        &[
            "check", "client", "outcome", "page", "publish", "store", "url_key",
        ],
    ),
    (
        "check",
        &["client", "page", "parse", "politeness", "robots", "url_key"],
    ),
    (
        "crawl",
        &[
            "client",
            "clock",
            "config",
            "crawl_state",
            "fetch",
            "frontier",
            "human",
            "lastmod",
            "notes",
            "outcome",
            "page",
            "parse",
            "pattern",
            "politeness",
            "render",
            "repeats",
            "retry_after",
            "robots",
            "scope",
            "seeds",
            "site",
            "store",
            "url_key",
            "verdict",
        ],
    ),
    // It sends no request and does not use the crawl: what is published comes from the store.
    (
        "publish",
        &[
            "config",
            "crawl_state",
            "export",
            "human",
            "lastmod",
            "machine",
            "notes",
            "outcome",
            "page",
            "pattern",
            "report",
            "robots",
            "seeds",
            "site",
            "storage",
            "store",
            "url_key",
            "verdict",
        ],
    ),
    (
        "export",
        &[
            "config",
            "crawl_state",
            "lastmod",
            "notes",
            "page",
            "pattern",
            "robots",
            "store",
            "url_key",
            "verdict",
        ],
    ),
    ("lastmod", &["config", "page", "store", "url_key"]),
    (
        "report",
        &["config", "crawl_state", "page", "seeds", "store", "url_key"],
    ),
    ("schedule", &["url_key"]),
    (
        "crawl_state",
        &["client", "page", "robots", "store", "verdict"],
    ),
    (
        "client",
        &[
            "clock",
            "config",
            "fetch",
            "machine",
            "notes",
            "outcome",
            "page",
            "parse",
            "politeness",
            "retry_after",
            "robots",
            "site",
            "url_key",
            "verdict",
        ],
    ),
    ("frontier", &["store", "url_key"]),
    (
        "politeness",
        &["config", "machine", "retry_after", "url_key"],
    ),
    ("repeats", &["config", "page", "url_key"]),
    (
        "verdict",
        &[
            "clock", "config", "fetch", "page", "robots", "scope", "site", "url_key",
        ],
    ),
    ("scope", &["config", "page", "pattern", "site", "url_key"]),
    ("seeds", &["outcome", "page", "store", "url_key"]),
    (
        "parse",
        &[
            "clock", "config", "fetch", "html", "page", "pattern", "url_key",
        ],
    ),
    ("robots", &["fetch", "page"]),
    ("html", &[]),
    ("render", &["config", "fetch", "url_key"]),
    ("fetch", &["config", "page", "url_key"]),
    ("retry_after", &["machine", "outcome", "url_key"]),
    // The bucket follows the folder of a set. It decides nothing.
    ("storage", &["config", "machine", "outcome"]),
    ("store", &["machine", "outcome", "page", "url_key"]),
    ("machine", &["clock"]),
    ("site", &["config", "url_key"]),
    ("config", &["url_key"]),
    ("notes", &["url_key"]),
    ("outcome", &["page"]),
    ("page", &["url_key"]),
    ("pattern", &["url_key"]),
    ("url_key", &[]),
    ("view", &["human"]),
    ("clock", &[]),
    ("human", &[]),
];

/// Dependencies that would bring a runtime, a network or a disk into `sitemap-core`.
const IMPURE: [&str; 8] = [
    "arpent",
    "crawler",
    "governor",
    "hyper",
    "reqwest",
    "rusqlite",
    "tokio",
    "tokio-util",
];

#[test]
fn each_third_party_crate_is_named_by_its_owner_only() {
    let mut strangers = BTreeSet::new();
    for (path, code) in sources() {
        for (name, owners) in OWNERS {
            let is_owner = owners.iter().any(|owner| path.starts_with(owner));
            if !is_owner && !uses(&code, name).is_empty() {
                strangers.insert(format!("{path} names {name}"));
            }
        }
    }
    assert_eq!(strangers, BTreeSet::new());
}

#[test]
fn every_owned_crate_has_an_owner_that_names_it() {
    let sources = sources();
    for (name, owners) in OWNERS {
        for owner in owners {
            let is_used = sources
                .iter()
                .any(|(path, code)| path.starts_with(owner) && !uses(code, name).is_empty());
            assert!(
                is_used,
                "{owner} does not name {name}: the list is out of date"
            );
        }
    }
}

#[test]
fn only_the_crawl_the_network_and_the_program_wait() {
    let mut waiting = BTreeSet::new();
    for (path, code) in sources() {
        let waits = ["async fn ", "async move ", "async {", ".await"]
            .iter()
            .any(|word| code.contains(word));
        if waits && !MAY_WAIT.iter().any(|place| path.starts_with(place)) {
            waiting.insert(path);
        }
    }
    // An implementation of `Fetch` whose answers come from tests.
    waiting.remove("crawler/src/testing.rs");
    assert_eq!(waiting, BTreeSet::new());
}

#[test]
fn crates_use_only_the_crates_below_them() {
    let mut strangers = BTreeSet::new();
    for (path, code) in sources() {
        let above: &[&str] = match path.split_once("/src/").map(|(krate, _)| krate) {
            Some("sitemap-core") => &["crawler", "cli", "arpent"],
            Some("crawler") => &["cli", "arpent", "arpent_fleet", "arpent_render"],
            Some("crawler/fleet" | "crawler/render") => {
                &["cli", "arpent", "arpent_fleet", "arpent_render"]
            }
            _ => &[],
        };
        strangers.extend(
            above
                .iter()
                .filter(|name| !uses(&code, name).is_empty())
                .map(|name| format!("{path} names {name}")),
        );
    }
    assert_eq!(strangers, BTreeSet::new());
    let manifest = read("sitemap-core/Cargo.toml");
    let (_, dependencies) = manifest
        .split_once("[dependencies]")
        .expect("there are dependencies");
    let (dependencies, _) = dependencies
        .split_once("\n[")
        .expect("other sections follow");
    let named: Vec<&str> = dependencies
        .lines()
        .filter_map(|line| line.split(['.', ' ', '=']).next())
        .filter(|name| IMPURE.contains(name))
        .collect();
    assert!(named.is_empty(), "sitemap-core depends on {named:?}");
}

#[test]
fn modules_use_the_modules_below_them() {
    let modules: BTreeMap<&str, &[&str]> = MODULES.into();
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, code) in sources() {
        let Some(inside) = path.strip_prefix("crawler/src/") else {
            continue;
        };
        let module = inside
            .split(['/', '.'])
            .next()
            .unwrap_or_default()
            .to_owned();
        // In these files the parent is the crate itself.
        let is_root = !inside.trim_end_matches("/mod.rs").contains('/');
        let parents = if is_root {
            uses(&code, "super")
        } else {
            Vec::new()
        };
        let used = uses(&code, "crate")
            .into_iter()
            .chain(parents)
            .filter(|used| *used != module);
        found.entry(module.clone()).or_default().extend(used);
    }
    found.remove("lib");
    assert_eq!(
        found.keys().map(String::as_str).collect::<Vec<_>>(),
        modules.keys().copied().collect::<Vec<_>>()
    );
    for (module, used) in found {
        let allowed: BTreeSet<String> = modules[module.as_str()]
            .iter()
            .map(|&name| name.to_owned())
            .collect();
        assert_eq!(
            used, allowed,
            "what the module {module} uses, and what the list has"
        );
    }
}

#[test]
fn no_module_uses_one_above_it() {
    for (position, (module, used)) in MODULES.iter().enumerate() {
        let below: Vec<&str> = MODULES[position + 1..]
            .iter()
            .map(|(name, _)| *name)
            .collect();
        for name in *used {
            assert!(
                below.contains(name),
                "{module} uses {name}, which is not below it"
            );
        }
    }
}

#[test]
fn the_table_and_the_mod_lines_have_the_order_of_the_list() {
    let source = read("crawler/src/lib.rs");
    let modules = MODULES.map(|(name, _)| name);
    let declared: Vec<&str> = source
        .lines()
        .filter_map(|line| {
            line.strip_prefix("pub ")
                .unwrap_or(line)
                .strip_prefix("mod ")
        })
        .filter_map(|line| line.strip_suffix(';'))
        .collect();
    assert_eq!(declared, modules, "the `mod` lines");
    let map = read("crawler/ARCHITECTURE.md");
    let (_, map) = map.split_once("## Modules").expect("the modules");
    let (map, _) = map.split_once("\n## ").expect("what follows");
    let drawn: Vec<&str> = map
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(" | ").next())
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .collect();
    assert_eq!(drawn, modules, "the table");
}

#[test]
fn names_of_values_are_in_one_place() {
    let kinds = ["lastmod", "notify", "publish", "run", "seeds", "validators"];
    let mut strangers = BTreeSet::new();
    for (path, code) in sources() {
        if !path.starts_with("crawler/src/") || path == "crawler/src/store/names.rs" {
            continue;
        }
        for kind in kinds {
            if code.contains(&format!("\"{kind}.")) {
                strangers.insert(format!("{path} has a name that begins with {kind}."));
            }
        }
    }
    assert_eq!(strangers, BTreeSet::new());
}

#[test]
fn few_places_start_threads_tasks_and_programs() {
    let mut strangers = BTreeSet::new();
    for (path, code) in sources() {
        for (starter, places) in STARTERS {
            if code.contains(starter) && !places.iter().any(|place| path.starts_with(place)) {
                strangers.insert(format!("{path} has {starter}"));
            }
        }
    }
    assert_eq!(strangers, BTreeSet::new());
}

/// A file imports a sibling only if that does not import it back, directly or through others. Imports from the parent
/// module, and those of a parent from its parts, do not count.
#[test]
fn files_of_one_module_form_no_circle() {
    let sources = sources();
    let circles: BTreeSet<String> = CRATES
        .iter()
        .flat_map(|member| circles(member, &sources))
        .collect();
    assert_eq!(circles, BTreeSet::new(), "files that import each other");
}

/// The files of a crate that import themselves through others.
fn circles(member: &str, sources: &BTreeMap<String, String>) -> Vec<String> {
    let folder = format!("{member}/src/");
    let module = |path: &str| {
        let inside = path.strip_prefix(&folder)?;
        let inside = inside.strip_suffix(".rs")?;
        Some(inside.strip_suffix("/mod").unwrap_or(inside).to_owned())
    };
    let modules: BTreeSet<String> = sources.keys().filter_map(|path| module(path)).collect();
    let mut uses_of: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, code) in sources {
        let Some(module) = module(path) else { continue };
        let top = module.split('/').next().unwrap_or_default().to_owned();
        let mut used = BTreeSet::new();
        let mut parent = module.as_str();
        let mut way = String::new();
        while let Some((above, _)) = parent.rsplit_once('/') {
            way = if way.is_empty() {
                "super".to_owned()
            } else {
                format!("{way}::super")
            };
            let names = uses(code, &way).into_iter();
            used.extend(names.map(|name| format!("{above}/{name}")));
            parent = above;
        }
        let names = uses(code, &format!("crate::{top}")).into_iter();
        used.extend(names.map(|name| format!("{top}/{name}")));
        if !module.contains('/') {
            used.extend(uses(code, "crate"));
        }
        let is_ancestor = |name: &String| module.starts_with(&format!("{name}/"));
        let is_part = |name: &String| name.starts_with(&format!("{module}/"));
        used.retain(|name| {
            modules.contains(name) && *name != module && !is_ancestor(name) && !is_part(name)
        });
        uses_of.insert(module, used);
    }
    let imports_itself = |module: &String| {
        let mut waiting: Vec<&String> = uses_of[module].iter().collect();
        let mut seen = BTreeSet::new();
        while let Some(next) = waiting.pop() {
            if next == module {
                return true;
            }
            if seen.insert(next) {
                waiting.extend(uses_of.get(next).into_iter().flatten());
            }
        }
        false
    };
    let found = uses_of.keys().filter(|module| imports_itself(module));
    found.map(|module| folder.clone() + module).collect()
}

/// Structs with more fields than [`MAX_FIELDS`], and how many. A new one is not added, and no number grows.
const KNOWN_WIDE: [(&str, usize); 8] = [
    ("crawler/src/config/fetch.rs: FetchConfig", 17),
    ("crawler/src/config/publish.rs: PublishConfig", 28),
    ("crawler/src/page/facts.rs: PageFacts", 33),
    ("crawler/src/parse/html.rs: Findings", 19),
    ("crawler/src/site_report/outline.rs: ReportOutline", 20),
    ("crawler/src/site_report/rows.rs: UrlRow", 27),
    ("crawler/src/store/sessions.rs: StoredSession", 19),
    ("crawler/src/why.rs: UrlExplanation", 22),
];

#[test]
fn structs_have_few_fields() {
    let mut wide: BTreeMap<String, usize> = BTreeMap::new();
    for (path, code) in sources() {
        for (name, block) in blocks(&code, "struct") {
            let fields = fields_of(&block).len();
            if fields > MAX_FIELDS {
                wide.insert(format!("{path}: {name}"), fields);
            }
        }
    }
    let known = KNOWN_WIDE.map(|(name, fields)| (name.to_owned(), fields));
    assert_eq!(
        wide,
        known.into(),
        "structs with many fields, and the list of those that are known"
    );
}

/// The lines with the fields of a struct.
fn fields_of(block: &str) -> Vec<&str> {
    let lines = block.lines().skip(1);
    let is_field = |line: &&str| line.starts_with("    ") && !line.starts_with("     ");
    let fields = lines.filter(is_field).map(str::trim);
    fields.filter(|line| line.contains(": ")).collect()
}

/// Types with `impl` blocks in more than two files, and in how many. A new one is not added, and no number grows.
const KNOWN_SCATTERED: [(&str, usize); 6] = [
    ("crawler/fleet: Catalogue", 5),
    ("crawler: Audit", 3),
    ("crawler: CrawlLoop", 4),
    ("crawler: Documents", 3),
    ("crawler: Store", 4),
    ("sitemap-core: Set", 3),
];

/// A type has its methods in at most two files: a limit on the fields of a struct alone is obeyed with methods all over a room.
#[test]
fn methods_of_a_type_are_in_two_files_at_most() {
    let mut files: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for (path, code) in sources() {
        let krate = path.split("/src/").next().unwrap_or_default().to_owned();
        for (name, block) in blocks(&code, "impl") {
            let head = block.lines().next().unwrap_or_default();
            // An implementation of a trait is where the trait or the type is.
            if head.starts_with("impl") && !head.contains(" for ") {
                let files = files.entry((krate.clone(), name)).or_default();
                files.insert(path.clone());
            }
        }
    }
    let scattered: BTreeMap<String, usize> = files
        .into_iter()
        .filter(|(_, files)| files.len() > 2)
        .map(|((krate, name), files)| (format!("{krate}: {name}"), files.len()))
        .collect();
    let known = KNOWN_SCATTERED.map(|(name, files)| (name.to_owned(), files));
    assert_eq!(
        scattered,
        known.into(),
        "types with methods in more than two files, and the list of those that are known"
    );
}

/// Lines of code that a room may have: neither blank nor comment nor test. A commit that raises a ceiling gives the reason.
const CEILINGS: [(&str, usize); 44] = [
    ("cli", 13_750),
    ("cli/commands", 7_050),
    ("cli/settings", 4_150),
    ("cli/args", 1_100),
    ("crawler", 59_250),
    ("crawler/crawl", 7_400),
    ("crawler/parse", 5_900),
    ("crawler/publish", 6_050),
    ("crawler/store", 3_250),
    ("crawler/client", 3_050),
    ("crawler/driver", 2_600),
    ("crawler/fetch", 2_200),
    ("crawler/build", 1_900),
    ("crawler/check", 1_550),
    ("crawler/page", 1_550),
    ("crawler/fleet", 2_800),
    ("crawler/fleet/catalogue", 1_450),
    ("crawler/fleet/session", 550),
    ("crawler/render", 950),
    ("crawler/html", 1_450),
    ("crawler/site_run", 2_000),
    ("crawler/url_key", 1_300),
    ("crawler/repeats", 1_250),
    ("crawler/verdict", 1_200),
    ("crawler/export", 1_150),
    ("crawler/notify", 1_750),
    ("crawler/site_report", 1_150),
    ("crawler/summary", 1_200),
    ("crawler/why", 1_150),
    ("crawler/storage", 1_050),
    ("crawler/seeds", 900),
    ("crawler/audit", 1_000),
    ("crawler/politeness", 850),
    ("crawler/config", 750),
    ("crawler/frontier", 700),
    ("crawler/robots", 650),
    ("crawler/served", 550),
    ("crawler/lastmod", 600),
    ("sitemap-core", 13_000),
    ("sitemap-core/read", 5_750),
    ("sitemap-core/validate", 2_150),
    ("sitemap-core/partition", 1_750),
    ("sitemap-core/extension", 1_550),
    ("sitemap-core/write", 1_000),
];

/// A ceiling is at most so many lines above its room: it sinks with the room.
const CEILING_STEP: usize = 100;

/// Lines of all tests: the files in `tests`, and the tests in the sources.
const CEILING_OF_TESTS: usize = 69_400;

#[test]
fn rooms_are_under_their_ceilings() {
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    for (path, code) in sources() {
        let (krate, inside) = path.split_once("/src/").unwrap_or_default();
        let room = inside.split(['/', '.']).next().unwrap_or_default();
        let code = code.lines().filter(|line| !line.trim().is_empty());
        let code = code.count();
        let small = ["lib", "main", "testing"];
        if !small.contains(&room) {
            *lines.entry(format!("{krate}/{room}")).or_default() += code;
        }
        *lines.entry(krate.to_owned()).or_default() += code;
    }
    let ceilings: BTreeMap<&str, usize> = CEILINGS.into();
    let mut faults = Vec::new();
    for (room, lines) in &lines {
        // Rooms of a few hundred lines have that of their crate.
        let Some(ceiling) = ceilings.get(room.as_str()) else {
            if *lines > MAX_WITHOUT_CEILING {
                faults.push(format!("{room} has {lines} lines and no ceiling"));
            }
            continue;
        };
        if lines > ceiling {
            faults.push(format!("{room} has {lines} lines, more than {ceiling}"));
        } else if ceiling - lines > CEILING_STEP {
            faults.push(format!(
                "{room} has {lines} lines: lower its ceiling {ceiling}"
            ));
        }
    }
    let production: usize = CRATES.iter().filter_map(|krate| lines.get(*krate)).sum();
    let tests = all_lines() - production;
    if tests > CEILING_OF_TESTS {
        faults.push(format!(
            "the tests have {tests} lines, more than {CEILING_OF_TESTS}"
        ));
    }
    let gone = ceilings.keys().filter(|room| !lines.contains_key(**room));
    faults.extend(gone.map(|room| format!("{room} has a ceiling and no code")));
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Lines of all Rust files, neither blank nor comment.
fn all_lines() -> usize {
    let mut folders: Vec<_> = ["cli", "crawler", "sitemap-core", "tests"]
        .map(|folder| root().join(folder))
        .into();
    let mut lines = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder of sources") {
            let path = entry.expect("a file").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(path).expect("a source");
                let code = text.lines().map(str::trim);
                lines += code
                    .filter(|line| !line.is_empty() && !line.starts_with("//"))
                    .count();
            }
        }
    }
    lines
}

/// Lines that a room may have without a ceiling of its own.
const MAX_WITHOUT_CEILING: usize = 500;

/// The meaning of a reason is in its row of the table `reasons!`. A pattern of three reasons or more elsewhere is a column of that table.
#[test]
fn one_table_says_what_a_reason_means() {
    let is_name = |text: &str| text.chars().all(char::is_alphanumeric);
    let mut strangers = BTreeSet::new();
    for (path, code) in sources() {
        let code: String = code.split_whitespace().collect();
        let mut alternatives = 0;
        for part in code.split('|') {
            if part.starts_with("Reason::") && alternatives >= 2 {
                strangers.insert(path.clone());
            }
            alternatives = match part.rsplit_once("Reason::") {
                Some(("", name)) if is_name(name) => alternatives + 1,
                Some((_, name)) if is_name(name) => 1,
                Some(_) | None => 0,
            };
        }
    }
    strangers.remove("crawler/src/page/reason.rs");
    assert_eq!(strangers, BTreeSet::new());
}

/// The loop of a crawl, and the only files with its methods.
const DRIVER: (&str, [&str; 4]) = (
    "CrawlLoop",
    [
        "crawler/src/crawl/crawl_loop.rs",
        "crawler/src/crawl/crawl_loop/document_steps.rs",
        "crawler/src/crawl/crawl_loop/page_steps.rs",
        "crawler/src/crawl/crawl_loop/repeat_steps.rs",
    ],
);

/// Fields of a struct at most: a part with state of its own is a struct of its own.
const MAX_FIELDS: usize = 15;

/// A struct that other modules do not see and that its methods change is a part of the loop, or of a part: no other code
/// has its fields. A struct without such a method is plain data, which goes from one part to the next.
#[test]
fn parts_of_the_loop_keep_their_fields_to_themselves() {
    let (driver, files) = DRIVER;
    let sources = sources();
    let module = sources
        .iter()
        .filter(|(path, _)| path.starts_with("crawler/src/crawl/"));
    let module: Vec<_> = module.collect();
    let methods = module.iter().flat_map(|(_, code)| blocks(code, "impl"));
    let parts: BTreeSet<String> = methods
        .filter(|(_, block)| block.contains("&mut self"))
        .map(|(name, _)| name)
        .collect();
    assert!(parts.len() > 10, "only the parts {parts:?}");
    let mut faults = BTreeSet::new();
    for (path, code) in &module {
        for (name, block) in blocks(code, "struct") {
            let is_hidden = parts.contains(&name) && !block.starts_with("pub struct");
            if is_hidden
                && fields_of(block.as_str())
                    .iter()
                    .any(|field| field.starts_with("pub"))
            {
                faults.insert(format!("{path}: others have fields of {name}"));
            }
        }
    }
    assert_eq!(faults, BTreeSet::new());
    let is_of_driver = |code: &str| blocks(code, "impl").iter().any(|(name, _)| name == driver);
    let found = module.iter().filter(|(_, code)| is_of_driver(code));
    let found: Vec<&str> = found.map(|(path, _)| path.as_str()).collect();
    assert_eq!(found, files, "the files with methods of {driver}");
}

/// The outermost blocks of a file that begin with `keyword`, each with the type that it is of.
fn blocks(code: &str, keyword: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut lines = code.lines();
    while let Some(first) = lines.next() {
        let Some((before, head)) = first.split_once(keyword) else {
            continue;
        };
        if !before.is_empty() && !before.starts_with("pub") {
            continue;
        }
        // `impl<T> Trait for Name<T> {`, `struct Name<T> {`
        let generics = head.starts_with('<').then(|| head.split_once("> "));
        let head = generics.flatten().map_or(head, |(_, head)| head);
        let head = head.split_once(" for ").map_or(head, |(_, name)| name);
        let name = head.trim_start().chars();
        let name = name.take_while(|letter| letter.is_alphanumeric());
        let rest = lines.by_ref().take_while(|line| *line != "}");
        let rest = rest.filter(|_| first.ends_with('{'));
        let block = rest.fold(first.to_owned(), |block, line| {
            block
                + "
" + line
        });
        blocks.push((name.collect(), block));
    }
    blocks
}

#[test]
fn the_store_is_small() {
    let source = read("crawler/src/store/mod.rs");
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let is_method = |at: &usize| {
        let text = lines[*at..].iter().take(6).copied().collect::<String>();
        lines[*at].starts_with("pub fn ")
            && text
                .split(')')
                .next()
                .is_some_and(|head| head.contains("&self") || head.contains("&mut self"))
    };
    let methods: Vec<usize> = (0..lines.len()).filter(is_method).collect();
    assert!(methods.len() > 10, "the methods were not found");
    assert!(methods.len() <= 20, "{} methods", methods.len());
    for method in methods {
        assert!(lines[method - 1].starts_with("///"), "{}", lines[method]);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("state.db");
    drop(Store::open(&path).expect("a state"));
    let state = rusqlite::Connection::open(&path).expect("a database");
    let tables =
        "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    let tables: u32 = state
        .query_row(tables, [], |row| row.get(0))
        .expect("a number");
    assert!(tables <= 9, "{tables} tables");
}

#[test]
fn a_type_name_occurs_once_in_a_crate() {
    let mut files: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for (path, source) in sources() {
        // A build has this file or `storage.rs`.
        if path.contains("/tests") || path.ends_with("storage/none.rs") {
            continue;
        }
        let krate = path.split("/src/").next().unwrap_or_default().to_owned();
        for line in code(&source).lines() {
            if let Some(name) = type_name(line) {
                files
                    .entry((krate.clone(), name.to_owned()))
                    .or_default()
                    .push(path.clone());
            }
        }
    }
    let twice: Vec<_> = files.iter().filter(|(_, paths)| paths.len() > 1).collect();
    assert!(twice.is_empty(), "types of one name: {twice:#?}");
}

/// The name that a line of code defines: of a struct, enum or trait, outside of a macro.
fn type_name(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace().peekable();
    while words.next_if(|word| word.starts_with("pub")).is_some() {}
    // The path of `pub(in path)`.
    words.next_if(|word| word.ends_with(')'));
    if !matches!(words.next()?, "struct" | "enum" | "trait") {
        return None;
    }
    let name = words.next()?;
    let end = name
        .find(|it: char| !it.is_alphanumeric() && it != '_')
        .unwrap_or(name.len());
    Some(&name[..end]).filter(|name| !name.is_empty())
}

/// Every source file by its path in the repository: the code without comments and tests.
fn sources() -> BTreeMap<String, String> {
    let mut sources = BTreeMap::new();
    for member in CRATES {
        collect(&format!("{member}/src"), &mut sources);
    }
    assert!(sources.len() > 50, "only {} files", sources.len());
    sources
}

fn collect(folder: &str, sources: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(root().join(folder)).expect("a folder of sources") {
        let file = entry.expect("a file").path();
        let (Some(stem), Some(name)) = (file.file_stem(), file.file_name()) else {
            continue;
        };
        let path = format!("{folder}/{}", Path::new(name).display());
        if stem == "tests" || stem == "conformance" {
            continue;
        }
        if file.is_dir() {
            collect(&path, sources);
        } else if file.extension().is_some_and(|extension| extension == "rs") {
            sources.insert(path.clone(), code(&read(&path)));
        }
    }
}

/// The code that is compiled into the program: no comments, and nothing from the test module on.
fn code(source: &str) -> String {
    source
        .lines()
        .take_while(|line| !line.starts_with("mod tests {"))
        .map(|line| match line.find("//") {
            Some(0) => "",
            Some(start) if !line[..start].ends_with(':') => &line[..start],
            Some(_) | None => line,
        })
        .fold(String::new(), |text, line| text + line + "\n")
}

/// The names after `name::`, each without what follows: `crate::{a::b, c}` uses `a` and `c`.
fn uses(code: &str, name: &str) -> Vec<String> {
    let path = format!("{name}::");
    let mut used = Vec::new();
    for (start, _) in code.match_indices(&path) {
        let is_part = |character: char| character.is_alphanumeric() || character == '_';
        if !code[..start].ends_with(is_part) {
            let rest = &code[start + path.len()..];
            let trees = rest.strip_prefix('{').map_or_else(|| vec![rest], branches);
            used.extend(trees.into_iter().map(|tree| {
                let tree = tree.trim_start();
                tree.chars()
                    .take_while(|character| is_part(*character))
                    .collect::<String>()
            }));
        }
    }
    used.retain(|name| !name.is_empty());
    used
}

/// The parts of `a::{b, c}, d}` up to the brace that closes it.
fn branches(list: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (position, character) in list.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&list[start..position]);
                start = position + 1;
            }
            '}' => {
                parts.push(&list[start..position]);
                break;
            }
            _ => {}
        }
    }
    parts
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}
