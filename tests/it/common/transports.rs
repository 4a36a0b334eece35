//! Sweeps over transports other than UDP.

use udpbench::results::row::{Reason, Status};

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
        let state = (row.status, &row.reason);
        assert_eq!(state, (Status::Ok, &Reason::None), "{case}");
        assert_eq!(row.received_packets, row.sent_packets, "{case}");
        let unread_or_wrong = [row.unread_packets, row.corrupted_packets];
        assert_eq!(unread_or_wrong, [Some(0); 2], "{case}");
        assert_eq!(row.unaccounted_packets, Some(0), "{case}");
    }
}
