//! Changes of a page that change the hash of its content, and those that do not.

use super::*;
use crate::page::ContentHash;

fn hash(html: &str) -> ContentHash {
    Answer::html(html)
        .read()
        .content_hash
        .expect("a whole page")
}

/// A page as many a system makes them: `main` in the middle.
const PAGE: &str = r#"<!doctype html><html><head><title>A walk by the sea</title>
<link rel=stylesheet href="/assets/site-3f2a9c1b.css"><meta name=csrf-token content="t1">
<script src="/assets/app-3f2a9c1b.js"></script><script nonce=n1>var build = "b1";</script>
<script type="application/ld+json">{"@type":"Article","headline":"A walk","dateModified":"2026-01-01","author":"Ann"}</script>
</head><body data-build=b1><header><a href="/">Home</a> <span>12 online</span></header>
<nav><ul><li><a href="/a">A</a><li><a href="/b">B</a></ul></nav>
<main><h1>A walk by the sea</h1><p>posted 3 minutes ago &middot; 1,234 views</p>
<p>The path costs €12 and leads along the coast. <a href="/coast?utm_source=x">More</a></p>
<img src="/img/sea.jpg?v=1" alt="The sea">
<aside><h2>Related</h2><a href="/r1">One</a><a href="/r2">Two</a></aside>
<div class="content ad">Buy boots</div>
<form><input type=hidden name=token value=t1><button>Send</button></form>
<!-- rendered by node 1 --><template>t1</template><noscript>n1</noscript><footer>served in 12 ms</footer></main>
<footer>© 2026 Example. Quote of the day: be kind. Page 1 of the day</footer></body></html>"#;

#[test]
fn parts_around_the_content_do_not_count() {
    let base = hash(PAGE);
    for (from, to) in [
        ("Quote of the day: be kind.", "Quote: carpe diem."),
        ("© 2026", "© 2027"),
        ("content=\"t1\"", "content=\"t2\""),
        ("value=t1", "value=t2"),
        ("nonce=n1", "nonce=n2"),
        ("site-3f2a9c1b.css", "site-9d8e7f6a.css"),
        ("app-3f2a9c1b.js", "app-9d8e7f6a.js"),
        ("build = \"b1\"", "build = \"b2\""),
        ("data-build=b1", "data-build=b2"),
        ("3 minutes ago", "2 days ago"),
        ("1,234 views", "1,235 views"),
        ("12 online", "13 online"),
        ("utm_source=x", "utm_source=y"),
        ("sea.jpg?v=1", "sea.jpg?v=2"),
        ("<a href=\"/r1\">One</a>", "<a href=\"/r3\">Three</a>"),
        ("Buy boots", "Buy hats"),
        ("node 1", "node 2"),
        ("<template>t1", "<template>t2"),
        ("<noscript>n1", "<noscript>n2"),
        ("served in 12 ms", "served in 13 ms"),
        ("Modified\":\"2026-01-01\"", "Modified\":\"2026-02-02\""),
        ("<li><a href=\"/b\">B</a>", "<li><a href=\"/c\">C</a>"),
        ("<p>The path", "\n\n<p>\tThe  path"),
        ("<p>The path", "<p class=x data-x=1>The path"),
    ] {
        let changed = PAGE.replacen(from, to, 1);
        assert_ne!(changed, PAGE, "{from}");
        assert_eq!(hash(&changed), base, "{from} -> {to}");
    }
}

#[test]
fn content_of_the_page_changes_the_hash() {
    let base = hash(PAGE);
    for (from, to) in [
        ("leads along", "led along"),
        ("€12", "€13"),
        ("/coast?utm", "/hills?utm"),
        (">More<", ">Less<"),
        ("sea.jpg", "lake.jpg"),
        ("alt=\"The sea\"", "alt=\"The lake\""),
        ("<title>A walk", "<title>A run"),
        ("<h1>A walk", "<h1>A run"),
        ("\"author\":\"Ann\"", "\"author\":\"Bob\""),
        ("<button>Send", "<button>Go"),
        ("<p>The path", "<p>New. The path"),
        ("coast. <a", "coast. <a href=\"/new\">x</a> <a"),
        ("<img", "<img src=/new.png><img"),
    ] {
        let changed = PAGE.replacen(from, to, 1);
        assert_ne!(changed, PAGE, "{from}");
        assert_ne!(hash(&changed), base, "{from} -> {to}");
    }
}

/// Compares pages that differ in one place, marked by `*`, and in no other.
#[track_caller]
fn check(pages: &[impl AsRef<str>], is_same: bool) {
    for page in pages {
        let page = page.as_ref();
        let [one, other] = ["1", "2"].map(|text| hash(&page.replace('*', text)));
        assert_eq!(one == other, is_same, "{page}");
    }
}

