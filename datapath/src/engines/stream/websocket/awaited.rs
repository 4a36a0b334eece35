//! WebSocket over tokio: every wait is awaited.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use futures_util::{FutureExt, Sink, Stream};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tungstenite::Message;

use super::gate::Gated;
use super::{Outbox, config, in_io, role, take};
use crate::engine::payload::{Check, Fill};
use crate::engine::{Burst, DatagramIo, IoOptions, Waits};
use crate::engines::stream::awaited::Awaiting;
use crate::engines::stream::ports::TransportIo;

/// Sends and receives WebSocket messages over a connection of tokio's.
pub(in crate::engines) struct AwaitedWebSocketIo {
    socket: WebSocketStream<Gated<TcpStream>>,
    outbox: Outbox,
    waits: Waits,
}

impl TransportIo for AwaitedWebSocketIo {
    type ByteIo = Awaiting<TcpStream>;

    fn over(wire: Awaiting<TcpStream>, is_client: bool, options: &IoOptions) -> Self {
        let stream = Gated::new(wire.socket, is_client, options);
        let socket = WebSocketStream::from_raw_socket(stream, role(is_client), Some(config()));
        Self {
            // The constructor is async only for handshakes.
            socket: socket
                .now_or_never()
                .expect("there is no handshake to wait for"),
            outbox: Outbox::new(options),
            waits: wire.waits,
        }
    }
}

/// Polls for the next message.
#[inline]
fn poll_message(
    socket: &mut WebSocketStream<Gated<TcpStream>>,
    context: &mut Context<'_>,
) -> Poll<io::Result<Message>> {
    Pin::new(socket).poll_next(context).map(|message| {
        let message = message.ok_or(io::ErrorKind::UnexpectedEof)?;
        message.map_err(in_io)
    })
}

impl DatagramIo for AwaitedWebSocketIo {
    #[inline]
    async fn transmit(&mut self, _link: usize, fill: &impl Fill) -> io::Result<Burst> {
        let socket = &mut self.socket;
        if !self.outbox.is_queued {
            let message = self.outbox.next(fill);
            Pin::new(&mut *socket).start_send(message).map_err(in_io)?;
            self.outbox.is_queued = true;
        }
        let flushed = poll_fn(|context| Pin::new(&mut *socket).poll_flush(context).map_err(in_io));
        self.waits.end(pin!(flushed)).await?;
        Ok(self.outbox.gone())
    }

    #[inline]
    async fn receive<C: Check>(&mut self, check: &mut C) -> io::Result<Burst> {
        let mut burst = Burst::default();
        self.socket.get_mut().open();
        loop {
            let message = poll_fn(|context| match poll_message(&mut self.socket, context) {
                // The message is not complete after all: the next read brings its rest.
                Poll::Pending if burst.packets > 0 => {
                    Poll::Ready(Err(io::ErrorKind::WouldBlock.into()))
                }
                message => message,
            });
            let taken = self.waits.end(pin!(message)).await;
            let bytes = match taken.and_then(|message| take(&message, check)) {
                Ok(bytes) => bytes,
                // The messages so far count; the next call returns the same error.
                Err(_) if burst.packets > 0 => return Ok(burst),
                Err(error) => return Err(error),
            };
            burst.packets += u64::from(bytes.is_some());
            burst.bytes += bytes.unwrap_or(0) as u64;
            if !self.socket.get_mut().took(bytes.unwrap_or(0)) {
                return Ok(burst);
            }
        }
    }
}
