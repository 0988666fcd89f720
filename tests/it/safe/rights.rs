//! The permissions of published files.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::Path,
    process::Command,
};

use crate::support::{
    program::{Bench, Ran, run_tool},
    site::{Response, Site},
};

fn serve() -> Site {
    Site::start(|request| match request.target.as_str() {
        "/" => Response::linking((0..150).map(|number| format!("/docs/{number}"))),
        target if target.starts_with("/docs/") => {
            Response::html(format!("<title>{target}</title>"))
        }
        _ => Response::status(404),
    })
}

/// Mode and group of every file and folder below `folder` that readers see, and of the folder itself.
fn rights(folder: &Path) -> BTreeMap<String, (u32, u32)> {
    // Locks are not for readers.
    let arguments = [
        folder.as_os_str(),
        "!".as_ref(),
        "-name".as_ref(),
        ".*lock".as_ref(),
    ];
    let listed = run_tool("find", arguments);
    let paths = listed.lines();
    paths
        .map(|path| {
            let metadata = fs::metadata(path).expect("it was found");
            let below = Path::new(path).strip_prefix(folder).expect("below");
            let rights = (metadata.permissions().mode() & 0o7777, metadata.gid());
            (below.to_string_lossy().into_owned(), rights)
        })
        .collect()
}

/// The same crawl with a umask.
fn crawl(bench: &Bench, umask: &str, url: &str, options: &[&str]) -> Ran {
    let command = bench.command(url, options);
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &format!("umask {umask}; exec \"$0\" \"$@\"")])
        .arg(command.get_program())
        .args(command.get_args())
        .env_clear()
        .envs(
            command
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .current_dir(bench.path());
    Ran::of(shell)
}

/// Fails unless every file has the mode `file`, every folder the mode `folder`, and both have the group.
#[track_caller]
fn assert_rights(bench: &Bench, file: u32, folder: u32, group: u32) {
    let all = rights(&bench.output());
    assert!(all.contains_key("docs/sitemap.xml.gz"), "{all:?}");
    assert!(all.contains_key(".arpent-manifest.json"), "{all:?}");
    for (name, found) in all {
        let is_folder = bench.output().join(&name).is_dir();
        let mode = if is_folder { folder } else { file };
        assert_eq!(found, (mode, group), "{name}: {:o}", found.0);
    }
}

#[test]
fn the_umask_or_a_mode_decides_about_rights() {
    let site = serve();
    let url = site.url("/");
    let bench = Bench::new();
    let group = fs::metadata(bench.path()).expect("a folder").gid();
    let layout = ["--layout", "in-place"];
    crawl(&bench, "027", &url, &layout).expect_code(0);
    assert_rights(&bench, 0o640, 0o750, group);

    let bench = Bench::new();
    let with_mode = |mode: &str| {
        let options = [&layout[..], &["--file-mode", mode]].concat();
        crawl(&bench, "077", &url, &options).expect_code(0);
    };
    with_mode("0644");
    assert_rights(&bench, 0o644, 0o755, group);
    let before = bench.published();
    with_mode("0640");
    // Existing folders belong to the user and keep their mode.
    assert_rights(&bench, 0o640, 0o755, group);
    let differences = bench.published().differences(&before);
    assert_eq!(differences, [""; 0], "rights are no change");
}

#[test]
fn a_group_is_given_by_name_or_number() {
    let groups = fs::read_to_string("/etc/group").expect("groups");
    let mut groups = groups.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        Some((
            fields.first()?.to_string(),
            fields.get(2)?.parse::<u32>().ok()?,
        ))
    });
    let (name, number) = groups.find(|(_, number)| *number > 0).expect("a group");
    for group in [name, number.to_string()] {
        let site = serve();
        let bench = Bench::new();
        let options = [
            "--layout",
            "in-place",
            "--file-mode",
            "0640",
            "--file-group",
            &group,
        ];
        let ran = bench.crawl(&site.url("/"), &options);
        if ran.code == Some(4) && ran.stderr.contains("Operation not permitted") {
            // A user outside of the group may not set it: reported before the crawl.
            assert!(
                ran.stderr.contains("the rights that are set"),
                "{}",
                ran.stderr
            );
            assert!(!bench.output().exists());
            return crate::support::skip("only root gives away groups");
        }
        ran.expect_code(0);
        assert_rights(&bench, 0o640, 0o750, number);
    }
}

#[test]
fn wrong_rights_are_reported_before_the_crawl() {
    let site = serve();
    let check = |option: &str, words: &str| {
        let bench = Bench::new();
        let ran = bench.crawl(&site.url("/"), &[option]).expect_code(2);
        assert!(ran.stderr.contains(words), "{option}: {}", ran.stderr);
        assert!(!bench.output().exists());
    };
    for mode in ["644x", "0900", "01777", "0044", "-1", "rw-r--r--"] {
        let option = format!("--file-mode={mode}");
        check(&option, "expected octal permissions as text");
    }
    check("--file-group=no-such-group", "has no group no-such-group");
    for group in ["a:b", "4294967295"] {
        let option = format!("--file-group={group}");
        check(&option, "expected the name or the number");
    }
    let bench = Bench::new();
    let config = bench.settings("output.file_mode = 644\n");
    let ran = bench.crawl(&site.url("/"), &["--config", &config]);
    let (ran, words) = (ran.expect_code(2), "file_mode: expected octal");
    assert!(ran.stderr.contains(words), "{}", ran.stderr);
}
