//! The end that listens: at one address, for one session.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::key::Key;
use super::link::Streams;
use super::pending::{Pending, Progress};
use super::refusals::Refusals;

/// So many handshakes may be under way at a time. One more takes the place of the oldest: who connects and says
/// nothing holds up nobody.
pub const MOST_PENDING: usize = 16;

/// Where no connection can be taken, as without descriptors, the next attempt is so much later.
const PAUSE: Duration = Duration::from_millis(50);

/// A socket that waits for the one who has the key.
pub struct Listener {
    socket: TcpListener,
    /// Who else connects is dropped.
    from: Option<IpAddr>,
    pending: VecDeque<Pending>,
    refusals: Refusals,
}

impl Listener {
    /// Listens at this address. `from`: only this host may connect.
    ///
    /// # Errors
    /// When the address is no own one, or taken.
    pub fn bind(address: SocketAddr, from: Option<IpAddr>) -> io::Result<Self> {
        let socket = TcpListener::bind(address)?;
        socket.set_nonblocking(true)?;
        Ok(Self {
            socket,
            from: from.map(|from| from.to_canonical()),
            pending: VecDeque::with_capacity(MOST_PENDING),
            refusals: Refusals::default(),
        })
    }

    /// Where it listens: a port of 0 has become one.
    ///
    /// # Errors
    /// When the kernel does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Waits for the first that has the key. All others are dropped, and the socket is closed. `say` gets a line for
    /// refusals.
    ///
    /// # Errors
    /// When the kernel cannot wait. Nothing that comes over the network is an error.
    pub fn session(
        mut self,
        key: &Key,
        mut say: impl FnMut(&str),
    ) -> io::Result<(SocketAddr, Streams)> {
        loop {
            self.wait()?;
            // First those that are there: a crowd of new ones does not push out one that has just shown the key.
            if let Some(confirmed) = self.advance(key, &mut say) {
                return Ok(confirmed);
            }
            self.accept(&mut say);
        }
    }

    /// Until something has come, or the next handshake is late.
    fn wait(&self) -> io::Result<()> {
        let ends = self.pending.iter().map(Pending::end);
        let left = ends.min().map(|end| {
            let left = end.saturating_duration_since(Instant::now());
            // Rounded up: a wait of 0 ms would turn in a circle.
            left + Duration::from_millis(1)
        });
        let timeout = left.map_or(PollTimeout::NONE, |left| {
            PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX)
        });
        let readable = |fd| PollFd::new(fd, PollFlags::POLLIN);
        let mut fds = vec![readable(self.socket.as_fd())];
        fds.extend(self.pending.iter().map(|pending| readable(pending.as_fd())));
        match poll(&mut fds, timeout) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes what has come from each.
    fn advance(&mut self, key: &Key, say: &mut impl FnMut(&str)) -> Option<(SocketAddr, Streams)> {
        for _ in 0..self.pending.len() {
            let mut pending = self.pending.pop_front()?;
            let peer = pending.peer();
            match pending.advance(key) {
                Progress::Waiting => self.pending.push_back(pending),
                Progress::Refused(reason) => self.refusals.tell(peer, &reason, say),
                Progress::Confirmed(session) => match pending.streams(session) {
                    Ok(streams) => return Some((peer, streams)),
                    Err(error) => self.refusals.tell(peer, &error.to_string(), say),
                },
            }
        }
        None
    }

    /// Takes new connections: no more at once than there is room for.
    fn accept(&mut self, say: &mut impl FnMut(&str)) {
        for _ in 0..MOST_PENDING {
            match self.socket.accept() {
                Ok((stream, peer)) => self.admit(stream, canonical(peer), say),
                Err(error) if is_passing(&error) => return,
                Err(error) => {
                    say(&format!("cannot take a connection: {error}"));
                    return thread::sleep(PAUSE);
                }
            }
        }
    }

    fn admit(&mut self, stream: TcpStream, peer: SocketAddr, say: &mut impl FnMut(&str)) {
        if self.from.is_some_and(|from| from != peer.ip()) {
            return self.refusals.tell(peer, "--from names another host", say);
        }
        match Pending::new(stream, peer) {
            Ok(pending) => self.pending.push_back(pending),
            Err(error) => self.refusals.tell(peer, &error.to_string(), say),
        }
        if self.pending.len() > MOST_PENDING {
            if let Some(oldest) = self.pending.pop_front() {
                let reason = "others waited, and it had not yet shown the key";
                self.refusals.tell(oldest.peer(), reason, say);
            }
        }
    }
}

/// IPv4 addresses as such, also on a socket for both.
fn canonical(peer: SocketAddr) -> SocketAddr {
    SocketAddr::new(peer.ip().to_canonical(), peer.port())
}

/// There is none any more, or it left before it was taken (accept(2)).
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted
    )
}
