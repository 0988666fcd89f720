//! One table of lists for all who read them: the same bytes are the same URLs, or are refused in the same words, for `build`, for
//! `--seeds`, for a list that a site serves and for `check`.

use std::{collections::BTreeSet, io::Write as _};

use sitemap_core::validate::{Facts, Options, Validator};

use super::*;
use crate::seeds::{self, SeedList, SeedListError, SeedProblem};

/// What a reader makes of a list: the paths of its URLs, or why it is none.
type Read = Result<BTreeSet<String>, String>;

type Reader = fn(&[u8]) -> Read;

fn path(key: &UrlKey) -> String {
    key.path_and_query().to_owned()
}

fn built(list: &[u8]) -> Read {
    let (store, loaded, _) = load_list_of(&example_site(), list, &Config::default(), &|| false);
    match loaded {
        Ok(_) => {
            let mut paths = BTreeSet::new();
            let run = runs::newest(&store).unwrap().expect("a run");
            store
                .visit_keys(run, &mut |key, _| {
                    paths.insert(path(key));
                })
                .unwrap();
            Ok(paths)
        }
        Err(BuildError::Format { problem, .. }) => Err(problem),
        Err(error) => panic!("{error}"),
    }
}

fn seeded(list: &[u8]) -> Read {
    let list = SeedList::copy("list", list).unwrap();
    match list.check() {
        Ok(_) => {}
        Err(error @ SeedListError::Table { .. }) => return Err(error.to_string()),
        Err(error) => panic!("{error}"),
    }
    let mut paths = BTreeSet::new();
    list.read(&Identity::default(), &mut |batch| {
        paths.extend(batch.pages.iter().map(path));
        std::ops::ControlFlow::Continue(())
    });
    Ok(paths)
}

fn served(list: &[u8]) -> Read {
    let mut paths = BTreeSet::new();
    let max_bytes = seeds::MAX_UNPACKED_BYTES;
    let reading = seeds::read(list, max_bytes, None, &Identity::default(), &mut |batch| {
        paths.extend(batch.pages.iter().map(path));
        std::ops::ControlFlow::Continue(())
    });
    match reading.problem {
        None => Ok(paths),
        Some((SeedProblem::NotASitemap, problem)) if paths.is_empty() => Err(problem),
        Some((_, problem)) => panic!("{problem}"),
    }
}

/// What `check` says of it; which URLs it takes is seen in [`served`], which reads with the same reader.
fn validated(list: &[u8]) -> Result<u64, String> {
    let mut errors = Vec::new();
    let options = Options::new(NOW.parse().unwrap());
    let report = Validator::new(options)
        .check(list, &Facts::new("list"), &mut |finding| {
            errors.push(finding.message);
        })
        .unwrap();
    if report.is_complete {
        return Ok(report.entries);
    }
    assert_eq!((errors.len(), report.entries), (1, 0), "{errors:?}");
    Err(errors.swap_remove(0))
}

/// The same list as it may arrive.
fn forms(list: &str) -> Vec<Vec<u8>> {
    let wide: Vec<u8> = format!("\u{feff}{list}")
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(list.as_bytes()).unwrap();
    vec![
        list.as_bytes().to_vec(),
        format!("\u{feff}{list}").into_bytes(),
        list.replace('\n', "\r\n").into_bytes(),
        list.replace('\n', "\r").into_bytes(),
        packer.finish().unwrap(),
        wide,
    ]
}

/// `H` in a list stands for the site.
#[track_caller]
fn check(list: &str, expected: Result<&[&str], &str>) {
    let list = of_site(list);
    check_forms(&list, forms(&list), expected);
}

/// The same of a list that is too long to be read in all of its forms.
#[track_caller]
fn check_plain(list: &str, expected: Result<&[&str], &str>) {
    let list = of_site(list);
    check_forms(&list, vec![list.clone().into_bytes()], expected);
}

fn of_site(list: &str) -> String {
    list.replace('H', "https://example.com")
}

