//! What interfaces drop while nothing is measured: other traffic, which would be taken for what is.

use std::thread;
use std::time::Duration;

use crate::platform::host::Interface;
use crate::sys::nic::{PathCounters, PathReader};

/// How long it is looked at.
const LOOK: Duration = Duration::from_millis(300);

/// The drops of other traffic, a sentence for each interface that has some.
pub fn drops_of_others(interfaces: &[Interface]) -> Vec<String> {
    let readers = interfaces.iter().filter_map(|interface| {
        let mut reader = PathReader::open(&interface.name).ok()?;
        let before = reader.read().ok()?;
        Some((&interface.name, reader, before))
    });
    let readers: Vec<_> = readers.collect();
    thread::sleep(LOOK);
    let moved = readers
        .into_iter()
        .filter_map(|(name, mut reader, before)| {
            let moved = reader.read().ok()?.since(&before);
            told(name, &moved)
        });
    moved.collect()
}

fn told(interface: &str, moved: &PathCounters) -> Option<String> {
    let places = [
        ("by its queueing discipline", moved.qdisc_drops),
        ("on the way out", moved.nic_out_drops),
        ("on the way in", moved.nic_in_drops + moved.filter_drops),
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
    (!some.is_empty()).then(|| {
        let some = some.join(", ");
        let ms = LOOK.as_millis();
        format!("other traffic is dropped at {interface} ({some} in {ms} ms): lost datagrams may be taken for that")
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
        let said = told("eth0", &moved).expect("there are some");
        assert!(
            said.contains("at eth0 (3 on the way in, 1 by IP and UDP in 300 ms)"),
            "{said}"
        );
        assert_eq!(told("eth0", &PathCounters::default()), None);
    }
}
