//! What datagrams hold. Measured ones hold whatever lies in the sender's buffer and are not looked at
//! ([`NoFill`], [`NoCheck`]: both compile to nothing); those of `--verify` are stamped before they
//! go and inspected when they come ([`crate::engine::verify`]).

/// Writes what datagrams hold, before each burst.
pub trait Fill: Send + Sync {
    /// Prepares the next burst, whose datagrams lie in `memory` one after the other. Those that the kernel
    /// does not take are stamped again.
    fn fill(&self, memory: &mut [u8]);

    /// So many of them have gone.
    fn sent(&mut self, packets: u64);
}

/// Sees what datagrams held, after each burst.
pub trait Check: Send {
    /// Whether it looks at all, for engines to which it is work to show it what they got.
    const LOOKS: bool;

    /// Sees one datagram, as long as it came.
    fn check(&mut self, datagram: &[u8]);

    /// Sees the datagram in the first `bytes` of `buffer`. To cut it out costs something, which only one that
    /// looks pays.
    #[inline]
    fn check_first(&mut self, bytes: usize, buffer: &[u8]) {
        if Self::LOOKS {
            self.check(&buffer[..bytes]);
        }
    }
}

/// Leaves the buffer as it is.
#[derive(Clone, Copy, Debug)]
pub struct NoFill;

impl Fill for NoFill {
    #[inline]
    fn fill(&self, _memory: &mut [u8]) {}

    #[inline]
    fn sent(&mut self, _packets: u64) {}
}

/// Does not look.
#[derive(Clone, Copy, Debug)]
pub struct NoCheck;

impl Check for NoCheck {
    const LOOKS: bool = false;

    #[inline]
    fn check(&mut self, _datagram: &[u8]) {}
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{Check, Fill};

    /// Fills each datagram with its number.
    pub(crate) struct Numbered {
        pub(crate) first: u8,
        pub(crate) bytes: usize,
    }

    impl Fill for Numbered {
        fn fill(&self, memory: &mut [u8]) {
            for (n, datagram) in (self.first..).zip(memory.chunks_exact_mut(self.bytes)) {
                datagram.fill(n);
            }
        }

        fn sent(&mut self, _packets: u64) {}
    }

    /// Keeps what it sees.
    #[derive(Default)]
    pub(crate) struct Collected(pub(crate) Vec<Vec<u8>>);

    impl Check for Collected {
        const LOOKS: bool = true;

        fn check(&mut self, datagram: &[u8]) {
            self.0.push(datagram.to_vec());
        }
    }
}
