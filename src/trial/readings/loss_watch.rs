//! Places of this host that lose packets on the way in during a trial, by name: the table of [`PLACES`].
//!
//! [`PLACES`]: crate::sys::loss_places::PLACES

use std::collections::BTreeMap;

use crate::sys::loss_counters::{LossCounters, LossReader};
use crate::sys::loss_places::Layer;

/// Counters of the places, and their values at the start.
pub(crate) struct LossWatch {
    reader: LossReader,
    before: LossCounters,
}

impl LossWatch {
    /// Starts to watch the places of this network namespace and of one of its interfaces. The kernel's drop reasons are
    /// not counted: that takes longer than a window.
    pub(crate) fn start(interface: &str) -> Self {
        Self::with(LossReader::without_reasons(interface))
    }

    /// Starts to watch all places.
    pub(crate) fn start_all() -> Self {
        Self::with(LossReader::open("thread-self"))
    }

    fn with(mut reader: LossReader) -> Self {
        let before = reader.read();
        Self { reader, before }
    }

    /// Returns the packets lost since the start, by place, without those at sockets whose buffer was full, and without
    /// the way out. `reasons` are the kernel's drop reasons meanwhile, if they were counted elsewhere.
    pub(crate) fn places(&mut self, reasons: BTreeMap<String, u64>) -> BTreeMap<String, u64> {
        let mut growth = self.reader.read().since(&self.before);
        growth.reasons.extend(reasons);
        let losses = growth.losses().into_iter();
        let on_the_way =
            losses.filter(|loss| !loss.place.is_full() && loss.place.layer != Layer::Out);
        on_the_way
            .map(|loss| (loss.place.what.clone(), loss.packets))
            .collect()
    }
}
