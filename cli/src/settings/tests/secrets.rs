//! Secrets outside of the settings file.

use crawler::config::Secret;

use super::*;

/// The outcome of a file, with a file `auth` that only its owner reads and one `open` that everybody does.
fn load_with(
    file: &str,
    variables: &[(&str, &str)],
    is_open_to_all: bool,
) -> Result<CrawlSettings, SettingsError> {
    let line = ["arpent", "crawl", URL, "--config", "config.toml"];
    let Command::Crawl(args) = Args::try_parse_from(line).unwrap().command else {
        panic!("`arpent crawl` was typed");
    };
    let variables = variables
        .iter()
        .chain(&[("HOME", "/home/me"), ("LOCALAPPDATA", "C:\\home")])
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    CrawlSettings::load(Purpose::Crawl, args.typed(), &variables.collect(), |path| {
        let (text, is_open_to_all) = match path.to_str().unwrap() {
            "config.toml" => (file, is_open_to_all),
            "auth" => ("user:secret\r\n", false),
            "open" | "/run/credentials/token" => ("token\n", path == Path::new("open")),
            "/run/credentials/cookie" => ("Cookie: a=b", false),
            "other" => ("other", false),
            "empty" => ("\n", false),
            _ => return Err(io::Error::from(io::ErrorKind::NotFound)),
        };
        Ok(FileText {
            text: text.to_owned(),
            is_open_to_all,
        })
    })
}

#[test]
fn secret_is_read_from_its_place() {
    fn check(file: &str, variables: &[(&str, &str)], expected: &Credentials) {
        let settings = load_with(file, variables, true).unwrap_or_else(|error| panic!("{error}"));
        let fetch = &settings.sites[0].settings.config.fetch;
        assert_eq!(fetch.credentials.as_ref(), Some(expected), "{file}");
        assert_eq!(settings.shared.warnings, [""; 0], "{file}");
        assert!(!format!("{settings:?}").contains("secret"), "{settings:?}");
    }
    let basic = Credentials::Basic {
        user: "user".to_owned(),
        password: Secret::new("secret"),
    };
    let bearer = Credentials::Bearer(Secret::new("token"));
    let systemd = [("CREDENTIALS_DIRECTORY", "/run/credentials")];
    check("requests.basic_auth = { file = \"auth\" }", &[], &basic);
    check(
        "requests.bearer_token = { credential = \"token\" }",
        &systemd,
        &bearer,
    );
    check(
        "requests.basic_auth = { variable = \"SITE\" }",
        &[("SITE", "user:secret")],
        &basic,
    );
    check("[requests.basic_auth]\nfile = \"auth\"", &[], &basic);
    check(
        "[[site]]\nurl = \"https://example.com/\"\nrequests.basic_auth = { file = \"auth\" }",
        &[],
        &basic,
    );
    // A variable of arpent's own wins over the file as ever.
    check(
        "requests.bearer_token = { file = \"other\" }",
        &[("ARPENT_BEARER_TOKEN", "token")],
        &bearer,
    );
}

#[test]
fn each_header_may_be_kept_elsewhere() {
    let file = "requests.header = [\"Accept: x\", { credential = \"cookie\" }]";
    let systemd = [("CREDENTIALS_DIRECTORY", "/run/credentials")];
    let settings = load_with(file, &systemd, true).unwrap();
    let headers = &settings.sites[0].settings.config.fetch.headers;
    let names: Vec<_> = headers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["Accept", "Cookie"]);
}

