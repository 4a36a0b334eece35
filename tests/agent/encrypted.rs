//! What passes in a session: all of it, as it was, or nothing more.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;

use udpbench::channel::{self, Listener};
use udpbench::measure::remote::Remote;
use udpbench::measure::site::Site;
use udpbench::sys::interrupt::Asked;

use crate::common::Place;
use crate::listening::{LISTEN, Listening, new_key};

/// Both directions at once, over a real connection: neither waits for the other.
#[test]
fn sixteen_megabytes_pass_in_both_directions() {
    const BYTES: usize = 8 << 20;
    let place = Place::new();
    let (key, _) = new_key(&place, "bench.key");
    let listener = Listener::bind(([127, 0, 0, 1], 0).into(), None).expect("a port");
    let address = listener.address().expect("an address");
    let accepting = {
        let key = key.clone();
        thread::spawn(move || listener.session(&key, |_| {}))
    };
    let client = channel::connect(address, &key).expect("it listens");
    let (_, agent) = accepting.join().expect("no panic").expect("a session");
    let ends = [client, agent].into_iter().zip(1_u64..);
    let threads = ends.flat_map(|((mut reader, mut writer), seed)| {
        let text = noise(seed, BYTES);
        let expected = noise(3 - seed, BYTES);
        let sending = thread::spawn(move || {
            // Pieces of all sizes: each becomes one message or several.
            let mut rest = &text[..];
            let mut sizes = [1, 2, 65_519, 65_520, 65_536, 200_000].into_iter().cycle();
            while !rest.is_empty() {
                let size = sizes.next().unwrap_or(1).min(rest.len());
                writer.write_all(&rest[..size]).expect("it is taken");
                rest = &rest[size..];
            }
        });
        let receiving = thread::spawn(move || {
            let mut came = Vec::new();
            reader.read_to_end(&mut came).expect("all of it comes");
            assert!(
                came == expected,
                "{} B came, others than were sent",
                came.len()
            );
        });
        [sending, receiving]
    });
    let threads: Vec<thread::JoinHandle<()>> = threads.collect();
    for thread in threads {
        thread.join().expect("no panic");
    }
}

fn noise(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(seed);
    std::iter::repeat_with(|| random.u8(..))
        .take(bytes)
        .collect()
}

#[test]
fn what_is_altered_in_the_middle_of_a_session_ends_it() {
    let place = Place::new();
    let (key, _) = new_key(&place, "bench.key");
    let agent = Listening::start(&place, LISTEN);
    let (address, between) = altering(agent.address);
    let (reader, writer) = channel::connect(address, &key).expect("the handshake is as it was");
    let remote = Remote::connect(Some("agent"), reader, writer, &Asked::default());
    let mut remote = remote.expect("the greeting is as it was");
    let error = (0..1000).find_map(|_| remote.counts().err().filter(is_of_the_end));
    let error = format!("{:#}", error.expect("it was altered"));
    assert!(error.starts_with("agent: "), "{error}");
    drop(remote);
    let (code, said) = agent.end();
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("it was altered on the way"), "{said}");
    assert!(!said.contains("panicked"), "{said}");
    between.join().expect("no panic");
}

/// Not the answer of an agent that has no trial.
fn is_of_the_end(error: &anyhow::Error) -> bool {
    !format!("{error:#}").contains("no trial")
}

/// A host on the way that alters one byte of what the client sends, after the first thousand.
fn altering(agent: SocketAddr) -> (SocketAddr, thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let between = thread::spawn(move || {
        let (mut client, _) = listener.accept().expect("the client");
        let mut agent = TcpStream::connect(agent).expect("the agent");
        let mut back = (
            agent.try_clone().expect("a copy"),
            client.try_clone().expect("a copy"),
        );
        let back = thread::spawn(move || {
            let _ = io::copy(&mut back.0, &mut back.1);
            let _ = back.1.shutdown(Shutdown::Both);
        });
        let mut passed = 0;
        let mut buffer = [0; 1000];
        while let Ok(bytes @ 1..) = client.read(&mut buffer) {
            passed += bytes;
            if passed > 1000 {
                buffer[bytes - 1] ^= 1;
            }
            if agent.write_all(&buffer[..bytes]).is_err() {
                break;
            }
        }
        back.join().expect("no panic");
    });
    (address, between)
}
