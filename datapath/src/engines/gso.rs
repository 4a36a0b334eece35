//! The engines `gso` and `gro` (segmentation offload). The kernel segments one large buffer into datagrams after it
//! has passed most of the stack as one packet, and joins datagrams of a flow before it delivers them.

use std::io;
use std::net::{SocketAddr, UdpSocket};

use crate::data::Cmsg;
use crate::engine::prelude::*;
use crate::engines::linux::coalesced::CoalescedReceive;
use crate::engines::linux::gso;
use crate::engines::linux::receive_batch::ReceiveBatch;
use crate::engines::linux::send_message;
use crate::engines::linux::{ReceiveMany, loopback_socket};

const ONE_IS_NOTHING: &str = "gains by trains of datagrams, and a request is one: use std or mmsg";

/// The sender `gso` (UDP_SEGMENT): each call sends up to `--train` datagrams: without it, the maximum number that fits
/// 65507 B and that the kernel accepts.
pub(super) struct Gso;

impl Engine for Gso {
    const ABOUT: About = About {
        name: "gso",
        summary: "sender: UDP_SEGMENT, the kernel segments up to 128 datagrams per call; mmsg receives",
        group: Group::Offload,
        can_serve_requests: Err(ONE_IS_NOTHING),
        trains: Trains::Always,
        control_messages: Cmsg::ALL,
        partner: Partner::ReceivedBy("mmsg"),
        ..About::PLAIN
    };
    type DatagramIo = TrainIo<ReceiveBatch>;

    fn start(_brief: &ThreadArgs) -> io::Result<Self> {
        Ok(Self)
    }

    fn open(&self, mut options: IoOptions) -> io::Result<Self::DatagramIo> {
        let endpoint = options.only_endpoint()?;
        let incoming = ReceiveBatch::from_options(&options, &endpoint.socket)?;
        TrainIo::new(&options, endpoint, incoming)
    }

    fn probe() -> Result<(), String> {
        let cut = loopback_socket().and_then(|socket| gso::cut(&socket, 1));
        cut.map_err(|error| format!("no UDP_SEGMENT (Linux 4.18): {error}"))
    }
}

/// The receiver `gro` (UDP_GRO): each call receives one GRO aggregate.
pub(super) struct Gro;

impl Engine for Gro {
    const ABOUT: About = About {
        name: "gro",
        summary: "receiver: UDP_GRO, up to 64 kB of coalesced datagrams per call; gso sends",
        group: Group::Offload,
        can_serve_requests: Err(ONE_IS_NOTHING),
        partner: Partner::SentBy("gso"),
        receives_aggregates: true,
        can_spin: true,
        control_messages: Cmsg::ALL,
        selection: Selection::Default,
        ..About::PLAIN
    };
    type DatagramIo = TrainIo<CoalescedReceive>;

    fn start(_brief: &ThreadArgs) -> io::Result<Self> {
        Ok(Self)
    }

    fn open(&self, mut options: IoOptions) -> io::Result<Self::DatagramIo> {
        let endpoint = options.only_endpoint()?;
        if options.direction.receives() {
            gso::join(&endpoint.socket)?;
        }
        options.apply_wait(&endpoint.socket)?;
        let incoming = CoalescedReceive::new(&options, &endpoint.socket)?;
        TrainIo::new(&options, endpoint, incoming)
    }

    fn probe() -> Result<(), String> {
        let join = loopback_socket().and_then(|socket| gso::join(&socket));
        join.map_err(|error| format!("no UDP_GRO (Linux 5.0): {error}"))
    }
}

/// A socket that sends GSO trains and receives with `R`.
pub(super) struct TrainIo<R> {
    socket: UdpSocket,
    incoming: R,
    is_connected: bool,
    peer: SocketAddr,
    /// The train that the kernel segments.
    payload: Vec<u8>,
    payload_bytes: usize,
    count: u64,
    fell_back: bool,
    /// Control messages of each call.
    controls: Vec<u8>,
}

impl<R> TrainIo<R> {
    fn new(options: &IoOptions, endpoint: Endpoint, incoming: R) -> io::Result<Self> {
        let payload = options.payload();
        let count = gso::begin_trains(options, &endpoint)?;
        Ok(Self {
            incoming,
            is_connected: options.is_connected(),
            peer: endpoint.peer_or_unspecified(),
            payload_bytes: payload.len(),
            payload: payload.repeat(count),
            count: count as u64,
            fell_back: false,
            controls: options.controls.outgoing(&endpoint.socket)?,
            socket: endpoint.socket.into(),
        })
    }

