//! Lists and tables as records; what each reader makes of them is tested with the readers.

use proptest::prelude::*;

use super::*;

/// The URLs of a text, or the line of its refusal and why.
fn urls(
    text: &str,
    records: Records<usize>,
) -> Result<Vec<Result<String, RowError>>, (usize, TableError)> {
    let mut urls = Vec::new();
    for record in all(text, records) {
        let record = record.map_err(|refusal| (refusal.place, refusal.error))?;
        if record.part() == Part::Entry {
            urls.push(record.url().map(Cow::into_owned));
        }
    }
    Ok(urls)
}

fn all(text: &str, mut records: Records<usize>) -> Vec<Result<Record<usize>, Refusal<usize>>> {
    let mut all = Vec::new();
    for (index, line) in text.lines().enumerate() {
        records.push(line, index + 1);
        all.extend(std::iter::from_fn(|| records.next()));
    }
    records.end();
    all.extend(std::iter::from_fn(|| records.next()));
    all
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let found = urls(text, Records::default());
    let expected = expected.iter().map(|url| Ok((*url).to_owned())).collect();
    assert_eq!(found, Ok(expected), "{text:?}");
}

#[track_caller]
fn check_refused(text: &str, line: usize, error: TableError) {
    let found = urls(text, Records::default());
    assert_eq!(found, Err((line, error)), "{text:?}");
}

const A: &str = "https://h/a";
const B: &str = "https://h/b";

#[test]
fn header_line_tells_the_delimiter_and_the_column() {
    check("url,lastmod\n/a,2026-01-02\n", &["/a"]);
    check("url;title\n/a,b.html;T|U\n", &["/a,b.html"]);
    check("url\ttitle\n/a,b;c\tT\n", &["/a,b;c"]);
    check("url|title\n /a,b | T\n", &["/a,b"]);
    check("id,url\n1,/a\n", &["/a"]);
    check("id\turl\n\t/a\n", &["/a"]);
    check("\turl\n0\t/a\n", &["/a"]);
    check("\"lastmod\";\"URL\"\n\"2026\";\"/a;b\" ;\n", &["/a;b"]);
    check("title,Page URL\n\"5\"\" disk, round\",/a\n", &["/a"]);
    check("# ours\n\nsep=;\nurl;title\n/a;T\n", &["/a"]);
    check("url|page,link\n/a|x,y\n", &["/a"]);
    check("Page|Link name\n/a|x\n", &["/a"]);
    check("Full URL,Status\nhttps://h/a,200\n", &[A]);
    check("Page location,Views\nhttps://h/a,1\n", &[A]);
    check("Permalink,Title\nblog/a/,T\n", &["blog/a/"]);
    check("loc,title\nabout,T\n", &["about"]);
    check("Location,Name\nBerlin,x\n/a,y\n", &["Berlin", "/a"]);
    check("url,title\n", &[]);
}

#[test]
fn one_column_has_no_delimiter() {
    for header in ["url", "\"loc\"", "Address", "Permalink", "href"] {
        let text = format!("{header}\n{A},b;c|d\n\"/e,f\"\n/g\n");
        check(&text, &["https://h/a,b;c|d", "/e,f", "/g"]);
    }
}

#[test]
fn of_several_names_that_counts_whose_values_are_urls() {
    check("Page,Permalink\n1,https://h/a\n", &[A]);
    check("Title,Location,Permalink\nT,Berlin,https://h/a\n", &[A]);
    check("Title,Permalink,Location\nT,https://h/a,Berlin\n", &[A]);
    check("Page,Address\n1,https://h/a\n2,https://h/b\n", &[A, B]);
    // None counts beside a column that is called so with certainty.
    check("URL,Link\n1,https://h/a\n", &["1"]);
    check("url,title,link\nabout,About us,https://h/a\n", &["about"]);
    check("link;url\nhttps://h/a;about\n", &["about"]);
    check("loc,url\nBerlin,https://h/a\n", &[A]);
    // The surer name where several are.
    check("URL,Link\n/a,/x\n", &["/a"]);
    check("page,url\n1,/a\n", &["/a"]);
    check("Link,Permalink\n/x,/a\n", &["/a"]);
    check_refused("Address,Link\n/a,/b\n", 1, TableError::SeveralColumns);
    check_refused("loc,url\n/a,/b\n", 1, TableError::SeveralColumns);
    check_refused("\nloc,URL\n", 2, TableError::SeveralColumns);
    // Which of them does not matter.
    check("Permalink,Full URL\n/a,/a\n/b,/b\n", &["/a", "/b"]);
}

