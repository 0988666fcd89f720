//! Names of hard directories, and folders of their files.

use std::collections::BTreeMap;

use super::super::{Layout, Placement, Plan, Suffix, Thresholds};
use super::{BOTH, Random, check, files, fresh, keys, many, next, plan, plan_below};

/// A row has directories with 100 keys each, and the files in both placements, with 100 entries each.
#[test]
fn hard_directories_have_names() {
    for row in [
        // An encoded slash separates nothing, and a dot stays a dot.
        "/a%2Fb/ => sitemap.a_2fb.xml => sitemap-root.xml",
        "/a.b/ /a/b/ => sitemap.a.b.xml sitemap.a.xml => a.b/sitemap.xml a/sitemap.xml",
        // Sections that differ in case only meet on no disk.
        "/A/ /a/ => sitemap.A.xml sitemap.a_xa23dc51667165d57.xml => sitemap-root.xml A/sitemap.xml",
        "/%C3%89/ /%C3%A9/ => sitemap._c3_89.xml sitemap._c3_a9.xml => sitemap-root.xml É/sitemap.xml",
        // Sections that decode to one folder share no file.
        "/a%2Bb/ /a+b/ => sitemap.a_2bb.xml sitemap.a_2bb_xf8c19e6790212a63.xml => sitemap-root.xml a+b/sitemap.xml",
        // An empty segment is a directory without a folder.
        "// => sitemap._e.xml => sitemap-root.xml",
        "//x/ => sitemap._e.xml => sitemap-root.xml",
        "/%C3%A9/ => sitemap._c3_a9.xml => é/sitemap.xml",
    ] {
        let columns: Vec<&str> = row.split(" => ").collect();
        let directories = columns[0].split(' ');
        let site = keys(directories.flat_map(|directory| many(directory, 100)));
        for (placement, names) in BOTH.into_iter().zip(&columns[1..]) {
            let expected: Vec<_> = names.split(' ').map(|name| (name, 100)).collect();
            check(&fresh(&site, placement), &expected);
        }
    }
}

#[test]
fn the_section_that_had_the_folder_keeps_it() {
    let site = keys(many("/A/", 100).chain(many("/a/", 100)));
    let first = fresh(&keys(many("/a/", 100)), Placement::InPlace);
    check(
        &next(&site, Placement::InPlace, &first),
        &[("sitemap-root.xml", 100), ("a/sitemap.xml", 100)],
    );
}

#[test]
fn folders_are_decoded_and_urls_are_not() {
    let plan = fresh(&keys(many("/%C3%A9/", 100)), Placement::InPlace);
    let part = &plan.parts()[0];
    assert_eq!(part.path(Suffix::XmlGz), "é/sitemap.xml.gz");
    assert_eq!(part.url_path(Suffix::XmlGz), "%C3%A9/sitemap.xml.gz");
    // A segment with a colon is text to append.
    let plan = fresh(&keys(many("/a:b/", 100)), Placement::InPlace);
    assert_eq!(plan.parts()[0].url_path(Suffix::Xml), "a:b/sitemap.xml");
}

/// The plan of 1,000 keys in each of these directories of the documentation of a JDK, after this one.
fn after(previous: &Layout, directories: &[&str]) -> Plan {
    let keys = directories
        .iter()
        .flat_map(|directory| many(&format!("/jdk/{directory}/"), 6_000));
    let keys = super::keys(keys);
    plan(&keys, Thresholds::default(), Placement::Root, previous)
}

fn names(plan: &Plan) -> Vec<String> {
    let names = plan.parts().iter().map(|part| part.path(Suffix::XmlGz));
    names.collect()
}

#[test]
fn later_scope_of_one_name_has_a_hash() {
    let [dot, slash] = ["java.base", "java/base"];
    let readable = "sitemap.jdk.java.base.xml.gz";
    let is_hashed = |name: &str| name.starts_with("sitemap.jdk.java.base_x");
    let first = after(&Layout::default(), &[dot, "x"]);
    assert_eq!(names(&first), [readable, "sitemap.jdk.x.xml.gz"]);

    // The order of discovery decides, and then stays.
    let second = after(first.layout(), &[dot, slash, "java/x"]);
    assert_eq!(names(&second)[0], readable);
    assert!(is_hashed(&names(&second)[1]), "{:?}", names(&second));
    let layout = second.layout().to_string();
    assert!(layout.contains("\n#/jdk/java/base/\n"), "{layout}");
    assert!(layout.contains("\n-/jdk/x/\n"), "{layout}");

    // A scope that is gone keeps its name, through the text of the layout too.
    let third = after(&layout.parse().unwrap(), &[slash, "java/x"]);
    assert_eq!(names(&third)[0], names(&second)[1]);
    let fourth = after(third.layout(), &[dot, slash, "java/x"]);
    assert_eq!(names(&fourth), names(&second));
    assert_eq!(fourth.layout().parts(), second.layout().parts());

    let reverse = after(&Layout::default(), &[slash, "java/x"]);
    let reverse = after(reverse.layout(), &[dot, slash, "java/x"]);
    assert!(is_hashed(&names(&reverse)[0]), "{:?}", names(&reverse));
    assert_eq!(names(&reverse)[1], readable);
}

