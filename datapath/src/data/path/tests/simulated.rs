//! Property tests of the accounting: simulated datagrams, ours and others', pass all loss places.

use proptest::prelude::*;

use super::*;
use crate::sys::path_counters::NOT_IP;

/// Number of simulated datagrams that end at each place.
#[derive(Clone, Copy, Debug)]
struct Ended {
    refused_by_qdisc: u64,
    refused_by_nic: u64,
    refused_by_nobody: u64,
    qdisc: u64,
    nic_out: u64,
    path: u64,
    nic_in: u64,
    backlog: u64,
    filter: u64,
    firewall: u64,
    ip: u64,
    closed_port: u64,
    socket: u64,
    received: u64,
}

impl Ended {
    fn of(n: [u64; 14]) -> Self {
        Self {
            refused_by_qdisc: n[0],
            refused_by_nic: n[1],
            refused_by_nobody: n[2],
            qdisc: n[3],
            nic_out: n[4],
            path: n[5],
            nic_in: n[6],
            backlog: n[7],
            filter: n[8],
            firewall: n[9],
            ip: n[10],
            closed_port: n[11],
            socket: n[12],
            received: n[13],
        }
    }

    fn behind_ip(&self) -> u64 {
        self.closed_port + self.socket + self.received
    }

    fn at_ip(&self) -> u64 {
        self.firewall + self.ip + self.behind_ip()
    }

    /// Returns the sender's counters that these datagrams move.
    fn at_sender(&self) -> PathCounters {
        let out = self.path + self.nic_in + self.backlog + self.filter + self.at_ip();
        PathCounters {
            qdisc_drops: self.refused_by_qdisc + self.qdisc,
            nic_out_drops: self.refused_by_nic + self.nic_out,
            tx_packets: out,
            ..PathCounters::default()
        }
    }

    /// Returns the receiver's counters that these datagrams move.
    fn at_receiver(&self) -> PathCounters {
        PathCounters {
            rx_packets: self.backlog + self.filter + self.at_ip(),
            nic_in_drops: self.nic_in,
            backlog_drops: self.backlog,
            ip_in_frames: Some(self.at_ip()),
            ip_in_packets: self.at_ip(),
            ip_in_ended: self.ip + self.behind_ip(),
            ip_in_discards: self.ip,
            udp_no_ports: self.closed_port,
            ..PathCounters::default()
        }
    }
}

fn both(a: PathCounters, b: PathCounters) -> PathCounters {
    PathCounters {
        qdisc_drops: a.qdisc_drops + b.qdisc_drops,
        nic_out_drops: a.nic_out_drops + b.nic_out_drops,
        tx_packets: a.tx_packets + b.tx_packets,
        rx_packets: a.rx_packets + b.rx_packets,
        nic_in_drops: a.nic_in_drops + b.nic_in_drops,
        backlog_drops: a.backlog_drops + b.backlog_drops,
        ip_in_frames: a.ip_in_frames.zip(b.ip_in_frames).map(|(a, b)| a + b),
        ip_in_packets: a.ip_in_packets + b.ip_in_packets,
        ip_in_ended: a.ip_in_ended + b.ip_in_ended,
        ip_in_discards: a.ip_in_discards + b.ip_in_discards,
        udp_no_ports: a.udp_no_ports + b.udp_no_ports,
        ..a
    }
}

/// Returns the path of our datagrams, with others' traffic in the same counters. A driver counts its interface's drops
/// under a name of its own; the kernel counts all of them, or none.
fn simulated(ours: &Ended, others: &Ended, kernel_has_it: bool) -> DirectionCounts {
    let at_sender = both(ours.at_sender(), others.at_sender());
    let mut at_receiver = both(ours.at_receiver(), others.at_receiver());
    let nic_at_receiver = named(&[("rx_resource_errors", at_receiver.nic_in_drops)]);
    if !kernel_has_it {
        at_receiver.nic_in_drops = 0;
    }
    DirectionCounts {
        sent: ours.qdisc + ours.nic_out + ours.at_sender().tx_packets,
        refused: ours.refused_by_qdisc + ours.refused_by_nic + ours.refused_by_nobody,
        received: ours.received,
        dropped_socket: ours.socket,
        at_sender,
        at_receiver,
        nic_at_receiver,
        ..path()
    }
}

/// Returns our losses by place, in the order of [`Places::lost`].
fn truth(it: &Ended) -> [u64; 8] {
    [
        it.refused_by_nobody,
        it.refused_by_qdisc + it.qdisc,
        it.refused_by_nic + it.nic_out,
        it.path,
        it.nic_in,
        it.backlog,
        it.filter + it.firewall,
        it.ip + it.closed_port,
    ]
}

proptest! {
    /// Each place reports at most our losses plus others' losses at it. The path also reports losses that other places'
    /// counters hide. All our losses are reported.
    #[test]
    fn no_place_is_said_to_have_lost_more_than_it_counted(
        ours in proptest::array::uniform14(prop_oneof![Just(0_u64), 30..1000_u64]),
        others in proptest::array::uniform14(prop_oneof![Just(0_u64), 0..1000_u64]),
        kernel_has_it in any::<bool>(),
    ) {
        let (ours, others) = (Ended::of(ours), Ended::of(others));
        let accounting = simulated(&ours, &others, kernel_has_it).accounting();
        let (truth, foreign) = (truth(&ours), truth(&others));
        let all: u64 = truth.iter().sum();
        prop_assert_eq!(accounting.places.lost().iter().map(|(_, lost)| lost).sum::<u64>(), all);
        for (n, (place, lost)) in accounting.places.lost().into_iter().enumerate() {
            // Drops by a filter hide behind the interface's own drops and behind the few frames that may be ARP.
            // Uncounted refusals by the kernel hide behind silent drops of the qdisc.
            let hidden = match place {
                "path" => ours.nic_in + others.nic_in + NOT_IP + ours.refused_by_nobody,
                _ => 0,
            };
            prop_assert!(lost <= truth[n] + foreign[n] + hidden, "{} {}: {:?}", place, lost, accounting.places);
        }
        let foreign: u64 = foreign.iter().sum();
        prop_assert!(accounting.places.path + foreign >= ours.path, "{:?}", accounting.places);
    }

    /// Without other traffic, and with every datagram counted once, each place reports its exact losses.
    #[test]
    fn without_other_traffic_each_place_has_what_was_lost_there(
        ours in proptest::array::uniform14(prop_oneof![Just(0_u64), 30..1000_u64]),
        kernel_has_it in any::<bool>(),
    ) {
        let mut ours = Ended::of(ours);
        // The interface's drops in the kernel's counters would hide those of a filter.
        if kernel_has_it {
            ours.filter = 0;
        }
        // An uncounted refusal looks like a drop that no call reported.
        if ours.qdisc + ours.nic_out > 0 {
            ours.refused_by_nobody = 0;
        }
        let accounting = simulated(&ours, &Ended::of([0; 14]), kernel_has_it).accounting();
        prop_assert_eq!(accounting.places.lost().map(|(_, lost)| lost), truth(&ours));
        prop_assert_eq!(accounting.dropped_socket, ours.socket);
    }
}
