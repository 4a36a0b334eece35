//! Messages, frames, greetings, and what is none.

use super::*;

fn error(read: anyhow::Result<impl Sized>) -> String {
    match read {
        Ok(_) => panic!("it is refused"),
        Err(error) => format!("{error:#}"),
    }
}

#[test]
fn what_was_written_is_read() {
    let mut pipe = Vec::new();
    write(&mut pipe, &Request::Drain { expected: 7 }).expect("into memory");
    write(&mut pipe, &Answer::Done(())).expect("into memory");
    let mut pipe = &pipe[..];
    let request = read::<Request>(&mut pipe).expect("a frame");
    assert!(matches!(request, Some(Request::Drain { expected: 7 })));
    let answer = read::<Answer<()>>(&mut pipe).expect("a frame");
    assert!(matches!(answer, Some(Answer::Done(()))));
    assert!(read::<Request>(&mut pipe).expect("the end").is_none());
}

#[test]
fn a_frame_that_is_cut_off_says_where() {
    let mut whole = Vec::new();
    write(&mut whole, &Request::Ready).expect("into memory");
    assert_eq!(whole.len(), 4 + 7);
    assert_eq!(
        error(read::<Request>(&mut &whole[..3])),
        "a message was cut off within its length"
    );
    assert_eq!(
        error(read::<Request>(&mut &whole[..9])),
        "a message was cut off after 5 of 7 B"
    );
}

#[test]
fn a_frame_that_is_too_long_is_refused_by_its_length() {
    // No body follows: the length alone has to be refused.
    let length = (MAX_BYTES + 1).to_be_bytes();
    let expected = "a message of 16777217 B is longer than 16777216 B";
    assert_eq!(error(read::<Request>(&mut &length[..])), expected);
    let text = "x".repeat(MAX_BYTES as usize - 1);
    let mut pipe = Vec::new();
    assert_eq!(error(write(&mut pipe, &text)), expected);
    assert!(pipe.is_empty());
}

#[test]
fn another_protocol_is_refused_with_both_versions_and_the_fix() {
    let newer = Hello {
        version: "9.9.9".to_owned(),
        ..Hello::own()
    };
    let newer = newer.checked().expect("it speaks the same");
    let other = Hello {
        protocol: PROTOCOL + 1,
        ..newer
    };
    let said = error(other.checked());
    let who = format!("it is udpbench 9.9.9 (protocol {}), this is", PROTOCOL + 1);
    assert!(said.starts_with(&who), "{said}");
    assert!(said.contains(VERSION) && said.contains("install the same version"));
}

fn refused(stream: &[u8]) -> String {
    let error = expect_magic(&mut &stream[..]).expect_err("it is refused");
    format!("{error:#}")
}

#[test]
fn what_start_up_files_print_is_skipped() {
    let mut stream = b"Welcome!\n\0udp\0\n".to_vec();
    stream.resize(MAX_NOISE, b'.');
    stream.extend(MAGIC);
    stream.push(7);
    let mut rest = &stream[..];
    expect_magic(&mut rest).expect("all before it is noise");
    assert_eq!(rest, [7]);
    stream.insert(0, b'.');
    let said = refused(&stream);
    assert!(
        said.contains("does not speak udpbench's protocol"),
        "{said}"
    );
}

#[test]
fn what_is_no_greeting_is_quoted() {
    let said = refused(b"1\n2\n3\n4\r\n\n\x1b[1m5\nnot found");
    assert!(
        said.ends_with(r#"but says "2", "3", "4", "\u{1b}[1m5", "not found""#),
        "{said}"
    );
    assert!(refused(b"hi").contains(r#""hi""#));
    assert_eq!(refused(b""), "it ended before it said anything");
}
