//! The only file that prints. Data (summaries, help, versions) goes to stdout, messages to stderr; foreign text is escaped here,
//! on the way out, so that no caller can forget it. It computes nothing.

use std::{
    io::{self, IsTerminal as _, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};
use tracing::{Level, Span, level_filters::LevelFilter};
use tracing_subscriber::{
    filter::Targets,
    layer::{Layer as _, SubscriberExt as _},
    util::SubscriberInitExt as _,
};

use serde_json::{Map, Value};

use crate::{
    log::{Look, ModuleLog, own_line, site_span, time_now},
    panicked::words_of,
    settings::Environment,
    untrusted::{escape, escape_json, shorten},
};

/// Redraws of the live view per second, at most.
const REDRAWS_PER_SECOND: u8 = 10;

/// Longest message, in characters: enough for a long URL and its text.
pub(crate) const MAX_TALK: usize = 4_000;

/// Width and height that are assumed when the terminal does not report them.
const USUAL_WIDTH: usize = 80;
const USUAL_HEIGHT: u16 = 24;

/// The two ways out of the process. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    shared: Arc<Shared>,
    /// Messages are about this site.
    site: Option<Arc<str>>,
}

#[derive(Debug)]
struct Shared {
    is_terminal: bool,
    colours: bool,
    /// Stdout takes colours.
    data_colours: bool,
    screen: Mutex<Screen>,
}

/// The part of the terminal below the messages.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
struct Screen {
    quiet: bool,
    /// Talk is a log of JSON.
    is_json: bool,
    /// Without a terminal each line of talk has its time.
    is_log: bool,
    /// Messages about a site have its name.
    names_sites: bool,
    live: Option<ProgressBar>,
}

/// Style of data on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    /// As everything.
    Plain,
    /// To be seen first.
    Bold,
    /// An error.
    Error,
    /// A warning.
    Warning,
    /// A note, or help.
    Note,
}

/// Kind of a message; text begins with the word, a log has it as its level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// News.
    Plain,
    /// A message that the user should not miss.
    Warning,
    /// A failure.
    Error,
}

