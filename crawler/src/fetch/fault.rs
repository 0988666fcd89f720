//! Classifies a failure before the complete head: finds the cause at the bottom of the error chain and describes it with the name
//! of the host. Branches on types, never on texts.

use std::{error::Error, fmt, io, net::UdpSocket, time::Duration};

use h2::Reason;
use jiff::Timestamp;
use rustls::{CertificateError, InvalidMessage, pki_types::UnixTime};

use super::{FetchError, FetchErrorKind, tls::NoIssuer};

/// Names of a certificate that a message shows at most.
const MAX_NAMES: usize = 5;

/// Errors of a chain that are looked at; real chains have about six.
const MAX_DEPTH: usize = 16;

/// Target of the request.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequestTarget<'a> {
    /// The whole URL.
    pub(super) url: &'a str,
    /// The host name.
    pub(super) host: &'a str,
    /// The port.
    pub(super) port: u16,
    /// Host and port of the proxy between it and arpent, if there is one.
    pub(super) proxy: Option<&'a str>,
}

impl fmt::Display for RequestTarget<'_> {
    /// The peer of the connection.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)?;
        match self.proxy {
            Some(proxy) => write!(f, " through the proxy {proxy}"),
            None => Ok(()),
        }
    }
}

/// Progress of the attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AttemptPhase {
    /// No connection yet (TCP and TLS).
    Connecting,
    /// The request was on its way.
    Waiting,
}

/// The failure after `error`.
pub(super) fn describe(
    error: &(dyn Error + 'static),
    phase: AttemptPhase,
    target: RequestTarget<'_>,
) -> FetchError {
    let cause = FaultCause::of(error);
    let url = target.url;
    let (kind, message) = match (cause, phase) {
        // The answer to the first message of TLS was something else.
        (FaultCause::Tls(rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType)), _) => {
            (
                FetchErrorKind::Protocol,
                format!("{target} does not use TLS"),
            )
        }
        (FaultCause::Tls(error), _) => (FetchErrorKind::Tls, tls_reason(error, target)),
        (FaultCause::Io(error), _) if error.kind() == io::ErrorKind::TimedOut => (
            FetchErrorKind::Timeout,
            format!("no answer from {target}: timed out"),
        ),
        (FaultCause::Io(error), _) if local_reason(error).is_some() => (
            FetchErrorKind::Local,
            format!(
                "{}; {target} was not asked",
                local_reason(error).unwrap_or_default()
            ),
        ),
        // A proxy says by an answer that it does not reach the host: the connection that failed is the one to the proxy.
        (FaultCause::Io(error), AttemptPhase::Connecting)
            if target.proxy.is_some() && !is_broken_off(error) =>
        {
            (
                FetchErrorKind::Local,
                format!(
                    "cannot connect to the proxy {} (setting proxy): {}; {}:{} was not asked",
                    target.proxy.unwrap_or_default(),
                    io_reason(error),
                    target.host,
                    target.port
                ),
            )
        }
        (FaultCause::Io(error), AttemptPhase::Connecting) if is_broken_off(error) => (
            FetchErrorKind::Reset,
            format!("{target} closed the connection during the TLS handshake"),
        ),
        (FaultCause::Io(error), AttemptPhase::Connecting)
            if error.kind() == io::ErrorKind::ConnectionRefused =>
        {
            (
                FetchErrorKind::Connect,
                format!("connection refused by {target}"),
            )
        }
        (FaultCause::Io(error), AttemptPhase::Connecting) => (
            FetchErrorKind::Connect,
            format!("cannot connect to {target}: {}", io_reason(error)),
        ),
        (FaultCause::Io(error), AttemptPhase::Waiting) => (
            FetchErrorKind::Reset,
            format!("connection to {target} broke off: {}", io_reason(error)),
        ),
        (FaultCause::Incomplete, _) => (
            FetchErrorKind::Reset,
            format!("{target} closed the connection before the head was complete"),
        ),
        (FaultCause::NotHttp(reason), _) => (
            FetchErrorKind::Protocol,
            format!("{url} does not answer in proper HTTP: {reason}"),
        ),
        (
            FaultCause::Http2 {
                remote: true,
                reason,
                ..
            },
            _,
        ) => (
            FetchErrorKind::Reset,
            format!("{target} ended the HTTP/2 stream: {reason}"),
        ),
        (
            FaultCause::Http2 {
                remote: false,
                reason,
                ..
            },
            _,
        ) => (
            FetchErrorKind::Protocol,
            format!("{target} breaks the rules of HTTP/2: {reason}"),
        ),
        (FaultCause::Unknown(reason), AttemptPhase::Connecting) => (
            FetchErrorKind::Connect,
            format!("cannot connect to {target}: {reason}"),
        ),
        (FaultCause::Unknown(reason), AttemptPhase::Waiting) => (
            FetchErrorKind::Protocol,
            format!("no answer from {url}: {reason}"),
        ),
    };
    FetchError::new(kind, message)
}

