//! Messages between the controller and an agent: frames of JSON over any pair of streams.
//!
//! Each side begins with [`MAGIC`] and a [`Hello`]. Then the controller sends one [`Request`] after the other, and the
//! agent sends an [`Answer`] to each. A trial on one host is a single request, [`Request::Run`]. A trial between two
//! hosts consists of these requests, of which `Drain` goes to both ends at once. If no datagram came through, the
//! controller also asks the end that receives whether a probe has arrived ([`Request::HasProbeArrived`]).
//!
//! | | request | answer |
//! |---|---|---|
//! | to the end that receives | [`Receive`](Request::Receive) | the addresses that it is bound to |
//! | to the end that sends | [`Send`](Request::Send) | the flows: which sender reaches which receiver |
//! | to the end that receives | [`Accept`](Request::Accept) | it takes these flows |
//! | to the end that sends | [`Ready`](Request::Ready) | its threads are there |
//! | to the end that receives | [`Go`](Request::Go) | its threads run |
//! | to the end that sends | [`Go`](Request::Go) | warm-up and window are over: its counts |
//! | to both | [`Drain`](Request::Drain) | its result: an [`EndResult`](crate::trial::messages::end_result::EndResult) |
//!
//! A frame consists of the length of its body in bytes (32 bits, big-endian) and the body. A frame without a body is a
//! heartbeat.

use std::fmt::Display;
use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::VERSION;
use crate::data::{EngineName, HostAddress};
use crate::host::tuning::{Setting, Tuning, Wanted};
use crate::sys::host_id::HostId;
use crate::term::{escape, json};
use crate::text::duration::ns;
use crate::trial::messages::spec::{Flow, TrialSpec};
use crate::trial::sockets::flows::Blocked;

/// Version of the protocol, increased with each change of the messages.
pub const PROTOCOL: u32 = 27;

/// Marker at the start of the messages: no shell and no program for people prints a zero byte.
pub const MAGIC: [u8; 9] = *b"\0udpbench";

/// Longest body, in bytes. The longest message lists the flows of a case, at most 157 B each: there is room for
/// 100,000.
pub const MAX_BYTES: u32 = 1 << 24;

/// A frame without a body.
pub(crate) const HEARTBEAT: [u8; 4] = 0_u32.to_be_bytes();

/// Greeting of one side.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hello {
    /// Version of the protocol: [`PROTOCOL`].
    pub protocol: u32,
    /// Version of the program: [`VERSION`]. Engines of another version may behave differently, so comparisons need it.
    pub version: String,
    /// Host that this side runs on.
    pub host: HostId,
    /// True if the agent is on another host. Both ends then send a heartbeat twice a second. Only the controller's
    /// greeting says it.
    pub agent_is_remote: bool,
}

/// Request of the controller to an agent.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Return the facts about the host.
    ///
    /// The fields are programs that may be engines there, each with its name.
    Facts(Vec<(EngineName, PathBuf)>),
    /// Return the temperature of the hottest CPU sensor, in millidegrees Celsius.
    HottestMillic,
    /// Measure the idle power of the host, for this time in nanoseconds, and return it if the host has a meter.
    IdlePower(#[serde(with = "ns")] Duration),
    /// Return the memory that a datagram takes up in the receive queue of a loopback socket, for each of these
    /// payloads, both in bytes.
    Truesizes(Vec<u32>),
    /// End whatever goes on, and restart as a new process.
    Restart {
        /// True if the new process is to have a loopback of its own, which cuts trains.
        own_loopback: bool,
    },
    /// Return the settings of the host that can be tried, out of these names.
    ListTunings(Wanted),
    /// Take the right to change settings of the host, for the lifetime of the agent.
    Lock,
    /// Return those of these settings that have other values than before.
    Differences(Vec<Setting>),
    /// Change a setting for a trial.
    Change {
        /// Setting to change.
        tuning: Tuning,
        /// Length of the trial that the setting is changed for.
        #[serde(rename = "trial_ns", with = "ns")]
        trial: Duration,
    },
    /// Put a setting back, and return why it did not stay changed until now, if it did not.
    PutBack(Tuning),
    /// Run a trial whose two ends are both on that host, and return its [`Sample`](crate::data::Sample).
    Run(Box<TrialSpec>),
    /// Return the receive rate in each of several slices of time since the threads started.
    RateOverTime {
        /// Trial that runs meanwhile. Each slice is as long as its window.
        spec: Box<TrialSpec>,
        /// Number of slices.
        slices: u32,
    },
    /// Be the receiving end of a trial.
    Receive(Box<TrialSpec>),
    /// Be the sending end of a trial.
    Send {
        /// Trial to run.
        spec: Box<TrialSpec>,
        /// Addresses of the receivers.
        receivers: Vec<SocketAddr>,
    },
    /// Take these flows and no others, if the case asks for that.
    Accept(Vec<Flow>),
    /// Return whether a probe datagram of this sender has arrived.
    HasProbeArrived(SocketAddr),
    /// Return the packets that this host has lost on the way in since the echo started, or since the first request of
    /// this kind, by place.
    LossPlaces,
    /// Have the threads wait for the start.
    Ready,
    /// Start the threads.
    Go,
    /// Wait until the datagrams of the other end have arrived, and end the trial.
    Drain {
        /// Number of these datagrams, if it is known. The wait also ends when nothing arrives any more.
        expected: u64,
    },
    /// Return the longest payload, up to `most` bytes, that arrives in one piece at a receiver.
    FindLongestPayload {
        /// Trial whose sockets are used.
        spec: Box<TrialSpec>,
        /// Address of the receiver.
        receiver: SocketAddr,
        /// Payload that is tried first, in bytes.
        most: u32,
    },
    /// Start an echo at this address, for the lifetime of the agent, and return an
    /// [`EchoEnd`](crate::trial::end::echo_end::EchoEnd).
    Echo(HostAddress),
}

