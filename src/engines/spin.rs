//! `spin`: the calls of `std` on a socket that does not block, again and again. Nobody sleeps, so nobody
//! has to be woken: that is what the sender saves, at the price of a whole CPU for the receiver.

use std::io;

use super::std::{StdReceiver, StdSender};
use crate::data::Group;
use crate::engine::payload::{Check, Fill};
use crate::engine::{
    About, Addressing, Burst, Engine, LaneBrief, Receive, ReceiveEnd, Selection, SendEnd, Transmit,
};

pub(super) struct Spin;

impl Engine for Spin {
    const ABOUT: About = About {
        name: "spin",
        summary: "non-blocking std in a busy loop: no sleep and no wake-up, but a whole CPU",
        group: Group::Blocking,
        selection: Selection::ByName,
        ..About::PLAIN
    };
    type Sender<A: Addressing> = Spinning<StdSender<A>>;
    type Receiver<A: Addressing> = Spinning<StdReceiver<A>>;

    fn start(_brief: &LaneBrief) -> io::Result<Self> {
        Ok(Self)
    }

    fn sender<A: Addressing>(&self, end: SendEnd) -> io::Result<Self::Sender<A>> {
        end.socket.set_nonblocking(true)?;
        Ok(Spinning(StdSender::new(end)))
    }

    fn receiver<A: Addressing>(&self, end: ReceiveEnd) -> io::Result<Self::Receiver<A>> {
        end.socket.set_nonblocking(true)?;
        Ok(Spinning(StdReceiver::new(end)))
    }
}

/// The loop is the workload's: it looks at its stop flag and calls again.
pub(super) struct Spinning<Half>(Half);

impl<A: Addressing> Transmit for Spinning<StdSender<A>> {
    #[inline]
    async fn transmit(&mut self, fill: &impl Fill) -> io::Result<Burst> {
        self.0.send(fill)
    }
}

impl<A: Addressing> Receive for Spinning<StdReceiver<A>> {
    #[inline]
    async fn receive<I: Check>(&mut self, check: &mut I) -> io::Result<Burst> {
        self.0.receive(check)
    }
}
