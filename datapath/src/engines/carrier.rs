//! Support of engines for transports other than UDP, and the size of messages in each transport.

use std::io;
use std::sync::Arc;

use crate::data::{Connection, Transport};
use crate::engine::{Engine, Remark};
use crate::workload::context::ThreadContext;
use crate::workload::{self, Program};

/// A function that runs one bench thread from start to stop.
pub type BenchThread = fn(Program, Connection, &Arc<ThreadContext>) -> io::Result<Remark>;

/// A function that returns the size of a message in a transport, in bytes. Its arguments are the payload in bytes and
/// whether the client sends the message. `None`: the transport keeps messages apart.
pub type MessageSize = fn(usize, bool) -> Option<usize>;

/// Support of an engine for a transport other than UDP.
pub struct Carrier {
    /// Name of the engine.
    pub engine: &'static str,
    /// The transport.
    pub transport: Transport,
    /// Function that runs a bench thread over this transport.
    pub thread: BenchThread,
    /// Size of a message in the transport.
    pub bytes_of: MessageSize,
}

impl Carrier {
    /// Creates the support for a transport through `E`. In a stream, its messages have the size of the payload.
    ///
    /// `E` gets connected sockets, one [`Endpoint`](crate::engine::Endpoint) per bench thread. Its [`Engine::ABOUT`] is
    /// that of the engine for UDP.
    ///
    /// # Panics
    /// Panics for [`Transport::Udp`], which every engine supports by itself.
    pub const fn of<E: Engine>(transport: Transport) -> Self {
        Self {
            engine: E::ABOUT.name,
            transport,
            thread: |program, connection, thread| workload::run::<E>(program, connection, thread),
            bytes_of: usual_size(transport),
        }
    }

    /// Sets another size of messages: with a header, for example. The plan refuses pairs of engines whose sizes differ.
    pub const fn with_bytes_of(self, bytes_of: MessageSize) -> Self {
        Self { bytes_of, ..self }
    }
}

const fn usual_size(transport: Transport) -> MessageSize {
    match transport {
        Transport::Udp => panic!("every engine supports UDP"),
        Transport::UnixDgram => |_, _| None,
        _ => |payload, _| Some(payload),
    }
}
