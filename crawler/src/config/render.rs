//! Settings for pages that only a script can show.

use std::{path::PathBuf, time::Duration};

/// Which pages are rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RenderMode {
    /// None.
    #[default]
    Never,
    /// Pages without content, and the groups of pages of which a sample has links or text by scripts.
    Auto,
    /// All.
    Always,
}

/// How pages are rendered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderConfig {
    /// Which. Default: none.
    pub mode: RenderMode,
    /// The program: its path, or its name. Default: the first of the usual ones.
    pub browser: Option<PathBuf>,
    /// Pages at most that are rendered at once, 1 to 16. Default 2.
    pub at_once: usize,
    /// Longest time for a page, without its waits for answers. Default 10 s.
    pub time: Duration,
    /// Other hosts that scripts and data may come from. Default: none.
    pub hosts: Vec<String>,
    /// There is a program for it: notes on pages without content name the setting.
    pub is_offered: bool,
}

impl Default for RenderConfig {
    fn default() -> Self {
        Self {
            mode: RenderMode::default(),
            browser: None,
            at_once: 2,
            time: Duration::from_secs(10),
            hosts: Vec::new(),
            is_offered: false,
        }
    }
}
