//! The token that proves that a datagram comes from the host with which a trial was agreed.

use std::fs::File;
use std::io::{self, Read};

use serde::{Deserialize, Serialize};

/// Length of a question in bytes: that of an answer with the receiver's number. An answer is never longer than a
/// question, so a forged source address gains nothing.
pub(crate) const QUESTION_BYTES: usize = ANSWER_TOKEN_BYTES + size_of::<u16>();
/// Length of an answer's token in bytes, without the receiver's number that follows.
pub(crate) const ANSWER_TOKEN_BYTES: usize = 16;

/// Secret that only the two hosts of a trial know: at least 128 bits for each direction.
///
/// No other datagram is sent before the question was received and the answer came back. Only holders of the token are
/// answered, never with more bytes than they sent, so that nobody can have a stranger flooded.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// Bytes of a question, which a sender sends before anything else.
    pub(crate) question: [u8; QUESTION_BYTES],
    /// First bytes of an answer. The receiver's index follows.
    pub(crate) answer: [u8; ANSWER_TOKEN_BYTES],
}

impl Token {
    /// Makes a new token from the kernel's random numbers (random(4)).
    ///
    /// # Errors
    /// Fails if there are no random numbers.
    pub fn random() -> io::Result<Self> {
        let mut token = Self {
            question: [0; QUESTION_BYTES],
            answer: [0; ANSWER_TOKEN_BYTES],
        };
        let mut random = File::open("/dev/urandom")?;
        random.read_exact(&mut token.question)?;
        random.read_exact(&mut token.answer)?;
        Ok(token)
    }

    /// Returns the answer of the receiver with this index.
    pub(crate) fn answer_of(&self, receiver: u16) -> Vec<u8> {
        [&self.answer[..], &receiver.to_be_bytes()].concat()
    }

    /// Returns the index of the receiver that an answer names. `None`: it is no answer with this token.
    pub(crate) fn receiver_in(&self, answer: &[u8]) -> Option<usize> {
        let (token, receiver) = answer.split_last_chunk()?;
        (*token == self.answer).then(|| u16::from_be_bytes(*receiver).into())
    }
}

impl std::fmt::Debug for Token {
    /// Hides the secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}
