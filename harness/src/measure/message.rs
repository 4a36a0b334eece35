//! What the script and a site in another process say to each other: frames of JSON over any pair of streams.
//!
//! Each side begins with [`MAGIC`] and a [`Hello`]. Then the script sends one [`Request`] after the other,
//! and the site an [`Answer`] to each. A frame is the length of its body in bytes, 32 bits, big-endian, and
//! the body. One without a body says only that somebody is there.

use std::fmt::Display;
use std::io::{self, BufRead, Read, Write};
use std::net::SocketAddr;
use std::sync::mpsc::Sender;

use anyhow::{Context, bail, ensure};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::noise::expect_magic;
use super::site::{Edge, Edges, Flow, SiteBrief};
use crate::VERSION;
use crate::sys::host_id::HostId;

/// Counts up with each change of the messages.
pub const PROTOCOL: u32 = 10;

/// No shell and no program for people prints a zero byte.
pub const MAGIC: [u8; 9] = *b"\0udpbench";

/// The longest body, in bytes: twice the addresses of as many flows as there can be.
pub const MAX_BYTES: u32 = 1 << 24;

/// Who speaks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hello {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// [`VERSION`]: what the engines of another one do may differ, which whoever compares them wants.
    pub version: String,
    /// Where it runs.
    #[serde(default)]
    pub host: HostId,
    /// Of the script: the site is on another host. Then both ends say twice a second that they are there, and the
    /// site runs its part in a process of its own, anew after each [`Request::Renew`].
    #[serde(default)]
    pub is_across: bool,
}

/// One verb of [`Site`](super::site::Site), with what it takes.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "they are those of the trait")]
pub enum Request {
    /// What the host is: of a site on another host.
    Facts,
    /// The next trial is run by another process.
    Renew,
    Open(Box<SiteBrief>),
    Bind,
    Aim(SocketAddr),
    CloseSender(SocketAddr),
    Probe(SocketAddr),
    Arrived(SocketAddr),
    IsProven(SocketAddr),
    Pair(Vec<Flow>),
    Assemble(Vec<Flow>),
    KeepTime(Edges),
    Start,
    WakeStalled,
    Look,
    Snapshot(Edge),
    Stop,
    Counts,
    Idle,
    Finish,
    Abandon,
}

/// What came of a request.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer<T> {
    /// It was done.
    Done(T),
    /// It failed, and why.
    Failed(String),
}

impl Hello {
    /// That of this process.
    pub fn here() -> Self {
        Self {
            protocol: PROTOCOL,
            version: VERSION.to_owned(),
            host: HostId::read(),
            is_across: false,
        }
    }

    /// Whether the other side speaks as this one does, of whatever version it is.
    ///
    /// # Errors
    /// Where it does not: both versions and the fix.
    pub fn check(&self) -> anyhow::Result<()> {
        let Self {
            protocol, version, ..
        } = self;
        ensure!(
            *protocol == PROTOCOL,
            "it is udpbench {version} (protocol {protocol}), this is udpbench {VERSION} (protocol \
             {PROTOCOL}): install the same version on both sides (between hosts, --deploy does so)"
        );
        Ok(())
    }
}

/// Sends the hello of this process.
///
/// # Errors
/// When it cannot be written.
pub fn greet(output: &mut impl Write, hello: &Hello) -> anyhow::Result<()> {
    output.write_all(&MAGIC).context("cannot send a message")?;
    write(output, hello)
}

/// Waits for the hello of the other side.
///
/// # Errors
/// When something else comes, or nothing.
pub fn greeting(input: &mut impl BufRead) -> anyhow::Result<Hello> {
    expect_magic(input)?;
    read(input)?.context("it ended before it said its version")
}

/// Sends one message.
///
/// # Errors
/// When it is too long, or cannot be written.
pub fn write(output: &mut impl Write, message: &impl Serialize) -> anyhow::Result<()> {
    let body = serde_json::to_vec(message).context("cannot make a message")?;
    write_body(output, &body)
}

/// Says that somebody is there.
pub(super) fn write_beat(output: &mut impl Write) -> io::Result<()> {
    output.write_all(&0_u32.to_be_bytes())?;
    output.flush()
}

