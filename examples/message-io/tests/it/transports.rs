//! The engine over transports other than UDP.

use udpbench::results::row::{Reason, Status};

use crate::common::Place;
use crate::common::transports::{SHORT, engines_go_over};

#[test]
fn messages_over_connections_arrive_whole() {
    // The library's lengths have seven bits per byte.
    let transports = "tcp,framed-tcp,websocket";
    engines_go_over("std,message-io", transports, |it| it == "framed-tcp");
}

/// One read takes hundreds of them, and the library leaves all but one of the last ones in its buffer.
#[test]
fn no_message_stays_in_the_buffer_of_the_library() {
    for workload in [
        "flood --threads 1,2,4",
        "rr --threads 2,4 --outstanding 16",
        "bidir --duplex full --threads 2",
    ] {
        let rows = Place::new().sweep(&format!(
            "{SHORT} --transport websocket --workload {workload} --engine message-io --payload 16 --ip v4 \
             --duration 150ms --verify"
        ));
        for row in rows {
            let (case, state) = (row.case.key(), (row.status, &row.reason));
            assert_eq!(state, (Status::Ok, &Reason::None), "{case}");
            assert_eq!(row.received_packets, row.sent_packets, "{case}");
        }
    }
}
