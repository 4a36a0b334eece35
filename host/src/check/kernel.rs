//! Checks the way the kernel accounts CPU time.

use super::{Finding, Subject};

pub(super) fn findings(subject: &Subject) -> Vec<Finding> {
    irq_time_accounting(subject).into_iter().collect()
}

fn irq_time_accounting(subject: &Subject) -> Option<Finding> {
    let known = subject.host.irq_time_accounting;
    known.filter(|&is_on| is_on).map(|_| {
        Finding::note(
            "the kernel accounts softirq time separately (CONFIG_IRQ_TIME_ACCOUNTING)",
            "the receive path is in no thread's CPU time: ns columns too low",
            "none at run time: use received_pps, and compare CPU times on the same kernel only",
        )
    })
}