/// Sends one message that was received elsewhere.
pub(super) fn write_body(output: &mut impl Write, body: &[u8]) -> anyhow::Result<()> {
    let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
    ensure!(length <= MAX_BYTES, too_long(body.len()));
    let mut frame = length.to_be_bytes().to_vec();
    frame.extend(body);
    let sent = output.write_all(&frame).and_then(|()| output.flush());
    sent.context("cannot send a message")
}

/// Receives one message. `None`: the other side has ended.
///
/// # Errors
/// When it is cut off, too long, or not what is expected.
pub fn read<T: DeserializeOwned>(input: &mut impl Read) -> anyhow::Result<Option<T>> {
    read_body(input, || ())?
        .map(|body| decode(&body))
        .transpose()
}

/// Hands on all that comes, up to the end. Each sign that somebody is there is told to `heard`.
pub(super) fn hand_on(
    mut input: impl Read,
    heard: impl Fn(),
    to: &Sender<anyhow::Result<Option<Vec<u8>>>>,
) {
    loop {
        let message = read_body(&mut input, &heard);
        let is_last = !matches!(message, Ok(Some(_)));
        if to.send(message).is_err() || is_last {
            return;
        }
    }
}

/// Receives one message as it came. Each sign that somebody is there is told to `heard`.
pub(super) fn read_body(
    input: &mut impl Read,
    heard: impl Fn(),
) -> anyhow::Result<Option<Vec<u8>>> {
    loop {
        let body = read_frame(input)?;
        heard();
        // Nothing but such a sign is empty.
        if body.as_ref().is_none_or(|body| !body.is_empty()) {
            return Ok(body);
        }
    }
}

fn read_frame(input: &mut impl Read) -> anyhow::Result<Option<Vec<u8>>> {
    let mut length = Vec::with_capacity(size_of::<u32>());
    read_up_to(input, size_of::<u32>(), &mut length)?;
    if length.is_empty() {
        return Ok(None);
    }
    let Ok(length) = length.try_into().map(u32::from_be_bytes) else {
        bail!("a message was cut off within its length");
    };
    // Before there is any memory for it.
    ensure!(length <= MAX_BYTES, too_long(length));
    let length = length as usize;
    let mut body = Vec::new();
    read_up_to(input, length, &mut body)?;
    ensure!(
        body.len() == length,
        "a message was cut off after {} of {length} B",
        body.len()
    );
    Ok(Some(body))
}

fn read_up_to(input: &mut impl Read, bytes: usize, into: &mut Vec<u8>) -> anyhow::Result<()> {
    let ended: io::Result<usize> = input.by_ref().take(bytes as u64).read_to_end(into);
    ended.map(drop).context("cannot read a message")
}

pub(super) fn decode<T: DeserializeOwned>(body: &[u8]) -> anyhow::Result<T> {
    serde_json::from_slice(body).context("a message is not what was expected")
}

fn too_long(bytes: impl Display) -> String {
    format!("a message of {bytes} B is longer than {MAX_BYTES} B")
}

#[cfg(test)]
mod tests {
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
        write(&mut pipe, &Request::Snapshot(Edge::Closing)).expect("into memory");
        write(&mut pipe, &Answer::Done(())).expect("into memory");
        let mut pipe = &pipe[..];
        let request = read::<Request>(&mut pipe).expect("a frame");
        assert!(matches!(request, Some(Request::Snapshot(Edge::Closing))));
        let answer = read::<Answer<()>>(&mut pipe).expect("a frame");
        assert!(matches!(answer, Some(Answer::Done(()))));
        assert!(read::<Request>(&mut pipe).expect("the end").is_none());
    }

    #[test]
    fn a_frame_that_is_cut_off_says_where() {
        let mut whole = Vec::new();
        write(&mut whole, &Request::Start).expect("into memory");
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
        // Nothing follows: its body is not waited for.
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
            ..Hello::here()
        };
        newer.check().expect("it speaks the same");
        let other = Hello {
            protocol: PROTOCOL + 1,
            ..newer
        };
        let said = error(other.check());
        let who = format!("it is udpbench 9.9.9 (protocol {}), this is", PROTOCOL + 1);
        assert!(said.starts_with(&who), "{said}");
        assert!(said.contains(VERSION) && said.contains("install the same version"));
    }
}
