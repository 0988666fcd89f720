//! Pages as Chromium shows them. The browser has no network: all that a page asks for is answered by the crawl, through
//! [`crawler::render::Resources`], and whatever passes that by ends at a proxy that does not exist.

mod command_line;
mod page;
mod process;
mod profile;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use crawler::{
    fetch::BoxFuture,
    render::{PageToRender, Render, RenderError, RenderedPage},
};
use tokio::{sync::Mutex, time::sleep};

pub use self::command_line::NoBrowser;
use self::{page::ShowError, process::Process};

/// How often a page is shown when the browser, or its tab, ends below it.
const MAX_TRIES: u32 = 3;

/// How often a start is tried.
const MAX_STARTS: u32 = 3;

/// Between the end of a page and that of its browser, if it has ended.
const END_TIME: Duration = Duration::from_millis(100);

/// After so many ends in a row, with no page shown between them, there is no browser.
const MAX_ENDS: u32 = 9;

/// A browser of one session: a process that begins with the first page, and ends with this value.
#[derive(Debug)]
pub struct Chromium {
    executable: PathBuf,
    time: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    process: Option<Arc<Process>>,
    /// Ends of processes since a page was shown.
    ends: u32,
}

/// The program that shows pages: `named`, by its path or its name, or the first of the usual names in `PATH`.
///
/// # Errors
/// There is none.
pub fn find(named: Option<&Path>) -> Result<PathBuf, NoBrowser> {
    command_line::find(named, std::env::var_os("PATH").as_deref())
}

impl Chromium {
    /// The browser `executable`, which shows each page for `time` at most, without the time in which the page waits for answers.
    pub fn new(executable: PathBuf, time: Duration) -> Self {
        Self {
            executable,
            time,
            state: Mutex::default(),
        }
    }

    /// The process, which is started when there is none.
    async fn process(&self) -> Result<Arc<Process>, RenderError> {
        let mut state = self.state.lock().await;
        if state.ends >= MAX_ENDS {
            let message = format!("it ended {} times in a row", state.ends);
            return Err(RenderError::Browser(message));
        }
        if let Some(process) = state.process.as_ref().filter(|it| !it.has_ended()) {
            return Ok(Arc::clone(process));
        }
        state.process = None;
        let mut problem = String::new();
        for _ in 0..MAX_STARTS {
            match Process::start(&self.executable).await {
                Ok(started) => {
                    let process = Arc::new(started);
                    state.process = Some(Arc::clone(&process));
                    return Ok(process);
                }
                Err(error) => problem = error.to_string(),
            }
        }
        Err(RenderError::Browser(problem))
    }

    async fn show(&self, page: &PageToRender) -> Result<RenderedPage, RenderError> {
        let mut problem = String::new();
        for _ in 0..MAX_TRIES {
            let process = self.process().await?;
            match process.show(page, self.time).await {
                Ok(shown) => {
                    self.state.lock().await.ends = 0;
                    return Ok(shown);
                }
                Err(ShowError::Page(problem)) if !process.has_ended() => {
                    self.state.lock().await.ends = 0;
                    return Err(RenderError::Page(problem));
                }
                Err(ShowError::Page(end) | ShowError::Crashed(end)) => problem = end,
            }
            tracing::debug!(target: "render", url = %page.url, "shown again: {problem}");
            // Its end is known a moment later. A tab alone may crash as often as it wants.
            sleep(END_TIME).await;
            if process.has_ended() {
                self.state.lock().await.ends += 1;
            }
        }
        Err(RenderError::Page(format!("{problem}, {MAX_TRIES} times")))
    }
}

impl Render for Chromium {
    fn render(&self, page: PageToRender) -> BoxFuture<'_, Result<RenderedPage, RenderError>> {
        Box::pin(async move { self.show(&page).await })
    }
}
