//! WebSocket over `std`: calls that block, or return at once with `--wait spin`.

use std::io;
use std::net::TcpStream;

use tungstenite::WebSocket;
use udpbench::engine::payload::{Check, Fill};
use udpbench::engine::{BatchCount, DatagramIo, IoOptions};
use udpbench::engines::stream::TransportIo;

use super::gate::Gated;
use super::{Outbox, check_message, config, role, to_io_error};

/// Sends and receives WebSocket messages over a connection whose calls block, or return at once with `--wait spin`.
pub(crate) struct WebSocketIo {
    socket: WebSocket<Gated<TcpStream>>,
    outbox: Outbox,
}

impl TransportIo for WebSocketIo {
    type ByteIo = TcpStream;

    fn over(wire: TcpStream, is_client: bool, options: &IoOptions) -> Self {
        let stream = Gated::new(wire, is_client, options);
        Self {
            socket: WebSocket::from_raw_socket(stream, role(is_client), Some(config())),
            outbox: Outbox::new(options),
        }
    }
}

impl DatagramIo for WebSocketIo {
    #[inline]
    async fn transmit(&mut self, _endpoint: usize, fill: &impl Fill) -> io::Result<BatchCount> {
        if !self.outbox.is_queued {
            let message = self.outbox.next(fill);
            self.socket.write(message).map_err(to_io_error)?;
            self.outbox.is_queued = true;
        }
        self.socket.flush().map_err(to_io_error)?;
        Ok(self.outbox.take_sent_count())
    }

    #[inline]
    async fn receive<C: Check>(&mut self, check: &mut C) -> io::Result<BatchCount> {
        let mut moved = BatchCount::default();
        self.socket.get_mut().allow_reads();
        loop {
            let message = self.socket.read().map_err(to_io_error);
            let received = match message.and_then(|message| check_message(&message, check)) {
                Ok(received) => received,
                // Return what was received. A real error recurs at the next call.
                Err(_) if moved.packets > 0 => return Ok(moved),
                Err(error) => {
                    // The library may have to answer the remote end's close frame.
                    let _ = self.socket.flush();
                    return Err(error);
                }
            };
            let count = received.count();
            moved.packets += count.packets;
            moved.bytes += count.bytes;
            if !self.socket.get_mut().note_message(received.bytes) {
                return Ok(moved);
            }
        }
    }
}
