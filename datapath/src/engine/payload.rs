//! Content of datagrams.
//!
//! Measured datagrams hold whatever lies in the sender's buffer, and receivers do not read it ([`NoFill`],
//! [`NoCheck`]: both compile to nothing). With `--verify`, datagrams are filled before they are sent and checked on
//! arrival ([`crate::engine::verify`]).

use std::net::SocketAddr;

/// Endpoint and source address of a received datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Index of the endpoint that received it, from 0.
    pub endpoint: usize,
    /// Source address. `None`: the endpoint is connected, so the source is its peer.
    pub source: Option<SocketAddr>,
}

impl Origin {
    /// Returns the origin of a datagram from `source` over the only endpoint.
    pub fn of(source: Option<SocketAddr>) -> Self {
        Self {
            endpoint: 0,
            source,
        }
    }

    /// The peer of the only endpoint.
    pub const PEER: Self = Self {
        endpoint: 0,
        source: None,
    };
}

/// Writes the content of datagrams before each batch.
pub trait Fill: Send + Sync {
    /// Prepares the next batch, whose datagrams lie in `memory` one after the other. Datagrams that did not fit into
    /// the send buffer are written again.
    fn fill(&self, memory: &mut [u8]);

    /// Notes that `packets` datagrams were handed to the kernel, which may have refused some. Called by the loop, not
    /// by engines.
    fn sent(&mut self, packets: u64);

    /// Returns the destination of the next batch over an unconnected endpoint. `None`: its peer.
    #[inline]
    fn destination(&self) -> Option<SocketAddr> {
        None
    }
}

/// Checks the content of datagrams after each batch.
pub trait Check: Send {
    /// True if the check reads datagrams. If not, engines skip the work of locating each datagram.
    const READS_PAYLOAD: bool;

    /// Checks one datagram, with its length on arrival and its origin.
    fn check(&mut self, datagram: &[u8], origin: Origin);

    /// Checks the datagram in the first `bytes` of `buffer`. Costs nothing without [`Check::READS_PAYLOAD`]: neither
    /// the slice nor the origin is computed.
    #[inline]
    fn check_received(&mut self, bytes: usize, buffer: &[u8], origin: impl FnOnce() -> Origin) {
        if Self::READS_PAYLOAD {
            self.check(&buffer[..bytes], origin());
        }
    }
}

/// A [`Fill`] that leaves the buffer as it is.
#[derive(Clone, Copy, Debug)]
pub struct NoFill;

impl Fill for NoFill {
    #[inline]
    fn fill(&self, _memory: &mut [u8]) {}

    #[inline]
    fn sent(&mut self, _packets: u64) {}
}

/// A [`Check`] that does nothing.
#[derive(Clone, Copy, Debug)]
pub struct NoCheck;

impl Check for NoCheck {
    const READS_PAYLOAD: bool = false;

    #[inline]
    fn check(&mut self, _datagram: &[u8], _origin: Origin) {}
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{Check, Fill, Origin};

    /// Fills each datagram with its sequence number.
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

    /// Collects all received datagrams.
    #[derive(Default)]
    pub(crate) struct Collected(pub(crate) Vec<Vec<u8>>);

    impl Check for Collected {
        const READS_PAYLOAD: bool = true;

        fn check(&mut self, datagram: &[u8], _origin: Origin) {
            self.0.push(datagram.to_vec());
        }
    }
}
