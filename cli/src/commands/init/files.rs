//! The files that `arpent init` writes: settings, a part of the web server's configuration, a schedule.

use std::{
    fs::{self, OpenOptions},
    io::Write as _,
    path::{Path, PathBuf},
    time::Duration,
};

use crawler::{
    config::{Config, FetchConfig, Rate},
    survey::Survey,
    url_key::UrlKey,
};
use serde_json::Value;

use super::{questions::Answers, server};
use crate::{
    args::{InitArgs, Scheduler, Server},
    exit_code::Unwritable,
    settings::Environment,
};

/// The settings file.
pub(super) const SETTINGS: &str = "arpent.toml";

/// For a crawl that takes longer than this, the file shows how to use several nights.
const LONG: Duration = Duration::from_secs(8 * 60 * 60);

/// What the files are made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Files<'a> {
    /// The folder of the files.
    pub(super) folder: &'a Path,
    pub(super) survey: &'a Survey,
    pub(super) answers: &'a Answers,
    /// The settings of the requests of the survey.
    pub(super) config: &'a Config,
    pub(super) environment: &'a Environment,
}

/// The names of the files for these arguments.
pub(super) fn names(args: &InitArgs) -> Vec<&'static str> {
    let server = match args.server {
        Server::Nginx => "arpent-nginx.conf",
        Server::Apache => "arpent-apache.conf",
    };
    let schedule: &[&str] = match args.schedule {
        Scheduler::Systemd => &["arpent-crawl.service", "arpent-crawl.timer"],
        Scheduler::Cron => &["arpent.crontab"],
    };
    [&[SETTINGS, server], schedule].concat()
}

