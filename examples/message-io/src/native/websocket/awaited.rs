//! WebSocket over tokio: [`DatagramIo`] over tokio-tungstenite.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use futures_util::{FutureExt, Sink, Stream};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tungstenite::Message;
use udpbench::engine::payload::{Check, Fill};
use udpbench::engine::{BatchCount, DatagramIo, IoOptions, Waits};
use udpbench::engines::stream::{InterruptibleSocket, TransportIo};

use super::gate::Gated;
use super::{Outbox, check_message, config, role, to_io_error};

/// Sends and receives WebSocket messages over a connection of tokio's.
pub(crate) struct AwaitedWebSocketIo {
    socket: WebSocketStream<Gated<TcpStream>>,
    outbox: Outbox,
    waits: Waits,
}

impl TransportIo for AwaitedWebSocketIo {
    type ByteIo = InterruptibleSocket<TcpStream>;

    fn over(wire: InterruptibleSocket<TcpStream>, is_client: bool, options: &IoOptions) -> Self {
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
        message.map_err(to_io_error)
    })
}

impl DatagramIo for AwaitedWebSocketIo {
    #[inline]
    async fn transmit(&mut self, _endpoint: usize, fill: &impl Fill) -> io::Result<BatchCount> {
        let socket = &mut self.socket;
        if !self.outbox.is_queued {
            let message = self.outbox.next(fill);
            Pin::new(&mut *socket)
                .start_send(message)
                .map_err(to_io_error)?;
            self.outbox.is_queued = true;
        }
        let flushed = poll_fn(|context| {
            Pin::new(&mut *socket)
                .poll_flush(context)
                .map_err(to_io_error)
        });
        self.waits.interruptible(pin!(flushed)).await?;
        Ok(self.outbox.take_sent_count())
    }

    #[inline]
    async fn receive<C: Check>(&mut self, check: &mut C) -> io::Result<BatchCount> {
        let mut moved = BatchCount::default();
        self.socket.get_mut().allow_reads();
        loop {
            let message = poll_fn(|context| match poll_message(&mut self.socket, context) {
                // The message is not complete after all: the next read brings its rest.
                Poll::Pending if moved.packets > 0 => {
                    Poll::Ready(Err(io::ErrorKind::WouldBlock.into()))
                }
                message => message,
            });
            let message = self.waits.interruptible(pin!(message)).await;
            let received = match message.and_then(|message| check_message(&message, check)) {
                Ok(received) => received,
                // Return what was received. A real error recurs at the next call.
                Err(_) if moved.packets > 0 => return Ok(moved),
                Err(error) => return Err(error),
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
