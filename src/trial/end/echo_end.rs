//! The echo at the other end of a soak: a socket and a thread that live as long as the agent.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::data::HostAddress;
use crate::host::clock;
use crate::sys::host_id::HostId;
use crate::sys::interface_addresses;
use crate::sys::loss_counters::LossReader;
use crate::sys::loss_places::{ANSWERS_WITHOUT_ROUTE, REFUSED_ANSWERS};
use crate::trial::messages::spec::Scope;
use crate::trial::readings::losses::LossWatch;
use crate::trial::spawned::start_thread;
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

/// Packets that this host loses on the way to an echo, and back. The kernel's drop reasons are not counted: for hours,
/// they would cost too much.
pub(crate) struct EchoLosses {
    watch: LossWatch,
    /// Answers that a firewall of this host refused to send.
    unsent: Arc<UnsentAnswers>,
}

impl EchoLosses {
    /// Returns the packets lost since the start, by place.
    pub(crate) fn places(&mut self) -> BTreeMap<String, u64> {
        let mut places = self.watch.places();
        let unsent = [
            (&REFUSED_ANSWERS, &self.unsent.refused),
            (&ANSWERS_WITHOUT_ROUTE, &self.unsent.without_route),
        ];
        let unsent = unsent.map(|(place, count)| (place, count.load(Ordering::Relaxed)));
        let unsent = unsent.into_iter().filter(|(_, count)| *count > 0);
        places.extend(unsent.map(|(place, count)| (place.what.clone(), count)));
        places
    }
}

/// Starts an echo at this address, and counts what this host loses from then on.
///
/// # Errors
/// Fails if the address is not of this host, or if a socket or a thread cannot be made.
pub(crate) fn start(address: HostAddress) -> anyhow::Result<(EchoEnd, EchoLosses)> {
    let mut token = ProbeToken::default();
    File::open("/dev/urandom")?.read_exact(&mut token)?;
    let bound = Echo::bind(socket_address(address, 0)?, token, clock::watch());
    let echo = bound.with_context(|| format!("cannot bind an echo to {address}"))?;
    let port = echo.address()?.port();
    let interface = interface_addresses::interface_of(address.ip).unwrap_or_default();
    let reader = LossReader::of_interface(&interface);
    let losses = EchoLosses {
        watch: LossWatch::start(reader.unwrap_or_else(|_| LossReader::without_reasons())),
        unsent: Arc::clone(&echo.unsent),
    };
    let run = move || {
        echo.run(LONGEST_SILENCE);
        let minutes = LONGEST_SILENCE.as_secs() / 60;
        eprintln!("no probe has arrived for {minutes} minutes: the agent ends");
        std::process::exit(1);
    };
    start_thread("echo", run)?;
    let end = EchoEnd {
        port,
        token,
        host: HostId::read(),
    };
    Ok((end, losses))
}

/// Returns a socket address. That of a link-local address has the number of its interface.
///
/// # Errors
/// Fails if this host has no such interface.
pub fn socket_address(address: HostAddress, port: u16) -> anyhow::Result<SocketAddr> {
    Ok(Scope::of(Some(address))?.address(SocketAddr::new(address.ip, port)))
}
