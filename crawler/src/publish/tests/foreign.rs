//! Other files in the output: files of others, of an earlier publish, damaged or moved ones, links.

use super::*;

#[test]
fn a_foreign_file_is_not_touched_unless_forced_and_then_kept() {
    let mut bench = Bench::new("/");
    bench.crawl(&shop());
    fs::create_dir_all(&bench.config.output).unwrap();
    fs::write(bench.config.output.join("sitemap.xml"), "foreign").unwrap();
    let error = bench.publish().unwrap_err();
    assert!(
        matches!(&error, PublishError::Foreign(path) if path.ends_with("sitemap.xml")),
        "{error}"
    );
    assert_eq!(bench.files().len(), 1, "nothing of the new set is visible");
    assert_eq!(bench.read("sitemap.xml"), "foreign");
    bench.config.force = true;
    bench.crawl(&shop());
    bench.publish().unwrap();
    assert_eq!(bench.read("sitemap.xml.bak-20260302T040011Z"), "foreign");
    assert!(bench.read("sitemap.xml").contains("sitemapindex"));
}

#[test]
fn a_file_written_by_hand_into_another_output_is_foreign() {
    let mut bench = Bench::new("/");
    bench.crawl(&shop());
    bench.publish().unwrap();
    bench.config.output = bench.folder.path().join("other");
    fs::create_dir_all(&bench.config.output).unwrap();
    fs::write(bench.config.output.join("sitemap.xml"), "by hand").unwrap();
    bench.crawl(&shop());
    assert!(matches!(bench.publish(), Err(PublishError::Foreign(_))));
    assert_eq!(bench.read("sitemap.xml"), "by hand");
}

#[test]
fn an_output_that_was_moved_is_known_by_its_copy_of_the_manifest() {
    let mut bench = Bench::new("/");
    bench.crawl(&shop());
    bench.publish().unwrap();
    let before = bench.files();
    let moved = bench.folder.path().join("moved");
    fs::rename(&bench.config.output, &moved).unwrap();
    bench.config.output = moved;
    bench.wait(1);
    bench.crawl(&shop());
    assert_eq!(changed(&bench.publish().unwrap()), [""; 0]);
    assert_eq!(bench.files(), before);
    bench.wait(1);
    let mut pages = shop();
    pages.insert("/blog/7".into(), 2);
    bench.crawl(&pages);
    let published = bench.publish().unwrap();
    assert_eq!(changed(&published), ["sitemap.xml", "sitemap.blog.xml.gz"]);
    assert_eq!(bench.files().len(), 4, "no backup of what is ours");
}

#[test]
fn a_file_of_ours_that_somebody_replaced_is_kept_and_written_again() {
    let mut bench = Bench::new("/");
    bench.crawl(&shop());
    bench.publish().unwrap();
    fs::write(bench.config.output.join("sitemap.xml"), "by hand").unwrap();
    bench.crawl(&shop());
    bench.publish().unwrap();
    assert_eq!(bench.read("sitemap.xml.bak-20260302T040011Z"), "by hand");
    assert!(bench.read("sitemap.xml").contains("sitemapindex"));
}

#[test]
fn a_manifest_that_names_files_outside_of_the_output_is_not_believed() {
    fn check(name: &str, expected: bool) {
        let mut manifest = Manifest::new("site", "/out", time("2026-03-02T04:00:11Z"));
        manifest.dropped.push(Dropped {
            name: name.to_owned(),
            file_sha256: String::new(),
            since: manifest.published,
        });
        let read = Manifest::read(&manifest.to_text(), "site");
        assert_eq!(read.is_some(), expected, "{name}");
    }
    check("sitemap.xml", true);
    check("a:b/c d/sitemap.xml", true);
    check("../sitemap.xml", false);
    check("a/../../b", false);
    check("/etc/passwd", false);
    check("", false);
}

