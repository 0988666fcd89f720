//! RSS and Atom: links and dates that count, and problems that are passed over.

use super::{check_reading, check_row, columns, list, reading};
use crate::{
    Limits, Loc,
    read::{Item, Kind, Reader},
};

/// An RSS feed with this in its channel.
fn rss(content: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<rss version=\"2.0\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\" \
         xmlns:atom=\"http://www.w3.org/2005/Atom\" xmlns:media=\"http://search.yahoo.com/mrss/\"><channel><title>t</title>\
         <link>http://host/</link><atom:link rel=\"self\" href=\"http://host/feed\"/>{content}</channel></rss>"
    )
}

/// An Atom feed with this between its tags.
fn atom(content: &str) -> String {
    format!(
        "<feed xmlns=\"http://www.w3.org/2005/Atom\"><link href=\"http://host/\"/><updated>2024-01-01T00:00:00Z</updated>{content}</feed>"
    )
}

#[test]
fn rss_item_has_a_link() {
    for row in [
        "<link>http://host/a</link> => http://host/a|||",
        "<title>x</title><link> http://host/?a&amp;b <!-- x --></link><guid>1</guid> => http://host/?a&b|||",
        "<link><![CDATA[http://host/?a&b]]></link> => http://host/?a&b|||",
        "<guid>http://host/g</guid> => http://host/g||| => Warning R46",
        "<link/><guid isPermaLink='true'>http://host/g</guid> => http://host/g||| => Warning R46",
        "<guid>http://host/g</guid><link>http://host/a</link> => http://host/a|||",
        "<guid isPermaLink='false'>http://host/g</guid> => - R46",
        "<guid>tag:host,2024:1</guid> => - R46",
        "<title>x</title> => - R46",
        "<link>ftp://host/a</link> => - R46",
        "<link>/a</link> => - R46",
        "<link>http://host/&own;</link><guid>http://host/g</guid> => - R22",
        "<link>http://host/?a&b</link> => http://host/?a&b||| => Error R3",
        // The links of other vocabularies are about something else.
        "<atom:link href='http://host/x'/><link>http://host/a</link> => http://host/a|||",
    ] {
        check_row(row, |item| rss(&format!("<item>{item}</item>")));
    }
}

#[test]
fn date_of_rss_is_read_in_many_forms() {
    for row in [
        "<pubDate>Mon, 02 Mar 2026 05:00:11 +0100</pubDate> => http://host/|2026-03-02T04:00:11Z||",
        "<pubDate>2 Mar 26 04:00 GMT</pubDate> => http://host/|2026-03-02T04:00:00Z||",
        "<pubDate>Monday, 2 March 2026 04:00:00 EST</pubDate> => http://host/|2026-03-02T09:00:00Z|| => Warning R47",
        "<pubdate>2 Mar 2026 04:00:00 Z</pubdate> => http://host/|2026-03-02T04:00:00Z||",
        "<pubDate>yesterday</pubDate> => http://host/||| => Error R47",
        "<pubDate></pubDate> => http://host/||| => Error R47",
        "<pubDate>2 Mar 2026 04:00:00</pubDate> => http://host/||| => Error R47",
        "<pubDate>2026-03-02T04:00:00Z</pubDate> => http://host/|2026-03-02T04:00:00Z|| => Error R47",
        "<pubDate>2026-03-02 04:00:00Z</pubDate> => http://host/|2026-03-02T04:00:00Z|| => Error R47",
        "<dc:date>2026-03-02T04:00:00+01:00</dc:date> => http://host/|2026-03-02T04:00:00+01:00||",
        "<dc:date>2026-03-02</dc:date> => http://host/|2026-03-02||",
        "<dc:date>2025-01-01</dc:date><pubDate>2 Mar 2026 04:00:00 GMT</pubDate><dc:date>2024-01-01</dc:date> => http://host/|2026-03-02T04:00:00Z||",
        "<pubDate>no</pubDate><dc:date>2026-03-02</dc:date> => http://host/|2026-03-02|| => Error R47",
        "<atom:updated>2024-01-01T00:00:00Z</atom:updated> => http://host/|||",
    ] {
        check_row(row, |dates| {
            rss(&format!("<item><link>http://host/</link>{dates}</item>"))
        });
    }
}

