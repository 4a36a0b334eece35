//! Splits the data that message-io delivers into messages.

use udpbench::engine::payload::{Check, Origin};
use udpbench::engine::{BatchCount, IoOptions};

/// A way to split the data that the library delivers into messages.
pub trait Messages: Send + 'static {
    /// Creates the way for messages of a trial.
    fn of(options: &IoOptions) -> Self;

    /// Takes delivered data, shows each complete message to `check` and counts them.
    fn take<C: Check>(
        &mut self,
        data: &[u8],
        origin: impl Fn() -> Origin,
        check: &mut C,
    ) -> BatchCount;
}

/// Passes messages on that are already whole.
pub struct Whole;

impl Messages for Whole {
    fn of(_options: &IoOptions) -> Self {
        Self
    }

    #[inline]
    fn take<C: Check>(
        &mut self,
        data: &[u8],
        origin: impl Fn() -> Origin,
        check: &mut C,
    ) -> BatchCount {
        check.check_received(data.len(), data, origin);
        BatchCount::one(data.len())
    }
}

/// Splits a stream of messages of the same length.
pub struct Cut {
    message_bytes: usize,
    /// Bytes received of the next message.
    begun: usize,
    /// Content received of the next message, kept only if the check reads it.
    text: Vec<u8>,
}

impl Messages for Cut {
    fn of(options: &IoOptions) -> Self {
        Self {
            message_bytes: options.payload_bytes,
            begun: 0,
            text: Vec::new(),
        }
    }

    #[inline]
    fn take<C: Check>(
        &mut self,
        data: &[u8],
        origin: impl Fn() -> Origin,
        check: &mut C,
    ) -> BatchCount {
        if C::READS_PAYLOAD {
            let mut rest = data;
            while !rest.is_empty() {
                let (part, others) =
                    rest.split_at(rest.len().min(self.message_bytes - self.text.len()));
                self.text.extend_from_slice(part);
                if self.text.len() == self.message_bytes {
                    check.check(&self.text, origin());
                    self.text.clear();
                }
                rest = others;
            }
        }
        self.begun += data.len();
        let messages = self.begun / self.message_bytes;
        self.begun %= self.message_bytes;
        BatchCount::of(messages as u64, (messages * self.message_bytes) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::Collected;
    use udpbench::engine::Direction;
    use udpbench::engine::payload::NoCheck;

    #[test]
    fn messages_are_cut_from_whatever_comes() {
        let options = IoOptions::of(Vec::new(), Direction::Both, 3);
        for at_a_time in 1..=9 {
            let (mut looked, mut counted) = (Cut::of(&options), Cut::of(&options));
            let mut seen = Collected::default();
            let mut both = [BatchCount::default(); 2];
            for part in b"abcdefghi".chunks(at_a_time) {
                let counts = [
                    looked.take(part, || Origin::PEER, &mut seen),
                    counted.take(part, || Origin::PEER, &mut NoCheck),
                ];
                for (all, moved) in both.iter_mut().zip(counts) {
                    all.packets += moved.packets;
                    all.bytes += moved.bytes;
                }
            }
            assert_eq!(
                both,
                [BatchCount::of(3, 9); 2],
                "{at_a_time} bytes at a time"
            );
            assert_eq!(seen.0, [b"abc", b"def", b"ghi"]);
        }
    }
}
