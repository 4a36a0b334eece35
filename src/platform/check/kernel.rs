//! How the kernel counts.

use super::{Finding, Subject};

pub(super) fn findings(subject: &Subject) -> Vec<Finding> {
    irq_time_accounting(subject).into_iter().collect()
}

fn irq_time_accounting(subject: &Subject) -> Option<Finding> {
    let known = subject.host.irq_time_accounting;
    known.filter(|&is_on| is_on).map(|_| {
        Finding::note(
            "the kernel counts softirq time apart (CONFIG_IRQ_TIME_ACCOUNTING)",
            "the receive path is in no thread's CPU time: the ns columns are too low, windows disturbed",
            "none at run time: go by received_pps, and hold CPU times against the same kernel only",
        )
    })
}
