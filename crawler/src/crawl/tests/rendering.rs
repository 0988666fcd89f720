//! Pages that only a script can show, with a browser that does nothing but write what its scripts are.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::{
    config::RenderMode,
    fetch::BoxFuture,
    render::{PageToRender, Render, RenderError, RenderedPage, ResourceKind, ResourceRequest},
};

/// Adds the text of each script to the page.
#[derive(Default)]
struct Browser {
    shown: Mutex<Vec<String>>,
    /// It ends with this page.
    last: AtomicUsize,
    /// Pages whose URLs end so crash.
    crashes: &'static str,
}

impl Browser {
    fn shown(&self) -> Vec<String> {
        let mut shown = std::mem::take(&mut *self.shown.lock().unwrap());
        shown.sort();
        shown
    }

    async fn show(&self, page: PageToRender) -> Result<RenderedPage, RenderError> {
        let number = {
            let mut shown = self.shown.lock().unwrap();
            shown.push(page.url.path_and_query().to_owned());
            shown.len()
        };
        if number == self.last.load(Ordering::SeqCst) {
            return Err(RenderError::Browser("killed".to_owned()));
        }
        if !self.crashes.is_empty() && page.url.as_str().ends_with(self.crashes) {
            return Err(RenderError::Page("crashed".to_owned()));
        }
        let mut html = String::from_utf8(page.body).unwrap();
        let scripts: Vec<String> = html
            .split("<script src=")
            .skip(1)
            .filter_map(|rest| Some(rest.split_once('>')?.0.to_owned()))
            .collect();
        for script in scripts {
            let url = page.url.to_url().join(&script).unwrap();
            let request = ResourceRequest {
                method: "GET".to_owned(),
                url: url.into(),
                kind: ResourceKind::Script,
            };
            if let Some(answer) = page.resources.answer(request).await {
                html += std::str::from_utf8(&answer.body).unwrap();
            }
        }
        Ok(RenderedPage {
            html: html.into_bytes(),
            redirects: Vec::new(),
            clicks: 0,
            is_cut: false,
        })
    }
}

impl Render for Browser {
    fn render(&self, page: PageToRender) -> BoxFuture<'_, Result<RenderedPage, RenderError>> {
        Box::pin(self.show(page))
    }
}

fn rendering(site: FixtureSite, mode: RenderMode, browser: Browser) -> (Bench, Arc<Browser>) {
    let mut bench = Bench::new(site);
    let browser = Arc::new(browser);
    bench.config.parse.render.mode = mode;
    bench.render = Some(browser.clone());
    (bench, browser)
}

fn script(text: &str) -> FixturePage {
    let mut page = FixturePage::text(text);
    page.headers = vec![("content-type".into(), "text/javascript".into())];
    page
}

/// Text that is no shell's.
fn prose(path: &str) -> String {
    let words: Vec<String> = (0..60).map(|number| format!("word{number}")).collect();
    format!("<main><h1>{path}</h1><p>{}</main>", words.join(" "))
}

/// An application: each page is an empty element, and a script that has its text and its links.
fn application(latency: bool) -> FixtureSite {
    FixtureSite::default().scripted(move |asked, _| {
        let path = asked.strip_prefix("https://site.example")?;
        let number = path.strip_prefix("/p/");
        let number: Option<usize> = number.and_then(|number| number.parse().ok());
        let page = match (path, number) {
            ("/", _) => FixturePage::html(
                "<title>app</title><div id=root></div><script src=/s/0.js></script>",
            ),
            (_, Some(number)) if number < 40 => {
                let page = FixturePage::html(format!(
                    "<title>app</title><div id=root></div><script src=/s/{number}.js></script>"
                ));
                let late = latency && number.is_multiple_of(3);
                if late {
                    page.after(Duration::from_secs(3))
                } else {
                    page
                }
            }
            _ => {
                let number: usize = path
                    .strip_prefix("/s/")?
                    .strip_suffix(".js")?
                    .parse()
                    .ok()?;
                let children = [2 * number + 1, 2 * number + 2];
                let links = children.map(|child| format!("<a href=/p/{child}>page {child}</a>"));
                script(&format!("{}{}", prose(path), links.concat()))
            }
        };
        Some(page)
    })
}

#[tokio::test(start_paused = true)]
async fn an_application_is_listed_whole() {
    for latency in [false, true] {
        for mode in [RenderMode::Auto, RenderMode::Always] {
            let (bench, browser) = rendering(application(latency), mode, Browser::default());
            let crawled = bench.run().await;
            assert_eq!(crawled.ending, Ending::Drained);
            let listed = with_reason(&crawled, Reason::Listed);
            // The start page, and 39 below it.
            assert_eq!(listed.len(), 40, "{latency} {mode:?} {listed:?}");
            assert_eq!(browser.shown().len(), 40, "{latency} {mode:?}");
            assert_eq!(crawled.notes, []);
        }
    }
    // Without a browser there is the start page.
    let bench = Bench::new(application(false));
    let crawled = bench.run().await;
    assert_eq!(with_reason(&crawled, Reason::Listed), ["/"]);
}

