//! The handshake, message by message, and the ciphers that come of it. No sockets: these are functions of bytes.
//!
//! Noise's pattern `NNpsk0`: the initiator sends an ephemeral key, encrypted with the shared one, and the
//! responder answers with its own. Then each sends a confirmation, an empty message in the new ciphers, the
//! initiator first. A recorded first message can be sent again by anyone, but only who has the key can make the
//! confirmation that belongs to the answer: a session begins with that one.

use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Duration;

use snow::{Builder, HandshakeState, StatelessTransportState};
use thiserror::Error;

use super::key::Key;
use super::streams::{Ciphers, Reader, TAG, Writer};

const PATTERN: &str = "Noise_NNpsk0_25519_ChaChaPoly_BLAKE2s";

/// Part of what both ends hash: one that means another protocol by the same messages fails as without the key.
const PROLOGUE: &[u8] = b"udpbench agent 1";

/// How long a handshake may take, from the connection to the last confirmation.
pub const HANDSHAKE: Duration = Duration::from_secs(3);

/// The two messages of the handshake, in bytes: an ephemeral key and a tag. The answer is no longer than the
/// question: a listener amplifies nothing.
pub const MESSAGE: usize = 32 + TAG;

/// An empty message in the new ciphers, in bytes.
pub const CONFIRMATION: usize = TAG;

/// The number of the confirmation among the messages of a direction; the streams begin with the next.
const CONFIRMATION_NUMBER: u64 = 0;

/// Why there is no session.
#[derive(Debug, Error)]
pub enum HandshakeError {
    /// A message was not made with this key, or was altered.
    #[error("it does not have this key")]
    Refused,
    /// This end cannot make its part, as without random numbers.
    #[error("the handshake cannot be made at this end: {0}")]
    Broken(snow::Error),
}

impl From<snow::Error> for HandshakeError {
    fn from(error: snow::Error) -> Self {
        match error {
            snow::Error::Decrypt | snow::Error::Input | snow::Error::Dh => Self::Refused,
            error => Self::Broken(error),
        }
    }
}

/// The end that connects, once it has sent the first message.
pub struct Initiator(HandshakeState);

impl Initiator {
    /// Begins a handshake. Returns the message to send.
    ///
    /// # Errors
    /// When this machine has no random numbers.
    pub fn start(key: &Key) -> Result<(Self, [u8; MESSAGE]), HandshakeError> {
        let mut state = builder(key)?.build_initiator()?;
        let mut first = [0; MESSAGE];
        state.write_message(&[], &mut first)?;
        Ok((Self(state), first))
    }

    /// Takes the answer. The [confirmation](Unconfirmed::confirmation) is to be sent next, and one comes back.
    ///
    /// # Errors
    /// When the other end does not have this key.
    pub fn finish(mut self, answer: &[u8; MESSAGE]) -> Result<Unconfirmed, HandshakeError> {
        self.0.read_message(answer, &mut [])?;
        Unconfirmed::new(self.0)
    }
}

/// What the end that listens makes of a first message: who sent it, or once recorded it, gets the message that is
/// returned, and has to send its [confirmation](Unconfirmed::confirm).
///
/// # Errors
/// When the other end does not have this key: it is to get no byte.
pub fn answer(
    key: &Key,
    first: &[u8; MESSAGE],
) -> Result<(Unconfirmed, [u8; MESSAGE]), HandshakeError> {
    let mut state = builder(key)?.build_responder()?;
    state.read_message(first, &mut [])?;
    let mut answer = [0; MESSAGE];
    state.write_message(&[], &mut answer)?;
    Ok((Unconfirmed::new(state)?, answer))
}

fn builder(key: &Key) -> Result<Builder<'_>, snow::Error> {
    let builder = Builder::new(PATTERN.parse()?);
    builder.prologue(PROLOGUE)?.psk(0, key.bytes())
}

/// Ciphers, which the other end has not yet shown to have, too.
pub struct Unconfirmed(StatelessTransportState);

impl Unconfirmed {
    fn new(state: HandshakeState) -> Result<Self, HandshakeError> {
        Ok(Self(state.into_stateless_transport_mode()?))
    }

    /// What shows the other end that this one has the ciphers.
    ///
    /// # Errors
    /// Never, as far as the cipher is concerned.
    pub fn confirmation(&self) -> Result<[u8; CONFIRMATION], HandshakeError> {
        let mut message = [0; CONFIRMATION];
        self.0
            .write_message(CONFIRMATION_NUMBER, &[], &mut message)?;
        Ok(message)
    }

    /// Takes the confirmation of the other end.
    ///
    /// # Errors
    /// When it does not have the ciphers: it sent again what it had recorded.
    pub fn confirm(self, message: &[u8; CONFIRMATION]) -> Result<Session, HandshakeError> {
        self.0.read_message(CONFIRMATION_NUMBER, message, &mut [])?;
        Ok(Session(Arc::new(self.0)))
    }
}

/// Ciphers that both ends have.
pub struct Session(Ciphers);

impl Session {
    /// Encrypts what goes out and decrypts what comes in. The two directions have ciphers of their own, so each may
    /// have its own thread.
    pub fn streams<R: Read, W: Write>(self, input: R, output: W) -> (Reader<R>, Writer<W>) {
        let first = CONFIRMATION_NUMBER + 1;
        let reader = Reader::new(input, Arc::clone(&self.0), first);
        (reader, Writer::new(output, self.0, first))
    }
}
