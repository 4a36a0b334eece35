//! What this host loses on the way during a trial: by place, by the kernel's reason, and by the counters of an
//! interface.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use anyhow::Context;

use crate::data::HostAddress;
use crate::sys::drop_reasons::DropReasons;
use crate::sys::interface_addresses;
use crate::sys::loss_counters::{LossCounters, LossReader};
use crate::sys::loss_places::Layer;
use crate::sys::nic::Wireless;
use crate::sys::path_counters::PathCounters;
use crate::trial::messages::end_result::PathGrowth;

/// Counters of the places that lose packets on the way in (the table of [`PLACES`](crate::sys::loss_places::PLACES)),
/// and their values at the start.
pub(crate) struct LossWatch {
    reader: LossReader,
    before: LossCounters,
}

impl LossWatch {
    /// Starts to watch the places that a reader reads. For longer than a trial, it has to be one without the kernel's
    /// drop reasons, and starting those takes longer than a window.
    pub(crate) fn start(mut reader: LossReader) -> Self {
        let before = reader.read();
        Self { reader, before }
    }

    /// Returns the packets lost since the start, by place: see [`places`].
    pub(crate) fn places(&mut self) -> BTreeMap<String, u64> {
        places(&self.reader.read().since(&self.before))
    }
}

/// Returns the packets lost, by place, without those at sockets whose buffer was full, and without the way out.
fn places(growth: &LossCounters) -> BTreeMap<String, u64> {
    let losses = growth.losses().into_iter();
    let on_the_way = losses.filter(|loss| !loss.place.is_full() && loss.place.layer != Layer::Out);
    on_the_way
        .map(|loss| (loss.place.what.clone(), loss.packets))
        .collect()
}

/// Counters of drop reasons, running from the first trial that asks for them: starting and ending them takes longer
/// than a window.
#[derive(Default)]
pub(crate) struct ReasonWatch {
    /// Empty until they are asked for. `None`: the kernel does not report reasons; a message before the start has said
    /// so.
    counters: OnceCell<Option<DropReasons>>,
    before: BTreeMap<String, u64>,
}

impl ReasonWatch {
    /// Notes the counters at the start of a trial.
    pub(crate) fn start(&mut self) {
        self.counters.get_or_init(|| DropReasons::open().ok());
        self.before = self.read();
    }

    /// Returns the drops since the start of the trial, by reason; reasons without drops are left out.
    pub(crate) fn moved(&self) -> BTreeMap<String, u64> {
        let mut moved = self.read();
        for (reason, packets) in &mut moved {
            *packets -= self.before.get(reason).unwrap_or(&0);
        }
        moved.retain(|_, packets| *packets > 0);
        moved
    }

    fn read(&self) -> BTreeMap<String, u64> {
        let counters = self.counters.get().into_iter().flatten();
        counters.flat_map(DropReasons::read).flatten().collect()
    }
}

/// An interface, and its counters at the start of a trial across a wire.
pub(crate) struct PathWatch {
    interface: String,
    reader: LossReader,
    before: LossCounters,
}

impl PathWatch {
    /// Starts to watch the interface that has this address.
    ///
    /// # Errors
    /// Fails if no interface has the address, or if its counters cannot be read.
    pub(crate) fn start(address: HostAddress) -> anyhow::Result<Self> {
        let named = address.interface.map(|name| name.as_str().to_owned());
        let interface = named.or_else(|| interface_addresses::interface_of(address.ip));
        let interface =
            interface.with_context(|| format!("no interface has {address} any more"))?;
        let unreadable = || format!("cannot read the counters of {interface}");
        let mut reader = LossReader::of_interface(&interface).with_context(unreadable)?;
        Ok(Self {
            before: reader.read(),
            reader,
            interface,
        })
    }

    /// Returns the growth of the counters since the start. `drop_reasons` are the kernel's meanwhile, which are counted
    /// elsewhere.
    ///
    /// # Errors
    /// Fails if the interface is gone.
    pub(crate) fn growth(
        &mut self,
        drop_reasons: BTreeMap<String, u64>,
    ) -> anyhow::Result<PathGrowth> {
        let unreadable = "cannot read the counters of the network interface any more";
        let now = self.reader.read();
        let path = PathCounters::between(&self.before, &now, &self.interface);
        let mut growth = now.since(&self.before);
        growth.reasons.extend(drop_reasons.clone());
        Ok(PathGrowth {
            counters: path.context(unreadable)?,
            nic: growth.lost_at(&self.interface),
            radio: Wireless::read(&self.interface),
            places: places(&growth),
            drop_reasons,
        })
    }
}
