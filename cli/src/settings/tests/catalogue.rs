//! Settings of sites on their way into a catalogue and back.

use super::*;
use crate::args::{CatalogueAction, CatalogueArgs};

/// A file that has settings of every form, for two sites.
const TWO: &str = r#"
max_sites = 9
time_zone = "Europe/Paris"
schedule = "30 2 * * *"
jitter = "10m"

[output]
output = "s3://sets/all/"
public_url = "https://maps.example/{host}/"
state = "/somewhere"
changefreq = ["/news/*=daily"]
min_section = 100

[politeness]
rate = 0.5
delay = "2s"

[limits]
max_pages = 1000

[notify]
ping = ["https://ping.example/?sitemap={sitemap}"]

[fleet]
storage = "s3://states/all"

[[page_rule]]
selector = ".sold-out"
action = "exclude"

[[site]]
url = "https://a.example/"
name = "shop"
schedule = "@daily"
[site.scope]
exclude = ["/cart/*", "/with \"quotes\"*"]
[site.identity]
drop_parameters = ["ref"]
[site.requests]
cookies = "start"
basic_auth = { variable = "SHOP" }
header = ["Accept-Language: fr", { variable = "SHOP_HEADER" }]
[[site.page_rule]]
pages = "/shop/*"
selector = "time"
action = "lastmod"
attribute = "datetime"
[[site.namespace]]
prefix = "shop"
uri = "https://www.example.com/schemas/shop"
schema = "https://www.example.com/shop.xsd"
[[site.namespace.element]]
name = "price"
pages = "/shop/*"
field = "cost"
[[site.namespace.element]]
name = "source"
value = "crawl"
[[site.namespace.element]]
name = "stock"
field = "stock"

[[site]]
url = "http://b.example:8080/docs/"
[site.output]
output = "gs://docs"
no_gzip = true
"#;

