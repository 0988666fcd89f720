//! Values of entries, problems that are passed over, and problems that cost the entry.

use super::{check_reading, check_row, index, urlset};
use crate::{
    Limits,
    read::{MAX_VALUE_BYTES, Reader},
};

#[test]
fn entries_come_with_all_their_values() {
    for row in [
        "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>http://host/a?b&amp;c=&quot;&#39;&#x26;</loc>\
         <lastmod>2024-05-17</lastmod><changefreq>weekly</changefreq><priority>0.8</priority></url>\n\
         <url><loc><![CDATA[http://host/?a&b]]></loc></url></urlset> \
         => http://host/a?b&c=%22'&|2024-05-17|weekly|0.8, http://host/?a&b||| => Error R24",
        "<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><sitemap><loc>http://host/s.xml</loc>\
         <lastmod>2024-05-17T09:30:00+00:00</lastmod></sitemap></sitemapindex> => http://host/s.xml|2024-05-17T09:30:00+00:00",
        "<sm:urlset xmlns:sm='http://www.sitemaps.org/schemas/sitemap/0.9'><sm:url><sm:loc>http://host/</sm:loc></sm:url></sm:urlset> \
         => http://host/|||",
    ] {
        check_row(row, str::to_owned);
    }
}

#[test]
fn bad_value_is_left_out_of_its_entry() {
    for row in [
        "<lastmod>yesterday</lastmod> => http://host/||| => Error R13",
        "<lastmod></lastmod> => http://host/||| => Error R13",
        "<lastmod/> => http://host/||| => Error R13",
        "<lastmod>2024-05</lastmod> => http://host/||| => Warning R13",
        "<lastmod>2024-05-17T09:30Z</lastmod> => http://host/||| => Warning R13",
        "<lastmod>2024-05-17T09:30:00</lastmod> => http://host/|2024-05-17T09:30:00Z|| => Error R13",
        "<lastmod> 2024-05-17\n</lastmod> => http://host/|2024-05-17|| => Warning R13",
        "<lastmod>&own;2024-05-17</lastmod> => http://host/||| => Error R22",
        "<lastmod>&nbsp;2024-05-17</lastmod> => http://host/|2024-05-17|| => Error R22, Warning R13",
        "<lastmod>2024<b>-05</b>-17</lastmod> => http://host/||| => Warning R6, Error R13",
        "<lastmod>2024<!-- x -->-05-17</lastmod> => http://host/|2024-05-17||",
        "<changefreq>Daily</changefreq> => http://host/||daily| => Warning R16",
        "<changefreq> daily\n</changefreq> => http://host/||daily| => Warning R16",
        "<changefreq>newver</changefreq> => http://host/||| => Error R16",
        "<priority>1.1</priority> => http://host/||| => Error R18",
        "<priority>0,5</priority> => http://host/||| => Error R18",
        "<priority>1e-1</priority> => http://host/||| => Error R18",
        "<priority> 0.5\n</priority> => http://host/|||0.5 => Warning R18",
        "<priority>0.8</priority><lastmod>2024-05-17</lastmod> => http://host/|2024-05-17||0.8 => Warning R8",
        "<priority>0.8</priority><priority>0.2</priority> => http://host/|||0.8 => Error R8",
        "<title>x</title> => http://host/||| => Warning R6",
        "text => http://host/||| => Warning R6",
        "<x:t xmlns:x='http://host/x'><loc>http://no/</loc></x:t> => http://host/||| => Note R70, Note R71",
        "<x:t><x:u/></x:t> => http://host/||| => Error R70, Note R71",
    ] {
        check_row(row, |values| {
            urlset(&format!("<url><loc>http://host/</loc>{values}</url>"))
        });
    }
}

#[test]
fn url_is_encoded_and_reported() {
    for row in [
        "\n  http://host/a\n => http://host/a||| => Warning R12",
        "\u{A0}http://host/a\u{2000} => http://host/a||| => Warning R12",
        "http://a.bc/ => http://a.bc/|||",
        "http://a.b/ => http://a.b/||| => Warning R68",
        "http://host/a b => http://host/a%20b||| => Error R24",
        "http://host/%zz => http://host/%25zz||| => Error R24",
        "http://host/a\tb => http://host/a%09b||| => Error R12",
        "http://host/a\nb => http://host/a%0Ab||| => Error R12",
        "http://host/ü => http://host/%C3%BC||| => Warning R23",
        "http://host/%FC => http://host/%FC|||",
        "http://host => http://host/||| => Note R26",
        "HTTP://HOST:80/#top => http://host/||| => Note R26",
        "http://host/?a[]=1 => http://host/?a%5B%5D=1||| => Note R26",
        "http://ü.example/ => http://xn--tda.example/||| => Note R24",
        "http://host/it's => http://host/it's||| => Note R20",
        "http://host/?a=1&b=2 => http://host/?a=1&b=2||| => Error R3",
        "http://host/?a=1&b=2;c => http://host/?a=1&b=2;c||| => Error R3",
        "http://host/?a=1& => http://host/?a=1&||| => Error R3",
        "http://host/&eacute;&hellip; => http://host/%C3%A9%E2%80%A6||| => Error R22, Error R22, Warning R23",
        "http://host/?a=1&amp;amp;b=2 => http://host/?a=1&amp;b=2||| => Warning R20",
        "http://host/&#1; => http://host/%01||| => Error R21, Error R12",
        "http://host/&#xFFFE; => http://host/%EF%BF%BE||| => Error R21, Warning R23",
        "<url><![CDATA[http://host/a]]></url> => http://host/a||| => Error R6",
        "http://host/<b>a</b> => http://host/||| => Warning R6",
    ] {
        check_row(row, |loc| urlset(&format!("<url><loc>{loc}</loc></url>")));
    }
    // However many there are.
    for count in 1..5 {
        let control = "\u{1}".repeat(count);
        check_reading(
            urlset(&format!("<url><loc>http://host/{control}</loc></url>")),
            &[&format!("http://host/{}|||", "%01".repeat(count))],
            &["Error R21", "Error R12"],
        );
    }
}

