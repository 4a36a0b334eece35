//! WebSocket over `std`: calls that block, or return at once with `--wait spin`.

use std::io;
use std::net::TcpStream;

use tungstenite::WebSocket;

use super::gate::Gated;
use super::{Outbox, config, in_io, role, take};
use crate::engine::payload::{Check, Fill};
use crate::engine::{Burst, DatagramIo, IoOptions};
use crate::engines::stream::ports::TransportIo;

/// Sends and receives WebSocket messages over a connection whose calls block, or return at once with `--wait spin`.
pub(in crate::engines) struct WebSocketIo {
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
    async fn transmit(&mut self, _link: usize, fill: &impl Fill) -> io::Result<Burst> {
        if !self.outbox.is_queued {
            let message = self.outbox.next(fill);
            self.socket.write(message).map_err(in_io)?;
            self.outbox.is_queued = true;
        }
        self.socket.flush().map_err(in_io)?;
        Ok(self.outbox.gone())
    }

    #[inline]
    async fn receive<C: Check>(&mut self, check: &mut C) -> io::Result<Burst> {
        let mut burst = Burst::default();
        self.socket.get_mut().open();
        loop {
            let taken = self
                .socket
                .read()
                .map_err(in_io)
                .and_then(|message| take(&message, check));
            let bytes = match taken {
                Ok(bytes) => bytes,
                // The messages so far count; the next call returns the same error.
                Err(_) if burst.packets > 0 => return Ok(burst),
                Err(error) => {
                    // The library may have to answer the remote end's close frame.
                    let _ = self.socket.flush();
                    return Err(error);
                }
            };
            burst.packets += u64::from(bytes.is_some());
            burst.bytes += bytes.unwrap_or(0) as u64;
            if !self.socket.get_mut().took(bytes.unwrap_or(0)) {
                return Ok(burst);
            }
        }
    }
}
