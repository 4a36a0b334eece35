//! What datagrams hold. Measured ones hold whatever lies in the sender's buffer and are not looked at
//! ([`Unstamped`], [`Uninspected`]: both compile to nothing); those of `--verify` are stamped before they
//! go and inspected when they come ([`crate::verify`]).

/// Writes what datagrams hold, before each burst.
pub trait Stamp: Send + Sync {
    /// Prepares the next burst, whose datagrams lie in `memory` one after the other. Those that the kernel
    /// does not take are stamped again.
    fn stamp(&self, memory: &mut [u8]);

    /// So many of them have gone.
    fn sent(&mut self, packets: u64);
}

/// Sees what datagrams held, after each burst.
pub trait Inspect: Send {
    /// Whether it looks at all, for engines to which it is work to show it what they got.
    const LOOKS: bool;

    /// Sees one datagram, as long as it came.
    fn inspect(&mut self, datagram: &[u8]);

    /// Sees the datagram in the first `bytes` of `buffer`. To cut it out costs something, which only one that
    /// looks pays.
    #[inline]
    fn inspect_first(&mut self, bytes: usize, buffer: &[u8]) {
        if Self::LOOKS {
            self.inspect(&buffer[..bytes]);
        }
    }
}

/// Leaves the buffer as it is.
#[derive(Clone, Copy, Debug)]
pub struct Unstamped;

impl Stamp for Unstamped {
    #[inline]
    fn stamp(&self, _memory: &mut [u8]) {}

    #[inline]
    fn sent(&mut self, _packets: u64) {}
}

/// Does not look.
#[derive(Clone, Copy, Debug)]
pub struct Uninspected;

impl Inspect for Uninspected {
    const LOOKS: bool = false;

    #[inline]
    fn inspect(&mut self, _datagram: &[u8]) {}
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{Inspect, Stamp};

    /// Fills each datagram with its number.
    pub(crate) struct Numbered {
        pub(crate) first: u8,
        pub(crate) bytes: usize,
    }

    impl Stamp for Numbered {
        fn stamp(&self, memory: &mut [u8]) {
            for (n, datagram) in (self.first..).zip(memory.chunks_exact_mut(self.bytes)) {
                datagram.fill(n);
            }
        }

        fn sent(&mut self, _packets: u64) {}
    }

    /// Keeps what it sees.
    #[derive(Default)]
    pub(crate) struct Collected(pub(crate) Vec<Vec<u8>>);

    impl Inspect for Collected {
        const LOOKS: bool = true;

        fn inspect(&mut self, datagram: &[u8]) {
            self.0.push(datagram.to_vec());
        }
    }
}