#[test]
fn words_may_stand_before_the_header_line() {
    check("Report, 2026-01-01\nurl;title\nhttps://h/a;b\n", &[A]);
    check("Exported by X\n\nurl,title\nabout,T\n", &["about"]);
    check("Exported by X\nurl\nhttps://h/a,b\n", &["https://h/a,b"]);
    check("Pages\nof h\nPage;Views\n/a;5\n", &["/a"]);
    // But these are lists.
    check("about\nurl\n/a\n", &["about", "url", "/a"]);
    check("about\nlink\n/contact\n", &["about", "link", "/contact"]);
    check("https://h/a\nurl,title\n", &[A, "url,title"]);
}

#[test]
fn lists_stay_lists_whatever_is_in_their_urls() {
    for list in [
        "/a,b;c\n/d,e;f",
        "https://h/a,1.html\nhttps://h/b,2.html",
        "https://h/go?to=1,https://h/b",
        "https://h/\nhttps://h/a,daily\nhttps://h/b,0.5",
        "https://h/day?from=BER,2026-01-02\n/b",
        "https://h/lib;1.0\nhttps://h/lib;1.1",
        "https://h/img/w_1.jpg|https://h/y\nhttps://h/b",
        "about\nproducts/1\nproducts/1,2",
        "artikel,1.html\nartikel,2.html\n/artikel,3.html",
        "docs/a;v=1\ndocs/b;v=2",
        "wiki/a|x\nwiki/b|y",
        "page,1.html\npage,2.html",
        "page,1.html",
        "link;a\nlink;b",
        "url,a\nurl,b",
        "address,one\nabout",
        "page\nother",
        "go?u=1;https://h/\nabout",
        "/web/2020,https://h/\n/b",
        "name,title",
    ] {
        check(list, &list.lines().collect::<Vec<_>>());
    }
    let good: Vec<String> = (0..1_500).map(|number| format!("{A}{number}")).collect();
    let good = good.join("\n");
    for line in [
        "TODO, https://h/c",
        "https://h/w_1.jpg|https://h/y",
        "a;b",
        "Page;Views",
    ] {
        let found = urls(&format!("{line}\n{good}"), Records::default()).unwrap();
        assert!(found.len() >= 1_500, "{line}");
    }
}

#[test]
fn tables_that_nobody_can_read_are_refused() {
    use TableError::{NoColumn, NoHeader, Row};
    check_refused("https://h/a,daily\n", 1, NoHeader);
    check_refused("/a,About us\n/b,Contact\n", 1, NoHeader);
    check_refused("/a,200\n/b,404\n", 1, NoHeader);
    check_refused("/day,2026-01-02\n/day,2026-01-03\n", 1, NoHeader);
    check_refused("/a,02.01.2026\n/b,03.01.2026\n", 1, NoHeader);
    check_refused("1,/a\n2,/b\n", 1, Row);
    check_refused("2026-01-02;/a\n2026-01-03;/b\n", 1, Row);
    check_refused(
        "https://h/a,2026-01-02\nhttps://h/b,\n/c,daily\n/d,0.5",
        1,
        NoHeader,
    );
    check_refused("/a;;daily\n", 1, NoHeader);
    check_refused("https://h/old;https://h/new\n", 1, NoHeader);
    check_refused("Adresse;Titel\nhttps://h/a;Hallo\n", 1, NoColumn);
    check_refused("# x\n\nWas,Wo\n200,https://h/a\n", 3, NoColumn);
    check_refused("Report\nSeite,Klicks\n/a,3\n", 2, NoColumn);
    check_refused("a,b\n200,https://h/b\n404,https://h/c\n", 1, NoColumn);
    check_refused("Was,Wo\n\"two\nlines\",https://h/a\nx,/b\n", 1, NoColumn);
    check_refused("Was,Wo\n\"a, b\",\"https://h/a\",x\n", 1, NoColumn);
    check_refused("200,https://h/a\n404,https://h/b\n", 1, Row);
}

