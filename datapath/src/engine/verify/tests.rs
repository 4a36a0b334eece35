use super::*;
use crate::data::Direction;

const BYTES: usize = 300;

fn stream(count: u64) -> Vec<Vec<u8>> {
    let datagram = |number| {
        let mut datagram = vec![0; BYTES];
        write(&mut datagram, 7, number, 1000 * number);
        datagram
    };
    (0..count).map(datagram).collect()
}

/// Returns the findings without the jitter, which depends on this machine.
fn verified(stream: &[Vec<u8>]) -> Verified {
    let tracker = Arc::new(SequenceTracker::new(BYTES));
    let mut sequence_check = Arc::clone(&tracker);
    for datagram in stream {
        sequence_check.check(datagram, Origin::PEER);
    }
    let found = tracker.verified();
    assert_eq!(
        found.jitter_ns.is_some(),
        found.packets > found.corrupted + 1
    );
    Verified {
        jitter_ns: None,
        ..found
    }
}

#[test]
fn a_stream_as_it_was_sent_has_no_faults() {
    let found = verified(&stream(100));
    assert_eq!(
        found,
        Verified {
            packets: 100,
            ..Verified::default()
        }
    );
    assert_eq!(found.fault(None), None);
}

#[test]
fn a_lost_datagram_is_no_fault() {
    let mut stream = stream(100);
    stream.remove(50);
    assert_eq!(
        verified(&stream),
        Verified {
            packets: 99,
            ..Verified::default()
        }
    );
}

#[test]
fn any_single_wrong_bit_is_found() {
    let sent = stream(1).remove(0);
    for bit in 0..8 * BYTES {
        let mut datagram = sent.clone();
        datagram[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(verified(&[datagram]).corrupted, 1, "bit {bit}");
    }
}

#[test]
fn one_of_each_fault_is_counted_as_what_it_is() {
    let mut stream = stream(100);
    stream[10] = stream[9].clone();
    stream.swap(20, 21);
    stream[30].truncate(BYTES - 1);
    stream[40].push(0);
    stream[50].truncate(LEAST_BYTES - 1);
    let found = verified(&stream);
    assert_eq!((found.duplicated, found.reordered), (1, 1));
    assert_eq!((found.truncated, found.corrupted), (1, 2));
    assert_eq!(found.reordering_extent, 1);
    let fault = found.fault(None).expect("there are faults");
    assert_eq!(
        fault,
        "of 100 datagrams verified, 1 duplicated, 1 truncated, 2 corrupted"
    );
    // A path across hosts may duplicate and reorder. It must not truncate or corrupt.
    let across = found.fault(Some(Direction::Up));
    let expected = "of 100 datagrams verified, 1 truncated, 2 corrupted";
    assert_eq!(across.as_deref(), Some(expected));
    let twice = Verified {
        duplicated: 7,
        packets: 100,
        ..Verified::default()
    };
    assert_eq!(twice.fault(Some(Direction::Up)), None);
}

#[test]
fn what_the_kernel_did_not_take_is_stamped_again() {
    let mut writer = SequenceWriter::new(3, LEAST_BYTES);
    let mut memory = [0; 4 * LEAST_BYTES];
    writer.fill(&mut memory);
    writer.sent(3);
    let fourth = memory[3 * LEAST_BYTES..].to_vec();
    writer.fill(&mut memory);
    assert_eq!(memory[..LEAST_BYTES], fourth);
}

#[test]
fn a_datagram_that_is_said_to_be_somebody_elses_is_a_fault() {
    let address = |port| SocketAddr::from(([127, 0, 0, 1], port));
    let tracker = Arc::new(SequenceTracker::new(BYTES));
    tracker.expect_source(7, address(1));
    let mut sequence_check = Arc::clone(&tracker);
    let sources = [Some(address(1)), Some(address(2)), None];
    for (datagram, source) in stream(3).iter().zip(sources) {
        sequence_check.check(datagram, Origin::of(source));
    }
    let found = tracker.verified();
    assert_eq!((found.packets, found.corrupted), (3, 1));
}

#[test]
fn small_datagrams_have_no_time_and_no_jitter() {
    for (bytes, has_time) in [
        (LEAST_BYTES, false),
        (TIMED_BYTES - 1, false),
        (TIMED_BYTES, true),
    ] {
        let tracker = Arc::new(SequenceTracker::new(bytes));
        let mut sequence_check = Arc::clone(&tracker);
        let mut writer = SequenceWriter::new(0, bytes);
        for _ in 0..3 {
            let mut memory = vec![0; bytes];
            writer.fill(&mut memory);
            writer.sent(1);
            sequence_check.check(&memory, Origin::PEER);
        }
        let found = tracker.verified();
        assert_eq!((found.packets, found.fault(None)), (3, None), "{bytes} B");
        assert_eq!(found.jitter_ns.is_some(), has_time, "{bytes} B");
    }
}
