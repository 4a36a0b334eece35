//! `gso` and `gro`: the kernel cuts one large buffer into datagrams after they have gone through most of the
//! stack as one, and joins those that belong together before it hands them over.

use std::io;
use std::marker::PhantomData;
use std::net::{SocketAddr, UdpSocket};

use super::mmsg::MmsgReceiver;
use crate::data::Group;
use crate::engine::payload::{Check, Fill};
use crate::engine::{
    About, Addressing, Burst, Engine, LaneBrief, Partner, Receive, ReceiveEnd, Remark, SendEnd,
    Transmit,
};
use crate::engines::linux::coalesced::CoalescedReceive;
use crate::engines::linux::gso;

/// UDP_SEGMENT: as many datagrams per call as fit 65507 B and the kernel takes.
pub(super) struct Gso;

impl Engine for Gso {
    const ABOUT: About = About {
        name: "gso",
        summary: "sender: UDP_SEGMENT, the kernel segments up to 128 datagrams per call; mmsg receives",
        group: Group::Offload,
        partner: Partner::ReceivedBy("mmsg"),
        ..About::PLAIN
    };
    type Sender<A: Addressing> = GsoSender<A>;
    type Receiver<A: Addressing> = MmsgReceiver;

    fn start(_brief: &LaneBrief) -> io::Result<Self> {
        Ok(Self)
    }

    fn sender<A: Addressing>(&self, end: SendEnd) -> io::Result<GsoSender<A>> {
        GsoSender::new(end)
    }

    fn receiver<A: Addressing>(&self, end: ReceiveEnd) -> io::Result<MmsgReceiver> {
        MmsgReceiver::new::<A>(end)
    }

    fn probe() -> Result<(), String> {
        let socket = UdpSocket::bind("127.0.0.1:0").or_else(|_| UdpSocket::bind("[::1]:0"));
        let cut = socket.and_then(|socket| gso::cut(&socket, 1));
        cut.map_err(|error| format!("no UDP_SEGMENT (Linux 4.18): {error}"))
    }
}

/// UDP_GRO: everything that came as one piece, in one call.
pub(super) struct Gro;

impl Engine for Gro {
    const ABOUT: About = About {
        name: "gro",
        summary: "receiver: UDP_GRO, up to 64 kB of coalesced datagrams per call; gso sends",
        group: Group::Offload,
        partner: Partner::SentBy("gso"),
        joins: true,
        spins: true,
        ..About::PLAIN
    };
    type Sender<A: Addressing> = GsoSender<A>;
    type Receiver<A: Addressing> = GroReceiver;

    fn start(_brief: &LaneBrief) -> io::Result<Self> {
        Ok(Self)
    }

    fn sender<A: Addressing>(&self, end: SendEnd) -> io::Result<GsoSender<A>> {
        GsoSender::new(end)
    }

    fn receiver<A: Addressing>(&self, end: ReceiveEnd) -> io::Result<GroReceiver> {
        gso::join(&end.socket)?;
        end.limit_wait()?;
        Ok(GroReceiver {
            piece: CoalescedReceive::new(!A::CONNECTED),
            socket: end.socket,
        })
    }

    fn probe() -> Result<(), String> {
        let socket = UdpSocket::bind("127.0.0.1:0").or_else(|_| UdpSocket::bind("[::1]:0"));
        let join = socket.and_then(|socket| gso::join(&socket));
        join.map_err(|error| format!("no UDP_GRO (Linux 5.0): {error}"))
    }
}

pub(super) struct GsoSender<A> {
    socket: UdpSocket,
    peer: SocketAddr,
    payload: Vec<u8>,
    payload_bytes: usize,
    segments: u64,
    addressing: PhantomData<A>,
}

impl<A: Addressing> GsoSender<A> {
    fn new(end: SendEnd) -> io::Result<Self> {
        let segments = gso::most_segments(end.payload_bytes, end.peer)?;
        if segments > 1 {
            gso::cut(&end.socket, end.payload_bytes)?;
        }
        Ok(Self {
            payload: end.payload().repeat(segments),
            socket: end.socket,
            peer: end.peer,
            payload_bytes: end.payload_bytes,
            segments: segments as u64,
            addressing: PhantomData,
        })
    }

    /// A network card without checksum offload cannot cut (EIO, net/ipv4/udp.c `udp_send_skb`): from then
    /// on one datagram per call.
    #[cold]
    #[inline(never)]
    fn fall_back(&mut self) {
        self.payload.truncate(self.payload_bytes);
        self.segments = 1;
        // Before Linux 6.11 it refuses even a single one as long as the option is set.
        let _ = gso::cut(&self.socket, 0);
    }
}

impl<A: Addressing> Transmit for GsoSender<A> {
    #[inline]
    async fn transmit(&mut self, fill: &impl Fill) -> io::Result<Burst> {
        fill.fill(&mut self.payload);
        let outcome = if A::CONNECTED {
            self.socket.send(&self.payload)
        } else {
            self.socket.send_to(&self.payload, self.peer)
        };
        match outcome {
            Ok(sent) => Ok(Burst::of(self.segments, sent as u64)),
            Err(error) => {
                if error.raw_os_error() == Some(libc::EIO) && self.segments > 1 {
                    self.fall_back();
                }
                Err(error)
            }
        }
    }

    fn remark(&self) -> Remark {
        let fell_back = self.segments == 1 && self.payload.len() == self.payload_bytes;
        let could_cut = 2 * self.payload_bytes <= 65_507 && self.payload_bytes > 0;
        (fell_back && could_cut)
            .then_some("gso: no segmentation offload in kernel or NIC: one datagram per call")
    }
}

pub(super) struct GroReceiver {
    socket: UdpSocket,
    piece: CoalescedReceive,
}

impl Receive for GroReceiver {
    #[inline]
    async fn receive<I: Check>(&mut self, check: &mut I) -> io::Result<Burst> {
        self.piece.receive(&self.socket, check)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use nix::sys::socket::getsockopt;
    use nix::sys::socket::sockopt::UdpGsoSegment;

    use super::*;
    use crate::engine::payload::NoFill;
    use crate::engine::{Unconnected, poll_once};

    #[test]
    fn a_sender_that_fell_back_asks_for_nothing_to_be_cut() {
        if let Err(why) = Gso::probe() {
            eprintln!("SKIPPED: {why}");
            return;
        }
        let bind = || UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
        let (socket, receiver) = (bind(), bind());
        let peer = receiver.local_addr().expect("bound");
        let end = SendEnd {
            socket,
            peer,
            payload_bytes: 300,
            batch: 1,
            writer: None,
            null_link: Arc::default(),
        };
        let mut sender = GsoSender::<Unconnected>::new(end).expect("it can be cut");
        assert_eq!(sender.remark(), None);
        sender.fall_back();
        let option = getsockopt(&sender.socket, UdpGsoSegment).expect("it has the option");
        assert_eq!(option, 0);
        let burst = poll_once(sender.transmit(&NoFill)).expect("loopback takes it");
        assert_eq!(burst, Burst::one(300));
        assert!(sender.remark().is_some());
    }
}