#[test]
fn missing_secret_is_a_problem() {
    fn check(file: &str, expected: &str) {
        let error = load_with(file, &[("EMPTY", "")], false).unwrap_err();
        assert_eq!(error.to_string(), format!("config.toml:{expected}"));
    }
    check(
        "requests.basic_auth = { file = \"missing\" }",
        "1: basic_auth: failed to read missing: entity not found",
    );
    check(
        "requests.basic_auth = { file = \"empty\" }",
        "1: basic_auth: expected a secret of 1 to 65536 bytes in the file empty, found 0",
    );
    check(
        "requests.basic_auth = { variable = \"EMPTY\" }",
        "1: basic_auth: expected a secret of 1 to 65536 bytes in the variable EMPTY, found 0",
    );
    check(
        "requests.basic_auth = { variable = \"SITE\" }",
        "1: basic_auth: the variable SITE is not set",
    );
    check(
        "requests.basic_auth = { credential = \"token\" }",
        "1: basic_auth: there is no credential, because CREDENTIALS_DIRECTORY is not set; expected LoadCredential=token:... in the systemd unit",
    );
    check(
        "requests.basic_auth = { credential = \"../token\" }",
        "1: basic_auth: expected the name of a credential, found \"../token\"",
    );
    let forms = r#"expected text, or one of { file = "..." }, { credential = "..." } and { variable = "..." }"#;
    check(
        "requests.basic_auth = { fil = \"auth\" }",
        &format!("1: basic_auth: {forms}, found fil; did you mean file?"),
    );
    check(
        "requests.basic_auth = {}",
        &format!("1: basic_auth: {forms}"),
    );
    check(
        "requests.basic_auth = { file = \"a\", variable = \"b\" }",
        &format!("1: basic_auth: {forms}"),
    );
    check(
        "requests.header = [\n  { file = 7 },\n]",
        &format!("2: header: {forms}"),
    );
    // What is kept there is read like any other value, and not repeated.
    check(
        "requests.basic_auth = { file = \"open\" }",
        "1: basic_auth: expected \"user:password\", found no colon",
    );
    check(
        "politeness.rate = { file = \"auth\" }",
        "1: rate: expected a number above 0 per second or \"unlimited\", found a table",
    );
}

#[test]
fn hooks_inherit_neither_settings_nor_secrets() {
    let file = r#"
requests.proxy = { variable = "PROXY_OF_ALL" }
[[site]]
url = "https://a.example/"
[[site]]
url = "https://b.example/"
requests.basic_auth = { variable = "AUTH_OF_B" }
requests.header = [{ variable = "HEADER_OF_B" }, "X-Plain: 1"]
"#;
    let variables = [
        ("PROXY_OF_ALL", "http://proxy.example:3128"),
        ("AUTH_OF_B", "user:password"),
        ("HEADER_OF_B", "X-Key: secret"),
        ("ARPENT_RATE", "1"),
        ("ARPENT_OF_OTHERS", "1"),
        ("PATH", "/bin"),
        ("LANG", "C"),
    ];
    // Also of the other sites: the environment is that of all.
    let settings = load_sites(&["https://a.example/"], &variables, Some(file)).unwrap();
    let withheld = &settings.sites[0].settings.withheld;
    for name in [
        "PROXY_OF_ALL",
        "AUTH_OF_B",
        "HEADER_OF_B",
        "ARPENT_RATE",
        "ARPENT_OF_OTHERS",
        "ARPENT_BASIC_AUTH",
        "CREDENTIALS_DIRECTORY",
    ] {
        assert!(withheld.iter().any(|known| known == name), "{name}");
    }
    for name in ["PATH", "LANG", "HOME"] {
        assert!(!withheld.iter().any(|known| known == name), "{name}");
    }
}

#[test]
fn world_readable_secret_causes_a_warning() {
    fn check(file: &str, is_open_to_all: bool, expected: &[&str]) {
        let settings = load_with(file, &[], is_open_to_all).unwrap();
        assert_eq!(settings.shared.warnings, expected, "{file}");
    }
    check(
        "requests.bearer_token = { file = \"open\" }",
        true,
        &["every user of this machine can read the secret in open; run chmod o-r open"],
    );
    let own = |name: &str| {
        format!(
            "every user of this machine can read the secret {name} in config.toml; run chmod o-r config.toml, or write the secret into another file: {name} = {{ file = \"...\" }}"
        )
    };
    check("requests.basic_auth = \"u:p\"", true, &[&own("basic_auth")]);
    check(
        "[[site]]\nurl = \"https://example.com/\"\nrequests.header = [\"Cookie: a\"]",
        true,
        &[&own("header")],
    );
    check("requests.basic_auth = \"u:p\"", false, &[]);
    check(
        "requests.header = [\"Accept: x\"]\nrequests.basic_auth = \"\"",
        true,
        &[],
    );
}
