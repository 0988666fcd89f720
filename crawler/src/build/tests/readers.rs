//! One table of lists for `build` and `--seeds`: both read the same URLs from the same bytes, or refuse them with the same message.

use std::{collections::BTreeSet, io::Write as _};

use super::*;
use crate::seeds::{SeedList, SeedListError};

/// The result of a reader for a list: the paths of its URLs, or why it is none.
type Read = Result<BTreeSet<String>, String>;

fn path(key: &UrlKey) -> String {
    key.path_and_query().to_owned()
}

fn built(list: &[u8]) -> Read {
    let (store, loaded, _) = load_list_of(&example_site(), list, &Config::default(), &|| false);
    match loaded {
        Ok(_) => {
            let rows = store.rows_from(None);
            Ok(rows.iter().map(|(key, ..)| path(key)).collect())
        }
        Err(BuildError::Format { problem, .. }) => Err(problem),
        Err(error) => panic!("{error}"),
    }
}

fn seeded(list: &[u8]) -> Read {
    let list = SeedList::copy("list", list).unwrap();
    match list.check() {
        Ok(_) => {}
        Err(error @ SeedListError::Refused { .. }) => return Err(error.to_string()),
        Err(error) => panic!("{error}"),
    }
    let mut paths = BTreeSet::new();
    list.read(&Identity::default(), &mut |batch| {
        paths.extend(batch.pages.iter().map(path));
        std::ops::ControlFlow::Continue(())
    });
    Ok(paths)
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

/// `H` in a list represents the site.
#[track_caller]
fn check(list: &str, expected: Result<&[&str], &str>) {
    let list = list.replace('H', "https://example.com");
    check_forms(forms(&list), expected);
}

#[track_caller]
fn check_forms(forms: Vec<Vec<u8>>, expected: Result<&[&str], &str>) {
    for (number, form) in forms.into_iter().enumerate() {
        for (name, read) in [("build", built(&form)), ("--seeds", seeded(&form))] {
            let shown = String::from_utf8_lossy(&form[..form.len().min(300)]);
            let place = format!("{name}, form {number} of {shown:?}: {read:?}");
            match expected {
                Ok(paths) => {
                    let paths = paths.iter().map(|path| (*path).to_owned()).collect();
                    assert_eq!(read, Ok(paths), "{place}");
                }
                Err(words) => assert!(read.is_err_and(|said| said.contains(words)), "{place}"),
            }
        }
    }
}

#[test]
fn header_line_names_the_column_of_urls() {
    let a = Ok(&["/a"][..]);
    check("url,lastmod\nH/a,2026-01-02\n", a);
    check("lastmod;url\n2026-01-02;H/a\n", a);
    check("# ours\n\nid\turl\n1\tH/a\n", a);
    check("id,url,title\n1,H/a\n,,\n", a);
    check("title,url\nx,y,H/b\nT,H/a,, ,\n", a);
    check("url;title\nH/a,b;T\nH/c;\n", Ok(&["/a,b", "/c"]));
    for name in [
        "Address",
        "Top pages",
        "PAGE",
        "Page_URL",
        "Permalink",
        "Landing page",
    ] {
        check(&format!("{name},Title\nH/a,T\n"), a);
        check(
            &format!("{name}\nH/a,b\n\"H/c;d\"\n"),
            Ok(&["/a,b", "/c;d"]),
        );
    }
    // Our own names come first.
    check("Page,Address,url\n1,H/b,H/a\n", a);
    check("url,url\nH/a,H/b\n", Err("several columns of URLs"));
    check("Page,Title\nTotal,5\nH/a,T\n", a);
}

#[test]
fn rows_of_other_status_are_left_out() {
    let table = "Address,Status Code,Status\nH/a,200,OK\nH/b,404,Not Found\nH/c,301,Moved\nH/d,,\n";
    check(table, Ok(&["/a", "/d"]));
    check("url,status\nH/a,published\n", Ok(&["/a"]));
    let frog = "Address,Content Type,Status Code,Indexability\nH/a,text/html; charset=UTF-8,200,Indexable\nH/b,text/html,200,Non-Indexable\n\
                H/c.pdf,application/pdf,200,Indexable\nH/d,image/png,200,Indexable\nH/e,,,\n";
    check(frog, Ok(&["/a", "/c.pdf", "/e"]));
    let bulb = "URL,Indexable Status\nH/a,Indexable\nH/b,Not Indexable\n";
    check(bulb, Ok(&["/a"]));
    check("sep=;\r\nurl;lastmod\r\nH/a;2024-05-01\r\n", Ok(&["/a"]));
    let table = table.replace('H', "/x");
    let (_, loaded, remarks) = load_list_of(
        &example_site(),
        table.as_bytes(),
        &Config::default(),
        &|| false,
    );
    assert_eq!(remarks, [""; 0]);
    let notes = loaded.unwrap().notes;
    assert_eq!((notes[0].code, notes[0].count), ("rows-left-out", 2));
}

#[test]
fn quoted_values_may_have_delimiters_and_line_ends() {
    check(
        "url,text\n\"H/a,x\",\"See\nH/other\nfor \"\"more\"\"\"\nH/b,x\n",
        Ok(&["/a,x", "/b"]),
    );
    let open = Err("a quoted field without its closing quote");
    check("url,text\nH/a,\"open\nH/b,x\n", open);
    let text = "words\n".repeat(60_000);
    check_forms(vec![format!("url,t\n/a,\"{text}\"\n").into_bytes()], open);
    check("url,t\n\"H/a\nb\",x\nH/c,y\n", Ok(&["/c"]));
}

#[test]
fn lines_are_urls_without_a_header_line() {
    let both = Ok(&["/a", "/b"][..]);
    check("# ours\n\nH/a\n  H/b  \n#H/c\n", both);
    check("H/a\nH/c x\nH/d,2026-01-02\nH/e;H/f\nH/b\n", both);
    check("H/a\nH/x\u{1}\nH/b\n", both);
    check("H/a,1.html\nH/b;c\n", Ok(&["/a,1.html", "/b;c"]));
}

#[test]
fn other_beginnings_are_refused() {
    let refused = Err("the first line is not a URL");
    check("Adresse;Titel\nH/a;Hallo\n", refused);
    check("Our pages\nH/a\n", refused);
    check("H/a,2026-01-02\nH/b,2026-01-03\n", refused);
    check("200,H/a\n404,H/b\n", refused);
}

#[test]
fn bytes_other_than_text_are_left_out() {
    let list = b"url,title\n/a,M\xfcller\n/\xfc,x\n/b,y\n".to_vec();
    let (_, loaded, _) = load_list_of(&example_site(), &list, &Config::default(), &|| false);
    assert_eq!(loaded.unwrap().left_out, 1);
    let list = b"url,lastmod,x\n/a,2026-01-02,M\xfcller\n/b,\xfc,y\n";
    let (_, loaded, remarks) = load_list_of(&example_site(), list, &Config::default(), &|| false);
    assert_eq!(loaded.unwrap().values_left_out, 1);
    assert!(
        remarks[0].contains("bytes that are not text"),
        "{remarks:?}"
    );
}
