//! What the runs of several sites look like together: one below the other on a terminal, a line now and then
//! without one.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crawler::crawl::Progress;
use tokio::{sync::watch, time::Instant};

use crate::{
    attend::{Lines, Watched},
    human,
    live::{Speed, View},
    output::Output,
};

/// Lines of the terminal that stay free for talk above the live view.
const FREE_LINES: usize = 4;

/// The fewest lines of the live view, however low the terminal is.
const FEWEST_LINES: usize = 3;

/// What a run is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Stage {
    /// Crawling, or finding out which site it is.
    #[default]
    Crawling,
    /// Writing its set.
    Publishing,
}

/// Where a run says what it is doing.
#[derive(Debug, Clone)]
pub(crate) struct Watch {
    /// The newest progress of the crawl.
    pub(crate) progress: watch::Sender<Progress>,
    /// What comes after it.
    pub(crate) stage: watch::Sender<Stage>,
}

/// The runs that are under way. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Board {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    /// In the order in which they began.
    runs: Vec<(String, RunView)>,
    /// Sites of the program, and those of them that are done.
    sites: usize,
    done: usize,
}

impl Board {
    /// The board of a program with so many sites.
    pub(crate) fn new(sites: usize) -> Self {
        let board = Self::default();
        board.shared().sites = sites;
        board
    }

    /// The run of the site `name` begins; `delay` is its setting.
    pub(crate) fn begin(&self, name: &str, delay: Option<Duration>) -> Watch {
        let (progress, newest) = watch::channel(Progress::default());
        let (stage, newest_stage) = watch::channel(Stage::default());
        let mut shared = self.shared();
        let label = (shared.sites > 1).then(|| name.to_owned());
        let view = RunView {
            newest,
            stage: newest_stage,
            label,
            delay,
            began: Instant::now(),
            speed: Speed::default(),
            lines: Lines::default(),
            site_is_told: false,
            resume_is_told: false,
            notices_told: 0,
        };
        shared.runs.push((name.to_owned(), view));
        Watch { progress, stage }
    }

    /// The run of the site `name` has ended: the last of its news is reported.
    pub(crate) fn end(&self, name: &str, output: &Output) {
        let mut shared = self.shared();
        shared.done += 1;
        let position = shared.runs.iter().position(|(known, _)| known == name);
        if let Some(position) = position {
            let (_, mut view) = shared.runs.remove(position);
            view.say_news(&output.of_site(name));
        }
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        // What is shown may be old after a panic, never wrong.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watched for Board {
    fn show(&mut self, output: &Output) {
        self.say_news(output);
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
            for (name, view) in &mut shared.runs {
                if let Some(line) = view.line_when_due() {
                    output.of_site(name).say(&line);
                }
            }
        }
    }

    fn say_news(&mut self, output: &Output) {
        for (name, view) in &mut self.shared().runs {
            view.say_news(&output.of_site(name));
        }
    }
}

impl Shared {
    /// The runs one below the other, at most `most` lines of `width` characters.
    fn lines(&mut self, width: usize, most: usize) -> Vec<String> {
        let runs = self.runs.iter_mut();
        let blocks: Vec<_> = runs.map(|(_, view)| view.lines(width)).collect();
        if self.sites <= 1 {
            return blocks.concat();
        }
        let waiting = self.sites.saturating_sub(self.done + self.runs.len());
        together(&blocks, self.done, waiting, width, most)
    }
}

/// Blocks of lines below a line that counts the sites; what there is no room for is counted.
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
        // The last line says what is left out, if something is.
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

/// The progress of one run.
#[derive(Debug)]
struct RunView {
    newest: watch::Receiver<Progress>,
    stage: watch::Receiver<Stage>,
    /// What the site is called, where there are several.
    label: Option<String>,
    /// The `delay` setting.
    delay: Option<Duration>,
    began: Instant,
    speed: Speed,
    lines: Lines,
    site_is_told: bool,
    resume_is_told: bool,
    notices_told: usize,
}

impl RunView {
    fn newest(&self) -> Progress {
        self.newest.borrow().clone()
    }

    /// The lines of the live view.
    fn lines(&mut self, width: usize) -> Vec<String> {
        let progress = self.newest();
        self.speed.note(self.began.elapsed(), progress.fetched);
        let is_known = progress.site.is_some();
        let mut lines = self.view(&progress).lines(width);
        if let (Some(label), false) = (&self.label, is_known) {
            lines.insert(0, crate::untrusted::shorten(label, width).into_owned());
        }
        if *self.stage.borrow() == Stage::Publishing {
            lines.truncate(usize::from(is_known));
            lines.push("  writing the sitemaps".to_owned());
        }
        lines
    }

    /// The progress as one line, now and then.
    fn line_when_due(&mut self) -> Option<String> {
        let progress = self.newest();
        let elapsed = self.began.elapsed();
        self.speed.note(elapsed, progress.fetched);
        if !self.lines.is_due(elapsed) {
            return None;
        }
        Some(self.view(&progress).log_line())
    }

    fn view<'p>(&self, progress: &'p Progress) -> View<'p> {
        View {
            progress,
            per_second: self.speed.per_second(),
            delay: self.delay,
        }
    }

    /// Prints what is reported once: the site, and each notice.
    fn say_news(&mut self, output: &Output) {
        let progress = self.newest();
        if let (Some(site), false) = (&progress.site, self.site_is_told) {
            self.site_is_told = true;
            let written_as = site
                .stand_in
                .as_ref()
                .map(|stand_in| format!(", as {}", stand_in.original_directory()))
                .unwrap_or_default();
            output.say(&format!(
                "crawling {} and everything below it{written_as}",
                site.url()
            ));
        }
        // Known a moment later: the state is opened in between.
        if let Some(resumed) = progress.resumed.filter(|_| !self.resume_is_told) {
            self.resume_is_told = true;
            output.say(&format!(
                "going on with the run that was not finished: {} known, {} waiting",
                human::count(resumed.known, "URL"),
                human::number(resumed.queued)
            ));
        }
        // The list only grows.
        for notice in progress.notices.iter().skip(self.notices_told) {
            output.warn(notice);
        }
        self.notices_told = self.notices_told.max(progress.notices.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_stand_one_below_the_other_as_far_as_there_is_room() {
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
