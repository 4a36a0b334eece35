//! Whatever comes instead of a message of the handshake, or in the middle of a session, is refused: an end has a
//! session if it got what the other one sent, and reads what the other one wrote up to what was altered.
#![no_main]

use std::io::{Read, Write};
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use udpbench::channel::Key;
use udpbench::channel::noise::{self, Initiator, MESSAGE, Session};

static KEY: LazyLock<Key> = LazyLock::new(|| Key::random().expect("random numbers"));

/// What is altered: one of the four messages of the handshake, or the stream that follows.
const STREAM: u8 = 4;

/// What is written to the stream; 16 B and two for the length make a message of it.
const PIECE: [u8; 10] = [7; 10];
const PIECES: usize = 20;

fuzz_target!(|input: (u8, Vec<u8>)| {
    let (which, bytes) = (input.0 % (STREAM + 1), input.1);
    if let Some(first) = bytes.first_chunk::<MESSAGE>() {
        // As it is.
        assert!(noise::answer(&KEY, first).is_err());
    }
    let (initiator, responder) = shake_hands(which, &bytes);
    let length = if which < 2 { MESSAGE } else { noise::CONFIRMATION };
    let is_altered = which < STREAM && bytes.iter().take(length).any(|mask| *mask != 0);
    assert_eq!(initiator.is_some(), !is_altered);
    // The last message goes to the initiator.
    assert_eq!(responder.is_some(), !is_altered || which == 3);
    if let (Some(initiator), Some(responder)) = (initiator, responder) {
        read_altered(initiator, responder, if which == STREAM { &bytes } else { &[] });
    }
});

fn shake_hands(which: u8, mask: &[u8]) -> (Option<Session>, Option<Session>) {
    let alter = |message: u8, bytes: &mut [u8]| {
        if message == which {
            xor(bytes, mask);
        }
    };
    let (initiator, mut first) = Initiator::start(&KEY).expect("random numbers");
    alter(0, &mut first);
    let Ok((responder, mut answer)) = noise::answer(&KEY, &first) else {
        return (None, None);
    };
    alter(1, &mut answer);
    let Ok(initiator) = initiator.finish(&answer) else {
        return (None, None);
    };
    let mut confirmation = initiator.confirmation().expect("it has ciphers");
    let mut back = responder.confirmation().expect("it has ciphers");
    alter(2, &mut confirmation);
    let Ok(responder) = responder.confirm(&confirmation) else {
        return (None, None);
    };
    alter(3, &mut back);
    (initiator.confirm(&back).ok(), Some(responder))
}

fn xor(bytes: &mut [u8], mask: &[u8]) {
    for (byte, mask) in bytes.iter_mut().zip(mask) {
        *byte ^= mask;
    }
}

fn read_altered(initiator: Session, responder: Session, mask: &[u8]) {
    let mut sent = Vec::new();
    let (_, mut writer) = initiator.streams(&[][..], &mut sent);
    for _ in 0..PIECES {
        writer.write_all(&PIECE).expect("into memory");
    }
    drop(writer);
    xor(&mut sent, mask);
    let altered = mask.iter().take(sent.len()).position(|mask| *mask != 0);
    let (mut reader, _) = responder.streams(&sent[..], Vec::new());
    let mut came = Vec::new();
    let read = reader.read_to_end(&mut came);
    assert_eq!(read.is_err(), altered.is_some());
    let whole = altered.map_or(PIECES, |at| at / (sent.len() / PIECES));
    assert_eq!(came, PIECE.repeat(whole));
}
