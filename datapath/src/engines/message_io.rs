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
use crate::engine::payload::{Check, Fill, Origin};
use crate::engine::{
    About, Addressing, Burst, Connected, Engine, LaneBrief, Meter, Port, PortOptions, Tally,
    Unconnected,
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
    type Port<A: Addressing> = MessageIoPort;

    fn start(brief: &LaneBrief) -> io::Result<Self> {
        wakeup::block()?;
        Ok(Self(Arc::clone(&brief.meter)))
    }

    fn open<A: Addressing>(&self, mut options: PortOptions) -> io::Result<MessageIoPort> {
        let link = options.only_link()?;
        // Where several flows end here, the socket has no peer. Any address will do.
        let peer = link.peer.map_or_else(|| link.socket.peer_addr(), Ok);
        let peer = peer.or_else(|_| link.socket.local_addr())?;
        let (network, endpoint) = Network::over::<A>(&link.socket, peer)?;
        Ok(MessageIoPort {
            network,
            endpoint,
            connected: A::CONNECTED,
            payload: options.payload(),
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

pub(super) struct MessageIoPort {
    network: Network,
    endpoint: Endpoint,
    connected: bool,
    payload: Vec<u8>,
    meter: Arc<Meter>,
    /// Received so far.
    total: Tally,
}

impl Port for MessageIoPort {
    #[inline]
    async fn transmit(&mut self, _link: usize, fill: &impl Fill) -> io::Result<Burst> {
        fill.fill(&mut self.payload);
        let to = fill.destination();
        let to = to.map(|to| Endpoint::from_listener(self.endpoint.resource_id(), to));
        let to = to.unwrap_or(self.endpoint);
        match self.network.controller.send(to, &self.payload) {
            SendStatus::Sent => Ok(Burst::one(self.payload.len())),
            // The library keeps what the system said to itself.
            refused => Err(io::Error::other(format!("message-io: {refused:?}"))),
        }
    }

    #[inline]
    async fn receive<C: Check>(&mut self, check: &mut C) -> io::Result<Burst> {
        let before = self.total;
        let took = |event: NetEvent| {
            if let NetEvent::Message(from, datagram) = event {
                if C::LOOKS {
                    let source = (!self.connected).then(|| from.addr());
                    check.check(datagram, Origin::of(source));
                }
                let total = self.total.add(Burst::one(datagram.len()));
                self.meter.received.publish(total);
            }
        };
        let processor = &mut self.network.processor;
        processor.process_poll_event(Some(GLANCE), took);
        if self.total == before {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        Ok(Burst::of(
            self.total.packets - before.packets,
            self.total.bytes - before.bytes,
        ))
    }
}
