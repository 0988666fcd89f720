//! The only file that prints. Data (summaries, help, versions) goes to stdout, messages to stderr; foreign text is escaped here,
//! on the way out, so that no caller can forget it. It computes nothing.

use std::{
    io::{self, IsTerminal as _, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tracing::{Level, Span};

use serde_json::{Map, Value};

use crawler::driver::{MessageSink, Messenger};
pub(crate) use crawler::{driver::MessageKind as Kind, view::Tone};

use crate::{
    args::ColorChoice,
    human,
    log_line::{MAX_MESSAGE, own_line, site_span, time_now},
    settings::Environment,
    untrusted::{escape, escape_json, shorten},
};

/// Columns and lines that are assumed when the terminal does not report them.
const USUAL_SIZE: (u16, u16) = (80, 24);

/// The two ways out of the process. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    shared: Arc<OutputState>,
    /// Messages are about this site.
    site: Option<Arc<str>>,
}

#[derive(Debug)]
struct OutputState {
    is_terminal: bool,
    colours: bool,
    /// Stdout takes colours.
    data_colours: bool,
    screen: Mutex<Screen>,
    /// The first failure to print data.
    lost_data: Mutex<Option<io::Error>>,
}

/// The part of the terminal below the messages.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
struct Screen {
    quiet: bool,
    /// Messages is a log of JSON.
    is_json: bool,
    /// Without a terminal each message has its time.
    is_log: bool,
    /// Messages about a site have its name.
    names_sites: bool,
    /// A summary on stdout has the notes and the objections of the guard.
    has_summary: bool,
    /// The live view as it is drawn: the cursor is at the end of its last line, so that the echo of Ctrl-C begins no line.
    live: Option<String>,
}

impl Output {
    /// Colours as `color` sets them: by default only on a terminal that can show them, and not with `NO_COLOR` (no-color.org).
    pub(crate) fn new(environment: &Environment, color: ColorChoice) -> Self {
        let is_terminal = io::stderr().is_terminal();
        let set = |name: &str| environment.get(name).is_some_and(|value| !value.is_empty());
        let is_dumb = environment
            .get("TERM")
            .is_some_and(|terminal| terminal == "dumb");
        let is_forced = environment
            .get("CLICOLOR_FORCE")
            .is_some_and(|value| !matches!(value.as_str(), "" | "0"));
        let has_colours = |is_terminal| match color {
            ColorChoice::Auto => !set("NO_COLOR") && (is_forced || is_terminal && !is_dumb),
            ColorChoice::Always => true,
            ColorChoice::Never => false,
        };
        let shared = OutputState {
            is_terminal: is_terminal && !is_dumb,
            colours: has_colours(is_terminal),
            data_colours: has_colours(io::stdout().is_terminal()),
            screen: Mutex::default(),
            lost_data: Mutex::default(),
        };
        Self {
            shared: Arc::new(shared),
            site: None,
        }
    }

    /// The messages of the library go here.
    pub(crate) fn messenger(&self) -> Messenger {
        Messenger::new(Arc::new(self.clone()))
    }

    /// The output for messages about the site `name`: a log has the name in each line.
    pub(crate) fn of_site(&self, name: &str) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            site: Some(name.into()),
        }
    }

    /// The span of the site `name`: log lines of the modules of the library in it have its name.
    pub(crate) fn span_of_site(&self, name: &str) -> Span {
        let screen = self.screen();
        if screen.is_json || screen.names_sites {
            site_span(name)
        } else {
            Span::none()
        }
    }

    /// From now on each message has its time, unless it goes to a terminal; with `several_sites`, a message about one has its
    /// name.
    pub(crate) fn begin_log(&self, several_sites: bool) {
        let mut screen = self.screen();
        screen.is_log = !self.shared.is_terminal;
        screen.names_sites = several_sites;
    }

    /// From now on stderr is a log of JSON, one object per line, without a live view.
    pub(crate) fn log_as_json(&self) {
        self.screen().is_json = true;
    }

    /// From now on what a summary has is not printed as a message, unless messages are a log of JSON.
    pub(crate) fn expect_summary(&self) {
        self.screen().has_summary = true;
    }

    /// From now on only errors go to stderr.
    pub(crate) fn be_quiet(&self) {
        self.screen().quiet = true;
    }

    /// Returns whether stderr is a log of JSON.
    pub(crate) fn is_json_log(&self) -> bool {
        self.screen().is_json
    }

    /// Returns whether stderr is a terminal on which lines can be redrawn.
    pub(crate) fn is_terminal(&self) -> bool {
        self.shared.is_terminal && !self.screen().is_json
    }

    /// Columns and lines of the terminal.
    pub(crate) fn size() -> (usize, usize) {
        let size = terminal_size::terminal_size_of(io::stderr());
        let (width, lines) = size.map_or(USUAL_SIZE, |(width, height)| (width.0, height.0));
        (width.into(), lines.into())
    }

    /// Prints a message.
    pub(crate) fn info(&self, line: &str) {
        self.print(Kind::Plain, line, &Map::new());
    }

    /// A line that the user should not miss.
    pub(crate) fn warn(&self, line: &str) {
        self.print(Kind::Warning, line, &Map::new());
    }

    /// A warning that the summary of the session has as well.
    pub(crate) fn note(&self, line: &str) {
        self.print(Kind::Note, line, &Map::new());
    }

    /// An error; it is printed in any case.
    pub(crate) fn error(&self, line: &str) {
        self.print(Kind::Error, line, &Map::new());
    }

    /// A line of a log, made already.
    pub(crate) fn log_line(&self, json: &str) {
        print_log(&escape_json(json), &self.screen());
    }

    fn print_data(&self, line: &str) {
        let printed = print_beside(io::stdout(), line, &self.screen());
        let is_loss = |error: &io::Error| error.kind() != io::ErrorKind::BrokenPipe;
        if let Some(error) = printed.err().filter(is_loss) {
            self.lost_data().get_or_insert(error);
        }
    }

    /// The first failure to print data, of a disk that is full and the like.
    pub(crate) fn take_lost_data(&self) -> Option<io::Error> {
        self.lost_data().take()
    }

    fn lost_data(&self) -> MutexGuard<'_, Option<io::Error>> {
        let lost = self.shared.lost_data.lock();
        lost.unwrap_or_else(PoisonError::into_inner)
    }

    /// A line of data. A reader that went away ends the data, not the program.
    pub(crate) fn data(&self, line: &str) {
        self.print_data(&escape(line));
    }

    /// A line of data made of pieces, coloured where stdout is a terminal.
    pub(crate) fn data_painted(&self, pieces: &[(Tone, &str)]) {
        let mut line = String::new();
        for (paint, text) in pieces {
            let colour = match paint {
                Tone::Plain => "",
                Tone::Strong => "\x1b[1m",
                Tone::Error => "\x1b[1;31m",
                Tone::Warning => "\x1b[1;33m",
                Tone::Note => "\x1b[1;36m",
            };
            if self.shared.data_colours && !colour.is_empty() {
                line.push_str(colour);
                line.push_str(&escape(text));
                line.push_str("\x1b[0m");
            } else {
                line.push_str(&escape(text));
            }
        }
        self.print_data(&line);
    }

    /// A line of data; on a terminal its words are put on several lines where it is too long, indented like the first.
    pub(crate) fn data_wrapped(&self, paint: Tone, line: &str) {
        let width = terminal_size::terminal_size_of(io::stdout())
            .map_or(usize::MAX, |(width, _)| usize::from(width.0));
        // A command stays whole, to be copied.
        let is_command = line.trim_start().starts_with("arpent ");
        let width = if is_command { usize::MAX } else { width };
        for line in human::wrapped(line, width) {
            self.data_painted(&[(paint, &line)]);
        }
    }

    /// A line of JSON as data.
    pub(crate) fn data_json(&self, json: &str) {
        self.print_data(&escape_json(json));
    }

    /// Text of the command line parser: help and version are data, the rest are messages.
    pub(crate) fn usage(&self, error: &clap::Error) {
        let text = error.render().to_string();
        for line in text.lines() {
            if error.use_stderr() {
                print_log(&escape(line), &self.screen());
            } else {
                self.data(line);
            }
        }
    }

    /// Prints a question; the cursor stays after it.
    pub(crate) fn question(&self, text: &str) {
        let erase = self.screen().erase();
        print_message(&format!("{erase}{}", escape(text)));
    }

    /// Shows the live view, or replaces it; calmly, and only on a terminal.
    pub(crate) fn show(&self, lines: &[String]) {
        let mut screen = self.screen();
        if !self.shared.is_terminal || screen.is_json || screen.quiet {
            return;
        }
        // A line that wraps would not be removed; some terminals wrap after a full line.
        let width = Self::size().0.saturating_sub(1);
        let lines = lines.iter().map(|line| escape(line));
        let lines: Vec<_> = lines
            .map(|line| shorten(&line, width).into_owned())
            .collect();
        let view = lines.join("\n");
        if screen.live.as_ref() != Some(&view) {
            let erase = screen.erase();
            print_message(&format!("{erase}{view}"));
            screen.live = Some(view);
        }
    }

    /// Takes the live view away.
    pub(crate) fn hide(&self) {
        let mut screen = self.screen();
        print_message(&screen.erase());
        screen.live = None;
    }

    /// A line of the requested log, which always has its time.
    pub(crate) fn log_text(&self, line: &str) {
        let screen = self.screen();
        let line = format!("{} {}{line}", time_now(), self.site_prefix(&screen));
        print_log(&shorten(&escape(&line), MAX_MESSAGE), &screen);
    }

    /// The name of the site, where lines have it.
    fn site_prefix(&self, screen: &Screen) -> String {
        let site = self.site.as_deref().filter(|_| screen.names_sites);
        site.map_or_else(String::new, |site| format!("{site}: "))
    }

    /// Prints a message; a log of JSON has `fields` beside it.
    pub(crate) fn print(&self, kind: Kind, line: &str, fields: &Map<String, Value>) {
        let screen = self.screen();
        let is_in_summary = matches!(kind, Kind::Note | Kind::Refusal) && screen.has_summary;
        let is_error = matches!(kind, Kind::Error | Kind::Refusal);
        if (is_in_summary && !screen.is_json) || (screen.quiet && !is_error) {
            return;
        }
        if screen.is_json {
            let level = match kind {
                Kind::Plain => Level::INFO,
                Kind::Warning | Kind::Note => Level::WARN,
                Kind::Error | Kind::Refusal => Level::ERROR,
            };
            let line = own_line(level, self.site.as_deref(), line, fields);
            print_log(&escape_json(&line), &screen);
            return;
        }
        let (word, colour) = match kind {
            Kind::Plain => ("", ""),
            Kind::Warning | Kind::Note => ("warning: ", "\x1b[1;33m"),
            Kind::Error | Kind::Refusal => ("error: ", "\x1b[1;31m"),
        };
        let line = escape(line);
        let line = shorten(&line, MAX_MESSAGE);
        let time = if screen.is_log {
            time_now() + " "
        } else {
            String::new()
        };
        let site = self.site_prefix(&screen);
        let site = escape(&site);
        if self.shared.colours && !word.is_empty() {
            print_log(&format!("{time}{site}{colour}{word}\x1b[0m{line}"), &screen);
        } else {
            print_log(&format!("{time}{site}{word}{line}"), &screen);
        }
    }

    fn screen(&self) -> MutexGuard<'_, Screen> {
        // A panic while a line was written leaves nothing half done that matters.
        self.shared
            .screen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl MessageSink for Output {
    fn message(&self, kind: Kind, site: Option<&str>, line: &str, fields: &Map<String, Value>) {
        match site {
            Some(site) => self.of_site(site).print(kind, line, fields),
            None => self.print(kind, line, fields),
        }
    }

    fn span(&self, name: &str) -> Span {
        self.span_of_site(name)
    }
}

impl Screen {
    /// The control sequences that remove the live view (ECMA-48 section 8.3); none where there is none.
    fn erase(&self) -> String {
        let Some(live) = &self.live else {
            return String::new();
        };
        match live.matches('\n').count() {
            0 => "\r\x1b[J".to_owned(),
            above => format!("\r\x1b[{above}A\x1b[J"),
        }
    }
}

/// Prints a line above the live view.
///
/// # Errors
/// The line could not be printed.
fn print_beside(to: impl Write, line: &str, screen: &Screen) -> io::Result<()> {
    print_message(&screen.erase());
    let printed = print_to(to, &format!("{line}\n"));
    print_message(screen.live.as_deref().unwrap_or_default());
    printed
}

/// The same for a line of stderr.
fn print_log(line: &str, screen: &Screen) {
    drop(print_beside(io::stderr(), line, screen));
}

/// Prints text to stderr, the failures of which cannot be reported.
fn print_message(text: &str) {
    drop(print_to(io::stderr(), text));
}

/// Prints text at once.
fn print_to(mut to: impl Write, text: &str) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    to.write_all(text.as_bytes()).and_then(|()| to.flush())
}