#[test]
fn entry_without_a_usable_url_is_left_out() {
    for row in [
        "<url></url> => - R7, http://host/next|||",
        "<url/> => - R7, http://host/next|||",
        "<url><lastmod>2024-05-17</lastmod></url> => - R7, http://host/next|||",
        "<url><loc> </loc></url> => - R7, http://host/next|||",
        "<url><loc>/relative</loc></url> => - R9, http://host/next|||",
        "<url><loc>//host/</loc></url> => - R9, http://host/next|||",
        "<url><loc>ftp://host/</loc></url> => - R9, http://host/next|||",
        "<url><loc>http://u:p@host/</loc></url> => - R9, http://host/next|||",
        "<url><loc>http://host/&own;</loc></url> => - R22, http://host/next|||",
        "<sitemap><loc>http://host/s.xml</loc></sitemap> => - R36, http://host/next|||",
        "<loc>http://host/a</loc> => http://host/next||| => Error R6",
        // Text in an entry is no address beside one.
        "<url>http://host/no<loc>http://host/a</loc></url> => http://host/a|||, http://host/next||| => Warning R6",
    ] {
        check_row(row, |entry| {
            urlset(&format!("{entry}<url><loc>http://host/next</loc></url>"))
        });
    }
    for (characters, lost) in [(2_040, "- R11"), (MAX_VALUE_BYTES, "- R1")] {
        let path = "a".repeat(characters);
        let file = urlset(&format!("<url><loc>http://host/{path}</loc></url>"));
        check_reading(file, &[lost], &[]);
    }
}

#[test]
fn index_has_its_own_rules() {
    for row in [
        "<url><loc>http://host/</loc></url><sitemap><loc>http://host/a</loc></sitemap> => - R36, http://host/a|",
        "<sitemap/><sitemap><loc>http://host/a</loc></sitemap> => - R36, http://host/a|",
        "<sitemap><loc>http://host/a</loc><changefreq>daily</changefreq></sitemap> => http://host/a| => Error R36",
        "<sitemap><loc>http://host/a</loc><lastmod>yesterday</lastmod></sitemap> => http://host/a| => Error R42",
        " =>  => Warning R68",
        // An address that is in an entry as text is taken.
        "<sitemap>\nhttp://host/?a&amp;b\n</sitemap> => http://host/?a&b| => Warning R36, Error R36",
        "<sitemap>x</sitemap> => - R36 => Warning R36",
        "<sitemap><lastmod>2024-05-17</lastmod> http://host/c</sitemap> => http://host/c|2024-05-17 => Warning R36, Error R36",
    ] {
        check_row(row, index);
    }
}

#[test]
fn each_loc_is_an_entry() {
    check_reading(
        urlset(
            "<url><loc>http://host/a</loc><lastmod>2024-05-17</lastmod><loc>http://host/b</loc><loc>/c</loc><priority>0.5</priority>\
             <loc>http://host/d</loc><changefreq>daily</changefreq></url><url><loc>http://host/e</loc></url>",
        ),
        &[
            "http://host/a|2024-05-17||",
            "http://host/b|||",
            "- R9",
            "http://host/d||daily|",
            "http://host/e|||",
        ],
        &["Error R7", "Error R7", "Error R7"],
    );
    let file = urlset("<url>\n<loc>http://host/a</loc>\n<loc>http://host/b</loc></url>");
    // Each has its own place, also where the file is cut short.
    for file in [&file[..], file.strip_suffix("loc></url></urlset>").unwrap()] {
        let mut reader = Reader::new(file.as_bytes(), Limits::default());
        let mut lines = Vec::new();
        while let Some(Ok(_)) = reader.next() {
            lines.push((reader.entry_position().line, reader.loc_position().line));
        }
        assert_eq!(lines, [(2, 3), (4, 4)], "{file}");
    }
    let limits = Limits {
        entries: 1,
        ..Limits::default()
    };
    let error = Reader::new(file.as_bytes(), limits)
        .find_map(Result::err)
        .unwrap();
    assert!(error.is_fatal(), "{error}");
}

#[test]
fn value_is_read_up_to_its_bound() {
    let check = |bytes: usize, rule: &str| {
        let value = "1".repeat(bytes);
        check_reading(
            urlset(&format!(
                "<url><loc>http://host/</loc><lastmod>{value}</lastmod></url>"
            )),
            &["http://host/|||"],
            &[rule],
        );
    };
    check(MAX_VALUE_BYTES, "Error R13");
    check(MAX_VALUE_BYTES + 1, "Error R1");
}
