//! The WebSocket handshake between the two ends of a connection, before bench threads get them.

use std::io;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use tungstenite::HandshakeError;
use tungstenite::handshake::{HandshakeRole, MidHandshake};

use super::to_io_error;

/// Time limit for the handshake of two ends in one process.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Performs the WebSocket handshake between the two ends of a connection. Both ends are blocking, before and after.
///
/// # Errors
/// Fails with `TimedOut` after 5 s. Otherwise returns the error of the system or of the library.
pub fn shake_hands(client: &TcpStream, server: &TcpStream) -> io::Result<()> {
    for end in [client, server] {
        end.set_nonblocking(true)?;
    }
    let give_up_at = Instant::now() + TIMEOUT;
    let mut asking = begun(tungstenite::client("ws://localhost/", client))?;
    let mut answering = begun(tungstenite::accept(server))?;
    while asking.is_some() || answering.is_some() {
        if Instant::now() > give_up_at {
            return Err(io::ErrorKind::TimedOut.into());
        }
        answering = answering.map_or(Ok(None), |it| begun(it.handshake()))?;
        asking = asking.map_or(Ok(None), |it| begun(it.handshake()))?;
    }
    for end in [client, server] {
        end.set_nonblocking(false)?;
    }
    Ok(())
}

/// Returns the rest of a handshake, or `None` if it is complete.
fn begun<R, T>(round: Result<T, HandshakeError<R>>) -> io::Result<Option<MidHandshake<R>>>
where
    R: HandshakeRole,
{
    match round {
        Ok(_) => Ok(None),
        Err(HandshakeError::Interrupted(rest)) => Ok(Some(rest)),
        Err(HandshakeError::Failure(error)) => Err(to_io_error(error)),
    }
}
