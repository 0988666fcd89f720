//! Who may see the page, and who may start commands: whoever has logged in with the token of the settings.

use std::{
    collections::{HashMap, VecDeque},
    fmt::Write as _,
    fs,
    net::{IpAddr, SocketAddr},
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::http::{HeaderMap, header};
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use super::layout::Bar;
use crate::failure::{self, Misuse};

/// How long a login lasts.
const LOGIN_TIME: Duration = Duration::from_secs(12 * 60 * 60);

/// Logins at the same time; the oldest ends for a new one.
const MAX_LOGINS: usize = 100;

/// Wrong tokens of one address in [`FAILURE_TIME`].
const MAX_FAILURES: usize = 5;
const FAILURE_TIME: Duration = Duration::from_secs(60);

/// A shorter token could be guessed.
const MIN_TOKEN_BYTES: usize = 16;

/// The cookie with a login.
const COOKIE: &str = "arpent-login";

/// Who may see and do what.
pub(super) struct Access {
    /// The hash of the token; `None`: there is none, and nobody logs in.
    token: Option<[u8; 32]>,
    logins: Mutex<HashMap<String, Instant>>,
    failures: Mutex<HashMap<IpAddr, VecDeque<Instant>>>,
}

/// Somebody who has logged in.
#[derive(Clone)]
pub(super) struct Login(String);

impl Access {
    /// Access to a page at `address` by the token in this file.
    ///
    /// # Errors
    /// The file cannot be read or its token is short, or other machines reach the page and there is no token.
    pub(super) fn new(token_file: Option<&Path>, address: SocketAddr) -> failure::Result<Self> {
        let is_for_others = !address.ip().is_loopback();
        let token = token_file.map(read_token).transpose()?;
        if is_for_others && token.is_none() {
            let message = format!(
                "{address} can be reached by other machines, so the page needs page_token_file; without it use an address of this machine, such as 127.0.0.1:8080"
            );
            return Err(Misuse(message).into());
        }
        Ok(Self {
            token,
            logins: Mutex::default(),
            failures: Mutex::default(),
        })
    }

    /// Returns whether only those may read the page that have logged in, and they may start commands.
    pub(super) fn has_token(&self) -> bool {
        self.token.is_some()
    }

    fn logins(&self) -> MutexGuard<'_, HashMap<String, Instant>> {
        self.logins.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The login of a request.
    pub(super) fn login_of(&self, headers: &HeaderMap) -> Option<Login> {
        let cookies = headers.get_all(header::COOKIE).into_iter();
        let cookies = cookies.filter_map(|line| line.to_str().ok());
        let mut pairs = cookies.flat_map(|line| line.split(';'));
        let value = pairs.find_map(|pair| {
            let (name, value) = pair.split_once('=')?;
            (name.trim() == COOKIE).then(|| value.trim().to_owned())
        })?;
        let logins = self.logins();
        let begun = logins.get(&value)?;
        (begun.elapsed() < LOGIN_TIME).then_some(Login(value))
    }

    /// Takes a token: the cookie of a new login, or `None` when it is a wrong one.
    ///
    /// # Errors
    /// There were too many wrong ones.
    pub(super) fn log_in(
        &self,
        typed: &str,
        client: IpAddr,
        now: Instant,
    ) -> Result<Option<String>, ()> {
        let all = self.failures.lock();
        let mut all = all.unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, failures| failures.back().is_some_and(|at| now - *at < FAILURE_TIME));
        let failures = all.entry(client).or_default();
        while failures.front().is_some_and(|at| now - *at >= FAILURE_TIME) {
            failures.pop_front();
        }
        if failures.len() >= MAX_FAILURES {
            return Err(());
        }
        // Hashes are compared: how long it takes says nothing about the token.
        let is_right = self.token == Some(hash(typed.trim()));
        if !is_right {
            failures.push_back(now);
            return Ok(None);
        }
        let mut random = [0; 32];
        getrandom::fill(&mut random).map_err(|_| ())?;
        let login = hex(&random);
        let mut logins = self.logins();
        logins.retain(|_, begun| begun.elapsed() < LOGIN_TIME);
        if logins.len() >= MAX_LOGINS {
            let oldest = logins.iter().min_by_key(|(_, begun)| **begun);
            if let Some(oldest) = oldest.map(|(login, _)| login.clone()) {
                logins.remove(&oldest);
            }
        }
        logins.insert(login.clone(), now);
        let age = LOGIN_TIME.as_secs();
        Ok(Some(format!(
            "{COOKIE}={login}; Path=/; HttpOnly; SameSite=Strict; Max-Age={age}"
        )))
    }

    pub(super) fn log_out(&self, login: &Login) {
        self.logins().remove(&login.0);
    }
}

/// What the head of the page has for somebody.
pub(super) fn bar_of(login: Option<&Login>) -> Bar {
    match login {
        Some(login) => Bar::LoggedIn {
            token: login.form_token("logout", ""),
        },
        None => Bar::ReadOnly,
    }
}

