//! Made-up pages as five kinds of generators write them.

use std::fmt::Write as _;

/// The kinds of pages.
pub(crate) const GENERATORS: [&str; 5] = ["docbook", "sphinx", "javadoc", "blog", "shop"];

/// Words of a text, as often as they come in one: the sentence ends after some of them.
const WORDS: &str = "the value of each parcel is kept in a table that the server reads when a query names it and the user may change \
    a view before the next release so that no row is lost if one of these columns has another type than an index expects which \
    returns true only for functions with a default argument.";

/// Text that looks different wherever it is.
struct Writer {
    page: String,
    place: usize,
}

impl Writer {
    fn words(&mut self, count: usize) -> String {
        let words: Vec<&str> = WORDS.split_whitespace().collect();
        let text = (0..count).map(|_| {
            self.place += 1;
            words[self.place * self.place / 7 % words.len()]
        });
        text.collect::<Vec<_>>().join(" ")
    }

    fn put(&mut self, text: std::fmt::Arguments<'_>) {
        self.page.write_fmt(text).expect("text grows");
    }
}

/// A page of 15 to 35 KB, with another text for each number.
///
/// # Panics
/// There is no such generator.
pub(crate) fn page(generator: &str, number: usize) -> String {
    let mut writer = Writer {
        page: format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{generator}</title>\
             <link rel=\"canonical\" href=\"/docs/{generator}.html\"><link rel=\"stylesheet\" href=\"/style.css\">\
             <script>if (a < b) document.write('<a href=/x>')</script></head>\n"
        ),
        place: number,
    };
    let write = match generator {
        "docbook" => docbook,
        "sphinx" => sphinx,
        "javadoc" => javadoc,
        "blog" => blog,
        "shop" => shop,
        other => panic!("no generator {other}"),
    };
    write(&mut writer);
    writer.page + "</body></html>\n"
}

