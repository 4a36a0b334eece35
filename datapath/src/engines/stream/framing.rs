//! Framing of messages in a byte stream.

use std::marker::PhantomData;

use super::READ_BYTES;
use crate::engine::payload::{Check, Fill, Origin};
use crate::engine::{BatchCount, IoOptions};
use crate::engines::carrier::LENGTH_BYTES;

/// A way to mark the boundaries of messages in a stream.
pub(in crate::engines) trait Framing: Send + 'static {
    /// Bytes of the header before each message.
    const HEAD_BYTES: usize;

    /// Writes the header of a message.
    fn write_head(head: &mut [u8], message_bytes: usize);

    /// Returns the length of the message after a header. `usual` is the length of all sent messages.
    fn message_bytes(head: &[u8], usual: usize) -> usize;
}

/// No framing: messages follow each other, and both ends know their length.
pub(in crate::engines) enum Bare {}
/// A length before each message, of four bytes in network byte order, like the default of the codec in `tokio-util`.
pub(in crate::engines) enum LengthPrefix {}

impl Framing for Bare {
    const HEAD_BYTES: usize = 0;

    fn write_head(_head: &mut [u8], _message_bytes: usize) {}

    #[inline]
    fn message_bytes(_head: &[u8], usual: usize) -> usize {
        usual
    }
}

impl Framing for LengthPrefix {
    const HEAD_BYTES: usize = LENGTH_BYTES;

    fn write_head(head: &mut [u8], message_bytes: usize) {
        // A payload has less than 2^32 bytes.
        let length = u32::try_from(message_bytes).unwrap_or(u32::MAX);
        head.copy_from_slice(&length.to_be_bytes());
    }

    #[inline]
    fn message_bytes(head: &[u8], _usual: usize) -> usize {
        let mut length = [0; LENGTH_BYTES];
        length.copy_from_slice(head);
        u32::from_be_bytes(length) as usize
    }
}

/// The message being written to a stream. A message that was written in part is continued.
pub(super) struct Outgoing<F> {
    frame: Vec<u8>,
    take_sent_count: usize,
    framing: PhantomData<F>,
}

impl<F: Framing> Outgoing<F> {
    pub(super) fn new(options: &IoOptions) -> Self {
        let payload = options.payload();
        let mut frame = vec![0; F::HEAD_BYTES];
        F::write_head(&mut frame, payload.len());
        frame.extend(payload);
        Self {
            frame,
            take_sent_count: 0,
            framing: PhantomData,
        }
    }

    /// Fills the next message, unless one is being written.
    #[inline]
    pub(super) fn begin(&mut self, fill: &impl Fill) {
        if self.take_sent_count == 0 {
            fill.fill(&mut self.frame[F::HEAD_BYTES..]);
        }
    }

    /// Returns the bytes that have not been written yet.
    #[inline]
    pub(super) fn rest(&self) -> &[u8] {
        &self.frame[self.take_sent_count..]
    }

    /// Notes that `bytes` bytes were written. Returns the message once it is complete.
    #[inline]
    pub(super) fn went(&mut self, bytes: usize) -> Option<BatchCount> {
        self.take_sent_count += bytes;
        (self.take_sent_count >= self.frame.len()).then(|| {
            self.take_sent_count = 0;
            BatchCount::one(self.frame.len() - F::HEAD_BYTES)
        })
    }
}

/// Bytes read from a stream that do not form a whole message yet.
pub(super) struct Incoming<F> {
    buffer: Vec<u8>,
    filled: usize,
    message_bytes: usize,
    framing: PhantomData<F>,
}

impl<F: Framing> Incoming<F> {
    pub(super) fn new(options: &IoOptions) -> Self {
        let frame_bytes = F::HEAD_BYTES + options.buffer_bytes;
        let bytes = if F::HEAD_BYTES == 0 {
            options.payload_bytes
        } else {
            frame_bytes.max(READ_BYTES)
        };
        let receives = options.direction.receives();
        Self {
            buffer: vec![0; if receives { bytes } else { 0 }],
            filled: 0,
            message_bytes: options.payload_bytes,
            framing: PhantomData,
        }
    }

