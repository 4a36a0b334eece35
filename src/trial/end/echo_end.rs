//! The echo at the other end of a soak: a socket and a thread that live as long as the agent.

use std::fs::File;
use std::io::{self, Read};
use std::net::{IpAddr, SocketAddr, SocketAddrV6};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::data::HostAddress;
use crate::host::clock;
use crate::sys::host_id::HostId;
use crate::sys::nic;
use crate::workload::probe::ProbeToken;
use crate::workload::{Echo, UnsentAnswers};

/// Silence after which the agent ends: longer than an outage that a soak is to find the end of. The controller starts
/// another one if it still wants one.
const LONGEST_SILENCE: Duration = Duration::from_secs(600);

/// A running echo.
#[derive(Debug, Serialize, Deserialize)]
pub struct EchoEnd {
    /// UDP port.
    pub port: u16,
    /// Token of its probes.
    pub token: ProbeToken,
    /// Host that it runs on, with the id of its boot.
    pub host: HostId,
}

/// Starts an echo at this address. The second value counts the answers that this host does not send.
///
/// # Errors
/// Fails if the address is not of this host, or if a socket or a thread cannot be made.
pub(crate) fn start(address: HostAddress) -> anyhow::Result<(EchoEnd, Arc<UnsentAnswers>)> {
    let mut token = ProbeToken::default();
    File::open("/dev/urandom")?.read_exact(&mut token)?;
    let bound =
        socket_address(address, 0).and_then(|address| Echo::bind(address, token, clock::watch()));
    let echo = bound.with_context(|| format!("cannot bind an echo to {address}"))?;
    let port = echo.address()?.port();
    let unsent = echo.unsent();
    let run = move || {
        echo.run(LONGEST_SILENCE);
        let minutes = LONGEST_SILENCE.as_secs() / 60;
        eprintln!("no probe has arrived for {minutes} minutes: the agent ends");
        std::process::exit(1);
    };
    thread::Builder::new()
        .name("echo".to_owned())
        .spawn(run)
        .context("cannot start a thread")?;
    let end = EchoEnd {
        port,
        token,
        host: HostId::read(),
    };
    Ok((end, unsent))
}

/// Returns a socket address. That of a link-local address has the number of its interface.
///
/// # Errors
/// Fails if this host has no such interface.
pub fn socket_address(address: HostAddress, port: u16) -> io::Result<SocketAddr> {
    Ok(match (address.ip, address.interface) {
        (IpAddr::V6(ip), Some(interface)) => {
            SocketAddrV6::new(ip, port, 0, nic::index(interface.as_str())?).into()
        }
        (ip, _) => (ip, port).into(),
    })
}