/// Returns whether a failure is that the server broke the rules of HTTP/2, finds that we did, or wants HTTP/1.1 (RFC 9113 7).
pub(super) fn breaks_http2(error: &FetchError) -> bool {
    match FaultCause::of(error) {
        FaultCause::Http2 { remote, code, .. } => {
            let wants = [Reason::HTTP_1_1_REQUIRED, Reason::PROTOCOL_ERROR];
            !remote || code.is_some_and(|code| wants.contains(&code))
        }
        _ => false,
    }
}

/// The failure of a time limit; `what` did not arrive within `limit`.
pub(super) fn timed_out(what: &str, limit: Duration) -> FetchError {
    FetchError::new(FetchErrorKind::Timeout, format!("{what} within {limit:?}"))
}

/// The most specific error of a chain.
enum FaultCause<'a> {
    Tls(&'a rustls::Error),
    Io(&'a io::Error),
    /// HTTP/1.1: the connection ended inside or before the head.
    Incomplete,
    /// The head breaks a rule of HTTP/1.1, or a limit.
    NotHttp(String),
    /// The stream or the connection was ended, by the server when `remote`.
    Http2 {
        remote: bool,
        code: Option<Reason>,
        reason: String,
    },
    /// Nothing we know; the text of the innermost error.
    Unknown(String),
}

impl<'a> FaultCause<'a> {
    fn of(error: &'a (dyn Error + 'static)) -> Self {
        let mut last = error;
        let mut found = None;
        for error in std::iter::successors(Some(error), |error| inner(*error)).take(MAX_DEPTH) {
            last = error;
            // An inner cause is more specific than its wrapper.
            found = Self::of_one(error).or(found);
        }
        found.unwrap_or_else(|| Self::Unknown(last.to_string()))
    }

    fn of_one(error: &'a (dyn Error + 'static)) -> Option<Self> {
        if let Some(error) = error.downcast_ref::<rustls::Error>() {
            return Some(Self::Tls(error));
        }
        if let Some(error) = error.downcast_ref::<h2::Error>() {
            return Some(match error.get_io() {
                Some(error) => Self::Io(error),
                None => Self::Http2 {
                    remote: error.is_remote(),
                    code: error.reason(),
                    reason: error.to_string(),
                },
            });
        }
        if let Some(error) = error.downcast_ref::<hyper::Error>() {
            return match error {
                _ if error.is_incomplete_message() || error.is_canceled() || error.is_closed() => {
                    Some(Self::Incomplete)
                }
                _ if error.is_parse() => Some(Self::NotHttp(error.to_string())),
                _ => None,
            };
        }
        error.downcast_ref::<io::Error>().map(Self::Io)
    }
}

/// The error inside `error`. An `io::Error` that wraps another hides it from `source`.
fn inner<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref)
    {
        Some(wrapped) => Some(wrapped),
        None => error.source(),
    }
}

fn is_broken_off(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::UnexpectedEof
            | io::ErrorKind::NotConnected
    )
}

/// The process has too many open files, on every Unix.
const EMFILE: i32 = 24;

/// The system has too many open files, on every Unix.
const ENFILE: i32 = 23;

/// Local reason why the request could not be sent, if the error has one.
fn local_reason(error: &io::Error) -> Option<&'static str> {
    match (error.kind(), error.raw_os_error()) {
        (_, Some(EMFILE | ENFILE)) => {
            Some("this machine has no file descriptor left (see ulimit -n)")
        }
        (io::ErrorKind::NetworkDown | io::ErrorKind::NetworkUnreachable, _) if !has_route() => {
            Some("this machine has no network route")
        }
        _ => None,
    }
}