#[track_caller]
fn check_forms(list: &str, forms: Vec<Vec<u8>>, expected: Result<&[&str], &str>) {
    let shown: String = list.chars().take(300).collect();
    for (number, form) in forms.into_iter().enumerate() {
        let readers: [(&str, Reader); 3] =
            [("build", built), ("--seeds", seeded), ("served", served)];
        for (name, reader) in readers {
            let read = reader(&form);
            let place = format!("{name}, form {number} of {shown:?}: {read:?}");
            match expected {
                Ok(paths) => {
                    let paths: BTreeSet<String> =
                        paths.iter().map(|path| (*path).to_owned()).collect();
                    assert_eq!(read, Ok(paths), "{place}");
                }
                Err(words) => {
                    assert!(read.is_err_and(|said| said.contains(words)), "{place}");
                }
            }
        }
        match (expected, validated(&form)) {
            (Ok(paths), Ok(entries)) => assert!(entries >= paths.len() as u64, "{shown:?}"),
            (Err(words), Err(said)) => assert!(said.contains(words), "{shown:?}: {said}"),
            (_, other) => panic!("check, form {number} of {shown:?}: {other:?}"),
        }
    }
}

#[test]
fn tables_have_their_urls_in_one_column() {
    let a = Ok(&["/a"][..]);
    check("url,lastmod\nH/a,2026-01-02\n", a);
    check("SEP=;\nlastmod;url\n2026-01-02;H/a\n", a);
    check("\"sep=;\"\n\"url\";\"title\"\n\"H/a\";\"b\"\n", a);
    check("# ours\n\nid\turl\n1\tH/a\n", a);
    check("| url | lastmod |\n|---|---|\n| H/a | 2026-01-02 |\n", a);
    check(" id |  url \n----+------\n  1 | H/a\n(1 row)\n", a);
    check("url\nH/a,b;c\n\"H/d,e\"\n", Ok(&["/a,b;c", "/d,e"]));
    check("url;title\nH/a,b;T\nH/c;\n", Ok(&["/a,b", "/c"]));
    for name in [
        "Full URL",
        "Page_URL",
        "website-url",
        "Landing page URL",
        "Permalink",
        "Address",
        "Page location",
        "href",
    ] {
        check(
            &format!("{name},Status\nH/a,200\nH/b,301\n"),
            Ok(&["/a", "/b"]),
        );
        check(&format!("{name}\nH/a,b\n"), Ok(&["/a,b"]));
    }
    check("Page,Permalink\n1,H/a\n", a);
    check("Title,Location,Permalink\nA,Berlin,H/a\n", a);
    check("URL,Link\nH/a,H/x\n", a);
    check("loc,url\nBerlin,H/a\n", a);
    check("Report, 2026-01-01\nurl;title\nH/a;b\n", a);
    check("Exported by X\n\nurl,title\nH/a,b\n", a);
    check("url,title\nH/x,b.html,T\nH/a,T,,\n", a);
    check("title,url\n# x,y\n#1,H/a\n", a);
    check("id,url\n1,H/a\nH/b\n", Ok(&["/a", "/b"]));
}

#[test]
fn records_of_tables_may_have_many_lines() {
    check(
        "url,description\nH/a,\"See\nH/other\nfor more\"\nH/b,x\n",
        Ok(&["/a", "/b"]),
    );
    check(
        "id,title,url\n1,\"Hello\nworld\",H/a\n2,T,H/b\n",
        Ok(&["/a", "/b"]),
    );
    check("\"ti\ntle\",\"url\"\n\"T\",\"H/a\"\n", Ok(&["/a"]));
    let text = format!("{}\n", "words ".repeat(20)).repeat(200);
    check(&format!("text,url\n\"{text}\",H/a\n"), Ok(&["/a"]));
    // One that is open to the end costs no other line.
    let table = "id\turl\ttitle\n1\tH/a\tsays \"hi\"\n2\tH/b\t\"unclosed\n3\tH/c\tx\n";
    check(table, Ok(&["/a", "/b", "/c"]));
    check(
        "url,title\nH/a,\"5\" disk\"\nH/b,\"two\"\n",
        Ok(&["/a", "/b"]),
    );
    check("title,url\n\"x,H/a\nT,H/b\n", Ok(&["/b"]));
}

