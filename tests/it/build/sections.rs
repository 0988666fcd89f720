//! Sitemaps with names of their own, built from lists.

use std::collections::BTreeMap;

use super::*;

/// The files of the set and how many URLs each lists.
fn files(builds: &Builds) -> BTreeMap<String, usize> {
    let published = builds.published();
    let parts = published.parts().into_iter();
    parts
        .map(|(name, part)| (name.to_owned(), part.entries.len()))
        .collect()
}

fn counted(files: &[(&str, usize)]) -> BTreeMap<String, usize> {
    let counted = files.iter();
    counted
        .map(|(name, count)| ((*name).to_owned(), *count))
        .collect()
}

fn lines(prefix: &str, count: usize) -> String {
    let line = |number| format!("{BASE}{prefix}{number:05}\n");
    (0..count).map(line).collect()
}

#[test]
fn sections_need_files_besides_the_index() {
    let builds = Builds::new();
    let list = builds.file("urls.txt", lines("shop/", 2) + &lines("blog/", 2));
    let options = [&list[..], "--index", "auto", "--no-gzip"];
    builds.build(&options).expect_code(0);
    assert_eq!(files(&builds), counted(&[("sitemap.xml", 4)]));
    let options = [&options[..], &["--section", "/shop/*=shop"]].concat();
    builds.build(&options).expect_code(0);
    let expected = counted(&[("sitemap-root.xml", 2), ("sitemap-shop.xml", 2)]);
    assert_eq!(files(&builds), expected);
    // An empty section has no effect, which is reported.
    let options = [&options[..4], &["--section", "/shoes/*=shop"]].concat();
    let ran = builds.build(&options).expect_code(0);
    assert!(
        ran.stderr
            .contains("no listed page is in the section shop, so it has no sitemap"),
        "{}",
        ran.stderr
    );
    assert_eq!(files(&builds)["sitemap.xml"], 4);
}
