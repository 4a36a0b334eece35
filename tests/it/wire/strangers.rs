//! Datagrams of strangers to a measuring host: no reply is sent, and results do not change.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use udpbench::results::row::Status;

use crate::common::lab::{End, Lab};
use crate::common::{AtEnd, Place, program, rows, stderr};

/// Minimum number of a stranger's datagrams. More take longer: UDPBENCH_TEST_DATAGRAMS=10000000.
fn datagrams() -> u64 {
    let said = std::env::var("UDPBENCH_TEST_DATAGRAMS").ok();
    said.map_or(100_000, |count| count.parse().expect("a number"))
}

/// Sends datagrams of any length and content, to any port, from one socket, until told to end. Returns the number of
/// responses.
fn pester(lab: &Lab, sent: &AtomicU64, end: &AtomicBool) -> usize {
    let far = lab.ipv4(End::Far);
    let socket = lab.socket(End::Near, lab.ipv4(End::Near));
    socket.set_nonblocking(true).expect("it can be");
    let mut rng = fastrand::Rng::with_seed(7);
    let (mut payload, mut answers) = ([0_u8; 64], 0);
    while !end.load(Ordering::Relaxed) {
        rng.fill(&mut payload);
        let length = rng.usize(0..=payload.len());
        let to = SocketAddr::new(far, rng.u16(1024..));
        // It may be refused, as the queue of the interface is full.
        if socket.send_to(&payload[..length], to).is_ok() {
            sent.fetch_add(1, Ordering::Relaxed);
        }
        answers += usize::from(socket.recv(&mut [0; 64]).is_ok());
    }
    thread::sleep(Duration::from_millis(50));
    answers + usize::from(socket.recv(&mut [0; 64]).is_ok())
}

#[test]
fn a_stranger_who_sends_to_every_port_gets_no_answer() {
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    let (sent, end) = (AtomicU64::new(0), AtomicBool::new(false));
    let since = Instant::now();
    thread::scope(|scope| {
        let stranger = scope.spawn(|| pester(&lab, &sent, &end));
        let over = AtEnd(|| end.store(true, Ordering::Relaxed));
        let mut rounds = 0;
        while rounds == 0 || sent.load(Ordering::Relaxed) < datagrams() {
            sweep(&lab);
            rounds += 1;
        }
        drop(over);
        let answers = stranger.join().expect("no panic");
        assert_eq!(answers, 0, "of {sent:?} in {:?}", since.elapsed());
    });
}

/// Connected receivers, whose kernel keeps strangers out.
fn sweep(lab: &Lab) {
    let place = Place::new();
    let udpbench = program();
    let program = udpbench.get_program().to_str().expect("UTF-8");
    let mut command = lab.near(program);
    let ssh = format!("ssh -F {}", lab.ssh_config().display());
    command.args(["wire", "board", "--rsh", &ssh, "--agent", program]);
    let words = "--pin 0:1 --no-reference --engine std --threads 2 --payload 300 --heat 0s --rounds 5 \
                 --duration 250ms -q -o out.csv";
    command.args(words.split_whitespace());
    command.current_dir(place.path("."));
    let output = command.output().expect("it can be started");
    assert!(output.status.success(), "{}", stderr(&output));
    for row in rows(&place.path("out.csv")) {
        assert_eq!(row.status, Status::Ok, "{row:?}");
        assert_eq!(row.unexpected_packets, Some(0), "{row:?}");
        assert_eq!(row.unaccounted_packets, Some(0), "{row:?}");
    }
}
