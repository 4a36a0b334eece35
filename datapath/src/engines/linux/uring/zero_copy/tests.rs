//! Tests over loopback, which always copies.

use std::iter;
use std::net::UdpSocket;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use nix::unistd::gettid;
use socket2::SockRef;

use super::*;
use crate::data::Connection::{self, Connected, Unconnected};
use crate::engine::BatchCount;
use crate::engine::payload::tests::Numbered;
use crate::sys::nic::tests::in_namespace;
use crate::sys::wakeup;

const BATCH: usize = 32;
const BYTES: usize = 100;

/// Returns whether this kernel has zero copy. Probed once, as loopback may be slow in some of the tests.
fn is_here() -> bool {
    static PROBED: LazyLock<Result<(), String>> = LazyLock::new(ZeroCopySendRing::probe);
    if let Err(why) = &*PROBED {
        eprintln!("SKIPPED: {why}");
    }
    PROBED.is_ok()
}

/// Returns a ring that sends to the socket beside it. `None`: this kernel lacks zero copy.
fn ring_to_receiver(
    connection: Connection,
    own_payloads: bool,
) -> Option<(ZeroCopySendRing, UdpSocket)> {
    ring_over(connection, own_payloads, None)
}

/// Returns such a ring over a socket with this send buffer.
fn ring_over(
    connection: Connection,
    own_payloads: bool,
    buffer_bytes: Option<usize>,
) -> Option<(ZeroCopySendRing, UdpSocket)> {
    if !is_here() {
        return None;
    }
    let bind = || UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
    let (socket, receiver) = (bind(), bind());
    let peer = receiver.local_addr().expect("bound");
    if connection == Connected {
        socket.connect(peer).expect("loopback works");
    }
    if let Some(bytes) = buffer_bytes {
        let set = SockRef::from(&socket).set_send_buffer_size(bytes);
        set.expect("the kernel makes more of it");
    }
    let options = IoOptions {
        batch: BATCH,
        connection,
        own_payloads,
        ..IoOptions::of(Vec::new(), Direction::Sends, BYTES)
    };
    let ring = ZeroCopySendRing::open(&[Endpoint::of(socket, Some(peer))], &options);
    Some((ring.expect("the probe had one"), receiver))
}

/// Sends more batches than the memory holds, and compares what arrives.
fn each_arrives(connection: Connection) {
    let Some((mut ring, receiver)) = ring_to_receiver(connection, true) else {
        return;
    };
    let calls = 3 * MOST_BUFFERS / BATCH + 1;
    let mut memory = [0; 2 * BYTES];
    for call in 0..calls {
        let first = u8::try_from(call).expect("small");
        let sent = ring.send(
            0,
            &Numbered {
                first,
                bytes: BYTES,
            },
        );
        let sent = sent.expect("loopback takes it");
        let all = BatchCount::of(BATCH as u64, (BATCH * BYTES) as u64);
        assert_eq!((sent.moved, sent.failed), (all, 0));
        for n in (first..).take(BATCH) {
            assert_eq!(receiver.recv(&mut memory).ok(), Some(BYTES));
            assert_eq!(memory[..BYTES], [n; BYTES]);
        }
    }
    assert!(ring.settle());
    let datagrams = (calls * BATCH) as u64;
    let all_copied = Completed {
        calls: datagrams,
        copied: datagrams,
    };
    assert_eq!(ring.batches.completed, all_copied);
}

#[test]
fn each_datagram_arrives_as_filled_and_over_loopback_copied() {
    each_arrives(Connected);
    each_arrives(Unconnected);
}

#[test]
fn what_no_receiver_here_gets_is_not_copied() {
    in_namespace("tc qdisc add dev lo root blackhole", || {
        let Some((mut ring, _receiver)) = ring_to_receiver(Connected, true) else {
            return;
        };
        let sent = ring.send(0, &NoFill).expect("the device takes it");
        assert_eq!((sent.moved.packets, sent.failed), (BATCH as u64, 0));
        assert!(ring.settle());
        let expected = Completed {
            calls: BATCH as u64,
            copied: 0,
        };
        assert_eq!(ring.batches.completed, expected);
    });
}

