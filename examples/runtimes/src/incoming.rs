//! Receives that an interrupt does not cancel.

use std::cell::Cell;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;

use futures_util::stream::{self, Stream, TryStreamExt};
use send_wrapper::SendWrapper;
use udpbench::engine::payload::{Check, Origin};
use udpbench::engine::{BatchCount, Waits, Wakeups};

/// Length and, on unconnected sockets, source address of a received datagram; and the buffer that was lent.
pub(crate) type Received = (io::Result<(usize, Option<SocketAddr>)>, Vec<u8>);

/// Receives the datagrams of a socket, one after the other, into the same buffer.
///
/// The kernel receives on behalf of a future. If the future is dropped just then, the datagram is lost, and nobody
/// counts it. So an interrupted receive stays in flight, and the next call goes on with it. The stream holds it in
/// place: nothing is allocated per datagram here.
pub(crate) struct Incoming {
    lengths: SendWrapper<Lengths>,
    buffer: SendWrapper<Rc<Cell<Vec<u8>>>>,
    waits: Waits,
}

type Lengths = Pin<Box<dyn Stream<Item = io::Result<(usize, Option<SocketAddr>)>>>>;

impl Incoming {
    /// Prepares receives: `receive` receives one datagram from the socket, and returns the buffer.
    pub(crate) fn new<S: 'static, F>(
        socket: &Rc<S>,
        buffer: Vec<u8>,
        wakeups: &Arc<Wakeups>,
        receive: impl Fn(Rc<S>, Vec<u8>) -> F + 'static,
    ) -> Self
    where
        F: Future<Output = Received> + 'static,
    {
        let socket = Rc::clone(socket);
        let buffer = Rc::new(Cell::new(buffer));
        let begin = (receive, Rc::clone(&buffer));
        let lengths = stream::unfold(begin, move |(receive, place)| {
            let receiving = receive(Rc::clone(&socket), place.take());
            async move {
                let (length, buffer) = receiving.await;
                place.set(buffer);
                Some((length, (receive, place)))
            }
        });
        Self {
            lengths: SendWrapper::new(Box::pin(lengths)),
            buffer: SendWrapper::new(buffer),
            waits: Waits::new(wakeups),
        }
    }

    /// Receives the next datagram and shows it to `check`.
    #[inline]
    pub(crate) async fn next(&mut self, check: &mut impl Check) -> io::Result<BatchCount> {
        let next = pin!(self.lengths.try_next());
        let next = self.waits.interruptible(next).await?;
        let (bytes, source) = next.ok_or(io::ErrorKind::UnexpectedEof)?;
        let buffer = Cell::take(&self.buffer);
        check.check_received(bytes, &buffer, || Origin::of(source));
        self.buffer.set(buffer);
        Ok(BatchCount::one(bytes))
    }
}
