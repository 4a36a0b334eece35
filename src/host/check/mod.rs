//! Is this host fit to measure on? A pure function of what was read: problems, each with its fix.
//!
//! The command `check` prints them whole; the sweep prints the graver ones once and marks every
//! row with them.

mod clocks;
mod interface;
mod kernel;
mod machine;
mod network;

use serde::{Deserialize, Serialize};

use crate::data::Buffer;
use crate::host::board::Board;
use crate::host::facts::{Host, Interface};
use crate::sys::busy::{self, Busy};
use crate::sys::files::Root;
use crate::sys::sensors;
use crate::sys::temperature::Temperatures;

/// What a host shows when it is checked.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    /// The machine.
    pub host: &'a Host,
    /// Its profile.
    pub board: &'a Board,
    /// SO_RCVBUF that receivers will ask for, in bytes.
    pub rcvbuf_bytes: u32,
    /// The temperatures now.
    pub temperatures: Temperatures,
    /// The Raspberry Pi firmware's throttle bits now.
    pub throttle_bits: Option<u32>,
    /// Whether the kernel holds a CPU's clock down against heat now.
    pub cooling: Option<bool>,
    /// Other processes that use CPU time now, the busiest first.
    pub busy: Vec<Busy>,
    /// The network interfaces that are looked at, too: those of runs between two hosts.
    pub interfaces: Vec<Interface>,
}

/// How grave a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gravity {
    /// The numbers would not be those of this board, or not the same tomorrow.
    Invalid,
    /// Worth knowing when they are read.
    Note,
}

/// Something about the host that moves the numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// How grave it is.
    pub gravity: Gravity,
    /// What was seen.
    pub seen: String,
    /// Why that matters for the numbers.
    pub why: String,
    /// The command or the action that removes it.
    pub fix: String,
}

impl Finding {
    fn invalid(seen: impl Into<String>, why: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            gravity: Gravity::Invalid,
            seen: seen.into(),
            why: why.into(),
            fix: fix.into(),
        }
    }

    fn note(seen: impl Into<String>, why: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            gravity: Gravity::Note,
            ..Self::invalid(seen, why, fix)
        }
    }
}

impl<'a> Subject<'a> {
    /// Reads the sensors for a host that was read already, and looks for 200 ms at who uses its CPUs.
    pub fn new(host: &'a Host, board: &'a Board, rcvbuf_bytes: u32, root: &Root) -> Self {
        Self {
            host,
            board,
            rcvbuf_bytes,
            temperatures: Temperatures::read(root),
            throttle_bits: sensors::throttle_bits(root),
            cooling: sensors::cooling(root),
            busy: busy::now(root),
            interfaces: Vec::new(),
        }
    }

    /// Looks at these interfaces, too.
    pub fn with_interfaces(self, interfaces: Vec<Interface>) -> Self {
        Self { interfaces, ..self }
    }

    /// Everything that was found, the graver first.
    pub fn findings(&self) -> Vec<Finding> {
        let all = [
            machine::findings(self),
            clocks::findings(self),
            kernel::findings(self),
            network::findings(self),
            interface::findings(self),
        ]
        .into_iter()
        .flatten();
        let is_invalid = |finding: &Finding| finding.gravity == Gravity::Invalid;
        let (mut gravest_first, notes): (Vec<Finding>, Vec<Finding>) = all.partition(is_invalid);
        gravest_first.extend(notes);
        gravest_first
    }
}

/// What is wrong with interfaces of a host of which nothing else is looked at.
pub fn of_interfaces(host: &Host, board: &Board, interfaces: Vec<Interface>) -> Vec<Finding> {
    interface::findings(&Subject {
        host,
        board,
        rcvbuf_bytes: Buffer::DEFAULT.into(),
        temperatures: Temperatures::default(),
        throttle_bits: None,
        cooling: None,
        busy: Vec::new(),
        interfaces,
    })
}

#[cfg(test)]
mod tests;