#[test]
fn a_signal_ends_a_wait_for_room_and_every_datagram_that_was_sent_is_counted_once() {
    wakeup::install().expect("sigaction works");
    // The queue holds each datagram for a millisecond, and the socket has room for a few.
    let queue = "tc qdisc add dev lo root tbf rate 1mbit burst 2kb limit 1mb";
    in_namespace(queue, || {
        let Some((mut ring, receiver)) = ring_over(Connected, true, Some(1)) else {
            return;
        };
        receiver.set_nonblocking(true).expect("fcntl works");
        let arrived = || iter::from_fn(|| receiver.recv(&mut [0; BYTES]).ok()).count() as u64;
        let tid = gettid().as_raw();
        let done = AtomicBool::new(false);
        let (mut sent, mut received, mut calls_cut) = (BatchOutcome::default(), 0, 0);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    wakeup::interrupt(tid);
                    thread::yield_now();
                }
            });
            // Until the signals have come into the middle of some calls, soon.
            for _ in 0..100 {
                let outcome = ring.send(0, &NoFill).unwrap_or_default();
                sent.moved.packets += outcome.moved.packets;
                sent.failed += outcome.failed;
                calls_cut += u32::from(outcome.moved.packets < BATCH as u64);
                received += arrived();
                if calls_cut == 3 || ring.under_way > 0 {
                    break;
                }
            }
            done.store(true, Ordering::Relaxed);
        });
        let sent_packets = sent.moved.packets;
        assert_eq!((calls_cut, sent.failed, ring.under_way), (3, 0, 0));
        assert!(sent_packets > 0);
        assert!(ring.settle(), "the queue drains");
        assert_eq!(ring.batches.completed.calls, sent_packets);
        assert_eq!(received + arrived(), sent_packets);
    });
}

#[test]
fn a_batch_is_filled_again_only_after_its_last_notification() {
    let Some((mut ring, _receiver)) = ring_to_receiver(Connected, false) else {
        return;
    };
    // Simulates a datagram in the queue of an interface, whose notification comes with the next wait.
    ring.batches.in_use[0] = 1;
    let notification = opcode::Nop::new().build().user_data(0);
    #[expect(unsafe_code, reason = "the kernel follows the request's pointers")]
    // SAFETY: the request has none.
    unsafe { ring.ring.submission().push(&notification) }.expect("it is empty");
    let sent = ring.send(0, &NoFill).expect("loopback takes it");
    let all = BatchCount::of(BATCH as u64, (BATCH * BYTES) as u64);
    assert_eq!(sent.moved, all);
    assert!(ring.settle());
    ring.batches.in_use[0] = 1;
    assert!(!ring.settle(), "no notification comes");
}

#[test]
fn failed_sends_are_neither_sent_nor_copied() {
    let Some((mut ring, receiver)) = ring_to_receiver(Connected, false) else {
        return;
    };
    drop(receiver);
    // Nobody listens: after each datagram that is sent, the next one is refused.
    let sent = ring.send(0, &NoFill).expect("the first one goes");
    let (packets, failed) = (sent.moved.packets, u64::from(sent.failed));
    assert_eq!(packets + failed, BATCH as u64);
    assert!(failed > 0 && sent.errno == libc::ECONNREFUSED, "{sent:?}");
    assert!(ring.settle());
    assert_eq!(ring.batches.completed.calls, packets);
}

#[test]
fn the_memory_is_about_a_mebibyte_and_holds_two_batches_at_least() {
    if !is_here() {
        return;
    }
    let batches = |batch, bytes| {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
        let options = IoOptions {
            batch,
            connection: Connected,
            ..IoOptions::of(Vec::new(), Direction::Sends, bytes)
        };
        let ring = ZeroCopySendRing::open(&[Endpoint::of(socket, None)], &options);
        ring.map(|ring| ring.batches.in_use.len())
    };
    let expected = [
        (1, 0, 256),
        (1, 1460, 256),
        (1, 65_507, 16),
        (32, 1460, 8),
        (32, 9000, 2),
    ];
    for (batch, bytes, count) in expected {
        // Users may lock a limited amount of memory.
        if let Ok(found) = batches(batch, bytes) {
            assert_eq!(found, count, "{batch} x {bytes} B");
        }
    }
}

#[test]
fn a_refusal_to_lock_memory_names_the_limit_and_the_fix() {
    let text = locked_memory(
        io::Error::from_raw_os_error(libc::ENOMEM),
        "3072 kB of buffers",
    )
    .to_string();
    assert!(
        text.contains("lock 3072 kB") && text.contains("ulimit -l"),
        "{text}"
    );
}
