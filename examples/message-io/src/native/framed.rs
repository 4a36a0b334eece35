//! Messages in a byte stream, each behind its length: four bytes in network byte order, like the default of the codec
//! in `tokio-util`.

use std::io;

use udpbench::engine::payload::{Check, Fill, Origin};
use udpbench::engine::{BatchCount, DatagramIo, IoOptions};
use udpbench::engines::stream::{ByteIo, TransportIo};

/// Size of the length before each message, in bytes.
pub(crate) const LENGTH_BYTES: usize = 4;
/// Bytes per read, or one message if that is longer.
const READ_BYTES: usize = 64 << 10;

/// Sends and receives messages, each behind its length.
pub(crate) struct FramedIo<W> {
    wire: W,
    outgoing: Outgoing,
    incoming: Incoming,
}

impl<W: ByteIo> TransportIo for FramedIo<W> {
    type ByteIo = W;

    fn over(wire: W, _is_client: bool, options: &IoOptions) -> Self {
        Self {
            wire,
            outgoing: Outgoing::new(options),
            incoming: Incoming::new(options),
        }
    }
}

impl<W: ByteIo> DatagramIo for FramedIo<W> {
    #[inline]
    async fn transmit(&mut self, _endpoint: usize, fill: &impl Fill) -> io::Result<BatchCount> {
        self.outgoing.begin(fill);
        loop {
            match self.wire.write(self.outgoing.rest()).await? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                bytes => {
                    if let Some(moved) = self.outgoing.went(bytes) {
                        return Ok(moved);
                    }
                }
            }
        }
    }

    #[inline]
    async fn receive<C: Check>(&mut self, check: &mut C) -> io::Result<BatchCount> {
        let bytes = self.wire.read(self.incoming.room()).await?;
        if bytes == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let moved = self.incoming.came(bytes, check);
        moved.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }
}

/// The message being written to a stream. A message that was written in part is continued.
struct Outgoing {
    frame: Vec<u8>,
    written: usize,
}

impl Outgoing {
    fn new(options: &IoOptions) -> Self {
        let payload = options.payload();
        // A payload has less than 2^32 bytes.
        let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
        let mut frame = length.to_be_bytes().to_vec();
        frame.extend(payload);
        Self { frame, written: 0 }
    }

    /// Fills the next message, unless one is being written.
    #[inline]
    fn begin(&mut self, fill: &impl Fill) {
        if self.written == 0 {
            fill.fill(&mut self.frame[LENGTH_BYTES..]);
        }
    }

    /// Returns the bytes that have not been written yet.
    #[inline]
    fn rest(&self) -> &[u8] {
        &self.frame[self.written..]
    }

    /// Notes that `bytes` bytes were written. Returns the message once it is complete.
    #[inline]
    fn went(&mut self, bytes: usize) -> Option<BatchCount> {
        self.written += bytes;
        (self.written >= self.frame.len()).then(|| {
            self.written = 0;
            BatchCount::one(self.frame.len() - LENGTH_BYTES)
        })
    }
}

/// Bytes read from a stream that do not form a whole message yet.
struct Incoming {
    buffer: Vec<u8>,
    filled: usize,
}

impl Incoming {
    fn new(options: &IoOptions) -> Self {
        let receives = options.direction.receives();
        let bytes = READ_BYTES.max(LENGTH_BYTES + options.buffer_bytes);
        Self {
            buffer: vec![0; if receives { bytes } else { 0 }],
            filled: 0,
        }
    }

    /// Returns the memory for the next bytes.
    #[inline]
    fn room(&mut self) -> &mut [u8] {
        &mut self.buffer[self.filled..]
    }

    /// Notes that `bytes` bytes were read, shows each complete message to `check` and counts them. `None`: a length is
    /// above that of any sent message.
    #[inline]
    fn came<C: Check>(&mut self, bytes: usize, check: &mut C) -> Option<BatchCount> {
        self.filled += bytes;
        let (mut begin, mut moved) = (0, BatchCount::default());
        while let Some((&length, rest)) = self.buffer[begin..self.filled].split_first_chunk() {
            let message_bytes = u32::from_be_bytes(length) as usize;
            let Some(message) = rest.get(..message_bytes) else {
                if message_bytes > self.buffer.len() - LENGTH_BYTES {
                    return None;
                }
                break;
            };
            check.check_received(message_bytes, message, || Origin::PEER);
            moved.packets += 1;
            moved.bytes += message_bytes as u64;
            begin += LENGTH_BYTES + message_bytes;
        }
        self.buffer.copy_within(begin..self.filled, 0);
        self.filled -= begin;
        Some(moved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::Collected;
    use udpbench::engine::Direction;
    use udpbench::engine::payload::NoFill;

    /// Returns three messages as they lie in a stream.
    fn stream(options: &IoOptions) -> Vec<u8> {
        let mut outgoing = Outgoing::new(options);
        let mut bytes = Vec::new();
        for n in 0..3 {
            outgoing.begin(&NoFill);
            outgoing.frame[LENGTH_BYTES..].fill(n);
            let half = outgoing.rest().len() / 2;
            bytes.extend_from_slice(&outgoing.rest()[..half]);
            assert_eq!(outgoing.went(half), None);
            bytes.extend_from_slice(outgoing.rest());
            let rest = outgoing.rest().len();
            assert_eq!(outgoing.went(rest), Some(BatchCount::one(7)));
        }
        bytes
    }

    #[test]
    fn messages_come_out_as_they_went_in_for_every_size_of_the_reads() {
        let options = IoOptions::of(Vec::new(), Direction::Both, 7);
        let bytes = stream(&options);
        for at_a_time in 1..=bytes.len() {
            let mut incoming = Incoming::new(&options);
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
    fn a_message_longer_than_any_is_refused() {
        let options = IoOptions::of(Vec::new(), Direction::Both, 7);
        let mut incoming = Incoming::new(&options);
        incoming.room()[..4].copy_from_slice(&u32::MAX.to_be_bytes());
        assert_eq!(incoming.came(4, &mut Collected::default()), None);
    }
}