    #[inline(always)]
    fn hand_over(&self) -> io::Result<usize> {
        if !self.controls.is_empty() {
            self.hand_over_with_controls()
        } else if self.is_connected {
            self.socket.send(&self.payload)
        } else {
            self.socket.send_to(&self.payload, self.peer)
        }
    }

    #[inline(never)]
    fn hand_over_with_controls(&self) -> io::Result<usize> {
        let peer = (!self.is_connected).then(|| self.peer.into());
        let (payload, controls) = (&self.payload, &self.controls);
        send_message(&self.socket, payload, peer.as_ref(), controls, 0)
    }

    #[cold]
    fn hand_over_one(&mut self) -> io::Result<usize> {
        self.fall_back();
        self.hand_over()
    }

    /// Switches to one datagram per call.
    fn fall_back(&mut self) {
        self.payload.truncate(self.payload_bytes);
        self.count = 1;
        self.fell_back = true;
        // Before Linux 6.14, the kernel refuses even a single datagram while the option is set.
        let _ = gso::cut(&self.socket, 0);
    }
}

impl<R: ReceiveMany> TrainIo<R> {
    #[inline(always)]
    fn send(&mut self, fill: &impl Fill) -> io::Result<BatchCount> {
        fill.fill(&mut self.payload);
        let outcome = match self.hand_over() {
            Err(error) if self.count > 1 && gso::is_no_offload(&error) => self.hand_over_one(),
            outcome => outcome,
        };
        Ok(BatchCount::of(self.count, outcome? as u64))
    }
}

impl<R: ReceiveMany> DatagramIo for TrainIo<R> {
    #[inline(always)]
    fn transmit(&mut self, _endpoint: usize, fill: &impl Fill) -> impl BatchFuture {
        ready(self.send(fill))
    }

    #[inline(always)]
    fn receive<C: Check>(&mut self, check: &mut C) -> impl BatchFuture {
        ready(self.incoming.receive(&self.socket, check))
    }

    fn packets_per_failure(&self) -> u64 {
        self.count
    }

    fn check_controls(&self) -> io::Result<()> {
        self.incoming.check_controls()
    }

    fn remark(&self) -> Remark {
        self.fell_back.then_some(
            "gso: kernel or NIC refused trains (EIO, EINVAL, EMSGSIZE: no segmentation offload, or a smaller path MTU): one datagram per call",
        )
    }
}

#[cfg(test)]
mod tests {
    use nix::sys::socket::getsockopt;
    use nix::sys::socket::sockopt::UdpGsoSegment;

    use super::*;
    use crate::engine::payload::NoFill;
    use crate::engine::{Direction, poll_once};

    #[test]
    fn a_train_is_as_long_as_asked_for() {
        if let Err(why) = Gso::probe() {
            eprintln!("SKIPPED: {why}");
            return;
        }
        let bind = || UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
        for train in [1, 3] {
            let (socket, receiver) = (bind(), bind());
            let endpoint = Endpoint::of(socket, receiver.local_addr().ok());
            let options = IoOptions {
                train,
                ..IoOptions::of(vec![endpoint], Direction::Sends, 300)
            };
            let mut io = Gso.open(options).expect("it can be cut");
            let sent = poll_once(io.transmit(0, &NoFill)).expect("loopback takes it");
            assert_eq!(sent, BatchCount::of(train as u64, 300 * train as u64));
            let mut memory = [0; 9000];
            for _ in 0..train {
                assert_eq!(receiver.recv(&mut memory).ok(), Some(300));
            }
            assert_eq!(io.remark(), None, "it was asked for");
        }
    }

    #[test]
    fn a_sender_that_fell_back_asks_for_nothing_to_be_cut() {
        if let Err(why) = Gso::probe() {
            eprintln!("SKIPPED: {why}");
            return;
        }
        let bind = || UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
        let (socket, receiver) = (bind(), bind());
        let peer = receiver.local_addr().expect("bound");
        let endpoint = Endpoint::of(socket, Some(peer));
        let options = IoOptions::of(vec![endpoint], Direction::Sends, 300);
        let mut io = Gso.open(options).expect("it can be cut");
        assert_eq!(io.remark(), None);
        io.fall_back();
        let option = getsockopt(&io.socket, UdpGsoSegment).expect("it has the option");
        assert_eq!(option, 0);
        let moved = poll_once(io.transmit(0, &NoFill)).expect("loopback takes it");
        assert_eq!(moved, BatchCount::one(300));
        assert!(io.remark().is_some());
    }
}
