//! The end that connects.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};

use super::key::Key;
use super::link::{self, Outgoing, Streams};
use super::noise::{CONFIRMATION, HANDSHAKE, HandshakeError, Initiator, MESSAGE};

const NO_KEY: &str = "the other end does not have this key, or is no udpbench agent";

/// Connects to the agent that listens at an address with this key, and has its session. Dropping the writer ends
/// that, even while another thread reads.
///
/// # Errors
/// When nothing listens there, when the other end lacks the key or does not finish the handshake within
/// [`HANDSHAKE`], and when another one has its session: the address, the reason, the fix.
pub fn connect(address: SocketAddr, key: &Key) -> anyhow::Result<Streams> {
    shake_hands(address, key).with_context(|| address.to_string())
}

fn shake_hands(address: SocketAddr, key: &Key) -> anyhow::Result<Streams> {
    let end = Instant::now() + HANDSHAKE;
    let mut stream = TcpStream::connect_timeout(&address, HANDSHAKE).with_context(|| {
        format!("cannot connect: does `udpbench agent --listen {address} --key FILE` run there?")
    })?;
    link::prepare(&stream);
    let (initiator, first) = Initiator::start(key)?;
    let mut answer = [0; MESSAGE];
    let answered = send(&mut stream, &first).and_then(|()| receive(&mut stream, &mut answer, end));
    answered.map_err(|error| refused(&error, NO_KEY))?;
    let unconfirmed = match initiator.finish(&answer) {
        Err(HandshakeError::Refused) => bail!(NO_KEY),
        finished => finished?,
    };
    send(&mut stream, &unconfirmed.confirmation()?)?;
    let mut confirmation = [0; CONFIRMATION];
    let taken = "it has the key, but gave its only session to another one, or ended";
    receive(&mut stream, &mut confirmation, end).map_err(|error| refused(&error, taken))?;
    let session = unconfirmed.confirm(&confirmation)?;
    stream.set_read_timeout(None)?;
    stream.set_write_timeout(None)?;
    Ok(session.streams(stream.try_clone()?, Outgoing::new(stream)))
}

/// What it means that the other end says nothing more.
fn refused(error: &io::Error, meaning: &str) -> anyhow::Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof
        | io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::BrokenPipe => anyhow!("{meaning}"),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            anyhow!("no answer within {} s: {meaning}", HANDSHAKE.as_secs())
        }
        _ => anyhow!("{meaning} ({error})"),
    }
}

fn send(stream: &mut TcpStream, message: &[u8]) -> io::Result<()> {
    stream.set_write_timeout(Some(HANDSHAKE))?;
    stream.write_all(message)
}

/// Fills the buffer before `end`, however the other end spreads its bytes over time.
fn receive(stream: &mut TcpStream, buffer: &mut [u8], end: Instant) -> io::Result<()> {
    let mut filled = 0;
    while filled < buffer.len() {
        // No timeout of 0 can be set.
        let left = end.saturating_duration_since(Instant::now());
        stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
        match stream.read(&mut buffer[filled..]) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(bytes) => filled += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
