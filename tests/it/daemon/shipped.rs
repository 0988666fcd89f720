//! The files for servers in `config/`: each command that they start is run as it is written there, with folders of a test
//! instead of those of a server, and the tools of systemd check the units.

use std::{fs, path::Path, process::Command, time::SystemTime};

use serde_json::Value;

use super::{Manager, SHARED, YEARLY, arpent, make_due, stop, table};
use crate::support::{
    has_program,
    program::{Bench, Ran, run_tool},
    published::Published,
    site::Site,
};

/// Where the program and its settings are on a server.
const PROGRAM: &str = "/usr/local/bin/arpent";
const SETTINGS: &str = "/etc/arpent/arpent.toml";

/// The highest exposure level of a unit by `systemd-analyze security`, times 10: 0 is best, 100 is no protection.
const MOST_EXPOSED: &str = "15";

/// In seconds.
const DAY: u64 = 86_400;

fn shipped(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../config")
        .join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The value of the only line of a unit that sets `name`.
#[track_caller]
fn value(unit: &str, name: &str) -> String {
    let values: Vec<_> = unit
        .lines()
        .filter_map(|line| line.strip_prefix(name)?.strip_prefix('='))
        .collect();
    assert_eq!(values.len(), 1, "{name}: {values:?}");
    values[0].to_owned()
}

/// The arguments of a command line that starts the program, with the settings of a test.
#[track_caller]
fn arguments<'w>(words: impl IntoIterator<Item = &'w str>, config: &str) -> Vec<String> {
    let mut words = words.into_iter();
    assert_eq!(words.next(), Some(PROGRAM));
    let words: Vec<_> = words
        .map(|word| if word == SETTINGS { config } else { word }.to_owned())
        .collect();
    assert!(words.iter().any(|word| word == config), "{words:?}");
    words
}

fn command(bench: &Bench, arguments: &[String]) -> Command {
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    arpent(bench, &arguments)
}

#[test]
fn the_command_of_the_timer_crawls() {
    let timer = shipped("arpent-crawl.timer");
    assert_eq!(value(&timer, "Persistent"), "true");
    assert_eq!(value(&timer, "OnCalendar"), "*-*-* 02:30:00");
    let unit = shipped("arpent-crawl.service");
    assert_eq!(value(&unit, "Type"), "oneshot");
    let start = value(&unit, "ExecStart");
    let (bench, site) = (Bench::new(), Site::of_two_pages());
    let config = bench.settings(&format!("{SHARED}{}", table("docs", &site.url("/"), "")));
    let ran = Ran::of(command(&bench, &arguments(start.split(' '), &config))).expect_code(0);
    assert_eq!(ran.summary()["outcome"], "published");
    assert_eq!(Published::read(&bench.output()).urls().len(), 2);
}

#[test]
fn the_command_of_the_service_crawls_and_reloads() {
    let unit = shipped("arpent.service");
    let start = value(&unit, "ExecStart");
    let (bench, site) = (Bench::new(), Site::of_two_pages());
    let file = format!("{SHARED}{}", table("docs", &site.url("/"), YEARLY));
    let config = bench.settings(&file);
    make_due(&bench, &["docs"]);
    let command = command(&bench, &arguments(start.split(' '), &config));
    assert_eq!(value(&unit, "Type"), "notify");
    let (mut manager, mut running) = Manager::start(&bench, command);
    manager.wait_for(&mut running, "READY=1");
    manager.wait_for(&mut running, "STATUS=next docs");
    let reload = value(&unit, "ExecReload").replace("$MAINPID", &running.id().to_string());
    let mut words = reload.split(' ');
    run_tool(words.next().expect("a program"), words);
    manager.wait_for(&mut running, "RELOADING=1");
    manager.wait_for(&mut running, "READY=1");
    // The signal by which systemd stops it, and the exit codes that systemd takes for success.
    let ran = stop(running);
    assert!(value(&unit, "SuccessExitStatus").contains("143"));
    assert!(ran.stderr.contains("docs: published"), "{}", ran.stderr);
    assert_eq!(Published::read(&bench.output()).urls().len(), 2);
}

