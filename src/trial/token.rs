//! What proves that a datagram comes from the host that a trial was agreed with.

use std::fs::File;
use std::io::{self, Read};

use serde::{Deserialize, Serialize};

/// Of what is asked, in bytes: what is answered, and the number of a receiver.
pub(super) const QUESTION: usize = ANSWER + size_of::<u16>();
/// Of what is answered, in bytes, before the number of the receiver.
pub(super) const ANSWER: usize = 16;

/// At least 128 bits that only the two hosts of a trial know, for each way: no datagram flows before the one was
/// received and the other came back. Whoever does not know them is not answered, and the answer is no longer than the
/// question, so that nobody can have a stranger flooded.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// What a sender sends first.
    pub(super) question: [u8; QUESTION],
    /// What the receiver sends back, and then which one it is.
    pub(super) answer: [u8; ANSWER],
}

impl Token {
    /// Another one, from the kernel's random numbers (random(4)).
    ///
    /// # Errors
    /// When there are none.
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
    /// Not what it is.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}
