//! Wrong invocations: each is answered by a message that names the cause and the next step. `tests/data/wrong_invocations.txt`
//! holds every message; `ARPENT_WRITE_GUIDE=1 cargo test` writes it again.

use std::{fmt::Write as _, fs, process::Command};

use crate::{
    hints::self_signed,
    support::{
        program::{Bench, Ran},
        site::{Response, Site},
        state,
    },
};

/// The messages of the program, with the changing parts replaced.
struct Transcript {
    text: String,
    places: Vec<(String, &'static str)>,
}

impl Transcript {
    fn run(&mut self, bench: &Bench, line: &str) {
        let mut arguments = line.to_owned();
        for (place, name) in &self.places {
            arguments = arguments.replace(name, place);
        }
        let mut command: Command = bench.program();
        command.args(arguments.split(' '));
        let ran = Ran::of(command);
        let _ = writeln!(self.text, "$ arpent {line}");
        // A summary has the notes, and why nothing was published.
        let refused = ran
            .stdout
            .lines()
            .take(if ran.code == Some(4) { 2 } else { 0 });
        let notes = ran
            .stdout
            .lines()
            .filter(|line| line.starts_with("  NOTE: "));
        for printed in ran.stderr.lines().chain(refused).chain(notes) {
            // A line of a log has its time first.
            let message = match printed.split_once("Z ") {
                Some((time, message)) if time.len() == 19 => message,
                _ => printed,
            };
            // This line is printed only when an answer takes long.
            if message.starts_with("waiting for robots.txt") {
                continue;
            }
            let mut message = message.to_owned();
            for (place, name) in &self.places {
                message = message.replace(place, name);
            }
            let _ = writeln!(self.text, "{message}");
        }
        let _ = writeln!(self.text, "exit code {}\n", ran.code.unwrap_or(-1));
    }
}

#[test]
fn each_names_the_cause_and_the_next_step() {
    let site = Site::start(|request| match request.target.as_str() {
        "/robots.txt" => Response::text(""),
        "/" => Response::linking(["/a", "/b"]),
        "/a" | "/b" => Response::html("<title>page</title>text"),
        "/closed/" => Response::status(401),
        "/login/" => Response::redirect(302, "/login/"),
        "/away/" => Response::redirect(302, "http://other.example/"),
        "/forbidden/" => Response::status(403),
        _ => Response::status(404),
    });
    let secure = Site::start_tls(self_signed(false).0, |_| Response::text(""));
    let bench = Bench::new();
    let folder = bench.path().display().to_string();
    let mut transcript = Transcript {
        text: String::new(),
        places: vec![
            (site.origin(), "http://SITE"),
            (secure.origin(), "https://SECURE"),
            (secure.origin().replace("https://", ""), "SECURE"),
            (site.origin().replace("http://", ""), "SITE"),
            (folder, "FOLDER"),
            (format!("127.0.0.1_{}", site.port()), "SITE_NAME"),
        ],
    };
    let write = |name: &str, text: &str| fs::write(bench.path().join(name), text).expect("written");
    write("typo.toml", "[politeness]\nrat = 3\n");
    write("table.toml", "[politeness]\nmax_pages = 3\n");
    write("value.toml", "[limits]\nmax_time = \"soon\"\n");
    write("broken.toml", "[limits\n");
    write("file", "");
    for line in [
        // The URL.
        "crawl example",
        "crawl ftp://example.com/",
        "crawl http://me:secret@SITE/",
        "crawl http://127.0.0.1:1/",
        "crawl https://SITE/",
        "crawl https://SECURE/",
        "crawl http://SITE/nothing/",
        "crawl http://SITE/closed/",
        "crawl http://SITE/forbidden/",
        "crawl http://SITE/login/",
        "crawl http://SITE/away/",
        // Options and settings.
        "crwal http://SITE/",
        "http://SITE/",
        "crawl http://SITE/ --max-page 3",
        "crawl http://SITE/ --rate 0",
        "crawl http://SITE/ -x ^/a.*$",
        "crawl http://SITE/ -x /nothing/* -o one --state one-state --rate unlimited",
        "crawl http://SITE/ -i /nothing/* -o two --state two-state --rate unlimited",
        "crawl http://SITE/ -c typo.toml",
        "crawl http://SITE/ -c table.toml",
        "crawl http://SITE/ -c value.toml",
        "crawl http://SITE/ -c broken.toml",
        "crawl http://SITE/ -c missing.toml",
        // Places.
        "crawl http://SITE/ -o file --rate unlimited",
        "crawl http://SITE/ --state file --rate unlimited",
        "check missing.xml",
        "diff missing-1 missing-2",
        "report http://elsewhere.example/",
        "why http://elsewhere.example/page",
        "publish http://elsewhere.example/",
        "daemon",
        "build -o x",
        "catalogue",
        "catalogue list --state lost",
        "resume",
        "pause shop",
        "daemon --catalogue mysql://db.example/arpent",
        "check --explain R99",
    ] {
        transcript.run(&bench, line);
    }
    bench.crawl(&site.url("/"), &[]).expect_code(0);
    let file = state::file(&bench);
    let mut newer = fs::read(&file).expect("the state can be read");
    newer[60..64].copy_from_slice(&1_000_u32.to_be_bytes());
    fs::write(&file, newer).expect("written");
    transcript.run(
        &bench,
        "crawl http://SITE/ --state FOLDER/state -o FOLDER/out",
    );
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tests/data/wrong_invocations.txt"
    );
    crawler::testing::assert_guide(path, &transcript.text);
}
