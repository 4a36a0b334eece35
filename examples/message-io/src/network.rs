//! Networks of the message-io library that contain one socket of ours.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use message_io::adapters::udp::UdpConnectConfig;
use message_io::network::{
    self, Endpoint, NetEvent, NetworkController, NetworkProcessor, Transport, TransportConnect,
};
use nix::sys::eventfd::{EfdFlags, EventFd};
use udpbench::data::Connection;
use udpbench::engine;

use crate::messages::{Cut, Messages, Whole};
use crate::swap_fd::replace;

/// Maximum wait of one call: `SAMPLING_TIMEOUT` in the library's `node.rs`, after which its own loop checks its stop
/// flag.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Time limit for a handshake of the library with itself.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A transport of the library.
pub trait Adapter: Send + 'static {
    /// Way to split the delivered data into messages.
    type Messages: Messages;
    /// True if each message is a datagram.
    const IS_UDP: bool = false;

    /// Creates a network of one socket.
    ///
    /// # Errors
    /// Returns the error of the system call.
    fn open(endpoint: engine::Endpoint, connection: Connection) -> io::Result<Network>;
}

/// The library's UDP.
pub enum Udp {}
/// The library's TCP.
pub enum Tcp {}
/// The library's TCP with a length before each message.
pub enum FramedTcp {}
/// The library's WebSocket.
pub enum WebSocket {}

impl FramedTcp {
    /// Returns the number of bytes before a message: its length, with seven bits per byte.
    pub(crate) fn head_bytes(message_bytes: usize) -> usize {
        let bits = usize::BITS - message_bytes.leading_zeros();
        bits.div_ceil(7).max(1) as usize
    }
}

impl Adapter for Udp {
    type Messages = Whole;
    const IS_UDP: bool = true;

    fn open(endpoint: engine::Endpoint, connection: Connection) -> io::Result<Network> {
        // With several flows to this socket, it has no peer. Any address will do.
        let socket = UdpSocket::from(endpoint.socket);
        let peer = endpoint.peer.map_or_else(|| socket.peer_addr(), Ok);
        let peer = peer.or_else(|_| socket.local_addr())?;
        let (controller, processor) = network::split();
        let any_port = SocketAddr::new(socket.local_addr()?.ip(), 0);
        let (endpoint, theirs) = if connection == Connection::Connected {
            let config = UdpConnectConfig::default().with_source_address(any_port);
            controller.connect_with(TransportConnect::Udp(config), peer)?
        } else {
            let (id, theirs) = controller.listen(Transport::Udp, any_port)?;
            (Endpoint::from_listener(id, peer), theirs)
        };
        socket.set_nonblocking(true)?;
        replace(theirs, &socket)?;
        let mut network = Network::new(controller, processor, endpoint);
        network.wait_until_ready()?;
        Ok(network)
    }
}

impl Adapter for Tcp {
    type Messages = Cut;

    fn open(endpoint: engine::Endpoint, _connection: Connection) -> io::Result<Network> {
        connect(Transport::Tcp, endpoint.socket)
    }
}

impl Adapter for FramedTcp {
    type Messages = Whole;

    fn open(endpoint: engine::Endpoint, _connection: Connection) -> io::Result<Network> {
        connect(Transport::FramedTcp, endpoint.socket)
    }
}

impl Adapter for WebSocket {
    type Messages = Whole;

    fn open(endpoint: engine::Endpoint, _connection: Connection) -> io::Result<Network> {
        let (controller, mut processor) = network::split();
        let (listener, server) = controller.listen(Transport::Ws, (Ipv4Addr::LOCALHOST, 0))?;
        let (asking, client) = controller.connect(Transport::Ws, server)?;
        let answering = shake_hands(&mut processor)?;
        // From now on, one socket alone has the server's address.
        controller.remove(listener);
        let (ours, theirs, other) = if endpoint.is_client {
            (asking, client, answering)
        } else {
            (answering, server, asking)
        };
        let socket = TcpStream::from(endpoint.socket);
        socket.set_nonblocking(true)?;
        let registration = replace(theirs, &socket)?;
        controller.remove(other.resource_id());
        let prompt = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?;
        registration.add(&prompt)?;
        Ok(Network {
            prompt: Some(prompt),
            ..Network::new(controller, processor, ours)
        })
    }
}

/// Lets a network that connects to itself perform its WebSocket handshake, and returns the server's end.
fn shake_hands(processor: &mut NetworkProcessor) -> io::Result<Endpoint> {
    let give_up_at = Instant::now() + TIMEOUT;
    let (mut is_connected, mut accepted) = (None, None);
    while Instant::now() < give_up_at {
        processor.process_poll_event(Some(POLL_INTERVAL), |event| match event {
            NetEvent::Connected(_, is_agreed) => is_connected = Some(is_agreed),
            NetEvent::Accepted(endpoint, _) => accepted = Some(endpoint),
            NetEvent::Message(..) | NetEvent::Disconnected(_) => {}
        });
        match (is_connected, accepted) {
            (Some(true), Some(endpoint)) => return Ok(endpoint),
            (Some(false), _) => return Err(io::ErrorKind::ConnectionRefused.into()),
            _ => {}
        }
    }
    Err(io::ErrorKind::TimedOut.into())
}

/// Creates a network with an existing connection.
fn connect(transport: Transport, socket: OwnedFd) -> io::Result<Network> {
    let (controller, processor) = network::split();
    let nobody = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let (endpoint, theirs) = controller.connect(transport, nobody.local_addr()?)?;
    let mut network = Network::new(controller, processor, endpoint);
    network.wait_until_ready()?;
    let socket = TcpStream::from(socket);
    socket.set_nonblocking(true)?;
    replace(theirs, &socket)?;
    Ok(network)
}

/// A network of the library with one socket.
pub struct Network {
    pub(crate) controller: NetworkController,
    pub(crate) processor: NetworkProcessor,
    /// Destination of its messages.
    pub(crate) endpoint: Endpoint,
    /// Descriptor whose events the library takes for those of the socket. See [`Network::prompt`].
    prompt: Option<EventFd>,
}

impl Network {
    fn new(controller: NetworkController, processor: NetworkProcessor, endpoint: Endpoint) -> Self {
        Self {
            controller,
            processor,
            endpoint,
            prompt: None,
        }
    }

    /// Waits until the library sends, which it does once an event has told it that the socket is writable. That event
    /// comes at once.
    fn wait_until_ready(&mut self) -> io::Result<()> {
        loop {
            match self.controller.is_ready(self.endpoint.resource_id()) {
                Some(true) => return Ok(()),
                Some(false) => self
                    .processor
                    .process_poll_event(Some(POLL_INTERVAL), |_| ()),
                None => return Err(io::ErrorKind::NotConnected.into()),
            }
        }
    }

    /// Makes the library's next call take one message that lies in its own buffer, if there is one.
    ///
    /// One read of its WebSocket may take many messages from the socket. After each message, the library looks at the
    /// socket only, and waits if that is empty.
    pub(crate) fn prompt(&self) -> io::Result<()> {
        match &self.prompt {
            Some(prompt) => Ok(prompt.write(1).map(drop)?),
            None => Ok(()),
        }
    }

    /// Returns whether messages may lie in the library's buffer.
    pub(crate) fn buffers(&self) -> bool {
        self.prompt.is_some()
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