#[test]
fn records_longer_than_what_is_looked_at_first_are_rows() {
    let line = "some words, and more words\n";
    for name in ["Permalink", "Page", "Link", "Address", "url"] {
        for lines in [15, 18, 20, 99, 101, 150] {
            let text = line.repeat(lines);
            let rows: Vec<String> = (0..7)
                .map(|row| format!("H/{row},T,\"{text}\"\n"))
                .collect();
            let rows = rows.concat();
            let paths = ["/0", "/1", "/2", "/3", "/4", "/5", "/6"];
            check_plain(&format!("{name},Title,Content\n{rows}"), Ok(&paths));
        }
        let text = line.repeat(150);
        let table = format!("Title,Content,{name}\nT,\"{text}\",H/a\nU,\"{text}\",H/b\n");
        check_plain(&table, Ok(&["/a", "/b"]));
    }
    // More bytes than are looked at, in many lines and in one.
    for line in ["words ".repeat(170) + "\n", "words ".repeat(170)] {
        let text = line.repeat(100);
        for name in ["url", "Permalink"] {
            let table = format!("{name},Content,Id\nH/a,\"{text}\",1\nH/b,x,2\n");
            check_plain(&table, Ok(&["/a", "/b"]));
            let table = format!("Id,Content,{name}\n1,\"{text}\",H/a\n2,x,H/b\n");
            check_plain(&table, Ok(&["/a", "/b"]));
        }
    }
    let text = line.repeat(150);
    check_plain(
        &format!("Was,Inhalt,Wo\nT,\"{text}\",H/a\nU,x,H/b\n"),
        Err("this begins a table, no column of which"),
    );
}

#[test]
fn a_stray_quote_in_the_first_row_costs_that_row_only() {
    let rows: Vec<String> = (0..2_000)
        .map(|row| format!("some words in the text of row {row},H/{row}\n"))
        .collect();
    let rows = rows.concat();
    let paths: Vec<String> = (0..2_000).map(|row| format!("/{row}")).collect();
    let paths: Vec<&str> = paths.iter().map(|path| &**path).collect();
    check_plain(&format!("title,url\n\"stray,H/x\n{rows}"), Ok(&paths));
    check_plain(&format!("title,Page\n\"stray,H/x\n{rows}"), Ok(&paths));
    let text = format!("{}\n", "x".repeat(1_000)).repeat(300);
    check_plain(
        &format!("title,url\n\"stray,H/x\n{text}T,H/a\n"),
        Ok(&["/a"]),
    );
}

#[test]
fn a_column_of_a_certain_name_loses_to_no_other() {
    let empty = ",H/other\n".repeat(25);
    for (certain, other) in [("url", "link"), ("loc", "Permalink"), ("URL", "Page")] {
        let table = format!("{certain},{other}\n{empty}H/a,H/other\n");
        check(&table, Ok(&["/a"]));
    }
    // Of the others those count that have values.
    check("Page,Link\n,H/a\n", Ok(&["/a"]));
    check("Permalink,Full URL\nH/a,H/a\nH/b,H/b\n", Ok(&["/a", "/b"]));
    check("loc,url\nH/a,H/a\n", Ok(&["/a"]));
}

#[test]
fn rows_may_begin_like_comments() {
    let both = Ok(&["/a", "/b"][..]);
    check("Title,Text,url\n#1,\"two\nlines\",H/a\nq,x,H/b\n", both);
    check(
        "Title,url,Note\n#1,H/a,\"two\nH/x,H/inv,y\"\n\"q\",H/b,\n",
        both,
    );
    check(
        "t;text;place;n;url;link\n# c;\"two\nlines\";Berlin;1;H/a;H/other\nx;y;z;2;H/b;\n",
        both,
    );
    check("text,url\n# x,\"open\nT,H/a\nU,H/b\n", both);
    check("text,url\n# x,\"open\nT,H/a\n\"U\",H/b\n", both);
    check("Rank,Adresse\n#1,H/a\n#2,H/b\n", Err("no column of which"));
}

#[test]
fn a_url_with_a_line_end_or_a_tab_in_it_is_none() {
    check("url,title\n\"H/a\nb\",x\nH/c,y\n", Ok(&["/c"]));
    check("url,title\n\"H/a\tb\",x\nH/c,y\n", Ok(&["/c"]));
    check("Page;title\nH/c;y\nH/a\tb;x\n", Ok(&["/c"]));
    check("url,title\n\"\nH/a\n\",x\n", Ok(&["/a"]));
}

#[test]
fn values_may_have_other_quotation_marks() {
    check("'url','title'\n'H/a','x'\n", Ok(&["/a"]));
    check("'H/a'\n'H/b'\n", Ok(&["/a", "/b"]));
    check("H/a\n\"H/b,\"\"x, z\"\"\"\n", Ok(&["/a"]));
}

#[test]
fn tables_may_be_put_together_of_several() {
    let notes: Vec<String> = (0..25).map(|number| format!("Note {number}\n")).collect();
    let notes = notes.concat();
    check(&format!("{notes}url,x\nH/a,1\n"), Ok(&["/a"]));
    check("url,title\nH/a,x\nurl,title\nH/b,y\n", Ok(&["/a", "/b"]));
}

