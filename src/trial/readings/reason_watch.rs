//! The kernel's reasons for dropping packets during a trial.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use crate::sys::drop_reasons::DropReasons;

/// Counters of drop reasons, running from the first trial that asks for them: starting and ending them takes longer
/// than a window.
#[derive(Default)]
pub(crate) struct ReasonWatch {
    /// Empty until they are asked for. `None`: the kernel does not report reasons; a message before the start has said so.
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
        let before = |reason: &str| self.before.get(reason).copied().unwrap_or(0);
        let moved = self.read().into_iter();
        let moved = moved.map(|(reason, packets)| {
            let since = packets - before(&reason);
            (reason, since)
        });
        moved.filter(|(_, packets)| *packets > 0).collect()
    }

    fn read(&self) -> BTreeMap<String, u64> {
        let counters = self.counters.get().into_iter().flatten();
        counters.flat_map(DropReasons::read).flatten().collect()
    }
}
