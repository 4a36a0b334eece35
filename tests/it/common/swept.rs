//! Sweeps of `udpbench wire` between the ends of a lab.

use std::process::{Command, Output};

use udpbench::results::row::{Row, Status};

use super::lab::{Builder, Lab};
use super::{Place, program, rows, stderr};

/// Few rounds. Senders and receivers have a CPU each: two threads that wake each other on one, as those of two hosts
/// that are one may be put, let nobody else run there for seconds (Linux 6.18), ssh among them.
pub const SHORT: &str =
    "--pin 0,0:1,1 --no-reference --heat 0s --warmup 5ms --rounds 5 -q -o out.csv";

/// A sweep between the ends of a lab.
pub struct Swept {
    pub lab: Lab,
    pub rows: Vec<Row>,
}

impl Swept {
    /// `None`: there is no lab to be had.
    pub fn over(lab: Builder, words: &str) -> Option<Self> {
        Some(Self::within(lab.start()?, words))
    }

    pub fn within(lab: Lab, words: &str) -> Self {
        let place = Place::new();
        let duration = if words.contains("--duration") {
            ""
        } else {
            "--duration 100ms"
        };
        let output = sweep(&lab, &place, &format!("{SHORT} {duration} {words}"));
        assert!(output.status.success(), "{}", stderr(&output));
        let rows = rows(&place.path("out.csv"));
        for row in &rows {
            assert_eq!(row.status, Status::Ok, "{row:?}");
            assert_eq!(row.unaccounted_packets, Some(0), "{row:?}");
            let lost = lost(row).iter().sum::<u64>()
                + row.refused_packets.unwrap_or(0)
                + row.dropped_socket_packets.unwrap_or(0);
            let left = row.sent_packets.unwrap_or(0) + row.unexpected_packets.unwrap_or(0) - lost;
            assert_eq!(row.received_packets, Some(left), "{row:?}");
        }
        Self { lab, rows }
    }

    pub fn the_row(&self) -> &Row {
        let [row] = &self.rows[..] else {
            panic!("{} rows", self.rows.len());
        };
        row
    }
}

pub fn sweep(lab: &Lab, place: &Place, words: &str) -> Output {
    wire(lab, place, words).output().expect("it can be started")
}

/// `udpbench wire` from the near end of a lab.
pub fn wire(lab: &Lab, place: &Place, words: &str) -> Command {
    let udpbench = program();
    let program = udpbench.get_program().to_str().expect("UTF-8");
    let mut command = lab.near(program);
    let ssh = format!("ssh -F {}", lab.ssh_config().display());
    command.args(["wire", "board", "--rsh", &ssh, "--agent", program]);
    command.args(words.split_whitespace());
    command.current_dir(place.path("."));
    command
}

/// Before they came to a socket, by place, in the order of [`Places::lost`](udpbench::data::Places::lost).
pub fn lost(row: &Row) -> [u64; 8] {
    [
        row.dropped_kernel_out_packets,
        row.dropped_qdisc_packets,
        row.dropped_nic_out_packets,
        row.lost_on_path_packets,
        row.dropped_nic_in_packets,
        row.dropped_backlog_packets,
        row.dropped_kernel_in_packets,
        row.dropped_protocol_packets,
    ]
    .map(|packets| packets.expect("measured"))
}
