//! Sweeps over transports other than UDP.

use udpbench::results::row::{Reason, Row, Status};

use super::Place;

/// Options of a short sweep.
pub const SHORT: &str = "--no-reference --heat 0s --warmup 5ms --rounds 5";

/// Runs every pair of these engines over these transports, and checks that every message is received as it was sent.
/// Over a transport that `differs`, two engines write different heads before messages.
pub fn engines_go_over(engines: &str, transports: &str, differs: impl Fn(&str) -> bool) {
    let rows = Place::new().sweep(&format!(
        "{SHORT} --transport {transports} --workload flood,rr,bidir --duplex full --sender {engines} \
         --receiver {engines} --threads 2 --payload 16,300,20000 --ip v4 --duration 150ms --verify"
    ));
    for row in &rows {
        let case = &row.case.key();
        if row.sender != row.receiver && differs(&row.transport.to_string()) {
            let is_refused = row.reason.to_string().contains("write different heads");
            assert!(is_refused, "{case}: {}", row.reason);
            continue;
        }
        if row.reason.to_string().contains("would share each socket") {
            assert_ne!(row.sender, row.receiver, "{case}");
            continue;
        }
        arrived_whole(row);
    }
}

/// Checks that every message of a case was received as it was sent.
pub fn arrived_whole(row: &Row) {
    let case = &row.case.key();
    let state = (row.status, &row.reason);
    assert_eq!(state, (Status::Ok, &Reason::None), "{case}");
    assert!(row.received_packets > Some(0), "{case}");
    assert_eq!(row.received_packets, row.sent_packets, "{case}");
    let left = (row.unread_packets, row.unaccounted_packets);
    assert_eq!(left, (Some(0), Some(0)), "{case}");
    assert!(row.verified_packets > Some(0), "{case}");
    let faults = [
        row.corrupted_packets,
        row.truncated_packets,
        row.reordered_packets,
    ];
    assert_eq!(faults, [Some(0); 3], "{case}");
}