#[test]
fn what_else_stands_in_a_line_of_a_list_is_known_beyond_doubt_only() {
    check(
        "\"https://h/a,b\"\n\"https://h/b\",\"2026-01-02\"\n",
        &["https://h/a,b", B],
    );
    check("https://h/a\tTitle\nhttps://h/b\t2026-01-02\n", &[A, B]);
    check("https://h/a 2026-01-02\nhttps://h/b https://h/c\n", &[A, B]);
    check("https://h/a some words\n", &["https://h/a some words"]);
}

#[test]
fn a_url_behind_a_note_costs_its_line() {
    let check = |text: &str, expected: &[Option<&str>]| {
        let found = urls(text, Records::default()).unwrap();
        let found: Vec<_> = found.iter().map(|url| url.as_deref().ok()).collect();
        assert_eq!(found, expected, "{text:?}");
    };
    let note = "TODO, https://h/b";
    check(
        &format!("about\nproducts\n{note}\n"),
        &[Some("about"), Some("products"), None],
    );
    check(&format!("{note}\n{A}\n"), &[None, Some(A)]);
    check(&format!("{A}\n{note}\n"), &[Some(A), None]);
    check("see https://h/a\n", &[Some("see https://h/a")]);
    // A line that was quoted as a whole, and one whose tab stands in its URL.
    check("\"url,\"\"x\"\"\"\n\"https://h/a,\"\"x, z\"\"\"\n", &[None]);
    check("about\tus\n", &[None]);
}

#[test]
fn a_title_is_no_header() {
    use Part::{Comment, Entry, Header, Note, Ruler, Separator};
    let parts = |text: &str| -> Vec<Part> {
        let records = all(text, Records::default());
        records.into_iter().map(|it| it.unwrap().part()).collect()
    };
    let titled = "Page; as of 2026\nhttps://h/a;b=1;c\nhttps://h/c;d=2;e\n";
    check(titled, &["https://h/a;b=1;c", "https://h/c;d=2;e"]);
    check(
        "Page;1\nhttps://h/a;b\nhttps://h/c\nhttps://h/d\n",
        &["https://h/a;b", "https://h/c", "https://h/d"],
    );
    check("Link, Title\nhttps://h/a,T\nhttps://h/b,U\n", &[A, B]);
    let towns = ["https://h/wiki/Paris,_Texas", "https://h/wiki/Berlin,_Ohio"];
    for title in [
        "Towns, all",
        "Towns of our wiki, sorted by name:",
        "Export, 22.11.2026",
        "ftp://h/wiki/Bonn,_X",
        "www.h/wiki/Bonn,_X",
    ] {
        let list = format!("{title}\n{}\n{}\n", towns[0], towns[1]);
        let read = urls(&list, Records::default()).unwrap();
        assert!(
            read.ends_with(&towns.map(|town| Ok(town.to_owned()))),
            "{title}: {read:?}"
        );
    }
    assert_eq!(parts("index,1.html\n/a,2.html\n/b,3.html\n"), [Entry; 3]);
    for header in ["Towns, all", "Seite,Klicks/Tag"] {
        for value in ["5.1%", "3", "2.1.2026", "\"x\"", "a town", "https://h/c"] {
            let table = format!(
                "{header}\n{},{value}\n{},{value}\n",
                "https://h/a", "https://h/b"
            );
            check_refused(&table, 1, TableError::NoColumn);
        }
    }
    assert_eq!(
        parts("Webseite\nhttps://h/a\n# x\nhttps://h/b"),
        [Note, Entry, Comment, Entry]
    );
    assert_eq!(parts("about\n/b\n"), [Entry, Entry]);
    assert_eq!(parts("sep=,\nhttps://h/a\n"), [Separator, Entry]);
    assert_eq!(
        parts("| url | lastmod |\n|-----|--------|\n| https://h/a | 2026-01-02 |\n"),
        [Header, Ruler, Entry]
    );
    assert_eq!(
        parts("title,url\n# x,y\n#1,https://h/a\n"),
        [Header, Comment, Entry]
    );
}