/// Returns whether this machine has a route to anywhere. A name with addresses of two families may fail by the one that this
/// machine does not have. Nothing is sent: connecting a datagram socket only looks for a route.
fn has_route() -> bool {
    // Addresses for documentation (RFC 5737, RFC 3849), without any host.
    let leads_to = |own: &str, other: &str| {
        UdpSocket::bind((own, 0)).is_ok_and(|socket| socket.connect((other, 9)).is_ok())
    };
    leads_to("0.0.0.0", "192.0.2.1") || leads_to("::", "2001:db8::1")
}

/// The system's reason in lower case, e.g. `connection refused`.
fn io_reason(error: &io::Error) -> String {
    match (error.raw_os_error(), error.kind()) {
        (Some(_), io::ErrorKind::Other) | (None, _) => error.to_string(),
        (Some(_), kind) => kind.to_string(),
    }
}

fn tls_reason(error: &rustls::Error, target: RequestTarget<'_>) -> String {
    match error {
        rustls::Error::InvalidCertificate(error) => certificate_reason(error, target.host),
        rustls::Error::AlertReceived(alert) => {
            format!("{target} refused the TLS handshake: {alert:?}")
        }
        other => format!("no TLS connection to {target}: {other}"),
    }
}

fn certificate_reason(error: &CertificateError, host: &str) -> String {
    match error {
        CertificateError::Expired => format!("certificate of {host} has expired"),
        CertificateError::ExpiredContext { not_after, .. } => {
            format!("certificate of {host} expired on {}", date(*not_after))
        }
        CertificateError::NotValidYet => format!("certificate of {host} is not valid yet"),
        CertificateError::NotValidYetContext { not_before, .. } => {
            format!(
                "certificate of {host} is not valid before {}",
                date(*not_before)
            )
        }
        CertificateError::NotValidForName => format!("certificate is not for {host}"),
        CertificateError::NotValidForNameContext { presented, .. } => {
            format!("certificate is for {}, not for {host}", names(presented))
        }
        CertificateError::UnknownIssuer => {
            format!(
                "certificate of {host} is self-signed, or of an authority that this machine does not know; if it is \
                 to be trusted, name its certificate in PEM format with --ca-file FILE"
            )
        }
        CertificateError::Other(error)
            if error.0.downcast_ref() == Some(&webpki::Error::CaUsedAsEndEntity) =>
        {
            format!(
                "certificate of {host} is that of an authority (CA:TRUE); if it is to be trusted, name it in PEM format with \
                 --ca-file FILE"
            )
        }
        CertificateError::Other(error) if error.0.downcast_ref() == Some(&NoIssuer) => {
            format!(
                "certificate of {host} is of an issuer that this machine does not know, and the server sends no intermediate \
                 certificate: let it send the whole chain, or name the certificate of a private authority in PEM format with \
                 --ca-file FILE"
            )
        }
        CertificateError::BadSignature => {
            format!(
                "certificate of {host} was not signed by the authority of this machine that it names; if it is self-signed and to be \
                 trusted, name it in PEM format with --ca-file FILE"
            )
        }
        CertificateError::Revoked => format!("certificate of {host} was revoked"),
        other => format!("certificate of {host} is not valid: {other}"),
    }
}

/// The day, UTC.
fn date(time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    match Timestamp::from_second(seconds) {
        Ok(timestamp) => timestamp.strftime("%Y-%m-%d").to_string(),
        Err(_) => format!("second {seconds}"),
    }
}

/// The names of a certificate, which come as `DnsName("www.example.com")`.
fn names(presented: &[String]) -> String {
    if presented.is_empty() {
        return "no name at all".to_owned();
    }
    let shown: Vec<&str> = presented
        .iter()
        .take(MAX_NAMES)
        .map(|name| name.split('"').nth(1).unwrap_or(name))
        .collect();
    let others = if presented.len() > MAX_NAMES {
        " and others"
    } else {
        ""
    };
    shown.join(", ") + others
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_few_file_descriptors_are_a_local_fault() {
        let target = RequestTarget {
            url: "http://h.example/",
            host: "h.example",
            port: 80,
            proxy: Some("proxy.example:3128"),
        };
        for code in [EMFILE, ENFILE] {
            let error = io::Error::from_raw_os_error(code);
            let fault = describe(&error, AttemptPhase::Connecting, target);
            assert_eq!(fault.kind(), FetchErrorKind::Local);
            assert!(fault.to_string().contains("ulimit -n"), "{fault}");
        }
    }
}
