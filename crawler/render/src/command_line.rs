//! The program, and how it is started.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

/// Names of the program. The first one has no windows at all, and is the smallest.
const NAMES: [&str; 4] = [
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
];

/// No program that shows pages.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoBrowser {
    /// None of the usual names is in `PATH`.
    #[error(
        "pages cannot be rendered: there is no browser; install chromium-headless-shell or chromium, or set browser to its path"
    )]
    Usual,
    /// What was named does not exist, or is no program.
    #[error("pages cannot be rendered: {0} is no program; set browser to the path of Chromium")]
    Named(PathBuf),
}

/// See [`crate::find`].
pub(crate) fn find(named: Option<&Path>, path: Option<&OsStr>) -> Result<PathBuf, NoBrowser> {
    let in_path = |name: &Path| {
        let folders = path.map(std::env::split_paths).into_iter().flatten();
        let mut files = folders.map(|folder| folder.join(name));
        files.find(|file| is_program(file))
    };
    match named {
        Some(named) if named.components().count() > 1 => {
            Some(named.to_owned()).filter(|named| is_program(named))
        }
        Some(name) => in_path(name),
        None => NAMES.iter().find_map(|name| in_path(Path::new(name))),
    }
    .ok_or_else(|| match named {
        Some(named) => NoBrowser::Named(named.to_owned()),
        None => NoBrowser::Usual,
    })
}

fn is_program(path: &Path) -> bool {
    let Ok(about) = path.metadata() else {
        return false;
    };
    #[cfg(unix)]
    let may_run = std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let may_run = true;
    about.is_file() && may_run
}

/// Features that ask for something by themselves, hold a page back, or put a frame into a process of its own, whose requests would
/// wait for ever.
const WITHOUT_FEATURES: [&str; 8] = [
    "DialMediaRouteProvider",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "IsolateOrigins",
    "MediaRouter",
    "OptimizationHints",
    "Translate",
    "site-per-process",
];

/// Options, of <https://peter.sh/experiments/chromium-command-line-switches/>.
const OPTIONS: [&str; 31] = [
    "--headless",
    "--remote-debugging-port=0",
    "--no-first-run",
    "--no-default-browser-check",
    // Nothing is asked for by itself, or passes by the answers of the crawl.
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-crash-reporter",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-quic",
    "--disable-sync",
    "--metrics-recording-only",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    // All answers come from hosts that the crawl may ask, so pages may read all of them.
    "--disable-site-isolation-trials",
    "--disable-web-security",
    // Nobody looks at it.
    "--block-new-web-contents",
    "--deny-permission-prompts",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-notifications",
    "--hide-scrollbars",
    "--mute-audio",
    "--password-store=basic",
    "--window-size=1280,2000",
    // Megabytes of objects of a page; below it the page crashes.
    "--js-flags=--max-old-space-size=512",
];

/// The arguments for a browser with this profile folder. As root it has no sandbox: Chromium does not start with it.
pub(crate) fn arguments(profile: &Path, is_root: bool) -> Vec<String> {
    let mut arguments: Vec<String> = OPTIONS.map(str::to_owned).into();
    arguments.push(format!("--disable-features={}", WITHOUT_FEATURES.join(",")));
    arguments.push(format!("--user-data-dir={}", profile.display()));
    if is_root {
        arguments.push("--no-sandbox".to_owned());
    }
    arguments.push("about:blank".to_owned());
    arguments
}

#[cfg(test)]
mod tests {
    use std::{env, fs};

    use super::*;

    #[test]
    #[cfg(unix)]
    fn a_browser_is_found_by_name_and_by_path() {
        use std::os::unix::fs::PermissionsExt as _;
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let path = env::join_paths(folders.iter().map(tempfile::TempDir::path)).unwrap();
        let find = |named: Option<&str>| find(named.map(Path::new), Some(&path));
        assert!(matches!(find(None), Err(NoBrowser::Usual)));
        let add = |folder: usize, name: &str, mode: u32| {
            let file = folders[folder].path().join(name);
            fs::write(&file, "").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            file
        };
        add(0, "chromium", 0o644);
        assert!(matches!(find(None), Err(NoBrowser::Usual)));
        let full = add(1, "chromium", 0o755);
        assert_eq!(find(None).unwrap(), full);
        let shell = add(1, "chromium-headless-shell", 0o755);
        assert_eq!(find(None).unwrap(), shell);
        assert_eq!(find(Some("chromium")).unwrap(), full);
        assert_eq!(find(Some(full.to_str().unwrap())).unwrap(), full);
        let missing = find(Some("/no/such/browser")).unwrap_err();
        assert!(
            missing.to_string().contains("/no/such/browser"),
            "{missing}"
        );
        assert!(matches!(find(Some("firefox")), Err(NoBrowser::Named(_))));
    }
}
