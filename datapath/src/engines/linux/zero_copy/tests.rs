//! Tests over loopback, and of completions that loopback does not make.

use super::*;
use crate::engine::payload::NoFill;
use crate::engine::payload::tests::Numbered;

/// Returns a ring that sends `bytes` bytes to the socket beside it. `None`: this kernel lacks zero copy.
fn ring_to_receiver(bytes: usize) -> Option<(ZeroCopyRing, UdpSocket)> {
    let bind = || UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
    let (socket, receiver) = (bind(), bind());
    let peer = receiver.local_addr().expect("bound");
    socket.connect(peer).expect("loopback works");
    let ring = ZeroCopyRing::new(socket, &vec![7; bytes], None, Vec::new());
    ring.inspect_err(|why| eprintln!("SKIPPED: {why}"))
        .ok()
        .zip(Some(receiver))
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no sockets")]
fn each_call_is_completed_once_and_over_loopback_copied() {
    let Some((mut ring, receiver)) = ring_to_receiver(100) else {
        return;
    };
    let calls = 3 * MOST_BUFFERS as u64 + 5;
    let mut memory = [0; 200];
    for n in 0..calls {
        let first = u8::try_from(n % 200).expect("small");
        let sent = ring.send(&Numbered { first, bytes: 100 });
        assert_eq!(sent.ok(), Some(100));
        assert_eq!(receiver.recv(&mut memory).ok(), Some(100));
        assert_eq!(memory[..100], [first; 100]);
    }
    while ring.in_flight.contains(&true) {
        ring.wait().expect("completions come");
    }
    let copied = calls;
    assert_eq!(ring.completed, Completed { calls, copied });
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no sockets")]
fn a_buffer_is_free_only_after_its_completion_in_whatever_order_they_come() {
    let Some((mut ring, _)) = ring_to_receiver(100) else {
        return;
    };
    ring.next = u32::MAX - 1;
    for call in [u32::MAX - 1, u32::MAX, 0, 1] {
        let buffer = ring.buffer(call);
        ring.in_flight[buffer] = true;
    }
    ring.next = 2;
    let in_flight = |ring: &ZeroCopyRing| ring.in_flight.iter().filter(|it| **it).count();
    ring.complete(1, 1);
    assert_eq!((in_flight(&ring), ring.in_flight[1]), (3, false));
    ring.complete(u32::MAX - 1, 0);
    assert_eq!((in_flight(&ring), ring.next), (0, 2));
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no sockets")]
fn a_failed_call_with_a_number_is_skipped_and_one_without_is_repeated() {
    let Some((mut ring, receiver)) = ring_to_receiver(100) else {
        return;
    };
    let no_room = || io::Error::from_raw_os_error(libc::ENOBUFS);
    // Nothing is in flight: there is nothing to wait for.
    let refused = ring.recover(no_room()).expect_err("no memory at all");
    assert_eq!(refused.raw_os_error(), Some(libc::ENOMEM));
    // The kernel completes this call before it returns, as one that fails at the interface.
    ring.send(&NoFill).expect("loopback takes it");
    ring.recover(no_room()).expect("it is to be repeated");
    assert_eq!(ring.next, 1);
    ring.send(&NoFill).expect("loopback takes it");
    (ring.next, ring.in_flight) = (1, vec![false; MOST_BUFFERS].into());
    let dropped = ring.recover(no_room()).expect_err("it had a number");
    assert_eq!(dropped.raw_os_error(), Some(libc::ENOBUFS));
    assert_eq!(ring.next, 2);
    drop(receiver);
}

#[test]
fn the_number_of_buffers_is_a_power_of_two_that_fits_the_cache() {
    let buffers = |bytes| {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
        ZeroCopyRing::new(socket, &vec![0; bytes], None, Vec::new())
            .map(|ring| ring.in_flight.len())
    };
    for (bytes, count) in [(0, 256), (26, 256), (1460, 256), (9000, 64), (65_507, 16)] {
        if let Ok(found) = buffers(bytes) {
            assert_eq!(found, count, "{bytes} B");
        }
    }
}

#[test]
fn calls_are_counted_across_the_last_number_and_by_whether_they_were_copied() {
    let mut completed = Completed::default();
    completed.count(u32::MAX - 1, 0, COPIED);
    completed.count(1, 1, 0);
    let expected = Completed {
        calls: 4,
        copied: 3,
    };
    assert_eq!(completed, expected);
}

#[test]
fn the_row_tells_whether_the_kernel_copied() {
    let copied = |copied| Completed { calls: 7, copied }.remark();
    assert_eq!(copied(0), None);
    assert!(copied(3).is_some_and(|it| it.contains("some")));
    assert!(copied(7).is_some_and(|it| it.contains("all")));
}