#[test]
fn the_service_takes_the_example_for_many_sites() {
    let unit = shipped("arpent.service");
    let example = shipped("example-many-sites.toml");
    let bench = Bench::new();
    let config = bench.settings(&example);
    let start = value(&unit, "ExecStart");
    let mut words = arguments(start.split(' '), &config);
    words.extend(["--state".to_owned(), bench.state().display().to_string()]);
    let mut command = command(&bench, &words);
    // At noon none of its sites is due.
    let seconds = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .expect("a time")
        .as_secs();
    let to_noon = (DAY + DAY / 2 - seconds % DAY) % DAY;
    command.env("ARPENT_CLOCK_AHEAD", format!("{to_noon}s"));
    let (mut manager, mut running) = Manager::start(&bench, command);
    manager.wait_for(&mut running, "READY=1");
    let ran = stop(running);
    for start in [
        "https://www.example.com/",
        "https://shop.example.com/",
        "https://docs.example.org/manual/",
    ] {
        let line = format!("{start} has the schedule ");
        assert!(ran.stderr.contains(&line), "{start}: {}", ran.stderr);
    }
    // The service may write to all folders that it uses.
    let open = value(&unit, "ReadWritePaths");
    let open = Path::new(open.trim_start_matches('-'));
    let outputs: Vec<&str> = example
        .lines()
        .filter_map(|line| line.strip_prefix("output = "))
        .collect();
    assert_eq!(outputs.len(), 2);
    for output in outputs {
        assert!(
            Path::new(output.trim_matches('"')).starts_with(open),
            "{output}"
        );
    }
}

/// The arguments of an instruction of a Dockerfile in its list form; the last instruction counts.
#[track_caller]
fn instruction(dockerfile: &str, name: &str) -> Vec<String> {
    let joined = dockerfile.replace("\\\n", " ");
    let line = joined
        .lines()
        .rfind(|line| line.starts_with(name))
        .unwrap_or_else(|| panic!("no {name}"));
    let list = &line[line.find('[').expect("a list")..];
    let words: Value = serde_json::from_str(list).unwrap_or_else(|error| panic!("{error}: {list}"));
    let words = words.as_array().expect("a list").iter();
    words
        .map(|word| word.as_str().expect("text").to_owned())
        .collect()
}

#[test]
fn the_container_crawls_and_checks_its_health() {
    let dockerfile = shipped("Dockerfile");
    let [entry, rest] = ["ENTRYPOINT", "CMD"].map(|name| instruction(&dockerfile, name));
    let start = [entry, rest].concat();
    let health = instruction(&dockerfile, "HEALTHCHECK");
    let (bench, site) = (Bench::new(), Site::of_two_pages());
    // The container sets the places of state and output when the settings do not.
    let shared = SHARED
        .replace("output.output = \"out\"\n", "")
        .replace("output.state = \"state\"\n", "");
    let file = format!("{shared}{}", table("docs", &site.url("/"), YEARLY));
    let config = bench.settings(&file);
    for line in [
        "ENV XDG_STATE_HOME=/var/lib",
        "WORKDIR /srv",
        "USER 65532:65532",
        "VOLUME [\"/var/lib/arpent\", \"/srv/sitemaps\"]",
    ] {
        assert!(dockerfile.lines().any(|known| known == line), "{line}");
    }
    let in_container = |words: &[String]| {
        let words = words.iter().map(String::as_str);
        let mut command = command(&bench, &arguments(words, &config));
        command.env("XDG_STATE_HOME", bench.path().join("var-lib"));
        command
    };
    // No daemon, and no set.
    Ran::of(in_container(&health)).expect_code(1);
    let state = bench.path().join("var-lib/arpent");
    fs::create_dir_all(state.parent().expect("a folder")).expect("created");
    make_due(&bench, &["docs"]);
    fs::rename(bench.state(), &state).expect("moved");
    let daemon = in_container(&start);
    let (mut manager, mut running) = Manager::start(&bench, daemon);
    manager.wait_for(&mut running, "STATUS=next docs");
    Ran::of(in_container(&health)).expect_code(0);
    let ran = stop(running);
    super::end_of(&super::log(&ran), "docs");
    let set = bench
        .path()
        .join(format!("sitemaps/http_127.0.0.1_{}", site.port()));
    assert_eq!(Published::read(&set).urls().len(), 2);
    let mut late = in_container(&health);
    late.env("ARPENT_CLOCK_AHEAD", "27h");
    let ran = Ran::of(late).expect_code(1);
    let error = "error: docs: the last good session ended 1 d 3 h ago\n";
    assert!(ran.stderr.contains(error), "{}", ran.stderr);
}

#[test]
fn systemd_finds_nothing_wrong_with_the_units() {
    if !has_program("systemd-analyze") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let paths = [
        "arpent.service",
        "arpent-crawl.service",
        "arpent-crawl.timer",
    ]
    .map(|name| {
        let path = folder.path().join(name);
        // The program has to be there.
        let unit = shipped(name).replace(PROGRAM, env!("CARGO_BIN_EXE_arpent"));
        fs::write(&path, unit).expect("written");
        path.display().to_string()
    });
    for path in &paths {
        let ran = Ran::of({
            let mut command = Command::new("systemd-analyze");
            command.args(["verify", "--man=no", path]);
            command
        });
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{path}");
    }
    for path in &paths[..2] {
        let threshold = format!("--threshold={MOST_EXPOSED}");
        let arguments = ["security", "--offline=true", "--no-pager", &threshold, path];
        run_tool("systemd-analyze", arguments);
    }
}
