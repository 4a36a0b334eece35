//! The way to a `udpbench agent` without ssh: one TCP connection, encrypted, to whoever has the same key.
//!
//! Both ends have a [`Key`] of 32 random bytes in a file. They shake hands by Noise, pattern `NNpsk0`
//! (<https://noiseprotocol.org/noise.html>): who lacks the key gets no byte in answer, and what was recorded
//! cannot be read later even with the key. [`connect()`] is the one end, [`Listener`] the other; both end in a
//! [`Reader`] and a [`Writer`] that carry what standard input and output do elsewhere.

mod connect;
mod key;
mod link;
mod listen;
pub mod noise;
mod pending;
mod refusals;
mod streams;
#[cfg(test)]
mod tests;

pub use self::connect::connect;
pub use self::key::Key;
pub use self::link::{Outgoing, Streams};
pub use self::listen::{Listener, MOST_PENDING};
pub use self::noise::HANDSHAKE;
pub use self::streams::{Reader, Writer};