impl Files<'_> {
    /// Writes all files; returns their paths.
    ///
    /// # Errors
    /// One of them exists, unless the arguments force it, or cannot be written.
    pub(super) fn write(&self, args: &InitArgs) -> anyhow::Result<Vec<PathBuf>> {
        let public_url = UrlKey::from_normalised(&self.answers.public_url)?;
        let mut texts = vec![
            self.settings(),
            server::snippet(args.server, &self.answers.output, &public_url),
        ];
        match args.schedule {
            Scheduler::Systemd => texts.extend([self.service(), self.timer()]),
            Scheduler::Cron => texts.push(self.crontab()),
        }
        let failed = |path: &Path, error: std::io::Error| {
            Unwritable(format!(
                "failed to write {}: {error}; -o DIR writes into another folder",
                path.display()
            ))
        };
        fs::create_dir_all(self.folder).map_err(|error| failed(self.folder, error))?;
        let mut paths = Vec::new();
        for (name, text) in names(args).into_iter().zip(texts) {
            let path = self.folder.join(name);
            let mut options = OpenOptions::new();
            options.write(true).truncate(args.force);
            // A file that came up meanwhile stays, too.
            let options = options.create(args.force).create_new(!args.force);
            let written = options
                .open(&path)
                .and_then(|mut file| file.write_all(text.as_bytes()));
            written.map_err(|error| failed(&path, error))?;
            paths.push(path);
        }
        Ok(paths)
    }

    /// `arpent.toml`.
    fn settings(&self) -> String {
        let Self {
            survey,
            answers,
            config,
            ..
        } = self;
        let mut toml = Toml::default();
        toml.comment(&format!(
            "Settings to crawl {}, written by arpent init: arpent crawl -c {SETTINGS}",
            self.site()
        ));
        toml.comment("What is not set here has its default: arpent crawl --help.");
        toml.text.push('\n');
        toml.comment("Where the crawl begins. The directory of this URL is crawled, and everything below it.");
        toml.set("urls", vec![answers.start.as_str()]);
        let (hour, minute) = answers.time;
        toml.comment("When arpent daemon crawls the site: minute, hour, day of month, month, day of week (UTC).");
        toml.set("schedule", format!("{minute} {hour} * * *"));

        toml.table("output");
        toml.comment("Folder of the sitemaps.");
        toml.set("output", answers.output.display().to_string());
        toml.comment("The URL where a web server serves that folder.");
        toml.set("public_url", answers.public_url.as_str());

        toml.table("politeness");
        if let Some(delay) = survey.robots.crawl_delay_s {
            toml.comment(&format!("robots.txt asks for {delay} s between two requests (Crawl-delay), which always holds."));
        }
        toml.comment(
            "Requests per second at most. arpent slows down by itself when the site is in trouble.",
        );
        match config.politeness.rate {
            Rate::PerSecond(rate) => toml.set(
                "rate",
                rate.to_string().parse::<Value>().unwrap_or_default(),
            ),
            Rate::Unlimited => toml.set("rate", "unlimited"),
        }
        if let Some(delay) = config.politeness.delay {
            toml.comment("One request at a time, each this long after the last answer.");
            toml.set("delay", format!("{}ms", delay.as_millis()));
        }

        if Duration::from_secs(survey.size.seconds) > LONG {
            toml.table("limits");
            toml.comment(
                "A crawl that is not finished after this time goes on with the next start.",
            );
            toml.set("max_time", "8h");
        }

        toml.table("requests");
        toml.comment("Where the operator of the site can reach you, a URL or a mail address: part of the User-Agent.");
        if answers.contact.is_empty() {
            toml.comment("contact = \"webmaster@example.com\"");
        } else {
            toml.set("contact", answers.contact.as_str());
        }
        self.routes(&mut toml);
        toml.text
    }

    /// Settings of the requests of this survey that the crawl needs as well.
    fn routes(&self, toml: &mut Toml) {
        let fetch = &self.config.fetch;
        let own = FetchConfig::default().user_agent;
        if !fetch.user_agent.starts_with(&own) {
            toml.comment("The User-Agent header; its first word selects the rules of robots.txt.");
            toml.set("user_agent", fetch.user_agent.as_str());
        }
        if fetch.credentials.is_some() || !fetch.headers.is_empty() {
            toml.comment("arpent init sent credentials or headers of its own, which no file of it holds. The crawl needs them too: set");
            toml.comment("ARPENT_BASIC_AUTH=user:password in its environment, or name a file that only arpent can read.");
            toml.comment("basic_auth = { file = \"/etc/arpent/site-auth\" }");
        }
        let fixed = fetch.resolve.iter();
        let fixed = fixed.map(|fixed| format!("{}:{}:{}", fixed.host, fixed.port, fixed.address));
        let fixed: Vec<_> = fixed.collect();
        if !fixed.is_empty() {
            toml.set("resolve", fixed);
        }
        let file = fetch.ca_file.as_ref();
        let file = file.map(|file| file.display().to_string());
        for (name, value) in [("proxy", fetch.proxy.clone()), ("ca_file", file)] {
            if let Some(value) = value {
                toml.set(name, value);
            }
        }
    }

    /// The directory that is crawled.
    fn site(&self) -> String {
        self.answers.start.to_directory().to_string()
    }

    /// The command of the daily crawl.
    fn command(&self) -> String {
        let program = std::env::current_exe().unwrap_or_else(|_| "/usr/local/bin/arpent".into());
        let settings = self.folder.join(SETTINGS);
        format!(
            "\"{}\" crawl -c \"{}\"",
            program.display(),
            settings.display()
        )
    }

    fn service(&self) -> String {
        let user = ["USER", "LOGNAME"]
            .iter()
            .find_map(|name| self.environment.get(*name));
        // Without a name the owner of the unit fills it in.
        let user = user.map_or("#User=arpent".to_owned(), |user| format!("User={user}"));
        let (site, command) = (self.site().replace('%', "%%"), self.command());
        format!(
            "\
# One crawl of {site}, for arpent-crawl.timer.

[Unit]
Description=arpent, sitemaps of {site}
Wants=network-online.target
After=network-online.target nss-lookup.target

[Service]
Type=oneshot
ExecStart={command}
# 3: published, but some pages failed. 130 and 143: stopped, the next start goes on.
SuccessExitStatus=3 130 143
TimeoutStartSec=36h
TimeoutStopSec=45
KillMode=mixed
# The user that the folder of the sitemaps and the state belong to.
{user}
UMask=0022
NoNewPrivileges=yes
ProtectSystem=full
PrivateTmp=yes
PrivateDevices=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
MemoryMax=1G
Nice=10
"
        )
    }

    fn timer(&self) -> String {
        let (hour, minute) = self.answers.time;
        let folder = self.folder.display();
        format!(
            "\
# Crawls each day. A day on which the machine was off is made up when it is on again.
#
#     sudo cp {folder}/arpent-crawl.service {folder}/arpent-crawl.timer /etc/systemd/system/
#     sudo systemctl daemon-reload && sudo systemctl enable --now arpent-crawl.timer

[Unit]
Description=arpent, daily sitemaps of {site}

[Timer]
OnCalendar=*-*-* {hour:02}:{minute:02}:00
RandomizedDelaySec=20min
Persistent=true

[Install]
WantedBy=timers.target
",
            site = self.site().replace('%', "%%")
        )
    }

    fn crontab(&self) -> String {
        let (hour, minute) = self.answers.time;
        let path = self.folder.join("arpent.crontab");
        format!(
            "\
# Crawls {site} each day; cron sends errors by mail. To add the line to your crontab:
#     (crontab -l; cat \"{path}\") | crontab -
{minute} {hour} * * * {command} --quiet >/dev/null
",
            site = self.site(),
            path = path.display(),
            command = self.command()
        )
    }
}

/// A text of TOML.
#[derive(Debug, Default)]
struct Toml {
    text: String,
}

impl Toml {
    fn comment(&mut self, line: &str) {
        self.text.extend(["# ", line, "\n"]);
    }

    fn table(&mut self, name: &str) {
        self.text.extend(["\n[", name, "]\n"]);
    }

    /// A setting. A string, a number or a list of strings is written in JSON as in TOML.
    fn set(&mut self, key: &str, value: impl Into<Value>) {
        let value = value.into().to_string();
        self.text.extend([key, " = ", &value, "\n"]);
    }
}
