//! Support of engines for transports other than UDP, and the size of messages in each transport.

use std::io;
use std::sync::Arc;

use crate::data::{Connection, Transport};
use crate::engine::{Engine, Remark};
use crate::workload::context::ThreadContext;
use crate::workload::{self, Program};

/// Size of the length before each message of `framed-tcp`, in bytes.
pub const LENGTH_BYTES: usize = 4;

/// A function that runs one bench thread from start to stop.
pub type BenchThread = fn(Program, Connection, &Arc<ThreadContext>) -> io::Result<Remark>;

/// A function that returns the size of a message in a transport, in bytes. Its arguments are the payload in bytes and
/// whether the client sends the message. `None`: the transport keeps messages apart.
pub type MessageSize = fn(usize, bool) -> Option<usize>;

/// Support of an engine for a transport other than UDP.
pub struct Carrier {
    /// The transport.
    pub transport: Transport,
    /// Function that runs a bench thread over this transport.
    pub thread: BenchThread,
    /// Size of a message in the transport.
    pub bytes_of: MessageSize,
}

impl Carrier {
    /// Creates the support for a transport through `E`, whose messages have the usual size: in a stream, that of the
    /// payload, behind the header of `framed-tcp` or `websocket`.
    ///
    /// `E` gets connected sockets, one [`Endpoint`](crate::engine::Endpoint) per bench thread. Those of `websocket` have
    /// their handshake behind them. Its [`Engine::ABOUT`] is that of the engine for UDP.
    ///
    /// # Panics
    /// Panics for [`Transport::Udp`], which every engine supports by itself.
    pub const fn of<E: Engine>(transport: Transport) -> Self {
        Self {
            transport,
            thread: |program, connection, thread| workload::run::<E>(program, connection, thread),
            bytes_of: usual_size(transport),
        }
    }

    /// Sets another size of messages. The plan refuses pairs of engines whose sizes differ.
    pub const fn with_bytes_of(self, bytes_of: MessageSize) -> Self {
        Self { bytes_of, ..self }
    }
}

const fn usual_size(transport: Transport) -> MessageSize {
    match transport {
        Transport::Udp => panic!("every engine supports UDP"),
        Transport::UnixDgram => |_, _| None,
        Transport::UnixStream | Transport::Tcp => |payload, _| Some(payload),
        Transport::FramedTcp => |payload, _| Some(LENGTH_BYTES + payload),
        Transport::Websocket => |payload, is_client| Some(websocket_bytes(payload, is_client)),
    }
}

/// Returns the size of a WebSocket message in one frame, in bytes (RFC 6455, section 5.2). Clients mask their
/// messages.
pub fn websocket_bytes(payload_bytes: usize, is_masked: bool) -> usize {
    let length = match payload_bytes {
        0..=125 => 0,
        126..=0xFFFF => 2,
        _ => 8,
    };
    2 + length + if is_masked { 4 } else { 0 } + payload_bytes
}
