//! Invalid and cut-off messages: each is refused with its reason.

use std::fs::File;
use std::io::{self, Cursor, Write};
use std::process::{Output, Stdio};

use udpbench::VERSION;
use udpbench::sys::interrupt::StopRequested;
use udpbench::trial::agent::Agent;
use udpbench::trial::message::{self, Hello, MAGIC, MAX_BYTES, PROTOCOL};

use super::agent_command;
use crate::common::stderr;

/// Runs an agent with this input to its end, and returns its output.
fn fed(input: &[u8]) -> Output {
    let mut child = agent_command()
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // It may have ended before it has read all.
    let _ = stdin.write_all(input);
    drop(stdin);
    child.wait_with_output().expect("it ends")
}

fn greeting() -> Vec<u8> {
    let mut bytes = Vec::new();
    message::write_hello(&mut bytes, &message::Hello::own()).expect("into memory");
    bytes
}

fn greeting_of_another_protocol() -> Vec<u8> {
    let other = Hello {
        protocol: PROTOCOL + 1,
        version: "9.9.9".to_owned(),
        ..Hello::own()
    };
    let mut bytes = MAGIC.to_vec();
    message::write(&mut bytes, &other).expect("into memory");
    bytes
}

/// Byte streams that neither side may be sent, and the error for each.
fn bad_streams() -> Vec<(Vec<u8>, String)> {
    let followed_by = |bytes: &[u8]| [greeting(), bytes.to_vec()].concat();
    let too_long = MAX_BYTES + 1;
    vec![
        (
            b"Last login: Thu Jan  1\n".to_vec(),
            r#"it does not speak udpbench's protocol but says "Last login: Thu Jan  1""#.into(),
        ),
        (
            greeting_of_another_protocol(),
            format!(
                "it is udpbench 9.9.9 (protocol {}), this is udpbench {VERSION} (protocol {PROTOCOL}): install \
                 the same version on both sides",
                PROTOCOL + 1
            ),
        ),
        (
            followed_by(&too_long.to_be_bytes()),
            format!("a message of {too_long} B is longer than {MAX_BYTES} B"),
        ),
        (
            followed_by(&[0, 0, 0, 9, b'"', b's']),
            "a message was cut off after 2 of 9 B".into(),
        ),
        (
            followed_by(&[0, 0]),
            "a message was cut off within its length".into(),
        ),
        (
            followed_by(b"\0\0\0\x05hello"),
            "a message is not what was expected".into(),
        ),
    ]
}

#[test]
fn an_agent_refuses_what_is_no_message_and_says_why() {
    for (stream, expected) in bad_streams() {
        let output = fed(&stream);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let said = stderr(&output);
        assert!(said.contains(&expected), "{said}");
        assert!(!said.contains("panicked"), "{said}");
    }
    let output = fed(&greeting());
    assert!(output.status.success(), "{output:?}");
    assert_eq!(output.stdout, greeting(), "nothing else goes there");
}

#[test]
fn what_is_no_agent_is_refused_and_it_is_said_why() {
    for (stream, expected) in bad_streams() {
        let connected = Agent::connect(
            Some("rpi"),
            Cursor::new(stream),
            io::sink(),
            true,
            &StopRequested::default(),
        );
        let asked = connected.and_then(|mut agent| agent.facts());
        let error = format!("{:#}", asked.expect_err("it is no agent"));
        assert!(
            error.starts_with("rpi: ") && error.contains(&expected),
            "{error}"
        );
    }
    let nothing = Agent::connect(
        Some("rpi"),
        io::empty(),
        io::sink(),
        true,
        &StopRequested::default(),
    );
    let error = format!("{:#}", nothing.err().expect("it says nothing"));
    assert!(
        error.contains("it ended before it said anything"),
        "{error}"
    );
}

#[test]
fn after_an_answer_that_is_none_nothing_more_is_asked() {
    let answers = [greeting(), b"\0\0\0\x02{}".to_vec()].concat();
    let agent = Agent::connect(
        Some("rpi"),
        Cursor::new(answers),
        io::sink(),
        true,
        &StopRequested::default(),
    );
    let mut agent = agent.expect("a greeting");
    let error = format!("{:#}", agent.facts().expect_err("it is none"));
    assert!(
        error.starts_with("rpi: a message is not what was expected"),
        "{error}"
    );
    let error = format!("{:#}", agent.facts().expect_err("it is closed"));
    assert_eq!(error, "rpi: the connection is closed");
}

/// As after `docker exec -it`, or typed by a person.
#[test]
fn an_agent_refuses_a_terminal() {
    let terminal = File::open("/dev/ptmx").expect("a terminal");
    let mut agent = agent_command();
    let agent = agent.stdin(terminal).stderr(Stdio::piped());
    let output = agent.output().expect("the program starts");
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("udpbench agent: messages come on standard input, which is a terminal"),
        "{said}"
    );
}
