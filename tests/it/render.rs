//! Pages that only a script can show, in the Chromium of this machine.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use crawler::testing::is_full;
use serde_json::Value;

use crate::support::{
    has_program,
    program::{Bench, Ran, Running},
    site::{Request, Response, Site},
    state::number,
};

const BROWSER: &str = "chromium-headless-shell";

/// Pages of the application.
const PAGES: usize = 9;

/// All pages of the application, and one data request a page.
const APPLICATION: &str = r#"
const number = Number(location.pathname.slice(3)) || 0;
fetch(`/data/${number}.json`).then(answer => answer.json()).then(page => {
    document.title = page.title;
    const root = document.getElementById('root');
    root.innerHTML = `<main><h1>${page.title}</h1><p>${page.text}</p></main><div onclick="location = '/p/1'">next</div>`;
    const shadow = root.appendChild(document.createElement('div')).attachShadow({mode: 'open'});
    shadow.innerHTML = page.children.map(child => `<a href="/p/${child}">page ${child}</a>`).join(' ');
});
fetch('/private/list.json');
fetch('/post', {method: 'POST', body: 'x'});
fetch('http://169.254.169.254/latest/meta-data/');
navigator.sendBeacon('/beacon', 'x');
new Image().src = '/pixel.gif';
new WebSocket(`ws://${location.host}/socket`);
navigator.serviceWorker?.register('/worker.js');
"#;

const SHELL: &str =
    "<!doctype html><title>application</title><div id=root></div><script src=/app.js></script>";

fn script(text: &str) -> Response {
    let mut script = Response::text(text);
    script.headers = vec![("Content-Type".into(), "text/javascript".into())];
    script
}

/// Words of a page, and of no other one.
fn words(name: &str) -> String {
    let words: Vec<String> = (0..60).map(|word| format!("{name}word{word}")).collect();
    words.join(" ")
}

/// A tree of pages that scripts make of data.
fn application(request: &Request) -> Response {
    let target = request.target.as_str();
    let page = |number: &usize| *number < PAGES;
    let number = |prefix: &str, suffix: &str| {
        let number = target.strip_prefix(prefix)?.strip_suffix(suffix)?;
        number.parse().ok().filter(page)
    };
    if target == "/robots.txt" {
        return Response::text("User-agent: *\nDisallow: /private/\n");
    }
    if target == "/app.js" {
        return script(APPLICATION);
    }
    if let Some(number) = number("/data/", ".json") {
        let children: Vec<_> = [2 * number + 1, 2 * number + 2].into();
        let children: Vec<usize> = children.into_iter().filter(page).collect();
        let text = words(&format!("p{number}"));
        return Response::text(format!(
            r#"{{"title": "Page {number}", "text": "{text}", "children": {children:?}}}"#
        ));
    }
    if target == "/" || number("/p/", "").is_some() {
        return Response::html(SHELL);
    }
    Response::status(404)
}

/// The URLs of the application.
fn all_of(site: &Site) -> Vec<String> {
    let mut urls = vec![site.url("/")];
    urls.extend((1..PAGES).map(|number| site.url(&format!("/p/{number}"))));
    urls
}

fn codes(summary: &Value) -> BTreeSet<&str> {
    let notes = summary["notes"].as_array().expect("notes are a list");
    notes
        .iter()
        .filter_map(|note| note["code"].as_str())
        .collect()
}

/// A crawl whose browsers have their folders in `bench`.
fn rendering(bench: &Bench, url: &str, options: &[&str]) -> Command {
    let mut command = bench.command(url, &["--render", "auto"]);
    command.args(options).env("TMPDIR", bench.path());
    command
}

/// The first processes of browsers in `folder`, each with its group.
fn browsers_in(folder: &Path) -> Vec<(String, String)> {
    let mark = format!("--user-data-dir={}", folder.display());
    processes(|process| {
        let arguments = fs::read(process.join("cmdline")).unwrap_or_default();
        let arguments = String::from_utf8_lossy(&arguments).into_owned();
        arguments.contains(&mark) && !arguments.starts_with("sh\0")
    })
}

/// The processes that `is_wanted` and that have not ended, each with its group.
fn processes(is_wanted: impl Fn(&Path) -> bool) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("/proc").flatten() {
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let fields: Vec<&str> = stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .collect();
        if let [state, _, group, ..] = fields[..]
            && state != "Z"
            && is_wanted(&entry.path())
        {
            found.push((
                entry.file_name().to_string_lossy().into_owned(),
                group.to_owned(),
            ));
        }
    }
    found
}

