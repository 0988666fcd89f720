//! The limits of one body: counts its bytes on the wire and decoded, and stops at the first byte too many. Stores one piece at a
//! time.

use std::ops::ControlFlow;

use super::{
    BodySink, BodyWish, ResponseHead,
    decode::{Coding, Decoder},
};
use crate::page::BodyEnd;

/// First byte of a gzip member (RFC 1952 2.3.1).
const GZIP_BEGIN: [u8; 1] = [0x1f];

/// Decodes one body and hands it to a [`BodySink`] within the limits.
pub(super) struct BodyReader {
    decoder: Decoder,
    /// Undoes the coding that was applied first, of two.
    inner: Option<Decoder>,
    max_bytes: u64,
    wire_bytes: u64,
    /// Bytes around the pieces of the body, and around each.
    framing_bytes: u64,
    piece_framing: u64,
    /// Bytes between two codings.
    coded_bytes: u64,
    decoded_bytes: u64,
}

impl BodyReader {
    /// A reader for the body after `head`; `length` is its announced size on the wire. `piece_framing` bytes around each of its
    /// pieces count towards `max_bytes`, because a body in pieces of one byte is as much work as one of their size.
    ///
    /// # Errors
    /// The body cannot be decoded, or is too large already by its announcement.
    pub(super) fn new(
        head: &ResponseHead,
        piece_framing: u64,
        length: Option<u64>,
        max_bytes: u64,
    ) -> Result<Self, BodyEnd> {
        let mut codings = Coding::of(&head.headers).map_err(BodyEnd::Undecodable)?;
        if length.is_some_and(|length| length > max_bytes) {
            return Err(BodyEnd::TooLarge);
        }
        let last = codings.pop().unwrap_or(Coding::Identity);
        let decoder = Decoder::new(last).map_err(BodyEnd::Undecodable)?;
        let inner = codings.pop().map(Decoder::new).transpose();
        Ok(Self {
            decoder,
            inner: inner.map_err(BodyEnd::Undecodable)?,
            max_bytes,
            wire_bytes: 0,
            framing_bytes: 0,
            piece_framing,
            coded_bytes: 0,
            decoded_bytes: 0,
        })
    }

    /// Takes the next bytes from the wire. Breaks when the body has ended early.
    pub(super) async fn take_bytes(
        &mut self,
        wire: &[u8],
        sink: &mut (dyn BodySink + Send),
    ) -> ControlFlow<BodyEnd> {
        self.framing_bytes += self.piece_framing;
        // Pieces of an ordinary body are longer than what is around them.
        let framing = self.framing_bytes.saturating_sub(self.wire_bytes);
        let taken = self.wire_bytes.saturating_add(framing);
        let (mut input, surplus) = split_at_most(wire, self.max_bytes.saturating_sub(taken));
        self.wire_bytes += length_of(wire);
        loop {
            let mut coded = match self.decoder.next(&mut input) {
                Ok([]) => break,
                Ok(piece) => piece,
                Err(coding) => return ControlFlow::Break(BodyEnd::Undecodable(coding)),
            };
            if self.coded_bytes == 0 && !coded.starts_with(&GZIP_BEGIN) {
                // The header names gzip once more than it was applied.
                self.inner = self.inner.take().filter(|inner| !inner.is_of_gzip());
            }
            self.coded_bytes += length_of(coded);
            if self.coded_bytes > self.max_bytes && self.inner.is_some() {
                return ControlFlow::Break(BodyEnd::TooLarge);
            }
            loop {
                let piece = match &mut self.inner {
                    None => std::mem::take(&mut coded),
                    Some(inner) => match inner.next(&mut coded) {
                        Ok(piece) => piece,
                        Err(coding) => return ControlFlow::Break(BodyEnd::Undecodable(coding)),
                    },
                };
                if piece.is_empty() {
                    break;
                }
                let (piece, surplus) = split_at_most(piece, self.max_bytes - self.decoded_bytes);
                self.decoded_bytes += length_of(piece);
                if !piece.is_empty() && sink.chunk(piece) == BodyWish::Stop {
                    return ControlFlow::Break(BodyEnd::Skipped);
                }
                if !surplus.is_empty() {
                    return ControlFlow::Break(BodyEnd::TooLarge);
                }
                // Decoding and parsing take processor time: yield to other tasks and to the time limits.
                tokio::task::yield_now().await;
            }
        }
        if surplus.is_empty() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(BodyEnd::TooLarge)
        }
    }

    /// Body bytes that came over the wire so far.
    pub(super) fn wire_bytes(&self) -> u64 {
        self.wire_bytes
    }

    /// End of a body whose last wire byte was taken.
    pub(super) fn end(&self) -> BodyEnd {
        let is_complete = |decoder: &Decoder| decoder.is_complete();
        if is_complete(&self.decoder) && self.inner.as_ref().is_none_or(is_complete) {
            BodyEnd::Complete
        } else {
            BodyEnd::CutShort
        }
    }
}

fn split_at_most(bytes: &[u8], limit: u64) -> (&[u8], &[u8]) {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    bytes.split_at(limit.min(bytes.len()))
}

fn length_of(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
