//! Checks the counters of an interface, and explains those of its driver.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::json;

use super::{Finding, Unfit};
use crate::facts::{Interface, InterfaceKind};
use crate::sys::nic::{driver_drops, family, is_named, way};
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

/// Returns the share of lost packets in words, if it is worth a finding.
fn share(lost: u64, received: u64) -> Option<String> {
    /// Smallest share that is: one in this many.
    const ONE_IN: u64 = 10_000;
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
    let ways = [
        (
            counted.driver_in_drops.as_deref().unwrap_or_default(),
            counted.rx_packets,
        ),
        (&counted.driver_out_drops, counted.tx_packets),
    ];
    let mut findings = Vec::new();
    let mut causes: Vec<&Cause> = Vec::new();
    for (counters, packets) in ways {
        for (name, _) in counters {
            let known = cause(interface.driver.as_deref(), name);
            if let Some(cause) = known.filter(|cause| !causes.contains(cause)) {
                causes.push(cause);
                findings.extend(lost_by(interface, cause, counters, packets.unwrap_or(0)));
            }
        }
    }
    findings
}

/// Finds packets that the driver lost for one reason, by its counters. The gravest are those that move now.
fn lost_by(
    interface: &Interface,
    cause: &Cause,
    counters: &[(String, u64)],
    packets: u64,
) -> Option<Finding> {
    let name = &interface.name;
    let moving = interface.counted.moving.iter();
    let moving = moving.filter(|(counter, _)| cause.has(counter));
    let mut values = json!({"interface": name, "means": cause.means, "fix": cause.fix(name)});
    if let Some((counter, more)) = moving.max_by_key(|(_, more)| *more) {
        let seen = Unfit::DriverLoses {
            interface: name.clone(),
            counter: counter.clone(),
            packets: *more,
        };
        return Some(Finding::unfit_with(seen, values));
    }
    let of_it = counters.iter().filter(|(counter, _)| cause.has(counter));
    let lost = of_it
        .clone()
        .fold(0_u64, |sum, (_, count)| sum.saturating_add(*count));
    values["share"] = share(lost, packets)?.into();
    values["lost"] = digits::counted(lost, "packet").into();
    let (counter, most) = of_it.max_by_key(|(_, count)| *count)?;
    values["most"] = format!("{counter} {most}").into();
    Some(Finding::noted("driver-has-lost", &values))
}

/// Finds errors that the kernel counted, beyond the driver's own counters.
fn broken(interface: &Interface) -> Option<Finding> {
    let (name, received) = (&interface.name, interface.counted.rx_packets?);
    let errors = interface.counted.rx_errors?;
    let share = share(errors.saturating_sub(driver_losses(interface)), received)?;
    let values = json!({"interface": name, "errors": errors, "share": share});
    Some(Finding::noted("broken-packets", &values))
}

/// Finds packets that the kernel dropped while the driver lost none: `rx_dropped` rises (#6898, #1954).
fn dropped(interface: &Interface) -> Option<Finding> {
    let counted = &interface.counted;
    let received = counted.rx_packets?;
    let dropped = counted.rx_dropped?.saturating_sub(counted.backlog_drops);
    let silent = match counted.driver_in_drops {
        Some(_) => "the driver lost none",
        None => "no counters of the driver are known",
    };
    let values = json!({
        "interface": interface.name,
        "dropped": digits::counted(dropped, "packet"),
        "received": received,
        "silent": silent,
    });
    (driver_losses(interface) == 0 && share(dropped, received).is_some())
        .then(|| Finding::noted("dropped-packets", &values))
}

fn flapping(interface: &Interface) -> Option<Finding> {
    /// Largest number of carrier changes that is normal: booting takes a few, while the link is negotiated.
    const MOST_CHANGES: u32 = 6;
    let changes = interface.carrier_changes?;
    let values = json!({"interface": interface.name, "changes": changes});
    (changes > MOST_CHANGES).then(|| Finding::noted("flapping", &values))
}

/// A reason why drivers lose packets, with the counters that show it.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cause {
    /// Drivers that have these counters. Empty: many.
    #[serde(default)]
    drivers: Vec<String>,
    /// Names of the counters. `#` stands for a number.
    counters: Vec<String>,
    /// The reason in a sentence.
    pub means: String,
    /// Fix, mostly a command, or the name of one of [`Causes::common`]. `NIC` stands for the interface.
    helps: Vec<String>,
    /// Source of this: files below `drivers/net` in Linux, manuals, issues.
    source: String,
}

/// All known reasons.
#[derive(Deserialize)]
struct Causes {
    /// What helps against several of them.
    common: BTreeMap<String, String>,
    cause: Vec<Cause>,
}

static CAUSES: LazyLock<Causes> =
    LazyLock::new(|| toml::from_str(include_str!("causes.toml")).expect("tests read it"));

impl Cause {
    /// Returns whether a counter of this name shows this reason.
    pub(super) fn has(&self, counter: &str) -> bool {
        self.counters.iter().any(|name| is_named(counter, name))
    }

    /// Returns what helps, and the source, as lines. `interface` is the name of the interface.
    pub(super) fn fix(&self, interface: &str) -> String {
        let lines = self.helps.iter().map(|line| {
            let line = CAUSES.common.get(line).unwrap_or(line);
            line.replace("NIC", interface) + "\n"
        });
        format!("{}see {}", lines.collect::<String>(), self.source)
    }
}

/// Returns the reason for losses that a counter of a driver counts. Without a `driver`, it is the only one of counters
/// with this name. `None`: the counter is not known here, or counters of several drivers have the name.
pub fn cause(driver: Option<&str>, counter: &str) -> Option<&'static Cause> {
    let mut known = CAUSES.cause.iter().filter(|cause| cause.has(counter));
    let Some(driver) = driver else {
        return known.next().filter(|_| known.next().is_none());
    };
    // Causes of all drivers hold only where the driver's counter is known to count losses.
    way(Some(driver), counter)?;
    let family = family(driver)?;
    let own = known
        .clone()
        .find(|cause| cause.drivers.iter().any(|it| it == family));
    own.or_else(|| known.find(|cause| cause.drivers.is_empty()))
}

#[cfg(test)]
mod tests;
