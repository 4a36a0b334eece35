//! The token that proves that a datagram comes from the host with which a trial was agreed.

use std::fs::File;
use std::io::{self, Read};

use serde::{Deserialize, Serialize};

/// Length of a question in bytes: that of an answer with the number of a receiver.
pub(super) const QUESTION: usize = ANSWER + size_of::<u16>();
/// Length of an answer in bytes, without the number of the receiver.
pub(super) const ANSWER: usize = 16;

/// Secret that only the two hosts of a trial know: at least 128 bits for each direction.
///
/// No other datagram is sent before the question was received and the answer came back. Only holders of the token are
/// answered, never with more bytes than they sent, so that nobody can have a stranger flooded.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// Bytes that a sender sends first.
    pub(super) question: [u8; QUESTION],
    /// Bytes that the receiver sends back, followed by its number.
    pub(super) answer: [u8; ANSWER],
}

impl Token {
    /// Makes a new token from the kernel's random numbers (random(4)).
    ///
    /// # Errors
    /// Fails if there are no random numbers.
    pub fn random() -> io::Result<Self> {
        let mut token = Self {
            question: [0; QUESTION],
            answer: [0; ANSWER],
        };
        let mut random = File::open("/dev/urandom")?;
        random.read_exact(&mut token.question)?;
        random.read_exact(&mut token.answer)?;
        Ok(token)
    }
}

impl std::fmt::Debug for Token {
    /// Hides the secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}
