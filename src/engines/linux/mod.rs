//! What only engines use of Linux: calls that move many datagrams, and what libraries do not offer.

pub(crate) mod batch;
pub(crate) mod coalesced;
pub(crate) mod gso;
#[cfg(feature = "tokio")]
pub(crate) mod scoped_spawn;
mod stable;
#[cfg(feature = "message-io")]
pub(crate) mod swap_fd;
#[cfg(all(feature = "uring", target_pointer_width = "64"))]
pub(crate) mod uring;
