//! Lanes of every engine, over sockets that lose or refuse what is sent.

mod common;

use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use udpbench::data::{Batch, Connection};
use udpbench::engine::{Meter, ReceiveEnd, SendEnd};
use udpbench::engines::Entry;
use udpbench::sys::wakeup;
use udpbench::workload::lane::{Control, Job, LaneContext, Role};

use common::cases::built_and_runnable;

const PAYLOAD: usize = 300;

/// A lane that runs.
struct Lane {
    control: Arc<Control>,
    meter: Arc<Meter>,
    thread: JoinHandle<std::io::Result<()>>,
}

impl Lane {
    fn start(entry: &'static Entry, role: Role, connection: Connection) -> Self {
        wakeup::install().expect("sigaction works");
        let (control, meter) = (Arc::new(Control::default()), Arc::new(Meter::default()));
        control.start_barrier.open();
        let context = LaneContext::new(Arc::clone(&control), Arc::clone(&meter));
        let job = Job { role, connection };
        let thread = thread::spawn(move || (entry.lane)(job, &context).map(drop));
        Self {
            control,
            meter,
            thread,
        }
    }

    /// Lets it run until it has counted what is waited for, or has ended; returns its meter once it has.
    fn run_until(self, seen: impl Fn(&Meter) -> bool) -> Arc<Meter> {
        while !seen(&self.meter) && !self.thread.is_finished() {
            thread::yield_now();
        }
        self.control.stop_sending();
        self.control.stop_receiving();
        while !self.thread.is_finished() {
            self.meter.wakeups.interrupt();
            thread::yield_now();
        }
        let outcome = self.thread.join().expect("no panic");
        outcome.expect("a lane that goes on until it is stopped");
        self.meter
    }
}

fn bind() -> UdpSocket {
    UdpSocket::bind("127.0.0.1:0").expect("loopback is up")
}

/// To where `peer` is.
fn send_end(socket: UdpSocket, peer: &UdpSocket, connection: Connection) -> SendEnd {
    let peer = peer.local_addr().expect("bound");
    if connection == Connection::Connected {
        socket.connect(peer).expect("an address of loopback");
    }
    SendEnd {
        socket,
        peer,
        payload_bytes: PAYLOAD,
        batch: Batch::DEFAULT.count(),
        writer: None,
        null_link: Arc::default(),
    }
}

#[test]
fn lost_datagrams_do_not_hang_the_only_thread() {
    let alone = |entry: &&Entry| {
        let about = entry.about;
        about.moves_datagrams
            && about.is_fair()
            && about.one_thread.is_ok()
            && entry.sends()
            && entry.receives()
    };
    for entry in built_and_runnable().filter(alone) {
        for connection in [Connection::Connected, Connection::Unconnected] {
            let (sender, receiver, elsewhere) = (bind(), bind(), bind());
            if connection == Connection::Connected {
                let address = sender.local_addr().expect("bound");
                receiver.connect(address).expect("an address of loopback");
            }
            let receiving = ReceiveEnd {
                socket: receiver,
                payload_bytes: PAYLOAD,
                batch: Batch::DEFAULT.count(),
                recv_timeout: Some(Duration::from_millis(1)),
                tracker: None,
                null_links: Vec::new(),
            };
            let sending = send_end(sender, &elsewhere, connection);
            let role = Role::Alone(sending, receiving);
            let lane = Lane::start(entry, role, connection);
            let meter = lane.run_until(|meter| meter.would_blocks.load(Ordering::Relaxed) >= 3);
            let (sent, received) = (meter.sent.read(), meter.received.read());
            assert!(sent.packets >= 3, "{entry}, {connection}: {sent:?}");
            assert_eq!(received.packets, 0, "{entry}, {connection}");
        }
    }
}

#[test]
fn sends_that_fail_beside_others_are_counted() {
    let sends = |entry: &&Entry| {
        let about = entry.about;
        about.moves_datagrams && about.is_fair() && entry.sends()
    };
    for entry in built_and_runnable().filter(sends) {
        // Where nobody listens, each datagram that goes has the next send refused (ECONNREFUSED, udp(7)).
        let end = {
            let nobody = bind();
            send_end(bind(), &nobody, Connection::Connected)
        };
        let lane = Lane::start(entry, Role::Send(end), Connection::Connected);
        let meter = lane.run_until(|meter| meter.sent.read().packets >= 1000);
        let (sent, errors) = (meter.sent.read(), meter.errors.load(Ordering::Relaxed));
        assert!(errors > 0, "{entry}: none beside {sent:?}");
    }
}
