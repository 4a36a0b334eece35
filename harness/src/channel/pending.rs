//! A connection whose handshake is not finished: as many bytes of it are read as its next message has, and not one
//! more; it gets an answer only to a message that was made with the key.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use super::key::Key;
use super::link::{self, Outgoing, Streams};
use super::noise::{self, CONFIRMATION, HANDSHAKE, HandshakeError, MESSAGE, Session, Unconfirmed};

/// One that may become the session.
pub(super) struct Pending {
    stream: TcpStream,
    peer: SocketAddr,
    /// By when it has to be finished.
    end: Instant,
    state: State,
    message: [u8; MESSAGE],
    /// Of `message`, in bytes.
    filled: usize,
}

/// Which message is awaited.
enum State {
    First,
    Confirmation(Unconfirmed),
}

/// How far it got.
pub(super) enum Progress {
    /// It waits for more bytes.
    Waiting,
    /// It is to be dropped, for this reason.
    Refused(String),
    /// It has shown that it has the key.
    Confirmed(Session),
}

impl Pending {
    pub(super) fn new(stream: TcpStream, peer: SocketAddr) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        link::prepare(&stream);
        Ok(Self {
            stream,
            peer,
            end: Instant::now() + HANDSHAKE,
            state: State::First,
            message: [0; MESSAGE],
            filled: 0,
        })
    }

    pub(super) fn peer(&self) -> SocketAddr {
        self.peer
    }

    pub(super) fn end(&self) -> Instant {
        self.end
    }

    /// Takes what has come, without waiting.
    pub(super) fn advance(&mut self, key: &Key) -> Progress {
        loop {
            let awaited = match self.state {
                State::First => MESSAGE,
                State::Confirmation(_) => CONFIRMATION,
            };
            match self.stream.read(&mut self.message[self.filled..awaited]) {
                Ok(0) => {
                    return Progress::Refused("it left before it had shown the key".to_owned());
                }
                Ok(bytes) => self.filled += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return self.unless_late();
                }
                Err(error) => return Progress::Refused(error.to_string()),
            }
            if self.filled == awaited {
                match self.take(key) {
                    Ok(None) => self.filled = 0,
                    Ok(Some(session)) => return Progress::Confirmed(session),
                    Err(reason) => return Progress::Refused(reason),
                }
            }
        }
    }

    fn unless_late(&self) -> Progress {
        if Instant::now() < self.end {
            return Progress::Waiting;
        }
        let seconds = HANDSHAKE.as_secs();
        Progress::Refused(format!("it did not show the key within {seconds} s"))
    }

    /// Takes a whole message. Returns the session after the last one.
    fn take(&mut self, key: &Key) -> Result<Option<Session>, String> {
        let refused = |error: HandshakeError| error.to_string();
        match std::mem::replace(&mut self.state, State::First) {
            State::First => {
                let (unconfirmed, answer) = noise::answer(key, &self.message).map_err(refused)?;
                self.send(&answer)?;
                self.state = State::Confirmation(unconfirmed);
                Ok(None)
            }
            State::Confirmation(unconfirmed) => {
                let mut message = [0; CONFIRMATION];
                message.copy_from_slice(&self.message[..CONFIRMATION]);
                let own = unconfirmed.confirmation().map_err(refused)?;
                let session = unconfirmed.confirm(&message).map_err(refused)?;
                self.send(&own)?;
                Ok(Some(session))
            }
        }
    }

    /// A new connection takes so few bytes at once: whoever makes it refuse them is not waited for.
    fn send(&mut self, message: &[u8]) -> Result<(), String> {
        match self.stream.write(message) {
            Ok(sent) if sent == message.len() => Ok(()),
            Ok(_) => Err("it takes no answer".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// The streams of the session that it became.
    pub(super) fn streams(self, session: Session) -> io::Result<Streams> {
        self.stream.set_nonblocking(false)?;
        let input = self.stream.try_clone()?;
        Ok(session.streams(input, Outgoing::new(self.stream)))
    }
}

impl AsFd for Pending {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}
