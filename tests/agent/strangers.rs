//! Who lacks the key, says something else or says nothing: no byte comes back, and the agent goes on listening.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use udpbench::channel::noise::{CONFIRMATION, Initiator, MESSAGE};
use udpbench::channel::{self, Key, MOST_PENDING};

use crate::common::{Place, wait_until};
use crate::listening::{LISTEN, Listening, new_key};

fn random_key() -> Key {
    Key::random().expect("random numbers")
}

/// Sends these bytes and no more. Returns all that comes back.
fn said_to(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).expect("it listens");
    // It may have closed before it has read all.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
    }
    answer
}

#[test]
fn another_key_is_refused_and_both_ends_say_so() {
    let place = Place::new();
    let (key, _) = new_key(&place, "bench.key");
    let agent = Listening::start(&place, LISTEN);
    let refused = channel::connect(agent.address, &random_key()).err();
    let refused = format!("{:#}", refused.expect("another key"));
    let expected = "the other end does not have this key, or is no udpbench agent";
    assert_eq!(refused, format!("{}: {expected}", agent.address));
    let said = agent.has_a_session_yet(&key);
    assert!(said.starts_with("refused 127.0.0.1:"), "{said}");
    assert!(said.contains(": it does not have this key"), "{said}");
}

#[test]
fn garbage_of_any_length_gets_no_byte() {
    let place = Place::new();
    let (key, _) = new_key(&place, "bench.key");
    let agent = Listening::start(&place, LISTEN);
    let mut random = fastrand::Rng::with_seed(7);
    for length in 0..=200 {
        let garbage: Vec<u8> = std::iter::repeat_with(|| random.u8(..))
            .take(length)
            .collect();
        assert_eq!(said_to(agent.address, &garbage), b"", "{length} B");
    }
    agent.has_a_session_yet(&key);
}

#[test]
fn a_first_message_that_is_sent_again_gets_no_session() {
    let place = Place::new();
    let (key, _) = new_key(&place, "bench.key");
    let agent = Listening::start(&place, LISTEN);
    let (initiator, recorded) = Initiator::start(&key).expect("random numbers");
    let answer = said_to(agent.address, &recorded);
    assert_eq!(answer.len(), MESSAGE, "no longer than the question");
    let answer = answer.try_into().expect("one message");
    let unconfirmed = initiator.finish(&answer).expect("it has the key");
    let confirmation = unconfirmed.confirmation().expect("it has ciphers");
    // All that a listener on the way could have recorded: the answer to it has other ciphers now.
    let again = [&recorded[..], &confirmation, &[0; 100]].concat();
    let answered = said_to(agent.address, &again).len();
    assert!(answered == MESSAGE || answered == 0, "{answered} B");
    let said = agent.has_a_session_yet(&key);
    assert!(said.contains("refused 127.0.0.1:"), "{said}");
}

#[test]
fn who_connects_and_says_nothing_holds_up_nobody() {
    let place = Place::new();
    let (key, _) = new_key(&place, "bench.key");
    let agent = Listening::start(&place, LISTEN);
    let connect = || TcpStream::connect(agent.address).expect("it listens");
    let silent: Vec<TcpStream> = std::iter::repeat_with(connect)
        .take(3 * MOST_PENDING)
        .collect();
    let (_, recorded) = Initiator::start(&key).expect("random numbers");
    let halfway = std::iter::repeat_with(connect).take(MOST_PENDING);
    let halfway: Vec<TcpStream> = halfway
        .map(|mut stream| {
            let _ = stream.write_all(&recorded[..30]);
            stream
        })
        .collect();
    agent.has_a_session_yet(&key);
    drop((silent, halfway));
}

#[test]
fn a_handshake_that_is_not_finished_in_time_is_dropped() {
    let place = Place::new();
    let (key, _) = new_key(&place, "bench.key");
    let agent = Listening::start(&place, LISTEN);
    let mut silent = TcpStream::connect(agent.address).expect("it listens");
    // The end of the connection comes from there.
    assert_eq!(silent.read(&mut [0]).expect("it is closed"), 0);
    let said = agent.has_a_session_yet(&key);
    assert!(
        said.contains("it did not show the key within 3 s"),
        "{said}"
    );
}

/// In kB.
fn memory_of(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let words = line.expect("a line of Linux").split_whitespace();
    words
        .take(1)
        .find_map(|kb| kb.parse().ok())
        .expect("a number")
}

fn count_of(pid: u32, what: &str) -> usize {
    fs::read_dir(format!("/proc/{pid}/{what}"))
        .expect("it runs")
        .count()
}

#[test]
fn a_thousand_strangers_and_a_port_scan_cost_nothing_that_stays() {
    let place = Place::new();
    let (key, _) = new_key(&place, "bench.key");
    let agent = Listening::start(&place, LISTEN);
    let pid = agent.child.id();
    let scan = |times: u8| {
        for number in 0..times {
            drop(TcpStream::connect(agent.address).expect("it listens"));
            assert_eq!(said_to(agent.address, &[number; MESSAGE]), b"");
        }
    };
    let open = count_of(pid, "fd");
    // Whatever it needs once, it has after these.
    scan(50);
    let before = (memory_of(pid), count_of(pid, "task"));
    (0..10).for_each(|_| scan(100));
    let after = (memory_of(pid), count_of(pid, "task"));
    assert_eq!(before.1, after.1, "threads");
    assert!(after.0 < before.0 + 512, "kB: {before:?}, then {after:?}");
    wait_until("that all are closed", || count_of(pid, "fd") == open);
    let said = agent.has_a_session_yet(&key);
    let lines = said.lines().count();
    assert!(lines < 100, "a line for each would be 2100: {lines}");
}

/// What is no agent, and what listens and says nothing: the client says which.
#[test]
fn a_client_tells_what_is_no_agent() {
    let key = random_key();
    let talks_to = |answer: &'static [u8]| {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let other = thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("the client");
            stream.write_all(answer).expect("a few bytes");
            let mut rest = Vec::new();
            if answer.len() < CONFIRMATION {
                let _ = stream.read_to_end(&mut rest);
            }
        });
        let error = channel::connect(address, &key).err().expect("it is none");
        other.join().expect("no panic");
        format!("{error:#}")
    };
    let none = "the other end does not have this key, or is no udpbench agent";
    let said = talks_to(b"SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u7 and then some more bytes\r\n");
    assert!(said.ends_with(none), "{said}");
    let said = talks_to(b"hello");
    assert!(
        said.ends_with(&format!("no answer within 3 s: {none}")),
        "{said}"
    );
}

/// Two have the key: one gets the session, the other is told.
#[test]
fn a_second_one_with_the_key_is_told_that_the_session_is_gone() {
    let place = Place::new();
    let (key, _) = new_key(&place, "bench.key");
    let agent = Listening::start(&place, LISTEN);
    let mut second = TcpStream::connect(agent.address).expect("it listens");
    let (initiator, first) = Initiator::start(&key).expect("random numbers");
    second.write_all(&first).expect("a few bytes");
    let mut answer = [0; MESSAGE];
    second.read_exact(&mut answer).expect("it has the key");
    agent.has_a_session_yet(&key);
    let confirmation = initiator
        .finish(&answer)
        .expect("it has the key")
        .confirmation();
    let _ = second.write_all(&confirmation.expect("it has ciphers"));
    let mut rest = Vec::new();
    second
        .set_read_timeout(Some(Duration::from_secs(60)))
        .expect("an option");
    let ended = second.read_to_end(&mut rest);
    assert!(rest.is_empty() && ended.map_err(|error| error.kind()) != Err(ErrorKind::WouldBlock));
}
