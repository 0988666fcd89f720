//! The process of a browser, in a group of its own, which ends with this program however that ends.

use std::{
    env, fmt, io,
    path::Path,
    process::Stdio,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use chromiumoxide::{
    Browser,
    cdp::browser_protocol::{
        browser::{BrowserContextId, SetDownloadBehaviorBehavior, SetDownloadBehaviorParams},
        target::{
            CloseTargetParams, CreateBrowserContextParams, CreateTargetParams,
            DisposeBrowserContextParams,
        },
    },
    error::CdpError,
    handler::HandlerConfig,
};
use crawler::render::{PageToRender, RenderedPage};
use futures_util::StreamExt as _;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, BufReader, Lines},
    process::{Child, Command},
    task::{AbortHandle, JoinSet},
    time::timeout,
};

use crate::{
    command_line::arguments,
    page::{self, COMMAND_TIME, ShowError},
    profile::Profile,
};

/// How long a browser may take to start.
const START_TIME: Duration = Duration::from_secs(30);

/// How long its end may take, and how often is looked.
const END_LOOKS: u32 = 100;
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// Runs the arguments, and kills them and all that they started when standard input ends: when this program drops its end, or is killed.
/// Standard error ends with what was run.
#[cfg(unix)]
const KEEPER: [&str; 4] = [
    "sh",
    "-c",
    r#""$@" & exec 2>/dev/null; while read -r _; do :; done; kill -KILL 0"#,
    "arpent-browser",
];
#[cfg(not(unix))]
const KEEPER: [&str; 0] = [];

/// Variables that a browser gets: none with a secret.
const VARIABLES: [&str; 8] = [
    "PATH",
    "LANG",
    "LC_ALL",
    "LD_LIBRARY_PATH",
    "FONTCONFIG_PATH",
    "FONTCONFIG_FILE",
    "SystemRoot",
    "TEMP",
];

/// A browser that runs.
pub(crate) struct Process {
    browser: Browser,
    /// The connection to it, and what it writes: either ends with it.
    signs: [AbortHandle; 2],
    /// It does not answer.
    is_stuck: AtomicBool,
    /// Dropped before the folder.
    child: KeptChild,
    /// Reads what it sends and writes.
    _tasks: JoinSet<()>,
    _profile: Profile,
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Process").field(&self.child).finish()
    }
}

/// Why a browser did not start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error("no folder for the browser: {0}")]
    Profile(io::Error),
    #[error("{0}")]
    Spawn(io::Error),
    #[error("it did not start: {0}")]
    Silent(String),
    #[error("no connection to it: {0}")]
    Connection(CdpError),
}

impl Process {
    /// Starts a browser.
    pub(crate) async fn start(executable: &Path) -> Result<Self, StartError> {
        let profile = Profile::new(&env::temp_dir()).map_err(StartError::Profile)?;
        let is_root = is_owned_by_root(profile.path()).map_err(StartError::Profile)?;
        let mut line = KEEPER
            .iter()
            .map(AsRef::as_ref)
            .chain([executable.as_os_str()]);
        let program = line.next().unwrap_or(executable.as_os_str());
        let mut command = Command::new(program);
        command
            .args(line)
            .args(arguments(profile.path(), is_root))
            .env_clear()
            .envs(
                VARIABLES
                    .iter()
                    .filter_map(|name| Some((name, env::var_os(name)?))),
            )
            .env("HOME", profile.path())
            .env("TMPDIR", profile.path())
            // A page shows the same wherever it is shown.
            .env("TZ", "UTC")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        let mut child = KeptChild(command.spawn().map_err(StartError::Spawn)?);
        let stderr = child.0.stderr.take();
        let stderr = stderr.ok_or_else(|| StartError::Silent("no pipe".to_owned()))?;
        let mut lines = BufReader::new(stderr).lines();
        let address = timeout(START_TIME, address_in(&mut lines)).await;
        let address = address.unwrap_or_else(|_| Err("it took over 30 s".to_owned()));
        let address = address.map_err(StartError::Silent)?;
        let config = HandlerConfig {
            ignore_https_errors: false,
            viewport: None,
            // Ours is over first.
            request_timeout: 2 * COMMAND_TIME,
            cache_enabled: false,
            ..HandlerConfig::default()
        };
        let connecting = Browser::connect_with_config(address, config);
        let connected = timeout(START_TIME, connecting).await;
        let connected = connected.unwrap_or(Err(CdpError::Timeout));
        let (browser, mut handler) = connected.map_err(StartError::Connection)?;
        let mut tasks = JoinSet::new();
        // A pipe that is full would stop it.
        let output = tasks.spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        let connection =
            tasks.spawn(async move { while let Some(Ok(())) = handler.next().await {} });
        let no_downloads = SetDownloadBehaviorParams::new(SetDownloadBehaviorBehavior::Deny);
        let answer = browser.execute(no_downloads).await;
        answer.map_err(StartError::Connection)?;
        tracing::debug!(target: "render", path = %executable.display(), "started");
        Ok(Self {
            browser,
            signs: [connection, output],
            is_stuck: AtomicBool::new(false),
            child,
            _tasks: tasks,
            _profile: profile,
        })
    }

