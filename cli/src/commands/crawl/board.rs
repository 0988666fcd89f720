//! The live view of several sites: one below the other on a terminal, a line now and then
//! without one.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crawler::{
    driver::{self, SessionSettings, SessionStage, SessionWatch, SiteSettings},
    site::Site,
    site_run::{LiveSession, Progress},
};
use tokio::{sync::watch, task::spawn_blocking, time::Instant};

use crate::{
    human,
    live::{ProgressView, Speed},
    output::Output,
    supervisor::{Lines, LiveView},
};

/// Lines of the terminal that stay free for messages above the live view.
const FREE_LINES: usize = 4;

/// Time between two notes on the progress for other programs.
const LIVE_GAP: Duration = Duration::from_secs(2);

/// The fewest lines of the live view, however low the terminal is.
const FEWEST_LINES: usize = 3;

/// The sessions that are under way. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Board {
    shared: Arc<Mutex<BoardState>>,
    output: Output,
}

#[derive(Debug, Default)]
struct BoardState {
    /// In the order in which they began.
    sessions: Vec<(String, SessionView)>,
    /// Sites of the program, and those of them that are done.
    sites: usize,
    done: usize,
}

impl Board {
    /// The board of a program with so many sites.
    pub(crate) fn new(sites: usize, output: &Output) -> Self {
        let board = Self {
            shared: Arc::default(),
            output: output.clone(),
        };
        board.shared().sites = sites;
        board
    }

    fn shared(&self) -> MutexGuard<'_, BoardState> {
        // What is shown may be old after a panic, never wrong.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl driver::Board for Board {
    fn begin(&self, site: &SiteSettings) -> SessionWatch {
        let (progress, newest) = watch::channel(Progress::default());
        let (stage, newest_stage) = watch::channel(SessionStage::default());
        let mut shared = self.shared();
        let label = (shared.sites > 1).then(|| site.name.clone());
        let view = SessionView {
            newest,
            stage: newest_stage,
            label,
            settings: Arc::clone(&site.settings),
            foreseen: site.foreseen(),
            began: Instant::now(),
            speed: Speed::default(),
            lines: Lines::default(),
            site_is_printed: false,
            resume_is_printed: false,
            notices_printed: 0,
            live: None,
        };
        shared.sessions.push((site.name.clone(), view));
        SessionWatch { progress, stage }
    }

    fn end(&self, name: &str) {
        let mut shared = self.shared();
        shared.done += 1;
        let position = shared.sessions.iter().position(|(known, _)| known == name);
        if let Some(position) = position {
            let (_, mut view) = shared.sessions.remove(position);
            view.print_news(&self.output.of_site(name));
            if let Some((state, _)) = view.live {
                LiveSession::remove(&state);
            }
        }
    }

    fn print_news(&self) {
        for (name, view) in &mut self.shared().sessions {
            view.print_news(&self.output.of_site(name));
            view.write_live();
        }
    }
}

impl LiveView for Board {
    fn show(&mut self, output: &Output) {
        driver::Board::print_news(self);
        let mut shared = self.shared();
        if output.is_terminal() {
            // One column stays free: some terminals wrap after a full line.
            let (width, height) = Output::size();
            let most = height.saturating_sub(FREE_LINES).max(FEWEST_LINES);
            let lines = shared.lines(width.saturating_sub(1), most);
            if !lines.is_empty() {
                output.show(&lines);
            }
        } else {
            for (name, view) in &mut shared.sessions {
                if let Some(line) = view.line_when_due() {
                    output.of_site(name).info(&line);
                }
            }
        }
    }

    fn print_news(&mut self, _: &Output) {
        driver::Board::print_news(self);
    }
}

impl BoardState {
    /// The sessions one below the other, at most `most` lines of `width` characters.
    fn lines(&mut self, width: usize, most: usize) -> Vec<String> {
        let sessions = self.sessions.iter_mut();
        let blocks: Vec<_> = sessions.map(|(_, view)| view.lines(width)).collect();
        if self.sites <= 1 {
            return blocks.concat();
        }
        let waiting = self.sites.saturating_sub(self.done + self.sessions.len());
        together(&blocks, self.done, waiting, width, most)
    }
}

/// Blocks of lines below a line that counts the sites; blocks without room are counted.
fn together(
    blocks: &[Vec<String>],
    done: usize,
    waiting: usize,
    width: usize,
    most: usize,
) -> Vec<String> {
    let running = blocks.len();
    let header = format!("sites: {done} done, {running} running, {waiting} waiting");
    let mut lines = vec![crate::untrusted::shorten(&header, width).into_owned()];
    for (shown, block) in blocks.iter().enumerate() {
        // The last line has the number of sites that are left out.
        let room = most.saturating_sub(lines.len());
        let needed = block.len() + usize::from(shown + 1 < running);
        if needed > room {
            let more = format!("  and {} more", running - shown);
            lines.push(crate::untrusted::shorten(&more, width).into_owned());
            break;
        }
        lines.extend_from_slice(block);
    }
    lines
}

