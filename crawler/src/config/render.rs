//! Settings for pages that only a script can show.

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
    /// Pages at most that are rendered at once. Default 2.
    pub at_once: usize,
    /// Other hosts that scripts and data may come from. Default: none.
    pub hosts: Vec<String>,
}

impl Default for RenderConfig {
    fn default() -> Self {
        Self {
            mode: RenderMode::default(),
            at_once: 2,
            hosts: Vec::new(),
        }
    }
}
