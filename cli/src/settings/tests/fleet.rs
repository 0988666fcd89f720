//! Settings of daemons that share sites.

use super::*;

fn fleet(file: &str) -> Result<Fleet, SettingsError> {
    load(&[URL], &[], Some(file)).map(|settings| settings.fleet)
}

#[test]
fn times_of_a_fleet_have_bounds() {
    fn check(setting: &str, value: &str, expected: Result<u64, &str>) {
        let found = fleet(&format!("[testing]\n{setting} = {value}"));
        let found = found.map(|fleet| match setting {
            "lease_time" => fleet.lease_time.as_secs(),
            _ => fleet.checkpoint_interval.as_secs(),
        });
        let expected = expected.map_err(|expected| {
            format!("config.toml:2: {setting}: expected {expected}, found {value}")
        });
        assert_eq!(found.map_err(|error| error.to_string()), expected);
    }
    check("lease_time", "\"2s\"", Ok(2));
    check("lease_time", "\"1h\"", Ok(3_600));
    check("lease_time", "\"1s\"", Err("a duration from 2s to 1h"));
    check("lease_time", "\"61m\"", Err("a duration from 2s to 1h"));
    check("checkpoint_interval", "1", Ok(1));
    check("checkpoint_interval", "\"1d\"", Ok(86_400));
    check("checkpoint_interval", "0", Err("a duration from 1s to 24h"));
    check(
        "checkpoint_interval",
        "\"25h\"",
        Err("a duration from 1s to 24h"),
    );
}

#[test]
fn the_url_of_a_catalogue_is_never_shown() {
    let url = "postgres://arpent:secret@db.example/arpent";
    let found = fleet(&format!("[fleet]\ncatalogue = \"{url}\"")).unwrap();
    assert_eq!(found.catalogue.as_deref(), Some(url));
    assert!(!format!("{found:?}").contains("secret"), "{found:?}");
    check_file(
        "[fleet]\ncatalogue = \"mysql://arpent:secret@db.example/arpent\"",
        "config.toml:2: catalogue: expected the URL of a database, postgres://USER@HOST/DATABASE",
    );
    let found = load(
        &[URL],
        &[("DATABASE", url)],
        Some("[fleet]\ncatalogue = { variable = \"DATABASE\" }"),
    );
    assert_eq!(found.unwrap().fleet.catalogue.as_deref(), Some(url));
}

#[test]
fn a_worker_needs_no_site() {
    let load = |file: &'static str| {
        CrawlSettings::load(
            Purpose::Worker,
            Typed::of_file(Path::new("worker.toml")),
            &[("HOME".to_owned(), "/home/me".to_owned())].into(),
            |_| Ok(file.to_owned().into()),
        )
    };
    let alone = load("max_sites = 7\n[fleet]\ncatalogue = \"postgres://db.example/arpent\"");
    let alone = alone.unwrap();
    assert_eq!((alone.sites.len(), alone.max_sites), (0, 7));
    assert_eq!(alone.shared.warnings, [""; 0]);
    assert!(alone.shared.fleet.catalogue.is_some());
    for with_sites in [
        "urls = [\"https://a.example/\"]",
        "[[site]]\nurl = \"https://a.example/\"",
    ] {
        let found = load(with_sites).unwrap();
        assert_eq!(found.sites.len(), 0);
        let [warning] = found.shared.warnings.as_slice() else {
            panic!("{:?}", found.shared.warnings)
        };
        assert!(warning.contains("are not crawled"), "{warning}");
    }
    let wrong = load("[fleet]\nlease_time = 1").unwrap_err();
    assert!(wrong.to_string().contains("lease_time"), "{wrong}");
}

#[test]
fn states_of_a_fleet_are_in_object_storage() {
    let check = |value: &str, expected: Option<&str>| {
        let found = fleet(&format!("[fleet]\nstorage = \"{value}\""));
        let found = found.ok().and_then(|fleet| fleet.storage);
        let expected = expected.filter(|_| cfg!(feature = "cloud"));
        assert_eq!(found.as_deref(), expected, "{value}");
    };
    check("s3://states/fleet/", Some("s3://states/fleet"));
    check("gs://states", Some("gs://states"));
    check("/srv/states", None);
    check("s3://user@states/", None);
    check("", None);
}