/// The progress of one session.
#[derive(Debug)]
struct SessionView {
    newest: watch::Receiver<Progress>,
    stage: watch::Receiver<SessionStage>,
    /// Name of the site, where there are several.
    label: Option<String>,
    settings: Arc<SessionSettings>,
    /// The site, as long as nobody has asked for it.
    foreseen: Site,
    began: Instant,
    speed: Speed,
    lines: Lines,
    site_is_printed: bool,
    resume_is_printed: bool,
    notices_printed: usize,
    /// The state whose readers get the progress, and when it was written for them.
    live: Option<(PathBuf, Instant)>,
}

impl SessionView {
    fn newest(&self) -> Progress {
        self.newest.borrow().clone()
    }

    /// The lines of the live view.
    fn lines(&mut self, width: usize) -> Vec<String> {
        let progress = self.newest();
        let elapsed = self.began.elapsed();
        self.speed.note(elapsed, progress.fetched, progress.queued);
        let is_known = progress.site.is_some();
        let mut lines = self.view(&progress).lines(width);
        if let (Some(label), false) = (&self.label, is_known) {
            lines.insert(0, crate::untrusted::shorten(label, width).into_owned());
        }
        if *self.stage.borrow() == SessionStage::Publishing {
            lines.truncate(usize::from(is_known));
            lines.push("  writing the sitemaps".to_owned());
        }
        lines
    }

    /// The progress as one line, now and then.
    fn line_when_due(&mut self) -> Option<String> {
        let progress = self.newest();
        let elapsed = self.began.elapsed();
        self.speed.note(elapsed, progress.fetched, progress.queued);
        if !self.lines.is_due(elapsed) {
            return None;
        }
        Some(self.view(&progress).log_line())
    }

    fn view<'p>(&self, progress: &'p Progress) -> ProgressView<'p> {
        ProgressView {
            progress,
            per_second: self.speed.per_second(),
            is_queue_growing: self.speed.is_queue_growing(),
            delay: self.settings.config.politeness.delay,
        }
    }

    /// Writes the progress for other programs, every [`LIVE_GAP`].
    fn write_live(&mut self) {
        let is_early = |(_, at): &(PathBuf, Instant)| at.elapsed() < LIVE_GAP;
        if self.settings.dry_run || self.live.as_ref().is_some_and(is_early) {
            return;
        }
        let progress = self.newest();
        self.speed
            .note(self.began.elapsed(), progress.fetched, progress.queued);
        let view = self.view(&progress);
        let is_publishing = *self.stage.borrow() == SessionStage::Publishing;
        let live = LiveSession {
            percent: view.share().map(|(percent, _)| percent),
            text: if is_publishing {
                "writing the sitemaps".to_owned()
            } else {
                view.words()
            },
        };
        let site = progress.site.as_ref().unwrap_or(&self.foreseen);
        let state = self.settings.state_of(site);
        self.live = Some((state.clone(), Instant::now()));
        // The folder may be slow; the board is for all sessions.
        spawn_blocking(move || live.write(&state));
    }

    /// Prints what is reported once: the site, and each notice.
    fn print_news(&mut self, output: &Output) {
        let progress = self.newest();
        if let (Some(site), false) = (&progress.site, self.site_is_printed) {
            self.site_is_printed = true;
            let written_as = site
                .stand_in
                .as_ref()
                .map(|stand_in| format!(", as {}", stand_in.original_directory()))
                .unwrap_or_default();
            output.info(&format!(
                "crawling {} and everything below it{written_as}",
                site.url()
            ));
        }
        // Known a moment later: the state is opened in between.
        if let Some(resumed) = progress.resumed.filter(|_| !self.resume_is_printed) {
            self.resume_is_printed = true;
            output.info(&format!(
                "continuing the unfinished crawl: {} known, {} waiting",
                human::count(resumed.known, "URL"),
                human::number(resumed.queued)
            ));
        }
        // The list only grows.
        for notice in progress.notices.iter().skip(self.notices_printed) {
            if notice.is_in_summary {
                output.note(&notice.text);
            } else {
                output.warn(&notice.text);
            }
        }
        self.notices_printed = self.notices_printed.max(progress.notices.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_shown_while_there_is_room() {
        fn check(most: usize, expected: &[&str]) {
            let blocks = [["a", "  1"], ["b", "  2"], ["c", "  3"]]
                .map(|block| block.map(str::to_owned).to_vec());
            assert_eq!(together(&blocks, 2, 4, 80, most), expected, "{most}");
        }
        let head = "sites: 2 done, 3 running, 4 waiting";
        check(7, &[head, "a", "  1", "b", "  2", "c", "  3"]);
        check(6, &[head, "a", "  1", "b", "  2", "  and 1 more"]);
        check(5, &[head, "a", "  1", "  and 2 more"]);
        check(4, &[head, "a", "  1", "  and 2 more"]);
        check(3, &[head, "  and 3 more"]);
        assert_eq!(together(&[], 1, 0, 12, 3), ["sites: 1 ..."]);
    }
}
