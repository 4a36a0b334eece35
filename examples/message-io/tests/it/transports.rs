//! Transports other than UDP: of the engine, and those that udpbench's engines have in this program only.

use udpbench::results::row::{Reason, Status};

use crate::common::Place;
use crate::common::transports::{SHORT, arrived_whole, engines_go_over};

#[test]
fn messages_over_connections_arrive_whole() {
    // The library's lengths have seven bits per byte.
    let transports = "tcp,framed-tcp,websocket";
    engines_go_over("std,message-io", transports, |it| it == "framed-tcp");
}

#[test]
fn messages_of_udpbenchs_own_engines_arrive_whole() {
    engines_go_over("std,tokio", "framed-tcp,websocket", |_| false);
    for options in [
        "--threads 1,4 --payload 20,4000",
        "--workload rr --threads 2 --payload 300 --outstanding 4",
        "--workload rr --threads 2 --payload 300 --rate 2k",
        "--workload flood,rr --threads 2 --payload 1048576",
    ] {
        let rows = Place::new().sweep(&format!(
            "{SHORT} --transport framed-tcp,websocket --engine std,tokio --ip v4 --duration 300ms --verify {options}"
        ));
        rows.iter().for_each(arrived_whole);
    }
}

#[test]
fn receivers_spin() {
    let rows = Place::new().sweep(&format!(
        "{SHORT} --transport framed-tcp,websocket --sender std --receiver std,tokio --wait spin --threads 2 --payload 300 --ip v4 \
         --duration 150ms --verify"
    ));
    assert_eq!(rows.len(), 4);
    rows.iter().for_each(arrived_whole);
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