#[test]
fn characters_of_other_columns_cost_no_url() {
    check("url,title\nH/a,\u{b}\u{c}x\nH/b,y\n", Ok(&["/a", "/b"]));
}

#[test]
fn rows_of_a_url_and_a_date_need_no_header_line() {
    let both = Ok(&["/a", "/b"][..]);
    check("H/a,2026-01-02\nH/b,2026-01-03\n", both);
    check("# ours\nH/a;2026-01-02T03:04:05Z\nH/b;\n", both);
    check("\"H/a\"\t\"2026-01-02\"\n\"H/b\"\t\"2026-01-03\"\n", both);
    // In a list a date may be a part of the URL, and is more likely none: it is not listed without being asked for.
    let list = of_site("H/a\nH/b\nH/c,2026-01-02\n");
    let paths = |read: Read| Vec::from_iter(read.unwrap());
    assert_eq!(paths(built(list.as_bytes())), ["/a", "/b"]);
    let asked = ["/a", "/b", "/c,2026-01-02"];
    assert_eq!(paths(seeded(list.as_bytes())), asked);
    assert_eq!(paths(served(list.as_bytes())), asked);
    assert_eq!(validated(list.as_bytes()), Ok(3));
}

#[test]
fn what_stands_in_front_of_a_table_hides_no_header_line() {
    let comments = format!("# {}\n", "c".repeat(98)).repeat(700);
    check_plain(&format!("{comments}url,z\nH/a,1\n"), Ok(&["/a"]));
    check_plain(&format!("{comments}H/a,2026-01-02\n"), Ok(&["/a"]));
    let words = "Some words, and more\n".repeat(700);
    check_plain(&format!("{words}url,z\nH/a,1\n"), Ok(&["/a"]));
    let long = format!("Some {}\n", "words".repeat(1_000)).repeat(20);
    check_plain(&format!("{long}Page;Views\nH/a,b;1\n"), Ok(&["/a,b"]));
    check_plain(
        &format!("{words}Wo,Was\nH/a,1\nH/b,2\n"),
        Err("this begins a table, no column of which"),
    );
    let words = "Some words, and more\n".repeat(40_000);
    check_plain(
        &format!("{words}url,z\nH/a,1\n"),
        Err("no URL in the first 256 KiB or 10000 lines"),
    );
}

#[test]
fn a_record_has_one_bound_for_all() {
    let line = "x".repeat(sitemap_core::read::MAX_RECORD_BYTES - 24);
    check_plain(&format!("url,z\nH/a,{line}\nH/b,x\n"), Ok(&["/a", "/b"]));
    let line = format!("{line}{}", "x".repeat(24));
    check_plain(&format!("url,z\nH/a,{line}\nH/b,x\n"), Ok(&["/b"]));
    check_plain(&format!("H/{line}\nH/b\n"), Ok(&["/b"]));
    // A text of more lines, some of which are URLs, and others like rows.
    let text = "words\nH/x\nH/y,z\n".repeat(5_000);
    check_plain(
        &format!("url,n,z\nH/a,1,\"{text}\"\nH/b,2,x\n"),
        Ok(&["/a", "/b"]),
    );
}

#[test]
fn lists_are_no_tables() {
    check(
        "H/a,1.html\nH/b;c\nH/d,daily\n",
        Ok(&["/a,1.html", "/b;c", "/d,daily"]),
    );
    check("H/lib;1.0\nH/lib;1.1\n", Ok(&["/lib;1.0", "/lib;1.1"]));
    check(
        "H/karte/51.10,0.10\nH/karte/51.20,0.20\n",
        Ok(&["/karte/51.10,0.10", "/karte/51.20,0.20"]),
    );
    check("\"H/a,b\"\n\"H/c\"\n", Ok(&["/a,b", "/c"]));
    check("\"H/a\",\"2026-01-02\"\n\"H/b\",\"T\"\n", Ok(&["/a", "/b"]));
    check("H/a\tTitle\nH/b\t2026-01-02\n", Ok(&["/a", "/b"]));
    check("H/a 2026-01-02\nH/b daily\n", Ok(&["/a", "/b"]));
    check("Our pages\nH/a,b\nH/c\n", Ok(&["/a,b", "/c"]));
    check("Webseite\nH/a\nH/b\n", Ok(&["/a", "/b"]));
    check(
        "Page; as of 2026\nH/a;b=1;c\nH/c;d=2;e\n",
        Ok(&["/a;b=1;c", "/c;d=2;e"]),
    );
    check("TODO, H/x\nH/a\nH/b\n", Ok(&["/a", "/b"]));
    check("H/a\nTODO, H/x\nH/b\n", Ok(&["/a", "/b"]));
}

