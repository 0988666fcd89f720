//! The messages of a program without the optional features, when a command or a setting needs one of them. All other tests are built
//! with all features, in `it`.

#[cfg(not(any(feature = "cloud", feature = "metrics")))]
mod default_build {
    use std::process::{Command, Stdio};

    /// Runs the program in an empty folder with these settings; it has to refuse them with a message that has all of `expected`.
    #[track_caller]
    fn check(settings: &str, arguments: &[&str], expected: [&str; 2]) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("arpent.toml"), settings).expect("it can be written");
        let output = Command::new(env!("CARGO_BIN_EXE_arpent"))
            .env_clear()
            .env("HOME", folder.path())
            .current_dir(folder.path())
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .expect("the program starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        for words in expected {
            assert!(said.contains(words), "{arguments:?}: {said}");
        }
    }

    const SITE: &str = "urls = [\"http://docs.test/\"]\nschedule = \"0 0 1 1 *\"\n";

    #[test]
    fn an_address_of_metrics_is_refused() {
        let expected = ["built without metrics", "--features metrics"];
        check(SITE, &["daemon", "--metrics", "127.0.0.1:9464"], expected);
    }

    #[test]
    fn a_catalogue_is_refused() {
        let url = "postgres://arpent@127.0.0.1/arpent";
        let expected = ["built without the catalogue", "--features catalogue"];
        check("", &["catalogue", "list", "--catalogue", url], expected);
        check("", &["status", "--catalogue", url], expected);
    }

    #[test]
    fn object_storage_is_refused() {
        let crawl = ["crawl", "http://127.0.0.1:9/"];
        let expected = ["built without object storage", "--features cloud"];
        let output = [&crawl[..], &["--output", "s3://maps/"]].concat();
        check("", &output, expected);
        let expected = ["built without object storage", "--features catalogue"];
        check("[fleet]\nstorage = \"s3://states/\"\n", &crawl, expected);
    }
}
