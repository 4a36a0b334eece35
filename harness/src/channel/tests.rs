//! The handshake and the streams, in memory.

use std::io::{Read, Write};

use proptest::prelude::*;

use super::key::Key;
use super::noise::{self, CONFIRMATION, HandshakeError, Initiator, MESSAGE, Session};

fn key() -> Key {
    Key::random().expect("random numbers")
}

/// What each end sends in a handshake, the initiator first, altered on its way. Returns the session of each end that
/// has one.
fn shake_hands(
    keys: [&Key; 2],
    mut alter: impl FnMut(usize, &mut [u8]),
) -> (Option<Session>, Option<Session>) {
    let (initiator, mut first) = Initiator::start(keys[0]).expect("random numbers");
    alter(0, &mut first);
    let Ok((responder, mut answer)) = noise::answer(keys[1], &first) else {
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

fn sessions() -> (Session, Session) {
    let key = key();
    let (initiator, responder) = shake_hands([&key, &key], |_, _| {});
    initiator.zip(responder).expect("they have the same key")
}

/// What a writer makes of these pieces.
fn encrypted(session: Session, pieces: &[Vec<u8>]) -> Vec<u8> {
    let mut sent = Vec::new();
    let (_, mut writer) = session.streams(&[][..], &mut sent);
    for piece in pieces {
        writer.write_all(piece).expect("into memory");
    }
    sent
}

#[test]
fn an_answer_is_no_longer_than_the_question() {
    let key = key();
    let (_, first) = Initiator::start(&key).expect("random numbers");
    let (_, answer) = noise::answer(&key, &first).expect("the same key");
    assert!(answer.len() <= first.len());
    assert_ne!(first[..32], answer[..32], "each has its own ephemeral key");
}

#[test]
fn another_key_is_refused_at_the_first_message() {
    let (_, first) = Initiator::start(&key()).expect("random numbers");
    let refused = noise::answer(&key(), &first).err();
    assert!(matches!(refused, Some(HandshakeError::Refused)));
}

/// Also the highest of a public key, which X25519 masks (RFC 7748, section 5): both ends hash what was sent.
#[test]
fn the_bits_of_a_handshake_count() {
    let key = key();
    for (message, length) in [MESSAGE, MESSAGE, CONFIRMATION].into_iter().enumerate() {
        for bit in (0..8 * length).filter(|bit| bit % 32 == 31) {
            let (initiator, responder) = shake_hands([&key, &key], |at, bytes| {
                if at == message {
                    bytes[bit / 8] ^= 1 << (bit % 8);
                }
            });
            let refused = initiator.is_none() && responder.is_none();
            assert!(refused, "message {message}, bit {bit}");
        }
    }
}

#[test]
fn the_key_is_in_no_message() {
    let key = key();
    shake_hands([&key, &key], |_, bytes| {
        assert!(
            !bytes
                .windows(4)
                .any(|four| key.bytes().windows(4).any(|of| of == four))
        );
    });
}

#[test]
fn messages_cannot_be_left_out_repeated_or_moved() {
    let pieces = [vec![1; 10], vec![2; 10], vec![3; 10]];
    let (initiator, responder) = sessions();
    let sent = encrypted(initiator, &pieces);
    let (mut reader, _) = responder.streams(&sent[..], Vec::new());
    let mut came = Vec::new();
    reader.read_to_end(&mut came).expect("as it was sent");
    assert_eq!(came, pieces.concat());
    for order in [&[1][..], &[0, 0], &[0, 2, 1]] {
        let (initiator, responder) = sessions();
        let sent = encrypted(initiator, &pieces);
        let messages: Vec<&[u8]> = sent.chunks(2 + 10 + 16).collect();
        let stream: Vec<u8> = order.iter().flat_map(|&at| messages[at]).copied().collect();
        let (mut reader, _) = responder.streams(&stream[..], Vec::new());
        let error = reader.read_to_end(&mut Vec::new()).expect_err("altered");
        assert!(error.to_string().contains("altered on the way"), "{error}");
        assert!(reader.read(&mut [0]).is_err(), "and nothing follows");
    }
}

#[test]
fn an_empty_message_is_no_end() {
    let (_, responder) = sessions();
    let (mut reader, _) = responder.streams(&[0, 16][..], Vec::new());
    reader.read(&mut [0]).expect_err("it is refused");
    let (initiator, _) = sessions();
    assert_eq!(encrypted(initiator, &[Vec::new()]), b"");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn what_is_written_in_pieces_is_read(
        pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..20),
        large in 0..140_000_usize,
    ) {
        let mut pieces = pieces;
        pieces.push(vec![7; large]);
        let (initiator, responder) = sessions();
        let sent = encrypted(initiator, &pieces);
        let (mut reader, _) = responder.streams(&sent[..], Vec::new());
        let mut came = Vec::new();
        reader.read_to_end(&mut came).expect("as it was sent");
        prop_assert!(came == pieces.concat());
    }

    #[test]
    fn an_altered_handshake_makes_no_session(
        message in 0..4_usize,
        mask in prop::collection::vec(any::<u8>(), MESSAGE),
    ) {
        let key = key();
        let mut was_altered = false;
        let (initiator, responder) = shake_hands([&key, &key], |at, bytes| {
            if at == message {
                was_altered = mask.iter().take(bytes.len()).any(|mask| *mask != 0);
                bytes.iter_mut().zip(&mask).for_each(|(byte, mask)| *byte ^= mask);
            }
        });
        prop_assert_eq!(initiator.is_none(), was_altered);
        // The last message goes to the initiator.
        prop_assert_eq!(responder.is_none(), was_altered && message < 3);
    }

    #[test]
    fn any_bytes_are_no_first_message(bytes in prop::collection::vec(any::<u8>(), MESSAGE)) {
        let first = bytes.try_into().expect("as many");
        prop_assert!(noise::answer(&key(), &first).is_err());
    }

    #[test]
    fn altered_streams_are_read_up_to_there(
        at in any::<prop::sample::Index>(),
        bit in 0..8_u8,
        cut in any::<prop::sample::Index>(),
    ) {
        let pieces = vec![vec![1; 100]; 5];
        let (initiator, responder) = sessions();
        let mut sent = encrypted(initiator, &pieces);
        sent.truncate(cut.index(sent.len()) + 1);
        let at = at.index(sent.len());
        sent[at] ^= 1 << bit;
        let (mut reader, _) = responder.streams(&sent[..], Vec::new());
        let mut came = Vec::new();
        prop_assert!(reader.read_to_end(&mut came).is_err());
        let before = at / (2 + 100 + 16);
        prop_assert_eq!(came, vec![1; 100 * before]);
    }
}