impl Output {
    /// Colours only on a terminal that can show them, and not against `NO_COLOR` (no-color.org).
    pub(crate) fn new(environment: &Environment) -> Self {
        let is_terminal = io::stderr().is_terminal();
        let set = |name: &str| environment.get(name).is_some_and(|value| !value.is_empty());
        let is_dumb = environment
            .get("TERM")
            .is_some_and(|terminal| terminal == "dumb");
        let shared = Shared {
            is_terminal: is_terminal && !is_dumb,
            colours: is_terminal && !is_dumb && !set("NO_COLOR"),
            data_colours: io::stdout().is_terminal() && !is_dumb && !set("NO_COLOR"),
            screen: Mutex::default(),
        };
        Self {
            shared: Arc::new(shared),
            site: None,
        }
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

    /// From now on only errors go to stderr.
    pub(crate) fn be_quiet(&self) {
        self.screen().quiet = true;
    }

    /// Returns whether stderr is a terminal on which lines can be redrawn.
    pub(crate) fn is_terminal(&self) -> bool {
        self.shared.is_terminal && !self.screen().is_json
    }

    /// Columns of the terminal.
    pub(crate) fn width() -> usize {
        let size = terminal_size::terminal_size_of(io::stderr());
        size.map_or(USUAL_WIDTH, |(terminal_size::Width(width), _)| {
            usize::from(width)
        })
    }

    /// Lines of the terminal.
    pub(crate) fn height() -> usize {
        let size = terminal_size::terminal_size_of(io::stderr());
        let (_, terminal_size::Height(height)) =
            size.unwrap_or((terminal_size::Width(0), terminal_size::Height(USUAL_HEIGHT)));
        usize::from(height)
    }

    /// A line of talk.
    pub(crate) fn say(&self, line: &str) {
        self.talk(Kind::Plain, line);
    }

    /// A line that the user should not miss.
    pub(crate) fn warn(&self, line: &str) {
        self.talk(Kind::Warning, line);
    }

    /// An error; it is printed in any case.
    pub(crate) fn error(&self, line: &str) {
        self.talk(Kind::Error, line);
    }

    /// A line of talk that a log of JSON has `fields` beside.
    pub(crate) fn say_with(&self, kind: Kind, line: &str, fields: &Map<String, Value>) {
        self.talk_with(kind, line, fields);
    }

    /// A line of a log, made already.
    pub(crate) fn log_line(&self, json: &str) {
        Self::write_talk(&escape_json(json), &self.screen());
    }

    /// A line of data. A reader that went away ends the data, not the program.
    pub(crate) fn data(&self, line: &str) {
        self.write_out(&escape(line));
    }

    /// A line of data made of pieces, coloured where stdout is a terminal.
    pub(crate) fn data_painted(&self, pieces: &[(Paint, &str)]) {
        let mut line = String::new();
        for (paint, text) in pieces {
            let colour = match paint {
                Paint::Plain => "",
                Paint::Bold => "\x1b[1m",
                Paint::Error => "\x1b[1;31m",
                Paint::Warning => "\x1b[1;33m",
                Paint::Note => "\x1b[1;36m",
            };
            if self.shared.data_colours && !colour.is_empty() {
                line.push_str(colour);
                line.push_str(&escape(text));
                line.push_str("\x1b[0m");
            } else {
                line.push_str(&escape(text));
            }
        }
        self.write_out(&line);
    }

    /// A line of JSON as data.
    pub(crate) fn data_json(&self, json: &str) {
        self.write_out(&escape_json(json));
    }

    /// Text of the command line parser: help and version are data, the rest is talk.
    pub(crate) fn usage(&self, error: &clap::Error) {
        let text = error.render().to_string();
        for line in text.lines() {
            if error.use_stderr() {
                Self::write_talk(&escape(line), &self.screen());
            } else {
                self.data(line);
            }
        }
    }

    /// Shows the live view, or replaces it; calmly, and only on a terminal.
    pub(crate) fn show(&self, lines: &[String]) {
        let mut screen = self.screen();
        if !self.shared.is_terminal || screen.is_json || screen.quiet {
            return;
        }
        let bar = screen.live.get_or_insert_with(|| {
            let terminal = Box::new(Terminal::default());
            let target = ProgressDrawTarget::term_like_with_hz(terminal, REDRAWS_PER_SECOND);
            let style = ProgressStyle::with_template("{msg}")
                .unwrap_or_else(|_| ProgressStyle::default_spinner());
            ProgressBar::with_draw_target(None, target).with_style(style)
        });
        bar.set_message(
            lines
                .iter()
                .map(|line| escape(line))
                .collect::<Vec<_>>()
                .join("\n"),
        );
    }

    /// Takes the live view away.
    pub(crate) fn hide(&self) {
        if let Some(bar) = self.screen().live.take() {
            bar.finish_and_clear();
        }
    }

    /// Sends the log to stderr, from `level` on, and panics with it as errors. Other
    /// libraries log only at the last level, because of their many lines.
    pub(crate) fn take_log(&self, level: LevelFilter) {
        const BELOW: [&str; 7] = ["h2", "hyper", "mio", "reqwest", "rustls", "tokio", "tower"];
        let below = if level == LevelFilter::TRACE {
            level
        } else {
            level.min(LevelFilter::WARN)
        };
        let filter = Targets::new()
            .with_default(level)
            .with_targets(BELOW.map(|name| (name, below)));
        let look = if self.screen().is_json {
            Look::Json
        } else if level <= LevelFilter::WARN {
            Look::Talk
        } else {
            Look::Verbose
        };
        let lines = ModuleLog::new(self, look).with_filter(filter);
        // Only a second call could fail, and then the first one holds.
        let _ = tracing_subscriber::registry().with(lines).try_init();
        let output = self.clone();
        std::panic::set_hook(Box::new(move |panic| {
            let place = panic
                .location()
                .map(|place| format!(" at {place}"))
                .unwrap_or_default();
            let words = words_of(panic.payload());
            output.error(&format!("internal error{place}: {words}; please report it"));
        }));
    }

    /// A line of the requested log, which always has its time.
    pub(crate) fn log_text(&self, line: &str) {
        let screen = self.screen();
        let line = format!("{} {}{line}", time_now(), self.site_prefix(&screen));
        Self::write_talk(&shorten(&escape(&line), MAX_TALK), &screen);
    }

    /// The name of the site, where lines have it.
    fn site_prefix(&self, screen: &Screen) -> String {
        let site = self.site.as_deref().filter(|_| screen.names_sites);
        site.map_or_else(String::new, |site| format!("{site}: "))
    }

    fn talk(&self, kind: Kind, line: &str) {
        self.talk_with(kind, line, &Map::new());
    }

    fn talk_with(&self, kind: Kind, line: &str, fields: &Map<String, Value>) {
        let screen = self.screen();
        if screen.quiet && kind != Kind::Error {
            return;
        }
        if screen.is_json {
            let level = match kind {
                Kind::Plain => Level::INFO,
                Kind::Warning => Level::WARN,
                Kind::Error => Level::ERROR,
            };
            let line = own_line(level, self.site.as_deref(), line, fields);
            Self::write_talk(&escape_json(&line), &screen);
            return;
        }
        let (word, colour) = match kind {
            Kind::Plain => ("", ""),
            Kind::Warning => ("warning: ", "\x1b[1;33m"),
            Kind::Error => ("error: ", "\x1b[1;31m"),
        };
        let line = escape(line);
        let line = shorten(&line, MAX_TALK);
        let time = if screen.is_log {
            time_now() + " "
        } else {
            String::new()
        };
        let site = self.site_prefix(&screen);
        let site = escape(&site);
        if self.shared.colours && !word.is_empty() {
            Self::write_talk(&format!("{time}{site}{colour}{word}\x1b[0m{line}"), &screen);
        } else {
            Self::write_talk(&format!("{time}{site}{word}{line}"), &screen);
        }
    }

    fn write_talk(line: &str, screen: &Screen) {
        // A failure of stderr cannot be reported.
        let write = || drop(writeln!(io::stderr().lock(), "{line}"));
        match &screen.live {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    fn write_out(&self, line: &str) {
        let screen = self.screen();
        let write = || drop(writeln!(io::stdout().lock(), "{line}"));
        match &screen.live {
            Some(bar) => bar.suspend(write),
            None => write(),
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

/// The terminal at stderr, on which the live view is drawn.
///
/// The view fills each line with spaces up to the edge, so that the next one begins below. The echo of Ctrl-C would then begin a
/// new line, and the view would be removed from the wrong lines; so lines end where their text does.
#[derive(Debug, Default)]
struct Terminal {
    drawing: Mutex<Drawing>,
}

/// Text that waits to be written.
#[derive(Debug, Default)]
struct Drawing {
    text: String,
    /// The line has been filled: the next text is below.
    is_filled: bool,
}

impl Terminal {
    fn draw(&self, draw: impl FnOnce(&mut Drawing)) {
        draw(&mut self.drawing.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// A control sequence that moves the cursor (ECMA-48 section 8.3).
    fn move_cursor(&self, steps: usize, direction: char) {
        if steps > 0 {
            let sequence = format!("\x1b[{steps}{direction}");
            self.draw(|drawing| drawing.text.push_str(&sequence));
        }
    }
}

impl TermLike for Terminal {
    fn width(&self) -> u16 {
        u16::try_from(Output::width()).unwrap_or(u16::MAX)
    }

    fn height(&self) -> u16 {
        let size = terminal_size::terminal_size_of(io::stderr());
        size.map_or(USUAL_HEIGHT, |(_, terminal_size::Height(height))| height)
    }

    fn move_cursor_up(&self, steps: usize) -> io::Result<()> {
        self.move_cursor(steps, 'A');
        Ok(())
    }

    fn move_cursor_down(&self, steps: usize) -> io::Result<()> {
        self.move_cursor(steps, 'B');
        Ok(())
    }

    fn move_cursor_right(&self, steps: usize) -> io::Result<()> {
        self.move_cursor(steps, 'C');
        Ok(())
    }

    fn move_cursor_left(&self, steps: usize) -> io::Result<()> {
        self.move_cursor(steps, 'D');
        Ok(())
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.write_str(text)?;
        self.draw(|drawing| drawing.text.push('\n'));
        Ok(())
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.draw(|drawing| {
            if !text.is_empty() && text.bytes().all(|byte| byte == b' ') {
                drawing.is_filled = true;
                return;
            }
            if std::mem::take(&mut drawing.is_filled) {
                drawing.text.push('\n');
            }
            drawing.text.push_str(text);
        });
        Ok(())
    }

    fn clear_line(&self) -> io::Result<()> {
        self.draw(|drawing| drawing.text.push_str("\r\x1b[2K"));
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        let mut text = String::new();
        self.draw(|drawing| text = std::mem::take(drawing).text);
        let mut stderr = io::stderr().lock();
        stderr.write_all(text.as_bytes())?;
        stderr.flush()
    }
}
