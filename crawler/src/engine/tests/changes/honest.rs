//! What people do to their sites. All of it is published.

use super::{
    PAGES, Row,
    site::{Answer, Layout, Now, Page, path, town, words},
};

/// Nights after the first.
const NIGHTS: usize = 3;

const LOGIN: &str = "<div class=login>Log in <form action=/session>Name <input name=user> Password \
                     <input type=password name=word> <button>Go</button></form></div>";

pub(super) fn articles(layout: Layout) -> Now {
    Now::articles(layout)
}

fn small(layout: Layout) -> Now {
    Now::of(layout, 2, Page::article)
}

fn five(layout: Layout) -> Now {
    Now::of(layout, 4, Page::article)
}

fn with_company(company: &str) -> impl Fn(usize, &mut Page) {
    move |_, page| page.title = format!("{} | {company}", page.title)
}

fn with_title(title: &str) -> impl Fn(usize, &mut Page) {
    move |_, page| title.clone_into(&mut page.title)
}

fn edit_text(number: usize, page: &mut Page) {
    page.text = Page::edited(number).text;
}

pub(super) fn one_title(layout: Layout) -> Now {
    let mut now = articles(layout);
    now.edit(with_title("Acme GmbH"));
    now
}

/// A page for each town, with the same sentences.
fn branch(number: usize, more: &str) -> Page {
    let town = town(number);
    Page {
        title: format!("Plumber in {town}"),
        heading: Some(format!("Your plumber in {town}")),
        text: format!(
            "We are your plumber in {town}. Call us day and night, we come at once and mend pipes, taps, boilers and \
             drains for a fair price, with years of warranty and no hidden fees at all. {more}"
        ),
    }
}

const TRUSTED: &str = "Trusted since 1990 by thousands of happy families in your region.";
const BOOKED: &str = "Now with online booking, weekend visits and a free check of your heating.";

pub(super) fn branches(layout: Layout) -> Now {
    Now::of(layout, PAGES, |number| branch(number, TRUSTED))
}

/// A picture with hardly a word.
fn photo(number: usize) -> Page {
    Page {
        title: words(number as u64, 2),
        heading: None,
        text: format!(
            "<img src=/img/{}.jpg> {} <a href=/>Back to all pictures</a>",
            town(number),
            words(number as u64 + 300, 6)
        ),
    }
}

pub(super) fn photos(layout: Layout) -> Now {
    Now::of(layout, PAGES, photo)
}

/// What scripts fill, with what stands there for those without.
fn shell(title: String, without: &str) -> Page {
    Page {
        title,
        heading: None,
        text: format!("<noscript>{without}</noscript><div id=root></div>"),
    }
}

pub(super) fn shells(layout: Layout) -> Now {
    Now::of(layout, PAGES, |number| {
        shell(words(number as u64, 3), "This needs scripts")
    })
}

pub(super) fn one_shell(layout: Layout) -> Now {
    Now::of(layout, PAGES, |_| {
        shell("App".to_owned(), "This needs scripts")
    })
}

pub(super) fn shop(layout: Layout) -> Now {
    let mut now = articles(layout);
    now.above = LOGIN.to_owned();
    now
}

pub(super) fn data(layout: Layout) -> Now {
    Now::of(layout, PAGES, |number| data_of(number, 1))
}

/// Numbers only.
fn data_of(number: usize, day: usize) -> Page {
    Page {
        title: format!("Station {number}"),
        heading: Some(format!("Station {number}")),
        text: format!(
            "Temperature {} degrees, rain {} mm, wind {} knots",
            number + day,
            number * day,
            number % 7 + day
        ),
    }
}

fn forum_page(number: usize) -> Page {
    Page::article(number + 700)
}

fn query(number: usize) -> String {
    format!("/view?id={number}")
}

/// Pages up to `last` are retired to one page, some more each night, and others come.
fn retire(now: &mut Now, last: usize, are_linked: bool) {
    now.answers
        .insert("/archive".to_owned(), Answer::Page(Page::article(900)));
    for number in 1..=last {
        let retired = Answer::Redirect(301, "/archive".to_owned());
        if are_linked {
            now.answers.insert(path(number), retired);
        } else {
            now.answers.remove(&path(number));
            now.unlinked.insert(path(number), retired);
        }
        let new = Answer::Page(Page::article(number + 1_000));
        now.answers.insert(path(number + 1_000), new);
    }
}

