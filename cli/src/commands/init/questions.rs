//! Questions to the user, each with its default: an empty line takes it.

use std::{
    io::BufRead,
    path::{Path, PathBuf},
};

use crawler::url_key::{Identity, UrlKey};
use jiff::civil::Time;

use super::absolute;
use crate::{
    failure::{self, Misuse},
    output::Output,
    settings::{self, value::Value},
};

/// Facts that only the user knows.
#[derive(Debug, Clone)]
pub(super) struct Answers {
    /// The URL where the crawl begins.
    pub(super) start: UrlKey,
    /// URL or mail address of the user; empty: none.
    pub(super) contact: String,
    /// Folder of the sitemaps, absolute.
    pub(super) output: PathBuf,
    /// The URL where that folder is served, with a slash at its end.
    pub(super) public_url: UrlKey,
    /// Time of the daily crawl.
    pub(super) time: Time,
}

/// Asks for all of them.
///
/// # Errors
/// Standard input cannot be read, or a default cannot be used and no answer came.
pub(super) fn ask_all(
    defaults: &Answers,
    input: &mut dyn BufRead,
    output: &Output,
) -> failure::Result<Answers> {
    let mut dialogue = Dialogue { input, output };
    let start = dialogue.until(
        "Start URL, or a path for a part of the site",
        defaults.start.as_str(),
        |typed| start_of(&defaults.start, typed),
    )?;
    let contact = dialogue.until(
        "Contact, a URL or mail address for the operator of the site",
        &defaults.contact,
        contact_of,
    )?;
    let folder = dialogue.until(
        "Folder of the sitemaps",
        &defaults.output.display().to_string(),
        |typed| absolute(Path::new(typed)).map_err(|error| error.to_string()),
    )?;
    let public_url = dialogue.until(
        "URL where that folder is served",
        start.to_directory().as_str(),
        |typed| public_url_of(&start, typed),
    )?;
    let default = defaults.time.strftime("%H:%M").to_string();
    let time = dialogue.until("Time of the daily crawl (local time)", &default, |typed| {
        let time = Time::strptime("%H:%M", typed);
        time.map_err(|_| "expected a time of day such as 02:30".to_owned())
    })?;
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
    ) -> failure::Result<T> {
        loop {
            self.output.question(&format!("{question} [{default}]: "));
            let mut line = String::new();
            let is_end = self.input.read_line(&mut line)? == 0;
            let typed = Some(line.trim()).filter(|typed| !typed.is_empty());
            match read(typed.unwrap_or(default)) {
                Ok(answer) => return Ok(answer),
                Err(problem) if is_end => return Err(Misuse(problem).into()),
                Err(problem) => self.output.warn(&problem),
            }
        }
    }
}

/// A URL of the site, or a path of it.
fn start_of(site: &UrlKey, typed: &str) -> Result<UrlKey, String> {
    let origin = site.origin();
    let url = match typed.strip_prefix('/') {
        Some(path) => format!("{origin}/{path}"),
        None => typed.to_owned(),
    };
    let url = Identity::default().parse(&url);
    let url = url.ok().filter(|url| url.is_on(&origin));
    url.ok_or_else(|| format!("expected a URL of {origin}, or a path that begins with /"))
}

/// As the setting `contact` takes it.
fn contact_of(typed: &str) -> Result<String, String> {
    let contact = settings::contact(&Value::Text(typed.to_owned()));
    let contact = contact.map_err(|wrong| wrong.message)?;
    Ok(contact.unwrap_or_default())
}

/// A sitemap lists what is below its own directory only, or is of another origin (R58).
fn public_url_of(start: &UrlKey, typed: &str) -> Result<UrlKey, String> {
    let url = settings::directory(typed);
    let url = url.ok_or_else(|| format!("expected {}", settings::DIRECTORY_FORM))?;
    let directory = start.to_directory();
    if url.is_on(&start.origin()) && !directory.path().starts_with(url.path()) {
        return Err(format!(
            "a sitemap lists only what is below its own directory: expected {directory}, a directory above it, or another host"
        ));
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use jiff::civil::time;

    use super::*;
    use crate::settings::Environment;

    fn answered(typed: &str) -> Answers {
        let site = UrlKey::from_normalised("https://h.example/").unwrap();
        let defaults = Answers {
            start: site.clone(),
            contact: String::new(),
            output: PathBuf::from("/srv/sitemaps"),
            public_url: site,
            time: time(2, 30, 0, 0),
        };
        let output = Output::new(&Environment::new(), crate::args::ColorChoice::Never);
        output.be_quiet();
        ask_all(&defaults, &mut typed.as_bytes(), &output).unwrap()
    }

    #[test]
    fn empty_lines_take_the_defaults() {
        for typed in ["", "\n\n\n\n\n"] {
            let answers = answered(typed);
            assert_eq!(answers.start.as_str(), "https://h.example/");
            assert_eq!(answers.output, Path::new("/srv/sitemaps"));
            assert_eq!(answers.public_url.as_str(), "https://h.example/");
            assert_eq!(answers.time, time(2, 30, 0, 0));
        }
        let answers = answered("/docs/\n");
        assert_eq!(answers.public_url.as_str(), "https://h.example/docs/");
    }

    #[test]
    fn unusable_answer_is_asked_for_again() {
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
        assert_eq!(answers.public_url.as_str(), "https://maps.example/");
        assert_eq!(answers.time, time(4, 5, 0, 0));
    }
}