impl Request {
    /// Returns the name of the request for messages to people: that in its frame.
    pub(crate) fn name(&self) -> String {
        match serde_json::to_value(self) {
            Ok(Value::String(name)) => name,
            Ok(Value::Object(fields)) => fields.into_iter().map(|(name, _)| name).collect(),
            _ => String::new(),
        }
    }
}

/// Outcome of a request.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer<T> {
    /// The request was done, with this result.
    Done(T),
    /// The request failed, for this reason.
    Failed(String),
    /// No datagram came through.
    Blocked(Blocked),
    /// The process has restarted.
    Restarted,
}

impl Hello {
    /// Returns the greeting of this process.
    pub fn own() -> Self {
        Self {
            protocol: PROTOCOL,
            version: VERSION.to_owned(),
            host: HostId::read(),
            agent_is_remote: false,
        }
    }

    /// Returns the greeting if the other side speaks the same protocol, whatever its version is.
    ///
    /// # Errors
    /// Fails if it speaks another one; the error names both versions and the fix.
    pub fn checked(self) -> anyhow::Result<Self> {
        let Self {
            protocol, version, ..
        } = &self;
        ensure!(
            *protocol == PROTOCOL,
            "it is udpbench {version} (protocol {protocol}), this is udpbench {VERSION} (protocol \
             {PROTOCOL}): install the same version on both sides (between hosts, --deploy does so)"
        );
        Ok(self)
    }
}

/// Sends a greeting.
///
/// # Errors
/// Fails if the greeting cannot be written.
pub fn write_hello(output: &mut impl Write, hello: &Hello) -> anyhow::Result<()> {
    output.write_all(&MAGIC).context("cannot send a message")?;
    write(output, hello)
}

/// Waits for the greeting of the other side.
///
/// # Errors
/// Fails if something else arrives, or nothing.
pub fn read_hello(input: &mut impl Read) -> anyhow::Result<Hello> {
    expect_magic(input)?;
    read(input)?.context("it ended before it said its version")
}

/// Sends one message.
///
/// # Errors
/// Fails if the message is too long or cannot be written.
pub fn write(output: &mut impl Write, message: &impl Serialize) -> anyhow::Result<()> {
    let body = serde_json::to_vec(message).context("cannot make a message")?;
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
/// Fails if the message is cut off, too long, or of an unexpected kind.
pub fn read<T: DeserializeOwned>(input: &mut impl Read) -> anyhow::Result<Option<T>> {
    read_body(input, || ())?
        .map(|body| decode(&body))
        .transpose()
}

/// Receives the body of one message. Calls `heard` for each frame, including heartbeats.
pub(crate) fn read_body(
    input: &mut impl Read,
    heard: impl Fn(),
) -> anyhow::Result<Option<Vec<u8>>> {
    loop {
        let body = read_frame(input)?;
        heard();
        // Only heartbeats are empty.
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
    // Checked before memory is allocated.
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

pub(crate) fn decode<T: DeserializeOwned>(body: &[u8]) -> anyhow::Result<T> {
    json::parse(body).context("a message is not what was expected")
}

fn too_long(bytes: impl Display) -> String {
    format!("a message of {bytes} B is longer than {MAX_BYTES} B")
}

/// Maximum of the bytes before [`MAGIC`].
const MAX_NOISE: usize = 1 << 16;

/// Skips everything before [`MAGIC`], for example the output of a shell's start-up files.
///
/// # Errors
/// Returns [`NoGreeting`] if [`MAGIC`] does not come within 64 KiB. Returns another error if the stream cannot be read.
pub(crate) fn expect_magic(input: &mut impl Read) -> anyhow::Result<()> {
    let mut noise = Vec::new();
    let mut byte = [0];
    // No further byte is read: it may be for another process.
    while noise.len() < MAX_NOISE + MAGIC.len() {
        match input.read_exact(&mut byte) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => break,
            read => read.context("cannot read a message")?,
        }
        noise.extend(byte);
        if noise.ends_with(&MAGIC) {
            return Ok(());
        }
    }
    bail!(NoGreeting(noise))
}

/// Error: the other side is no udpbench, or could not start. Holds its output.
#[derive(Debug, thiserror::Error)]
#[error("{}", told(.0))]
pub(crate) struct NoGreeting(Vec<u8>);

/// Quotes the end of the output, line by line.
fn told(output: &[u8]) -> String {
    const LINES: usize = 5;
    const BYTES: usize = 500;
    if output.is_empty() {
        return "it ended before it said anything".to_owned();
    }
    let end = String::from_utf8_lossy(&output[output.len().saturating_sub(BYTES)..]);
    let lines = end.lines().filter(|line| !line.trim().is_empty());
    let quoted = lines.map(|line| format!("\"{}\"", escape::line(line.trim_end())));
    let quoted: Vec<String> = quoted.collect();
    let last = quoted[quoted.len().saturating_sub(LINES)..].join(", ");
    format!("it does not speak udpbench's protocol but says {last}")
}

#[cfg(test)]
mod tests;
