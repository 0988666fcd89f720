//! Schemas, namespaces and the extensions of search engines (R68 to R71).

use super::{
    GOOD, SITEMAP, Supplied, check, extended, good, loc, now, page, rule, urlset, urlset_text,
};

pub(super) fn schema_and_namespaces() {
    rule("R68", "warning", 4, &urlset(""), &good());
    rule(
        "R68",
        "warning",
        3,
        &loc("http://a.b/"),
        &loc("http://a.bc/"),
    );
    let located = |schema: &str| {
        let attribute = format!(
            "<urlset xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:schemaLocation=\"{SITEMAP} {SITEMAP}/{schema}\""
        );
        Supplied::file(
            "sitemap.xml",
            urlset_text(GOOD).replacen("<urlset", &attribute, 1),
        )
    };
    rule(
        "R69",
        "warning",
        2,
        &located("siteindex.xsd"),
        &located("sitemap.xsd"),
    );
    rule("R70", "error", 3, &page("<x:y>1</x:y>"), &page(""));
    let undeclared = format!("<urlset xsi:schemaLocation=\"{SITEMAP} {SITEMAP}/sitemap.xsd\"");
    rule(
        "R70",
        "error",
        2,
        &Supplied::file(
            "sitemap.xml",
            urlset_text(GOOD).replacen("<urlset", &undeclared, 1),
        ),
        &located("sitemap.xsd"),
    );
    let own = |below: &str| {
        let root = if below.is_empty() {
            " xmlns:x=\"http://x.example/\""
        } else {
            ""
        };
        let text = urlset_text(&format!(
            "<url><loc>https://h.example/a</loc><x:y{below}>1</x:y></url>"
        ));
        Supplied::file(
            "sitemap.xml",
            text.replacen("<urlset", &format!("<urlset{root}"), 1),
        )
    };
    rule(
        "R70",
        "note",
        3,
        &own(" xmlns:x=\"http://x.example/\""),
        &own(""),
    );
    rule("R71", "note", 3, &own(""), &good());
}

pub(super) fn extensions() {
    let image = "<image:image><image:loc>https://cdn.example/1.jpg</image:loc></image:image>";
    rule(
        "R71",
        "error",
        3,
        &extended("<image:image/>"),
        &extended(image),
    );
    rule(
        "R71",
        "error",
        3,
        &extended(&image.repeat(1_001)),
        &extended(&image.repeat(1_000)),
    );
    let video = |inner: &str| {
        extended(&format!(
            "<video:video><video:thumbnail_loc>https://h.example/t.jpg</video:thumbnail_loc><video:title>T</video:title>\
             <video:description>D</video:description>{inner}</video:video>"
        ))
    };
    let content = "<video:content_loc>https://h.example/v.mp4</video:content_loc>";
    rule("R71", "error", 3, &video(""), &video(content));
    rule(
        "R71",
        "error",
        3,
        &video(&format!("{content}<video:duration>0</video:duration>")),
        &video(content),
    );
    let thumbnail = |url: &str| {
        extended(&format!(
            "<video:video><video:thumbnail_loc>{url}</video:thumbnail_loc><video:title>T</video:title>\
             <video:description>D</video:description>{content}</video:video>"
        ))
    };
    let (page, picture) = ("https://h.example/a", "https://h.example/a.jpg");
    rule("R71", "error", 3, &thumbnail(page), &thumbnail(picture));
    let image_at = |url: &str| extended(&image.replace("https://cdn.example/1.jpg", url));
    rule("R71", "warning", 3, &image_at(page), &image_at(picture));
    // An entry in an extension, and parts that only the schemas refuse.
    let with_entry = image.replace("</image:image>", &format!("{GOOD}</image:image>"));
    rule("R6", "error", 3, &extended(&with_entry), &extended(image));
    let shaped = |attribute: &str| {
        extended(&image.replace("<image:image", &format!("<image:image{attribute}")))
    };
    rule(
        "R71",
        "warning",
        3,
        &shaped(" xml:lang=\"de\""),
        &shaped(""),
    );
    let retired = |access: &str| {
        let news = format!(
            "<news:news><news:publication><news:name>N</news:name><news:language>en</news:language></news:publication>\
             <news:access>{access}</news:access><news:publication_date>{}</news:publication_date><news:title>T</news:title></news:news>",
            now()
        );
        check(&extended(&news))
    };
    assert!(retired("Free").has("R71", "warning", Some(3)));
    assert!(!retired("Subscription").has("R71", "warning", Some(3)));
    let is_page = content.replace("https://h.example/v.mp4", page);
    rule("R71", "error", 3, &video(&is_page), &video(content));
    let news = |count: usize, date: &str| {
        let news = format!(
            "<news:news><news:publication><news:name>N</news:name><news:language>en</news:language></news:publication>\
             <news:publication_date>{date}</news:publication_date><news:title>T</news:title></news:news>"
        );
        extended(&news.repeat(count))
    };
    let now = &now();
    rule("R71", "error", 3, &news(2, now), &news(1, now));
    rule("R71", "warning", 3, &news(1, "2024-05-17"), &news(1, now));
    let one_article = String::from_utf8(news(1, now).files.remove(0).1).unwrap();
    let articles = |count: usize| {
        let (head, rest) = one_article.split_once("<url>").unwrap();
        let (article, tail) = rest.split_once("</url>").unwrap();
        let lines: Vec<String> = (0..count)
            .map(|number| {
                format!(
                    "<url>{}</url>",
                    article.replacen("/a<", &format!("/{number}<"), 1)
                )
            })
            .collect();
        Supplied::file("sitemap.xml", format!("{head}{}{tail}", lines.join("\n")))
    };
    rule("R71", "error", 1_003, &articles(1_001), &articles(1_000));
}

pub(super) fn versions_in_other_languages() {
    let link = |language: &str, href: &str| {
        format!(
            "<xhtml:link rel=\"alternate\" hreflang=\"{language}\" href=\"https://h.example/{href}\"/>"
        )
    };
    let own = link("en", "a");
    let good = extended(&own);
    for wrong in ["en-UK", "en_US", "english", "xx"] {
        rule(
            "R71",
            "error",
            3,
            &extended(&(own.clone() + &link(wrong, "b"))),
            &good,
        );
    }
    rule(
        "R71",
        "error",
        3,
        &extended(&(own.clone() + &link("en", "b"))),
        &good,
    );
    rule(
        "R71",
        "error",
        3,
        &extended("<xhtml:link rel=\"alternate\" hreflang=\"en\"/>"),
        &good,
    );
    // Without the page itself, and with a version that no sitemap lists.
    let other = extended(&link("de", "b"));
    rule("R71", "warning", 3, &other, &good);
    rule("R71", "note", 3, &other, &good);
    // Across files.
    let file = |page: &str, links: &str| {
        let text = String::from_utf8(extended(links).files.remove(0).1).unwrap();
        text.replacen(
            "<loc>https://h.example/a",
            &format!("<loc>https://h.example/{page}"),
            1,
        )
    };
    let both = own.clone() + &link("de", "b");
    let two =
        |links: &str| Supplied::file("a.xml", file("a", &both)).and("b.xml", file("b", links));
    rule("R71", "warning", 3, &two(&link("de", "b")), &two(&both));
}