/// All pages but the first get the name of the company as title and heading.
fn with_one_name(now: &mut Now, _: usize) {
    now.edit(|_, page| {
        page.title = "Acme".to_owned();
        page.heading = Some("Acme".to_owned());
    });
}

/// So many pages that say that they will be there, in one template.
pub(super) fn add_placeholders(now: &mut Now, pages: usize) {
    for number in 0..pages {
        let soon = Page {
            title: "Coming soon | Acme".to_owned(),
            heading: Some("Coming soon".to_owned()),
            text: "There will be something here. Come back in a few weeks.".to_owned(),
        };
        let path = format!("/soon/{}", town(number));
        now.answers.insert(path, Answer::Page(soon));
    }
}

const ROWS: &[Row] = &[
    Row::new("nothing", articles, |_, _| {}),
    Row::new("all texts are edited", articles, |now, _| {
        now.edit(edit_text);
    }),
    Row::new(
        "all texts are edited, each night",
        articles,
        |now, night| {
            now.edit(|number, page| edit_text(number + 100 * night, page));
        },
    ),
    Row::new("a new template", articles, |now, _| {
        now.above = format!("<p>{}</p>", words(99, 60));
        now.edit(|_, page| page.heading = page.heading.take().map(|text| format!("<b>{text}</b>")));
    }),
    Row::new("a relaunch to new paths", articles, |now, _| {
        now.relaunch(301, |number| format!("/new/{}", town(number)), forum_page);
    }),
    Row::new("a relaunch to query URLs", articles, |now, _| {
        now.relaunch(301, query, forum_page);
    }),
    Row::new(
        "a relaunch to query URLs, with status 302",
        articles,
        |now, _| {
            now.relaunch(302, query, forum_page);
        },
    ),
    Row::new(
        "a relaunch to query URLs under one title",
        articles,
        |now, _| {
            now.relaunch(301, query, forum_page);
            for answer in now.answers.values_mut() {
                if let Answer::Page(page) = answer {
                    page.title = "Acme".to_owned();
                }
            }
        },
    ),
    Row::new("a relaunch of a shop to query URLs", shop, |now, _| {
        now.relaunch(301, query, forum_page);
    }),
    Row::new(
        "a relaunch of branches to query URLs",
        branches,
        |now, _| {
            now.relaunch(301, query, |number| branch(number, BOOKED));
        },
    ),
    Row::new("a relaunch through a redirector", articles, |now, _| {
        now.relaunch(301, |number| format!("/n/{}", town(number)), forum_page);
        let targets: Vec<String> = now
            .unlinked
            .values()
            .map(|answer| match answer {
                Answer::Redirect(_, to) => to.clone(),
                Answer::Page(_) | Answer::Status(_) | Answer::Html(_) => String::new(),
            })
            .collect();
        for (number, (answer, target)) in now.unlinked.values_mut().zip(&targets).enumerate() {
            *answer = Answer::Redirect(301, format!("/go?to={number}&from={target}"));
        }
        for (number, target) in targets.into_iter().enumerate() {
            let go = format!("/go?to={number}&from={target}");
            now.unlinked.insert(go, Answer::Redirect(302, target));
        }
    }),
    Row::new(
        "the company is renamed",
        |layout| {
            let mut now = articles(layout);
            now.edit(with_company("Acme GmbH"));
            now
        },
        |now, _| {
            now.edit(|number, page| {
                page.title = format!("{} | Acme AG", Page::article(number).title);
            });
        },
    ),
    Row::new("the one title is another one", one_title, |now, _| {
        now.edit(with_title("Acme AG"));
    }),
    Row::new(
        "the one title is another one, and so are the texts",
        one_title,
        |now, _| {
            now.edit(with_title("Acme AG"));
            now.edit(edit_text);
        },
    ),
    Row::new("the titles become that of the site", articles, |now, _| {
        now.edit(with_title("Acme"));
    }),
    Row::new(
        "the titles become that of the site, and the texts are edited",
        articles,
        |now, _| {
            now.edit(with_title("Acme"));
            now.edit(edit_text);
        },
    ),
    Row::new("the titles become numbers", articles, |now, _| {
        now.edit(|number, page| {
            page.title = format!("Artikel {} | Shop", 4_000 + number);
            edit_text(number, page);
        });
    }),
    Row::new(
        "titles and headings become numbers, and all texts begin alike",
        articles,
        |now, _| {
            now.edit(|number, page| {
                let name = format!("Artikel {}", 4_000 + number);
                page.text = format!("{name} in den Warenkorb {}", Page::edited(number).text);
                page.title = format!("{name} | Shop");
                page.heading = None;
            });
        },
    ),
    Row::new(
        "a sentence that thin pages share is edited",
        branches,
        |now, _| {
            now.edit(|number, page| *page = branch(number, BOOKED));
        },
    ),
    Row::new(
        "a sentence of thin pages under one title is edited",
        |layout| {
            let mut now = branches(layout);
            now.edit(with_title("Plumbers | Acme"));
            now
        },
        |now, _| {
            now.edit(|number, page| {
                *page = branch(number, BOOKED);
                with_title("Plumbers | Acme")(number, page);
            });
        },
    ),
    Row::new(
        "the titles of thin pages become that of the site",
        branches,
        |now, _| {
            now.edit(with_title("Acme"));
        },
    ),
    Row::new("thin pages get a login", branches, |now, _| {
        now.above = LOGIN.to_owned();
        now.edit(|number, page| *page = branch(number, BOOKED));
    }),
    Row::new(
        "new words for those without scripts",
        shells,
        |now, night| {
            now.edit(|_, page| {
                page.text = shell(String::new(), &format!("Please allow scripts {night}")).text;
            });
        },
    ),
    Row::new(
        "new words for those without scripts, in one shell",
        one_shell,
        |now, _| {
            now.edit(|_, page| *page = shell("App".to_owned(), "Please allow scripts to run this"));
        },
    ),
    Row::new("a login in the header", articles, |now, _| {
        now.above = LOGIN.to_owned();
    }),
    Row::new(
        "a login in the header, and all texts",
        articles,
        |now, _| {
            now.above = LOGIN.to_owned();
            now.edit(edit_text);
        },
    ),
    Row::new(
        "a login on a site of one title, and all texts",
        one_title,
        |now, _| {
            now.above = LOGIN.to_owned();
            now.edit(edit_text);
        },
    ),
    Row::new(
        "a login on a site of four",
        |layout| Now::of(layout, 3, Page::article),
        |now, _| {
            now.above = LOGIN.to_owned();
            now.edit(edit_text);
        },
    ),
    Row::new("a shop with a login edits all texts", shop, |now, _| {
        now.edit(edit_text);
    }),
    Row::new("a shop with a login gets one title", shop, |now, _| {
        now.edit(with_title("Shop"));
        now.edit(edit_text);
    }),
    Row::new("a list, then a crawl", articles, |_, _| {}).built(),
    Row::new(
        "a list of a shop with a login, then a crawl",
        shop,
        |_, _| {},
    )
    .built(),
    Row::new(
        "a list of pages with one title, then a crawl",
        one_title,
        |_, _| {},
    )
    .built(),
    Row::new("a list of branches, then a crawl", branches, |_, _| {}).built(),
    Row::new("a list of pictures, then a crawl", photos, |_, _| {}).built(),
    Row::new(
        "a list of data, then a crawl, and new data",
        data,
        |now, night| {
            now.edit(|number, page| *page = data_of(number, night));
        },
    )
    .built(),
    Row::new("a section is closed", articles, |now, _| {
        now.answer_for(1, PAGES * 15 / 100, |_| Answer::Status(410));
    }),
    Row::new("a third is not for indexes", articles, |now, _| {
        now.edit(|number, page| {
            if number <= PAGES / 3 {
                page.text.push_str("<meta name=robots content=noindex>");
                page.title
                    .push_str("</title><meta name=robots content=noindex>");
            }
        });
    }),
    Row::new(
        "old pages are retired, a few each night",
        articles,
        |now, night| {
            retire(now, 3 * night, false);
        },
    ),
    Row::new(
        "old pages are retired, and still linked to",
        articles,
        |now, night| {
            retire(now, 3 * night, true);
        },
    ),
    Row::new("three pages are edited", small, |now, night| {
        now.edit(|number, page| edit_text(number + 100 * night, page));
        now.start.text = words(70 + night as u64, 30);
    }),
    Row::new("one of three pages is gone", small, |now, _| {
        now.answer_for(1, 1, |_| Answer::Status(410));
    }),
    Row::new("two of three pages are merged", small, |now, _| {
        now.answer_for(1, 1, |_| Answer::Redirect(301, path(2)));
        now.edit(edit_text);
    }),
    Row::new(
        "two of three pages are merged into a new one",
        small,
        |now, _| {
            now.answer_for(1, 2, |_| Answer::Redirect(301, "/both".to_owned()));
            now.answers
                .insert("/both".to_owned(), Answer::Page(Page::article(55)));
        },
    ),
    Row::new("three pages get one name", small, with_one_name),
    Row::new("five pages get one name", five, with_one_name),
    Row::new("five pages are edited", five, |now, _| now.edit(edit_text)),
    Row::new("one of five pages is gone", five, |now, _| {
        now.answer_for(1, 1, |_| Answer::Status(410));
    }),
    Row::new(
        "two of five pages are merged into a new one",
        five,
        |now, _| {
            now.answer_for(1, 2, |_| Answer::Redirect(302, "/both".to_owned()));
            now.answers
                .insert("/both".to_owned(), Answer::Page(Page::article(55)));
        },
    ),
    Row::new("another language", articles, |now, _| {
        now.edit(|number, page| *page = Page::article(number + 3_000));
        now.start = Page::article(2_999);
    }),
    Row::new(
        "another language under its own paths",
        articles,
        |now, _| {
            now.relaunch(
                302,
                |number| format!("/de{}", path(number)),
                |number| Page::article(number + 3_000),
            );
        },
    ),
    Row::new("a banner about cookies", articles, |now, _| {
        now.above = format!("<div>{}</div>", words(98, 60));
    }),
    Row::new(
        "a banner about cookies, and all texts",
        articles,
        |now, _| {
            now.above = format!("<div>{}</div>", words(98, 60));
            now.edit(edit_text);
        },
    ),
    Row::new(
        "a banner about cookies on a site of one title",
        one_title,
        |now, _| {
            now.above = format!("<div>{}</div>", words(98, 60));
        },
    ),
    Row::new("a banner about cookies on pictures", photos, |now, _| {
        now.above = format!("<div>{}</div>", words(98, 60));
    }),
    Row::new(
        "a banner about cookies on thin pages",
        branches,
        |now, _| {
            now.above = format!("<div>{}</div>", words(98, 60));
        },
    ),
    Row::new("pictures without a caption", photos, |now, _| {
        now.edit(|number, page| {
            page.text = format!("<img src=/img/{}.jpg>", town(number));
        });
    }),
    Row::new(
        "all prices",
        |layout| {
            let mut now = articles(layout);
            now.edit(|number, page| page.text = format!("{} now {} EUR", page.text, number * 7));
            now
        },
        |now, night| {
            now.edit(|number, page| {
                page.text = format!(
                    "{} now {} EUR",
                    Page::article(number).text,
                    number * 9 + night
                );
            });
        },
    ),
    Row::new("data", data, |now, night| {
        now.edit(|number, page| *page = data_of(number, night + 1));
    }),
    Row::new("data, with a word more", data, |now, night| {
        now.edit(|number, page| {
            *page = data_of(number, night + 1);
            page.text.push_str(" (preliminary, not checked)");
        });
    }),
    Row::new("a small budget", articles, |_, _| {}).with_budget(9),
    Row::new("a small budget, and all texts", articles, |now, _| {
        now.edit(edit_text);
    })
    .with_budget(9),
    Row::new("a small budget, and thin pages", branches, |now, _| {
        now.edit(|number, page| *page = branch(number, BOOKED));
    })
    .with_budget(9),
    Row::new("a small budget, and a login", shop, |now, _| {
        now.edit(edit_text);
    })
    .with_budget(9),
    Row::new(
        "a small budget, and a relaunch to query URLs",
        articles,
        |now, _| {
            now.relaunch(301, query, forum_page);
        },
    )
    .with_budget(60),
    Row::new("a large new section of placeholders", articles, |now, _| {
        add_placeholders(now, 3 * PAGES);
    }),
    Row::new(
        "a small budget, and a new section of placeholders",
        articles,
        |now, _| add_placeholders(now, PAGES * 3 / 10),
    )
    .with_budget(30),
    Row::new("many new pages", articles, |now, night| {
        for number in 0..50 * night {
            let page = Answer::Page(Page::article(number + 5_000));
            now.answers.insert(path(number + 5_000), page);
        }
    }),
];

#[tokio::test(start_paused = true)]
async fn what_people_do_is_published() {
    let mut refused = Vec::new();
    for row in ROWS {
        for layout in [Layout::Landmarks, Layout::Divs] {
            let (mut world, before, _) = row.published(layout).await;
            for night in 1..=NIGHTS {
                let ended = world.night(row.at_night(&before, night)).await;
                if let Err(codes) = ended {
                    refused.push((row.name, layout, night, codes));
                }
            }
        }
    }
    assert!(refused.is_empty(), "{refused:#?}");
}