#[test]
fn one_bad_line_costs_no_list() {
    let paths: Vec<String> = (0..1_500).map(|number| format!("/{number}")).collect();
    let good = format!("H{}\n", paths.join("\nH"));
    let paths: Vec<&str> = paths.iter().map(|path| &**path).collect();
    for line in [
        "TODO, H/x",
        "some words; and more",
        "Page; all of them",
        "200,H/x",
    ] {
        check(&format!("{line}\n{good}"), Ok(&paths));
        check(&format!("{good}{line}\n"), Ok(&paths));
    }
    let mut two = paths.clone();
    two.push("/img/w_1.jpg;https://example.com/y");
    check(&format!("H/img/w_1.jpg;H/y\n{good}"), Ok(&two));
}

#[test]
fn what_nobody_can_read_is_refused() {
    let no_column = Err("this begins a table, no column of which is called `url` or `loc`");
    check("Wo,Was\nH/a,200\nH/b,301\n", no_column);
    check("Adresse;Titel\nH/a;Hallo\n", no_column);
    check("Id,Ziel\n1,H/a\n2,H/b\n", no_column);
    check("Report\n\nWas,Wo\n\"two\nlines\",H/a\nx,H/b\n", no_column);
    let no_header = Err("this is a table without a header line");
    check("H/old;H/new\n", no_header);
    check("H/a,daily\nH/b,weekly\n", no_header);
    check(
        "H/a,2026-01-02 03:04:05\nH/b,2026-01-03 03:04:05\n",
        no_header,
    );
    check("H/a,About us\nH/b,Contact\n", no_header);
    check("H/a;200\nH/b;404\n", no_header);
    check("H/day,2026-01-02\nH/day,2026-01-03\n", no_header);
    check("200,H/a\n404,H/b\n", Err("this is the row of a table"));
    let several = Err("several columns of URLs");
    check("Address,Link\nH/a,H/b\n", several);
    check("loc,url\nH/a,H/b\n", several);
}

#[test]
fn a_header_line_is_known_by_its_names_and_by_the_rows_that_have_as_many_fields() {
    let both = Ok(&["/a", "/b"][..]);
    check("Page, CTR\nH/a,5.1%\nH/b,6.2%\n", both);
    check("Page; Load time\nH/a;1.2s\nH/b;0.9s\n", both);
    check("Top pages, Clicks, CTR\nH/a,5,50%\nH/b,2,3.5%\n", both);
    check(
        "Address,\"Title, first\",Canonical\nH/a,T,H/a\nH/b,U,H/b\n",
        both,
    );
    check("Page,Title\nH/a\nH/b,index.html\n", both);
    check("url\t\nH/a\tT\nH/b\tU\n", both);
    check("\turl\n1\tH/a\n\tH/b\n", both);
    check("Pages\nurl\nH/a\nH/b\n", both);
    for (name, rest) in [
        ("Seite", "Klicks/Tag,x"),
        ("page.url", "page.title,x"),
        ("Adresse", " Titel,x"),
        ("Seite", "a=b,x"),
    ] {
        let no_column = Err("this begins a table, no column of which");
        check(&format!("{name},{rest}\nH/a,3,1\nH/b,2,1\n"), no_column);
        check(
            &format!("{name},{rest}\n(not set),1,1\nH/a,3,1\nH/b,2,1\n"),
            no_column,
        );
    }
    check(
        "Seite;Klicks/Tag\n/a;3\n/b;2\n",
        Err("this begins a table, no column of which"),
    );
    // The words of a title have commas as well, but the rows are no columns of it.
    check(
        "Page, as of today\nH/a,b,c\nH/d,e,f\n",
        Ok(&["/a,b,c", "/d,e,f"]),
    );
}

#[test]
fn a_first_column_may_be_called_by_a_number_sign() {
    let both = Ok(&["/a", "/b"][..]);
    check("#,url\n1,H/a\n2,H/b\n", both);
    check("# ours\n#\tURL\tTraffic\n1\tH/a\t5\n2\tH/b\t4\n", both);
    check("#;Page;Views\n1;H/a;5\n#;Page;Views\n2;H/b;4\n", both);
    check("# url\n#,x\nH/a\nH/b\n", both);
}

