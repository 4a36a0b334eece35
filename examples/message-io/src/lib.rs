//! The engine `message-io`, which the program of this crate adds to those of udpbench.

mod engine;
mod logged_errno;
mod messages;
mod network;
mod swap_fd;

use udpbench::engine::Transport;
use udpbench::{Carrier, Entry};

pub use self::engine::MessageIo;
pub use self::network::{Adapter, FramedTcp, Tcp, Udp, WebSocket};

/// The engine, with its transports.
pub static ENGINES: &[Entry] = &[Entry::of::<MessageIo<Udp>>().over(TRANSPORTS)];

static TRANSPORTS: &[Carrier] = &[
    Carrier::of::<MessageIo<Tcp>>(Transport::Tcp),
    Carrier::of::<MessageIo<FramedTcp>>(Transport::FramedTcp)
        .with_bytes_of(|payload, _| Some(FramedTcp::head_bytes(payload) + payload)),
    Carrier::of::<MessageIo<WebSocket>>(Transport::Websocket),
];