/// Prose with marked terms, and a table.
fn docbook(page: &mut Writer) {
    page.put(format_args!(r#"<body id="docContent" class="container-fluid"><div xmlns="http://www.w3.org/TR/xhtml1/transitional" class="navheader"><table width="100%"><tr><td width="10%"><a accesskey="p" href="parcels-1.html" title="Parcels">Prev</a>&nbsp;</td></tr></table><hr /></div><div class="sect1" id="PARCELS">"#));
    for number in 0..60 {
        let (term, text, rest) = (page.words(2), page.words(40), page.words(12));
        page.put(format_args!("\n  <p>\n   {text} <code class=\"literal\">{term}</code>, <xref></xref>{rest}\n   (see <a class=\"xref\" href=\"parcels-{number}.html\" title=\"{term}\">Section&nbsp;{number}.{number}</a>).\n  </p>\n"));
    }
    page.put(format_args!(r#"<table class="table" border="1"><colgroup><col class="col1" /><col class="col2" /></colgroup><tbody>"#));
    for number in 0..40 {
        let text = page.words(8);
        page.put(format_args!(
            "<tr><td><code class=\"type\">int{number}</code></td><td>{text}</td></tr>\n"
        ));
    }
    page.put(format_args!("</tbody></table></div>"));
}

/// Signatures and highlighted code.
fn sphinx(page: &mut Writer) {
    page.put(format_args!(r#"<body><div class="related" role="navigation" aria-label="related navigation"><ul><li class="right" style="margin-right: 10px"><a href="../genindex.html" title="General Index" accesskey="I">index</a></li></ul></div><div class="document"><div class="body" role="main">"#));
    for number in 0..30 {
        let (name, text) = (page.words(1), page.words(45));
        page.put(format_args!(r##"<dl class="py function"><dt class="sig sig-object py" id="m.f{number}"><span class="sig-prename descclassname"><span class="pre">m.</span></span><span class="sig-name descname"><span class="pre">f{number}</span></span><span class="sig-paren">(</span><em class="sig-param"><span class="n"><span class="pre">{name}</span></span><span class="o"><span class="pre">=</span></span><span class="default_value"><span class="pre">None</span></span></em><span class="sig-paren">)</span><a class="headerlink" href="#m.f{number}" title="Permalink to this definition">¶</a></dt>
<dd><p>{text}</p><div class="highlight-python3 notranslate"><div class="highlight"><pre><span></span><span class="gp">&gt;&gt;&gt; </span><span class="n">f</span><span class="p">(</span><span class="mi">{number}</span><span class="p">)</span>
<span class="go">{number}.5</span></pre></div></div><p class="versionadded"><span class="versionmodified added">New in version 3.{number}: </span>See <a class="reference internal" href="{name}.html#f"><code class="xref py py-func docutils literal notranslate"><span class="pre">{name}()</span></code></a>.</p></dd></dl>
"##));
    }
    page.put(format_args!("</div></div>"));
}

/// Tables of members with a link for each type.
fn javadoc(page: &mut Writer) {
    page.put(format_args!(r#"<body class="class-declaration-page"><div class="flex-box"><header role="banner" class="flex-header"><nav role="navigation"><div class="top-nav" id="navbar.top"><ul class="nav-list"><li><a href="../../index.html">Overview</a></li></ul></div></nav></header><div class="flex-content"><main role="main">"#));
    for number in 0..70 {
        let (name, text) = (page.words(1), page.words(12));
        let colour = if number % 2 == 0 { "even" } else { "odd" };
        page.put(format_args!(r##"<div class="col-first {colour}-row-color method-summary-table"><code><a href="../lang/{name}.html" title="class in lang">{name}</a></code></div>
<div class="col-second {colour}-row-color method-summary-table"><code><a href="#get{number}(int)" class="member-name-link">get{number}</a><wbr>(int&nbsp;index)</code></div>
<div class="col-last {colour}-row-color method-summary-table"><div class="block">{text}</div></div>
"##));
    }
    page.put(format_args!("</main></div></div>"));
}

/// An article with dates, images and comments, in a theme with much around it.
fn blog(page: &mut Writer) {
    page.put(format_args!(r#"<body class="post-template-default single single-post postid-1 wp-custom-logo"><nav class="main-navigation" aria-label="Primary"><ul id="menu" class="menu">"#));
    for number in 0..40 {
        let name = page.words(2);
        page.put(format_args!(r#"<li id="menu-item-{number}" class="menu-item menu-item-type-post_type menu-item-object-page"><a href="https://example.com/topics/{number}/">{name}</a></li>"#));
    }
    page.put(format_args!(r#"</ul></nav><main id="main" class="site-main"><article class="post type-post status-publish hentry" itemscope itemtype="https://schema.org/Article"><header class="entry-header"><h1 class="entry-title">Parcels</h1><time class="entry-date published" datetime="2026-05-06T10:00:00+00:00">May 6, 2026</time></header>"#));
    for number in 0..50 {
        let text = page.words(60);
        page.put(format_args!(
            "<p>{text} It took {number} days &#8211; &#8220;no more&#8221;.</p>\n"
        ));
        if number % 10 == 0 {
            page.put(format_args!(r#"<figure class="wp-block-image size-large"><img loading="lazy" width="800" height="600" src="/wp-content/uploads/2026/05/parcel-{number}.jpg" alt="A parcel" class="wp-image-{number}" srcset="/a-{number}.jpg 300w, /b-{number}.jpg 800w"></figure>"#));
        }
    }
    page.put(format_args!("</article><ol class=\"comment-list\">"));
    for number in 0..15 {
        let text = page.words(20);
        page.put(format_args!(r#"<li id="comment-{number}" class="comment even depth-1"><footer class="comment-meta"><b class="fn">Reader</b><time datetime="2026-05-07T1{number}:00:00">{number} hours ago</time></footer><div class="comment-content"><p>{text}</p></div></li>"#));
    }
    page.put(format_args!("</ol></main>"));
}

/// Cards of articles with prices and buttons, each deep in other elements.
fn shop(page: &mut Writer) {
    page.put(format_args!(r#"<body><div id="__next"><div class="css-1x2y3z"><header class="css-4a5b6c"><a href="/" aria-label="Home"><svg width="24" height="24" viewBox="0 0 24 24"><title>Home</title><path d="M3 9l9-7 9 7v11a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z"></path></svg></a></header><main class="css-7d8e9f">"#));
    for number in 0..60 {
        let (name, text) = (page.words(3), page.words(10));
        page.put(format_args!(r#"<div class="css-card-{number} product-tile" data-testid="tile-{number}"><div class="css-inner"><div class="css-image"><a href="/p/{number}?colour=red&amp;size=m" class="css-link" data-track="tile"><img src="/img/{number}.webp" alt="{name}" width="300" height="400"></a></div><div class="css-text"><h3 class="css-name"><a href="/p/{number}?colour=red&amp;size=m">{name}</a></h3><div class="css-price"><span class="css-old">&euro; {number}9.99</span> <span class="css-new">&euro; {number}4.99</span></div><p class="css-description">{text}</p><button type="button" class="css-button" aria-label="Add"><span class="css-icon"></span></button></div></div></div>"#));
    }
    page.put(format_args!("</main></div></div><script id=\"__NEXT_DATA__\" type=\"application/json\">{{\"props\":{{}}}}</script>"));
}