#[test]
fn a_backup_never_takes_the_place_of_another_and_leaves_no_gap() {
    let mut bench = Bench::new("/");
    bench.config.force = true;
    bench.crawl(&shop());
    fs::create_dir_all(&bench.config.output).unwrap();
    let index = bench.config.output.join("sitemap.xml");
    fs::write(&index, "by hand").unwrap();
    // Four temporary files, backed up and noted, then the first part cannot be put in its place.
    fault::after(7, PublishFault::Always);
    bench.publish().unwrap_err();
    assert!(fault::end());
    assert_eq!(bench.read("sitemap.xml"), "by hand");
    assert_eq!(bench.read("sitemap.xml.bak-20260302T040011Z"), "by hand");
    assert!(!bench.config.output.join(".arpent-tmp").exists());
    fs::remove_file(&index).unwrap();
    fs::write(&index, "by hand again").unwrap();
    bench.publish().unwrap();
    let backup = "sitemap.xml.bak-20260302T040011Z";
    assert_eq!(bench.read(backup), "by hand");
    assert_eq!(bench.read(&format!("{backup}.2")), "by hand again");
}

#[cfg(unix)]
#[test]
fn a_folder_that_is_a_link_is_refused_even_by_force() {
    let mut bench = Bench::new("/");
    bench.config.layout = Layout::InPlace;
    bench.config.force = true;
    bench.crawl(&shop());
    let target = bench.folder.path().join("content");
    fs::create_dir_all(&target).unwrap();
    fs::create_dir_all(&bench.config.output).unwrap();
    let link = bench.config.output.join("blog");
    std::os::unix::fs::symlink(&target, &link).unwrap();
    let error = bench.publish().unwrap_err();
    assert!(
        matches!(&error, PublishError::NotAFolder(path) if *path == link),
        "{error}"
    );
    assert_eq!(fs::read_dir(&target).unwrap().count(), 0);
    assert!(!bench.config.output.join("sitemap.xml").exists());
    fs::remove_file(&link).unwrap();
    bench.publish().unwrap();
    // A part that is dropped and is after a link by now is not ours to remove.
    fs::rename(&link, target.join("blog")).unwrap();
    std::os::unix::fs::symlink(target.join("blog"), &link).unwrap();
    let mut pages = shop();
    pages.retain(|path, _| !path.starts_with("/blog/"));
    for hours in [1, 25] {
        bench.wait(hours);
        bench.crawl(&pages);
        bench.publish().unwrap();
    }
    assert!(target.join("blog/sitemap.xml.gz").exists());
}

#[test]
fn a_file_that_was_damaged_or_removed_is_written_again() {
    let mut bench = Bench::new("/");
    bench.crawl(&shop());
    bench.publish().unwrap();
    let before = bench.files();
    fs::write(bench.config.output.join("sitemap.blog.xml.gz"), "damaged").unwrap();
    fs::remove_file(bench.config.output.join("sitemap.docs.xml.gz")).unwrap();
    bench.wait(24);
    bench.crawl(&shop());
    bench.publish().unwrap();
    for name in ["sitemap.blog.xml.gz", "sitemap.docs.xml.gz"] {
        assert_eq!(bench.files()[name].0, before[name].0);
    }
}

#[cfg(unix)]
#[test]
fn a_link_under_a_final_name_is_replaced_not_followed() {
    let mut bench = Bench::new("/");
    bench.crawl(&shop());
    bench.publish().unwrap();
    let target = bench.folder.path().join("precious");
    fs::write(&target, "precious").unwrap();
    let name = bench.config.output.join("sitemap.blog.xml.gz");
    fs::remove_file(&name).unwrap();
    std::os::unix::fs::symlink(&target, &name).unwrap();
    bench.crawl(&shop());
    bench.publish().unwrap();
    assert_eq!(fs::read_to_string(&target).unwrap(), "precious");
    assert!(fs::symlink_metadata(&name).unwrap().is_file());
}