#[test]
fn no_line_of_the_text_of_a_page_is_a_url() {
    check(
        "id,text,url\n1,x,H/a\n2,\"See\nH/inv\nmore\",H/x,extra\n3,y,H/b\n",
        Ok(&["/a", "/b"]),
    );
    check(
        "url,t\nH/a,x\nH/x,y,\"See\nH/inv,z\nmore\"\nH/b,y\n",
        Ok(&["/a", "/b"]),
    );
    check(
        "url,text,n\nH/a,\"See\nthe \"foo\" page\nH/inv\nend\",1\nH/b,x,2\n",
        Ok(&["/a", "/b"]),
    );
    check(
        "id,text,url\n1,\"open,H/x\n2,x,H/a\n3,\"See\nH/inv\nmore\",H/b\n",
        Ok(&["/a", "/b"]),
    );
    check("url,title\nH/a,x\nTotal\nH/b\n", Ok(&["/a", "/b"]));
}

#[test]
fn files_that_were_put_together_have_their_marks_and_header_lines_again() {
    let both = Ok(&["/a", "/b"][..]);
    check("H/a\n\u{feff}H/b\n", both);
    check("url,t\nH/a,x\n\u{feff}url,t\n\u{feff}H/b,y\n", both);
    for again in ["\"url\",\"t\"", "URL, T", "url,t,", "sep=,\nurl,t"] {
        check(&format!("url,t\nH/a,x\n{again}\nH/b,y\n"), both);
    }
    check("url,\"a\nb\"\nH/a,x\nURL,\"a\nb\"\nH/b,y\n", both);
    check("url,t\nurl,t\nH/a,x\nH/b,y\n", both);
    // In another order, or with other columns.
    check("url,t\nH/a,x\nt,url\ny,H/b\n", both);
    check("url,t\nH/a,x\n\nid,loc,t\n# of today\n1,H/b,y\n", both);
    check("url,t\nH/a,x\nurl,t,n\nH/b,y,1\n", both);
}

#[test]
fn lines_of_dashes_and_empty_rows_are_no_urls() {
    let both = Ok(&["/a", "/b"][..]);
    check("     url\n--------\n H/a\n H/b\n", both);
    check("url\tt\n---\t---\nH/a\tx\nH/b\ty\n", both);
    check("url,t\n---,---\nH/a,x\nH/b,y\n", both);
    check(
        "+-----+---+\n| url | t |\n+-----+---+\n| H/a | x |\n| H/b | y |\n",
        both,
    );
    check("Our pages\n=========\nH/a\nH/b\n", both);
    check("\u{250c}\u{2500}\u{2510}\nH/a\nH/b\n", both);
    check(",,\nurl,t,\nH/a,x,\n,,\n\"\",\"\",\"\"\nH/b,y,\n;\n", both);
}

#[test]
fn what_stands_beside_a_url_may_be_in_any_encoding() {
    let list = b"url,title\nhttps://example.com/a,M\xfcller\nhttps://example.com/\xfc,x\nhttps://example.com/b,y\n";
    check_forms("ANSI", vec![list.to_vec()], Ok(&["/a", "/b"]));
    let list = b"https://example.com/a\tM\xfcller\nhttps://example.com/b\n";
    check_forms("ANSI", vec![list.to_vec()], Ok(&["/a", "/b"]));
    check("H/a\u{b}\nH/b\u{c}\n", Ok(&["/a", "/b"]));
}

#[test]
fn a_value_that_is_no_text_is_left_out_and_told() {
    let list = b"url,lastmod,x\n/a,2026-01-02,M\xfcller\n/b,\xfc,y\n";
    let (_, loaded, remarks) = load_list_of(&example_site(), list, &Config::default(), &|| false);
    assert_eq!(loaded.unwrap().values_left_out, 1);
    assert_eq!(remarks.len(), 1, "{remarks:?}");
    assert!(remarks[0].contains("bytes that are no text"), "{remarks:?}");
}

#[test]
fn urls_that_programs_read_differently_are_left_out() {
    check("H/a\nH/x\\y\nhttps:\\\\example.com\\z\n", Ok(&["/a"]));
    check("url,t\nH/a,x\nH/x\\y,z\n", Ok(&["/a"]));
    check("H/a?b=\\c\n", Ok(&["/a?b=%5Cc"]));
}

#[test]
fn a_table_may_begin_with_many_rows_without_a_url() {
    let rows = ",x\n".repeat(12_000);
    check_plain(&format!("url,t\n{rows}H/a,y\n"), Ok(&["/a"]));
}
