//! `message-io`: the library of that name, its UDP transport, over mio.
//!
//! Its network layer is driven as the library's own benchmarks do it: `NetworkController::send`, and
//! `NetworkProcessor::process_poll_event` on the lane's thread. The node layer above it would add a thread
//! for signals, and a lock around every message. What a connected case uses is the library's `connect`, and
//! what an unconnected one uses its `listen`, on both sides.
//!
//! The library fits the contract in two places only with help:
//! - It makes its own sockets, and has no way to be given one. So it makes one, in vain, on a port of its
//!   own, and [`replace`] puts ours in its place.
//! - One call receives until the socket says `WouldBlock`: in a flood, it may never return. So the receiver
//!   publishes each datagram from the library's callback, as the workload does after each call of any other
//!   engine. What the call then returns brings the workload to the same total.
//!
//! It also starts its wait anew after a signal. So its lanes do not take any, and wait for 50 ms at most,
//! as the library's node layer does.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use message_io::adapters::udp::UdpConnectConfig;
use message_io::network::{
    self, Endpoint, NetEvent, NetworkController, NetworkProcessor, SendStatus, Transport,
    TransportConnect,
};

use crate::data::Group;
use crate::engine::payload::{Check, Fill};
use crate::engine::{
    About, Addressing, Burst, Connected, Engine, LaneBrief, Meter, Receive, ReceiveEnd, SendEnd,
    Tally, Transmit, Unconnected,
};
use crate::engines::linux::swap_fd::replace;
use crate::sys::wakeup;

/// `SAMPLING_TIMEOUT` in the library's `node.rs`: how soon its own loop sees that it is to stop.
const GLANCE: Duration = Duration::from_millis(50);

pub(super) struct MessageIo(Arc<Meter>);

impl Engine for MessageIo {
    const ABOUT: About = About {
        name: "message-io",
        summary: "message-io's UDP transport, over mio, each event drained",
        group: Group::Readiness,
        ..About::PLAIN
    };
    type Sender<A: Addressing> = MessageIoSender;
    type Receiver<A: Addressing> = MessageIoReceiver;

    fn start(brief: &LaneBrief) -> io::Result<Self> {
        wakeup::block()?;
        Ok(Self(Arc::clone(&brief.meter)))
    }

    fn sender<A: Addressing>(&self, end: SendEnd) -> io::Result<MessageIoSender> {
        let (network, endpoint) = Network::over::<A>(&end.socket, end.peer)?;
        Ok(MessageIoSender {
            payload: end.payload(),
            network,
            endpoint,
        })
    }

    fn receiver<A: Addressing>(&self, end: ReceiveEnd) -> io::Result<MessageIoReceiver> {
        // Where several flows end here, the socket has no peer. Any address will do.
        let peer = end.socket.peer_addr().or_else(|_| end.socket.local_addr());
        let (network, _) = Network::over::<A>(&end.socket, peer?)?;
        Ok(MessageIoReceiver {
            network,
            wait: end.recv_timeout.unwrap_or(GLANCE),
            meter: Arc::clone(&self.0),
            total: Tally::default(),
        })
    }

    /// Whether its sockets can be replaced.
    fn probe() -> Result<(), String> {
        mio::Poll::new().map_err(|error| format!("no epoll instance: {error}"))?;
        let adopt = || {
            let socket = UdpSocket::bind("127.0.0.1:0")?;
            let peer = socket.local_addr()?;
            Network::over::<Connected>(&socket, peer)?;
            Network::over::<Unconnected>(&socket, peer)
        };
        let adopted = adopt().map(drop);
        adopted.map_err(|error| format!("cannot give the library a socket: {error}"))
    }
}

/// The library's two handles.
struct Network {
    controller: NetworkController,
    processor: NetworkProcessor,
}

impl Network {
    /// A network of one socket, and where its datagrams go.
    fn over<A: Addressing>(socket: &UdpSocket, peer: SocketAddr) -> io::Result<(Self, Endpoint)> {
        let (controller, mut processor) = network::split();
        let any_port = SocketAddr::new(socket.local_addr()?.ip(), 0);
        let (endpoint, theirs) = if A::CONNECTED {
            let config = UdpConnectConfig::default().with_source_address(any_port);
            controller.connect_with(TransportConnect::Udp(config), peer)?
        } else {
            let (id, theirs) = controller.listen(Transport::Udp, any_port)?;
            (Endpoint::from_listener(id, peer), theirs)
        };
        socket.set_nonblocking(true)?;
        replace(theirs, socket)?;
        // The library sends once it has heard that the socket can be written to, which is at once.
        while controller.is_ready(endpoint.resource_id()) == Some(false) {
            processor.process_poll_event(Some(GLANCE), |_| ());
        }
        let network = Self {
            controller,
            processor,
        };
        Ok((network, endpoint))
    }
}

pub(super) struct MessageIoSender {
    network: Network,
    endpoint: Endpoint,
    payload: Vec<u8>,
}

impl Transmit for MessageIoSender {
    #[inline]
    async fn transmit(&mut self, fill: &impl Fill) -> io::Result<Burst> {
        fill.fill(&mut self.payload);
        match self.network.controller.send(self.endpoint, &self.payload) {
            SendStatus::Sent => Ok(Burst::one(self.payload.len())),
            // The library keeps what the system said to itself.
            refused => Err(io::Error::other(format!("message-io: {refused:?}"))),
        }
    }
}

pub(super) struct MessageIoReceiver {
    network: Network,
    wait: Duration,
    meter: Arc<Meter>,
    total: Tally,
}

impl Receive for MessageIoReceiver {
    #[inline]
    async fn receive<I: Check>(&mut self, check: &mut I) -> io::Result<Burst> {
        let before = self.total;
        let took = |event: NetEvent| {
            if let NetEvent::Message(_, datagram) = event {
                check.check(datagram);
                let total = self.total.add(Burst::one(datagram.len()));
                self.meter.received.publish(total);
            }
        };
        let processor = &mut self.network.processor;
        processor.process_poll_event(Some(self.wait), took);
        if self.total == before {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        Ok(Burst::of(
            self.total.packets - before.packets,
            self.total.bytes - before.bytes,
        ))
    }
}
