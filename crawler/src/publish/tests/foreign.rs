//! Other files in the output: files of others, of an earlier publish, damaged or moved ones, links.

use super::*;
use crate::config::Format;

#[test]
fn foreign_file_is_backed_up_only_with_force() {
    for name in ["sitemap.xml", "sitemap-recent.atom"] {
        let mut bench = Bench::new("/");
        bench.config.formats = [Format::Xml, Format::Atom].into();
        // The second output is new to a state that published such a name elsewhere.
        for output in ["out", "other"] {
            bench.config.output = bench.folder.path().join(output);
            let file = bench.config.output.join(name);
            fs::create_dir_all(&bench.config.output).unwrap();
            fs::write(&file, "foreign").unwrap();
            bench.config.force = false;
            bench.crawl(&shop());
            let error = bench.publish().unwrap_err();
            assert!(
                matches!(&error, PublishError::Foreign(path) if *path == file),
                "{output}/{name}: {error}"
            );
            assert_eq!(bench.files().len(), 1, "{output}/{name}: a new file");
            assert_eq!(bench.read(name), "foreign", "{output}/{name}");
            bench.config.force = true;
            bench.edition(0, &shop());
            let backup = bench.read(&format!("{name}.bak-20260302T040011Z"));
            assert_eq!(backup, "foreign", "{output}/{name}");
            assert!(bench.read(name).starts_with("<?xml"), "{output}/{name}");
        }
    }
}

#[test]
fn moved_output_is_known_by_its_manifest() {
    let mut bench = Bench::published();
    let before = bench.files();
    let moved = bench.folder.path().join("moved");
    fs::rename(&bench.config.output, &moved).unwrap();
    bench.config.output = moved;
    assert_eq!(changed(&bench.edition(1, &shop())), [""; 0]);
    assert_eq!(bench.files(), before);
    bench.wait(1);
    let mut pages = shop();
    pages.insert("/blog/7".into(), 2);
    let published = bench.edition(0, &pages);
    assert_eq!(changed(&published), ["sitemap.xml", "sitemap.blog.xml.gz"]);
    assert_eq!(bench.files().len(), 4, "no backup of what is ours");
}

#[test]
fn changed_files_of_ours_are_written_again() {
    let mut bench = Bench::published();
    let before = bench.files();
    let output = bench.config.output.clone();
    fs::write(output.join("sitemap.xml"), "by hand").unwrap();
    fs::write(output.join("sitemap.blog.xml.gz"), "damaged").unwrap();
    fs::remove_file(output.join("sitemap.docs.xml.gz")).unwrap();
    bench.edition(24, &shop());
    assert_eq!(bench.read("sitemap.xml.bak-20260303T040011Z"), "by hand");
    assert!(bench.read("sitemap.xml").contains("sitemapindex"));
    for name in ["sitemap.blog.xml.gz", "sitemap.docs.xml.gz"] {
        assert_eq!(bench.files()[name].0, before[name].0);
    }
}

#[test]
fn manifest_with_names_outside_is_rejected() {
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
fn backup_never_replaces_another_backup() {
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
fn linked_folder_is_refused_even_with_force() {
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
        bench.edition(hours, &pages);
    }
    assert!(target.join("blog/sitemap.xml.gz").exists());
}

#[cfg(unix)]
#[test]
fn link_under_a_final_name_is_replaced() {
    let mut bench = Bench::published();
    let target = bench.folder.path().join("precious");
    fs::write(&target, "precious").unwrap();
    let name = bench.config.output.join("sitemap.blog.xml.gz");
    fs::remove_file(&name).unwrap();
    std::os::unix::fs::symlink(&target, &name).unwrap();
    bench.edition(0, &shop());
    assert_eq!(fs::read_to_string(&target).unwrap(), "precious");
    assert!(fs::symlink_metadata(&name).unwrap().is_file());
}
