//! The files that `arpent init` writes: settings, a part of the web server's configuration, a schedule. `templates` has their
//! texts, with names in braces in the places of values.

use std::{fs, path::Path};

use crawler::{
    config::{Config, FetchConfig, Rate, ScopeWidth},
    site::settle_so_far,
    survey::Survey,
};
use serde_json::{Value, json};

use super::questions::Answers;
use crate::{
    args::{InitArgs, Scheduler, Server},
    failure::Unwritable,
    settings::{Environment, is_secret_header},
};

/// The settings file.
pub(super) const SETTINGS: &str = "arpent.toml";

/// The comment in the place of secrets.
const NOT_WRITTEN: &str = "\
# arpent init does not write passwords, tokens, cookies, and headers of variables and files. The crawl needs them, too. Set
# ARPENT_BASIC_AUTH or ARPENT_BEARER_TOKEN for the crawl, or name files that only arpent can read:
# basic_auth = { file = \"/etc/arpent/site-auth\" }
# header = [\"Accept-Language: fr\", { file = \"/etc/arpent/site-header\" }]
# proxy = { file = \"/etc/arpent/proxy\" }
";

/// Sources of the files.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan<'a> {
    pub(super) args: &'a InitArgs,
    /// The folder of the files.
    pub(super) folder: &'a Path,
    pub(super) survey: &'a Survey,
    /// The folder of the states, where it was typed.
    pub(super) state: Option<&'a Path>,
    pub(super) answers: &'a Answers,
    /// The settings of the requests of the survey.
    pub(super) config: &'a Config,
    pub(super) environment: &'a Environment,
}

/// Refuses to replace files, unless the arguments force that.
///
/// # Errors
/// One of them exists.
pub(super) fn refuse_existing(
    args: &InitArgs,
    folder: &Path,
    names: &[&str],
) -> Result<(), Unwritable> {
    let mut paths = names.iter().map(|name| folder.join(name));
    match paths.find(|path| !args.force && path.symlink_metadata().is_ok()) {
        Some(path) => Err(Unwritable(format!(
            "{} exists and is not replaced; --force replaces it, -o DIR writes into another folder",
            path.display()
        ))),
        None => Ok(()),
    }
}

/// The name and the template of the part of the server's configuration. A file `.xml.gz` has the type `application/gzip` and no
/// `Content-Encoding`, with which a client would unpack it on the way.
pub(super) fn server(server: Server) -> (&'static str, &'static str) {
    match server {
        Server::Nginx => ("arpent-nginx.conf", include_str!("templates/nginx.conf")),
        Server::Apache => ("arpent-apache.conf", include_str!("templates/apache.conf")),
    }
}

