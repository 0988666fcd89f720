//! `arpent generate`: man pages and completions as a package takes them, and the schemas of the results as JSON.

use std::{collections::BTreeSet, fs, process::Command};

use crate::support::{
    has_program,
    json_schema::schema_of,
    program::{Bench, Ran},
    site::{Response, Site},
};

fn generate(bench: &Bench, arguments: &[&str]) -> Ran {
    let mut command = bench.program();
    command.arg("generate").args(arguments);
    Ran::of(command)
}

#[test]
fn every_command_has_a_man_page() {
    let bench = Bench::new();
    let folder = bench.path().join("share/man1");
    let ran = generate(&bench, &["man", &folder.display().to_string()]).expect_code(0);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
    let mut help = bench.program();
    help.arg("--help");
    let help = Ran::of(help).expect_code(0).stdout;
    let (commands, _) = help.split_once("\nOptions:\n").expect("the options follow");
    let commands = commands
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next());
    let mut expected: BTreeSet<String> = commands
        .filter(|name| *name != "help")
        .map(|name| format!("arpent-{name}.1"))
        .collect();
    assert!(expected.len() > 10, "{help}");
    expected.insert("arpent.1".to_owned());
    let actions = [
        ("generate", "man completions settings schema"),
        (
            "catalogue",
            "init add import list show fetch remove run-now",
        ),
    ];
    for (command, names) in actions {
        let names = names.split(' ');
        expected.extend(names.map(|name| format!("arpent-{command}-{name}.1")));
    }
    let written = fs::read_dir(&folder).expect("the folder");
    let written: BTreeSet<String> = written
        .map(|entry| entry.expect("a file").file_name().into_string())
        .collect::<Result<_, _>>()
        .expect("names of text");
    assert_eq!(written, expected);
    for name in written {
        let page = fs::read_to_string(folder.join(&name)).expect("a page");
        assert!(page.contains("\n.SH SYNOPSIS\n"), "{name}: {page}");
    }
    // Without a folder, the page of the program itself is printed.
    let printed = generate(&bench, &["man"]).expect_code(0).stdout;
    let page = fs::read_to_string(folder.join("arpent.1")).expect("a page");
    assert_eq!(printed, page);
    fs::write(bench.path().join("file"), "").expect("written");
    let ran = generate(&bench, &["man", "file"]).expect_code(2);
    let message = "error: failed to write the man pages: ";
    assert!(ran.stderr.starts_with(message), "{}", ran.stderr);
}

#[test]
fn completions_are_scripts_that_their_shell_reads() {
    let bench = Bench::new();
    for (shell, marker) in [
        ("bash", "complete -F _arpent"),
        ("zsh", "#compdef arpent"),
        ("fish", "complete -c arpent"),
        ("elvish", "set edit:completion:arg-completer[arpent]"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let script = generate(&bench, &["completions", shell])
            .expect_code(0)
            .stdout;
        assert!(script.contains(marker), "{shell}: {script}");
        for word in ["crawl", "max-pages", "generate"] {
            assert!(script.contains(word), "{shell} knows no {word}");
        }
        // Escaped on its way out: a character that the shell needs as it is.
        assert!(!script.contains("\\u{"), "{shell}: {script}");
        if ["bash", "zsh", "fish"].contains(&shell) && has_program(shell) {
            let path = bench.path().join(shell);
            fs::write(&path, &script).expect("written");
            let mut command = Command::new(shell);
            command.arg("-n").arg(&path);
            Ran::of(command).expect_code(0);
        }
    }
    generate(&bench, &["completions", "rc"]).expect_code(2);
}

/// The support of the tests validates what the commands print.
#[test]
fn every_result_as_json_has_a_schema() {
    let bench = Bench::new();
    let site = Site::start(|request| match request.target.as_str() {
        "/" => Response::linking(["/a", "/gone"]),
        "/a" => Response::html("<title>a</title>the page a"),
        _ => Response::status(404),
    });
    let url = site.url("/");
    fs::write(bench.path().join("urls.txt"), format!("{url}a\n")).expect("written");
    let lines = [
        "init URL --json --yes --rate unlimited",
        "crawl URL --json --discover links --rate unlimited --output out --state state",
        "build --base-url URL urls.txt --json --output built",
        "check out --json",
        "check URL --served --json --state state",
        "audit URL --json --state state --sitemap out --rate unlimited",
        "diff out built --json",
        "status --json --state state",
        "report URL --json --state state",
        "report URL --ndjson - --state state",
        "why URL --json --live --state state --rate unlimited",
        "notify URL --json --state state --rate unlimited",
        "publish URL --json --output out --state state",
        "forget URL --json --state state",
    ];
    let mut names = BTreeSet::new();
    for line in lines {
        let line = line.replace("URL", &url);
        let mut command = bench.program();
        command.args(line.split(' '));
        let path = schema_of(&command).expect("the command prints JSON");
        let ran = Ran::of(command);
        assert!(!ran.stdout.is_empty(), "{line}: {}", ran.stderr);
        let name = match line.split(' ').next() {
            Some("report") if line.contains("--ndjson") => "report-rows",
            Some("check") if line.contains("--served") => "served",
            name => name.expect("a command"),
        };
        let printed = generate(&bench, &["schema", name]).expect_code(0).stdout;
        assert_eq!(
            printed,
            fs::read_to_string(path).expect("a schema"),
            "{name}"
        );
        names.insert(name.to_owned());
    }
    let refused = generate(&bench, &["schema", "none"]).expect_code(2).stderr;
    let (_, known) = refused.split_once("[possible values: ").expect("a list");
    let (known, _) = known.split_once(']').expect("its end");
    // These need a catalogue: the tests of its commands have them.
    names.extend(["catalogue-list", "catalogue-show", "fleet"].map(str::to_owned));
    assert_eq!(names, known.split(", ").map(str::to_owned).collect());
}
