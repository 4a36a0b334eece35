//! What an interface counted until now.

use super::Finding;
use crate::platform::host::Interface;

pub(super) fn findings(interface: &Interface) -> Vec<Finding> {
    let all = [dropped(interface), flapping(interface)];
    all.into_iter().flatten().collect()
}

/// One in as many packets dropped is worth a word.
const ONE_IN: u64 = 10_000;

/// #6898, #1954: rx_dropped rises, and the driver has lost nothing.
fn dropped(interface: &Interface) -> Option<Finding> {
    let (name, counted) = (&interface.name, interface.counted);
    let received = counted.rx_packets?;
    let dropped = counted.rx_dropped?.saturating_sub(counted.backlog_drops);
    let lost = counted.driver_in_drops.unwrap_or(0);
    (dropped > 0 && lost == 0 && dropped >= received / ONE_IN).then(|| {
        let silent = match counted.driver_in_drops {
            Some(_) => "the driver lost none",
            None => "the driver has no counters for it",
        };
        Finding::note(
            format!("{name} has dropped {dropped} of {received} packets received"),
            format!("{silent}: often frames of protocols or VLANs that nobody here wants"),
            format!(
                "what they are: sudo tcpdump -eni {name} vlan or not '(ip or ip6 or arp)'\n\
                 the kernel's reasons: sudo perf trace -e skb:kfree_skb"
            ),
        )
    })
}

/// Up, and a time or two again while the link is negotiated, is what booting takes.
const MOST_CHANGES: u32 = 6;

fn flapping(interface: &Interface) -> Option<Finding> {
    let name = &interface.name;
    let changes = interface
        .carrier_changes
        .filter(|&changes| changes > MOST_CHANGES)?;
    Some(Finding::note(
        format!("the carrier of {name} came or went {changes} times since it was made"),
        "each time the link is gone for seconds, and so is all that was sent",
        "look at the cable, at the power supply and at the other end; dmesg says when it was",
    ))
}
