//! What befalls sites. None of it is published, and the recovered site is.

use super::{
    PAGES, Row,
    site::{Answer, Layout, Now, Page, path, town, words},
};

/// Nights in which a wall that grows has to be seen: the larger half of the site is still there.
const NIGHTS: usize = 4;

fn articles(layout: Layout) -> Now {
    Now::articles(layout)
}

fn one_title(layout: Layout) -> Now {
    let mut now = articles(layout);
    now.edit(|_, page| page.title = "Acme".to_owned());
    now
}

/// Pages that have most of their words from the template.
fn alike(layout: Layout) -> Now {
    Now::of(layout, PAGES, |number| Page {
        title: words(number as u64, 2),
        heading: Some(words(number as u64, 2)),
        text: format!("{} {}", words(number as u64, 12), words(7, 60)),
    })
}

/// Pages that are much alike.
fn thin(layout: Layout) -> Now {
    Now::of(layout, PAGES, |number| Page {
        title: format!("Page {number}"),
        heading: Some(format!("Page {number}")),
        text: format!("This is the page {number} of the site about turnips."),
    })
}

/// Pages that say where they stand.
fn with_addresses(layout: Layout) -> Now {
    let mut now = articles(layout);
    now.edit(|number, page| {
        page.title = format!("Page {}", path(number));
        page.heading = Some(page.title.clone());
    });
    now
}

fn shop(layout: Layout) -> Now {
    let mut now = articles(layout);
    now.above = "<form>Password <input type=password></form>".to_owned();
    now
}

fn four(layout: Layout) -> Now {
    Now::of(layout, 3, Page::article)
}

/// A number that depends on all of the text.
fn seed_of(text: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(text.as_bytes())
}

const FORM: &str = "<form action=/session><input type=hidden name=csrf>User <input name=user> Password \
                    <input type=password name=word> <button>Sign in</button></form>";

pub(super) fn login(more: &str) -> Answer {
    Answer::Html(format!(
        "<title>Sign in</title><body><h1>Please sign in to go on</h1>{FORM} {more}"
    ))
}

/// What shops suggest.
pub(super) fn suggestions(target: &str) -> String {
    let names = (0..8).map(|item| {
        let name = words(seed_of(target).wrapping_add(item), 5);
        format!("<li><a href=/p/{item}>{name}</a>")
    });
    names.collect()
}

pub(super) fn redirect(to: String) -> Answer {
    Answer::Redirect(302, to)
}

/// Everything leads to the login, with this address.
macro_rules! to_login {
    ($now:ident, |$target:ident| $to:expr) => {{
        $now.instead = Some(|$target, _| redirect($to));
        $now.below.push(("/login", |_| login("")));
    }};
}

pub(super) fn own(page: &Page, title: &str, heading: &str, text: &str) -> Answer {
    let _ = page;
    Answer::Page(Page {
        title: title.to_owned(),
        heading: (!heading.is_empty()).then(|| heading.to_owned()),
        text: text.to_owned(),
    })
}

pub(super) fn not_found(target: &str, page: &Page) -> Answer {
    let text = format!(
        "Sorry, this page does not exist any more. You may like: {}",
        suggestions(target)
    );
    own(page, "Page not found", "Page not found", &text)
}