#[test]
fn atom_entry_has_a_link() {
    for row in [
        "<link href='http://host/a'/> => http://host/a|||",
        "<link rel='alternate' type='text/html' href=' http://host/?a&amp;b=&#x31; '></link> => http://host/?a&b=1|||",
        "<link rel='self' href='http://host/s'/><link rel='edit' href='http://host/e'/><link rel='alternate' href='http://host/a'/> => http://host/a|||",
        "<link rel='enclosure' href='http://host/m'/><link rel='alternate' href='http://host/a'/> => http://host/a|||",
        "<link rel='alternate' href='http://host/a'/><link href='http://host/b'/><link href='http://host/c'/> => http://host/b|||",
        "<link rel='alternate' type='application/pdf' href='http://host/a'/>\
         <link rel='http://www.iana.org/assignments/relation/alternate' type='text/html' href='http://host/b'/> => http://host/b|||",
        // Not escaped, and so in attributes more often than not.
        "<link href='http://host/?a=1&b=2&lt'/> => http://host/?a=1&b=2&lt||| => Error R3, Error R3",
        "<id>http://host/a</id> => - R46",
        "<link rel='self' href='http://host/s'/> => - R46",
        "<link href=''/> => - R46",
        "<link href='a'/> => - R46",
        "<source><link href='http://host/s'/><updated>2001-01-01T00:00:00Z</updated></source><link href='http://host/a'/> => http://host/a|||",
        "<content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'><p>x<br/>&nbsp;</p></div></content><link href='http://host/a'/> => http://host/a||| => Error R22",
    ] {
        check_row(row, |entry| atom(&format!("<entry>{entry}</entry>")));
    }
}

#[test]
fn dates_of_atom_have_ranks() {
    let file = |dates: &str| {
        atom(&format!(
            "<entry><link href=\"http://host/\"/>{dates}</entry>"
        ))
    };
    let of = |name: &str, year: u16| format!("<{name}>{year}-05-17T00:00:00Z</{name}>");
    let all = [
        of("created", 2001),
        of("published", 2002),
        of("issued", 2003),
        of("modified", 2004),
        of("updated", 2005),
    ];
    for (last, year) in [2001, 2002, 2003, 2004, 2005].iter().enumerate() {
        let expected = format!("http://host/|{year}-05-17T00:00:00Z||");
        check_reading(file(&all[..=last].concat()), &[&expected], &[]);
        let reversed: Vec<&str> = all[..=last].iter().rev().map(String::as_str).collect();
        check_reading(file(&reversed.concat()), &[&expected], &[]);
    }
    for row in [
        "<updated>2003-12-13T18:30:02.25+01:00</updated> => http://host/|2003-12-13T18:30:02.25+01:00||",
        "<updated>no</updated><issued>2024-05-17T00:00:00Z</issued> => http://host/|2024-05-17T00:00:00Z|| => Error R47",
        "<updated>2024-05-17t10:00:00z</updated> => http://host/|2024-05-17T10:00:00Z|| => Error R47",
        "<updated>2024-05-17T10:00:00</updated> => http://host/|2024-05-17T10:00:00Z|| => Error R47",
        "<updated>2024-05-17</updated> => http://host/|2024-05-17|| => Error R47",
        "<updated>2024-05-17T10:00Z</updated> => http://host/||| => Error R47",
        "<updated>2024-05</updated> => http://host/||| => Error R47",
    ] {
        check_row(row, file);
    }
}

#[test]
fn old_and_wrong_kinds_of_feeds_are_read() {
    let entry = "<entry><link href='http://host/a'/><updated>2024-05-17</updated></entry>";
    let item = "<item><link>http://host/a</link><dc:date>2024-05-17</dc:date></item>";
    for row in [
        "<feed version='0.3' xmlns='http://purl.org/atom/ns#'><entry><link rel='alternate' href='http://host/a'/>\
         <modified>2024-05-17</modified></entry></feed>",
        "<a:feed xmlns:a='http://www.w3.org/2005/Atom'><a:entry><a:link href='http://host/a'/>\
         <a:updated>2024-05-17</a:updated></a:entry></a:feed> => Error R47",
        "<feed>^</feed> => Error R45",
        "<feed xmlns='https://www.w3.org/2005/Atom'>^</feed> => Error R45",
        "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://purl.org/rss/1.0/' \
         xmlns:dc='http://purl.org/dc/elements/1.1/'><channel rdf:about='http://host/'><link>http://host/</link>\
         <items><rdf:Seq><rdf:li resource='http://host/a'/></rdf:Seq></items></channel>~</rdf:RDF> => Note R45",
        "<rss version='0.91' xmlns='http://backend.userland.com/rss2'><channel>~</channel></rss> => Note R45, Error R70",
        "<rss><channel xmlns:dc='http://purl.org/dc/elements/1.1/'>~</channel></rss> => Note R45",
    ] {
        let [file, findings] = columns(row);
        let is_rss = file.contains('~');
        let kind = if is_rss { Kind::Rss } else { Kind::Atom };
        let file = file.replace('^', entry).replace('~', item);
        check_reading(&file, &["http://host/a|2024-05-17||"], &list(findings));
        let mut reader = Reader::new(file.as_bytes(), Limits::default());
        assert!(reader.next().is_some());
        assert_eq!(reader.kind(), Some(kind), "{file}");
    }
    check_reading(rss(""), &[], &[]);
    check_reading(atom(""), &[], &[]);
}

