//! Folders whose place is that of their index or robots.txt, and parts that are missing or elsewhere.

use super::{Place, urlset};

fn index(children: &[&str]) -> String {
    let entry = |child| format!("\n<sitemap><loc>{child}</loc></sitemap>");
    let entries = children.iter().map(entry).collect::<Vec<_>>().concat();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{entries}\n</sitemapindex>\n"
    )
}

fn pages(url: &str) -> String {
    urlset(&format!("<url><loc>{url}</loc></url>"))
}

#[test]
fn index_without_any_of_its_parts_is_reported() {
    let check = |child: &str, expected: Option<&str>| {
        let place = Place::new(&[("set/sitemap.xml", &index(&[child]))]);
        let ran = place
            .check(&["set"])
            .expect_code(i32::from(expected.is_some()));
        let is_error = ran.stdout.contains("error[R40]");
        assert_eq!(is_error, expected.is_some(), "{child}: {}", ran.stdout);
        let words = expected.unwrap_or_default();
        assert!(ran.stdout.contains(words), "{child}: {}", ran.stdout);
    };
    let words = "the file s/a.xml does not exist";
    check("https://cdn.example/s/a.xml", Some(words));
    // Programs are not files.
    check("https://h.example/blog/sitemap", None);
    check("https://h.example/shop/sitemap.php", None);
    check("https://h.example/sitemap.xml.php?file=a.xml", None);
}

/// Findings of a folder with these files, by the name of the file.
fn findings_in(files: &[(&str, &str)]) -> Vec<String> {
    let files: Vec<(String, &str)> = files
        .iter()
        .map(|(name, text)| (format!("set/{name}"), *text))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (&**name, *text)).collect();
    let ran = Place::new(&files).check(&["set"]);
    let findings = ran.stdout.lines().filter_map(|line| {
        let (place, what) = line.split_once(": ")?;
        let rule = what.split_once(']')?.0;
        let file = place.split(':').next()?;
        let file = file.strip_prefix("set/").unwrap_or(file);
        Some(format!("{file} {}", rule.replace('[', " ")))
    });
    findings.collect()
}

#[test]
fn files_without_entries_need_an_index_too() {
    let empty = urlset("");
    let alone = [("a.xml", &*empty), ("b.xml", &*empty)];
    let ran = Place::new(&alone).check(&["."]);
    let expected = "there are 2 sitemaps, but no index that lists them";
    assert!(ran.stdout.contains(expected), "{}", ran.stdout);
}

#[test]
fn only_index_or_robots_txt_decides_the_place() {
    let check = |robots: &str, second: &str, expected: &[&str]| {
        let (x, y) = (index(&["https://h.example/a.xml"]), index(&[second]));
        let (a, stray) = (pages("https://h.example/a"), pages("https://g.example/b"));
        let all = [
            ("robots.txt", robots),
            ("x.xml", &*x),
            ("a.xml", &*a),
            ("stray.xml", &*stray),
            ("y.xml", &*y),
        ];
        let files = if second.is_empty() { &all[..4] } else { &all };
        let found = findings_in(files);
        let rules: Vec<&str> = found.iter().map(String::as_str).collect();
        assert_eq!(rules, expected, "{robots} {second}");
    };
    let stray = [
        "stray.xml error R60",
        "stray.xml note R65",
        "stray.xml note R61",
    ];
    let unlisted = ["stray.xml note R31"];
    check("", "", &[&stray[..], &unlisted].concat());
    // With two indexes robots.txt decides, and where it does not each file is alone.
    let second = "https://h.example/b.xml";
    check("", second, &[]);
    let rules = "User-agent: *\nDisallow: /a\n";
    check(rules, second, &[]);
    let named = format!("{rules}Sitemap: https://h.example/x.xml\n");
    let missing = ["y.xml error R40", "a.xml warning R79"];
    let unnamed = ["y.xml note R34"];
    let expected = [&missing[..], &stray, &unlisted, &unnamed].concat();
    check(&named, second, &expected);
}
