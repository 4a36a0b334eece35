//! What proves that a datagram comes from the host that a trial was agreed with.

use std::fs::File;
use std::io::{self, Read};

use serde::{Deserialize, Serialize};

/// Of each half, in bytes.
pub(super) const LENGTH: usize = 16;

/// 128 bits that only the two hosts of a trial know, and as many for the answer: no datagram flows before the one was
/// received and the other came back. Whoever does not know them is not answered, and the answer is no longer than the
/// question, so that nobody can have a stranger flooded.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// What a sender sends first.
    pub(super) question: [u8; LENGTH],
    /// What the receiver sends back.
    pub(super) answer: [u8; LENGTH],
}

impl Token {
    /// Another one, from the kernel's random numbers (random(4)).
    ///
    /// # Errors
    /// When there are none.
    pub fn random() -> io::Result<Self> {
        let mut token = Self {
            question: [0; LENGTH],
            answer: [0; LENGTH],
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
