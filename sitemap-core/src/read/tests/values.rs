//! Values of entries, problems that are passed over, and problems that cost the entry.

use super::{check_reading, index, urlset};
use crate::{
    Limits,
    limits::NAMESPACE,
    read::{MAX_VALUE_BYTES, Reader},
};

#[test]
fn entries_come_with_all_their_values() {
    check_reading(
        urlset(
            "<url><loc>http://host/a?b&amp;c=&quot;&#39;&#x26;</loc><lastmod>2024-05-17</lastmod><changefreq>weekly</changefreq>\
             <priority>0.8</priority></url>\n<url><loc><![CDATA[http://host/?a&b]]></loc></url>",
        ),
        &[
            "http://host/a?b&c=%22'&|2024-05-17|weekly|0.8",
            "http://host/?a&b|||",
        ],
        &["Error R24"],
    );
    check_reading(
        index(
            "<sitemap><loc>http://host/s.xml</loc><lastmod>2024-05-17T09:30:00+00:00</lastmod></sitemap>",
        ),
        &["http://host/s.xml|2024-05-17T09:30:00+00:00"],
        &[],
    );
    check_reading(
        format!(
            "<sm:urlset xmlns:sm=\"{NAMESPACE}\"><sm:url><sm:loc>http://host/</sm:loc></sm:url></sm:urlset>"
        ),
        &["http://host/|||"],
        &[],
    );
}

#[test]
fn bad_value_is_left_out_and_the_entry_stays() {
    let check = |values: &str, expected: &str, findings: &[&str]| {
        let file = urlset(&format!("<url><loc>http://host/</loc>{values}</url>"));
        check_reading(file, &[&format!("http://host/|{expected}")], findings);
    };
    check("<lastmod>yesterday</lastmod>", "||", &["Error R13"]);
    check("<lastmod></lastmod>", "||", &["Error R13"]);
    check("<lastmod/>", "||", &["Error R13"]);
    check("<lastmod>2024-05</lastmod>", "||", &["Warning R13"]);
    check(
        "<lastmod>2024-05-17T09:30Z</lastmod>",
        "||",
        &["Warning R13"],
    );
    check(
        "<lastmod>2024-05-17T09:30:00</lastmod>",
        "2024-05-17T09:30:00Z||",
        &["Error R13"],
    );
    check(
        "<lastmod> 2024-05-17\n</lastmod>",
        "2024-05-17||",
        &["Warning R13"],
    );
    check("<lastmod>&own;2024-05-17</lastmod>", "||", &["Error R22"]);
    check(
        "<lastmod>&nbsp;2024-05-17</lastmod>",
        "2024-05-17||",
        &["Error R22", "Warning R13"],
    );
    check(
        "<lastmod>2024<b>-05</b>-17</lastmod>",
        "||",
        &["Warning R6", "Error R13"],
    );
    check(
        "<lastmod>2024<!-- x -->-05-17</lastmod>",
        "2024-05-17||",
        &[],
    );
    check(
        "<changefreq>Daily</changefreq>",
        "|daily|",
        &["Warning R16"],
    );
    check("<changefreq>newver</changefreq>", "||", &["Error R16"]);
    check("<priority>1.1</priority>", "||", &["Error R18"]);
    check("<priority>0,5</priority>", "||", &["Error R18"]);
    check("<priority>1e-1</priority>", "||", &["Error R18"]);
    check("<priority> 0.5 </priority>", "||0.5", &["Warning R18"]);
    check(
        "<priority>0.8</priority><lastmod>2024-05-17</lastmod>",
        "2024-05-17||0.8",
        &["Warning R8"],
    );
    check(
        "<priority>0.8</priority><priority>0.2</priority>",
        "||0.8",
        &["Error R8"],
    );
    check("<title>x</title>", "||", &["Warning R6"]);
    check("text", "||", &["Warning R6"]);
    check(
        "<x:t xmlns:x=\"http://host/x\"><loc>http://no/</loc></x:t>",
        "||",
        &["Note R70", "Note R71"],
    );
    check("<x:t><x:u/></x:t>", "||", &["Error R70", "Note R71"]);
    check(
        &format!("<lastmod>{}</lastmod>", "1".repeat(MAX_VALUE_BYTES + 1)),
        "||",
        &["Error R1"],
    );
}