    /// Returns whether it has ended, or does not answer.
    pub(crate) fn has_ended(&self) -> bool {
        let mut signs = self.signs.iter();
        signs.any(AbortHandle::is_finished) || self.is_stuck.load(Ordering::Relaxed)
    }

    fn stuck<E>(&self) -> impl FnOnce(E) -> ShowError {
        |_| {
            self.is_stuck.store(true, Ordering::Relaxed);
            ShowError::Crashed("the browser does not answer".to_owned())
        }
    }

    /// Shows a page in a tab with cookies and a storage of its own, for `time` at most without the waits for answers.
    pub(crate) async fn show(
        &self,
        page: &PageToRender,
        time: Duration,
    ) -> Result<RenderedPage, ShowError> {
        let context = self.browser.execute(CreateBrowserContextParams::default());
        let context = timeout(COMMAND_TIME, context).await.map_err(self.stuck())?;
        let context = context?.result.browser_context_id;
        let shown = self.show_in(&context, page, time).await;
        let dispose = DisposeBrowserContextParams::new(context);
        _ = timeout(COMMAND_TIME, self.browser.execute(dispose)).await;
        shown
    }

    async fn show_in(
        &self,
        context: &BrowserContextId,
        page: &PageToRender,
        time: Duration,
    ) -> Result<RenderedPage, ShowError> {
        let tab = CreateTargetParams::builder().url("about:blank");
        let tab = tab.browser_context_id(context.clone()).build();
        let tab = tab.map_err(ShowError::Page)?;
        let tab = timeout(COMMAND_TIME, self.browser.new_page(tab)).await;
        let tab = tab.map_err(self.stuck())??;
        let shown = page::show(&tab, page, time).await;
        let close = CloseTargetParams::new(tab.target_id().clone());
        _ = timeout(COMMAND_TIME, self.browser.execute(close)).await;
        shown
    }
}

/// A child that is ended with its group when this value is dropped.
#[derive(Debug)]
struct KeptChild(Child);

impl Drop for KeptChild {
    fn drop(&mut self) {
        // The keeper reads its end, and kills the group.
        drop(self.0.stdin.take());
        for _ in 0..END_LOOKS {
            if KEEPER.is_empty() || !matches!(self.0.try_wait(), Ok(None)) {
                break;
            }
            thread::sleep(BETWEEN_LOOKS);
        }
        _ = self.0.start_kill();
    }
}

/// The address of the connection, which a browser writes when it has started.
///
/// # Errors
/// What it wrote instead.
async fn address_in(
    lines: &mut Lines<BufReader<impl AsyncRead + Unpin>>,
) -> Result<String, String> {
    let mut last = "it ended at once".to_owned();
    while let Ok(Some(line)) = lines.next_line().await {
        if let Some(address) = line.trim().strip_prefix("DevTools listening on ") {
            return Ok(address.to_owned());
        }
        if !line.trim().is_empty() {
            last = line;
        }
    }
    Err(last)
}

/// Returns whether this program, which made `path`, is that of root.
#[cfg(unix)]
fn is_owned_by_root(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    Ok(path.metadata()?.uid() == 0)
}

#[cfg(not(unix))]
fn is_owned_by_root(_: &Path) -> io::Result<bool> {
    Ok(false)
}
