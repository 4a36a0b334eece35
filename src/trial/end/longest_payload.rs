//! Finds the longest payload that arrives unfragmented at the other host.

use std::net::SocketAddr;

use anyhow::Context;

use crate::data::{Case, Direction};
use crate::host::placement::Placement;
use crate::plan::{Settings, WireLink};
use crate::trial::messages::spec::TrialSpec;
use crate::trial::messages::token::QUESTION_BYTES;
use crate::trial::sockets::udp_sockets::UdpSockets;

/// Probes of each length before it counts as too long.
const TRIES: usize = 3;

/// Returns a trial with a sender at one end of a link and a receiver at the other end. The sender is on the remote host
/// if `direction` is down.
///
/// # Errors
/// Never fails: the key of the case is valid.
pub(crate) fn spec(link: &WireLink, direction: Direction) -> anyhow::Result<TrialSpec> {
    let key = format!(
        "std:std/2t/{QUESTION_BYTES}B/connected/{}/{direction}",
        link.ip()
    );
    let case = Case::of_key(&key).context("a case")?;
    let placement = Placement::unpinned(case.threads);
    Ok(TrialSpec {
        between: Some(link.between(&case)),
        ..TrialSpec::new(&case, &placement, &Settings::default())
    })
}

/// Finds the longest payload, in bytes and up to `most`, that arrives from this sender. `None`: not even short payloads
/// arrive.
///
/// Nearly always that is `most`, and a single probe shows it.
///
/// # Errors
/// Fails if there is no such sender.
pub(crate) fn find(
    probes: &mut UdpSockets,
    source: SocketAddr,
    most: u32,
) -> anyhow::Result<Option<u32>> {
    let mut gets_through = |bytes: u32| -> anyhow::Result<bool> {
        for _ in 0..TRIES {
            // The kernel refuses at once what is longer than the MTU of the interface.
            if probes.probe(source, bytes as usize)?.is_some() {
                return Ok(false);
            }
            if probes.receiver_reached(source)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    };
    if gets_through(most)? {
        return Ok(Some(most));
    }
    // If not even this length arrives, IPv6 would not work at all (RFC 8200), and hardly anything else.
    let (mut least, mut most) = (QUESTION_BYTES.try_into().unwrap_or(u32::MAX), most);
    if !gets_through(least)? {
        return Ok(None);
    }
    while most - least > 1 {
        let middle = least + (most - least) / 2;
        if gets_through(middle)? {
            least = middle;
        } else {
            most = middle;
        }
    }
    Ok(Some(least))
}