fn variables(variables: &[(&str, &str)]) -> Environment {
    let home = [("HOME", "/home/me")];
    let variables = variables.iter().chain(&home);
    variables
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

/// The sites that `arpent catalogue import` reads from a file.
fn import(file: &str, environment: &Environment) -> Result<StoredSites, SettingsError> {
    let path = Path::new("sites.toml");
    StoredSites::load(Typed::of_file(path), None, environment, |asked| {
        assert_eq!(asked, path, "no secret is read");
        Ok(file.to_owned().into())
    })
}

/// The sites that `arpent catalogue add` reads from its arguments and a file.
fn add(arguments: &[&str], file: &str) -> Result<StoredSites, SettingsError> {
    let line = [&["arpent", "catalogue", "add"], arguments].concat();
    let Command::Catalogue(CatalogueArgs {
        action: CatalogueAction::Add(args),
        ..
    }) = Args::try_parse_from(line).unwrap().command
    else {
        panic!("`arpent catalogue add` was typed");
    };
    let typed = args.typed(&Typed::of_file(Path::new("sites.toml")));
    let name = args.name.as_deref();
    StoredSites::load(typed, name, &variables(&[]), |_| Ok(file.to_owned().into()))
}

/// The problems of a file with one site in a catalogue, one a line.
fn check_refused(table: &str, environment: &[(&str, &str)], expected: &str) {
    let file =
        format!("[[site]]\nurl = \"https://a.example/\"\noutput.output = \"s3://sets/a\"\n{table}");
    let error = import(&file, &variables(environment)).unwrap_err();
    assert_eq!(error.to_string(), expected, "{table}");
}

#[test]
fn stored_text_gives_the_same_site() {
    let environment = variables(&[
        ("SHOP", "user:password"),
        ("SHOP_HEADER", "Cookie: a=b"),
        ("ARPENT_MAX_DEPTH", "7"),
    ]);
    let crawled = CrawlSettings::load(
        Purpose::Crawl,
        Typed::of_file(Path::new("sites.toml")),
        &environment,
        |_| Ok(TWO.to_owned().into()),
    )
    .unwrap();
    let stored = import(TWO, &environment).unwrap();
    assert_eq!(stored.warnings, [""; 0]);
    assert_eq!(stored.sites.len(), 2);
    // Of these variables a worker takes the secrets alone.
    let of_worker = variables(&[
        ("SHOP", "user:password"),
        ("SHOP_HEADER", "Cookie: a=b"),
        ("ARPENT_OUTPUT", "s3://one-for-all"),
        ("ARPENT_RATE", "100"),
    ]);
    for (before, stored) in crawled.sites.iter().zip(&stored.sites) {
        let state = Path::new("/srv/state");
        let text = &stored.settings;
        let after = site_of_text(&stored.name, text, state, &of_worker)
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!((&after.name, &stored.name), (&before.name, &before.name));
        assert_eq!(after.start, before.start);
        assert_eq!(
            format!("{:?} {:?}", after.schedule, stored.schedule),
            format!("{0:?} {0:?}", before.schedule)
        );
        assert_eq!(after.settings.state, state);
        let config = |site: &SiteSettings| {
            let mut config = site.settings.config.clone();
            config.publish.public_url = None;
            format!("{config:#?}")
        };
        assert_eq!(config(&after), config(before));
        let places = |site: &SiteSettings| {
            let foreseen = site.foreseen();
            let storage = site.settings.storage_of(&foreseen.written().name());
            (storage, site.settings.public_url_of(&foreseen).unwrap())
        };
        assert_eq!(places(&after), places(before));
        assert_eq!(places(&after).0.as_ref(), Some(&stored.output));
        // A text is a settings file like any other.
        let again = import(text, &variables(&[])).unwrap();
        assert_eq!(&again.sites[0].settings, text);
    }
    assert_eq!(stored.sites[0].output, "s3://sets/all/https_a.example");
    assert_eq!(stored.sites[0].host.as_str(), "a.example");
}

#[test]
fn a_text_has_what_counts_for_the_site() {
    let stored = import(TWO, &variables(&[("ARPENT_MAX_DEPTH", "7")])).unwrap();
    assert_eq!(
        stored.sites[1].settings,
        r#"[[site]]
jitter = "10m"
name = "http_b.example_8080_docs"
schedule = "30 2 * * *"
time_zone = "Europe/Paris"
url = "http://b.example:8080/docs/"

[site.limits]
max_depth = "7"
max_pages = 1000

[site.notify]
ping = ["https://ping.example/?sitemap={sitemap}"]

[site.output]
changefreq = ["/news/*=daily"]
min_section = 100
no_gzip = true
output = "gs://docs"
public_url = "https://maps.example/b.example/"

[[site.page_rule]]
action = "exclude"
pages = "*"
selector = ".sold-out"

[site.politeness]
delay = "2s"
rate = 0.5
"#
    );
}

#[test]
fn added_site_has_the_settings_of_crawls() {
    let stored = add(
        &["https://c.example/", "--schedule", "@hourly"],
        "[output]\noutput = \"s3://sets\"\n[[site]]\nurl = \"https://a.example/\"",
    );
    let [site] = &stored.unwrap().sites[..] else {
        panic!("one site was named")
    };
    assert_eq!(
        (&*site.name, &*site.output),
        ("https_c.example", "s3://sets/https_c.example")
    );
    assert_eq!(site.schedule.as_ref().unwrap().text(), "@hourly UTC");
    let line = ["a.example", "--name", "shop", "-o", "s3://sets/shop/"];
    let stored = add(&line, TWO).unwrap();
    let [site] = &stored.sites[..] else {
        panic!("one site was named")
    };
    assert_eq!((&*site.name, &*site.output), ("shop", "s3://sets/shop"));
    assert!(site.settings.contains("exclude"), "{}", site.settings);
}

#[test]
fn shared_output_has_folders_of_sites() {
    fn check(found: Result<StoredSites, SettingsError>, expected: &str) {
        let [site] = &found.unwrap().sites[..] else {
            panic!("there is one site")
        };
        assert_eq!(site.output, expected);
    }
    let site = "[[site]]\nname = \"a\"\nurl = \"https://a.example/\"\n";
    let shared = "[output]\noutput = \"s3://sets\"\npublic_url = \"https://sets.example/\"\n";
    let none = variables(&[]);
    let of_variable = variables(&[("ARPENT_OUTPUT", "s3://sets")]);
    let expected = "s3://sets/https_a.example";
    check(import(&format!("{shared}{site}"), &none), expected);
    check(import(site, &of_variable), expected);
    let url = format!("urls = [\"https://a.example/\"]\n{shared}");
    check(import(&url, &none), expected);
    check(add(&["https://a.example/"], shared), expected);
    let own = format!("{shared}{site}output.output = \"s3://own\"");
    check(import(&own, &none), "s3://own");
    check(
        add(&["a.example", "--output", "s3://own"], shared),
        "s3://own",
    );
    let text = &import(&url, &none).unwrap().sites[0].settings;
    let public_url = "public_url = \"https://sets.example/https_a.example/\"";
    assert!(text.contains(public_url), "{text}");
}

#[test]
fn a_secret_is_stored_as_a_reference_only() {
    let refused = |place: &str| {
        format!(
            "{place}: a catalogue stores no secret; expected the place of the secret on the machines of the workers, {{ variable = \
             \"...\" }} or {{ file = \"...\" }}"
        )
    };
    for (name, value) in [
        ("basic_auth", "\"user:password\""),
        ("bearer_token", "\"token\""),
        ("header", "[\"Accept: */*\", \"Cookie: a=b\"]"),
        ("proxy", "\"http://user:password@proxy.example:3128\""),
    ] {
        let table = format!("requests.{name} = {value}");
        check_refused(&table, &[], &refused(&format!("sites.toml:4: {name}")));
    }
    check_refused(
        "notify.hook_url = [\"https://hook.example/secret\"]",
        &[],
        &refused("sites.toml:4: hook_url"),
    );
    check_refused(
        "",
        &[("ARPENT_BEARER_TOKEN", "token")],
        &refused("ARPENT_BEARER_TOKEN"),
    );
    check_refused(
        "requests.bearer_token = { variabel = \"TOKEN\" }",
        &[],
        "sites.toml:4: bearer_token: expected text, or one of { file = \"...\" }, { credential = \"...\" } and { variable = \"...\" }, \
         found variabel; did you mean variable?",
    );
}

#[test]
fn credentials_are_not_given_to_several_sites() {
    let error = import(
        "output.output = \"s3://sets\"\nurls = [\"https://a.example/\", \"https://b.example/\"]\n\
         requests.header = [{ file = \"/etc/header\" }]",
        &variables(&[]),
    );
    assert_eq!(
        error.unwrap_err().to_string(),
        "sites.toml:3: header: several sites would get these credentials; write them into the table [[site]] of one site"
    );
}

#[test]
fn a_folder_is_no_output_of_a_fleet() {
    let error = import(
        "urls = [\"https://a.example/\", \"https://b.example/\"]\n[output]\noutput = \"/srv/sets\"",
        &variables(&[]),
    );
    let refused = |name: &str| {
        format!(
            "sites.toml:3: output: /srv/sets/https_{name} of https://{name}/ is a folder of one machine, and any worker may publish \
             the site; expected a bucket, such as s3://BUCKET/https_{name}"
        )
    };
    assert_eq!(
        error.unwrap_err().to_string(),
        format!("{}\n{}", refused("a.example"), refused("b.example"))
    );
    let error = import(
        "urls = [\"https://a.example/\", \"https://b.example/\"]",
        &variables(&[]),
    );
    assert_eq!(
        error.unwrap_err().to_string(),
        "output: not set; a fleet needs a bucket, such as s3://BUCKET/PREFIX"
    );
}

#[test]
fn a_text_has_one_site() {
    let read = |text: &str| {
        let site = site_of_text("shop", text, Path::new("/state"), &variables(&[]));
        site.unwrap_err().to_string()
    };
    let found = "site shop of the catalogue:1: site: expected one table [[site]], found";
    assert_eq!(
        read("[[site]]\nurl = \"https://a.example/\"\n[[site]]\nurl = \"https://b.example/\""),
        format!("{found} 2")
    );
    assert_eq!(
        read("[[site]]\nurl = \"https://a.example/\"\nlimits.max_pages = 0"),
        "site shop of the catalogue:3: max_pages: expected a whole number, 1 or more, found 0"
    );
}
