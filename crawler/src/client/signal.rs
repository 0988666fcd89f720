//! The evidence of an answer about its host, and whether another try is worth it. Pure.

use std::time::Duration;

use jiff::Timestamp;

use crate::{
    fetch::{FetchError, FetchErrorKind, Fetched, Headers},
    page::BodyEnd,
    politeness::Signal,
};

/// Statuses after which another try may help (RFC 9110 section 15.6; 52x are the network errors of
/// content delivery networks).
pub(crate) fn is_passing_status(status: u16) -> bool {
    matches!(status, 408 | 429 | 500 | 502 | 503 | 504 | 520..=529)
}

/// Returns whether the whole attempt is worth another try.
pub(crate) fn is_passing(result: &Result<Fetched, FetchError>) -> bool {
    match result {
        Ok(fetched) => is_passing_status(fetched.head.status) || fetched.end == BodyEnd::CutShort,
        Err(error) => error.kind().is_passing(),
    }
}

/// The signal to politeness for an attempt whose head arrived after `latency`.
pub(crate) fn signal_of(
    result: &Result<Fetched, FetchError>,
    latency: Duration,
    now: Timestamp,
) -> Signal {
    match result {
        Ok(fetched) => match fetched.head.status {
            429 | 502 | 503 | 504 | 520..=529 => Signal::Overloaded {
                retry_after: retry_after(&fetched.head.headers, now),
            },
            500..=599 => Signal::ServerError {
                retry_after: retry_after(&fetched.head.headers, now),
            },
            _ if fetched.end == BodyEnd::CutShort => Signal::Unreachable,
            _ => Signal::Fine { latency },
        },
        Err(error) => match error.kind() {
            FetchErrorKind::Dns
            | FetchErrorKind::Connect
            | FetchErrorKind::Timeout
            | FetchErrorKind::Reset => Signal::Unreachable,
            FetchErrorKind::Local => Signal::Local,
            FetchErrorKind::Tls
            | FetchErrorKind::Http1Next
            | FetchErrorKind::Protocol
            | FetchErrorKind::Forbidden => Signal::Neutral,
        },
    }
}

/// `Retry-After` from now on, in both forms (RFC 9110 section 10.2.3). A date is read against the
/// server's own clock (`Date`) where it has one, else against ours; a date in the past, a negative
/// number and text mean nothing. Absurd numbers saturate.
pub(crate) fn retry_after(headers: &Headers, now: Timestamp) -> Option<Duration> {
    let text = headers.text("retry-after")?;
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let until = http_date(text)?;
    let from = server_time(headers).unwrap_or(now);
    let wait = until.as_second().checked_sub(from.as_second())?;
    u64::try_from(wait)
        .ok()
        .filter(|&seconds| seconds > 0)
        .map(Duration::from_secs)
}

/// The server's clock when it answers us: `Date`, and `Age` where a cache kept the answer
/// (RFC 9111 section 5.1).
pub(crate) fn server_time(headers: &Headers) -> Option<Timestamp> {
    let date = http_date(headers.text("date")?)?;
    let age = headers.text("age").and_then(|age| age.parse::<u32>().ok());
    date.checked_add(Duration::from_secs(age.unwrap_or_default().into()))
        .ok()
}

/// An HTTP date in any of the three forms (RFC 9110 section 5.6.7).
pub(crate) fn http_date(text: &str) -> Option<Timestamp> {
    Timestamp::try_from(httpdate::parse_http_date(text).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lines: &[(&str, &str)], expected: Option<u64>) {
        let now = "2026-03-01T12:00:00Z".parse().unwrap();
        let headers: Headers = lines.iter().copied().collect();
        assert_eq!(
            retry_after(&headers, now),
            expected.map(Duration::from_secs),
            "{lines:?}"
        );
    }

    #[test]
    fn retry_after_is_read_in_both_forms() {
        for (value, expected) in [
            ("12", Some(12)),
            (" 0 ", Some(0)),
            ("100000000000000000000000", Some(u64::MAX)),
            ("Sun, 01 Mar 2026 12:00:30 GMT", Some(30)),
            ("Sunday, 01-Mar-26 12:00:30 GMT", Some(30)),
            ("Sun Mar  1 12:00:30 2026", Some(30)),
            ("Sun, 01 Mar 2020 12:00:00 GMT", None),
            ("", None),
            ("-5", None),
            ("soon", None),
            ("1.5", None),
        ] {
            check(&[("retry-after", value)], expected);
        }
        check(&[], None);
        // By the clock of the server.
        let date = ("date", "Sun, 01 Mar 2026 13:00:00 GMT");
        let later = ("retry-after", "Sun, 01 Mar 2026 13:00:05 GMT");
        check(&[later, date], Some(5));
        let earlier = ("retry-after", "Sun, 01 Mar 2026 12:59:00 GMT");
        check(&[earlier, date], None);
    }

    #[test]
    fn the_age_of_an_answer_is_added() {
        let headers: Headers = [("date", "Sun, 01 Mar 2026 13:00:00 GMT"), ("age", "90")]
            .into_iter()
            .collect();
        assert_eq!(server_time(&headers), "2026-03-01T13:01:30Z".parse().ok());
    }

    #[test]
    fn passing_statuses_are_tried_again() {
        for status in [408, 429, 500, 502, 503, 504, 520, 524] {
            assert!(is_passing_status(status), "{status}");
        }
        for status in [200, 301, 400, 401, 403, 404, 410, 451, 501, 505] {
            assert!(!is_passing_status(status), "{status}");
        }
    }
}
