//! The engine between two hosts: namespaces of the network.

use crate::common::lab::{End, Lab};
use crate::common::swept::{SHORT, Swept, lost, sweep};
use crate::common::{Place, rows};

#[test]
fn what_a_queueing_discipline_has_no_room_for_is_lost_there() {
    let lab = Lab::builder().tbf(End::Near, "20mbit burst 10kb limit 30kb");
    let words = "--direction up --threads 2 --payload 300 --engine std,message-io";
    let Some(swept) = Swept::over(lab, words) else {
        return;
    };
    for row in &swept.rows {
        let [unknown, qdisc, rest @ ..] = lost(row);
        assert_eq!((unknown, rest), (0, [0; 6]), "{row:?}");
        assert_eq!(row.failed_calls, Some(0), "{row:?}");
        assert!(qdisc > 0, "{row:?}");
    }
}

/// The near interface takes none of them, and the far one says so of each (veth): message-io only logs it.
#[test]
fn refused_datagrams_are_counted_although_the_library_hides_why() {
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    let ip = lab
        .near("ip")
        .args(["link", "set", "dev", "eth0", "mtu", "1280"])
        .status();
    assert!(ip.expect("iproute2").success());
    let place = Place::new();
    let words = "--direction down --engine std,message-io --connection unconnected --threads 2 --payload 1400 --rate 4k";
    sweep(&lab, &place, &format!("{SHORT} --duration 500ms {words}"));
    let rows = rows(&place.path("out.csv"));
    assert_eq!(rows.len(), 2, "{rows:?}");
    for row in rows {
        let counts = (row.dropped_qdisc_packets, row.dropped_nic_out_packets);
        assert!(counts.0.max(counts.1) > Some(0), "{row:?}");
        assert_eq!(
            (row.failed_calls, row.refused_packets),
            (Some(0), Some(0)),
            "{row:?}"
        );
        assert!(
            !row.reason.to_string().contains("ResourceNotFound"),
            "{row:?}"
        );
    }
}