#[test]
fn the_main_part_of_any_page_is_found() {
    check(
        &[
            // By its role, and without a name of its own.
            "<div role=main>a *</div>b",
            "<p>a *</p><footer>b</footer>",
            // The only article, unless most of the text is elsewhere.
            "<div>* a b c d e f g h</div><article>x</article>",
            "<article>a</article><article>b</article>*",
            "<article>a *</article><article>b</article>",
            // An empty main part is none.
            "<main><nav>x</nav></main><div>a *</div>",
            "<main><a href=/x></a></main><div>a *</div>",
            // The header of a part belongs to it; that of the page does not.
            "<main><header><h1>*</h1></header>a</main>",
            // Notes are text.
            "<main>a<aside class='admonition note'>*</aside></main>",
            // What was not closed.
            "<nav><ul><li>x<main>a *</main>",
            "<div><nav><ul><li>x</div><p>a *",
            // Nothing but the title.
            "<title>*</title>",
        ],
        false,
    );
    check(
        &[
            "<div role=main>a</div>b *",
            "<p>a</p><footer>*</footer>",
            "<p>a</p><div role=contentinfo>*</div>",
            "<p>a</p><div role=navigation>*</div>",
            "<div>* x</div><article>a b c</article>",
            "<header>*</header><main>a</main>",
            "<header>*</header><p>a",
            "<main>a<aside>*</aside></main>",
            "<title>a</title><div id=app></div><script>*</script>",
            "",
        ],
        true,
    );
}

#[test]
fn a_main_part_with_little_text_is_ignored() {
    let words = |count| "word ".repeat(count);
    let is_ignored = [
        "<main><a href='#c'>skip</a></main><p>a b c d *".to_owned(),
        "<main><h1>Title</h1></main><p>edition * of the text".to_owned(),
        format!("<main>{}</main><div>{} *</div>", words(30), words(600)),
    ];
    check(&is_ignored, false);
    // A paragraph is content, with any menus; a short page with short menus too.
    let is_found = [
        format!("<main>{}</main><div>{} *</div>", words(30), words(300)),
        "<main>Thank you all</main><div>a b c d e *</div>".to_owned(),
        "<main><img src=/a.jpg></main><div>a b c d e f g *</div>".to_owned(),
    ];
    check(&is_found, true);
}

#[test]
fn a_page_is_not_left_with_nothing() {
    let kept = [
        "<div class='wrapper sidebar'><div><p>a *</div></div>",
        "<div class=related><p>a *</p></div>",
        "<form class=ads><p>a *</p></form>",
        "<header><h1>a</h1><p>*</p></header>",
        "<footer><p>a *</p></footer>",
        "<nav><a href=/>home</a><div><p>a *</p></div>",
        "<html><body><nav><a href=/>home</a><div><p>a *</p></div></body></html>",
        "<main><nav>x</nav></main><div class=related><a href=/*>x</a></div>",
        "<div role=dialog><img src='/*.jpg'></div>",
    ];
    check(&kept, false);
    // Little counts, and much is left out because of a name, or of a tag without an end tag.
    let text = "word ".repeat(40);
    let kept = [
        format!("<h1>Title</h1><div class=sidebar>{text} *</div>"),
        format!("<main><h1>Title</h1></main><div class=related>{text} *</div>"),
        format!("<body><h1>Title</h1><div><nav>home<p>{text} *</div></body>"),
    ];
    check(&kept, false);
    // An explicit part does not count, however short the page is.
    let left_out = [
        format!("<main>Thank you</main><footer>{text} *</footer>"),
        format!("<main>Thank you</main><nav>{text} *</nav><aside>{text} *</aside>"),
        format!("<main>Thank you</main><nav><div class=related>{text} *</div></nav>"),
        format!("<header>{text} *</header><p>Thank you"),
        format!("<p>{text}</p><div class=sidebar>{text}{text}{text}{text}{text} *</div>"),
    ];
    check(&left_out, true);
}

#[test]
fn order_of_links_and_blocks_does_not_matter() {
    let once = hash("<p>x</p><a href=1></a><a href=2></a>");
    for same in [
        "<p>x</p><a href=2></a><a href=1></a>",
        "<p>x</p><a href=1></a><a href=2></a><a href=1></a>",
    ] {
        assert_eq!(hash(same), once, "{same}");
    }
    assert_ne!(hash("<p>one two</p>"), hash("<p>two one</p>"));
    check(&["<base href='/*/'><a href=x>a</a>"], false);
}
