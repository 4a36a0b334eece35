//! How the two ends of a connection agree on WebSocket, before threads have them.

use std::io;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use tungstenite::HandshakeError;
use tungstenite::handshake::{HandshakeRole, MidHandshake};

use super::in_io;

/// How long two ends in one process may take to agree.
const PATIENCE: Duration = Duration::from_secs(5);

/// Has the two ends of a connection agree on WebSocket. Both are blocking, before and after.
///
/// # Errors
/// What the system or the library said.
pub fn shake_hands(client: &TcpStream, server: &TcpStream) -> io::Result<()> {
    for end in [client, server] {
        end.set_nonblocking(true)?;
    }
    let give_up_at = Instant::now() + PATIENCE;
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

/// What is left to do of a handshake, if anything is.
fn begun<R, T>(round: Result<T, HandshakeError<R>>) -> io::Result<Option<MidHandshake<R>>>
where
    R: HandshakeRole,
{
    match round {
        Ok(_) => Ok(None),
        Err(HandshakeError::Interrupted(rest)) => Ok(Some(rest)),
        Err(HandshakeError::Failure(error)) => Err(in_io(error)),
    }
}