#[test]
fn a_quoted_field_may_have_line_ends() {
    check(
        "url,text\nhttps://h/a,\"See\nhttps://h/x\nfor more\"\nhttps://h/b,x\n",
        &[A, B],
    );
    check(
        "id,title,url\n1,\"Hello\n\n# world\",https://h/a\n2,\"T\",https://h/b\n",
        &[A, B],
    );
    check("\"ti\ntle\",\"url\"\n\"T\",\"https://h/a\"\n", &[A]);
    let records = all("url,text\n/a,\"b\nc\"\n/d,e\n", Records::default());
    let places: Vec<Vec<usize>> = records
        .into_iter()
        .map(|record| record.unwrap().places().copied().collect())
        .collect();
    assert_eq!(places, [vec![1], vec![2, 3], vec![4]]);
    // None does in a list.
    check("\"https://h/a\nhttps://h/b\"\n", &[A, "https://h/b\""]);
}

#[test]
fn an_open_quote_costs_no_other_line() {
    let table = "id\turl\ttext\n1\thttps://h/a\t\"open\n2\thttps://h/b\tx\n3\thttps://h/c\t\"y\"\n";
    check(table, &[A, B, "https://h/c"]);
    let open: Vec<bool> = all(table, Records::default())
        .into_iter()
        .map(|record| record.unwrap().open_quote().is_some())
        .collect();
    assert_eq!(open, [false, true, false, false]);
    let found = urls(
        "url,text\n/a,\"open\nwords, more\n/b,x\n",
        Records::default(),
    );
    let expected = [
        Ok("/a".to_owned()),
        Err(RowError::BehindOpenQuote),
        Ok("/b".to_owned()),
    ];
    assert_eq!(found, Ok(expected.to_vec()));
    let found = urls("text,url\n\"open,/a\nx,/b\n", Records::default());
    assert_eq!(
        found,
        Ok(vec![Err(RowError::OpenQuote), Ok("/b".to_owned())])
    );
    // More lines and more bytes than a record has.
    for line in ["\n".to_owned(), format!("{}\n", "x".repeat(1_000))] {
        let text = format!("url,text\n/a,\"open\n{}/b,\"x\"\n", line.repeat(11_000));
        let found = urls(&text, Records::default()).unwrap();
        assert_eq!(found.first(), Some(&Ok("/a".to_owned())));
        assert_eq!(found.last(), Some(&Ok("/b".to_owned())));
    }
}

#[test]
fn behind_a_quoted_field_that_is_too_long_the_next_whole_row_counts() {
    let limits = [
        ("\n".to_owned(), MAX_RECORD_LINES),
        (format!("{}\n", "x".repeat(999)), MAX_RECORD_BYTES / 1_000),
    ];
    for (line, count) in limits {
        // It is a text indeed, some lines of which look like URLs, and some like rows of the first columns.
        let text = format!("{line}{A}\nlast\n/c,x\n").repeat(count);
        let table = format!("url,title,text\n/a,T,\"first\n{text}end\"\n/b,T,x\n/d\n");
        let mut urls = Vec::new();
        let mut errors = Vec::new();
        for record in all(&table, Records::default()) {
            let record = record.unwrap();
            errors.extend(record.open_quote());
            if record.part() == Part::Entry {
                urls.extend(record.url().map(Cow::into_owned));
            }
        }
        assert_eq!(urls, ["/a", "/b", "/d"]);
        assert_eq!(errors, [RowError::LongQuote]);
    }
    // As long as a record may be.
    let text = "x\n".repeat(MAX_RECORD_LINES - 2);
    check(&format!("text,url\n\"{text}\",{A}\n/x,{B}\n"), &[A, B]);
    let text = "x".repeat(MAX_RECORD_BYTES - A.len() - 4);
    check(&format!("text,url\n\"\n{text}\",{A}\n/x,{B}\n"), &[A, B]);
    assert!(
        RowError::LongQuote
            .to_string()
            .ends_with("in 256 KiB or 10000 lines")
    );
}

