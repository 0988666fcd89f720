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
        "Page; as of 2026\nH/a;b=1\nH/c;d=2\n",
        Ok(&["/a;b=1", "/c;d=2"]),
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
    check("H/a,2026-01-02\nH/b,2026-01-03\n", no_header);
    check("200,H/a\n404,H/b\n", Err("this is the row of a table"));
    let several = Err("several columns of URLs");
    check("Address,Link\nH/a,H/b\n", several);
    check("loc,url\nH/a,H/b\n", several);
}
