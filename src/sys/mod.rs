//! What the operating system tells and does: `/proc`, `/sys`, clocks, signals, socket options.
//!
//! Nearly all the `unsafe` of the crate is here. Whatever may be missing on a board (a sensor, a socket
//! option, a permission) is an `Option` or a reason, never a panic.

pub mod batch;
pub mod buffers;
pub mod clock;
pub mod coalesced;
pub mod drops;
pub mod files;
pub mod gso;
pub mod interrupt;
pub mod kernel;
#[cfg(feature = "tokio")]
pub mod lend;
pub mod limits;
pub mod nudge;
pub mod pace;
#[cfg(feature = "message-io")]
pub mod replace;
pub mod sensors;
mod stable;
pub mod steer;
pub mod trips;
#[cfg(all(feature = "uring", target_pointer_width = "64"))]
pub mod uring;