#[test]
fn rows_without_header_line_are_read_where_all_are_a_url_and_a_date() {
    let check = |text: &str, expected: &[&str]| {
        for records in [Records::default(), Records::of_table()] {
            let expected = expected.iter().map(|url| Ok((*url).to_owned())).collect();
            assert_eq!(urls(text, records), Ok(expected), "{text:?}");
        }
    };
    check("https://h/a,2026-01-02\nhttps://h/b,2026-01-03\n", &[A, B]);
    check("# ours\n\n/a;2026-01-02T03:04:05Z\n\n/b;\n", &["/a", "/b"]);
    check("\"/a,b\"\t\"2026-01-02\"\n", &["/a,b"]);
    check("sep=,\n/a,2026-01-02\n", &["/a"]);
    let records = all("/a,2026-01-02\n\n# x\n/b\n/c,d,e\n", Records::of_table());
    assert!(records[0].is_err());
    let rows: Vec<String> = (0..200).map(|row| format!("/{row},2026-01-02\n")).collect();
    let rows = rows.concat();
    let records = all(&format!("{rows}\n# x\n/b\n/c,d,e\n"), Records::default());
    let last: Vec<_> = records[200..]
        .iter()
        .map(|record| record.as_ref().unwrap())
        .map(|record| (record.part(), record.url().map(Cow::into_owned)))
        .collect();
    let other = RowError::OtherFields {
        fields: 3,
        columns: 2,
    };
    assert_eq!(last[0].0, Part::Blank);
    assert_eq!(last[1].0, Part::Comment);
    assert_eq!(
        last[2..],
        [
            (Part::Entry, Ok("/b".to_owned())),
            (Part::Entry, Err(other))
        ]
    );
    // In a list, a date costs its line, unless somebody says that it is part of the URL.
    let mixed = "/a\n/b\n/c,2026-01-02\n1,/d,2026-01-02\n";
    let a_and_b = [Ok("/a".to_owned()), Ok("/b".to_owned())];
    let found = urls(mixed, Records::default()).unwrap();
    assert_eq!(found[..2], a_and_b);
    assert_eq!(found[2..], [const { Err(RowError::DateBehind) }; 2]);
    let found = urls(mixed, Records::of_list()).unwrap();
    assert!(found.iter().all(Result::is_ok));
}

#[test]
fn the_header_line_is_found_behind_whatever_stands_in_front() {
    let comments = format!("# {}\n\n", "c".repeat(98)).repeat(5_000);
    check(&format!("{comments}url,z\n/a,1\n"), &["/a"]);
    check(&format!("{comments}/a,2026-01-02\n"), &["/a"]);
    check(&format!("{comments}/a,1\n/b\n"), &["/a,1", "/b"]);
    for words in [
        "some words, and more\n".repeat(700),
        format!("some {}\n", "words".repeat(1_000)).repeat(20),
    ] {
        let rows = "/a,1\n".repeat(30);
        for name in ["url", "Permalink", "Page"] {
            check(&format!("{words}{name},z\n{rows}"), &["/a"; 30]);
        }
        let lines = words.lines().count() + 1;
        let unknown = format!("{words}Wo,Was\n{rows}");
        check_refused(&unknown, lines, TableError::NoColumn);
    }
    // As far as is looked.
    let words = "some words\n".repeat(40_000);
    check_refused(&format!("{words}url,z\n/a,1\n"), 1, TableError::NoUrl);
    let relative: Vec<String> = (0..40_000).map(|number| format!("p/{number},a")).collect();
    let relative: Vec<&str> = relative.iter().map(|url| &**url).collect();
    check(&relative.join("\n"), &relative);
}

