//! Drops of other traffic at the interfaces while nothing is measured. They would be taken for drops of the measured
//! traffic.

use std::thread;
use std::time::Duration;

use crate::host::check::Unfit;
use crate::host::facts::Interface;
use crate::sys::nic::{PathCounters, PathReader, driver_drops, named_since};

/// Time for which the counters are observed.
const LOOK: Duration = Duration::from_millis(300);

/// Returns the drops of other traffic, for each interface that has some.
pub fn drops_of_others(interfaces: &[Interface]) -> Vec<Unfit> {
    let readers = interfaces.iter().filter_map(|interface| {
        let mut reader = PathReader::open(&interface.name).ok()?;
        let before = (reader.read().ok()?, reader.named().ok()?);
        Some((&interface.name, reader, before))
    });
    let readers: Vec<_> = readers.collect();
    thread::sleep(LOOK);
    let moved = readers
        .into_iter()
        .filter_map(|(name, mut reader, before)| {
            let moved = reader.read().ok()?.since(&before.0);
            let named = named_since(&reader.named().ok()?, &before.1);
            told(name, &moved, driver_drops(&named))
        });
    moved.collect()
}

/// Returns the drops at an interface, if it has some.
///
/// `driver` are the drops that the driver itself counts, in and out. The larger count of the two is used, since a
/// driver may add its drops to the kernel's counters.
fn told(interface: &str, moved: &PathCounters, driver: (u64, u64)) -> Option<Unfit> {
    let places = [
        ("by its queueing discipline", moved.qdisc_drops),
        ("on the way out", moved.nic_out_drops.max(driver.1)),
        ("on the way in", moved.nic_in_drops.max(driver.0)),
        ("by filters", moved.vanished(0)),
        ("by the backlog", moved.backlog_drops),
        (
            "by IP and UDP",
            moved.ip_in_discards + moved.udp_no_ports + moved.udp_in_errors,
        ),
    ];
    let some = places.into_iter().filter(|(_, packets)| *packets > 0);
    let some: Vec<String> = some
        .map(|(place, packets)| format!("{packets} {place}"))
        .collect();
    (!some.is_empty()).then(|| Unfit::DropsOfOthers {
        interface: interface.to_owned(),
        places: some.join(", "),
        ms: u64::try_from(LOOK.as_millis()).unwrap_or(u64::MAX),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_is_named_and_silence_is_none() {
        let moved = PathCounters {
            nic_in_drops: 3,
            udp_no_ports: 1,
            tx_packets: 9,
            ..PathCounters::default()
        };
        let said = told("eth0", &moved, (2, 0));
        let said = said.expect("there are some").to_string();
        assert!(
            said.contains("at eth0 (3 on the way in, 1 by IP and UDP in 300 ms)"),
            "{said}"
        );
        let nothing = PathCounters::default();
        assert_eq!(told("eth0", &nothing, (0, 0)), None);
        let said = told("eth0", &nothing, (7, 0));
        let said = said.expect("the driver's").to_string();
        assert!(said.contains("(7 on the way in in 300 ms)"), "{said}");
    }
}