#[test]
fn relative_links_are_resolved_against_what_is_known() {
    let read = |feed: &str, place: &str| {
        let place = Loc::parse(place).unwrap();
        let mut reader = Reader::new(feed.as_bytes(), Limits::default()).at(&place);
        let mut urls = Vec::new();
        for item in &mut reader {
            match item {
                Ok(Item::Url(entry)) => urls.push(entry.loc.to_string()),
                other => panic!("{other:?}"),
            }
        }
        let findings = reader.findings().iter();
        (urls, findings.map(ToString::to_string).collect::<Vec<_>>())
    };
    let feed = atom(
        "<entry><link href=\"a\"/></entry><entry xml:base=\"/x/\"><link href=\"b\"/><link rel=\"alternate\" href=\"c\"/></entry>\
         <entry><link xml:base=\"http://other/y/\" href=\"../d\"/></entry><entry><link href=\"//third/e\"/></entry>",
    );
    let (urls, findings) = read(&feed, "https://host/news/feed.atom");
    let links = "https://host/news/a https://host/x/b http://other/d https://third/e".split(' ');
    assert!(urls.iter().eq(links), "{urls:?}");
    let relative = "line 1, byte 115: link is relative, expected https://host/news/a (R46)";
    assert_eq!((findings[0].as_str(), findings.len()), (relative, 4));
    let feed =
        rss("<item><link>/a</link></item>").replace("<channel>", "<channel xml:base='sub/'>");
    assert_eq!(read(&feed, "http://host/f/").0, ["http://host/a"]);
    assert_eq!(
        read(&feed.replace("/a<", "a<"), "http://host/f/").0,
        ["http://host/f/sub/a"]
    );

    // Without a place a base that is absolute is enough.
    let based = atom("<entry><link href=\"a\"/></entry>")
        .replace("<feed", "<feed xml:base=\"http://host/b/\"");
    check_reading(based, &["http://host/b/a|||"], &["Warning R46"]);
}

#[test]
fn elements_of_other_vocabularies_are_counted_and_skipped() {
    let feed = rss(
        "<item><link>http://host/a</link><media:content url=\"http://host/m\"><media:title>x</media:title></media:content><media:link>http://host/no</media:link></item>",
    );
    check_reading(&feed, &["http://host/a|||"], &[]);
    let mut reader = Reader::new(feed.as_bytes(), Limits::default());
    assert_eq!(reader.by_ref().count(), 1);
    // The link to the feed itself is the third.
    assert_eq!(reader.extension_elements(), 3);
}

#[test]
fn broken_feed_gives_the_entries_before_the_break() {
    let whole = rss(
        "<item><link>http://host/a</link></item><item><link>http://host/b</link><pubDate>2 Mar 2026 04:00:00 GMT</pubDate></item>",
    );
    let check = |from: &str, items: &[&str], findings: &[&str]| {
        let cut = &whole[..whole.find(from).unwrap()];
        check_reading(cut, items, findings);
    };
    let a = "http://host/a|||";
    check(
        "</channel>",
        &[a, "http://host/b|2026-03-02T04:00:00Z||", "! R1"],
        &[],
    );
    check("</pubDate>", &[a, "http://host/b|||", "! R1"], &[]);
    check("</link><pubDate>", &[a, "! R1"], &[]);
    // A description that is not escaped.
    let soup = rss(
        "<item><description>a<br>b<p>c & d &nbsp;</description><link>http://host/a</link></item>",
    );
    let (items, findings) = reading(soup.as_bytes());
    assert_eq!(items, [a]);
    assert_eq!(findings, ["Error R3", "Error R22", "Error R1"]);
    // A page in an entry can be deep.
    let deep = format!(
        "<entry><link href=\"http://host/a\"/><content>{}{}</content></entry>",
        "<div>".repeat(100),
        "</div>".repeat(100)
    );
    check_reading(atom(&deep), &[a], &[]);
}

#[test]
fn link_that_the_file_end_cuts_is_lost() {
    for row in [
        "a</ => http://host/a|||, ! R1",
        "a => ! R1",
        // The end of an element that is left out does not affect the text around it.
        "<b>x<c => ! R1",
    ] {
        check_row(row, |rest| {
            format!("<rss version='2.0'><channel><item><link>http://host/{rest}")
        });
    }
}

#[test]
fn items_are_in_or_beside_the_channel() {
    let item = "<item><link>http://host/a</link></item>";
    for row in [
        "<rss version='2.0'>~</rss> => http://host/a|||",
        "<rss version='2.0'><box>~</box></rss>",
    ] {
        check_row(row, |feed| feed.replace('~', item));
    }
    let entry = "<entry><link href='http://host/a'/></entry>";
    check_reading(atom(&format!("<channel>{entry}</channel>")), &[], &[]);
    check_reading(atom(entry), &["http://host/a|||"], &[]);
}