#[test]
fn a_row_that_is_not_like_the_header_line_has_no_url() {
    let check = |text: &str, expected: RowError| {
        assert_eq!(
            urls(text, Records::default()),
            Ok(vec![Err(expected)]),
            "{text:?}"
        );
    };
    let other = |fields, columns| RowError::Fields { fields, columns };
    check("url,title\n/a,b.html,T\n", other(3, 2));
    check("id,title,url\n1,T\n", other(2, 3));
    check("id,url\n/a\n", other(1, 2));
    check("url,title\n\"/a\"b,T\n", RowError::TextBehindQuote);
    check("url,title\nTotal\n", other(1, 2));
    let urls = |text| urls(text, Records::default()).unwrap();
    assert_eq!(urls("url,title\n/a,T,, ,\n/b\n").len(), 2);
    assert_eq!(
        urls("id,url\n1,/a\nhttps://h/b\n"),
        [Ok("/a".into()), Ok(B.into())]
    );
    assert_eq!(
        other(1, 2).to_string(),
        "1 field, expected 2 as in the header line"
    );
}

#[test]
fn what_is_said_to_be_a_table_is_one() {
    let check = |text: &str, expected: Result<&[&str], (usize, TableError)>| {
        let expected = expected.map(|urls| urls.iter().map(|url| Ok((*url).to_owned())).collect());
        assert_eq!(urls(text, Records::of_table()), expected, "{text:?}");
    };
    check("page\nabout\n", Ok(&["about"]));
    check("Report\nurl;title\n/a;b\n", Ok(&["/a"]));
    check("# x\nname,lastmod\n", Err((2, TableError::Unnamed)));
    check("https://h/a\n", Err((1, TableError::Unnamed)));
}

#[test]
fn quotation_marks_within_a_url_are_unescaped() {
    check("url,t\n\"https://h/\"\"a\"\"\",x\n", &["https://h/\"a\""]);
}

#[test]
fn a_relative_url_may_stand_behind_a_number_sign() {
    let table = "tag,url\n#sale,tags/sale\n# of,today\n#no url\nx,about\n";
    check(table, &["tags/sale", "about"]);
    check("url,tag\n#about,x\n/a,y\n", &["/a"]);
    check("tag,Page\n#x,old\n#1,/a\n", &["/a"]);
}

#[test]
fn the_columns_of_a_row_are_those_of_the_last_header_line() {
    let records = all("url,t\n/a,x\nt,url\ny,/b\n", Records::default());
    let columns: Vec<_> = records
        .into_iter()
        .map(|record| record.unwrap())
        .map(|record| (record.part(), record.columns().url_column()))
        .collect();
    let certain = |column| Some((column, UrlColumn::Certain));
    assert_eq!(
        columns,
        [
            (Part::Header, certain(0)),
            (Part::Entry, certain(0)),
            (Part::Header, certain(1)),
            (Part::Entry, certain(1)),
        ]
    );
    // None shows a URL behind it.
    check("url,t\n/a,x\nabout,url\n", &["/a", "about"]);
    check("url,t\n/a,x\nabout,url\n/b,/c\n", &["/a", "about", "/b"]);
}

#[test]
fn separator_line_names_one_delimiter() {
    for (line, expected) in [
        ("sep=;", true),
        ("sep=\t", true),
        ("SEP=;", true),
        ("\"sep=;\"", true),
        ("\"Sep=,\"", true),
        ("\"sep=;", false),
        ("sepä;", false),
        ("sep=", false),
        ("sep=x", false),
        ("sep=;;", false),
        (";", false),
    ] {
        assert_eq!(form::is_separator_line(line), expected, "{line:?}");
    }
}

proptest! {
    /// Each line comes out once and in its place, however the quotation marks stand, unless all are refused.
    #[test]
    fn no_line_is_lost(text in "(url,a\n)?([a/\",; \t#\n-]|https://h/|url){0,60}") {
        let mut places = Vec::new();
        for record in all(&text, Records::default()) {
            let Ok(record) = record else {
                return Ok(());
            };
            let _ = (record.url(), record.fields().count());
            places.extend(record.places().copied());
        }
        prop_assert_eq!(places, (1..=text.lines().count()).collect::<Vec<_>>());
    }
}
