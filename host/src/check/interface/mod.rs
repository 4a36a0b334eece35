//! Checks network interfaces, for runs between two hosts.
//!
//! Numbers after `#` are issues of raspberrypi/linux, unless another repository is named.

mod counted;
mod drivers;
mod link;
mod queues;
mod radio;

pub use self::drivers::{Cause, cause};
use super::{Finding, Subject, Unfit};
use crate::facts::Interface;

pub(super) fn findings(subject: &Subject) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for interface in subject.interfaces.iter().flat_map(Interface::with_below) {
        // Two interfaces may be on top of the same one.
        if seen.contains(&interface.name.as_str()) {
            continue;
        }
        seen.push(&interface.name);
        findings.extend(link::findings(interface));
        findings.extend(radio::findings(interface));
        findings.extend(queues::findings(interface, subject));
        findings.extend(counted::findings(interface));
    }
    if !subject.interfaces.is_empty() {
        findings.extend(queues::unused_rmem_max(subject));
    }
    findings
}

#[cfg(test)]
mod tests;