/// Directories out of few characters, so that many scopes have one readable name; they come and go.
#[test]
fn distinct_scopes_never_have_one_name() {
    let alphabet = ["a", "A", "b", ".", "_", "/", "%41", "a_x0123456789abcdef"];
    let thresholds = Thresholds {
        section: 2,
        subsection: 1,
        file_entries: 6,
        ..Thresholds::default()
    };
    let mut hashed = 0;
    for seed in 0..100 {
        let random = &mut Random(seed ^ 0x7a3e);
        let mut layout = Layout::default();
        let mut meanings = BTreeMap::new();
        for _ in 0..10 {
            let directories: Vec<String> = (0..12)
                .map(|_| format!("/{}/", random.text(&alphabet, 5)))
                .collect();
            let keys = directories.iter().flat_map(|directory| many(directory, 4));
            let plan = plan(&super::keys(keys), thresholds, Placement::Root, &layout);
            for part in plan.parts() {
                let name = part.path(Suffix::Xml).to_lowercase();
                let meaning = (part.scope().to_owned(), part.id().prefix.is_some());
                let known = meanings.entry(name).or_insert(meaning.clone());
                assert_eq!(*known, meaning, "seed {seed}");
            }
            layout = plan.layout().to_string().parse().unwrap();
            assert_eq!(layout, *plan.layout());
        }
        hashed += layout.to_string().matches('#').count();
    }
    assert!(hashed > 100, "{hashed}");
}

#[test]
fn name_that_looks_hashed_gets_a_hash() {
    let plan = fresh(&keys(many("/a_x0123456789abcdef/", 100)), Placement::Root);
    let name = &names(&plan)[0];
    assert!(name.starts_with("sitemap.a_x0123456789abcdef_x"), "{name}");
    let plan = fresh(&keys(many("/a_X0123456789ABCDEF/", 100)), Placement::Root);
    assert_ne!(names(&plan)[0], "sitemap.a_X0123456789ABCDEF.xml.gz");
}

#[test]
fn names_of_a_section_outlive_it() {
    let shop = "layout 1\n/\nsection shop\n/shop/\n#/shop/a/\n";
    let plan = after(&shop.parse().unwrap(), &["a", "b"]);
    assert_eq!(
        plan.layout().to_string(),
        "layout 1\n/jdk/a/\n/jdk/b/\n-/\nsection shop\n-/shop/\n-#/shop/a/\n"
    );
}

#[test]
fn refused_folder_leaves_its_keys_to_the_parent() {
    let long = format!("/{}/", "x".repeat(256));
    let refused = "/./ /../ /%2E/ /%00/ /%0A/ /%5C/ /%FF/ /sitemap.xml/ /SiteMap.x_.xml/ /sitemap.d/ /.../ /.arpent.lock/ \
                   /.git/ /.htaccess/ /%2Ewell-known/ /robots.txt/ /Robots%2Etxt/ /favicon.ico/ /index.php/ /blog.html/";
    for directory in refused.split(' ').chain([&*long]) {
        let site = keys(many(directory, 6_000).chain(many(&format!("{directory}deeper/"), 6_000)));
        for (placement, is_above) in [(Placement::InPlace, true), (Placement::Root, false)] {
            for part in fresh(&site, placement).parts() {
                assert_eq!(part.id().directory == "/", is_above, "{directory}");
            }
        }
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
fn long_names_are_cut_and_still_differ() {
    let segment = "x".repeat(200);
    let directories = ["a", "b"].map(|end| format!("/{segment}/{segment}{end}/"));
    let site = keys(directories.iter().flat_map(|it| many(it, 6_000)));
    let found = files(&fresh(&site, Placement::Root));
    assert_eq!(found.len(), 2);
    assert_ne!(found[0].0, found[1].0);
    for (name, _) in found {
        assert_eq!(name.len(), 120 + "_x".len() + 16 + ".xml".len());
        assert!(name.starts_with(&format!("sitemap.{}_x", &segment[..112])));
    }
}

#[test]
fn base_that_is_no_folder_is_accepted() {
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
