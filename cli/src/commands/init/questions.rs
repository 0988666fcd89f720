//! Questions to the user, each with its default: an empty line takes it.

use std::{
    io::BufRead,
    path::{Path, PathBuf},
};

use crawler::url_key::{Identity, UrlKey};

use super::absolute;
use crate::{
    output::Output,
    settings::{self, value::Value},
};

/// What only the user knows.
#[derive(Debug, Clone)]
pub(super) struct Answers {
    /// The URL where the crawl begins.
    pub(super) start: UrlKey,
    /// URL or mail address of the user; empty: none.
    pub(super) contact: String,
    /// Folder of the sitemaps, absolute.
    pub(super) output: PathBuf,
    /// The URL where that folder is served, with a slash at its end.
    pub(super) public_url: String,
    /// Hour and minute of the daily crawl.
    pub(super) time: (u8, u8),
}

/// Asks for all of them.
///
/// # Errors
/// Standard input cannot be read.
pub(super) fn ask(
    defaults: Answers,
    input: &mut dyn BufRead,
    output: &Output,
) -> anyhow::Result<Answers> {
    let mut dialogue = Dialogue { input, output };
    let default = defaults.start.to_string();
    let start = dialogue.until(
        "Start URL, or a path for a part of the site",
        &default,
        |typed| start_of(&defaults.start, typed),
    )?;
    let contact = "Contact, a URL or mail address for the operator of the site";
    let contact = dialogue.until(contact, &defaults.contact, contact_of)?;
    let default = defaults.output.display().to_string();
    let folder = dialogue.until("Folder of the sitemaps", &default, folder_of)?;
    // The directory of another start URL is another place.
    let default = if start == defaults.start {
        defaults.public_url
    } else {
        start.to_directory().to_string()
    };
    let public_url = dialogue.until("URL where that folder is served", &default, |typed| {
        public_url_of(&start, typed)
    })?;
    let (hour, minute) = defaults.time;
    let default = format!("{hour:02}:{minute:02}");
    let time = dialogue.until("Time of the daily crawl", &default, time_of)?;
    Ok(Answers {
        start,
        contact,
        output: folder,
        public_url,
        time,
    })
}

/// The way to the user.
struct Dialogue<'a> {
    input: &'a mut dyn BufRead,
    output: &'a Output,
}

impl Dialogue<'_> {
    /// Asks until the answer can be used. At the end of the input the default counts.
    fn until<T>(
        &mut self,
        question: &str,
        default: &str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> anyhow::Result<T> {
        loop {
            self.output.question(&format!("{question} [{default}]: "));
            let mut line = String::new();
            let is_end = self.input.read_line(&mut line)? == 0;
            let typed = Some(line.trim()).filter(|typed| !typed.is_empty());
            match read(typed.unwrap_or(default)) {
                Ok(answer) => return Ok(answer),
                Err(problem) if is_end => anyhow::bail!(crate::exit_code::Misuse(problem)),
                Err(problem) => self.output.warn(&problem),
            }
        }
    }
}

/// A URL of the site, or a path of it.
fn start_of(site: &UrlKey, typed: &str) -> Result<UrlKey, String> {
    let url = if typed.starts_with('/') {
        format!("{}{typed}", site.origin())
    } else {
        typed.to_owned()
    };
    match Identity::default().parse(&url) {
        Ok(url) if url.origin() == site.origin() => Ok(url),
        Ok(_) | Err(_) => Err(format!(
            "expected a URL of {}, or a path that begins with /",
            site.origin()
        )),
    }
}

/// As the setting `contact` takes it.
fn contact_of(typed: &str) -> Result<String, String> {
    let read = settings::contact(&Value::Text(typed.to_owned()));
    let contact = read.map_err(|wrong| wrong.message)?;
    Ok(contact.unwrap_or_default())
}

fn folder_of(typed: &str) -> Result<PathBuf, String> {
    absolute(Path::new(typed)).map_err(|error| error.to_string())
}

/// A sitemap lists what is below its own directory only, or is of another origin (R58).
fn public_url_of(start: &UrlKey, typed: &str) -> Result<String, String> {
    let url = settings::directory(typed);
    let url = url.ok_or_else(|| format!("expected {}", settings::DIRECTORY_FORM))?;
    let directory = start.to_directory();
    if url.origin() == directory.origin() && !directory.path().starts_with(url.path()) {
        return Err(format!(
            "a sitemap lists only what is below its own directory: expected {directory}, a directory above it, or another host"
        ));
    }
    Ok(url.to_string())
}

fn time_of(typed: &str) -> Result<(u8, u8), String> {
    let time = typed.split_once(':').and_then(|(hour, minute)| {
        let hour = hour.parse().ok().filter(|hour| *hour < 24);
        let minute = minute.parse().ok().filter(|minute| *minute < 60);
        hour.zip(minute)
    });
    time.ok_or_else(|| "expected a time of day such as 02:30".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Environment;

    fn answered(typed: &str) -> Answers {
        let defaults = Answers {
            start: UrlKey::from_normalised("https://h.example/").unwrap(),
            contact: String::new(),
            output: PathBuf::from("/srv/sitemaps"),
            public_url: "https://h.example/".to_owned(),
            time: (2, 30),
        };
        let output = Output::new(&Environment::new(), crate::args::ColorChoice::Never);
        output.be_quiet();
        ask(defaults, &mut typed.as_bytes(), &output).unwrap()
    }

    #[test]
    fn empty_lines_take_the_defaults() {
        let answers = answered("\n\n\n\n\n");
        assert_eq!(answers.start.as_str(), "https://h.example/");
        assert_eq!(answers.output, Path::new("/srv/sitemaps"));
        assert_eq!(answers.time, (2, 30));
        assert_eq!(answered("").public_url, "https://h.example/");
    }

    #[test]
    fn an_answer_that_cannot_be_used_is_asked_for_again() {
        let answers = answered(concat!(
            "https://other.example/\n/docs/\n",
            "me@h.example\n",
            "/srv/a$b\n/srv/maps\n",
            "https://h.example/blog\nhttps://maps.example\n",
            "25:00\n4:05\n",
        ));
        assert_eq!(answers.start.as_str(), "https://h.example/docs/");
        assert_eq!(answers.contact, "me@h.example");
        assert_eq!(answers.output, Path::new("/srv/maps"));
        assert_eq!(answers.public_url, "https://maps.example/");
        assert_eq!(answers.time, (4, 5));
    }

    #[test]
    fn the_public_url_follows_the_start() {
        let answers = answered("/docs/\n\n\n\n\n");
        assert_eq!(answers.public_url, "https://h.example/docs/");
    }
}