#[test]
fn url_is_encoded_and_reported() {
    let check = |loc: &str, expected: &str, findings: &[&str]| {
        check_reading(
            urlset(&format!("<url><loc>{loc}</loc></url>")),
            &[&format!("{expected}|||")],
            findings,
        );
    };
    check("\n  http://host/a\n", "http://host/a", &["Warning R12"]);
    check(
        "\u{A0}http://host/a\u{2000}",
        "http://host/a",
        &["Warning R12"],
    );
    check("http://a.bc/", "http://a.bc/", &[]);
    check("http://a.b/", "http://a.b/", &["Warning R68"]);
    check("http://host/a b", "http://host/a%20b", &["Error R24"]);
    check("http://host/%zz", "http://host/%25zz", &["Error R24"]);
    check("http://host/a\tb", "http://host/a%09b", &["Error R12"]);
    check("http://host/a\nb", "http://host/a%0Ab", &["Error R12"]);
    check("http://host/ü", "http://host/%C3%BC", &["Warning R23"]);
    check("http://host/%FC", "http://host/%FC", &[]);
    check("http://host", "http://host/", &["Note R26"]);
    check("HTTP://HOST:80/#top", "http://host/", &["Note R26"]);
    check(
        "http://host/?a[]=1",
        "http://host/?a%5B%5D=1",
        &["Note R26"],
    );
    check(
        "http://ü.example/",
        "http://xn--tda.example/",
        &["Note R24"],
    );
    check("http://host/it's", "http://host/it's", &["Note R20"]);
    check(
        "http://host/?a=1&b=2",
        "http://host/?a=1&b=2",
        &["Error R3"],
    );
    check(
        "http://host/?a=1&b=2;c",
        "http://host/?a=1&b=2;c",
        &["Error R3"],
    );
    check("http://host/?a=1&", "http://host/?a=1&", &["Error R3"]);
    check(
        "http://host/&eacute;&hellip;",
        "http://host/%C3%A9%E2%80%A6",
        &["Error R22", "Error R22", "Warning R23"],
    );
    check(
        "http://host/?a=1&amp;amp;b=2",
        "http://host/?a=1&amp;b=2",
        &["Warning R20"],
    );
    check(
        "http://host/\u{1}",
        "http://host/%01",
        &["Error R21", "Error R12"],
    );
    check(
        "http://host/&#1;",
        "http://host/%01",
        &["Error R21", "Error R12"],
    );
}

#[test]
fn entry_without_a_usable_url_is_left_out_and_reading_goes_on() {
    let check = |entry: &str, rule: &str, findings: &[&str]| {
        let file = urlset(&format!("{entry}<url><loc>http://host/next</loc></url>"));
        check_reading(
            file,
            &[&format!("- {rule}"), "http://host/next|||"],
            findings,
        );
    };
    check("<url></url>", "R7", &[]);
    check("<url/>", "R7", &[]);
    check("<url><lastmod>2024-05-17</lastmod></url>", "R7", &[]);
    check("<url><loc> </loc></url>", "R7", &[]);
    check("<url><loc>/relative</loc></url>", "R9", &[]);
    check("<url><loc>//host/</loc></url>", "R9", &[]);
    check("<url><loc>ftp://host/</loc></url>", "R9", &[]);
    check("<url><loc>http://u:p@host/</loc></url>", "R9", &[]);
    check("<url><loc>http://host/&own;</loc></url>", "R22", &[]);
    check(
        &format!("<url><loc>http://host/{}</loc></url>", "a".repeat(2_040)),
        "R11",
        &[],
    );
    check(
        &format!(
            "<url><loc>http://host/{}</loc></url>",
            "a".repeat(MAX_VALUE_BYTES)
        ),
        "R1",
        &[],
    );
    check(
        "<sitemap><loc>http://host/s.xml</loc></sitemap>",
        "R36",
        &[],
    );
    let misplaced = urlset("<loc>http://host/a</loc><url><loc>http://host/b</loc></url>");
    check_reading(misplaced, &["http://host/b|||"], &["Error R6"]);
}

