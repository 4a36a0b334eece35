//! Lanes of every engine, over sockets that lose or refuse what is sent.

mod common;

use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};

use udpbench::data::{Batch, Connection};
use udpbench::engine::{Direction, Link, Meter, PortOptions};
use udpbench::engines::Entry;
use udpbench::sys::wakeup;
use udpbench::workload::lane::{Control, LaneContext};
use udpbench::workload::{Incoming, Outgoing, Program};

use common::cases::built_and_runnable;

const PAYLOAD: usize = 300;

/// A lane that runs.
struct Lane {
    control: Arc<Control>,
    meter: Arc<Meter>,
    thread: JoinHandle<std::io::Result<()>>,
}

impl Lane {
    fn start(entry: &'static Entry, program: Program, connection: Connection) -> Self {
        wakeup::install().expect("sigaction works");
        let (control, meter) = (Arc::new(Control::default()), Arc::new(Meter::default()));
        control.start_barrier.open();
        let context = LaneContext::new(Arc::clone(&control), Arc::clone(&meter));
        let thread = thread::spawn(move || {
            let tid = nix::unistd::gettid().as_raw();
            context.meter.tid.store(tid, Ordering::Relaxed);
            (entry.lane)(program, connection, &Arc::new(context)).map(drop)
        });
        Self {
            control,
            meter,
            thread,
        }
    }

    /// Lets it run until it has counted what is waited for, or has ended; returns its meter once it has.
    fn run_until(self, mut seen: impl FnMut(&Self) -> bool) -> Arc<Meter> {
        while !seen(&self) && !self.thread.is_finished() {
            thread::yield_now();
        }
        self.control.stop_sending();
        self.control.stop_receiving();
        while !self.thread.is_finished() {
            self.end_wait();
        }
        let outcome = self.thread.join().expect("no panic");
        outcome.expect("a lane that goes on until it is stopped");
        self.meter
    }
}

impl Lane {
    /// Ends the wait that is going on, as the coordinator does.
    fn end_wait(&self) {
        match self.meter.tid.load(Ordering::Relaxed) {
            0 => {}
            tid => wakeup::interrupt(tid),
        }
        self.meter.wakeups.interrupt();
        thread::yield_now();
    }
}

fn bind() -> UdpSocket {
    UdpSocket::bind("127.0.0.1:0").expect("loopback is up")
}

/// To where `peer` is.
fn outgoing(socket: UdpSocket, peer: &UdpSocket, connection: Connection) -> Outgoing {
    let peer = peer.local_addr().expect("bound");
    if connection == Connection::Connected {
        socket.connect(peer).expect("an address of loopback");
    }
    Outgoing {
        options: options(Link::of(socket, Some(peer)), Direction::Sends),
        writers: Vec::new(),
    }
}

fn options(link: Link, direction: Direction) -> PortOptions {
    PortOptions {
        batch: Batch::DEFAULT.count(),
        ..PortOptions::of(vec![link], direction, PAYLOAD)
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
            let incoming = Incoming {
                options: options(Link::of(receiver, None), Direction::Receives),
                tracker: None,
                flows: None,
            };
            let outgoing = outgoing(sender, &elsewhere, connection);
            let program = Program::Turns(outgoing, incoming);
            let (mut sent, mut bursts) = (0, 0);
            let meter = Lane::start(entry, program, connection).run_until(|lane| {
                let now = lane.meter.sent.read().packets;
                bursts += u32::from(now > sent);
                sent = now;
                lane.end_wait();
                bursts >= 3
            });
            let received = meter.received.read();
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
        let outgoing = {
            let nobody = bind();
            outgoing(bind(), &nobody, Connection::Connected)
        };
        let lane = Lane::start(entry, Program::Flood(outgoing), Connection::Connected);
        let meter = lane.run_until(|lane| lane.meter.sent.read().packets >= 1000);
        let (sent, errors) = (meter.sent.read(), meter.errors.load(Ordering::Relaxed));
        assert!(errors > 0, "{entry}: none beside {sent:?}");
    }
}