    /// Returns the memory for the next bytes.
    #[inline]
    pub(super) fn room(&mut self) -> &mut [u8] {
        &mut self.buffer[self.filled..]
    }

    /// Notes that `bytes` bytes were read, shows each complete message to `check` and counts them. `None`: a header
    /// states a length above that of any sent message.
    #[inline]
    pub(super) fn came<C: Check>(&mut self, bytes: usize, check: &mut C) -> Option<BatchCount> {
        self.filled += bytes;
        let (mut begin, mut moved) = (0, BatchCount::default());
        while let Some(head) = self.buffer[begin..self.filled].get(..F::HEAD_BYTES) {
            let message_bytes = F::message_bytes(head, self.message_bytes);
            let from = begin + F::HEAD_BYTES;
            let Some(message) = self.buffer[from..self.filled].get(..message_bytes) else {
                if message_bytes > self.buffer.len() - F::HEAD_BYTES {
                    return None;
                }
                break;
            };
            check.check_received(message_bytes, message, || Origin::PEER);
            moved.packets += 1;
            moved.bytes += message_bytes as u64;
            begin = from + message_bytes;
            if begin == self.filled {
                break;
            }
        }
        self.buffer.copy_within(begin..self.filled, 0);
        self.filled -= begin;
        Some(moved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Direction;
    use crate::engine::payload::NoFill;
    use crate::engine::payload::tests::Collected;

    /// Returns three messages as they lie in a stream.
    fn stream<F: Framing>(options: &IoOptions) -> Vec<u8> {
        let mut outgoing = Outgoing::<F>::new(options);
        let mut bytes = Vec::new();
        for n in 0..3 {
            outgoing.begin(&NoFill);
            outgoing.frame[F::HEAD_BYTES..].fill(n);
            let half = outgoing.rest().len() / 2;
            bytes.extend_from_slice(&outgoing.rest()[..half]);
            assert_eq!(outgoing.went(half), None);
            bytes.extend_from_slice(outgoing.rest());
            let rest = outgoing.rest().len();
            assert_eq!(outgoing.went(rest), Some(BatchCount::one(7)));
        }
        bytes
    }

    /// Tests that the same messages come out for every size of the reads.
    fn come_out_whole<F: Framing>() {
        let options = IoOptions::of(Vec::new(), Direction::Both, 7);
        let bytes = stream::<F>(&options);
        for at_a_time in 1..=bytes.len() {
            let mut incoming = Incoming::<F>::new(&options);
            let mut seen = Collected::default();
            let (mut left, mut all) = (&bytes[..], BatchCount::default());
            while !left.is_empty() {
                let room = incoming.room();
                let count = at_a_time.min(left.len()).min(room.len());
                room[..count].copy_from_slice(&left[..count]);
                left = &left[count..];
                let moved = incoming.came(count, &mut seen).expect("none is too long");
                all.packets += moved.packets;
                all.bytes += moved.bytes;
            }
            assert_eq!(all, BatchCount::of(3, 21), "{at_a_time} bytes at a time");
            assert_eq!(seen.0, [vec![0; 7], vec![1; 7], vec![2; 7]]);
        }
    }

    #[test]
    fn messages_come_out_as_they_went_in() {
        come_out_whole::<Bare>();
        come_out_whole::<LengthPrefix>();
    }

    #[test]
    fn a_message_longer_than_any_is_refused() {
        let options = IoOptions::of(Vec::new(), Direction::Both, 7);
        let mut incoming = Incoming::<LengthPrefix>::new(&options);
        incoming.room()[..4].copy_from_slice(&u32::MAX.to_be_bytes());
        assert_eq!(incoming.came(4, &mut Collected::default()), None);
    }
}
