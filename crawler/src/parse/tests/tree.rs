//! The streaming pass against a tree builder: on pages of all kinds both find the same links, canonical
//! links and title.

use std::collections::BTreeSet;

use proptest::prelude::*;
use scraper::{ElementRef, Html, Selector, node::Element};

use super::*;

/// Facts that both readers return.
#[derive(Debug, PartialEq, Eq, Default)]
struct Seen {
    links: BTreeSet<String>,
    canonicals: BTreeSet<String>,
    title: Option<String>,
}

fn by_stream(html: &str) -> Seen {
    let facts = Answer::html(html).read();
    let canonicals = match &facts.canonical {
        Canonical::Absent => BTreeSet::new(),
        Canonical::Itself => BTreeSet::from([URL.to_owned()]),
        Canonical::Other(target) => BTreeSet::from([target.as_str().to_owned()]),
        Canonical::Conflicting => {
            let targets = facts.links.iter().filter(|link| link.via == Via::Canonical);
            targets
                .map(|link| link.target.as_str().to_owned())
                .collect()
        }
    };
    let pages = facts.links.iter().filter(|link| link.via == Via::Link);
    let links = pages.map(|link| link.target.as_str().to_owned()).collect();
    Seen {
        links,
        canonicals,
        title: facts.title,
    }
}

fn by_tree(html: &str) -> Seen {
    let page = Html::parse_document(html);
    let is_live = |element: &ElementRef<'_>| {
        !element
            .ancestors()
            .filter_map(|node| node.value().as_element())
            .any(|above| above.name() == "template")
    };
    let select = |selector: &str| -> Vec<ElementRef<'_>> {
        let selector = Selector::parse(selector).unwrap();
        page.select(&selector).filter(is_live).collect()
    };
    let own = url::Url::parse(URL).unwrap();
    let base = select("base[href]")
        .first()
        .and_then(|base| base.attr("href"));
    let base = base
        .and_then(|base| own.join(base).ok())
        .filter(url::Url::has_host)
        .unwrap_or(own);
    let identity = Identity::default();
    let key = |reference: &str| {
        identity
            .resolve(&base, reference, encoding_rs::UTF_8)
            .ok()
            .map(|key| key.as_str().to_owned())
    };
    let mut seen = Seen::default();
    collect_links(&page, &mut |reference| seen.links.extend(key(reference)));
    for fallback in select("noscript") {
        let inner = Html::parse_document(&fallback.text().collect::<String>());
        collect_links(&inner, &mut |reference| seen.links.extend(key(reference)));
    }
    for link in select("head > link[rel~=canonical][href]") {
        seen.canonicals.extend(link.attr("href").and_then(key));
    }
    let titles = select("title");
    let title = titles
        .iter()
        .filter(|title| is_html(title.value()))
        .map(|title| title.text().collect::<String>());
    seen.title = title
        .map(|text| text.split_ascii_whitespace().collect::<Vec<_>>().join(" "))
        .find(|title| !title.is_empty());
    seen
}

fn is_html(element: &Element) -> bool {
    &*element.name.ns == "http://www.w3.org/1999/xhtml"
}

fn collect_links(page: &Html, take: &mut dyn FnMut(&str)) {
    let selector = Selector::parse("a, area, iframe, link[rel~=next], link[rel~=prev]").unwrap();
    for element in page.select(&selector) {
        let mut above = element
            .ancestors()
            .filter_map(|node| node.value().as_element());
        if above.any(|above| above.name() == "template") {
            continue;
        }
        let attribute = if element.value().name() == "iframe" {
            "src"
        } else {
            "href"
        };
        if let Some(reference) = element.attr(attribute) {
            take(reference);
        }
    }
}

#[track_caller]
fn check(html: &str) {
    assert_eq!(by_stream(html), by_tree(html), "{html}");
}

#[test]
fn both_agree_on_unusual_pages() {
    check("");
    check("<a href=a><a href=b>");
    check("<title>A<b>&amp;</title><link rel=canonical href=/c><p><link rel=canonical href=/d>");
    check("</head><link rel=canonical href=/c>");
    check("<head></head> <link rel=canonical href=/c><body><link rel=canonical href=/d>");
    check("<head></head>x<link rel=canonical href=/c>");
    check("<head><noscript><img src=x></noscript><link rel=canonical href=/c>");
    check("<table><a href=a><tr><td><a href=b></table>");
    check("<p><template><a href=a></template><a href=b>");
    check("<svg><title>x</title><a href=a></a><style><a href=b></style></svg><title>y</title>");
    check("<svg><desc><style><a href=a></style></desc></svg>");
    check("<math><mi><a href=a></mi></math>");
    check("<svg><![CDATA[<a href=a>]]></svg><![CDATA[<a href=b>]]>");
    check("<script><!--<script></script><a href=a>--></script><a href=b>");
    check("<textarea></p><a href=a></textarea><xmp><a href=b></xmp><a href=c>");
    check("<!--><a href=a>--><a href=b><!--x--!><a href=c>");
    check("<a href=a/><a href='b'href=c><a\thref\n=\rd>");
    check("<iframe src=a><a href=b></iframe><plaintext><a href=c>");
}

/// Elements with their end tags, as people write them.
fn any_page() -> impl Strategy<Value = String> {
    let leaves = "text |&amp; |<a href=a>x</a>|<a href='/b?x=1&amp;y'>x|<area href=c>|\
        <iframe src=d></iframe>|<iframe src=d><a href=no></iframe>|<link rel=next href=e>|\
        <link rel=canonical href=/f>|<link rel=canonical href=/g>|<base href=/h/>|\
        <title>T &lt; <b></title>|<script>'<a href=no>'</script>|<style><a href=no></style>|\
        <textarea><a href=no></textarea>|<!-- <a href=no> -->|<noscript><a href=i></noscript>|\
        <noscript><img src=x><link rel=canonical href=/no></noscript>|\
        <svg><a href=j></a><path d=x /></svg>|\
        <svg><foreignObject><p><a href=k></a></p></foreignObject></svg>|\
        <template><p><a href=no></a></p></template>|<math><mi><a href=l></a></mi></math>|<br>|\
        <img src=x>|<p>|<li>|</head>|<body>|<a href=m?é#n>|<A HREF = \"o\" href=no>";
    let leaf = proptest::sample::select(leaves.split('|').collect::<Vec<_>>());
    let leaf = leaf.prop_map(str::to_owned);
    let wrapped = |inner: BoxedStrategy<String>| {
        let names = proptest::sample::select(
            &[
                "div", "p", "b", "a", "span", "ul", "li", "table", "td", "head", "body", "center",
                "x-y",
            ][..],
        );
        (names, proptest::collection::vec(inner, 0..5), any::<bool>()).prop_map(
            |(name, inner, closed)| {
                let end = if closed {
                    format!("</{name}>")
                } else {
                    String::new()
                };
                format!("<{name}>{}{end}", inner.concat())
            },
        )
    };
    let page = leaf.prop_recursive(4, 40, 5, move |inner| wrapped(inner.boxed()));
    proptest::collection::vec(page, 0..8).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn both_agree_on_any_page(html in any_page()) {
        prop_assert_eq!(by_stream(&html), by_tree(&html));
    }
}
