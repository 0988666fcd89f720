//! Sitemaps with names of their own, built from lists.

use std::collections::{BTreeMap, BTreeSet};

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
fn section_larger_than_a_file_is_divided() {
    let builds = Builds::new();
    let config =
        "output.file_entries = 1000\ntesting.min_subsection = 100\noutput.no_gzip = true\n";
    let config = builds.file("config.toml", config);
    let build = |shop: usize| {
        let list = lines("shop/a/", shop) + &lines("shop/b/", 150) + &lines("blog/", 200);
        let list = builds.file("urls.txt", list);
        let options = ["--config", &config, &list, "--section", "/shop/**=shop"];
        builds.build(&options).expect_code(0);
        files(&builds)
    };
    let whole = counted(&[("sitemap-shop.xml", 1_000), ("sitemap.blog.xml", 200)]);
    assert_eq!(build(850), whole);
    let divided = counted(&[
        ("sitemap-shop.shop.a.xml", 851),
        ("sitemap-shop.shop.b.xml", 150),
        ("sitemap.blog.xml", 200),
    ]);
    // The earlier file leaves the index; it stays on disk for `grace`.
    let mut with_grace = divided.clone();
    with_grace.insert("sitemap-shop.xml".to_owned(), 1_000);
    assert_eq!(build(851), with_grace);
    let index = builds.published().files["sitemap.xml"].entries.clone();
    let named: BTreeSet<String> = index
        .into_iter()
        .map(|(loc, _)| loc.replace(BASE, ""))
        .collect();
    assert_eq!(named, divided.into_keys().collect());
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