fn folders_in(bench: &Bench) -> Vec<String> {
    let entries = fs::read_dir(bench.path())
        .expect("the folder of the test")
        .flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names
        .filter(|name| name.starts_with("arpent-browser-"))
        .collect()
}

/// Fails when a process of browsers of `bench` is left after ten seconds; `known` are those that ran.
#[track_caller]
fn assert_no_browser(bench: &Bench, known: &[(String, String)]) {
    let left = || {
        let of_group = |process: &Path| {
            let stat = fs::read_to_string(process.join("stat")).unwrap_or_default();
            let rest = stat.rsplit(')').next().unwrap_or_default().to_owned();
            let group = rest.split_whitespace().nth(2).unwrap_or_default();
            known.iter().any(|(_, known)| known == group)
        };
        [processes(of_group), browsers_in(bench.path())].concat()
    };
    let until = Instant::now() + Duration::from_secs(10);
    while !left().is_empty() && Instant::now() < until {
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(left(), []);
}

#[test]
fn an_application_is_crawled_through_the_gate() {
    if !has_program(BROWSER) {
        return;
    }
    let (site, bench) = (Site::start(application), Bench::new());
    let ran = Ran::of(rendering(&bench, &site.url("/"), &[])).expect_code(0);
    assert_eq!(bench.published().urls(), all_of(&site));
    let summary = ran.summary();
    let expected = ["clicks-not-followed", "requests-not-sent"];
    assert_eq!(codes(&summary), expected.into());
    let mut requests: BTreeMap<String, usize> = BTreeMap::new();
    for seen in site.log() {
        *requests.entry(seen.target).or_default() += 1;
    }
    for (target, count) in requests {
        let known = ["/robots.txt", "/app.js", "/"].contains(&&*target)
            || target.starts_with("/p/")
            || target.starts_with("/data/")
            || target.contains("arpent");
        assert!(known, "{target} was asked for");
        assert!(count == 1 || target == "/", "{target}: {count}");
    }
    assert_no_browser(&bench, &[]);
    assert_eq!(folders_in(&bench), [""; 0]);
}

/// A shop with text of its own, whose products a script of another host adds, and a manual that needs no script.
fn shop(host: &str) -> impl Fn(&Request) -> Response + Send + Sync + use<> {
    let cdn = format!("<script src={host}/list.js></script>");
    move |request| {
        let target = request.target.as_str();
        let links = |prefix: &str| -> String {
            let links = (0..4).map(|number| format!("<a href={prefix}{number}>{number}</a> "));
            links.collect()
        };
        let page = |more: &str| {
            let name = target.replace('/', "x");
            Response::html(format!(
                "<title>{target}</title><main><p>{}</p>{more}</main>",
                words(&name)
            ))
        };
        match target {
            "/robots.txt" => Response::text(""),
            "/" => page(&(links("/shop/c") + &links("/manual/m"))),
            _ if target.starts_with("/shop/c") => page(&cdn),
            _ if target.starts_with("/shop/product") || target.starts_with("/manual/") => page(""),
            _ => Response::status(404),
        }
    }
}

#[test]
fn whole_groups_are_rendered_where_scripts_add_links() {
    if !has_program(BROWSER) {
        return;
    }
    let list = "for (const n of [1, 2]) document.body.insertAdjacentHTML('beforeend', \
        `<a href=\"/shop/product-${location.pathname.slice(7)}-${n}\">product</a>`);";
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let cdn = Site::allowing(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        script(list)
    });
    let host = cdn.origin().replace("127.0.0.1", "localhost");
    let (site, bench) = (Site::start(shop(&host)), Bench::new());
    Ran::of(rendering(&bench, &site.url("/"), &[])).expect_code(0);
    // Other hosts are not asked.
    assert_eq!(
        (bench.published().urls().len(), asked.load(Ordering::SeqCst)),
        (9, 0)
    );
    let bench = Bench::new();
    let allowed = ["--render-hosts", "localhost"];
    let summary = Ran::of(rendering(&bench, &site.url("/"), &allowed))
        .expect_code(0)
        .summary();
    assert_eq!(
        (number(&summary, "listed"), asked.load(Ordering::SeqCst)),
        (17, 1)
    );
    // Of each product and each page of the manual one of three was rendered, of the lists all.
    let mut reasons = bench.program();
    reasons
        .args(["why", &site.url("/shop/c3"), "--json", "--state"])
        .arg(bench.state());
    let why = Ran::of(reasons).expect_code(0).summary();
    assert_eq!(why["answer"]["rendered"]["links"], 2, "{why:#}");
    assert_eq!(why["answer"]["rendered"]["html_links"], 0, "{why:#}");
}

