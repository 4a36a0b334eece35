//! What datagrams hold. Measured ones hold whatever lies in the sender's buffer and are not looked at
//! ([`NoFill`], [`NoCheck`]: both compile to nothing); those of `--verify` are filled before they
//! go and checked when they come ([`crate::engine::verify`]).

use std::net::SocketAddr;

/// Where a datagram came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The link that it came over, from 0.
    pub link: usize,
    /// Who sent it. `None` where that is no question: the link is connected.
    pub source: Option<SocketAddr>,
}

impl Origin {
    /// From `source`, over the only link.
    pub fn of(source: Option<SocketAddr>) -> Self {
        Self { link: 0, source }
    }

    /// From the peer of the only link.
    pub const PEER: Self = Self {
        link: 0,
        source: None,
    };
}

/// Writes what datagrams hold, before each burst.
pub trait Fill: Send + Sync {
    /// Prepares the next burst, whose datagrams lie in `memory` one after the other. Those for which the kernel has no
    /// room yet are stamped again.
    fn fill(&self, memory: &mut [u8]);

    /// So many of them were handed to the kernel, which may have refused some. The loop says so: engines do not.
    fn sent(&mut self, packets: u64);

    /// Where the next burst goes, over a link that is not connected. `None`: to its peer.
    #[inline]
    fn destination(&self) -> Option<SocketAddr> {
        None
    }
}

/// Sees what datagrams held, after each burst.
pub trait Check: Send {
    /// Whether it looks at all, for engines to which it is work to show it what they got.
    const LOOKS: bool;

    /// Sees one datagram, as long as it came, and where it came from.
    fn check(&mut self, datagram: &[u8], origin: Origin);

    /// Sees the datagram in the first `bytes` of `buffer`. Where nobody [looks](Check::LOOKS), this costs nothing:
    /// neither the slice is taken nor its origin asked for.
    #[inline]
    fn check_received(&mut self, bytes: usize, buffer: &[u8], origin: impl FnOnce() -> Origin) {
        if Self::LOOKS {
            self.check(&buffer[..bytes], origin());
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
    fn check(&mut self, _datagram: &[u8], _origin: Origin) {}
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{Check, Fill, Origin};

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

        fn check(&mut self, datagram: &[u8], _origin: Origin) {
            self.0.push(datagram.to_vec());
        }
    }
}
