//! Limit of reading a robots.txt.

use crate::fetch::{BodySink, BodyWish, ResponseHead};

/// Bytes of a robots.txt that count, after decoding: 500 KiB, the least that [RFC 9309 section
/// 2.5](https://www.rfc-editor.org/rfc/rfc9309#section-2.5) requires, and the limit of Google.
pub const MAX_ROBOTS_BYTES: usize = 500 * 1_024;

/// The part of `body` that counts: all of it, or the whole lines within [`MAX_ROBOTS_BYTES`]. Half a line could allow URLs that
/// the line forbids: `Allow: /` out of `Allow: /open`.
pub fn cut(body: &[u8]) -> &[u8] {
    let Some((head, tail)) = body.split_at_checked(MAX_ROBOTS_BYTES) else {
        return body;
    };
    match tail.first() {
        None => head,
        Some(&next) if is_line_end(next) => head,
        Some(_) => {
            let end = head
                .iter()
                .rposition(|&byte| is_line_end(byte))
                .map_or(0, |position| position + 1);
            head.get(..end).unwrap_or_default()
        }
    }
}

/// Returns whether `byte` ends a line: CR, LF, or both.
pub(super) fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Collects the body of a robots.txt, and stops when it has enough.
#[derive(Debug, Default)]
pub struct RobotsSink {
    /// A byte above the limit: it distinguishes a body of exactly that size from one that was cut.
    body: Vec<u8>,
}

impl RobotsSink {
    /// An empty sink, for one answer.
    pub fn new() -> Self {
        Self::default()
    }

    /// The part of the body that counts; empty unless the status was 2xx.
    pub fn body(&self) -> &[u8] {
        cut(&self.body)
    }
}

impl BodySink for RobotsSink {
    fn accepted_types(&self) -> &'static str {
        // RFC 9309 section 2.3: the file is plain text.
        "text/plain,*/*;q=0.1"
    }

    fn head(&mut self, head: &ResponseHead) -> BodyWish {
        self.body.clear();
        if (200..300).contains(&head.status) {
            BodyWish::Read
        } else {
            BodyWish::Stop
        }
    }

    fn chunk(&mut self, bytes: &[u8]) -> BodyWish {
        let room = (MAX_ROBOTS_BYTES + 1).saturating_sub(self.body.len());
        self.body.extend(bytes.iter().take(room));
        if self.body.len() > MAX_ROBOTS_BYTES {
            BodyWish::Stop
        } else {
            BodyWish::Read
        }
    }
}
