//! Linux interfaces used only by engines: calls that move many datagrams, and functions that libraries do not offer.

pub mod batch;
pub mod coalesced;
mod fixed_buffer;
pub mod gso;
pub mod message;
pub mod poll_set;
#[cfg(all(feature = "uring", target_pointer_width = "64"))]
pub mod uring;
pub mod zero_copy;