impl Login {
    /// The token of the form for this action on this site.
    pub(super) fn form_token(&self, action: &str, site: &str) -> String {
        hex(&hash(&format!("{}\n{action}\n{site}", self.0)))
    }

    /// Returns whether a form of this login sent `token`.
    pub(super) fn has_sent(&self, token: &str, action: &str, site: &str) -> bool {
        hash(&self.form_token(action, site)) == hash(token)
    }
}

fn read_token(path: &Path) -> failure::Result<[u8; 32]> {
    let text = fs::read_to_string(path).map_err(|error| {
        Misuse(format!(
            "page_token_file: failed to read {}: {error}",
            path.display()
        ))
    })?;
    let token = text.trim();
    if token.len() < MIN_TOKEN_BYTES {
        let message = format!(
            "page_token_file: the token in {} has {} bytes; expected at least {MIN_TOKEN_BYTES}, for example by: openssl rand -hex 32",
            path.display(),
            token.len()
        );
        return Err(Misuse(message).into());
    }
    Ok(hash(token))
}

fn hash(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        _ = write!(text, "{byte:02x}");
        text
    })
}

/// Returns whether a browser sent this for a page of another site (Fetch Metadata).
pub(super) fn is_of_other_site(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site");
    site.is_some_and(|site| site != "same-origin" && site != "none")
}

/// Returns whether somebody follows a link, or types the URL (Fetch Metadata).
pub(super) fn is_navigation(headers: &HeaderMap) -> bool {
    let mode = headers.get("sec-fetch-mode");
    mode.is_some_and(|mode| mode == "navigate")
}

/// Returns whether a request names this machine by an IP address or as localhost: a page of another site that has its own name lead
/// here (DNS rebinding) does not.
pub(super) fn is_asked_by_address(headers: &HeaderMap) -> bool {
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let Some(host) = host else {
        return false;
    };
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    let name = match host.rsplit_once(':') {
        Some((name, port)) if is_port(port) && !name.ends_with(':') => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn logins_are_few_and_end() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        fs::write(&file, "0123456789abcdef\n").unwrap();
        let local: SocketAddr = "127.0.0.1:8080".parse().unwrap();
        let access = Access::new(Some(&file), local).unwrap();
        let headers = |cookie: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::COOKIE, format!("a=b; {cookie}").parse().unwrap());
            headers
        };
        let now = Instant::now();
        let cookie = access
            .log_in(" 0123456789abcdef", local.ip(), now)
            .unwrap()
            .unwrap();
        assert!(cookie.contains("; HttpOnly; SameSite=Strict; "), "{cookie}");
        let pair = cookie.split(';').next().unwrap().to_owned();
        let login = access.login_of(&headers(&pair)).unwrap();
        assert!(access.login_of(&headers("arpent-login=0")).is_none());
        let token = login.form_token("crawl", "a");
        assert!(login.has_sent(&token, "crawl", "a"));
        assert!(!login.has_sent(&token, "crawl", "b") && !login.has_sent(&token, "pause", "a"));
        for _ in 0..MAX_FAILURES {
            assert_eq!(access.log_in("wrong", local.ip(), Instant::now()), Ok(None));
        }
        assert_eq!(
            access.log_in("0123456789abcdef", local.ip(), Instant::now()),
            Err(())
        );
        tokio::time::advance(FAILURE_TIME).await;
        assert!(
            access
                .log_in("0123456789abcdef", local.ip(), Instant::now())
                .unwrap()
                .is_some()
        );
        tokio::time::advance(LOGIN_TIME).await;
        assert!(access.login_of(&headers(&pair)).is_none());
    }

    #[test]
    fn other_machines_need_a_token() {
        let check = |address: &str, token: Option<&str>, expected: Option<&str>| {
            let folder = tempfile::tempdir().unwrap();
            let file = token.map(|token| {
                let file = folder.path().join("token");
                fs::write(&file, token).unwrap();
                file
            });
            let access = Access::new(file.as_deref(), address.parse().unwrap());
            let error = access.err().map(|error| error.in_full());
            match expected {
                None => assert_eq!(error, None),
                Some(expected) => assert!(error.unwrap().contains(expected)),
            }
        };
        check("127.0.0.1:1", None, None);
        check("[::1]:1", None, None);
        check("0.0.0.0:1", None, Some("needs page_token_file"));
        check("0.0.0.0:1", Some("0123456789abcdef"), None);
        check("127.0.0.1:1", Some("short"), Some("has 5 bytes"));
    }

    #[test]
    fn hosts_are_addresses() {
        let check = |host: &str, expected: bool| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            assert_eq!(is_asked_by_address(&headers), expected, "{host}");
        };
        for host in [
            "127.0.0.1",
            "127.0.0.1:8080",
            "localhost:1",
            "LOCALHOST",
            "[::1]:80",
            "[::1]",
        ] {
            check(host, true);
        }
        for host in [
            "evil.example",
            "evil.example:8080",
            "127.0.0.1.evil.example",
            "localhost.evil",
            "",
        ] {
            check(host, false);
        }
        assert!(!is_asked_by_address(&HeaderMap::new()));
    }
}
