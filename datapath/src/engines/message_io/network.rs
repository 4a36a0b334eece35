//! Networks of the message-io library that contain one socket of ours.

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

/// Maximum wait of one call: `SAMPLING_TIMEOUT` in the library's `node.rs`, after which its own loop checks its stop
/// flag.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A transport of the library.
pub(in crate::engines) trait Adapter: Send + 'static {
    /// Way to split the delivered data into messages.
    type Messages: Messages;
    /// True if each message is a datagram.
    const IS_UDP: bool = false;

    /// Creates a network of one socket, and returns it with the destination of its messages.
    ///
    /// # Errors
    /// Returns the error of the system call.
    fn open<A: Addressing>(
        socket: OwnedFd,
        peer: Option<SocketAddr>,
    ) -> io::Result<(Network, Endpoint)>;
}

/// The library's UDP.
pub(in crate::engines) enum Udp {}
/// The library's TCP.
pub(in crate::engines) enum Tcp {}
/// The library's TCP with a length before each message.
pub(in crate::engines) enum FramedTcp {}

impl FramedTcp {
    /// Returns the number of bytes before a message: its length, with seven bits per byte.
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
        // With several flows to this socket, it has no peer. Any address will do.
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

/// Creates a network with an existing connection.
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

/// The two handles of a library network.
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

    /// Waits until the library sends, which it does once an event has told it that the socket is writable. That event
    /// comes at once.
    fn wait_until_ready(&mut self, endpoint: Endpoint) -> io::Result<()> {
        loop {
            match self.controller.is_ready(endpoint.resource_id()) {
                Some(true) => return Ok(()),
                Some(false) => self
                    .processor
                    .process_poll_event(Some(POLL_INTERVAL), |_| ()),
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
