//! Settings from their three places, as one table of cases each.

#[cfg(feature = "catalogue")]
mod catalogue;
mod entries;
mod files;
mod fleet;
mod layers;
mod places;
mod problems;
mod secrets;
mod sites;
mod values;

use std::{collections::BTreeSet, io};

use clap::Parser as _;
use crawler::{
    config::{
        Credentials, ElementValue, Extensions, Format, Namespace, NamespaceElement, PageAction,
        PageRule, Rate, ScopeWidth,
    },
    site::site_of_redirects,
    url_key::UrlKey,
};

use super::{
    merge::default_state_folder,
    table::{Setting, TABLES},
    *,
};
use crate::args::{Args, Command};

/// Settings of all sites, loaded from arguments after `arpent crawl`, variables and a file `config.toml`.
fn load(
    arguments: &[&str],
    variables: &[(&str, &str)],
    file: Option<&str>,
) -> Result<Settings, SettingsError> {
    load_sites(arguments, variables, file).map(|settings| settings.shared)
}

/// The same with the sites.
fn load_sites(
    arguments: &[&str],
    variables: &[(&str, &str)],
    file: Option<&str>,
) -> Result<CrawlSettings, SettingsError> {
    let mut line = vec!["arpent", "crawl"];
    line.extend(arguments);
    if file.is_some() {
        line.extend(["--config", "config.toml"]);
    }
    let Command::Crawl(args) = Args::try_parse_from(line).unwrap().command else {
        panic!("`arpent crawl` was typed");
    };
    let home = if cfg!(windows) {
        ("LOCALAPPDATA", "C:\\home")
    } else {
        ("HOME", "/home/me")
    };
    let environment = variables
        .iter()
        .chain([&home])
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    CrawlSettings::load(
        Purpose::Crawl,
        args.typed(),
        &environment.collect(),
        |path| match file {
            Some(text) if path == Path::new("config.toml") => Ok(text.to_owned().into()),
            Some(_) if path.starts_with("/credentials") => Ok("user:pass word\n".to_owned().into()),
            Some(_) | None => Err(io::Error::from(io::ErrorKind::NotFound)),
        },
    )
}

fn good(arguments: &[&str], variables: &[(&str, &str)], file: Option<&str>) -> Settings {
    load(arguments, variables, file).unwrap_or_else(|error| panic!("{error}"))
}

const URL: &str = "https://example.com/";

/// The problems of a file, one a line.
fn check_file(file: &str, expected: &str) {
    let error = load(&[URL], &[], Some(file)).unwrap_err();
    assert_eq!(error.to_string(), expected, "{file}");
}

fn config_file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../config")
        .join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
