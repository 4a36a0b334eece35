//! Tests of messages in both directions, and with peers in another language.

use std::io::{self, BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use futures_util::FutureExt;
use udpbench::engine::payload::NoFill;
use udpbench::engine::{DatagramIo, Direction, IoOptions};
use udpbench::engines::stream::TransportIo;
use udpbench::sys::socket_queues;

use super::*;
use crate::native::Collected;

fn connection() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback works");
    let near = TcpStream::connect(listener.local_addr().expect("it is bound"));
    let (far, _) = listener.accept().expect("it comes");
    let near = near.expect("it is accepted");
    for end in [&near, &far] {
        end.set_nodelay(true).expect("TCP can");
    }
    (near, far)
}

fn now<T>(future: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    future.now_or_never().expect("it blocks rather than waits")
}

#[test]
fn messages_come_as_they_went_both_ways_and_take_up_as_much_as_is_said() {
    for payload in [0, 1, 125, 126, 16_000, 65_536] {
        let (near, far) = connection();
        let fds: [OwnedFd; 2] = [&near, &far].map(|end| end.try_clone().expect("a copy").into());
        let options = IoOptions::of(Vec::new(), Direction::Both, payload);
        let mut ends = [
            WebSocketIo::over(near, true, &options),
            WebSocketIo::over(far, false, &options),
        ];
        for (from, to) in [(0, 1), (1, 0)] {
            let sent = now(ends[from].transmit(0, &NoFill)).expect("there is room");
            assert_eq!(sent, BatchCount::one(payload));
            let waiting = || socket_queues::receive_queue_bytes(&fds[to]).expect("it is open");
            // A longer message may not have arrived completely. A busy kernel hands over bytes after the call.
            if payload <= 16_000 {
                let bytes = websocket_bytes(payload, from == 0) as u64;
                while waiting() < bytes {
                    thread::yield_now();
                }
                assert_eq!(waiting(), bytes, "{payload} B");
            }
            let mut seen = Collected::default();
            let moved = now(ends[to].receive(&mut seen)).expect("it is there");
            assert_eq!(moved, BatchCount::one(payload));
            assert_eq!(seen.0, [vec![0xA5; payload]]);
        }
    }
}

const SERVER: &str = include_str!("server.py");
const CLIENT: &str = include_str!("client.py");

fn python(script: &str, argument: &str) -> Child {
    let python = std::env::var("UDPBENCH_PYTHON").expect("scripts/ci/test_websocket.sh sets it");
    let mut command = Command::new(python);
    command
        .args(["-c", script, argument])
        .stdout(Stdio::piped());
    command.spawn().expect("it can be run")
}

/// Accepts the connection of a client, or panics if the client ends without one.
fn accept(listener: &TcpListener, client: &mut Child) -> TcpStream {
    listener.set_nonblocking(true).expect("fcntl works");
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(false).expect("fcntl works");
                return stream;
            }
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
        }
        let ended = client.try_wait().expect("it is ours");
        assert_eq!(ended, None, "it never came");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
#[ignore = "needs Python's websockets: scripts/ci/test_websocket.sh"]
fn a_server_of_another_language_echoes_in_fragments_and_says_goodbye() {
    let mut server = python(SERVER, "");
    let mut port = String::new();
    let said = server.stdout.take().expect("it is a pipe");
    BufReader::new(said)
        .read_line(&mut port)
        .expect("it says its port");
    let url = format!("ws://127.0.0.1:{}/", port.trim());
    let stream = TcpStream::connect(&url[5..url.len() - 1]).expect("it listens");
    let (socket, _) = tungstenite::client(url, stream).expect("it agrees");
    let options = IoOptions::of(Vec::new(), Direction::Both, 70_000);
    let mut port = WebSocketIo::over(socket.into_inner(), true, &options);
    for _ in 0..2 {
        now(port.transmit(0, &NoFill)).expect("it reads");
        let mut seen = Collected::default();
        assert_eq!(
            now(port.receive(&mut seen)).ok(),
            Some(BatchCount::one(70_000))
        );
        assert_eq!(seen.0, [vec![0xA5; 70_000]]);
    }
    let goodbye = now(port.receive(&mut Collected::default()));
    assert_eq!(
        goodbye.map_err(|error| error.kind()),
        Err(io::ErrorKind::UnexpectedEof)
    );
    server.kill().expect("it is ours");
    server.wait().expect("it ends");
}

#[test]
#[ignore = "needs Python's websockets: scripts/ci/test_websocket.sh"]
fn a_client_of_another_language_is_answered_and_says_goodbye() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback works");
    let address = listener.local_addr().expect("it is bound");
    let mut client = python(CLIENT, &format!("ws://{address}/"));
    let stream = accept(&listener, &mut client);
    let socket = tungstenite::accept(stream).expect("it agrees");
    let stream = socket.into_inner();
    for size in [7, 70_000] {
        let options = IoOptions::of(Vec::new(), Direction::Both, size);
        let same = stream.try_clone().expect("a copy");
        let mut port = WebSocketIo::over(same, false, &options);
        let mut seen = Collected::default();
        assert_eq!(
            now(port.receive(&mut seen)).ok(),
            Some(BatchCount::one(size))
        );
        assert_eq!(seen.0, [vec![0xA5; size]]);
        now(port.transmit(0, &NoFill)).expect("it reads");
    }
    let options = IoOptions::of(Vec::new(), Direction::Both, 7);
    let mut port = WebSocketIo::over(stream, false, &options);
    let goodbye = now(port.receive(&mut Collected::default()));
    assert_eq!(
        goodbye.map_err(|error| error.kind()),
        Err(io::ErrorKind::UnexpectedEof)
    );
    drop(port);
    let client = client.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&client.stdout), "all is well\n");
}

#[test]
fn one_read_takes_all_messages_that_came_with_it() {
    let (near, far) = connection();
    let options = IoOptions::of(Vec::new(), Direction::Both, 7);
    let mut near = WebSocketIo::over(near, true, &options);
    let mut far = WebSocketIo::over(far, false, &options);
    for _ in 0..3 {
        now(near.transmit(0, &NoFill)).expect("there is room");
    }
    let moved = now(far.receive(&mut Collected::default())).expect("they are there");
    assert_eq!(moved, BatchCount::of(3, 21));
}