#[test]
fn a_browser_that_is_not_there_is_an_error_before_the_crawl() {
    let (site, bench) = (Site::of_two_pages(), Bench::new());
    let browser = ["--browser", "/no/such/browser"];
    let ran = Ran::of(rendering(&bench, &site.url("/"), &browser)).expect_code(2);
    assert!(ran.stderr.contains("/no/such/browser"), "{}", ran.stderr);
    assert_eq!(site.pages(), [""; 0]);
    let mut no_browser = rendering(&bench, &site.url("/"), &[]);
    no_browser.env("PATH", bench.path());
    let ran = Ran::of(no_browser).expect_code(2);
    assert!(ran.stderr.contains("install chromium"), "{}", ran.stderr);
}

/// Pages of scripts that do not end, or ask for too much.
fn hostile(request: &Request) -> Response {
    let scripts = [
        "for (;;) ;",
        "setInterval(() => fetch('/data?' + Math.random()), 100)",
        "alert(1); confirm(2); prompt(3); print(); onbeforeunload = () => 'stay'",
        "const hoard = []; for (;;) hoard.push(new Array(1e6).fill({}))",
        "location = '/moved'",
        "for (let n = 0; n < 50; n++) open('/popup')",
        "document.body.append(...Array.from({length: 3}, () => Object.assign(document.createElement('iframe'), {src: '/frame'})))",
        "fetch('/endless')",
        "fetch('/huge')",
    ];
    let target = request.target.as_str();
    let page = |script: &str, links: &str| {
        let text = words(&target.replace('/', "x"));
        Response::html(format!(
            "<title>{target}</title><p>{text}</p>{links}<script>{script}</script>"
        ))
    };
    match target {
        "/robots.txt" => Response::text(""),
        "/" => {
            let links =
                (0..scripts.len()).map(|number| format!("<a href=/h/{number}>{number}</a>"));
            page("", &links.collect::<String>())
        }
        "/moved" => page("", ""),
        "/huge" => Response::text("x".repeat(17 << 20)),
        "/endless" => Response::text("x".repeat(1_000)).repeated(5, Duration::from_secs(1)),
        _ if target.starts_with("/data") => Response::text("{}"),
        _ => match target.strip_prefix("/h/").map(str::parse::<usize>) {
            Some(Ok(number)) if number < scripts.len() => page(scripts[number], ""),
            _ => Response::status(404),
        },
    }
}

#[test]
fn no_script_stops_a_crawl() {
    if !has_program(BROWSER) {
        return;
    }
    let (site, bench) = (Site::start(hostile), Bench::new());
    let mut crawl = bench.command(
        &site.url("/"),
        &["--render", "always", "--render-time", "2s"],
    );
    crawl.env("TMPDIR", bench.path());
    let summary = Ran::of(crawl).expect_code(0).summary();
    // Each page is listed, and so is the one that a script led to.
    assert_eq!(number(&summary, "listed"), 11, "{summary:#}");
    assert!(codes(&summary).contains("not-rendered"), "{summary:#}");
    assert!(!site.pages().contains(&"/popup".to_owned()));
    assert_no_browser(&bench, &[]);
    assert_eq!(folders_in(&bench), [""; 0]);
}

