//! Sitemaps with names of their own, built from lists.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::support::random::Random;

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
fn a_section_that_outgrows_a_file_is_divided_and_its_first_file_stays() {
    let builds = Builds::new();
    let build = |shop: usize| {
        let list = lines("shop/a/", shop) + &lines("shop/b/", 1_500) + &lines("blog/", 200);
        let list = builds.file("urls.txt", list);
        let options = [&list[..], "--sections", "/shop/**=shop", "--no-gzip"];
        builds.build(&options).expect_code(0);
        files(&builds)
    };
    let whole = counted(&[("sitemap-shop.xml", 10_000), ("sitemap.blog.xml", 200)]);
    assert_eq!(build(8_500), whole);
    let divided = counted(&[
        ("sitemap-shop.shop.a.xml", 8_501),
        ("sitemap-shop.shop.b.xml", 1_500),
        ("sitemap.blog.xml", 200),
    ]);
    // The file of before leaves the index; on disk it stays for its grace.
    let mut with_grace = divided.clone();
    with_grace.insert("sitemap-shop.xml".to_owned(), 10_000);
    assert_eq!(build(8_501), with_grace);
    let index = builds.published().files["sitemap.xml"].entries.clone();
    let named: BTreeSet<String> = index
        .into_iter()
        .map(|(loc, _)| loc.replace(BASE, ""))
        .collect();
    assert_eq!(named, divided.into_keys().collect());
}

#[test]
fn the_whole_site_in_one_file_does_not_satisfy_sections() {
    let builds = Builds::new();
    let list = builds.file("urls.txt", lines("shop/", 2) + &lines("blog/", 2));
    let options = [&list[..], "--index", "auto", "--no-gzip"];
    builds.build(&options).expect_code(0);
    assert_eq!(files(&builds), counted(&[("sitemap.xml", 4)]));
    let options = [&options[..], &["--sections", "/shop/*=shop"]].concat();
    builds.build(&options).expect_code(0);
    let expected = counted(&[("sitemap-root.xml", 2), ("sitemap-shop.xml", 2)]);
    assert_eq!(files(&builds), expected);
    // An empty section has no effect, which is reported.
    let options = [&options[..4], &["--sections", "/shoes/*=shop"]].concat();
    let ran = builds.build(&options).expect_code(0);
    assert!(
        ran.stderr
            .contains("no listed page is in the section shop, so it has no sitemap"),
        "{}",
        ran.stderr
    );
    assert_eq!(files(&builds)["sitemap.xml"], 4);
}

/// A list of random URLs out of few words, so that directories are shared.
fn random_urls(random: &mut Random) -> BTreeSet<String> {
    let words = ["a", "b", "B", "shop", "2024", "x.y", "caf%C3%A9", "sitemap"];
    let count = 1 + random.below(400);
    let url = |_| {
        let folders: Vec<&str> = (0..random.below(4))
            .flat_map(|_| [words[random.below(words.len())], "/"])
            .collect();
        let folders = folders.concat();
        let end = ["", "?x=/1", ".pdf"][random.below(3)];
        format!("{BASE}{folders}{}{end}", random.below(100))
    };
    (0..count).map(url).collect()
}

/// Another form of whether a glob matches a path.
type Takes = fn(&str) -> bool;

#[test]
fn whatever_the_globs_are_each_page_stands_in_one_file_that_may_list_it() {
    let globs: [(&str, Takes); 6] = [
        ("/shop/**", |path| path.starts_with("/shop/")),
        ("*pdf", |path| path.ends_with("pdf")),
        ("/caf\u{e9}/*", |path| path.starts_with("/caf%C3%A9/")),
        ("/a/b/*", |path| path.starts_with("/a/b/")),
        ("*", |_| true),
        ("https://www.example.com/B/*", |path| {
            path.starts_with("/B/")
        }),
    ];
    let names = ["one", "two", "one-2"];
    for seed in 0..12 {
        let random = &mut Random(seed);
        let urls = random_urls(random);
        let chosen: Vec<_> = (0..=random.below(4))
            .map(|_| {
                (
                    globs[random.below(globs.len())],
                    names[random.below(names.len())],
                )
            })
            .collect();
        let layout = ["root", "in-place"][random.below(2)];
        let builds = Builds::new();
        let settings: Vec<String> = chosen
            .iter()
            .map(|((glob, _), name)| format!("\"{glob}={name}\""))
            .collect();
        let settings = format!(
            "sections = [{}]\nlayout = \"{layout}\"\nfile_entries = 30\nmin_section = 10\nmin_subsection = 10\nno_gzip = true\n",
            settings.join(", ")
        );
        let config = builds.file("config.toml", settings);
        let list = builds.file("urls.txt", Vec::from_iter(urls.clone()).join("\n"));
        builds.build(&["--config", &config, &list]).expect_code(0);
        let published = builds.published();
        assert_eq!(published.urls(), Vec::from_iter(urls), "seed {seed}");
        for (file, part) in published.parts() {
            assert!(part.entries.len() <= 30, "seed {seed}: {file}");
            let directory = file.rfind('/').map_or("", |slash| &file[..=slash]);
            let directory = directory.replace('\u{e9}', "%C3%A9");
            for (url, _) in &part.entries {
                assert!(
                    url.starts_with(&format!("{BASE}{directory}")),
                    "{file}: {url}"
                );
                let path = url.replacen("https://www.example.com", "", 1);
                let section = chosen.iter().find(|((_, takes), _)| takes(&path));
                let stem = file.rsplit('/').next().unwrap_or_default();
                // After the name comes a dot.
                let own = section.map(|(_, name)| format!("sitemap-{name}."));
                match own {
                    Some(own) => assert!(stem.starts_with(&own), "seed {seed}: {file}: {url}"),
                    None => assert!(
                        stem.starts_with("sitemap.") || stem.starts_with("sitemap-root."),
                        "seed {seed}: {file}: {url}"
                    ),
                }
            }
        }
        let checked = Command::new(env!("CARGO_BIN_EXE_arpent"))
            .env_clear()
            .arg("check")
            .arg(builds.output())
            .args(["--at", BASE])
            .output()
            .expect("the program starts");
        assert!(checked.status.success(), "seed {seed}: {checked:?}");
    }
}
