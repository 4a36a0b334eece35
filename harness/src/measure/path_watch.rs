//! What the interface of a trial across a wire counts meanwhile.

use std::net::IpAddr;

use anyhow::Context;

use crate::sys::addresses;
use crate::sys::nic::{PathCounters, PathReader};

/// An interface, and what it had counted at first.
pub(super) struct PathWatch {
    reader: PathReader,
    before: PathCounters,
}

impl PathWatch {
    /// Of the interface that has this address.
    ///
    /// # Errors
    /// When none has it, or its counters cannot be read.
    pub(super) fn start(address: IpAddr) -> anyhow::Result<Self> {
        let interface = addresses::interface_of(address);
        let interface =
            interface.with_context(|| format!("no interface has {address} any more"))?;
        let unreadable = || format!("cannot read the counters of {interface}");
        let mut reader = PathReader::open(&interface).with_context(unreadable)?;
        let before = reader.read().with_context(unreadable)?;
        Ok(Self { reader, before })
    }

    /// What it has counted since then.
    ///
    /// # Errors
    /// When the interface is gone.
    pub(super) fn moved(&mut self) -> anyhow::Result<PathCounters> {
        let now = self.reader.read();
        let now = now.context("cannot read the counters of the network interface any more")?;
        Ok(now.since(&self.before))
    }
}
