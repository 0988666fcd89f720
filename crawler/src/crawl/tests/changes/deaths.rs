//! Failures of a site that the guard objects to: the published set stays, and the recovered site is published.

use super::{
    PAGES, Row,
    site::{Answer, Layout, Now, Page, path, words},
};

/// Nights in which a growing login wall has to be detected: the larger half of the site is still there.
const NIGHTS: usize = 4;

fn articles(layout: Layout) -> Now {
    Now::articles(layout)
}

fn shop(layout: Layout) -> Now {
    let mut now = articles(layout);
    now.above = "<form>Password <input type=password></form>".to_owned();
    now
}

/// A number that depends on all of the text.
fn seed_of(text: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(text.as_bytes())
}

const FORM: &str = "<form action=/session><input type=hidden name=csrf>User <input name=user> Password \
                    <input type=password name=word> <button>Sign in</button></form>";

fn login(more: &str) -> Answer {
    Answer::Html(format!(
        "<title>Sign in</title><body><h1>Please sign in to go on</h1>{FORM} {more}"
    ))
}

/// The searches that shops suggest.
fn suggestions(target: &str) -> String {
    let names = (0..8).map(|item| {
        let name = words(seed_of(target).wrapping_add(item), 5);
        format!("<li><a href=/p/{item}>{name}</a>")
    });
    names.collect()
}

fn redirect(to: String) -> Answer {
    Answer::Redirect(302, to)
}

/// Everything leads to the login, with this address.
macro_rules! to_login {
    ($now:ident, |$target:ident| $to:expr) => {{
        $now.instead = Some(|$target, _| redirect($to));
        $now.below.push(("/login", |_| login("")));
    }};
}

fn own(title: &str, heading: &str, text: &str) -> Answer {
    Answer::Page(Page {
        title: title.to_owned(),
        heading: (!heading.is_empty()).then(|| heading.to_owned()),
        text: text.to_owned(),
    })
}

fn not_found(_: &str, _: &Page) -> Answer {
    own("Not found", "Not found", "There is nothing here.")
}

const ROWS: &[Row] = &[
    // Redirects.
    Row::new("to the login", articles, |now, _| {
        to_login!(now, |_target| "/login".to_owned());
    }),
    Row::new("to the login with the address", articles, |now, _| {
        to_login!(now, |target| format!("/login?next={target}"));
    }),
    Row::new("to a login for each page", articles, |now, _| {
        to_login!(now, |target| format!("/login{target}"));
    }),
    Row::new(
        "to a login for each page, with other suggestions",
        articles,
        |now, _| {
            now.instead = Some(|target, _| redirect(format!("/login{target}")));
            now.below
                .push(("/login", |target| login(&suggestions(target))));
        },
    ),
    Row::new("to a login that nobody may see", articles, |now, _| {
        now.instead = Some(|target, _| redirect(format!("/login?next={target}")));
        now.below.push(("/login", |_| Answer::Status(403)));
        now.reach = 1..usize::MAX;
    }),
    Row::new("to the front page", articles, |now, _| {
        now.instead = Some(|_, _| redirect("/".to_owned()));
        now.reach = 1..usize::MAX;
    }),
    Row::new("to a login, of a shop that has one", shop, |now, _| {
        to_login!(now, |target| format!("/login?next={target}"));
    }),
    // A login in place.
    Row::new("the login in place", articles, |now, _| {
        now.instead = Some(|_, _| login(""));
    }),
    Row::new("the login in place with suggestions", articles, |now, _| {
        now.instead = Some(|target, _| login(&suggestions(target)));
    }),
    Row::new("a login that repeats the title", articles, |now, _| {
        now.instead = Some(|_, page| {
            own(
                "Sign in",
                "",
                &format!("To read {} you have to sign in. {FORM}", page.title),
            )
        });
    }),
    Row::new("logins of two kinds", articles, |now, _| {
        now.instead = Some(|target, _| {
            if seed_of(target).is_multiple_of(2) {
                login(&suggestions(target))
            } else {
                let text = format!("{FORM} {}", suggestions(target));
                own("Members only", "For members only", &text)
            }
        });
    }),
    // "Not found" with status 200.
    Row::new("not found", articles, |now, _| {
        now.instead = Some(not_found);
    }),
    Row::new("the front page in the place of all", articles, |now, _| {
        now.instead = Some(|_, _| Answer::Page(Page::article(1)));
    }),
    // Hosts.
    Row::new("a parked domain", articles, |now, _| {
        now.instead = Some(|_, _| {
            Answer::Html(
            "<title>site.example</title><h1>This domain may be for sale</h1><a href=//parking.test/>Ask</a>".to_owned(),
        )
        });
    }),
    Row::new("maintenance", articles, |now, _| {
        now.instead = Some(|_, _| own("Maintenance", "Back soon", "We are at work on the site."));
    }),
    Row::new("an empty shell", articles, |now, _| {
        now.instead = Some(|_, _| {
            Answer::Html("<!doctype html><title></title><div id=root></div>".to_owned())
        });
    }),
    // Losses.
    Row::new(
        "half of the pages are gone without a trace",
        articles,
        |now, _| {
            for number in 1..=PAGES / 2 + 1 {
                now.answers.remove(&path(number));
                now.unlinked.insert(path(number), Answer::Status(410));
            }
        },
    ),
    Row::new(
        "half of the pages lead to the others",
        articles,
        |now, _| {
            now.answer_for(1, PAGES / 2, |number| redirect(path(number + PAGES / 2)));
            now.answer_for(PAGES, PAGES, |_| Answer::Status(410));
        },
    ),
    Row::new(
        "half of the pages lead to the others for good",
        articles,
        |now, _| {
            let twin = |number| Answer::Redirect(301, path(number + PAGES / 2));
            now.answer_for(1, PAGES / 2, twin);
        },
    ),
    // Night by night.
    Row::new(
        "the login in place, more each night",
        articles,
        |now, night| {
            now.instead = Some(|target, _| login(&suggestions(target)));
            now.reach = 1..7 * night + 1;
        },
    ),
    Row::new("not found, more each night", articles, |now, night| {
        now.instead = Some(not_found);
        now.reach = 1..7 * night + 1;
    }),
];

#[tokio::test(start_paused = true)]
async fn failures_of_a_site_are_not_published() {
    let mut failures = Vec::new();
    for row in ROWS {
        for layout in [Layout::Landmarks, Layout::Divs] {
            let (mut world, before, set) = Box::pin(row.published(layout)).await;
            let mut nights = Vec::new();
            let mut standing = set.clone();
            for night in 1..=NIGHTS {
                let ended = world.night(row.at_night(&before, night)).await;
                let is_refused = ended.is_err();
                nights.push(ended);
                if is_refused {
                    assert_eq!(world.published(), standing, "{} {layout:?}", row.name);
                }
                standing = world.published();
            }
            let is_seen = nights.last().is_some_and(Result::is_err);
            let published = nights.iter().filter(|night| night.is_ok()).count();
            let grows = row.name.ends_with("each night");
            if !is_seen || published > if grows { 2 } else { 0 } {
                failures.push((row.name, layout, nights));
                continue;
            }
            let recovered = world.night(before).await;
            if recovered.is_err() || !world.published().is_superset(&set) {
                failures.push((row.name, layout, vec![recovered]));
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
