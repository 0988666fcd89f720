//! Tests of facts for the extensions of sitemaps, read only on request.

use crate::config::Extensions;

use super::*;

const ALL: Extensions = Extensions {
    images: true,
    hreflang: true,
    news: true,
    video: true,
};

/// Checks rows of the form `html => images`.
#[track_caller]
fn check_images(rows: &[&str]) {
    check_rows(rows, |html| {
        let facts = Answer::html(html).with_extensions(ALL).read();
        let found: Vec<_> = facts.images.unwrap().iter().map(short).collect();
        found.join(", ")
    });
}

fn versions(facts: &PageFacts) -> String {
    let versions = facts.alternates.as_ref().unwrap().iter();
    let shown = versions.map(|version| format!("{} {}", version.hreflang, short(&version.target)));
    shown.collect::<Vec<_>>().join(", ")
}

/// Checks rows of the form `html => versions`.
#[track_caller]
fn check_versions(rows: &[&str]) {
    check_rows(rows, |html| {
        let facts = Answer::html(html).with_extensions(ALL).read();
        versions(&facts)
    });
}

#[test]
fn unrequested_facts_are_not_collected() {
    let html = "<link rel=alternate hreflang=de href=/de><img src=a>";
    let facts = Answer::html(html).read();
    assert_eq!((&facts.images, &facts.alternates), (&None, &None));
    let images = Extensions {
        images: true,
        ..Extensions::default()
    };
    let facts = Answer::html(html).with_extensions(images).read();
    assert_eq!(facts.images.map(|images| images.len()), Some(1));
    assert_eq!(facts.alternates, None);
    // Versions are still links.
    assert_eq!(facts.links.len(), 1);
    let facts = Answer::html(html).with_extensions(ALL).read();
    assert_eq!(links(&facts), "/de alternate");
}

#[test]
fn only_whole_answers_have_extensions() {
    let html = "<img src=a>";
    let mut answer = Answer::html(html).with_extensions(ALL);
    answer.status = 404;
    assert_eq!(answer.read().images, None);
    // There is nothing in a document, but it was looked at.
    let document = Answer::of_type("application/pdf", html).with_extensions(ALL);
    assert_eq!(document.read().images, Some(Vec::new()));
}

#[test]
fn images_are_taken_in_document_order() {
    check_images(&[
        "<p>none =>",
        "<img src='b&amp;c.png'><p><IMG SRC=/a.png ALT=x><img src='b&amp;c.png'> => /dir/b&c.png, /a.png",
        "<img src=//cdn.example/x> => https://cdn.example/x",
        "<img src='a b.png'><img src='ü.png'> => /dir/a%20b.png, /dir/%C3%BC.png",
        "<img><img src><img src=' '><img alt=x> =>",
        "<image src=a></image> => /dir/a",
        "<img src='data:image/gif;base64,R0lGOD' data-src=a data-srcset='b 2x' loading=lazy> =>",
        "<img src='/a?utm_source=x&b'> => /a?utm_source=x&b",
        "<img src=a><base href='//cdn.example/x/'> => https://cdn.example/x/a",
        // Images for readers without scripts are taken, and counters are not.
        "<img class=lazy data-src=a><noscript><img src=a></noscript> => /dir/a",
        "<noscript><img height=1 width=1 src='https://statistics.example/?id=1'></noscript><img width=1 height=1 src=3> =>",
    ]);
    let answer = Answer::of_type("text/html; charset=iso-8859-1", b"<img src='/\xe9?\xe9'>")
        .with_extensions(ALL)
        .read();
    let found: Vec<_> = answer.images.unwrap().iter().map(short).collect();
    assert_eq!(found, ["/%C3%A9?%E9"]);
}

#[test]
fn images_have_their_src_or_largest_candidate() {
    check_images(&[
        "<img src=a srcset='b 2x, c 3x'> => /dir/a",
        "<img srcset='b 320w, c,d 640w'> => /dir/c,d",
        "<img src='data:,x' srcset='b 320w, c 640w'> => /dir/c",
        "<picture><source srcset='a.avif' type=image/avif><source srcset='a.webp 1x, b.webp 2x'><img src=a.jpg></picture> => /dir/a.jpg",
        "<picture><source srcset='data:,x'><source srcset='a 1x, b 2x'><source srcset=c><img><img></picture><img> => /dir/b",
        "<picture><source srcset=a></picture><img alt=x> =>",
        "<source srcset=a><video><source src=b></video> =>",
    ]);
    let long = format!("<img srcset='{} 1w, b 2w'> => /dir/b", "a".repeat(5_000));
    let too_long = format!("<img srcset='b 2w, {} 1w'> =>", "a".repeat(70_000));
    check_images(&[&long, &too_long]);
}

