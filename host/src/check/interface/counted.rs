//! Checks the counters of an interface.

use std::fmt::Display;

use super::drivers::{Cause, cause};
use super::{Finding, Unfit};
use crate::facts::{Interface, InterfaceKind};
use crate::sys::nic::{driver_drops, family};
use crate::text::digits;

pub(super) fn findings(interface: &Interface) -> Vec<Finding> {
    let mut findings = lost(interface);
    // A bond's counters are the sums of those below it, which have findings of their own.
    let is_sum = interface.kind == InterfaceKind::Bond && !interface.below.is_empty();
    let own = [broken(interface), dropped(interface)];
    findings.extend(own.into_iter().flatten().filter(|_| !is_sum));
    findings.extend(flapping(interface));
    findings
}

/// Smallest share of lost packets that is worth a finding: one in this many.
const ONE_IN: u64 = 10_000;

/// Returns the share of lost packets in words, if it is worth a finding.
fn share(lost: u64, received: u64) -> Option<String> {
    let all = received.saturating_add(lost);
    (lost > 0 && lost >= all / ONE_IN).then(|| {
        let percent = 100.0 * lost as f64 / all as f64;
        let decimals = digits::decimals(percent / 10.0);
        format!("{percent:.decimals$} %")
    })
}

/// Returns the number of packets that the driver lost on the way in.
fn driver_losses(interface: &Interface) -> u64 {
    let lost = interface.counted.driver_in_drops.iter().flatten();
    driver_drops(lost.map(|(name, count)| (name, count))).0
}

/// Finds packets that the driver lost, a finding for each reason. `rx_resource_errors` may climb without any other sign
/// (#7115).
fn lost(interface: &Interface) -> Vec<Finding> {
    let counted = &interface.counted;
    let mut counters: Vec<(&str, u64, u64)> = Vec::new();
    for (name, count) in counted.driver_in_drops.iter().flatten() {
        counters.push((name, *count, counted.rx_packets.unwrap_or(0)));
    }
    for (name, count) in &counted.driver_out_drops {
        counters.push((name, *count, counted.tx_packets.unwrap_or(0)));
    }
    let mut causes: Vec<&Cause> = Vec::new();
    let mut findings = Vec::new();
    for (name, _, packets) in &counters {
        let Some(cause) = cause(interface.driver.as_deref(), name) else {
            continue;
        };
        if causes.contains(&cause) {
            continue;
        }
        causes.push(cause);
        let of_it = counters.iter().filter(|(name, ..)| cause.has(name));
        let of_it: Vec<(&str, u64)> = of_it.map(|(name, count, _)| (*name, *count)).collect();
        findings.extend(lost_by(interface, cause, &of_it, *packets));
    }
    findings
}

/// Finds packets that the driver lost for one reason, by its counters. The gravest are those that move now.
fn lost_by(
    interface: &Interface,
    cause: &Cause,
    counters: &[(&str, u64)],
    packets: u64,
) -> Option<Finding> {
    let name = &interface.name;
    let moving = interface.counted.moving.iter();
    let moving = moving.filter(|(counter, _)| cause.has(counter));
    if let Some((counter, more)) = moving.max_by_key(|(_, more)| *more) {
        let seen = Unfit::DriverLoses {
            interface: name.clone(),
            counter: counter.clone(),
            packets: *more,
        };
        return Some(Finding::unfit(
            seen,
            &[("means", &cause.means), ("fix", &cause.fix(name))],
        ));
    }
    let lost = counters.iter().map(|(_, count)| *count);
    let lost = lost.fold(0, u64::saturating_add);
    let share = share(lost, packets)?;
    let (counter, most) = counters.iter().max_by_key(|(_, count)| *count)?;
    let values: &[(&str, &dyn Display)] = &[
        ("interface", name),
        ("lost", &digits::counted(lost, "packet")),
        ("share", &share),
        ("counter", counter),
        ("most", most),
        ("means", &cause.means),
        ("fix", &cause.fix(name)),
    ];
    Some(Finding::noted("driver-has-lost", values))
}

/// Finds errors that the kernel counted, beyond the driver's own counters.
fn broken(interface: &Interface) -> Option<Finding> {
    let (name, received) = (&interface.name, interface.counted.rx_packets?);
    let errors = interface.counted.rx_errors?;
    let share = share(errors.saturating_sub(driver_losses(interface)), received)?;
    let values: &[(&str, &dyn Display)] =
        &[("interface", name), ("errors", &errors), ("share", &share)];
    Some(Finding::noted("broken-packets", values))
}

/// Finds packets that the kernel dropped while the driver lost none: `rx_dropped` rises (#6898, #1954).
fn dropped(interface: &Interface) -> Option<Finding> {
    let (name, counted) = (&interface.name, &interface.counted);
    let received = counted.rx_packets?;
    let dropped = counted.rx_dropped?.saturating_sub(counted.backlog_drops);
    let driver = interface.driver.as_deref().unwrap_or("its driver");
    let silent = match counted.driver_in_drops {
        Some(_) => "the driver lost none".to_owned(),
        None if family(driver).is_some() => "the driver has no counters for it".to_owned(),
        None => format!("what {driver} counts is unknown"),
    };
    let values: &[(&str, &dyn Display)] = &[
        ("interface", name),
        ("dropped", &digits::counted(dropped, "packet")),
        ("received", &received),
        ("silent", &silent),
    ];
    (driver_losses(interface) == 0 && share(dropped, received).is_some())
        .then(|| Finding::noted("dropped-packets", values))
}

/// Largest number of carrier changes that is normal: booting takes a few, while the link is negotiated.
const MOST_CHANGES: u32 = 6;

fn flapping(interface: &Interface) -> Option<Finding> {
    let changes = interface.carrier_changes?;
    let values: &[(&str, &dyn Display)] = &[("interface", &interface.name), ("changes", &changes)];
    (changes > MOST_CHANGES).then(|| Finding::noted("flapping", values))
}