impl Plan<'_> {
    /// Writes all files; returns their paths: the settings, the part for the server, the schedule last.
    ///
    /// # Errors
    /// One of them exists, unless the arguments force it, or cannot be written.
    pub(super) fn write(&self) -> Result<Vec<String>, Unwritable> {
        let unit = self.unit();
        let [service, timer] = ["service", "timer"].map(|kind| format!("{unit}.{kind}"));
        let mut files = vec![
            (SETTINGS, include_str!("templates/arpent.toml")),
            server(self.args.server),
        ];
        match self.args.schedule {
            Scheduler::Systemd => files.extend([
                (&*service, include_str!("templates/arpent.service")),
                (&*timer, include_str!("templates/arpent.timer")),
            ]),
            Scheduler::Cron => {
                files.push(("arpent.crontab", include_str!("templates/arpent.crontab")));
            }
        }
        let names: Vec<_> = files.iter().map(|(name, _)| *name).collect();
        refuse_existing(self.args, self.folder, &names)?;
        let failed = |path: &Path, error: std::io::Error| {
            Unwritable(format!(
                "failed to write {}: {error}; -o DIR writes into another folder",
                path.display()
            ))
        };
        fs::create_dir_all(self.folder).map_err(|error| failed(self.folder, error))?;
        let values = self.values(&unit);
        let written = files.into_iter().map(|(name, template)| {
            let path = self.folder.join(name);
            let mut text = template.to_owned();
            for (name, value) in &values {
                text = text.replace(name, value);
            }
            fs::write(&path, text).map_err(|error| failed(&path, error))?;
            Ok(path.display().to_string())
        });
        written.collect()
    }

    /// The values of the names in the templates. Those that hold text of the user come last.
    fn values(&self, unit: &str) -> [(&'static str, String); 18] {
        let (answers, time) = (self.answers, self.answers.time);
        let (start, public_url) = (&answers.start, &answers.public_url);
        let user = self.environment.get("USER");
        let program = std::env::current_exe().unwrap_or_else(|_| "/usr/local/bin/arpent".into());
        let (program, folder) = (program.display(), self.folder.display());
        let output = answers.output.display().to_string();
        let crawl_delay = (self.survey.robots.crawl_delay_s).map_or("none".to_owned(), |delay| {
            format!("{delay} s between two requests")
        });
        let politeness = &self.config.politeness;
        let rate = match politeness.rate {
            Rate::PerSecond(rate) => rate.to_string(),
            Rate::Unlimited => "\"unlimited\"".to_owned(),
        };
        let delay = politeness
            .delay
            .map(|delay| format!("{}ms", delay.as_millis()));
        [
            ("{state}", self.state()),
            ("{crawl_delay}", crawl_delay),
            ("{rate}", rate),
            ("{delay}", lines([("delay", json!(delay))])),
            ("{site}", start.to_directory().to_string()),
            ("{start}", start.to_string()),
            ("{public_url}", public_url.to_string()),
            ("{host}", public_url.host_str().to_owned()),
            ("{path}", pattern_of(public_url.path())),
            ("{hour}", time.hour().to_string()),
            ("{minute}", time.minute().to_string()),
            ("{unit}", unit.to_owned()),
            ("{user}", user.map_or("root", |user| user).to_owned()),
            ("{folder}", folder.to_string()),
            (
                "{command}",
                format!("\"{program}\" crawl -c \"{folder}/{SETTINGS}\""),
            ),
            ("{output_text}", Value::from(&*output).to_string()),
            ("{output}", output),
            ("{requests}", self.requests()),
        ]
    }

    /// The folder of the states, where it was typed.
    fn state(&self) -> String {
        self.state.map_or_else(String::new, |folder| {
            let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
            let folder = Value::from(folder.display().to_string());
            format!("\n[output]\n# Folder of the states.\nstate = {folder}\n")
        })
    }

    /// Settings of the requests of this survey that the crawl needs as well, without secrets: every user of the machine may read
    /// the file.
    fn requests(&self) -> String {
        let fetch = &self.config.fetch;
        let own_agent = FetchConfig::default().user_agent;
        let agent = Some(&fetch.user_agent).filter(|agent| !agent.starts_with(&own_agent));
        let contact = Some(&self.answers.contact).filter(|contact| !contact.is_empty());
        // Headers of a file or of a variable may be secret, whatever their names.
        let typed = self.args.settings.0.texts("header");
        let headers = typed.filter(|header| {
            let name = header.split(':').next().unwrap_or_default().trim_ascii();
            !is_secret_header(name)
        });
        let headers: Vec<_> = headers.collect();
        let fixed = fetch.resolve.iter();
        let fixed = fixed.map(|fixed| format!("{}:{}:{}", fixed.host, fixed.port, fixed.address));
        let proxy = fetch.proxy.as_ref().filter(|proxy| !proxy.contains('@'));
        let ca_file = fetch.ca_file.as_ref();
        let ca_file = ca_file.map(|file| file.display().to_string());
        let is_complete = fetch.credentials.is_none()
            && headers.len() == fetch.headers.len()
            && proxy == fetch.proxy.as_ref();
        let lines = lines([
            ("contact", json!(contact)),
            ("user_agent", json!(agent)),
            ("header", json!(headers)),
            ("resolve", json!(fixed.collect::<Vec<_>>())),
            ("proxy", json!(proxy)),
            ("ca_file", json!(ca_file)),
        ]);
        if is_complete {
            lines
        } else {
            lines + NOT_WRITTEN
        }
    }

    /// The name of the units of systemd, such as `arpent-www.example.com_docs`: the name of the site, without the characters that
    /// systemd does not allow.
    fn unit(&self) -> String {
        let name = settle_so_far(&self.answers.start, &[], ScopeWidth::Directory).name();
        let name = name.split_once('_').map_or(&*name, |(_scheme, name)| name);
        format!("arpent-{}", name.replace(['=', '+'], "-"))
    }
}

/// Settings as lines of TOML, without those that have no value. A string, a number or a list is written as in JSON.
fn lines<const N: usize>(settings: [(&str, Value); N]) -> String {
    let is_set = |value: &Value| !value.is_null() && *value != json!([]);
    let settings = settings.into_iter().filter(|(_, value)| is_set(value));
    let lines = settings.map(|(name, value)| format!("{name} = {value}\n"));
    lines.collect()
}

/// The path of a URL as a regular expression. Servers compare it with the decoded path, byte by byte: an escape matches any byte.
fn pattern_of(path: &str) -> String {
    let mut pattern = String::new();
    let mut rest = path.chars();
    while let Some(letter) = rest.next() {
        if letter == '%' {
            rest.nth(1);
        }
        let is_literal = letter.is_ascii_alphanumeric() || "/-_~".contains(letter);
        pattern.push(if is_literal { letter } else { '.' });
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_becomes_a_pattern() {
        assert_eq!(pattern_of("/"), "/");
        assert_eq!(pattern_of("/v1.2/caf%C3%A9/a+b/"), "/v1.2/caf../a.b/");
    }
}