#[test]
fn other_pictures_are_not_images_of_the_page() {
    check_images(&[
        "<link rel=icon href=a><link rel=image_src href=b><meta property=og:image content=c><body background=d>\
         <video poster=e></video><input type=image src=f><svg><image href=g /></svg><object data=h></object>\
         <div style='background: url(i)'></div><embed src=j> =>",
        "<template><img src=a></template><!-- <img src=b> --><script>'<img src=c>'</script> =>",
        "<textarea><img src=a></textarea><style><img src=b></style> =>",
    ]);
}

#[test]
fn too_many_images_and_versions_are_cut() {
    let versions =
        (0..251).map(|number| format!("<link rel=alternate hreflang=de href=/{number}>"));
    let images = (0..1_001).map(|number| format!("<img src={number}>"));
    let html = versions.chain(images).collect::<Vec<_>>().concat();
    let facts = Answer::html(&html).with_extensions(ALL).read();
    assert_eq!(facts.images.map(|images| images.len()), Some(1_000));
    assert_eq!(facts.alternates.map(|versions| versions.len()), Some(250));
    assert!(facts.warnings.images_cut && facts.warnings.alternates_cut);
}

#[test]
fn noindex_for_news_keeps_an_article_out() {
    for (meta, header, expected) in [
        ("", "", 1),
        ("<meta name=Googlebot-News content='noindex, x'>", "", 0),
        ("<meta name=googlebot-news content=nosnippet>", "", 1),
        ("", "googlebot-news: noindex", 0),
        ("", "otherbot: noindex", 1),
    ] {
        let html = format!(
            "{meta}<script type='application/ld+json'>{{\"@type\":\"NewsArticle\",\"headline\":\"H\"}}</script>"
        );
        let answer = Answer::html(&html).with_header("X-Robots-Tag", header);
        let facts = answer.with_extensions(ALL).read();
        assert_eq!(facts.news.unwrap().len(), expected, "{meta} {header}");
        assert!(!facts.directives.noindex, "{meta} {header}");
    }
}

#[test]
fn versions_are_taken_from_the_head() {
    check_versions(&[
        "<link rel=alternate hreflang=en href='?q=1'><link rel='alternate' hreflang=' DE-at ' href=/de#x>\
         <link REL=Alternate HREFLANG=x-default HREF=https://other.example/> => de-at /de, en /dir/page?q=1, x-default https://other.example/",
        "<body><link rel=alternate hreflang=de href=/de> =>",
        "<div></div><link rel=alternate hreflang=de href=/de> =>",
        "<noscript><link rel=alternate hreflang=de href=/de></noscript> =>",
        "<link rel=alternate hreflang=de><link rel=alternate href=/de><link hreflang=de href=/de>\
         <link rel=alternate hreflang=de href=' '><link rel=next hreflang=de href=/de>\
         <link rel=alternate hreflang=de href='android-app://x/y'> =>",
        // Feeds, style sheets and pages for small screens are other things.
        "<link rel=alternate hreflang=de type=application/rss+xml href=/feed>\
         <link rel='alternate stylesheet' hreflang=de href=/css>\
         <link rel=alternate hreflang=de media='(max-width: 640px)' href=/m> =>",
        "<base href=/x/><link rel=alternate hreflang=de type=text/html href=de><link rel=alternate hreflang=de href=fr> => de /x/de, de /x/fr",
    ]);
}

#[test]
fn versions_are_taken_from_headers() {
    let facts = Answer::html("<base href=/x/><link rel=alternate hreflang=de href=de>")
        .with_header(
            "Link",
            "<de>; rel=alternate; hreflang=de, </fr>; rel=\"alternate\"; hreflang=\"fr\"; hreflang=\"fr-CA\"",
        )
        .with_header("Link", "</m>; rel=alternate; hreflang=de; media=handheld, </n>; rel=next; hreflang=de")
        .with_extensions(ALL)
        .read();
    assert_eq!(versions(&facts), "de /dir/de, de /x/de, fr /fr, fr-ca /fr");
    let document = Answer::of_type("application/pdf", "%PDF")
        .with_header("Link", "</de.pdf>; rel=alternate; hreflang=de")
        .with_extensions(ALL)
        .read();
    assert_eq!(versions(&document), "de /de.pdf");
}