/// A shop whose lists come by script, and a manual that needs none.
fn shop() -> FixtureSite {
    FixtureSite::default().scripted(|asked, _| {
        let path = asked.strip_prefix("https://site.example")?;
        let links = |directory: &str, count: usize| -> String {
            let link = |number| format!("<a href=/{directory}/{number}>x</a>");
            (0..count).map(link).collect::<Vec<_>>().concat()
        };
        Some(match path {
            "/" => FixturePage::html(prose(path) + &links("manual", 20) + &links("list", 8)),
            "/s.js" => script("<i>year</i>"),
            _ if path.starts_with("/manual/") => {
                FixturePage::html(prose(path) + "<script src=/s.js></script>")
            }
            _ if path.starts_with("/list/") && path.contains(".js") => {
                let number = path.strip_prefix("/list/")?.strip_suffix(".js")?;
                script(&format!("<a href=/item/{number}>item</a>"))
            }
            _ if path.starts_with("/list/") => {
                FixturePage::html(prose(path) + &format!("<script src={path}.js></script>"))
            }
            _ => FixturePage::html(prose(path)),
        })
    })
}

#[tokio::test(start_paused = true)]
async fn a_sample_decides_on_its_group() {
    let (mut bench, browser) = rendering(shop(), RenderMode::Auto, Browser::default());
    let crawled = bench.run().await;
    let listed = with_reason(&crawled, Reason::Listed);
    let items = listed.iter().filter(|path| path.starts_with("/item/"));
    assert_eq!((items.count(), listed.len()), (8, 37));
    let of = |shown: &[String], directory: &str| {
        let paths = shown.iter().filter(|path| path.starts_with(directory));
        paths.count()
    };
    let shown = browser.shown();
    let counts = ["/manual/", "/list/", "/item/"].map(|directory| of(&shown, directory));
    assert_eq!(counts, [3, 8, 3], "{shown:?}");
    // In the next crawl the lists are known, and of the manual no page has its turn.
    bench.now += jiff::SignedDuration::from_hours(24);
    bench.finish(crawled);
    let crawled = bench.run().await;
    assert_eq!(with_reason(&crawled, Reason::Listed).len(), 37);
    let shown = browser.shown();
    let counts = ["/manual/", "/list/", "/item/"].map(|directory| of(&shown, directory));
    assert!(
        counts[0] <= 1 && counts[1] == 8 && counts[2] <= 1,
        "{shown:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn rules_hold_for_scripts() {
    let pages = [
        (
            "https://site.example/robots.txt",
            FixturePage::text("User-agent: *\nDisallow: /secret/\n"),
        ),
        (
            "https://site.example/",
            FixturePage::html(
                "<div id=root></div><script src=/secret/a.js></script><script src=https://other.example/a.js></script>\
                 <script src=/gone.js></script><script src=/a.js></script>",
            ),
        ),
        (
            "https://site.example/secret/a.js",
            script("<a href=/secret-link>x</a>"),
        ),
        (
            "https://other.example/a.js",
            script("<a href=/other-link>x</a>"),
        ),
        (
            "https://site.example/a.js",
            script(&(prose("/") + "<a href=/link>x</a>")),
        ),
        (
            "https://site.example/link",
            FixturePage::html(prose("/link")),
        ),
    ];
    let (bench, _) = rendering(
        FixtureSite::new(pages),
        RenderMode::Auto,
        Browser::default(),
    );
    let crawled = bench.run().await;
    assert_eq!(with_reason(&crawled, Reason::Listed), ["/", "/link"]);
    let asked: Vec<String> = bench.site.requests().into_iter().map(|it| it.url).collect();
    let is_other = |url: &String| url.contains("secret") || url.contains("other.example");
    assert!(!asked.iter().any(is_other), "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn pages_that_crash_are_listed_by_their_html() {
    let browser = Browser {
        crashes: "/p/3",
        ..Browser::default()
    };
    let (bench, _) = rendering(application(false), RenderMode::Auto, browser);
    let crawled = bench.run().await;
    let listed = with_reason(&crawled, Reason::Listed);
    assert!(listed.contains(&"/p/3".to_owned()), "{listed:?}");
    assert!(!listed.contains(&"/p/7".to_owned()), "{listed:?}");
    let notes: Vec<_> = crawled.notes.iter().map(|note| note.code).collect();
    assert!(notes.contains(&"not-rendered"), "{notes:?}");
}

#[tokio::test(start_paused = true)]
async fn a_second_answer_that_fails_changes_nothing() {
    let pages = shop().script().unwrap();
    let site = FixtureSite::default().scripted(move |asked, before| {
        if before > 0 && asked.contains("/list/") && !asked.contains(".js") {
            return Some(FixturePage::status(404));
        }
        pages(asked, before)
    });
    let (bench, browser) = rendering(site, RenderMode::Auto, Browser::default());
    let crawled = bench.run().await;
    assert_eq!(crawled.ending, Ending::Drained);
    let listed = with_reason(&crawled, Reason::Listed);
    let lists = listed.iter().filter(|path| path.starts_with("/list/"));
    assert_eq!((lists.count(), listed.len()), (8, 29));
    assert!(
        browser
            .shown()
            .iter()
            .all(|path| !path.starts_with("/list/"))
    );
}

#[tokio::test(start_paused = true)]
async fn a_session_without_its_browser_is_partial() {
    for last in [1, 2, 5, 40] {
        let browser = Browser::default();
        browser.last.store(last, Ordering::SeqCst);
        let (mut bench, _) = rendering(application(last == 5), RenderMode::Auto, browser);
        let crawled = bench.run().await;
        assert_eq!(crawled.ending, Ending::Deferred, "{last}");
        let notes: Vec<_> = crawled.notes.iter().map(|note| note.code).collect();
        assert!(notes.contains(&"browser-ended"), "{notes:?}");
        bench.keep(crawled);
        bench.now += jiff::SignedDuration::from_hours(1);
        let crawled = bench.run().await;
        assert_eq!(crawled.ending, Ending::Drained, "{last}");
        assert_eq!(with_reason(&crawled, Reason::Listed).len(), 40, "{last}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_script_that_failed_once_is_asked_for_again() {
    let pages = application(false).script().unwrap();
    let site = FixtureSite::default().scripted(move |asked, before| {
        if asked.ends_with("/s/0.js") && before < 3 {
            return Some(FixturePage::status(503));
        }
        pages(asked, before)
    });
    let (mut bench, _) = rendering(site, RenderMode::Auto, Browser::default());
    let crawled = bench.run().await;
    assert_noted(&crawled, "could not be rendered");
    assert_eq!(with_reason(&crawled, Reason::Listed), ["/"]);
    bench.finish(crawled);
    bench.now += jiff::SignedDuration::from_hours(24);
    let crawled = bench.run().await;
    assert_eq!(with_reason(&crawled, Reason::Listed).len(), 40);
}

#[tokio::test(start_paused = true)]
async fn scripts_of_the_sample_lead_nowhere_else() {
    // Links to other sites by script make no group whole, and rules count after a redirect.
    let site = FixtureSite::default().scripted(|asked, _| {
        let path = asked.strip_prefix("https://site.example")?;
        let links = |number| format!("<a href=/post-{number}/>x</a>");
        let links: Vec<String> = (0..30).map(links).collect();
        Some(match path {
            "/" => FixturePage::html(prose(path) + &links.concat()),
            "/share.js" => script("<a href=https://social.example/>x</a>"),
            "/moved.js" => FixturePage::redirect(302, "/private/x.js"),
            "/private/x.js" => script("<a href=/hidden>x</a>"),
            _ if path.starts_with("/post-") => FixturePage::html(
                prose(path) + "<script src=/share.js></script><script src=/moved.js></script>",
            ),
            _ => FixturePage::html(prose(path)),
        })
    });
    let (mut bench, browser) = rendering(site, RenderMode::Auto, Browser::default());
    bench.config.scope.exclude = vec!["/private/*".to_owned()];
    let crawled = bench.run().await;
    assert_eq!(with_reason(&crawled, Reason::Listed).len(), 31);
    // The start page, and three others.
    assert_eq!(browser.shown().len(), 4);
    assert!(!bench.pages().contains(&"/private/x.js".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_sample_that_fails_is_taken_again() {
    let is_well = Arc::new(AtomicUsize::new(0));
    let well = Arc::clone(&is_well);
    // What scripts show of an error is no content: neither its directive nor its text.
    let site = FixtureSite::default().scripted(move |asked, _| {
        let path = asked.strip_prefix("https://site.example")?;
        let links = |prefix: &str| -> String {
            let links = (0..8).map(|number| format!("<a href={prefix}{number}>x</a>"));
            links.collect()
        };
        Some(match path {
            "/" => FixturePage::html(prose(path) + &links("/list/")),
            "/data.js" if well.load(Ordering::SeqCst) == 0 => FixturePage::status(503),
            "/data.js" => script("<a href=/item/1>x</a>"),
            "/view.js" if well.load(Ordering::SeqCst) == 0 => {
                script("<meta name=robots content=noindex><h1>Error</h1>")
            }
            "/view.js" => script(""),
            _ if path.starts_with("/list/") => FixturePage::html(
                prose(path) + "<script src=/data.js></script><script src=/view.js></script>",
            ),
            _ => FixturePage::html(prose(path)),
        })
    });
    let (mut bench, browser) = rendering(site, RenderMode::Auto, Browser::default());
    let crawled = bench.run().await;
    assert_noted(&crawled, "could not be rendered");
    assert_eq!(with_reason(&crawled, Reason::Listed).len(), 9);
    assert_eq!(browser.shown().len(), 4);
    bench.finish(crawled);
    is_well.store(1, Ordering::SeqCst);
    bench.now += jiff::SignedDuration::from_hours(24);
    let crawled = bench.run().await;
    assert_eq!(with_reason(&crawled, Reason::Listed).len(), 10);
    assert_eq!(crawled.notes, []);
}