/// Waits until a browser of `bench` runs; `None`: the crawl ended before.
fn wait_for_browser(bench: &Bench, crawl: &mut Running) -> Option<Vec<(String, String)>> {
    loop {
        let found = browsers_in(bench.path());
        if !found.is_empty() {
            return Some(found);
        }
        if crawl.has_ended() {
            return None;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// How often something is killed: often with `ARPENT_FULL`.
fn kills() -> u64 {
    if is_full() { 20 } else { 2 }
}

#[test]
fn a_browser_that_is_killed_costs_one_try() {
    if !has_program(BROWSER) {
        return;
    }
    let site = Site::start(application);
    for number in 0..kills() {
        let bench = Bench::new();
        let mut crawl = Running::of(rendering(&bench, &site.url("/"), &[]));
        let browsers = wait_for_browser(&bench, &mut crawl).expect("a browser is started");
        thread::sleep(Duration::from_millis(731 * number % 7_001));
        for (browser, _) in &browsers {
            drop(Command::new("kill").args(["-KILL", browser]).output());
        }
        crawl.wait().expect_code(0);
        assert_eq!(bench.published().urls(), all_of(&site), "{number}");
        assert_no_browser(&bench, &browsers);
        assert_eq!(folders_in(&bench), [""; 0]);
    }
}

#[test]
fn a_crawl_that_is_killed_leaves_no_browser() {
    if !has_program(BROWSER) {
        return;
    }
    let (site, bench) = (Site::start(application), Bench::new());
    for killed in 0..kills() {
        let mut crawl = Running::of(rendering(&bench, &site.url("/"), &[]));
        let Some(browsers) = wait_for_browser(&bench, &mut crawl) else {
            break;
        };
        thread::sleep(Duration::from_millis(137 * (killed % 13)));
        crawl.kill();
        assert_no_browser(&bench, &browsers);
    }
    Ran::of(rendering(&bench, &site.url("/"), &[])).expect_code(0);
    assert_eq!(bench.published().urls(), all_of(&site));
    assert_eq!(folders_in(&bench), [""; 0]);
}

/// Pages without data, whose texts and links are in a script of this version.
fn versioned(version: usize) -> String {
    let links = if version > 1 {
        "<a href=/p/4>four</a>"
    } else {
        ""
    };
    let text =
        |page: usize, since: usize| words(&format!("p{page}v{}", usize::from(version >= since)));
    let texts = [(0, 9), (1, 2), (2, 3), (3, 9), (4, 9)].map(|(page, since)| text(page, since));
    format!(
        "const page = Number(location.pathname.slice(3)) || 0; \
        document.getElementById('root').innerHTML = '<main><h1>page ' + page + '</h1><p>' + {texts:?}[page] + '</p></main>' + \
        (page ? '' : '<nav><a href=/p/1>one</a> <a href=/p/2>two</a> <a href=/p/3>three</a> {links}</nav>');"
    )
}

#[test]
fn pages_are_rendered_again_when_their_scripts_change() {
    if !has_program(BROWSER) {
        return;
    }
    let version = Arc::new(AtomicUsize::new(1));
    let current = Arc::clone(&version);
    let site = Site::undated(move |request| {
        let target = request.target.as_str();
        let is_page = |number: &str| {
            number
                .parse::<usize>()
                .is_ok_and(|number| (1..5).contains(&number))
        };
        match target {
            "/robots.txt" => Response::text(""),
            "/app.js" => script(&versioned(current.load(Ordering::SeqCst))),
            _ if target != "/" && !target.strip_prefix("/p/").is_some_and(is_page) => {
                Response::status(404)
            }
            _ if request.headers.contains_key("if-none-match") => {
                Response::status(304).with("ETag", "\"1\"")
            }
            _ => Response::html(SHELL).with("ETag", "\"1\""),
        }
    });
    let bench = Bench::new();
    // Writes a line for each start.
    let starts = bench.path().join("starts");
    let browser = bench.path().join("browser");
    let wrapper = format!(
        "#!/bin/sh\necho >>{}\nexec {BROWSER} \"$@\"\n",
        starts.display()
    );
    fs::write(&browser, wrapper).expect("a script");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&browser, executable).expect("it can be run");
    let browser = browser.to_str().expect("its path is text").to_owned();
    let crawl = |day: usize, scripts: usize| {
        version.store(scripts, Ordering::SeqCst);
        site.clear_log();
        let mut command = rendering(&bench, &site.url("/"), &["--browser", &browser]);
        command.env("ARPENT_CLOCK_AHEAD", format!("{day}d"));
        Ran::of(command).expect_code(0);
        let scripts = site
            .pages()
            .iter()
            .filter(|target| *target == "/app.js")
            .count();
        assert_eq!(scripts, 1, "the script is asked for once in each crawl");
        let starts = fs::read_to_string(&starts)
            .expect("the starts")
            .lines()
            .count();
        (bench.published().dates(&site.origin()), starts)
    };
    let (pages, starts) = crawl(0, 1);
    assert_eq!((pages.len(), starts), (4, 1), "{pages:?}");
    // Pages that a 304 confirms are as they were.
    assert_eq!(crawl(1, 1), (pages, 1));
    let (pages, starts) = crawl(2, 2);
    assert_eq!((pages.len(), starts), (5, 2), "{pages:?}");
    assert!(pages.values().all(Option::is_none), "{pages:?}");
    // Page 2 looked the same twice before it changed.
    let (pages, starts) = crawl(3, 3);
    assert_eq!((pages.len(), starts), (5, 3), "{pages:?}");
    let dated: Vec<_> = pages.iter().filter(|(_, date)| date.is_some()).collect();
    assert_eq!(dated.len(), 1, "{pages:?}");
    assert_eq!(dated[0].0, "/p/2", "{pages:?}");
}
