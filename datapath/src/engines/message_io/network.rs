//! Networks of one socket, which is ours.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::os::fd::OwnedFd;
use std::time::Duration;

use message_io::adapters::udp::UdpConnectConfig;
use message_io::network::{
    self, Endpoint, NetworkController, NetworkProcessor, Transport, TransportConnect,
};
use socket2::SockRef;

use super::messages::{Cut, Messages, Whole};
use crate::engine::Addressing;
use crate::engines::linux::swap_fd::replace;

/// `SAMPLING_TIMEOUT` in the library's `node.rs`: how soon its own loop sees that it is to stop.
pub(super) const GLANCE: Duration = Duration::from_millis(50);

/// One of the library's transports.
pub(in crate::engines) trait Adapter: Send + 'static {
    /// What makes messages of what the library hands out.
    type Messages: Messages;
    /// Whether a message is a datagram.
    const IS_UDP: bool = false;

    /// A network of one socket, and where its messages go.
    ///
    /// # Errors
    /// What the system said.
    fn open<A: Addressing>(
        socket: OwnedFd,
        peer: Option<SocketAddr>,
    ) -> io::Result<(Network, Endpoint)>;
}

/// Its UDP.
pub(in crate::engines) enum Udp {}
/// Its TCP.
pub(in crate::engines) enum Tcp {}
/// Its TCP with a length before each message.
pub(in crate::engines) enum FramedTcp {}

impl FramedTcp {
    /// Bytes before a message: its length, seven bits in each.
    pub(in crate::engines) fn head_bytes(message_bytes: usize) -> usize {
        let bits = usize::BITS - message_bytes.leading_zeros();
        bits.div_ceil(7).max(1) as usize
    }
}

impl Adapter for Udp {
    type Messages = Whole;
    const IS_UDP: bool = true;

    fn open<A: Addressing>(
        socket: OwnedFd,
        peer: Option<SocketAddr>,
    ) -> io::Result<(Network, Endpoint)> {
        // Where several flows end here, the socket has no peer. Any address will do.
        let socket = UdpSocket::from(socket);
        let peer = peer.map_or_else(|| socket.peer_addr(), Ok);
        let peer = peer.or_else(|_| socket.local_addr())?;
        let mut network = Network::new();
        let any_port = SocketAddr::new(socket.local_addr()?.ip(), 0);
        let (endpoint, theirs) = if A::CONNECTED {
            let config = UdpConnectConfig::default().with_source_address(any_port);
            network
                .controller
                .connect_with(TransportConnect::Udp(config), peer)?
        } else {
            let (id, theirs) = network.controller.listen(Transport::Udp, any_port)?;
            (Endpoint::from_listener(id, peer), theirs)
        };
        socket.set_nonblocking(true)?;
        replace(theirs, &socket)?;
        network.wait_until_ready(endpoint)?;
        Ok((network, endpoint))
    }
}

impl Adapter for Tcp {
    type Messages = Cut;

    fn open<A: Addressing>(
        socket: OwnedFd,
        _peer: Option<SocketAddr>,
    ) -> io::Result<(Network, Endpoint)> {
        connect(Transport::Tcp, &socket)
    }
}

impl Adapter for FramedTcp {
    type Messages = Whole;

    fn open<A: Addressing>(
        socket: OwnedFd,
        _peer: Option<SocketAddr>,
    ) -> io::Result<(Network, Endpoint)> {
        connect(Transport::FramedTcp, &socket)
    }
}

/// A network with a connection that others have made.
fn connect(transport: Transport, socket: &OwnedFd) -> io::Result<(Network, Endpoint)> {
    let mut network = Network::new();
    let nobody = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let (endpoint, theirs) = network
        .controller
        .connect(transport, nobody.local_addr()?)?;
    network.wait_until_ready(endpoint)?;
    SockRef::from(socket).set_nonblocking(true)?;
    replace(theirs, socket)?;
    Ok((network, endpoint))
}

/// The library's two handles.
pub(in crate::engines) struct Network {
    pub(super) controller: NetworkController,
    pub(super) processor: NetworkProcessor,
}

impl Network {
    fn new() -> Self {
        let (controller, processor) = network::split();
        Self {
            controller,
            processor,
        }
    }

    /// The library sends once it has heard that the socket can be written to, which is at once.
    fn wait_until_ready(&mut self, endpoint: Endpoint) -> io::Result<()> {
        loop {
            match self.controller.is_ready(endpoint.resource_id()) {
                Some(true) => return Ok(()),
                Some(false) => self.processor.process_poll_event(Some(GLANCE), |_| ()),
                None => return Err(io::ErrorKind::NotConnected.into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_seven_bits_a_byte() {
        let heads = [0, 1, 127, 128, 16_383, 16_384, 1 << 20];
        assert_eq!(heads.map(FramedTcp::head_bytes), [1, 1, 1, 2, 2, 3, 3]);
    }
}
