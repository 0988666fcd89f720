//! Pages that are asked for a second time: the page without parameters that may be content, and pages that changed.

use jiff::ToSpan as _;

use super::*;

/// A page with this title and these words, of which a page has enough not to be nobody's copy.
fn words(title: &str, first: &str, links: &str) -> FixturePage {
    let common: Vec<String> = (0..40).map(|number| format!("word{number}")).collect();
    let common = common.join(" ");
    FixturePage::html(format!(
        "<html lang=en><title>{title}</title><main><p>{common}</p><p>{first}</p>{links}</main>"
    ))
}

/// The path of a talk: its name looks like the id of a session.
fn talk(number: usize) -> String {
    format!("/agenda?session=keynote2026opening{number:02}")
}

/// A site whose start page, or pages of ten links each, link to these talks. `restless`: the page without a talk is another one each
/// time; `is_slow`: it answers last.
fn talks(count: usize, by_page: usize, (is_restless, is_slow): (bool, bool)) -> FixtureSite {
    FixtureSite::default().scripted(move |asked, before| {
        let path = asked.strip_prefix("https://site.example")?;
        let numbers: Vec<usize> = (0..count).collect();
        let links = |numbers: &[usize]| -> String {
            let link = |number: &usize| format!("<a href='{}'>t</a>", talk(*number));
            numbers.iter().map(link).collect::<Vec<_>>().concat()
        };
        let page = match path {
            "/" if by_page == 0 => words("home", "home", &links(&numbers)),
            "/" => {
                let pages = 0..count.div_ceil(by_page);
                let links: Vec<String> = pages
                    .map(|page| format!("<a href=/list/{page}>l</a>"))
                    .collect();
                words("home", "home", &links.concat())
            }
            "/agenda" => {
                let first = if is_restless {
                    format!("answer{before}")
                } else {
                    "all".to_owned()
                };
                let page = words("agenda", &first, "");
                if is_slow {
                    page.after(Duration::from_secs(20))
                } else {
                    page
                }
            }
            _ if path.starts_with("/list/") => {
                let number: usize = path["/list/".len()..].parse().ok()?;
                let mine = numbers.chunks(by_page).nth(number)?;
                words(path, path, &links(mine))
            }
            _ => {
                let number = numbers.iter().find(|number| talk(**number) == path)?;
                words("agenda", &format!("talk{number}"), "")
            }
        };
        Some(page)
    })
}

fn patterned(site: FixtureSite) -> Bench {
    let mut bench = Bench::new(site);
    bench.config.repeats.close_patterns = true;
    bench
}

fn listed_talks(crawled: &Crawled) -> usize {
    let listed = with_reason(crawled, Reason::Listed).into_iter();
    listed.filter(|path| path.contains('?')).count()
}

#[tokio::test(start_paused = true)]
async fn a_session_parameter_of_content_is_listed() {
    for by_page in [0, 1, 10] {
        for is_slow in [true, false] {
            let bench = patterned(talks(35, by_page, (false, is_slow)));
            let crawled = bench.run().await;
            assert_eq!(listed_talks(&crawled), 35, "{by_page} {is_slow}");
            let again = bench.pages();
            let again = again.iter().filter(|path| *path == "/agenda").count();
            assert_eq!(again, 2, "{by_page} {is_slow}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_changing_page_is_no_evidence_of_content() {
    let bench = patterned(talks(100, 1, (true, false)));
    let crawled = bench.run().await;
    let asked = bench.pages();
    let asked = asked.iter().filter(|path| path.contains('?')).count();
    assert!((10..20).contains(&asked), "{asked}");
    let copies = with_reason(&crawled, Reason::DuplicateOf).len();
    assert!(copies >= 80, "{copies}");
}

/// Where no page is a copy, they are left out as if they had not been found, unless there is no page without them.
#[tokio::test(start_paused = true)]
async fn unpaired_session_parameters_are_content_without_rules() {
    for has_short in [true, false] {
        let site = talks(35, 10, (false, false));
        let site = if has_short {
            site
        } else {
            let pages = site.script().unwrap();
            FixtureSite::default().scripted(move |asked, before| {
                let is_short = asked.ends_with("/agenda");
                (!is_short).then(|| pages(asked, before)).flatten()
            })
        };
        let mut bench = Bench::new(site);
        bench.config.repeats.close_patterns = false;
        let crawled = bench.run().await;
        let expected = if has_short { 0 } else { 35 };
        assert_eq!(listed_talks(&crawled), expected);
        let talks = reasons(&crawled)
            .into_iter()
            .filter(|(path, _)| path.contains('?'));
        assert_eq!(talks.count(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_crawl_that_goes_on_compares_again() {
    let whole = listed_talks(&patterned(talks(35, 10, (false, false))).run().await);
    for pages in 1..40 {
        let mut bench = patterned(talks(35, 10, (false, false)));
        bench.config.limits.max_pages = pages;
        let crawled = bench.run().await;
        bench.keep(crawled);
        bench.config.limits.max_pages = u64::MAX;
        assert_eq!(listed_talks(&bench.run().await), whole, "{pages}");
    }
}

/// Two directories of pages that have no dates: in `/r/` each answer is another one, in `/s/` only `changed` changed.
fn restless(changed: usize) -> FixtureSite {
    FixtureSite::default().scripted(move |asked, before| {
        let path = asked.strip_prefix("https://site.example")?;
        if path == "/" {
            let numbers =
                (0..10).flat_map(|number| [format!("/r/{number}"), format!("/s/{number}")]);
            let links: Vec<String> = numbers
                .map(|path| format!("<a href={path}>x</a>"))
                .collect();
            return Some(words("home", "home", &links.concat()));
        }
        let (directory, number) = path.rsplit_once('/')?;
        let number: usize = number.parse().ok()?;
        let first = match directory {
            "/r" => format!("{number} {before} {changed}"),
            "/s" if number < changed => format!("{number} new"),
            "/s" => format!("{number} old"),
            _ => return None,
        };
        Some(words(path, &first, ""))
    })
}

fn dated(bench: &Bench) -> Vec<String> {
    let published = bench.published().into_iter();
    let dated = published.filter_map(|(path, lastmod)| lastmod.map(|_| path));
    dated.collect()
}

#[tokio::test(start_paused = true)]
async fn changes_of_changing_pages_date_nothing() {
    let mut bench = Bench::new(restless(0));
    bench.session().await.published.unwrap();
    assert_eq!(dated(&bench), [""; 0]);
    for changed in [1, 2] {
        bench.site = restless(changed);
        bench.now += 24.hours();
        bench.session().await.published.unwrap();
        let expected: Vec<String> = (0..changed).map(|number| format!("/s/{number}")).collect();
        assert_eq!(dated(&bench), expected);
        let pages = bench.pages();
        let twice = |directory: &str| {
            let mut paths: Vec<&String> = pages
                .iter()
                .filter(|path| path.starts_with(directory))
                .collect();
            paths.sort();
            paths.windows(2).filter(|pair| pair[0] == pair[1]).count()
        };
        assert_eq!((twice("/r/"), twice("/s/")), (10, 1));
    }
}
