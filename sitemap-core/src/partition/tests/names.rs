//! Names of hard directories, and folders of their files.

use super::super::{Layout, Placement, Suffix, Thresholds};
use super::{check, files, fresh, keys, many, plan, plan_below};

/// 100 keys below each of these directories; the files in both placements.
#[track_caller]
fn check_directories(directories: &[&str], root: &[(&str, u64)], in_place: &[(&str, u64)]) {
    let site = keys(
        directories
            .iter()
            .flat_map(|directory| many(directory, 100)),
    );
    check(&fresh(&site, Placement::Root), root);
    check(&fresh(&site, Placement::InPlace), in_place);
}

#[test]
fn an_encoded_slash_separates_nothing() {
    check_directories(
        &["/a%2Fb/"],
        &[("sitemap.a_252_46b.xml", 100)],
        &[("sitemap-root.xml", 100)],
    );
}

#[test]
fn sections_that_differ_in_case_only_meet_on_no_disk() {
    check_directories(
        &["/A/", "/a/"],
        &[("sitemap._41.xml", 100), ("sitemap.a.xml", 100)],
        &[("sitemap-root.xml", 100), ("A/sitemap.xml", 100)],
    );
    check_directories(
        &["/%C3%89/", "/%C3%A9/"],
        &[
            ("sitemap._25_433_2589.xml", 100),
            ("sitemap._25_433_25_419.xml", 100),
        ],
        &[("sitemap-root.xml", 100), ("É/sitemap.xml", 100)],
    );
}

#[test]
fn the_section_that_had_the_folder_keeps_it() {
    let site = keys(many("/A/", 100).chain(many("/a/", 100)));
    let first = fresh(&keys(many("/a/", 100)), Placement::InPlace);
    let plan = plan(
        &site,
        Thresholds::default(),
        Placement::InPlace,
        first.layout(),
    );
    check(&plan, &[("sitemap-root.xml", 100), ("a/sitemap.xml", 100)]);
}

#[test]
fn sections_that_decode_to_one_folder_share_no_file() {
    check_directories(
        &["/a%2Bb/", "/a+b/"],
        &[("sitemap.a_252_42b.xml", 100), ("sitemap.a_2bb.xml", 100)],
        &[("sitemap-root.xml", 100), ("a+b/sitemap.xml", 100)],
    );
}

#[test]
fn an_empty_segment_is_a_directory_without_a_folder() {
    check_directories(
        &["//"],
        &[("sitemap._e.xml", 100)],
        &[("sitemap-root.xml", 100)],
    );
    check_directories(
        &["//x/"],
        &[("sitemap._e.xml", 100)],
        &[("sitemap-root.xml", 100)],
    );
}

#[test]
fn folders_are_decoded_and_urls_are_not() {
    check_directories(
        &["/%C3%A9/"],
        &[("sitemap._25_433_25_419.xml", 100)],
        &[("é/sitemap.xml", 100)],
    );
    let plan = fresh(&keys(many("/%C3%A9/", 100)), Placement::InPlace);
    assert_eq!(plan.parts()[0].path(Suffix::XmlGz), "é/sitemap.xml.gz");
    assert_eq!(
        plan.parts()[0].url_path(Suffix::XmlGz),
        "%C3%A9/sitemap.xml.gz"
    );
}

#[test]
fn a_dot_in_a_name_does_not_separate_names() {
    check_directories(
        &["/a.b/", "/a/b/"],
        &[("sitemap.a_2eb.xml", 100), ("sitemap.a.xml", 100)],
        &[("a.b/sitemap.xml", 100), ("a/sitemap.xml", 100)],
    );
}

#[test]
fn a_page_beside_its_directory_is_outside_of_it() {
    let site = keys(
        ["/p".to_owned()]
            .into_iter()
            .chain(many("/p/", 100))
            .chain(["/p?x".to_owned()]),
    );
    check(
        &fresh(&site, Placement::Root),
        &[("sitemap-root.xml", 2), ("sitemap.p.xml", 100)],
    );
}

#[test]
fn a_folder_no_file_may_stand_in_leaves_its_keys_to_the_directory_above() {
    let long = format!("/{}/", "x".repeat(256));
    let refused = [
        "/./",
        "/../",
        "/%2E/",
        "/%00/",
        "/%0A/",
        "/%5C/",
        "/%FF/",
        "/sitemap.xml/",
        "/SiteMap.x_.xml/",
        "/sitemap.d/",
        "/.../",
        "/.arpent.lock/",
        "/.git/",
        "/.htaccess/",
        "/%2Ewell-known/",
        "/robots.txt/",
        "/Robots%2Etxt/",
        "/favicon.ico/",
        "/index.php/",
        "/blog.html/",
        &long,
    ];
    for directory in refused {
        let site = keys(many(directory, 6_000).chain(many(&format!("{directory}deeper/"), 6_000)));
        let plan = fresh(&site, Placement::InPlace);
        assert!(
            plan.parts().iter().all(|part| part.id().directory == "/"),
            "{directory}"
        );
        let plan = fresh(&site, Placement::Root);
        assert!(
            plan.parts().iter().all(|part| part.id().directory != "/"),
            "{directory}"
        );
    }
    let longest = "x".repeat(255);
    for folder in [
        "3.12",
        "node.js-10",
        "sitemap",
        "site.map",
        "sitemaps",
        &longest,
    ] {
        let plan = fresh(&keys(many(&format!("/{folder}/"), 100)), Placement::InPlace);
        check(&plan, &[(&format!("{folder}/sitemap.xml"), 100)]);
    }
}

#[test]
fn names_of_long_scopes_are_cut_and_still_differ() {
    let segment = "x".repeat(200);
    let directories: Vec<String> = ["a", "b"]
        .iter()
        .map(|end| format!("/{segment}/{segment}{end}/"))
        .collect();
    let site = keys(
        directories
            .iter()
            .flat_map(|directory| many(directory, 6_000)),
    );
    let found = files(&fresh(&site, Placement::Root));
    assert_eq!(found.len(), 2);
    assert_ne!(found[0].0, found[1].0);
    for (name, _) in found {
        assert_eq!(
            name.len(),
            "sitemap.".len() + 120 + "_x".len() + 16 + ".xml".len()
        );
        assert!(name.starts_with(&format!("sitemap.{}_x", &segment[..120])));
    }
}

#[test]
fn a_base_that_could_not_be_a_folder_is_accepted() {
    let site = keys(many("//./sitemap.xml/", 100));
    let plan = plan_below(
        "//./sitemap.xml/",
        &site,
        Thresholds::default(),
        Placement::InPlace,
        &Layout::default(),
    );
    check(&plan, &[("sitemap-root.xml", 100)]);
}

#[test]
fn a_segment_with_a_colon_is_text_to_append() {
    let plan = fresh(&keys(many("/a:b/", 100)), Placement::InPlace);
    assert_eq!(plan.parts()[0].url_path(Suffix::Xml), "a:b/sitemap.xml");
}