#[test]
fn index_has_its_own_rules() {
    let next = "<sitemap><loc>http://host/next</loc></sitemap>";
    check_reading(
        index(&format!("<url><loc>http://host/</loc></url>{next}")),
        &["- R36", "http://host/next|"],
        &[],
    );
    check_reading(
        index(&format!("<sitemap/>{next}")),
        &["- R36", "http://host/next|"],
        &[],
    );
    check_reading(
        index("<sitemap><loc>http://host/s.xml</loc><changefreq>daily</changefreq></sitemap>"),
        &["http://host/s.xml|"],
        &["Error R36"],
    );
    check_reading(
        index("<sitemap><loc>http://host/s.xml</loc><lastmod>yesterday</lastmod></sitemap>"),
        &["http://host/s.xml|"],
        &["Error R42"],
    );
    check_reading(index(""), &[], &["Warning R68"]);
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
    let mut reader = Reader::new(file.as_bytes(), Limits::default());
    let mut lines = Vec::new();
    while let Some(item) = reader.next() {
        assert!(item.is_ok());
        lines.push((reader.entry_position().line, reader.loc_position().line));
    }
    assert_eq!(lines, [(2, 3), (4, 4)]);
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
fn entry_that_is_cut_short_after_another_one_has_its_own_place() {
    let file = format!(
        "<urlset xmlns='{NAMESPACE}'>\n<url>\n<loc>http://host/a</loc>\n<loc>http://host/b</"
    );
    let mut reader = Reader::new(file.as_bytes(), Limits::default());
    let mut lines = Vec::new();
    while let Some(Ok(_)) = reader.next() {
        lines.push((reader.entry_position().line, reader.loc_position().line));
    }
    assert_eq!(lines, [(2, 3), (4, 4)]);
}

#[test]
fn address_that_is_in_an_entry_as_text_is_taken() {
    check_reading(
        index(
            "<sitemap>\nhttp://host/?a&amp;b\n</sitemap><sitemap>x</sitemap><sitemap><lastmod>2024-05-17</lastmod> http://host/c</sitemap>",
        ),
        &["http://host/?a&b|", "- R36", "http://host/c|2024-05-17"],
        &[
            "Warning R36",
            "Error R36",
            "Warning R36",
            "Warning R36",
            "Error R36",
        ],
    );
    check_reading(
        urlset("<url>http://host/no<loc>http://host/a</loc></url>"),
        &["http://host/a|||"],
        &["Warning R6"],
    );
}

#[test]
fn url_in_an_element_in_a_loc_is_taken() {
    check_reading(
        urlset(
            "<url><loc><url><![CDATA[http://host/a]]></url></loc><lastmod>2024-05-17</lastmod></url>",
        ),
        &["http://host/a|2024-05-17||"],
        &["Error R6"],
    );
    check_reading(
        urlset("<url><loc>http://host/<b>a</b></loc></url>"),
        &["http://host/|||"],
        &["Warning R6"],
    );
}

#[test]
fn character_that_xml_forbids_is_reported_once() {
    check_reading(
        urlset("<url><loc>http://host/&#xFFFE;</loc></url>"),
        &["http://host/%EF%BF%BE|||"],
        &["Error R21", "Warning R23"],
    );
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

#[test]
fn blanks_around_a_value_break_the_rule_of_the_value() {
    let check = |name: &str, value: &str, expected: &str, rule: &str| {
        check_reading(
            urlset(&format!(
                "<url><loc>http://host/</loc><{name}> {value}\n</{name}></url>"
            )),
            &[&format!("http://host/|{expected}")],
            &[rule],
        );
    };
    check("lastmod", "2024-05-17", "2024-05-17||", "Warning R13");
    check("changefreq", "daily", "|daily|", "Warning R16");
    check("priority", "0.5", "||0.5", "Warning R18");
}

#[test]
fn characters_that_xml_forbids_are_reported_however_many_there_are() {
    for count in 1..5 {
        let control = "\u{1}".repeat(count);
        check_reading(
            urlset(&format!("<url><loc>http://host/{control}</loc></url>")),
            &[&format!("http://host/{}|||", "%01".repeat(count))],
            &["Error R21", "Error R12"],
        );
    }
}
