//! Growth of an interface's counters during a trial across a wire.

use std::collections::BTreeMap;

use anyhow::Context;

use crate::data::HostAddress;
use crate::sys::interface_addresses;
use crate::sys::nic::{PathCounters, PathReader, Wireless, named_since};
use crate::trial::readings::loss_watch::LossWatch;

/// An interface, and its counters at the start.
pub(crate) struct PathWatch {
    reader: PathReader,
    before: PathCounters,
    /// Counters of lost packets at the start, by name.
    named_before: BTreeMap<String, u64>,
    losses: LossWatch,
}

impl PathWatch {
    /// Starts to watch the interface that has this address.
    ///
    /// # Errors
    /// Fails if no interface has the address, or if its counters cannot be read.
    pub(crate) fn start(address: HostAddress) -> anyhow::Result<Self> {
        let interface = match address.interface {
            Some(interface) => Some(interface.as_str().to_owned()),
            None => interface_addresses::interface_of(address.ip),
        };
        let interface =
            interface.with_context(|| format!("no interface has {address} any more"))?;
        let unreadable = || format!("cannot read the counters of {interface}");
        let mut reader = PathReader::open(&interface).with_context(unreadable)?;
        let losses = LossWatch::start(&interface);
        let named_before = reader.named().with_context(unreadable)?;
        let before = reader.read().with_context(unreadable)?;
        Ok(Self {
            reader,
            before,
            named_before,
            losses,
        })
    }

    /// Reads the state of the radio. `None`: the interface has none.
    pub(crate) fn radio(&self) -> Option<Wireless> {
        self.reader.radio()
    }

    /// Returns the packets lost on the way in since the start, by place: see [`LossWatch::places`].
    pub(crate) fn places(&mut self, reasons: BTreeMap<String, u64>) -> BTreeMap<String, u64> {
        self.losses.places(reasons)
    }

    /// Returns the growth of the counters since the start, and the growth of the counters of lost packets that moved,
    /// by name.
    ///
    /// # Errors
    /// Fails if the interface is gone.
    pub(crate) fn moved(&mut self) -> anyhow::Result<(PathCounters, BTreeMap<String, u64>)> {
        let unreadable = "cannot read the counters of the network interface any more";
        let now = self.reader.read().context(unreadable)?;
        let named = self.reader.named().context(unreadable)?;
        let named = named_since(&named, &self.named_before);
        Ok((now.since(&self.before), named))
    }
}