const ROWS: &[Row] = &[
    // Redirects.
    Row::new("to the login", articles, |now, _| {
        to_login!(now, |_target| "/login".to_owned());
    }),
    Row::new("to the login for good", articles, |now, _| {
        now.instead = Some(|_, _| Answer::Redirect(301, "/login".to_owned()));
        now.below.push(("/login", |_| login("")));
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
    Row::new("a third of the pages to the login", articles, |now, _| {
        to_login!(now, |target| format!("/login?next={target}"));
        now.reach = 1..PAGES / 3 + 2;
    }),
    Row::new(
        "half of the pages to a login for each",
        articles,
        |now, _| {
            to_login!(now, |target| format!("/login{target}"));
            now.reach = 1..PAGES / 2;
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
    Row::new("to a login, of thin pages", thin, |now, _| {
        to_login!(now, |target| format!("/login?next={target}"));
    }),
    Row::new("to a login, of a small site", four, |now, _| {
        to_login!(now, |target| format!("/login?next={target}"));
        now.reach = 1..usize::MAX;
    }),
    // A login in place.
    Row::new("the login in place", articles, |now, _| {
        now.instead = Some(|_, _| login(""));
    }),
    Row::new("the login in place with suggestions", articles, |now, _| {
        now.instead = Some(|target, _| login(&suggestions(target)));
    }),
    Row::new("the login in place with the address", articles, |now, _| {
        now.instead = Some(|target, _| login(&format!("You will see {target} then.")));
    }),
    Row::new("the login in place under the title", articles, |now, _| {
        now.instead = Some(|_, page| {
            own(
                page,
                &format!("Sign in - {}", page.title),
                &page.title,
                FORM,
            )
        });
    }),
    Row::new(
        "the login in place under the title, with suggestions",
        articles,
        |now, _| {
            now.instead = Some(|target, page| {
                own(
                    page,
                    &page.title,
                    "Please sign in",
                    &format!("{FORM} {}", suggestions(target)),
                )
            });
        },
    ),
    Row::new("a login that repeats the title", articles, |now, _| {
        now.instead = Some(|_, page| {
            own(
                page,
                "Sign in",
                "",
                &format!("To read {} you have to sign in. {FORM}", page.title),
            )
        });
    }),
    Row::new(
        "logins of two kinds, on half of the pages",
        articles,
        |now, _| {
            now.instead = Some(|target, page| {
                if seed_of(target).is_multiple_of(2) {
                    login(&suggestions(target))
                } else {
                    let text = format!("{FORM} {}", suggestions(target));
                    own(page, "Members only", "For members only", &text)
                }
            });
            now.reach = 1..PAGES / 2;
        },
    ),
    Row::new(
        "the login in place with suggestions, of a site of one title",
        one_title,
        |now, _| {
            now.instead = Some(|target, _| login(&suggestions(target)));
        },
    ),
    Row::new("the login in place, of a small site", four, |now, _| {
        now.instead = Some(|target, _| login(target));
        now.reach = 1..usize::MAX;
    }),
    // "Not found" with status 200.
    Row::new("not found", articles, |now, _| {
        now.instead = Some(|_, page| own(page, "Not found", "Not found", "There is nothing here."));
    }),
    Row::new("not found, with the address", articles, |now, _| {
        now.instead = Some(|target, page| {
            own(
                page,
                &format!("{target} was not found"),
                "Not found",
                &format!("There is no {target} here."),
            )
        });
    }),
    Row::new("not found, under the title", articles, |now, _| {
        now.instead = Some(|_, page| {
            own(
                page,
                &page.title,
                "Oh no",
                "There is nothing here, try the search.",
            )
        });
    }),
    Row::new("not found, with suggestions", articles, |now, _| {
        now.instead = Some(not_found);
    }),
    Row::new(
        "not found under the title, of pages that are much alike",
        alike,
        |now, _| {
            now.instead = Some(|_, page| {
                let text = format!("{} is not available. Try the search.", page.title);
                own(page, &page.title, &page.title, &text)
            });
        },
    ),
    Row::new(
        "not found, with suggestions, of a site of one title",
        one_title,
        |now, _| {
            now.instead = Some(not_found);
        },
    ),
    Row::new(
        "not found, with suggestions, of thin pages",
        thin,
        |now, _| now.instead = Some(not_found),
    ),
    Row::new(
        "not found, with suggestions, on a third",
        articles,
        |now, _| {
            now.instead = Some(not_found);
            now.reach = 1..PAGES / 3 + 2;
        },
    ),
    Row::new(
        "not found, with suggestions and no heading",
        articles,
        |now, _| {
            now.instead = Some(|target, _| {
                Answer::Html(format!(
                    "<title>Shop</title><body><p>Sorry, this page is not here any more. You may like: {}",
                    suggestions(target)
                ))
            });
        },
    ),
    Row::new("not found, behind what a list named", articles, |now, _| {
        now.instead = Some(|target, page| {
            own(
                page,
                "Not found",
                "",
                &format!("There is no {target} here."),
            )
        });
    })
    .built(),
    Row::new("the front page in the place of all", articles, |now, _| {
        now.instead = Some(|_, _| Answer::Page(Page::article(1)));
    }),
    Row::new(
        "not found, with suggestions, of pages that say where they stand",
        with_addresses,
        |now, _| now.instead = Some(not_found),
    ),
    Row::new(
        "a login with suggestions, of pages that say where they stand",
        with_addresses,
        |now, _| now.instead = Some(|target, _| login(&suggestions(target))),
    ),
    Row::new("not found under a lower heading", articles, |now, _| {
        now.instead = Some(|target, _| {
            Answer::Html(format!(
                "<title>Page not found | Acme</title><h2>Not found</h2><ul>{}</ul>",
                suggestions(target)
            ))
        });
    }),
    // Hosts.
    Row::new("a parked domain", articles, |now, _| {
        now.instead = Some(|_, _| {
            Answer::Html(
            "<title>site.example</title><h1>This domain may be for sale</h1><a href=//parking.test/>Ask</a>".to_owned(),
        )
        });
    }),
    Row::new("a parked domain with advertisements", articles, |now, _| {
        now.instead = Some(|target, _| {
            Answer::Html(format!(
                "<title>site.example is for sale</title><h1>Buy this domain</h1>{}",
                suggestions(target)
            ))
        });
    }),
    Row::new(
        "a parked domain with related searches",
        articles,
        |now, _| {
            now.instead = Some(|target, _| {
                Answer::Html(format!(
                    "<title>site.example is for sale</title><div><h2>Related searches</h2>{}</div>",
                    suggestions(target)
                ))
            });
        },
    ),
    Row::new("maintenance", articles, |now, _| {
        now.instead = Some(|_, page| {
            own(
                page,
                "Maintenance",
                "Back soon",
                "We are at work on the site.",
            )
        });
    }),
    Row::new(
        "maintenance that tells the time and the page",
        articles,
        |now, _| {
            now.instead = Some(|target, page| {
                let time = seed_of(target) % 60;
                let text = format!(
                    "At 12:{time:02} on May {}, {} was asked for. Request {:x}.",
                    time % 28 + 1,
                    page.title,
                    seed_of(target)
                );
                own(page, &page.title, "Back soon", &text)
            });
        },
    ),
    Row::new("a challenge for browsers", articles, |now, _| {
        now.instead = Some(|target, _| {
            Answer::Html(format!(
                "<title>Just a moment...</title><h1>Checking your browser</h1><p>Ray ID: {:x} {}<script>1</script>\
             <noscript>Please allow scripts</noscript>",
                seed_of(target),
                town(usize::try_from(seed_of(target) % 997).unwrap())
            ))
        });
    }),
    Row::new("an empty shell", articles, |now, _| {
        now.instead = Some(|_, _| {
            Answer::Html("<!doctype html><title></title><div id=root></div>".to_owned())
        });
    }),
    Row::new("an empty shell under the titles", articles, |now, _| {
        now.instead = Some(|_, page| own(page, &page.title, "", "<div id=root></div>"));
    }),
    Row::new("a database that is gone", articles, |now, _| {
        now.instead = Some(|target, _| {
            Answer::Html(format!(
                "<body>Error establishing a database connection in {target} after {}.{} s",
                seed_of(target) % 9,
                seed_of(target) % 97
            ))
        });
    }),
    Row::new("a script leads elsewhere", articles, |now, _| {
        now.instead = Some(|target, _| {
            Answer::Html(format!(
                "<script>location = \"/login?next={target}\"</script><body>"
            ))
        });
    }),
    // Losses.
    Row::new("half of the pages are gone", articles, |now, _| {
        now.answer_for(1, PAGES / 2 + 1, |_| Answer::Status(410));
    }),
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
    Row::new(
        "half of the pages are not for indexes",
        articles,
        |now, _| {
            now.edit(|number, page| {
                if number % 2 == 0 || number < 6 {
                    page.title
                        .push_str("</title><meta name=robots content=noindex>");
                }
            });
        },
    ),
    // Night by night.
    Row::new("to the login, more each night", articles, |now, night| {
        to_login!(now, |target| format!("/login?next={target}"));
        now.reach = 1..7 * night + 1;
    }),
    Row::new(
        "to a login for each page, more each night",
        articles,
        |now, night| {
            to_login!(now, |target| format!("/login{target}"));
            now.reach = 1..7 * night + 1;
        },
    ),
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
    Row::new(
        "an empty shell under the titles, more each night",
        articles,
        |now, night| {
            now.instead = Some(|_, page| own(page, &page.title, "", "<div id=root></div>"));
            now.reach = 1..7 * night + 1;
        },
    ),
];

#[tokio::test(start_paused = true)]
async fn what_befalls_sites_is_not_published() {
    let mut failures = Vec::new();
    for row in ROWS {
        for layout in [Layout::Landmarks, Layout::Divs] {
            let (mut world, before, set) = row.published(layout).await;
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
